"""Candidates and baselines of the table of best settings."""

import pytest

from data.connection import Lake
from data.queries.best import baselines_query, candidates_query
from data.selection import Selection

AT_200K = Selection.of(workload=["memcached"], load=[200_000])


def test_candidates_are_means_of_energy_and_performance(tiny: Lake) -> None:
    rows = tiny.polars(*candidates_query(AT_200K, "latency_p99_us", 100))
    assert rows.select("system", "n", "x", "y").rows() == [
        ("ebbrt_tuned", 1, 60.0, 900.0),
        ("linux_default", 1, 104.0, 2000.0),
        ("linux_tuned", 1, 110.0, 700.0),
        ("linux_tuned", 2, 63.0, 1005.0),
        ("linux_tuned", 1, 90.0, 720.0),
    ]


def test_the_baseline_of_each_load(tiny: Lake) -> None:
    rows = tiny.polars(*baselines_query(Selection(), "latency_p99_us"))
    # Nothing ran under the default at 400k QPS or for NetPIPE.
    assert rows.rows() == [("tiny", "memcached", None, 200_000.0, None, None, 104.0, 2000.0, 1)]


@pytest.mark.parametrize(
    "tuned",
    [{"system": ["ebbrt_tuned"]}, {"itr": [2]}, {"dvfs": [2.9]}, {"rapl": [55]}],
    ids=lambda t: next(iter(t)),
)
def test_filters_on_what_is_tuned_leave_the_baseline(tiny: Lake, tuned: dict) -> None:
    (facet, values) = next(iter(tuned.items()))
    selection = AT_200K.with_values(facet, values)
    assert len(tiny.polars(*baselines_query(selection, "latency_p99_us"))) == 1


def test_filters_on_the_question_do_not(tiny: Lake) -> None:
    other_load = AT_200K.with_values("load", [400_000])
    assert len(tiny.polars(*baselines_query(other_load, "latency_p99_us"))) == 0


def test_a_baseline_without_the_metric_is_none(tiny: Lake) -> None:
    assert len(tiny.polars(*baselines_query(AT_200K, "iops"))) == 0


def test_an_empty_lake(empty: Lake) -> None:
    assert len(empty.polars(*candidates_query(AT_200K, "latency_p99_us", 10))) == 0
    assert len(empty.polars(*baselines_query(AT_200K, "latency_p99_us"))) == 0

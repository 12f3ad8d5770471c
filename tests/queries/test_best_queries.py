"""Candidates and baselines of the table of best settings."""

from pathlib import Path

import pytest

from data.connection import Lake, open_lake
from data.queries.best import baselines_query, candidates_query
from data.selection import Selection
from tests.fixtures.lakes import run, write_lake

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


def test_of_several_defaults_the_one_with_most_runs_is_the_baseline(tmp_path: Path) -> None:
    rows = [run(system="linux_default", itr_us=None, dvfs_ghz=None, rapl_w=rapl, replicate=r,
                energy_j=joules + r) for rapl, joules, n in ((75.0, 1000.0, 1), (135.0, 2000.0, 2))
            for r in range(n)]  # fmt: skip
    with open_lake(write_lake(tmp_path / "lake", rows)) as lake:
        found = lake.polars(*baselines_query(AT_200K, "latency_p99_us"))
    # Not the mean over both limits, 1,667 J.
    assert found.select("cost", "n").rows() == [(2000.5, 2)]


def test_a_baseline_without_the_metric_is_none(tiny: Lake) -> None:
    assert len(tiny.polars(*baselines_query(AT_200K, "iops"))) == 0


def test_an_empty_lake(empty: Lake) -> None:
    assert len(empty.polars(*candidates_query(AT_200K, "latency_p99_us", 10))) == 0
    assert len(empty.polars(*baselines_query(AT_200K, "latency_p99_us"))) == 0

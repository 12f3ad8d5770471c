"""What filters offer: counts under the others, chosen values that stay, the two that lead."""

from pathlib import Path

import polars as pl
import pytest

from data.analysis.facet_counts import FacetCounts, count_runs, matches
from data.catalogue import SHIPPED
from data.connection import open_lake
from data.queries.runs import facet_cube_query
from data.selection import Selection
from tests.fixtures.lakes import run, runs_from_text, write_lake

LAKE = """
dataset  workload   load_qps  message_bytes  system         itr_us  replicate
lab      memcached  200000.0  -              linux_tuned    2.0     0
lab      memcached  200000.0  -              linux_tuned    2.0     1
lab      memcached  200000.0  -              linux_tuned    50.0    0
lab      memcached  400000.0  -              linux_tuned    2.0     0
lab      memcached  200000.0  -              linux_default  -       0
lab      netpipe    -         8192           linux_tuned    4.0     0
other    nodejs     -         -              ebbrt_tuned    2.0     0
"""


@pytest.fixture(scope="module")
def cube(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    path: Path = tmp_path_factory.mktemp("facets")
    with open_lake(write_lake(path, runs_from_text(LAKE))) as lake:
        return lake.polars(*facet_cube_query(catalogue=SHIPPED))


def offered(cube: pl.DataFrame, facet: str, selection: Selection) -> list[tuple]:
    return [
        (choice.value, choice.runs)
        for choice in FacetCounts(cube, catalogue=SHIPPED).of(facet, selection)
    ]


def test_without_filters_everything_is_offered(cube: pl.DataFrame) -> None:
    assert offered(cube, "itr", Selection()) == [(2.0, 4), (4.0, 1), (50.0, 1), ("adaptive", 1)]
    assert offered(cube, "load", Selection()) == [(2e5, 4), (4e5, 1), ("none", 2)]
    assert count_runs(cube, Selection()) == 7


def test_other_filters_narrow_and_ones_own_does_not(cube: pl.DataFrame) -> None:
    selection = Selection.of(workload=["memcached"], load=[2e5], itr=[2])
    assert offered(cube, "itr", selection) == [(2.0, 2), (50.0, 1), ("adaptive", 1)]
    assert offered(cube, "load", selection) == [(2e5, 2), (4e5, 1)]
    assert offered(cube, "system", selection) == [("linux_tuned", 2)]
    assert count_runs(cube, selection) == 2


@pytest.mark.parametrize(
    ("chosen", "rows"),
    [({}, 6), ({"workload": ["memcached"], "itr": [2, "adaptive"]}, 3), ({"load": ["none"]}, 2),
     ({"itr": [4], "system": ["gone"]}, 0)],
)  # fmt: skip
def test_rows_are_those_that_the_filters_leave(cube: pl.DataFrame, chosen: dict, rows: int) -> None:
    selection = Selection.of(**chosen)
    left = cube.filter(matches(selection))
    assert FacetCounts(cube, catalogue=SHIPPED).part(selection).rows.equals(left)
    assert len(left) == rows


def test_a_chosen_value_stays_though_nothing_is_left_of_it(cube: pl.DataFrame) -> None:
    selection = Selection.of(workload=["memcached"], itr=["adaptive", 4], system=["linux_tuned"])
    assert offered(cube, "itr", selection) == [(2.0, 3), (4.0, 0), (50.0, 1), ("adaptive", 0)]


def test_a_chosen_system_keeps_its_label_though_nothing_is_left_of_it(cube: pl.DataFrame) -> None:
    selection = Selection.of(itr=["adaptive"], system=["linux_tuned", "gone"])
    labels = {
        c.value: (c.label, c.runs)
        for c in FacetCounts(cube, catalogue=SHIPPED).of("system", selection)
    }
    assert labels == {
        "linux_default": ("Linux default", 1),
        "linux_tuned": ("Linux tuned", 0),
        "gone": ("gone", 0),
    }


def test_datasets_and_workloads_lead(cube: pl.DataFrame) -> None:
    selection = Selection.of(dataset=["lab"], workload=["memcached"], load=[4e5], itr=[2])
    assert offered(cube, "dataset", selection) == [("lab", 6), ("other", 1)]
    assert offered(cube, "workload", selection) == [("memcached", 5), ("netpipe", 1)]


def test_systems_are_offered_by_label(cube: pl.DataFrame) -> None:
    labels = [c.label for c in FacetCounts(cube, catalogue=SHIPPED).of("system", Selection())]
    assert labels == ["Library OS", "Linux default", "Linux tuned"]


def test_an_empty_cube_offers_what_was_chosen(cube: pl.DataFrame) -> None:
    none = cube.clear()
    assert offered(none, "itr", Selection()) == []
    assert offered(none, "itr", Selection.of(itr=[2])) == [(2.0, 0)]
    assert count_runs(none, Selection()) == 0


def test_a_knob_that_no_run_has_is_counted_without_a_look(cube: pl.DataFrame) -> None:
    assert offered(cube, "depth", Selection.of(workload=["netpipe"])) == [("none", 1)]
    assert offered(cube, "depth", Selection.of(depth=[8])) == [(8.0, 0), ("none", 7)]


def test_all_facets_at_once_are_each_by_itself(cube: pl.DataFrame) -> None:
    selection = Selection.of(workload=["memcached"], system=["gone"], itr=[2.0])
    assert FacetCounts(cube, catalogue=SHIPPED).choices(selection) == {
        name: FacetCounts(cube, catalogue=SHIPPED).of(name, selection) for name in SHIPPED.facets
    }


@pytest.mark.parametrize(
    ("systems", "label"),
    [
        (("ebbrt_poll",), "polling"),
        (("linux_default",), "adaptive"),
        (("ebbrt_poll", "linux_default"), "adaptive or polling"),
        ((), "adaptive or polling"),
    ],
)
def test_runs_that_poll_have_no_adaptive_delay(
    tmp_path: Path, systems: tuple[str, ...], label: str
) -> None:
    """The value in links is one word for all of them."""
    rows = [run(system=name, itr_us=itr) for name, itr in
            (("ebbrt_poll", None), ("linux_default", None), ("linux_tuned", 2.0))]  # fmt: skip
    with open_lake(write_lake(tmp_path, rows)) as lake:
        cube = lake.polars(*facet_cube_query(catalogue=SHIPPED))
    choices = FacetCounts(cube, catalogue=SHIPPED).of("itr", Selection.of(system=systems))
    assert [(c.value, c.label) for c in choices if c.value == "adaptive"] == [("adaptive", label)]

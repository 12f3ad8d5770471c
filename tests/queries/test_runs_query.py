"""The query of all columns of the runs that the filters leave."""

from pathlib import Path

from app.kit.context import Lakes
from data.catalogue import SHIPPED
from data.queries.runs import runs_query
from data.selection import Selection
from tests.fixtures.lakes import run, write_lake


def test_runs_are_filtered_measured_and_limited(tmp_path: Path) -> None:
    rows = [
        run(run_id=name, system=system, latency_p99_us=latency)
        for name, system, latency in (("b", "a", 2.0), ("a", "a", 1.0), ("c", "z", 3.0),
                                      ("d", "a", None))
    ]  # fmt: skip
    lake = Lakes(write_lake(tmp_path / "lake", rows)).at(None).lake
    only_a = Selection.of(system=["a"])
    assert lake.polars(*runs_query(only_a, 9, catalogue=SHIPPED))["run_id"].to_list() == [
        "a",
        "b",
        "d",
    ]
    assert lake.polars(*runs_query(only_a, 9, "latency_p99_us", catalogue=SHIPPED))[
        "run_id"
    ].to_list() == ["a", "b"]
    assert lake.polars(*runs_query(Selection(), 1, catalogue=SHIPPED))["run_id"].to_list() == ["a"]

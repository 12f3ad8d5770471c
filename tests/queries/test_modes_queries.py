"""The replicates behind a map of winners."""

import json
from pathlib import Path

import polars as pl
import pytest

from data.catalogue import SHIPPED
from data.connection import Lake, open_lake
from data.errors import DataError
from data.queries.modes import cell_query, configurations_query
from data.selection import Selection
from tests.fixtures.lakes import runs_from_text, write_lake
from tests.queries.test_points import projections

AT_200K = Selection.of(workload=["memcached"], load=[200_000])
NAN_LAKE = """
run_id  mode  itr_us  replicate  energy_j  latency_p99_us
a       poll  -       0          3.0       60.0
b       poll  -       1          -         61.0
c       poll  -       2          1.0       -
d       -     -       0          -         50.0
e       -     -       1          -         52.0
"""


def configurations(lake: Lake, column: str, limit: int = 100) -> pl.DataFrame:
    return lake.polars(
        *configurations_query(AT_200K, column, "latency_p99_us", limit, catalogue=SHIPPED)
    )


def test_each_configuration_once_with_its_replicates(tiny: Lake) -> None:
    rows = configurations(tiny, "energy_j")
    assert rows.columns == [*SHIPPED.configuration, "values", "against", "against_sd"]
    found = rows.select("system", "itr_us", "dvfs_ghz", "values", "against").rows()
    # a0 and a1 are replicates: p99 62 and 64. f has no energy and is absent, g has no latency.
    assert found == [
        ("ebbrt_tuned", 2.0, 2.9, [900.0], 60.0),
        ("linux_default", None, None, [2000.0], 104.0),
        ("linux_tuned", 2.0, 2.9, [1000.0, 1010.0], 63.0),
        ("linux_tuned", 50.0, 1.3, [700.0], 110.0),
        ("linux_tuned", 50.0, 1.9, [800.0], None),
        ("linux_tuned", None, 1.3, [720.0], 90.0),
    ]


def test_columns_of_one_value_may_be_left_out_of_the_grouping(tiny: Lake) -> None:
    # All runs of the selection are memcached's at 200k QPS of one dataset.
    constant = {"dataset", "workload", "load_qps", "message_bytes", "mode", "device"}
    whole = configurations(tiny, "energy_j")
    sql, parameters = configurations_query(
        AT_200K, "energy_j", "latency_p99_us", 100, constant, catalogue=SHIPPED
    )
    rows = tiny.polars(sql, parameters)
    assert all(whole[name].n_unique() == 1 for name in constant)
    assert rows.equals(whole.drop(constant))
    # All of them: one group, or none where nothing was measured.
    sql, parameters = configurations_query(
        AT_200K, "energy_j", "energy_j", 9, SHIPPED.configuration, catalogue=SHIPPED
    )
    assert tiny.polars(sql, parameters)["values"].to_list() == [
        [700.0, 720.0, 800.0, 900.0, 1000.0, 1010.0, 2000.0]
    ]
    nobody = Selection.of(workload=["memcached"], load=[1])
    sql, parameters = configurations_query(
        nobody, "energy_j", "energy_j", 9, SHIPPED.configuration, catalogue=SHIPPED
    )
    assert len(tiny.polars(sql, parameters)) == 0


def test_null_is_left_out_and_all_null_is_absent(tmp_path: Path) -> None:
    with open_lake(write_lake(tmp_path, runs_from_text(NAN_LAKE))) as lake:
        rows = configurations(lake, "energy_j")
        # Ascending; the second metric's mean over the runs with energy only: a, as c has none.
        assert rows.select("mode", "values", "against").rows() == [("poll", [1.0, 3.0], 60.0)]
        cell = lake.polars(
            *cell_query(AT_200K, "energy_j", {"mode": "poll"}, 10, catalogue=SHIPPED)
        )
        assert cell.select("run_id", "replicate", "value").rows() == [("a", 0, 3.0), ("c", 2, 1.0)]


def test_the_runs_of_a_cell(tiny: Lake) -> None:
    place = {"itr_us": 2.0, "dvfs_ghz": 2.9}
    rows = tiny.polars(*cell_query(AT_200K, "energy_j", place, 10, catalogue=SHIPPED))
    assert rows.select("run_id", "system", "value", "has_log").rows() == [
        ("e", "ebbrt_tuned", 900.0, False),
        ("a0", "linux_tuned", 1000.0, False),
        ("a1", "linux_tuned", 1010.0, False),
    ]


def test_a_cell_at_null(tiny: Lake) -> None:
    place = {"itr_us": None, "dvfs_ghz": None}
    rows = tiny.polars(*cell_query(AT_200K, "energy_j", place, 10, catalogue=SHIPPED))
    assert rows["run_id"].to_list() == ["d"]


def test_answers_are_bounded(tiny: Lake) -> None:
    assert len(configurations(tiny, "energy_j", limit=2)) == 2
    assert (
        len(tiny.polars(*cell_query(AT_200K, "energy_j", {"itr_us": 2.0}, 1, catalogue=SHIPPED)))
        == 1
    )


def test_without_a_place_the_runs_are_those_of_all_cells(tiny: Lake) -> None:
    everywhere = tiny.polars(*cell_query(AT_200K, "energy_j", {}, 1000, catalogue=SHIPPED))
    groups = tiny.polars(
        *configurations_query(AT_200K, "energy_j", "energy_j", 1000, catalogue=SHIPPED)
    )
    assert len(everywhere) == groups["values"].list.len().sum()


def test_an_unknown_column_is_refused() -> None:
    with pytest.raises(DataError, match="no such column"):
        configurations_query(AT_200K, "energy; DROP", "energy_j", 1, catalogue=SHIPPED)
    with pytest.raises(DataError, match="no such column"):
        cell_query(AT_200K, "energy_j", {"1=1 OR itr_us": 2.0}, 1, catalogue=SHIPPED)


def test_the_nested_columns_are_not_read(tiny: Lake) -> None:
    sql, parameters = configurations_query(
        AT_200K, "energy_j", "latency_p99_us", 100, catalogue=SHIPPED
    )
    plan = tiny.sql(f"EXPLAIN (FORMAT json) {sql}", parameters).fetchall()[0][1]
    assert not {"cores", "sources", "files", "flags", "run_id"} & projections(json.loads(plan))


def test_an_empty_lake_has_no_configurations(empty: Lake) -> None:
    assert len(configurations(empty, "energy_j")) == 0

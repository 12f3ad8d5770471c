"""The scatter's rows: means, deviations, who is left out, order, bounds."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from deltalake import write_deltalake

from data.catalogue import SHIPPED
from data.connection import Lake, open_lake
from data.errors import DataError
from data.queries.explore import points_query
from data.schema import RUNS, SCHEMA_DESCRIPTION
from data.selection import Selection
from tests.fixtures.lakes import run, write_lake

AXES = {"x": "latency_p99_us", "y": "energy_j"}
AT_200K = Selection.of(workload=["memcached"], load=[200_000])


def test_means_of_a_configuration(tiny: Lake) -> None:
    points = tiny.polars(*points_query(AT_200K, AXES, means=True, limit=100, catalogue=SHIPPED))
    shown = points.select("system", "itr_us", "dvfs_ghz", "n", "x", "x_sd", "y", "y_sd")
    # a0, a1: means 63 us and 1,005 J; sd = |difference| / sqrt 2 = 1.414 us and 7.071 J.
    # f has no energy and g no latency: neither is a point. Governor and adaptive runs come last.
    assert shown.rows() == [
        ("ebbrt_tuned", 2.0, 2.9, 1, 60.0, None, 900.0, None),
        ("linux_default", None, None, 1, 104.0, None, 2000.0, None),
        ("linux_tuned", 50.0, 1.3, 1, 110.0, None, 700.0, None),
        ("linux_tuned", 2.0, 2.9, 2, 63.0, pytest.approx(2**0.5), 1005.0, pytest.approx(50**0.5)),
        ("linux_tuned", None, 1.3, 1, 90.0, None, 720.0, None),
    ]
    assert points["run_id"].null_count() == points["replicate"].null_count() == len(points)


@pytest.mark.parametrize("means", [True, False])
def test_columns_left_out_are_not_read_and_the_rows_are_the_same(tiny: Lake, means: bool) -> None:
    usual = points_query(AT_200K, AXES, means=means, limit=100, catalogue=SHIPPED)
    left_out = ("workload", "load_qps", "device", "machine")
    fewer = points_query(AT_200K, AXES, means, 100, left_out, catalogue=SHIPPED)
    assert "machine" in usual[0]
    assert "machine" not in fewer[0]
    assert tiny.polars(*fewer).equals(tiny.polars(*usual).drop(left_out))
    nobody = Selection.of(workload=["other"])
    assert (
        len(
            tiny.polars(
                *points_query(
                    nobody, AXES, True, 9, tuple(SHIPPED.configuration), catalogue=SHIPPED
                )
            )
        )
        == 0
    )


def test_each_run(tiny: Lake) -> None:
    selection = AT_200K.with_values("system", ["linux_tuned"])
    points = tiny.polars(*points_query(selection, AXES, means=False, limit=100, catalogue=SHIPPED))
    assert points.select("run_id", "replicate", "n", "x", "x_sd", "y").rows() == [
        ("b", 0, 1, 110.0, None, 700.0),
        ("a0", 0, 1, 62.0, None, 1000.0),
        ("a1", 1, 1, 64.0, None, 1010.0),
        ("c", 0, 1, 90.0, None, 720.0),
    ]


def test_a_point_counts_its_runs_with_a_log(tmp_path: Path) -> None:
    rows = [run(replicate=r, has_log=log) for r, log in enumerate((True, None, False, True))]
    with open_lake(write_lake(tmp_path, rows)) as lake:
        means = lake.polars(
            *points_query(Selection(), AXES, means=True, limit=10, catalogue=SHIPPED)
        )
        runs = lake.polars(
            *points_query(Selection(), AXES, means=False, limit=10, catalogue=SHIPPED)
        )
    assert means.select("n", "logged").rows() == [(4, 2)]
    assert runs["logged"].to_list() == [1, 0, 0, 1]


def test_only_the_axes_decide_who_is_left_out(tiny: Lake) -> None:
    columns = {"x": "duration_s", "y": "latency_p99_us", "energy_j": "energy_j"}
    points = tiny.polars(*points_query(AT_200K, columns, means=False, limit=100, catalogue=SHIPPED))
    assert set(points["run_id"]) == {"a0", "a1", "b", "c", "d", "e", "f"}
    assert points.filter(run_id="f")["energy_j"].to_list() == [None]


def test_a_mean_is_over_the_same_runs_in_both_axes(tmp_path: Path) -> None:
    # The second replicate has no energy, so its latency counts for nothing either.
    rows = [run(replicate=0, latency_p99_us=60.0), run(replicate=1, energy_j=None)]
    with open_lake(write_lake(tmp_path, rows)) as lake:
        points = lake.polars(
            *points_query(Selection(), AXES, means=True, limit=10, catalogue=SHIPPED)
        )
    assert points.select("n", "x", "y").rows() == [(1, 60.0, 1000.0)]


def test_what_tells_configurations_apart(tmp_path: Path) -> None:
    rows = [run(run_id=str(i), io_depth=depth, mode=mode) for i, (depth, mode) in enumerate(
        [(1, "poll"), (1, "poll"), (1, "interrupt"), (32, "poll"), (None, None)])]  # fmt: skip
    with open_lake(write_lake(tmp_path, rows)) as lake:
        points = lake.polars(
            *points_query(Selection(), AXES, means=True, limit=10, catalogue=SHIPPED)
        )
    assert sorted(points.select("io_depth", "mode", "n").rows(), key=str) == [
        (1, "interrupt", 1), (1, "poll", 2), (32, "poll", 1), (None, None, 1),
    ]  # fmt: skip


@pytest.mark.parametrize("means", [True, False])
def test_equal_knobs_come_in_one_order(tmp_path: Path, means: bool) -> None:
    """Two exports of the same data are the same file: the order is decided to the last knob."""
    rows = [run(run_id=f"{i:03}", io_depth=1 + i % 40, threads=1 + i // 40) for i in range(400)]
    query = points_query(Selection(), AXES, means=means, limit=500, catalogue=SHIPPED)
    orders = []
    for number, order in enumerate([rows, rows[::-1], rows[200:] + rows[:200]]):
        with open_lake(write_lake(tmp_path / str(number), order)) as lake:
            orders.append(lake.polars(*query).select("io_depth", "threads", "run_id").rows())
    assert orders[0] == orders[1] == orders[2]


def test_means_have_the_same_last_digit_every_time(tmp_path: Path) -> None:
    """Sums that several threads share out differ in their last digits from time to time."""
    random, count = np.random.default_rng(1), 40_000
    empty = pa.Table.from_pylist([], schema=RUNS)
    for _ in range(4):
        columns = {
            "system": pa.array(["linux_tuned"] * count),
            "itr_us": pa.array(random.integers(0, 20, count).astype(float)),
            "energy_j": pa.array(random.random(count)),
            "latency_p99_us": pa.array(random.random(count)),
        }
        nulls = {f.name: pa.nulls(count, f.type) for f in RUNS if f.name not in columns}
        rows = pa.table({**nulls, **columns}).select(empty.column_names)
        write_deltalake(str(tmp_path / "runs"), rows, mode="append", description=SCHEMA_DESCRIPTION)
    query = points_query(Selection(), AXES, means=True, limit=100, catalogue=SHIPPED)
    answers = []
    for _ in range(8):
        with open_lake(tmp_path) as lake:
            answers.append(lake.polars(*query).select("x", "x_sd", "y").rows())
    assert len(answers[0]) == 20
    assert all(answer == answers[0] for answer in answers)


def test_derived_columns_can_be_asked_for(tiny: Lake) -> None:
    columns = {**AXES, "edp_js": "edp_js"}
    points = tiny.polars(*points_query(AT_200K, columns, means=False, limit=100, catalogue=SHIPPED))
    # 900 J x 60 us
    assert points.filter(run_id="e")["edp_js"].to_list() == [pytest.approx(0.054)]


def test_at_most_the_limit(tiny: Lake) -> None:
    assert (
        len(tiny.polars(*points_query(Selection(), AXES, means=False, limit=3, catalogue=SHIPPED)))
        == 3
    )


def test_a_column_that_is_none_is_refused() -> None:
    with pytest.raises(DataError, match="no such column of runs: 'energy; DROP VIEW runs'"):
        points_query(
            Selection(),
            {"x": "energy; DROP VIEW runs", "y": "energy_j"},
            True,
            10,
            catalogue=SHIPPED,
        )


@pytest.mark.parametrize("means", [True, False])
def test_an_empty_lake_has_no_points(empty: Lake, means: bool) -> None:
    points = empty.polars(*points_query(AT_200K, AXES, means, 10, catalogue=SHIPPED))
    assert len(points) == 0
    assert set(SHIPPED.configuration) | {"n", "x", "x_sd", "y", "y_sd"} <= set(points.columns)


@pytest.mark.parametrize("means", [True, False])
def test_the_nested_columns_are_not_read(tiny: Lake, means: bool) -> None:
    """Cores, sources and files are most of a lake's bytes; a view must not pay for them."""
    sql, parameters = points_query(AT_200K, AXES, means, 100, catalogue=SHIPPED)
    plan = tiny.sql(f"EXPLAIN (FORMAT json) {sql}", parameters).fetchall()[0][1]
    read = projections(json.loads(plan))
    assert {"energy_j", "latency_p99_us", "system"} <= read
    assert not {"cores", "sources", "files", "instructions"} & read


def test_flags_of_a_configuration_are_those_of_its_runs(tmp_path: Path) -> None:
    rows = [
        run(replicate=0, flags=["log_short", "duration_off"]),
        run(replicate=1, flags=["duration_off"]),
        run(replicate=0, itr_us=8.0, flags=[]),
        run(replicate=0, itr_us=16.0),
    ]
    with open_lake(write_lake(tmp_path / "lake", rows)) as lake:
        means = lake.polars(*points_query(Selection(), AXES, True, 10, catalogue=SHIPPED))
        runs = lake.polars(*points_query(Selection(), AXES, False, 10, catalogue=SHIPPED))
    assert means["flags"].to_list() == ["duration_off, log_short", None, None]
    assert runs["flags"].to_list() == ["duration_off, log_short", "duration_off", None, None]


def projections(plan: object) -> set[str]:
    """Columns that the Parquet scans of a plan read."""
    if isinstance(plan, list):
        return set().union(*map(projections, plan))
    assert isinstance(plan, dict)
    found = projections(plan["children"])
    if "PARQUET" in plan["name"].upper():
        listed = plan["extra_info"]["Projections"]
        found |= {listed} if isinstance(listed, str) else set(listed)
    return found

"""The heatmap's cells: means, missing ones, which filters count."""

import pytest

from data.analysis.like_with_like import pool
from data.catalogue import SHIPPED
from data.connection import Lake
from data.errors import DataError
from data.queries.explore import metric_cube_query
from data.selection import Selection

AT_200K = Selection.of(workload=["memcached"], load=[200_000])


def cells(lake: Lake, selection: Selection, system: str, column: str) -> list[tuple]:
    shown = selection.with_values("system", [system])
    table = pool(
        lake.polars(*metric_cube_query(shown, column, 1000, catalogue=SHIPPED)),
        ("dvfs_ghz", "itr_us"),
    )
    assert table.columns == ["dvfs_ghz", "itr_us", "mean", "sd", "n"]
    return table.rows()


def test_cell_means_and_cells_that_were_not_measured(tiny: Lake) -> None:
    # 2.9 GHz x 50 us (run f) has no energy: the cell is absent, not zero. NULLs stand last.
    assert cells(tiny, AT_200K, "linux_tuned", "energy_j") == [
        (1.3, 50.0, 700.0, None, 1),
        (1.3, None, 720.0, None, 1),
        (1.9, 50.0, 800.0, None, 1),
        (2.9, 2.0, 1005.0, pytest.approx(50**0.5), 2),
    ]


def test_the_filter_on_systems_does_not_count_the_others_do(tiny: Lake) -> None:
    selection = AT_200K.with_values("system", ["ebbrt_tuned"]).with_values("dvfs", [2.9])
    assert cells(tiny, selection, "linux_tuned", "latency_p99_us") == [
        (2.9, 2.0, 63.0, pytest.approx(2**0.5), 2),
        (2.9, 50.0, 100.0, None, 1),
    ]


def test_governor_and_adaptive_are_a_cell(tiny: Lake) -> None:
    assert cells(tiny, AT_200K, "linux_default", "energy_j") == [(None, None, 2000.0, None, 1)]


def test_a_metric_that_nobody_measured_has_no_cells(tiny: Lake) -> None:
    assert cells(tiny, AT_200K, "linux_tuned", "ipc") == []


def test_a_system_is_a_value_not_sql(tiny: Lake) -> None:
    assert cells(tiny, Selection(), "x' OR TRUE --", "energy_j") == []


def test_an_unknown_column_is_refused() -> None:
    with pytest.raises(DataError, match="'no_such'"):
        metric_cube_query(Selection(), "no_such", 1000, catalogue=SHIPPED)


def test_an_empty_lake(empty: Lake) -> None:
    assert cells(empty, AT_200K, "linux_tuned", "energy_j") == []

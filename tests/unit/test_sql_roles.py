"""Roles of a result's columns, and the chart that follows from them."""

from typing import Any, cast

import polars as pl
import pytest

from app.kit.competitors import MODE_HUES, system_style
from app.kit.lake_view import LakeView
from app.sql.roles import chart_of, columns_of_result, unit_of
from data.catalogue import SHIPPED


class View:
    """The parts of an open lake that roles need."""

    catalogue = SHIPPED
    systems = ("ebbrt_tuned", "linux_tuned")
    outline = pl.DataFrame(
        {"system": ["linux_tuned", "ebbrt_tuned"], "system_label": ["Linux tuned", "Library OS"]}
    )


VIEW = cast("LakeView", View())


def chart(columns: dict[str, list[Any]]) -> tuple[str, str, str]:
    """The chart of a result whose columns are given."""
    kinds = {str: "VARCHAR", int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN"}
    rows = list(zip(*columns.values(), strict=True))
    types = [kinds[type(next(v for v in c if v is not None))] for c in columns.values()]
    answer = {"columns": list(columns), "types": types, "rows": rows}
    found = chart_of(columns_of_result(VIEW, answer), len(rows))
    return found["x"], found["y"], found["col"]


def about(name: str, kind: str, *cells: Any) -> Any:
    rows = [[cell] for cell in cells]
    answer = {"columns": [name], "types": [kind], "rows": rows}
    return columns_of_result(VIEW, answer)[0]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        # A knob is x, a metric y, a category colours; counts and spreads are neither.
        ({"system": ["a", "b"], "itr_us": [2.0, 50.0], "n": [1, 2], "energy_j_sd": [0.1, 0.2],
          "energy_j": [3.0, 4.0]}, ("itr_us", "energy_j", "system")),
        # Of two knobs the one with most values is x, the other one colours.
        ({"dvfs_ghz": [1.2, 1.2, 2.9], "itr_us": [2.0, 4.0, 6.0], "avg(energy_j)": [1.0, 2.0, 3.0]},
         ("itr_us", "avg(energy_j)", "dvfs_ghz")),
        # Three knobs: latency against energy, whatever their order.
        ({"itr_us": [2.0, 4.0], "dvfs_ghz": [1.2, 2.9], "rapl_w": [55.0, 135.0],
          "energy_j": [1.0, 2.0], "latency_p5_us": [1.0, 2.0], "latency_p99_us": [5.0, 6.0]},
         ("latency_p99_us", "energy_j", "itr_us")),
        # Of two latencies the one that most rows have.
        ({"latency_mean_us": [1.0, None, None], "latency_p99_us": [1.0, 2.0, 3.0],
          "energy_j": [1.0, 2.0, 3.0], "note": ["a", "b", "b"], "system": ["c", "d", "d"]},
         ("latency_p99_us", "energy_j", "system")),
        # A knob of one value is no axis.
        ({"itr_us": [2.0, 2.0], "mode": ["poll", "hybrid"], "iops": [1.0, 2.0]},
         ("mode", "iops", "")),
        ({"core": [0, 1, 0], "t_ns": [1, 2, 3], "rx_bytes": [0, 9, 7]},
         ("t_ns", "rx_bytes", "core")),
        ({"low": [1.0, 2.0], "high": [2.0, 3.0], "count": [4, 5]}, ("low", "high", "")),
        ({"system": ["a", "b"], "n": [3, 4]}, ("system", "n", "")),
        ({"energy_j": [3.0]}, ("", "", "")),
    ],
)  # fmt: skip
def test_a_chart_follows_from_the_roles(
    columns: dict[str, list[Any]], expected: tuple[str, str, str]
) -> None:
    assert chart(columns) == expected


@pytest.mark.parametrize(
    ("name", "role", "title"),
    [
        ("energy_j", "metric", SHIPPED.metrics["energy_j"].axis_title),
        ("avg(energy_j)", "metric", "mean of Energy, J"),
        ("quantile_cont(energy_j, 0.5)", "metric", "quantile of Energy, J"),
        ("energy_j_max", "metric", "greatest of Energy, J"),
        ("stddev(energy_j)", "spread", "sd of Energy, J"),
        ("mine_sd", "spread", "mine_sd"),
        ("setup_time_ms", "metric", "setup_time_ms, ms"),
        ("count_star()", "count", "count_star()"),
        ("latency_mean_us", "metric", SHIPPED.metrics["latency_mean_us"].axis_title),
    ],
)
def test_a_column_is_known_by_its_name(name: str, role: str, title: str) -> None:
    found = about(name, "DOUBLE", 1.0, 2.0)
    assert (found.role, found.title) == (role, title)


def test_values_have_the_looks_of_the_house() -> None:
    modes = about("mode", "VARCHAR", "poll", "interrupt")
    assert [(value, hue) for value, _, hue, _ in modes.values] == [
        ("interrupt", MODE_HUES["interrupt"]), ("poll", MODE_HUES["poll"]),
    ]  # fmt: skip
    for name, cell in (("system", "ebbrt_tuned"), ("system_label", "Library OS")):
        ((value, label, hue, symbol),) = about(name, "VARCHAR", cell).values
        assert (value, label) == (cell, "Library OS")
        assert (symbol, hue) == system_style("ebbrt_tuned", View.systems)
    assert about("dvfs_ghz", "DOUBLE", 2.9, 1.2).values[0][:2] == (1.2, "1.2 GHz")
    assert about("other", "VARCHAR", *map(str, range(21))).values == ()
    assert about("l", "DOUBLE[]", [1.0], [2.0]).values == ()


@pytest.mark.parametrize(
    ("name", "kind", "cells"),
    [("itr_us", "VARCHAR", ["x", None]), ("itr_us", "DOUBLE", ["NaN", 1.0]),
     ("dvfs_ghz", "BOOLEAN", [True, False]), ("system", "BIGINT", [1, 2]),
     ("mode", "VARCHAR", [None]), ("system_label", "VARCHAR", [None, "Library OS"])],
)  # fmt: skip
def test_a_column_may_be_called_like_a_knob(name: str, kind: str, cells: list[Any]) -> None:
    values = about(name, kind, *cells).values
    assert {value for value, *_ in values} == set(cells)
    assert all(hue.startswith("#") for _, _, hue, _ in values)


def test_a_unit_is_the_end_of_a_name() -> None:
    names = ("t_ns", "max_power_w", "c1_per_s", "rx_bytes", "s", "core")
    assert [unit_of(name, SHIPPED) for name in names] == ["ns", "W", "1/s", "B", "", ""]

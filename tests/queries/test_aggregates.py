"""Rows that are means of several runs count as these runs: in means, deviations and tests."""

import csv
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from app.kit.context import Lakes
from app.modes.payload import judge
from app.modes.state import ModesState
from data.analysis.rules import TOO_FEW
from data.analysis.significance import Test
from data.connection import open_lake
from data.errors import SettingsError
from data.queries.explore import metric_cube_query, points_query
from data.queries.moments import moments_query
from data.queries.runs import facet_cube_query
from data.selection import Selection
from ingest.pipeline import AddOptions, add
from ingest.report import AddReport
from ingest.settings.loading import load_settings

SYSTEMS = '[systems.old]\nbaseline = true\n[systems.new]\nlabel = "New"\n'
SHAPE = 'aggregate = { n = "count", mean = "_mean", sd = "_std" }\n'
COLUMNS = (
    '[tables.columns]\nsys = "system"\nj = "energy_j"\ns = { to = "duration_s", scale = 0.001 }\n'
)
# Energies and times of two systems: joules, and milliseconds.
RUNS = {
    "old": ([10.0, 12.0, 11.0, 13.0], [900.0, 1000.0, 1100.0, 1000.0]),
    "new": ([8.0, 9.0, 8.5, 9.5, 9.0], [1000.0, 1200.0, 1100.0, 1300.0, 1000.0]),
}


def write_lake(folder: Path, rows: Sequence[Sequence[object]], aggregate: str) -> AddReport:
    raw = folder / "raw"
    raw.mkdir(parents=True)
    (raw / "wattlas.toml").write_text(
        f"{SYSTEMS}[[tables]]\npattern = 't\\.csv'\nworkload = \"netpipe\"\n{aggregate}{COLUMNS}"
    )
    with (raw / "t.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return add(AddOptions(folder / "lake", [raw]))


def single() -> list[list[object]]:
    rows: list[list[object]] = [["sys", "replicate", "j", "s"]]
    for system, (energies, times) in RUNS.items():
        for number, (j, s) in enumerate(zip(energies, times, strict=True)):
            rows.append([system, number, j, s])
    return rows


def averaged(parts: Mapping[str, Sequence[slice]]) -> list[list[object]]:
    rows: list[list[object]] = [["sys", "count", "j_mean", "s_mean", "j_std", "s_std"]]
    for system, (energies, times) in RUNS.items():
        for part in parts[system]:
            cells: list[object] = [system, len(energies[part])]
            cells += [statistics.fmean(values[part]) for values in (energies, times)]
            several = len(energies[part]) > 1
            cells += [
                statistics.stdev(values[part]) if several else "" for values in (energies, times)
            ]
            rows.append(cells)
    return rows


WHOLE = {"old": [slice(0, 4)], "new": [slice(0, 5)]}
MIXED = {"old": [slice(0, 3), slice(3, 4)], "new": [slice(0, 2), slice(2, 5)]}


@pytest.fixture(scope="module")
def lakes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("aggregates")
    write_lake(folder / "runs", single(), "")
    for name, parts in (("whole", WHOLE), ("mixed", MIXED)):
        report = write_lake(folder / name, averaged(parts), SHAPE)
        assert {p.problem.kind for p in report.problems} <= {"duplicate_key"}
    return {name: folder / name / "lake" for name in ("runs", "whole", "mixed")}


def points(lake: Path, means: bool) -> pl.DataFrame:
    return _answer(lake, points_query, {"x": "duration_s", "y": "energy_j"}, means, 100)


def _answer(lake: Path, query: Callable[..., tuple[str, list[Any]]], *asked: Any) -> pl.DataFrame:
    with open_lake(lake) as opened:
        found: pl.DataFrame = opened.polars(*query(Selection(), *asked, catalogue=opened.catalogue))
        return found


def moments(lake: Path) -> pl.DataFrame:
    with open_lake(lake) as opened:
        return opened.polars(
            *moments_query("TRUE", [], ["system"], ["duration_s"], catalogue=opened.catalogue)
        )


@pytest.mark.parametrize("name", ["whole", "mixed"])
def test_means_deviations_and_counts_are_those_of_the_runs(
    lakes: dict[str, Path], name: str
) -> None:
    shown = ["system", "n", "x", "x_sd", "y", "y_sd"]
    expected, found = (points(lakes[each], True).select(shown) for each in ("runs", name))
    assert found["n"].to_list() == expected["n"].to_list() == [5, 4]
    for column in shown[2:]:
        assert found[column].to_list() == pytest.approx(expected[column].to_list(), rel=1e-12)
    both = lakes["runs"], lakes[name]
    cubes = [_answer(lake, metric_cube_query, "energy_j", 100).sort("system") for lake in both]
    settings = [moments(lake) for lake in both]
    for column in ("n", "mean", "sd"):
        assert cubes[1][column].to_list() == pytest.approx(cubes[0][column].to_list(), rel=1e-12)
    # Moments of logarithms follow from those of the values to second order.
    for column, near in (("n", 0), ("mean", 1e-12), ("log_mean", 1e-3), ("log_variance", 2e-3)):
        one, other = (each[f"duration_s_{column}"].to_list() for each in settings)
        assert other == pytest.approx(one, abs=near)


def test_a_row_keeps_its_number_of_runs_and_its_deviation(lakes: dict[str, Path]) -> None:
    found = points(lakes["whole"], False).sort("system")
    assert found["n"].to_list() == [5, 4]
    expected = [statistics.stdev(RUNS[system][0]) for system in ("new", "old")]
    assert found["y_sd"].to_list() == expected
    with open_lake(lakes["whole"]) as lake:
        rows = lake.arrow(
            "SELECT flags, replicate, sd_duration_s, aggregate_n FROM runs ORDER BY system", []
        ).to_pylist()
        units = {column.name: column.unit for column in lake.columns}
    assert [row["flags"] for row in rows] == [["aggregate", "power_derived"]] * 2
    assert [row["replicate"] for row in rows] == [None, None]
    # 1,000 ms are 1 s: the deviation has its mean's scale.
    assert rows[1]["sd_duration_s"] == pytest.approx(statistics.stdev(RUNS["old"][1]) / 1000)
    assert (units["sd_duration_s"], units["sd_energy_j"]) == ("s", "J")


def test_the_counts_of_filters_are_those_of_the_runs(lakes: dict[str, Path]) -> None:
    with open_lake(lakes["mixed"]) as lake:
        cube = lake.polars(*facet_cube_query(catalogue=lake.catalogue))
    assert dict(cube.select("system", "runs").iter_rows()) == {"old": 4, "new": 5}


def judged(lake: Path, test: Test) -> pl.DataFrame:
    state = ModesState(x="itr", y="dvfs", competitor="system", metric="energy_j", test=test)
    found: pl.DataFrame = judge(Lakes(lake).at(None), state).comparison.cells
    return found


@pytest.mark.parametrize("name", ["whole", "mixed"])
@pytest.mark.parametrize("test", ["student", "welch"])
def test_tests_count_the_runs_of_a_row(lakes: dict[str, Path], name: str, test: Test) -> None:
    expected, found = judged(lakes["runs"], test), judged(lakes[name], test)
    assert found["outcome"].to_list() == expected["outcome"].to_list() == ["win"]
    for column in ("p", "effect", "margin"):
        assert found[column].to_list() == pytest.approx(expected[column].to_list(), rel=1e-9)


def test_a_mean_has_no_ranks(lakes: dict[str, Path]) -> None:
    assert judged(lakes["whole"], "mann-whitney")["outcome"].to_list() == [TOO_FEW]


def test_a_metric_without_a_deviation_is_not_tested(tmp_path: Path) -> None:
    """Power follows from energy and time; nobody says how it spreads over the runs."""
    write_lake(tmp_path, averaged(WHOLE), SHAPE)
    asked = {"x": "duration_s", "y": "power_w"}
    found = _answer(tmp_path / "lake", points_query, asked, True, 10)
    assert found["n"].to_list() == [5, 4]
    assert found["y_sd"].to_list() == [None, None]


def test_a_constant_number_of_runs_and_rows_without_one(tmp_path: Path) -> None:
    rows = averaged(WHOLE)
    constant = [[cell for place, cell in enumerate(row) if place != 1] for row in rows]
    write_lake(tmp_path / "constant", constant, SHAPE.replace('"count"', "10"))
    assert points(tmp_path / "constant" / "lake", True)["n"].to_list() == [10, 10]
    rows[1][1], rows[2][1] = "", 0
    report = write_lake(tmp_path / "none", rows, SHAPE)
    assert [(p.problem.kind, p.problem.line) for p in report.problems] == [
        ("bad_aggregate", 2), ("bad_aggregate", 3)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ('{ sd = "_std" }', "lacks 'n'"),
        ('{ n = 0, sd = "_std" }', "cannot be"),
        ('{ n = 2, sd = "_x", mean = "_x" }', "cannot be"),
        ('{ n = 2, sd = "_x", median = "_m" }', "median', known: n"),
    ],
)  # fmt: skip
def test_a_bad_declaration_is_refused(tmp_path: Path, said: str, words: str) -> None:
    path = tmp_path / "wattlas.toml"
    path.write_text(f"[[tables]]\npattern = 'x'\naggregate = {said}\n")
    with pytest.raises(SettingsError, match=rf"tables\[1\].aggregate.*{words}"):
        load_settings(path)


def test_a_mean_without_a_deviation_counts_as_one_value(tmp_path: Path) -> None:
    """A tuner times a kernel nine times and reads the energy once."""
    rows: list[list[object]] = [["sys", "count", "j", "s_mean", "s_std"]]
    rows.append(["old", 9, 12.0, 900.0, 20.0])
    write_lake(tmp_path, rows, SHAPE)
    counts = {}
    for column in ("energy_j", "duration_s"):
        (counts[column],) = _answer(tmp_path / "lake", metric_cube_query, column, 10)["n"]
    assert counts == {"energy_j": 1, "duration_s": 9}

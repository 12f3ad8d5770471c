"""Tables with a row for each core of a run become tables of runs, or are refused with a reason."""

from pathlib import Path
from typing import Any

import pytest

from ingest.pipeline import AddOptions, add
from ingest.report import AddReport
from tests.fixtures.ingest import query

# Two packages of two cores; the second core of each package measures no energy.
SETTINGS = "[dataset]\nname = 't'\n[machine.packages]\n0 = [0, 1]\n1 = [2, 3]\n"
HEADER = "sys i core itr dvfs rapl QPS time joule ins cyc c3 read_99th RDTSC_START RDTSC_END\n"
ENERGY_J = (10.0, 0.0, 20.5, 0.0)


def core_row(run: int, core: int, joules: float, **other: Any) -> str:
    row = {"itr": 50, "time": 30.0 + core, "ins": 100 * (core + 1), "p99": 99.5} | other
    return (
        f"ebbrt_core {run} {core} {row['itr']} 0x1d00 135 200112.4 {row['time']} {joules} "
        f"{row['ins']} 7 {core} {row['p99']} 5 9\n"
    )


def run_rows(run: int, energy_j: tuple[float, ...] = ENERGY_J, **other: Any) -> str:
    return "".join(core_row(run, core, each, **other) for core, each in enumerate(energy_j))


def total_row(run: int, joules: float = 30.5) -> str:
    """The row of a run itself: it has no core, and so one cell less."""
    return f"ebbrt {run} 50 0x1d00 135 200112.4 33.0 {joules} 1000 28 6 99.5 5 9\n"


@pytest.fixture
def ingested(tmp_path: Path) -> Any:
    def run(text: str, name: str = "ebbrt_mcd.csv", settings: str = SETTINGS) -> tuple[Any, Any]:
        raw = tmp_path / "raw"
        raw.mkdir()
        (raw / "wattlas.toml").write_text(settings)
        (raw / name).write_text(text)
        report = add(AddOptions(tmp_path / "lake", [raw], workers=1))
        return report, query(tmp_path / "lake", "SELECT * FROM runs ORDER BY replicate")

    return run


def kinds(report: AddReport) -> list[tuple[str, str]]:
    return sorted((found.problem.kind, found.problem.severity) for found in report.problems)


def test_rows_of_cores_are_summed_to_runs(ingested: Any) -> None:
    """A run: 100 + 200 + 300 + 400 instructions, 10 J + 20.5 J, the last core's 33 s, one p99.

    9 rows are read: 2 runs, the 7 others were added to them or say the same as their sum.
    """
    report, runs = ingested(HEADER + run_rows(0) + total_row(0) + run_rows(1))
    names = ("workload", "system", "replicate", "energy_j", "duration_s", "instructions", "cycles",
             "c3", "latency_p99_us", "itr_us", "load_qps", "throughput_qps", "power_w")  # fmt: skip
    assert [[run[name] for name in names] for run in runs] == [
        ["memcached", "ebbrt", i, 30.5, 33.0, 1000, 28, 6, 99.5, 50, 200_000, 200_112.4, 30.5 / 33]
        for i in (0, 1)
    ]
    assert report.rows.read == 9
    assert (report.rows.runs, report.rows.summed, report.rows.refused) == (2, 7, 0)
    assert ("summed_cores", "repaired") in kinds(report)
    assert {name for name in runs[0] if "core" in name} <= {"cores", "core_imbalance"}


@pytest.mark.parametrize(
    ("energy_j", "total_j", "reason"),
    [
        ((10.0, 10.05, 20.0, 0.0), 30.05, ""),
        ((10.0, 14.0, 20.0, 0.0), None, "cores of package 0 differ, from 10 to 14"),
        ((10.0, 0.0, 0.0, 0.0), None, "no core of package 1 has one"),
        ((0.0, 0.0, 0.0, 0.0), None, ""),
    ],
)
def test_each_package_has_its_energy_once_or_the_run_has_none(
    ingested: Any, energy_j: tuple[float, ...], total_j: float | None, reason: str
) -> None:
    report, (run,) = ingested(HEADER + run_rows(0, energy_j))
    assert run["energy_j"] == total_j
    details = [f.problem.detail for f in report.problems if f.problem.kind == "core_energy"]
    assert [reason in detail for detail in details] == [True] * bool(reason)


def test_a_core_without_a_package_is_named(ingested: Any) -> None:
    settings = SETTINGS.replace("1 = [2, 3]", "1 = [3]")
    report, (run,) = ingested(HEADER + run_rows(0), settings=settings)
    assert (run["energy_j"], run["instructions"]) == (None, 1000)
    (detail,) = (f.problem.detail for f in report.problems if f.problem.kind == "core_energy")
    assert "machine.packages has no package with core 2" in detail


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (run_rows(0) + core_row(0, 3, 0.0), "core 3 occurs twice"),
        (run_rows(0) + core_row(1, 0, 5.0) + core_row(1, 2, 5.0), "core 1 is missing (2 of 4"),
        (
            core_row(0, 0, 1.0) + "".join(core_row(0, c, 0.0, itr=100) for c in (1, 2, 3)),
            "or its cores have different knobs",
        ),
    ],
)
def test_cores_that_are_no_run_are_refused_with_the_reason(
    ingested: Any, rows: str, reason: str
) -> None:
    report, runs = ingested(HEADER + rows)
    refused = [f.problem for f in report.refused]
    assert {problem.kind for problem in refused} == {"core_rows"}
    assert reason in refused[0].detail
    counts = report.rows
    assert counts.read == len(rows.splitlines())
    assert len(runs) == counts.runs == counts.read - counts.refused - counts.summed
    assert counts.refused > 0


def test_the_total_of_a_run_stands_where_its_cores_do_not(ingested: Any) -> None:
    """Run 1 lacks core 3; its total row is a run of its own. A total 10 % off is doubted."""
    short = "".join(run_rows(1).splitlines(keepends=True)[:3])
    report, runs = ingested(HEADER + run_rows(0) + total_row(0, 33.5) + short + total_row(1, 31.0))
    assert [run["energy_j"] for run in runs] == [30.5, 31.0]
    assert {("core_rows", "refused"), ("core_total", "doubted")} <= {*kinds(report)}


def test_what_differs_between_cores_and_is_no_count_is_left_unset(ingested: Any) -> None:
    rows = [core_row(0, core, each, p99=90 + core) for core, each in enumerate(ENERGY_J)]
    report, (run,) = ingested(HEADER + "".join(rows))
    assert (run["latency_p99_us"], run["energy_j"]) == (None, 30.5)
    (detail,) = (f.problem.detail for f in report.problems if f.problem.kind == "core_values")
    assert "latency_p99_us" in detail


@pytest.mark.parametrize(
    ("header", "rows", "column"),
    [
        ("program,Core,Package", ["a,12.5,20.5", "a,13.25,21"], "core"),
        ("program,cpu,Package", ["a,37,20.5", "a,52,21"], "cpu"),
        ("program,core,Package", ["a,3,20.5", "a,3,21"], "core"),
    ],
)
def test_a_column_of_such_a_name_that_numbers_no_cores_is_kept(
    ingested: Any, header: str, rows: list[str], column: str
) -> None:
    _, runs = ingested("\n".join([header, *rows]) + "\n", "t.csv")
    assert len(runs) == 2
    assert [run[column] for run in runs] == [float(row.split(",")[1]) for row in rows]


def test_a_table_of_cores_that_nobody_declared_is_summed(ingested: Any) -> None:
    text = "core,energy_j,duration_s,instructions\n0,5,1,10\n1,0,2,20\n2,6,1,30\n3,,1,40\n"
    report, (run,) = ingested(text, "some.csv")
    assert (run["energy_j"], run["duration_s"], run["instructions"]) == (11.0, 2.0, 100)
    assert report.rows.summed == 3


def test_a_negative_difference_of_counters_does_not_cost_the_run(ingested: Any) -> None:
    """18446727031084090021 is -346,625,461,595 in unsigned 64 bits."""
    text = (
        "sys i itr dvfs rapl time joules c3 c7\nlinux 0 4 0x1d00 135 3 9 18446727031084090021 5\n"
    )
    report, (run,) = ingested(text, "node.csv")
    assert (run["energy_j"], run["c3"], run["c7"]) == (9.0, None, 5)
    assert ("wrapped_counter", "doubted") in kinds(report)

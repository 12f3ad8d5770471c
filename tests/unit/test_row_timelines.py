"""Timelines of rows of tables: the samples of their traces are in the lake under the row's id."""

from pathlib import Path

import pytest

from app.kit.lake_view import LakeView
from app.timeline.defaults import default_state, missing
from app.timeline.runs import describe_runs
from app.timeline.state import TimelineState
from data.connection import open_lake
from ingest.lake.verification import verify_lake
from tests.fixtures.ingest import ingest, put, query, tuples


def samples(watts: float, start: float = 0.0, count: int = 20) -> str:
    """One sample a second, of two powers in turn."""
    rows = (f"{start + second},{watts + 10 * (second % 2)}" for second in range(count))
    return "\n".join(["time_s,package_power_w", *rows]) + "\n"


def study(raw: Path, seconds: float = 20.0) -> None:
    """Two programs, each run twice, with a trace in the folder of each run."""
    rows = ["__run_id,__done,program,duration_s"]
    for program, watts in (("fft", 30), ("lu", 60)):
        for n in (0, 1):
            run = f"run_{program}_repetition_{n}"
            rows.append(f"{run},DONE,{program},{seconds}")
            put(raw / run / "cpu.csv", samples(watts + n))
    put(raw / "run_table.csv", "\n".join(rows) + "\n")


def files_of(lake: Path) -> list[Path]:
    return sorted(path for name in ("samples", "overview") for path in lake.glob(f"{name}/*/*"))


def test_rows_have_the_timelines_of_their_traces(lake: Path, tmp_path: Path) -> None:
    study(tmp_path / "raw")
    assert ingest(lake, tmp_path / "raw", is_proposing=True).added == 4
    found = tuples(lake, "SELECT program, replicate, energy_j, has_log, source FROM runs")
    assert sorted(found) == [
        (program, n, (watts + n + 5) * 20.0, True, "summary")
        for program, watts in (("fft", 30), ("lu", 60))
        for n in (0, 1)
    ]
    ids = [run["run_id"] for run in query(lake, "SELECT run_id FROM runs ORDER BY energy_j")]
    with open_lake(lake) as opened:
        view = LakeView(opened)
        assert missing(view, TimelineState()) == ""
        assert default_state(view).runs
        assert [info.problem for info in describe_runs(view, ids)] == [None] * 4
        relation = opened.scan("samples", run_ids=ids[:1])
        joules = relation.aggregate("sum(energy_uj) / 1e6").fetchall()
        assert joules == [(pytest.approx(35 * 20.0),)]


def test_what_is_in_the_lake_is_not_written_again(lake: Path, tmp_path: Path) -> None:
    """Of a trace that changed the row and its files are new ones."""
    study(tmp_path / "raw")
    ingest(lake, tmp_path / "raw", is_proposing=True)
    before = files_of(lake)
    assert len(before) == 8
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    assert (report.added, report.replaced, report.unchanged) == (0, 0, 4)
    assert files_of(lake) == before
    # As much energy, at other times.
    text = samples(30).replace(",30.0", ",x").replace(",40.0", ",30.0").replace(",x", ",40.0")
    text = text.replace(",30\n", ",x\n").replace(",40\n", ",30\n").replace(",x\n", ",40\n")
    put(tmp_path / "raw/run_fft_repetition_0/cpu.csv", text)
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    assert (report.added, report.replaced, report.unchanged) == (0, 1, 3)
    assert len({*files_of(lake)} - {*before}) == 2
    assert not [*verify_lake(lake)]


def test_a_row_has_its_time_of_a_longer_trace(lake: Path, tmp_path: Path) -> None:
    start = 1_700_000_000.0
    rows = ["program,start_time,end_time"]
    rows += [f"{name},{start + at},{start + at + 20}" for name, at in (("fft", 9.5), ("lu", 39.5))]
    put(tmp_path / "raw/runs.csv", "\n".join(rows) + "\n")
    put(tmp_path / "raw/power.csv", samples(30, start, 90).replace("time_s", "timestamp"))
    ingest(lake, tmp_path / "raw", is_proposing=True)
    assert tuples(lake, "SELECT program, energy_j, duration_s, has_log FROM runs ORDER BY 1") == [
        (name, pytest.approx(700.0), 20.0, True) for name in ("fft", "lu")
    ]
    with open_lake(lake) as opened:
        for run in query(lake, "SELECT run_id FROM runs"):
            relation = opened.scan("samples", run_ids=[run["run_id"]])
            found = relation.aggregate("sum(energy_uj) / 1e6, max(t_ns) / 1e9").fetchall()
            assert found == [(pytest.approx(700.0), pytest.approx(20.0))]


def test_a_trace_of_another_time_has_no_timeline(lake: Path, tmp_path: Path) -> None:
    study(tmp_path / "raw", 55.0)
    ingest(lake, tmp_path / "raw", is_proposing=True)
    assert tuples(lake, "SELECT count(*), any_value(has_log) FROM runs") == [(4, False)]
    ids = [run["run_id"] for run in query(lake, "SELECT run_id FROM runs")]
    with open_lake(lake) as opened:
        view = LakeView(opened)
        for said in (missing(view, TimelineState()), describe_runs(view, ids)[0].problem):
            assert "a trace that took another time than the row says" in str(said)

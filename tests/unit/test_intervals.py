"""turbostat, `perf stat -j` and `-I`: totals, means, rows of intervals, samples of a timeline."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.kit.lake_view import LakeView
from app.timeline.defaults import open_link
from app.timeline.panels import SAMPLED_PANELS
from app.timeline.state import TimelineState
from app.timeline.tables import explain_view, view_rows
from data.connection import open_lake
from data.errors import FormatError
from data.run_files import RunFiles
from data.timeline.answers import answer_runs
from data.timeline.question import Question
from data.timeline.totals import window_totals
from data.timeline.window import RunAnswer
from ingest.formats import find_format, perf_stat, turbostat
from ingest.pipeline import AddOptions, add
from ingest.records import Intervals, ReadContext, Reading
from tests.fixtures.ingest import put
from tests.fixtures.tool_outputs import TURBOSTAT, captured

HERE = ReadContext("x", 0.0)
# A load of two seconds, from 1700000000 s on.
OUTPUT = '{"start": {"version": "iperf 3.12", "timestamp": {"timesecs": 1700000000}},\
 "end": {"sum_sent": {"seconds": 2.0}, "sum_received": {"bits_per_second": 8e9}}}'


def read(text: str | bytes, turbostat_s: float | None = None) -> Reading:
    data = text.encode() if isinstance(text, str) else text
    found = find_format("x", data)
    assert found is not None
    content = found.read([data], ReadContext("x", 0.0, turbostat_s=turbostat_s))
    assert isinstance(content, Reading)
    return content


def rows_of(reading: Reading) -> Intervals:
    assert reading.intervals is not None
    return reading.intervals


def kinds(reading: Reading) -> list[str]:
    return [problem.kind for problem in reading.problems]


def test_turbostat_totals_and_means() -> None:
    """60 W and 100 W for a second each are 160 J. Busy: 25 and 50 %; its frequency is weighted by
    the busy time: (2000 * 25 + 3000 * 50) / 75."""
    reading = read(TURBOSTAT)
    assert reading.interval_s == 2.0
    measured = reading.measurements
    assert measured["energy_j"] == 160.0
    assert measured["busy_pct"] == 37.5
    assert measured["busy_mhz"] == pytest.approx((2000 * 25 + 3000 * 50) / 75)
    assert measured["dram_power_w"] == 9.0
    assert (measured["c6_residency_pct"], measured["pc6_residency_pct"]) == (52.5, 10.0)
    assert {column.unit for column in reading.columns} == {"%", "MHz", "W"}
    assert reading.problems == []


def test_turbostat_rows_of_each_processor() -> None:
    rows = rows_of(read(TURBOSTAT))
    assert rows.core.tolist() == [-1, 0, 2, 1, 3] * 2
    assert rows.package.tolist() == [-1, 0, 0, 1, 1] * 2
    assert rows.end_s.tolist() == [1.0] * 5 + [2.0] * 5
    assert rows.start_unix_s == 1700000000
    assert rows.values["c6_entries"].tolist() == [8, 2, 2, 2, 2, 16, 4, 4, 4, 4]
    assert rows.values["c6_requested_pct"][1] == 49
    power_w = rows.values["package_power_w"].tolist()
    assert power_w[:2] == [60, 40]
    assert math.isnan(power_w[2])


def test_turbostat_without_a_clock_or_a_summary() -> None:
    """`turbostat --quiet --show CPU,Busy%,PkgWatt -n 2` on one processor; 5 s by default."""
    text = "CPU\tBusy%\tPkgWatt\n0\t10.00\t5.00\n0\t20.00\t7.00\n"
    reading = read(text)
    assert kinds(reading) == ["assumed_interval"]
    assert (reading.interval_s, reading.measurements["energy_j"]) == (10.0, 60.0)
    assert rows_of(reading).package.tolist() == [0, 0]
    told = read(text, turbostat_s=0.5)
    assert (kinds(told), told.measurements["energy_j"]) == ([], 6.0)
    shot = read("10.003 sec\nCPU\tBusy%\tPkg_J\n-\t10.00\t500.15\n0\t10.00\t500.15\n")
    assert (shot.interval_s, kinds(shot)) == (10.003, [])
    assert shot.measurements["energy_j"] == pytest.approx(500.15)


def test_turbostat_rows_that_are_none() -> None:
    text = "CPU\tBusy%\tPkgWatt\n0\t10.00\t5.00\t7\n0\tmany\t5.00\n0\t10.00\t5.00\n"
    reading = read(text, turbostat_s=1.0)
    assert kinds(reading) == ["field_count", "not_a_number"]
    assert reading.measurements["energy_j"] == 5.0
    with pytest.raises(FormatError, match="no row under a heading"):
        turbostat.read([b"CPU\tBusy%\tPkgWatt\n"], HERE)


def test_perf_in_json() -> None:
    reading = read(captured("perf_stat_j.json"))
    assert reading.measurements == {"context_switches": 1}
    assert reading.interval_s == pytest.approx(0.726391e-3 / 0.002212) or reading.interval_s is None
    assert reading.intervals is None
    for name in ("perf_stat_j_interval.json", "perf_stat_interval.csv"):
        assert find_format("x", captured(name)) is not None
    bad = captured("perf_stat_j.json") + b'{"event" : "cycles"}\n{"metric-value" : "1.0"}\n'
    assert kinds(read(bad)) == ["bad_line"]


def test_perf_intervals() -> None:
    """8161, 2104 and 2326 context switches in intervals that end at 0.2002, 0.5784 and 0.7004 s."""
    reading = read(captured("perf_stat_j_interval.json"))
    rows = rows_of(reading)
    assert reading.measurements["context_switches"] == 8161 + 2104 + 2326
    assert rows.values["context_switches"].tolist() == [8161, 2104, 2326]
    assert rows.end_s.tolist() == [0.200242523, 0.578404502, 0.700372456]
    assert rows.dt_s.tolist() == pytest.approx([0.200242523, 0.378161979, 0.121967954])
    assert "task_clock_msec" in rows.values
    assert rows.core.tolist() == [-1, -1, -1]
    slept = rows_of(read(captured("perf_stat_interval.csv")))
    assert slept.end_s.tolist() == [0.228103072, 0.703129206]


def test_perf_intervals_of_each_processor() -> None:
    rows = rows_of(read(captured("perf_stat_j_interval_cpus.json")))
    assert rows.core.tolist() == [0, 1, 0, 1, 0, 1]
    assert rows.values["context_switches"].tolist() == [223, 1171, 670, 691, 265, 795]
    assert set(rows.place) == {""}
    text = "     1.0,S1,2,5.5,Joules,power/energy-pkg/,1000000000,100.00,,\n"
    socket = rows_of(perf_stat.read([text.encode()], HERE))
    assert (socket.package.tolist(), socket.place) == ([1], ["S1"])
    assert socket.values["energy_j"].tolist() == [5.5]


def _answer(lake: Path, **asked: Any) -> RunAnswer:
    with open_lake(lake) as opened:
        run_id = opened.arrow("SELECT run_id FROM runs", []).to_pylist()[0]["run_id"]
        answer = answer_runs(RunFiles(opened), Question(runs=(run_id,), **asked)).runs[0]
    assert isinstance(answer, RunAnswer), answer
    return answer


@pytest.fixture(scope="module")
def turbostat_lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of iperf3 with turbostat beside it."""
    folder = tmp_path_factory.mktemp("turbostat")
    put(folder / "raw" / "iperf3.json", OUTPUT)
    put(folder / "raw" / "turbostat.txt", TURBOSTAT)
    report = add(AddOptions(folder / "lake", [folder / "raw"]))
    assert [p.problem.kind for p in report.problems] == ["unknown_workload"]
    return folder / "lake"


def test_turbostat_beside_an_output_becomes_samples_of_the_run(turbostat_lake: Path) -> None:
    """By its clock turbostat began with the load. Processor 0 ran 1e9, then 3e9 cycles;
    reference cycles are the busy share of 2 GHz: 1e9 and 2e9."""
    with open_lake(turbostat_lake) as lake:
        row = lake.arrow("SELECT * FROM runs", []).to_pylist()[0]
        samples = lake.scan("samples", run_ids=[row["run_id"]]).to_arrow_table().to_pylist()
        cores = lake.arrow("SELECT * FROM cores ORDER BY core", []).to_pylist()
        intervals = lake.scan("intervals", run_ids=[row["run_id"]]).to_arrow_table().to_pylist()
    assert (row["energy_j"], row["power_w"], row["duration_s"]) == (160.0, 80.0, 2.0)
    assert (row["busy_pct"], row["c6_residency_pct"]) == (37.5, 52.5)
    first = [s for s in samples if s["core"] == 0]
    assert [s["cycles"] for s in first] == [None, 1_000_000_000, 3_000_000_000]
    assert [s["ref_cycles"] for s in first] == [
        None,
        1_000_000_000,
        2_000_000_000,
    ]
    assert [s["instructions"] for s in first] == [
        None,
        2_000_000_000,
        6_000_000_000,
    ]
    assert [s["energy_uj"] for s in first] == [None, 40e6, 70e6]
    assert {s["quantity"] for s in intervals} >= {"c6_residency_pct", "busy_mhz", "irqs"}
    whole = {s["quantity"]: s["value"] for s in intervals if s["core"] is None and s["t_s"] == 1.0}
    assert (whole["package_power_w"], whole["busy_pct"]) == (60.0, 25.0)
    assert [(c["core"], c["package"], c["energy_j"]) for c in cores] == [
        (0, 0, 110.0), (1, 1, 50.0), (2, 0, None), (3, 1, None)
    ]  # fmt: skip


@pytest.mark.parametrize("value", [2**62, 10**19])
def test_a_count_that_is_too_large_is_left_unset_and_the_rest_goes_on(
    tmp_path: Path, value: int
) -> None:
    raw = tmp_path / "raw"
    (raw / "perf").mkdir(parents=True)
    (raw / "perf" / "iperf3.json").write_text(OUTPUT)
    lines = [
        json.dumps({
            "interval": float(at), "cpu": str(core), "event": event, "unit": "",
            "counter-value": f"{value if core == 1 and at == 2 else 1000}.000000",
            "event-runtime": 10**9, "pcnt-running": 100.0,
        })
        for at in (1, 2) for core in (0, 1) for event in ("instructions", "cycles")
    ]  # fmt: skip
    (raw / "perf" / "perf_stat.json").write_text("\n".join(lines) + "\n")
    (raw / "turbo").mkdir()
    (raw / "turbo" / "iperf3.json").write_text(OUTPUT)
    busy = TURBOSTAT.replace(
        "\t500\t25.00\t2000\t2000\t1.00", f"\t{value}\t25.00\t2000\t2000\t1.00"
    )
    assert busy != TURBOSTAT
    (raw / "turbo" / "turbostat.txt").write_text(busy)
    report = add(AddOptions(tmp_path / "lake", [raw]))
    assert report.added == 2
    found = {
        Path(p.path).name
        for p in report.problems
        if p.problem.kind == "value_range" and "too large for a count" in p.problem.detail
    }
    assert found == {"perf_stat.json", "turbostat.txt"}
    with open_lake(tmp_path / "lake") as lake:
        query = "SELECT core, instructions, cycles FROM cores ORDER BY run_id, core"
        rows = lake.arrow(query, []).to_pylist()
        flags = lake.arrow("SELECT flags FROM runs", []).to_pylist()
    assert {"core": 1, "instructions": 1000, "cycles": 1000} in rows
    assert {"core": 0, "instructions": 2000, "cycles": 2000} in rows
    assert all("value_range" in row["flags"] for row in flags)


def test_a_timeline_draws_what_turbostat_measured(turbostat_lake: Path) -> None:
    """Package 0 takes 40, then 70 W; processor 0 is busy for 50, then 100 % of the time."""
    answer = _answer(turbostat_lake, panels=("power", "busy", "frequency", "gap"), cores="0")
    # turbostat sees no interrupts.
    assert set(answer.groups[0].lines) == {"busy", "frequency"}
    middles = (answer.edges["counters"][:-1] + answer.edges["counters"][1:]) / 2e9
    power = next(group for group in answer.power if group.cores == (0, 2)).lines["power"]["mean"]
    busy = answer.groups[0].lines["busy"]["mean"]
    ghz = answer.groups[0].lines["frequency"]["mean"]
    for first, second, values in ((40.0, 70.0, power), (0.5, 1.0, busy), (2.0, 3.0, ghz)):
        assert values[middles < 0.99] == pytest.approx(first, rel=1e-6)
        assert values[middles > 1.01] == pytest.approx(second, rel=1e-6)
    # Entries to C6: four processors, 2 and then 4 each, over 1,024 bins.
    assert window_totals(_answer(turbostat_lake))["c6"] == 24
    zoomed = _answer(turbostat_lake, panels=("power",), from_x=0.9, to_x=1.1)
    assert zoomed.groups


def test_a_timeline_draws_the_time_in_c_states(turbostat_lake: Path) -> None:
    """Processor 0 is in C6 for 45, then 0 % of the time; with processor 1 for 57.5, then 22.5 %.
    Only they report it, of two each core. Package 0 is in PC6 for 10, then 0 %."""
    asked: dict[str, Any] = {"panels": ("residency", "package_residency"), "width": 100}
    heat = "c6_residency_pct"
    one = _answer(turbostat_lake, cores="0", heat=heat, **asked)
    both = _answer(turbostat_lake, from_x=0.5, to_x=1.5, **asked)
    for answer, name, first, second in (
        (one, "c6_residency_pct", 45.0, 0.0),
        (one, "pc6_residency_pct", 10.0, 0.0),
        (both, "c6_residency_pct", 57.5, 22.5),
        (both, "c1_residency_pct", (5 + 30 + 5 + 0) / 4, (0 + 50 + 5 + 0) / 4),
    ):
        edges, (group,) = answer.edges["counters"], answer.groups
        values = group.lines[name]["mean"]
        assert values[edges[1:] <= 1e9] == pytest.approx(first)
        assert values[edges[:-1] >= 1e9] == pytest.approx(second)
    assert set(one.groups[0].lines) == {
        "c1_residency_pct", "c6_residency_pct", "pc6_residency_pct",
    }  # fmt: skip
    assert one.heat is not None
    assert one.heat.values[:, 0] == pytest.approx([45.0, 70.0, np.nan, np.nan], nan_ok=True)
    with open_lake(turbostat_lake) as opened:
        view = LakeView(opened)
        state = TimelineState(runs=(one.facts.run_id,), panels=asked["panels"], cores="0,2")
        chosen, _ = open_link(view, TimelineState(runs=state.runs))
        assert (chosen.shown_panels, chosen.heat) == (SAMPLED_PANELS, "busy")
        assert open_link(view, state)[0].panels == state.panels
        samples = view_rows(view, state, "samples").filter(core=0)
        assert samples["c6_residency_pct"].to_list() == [None, 45.0, 0.0]
        bins = view_rows(view, state, "bins").filter(group="core 0", axis="counters")
        assert set(bins["c6_residency_pct_mean"]) == {45.0, 0.0}
        how = explain_view(view, state, "figure")
        sql = how.partition("time in C-states:\n\n")[2].partition("\n\n")[0]
        assert view.lake.sql(f"SELECT count(*) FROM ({sql})").fetchall() == [(8,)]


def test_a_tool_that_ran_longer_is_cut_to_the_run_by_its_clock(tmp_path: Path) -> None:
    """The load lasts from 0.5 s to 1.5 s of turbostat's two: half of 60 J and half of 100 J."""
    raw = tmp_path / "raw"
    raw.mkdir()
    moved = OUTPUT.replace("1700000000", "1700000000.5").replace("2.0", "1.0")
    (raw / "iperf3.json").write_text(moved)
    (raw / "turbostat.txt").write_text(TURBOSTAT)
    add(AddOptions(tmp_path / "lake", [raw]))
    with open_lake(tmp_path / "lake") as lake:
        row = lake.arrow("SELECT energy_j, power_w, busy_pct, flags FROM runs", []).to_pylist()[0]
    assert row == {"energy_j": 80.0, "power_w": 80.0, "busy_pct": 37.5, "flags": []}

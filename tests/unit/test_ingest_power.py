"""`ingest add` of power meters: energy joined by time, replaced with its meter, idle runs."""

import re
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data.connection import open_lake
from ingest.__main__ import main
from ingest.meters.exports import RunMeters
from ingest.pipeline import InterruptedIngestError
from ingest.report import AddReport
from tests.fixtures import ingest as shared
from tests.fixtures.fio_documents import document, job
from tests.fixtures.ingest import put
from tests.fixtures.raw_runs import LOG, write_netpipe

START_S = datetime(2022, 3, 16, 15, tzinfo=UTC).timestamp()
IDLE_W = 34.0
LENGTH_S = 20
# Runs of 20 s every 100 s, the first after 90 s: seconds since START_S.
BEGINS = {0: 90, 1: 190, 2: 290}
END_S = 400


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    return tmp_path / "raw"


def put_run(raw: Path, device: str, replicate: int, begin_s: float) -> None:
    folder = raw / device / "poll" / f"randread-4k-t1-r{replicate}"
    put(folder / "fio.json", document(job()))
    start, end = (
        datetime.fromtimestamp(START_S + at, UTC).isoformat()
        for at in (begin_s, begin_s + LENGTH_S)
    )
    put(folder / "run.toml", f"start_utc = {start}\nend_utc = {end}\n")


def watts(level_w: float) -> np.ndarray:
    """Readings once a second over three runs at one power, the rest idle."""
    power_w = np.full(END_S, IDLE_W)
    for begin in BEGINS.values():
        power_w[begin : begin + LENGTH_S + 1] = level_w
    return power_w


def exported(power_w: np.ndarray, offset: str = "GMT-05:00", ahead_s: float = 0) -> str:
    """The readings by a clock that stands in GMT-05:00."""
    begin_s = START_S - 5 * 3600 + ahead_s
    times = [datetime.fromtimestamp(begin_s + n, UTC) for n in range(len(power_w))]
    lines = zip(times, power_w, strict=True)
    rows = [f"{n},{at:%m/%d/%y %I:%M:%S %p},{w}" for n, (at, w) in enumerate(lines)]
    return f'"#","Date Time, {offset}","Active Power, W"\n' + "\n".join(rows) + "\n"


def put_sweep(raw: Path, device: str = "optane", level_w: float = 50.0) -> Path:
    """Three runs of a device, and its meter. Gives the meter's file."""
    for replicate, begin_s in BEGINS.items():
        put_run(raw, device, replicate, begin_s)
    return put(raw / device / "meter.csv", exported(watts(level_w)))


def ingest(lake: Path, *raw: Path, **options: Any) -> AddReport:
    return shared.ingest(lake, *raw, dataset="lab", **options)


def rows(lake: Path, workload: str = "fio", columns: str = "*") -> list[dict[str, Any]]:
    return shared.query(
        lake,
        f"SELECT {columns} FROM runs WHERE workload = '{workload}' ORDER BY device, replicate",
    )


def kinds(report: AddReport) -> list[tuple[str, str]]:
    found = [(Path(each.path).name, each.problem.kind) for each in report.problems]
    return sorted(found)


def counts(report: AddReport) -> tuple[int, int, int, int]:
    return report.added, report.replaced, report.removed, report.unchanged


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lake of a sweep whose meter's name says the device; the raw files are beside it."""
    folder = tmp_path_factory.mktemp("swept")
    raw = folder / "raw"
    put(raw / "wattlas.toml", "[power]\nmeter_pattern = '(?P<device>[^/]+)/meter\\.csv'\n")
    put_sweep(raw)
    report = ingest(folder / "lake", raw)
    assert (counts(report), report.problems) == ((3 + 4, 0, 0, 0), [])
    return folder / "lake"


def test_runs_have_the_power_of_their_time(swept: Path) -> None:
    lake, meter = swept, swept.parent / "raw" / "optane" / "meter.csv"
    for run in rows(lake):
        # fio measured 2 s (its own runtime), at 50 W.
        assert run["power_w"] == pytest.approx(50.0)
        assert run["energy_j"] == pytest.approx(50.0 * run["duration_s"])
        assert run["power_readings"] == LENGTH_S + 1
        assert run["energy_uncertainty_j"] == pytest.approx(0.005 * run["energy_j"] / 3**0.5)
        assert run["ios_per_joule"] == pytest.approx(run["iops"] / 50.0)
        assert run["flags"] == []
    run_id = rows(lake)[1]["run_id"]
    with open_lake(lake) as opened:
        sources = opened.polars(f"SELECT path FROM sources WHERE run_id = '{run_id}'")
        assert str(meter) in set(sources["path"])
        power = opened.scan("power", run_ids=[run_id]).pl().sort("t_s")
    assert power["t_s"].to_list() == list(range(LENGTH_S + 1))
    assert power["power_w"].to_list() == [50.0] * (LENGTH_S + 1)
    assert power["energy_j"].null_count() == LENGTH_S + 1


def test_stretches_without_runs_are_idle_runs(swept: Path) -> None:
    idle = rows(swept, "idle")
    assert [run["duration_s"] for run in idle] == [89, 78, 78, 88]
    assert [run["start_unix_s"] - START_S for run in idle] == [0, 111, 211, 311]
    for number, run in enumerate(idle):
        assert (run["device"], run["system"], run["source"]) == ("optane", "linux", "hoboware")
        assert run["replicate"] == number
        assert run["power_w"] == pytest.approx(IDLE_W)
        assert run["energy_j"] == pytest.approx(IDLE_W * run["duration_s"])
        assert run["iops"] is None
        assert not run["has_log"]
    assert len({run["run_id"] for run in idle}) == 4


def test_an_idle_run_is_of_the_device_that_all_runs_of_its_meter_are_of(
    raw: Path, lake: Path
) -> None:
    put_sweep(raw).rename(raw / "meter.csv")
    ingest(lake, raw)
    assert [run["device"] for run in rows(lake, "idle")] == ["optane"] * 4
    assert counts(ingest(lake, raw)) == (0, 0, 0, 7)
    # With a run of another device before the same meter nobody can tell any more.
    put_run(raw, "flash", 0, 30)
    report = ingest(lake, raw)
    assert counts(report) == (1 + 3, 0, 4, 3)
    assert [run["device"] for run in rows(lake, "idle")] == [None] * 3


def test_nobody_knows_what_is_idle_beside_runs_of_unknown_time(raw: Path, lake: Path) -> None:
    put_sweep(raw)
    (raw / "optane" / "netpipe").mkdir()
    write_netpipe(raw / "optane" / "netpipe", 0, LOG)
    ingest(lake, raw)
    assert rows(lake, "idle") == []
    assert [run["power_w"] for run in rows(lake)] == pytest.approx([50.0] * 3)


def test_a_changed_meter_replaces_the_runs_that_it_covers(raw: Path, lake: Path) -> None:
    """Whether the folder is given or the meter alone."""
    put_sweep(raw, "flash")
    meter = put_sweep(raw, "optane")
    ingest(lake, raw)
    for given, level_w in ((raw, 60.0), (meter, 70.0)):
        meter.write_text(exported(watts(level_w)))
        assert counts(ingest(lake, given))[:3] == (0, 3 + 4, 0)
        assert [run["power_w"] for run in rows(lake)] == pytest.approx([50.0] * 3 + [level_w] * 3)
    assert counts(ingest(lake, raw)) == (0, 0, 0, 14)


def test_a_meter_that_comes_later_gives_its_runs_power(raw: Path, lake: Path) -> None:
    meter = put_sweep(raw)
    text = meter.read_text()
    meter.unlink()
    ingest(lake, raw)
    assert [run["energy_j"] for run in rows(lake)] == [None] * 3
    meter.write_text(text)
    report = ingest(lake, raw)
    assert counts(report) == (4, 3, 0, 0)
    assert [run["power_w"] for run in rows(lake)] == pytest.approx([50.0] * 3)
    # It stays when the meter is gone.
    meter.unlink()
    ingest(lake, raw)
    assert [run["power_w"] for run in rows(lake)] == pytest.approx([50.0] * 3)
    assert len(rows(lake, "idle")) == 4


def test_a_kill_between_the_meter_and_its_runs_leaves_them_to_do(
    raw: Path, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meter = put_sweep(raw)
    ingest(lake, raw)
    meter.write_text(exported(watts(60.0)))
    with monkeypatch.context() as patched:
        patched.setattr(RunMeters, "join", _stop)
        with pytest.raises(InterruptedIngestError):
            ingest(lake, raw)
    assert [run["power_w"] for run in rows(lake)] == pytest.approx([50.0] * 3)
    report = ingest(lake, raw)
    assert counts(report) == (0, 3, 0, 4)
    assert [run["power_w"] for run in rows(lake)] == pytest.approx([60.0] * 3)


def _stop(*_: object) -> None:
    raise KeyboardInterrupt


def test_settings_change_power_and_idle_runs(raw: Path, lake: Path) -> None:
    put_sweep(raw)
    ingest(lake, raw)
    put(raw / "wattlas.toml", "[power]\nshortest_idle_s = 80\nclock_offset_s = 10\n")
    report = ingest(lake, raw)
    assert counts(report) == (0, 3 + 2, 2, 0)
    assert [run["duration_s"] for run in rows(lake, "idle")] == [80, 88]
    # Power is up from 10 s after a run's beginning: half of it, and half a second of the step.
    assert rows(lake)[0]["power_w"] == pytest.approx((9 * 34 + 42 + 10 * 50) / 20, abs=0.01)
    put(raw / "wattlas.toml", "[power]\nshortest_idle_s = 0\n")
    assert counts(ingest(lake, raw)) == (0, 3, 2, 0)


def test_a_meter_that_no_longer_counts_takes_its_idle_runs_with_it(raw: Path, lake: Path) -> None:
    put_sweep(raw)
    ingest(lake, raw)
    put(raw / "wattlas.toml", "[power]\nmeter_pattern = 'other\\.csv'\n")
    report = ingest(lake, raw)
    assert counts(report) == (0, 3, 4, 0)
    assert [run["energy_j"] for run in rows(lake)] == [None] * 3
    assert rows(lake, "idle") == []
    # Nothing but this says why there is no energy; it is told once.
    assert kinds(report) == [("meter.csv", "meter_unused")]
    assert "power.meter_pattern" in report.problems[0].problem.detail
    assert ingest(lake, raw).problems == []


def test_meters_stand_before_the_device_that_their_name_says(raw: Path, lake: Path) -> None:
    put(raw / "wattlas.toml", "[power]\nmeter_pattern = 'power-(?P<device>.+)\\.csv'\n")
    for device, level_w in (("flash", 44.0), ("optane", 60.0)):
        meter = put_sweep(raw, device, level_w)
        meter.rename(raw / f"power-{device}.csv")
    report = ingest(lake, raw)
    assert report.problems == []
    assert [run["power_w"] for run in rows(lake)] == pytest.approx([44.0] * 3 + [60.0] * 3)


def test_propose_estimates_the_offset_that_add_takes(raw: Path, lake: Path) -> None:
    """The meter is 33 s ahead: without its offset runs get the power of idle time."""
    put_sweep(raw).write_text(exported(watts(50.0), ahead_s=33))
    assert main(["propose", str(raw), "-o", str(raw / "wattlas.toml")]) == 0
    text = (raw / "wattlas.toml").read_text()
    assert re.search(r"# \? meter\.csv: -33\.\d+ s added .* explain \d+% .* by 3 runs", text)
    assert tomllib.loads(text)["power"]["clock_offset_s"] == pytest.approx(-33, abs=1)
    ingest(lake, raw)
    assert [run["power_w"] for run in rows(lake)] == pytest.approx([50.0] * 3, rel=0.05)


def test_an_offset_that_nothing_tells_is_not_proposed(
    raw: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put_sweep(raw).write_text(exported(watts(IDLE_W)))
    assert main(["propose", str(raw)]) == 0
    text = capsys.readouterr().out
    assert "# ? meter.csv: nothing tells the offset of its clock" in text
    assert "power" in tomllib.loads(text)
    assert "clock_offset_s" not in tomllib.loads(text)["power"]


def test_a_meter_without_utc_offset_is_refused_until_the_settings_say_it(
    raw: Path, lake: Path
) -> None:
    meter = put_sweep(raw)
    meter.write_text(exported(watts(50.0), "local"))
    report = ingest(lake, raw)
    assert [(Path(r.path).name, r.problem.kind) for r in report.refused] == [
        ("meter.csv", "no_utc_offset")
    ]
    assert [run["energy_j"] for run in rows(lake)] == [None] * 3
    assert [run["flags"] for run in rows(lake)] == [["no_power"]] * 3
    put(raw / "wattlas.toml", "[power]\nutc_offset_h = -5\n")
    assert ingest(lake, raw).problems == []
    assert [run["power_w"] for run in rows(lake)] == pytest.approx([50.0] * 3)


def test_bad_rows_are_refused_by_line_and_the_others_used(raw: Path, lake: Path) -> None:
    meter = put_sweep(raw)
    lines = meter.read_text().splitlines()
    lines[9] = lines[9].rsplit(",", 1)[0] + ",thirty"
    meter.write_text("\n".join(lines) + "\n")
    report = ingest(lake, raw)
    (refused,) = report.refused
    assert (refused.problem.kind, refused.problem.line) == ("not_a_number", 10)
    assert [run["power_w"] for run in rows(lake)] == pytest.approx([50.0] * 3)


def test_of_two_meters_the_one_with_the_readings_is_taken(raw: Path, lake: Path) -> None:
    meter = put_sweep(raw)
    before = meter.with_name("before.csv")
    before.write_text(exported(np.full(50, 20.0)))
    both = ingest(lake, raw)
    assert kinds(both) == [("before.csv", "meter_unused")]
    assert ingest(lake, raw).problems == []
    assert [run["power_w"] for run in rows(lake)] == pytest.approx([50.0] * 3)
    before.write_text(exported(watts(70.0)[:200]))
    report = ingest(lake, raw)
    assert ("fio.json", "several_meters") in kinds(report)
    assert [run["flags"] for run in rows(lake)] == [["several_meters"]] * 2 + [[]]
    # Both have all of the first run, and then the first by path is taken.
    assert [run["power_w"] for run in rows(lake)] == pytest.approx([70.0, 50.0, 50.0])


def with_serial(text: str) -> str:
    return text.replace("Active Power, W", "Active Power, W (LGR S/N: 7)")


def test_what_two_exports_of_a_meter_share_is_idle_once(raw: Path, lake: Path) -> None:
    """The second export begins where the first one does and goes on."""
    whole = with_serial(exported(watts(50.0)))
    put_sweep(raw).write_text(whole)
    assert ingest(lake, raw).problems == []
    alone = rows(lake, "idle", "start_unix_s, duration_s, energy_j")
    first = "".join(whole.splitlines(keepends=True)[: 1 + 250])
    put(raw / "optane" / "before.csv", first)
    assert ingest(lake, raw).problems == []
    assert [run["flags"] for run in rows(lake)] == [[]] * 3
    shared = rows(lake, "idle", "start_unix_s, duration_s, energy_j")
    assert sorted(map(str, shared)) == sorted(map(str, alone))
    assert counts(ingest(lake, raw))[:3] == (0, 0, 0)


def test_a_meter_that_was_moved_is_not_idle_while_it_stood_elsewhere(raw: Path, lake: Path) -> None:
    """Both files hold all that the meter logged; the disk's runs are in one folder alone."""
    whole = with_serial(exported(watts(50.0)))
    put_run(raw, "optane", 0, BEGINS[0])
    put_run(raw, "disk", 0, BEGINS[1])
    put_run(raw, "disk", 1, BEGINS[2])
    for device in ("optane", "disk"):
        put(raw / device / "meter.csv", whole)
    assert ingest(lake, raw).problems == []
    idle = rows(lake, "idle", "start_unix_s, duration_s, power_w, device, replicate")
    assert len(idle) == 4
    assert [run["power_w"] for run in idle] == pytest.approx([IDLE_W] * 4)

"""The storage sweep of the sample: the published anchors, the paper's map, and files that agree."""

import gzip
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from data.reference.tables import published_tables
from ingest.formats import hoboware
from ingest.meters.energy import PowerSeries, integrate_power, make_series
from ingest.records import ReadContext
from ingest.sample.parameters import DEVICES, KIB, METER_AHEAD_S, MODES, Access, Mode
from ingest.sample.storage import count_storage_runs, write_storage
from ingest.sample.storage_model import (
    RAMP_S,
    STORAGE_SIZES,
    StorageConfiguration,
    StorageRun,
    expect,
    idle_power_w,
    storage_runs,
)
from tests.fixtures.ingest import digest

SEED = 1


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("sample")
    write_storage(out, "tiny", SEED, lambda: None)
    return out / "storage"


def setting(
    mode: Mode, threads: int, size: int = 4096, device: str = "optane", rw: Access = "randread"
) -> StorageConfiguration:
    return StorageConfiguration(device, mode, rw, size, threads)


def test_table_1_without_noise() -> None:
    rows = published_tables()["hotstorage22_performance"].rows
    assert len(rows) == 6
    for row in rows:
        outcome = expect(setting(row["mode"], int(row["threads"]), int(row["request_bytes"])))
        assert outcome.latency_us == pytest.approx(row["latency_us"], rel=0.01), row
        assert outcome.iops == pytest.approx(row["iops"], rel=0.015), row


def test_published_idle_powers() -> None:
    assert idle_power_w(None) == 29
    assert [idle_power_w(name) for name in ("disk", "flash-a", "flash-b", "optane")] == [
        39,
        31,
        31,
        34,
    ]


@pytest.mark.parametrize(("mode", "switches"), [("interrupt", 1), ("hybrid", 1), ("poll", 0)])
def test_published_context_switches_a_request(mode: Mode, switches: int) -> None:
    outcome = expect(setting(mode, 4))
    assert outcome.switches_hz == switches * outcome.iops


def test_the_published_map_without_noise() -> None:
    """Classic polling wins at low latency, interrupts at high, hybrid polling nowhere."""
    for device in ("flash-a", "flash-b", "optane"):
        wins = {"poll": [0.0], "interrupt": [1e9]}
        for size in 512 * 2 ** np.arange(0, 10, 0.25):
            for threads in (1, 2, 4, 8, 16):
                outcomes = {m: expect(setting(m, threads, int(size), device)) for m in MODES}
                ios_a_joule = {m: o.iops / o.power_w for m, o in outcomes.items()}
                best = max(ios_a_joule, key=lambda m: ios_a_joule[m])
                assert best != "hybrid"
                if threads == 1:
                    wins[best].append(outcomes["poll"].latency_us)
        assert max(wins["poll"]) < min(wins["interrupt"])
    assert max(wins["poll"]) > 20


def test_the_map_of_the_samples_own_replicates() -> None:
    """A t-test of ten replicates or six: hybrid polling never does better than tie."""
    runs = [run for d in DEVICES for run in storage_runs(d, STORAGE_SIZES["small"], SEED)]
    cells: dict[StorageConfiguration, list[float]] = {}
    for run in runs:
        cells.setdefault(run.setting, []).append(run.iops / run.power_w)
    counts = {(setting.device == "optane", len(values)) for setting, values in cells.items()}
    assert counts == {(True, 10), (False, 6)}
    # Every device has the sizes and depths of the published figures, written and read.
    for device in DEVICES:
        own = [setting for setting in cells if setting.device == device]
        assert {1, 2, 4, 16} <= {setting.request_bytes // KIB for setting in own}
        assert {1, 16, 64} <= {setting.threads for setting in own}
        assert {setting.access for setting in own} == {"randread", "randwrite"}
    winners = {"poll": 0, "interrupt": 0, "tie": 0}
    for hybrid in (c for c in cells if c.mode == "hybrid"):
        others: list[Mode] = ["poll", "interrupt"]
        at = {
            mode: cells[StorageConfiguration(hybrid.device, mode, hybrid.access,
                                             hybrid.request_bytes, hybrid.threads)]
            for mode in others
        }  # fmt: skip
        best = max(others, key=lambda mode: np.mean(at[mode]))
        is_better = np.mean(cells[hybrid]) > np.mean(at[best])
        assert not (is_better and stats.ttest_ind(cells[hybrid], at[best]).pvalue < 0.05)
        is_tie = stats.ttest_ind(at["poll"], at["interrupt"]).pvalue > 0.05
        winners["tie" if is_tie else best] += 1
    assert winners["poll"] >= 8
    assert winners["interrupt"] >= 20


def test_the_disk_is_never_polled() -> None:
    assert DEVICES["disk"].modes == ("interrupt",)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes(tiny: Path, tmp_path: Path) -> None:
    runs = []
    write_storage(tmp_path, "tiny", SEED, lambda: runs.append(1))
    assert digest(tmp_path / "storage") == digest(tiny)
    assert len(runs) == count_storage_runs("tiny") == len(list(tiny.rglob("fio.json*")))
    (tmp_path / "other").mkdir()
    write_storage(tmp_path / "other", "tiny", SEED + 1, lambda: None)
    assert digest(tmp_path / "other" / "storage") != digest(tiny)


def meter(path: Path) -> PowerSeries:
    readings = hoboware.read([path.read_bytes()], ReadContext(path.name, 1e9))
    assert readings.utc_offset_s == -5 * 3600
    assert readings.problems == []
    assert [event.name for event in readings.events][-1] == "End Of File"
    return make_series(readings.local_s - readings.utc_offset_s, readings.power_w)


def planned(device: str) -> list[StorageRun]:
    return list(storage_runs(device, STORAGE_SIZES["tiny"], SEED))


def on_the_runs_clock(series: PowerSeries) -> PowerSeries:
    # A reading is the mean of the second that ends with it.
    return make_series(series.t_s - METER_AHEAD_S - 0.5, series.power_w)


def test_the_meter_gives_the_runs_powers_back_through_the_summer_change(tiny: Path) -> None:
    series = on_the_runs_clock(meter(tiny / "optane" / "meter.csv"))
    change_s = 1_647_154_800.0  # 2022-03-13 07:00 UTC, 02:00 by the meter's clock.
    runs = planned("optane")
    assert runs[0].start_s < change_s < runs[-1].start_s
    for run in runs:
        got = integrate_power(series, run.measured_s, run.end_s, accuracy_pct=0.5)
        assert got.gap_s == 0
        assert got.readings in (10, 11)
        assert got.power_w == pytest.approx(run.power_w, abs=0.35 + 0.03 * (run.power_w - 34))
        assert got.uncertainty_j < 0.05 * got.energy_j
    whole = [integrate_power(series, r.measured_s, r.end_s).power_w / r.power_w for r in runs]
    # A reading is the mean of a second: at a run's end some of it is the pause's.
    assert 0.98 < np.mean(whole) < 1.001


def test_one_meter_has_a_gap_in_a_run(tiny: Path) -> None:
    series = on_the_runs_clock(meter(tiny / "flash-b" / "meter.csv"))
    gaps_s = [integrate_power(series, r.measured_s, r.end_s).gap_s for r in planned("flash-b")]
    assert sum(gap_s > 5 for gap_s in gaps_s) >= 1
    assert sum(gap_s == 0 for gap_s in gaps_s) >= len(gaps_s) - 4


def test_the_bare_system_idles_at_29_w(tiny: Path) -> None:
    series = meter(tiny / "bare-system.csv")
    assert len(series.t_s) == pytest.approx(600, abs=2)
    assert series.power_w.mean() == pytest.approx(29, abs=0.05)


def test_documents_are_plain_once_and_packed_after(tiny: Path) -> None:
    for run in planned("optane"):
        folder = tiny / run.folder
        names = {path.name for path in folder.iterdir()}
        counters = {"interrupts.after.gz", "interrupts.before.gz", "perf.csv"}
        has_functions = run.setting.request_bytes == 4096 and run.replicate < 3
        assert names - {"vtune.csv"} == (
            {"fio.json.gz"} if run.replicate else {"fio.json", *counters}
        )
        assert ("vtune.csv" in names) == has_functions
        if run.replicate:
            assert b'"fio version"' in gzip.decompress((folder / "fio.json.gz").read_bytes())


def test_runs_follow_each_other() -> None:
    for device in DEVICES:
        runs = planned(device)
        pauses_s = [b.start_s - a.end_s for a, b in pairwise(runs)]
        assert min(pauses_s) > 2
        assert sum(pause_s > 60 for pause_s in pauses_s) == 9
        assert all(run.measured_s - run.start_s == pytest.approx(RAMP_S) for run in runs)


def test_everything_says_that_it_is_synthetic(tiny: Path) -> None:
    assert "synthetic = true" in (tiny / "wattlas.toml").read_text()
    for path in tiny.rglob("*.csv"):
        if path.name in ("meter.csv", "bare-system.csv"):
            assert "(synthetic)" in path.read_text("utf-8-sig").splitlines()[0]

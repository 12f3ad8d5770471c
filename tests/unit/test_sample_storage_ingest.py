"""The sample's storage sweep through ingest gives the published anchors and the model back."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from data.connection import newest_version, open_lake
from ingest.pipeline import AddOptions, AddReport, add
from ingest.sample.storage import count_storage_runs, write_storage
from ingest.sample.storage_parameters import DEVICES
from ingest.sample.storage_plan import STORAGE_SIZES, StorageRun, storage_runs

SEED = 5


@dataclass(frozen=True)
class Ingested:
    """A tiny storage sweep after ingest."""

    raw: Path
    lake: Path
    report: AddReport
    runs: pl.DataFrame

    def where(self, **values: Any) -> pl.DataFrame:
        """Runs with some values."""
        return self.runs.filter(**values)


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Ingested:
    folder = tmp_path_factory.mktemp("storage")
    write_storage(folder, "tiny", SEED, lambda: None)
    raw, lake = folder / "storage", folder / "lake"
    report = add(AddOptions(lake, [raw], workers=2))
    with open_lake(lake) as opened:
        return Ingested(raw, lake, report, opened.polars("SELECT * FROM runs"))


def planned() -> list[StorageRun]:
    return [run for d in DEVICES for run in storage_runs(d, STORAGE_SIZES["tiny"], SEED)]


def lost_to_the_gap(ingested: Ingested) -> int:
    return ingested.where(workload="fio")["energy_j"].null_count()


def test_every_run_comes_back(ingested: Ingested) -> None:
    fio = ingested.where(workload="fio")
    assert len(fio) == count_storage_runs("tiny")
    assert ingested.report.refused == []
    kinds = Counter(each.problem.kind for each in ingested.report.problems)
    assert kinds.pop("clock_fitted") == len(DEVICES)
    assert set(kinds) <= {"no_power", "power_gap"}
    assert kinds["no_power"] == lost_to_the_gap(ingested)
    assert set(fio["is_synthetic"]) == {True}
    assert set(fio.group_by("device", "mode", "rw", "request_bytes", "threads").len()["len"]) == {
        10
    }


def test_published_latencies(ingested: Ingested) -> None:
    said = {("poll", 1): 8.1, ("hybrid", 1): 8.5, ("interrupt", 1): 10.1,
            ("poll", 8): 13.6, ("hybrid", 8): 13.9, ("interrupt", 8): 15.0}  # fmt: skip
    for (mode, threads), latency_us in said.items():
        runs = ingested.where(
            device="optane", mode=mode, threads=threads, request_bytes=4096, rw="randread"
        )
        assert runs["latency_mean_us"].mean() == pytest.approx(latency_us, rel=0.01)


def test_published_idle_powers(ingested: Ingested) -> None:
    idle = ingested.where(workload="idle")
    powers = dict(idle.group_by("device").agg(pl.col("power_w").mean()).iter_rows())
    expected = {None: 29, "disk": 39, "flash-a": 31, "flash-b": 31, "optane": 34}
    assert powers == pytest.approx(expected, abs=0.05)
    counts = dict(idle.group_by("device").len().iter_rows())
    assert all(counts[name] >= 10 for name in DEVICES)


def test_published_context_switches_and_interrupts_a_request(ingested: Ingested) -> None:
    for mode, switches, interrupts in (("interrupt", 1, 1), ("hybrid", 1, 0), ("poll", 0, 0)):
        runs = ingested.where(device="optane", mode=mode, replicate=0)
        assert len(runs) == 8
        ratio = runs["context_switches"] / runs["requests"]
        assert ratio.to_list() == pytest.approx([switches] * 8, abs=0.001)
        ratio = runs["interrupts"] / runs["requests"]
        assert ratio.to_list() == pytest.approx([interrupts] * 8, abs=0.01)


def test_energies_agree_with_the_models(ingested: Ingested) -> None:
    rows = {
        (r["device"], r["mode"], r["rw"], r["request_bytes"], r["threads"], r["replicate"]): r
        for r in ingested.where(workload="fio").to_dicts()
    }
    off = []
    for run in planned():
        s = run.setting
        row = rows[s.device, s.mode, s.access, s.request_bytes, s.threads, run.replicate]
        assert row["start_unix_s"] == pytest.approx(run.measured_s, abs=0.001)
        if row["energy_j"] is None:
            continue
        expected_j = run.power_w * run.length_s
        off.append((row["energy_j"] - expected_j) / row["energy_uncertainty_j"])
        assert row["energy_j"] == pytest.approx(expected_j, rel=0.03)
        assert row["power_readings"] in (10, 11)
    assert len(off) == len(planned()) - lost_to_the_gap(ingested)
    assert np.quantile(np.abs(off), 0.95) < 3


def test_the_published_map(ingested: Ingested) -> None:
    """IOs a joule, t-test at 5 %: polling wins alone at 4 KB, interrupts at 64 KB."""
    optane = ingested.where(device="optane")

    def ios_a_joule(mode: str, size: int, threads: int, rw: str) -> list[float]:
        runs = optane.filter(mode=mode, request_bytes=size, threads=threads, rw=rw)
        return runs["ios_per_joule"].to_list()

    said = {(4096, 1): "poll", (4096, 8): None, (65536, 1): "interrupt", (65536, 8): "interrupt"}
    for rw in ("randread", "randwrite"):
        for (size, threads), winner in said.items():
            of = {m: ios_a_joule(m, size, threads, rw) for m in ("poll", "interrupt", "hybrid")}
            means = {mode: np.mean(values) for mode, values in of.items()}
            best = "poll" if means["poll"] > means["interrupt"] else "interrupt"
            if winner is not None:
                assert best == winner
                assert stats.ttest_ind(of["poll"], of["interrupt"]).pvalue < 0.05
            is_hybrid_better = means["hybrid"] > means[best]
            assert not (is_hybrid_better and stats.ttest_ind(of["hybrid"], of[best]).pvalue < 0.05)


def test_functions_of_the_watched_runs(ingested: Ingested) -> None:
    runs = ingested.where(
        device="optane", replicate=0, request_bytes=4096, threads=1, rw="randread"
    )
    ids = dict(runs.select("mode", "run_id").iter_rows())
    with open_lake(ingested.lake) as lake:
        loads = {}
        for mode, run_id in ids.items():
            functions = lake.scan("functions", run_ids=[run_id]).pl()
            by_subsystem = functions.group_by("subsystem").agg(pl.col("loads_per_s").sum())
            loads[mode] = dict(by_subsystem.iter_rows())
    # Polling loads by spinning in the block layer and the driver; it never goes to the scheduler.
    totals = {mode: sum(each.values()) for mode, each in loads.items()}
    assert totals["poll"] > totals["hybrid"] > totals["interrupt"]
    assert any("sched" in name for name in set(loads["interrupt"]) - set(loads["poll"]))
    assert any("tim" in name for name in set(loads["hybrid"]) - set(loads["poll"]))


def test_a_second_add_changes_nothing(ingested: Ingested) -> None:
    version = newest_version(ingested.lake)
    again = add(AddOptions(ingested.lake, [ingested.raw], workers=2))
    assert (again.added, again.replaced, again.removed, again.bytes_read) == (0, 0, 0, 0)
    assert again.unchanged == len(ingested.runs)
    assert newest_version(ingested.lake) == version

"""The sample's storage sweep through ingest gives the published anchors and the model back."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from data.connection import open_lake
from ingest.pipeline import AddOptions, add
from ingest.report import AddReport
from ingest.sample.parameters import DEVICES
from ingest.sample.storage import count_storage_runs, write_storage
from ingest.sample.storage_model import STORAGE_SIZES, StorageRun, storage_runs

pytestmark = pytest.mark.slow

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
    assert set(kinds) <= {"no_power", "power_gap"}
    assert kinds["no_power"] == lost_to_the_gap(ingested)
    assert set(fio["is_synthetic"]) == {True}
    assert set(fio.group_by("device", "mode", "rw", "request_bytes", "threads").len()["len"]) == {
        10
    }


def test_the_disks_interrupts_are_those_of_its_ahci_line(ingested: Ingested) -> None:
    """Of the watched replicate: one interrupt a request, reading and writing."""
    disk = ingested.where(device="disk").drop_nulls("interrupts")
    assert sorted(disk["rw"]) == ["randread", "randwrite"]
    rates = (disk["interrupts"] / disk["duration_s"] / disk["iops"]).to_list()
    assert rates == pytest.approx([1, 1], rel=0.02)


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

"""What the sample writes, ingest gives back: every run, no doubts, the model's own numbers."""

from dataclasses import dataclass
from typing import Any

import pytest

from ingest.pipeline import AddOptions, add
from ingest.report import AddReport
from ingest.sample import write_sample
from ingest.sample.plan import ADAPTIVE_ITR, Run, plan_runs
from ingest.sample.writer import measure_run
from tests.fixtures.ingest import query, tuples

pytestmark = pytest.mark.slow

SEED = 3
NETWORK = "SELECT * FROM runs WHERE dataset = 'synthetic-tiny'"
Key = tuple[Any, ...]


@dataclass(frozen=True)
class Ingested:
    """A tiny sample after ingest: the report, the rows of `runs`, cores by run id.

    The storage sweep in it is a dataset of its own, with tests of its own.
    """

    report: AddReport
    rows: list[dict[str, Any]]
    cores: dict[str, int]


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Ingested:
    folder = tmp_path_factory.mktemp("sample")
    raw = write_sample(folder / "raw", "tiny", SEED)
    report = add(AddOptions(lake=folder / "lake", raw=[raw], workers=1))
    cores = tuples(folder / "lake", "SELECT run_id, count(*) FROM cores GROUP BY run_id")
    return Ingested(report, query(folder / "lake", NETWORK), dict(cores))


def key_of_row(row: dict[str, Any]) -> Key:
    load = row["load_qps"] or row["message_bytes"] or 0
    knobs = (row["itr_us"] or ADAPTIVE_ITR, row["dvfs_ghz"], row["rapl_w"], row["replicate"])
    return (row["workload"], row["system"], load, *knobs)


def key_of_run(run: Run) -> Key:
    knobs = (run.itr, run.dvfs_ghz, run.rapl_w, run.replicate)
    return (run.workload, run.system, run.load, *knobs)


def test_nothing_is_refused_repaired_or_doubted(ingested: Ingested) -> None:
    report, rows = ingested.report, ingested.rows
    assert [each for each in report.problems if each.dataset == "synthetic-tiny"] == []
    assert report.refused == []
    assert len(rows) == len(list(plan_runs("tiny")))
    assert report.datasets == ("synthetic-tiny", "synthetic-tiny-storage")
    assert {flag for row in rows for flag in row["flags"]} == {"energy_counter_wrapped"}


def test_the_lake_says_that_it_is_synthetic(ingested: Ingested) -> None:
    rows = ingested.rows
    assert {row["dataset"] for row in rows} == {"synthetic-tiny"}
    assert all(row["is_synthetic"] for row in rows)


def test_every_run_comes_back_with_the_models_numbers(ingested: Ingested) -> None:
    """Tables round to 0.01 J, 1 ms and 0.1 us; logs hold counts whole and energy to 0.01 %."""
    by_key = {key_of_row(row): row for row in ingested.rows}
    runs = list(plan_runs("tiny"))
    assert len(by_key) == len(runs)
    for run in runs:
        row, measured = by_key[key_of_run(run)], measure_run(run, run.generator(SEED))
        rounding_j = 0.0 if run.is_logged else 0.0051
        energy_j = pytest.approx(measured["energy_j"], rel=1e-4, abs=rounding_j)
        assert row["energy_j"] == energy_j, run.key
        assert row["duration_s"] == pytest.approx(measured["duration_s"], abs=0.00051), run.key
        for name in ("instructions", "cycles", "rx_bytes", "tx_bytes", "interrupts", "c7"):
            assert row[name] == measured[name], (run.key, name)
        if run.workload != "netpipe":
            expected = pytest.approx(measured["latency_p99_us"], abs=0.051)
            assert row["latency_p99_us"] == expected, run.key


def test_logged_runs_have_their_cores(ingested: Ingested) -> None:
    by_key = {key_of_row(row): row for row in ingested.rows}
    for run in plan_runs("tiny"):
        cores = 16 if run.workload.startswith("memcached") else 1
        found = ingested.cores.get(by_key[key_of_run(run)]["run_id"], 0)
        assert found == (cores if run.is_logged else 0), run.key

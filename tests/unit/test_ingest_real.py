"""The published measurements through `ingest add`: their numbers to the digit."""

import json
from collections import Counter
from pathlib import Path

import pytest

from data.connection import open_lake
from ingest.pipeline import AddOptions, add
from ingest.report import AddReport
from tests.fixtures.ingest import query
from tests.fixtures.real import real_data

pytestmark = pytest.mark.real


def ingest(lake: Path, name: str) -> AddReport:
    return add(AddOptions(lake, [real_data() / name], workers=2))


def test_netpipe_logs_give_the_numbers_worked_out_by_hand(tmp_path: Path) -> None:
    assert ingest(tmp_path, "netpipe").added == 2
    rows = query(
        tmp_path,
        "SELECT round(duration_s, 6) AS s, round(energy_j, 4) AS j, rx_bytes, tx_bytes, "
        "instructions, cycles, ref_cycles, llc_misses, interrupts FROM runs ORDER BY system",
    )
    assert [tuple(row.values()) for row in rows] == [
        (0.218201, 4.7220, 42112760, 41507900, 54447651, 138023066, 262642705, 106143, 25739),
        (0.281869, 7.5151, 43250210, 43278116, 220811781, 391752880, 454530572, 815726, 25365),
    ]
    assert query(
        tmp_path,
        "SELECT system, samples FROM cores JOIN runs USING (run_id) ORDER BY system",
    ) == [
        {"system": "ebbrt_tuned", "samples": 217}, {"system": "linux_tuned", "samples": 280},
    ]  # fmt: skip
    with open_lake(tmp_path) as opened:
        for (run_id,) in opened.sql("SELECT run_id FROM runs").fetchall():
            whole = opened.scan("interrupts", [run_id]).aggregate("count(*), sum(rx_bytes)")
            binned = opened.scan("overview", [run_id]).filter("level = 1024")
            assert whole.fetchall() == binned.aggregate("sum(interrupts), sum(rx_bytes)").fetchall()


def test_memcached_outputs_without_logs_are_runs(tmp_path: Path) -> None:
    assert ingest(tmp_path, "mcd").added == 21
    rows = query(tmp_path, "SELECT * FROM runs")
    assert all("no_log" in row["flags"] for row in rows)
    (row,) = [r for r in rows if r["workload"] == "memcached" and r["itr_us"] == 100]
    assert (row["latency_p99_us"], row["throughput_qps"]) == (171.5, 199986.2)
    assert row["duration_s"] == pytest.approx(20.0, rel=0.01)
    silo = [r for r in rows if r["workload"] == "memcached-silo"]
    assert sum("no_window" in row["flags"] for row in silo) == 8


def test_node_outputs_are_runs(tmp_path: Path) -> None:
    assert ingest(tmp_path, "node").added == 2
    rows = query(tmp_path, "SELECT system, workload, latency_p99_us FROM runs ORDER BY system")
    assert [(r["system"], r["workload"]) for r in rows] == [
        ("ebbrt_tuned", "nodejs"),
        ("linux_tuned", "nodejs"),
    ]


def test_the_papers_findings_stand_in_the_lake(published_lake: Path) -> None:
    (default,) = query(
        published_lake,
        "SELECT avg(latency_p99_us) AS us FROM runs "
        "WHERE system = 'linux_default' AND load_qps = 200000",
    )
    assert default["us"] == pytest.approx(103.87, abs=0.005)
    (best,) = query(
        published_lake,
        "SELECT min(latency_p99_us) AS us FROM runs WHERE workload = 'memcached' "
        "AND system = 'linux_tuned' AND load_qps = 200000",
    )
    assert best["us"] == 61.7
    (edp,) = query(
        published_lake,
        "SELECT itr_us, dvfs_ghz, edp_js FROM runs WHERE workload = 'netpipe' "
        "AND system LIKE 'linux%' AND message_bytes = 524288 ORDER BY edp_js LIMIT 1",
    )
    assert (edp["itr_us"], edp["dvfs_ghz"]) == (28.0, 1.2)
    assert edp["edp_js"] == pytest.approx(491.2, abs=0.05)


def test_the_first_example_of_own_logs_is_true(published_lake: Path) -> None:
    """The numbers that docs/own-logs.md states and that no other test has."""
    report = json.loads((published_lake.parent / "report.json").read_text())
    rows = report["rows"]
    assert (rows["read"], rows["runs"], rows["dropped"]) == (9196, 9195, 1)
    kinds = Counter(problem["kind"] for problem in report["problems"])
    assert kinds == {"duplicate_key": 41, "identical_row": 1, "no_load": 1}
    (row,) = query(
        published_lake,
        "SELECT max(requests) FILTER (workload = 'nodejs') AS most, "
        "min(requests) FILTER (workload = 'nodejs') AS least, "
        "max(abs(duration_s - 20)) FILTER (load_qps > 0) AS off, "
        "min(energy_j) FILTER (load_qps = 200000 AND latency_p99_us = 61.7) AS fast_j, "
        "avg(energy_j) FILTER (load_qps = 200000 AND is_baseline) AS default_j, "
        "avg(edp_js) FILTER (message_bytes = 524288 AND is_baseline) AS default_js FROM runs",
    )
    assert (row["least"], row["most"]) == (100_000, 101_733)
    assert row["off"] <= 0.2001
    assert round(row["fast_j"]) == 2175
    assert round(row["default_j"]) == 1334
    assert round(row["default_js"]) == 654

"""The published measurements through `ingest add`: their numbers to the digit."""

from collections import Counter
from pathlib import Path

import pytest

from data.connection import open_lake
from ingest.pipeline import AddOptions, AddReport, add
from tests.fixtures.ingest import query
from tests.fixtures.real import real_data

pytestmark = pytest.mark.real


def ingest(lake: Path, name: str) -> AddReport:
    return add(AddOptions(lake, [real_data() / name], workers=2))


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        (
            "ebbrt_tuned",
            (0.218201, 4.7220, 42112760, 41507900, 54447651, 138023066, 262642705, 106143, 25739),
        ),
        (
            "linux_tuned",
            (0.281869, 7.5151, 43250210, 43278116, 220811781, 391752880, 454530572, 815726, 25365),
        ),
    ],
)
def test_netpipe_logs_give_the_numbers_worked_out_by_hand(
    tmp_path: Path, system: str, expected: tuple[float, ...]
) -> None:
    assert ingest(tmp_path, "netpipe").added == 2
    (row,) = query(
        tmp_path,
        "SELECT round(duration_s, 6) AS s, round(energy_j, 4) AS j, rx_bytes, tx_bytes, "
        "instructions, cycles, ref_cycles, llc_misses, interrupts "
        f"FROM runs WHERE system = '{system}'",
    )
    assert tuple(row.values()) == expected
    (core,) = query(
        tmp_path,
        f"SELECT samples FROM cores SEMI JOIN runs USING (run_id) WHERE run_id LIKE '%{system}%'",
    )
    assert core["samples"] == {"ebbrt_tuned": 217, "linux_tuned": 280}[system]
    with open_lake(tmp_path) as opened:
        ids = [r[0] for r in opened.sql("SELECT run_id FROM runs").fetchall()]
        for run_id in ids:
            (n, total) = (
                opened.scan("interrupts", [run_id])
                .aggregate("count(*), sum(rx_bytes)")
                .fetchall()[0]
            )
            (binned, bytes_binned) = (
                opened.scan("overview", [run_id])
                .filter("level = 1024")
                .aggregate("sum(interrupts), sum(rx_bytes)")
                .fetchall()[0]
            )
            assert (n, total) == (binned, bytes_binned)


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


@pytest.mark.slow
def test_summary_tables_arrive_whole(tmp_path: Path) -> None:
    report = ingest(tmp_path, "summaries")
    assert (report.added, report.rows.dropped) == (3072 + 3519 + 2604, 1)
    rows = query(
        tmp_path,
        "SELECT workload, count(*) AS n, "
        "count(*) FILTER (list_contains(flags, 'duplicate_key')) AS again "
        "FROM runs GROUP BY ALL ORDER BY workload",
    )
    assert [tuple(row.values()) for row in rows] == [
        ("memcached", 3072, 31),
        ("netpipe", 3519, 0),
        ("nodejs", 2604, 10),
    ]
    assert query(tmp_path, "SELECT count(DISTINCT run_id) AS n FROM runs") == [{"n": 9195}]
    assert ingest(tmp_path, "summaries").unchanged == 9195


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


def test_the_first_example_of_own_logs_is_true(tmp_path: Path) -> None:
    """The numbers that docs/own-logs.md states and that no other test has."""
    report = ingest(tmp_path, "summaries")
    assert (report.rows.read, report.rows.runs, report.rows.dropped) == (9196, 9195, 1)
    kinds = Counter(found.problem.kind for found in report.problems)
    assert kinds == {"duplicate_key": 41, "identical_row": 1, "no_load": 1}
    (row,) = query(
        tmp_path,
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

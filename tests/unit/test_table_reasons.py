"""What becomes of the rows of tables: each is counted once, has a workload, or a reason why not."""

import csv
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from ingest.discover.names import workload_of
from ingest.lake.maintenance import describe_lake
from ingest.report import describe_report, report_json
from ingest.settings.loading import load_settings
from tests.fixtures.ingest import details, ingest, runs
from tests.fixtures.raw_runs import SUMMARY_HEADER, summary_row
from tests.fixtures.real import real_data, studies


def test_rows_of_tables_are_counted_once_although_a_run_fails(tmp_path: Path) -> None:
    """Six rows: two runs, one of them twice, one repeated, one of 3 cells, one of text.

    The counts beside them belong to no output. So their run fails; the table is committed again.
    """
    raw = tmp_path / "mcd"
    raw.mkdir()
    good = [summary_row(0), summary_row(1), summary_row(0, joules=901), summary_row(1)]
    bad = ["linux_tuned 2 4\n", summary_row(3).replace("900", "many")]
    (raw / "table.csv").write_text(SUMMARY_HEADER + "".join(good + bad))
    (raw / "PerfStat.linux_mcd_qps200000_iter0").write_text(
        "# started on Tue Nov 24 17:00:00 2026\n\n5,,instructions,100,100.00,,\n"
    )
    report = ingest(tmp_path / "lake", raw)
    assert details(report, "no_output") != []
    assert (report.added, report.unchanged, report.replaced, report.removed) == (3, 0, 0, 0)
    rows = report.rows
    assert (rows.read, rows.runs, rows.dropped, rows.refused, rows.summed) == (6, 3, 1, 2, 0)
    lines = [*describe_report(report, tmp_path / "lake", False)]
    assert (
        "rows of tables: 6 read; 3 are runs, 1 repeat another or are empty, 2 were refused" in lines
    )
    assert report_json(report)["rows"] == {
        "read": 6, "runs": 3, "dropped": 1, "refused": 2, "summed": 0,
    }  # fmt: skip
    again = ingest(tmp_path / "lake", raw)
    assert (again.added, again.unchanged) == (0, 3)


def test_rows_that_two_tables_have_are_dropped_once(tmp_path: Path) -> None:
    """Two rows in one table, the first and another in a second: four read, three runs."""
    raw = tmp_path / "mcd"
    raw.mkdir()
    (raw / "a.csv").write_text(SUMMARY_HEADER + summary_row(0) + summary_row(1))
    (raw / "b.csv").write_text(SUMMARY_HEADER + summary_row(0) + summary_row(2))
    report = ingest(tmp_path / "lake", raw)
    assert (report.added, report.unchanged) == (3, 0)
    assert (report.rows.read, report.rows.runs, report.rows.dropped) == (4, 3, 1)
    (raw / "b.csv").write_text(SUMMARY_HEADER + summary_row(0) + summary_row(2, joules=5))
    report = ingest(tmp_path / "lake", raw)
    assert (report.added, report.replaced, report.unchanged) == (0, 1, 2)
    assert (report.rows.read, report.rows.runs, report.rows.dropped) == (4, 3, 1)


def test_a_plan_of_which_nothing_was_measured_has_no_runs(tmp_path: Path) -> None:
    raw = tmp_path / "plan"
    raw.mkdir()
    rows = "".join(
        f"run_{n}_repetition_{r},TODO,{('crc', 'lz4')[n]}, , , \n"
        for n in (0, 1)
        for r in (0, 1, 2)
    )
    header = "__run_id,__done,codec,energy/block,latency/block,OOM\n"
    (raw / "run_table.csv").write_text(header + rows)
    report = ingest(tmp_path / "lake", raw)
    assert (report.added, report.rows.read, report.rows.runs, report.rows.refused) == (0, 6, 0, 6)
    (detail,) = details(report, "empty_row")
    assert detail.startswith("nothing was measured in any of its 6 rows")
    # A table of settings alone states no measurement that could be missing.
    (raw / "run_table.csv").write_text(
        "__run_id,__done,codec,level\nrun_0_repetition_0,DONE,crc,1\nrun_1_repetition_0,DONE,lz4,9\n"
    )
    assert ingest(tmp_path / "lake", raw).rows.runs == 2
    # What began and ended was run: a meter may have its energy.
    (raw / "run_table.csv").write_text(
        "codec,start_time,end_time,energy_j\n"
        "crc,1714000000,1714000030,\nlz4,1714000040,1714000090,\n"
    )
    assert ingest(tmp_path / "lake", raw).rows.runs == 2
    assert {row["duration_s"] for row in runs(tmp_path / "lake")} == {30.0, 50.0}


@pytest.mark.thin(3)
@pytest.mark.real
@pytest.mark.parametrize(
    "folder",
    ["cloudlab", "tables", "data", *(f"strangers/{name}" for name in (
        "codecarbon", "jvmenergy", "kerneltuner", "langpowercap", "runtable"))],
)  # fmt: skip
def test_the_report_and_the_status_of_a_fresh_lake_agree(tmp_path: Path, folder: str) -> None:
    source = real_data() if folder == "data" else studies() / folder
    report = ingest(tmp_path / "lake", source)
    status = describe_lake(tmp_path / "lake")
    assert report.added == status["runs"] == sum(group["runs"] for group in status["groups"])
    assert (report.unchanged, report.replaced, report.removed) == (0, 0, 0)
    counts: Counter[str] = Counter()
    for each in report.problems:
        counts[each.problem.severity] += each.problem.count
    assert counts == status["problems"]
    others = sum(number for severity, number in counts.items() if severity != "refused")
    lines = [*describe_report(report, tmp_path / "lake", False)]
    wanted = f"repaired or doubted: {others}; `python -m ingest problems` lists them"
    assert (wanted in lines) is (others > 0)
    counted = report.rows
    assert counted.read == counted.runs + counted.dropped + counted.refused + counted.summed
    assert (again := ingest(tmp_path / "lake", source)).unchanged == report.added
    assert again.added == 0
    rows = runs(tmp_path / "lake", "workload, work", order="replicate")
    # Every run has a workload, or a reason why not; a study of one work is not torn apart.
    unknown = sum(run["workload"] == "unknown" for run in rows)
    reasons = (re.match(r"(\d+) runs: ", each) for each in details(report, "unknown_workload"))
    assert sum(int(found[1]) if found else 1 for found in reasons) == unknown
    assert folder != "cloudlab" or {run["work"] for run in rows} == {"30 s"}


FAMILY = {"sys": "linux_tuned", "i": 3, "itr": 8, "dvfs": "0x1900", "rapl": 135,
          "QPS": 199_846.3, "time": 30.0, "joule": 900.5, "read_99th": 120.5}  # fmt: skip


@pytest.mark.thin(3)
@pytest.mark.parametrize("separator", [",", ";", "\t", " "])
@pytest.mark.parametrize("is_numbered", [False, True])
def test_shipped_spellings_hold_whatever_separates_the_cells(
    tmp_path: Path, separator: str, is_numbered: bool
) -> None:
    names, cells = [*FAMILY], [*map(str, FAMILY.values())]
    if is_numbered and separator != " ":
        names, cells = ["", *names], ["0", *cells]
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "linux_mcd.csv").write_text(f"{separator.join(names)}\n{separator.join(cells)}\n")
    report = ingest(tmp_path / "lake", raw)
    (run,) = runs(tmp_path / "lake", order="replicate")
    wanted = {"system": "linux_tuned", "replicate": 3, "itr_us": 8.0, "dvfs_ghz": 2.5,
              "rapl_w": 135.0, "load_qps": 200_000.0, "throughput_qps": 199_846.3,
              "duration_s": 30.0, "energy_j": 900.5, "latency_p99_us": 120.5,
              "workload": "memcached"}  # fmt: skip
    assert {name: run[name] for name in wanted} == wanted
    (problem,) = (each.problem for each in report.problems)
    assert (problem.kind, problem.count, "199846.3" in problem.detail) == ("measured_load", 1, True)


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("header", "cells", "load_qps", "throughput_qps"),
    [
        ("QPS", "200000", 200_000.0, None),
        ("qps", "61234.5", 61_000.0, 61_234.5),
        ("qps", "111500.5", None, 111_500.5),
        ("QPS QPS_reported", "199912.6 200000", 200_000.0, 199_912.6),
        ("target_QPS measure_QPS", "400000 399910.6", 400_000.0, 399_910.6),
        ("target_QPS QPS", "400000 399910.6", 400_000.0, 399_910.6),
    ],
)
def test_a_load_is_a_number_and_told_from_what_was_measured(
    tmp_path: Path, header: str, cells: str, load_qps: float | None, throughput_qps: float | None
) -> None:
    (tmp_path / "mcd.csv").write_text(f"sys i itr dvfs {header}\nlinux 0 4 0x1900 {cells}\n")
    ingest(tmp_path / "lake", tmp_path / "mcd.csv")
    (run,) = runs(tmp_path / "lake", order="replicate")
    assert (run["load_qps"], run["throughput_qps"]) == (load_qps, throughput_qps)


@pytest.mark.real
def test_a_published_table_in_raw_units_needs_no_settings(tmp_path: Path) -> None:
    """Row 2: 7823561 x 2^-16 J = 119.38 J in 14945159253 / 2899999000 = 5.1535 s."""
    report = ingest(tmp_path / "lake", studies() / "tables")
    assert (report.added, report.problems) == (40, [])
    rows = runs(tmp_path / "lake", order="replicate")
    assert {(r["system"], r["workload"], r["itr_policy"]) for r in rows} == {
        ("linux", "netpipe", "adaptive")
    }
    assert sorted({r["message_bytes"] for r in rows}) == [64, 8192, 65_536, 524_288]
    (row,) = [r for r in rows if (r["message_bytes"], r["replicate"]) == (524_288, 2)]
    assert row["energy_j"] == pytest.approx(119.37807, abs=1e-4)
    assert row["duration_s"] == pytest.approx(5.15350, abs=1e-5)
    with (studies() / "tables" / "oct29_netpipe_governor.csv").open(newline="") as text:
        table = [*csv.DictReader(text)]
    by_hand = [
        (int(r["joules"]) / 2**16, int(r["time"]) / 2_899_999_000, int(r["num_interrupts"]))
        for r in table
    ]
    found = [(r["energy_j"], r["duration_s"], r["interrupts"]) for r in rows]
    np.testing.assert_allclose(sorted(found), sorted(by_hand), rtol=1e-9)


@pytest.mark.parametrize(
    ("path", "workload"),
    [
        ("/raw/ebbrt_mcd.csv", "memcached"), ("/raw/mcdsilo_combined.csv", "memcached-silo"),
        ("/raw/linux_silo/x.csv", "memcached-silo"), ("/raw/node_10_29_2020.csv", "nodejs"),
        ("/raw/oct29_netpipe_tuned.csv", "netpipe"), ("/raw/mcd/np.csv", "netpipe"),
        ("/raw/mcd/results.csv", "memcached"), ("/raw/mcd/deeper/results.csv", "unknown"),
        ("/raw/node-3/results.csv", "unknown"), ("/raw/mcd_and_node.csv", "unknown"),
        ("/raw/input.csv", "unknown"),
    ],
)  # fmt: skip
def test_the_workload_is_that_which_a_name_names(path: str, workload: str) -> None:
    assert workload_of(path.split("/")[-2:], load_settings()) == workload


def test_what_nothing_names_is_reported_once_with_what_to_do(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "odd.csv").write_text("energy_j,duration_s\n" + "".join(f"{n},1\n" for n in range(1, 8)))
    report = ingest(tmp_path / "lake", raw)
    (workload,), (system,) = details(report, "unknown_workload"), details(report, "unknown_system")
    assert "tables.workload" in workload
    assert "tables.system" in system
    assert workload.startswith("7 runs: ")
    assert system.startswith("7 runs: ")
    (raw / "wattlas.toml").write_text(
        "[workloads.sorting]\nloop = 'closed'\nperformance_metric = 'duration_s'\n"
        "aliases = ['odd']\n[[tables]]\npattern = 'odd.csv'\nsystem = 'mine'\n"
    )
    report = ingest(tmp_path / "lake", raw)
    assert details(report, "unknown_workload") == []
    (detail,) = details(report, "unknown_system")
    assert "[systems.mine]" in detail
    assert {
        (run["workload"], run["system"]) for run in runs(tmp_path / "lake", order="replicate")
    } == {("sorting", "mine")}
    # An alias that is added later renames the workload; a column may hold one.
    (raw / "wattlas.toml").write_text("[workloads.nodejs]\naliases = ['odd']\n")
    (raw / "t.csv").write_text("workload,energy_j\nmcd,5\nfft,6\n")
    ingest(tmp_path / "lake", raw)
    names = ["fft", "memcached", *["nodejs"] * 7]
    assert (
        sorted(run["workload"] for run in runs(tmp_path / "lake", "workload", "workload")) == names
    )


def test_an_energy_of_zero_is_no_measurement(tmp_path: Path) -> None:
    (tmp_path / "np.csv").write_text("energy_j,duration_s\n0.000,2\n5,2\n")
    report = ingest(tmp_path / "lake", tmp_path / "np.csv")
    assert [run["energy_j"] for run in runs(tmp_path / "lake", order="replicate")] == [None, 5.0]
    assert len(details(report, "no_energy")) == 1


def test_a_carriage_return_within_lines_is_named(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"threads,energy_j\r1,5.5\r2,6.5\r4,7.5\r")
    report = ingest(tmp_path / "lake", tmp_path / "t.csv")
    (reason,) = details(report, "bad_content")
    assert reason == "no table: a carriage return inside a line (line 1); not read"
    assert not details(report, "broken_compression")

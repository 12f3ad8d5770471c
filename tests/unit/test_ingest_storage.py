"""`ingest add` of storage runs from end to end: what makes a run, resume, replacement, refusals."""

import gzip
import re
import shutil
from pathlib import Path

import pytest

from data.catalogue import SHIPPED
from data.connection import open_lake
from data.queries.explore import points_query
from data.selection import Selection
from ingest.__main__ import main
from ingest.report import AddReport
from tests.fixtures.fio_documents import OPTIONS, SLOW, SLOW_WRITE, document, job
from tests.fixtures.ingest import ingest, put, query, runs, tuples
from tests.fixtures.real import real_data

RUN = "optane/poll/randread-4k-t1-r0"
INTERRUPTS = "    CPU0  CPU1\n 24: 9 9 MSI nvme0q0\n 25: {} 7 MSI nvme0q1\nERR: 0\n"
VTUNE = "Function,Module,Loads,Stores\nnvme_poll,nvme,4000,100\n[Unknown],,2,\n"
# fio ran 2 s; perf says that it counted for 2.1.
MUTILATE = (
    "#type avg std min 5th 10th 50th 90th 95th 99th\nread 7 1 4 5 6 7 8 9 10\n\n"
    "Total QPS = 200000.0 (6000000 / 30.0s)\n"
)
PERF = "400,,instructions,9,100.00,,\n900,,cs,9,100.00,,\n2100000000,ns,duration_time,9,100.00,,\n"


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    (tmp_path / "raw").mkdir()
    return tmp_path / "raw"


def put_run(raw: Path, run: str = RUN, fio: str | None = None) -> Path:
    """A whole run: 500 IO interrupts between the looks. Gives its folder."""
    folder = raw / run
    put(folder / "fio.json", document(job()) if fio is None else fio)
    put(folder / "interrupts.before", INTERRUPTS.format(1000))
    put(folder / "interrupts.after", INTERRUPTS.format(1500))
    put(folder / "perf.csv", PERF)
    put(folder / "vtune.csv", VTUNE)
    return folder


def problems(lake: Path) -> list[tuple[str, str, str]]:
    """File name, kind and severity of each problem."""
    rows = query(lake, "SELECT * FROM problems ORDER BY path, line, kind")
    return [(Path(row["path"]).name, row["kind"], row["severity"]) for row in rows]


def counts(report: AddReport) -> tuple[int, int, int, int]:
    return report.added, report.replaced, report.removed, report.unchanged


def test_the_files_of_a_folder_are_one_run(raw: Path, lake: Path) -> None:
    put_run(raw)
    report = ingest(lake, raw)
    assert (report.added, report.problems, report.ignored) == (1, [], [])
    (run,) = runs(lake)
    identity = {
        "workload": "fio", "source": "fio", "system": "linux", "loop": "closed", "mode": "poll",
        "device": "optane", "rw": "randread", "request_bytes": 4096, "threads": 1, "io_depth": 1,
        "replicate": 0, "performance_metric": "latency_mean_us",
    }  # fmt: skip
    assert {name: run[name] for name in identity} == identity
    measured = {
        "iops": 500.0, "bandwidth_bytes_s": 2_048_000.0, "requests": 1000, "duration_s": 2.0,
        "latency_mean_us": 9.45, "latency_p99_us": 10.0, "latency_p999_us": 50.0,
        "latency_max_us": 201.1, "cpu_user_pct": 5.0, "cpu_sys_pct": 20.0,
        "interrupts": 500, "interrupts_per_s": 250.0, "instructions": 400,
        "context_switches": 1010, "loads": 4002, "stores": 100,
        "start_unix_s": 1_600_000_008.25, "energy_j": None,
    }  # fmt: skip
    assert {name: run[name] for name in measured} == measured
    assert run["flags"] == []
    with open_lake(lake) as opened:
        functions = opened.scan("functions", [run["run_id"]]).fetchall()
        formats = opened.polars("SELECT format FROM sources ORDER BY format")["format"].to_list()
    assert [row[1:] for row in functions] == [
        ("nvme_poll", "drivers/nvme/host/pci.c", "nvme", 2000.0, 50.0),
        ("[Unknown]", None, None, 1.0, None),
    ]
    assert formats == [
        "fio", "perf_stat", "proc_interrupts", "proc_interrupts", "settings", "vtune"
    ]  # fmt: skip


def test_a_changed_or_added_file_replaces_its_run(raw: Path, lake: Path) -> None:
    folder = put_run(raw)
    put_run(raw, "optane/poll/randread-4k-t1-r1")
    ingest(lake, raw)
    for name, text, column, value in (
        ("fio.json", document(job(directions=SLOW)), "latency_mean_us", 20.1),
        ("interrupts.after", INTERRUPTS.format(1600), "interrupts", 600),
        ("perf.csv", PERF.replace("400", "401"), "instructions", 401),
        ("vtune.csv", VTUNE.replace("4000", "5000"), "loads", 5002),
        ("run.toml", "start_utc = 2020-09-13T12:00:00Z\nend_utc = 2020-09-13T12:00:02Z",
         "start_unix_s", 1_599_998_400.0),
    ):  # fmt: skip
        put(folder / name, text)
        assert counts(ingest(lake, raw)) == (0, 1, 0, 1), name
        assert runs(lake, column)[0][column] == value, name
    # One file given alone is read with the others of its run.
    put(folder / "interrupts.after", INTERRUPTS.format(1700))
    ingest(lake, folder / "interrupts.after", dataset="raw")
    (run, _) = runs(lake, "interrupts, iops, latency_mean_us")
    assert run == {"interrupts": 700, "iops": 500.0, "latency_mean_us": 20.1}
    assert main(["verify", "--lake", str(lake)]) == 0


def test_packed_files_are_read_alike(raw: Path, lake: Path) -> None:
    folder = put_run(raw)
    for path in list(folder.iterdir()):
        (folder / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    ingest(lake, raw)
    assert runs(lake, "iops, interrupts, loads") == [
        {"iops": 500.0, "interrupts": 500, "loads": 4002}
    ]


def test_files_of_one_folder_are_told_by_what_their_names_begin_with(raw: Path, lake: Path) -> None:
    for stem, after in (("a", 1100), ("b", 1200)):
        put(raw / f"{stem}.json", document(job()))
        put(raw / f"{stem}.interrupts.before", INTERRUPTS.format(1000))
        put(raw / f"{stem}.interrupts.after", INTERRUPTS.format(after))
    put(raw / "b.run.toml", "mode = 'hybrid'\nreplicate = 4")
    put(raw / "run.toml", "device = 'optane'")
    assert ingest(lake, raw).problems == []
    columns = "mode, replicate, device, interrupts"
    found = {tuple(row.values()) for row in runs(lake, columns)}
    assert found == {(None, None, "optane", 100), ("hybrid", 4, "optane", 200)}


def test_a_lab_names_its_files_as_it_likes(raw: Path, lake: Path) -> None:
    put(
        raw / "wattlas.toml",
        r"""
        [dataset]
        name = "lab"
        [[names]]
        pattern = '(?P<mode>\w+)_(?P<device>\w+)_(?P<request_bytes>\d+k)_(?P<replicate>\d+)\.json'
        workload = "fio"
        system = "linux"
        """,
    )
    put(raw / "classic_nvme_4k_2.json", document(job()))
    put(raw / "intr_nvme_4k_2.json", document(job()))
    ingest(lake, raw)
    found = {tuple(row.values()) for row in runs(lake, "mode, device, request_bytes, replicate")}
    assert found == {("poll", "nvme", 4096, 2), ("interrupt", "nvme", 4096, 2)}


def test_a_document_that_says_otherwise_than_its_name_is_doubted(raw: Path, lake: Path) -> None:
    put(raw / "hdd/interrupt/write-8k-t2-r0/fio.json", document(job()))
    ingest(lake, raw)
    assert runs(lake, "rw, request_bytes, threads, io_depth") == [
        {"rw": "write", "request_bytes": 8192, "threads": 2, "io_depth": 1}
    ]
    assert problems(lake) == [("fio.json", "knob_mismatch", "doubted")] * 3


def test_the_device_of_a_document_stands_where_nothing_else_says_it(raw: Path, lake: Path) -> None:
    named = document(job(options=OPTIONS + ', "filename": "/dev/nvme0n1"'))
    put(raw / "a.json", named)
    put(raw / "optane/poll/randread-4k-r0/fio.json", named)
    assert ingest(lake, raw).problems == []
    assert {run["device"] for run in runs(lake)} == {"nvme0n1", "optane"}


def test_a_failed_job_is_a_problem_row_and_never_a_point(raw: Path, lake: Path) -> None:
    put_run(raw, fio=document(job(error=5)))
    report = ingest(lake, raw)
    assert (report.added, len(report.refused)) == (0, 1)
    assert runs(lake) == []
    assert problems(lake) == [("fio.json", "job_failed", "refused")]
    (refused,) = report.refused
    assert (refused.problem.line, Path(refused.path).name) == (7, "fio.json")
    assert main(["add", str(raw), "--lake", str(lake)]) == 0
    put_run(raw)
    assert ingest(lake, raw).added == 1
    assert problems(lake) == []


def test_counts_without_an_output_make_no_run(raw: Path, lake: Path) -> None:
    folder = put_run(raw)
    (folder / "fio.json").unlink()
    report = ingest(lake, raw)
    assert report.added == 0
    assert {kind for _, kind, _ in problems(lake)} == {"no_output"}
    assert len(problems(lake)) == 4
    put_run(raw)
    assert counts(ingest(lake, raw)) == (1, 0, 0, 0)
    assert problems(lake) == []


def test_perf_that_counted_for_another_time_is_not_the_runs(raw: Path, lake: Path) -> None:
    """2.3 s are more than 10 % over the run's 2 s."""
    folder = put_run(raw)
    put(folder / "perf.csv", PERF.replace("2100000000", "2300000000"))
    ingest(lake, raw)
    (run,) = runs(lake)
    assert (run["instructions"], run["flags"]) == (None, ["counts_interval"])
    assert run["instructions_per_s"] == pytest.approx(400 / 2.3)
    assert problems(lake) == [("perf.csv", "counts_interval", "doubted")]
    put(raw / "wattlas.toml", '[perf]\ncounts = "whole"\n')
    assert ingest(lake, raw).replaced == 1
    (run,) = runs(lake)
    assert (run["instructions"], run["flags"]) == (400, ["counts_whole"])


def test_perf_files_of_one_run_complement_each_other(raw: Path, lake: Path) -> None:
    """The energy counters of two packages ran 62 s together: 31 s, as long as the instructions."""
    name, lasting = "linux_mcd_qps200000_iter0", "{},ns,duration_time,9,100.00,,\n"
    put(raw / f"{name}.out", MUTILATE)
    put(raw / f"PerfStat.Ins.{name}", "400,,instructions,9,100.00,,\n" + lasting.format(31 * 10**9))
    put(raw / f"PerfStat.Joules.{name}", f"62,Joules,power/energy-pkg/,{62 * 10**9},100.00,,\n")
    more = "999,,instructions,9,100.00,,\n80,,cycles,9,100.00,,\n"
    longer = put(raw / f"PerfStat.Longer.{name}", more + lasting.format(40 * 10**9))
    report = ingest(lake, raw)
    assert (report.refused, report.added) == ([], 1)
    (run,) = runs(lake)
    taken = {"instructions": 400, "energy_j": 62.0, "power_w": 62 / 30, "cycles": None}
    assert {name: run[name] for name in taken} == taken
    assert run["cycles_per_s"] == 2.0
    assert [each for each in problems(lake) if each[0] == longer.name] == [
        (longer.name, "counted_twice", "doubted"),
        (longer.name, "counts_interval", "doubted"),
    ]
    assert counts(ingest(lake, raw)) == (0, 0, 0, 1)


def test_two_files_for_one_place_are_named(raw: Path, lake: Path) -> None:
    folder = put_run(raw)
    put(raw / "copy" / RUN / "fio.json", document(job()) + "\n\n")
    ingest(lake, raw)
    assert problems(lake) == [(folder.joinpath("fio.json").name, "duplicate_source", "refused")]


def test_groups_of_a_document_are_runs(raw: Path, lake: Path) -> None:
    text = document(
        job("r4k"), job("w4k", SLOW_WRITE, group=1, options='"rw": "write", "bs": "4k"')
    )
    path = put(raw / "optane" / "poll" / "randread-4k-t1-r0" / "fio.json", text)
    assert ingest(lake, raw).problems == []
    found = [tuple(row.values()) for row in runs(lake, "rw, latency_mean_us, mode, replicate")]
    assert sorted(found) == [("randread", 9.45, "poll", 0), ("write", 20.1, "poll", 0)]
    assert ingest(lake, raw).unchanged == 2
    put(path, document(job("r4k")))
    assert counts(ingest(lake, raw)) == (1, 0, 2, 0)
    assert runs(lake, "rw") == [{"rw": "randread"}]


def test_a_failed_group_leaves_the_others(raw: Path, lake: Path) -> None:
    put(raw / "a.json", document(job("x"), job("y", group=1, error=5), job("z", SLOW, group=2)))
    report = ingest(lake, raw)
    assert (report.added, len(report.refused)) == (2, 1)
    assert problems(lake) == [("a.json", "job_failed", "refused")]
    again = ingest(lake, raw)
    assert (again.added, again.replaced, again.unchanged) == (0, 0, 2)
    assert problems(lake) == [("a.json", "job_failed", "refused")]


def test_a_corrected_sidecar_moves_its_run(raw: Path, lake: Path) -> None:
    put(raw / "run.toml", "mode = 'poll'")
    for name in ("a", "b"):
        put(raw / f"{name}.json", document(job()))
    ingest(lake, raw)
    put(raw / "run.toml", "mode = 'hybrid'")
    report = ingest(lake, raw)
    assert counts(report) == (2, 0, 2, 0)
    assert [run["mode"] for run in runs(lake)] == ["hybrid", "hybrid"]
    assert ingest(lake, raw).unchanged == 2


def test_a_bad_sidecar_keeps_its_files_out(raw: Path, lake: Path) -> None:
    put(raw / "run.toml", "mdoe = 'poll'")
    put(raw / "a.json", document(job()))
    report = ingest(lake, raw)
    assert report.added == 0
    assert problems(lake) == [
        ("a.json", "bad_sidecar", "refused"),
        ("run.toml", "bad_sidecar", "refused"),
    ]
    assert "unknown key 'mdoe'" in report.refused[0].problem.detail
    put(raw / "run.toml", "mode = 'poll'")
    assert ingest(lake, raw).added == 1
    assert problems(lake) == []


IDLE = "start_utc = 2020-09-13T12:00:00Z\nend_utc = 2020-09-13T12:01:00Z\n"


def test_a_completion_mode_that_nobody_knows_is_doubted(raw: Path, lake: Path) -> None:
    put(raw / "x.json", document(job()))
    put(raw / "run.toml", "mode = 'pol'")
    ingest(lake, raw)
    (run,) = runs(lake)
    assert (run["mode"], run["flags"]) == ("pol", ["unknown_mode"])
    assert problems(lake) == [("x.json", "unknown_mode", "doubted")]
    put(raw / "wattlas.toml", "[modes.pol]\n")
    ingest(lake, raw)
    assert (runs(lake)[0]["flags"], problems(lake)) == ([], [])


def test_a_sidecar_that_no_file_goes_with_is_refused(raw: Path, lake: Path) -> None:
    """A misspelt name would leave its run without what it says, and nobody would know."""
    put(raw / "a.json", document(job()))
    put(raw / "ab.run.toml", "mode = 'poll'")
    put(raw / "below" / "run.toml", "mode = 'poll'")
    ingest(lake, raw)
    assert [run["mode"] for run in runs(lake)] == [None]
    assert problems(lake) == [("ab.run.toml", "sidecar_unused", "refused")]
    assert ingest(lake, raw).problems == []
    (raw / "ab.run.toml").rename(raw / "a.run.toml")
    ingest(lake, raw / "a.run.toml")
    assert ingest(lake, raw).problems == []
    assert [run["mode"] for run in runs(lake)] == ["poll"]


def test_a_while_without_requests_is_a_run(raw: Path, lake: Path) -> None:
    put(raw / "optane/idle-r2/run.toml", IDLE)
    put(raw / "somewhere/run.toml", IDLE + "workload = 'idle'\ndevice = 'disk'")
    assert ingest(lake, raw).problems == []
    columns = "workload, device, replicate, duration_s, start_unix_s, source, flags"
    found = sorted(runs(lake, columns), key=lambda row: str(row["device"]))
    assert [tuple(row.values()) for row in found] == [
        ("idle", "disk", None, 60.0, 1_599_998_400.0, "sidecar", []),
        ("idle", "optane", 2, 60.0, 1_599_998_400.0, "sidecar", []),
    ]
    assert ingest(lake, raw).unchanged == 2
    put(raw / "somewhere/run.toml", IDLE + "workload = 'idle'\ndevice = 'flash'")
    # Without a time it is none.
    put(raw / "optane/idle-r3/run.toml", "system = 'linux'")
    assert counts(ingest(lake, raw)) == (1, 0, 1, 1)
    assert problems(lake) == [("run.toml", "no_time", "refused")]


def test_runs_with_logs_are_as_they_were(raw: Path, lake: Path) -> None:
    """A perf file beside a memcached output adds nothing that is of another time."""
    put(raw / "linux_mcd_qps200000_iter0.out", MUTILATE)
    put(raw / "PerfStat.linux_mcd_qps200000_iter0", "9,,instructions,9,100.00,,\n" + PERF[-38:])
    ingest(lake, raw)
    (run,) = runs(lake)
    assert (run["workload"], run["instructions"], run["latency_p99_us"]) == ("memcached", None, 10)
    assert run["flags"] == ["counts_interval", "no_log", "no_window"]


def test_the_time_of_the_nearest_sidecar_holds_over_those_above_and_the_document(
    raw: Path, lake: Path
) -> None:
    put(raw / "a.run.toml", IDLE)
    put(raw / "run.toml", IDLE.replace("2020", "2019"))
    put(raw / "z.json", document(job()))
    put(raw / "a.json", document(job()))
    ingest(lake, raw)
    starts = [run["start_unix_s"] for run in runs(lake)]
    assert sorted(starts) == [1_568_376_000.0, 1_599_998_400.0]
    assert [run["duration_s"] for run in runs(lake)] == [2.0, 2.0]


def test_a_part_that_is_read_again_leaves_the_problems_of_the_others(raw: Path, lake: Path) -> None:
    """Both groups say 4k and threads that the name does not; one loses its table of functions."""
    folder = raw / "disk" / "irq" / "write-8k-r0"
    put(folder / "a.json", document(job("x"), job("y", group=1, extra='"total_err": 3,')))
    put(folder / "run.toml", "itr = 8")
    ingest(lake, raw)
    known = problems(lake)
    assert known == [("a.json", "io_errors", "doubted")]
    put(
        folder / "run.toml",
        "itr = 8\nstart_utc = 2020-09-13T12:00:00Z\nend_utc = 2020-09-13T13:00:00Z",
    )
    assert counts(ingest(lake, raw)) == (0, 2, 0, 0)
    assert problems(lake) == known


def test_what_was_counted_beside_several_runs_is_refused(raw: Path, lake: Path) -> None:
    put_run(raw, fio=document(job("x"), job("y", SLOW, group=1)))
    ingest(lake, raw)
    assert [run["interrupts"] for run in runs(lake)] == [None, None]
    assert {kind for _, kind, _ in problems(lake)} == {"no_output"}


def test_the_interrupts_of_this_machine_are_read(raw: Path, lake: Path) -> None:
    """Between two copies of one look an NVMe queue raised none; without one nothing is known."""
    look = Path("/proc/interrupts").read_text()
    cpus = len(look.split("\n", 1)[0].split())
    queue = "999: " + " 5" * cpus + "  MSI nvme99q1\n"
    for name, rows in (("a", look), ("b", look + queue)):
        for phase in ("before", "after"):
            put(raw / f"{name}.interrupts.{phase}", rows)
        put(raw / f"{name}.json", document(job()))
    ingest(lake, raw)
    has_nvme = re.search(r"nvme\d+q[1-9]", look) is not None
    found = [run["interrupts"] for run in runs(lake, "interrupts")]
    assert found == [0 if has_nvme else None, 0]
    lacking = [] if has_nvme else [("a.interrupts.after", "no_io_queues", "doubted")]
    assert problems(lake) == lacking


def test_numbers_that_no_column_can_hold_are_left_unset(raw: Path, lake: Path) -> None:
    folder = put_run(raw, fio=document(job()).replace('"bw_bytes": 2048000', '"bw_bytes": NaN'))
    put(folder / "perf.csv", PERF.replace("400", "9" * 30))
    put(folder / "vtune.csv", VTUNE.replace("4000", "9" * 30))
    put(raw / "disk/irq/read-4k-r99999999999999999999" / "fio.json", document(job()))
    ingest(lake, raw)
    (run,) = runs(lake)
    values = [run[name] for name in ("bandwidth_bytes_s", "instructions", "loads", "iops")]
    assert (values, run["flags"]) == ([None, None, None, 500.0], ["value_range"])
    assert [kind for _, kind, _ in problems(lake)] == ["bad_knob"] + ["value_range"] * 3


def test_looks_on_other_cpus_and_one_look_alone_count_nothing(raw: Path, lake: Path) -> None:
    folder = put_run(raw)
    four = "    CPU0  CPU1  CPU2  CPU3\n 25: 1500 7 1 1 MSI nvme0q1\n"
    put(folder / "interrupts.after", four)
    assert len(ingest(lake, raw).refused) == 1
    (run,) = runs(lake)
    assert (run["interrupts"], run["iops"], run["flags"]) == (None, 500.0, ["other_cpus"])
    assert problems(lake) == [("interrupts.after", "other_cpus", "refused")]
    (folder / "interrupts.after").unlink()
    shutil.rmtree(lake)
    ingest(lake, raw)
    (run,) = runs(lake)
    assert (run["interrupts"], run["flags"]) == (None, ["one_snapshot"])
    assert problems(lake) == [("interrupts.before", "one_snapshot", "doubted")]


@pytest.mark.real
def test_the_published_perf_files_are_of_the_runs_beside_them(lake: Path) -> None:
    """perf counted for 45 s, the load lasted 30 s: whose energy the rest was nobody knows."""
    report = ingest(lake, real_data() / "perfstat")
    assert (report.added, report.ignored, report.refused) == (6, [], [])
    found = runs(lake, "load_qps, replicate, energy_j, power_w, flags")
    loads = sorted((run["load_qps"], run["replicate"]) for run in found)
    assert loads == [(load, r) for load in (200_000, 400_000, 800_000) for r in (0, 1)]
    assert {run["energy_j"] for run in found} == {None}
    (one,) = [r for r in found if (r["load_qps"], r["replicate"]) == (200_000, 0)]
    assert one["power_w"] == pytest.approx(2263.96 / 45.0957, rel=1e-3)
    assert all("counts_interval" in run["flags"] for run in found)
    details = {p.problem.detail for p in report.problems if p.problem.kind == "counts_interval"}
    assert any(detail.startswith("counted for 45.0") for detail in details)


# Of a run: `hipri` of fio, its sidecar, its folder; its mode, its sleep, whether it is doubted.
POLLED = [
    ("1", "io_poll_delay = -1", "x/y", "poll", None, None, False),
    ("1", "io_poll_delay = 0", "x/y", "hybrid", None, "automatic", False),
    ("1", "io_poll_delay = 5", "x/y", "hybrid", 5.0, "fixed", False),
    ("1", "", "x/y", None, None, None, False),
    ("0", "io_poll_delay = -1", "x/y", "interrupt", None, None, False),
    ("1", "hipri = true", "disk/hybrid", "hybrid", None, None, False),
    ("1", "io_poll_delay = 5", "disk/hybrid", "hybrid", 5.0, "fixed", False),
    ("1", "io_poll_delay = 0", "disk/hybrid", "hybrid", None, "automatic", False),
    ("1", "", "disk/interrupt", "interrupt", None, None, True),
    ("0", "", "disk/poll", "poll", None, None, True),
    ("1", "io_poll_delay = -1", "disk/poll", "poll", None, None, False),
    ("1", "io_poll_delay = 0", "disk/poll", "poll", None, None, True),
]


def test_the_flag_that_fio_lists_and_the_kernels_delay_make_a_mode_and_its_sleep(
    raw: Path, lake: Path
) -> None:
    """`hipri=1` is among the options of a document; `hipri` alone, as all bare flags, is not."""
    places = [
        raw / folder / f"randread-4k-r{number}" / "fio.json"
        for number, (_, _, folder, *_) in enumerate(POLLED)
    ]
    for place, (hipri, sidecar, *_) in zip(places, POLLED, strict=True):
        put(place, document(job(options=f'{OPTIONS}, "hipri": "{hipri}"')))
        if sidecar:
            put(place.with_name("run.toml"), sidecar)
    ingest(lake, raw)
    columns = "path, mode, hybrid_delay_us, hybrid_delay_policy"
    rows = tuples(lake, f"SELECT {columns} FROM runs JOIN sources USING (run_id)")
    found = {path: values for path, *values in rows if path.endswith("fio.json")}
    expected = zip(places, POLLED, strict=True)
    assert found == {str(place): [*values] for place, (_, _, _, *values, _) in expected}
    doubted = tuples(lake, "SELECT path, kind FROM problems ORDER BY path")
    assert doubted == sorted(
        (str(place), "knob_mismatch") for place, row in zip(places, POLLED, strict=True) if row[-1]
    )


def test_runs_of_two_engines_are_two_configurations(raw: Path, lake: Path) -> None:
    """Before, they were four replicates of one configuration, and one mean."""
    for number, engine in enumerate(("pvsync2", "pvsync2", "io_uring", "io_uring")):
        options = OPTIONS.replace("pvsync2", engine)
        place = raw / f"disk/poll/randread-4k-r{number}" / "fio.json"
        put(place, document(job(options=options)))
    assert ingest(lake, raw).added == 4
    with open_lake(lake) as opened:
        query = points_query(
            Selection(), {"x": "iops", "y": "latency_mean_us"}, True, 9, catalogue=SHIPPED
        )
        found = opened.polars(*query)
        chosen = Selection.of(engine=["io_uring"]).predicate()
        two = opened.polars(f"SELECT replicate FROM runs WHERE {chosen[0]} ORDER BY 1", chosen[1])
    assert found.select("ioengine", "n").rows() == [("io_uring", 2), ("pvsync2", 2)]
    assert two["replicate"].to_list() == [2, 3]

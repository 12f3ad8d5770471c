"""fio's own output: a sweep on a small file to the lake, and each shape that its options give."""

import json
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ingest.formats import find_format, fio
from ingest.formats.fio_latency import read_distribution
from ingest.pipeline import AddOptions, add
from ingest.records import ReadContext, Reading, RefusedError
from tests.fixtures.ingest import query
from tests.fixtures.real_fio import run_fio

pytestmark = pytest.mark.fio

FILE = ("--filename=data", "--size=4m", "--ioengine=pvsync2", "--time_based", "--runtime=300ms")
SIZES, JOBS = ("4k", "64k"), (1, 2)


def shoot(folder: Path, *options: str, output: str = "json") -> str:
    return run_fio(folder, "--name=a", *FILE, f"--output-format={output}", *options)


def read(text: str, part: str | None = None) -> Reading:
    found = find_format("x", text.encode()[: 1 << 16])
    assert found is not None
    assert found.name == "fio"
    return fio.read([text.encode()], ReadContext("x", 0.0, part=part))


def last_document(text: str) -> dict[str, Any]:
    """The last document, as its own lines say: from one brace alone to another."""
    lines = text.splitlines()
    first = max(number for number, line in enumerate(lines) if line == "{")
    last = max(number for number, line in enumerate(lines) if line == "}")
    document: dict[str, Any] = json.loads("\n".join(lines[first : last + 1]))
    return document


def doubts(entries: list[dict[str, Any]]) -> list[str]:
    """What is doubted of jobs that ran together: percentiles without over 10 % of the latency.

    On a busy machine a submission takes long beside its completion.
    """
    halves = [
        entry[way] for entry in entries for way in ("read", "write") if entry[way]["total_ios"]
    ]
    whole, completion = (
        sum(half[name]["mean"] * half[name]["N"] for half in halves)
        for name in ("lat_ns", "clat_ns")
    )
    return ["completion_percentiles"] if whole - completion > 0.1 * whole else []


@pytest.mark.slow
def test_a_sweep_becomes_runs(tmp_path: Path) -> None:
    before_s = time.time()
    for size in SIZES:
        for jobs in JOBS:
            folder = tmp_path / "raw" / "file" / "interrupt" / f"randread-{size}-t{jobs}-r0"
            folder.mkdir(parents=True)
            (folder / "fio.json").write_text(
                shoot(
                    tmp_path,
                    "--rw=randread",
                    f"--bs={size}",
                    f"--numjobs={jobs}",
                    "--group_reporting",
                    "--runtime=1",
                )
            )
    report = add(AddOptions(tmp_path / "lake", [tmp_path / "raw"]))
    assert (report.added, report.problems) == (4, [])
    rows = query(tmp_path / "lake", "SELECT * FROM runs ORDER BY request_bytes, threads")
    shapes = [(row["request_bytes"], row["threads"], row["io_depth"]) for row in rows]
    assert shapes == [(4096, 1, 1), (4096, 2, 2), (65536, 1, 1), (65536, 2, 2)]
    for row in rows:
        assert (row["mode"], row["device"], row["rw"]) == ("interrupt", "file", "randread")
        assert row["duration_s"] > 0.9
        assert row["requests"] == pytest.approx(row["iops"] * row["duration_s"], rel=0.01)
        expected = row["iops"] * row["request_bytes"]
        assert row["bandwidth_bytes_s"] == pytest.approx(expected, rel=0.01)
        ladder = [row[f"latency_{name}_us"] for name in ("min", "p50", "p99", "p999", "max")]
        assert ladder[0] > 0
        # A percentile is the middle of its bin, up to a 64th wide, and may pass the maximum.
        assert all(low <= high * (1 + 1 / 64) for low, high in pairwise(ladder))
        # Each job waits for its request: so many jobs make so many requests in a mean latency.
        assert row["iops"] * row["latency_mean_us"] <= row["threads"] * 1.05e6
        assert 0 < row["cpu_user_pct"] + row["cpu_sys_pct"] <= row["threads"] * 120
        assert (
            before_s
            < row["start_unix_s"]
            < row["start_unix_s"] + row["duration_s"]
            < time.time() + 1
        )


def test_jobs_by_themselves_are_added_as_fio_itself_adds_them(tmp_path: Path) -> None:
    text = shoot(tmp_path, "--rw=randread", "--bs=4k", "--numjobs=2", output="json+")
    reading, entries = read(text), last_document(text)["jobs"]
    assert [entry["jobname"] for entry in entries] == ["a", "a"]
    total = sum(entry["read"]["total_ios"] for entry in entries)
    assert (reading.knobs["threads"], reading.measurements["requests"]) == (2, total)
    assert reading.measurements["iops"] == sum(entry["read"]["iops"] for entry in entries)
    assert {"latency_p50_us", "latency_p75_us", "latency_p999_us"} <= set(reading.measurements)
    assert [problem.kind for problem in reading.problems] == doubts(entries)


def test_our_percentiles_of_bins_are_fios_own(tmp_path: Path) -> None:
    text = shoot(tmp_path, "--rw=randrw", "--bs=4k", output="json+")
    for direction in ("read", "write"):
        found = read_distribution(last_document(text)["jobs"][0][direction])
        assert found is not None
        said, found.percentiles = found.percentiles, {}
        assert len(said) > 10
        assert {percent: found.percentile_ns(percent) for percent in said} == said
    reading, (entry,) = read(text), last_document(text)["jobs"]
    assert reading.measurements["iops"] == entry["read"]["iops"] + entry["write"]["iops"]
    assert reading.knobs["rw"] == "randrw"
    assert [problem.kind for problem in reading.problems] == doubts([entry])


@pytest.mark.parametrize("unified", ["1", "both"])
def test_unified_reporting(tmp_path: Path, unified: str) -> None:
    text = shoot(tmp_path, "--rw=randrw", "--bs=4k", f"--unified_rw_reporting={unified}")
    reading, (entry,) = read(text), last_document(text)["jobs"]
    assert reading.measurements["requests"] == entry["mixed"]["total_ios"]
    assert reading.measurements["latency_p99_us"] > 0


@pytest.mark.slow
def test_total_latency_with_its_percentiles(tmp_path: Path) -> None:
    text = shoot(tmp_path, "--rw=randread", "--lat_percentiles=1", "--clat_percentiles=0")
    reading, (entry,) = read(text), last_document(text)["jobs"]
    assert reading.measurements["latency_mean_us"] == entry["read"]["lat_ns"]["mean"] / 1e3
    said = entry["read"]["lat_ns"]["percentile"]["99.000000"]
    assert reading.measurements["latency_p99_us"] == said / 1e3


def test_a_job_file_whose_jobs_wait_for_each_other(tmp_path: Path) -> None:
    (tmp_path / "sweep.fio").write_text(
        "[global]\nfilename=data\nsize=4m\nioengine=pvsync2\ntime_based\nruntime=200ms\n"
        "group_reporting\n[r4k]\nrw=randread\nbs=4k\nnumjobs=2\n"
        "[w8k]\nstonewall\nrw=write\nbs=8k\niodepth=16\n"
    )
    text = run_fio(tmp_path, "--output-format=json", "sweep.fio")
    assert fio.list_parts([text.encode()], ReadContext("x", 0.0)) == ["r4k", "w8k"]
    first, second = read(text, "r4k"), read(text, "w8k")
    engine = {"ioengine": "pvsync2"}
    assert first.knobs == engine | {
        "threads": 2, "io_depth": 2, "rw": "randread", "request_bytes": 4096
    }  # fmt: skip
    assert second.knobs == engine | {
        "threads": 1, "io_depth": 1, "rw": "write", "request_bytes": 8192
    }  # fmt: skip
    assert first.utc_window is not None
    assert second.utc_window is not None
    assert first.utc_window.end_s <= second.utc_window.start_s + 0.01


@pytest.mark.slow
def test_kinds_of_jobs_reported_as_one(tmp_path: Path) -> None:
    """Two readers and three writers make one entry, under the options of the writers."""
    (tmp_path / "mixed.fio").write_text(
        "[global]\nfilename=data\nsize=4m\nbs=4k\ntime_based\nruntime=300ms\ngroup_reporting\n"
        "[a]\nrw=randread\nnumjobs=2\n[b]\nrw=randread\nnumjobs=3\n"
    )
    text = run_fio(tmp_path, "--output-format=json", "mixed.fio")
    reading, (entry,) = read(text), last_document(text)["jobs"]
    assert (reading.knobs, [p.kind for p in reading.problems]) == ({}, ["mixed_jobs"])
    assert reading.measurements["iops"] == entry["read"]["iops"]


@pytest.mark.slow
def test_a_job_that_verifies_what_it_wrote(tmp_path: Path) -> None:
    text = run_fio(
        tmp_path, "--name=a", "--filename=data", "--size=4m", "--rw=randwrite", "--bs=4k",
        "--verify=crc32c", "--output-format=json",
    )  # fmt: skip
    reading, (entry,) = read(text), last_document(text)["jobs"]
    assert entry["read"]["total_ios"] == entry["write"]["total_ios"] == 1024
    assert reading.measurements["requests"] == 1024
    assert reading.knobs["request_bytes"] == 4096
    assert "verified" in [p.kind for p in reading.problems]


@pytest.mark.slow
def test_asynchronous_engines_have_their_depth(tmp_path: Path) -> None:
    text = shoot(tmp_path, "--rw=randread", "--bs=4k", "--ioengine=libaio", "--iodepth=16")
    assert read(text).knobs["io_depth"] == 16


@pytest.mark.slow
def test_a_second_run_appended_to_the_first(tmp_path: Path) -> None:
    first, second = (shoot(tmp_path, "--rw=randread", f"--bs={size}") for size in ("8k", "4k"))
    first = first.replace('"jobname" : "a"', '"jobname" : "b"')
    readings = [read(f"governor=eco\n{first}governor=fast\n{second}", part) for part in "12"]
    assert [each.measurements for each in readings] == [
        read(text).measurements for text in (first, second)
    ]
    assert [each.knobs["governor"] for each in readings] == ["eco", "fast"]
    assert [each.problems for each in readings] == [[], []]


@pytest.mark.slow
def test_a_delay_of_a_later_job_counts_from_fios_own_beginning(tmp_path: Path) -> None:
    """Its 1.2 s are over when the job before it ends, so that it begins at once."""
    (tmp_path / "sweep.fio").write_text(
        "[global]\nfilename=data\nsize=4m\nbs=4k\nrw=randread\ntime_based\nruntime=1200ms\n"
        "[a]\n[b]\nstonewall\nstartdelay=1200ms\n"
    )
    (tmp_path / "data").write_bytes(bytes(4 << 20))
    before_s = time.time()
    first = read(run_fio(tmp_path, "--output-format=json", "sweep.fio"), "a").utc_window
    assert first is not None
    assert first.start_s >= before_s - 0.3


@pytest.mark.slow
def test_documents_at_intervals(tmp_path: Path) -> None:
    before_s = time.time()
    text = run_fio(
        tmp_path, "--name=a", *FILE[:4], "--runtime=1200ms", "--rw=randread", "--bs=4k",
        "--output-format=json", "--status-interval=500ms",
    )  # fmt: skip
    assert text.count('"fio version"') > 1
    assert (
        read(text).measurements["requests"] == last_document(text)["jobs"][0]["read"]["total_ios"]
    )
    assert 1.1 < read(text).measurements["duration_s"] < time.time() - before_s
    assert read(text).problems == []


@pytest.mark.slow
def test_a_ramp_is_no_part_of_the_run(tmp_path: Path) -> None:
    before_s = time.time()
    reading = read(shoot(tmp_path, "--rw=randread", "--bs=4k", "--ramp_time=700ms"))
    assert 0.2 < reading.measurements["duration_s"] < time.time() - before_s - 0.6
    assert reading.utc_window is not None
    assert reading.utc_window.start_s > before_s + 0.6 - reading.utc_window.slack_s


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        (("--create_on_open=1", "--fallocate=none"), "job_failed"),
        (("--allow_file_create=0",), "no_io"),
    ],
    ids=["nothing to read", "no file"],
)
def test_a_job_that_fails_is_refused(tmp_path: Path, options: tuple[str, ...], kind: str) -> None:
    """fio says why, then writes a document all the same."""
    text = run_fio(
        tmp_path, "--name=a", "--filename=absent", "--size=4m", "--rw=randread",
        "--ioengine=pvsync2", "--output-format=json", *options, fails=True,
    )  # fmt: skip
    assert not text.startswith("{")
    with pytest.raises(RefusedError) as refusal:
        read(text)
    assert [problem.kind for problem in refusal.value.problems] == [kind]


@pytest.mark.slow
def test_the_polling_flag_is_listed_where_it_has_a_value(tmp_path: Path) -> None:
    assert read(shoot(tmp_path, "--rw=randread", "--hipri=1")).polling == {"hipri": True}
    assert read(shoot(tmp_path, "--rw=randread", "--hipri=0")).polling == {"hipri": False}
    assert read(shoot(tmp_path, "--rw=randread", "--hipri")).polling == {}

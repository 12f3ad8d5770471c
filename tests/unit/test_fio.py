"""fio's JSON in all its shapes, drawn by hand: see tests/fixtures/fio_documents.py for the sums."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import FormatError
from ingest.formats import find_format, fio
from ingest.records import ReadContext, Reading, RefusedError, UtcWindow
from tests.fixtures.fio_documents import (
    IDLE_READ,
    OPTIONS,
    READ,
    READ_PLUS,
    SLOW,
    SLOW_PLUS,
    SLOW_WRITE,
    WRITE,
    document,
    job,
)

STAMP_S = 1_600_000_010.25


def read(text: str, part: str | None = None) -> Reading:
    return fio.read([text.encode()], ReadContext("fio.json", 0.0, part=part))


def kinds(reading: Reading) -> list[tuple[str, str]]:
    return [(problem.kind, problem.severity) for problem in reading.problems]


GLOBAL = '"rw": "write", "bs": "4k", "ioengine": "libaio", "iodepth": "32"'
SHORT = READ.replace('"short_ios": 0', '"short_ios": 1').replace("4096000", "4095000")
# fio's default engine depends on the system and its version, so it is not assumed.
DEFAULTS = {"threads": 1, "io_depth": 1, "rw": "read", "request_bytes": 4096, "ioengine": None}
UNKNOWN = {"threads": 1, "io_depth": None, "rw": None, "request_bytes": 4096, "ioengine": None}


@pytest.mark.parametrize(
    ("entry", "shared", "knobs"),
    [
        # Global options are under the job's own.
        ({"options": '"rw": "randread"'}, GLOBAL,
         {"rw": "randread", "io_depth": 32, "request_bytes": 4096}),
        ({"options": None, "directions": WRITE}, GLOBAL, {"rw": "write", "io_depth": 32}),
        ({"options": ""}, None, DEFAULTS), ({"options": None}, None, UNKNOWN),
        *(({"options": own}, shared, {"ioengine": engine}) for shared, own, engine in (
            (None, '"ioengine": "io_uring"', "io_uring"), ('"ioengine": "libaio"', "", "libaio"),
            ('"ioengine": "libaio"', '"ioengine": "pvsync2"', "pvsync2"),
            ('"rw": "read"', "", None))),
        # Depth is what is in flight.
        *(({"options": own}, None, {"io_depth": depth}) for own, depth in (
            (OPTIONS + ', "iodepth": "16"', 1), ('"ioengine": "psync", "iodepth": "16"', 1),
            ('"iodepth": "16"', 1), ('"ioengine": "io_uring", "iodepth": "16"', 16),
            ('"ioengine": "libaio"', 1),
            ('"ioengine": "libaio", "iodepth": "16", "numjobs": "3"', 48),
            (OPTIONS + ', "numjobs": "8", "iodepth": "16"', 8))),
        *(({"options": own}, None, {"request_bytes": size}) for own, size in (
            ('"bs": "4096"', 4096), ('"blocksize": "4k"', 4096), ('"bs": "4KiB"', 4096),
            ('"bs": "4k,4k"', 4096), ('"bs": "4k,8k"', None), ('"bsrange": "4k-8k"', None),
            ('"bssplit": "4k/60:8k/40"', None))),
        # The size is what was asked for where a request came up short.
        ({"directions": SHORT}, None, {"request_bytes": 4096}),
        ({"directions": SHORT, "options": ""}, None, {"request_bytes": 4096}),
        ({"options": '"readwrite": "readwrite"'}, None, {"rw": "rw", "rwmixread": 50}),
        # Of mixed accesses the share of reads is a knob; of others the option says nothing.
        *(({"options": f'"rw": "{rw}", {own}'}, None, {"rwmixread": mix}) for rw, own, mix in (
            ("randrw", '"rwmixread": "70"', 70), ("randrw", '"rwmixwrite": "20"', 80),
            ("randread", '"rwmixread": "70"', None))),
        ({"options": '"rw": "randwrite:8"', "directions": WRITE}, None, {"rw": "randwrite"}),
    ],
)  # fmt: skip
def test_knobs_come_of_options(entry: Any, shared: str | None, knobs: dict[str, Any]) -> None:
    found = read(document(job(**entry), shared=shared)).knobs
    assert {name: found.get(name) for name in knobs} == knobs


HALF = READ.replace('"total_ios": 1000', '"total_ios": 500').replace("2000,", "1000,")
MIXED = READ_PLUS.replace('"read":', '"mixed":')
TAIL = ', "percentile": {"50.000000": 9000, "99.000000": 11000}'
TOTAL = READ.replace('"mean": 9450.0, "N": 1000', '"mean": 9450.0, "N": 1000' + TAIL)
BARE = '"write": {"total_ios": 0}'
OLD, SLOW_OLD = (re.sub(r', "N": \d+', "", each) for each in (READ, SLOW))
NO_P99 = {"latency_p99_us": None}


@pytest.mark.parametrize(
    ("text", "measured", "problems"),
    [
        # Bandwidth in KiB is not taken for bytes.
        (document(job(directions=READ.replace('"bw_bytes": 2048000, ', ""))),
         {"bandwidth_bytes_s": 2_048_000.0}, []),
        (f"note: both iodepth >= 1 {{\n{document(job())}fio: terminating on signal 2\n}}\n",
         {"iops": 500.0}, []),
        # Documents at intervals are cumulative: the first one here had seen the first half only.
        (document(job(directions=HALF)) + "\n" + document(job()), {"requests": 1000}, []),
        # Four jobs, each 5 % and 20 %: of one core, they use 20 % and 80 % together.
        (document(job(options=OPTIONS + ', "numjobs": "4"')),
         {"cpu_user_pct": 20.0, "cpu_sys_pct": 80.0, "iops": 500.0, "context_switches": 1010}, []),
        # The mean of the two p99 would be 15 us; without bins nobody knows the p99 of both.
        (document(job(), job(directions=SLOW)),
         {"latency_mean_us": 14.775, "latency_max_us": 201.1, "latency_p50_us": None, **NO_P99},
         ["no_percentiles"]),
        (document(job(directions=READ_PLUS), job(directions=SLOW)), NO_P99, ["no_percentiles"]),
        (document(job(directions=READ_PLUS + ", " + SLOW_PLUS.replace('"read":', '"write":'),
                      options='"rw": "randrw"')), {"iops": 1000.0, "latency_p50_us": 20.0}, []),
        # Unified directions count once.
        (document(job(directions=MIXED)), {"iops": 500.0}, []),
        (document(job(directions=f"{MIXED}, {READ_PLUS}")), {"iops": 500.0}, []),
        # Bins: 75 % of 1,000 are 750: 600 at 8 us are too few, 990 at 10 us are enough.
        (document(job(directions=READ_PLUS)), {"latency_p75_us": 10.0}, []),
        (document(job()), {"latency_p75_us": None}, []),
        # `lat_percentiles=1`: the mean and the tail are then of the same quantity.
        (document(job(directions=TOTAL[: TOTAL.index(', "percentile"')]
                      + TOTAL[TOTAL.index('}, "lat_ns"') :])),
         {"latency_mean_us": 9.45, "latency_p99_us": 11.0}, ["no_percentiles"]),
        # Buffered requests wait in the submission: the mean has it, `clat_ns` does not.
        (document(job(directions=READ.replace('"mean": 9450.0,', '"mean": 40000.0,'))),
         {"latency_mean_us": 40.0, "latency_p99_us": 10.0}, ["completion_percentiles"]),
        # fio before 3.18 writes no `N`: each of 1,000 requests has a latency.
        (document(job(directions=OLD)), {"latency_mean_us": 9.45, "latency_p99_us": 10.0}, []),
        # 1,000 requests of 9.45 us and 3,000 of 20.1 us.
        (document(job(directions=OLD), job(directions=SLOW_OLD.replace("1000", "3000"))),
         {"latency_mean_us": 17.4375, **NO_P99}, ["no_percentiles"]),
        (document(job(directions=re.sub(r'"(min|max|mean)": [.0-9]+', r'"\1": 0', OLD))),
         {"iops": 500.0, "latency_mean_us": None, "latency_max_us": None}, ["no_latencies"]),
        # Latencies may have been turned off.
        (document(job(directions=READ.replace('"N": 1000', '"N": 0'))),
         {"iops": 500.0, "latency_mean_us": None, "latency_max_us": None, **NO_P99},
         ["no_latencies"]),
        (document(job(extra='"total_err": 3, "first_error": 5,')), {"iops": 500.0}, ["io_errors"]),
        # A fio server's client writes `client_stats`, with all clients together as the last.
        (document(job(), job("All clients")).replace('"jobs"', '"client_stats"'),
         {"iops": 500.0}, []),
    ],
)  # fmt: skip
def test_what_was_measured(text: str, measured: dict[str, Any], problems: list[str]) -> None:
    reading = read(text)
    found = {name: reading.measurements.get(name) for name in measured}
    assert found == {n: v and pytest.approx(v, rel=1e-12) for n, v in measured.items()}
    assert kinds(reading) == [(kind, "doubted") for kind in problems]


def test_a_message_says_which_latencies_are_missing() -> None:
    """Nothing is said to be disabled of a document without such a list."""
    none = re.sub(r', "clat_ns".*"N": 1000}(?=})', "", READ)
    for directions, words in (
        (none, "no lat_ns and no clat_ns; left unset"),
        (READ.replace('"N": 1000', '"N": 0'), "lat_ns and clat_ns count no request, as where"),
    ):
        (problem,) = read(document(job(directions=directions + ", " + BARE))).problems
        assert words in problem.detail


def test_jobs_of_several_mixes_have_none() -> None:
    mixed = [job(options=f'"rw": "randrw", "rwmixread": "{mix}"') for mix in (70, 30)]
    reading = read(document(*mixed))
    assert "rwmixread" not in reading.knobs
    assert reading.facts["rwmixread"] == "70, 30"


EMPTY = READ.replace('"total_ios": 1000', '"total_ios": 0')
BRIEF = READ.replace('"runtime": 2000', '"runtime": 0').replace("500.0", "0.0")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        *((text, r"fio\.json") for text in (
            document(job())[:-20], '{"fio version": "3.33"}', document(), "", '{"jobs": 3}')),
        (document(job())[:400], r"cannot be parsed to its end: Expecting .*line \d+"),
        (document(job()).replace('"ctx"', '"cxt"'), r"KeyError: 'ctx'.*fio\.json"),
        (document(job(directions=EMPTY)), "made no IO"),
        (document(job(directions=BRIEF)), "ended within a millisecond"),
        # The sum of the others would pass for a measurement of two jobs.
        (document(job(), job(error=28)), "No space left on device"),
    ],
)  # fmt: skip
def test_what_is_no_measurement_is_refused(text: str, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        read(text)


def test_a_document_is_told_by_its_version_after_other_text() -> None:
    text = "fio: this platform does not support process shared mutexes\nnote\n" + document(job())
    found = find_format("x", text.encode())
    assert found is not None
    assert (found.name, found.workload) == ("fio", "fio")
    assert find_format("x", b'{"jobs": []}') is None
    assert find_format("x", b'about "fio version" only') is None


def test_a_document_cut_off_leaves_the_one_before_it() -> None:
    whole = document(job())
    reading = read(whole + whole[:300])
    assert reading.measurements["requests"] == 1000
    assert kinds(reading) == [("cut_document", "refused")]
    assert reading.problems[0].line == whole.count("\n") + 1


def test_jobs_of_several_engines_have_none() -> None:
    both = [job(options=f'"ioengine": "{name}"') for name in ("libaio", "psync")]
    reading = read(document(*both))
    assert "ioengine" not in reading.knobs
    assert any("differ in ioengine" in problem.detail for problem in reading.problems)


def test_a_device_is_a_hint() -> None:
    assert read(document(job(options='"filename": "/dev/nvme0n1"'))).hints == {"device": "nvme0n1"}
    assert read(document(job(options='"filename": "/tmp/file"'))).hints == {}


def test_a_failed_job_is_a_problem_and_never_a_point() -> None:
    text = document(job(directions=IDLE_READ, error=5))
    with pytest.raises(RefusedError) as refusal:
        read(text)
    (problem,) = refusal.value.problems
    assert (problem.kind, problem.severity) == ("job_failed", "refused")
    assert "'a'" in problem.detail
    assert "Input/output error" in problem.detail
    assert text.splitlines()[(problem.line or 0) - 1].strip() == '"jobname" : "a",'


def test_jobs_that_ran_one_after_the_other_are_runs_of_their_own() -> None:
    text = document(
        job("r4k"), job("w8k", SLOW_WRITE, group=1, options='"rw": "write", "numjobs": "2"')
    )
    assert fio.list_parts([text.encode()], ReadContext("f", 0.0)) == ["r4k", "w8k"]
    assert read(text, "r4k").measurements["latency_mean_us"] == 9.45
    second = read(text, "w8k")
    assert second.measurements["latency_mean_us"] == 20.1
    assert (second.knobs["rw"], second.knobs["threads"]) == ("write", 2)


def test_groups_of_one_name_are_told_by_their_numbers() -> None:
    text = document(job("a", group=0), job("a", SLOW, group=1), job("b", group=2))
    parts = fio.list_parts([text.encode()], ReadContext("f", 0.0))
    assert parts == ["a#0", "a#1", "b"]
    assert read(text, "a#1").measurements["latency_mean_us"] == 20.1
    with pytest.raises(FormatError, match="no group of jobs named 'c'"):
        read(text, "c")


def test_a_failed_group_leaves_the_others_and_is_reported_with_each() -> None:
    text = document(job("a", error=5), job("b", group=1))
    good = read(text, "b")
    assert good.measurements["iops"] == 500.0
    assert kinds(good) == [("job_failed", "refused")]
    with pytest.raises(RefusedError):
        read(text, "a")


def test_jobs_that_ran_together_and_differ_are_one_run_without_that_knob() -> None:
    text = document(job("a"), job("b", WRITE, options='"rw": "write", "bs": "4k"'))
    reading = read(text)
    assert reading.knobs == {"threads": 2, "io_depth": 2, "request_bytes": 4096}
    assert ("mixed_jobs", "doubted") in kinds(reading)


def test_what_a_job_read_back_to_verify_it_is_no_part_of_it() -> None:
    """It wrote for 2 s and then read for 2 s: 500 a second, not 1,000."""
    text = document(
        job(
            directions=f"{READ_PLUS}, {SLOW_WRITE}", options='"rw": "randwrite", "verify": "crc32c"'
        )
    )
    reading = read(text)
    assert reading.measurements["iops"] == 500.0
    assert reading.measurements["latency_mean_us"] == 20.1
    assert reading.knobs["rw"] == "randwrite"
    assert kinds(reading) == [("verified", "doubted")]
    assert text.splitlines()[(reading.problems[0].line or 0) - 1].strip() == '"jobname" : "a",'


def test_kinds_of_jobs_reported_as_one_have_no_knobs() -> None:
    """fio lists the options of the last kind only; its counts and its run times betray that."""
    both = f"{READ_PLUS}, {SLOW_WRITE}"
    ways = read(document(job(directions=both, options='"rw": "randwrite", "numjobs": "3"')))
    assert (ways.knobs, ways.measurements["iops"]) == ({}, 1000.0)
    assert kinds(ways) == [("no_percentiles", "doubted"), ("mixed_jobs", "doubted")]
    assert "randwrite, its counts read and write" in ways.problems[1].detail
    # Two jobs of 2 s ran 4 s in all, five ran 10 s.
    options = OPTIONS + ', "numjobs": "2"'
    two = read(document(job(options=options, extra='"job_runtime": 4000,')))
    assert (two.knobs["threads"], two.problems) == (2, [])
    five = read(document(job(options=options, extra='"job_runtime": 10000,')))
    assert (five.knobs, kinds(five)) == ({}, [("mixed_jobs", "doubted")])
    assert "its options say 2, which ran 2 s, but 10 s in all" in five.problems[0].detail


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_document_under_a_byte_order_mark(encoding: str) -> None:
    """As PowerShell writes what a command prints."""
    data = document(job()).replace("\n", "\r\n").encode(encoding)
    assert fio.sniff("a.txt", data)
    reading = fio.read([data], ReadContext("a.txt", 0.0))
    assert (reading.measurements["iops"], reading.problems) == (500.0, [])


def test_messages_without_a_document_are_refused_and_quoted() -> None:
    said = b"fio: engine rbdx not loadable\nfio: failed to load engine\n"
    assert fio.sniff("fio.json", said)
    assert not fio.sniff("fio.err", said)
    with pytest.raises(FormatError, match=r"but 'fio: engine rbdx not loadable' \(fio\.json\)"):
        read(said.decode())


def at_interval(requests: int, elapsed_s: int, stamp_s: int, name: str = "a") -> str:
    """A document of a job that goes on, its requests counted up."""
    directions = READ.replace('"total_ios": 1000', f'"total_ios": {requests}')
    entry = job(name, directions, extra=f'"elapsed": {elapsed_s},')
    return document(entry, stamp_ms=stamp_s * 1000)


def test_documents_of_other_runs_are_runs() -> None:
    """As when a shell appends (`>>`) one run's output to another's."""
    last = at_interval(1000, 3, 1_600_000_013)
    assert read(at_interval(500, 2, 1_600_000_012) + last).problems == []
    others = (
        at_interval(1000, 3, 1_600_000_003),
        at_interval(1001, 3, 1_600_000_012),
        at_interval(500, 2, 1_600_000_012, "b"),
    )
    for other, requests in zip(others, (1000, 1001, 500), strict=True):
        text = "started\n" + other + last
        assert fio.list_parts([text.encode()], ReadContext("a", 0.0)) == ["1", "2"]
        readings = [read(text, part) for part in ("1", "2")]
        assert [each.measurements["requests"] for each in readings] == [requests, 1000]
        assert readings[1].utc_window == read(last).utc_window
        kinds = [[problem.kind for problem in each.problems] for each in readings]
        assert kinds == [["several_outputs"], []]
    # Requests are counted anew when a ramp is over.
    ramp = at_interval(1001, 2, 1_600_000_012) + last
    assert read(ramp.replace('"rw"', '"ramp_time": "1", "rw"')).problems == []


def test_a_run_ends_when_its_document_was_written() -> None:
    """Before 3.36 fio says nothing better; its ramp is no part of the runtime."""
    assert read(document(job())).utc_window == UtcWindow(STAMP_S - 2, STAMP_S, 0.3)
    old = document(job()).replace('"timestamp_ms" : 1600000010250,', "")
    assert read(old).utc_window == UtcWindow(1_600_000_008.0, 1_600_000_010.0, 1.3)
    none = old.replace('"timestamp" : 1600000010,', "")
    assert read(none).utc_window is None


def test_a_run_begins_after_its_jobs_ramp() -> None:
    """Started at 12:26:43 UTC, 5 s of ramp: measured from 12:26:48 for 2 s."""
    options = OPTIONS + ', "ramp_time": "5s"'
    started = job(options=options, extra='"job_start" : 1600000003000,')
    reading = read(document(started))
    assert reading.utc_window == UtcWindow(1_600_000_008.0, 1_600_000_010.0, 0.01)
    assert reading.ramp_s == 5.0


def test_a_start_by_another_clock_is_not_believed() -> None:
    """`job_start_clock_id` may be that of the time since boot."""
    window = read(document(job(extra='"job_start" : 86400000,'))).utc_window
    assert window == UtcWindow(STAMP_S - 2, STAMP_S, 0.3)


def test_groups_of_old_documents_are_timed_backwards_from_the_end() -> None:
    """b ended when the document was written: 2 s, after a ramp of 1 s.

    Its delay counts from fio's own beginning: 0.5 s are over when a ends, of 2.5 s half a second is
    left.
    """
    for delay, waited_s in (("500ms", 0.0), ("2500ms", 0.5)):
        later = OPTIONS + f', "ramp_time": "1", "startdelay": "{delay}"'
        text = document(job("a"), job("b", group=1, options=later))
        assert read(text, "b").utc_window == UtcWindow(STAMP_S - 2, STAMP_S, 0.3)
        end_s = STAMP_S - 3 - waited_s
        assert read(text, "a").utc_window == UtcWindow(end_s - 2, end_s, 0.6)


def test_a_verifying_pass_is_after_the_runs_time() -> None:
    """It wrote for 2 s, then read for 2 s, then the document was written."""
    options = '"rw": "write", "verify": "md5"'
    text = document(job("a", f"{READ}, {SLOW_WRITE}", options=options))
    assert read(text).utc_window == UtcWindow(STAMP_S - 4, STAMP_S - 2, 0.3)
    text = document(job("a"), job("b", f"{READ}, {SLOW_WRITE}", group=1, options=options))
    assert read(text, "a").utc_window == UtcWindow(STAMP_S - 6, STAMP_S - 4, 0.6)


@given(st.data())
def test_no_value_that_fio_would_not_write_gets_through(data: st.DataObject) -> None:
    """Any one value of a document is replaced by another: it is read or refused, nothing else."""
    content = json.loads(document(job(directions=READ_PLUS, extra='"job_start": 1600000003000,')))
    places = list(_places(content))
    *way, last = data.draw(st.sampled_from(places))
    holder = content
    for key in way:
        holder = holder[key]
    holder[last] = data.draw(
        st.none() | st.booleans() | st.text(max_size=3) | st.floats() | st.just({}) | st.just([])
        | st.integers(-(10**30), 10**30)
    )  # fmt: skip
    text = json.dumps(content).encode()
    with suppress(FormatError):
        for part in fio.list_parts([text], ReadContext("f", 0.0)):
            fio.read([text], ReadContext("f", 0.0, part=part))


def _places(value: Any) -> Iterator[tuple[Any, ...]]:
    """Ways to all values inside of a document."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield (key,)
            yield from ((key, *rest) for rest in _places(value[key]))


@pytest.mark.parametrize(
    "text",
    [
        # What a script says, a version without jobs, and fio 2, whose lines are others.
        "running fio with rw=read, bs=4k, iodepth=16\nfio-3.36\n",
        "fio-3.36\nStarting 1 process\n",
        "a: (g=0): rw=read, bs=4K-4K/4K-4K/4K-4K, ioengine=sync, iodepth=1\nfio-2.2.10\n",
    ],
)
def test_other_texts_that_name_fio_are_none_of_its_output(text: str) -> None:
    form = find_format("a.txt", text.encode())
    assert form is None or form.name != "fio_text"

"""wrk outputs: units, byte literals, errors that it reports, cut ones."""

import pytest

from data.errors import FormatError
from ingest.formats import find_format, wrk
from ingest.records import ReadContext, Reading
from tests.fixtures.real import real_data

CONTEXT = ReadContext("node_out.0_1_4_0x1d00_135", 2_899_999_000.0)
WRK = """\
Running 30s test @ http://192.168.1.9:6666/index.html
  1 threads and 1 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   850.50us   31.63us   2.88ms   99.81%
    Req/Sec    13.09k   124.10    13.24k    88.70%
  Latency Distribution
     50%  740.00us
     75%    0.86ms
     90%    1.20s
     99%    1.50m
  392161 requests in 30.10s, 58.34MB read
Requests/sec:  13028.98
Transfer/sec:      1.94MB
"""
# 0.86 ms = 860 us; 1.2 s = 1,200,000 us; 1.5 m = 90 s = 90,000,000 us.
EXPECTED = {
    "latency_mean_us": 850.5,
    "latency_p50_us": 740.0,
    "latency_p75_us": 860.0,
    "latency_p90_us": 1_200_000.0,
    "latency_p99_us": 90_000_000.0,
    "requests": 392161,
    "duration_s": 30.1,
    "throughput_qps": 13028.98,
}


def _read(text: str, block: int = 1 << 20) -> Reading:
    data = text.encode()
    return wrk.read((data[i : i + block] for i in range(0, len(data), block)), CONTEXT)


@pytest.mark.parametrize("block", [1, 11, 1 << 20])
@pytest.mark.parametrize("text", [WRK, f"b'{WRK.rstrip()}'", repr(WRK.encode())])
def test_every_unit_and_way_of_saving(text: str, block: int) -> None:
    reading = _read(text, block)
    assert reading.measurements == pytest.approx(EXPECTED)
    assert (reading.flags, reading.problems) == ([], [])
    found = find_format("x", text.encode())
    assert found is not None
    assert (found.name, found.role) == ("wrk", "output")


def test_wrks_two_digit_minutes_of_run_time() -> None:
    assert _read(WRK.replace("in 30.10s", "in 2.00m")).measurements["duration_s"] == 120.0


def test_errors_that_wrk_reports_flag_the_run() -> None:
    errors = (
        "  Socket errors: connect 0, read 3, write 0, timeout 5\n  Non-2xx or 3xx responses: 12\n"
    )
    reading = _read(WRK.replace("Requests/sec", errors + "Requests/sec"))
    assert reading.flags == ["socket_errors", "non_2xx"]
    assert [(p.kind, p.severity, p.line) for p in reading.problems] == [
        ("socket_errors", "doubted", 12),
        ("non_2xx", "doubted", 13),
    ]
    assert "timeout 5" in reading.problems[0].detail
    assert reading.measurements == pytest.approx(EXPECTED)


def test_a_run_without_latency_option_has_no_percentiles() -> None:
    start, end = WRK.index("  Latency Distribution"), WRK.index("  392161")
    reading = _read(WRK[:start] + WRK[end:])
    assert reading.measurements["latency_mean_us"] == 850.5
    assert "latency_p99_us" not in reading.measurements
    assert [p.kind for p in reading.problems] == ["no_percentiles"]


def test_a_cut_output_keeps_what_is_whole_and_says_what_lacks() -> None:
    reading = _read(WRK[: WRK.index("requests in")])
    assert reading.measurements["latency_p99_us"] == 90_000_000.0
    assert [p.kind for p in reading.problems] == ["no_requests", "no_throughput"]


def test_nothing_usable_is_an_error_that_names_the_file() -> None:
    with pytest.raises(FormatError, match=r"\(node_out\.0_1_4"):
        _read("Running 30s test @ http://192.168.1.9:6666/index.html\nunable to connect\n")


@pytest.mark.real
def test_published_outputs_all_read() -> None:
    folder = real_data() / "node"
    linux = wrk.read([(folder / "node_out.0_1_4_0x1d00_135").read_bytes()], CONTEXT)
    assert linux.measurements == {
        "latency_mean_us": 76.11,
        "latency_p50_us": 74.0,
        "latency_p75_us": 76.0,
        "latency_p90_us": 79.0,
        "latency_p99_us": 86.0,
        "requests": 392161,
        "duration_s": 30.1,
        "throughput_qps": 13028.98,
    }
    library_os = wrk.read([(folder / "ebbrt_out.0_1_4_0x1900_55").read_bytes()], CONTEXT)
    assert library_os.measurements["latency_p99_us"] == 71.0
    assert library_os.measurements["requests"] == 497541
    assert linux.problems == library_os.problems == []


def test_a_count_of_thousands_of_digits_is_refused() -> None:
    text = f"Running 30s test @ http://a\n  {'9' * 5000} requests in 30.00s, 1.00MB read\n"
    with pytest.raises(FormatError, match="cannot parse a number"):
        _read(text)

"""mutilate outputs: forks with other columns, byte literals, cut and absurd ones."""

import pytest

from data.errors import FormatError
from ingest.formats import find_format, mutilate
from ingest.records import ReadContext, Reading
from tests.fixtures.real import real_data

CONTEXT = ReadContext("linux.mcd.out.0_10_0x1d00_135_200000", 2_899_999_000.0)
FORK = """\
#type       avg     std     min     5th    10th    50th    90th    95th    99th
read      100.3    31.5    37.4    51.3    57.3   100.6   141.1   151.5   171.5
update    103.3    31.8    41.1    54.0    60.1   103.2   145.6   154.4   177.7
op_q        1.0     0.0     1.0     1.0     1.0     1.1     1.1     1.1     1.1

Total QPS = 199986.2 (3999725 / 20.0s)

Misses = 0 (0.0%)

RX  692996037 bytes :   33.0 MB/s
TX -29017461961881 bytes : 20457145.5 MB/s
"""
UPSTREAM = """\
#type       avg     std     min     5th    10th    90th    95th    99th
read       76.2    29.0    49.8    62.5    65.1    89.2    97.4   117.9
op_q 0

Total QPS = 100.5 (3015 / 30.0s)
"""
EXPECTED = {
    "latency_mean_us": 100.3,
    "latency_min_us": 37.4,
    "latency_p5_us": 51.3,
    "latency_p10_us": 57.3,
    "latency_p50_us": 100.6,
    "latency_p90_us": 141.1,
    "latency_p95_us": 151.5,
    "latency_p99_us": 171.5,
    "throughput_qps": 199986.2,
    "requests": 3999725,
    "duration_s": 20.0,
}


def _read(text: str, block: int = 1 << 20) -> Reading:
    data = text.encode()
    return mutilate.read((data[i : i + block] for i in range(0, len(data), block)), CONTEXT)


@pytest.mark.parametrize("block", [1, 7, 1 << 20])
@pytest.mark.parametrize(
    "text",
    [FORK, f"b'{FORK.rstrip()}'", f"b'{FORK}'\n", "b'" + FORK.replace("\n", "\\n") + "'"],
    ids=["plain", "literal", "literal with newline", "literal with escapes"],
)
def test_every_way_of_saving_reads_the_same(text: str, block: int) -> None:
    reading = _read(text, block)
    assert reading.measurements == EXPECTED
    assert reading.problems == [], "absurd byte counts are not used, so not doubted"
    found = find_format("x", text.encode())
    assert found is not None
    assert (found.name, found.role) == ("mutilate", "output")


def test_columns_go_by_name_so_upstream_without_median_is_not_shifted() -> None:
    measurements = _read(UPSTREAM).measurements
    assert "latency_p50_us" not in measurements
    assert measurements["latency_p90_us"] == 89.2
    assert measurements["latency_p99_us"] == 117.9
    assert measurements["requests"] == 3015


def test_a_cut_output_keeps_what_is_whole_and_says_what_lacks() -> None:
    reading = _read(FORK[: FORK.index("Total") + 12])
    assert reading.measurements["latency_p99_us"] == 171.5
    assert "throughput_qps" not in reading.measurements
    assert [p.kind for p in reading.problems] == ["no_throughput"]


def test_a_cut_read_line_gives_no_latency() -> None:
    reading = _read(FORK.replace("   151.5   171.5", ""))
    assert not [name for name in reading.measurements if name.startswith("latency")]
    (problem,) = reading.problems
    assert (problem.kind, problem.line, problem.severity) == ("field_count", 2, "refused")
    assert "7 values in the `read` line, expected 9" in problem.detail


def test_text_in_a_number_is_refused_with_its_value() -> None:
    (problem,) = _read(FORK.replace("141.1", "14l.1")).problems
    assert (problem.kind, problem.line) == ("not_a_number", 2)
    assert "14l.1" in problem.detail


def test_no_load_leaves_latencies_unset() -> None:
    zeros = "\n".join(["#type avg min 99th", "read 0.0 0.0 0.0", "Total QPS = 0.0 (0 / 20.0s)"])
    reading = _read(zeros)
    assert reading.measurements == {"duration_s": 20.0}
    assert reading.flags == ["no_load"]


def test_nothing_usable_is_an_error_that_names_the_file() -> None:
    with pytest.raises(FormatError, match=r"\(linux\.mcd\.out\.0_10"):
        _read("#type avg\nconnect failed\n")


@pytest.mark.real
def test_published_outputs_all_read() -> None:
    paths = sorted([*real_data().glob("mcd/*.out.*"), *real_data().glob("perfstat/*.out")])
    assert len(paths) == 27
    readings = {path.name: mutilate.read([path.read_bytes()], CONTEXT) for path in paths}
    assert all(set(r.measurements) == set(EXPECTED) for r in readings.values())
    assert not [r for r in readings.values() if r.problems or r.flags]
    assert readings["linux.mcd.out.0_100_0x1d00_135_200000"].measurements == EXPECTED
    assert readings["linux_mcd_qps800000_iter0.out"].measurements["latency_p99_us"] == 221.4

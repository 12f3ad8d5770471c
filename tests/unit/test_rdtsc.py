"""Window records: the rule of each width, and what is no window."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import FormatError
from ingest.formats import find_format, rdtsc
from ingest.records import ReadContext, Reading, Window
from tests.fixtures.real import real_data

HZ = 1_000_000_000.0
CONTEXT = ReadContext("linux.mcd.rdtsc.0_10_0x1d00_135_200000", HZ)


def _read(text: str, block: int = 1 << 20) -> Reading:
    data = text.encode()
    return rdtsc.read((data[i : i + block] for i in range(0, len(data), block)), CONTEXT)


def _seconds(*rows: tuple[float, ...]) -> str:
    """Three-column lines `id start end`, their times in seconds at 1 GHz."""
    return "".join(f"7 {round(start * HZ)} {round(end * HZ)}\n" for start, end in rows)


@pytest.mark.parametrize("block", [1, 3, 1 << 20])
def test_connections_last_start_to_last_end(block: int) -> None:
    reading = _read("0 31 100 900\n1 32 150 950\n2 33 120 930\n", block)
    assert reading.window == Window(150, 950)
    assert reading.problems == []


@given(st.lists(st.tuples(st.integers(1, 999), st.integers(1000, 2000)), min_size=1))
def test_connections_window_is_where_all_are_open(pairs: list[tuple[int, int]]) -> None:
    text = "".join(f"{n} {n} {start} {end}\n" for n, (start, end) in enumerate(pairs))
    assert _read(text).window == Window(max(s for s, _ in pairs), max(e for _, e in pairs))


def test_connections_without_an_end_do_not_count_but_are_told() -> None:
    reading = _read("0 31 100 0\n1 32 150 950\n2 33 120 0\n")
    assert reading.window == Window(150, 950)
    (problem,) = reading.problems
    assert problem.kind == "missing_end"
    assert "2 of 3 connections" in problem.detail


def test_connections_that_all_lack_an_end_have_no_window() -> None:
    reading = _read("0 31 100 0\n1 32 150 0\n")
    assert reading.window is None
    (problem,) = reading.problems
    assert (problem.kind, problem.detail) == ("no_window", "the end is 0 in all 2 lines")


def test_threads_first_line_that_is_as_long_as_a_run() -> None:
    """Lengths 3, 40, 3.1 and 39.9 s: over 3 and under 40, so the third."""
    text = _seconds((10, 13), (10, 50), (20, 23.1), (30, 69.9))
    assert _read(text).window == Window(20_000_000_000, 23_100_000_000)


@pytest.mark.parametrize("line", ["7 -1 5000000000", "7 5000000000 0", "7 -1 0"])
def test_threads_start_of_minus_1_or_end_of_0_is_no_window(line: str) -> None:
    reading = _read(line + "\n")
    assert reading.window is None
    assert [p.kind for p in reading.problems] == ["no_window"]
    assert _read(line + "\n" + _seconds((20, 30))).window is not None


def test_two_columns_are_the_window() -> None:
    assert _read("678327827248 765615524722").window == Window(678327827248, 765615524722)


@pytest.mark.parametrize("text", ["900 100\n", "100 100\n", "-1 100\n", "100 0\n", "0 1 900 100\n"])
def test_an_end_that_is_not_after_its_start_is_no_window(text: str) -> None:
    reading = _read(text)
    assert reading.window is None
    assert [p.kind for p in reading.problems] == ["no_window"]


@pytest.mark.parametrize("end", [10**9 * 366 * 86_400, 2**63])
def test_a_window_of_over_a_year_is_refused_with_its_line(end: int) -> None:
    reading = _read(f"0 31 5 1000\n1 32 4 {end}\n")
    assert reading.window is None
    (problem,) = reading.problems
    assert (problem.kind, problem.severity, problem.line) == ("window_range", "refused", 2)
    assert str(end) in problem.detail


def test_bad_lines_are_named_and_the_rest_counts() -> None:
    reading = _read("0 31 100 900\nx y z w\n1 32 150\n\r\n2 33 120 950\r\n3 34 1")
    assert reading.window == Window(120, 950)
    assert [(p.kind, p.line, p.severity) for p in reading.problems] == [
        ("not_digits", 2, "refused"),
        ("field_count", 3, "refused"),
        ("field_count", 6, "refused"),
    ]


@pytest.mark.parametrize("text", ["", "\n", "hello\n", "1 2 3 4 5\n"])
def test_nothing_usable_is_an_error_that_names_the_file(text: str) -> None:
    with pytest.raises(FormatError, match=r"\(linux\.mcd\.rdtsc\.0_10"):
        _read(text)


def test_large_numbers_tell_a_record_and_small_ones_need_its_name() -> None:
    large, small = b"678327827248 765615524722", b"100 900\n"
    assert getattr(find_format("x", large), "name", None) == "rdtsc"
    assert find_format("x", small) is None
    assert getattr(find_format("ebbrt_rdtsc.0_4_0x1900_55", small), "role", None) == "window"


@pytest.mark.real
def test_published_records_all_read() -> None:
    """The silo runs lack all ends but for one connection of one run: that one lasts 20.0009 s."""
    folder = real_data()
    context = ReadContext("linux.mcd.rdtsc", 2_899_999_000.0)
    readings = {
        path.name: rdtsc.read([path.read_bytes()], context)
        for path in sorted(folder.glob("*/*rdtsc*"))
    }
    assert len(readings) == 23
    without = {name for name, reading in readings.items() if reading.window is None}
    assert len(without) == 8
    assert all(name.startswith("linux.mcdsilo.") for name in without)
    lengths = {
        name: (reading.window.end_tsc - reading.window.start_tsc) / context.tsc_hz
        for name, reading in readings.items()
        if reading.window
    }
    assert round(lengths["linux.mcd.rdtsc.0_100_0x1d00_135_200000"], 4) == 20.0043
    assert round(lengths["linux.mcdsilo.rdtsc.0_300_0x1d00_135_200000"], 4) == 20.0009
    assert round(lengths["node_rdtsc.0_1_4_0x1d00_135"], 2) == 30.10
    assert round(lengths["ebbrt_rdtsc.0_4_0x1900_55"], 2) == 30.10
    assert all(20 < seconds < 31 for seconds in lengths.values())

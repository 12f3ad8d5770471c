"""Window records: the rule of each width, and what is no window."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.formats import find_format, rdtsc
from ingest.records import ReadContext, Reading, Window
from tests.fixtures.real import real_data

HZ = 1_000_000_000.0
CONTEXT = ReadContext("linux.mcd.rdtsc.0_10_0x1d00_135_200000", HZ)


def _read(text: str, block: int = 1 << 20) -> Reading:
    data = text.encode()
    return rdtsc.read((data[i : i + block] for i in range(0, len(data), block)), CONTEXT)


@given(st.lists(st.tuples(st.integers(1, 999), st.integers(1000, 2000)), min_size=1))
def test_connections_window_is_where_all_are_open(pairs: list[tuple[int, int]]) -> None:
    text = "".join(f"{n} {n} {start} {end}\n" for n, (start, end) in enumerate(pairs))
    assert _read(text).window == Window(max(s for s, _ in pairs), max(e for _, e in pairs))


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

"""Binary logs of the library OS: packed 88-byte entries."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import FormatError
from ingest.formats import find_format, intlog, intlog_binary
from ingest.records import ReadContext
from tests.fixtures.whole_files import WholeLog, read_log

CONTEXT = ReadContext("ebbrt.bin", 2_899_999_000.0)
WIDE = ("tsc", "instructions", "cycles", "ref_cycles", "llc_misses", "joules", "c3", "c6", "c7")
NIC = ("rx_desc", "rx_bytes", "tx_desc", "tx_bytes")


def _entry(
    tsc: int, counters: tuple[int, ...] = (0,) * 8, nic: tuple[int, ...] = (1, 66, 2, 140)
) -> bytes:
    return struct.pack("<9q4i", tsc, *counters, *nic)


SAMPLED = (11, 22, 33, 44, 99, 3, 6, 7)
LOG = _entry(10**12) + _entry(10**12 + 5000, SAMPLED) + _entry(10**12 + 9000, nic=(0, 0, 1, 70))


def _read(data: bytes, block: int) -> WholeLog:
    blocks = (data[at : at + block] for at in range(0, len(data), block))
    return read_log(intlog_binary.open_log, blocks, CONTEXT)


@pytest.mark.parametrize("block", [1, 87, 88, 1 << 20])
def test_entries_become_interrupts_and_samples(block: int) -> None:
    log = _read(LOG, block)
    assert log.interrupts["tsc"].tolist() == [10**12, 10**12 + 5000, 10**12 + 9000]
    assert log.interrupts["tx_bytes"].tolist() == [140, 140, 70]
    assert {name: int(values[0]) for name, values in log.samples.items()} == {
        "tsc": 10**12 + 5000,
        **dict(zip(WIDE[1:], SAMPLED, strict=True)),
    }
    assert all(v.dtype == np.int64 for v in (*log.interrupts.values(), *log.samples.values()))
    assert not log.facts.sleep_states_cumulative
    assert (log.facts.entries, log.facts.problems) == (3, [])


@pytest.mark.parametrize("block", [1, 88, 1 << 20])
def test_a_cut_last_entry_is_dropped_and_named(block: int) -> None:
    log = _read(LOG[:-1], block)
    assert len(log.interrupts["tsc"]) == 2
    (problem,) = log.facts.problems
    assert (problem.kind, problem.line) == ("cut_last_entry", 3)
    assert "87 bytes" in problem.detail


def test_bad_entries_are_counted_by_kind() -> None:
    bad = LOG + _entry(5) + _entry(10**12 + 10_000, nic=(-1, 0, 0, 0)) + bytes(176)
    log = _read(bad, 1 << 20)
    assert len(log.interrupts["tsc"]) == 3
    assert {(p.kind, p.line, p.count) for p in log.facts.problems} == {
        ("time_backwards", 4, 1),
        ("number_range", 5, 1),
        ("empty_entry", 6, 2),
    }


def test_an_entry_whose_counters_leap_is_refused() -> None:
    """Of the third entry instructions rise by 2^49; of the fourth c7, a value per sample, is it."""
    counts = [(7, *[1] * 7), (7 + 2**49, *[1] * 7), (9, *[1] * 6, 2**49), (10, *[1] * 7)]
    log = _read(b"".join(_entry(10**12 + n, c) for n, c in enumerate(counts)), 100)
    assert log.samples["instructions"].tolist() == [7, 10]
    (problem,) = log.facts.problems
    assert (problem.kind, problem.line, problem.count) == ("counter_leap", 2, 2)
    assert f"instructions rises by {2**49} to {2**49 + 7}" in problem.detail


def test_time_backwards_is_told_across_the_reader_s_own_pieces() -> None:
    """16,384 entries are one piece: the 16,385th runs back behind the last of the first piece."""
    many = (
        b"".join(_entry(10**12 + i) for i in range(16384))
        + _entry(10**12)
        + _entry(10**12 + 99_999)
    )
    log = _read(many, 1 << 16)
    assert len(log.interrupts["tsc"]) == 16385
    assert [(p.kind, p.line) for p in log.facts.problems] == [("time_backwards", 16385)]


@pytest.mark.parametrize("block", [100, 1 << 13, 1 << 20])
@pytest.mark.parametrize("damaged", [[0], [0, 1], [200], [500, 501], [997, 998]])
@pytest.mark.parametrize("far", [10**15, 2**63 - 1])
def test_damaged_time_stamps_cost_their_own_entries(
    damaged: list[int], far: int, block: int
) -> None:
    """Of 1,000 entries, every other one a sample."""
    stamps = [far if n in damaged else 10**12 + 5000 * n for n in range(1000)]
    entries = [_entry(t, (n % 2, *[n] * 7)) for n, t in enumerate(stamps)]
    for n in range(0, 1000, 2):
        entries[n] = _entry(stamps[n])
    log = _read(b"".join(entries), block)
    good = [n for n in range(1000) if n not in damaged]
    assert log.interrupts["tsc"].tolist() == [stamps[n] for n in good]
    assert log.samples["cycles"].tolist() == [n for n in good if n % 2]
    (problem,) = log.facts.problems
    found = (problem.kind, problem.line, problem.count, problem.severity)
    assert found == ("time_leap", damaged[0] + 1, len(damaged), "refused")


@given(st.lists(st.sampled_from([5, 100, 200, 300, 10**13, 2**62]), min_size=1, max_size=200))
def test_entries_are_in_the_same_order_as_lines_of_a_text_log(stamps: list[int]) -> None:
    text = "".join(f"0 1 66 2 140 0 0 0 0 0 0 0 0 {tsc}\n" for tsc in stamps).encode()
    lines = read_log(intlog.open_log, [text], CONTEXT)
    log = _read(b"".join(map(_entry, stamps)), 1000)
    assert log.interrupts["tsc"].tolist() == lines.interrupts["tsc"].tolist()
    assert [(p.kind, p.line, p.count) for p in log.facts.problems] == [
        (p.kind, p.line, p.count) for p in lines.facts.problems
    ]


@given(
    st.lists(
        st.tuples(
            st.integers(0, 2**63 - 1),
            *[st.integers(0, 2**48)] * 8,
            *[st.integers(0, 2**31 - 1)] * 4,
        ),
        min_size=1,
    )
)
def test_round_trip(rows: list[tuple[int, ...]]) -> None:
    rows = sorted([(row[0] or 1, *row[1:]) for row in rows], key=lambda row: row[0])
    log = _read(b"".join(struct.pack("<9q4i", *row) for row in rows), 100)
    assert log.interrupts["tsc"].tolist() == [row[0] for row in rows]
    assert log.interrupts["rx_bytes"].tolist() == [row[10] for row in rows]
    sampled = [row for row in rows if any(row[1:5])]
    for name, values in log.samples.items():
        assert values.tolist() == [row[WIDE.index(name)] for row in sampled]


def test_nothing_good_is_an_error() -> None:
    with pytest.raises(FormatError, match=r"no good entry among 1 \(ebbrt.bin\)"):
        _read(bytes(88), 88)


def test_content_tells_a_binary_log() -> None:
    found = find_format("anything", LOG * 1)
    assert found is not None
    assert found.name == "intlog_binary"
    assert find_format("anything", bytes(range(256)) * 4) is None
    assert find_format("ebbrt.bin", bytes(880)) is None

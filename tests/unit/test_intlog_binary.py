"""Binary logs of the library OS: packed 88-byte entries. Single ones are in `fixtures/formats/`."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def _read(data: bytes, block: int) -> WholeLog:
    blocks = (data[at : at + block] for at in range(0, len(data), block))
    return read_log(intlog_binary.open_log, blocks, CONTEXT)


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


def test_other_bytes_are_no_binary_log() -> None:
    assert find_format("anything", bytes(range(256)) * 4) is None
    assert find_format("ebbrt.bin", bytes(880)) is None
    assert find_format("paper.pdf", b"%PDF-1.4\n" + bytes(100)) is None

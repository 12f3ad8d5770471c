"""The compiled parser against a slow, obvious one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.files.compiled import compile_loop
from ingest.formats.counter_lines import CounterLines
from ingest.formats.plain_lines import read_unsampled_line
from tests.fixtures.slow_intlog import SlowLog, read_slowly

_NUMBERS = st.sampled_from([0, 1, 66, 1514, 2**31 - 1, 2**31, 10**12, 2**48, 2**48 + 1])
_BAD_FIELDS = st.sampled_from(
    [b"x", b"-1", b"1.5", b"9223372036854775808", b"12345678901234567890", b"\x00", b"5a", b"[3"]
)
_ODD_LINES = st.sampled_from(
    [
        b"",
        b"   ",
        b"\r",
        b"i rx_desc rx_bytes",
        b"[ 12.5] Core=3 itr_cnt=7",
        b"[ 12.5]",
        b"[ 12.5",
        b"i",
        b"i\r",
        b"Corex",
        b"\xff\xfe",
        b"9 " * 40,
    ]
)


@st.composite
def _logs(draw: st.DrawFn, columns: int) -> bytes:
    tsc = draw(st.integers(0, 10**13))
    lines = []
    for index in range(draw(st.integers(0, 12))):
        if draw(st.integers(0, 4)) == 0:
            lines.append(draw(_ODD_LINES))
            continue
        step = draw(st.sampled_from([0, 1, 5000, 5000, 5000, -7, -(10**13), 2**39]))
        tsc = max(0, tsc + step)
        counters = draw(
            st.sampled_from([[0], [7, 0], [0, 0, 0, 0, 9], [5, 6, 7, 8, 9], [2**49, 2**63 - 1]])
        )
        middle = [draw(_NUMBERS) for _ in range(4)] + counters + [0] * columns
        fields = [str(v).encode() for v in (*(index, *middle)[: columns - 1], tsc)]
        if draw(st.integers(0, 5)) == 0:
            fields[draw(st.integers(0, columns - 1))] = draw(_BAD_FIELDS)
        if draw(st.integers(0, 5)) == 0:
            fields = draw(st.sampled_from([fields[:-1], [*fields, b"0"], fields[:3]]))
        prefix = draw(st.sampled_from([b"", b"", b"[ 2283.800345] ", b" \t"]))
        between = draw(st.sampled_from([b" ", b" ", b"\t", b"  "]))
        end = draw(st.sampled_from([b"", b"", b"\r", b" "]))
        lines.append(prefix + between.join(fields) + end)
    return b"\n".join(lines) + draw(st.sampled_from([b"", b"\n"]))


@pytest.mark.parametrize("columns", [14, 16, 17])
@given(data=st.data())
def test_kernel_reads_as_the_slow_reader_at_any_block_size(
    columns: int, data: st.DataObject
) -> None:
    log = data.draw(_logs(columns))
    size = data.draw(st.sampled_from([1, 2, 3, 7, 64, 1 << 20, 1 << 22]))
    lines = CounterLines(columns)
    for at in range(0, len(log), size):
        lines.feed(log[at : at + size])
    lines.finish()
    slow = read_slowly(log, columns)
    interrupts, samples = lines.take()
    assert interrupts.T.tolist() == slow.interrupts
    assert samples.T.tolist() == slow.samples
    assert lines.entries == slow.entries
    found = {problem.kind: (problem.count, problem.line) for problem in lines.problems()}
    assert found == slow.refused


@pytest.fixture(scope="module")
def long_log() -> tuple[bytes, SlowLog]:
    """9 MB, over two of the largest blocks: every 7th line sampled, every 997th damaged."""
    lines = []
    for n in range(160_000):
        counters = f"{n} {n} {n} {n}" if n % 7 == 0 else "0 0 0 0"
        line = f"{n} 1 {66 + n % 1449} 2 {n % 13} {counters} 0 0 0 0 0 {n} {10**12 + 5 * n}"
        lines.append(line.replace(" 2 ", " x ", 1) if n % 997 == 0 else line)
    log = "".join(f"{line}\n" for line in lines).encode()
    return log, read_slowly(log, 16)


@pytest.mark.slow
@pytest.mark.parametrize("block", [4093, 1 << 16, 1 << 20, 1 << 22])
def test_a_log_of_many_blocks_is_read_as_slowly(
    long_log: tuple[bytes, SlowLog], block: int
) -> None:
    log, slow = long_log
    assert len(log) > 2 << 22
    lines = CounterLines(16)
    for at in range(0, len(log), block):
        lines.feed(log[at : at + block])
    lines.finish()
    interrupts, samples = lines.take()
    assert interrupts.T.tolist() == slow.interrupts
    assert samples.T.tolist() == slow.samples
    found = {problem.kind: (problem.count, problem.line) for problem in lines.problems()}
    assert found == slow.refused
    assert len(found) == 1


def test_kernel_grows_its_columns_over_many_blocks() -> None:
    """100,000 lines, ten times the first room; time stamps 0, 10, 20, ..., every fourth sampled."""
    text = "".join(
        f"{i} 1 66 0 0 {i % 4 == 0:d} 0 0 0 0 0 0 {i} {10 * i}\n" for i in range(100_000)
    ).encode()
    lines = CounterLines(14)
    for at in range(0, len(text), 65536):
        lines.feed(text[at : at + 65536])
    lines.finish()
    interrupts, samples = lines.take()
    assert np.array_equal(interrupts[0], 10 * np.arange(100_000))
    assert np.array_equal(samples[8], 4 * np.arange(25_000))
    assert lines.problems() == []


def test_an_endless_line_costs_one_line_and_no_memory() -> None:
    good = b"0 1 66 0 0 0 0 0 0 0 0 0 0 100\n"
    lines = CounterLines(14)
    lines.feed(good)
    for _ in range(50):
        lines.feed(b"x" * (1 << 20))
    lines.feed(b"\n" + good)
    assert len(lines.room(1)) == 1
    lines.finish()
    interrupts, _ = lines.take()
    assert interrupts[0].tolist() == [100, 100]
    assert [(problem.kind, problem.line) for problem in lines.problems()] == [("field_count", 2)]


def test_a_damaged_leap_forward_condemns_only_its_own_line() -> None:
    """Line 3's time stamp has a digit too many: 3 is dropped, not 4 and all after it."""
    stamps = [7155553084718, 7155553090000, 71555530950003, 7155553100000, 7155553110000]
    lines = CounterLines(14)
    lines.feed(b"".join(b"0 1 66 0 0 5 5 5 5 0 0 0 9 %d\n" % tsc for tsc in stamps))
    lines.finish()
    kept = [stamps[0], stamps[1], stamps[3], stamps[4]]
    interrupts, samples = lines.take()
    assert interrupts[0].tolist() == kept
    assert samples[0].tolist() == kept
    (problem,) = lines.problems()
    assert (problem.kind, problem.line, problem.count) == ("time_leap", 3, 1)
    assert "71555530950003" in problem.detail


@compile_loop("uint8[::1]", "int64", "int64", "int64[:, ::1]", results=1)
def _read_at_once(data: np.ndarray, end: int, columns: int, interrupts: np.ndarray) -> int:
    """How many lines of a log `read_unsampled_line` reads, into one column."""
    at, count = 0, 0
    while at < end:
        after = read_unsampled_line(data, at, columns, interrupts, 0)
        count += after > 0
        while data[at] != 10:
            at += 1
        at += 1
    return count


def _parsed(log: bytes, columns: int) -> np.ndarray:
    """The samples of a log that is read as one block, which are those of the slow reader."""
    lines = CounterLines(columns)
    lines.feed(log)
    lines.finish()
    slow = read_slowly(log, columns)
    interrupts, samples = lines.take()
    assert interrupts.T.tolist() == slow.interrupts
    assert samples.T.tolist() == slow.samples
    found = {problem.kind: (problem.count, problem.line) for problem in lines.problems()}
    assert found == slow.refused
    return samples


@pytest.mark.parametrize("columns", [14, 16, 17])
@pytest.mark.parametrize("prefix", [b"", b"[ 2283.800345] "])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_lines_without_counters_are_read_at_once_whatever_their_numbers(
    columns: int, prefix: bytes, end: bytes
) -> None:
    """1 to 8 digits in each NIC field, 9 to 16 in the time stamp: all that fit into 64 bytes."""
    zeros = b"0 " * (columns - 6)
    stamps = sorted(987654321987654321 // 10**power for power in range(2, 10))
    nic = [12345678 // 10**power for power in range(8)]
    rows = [
        (i, nic[i], nic[j], nic[-1 - i], 7, t) for t in stamps for i in range(8) for j in (0, 7)
    ]
    lines = [b"%d %d %d %d %d " % row[:5] + zeros + b"%d" % row[5] + end for row in rows]
    _parsed(b"".join(prefix + line for line in lines), columns)
    plain = b"".join(lines)
    at_once = _read_at_once(
        np.frombuffer(plain + bytes(64), np.uint8), len(plain), columns, np.empty((6, 1), np.int64)
    )
    assert at_once == sum(len(line) <= 64 for line in lines) > len(rows) / 2


@pytest.mark.parametrize("damage", [b"x", b" ", b"\n", b"\r", b"7", b"/", b":", b"", None])
def test_a_line_damaged_at_any_byte_is_read_as_slowly(damage: bytes | None) -> None:
    """Each byte of a plain line in turn is another one, dropped, or there twice."""
    plain = b"123 1 66 2 1514 0 0 0 0 0 0 0 0 0 0 5143772016725\n"
    sampled = b"124 1 66 0 0 1234567890 22 33 44 5 6 7 8 9 123456789012345 5143772016726\n"
    for line in (plain, sampled):
        for at in range(len(line)):
            instead = line[at : at + 1] * 2 if damage is None else damage
            _parsed(plain + line[:at] + instead + line[at + 1 :] + sampled, 16)


@pytest.mark.parametrize("digits", range(1, 20))
def test_counters_of_any_length_are_read_to_the_digit(digits: int) -> None:
    value = int("9876543210987654321"[-digits:])
    samples = _parsed(b"0 1 66 0 0 " + b"%d " % min(value, 2**63 - 1) * 10 + b"17000000000\n", 16)
    assert samples[1:, 0].tolist() == [min(value, 2**63 - 1)] * 10

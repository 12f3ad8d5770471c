"""A run streamed and merged: the tables of a slow, obvious reader, whatever the blocks."""

import gzip
import lzma
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from ingest.files.blocks import zstd
from ingest.logs import core_log, overview, row_layout
from ingest.logs.limits import StreamLimits
from ingest.records import Window
from ingest.settings.dataset import Machine
from tests.fixtures.slow_intlog import read_slowly
from tests.fixtures.slow_run import run_slowly
from tests.fixtures.streamed import Streamed, stream

BLOCKS = (1, 2, 3, 7, 64, 1000, 1 << 16, 1 << 22)
# A tick is a third of a nanosecond; cores 0 and 2 share a package, as do 1 and 3.
MACHINE = Machine(3_000_000, 2.0**-16, 32, {0: (0, 2), 1: (1, 3)})
START, END = 10_000, 40_000
# Blocks of 4 KiB, and queues and samples that are merged a few rows at a time.
SMALL = StreamLimits(block_bytes=1 << 12, least_rows=10, samples_at_once=5)

_BAD_LINES = ("", "x", "1 2 3", "0 1 66 0 0 5 5 x", "[ 1.0] Core=1", "9 " * 40)


@st.composite
def _logs(draw: st.DrawFn) -> tuple[bytes, int]:
    """A log of plain, sampled and damaged lines around the window, and its column count."""
    columns = draw(st.sampled_from((14, 16, 17)))
    tsc, totals = draw(st.integers(0, 20_000)), [0] * (columns - 6)
    lines = []
    for index in range(draw(st.integers(1, 25))):
        tsc += draw(st.sampled_from((0, 0, 1, 2, 700, 5000)))
        nic = [draw(st.sampled_from((0, 1, 66, 2**31 - 1))) for _ in range(4)]
        if draw(st.booleans()):
            totals = [total + draw(st.sampled_from((0, 3, 10**6))) for total in totals]
            totals[-1] %= 2**32
            if draw(st.integers(0, 9)) == 0:
                totals[0] = draw(st.integers(1, 5))
            sampled = totals
        else:
            sampled = [0] * (columns - 6)
        lines.append(" ".join(map(str, (index, *nic, *sampled, tsc))))
        if draw(st.integers(0, 5)) == 0:
            lines.append(draw(st.sampled_from(_BAD_LINES)))
    lines.insert(0, " ".join(map(str, (0, *[0] * (columns - 2), 0))))
    end = draw(st.sampled_from(("\n", "\r\n")))
    return (end.join(lines) + draw(st.sampled_from(("", end)))).encode(), columns


def _rows(found: Streamed, table: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = found.tables[table].drop_columns(["run_id"]).to_pylist()
    return [row for row in listed if _has_news(row)] if table == "overview" else listed


def _has_news(row: dict[str, Any]) -> bool:
    counted = (*row_layout.SAMPLE_BINS, "interrupts")
    return any(row[name] for name in counted) or row["max_gap_ns"] is not None


@given(drawn=st.dictionaries(st.integers(0, 3), _logs(), min_size=1), block=st.sampled_from(BLOCKS))
def test_tables_are_those_of_the_slow_reader_at_any_block_size(
    drawn: dict[int, tuple[bytes, int]], block: int
) -> None:
    window = Window(START, END)
    slow = {core: (read_slowly(text, columns), columns) for core, (text, columns) in drawn.items()}
    expected = run_slowly(slow, window, MACHINE, (8, 64, 512), 64, (2, 16, 128))
    with (
        tempfile.TemporaryDirectory() as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        # The window lasts 10,000 ns: three levels, counters at two, stretches down to 78 ns.
        patch.setattr(core_log, "OVERVIEW_LEVELS", (8, 64, 512, 4096))
        patch.setattr(core_log, "OVERVIEW_LEAST_NS", 10)
        patch.setattr(core_log, "OVERVIEW_LEAST_COUNTED_NS", 100)
        patch.setattr(core_log, "HISTOGRAM_LEAST_NS", 40)
        patch.setattr(overview, "STRETCHES_AT_ONCE", 8)
        # So small that rows wait for each other, row groups fill and samples spill.
        limits = StreamLimits(block, 3, 8, 5, spool_bytes=400)
        logs = {core: text for core, (text, _) in drawn.items()}
        found = stream(Path(folder), logs, window, MACHINE, limits=limits)
    refusals = [read.problems for read in found.run.reads if read.content is None]
    assert refusals == []
    for name, rows in expected.items():
        assert _rows(found, name) == rows
    assert len(found.tables["overview"]) == len(drawn) * (8 + 64 + 512)
    assert set(found.tables["histograms"]["level"].to_pylist()) <= {2, 16, 128}
    for core, (log, _) in slow.items():
        refused = {p.kind: (p.count, p.line) for p in found.problems[core]}
        assert {k: v for k, v in refused.items() if k != "several_cores"} == log.refused


# One tick is one nanosecond, one step of the counter one microjoule.
PLAIN = Machine(1_000_000, 1e-6, 32, {0: (0, 2), 1: (1, 3)})
WINDOW = Window(100, 200)


def log_text(tsc: list[int], sampled: list[tuple[int, int, int]]) -> bytes:
    """A 14-column log of lines at `tsc`, each with 2 descriptors and 100 bytes in, 1 and 10 out.

    Args:
        sampled: Time, counter value (instructions, cycles, c7 alike), energy counter; such a line
            has no traffic.
    """
    lines = [(t, f"0 2 100 1 10 0 0 0 0 0 0 0 0 {t}") for t in tsc]
    lines += [(t, f"0 0 0 0 0 {n} {n} {n} {n} 0 0 {n} {j} {t}") for t, n, j in sampled]
    return "".join(f"{line}\n" for _, line in sorted(lines, key=lambda row: row[0])).encode()


def test_both_ends_of_the_window_count_and_nothing_beyond(tmp_path: Path) -> None:
    text = log_text([99, 100, 150, 201], [(99, 1, 1), (100, 10, 2), (200, 40, 9), (201, 90, 20)])
    core = stream(tmp_path, {0: text}, WINDOW, PLAIN).cut(0)
    assert core.totals["interrupts"] == 4
    assert (core.totals["rx_bytes"], core.totals["tx_desc"]) == (200, 2)
    assert (core.totals["instructions"], core.totals["c7"], core.totals["c1"]) == (30, 30, None)
    # Gaps of 0, 50 and 50 ns: below 2, and twice between 2**5 and 2**6.
    assert (core.gap_hist[0], core.gap_hist[5], core.gap_hist.sum()) == (1, 2, 3)


def test_sleep_states_of_the_library_os_are_added(tmp_path: Path) -> None:
    text = log_text([], [(100, 3, 0), (150, 4, 0), (200, 5, 0)])
    found = stream(tmp_path, {0: text}, WINDOW, PLAIN, "ebbrt_dmesg")
    assert found.cut(0).totals["c7"] == 12
    assert found.cut(0).totals["instructions"] == 2
    assert found.tables["samples"]["c7"].to_pylist() == [None, 4, 5]


def test_sleep_states_that_fall_late_were_never_totals(tmp_path: Path) -> None:
    rising = [(t, t, t) for t in range(100, 1000)]
    text, other = (log_text([], rising + more) for more in ([(1000, 3, 1000)], []))
    text = text.replace(b"3 3 3 3 0 0 3", b"1001 1001 1001 1001 0 0 3")
    found = stream(tmp_path, {0: text, 1: other}, Window(100, 1000), PLAIN, limits=SMALL)
    assert found.cut(0).totals["c7"] == sum(range(100, 1000)) + 3
    assert found.cut(0).totals["instructions"] == 901
    assert found.cut(1).totals["c7"] == 899
    rows = found.tables["samples"]
    assert rows.num_rows == 1801
    of_first = [row["c7"] for row in rows.to_pylist() if row["core"] == 0]
    assert of_first == [None, *range(101, 1000), 3]
    assert found.bytes_read == len(text) + len(other)


def test_one_sample_starts_a_count_but_measures_nothing(tmp_path: Path) -> None:
    found = stream(tmp_path, {0: log_text([100, 110], [(105, 7, 7)])}, WINDOW, PLAIN)
    assert found.cut(0).totals["instructions"] is None
    assert found.cut(0).totals["interrupts"] == 3
    assert found.run.energy.energy_j == {0: None}


def test_a_log_beside_its_window_is_doubted(tmp_path: Path) -> None:
    found = stream(tmp_path, {0: log_text([1, 2], [(1, 1, 1)])}, WINDOW, PLAIN)
    (problem,) = found.cut(0).problems
    assert (problem.kind, problem.severity) == ("log_outside_window", "doubted")
    assert "1 to 2" in problem.detail
    assert found.tables["interrupts"].num_rows == 0


def test_a_counter_that_runs_backwards_measures_nothing(tmp_path: Path) -> None:
    text = log_text([100], [(100, 9, 1), (150, 3, 2), (200, 12, 3)])
    found = stream(tmp_path, {0: text}, WINDOW, PLAIN)
    assert found.cut(0).totals["instructions"] is None
    assert [p.kind for p in found.cut(0).problems] == ["counter_backwards"]
    assert found.run.energy.energy_j == {0: 2e-6}


def test_energy_is_of_the_package_and_stands_at_one_of_its_cores(tmp_path: Path) -> None:
    logs = {
        0: log_text([100], [(120, 1, 5), (180, 2, 9)]),
        1: log_text([100], [(100, 1, 100), (200, 2, 130)]),
        2: log_text([100], [(110, 1, 2**32 - 4), (190, 2, 6)]),
    }
    energy = stream(tmp_path, logs, WINDOW, PLAIN).run.energy
    assert energy.carriers == {1, 2}
    assert energy.has_wrapped
    assert energy.energy_j == pytest.approx({0: 10e-6, 1: 30e-6})


def test_without_a_window_logs_are_read_and_nothing_is_written(tmp_path: Path) -> None:
    found = stream(tmp_path, {0: log_text([1], []) + b"1 2\n"}, None, PLAIN)
    assert (found.run.cuts, found.run.files, found.tables) == ([], [], {})
    assert [p.kind for p in found.problems[0]] == ["field_count"]


@pytest.mark.parametrize(
    ("column", "value"),
    [("rx_desc", 2**31), ("rx_bytes", 2**48 + 1), ("tx_desc", 2**31), ("tx_bytes", 2**63 - 1)],
)
def test_a_line_of_more_bytes_or_descriptors_than_can_be_is_refused(
    tmp_path: Path, column: str, value: int
) -> None:
    """The second of three lines; the largest possible values of the first count."""
    largest = {"rx_desc": 2**31 - 1, "rx_bytes": 2**48, "tx_desc": 2**31 - 1, "tx_bytes": 2**48}
    rows = [largest, {**largest, column: value}, dict.fromkeys(largest, 1)]
    lines = [f"0 {' '.join(map(str, row.values()))} {'0 ' * 8}{t}" for t, row in enumerate(rows)]
    text = "".join(f"{line}\n" for line in lines)
    found = stream(tmp_path, {0: text.encode()}, Window(0, 10), PLAIN)
    (problem,) = found.problems[0]
    assert (problem.kind, problem.severity, problem.line) == ("number_range", "refused", 2)
    assert f"'{value}' is over {largest[column]}" in problem.detail
    assert {name: found.cut(0).totals[name] for name in largest} == {
        name: limit + 1 for name, limit in largest.items()
    }
    for name, limit in largest.items():
        assert found.tables["interrupts"][name].to_pylist() == [limit, 1]


def test_a_counter_that_leaps_costs_its_own_line(tmp_path: Path) -> None:
    """Instructions are 1, then 2^49, then 5: line 2 is refused, and 4 were counted."""
    text = log_text([], [(100, 1, 0), (150, 2**49, 0), (200, 5, 0)])
    found = stream(tmp_path, {0: text}, WINDOW, PLAIN)
    (problem,) = found.problems[0]
    assert (problem.kind, problem.severity, problem.line) == ("counter_leap", "refused", 2)
    assert f"rises by {2**49 - 1} to {2**49}" in problem.detail
    assert found.cut(0).totals["instructions"] == 4
    assert found.tables["samples"]["instructions"].to_pylist() == [None, 4]


def test_sleep_states_per_sample_are_bounded_themselves(tmp_path: Path) -> None:
    text = log_text([], [(100, 3, 0), (150, 4, 0), (200, 5, 0)])
    text = text.replace(b"0 0 4 0 150", f"0 0 {2**48 + 1} 0 150".encode())
    found = stream(tmp_path, {0: text}, WINDOW, PLAIN, "ebbrt_dmesg")
    assert [(p.kind, p.line) for p in found.problems[0]] == [("counter_leap", 2)]
    assert (found.cut(0).totals["c7"], found.cut(0).totals["instructions"]) == (8, 2)


def test_a_step_of_48_bits_is_shared_out_to_the_digit(tmp_path: Path) -> None:
    """It begins in the first of 1024 bins and ends where the second begins: at 10 of 10240 ns."""
    text = log_text([], [(0, 1, 0), (10, 2**48 + 1, 0)])
    found = stream(tmp_path, {0: text}, Window(0, 10240), PLAIN)
    counted = found.tables["overview"]["instructions"].to_pylist()
    assert (counted[0], sum(counted), min(counted)) == (2**48, 2**48, 0)
    assert found.cut(0).totals["instructions"] == 2**48


YEAR_NS = 365 * 86_400 * 10**9


@st.composite
def _core_times(draw: st.DrawFn) -> list[list[int]]:
    """Rising times of up to 17 cores within a year, with pauses of up to months."""
    steps = st.sampled_from([0, 1, 7, 10**9, 2**40, 2**51, 2**53, 2**54])
    cores = []
    for _ in range(draw(st.sampled_from([1, 2, 3, 5, 15, 16, 17]))):
        now, times = draw(st.integers(0, YEAR_NS)), []
        for _ in range(draw(st.integers(1, 4))):
            times.append(now)
            now = min(now + draw(steps), YEAR_NS)
        cores.append(times)
    return cores


@settings(phases=[Phase.generate])
@given(cores=_core_times(), start=st.integers(0, 2**40), block=st.sampled_from([64, 1 << 16]))
def test_rows_are_in_time_order_in_windows_of_a_year(
    cores: list[list[int]], start: int, block: int
) -> None:
    """Times beyond 53 bits are rounded as float64 rounds them, and keep their order."""
    logs = {core: log_text(times, []) for core, times in enumerate(cores)}
    window = Window(start, YEAR_NS)
    expected = sorted(
        (round(float(t - start)), core)
        for core, times in enumerate(cores)
        for t in times
        if start <= t
    )
    machine = Machine(1_000_000, 1e-6, 32, {0: tuple(range(17))})
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(core_log, "OVERVIEW_LEVELS", (8, 64))
        patch.setattr(core_log, "HISTOGRAM_MOST_STRETCHES", 16)
        limits = StreamLimits(block_bytes=block, row_group_rows=8)
        found = stream(Path(folder), logs, window, machine, limits=limits)
    rows = found.tables["interrupts"]
    assert list(zip(rows["t_ns"].to_pylist(), rows["core"].to_pylist(), strict=True)) == expected
    bins = [row for row in found.tables["overview"].to_pylist() if row["level"] == 64]
    starts = [row["t_ns"] for row in bins if row["core"] == 0]
    length = round(float(YEAR_NS - start))
    assert starts == [-(-at * length // 64) for at in range(64)]
    assert sum(row["interrupts"] for row in bins) == len(expected)


@given(
    length=st.integers(1, YEAR_NS), bins=st.sampled_from([1, 7, 1024, 131072]), at=st.floats(0, 1)
)
def test_bins_of_any_window_begin_where_they_should(length: int, bins: int, at: float) -> None:
    number = min(int(at * bins), bins - 1)
    assert core_log.bin_starts_ns(length, bins)[number] == -(-number * length // bins)


def test_a_log_that_turns_bad_late_leaves_the_others_as_if_alone(tmp_path: Path) -> None:
    window = Window(0, 10**6)
    texts = {c: log_text(list(range(c, 200_000, 7)), [(0, 1, 1), (9, 3, 4)]) for c in (0, 1)}
    packed = gzip.compress(texts[1], mtime=0)
    broken = packed[: len(packed) // 2]
    both = stream(tmp_path / "both", {0: texts[0], 1: broken}, window, PLAIN, limits=SMALL)
    alone = stream(tmp_path / "alone", {0: texts[0]}, window, PLAIN, limits=SMALL)
    assert [p.kind for p in both.problems[1]] == ["broken_compression"]
    assert "0001" in both.problems[1][0].detail
    assert [cut.core for cut in both.run.cuts] == [0]
    assert both.tables == alone.tables
    assert list(tmp_path.rglob(".*.tmp")) == []


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, zstd.compress])
def test_packed_logs_give_the_same_tables(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    text = log_text(list(range(100, 200)) * 50, [(t, t, t) for t in range(90, 210, 3)])
    plain = stream(tmp_path / "plain", {0: text, 1: text}, WINDOW, PLAIN, limits=SMALL)
    half = len(text) // 2
    packed = pack(text[:half]) + pack(text[half:])
    both = stream(tmp_path / "p", {0: packed, 1: text}, WINDOW, PLAIN, limits=SMALL)
    assert both.tables == plain.tables

"""Windows of small runs against a slow reader of their rows: no bin loses an extreme."""

import math
import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.analysis.log_bins import slot_of
from data.errors import DataError
from data.timeline.question import Question
from data.timeline.reads import RunReads
from data.timeline.stretch_sizes import whole_stretches
from data.timeline.time_cells import ByCore, Lines, fold_starts
from data.timeline.window import answer_run
from data.timeline.window_plan import plan_window
from tests.fixtures.timeline_runs import LENGTH_NS, LEVELS, Line, Run, run_reads, runs, small_levels

WINDOWS = st.tuples(st.integers(0, LENGTH_NS), st.integers(0, LENGTH_NS)).filter(
    lambda ends: abs(ends[0] - ends[1]) > 5
)
PANELS = ("bytes", "interrupts", "gap")


def gaps_of(run: Run) -> list[tuple[int, int, int]]:
    """Every core, begin and end of a gap."""
    return [
        (core, before.t_ns, line.t_ns)
        for core, lines in run.items()
        for before, line in pairwise(lines)
    ]


def is_in(t_ns: int, begin: int, end: int) -> bool:
    """Half-open, but the run's last instant is in the window that ends there."""
    return begin <= t_ns < end or t_ns == end == LENGTH_NS


def lines_in(run: Run, begin: int, end: int) -> list[Line]:
    return [line for lines in run.values() for line in lines if is_in(line.t_ns, begin, end)]


def longest_touching(run: Run, begin: int, end: int) -> float:
    """A gap touches a window unless it ends before it or begins behind it."""
    lengths = [
        last - first
        for _, first, last in gaps_of(run)
        if last >= begin and (first < end or first == end == LENGTH_NS)
    ]
    return max(lengths, default=math.nan)


def same(found: float, expected: float) -> bool:
    return found == pytest.approx(expected, rel=1e-12, nan_ok=True)


@pytest.mark.slow
@given(run=runs(), ends=WINDOWS, width=st.sampled_from((3, 50, 60, 100, 1000)))
def test_every_bin_is_what_a_slow_reader_finds(run: Run, ends: tuple[int, int], width: int) -> None:
    with small_levels(), tempfile.TemporaryDirectory() as folder:
        reads = run_reads(Path(folder), run)
        question = Question(("run",), from_x=min(ends) / 1e9, to_x=max(ends) / 1e9, panels=PANELS)
        plan_ends = sorted(ends)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("data.timeline.window.most_bins", lambda _: width)
            patch.setattr("data.timeline.window.SHORTEST_NS", 1)
            answer = answer_run(reads.files, reads.facts, question, 1e-5)
    assert answer.plan.from_ns <= plan_ends[0] < plan_ends[1] <= answer.plan.to_ns
    (group,) = answer.groups
    edges = answer.edges["interrupts"]
    for at, (begin, end) in enumerate(pairwise(edges.tolist())):
        lines = lines_in(run, begin, end)
        assert group.lines["count"]["mean"][at] == len(lines)
        for way in ("rx", "tx"):
            sizes = [getattr(line, f"{way}_bytes") for line in lines]
            drawn = group.lines[way]
            assert same(drawn["max"][at], max(sizes, default=math.nan))
            assert same(drawn["mean"][at], sum(sizes) / len(sizes) if sizes else math.nan)
            if "min" in drawn:
                assert same(drawn["min"][at], min(sizes, default=math.nan))
        ended = [last - first for _, first, last in gaps_of(run) if is_in(last, begin, end)]
        gap = group.lines["gap"]
        assert same(gap["min"][at], min(ended, default=math.nan) / 1e3)
        if begin < end:
            assert same(gap["max"][at], longest_touching(run, begin, end) / 1e3)


@given(run=runs(), ends=WINDOWS)
def test_no_spike_is_lost_at_any_zoom(run: Run, ends: tuple[int, int]) -> None:
    """The longest silence and the largest interrupt are in the drawing at every width and level."""
    begin, end = sorted(ends)
    with small_levels(), tempfile.TemporaryDirectory() as folder:
        reads = run_reads(Path(folder), run)
        for width in (3, 10, 60, 400):
            plan = plan_window(reads.shape, begin, end, width)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("data.timeline.window.most_bins", lambda _, width=width: width)
                patch.setattr("data.timeline.window.SHORTEST_NS", 1)
                question = Question(("run",), from_x=begin / 1e9, to_x=end / 1e9, panels=PANELS)
                (group,) = answer_run(reads.files, reads.facts, question, 1e-5).groups
            lines = lines_in(run, plan.from_ns, plan.to_ns)
            longest = longest_touching(run, plan.from_ns, plan.to_ns)
            drawn = np.fmax.reduce(group.lines["gap"]["max"])
            assert same(drawn, longest / 1e3), (width, plan)
            largest = max((line.rx_bytes for line in lines), default=math.nan)
            assert same(np.fmax.reduce(group.lines["rx"]["max"]), largest)


@given(run=runs(), ends=WINDOWS)
def test_sizes_of_a_window_are_those_of_its_rows(run: Run, ends: tuple[int, int]) -> None:
    begin, end = sorted(ends)
    with small_levels(), tempfile.TemporaryDirectory() as folder:
        reads = run_reads(Path(folder), run)
        places = range(len(run))
        found = reads.sizes(begin, end, places)
        last = reads.sizes(begin, end, [places[-1]])
    for name, counts in _sizes(run, begin, end).items():
        assert {k: v for k, v in enumerate(found[name]) if v} == counts
    only = {core: lines for core, lines in run.items() if core == max(run)}
    for name, counts in _sizes(only, begin, end).items():
        assert {k: v for k, v in enumerate(last[name]) if v} == counts


def _sizes(run: Run, begin: int, end: int) -> dict[str, Counter[int]]:
    values = {
        "gap_ns": [last - first for _, first, last in gaps_of(run) if is_in(last, begin, end)],
        "rx_bytes": [line.rx_bytes for line in lines_in(run, begin, end)],
        "tx_bytes": [line.tx_bytes for line in lines_in(run, begin, end)],
    }
    return {name: Counter(slot_of(np.array(v, np.int64)).tolist()) for name, v in values.items()}


@given(run=runs(), ends=WINDOWS)
def test_counters_are_shared_out_by_time(run: Run, ends: tuple[int, int]) -> None:
    """From samples to the last digit; from the overview to a count a core and bin's end."""
    begin, end = sorted(ends)
    with small_levels(), tempfile.TemporaryDirectory() as folder:
        reads = run_reads(Path(folder), run)
        shared = reads.shared_samples(begin, end, np.array([begin, end])).values["instructions"]
        bins = reads.overview(8, 0, 8, ("instructions",)).values["instructions"]
    for place, lines in enumerate(run.values()):
        samples = [line for line in lines if line.counted is not None]
        if len(samples) < 2:
            assert np.isnan(bins[:, place]).all()
            continue
        expected = _counted(samples, end) - _counted(samples, begin)
        if not np.isnan(shared[0, place]):
            assert shared[0, place] == pytest.approx(expected, abs=1e-6)
        all_of_it = _counted(samples, LENGTH_NS, is_end=True) - _counted(samples, 0)
        assert bins[:, place].sum() == all_of_it
        for at in range(8):
            ends_of = at * LENGTH_NS / 8, (at + 1) * LENGTH_NS / 8
            exact = _counted(samples, ends_of[1], is_end=at == 7) - _counted(samples, ends_of[0])
            assert abs(bins[at, place] - exact) <= 1


def _counted(samples: list[Line], t_ns: float, is_end: bool = False) -> float:
    """What the counter showed at a time, on straight lines between samples.

    Of several samples at that instant, what the first showed, or the last at the run's end: what
    was counted between them comes to what begins there.
    """
    times = [line.t_ns for line in samples]
    counts = [float(line.counted or 0) for line in samples]
    for (t0, t1), (n0, n1) in zip(pairwise(times), pairwise(counts), strict=True):
        if t0 < t_ns < t1:
            return n0 + (n1 - n0) * (t_ns - t0) / (t1 - t0)
    here = [n for t, n in zip(times, counts, strict=True) if t == t_ns]
    before = [n for t, n in zip(times, counts, strict=True) if t < t_ns]
    if here:
        return here[-1] if is_end else here[0]
    return max(before, default=counts[0])


@given(finest=st.integers(0, 3), first=st.integers(0, 512), end=st.integers(0, 512))
def test_whole_stretches_cover_each_once(finest: int, first: int, end: int) -> None:
    levels = [8**power for power in range(finest + 1)]
    first, end = (at * levels[-1] // 512 for at in (first, end))
    covered: list[int] = []
    for level, begin, stop in whole_stretches(levels, first, end):
        joined = levels[-1] // level
        covered += range(begin * joined, stop * joined)
    assert sorted(covered) == list(range(first, end))
    assert len(whole_stretches(levels, first, end)) <= 2 * len(levels)


def test_a_silence_longer_than_the_view_is_seen_from_within(tmp_path: Path) -> None:
    """Nothing happens from 2,000 to 9,000 ns; a view of 4,000 to 4,100 still shows 7 us."""
    run = {0: [Line(t, 1, 1, None) for t in (0, 1000, 2000, 9000, 9500)]}
    with small_levels():
        reads = run_reads(tmp_path, run)
        rows = reads.rows(4000, 4100)
        assert (len(rows.t_ns), rows.tail_ns.tolist()) == (0, [7000])
        question = Question(("run",), from_x=4e-6, to_x=5e-6, panels=("gap",))
        (group,) = answer_run(reads.files, reads.facts, question, 1e-5).groups
    assert set(group.lines["gap"]["max"]) == {7.0}
    assert np.isnan(group.lines["gap"]["min"]).all()


def test_a_core_found_on_the_way_to_another_is_not_taken_for_the_nearest(tmp_path: Path) -> None:
    """Core 2 is silent until 6,389; looking for it must not find a late interrupt of core 3."""
    run = {
        2: [Line(1239, 1, 1, None), Line(1389, 1, 1, None), Line(6389, 1, 1, None)],
        3: [Line(0, 1, 1, None), *[Line(5000, 1, 1, None)] * 9, Line(5001, 1, 1, None)],
    }
    with small_levels():
        rows = run_reads(tmp_path, run).rows(0, 1407)
    assert rows.tail_ns.tolist() == [5000, 5000]


def test_rates_are_by_the_time_that_samples_cover(tmp_path: Path) -> None:
    """1 count a ns from 500 to 9,500 ns: the first and last bins are half covered, and no lower."""
    run = {0: [Line(100 * at, 1, 1, 100 * at) for at in range(5, 96)]}
    with small_levels():
        reads = run_reads(tmp_path, run)
        edges = np.arange(0, LENGTH_NS + 1, 1000)
        sampled = reads.shared_samples(0, LENGTH_NS, edges)
        binned = reads.counters(8, 0, 8)
    for cells in (sampled, binned):
        bins = len(cells.edges) - 1
        lines = Lines(cells, [0], fold_starts(bins, bins))
        assert lines.rate("instructions")["mean"] == pytest.approx(np.full(bins, 1e9))
        assert lines.busy(1e9)["mean"] == pytest.approx(np.ones(bins))
        by_core = ByCore(cells, fold_starts(bins, bins))
        assert by_core.rate("instructions") == pytest.approx(np.full((bins, 1), 1e9))
    assert sampled.values["covered_ns"][:, 0].tolist() == [500, *[1000] * 8, 500]


def test_levels_follow_the_width(tmp_path: Path) -> None:
    """100 interrupts: all of the run from the level that fills the width, 1 % of it from rows."""
    run = {0: [Line(100 * at, 1, 1, at + 1) for at in range(101)]}
    with small_levels():
        reads = run_reads(tmp_path, run)
        assert reads.levels == LEVELS
        assert [plan_window(reads.shape, 0, LENGTH_NS, w).level for w in (5, 40, 500)] == [
            8,
            64,
            512,
        ]
        assert plan_window(reads.shape, 500, 600, 500).level is None
        # Of 64 bins, 156.25 ns each, those that touch 1,000 to 6,000 are 6 to 38.
        plan = plan_window(reads.shape, 1000, 6000, 40)
        assert (plan.level, plan.from_ns, plan.to_ns) == (64, 938, 6094)
        again = plan_window(reads.shape, plan.from_ns, plan.to_ns, 40)
        assert (again.from_ns, again.to_ns) == (plan.from_ns, plan.to_ns)


def test_a_window_that_is_none_is_refused(tmp_path: Path) -> None:
    with small_levels():
        reads: RunReads = run_reads(tmp_path, {0: [Line(5, 1, 1, None)]})
        with pytest.raises(DataError, match="no window of a run of 10000 ns: 5 to 5"):
            plan_window(reads.shape, 5, 5, 100)

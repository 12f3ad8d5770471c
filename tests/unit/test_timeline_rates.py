"""Extremes of rates in windows of small runs against a slow reader: no zoom loses a spike."""

import math
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.schema import COUNTED_INTERRUPTS
from data.timeline.question import Question
from data.timeline.row_bins import interrupt_extremes, rows_by_core
from data.timeline.sample_rates import rate_extremes
from data.timeline.time_cells import equal_edges
from data.timeline.window import RunAnswer, answer_run
from tests.fixtures.timeline_runs import (
    LENGTH_NS,
    LEVELS,
    Line,
    Run,
    run_reads,
    runs,
    small_levels,
)

ENDS = st.tuples(st.integers(0, LENGTH_NS), st.integers(0, LENGTH_NS)).filter(
    lambda ends: abs(ends[0] - ends[1]) > 5
)
WINDOWS = st.one_of(st.just((0, LENGTH_NS)), ENDS)
WIDTHS = (3, 8, 60, 400)
# What is drawn may be off by the rounding of what is kept, and by whole counts shared out to bins.
OFF = 2.5e-4
SUMMED = ("instructions", "llc_misses", "c1", "c7")
PANELS = ("interrupts", "power", "instructions", "ipc", "busy", "llc", "sleep")

Step = tuple[int, int, int, int]


def steps_of(lines: Sequence[Line]) -> list[Step]:
    """Begin, end, what every counter counted, and cycles, of each step of some length."""
    samples = [(line.t_ns, line.counted) for line in lines if line.counted is not None]
    return [
        (t0, t1, n1 - n0, n1 - n0 + t1 - t0) for (t0, n0), (t1, n1) in pairwise(samples) if t1 > t0
    ]


def touching(steps: list[Step], begin: int, end: int) -> list[Step]:
    return [
        step
        for step in steps
        if step[1] >= begin and (step[0] < end or step[0] == end == LENGTH_NS)
    ]


def answer(folder: Path, run: Run, ends: tuple[int, int], width: int, cores: str) -> RunAnswer:
    reads = run_reads(folder, run)
    question = Question(
        ("run",), cores, min(ends) / 1e9, max(ends) / 1e9, panels=PANELS, parts=("panels",)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("data.timeline.window.most_bins", lambda _: width)
        patch.setattr("data.timeline.window.SHORTEST_NS", 1)
        patch.setattr("data.timeline.window_parts.SAMPLED_BIN_NS", 20)
        patch.setattr("data.timeline.window_parts.FEWEST_SAMPLED", 2)
        return answer_run(reads.files, reads.facts, question, 1e-5)


def bins_of(found: RunAnswer) -> Iterator[tuple[int, int, int]]:
    for at, (begin, end) in enumerate(pairwise(found.edges["counters"].tolist())):
        if begin < end:
            yield at, begin, end


@given(run=runs(), ends=WINDOWS, width=st.sampled_from(WIDTHS))
def test_each_core_shows_the_extremes_of_its_steps(
    run: Run, ends: tuple[int, int], width: int
) -> None:
    """Or the mean, where counts that come to bins in whole numbers put it beyond them."""
    with small_levels(), tempfile.TemporaryDirectory() as folder:
        found = answer(Path(folder), run, ends, width, ",".join(map(str, run)))
    for group in found.groups:
        steps = steps_of(run[group.cores[0]])
        for at, begin, end in bins_of(found):
            here = touching(steps, begin, end)
            rates = [1e9 * counted / (t1 - t0) for t0, t1, counted, _ in here]
            for line in (group.lines[name] for name in SUMMED if rates):
                assert line["max"][at] >= max(rates) * (1 - OFF)
                assert line["max"][at] <= np.fmax(max(rates) * (1 + OFF), line["mean"][at])
                assert line["min"][at] <= min(rates) * (1 + OFF)
                assert line["min"][at] >= np.fmin(min(rates) * (1 - OFF), line["mean"][at])
            if rates:
                assert group.lines["busy"]["max"][at] >= max(rates) / 1e9 * (1 - OFF)


@given(
    run=runs(),
    ends=WINDOWS,
    width=st.sampled_from(WIDTHS),
    cores=st.sampled_from(("all", "packages")),
)
def test_instructions_a_cycle_are_those_of_single_cores_and_sums_stay_in_their_bands(
    run: Run, ends: tuple[int, int], width: int, cores: str
) -> None:
    """Sums of rates at every instant at which all cores of a line are between samples of theirs."""
    with small_levels(), tempfile.TemporaryDirectory() as folder:
        found = answer(Path(folder), run, ends, width, cores)
    for group in found.groups:
        for at, begin, end in bins_of(found):
            here = [s for core in group.cores for s in touching(steps_of(run[core]), begin, end)]
            ratios = [counted / cycles for _, _, counted, cycles in here]
            line = group.lines["ipc"]
            if ratios:
                assert line["max"][at] >= max(ratios) * (1 - OFF)
                assert line["min"][at] <= min(ratios) * (1 + OFF)
                mean = line["mean"][at]
                assert line["max"][at] <= np.fmax(max(ratios) * (1 + OFF), mean)
                assert line["min"][at] >= np.fmin(min(ratios) * (1 - OFF), mean)
        steps = [steps_of(run[core]) for core in group.cores]
        sampled = [of_core for of_core in steps if of_core]
        for t_ns, total in _sums(sampled):
            at = int(np.searchsorted(found.edges["counters"], t_ns, side="right")) - 1
            if 0 <= at < len(found.edges["counters"]) - 1:
                for name in SUMMED:
                    line = group.lines[name]
                    assert line["max"][at] >= total * (1 - OFF), name
                    assert line["min"][at] <= total * (1 + OFF), name


def _sums(steps: list[list[Step]]) -> Iterator[tuple[float, float]]:
    """Times between any two samples, and what all cores counted in a second there."""
    times = sorted({end for of_core in steps for step in of_core for end in step[:2]})
    for begin, end in pairwise(times):
        t_ns = (begin + end) / 2
        here = [
            1e9 * counted / (t1 - t0)
            for of_core in steps
            for t0, t1, counted, _ in of_core
            if t0 < t_ns < t1
        ]
        if here and len(here) == len(steps):
            yield t_ns, sum(here)


@given(run=runs(), ends=WINDOWS, width=st.sampled_from(WIDTHS))
def test_power_shows_the_steps_of_the_core_that_stands_for_a_package(
    run: Run, ends: tuple[int, int], width: int
) -> None:
    """A count is a microjoule: 1 in 1 ns is 1,000 W."""
    with small_levels(), tempfile.TemporaryDirectory() as folder:
        found = answer(Path(folder), run, ends, width, "packages")
    for group in found.power:
        spans = {
            core: [li.t_ns for li in run[core] if li.counted is not None] for core in group.cores
        }
        longest = max((s[-1] - s[0] for s in spans.values() if s), default=0)
        carrier = next(c for c, s in spans.items() if s and s[-1] - s[0] == longest)
        for at, begin, end in bins_of(found):
            here = touching(steps_of(run[carrier]), begin, end)
            rates = [1e3 * counted / (t1 - t0) for t0, t1, counted, _ in here]
            if rates:
                line = group.lines["power"]
                assert line["max"][at] >= max(rates) * (1 - OFF)
                assert line["max"][at] <= np.fmax(max(rates) * (1 + OFF), line["mean"][at])
                assert line["min"][at] <= min(rates) * (1 + OFF)


@given(
    run=runs(), width=st.sampled_from((3, 8, 60)), cores=st.sampled_from(("all", "packages", "one"))
)
def test_interrupts_show_the_fullest_and_the_emptiest_fine_bins(
    run: Run, width: int, cores: str
) -> None:
    """In the whole run, from a level or from rows: steps of a 512th of it."""
    if cores == "one":
        cores = ",".join(map(str, run))
    with small_levels() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr("data.timeline.window_plan.FEW_ROWS", 0)
        found = answer(Path(folder), run, (0, LENGTH_NS), width, cores)
    assert found.plan.level in LEVELS[:2]
    finest = LEVELS[-1]
    for group in found.groups:
        counts = Counter(
            min(line.t_ns * finest // LENGTH_NS, finest - 1)
            for core in group.cores
            for line in run[core]
        )
        line = group.lines["interrupts"]
        starts = [round(edge * finest / LENGTH_NS) for edge in found.edges["interrupts"].tolist()]
        for at, (begin, end) in enumerate(pairwise(starts)):
            here = [counts[part] * finest / LENGTH_NS * 1e9 for part in range(begin, end)]
            assert line["max"][at] == pytest.approx(max(here))
            assert line["min"][at] == pytest.approx(min(here))


@given(
    times=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 99)), max_size=30),
    bins=st.integers(1, 7),
    parts=st.integers(2, 9),
)
def test_interrupt_extremes_of_rows_are_counted_in_equal_steps(
    times: list[tuple[int, int]], bins: int, parts: int
) -> None:
    """Cores 0 and 2 are of one package, which stands at the first of them."""
    times = sorted(times, key=lambda row: row[1])
    place = np.array([core for core, _ in times], np.int64)
    t_ns = np.array([t for _, t in times], np.int64)
    nobody = np.full(3, -1)
    rows = rows_by_core(place, t_ns, {}, nobody, nobody)
    found = interrupt_extremes(rows, equal_edges(0, 100, bins), parts, [0, 1, 0])
    groups = {
        "interrupts": {0: [0], 1: [1], 2: [2]},
        "package_interrupts": {0: [0, 2], 1: [1]},
        "run_interrupts": {0: [0, 1, 2]},
    }
    assert set(groups) == set(COUNTED_INTERRUPTS)
    for name, of in groups.items():
        for first in range(3):
            for at in range(bins):
                low, high = (found[f"{end}_{name}"][at, first] for end in ("min", "max"))
                if first not in of:
                    assert math.isnan(low)
                    assert math.isnan(high)
                    continue
                counts = Counter(t * bins * parts // 100 for core, t in times if core in of[first])
                here = [counts[part] for part in range(at * parts, (at + 1) * parts)]
                assert (low, high) == (min(here), max(here))


def test_a_millisecond_of_power_is_there_in_the_whole_run_and_close_by(tmp_path: Path) -> None:
    """100 uJ come in 20 ns among 1 uJ each 20 ns: 50 W all the time, and 5,000 W once."""
    times = range(0, LENGTH_NS, 20)
    counted = np.cumsum([100 if t == 5020 else 1 for t in times]).tolist()
    run = {0: [Line(t, 1, 1, n) for t, n in zip(times, counted, strict=True)]}
    for ends, width in (((0, LENGTH_NS), 3), ((0, LENGTH_NS), 60), ((4900, 5100), 400)):
        with small_levels():
            found = answer(tmp_path / f"{ends[0]}-{width}", run, ends, width, "all")
        (package,) = found.power
        line = package.lines["power"]
        assert np.nanmax(line["max"]) == pytest.approx(5000, rel=OFF)
        assert np.nanmin(line["min"]) <= 50 * (1 + OFF)


def test_a_window_that_no_step_touches_has_no_rates() -> None:
    """One step from 0 to 10 ns; the bins are from 20 to 40."""
    one = np.array([10.0])
    found = rate_extremes(
        np.array([0]), one, one, {"cycles": one}, ("cycles_per_s",), 2, np.array([20, 30, 40])
    )
    assert sorted(found) == ["max_cycles_per_s", "min_cycles_per_s"]
    assert all(values.shape == (2, 2) and np.isnan(values).all() for values in found.values())

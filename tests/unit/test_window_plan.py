"""What a window reads is bounded, however long the run, however many its interrupts and cores."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from data.errors import DataError
from data.schema import OVERVIEW_LEAST_COUNTED_NS, OVERVIEW_LEAST_NS, OVERVIEW_LEVELS
from data.timeline import window_plan
from data.timeline.window_plan import RunShape, bins_between, plan_window

_DAY_NS = 86_400_000_000_000


@st.composite
def shapes(draw: st.DrawFn) -> RunShape:
    """Runs of a microsecond to a day, with the levels that ingest gives them."""
    length_ns = draw(st.integers(1000, _DAY_NS))
    coarsest, finer = OVERVIEW_LEVELS[0], OVERVIEW_LEVELS[1:]
    levels = [coarsest, *(one for one in finer if length_ns >= one * OVERVIEW_LEAST_NS)]
    counted = [one for one in levels[1:] if length_ns >= one * OVERVIEW_LEAST_COUNTED_NS]
    interrupts = draw(st.integers(0, 2_000_000_000))
    cores = draw(st.integers(1, 256))
    return RunShape(length_ns, cores, interrupts, tuple(levels), (coarsest, *counted))


@given(
    shape=shapes(),
    ends=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    width=st.integers(50, 5000),
)
def test_what_is_read_does_not_grow_with_the_run(
    shape: RunShape, ends: tuple[float, float], width: int
) -> None:
    begin, stop = sorted(round(end * shape.length_ns) for end in ends)
    assume(begin < stop)
    plan = plan_window(shape, begin, stop, width)
    assert plan.from_ns <= begin < stop <= plan.to_ns
    share = (stop - begin) / shape.length_ns
    most = max(window_plan.MOST_CELLS, OVERVIEW_LEVELS[0] * shape.cores)
    for level in (plan.level, plan.counted):
        if level is not None:
            first, end = bins_between(shape.length_ns, level, plan.from_ns, plan.to_ns)
            # A window is widened to whole bins of the coarser of the two levels.
            wider = 2 * level // min(one for one in (plan.level, plan.counted) if one)
            assert (end - first) * shape.cores <= most + (wider + 2) * shape.cores
    if plan.level is None:
        assert shape.interrupts * share <= window_plan.MOST_ROWS
    if plan.counted is None:
        samples = share * shape.length_ns / window_plan.SAMPLE_NS * shape.cores
        assert samples <= window_plan.MOST_SAMPLES


def test_a_run_ten_times_as_long_reads_as_much() -> None:
    def cells(length_ns: int, interrupts: int, share: float) -> int:
        levels = OVERVIEW_LEVELS[: 3 if length_ns >= OVERVIEW_LEVELS[2] * OVERVIEW_LEAST_NS else 2]
        shape = RunShape(length_ns, 16, interrupts, levels, levels[:1])
        plan = plan_window(shape, 0, round(share * length_ns), 1000)
        if plan.level is None:
            return round(interrupts * share)
        first, end = bins_between(length_ns, plan.level, plan.from_ns, plan.to_ns)
        return (end - first) * 16

    for share in (1.0, 0.5, 0.25, 0.1, 0.05, 0.03, 0.01, 0.001):
        short = cells(18_500_000_000, 5_100_000, share)
        long = cells(185_000_000_000, 51_000_000, share)
        assert max(short, long) <= 131_072  # of 2 million in the finest level


def test_a_window_that_is_none_is_refused() -> None:
    shape = RunShape(1000, 1, 5, OVERVIEW_LEVELS[:1], OVERVIEW_LEVELS[:1])
    for begin, stop in ((5, 5), (6, 5), (-1, 5), (0, 1001)):
        with pytest.raises(DataError, match=f"no window of a run of 1000 ns: {begin} to {stop}"):
            plan_window(shape, begin, stop, 100)

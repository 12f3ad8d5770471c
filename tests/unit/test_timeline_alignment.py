"""Places of runs on an x axis of work: drawn by hand, and of a small run's interrupts."""

import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import DataError
from data.timeline.alignment import RunAxis, run_axis
from tests.fixtures.timeline_runs import LENGTH_NS, Run, run_reads, runs, small_levels

# Four bins of 100 ns: nothing, 10 B, nothing, 20 B.
DRAWN = RunAxis(400, np.array([0.0, 0, 10, 10, 30]))


def test_a_place_is_the_work_done_until_a_time() -> None:
    assert DRAWN.end == 30
    assert DRAWN.at(np.array([50, 150, 250, 350, 400])).tolist() == [0, 5, 10, 20, 30]
    assert RunAxis(400).at(np.array([100])).tolist() == [1e-7]


@pytest.mark.parametrize(
    ("places", "times_ns"),
    [
        ((0, 30), (0, 400)),  # the whole run, with its start that does nothing
        ((0, 5), (0, 150)),
        ((5, 10), (150, 200)),
        ((10, 20), (200, 350)),  # a pause belongs to the window that starts at its place
        ((20, 99), (350, 400)),
    ],
)
def test_a_window_of_work_is_the_time_in_which_it_was_done(
    places: tuple[float, float], times_ns: tuple[int, int]
) -> None:
    assert DRAWN.times_ns(*places) == times_ns


def test_bins_of_equal_work_have_a_width_and_hold_all_bins_of_time() -> None:
    edges_ns = np.linspace(0, 400, 17).astype(np.int64)
    # Six bins of 5 B: pauses join the next bin, the first bin of time that crosses an edge starts.
    starts = DRAWN.fold_starts(edges_ns, 6)
    assert DRAWN.at(edges_ns[starts]).tolist() == [0, 5, 10, 15, 20, 25]
    assert starts[0] == 0
    # Work that ends early leaves no bin without a width.
    early = RunAxis(400, np.array([0.0, 10, 20, 20, 20]))
    assert early.at(edges_ns[early.fold_starts(edges_ns, 4)]).tolist() == [0, 5, 10, 15]
    assert RunAxis(400, np.zeros(5)).fold_starts(edges_ns, 6).tolist() == [0]


@given(run=runs(), shares=st.lists(st.floats(0, 1), min_size=2, max_size=5, unique=True))
def test_windows_of_work_follow_each_other_and_end_where_the_bytes_do(
    run: Run, shares: list[float]
) -> None:
    received = sum(line.rx_bytes for lines in run.values() for line in lines)
    with small_levels(), tempfile.TemporaryDirectory() as folder:
        reads = run_reads(Path(folder), run)
        if not received:
            with pytest.raises(DataError, match="its log has no bytes received"):
                run_axis(reads.files, reads.facts, "rx_bytes")
            return
        axis = run_axis(reads.files, reads.facts, "rx_bytes")
    assert axis.end == received
    places = sorted(share * axis.end for share in shares)
    times = [axis.times_ns(*pair) for pair in pairwise(places)]
    assert all(begin <= end <= LENGTH_NS for begin, end in times)
    assert all(first[1] == second[0] for first, second in pairwise(times))

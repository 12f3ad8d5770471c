"""Differences between totals, and sums by time that lose nothing when they are joined."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from data.timeline.time_cells import Cells, Lines, bin_of, equal_edges, fold_starts
from data.timeline.totals import TOTALS, Total, base_of, difference

ENERGY = Total("energy_j", "Energy", "J")


def test_a_difference_in_words() -> None:
    found = difference(ENERGY, 1200.0, 2000.0)
    assert found is not None
    assert (found.value, found.percent) == (-800.0, -40.0)
    assert (found.text, found.percent_text) == ("−800 J", "−40.0 %")  # noqa: RUF001


def test_a_difference_from_nothing_has_no_percentage() -> None:
    found = difference(ENERGY, 3.0, 0.0)
    assert found is not None
    assert (found.text, found.percent, found.percent_text) == ("+3.00 J", None, "–")  # noqa: RUF001
    same = difference(ENERGY, 2.0, 2.0)
    assert same is not None
    assert (same.text, same.percent) == ("0", 0.0)
    assert difference(ENERGY, math.nan, 1.0) is None
    assert difference(ENERGY, 1.0, math.nan) is None


def test_the_run_to_compare_with() -> None:
    totals = {"energy_j": 1.0}
    assert base_of([None, totals, totals], 2) == 2
    assert base_of([None, totals, totals], 0) == 1
    assert base_of([None, None], 0) is None


def test_totals_are_named_once() -> None:
    names = [total.name for total in TOTALS]
    assert len(set(names)) == len(names)


@given(
    counts=hnp.arrays(np.float64, st.tuples(st.integers(1, 60), st.integers(1, 4)),
                      elements=st.integers(0, 9).map(float)),
    most=st.integers(1, 80),
)  # fmt: skip
def test_joined_bins_keep_sums_and_extremes(counts: np.ndarray, most: int) -> None:
    edges = equal_edges(0, 60_000, len(counts))
    starts = fold_starts(len(counts), most)
    assert len(starts) <= max(most + most // 4, 1)
    lines = Lines(Cells(edges, {"n": counts}), range(counts.shape[1]), starts)
    assert lines.drawn("n").sum() == counts.sum()
    rate = lines.rate("n")
    each = counts.sum(axis=1) / (np.diff(edges) / 1e9)
    assert rate.get("max", rate["mean"]).max() == pytest.approx(each.max())
    assert rate.get("min", rate["mean"]).min() == pytest.approx(each.min())
    drawn_s = np.add.reduceat(np.diff(edges), starts) / 1e9
    assert (rate["mean"] * drawn_s).sum() == pytest.approx(counts.sum())


def test_ratios_are_of_sums_and_never_means_of_ratios() -> None:
    # 10 instructions in 100 cycles, then 90 in 100: 0.5 together; a core that measured none.
    nothing = np.full(2, np.nan)
    values = {
        "instructions": np.column_stack([[10.0, 90.0], nothing]),
        "cycles": np.column_stack([[100.0, 100.0], nothing]),
        "ref_cycles": np.column_stack([[500.0, 1000.0], nothing]),
    }
    lines = Lines(Cells(np.array([0, 1000, 2000]), values), [0, 1], fold_starts(2, 1))
    ipc = lines.ipc()
    assert (ipc["mean"].tolist(), ipc["min"].tolist(), ipc["max"].tolist()) == ([0.5], [0.1], [0.9])
    # 1,500 reference cycles in 2,000 ns at 1 GHz, of the one core that measured them.
    assert lines.busy(1e9)["mean"].tolist() == [0.75]
    assert not lines.has("llc_misses")
    assert np.isnan(lines.rate("llc_misses")["mean"]).all()


@given(begin=st.integers(0, 10**12), length=st.integers(1, 10**10), bins=st.integers(1, 500))
def test_a_time_falls_into_the_bin_between_whose_edges_it_lies(
    begin: int, length: int, bins: int
) -> None:
    edges = equal_edges(begin, begin + length, bins)
    assert (edges[0], edges[-1]) == (begin, begin + length)
    times = np.unique(np.clip(np.concatenate([edges - 1, edges, edges + 1]), begin, edges[-1] - 1))
    at = bin_of(times, edges)
    assert ((edges[at] <= times) & (times < edges[at + 1])).all()

"""Bands of windows against NumPy's quantiles, and windows of a small run against its rows."""

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.timeline.bands import band_of, most_windows
from data.timeline.question import BANDS, Question
from data.timeline.window import answer_run
from tests.fixtures.timeline_runs import LENGTH_NS, Line, run_reads, small_levels

VALUES = st.lists(st.floats(-1e6, 1e6) | st.just(math.nan), min_size=1, max_size=40)


@given(values=VALUES, joined=st.integers(1, 12))
def test_a_band_is_the_quantiles_of_each_group_of_windows(values: list[float], joined: int) -> None:
    windows, starts = np.array(values), np.arange(0, len(values), joined)
    band = band_of(windows, starts)
    for at, (begin, end) in enumerate(pairwise([*starts.tolist(), len(values)])):
        group = windows[begin:end]
        measured = group[np.isfinite(group)]
        expected = np.quantile(measured, (0.1, 0.9)) if len(measured) else (math.nan, math.nan)
        found = (band["p10"][at], band["p90"][at])
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-6, nan_ok=True)


def test_windows_hold_ten_interrupts_and_a_sample() -> None:
    assert most_windows(100, 1e6, 1e6) == {"interrupts": 1000, "counters": 1000}
    assert most_windows(100, 2000, 90) == {"interrupts": 200, "counters": 90}
    assert most_windows(100, 3, 0.2) == {"interrupts": 1, "counters": 1}


@pytest.mark.parametrize(("step_ns", "is_there"), [(2, True), (50, False)])
def test_the_band_of_a_run_is_of_its_interrupts(
    tmp_path: Path, step_ns: int, is_there: bool
) -> None:
    # An interrupt each step; 100 B each in the first half, 300 B in the second, one of 9,000 B.
    times = range(0, LENGTH_NS, step_ns)
    size = {t: 100 if t < LENGTH_NS // 2 else 300 for t in times}
    size[4000] = 9000
    run = {0: [Line(t, size[t], 0, None) for t in times]}
    with small_levels():
        reads = run_reads(tmp_path, run)
        question = Question(("run",), panels=("bytes", "interrupts"), parts=BANDS)
        (group,) = (answer := answer_run(reads.files, reads.facts, question, 1e-5)).groups
    if not is_there:  # 200 interrupts are 20 windows: too few
        assert group.lines == {}
        return
    edges, band = answer.edges["interrupts"], group.lines["rx"]
    assert set(band) == {"p10", "p90"}
    assert len(edges) - 1 == len(band["p10"])
    middles = (edges[:-1] + edges[1:]) / 2
    is_first = middles < LENGTH_NS / 2 - 500
    # One large interrupt is an extreme of one window in ten: the band is that of the others.
    assert band["p10"][is_first].tolist() == [100] * int(is_first.sum())
    assert band["p90"][middles > LENGTH_NS / 2 + 500] == pytest.approx(300)
    assert (band["p90"][is_first] < 300).all()
    rate = group.lines["interrupts"]
    assert rate["p10"] == pytest.approx(1e9 / step_ns, rel=0.2)
    assert answer.windows_s["interrupts"] == pytest.approx(20e-9, rel=0.3)

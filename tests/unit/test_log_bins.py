"""Slots of growing width: each value lies in its own, and all of them cover every value once."""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.analysis.log_bins import SLOTS, slot_of, slot_starts, slots_near
from ingest.logs import size_histograms

VALUES = st.integers(0, 2**45)


def test_slots_written_out() -> None:
    values = [0, 1, 7, 8, 15, 16, 17, 18, 31, 32, 35, 36, 49_151, 49_152, 57_343, 57_344]
    # 49,152 = 12 * 2**12 begins slot 8 * 12 + 12, which ends below 13 * 2**12 = 53,248.
    expected = [0, 1, 7, 8, 15, 16, 16, 17, 23, 24, 24, 25, 107, 108, 109, 110]
    assert slot_of(np.array(values)).tolist() == expected


@given(value=VALUES)
def test_a_value_lies_between_its_slots_ends(value: int) -> None:
    slot = int(slot_of(np.array([value]))[0])
    starts = slot_starts()
    assert starts[slot] <= value
    assert slot == SLOTS - 1 or value < starts[slot + 1]


COMPILED = numba.njit(size_histograms.slot_of.function)


@given(value=VALUES)
def test_the_compiled_loop_numbers_slots_alike(value: int) -> None:
    assert COMPILED(value) == slot_of(np.array([value]))[0]


def test_starts_grow_by_at_most_an_eighth() -> None:
    starts = slot_starts()
    assert len(starts) == SLOTS + 1
    assert (np.diff(starts) > 0).all()
    assert (np.diff(starts[8:]) / starts[8:-1] <= 0.125).all()
    assert slot_starts(np.array([108])).tolist() == [49_152]


@pytest.mark.parametrize(
    ("itr_us", "share", "first", "end"), [(50, 0.01, 49_152, 53_248), (2, 0.05, 1792, 2304)]
)
def test_slots_near_a_value(itr_us: int, share: float, first: int, end: int) -> None:
    near = slots_near(itr_us * 1000, share)
    assert slot_starts(np.array(near)).tolist() == [first, end]

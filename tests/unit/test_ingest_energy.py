"""The energy counter that wraps, and which core speaks for a package."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ingest.logs.energy import energy_j, has_wrapped, unwrapped_steps, widest_core

BITS = 32
TURN = 1 << BITS


@given(
    start=st.integers(0, TURN - 1),
    steps=st.lists(st.integers(0, TURN - 1), max_size=50),
)
def test_unwrapping_gives_back_the_steps(start: int, steps: list[int]) -> None:
    true = np.cumsum([start, *steps], dtype=np.int64)
    np.testing.assert_array_equal(unwrapped_steps(true % TURN, BITS), steps)


def test_a_wrap_is_counted_through() -> None:
    # 2**32 - 65536 up to 65536 more than a turn: 131072 steps of 2**-16 J are 2 J.
    counter = np.array([TURN - 65536, 65536])
    assert energy_j(counter, BITS, 2**-16) == 2.0
    assert has_wrapped(counter)
    assert not has_wrapped(counter[::-1])


def test_fewer_than_two_readings_measure_nothing() -> None:
    assert energy_j(np.array([], np.int64), BITS, 2**-16) is None
    assert energy_j(np.array([7]), BITS, 2**-16) is None
    assert energy_j(np.array([7, 7]), BITS, 2**-16) == 0.0


def test_the_core_whose_samples_span_the_most_stands_for_the_package() -> None:
    assert widest_core({2: (0, 10), 4: (0, 12), 0: (5, 12)}) == 4
    assert widest_core({6: (0, 10), 4: (0, 10)}) == 4
    assert widest_core({}) is None

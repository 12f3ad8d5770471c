"""The quadratic trend: by hand, against numpy.polyfit, and what it refuses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.analysis.trend import quadratic_trend
from data.errors import DataError


def test_a_parabola_is_found_exactly() -> None:
    # y = 2 + 3 x - x^2 at 0, 1, 2, 3: 2, 4, 4, 2
    found = quadratic_trend(np.array([0.0, 1, 2, 3]), np.array([2.0, 4, 4, 2]))
    assert found is not None
    assert [found.constant, found.linear, found.quadratic] == pytest.approx([2, 3, -1])
    assert found.r_squared == pytest.approx(1)
    assert found.formula() == "y = 2.00 + 3.00 x \N{MINUS SIGN} 1.00 x²"
    assert found.fit() == "R² = 1.000, n = 4"


def test_points_off_the_parabola_by_hand() -> None:
    # x = -1, 0, 1 twice; y = 0, 1, 0 and 2, 1, 2. The means at each x are 1, 1, 1, so the best
    # quadratic is y = 1; the residuals are -1, 0, -1, 1, 0, 1 as are the deviations: R^2 = 0.
    x, y = np.array([-1.0, 0, 1, -1, 0, 1]), np.array([0.0, 1, 0, 2, 1, 2])
    found = quadratic_trend(x, y)
    assert found is not None
    assert [found.constant, found.linear, found.quadratic] == pytest.approx([1, 0, 0], abs=1e-12)
    assert found.r_squared == pytest.approx(0, abs=1e-12)
    assert found.n == 6


def test_its_values_are_those_of_the_formula() -> None:
    found = quadratic_trend(np.array([0.0, 1, 2, 3]), np.array([2.0, 4, 4, 2]))
    assert found is not None
    assert found.at(np.array([0.5, 4.0])) == pytest.approx([3.25, -2.0])


@given(
    st.lists(st.tuples(st.integers(0, 20), st.floats(-1000, 1000)), min_size=4, max_size=40).filter(
        lambda pairs: len({x for x, _ in pairs}) >= 3
    ),
    st.sampled_from([0.0, 1e4]),
)
def test_it_agrees_with_polyfit_whatever_the_order(
    pairs: list[tuple[int, float]], shift: float
) -> None:
    x, y = np.array([p[0] for p in pairs]) + shift, np.array([p[1] for p in pairs])
    found, backwards = quadratic_trend(x, y), quadratic_trend(x[::-1], y[::-1])
    assert found is not None
    assert found == backwards or np.isnan(found.r_squared)
    # numpy's fit is taken about the shift: polyfit itself loses digits far from 0.
    expected = np.polyval(np.polyfit(x - shift, y, 2), x - shift)
    scale = max(1.0, float(np.abs(y).max()))
    assert found.at(x) == pytest.approx(expected, abs=1e-4 * scale if shift else 1e-7 * scale)


def test_what_was_not_measured_is_left_out() -> None:
    x = np.array([0.0, 1, 2, 3, np.nan, 5])
    y = np.array([2.0, 4, 4, 2, 9, np.nan])
    found = quadratic_trend(x, y)
    assert found is not None
    assert found.n == 4


@pytest.mark.parametrize("x", [[], [1.0, 2, 3], [1.0, 1, 2, 2, 2]])
def test_too_little_gives_no_trend(x: list[float]) -> None:
    assert quadratic_trend(np.array(x), np.arange(float(len(x)))) is None


def test_a_flat_line_has_no_share_of_variance() -> None:
    found = quadratic_trend(np.array([1.0, 2, 3, 4]), np.full(4, 5.0))
    assert found is not None
    assert np.isnan(found.r_squared)
    assert found.fit() == "n = 4"


def test_shapes_that_differ_are_refused() -> None:
    with pytest.raises(DataError, match=r"\(3,\) and \(2,\)"):
        quadratic_trend(np.zeros(3), np.zeros(2))

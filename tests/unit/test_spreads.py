"""Error bars of means and of differences, against scipy and by hand."""

import numpy as np
import pytest
from scipy import stats

from data.analysis.spreads import difference_spreads, mean_spreads

A = np.array([10.0, 10.4, 9.9, 10.1])
B = np.array([12.0, 13.0, 11.0])


def of(*samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    sizes = np.array([len(s) for s in samples])
    return sizes, np.array([s.std(ddof=1) if len(s) > 1 else np.nan for s in samples])


def test_an_interval_of_a_mean_is_scipys() -> None:
    n, sd = of(A, B)
    found = mean_spreads(n, sd, is_interval=True)
    for sample, half in zip((A, B), found, strict=True):
        low, high = stats.t.interval(0.95, len(sample) - 1, 0, stats.sem(sample))
        assert half == pytest.approx((high - low) / 2)


def test_a_deviation_stays_what_it_is() -> None:
    # 11, 12, 13: squares 1, 0, 1 over 2
    assert mean_spreads(*of(B), is_interval=False) == pytest.approx([1.0])


@pytest.mark.parametrize("is_interval", [True, False])
def test_one_replicate_has_no_spread(is_interval: bool) -> None:
    one = (np.array([1, 0]), np.array([np.nan, np.nan]))
    assert np.isnan(mean_spreads(*one, is_interval)).all()
    n, sd = (np.array([4]), np.array([1])), (np.array([1.0]), np.array([np.nan]))
    assert np.isnan(difference_spreads(n, sd, is_interval)).all()


def test_an_interval_of_a_difference_is_welchs() -> None:
    (n_a, sd_a), (n_b, sd_b) = of(A), of(B)
    found = difference_spreads((n_a, n_b), (sd_a, sd_b), is_interval=True)
    expected = stats.ttest_ind(A, B, equal_var=False).confidence_interval(0.95)
    assert found == pytest.approx([(expected.high - expected.low) / 2])


def test_deviations_of_a_difference_add_in_squares() -> None:
    n, sd = (np.array([3]), np.array([5])), (np.array([3.0]), np.array([4.0]))
    assert difference_spreads(n, sd, is_interval=False) == pytest.approx([5.0])


def test_replicates_that_are_all_alike_differ_by_exactly_so_much() -> None:
    n, sd = (np.array([2]), np.array([2])), (np.zeros(1), np.zeros(1))
    assert difference_spreads(n, sd, is_interval=True).tolist() == [0.0]

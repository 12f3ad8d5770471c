"""Attainment of unpaired runs, the frontier's bands, and dominated areas."""

import itertools

import numpy as np
import pytest

from data.analysis.attainment import (
    area_ratio,
    attainment_line,
    dominated_area,
    possible_frontier,
    sure_frontier,
)
from data.analysis.noise import Estimates, Prior


def estimates(n: list[int], mean: list[float], sd: float = 0.01) -> Estimates:
    runs, prior = np.array(n), Prior(4.0, sd)
    return Estimates(runs, np.array(mean), sd**2 / runs, 4.0 + runs - 1, prior)


def attainment(
    x: np.ndarray, y: np.ndarray, setting: np.ndarray, at_x: float, at_y: float
) -> float:
    """The share of all unpaired sweeps, one run a setting, that have a run at or below a point."""
    is_there = (x <= at_x) & (y <= at_y)
    runs = [np.flatnonzero(setting == one) for one in np.unique(setting)]
    sweeps = list(itertools.product(*runs))
    return sum(is_there[list(sweep)].any() for sweep in sweeps) / len(sweeps)


@pytest.mark.parametrize("level", [0.25, 0.5, 0.75, 1.0])
def test_a_line_is_where_attainment_reaches_its_level(level: float) -> None:
    rng = np.random.default_rng(2)
    setting = np.repeat(np.arange(5), 3)
    x, y = rng.integers(0, 8, 15).astype(float), rng.integers(0, 8, 15).astype(float)
    line = attainment_line(x, y, setting, level)
    for at_x, at_y in itertools.product(range(8), range(8)):
        is_above = bool(np.any((line[:, 0] <= at_x) & (line[:, 1] <= at_y)))
        assert is_above == (attainment(x, y, setting, at_x, at_y) >= level - 1e-12), (at_x, at_y)
    assert (np.diff(line[:, 0]) > 0).all()
    assert (np.diff(line[:, 1]) < 0).all()


def test_no_runs_no_line() -> None:
    empty = np.array([])
    assert attainment_line(empty, empty, np.array([], int), 0.5).shape == (0, 2)


def test_area_of_three_steps() -> None:
    # (1,3) (2,2) (3,1) below (4,4): 1 + 2 + 3 squares.
    x, y = np.array([3.0, 1.0, 2.0]), np.array([1.0, 3.0, 2.0])
    assert dominated_area(x, y, (4.0, 4.0)) == 6
    assert dominated_area(x + 9, y, (4.0, 4.0)) == 0
    assert dominated_area(np.array([[1.0], [3.0]]), np.array([[3.0], [3.0]]), (4.0, 4.0)).tolist() \
        == [3, 1]  # fmt: skip


def test_the_sure_frontier_lies_behind_the_means_and_the_possible_one_before() -> None:
    x, y = estimates([3, 3, 1], [0.0, 1.0, -1.0]), estimates([3, 3, 1], [1.0, 0.0, 2.0])
    sure, possible = sure_frontier(x, y), possible_frontier(x, y)
    assert len(sure) == 2  # the setting with one run proves nothing
    assert (sure > np.array([[0.0, 1.0], [1.0, 0.0]])).all()
    assert len(possible) == 3
    assert (possible < np.array([[-1.0, 2.0], [0.0, 1.0], [1.0, 0.0]])).all()


def test_ratio_of_areas_and_its_interval() -> None:
    a = (estimates([3, 3], [0.0, 0.5]), estimates([3, 3], [0.5, 0.0]))
    b = (estimates([3], [0.6]), estimates([3], [0.6]))
    found = area_ratio(a, b, seed=1)
    edge = 0.6 + np.log(1.05)
    assert found.reference == pytest.approx((edge, edge))
    areas = (edge - 0) * (edge - 0.5) + (edge - 0.5) * (0.5 - 0), (edge - 0.6) ** 2
    assert found.areas == pytest.approx(areas)
    assert found.low < found.estimate < found.high
    assert found == area_ratio(a, b, seed=1)


def test_a_limit_is_the_reference_and_may_leave_nothing() -> None:
    a = (estimates([3], [0.0]), estimates([3], [0.0]))
    b = (estimates([3], [2.0]), estimates([3], [0.0]))
    found = area_ratio(a, b, seed=1, limits=(1.0, None))
    assert found.reference[0] == 1.0
    assert np.isnan([found.estimate, found.low, found.high]).all()

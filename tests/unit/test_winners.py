"""Best performance, lowest energy and best product of each group."""

import numpy as np

from data.analysis.pareto import find_winners

NAN = float("nan")


def test_each_group_has_winners_of_its_own() -> None:
    group = np.array([0, 1, 0, 1, 0])
    performance = np.array([9.0, 5.0, 3.0, 6.0, 4.0])
    energy_j = np.array([1.0, 8.0, 7.0, 2.0, 5.0])
    product = performance * energy_j  # 9 40 21 12 20
    winners = find_winners(group, performance, energy_j, product)
    assert winners[0].indices() == [2, 0, 0]
    assert winners[1].indices() == [1, 3, 3]


def test_what_was_not_measured_cannot_win() -> None:
    found = find_winners(
        np.array([0, 0]), np.array([NAN, 4.0]), np.array([NAN, NAN]), np.array([2.0, NAN])
    )
    assert (found[0].performance, found[0].energy, found[0].edp) == (1, None, 0)
    assert found[0].indices() == [1, 0]


def test_of_equal_values_the_first_wins() -> None:
    same = np.array([2.0, 1.0, 1.0])
    assert find_winners(np.zeros(3, dtype=int), same, same, same)[0].indices() == [1, 1, 1]


def test_no_points_no_winners() -> None:
    nothing = np.array([])
    assert find_winners(nothing.astype(int), nothing, nothing, nothing) == {}

"""The best point of each system in performance, in energy and in energy-delay product."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Winners:
    """Indices of the best points of one system; None where no point has the value."""

    performance: int | None
    energy: int | None
    edp: int | None

    def indices(self) -> list[int]:
        """Return the indices that exist, in the order performance, energy, product."""
        return [i for i in (self.performance, self.energy, self.edp) if i is not None]


def find_winners(
    group: np.ndarray, performance: np.ndarray, energy_j: np.ndarray, edp_js: np.ndarray
) -> dict[int, Winners]:
    """Find each group's lowest value of the three metrics; less is better in each.

    Args:
        group: Group number of each point, integers, shape (n,).
        performance: Performance metric of each point, shape (n,); NaN where not measured.
        energy_j: Joules of each point, shape (n,); NaN where not measured.
        edp_js: Energy-delay product of each point, J s, shape (n,); NaN where not measured.

    Returns:
        Winners by group number. Of equal values the first point wins.
    """
    winners = {}
    for number in np.unique(group):
        members = np.flatnonzero(group == number)
        winners[int(number)] = Winners(
            *(_lowest(values, members) for values in (performance, energy_j, edp_js))
        )
    return winners


def _lowest(values: np.ndarray, members: np.ndarray) -> int | None:
    own = values[members]
    if np.isnan(own).all():
        return None
    return int(members[np.nanargmin(own)])

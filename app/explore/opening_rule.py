"""What Explore opens with: the pair of metrics and the knobs that most of the chosen runs have."""

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

NONE: Final = "none"
# Along y, the first that at least half of the runs have; else whatever most of them have.
_COSTS: Final = ("energy_j", "power_w")
# Values of the measurement itself, which nobody looks at first.
_LAST: Final = frozenset({"start_unix_s", "energy_uncertainty_j", "power_readings", "duration_s"})


class Roles(NamedTuple):
    """Names of knobs, or `none`."""

    colour: str = "dvfs"
    size: str = "itr"
    symbol: str = "system"


def choose_cost(counts: Mapping[str, int], runs: int, x: str) -> str:
    """Choose the metric along y: energy, then power, then what most runs have.

    Args:
        counts: How many of the chosen runs have a value along x and in each metric, in the order
            in which metrics are listed.
        runs: How many have one along x.
        x: The metric along x.
    """
    for name in _COSTS:
        if name != x and runs and 2 * counts.get(name, 0) >= runs:
            return name
    return _commonest(counts, x) or "energy_j"


def choose_performance(counts: Mapping[str, int], performance: str) -> str:
    """Choose the metric along x: the performance metric if any run has it, else the commonest."""
    if counts.get(performance):
        return performance
    return _commonest(counts, "energy_j") or performance


def _commonest(counts: Mapping[str, int], other: str) -> str | None:
    left = {name: n for name, n in counts.items() if n and name != other}
    return max(left, key=lambda name: (name not in _LAST, left[name]), default=None)


def choose_roles(values: Mapping[str, int], numbers: Collection[str]) -> Roles:
    """Choose the knobs of colour, size and symbol.

    DVFS, ITR and system have theirs where they vary. A role that is free goes to the knob with the
    most values that has none yet; one value is no difference, so such a knob has no role.

    Args:
        values: How many values each knob has in the chosen runs, NULL among them, in menu order.
        numbers: Knobs whose values are numbers, which alone can be a size.
    """
    varying = {name: n for name, n in values.items() if n > 1}
    chosen = {role: name for role, name in Roles()._asdict().items() if name in varying}
    for role in ("symbol", "colour", "size"):
        free = [n for n in varying if n not in chosen.values() and n not in Roles()]
        free = [name for name in free if role != "size" or name in numbers]
        if role not in chosen:
            chosen[role] = max(free, key=lambda name: varying[name], default=NONE)
    return Roles(**chosen)

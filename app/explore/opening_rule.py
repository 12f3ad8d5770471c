"""What Explore opens with: the knobs of colour, size and symbol that tell the chosen runs apart."""

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

NONE: Final = "none"
# More values than this have no symbol each.
_MOST_SYMBOLS: Final = 6


class Roles(NamedTuple):
    """Names of knobs, or `none`."""

    colour: str = "dvfs"
    size: str = "itr"
    symbol: str = "system"


# Where the knob of a role does not vary, the first of these that varies and is free takes the role.
_SECOND: Final = {"symbol": ("machine",), "colour": ("mode", "machine")}


def choose_roles(values: Mapping[str, int], numbers: Collection[str]) -> Roles:
    """Choose the knobs of colour, size and symbol.

    DVFS, ITR and system have theirs where they vary; then the completion mode has a colour, and the
    machine a symbol, else a colour. A role that is free goes to the knob with the most values that
    has none yet: a symbol to names before numbers, and to six values at most. One value is no
    difference, so such a knob has no role.

    Args:
        values: How many values each knob has in the chosen runs, NULL among them, in menu order.
        numbers: Knobs whose values are numbers, which alone can be a size.
    """
    varying = {name: n for name, n in values.items() if n > 1}
    chosen = {role: name for role, name in Roles()._asdict().items() if name in varying}
    for role, names in _SECOND.items():
        free = [name for name in names if name in varying and name not in chosen.values()]
        if role not in chosen and free:
            chosen[role] = free[0]
    for role in ("symbol", "colour", "size"):
        free = [n for n in varying if n not in chosen.values() and n not in Roles()]
        if role == "symbol":
            few = [name for name in free if varying[name] <= _MOST_SYMBOLS]
            free = [name for name in few if name not in numbers] or few
        if role == "size":
            free = [name for name in free if name in numbers]
        if role not in chosen:
            chosen[role] = max(free, key=lambda name: varying[name], default=NONE)
    return Roles(**chosen)


def choose_heat(values: Mapping[str, int]) -> tuple[str, str]:
    """Choose the knobs of the heatmap along x and y: ITR and DVFS, then those with most values.

    Args:
        values: As `choose_roles`; knobs without any value have 0.
    """
    usual, last = ("itr", "dvfs"), ("dataset", "workload")
    ranked = sorted(
        (name for name in values if name != "system"),
        key=lambda name: (values[name] > 1, name in usual, name not in last, values[name]),
        reverse=True,
    )
    known = [name for name in ranked if values[name] > 0]
    x, y = [*dict.fromkeys((*known, *usual))][:2]
    return (x, y) if x != "dvfs" or y != "itr" else (y, x)

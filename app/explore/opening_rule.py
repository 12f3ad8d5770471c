"""The knobs of colour, size, symbol and heatmap with which Explore opens, and what makes a pair."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, NamedTuple

from app.kit.panels import NONE
from data.metrics import Metric
from data.units import kind_of

# A knob with more values cannot be a symbol; with more names than hues can tell apart, no colour.
_MOST_SYMBOLS: Final = 6
_MOST_NAMES: Final = 20


class Roles(NamedTuple):
    """Names of knobs, or `none`."""

    colour: str = "dvfs"
    size: str = "itr"
    symbol: str = "system"


# Role to its knobs if the usual knob does not vary: the first that varies and has no role.
_SECOND: Final = {"symbol": ("machine",), "colour": ("mode", "machine")}


def choose_roles(
    values: Mapping[str, int], numbers: Collection[str], telling: Collection[str] = ()
) -> Roles:
    """Choose the knobs of colour, size and symbol.

    DVFS, ITR and system have their usual roles if they vary. Next, the completion mode gets the
    colour, and the machine the symbol or else the colour. Each role that is still free gets the
    knob with the most values among those without a role: for the symbol one with at most six
    values, names before numbers, and no number that the colour then lacks; for the size a number.
    A knob with one value, or with more than 20 names, gets no role. What tells most of the picture
    comes first.

    Args:
        values: Number of values of each knob in the chosen runs, NULL included, in menu order.
        numbers: Knobs whose values are numbers.
        telling: The setting that tells most of the picture, if one does.
    """
    varying = {
        name: n for name, n in values.items() if n > 1 and (name in numbers or n <= _MOST_NAMES)
    }
    chosen = {role: name for role, name in Roles()._asdict().items() if name in varying}
    for role, names in _SECOND.items():
        free = [name for name in names if name in varying and name not in chosen.values()]
        if role not in chosen and free:
            chosen[role] = free[0]
    for role in ("symbol", "colour", "size"):
        free = [n for n in varying if n not in chosen.values() and n not in Roles()]
        if role == "symbol":
            few = [name for name in free if varying[name] <= _MOST_SYMBOLS]
            few = [name for name in few if name in telling] or few
            is_spare = len(free) > 1 or "colour" in chosen
            free = [name for name in few if name not in numbers] or (few if is_spare else [])
        if role == "size":
            free = [name for name in free if name in numbers]
        if role not in chosen:
            rank = lambda name: (name in telling, varying[name])  # noqa: E731
            chosen[role] = max(free, key=rank, default=NONE)
    return Roles(**chosen)


def choose_heat(
    values: Mapping[str, int], items: Collection[str] = (), telling: Collection[str] = ()
) -> tuple[str, str]:
    """Choose the knobs of the heatmap along x and y: ITR and DVFS, then those with most values.

    Args:
        values, telling: As in `choose_roles`; 0 for knobs without any value.
        items: Programs, inputs and the like: one at most, beside something that was set.
    """
    usual, last = ("itr", "dvfs"), ("dataset", "workload", "work")
    ranked = sorted(
        (name for name in values if name != "system"),
        key=lambda name: (
            values[name] > 1,
            name in usual,
            name not in last,
            name in telling,
            values[name],
        ),
        reverse=True,
    )
    known = [name for name in ranked if values[name] > 0]
    x, y, *others = dict.fromkeys((*known, *usual))
    if x in items and y in items:
        y = next((name for name in others if name not in items and values.get(name, 0) > 1), y)
    return (x, y) if x != "dvfs" or y != "itr" else (y, x)


_ENERGIES: Final = ("J", "Wh")
# Values of which the largest is so many times the least are drawn on a logarithmic axis.
_DECADES: Final = 100.0


class Pair(NamedTuple):
    """What is known of the metrics along x and y.

    Attributes:
        x_runs: Runs with the metric along x.
        y_runs: Runs with the metric along y.
        both_runs: Runs with both.
        is_alike: Whether they make no picture; see `are_alike`.
        is_spare: Whether y is no cost and was not asked for, and x has a direction.
    """

    x_runs: int
    y_runs: int
    both_runs: int
    is_alike: bool
    is_spare: bool


# Which metrics stand over what was set, instead of against each other, and how many of them at
# most: the first case that holds.
_OVER_SETTINGS: Final[tuple[tuple[Callable[[Pair], bool], str, int], ...]] = (
    # The metric along y tells nothing beside the other, which then takes its axis.
    (lambda pair: pair.is_spare and (pair.is_alike or 2 * pair.y_runs <= pair.x_runs), "x", 1),
    (lambda pair: pair.is_alike, "yx", 1),
    # Few of the runs with the metric along y would be drawn.
    (lambda pair: 1 < pair.both_runs < 0.5 * pair.y_runs, "y", 1),
    (lambda pair: pair.both_runs > 1, "", 0),
    # Measured in different runs.
    (lambda _: True, "yx", 2),
)


def choose_over_settings(pair: Pair) -> tuple[str, int]:
    """Return the axes whose metrics stand over what was set, and how many at most.

    Returns:
        `x` where y is left out, `yx`, or empty for two metrics that are drawn against each other.
    """
    return next((axes, most) for holds, axes, most in _OVER_SETTINGS if holds(pair))


def are_alike(x: Metric, y: Metric) -> bool:
    """Return whether two metrics make no picture: of one kind, or both without a direction.

    Nor does a product of energy and delay beside one of its factors, a power beside its energy, or
    the energy of a run beside that of an item.
    """
    if x.name in (y.name, "edp_js") or {x.name, y.name} == {"energy_j", "power_w"}:
        return True
    if not (x.better or y.better):
        return True
    # Two shares or changes in percent are of one kind only by their unit.
    is_same = x.unit not in ("", "%") and kind_of(x.unit) == kind_of(y.unit)
    return is_same or all(metric.unit.partition("/")[0].endswith(_ENERGIES) for metric in (x, y))


def is_energy_of_item(metric: Metric) -> bool:
    """Return whether a metric is the energy of one item of the work: J/token."""
    energy, _, item = metric.unit.partition("/")
    return bool(item) and energy.endswith(_ENERGIES)


def wants_logs(lows: Sequence[float], highs: Sequence[float]) -> list[bool]:
    """Return which axes of a picture are logarithmic: of values over two decades, all above 0.

    So is the axis beside such a one whose values are over one decade: lines of power laws stay
    straight.
    """
    spans = [high / low if low > 0 else 0.0 for low, high in zip(lows, highs, strict=True)]
    return [span >= (10.0 if max(spans) >= _DECADES else _DECADES) for span in spans]


def is_energy_over_time(x: Metric, y: Metric) -> bool:
    """Return whether one metric is an energy and the other a time: a picture, whatever they are."""
    return {kind_of(x.unit), kind_of(y.unit)} <= {"J", "s"}

"""Lists of samples in an object: a list of rising times beside lists of powers or energies.

{"time_s": [0.0, 0.5, ...], "power_w": [40.1, 41.3, ...]}
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

import numpy as np

from ingest.settings.column_names import WORDS
from ingest.settings.heading_words import words_of
from ingest.settings.headings import is_setting, quantity_of, read_heading

# Steps of a sampler: this share is within these bounds of the median.
EVEN_SHARE: Final = 0.8
_OF_SAMPLERS: Final = (0.3, 3.0)
# Fewer rising times may be those of replicates.
_LEAST: Final = 6
# Numbers of samples are no settings.
_NUMBERS: Final = WORDS["replicates"] | WORDS["samples"] | {"epoch"}
_CLOCKS: Final = frozenset({"time", "timestamp", "elapsed", "t", "ts", "epoch", "datetime"})
_BESIDE: Final = WORDS["beside_clocks"]
# Samples of energy are seldom so far apart.
_RUN_S: Final = 2.0
# Lists have names in the plural, or say that they are lists: `timestamps`, `power_samples`.
_PLURAL: Final = re.compile(
    r"(?i)(time|stamp|power|temperature|frequenc|energ)(?:s|(ies))(?![a-z])"
)
_LIST: Final = re.compile(r"(?i)[ _-]?(?:samples|readings|values|list|series|history)(?![a-z])")
# Least of a number of ns, us, ms since 1970.
_EPOCHS: Final = ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3))
_LEAST_UNIX_S: Final = 1e8
# Whole numbers of times without a unit in such steps are ms.
_LARGE_STEP: Final = 90

Cell = str | float | int | None


def share_of_even(steps: np.ndarray, least: float, most: float) -> float:
    """Return the share of steps that are from `least` to `most` times the median one."""
    usual = float(np.median(steps))
    return float(((steps >= least * usual) & (steps <= most * usual)).mean())


def is_sampler(steps: np.ndarray) -> bool:
    """Return whether steps are those of a sampler."""
    return share_of_even(steps, *_OF_SAMPLERS) >= EVEN_SHARE


@dataclass(frozen=True, slots=True)
class Samples:
    """Samples of one run.

    Attributes:
        dt_s: Length of the step before each sample; the first is as long as the median.
        columns: The numbers of the other columns, shape (n,), NaN where there is none.
    """

    dt_s: np.ndarray
    columns: Mapping[str, np.ndarray]


def samples_of(columns: Mapping[str, Sequence[object]]) -> Samples | None:
    """Return the samples that columns of one length are; None where rows may be runs.

    Times rise in even steps, a power or an energy was read, and nothing was set from row to row. A
    row that says how long it took is a run; energies alone may be of runs that begin one after the
    other, unless they rise or stand close together.
    """
    clock = next(filter(is_clock, columns), "")
    if not clock or len(columns[clock]) < _LEAST:
        return None
    quantities = [_quantity(name) for name in columns if name != clock]
    if "time" in quantities or not {"power", "energy"}.intersection(quantities):
        return None
    for name, cells in columns.items():
        if is_setting(name) and _NUMBERS.isdisjoint(words_of(name)) and len({*cells}) > 1:
            return None
    times = _times(clock, columns[clock])
    steps = np.diff(times)
    if np.isnan(times).any() or (steps < 0).any() or (usual := float(np.median(steps))) <= 0:
        return None
    if _are_durations(clock, times, usual):
        return None
    if not is_sampler(steps):
        return None
    others = {name: _numbers(cells) for name, cells in columns.items() if name != clock}
    are_totals = (np.diff(c) >= 0 for n, c in others.items() if _quantity(n) == "energy")
    if "power" not in quantities and usual >= _RUN_S and not all(map(np.all, are_totals)):
        return None
    return Samples(np.append(usual, steps), others)


@lru_cache(maxsize=4096)
def is_clock(name: str) -> bool:
    """Return whether a name is of the times of samples."""
    words = {*read_heading(name).words} or {*words_of(name)}
    return bool(words & _CLOCKS) and words <= _CLOCKS | _BESIDE


def _are_durations(name: str, times: np.ndarray, step_s: float) -> bool:
    """Return whether rising times may be durations of runs: those of samples begin at 0, or since
    1970. A sorted list of replicates and one of a sweep begin elsewhere.
    """
    is_plain = {*read_heading(name).words} <= {"time", "seconds", "sec", "s", "ms"}
    return bool(is_plain and 1.5 * step_s < times[0] < _LEAST_UNIX_S)


def singular(name: str) -> str:
    """Return the name of what each item of a list is: `power_w` for `power_samples_w`."""
    bare = _LIST.sub("", name) or name
    return _PLURAL.sub(lambda found: found[1] + ("y" if found[2] else ""), bare)


def take_samples(cells: dict[str, Cell], lists: dict[str, list[float]]) -> None:
    """Put the duration, the energies and the means of samples in the place of their lists.

    Args:
        cells: Those of the object, which are added to.
        lists: Its lists by name, of which those of samples are left out.
    """
    groups: dict[tuple[str, int], list[str]] = defaultdict(list)
    for name, series in lists.items():
        groups[name.rpartition(".")[0], len(series)].append(name)
    for (start, _), names in groups.items():
        inner = {singular(name.rpartition(".")[2]): name for name in names}
        samples = samples_of({own: lists[name] for own, name in inner.items()})
        if samples is None:
            continue
        for own, value in _totals(samples).items():
            cells.setdefault(f"{start}.{own}".lstrip("."), value)
        for name in names:
            del lists[name]


def _totals(samples: Samples) -> dict[str, Cell]:
    """Return what the samples of a run are together, by the headings of its columns.

    A running total begins at the first sample; the first power stands for the step before it. A
    total that falls is left out.
    """
    dt_s = samples.dt_s
    has_power = any(_quantity(name) == "power" for name in samples.columns)
    values: dict[str, Cell] = {"duration_s": float((dt_s if has_power else dt_s[1:]).sum())}
    for name, numbers in samples.columns.items():
        is_known = ~np.isnan(numbers)
        steps = np.diff(numbers[is_known])
        if not is_known.any():
            continue
        if _quantity(name) != "energy":
            values[f"{name}_mean"] = float(np.average(numbers[is_known], weights=dt_s[is_known]))
        elif len(steps) and (steps >= 0).all():
            values[name] = float(steps.sum())
        elif (steps >= 0).mean() < EVEN_SHARE:
            values[name] = float(numbers[is_known].sum())
    return values


def are_moments(columns: Mapping[str, Sequence[object]]) -> bool:
    """Return whether rows are of moments of one run: dates that do not fall, and no result of one.

    A row that says how long it took, or how much of anything it did or needed, may be a run.
    """
    clock = next(filter(is_clock, columns), "")
    quantities = {_quantity(name) for name in columns if name != clock}
    if not clock or not quantities.isdisjoint({"time", "rate", "energy", "power", "price"}):
        return False
    times = _times(clock, columns[clock])
    return bool((times >= _LEAST_UNIX_S).all() and (np.diff(times) >= 0).all())


def _times(name: str, cells: Sequence[object]) -> np.ndarray:
    """Return times in s since any moment."""
    if all(isinstance(cell, str) for cell in cells):
        return np.array([_unix_s(str(cell)) for cell in cells])
    times, unit = _numbers(cells), read_heading(name).unit
    scale = next((scale for least, scale in _EPOCHS if times[0] >= least), 1.0)
    if unit is not None and unit.quantity == "time":
        scale = unit.scale
    elif scale == 1.0 and np.median(np.diff(times)) >= _LARGE_STEP and not (times % 1).any():
        scale = 1e-3
    return times * scale


def _unix_s(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return np.nan
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


@lru_cache(maxsize=4096)
def _quantity(name: str) -> str:
    return quantity_of(read_heading(name))


def _numbers(cells: Sequence[object]) -> np.ndarray:
    is_number = [isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells]
    pairs = zip(cells, is_number, strict=True)
    return np.array([cell if is_it else np.nan for cell, is_it in pairs], np.float64)

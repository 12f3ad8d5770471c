"""Whether a text is a trace: a column of times that rises at even steps, and what is measured."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise, product
from typing import Final

import numpy as np

from ingest.formats.json_samples import is_sampler
from ingest.formats.trace_cells import is_number, number_text
from ingest.formats.trace_counters import are_products, is_running_total
from ingest.formats.trace_headings import Heading, words_of
from ingest.formats.trace_layout import Layout
from ingest.formats.trace_quantities import numbers_of, read_headings
from ingest.formats.trace_times import read_times
from ingest.records import ProblemList
from ingest.settings.column_names import WORDS

# The least samples that are a trace: more where nothing is a power or an energy.
_LEAST_SAMPLES: Final = {True: 6, False: 20}
# A longer step is a gap, in which nothing was measured.
_LONGEST_STEPS: Final = 5.0
_UNTOLD_S: Final = 1.0
_MOST_DEVICES: Final = 256
# Samples of several devices are so near, as a share of the longest step.
_SAME_TIME: Final = 0.1
# What is set before a run, and what a run took: share of the step from row to row.
_SET: Final = (WORDS["set"] | WORDS["given"]) - {
    "device", "interval", "ratio", "percentage", "name",
}  # fmt: skip
_TOOK: Final = frozenset(
    {"duration", "runtime", "execution", "exec", "elapsed", "makespan", "took"}
)
# What an answer took, beside the energy that it took.
_ANSWERED: Final = (_TOOK - {"elapsed"}) | {"latency", "ttft", "tpot"}
# Steps that a file says and those of its times differ by this share at most, or by one step.
_AGREEING: Final = 0.05
_FILLED: Final = (0.2, 1.1)
# A clock begins in fewer steps from 0, or in more.
_FIRST: Final = (3.0, 1e4)
# Samples are seldom so far apart.
RUN_S: Final = 2.0
# Texts of states, such as `P0`, are this share of the rows at most.
_MOST_TEXTS: Final = 0.2
# A second clock, such as the machine's time since its start.
_CLOCK: Final = re.compile(r"(?:\d+ days?,? )?\d+:\d\d(?::\d\d)?(?:\.\d+)?")
# Energies of so many runs do not rise by chance.
_SEVERAL: Final = 8
# Whole numbers of times without a unit in such steps are ms.
_LARGE_STEP: Final = 90


@dataclass(slots=True)
class Trace:
    """A trace whose columns are known.

    Attributes:
        layout: Its cells.
        headings: What each column is.
        end_s: End of the step of each sample, seconds since the first step began, shape (n,).
        dt_s: Length of that step, shape (n,); 0 for a sample that begins a device's trace.
        device: Number of the device of each sample, shape (n,).
        start_unix_s: When the first step began; None if there is no date.
        lost_s: Length of gaps, in which no step is.
        is_timed: Whether the file says the times.
    """

    layout: Layout
    headings: list[Heading]
    end_s: np.ndarray
    dt_s: np.ndarray
    device: np.ndarray
    start_unix_s: float | None
    lost_s: float
    is_timed: bool
    problems: ProblemList = field(default_factory=ProblemList)

    @property
    def has_energy(self) -> bool:
        """Whether a column is a power or an energy."""
        return any(each.quantity in ("power", "energy") for each in self.headings)


def trace_of(layout: Layout, name: str = "", is_known: bool = False) -> Trace | None:
    """Return the trace in some cells; None if they are none.

    Args:
        is_known: Whether it is one however few samples it has.
    """
    if not layout.columns:
        return None
    headings = read_headings(layout, name)
    if headings is None:
        return None
    device = _devices(layout, headings)
    if device is None and layout.is_named:
        device = np.zeros(len(layout.lines), np.int32)
    times = _times(layout, headings)
    if times is None:
        if device is None or not layout.headings[0] or not any(h.has_unit for h in headings):
            return None
        took = any(_TOOK.intersection(words_of(heading)) for heading in layout.headings)
        if took or any(each.quantity == "time" for each in headings):
            # Times that do not rise are how long runs took.
            return None
        times = np.arange(len(device)) // (device.max() + 1) * _UNTOLD_S, None
        is_timed = False
    else:
        is_timed = True
    if _has_runs(layout, headings, times):
        return None
    choices = (device,) if device is not None else _rounds(times[0])
    steps = (_stepped(layout, headings, times, each, is_timed) for each in choices)
    trace = _with_no_step_before(layout, headings, times) or next(filter(None, steps), None)
    if trace is not None and layout.is_of_board and not _are_durations(layout, headings):
        return trace
    if trace is None or trace.dt_s.size < _LEAST_SAMPLES[trace.has_energy]:
        few = _counted(layout, headings, times) or _by_deltas(layout, headings, times)
        return few or (trace if is_known else None)
    devices = int(trace.device.max()) + 1
    if not _has_own_texts(layout, headings, devices):
        return None
    is_long = trace.dt_s.size >= _LEAST_SAMPLES[trace.has_energy] * devices
    return trace if is_long or is_known else None


def _times(layout: Layout, headings: Sequence[Heading]) -> tuple[np.ndarray, float | None] | None:
    """Return the first column of times that rises, and its date."""
    dates = [at for at, each in enumerate(headings) if each.quantity == "date"]
    for at, each in enumerate(headings):
        if each.quantity not in ("time", "date"):
            continue
        texts = layout.columns[at]
        if each.quantity == "time" and dates:
            texts = [f"{d} {t}" for d, t in zip(layout.columns[dates[0]], texts, strict=True)]
        times = read_times(texts, each.scale, each.has_unit)
        if times is not None and not each.has_unit and times[1] is None:
            times = _in_seconds(layout, at, times[0]), None
        if times is not None and _is_rising(times[0]):
            return times
    for at, each in enumerate(headings):
        if each.quantity == "delta":
            steps = numbers_of(layout, at)
            if (steps > 0).all():
                scale = each.scale if each.has_unit else 1e-3 if np.median(steps) > 20 else 1.0
                return np.cumsum(steps * scale), None
    return None


def _in_seconds(layout: Layout, at: int, times: np.ndarray) -> np.ndarray:
    """Return times without a unit in s: whole numbers in large steps are ms."""
    steps = np.diff(times[~np.isnan(times)])
    is_whole = bool(len(steps)) and not np.any(steps % 1)
    if not is_whole or np.median(steps) < _LARGE_STEP:
        return times
    layout.doubts.append(f"{layout.headings[at]} without a unit is taken as ms")
    return times * 1e-3


def _has_runs(
    layout: Layout, headings: Sequence[Heading], times: tuple[np.ndarray, float | None]
) -> bool:
    """Return whether the rows are runs with the times of their begins.

    A row says how long it took, about as long as to the next one; or which run it is of and how
    long that has taken so far, as a tracker that is flushed does; or something that is set before a
    run changes: a name, or a number where rows are some seconds apart. A latency and an energy
    that is no running total are of a run too, whatever the steps between the rows, and so is an
    energy that is a power times a time of the row.
    """
    if _have_own_costs(layout, headings) or _have_own_energies(layout, headings):
        return True
    times_s, start_unix_s = times
    runs = next((c for h, c in zip(layout.headings, layout.columns, strict=True)
                 if words_of(h) == ["run", "id"]), None)  # fmt: skip
    usual_s = float(np.median(np.diff(times_s[~np.isnan(times_s)])))
    is_clock = start_unix_s is not None or not _are_durations(layout, headings)
    for heading, cells in zip(layout.headings, layout.columns, strict=True):
        *_, last = words_of(heading) or [""]
        values = set(cells)
        is_number_column = all(map(is_number, cells))
        if _TOOK.intersection(words_of(heading)) and is_number_column:
            took = np.array([float(number_text(cell)) for cell in cells])
            low_s, high_s = (share * usual_s for share in _FILLED)
            # A tracker begins again in each run.
            own = runs if "duration" in words_of(heading) else None
            stays = np.array([a == b for a, b in pairwise(own or ())])
            is_rising = _is_rising(took) or bool(own and np.all(np.diff(took)[stays] >= 0))
            if own is not None if is_rising else low_s < np.nanmedian(took) < high_s:
                return True
        recurs = 1 < len(values) <= len(cells) / 2
        # Several runs stand one below the other, each with its samples.
        changes = sum(one != other for one, other in pairwise(cells))
        are_stretches = is_clock and changes + 1 <= len(cells) / _LEAST_SAMPLES[True]
        recurs &= usual_s >= RUN_S or not are_stretches
        if recurs and last in _SET and (not is_number_column or usual_s >= RUN_S):
            return True
    return False


def _have_own_costs(layout: Layout, headings: Sequence[Heading]) -> bool:
    """Return whether each row says how long something took, and its energy."""
    are_times = are_energies = False
    for at, (text, each) in enumerate(zip(layout.headings, headings, strict=True)):
        if each.quantity not in ("", "energy") or not all(map(is_number, layout.columns[at])):
            continue
        if len({*layout.columns[at]}) == 1 or is_running_total(numbers := numbers_of(layout, at)):
            continue
        are_energies |= each.quantity == "energy" and bool((numbers > 0).all())
        are_times |= not each.quantity and not _ANSWERED.isdisjoint(words_of(text))
    return are_times and are_energies


def _have_own_energies(layout: Layout, headings: Sequence[Heading]) -> bool:
    """Return whether the energy of nearly each row is its power times its time, in some units.

    A time that rises or stays is a clock or a step of samples.
    """
    of: dict[str, list[np.ndarray]] = {"time": [], "power": [], "energy": []}
    for at, (text, each) in enumerate(zip(layout.headings, headings, strict=True)):
        is_took = not each.quantity and not _ANSWERED.isdisjoint(words_of(text))
        quantity = "time" if is_took else each.quantity
        if quantity in of and all(map(is_number, layout.columns[at])):
            of[quantity].append(numbers_of(layout, at))
    of["time"] = [each for each in of["time"] if np.ptp(each) > 0 and not _is_rising(each)]
    return any(are_products(*each) for each in product(of["energy"], of["power"], of["time"]))


def _are_durations(layout: Layout, headings: Sequence[Heading]) -> bool:
    """Return whether times are how long runs took: clocks begin near 0, or at any large number."""
    at = next((at for at, each in enumerate(headings) if each.quantity == "time"), None)
    if at is None or not all(map(is_number, layout.columns[at])):
        return False
    numbers = numbers_of(layout, at)
    least, most = (steps * float(np.median(np.diff(numbers))) for steps in _FIRST)
    return least < numbers[0] < most


def _is_rising(times_s: np.ndarray) -> bool:
    known = times_s[~np.isnan(times_s)]
    if len(known) < 2 or len(known) < 0.9 * len(times_s):
        return False
    steps = np.diff(known)
    return bool((steps >= 0).mean() > 0.99 and known[-1] > known[0])


def _devices(layout: Layout, headings: Sequence[Heading]) -> np.ndarray | None:
    """Return the number of the device of each row; None if no column cycles through devices."""
    for at, each in enumerate(headings):
        cells = layout.columns[at]
        names = list(dict.fromkeys(islice(cells, _MOST_DEVICES + 1)))
        count = len(names)
        is_cycle = 1 < count <= _MOST_DEVICES and cells[count:] == cells[:-count]
        if each.quantity == "device" and is_cycle:
            numbers = {name: number for number, name in enumerate(names)}
            return np.array([numbers[cell] for cell in cells], np.int32)
    single = any(
        each.quantity == "device" and len(set(cells)) == 1
        for each, cells in zip(headings, layout.columns, strict=True)
    )
    return np.zeros(len(layout.lines), np.int32) if single else None


def _rounds(times_s: np.ndarray) -> Iterator[np.ndarray]:
    """Yield numbers of the device of each row that no column names: one device, then several.

    Samples of all devices are taken at nearly one time, and then again after a step.
    """
    yield np.zeros(len(times_s), np.int32)
    steps = np.diff(times_s)
    if not len(steps) or np.isnan(steps).any() or steps.max() <= 0:
        return
    begins = np.flatnonzero(np.append(True, steps > _SAME_TIME * steps.max()))
    sizes = np.diff(np.append(begins, len(times_s)))
    count = int(sizes[0])
    # The last round may be cut.
    if 1 < count <= _MOST_DEVICES and (sizes[:-1] == count).all() and sizes[-1] <= count:
        yield (np.arange(len(times_s)) % count).astype(np.int32)


def _with_no_step_before(
    layout: Layout, headings: list[Heading], times: tuple[np.ndarray, float | None]
) -> Trace | None:
    """Return the trace of powers whose file says that no step is before the first sample."""
    deltas = [numbers_of(layout, at) for at, h in enumerate(headings) if h.quantity == "delta"]
    is_first = len(deltas) == 1 and deltas[0][0] == 0 and not _is_counted(layout, headings)
    return _by_deltas(layout, headings, times) if is_first else None


def _by_deltas(
    layout: Layout, headings: list[Heading], times: tuple[np.ndarray, float | None]
) -> Trace | None:
    """Return the trace of samples whose file says the steps too; None for others."""
    times_s, start_unix_s = times
    whole_s = float(times_s[-1] - times_s[0])
    for at, each in enumerate(headings):
        if each.quantity == "delta" and start_unix_s is not None:
            deltas = numbers_of(layout, at)
            scale = each.scale if each.has_unit else 1e-3
            most_s = max(_AGREEING * whole_s, float(deltas[1:].min()) * scale)
            if abs(deltas[1:].sum() * scale - whole_s) <= most_s:
                # Each sample is of the time around it.
                middles_s = (times_s[1:] + times_s[:-1]) / 2
                ends_s = np.append(middles_s, times_s[-1]) - times_s[0]
                steps_s = np.diff(ends_s, prepend=0.0)
                device = np.zeros(len(times_s), np.int32)
                return Trace(layout, headings, ends_s, steps_s, device, start_unix_s, 0.0, True)
    return None


def _counted(
    layout: Layout, headings: list[Heading], times: tuple[np.ndarray, float | None]
) -> Trace | None:
    """Return the trace of few or uneven samples of running totals of energy; None for others.

    Such a total begins at the time 0, or at any number and grows by less, or has several samples.
    Columns of what was set and of what a run took are of rows that are runs.
    """
    times_s, start_unix_s = times
    is_known = any(h.quantity == "time" and float(number_text(c[0])) == 0
                   for h, c in zip(headings, layout.columns, strict=True))  # fmt: skip
    is_known |= len(times_s) >= _SEVERAL
    totals = 0
    for at, (each, cells) in enumerate(zip(headings, layout.columns, strict=True)):
        if each.quantity in ("time", "date") or len({*cells}) == 1:
            continue
        if each.quantity == "power" or not all(map(is_number, cells)):
            return None
        if not (_SET | _TOOK).isdisjoint(words_of(layout.headings[at])):
            return None
        if each.quantity == "energy":
            values = numbers_of(layout, at)
            if not is_running_total(values):
                return None
            totals += 1
            is_known |= values[0] > np.maximum(np.diff(values), 0).sum()
    if not totals or not is_known or not (np.diff(times_s) > 0).all():
        return None
    steps_s = np.diff(times_s, prepend=times_s[0])
    device = np.zeros(len(times_s), np.int32)
    return Trace(layout, headings, times_s - times_s[0], steps_s, device, start_unix_s, 0.0, True)


def _is_counted(layout: Layout, headings: Sequence[Heading]) -> bool:
    """Return whether running totals alone say the energy: they count between samples too."""
    energies = [at for at, each in enumerate(headings) if each.quantity == "energy"]
    is_power = any(each.quantity == "power" for each in headings)
    totals = [is_running_total(numbers_of(layout, at)) for at in energies]
    return not is_power and bool(totals) and all(totals)


def _has_own_texts(layout: Layout, headings: Sequence[Heading], devices: int) -> bool:
    """Return whether texts name devices and states; many others are of rows that are runs."""
    for heading, cells in zip(headings, layout.columns, strict=True):
        if heading.quantity in ("time", "date", "device"):
            continue
        texts = {cell for cell in cells if not is_number(cell) and not _CLOCK.fullmatch(cell)}
        if len(texts) > max(devices, 1) and len(texts) > _MOST_TEXTS * len(cells):
            return False
    return True


def _stepped(
    layout: Layout,
    headings: list[Heading],
    times: tuple[np.ndarray, float | None],
    device: np.ndarray,
    is_timed: bool,
) -> Trace | None:
    """Return a trace with the step before each sample; None if the steps are not even."""
    times_s, start_unix_s = times
    dt_s, lost_s, usual_s = np.zeros(len(times_s)), 0.0, np.inf
    longest_steps = np.inf if _is_counted(layout, headings) else _LONGEST_STEPS
    for number in range(int(device.max()) + 1):
        rows = np.flatnonzero((device == number) & ~np.isnan(times_s))
        steps = np.diff(times_s[rows])
        if not len(steps) or (usual := float(np.median(steps))) <= 0:
            return None
        if not is_sampler(steps):
            return None
        long = steps > longest_steps * usual
        lost_s = max(lost_s, float((steps[long] - usual).sum()))
        dt_s[rows] = np.concatenate([[usual], np.where(long, usual, np.maximum(steps, 0))])
        usual_s = min(usual_s, usual)
    end_s = times_s - np.nanmin(times_s) + usual_s
    start = None if start_unix_s is None else start_unix_s - usual_s
    return Trace(layout, headings, end_s, dt_s, device, start, lost_s, is_timed)

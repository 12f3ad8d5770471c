"""Samples of power, energy and use over time: one run a file, never a run a row.

Any text with a column of rising times at even steps and something measured: CSV of nvidia-smi and
DCGM, EnergiBridge, PCM, s-tui, PowerJoular, SPEC PTDaemon and others.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

import numpy as np

from data.declared import Column
from data.errors import FormatError
from ingest.files.text_lines import iterate_lines
from ingest.formats.interval_means import take_means
from ingest.formats.problem_list import ProblemList
from ingest.formats.trace_counters import is_running_total, steps_of
from ingest.formats.trace_headings import Heading, kernel_of, numbered, read_heading, words_of
from ingest.formats.trace_layout import Layout, is_number, number_text, read_layout, unit_of
from ingest.formats.trace_times import read_times
from ingest.records import Intervals, ReadContext, Reading
from ingest.settings.column_names import clean_name
from ingest.settings.word_lists import WORDS

POWER: Final = "package_power_w"
_MOST_COLUMNS: Final = 60
_LOOKED_AT: Final = 200
# The least samples that are a trace: more where nothing is a power or an energy.
_LEAST_SAMPLES: Final = {True: 6, False: 20}
# Steps of a sampler: this share is within these bounds of the median.
_EVEN_SHARE: Final = 0.8
_EVEN: Final = (0.3, 3.0)
# A longer step is a gap, in which nothing was measured.
_LONGEST_STEPS: Final = 5.0
_UNTOLD_S: Final = 1.0
_MOST_DEVICES: Final = 256
# Samples of several devices are so near, as a share of the longest step.
_SAME_TIME: Final = 0.1
# What is set before a run, and what a run took: share of the step from row to row.
_SET: Final = (WORDS["set"] | WORDS["given"]) - {
    "device",
    "interval",
    "ratio",
    "percentage",
    "name",
}
_TOOK: Final = frozenset(
    {"duration", "runtime", "execution", "exec", "elapsed", "makespan", "took"}
)
_FILLED: Final = (0.2, 1.1)
# Samples are seldom so far apart.
_RUN_S: Final = 2.0
# Texts of states, such as `P0`, are this share of the rows at most.
_MOST_TEXTS: Final = 0.2


_RAPL: Final = {
    "psys": Heading("power", 1.0, False, "total"),
    "pkg": Heading("power", 1.0, False, "package"),
    "core": Heading("power", 1.0, False, "inside"),
    "uncore": Heading("power", 1.0, False, "inside"),
    "dram": Heading("power", 1.0, False, "memory"),
}
# Rates whose sum is a measurement of the run.
_COUNTED: Final = {"Ctxt/s": "context_switches"}
# Powers of so many units are of a smaller unit.
_SMALL_UNITS: Final = ((5e6, "uW", 1e-6), (5e3, "mW", 1e-3))
# No power and no energy is greater.
_MOST: Final = 1e12


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


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Return whether a head is of a trace: times rise at even steps, and something is measured."""
    if b"\0" in head or head.lstrip()[:1] in (b"{", b"["):
        return False
    lines = head.decode("utf-8-sig", "replace").splitlines()
    lines = lines if head.endswith(b"\n") else lines[:-1]
    return find_trace(islice(lines, _LOOKED_AT)) is not None


def find_trace(lines: Iterable[str]) -> Trace | None:
    """Return the trace in some lines; None if they are none."""
    layout = read_layout(lines)
    if layout is None or not layout.columns:
        return None
    headings = [
        read_heading(heading, next(filter(None, map(unit_of, islice(column, 20))), ""))
        for heading, column in zip(layout.headings, layout.columns, strict=True)
    ]
    if not any(each.quantity in ("power", "energy", "busy", "frequency") for each in headings):
        return None
    if any(each.quantity == "power" and each.domain == "total" for each in headings):
        # Domains of RAPL beside it are powers too.
        headings = [
            _RAPL.get(h.rstrip("-0123456789"), each)
            for h, each in zip(layout.headings, headings, strict=True)
        ]
    device = _devices(layout, headings)
    times = _times(layout, headings)
    if times is None:
        if device is None or not layout.headings[0] or not any(h.has_unit for h in headings):
            return None
        if any(each.quantity == "time" for each in headings):
            # Times that do not rise are how long runs took.
            return None
        times = np.arange(len(device)) // (device.max() + 1) * _UNTOLD_S, None
        is_timed = False
    else:
        is_timed = True
    if is_timed and _has_runs(layout, times[0]):
        return None
    choices = (device,) if device is not None else _rounds(times[0])
    steps = (_stepped(layout, headings, times, each, is_timed) for each in choices)
    trace = next(filter(None, steps), None)
    if trace is None:
        return None
    devices = int(trace.device.max()) + 1
    if not _has_own_texts(layout, headings, devices):
        return None
    return trace if trace.dt_s.size >= _LEAST_SAMPLES[trace.has_energy] * devices else None


def _times(layout: Layout, headings: Sequence[Heading]) -> tuple[np.ndarray, float | None] | None:
    """Return the first column of times that rises, and its date."""
    dates = [at for at, each in enumerate(headings) if each.quantity == "date"]
    for at, each in enumerate(headings):
        if each.quantity not in ("time", "date"):
            continue
        texts = layout.columns[at]
        if each.quantity == "time" and dates:
            texts = [f"{d} {t}" for d, t in zip(layout.columns[dates[0]], texts, strict=True)]
        found = read_times(texts, each.scale, each.has_unit)
        if found is not None and _is_rising(found[0]):
            return found
    for at, each in enumerate(headings):
        if each.quantity == "delta":
            steps = _numbers(layout, at)
            if (steps > 0).all():
                scale = each.scale if each.has_unit else 1e-3 if np.median(steps) > 20 else 1.0
                return np.cumsum(steps * scale), None
    return None


def _has_runs(layout: Layout, times_s: np.ndarray) -> bool:
    """Return whether the rows are runs with the times of their begins.

    A row says how long it took, about as long as to the next one; or something that is set before
    a run changes: a name, or a number where rows are some seconds apart.
    """
    usual_s = float(np.median(np.diff(times_s[~np.isnan(times_s)])))
    for heading, cells in zip(layout.headings, layout.columns, strict=True):
        *_, last = words_of(heading) or [""]
        values = set(cells)
        is_number_column = all(map(is_number, cells))
        if _TOOK.intersection(words_of(heading)) and is_number_column:
            took = np.array([float(number_text(cell)) for cell in cells])
            low_s, high_s = (share * usual_s for share in _FILLED)
            if not _is_rising(took) and low_s < np.nanmedian(took) < high_s:
                return True
        recurs = 1 < len(values) <= len(cells) / 2
        if recurs and last in _SET and (not is_number_column or usual_s >= _RUN_S):
            return True
    return False


def _is_rising(times_s: np.ndarray) -> bool:
    known = times_s[~np.isnan(times_s)]
    if len(known) < 2 or len(known) < 0.9 * len(times_s):
        return False
    steps = np.diff(known)
    return bool((steps >= 0).mean() > 0.99 and known[-1] > known[0])


def _numbers(layout: Layout, at: int) -> np.ndarray:
    return np.array([float(number_text(cell)) for cell in layout.columns[at]])


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


def _has_own_texts(layout: Layout, headings: Sequence[Heading], devices: int) -> bool:
    """Return whether texts name devices and states; many others are of rows that are runs."""
    for heading, cells in zip(headings, layout.columns, strict=True):
        if heading.quantity in ("time", "date", "device"):
            continue
        texts = {cell for cell in cells if not is_number(cell)}
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
    for number in range(int(device.max()) + 1):
        rows = np.flatnonzero((device == number) & ~np.isnan(times_s))
        steps = np.diff(times_s[rows])
        if not len(steps) or (usual := float(np.median(steps))) <= 0:
            return None
        even = (steps >= _EVEN[0] * usual) & (steps <= _EVEN[1] * usual)
        if even.mean() < _EVEN_SHARE:
            return None
        long = steps > _LONGEST_STEPS * usual
        lost_s = max(lost_s, float((steps[long] - usual).sum()))
        dt_s[rows] = np.concatenate([[usual], np.where(long, usual, np.maximum(steps, 0))])
        usual_s = min(usual_s, usual)
    end_s = times_s - np.nanmin(times_s) + usual_s
    start = None if start_unix_s is None else start_unix_s - usual_s
    return Trace(layout, headings, end_s, dt_s, device, start, lost_s, is_timed)


def read(blocks: Iterable[bytes], context: ReadContext) -> Reading:
    """Read a trace as one run.

    Power is summed over steps, each of which ends with its sample; the first is as long as the
    others. Running totals of energy are differenced; wraps are repaired.

    Returns:
        `energy_j`, `duration_s`, means of the other columns, and all of it by interval.

    Raises:
        FormatError: No trace.
    """
    trace = find_trace(iterate_lines(blocks))
    if trace is None:
        raise FormatError(f"no times that rise at even steps ({context.name})")
    problems = trace.problems
    # Lines below the last sample are a summary.
    for line, text in trace.layout.refused:
        if line > trace.layout.lines[-1]:
            break
        problems.add("bad_line", "refused", f"no sample: {text!r}", line)
    if trace.lost_s:
        detail = f"{trace.lost_s:g} s between the first and the last sample have none; not counted"
        problems.add("sample_gap", "doubted", detail)
    if not trace.is_timed:
        problems.add("no_times", "doubted", "the file has no times: a sample is taken as 1 s")
    flags: list[str] = []
    values, columns = _values(trace, flags)
    intervals = _intervals(trace, values)
    reading = Reading(intervals=intervals, flags=flags, columns=tuple(columns))
    take_means(intervals, reading)
    first = trace.device == 0
    counted = ~np.isnan(values[POWER][first]) if POWER in values else np.ones(first.sum(), bool)
    reading.measurements["duration_s"] = float(trace.dt_s[first][counted].sum())
    for name, own in _COUNTED.items():
        if name in trace.layout.headings:
            rates = _numbers(trace.layout, trace.layout.headings.index(name))
            counted_all = float(np.nansum(rates * trace.dt_s))
            if 0 <= counted_all < _MOST:
                reading.measurements[own] = round(counted_all)
    reading.interval_s = reading.measurements["duration_s"]
    reading.facts = dict(_facts(trace))
    reading.problems = problems.all()
    return reading


def _facts(trace: Trace) -> Iterator[tuple[str, str]]:
    for heading, cells in zip(trace.layout.headings, trace.layout.columns, strict=True):
        if cells[0] and len(set(cells)) == 1:
            yield heading, cells[0]


def _values(trace: Trace, flags: list[str]) -> tuple[dict[str, np.ndarray], list[Column]]:
    """Return the values of each sample by quantity, and the columns of means for `runs`."""
    powers: dict[int, np.ndarray] = {}
    values: dict[str, np.ndarray] = {}
    columns: list[Column] = []
    families: dict[str, list[np.ndarray]] = {}
    units = {"busy": "%", "frequency": "MHz"}
    for at, heading in enumerate(trace.headings):
        if heading.quantity in ("time", "date", "delta", "device"):
            continue
        numbers = _numbers(trace.layout, at) * heading.scale
        if np.isnan(numbers).all():
            continue
        if heading.quantity == "power" and not heading.has_unit:
            numbers = _in_watts(trace, at, numbers)
        if heading.quantity in ("power", "energy"):
            numbers = _possible(trace, at, numbers)
        if heading.quantity == "energy":
            numbers = _power_of(trace, at, numbers, flags)
        if heading.quantity in ("power", "energy"):
            powers[at] = numbers
            continue
        name = trace.layout.headings[at]
        family = numbered(name)
        families.setdefault(family[0] if family else name, []).append(numbers)
        title = family[0] if family else name
        own = clean_name(title, "real")
        if heading.quantity and all(own != column.name for column in columns):
            columns.append(Column(own, "metric", "real", title, title, units[heading.quantity]))
    for name, series in islice(families.items(), _MOST_COLUMNS):
        values[clean_name(name, "real")] = np.mean(series, axis=0)
    chosen = _chosen(trace, powers)
    if chosen:
        values[POWER] = np.sum([powers[at] for at in chosen], axis=0)
    for at, numbers in powers.items():
        if at not in chosen or len(chosen) > 1:
            own = f"{_bare(trace.layout.headings[at])}_power_w"
            if own != POWER and own not in values:
                values[own] = numbers
                title = f"Power, {trace.layout.headings[at]}"
                columns.append(Column(own, "metric", "real", title, title, "W", "less"))
    _take_shares(trace, values)
    return values, columns


def _in_watts(trace: Trace, at: int, numbers: np.ndarray) -> np.ndarray:
    """Return powers without a unit in W: those beyond a rack of servers are mW, or uW."""
    usual = float(np.nanmedian(numbers))
    unit, scale = next(((u, s) for least, u, s in _SMALL_UNITS if usual >= least), ("W", 1.0))
    if scale != 1.0:
        name = trace.layout.headings[at]
        detail = f"{name} of {usual:g} without a unit is taken as {unit}"
        trace.problems.add("unit_guessed", "doubted", detail)
    return numbers * scale


def _possible(trace: Trace, at: int, numbers: np.ndarray) -> np.ndarray:
    """Return powers or energies without those that cannot be, each of which is reported."""
    is_odd = (numbers < 0) | (numbers > _MOST)
    for row in np.flatnonzero(is_odd).tolist():
        cell = trace.layout.columns[at][row]
        detail = f"{trace.layout.headings[at]} cannot be {cell}; left out"
        trace.problems.add("bad_line", "refused", detail, trace.layout.lines[row])
    return np.where(is_odd, np.nan, numbers)


def _take_shares(trace: Trace, values: dict[str, np.ndarray]) -> None:
    """Name one busy share and one frequency as Timeline knows them."""
    for quantity, own, factor in (("busy", "busy_pct", 1.0), ("frequency", "average_mhz", 1.0)):
        for at, heading in enumerate(trace.headings):
            if heading.quantity == quantity and own not in values:
                values[own] = _numbers(trace.layout, at) * heading.scale * factor


def _bare(heading: str) -> str:
    words = [w for w in clean_name(heading, "real").split("_") if w not in _PLAIN]
    return "_".join(words) or "other"


_PLAIN: Final = frozenset(
    {"power", "energy", "j", "w", "mj", "uj", "mw", "uw", "joules", "watts", "watt", "draw", "c"}
)


def _power_of(trace: Trace, at: int, joules: np.ndarray, flags: list[str]) -> np.ndarray:
    """Return the power over each step, from a column of energies; W."""
    power_w = np.full(len(joules), np.nan)
    name = trace.layout.headings[at]
    for number in range(int(trace.device.max()) + 1):
        rows = np.flatnonzero((trace.device == number) & ~np.isnan(joules))
        own, dt_s = joules[rows], trace.dt_s[rows]
        if is_running_total(own):
            steps = steps_of(own)
            for place, detail in steps.repaired:
                line = trace.layout.lines[rows[place]]
                trace.problems.add("energy_counter_wrapped", "repaired", f"{name} {detail}", line)
                flags += [] if "energy_counter_wrapped" in flags else ["energy_counter_wrapped"]
            for place, detail in steps.reset:
                line = trace.layout.lines[rows[place]]
                trace.problems.add("counter_reset", "doubted", f"{name} {detail}", line)
            own = steps.values
        with np.errstate(divide="ignore", invalid="ignore"):
            power_w[rows] = np.where(dt_s > 0, own / dt_s, np.nan)
    return power_w


def _chosen(trace: Trace, powers: dict[int, np.ndarray]) -> list[int]:
    """Return the columns whose sum is the power of the machine: none contains another."""
    alive = [at for at, values in powers.items() if np.nansum(values) > 0]
    by_domain: dict[str, list[int]] = {}
    for at in alive:
        by_domain.setdefault(trace.headings[at].domain, []).append(at)
    energies = {at for at in alive if trace.headings[at].quantity == "energy"}
    if total := by_domain.get("total"):
        one = next((at for at in total if at in energies), total[0])
        _doubt_sum(trace, powers, one, [at for at in alive if at != one])
        return [one]
    chosen = []
    for domain in ("package", "gpu") if by_domain.keys() & {"package", "gpu"} else ("memory",):
        columns = by_domain.get(domain, [])
        exact = [at for at in columns if at in energies] or columns
        whole = [at for at in exact if numbered(trace.layout.headings[at]) is None]
        chosen += whole[:1] or exact
    if chosen:
        return chosen
    others = by_domain.get("") or by_domain.get("inside", [])
    # Of an instantaneous and an average reading of one power the first.
    kernels = {kernel_of(trace.layout.headings[at]): at for at in reversed(others)}
    others = sorted(kernels.values())
    if len(others) > 1:
        names = ", ".join(trace.layout.headings[at] for at in others)
        detail = f"the power is taken as the sum of {names}"
        trace.problems.add("overlapping_domains", "doubted", detail)
    return others


def _doubt_sum(
    trace: Trace, powers: dict[int, np.ndarray], total: int, parts: Sequence[int]
) -> None:
    """Report a total that counts parts of the machine twice."""
    domains = {trace.headings[at].domain for at in parts}
    added = sum((powers[at] for at in parts), np.zeros(len(powers[total])))
    is_sum = np.isclose(added, powers[total], rtol=0.01)
    if len(parts) > 1 and domains & {"total", "package"} and is_sum.mean() > _EVEN_SHARE:
        names = ", ".join(trace.layout.headings[at] for at in parts)
        name = trace.layout.headings[total]
        detail = f"{name} is the sum of {names}, which contain one another; kept as it is"
        trace.problems.add("overlapping_domains", "doubted", detail)


def _intervals(trace: Trace, values: dict[str, np.ndarray]) -> Intervals:
    order = np.argsort(trace.end_s, kind="stable")
    order = order[(trace.dt_s > 0)[order] & ~np.isnan(trace.end_s[order])]
    return Intervals(
        trace.end_s[order],
        trace.dt_s[order],
        trace.device[order].astype(np.int32),
        trace.device[order].astype(np.int32),
        [""] * len(order),
        {name: series[order] for name, series in values.items()},
        trace.start_unix_s,
    )

"""A window of one run in numbers: lines, heatmap, single interrupts, input of totals."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from data.errors import DataError
from data.run_files import RunFacts, RunFiles
from data.timeline.alignment import ALIGNMENTS, RunAxis
from data.timeline.bands import FEWEST_VALUES, WINDOWS_EACH, band_of, most_windows
from data.timeline.quantities import CLOCKS, HEAT_CLOCKS, QUANTITIES
from data.timeline.question import NO_HEAT, Question, chosen_cores
from data.timeline.reads import RunReads
from data.timeline.residency import CORE_RESIDENCIES, PACKAGE_RESIDENCIES, RESIDENCIES
from data.timeline.row_bins import CoreRows
from data.timeline.stretch_sizes import Sizes
from data.timeline.time_cells import SLEEP_STATES, ByCore, Cells, Line, Lines, fold_starts
from data.timeline.window_parts import RAW_MOST, read_parts
from data.timeline.window_plan import SAMPLE_NS, Plan, plan_window

# Maximum numbers of line values and of heatmap values in an answer, for all runs together.
_LINE_VALUES: Final = 72_000
_HEAT_VALUES: Final = 16_000
_FEWEST_BINS: Final = 60
# Work comes in bursts: bins of equal work are joined from bins of time that are this much finer.
_FINER: Final = 2
SHORTEST_NS: Final = 1000


class OutsideError(DataError):
    """No part of the window lies within the run."""


@dataclass(frozen=True, slots=True)
class Group:
    """Cores that are drawn as one line; their lines by name of the series.

    Attributes:
        parts: Number of cores, or packages, in the line.
    """

    name: str
    cores: tuple[int, ...]
    lines: dict[str, Line]
    parts: int


@dataclass(frozen=True, slots=True)
class HeatRows:
    """A quantity by core, or package, and time; float64, shape (rows, bins)."""

    names: tuple[str, ...]
    values: np.ndarray
    edges: np.ndarray


@dataclass(slots=True)
class RunAnswer:
    """The answer for a window of one run.

    Attributes:
        axis: Its places on the x axis.
        clipped: A sentence about the part of the window that the run lacks; empty for none.
        edges: First nanosecond of each drawn bin and the end, for `interrupts` and `counters`.
        power: Lines of packages: name, cores, `power`.
        cells: Bins of all cores, `interrupts` and `counters`; totals use the chosen cores.
        chosen: Indices of the chosen cores.
        has_interrupts: Whether any was measured; tools that sample a run see none.
        windows_s: Mean length of the windows of bands, for `interrupts` and `counters`; empty if
            the lines are no bands.
        raw: Single interrupts, if they are few enough to draw one by one; None without any.
    """

    facts: RunFacts
    axis: RunAxis
    plan: Plan
    clipped: str
    chosen: tuple[int, ...]
    cells: dict[str, Cells]
    rows_read: int = 0
    has_interrupts: bool = True
    edges: dict[str, np.ndarray] = field(default_factory=dict)
    groups: list[Group] = field(default_factory=list)
    power: list[Group] = field(default_factory=list)
    windows_s: dict[str, float] = field(default_factory=dict)
    raw: CoreRows | None = None
    samples: dict[str, np.ndarray] | None = None
    heat: HeatRows | None = None
    sizes: Sizes | None = None

    @property
    def interrupts(self) -> int:
        """Number of interrupts of the chosen cores in the window."""
        counts = self.cells["interrupts"].values["interrupts"][:, list(self.chosen)]
        return int(np.nansum(counts))


def answer_run(
    files: RunFiles,
    facts: RunFacts,
    question: Question,
    end_x: float,
    axis: RunAxis | None = None,
) -> RunAnswer:
    """Answer the question for one run.

    Args:
        end_x: The window's end if the question has none.
        axis: The run's places on the x axis; None for time.

    Raises:
        OutsideError: No part of the window is within the run.
        DataError: The run has length 0 or none of the requested cores.
        LakeError: A file of the run is missing or broken.
    """
    axis = axis or RunAxis(facts.length_ns)
    from_ns, to_ns, clipped = _clip(axis, question, end_x)
    chosen = _chosen_places(facts, question)
    bins = most_bins(question)
    shape = RunReads(files, facts).shape
    windows: dict[str, int] = {}
    read_bins = bins
    if question.is_of_bands:
        interrupts = shape.interrupts * (to_ns - from_ns) / facts.length_ns
        windows = most_windows(bins // 2, interrupts, (to_ns - from_ns) / SAMPLE_NS)
        read_bins = max(windows.values())
    plan_bins = read_bins * (_FINER if axis.done is not None else 1)
    plan = plan_window(shape, from_ns, to_ns, plan_bins)
    panels = question.panels if "panels" in question.parts or question.is_of_bands else ()
    rates = [] if windows else [rate for name in panels for rate in QUANTITIES[name].rates]
    has_interrupts = shape.interrupts > 0
    counted = chosen if "hist" in question.parts and has_interrupts else None
    drawn = [name for panel in panels for name in QUANTITIES[panel].series] + [question.heat]
    asked = [name for name in RESIDENCIES if name in drawn]
    parts = read_parts(files, facts, plan, read_bins, rates, counted, asked)
    answer = RunAnswer(
        facts, axis, plan, clipped, chosen, parts.cells, parts.rows_read, has_interrupts
    )
    answer.sizes = parts.sizes
    _draw(answer, question, bins, windows)
    if windows:
        _to_bands(answer, bins // 2)
    elif parts.rows is not None and "rx_desc" in parts.rows.columns and has_interrupts:
        single = parts.rows.of_cores(answer.chosen)
        if len(single.t_ns) <= RAW_MOST // len(question.runs):
            # Few enough to draw single interrupts, and the samples among them.
            reads = RunReads(files, facts)
            answer.raw = single
            answer.samples = reads.touching_samples(answer.plan.from_ns, answer.plan.to_ns)
            answer.rows_read += reads.rows_read
    return answer


def _clip(axis: RunAxis, question: Question, end_x: float) -> tuple[int, int, str]:
    """Clip the requested window to the run, ns; also return a sentence about what was cut off."""
    length_ns, of = axis.length_ns, ALIGNMENTS[question.align]
    asked_from = 0.0 if question.from_x is None else question.from_x
    asked_to = end_x if question.to_x is None else question.to_x
    if not length_ns:
        raise DataError("the run's window lasts 0 s")
    ends = f"the run {of.ends} {axis.end:.6g} {of.unit}"
    if asked_from >= axis.end or asked_to <= 0:
        raise OutsideError(
            f"{ends}: no part of it lies between {asked_from:.6g} and {asked_to:.6g} {of.unit}"
        )
    begin_ns, stop_ns = axis.times_ns(asked_from, asked_to)
    from_ns = min(max(begin_ns, 0), length_ns - 1)
    to_ns = min(max(stop_ns, from_ns + SHORTEST_NS), length_ns)
    from_ns = max(min(from_ns, to_ns - SHORTEST_NS), 0)
    is_clipped = asked_from < 0 or (question.to_x is not None and asked_to > axis.end + 1e-9)
    words = f"asked for {asked_from:.6g} to {asked_to:.6g} {of.unit}; {ends}"
    return from_ns, to_ns, words if is_clipped else ""


def _chosen_places(facts: RunFacts, question: Question) -> tuple[int, ...]:
    chosen = chosen_cores(question.cores)
    if chosen is None:
        return tuple(range(len(facts.cores)))
    places = tuple(facts.cores.index(core) for core in chosen if core in facts.cores)
    if not places:
        cores = ", ".join(map(str, facts.cores))
        raise DataError(f"the run has none of the cores {question.cores}; it has {cores}")
    return places


def most_bins(question: Question) -> int:
    """Return the maximum number of bins in a line, so that the whole answer stays small."""
    groups = len(chosen_cores(question.cores) or "pp" if question.cores != "all" else "a")
    lines = sum(3 * len(QUANTITIES[name].series) for name in question.panels) + 1
    most = _LINE_VALUES // (len(question.runs) * groups * lines)
    return max(min(question.width, most), _FEWEST_BINS)


def _draw(answer: RunAnswer, question: Question, bins: int, windows: dict[str, int]) -> None:
    starts = {}
    for axis, cells in answer.cells.items():
        if windows:
            starts[axis] = fold_starts(len(cells.edges) - 1, windows[axis])
        else:
            starts[axis] = answer.axis.fold_starts(cells.edges, bins)
        answer.edges[axis] = np.append(cells.edges[starts[axis]], cells.edges[-1])
    if "panels" in question.parts or windows:
        is_measured = {"interrupts": answer.has_interrupts, "counters": True}
        panels = [name for name in question.panels if is_measured[QUANTITIES[name].clock]]
        for name, cores in _groups(answer, question):
            places = [answer.facts.cores.index(core) for core in cores]
            lines = {a: Lines(c, places, starts[a]) for a, c in answer.cells.items()}
            drawn = _lines(lines, panels, answer.facts.tsc_hz)
            answer.groups.append(Group(name, cores, drawn, len(cores)))
        if "power" in question.panels:
            answer.power = list(_power(answer, question, starts["counters"]))
    if "heat" in question.parts and question.heat != NO_HEAT:
        answer.heat = _heat(answer, question.heat, len(question.runs))


def _to_bands(answer: RunAnswer, most: int) -> None:
    """Replace lines of windows by bands of at most about `most` values."""
    joined: dict[str, np.ndarray] = {}
    for clock, edges in answer.edges.items():
        count = len(edges) - 1
        answer.windows_s[clock] = float(edges[-1] - edges[0]) / count / 1e9
        if count >= FEWEST_VALUES * WINDOWS_EACH:
            joined[clock] = answer.axis.fold_starts(edges, min(most, count // WINDOWS_EACH))
            answer.edges[clock] = np.append(edges[joined[clock]], edges[-1])
    for group in (*answer.groups, *answer.power):
        lines = {name: line for name, line in group.lines.items() if name != "count"}
        group.lines.clear()
        for name, line in lines.items():
            if CLOCKS[name] in joined:
                group.lines[name] = band_of(line["mean"], joined[CLOCKS[name]])


def _groups(answer: RunAnswer, question: Question) -> list[tuple[str, tuple[int, ...]]]:
    if question.cores == "all":
        return [("all", answer.facts.cores)]
    if question.cores == "packages":
        return [(f"package {n}", cores) for n, cores in answer.facts.package_cores.items()]
    return [(f"core {core}", (core,)) for core in (answer.facts.cores[at] for at in answer.chosen)]


def _lines(lines: dict[str, Lines], panels: Sequence[str], tsc_hz: float) -> dict[str, Line]:
    traffic, counted = lines["interrupts"], lines["counters"]

    def residency_lines(names: Sequence[str]) -> dict[str, Line]:
        return {name: counted.residency_pct(name) for name in names if counted.has(name)}

    drawn: dict[str, Line] = {}
    if traffic.has("interrupts"):
        drawn["count"] = {"mean": traffic.drawn("interrupts")}
    makers = {
        "bytes": lambda: {name: traffic.bytes_each(f"{name}_bytes") for name in ("rx", "tx")},
        "byte_rate": lambda: {f"{n}_rate": traffic.rate(f"{n}_bytes") for n in ("rx", "tx")},
        "interrupts": lambda: {"interrupts": traffic.interrupts()},
        "gap": lambda: {"gap": traffic.gap()},
        "instructions": lambda: {"instructions": counted.rate("instructions")},
        "ipc": lambda: {"ipc": counted.ipc()},
        "busy": lambda: {"busy": counted.busy(tsc_hz)},
        "frequency": lambda: {"frequency": counted.frequency_ghz(tsc_hz)},
        "llc": lambda: {"llc_misses": counted.rate("llc_misses")},
        "sleep": lambda: {s: counted.rate(s) for s in SLEEP_STATES if counted.has(s)},
        "residency": lambda: residency_lines(CORE_RESIDENCIES),
        "package_residency": lambda: residency_lines(PACKAGE_RESIDENCIES),
    }
    for name in panels:
        if name in makers:
            drawn |= makers[name]()
    return drawn


def _power(answer: RunAnswer, question: Question, starts: np.ndarray) -> list[Group]:
    """Return the power of the chosen cores' packages, W; one sum for all cores together."""
    chosen = {answer.facts.cores[at] for at in answer.chosen}
    packages = {n: c for n, c in answer.facts.package_cores.items() if chosen & set(c)}
    if question.cores == "all":
        packages = {"all": answer.facts.cores}
    groups = []
    for name, cores in packages.items():
        places = [answer.facts.cores.index(core) for core in cores]
        lines = Lines(answer.cells["counters"], places, starts)
        if lines.has("energy_uj"):
            title = "all packages" if name == "all" else f"package {name}"
            parts = lines.measured_count("energy_uj")
            groups.append(Group(title, cores, {"power": lines.rate("energy_uj", 1e-6)}, parts))
    return groups


def _heat(answer: RunAnswer, name: str, runs: int) -> HeatRows:
    cells, facts = answer.cells[HEAT_CLOCKS[name]], answer.facts
    packages = facts.package_cores
    rows = len(packages) if name == "power" else len(facts.cores)
    starts = answer.axis.fold_starts(cells.edges, max(_HEAT_VALUES // (runs * rows), 8))
    edges = np.append(cells.edges[starts], cells.edges[-1])
    if name == "power":
        names = tuple(f"package {package}" for package in packages)
        groups = [[facts.cores.index(core) for core in cores] for cores in packages.values()]
        lines = [Lines(cells, places, starts).rate("energy_uj", 1e-6) for places in groups]
        return HeatRows(names, np.stack([line["mean"] for line in lines]), edges)
    by_core = ByCore(cells, starts)
    makers = {
        "gap": by_core.longest_gap,
        "ipc": by_core.ipc,
        "busy": lambda: by_core.busy(facts.tsc_hz),
        "frequency": lambda: by_core.frequency_ghz(facts.tsc_hz),
    }
    if name in CORE_RESIDENCIES:
        values = by_core.residency_pct(name)
    else:
        values = makers[name]() if name in makers else by_core.rate(name)
    return HeatRows(tuple(f"core {core}" for core in facts.cores), values.T, edges)

"""Sum the rows that a table has for the cores of a run to one row of the run."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from data.schema import COUNTERS
from ingest.discover.names import KEY_KNOBS
from ingest.formats.json_cells import Cell
from ingest.records import Problem, ProblemList, SummaryRow, SummaryTable
from ingest.settings.dataset import Machine, Settings
from ingest.settings.tables import CORE

# Problems of a kind that are listed by line; the rest become one problem with a count.
_MOST_NAMED: Final = 3
_MOST: Final = 2**63
# All rows are in memory while they are summed.
_MOST_ROWS: Final = 200_000
# Two readings of one package's energy, or a sum and the total of the table, differ by less.
_TOLERANCE: Final = 0.01

_SUMMED: Final = frozenset({*COUNTERS, "context_switches", "loads", "stores", "requests"})
_EXTREMES: Final[Mapping[str, Callable[[Iterable[float]], float]]] = {
    "duration_s": max,
    "start_unix_s": min,
}
_BY_PACKAGE: Final = frozenset({"energy_j", "power_w"})


def sum_over_cores(table: SummaryTable, settings: Settings) -> SummaryTable:
    """Return the table with a row for each run, if its rows are of the cores of runs.

    Energy and power are each package's, counted once. Counters are added. The time is the longest
    core's. All other values belong to the run: they are equal on all cores, or left unset. A row
    without a core is the total of its run, and stands if the run has no rows of cores.

    A run is refused if a core occurs twice in it, or if it lacks a core that other runs have.
    """
    if not table.has_cores:
        return table
    if len(table.rows) > _MOST_ROWS:
        detail = f"a table of the cores of runs has {_MOST_ROWS:,} rows at most: split it by runs"
        problem = Problem("core_rows", "refused", detail, count=len(table.rows))
        refused = table.refused + len(table.rows)
        return replace(table, rows=[], problems=[*table.problems, problem], refused=refused)
    runs: dict[tuple[Cell, ...], list[SummaryRow]] = defaultdict(list)
    knobs = [*KEY_KNOBS, "replicate"]
    own = (*settings.columns.values(), *table.columns)
    knobs += [column.name for column in own if column.role == "knob"]
    for row in table.rows:
        runs[row.workload, row.system, *map(row.values.get, knobs)].append(row)
    every = {row.values.get(CORE) for row in table.rows} - {None}
    problems = ProblemList(_MOST_NAMED)
    summed = _Sums(settings.machine, problems)
    rows: list[SummaryRow] = []
    refused = 0
    for same in runs.values():
        totals = [row for row in same if row.values.get(CORE) is None]
        cores = [row for row in same if row.values.get(CORE) is not None]
        reason = _why_not(cores, every) if cores else ""
        if reason:
            detail = f"{reason}; its {len(cores)} rows dropped"
            problems.add("core_rows", "refused", detail, cores[0].line)
            refused += len(cores)
        if reason or not cores:
            rows += totals
        else:
            rows.append(summed.row(cores, totals))
    for row in rows:
        row.values.pop(CORE, None)
    summed.report(len(rows), len(every))
    return replace(
        table,
        rows=sorted(rows, key=lambda row: row.line),
        problems=[*table.problems, *problems.all()],
        refused=table.refused + refused,
        summed=len(table.rows) - len(rows) - refused,
    )


def _why_not(cores: Sequence[SummaryRow], every: set[Cell]) -> str:
    """Return why the rows of a run's cores cannot be summed; empty if they can."""
    numbers = [row.values.get(CORE) for row in cores]
    twice = sorted({n for n in numbers if numbers.count(n) > 1}, key=str)
    if twice:
        return f"core {twice[0]} occurs twice in one run: no column tells its replicates apart"
    missing = sorted(every - {*numbers}, key=lambda core: int(core or 0))
    if missing:
        return (
            f"core {missing[0]} is missing ({len(numbers)} of {len(every)} cores): the run is "
            "incomplete, or its cores have different knobs"
        )
    return ""


class _Sums:
    """Sums the rows of the cores of each run of a table."""

    def __init__(self, machine: Machine, problems: ProblemList) -> None:
        self._machine = machine
        self._problems = problems
        self._unlike: set[str] = set()
        self._rows = self._runs = 0

    def row(self, cores: Sequence[SummaryRow], totals: Sequence[SummaryRow]) -> SummaryRow:
        """Return the row of a run.

        Args:
            totals: Rows of the same run without a core; they are compared with the sum.
        """
        first = min(cores, key=lambda row: row.line)
        names = dict.fromkeys(name for row in cores for name in row.values if name != CORE)
        values = {name: self._value(name, cores, first.line) for name in names}
        flags = sorted({flag for row in cores for flag in row.flags})
        self._rows += len(cores)
        self._runs += 1
        energy_j = values.get("energy_j")
        for total in totals:
            theirs = total.values.get("energy_j")
            if energy_j and theirs and abs(float(energy_j) / float(theirs) - 1) > _TOLERANCE:
                detail = f"its energy of {theirs} J is not the sum of its cores, {energy_j} J, kept"
                self._problems.add("core_total", "doubted", detail, total.line)
        return SummaryRow(first.line, first.system, values, flags, first.workload)

    def _value(self, name: str, cores: Sequence[SummaryRow], line: int) -> Cell:
        given = {row.values.get(CORE): row.values.get(name) for row in cores}
        if name in _BY_PACKAGE:
            numbers = {int(c or 0): float(v) for c, v in given.items() if v}
            value, reason = _by_package(numbers, given, self._machine)
            if reason:
                detail = f"{name} left unset: {reason}"
                self._problems.add("core_energy", "doubted", detail, line)
            return value
        values = [value for value in given.values() if value is not None]
        if not values:
            return None
        if len(values) == len(given):
            if name in _EXTREMES:
                return _EXTREMES[name](map(float, values))
            if len({*values}) == 1 and name not in _SUMMED - {"requests"}:
                return values[0]
            if name in _SUMMED and (total := sum(map(int, values))) < _MOST:
                return total
        self._unlike.add(name)
        return None

    def report(self, runs: int, cores: int) -> None:
        """Report what was done to the table as a whole."""
        if self._runs:
            detail = f"{self._rows} rows of {cores} cores summed to {self._runs} of {runs} runs"
            self._problems.add("summed_cores", "repaired", detail)
        if self._unlike:
            names = ", ".join(sorted(self._unlike))
            detail = f"not known of each core of a run, or neither equal nor counts: {names}; unset"
            self._problems.add("core_values", "doubted", detail)


def _by_package(
    numbers: Mapping[int, float], cores: Iterable[Cell], machine: Machine
) -> tuple[float | None, str]:
    """Return the sum over packages, and why there is none.

    Args:
        numbers: By core, what those cores say that say anything. A 0 is not a measurement.
        cores: All cores of the run.
    """
    if not numbers:
        return None, ""
    by_package: dict[int | None, dict[int, float]] = {
        machine.package_of(int(core or 0)): {} for core in cores
    }
    for core, number in numbers.items():
        by_package[machine.package_of(core)][core] = number
    if strays := by_package.pop(None, {}):
        return None, f"machine.packages has no package with core {min(strays)}"
    total = 0.0
    for package, by_core in sorted(by_package.items(), key=lambda item: item[0] or 0):
        if not by_core:
            return None, f"no core of package {package} has one (machine.packages)"
        least, most = min(by_core.values()), max(by_core.values())
        if least < most * (1 - _TOLERANCE):
            return None, f"cores of package {package} differ, from {least:g} to {most:g}"
        total += most
    return total, ""

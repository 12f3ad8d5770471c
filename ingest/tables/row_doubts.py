"""What rows of summary tables leave in doubt: failures, powers, unknown systems and workloads."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cached_property
from typing import Any, Final

from ingest.discover.names import canonical_system, strip_compression
from ingest.formats.written_numbers import are_readings
from ingest.records import Problem, SummaryRow
from ingest.settings.column_names import WORDS
from ingest.settings.dataset import UNKNOWN
from ingest.settings.heading_words import correcting, is_of_exit, words_of
from ingest.tables.table_reads import TableRead

_FAILED: Final = WORDS["failed"]
_SUCCEEDED: Final = WORDS["succeeded"]
_OF_A_RUN: Final = frozenset({"run", "job", "exit", "final"})
# Energy, power and time of a row that differ by more are doubted.
_POWER_TOLERANCE: Final = 0.05
# Without a time an energy of a machine of 100 W over a day is doubted.
_MOST_J: Final = 1e7
_USUAL_W: Final = 100.0
_POWER: Final = ("energy_j", "power_w", "duration_s")


def states_of(read: TableRead) -> list[str]:
    """Return the columns that say how a run ended, which each value must.

    Tests pass or fail, and solvers give up in time: those are outcomes, measured to their end.
    """
    names = [
        column.name
        for column in read.table.columns
        if column.role == "label"
        and {*words_of(column.name)[-1:]} & {"status", "state"}
        and {*words_of(column.name)[:-1]} <= _OF_A_RUN
    ]
    said = {n: {words_of(str(r.values.get(n) or ""))[:1] for r in read.table.rows} for n in names}
    ends = {(), *((word,) for word in _FAILED | _SUCCEEDED)}
    return [name for name in names if said[name] <= ends]


def failure_of(name: str, row: SummaryRow) -> str:
    """Return what a row says of a run that failed, in a column of its state; empty for others."""
    words = words_of(str(row.values.get(name) or ""))
    if words and words[0] in _FAILED:
        return f"its {name} is {row.values[name]}; not a run"
    return ""


def failed_exits(read: TableRead) -> Iterator[Problem]:
    """Yield what a table says of programs that failed: codes of exit other than 0 (`1:0` of SLURM
    is one), and no success in all rows. Its rows are kept: some programs end so as a rule.
    """
    count = len(read.table.rows)
    for column in read.table.columns if count else ():
        ends = [(row.values.get(column.name), row.line) for row in read.table.rows]
        is_code = is_of_exit(column.name)
        failed = [(str(end), n) for end, n in ends if end is not None and _is_failure(end, is_code)]
        is_success = {*words_of(column.name)[-1:]} <= _SUCCEEDED and len(failed) == count
        if failed and (is_code or is_success) and column.role != "knob":
            which = ", ".join(sorted({end for end, _ in failed}))
            where = "all" if len(failed) == count else f"{len(failed)} of"
            detail = f"{column.title} is {which} in {where} {count} rows: "
            detail += "their programs failed, unless they end so as a rule; the rows are kept"
            yield Problem("failed_exit", "doubted", detail, failed[0][1])


def _is_failure(end: object, is_code: bool) -> bool:
    """Return whether a cell is a code other than 0, or says that there was no success."""
    text = str(end).strip().lower()
    code = re.fullmatch(r"(-?\d+)(?:\.0|:\d+)?", text)
    return code is not None and int(code[1]) != 0 if is_code else text in ("false", "no", "0")


class Powers:
    """Says which rows of a table have an energy that is not the power times the time, or that is
    much where nobody states a time.
    """

    def __init__(self, read: TableRead) -> None:
        self._read = read

    def doubt(self, values: Mapping[str, Any]) -> str:
        """Return in which way a row's energy, power and time disagree; empty if they do not.

        Those of two domains, such as a total and a GPU, are no two of one product.
        """
        if len({*self._domains}) > 1:
            return ""
        energy, power, time = (float(values.get(name) or 0) for name in _POWER)
        if self._read.is_guessed and energy > _MOST_J and not (power or time):
            hours = energy / _USUAL_W / 3600
            took = f"{_USUAL_W:g} W take {hours:.3g} h for it"
            return f"{energy:.6g} J without a time: {took}, so check its unit"
        ratio = energy / (power * time) if energy and power and time else 1.0
        if abs(ratio - 1) <= _POWER_TOLERANCE:
            return ""
        rounded = sum(half / abs(values[name] or 1) for name, half in self._half_steps.items())
        if ratio > 0 and abs(math.log(ratio)) <= math.log1p(_POWER_TOLERANCE + rounded):
            return ""
        return (
            f"{energy:.6g} J in {time:.6g} s are {energy / time:.6g} W, not {power:.6g} W: "
            "check their units; the power is kept as it was measured"
        )

    @cached_property
    def _domains(self) -> list[frozenset[str]]:
        """The parts of a machine that the headings of the energy and the power name."""
        declared = self._read.file.settings.tables_of(strip_compression(self._read.file.path))
        columns = [each for table in declared for each in table.columns.items()]
        of = ([words_of(name) for name, each in columns if each.to == to] for to in _POWER[:2])
        return [frozenset(words) & WORDS["parts"] for headings in of for words in headings]

    @cached_property
    def _half_steps(self) -> dict[str, float]:
        """By column the most by which its numbers were rounded: half of their last digit."""
        rows = self._read.table.rows
        written = {n: (Decimal(f"{row.values.get(n) or 0:.12g}") for row in rows) for n in _POWER}
        ends = {n: min(int(d.as_tuple().exponent) for d in of) for n, of in written.items()}
        return {name: 0.5 * 10.0 ** min(0, end) for name, end in ends.items()}


class Unknown:
    """Counts the rows of a table whose system or workload the settings do not know."""

    def __init__(self, read: TableRead) -> None:
        self._read = read
        self._systems: Counter[str] = Counter()
        self._first: dict[str, int] = {}
        self._workloads = 0

    def add(self, row: SummaryRow) -> None:
        """Count a row."""
        system = canonical_system(row.system, self._read.file.settings)
        self._systems[system] += 1
        self._first.setdefault(system, row.line)
        self._workloads += workload_of_row(row, self._read) == UNKNOWN

    def problems(self) -> Iterator[Problem]:
        """Yield a problem for each system that the settings do not define, and for no workload."""
        for system, count in self._systems.items():
            if system == UNKNOWN:
                detail = "no column and no setting names the system: set tables.system"
            elif system not in self._read.file.settings.systems:
                detail = (
                    f"the settings do not know the system {system!r}; kept under this name: add "
                    f"[systems.{system}], or an alias of another"
                )
            else:
                continue
            line = self._first[system]
            yield Problem("unknown_system", "doubted", f"{count} runs: {detail}", line)
        if self._workloads:
            detail = (
                f"{self._workloads} runs: no column, no setting and no word in the name of the "
                "table or its folder names the workload: set tables.workload, or "
                "workloads.NAME.aliases"
            )
            yield Problem("unknown_workload", "doubted", detail)


def workload_of_row(row: SummaryRow, read: TableRead) -> str:
    word = row.workload
    if word is None:
        return read.workload
    return read.file.settings.workload_words.get(word, word)


def unmeasured(read: TableRead) -> str:
    """Return that no column of a table is a measurement, and which of its labels have numbers."""
    labels = [column for column in read.table.columns if column.role == "label"]
    cells = {c.title: [row.values.get(c.name) for row in read.table.rows] for c in labels}
    numbers = [title for title, own in cells.items() if are_readings(own)]
    told = "no column was taken for a measurement"
    if not numbers:
        return told
    told += f"; labels with numbers: {', '.join(numbers)}"
    return f"{told}; if {numbers[0]} was measured: {correcting(numbers[0], 'metric')}"


def way_to_name_it(read: TableRead) -> str:
    """Return how a person says that one of the labels that differ was set."""
    labels = [column for column in read.table.columns if column.role == "label"]
    counts = {c.title: len({row.values.get(c.name) for row in read.table.rows}) for c in labels}
    several = [
        title for title in sorted(counts, key=lambda each: counts[each]) if counts[title] > 1
    ]
    is_own = read.is_guessed and bool(several)
    return f"say so by {correcting(several[0], 'knob')}" if is_own else "declare a column for it"

"""Convert per-run summary tables to rows of `runs`: one run per row, with unique keys."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from data.errors import FormatError
from data.schema import MEASUREMENTS
from ingest.discover.found_files import RawFile
from ingest.discover.names import (
    KEY_KNOBS,
    RunKey,
    canonical_system,
    check_knobs,
    identity_columns,
    make_run_id,
    order_knobs,
    workload_of,
)
from ingest.discover.sources import settings_struct, source_struct
from ingest.formats.problem_list import ProblemList
from ingest.lake.state import SUMMARY
from ingest.records import Problem, SummaryRow, SummaryTable
from ingest.settings.dataset import UNKNOWN, Settings
from ingest.tables.core_rows import sum_over_cores

# Problems of a kind that are listed by line; the rest become one problem with a count.
MAX_NAMED_LINES: Final = 200
# A load that was set has so many digits; one that was measured is that near to it.
_LOAD_DIGITS: Final = 2
_LOAD_TOLERANCE: Final = 0.01

# By path, the problems of a table.
Notes = dict[str, ProblemList]


@dataclass(slots=True)
class RowCounts:
    """What became of the rows of tables.

    Attributes:
        read: All of them.
        refused: Left out, each with a problem.
        dropped: Left out, because another row says the same.
        summed: Added to another row: a run has a row for each of its cores.
    """

    read: int = 0
    refused: int = 0
    dropped: int = 0
    summed: int = 0

    @property
    def runs(self) -> int:
        """Rows that are runs."""
        return self.read - self.refused - self.dropped - self.summed

    def __add__(self, other: "RowCounts") -> "RowCounts":
        return RowCounts(
            self.read + other.read,
            self.refused + other.refused,
            self.dropped + other.dropped,
            self.summed + other.summed,
        )


@dataclass
class TableRead:
    """A summary table after it was read."""

    file: RawFile
    digest: str
    table: SummaryTable

    @cached_property
    def kept(self) -> frozenset[str]:
        """Columns of `runs` that a row of the table may fill."""
        own = (*self.file.settings.columns.values(), *self.table.columns)
        return frozenset((*MEASUREMENTS, *(column.name for column in own)))

    @cached_property
    def workload(self) -> str:
        """The workload of rows that say none: the settings', else one that the path names."""
        said = self.table.workload
        parts = self.file.path.split("/")[-2:]
        return workload_of(parts, self.file.settings) if said == UNKNOWN else said


@dataclass(slots=True)
class SummaryRuns:
    """The rows of a dataset's summary tables, and the problems by path.

    Attributes:
        rows: Rows of `runs`, each with a unique run id.
        counts: Number of rows that were read, and of those that are no rows of `runs`.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    problems: dict[str, list[Problem]] = field(default_factory=dict)
    counts: RowCounts = field(default_factory=RowCounts)


@dataclass(slots=True)
class _Claim:
    """A row and the run key in it, which other rows may have too."""

    read: TableRead
    row: SummaryRow
    key: RunKey
    flags: set[str]


def finish_table(table: SummaryTable, settings: Settings) -> SummaryTable:
    """Tell loads from measured rates, and sum the rows of the cores of a run."""
    return sum_over_cores(_with_loads(table), settings)


def _with_loads(table: SummaryTable) -> SummaryTable:
    """Tell the loads that were set from the rates that were measured, if one column has both.

    A column of loads with fractions was measured. It becomes the throughput; the load is the
    nearest value of two digits, or unknown if that is over 1 % off.
    """
    rates = [row.values.get("load_qps") for row in table.rows]
    numbers = [rate for rate in rates if isinstance(rate, float)]
    is_known = any("throughput_qps" in row.values for row in table.rows)
    if is_known or all(map(float.is_integer, numbers)):
        return table
    for row, rate in zip(table.rows, rates, strict=True):
        if isinstance(rate, float):
            row.values |= {"load_qps": _load_near(rate), "throughput_qps": rate}
    detail = (
        f"loads with fractions, such as {next(n for n in numbers if not n.is_integer())}, were "
        "measured: kept as throughput_qps; load_qps is the nearest value of two digits"
    )
    problem = Problem("measured_load", "repaired", detail)
    return replace(table, problems=[*table.problems, problem])


def _load_near(rate: float) -> float | None:
    load = float(f"{rate:.{_LOAD_DIGITS - 1}e}")
    return load if abs(rate - load) <= _LOAD_TOLERANCE * load else None


def resolve_tables(dataset: str, reads: Sequence[TableRead], taken: Set[str]) -> SummaryRuns:
    """Convert all rows of a dataset's tables to runs, independently of the order of the files.

    Args:
        dataset: Name of the dataset.
        reads: All summary tables of the dataset.
        taken: Run ids of the dataset that come from raw logs, or from tables that no longer exist.

    If a key is there already, a row with identical values is dropped. A row with other values
    becomes a further replicate with the next free number and the flag `duplicate_key`.
    """
    runs = SummaryRuns()
    notes = {read.file.path: ProblemList(MAX_NAMED_LINES) for read in reads}
    claims: dict[RunKey, list[_Claim]] = defaultdict(list)
    for claim in _claims(dataset, reads, notes, runs.counts):
        claims[claim.key].append(claim)
    further: list[_Claim] = []
    for key, same in claims.items():
        distinct = _distinct(same, notes, runs)
        if not taken or make_run_id(key) not in taken:
            runs.rows.append(_build_row(distinct.pop(0)))
        further += distinct
    used = set(taken)
    last = _last_replicates(claims) if further else {}
    for claim in further:
        runs.rows.append(_build_row(_renumber(claim, last, used, notes)))
    for read in reads:
        path, table = read.file.path, read.table
        runs.counts.read += len(table.rows) + table.refused + table.summed
        runs.counts.refused += table.refused
        runs.counts.summed += table.summed
        runs.problems[path] = [*table.problems, *notes[path].all(), *_unknown(read)]
    return runs


def _unknown(read: TableRead) -> Iterator[Problem]:
    """Yield a problem for each system that the settings do not define, and for no workload."""
    settings, rows = read.file.settings, read.table.rows
    systems = Counter(canonical_system(row.system, settings) for row in rows)
    for system, count in systems.items():
        if system == UNKNOWN:
            detail = "no column and no setting names the system: set tables.system"
        elif system not in settings.systems:
            detail = (
                f"the settings do not know the system {system!r}; kept under this name: add "
                f"[systems.{system}], or an alias of another"
            )
        else:
            continue
        first = next(r.line for r in rows if canonical_system(r.system, settings) == system)
        yield Problem("unknown_system", "doubted", f"{count} runs: {detail}", first)
    if count := sum(_workload(row, read) == UNKNOWN for row in rows):
        detail = (
            f"{count} runs: no column, no setting and no word in the name of the table or its "
            "folder names the workload: set tables.workload, or workloads.NAME.aliases"
        )
        yield Problem("unknown_workload", "doubted", detail)


def _workload(row: SummaryRow, read: TableRead) -> str:
    word = row.workload
    if word is None:
        return read.workload
    return read.file.settings.workload_words.get(word, word)


def _claims(
    dataset: str, reads: Sequence[TableRead], notes: Notes, tally: RowCounts
) -> Iterator[_Claim]:
    counts: Counter[RunKey] = Counter()
    for read in sorted(reads, key=lambda read: read.file.path):
        settings = read.file.settings
        own = (*settings.columns.values(), *read.table.columns)
        declared = [column.name for column in own if column.role == "knob"]
        for row in read.table.rows:
            values = row.values
            knobs = order_knobs({name: values.get(name) for name in (*KEY_KNOBS, *declared)})
            system = canonical_system(row.system, settings)
            replicate = values.get("replicate")
            number = None if replicate is None else int(replicate)
            try:
                check_knobs(knobs)
            except FormatError as error:
                notes[read.file.path].add("bad_knob", "refused", f"{error}; row not read", row.line)
                tally.refused += 1
                continue
            key = RunKey(dataset, _workload(row, read), system, knobs, number)
            if read.table.is_numbered:
                # Rows without a replicate number are numbered in order, in each table from 0.
                place = dict(knobs) | {"variant": Path(read.file.path).name.split(".")[0]}
                key = replace(key, knobs=order_knobs(place), replicate=None)
                counts[key] += 1
                key = replace(key, replicate=counts[key] - 1)
            yield _Claim(read, row, key, set(row.flags))


def _last_replicates(claims: dict[RunKey, list[_Claim]]) -> dict[RunKey, int]:
    last: dict[RunKey, int] = defaultdict(lambda: -1)
    for key in claims:
        configuration = key.configuration
        number = -1 if key.replicate is None else key.replicate
        last[configuration] = max(last[configuration], number)
    return last


def _distinct(claims: Sequence[_Claim], notes: Notes, runs: SummaryRuns) -> list[_Claim]:
    kept: list[_Claim] = []
    for claim in claims:
        twin = next((other for other in kept if other.row.values == claim.row.values), None)
        if twin is None:
            kept.append(claim)
            continue
        runs.counts.dropped += 1
        detail = f"the same row as {_place(twin, claim)}; dropped"
        notes[claim.read.file.path].add("identical_row", "repaired", detail, claim.row.line)
    return kept


def _renumber(claim: _Claim, last: dict[RunKey, int], used: set[str], notes: Notes) -> _Claim:
    configuration = claim.key.configuration
    key = claim.key
    while key == claim.key or make_run_id(key) in used:
        last[configuration] += 1
        key = replace(configuration, replicate=last[configuration])
    detail = (
        f"run {make_run_id(claim.key)} exists with other values; kept as replicate {key.replicate}"
    )
    notes[claim.read.file.path].add("duplicate_key", "doubted", detail, claim.row.line)
    return _Claim(claim.read, claim.row, key, claim.flags | {"duplicate_key"})


def _place(claim: _Claim, beside: _Claim) -> str:
    is_same_file = claim.read is beside.read
    return f"line {claim.row.line}" + ("" if is_same_file else f" of {claim.read.file.path}")


def _build_row(claim: _Claim) -> dict[str, Any]:
    settings = claim.read.file.settings
    values = claim.row.values
    row = identity_columns(claim.key, settings)
    kept = claim.read.kept
    row |= {name: value for name, value in values.items() if value is not None and name in kept}
    if row.get("energy_j") is not None and row.get("duration_s"):
        row["power_w"] = row["energy_j"] / row["duration_s"]
    if claim.key.system not in settings.systems:
        claim.flags.add("unknown_system")
    sources = [
        source_struct(claim.read.file, claim.read.digest),
        settings_struct(settings, is_row=True),
    ]
    return {
        **row,
        "source": SUMMARY,
        "flags": sorted(claim.flags),
        "cores": [],
        "files": [],
        "sources": sources,
    }

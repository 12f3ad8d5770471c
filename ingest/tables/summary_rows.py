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
)
from ingest.discover.sources import settings_struct, source_struct
from ingest.formats.problem_list import ProblemList
from ingest.lake.state import SUMMARY
from ingest.records import Problem, SummaryRow, SummaryTable

# Problems of a kind that are listed by line; the rest become one problem with a count.
MAX_NAMED_LINES: Final = 200

# By path, the problems of a table.
Notes = dict[str, ProblemList]


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


@dataclass(slots=True)
class SummaryRuns:
    """The rows of a dataset's summary tables, and the problems by path.

    Attributes:
        rows: Rows of `runs`, each with a unique run id.
        dropped: Number of rows that repeated another row.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    problems: dict[str, list[Problem]] = field(default_factory=dict)
    dropped: int = 0


@dataclass(slots=True)
class _Claim:
    """A row and the run key in it, which other rows may have too."""

    read: TableRead
    row: SummaryRow
    key: RunKey
    flags: set[str]


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
    for claim in _claims(dataset, reads, notes):
        claims[claim.key].append(claim)
    further: list[_Claim] = []
    for key, same in claims.items():
        distinct = _distinct(same, notes, runs)
        if not taken or make_run_id(key) not in taken:
            runs.rows.append(_build_row(distinct.pop(0), notes))
        further += distinct
    used = set(taken)
    last = _last_replicates(claims) if further else {}
    for claim in further:
        runs.rows.append(_build_row(_renumber(claim, last, used, notes), notes))
    runs.problems = {
        read.file.path: read.table.problems + notes[read.file.path].all() for read in reads
    }
    return runs


def _claims(dataset: str, reads: Sequence[TableRead], notes: Notes) -> Iterator[_Claim]:
    counts: Counter[RunKey] = Counter()
    for read in sorted(reads, key=lambda read: read.file.path):
        settings = read.file.settings
        for row in read.table.rows:
            values = row.values
            declared = (c.name for c in settings.columns.values() if c.role == "knob")
            knobs = order_knobs({name: values.get(name) for name in (*KEY_KNOBS, *declared)})
            system = canonical_system(row.system, settings)
            replicate = values.get("replicate")
            number = None if replicate is None else int(replicate)
            try:
                check_knobs(knobs)
            except FormatError as error:
                notes[read.file.path].add("bad_knob", "refused", f"{error}; row not read", row.line)
                continue
            key = RunKey(dataset, row.workload or read.table.workload, system, knobs, number)
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
        runs.dropped += 1
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


def _build_row(claim: _Claim, notes: Notes) -> dict[str, Any]:
    settings = claim.read.file.settings
    values = claim.row.values
    row = identity_columns(claim.key, settings)
    kept = claim.read.kept
    row |= {name: value for name, value in values.items() if value is not None and name in kept}
    if row.get("energy_j") is not None and row.get("duration_s"):
        row["power_w"] = row["energy_j"] / row["duration_s"]
    if claim.key.system not in settings.systems:
        claim.flags.add("unknown_system")
        detail = f"the settings do not know the system {claim.key.system!r}; kept under this name"
        notes[claim.read.file.path].add("unknown_system", "doubted", detail, claim.row.line)
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

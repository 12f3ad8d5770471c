"""Convert per-run summary tables to rows of `runs`: one run per row, with unique keys."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from data.errors import FormatError
from ingest.discover.names import (
    RunKey,
    canonical_system,
    check_knobs,
    identity_columns,
    make_run_id,
    order_knobs,
)
from ingest.discover.source_reads import settings_struct, source_struct
from ingest.lake.recorded_runs import SUMMARY, RunIds
from ingest.records import Problem, ProblemList, SummaryRow
from ingest.settings.headings import quantity_of, read_heading
from ingest.tables.row_doubts import (
    Powers,
    Unknown,
    failed_exits,
    failure_of,
    states_of,
    unmeasured,
    way_to_name_it,
    workload_of_row,
)
from ingest.tables.table_reads import RowCounts, RowTrace, TableRead, window_of
from ingest.tables.unique_keys import DROPPED, FIRST, FURTHER, NONE, RowKeys

# Problems of a kind that are listed by line; the rest become one problem with a count.
MAX_NAMED_LINES: Final = 200
# Runs of one configuration that differ by more may be no replicates.
_UNLIKE: Final = 3.0
# A value so many times those of its replicates is none of the same quantity.
_FAR: Final = 1_000.0
# Rows of which all quantities with a better direction are compared.
_MOST_COMPARED: Final = 100_000
_COSTS: Final = ("energy_j", "duration_s")


@dataclass(slots=True)
class SummaryRuns:
    """The rows of a dataset's summary tables, and the problems by path.

    Attributes:
        rows: Yields rows of `runs`, each with a unique run id and perhaps a trace; may be called
            again.
        counts: Number of rows that were read, and of those that are no rows of `runs`.
    """

    rows: Callable[[], Iterator[tuple[dict[str, Any], RowTrace | None]]]
    problems: dict[str, list[Problem]]
    counts: RowCounts


@dataclass(slots=True)
class _Claim:
    """A row and the run key in it, which other rows may have too."""

    read: TableRead
    row: SummaryRow
    key: RunKey
    flags: set[str]


def resolve_tables(dataset: str, reads: Sequence[TableRead], taken: RunIds) -> SummaryRuns:
    """Convert all rows of a dataset's tables to runs, independently of the order of the files.

    Args:
        dataset: Name of the dataset.
        reads: All summary tables of the dataset.
        taken: Run ids of the dataset that come from raw logs, or from tables that no longer exist.

    If a key is there already, a row with identical values is dropped. A row with other values
    becomes a further replicate with the next free number and the flag `duplicate_key`.
    """
    return _Resolution(dataset, reads, taken).runs()


class _Resolution:
    """The rows of a dataset's tables, their keys, and what becomes of them.

    The rows are packed: each step reads them again.
    """

    def __init__(self, dataset: str, reads: Sequence[TableRead], taken: RunIds) -> None:
        self._dataset = dataset
        self._reads = sorted(reads, key=lambda read: read.file.path)
        self._notes = {read.file.path: ProblemList(MAX_NAMED_LINES) for read in reads}
        self._unknown: dict[str, list[Problem]] = defaultdict(list)
        self._refused = self._empty = 0
        # Of drops and misses, which have no unit, a run may have thousands where others have one.
        measured = [c for read in reads for c in read.table.columns if c.role == "metric"]
        own = {
            c.name for c in measured if c.better and (c.unit or quantity_of(read_heading(c.title)))
        }
        own = own if sum(len(read.table.rows) for read in reads) <= _MOST_COMPARED else set()
        self._costs = {name: array("d") for name in (*_COSTS, "power_w", *sorted(own))}
        keys = RowKeys()
        for number, read in enumerate(self._reads):
            self._add(number, read, keys)
        numbered = {n for n, read in enumerate(self._reads) if read.table.is_numbered}
        self._keys = keys.resolve(numbered)
        # Rows whose keys other runs have become further ones.
        for row, claim in self._claims() if taken else ():
            if self._keys.fates[row] == FIRST and make_run_id(claim.key) in taken:
                self._keys.fates[row] = FURTHER
        self._keys.renumber(
            (lambda row, n: make_run_id(replace(self._at(row).key, replicate=n)) in taken)
            if taken
            else None
        )

    def runs(self) -> SummaryRuns:
        """Return the rows and problems."""
        self._note_dropped()
        dropped = len(self._keys.rows_of(DROPPED))
        self._refuse_far()
        self._note_further()
        self._note_unlike()
        counts, problems = RowCounts(), dict[str, list[Problem]]()
        for read in self._reads:
            path, table = read.file.path, read.table
            counts.read += len(table.rows) + table.refused + table.summed + table.copied
            dropped += table.copied
            counts.refused += table.refused
            counts.summed += table.summed
            problems.setdefault(path, self._notes[path].all()).extend(table.problems)
            for each in read.joined:
                known = problems.setdefault(each.file.path, [])
                known += [found for found in each.table.problems if found not in known]
        for path, unknown in self._unknown.items():
            problems[path] += unknown
        counts.refused += self._refused
        counts.dropped = dropped + self._empty
        return SummaryRuns(self._rows, problems, counts)

    def _add(self, number: int, read: TableRead, keys: RowKeys) -> None:
        """Read the keys of a table's rows; note rows without one, and what is unknown."""
        unknown, powers, states = Unknown(read), Powers(read), states_of(read)
        if read.is_plan:
            detail = f"nothing was measured in any of its {len(read.table.rows)} rows, as of a plan"
            detail += " that was not run yet; no runs"
            self._notes[read.file.path].add("empty_row", "refused", detail)
            self._refused += len(read.table.rows)
            return
        if read.is_guessed and read.table.rows and not read.measured:
            self._notes[read.file.path].add("no_metric", "doubted", unmeasured(read))
        for index, row in enumerate(read.table.rows):
            if read.is_empty(row) and not all(map(read.is_empty, read.table.rows)):
                detail = "nothing was measured; not a run"
                self._notes[read.file.path].add("empty_row", "repaired", detail, row.line)
                self._empty += 1
                continue
            if detail := next((said for each in states if (said := failure_of(each, row))), ""):
                self._notes[read.file.path].add("failed_run", "refused", detail, row.line)
                self._refused += 1
                continue
            unknown.add(row)
            try:
                key = self._key(read, row)
            except FormatError as error:
                detail = f"{error}; row not read"
                self._notes[read.file.path].add("bad_knob", "refused", detail, row.line)
                self._refused += 1
                continue
            if detail := powers.doubt(row.values):
                self._notes[read.file.path].add("odd_power", "doubted", detail, row.line)
            configuration = key.workload, key.system, key.knobs
            keys.add(number, index, row.line, configuration, key.replicate, row.values)
            for name, known in self._costs.items():
                value = row.values.get(name)
                known.append(float(value) if value and not isinstance(value, str) else np.nan)
        self._unknown[read.file.path] += [*unknown.problems(), *failed_exits(read)]

    def _key(self, read: TableRead, row: SummaryRow) -> RunKey:
        """Return the key in a row; rows of a numbered table have no replicate number in it.

        Raises:
            FormatError: A knob cannot be decoded.
        """
        settings, values = read.file.settings, row.values
        knobs = order_knobs({name: values.get(name) for name in read.knobs})
        check_knobs(knobs)
        replicate = values.get("replicate")
        number = None if replicate is None else int(replicate)
        if read.table.is_numbered:
            # Rows without a replicate number are numbered in order, in each table from 0.
            name = Path(read.file.path).name.split(".")[0]
            place = dict(knobs) | {"variant": f"{name} {read.table.place}".rstrip()}
            knobs, number = order_knobs(place), None
        system = canonical_system(row.system, settings)
        return RunKey(self._dataset, workload_of_row(row, read), system, knobs, number)

    def _claims(self) -> Iterator[tuple[int, _Claim]]:
        """Yield the rows that have a key, with the key as it now is."""
        keys = self._keys
        row, places = 0, keys.places.tolist()
        for number, read in enumerate(self._reads):
            end = int(np.searchsorted(keys.tables, number, side="right"))
            for place, content in enumerate(read.table.rows):
                if row < end and places[row] == place:
                    yield row, self._claim(row, read, content)
                    row += 1

    def _claim(self, row: int, read: TableRead, content: SummaryRow) -> _Claim:
        replicate = int(self._keys.replicates[row])
        number = None if replicate == NONE else replicate
        key = replace(self._key(read, content), replicate=number)
        return _Claim(read, content, key, set(content.flags))

    def _at(self, row: int) -> _Claim:
        read = self._reads[self._keys.tables[row]]
        return self._claim(row, read, read.table.rows[int(self._keys.places[row])])

    def _note_dropped(self) -> None:
        keys = self._keys
        for row in keys.rows_of(DROPPED).tolist():
            read, twin = self._reads[keys.tables[row]], keys.twins[row]
            path = self._reads[keys.tables[twin]].file.path
            where = f"line {keys.lines[twin]}" + ("" if path == read.file.path else f" of {path}")
            detail = f"the same row as {where}; dropped"
            self._notes[read.file.path].add(
                "identical_row", "repaired", detail, int(keys.lines[row])
            )

    def _note_further(self) -> None:
        """Note rows with the key of another one; only the details that are kept are written."""
        keys, noted = self._keys, Counter[str]()
        for row in keys.rows_of(FURTHER).tolist():
            path, detail = self._reads[keys.tables[row]].file.path, ""
            noted[path] += 1
            if noted[path] <= MAX_NAMED_LINES + 1:
                claim = self._at(row)
                before = keys.replicates_before[row]
                replicate = None if before == NONE else int(before)
                was = make_run_id(replace(claim.key, replicate=replicate))
                detail = (
                    f"run {was} exists with other values; kept as replicate {claim.key.replicate}"
                )
            self._notes[path].add("duplicate_key", "doubted", detail, int(keys.lines[row]))

    def _refuse_far(self) -> None:
        """Leave out rows with a value that is orders of magnitude from most of its settings.

        Not those that took as much more time as energy: no columns slipped, they did more.
        """
        far = {
            name: self._keys.far(np.array(known), _FAR, _UNLIKE)
            for name, known in self._costs.items()
        }
        energies, times = (
            {row: self._costs[name][row] / median for row, median in far[name].items()}
            for name in _COSTS
        )
        both = energies.keys() & times.keys()
        longer = {row for row in both if 1 / _UNLIKE < energies[row] / times[row] < _UNLIKE}
        for name, known in self._costs.items():
            for row, median in far[name].items():
                if row in longer or self._keys.fates[row] == DROPPED:
                    continue
                claim, value = self._at(row), known[row]
                detail = (
                    f"{name} {value:.6g} where most rows of its settings have {median:.4g}: "
                    "columns may have slipped; not a run"
                )
                notes = self._notes[claim.read.file.path]
                notes.add("far_replicate", "refused", detail, claim.row.line)
                self._keys.fates[row] = DROPPED
                self._refused += 1

    def _note_unlike(self) -> None:
        """Note configurations whose runs differ so much that they may be no replicates."""
        for name in _COSTS:
            for row, least, most in self._keys.unlike(np.array(self._costs[name])):
                claim, unit = self._at(row), name.rpartition("_")[2].replace("j", "J")
                knobs = ", ".join(f"{n} {v}" for n, v in claim.key.knobs if n != "variant")
                detail = (
                    f"runs of {knobs or claim.key.workload} have {least:.4g} to {most:.4g} {unit}, "
                    f"{most / least:.1f} times as much: if something else was set, "
                    f"{way_to_name_it(claim.read)}"
                )
                path = claim.read.file.path
                self._notes[path].add("unlike_replicates", "doubted", detail, claim.row.line)

    def _rows(self) -> Iterator[tuple[dict[str, Any], RowTrace | None]]:
        fates = self._keys.fates
        for row, claim in self._claims():
            if fates[row] != DROPPED:
                if fates[row] == FURTHER:
                    claim.flags.add("duplicate_key")
                yield _build_row(claim), claim.read.traces.get(int(self._keys.places[row]))


def _build_row(claim: _Claim) -> dict[str, Any]:
    settings = claim.read.file.settings
    values = claim.row.values
    row = identity_columns(claim.key, settings)
    kept = claim.read.kept
    row |= {name: value for name, value in values.items() if value is not None and name in kept}
    if row.get("duration_s") is None and (window := window_of(values)) is not None:
        row["duration_s"] = window[1] - window[0]
        claim.flags.add("duration_derived")
    is_stated = any(values.get(name) is not None for name in ("energy_j", *claim.read.energies))
    if not is_stated and None not in (row.get("power_w"), row.get("duration_s")):
        row["energy_j"] = row["power_w"] * row["duration_s"]
        claim.flags.add("energy_derived")
    if "power_w" not in row and None not in (row.get("energy_j"), row.get("duration_s") or None):
        row["power_w"] = row["energy_j"] / row["duration_s"]
        claim.flags.add("power_derived")
    if claim.key.system not in settings.systems:
        claim.flags.add("unknown_system")
    sources = [
        *(source_struct(each.file, each.digest) for each in (claim.read, *claim.read.joined)),
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

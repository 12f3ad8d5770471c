"""Tables that say more of the runs of another table: one of energies, one of latencies or quality.

A table without an energy or a power, each row of which is known by its settings, belongs to the
table with the same settings that has one: `quality.csv` with a row a video beside `energy.csv` with
three runs of each. In folders of one run each, a table of one row belongs to that with the energy:
`metrics.json` beside `emissions.csv`. A table of configurations belongs to that whose rows have the
numbers of these.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from ingest.discover.found_files import Ignored
from ingest.files.packed import Packed
from ingest.records import SummaryRow
from ingest.settings.headings import words_of
from ingest.settings.word_lists import WORDS
from ingest.tables.summary_rows import TableRead

_COSTS: Final = ("energy_j", "power_w")
# Tables of more rows are no lists of settings.
_MOST_ROWS: Final = 100_000
_Key = tuple[Any, ...]


def join_tables(reads: Sequence[TableRead]) -> tuple[list[TableRead], list[Ignored]]:
    """Return the tables without those whose rows others took, and what became of these."""
    if len(reads) < 2:
        return list(reads), []
    folders = [*_of_folders(reads)]
    reads = [r for r in reads if not any(r is read and _join(r, o, ()) for read, o in folders)]
    ignored = [_more_of(read, other) for read, other in folders]
    settings = {id(read): _settings_of(read) for read in reads if len(read.table.rows) > 1}
    costs = [each for each in reads if id(each) in settings and _has_cost(each)]
    kept = list(reads)
    for read in reads:
        if id(read) not in settings or _has_cost(read):
            continue
        names = settings[id(read)]
        for other in costs:
            is_alike = bool(names) and {*names} <= {*settings[id(other)]}
            if (is_alike and _join(read, other, names)) or _join_by_number(read, other):
                kept.remove(read)
                ignored.append(_more_of(read, other))
                break
    return kept, ignored


def _more_of(read: TableRead, other: TableRead) -> Ignored:
    return Ignored(read.file.path, f"more of the runs of {other.file.name}")


def _of_folders(reads: Sequence[TableRead]) -> Iterator[tuple[TableRead, TableRead]]:
    """Yield tables of one row without a cost with the only one of their folder that has a cost.

    Nothing if only one folder has such tables.
    """
    folders: dict[str, list[TableRead]] = {}
    for read in reads:
        folders.setdefault(read.file.path.rpartition("/")[0], []).append(read)
    pairs = []
    for tables in folders.values():
        costs = [read for read in tables if _has_cost(read)]
        if len(costs) == 1 == len(costs[0].table.rows):
            more = [read for read in tables if read is not costs[0] and len(read.table.rows) == 1]
            pairs += [(read, costs[0]) for read in more]
    if len({id(other) for _, other in pairs}) > 1:
        yield from pairs


def _has_cost(read: TableRead) -> bool:
    return any(row.values.get(name) is not None for row in read.table.rows for name in _COSTS)


def _settings_of(read: TableRead) -> list[str]:
    """Return the columns by which the rows of a table are known: knobs, and the replicate."""
    if len(read.table.rows) > _MOST_ROWS:
        return []
    names = (*read.knobs, "replicate")
    found = {n for row in read.table.rows for n in names if row.values.get(n) is not None}
    return [name for name in names if name in found]


def _join_by_number(read: TableRead, other: TableRead) -> bool:
    """Give rows the settings of the configuration whose number or name they have, if all fit."""
    there = {column.name for column in other.table.columns}
    shared = [c.name for c in read.table.columns if c.name in there and c.kind != "real"]
    if len(shared) != 1 or not _join(read, other, shared):
        return False
    # Of a number and what it stands for that is the setting, of a device and its properties the
    # device.
    is_number = bool({*words_of(shared[0])} & WORDS["identifiers"])
    further = {column.name for column in read.table.columns} - there
    labels = {shared[0]} if is_number else further
    other.table.columns = [
        replace(c, role="label") if c.name in labels and c.role == "knob" else c
        for c in other.table.columns
    ]
    other.__dict__.pop("knobs", None)
    return True


def _join(read: TableRead, other: TableRead, names: Sequence[str]) -> bool:
    """Give the rows of another table the values of rows with their settings, if all fit."""
    rows: dict[_Key, SummaryRow] = {}
    for key, row in _keyed(read, names):
        if key in rows:
            return False
        rows[key] = row
    if not rows.keys() <= {key for key, _ in _keyed(other, names)}:
        return False
    there = {column.name for column in other.table.columns}
    other.table.columns += [c for c in read.table.columns if c.name not in there]
    filled: Packed[SummaryRow] = Packed()
    for key, row in _keyed(other, names):
        more = rows[key].values if key in rows else {}
        row.values |= {n: value for n, value in more.items() if row.values.get(n) is None}
        filled.append(row)
    other.table.rows = filled
    other.joined.append(read)
    return True


def _keyed(read: TableRead, names: Sequence[str]) -> Iterator[tuple[_Key, SummaryRow]]:
    for row in read.table.rows:
        yield tuple(row.values.get(name) for name in names), row

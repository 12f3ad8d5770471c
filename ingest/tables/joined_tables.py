"""Tables that say more of the runs of another table: one of energies, one of latencies or quality.

A table without an energy or a power belongs to that which has one (one of a quality alone, as of
`accuracy`, to any other where none has) if both have the same columns of
settings, the same folder (or paths that differ in the words of what was measured alone), workload
and system, and if they agree in what both measured; or if a column of both names each run. In
folders of one run each, a table of one row belongs to that with the energy, or with what was
measured: `metrics.json` beside `emissions.csv`. A table of configurations belongs to those whose
rows have the numbers of these. Where a rule cannot tell, nothing is joined.
A problem says what was joined, and what was not.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isclose
from pathlib import Path
from typing import Any, Final

from ingest.discover.found_files import Ignored
from ingest.discover.names import canonical_system
from ingest.files.packed import Packed
from ingest.records import Problem, Severity, SummaryRow
from ingest.settings.column_names import WORDS
from ingest.settings.heading_words import words_of
from ingest.settings.units import unit_of
from ingest.tables.table_reads import TableRead

_COSTS: Final = ("energy_j", "power_w")
# Tables of more rows are no lists of settings.
_MOST_ROWS: Final = 100_000
# Two files may say a time or a rate of one run that differ by so much.
_TOLERANCE: Final = 0.05
# Names of so many runs are not the same by chance, as numbers of rows are.
_FEWEST: Final = 3
_OF_ROWS: Final = frozenset({"index", "idx", "nr", "pid", "lfd"})
_Key = tuple[Any, ...]
_Words = frozenset[str]


def join_tables(reads: Sequence[TableRead]) -> tuple[list[TableRead], list[Ignored]]:
    """Return the tables without those whose rows others took, and what became of these."""
    joins = [*_of_folders(reads)]
    settings = {id(read): _settings_of(read) for read in reads if len(read.table.rows) > 1}
    costs = [each for each in reads if id(each) in settings and _has_cost(each)]
    has_costs = bool(costs)
    costs = costs or [r for r in reads if id(r) in settings and r.measured and not _is_quality(r)]
    for read in reads:
        # Where nothing has a cost a quality alone is of the runs of another table.
        is_more = not _has_cost(read) if has_costs else bool(read.measured) and _is_quality(read)
        if costs and id(read) in settings and is_more:
            own = settings[id(read)]
            joins.append((read, [_join_of(read, own, each, settings[id(each)]) for each in costs]))
    filled = Counter(name for _, tries in joins for each in tries for name in each.fills)
    gone, ignored = set[int](), []
    for read, tries in joins:
        fits = [each for each in tries if each.is_alike and not each.reason]
        for at, each in enumerate(fits):
            if twice := [name for name in each.fills if filled[name] > 1]:
                fits[at] = replace(each, reason=f"another table has {twice[0][1]} too")
        if len(fits) > 1 and read.measured:
            fits = [replace(each, reason=f"it fits {len(fits)} tables") for each in fits[:1]]
        for each in fits:
            if not each.reason:
                each.apply()
                if not read.table.rows:
                    gone.add(id(read))
                    path = each.other.file.name
                    ignored.append(Ignored(read.file.path, f"more of the runs of {path}", True))
        refused = next((each for each in (*fits, *tries) if each.reason), None)
        if refused and id(read) not in gone:
            name = refused.other.file.name
            detail = f"not joined to {name}, whose settings fit: {refused.reason}"
            read.table.problems.append(Problem("not_joined", "doubted", detail))
    return [read for read in reads if id(read) not in gone], ignored


@dataclass(frozen=True, slots=True)
class _Join:
    """Whether rows of a table are more of those of another one.

    Attributes:
        names: Columns by which rows of both are known.
        is_alike: Whether all of its rows have a row there.
        reason: Why it must not be joined; empty if it may.
        doubt: What is doubted of the join.
        is_by_id: Whether a name of each run, which both tables have, tells the rows.
        labels: Columns of settings that become labels.
    """

    read: TableRead
    other: TableRead
    names: Sequence[str] = ()
    is_alike: bool = False
    reason: str = ""
    doubt: str = ""
    is_by_id: bool = False
    labels: _Words = field(default=frozenset())

    @property
    def fills(self) -> list[tuple[int, str]]:
        """The measurements that the other table gets, with what that is; none if it gets none.

        A study's own column and that of the lake may be one heading.
        """
        if not self.is_alike or self.reason:
            return []
        new = {*self.read.measured} - {*self.other.measured}
        return sorted({(id(self.other), name.removesuffix("_metric")) for name in new})

    def apply(self) -> None:
        """Give the rows of the other table the values of rows with their settings."""
        read, other = self.read, self.other
        rows, given, used = dict(_keyed(read, self.names, self.is_by_id)), {}, set[_Key]()
        for at, (key, _) in enumerate(_keyed(other, self.names, self.is_by_id)):
            used.add(key)
            if key in rows:
                # Of names of runs and a meter's readings the former say what ran.
                of_file = read.workload if read.measured else None
                workload = (rows[key].workload or of_file) if self.is_by_id else None
                given[at] = SummaryRow(0, "", rows[key].values, workload=workload)
        new = other.fill(given, read.table.columns)
        other.declare([
            replace(c, role="label") if c.name in self.labels and c.role == "knob" else c
            for c in other.table.columns
        ])  # fmt: skip
        read.table.rows = Packed(row for key, row in rows.items() if key not in used)
        other.joined.append(read)
        by = f"by {', '.join(sorted(self.names))}" if self.names else "the only row of its folder"
        detail = f"{', '.join(sorted(new)) or 'no column'} from {read.file.name}, {by}"
        severity: Severity = "doubted" if self.doubt else "repaired"
        problem = Problem("joined_table", severity, f"{detail}{self.doubt and '; '}{self.doubt}")
        other.table.problems.append(problem)


def _join_of(
    read: TableRead, own: Sequence[str], other: TableRead, settings: Sequence[str]
) -> _Join:
    """Return the join to a table with a cost by names of runs or the settings of both, else by
    numbers.
    """
    if name := _name_of_runs(read, other):
        return _checked(_Join(read, other, [name], is_by_id=True))
    join = _Join(read, other, own)
    if read.measured and not {*own} <= {*settings}:
        return join
    if read.measured and own and (join := _checked(join)).is_alike:
        missing = [name for name in settings if name not in own]
        if join.reason or not missing:
            return join
        said = f"it does not say of which {', '.join(missing)} its values are"
        is_quality = _is_quality(read)
        return replace(join, doubt=said) if is_quality else replace(join, reason=said)
    there = {column.name for column in other.table.columns}
    shared = [c.name for c in read.table.columns if c.name in there and c.kind != "real"]
    # Of a number and what it stands for that is the setting, of a device and its properties the
    # device.
    is_number = len(shared) == 1 and bool({*words_of(shared[0])} & WORDS["identifiers"])
    if len(shared) != 1 or (read.measured and not is_number):
        return _Join(read, other)
    further = {column.name for column in read.table.columns} - there
    labels = frozenset(shared if is_number else further)
    return _checked(_Join(read, other, shared, labels=labels))


def _name_of_runs(read: TableRead, other: TableRead) -> str:
    """Return the column of both tables that names each of their runs; empty if there is none.

    No name stands twice in a table, and most of the names stand in both: `exp_id`.
    """
    own_columns, there = (
        {c.name: c for c in (*each.file.settings.columns.values(), *each.table.columns)}
        for each in (read, other)
    )
    for column in own_columns.values():
        if column.name not in there or column.role != "label" or column.kind == "real":
            continue
        rows = read.table.rows, other.table.rows
        own, others = ([row.values.get(column.name) for row in each] for each in rows)
        is_unique = len(own) == len({*own}) and len(others) == len({*others})
        is_shared = 2 * len({*own} & {*others} - {None}) > len(own)
        # Texts are names, and numbers that their heading says to identify runs.
        identifiers = {*words_of(column.title)} & WORDS["identifiers"] - _OF_ROWS
        is_name = column.kind == "text" or bool(identifiers)
        if is_unique and is_shared and len(own) >= _FEWEST and is_name:
            return column.name
    return ""


def _are_apart(join: _Join) -> bool:
    """Return whether numbers only count the rows of two tables, each with settings of its own."""
    here, there = ({*_settings_of(each)} - {"replicate"} for each in (join.read, join.other))
    numbers = {row.values.get(join.names[0]) for row in join.read.table.rows}
    is_count = any(numbers == {*range(n, n + len(numbers))} for n in (0, 1))
    return is_count and not (here <= there or there <= here)


def _checked(join: _Join) -> _Join:
    """Return a join with what speaks against it."""
    read, other, names = join.read, join.other, join.names
    rows: dict[_Key, SummaryRow] = {}
    for key, row in _keyed(read, names, join.is_by_id):
        if key in rows:
            return join
        rows[key] = row
    there = Counter(key for key, _ in _keyed(other, names, join.is_by_id))
    measured = read.measured
    if lacking := rows.keys() - there.keys():
        # Most rows of two tables without a measurement in common.
        is_most = 2 * len(lacking) < len(rows) and {*measured}.isdisjoint(other.measured)
        # Runs of which there are not as many were not the same.
        is_most &= "replicate" not in names
        if not (measured and is_most):
            return join
        reason = f"{len(lacking)} of {len(rows)} rows have none there, and are runs of their own"
        rows = {key: row for key, row in rows.items() if key in there}
        join = replace(join, doubt=reason)
    join = replace(join, is_alike=True)
    folders = [Path(each.file.path).parent for each in (read, other)]
    if join.is_by_id:
        reason = "numbers count the rows of both, each with settings of its own"
        return replace(join, reason=reason) if _are_apart(join) else _in_agreement(join, rows)
    if folders[0] != folders[1] if not (names and measured) else _place(read) != _place(other):
        return replace(join, reason="its path names something else")
    # A workload that is a word of the path was compared with the path.
    said_of = [_said(each.workload) - {*words_of(each.file.path)} for each in (read, other)]
    if measured and said_of[0] != said_of[1]:
        return replace(join, reason=f"workload {read.workload}, not {other.workload}")
    if measured and _names_aside(read) != _names_aside(other):
        return replace(join, reason="its name is that of a part of a run")
    if measured and max(there[key] for key in rows) > 1:
        reason = "several rows there have the settings of one here"
        if not _is_quality(read):
            return replace(join, reason=reason)
        join = replace(join, doubt=reason)
    return _in_agreement(join, rows)


def _in_agreement(join: _Join, rows: Mapping[_Key, SummaryRow]) -> _Join:
    """Return a join with what speaks against it in the cells of both tables.

    Args:
        rows: Those that another table has too.
    """
    read, other, names, measured = join.read, join.other, join.names, join.read.measured
    units = {c.name: c.unit for c in other.table.columns}
    if odd := [c.name for c in read.table.columns if units.get(c.name, c.unit) != c.unit]:
        return replace(join, reason=f"{odd[0]} has another unit")
    # What is one in a whole table is a label, such as its benchmark.
    exact = {*read.knobs, "replicate"} | {
        column.name
        for column in read.table.columns
        if column.role == "label" and {*words_of(column.name)} & (WORDS["set"] | WORDS["given"])
    }
    # A configuration numbers the runs of its setting, as by a seed, and a folder those of all.
    shared = [*({*exact} - (set() if names or measured else {"replicate"})), *measured]
    for key, row in _keyed(other, names, join.is_by_id):
        for name in shared if key in rows else ():
            here, known = rows[key].values.get(name), row.values.get(name)
            if here is None or known is None or here == known:
                continue
            if name in exact or not (
                isinstance(here, int | float)
                and isinstance(known, int | float)
                and isclose(here, known, rel_tol=_TOLERANCE)
            ):
                return replace(join, reason=f"{name} is {here}, not {known}")
            join = replace(join, doubt=f"{name} is {here}, not {known}, which was kept")
    return join


def _of_folders(reads: Sequence[TableRead]) -> Iterator[tuple[TableRead, list[_Join]]]:
    """Yield tables of one row with the only one of their folder that has a cost, else anything
    measured: `config.yaml` beside `metrics.json`.

    Nothing if only one folder has such tables. Those of a warm-up are no runs, and are set aside;
    two that say the same column are not joined.
    """
    folders: dict[str, list[TableRead]] = {}
    for read in reads:
        folders.setdefault(read.file.path.rpartition("/")[0], []).append(read)
    groups = []
    for tables in folders.values():
        costs = [read for read in tables if _has_cost(read)]
        costs = costs or [read for read in tables if read.measured]
        if len(costs) == 1 == len(costs[0].table.rows):
            more = [read for read in tables if read is not costs[0] and len(read.table.rows) == 1]
            groups += [(costs[0], more)] if more else []
    for cost, more in groups if len(groups) > 1 else ():
        for read in more:
            if _names_aside(read):
                detail = "its name says that it is no run: not used"
                read.table.problems.append(Problem("set_aside", "refused", detail))
                read.table.refused += len(read.table.rows)
                read.table.rows = Packed()
            else:
                yield read, [_checked(_Join(read, cost))]


def _is_quality(read: TableRead) -> bool:
    return all({*words_of(name)} & WORDS["quality"] for name in read.measured)


def _place(read: TableRead) -> list[_Words]:
    """Return the words of each part of the path that say more than what was measured."""
    path = Path(read.file.path)
    return [*filter(None, map(_said, (*path.parent.parts, read.file.name.rpartition(".")[0])))]


def _said(name: str) -> _Words:
    words = words_of(name)
    if len(words) > 1 and unit_of(words[-1]) and words[-2] in WORDS["measures"]:
        words = words[:-1]
    return frozenset(words) - WORDS["measures"] - WORDS["quality"]


def _names_aside(read: TableRead) -> _Words:
    return frozenset(words_of(read.file.name)) & WORDS["aside"]


def _has_cost(read: TableRead) -> bool:
    return any(row.values.get(name) is not None for row in read.table.rows for name in _COSTS)


def _settings_of(read: TableRead) -> list[str]:
    """Return the columns by which the rows of a table are known: knobs, and the replicate."""
    if len(read.table.rows) > _MOST_ROWS:
        return []
    names = (*read.knobs, "replicate")
    found = {n for row in read.table.rows for n in names if row.values.get(n) is not None}
    return [name for name in names if name in found]


def _keyed(
    read: TableRead, names: Sequence[str], is_by_id: bool = False
) -> Iterator[tuple[_Key, SummaryRow]]:
    settings = read.file.settings
    for row in read.table.rows:
        workload = row.workload and settings.workload_words.get(row.workload, row.workload)
        place = () if is_by_id else (workload, canonical_system(row.system, settings))
        yield (*place, *(row.values.get(name) for name in names)), row

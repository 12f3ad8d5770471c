"""The columns of the lake that the columns of a table become."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from data.catalogue import AGGREGATE_N, SHIPPED, sd_column
from data.declared import Column, Kind, Role
from data.errors import FormatError
from data.schema import KNOBS, MEASUREMENTS
from ingest.declarations import Aggregate, TableColumn, TableDeclaration
from ingest.formats.json_cells import Cell
from ingest.formats.table_rows import Table
from ingest.formats.written_numbers import MOST_WHOLE, WHOLE, is_number, is_unset
from ingest.settings.column_names import clean_name
from ingest.settings.heading_words import words_of
from ingest.settings.headings import read_heading, without_unit
from ingest.settings.tables import CORE, VARIANT

# What tables call the number of the core that a row is of.
_CORE_HEADINGS: Final = frozenset({"core", "core_id", "cpu", "cpu_id"})
_MOST_CORES: Final = 1024
# Ends the name of a column whose heading is that of another column of the lake.
OF_TABLE: Final = " of table"
# A column of numbers with more values than this is no factor of an experiment.
_MOST_FACTORS: Final = 20
N_COLUMN: Final = Column(
    AGGREGATE_N, "label", "whole", "Runs in a row", "runs in row",
    description="Number of runs that a row of a table is the mean of; NULL for a run.",
)  # fmt: skip


@dataclass(slots=True)
class Target:
    """The column of the lake that a column of the table becomes.

    Attributes:
        index: Index in the row.
        name, kind: Name and type in the lake.
        declared: Its declaration.
        own: Description of an undeclared column; None for a declared one.
        least: Lowest valid value.
        scale_index: Index of the column that decides the scale of each row; None for none.
        is_guessed: Whether nobody declared the table.
    """

    index: int
    heading: str
    name: str
    kind: str
    declared: TableColumn
    own: Column | None = None
    least: float = -math.inf
    scale_index: int | None = None
    is_guessed: bool = False

    @property
    def may_lack(self) -> bool:
        """Whether a cell that is no number is left unset; else its row is refused."""
        if self.own is not None:
            return self.own.role == "metric"
        return self.is_guessed and self.name in MEASUREMENTS


def targets_of(table: Table, declaration: TableDeclaration, file: str) -> list[Target]:
    """Return where each column goes.

    Of two that go to one place by a guess the one with the shorter heading has it, the other keeps
    its own name. Two that someone declared are refused.
    """
    shape = declaration.aggregate
    spreads = _spread_columns(table.headings, shape)
    declaration = _with_own_names(declaration, table.headings)
    targets: list[Target] = []
    aimed = {each.to for name, each in declaration.columns.items() if name in table.headings}
    parts = {name for text in declaration.split.values() for name in re.compile(text).groupindex}
    for index, heading in enumerate(table.headings):
        # What a split text says too gives way to a column of its own.
        if index in spreads or (heading in aimed & parts and heading not in declaration.columns):
            continue
        if shape is not None and heading == shape.n:
            targets.append(Target(index, heading, AGGREGATE_N, "whole", TableColumn(), N_COLUMN))
            continue
        bare = heading.replace(shape.mean, "", 1) if shape is not None else heading
        declared = declaration.columns.get(heading, declaration.columns.get(bare, TableColumn()))
        if declared.is_dropped or (not heading and declared.to is None and index == 0):
            continue
        bare = declared.name or bare
        is_known = bare in declaration.kinds and bare != VARIANT
        name = declared.to or (bare if is_known and bare != CORE else None)
        if name is None and bare.lower() in _CORE_HEADINGS and declaration.kinds[CORE] == CORE:
            name = CORE if _are_core_numbers(table.column(index)) else None
        elif name is None and is_known:
            name = bare
        if name is not None:
            kind = declaration.kinds[name]
            least = 0.0 if name in KNOBS or name in MEASUREMENTS else -math.inf
            is_guessed = bool(declaration.guessed)
            target = Target(
                index, heading, name, kind, declared, least=least, is_guessed=is_guessed
            )
            targets.append(target)
            continue
        taken = {t.name for t in targets} | {n for n, k in declaration.kinds.items() if k != CORE}
        own_kind = _kind_in(table.column(index), declared.role)
        role = declared.role or _role_of(own_kind, table.column(index), declaration)
        if heading in table.keys and declared.role is None:
            role = "knob"
        name = clean_name(bare, own_kind, taken, role)
        shown = declared.unit or table.units.get(heading, "")
        # The lake's column of that name is another one, and has no values beside it.
        bare = bare.removesuffix(OF_TABLE)
        title = (without_unit(bare) if shown and bare else bare) or name
        own = Column(name, role, own_kind, title, title, shown)
        own = replace(own, better=declared.better, is_given=declared.is_given)
        targets.append(Target(index, heading, name, own_kind, declared, own))
    for target in targets:
        unit = next(iter(target.declared.scale_by), None)
        target.scale_index = table.headings.index(unit) if unit in table.headings else None
    targets += _spread_targets(table.headings, spreads, targets)
    names = [target.name for target in targets]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise FormatError(f"two columns go to {twice[0]!r} ({file})")
    return targets


def _with_own_names(declaration: TableDeclaration, headings: Sequence[str]) -> TableDeclaration:
    """Return a guessed declaration of which no two columns go to one place.

    It was guessed from other files, or from several tables, which fit this one together. What a
    person corrected comes first.
    """
    if not declaration.guessed:
        return declaration
    columns, taken = dict(declaration.columns), set[str]()
    places = {name: place for name in headings if (place := _place_of(name, declaration))}
    by_strength = sorted(
        places,
        key=lambda name: (
            name not in declaration.corrected,
            not (name in columns and columns[name].to),
            name.count("."),
            len(words_of(name)),
        ),
    )
    for name in by_strength:
        if places[name] in taken:
            unit, own = read_heading(name).unit, f"{name}{OF_TABLE}" * (name in declaration.kinds)
            columns[name] = TableColumn(name=own, unit=unit.text if unit else "")
        taken.add(places[name])
    return replace(declaration, columns=columns)


def _place_of(heading: str, declaration: TableDeclaration) -> str:
    """Return the column of the lake or of the dataset to which a column goes; empty for its own."""
    shape = declaration.aggregate
    bare = heading.replace(shape.mean, "", 1) if shape is not None else heading
    declared = declaration.columns.get(heading, declaration.columns.get(bare, TableColumn()))
    if declared.is_dropped or (shape is not None and heading == shape.n):
        return ""
    bare = declared.name or bare
    is_known = bare in declaration.kinds and bare not in (VARIANT, CORE)
    return declared.to or (bare if is_known else "")


def _are_core_numbers(cells: Iterable[Cell]) -> bool:
    """Return whether a column numbers the cores of runs: 0 to n - 1, each as often as the others.

    Other columns of such names hold the use of the processor in percent, or its energy.
    """
    counts = Counter(str(cell).strip() for cell in cells if cell not in (None, ""))
    return (
        2 <= len(counts) <= _MOST_CORES
        and counts.keys() == {*map(str, range(len(counts)))}
        and max(counts.values()) - min(counts.values()) <= 1
    )


def _spread_columns(headings: Sequence[str], shape: Aggregate | None) -> dict[int, int]:
    """Map the index of each column of deviations to the index of its column of means."""
    if shape is None:
        return {}
    means = {heading: index for index, heading in enumerate(headings)}
    return {
        index: means[mean or ""]
        for index, heading in enumerate(headings)
        if (mean := shape.mean_of(heading)) in means and mean != heading
    }


def _spread_targets(
    headings: Sequence[str], spreads: Mapping[int, int], targets: Iterable[Target]
) -> list[Target]:
    """Return the targets of the deviations; each has the unit of its mean."""
    of_mean = {target.index: target for target in targets if target.kind != "text"}
    spread_targets = []
    for index, mean_index in spreads.items():
        mean = of_mean.get(mean_index)
        if mean is None:
            continue
        known = SHIPPED.metrics.get(mean.name)
        title = known.title if known is not None else mean.name
        own = Column(
            sd_column(mean.name),
            "label",
            "real",
            f"{title}, deviation",
            f"sd of {title}",
            known.unit if known is not None else "",
            description=f"Sample standard deviation of {mean.name} over the runs of a row.",
        )
        declared = TableColumn(scale=abs(mean.declared.scale))
        spread_targets.append(Target(index, headings[index], own.name, "real", declared, own))
    return spread_targets


def kind_of(cells: Iterable[Cell]) -> Kind:
    """Return the type of a column: numbers if all values that are set are numbers, else text."""
    is_whole = True
    count = 0
    for cell in cells:
        if cell is None or (isinstance(cell, str) and is_unset(cell)):
            continue
        count += 1
        if isinstance(cell, str):
            text = cell.strip()
            if WHOLE.fullmatch(text) and text != "-0" and abs(int(text)) < MOST_WHOLE:
                continue
            is_plain = is_number(text) and not re.fullmatch(r"[-+]?0\d.*", text)
            if not is_plain or not math.isfinite(float(text)):
                return "text"
            is_whole = False
        elif isinstance(cell, float) or abs(cell) >= MOST_WHOLE:
            if math.isinf(cell):
                return "text"
            is_whole = False
    return "text" if not count else ("whole" if is_whole else "real")


def _kind_in(cells: Iterable[Cell], role: Role | None) -> Kind:
    """Return the type of a column that the lake has not.

    What was measured are numbers if no cell has a value, or any cell is a number.
    """
    there = [cell for cell in cells if cell is not None and not is_unset(str(cell))]
    kind = kind_of(there)
    numbers = (not isinstance(cell, str) or is_number(cell.strip()) for cell in there)
    are_numbers = role == "metric" and (not there or any(numbers))
    return "real" if kind == "text" and are_numbers else kind


def _role_of(kind: Kind, cells: Iterable[Cell], declaration: TableDeclaration) -> Role:
    """Return what an undeclared column is: a factor of an experiment has few values."""
    if not declaration.has_factors or kind == "real":
        return "label" if kind == "text" else "metric"
    few = {*islice({str(cell).strip() for cell in cells}, _MOST_FACTORS + 1)}
    if len(few) == 1:
        return "label"
    return "knob" if kind == "text" or len(few) <= _MOST_FACTORS else "metric"

"""In which shape a table has its runs: rows, columns, cells, or parts of texts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ingest.declarations import TableDeclaration
from ingest.formats.table_reshaped import VALUE
from ingest.proposals.counter_pairs import counter_pairs
from ingest.proposals.crossed_tables import runs_in_blocks, runs_in_cells, runs_in_columns
from ingest.proposals.found_tables import FoundTable
from ingest.proposals.like_columns import replicate_pattern, series_pattern, steps_pattern
from ingest.proposals.long_tables import parts_of_runs, pivot_columns
from ingest.proposals.path_parts import PathColumn
from ingest.proposals.split_texts import split_columns


@dataclass(frozen=True, slots=True)
class TableShape:
    """What makes rows that are runs of a table.

    Attributes:
        unpivot, pivot, parts: As in `TableDeclaration`.
        split: By heading the pattern of its texts, and what they state.
        measured: The metric of all cells, where each of them is a run; else empty.
        differences: As in `TableDeclaration`.
    """

    unpivot: str
    pivot: tuple[str, str] | None
    parts: tuple[str, ...]
    split: dict[str, tuple[str, list[PathColumn]]]
    measured: str
    differences: dict[str, list[str]]

    def words(self) -> Iterator[str]:
        """Yield in a few words each what is not a row a run."""
        for heading, (_, parts) in self.split.items():
            yield f"{heading}: states {', '.join(part.name for part in parts)}"
        for heading, (begin, end) in self.differences.items():
            yield f"{heading}: {end} less {begin}"
        if self.pivot is not None:
            yield f"measurements: named by {self.pivot[0] or 'the first column'}, one a row"
        if self.parts:
            yield f"parts of runs: named by {self.parts[0]}, one a row"
        if self.unpivot:
            group = next(iter(re.compile(self.unpivot).groupindex), "replicates")
            each = "column" if self.pivot else "cell" if self.measured else ""
            runs = f"each {each} is a run" if each else "each row is as many runs"
            is_clear = each or group not in ("series", "alternative")
            doubt = "" if is_clear else "; doubtful: or parts of one run"
            yield f"{group}: a part of the headings; {runs}{doubt}"


def shape_of(table: FoundTable) -> tuple[TableShape, FoundTable]:
    """Return the shape of a table, and the table with a row a run."""
    # Each file has the names of its rows.
    rows = table.sources.count(table.sources[0]) if table.sources else 0
    first = [column[:rows] for column in table.columns]
    unpivot, pivot = runs_in_columns(table.headings, first) or ("", None)
    unpivot = unpivot or runs_in_cells(table.headings, first, table.measured)
    measured = table.measured if unpivot and pivot is None else ""
    if not unpivot:
        unpivot = runs_in_blocks(table.headings, table.columns)
        unpivot = unpivot or replicate_pattern(table.headings, table.columns)
        unpivot = unpivot or steps_pattern(table.headings, table.columns)
        unpivot = unpivot or series_pattern(table.headings, table.columns)
        pivot = pivot_columns(table.headings, table.columns)
    declaration = TableDeclaration(unpivot=unpivot)
    content = table.reshaped(declaration)
    if pivot is not None:
        merged = table.reshaped(replace(declaration, pivot=pivot))
        # Else no two measurements are of one run.
        content, pivot = (merged, pivot) if merged.rows < content.rows else (content, None)
    if measured:
        named = (measured if heading == VALUE else heading for heading in content.headings)
        content = replace(content, headings=tuple(named))
    parts = parts_of_runs(content.headings, content.columns) if not unpivot else ()
    content = content.reshaped(TableDeclaration(parts=parts))
    split = split_columns(content.headings, content.columns, table.declared)
    patterns = {heading: pattern for heading, (pattern, _) in split.items()}
    differences = counter_pairs(content.headings, content.columns)
    content = content.reshaped(TableDeclaration(split=patterns, differences=differences))
    return TableShape(unpivot, pivot, parts, split, measured, differences), content

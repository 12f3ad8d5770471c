"""What a table has beside its rows: totals or means of them (`Total`), lines of words."""

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from statistics import mean, stdev
from typing import Final

from ingest.formats.json_cells import Cell
from ingest.formats.table_rows import Table
from ingest.records import ProblemList, Severity
from ingest.settings.column_names import WORDS
from ingest.settings.heading_words import words_of
from ingest.settings.headings import is_measurement, is_setting, quantity_of, read_heading

SUMMARY: Final = re.compile(
    r"\W*(?:(?:grand |sub)?totals?|sum|overall|aggregated?|average|avg|mean|geo(?:metric )?mean"
    r"|[∑Σ].*"
    r"|std|st\.? ?dev\.?|stddev|standard deviation"
    r"|summe|gesamt|mittel(?:wert)?|durchschnitt|moyenne|somme|totale|media|promedio|suma)\b.*",
    re.IGNORECASE,
)
_NAMES: Final = WORDS["statistics"] | WORDS["plain"]
_MOST: Final = 3
# What no run has 0 of; so many columns of a row show that it is of none.
_NEVER_0: Final = WORDS["latencies"] | {"time", "energy", "power"}
_FEWEST_COSTS: Final = 2
# So many equal numbers are no chance.
_FEWEST_EQUAL: Final = 3
# A total or a mean differs from that of the numbers above it by their rounding, or by this share.
_EQUAL: Final = 0.001


def keep_whole(table: Table, whole: Mapping[str, str], problems: ProblemList) -> Table:
    """Return the rows that are of a whole run, without the rows of its parts, if there are such.

    Args:
        whole: By heading the text that such a row has, which then says nothing and is left out.
    """
    at = {table.headings.index(name): text for name, text in whole.items()}
    rows = [*table.rows]
    are_whole = [any(str(cells[n]).strip() == text for n, text in at.items()) for _, cells in rows]
    if not any(are_whole):
        return table
    kept = table.of_same_place(table.headings)
    for (line, cells), is_whole in zip(rows, are_whole, strict=True):
        if is_whole:
            kept.append(line, ["" if n in at else cell for n, cell in enumerate(cells)])
    count, name = len(rows) - len(kept), next(iter(whole.values()))
    if count:
        detail = f"{count} rows are of parts of the run of row {name!r}; no runs"
        problems.add("row_parts", "repaired", detail, rows[are_whole.index(False)][0])
    return kept


def drop_footers(table: Table, problems: ProblemList, is_declared: bool) -> None:
    """Leave out the last rows that name a total or a mean, and are one or lack a cell of others.

    All numbers of such a row are the total or the mean of those above it, but for numbers that are
    the same in all rows. Each row that is left out is a problem, and each that is only likely one.

    Args:
        is_declared: Whether a person declared the table: all of its rows are kept.
    """
    if not is_declared:
        _drop_statistics(table, problems)
    named = 0
    for _, cells in reversed(table.last(_MOST)):
        if not any(SUMMARY.fullmatch(str(cell)) for cell in cells):
            break
        named += 1
    for count in range(named, 0, -1):
        footers = table.last(count)
        judged = [_judged(table, cells, len(table) - count) for _, cells in footers]
        if len(table) == count + 1:
            ((_, first),) = islice(table.rows, 1)
            judged = [([_repeats(first, cells)], False) for _, cells in footers]
        if any(not all(each) and not is_empty for each, is_empty in judged):
            continue
        for (line, cells), (each, _) in zip(footers, judged, strict=True):
            name = next(str(cell) for cell in cells if SUMMARY.fullmatch(str(cell)))
            if is_declared:
                detail = f"{name!r} may be of other rows; kept as a run: `skip` leaves it out"
                problems.add("summary_row", "doubted", detail, line)
            else:
                severity: Severity = "repaired" if all(each) else "doubted"
                problems.add("summary_row", severity, f"{name!r} is of other rows; no run", line)
        if not is_declared:
            table.drop([row >= len(table) - count for row in range(len(table))])
        return
    for line, cells in table.last(named):
        equal, _ = _judged(table, cells, len(table) - named)
        if any(equal):
            name = next(str(cell) for cell in cells if SUMMARY.fullmatch(str(cell)))
            detail = f"{name!r} may be of other rows, as some of its numbers are; kept as a run"
            problems.add("summary_row", "doubted", detail, line)


def drop_failed(table: Table, problems: ProblemList) -> None:
    """Leave out rows whose numbers are all 0, but for settings and replicates: trials that failed.

    A time, a latency, an energy or a power of 0 was not measured; other rows have one.
    """
    costs = [at for at, heading in enumerate(table.headings) if _is_cost(heading)]
    if len(costs) < _FEWEST_COSTS or not any(map(_is_zero, table.column(costs[0]))):
        return
    free = [
        at
        for at, heading in enumerate(table.headings)
        if not is_setting(heading) and WORDS["replicates"].isdisjoint(words_of(heading))
    ]
    are_failed = [
        all(_is_zero(cells[at]) for at in costs) and not any(_number(cells[at]) for at in free)
        for _, cells in table.rows
    ]
    for line in [] if all(are_failed) or not any(are_failed) else table.drop(are_failed):
        detail = "all its measurements are 0, as of a trial that failed; row dropped"
        problems.add("empty_row", "refused", detail, line)
        table.refused += 1


def _is_cost(heading: str) -> bool:
    words = {quantity_of(read_heading(heading)), *words_of(heading)}
    return is_measurement(heading) and not _NEVER_0.isdisjoint(words)


def _is_zero(cell: Cell) -> bool:
    return cell == 0 or (isinstance(cell, str) and "0" in cell and not cell.strip("0. "))


def _drop_statistics(table: Table, problems: ProblemList) -> None:
    """Leave out rows with a statistic where the others have the number of a replicate.

    `1`, `2`, `3`, `Average` and `Std Dev` below `Run`, of each setting.
    """
    for at, heading in enumerate(table.headings):
        if WORDS["replicates"].isdisjoint(words_of(heading)):
            continue
        texts = [str(cell or "").strip() for cell in table.column(at)]
        named = {text for text in texts if not text.isdigit()}
        if len(named) == len({*texts}) or not all({*words_of(t)} & _NAMES for t in named):
            continue
        for line in table.drop([text in named for text in texts]):
            detail = f"a statistic below {heading!r} is of other rows; no run"
            problems.add("summary_row", "repaired", detail, line)


def _judged(table: Table, cells: Sequence[Cell], rows: int) -> tuple[list[bool], bool]:
    """Return of each number of a row whether it is computed from the first rows, and of the row
    whether it lacks a cell that all of these have.

    Numbers that are the same in these rows say nothing. Without another number nothing is computed.
    """
    equal, is_empty = list[bool](), False
    for at, cell in enumerate(cells):
        above = [each for _, each in zip(range(rows), table.column(at), strict=False)]
        is_lacking = rows > 1 and not str(cell or "").strip()
        is_empty |= is_lacking and all(str(each or "").strip() for each in above)
        numbers = [number for each in above if (number := _number(each)) is not None]
        own = _number(cell)
        if own is None or len({*numbers, own}) == 1:
            continue
        total = sum(numbers)
        off = max((_rounding(each) for each in above), default=0.0)
        equal.append(len(numbers) > 1 and any(
            abs(own - each) <= max(_EQUAL * abs(each), _rounding(cell) + most)
            for each, most in (
                (total, off * len(numbers)), *((each, off) for each in _statistics(numbers))
            )
        ))  # fmt: skip
    return equal or [False], is_empty


def _repeats(row: Sequence[Cell], cells: Sequence[Cell]) -> bool:
    """Return whether all numbers of a row are those of the only row above it, and enough are."""
    numbers = [number for cell in cells if (number := _number(cell)) is not None]
    return len(numbers) >= _FEWEST_EQUAL and numbers == [
        number for cell in row if (number := _number(cell)) is not None
    ]


def _statistics(numbers: Sequence[float]) -> list[float]:
    """Return what a row of statistics may have of two numbers or more."""
    return [mean(numbers), stdev(numbers)]


def _number(cell: Cell) -> float | None:
    try:
        return float(str(cell).strip().rstrip("%").replace(",", ""))
    except ValueError:
        return None


def _rounding(cell: Cell) -> float:
    """Return half of the last decimal that a number is written with; 0 of whole numbers."""
    _, point, decimals = str(cell).strip().rstrip("%").partition(".")
    return 0.5 * 10.0 ** -len(decimals) if point and decimals.isdigit() else 0.0


def doubt_notes(notes: Mapping[int, str], rows: range, start: int, problems: ProblemList) -> None:
    """Report lines without cells: beside the rows those that say a setting, all between them.

    Args:
        notes: By line, counted from `start`.
        rows: From behind the header to the last row.
    """
    outside = sorted(line for line in notes if line not in rows)
    # Words alone, as `DONE`, are of nothing that was set.
    if any("=" in notes[line] for line in outside):
        count = f"{len(outside)} lines" if len(outside) > 1 else "1 line"
        words = f"above the header or below the rows passed over: {notes[outside[0]][:80]!r}"
        problems.add("other_lines", "doubted", f"{count} {words}", start + outside[0])
    for line in (line for line in notes if line in rows):
        detail = f"{notes[line][:80]!r} between rows says nothing of them here"
        problems.add("text_between_rows", "doubted", f"{detail}: give a column to it", start + line)

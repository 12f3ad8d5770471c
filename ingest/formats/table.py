"""Read a table with a header: separated text, JSON, YAML, JSON lines, or Parquet.

Commas, semicolons, tabs or blanks separate the cells of a text. The settings (`[[tables]]`)
declare the columns. An undeclared column keeps its own name, cleaned for SQL; numbers become a
metric, texts a label.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Final

from data.catalogue import AGGREGATE_N
from data.errors import FormatError
from ingest.declarations import TableColumn, TableDeclaration
from ingest.files.packed import Packed
from ingest.formats.json_cells import Cell
from ingest.formats.table_columns import N_COLUMN, Target, targets_of
from ingest.formats.table_files import parse_tables
from ingest.formats.table_reshaped import reshape
from ingest.formats.table_rows import Table
from ingest.formats.table_values import convert, plain_column, values_of
from ingest.records import ProblemList, ReadContext, SummaryRow, SummaryTable
from ingest.settings.dataset import UNKNOWN
from ingest.settings.heading_words import correcting
from ingest.settings.tables import CORE, declaration_of
from ingest.settings.units import doubts_in

# A 0 in these columns, and in latencies, is not a measurement.
_RATES: Final = frozenset({"load_qps", "throughput_qps"})


def read(blocks: Iterable[bytes], context: ReadContext) -> SummaryTable:
    """Read the rows as runs, each value in the unit of its column of `runs`.

    Args:
        blocks: The file's bytes, in blocks of any length.
        context: Declares the columns.

    Returns:
        Good rows in file order. Each bad row is a problem. One more problem names all undeclared
        columns.

    Raises:
        FormatError: The file is not a table with a header, or has too many rows or columns.
    """
    problems = ProblemList()
    first, *others = parse_tables(blocks, context, problems)
    table = _summary(first, context, problems)
    table.others = [_summary(other, context, ProblemList()) for other in others]
    return table


def _summary(table: Table, context: ReadContext, problems: ProblemList) -> SummaryTable:
    """Convert the rows of a table to runs."""
    declaration = declaration_of(context.tables, table.headings)
    if declaration.refusal:
        raise FormatError(f"{declaration.refusal} ({context.name})")
    table = reshape(table, declaration)
    targets = targets_of(table, declaration, context.name)
    own = [target.own for target in targets if target.own is not None]
    _note_guesses(table, declaration, targets, problems)
    constants = {
        name: convert(name, text, declaration.kinds[name], TableColumn())
        for name, text in declaration.constants.items()
    }
    names = {target.name for target in targets} | constants.keys()
    shape = declaration.aggregate
    if shape is not None and isinstance(shape.n, int):
        constants[AGGREGATE_N] = shape.n
        own.append(N_COLUMN)
    rows: Packed[SummaryRow] = Packed()
    result = SummaryTable(declaration.workload or UNKNOWN, rows, columns=own, place=table.place)
    result.is_numbered = shape is None and "replicate" not in names
    result.refused = table.refused
    result.has_cores = any(target.kind == CORE for target in targets)
    measured = [t.name for t in targets if t.name.startswith("latency_") or t.name in _RATES]
    for line, flags, values in _valued(table, targets, constants, shape is not None, problems):
        if values is None:
            result.refused += 1
            continue
        flags += _doubt(values, measured, result.has_cores, line, problems)
        workload, system = values.pop("workload", None), values.pop("system", None)
        if code := values.pop("dvfs", None):
            values["dvfs_code"] = str(code).lower()
        system = str(system or declaration.system or UNKNOWN)
        workload = None if workload is None else str(workload)
        rows.append(SummaryRow(line, system, values, flags, workload))
    result.problems = problems.all()
    return result


def _note_guesses(
    table: Table, declaration: TableDeclaration, targets: Sequence[Target], problems: ProblemList
) -> None:
    """Report columns that nobody declared, and units that are doubted."""
    declared = {target.name for target in targets if target.heading in declaration.columns}
    own = (target.own for target in targets if target.own is not None)
    undeclared = [c for c in own if not c.description and c.name not in declared]
    if undeclared:
        metrics, knobs = (
            ", ".join(sorted(c.name for c in undeclared if (c.role == "knob") is are_knobs))
            for are_knobs in (False, True)
        )
        detail = f"nobody declared {metrics}: numbers are kept as metrics, texts as labels"
        detail += f"; {knobs}: of few values, kept as knobs" if knobs else ""
        problems.add("undeclared_columns", "doubted", detail)
    if declaration.confirmed:
        return
    if declaration.guessed:
        detail = f"columns were guessed from headings and cells: {declaration.guessed}"
        named = [target.heading for target in targets if target.own and target.own.role == "knob"]
        if name := next((each for each in named if each not in declaration.corrected), ""):
            detail += f"; if {name} was not set: {correcting(name, 'label')}"
        problems.add("guessed_columns", "doubted", detail)
    there = ((name, each) for name, each in declaration.columns.items() if name in table.headings)
    for heading, unit, doubt in doubts_in((n, each.doubt, each.instead) for n, each in there):
        way = f"say which, as by {correcting(heading, unit or 'UNIT')}"
        problems.add("doubted_unit", "doubted", f"{doubt}; {way}")


def _valued(
    table: Table,
    targets: Sequence[Target],
    constants: Mapping[str, Cell],
    are_means: bool,
    problems: ProblemList,
) -> Iterator[tuple[int, list[str], dict[str, Cell] | None]]:
    """Yield the line, the flags and the values of each row; no values for a row that is refused."""
    for lines, columns in table.chunks():
        plain = {
            target.name: column
            for target in targets
            if (column := plain_column(columns[target.index], target))
        }
        others = [target for target in targets if target.name not in plain]
        rows = zip(*columns, strict=True) if others else repeat(())
        for number, (line, cells) in enumerate(zip(lines, rows, strict=False)):
            flags = ["aggregate"] if are_means else []
            try:
                values = {**constants, **values_of(cells, others, line, problems, flags)}
            except FormatError as error:
                problems.add("not_a_number", "refused", f"{error}; row dropped", line)
                yield line, flags, None
                continue
            values |= {name: column[number] for name, column in plain.items()}
            if all(value is None for value in values.values()):
                problems.add("empty_row", "refused", "no cell has a value; row dropped", line)
                yield line, flags, None
            elif are_means and not _is_mean(values, bool(table.place), line, problems):
                yield line, flags, None
            elif are_means and values.get(AGGREGATE_N) is None:
                yield line, [each for each in flags if each != "aggregate"], values
            else:
                yield line, flags, values


def _doubt(
    values: dict[str, Cell],
    measured: Iterable[str],
    has_cores: bool,
    line: int,
    problems: ProblemList,
) -> list[str]:
    """Report missing and impossible values of a row, unset the impossible ones; return flags."""
    if values.get("replicate", 0) is None:
        problems.add("no_replicate", "doubted", "no number of its replicate; kept without", line)
    itr = values.get("itr")
    if isinstance(itr, int) and itr > 1 and itr % 2:
        detail = f"itr {itr} is odd; the NIC counts in 2 us and rounds down"
        problems.add("odd_itr", "doubted", detail, line)
    if values.get("energy_j") == 0:
        values["energy_j"] = None
        if not has_cores:
            detail = "an energy of 0 J is not a measurement; left unset"
            problems.add("no_energy", "doubted", detail, line)
    zeros = [name for name in measured if values.get(name) == 0]
    if not zeros:
        return []
    values.update(dict.fromkeys(zeros))
    detail = f"0 is not a measurement; left unset: {' '.join(zeros)}"
    problems.add("no_load", "doubted", detail, line)
    return ["no_load"]


def _is_mean(values: dict[str, Cell], is_document: bool, line: int, problems: ProblemList) -> bool:
    """Return whether a row gives the number of runs that it is the mean of; report it if not.

    An object of a document may lack the list whose mean others are: it is one run.
    """
    n = values.get(AGGREGATE_N)
    if (n is None and is_document) or (isinstance(n, int) and n > 0):
        return True
    detail = f"a row cannot be the mean of {n} runs; row dropped"
    problems.add("bad_aggregate", "refused", detail, line)
    return False

"""Cells of CSV files that spreadsheets would take for formulas.

A text that begins like a formula gets a quote in front, which spreadsheets do not show. Texts that
are numbers stay; a true minus (U+2212) becomes a hyphen. Parquet files hold the texts as they are.
"""

import re
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc

from data.units import MINUS

if TYPE_CHECKING:
    import polars as pl

# Also for RE2 and Rust's regex, which know neither look-ahead nor the same anchors.
FORMULA: Final = r"^[=+\-@\t\r\n]"
# One, or several with blanks between them, as lists are written.
NUMBER: Final = r"^([+-]?(\d+\.?\d*|\.\d+|inf)([eE][+-]?\d+)?( |$))+$"


def guarded_name(name: str) -> str:
    """Return a heading that no spreadsheet takes for a formula."""
    return f"'{name}" if re.search(FORMULA, name) else name


def guarded(rows: "pl.DataFrame") -> "pl.DataFrame":
    """Return a table for a CSV file: texts that begin like formulas have a quote in front."""
    import polars as pl
    import polars.selectors as cs

    texts = cs.string(include_categorical=True)
    text = texts.cast(pl.String).str.replace_all(MINUS, "-", literal=True)
    is_formula = text.str.contains(FORMULA) & ~text.str.contains(NUMBER)
    found = rows.with_columns(pl.when(is_formula).then(text.str.replace("^", "'")).otherwise(text))
    return found.rename({name: guarded_name(name) for name in found.columns})


def guarded_column(column: "pa.ChunkedArray") -> "pa.ChunkedArray":
    """Return a column of texts of an Arrow table as `guarded` does; another one unchanged."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    is_number = pc.match_substring_regex(column, NUMBER)
    is_formula = pc.and_not(pc.match_substring_regex(column, FORMULA), is_number)
    return pc.if_else(is_formula, pc.binary_join_element_wise("'", column, ""), column)

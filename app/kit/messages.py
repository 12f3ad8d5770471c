"""Sentences in place of a figure: why there is none, and the next step."""

from typing import Final

import polars as pl

from app.kit.figure_text import BREAK, bold, without_marks
from data.analysis.facets import count_runs
from data.knobs import KNOBS
from data.selection import Selection

EMPTY_LAKE: Final = (
    f"The lake holds no runs yet.{BREAK}Add some with {bold('python -m ingest add RAW')}, "
    "then reload this page."
)
EMPTY_LAKE_PLAIN: Final = without_marks(EMPTY_LAKE)


def no_run_left(cube: pl.DataFrame, selection: Selection) -> str:
    """Return that no run matches the filters, and which single filters to clear to see some.

    Args:
        cube: Answer of `facet_cube_query`.
    """
    without = {
        clause.facet: count_runs(cube, selection.with_values(clause.facet, ()))
        for clause in selection.clauses
    }
    useful = [f"{KNOBS[name].title} ({runs:,} runs)" for name, runs in without.items() if runs]
    hint = f"Clear one of these to see some: {', '.join(useful)}." if useful else "Clear some."
    return f"No run has all of these filters.{BREAK}{hint}"

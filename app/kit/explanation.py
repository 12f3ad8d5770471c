"""Text on how a view was computed: the lake, the filters, the executed query.

A query is a paragraph of its own, with its parameters in it; the page SQL can run it.
"""

from collections.abc import Sequence
from typing import Any

from app.kit.lakes import LakeView
from data.analysis.facets import LEADING
from data.queries.statement import statement
from data.selection import Selection


def explanation(
    view: LakeView,
    selection: Selection,
    query: Sequence[Any],
    before: Sequence[str] = (),
    after: Sequence[str] = (),
    is_filtered: bool = False,
) -> str:
    """Write an explanation.

    Args:
        query: The executed SQL and its parameters.
        before: Paragraphs between the filters and the query.
        after: Later steps on the query's answer, one paragraph each; empty ones are skipped.
        is_filtered: Whether the remaining filters were applied to the answer in memory.
    """
    sql, parameters = query
    head = f"{view.words}\nfilters: {selection.in_words()}"
    rest = Selection(tuple(c for c in selection.clauses if c.facet not in LEADING))
    filtered = [f"of these rows those with {rest.in_words()}"] if is_filtered else []
    then = [f"then, in memory: {words}" for words in (*filtered, *after) if words]
    return "\n\n".join([head, *before, statement(sql, parameters), *then])

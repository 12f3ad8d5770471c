"""Text on how a view was computed: the lake, the filters, the query, the steps on its answer.

A query is a paragraph of its own, with its parameters and all filters in it. Run as it is, it gives
the numbers of the view, or the rows that enter the steps after it. The server may have answered
from memory what it asked before; the numbers are the same.
"""

from collections.abc import Sequence
from typing import Any

from app.kit.lakes import LakeView
from data.queries.statement import statement
from data.selection import Selection


def explanation(
    view: LakeView,
    selection: Selection,
    query: Sequence[Any],
    before: Sequence[str] = (),
    after: Sequence[str] = (),
) -> str:
    """Write an explanation.

    Args:
        query: SQL and its parameters.
        before: Paragraphs between the filters and the query.
        after: Later steps on the query's answer, one paragraph each; empty ones are skipped.
    """
    sql, parameters = query
    head = f"{view.words}\nfilters: {selection.in_words()}"
    then = [f"then: {words}" for words in after if words]
    return "\n\n".join([head, *before, statement(sql, parameters), *then])

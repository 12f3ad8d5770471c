"""How a view was computed, in words: the lake, the filters, the query that was executed."""

from collections.abc import Sequence
from typing import Any

from app.kit.lakes import LakeView
from data.selection import Selection


def explanation(
    view: LakeView,
    selection: Selection,
    query: tuple[str, Sequence[Any]],
    before: Sequence[str] = (),
    after: Sequence[str] = (),
) -> str:
    """Write an explanation.

    Args:
        query: The SQL that was executed, and its parameters.
        before: Paragraphs between the filters and the query.
        after: What was done with the query's answer, a paragraph each; empty ones are left out.
    """
    sql, parameters = query
    head = f"lake {view.lake.path.name}, version {view.version}\nfilters: {selection.in_words()}"
    then = [f"then, in memory: {words}" for words in after if words]
    body = [f"{sql}\n\nparameters: {list(parameters)}"]
    return "\n\n".join([head, *before, *body, *then])

"""How a view was computed, in words: the lake, the filters, the query that was executed."""

from collections.abc import Sequence
from typing import Any

from app.kit.lakes import LakeView
from data.analysis.facets import LEADING
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
        query: The SQL that was executed, and its parameters.
        before: Paragraphs between the filters and the query.
        after: What was done with the query's answer, a paragraph each; empty ones are left out.
        is_filtered: The answer was narrowed in memory by the filters that do not lead.
    """
    sql, parameters = query
    head = f"lake {view.lake.path.name}, version {view.version}\nfilters: {selection.in_words()}"
    rest = Selection(tuple(c for c in selection.clauses if c.facet not in LEADING))
    filtered = [f"of these rows those with {rest.in_words()}"] if is_filtered else []
    then = [f"then, in memory: {words}" for words in (*filtered, *after) if words]
    body = [f"{sql}\n\nparameters: {list(parameters)}"]
    return "\n\n".join([head, *before, *body, *then])

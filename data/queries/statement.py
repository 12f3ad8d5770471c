"""A query with its parameters written into it, so that it can be run anywhere."""

import re
from collections.abc import Sequence
from typing import Any, Final

# A text in quotes, or the place of a parameter.
_PARTS: Final = re.compile(r"('(?:[^']|'')*')|\?")


def statement(sql: str, parameters: Sequence[Any]) -> str:
    """Return a query with literals in place of its parameters.

    Args:
        sql: Has a question mark for each parameter.
        parameters: Texts, numbers, booleans, None, or lists of these.
    """
    values = iter(parameters)
    return _PARTS.sub(lambda part: part[1] or literal(next(values)), sql)


def literal(value: Any) -> str:
    """Write a value as DuckDB reads it."""
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, float):
        return f"{value!r}::DOUBLE" if abs(value) < float("inf") else f"'{value}'::DOUBLE"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(literal, value))}]"
    return str(value)

"""The tables and columns that visitors' SQL can ask for."""

from typing import Any, Final

TABLES: Final = ("runs", "cores", "sources", "problems")


def columns_query() -> tuple[str, list[Any]]:
    """List the columns of the lake's tables: `table`, `column`, `type`, in the tables' order."""
    sql = (
        "SELECT table_name AS \"table\", column_name AS \"column\", data_type AS \"type\"\n"
        "FROM information_schema.columns\n"
        "WHERE table_name IN (?, ?, ?, ?)\n"
        "ORDER BY list_position(?, table_name), ordinal_position"
    )  # fmt: skip
    return sql, [*TABLES, list(TABLES)]

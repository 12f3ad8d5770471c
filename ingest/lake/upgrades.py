"""Lakes of older schemas, brought to the present one in place: one function for each old schema.

An upgrader changes tables by commits of their own, so that a kill between two of them leaves a
lake that the next `add` goes on to upgrade, and old versions stay as they were.
"""

from collections.abc import Callable, Mapping
from typing import Final

from deltalake import DeltaTable

from data.errors import LakeError
from data.lake_place import LakePath
from data.schema import OLDER_DESCRIPTIONS, SCHEMA_DESCRIPTION


def _from_3(table: DeltaTable) -> None:
    """Schema 4 only adds columns, which `create_tables` does to every lake that lacks some."""
    table.alter.set_table_description("wattlas schema 4")


# By the description of a table, what turns it into one of the next schema.
UPGRADERS: Final[Mapping[str, Callable[[DeltaTable], None]]] = {"wattlas schema 3": _from_3}
assert UPGRADERS.keys() == OLDER_DESCRIPTIONS, "BUG: a schema that is read has no upgrader"


def upgraded(path: LakePath, table: DeltaTable) -> DeltaTable:
    """Bring a table to the present schema; gives it at its newest version.

    Raises:
        LakeError: It is of a schema that nobody knows, such as one from the future.
    """
    while (found := table.metadata().description) != SCHEMA_DESCRIPTION:
        if found not in UPGRADERS:
            raise unknown_schema(path, found)
        UPGRADERS[found](table)
        table.update_incremental()
    return table


def unknown_schema(path: LakePath, found: str | None) -> LakeError:
    """Why a table of another schema cannot be read or written."""
    return LakeError(
        f"{path} says {found!r}, this wattlas writes {SCHEMA_DESCRIPTION!r}: add the raw logs to "
        "a lake in another folder"
    )

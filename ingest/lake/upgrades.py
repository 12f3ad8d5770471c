"""Upgrade lakes of older schemas in place: one function for each old schema.

Each upgrade is a commit. After a kill between two of them the next `add` continues the upgrade; old
versions stay unchanged.
"""

from collections.abc import Callable, Mapping
from typing import Final

from deltalake import DeltaTable

from data.errors import LakeError
from data.lake_place import LakePath
from data.schema import OLDER_DESCRIPTIONS, SCHEMA_DESCRIPTION
from ingest.lake.table_files import committing


def _from_3(table: DeltaTable) -> None:
    """Upgrade to schema 4, whose only change is new columns; `create_tables` adds them."""
    table.alter.set_table_description("wattlas schema 4")


# Upgraders to the next schema, by the description of the table.
UPGRADERS: Final[Mapping[str, Callable[[DeltaTable], None]]] = {"wattlas schema 3": _from_3}
assert UPGRADERS.keys() == OLDER_DESCRIPTIONS, "BUG: a schema that is read has no upgrader"


def upgraded(path: LakePath, table: DeltaTable) -> DeltaTable:
    """Upgrade a table to the current schema; return it at its newest version.

    Raises:
        LakeError: Its schema is unknown, for example a future one.
    """
    while (description := table.metadata().description) != SCHEMA_DESCRIPTION:
        if description not in UPGRADERS:
            raise unknown_schema(path, description)
        with committing(table):
            UPGRADERS[description](table)
    return table


def unknown_schema(path: LakePath, description: str | None) -> LakeError:
    """Return the error for a table with another schema."""
    return LakeError(
        f"{path} says {description!r}, this wattlas writes {SCHEMA_DESCRIPTION!r}: "
        "add the raw logs to a lake in another folder"
    )

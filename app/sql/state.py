"""The state of the SQL page as a URL query."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from app.kit.url_state import Parameter, UrlState, read_lake_version
from data.catalogue import Catalogue
from data.errors import SelectionError

# Longer queries do not fit into an address.
MOST_CHARACTERS = 6_000


def _read_sql(name: str, text: str) -> str:
    if len(text) > MOST_CHARACTERS:
        raise SelectionError(f"{name} has {len(text):,} characters, at most {MOST_CHARACTERS:,}")
    return text


@dataclass(frozen=True)
class SqlState(UrlState):
    """The whole state of the page.

    Attributes:
        sql: The query; empty shows the first example.
        x: Column of the chart's horizontal axis; empty draws no chart.
        y: Column of its vertical axis.
        colour: Column that colours its points.
    """

    VERSION: ClassVar[int] = 2
    KEPT: ClassVar[tuple[str, ...]] = ("sql", "x", "y", "col", "sel")
    PARAMETERS: ClassVar = {
        "sql": Parameter("sql", _read_sql),
        "x": Parameter("x"),
        "y": Parameter("y"),
        "col": Parameter("colour"),
        "sel": Parameter("sel"),
        "lake": Parameter("lake_version", read_lake_version),
    }

    sql: str = ""
    x: str = ""
    y: str = ""
    colour: str = ""
    sel: str = ""

    @classmethod
    def filters(cls, catalogue: Catalogue) -> Collection[str]:
        """Return nothing: the page has no filters."""
        del catalogue
        return ()

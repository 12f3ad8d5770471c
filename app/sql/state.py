"""The state of the SQL page as a URL query."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from app.kit.url_state import UrlState, parameter
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

    sql: str = parameter("sql", "", _read_sql, is_kept=True)
    x: str = parameter("x", "", is_kept=True)
    y: str = parameter("y", "", is_kept=True)
    colour: str = parameter("col", "", is_kept=True)
    sel: str = parameter("sel", "", is_kept=True)

    @classmethod
    def filters(cls, catalogue: Catalogue) -> Collection[str]:
        """Return nothing: the page has no filters."""
        del catalogue
        return ()

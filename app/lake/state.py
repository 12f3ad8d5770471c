"""The state of the page Lake as a URL query: the version, and what other pages handed on."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from app.kit.url_state import UrlState, parameter
from data.catalogue import Catalogue


@dataclass(frozen=True)
class LakePageState(UrlState):
    """The page shows the whole lake: it has no filters, and carries those of links."""

    VERSION: ClassVar[int] = 2

    sel: str = parameter("sel", "", is_kept=True)

    @classmethod
    def filters(cls, catalogue: Catalogue) -> Collection[str]:
        """Return nothing: the page has no filters."""
        del catalogue
        return ()

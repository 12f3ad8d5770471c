"""Ids of the components that callbacks and scripts use."""

from dataclasses import dataclass
from typing import Any, Final

from data.analysis.facet_counts import LEADING

# Ids of the frame around all pages.
THEME: Final = "theme"
NOTICE: Final = "notice"
LAKE_LINE: Final = "lake-line"
# In the status line: names in the link that were ignored.
IGNORED: Final = "status-ignored"
EXPLANATION: Final = "explanation"


@dataclass(frozen=True, slots=True)
class PageIds:
    """The ids of one page's components; all start with the page's name.

    A control's id is the page's name and the control's URL key, so that the browser can gather a
    page's state by the ids of its controls.
    """

    page: str

    def __call__(self, part: str) -> str:
        """Return the id of a part of the page."""
        return f"{self.page}-{part}"

    @property
    def lake_version(self) -> str:
        """Store: the version of the lake that the page shows."""
        return self("lake-version")

    @property
    def browser(self) -> str:
        """Store: data for the browser (see `kit.page_layout.browser_state`)."""
        return self("browser")

    @property
    def view_state(self) -> str:
        """Store: the state gathered in the browser, by URL key."""
        return self("view-state")

    @property
    def changed(self) -> str:
        """Store: the same state, set only by changes after the page was opened."""
        return self("changed")

    @property
    def offered(self) -> str:
        """Store: what the filters and menus offer after a change."""
        return self("offered")

    @property
    def status(self) -> str:
        """The status line: how many runs are shown, of how many."""
        return self("status")

    @property
    def order_note(self) -> str:
        """The banner on the order of runs."""
        return self("order-note")

    def control(self, key: str) -> str:
        """Return the id of the control of one URL key."""
        return self(key)

    def facet(self, name: Any) -> dict[str, Any]:
        """Return the id of a filter's chips; `ALL` matches all filters except the leading ones.

        A lake may declare further filters, so callbacks match them by a pattern.
        """
        return self._of_facet(name, "leading" if name in LEADING else "chips")

    def leading(self, name: Any) -> dict[str, Any]:
        """Return the id of the chips of a leading filter; `ALL` matches all of them."""
        return self._of_facet(name, "leading")

    def facet_frame(self, name: Any) -> dict[str, Any]:
        """Return the id of a filter's block, which is hidden if there is nothing to choose."""
        return self._of_facet(name, "frame")

    def facet_count(self, name: Any) -> dict[str, Any]:
        """Return the id of the text on how much a filter narrows."""
        return self._of_facet(name, "count")

    def _of_facet(self, name: Any, part: str) -> dict[str, Any]:
        return {"page": self.page, "facet": name, "part": part}

    def figure(self, view: str) -> str:
        """Return the id of the store of a view's figure, before the browser adds the theme."""
        return self(f"figure-{view}")

    def requested(self, view: str) -> str:
        """Return the id of the store of the state that an optional view is asked for."""
        return self(f"asked-{view}")

    def link(self, target: str) -> str:
        """Return the id of a link in the status line: `export`, `data`, or another page's name."""
        return self(f"to-{target}")

"""Names of the components that callbacks and scripts refer to."""

from dataclasses import dataclass
from typing import Any, Final

from data.analysis.facets import LEADING

# Of the frame around all pages.
THEME: Final = "theme"
NOTICE: Final = "notice"
LAKE_LINE: Final = "lake-line"
EXPLANATION: Final = "explanation"


@dataclass(frozen=True, slots=True)
class PageIds:
    """The ids of one page's components; all begin with the page's name.

    A control's id is the page's name and the control's URL key, so that the browser gathers a
    page's state by the names of its controls.
    """

    page: str

    def __call__(self, part: str) -> str:
        """The id of a part of the page."""
        return f"{self.page}-{part}"

    @property
    def lake_version(self) -> str:
        """Store: the version of the lake that the page shows."""
        return self("lake-version")

    @property
    def browser(self) -> str:
        """Store: what the page was opened with (see `kit.opening.browser_state`)."""
        return self("browser")

    @property
    def view_state(self) -> str:
        """Store: the state as the browser gathered it, by URL key."""
        return self("view-state")

    @property
    def changed(self) -> str:
        """Store: the same, but set only by a change after the page was opened."""
        return self("changed")

    @property
    def status(self) -> str:
        """The line that says how many runs are shown, of how many."""
        return self("status")

    def control(self, key: str) -> str:
        """The control of one URL key."""
        return self(key)

    def facet(self, name: Any) -> dict[str, Any]:
        """The chips of one filter, or with `ALL` of all that do not lead.

        A lake may declare further filters, so callbacks take them all by a pattern.
        """
        return self._of_facet(name, "leading" if name in LEADING else "chips")

    def leading(self, name: Any) -> dict[str, Any]:
        """The chips of a filter that leads, or with `ALL` of all of them."""
        return self._of_facet(name, "leading")

    def facet_frame(self, name: Any) -> dict[str, Any]:
        """The block of one filter; hidden where the lake has nothing to choose."""
        return self._of_facet(name, "frame")

    def facet_count(self, name: Any) -> dict[str, Any]:
        """The words that say how much a filter narrows."""
        return self._of_facet(name, "count")

    def _of_facet(self, name: Any, part: str) -> dict[str, Any]:
        return {"page": self.page, "facet": name, "part": part}

    def figure(self, view: str) -> str:
        """Store: the figure of a view as the server made it, before the browser adds the theme."""
        return self(f"figure-{view}")

    def link(self, target: str) -> str:
        """A link in the status line: `export`, `data`, or the name of another page."""
        return self(f"to-{target}")

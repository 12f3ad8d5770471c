"""The open versions of the lake in this process, and its sandbox for SQL.

No state belongs to one visitor, so any worker can answer any request.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar
from weakref import WeakValueDictionary

from flask import current_app

from app.kit.lake_view import LakeView
from app.kit.url_state import UrlState, pinned_version
from data.catalogue import Catalogue
from data.connection import open_lake
from data.errors import LakeError, SelectionError
from data.lake_place import LakePath
from data.lake_watch import LakeWatch, Sight
from data.sandbox.pool import Sandbox

EXTENSION = "wattlas"
SANDBOX = "wattlas-sql"
# The newest version, and one that links or open pages pin; each may have 100 MB of cached answers.
_KEPT_VERSIONS: Final = 2
State = TypeVar("State", bound=UrlState)


class Lakes:
    """Opens versions of one lake and keeps the most recently used.

    The lake may be replaced or become unreadable at any time, so each use of a version checks
    that the lake is still the one that was opened. If an object store does not answer, open
    versions stay usable.
    """

    def __init__(
        self, path: LakePath, is_checked: bool = True, datasets: Sequence[str] = ()
    ) -> None:
        self.path = path
        self._is_checked = is_checked
        self.datasets = datasets
        self._watch = LakeWatch(path)
        self._open: OrderedDict[int, LakeView] = OrderedDict()
        self._lock = threading.Lock()
        # A lock exists while a request holds it or waits for it.
        self._opening: WeakValueDictionary[int, threading.Lock] = WeakValueDictionary()
        self._seen = Sight(None, -1)

    @property
    def opened(self) -> tuple[LakeView, ...]:
        """The versions that are open."""
        with self._lock:
            return tuple(self._open.values())

    @property
    def trouble(self) -> str:
        """A sentence on why the newest version is not known; empty if it is."""
        why = self._watch.trouble
        shown = f"The lake may have a newer version than {self._seen.version}, which is shown"
        return f"{shown}: {why}" if why else ""

    def look(self) -> Sight:
        """Return which lake is there, and its newest version.

        Raises:
            LakeError: The place cannot be read, and it never could.
        """
        return self._watch.look()

    @property
    def newest(self) -> int:
        """The newest version; it is not opened.

        Raises:
            LakeError: As `look`.
        """
        return self.look().version

    def at(self, version: int | None) -> LakeView:
        """Return one version, or the newest.

        Raises:
            UnknownVersionError: The lake has no such version.
            LakeError: It cannot be read, or is gone.
        """
        if not isinstance(version, int | None):
            raise SelectionError(f"the version of the lake is {str(version)[:40]!r}, not a number")
        seen = self._watch.look()
        if version is None or version < 0:  # A page that was opened before the first run.
            version = seen.version
        with self._lock:
            self._check(seen)
            opening = self._opening.setdefault(version, threading.Lock())
        with opening:  # Only requests for this version wait.
            with self._lock:
                view = self._open.get(version)
                if view is not None:
                    self._open.move_to_end(version)
            return view or self._opened(version, seen)

    def _opened(self, version: int, seen: Sight) -> LakeView:
        opened = None if version < 0 else version
        view = LakeView(open_lake(self.path, opened, self._is_checked, self.datasets))
        with self._lock:
            if self._seen.identity == seen.identity:
                self._open[version] = view
                while len(self._open) > _KEPT_VERSIONS:
                    self._open.popitem(last=False)
        return view

    def _check(self, seen: Sight) -> None:
        """Close all versions if another lake is at this path."""
        if seen.identity is None and self._seen.identity is not None:
            why = "is its disk mounted" if isinstance(self.path, Path) else "was it moved"
            raise LakeError(f"the lake {self.path} is gone; {why}? It comes back by itself")
        if seen.identity != self._seen.identity:
            self._open.clear()
        self._seen = seen

    def follow(self, read: Callable[[str, Catalogue], State], query: str) -> tuple[LakeView, State]:
        """Open the version that a link pins, and read the link with that version's columns.

        Args:
            read: Reads a state from a query; raises an error for columns that the version lacks.

        Raises:
            WattlasError: The query is no state of the page, or the lake cannot be read.
        """
        view = self.at(pinned_version(query))
        return view, read(query, view.catalogue)


def lakes() -> Lakes:
    """Return the lake that the server was started with."""
    opened: Lakes = current_app.extensions[EXTENSION]
    return opened


def lake_view(version: int | None) -> LakeView:
    """Return one version of the lake; the newest for None."""
    return lakes().at(version)


def sandbox() -> Sandbox | str:
    """Return the sandbox for visitors' SQL, or a sentence on why there is none."""
    found: Sandbox | str = current_app.extensions[SANDBOX]
    return found

"""Orders a file of a figure from a process of its own; the words of its caption.

matplotlib is imported in that process alone, which ends with the file: the server's memory does not
grow, and what a browser sent is read there, within bounds of memory and time.
"""

import tempfile
from collections import Counter
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import Any, Final

from app.kit.encodings import first_line
from app.kit.lake_view import LakeView
from app.kit.paper.figure import FigureError, part, plain
from app.kit.paper.options import Options
from app.kit.settings import WATTLAS_VERSION
from data.child_process import Child
from data.errors import BusyError
from data.file_cache import cache_folder
from data.units import counted

MOST_RUNNING: Final = 2
LIMIT_S: Final = 20.0
_MOST_BYTES: Final = 64_000_000
_CHILD: Final = "app.kit.paper.child"
MAKER: Final = f"wattlas {WATTLAS_VERSION}"


class Drawers:
    """The processes that draw; safe for use from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._running: Counter[str] = Counter()

    def file_of(
        self, figure: Any, size_px: tuple[float, float], options: Options, caption: str,
        visitor: str = "",
    ) -> bytes:  # fmt: skip
        """Return the bytes of a file.

        Args:
            figure: Plotly's `{data, layout}`, as it was sent.
            size_px: Width and height on the page.
            visitor: Who asks, for the quota; empty for nobody in particular.

        Raises:
            BusyError: As many are being drawn as may, of all visitors or of this one.
            FigureError: It cannot be drawn, or it takes too much time or memory.
        """
        with self._lock:
            if self._running.total() >= MOST_RUNNING or (visitor and self._running[visitor]):
                raise BusyError("another picture is being drawn; try again in a second")
            self._running[visitor] += 1
        question = {
            "figure": figure, "size_px": size_px, "options": asdict(options), "caption": caption,
            "maker": MAKER, "folder": _font_folder(),
        }  # fmt: skip
        child = Child(_CHILD, is_sealed=True)
        head, body = {}, b""
        try:
            with suppress(OSError), child.ending_after(LIMIT_S):
                child.ask(question)
                head = next(child.answers(), {})
                body = child.read(min(head.get("body_bytes", 0), _MOST_BYTES))
        finally:
            child.close()
            with self._lock:
                self._running -= Counter([visitor])
        if "error" in head or not body:
            why = f"it takes over {LIMIT_S:g} s" if child.is_overdue else "it takes too much memory"
            raise FigureError(head.get("error", f"this picture cannot be drawn: {why}"))
        return body


def _font_folder() -> str:
    """Return where matplotlib keeps its list of fonts, so that it looks for them once."""
    for folder in (cache_folder(), Path(tempfile.gettempdir(), "wattlas")):
        with suppress(OSError):
            (folder / "fonts").mkdir(parents=True, exist_ok=True)
            return str(folder / "fonts")
    return tempfile.gettempdir()


def caption_of(view: LakeView, state: Any, figure: Any) -> str:
    """Write the caption of a figure: title, what is drawn, filters, n, versions.

    Its first line is the title.
    """
    text = str(part(figure, "layout", "title").get("text") or "")
    title = first_line(text) and plain(first_line(text))
    drawn = plain(text).partition("\n")[2].replace("\n", " ")
    runs = getattr(state, "runs", None)
    filters = getattr(state, "filters", lambda _: ())(view.catalogue)
    if isinstance(runs, tuple):
        facts = [counted(len(runs), "run")]
    elif filters:
        facts = [f"Filters: {state.selection.in_words()}"]
        facts += [f"n = {view.matching(state.selection):,} runs"] if view.runs else []
    else:
        facts = []
    if getattr(state, "clause", "") or getattr(state, "sel", ""):
        facts.append("a selection is highlighted")
    known = [
        f"{drawn[:1].upper()}{drawn[1:]}." if drawn else "",
        f"{'; '.join(facts)}." if facts else "",
    ]
    about = f"{view.words[:1].upper()}{view.words[1:]}; {MAKER}."
    synthetic = "The lake holds synthetic data." if view.is_synthetic else ""
    rest = " ".join(words for words in (*known, about, synthetic) if words)
    return f"{title}.\n{rest}" if title else f"Figure.\n{rest}"

"""Texts of figures: Plotly reads them as HTML, and names of systems or knobs may hold anything.

Figures are built from plain texts and the marks of this module. `finished` then escapes all texts
of a figure, and writes the marks as the few tags that wattlas uses.
"""

import html
import re
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, ParamSpec

import numpy as np

Arguments = ParamSpec("Arguments")
# Characters without a meaning (Unicode's private use area).
BREAK: Final = "\ue000"
_BOLD, _UNBOLD, _STYLE, _STYLED, _UNSTYLED = "\ue001\ue002\ue003\ue004\ue005"
_TAGS: Final = {BREAK: "<br>", _BOLD: "<b>", _UNBOLD: "</b>", _UNSTYLED: "</span>"}
_STYLES: Final = re.compile(f"{_STYLE}(color:#[0-9a-fA-F]{{6}}|font-size:\\d+px){_STYLED}")
_MARKS: Final = re.compile("[\ue000-\ue005]")
# What is to be done in a text: escape, or write marks. Most texts have nothing of it.
_OPEN: Final = re.compile("[&<\ue000-\ue005]")
# Types in a list that may be or hold texts.
_HOLDERS: Final = frozenset({str, dict, list, tuple, np.ndarray})
# What the browser compares with values of the lake, and does not show.
_NO_TEXTS: Final = frozenset({"customdata", "ids", "meta"})


def bold(text: str) -> str:
    """Return a text in bold type; empty for an empty one."""
    return f"{_BOLD}{text}{_UNBOLD}" if text else ""


def styled(style: str, text: str) -> str:
    """Return a text in a style: `color:#rrggbb` or `font-size:NNpx`."""
    return f"{_STYLE}{style}{_STYLED}{text}{_UNSTYLED}"


def without_marks(text: str) -> str:
    """Return a text in one line, for other places than figures."""
    return _MARKS.sub("", text.replace(BREAK, " "))


def finished(figure: Any) -> Any:
    """Return a figure, or a part of one, in which Plotly shows all texts as they are.

    Call it once: finished texts would be escaped again.
    """
    whole = [figure]
    left: list[Any] = [whole]
    while left:
        part = left.pop()
        for key in part.keys() - _NO_TEXTS if isinstance(part, dict) else range(len(part)):
            value = part[key]
            if isinstance(value, np.ndarray) and value.dtype.kind in "OU":
                value = value.tolist()
            if isinstance(value, str):
                if _OPEN.search(value):
                    escaped = value.replace("&", "&amp;").replace("<", "&lt;")
                    styled = _STYLES.sub(r'<span style="\1">', escaped)
                    part[key] = _MARKS.sub(lambda mark: _TAGS.get(mark[0], ""), styled)
            elif isinstance(value, dict):
                part[key] = {**value}
                left.append(part[key])
            elif isinstance(value, (list, tuple)) and not _HOLDERS.isdisjoint(map(type, value)):
                part[key] = [*value]
                left.append(part[key])
    return whole[0]


class _Finished(dict[str, Any]):
    """A figure whose texts are finished."""


def finishing(build: Callable[Arguments, dict[str, Any]]) -> Callable[Arguments, dict[str, Any]]:
    """Return a function that builds a figure with its texts `finished`, each once."""

    @wraps(build)
    def built(*args: Arguments.args, **more: Arguments.kwargs) -> dict[str, Any]:
        figure = build(*args, **more)
        return figure if isinstance(figure, _Finished) else _Finished(finished(figure))

    return built


def first_line(text: str) -> str:
    """Return the first line of a finished text as plain text."""
    return html.unescape(text.split("<br>")[0])

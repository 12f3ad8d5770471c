"""The window API `/timeline/window`, and redirects of old addresses."""

from typing import Any, Final
from urllib.parse import quote, urlencode

from flask import Flask, Response, redirect, request
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as AnyResponse

from app.kit.context import lake_view
from app.kit.lake_view import LakeView
from app.kit.links import address
from app.kit.url_values import read_lake_version, read_number
from app.serve.routes import json_answer
from app.timeline.panels import DEFAULT_PANELS
from app.timeline.payload import encode_answer
from app.timeline.runs import answer_question
from data.errors import SelectionError
from data.timeline.question import Question

_KNOWN: Final = frozenset(
    {"runs", "cores", "from", "to", "width", "align", "panels", "heat", "parts", "base", "lake"}
)
# Version 1's names of file contents.
_OLD_CONTENTS: Final = {"view": "figure", "distributions": "gaps"}


def add_routes(server: Flask) -> None:
    """Add `/timeline/window`, and redirect version 1's addresses of files."""
    server.add_url_rule("/timeline/window", "timeline_window", _window)
    server.add_url_rule("/timeline/how", "timeline_old_how", _old_how)
    server.add_url_rule("/timeline/data.<ending>", "timeline_old_data", _old_data)


def _window() -> Response:
    return json_answer(lambda: answer_window(*_asked(request.args)))


def answer_window(view: LakeView, question: Question, base: int) -> dict[str, Any]:
    """Answer a question about a window.

    Args:
        base: Index of the reference run for totals.
    """
    return encode_answer(answer_question(view, question), view.version, base)


def _asked(given: MultiDict[str, str]) -> tuple[LakeView, Question, int]:
    """Read the lake, the question and the reference's index from a request.

    Raises:
        SelectionError: An unknown parameter or a bad value; the message names it.
    """
    unknown = sorted(set(given) - _KNOWN)
    if unknown:
        raise SelectionError(f"unknown parameter of a window: {unknown[0][:40]!r}")
    view = lake_view(read_lake_version("lake", given["lake"]) if given.get("lake") else None)
    parts: dict[str, Any] = {"panels": DEFAULT_PANELS}
    parts |= {
        f"{name}_x": read_number(name, given[name]) for name in ("from", "to") if given.get(name)
    }
    parts |= {name: given[name] for name in ("cores", "heat", "align") if given.get(name)}
    for name in ("panels", "parts"):
        if name in given:
            parts[name] = tuple(word for word in given[name].split(",") if word)
    if given.get("width"):
        parts["width"] = round(read_number("width", given["width"]))
    base = round(read_number("base", given["base"])) if given.get("base") else 0
    if base < 0:
        raise SelectionError(f"base is {base}, expected the index of a run")
    return view, Question(tuple(dict.fromkeys(given.getlist("runs"))), **parts), base


def _old_how() -> AnyResponse:
    return redirect(address("/timeline/how/figure?" + _new_query(request.args)), code=301)


def _old_data(ending: str) -> AnyResponse:
    content = request.args.get("what", "view")
    name = _OLD_CONTENTS.get(content, content)
    path = f"/timeline/data/{quote(name, safe='')}.{quote(ending, safe='')}"
    return redirect(address(f"{path}?{_new_query(request.args)}"), code=301)


def _new_query(old: MultiDict[str, str]) -> str:
    """Convert version 1's query of a file to the query of a state."""
    pairs = [("run", run_id) for run_id in old.getlist("runs")]
    pairs += [("panel", name) for name in old.get("panels", "").split(",") if name]
    same = ("cores", "from", "to", "width", "heat", "base", "lake")
    pairs += [(name, old[name]) for name in same if old.get(name)]
    return urlencode(pairs)

"""What the timeline asks for: its runs, a window of them, and that window as a file."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

import orjson
import polars as pl
from flask import Flask, Response, request
from werkzeug.datastructures import MultiDict

from app.kit.context import lake_view
from app.kit.downloads import CSV, PARQUET, table_answer, words_answer
from app.kit.lakes import LakeView
from app.kit.url_codec import read_lake_version, read_number
from app.timeline.answer import answer_question
from app.timeline.explanation import explain_window
from app.timeline.panels import DEFAULT_PANELS
from app.timeline.payload import encode_answer
from app.timeline.runs import describe_runs, reference_of
from app.timeline.tables import DEFAULT_CONTENT, window_table
from data.errors import SelectionError, WattlasError
from data.timeline.question import Question

# Single numbers of NumPy are numbers; columns are encoded before.
_NUMBERS: Final = orjson.OPT_SERIALIZE_NUMPY
_KNOWN: Final = frozenset(
    {"runs", "cores", "from", "to", "width", "panels", "heat", "parts", "base", "lake", "what"}
)


def add_routes(server: Flask) -> None:
    """Add `/runs`, `/window`, `/how`, `/data.csv` and `/data.parquet` under `/timeline`."""
    server.add_url_rule("/timeline/runs", "timeline_runs", _runs)
    server.add_url_rule("/timeline/window", "timeline_window", _window)
    server.add_url_rule("/timeline/how", "timeline_how", _how)
    for ending, kind in (("csv", CSV), ("parquet", PARQUET)):
        server.add_url_rule(
            f"/timeline/data.{ending}", f"timeline_{ending}", _data, defaults={"kind": kind}
        )


def _runs() -> Response:
    return _json(lambda: describe(*_view_and_runs(request.args)))


def _window() -> Response:
    return _json(lambda: answer_window(*_asked(request.args)))


def _how() -> Response:
    return words_answer(lambda: explain_window(*_asked(request.args)[:2]))


def _data(kind: str) -> Response:
    what = request.args.get("what", DEFAULT_CONTENT)
    return table_answer(lambda: _table(request.args, what), kind, f"wattlas-timeline-{what}")


def _table(asked: MultiDict[str, str], what: str) -> pl.DataFrame:
    view, question, base = _asked(asked)
    return window_table(view, question, what, base)


def describe(view: LakeView, run_ids: tuple[str, ...]) -> dict[str, Any]:
    """What is known of some runs, and the one to compare the first of them with."""
    infos = describe_runs(view, run_ids)
    known = next((info.run_id for info in infos if info.known), None)
    return {
        "lake": view.version,
        "runs": [asdict(info) for info in infos],
        "reference": None if known is None else reference_of(view, known),
    }


def answer_window(view: LakeView, question: Question, base: int) -> dict[str, Any]:
    """Answer a question about a window; what is wrong with one run leaves the others be."""
    return encode_answer(answer_question(view, question), view.version, base)


def _json(make: Callable[[], dict[str, Any]]) -> Response:
    try:
        body, status = make(), 200
    except WattlasError as error:
        body, status = {"error": str(error)}, 400
    return Response(orjson.dumps(body, option=_NUMBERS), status=status, mimetype="application/json")


def _view_and_runs(asked: MultiDict[str, str]) -> tuple[LakeView, tuple[str, ...]]:
    version = read_lake_version(asked["lake"]) if asked.get("lake") else None
    return lake_view(version), tuple(dict.fromkeys(asked.getlist("runs")))


def _asked(asked: MultiDict[str, str]) -> tuple[LakeView, Question, int]:
    """The lake, the question, and the place of the run to compare with.

    Raises:
        SelectionError: An unknown part of the query or a bad value; the message names it.
    """
    unknown = sorted(set(asked) - _KNOWN)
    if unknown:
        raise SelectionError(f"no part of a window's address: {unknown[0][:40]!r}")
    view, runs = _view_and_runs(asked)
    parts: dict[str, Any] = {"panels": DEFAULT_PANELS}
    parts |= {
        f"{name}_s": read_number(name, asked[name]) for name in ("from", "to") if asked.get(name)
    }
    parts |= {name: asked[name] for name in ("cores", "heat") if asked.get(name)}
    for name in ("panels", "parts"):
        if name in asked:
            parts[name] = tuple(word for word in asked[name].split(",") if word)
    if asked.get("width"):
        parts["width"] = round(read_number("width", asked["width"]))
    base = round(read_number("base", asked["base"])) if asked.get("base") else 0
    if base < 0:
        raise SelectionError(f"base is {base}, expected the place of a run")
    return view, Question(runs, **parts), base

"""The page's own addresses.

/models/runs?STATE                        runs as points of a queue
/models/fits?STATE                        fits of these runs
/models/simulate?STATE&part=&visitor=&have=  follow a part of a state's simulation; a POST starts it
/models/cancel?job=&visitor=              stop waiting for it (POST)
"""

from typing import Any, Final
from urllib.parse import urlencode

import polars as pl
from flask import Flask, Response, current_app, request

from app.kit.context import lakes
from app.kit.lake_view import LakeView
from app.kit.url_values import check_choice
from app.models.curves import simulation
from app.models.jobs import Jobs
from app.models.runs import (
    absence_words,
    fits_of,
    group_styles,
    model_points,
    model_runs,
    open_link,
    plane,
    predicted,
    run_notes,
)
from app.models.state import ModelsState
from app.serve.guard import visitor
from app.serve.response_cache import keep_no_response
from app.serve.routes import json_answer
from data.analysis.model_runs import SWEPT

_MOST_POINTS: Final = 3_000
# What the browser draws of a point.
_DRAWN: Final = (
    "group", "load_qps", "itr_us", "dvfs_ghz", "rapl_w", "n", "lam_kpps", "lam_kpps_sd",
    "power_w", "power_w_sd", "busy_share", "busy_share_sd", "interrupts_per_s",
    "interrupts_per_s_sd", "latency_us", "latency_us_sd", "latency_p99_us", "latency_p99_us_sd",
    "interrupts_predicted_per_s", "latency_predicted_us", "latency_p99_predicted_us",
)  # fmt: skip
_EXTENSION: Final = "wattlas-models-jobs"
# Parameters of a request that do not belong to the page's state.
_OWN: Final = ("visitor", "have", "part")
# Parts of a simulation, see `simulation`.
_PARTS: Final = ("all", "needed", "at")


def add_routes(server: Flask) -> None:
    """Add the addresses, and create the jobs of this process."""
    server.extensions[_EXTENSION] = Jobs()
    for name, answer in (("runs", runs_answer), ("fits", fits_answer)):
        server.add_url_rule(
            f"/models/{name}",
            f"models_{name}",
            lambda answer=answer: json_answer(lambda: answer(*_asked())),
        )
    server.add_url_rule("/models/simulate", "models_simulate", _simulate, methods=["GET", "POST"])
    server.add_url_rule("/models/cancel", "models_cancel", _cancel, methods=["POST"])


def finished(question: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the results of a simulation that this process has finished; else none."""
    keep_no_response()
    jobs: Jobs | None = current_app.extensions.get(_EXTENSION) if current_app else None
    return jobs.finished(question) if jobs else []


def runs_answer(view: LakeView, state: ModelsState) -> dict[str, Any]:
    """Return the runs as points of a queue with what the models predict."""
    rows = model_points(view, state)
    notes = [] if len(rows) else [absence_words(view)]
    notes += run_notes(model_runs(view, state))
    every = max(1, -(-len(rows) // _MOST_POINTS))
    if every > 1:
        notes.append(f"one configuration of every {every} is drawn, of {len(rows):,}")
    return {
        "points": _columns(predicted(view, state, rows.gather_every(every)).select(_DRAWN)),
        "styles": group_styles(rows),
        "words": " · ".join(notes),
        "runs": int(rows["n"].sum()),
    }


def fits_answer(view: LakeView, state: ModelsState) -> dict[str, Any]:
    """Return the table of fitted numbers, predicted power, and hosts for the sliders."""
    fits = fits_of(view, state)
    notes = [*fits.notes, *run_notes(model_runs(view, state))]
    return {
        "table": fits.table.to_dicts(),
        "predicted": _columns(fits.predicted),
        # The points are in the answer of the runs.
        "plane": _columns(
            plane(view, state)
            .select("group", *SWEPT, "latency_model_us", "power_model_w")
            .drop_nulls(["latency_model_us", "power_model_w"])
        ),
        "hosts": fits.hosts,
        "styles": group_styles(fits.table),
        "notes": notes if len(fits.table) else [absence_words(view)],
    }


def _columns(rows: pl.DataFrame) -> dict[str, list[Any]]:
    """Return a table as lists by column, NaN as None."""
    floats = [name for name, kind in rows.schema.items() if kind.is_float()]
    return rows.with_columns(pl.col(floats).fill_nan(None)).to_dict(as_series=False)


def _asked() -> tuple[LakeView, ModelsState]:
    parts = [(k, v) for k, v in request.args.items(multi=True) if k not in _OWN]
    view, state = lakes().follow(ModelsState.from_query, urlencode(parts))
    return view, open_link(view, state)[0]


def _simulate() -> Response:
    def ask() -> dict[str, Any]:
        jobs: Jobs = current_app.extensions[_EXTENSION]
        state = _asked()[1]
        tab = request.args.get("visitor", "")[:40]
        part = request.args.get("part", "all")
        check_choice("part", part, _PARTS)
        asked = simulation(state, part)
        found = jobs.ask(asked, tab, request.method == "POST", visitor())
        have = request.args.get("have", "0")[:4]
        return {**found, "results": found["results"][int(have) if have.isdecimal() else 0 :]}

    return json_answer(ask)


def _cancel() -> Response:
    jobs: Jobs = current_app.extensions[_EXTENSION]
    jobs.cancel(request.args.get("job", ""), request.args.get("visitor", "")[:40])
    return json_answer(dict)

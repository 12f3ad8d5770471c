"""The page's own addresses.

/models/runs?STATE                        runs as points of a queue
/models/fits?STATE                        fits of these runs
/models/simulate?STATE&visitor=&have=     follow the simulation of a state; a POST starts it
/models/cancel?job=&visitor=              stop waiting for it (POST)
"""

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlencode

from flask import Flask, Response, current_app, request

from app.kit.context import lakes
from app.kit.lakes import LakeView
from app.models.answers import fits_answer, runs_answer
from app.models.curves import simulation
from app.models.defaults import open_link
from app.models.jobs import Jobs
from app.models.state import ModelsState
from app.serve.guard import visitor
from app.serve.response_cache import keep_no_response
from app.serve.routes import json_answer

_EXTENSION: Final = "wattlas-models-jobs"
# Parameters of a request that do not belong to the page's state.
_OWN: Final = ("visitor", "have")


def add_routes(server: Flask) -> None:
    """Add the addresses, and create the jobs of this process."""
    server.extensions[_EXTENSION] = Jobs()
    for name, answer in (("runs", runs_answer), ("fits", fits_answer)):
        server.add_url_rule(
            f"/models/{name}", f"models_{name}", lambda answer=answer: _json(answer)
        )
    server.add_url_rule("/models/simulate", "models_simulate", _simulate, methods=["GET", "POST"])
    server.add_url_rule("/models/cancel", "models_cancel", _cancel, methods=["POST"])


def finished(asked: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the results of a simulation that this process has finished; else none."""
    keep_no_response()
    jobs: Jobs | None = current_app.extensions.get(_EXTENSION) if current_app else None
    return jobs.finished(asked) if jobs else []


def _json(answer: Callable[[LakeView, ModelsState], dict[str, Any]]) -> Response:
    return json_answer(lambda: answer(*_asked()))


def _asked() -> tuple[LakeView, ModelsState]:
    parts = [(k, v) for k, v in request.args.items(multi=True) if k not in _OWN]
    view, state = lakes().asked(ModelsState.from_query, urlencode(parts))
    return view, open_link(view, state)[0]


def _simulate() -> Response:
    def ask() -> dict[str, Any]:
        jobs: Jobs = current_app.extensions[_EXTENSION]
        state = _asked()[1]
        tab = request.args.get("visitor", "")[:40]
        found = jobs.ask(simulation(state), tab, request.method == "POST", visitor())
        have = request.args.get("have", "0")[:4]
        return {**found, "results": found["results"][int(have) if have.isdecimal() else 0 :]}

    return json_answer(ask)


def _cancel() -> Response:
    jobs: Jobs = current_app.extensions[_EXTENSION]
    jobs.cancel(request.args.get("job", ""), request.args.get("visitor", "")[:40])
    return json_answer(dict)

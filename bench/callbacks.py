"""Callbacks of a running app, posted as the browser posts them, and the states of its visitors."""

import http.client
import json
import random
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import polars as pl

from app.explore.layout_controls import IDS
from app.explore.state import ExploreState
from data.analysis.facet_counts import LEADING
from data.selection import SHIPPED_FACETS, Selection, Value

SEED: Final = 7
# Share of states that filter a facet, that show each run as a point, that have a limit.
_NARROWED: Final = {
    "load": 0.7, "message": 0.7, "system": 0.3, "itr": 0.4, "dvfs": 0.4, "rapl": 0.3,
}  # fmt: skip
_EACH_RUN: Final = 0.5
_LIMITED: Final = 0.3
# Number of connections that a browser opens to one host.
_CONNECTIONS: Final = 6
# The encodings that Chromium accepts.
_HEADERS: Final = {
    "Content-Type": "application/json", "Accept-Encoding": "gzip, deflate, br, zstd",
}  # fmt: skip


def varied_states(cube: pl.DataFrame, count: int) -> list[ExploreState]:
    """Make states from the values in a lake: all different, the same in each run of the bench.

    Args:
        cube: Answer of `facet_cube_query`; each state matches some of its runs.
    """
    chance = random.Random(SEED)
    workloads = sorted(set(cube["workload"]))
    states: dict[str, ExploreState] = {}
    while len(states) < count:
        state = _state(cube, chance.choice(workloads), chance)
        states[state.to_query()] = state
    return list(states.values())


def _state(cube: pl.DataFrame, workload: str, chance: random.Random) -> ExploreState:
    left = cube.filter(pl.col("workload") == workload)
    chosen: dict[str, list[Value]] = {"dataset": [left["dataset"][0]], "workload": [workload]}
    for name, share in _NARROWED.items():
        column = SHIPPED_FACETS[name].column
        values = left[column].drop_nulls().unique().sort().to_list()
        if len(values) > 1 and chance.random() < share:
            chosen[name] = chance.sample(values, chance.randint(1, len(values) - 1))
            left = left.filter(pl.col(column).is_in(chosen[name]))
    is_open = str(left["performance_metric"][0]).startswith("latency")
    return ExploreState(
        Selection.of(**chosen),
        replicates="runs" if chance.random() < _EACH_RUN else "means",
        limit=float(chance.randint(60, 400)) if is_open and chance.random() < _LIMITED else None,
    )


class _Connections:
    """Keep-alive connections to an app."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._idle: list[http.client.HTTPConnection] = []

    def dependencies(self) -> list[dict]:
        """Return the callbacks that run on the server."""
        listed: list[dict] = json.loads(self.ask("GET", "/_dash-dependencies"))
        return [d for d in listed if not d.get("clientside_function")]

    def post(self, body: str) -> bytes:
        """Post a callback; return its answer as it comes over the wire."""
        return self.ask("POST", "/_dash-update-component", body)

    def ask(self, method: str, path: str, body: str | None = None) -> bytes:
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        try:
            connection.request(method, path, body, _HEADERS if body else {})
            answer = connection.getresponse()
            content = answer.read()
        except (http.client.HTTPException, ConnectionError):
            # The server closed the idle connection. Browsers ask again.
            connection.close()
            return self.ask(method, path, body)
        self._idle.append(connection)
        if answer.status not in (200, 204):
            raise RuntimeError(f"{path} answered {answer.status}: {content[:500]!r}")
        return content

    def close(self) -> None:
        for connection in self._idle:
            connection.close()


class OneCallback:
    """The callback that makes a page's figures from the page's state."""

    def __init__(self, port: int, output: str, ids: Any) -> None:
        """Find the callback.

        Args:
            output: Id of the store that is one of its outputs.
            ids: Ids of the page; the store of its state is the callback's one input.
        """
        self._connections = _Connections(port)
        listed = self._connections.dependencies()
        self._callback = next(d for d in listed if f"{output}.data" in d["output"])
        self._changed = f"{ids.view_state}.data"

    def time_ms(self, raw: dict) -> tuple[float, int]:
        """Return the time from the request to the last byte of the answer, and its bytes."""
        body = json.dumps(_body(self._callback, {self._changed: raw}, self._changed))
        start = time.perf_counter()
        size = len(self._connections.post(body))
        return (time.perf_counter() - start) * 1e3, size

    def close(self) -> None:
        """Close the connection."""
        self._connections.close()


class FilterChanges:
    """Filter changes of one visitor of Explore."""

    def __init__(self, port: int, version: int) -> None:
        self._version = version
        self._workload: object = None
        self._connections = _Connections(port)
        self._pool = ThreadPoolExecutor(_CONNECTIONS)
        listed = self._connections.dependencies()
        changed = [d for d in listed if _has_input(d, IDS.view_state) or _has_input(d, IDS.changed)]
        self._stages = _stages(changed)
        self._narrowed = [d for d in listed if _has_input(d, _WORKLOAD) and d not in changed]

    def close(self) -> None:
        """Close the connections."""
        self._pool.shutdown()
        self._connections.close()

    def time_ms(self, state: ExploreState) -> float:
        """Measure a change to a state: from the first request to the last byte of the last answer.

        After a change of the workload it first asks which filters remain, as the page does.
        """
        values = _values(state, self._version)
        workload = values[f"{_WORKLOAD}.value"]
        start = time.perf_counter()
        if self._workload not in (None, workload):
            self._post_all(self._narrowed, values, f"{_WORKLOAD}.value")
        for stage in self._stages:
            self._post_all(stage, values, f"{IDS.view_state}.data")
        self._workload = workload
        return (time.perf_counter() - start) * 1e3

    def _post_all(self, callbacks: Sequence[dict], values: dict[str, Any], changed: str) -> None:
        bodies = [json.dumps(_body(c, values, changed)) for c in callbacks]
        for _ in self._pool.map(self._connections.post, bodies):
            pass


def _written(component: dict[str, Any]) -> str:
    """Return the id of a component of a pattern as Dash writes it."""
    return json.dumps(component, sort_keys=True, separators=(",", ":"))


_WORKLOAD: Final = _written(IDS.facet("workload"))


def _has_input(callback: dict, component: str) -> bool:
    return any(part["id"] == component for part in callback["inputs"])


def _stages(callbacks: list[dict]) -> list[list[dict]]:
    """Group callbacks as Dash posts them: a callback waits for those whose output it takes.

    Its own outputs do not count: Dash's `getReadyCallbacks` leaves them out, and so does Chromium
    with a running app.
    """
    waiting, stages = list(callbacks), []
    while waiting:
        outputs = [set(c["output"].strip(".").split("...")) for c in waiting]
        free = [
            c
            for c, own in zip(waiting, outputs, strict=True)
            if not (set().union(*outputs) - own)
            & {f"{i['id']}.{i['property']}" for i in c["inputs"]}
        ]
        stages.append(free or waiting)
        waiting = [c for c in waiting if c not in stages[-1]]
    return stages


def _values(state: ExploreState, version: int) -> dict[str, Any]:
    """Return the values of the page's controls by `component.property`."""
    query_state = {
        **{name: list(state.selection.values(name)) for name in SHIPPED_FACETS},
        "rep": state.replicates,
        "x": state.x,
        "y": state.y,
        "xlog": state.x_log,
        "ylog": state.y_log,
        "frontier": state.frontier,
        "lake": state.lake_version,
    }
    return {
        f"{IDS.view_state}.data": query_state,
        f"{IDS.changed}.data": query_state,
        f"{_WORKLOAD}.value": state.selection.values("workload")[0],
        f"{_written(IDS.facet('dataset'))}.value": list(state.selection.values("dataset")),
        f"{IDS.control('hsys')}.value": state.heat_system,
        f"{IDS.control('hmet')}.value": state.heat_metric,
        f"{IDS.control('hx')}.value": state.heat_x,
        f"{IDS.control('hy')}.value": state.heat_y,
        f"{IDS.control('cost')}.value": state.cost,
        f"{IDS.control('by')}.value": state.limited,
        f"{IDS.control('limit')}.value": "" if state.limit is None else state.limit,
        f"{IDS.lake_version}.data": version,
    }


def _body(callback: dict, values: Mapping[str, Any], changed: str) -> dict[str, Any]:
    output = callback["output"]
    outputs = [_part(text) for text in output.strip(".").split("...")]
    return {
        "output": output,
        "outputs": outputs if output.startswith("..") else outputs[0],
        "inputs": [_with_value(part, values) for part in callback["inputs"]],
        "changedPropIds": [changed],
        "parsedChangedPropsIds": [changed],
        "state": [_with_value(part, values) for part in callback["state"]],
    }


def _part(text: str) -> dict[str, Any] | list[dict[str, Any]]:
    """Return an output; for a pattern, the output of each filter that matches."""
    component, _, name = text.rpartition(".")
    if not component.startswith("{"):
        return {"id": component, "property": name}
    part = json.loads(component)["part"]
    facets = [facet for facet in SHIPPED_FACETS if (facet in LEADING) == (part == "leading")]
    ids = [{"page": "explore", "facet": facet, "part": part} for facet in facets]
    return [{"id": each, "property": name} for each in ids]


def _with_value(part: dict, values: Mapping[str, Any]) -> dict[str, Any]:
    name = part["id"]
    component = json.loads(name) if name.startswith("{") else name
    value = values.get(f"{name}.{part['property']}")
    return {"id": component, "property": part["property"], "value": value}

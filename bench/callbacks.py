"""Post a page's callbacks to a running app as the browser does after a filter change."""

import http.client
import json
import time
import urllib.request
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from app.explore.layout import IDS
from app.explore.state import ExploreState
from data.analysis.facets import LEADING
from data.selection import FACETS

# Number of connections that a browser opens to one host.
CONNECTIONS = 6
# The encodings that Chromium accepts.
_HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "gzip, deflate, br, zstd"}


def _written(component: dict[str, Any]) -> str:
    """Return the id of a component of a pattern as Dash writes it."""
    return json.dumps(component, sort_keys=True, separators=(",", ":"))


_WORKLOAD: Final = _written(IDS.facet("workload"))


class FilterChanges:
    """Filter changes of one visitor over keep-alive connections."""

    def __init__(self, port: int, version: int) -> None:
        self._port = port
        self._version = version
        self._workload: object = None
        self._idle: list[http.client.HTTPConnection] = []
        self._pool = ThreadPoolExecutor(CONNECTIONS)
        listed = _dependencies(port)
        changed = [
            d for d in listed if _depends_on(d, IDS.view_state) or _depends_on(d, IDS.changed)
        ]
        self._stages = _stages(changed)
        self._turned = [d for d in listed if _depends_on(d, _WORKLOAD) and d not in changed]

    def close(self) -> None:
        """Close the connections."""
        self._pool.shutdown()
        for connection in self._idle:
            connection.close()

    def time_ms(self, state: ExploreState) -> float:
        """Measure a change to a state: from the first request to the last byte of the last answer.

        After a change of the workload it first asks which filters remain, as the page does.
        """
        values = _values(state, self._version)
        workload = values[f"{_WORKLOAD}.value"]
        start = time.perf_counter()
        if self._workload not in (None, workload):
            self._post_all(self._turned, values, f"{_WORKLOAD}.value")
        for stage in self._stages:
            self._post_all(stage, values, f"{IDS.view_state}.data")
        self._workload = workload
        return (time.perf_counter() - start) * 1e3

    def _post_all(self, callbacks: list[dict], values: Mapping[str, Any], changed: str) -> None:
        bodies = [json.dumps(_body(c, values, changed)) for c in callbacks]
        for status, text in self._pool.map(self._post, bodies):
            if status not in (200, 204):
                raise RuntimeError(f"a callback answered {status}: {text[:500]!r}")

    def _post(self, body: str) -> tuple[int, bytes]:
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        try:
            connection.request("POST", "/_dash-update-component", body, _HEADERS)
            answer = connection.getresponse()
            text = answer.read()
        except (http.client.HTTPException, ConnectionError):
            # The server closed the idle connection. Browsers ask again.
            connection.close()
            return self._post(body)
        self._idle.append(connection)
        return answer.status, text


def _dependencies(port: int) -> list[dict]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/_dash-dependencies") as answer:
        listed: list[dict] = json.load(answer)
    return [d for d in listed if not d.get("clientside_function")]


def _stages(callbacks: list[dict]) -> list[list[dict]]:
    """Group callbacks as Dash posts them: a callback waits for those whose output it takes."""
    waiting, stages = list(callbacks), []
    while waiting:
        coming = {text for c in waiting for text in c["output"].strip(".").split("...")}
        free = [
            c for c in waiting if not coming & {f"{i['id']}.{i['property']}" for i in c["inputs"]}
        ]
        stages.append(free or waiting)
        waiting = [c for c in waiting if c not in stages[-1]]
    return stages


def _depends_on(dependency: dict, component: str) -> bool:
    return any(part["id"] == component for part in dependency["inputs"])


def _values(state: ExploreState, version: int) -> dict[str, Any]:
    """Return the values of the page's controls by `component.property`."""
    query_state = {
        **{name: list(state.selection.values(name)) for name in FACETS},
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
    ids = [{"page": "explore", "facet": facet, "part": part} for facet in FACETS]
    if part in ("chips", "leading"):
        ids = [each for each in ids if (each["facet"] in LEADING) == (part == "leading")]
    return [{"id": each, "property": name} for each in ids]


def _with_value(part: dict, values: Mapping[str, Any]) -> dict[str, Any]:
    name = part["id"]
    place = {"id": json.loads(name) if name.startswith("{") else name, "property": part["property"]}
    return {**place, "value": values.get(f"{part['id']}.{part['property']}")}

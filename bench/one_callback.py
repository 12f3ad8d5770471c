"""One callback of the running app, posted as the browser posts it."""

import http.client
import json
import time

_HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "gzip, deflate, br, zstd"}


class OneCallback:
    """The callback that makes a page's figures from the page's state."""

    def __init__(self, port: int, output: str, state_input: str, version_state: str) -> None:
        """Find the callback.

        Args:
            output: One of its outputs, as `component.property`.
            state_input: The store with the page's state, its one input.
            version_state: The store with the lake's version, its one state.
        """
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._connection.request("GET", "/_dash-dependencies")
        listed = json.load(self._connection.getresponse())
        self._output = next(d["output"] for d in listed if output in d["output"])
        self._input, self._state = state_input, version_state

    def time_ms(self, raw: dict) -> tuple[float, int]:
        """Return the time from the request to the last byte of the answer, and its bytes."""
        body = json.dumps(self._body(raw))
        start = time.perf_counter()
        self._connection.request("POST", "/_dash-update-component", body, _HEADERS)
        got = self._connection.getresponse()
        text = got.read()
        elapsed_ms = (time.perf_counter() - start) * 1e3
        if got.status != 200:
            raise RuntimeError(f"the callback answered {got.status}: {text[:500]!r}")
        return elapsed_ms, len(text)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _body(self, raw: dict) -> dict:
        parts = [text.rpartition(".") for text in self._output.strip(".").split("...")]
        return {
            "output": self._output,
            "outputs": [{"id": name, "property": prop} for name, _, prop in parts],
            "inputs": [{"id": self._input, "property": "data", "value": raw}],
            "state": [{"id": self._state, "property": "data", "value": None}],
            "changedPropIds": [f"{self._input}.data"],
            "parsedChangedPropsIds": [f"{self._input}.data"],
        }

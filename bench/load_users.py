"""The users of locust: they replay recorded actions, each from another start.

`WATTLAS_LOAD` names the recording (see `bench.load`); locust starts this file, nothing imports it.
With `WATTLAS_LOAD_APART` each visitor asks differently, so that none share a cached response.
"""

import itertools
import json
import os
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

from gevent.pool import Pool
from geventhttpclient.response import HTTPConnectionClosed
from locust import FastHttpUser, between, events, task

_RECORDING = json.loads(Path(os.environ["WATTLAS_LOAD"]).read_text())
# Number of connections that a browser opens to one server.
_CONNECTIONS = 6
_numbers = itertools.count()
# Counts of cached responses and of repeated requests; written beside the recording.
_counts = {"kept": 0, "again": 0}


class Visitor(FastHttpUser):
    """One visitor: the first load, then an action every few seconds."""

    wait_time = between(2, 6)
    concurrency = _CONNECTIONS

    def on_start(self) -> None:
        """Load the app as a new browser does."""
        actions = _RECORDING["actions"]
        number = next(_numbers)
        start = number * 7 % len(actions)
        self._own = {}
        if "WATTLAS_LOAD_APART" in os.environ:
            # The server caches responses by encoding.
            self._own = {"accept-encoding": f"gzip, br, x-{number}"}
        # As Dash names each page load in the address of callbacks.
        self._load = f"endId=visitor-{number}"
        self._next = itertools.cycle([*actions[start:], *actions[:start]])
        self._pool = Pool(_CONNECTIONS)
        self._replay(_RECORDING["first_load"])

    @task
    def act(self) -> None:
        """Replay the requests of the next action in parallel."""
        self._replay(next(self._next))

    def _replay(self, requests: list[dict[str, Any]]) -> None:
        for _ in self._pool.imap_unordered(self._ask, requests):
            pass

    def _ask(self, request: dict[str, Any], is_again: bool = False) -> None:
        with self.client.request(
            request["method"],
            re.sub(r"endId=[^&]*", self._load, request["path"]),
            name=request["name"],
            data=b64decode(request["body"]).decode() or None,
            headers={**request["headers"], **self._own},
            catch_response=True,
        ) as answer:
            # The server closed the idle connection. Browsers ask again.
            is_lost = (
                isinstance(getattr(answer, "error", None), HTTPConnectionClosed) and not is_again
            )
            if is_lost:
                answer.success()
        _counts["again"] += is_lost
        _counts["kept"] += "hit" in (answer.headers or {}).get("Cache-Status", "")
        if is_lost:
            self._ask(request, is_again=True)


@events.quitting.add_listener
def _write_counts(**_: object) -> None:
    Path(os.environ["WATTLAS_LOAD"]).with_name("counts").write_text(json.dumps(_counts))

"""What locust runs: users that replay recorded actions, each from a place of its own.

`WATTLAS_LOAD` names the recording (see `bench.load`); locust starts this file, nothing imports it.
"""

import itertools
import json
import os
from base64 import b64decode
from pathlib import Path
from typing import Any

from gevent.pool import Pool
from locust import FastHttpUser, between, task

_RECORDING = json.loads(Path(os.environ["WATTLAS_LOAD"]).read_text())
# As many connections as a browser opens to one server.
_CONNECTIONS = 6
_numbers = itertools.count()


class Visitor(FastHttpUser):
    """One visitor: the first load, then an action every few seconds."""

    wait_time = between(2, 6)
    concurrency = _CONNECTIONS
    # As browsers do when the server has closed a connection that stood idle: all may be closed.
    max_retries = _CONNECTIONS

    def on_start(self) -> None:
        """Load the app as a new browser does."""
        actions = _RECORDING["actions"]
        start = next(_numbers) * 7 % len(actions)
        self._next = itertools.cycle([*actions[start:], *actions[:start]])
        self._pool = Pool(_CONNECTIONS)
        self._replay(_RECORDING["first_load"])

    @task
    def act(self) -> None:
        """Replay the next action: its requests side by side."""
        self._replay(next(self._next))

    def _replay(self, asked: list[dict[str, Any]]) -> None:
        for _ in self._pool.imap_unordered(self._ask, asked):
            pass

    def _ask(self, asked: dict[str, Any]) -> None:
        self.client.request(
            asked["method"],
            asked["path"],
            name=asked["name"],
            data=b64decode(asked["body"]).decode() or None,
            headers=asked["headers"],
        )

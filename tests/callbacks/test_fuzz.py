"""Thousands of generated requests to every route: none is answered with a 5xx, none takes long.

The generator is a seeded one of our own: 10,000 requests take a third of Hypothesis's time.
"""

import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, Final
from urllib.parse import quote, urlencode

import pytest
from dash import Dash
from flask import Flask
from werkzeug.routing import Rule

from app.kit.settings import Settings
from app.pages import PAGES
from app.server import create_app
from data.catalogue import SHIPPED

REQUESTS: Final = 10_000
SEED: Final = 15
# Processor time, so that a busy machine is no failure; what a page
# needs once in a process (scipy, fits) counts with its first request.
LIMIT_S: Final = 30.0
CALLBACK: Final = "/_dash-update-component"
METHODS: Final = ("GET", "GET", "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "X")
TYPES: Final = ("application/json", "text/plain", "multipart/form-data", "")
VIEWS: Final = sorted({view.name for page in PAGES for view in page.views})
KEYS: Final = sorted(
    {"v", "lake", "runs", "from", "to", "what"}
    | {key for page in PAGES for key in [*page.state.parameters(), *page.state.filters(SHIPPED)]}
)
WORDS: Final = (
    "", "..", "%2e%2e", "\x00", "\r\nX: y", "\\", "~", "$" * 300, "<b>", "é", "\N{BRAIN}", "-1",
    "nan", "inf", "1e999", "9" * 40, "0", "1", "2", "2.9", "null", "[]", "{}", "memcached", "runs",
    "linux_tuned", "box~energy_j~1~2", "configs~{}", "latency_p99_us", "energy_j", "2,4", "'; --",
)  # fmt: skip


class Requests:
    """Makes requests to the routes of an app, the same ones in every run."""

    def __init__(self, app: Dash, server: Flask) -> None:
        self._chance = Random(SEED)
        self._rules = sorted(server.url_map.iter_rules(), key=lambda rule: str(rule.rule))
        self._callbacks = sorted(
            (name, one) for name, one in app.callback_map.items() if "callback" in one
        )
        assert len(self._callbacks) > 10

    def next(self) -> tuple[str, str, dict[str, Any]]:
        """Make one: method, address, body."""
        rule = self._chance.choice(self._rules)
        if rule.rule.endswith("export.html") and self._chance.random() < 0.8:
            rule = self._chance.choice(self._rules)  # An export that succeeds takes the longest.
        if rule.rule == CALLBACK or self._chance.random() < 0.1:
            return "POST", CALLBACK, {"json": self.callback_body()}
        method, body = self._chance.choice(METHODS), {}
        if method in ("POST", "PUT", "PATCH"):
            body = {
                "data": self._chance.randbytes(9),
                "content_type": self._chance.choice(TYPES),
            }
        return method, f"{self._path(rule)}?{self._query()}", body

    def _word(self) -> str:
        if self._chance.random() < 0.8:
            return self._chance.choice(WORDS)
        return "".join(chr(self._chance.randrange(1, 0xD7FF)) for _ in range(4))

    def _path(self, rule: Rule) -> str:
        """A path of a route, its parameters filled with a view's name or anything else."""
        parts = []
        for is_dynamic, text in rule._trace:
            word = self._chance.choice((self._chance.choice(VIEWS), self._word()))
            parts.append(quote(word, safe="/%") if is_dynamic else text)
        return "".join(parts).partition("|")[2]

    def _query(self) -> str:
        keys = [
            self._chance.choice((*KEYS, self._word())) for _ in range(self._chance.randrange(4))
        ]
        return urlencode([(key, self._word()) for key in keys])

    def _value(self, depth: int = 0) -> Any:
        kind = self._chance.randrange(8 if depth < 2 else 5)
        if kind < 3:
            return self._word()
        if kind < 5:
            return self._chance.choice((None, True, 0, 1, -1, 10**30, 0.5, 1e300))
        values = [self._value(depth + 1) for _ in range(self._chance.randrange(3))]
        if kind == 5:
            return values
        return {self._chance.choice((*KEYS, self._word())): value for value in values}

    def callback_body(self) -> Any:
        """A body of the right form with any values; sometimes a part of it is anything."""
        name, declared = self._chance.choice(self._callbacks)
        outputs = declared["output"]
        body: dict[str, Any] = {
            "output": name,
            "outputs": [self._place(o.component_id_str(), o.component_property) for o in outputs]
            if isinstance(outputs, (list, tuple))
            else self._place(outputs.component_id_str(), outputs.component_property),
            "changedPropIds": [self._word()],
            **{
                key: [self._filled(one["id"], one["property"]) for one in declared[key]]
                for key in ("inputs", "state")
            },
        }
        if self._chance.random() < 0.2:
            body[self._chance.choice(sorted(body))] = self._value()
        return body if self._chance.random() < 0.95 else self._value()

    def _place(self, name: str, prop: str) -> Any:
        one = {"id": name, "property": prop}
        return [] if name.startswith("{") else one

    def _filled(self, name: str, prop: str) -> Any:
        if name.startswith("{"):
            return [{"id": {"facet": self._word()}, "property": prop, "value": self._value()}]
        good = {"load": ["200000"], "workload": "memcached"}
        value = self._chance.choice((self._value(), 0 if "version" in name else good))
        return {**self._place(name, prop), "value": value}


@pytest.mark.parametrize("count", [100, pytest.param(2000, marks=pytest.mark.slow)])
def test_no_callback_says_that_a_bad_body_is_a_bug(grid: Path, count: int) -> None:
    """In a process of its own, as below; a body that fits no page is no fault of ours."""
    done = ask_in_process(grid, str(count))
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout)["200"] > count / 2


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_no_request_is_answered_with_a_5xx_or_slowly(grid: Path) -> None:
    """In a process of its own: Dash gives its callbacks to the first app of a process alone."""
    done = ask_in_process(grid)
    assert done.returncode == 0, done.stderr[-3000:]
    statuses = json.loads(done.stdout)
    assert sum(statuses.values()) == REQUESTS
    assert min(statuses[status] for status in ("200", "301", "400", "404", "405", "415")) > 20


def ask_in_process(lake: Path, *more: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "tests.callbacks.test_fuzz", str(lake), *more]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def ask_callbacks(lake: Path, count: int) -> Counter[int]:
    """Send bodies to callbacks; returns how often each status came.

    Raises:
        AssertionError: An answer says that there is a bug.
    """
    app = create_app(Settings(lake))
    server, statuses = app.server, Counter[int]()
    assert isinstance(server, Flask)
    client = server.test_client()
    client.get("/health")
    requests = Requests(app, server)
    for _ in range(count):
        body = requests.callback_body()
        answer = client.post(CALLBACK, json=body)
        assert "BUG" not in answer.text, (body, answer.text[:300])
        statuses[answer.status_code] += 1
    return statuses


def ask_all(lake: Path) -> Counter[int]:
    """Make all requests; returns how often each status came.

    Raises:
        AssertionError: An answer was a 5xx, took long, or was an error of several lines.
    """
    app = create_app(Settings(lake, metrics_port=0))
    server, statuses = app.server, Counter[int]()
    assert isinstance(server, Flask)
    client = server.test_client()
    client.get("/health")  # Dash reads its callbacks at the first request.
    requests = Requests(app, server)
    for _ in range(REQUESTS):
        method, address, body = requests.next()
        began = time.process_time()
        answer = client.open(address, method=method, **body)
        worked_s = time.process_time() - began
        asked = (method, address, body)
        assert answer.status_code < 500, (asked, answer.text[:300])
        assert worked_s < LIMIT_S, (asked, worked_s)
        if answer.mimetype in ("text/plain", "application/json"):
            assert "BUG" not in answer.text, (asked, answer.text[:300])
        if answer.status_code >= 400 and answer.mimetype == "text/plain":
            assert len(answer.text.splitlines()) < 2, (asked, answer.text)
        statuses[answer.status_code] += 1
    return statuses


if __name__ == "__main__":
    place, *number = sys.argv[1:]
    found = ask_callbacks(Path(place), int(number[0])) if number else ask_all(Path(place))
    print(json.dumps(found))

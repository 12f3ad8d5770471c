"""One visitor cannot take what all share: simulations and queries have a quota an address."""

import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.kit.context import SANDBOX
from app.kit.settings import read_networks
from app.models.jobs import MOST_OF_ADDRESS, Jobs
from app.serve.guard import visitor
from data.sandbox.pool import Sandbox
from tests.callbacks.components import flask_of

ANN, BOB = "203.0.113.5", "203.0.113.6"


@pytest.fixture(scope="module")
def server(grid: Path) -> Iterator[Flask]:
    found = flask_of(grid, sql="unsafe-without-landlock")
    yield found
    found.extensions[SANDBOX].close()


@cache
def behind(grid: Path, proxies: str) -> Flask:
    return flask_of(grid, proxies=read_networks(proxies))


@pytest.mark.parametrize(
    ("peer", "forwarded", "proxies", "found"),
    [("198.51.100.7", None, "127.0.0.1", "198.51.100.7"),
     ("198.51.100.7", "203.0.113.5", "127.0.0.1", "198.51.100.7"),
     ("127.0.0.1", "203.0.113.5", "127.0.0.1", "203.0.113.5"),
     ("127.0.0.1", "10.0.0.9, 203.0.113.5", "127.0.0.1", "203.0.113.5"),
     ("127.0.0.1", "10.0.0.9, <script>", "127.0.0.1", "127.0.0.1"),
     ("127.0.0.1", None, "127.0.0.1", "127.0.0.1"),
     ("172.18.0.1", "203.0.113.5", "10.0.0.0/8, 172.16.0.0/12", "203.0.113.5"),
     ("::ffff:127.0.0.1", "203.0.113.5", "127.0.0.1", "203.0.113.5"),
     ("::1", "2001:db8::1:2", "::1", "2001:db8::/64"),
     ("2001:db8::99", None, "::1", "2001:db8::/64")],
)  # fmt: skip
def test_a_visitor_is_an_address_and_proxies_that_are_trusted_name_it(
    grid: Path, peer: str, forwarded: str | None, proxies: str, found: str
) -> None:
    server = behind(grid, proxies)
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    with server.test_request_context(headers=headers, environ_base={"REMOTE_ADDR": peer}):
        assert visitor() == found


def test_one_visitor_leaves_room_for_the_simulations_of_others(
    server: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Jobs, "_begin", lambda _: None)  # They only wait.

    def simulate(address: str, seed: int) -> TestResponse:
        return server.test_client().post(
            f"/models/simulate?v=2&seed={seed}&visitor=tab", headers={"X-Forwarded-For": address}
        )

    answers = [simulate(ANN, seed) for seed in range(12)]
    assert [a.status_code for a in answers] == [200] * MOST_OF_ADDRESS + [503] * 9
    assert answers[-1].headers["Retry-After"] == "2"
    assert "simulations of your address" in answers[-1].text
    assert simulate(ANN, 0).status_code == 200  # That one is under way already.
    assert simulate(BOB, 50).status_code == 200


def test_one_visitor_leaves_room_for_the_queries_of_others(
    server: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on = threading.Event()

    def slow(*_: Any) -> tuple[dict, bytes]:
        assert goes_on.wait(20)
        return {"truncated": False, "columns": [], "types": [], "rows": []}, b""

    monkeypatch.setattr(Sandbox, "_run", slow)

    def run(address: str) -> TestResponse:
        return server.test_client().post(
            "/sql/run", json={"sql": "SELECT 1"}, headers={"X-Forwarded-For": address}
        )

    statuses: list[int] = []
    running = [
        threading.Thread(target=lambda who=who: statuses.append(run(who).status_code))
        for who in (ANN, BOB)
    ]
    running[0].start()
    while server.extensions[SANDBOX].running < 1:
        threading.Event().wait(0.01)
    refused = run(ANN)
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
    assert "a query of your address runs already" in refused.text
    running[1].start()
    while server.extensions[SANDBOX].running < 2:
        threading.Event().wait(0.01)
    goes_on.set()
    for thread in running:
        thread.join(20)
    assert statuses == [200, 200]
    assert run(ANN).status_code == 200

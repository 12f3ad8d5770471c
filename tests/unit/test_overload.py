"""Bounded waiting: some requests work, some wait, the others are refused at once."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from flask import Flask

from app.serve.worker import Bounded


def server(most_working: int, most_waiting: int, patience_s: float = 60) -> tuple[Flask, Any]:
    """A server whose answer waits for an event."""
    found, done = Flask("slow"), threading.Event()
    found.add_url_rule("/", "slow", lambda: str(done.wait(60)))
    found.add_url_rule("/health", "health", lambda: "OK")
    found.wsgi_app = Bounded(found.wsgi_app, most_working, most_waiting, patience_s)  # type: ignore[method-assign]
    return found, done


def test_what_has_no_room_is_refused_with_a_time_and_the_others_are_answered() -> None:
    found, done = server(2, 3)
    with ThreadPoolExecutor(9) as threads:
        asked = [threads.submit(found.test_client().get, "/") for _ in range(9)]
        while sum(one.done() for one in asked) < 4:
            time.sleep(0.005)
        refused = [one.result() for one in asked if one.done()]
        assert [answer.status_code for answer in refused] == [503] * 4
        assert {answer.headers["Retry-After"] for answer in refused} == {"2"}
        assert "busy" in refused[0].text
        assert found.test_client().get("/health").status_code == 200
        done.set()
        assert sorted(one.result().status_code for one in asked) == [200] * 5 + [503] * 4
    assert found.test_client().get("/").status_code == 200


def test_nobody_waits_for_ever() -> None:
    found, done = server(1, 5, patience_s=0.05)
    with ThreadPoolExecutor(2) as threads:
        asked = [threads.submit(found.test_client().get, "/") for _ in range(2)]
        while not any(one.done() for one in asked):
            time.sleep(0.005)
        done.set()
    assert sorted(one.result().status_code for one in asked) == [200, 503]

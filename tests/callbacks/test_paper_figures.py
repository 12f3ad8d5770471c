"""Figures for papers over HTTP: the caption's facts, files of all forms, what is refused."""

import gzip
import json
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app.kit.settings import WATTLAS_VERSION
from app.serve import figures
from tests.test_architecture import ROOT

AT_200K = "v=2&workload=memcached&load=200000&system=ebbrt_tuned"
FIGURE = {
    "data": [{"type": "scatter", "mode": "markers", "x": [1, 2], "y": [3, 4]}],
    "layout": {"title": {"text": "Energy against p99 latency<br>means of 6 settings"}},
}


def post(client: FlaskClient, path: str, body: Any, is_gzip: bool = True) -> TestResponse:
    data = json.dumps(body).encode()
    headers = {"Content-Encoding": "gzip"} if is_gzip else {}
    data = gzip.compress(data) if is_gzip else data
    return client.post(path, data=data, headers=headers, content_type="application/json")


def test_the_caption_says_what_is_drawn_of_which_runs(client: FlaskClient) -> None:
    answer = post(client, f"/explore/caption/scatter?{AT_200K}", {"figure": FIGURE})
    title, rest = answer.text.split("\n")
    assert title == "Energy against p99 latency."
    assert rest.startswith("Means of 6 settings. Filters: ")
    for fact in ("workload memcached", "load 200000 QPS", "system ebbrt_tuned", "n = 12 runs",
                 "Lake lake, version 1", f"wattlas {WATTLAS_VERSION}"):  # fmt: skip
        assert fact in rest
    assert f'version = "{WATTLAS_VERSION}"' in (ROOT / "pyproject.toml").read_text("utf-8")
    chosen = f"{AT_200K}&sel=knobs~%7B%22itr_us%22%3A2.0%7D"
    selected = post(client, f"/explore/caption/scatter?{chosen}", {"figure": FIGURE})
    assert "a selection is highlighted" in selected.text


@pytest.mark.parametrize(
    ("form", "start", "ending"), [("pdf", b"%PDF", "pdf"), ("script", b"PK", "zip")]
)
def test_a_file_is_made_of_what_the_browser_shows(
    client: FlaskClient, form: str, start: bytes, ending: str
) -> None:
    body = {"figure": FIGURE, "size_px": [700, 400], "options": {"format": form}}
    answer = post(client, f"/explore/figure/scatter?{AT_200K}", body)
    assert answer.status_code == 200, answer.text
    assert answer.data.startswith(start)
    name = f'attachment; filename="wattlas-explore-scatter.{ending}"'
    assert answer.headers["Content-Disposition"] == name


BODY = {"figure": FIGURE, "size_px": [700, 400], "options": {}}


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("/explore/figure/none", BODY, "no view 'none'"),
        ("/explore/figure/scatter?v=99", BODY, "99"),
        ("/explore/figure/scatter", [], "JSON object"),
        ("/explore/figure/scatter", {**BODY, "code": "1"}, "JSON object"),
        ("/explore/figure/scatter", {**BODY, "figure": 3}, "JSON object"),
        ("/explore/figure/scatter", {**BODY, "size_px": [1, "2"]}, "size_px"),
        ("/explore/figure/scatter", {**BODY, "options": {"format": "exe"}}, "format is 'exe'"),
        ("/explore/figure/scatter", {**BODY, "figure": {"data": [{"type": "pie"}]}}, "'pie'"),
    ],
)
def test_what_is_no_figure_is_refused(
    client: FlaskClient, path: str, body: Any, words: str
) -> None:
    answer = post(client, path, body)
    assert answer.status_code == 400
    assert words in answer.text


def test_a_body_that_grows_is_refused(client: FlaskClient) -> None:
    bomb = {"figure": {"data": " " * (figures.MOST_BYTES + 1)}}
    answer = post(client, "/explore/figure/scatter", bomb)
    assert answer.status_code == 400
    assert "more than 12,000,000 bytes" in answer.text
    broken = client.post(
        "/explore/figure/scatter", data=b"no gzip", headers={"Content-Encoding": "gzip"},
        content_type="application/json",
    )  # fmt: skip
    assert broken.status_code == 400


def test_a_busy_server_says_when_to_try_again(server: Flask, client: FlaskClient) -> None:
    drawers = server.extensions["wattlas-drawers"]
    drawers._running.update(["one", "two"])
    try:
        answer = post(client, "/explore/figure/scatter", BODY, is_gzip=False)
    finally:
        drawers._running.clear()
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")

"""The served app: headers, hosts, refusals, a path prefix, the request log, `/metrics`."""

import json
import logging
import re
import urllib.request
from pathlib import Path
from typing import Any

import dash
import pytest
from flask import Flask
from flask.testing import FlaskClient
from gunicorn.app.base import BaseApplication

from app.__main__ import main
from app.kit.settings import Settings
from app.pages import PAGES
from app.serve.guard import MOST_BODY_BYTES
from app.serve.monitoring import serve_metrics
from app.server import create_app

CALLBACK = "/_dash-update-component"


@pytest.fixture(scope="module")
def client(grid: Path) -> FlaskClient:
    """A visitor of an app that a proxy serves under a path; it logs, and counts."""
    settings = Settings(
        grid, prefix="/atlas", allowed_hosts=(".lab.example",), log="json", metrics_port=0
    )
    return create_app(settings).server.test_client()


@pytest.mark.parametrize(
    "address",
    ["/", "/modes", "/nowhere", "/health", "/metrics", "/_dash-layout", "/assets/_kit/idle.js",
     "/explore/data/runs.csv?v=2&workload=memcached", "/explore/export.html", "/explore/how/none",
     "/export.html", "/..", "/timeline/window"],
)  # fmt: skip
def test_every_answer_has_the_headers(client: FlaskClient, address: str) -> None:
    headers = client.get(address).headers
    policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert "unsafe" not in policy["script-src"]
    assert policy["frame-ancestors"] == "'self'"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Referrer-Policy"] == "same-origin"
    assert "camera=()" in headers["Permissions-Policy"]


@pytest.mark.parametrize(
    ("tab", "title", "other"),
    [("", "Throughput against load", "Residuals"), ("?tab=fit", "Residuals", "Throughput")],
)
def test_the_frame_before_dash_has_the_views_of_the_link(
    client: FlaskClient, tab: str, title: str, other: str
) -> None:
    frame = client.get(f"/models{tab}").text.split('class="status"')[0]
    assert title in frame
    assert other not in frame


def test_every_inline_script_is_allowed_by_its_hash(client: FlaskClient) -> None:
    answer = client.get("/")
    inline = re.findall(r"<script(?![^>]*(?:src=|json))[^>]*>", answer.text)
    assert len(inline) >= 2
    assert answer.headers["Content-Security-Policy"].count("'sha256-") >= len(inline)
    assert "sha256" not in client.get("/health").headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1:8050", 200), ("localhost", 200), ("[::1]:8050", 200), ("[::1]", 200),
     ("[::1].evil", 400), ("[::2]", 400), ("atlas.lab.example", 200),
     ("atlas.lab.example:8443", 200), ("rebound.example", 400), ("lab.example.evil", 400),
     ("a b", 400), ("x/y", 400), ("", 400)],
)  # fmt: skip
def test_only_known_names_are_answered(client: FlaskClient, host: str, status: int) -> None:
    answer = client.get("/health", headers={"Host": host})
    assert answer.status_code == status
    assert status == 200 or "--allowed-hosts" in answer.text


@pytest.mark.parametrize(
    ("request_", "status", "words"),
    [
        (("DELETE", "/", {}), 405, "method is not allowed"),
        (("POST", "/modes", {"json": {}}), 405, "method is not allowed"),
        (("POST", CALLBACK, {"data": "a=1"}), 415, "expected application/json"),
        (("POST", CALLBACK, {"data": "{", "content_type": "application/json"}), 400, "request"),
        (("POST", CALLBACK, {"json": [1]}), 400, "no JSON object"),
        (("POST", CALLBACK, {"json": {"output": "x.y"}}), 400, "no callback has the output 'x.y'"),
        (("POST", CALLBACK, {"json": "x" * MOST_BODY_BYTES}), 413, "at most 1,000,000"),
        (("POST", CALLBACK, {"json": {}, "headers": {"Sec-Fetch-Site": "cross-site"}}), 403,
         "another site"),
        (("POST", CALLBACK, {"json": {}, "headers": {"Origin": "https://evil.example"}}), 403,
         "another site"),
        (("GET", "/assets/../app/server.py", {}), 400, "'..'"),
        (("GET", "/assets/..%2f..%2fapp/server.py", {}), 400, "'..'"),
        (("GET", "/assets/a%00.js", {}), 400, "control character"),
        (("GET", "/explore/how/%0d%0aSet-Cookie:x", {}), 400, "control character"),
        (("GET", "/explore/data/%ff.csv", {}), 400, "not UTF-8"),
        (("GET", "/assets\\..\\x", {}), 400, "backslash"),
        (("GET", "/assets/none.js", {}), 404, "not found"),
        (("GET", "/_dash-component-suites/os/path.py", {}), 404, "not found"),
        (("GET", "/_dash-component-suites/dash/dash.py", {}), 404, "not found"),
        (("GET", "/explore/data/none.csv", {}), 400, "no view 'none'; known: scatter"),
        (("GET", "/explore/data/scatter.csv?lake=newest", {}), 400, "expected a version number"),
    ],
)  # fmt: skip
def test_what_is_refused_is_refused_in_words(
    client: FlaskClient, request_: tuple[str, str, dict[str, Any]], status: int, words: str
) -> None:
    method, address, more = request_
    answer = client.open(address, method=method, **more)
    assert answer.status_code == status, answer.text[:200]
    assert words in answer.text
    assert "Traceback" not in answer.text
    assert status == 404 or len(answer.text.splitlines()) == 1


@pytest.mark.parametrize("address", ["/", "/explore/data/runs.csv?v=2", "/models/runs", "/health"])
@pytest.mark.parametrize(
    ("site", "mode", "dest", "status"),
    [("cross-site", "navigate", "document", 200), ("same-site", "navigate", "document", 200),
     ("none", "navigate", "document", 200), ("same-origin", "cors", "empty", 200),
     ("same-origin", "no-cors", "script", 200), ("cross-site", "no-cors", "image", 403),
     ("cross-site", "cors", "empty", 403), ("cross-site", "navigate", "iframe", 403),
     ("cross-site", "no-cors", "script", 403), ("same-site", "no-cors", "image", 403)],
)  # fmt: skip
def test_another_site_may_link_here_but_makes_the_app_compute_nothing(
    client: FlaskClient, address: str, site: str, mode: str, dest: str, status: int
) -> None:
    sent = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}
    answer = client.get(address, headers=sent)
    assert answer.status_code == status
    assert status == 200 or "another site" in answer.text


def test_a_page_of_another_site_cannot_post_by_a_form_that_it_opens(client: FlaskClient) -> None:
    opened = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    sent = {"Sec-Fetch-Site": "cross-site", **opened}
    assert client.post("/models/simulate", json={}, headers=sent).status_code == 403


@pytest.mark.parametrize("depth", [150, 900, 100_000])
@pytest.mark.parametrize("opened", ["[", '{"a":'])
def test_a_body_that_is_nested_deeply_is_refused(
    client: FlaskClient, depth: int, opened: str
) -> None:
    closed = "]" if opened == "[" else "}"
    deep = opened * depth + "1" + closed * depth
    for body in (deep, f'{{"output": "shown", "inputs": {deep}}}'):
        answer = client.post(CALLBACK, data=body, content_type="application/json")
        assert (answer.status_code, len(answer.text.splitlines())) == (400, 1), answer.text


def test_a_bug_is_a_sentence_for_visitors_and_a_trace_in_the_log(
    grid: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = create_app(Settings(grid)).server
    server.add_url_rule("/broken", "broken", lambda: dict[str, str]()["secret"])
    answer = server.test_client().get("/broken")
    assert answer.status_code == 500
    assert answer.text.startswith("BUG: KeyError inside wattlas")
    assert "secret" not in answer.text
    assert "Traceback" in caplog.text


def test_under_a_prefix_every_address_has_it(client: FlaskClient) -> None:
    for root in ("", "/atlas"):  # A proxy may remove the prefix or pass it on.
        for page in PAGES:
            index = client.get(f"{root}{page.path}")
            assert index.status_code == 200
            named = re.findall(r'(?:src|href)="(/[^"]*)"', index.text)
            assert len(named) > 10
            assert [address for address in named if not address.startswith("/atlas/")] == []
            assert '"requests_pathname_prefix":"\\u002fatlas\\u002f"' in index.text
        layout = json.dumps(client.get(f"{root}/_dash-layout").json)
        links = re.findall(r'"href": "(/[^"]*)"', layout)
        assert {f"/atlas{page.path}" for page in PAGES} <= set(links)
        assert [link for link in links if not link.startswith("/atlas/")] == []
    old = client.get("/export.html?v=1")
    assert old.headers["Location"] == "/atlas/explore/export.html?v=1"
    old = client.get("/timeline/how?runs=a")
    assert old.headers["Location"] == "/atlas/timeline/how/figure?run=a"


def test_every_request_is_one_line_without_values_of_visitors(
    client: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "wattlas.requests"):
        client.get("/explore/how/runs?v=2&load=fast", headers={"User-Agent": "who-am-i"})
        client.get("/health", headers={"Host": "evil.example", "Cookie": "a=secret"})
        client.post(CALLBACK, json={"output": "secret"})
    lines = [json.loads(record.message) for record in caplog.records]
    assert [(x["method"], x["route"], x["status"]) for x in lines] == [
        ("GET", "/explore/how/<view>", 400), ("GET", "/health", 400), ("POST", CALLBACK, 400),
    ]  # fmt: skip
    assert lines[0]["url"] == "/explore/how/runs?v=2&load=fast"
    assert "load" in lines[0]["refused"]
    assert all(line["ms"] >= 0 and line["time"].endswith("+00:00") for line in lines)
    assert "who-am-i" not in caplog.text
    assert "a=secret" not in caplog.text


def test_the_text_form_quotes_what_could_forge_a_line(
    grid: Path, caplog: pytest.LogCaptureFixture
) -> None:
    client = create_app(Settings(grid, log="text")).server.test_client()
    with caplog.at_level(logging.INFO, "wattlas.requests"):
        client.get("/a%0atime=2000 status=200")
    assert [len(record.message.splitlines()) for record in caplog.records] == [1]
    assert 'url="/a\\ntime' in caplog.text
    assert " status=400 ms=" in caplog.text


def test_prometheus_reads_requests_latencies_lake_and_memory(client: FlaskClient) -> None:
    client.get("/explore/how/runs?v=2&workload=memcached")
    text = numbers_of(client.application)
    assert re.search(
        r'^wattlas_requests_total\{method="GET",route="/explore/how/<view>",status="200"\} [1-9]',
        text, re.M,
    )  # fmt: skip
    assert 'wattlas_request_seconds_bucket{le="0.25"' in text
    assert re.search(r"^wattlas_lake_version 1\.0", text, re.M)
    assert re.search(r"^wattlas_lake_open_versions 1\.0", text, re.M)
    assert re.search(r"^process_resident_memory_bytes \d", text, re.M)


def numbers_of(server: Flask) -> str:
    """What Prometheus reads, on a port of its own."""
    with urllib.request.urlopen(f"http://127.0.0.1:{serve_metrics(server, 0)}/metrics") as answer:
        return str(answer.read().decode())


@pytest.mark.parametrize("address", ["/metrics", "/atlas/metrics", "/atlas/atlas/metrics"])
def test_visitors_cannot_ask_for_numbers(client: FlaskClient, address: str) -> None:
    assert client.get(address).status_code == 404


def test_an_address_that_other_machines_reach_wants_a_proxy(
    grid: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("app.serve.memory.keep_memory_small", lambda: True)
    monkeypatch.setattr(BaseApplication, "run", lambda _: None)
    for host, is_warned in (("0.0.0.0", True), ("10.0.0.1", True), ("::1", False)):
        assert main(["--lake", str(grid), "--host", host]) == 0
        assert ("a proxy that buffers requests" in capsys.readouterr().err) == is_warned


def test_all_callbacks_are_there_before_the_first_visitor(
    grid: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.serve.memory.keep_memory_small", lambda: True)
    monkeypatch.setattr(BaseApplication, "run", lambda server: server.load())
    assert main(["--lake", str(grid)]) == 0
    assert any("_pages_content" in name for name in dash.get_app().callback_map)


@pytest.mark.parametrize("prefix", ["atlas", "/atlas/", "/a b", "/", "//x", "/<x>", "/é"])
def test_a_bad_prefix_is_refused(prefix: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--prefix", prefix])
    assert left.value.code == 2
    assert "expected a path such as /atlas" in capsys.readouterr().err

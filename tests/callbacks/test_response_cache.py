"""Responses that are kept: which, until when, and that they are the same."""

import secrets
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app.kit.settings import Settings
from app.serve import response_cache
from app.serve.response_cache import HIT
from app.server import create_app
from ingest.files.blocks import zstd
from tests.fixtures.lakes import run, write_lake

ROWS = "/explore/data/runs.csv?v=2&workload=memcached"
LAYOUT = {
    "output": ".._pages_content.children..._pages_store.data..",
    "outputs": [
        {"id": "_pages_content", "property": "children"},
        {"id": "_pages_store", "property": "data"},
    ],
    "inputs": [
        {"id": "_pages_location", "property": "pathname", "value": "/storage"},
        {"id": "_pages_location", "property": "search", "value": ""},
    ],
    "changedPropIds": ["_pages_location.pathname"],
}


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    return write_lake(tmp_path / "lake", [run()])


@pytest.fixture
def client(lake: Path) -> FlaskClient:
    return create_app(Settings(lake)).server.test_client()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> FlaskClient:
    """For tests that ask each for something else."""
    lake = write_lake(tmp_path_factory.mktemp("shared") / "lake", [run()])
    return create_app(Settings(lake)).server.test_client()


def opens(client: FlaskClient) -> TestResponse:
    load = secrets.token_hex(8)  # As Dash signs each page load.
    return client.post(f"/_dash-update-component?endId={load}", json=LAYOUT)


def is_kept(response: TestResponse) -> bool:
    return response.headers.get("Cache-Status") == HIT


@pytest.mark.parametrize(
    "ask",
    [opens, *[lambda client, address=address: client.get(address) for address in
              (ROWS, ROWS.replace(".csv", ".parquet"), "/explore/how/scatter?v=2", "/_dash-layout",
               "/_dash-dependencies", "/models/runs?v=1")]],
)  # fmt: skip
def test_the_same_request_gets_the_same_response(
    shared: FlaskClient, ask: Callable[[FlaskClient], TestResponse]
) -> None:
    first, second = ask(shared), ask(shared)
    assert first.status_code == 200, first.text
    assert not is_kept(first)
    assert is_kept(second)
    assert second.data == first.data
    assert dict(second.headers) == {**first.headers, "Cache-Status": HIT}


def test_another_request_gets_its_own(client: FlaskClient) -> None:
    client.get(ROWS)
    for address, headers in (
        (ROWS, {"Accept-Encoding": "gzip"}), (ROWS, {"Range": "bytes=0-9"}), (ROWS + "&itr=2", {}),
        (ROWS.replace("csv", "parquet"), {}),
    ):  # fmt: skip
        assert not is_kept(client.get(address, headers=headers)), (address, headers)


@pytest.mark.parametrize(
    "address",
    ["/", "/health", "/explore/data/runs.csv?v=2&load=fast", "/explore/export.html",
     "/models/data/throughput.csv?v=1", "/models/simulate?v=1&visitor=a"],
)  # fmt: skip
def test_what_may_differ_the_next_time_is_never_kept(shared: FlaskClient, address: str) -> None:
    shared.get(address)
    assert not is_kept(shared.get(address))


def test_browsers_that_take_zstandard_get_it(shared: FlaskClient) -> None:
    accepted = {"Accept-Encoding": "gzip, deflate, br, zstd"}
    packed = shared.get("/", headers=accepted)
    assert packed.headers["Content-Encoding"] == "zstd"
    assert zstd.decompress(packed.data)[:15] == shared.get("/").data[:15] == b"<!DOCTYPE html>"


def test_an_ingest_and_a_lake_that_goes_end_it(lake: Path, client: FlaskClient) -> None:
    for runs in (1, 2):
        answers = [client.get(ROWS) for _ in range(2)]
        assert [is_kept(answer) for answer in answers] == [False, True]
        assert [len(answer.text.splitlines()) for answer in answers] == [runs + 1] * 2
        write_lake(lake, [run(replicate=runs)])
    opens(client)
    shutil.rmtree(lake)
    for answer in (client.get(ROWS), client.get(ROWS)):
        assert answer.status_code == 400
        assert "is gone" in answer.text
    for answer in (opens(client), opens(client)):
        assert "the lake cannot be read" in answer.text
        assert not is_kept(answer)


def test_what_is_said_of_no_lake_is_not_kept(tmp_path: Path) -> None:
    client = create_app(Settings(tmp_path / "none")).server.test_client()
    assert not any(is_kept(opens(client)) for _ in range(2))


def test_a_callback_that_fails_is_asked_again(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr("app.serve.index.open_page", lambda *_: dict[str, str]()["nothing"])
        for _ in range(2):
            answer = opens(client)
            assert "BUG: KeyError" in answer.text
            assert not is_kept(answer)
    answer = opens(client)
    assert "BUG" not in answer.text
    assert not is_kept(answer)


def test_what_is_too_large_is_not_kept(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(response_cache, "MOST_BYTES", 10)
    assert len(client.get(ROWS).data) > 10
    assert not is_kept(client.get(ROWS))

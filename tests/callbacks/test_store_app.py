"""The app on a lake in an object store: pages as of a folder, few requests, a store away."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

import app.__main__
from app.kit.context import EXTENSION, SANDBOX, Lakes, lake_view
from app.kit.settings import Settings
from app.pages import PAGES
from app.serve.index import open_layout
from app.server import create_app
from app.timeline.panels import PANELS
from data import lake_watch
from data.lake_place import LakePath
from data.sandbox.landlock import landlock_version
from data.sandbox.pool import Sandbox
from ingest.lake.maintenance import list_problems
from ingest.pipeline import AddOptions, add
from tests.callbacks.components import texts
from tests.callbacks.test_server import numbers_of
from tests.fixtures.lakes import run, write_lake
from tests.fixtures.raw_runs import LOG, write_memcached, write_netpipe, write_settings
from tests.fixtures.stores import KEY, SECRET, Fault, Stored, copy_lake

WINDOW = "/timeline/window"
# The page of models computes for long, and reads the lake as Explore does.
MEASURED = [page for page in PAGES if page.name != "models"]
# What a window may ask of the store: footers and first looks at a run; then row groups by range.
MOST_FIRST = 16
MOST_FURTHER = 12


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four runs with logs, in a folder."""
    folder = tmp_path_factory.mktemp("store-app")
    write_settings(folder / "raw")
    write_memcached(folder / "raw")
    for replicate in range(3):
        write_netpipe(folder / "raw", replicate, LOG + "7 1 2\n")
    add(AddOptions(folder / "lake", [folder / "raw"], workers=1))
    return folder / "lake"


@pytest.fixture
def never_polled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lake_watch, "EVERY_S", 1e9)


@pytest.fixture
def always_polled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lake_watch, "EVERY_S", 0.0)
    monkeypatch.setattr(lake_watch, "AGAIN_S", 0.0)


def client_of(lake: LakePath, **settings: Any) -> FlaskClient:
    return create_app(Settings(lake, **settings)).server.test_client()


def run_ids(client: FlaskClient) -> list[str]:
    with client.application.app_context():
        rows = lake_view(None).lake.polars("SELECT run_id FROM runs WHERE has_log ORDER BY run_id")
    return list(rows["run_id"])


def window(client: FlaskClient, run_id: str, begin: float, end: float) -> bytes:
    query = {"runs": run_id, "from": begin, "to": end, "panels": ",".join(PANELS)}
    answer = client.get(WINDOW, query_string=query)
    assert answer.status_code == 200, answer.text
    return answer.data


@pytest.mark.slow
@pytest.mark.usefixtures("never_polled")
def test_pages_exports_and_files_are_those_of_a_folder(
    stored: Stored, local: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy_lake(local, stored.lake)
    there, here = client_of(stored.lake), client_of(local)
    for page in MEASURED:
        for view in page.views:
            for address in (f"data/{view.name}.csv", f"how/{view.name}"):
                found = [c.get(f"/{page.name}/{address}") for c in (there, here)]
                assert found[0].status_code == found[1].status_code
                assert found[0].data == found[1].data
    for run_id in run_ids(here):
        assert window(there, run_id, 0, 0.002) == window(here, run_id, 0, 0.002)
    exports = [tmp_path / "there.html", tmp_path / "here.html"]
    for lake, out in zip((stored.address, str(local)), exports, strict=True):
        assert app.__main__.main(["export", str(out), "--lake", lake]) == 0
    assert exports[0].read_bytes() == exports[1].read_bytes()
    assert KEY not in capsys.readouterr().out


@pytest.mark.usefixtures("never_polled")
def test_explore_asks_the_store_once_and_a_window_a_few_times(stored: Stored, local: Path) -> None:
    copy_lake(local, stored.lake)
    client = client_of(stored.lake)
    ids = run_ids(client)
    stored.clear()
    for itr in ("2", "8", "50", "8"):
        client.get(f"/explore/data/runs.csv?v=2&itr={itr}")
    assert stored.proxy.requests == []
    window(client, ids[0], 0, 0.002)
    assert 0 < len(stored.proxy.requests) <= MOST_FIRST
    for begin, end in ((0.0005, 0.001), (0.0, 0.0004), (0.0012, 0.002)):
        stored.clear()
        window(client, ids[0], begin, end)
        assert 0 < len(stored.proxy.requests) <= MOST_FURTHER
        assert {request.method for request in stored.proxy.requests} == {"GET"}
        assert all(".parquet" in request.path for request in stored.proxy.requests)


@pytest.mark.usefixtures("never_polled")
def test_a_second_process_reads_the_copies_of_the_first(stored: Stored, local: Path) -> None:
    copy_lake(local, stored.lake)
    Lakes(stored.lake).at(None)
    stored.clear()
    assert Lakes(stored.lake).at(None).runs == 4
    assert [r.path for r in stored.proxy.requests if ".parquet" in r.path] == []


def test_the_newest_version_is_asked_for_seldom(
    stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lake(stored.lake, [run()])
    lakes = Lakes(stored.lake)
    assert lakes.at(None).version == 0
    stored.clear()
    for _ in range(50):
        lakes.at(None)
    assert stored.proxy.requests == []
    monkeypatch.setattr(lake_watch.time, "monotonic", lambda: 1e9)
    lakes.at(None)
    # The log's newest entry, and the next one: that there is none takes two requests.
    assert len(stored.proxy.requests) == 3


@pytest.mark.usefixtures("always_polled")
def test_another_version_and_another_lake_are_seen(stored: Stored) -> None:
    lakes = Lakes(stored.lake)
    assert lakes.at(None).runs == 0
    write_lake(stored.lake, [run()])
    assert lakes.at(None).runs == 1
    write_lake(stored.lake, [run(replicate=1)])
    assert [lakes.at(None).runs, lakes.at(0).runs] == [2, 1]


@pytest.mark.usefixtures("always_polled")
def test_while_the_store_is_away_the_pages_show_what_they_have_and_say_so(
    stored: Stored,
) -> None:
    write_lake(stored.lake, [run()])
    client = client_of(stored.lake)

    def shown() -> str:
        with client.application.app_context():
            return " ".join(texts(open_layout(PAGES[0], {})))

    rows = "/explore/data/runs.csv?v=2&workload=memcached"
    assert "may have a newer version" not in shown()
    before = client.get(rows).data
    stored.fail(Fault(503, "SlowDown"))
    said = shown()
    assert "a newer version than 0, which is shown: cannot read s3://" in said
    assert "is too busy (503)" in said
    assert client.get(rows).data == before
    assert client.get(f"{rows}&lake=7").status_code == 400
    stored.clear()
    write_lake(stored.lake, [run(replicate=1)])
    assert "may have a newer version" not in shown()
    assert client.get(rows).data != before


@pytest.mark.usefixtures("always_polled")
def test_nobody_waits_for_a_store_that_hangs(
    stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lake(stored.lake, [run()])
    lakes = Lakes(stored.lake)
    assert lakes.at(None).version == 0
    stored.clear()
    stored.fail(Fault(wait_s=60))
    monkeypatch.setattr(lake_watch, "PATIENCE_S", 0.01)
    for _ in range(3):
        assert lakes.at(None).version == 0
    # The store was asked, and has not answered yet.
    assert stored.proxy.requests == []
    assert lakes.trouble == ""


def test_a_store_that_was_never_reached_is_named_on_the_page(
    stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However busy the machine is, the store is not asked a second time.
    monkeypatch.setattr(lake_watch, "AGAIN_S", 1e9)
    stored.fail(Fault(403, "AccessDenied"))
    client = client_of(stored.lake)
    with client.application.app_context():
        assert "cannot be read" in " ".join(texts(open_layout(PAGES[0], {})))
    assert "does not allow it with these credentials" in json.dumps(
        client.get("/_dash-layout").json
    )
    # Of an earlier test a request may still come.
    own = [one for one in stored.proxy.requests if stored.lake.key in one.path]
    assert 1 <= len(own) <= 2


def test_a_version_with_more_bytes_than_copies_may_have_is_refused(
    stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lake(stored.lake, [run()])
    monkeypatch.setattr("data.lake_files.most_bytes", lambda: 1000)
    answer = client_of(stored.lake).get("/explore/data/runs.csv?v=2")
    assert answer.status_code == 400
    assert "WATTLAS_CACHE_MB sets more" in answer.text


@pytest.fixture
def sql_client(stored: Stored, local: Path) -> Iterator[FlaskClient]:
    copy_lake(local, stored.lake)
    mode = "on" if landlock_version() else "unsafe-without-landlock"
    client = client_of(stored.lake, sql=mode, metrics_port=0, log="json")
    yield client
    sandbox = client.application.extensions[SANDBOX]
    assert isinstance(sandbox, Sandbox)
    sandbox.close()


@pytest.mark.slow
def test_sql_and_every_output_hold_no_credentials(
    stored: Stored, sql_client: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    said: list[str] = []

    def asked(sql: str) -> Any:
        answer = sql_client.post("/sql/run", json={"sql": sql})
        said.append(answer.text)
        return answer.json

    assert asked("SELECT count(*) FROM runs")["rows"] == [[4]]
    assert asked("SELECT count(*) FROM cores")["rows"] == [[5]]
    assert asked("SELECT count(*) FROM sources")["rows"][0][0] > 4
    problems = len(list_problems(stored.lake))
    assert asked("SELECT count(*) FROM problems")["rows"] == [[problems]]
    assert "lakes in a folder only" in asked("SELECT * FROM lake_file('interrupts/x')")["error"]
    assert asked("SELECT sql FROM duckdb_views()")["rows"]
    for sql in ("SELECT * FROM duckdb_settings()", "SELECT * FROM duckdb_functions()",
                f"SELECT * FROM read_parquet('{stored.address}/runs/*.parquet')",
                "SELECT getenv('AWS_SECRET_ACCESS_KEY')"):  # fmt: skip
        asked(sql)
    for failing in (False, True):
        if failing:
            # Its answers quote the key, as those of some stores do.
            stored.fail(Fault(403, "SignatureDoesNotMatch"))
        for page in MEASURED:
            said += [sql_client.get(page.path).text]
            said += [sql_client.get(f"/{page.name}/export.html").text]
            for view in page.views:
                said += [sql_client.get(f"/{page.name}/how/{view.name}").text]
            with sql_client.application.app_context():
                said += texts(open_layout(page, {}))
        said += [sql_client.get(path).text for path in ("/_dash-layout", "/health")]
        said += [numbers_of(sql_client.application)]
        said += [sql_client.get(WINDOW, query_string={"runs": "x"}).text]
    with sql_client.application.app_context():
        shown = lake_view(None)
    lakes = sql_client.application.extensions[EXTENSION]
    said += [caplog.text, repr(shown.lake.path), repr(shown.lake), repr(lakes.path), lakes.trouble]
    said += list(shown.lake.views)
    text = "\n".join(said)
    assert len(text) > 100_000
    assert KEY not in text
    assert SECRET not in text

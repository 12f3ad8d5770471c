"""SQL over HTTP: answers, files, refusals; the page where it is on and where it is off."""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import polars.testing
import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.kit.context import SANDBOX
from app.kit.settings import Settings
from app.pages import PAGES
from app.server import create_app
from app.sql.answer import columns_of, example_of, examples
from app.sql.layout import sql_layout
from app.sql.state import SqlState
from data.connection import open_lake
from data.errors import BusyError
from data.lake_views import VIEWS
from data.sandbox import pool
from data.sandbox.landlock import landlock_version
from data.sandbox.pool import Sandbox
from tests.callbacks.components import by_id, flask_of, texts
from tests.callbacks.test_server import numbers_of
from tests.fixtures.lakes import run, write_lake

needs_landlock = pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")


@pytest.fixture(scope="module")
def server(grid: Path) -> Iterator[Flask]:
    """An app whose visitors may run SQL."""
    found = flask_of(grid, sql="on", metrics_port=0, log="json")
    yield found
    sandbox = found.extensions[SANDBOX]
    if isinstance(sandbox, Sandbox):
        sandbox.close()


@needs_landlock
def test_a_query_is_answered_as_json_and_as_files(
    client: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    sql = "SELECT system, count(*) AS n FROM runs WHERE loop = 'open' GROUP BY ALL ORDER BY 1"
    rows = [["ebbrt_tuned", 12], ["linux_default", 2], ["linux_tuned", 13]]
    answer: Any = client.post("/sql/run", json={"sql": sql}).json
    assert answer.pop("elapsed_ms") > 0
    assert [column["role"] for column in answer.pop("about")] == ["category", "count"]
    assert (answer.pop("chart"), len(answer.pop("scale"))) == (
        {"x": "system", "y": "n", "col": ""}, 8,
    )  # fmt: skip
    assert answer == {
        "columns": ["system", "n"], "types": ["VARCHAR", "BIGINT"], "truncated": False,
        "rows": rows,
    }  # fmt: skip
    csv = client.post("/sql/csv", json={"sql": sql, "id": "mine"})
    assert 'filename="wattlas-sql.csv"' in csv.headers["Content-Disposition"]
    assert csv.text.splitlines()[1] == '"ebbrt_tuned",12'
    parquet = client.post("/sql/parquet", json={"sql": sql, "lake": 0})
    assert pl.read_parquet(io.BytesIO(parquet.data)).rows()[2] == ("linux_tuned", 12)
    assert 'wattlas_sql_total{outcome="answered"}' in numbers_of(client.application)
    assert '"query": "mine"' in caplog.text
    assert "ebbrt" not in caplog.text


@needs_landlock
@pytest.mark.parametrize(
    ("body", "words"),
    [({}, "sql is empty"), ({"sql": "  "}, "sql is empty"), ({"sql": 1}, "sql is no text"),
     ([], "expected a JSON object"), ({"sql": "x", "a": 1}, "expected a JSON object"),
     ({"sql": "SELECT 1", "lake": "0"}, "expected a version number"),
     ({"sql": "SELECT x"}, "Binder Error"),
     ({"sql": "DROP VIEW runs"}, "single SELECT"), ({"sql": "SELECT 1", "id": "x" * 65}, "64")],
)  # fmt: skip
def test_what_is_wrong_is_said_as_json(client: FlaskClient, body: Any, words: str) -> None:
    answer = client.post("/sql/run", json=body)
    assert answer.status_code == 400
    assert list(answer.json or {}) == ["error"]
    assert words in (answer.json or {})["error"]


def test_the_words_of_sql_are_those_of_duckdb(client: FlaskClient) -> None:
    answer: Any = client.get("/sql/words").json
    rows = {(word, kind): rest for word, kind, *rest in zip(*answer.values(), strict=True)}
    assert rows["quantile_cont", "function"][0] == "x, quantile"
    assert "quantile" in rows["quantile_cont", "function"][1]
    assert {("qualify", "keyword"), ("varchar", "type"), ("exclude", "keyword")} <= set(rows)
    # A column of the lake is no keyword.
    assert ("mode", "function") in rows
    assert ("mode", "keyword") not in rows


@needs_landlock
def test_an_unknown_version_is_not_found(client: FlaskClient) -> None:
    answer = client.post("/sql/run", json={"sql": "SELECT 1", "lake": 999_999_999_999_999_999})
    assert answer.status_code == 404
    assert "no version 999999999999999999" in (answer.json or {})["error"]


@needs_landlock
def test_a_busy_sandbox_says_when_to_come_back(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: Any) -> Any:
        raise BusyError("2 queries run already; try again in a second")

    monkeypatch.setattr(Sandbox, "run", busy)
    answer = client.post("/sql/run", json={"sql": "SELECT 1"})
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
    assert (answer.json or {})["error"].startswith("2 queries run already")
    assert client.post("/sql/cancel", json={"id": "none"}).json == {"cancelled": False}


def test_where_sql_is_off_nothing_runs_and_the_page_says_how_to_ask(
    grid: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "landlock_version", lambda: 0)
    for settings, words in (
        (Settings(grid), "--sql on"),
        (Settings(grid, sql="on"), "no Landlock"),
    ):
        server = create_app(settings).server
        client = server.test_client()
        answer = client.post("/sql/run", json={"sql": "SELECT 1"})
        assert answer.status_code == 403
        assert words in (answer.json or {})["error"]
        with server.app_context(), open_lake(grid):
            from app.kit.context import lake_view

            main = sql_layout(lake_view(None), SqlState(sql="x"), "")
        said = " ".join(texts(main))
        assert words in said
        assert "open_lake" in said
        assert by_id(main, "sql-run").disabled
    server = create_app(Settings(grid, sql="unsafe-without-landlock")).server
    assert isinstance(server.extensions[SANDBOX], Sandbox)


def test_columns_are_listed_with_units(server: Flask) -> None:
    from app.kit.context import lake_view

    with server.app_context():
        rows = columns_of(lake_view(None))
    assert rows["table"].unique(maintain_order=True).to_list() == [
        "runs", "cores", "sources", "problems", *VIEWS,
    ]  # fmt: skip
    units = {(row["table"], row["column"]): row["unit"] for row in rows.iter_rows(named=True)}
    assert units["interrupts", "t_ns"] == "ns"
    assert units["interrupts", "itr_us"] == "us"
    assert units["overview", "max_power_w"] == "W"
    assert units["samples", "energy_uj"] == "uJ"
    assert units["overview", "min_instructions_per_s"] == "1/s"
    found = rows.filter(pl.col("column") == "energy_j").row(0, named=True)
    assert (found["type"], found["unit"]) == ("DOUBLE", "J")
    assert found["description"]


@needs_landlock
def test_each_of_the_examples_gives_the_numbers_of_a_page(logged_lake: Path) -> None:
    from app.kit.context import lake_view

    server = flask_of(logged_lake, sql="on")
    client = server.test_client()
    with server.app_context():
        found = examples(lake_view(None))
        named = {name: example_of(lake_view(None), name) for name in ("runs", "cores", *VIEWS)}
    assert len(found) == 14
    assert all(named.values()), named
    for one in found:
        answer = client.post("/sql/parquet", json={"sql": one.sql})
        assert answer.status_code == 200, (one.title, answer.text)
        asked = pl.read_parquet(io.BytesIO(answer.data))
        file = client.get(f"/{one.page}/data/{one.view}.parquet?{one.state}")
        assert file.status_code == 200, (one.title, file.text)
        shown = pl.read_parquet(io.BytesIO(file.data)).select(asked.columns)
        if "limit=500" in one.state:
            shown = shown.filter(pl.col("latency_p99_us") <= 500)
        if one.view == "totals":
            shown = shown.filter(pl.col("name").is_in(asked["name"].to_list()))
        assert len(asked) > 2, one.title
        pl.testing.assert_frame_equal(
            asked, shown, check_row_order=False, check_dtypes=False, check_exact=False,
            rel_tol=1e-12, abs_tol=1e-9,
        )  # fmt: skip
    sandbox = server.extensions[SANDBOX]
    assert isinstance(sandbox, Sandbox)
    sandbox.close()


def test_a_lake_without_what_an_example_asks_about_has_no_such_example(grid: Path) -> None:
    from app.kit.context import lake_view

    server = create_app(Settings(grid)).server
    with server.app_context():
        pages = {one.page for one in examples(lake_view(None))}
    assert pages == {"explore"}


def test_a_study_of_energy_and_time_has_an_example_of_its_own(tmp_path: Path) -> None:
    from app.kit.context import lake_view

    rows = [
        run(workload="sort", loop="closed", load_qps=None, latency_p99_us=None, replicate=r,
            performance_metric="duration_s", dvfs_ghz=ghz, duration_s=4 / ghz, energy_j=9 * ghz + r)
        for ghz in (1.2, 2.4) for r in (0, 1)
    ]  # fmt: skip
    server = create_app(Settings(write_lake(tmp_path / "lake", rows))).server
    with server.app_context():
        (one,) = examples(lake_view(None))
        asked = lake_view(None).lake.polars(one.sql)
    assert one.title == "Energy and time, by setting"
    assert asked["energy_j"].to_list() == [9 * 1.2 + 0.5, 9 * 2.4 + 0.5]
    file = server.test_client().get(f"/explore/data/scatter.parquet?{one.state}")
    shown = pl.read_parquet(io.BytesIO(file.data)).select(asked.columns)
    pl.testing.assert_frame_equal(asked, shown, check_row_order=False, check_dtypes=False)


@pytest.mark.slow
@needs_landlock
def test_every_query_of_an_explanation_can_be_run(logged_lake: Path) -> None:
    server = flask_of(logged_lake, sql="on")
    client, queries = server.test_client(), dict[str, str]()
    for page in PAGES:
        for view in page.views:
            words = client.get(f"/{page.name}/how/{view.name}").text
            found = [part for part in words.split("\n\n") if re.match("(SELECT|WITH) ", part)]
            assert found, (page.name, view.name)
            queries.update(dict.fromkeys(found, page.name))
    assert set(queries.values()) == {page.name for page in PAGES}
    with open_lake(logged_lake) as lake:
        for query in queries:
            assert lake.sql(query).columns
    of_a_file = next(query for query in queries if "lake_file" in query)
    assert len(client.post("/sql/run", json={"sql": of_a_file}).json["rows"]) > 0  # type: ignore[index]
    sandbox = server.extensions[SANDBOX]
    assert isinstance(sandbox, Sandbox)
    sandbox.close()

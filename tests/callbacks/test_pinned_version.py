"""Links that pin a version of the lake from before a dataset declared its knobs, on every page."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from flask import Flask

import app.explore.page as explore
import app.models.page as models
import app.modes.page as modes
import app.storage.page as storage
import app.timeline.page as timeline
from app.explore.state import ExploreState
from app.explore.views import PICTURES, best_table, picture, status_words
from app.kit.context import lake_view, lakes
from app.kit.ids import NOTICE
from app.kit.page import Page
from app.pages import PAGES
from app.serve.index import open_layout
from data.catalogue import SHIPPED
from data.lake_watch import newest_version
from ingest.pipeline import AddOptions, add
from tests.callbacks.components import by_id, flask_of, texts
from tests.fixtures.declared import declared_columns

SETTINGS = f"""{declared_columns("own")}
[[tables]]
pattern = 'sweep[.]csv'
workload = "memcached"
system = "linux"
"""
SWEEP = """machine,kernel,ring_bytes,replicate,energy_j,latency_p99_us,wakeups
a,5.15,4096,0,100,80,1000
b,6.1,65536,0,120,90,1200
"""
NARROWED = {"explore": "system", "modes": "system", "storage": "device", "models": "system"}
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


@pytest.fixture(scope="module")
def grown(logged_lake: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Flask, int]:
    """The sample and then a dataset that declares two knobs; the version between them."""
    folder = tmp_path_factory.mktemp("grown")
    lake = folder / "lake"
    shutil.copytree(logged_lake, lake)
    before = newest_version(lake)
    (folder / "sweep.csv").write_text(SWEEP)
    (folder / "wattlas.toml").write_text(SETTINGS)
    assert add(AddOptions(lake, (folder / "sweep.csv",), workers=1)).added == 2
    server = flask_of(lake)
    with server.app_context():
        newest = lake_view(None)
        assert {"kernel", "ring_bytes"} <= {column.name for column in newest.lake.columns}
        assert lake_view(before).lake.columns == ()
    return server, before


@pytest.fixture(autouse=True)
def _after_the_newest(grown: tuple[Flask, int]) -> Iterator[None]:
    """Before each test, this thread has answered for the newest version."""
    server, _ = grown
    with server.app_context():
        assert lake_view(None).catalogue != SHIPPED
        yield


def pinned_query(page: Page, before: int) -> str:
    """The link to the page's default view, pinned."""
    return f"{page.default_state(lake_view(before)).to_query()}&lake={before}"


def pinned_state(page: Page, before: int) -> dict[str, Any]:
    """What the browser sends of that link, with a filter on one more value."""
    parts: dict[str, Any] = parse_qs(pinned_query(page, before))
    del parts["v"]
    if page.name in NARROWED:
        choices = lake_view(before).counts_of(page.default_state(lake_view(before)).selection)
        name = NARROWED[page.name]
        parts[name] = [choices.of(name, page.state().selection)[0].value]
    return {
        key: texts if key in page.state.filters(SHIPPED) else texts[-1]
        for key, texts in parts.items()
    }


@pytest.mark.thin(6)
@every_page
@pytest.mark.parametrize("is_bare", [True, False], ids=["bare", "default"])
def test_a_page_opens(grown: tuple[Flask, int], page: Page, is_bare: bool) -> None:
    server, before = grown
    query = f"v=2&lake={before}" if is_bare else pinned_query(page, before)
    main = open_layout(page, parse_qs(query), PAGES)
    said = " ".join(texts(by_id(main, NOTICE)))
    assert said.startswith(f"This link pins version {before} of the lake; the newest is"), said
    assert server.test_client().get(f"{page.path}?{query}").status_code == 200


@pytest.mark.thin(2)
@every_page
def test_files_explanations_and_the_export_are_of_the_pinned_version(
    grown: tuple[Flask, int], page: Page
) -> None:
    server, before = grown
    client, query = server.test_client(), pinned_query(page, before)
    for view in page.views:
        for address in (f"data/{view.name}.csv", f"data/{view.name}.parquet", f"how/{view.name}"):
            answer = client.get(f"/{page.name}/{address}?{query}")
            assert answer.status_code == 200, answer.text
            assert b"ring_bytes" not in answer.data
    export = client.get(f"/{page.name}/export.html?{query}")
    assert (export.status_code, f"version {before}" in export.text) == (200, True)


def _explore(raw: dict[str, Any], version: int) -> Iterator[Any]:
    view, state = lake_view(version), ExploreState.from_json(raw, SHIPPED)
    yield from ((picture(name, view, state),) for name in PICTURES)
    yield from ((one(view, state),) for one in (best_table, status_words))
    yield explore.update_filters(raw, raw, version)


def _modes(raw: dict[str, Any], version: int) -> Iterator[Any]:
    yield modes.update_map(raw, version)
    yield modes.update_evidence("", raw, version)
    yield modes.update_filters(raw, raw, version)


def _timeline(raw: dict[str, Any], version: int) -> Iterator[Any]:
    asked = {"runs": raw["run"][-1:], "hues": [], "base": 0, "other": None, "edits": []}
    yield timeline.update_runs(asked, version)
    yield timeline.update_choices("memcached", [], version)


def _storage(raw: dict[str, Any], version: int) -> Iterator[Any]:
    yield storage.update_views(raw, version)
    yield (storage.update_claims(raw, version),)
    yield storage.update_filters(raw, raw, version)


CALLBACKS: dict[str, Callable[[dict[str, Any], int], Iterator[Any]]] = {
    "explore": _explore,
    "modes": _modes,
    "timeline": _timeline,
    "storage": _storage,
    "models": lambda raw, version: iter([models.update_filters(raw, raw, version)]),
}


@pytest.mark.parametrize("name", CALLBACKS)
def test_its_callbacks_answer_for_the_pinned_version(grown: tuple[Flask, int], name: str) -> None:
    _, before = grown
    (page,) = (page for page in PAGES if page.name == name)
    for answer in CALLBACKS[name](pinned_state(page, before), before):
        assert "ring_bytes" not in str(answer)


def test_windows_and_fits_answer_for_the_pinned_version(grown: tuple[Flask, int]) -> None:
    server, before = grown
    client = server.test_client()
    rows = lake_view(before).lake.polars("SELECT run_id FROM runs WHERE has_log LIMIT 1")
    fits = "/models/fits?v=2&system=ebbrt_tuned"
    for address in (f"/timeline/window?runs={rows.item()}", "/models/runs?v=2", fits):
        answer = client.get(f"{address}&lake={before}")
        assert answer.status_code == 200, answer.text


def test_reading_the_number_of_the_newest_version_changes_no_answer(
    grown: tuple[Flask, int],
) -> None:
    _, before = grown
    view = lake_view(before)
    assert lakes().newest > before
    assert view.catalogue == SHIPPED

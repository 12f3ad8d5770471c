"""What a page gets from its description: addresses, redirects, links that are resolved, stores."""

import io
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import polars as pl
import pytest
from dash import html
from flask import Flask
from flask.testing import FlaskClient

from app.kit.context import EXTENSION, Lakes, lake_view
from app.kit.export import ExportedPage
from app.kit.lake_view import LakeView
from app.kit.page import Page, View
from app.kit.page_layout import state_stores
from app.kit.url_state import UrlState, parameter
from app.serve.guard import add_guard
from app.serve.index import open_layout
from app.serve.routes import add_page_routes, export_html
from data.catalogue import SHIPPED
from data.errors import SelectionError
from data.selection import Selection
from tests.callbacks.components import by_id, texts
from tests.fixtures.lakes import run, write_lake


@dataclass(frozen=True, slots=True)
class NoteState(UrlState):
    """Filters, a word, and a selection that the browser keeps."""

    VERSION: ClassVar[int] = 2
    UPGRADERS: ClassVar = {1: lambda parameters: parameters}

    selection: Selection = field(default_factory=Selection)
    word: str = parameter("word", "")
    sel: str = parameter("sel", "", is_kept=True)


def resolve(view: LakeView, state: NoteState) -> tuple[NoteState, str]:
    """Say what the link's selection stands for."""
    if state.sel == "broken":
        raise SelectionError("nothing is called 'broken'")
    if not state.sel:
        return state, ""
    return replace(state, word=f"{state.sel} of {view.runs}", sel=""), "Resolved."


NOTES = Page(
    name="notes",
    title="Notes",
    path="/notes",
    state=NoteState,
    default_state=lambda view: NoteState(word=f"default of {view.runs}"),
    missing=lambda *_: "",
    layout=lambda view, state, words: html.Main(
        [
            html.Div(words, id="notice"),
            html.Div(state.word, id="word"),
            *state_stores("notes", view, state, ["notes-more"]),
        ]
    ),
    views=(View("words", "Words"), View("runs", "Runs", is_picture=False)),
    rows=lambda _, state, name: pl.DataFrame({"view": [name], "word": [state.word]}),
    explain=lambda view, state, name: f"{name}: {state.word}, version {view.version}",
    export=lambda _, state: ExportedPage("Notes", f"<main>{state.word}</main>", {}, False),
    open_link=resolve,
    add_routes=lambda server: server.add_url_rule("/notes/own", "own", lambda: "its own"),
    old_paths={
        "/how/notes/<view>": "/notes/how/<view>",
        "/old/<view>/in/<kind>": "/notes/data/<view>.<kind>",
    },
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Flask:
    """One page on a lake of two versions: one run, two runs."""
    lake = write_lake(tmp_path_factory.mktemp("notes") / "lake", [run()])
    write_lake(lake, [run(replicate=1)])
    found = Flask("notes")
    add_guard(found, None)
    found.extensions[EXTENSION] = Lakes(lake)
    add_page_routes(found, NOTES)
    return found


def opened(server: Flask, **parts: str) -> html.Main:
    with server.app_context():
        return open_layout(NOTES, parts)


def word(page: html.Main) -> str:
    return str(by_id(page, "word").children)


def notice(page: html.Main) -> str:
    return str(by_id(page, "notice").children)


def test_rows_come_as_csv_and_parquet(client: FlaskClient) -> None:
    answer = client.get("/notes/data/words.csv?v=2&word=hello")
    assert answer.text == "view,word\nwords,hello\n"
    assert answer.headers["Content-Disposition"] == (
        'attachment; filename="wattlas-notes-words.csv"'
    )
    rows = pl.read_parquet(io.BytesIO(client.get("/notes/data/runs.parquet?word=hello").data))
    assert rows.rows() == [("runs", "hello")]


def test_a_view_is_explained_at_the_version_that_a_link_pins(client: FlaskClient) -> None:
    assert client.get("/notes/how/words?word=a").text == "words: a, version 1"
    assert client.get("/notes/how/words?word=a&lake=0").text == "words: a, version 0"


def test_what_a_link_hands_over_is_resolved_in_files_too(client: FlaskClient) -> None:
    assert client.get("/notes/data/words.csv?sel=this").text == "view,word\nwords,this of 2\n"
    assert client.get("/notes/how/words?sel=this&lake=0").text == "words: this of 1, version 0"
    assert "<main>this of 2</main>" in client.get("/notes/export.html?sel=this").text
    answer = client.get("/notes/how/words?sel=broken")
    assert (answer.status_code, answer.text) == (400, "nothing is called 'broken'\n")


def test_an_export_without_a_state_is_the_default_view(server: Flask, client: FlaskClient) -> None:
    page = client.get("/notes/export.html").text
    assert "<main>default of 2</main>" in page
    assert page == export_html(NOTES, server.extensions[EXTENSION], "")
    assert "lake lake, version 0" in client.get("/notes/export.html?lake=0").text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/how/notes/words", "/notes/how/words"),
        ("/old/runs/in/csv", "/notes/data/runs.csv"),
        ("/old/a%20b/in/parquet", "/notes/data/a%20b.parquet"),
    ],
)
def test_old_addresses_keep_view_and_query(client: FlaskClient, old: str, new: str) -> None:
    query = "v=1&word=a%20%26%20b&itr=2&itr=adaptive"
    answer = client.get(f"{old}?{query}")
    assert (answer.status_code, answer.location) == (301, f"{new}?{query}")
    assert client.get(old).location == new


def test_a_page_opens_for_its_link(server: Flask) -> None:
    assert (word(opened(server, v="2", word="hello")), notice(opened(server, v="2"))) == (
        "hello",
        "",
    )
    assert word(opened(server)) == "default of 2"


def test_a_link_that_hands_over_is_resolved_and_said(server: Flask) -> None:
    page = opened(server, sel="this")
    assert (word(page), notice(page)) == ("this of 2", "Resolved.")
    page = opened(server, sel="this", lake="0")
    assert word(page) == "this of 1"
    assert notice(page) == ("This link pins version 0 of the lake; the newest is 1. Resolved.")


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"sel": "broken"}, "nothing is called 'broken'"),
        ({"v": "3"}, "version '3'"),
        ({"lake": "7"}, "version 7"),
    ],
)
def test_a_link_that_cannot_be_followed_is_named(
    server: Flask, parts: dict[str, str], words: str
) -> None:
    page = opened(server, **parts)
    assert notice(page).startswith("This link could not be followed: ")
    assert words in notice(page)
    assert "Notes without the link's settings" in texts(page)


def test_a_page_that_fails_is_said_and_logged(
    server: Flask, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("app.serve.index.show_parts", {}.pop)
    page = opened(server, v="2")
    assert notice(page).startswith("BUG: TypeError inside wattlas")
    assert "Reload this page" in " ".join(texts(page))
    assert "BUG: the page Notes failed" in caplog.text


def test_the_stores_hold_what_the_browser_needs(server: Flask) -> None:
    state = NoteState(word="a", sel="mine", lake_version=0)
    with server.app_context():
        stores = state_stores("notes", lake_view(0), state, ["notes-more"])
    held: dict[str, Any] = {store.id: getattr(store, "data", None) for store in stores}
    assert held == {
        "notes-lake-version": 0,
        "notes-browser": {
            "page": "notes", "kept": {"sel": "mine"}, "carried": {}, "lake": 0, "shown": 0,
            **NoteState.spec(SHIPPED),
        },
        "notes-view-state": None,
        "notes-changed": None,
        "notes-offered": None, "notes-more": None,
    }  # fmt: skip

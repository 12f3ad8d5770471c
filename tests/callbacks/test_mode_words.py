"""One word for a completion mode everywhere: interrupt, classic polling, hybrid polling."""

import json
import re
from collections.abc import Iterator
from typing import Final

import pytest
from flask import Flask
from plotly.io.json import to_json_plotly

from app.kit.context import lake_view
from app.kit.page import Page
from app.pages import PAGES
from app.serve.index import open_layout
from data.catalogue import SHIPPED
from data.selection import Selection
from tests.callbacks.components import flask_of, texts, walk
from tests.fixtures.storage_rows import study_lake

# The value in the lake and in URLs, alone in a text.
_VALUE: Final = re.compile(r"\b(?:poll|hybrid)\b(?! polling|<br>polling| delay)")
_SHOWN: Final = (
    "text",
    "name",
    "title",
    "hovertext",
    "label",
    "labels",
    "words",
    "ticktext",
    "cells",
)
with_modes = pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name in ("explore", "modes", "storage")],
    ids=lambda page: page.name,
)  # fmt: skip


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Flask:
    """A storage study of three modes."""
    return flask_of(study_lake(tmp_path_factory.mktemp("modes") / "lake"))


def shown(part: object, key: str = "") -> Iterator[str]:
    """The texts of a figure or a table that a person reads."""
    if isinstance(part, dict):
        for name, value in part.items():
            yield from shown(value, name if name in _SHOWN or not isinstance(value, str) else "")
    elif isinstance(part, list):
        for one in part:
            yield from shown(one, key)
    elif isinstance(part, str) and key in _SHOWN:
        yield part


def wrong(words: Iterator[str] | list[str]) -> list[str]:
    """The texts with a mode's value; names of runs may hold one."""
    return [text for text in words if _VALUE.search(re.sub(r"fio-\S+", " ", text))]


@with_modes
def test_controls_and_their_names(study: Flask, page: Page) -> None:
    with study.app_context():
        main = open_layout(page, {"v": "2", "dataset": "lab"}, PAGES)
        chips = [part for part in walk(main) if type(part).__name__ == "Chip"]
    assert wrong(texts(main)) == []
    said = {part.children: part for part in chips}
    assert {"interrupt", "classic polling", "hybrid polling"} <= set(said)
    assert said["classic polling"].value == "poll"
    assert "classic polling: " in getattr(said["classic polling"], "aria-label")


@with_modes
def test_figures_tables_and_captions(study: Flask, page: Page) -> None:
    with study.app_context():
        view = lake_view(None)
        exported = page.export(view, page.default_state(view))
    # Explanations hold queries, whose values are those of the lake.
    main = re.sub(r"<pre.*?</pre>|<[^>]*>", " ", exported.main, flags=re.S)
    assert wrong([main]) == []
    assert wrong(shown(json.loads(to_json_plotly(exported.data)))) == []


def test_filters_in_words() -> None:
    assert Selection.of(mode=["poll", "interrupt", "none"]).in_words() == (
        "mode classic polling or interrupt or none"
    )
    mode = SHIPPED.knobs["mode"]
    assert [mode.label(v) for v in ("interrupt", "poll", "hybrid", "own", None)] == [
        "interrupt", "classic polling", "hybrid polling", "own", "none",
    ]  # fmt: skip

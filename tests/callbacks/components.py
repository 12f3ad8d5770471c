"""The app on a lake, and ways to look into a tree of Dash components."""

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dash.development.base_component import Component
from flask import Flask

from app.kit.settings import Settings
from app.server import create_app


def walk(part: Any) -> Iterator[Component]:
    """Every component of a tree, the root first."""
    if isinstance(part, (list, tuple)):
        for child in part:
            yield from walk(child)
    elif isinstance(part, Component):
        yield part
        yield from walk(getattr(part, "children", None))


def by_id(part: Any, component_id: str | dict[str, Any]) -> Component:
    """The component of that name."""
    return next(c for c in walk(part) if getattr(c, "id", None) == component_id)


def texts(part: Any) -> list[str]:
    """Every text of a tree, in order."""
    if isinstance(part, (list, tuple)):
        return [text for child in part for text in texts(child)]
    if isinstance(part, Component):
        return texts(getattr(part, "children", None))
    return [] if part is None else [str(part)]


def html_texts(text: str) -> list[str]:
    """Every text of HTML, in order."""
    return [html.unescape(part) for part in re.split(r"<[^>]*>", text) if part]


def flask_of(lake: Path, **settings: Any) -> Flask:
    """The app on a lake, as a Flask server."""
    server = create_app(Settings(lake, **settings)).server
    assert isinstance(server, Flask)
    return server

"""Renders the templates in `templates/`."""

from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

_FOLDER: Final = Path(__file__).parent / "templates"


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def fill(name: str, **values: Any) -> str:
    """Render one template; a missing value is an error."""
    return _environment().get_template(name).render(values)


def script_safe(text: str) -> str:
    """Escape a script so that it cannot end the element that contains it."""
    return text.replace("</", "<\\/")

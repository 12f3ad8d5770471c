"""One JSON document as a tool writes it, and the fields that a reader needs of it."""

import json
import re
from collections.abc import Container, Iterable, Mapping
from typing import Any, Final

from data.errors import FormatError
from ingest.files.text_lines import whole_text

# What C's printf writes for a mean over nothing.
_NOT_JSON: Final = re.compile(r"(:\s*)-?(?:nan|inf)\b", re.IGNORECASE)
_MOST: Final = 2.0**63


def read_object(blocks: Iterable[bytes], name: str) -> dict[str, Any]:
    """Read a document that is one object; `nan` and `inf` become null.

    Args:
        blocks: The file's bytes, in blocks with arbitrary boundaries.
        name: File name for the error.

    Raises:
        FormatError: It is none, or cut.
    """
    text = _NOT_JSON.sub(r"\1null", whole_text(blocks, name))
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"no JSON document: {error} ({name})") from error
    if not isinstance(document, dict):
        raise FormatError(f"a JSON {type(document).__name__}, expected an object ({name})")
    return document


def part_of(document: Mapping[str, Any], *path: str) -> Mapping[str, Any]:
    """Return an object inside a document; empty where it is missing or no object."""
    for key in path:
        part = document.get(key)
        if not isinstance(part, dict):
            return {}
        document = part
    return document


def number_of(values: Mapping[str, Any], key: str) -> float | None:
    """Return a number; None where it is missing, null, or more than 63 bits can hold.

    Raises:
        FormatError: It is no number.
    """
    value = values.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FormatError(f"{key} cannot be {str(value)[:60]!r}")
    return float(value) if -_MOST < value < _MOST else None


def facts_of(values: Mapping[str, Any], without: Container[str]) -> dict[str, str]:
    """Return the texts, numbers and switches of an object as text."""
    return {
        key: str(value)
        for key, value in values.items()
        if isinstance(value, str | int | float) and key not in without
    }


def text_of(values: Mapping[str, Any], key: str) -> str | None:
    """Return a text; None where it is missing, empty or something else."""
    value = values.get(key)
    return value if isinstance(value, str) and value else None

"""Values as the texts of a URL query: what texts are refused, and how values are written."""

from collections.abc import Collection
from typing import Final

from data.errors import SelectionError

LONGEST_SHOWN: Final = 40


def read_text(name: str, text: str) -> str:
    """Return a text unchanged."""
    del name
    return text


def read_number(name: str, text: str) -> float:
    """Read a finite number.

    Raises:
        SelectionError: It is not one; the message names the parameter and the text.
    """
    try:
        value = float(text)
    except ValueError:
        raise SelectionError(f"{name} is {text!r}, expected a number") from None
    if value != value or value in (float("inf"), float("-inf")):
        raise SelectionError(f"{name} is {text!r}, expected a finite number")
    return value


def read_flag(name: str, text: str) -> bool:
    """Read 0 or 1; raises as `read_number`."""
    if text not in ("0", "1"):
        raise SelectionError(f"{name} is {text!r}, expected 0 or 1")
    return text == "1"


def read_lake_version(name: str, text: str) -> int:
    """Read a version of the lake; raises as `read_number`."""
    if not is_version(text):
        raise SelectionError(f"{name} is {text[:LONGEST_SHOWN]!r}, expected a version number")
    return int(text)


def is_version(text: str) -> bool:
    """Return whether a text is a whole number of at most 18 ASCII digits."""
    return text.isascii() and text.isdecimal() and len(text) <= 18


def write_value(value: object) -> str:
    """Convert a value to query text: booleans as 1 and 0, whole numbers without a point."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value) if isinstance(value, float) else str(value)


def check_choice(name: str, value: str | None, known: Collection[str | None]) -> None:
    """Refuse a value that is not one of some.

    Raises:
        SelectionError: The message names the parameter, the value and those known.
    """
    if value not in known:
        words = ", ".join(filter(None, known))
        raise SelectionError(f"{name} is {str(value)[:LONGEST_SHOWN]!r}, expected one of {words}")

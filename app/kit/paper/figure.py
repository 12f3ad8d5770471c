"""Reads parts of a figure: Plotly's dictionaries, which a browser sent, so nothing is trusted.

Lengths on the page are pixels; on paper they are points, in the ratio of the font sizes.
"""

import base64
import binascii
import html
import math
import re
from typing import Any, Final

import numpy as np

from data.errors import WattlasError

MOST_TRACES: Final = 600
MOST_VALUES: Final = 600_000
MOST_TEXTS: Final = 4_000
_LONGEST_TEXT: Final = 500
_MOST_ROWS: Final = 5_000
_KINDS: Final = frozenset({"i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8"})
_TAG: Final = re.compile(r"<[^<>]*>")
_BREAK: Final = re.compile(r"<br\s*/?>")
_RGB: Final = re.compile(r"rgba?\(([^()]*)\)")
_HEX: Final = re.compile(r"#(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})")
_NAMED: Final = {
    "black": "#000000", "white": "#ffffff", "grey": "#808080", "gray": "#808080",
    "red": "#ff0000", "transparent": "#00000000",
}  # fmt: skip
INK: Final = "#1f2328"


class FigureError(WattlasError):
    """A figure that cannot be drawn; the message says which part."""


def part(of: Any, *names: str) -> dict[str, Any]:
    """Return a part of a dictionary; empty where it is absent."""
    for name in names:
        of = of.get(name) if isinstance(of, dict) else None
    return of if isinstance(of, dict) else {}


def array(value: Any) -> np.ndarray:
    """Decode values: a list, or Plotly's `{dtype, bdata, shape}`.

    Returns:
        Numbers of 4 or 8 bytes, NaN where one is missing; texts as objects, with None.

    Raises:
        FigureError: They are neither.
    """
    if isinstance(value, dict):
        values = _typed(value)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        rows = [array(row).ravel() for row in value[:_MOST_ROWS]]
        if len({len(row) for row in rows}) != 1:
            raise FigureError("the rows of a table have different lengths")
        values = np.stack(rows)
    elif isinstance(value, list):
        is_table = bool(value) and isinstance(value[0], list)
        lists = [row for row in value if isinstance(row, list)] if is_table else [value]
        flat = [cell for row in lists for cell in row]
        if any(isinstance(cell, str) for cell in flat):
            values = np.array(flat, object)
        else:
            values = np.array([_number(cell) for cell in flat], np.float64)
        if is_table:
            if len({len(row) for row in lists}) != 1:
                raise FigureError("the rows of a table have different lengths")
            values = values.reshape(len(value), -1)
    else:
        raise FigureError(f"{str(value)[:40]!r} is no list of values")
    if values.size > MOST_VALUES:
        raise FigureError(f"{values.size:,} values in one list, at most {MOST_VALUES:,}")
    return values


def _number(value: Any) -> float:
    if value is None or isinstance(value, bool):
        return math.nan
    if not isinstance(value, (int, float)):
        raise FigureError(f"{str(value)[:40]!r} is no number")
    return float(value) if abs(value) < 1e300 else math.nan


def _typed(value: dict[str, Any]) -> np.ndarray:
    kind, data = value.get("dtype"), value.get("bdata")
    if kind not in _KINDS or not isinstance(data, str):
        raise FigureError(f"a list of values of type {str(kind)[:20]!r}")
    try:
        values = np.frombuffer(base64.b64decode(data, validate=True), f"<{kind}")
    except (binascii.Error, ValueError):
        raise FigureError("a list of values is damaged") from None
    sides = [int(side) for side in re.findall(r"\d{1,7}", str(value.get("shape", "")))]
    if sides:
        if math.prod(sides) != values.size or len(sides) > 2:
            raise FigureError("a table of values is not as long as its sides say")
        values = values.reshape(sides)
    if kind == "f4":
        return np.where(np.isfinite(values), values, np.float32(np.nan))
    whole = values.astype(np.float64)
    return np.where(np.isfinite(whole), whole, np.nan)


def spread(value: Any, count: int, default: Any) -> np.ndarray:
    """Return one value an item, of a list or of one value for all."""
    if isinstance(value, (list, dict)):
        values = array(value).ravel()
        if len(values) >= count:
            return values[:count]
        rest = np.full(count - len(values), default, values.dtype if len(values) else None)
        return np.concatenate([values, rest])
    return np.full(count, default if value is None else value)


def number(value: Any, default: float, low: float = -1e300, high: float = 1e300) -> float:
    """Return a number within bounds; the default for what is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
        return default
    return float(min(max(value, low), high))


def plain(text: Any) -> str:
    """Return a text without tags; a line break where it has one."""
    words = _TAG.sub("", _BREAK.sub("\n", str(text)[: 4 * _LONGEST_TEXT]))
    printable = "".join(c for c in html.unescape(words) if c == "\n" or c.isprintable())
    return printable[:_LONGEST_TEXT]


def is_bold(text: Any, font: dict[str, Any]) -> bool:
    """Return whether a whole text is bold: by its font, or by a tag around it."""
    weight = font.get("weight")
    heavy = weight == "bold" or number(weight, 400) >= 600
    return heavy or bool(re.fullmatch(r"<b>[^<]*</b>", str(text)))


def colour(value: Any, opacity: float = 1.0, default: str = INK) -> str:
    """Convert a colour of CSS to `#rrggbb` or, where one can see through it, `#rrggbbaa`."""
    text = value.strip() if isinstance(value, str) else ""
    text = _NAMED.get(text, text)
    if _HEX.fullmatch(text):
        digits = text[1:] if len(text) > 5 else "".join(2 * c for c in text[1:])
        channels = [int(digits[at : at + 2], 16) for at in range(0, len(digits), 2)]
        alpha = channels[3] / 255 if len(channels) == 4 else 1.0
    elif match := _RGB.fullmatch(text):
        numbers = re.findall(r"[\d.]+", match[1])
        try:
            channels = [min(255, round(float(channel))) for channel in numbers[:3]]
            alpha = float(numbers[3]) if len(numbers) > 3 else 1.0
        except ValueError:
            return colour(default, opacity, INK)
        if len(channels) != 3:
            return colour(default, opacity, INK)
    else:
        return colour(default, opacity, INK) if default != INK or text != INK else INK
    share = round(255 * min(1.0, max(0.0, alpha * opacity)))
    rgb = "#" + "".join(f"{channel:02x}" for channel in channels[:3])
    return rgb if share == 255 else f"{rgb}{share:02x}"


def is_clear(hue: str) -> bool:
    """Return whether a colour of `colour` is not seen."""
    return len(hue) == 9 and hue.endswith("00")

"""What a reader chooses for a figure on paper."""

from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from app.kit.paper.figure import FigureError

MM_PT: Final = 72 / 25.4
Format = Literal["pdf", "svg", "png", "script"]
Family = Literal["sans", "serif"]
# Dots an inch of a PNG at 1x.
DPI: Final = 150
# Name of an option to its least and its largest value.
BOUNDS: Final = {
    "width_mm": (40.0, 400.0), "height_mm": (30.0, 400.0), "font_pt": (5.0, 16.0),
    "line_pt": (0.25, 3.0), "scale": (1.0, 4.0),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Options:
    """The choices.

    Attributes:
        height_mm: None keeps the picture's shape, and gives each label its room.
        line_pt: Width of the lines of curves; axes and grid are thinner.
        scale: Of a PNG: dots an inch over 150.
        has_title: Whether the title is in the picture; captions of papers have it.
    """

    format: Format = "pdf"
    width_mm: float = 85.0
    height_mm: float | None = None
    font_pt: float = 8.0
    line_pt: float = 1.0
    family: Family = "sans"
    scale: float = 1.0
    has_title: bool = False


def read_options(given: Any) -> Options:
    """Read the choices of a request.

    Raises:
        FigureError: One is unknown, or no value that it may have.
    """
    if not isinstance(given, dict):
        raise FigureError("options is no JSON object")
    texts: dict[str, tuple[str, ...]] = {"format": get_args(Format), "family": get_args(Family)}
    for name, value in given.items():
        if name in texts:
            if value not in texts[name]:
                raise FigureError(
                    f"{name} is {str(value)[:40]!r}, expected {', '.join(texts[name])}"
                )
        elif name in BOUNDS:
            low, high = BOUNDS[name]
            is_open = name == "height_mm" and value is None
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not is_open and not (is_number and low <= value <= high):
                raise FigureError(f"{name} is {str(value)[:40]!r}, expected {low:g} to {high:g}")
        elif name != "has_title" or not isinstance(value, bool):
            raise FigureError(f"unknown option {str(name)[:40]!r}, or not yes or no")
    return Options(**given)

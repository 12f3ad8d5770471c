"""Text on the screen has at least 12 px, in style sheets and in figures."""

import re
from pathlib import Path
from typing import Final

import pytest

LEAST_PX: Final = 12
_STYLE: Final = re.compile(r"font(?:-size)?:[^;}\n]*?\b([\d.]+)px")
# `"tickfont": {"size": 10}`, `font={"size": 9}`, `tickfont: { size: 10 }`, `font-size:11px`.
_FIGURE: Final = re.compile(
    r"font\"?\s*[:=]\s*\{[^{}]*?\"?size\"?:\s*([\d.]+)|\[\"\w*font\"\]\s*=\s*\{\"size\":\s*([\d.]+)"
    r"|font-size:\s*([\d.]+)px"
)
# Sheets and figures of paper, whose sizes are points of a printed page.
_PAPER: Final = ("print.css", "page_paper.js", "/paper/")


def small(text: str, pattern: re.Pattern[str]) -> list[str]:
    # A selector may name the size of a library's text, which its rule changes.
    found = pattern.finditer(re.sub(r"\[style[^\]]*\]", "", text))
    return [m[0] for m in found if float(next(size for size in m.groups() if size)) < LEAST_PX]


@pytest.mark.parametrize(
    ("folder", "ending", "pattern"),
    [("assets", "css", _STYLE), ("assets", "js", _FIGURE), ("app", "py", _FIGURE)],
)
def test_no_text_is_smaller_than_12_px(folder: str, ending: str, pattern: re.Pattern[str]) -> None:
    paths = [p for p in Path(folder).rglob(f"*.{ending}") if not any(n in str(p) for n in _PAPER)]
    assert len(paths) > 9
    found = {str(path): small(path.read_text(), pattern) for path in paths}
    assert {path: sizes for path, sizes in found.items() if sizes} == {}


def test_small_sizes_are_found() -> None:
    assert small(".a { font-size: 11.5px; } .b { font: 700 16px/16px a; }", _STYLE) == [
        "font-size: 11.5px"
    ]
    assert small('text[style*="font-size: 9px"] { font-size: 10px; }', _STYLE) == [
        "font-size: 10px"
    ]
    assert small('{"tickfont": {"size": 10}}, font={"size": 9.5, "color": a}', _FIGURE) == [
        'font": {"size": 10', 'font={"size": 9.5',
    ]  # fmt: skip
    assert len(small("tickfont: { size: 10 }, font: { family: F, size: 11 }", _FIGURE)) == 2

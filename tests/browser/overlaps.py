"""Boxes of what a page writes around its pictures, and which of them overlap."""

from typing import Any, Final

import pytest
from playwright.sync_api import Page

_LATER: Final = ((390, 900), (1280, 900), (2560, 1440))
WIDTHS: Final = [
    *((1024, 900), (1920, 1080)),
    *(pytest.param(*size, marks=pytest.mark.slow) for size in _LATER),
]
# By panel, the boxes of each kind: tools, menus and other parts of the head, entries of the legend,
# the title, titles and ticks of the axes. A box counts where it is shown: cut by what scrolls.
_BOXES: Final = """() => {
  const KINDS = {
    head: ".panel-head > *, .rules > *", legend: ".legend-entry, .legend-title", title: ".gtitle",
    "x title": ".xtitle, .x2title", "y title": ".ytitle, .y2title",
    "x ticks": ".xtick text, .x2tick text", "y ticks": ".ytick text, .y2tick text",
    "colour bar": ".cbtitle text, .cbaxis text",
  };
  const shown = (part) => {
    let { left, top, right, bottom } = part.getBoundingClientRect();
    for (let up = part.parentElement; up; up = up.parentElement) {
      if (getComputedStyle(up).overflow === "visible") continue;
      const box = up.getBoundingClientRect();
      left = Math.max(left, box.left);
      top = Math.max(top, box.top);
      right = Math.min(right, box.right);
      bottom = Math.min(bottom, box.bottom);
    }
    return [left, top, right, bottom];
  };
  const isSeen = (part) => part.getClientRects().length
    && part.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true });
  return [...document.querySelectorAll("main section.panel")].filter(isSeen).map((panel) => [
    panel.getAttribute("aria-label"),
    Object.entries(KINDS).flatMap(([kind, selector]) => [...panel.querySelectorAll(selector)]
      .filter(isSeen)
      .map((part) => [kind, part.textContent.slice(0, 30) || part.className, shown(part)])),
  ]);
}"""
# Words of the views that begin where no scrolling leads: above what scrolls, or left of it.
_UNREACHABLE: Final = """() => {
  const views = document.querySelector("main .views");
  const from = [0, 1].map((way) => {
    const { left, top } = views.getBoundingClientRect();
    return way ? top - views.scrollTop : left - views.scrollLeft;
  });
  return [...views.querySelectorAll("p, h1, h2, h3, button, label, li, td")].filter((part) => {
    const isShown = part.textContent.trim() && part.checkVisibility() && !part.closest(".unseen");
    if (!isShown) return false;
    const { left, top, width } = part.getBoundingClientRect();
    return width > 1 && (left < from[0] || top < from[1]);
  }).map((part) => part.textContent.slice(0, 60));
}"""
# Boxes of text have a little air: they may touch by this many pixels.
_TOUCH_PX: Final = 2.0
# Parts of one kind that Plotly lays out itself.
_OWN: Final = ("title", "x ticks", "y ticks", "x title", "y title", "colour bar")


def unreachable(page: Page) -> list[str]:
    """Return the words of the views that no scrolling shows whole."""
    found: list[str] = page.evaluate(_UNREACHABLE)
    return found


def overlaps(page: Page) -> list[str]:
    """Return which parts of a panel overlap: the panel, and both parts."""
    found = []
    for panel, boxes in page.evaluate(_BOXES):
        for place, (kind, words, box) in enumerate(boxes):
            for other_kind, other_words, other in boxes[place + 1 :]:
                if kind == other_kind and kind in _OWN:
                    continue
                if _is_shared(box, other):
                    found.append(f"{panel}: {kind} {words!r} and {other_kind} {other_words!r}")
    return found


def _is_shared(one: list[Any], other: list[Any]) -> bool:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return bool(width > _TOUCH_PX and height > _TOUCH_PX)

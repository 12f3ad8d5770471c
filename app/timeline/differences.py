"""Where a run differs from the reference: its series by window, for the lane and its list."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from app.kit.columns import typed
from app.timeline.panels import PANELS
from data.analysis.window_differences import in_noise, local, stretches, window_means
from data.timeline.quantities import CLOCKS, QUANTITIES
from data.timeline.window import Group, RunAnswer

WINDOWS: Final = 48
# Of 48 windows of ten series of normal noise, one in 33 pictures has a larger difference by chance.
_LEAST_UNITS: Final = 4.0
_MOST_LISTED: Final = 6
_MOST_THROUGHOUT: Final = 3
# Means of one interrupt each, which a bin with more interrupts knows better.
_EACH_INTERRUPT: Final = frozenset({"bytes", "gap"})


def window_differences(
    reference: RunAnswer, other: RunAnswer, edges_x: np.ndarray, panels: Sequence[str]
) -> dict[str, Any]:
    """Compare a run with the reference in the windows between `edges_x`, shape (windows + 1,).

    Returns:
        `largest`: the difference of the series that differs most, by window, in units of its noise
        between windows (NaN: nothing measured); `series`: index of that series in `titles`;
        `throughout`: the series that differ in most windows, by their medians; `list`: the
        stretches of windows that differ most, largest first, less that median (`beside`).
    """
    titles, rows = [], []
    theirs = {
        (panel, name, group.name): (group, other) for panel, name, group in _lines(other, panels)
    }
    for panel, name, group in _lines(reference, panels):
        pair = [(group, reference), theirs.get((panel, name, group.name))]
        if pair[1] is None:
            continue
        means = [_means(*side, panel, name, edges_x) for side in pair if side is not None]
        units = in_noise(*means)
        if units is not None:
            titles.append(_title(panel, name, group, reference))
            rows.append(units)
    if not rows:
        return {"titles": [], "largest": None, "series": None}
    all_units = np.array(rows)
    sizes = np.where(np.isfinite(all_units), np.abs(all_units), -1)
    most = np.argmax(sizes, axis=0)
    throughout: list[dict[str, Any]] = []
    differences = []
    for title, units in zip(titles, rows, strict=True):
        median, rest = local(units, _LEAST_UNITS)
        if median is not None:
            throughout.append({"title": title, "units": median})
        differences += [
            (title, median is not None, stretch) for stretch in stretches(rest, _LEAST_UNITS)
        ]
    throughout.sort(key=lambda series: -abs(series["units"]))
    differences.sort(key=lambda difference: -abs(difference[2].peak))
    return {
        "titles": titles,
        "largest": typed(all_units[most, np.arange(len(most))].astype(np.float32)),
        "series": typed(most.astype(np.uint16)),
        "throughout": throughout[:_MOST_THROUGHOUT],
        "list": [
            {
                "title": title,
                "from_x": edges_x[stretch.first],
                "to_x": edges_x[stretch.end],
                "units": stretch.peak,
                "beside": is_beside,
            }
            for title, is_beside, stretch in differences[:_MOST_LISTED]
        ],
    }


def _lines(answer: RunAnswer, panels: Sequence[str]) -> Iterator[tuple[str, str, Group]]:
    for panel in panels:
        for name in QUANTITIES[panel].series:
            for group in (*answer.groups, *answer.power):
                if name in group.lines:
                    yield panel, name, group


def _means(
    group: Group, answer: RunAnswer, panel: str, name: str, windows_x: np.ndarray
) -> np.ndarray:
    weights = group.lines["count"]["mean"] if panel in _EACH_INTERRUPT else None
    edges_x = answer.axis.at(answer.edges[CLOCKS[name]])
    return window_means(group.lines[name]["mean"], weights, edges_x, windows_x)


def _title(panel: str, name: str, group: Group, answer: RunAnswer) -> str:
    parts = [PANELS[panel].title]
    if len(PANELS[panel].series) > 1:
        parts.append(PANELS[panel].series[name])
    if len(answer.power if name == "power" else answer.groups) > 1:
        parts.append(group.name)
    return ", ".join(parts)

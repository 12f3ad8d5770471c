"""Figures 3 and 5 of the network study: panels and marks of the published tables."""

from pathlib import Path
from typing import Final

import pytest

from app.explore.presets import figure_presets
from app.explore.views import picture
from app.kit.context import Lakes

pytestmark = pytest.mark.real

# Of the default its mean; of each tuned system least time (or p99) and least energy: seconds or us,
# and joules; then the least product of both, as the study's tables have it. Means of
# configurations; memcached within 500 us.
MARKS: Final = {
    "node.js": (
        (8.418, 270.7), ((7.679, 251.6), (7.699, 247.6), 1906),
        ((5.633, 177.5), (7.699, 167.8), 999.2),
    ),
    "NetPIPE, 64 B messages": (
        (0.2101, 4.448), ((0.1373, 4.19), (0.1573, 3.207), 0.4789),
        ((0.1127, 2.503), (0.1157, 2.49), 0.282),
    ),
    "NetPIPE, 8 KiB messages": (
        (0.3655, 8.05), ((0.2727, 7.973), (0.3487, 6.667), 2.06),
        ((0.217, 4.703), (0.2347, 4.37), 1.021),
    ),
    "NetPIPE, 64 KiB messages": (
        (1.493, 30.91), ((0.849, 26.69), (1.082, 20.48), 19.8),
        ((0.7187, 13.09), (0.7187, 13.09), 9.41),
    ),
    "NetPIPE, 512 KiB messages": (
        (5.454, 119.9), ((5.021, 106.5), (5.066, 97.17), 492.3),
        ((4.739, 89.0), (4.768, 85.96), 409.8),
    ),
    "200k QPS": (
        (103.9, 1334), ((61.7, 2175), (456.8, 1056), 120_600),
        ((65.9, 1747), (445.6, 938.2), 70_590),
    ),
    "400k QPS": (
        (114.5, 1926), ((74.0, 2533), (458.8, 1170), 183_000),
        ((64.9, 1111), (361.4, 981.7), 72_120),
    ),
    "600k QPS": (
        (138.9, 2595), ((102.6, 2731), (486.0, 1472), 280_200),
        ((60.2, 1279), (375.4, 1027), 72_530),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("number", "count"), [("3", 5), ("5", 3)])
def test_a_preset_shows_the_panels_and_marks_of_the_study(
    published_lake: Path, number: str, count: int
) -> None:
    view = Lakes(published_lake).at(None)
    (preset,) = (p for p in figure_presets(view) if p.title.startswith(f"{number}: "))
    figure = picture("scatter", view, preset.state)["figure"]  # type: ignore[arg-type]
    notes = [note for note in figure["layout"]["annotations"] if "name" in note]
    titles = [note["text"].removeprefix("<b>").removesuffix("</b>") for note in notes]
    assert len(titles) == count
    for place, title in enumerate(titles):
        axis = f"x{place + 1 if place else ''}"
        marks: dict[str, dict[str, tuple[float, float]]] = {}
        for trace in figure["data"]:
            if trace["meta"]["kind"] == "winner" and trace["xaxis"] == axis:
                places = zip(trace["x"], trace["y"], strict=True)
                marks[trace["name"]] = dict(zip(trace["marker"]["color"], places, strict=True))
        default, *tuned = MARKS[title]
        assert marks["energy"]["#009E73"] == pytest.approx(default, rel=1e-3)
        for hue, found in zip(("#0072B2", "#D55E00"), tuned, strict=True):
            for kind, mark in zip(("performance", "energy"), found, strict=False):
                assert marks[kind][hue] == pytest.approx(mark, rel=1e-3), (title, hue, kind)
            x, y = marks["edp"][hue]
            assert x * y == pytest.approx(found[2], rel=1e-3), (title, hue)

"""Texts, labels and selections that Modes' scripts make from judged cells, in a blank page."""

import re
from dataclasses import replace
from typing import Any, Final

import polars as pl
import pytest
from playwright.sync_api import Page

from app.kit.columns import compact_figure, index_in
from app.kit.competitors import competitors_of
from app.kit.joined import join_panels
from app.kit.panels import Split
from app.modes.figures.winner_map import MapScene, build_winner_map
from app.modes.judged import Judged
from app.modes.payload import encode_cells
from app.modes.state import ModesState
from data.analysis.contenders import Question
from data.analysis.like_with_like import Slice
from data.analysis.rules import Rules
from data.analysis.ties import compare
from data.catalogue import SHIPPED
from data.selection import Value
from tests.browser.conftest import load_scripts
from tests.unit.test_ties import CELLS, STUDENT, groups

pytestmark = pytest.mark.browser

AXES: Final = ([4.0, 8.0], [1.0, 8.0, 16.0])
MODES: Final = competitors_of(SHIPPED.knobs["mode"], ["poll", "interrupt"], (), {})
POLL: Final = "<b>classic polling</b><br>"


def judged(
    lead: str = "percent", text: str = CELLS, rules: Rules = STUDENT
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The map of some cells and the cells, as the server sends them."""
    rows = groups(text).rename({"size": "request_bytes", "depth": "io_depth", "ghz": "dvfs_ghz"})
    found = compare(rows, "request_bytes", "io_depth", "mode", Question("less"), rules)
    others = {name: None for name in SHIPPED.knob_of_column if name not in rows.columns}
    found = replace(
        found, groups=found.groups.with_columns(**others, against=pl.lit(None, pl.Float64))
    )
    leaders = found.contenders["competitor"].gather(found.cells["winner"])
    placed = found.cells.select(
        "outcome",
        column=pl.Series(index_in(found.cells["x"], AXES[0])),
        row=pl.Series(index_in(found.cells["y"], AXES[1])),
        competitor=pl.Series(index_in(leaders, MODES.values)),
        strength=pl.lit(1.0),
    )
    state = ModesState(
        x="request", y="depth", competitor="mode", metric="energy_j", lead=lead,  # type: ignore[arg-type]
        test=rules.test, correction=rules.correction, limited="latency_mean_us",
    )  # fmt: skip
    axes: tuple[list[Value | None], list[Value | None]] = (list(AXES[0]), list(AXES[1]))
    cells = encode_cells(Judged(state, SHIPPED, Slice(), found, MODES, axes, {}), placed)
    scene = MapScene(
        ("4 B", "8 B"), ("1", "8", "16"), "Request size", "IO depth", "", "", MODES,
        ("request_bytes", "io_depth"), *axes,
    )  # fmt: skip
    return build_winner_map(placed, scene), cells


@pytest.fixture(scope="module")
def loaded(blank: Page) -> Page:
    """A blank page with the scripts that need no Dash."""
    names = ("view_cells", "view_map")
    kit = ("columns", "clause", "theme", "plots", "rows", "panels")
    kit_files, own_files = (f"_kit/{name}" for name in kit), (f"modes/{name}" for name in names)
    return load_scripts(blank, *kit_files, *own_files)


def test_the_first_picture_of_the_map_is_as_pale_as_the_page(loaded: Page) -> None:
    figure = compact_figure(judged()[0])
    script = """(figure) => {
      const { data, layout } = wattlas.modesMap.dressed(figure, null, null, "light");
      const pale = data.find(({ meta }) => meta.kind === "pale");
      return [pale.colorscale, layout.xaxis.ticktext, layout.yaxis.ticktext];
    }"""
    scale = [[0, "rgba(255,255,255,0)"], [1, "rgba(255,255,255,1)"]]
    assert loaded.evaluate(script, figure) == [scale, ["4 B", "8 B"], ["1", "8", "16"]]


@pytest.fixture
def scripts(loaded: Page) -> Page:
    """The same with `figure` and `data`."""
    show(loaded)
    return loaded


def show(page: Page, lead: str = "percent", **more: Any) -> None:
    page.evaluate(
        "([figure, cells]) => Object.assign(window, {figure, data: wattlas.decoded(cells)})",
        compact_figure(list(judged(lead, **more))),
    )


def themed(page: Page, sel: str = "") -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate(
        """(sel) => {
          const { labels, texts } = wattlas.modesMap.shown(figure.layout.meta, data, null, "light");
          const { x, y, text } = texts, mask = wattlas.clause.evaluate(sel, data);
          const changes = new Map(wattlas.rows.changes(figure, data, mask));
          const veil = figure.data.findIndex((trace) => trace.meta.kind === "veil");
          return {
            texts: Object.fromEntries(text.map((v, i) => [x[i] + "," + y[i], v])),
            labels: [labels["xaxis.ticktext"], labels["yaxis.ticktext"]],
            dimmed: changes.get(veil).z.flat().filter((v) => v === 1).length,
          };
        }""",
        sel,
    )
    return found


def test_texts_have_the_lead_a_tie_or_the_number_of_replicates(scripts: Page) -> None:
    # 12 against 22: -45.5 %; 7 against 8: -12.5 %; 4x16 has one replicate.
    found = themed(scripts)
    assert found["texts"] == {
        "0,0": f"{POLL}\N{MINUS SIGN}45.5 %", "1,1": f"{POLL}\N{MINUS SIGN}12.5 %",
        "0,1": "tie", "1,0": "tie", "0,2": "classic polling<br>unproven, n = 1",
    }  # fmt: skip
    assert found["labels"] == [["4 B", "8 B"], ["1", "8", "16"]]
    show(scripts, "absolute")
    assert themed(scripts)["texts"]["0,0"] == f"{POLL}10.0 J"


# Noise of about 0.1 %: 12 against 22 J is decided, 12.00 against 12.05 J within 2 %; of 12 against
# 12.4 J with a noise of 5 % nobody can tell.
FOUR: Final = """
size  depth  mode       ghz  values
4     1      poll       2.9  12.01,12.00,11.99
4     1      interrupt  2.9  22.01,22.00,21.99
4     8      poll       2.9  12.01,12.00,11.99
4     8      interrupt  2.9  12.06,12.05,12.04
8     1      poll       2.9  11.40,12.00,12.60
8     1      interrupt  2.9  11.80,12.40,13.00
"""


def test_texts_of_the_four_outcomes(scripts: Page) -> None:
    show(scripts, text=FOUR, rules=Rules())
    texts = themed(scripts)["texts"]
    assert texts["0,0"] == f"{POLL}\N{MINUS SIGN}45.5 %"
    assert texts["0,1"] == "equivalent"
    assert re.fullmatch(r"\+\d+ runs decide|>100 runs decide", texts["1,0"])
    lines = scripts.evaluate("() => wattlas.cells.cellLines(data, 1)")
    assert "undecided" in scripts.evaluate("() => wattlas.cells.cellLines(data, 2)")[1]
    assert lines[1].startswith("equivalent within 2 %: classic polling leads interrupt")


@pytest.mark.parametrize(
    ("columns", "text"),
    [(8, f"{POLL}\N{MINUS SIGN}45.5 %"), (9, "\N{MINUS SIGN}45.5 %"), (13, "45%")],
)
def test_narrow_cells_have_short_texts(scripts: Page, columns: int, text: str) -> None:
    part = {"x": {"low": 0, "high": columns - 1}, "y": {"low": 0, "high": 2}}
    found = scripts.evaluate(
        "(part) => wattlas.modesMap.texts(figure.layout.meta, data, part, 'light').text[0]", part
    )
    assert found == text


def test_many_cells_have_no_texts(scripts: Page) -> None:
    part = {"x": {"low": 0, "high": 20}, "y": {"low": 0, "high": 2}}
    found = scripts.evaluate(
        "(part) => wattlas.modesMap.texts(figure.layout.meta, data, part, 'light').text", part
    )
    assert found == []


DELAYS: Final = (*range(0, 9, 2), 12, 16, 20, 24, 28, 32, 36, 40, 50, 60, 70, 80)


@pytest.mark.parametrize(
    ("labels", "px", "shown"),
    [
        # All labels fit but the longer word for NULL, which stands a line lower.
        ((*map(str, DELAYS), "adaptive"), 600, (*map(str, DELAYS), "adaptive")),
        (tuple(map(str, range(200))), 600, (*map(str, range(0, 200, 10)), "199")),
        (("1", "8", "16"), 290, ("1", "8", "16")),
        (("a" * 90, "b" * 90), 600, ("b" * 90,)),
    ],
)
def test_the_last_label_is_never_left_out(
    scripts: Page, labels: tuple[str, ...], px: float, shown: tuple[str, ...]
) -> None:
    sizes = [len(label) * 6.2 + 6 for label in labels]
    found = scripts.evaluate(
        "([sizes, px]) => wattlas.modesMap.shownLabels(sizes, 0, sizes.length - 1, px)",
        [sizes, px],
    )
    assert [labels[i] for i in found] == list(shown)


def test_many_long_names_have_room_beside_a_low_map(scripts: Page) -> None:
    """100 rows in 200 px have room for 15 lines at most; a name beside the map has 18 letters."""
    labels = scripts.evaluate("""() => {
      const y = Array.from({ length: 100 }, (_, i) => "a program of a suite, number " + i);
      const meta = { ...figure.layout.meta, labels: { x: ["a"], y } };
      const axis = (_length, count) => ({ _length, range: [-0.5, count - 0.5] });
      const gd = { _fullLayout: { xaxis: axis(300, 1), yaxis: axis(200, 100) } };
      return wattlas.modesMap.shown(meta, { count: 0, who: { words: [] } }, gd, "light").labels;
    }""")
    assert 2 <= len(labels["yaxis.tickvals"]) <= 200 / 13
    assert labels["yaxis.tickvals"][-1] == 99
    # Names that begin alike show their ends, which differ.
    assert len({*labels["yaxis.ticktext"]}) == len(labels["yaxis.tickvals"])
    assert labels["yaxis.ticktext"][-1] == "\N{HORIZONTAL ELLIPSIS} suite, number 99"


@pytest.mark.parametrize(
    ("sel", "dimmed", "words"),
    [
        ("", 0, ""),
        ('knobs~{"io_depth":8,"request_bytes":8}', 5, "8 B requests · depth 8"),
        ('knobs~{"io_depth":9,"request_bytes":8}', 6, "a cell that is not on this map"),
        ('knobs~{"io_depth":[1,8],"request_bytes":8}', 4, "2 cells"),
        ('won~"poll"', 4, "2 cells (won by classic polling)"),
        ('won~"interrupt"', 6, "0 cells (won by interrupt)"),
        ("outcome~too few", 5, "1 cell (too few)"),
        ("outcome~alone", 5, "1 cell (alone)"),
    ],
)
def test_a_selection_dims_the_other_cells(scripts: Page, sel: str, dimmed: int, words: str) -> None:
    assert themed(scripts, sel)["dimmed"] == dimmed
    said = scripts.evaluate("(sel) => wattlas.cells.words(data, sel)", sel)
    assert said == (f"selection: {words}" if words else "")


def test_panels_without_room_stand_in_one_column(loaded: Page) -> None:
    """Four panels, two a line: the first line has no ticks along x, the right ones none along y."""
    split = Split(SHIPPED.knobs["load"], (1.0, 2.0, 3.0, 4.0), (), {}, (("memcached",),) * 4)
    joined = join_panels([judged()[0]] * 4, split, "", "", True)
    found = loaded.evaluate(
        "(layout) => wattlas.panels.inColumns(layout, 1, 1000)", compact_figure(joined)["layout"]
    )
    axes = [[found[f"{letter}axis{i}"] for i in ("", 2, 3, 4)] for letter in "xy"]
    assert [axis["domain"] for axis in axes[0]] == [[0, 1]] * 4
    ends = [end for axis in reversed(axes[1]) for end in axis["domain"]]
    assert ends == sorted(ends)
    assert (ends[0], ends[-1]) == (0, 1)
    assert [axis["showticklabels"] for axis in axes[0]] == [False, False, False, True]
    assert [axis["showticklabels"] for axis in axes[1]] == [True] * 4
    # Titles stay above their panels.
    tops = [axis["domain"][1] for axis in axes[1]]
    assert [(note["x"], note["y"]) for note in found["annotations"]] == [(0, top) for top in tops]
    # A logarithmic x axis has ticks by its panel's width: of 1,380 px for one, 10.
    logged = found | {"xaxis": found["xaxis"] | {"type": "log"}}
    room = 1380 + found["margin"]["l"] + found["margin"]["r"]
    ticks = """([layout, room]) => [room, 0.2 * room].map(
        (px) => wattlas.panels.withLogTicks(layout, px).xaxis.nticks)"""
    assert loaded.evaluate(ticks, [logged, room]) == [10, 2]
    # On paper, by its width in ems; each panel keeps its shape.
    on_paper = "([layout, ems]) => wattlas.panels.onPaper({ dataset: {} }, layout, [700, 400], ems)"
    sizes = [
        loaded.evaluate(on_paper, [compact_figure(joined)["layout"], ems])[1] for ems in (20, 30)
    ]
    assert sizes == [[700, 1600], [700, 400]]


def test_other_pages_get_the_selected_cells(scripts: Page) -> None:
    handed = "(sel) => wattlas.cells.handover(data, sel)"
    assert scripts.evaluate(handed, 'won~"poll"') == (
        'knobs~[{"io_depth":1,"request_bytes":4},{"io_depth":8,"request_bytes":8}]'
    )
    assert scripts.evaluate(handed, "") == ""
    assert scripts.evaluate(handed, 'won~"nobody"') == ""

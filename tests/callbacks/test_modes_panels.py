"""Panels of Modes: each is the page of its value, and all are one table of cells."""

import re
from dataclasses import replace

import polars as pl
import pytest

from app.kit.context import Lakes
from app.kit.lake_view import LakeView
from app.modes.answer import answer
from app.modes.defaults import rule_preset
from app.modes.evidence import NOTHING_MEASURED, evidence
from app.modes.opening import open_link
from app.modes.payload import judge
from app.modes.state import ModesState
from app.modes.tables import explain, rows_behind
from data.catalogue import SHIPPED
from data.selection import Selection
from tests.fixtures.lakes import run, write_lake

LOADS = (200_000.0, 400_000.0)
# Joules of systems a and b at the first and the second load: a has less at the first one only.
ENERGY = {("a", LOADS[0]): 90, ("b", LOADS[0]): 120, ("a", LOADS[1]): 200, ("b", LOADS[1]): 150}
CELL = 'knobs~{"dvfs_ghz":1.2,"itr_us":50,"load_qps":400000}'
STATE = ModesState(
    Selection.of(workload=["memcached"], load=list(LOADS)),
    x="itr", y="dvfs", competitor="system", metric="energy_j",
)  # fmt: skip


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> LakeView:
    """Two systems, three runs a setting; 100 us were run at the first load only."""
    rows = [
        run(system=system, load_qps=load, itr_us=itr_us, dvfs_ghz=clock, replicate=r,
            energy_j=joules + clock + r / 10)
        for (system, load), joules in ENERGY.items()
        for itr_us in ((50, 100) if load == LOADS[0] else (50,))
        for clock in (1.2, 2.9) for r in range(3)
    ]  # fmt: skip
    return Lakes(write_lake(tmp_path_factory.mktemp("panels") / "lake", rows)).at(None)


def alone(load: float) -> ModesState:
    return replace(STATE, selection=STATE.selection.with_values("load", [load]))


def test_each_panel_is_the_page_of_its_load(view: LakeView) -> None:
    whole = judge(view, STATE)
    assert whole.split is not None
    assert whole.split.values == LOADS
    each = [judge(view, alone(load)).comparison.cells for load in LOADS]
    cells = whole.comparison.cells
    assert cells["panel"].to_list() == [0] * 4 + [1] * 2
    same = ("x", "y", "outcome", "margin", "p", "p_corrected", "competitors")
    assert cells.select(same).equals(pl.concat(each).select(same))
    # Rows of the contenders are numbered on: the winners have the means of their own page.
    winners = whole.comparison.contenders[cells["winner"]]
    assert winners["competitor"].to_list() == ["a"] * 4 + ["b"] * 2
    assert winners["mean"].to_list() == pytest.approx([91.3, 93.0, 91.3, 93.0, 151.3, 153.0], 1e-3)
    assert answer(view, STATE).status == "36 of 36 runs · 6 cells: 6 won"


@pytest.mark.parametrize("is_own", [False, True])
def test_maps_share_axes_or_have_their_own(view: LakeView, is_own: bool) -> None:
    drawn = answer(view, replace(STATE, own_axes=is_own))
    for figure in (drawn.winners, drawn.pareto):
        panels = figure["layout"]["meta"]["panels"]
        assert [panel["value"] for panel in panels] == list(LOADS)
        assert figure["layout"]["xaxis2"].get("matches") == (None if is_own else "x")
    maps = [panel["map"] for panel in drawn.winners["layout"]["meta"]["panels"]]
    assert [one["xs"] for one in maps] == [[50.0, 100.0], [50.0] if is_own else [50.0, 100.0]]
    assert [one["place"] for one in maps] == [{"load_qps": load} for load in LOADS]
    # One legend, with the cells of both maps.
    legend = [t["name"] for t in drawn.winners["data"] if t["meta"]["kind"] == "legend"]
    assert legend[:2] == ["a: 4 won", "b: 2 won"]
    named = [t["name"] for t in drawn.pareto["data"] if t.get("showlegend")]
    assert named == ["a", "b"]


def test_the_preset_of_the_papers_rule_keeps_the_panels(view: LakeView) -> None:
    preset = rule_preset(STATE).state
    assert isinstance(preset, ModesState)
    opened = ModesState.from_query(preset.to_query(), SHIPPED)
    drawn = answer(view, opened).winners
    assert [panel["value"] for panel in drawn["layout"]["meta"]["panels"]] == list(LOADS)
    maps = [trace for trace in drawn["data"] if trace["type"] == "heatmap"]
    assert {(trace["xaxis"], trace["yaxis"]) for trace in maps} == {("x", "y"), ("x2", "y2")}
    titles = [note["text"] for note in drawn["layout"]["annotations"]]
    assert {"200k QPS", "400k QPS"} <= {re.sub("<.*?>", "", text) for text in titles}


def test_a_selected_cell_is_one_of_its_panel(view: LakeView) -> None:
    found = evidence(view, replace(STATE, sel=CELL))
    assert found is not None
    assert found.title == "ITR 50 us · 1.2 GHz · 400k QPS"
    assert found.filters == STATE.selection.with_values("load", [LOADS[1]])
    assert [(one.label, one.n) for one in found.contenders] == [("b", 3), ("a", 3)]
    runs = rows_behind(view, replace(STATE, sel=CELL), "evidence")
    assert sorted(runs["energy_j"]) == pytest.approx([151.2, 151.3, 151.4, 201.2, 201.3, 201.4])
    # Without the load it is a cell of each panel; a load without a panel has none.
    both = replace(STATE, sel='knobs~{"dvfs_ghz":1.2,"itr_us":50}')
    assert evidence(view, both) is None
    other = evidence(view, replace(STATE, sel=CELL.replace("400000", "600000")))
    assert other is not None
    assert other.verdict == NOTHING_MEASURED


def test_rows_and_explanations_name_the_panel(view: LakeView) -> None:
    for name, count in (("winners", 6), ("pareto", 12), ("evidence", 36), ("runs", 36)):
        rows = rows_behind(view, STATE, name)
        assert len(rows) == count, name
        assert set(rows["load_qps"]) == set(LOADS)
    words = explain(view, replace(STATE, sel=CELL), "winners")
    assert "2 panels, one for each value of load_qps: 200k QPS, 400k QPS." in words
    assert "load 400000 QPS" in words
    assert "200000 QPS" not in words


def test_links_of_other_pages_and_of_one_map_select_cells_of_panels(view: LakeView) -> None:
    link = 'knobs~{"system":"a","itr_us":100,"dvfs_ghz":2.9}'
    state, notice = open_link(view, replace(STATE, sel=link))
    assert (state.sel, notice) == (
        'knobs~{"load_qps":200000,"dvfs_ghz":2.9,"itr_us":100}', "",
    )  # fmt: skip
    # A panel that becomes the page keeps the selected cell.
    state, _ = open_link(view, replace(alone(LOADS[1]), sel=CELL))
    assert state.sel == 'knobs~{"dvfs_ghz":1.2,"itr_us":50}'


def test_panels_are_of_what_the_map_does_not_show(view: LakeView) -> None:
    asked = [("auto", "load"), ("none", "itr"), ("load", "load"), ("system", "itr")]
    splits = [judge(view, replace(STATE, split=name, x=x)).split for name, x in asked]
    assert splits == [None] * 4
    split = judge(view, replace(STATE, x="load", split="itr")).split
    assert split is not None
    assert split.titles == ["ITR 50 us", "ITR 100 us"]

"""The timeline's layout: what it opens with, what it says of links that lead nowhere."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dash import dcc, html
from flask import Flask

from app.kit import ids
from app.kit.ids import IGNORED
from app.kit.settings import Settings
from app.pages import PAGES
from app.serve.index import open_layout
from app.server import create_app
from app.timeline.page import PAGE, update_choices, update_runs
from app.timeline.panels import HEATS, PANELS
from data.timeline.question import MOST_RUNS
from tests.callbacks.components import by_id, flask_of, texts, walk
from tests.fixtures.lakes import run, write_lake


def rows() -> list[dict[str, Any]]:
    """A default and eight tuned runs with logs, two replicates of each delay; one without a log."""
    logged = [
        run(run_id=f"t{itr}-{r}", itr_us=float(itr), replicate=r, has_log=True, interrupts=9)
        for itr in (2, 50, 100, 200) for r in (0, 1)
    ]  # fmt: skip
    default = run(run_id="base", system="linux_default", itr_us=None, dvfs_ghz=None, has_log=True)
    return [*logged, default, run(run_id="bare", itr_us=400.0)]


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Flask:
    lake = write_lake(tmp_path_factory.mktemp("logged") / "lake", rows())
    return flask_of(lake)


@pytest.fixture(autouse=True)
def there(logged: Flask) -> Iterator[None]:
    """Inside the app on that lake."""
    with logged.app_context():
        yield


def layout(**parts: str | list[str]) -> html.Main:
    """Open the page for a link."""
    return open_layout(PAGE, parts)


def begun(page: html.Main) -> dict[str, Any]:
    """What the browser begins with, and what its controls show."""
    found: dict[str, Any] = by_id(page, "timeline-browser").data
    assert json.loads(json.dumps(found)) == found
    controls = {
        "panels": by_id(page, "timeline-panel").value,
        "heat": by_id(page, "timeline-heat").value,
        "layout": by_id(page, "timeline-layout").value,
    }
    kept = {name: found["kept"][name] for name in ("from", "to")}
    runs = {name: found[name] for name in ("runs", "hues", "base", "other")}
    state = {**runs, **controls, **kept, "cores": found["cores"], "lake": found["lake"]}
    return {"state": state, "runs": found["infos"], "advice": found["advice"]}


def notice(page: html.Main) -> str:
    return " ".join(texts(by_id(page, ids.NOTICE)))


def picked(itr: float, **knobs: Any) -> str:
    return json.dumps({"system": "linux_tuned", "itr_us": itr, "dvfs_ghz": 2.9, **knobs})


def test_a_visitor_without_a_link_sees_a_default_and_the_best_of_the_others() -> None:
    page = layout()
    start = begun(page)
    assert start["state"]["runs"] == ["base", "t100-0"]
    assert (start["state"]["base"], start["state"]["hues"]) == (0, [0, 1])
    assert [r["run_id"] for r in start["runs"]] == ["base", "t100-0"]
    assert notice(page) == ""


def test_a_link_is_followed() -> None:
    state = begun(
        layout(v="1", run=["t2-0", "t50-1"], panel=["gap", "power"], cores="0,2", heat="ipc",
               layout="stacked", hue=["3", "1"], other="0",
               **{"from": "0.5", "to": "2", "base": "1"})
    )["state"]  # fmt: skip
    assert state == {
        "runs": ["t2-0", "t50-1"], "hues": [3, 1], "panels": ["gap", "power"], "cores": "0,2",
        "from": 0.5, "to": 2.0, "heat": "ipc", "layout": "stacked", "base": 1,
        "other": 0, "lake": None,
    }  # fmt: skip


def test_a_link_written_by_hand_needs_no_version() -> None:
    assert begun(layout(run=["t2-0", "t50-1"]))["state"]["runs"] == ["t2-0", "t50-1"]
    state = begun(layout(panel="gap", to="2"))["state"]
    assert (state["runs"], state["panels"], state["to"]) == (["base", "t100-0"], ["gap"], 2.0)
    assert begun(layout(v="1", panel="gap"))["state"]["runs"] == []
    assert by_id(layout(runs="t2-0"), IGNORED).children == "ignored in the link: runs"


def test_its_controls_show_the_state() -> None:
    page = layout(v="1", run="t2-0", panel=["gap"], cores="0,2", heat="none", layout="stacked")
    assert by_id(page, "timeline-panel").value == ["gap"]
    assert by_id(layout(v="1", run="t2-0", panel="none"), "timeline-panel").value == []
    assert by_id(page, "timeline-kind").value == "chosen"
    assert by_id(page, "timeline-list").value == "0,2"
    assert by_id(page, "timeline-layout").value == "stacked"
    heat = by_id(page, "timeline-heat")
    assert heat.value == "none"
    assert [d["value"] for d in heat.data] == ["none", *HEATS]
    assert {p.title for p in PANELS.values()} <= set(texts(page))


def test_a_configuration_of_explore_comes_with_its_reference() -> None:
    page = layout(open=picked(50), of="1")
    assert begun(page)["state"]["runs"] == ["base", "t50-0"]
    assert notice(page) == ""
    assert begun(layout(open=picked(50, replicate=1)))["state"]["runs"] == ["base", "t50-1"]


def test_what_is_left_out_is_said() -> None:
    page = layout(open=[picked(2), picked(400)], of="27")
    assert begun(page)["state"]["runs"] == ["base", "t2-0"]
    assert notice(page).startswith("1 of the 27 configurations picked is shown")
    page = layout(open=picked(400), of="1")
    assert begun(page)["state"]["runs"] == []
    assert notice(page).startswith("None of the configurations picked has a per-interrupt log")
    assert begun(page)["advice"].startswith("No run is shown")


def test_no_more_than_six_are_opened() -> None:
    many = [picked(i, replicate=r) for i in (2, 50, 100, 200) for r in (0, 1)]
    page = layout(open=many, of="8")
    state = begun(page)["state"]
    assert (len(state["runs"]), state["runs"][0], state["base"]) == (MOST_RUNS, "base", 0)
    assert "5 of the 8" in notice(page)
    six = begun(layout(open=many[:6], of="6"))["state"]
    assert "base" not in six["runs"]
    assert "no room for the default system's" in notice(layout(open=many[:6], of="6"))


def test_where_nothing_can_be_compared_with_it_is_said(tmp_path: Path) -> None:
    tuned = run(run_id="t", has_log=True, interrupts=9)
    base = run(run_id="b", system="linux_default", itr_us=None, dvfs_ghz=None)
    lake = write_lake(tmp_path / "lake", [tuned, base])
    with create_app(Settings(lake=lake)).server.app_context():
        page = layout(open=picked(tuned["itr_us"]), of="1")
        assert begun(page)["state"]["runs"] == ["t"]
        assert notice(page).startswith("The default system has no run with a per-interrupt log")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"open": "not json"}, "a configuration is 'not json'"),
        ({"open": '{"energy_j": 1}'}, "no knob has the column 'energy_j'"),
        ({"open": '{"system": {"a": 1}}'}, "a value of system is not text, number or null"),
    ],
)
def test_a_bad_link_is_named_with_a_link_to_a_first_look(query: dict[str, str], words: str) -> None:
    page = layout(**query)
    assert notice(page).startswith("This link could not be followed: ")
    assert words in notice(page)
    assert "Timeline without the link's settings" in texts(page)


def test_a_run_that_is_not_there_is_named_and_the_others_kept() -> None:
    start = begun(layout(v="1", run=["t2-0", "gone"]))
    assert [(r["run_id"], r["known"]) for r in start["runs"]] == [("t2-0", True), ("gone", False)]
    assert "holds no run 'gone'" in start["runs"][1]["problem"]


def test_lakes_without_logs_and_without_runs_say_what_to_do(
    tmp_path: Path, empty_server: Flask
) -> None:
    with empty_server.app_context():
        assert any(text.startswith("The lake holds no runs yet.") for text in texts(layout()))
    lake = write_lake(tmp_path / "lake", [run()])
    with create_app(Settings(lake=lake)).server.app_context():
        page = open_layout(PAGE, {}, PAGES)
        assert any("no run of this lake has a per-interrupt log" in text for text in texts(page))
        links = [part for part in walk(page) if isinstance(part, dcc.Link)]
        assert [(link.href, link.children) for link in links] == [("/", "Explore shows these runs")]


def test_another_page_hands_filters_and_a_selection_over() -> None:
    """All 8 tuned runs are 4 configurations; the means of 2 and of 50 us are in the box."""
    sel = 'knobs~{"itr_us":50,"dvfs_ghz":2.9}'
    page = layout(v="2", workload="memcached", load="200000", sel=sel)
    assert begun(page)["state"]["runs"] == ["base", "t50-0"]
    assert (notice(page), begun(page)["state"]["base"]) == ("", 0)
    page = layout(v="2", sel='knobs~{"itr_us":[2,400]}')
    assert begun(page)["state"]["runs"] == ["base", "t2-0"]
    assert notice(page).startswith("1 of the 2 configurations picked is shown")
    page = layout(v="2", system="linux_tuned")
    assert begun(page)["state"]["runs"] == ["base", "t2-0", "t50-0", "t100-0", "t200-0"]
    page = layout(v="2", sel="box~itr_us~dvfs_ghz~40~110~2~3")
    assert begun(page)["state"]["runs"] == ["base", "t50-0", "t100-0"]
    assert begun(layout(v="2", sel='knobs~{"itr_us":7}'))["state"]["runs"] == []


def edit(*edits: tuple[str, ...], **state: Any) -> dict[str, Any]:
    """The list of runs after some edits."""
    before = {"runs": [], "hues": [], "base": 0, "other": None, **state, "edits": edits}
    items, words, is_full, shown = update_runs(before, 0)
    assert len(items) == len(shown["runs"]) == len(shown["infos"])
    assert is_full == (words == f"{MOST_RUNS} runs at most")
    assert shown["edits"] == len(edits)
    return {name: shown[name] for name in ("runs", "hues", "base", "other")}


def test_the_first_run_that_is_added_brings_its_reference() -> None:
    state = {"runs": ["base", "t50-0"], "hues": [0, 1], "base": 0, "other": None}
    assert edit(("add", "t50-0")) == state
    assert edit(("add", "t2-0"), **state)["runs"] == ["base", "t50-0", "t2-0"]
    assert edit(("add", "t50-0"), **state) == state
    many = edit(*[("add", f"t{itr}-{r}") for itr in (2, 50, 100, 200) for r in (0, 1)])
    assert many["runs"] == ["base", "t2-0", "t2-1", "t50-0", "t50-1", "t100-0"]


def test_a_removed_run_leaves_the_others_their_colours() -> None:
    three = {"runs": ["base", "t2-0", "t50-0"], "hues": [0, 1, 2], "base": 0, "other": 2}
    left = {"runs": ["t2-0", "t50-0"], "hues": [1, 2], "base": 0, "other": 1}
    assert edit(("remove", "base"), **three) == left
    assert edit(("remove", "base"), ("add", "t200-1"), **three)["hues"] == [1, 2, 0]
    assert edit(("remove", "t50-0"), **three)["other"] is None
    assert edit(("remove", "t2-0"), ("remove", "base"), **three)["runs"] == ["t50-0"]
    assert edit(("replace", "t2-0", "t2-1"), **three)["runs"] == ["base", "t50-0", "t2-1"]


def test_the_reference_and_the_one_compared_change_places() -> None:
    three = {"runs": ["base", "t2-0", "t50-0"], "hues": [0, 1, 2], "base": 0, "other": 2}
    assert edit(("compare", "t50-0"), **three) == {**three, "base": 2, "other": 0}
    assert edit(("compare", "t2-0"), **three) == {**three, "base": 1}


def test_the_picker_lists_what_the_lake_holds() -> None:
    items, words = update_choices("tuned 50", ["base", "t50-1"], 0)
    assert words == "2 runs with a per-interrupt log"
    subject, first, second = items
    assert texts(subject) == ["memcached at 200k QPS · tiny"]
    assert texts(first) == [
        "+ Linux tuned · ITR 50 us · 2.9 GHz",
        "replicate 0 · 20.0 s · 9 interrupts",
    ]
    assert texts(second)[0].startswith("\N{CHECK MARK} Linux tuned")
    assert (first.disabled, second.title) == (False, "t50-1")

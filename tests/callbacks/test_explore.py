"""Explore's callbacks, called as plain functions on a small lake."""

from typing import Any

import numpy as np
import pytest
from dash import html, no_update
from dash.exceptions import PreventUpdate
from flask import Flask

from app.explore import page as explore
from app.explore.page import (
    PAGE,
    turn_workload,
    update_filters,
)
from app.kit.ids import NOTICE
from app.modes.page import PAGE as MODES
from app.serve.index import open_layout
from data.catalogue import SHIPPED
from data.errors import LakeError
from data.units import MINUS
from tests.callbacks.components import by_id, texts, walk
from tests.fixtures.pictures import decode, drawn, pairs, traces

NEWEST = 1
IDS = PAGE.ids
FILTERS = PAGE.state.filters(SHIPPED)
AT_200K = {"workload": "memcached", "load": ["200000"], "rep": "means", "x": "performance",
           "y": "energy_j"}  # fmt: skip

pytestmark = pytest.mark.usefixtures("here")


# Cost, limited metric and the other controls of the table of best settings.
_BEST: tuple[Any, ...] = ("energy_j", "performance", None, 0.05, 2.0, [], "points", "itr", [])


def describe_view(raw: dict[str, Any], version: int) -> tuple:
    """The status line, with the limit on the performance metric."""
    return explore.update_best(raw, "", *_BEST, version)[3:]


def offers(raw: dict[str, Any], version: int) -> dict[str, Any]:
    """What filters and menus offer after a change; a page that opens has it already."""
    assert update_filters(raw, None, version)[0] is no_update
    offered, _ = update_filters(raw, raw, version)
    return offered


def update_scatter(raw: dict[str, Any], version: int, limit: float | str = "") -> tuple:
    """The scatter and its columns, with the limit on the performance metric."""
    controls: tuple[Any, ...] = (limit, "performance", "energy_j", 0.05, [], False)
    (answer,) = explore.UPDATES["scatter"](raw, *controls, version)
    return drawn(answer["figure"]), answer["columns"]


def update_best(raw: dict[str, Any], limit: float | str, version: int) -> tuple:
    """The best settings by energy, with the limit on the performance metric: table, words."""
    table, _, said, *_ = explore.update_best(raw, limit, *_BEST, version)
    return table, " ".join(text for part in said for text in texts(part))


def update_heatmap(raw: dict[str, Any], system: str, column: str, version: int) -> tuple:
    """The heatmap over ITR and DVFS."""
    answer, shown = explore.UPDATES["heatmap"](raw, system, column, "itr", "dvfs", [], version)
    return drawn(answer["figure"]), shown


def layout(**parts: str | list[str]) -> html.Main:
    return open_layout(PAGE, parts)


def title(figure: dict[str, Any]) -> str:
    return str(figure["layout"]["title"]["text"])


def message(figure: dict[str, Any]) -> str:
    assert figure["layout"]["meta"]["kind"] == "message"
    return str(figure["layout"]["annotations"][0]["text"]).replace("<br>", " ")


def test_the_scatter_and_its_columns() -> None:
    figure, points = update_scatter(AT_200K, NEWEST)
    assert title(figure).startswith("Energy against p99 latency, memcached at 200k QPS")
    assert "26 of 28 runs" in title(figure)
    # 6 settings of two systems, and the default.
    assert sum(len(t["x"]) for t in traces(figure, "points")) == 13
    assert points is not None
    assert points["count"] == 13
    # Each mean is over two replicates, half a microsecond above the first.
    assert min(decode(points["fields"]["latency_p99_us"])) == 62.5
    assert set(decode(points["runs"])) == {2}


def test_what_is_filtered_is_gone_from_the_picture() -> None:
    figure, points = update_scatter({**AT_200K, "system": ["ebbrt_tuned"], "dvfs": ["2.9"]}, NEWEST)
    (trace,) = traces(figure, "points")
    assert pairs(trace) == [(62.5, 1740), (110.5, 1740), (160.5, 1740)]
    assert points is not None
    assert points["knobs"]["system"]["values"] == ["ebbrt_tuned"]


def test_each_run_is_a_point() -> None:
    figure, _ = update_scatter({**AT_200K, "rep": "runs"}, NEWEST)
    assert sum(len(t["x"]) for t in traces(figure, "points")) == 26


def test_the_metric_follows_the_workload() -> None:
    figure, _ = update_scatter({**AT_200K, "workload": "netpipe", "load": []}, NEWEST)
    assert title(figure).startswith("Energy against time, NetPIPE at 8 KiB")
    assert pairs(traces(figure, "points")[0]) == [(0.25, 7)]


def test_filters_that_leave_nothing_say_which_to_clear() -> None:
    figure, points = update_scatter({**AT_200K, "itr": ["50"], "dvfs": ["governor"]}, NEWEST)
    assert points is None
    assert message(figure).startswith("No run has all of these filters.")
    assert "Interrupt delay (ITR) (2 runs)" in message(figure)
    assert f"{SHIPPED.metric('dvfs_ghz').title} (8 runs)" in message(figure)


def test_axes_that_were_not_measured_say_so() -> None:
    figure, points = update_scatter({**AT_200K, "y": "iops"}, NEWEST)
    assert points is None
    assert message(figure) == (
        "None of the 26 runs that the filters leave has both p99 latency and "
        f"{SHIPPED.metric('iops').title}."
    )


def test_the_heatmap_of_a_system_and_a_metric() -> None:
    figure, system = update_heatmap(AT_200K, "ebbrt_tuned", "energy_j", NEWEST)
    assert title(figure).startswith("Energy, Library OS, memcached at 200k QPS")
    (cells,) = traces(figure, "cells")
    assert cells["y"] == ["1.3", "2.9"]
    # 600 J x 1.3 and x 2.9, in kJ as the colour bar says.
    assert cells["colorbar"]["title"]["text"] == "Energy, kJ"
    assert cells["z"] == pytest.approx(np.array([[0.78] * 3, [1.74] * 3]))
    assert figure["layout"]["meta"]["system"] == "ebbrt_tuned"
    assert system is no_update


def test_the_heatmap_turns_to_a_system_that_is_left() -> None:
    left = {**AT_200K, "system": ["linux_tuned"]}
    figure, system = update_heatmap(left, "ebbrt_tuned", "ipc", NEWEST)
    assert figure["layout"]["meta"]["system"] == "linux_tuned"
    assert system == "linux_tuned"


def test_the_heatmap_without_values_says_so() -> None:
    figure, system = update_heatmap(AT_200K, "linux_tuned", "c6", NEWEST)
    words = message(figure)
    assert system is no_update
    assert words.startswith("No run of Linux tuned has a value for")


def test_best_settings_without_and_with_a_limit() -> None:
    table, words = update_best(AT_200K, "", NEWEST)
    # Library OS at 1.3 GHz: 780 J of 2,500 J is -68.8 %; all runs of a setting are equal.
    assert f"{MINUS}68.8 %" in " ".join(texts(table))
    shown = "Energy against p99 latency of 26 runs of memcached, from tiny."
    assert words.startswith(f"{shown} At 200k QPS, Library OS saves 68.8 % [")
    assert "3 of 6 settings measured at least twice may be the best" in words
    _, words = update_best(AT_200K, 50, NEWEST)
    assert "the lowest p99 latency is 62.5 us" in words


def test_filters_on_tuned_knobs_leave_the_default_to_compare_with() -> None:
    table, _ = update_best({**AT_200K, "system": ["linux_tuned"], "dvfs": ["1.3"]}, "", NEWEST)
    assert f"{MINUS}48.0 %" in " ".join(texts(table))  # 1,300 J of 2,500 J


def test_the_status_line_and_the_range_of_the_limit() -> None:
    status, domain = describe_view(AT_200K, NEWEST)
    assert status == "26 of 28 runs"
    assert domain == {
        "low": 62.0, "high": 161.0, "unit": "us", "column": "latency_p99_us", "agreed": 500.0,
        "by": "performance",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("system", "wanted"),
    [
        ({}, ("itr", "dvfs", "system", "energy_j")),
        # Where one system is left, its clock competes.
        ({"system": "linux_tuned"}, ("load", "itr", "dvfs", "energy_j")),
    ],
)
def test_a_link_to_modes_opens_with_these_filters_and_axes_to_compare_under_them(
    system: dict[str, str], wanted: tuple[str, ...]
) -> None:
    page = open_layout(MODES, {"v": "2", "workload": "memcached", "load": "200000", **system})
    keys = ("x", "y", "who", "metric")
    assert tuple(by_id(page, MODES.ids.control(key)).value for key in keys) == wanted
    assert by_id(page, MODES.ids.facet("load")).value == ["200000"]
    assert by_id(page, MODES.ids.facet("system")).value == list(system.values())


def test_the_status_line_counts_what_cannot_be_drawn() -> None:
    everything = {"x": "performance", "y": "energy_j"}
    status, _ = describe_view(everything, NEWEST)
    # The commonest metric is p99, which NetPIPE's run does not have.
    assert status.startswith("28 of 28 runs")
    assert "1 of them" in status


def test_filters_offer_what_the_others_leave() -> None:
    raw = {**AT_200K, "itr": ["50"], "system": ["linux_tuned"]}
    answer = offers({**raw, "hsys": "ebbrt_tuned", "hmet": "energy_j"}, NEWEST)
    facets, menus = answer["facets"], answer["menus"]
    assert [value for value, *_ in facets["itr"]["chips"]] == ["2", "50", "100"]
    assert [value for value, *_ in facets["system"]["chips"]] == ["ebbrt_tuned", "linux_tuned"]
    assert [label for _, label, *_ in facets["workload"]["chips"]] == ["memcached", "NetPIPE"]
    assert facets["itr"]["note"] == "1 of 3 · 4 runs"
    assert facets["dvfs"]["note"] == ""
    assert facets["message"]["isIdle"]
    # A chosen value stays, faint, also where no run has it.
    gone = offers({**raw, "message": ["8192"]}, NEWEST)["facets"]["message"]
    assert [chip[3] for chip in gone["chips"] if chip[0] == "8192"] == [True]
    assert not facets["load"]["isIdle"]
    assert menus["cost"] == menus["by"] == menus["x"]
    listed = [[entry["value"] for entry in menus[key]] for key in ("col", "size")]
    assert listed[0][0] == listed[1][0] == "none"
    assert {"system", "itr", "dvfs"} < set(listed[0])
    assert "system" not in listed[1]
    for entries in (menus["x"], menus["y"], menus["hmet"]):
        labels = {entry["value"]: entry["label"] for entry in entries}
        assert labels["performance"] == "p99 latency (performance)"
        assert "energy_j" in labels
        assert "c6" not in labels
    # The heatmap's systems are those that the filters leave.
    assert [entry["value"] for entry in menus["hsys"]] == ["linux_tuned"]


# Values of the controls that another workload may change.
SHOWN = ["?"] * 11


def turned(*asked: Any) -> dict[str, Any]:
    others = [name for name in FILTERS if name not in ("dataset", "workload")]
    return dict(zip(others, turn_workload(*asked, *SHOWN)[0], strict=True))


def test_another_workload_keeps_what_still_fits() -> None:
    state = {**AT_200K, "itr": ["2", "50"], "system": ["linux_tuned"]}
    there = turned("netpipe", [], state, NEWEST)
    assert there["message"] == ["8192"]
    assert there["load"] == []
    # What stays is not set again: each value that is set costs the browser time.
    assert there["system"] is no_update
    assert there["itr"] == []
    assert turned("memcached", [], None, NEWEST)["load"] == ["200000"]


def test_the_same_workload_turns_nothing() -> None:
    with pytest.raises(PreventUpdate):
        turn_workload("memcached", [], AT_200K, NEWEST, *SHOWN)


def test_a_pinned_version_is_shown_as_it_was() -> None:
    everything = {"x": "performance", "y": "energy_j"}
    assert describe_view(everything, 0)[0].startswith("27 of 27 runs")
    assert describe_view(everything, 1)[0].startswith("28 of 28 runs")
    with pytest.raises(LakeError, match="version 99"):
        update_scatter(AT_200K, 99)


def test_the_page_for_a_link() -> None:
    page = layout(
        v="1", workload="memcached", load="200000", itr=["2", "adaptive"], limit="80", xlog="1",
        brush="cells~linux_tuned~2.9:2",
    )  # fmt: skip
    assert by_id(page, NOTICE).children == ""
    assert by_id(page, IDS.facet("workload")).value == "memcached"
    assert by_id(page, IDS.facet("itr")).value == ["2", "adaptive"]
    assert by_id(page, IDS.control("limit")).value == 80.0
    assert by_id(page, IDS.control("xlog")).checked
    kept = by_id(page, IDS.browser).data["kept"]
    # What version 1 called a brush of cells.
    assert kept == {"sel": 'knobs~{"system":"linux_tuned","dvfs_ghz":2.9,"itr_us":2}', "zoom": ""}
    assert by_id(page, IDS.lake_version).data == NEWEST


def test_the_page_without_a_link_chooses() -> None:
    page = layout()
    assert by_id(page, IDS.facet("workload")).value == "memcached"
    assert by_id(page, IDS.facet("load")).value == ["200000"]
    assert by_id(page, IDS.facet("system")).value == []


def test_every_control_has_a_name_for_a_screen_reader() -> None:
    page = layout()
    controls = [c for c in walk(page) if type(c).__name__ in ("Select", "NumberInput", "Chip")]
    assert controls
    assert [c for c in controls if not c.to_plotly_json()["props"].get("aria-label")] == []


def test_an_empty_lake_says_what_to_do(empty_server: Flask) -> None:
    with empty_server.app_context():
        assert any(text.startswith("The lake holds no runs yet.") for text in texts(layout()))
        figure, points = update_scatter({"x": "performance", "y": "energy_j"}, -1)
        assert message(figure).startswith("The lake holds no runs yet.")
        assert "python -m ingest add RAW" in message(figure)
        assert points is None
        assert "holds no runs" in message(update_heatmap({}, "", "energy_j", -1)[0])
        table, words = update_best({}, "", -1)
        assert texts(table) == ["Nothing to compare: no run has both energy and the metric."]
        status, domain = describe_view({}, -1)
        assert status == "0 of 0 runs"
        assert (domain["low"], domain["high"]) == (None, None)
        assert offers({}, -1)["menus"].keys() == explore.MENUS.keys()
        assert all(values == [] for values in turned("memcached", [], None, -1).values())
        assert words == ""

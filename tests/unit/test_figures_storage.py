"""The pictures of Storage by facts, on the study worked in tests/fixtures/storage_rows.py."""

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from app.kit.competitors import MODE_HUES
from app.kit.context import Lakes
from app.kit.lake_view import LakeView
from app.storage.answer import StorageAnswer, answer
from app.storage.figures.lines import thin_labels
from app.storage.state import Spread, StorageState
from app.storage.views import VIEWS
from data.selection import Selection
from tests.fixtures.lakes import run, write_lake
from tests.fixtures.pictures import decode
from tests.fixtures.storage_rows import fio, idle, study_lake, study_rows

STATE = StorageState(Selection.of(dataset=["lab"]))


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> LakeView:
    return Lakes(study_lake(tmp_path_factory.mktemp("study") / "lake")).at(None)


@cache
def answered(view: LakeView, state: StorageState) -> StorageAnswer:
    return answer(view, state)


@pytest.fixture(scope="module")
def shown(view: LakeView) -> StorageAnswer:
    return answered(view, STATE)


def traces(figure: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [t for t in figure["data"] if t["meta"]["kind"] == kind]


def line(figure: dict[str, Any], name: str) -> dict[str, Any]:
    return next(t for t in traces(figure, "points") if t["name"] == name)


def message(figure: dict[str, Any]) -> str:
    assert figure["layout"]["meta"]["kind"] == "message"
    return str(figure["layout"]["annotations"][0]["text"]).replace("<br>", " ")


def lake(path: Path, rows: list[dict[str, Any]]) -> LakeView:
    return Lakes(write_lake(path / "lake", rows)).at(None)


def test_every_view_has_a_picture(shown: StorageAnswer) -> None:
    assert list(shown.figures) == [one.name for one in VIEWS]
    assert {f["layout"]["meta"]["kind"] for f in shown.figures.values()} == {"storage"}
    state = shown.study.state
    assert (state.at_device, state.at_rw, state.at_request) == ("optane", "randread", 4096)
    assert shown.status == "76 of 76 storage runs in 38 configurations"


def test_lines_by_depth(shown: StorageAnswer) -> None:
    figure = shown.figures["latency"]
    lines = traces(figure, "points")
    assert [t["name"] for t in lines] == ["interrupt", "classic polling", "hybrid polling"]
    assert [t["line"]["color"] for t in lines] == list(MODE_HUES.values())
    assert len({t["marker"]["symbol"] for t in lines}) == 3
    # 10.0 and 10.2 us, at every depth
    assert lines[0]["y"] == pytest.approx([10.1] * 3)
    assert lines[0]["x"] == [0, 1, 2]
    assert figure["layout"]["xaxis"]["ticktext"] == ["1", "2", "8"]
    assert figure["layout"]["xaxis"]["title"]["text"] == "IO depth"
    assert figure["layout"]["yaxis"]["title"]["text"] == "Mean latency, us (less is better)"
    assert "95 % CI · optane · randread · 4 KiB" in figure["layout"]["title"]["text"]


def test_error_bars_are_students_interval_or_the_deviation(view: LakeView) -> None:
    # two replicates 0.2 us apart: sd = 0.2 / sqrt(2), half = t(0.975, 1) x 0.1
    halves: tuple[tuple[Spread, float], ...] = (
        ("ci", stats.t.ppf(0.975, 1) * 0.1),
        ("sd", 0.2 / 2**0.5),
    )
    for spread, half in halves:
        figure = answered(view, replace(STATE, spread=spread)).figures["latency"]
        assert line(figure, "interrupt")["error_y"]["array"] == pytest.approx([half] * 3)
        assert f"± {'95 % CI' if spread == 'ci' else 'sd'}" in figure["layout"]["title"]["text"]


def test_hovers_say_configuration_value_spread_and_n(shown: StorageAnswer) -> None:
    words = line(shown.figures["latency"], "interrupt")["meta"]["words"][0]
    assert words[0] == "optane · randread · 4 KiB requests · depth 1 · 1 thread · interrupt"
    assert words[2] == "Mean latency: 10.1 us ± 1.27 us (95 % CI), n = 2"
    assert words[-1].startswith("click:")


@pytest.mark.parametrize(
    ("name", "mode", "expected"),
    [
        ("iops", "classic polling", [(1e6 / 8 + 1e6 / 8.2) / 2 * d for d in (1, 2, 8)]),
        ("latency-p99", "interrupt", [20.2] * 3),
        ("cpu", "classic polling", [100, 200, 800]),
        ("power", "interrupt", [45, 50, 80]),
        ("switches-io", "interrupt", [1, 1, 1]),
        ("switches-io", "classic polling", [0, 0, 0]),
        ("switches", "hybrid polling", [(1e6 / 9 + 1e6 / 9.2) / 2 * d for d in (1, 2, 8)]),
        ("interrupts", "interrupt", [(1e6 / 10 + 1e6 / 10.2) / 2 * d for d in (1, 2, 8)]),
        ("interrupts", "hybrid polling", [0, 0, 0]),
    ],
)
def test_the_numbers_of_lines(
    shown: StorageAnswer, name: str, mode: str, expected: list[float]
) -> None:
    assert line(shown.figures[name], mode)["y"] == pytest.approx(expected, rel=1e-5)


def test_one_metric_against_another(shown: StorageAnswer) -> None:
    drawn = line(shown.figures["power-cpu"], "classic polling")
    assert drawn["x"] == pytest.approx([100, 200, 800])
    assert drawn["y"] == pytest.approx([45, 50, 80])
    assert drawn["text"] == ["1", "2", "8"]
    last = line(shown.figures["power-cpu"], "hybrid polling")
    assert last["text"][-1] == "depth 8"
    layout = shown.figures["power-interrupts"]["layout"]
    assert layout["xaxis"]["title"]["text"] == "Interrupt rate, 1/s (less is better)"


def test_depths_that_would_cover_each_other_are_left_out() -> None:
    near: list[dict[str, Any]] = [
        {"x": [0, 1, 100], "y": [0, 1, 100], "text": ["1", "2", "8"]},
        {"x": [50, 99], "y": [50, 99], "text": ["1", "8"]},
    ]
    thin_labels(near)
    assert [trace["text"] for trace in near] == [["1", "", ""], ["1", "8"]]


def test_published_values_stand_beside_the_measured(shown: StorageAnswer) -> None:
    (stars,) = traces(shown.figures["latency"], "published")
    assert sorted(stars["y"]) == [8.1, 8.5, 10.1, 13.6, 13.9, 15.0]
    assert {round(x) for x in stars["x"]} == {0, 2}
    (stars,) = traces(shown.figures["iops"], "published")
    assert sorted(stars["y"]) == [96_722, 113_846, 120_470, 511_895, 546_968, 571_659]
    assert [
        "published: 120 k/s",
        "classic polling, 1 thread, IO rate",
        "HotStorage '22, table 1",
    ] in (stars["meta"]["words"])
    (idle_stars,) = traces(shown.figures["devices"], "published")
    assert sorted(idle_stars["y"]) == [29, 34, 39]


def test_points_know_their_configurations(shown: StorageAnswer) -> None:
    assert shown.configurations is not None
    knobs = {
        name: [knob["values"][i] for i in decode(knob["index"])]
        for name, knob in shown.configurations["knobs"].items()
    }
    for name in ("iops", "power-cpu", "proportionality", "devices", "bytes-joule", "difference"):
        for trace in (
            *traces(shown.figures[name], "points"),
            *traces(shown.figures[name], "cells"),
        ):
            assert len(trace["x"]) == len(trace["meta"]["rows"]) == len(trace["meta"]["words"])
    drawn = line(shown.figures["iops"], "classic polling")
    rows = [r for (r,) in drawn["meta"]["rows"]]
    assert [knobs["io_depth"][r] for r in rows] == [1, 2, 8]
    assert {knobs["mode"][r] for r in rows} == {"poll"}
    assert sum(shown.configurations["runs"]) == 76


def test_loads_and_stores_stack_by_subsystem(shown: StorageAnswer) -> None:
    loads, stores = shown.figures["loads"], shown.figures["stores"]
    assert loads["layout"]["barmode"] == "stack"
    axis = loads["layout"]["xaxis"]
    assert [text.split(">")[1][0] for text in axis["ticktext"]] == ["●", "◆"]
    assert re.sub("<.*?>", "", axis["title"]["text"]) == (
        "IO depth, with ● interrupt, ◆ classic polling"
    )
    (depth,) = loads["layout"]["annotations"]
    assert (depth["text"], depth["x"]) == ("1", 0.5)
    heights = {t["name"]: t["y"] for t in traces(loads, "bars")}
    assert heights == {
        "block": [150, 600], "nvme": [0, 400], "scheduler": [300, 0], "unknown": [7, 0],
    }  # fmt: skip
    assert {t["name"]: t["y"] for t in traces(stores, "bars")} == {
        "block": [50, 30], "nvme": [0, 20], "scheduler": [200, 0],
    }  # fmt: skip
    (totals,) = traces(loads, "totals")
    assert totals["y"] == [457, 1000]
    hues = [{t["name"]: t["marker"]["color"] for t in traces(f, "bars")} for f in (loads, stores)]
    assert hues[0] == hues[0] | hues[1]
    assert "n = 1" in traces(loads, "bars")[0]["meta"]["words"][0][1]


def test_published_loads_and_stores_stand_beside_the_counted(shown: StorageAnswer) -> None:
    figure = shown.figures["loads-stores"]
    # loads + stores: 140 + 60 of interrupts; the function of unknown place stands apart
    bars = {t["name"]: t for t in traces(figure, "bars")}
    assert {name: t["y"] for name, t in bars.items()} == {
        "block": [200, 630], "nvme": [0, 420], "scheduler": [500, 0], "unknown": [7, 0],
    }  # fmt: skip
    said = traces(figure, "published")
    assert [t["marker"]["color"] for t in said][:3] == [
        bars[name]["marker"]["color"] for name in ("block", "nvme", "scheduler")
    ]
    # table 2: interrupt, classic, hybrid, at depth 32 after the counted ones at depth 1
    assert [t["y"] for t in said] == [
        [386e6, 759e6, 533e6], [51e6, 207e6, 111e6], [598e6, 41e6, 786e6], [65e6, 22e6, 154e6],
        [1611e6, 2160e6, 2029e6],
    ]  # fmt: skip
    assert min(said[0]["x"]) > max(bars["block"]["x"])
    ticks = [re.sub("<.*?>", "", text) for text in figure["layout"]["xaxis"]["ticktext"]]
    assert ticks == ["●", "◆", "☆", "☆", "☆"]
    assert [note["text"] for note in figure["layout"]["annotations"]] == ["1", "32"]
    assert said[0]["meta"]["words"][1] == [
        "published · classic polling · 32 threads", "block/: 759 M/s", "blk_poll: 219 M/s",
        "blk_mq_* (36 functions): 158 M/s", "other functions (109 functions): 383 M/s",
        "HotStorage '22, table 2",
    ]  # fmt: skip
    assert bars["block"]["meta"]["words"][1][1:4] == [
        "block: 630 /s, n = 1", "blk_mq_*: 630 /s", "click: select this mode and depth",
    ]  # fmt: skip


def test_idle_and_active_power(shown: StorageAnswer) -> None:
    figure = shown.figures["devices"]
    assert figure["layout"]["xaxis"]["ticktext"] == ["no device", "disk", "optane"]
    (resting,) = traces(figure, "idle")
    assert resting["y"] == [29, 35]
    assert "34.0 W" not in resting["meta"]["words"][1][1]
    assert "35.0 W ± 12.7 W (95 % CI), n = 2" in resting["meta"]["words"][1][1]
    # optane: 45 W reading alone, 82 W writing with 8 in flight; the disk 45 and 50 W
    active = line(figure, "interrupt")
    assert sorted(active["y"]) == [45, 45, 50, 82]
    assert figure["layout"]["yaxis"]["rangemode"] == "tozero"


def test_write_minus_read(shown: StorageAnswer) -> None:
    figure = shown.figures["difference"]
    # the disk was not written
    assert [note["text"] for note in figure["layout"]["annotations"]] == ["<b>optane</b>"]
    (colors,) = traces(figure, "colors")
    assert np.array(colors["z"], dtype=float) == pytest.approx(np.full((2, 3), 2.0))
    assert figure["layout"]["coloraxis"]["cmin"] == -figure["layout"]["coloraxis"]["cmax"]
    words = traces(figure, "cells")[0]["meta"]["words"][0]
    assert words[1].endswith("+2.00 W ± 0 W (95 % CI)")
    assert words[2:4] == ["write: 47.0 W, n = 2", "read: 45.0 W, n = 2"]
    rows = traces(figure, "cells")[0]["meta"]["rows"]
    assert {len(behind) for behind in rows} == {2}


def test_the_difference_does_not_depend_on_which_of_the_two_is_shown(view: LakeView) -> None:
    figures = [
        answered(view, replace(STATE, at_rw=rw)).figures["difference"]["data"]
        for rw in ("randread", "randwrite")
    ]
    assert [t.get("z") for t in figures[0]] == [t.get("z") for t in figures[1]]


def test_efficiency_by_size_and_depth(shown: StorageAnswer) -> None:
    figure = shown.figures["ios-joule"]
    assert [note["text"] for note in figure["layout"]["annotations"]] == [
        "<b>disk</b>", "<b>optane</b>",
    ]  # fmt: skip
    z = traces(figure, "colors")[1]["z"]
    # interrupts, 4 KiB, depth 1: 98,0xx IO/s at 45 W
    expected = (1e6 / 10 + 1e6 / 10.2) / 2 / 45
    assert z[0][0] == pytest.approx(expected / 1e3)
    assert figure["layout"]["title"]["text"].startswith("IOs per joule by device, k/J")
    assert [figure["layout"][f"yaxis{n}"]["showticklabels"] for n in ("", 2)] == [True, True]
    bytes_z = traces(shown.figures["bytes-joule"], "colors")[0]["z"]
    assert bytes_z[0][0] == pytest.approx(expected * 4096 / 1e6)


def test_a_cell_that_was_not_measured_has_a_cross_and_no_value(tmp_path: Path) -> None:
    rows = [fio(depth=d, request_bytes=s) for d, s in ((1, 4096), (2, 4096), (1, 65536))]
    figure = answer(lake(tmp_path, rows), StorageState()).figures["ios-joule"]
    (colors,), (missing,) = traces(figure, "colors"), traces(figure, "missing")
    assert colors["z"][1][1] is None
    assert (missing["x"], missing["y"]) == ([1], [1])


def test_energy_proportionality(shown: StorageAnswer) -> None:
    """Reads and writes apart, 4 KiB, interrupts; the system draws 82 W at most (8 in flight,
    writing, in any mode and at any size), and optane does 8 x 1e6 / 10.1 IOs a second."""
    figure = shown.figures["proportionality"]
    titles = [note["text"] for note in figure["layout"]["annotations"]]
    assert titles[::2] == ["<b>random reads</b>", "<b>random writes</b>"]
    assert [text.count("too few for a curve") for text in titles[1::2]] == [2, 1]
    assert [(t["x"], t["y"]) for t in traces(figure, "ideal")] == [([0, 1], [0, 1])] * 2
    drawn = {(t["name"], t["xaxis"]): t for t in traces(figure, "points")}
    assert set(drawn) == {("disk", "x"), ("optane", "x"), ("optane", "x2")}
    assert len({t["marker"]["color"] for t in drawn.values()}) == 2
    for (_, panel), w in {("optane", "x"): (45, 50, 80), ("optane", "x2"): (47, 52, 82)}.items():
        assert drawn["optane", panel]["x"] == pytest.approx([1 / 8, 2 / 8, 1])
        assert drawn["optane", panel]["y"] == pytest.approx([each / 82 for each in w])
    # the disk at its own most draws 50 W: 0.61 of the system's, not 1
    assert drawn["disk", "x"]["x"] == [0.5, 1]
    assert drawn["disk", "x"]["y"] == pytest.approx([45 / 82, 50 / 82])
    assert [t["y"] for t in traces(figure, "idle")] == [[pytest.approx(35 / 82)]] * 2
    title = figure["layout"]["title"]["text"]
    assert "4 KiB requests · interrupt · 1 is 82.0 W" in title
    assert "ours, not the paper's: R², idle (grey), proportional (dotted)" in title


def test_a_filter_on_devices_leaves_the_peak_of_the_system(view: LakeView) -> None:
    state = StorageState(Selection.of(device=["disk"], rw=["randread"], request=[4096]))
    figure = answer(view, state).figures["proportionality"]
    (disk,) = traces(figure, "points")
    assert disk["y"] == pytest.approx([45 / 82, 50 / 82])


def test_a_curve_is_of_one_machine_and_its_own_peak(tmp_path: Path) -> None:
    depths = {"small": (1, 2), "large": (1, 4, 8)}
    rows = [fio("interrupt", depth=d, machine=name, run_id=f"{d}-{name}")
            for name in depths for d in depths[name]]  # fmt: skip
    view = lake(tmp_path, rows)
    figure = answer(view, StorageState()).figures["proportionality"]
    (points,) = traces(figure, "points")
    assert points["y"] == pytest.approx([45 / 80, 60 / 80, 1])
    assert "large of 2 machines (most complete)" in figure["layout"]["title"]["text"]
    small = StorageState(Selection.of(machine=["small"]))
    (points,) = traces(answer(view, small).figures["proportionality"], "points")
    assert points["y"] == pytest.approx([45 / 50, 1])


def test_what_was_not_measured_is_said(tmp_path: Path) -> None:
    rows = [fio(power_w=None, energy_j=None, interrupts=None, context_switches=None)]
    figures = answer(lake(tmp_path, rows), StorageState()).figures
    said = message(figures["devices"])
    assert said.startswith("Power: not measured, neither idle nor active. Power comes from")
    assert "copies of /proc/interrupts" in message(figures["interrupts"])
    assert "VTune" in message(figures["loads"])
    assert figures["loads"]["layout"]["title"]["text"].startswith("Loads by kernel subsystem")
    for name in ("interrupts", "switches", "power", "power-cpu", "loads", "bytes-joule"):
        assert "not measured" in message(figures[name])
    assert figures["iops"]["layout"]["meta"]["kind"] == "storage"


def test_only_idle_runs_leave_a_sentence(tmp_path: Path) -> None:
    found = answer(lake(tmp_path, [idle(None, 29.0), run()]), StorageState())
    assert "no run of this lake has a request size" in message(found.figures["iops"])
    assert found.configurations is None
    assert found.status == "0 of 0 storage runs"


def test_an_empty_lake_says_what_to_do(tmp_path: Path) -> None:
    found = answer(Lakes(tmp_path / "none").at(None), StorageState())
    assert "python -m ingest add RAW" in message(found.figures["iops"])


def test_filters_that_leave_nothing_name_what_to_clear(view: LakeView) -> None:
    state = StorageState(Selection.of(device=["disk"], mode=["poll"]))
    assert "Clear one of these to see some: Device (24 runs), Completion mode (4 runs)." in message(
        answer(view, state).figures["iops"]
    )


def test_a_place_that_the_filters_leave_nothing_of_gives_way(view: LakeView) -> None:
    state = StorageState(
        Selection.of(device=["disk"]), at_device="optane", at_rw="randwrite", at_request=65536.0
    )
    found = answer(view, state).study.state
    assert (found.at_device, found.at_rw, found.at_request) == ("disk", "randread", 4096)


def test_configurations_that_differ_elsewhere_are_lines_of_their_own(tmp_path: Path) -> None:
    rows = [fio(depth=d, dvfs_ghz=g, run_id=f"{d}-{g}") for d in (1, 2) for g in (1.2, 2.9)]
    drawn = traces(answer(lake(tmp_path, rows), StorageState()).figures["iops"], "points")
    assert len(drawn) == 2
    assert len({t["line"]["dash"] for t in drawn}) == 2


def test_a_mode_that_is_not_known_is_drawn_as_such(tmp_path: Path) -> None:
    drawn = answer(lake(tmp_path, [fio(), fio(mode="poll", replicate=1) | {"mode": None}]),
                   StorageState()).figures["iops"]  # fmt: skip
    assert len(traces(drawn, "points")) == 2


def test_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    answers = [
        answer(lake(tmp_path / str(i), rows), StorageState()).figures["iops"]["data"]
        for i, rows in enumerate((study_rows(), study_rows()[::-1]))
    ]
    for first, second in zip(*answers, strict=True):
        assert first["meta"] == second["meta"]
        assert first["y"] == pytest.approx(second["y"])


def test_no_figure_holds_what_json_cannot(shown: StorageAnswer) -> None:
    json.dumps(shown.figures, allow_nan=False)


def test_texts_stand_in_cells_only_where_they_fit(tmp_path: Path) -> None:
    few = [fio(mode, depth=d) for mode in ("interrupt", "poll") for d in (1, 2)]
    many = [fio(depth=d) for d in range(1, 41)]
    for name, rows, has_text in (("few", few, True), ("many", many, False)):
        figure = answer(lake(tmp_path / name, rows), StorageState()).figures["ios-joule"]
        assert ("text" in traces(figure, "cells")[0]) == has_text


def test_texts_of_narrow_cells_have_one_decimal(tmp_path: Path) -> None:
    """Four devices by five depths: 24 px a cell. 2,512 IOs over 1 J are 2.5 k/J; 2 are almost 0."""
    iops = (2.0, 2512.0, 9940.0, 12_345.0, 99_000.0)
    rows = [
        fio(device=device, depth=1 << i, iops=iops[i], power_w=1.0, energy_j=10.0)
        for device in ("disk", "flash-a", "flash-b", "optane") for i in range(5)
    ]  # fmt: skip
    figure = answer(lake(tmp_path, rows), StorageState()).figures["ios-joule"]
    drawn = traces(figure, "cells")
    assert len(drawn) == 4
    assert drawn[0]["text"] == ["\N{ALMOST EQUAL TO}0", "2.5", "9.9", "12", "99"]


def test_trends_and_ranges_say_whose_they_are(shown: StorageAnswer) -> None:
    assert shown.configurations is not None
    knobs = {
        name: [knob["values"][i] for i in decode(knob["index"])]
        for name, knob in shown.configurations["knobs"].items()
    }
    for view, kind in (("proportionality", "trend"), ("devices", "ranges")):
        for trace in traces(shown.figures[view], kind):
            of = {"trend": ("mode", "device", "rw", "request_bytes"), "ranges": ("mode",)}[kind]
            assert len({tuple(knobs[n][r] for n in of) for r in trace["meta"]["behind"]}) == 1


def test_a_long_place_is_told_in_several_lines(tmp_path: Path) -> None:
    device = "a device with a very long name indeed, in slot 17"
    figure = answer(lake(tmp_path, [fio(device=device)]), StorageState()).figures["interrupts"]
    title = figure["layout"]["title"]["text"]
    assert f"CI<br>{device} · randread<br>4 KiB<" in title
    assert figure["layout"]["margin"]["t"] == 44 + 2 * 14

"""What Storage's pictures mark beside their points: published values, what is mixed or unsaid."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.kit.context import Lakes
from app.kit.lake_view import LakeView
from app.storage.answer import answer
from app.storage.figures.grids import DIVERGING, hue_at
from app.storage.published import IDLE, NOT_MEASURED, PERFORMANCE
from app.storage.state import StorageState
from data.selection import Selection
from tests.fixtures.storage_rows import MODES, fio, idle, study_lake
from tests.unit.test_figures_storage import STATE, answered, lake, line, message, traces


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> LakeView:
    return Lakes(study_lake(tmp_path_factory.mktemp("study") / "lake")).at(None)


def test_a_star_has_the_hue_of_its_mode_and_names_its_source(view: LakeView) -> None:
    figure = answered(view, STATE).figures["latency"]
    (stars,) = traces(figure, "published")
    at = stars["y"].index(10.1)
    assert stars["marker"]["color"][at] == line(figure, "interrupt")["line"]["color"]
    assert stars["meta"]["words"][at] == [
        "published: 10.1 us", "interrupt, 1 thread", "HotStorage '22, table 1",
    ]  # fmt: skip
    (resting,) = traces(answered(view, STATE).figures["devices"], "published")
    said = ["published, idle: 34.0 W", "Optane SSD", "HotStorage '20, text"]
    assert said in resting["meta"]["words"]
    assert set(resting["marker"]["color"]) == {"page"}


def test_published_latencies_of_reads_do_not_stand_beside_writes(view: LakeView) -> None:
    figure = answered(view, replace(STATE, at_rw="randwrite")).figures["latency"]
    assert traces(figure, "published") == []


def test_published_latencies_of_threads_do_not_stand_beside_a_queue(tmp_path: Path) -> None:
    rows = [fio("interrupt", depth=8, threads=threads) for threads in (1, 8)]
    for one, count in zip(rows, (0, 1), strict=True):
        figure = answer(lake(tmp_path / str(count), [one]), StorageState()).figures["latency"]
        assert len(traces(figure, "published")) == count


def test_lines_that_lie_on_each_other_are_all_seen(view: LakeView) -> None:
    """Interrupt and hybrid both switch once per IO: what lies above is the smaller."""
    figure = answered(view, STATE).figures["switches-io"]
    below, above = line(figure, "interrupt"), line(figure, "hybrid polling")
    assert below["y"] == pytest.approx(above["y"])
    assert figure["data"].index(below) < figure["data"].index(above)
    assert below["marker"]["size"] > above["marker"]["size"] + 2
    assert below["line"]["width"] > above["line"]["width"] + 1


def test_what_the_lines_of_one_mode_differ_in_is_said(tmp_path: Path, view: LakeView) -> None:
    rows = [fio(depth=d, threads=t, dataset=name, run_id=f"{d}-{t}-{name}")
            for d in (4, 8) for t in (1, 4) for name in ("lab", "home")]  # fmt: skip
    found = answer(lake(tmp_path, rows), StorageState()).figures
    assert "· dashes: dataset, threads<" in found["iops"]["layout"]["title"]["text"]
    assert "dashes" not in answered(view, STATE).figures["iops"]["layout"]["title"]["text"]


def test_cells_show_one_dataset_and_one_limit_and_name_them(tmp_path: Path, view: LakeView) -> None:
    rows = [fio(rw=rw, dataset=name, rapl_w=rapl, run_id=f"{rw}-{name}-{rapl}", energy_j=rapl)
            for rw in ("randread", "randwrite") for name in ("lab", "home")
            for rapl in (75.0, 135.0)]  # fmt: skip
    lakes = lake(tmp_path, rows)
    found = answer(lakes, StorageState()).figures
    pooled = answer(lakes, StorageState(pool=("rapl",))).figures
    for name in ("ios-joule", "difference"):
        title = found[name]["layout"]["title"]["text"].replace("<br>", " ")
        assert "home of 2 datasets, 135 W of 2 power limits (most complete)" in title
        title = pooled[name]["layout"]["title"]["text"]
        assert "home of 2 datasets (most complete)" in title
        assert "over 2 power limits<" in title
    assert (
        "most complete"
        not in answered(view, STATE).figures["difference"]["layout"]["title"]["text"]
    )


def test_a_published_value_is_compared_with_one_configuration(tmp_path: Path) -> None:
    rows = [fio("poll", dataset=name, replicate=r, run_id=f"{name}{r}", latency_mean_us=us)
            for name, us, n in (("home", 10.0, 1), ("lab", 20.0, 2)) for r in range(n)]  # fmt: skip
    shown = answer(lake(tmp_path, rows), StorageState())
    found = [one for one in shown.compared[PERFORMANCE]
             if one.mean is not None and one.column == "latency_mean_us"]  # fmt: skip
    assert [line.mean for line in found] == [20.0]
    assert found[0].measured.endswith("n = 2 · lab of 2 datasets (most complete)")


def test_idle_power_is_of_one_machine(tmp_path: Path) -> None:
    rows = [fio("interrupt"), idle("optane", 30.0)]
    rows += [idle("optane", power, r) | {"machine": "b", "run_id": f"b{r}"}
             for r, power in enumerate((40.0, 42.0))]  # fmt: skip
    found = answer(lake(tmp_path, rows), StorageState())
    assert found.study.idle.select("power_w", "power_w_n").rows() == [(41.0, 2)]
    assert "b of 2 machines (most complete)" in found.figures["devices"]["layout"]["title"]["text"]


def test_devices_that_nobody_named_are_not_the_bare_system(tmp_path: Path) -> None:
    rows = [fio("interrupt", device=None), idle(None, 31.5)]
    found = answer(lake(tmp_path, rows), StorageState())
    figure = found.figures["devices"]
    assert figure["layout"]["xaxis"]["ticktext"] == ["device not said"]
    assert traces(figure, "idle")[0]["meta"]["words"][0][0] == "idle · device not said"
    assert traces(figure, "published") == []
    compared = found.compared[IDLE]
    assert {one.measured for one in compared} == {NOT_MEASURED}
    notes = found.figures["proportionality"]["layout"]["annotations"]
    assert "device not said: n = 1, too few for a curve" in notes[1]["text"]


def test_one_named_device_and_the_bare_system(tmp_path: Path) -> None:
    rows = [fio("interrupt"), idle(None, 29.0)]
    found = answer(lake(tmp_path, rows), StorageState())
    assert found.figures["devices"]["layout"]["xaxis"]["ticktext"] == ["no device", "optane"]
    compared = found.compared
    assert compared[IDLE][0].measured == "29.0 W, n = 1"
    assert [one.change for one in compared[PERFORMANCE] if "interrupt, 1" in one.what] == [
        # 10 us against 10.1; 100,000 IOs a second against 96,722
        "\N{MINUS SIGN}0.990 %", "+3.39 %",
    ]  # fmt: skip


def test_a_mode_that_nobody_named_is_called_so(tmp_path: Path) -> None:
    found = answer(lake(tmp_path, [fio() | {"mode": None}]), StorageState())
    assert found.configurations is not None
    assert found.configurations["knobs"]["mode"]["values"] == [None]
    assert line(found.figures["iops"], "mode not said")["x"] == [0]
    (heading,) = found.figures["bytes-joule"]["layout"]["annotations"]
    assert heading["text"] == "<b>mode not said</b>"


def test_a_message_keeps_the_title_and_has_no_empty_place(tmp_path: Path) -> None:
    rows = [fio(device=None, power_w=None, energy_j=None, rw="randrw")]
    found = answer(lake(tmp_path, rows), StorageState()).figures
    assert message(found["difference"]).startswith("Power: not measured. Power comes from a meter")
    assert message(found["bytes-joule"]).startswith("Bytes per joule: not measured at randrw.")
    assert found["difference"]["layout"]["title"]["text"].startswith("Write minus read power")


def test_axes_and_scales(view: LakeView) -> None:
    """Intervals draw no axis below nothing; ratios have no SI prefix; more is red, less is blue."""
    layouts = {name: f["layout"] for name, f in answered(view, STATE).figures.items()}
    for name in ("latency", "power", "power-cpu"):
        assert layouts[name]["yaxis"]["autorangeoptions"] == {"clipmin": 0}
    assert layouts["switches-io"]["yaxis"]["tickformat"] == ""
    assert layouts["switches"]["yaxis"]["tickformat"] == "~s"
    scale = tuple(tuple(stop) for stop in layouts["difference"]["coloraxis"]["colorscale"])
    assert scale == DIVERGING
    assert scale[0] == (0.0, "#053061")
    assert scale[5] == (0.5, "#f7f7f7")
    assert scale[-1] == (1.0, "#67001f")


def test_functions_are_read_with_all_filters_where_there_are_too_many_runs(
    view: LakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = StorageState(Selection.of(dataset=["lab"], mode=["poll"], depth=[1.0]))
    expected = answer(view, state).figures["loads"]["data"]
    monkeypatch.setattr("app.storage.study.MOST_PROFILED", 2)
    assert answer(view, state).figures["loads"]["data"] == expected
    assert {t["name"]: t["y"] for t in expected if t["meta"]["kind"] == "bars"} == {
        "block": [600], "nvme": [400],
    }  # fmt: skip


def test_numbers_in_cells_can_be_read_on_any_of_the_colours(view: LakeView) -> None:
    def luminance(hue: str) -> float:
        channels = [int(hue[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for name in ("ios-joule", "bytes-joule", "difference"):
        figure = answered(view, STATE).figures[name]
        axis = figure["layout"]["coloraxis"]
        for colors, cells in zip(traces(figure, "colors"), traces(figure, "cells"), strict=True):
            for x, y, text, ink in zip(
                cells["x"], cells["y"], cells["text"], cells["textfont"]["color"], strict=True
            ):
                value = colors["z"][y][x]
                assert float(text.replace("\N{MINUS SIGN}", "-")) == pytest.approx(value, rel=0.01)
                below = hue_at(axis["colorscale"],
                               (value - axis["cmin"]) / (axis["cmax"] - axis["cmin"]))  # fmt: skip
                light, dark = sorted([luminance(ink), luminance(below)], reverse=True)
                assert (light + 0.05) / (dark + 0.05) >= 4.5, (name, text)
    assert hue_at(DIVERGING, 0.05) == "#134b86"


def test_the_modes_of_filters_share_one_order(view: LakeView) -> None:
    """A mode keeps its mark whatever the filters leave."""
    alone = answer(view, StorageState(Selection.of(mode=["hybrid"]))).figures["iops"]
    beside = answered(view, STATE).figures["iops"]
    for part in ("marker", "line"):
        assert line(alone, "hybrid polling")[part] == line(beside, "hybrid polling")[part]
    assert len(traces(beside, "points")) == len(MODES)


def test_numbers_of_cells_fit_and_none_is_written_as_0(tmp_path: Path) -> None:
    """2,000, 4 and 0.004 IOs a joule, in thousands; the hover has three digits."""
    watts = {1: 0.5, 2: 500.0, 4: 1e6}
    rows = [fio("interrupt", depth=d, iops=d * 1e3, power_w=w, energy_j=w * 10)
            for d, w in watts.items()]  # fmt: skip
    (cells,) = traces(answer(lake(tmp_path, rows), StorageState()).figures["ios-joule"], "cells")
    expected = [d * 1e3 / w for d, w in watts.items()]
    assert [float(text) for text in cells["text"]] == pytest.approx(
        [value / 1e3 for value in expected], rel=0.2
    )
    assert all(0 < len(text) <= 5 for text in cells["text"])
    assert "4.00 " in cells["meta"]["words"][1][1]

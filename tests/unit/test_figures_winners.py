"""The map of winners, shares, Pareto view and evidence, by facts."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from app.kit.competitors import (
    MODE_HUES,
    OTHER_HUE,
    TIE_GREY,
    Competitors,
    axis_labels,
    competitors_of,
    readable_on,
    system_style,
    value_label,
    value_words,
)
from app.kit.encodings import BREAK, GOVERNOR_HUE, NUMBER_HUES, OKABE_ITO, SYMBOLS
from app.modes.figures.evidence import EvidenceScene, build_evidence
from app.modes.figures.pareto import ParetoScene, build_pareto, pareto_members
from app.modes.figures.shares import build_shares
from app.modes.figures.winner_map import HEIGHT_PX, WIDTH_PX, MapScene, build_winner_map, hatching
from app.storage.figures import base as storage_base
from data.catalogue import SHIPPED
from tests.unit.test_ties import CELLS, judged

P99, ENERGY = SHIPPED.metric("latency_p99_us"), SHIPPED.metric("energy_j")
MODES = competitors_of(SHIPPED.knobs["mode"], ["poll", "interrupt"], (), {})


def scene(**changes: Any) -> MapScene:
    values: dict[str, Any] = {
        "columns": ("4 B", "8 B"), "rows": ("1", "8", "16"), "x_title": "Request size",
        "y_title": "IO depth", "title": "Energy", "subtitle": "Student", "competitors": MODES,
        "knobs": ("request_bytes", "io_depth"), "xs": (4, 8), "ys": (1, 8, 16),
    }  # fmt: skip
    return MapScene(**{**values, **changes})


def winner_map(**changes: Any) -> dict:
    better = "less" if changes.get("has_winners", True) else None
    return build_winner_map(placed_cells(better), scene(**changes))


def placed_cells(better: str | None = "less") -> pl.DataFrame:
    found = judged(CELLS, better)
    column = {4.0: 0, 8.0: 1}
    row = {1.0: 0, 8.0: 1, 16.0: 2}
    leaders = found.contenders["competitor"].gather(found.cells["winner"]).to_list()
    return pl.DataFrame(
        {
            "column": [column[v] for v in found.cells["x"]],
            "row": [row[v] for v in found.cells["y"]],
            "outcome": found.cells["outcome"],
            "competitor": [MODES.values.index(name) for name in leaders],
            "strength": [0.5] * len(leaders),
        }
    )


def trace(figure: dict, kind: str) -> dict:
    return next(t for t in figure["data"] if t["meta"]["kind"] == kind)


def test_cells_are_their_winners_or_a_tie_and_nothing_else_is_coloured() -> None:
    # Poll (competitor 1) wins 4x1 and 8x8, and leads 4x16 with too few runs; 4x8 and 8x1 tie
    # (code 2); 8x16 is alone.
    z = trace(winner_map(), "winners")["z"]
    np.testing.assert_array_equal(z, [[1, 2], [2, 1], [1, np.nan]])
    scale = trace(winner_map(), "winners")["colorscale"]
    assert [hue for _, hue in scale[::2]] == [MODE_HUES["interrupt"], MODE_HUES["poll"], TIE_GREY]


def test_without_a_direction_nothing_has_a_winners_colour() -> None:
    # 4x1 and 8x8 differ (code 3).
    figure = winner_map(has_winners=False)
    z = trace(figure, "winners")["z"]
    np.testing.assert_array_equal(z, [[3, 2], [2, 3], [np.nan, np.nan]])
    names = [t["name"] for t in figure["data"] if t["meta"]["kind"] == "legend"]
    assert names == [
        "tie: 2", "differ: the highest and its distance: 2", "too few runs to be compared: 1",
        "one alone: 1",
    ]  # fmt: skip


def test_too_few_is_hatched_and_alone_is_marked() -> None:
    figure = winner_map()
    hatch = trace(figure, "hatching")
    inside_x, inside_y = (hatch[axis][~np.isnan(hatch[axis])] for axis in ("x", "y"))
    assert len(inside_x) > 0
    assert abs(inside_x).max() <= 0.5
    assert (abs(inside_y - 2) <= 0.5).all()
    alone = trace(figure, "marks")
    assert (alone["x"].tolist(), alone["y"].tolist()) == ([1], [2])
    assert alone["marker"]["color"] == [MODE_HUES["poll"]]
    names = [t["name"] for t in figure["data"] if t["meta"]["kind"] == "legend"]
    assert names == [
        "interrupt: 0 won", "classic polling: 2 won", "fuller: larger lead", "tie: 2",
        "unproven: leads with too few runs: 1", "one alone: 1",
    ]  # fmt: skip


def test_the_pointer_meets_every_measured_cell_and_no_other() -> None:
    figure = winner_map(columns=("4 B", "8 B", "16 B"))
    layer = trace(figure, "cells")["z"]
    assert layer.shape == (3, 3)
    assert np.isnan(layer[:, 2]).all()
    assert (layer[:, :2] == 1).all()
    assert figure["layout"]["meta"]["map"]["missing"] == [[0, 2], [1, 2], [2, 2]]
    assert np.isnan(trace(figure, "veil")["z"]).all()


@pytest.mark.parametrize(("columns", "rows"), [(4, 20), (20, 4), (200, 50), (1, 1)])
def test_hatching_has_one_slope_whatever_the_cells_shape(columns: int, rows: int) -> None:
    x, y = hatching(np.array([0]), np.array([0]), columns, rows)
    x, y = x.reshape(-1, 3)[:, :2], y.reshape(-1, 3)[:, :2]
    assert np.abs(np.concatenate([x, y])).max() <= 0.5
    across_px = np.diff(x) * WIDTH_PX / columns / 0.96
    up_px = np.diff(y) * HEIGHT_PX / rows / 0.92
    np.testing.assert_allclose(across_px, up_px, rtol=1e-3, atol=1e-3)
    assert (up_px > 0).all()


def test_a_subtitle_of_two_lines_has_more_room() -> None:
    two_lines = winner_map(subtitle=f"rules{BREAK}notes")["layout"]["margin"]["t"]
    assert two_lines == winner_map()["layout"]["margin"]["t"] + 15


def test_axes_say_their_knob() -> None:
    layout = winner_map()["layout"]
    assert layout["xaxis"]["title"]["text"] == "Request size"
    assert layout["meta"]["labels"]["y"] == ["1", "8", "16"]
    assert layout["xaxis"]["range"] == [-0.5, 1.5]


def test_modes_keep_their_hues_whatever_else_competes() -> None:
    found = competitors_of(SHIPPED.knobs["mode"], ["other", None, "hybrid", "poll"], (), {})
    assert found.values == ("poll", "hybrid", "other", None)
    assert found.labels == ("classic polling", "hybrid polling", "other", "none")
    assert found.hues[:2] == (OKABE_ITO[1], OKABE_ITO[2])
    assert len(set(found.hues)) == 4


def test_systems_keep_the_hues_that_they_have_on_explore() -> None:
    systems = ("ebbrt_tuned", "linux_default", "linux_tuned", "zephyr")
    found = competitors_of(SHIPPED.knobs["system"], ["zephyr", "ebbrt_tuned"], systems,
                           {"ebbrt_tuned": "Library OS"})  # fmt: skip
    assert found.labels == ("Library OS", "zephyr")
    assert found.hues == tuple(system_style(str(s), systems)[1] for s in found.values)


def test_symbols_do_not_depend_on_who_else_competes() -> None:
    systems = ("ebbrt_tuned", "linux_default", "linux_tuned")
    one = competitors_of(SHIPPED.knobs["system"], ["linux_default"], systems, {})
    assert one.symbols == (system_style("linux_default", systems)[0],)
    assert competitors_of(SHIPPED.knobs["mode"], ["hybrid"], (), {}).symbols == ("square",)
    assert competitors_of(SHIPPED.knobs["device"], ["b", "a"], (), {}).symbols == (
        "circle",
        "diamond",
    )


def test_no_member_of_a_frontier_is_left_out() -> None:
    # Less is better in both: of poll's, (90, 60) and (70, 90); of interrupt's, its only one.
    rows = [(1, 90.0, 60.0), (1, 70.0, 90.0), (1, 100.0, 80.0), (0, 5.0, 5.0)]
    points = pl.DataFrame(rows, schema=["who", "y", "x"], orient="row")
    members = pareto_members(points, P99, ENERGY)
    assert sorted(members.tolist()) == [0, 1, 3]


def test_numbers_are_samples_of_one_scale_and_null_stands_outside() -> None:
    found = competitors_of(SHIPPED.knobs["dvfs"], [2.9, None, 1.2, 2.0], (), {})
    assert found.values == (1.2, 2.0, 2.9, None)
    assert found.labels == ("1.2 GHz", "2 GHz", "2.9 GHz", "governor")
    assert (found.hues[0], found.hues[2], found.hues[3]) == (
        NUMBER_HUES[0],
        NUMBER_HUES[-1],
        GOVERNOR_HUE,
    )
    assert found.is_scaled


def test_names_without_a_hue_of_their_own_are_others() -> None:
    names = [f"d{number}" for number in range(9)]
    found = competitors_of(SHIPPED.knobs["device"], names, (), {}, ["d8", "d0"])
    assert not found.is_scaled
    assert found.hues == (*OKABE_ITO[:5], *[OTHER_HUE] * 3, OKABE_ITO[5])
    assert [label for label, *_ in found.legend] == [*names[:5], "d8", "3 others"]
    assert found.legend[-1][3] == (5, 6, 7)
    few = competitors_of(SHIPPED.knobs["device"], names[:7], (), {})
    assert [label for label, *_ in few.legend] == names[:7]
    systems = competitors_of(SHIPPED.knobs["system"], names, names, {})
    looks = zip(systems.hues, systems.symbols, strict=True)
    assert len({*looks}) == len(names)


def test_texts_can_be_read_on_every_hue() -> None:
    def luminance(color: str) -> float:
        rgb = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    scale = competitors_of(SHIPPED.knobs["itr"], list(range(40)), (), {}).hues
    for hue in (*OKABE_ITO, *MODE_HUES.values(), TIE_GREY, OTHER_HUE, *scale):
        low, high = sorted((luminance(hue), luminance(readable_on(hue))))
        assert (high + 0.05) / (low + 0.05) >= 4.5, hue


def test_labels_of_knobs() -> None:
    assert value_label(SHIPPED.knobs["itr"], 2.0, {}) == "2 us"
    assert value_label(SHIPPED.knobs["system"], "x", {"x": "The X"}) == "The X"
    assert value_label(SHIPPED.knobs["request"], 4096, {}) == "4 KiB"
    assert axis_labels(SHIPPED.knobs["itr"], [2.0], {}) == ["2"]


@pytest.mark.parametrize(
    ("systems", "label", "words"),
    [
        (["linux_default"], "adaptive", "ITR adaptive"),
        (["ebbrt_poll"], "polling", "polling"),
        (["ebbrt_poll", "linux_default"], "adaptive or polling", "ITR adaptive or polling"),
    ],
)
def test_an_interrupt_delay_that_is_not_set_by_the_systems_of_the_lake(
    systems: list[str], label: str, words: str
) -> None:
    labels = dict.fromkeys(systems, "x")
    assert axis_labels(SHIPPED.knobs["itr"], [None], labels) == [label]
    assert value_words(SHIPPED.knobs["itr"], None, labels) == words


def test_shares_of_cells() -> None:
    figure = build_shares(placed_cells(), MODES, "Cells won")
    bars = [(t["name"], t["text"][0], t["meta"]["clauses"][0]) for t in figure["data"]]
    # 6 cells: poll wins 2, interrupt none, 2 ties, 1 too few, 1 alone.
    assert bars == [
        ("classic polling", "33 % · 2", 'won~"poll"'),
        ("interrupt", "0 % · 0", 'won~"interrupt"'),
        ("tie", "33 % · 2", "outcome~tie"),
        ("too few replicates", "17 % · 1", "outcome~too few"),
        ("one alone", "17 % · 1", "outcome~alone"),
    ]
    assert "of 6 cells" in figure["layout"]["title"]["text"]
    assert sum(t["x"][0] for t in figure["data"]) == pytest.approx(100)


def test_many_competitors_are_cut_to_those_that_win_most() -> None:
    values = list(range(30))
    many = competitors_of(SHIPPED.knobs["itr"], values, (), {})
    won = [who for who in values for _ in range(who)]
    cells = pl.DataFrame({"competitor": won, "outcome": ["win"] * len(won)})
    figure = build_shares(cells, many, "Cells won")
    assert figure["data"][0]["name"] == "29 us"
    assert len(figure["data"]) == 8
    assert "22 more not shown" in figure["layout"]["title"]["text"]
    # The bars that the others leave room for, and none of their names left out.
    outcomes = [*["win"] * 3, *["tie"] * 4, "alone"]
    cells = pl.DataFrame({"competitor": [29] * 8, "outcome": outcomes})
    figure = build_shares(cells, many, "Cells won")
    assert [t["name"] for t in figure["data"]][-2:] == ["tie", "one alone"]
    assert figure["layout"]["yaxis"]["tickvals"] == [t["name"] for t in figure["data"]]
    assert "24 more win none" in figure["layout"]["title"]["text"]


def test_a_lead_is_pale_where_it_is_small_or_undecided() -> None:
    outcomes = ["win", "win", "undecided", "equivalent", "over", "alone"]
    cells = pl.DataFrame(
        {"column": [0, 1] * 3, "row": [0, 0, 1, 1, 2, 2], "outcome": outcomes,
         "competitor": [0] * 6, "strength": [0.0, 1.0, 1.0, 0.0, 0.0, 0.0]}
    )  # fmt: skip
    figure = build_winner_map(cells, scene())
    veil = trace(figure, "pale")["z"]
    most, undecided = figure["layout"]["meta"]["veils"]
    assert veil[0].tolist() == pytest.approx([most, 0.0])
    assert veil[1][0] == pytest.approx(undecided)
    assert np.isnan(veil[1][1])
    # Undecided keeps the leader's hue; equivalent is grey; the others have no fill.
    np.testing.assert_array_equal(trace(figure, "winners")["z"], [[0, 0], [0, 2], [np.nan, np.nan]])
    marks = trace(figure, "marks")
    assert marks["marker"]["symbol"] == ["x-thin-open", "circle-open"]
    names = [t["name"] for t in figure["data"] if t["meta"]["kind"] == "legend"]
    assert names[-4:] == [
        "equivalent: 1", "undecided, + runs: 1", "one alone: 1", "none meets the limit: 1",
    ]  # fmt: skip


def pareto(points: list[tuple]) -> dict:
    rows = pl.DataFrame(points, schema=["who", "y", "x", "at"], orient="row")
    rows = rows.with_columns(cell=pl.col("at") // 2)
    return build_pareto(rows, ParetoScene(P99, ENERGY, "Energy", MODES))


def test_the_pareto_view_has_a_frontier_a_competitor() -> None:
    # Of poll's three points (80, 100) is beaten by (60, 90); interrupt's only one is its frontier.
    figure = pareto([(1, 90.0, 60.0, 0), (1, 70.0, 90.0, 2), (1, 100.0, 80.0, 4), (0, 5.0, 5.0, 1)])
    drawn = [t for t in figure["data"] if t["meta"]["kind"] == "points"]
    assert [(t["name"], t["meta"]["at"].tolist()) for t in drawn] == [
        ("interrupt", [1]), ("classic polling", [0, 2, 4]),
    ]  # fmt: skip
    assert [t["meta"]["rows"].tolist() for t in drawn] == [[0], [0, 1, 2]]
    lines = {t["name"]: t for t in figure["data"] if t["meta"]["kind"] == "frontier"}
    assert lines["frontier of classic polling"]["x"].tolist() == [60.0, 90.0]
    assert lines["frontier of classic polling"]["y"].tolist() == [90.0, 70.0]
    assert figure["layout"]["xaxis"]["title"]["text"] == "p99 latency, us (less is better)"


def test_values_far_apart_are_drawn_on_a_log_scale_and_equal_ones_on_few_digits() -> None:
    # p99 from 60 to 6,000 us: 100 times; energies within a fifth of each other.
    layout = pareto([(1, 90.0, 60.0, 0), (1, 80.0, 6000.0, 1)])["layout"]
    assert (layout["xaxis"]["type"], layout["yaxis"]["type"]) == ("log", "linear")
    assert layout["xaxis"]["title"]["text"] == "p99 latency, us (less is better) · log scale"
    layout = pareto([(1, 126_024.3, 8.4, 0)])["layout"]
    assert layout["yaxis"]["range"] == pytest.approx([0.95 * 126_024.3, 1.05 * 126_024.3])
    assert layout["title"]["text"].endswith("1 point</span>")


def test_evidence_shows_every_replicate_and_means_with_intervals() -> None:
    runs = pl.DataFrame(
        {"who": [1, 1, 0, 1], "value": [10.0, 12.0, 22.0, 30.0], "run_id": list("abcd"),
         "is_best": [True, True, True, False]}
    )  # fmt: skip
    means = pl.DataFrame(
        {"who": [1, 0], "mean": [11.0, 22.0], "low": [1.0, None], "high": [23.7, None]},
        schema_overrides={"low": pl.Float64, "high": pl.Float64},
    )
    figure = build_evidence(runs, means, EvidenceScene(ENERGY, "cell", "", (1, 0), MODES))
    others, best = (t for t in figure["data"] if t["meta"]["kind"] == "replicates")
    assert [words[-1] for words in others["meta"]["words"]] == ["d"]
    assert [words[-1] for words in best["meta"]["words"]] == ["a", "b", "c"]
    assert best["y"].tolist() == [10.0, 12.0, 22.0]
    middle = figure["data"][-1]
    assert middle["y"].tolist() == [11.0, 22.0]
    assert middle["error_y"]["array"].tolist() == pytest.approx([12.7, 0.0])
    assert middle["error_y"]["arrayminus"].tolist() == pytest.approx([10.0, 0.0])
    # The best stands first, and every replicate near its own column.
    assert figure["layout"]["xaxis"]["ticktext"] == ["classic<br>polling", "interrupt"]
    assert np.rint(best["x"]).tolist() == [0, 0, 1]
    # Long names stand upright, cut where two of them still differ.
    labels = ("julia_of_512", "julia_of_256_and_more", "julia_of_rows")
    named = replace(MODES, labels=labels)
    scene = EvidenceScene(ENERGY, "cell", "", (0, 1, 2), named)
    layout = build_evidence(runs, means, scene)["layout"]
    assert layout["xaxis"]["ticktext"] == ["julia_of_512", "julia_of_25…", "julia_of_ro…"]
    assert (layout["xaxis"]["tickangle"], layout["margin"]["b"]) == (90, 98)


def test_a_legend_names_few_and_a_scale_many() -> None:
    assert MODES.has_legend
    many = competitors_of(SHIPPED.knobs["itr"], list(range(30)), (), {})
    assert not many.has_legend
    assert isinstance(many, Competitors)


def test_modes_have_the_same_symbols_on_both_pages() -> None:
    assert [storage_base.SYMBOLS[mode] for mode in MODE_HUES] == list(SYMBOLS[: len(MODE_HUES)])

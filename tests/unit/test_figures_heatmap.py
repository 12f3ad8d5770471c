"""The heatmap by its facts: cells, crosses, text, prefix, words for NULL."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from app.explore.figures.heat_traces import TEXT_MAX_CELLS
from app.explore.heat import build_heatmap
from app.kit.competitors import MOST_LEVELS
from data.catalogue import SHIPPED
from tests.fixtures.lakes import run, runs_from_text
from tests.fixtures.pictures import cells_of, pairs, traces

# Energies; the two runs at ITR 2, 1.3 GHz have a mean of 1,005 J. ITR 50 at 2.9 GHz: not measured.
TEXT = """
itr_us  dvfs_ghz  replicate  energy_j  instructions  cycles
2.0     1.3       0          1000.0    100           200
2.0     1.3       1          1010.0    100           200
2.0     2.9       0          2345.6    100           100
50.0    1.3       0          999.94    100           400
-       -         0          3000.0    -             -
"""


def draw(path: Path, column: str = "energy_j", rows: list | None = None) -> dict[str, Any]:
    cells = cells_of(path, rows or runs_from_text(TEXT), column, "linux_tuned")
    x, y = SHIPPED.knobs["itr"], SHIPPED.knobs["dvfs"]
    return build_heatmap(cells, SHIPPED.metric(column), "the title", "the subtitle", x, y)


def matrix(figure: dict[str, Any]) -> dict[tuple[str, str], float]:
    """Value of each measured cell by its two words: ITR, DVFS."""
    (cells,) = traces(figure, "cells")
    return {
        (x, y): cells["z"][i][j]
        for i, y in enumerate(cells["y"])
        for j, x in enumerate(cells["x"])
        if not np.isnan(cells["z"][i][j])
    }


@pytest.fixture(scope="module")
def figure(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return draw(tmp_path_factory.mktemp("heatmap"))


def test_cells_hold_means_in_the_prefix_of_the_colour_bar_with_spread_and_count(
    figure: dict[str, Any],
) -> None:
    (cells,) = traces(figure, "cells")
    assert cells["colorbar"]["title"]["text"] == "Energy, kJ"
    assert cells["x"] == ["2", "50", "adaptive"]
    assert cells["y"] == ["1.3", "2.9", "governor"]
    assert matrix(figure) == pytest.approx(
        {
            ("2", "1.3"): 1.005,
            ("2", "2.9"): 2.3456,
            ("50", "1.3"): 0.99994,
            ("adaptive", "governor"): 3.0,
        }
    )
    assert [list(row) for row in cells["text"]] == [
        ["1.00", "1.00", ""],  # 1.005 is a little less in binary
        ["2.35", "", ""],
        ["", "", "3.00"],
    ]
    width = len(cells["x"])
    sd, n = cells["meta"]["sd"], cells["meta"]["n"]
    assert (sd[0], n[0]) == (pytest.approx(50**0.5), 2)
    assert np.isnan(sd[width])  # one run has no deviation
    assert n[width] == 1


def test_what_was_not_measured_has_a_cross_and_is_not_caught_and_nothing_is_veiled(
    figure: dict[str, Any],
) -> None:
    (missing,) = traces(figure, "missing")
    assert missing["marker"]["symbol"] == "x-thin"
    assert set(pairs(missing)) == {
        ("50", "2.9"), ("adaptive", "1.3"), ("adaptive", "2.9"), ("2", "governor"),
        ("50", "governor"),
    }  # fmt: skip
    (catcher,) = traces(figure, "catcher")
    assert set(pairs(catcher)) == set(matrix(figure))
    (veil,) = traces(figure, "veil")
    assert [list(row) for row in veil["z"]] == [[None] * 3] * 3
    layout = figure["layout"]
    assert layout["xaxis"]["title"]["text"] == "Interrupt delay (ITR), us"
    assert layout["yaxis"]["title"]["text"] == "DVFS, GHz"
    assert layout["xaxis"]["type"] == layout["yaxis"]["type"] == "category"
    assert layout["title"]["text"].startswith("the title<br>")
    assert "the subtitle" in layout["title"]["text"]
    assert layout["meta"]["y_words"] == ["1.3 GHz", "2.9 GHz", "governor"]
    assert layout["meta"]["x_words"] == ["ITR 2 us", "ITR 50 us", "ITR adaptive"]


def test_long_names_beside_the_map_are_cut() -> None:
    names = ["Linux tuned", "a system of a long name"]
    columns = {"itr_us": 2.0, "mean": 1.0, "sd": 0.1, "n": 3}
    cells = pl.DataFrame({"system": names}).with_columns(
        **{k: pl.lit(v) for k, v in columns.items()}
    )
    x, y = SHIPPED.knobs["itr"], SHIPPED.knobs["system"]
    axis = build_heatmap(cells, SHIPPED.metric("energy_j"), "", "", x, y)["layout"]["yaxis"]
    assert axis["labelalias"] == {names[1]: "a system of a lon\u2026"}


def test_a_nearly_continuous_knob_is_binned(tmp_path: Path) -> None:
    rows = [run(itr_us=float(k), dvfs_ghz=1.3, energy_j=100.0 + k)
            for k in range(60)]  # fmt: skip
    figure = draw(tmp_path / "many", rows=rows)
    (cells,) = traces(figure, "cells")
    # 20 bins of three values; the mean of 0, 1 and 2 is 1.
    assert len(cells["x"]) == 20
    assert (cells["x"][0], cells["z"][0][0], cells["meta"]["n"][0]) == ("0 to 2", 101.0, 3)
    assert figure["layout"]["meta"]["map"]["xs"][0] == [0, 1, 2]
    assert figure["layout"]["meta"]["x_words"][-1] == "ITR 57 us to 59 us"
    assert "60 values of ITR in 20 bins" in figure["layout"]["title"]["text"]
    few = draw(tmp_path / "few", rows=rows[:MOST_LEVELS])
    assert len(traces(few, "cells")[0]["x"]) == MOST_LEVELS


def test_of_many_names_an_axis_has_those_of_the_highest_means() -> None:
    names = [f"m{k:02}" for k in range(MOST_LEVELS + 1)]
    means = pl.Series(np.arange(len(names), dtype=float))
    cells = pl.DataFrame({"machine": names, "itr_us": 2.0, "mean": means, "sd": 0.0, "n": 1})
    x, y = SHIPPED.knobs["machine"], SHIPPED.knobs["itr"]
    figure = build_heatmap(cells, SHIPPED.metric("energy_j"), "the title", "the subtitle", x, y)
    assert figure["layout"]["meta"]["map"]["xs"] == [f"m{k}" for k in range(25, 41)]
    assert "16 of 41 machines: the highest means" in figure["layout"]["title"]["text"]


def test_a_ratio_has_no_unit(tmp_path: Path) -> None:
    figure = draw(tmp_path, "ipc")
    (cells,) = traces(figure, "cells")
    assert cells["colorbar"]["title"]["text"] == "Instructions per cycle"
    assert matrix(figure) == {("2", "1.3"): 0.5, ("50", "1.3"): 0.25, ("2", "2.9"): 1.0}


def test_latency_keeps_its_microseconds(tmp_path: Path) -> None:
    rows = [run(latency_p99_us=25_000.0)]
    (cells,) = traces(draw(tmp_path, "latency_p99_us", rows), "cells")
    assert cells["colorbar"]["title"]["text"] == "p99 latency, us"
    assert cells["z"].tolist() == [[25_000.0]]
    # Many of another unit with a prefix are written as along an axis.
    own = cells_of(tmp_path / "own", rows, "latency_p99_us", "linux_tuned")
    measure = replace(SHIPPED.metric("latency_p99_us"), unit="ms")
    knobs = (SHIPPED.knobs["itr"], SHIPPED.knobs["dvfs"])
    (cells,) = traces(build_heatmap(own, measure, "", "", *knobs), "cells")
    assert cells["colorbar"]["title"]["text"] == "p99 latency, s"
    assert cells["z"].tolist() == [[25.0]]


@pytest.mark.parametrize(
    ("energy_j", "unit", "shown"), [(2.5e6, "MJ", 2.5), (950.0, "J", 950.0), (0.0, "J", 0.0)]
)
def test_the_largest_value_chooses_the_prefix(
    tmp_path: Path, energy_j: float, unit: str, shown: float
) -> None:
    (cells,) = traces(draw(tmp_path, rows=[run(energy_j=energy_j)]), "cells")
    assert cells["colorbar"]["title"]["text"] == f"Energy, {unit}"
    assert cells["z"].tolist() == [[shown]]


def test_a_fine_grid_has_colour_only(tmp_path: Path) -> None:
    rows = [run(itr_us=float(i % 30), dvfs_ghz=1.0 + i // 30, energy_j=1.0 + i)
            for i in range(TEXT_MAX_CELLS + 11)]  # fmt: skip
    (cells,) = traces(draw(tmp_path, rows=rows), "cells")
    assert "text" not in cells

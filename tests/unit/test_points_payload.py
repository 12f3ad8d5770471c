"""The drawn points as the browser gets them, decoded again."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from app.explore.scatter import KNOBS, encode_points
from app.kit.columns import encode_numbers
from data.analysis.coded_rows import Part
from data.catalogue import SHIPPED
from tests.fixtures.lakes import run, runs_from_text
from tests.fixtures.pictures import decode, points_of

MEASURED = {"x": "latency_p99_us", "y": "energy_j", "limited": "latency_mean_us"}
TEXT = """
system         itr_us  dvfs_ghz  replicate  energy_j    latency_p99_us
linux_tuned    2.0     2.9       0          1000.1      62.123456789
linux_tuned    2.0     2.9       1          1010.0      64.0
linux_tuned    50.0    1.3       0          500.0       110.0
linux_tuned    -       1.9       0          650.0       90.0
linux_default  -       -         0          2000.0      104.0
"""


def encoded(points: pl.DataFrame) -> dict[str, Any]:
    """The payload of points as Explore shows them without a choice."""
    return encode_points(Part.of(points), MEASURED, ("dvfs_ghz", "load_qps"), SHIPPED)


@pytest.fixture
def points(tmp_path: Path) -> pl.DataFrame:
    return points_of(tmp_path, runs_from_text(TEXT))


def test_every_knob_comes_back(points: pl.DataFrame) -> None:
    payload = encoded(points)
    assert payload["count"] == 4
    for name in KNOBS:
        knob = payload["knobs"][name]
        assert [knob["values"][i] for i in decode(knob["index"])] == points[name].to_list()
    assert payload["knobs"]["itr_us"]["values"] == [2.0, 50.0, None]


def test_what_the_study_varies_is_named_in_words_and_cells(points: pl.DataFrame) -> None:
    load, dvfs = encoded(points)["named"]
    assert (load["column"], load["title"], load["is_given"]) == ("load_qps", "load", True)
    assert dvfs == {
        "column": "dvfs_ghz",
        "title": "DVFS, GHz",
        "hint": "Processor frequency (DVFS)",
        "words": ["1.3 GHz", "1.9 GHz", "2.9 GHz", "governor"],
        "cells": [1.3, 1.9, 2.9, "governor"],
        "is_given": False,
    }


STORAGE_KNOBS = {"mode", "device", "rw", "request_bytes", "io_depth", "threads"}


def test_knobs_of_storage_travel_where_there_are_any(points: pl.DataFrame, tmp_path: Path) -> None:
    assert not encoded(points)["knobs"].keys() & STORAGE_KNOBS
    text = """
    itr_us  dvfs_ghz  mode  io_depth  energy_j  latency_p99_us
    -       -         poll  8         10.0      62.0
    -       -         -     16        11.0      64.0
    """
    knobs = encoded(points_of(tmp_path / "fio", runs_from_text(text)))["knobs"]
    assert knobs.keys() & STORAGE_KNOBS == {"mode", "io_depth"}
    assert knobs["mode"]["values"] == ["poll", None]


def test_every_number_comes_back(points: pl.DataFrame) -> None:
    payload = encoded(points)
    for column, name in MEASURED.items():
        np.testing.assert_array_equal(decode(payload["fields"][name]), points[column].to_numpy())
    # Default 104 us; Linux tuned by DVFS: 110 us, the mean of the two replicates, adaptive 90 us.
    assert decode(payload["fields"]["latency_mean_us"])[0] == 104.0
    assert decode(payload["runs"]).tolist() == [1, 1, 2, 1]
    assert decode(payload["logged"]).tolist() == [0, 0, 0, 0]


def test_what_was_not_measured_is_not_a_number(points: pl.DataFrame) -> None:
    spread = decode(encoded(points)["spreads"]["x"])
    assert spread.dtype == np.float32
    assert np.isnan(spread).tolist() == [True, True, False, True]
    blind = points.with_columns(limited=pl.lit(None, dtype=pl.Float64))
    assert np.isnan(decode(encoded(blind)["fields"]["latency_mean_us"])).all()


def test_replicates_are_known_for_runs_only(points: pl.DataFrame, tmp_path: Path) -> None:
    assert "replicate" not in encoded(points)["knobs"]
    runs = points_of(tmp_path / "runs", runs_from_text(TEXT), means=False)
    knob = encoded(runs)["knobs"]["replicate"]
    assert [knob["values"][i] for i in decode(knob["index"])] == runs["replicate"].to_list()


def test_labels_and_columns_of_a_clause(points: pl.DataFrame) -> None:
    assert encoded(points)["labels"] == {
        "linux_default": "Linux default", "linux_tuned": "Linux tuned",
    }  # fmt: skip
    clause = {"clause_x": pl.col("x"), "clause_y": pl.col("y")}
    measured = MEASURED | {"clause_x": "power_w", "clause_y": "edp_js"}
    asked = encode_points(Part.of(points.with_columns(**clause)), measured, (), SHIPPED)["fields"]
    assert decode(asked["power_w"]).tolist() == points["x"].to_list()
    assert decode(asked["edp_js"]).tolist() == points["y"].to_list()


def test_it_travels_as_json(points: pl.DataFrame) -> None:
    payload = encoded(points)
    assert json.loads(json.dumps(payload)) == payload


def test_what_is_the_same_everywhere_is_sent_once(points: pl.DataFrame) -> None:
    payload = encoded(points)
    assert payload["logged"] == {"dtype": "u1", "repeat": 0, "count": 4}
    assert payload["knobs"]["dataset"] == {
        "values": ["tiny"],
        "index": {"dtype": "u1", "repeat": 0, "count": 4},
    }
    assert payload["runs"]["dtype"] == "u1"
    assert "bdata" in payload["fields"]["energy_j"]
    many = points.with_columns(n=pl.Series([1, 300, 70_000, 2]))
    assert decode(encoded(many)["runs"]).tolist() == [1, 300, 70_000, 2]


@pytest.mark.parametrize(
    ("polling", "default", "words", "cell"),
    [
        (1, 0, "polling", "polling"),
        (0, 1, "ITR adaptive", "adaptive"),
        (1, 1, "ITR adaptive or polling", "adaptive or polling"),
    ],
)
def test_a_point_that_polls_has_no_adaptive_delay(
    tmp_path: Path, polling: int, default: int, words: str, cell: str
) -> None:
    rows = [run(system="ebbrt_poll", itr_us=None)] * polling
    rows += [run(system="linux_default", itr_us=None)] * default + [run()]
    points = points_of(tmp_path, rows)
    (itr,) = encode_points(Part.of(points), MEASURED, ("itr_us",), SHIPPED)["named"]
    assert (itr["words"], itr["cells"]) == (["ITR 2 us", words], [2.0, cell])


@pytest.mark.parametrize("values", [[1, 2**40], [7, 7]])
def test_whole_numbers_come_as_a_type_that_scripts_have(values: list[int]) -> None:
    payload = encode_numbers(np.array(values, np.int64))
    assert payload["dtype"] == "f8"
    assert decode(payload).tolist() == values

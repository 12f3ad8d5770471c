"""Means of storage configurations, by hand: pooled, subtracted, as shares; where the views look."""

import math

import polars as pl
import pytest
from scipy import stats

from data.analysis.storage_means import (
    by_source,
    mean_of_sums,
    pooled_means,
    shares_of_greatest,
    sum_of,
    write_minus_read,
)
from data.analysis.storage_runs import access_pair, at_place, chosen_place, place_words
from data.analysis.verdicts import LOADS_STORES
from data.reference import loads_stores
from data.selection import Selection

NOWHERE = {"device": None, "rw": None, "request_bytes": None}


def means(*rows: tuple[int, int, float, float | None, int]) -> pl.DataFrame:
    """Configurations: number, depth, mean power, its deviation, runs."""
    names = ("row", "io_depth", "power_w", "power_w_sd", "power_w_n")
    return pl.DataFrame(rows, schema=names, orient="row")


def test_a_pooled_mean_is_that_of_all_runs() -> None:
    # Runs of 10, 12 and of 14, 16, 18 W: a mean of 14 and squares of 16 + 4 + 0 + 4 + 16.
    rows = means((0, 1, 11.0, math.sqrt(2), 2), (1, 1, 16.0, 2.0, 3), (2, 8, 30.0, None, 1))
    first, single = pooled_means(rows, "power_w", ["io_depth"], True).iter_rows(named=True)
    assert first["power_w"] == 14
    assert first["power_w_sd"] == pytest.approx(math.sqrt(40 / 4))
    assert (first["power_w_n"], first["rows"]) == (5, [0, 1])
    half = stats.t.ppf(0.975, 4) * math.sqrt(10) / math.sqrt(5)
    assert first["power_w_spread"] == pytest.approx(half)
    assert (single["power_w"], single["rows"]) == (30, [2])
    assert math.isnan(single["power_w_spread"])


def test_a_difference_is_of_cells_that_have_both() -> None:
    read = pooled_means(means((0, 1, 20.0, 3.0, 2), (1, 8, 30.0, 1.0, 2)), "power_w", ["io_depth"],
                        False)  # fmt: skip
    write = pooled_means(means((2, 1, 25.0, 4.0, 2), (3, 32, 9.0, 1.0, 2)), "power_w",
                         ["io_depth"], False)  # fmt: skip
    (cell,) = write_minus_read(read, write, "power_w", ["io_depth"], False).to_dicts()
    assert (cell["io_depth"], cell["value"], cell["rows"]) == (1, 5, [0, 2])
    assert cell["spread"] == 5
    assert (cell["power_w"], cell["power_w_written"]) == (20, 25)


def test_shares_are_of_the_greatest_of_the_device_and_of_all_machines() -> None:
    rows = pl.DataFrame(
        {
            "row": [0, 1, 2], "device": ["b", "b", "a"], "rw": ["read"] * 3,
            "machine": ["m", "m", None], "dataset": ["lab"] * 3, "iops": [50.0, 200.0, 10.0],
            "power_w": [40.0, 80.0, 30.0],
        }
    )  # fmt: skip
    peaks = pl.DataFrame({"machine": ["lab", "m"], "peak_w": [60.0, 100.0]})
    shares = shares_of_greatest(rows, peaks)
    assert shares["row"].to_list() == [2, 0, 1]
    assert shares["rate_share"].to_list() == [1, 0.25, 1]
    assert shares["power_share"].to_list() == [0.3, 0.4, 0.8]


def test_the_place_is_the_usual_one_unless_another_has_runs() -> None:
    rows = pl.DataFrame(
        [
            ("disk", "write", 512, "interrupt", 1, 90), ("optane", "write", 4096, "poll", 1, 2),
            ("optane", "randread", 8192, "interrupt", 1, 2),
            ("optane", "randread", 4096, "poll", 2, 2), (None, "randread", 4096, None, 1, 99),
        ],
        schema=("device", "rw", "request_bytes", "mode", "io_depth", "runs"),
        orient="row",
    )  # fmt: skip
    usual = {"device": "optane", "rw": "randread", "request_bytes": 4096}
    assert chosen_place(rows, NOWHERE) == usual
    assert chosen_place(rows, usual | {"device": "tape", "request_bytes": 8192}) == usual | {
        "request_bytes": 8192
    }
    disk = chosen_place(rows, usual | {"device": "disk"})
    assert disk == {"device": "disk", "rw": "write", "request_bytes": 512}
    assert chosen_place(rows.clear(), usual) == NOWHERE
    assert place_words(disk) == "disk · write · 512 B"
    assert at_place(Selection(), disk | {"device": None}) == Selection.of(
        device=["none"], rw=["write"], request=[512.0]
    )
    assert access_pair("write") == ("read", "write")
    assert access_pair("rw") == ()


def test_loads_and_stores_by_the_sources_of_the_table() -> None:
    functions = pl.DataFrame(
        {
            "run_id": ["r"] * 4, "subsystem": ["block", "files", "user", "unknown"],
            "part": ["blk_poll", None, None, None], "loads_per_s": [5.0, 2.0, 9.0, None],
            "stores_per_s": [1.0, None, 9.0, None],
        }
    )  # fmt: skip
    named = loads_stores.sources()
    moved = by_source(functions)
    assert moved["subsystem"].to_list() == ["block", named[-1], loads_stores.UNKNOWN]
    assert moved[LOADS_STORES].to_list() == [6, 2, None]
    counted = moved.drop_nulls(LOADS_STORES).select("subsystem", "part", LOADS_STORES).rows()
    sums = {
        (row["source"], row["part"]): sum_of(row, counted)
        for row in loads_stores.table().rows
        if row["mode"] == "poll"
    }
    assert sums["total", "total"] == 8
    assert sums["block/", "sum"] == sums["block/", "blk_poll"] == 6
    mean = mean_of_sums([4.0, 8.0], False).row(0, named=True)
    assert (mean[LOADS_STORES], mean[f"{LOADS_STORES}_n"]) == (6, 2)
    assert mean[f"{LOADS_STORES}_spread"] == pytest.approx(math.sqrt(8))
    assert not len(mean_of_sums([], False))

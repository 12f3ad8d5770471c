"""Sentences about what is drawn."""

import polars as pl
import pytest

from app.kit.words import (
    axis_words,
    configuration_words,
    load_words,
    subject,
    synthetic_note,
)
from data.analysis.coded_rows import Part
from data.catalogue import SHIPPED


def places(*rows: tuple) -> Part:
    schema = {"workload": pl.String, "load_qps": pl.Float64, "message_bytes": pl.Int64}
    return Part.of(pl.DataFrame(list(rows), schema, orient="row"))


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"itr_us": 2.0, "dvfs_ghz": 2.9, "rapl_w": 135.0}, "ITR 2 us · 2.9 GHz · 135 W"),
        ({"itr_us": None, "dvfs_ghz": None, "rapl_w": None}, "ITR adaptive · governor"),
        ({"itr_us": 0.0, "dvfs_ghz": 1.2}, "ITR 0 us · 1.2 GHz"),
        ({"system": "ebbrt_poll", "itr_us": None, "dvfs_ghz": 2.9}, "polling · 2.9 GHz"),
        (
            {
                "itr_us": None,
                "dvfs_ghz": None,
                "mode": "poll",
                "device": "optane",
                "rw": "read",
                "request_bytes": 4096,
                "io_depth": 8,
                "threads": 1,
            },
            "optane · read · 4 KiB requests · depth 8 · 1 thread · classic polling · "
            "ITR adaptive · governor",
        ),
        ({"dvfs_ghz": 2.9, "mode": "interrupt"}, "interrupt · 2.9 GHz"),
        ({"device": None, "mode": None, "rapl_w": 60.0}, "60 W"),
        ({"system": "linux", "load_qps": 2e5, "machine": "c220g1"}, "c220g1"),
        ({}, ""),
    ],
)
def test_configurations(row: dict, words: str) -> None:
    assert configuration_words(row, row, catalogue=SHIPPED) == words


def test_a_knob_that_the_study_does_not_vary_is_left_out() -> None:
    row = {"itr_us": None, "dvfs_ghz": 2.9, "rapl_w": 135.0, "machine": "c220g1"}
    assert (
        configuration_words(row, {"dvfs_ghz", "machine"}, catalogue=SHIPPED) == "c220g1 · 2.9 GHz"
    )


@pytest.mark.parametrize(
    ("load_qps", "message_bytes", "words"),
    [
        (200_000, None, "200k QPS"), (52_500, None, "52.5k QPS"), (999, None, "999 QPS"),
        (1_000_000, None, "1M QPS"), (None, 524_288, "512 KiB"), (None, 1500, "1500 B"),
        (400_000, 8192, "400k QPS · 8 KiB"), (None, None, ""),
    ],
)  # fmt: skip
def test_loads(load_qps: float | None, message_bytes: float | None, words: str) -> None:
    assert load_words(load_qps, message_bytes) == words


def test_subjects_name_up_to_three_loads() -> None:
    assert subject(places(("nodejs", None, None))) == "node.js"
    assert subject(places(("memcached", 2e5, None), ("memcached", 4e5, None))) == (
        "memcached at 200k QPS, 400k QPS"
    )
    assert subject(places(*[("netpipe", None, 1 << i) for i in range(6, 10)])) == (
        "NetPIPE at 4 message sizes"
    )
    many = subject(places(*[(f"program_{i}", None, None) for i in range(9)]))
    assert many == "program_0, program_1, program_2, program_3, 5 more"


def test_axes() -> None:
    assert (
        axis_words("latency_p99_us", "energy_j", catalogue=SHIPPED) == "Energy against p99 latency"
    )
    assert axis_words("duration_s", "power_w", catalogue=SHIPPED).endswith(" against time")


@pytest.mark.parametrize(
    ("flags", "note"),
    [([], ""), ([False], ""), ([True], "synthetic data"), ([True, False], "partly synthetic data")],
)
def test_synthetic_note(flags: list, note: str) -> None:
    assert (
        synthetic_note(Part.of(pl.DataFrame({"is_synthetic": pl.Series(flags, dtype=pl.Boolean)})))
        == note
    )

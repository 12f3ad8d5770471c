"""Sentences about what is drawn."""

import polars as pl
import pytest

from app.kit.words import (
    axis_words,
    configuration_words,
    dvfs_word,
    itr_word,
    load_words,
    subject,
    synthetic_note,
)


def places(*rows: tuple) -> pl.DataFrame:
    schema = {"workload": pl.String, "load_qps": pl.Float64, "message_bytes": pl.Int64}
    return pl.DataFrame(list(rows), schema, orient="row")


def test_knobs() -> None:
    assert (itr_word(2.0), itr_word(None), itr_word(float("nan"))) == (
        "ITR 2 us", "ITR adaptive", "ITR adaptive",
    )  # fmt: skip
    assert (dvfs_word(2.9), dvfs_word(None)) == ("2.9 GHz", "governor")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"itr_us": 2.0, "dvfs_ghz": 2.9, "rapl_w": 135.0}, "ITR 2 us · 2.9 GHz · 135 W"),
        ({"itr_us": None, "dvfs_ghz": None, "rapl_w": None}, "ITR adaptive · governor"),
        ({"itr_us": 0.0, "dvfs_ghz": 1.2}, "ITR 0 us · 1.2 GHz"),
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
            "poll · optane · read · 4 KiB · depth 8 · 1 thread",
        ),
        ({"itr_us": None, "dvfs_ghz": 2.9, "mode": "poll"}, "poll · 2.9 GHz"),
    ],
)
def test_configurations(row: dict, words: str) -> None:
    assert configuration_words(row) == words


def test_loads() -> None:
    assert load_words(200_000.0, None) == "200k QPS"
    assert load_words(None, 524_288) == "512 KiB"
    assert load_words(None, None) == ""


def test_subjects_name_up_to_three_loads() -> None:
    assert subject(places(("nodejs", None, None))) == "node.js"
    assert subject(places(("memcached", 2e5, None), ("memcached", 4e5, None))) == (
        "memcached at 200k QPS, 400k QPS"
    )
    assert subject(places(*[("netpipe", None, 1 << i) for i in range(6, 10)])) == (
        "NetPIPE at 4 loads"
    )


def test_axes() -> None:
    assert axis_words("latency_p99_us", "energy_j") == "Energy against p99 latency"
    assert axis_words("duration_s", "power_w").endswith(" against time")


@pytest.mark.parametrize(
    ("flags", "note"),
    [([], ""), ([False], ""), ([True], "synthetic data"), ([True, False], "partly synthetic data")],
)
def test_synthetic_note(flags: list, note: str) -> None:
    assert (
        synthetic_note(pl.DataFrame({"is_synthetic": pl.Series(flags, dtype=pl.Boolean)})) == note
    )

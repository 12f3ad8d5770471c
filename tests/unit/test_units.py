"""How numbers are written, case by case."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.declared import Column
from data.knobs import knobs_of
from data.sweeps import share_words
from data.units import (
    MINUS,
    MISSING,
    counted,
    digits_between,
    format_bytes,
    format_change,
    format_digits,
    format_load,
    format_quantity,
    format_signed_ends,
    has_prefix,
    kind_of,
    lowered,
)

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("value", "text"),
    [(61.7, "61.7"), (0.0042, "0.00420"), (999.6, "1000"), (99.96, "100"), (1234.5, "1230"),
     (0, "0"), (-1.005, f"{MINUS}1.00"), (0.9996, "1.00"), (100, "100")],
)  # fmt: skip
def test_three_significant_digits(value: float, text: str) -> None:
    assert format_digits(value) == text


@pytest.mark.parametrize(
    ("unit", "kind"),
    [("mJ", "J"), ("uW", "W"), ("us", "s"), ("mA", "A"), ("J", "J"), ("images/s", "1/s"),
     ("1/s", "1/s"), ("J/image", "J/image"), ("%", "%"), ("", "")],
)  # fmt: skip
def test_kinds_of_units(unit: str, kind: str) -> None:
    assert kind_of(unit) == kind


def test_units_with_a_prefix_take_no_further_one() -> None:
    own = ["kWh/FU", "mJ", "us", "ns", "MB", "kgCO2eq", "kgCO2/kWh", "mJ/image", "MHz"]
    none = ["J", "Wh", "s", "B", "W", "J/token", "min", "", "1/s", "tokens/s", "%", "QPS"]
    assert [*map(has_prefix, (*own, *none))] == [True] * len(own) + [False] * len(none)
    assert [lowered(title) for title in ("PowerCap of a card", "Mean", "IOs")] == [
        "PowerCap of a card", "mean", "IOs",
    ]  # fmt: skip


@pytest.mark.parametrize(("value", "unit"), [(NAN, "us"), (INF, "")])
def test_a_quantity_that_is_no_number_is_missing(value: float, unit: str) -> None:
    """Other quantities: `fixtures/words.json`."""
    assert format_quantity(value, unit) == MISSING


def test_a_clock_that_was_set_is_written_exactly() -> None:
    column = Column("gpu_freq", "knob", "real", title="GPU clock", short="GPU", unit="Hz")
    write = knobs_of((column,))["c_gpu_freq"].words
    clocks = (306_000_000, 114_750_000.0, 1_300_500_000, 0)
    assert [write(hz) for hz in clocks] == [
        "GPU 306 MHz", "GPU 114.75 MHz", "GPU 1.3005 GHz", "GPU 0 Hz",
    ]  # fmt: skip


@given(st.floats(1e-6, 1e14), st.sampled_from(["J", "W", "s", "us", "B/s", "J s"]))
def test_a_quantity_is_never_long_nor_wrong(value: float, unit: str) -> None:
    text = format_quantity(value, unit)
    number, rest = text.split(" ", 1)
    scale = {"T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "m": 1e-3, "u": 1e-6}
    base = "s" if unit == "us" else unit
    shown = float(number) * (scale[rest[0]] if rest != base else 1.0)
    assert shown == pytest.approx(value * (1e-6 if unit == "us" else 1.0), rel=0.006)
    assert len(re.sub(r"^0\.0*|\.", "", number)) <= 3 or float(number) >= 1000


@pytest.mark.parametrize(
    ("fraction", "text"),
    [(-0.406, f"{MINUS}40.6 %"), (0.12, "+12.0 %"), (1.5, "+150 %"), (0.0, "+0 %"),
     (-0.00012, f"{MINUS}0.0120 %"), (None, MISSING), (INF, MISSING)],
)  # fmt: skip
def test_a_change_has_a_true_sign(fraction: float | None, text: str) -> None:
    assert format_change(fraction) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(64, "64 B"), (8192, "8 KiB"), (524_288, "512 KiB"), (1_048_576, "1 MiB"), (1 << 30, "1 GiB"),
     (1500, "1500 B"), (1536, "1.5 KiB"), (1_000_000, "1000000 B"), ((1 << 20) + 1024, "1025 KiB"),
     ((1 << 30) + 128, "1048576.125 KiB"), (None, MISSING)],
)  # fmt: skip
def test_sizes_are_powers_of_1024(count: float | None, text: str) -> None:
    assert format_bytes(count) == text


@pytest.mark.parametrize(
    ("qps", "text"),
    [(200_000.0, "200k QPS"), (50.0, "50 QPS"), (1_500_000.0, "1.5M QPS"), (NAN, MISSING)],
)
def test_loads(qps: float, text: str) -> None:
    assert format_load(qps) == text


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        (282.71, 283.34, ["282.7 J", "283.3 J"]),
        (280.7, 286.4, ["281 J", "286 J"]),
        (1227.04, 1227.31, ["1.2270 kJ", "1.2273 kJ"]),
        (-0.2, 0.7, [f"{MINUS}200 mJ", "700 mJ"]),
        (0.0, 0.0, ["0 J", "0 J"]),
        (NAN, NAN, [MISSING, MISSING]),
    ],
)
def test_the_ends_of_a_narrow_interval_differ(low: float, high: float, texts: list[str]) -> None:
    digits = digits_between(low, high)
    assert [format_quantity(end, "J", digits) for end in (low, high)] == texts


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (-60.741, -60.662, f"[{MINUS}60.74, {MINUS}60.66]"),
        (-39.52, 1.04, f"[{MINUS}39.5, +1.04]"),
        (12.0, None, "[+12.0, not bounded]"),
        (-99.998, -99.56, f"[{MINUS}99.9980, {MINUS}99.56]"),
        (-INF, 3.0, "[not bounded, +3.00]"),
    ],
)
def test_the_ends_of_a_narrow_change_differ(
    low: float | None, high: float | None, text: str
) -> None:
    assert format_signed_ends(low, high, "not bounded") == text


def test_a_share_beside_another_is_not_all() -> None:
    shares = (0.4051, 0.0044, 0.9956, 0.99973, 1.0, 0.0)
    assert [*map(share_words, shares)] == ["41", "0.44", "99.6", "99.97", "100", "0"]


def test_one_thing_is_no_plural() -> None:
    assert [counted(n, "more run") for n in (0, 1, 1204)] == [
        "0 more runs", "1 more run", "1,204 more runs",
    ]  # fmt: skip

"""Codes to knobs: the published settings, the exact decimal, and what cannot be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import FormatError
from ingest.settings.knobs import decode_dvfs, decode_hybrid_delay, decode_itr


@pytest.mark.parametrize(
    ("itr", "knobs"),
    [
        (0, (0.0, "static")),
        (1, (None, "adaptive")),
        (2, (2.0, "static")),
        (3, (2.0, "static")),
        (1022, (1022.0, "static")),
    ],
)
def test_itr(itr: int, knobs: tuple[float | None, str]) -> None:
    assert decode_itr(itr) == knobs


@pytest.mark.parametrize("itr", [-1, 1023, 5000])
def test_itr_that_the_register_cannot_hold_is_refused(itr: int) -> None:
    with pytest.raises(FormatError, match=f"bad ITR: {itr},"):
        decode_itr(itr)


@pytest.mark.parametrize(
    ("code", "knobs"),
    [
        ("0x1d00", (2.9, "static", "0x1d00")),
        ("0X1D00", (2.9, "static", "0x1d00")),
        ("0xc00", (1.2, "static", "0xc00")),
        ("0x0C00", (1.2, "static", "0xc00")),
        ("0xFFFF", (None, "governor", "0xffff")),
    ],
)
def test_dvfs(code: str, knobs: tuple[float | None, str, str]) -> None:
    assert decode_dvfs(code) == knobs


@given(st.integers(1, 254))
def test_ghz_is_the_decimal_that_people_write(ratio: int) -> None:
    assert repr(decode_dvfs(f"{ratio << 8:#x}")[0]) == f"{ratio // 10}.{ratio % 10}"


@pytest.mark.parametrize("code", ["", "1d00", "0x", "0xzz", "0x1d_00", "0x12345", "0x00"])
def test_dvfs_that_is_no_code_is_refused(code: str) -> None:
    with pytest.raises(FormatError, match="bad DVFS code"):
        decode_dvfs(code)


@pytest.mark.parametrize(
    ("text", "knobs"),
    [
        ("automatic", (None, "automatic")),
        ("0", (None, "automatic")),
        ("5", (5.0, "fixed")),
        ("2.5", (2.5, "fixed")),
    ],
)
def test_hybrid_delay(text: str, knobs: tuple[float | None, str]) -> None:
    assert decode_hybrid_delay(text) == knobs


@pytest.mark.parametrize("text", ["", "-1", "auto", "1e9", "nan", "0.0", "9" * 30])
def test_a_hybrid_delay_that_cannot_be_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match=f"bad hybrid delay: {text!r},"):
        decode_hybrid_delay(text)

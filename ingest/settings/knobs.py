"""Decode delays (ITR, hybrid polling) and processor frequency (DVFS) from names and tables."""

import re
from typing import Final

from data.errors import FormatError
from data.knob_table import STATED
from data.schema import KNOBS

ADAPTIVE_ITR: Final = 1
MAX_ITR_US: Final = 1022
GOVERNOR_DVFS: Final = "0xffff"
AUTOMATIC_DELAY: Final = "automatic"
# Columns of knobs that names and tables state in another form, or that ingest computes.
FOLLOWING: Final = frozenset(KNOBS) - {knob.stated_as for knob in STATED}

_HEX: Final = re.compile("0x[0-9a-f]+")
_DELAY: Final = re.compile(r"\d{1,9}(\.\d{1,9})?")


def decode_itr(itr: int) -> tuple[float | None, str]:
    """Decode an ITR value into the delay that the NIC keeps and the policy that sets it.

    Args:
        itr: As set in the driver: 0 = no throttling, 1 = adaptive, else microseconds.

    Returns:
        Delay in microseconds (None when adaptive), and `static` or `adaptive`. The register
        counts in steps of 2 us, so odd values above 1 round down.

    Raises:
        FormatError: Negative, or over 1022 us, which the register cannot hold.

    Source: Intel 82599 datasheet, register EITR; ixgbe's `rx-usecs`.
    """
    if itr == ADAPTIVE_ITR:
        return None, "adaptive"
    if not 0 <= itr <= MAX_ITR_US:
        raise FormatError(f"bad ITR: {itr}, expected 0 to {MAX_ITR_US} us")
    return float(itr - itr % 2), "static"


def decode_dvfs(code: str) -> tuple[float | None, str, str]:
    """Decode a DVFS code into a frequency, the policy that sets it, and the code in lower case.

    Args:
        code: Hexadecimal `IA32_PERF_CTL` value in any case; bits 15:8 are the ratio to the
            100 MHz bus clock. `0xffff` means that the governor chose.

    Returns:
        GHz (None under the governor), `static` or `governor`, and the normalised code.

    Raises:
        FormatError: Not hexadecimal, over 16 bits, or a ratio of 0.

    Source: Intel 64 and IA-32 Software Developer's Manual, volume 4, IA32_PERF_CTL.
    """
    normal = code.strip().lower()
    if normal == GOVERNOR_DVFS:
        return None, "governor", normal
    if not _HEX.fullmatch(normal):
        raise FormatError(f"bad DVFS code: {code!r}, expected hexadecimal such as 0x1d00")
    value = int(normal, 16)
    if not 0x100 <= value <= 0xFFFF:
        raise FormatError(f"bad DVFS code: {code!r}, expected 0x100 to 0xffff")
    return (value >> 8) / 10, "static", f"0x{value:x}"


def decode_hybrid_delay(text: str) -> tuple[float | None, str]:
    """Decode the sleep before hybrid polling into its length and the policy that sets it.

    Args:
        text: `automatic`, or microseconds above 0. As in the kernel's `io_poll_delay`, 0 is
            automatic as well: half of the mean service time.

    Returns:
        Delay in microseconds (None when automatic), and `fixed` or `automatic`.

    Raises:
        FormatError: Neither.

    Source: Linux, Documentation/ABI/stable/sysfs-block, `queue/io_poll_delay`.
    """
    if text in (AUTOMATIC_DELAY, "0"):
        return None, AUTOMATIC_DELAY
    if not _DELAY.fullmatch(text) or not float(text):
        raise FormatError(f"bad hybrid delay: {text!r}, expected {AUTOMATIC_DELAY} or microseconds")
    return float(text), "fixed"

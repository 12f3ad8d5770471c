"""Times as load generators print them, in microseconds with no digit more than they have."""

from typing import Final

US: Final = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6, "m": 60e6, "h": 3600e6}
# Decimals kept: a picosecond, below any clock's step.
_DECIMALS: Final = 6


def to_us(value: float, unit: str) -> float:
    """Convert a time; 6.602 ms are 6602.0, not 6601.999999999999.

    Args:
        unit: One of `US`.
    """
    return round(value * US[unit], _DECIMALS)

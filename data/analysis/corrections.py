"""Corrections of p values for many comparisons."""

from typing import Final, Literal

import numpy as np

from data.errors import DataError

Correction = Literal["none", "holm", "benjamini-hochberg"]


CORRECTIONS: Final[tuple[Correction, ...]] = ("none", "holm", "benjamini-hochberg")


def corrected(p: np.ndarray, correction: Correction) -> np.ndarray:
    """Correct p values for the number of tests; compare the results with the level directly.

    Args:
        p: Shape (k,); NaN where there was no test, which does not count.

    Returns:
        Shape (k,), at most 1. `holm` bounds the probability of any false win among all tests
        (Holm, Scandinavian Journal of Statistics 6, 1979); `benjamini-hochberg` bounds the share of
        false wins among the wins (Benjamini, Hochberg, J. Royal Statistical Society B 57(1), 1995).
    """
    if correction not in CORRECTIONS:
        raise DataError(f"no correction {correction!r}; known: {', '.join(CORRECTIONS)}")
    tested = ~np.isnan(p)
    if correction == "none" or not tested.any():
        return p.copy()
    out = np.full(len(p), np.nan)
    out[tested] = _holm(p[tested]) if correction == "holm" else _benjamini_hochberg(p[tested])
    return out


def _holm(p: np.ndarray) -> np.ndarray:
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    out = np.empty(len(p))
    out[order] = np.minimum(stepped, 1.0)
    return out


def _benjamini_hochberg(p: np.ndarray) -> np.ndarray:
    order = np.argsort(p, kind="stable")
    stepped = p[order] * len(p) / np.arange(1, len(p) + 1)
    out = np.empty(len(p))
    out[order] = np.minimum(np.minimum.accumulate(stepped[::-1])[::-1], 1.0)
    return out

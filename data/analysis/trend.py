"""A quadratic trend by least squares, its R², and its formula as text."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from data.errors import DataError
from data.units import MINUS, format_digits

# Any parabola through three points fits exactly, so at least four are needed.
LEAST_POINTS: Final = 4
_LEAST_PLACES: Final = 3


@dataclass(frozen=True, slots=True)
class Trend:
    """The parabola y = constant + linear x + quadratic x^2.

    Attributes:
        r_squared: Share of the variance of y that it explains; NaN where y does not vary.
        n: Number of points that it was fitted to.
    """

    constant: float
    linear: float
    quadratic: float
    r_squared: float
    n: int

    def at(self, x: np.ndarray) -> np.ndarray:
        """Return the values at `x`, in the same shape."""
        return self.constant + x * (self.linear + x * self.quadratic)

    def formula(self) -> str:
        """Return a text such as `y = 0.489 + 0.712 x - 0.201 x²`, three significant digits."""
        parts = [_signed(self.linear, "x"), _signed(self.quadratic, "x²")]
        return f"y = {format_digits(self.constant)} {' '.join(parts)}"

    def fit(self) -> str:
        """Return a text such as `R² = 0.983, n = 40`; without R² if it is undefined."""
        share = "" if np.isnan(self.r_squared) else f"R² = {self.r_squared:.3f}, "
        return f"{share}n = {self.n}"


def quadratic_trend(x: np.ndarray, y: np.ndarray) -> Trend | None:
    """Fit a quadratic by least squares.

    Args:
        x: Shape (n,).
        y: Shape (n,). Pairs in which either is not finite are left out.

    Returns:
        The trend, independent of the order of the points; None with fewer than four points, or
        with fewer than three different x, which do not determine a quadratic.

    Raises:
        DataError: The shapes differ.

    Source: Legendre, Nouvelles methodes, 1805; solved by singular values (LAPACK gelsd) around the
    middle of x, so that points far from 0 lose no digits.
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if x.shape != y.shape or x.ndim != 1:
        raise DataError(f"a trend needs two arrays of one shape, not {x.shape} and {y.shape}")
    finite = np.isfinite(x) & np.isfinite(y)
    x, y = x[finite], y[finite]
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    if len(x) < LEAST_POINTS or len(np.unique(x)) < _LEAST_PLACES:
        return None
    middle, width = (x[0] + x[-1]) / 2, (x[-1] - x[0]) / 2
    t = (x - middle) / width
    (a, b, c), *_ = np.linalg.lstsq(np.stack((np.ones_like(t), t, t * t), axis=1), y, rcond=None)
    left = float(np.sum((y - (a + t * (b + t * c))) ** 2))
    around = float(np.sum((y - y.mean()) ** 2))
    slope, bend = b / width, c / width**2
    return Trend(
        constant=float(a - middle * slope + middle * middle * bend),
        linear=float(slope - 2 * middle * bend),
        quadratic=float(bend),
        r_squared=1 - left / around if around > 0 else float("nan"),
        n=len(x),
    )


def _signed(value: float, power: str) -> str:
    return f"{MINUS if value < 0 else '+'} {format_digits(abs(value))} {power}"

"""Special functions."""

import math
from functools import cache


def digamma(x: float) -> float:
    shift = 0.0
    while x < 12:
        shift -= 1 / x
        x += 1
    y = 1 / x**2
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y / 132))))
    return shift + math.log(x) - 0.5 / x - series


def trigamma(x: float) -> float:
    shift = 0.0
    while x < 12:
        shift += 1 / x**2
        x += 1
    y = 1 / x**2
    series = y * (1 / 6 - y * (1 / 30 - y * (1 / 42 - y * (1 / 30 - y * 5 / 66))))
    return shift + 1 / x + 0.5 * y + series / x


def inverse_trigamma(value: float) -> float:
    low, high = 1e-6, 1e9
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if trigamma(middle) > value else (low, middle)
    return math.sqrt(low * high)


def beta_share(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function, by Lentz's continued fraction."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_share(b, a, 1 - x)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
        + a * math.log(x) + b * math.log1p(-x)
    ) / a  # fmt: skip
    tiny, c, d = 1e-300, 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    fraction = d
    for m in range(1, 500):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + step * d
            d = 1 / (d if abs(d) > tiny else tiny)
            c = 1 + step / c
            c = c if abs(c) > tiny else tiny
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * fraction


def t_above(t: float, df: float) -> float:
    """Return the probability that a t statistic is above t, which is not negative."""
    return 0.5 * beta_share(df / 2, 0.5, df / (df + t * t))


@cache
def quantile(p: float, df: float) -> float:
    """Return the value that a t statistic exceeds with probability p, below 0.5."""
    if not df > 0:
        return math.inf
    low, high = 0.0, 1.0
    while t_above(high, df) > p:
        low, high = high, 2 * high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if t_above(middle, df) > p else (low, middle)
    return (low + high) / 2


def sidak(alpha: float, comparisons: int) -> float:
    return -math.expm1(math.log1p(-alpha) / max(comparisons, 1))

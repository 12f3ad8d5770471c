"""Two-sample tests of many pairs at once: p values, their correction, effect sizes, intervals.

The formulas are those of `scipy.stats`, with which the tests compare them: its import takes 0.4 s
and 69 MB.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import Final, Literal

import numpy as np
from scipy.special import gammaln, ndtr, stdtr, stdtrit

from data.errors import DataError

Test = Literal["student", "welch", "mann-whitney"]

TESTS: Final[tuple[Test, ...]] = ("student", "welch", "mann-whitney")


@dataclass(frozen=True, slots=True)
class Samples:
    """The replicates of many groups, one group after the other.

    Attributes:
        values: Measured values, finite, shape (m,); ascending within each group, so that sums do
            not depend on the order in which runs are stored.
        starts: Index of each group's first value, then m, shape (groups + 1,).
    """

    values: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, groups: Sequence[Sequence[float]] | Sequence[np.ndarray]) -> "Samples":
        """Join groups; each needs at least one value.

        Raises:
            DataError: A group is empty, or a value is not finite; the message names the group.
        """
        sizes = np.array([len(group) for group in groups], dtype=np.int64)
        flat = np.concatenate([np.asarray(g, dtype=float) for g in groups]) if groups else _NOTHING
        return cls.flat(flat, sizes)

    @classmethod
    def flat(cls, values: np.ndarray, sizes: np.ndarray) -> "Samples":
        """Build samples from values that are already grouped; raises as `of`.

        Args:
            values: Shape (m,), in any order within a group.
            sizes: Values in each group, shape (groups,), sum m.
        """
        group = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        if (np.asarray(sizes) < 1).any():
            raise DataError(f"group {int(np.argmin(sizes))} holds no value")
        if not np.isfinite(values).all():
            where = int(np.flatnonzero(~np.isfinite(values))[0])
            raise DataError(f"a value is not finite: {values[where]} in group {group[where]}")
        starts = np.concatenate(([0], np.cumsum(sizes)))
        ascending = (np.diff(values) >= 0) | (np.diff(group) > 0)
        return cls(values if ascending.all() else values[np.lexsort((values, group))], starts)

    @property
    def n(self) -> np.ndarray:
        """Replicates of each group, shape (groups,)."""
        return np.diff(self.starts)

    def __getitem__(self, group: int) -> np.ndarray:
        return self.values[self.starts[group] : self.starts[group + 1]]

    def block(self, groups: np.ndarray, size: int) -> np.ndarray:
        """Return the values of groups that all have `size` values, shape (len(groups), size)."""
        return self.values[self.starts[groups][:, None] + np.arange(size)]


_NOTHING: Final = np.zeros(0)
# Mann-Whitney's distribution is exact where one of the groups has at most so many replicates.
_EXACT_MOST: Final = 8
_PAIRINGS_AT_ONCE: Final = 4_000_000


@dataclass(frozen=True, slots=True)
class Moments:
    """Replicates, mean and sample standard deviation (NaN for one replicate) of each group."""

    n: np.ndarray
    mean: np.ndarray
    sd: np.ndarray


def moments(samples: Samples) -> Moments:
    """Compute mean and deviation of each group.

    Both are computed relative to the group's minimum, so that equal values give exactly that value
    and a deviation of exactly 0.
    """
    n, first = samples.n, samples.starts[:-1]
    if not len(n):
        return Moments(n, _NOTHING, _NOTHING)
    base = samples.values[first]
    shifted = samples.values - np.repeat(base, n)
    excess = np.add.reduceat(shifted, first) / n
    shifted -= np.repeat(excess, n)
    shifted *= shifted
    sd = np.sqrt(np.add.reduceat(shifted, first) / np.maximum(n - 1, 1))
    return Moments(n, base + excess, np.where(n > 1, sd, np.nan))


def compare_pairs(
    test: Test,
    samples: Samples,
    groups: Moments,
    better: np.ndarray,
    worse: np.ndarray,
    sign: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Test pairs of groups against each other, two-sided, and compute their effect sizes.

    Args:
        groups: `moments(samples)`.
        better: Index of each pair's group with the better mean, shape (k,).
        worse: Index of the other group, shape (k,).
        sign: 1 where more is better, -1 where less is.

    Returns:
        p values and effect sizes, shape (k,) each; NaN where a group has fewer than two replicates.

        For t tests the effect size is Hedges' g: the difference of the means divided by the pooled
        standard deviation, times the exact factor that removes the bias of small samples. It is
        never below 0, and infinite without any spread; without spread and difference p and g are
        NaN. For Mann-Whitney it is the probability that a run of the better group beats one of the
        other, with equal values counted half (0.5: no difference).

    Raises:
        DataError: No such test.

    Source: Student, Biometrika 6(1), 1908; Welch, Biometrika 34, 1947; Mann, Whitney, Annals of
        Mathematical Statistics 18(1), 1947 (exact without equal values where a group has up to 8
        replicates, else normal with continuity); Hedges, J. Educational Statistics 6(2), 1981.
    """
    if test not in TESTS:
        raise DataError(f"no test {test!r}; known: {', '.join(TESTS)}")
    enough = (groups.n[better] > 1) & (groups.n[worse] > 1)
    p, effect = np.full(len(better), np.nan), np.full(len(better), np.nan)
    a, b = better[enough], worse[enough]
    if len(a) and test == "mann-whitney":
        p[enough], chance = _mann_whitney(samples, a, b)
        effect[enough] = chance if sign > 0 else 1 - chance
    elif len(a):
        p[enough] = t_test(groups, a, b, equal_variance=test == "student")
        effect[enough] = _hedges_g(groups, a, b)
    return p, effect


def t_test(
    groups: Moments, a: np.ndarray, b: np.ndarray, equal_variance: bool = True
) -> np.ndarray:
    """Test pairs of groups by their moments, two-sided.

    Args:
        a: The first group of each pair, shape (k,).
        b: The second.
        equal_variance: Student's test instead of Welch's.

    Returns:
        p values, shape (k,); NaN where a group has fewer than two replicates, or where neither
        spread nor difference is there.
    """
    error, df = _error(groups, a, b, equal_variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(2 * stdtr(df, -np.abs(groups.mean[a] - groups.mean[b]) / error))


def equivalence(groups: Moments, a: np.ndarray, b: np.ndarray, margin: np.ndarray) -> np.ndarray:
    """Test whether the means of pairs differ by less than a margin: two one-sided Student's tests.

    Args:
        a: The first group of each pair, shape (k,).
        b: The second.
        margin: Above 0, in the unit of the values, shape (k,).

    Returns:
        The larger of the two p values, shape (k,): at most the level where the means are as good as
        equal. NaN where a group has fewer than two replicates.
    Source: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15(6), 1987.
    """
    error, df = _error(groups, a, b, equal_variance=True)
    lead = groups.mean[a] - groups.mean[b]
    with np.errstate(divide="ignore", invalid="ignore"):
        below, above = (stdtr(df, (side * lead - margin) / error) for side in (1.0, -1.0))
    return np.maximum(below, above)


def difference_half_widths(
    groups: Moments,
    a: np.ndarray,
    b: np.ndarray,
    equal_variance: bool,
) -> np.ndarray:
    """Return the half width of the 95 % interval of each pair's difference of means.

    Args:
        a, b, equal_variance: As of `t_test`.

    Returns:
        Shape (k,), in the unit of the values; NaN where a group has fewer than two replicates.
    """
    error, df = _error(groups, a, b, equal_variance)
    return np.asarray(stdtrit(df, 0.975) * error)


def _error(
    groups: Moments, a: np.ndarray, b: np.ndarray, equal_variance: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the standard error of each difference of means, and its degrees of freedom."""
    n_a, n_b = groups.n[a].astype(float), groups.n[b].astype(float)
    square_a, square_b = groups.sd[a] ** 2, groups.sd[b] ** 2
    if equal_variance:
        df = n_a + n_b - 2
        pooled = ((n_a - 1) * square_a + (n_b - 1) * square_b) / df
        return np.sqrt(pooled * (1 / n_a + 1 / n_b)), df
    of_a, of_b = square_a / n_a, square_b / n_b
    with np.errstate(divide="ignore", invalid="ignore"):
        df = (of_a + of_b) ** 2 / (of_a**2 / (n_a - 1) + of_b**2 / (n_b - 1))
    # Without any spread the number does not matter.
    return np.sqrt(of_a + of_b), np.where(np.isnan(df), 1.0, df)


def _hedges_g(groups: Moments, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    freedom = groups.n[a] + groups.n[b] - 2.0
    squares = (groups.n[a] - 1) * groups.sd[a] ** 2 + (groups.n[b] - 1) * groups.sd[b] ** 2
    unbiased = np.exp(gammaln(freedom / 2) - gammaln((freedom - 1) / 2)) / np.sqrt(freedom / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return unbiased * np.abs(groups.mean[a] - groups.mean[b]) / np.sqrt(squares / freedom)


def _mann_whitney(samples: Samples, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return p values and the probability that `a` is above `b`; ties count half.

    Pairs of the same sizes are computed together. Their distribution is exact where no value
    occurs twice in a pair and one of the sizes is at most 8.
    """
    p, chance = np.empty(len(a)), np.empty(len(a))
    sizes = np.stack((samples.n[a], samples.n[b]), axis=1)
    kinds, kind = np.unique(sizes, axis=0, return_inverse=True)
    for number, (n_a, n_b) in enumerate(kinds.tolist()):
        pairs = np.flatnonzero(kind.ravel() == number)
        first, second = samples.block(a[pairs], n_a), samples.block(b[pairs], n_b)
        u = _wins(first, second)
        chance[pairs] = u / (n_a * n_b)
        ordered = np.sort(np.hstack((first, second)), axis=1)
        repeats = (np.diff(ordered, axis=1) == 0).any(axis=1)
        most = np.maximum(u, n_a * n_b - u)
        p[pairs] = _normal_tail(most, ordered, n_a, n_b)
        if min(n_a, n_b) <= _EXACT_MOST:
            tail = _rank_sum_tail(min(n_a, n_b), max(n_a, n_b))
            exact = tail[np.ceil(most).astype(np.int64)]
            p[pairs] = np.where(repeats, p[pairs], exact)
        p[pairs] = np.minimum(2 * p[pairs], 1.0)
    return p, chance


def _wins(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return in how many pairings of two groups the value of the first is higher; ties count half.

    Args:
        first, second: Values of the two groups of each pair, shapes (k, n_first), (k, n_second).
    """
    won = np.empty(len(first))
    step = max(_PAIRINGS_AT_ONCE // (first.shape[1] * second.shape[1]), 1)
    for start in range(0, len(first), step):
        here = slice(start, start + step)
        a, b = first[here, :, None], second[here, None, :]
        won[here] = (a > b).sum(axis=(1, 2)) + (a == b).sum(axis=(1, 2)) / 2
    return won


def _normal_tail(u: np.ndarray, ordered: np.ndarray, n_a: int, n_b: int) -> np.ndarray:
    """Return P(U >= u) of the normal approximation, with continuity and corrected for ties."""
    n = n_a + n_b
    # Runs of equal values: t^3 - t is the sum of 3 k (k - 1) over their places k from 1.
    tied = np.ones(ordered.shape)
    for i in range(1, n):
        tied[:, i] = np.where(ordered[:, i] == ordered[:, i - 1], tied[:, i - 1] + 1, 1)
    ties = (3 * tied * (tied - 1)).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation = np.sqrt(n_a * n_b / 12 * (n + 1 - ties / (n * (n - 1))))
        return np.asarray(ndtr(-(u - n_a * n_b / 2 - 0.5) / deviation))


@lru_cache(maxsize=128)
def _rank_sum_tail(fewer: int, more: int) -> np.ndarray:
    """Return P(U >= u) for u from 0 to fewer x more, without equal values.

    The number of orders with a given U follows from which group the largest value is in.
    """
    total = fewer * more
    counts = np.zeros((fewer + 1, total + 1))
    counts[:, 0] = 1.0
    for size in range(1, more + 1):
        for k in range(1, fewer + 1):
            # The largest is of the smaller group: it is above all `size` others.
            grown = counts[k].copy()
            grown[size:] += counts[k - 1, : total + 1 - size]
            counts[k] = grown
    orders = counts[fewer]
    return np.asarray(np.cumsum(orders[::-1])[::-1] / orders.sum())


def smallest_p(test: Test, n_first: np.ndarray, n_second: np.ndarray) -> np.ndarray:
    """Return the smallest p value that samples of these sizes can have, shape (k,).

    It is 0 for a t test. For Mann-Whitney it is 2 / C(n1 + n2, n1), if every value of one group is
    below every value of the other. If it is above the level, the test cannot reject: 3 against 3
    replicates are too few at 5 %. It is 1 where a group has fewer than two replicates.
    """
    pairs, inverse = np.unique(np.stack((n_first, n_second), axis=1), axis=0, return_inverse=True)
    is_ranked = test == "mann-whitney"
    bounds = [
        1.0 if min(a, b) < 2 else 2 / comb(int(a + b), int(a)) if is_ranked else 0.0
        for a, b in pairs
    ]
    return np.array(bounds, dtype=float)[inverse.ravel()]


def mean_half_widths(groups: Moments, confidence: float = 0.95) -> np.ndarray:
    """Return the half width of each mean's confidence interval (Student's t); NaN for n = 1.

    Args:
        confidence: Between 0 and 1.

    Returns:
        Shape (groups,), in the unit of the values.
    """
    enough = groups.n > 1
    # One quantile per group size: most groups of a map have the same size.
    sizes, size = np.unique(np.where(enough, groups.n, 2), return_inverse=True)
    quantile = stdtrit(sizes - 1.0, 0.5 + confidence / 2)[size]
    return np.where(enough, quantile * groups.sd / np.sqrt(groups.n), np.nan)

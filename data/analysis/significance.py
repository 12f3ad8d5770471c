"""Two-sample tests of many pairs at once: p values, their correction, effect sizes, intervals.

`scipy.stats` does the arithmetic. It is imported at the first comparison, since the import takes
0.4 s and 69 MB, which `ingest` and pages without comparisons should not pay.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Final, Literal

import numpy as np

from data.errors import DataError

Test = Literal["student", "welch", "mann-whitney"]
Correction = Literal["none", "holm", "benjamini-hochberg"]

TESTS: Final[tuple[Test, ...]] = ("student", "welch", "mann-whitney")
CORRECTIONS: Final[tuple[Correction, ...]] = ("none", "holm", "benjamini-hochberg")


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


def load_statistics() -> None:
    """Import scipy's tests now, so that the first comparison does not wait for the import."""
    import scipy.special
    import scipy.stats  # noqa: F401


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
    test: Test, samples: Samples, found: Moments, better: np.ndarray, worse: np.ndarray, sign: float
) -> tuple[np.ndarray, np.ndarray]:
    """Test pairs of groups against each other, two-sided, and compute their effect sizes.

    Args:
        found: `moments(samples)`.
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

    Source: `scipy.stats.ttest_ind_from_stats` (Student, Welch) and `scipy.stats.mannwhitneyu`
        (exact without equal values and up to 8 replicates, else normal with continuity);
        Hedges, Journal of Educational Statistics 6(2), 1981.
    """
    if test not in TESTS:
        raise DataError(f"no test {test!r}; known: {', '.join(TESTS)}")
    enough = (found.n[better] > 1) & (found.n[worse] > 1)
    p, effect = np.full(len(better), np.nan), np.full(len(better), np.nan)
    a, b = better[enough], worse[enough]
    if len(a) and test == "mann-whitney":
        p[enough], chance = _mann_whitney(samples, a, b)
        effect[enough] = chance if sign > 0 else 1 - chance
    elif len(a):
        p[enough] = t_test(found, a, b, equal_variance=test == "student")
        effect[enough] = _hedges_g(found, a, b)
    return p, effect


def t_test(found: Moments, a: np.ndarray, b: np.ndarray, equal_variance: bool = True) -> np.ndarray:
    """Test pairs of groups by their moments, two-sided.

    Args:
        a: The first group of each pair, shape (k,).
        b: The second.
        equal_variance: Student's test instead of Welch's.

    Returns:
        p values, shape (k,); NaN where a group has fewer than two replicates, or where neither
        spread nor difference is there.
    Source: `scipy.stats.ttest_ind_from_stats`.
    """
    return _p_of(found, a, b, found.mean[b], "two-sided", equal_variance)


def equivalence(found: Moments, a: np.ndarray, b: np.ndarray, margin: np.ndarray) -> np.ndarray:
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
    low = _p_of(found, a, b, found.mean[b] - margin, "greater", equal_variance=True)
    high = _p_of(found, a, b, found.mean[b] + margin, "less", equal_variance=True)
    return np.maximum(low, high)


def _p_of(
    found: Moments, a: np.ndarray, b: np.ndarray, mean: np.ndarray, side: str, equal_variance: bool
) -> np.ndarray:
    """p values of group `a` against `b` as if that had this mean."""
    from scipy.stats import ttest_ind_from_stats

    with np.errstate(divide="ignore", invalid="ignore"):
        result = ttest_ind_from_stats(
            found.mean[a], found.sd[a], found.n[a], mean, found.sd[b], found.n[b],
            equal_var=equal_variance, alternative=side,
        )  # fmt: skip
    return np.asarray(result.pvalue)


def _hedges_g(found: Moments, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    from scipy.special import gammaln

    freedom = found.n[a] + found.n[b] - 2.0
    squares = (found.n[a] - 1) * found.sd[a] ** 2 + (found.n[b] - 1) * found.sd[b] ** 2
    unbiased = np.exp(gammaln(freedom / 2) - gammaln((freedom - 1) / 2)) / np.sqrt(freedom / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return unbiased * np.abs(found.mean[a] - found.mean[b]) / np.sqrt(squares / freedom)


def _mann_whitney(samples: Samples, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return p values and the probability that `a` is above `b`; ties count half.

    Calls scipy once for all pairs of the same sizes, and separately for pairs with equal values:
    scipy chooses the exact or the normal distribution once per call, by whether any value occurs
    twice.
    """
    from scipy.stats import mannwhitneyu

    p, chance = np.empty(len(a)), np.empty(len(a))
    sizes = np.stack((samples.n[a], samples.n[b]), axis=1)
    kinds, kind = np.unique(sizes, axis=0, return_inverse=True)
    for number, (n_a, n_b) in enumerate(kinds):
        pairs = np.flatnonzero(kind.ravel() == number)
        both = np.hstack((samples.block(a[pairs], n_a), samples.block(b[pairs], n_b)))
        repeats = (np.diff(np.sort(both, axis=1), axis=1) == 0).any(axis=1)
        for alike in (np.flatnonzero(repeats), np.flatnonzero(~repeats)):
            if len(alike):
                with np.errstate(divide="ignore", invalid="ignore"):
                    result = mannwhitneyu(both[alike, :n_a], both[alike, n_a:], axis=1)
                p[pairs[alike]] = result.pvalue
                chance[pairs[alike]] = result.statistic / (n_a * n_b)
    return p, chance


def smallest_p(test: Test, n_first: np.ndarray, n_second: np.ndarray) -> np.ndarray:
    """Return the smallest p value that samples of these sizes can have, shape (k,).

    It is 0 for a t test. For Mann-Whitney it is 2 / C(n1 + n2, n1), if every value of one group is
    below every value of the other. If it is above the level, the test cannot reject: 3 against 3
    replicates are too few at 5 %. It is 1 where a group has fewer than two replicates.
    """
    pairs, inverse = np.unique(np.stack((n_first, n_second), axis=1), axis=0, return_inverse=True)
    bounds = [1.0 if min(a, b) < 2 else _bound(test, int(a), int(b)) for a, b in pairs]
    return np.array(bounds, dtype=float)[inverse.ravel()]


def _bound(test: Test, n_first: int, n_second: int) -> float:
    return 2 / comb(n_first + n_second, n_first) if test == "mann-whitney" else 0.0


def corrected(p: np.ndarray, correction: Correction) -> np.ndarray:
    """Correct p values for the number of tests; compare the results with the level directly.

    Args:
        p: Shape (k,); NaN where there was no test, which does not count.

    Returns:
        Shape (k,), at most 1. `holm` bounds the probability of any false win among all tests
        (Holm, Scandinavian Journal of Statistics 6, 1979); `benjamini-hochberg` bounds the share of
        false wins among the wins (`scipy.stats.false_discovery_control`).
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
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(p))


def mean_half_widths(found: Moments, confidence: float = 0.95) -> np.ndarray:
    """Return the half width of each mean's confidence interval (Student's t); NaN for n = 1.

    Args:
        confidence: Between 0 and 1.

    Returns:
        Shape (groups,), in the unit of the values.
    """
    from scipy.special import stdtrit

    enough = found.n > 1
    # One quantile per group size: most groups of a map have the same size.
    sizes, size = np.unique(np.where(enough, found.n, 2), return_inverse=True)
    quantile = stdtrit(sizes - 1.0, 0.5 + confidence / 2)[size]
    return np.where(enough, quantile * found.sd / np.sqrt(found.n), np.nan)

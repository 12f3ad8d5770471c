"""Which knobs matter: shares of the variance of one run that knobs, pairs of knobs and noise have.

The population is the settings that were measured, each with the same weight, so that replicates
make no setting more important. All values are on the scale of `data.analysis.noise`.

Source: Lindeman, Merenda, Gold, Introduction to Bivariate and Multivariate Analysis, 1980, for the
shares of knobs (Shapley values of explained sums of squares); Watanabe, Bansal, Hutter, IJCAI 2023,
for importance among the best.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import comb
from typing import Final

import numpy as np

from data.analysis.noise import Estimates

# Knobs are set together if either explains so much of the other's levels.
ALIASED_AT: Final = 0.9
# Pairs are shown only if at least this share of all combinations of levels was measured.
LEAST_GRID: Final = 0.2
DRAWS: Final = 200
# More knobs are averaged over random orders instead of all subsets.
MOST_KNOBS: Final = 12
ORDERS: Final = 256
BEST_SHARE: Final = 0.1
_LEAST_BEST: Final = 5
_LEAST_SETTINGS: Final = 40
_PIVOT: Final = 1e-9
# On a full grid pairs take exactly what knobs leave.
_EXACT: Final = 1e-9

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Importance:
    """Shares of the variance of one run; they sum to 1.

    Attributes:
        mains: Of each knob, shape (knobs,); 0 for a knob with one level.
        low, high: Their intervals of 95 %, shape (knobs,); NaN without draws.
        pairs: Of each pair of knobs beyond their own shares.
        rest: What settings differ by beyond knobs and pairs.
        noise: Between runs of one setting.
        is_overlapping: Pairs were scaled, because holes in the grid let them share variance.
        aliased: Pairs of knobs that were set together.
        local: Share of each knob in being among the best tenth, shape (knobs,); NaN with too few
            settings.
        grid_share: Share of all combinations of levels that was measured.
    """

    mains: np.ndarray
    low: np.ndarray
    high: np.ndarray
    pairs: dict[Pair, float]
    rest: float
    noise: float
    is_overlapping: bool
    aliased: tuple[Pair, ...]
    local: np.ndarray
    grid_share: float


def importance(
    codes: np.ndarray,
    settings: Estimates,
    raw_variance: np.ndarray,
    seed: int,
    draws: int = DRAWS,
    is_allowed: np.ndarray | None = None,
) -> Importance:
    """Rank the knobs of one choice.

    Args:
        codes: Level of each knob in each setting, integers from 0, shape (settings, knobs).
        settings: What the runs of each setting say, shape (settings,).
        raw_variance: Sample variance of each setting's runs, NaN for one run, shape (settings,).
        seed: Of the draws; derive it from the input, so that the same runs give the same intervals.
        draws: Draws for the intervals; 0 for none.
        is_allowed: Settings that are ranked for `local`, such as those not outside a limit.

    Returns:
        Shares that do not depend on the order of the settings.
    """
    order = np.lexsort((settings.mean, *codes.T))
    codes, settings, raw_variance = codes[order], settings.at(order), raw_variance[order]
    rng = np.random.Generator(np.random.PCG64(seed))
    # Settings with one run have the pooled variance.
    freedom = np.where(settings.n > 1, settings.n - 1, 0)
    pooled = np.nansum(freedom * np.nan_to_num(raw_variance)) / max(freedom.sum(), 1)
    raw = np.where(settings.n > 1, raw_variance, pooled)
    noise, error = float(raw.mean()), float((raw / settings.n).mean())
    design = _Design(codes)
    noises = rng.standard_normal((len(codes), draws)) * np.sqrt(settings.variance)[:, None]
    drawn = settings.mean[:, None] + np.column_stack([np.zeros(len(codes)), noises])
    # A draw carries the noise of the means twice.
    errors = np.full(draws + 1, error + float(np.mean(settings.variance)))
    errors[0] = error
    between = np.maximum(design.total(drawn) - (len(codes) - 1) * errors, 0)
    mains = np.maximum(_shapley(design, drawn, errors, rng), 0)
    total = between + len(codes) * noise
    grid_share = len(codes) / float(np.prod([float(level) for level in design.levels]))
    pairs = design.pairs(settings.mean, error) if grid_share >= LEAST_GRID else {}
    room = max(float(between[0] - mains[:, 0].sum()), 0.0)
    sum_of_pairs = sum(pairs.values())
    scale = min(1.0, room / sum_of_pairs) if sum_of_pairs > 0 else 1.0
    shares = mains / np.where(total > 0, total, 1.0)
    low, high = (
        np.quantile(shares[:, 1:], [0.025, 0.975], axis=1)
        if draws
        else np.full((2, codes.shape[1]), np.nan)
    )
    scaled = {pair: value * scale / total[0] for pair, value in pairs.items()}
    # What exceeds `between` is the knobs' own: then nothing is left for the rest.
    rest = max(room - sum_of_pairs * scale, 0.0) / total[0]
    return Importance(
        shares[:, 0], low, high, scaled, rest, len(codes) * noise / total[0],
        scale < 1 - _EXACT, design.aliased(),
        _local(codes, settings.mean, None if is_allowed is None else is_allowed[order]),
        grid_share,
    )  # fmt: skip


class _Design:
    """The dummies of all knobs, each without its first level, centred: cross-counts only."""

    def __init__(self, codes: np.ndarray) -> None:
        self.codes = codes
        self.levels = [int(column.max(initial=0)) + 1 for column in codes.T]
        starts = np.cumsum([0, *(level - 1 for level in self.levels)])
        self.columns = [np.arange(a, b) for a, b in pairwise(starts)]
        gram = np.zeros((starts[-1], starts[-1]))
        for k, own in enumerate(self.columns):
            for m, other in enumerate(self.columns):
                gram[np.ix_(own, other)] = self._counts(k, m)[1:, 1:]
        self._n = np.concatenate([np.bincount(c)[1:] for c in codes.T]).astype(float)
        self._gram = gram - np.outer(self._n, self._n) / len(codes)

    def _counts(self, k: int, m: int) -> np.ndarray:
        size = self.levels[k] * self.levels[m]
        joint = self.codes[:, k] * self.levels[m] + self.codes[:, m]
        return np.bincount(joint, minlength=size).reshape(self.levels[k], self.levels[m])

    def total(self, y: np.ndarray) -> np.ndarray:
        """Return the sum of squares about the mean, shape (y's columns,)."""
        return np.asarray(((y - y.mean(axis=0)) ** 2).sum(axis=0))

    def products(self, y: np.ndarray) -> np.ndarray:
        """Return the dummies times y about its mean, shape (dummies, y's columns)."""
        dummies = np.zeros((len(self._n), len(y)))
        for column, own in zip(self.codes.T, self.columns, strict=True):
            is_further = column > 0
            if len(own):
                dummies[own[0] + column[is_further] - 1, np.flatnonzero(is_further)] = 1
        return np.asarray(dummies @ (y - y.mean(axis=0)))

    def explained(self, knobs: Sequence[int], products: np.ndarray) -> tuple[np.ndarray, int]:
        """Return the sum of squares that knobs explain, and their rank."""
        if not knobs:
            return np.zeros(products.shape[1]), 0
        chosen = np.concatenate([self.columns[k] for k in knobs])
        return _explained(self._gram[np.ix_(chosen, chosen)], products[chosen])

    def pairs(self, y: np.ndarray, error: float) -> dict[Pair, float]:
        """Return what each pair of knobs explains beyond all knobs (type II), without noise."""
        residual = y - self._fitted(y)
        inverse = np.linalg.pinv(self._gram, hermitian=True)
        varying = [k for k, level in enumerate(self.levels) if level > 1]
        return {
            (k, m): self._pair(k, m, residual, inverse, error) for k, m in combinations(varying, 2)
        }

    def _fitted(self, y: np.ndarray) -> np.ndarray:
        products = self.products(y[:, None])
        coefficients = np.linalg.lstsq(self._gram, products, rcond=None)[0][:, 0]
        effects = np.zeros(len(y))
        for k, columns in enumerate(self.columns):
            effects += np.concatenate([[0.0], coefficients[columns]])[self.codes[:, k]]
        return y.mean() + effects - effects.mean()

    def _pair(
        self, k: int, m: int, residual: np.ndarray, inverse: np.ndarray, error: float
    ) -> float:
        # Cells of both knobs beyond their first levels, as dummies Z of their own.
        cell = (self.codes[:, k] - 1) * (self.levels[m] - 1) + self.codes[:, m] - 1
        inside = (self.codes[:, k] > 0) & (self.codes[:, m] > 0)
        measured, own = np.unique(cell[inside], return_inverse=True)
        if not len(measured):
            return 0.0
        n = np.bincount(own).astype(float)
        cross = np.concatenate(
            [np.bincount(own * level + self.codes[inside, j], minlength=len(n) * level)
             .reshape(len(n), level)[:, 1:] for j, level in enumerate(self.levels)], axis=1
        ) - np.outer(n, self._n) / len(self.codes)  # fmt: skip
        gram = np.diag(n) - np.outer(n, n) / len(self.codes) - cross @ inverse @ cross.T
        squares, rank = _explained(gram, np.bincount(own, residual[inside])[:, None])
        return max(float(squares[0]) - rank * error, 0.0)

    def aliased(self) -> tuple[Pair, ...]:
        """Return the pairs of knobs of which one explains the other's levels."""
        return tuple(
            (k, m) for k, m in combinations(range(len(self.levels)), 2)
            if self.levels[k] > 1 < self.levels[m] and self.alias(k, m) >= ALIASED_AT
        )  # fmt: skip

    def alias(self, k: int, m: int) -> float:
        """Return how much of one knob's dummies the other explains, the greater of both ways."""
        counts = self._counts(k, m).astype(float)
        return max(_told(counts), _told(counts.T))


def _told(counts: np.ndarray) -> float:
    """Return the share of the variance of the rows' dummies that the columns explain."""
    columns, rows = counts.sum(axis=0), counts.sum(axis=1)
    chance = (rows**2).sum() / counts.sum()
    return float(((counts**2 / columns).sum() - chance) / (counts.sum() - chance))


def _explained(gram: np.ndarray, products: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the squares that dummies with this Gram matrix explain, by column, and its rank."""
    try:
        factor = np.linalg.cholesky(gram)
        if (np.diag(factor) ** 2 > _PIVOT * np.diag(gram)).all():
            turned = np.linalg.inv(factor) @ products
            return np.asarray((turned**2).sum(axis=0)), len(gram)
    except np.linalg.LinAlgError:
        pass
    values, vectors = np.linalg.eigh(gram)
    kept = values > _PIVOT * values[-1]
    turned = vectors[:, kept].T @ products
    return np.asarray((turned**2 / values[kept][:, None]).sum(axis=0)), int(kept.sum())


def _shapley(
    design: _Design, y: np.ndarray, errors: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return what each knob adds, on average over the orders of knobs, shape (knobs, y's)."""
    products = design.products(y)
    worth: dict[tuple[int, ...], np.ndarray] = {}

    def value(knobs: tuple[int, ...]) -> np.ndarray:
        if knobs not in worth:
            squares, rank = design.explained(knobs, products)
            worth[knobs] = squares - rank * errors
        return worth[knobs]

    varying = [k for k, level in enumerate(design.levels) if level > 1]
    shares = np.zeros((len(design.levels), y.shape[1]))
    if len(varying) > MOST_KNOBS:
        for _ in range(ORDERS):
            order = rng.permutation(varying).tolist()
            for i, k in enumerate(order):
                added = value(tuple(sorted(order[: i + 1]))) - value(tuple(sorted(order[:i])))
                shares[k] += added / ORDERS
        return shares
    for k in varying:
        others = [m for m in varying if m != k]
        for size in range(len(varying)):
            weight = 1 / (len(varying) * comb(len(others), size))
            for subset in combinations(others, size):
                added = value(tuple(sorted((*subset, k)))) - value(subset)
                shares[k] += weight * added
    return shares


def _local(codes: np.ndarray, mean: np.ndarray, is_allowed: np.ndarray | None) -> np.ndarray:
    """Return which knob must be right to be among the best tenth of the settings."""
    if is_allowed is not None:
        codes, mean = codes[is_allowed], mean[is_allowed]
    count = len(codes)
    if count < _LEAST_SETTINGS:
        return np.full(codes.shape[1], np.nan)
    top = max(int(np.ceil(BEST_SHARE * count)), _LEAST_BEST)
    best = np.argsort(mean, kind="stable")[:top]
    distances = np.zeros(codes.shape[1])
    for k, column in enumerate(codes.T):
        among_all = np.bincount(column) / count
        among_best = np.bincount(column[best], minlength=len(among_all)) / top
        there = among_all > 0
        apart = among_all[there] * (among_best[there] / among_all[there] - 1) ** 2
        chance = (there.sum() - 1) / top * (1 - top / count)
        distances[k] = max(float(apart.sum() - chance), 0.0)
    total = distances.sum()
    return distances / total if total > 0 else distances

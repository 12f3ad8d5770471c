"""alpha from busy time: how the time of a request depends on frequency.

log t_busy = c_ITR - (1 + alpha) log D + e, one intercept an ITR. Latency does not serve: it holds
client, wire, delay and queueing.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from data.errors import DataError
from data.models.fits.cells import Cells, Estimate, FitRuns, cells_of, interval, resampled

# Pairs grow with the square: two million for so many of one ITR.
_MOST_CELLS = 2_000


@dataclass(frozen=True, slots=True)
class AlphaFit:
    """alpha of the runs of one load.

    Attributes:
        alpha: By busy time.
        alpha_per_instruction: By busy time over instructions; where it differs, the number of
            instructions depends on frequency (polling, idle loops).
        itr_us: The delays, shape (m,).
        busy_us: Busy time of a request at the highest frequency, by delay, shape (m,).
        runs: How many runs, of how many configurations.
        measured_us: Busy time of a request, by configuration, shape (k,).
        predicted_us: The same by the fit.
        keys: Load, ITR, frequency and power limit of each configuration, shape (k, 4).
    """

    alpha: Estimate
    alpha_per_instruction: Estimate
    itr_us: np.ndarray
    busy_us: np.ndarray
    runs: int
    measured_us: np.ndarray
    predicted_us: np.ndarray
    keys: np.ndarray


def fit_alpha(runs: FitRuns) -> AlphaFit:
    """Fit alpha to the runs of one load, by Theil and Sen within each ITR.

    Slopes between two configurations of the same ITR; their median, weighted by how far apart the
    frequencies are. Configurations are bootstrapped.

    Raises:
        DataError: Fewer than two frequencies at every ITR.

    Source: Sen, JASA 63, 1968; Sievers, JASA 73, 1978, for the weights.
    """
    runs = runs.measured("busy_s", "requests")
    cells = cells_of(runs)
    if not len(cells):
        raise DataError("alpha: no run has busy time, requests, a fixed ITR and a fixed frequency")
    x = np.log(cells.keys[:, 2] / cells.keys[:, 2].max())
    time = np.log(cells.medians(runs.busy_s / runs.requests * 1e6))
    alpha = _alpha(cells, x, time)
    per_instruction = Estimate(math.nan, is_identified=False, note="instructions not measured")
    if (np.nan_to_num(runs.instructions) > 0).all():
        counted = np.log(cells.medians(runs.busy_s / runs.instructions))
        per_instruction = _alpha(cells, x, counted)
        if per_instruction.high < alpha.low or per_instruction.low > alpha.high:
            words = "differs from alpha: the number of instructions depends on frequency"
            per_instruction = replace(per_instruction, note=words)
    delays = np.unique(cells.keys[:, 1])
    level = time + (1 + alpha.value) * x
    levels = np.array([np.median(level[cells.keys[:, 1] == itr]) for itr in delays])
    mean = levels[np.searchsorted(delays, cells.keys[:, 1])] - (1 + alpha.value) * x
    return AlphaFit(
        alpha, per_instruction, delays, np.exp(levels), len(runs), np.exp(time), np.exp(mean),
        cells.keys,
    )  # fmt: skip


def _alpha(cells: Cells, x: np.ndarray, y: np.ndarray) -> Estimate:
    pairs = []
    for itr in np.unique(cells.keys[:, 1]):
        at_itr = np.flatnonzero(cells.keys[:, 1] == itr)
        if len(at_itr) > _MOST_CELLS:
            raise DataError(
                f"alpha: {len(at_itr)} configurations at ITR {itr:g} us; at most {_MOST_CELLS} are "
                "fitted at once"
            )
        ends = np.triu_indices(len(at_itr), 1)
        pairs.append(np.stack([at_itr[ends[0]], at_itr[ends[1]]]))
    first, second = np.concatenate(pairs, axis=1)
    is_pair = x[first] != x[second]
    first, second = first[is_pair], second[is_pair]
    if not len(first):
        raise DataError("alpha: no ITR has two frequencies")
    apart = x[second] - x[first]
    slopes = (y[second] - y[first]) / apart
    order = np.argsort(slopes)
    slopes, first, second = slopes[order], first[order], second[order]
    apart = np.abs(apart[order])

    def alpha_of(weights: np.ndarray) -> list[float]:
        sums = np.cumsum(weights[first] * weights[second] * apart)
        if sums[-1] == 0:
            return [math.nan]
        return [-1 - slopes[np.searchsorted(sums, sums[-1] / 2)]]

    low, high = interval(resampled(len(cells), alpha_of)[:, 0])
    return Estimate(float(alpha_of(np.ones(len(cells)))[0]), low, high)

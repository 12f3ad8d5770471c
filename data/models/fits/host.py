"""What one interrupt and one request cost a measured host: 1/r and 1/mu."""

from dataclasses import dataclass

import numpy as np

from data.errors import DataError
from data.models.fits.cells import (
    MOST_CONDITION,
    Estimate,
    FitRuns,
    cells_of,
    condition_number,
    interval,
    resampled,
)

_LEAST_CELLS = 4


@dataclass(frozen=True, slots=True)
class HostFit:
    """The costs of a host at one frequency.

    Attributes:
        per: What 1/mu is the cost of: `requests`, or `rx_desc` for packets.
        interrupt_us: 1/r.
        request_us: 1/mu, of a request or a packet.
        measured_share: Busy share of a core by configuration, shape (k,).
        predicted_share: The same by the fit.
        keys: Load, ITR, frequency and power limit of each configuration, shape (k, 4).
    """

    per: str
    interrupt_us: Estimate
    request_us: Estimate
    condition: float
    runs: int
    measured_share: np.ndarray
    predicted_share: np.ndarray
    keys: np.ndarray


def fit_host(runs: FitRuns, per: str = "requests") -> HostFit:
    """Fit the busy share of a core = interrupt_us x interrupts + request_us x requests, per us.

    Robust least squares of relative residuals without an intercept, over ITR and load.

    Args:
        runs: Of one frequency.
        per: What 1/mu is the cost of: `requests`, or `rx_desc` for packets.

    Raises:
        DataError: Fewer than four configurations, or one ITR only.
    """
    runs = runs.measured("busy_s", per, "interrupts")
    cells = cells_of(runs)
    if len(cells) < _LEAST_CELLS or len(np.unique(cells.keys[:, 1])) < 2:
        raise DataError(
            f"host: {len(cells)} configurations with busy time, interrupts and {per}; "
            f"at least {_LEAST_CELLS} at 2 ITR values are needed"
        )
    busy = cells.medians(runs.busy_share)
    core_us = runs.duration_s * 1e6 * runs.cores
    events = np.stack(
        [cells.medians(runs.interrupts / core_us), cells.medians(getattr(runs, per) / core_us)],
        axis=1,
    )
    relative = events / busy[:, None]
    condition = condition_number(relative)
    best = _robust(relative, np.ones(len(cells)))
    again = resampled(len(cells), lambda weights: _robust(relative, weights))
    if condition > MOST_CONDITION:
        note = f"not identified: condition number {condition:.3g}"
        costs = [Estimate(float(value), is_identified=False, note=note) for value in best]
    else:
        costs = [
            Estimate(float(value), *interval(again[:, i]), note="" if value > 0 else "held at 0")
            for i, value in enumerate(best)
        ]
    return HostFit(per, costs[0], costs[1], condition, len(runs), busy, events @ best, cells.keys)


def _robust(relative: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return Huber's M-estimate of `relative @ x = 1`, x not negative, by reweighting."""
    from scipy.optimize import nnls

    costs = np.zeros(2)
    own = np.ones(len(relative))
    for _ in range(20):
        roots = np.sqrt(weights * own)
        costs = nnls(relative * roots[:, None], roots)[0]
        off = np.abs(relative @ costs - 1)
        middle = 1.4826 * np.median(np.repeat(off, weights.astype(int)))
        own = np.minimum(1.0, 1.345 * middle / np.maximum(off, 1e-12)) if middle > 0 else own
    return np.asarray(costs)

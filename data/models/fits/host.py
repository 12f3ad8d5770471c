"""What one interrupt and one request cost a measured host: 1/r and 1/mu; how many interrupt."""

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
from data.models.schemes.itr_throttle import US_PER_ITR_US

_LEAST_CELLS = 4
# Below this delay the driver's own time between two interrupts matters.
LEAST_ITR_US = 10.0
_RESAMPLES = 100


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


@dataclass(frozen=True, slots=True)
class DetectionFit:
    """The throttle formula fitted to runs.

    Attributes:
        events_per_packet: k: events that may interrupt, receive and transmit completions together,
            a receive descriptor.
        keys: Load, ITR and frequency of each configuration, shape (m, 3).
        measured_per_s: Interrupts a second of one queue by configuration, shape (m,).
        predicted_per_s: The same by the formula.
        median_error: Median of the relative errors.
    """

    events_per_packet: Estimate
    runs: int
    keys: np.ndarray
    measured_per_s: np.ndarray
    predicted_per_s: np.ndarray
    median_error: float


def fit_detection(runs: FitRuns) -> DetectionFit:
    """Fit k of 1/(T' + e^(-k l T')/(k l)), T' = 1.024 ITR, l the descriptors of a queue.

    Raises:
        DataError: No run has interrupts and an ITR of 10 us or more.
    """
    from scipy.optimize import minimize_scalar

    runs = runs.measured("interrupts", "rx_desc")
    runs = runs.where(runs.itr_us >= LEAST_ITR_US)
    cells = cells_of(runs)
    if not len(cells):
        raise DataError(f"detection: no run has interrupts and an ITR of {LEAST_ITR_US:g} us up")
    queue_us = runs.duration_s * 1e6 * runs.cores
    measured = cells.medians(runs.interrupts / queue_us)
    packets = cells.medians(runs.rx_desc / queue_us)
    delays_us = US_PER_ITR_US * cells.keys[:, 1]

    def predicted(events: float) -> np.ndarray:
        rates = events * packets
        interrupts: np.ndarray = rates / (rates * delays_us + np.exp(-rates * delays_us))
        return interrupts

    def fit(weights: np.ndarray) -> list[float]:
        def cost(log_events: float) -> float:
            off = np.abs(np.log(predicted(np.exp(log_events)) / measured))
            return float(weights @ off)

        minimum = minimize_scalar(cost, bounds=np.log([0.05, 20.0]), method="bounded")
        return [float(np.exp(minimum.x))]

    best = fit(np.ones(len(cells)))[0]
    low, high = interval(resampled(len(cells), fit, _RESAMPLES)[:, 0])
    guess = predicted(best)
    return DetectionFit(
        Estimate(best, low, high), len(runs), cells.keys, measured * 1e6, guess * 1e6,
        float(np.median(np.abs(guess / measured - 1))),
    )  # fmt: skip

"""Interrupts of tuned runs against the throttle formula: how many events may interrupt."""

from dataclasses import dataclass

import numpy as np

from data.errors import DataError
from data.models.fits.cells import Estimate, FitRuns, cells_of, interval, resampled
from data.models.schemes.itr_throttle import US_PER_ITR_US

# Below this delay the driver's own time between two interrupts matters.
LEAST_ITR_US = 10.0
_RESAMPLES = 100


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

"""Energy and latency of one request, by processor frequency: a deterministic model.

A request comes every `interval_us`; detection, work and sleep do not overlap. `D` is the frequency
over its maximum. Work takes `work_us / D^(1 + alpha)` at a power of
`static_w + dynamic_w D^(2 + beta)`.
alpha = 0: time is inverse to frequency; -1: it does not depend on it. beta = 1: power grows with
the cube. Where detection and work do not fit into the interval, queues build up and the model says
nothing.

Source: the energy study's mathematical framework, eqs. 1 to 6. The paper says that detection draws
nothing, its eq. 6 has it busy: `detection` chooses.
"""

import math
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from data.errors import DataError

DETECTIONS: Final = ("busy", "free")
_ROUNDING: Final = 1e-12


@dataclass(frozen=True, slots=True)
class EnergyModel:
    """The parameters of the model.

    Attributes:
        alpha: How time depends on frequency, at least -1.
        beta: How power depends on frequency, above -2.
        static_w: Power while awake, whatever the frequency (P_s).
        dynamic_w: Power that grows with the frequency, at its maximum (P_d).
        sleep_w: Power between requests (P_q).
        detect_us: Time until a request is seen; an interrupt delay enters here.
        work_us: Time of work at the highest frequency.
        interval_us: Time between requests, 1/lam.
        detection: `busy`: detection draws the power of work (eq. 6); `free`: nothing.

    Raises:
        DataError: A value is out of range.
    """

    alpha: float = -0.5
    beta: float = 0.0
    static_w: float = 10.0
    dynamic_w: float = 20.0
    sleep_w: float = 0.0
    detect_us: float = 0.1
    work_us: float = 0.2
    interval_us: float = 1.0
    detection: str = "busy"

    def __post_init__(self) -> None:
        least = {"alpha": -1.0, "static_w": 0.0, "dynamic_w": 0.0, "sleep_w": 0.0, "detect_us": 0.0}
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "detection":
                if value not in DETECTIONS:
                    raise DataError(f"detection is {value!r}; it must be one of {DETECTIONS}")
            elif not math.isfinite(value) or value < least.get(field.name, -math.inf):
                raise DataError(f"{field.name} is {value:g}; it must be {least.get(field.name)} up")
        for name, above in (("beta", -2.0), ("work_us", 0.0), ("interval_us", 0.0)):
            if not getattr(self, name) > above:
                raise DataError(f"{name} is {getattr(self, name):g}; it must be above {above:g}")

    def work_w(self, dvfs: np.ndarray) -> np.ndarray:
        """Return the power of work."""
        found: np.ndarray = self.static_w + self.dynamic_w * dvfs ** (2 + self.beta)
        return found

    def curve(self, dvfs: ArrayLike) -> "EnergyCurve":
        """Return energy and latency over frequency.

        Args:
            dvfs: Frequency over its maximum, above 0 and at most 1, shape (n,).

        Raises:
            DataError: A frequency is out of range.
        """
        share = np.atleast_1d(np.asarray(dvfs, dtype=np.float64))
        bad = share[~((share > 0) & (share <= 1))]
        if bad.size:
            raise DataError(f"dvfs holds {bad[0]:g}; a frequency's share is above 0 and at most 1")
        work_us = self.work_us / share ** (1 + self.alpha)
        latency_us = self.detect_us + work_us
        is_saturated = latency_us > self.interval_us * (1 + _ROUNDING)
        detect_w = self.work_w(share) if self.detection == "busy" else 0.0
        energy_uj = (
            detect_w * self.detect_us
            + self.work_w(share) * work_us
            + self.sleep_w * (self.interval_us - latency_us)
        )
        return EnergyCurve(
            share,
            np.where(is_saturated, np.nan, latency_us),
            np.where(is_saturated, np.nan, energy_uj),
            np.where(is_saturated, np.nan, energy_uj / self.interval_us),
            is_saturated,
        )

    def slowest_dvfs(self) -> float:
        """Return the frequency below which the machine is saturated; above 1: it always is."""
        left_us = self.interval_us - self.detect_us
        if left_us <= 0:
            return math.inf
        if self.alpha == -1:
            return 0.0 if self.work_us <= left_us else math.inf
        return float((self.work_us / left_us) ** (1 / (1 + self.alpha)))

    def best_dvfs(self, low: float, high: float = 1.0) -> float:
        """Return the frequency in a range at which work takes the least energy beyond sleep's.

        dE/dD = 0 of `(static - sleep + dynamic D^(2+beta)) / D^(1+alpha)`, cut to the range and to
        what is not saturated; where that has no minimum inside, the better end. NaN where all of
        the range is saturated.

        Args:
            low: Lowest frequency, above 0.
            high: Highest, at most 1.
        """
        low = max(low, self.slowest_dvfs())
        if low > high:
            return math.nan
        awake_w = self.static_w - self.sleep_w
        bends = self.dynamic_w * (1 + self.beta - self.alpha)
        if bends > 0 and awake_w > 0 and self.alpha > -1:
            inside = (awake_w * (1 + self.alpha) / bends) ** (1 / (2 + self.beta))
            return float(min(max(inside, low), high))

        def work_uj(share: float) -> float:
            power_w = awake_w + self.dynamic_w * share ** (2 + self.beta)
            return float(power_w / share ** (1 + self.alpha))

        return low if work_uj(low) <= work_uj(high) else high


@dataclass(frozen=True, slots=True)
class EnergyCurve:
    """One curve; arrays of shape (n,), NaN where the machine is saturated.

    Attributes:
        energy_uj: Of one request.
        power_w: Mean power.
    """

    dvfs: np.ndarray
    latency_us: np.ndarray
    energy_uj: np.ndarray
    power_w: np.ndarray
    is_saturated: np.ndarray

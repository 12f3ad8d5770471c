"""The runs of a fit, their configurations, and the bootstrap over these."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np

from data.errors import DataError

RESAMPLES: Final = 200
INTERVAL: Final = 0.95
# Above this condition number of the scaled Jacobian parameters are not told apart.
MOST_CONDITION: Final = 1000.0
_SEED: Final = 20_130_710


@dataclass(frozen=True, slots=True)
class FitRuns:
    """The runs of one system and workload; all arrays of shape (n,), in any order.

    Attributes:
        itr_us: Interrupt delay as it was set; NaN where the driver adapts it.
        dvfs_ghz: Frequency; NaN where the governor chose.
        busy_s: Core time awake, over all cores: ref_cycles over the TSC's rate.
        requests: Requests answered.
        interrupts: NIC interrupts over all cores.
        rx_desc: Receive descriptors over all cores.
        rapl_w: Power limit; NaN where none is set.
        cores: How many cores (queues) served.
    """

    itr_us: np.ndarray
    dvfs_ghz: np.ndarray
    load_qps: np.ndarray
    duration_s: np.ndarray
    busy_s: np.ndarray
    requests: np.ndarray
    instructions: np.ndarray
    energy_j: np.ndarray
    interrupts: np.ndarray
    rx_desc: np.ndarray
    rapl_w: np.ndarray
    cores: int

    def __post_init__(self) -> None:
        lengths = {
            field.name: np.shape(getattr(self, field.name))
            for field in fields(self)
            if field.name != "cores"
        }
        if len(set(lengths.values())) > 1:
            raise DataError(f"the columns of a fit have several shapes: {lengths}")
        if self.cores < 1:
            raise DataError(f"cores is {self.cores}; it must be at least 1")

    def __len__(self) -> int:
        return len(self.load_qps)

    def where(self, mask: np.ndarray) -> "FitRuns":
        """Return the runs of a mask, shape (n,)."""
        columns = {f.name: getattr(self, f.name)[mask] for f in fields(self) if f.name != "cores"}
        return FitRuns(**columns, cores=self.cores)

    def measured(self, *names: str) -> "FitRuns":
        """Return the runs with fixed ITR (0 and adaptive left out) and frequency, and these."""
        mask = np.isfinite(self.dvfs_ghz) & np.isfinite(self.itr_us) & (self.itr_us > 1)
        for name in ("duration_s", *names):
            values = getattr(self, name)
            mask &= np.isfinite(values) & (values > 0)
        return self.where(mask)

    @property
    def busy_share(self) -> np.ndarray:
        """Busy share of all cores."""
        share: np.ndarray = self.busy_s / self.duration_s / self.cores
        return share

    @property
    def power_w(self) -> np.ndarray:
        """Mean power."""
        power: np.ndarray = self.energy_j / self.duration_s
        return power


@dataclass(frozen=True, slots=True)
class Cells:
    """The configurations of some runs: load, ITR, frequency and power limit.

    Attributes:
        keys: Load, ITR, frequency and power limit (0 where none is set) of each, shape (k, 4).
        of_run: Which one each run has, shape (n,).
    """

    keys: np.ndarray
    of_run: np.ndarray

    def __len__(self) -> int:
        return len(self.keys)

    def medians(self, values: np.ndarray) -> np.ndarray:
        """Return the median of each configuration's runs, shape (k,)."""
        order = np.argsort(self.of_run, kind="stable")
        parts = np.split(values[order], np.flatnonzero(np.diff(self.of_run[order])) + 1)
        return np.array([np.median(part) for part in parts])


def cells_of(runs: FitRuns) -> Cells:
    """Return the configurations of runs, in the order of load, ITR, frequency, power limit."""
    limits = np.nan_to_num(runs.rapl_w)
    keys = np.stack([runs.load_qps, runs.itr_us, runs.dvfs_ghz, limits], axis=1)
    found, of_run = np.unique(keys, axis=0, return_inverse=True)
    return Cells(found, of_run.reshape(-1))


@dataclass(frozen=True, slots=True)
class Estimate:
    """One fitted number.

    Attributes:
        low: Lower end of the 95 % interval; NaN where there is none.
        is_identified: Whether the runs determine it; if not, the value is no result.
        note: Why not, or which bound holds it.
    """

    value: float
    low: float = math.nan
    high: float = math.nan
    is_identified: bool = True
    note: str = ""


def resampling(count: int, resamples: int = RESAMPLES) -> np.ndarray:
    """Return how often each configuration is drawn with replacement.

    Returns:
        Shape (resamples, count), the same at each call.
    """
    draw = np.random.Generator(np.random.PCG64(_SEED))
    return draw.multinomial(count, np.full(count, 1 / count), size=resamples)


def resampled(
    count: int,
    fit: Callable[[np.ndarray], Sequence[float] | np.ndarray],
    resamples: int = RESAMPLES,
) -> np.ndarray:
    """Fit again to configurations drawn with replacement.

    Args:
        count: How many configurations there are.
        fit: From how often each is drawn, shape (count,), to the parameters.

    Returns:
        Shape (resamples, parameters), the same at each call.
    """
    return np.array([fit(one) for one in resampling(count, resamples)])


def interval(values: np.ndarray) -> tuple[float, float]:
    """Return the percentile interval of resampled values."""
    tail = (1 - INTERVAL) / 2
    low, high = np.quantile(values[np.isfinite(values)], [tail, 1 - tail])
    return float(low), float(high)


def condition_number(jacobian: np.ndarray) -> float:
    """Return the condition number of a Jacobian whose columns are scaled to length 1."""
    lengths = np.linalg.norm(jacobian, axis=0)
    if not (lengths > 0).all():
        return math.inf
    singular = np.linalg.svd(jacobian / lengths, compute_uv=False)
    return float(singular[0] / singular[-1]) if singular[-1] > 0 else math.inf

"""beta and the powers from mean power: P = P_q + u (P_s + P_d D^(2 + beta))."""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from data.errors import DataError
from data.models.fits.cells import (
    MOST_CONDITION,
    Estimate,
    FitRuns,
    cells_of,
    condition_number,
    interval,
    resampling,
)

NAMES: Final = ("sleep_w", "static_w", "dynamic_w", "beta")
SYMBOLS: Final = {"sleep_w": "P_q", "static_w": "P_s", "dynamic_w": "P_d", "beta": "beta"}
# Residuals beyond this share count linearly: outliers.
_SCALE: Final = 0.02
# Gauss-Newton steps of a resample, which begins at the fit to all; beta moves by at most so much.
_MOST_STEPS: Final = 60
_LONGEST_BETA: Final = 0.3
_TOLERANCE: Final = 1e-7
_LEAST: Final = (0.0, 0.0, 0.0, -1.99)
_MOST: Final = (math.inf, math.inf, math.inf, 6.0)
_STARTS: Final = ((0.3, 0.2, 0.5, 0.0), (0.6, 0.0, 0.4, 1.0), (0.1, 0.5, 0.4, -1.0))
# The busy share must vary by at least this factor at a fixed frequency to separate P_s and P_q.
_LEAST_SPREAD: Final = 1.5


@dataclass(frozen=True, slots=True)
class PowerFit:
    """The powers and beta of some runs.

    Attributes:
        estimates: By the names in NAMES; dynamic_w is the power at the highest frequency.
        condition: Condition number of the scaled Jacobian.
        bounds: Names of the parameters that a bound holds.
        measured_w: Power by configuration, shape (k,).
        predicted_w: The same by the fit.
        busy_share: Busy share of all cores by configuration, shape (k,).
        keys: Load, ITR, frequency and power limit of each configuration, shape (k, 4).
        left_out_error: Median relative error of each load's power by a fit to the other loads;
            empty with one load.
    """

    estimates: dict[str, Estimate]
    condition: float
    bounds: tuple[str, ...]
    runs: int
    measured_w: np.ndarray
    predicted_w: np.ndarray
    busy_share: np.ndarray
    keys: np.ndarray
    left_out_error: dict[float, float]


def fit_power(runs: FitRuns) -> PowerFit:
    """Fit the powers and beta, robustly (soft L1 of relative residuals), within bounds.

    Where the busy share does not vary at fixed frequency, as with one load, P_s and P_q cannot be
    told apart: P_s is then fixed at 0 and said to be not identified.

    Raises:
        DataError: Fewer than five configurations, or fewer than two frequencies.
    """
    runs = runs.measured("busy_s", "energy_j")
    cells = cells_of(runs)
    if len(cells) < 5 or len(np.unique(cells.keys[:, 2])) < 2:
        raise DataError(
            f"power: {len(cells)} configurations with energy and busy time; "
            "at least 5 at 2 frequencies are needed"
        )
    power, busy = cells.medians(runs.power_w), cells.medians(runs.busy_share)
    share = cells.keys[:, 2] / cells.keys[:, 2].max()
    spread = _busy_spread(share, busy)
    fixes_static = _fixes_static(cells.keys[:, 0], spread)
    problem = PowerProblem(power, busy, share, fixes_static)
    best = problem.fit(np.ones(len(cells)))
    condition = condition_number(problem.free_jacobian(best))
    bounds = tuple(
        name
        for name, value, low, high in zip(NAMES, best, _LEAST, _MOST, strict=True)
        if not (name == "static_w" and fixes_static)
        and (value <= low + 1e-6 * (1 + abs(low)) or value >= high - 1e-6)
    )
    again = problem.fit_all(resampling(len(cells)), best)
    loads = len(np.unique(cells.keys[:, 0]))
    estimates = {}
    for i, name in enumerate(NAMES):
        if name == "static_w" and fixes_static:
            estimates[name] = Estimate(
                0.0,
                is_identified=False,
                note=f"not identified: {loads} load{'' if loads == 1 else 's'}, busy share within "
                f"a factor of {spread:.2f} at fixed frequency; fixed at 0",
            )
        elif condition > MOST_CONDITION:
            estimates[name] = Estimate(
                float(best[i]),
                is_identified=False,
                note=f"not identified: condition number {condition:.3g}",
            )
        elif name in bounds:
            low, high = problem.profile(i, best)
            bound = _LEAST[i] if best[i] - _LEAST[i] < 1 else _MOST[i]
            estimates[name] = Estimate(bound, min(low, bound), high, note="held by its bound")
        else:
            note = "given P_s = 0" if fixes_static and name != "beta" else ""
            estimates[name] = Estimate(float(best[i]), *interval(again[:, i]), note=note)
    return PowerFit(
        estimates, condition, bounds, len(runs), power, problem.predicted(best), busy,
        cells.keys, _left_out(power, busy, share, cells.keys[:, 0]),
    )  # fmt: skip


def _fixes_static(loads: np.ndarray, spread: float) -> bool:
    return len(np.unique(loads)) < 2 or spread < _LEAST_SPREAD


def _busy_spread(share: np.ndarray, busy: np.ndarray) -> float:
    """Return the median over frequencies of the busy share's greatest tenth by its least."""
    ratios = []
    for one in np.unique(share):
        low, high = np.quantile(busy[share == one], [0.1, 0.9])
        ratios.append(high / low)
    return float(np.median(ratios))


def _left_out(
    power: np.ndarray, busy: np.ndarray, share: np.ndarray, loads: np.ndarray
) -> dict[float, float]:
    """Predict each load from a fit to the others."""
    distinct = np.unique(loads)
    errors = {}
    for load in distinct if len(distinct) > 1 else []:
        rest = loads != load
        if rest.sum() < 5 or len(np.unique(share[rest])) < 2:
            continue
        fixes = _fixes_static(loads[rest], _busy_spread(share[rest], busy[rest]))
        problem = PowerProblem(power[rest], busy[rest], share[rest], fixes)
        found = problem.fit(np.ones(int(rest.sum())))
        guess = _power(found, busy[~rest], share[~rest])
        errors[float(load)] = float(np.median(np.abs(guess / power[~rest] - 1)))
    return errors


def _power(values: np.ndarray, busy: np.ndarray, share: np.ndarray) -> np.ndarray:
    sleep, static, dynamic, beta = values
    found: np.ndarray = sleep + busy * (static + dynamic * share ** (2 + beta))
    return found


class PowerProblem:
    """Least squares of relative residuals over the free parameters, of configurations."""

    def __init__(
        self, power: np.ndarray, busy: np.ndarray, share: np.ndarray, fixes_static: bool
    ) -> None:
        """Take power (W), busy share and relative frequency, shape (k,).

        Args:
            fixes_static: Whether P_s stays 0.
        """
        self._power, self._busy, self._share = power, busy, share
        self._free = [i for i in range(4) if not (i == 1 and fixes_static)]

    def predicted(self, values: np.ndarray) -> np.ndarray:
        return _power(values, self._busy, self._share)

    def _jacobian(self, values: np.ndarray) -> np.ndarray:
        """Return the derivatives of the relative power, shape (k, 4)."""
        raised = self._busy * self._share ** (2 + values[3])
        columns = [
            np.ones_like(self._busy),
            self._busy,
            raised,
            values[2] * raised * np.log(self._share),
        ]
        return np.stack(columns, axis=1) / self._power[:, None]

    def free_jacobian(self, values: np.ndarray) -> np.ndarray:
        return self._jacobian(values)[:, self._free]

    def fit(self, weights: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
        """Return the four values that fit best."""
        return self._solve(weights, start, {})[0]

    def fit_all(self, weights: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Fit to many weightings at once: Gauss-Newton steps, weighted anew for soft L1.

        A parameter at a bound is held there while the cost falls beyond it.

        Args:
            weights: How often each configuration counts, shape (r, k).
            start: The four values to begin with.

        Returns:
            The four values of each weighting, shape (r, 4).
        """
        free = self._free
        low, high = np.array(_LEAST)[free], np.array(_MOST)[free]
        longest = np.where(np.array(free) == 3, _LONGEST_BETA, np.inf)
        values = np.tile(start, (len(weights), 1))
        ones = np.ones_like(weights, dtype=float)
        for _ in range(_MOST_STEPS):
            raised = self._busy * self._share ** (2 + values[:, 3:])
            predicted = values[:, :1] + self._busy * values[:, 1:2] + values[:, 2:3] * raised
            residual = predicted / self._power - 1
            robust = weights / np.sqrt(1 + (residual / _SCALE) ** 2)
            slopes = [
                ones,
                self._busy * ones,
                raised,
                values[:, 2:3] * raised * np.log(self._share),
            ]
            jacobian = np.stack([slopes[i] for i in free], axis=2) / self._power[:, None]
            weighted = jacobian.transpose(0, 2, 1) * robust[:, None, :]
            gradient = (weighted @ residual[:, :, None])[:, :, 0]
            now = values[:, free]
            is_held = ((now <= low) & (gradient > 0)) | ((now >= high) & (gradient < 0))
            normal = np.where(is_held[:, :, None] | is_held[:, None, :], 0, weighted @ jacobian)
            diagonal = np.einsum("rpp->rp", normal)
            diagonal += np.where(diagonal > 0, 1e-9 * diagonal, 1)
            step = -np.linalg.solve(normal, np.where(is_held, 0, gradient)[:, :, None])[:, :, 0]
            after = np.clip(now + np.clip(step, -longest, longest), low, high)
            values[:, free] = after
            if np.all(np.abs(after - now) <= _TOLERANCE * (1 + np.abs(now))):
                break
        return values

    def _solve(
        self, weights: np.ndarray, start: np.ndarray | None, held: dict[int, float]
    ) -> tuple[np.ndarray, float]:
        from scipy.optimize import least_squares

        free = [i for i in self._free if i not in held]
        roots = np.sqrt(weights)
        scale = float(np.median(self._power))

        def whole(values: np.ndarray) -> np.ndarray:
            full = np.zeros(4)
            for i, value in held.items():
                full[i] = value
            full[free] = values
            return full

        def residuals(values: np.ndarray) -> Any:
            return roots * (self.predicted(whole(values)) / self._power - 1)

        def jacobian(values: np.ndarray) -> Any:
            return roots[:, None] * self._jacobian(whole(values))[:, free]

        starts = [start] if start is not None else [
            np.array([q * scale, s * scale, d * scale / np.median(self._busy), b])
            for q, s, d, b in _STARTS
        ]  # fmt: skip
        low, high = np.array(_LEAST)[free], np.array(_MOST)[free]
        best: Any = None
        for one in starts:
            inside = np.clip(one[free], low + 1e-9, np.minimum(high, 1e9) - 1e-9)
            fit = least_squares(
                residuals, inside, jac=jacobian, bounds=(low, high), loss="soft_l1",
                f_scale=_SCALE, x_scale=np.maximum(np.abs(inside), 0.1), max_nfev=200,
            )  # fmt: skip
            if best is None or fit.cost < best.cost:
                best = fit
        return whole(best.x), float(best.cost)

    def profile(self, which: int, best: np.ndarray) -> tuple[float, float]:
        """Return the interval of a parameter at its lower bound, by the profile of the cost.

        The other parameters are fitted again at each value; the end is where the cost has grown as
        much as 95 % of fits to such residuals would make it.
        """
        n = len(self._power)
        ones = np.ones(n)
        least = self._solve(ones, best, {})[1]
        limit = least * (1 + 3.84 / max(n - len(self._free), 1))
        low, step = (
            float(best[which]),
            max(abs(float(best[which])), 1e-3 * float(self._power.max())),
        )

        def cost(value: float) -> float:
            return self._solve(ones, best, {which: value})[1]

        high = low + step
        while cost(high) < limit and high < 1e6:
            step *= 2
            high = low + step
        inner = low
        for _ in range(30):
            middle = (inner + high) / 2
            inner, high = (middle, high) if cost(middle) < limit else (inner, middle)
        return low, high

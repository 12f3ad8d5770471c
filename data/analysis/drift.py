"""Whether the order of runs shows in the results: drift, blocks, and order that follows a knob.

All values are on the scale of `data.analysis.noise`.

Source: Box, Hunter, Hunter, Statistics for Experimenters, 2005, chapters 3 and 4.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import fdtrc, stdtr

from data.analysis.outcomes import MARGIN

# Fewer settings with two or more runs are not tested.
LEAST_SETTINGS: Final = 10
LEVEL: Final = 0.01
# A gap in time that is so many times the median one parts two blocks.
GAP: Final = 10.0
# An order that follows a knob so closely, or repeats settings so closely, is none at random.
MOST_RANK_CORRELATION: Final = 0.5
LEAST_RUNS_BETWEEN: Final = 3.0


@dataclass(frozen=True, slots=True)
class Drift:
    """Change of a metric from the first run to the last.

    Attributes:
        change: On the log scale.
        p: Of no drift.
        runs, settings: Numbers that the test is of.
    """

    change: float
    p: float
    runs: int
    settings: int

    @property
    def is_shown(self) -> bool:
        """Whether it is significant and large enough to matter."""
        return self.p <= LEVEL and abs(self.change) > MARGIN / 2


def drift(y: np.ndarray, time: np.ndarray, setting: np.ndarray) -> Drift | None:
    """Test whether a metric changes with time, setting by setting.

    Args:
        y: The metric of each run, shape (n,).
        time: Start of each run, or its replicate number, shape (n,).
        setting: Number of each run's setting, integers from 0, shape (n,).

    Returns:
        None with fewer than LEAST_SETTINGS repeated settings, or without any difference in time.
    """
    repeated, number, count = _repeated(setting)
    y, time = y[repeated], time[repeated]
    span = float(np.ptp(time)) if len(time) else 0.0
    if count < LEAST_SETTINGS or span == 0:
        return None
    at = _centred((time - time.min()) / span, number, count)
    value = _centred(y, number, count)
    squares = float(at @ at)
    if squares == 0:
        return None
    slope = float(at @ value) / squares
    df = len(y) - count - 1
    rest = float(((value - slope * at) ** 2).sum())
    # Without any spread 0 / 0: no drift.
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.nan_to_num(abs(slope) / np.sqrt(rest / df / squares), nan=0.0, posinf=np.inf)
    return Drift(slope, float(2 * stdtr(df, -t)), len(y), count)


@dataclass(frozen=True, slots=True)
class Blocks:
    """What runs of one block have in common.

    Attributes:
        names: Numbers of the blocks that hold a repeated setting, shape (blocks,).
        effects: Of each block, on the log scale, mean 0 over runs, shape (blocks,).
        p: Of no effect.
        residual_variance: Of one run after settings and blocks.
    """

    names: np.ndarray
    effects: np.ndarray
    p: float
    residual_variance: float

    @property
    def is_shown(self) -> bool:
        """Whether it is significant and large enough to matter."""
        return self.p <= LEVEL and float(np.ptp(self.effects)) > MARGIN / 2


def block_effects(y: np.ndarray, block: np.ndarray, setting: np.ndarray) -> Blocks | None:
    """Test whether blocks of runs differ, given settings (two-way, additive).

    Args:
        block: Number of each run's block, integers from 0, shape (n,).

    Returns:
        None with fewer than LEAST_SETTINGS repeated settings, fewer than two blocks, or no freedom
        left.
    """
    repeated, number, count = _repeated(setting)
    y = y[repeated]
    names, own = np.unique(block[repeated], return_inverse=True)
    df = len(y) - count - len(names) + 1
    if count < LEAST_SETTINGS or len(names) < 2 or df < 1:
        return None
    dummies = (own[:, None] == np.arange(1, len(names))).astype(float)
    inside = np.column_stack([_centred(column, number, count) for column in dummies.T])
    value = _centred(y, number, count)
    coefficients, _, rank, _ = np.linalg.lstsq(inside, value, rcond=None)
    rest = float(((value - inside @ coefficients) ** 2).sum())
    explained = max(float(value @ value) - rest, 0.0)
    df = len(y) - count - int(rank)
    effects = np.concatenate([[0.0], coefficients])
    with np.errstate(divide="ignore", invalid="ignore"):
        f = np.nan_to_num(explained / rank / (rest / df), nan=0.0, posinf=np.inf)
    return Blocks(names, effects - effects[own].mean(), float(fdtrc(rank, df, f)), rest / df)


def blocks_in_time(start_s: np.ndarray) -> np.ndarray:
    """Number the blocks of runs that long gaps in time part, shape (n,), in seconds."""
    order = np.argsort(start_s, kind="stable")
    gaps = np.diff(start_s[order])
    median = float(np.median(gaps)) if len(gaps) else 0.0
    block = np.zeros(len(start_s), np.int64)
    block[order[1:]] = np.cumsum(gaps > GAP * median) if median > 0 else 0
    return block


@dataclass(frozen=True, slots=True)
class Order:
    """How far the order of runs is from one at random.

    Attributes:
        rank_correlation: Of the order with each knob's ladder (Spearman), shape (knobs,).
        runs_between: Median number of runs from one run of a setting to its next; NaN without.
    """

    rank_correlation: np.ndarray
    runs_between: float

    @property
    def is_random(self) -> bool:
        """Whether drift can be told from the setting."""
        close = np.nan_to_num(np.abs(self.rank_correlation)) > MOST_RANK_CORRELATION
        return not close.any() and not self.runs_between < LEAST_RUNS_BETWEEN


def run_order(time: np.ndarray, codes: np.ndarray, setting: np.ndarray) -> Order | None:
    """Compare the order of runs with the knobs.

    Args:
        time: Start of each run, shape (n,).
        codes: Level of each knob, shape (n, knobs).
        setting: Number of each run's setting, shape (n,).

    Returns:
        None if two runs started at once: their order is unknown.
    """
    order = np.argsort(time, kind="stable")
    if len(time) < 2 or (np.diff(time[order]) == 0).any():
        return None
    position = np.empty(len(time))
    position[order] = np.arange(len(time))
    correlation = np.array([_spearman(position, column) for column in codes.T])
    by_setting = np.lexsort((position, setting))
    is_same = np.diff(setting[by_setting]) == 0
    between = np.diff(position[by_setting])[is_same]
    return Order(correlation, float(np.median(between)) if len(between) else np.nan)


def _spearman(position: np.ndarray, code: np.ndarray) -> float:
    counts = np.bincount(code)
    # Ties share the mean of their ranks.
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[code]
    if np.ptp(ranks) == 0:
        return np.nan
    return float(np.corrcoef(position, ranks)[0, 1])


def _repeated(setting: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the runs of settings with two or more, their settings' numbers, and how many."""
    runs = np.flatnonzero(np.bincount(setting)[setting] >= 2) if len(setting) else setting
    names, number = np.unique(setting[runs], return_inverse=True)
    return runs, number, len(names)


def _centred(values: np.ndarray, number: np.ndarray, count: int) -> np.ndarray:
    means = np.bincount(number, values, count) / np.bincount(number, minlength=count)
    return np.asarray(values - means[number])

"""Compiled loop that converts counters of samples to steps since the previous sample."""

from typing import Any

import numpy as np

from ingest.files.compiled import compile_loop, compile_part
from ingest.logs.row_layout import BINNED, CYCLES, INSTRUCTIONS, IPC, JOULES, POWER, RATED


@compile_part
def _rate(steps: np.ndarray, at: int, unit_uj: float, rates: np.ndarray) -> None:
    """Compute the rates of one sample, float32, as RATES, from its steps; NaN if undefined."""
    dt_ns = np.float64(steps[0, at])
    for row in range(IPC):
        rates[row] = steps[RATED[row], at] * 1e9 / dt_ns
    rates[POWER] = steps[JOULES, at] * unit_uj * 1e3 / dt_ns
    cycles = steps[CYCLES, at]
    rates[IPC] = steps[INSTRUCTIONS, at] / cycles if cycles > 0 else np.nan


@compile_part
def _widen(extremes: np.ndarray, rates: np.ndarray) -> None:
    """Extend the minimum and maximum of some bins, shape (bins, 2, 10), to include some rates."""
    for part in range(extremes.shape[0]):
        least, most = extremes[part, 0], extremes[part, 1]
        for row in range(rates.size):
            least[row] = rates[row] if rates[row] < least[row] else least[row]
            most[row] = rates[row] if rates[row] > most[row] else most[row]


@compile_loop(
    *("int64[:, ::1]", "int64[:, ::1]", "bool[:, ::1]", "int64", "int64[:, ::1]", "bool[::1]"),
    *("int64[:, ::1]", "int64[:, ::1]", "int64[::1]", "int64[:, :, ::1]", "int64[::1]"),
    *("float64", "float32[:, :, :, ::1]", "float32[::1]"),
)
def step_samples(
    samples: np.ndarray,
    last: np.ndarray,
    is_total: np.ndarray,
    energy_mask: int,
    steps: np.ndarray,
    is_first: np.ndarray,
    sums: np.ndarray,
    falls: np.ndarray,
    edges: np.ndarray,
    bins: np.ndarray,
    last_bin: np.ndarray,
    unit_uj: float,
    extremes: np.ndarray,
    rates: np.ndarray,
) -> None:
    """Convert counters to steps since the previous sample of the same core.

    Args:
        samples: int64, shape (n, 12), in time order: index of the core, then values as `SAMPLED`.
        last: int64, shape (k, 11): each core's previous sample; time -1 if there is none.
        is_total: Whether a row is a running total, shape (k, 11); else it is a value per sample.
        energy_mask: Bit mask of the energy counter, whose steps wrap.
        steps: Output, int64, shape (11, n); 0 where `is_first`.
        is_first: Output, shape (n,): whether a sample is its core's first, which has no steps.
        sums: int64, shape (k, 11), added to: last minus first of totals, else the sum.
        falls: int64, shape (k, 11), added to: how often a counter ran backwards.
        edges: As in `cut_interrupts`, of the bins here.
        bins: int64, shape (k, 10, bins), added to: rows as `SAMPLE_BINS`, energy in counter steps.
            A step is divided over all bins since the previous sample, by the time in each.
        last_bin: int64, shape (k,): the bin of each core's previous sample.
        unit_uj: Microjoules per step of the energy counter.
        extremes: Float32, shape (k, bins, 2, 10): minimum and maximum of the rates between two
            samples, in the order of RATES. A rate counts in all bins from that of the previous
            sample to that of its own.
        rates: Room for the rates of a sample, float32, shape (10,).
    """
    b = 0
    for i in range(samples.shape[0]):
        core = samples[i, 0]
        now = samples[i, 1]
        while now >= edges[b + 1]:
            b += 1
        before = last[core, 0]
        begins = before < 0
        is_first[i] = begins
        for row in range(samples.shape[1] - 1):
            value = samples[i, row + 1]
            step = np.int64(0)
            counted: Any = step
            if not is_total[core, row]:
                counted = value
                if not begins:
                    step = value
            elif not begins:
                step = value - last[core, row]
                falls[core, row] += step < 0
                if row == JOULES:
                    step &= energy_mask
                counted = step
            # If a counter ran backwards, its sum is invalid.
            sums[core, row] += counted
            steps[row, i] = step
            last[core, row] = value
        if not begins:
            for row in range(bins.shape[1]):
                step, done = steps[BINNED[row], i], np.int64(0)
                for part in range(last_bin[core], b):
                    share = (edges[part + 1] - before) / (now - before)
                    # The float may exceed the integer that it represents.
                    until = min(np.int64(np.floor(step * share)), max(step, 0))
                    if share >= 1:
                        until = step
                    bins[core, row, part] += until - done
                    done = until
                bins[core, row, b] += step - done
            if steps[0, i] > 0:
                _rate(steps, i, unit_uj, rates)
                _widen(extremes[core, last_bin[core] : b + 1], rates)
        last_bin[core] = b

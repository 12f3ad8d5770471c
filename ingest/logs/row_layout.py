"""Rows of the arrays that hold interrupts and samples in memory, and of their bins."""

from typing import Final

import numpy as np

from data.schema import RATES

LATEST: Final = np.iinfo(np.int64).max

# Rows of the interrupt bins, as `overview` names its columns. Gaps stand there so that the largest
# of several bins is what they have together, and 0 is none: the longest gap and 1, and how much
# shorter than LATEST the shortest is.
INTERRUPT_BINS: Final = (
    "interrupts",
    "rx_bytes",
    "tx_bytes",
    "max_rx_bytes",
    "max_tx_bytes",
    "min_gap_ns",
    "max_gap_ns",
)
MIN_GAP: Final = INTERRUPT_BINS.index("min_gap_ns")
MAX_GAP: Final = INTERRUPT_BINS.index("max_gap_ns")
# Rows of a sample in memory. All but the first are counters; `joules` is the raw energy counter.
SAMPLED: Final = (
    "t_ns",
    "instructions",
    "cycles",
    "ref_cycles",
    "llc_misses",
    "c1",
    "c1e",
    "c3",
    "c6",
    "c7",
    "joules",
)
FIRST_SLEEP_STATE: Final = 5
JOULES: Final = 10
# Rows of the sample bins, and which row of a sample each sums.
SAMPLE_BINS: Final = ("energy_uj", *SAMPLED[1:JOULES])
BINNED: Final = np.array([JOULES, *range(1, JOULES)])
# Which row of a sample each of RATES is the rate of; the last is a ratio of two.
IPC: Final = RATES.index("ipc")
POWER: Final = RATES.index("power_w")
RATED: Final = (
    *(JOULES if n == "power_w" else SAMPLED.index(n.removesuffix("_per_s")) for n in RATES[:IPC]),
)
OF_IPC: Final = (SAMPLED.index("instructions"), SAMPLED.index("cycles"))
INSTRUCTIONS, CYCLES = OF_IPC

INT32_MAX: Final = np.iinfo(np.int32).max

"""Row order of the arrays that hold interrupts and samples in memory, and of their bins."""

from typing import Final

import numpy as np

from data.schema import RATES

LATEST: Final = np.iinfo(np.int64).max

# Rows of the interrupt bins, named as columns of `overview`. Gaps are encoded so that the maximum
# over several bins joins them and 0 means none: the longest gap plus 1, and LATEST minus the
# shortest gap.
INTERRUPT_BINS: Final = (
    "interrupts", "rx_bytes", "tx_bytes", "max_rx_bytes", "max_tx_bytes", "min_gap_ns",
    "max_gap_ns",
)  # fmt: skip
MIN_GAP: Final = INTERRUPT_BINS.index("min_gap_ns")
MAX_GAP: Final = INTERRUPT_BINS.index("max_gap_ns")
# Rows of a sample in memory. All but the first are counters; `joules` is the raw energy counter.
SAMPLED: Final = (
    "t_ns", "instructions", "cycles", "ref_cycles", "llc_misses", "c1", "c1e", "c3", "c6", "c7",
    "joules",
)  # fmt: skip
FIRST_SLEEP_STATE: Final = 5
JOULES: Final = 10
# Rows of the sample bins, and the row of a sample that each one sums.
SAMPLE_BINS: Final = ("energy_uj", *SAMPLED[1:JOULES])
BINNED: Final = np.array([JOULES, *range(1, JOULES)])
# The row of a sample that each of RATES derives from; the last rate is a ratio of two rows.
IPC: Final = RATES.index("ipc")
POWER: Final = RATES.index("power_w")
RATED: Final = (
    *(JOULES if n == "power_w" else SAMPLED.index(n.removesuffix("_per_s")) for n in RATES[:IPC]),
)
OF_IPC: Final = (SAMPLED.index("instructions"), SAMPLED.index("cycles"))
INSTRUCTIONS, CYCLES = OF_IPC

INT32_MAX: Final = np.iinfo(np.int32).max

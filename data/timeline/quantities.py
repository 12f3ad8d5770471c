"""The quantities of a window: series of each panel, and quantities of the heatmap."""

from dataclasses import dataclass
from typing import Final, Literal

from data.timeline.residency import CORE_RESIDENCIES, PACKAGE_RESIDENCIES
from data.timeline.time_cells import SLEEP_STATES

# The bins that a series uses: those of the interrupts or of the counter samples.
Clock = Literal["interrupts", "counters"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """The content of one panel.

    Attributes:
        series: Names of its lines.
        rates: Those of `schema.RATES` whose extremes it draws.
    """

    series: tuple[str, ...]
    clock: Clock = "interrupts"
    rates: tuple[str, ...] = ()


QUANTITIES: Final[dict[str, Quantity]] = {
    "bytes": Quantity(("rx", "tx")),
    "byte_rate": Quantity(("rx_rate", "tx_rate")),
    "interrupts": Quantity(("interrupts",)),
    "gap": Quantity(("gap",)),
    "power": Quantity(("power",), "counters", ("power_w",)),
    "instructions": Quantity(("instructions",), "counters", ("instructions_per_s",)),
    "ipc": Quantity(("ipc",), "counters", ("ipc",)),
    "busy": Quantity(("busy",), "counters", ("ref_cycles_per_s",)),
    "frequency": Quantity(("frequency",), "counters"),
    "llc": Quantity(("llc_misses",), "counters", ("llc_misses_per_s",)),
    "sleep": Quantity(SLEEP_STATES, "counters", tuple(f"{name}_per_s" for name in SLEEP_STATES)),
    "residency": Quantity(CORE_RESIDENCIES, "counters"),
    "package_residency": Quantity(PACKAGE_RESIDENCIES, "counters"),
}
# The bins that each heatmap quantity uses; `count` is the number of interrupts in a bin.
CLOCKS: Final[dict[str, Clock]] = {
    "count": "interrupts",
    **{name: quantity.clock for quantity in QUANTITIES.values() for name in quantity.series},
}
HEAT_CLOCKS: Final[dict[str, Clock]] = {
    "interrupts": "interrupts",
    "rx_bytes": "interrupts",
    "tx_bytes": "interrupts",
    "gap": "interrupts",
    "instructions": "counters",
    "ipc": "counters",
    "busy": "counters",
    "frequency": "counters",
    "llc_misses": "counters",
    **dict.fromkeys(SLEEP_STATES, "counters"),
    **dict.fromkeys(CORE_RESIDENCIES, "counters"),
    "power": "counters",
}

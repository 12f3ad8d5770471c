"""Titles and notes of the timeline's panels, their series and the heatmap's quantities."""

from dataclasses import dataclass
from typing import Final

from data.timeline.residency import CORE_STATES, PACKAGE_STATES
from data.timeline.time_cells import SLEEP_STATES


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel; the entry of the same name in QUANTITIES defines its computation.

    Attributes:
        series: Name to title of each series.
        is_log: Whether its axis is logarithmic.
        is_default: Whether it is shown by default.
        note: What a reader must know to read it correctly.
        spread: What the extremes mean if one line is drawn for several cores or packages.
    """

    title: str
    unit: str
    series: dict[str, str]
    is_log: bool = False
    is_default: bool = True
    note: str = ""
    spread: str = ""


_SINGLE: Final = "of single cores"
_ADDED: Final = "sum of the cores' extremes"
_STEPS: Final = "minimum and maximum are rates between two samples, about a millisecond apart"
PANELS: Final[dict[str, Panel]] = {
    "bytes": Panel(
        "Bytes per interrupt",
        "B",
        {"rx": "received", "tx": "sent"},
        note="mean and largest of the bin's interrupts",
    ),
    "byte_rate": Panel(
        "Bytes a second", "B/s", {"rx_rate": "received", "tx_rate": "sent"}, is_default=False
    ),
    "interrupts": Panel(
        "Interrupts a second",
        "1/s",
        {"interrupts": "interrupts"},
        note="minimum and maximum over all these cores, in steps of the overview's finest bins",
    ),
    "gap": Panel(
        "Time between interrupts",
        "us",
        {"gap": "time between interrupts"},
        is_log=True,
        note="per core; the longest is drawn over all bins that it touches",
    ),
    "power": Panel(
        "Energy per millisecond",
        "W",
        {"power": "power"},
        note="millijoules per millisecond, of whole packages: the counter is not per core",
        spread="sum of the packages' extremes",
    ),
    "instructions": Panel(
        "Instructions a second",
        "1/s",
        {"instructions": "instructions"},
        is_default=False,
        note=_STEPS,
        spread=_ADDED,
    ),
    "ipc": Panel("Instructions per cycle", "", {"ipc": "IPC"}, note=_STEPS, spread=_SINGLE),
    "busy": Panel(
        "Busy share",
        "",
        {"busy": "busy"},
        note="reference cycles divided by time-stamp ticks",
        spread=_SINGLE,
    ),
    "frequency": Panel(
        "Frequency while busy",
        "GHz",
        {"frequency": "frequency"},
        is_default=False,
        note="cycles divided by the time of the reference cycles; halted cores do not count",
    ),
    "llc": Panel(
        "Last-level-cache misses a second",
        "1/s",
        {"llc_misses": "misses"},
        is_default=False,
        note=_STEPS,
        spread=_ADDED,
    ),
    "sleep": Panel(
        "Sleep-state entries a second",
        "1/s",
        {name: name.upper() for name in SLEEP_STATES},
        is_default=False,
        note=_STEPS,
        spread=_ADDED,
    ),
    "residency": Panel(
        "Time in C-states",
        "%",
        {f"{name}_residency_pct": name.upper() for name in CORE_STATES},
        is_default=False,
        note="of the time of those processors for which the tool reports the state",
    ),
    "package_residency": Panel(
        "Time in package C-states",
        "%",
        {f"{name}_residency_pct": name.upper() for name in PACKAGE_STATES},
        is_default=False,
        note="of the time of the packages",
    ),
}
DEFAULT_PANELS: Final = tuple(name for name, panel in PANELS.items() if panel.is_default)
# Of runs that a tool sampled, which sees no interrupts.
SAMPLED_PANELS: Final = ("power", "busy", "frequency", "residency", "package_residency")
SAMPLED_HEAT: Final = "busy"

# Title and unit of each quantity of the heatmap of cores over time.
_HEATS: Final[dict[str, tuple[str, str]]] = {
    "interrupts": ("Interrupts a second", "1/s"),
    "rx_bytes": ("Bytes received a second", "B/s"),
    "tx_bytes": ("Bytes sent a second", "B/s"),
    "gap": ("Longest time between interrupts", "us"),
    "instructions": ("Instructions a second", "1/s"),
    "ipc": ("Instructions per cycle", ""),
    "busy": ("Busy share", ""),
    "frequency": ("Frequency while busy", "GHz"),
    "llc_misses": ("Last-level-cache misses a second", "1/s"),
    **{name: (f"{name.upper()} entries a second", "1/s") for name in SLEEP_STATES},
    **{f"{name}_residency_pct": (f"Time in {name.upper()}", "%") for name in CORE_STATES},
    "power": ("Power of the packages", "W"),
}
HEATS: Final[dict[str, str]] = {name: title for name, (title, _) in _HEATS.items()}
HEAT_UNITS: Final[dict[str, str]] = {name: unit for name, (_, unit) in _HEATS.items()}
LOG_HEATS: Final = ("gap",)

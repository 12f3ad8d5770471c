"""How the timeline titles what it draws: its panels and their series, the heatmap's quantities."""

from dataclasses import dataclass
from typing import Final

from data.timeline.time_cells import SLEEP_STATES


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel; what it is computed from is the entry of the same name in QUANTITIES.

    Attributes:
        series: Name to title of what it draws.
        is_log: Whether its axis is logarithmic.
        is_default: Whether it is shown when nobody says which panels are.
        note: What a reader must know to read it right.
        spread: What the extremes are of where several cores, or packages, are drawn as one.
    """

    title: str
    unit: str
    series: dict[str, str]
    is_log: bool = False
    is_default: bool = True
    note: str = ""
    spread: str = ""


_SINGLE: Final = "of single cores"
_ADDED: Final = "the cores' extremes added up"
_STEPS: Final = "least and greatest are rates between two samples, about a millisecond apart"
PANELS: Final[dict[str, Panel]] = {
    "bytes": Panel(
        "Bytes an interrupt",
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
        note="least and most of all these cores in steps as long as the overview's finest bins",
    ),
    "gap": Panel(
        "Time between interrupts",
        "us",
        {"gap": "time between interrupts"},
        is_log=True,
        note="of each core; the longest is drawn over all the bins that it touches",
    ),
    "power": Panel(
        "Energy per millisecond",
        "W",
        {"power": "power"},
        note="millijoules a millisecond, of whole packages: the counter is not of one core",
        spread="the packages' extremes added up",
    ),
    "instructions": Panel(
        "Instructions a second",
        "1/s",
        {"instructions": "instructions"},
        is_default=False,
        note=_STEPS,
        spread=_ADDED,
    ),
    "ipc": Panel("Instructions a cycle", "", {"ipc": "IPC"}, note=_STEPS, spread=_SINGLE),
    "busy": Panel(
        "Busy share",
        "",
        {"busy": "busy"},
        note="reference cycles by ticks of the time-stamp counter",
        spread=_SINGLE,
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
}
DEFAULT_PANELS: Final = tuple(name for name, panel in PANELS.items() if panel.is_default)

# Title and unit of each quantity of the heatmap of cores by time.
_HEATS: Final[dict[str, tuple[str, str]]] = {
    "interrupts": ("Interrupts a second", "1/s"),
    "rx_bytes": ("Bytes received a second", "B/s"),
    "tx_bytes": ("Bytes sent a second", "B/s"),
    "gap": ("Longest time between interrupts", "us"),
    "instructions": ("Instructions a second", "1/s"),
    "ipc": ("Instructions a cycle", ""),
    "busy": ("Busy share", ""),
    "llc_misses": ("Last-level-cache misses a second", "1/s"),
    **{name: (f"{name.upper()} entries a second", "1/s") for name in SLEEP_STATES},
    "power": ("Power of the packages", "W"),
}
HEATS: Final[dict[str, str]] = {name: title for name, (title, _) in _HEATS.items()}
HEAT_UNITS: Final[dict[str, str]] = {name: unit for name, (_, unit) in _HEATS.items()}
LOG_HEATS: Final = ("gap",)

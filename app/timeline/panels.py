"""What a timeline can draw: its panels, their series and units, the heatmap's quantities."""

from dataclasses import dataclass
from typing import Final, Literal

SLEEP_STATES: Final = ("c1", "c1e", "c3", "c6", "c7")
_WAYS: Final = {"rx": "received", "tx": "sent"}
_RATES: Final = {"rx_rate": "received", "tx_rate": "sent"}


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel.

    Attributes:
        series: Name to title of what it draws.
        axis: Whose bins its values lie in: those of the interrupts, or of the counter samples.
        is_log: Whether its values are drawn by their logarithm.
        is_default: Whether it is there when nobody says which.
        note: What a reader must know to read it right.
        rates: Of RATES: those whose extremes it draws.
        spread: What the extremes are of where several cores, or packages, are drawn as one.
    """

    name: str
    title: str
    unit: str
    series: dict[str, str]
    axis: Literal["interrupts", "counters"] = "interrupts"
    is_log: bool = False
    is_default: bool = True
    note: str = ""
    rates: tuple[str, ...] = ()
    spread: str = ""


_SINGLE: Final = "of single cores"
_ADDED: Final = "the cores' extremes added up"
_STEPS: Final = "least and greatest are rates between two samples, about a millisecond apart"
_ALL: Final = (
    Panel(
        "bytes",
        "Bytes an interrupt",
        "B",
        _WAYS,
        note="mean and largest of the bin's interrupts",
    ),
    Panel("byte_rate", "Bytes a second", "B/s", _RATES, is_default=False),
    Panel(
        "interrupts",
        "Interrupts a second",
        "1/s",
        {"interrupts": "interrupts"},
        note="least and most of all these cores in steps as long as the overview's finest bins",
    ),
    Panel(
        "gap",
        "Time between interrupts",
        "us",
        {"gap": "time between interrupts"},
        is_log=True,
        note="of each core; the longest is drawn over all the bins that it touches",
    ),
    Panel(
        "power",
        "Energy per millisecond",
        "W",
        {"power": "power"},
        "counters",
        note="millijoules a millisecond, of whole packages: the counter is not of one core",
        rates=("power_w",),
        spread="the packages' extremes added up",
    ),
    Panel(
        "instructions",
        "Instructions a second",
        "1/s",
        {"instructions": "instructions"},
        "counters",
        is_default=False,
        note=_STEPS,
        rates=("instructions_per_s",),
        spread=_ADDED,
    ),
    Panel(
        "ipc",
        "Instructions a cycle",
        "",
        {"ipc": "IPC"},
        "counters",
        note=_STEPS,
        rates=("ipc",),
        spread=_SINGLE,
    ),
    Panel(
        "busy",
        "Busy share",
        "",
        {"busy": "busy"},
        "counters",
        note="reference cycles by ticks of the time-stamp counter",
        rates=("ref_cycles_per_s",),
        spread=_SINGLE,
    ),
    Panel(
        "llc",
        "Last-level-cache misses a second",
        "1/s",
        {"llc_misses": "misses"},
        "counters",
        is_default=False,
        note=_STEPS,
        rates=("llc_misses_per_s",),
        spread=_ADDED,
    ),
    Panel(
        "sleep",
        "Sleep-state entries a second",
        "1/s",
        {name: name.upper() for name in SLEEP_STATES},
        "counters",
        is_default=False,
        note=_STEPS,
        rates=tuple(f"{name}_per_s" for name in SLEEP_STATES),
        spread=_ADDED,
    ),
)
PANELS: Final[dict[str, Panel]] = {panel.name: panel for panel in _ALL}
DEFAULT_PANELS: Final = tuple(panel.name for panel in _ALL if panel.is_default)
# Whose bins each series lies in; `count` is how many interrupts there are in a bin.
AXES: Final = {"count": "interrupts"} | {
    series: panel.axis for panel in _ALL for series in panel.series
}


@dataclass(frozen=True, slots=True)
class Heat:
    """One quantity of the heatmap of cores by time."""

    name: str
    title: str
    unit: str
    axis: Literal["interrupts", "counters"]
    is_log: bool = False


_ALL_HEATS: Final = (
    Heat("interrupts", "Interrupts a second", "1/s", "interrupts"),
    Heat("rx_bytes", "Bytes received a second", "B/s", "interrupts"),
    Heat("tx_bytes", "Bytes sent a second", "B/s", "interrupts"),
    Heat("gap", "Longest time between interrupts", "us", "interrupts", is_log=True),
    Heat("instructions", "Instructions a second", "1/s", "counters"),
    Heat("ipc", "Instructions a cycle", "", "counters"),
    Heat("busy", "Busy share", "", "counters"),
    Heat("llc_misses", "Last-level-cache misses a second", "1/s", "counters"),
    *(Heat(name, f"{name.upper()} entries a second", "1/s", "counters") for name in SLEEP_STATES),
    Heat("power", "Power of the packages", "W", "counters"),
)
HEAT_QUANTITIES: Final[dict[str, Heat]] = {heat.name: heat for heat in _ALL_HEATS}
HEATS: Final[dict[str, str]] = {heat.name: heat.title for heat in _ALL_HEATS}

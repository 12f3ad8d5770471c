"""The views of Storage: their names, sections and axes."""

from dataclasses import dataclass
from typing import Final, Literal

NAME: Final = "storage"
DEPTH: Final = "io_depth"
# Sums of the columns of `functions`.
LOADS_STORES_PER_S: Final = "loads_stores_per_s"

Kind = Literal[
    "lines", "sources", "subsystems", "devices", "difference", "proportionality", "efficiency"
]


@dataclass(frozen=True, slots=True)
class View:
    """One view.

    Attributes:
        name: Name in addresses of downloads.
        title: Title for menus and screen readers.
        x: Column along the x axis of lines: `io_depth` or a metric.
        y: Metric that the view shows.
    """

    name: str
    section: str
    title: str
    kind: Kind
    x: str = ""
    y: str = ""

    @property
    def graph(self) -> str:
        """Id of the figure on the page."""
        return f"{NAME}-{self.name}"

    @property
    def room_chars(self) -> int:
        """Maximum characters in a line of the subtitle, in the narrowest window."""
        if self.name in WIDE:
            return 155
        return 60 if across(self.section) > 2 else 78


SECTIONS: Final = {
    "performance": "Performance",
    "power": "CPU and power",
    "switches": "Context switches",
    "interrupts": "Interrupts",
    "kernel": "Loads and stores",
    "devices": "Devices",
    "efficiency": "Efficiency",
    "claims": "Claims",
    "published": "Published values",
}
VIEWS: Final = (
    View("iops", "performance", "IO rate by depth", "lines", DEPTH, "iops"),
    View("latency", "performance", "Mean latency by depth", "lines", DEPTH, "latency_mean_us"),
    View("latency-p99", "performance", "p99 latency by depth", "lines", DEPTH, "latency_p99_us"),
    View("cpu", "power", "CPU by depth", "lines", DEPTH, "cpu_pct"),
    View("power", "power", "Power by depth", "lines", DEPTH, "power_w"),
    View("power-cpu", "power", "Power against CPU", "lines", "cpu_pct", "power_w"),
    View("switches", "switches", "Context switches a second by depth", "lines", DEPTH,
         "context_switches_per_s"),
    View("switches-io", "switches", "Context switches per IO by depth", "lines", DEPTH,
         "context_switches_per_io"),
    View("interrupts", "interrupts", "Interrupts a second by depth", "lines", DEPTH,
         "interrupts_per_s"),
    View("cpu-interrupts", "interrupts", "Kernel CPU against interrupts a second", "lines",
         "interrupts_per_s", "cpu_sys_pct"),
    View("power-interrupts", "interrupts", "Power against interrupts a second", "lines",
         "interrupts_per_s", "power_w"),
    View("loads-stores", "kernel", "Loads and stores of the kernel by source", "sources",
         y=LOADS_STORES_PER_S),
    View("loads", "kernel", "Loads by kernel subsystem", "subsystems", y="loads_per_s"),
    View("stores", "kernel", "Stores by kernel subsystem", "subsystems", y="stores_per_s"),
    View("devices", "devices", "Idle and active power by device", "devices", y="power_w"),
    View("difference", "devices", "Write minus read power", "difference", y="power_w"),
    View("proportionality", "devices", "Energy proportionality", "proportionality", y="power_w"),
    View("bytes-joule", "efficiency", "Bytes per joule", "efficiency", y="bytes_per_joule"),
    View("ios-joule", "efficiency", "IOs per joule", "efficiency", y="ios_per_joule"),
)  # fmt: skip
# Views that span the page.
WIDE: Final = ("loads-stores", "proportionality")
BY_NAME: Final = {view.name: view for view in VIEWS}
# Views without a figure: claims of the papers, published values, all runs.
CLAIMS: Final = "claims"
PUBLISHED: Final = "published"
RUNS: Final = "runs"


def across(section: str) -> int:
    """Return the number of views of a section that are side by side."""
    return sum(view.section == section and view.name not in WIDE for view in VIEWS)

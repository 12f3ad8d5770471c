"""The views of Models by tab, and the state as a URL query."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from app.kit.clause import read_clause
from app.kit.page import View
from app.kit.url_state import Upgraders, UrlState, parameter
from app.kit.url_values import check_choice, read_number
from app.models.controls import CONTROLS, ENERGY, read_values, values_in
from app.models.presets import FIGURES, HOSTS, MULTIPLES
from data.catalogue import Catalogue
from data.errors import DataError, SelectionError
from data.models import SCHEMES
from data.models.simulation.bursts import check_frame_sizes
from data.selection import Selection

NAME: Final = "models"
# Tab to its views.
VIEWS: Final = {
    "interrupts": (
        View("throughput", "Throughput against load"),
        View("cpu", "CPU left for users against load"),
        View("latency", "Latency against load"),
        View("loss", "Loss against load"),
        View("stack", "CPU by scheme at the crosshair"),
        View("crosshair", "Schemes at the crosshair", is_picture=False),
        View("itr", "Interrupts a second of runs against the throttle formula"),
        View("best", "Best scheme under the latency limit"),
    ),
    "energy": (
        View("energy", "Power against latency by frequency"),
        View("plane", "Runs: power against latency, and the fitted model"),
    ),
    "fit": (
        View("predicted", "Predicted against measured"),
        View("residuals", "Residuals of the fit"),
        View("fits", "Fitted numbers", is_picture=False),
    ),
    "traffic": (
        View("sources", "ON/OFF sources of bursty traffic"),
        View("sizes", "Frame sizes of bursty traffic"),
        View("table1", "Latency of coalescing by 50 us under bursty traffic", is_picture=False),
    ),
}
TABS: Final = {
    "interrupts": "Interrupts", "energy": "Energy", "fit": "Fit", "traffic": "Traffic",
}  # fmt: skip
# Rows without a panel: the filtered runs.
RUNS: Final = View("runs", "Runs, in units of a queue", is_picture=False)
ALL: Final = tuple(view for views in VIEWS.values() for view in views)
# Fitted quantities, in the menu of the tab Fit.
FITS: Final = {
    "power": "mean power",
    "busy_time": "time awake of a request",
    "interrupts": "interrupts a second of a queue",
    "host": "busy share of a core",
}
AGAINST: Final = ("dvfs_ghz", "itr_us", "busy_share", "load_qps")
# Schemes of the state without a link.
FIRST_SCHEMES: Final = (
    "ideal", "normal", "disable_enable", "pure_polling", "napi", "count_coalescing",
    "time_coalescing", "hybrid",
)  # fmt: skip
_MOST_SEED: Final = 2**31
# End of the load axis, unless a figure or the link has another.
MOST_KPPS: Final = 300.0
# Frame sizes that a link holds.
_MOST_SIZES: Final = 64


@dataclass(frozen=True, slots=True)
class ModelsState(UrlState):
    """The whole state of Models.

    Attributes:
        tab: One of TABS.
        host: The preset with the sliders' values; `values` override it.
        figure: The figure of a paper whose curves are shown; empty: those of `schemes`.
        schemes: Names of the drawn schemes, `NAME,NAME...`; `none` for none.
        values: Parameters of interrupt handling that differ from the defaults, `key:value,...`.
        energy: Parameters of energy and latency in the same form.
        multiples: Small multiples over alpha and beta, by their figure's number.
        at_kpps: Position of the crosshair.
        limit_us: Latency limit of the strip of best schemes.
        latency: Statistic of the limit and the latency panel: `mean` or `p99`.
        scale: Scale of the latency axis.
        to_kpps: End of the load axis; None for that of the figure.
        zoom: Shown range of the load axis, `x0~x1` in Kpps; empty for all of it.
        is_simulated: Whether simulations are shown.
        has_runs: Whether runs of the lake are shown with the curves.
        sizes: Frame sizes of bursty traffic, `bytes:weight,...`; empty: the shipped ones.
        seed: Seed of the simulation.
        cores: Number of cores that served a run whose logs are not in the lake.
        tsc_ghz: Rate of the TSC of such a run.
        against: Column along x of the residuals.
        fit: The drawn fit, one of FITS.
    """

    VERSION: ClassVar[int] = 3
    # Version 2 is the version of links from other pages. In version 3 `limit` is Explore's.
    UPGRADERS: ClassVar[Upgraders] = {
        1: lambda parameters: parameters,
        2: lambda old: {"under" if key == "limit" else key: old[key] for key in old},
    }

    selection: Selection = field(default_factory=Selection)
    tab: str = parameter("tab", "interrupts", is_kept=True)
    host: str = parameter("host", "paper2007", is_kept=True)
    figure: str = parameter("fig", "", is_kept=True)
    schemes: str = parameter(
        "scheme", ",".join(FIRST_SCHEMES), lambda key, text: _schemes(key, text), is_kept=True
    )
    values: str = parameter(
        "p", "", lambda key, text: read_values(key, text, CONTROLS), is_kept=True
    )
    energy: str = parameter("e", "", lambda key, text: read_values(key, text, ENERGY), is_kept=True)
    multiples: str = parameter("multiples", "", is_kept=True)
    at_kpps: float = parameter("at", 100.0, is_kept=True)
    limit_us: float = parameter("under", 100.0, is_kept=True)
    latency: str = parameter("latency", "mean", is_kept=True)
    scale: str = parameter("scale", "log", is_kept=True)
    to_kpps: float | None = parameter("to", None, read_number, is_kept=True)
    zoom: str = parameter("zoom", "", is_kept=True)
    is_simulated: bool = parameter("sim", False, is_kept=True)
    has_runs: bool = parameter("runs", True, is_kept=True)
    sizes: str = parameter("sizes", "", lambda key, text: _sizes(key, text), is_kept=True)
    seed: int = parameter(
        "seed", 1, lambda key, text: _whole(key, text, 0, _MOST_SEED), is_kept=True
    )
    cores: int = parameter("cores", 16, lambda key, text: _whole(key, text, 1, 4096), is_kept=True)
    tsc_ghz: float = parameter("tsc", 2.9, is_kept=True)
    against: str = parameter("against", "dvfs_ghz", is_kept=True)
    fit: str = parameter("fit", "power", is_kept=True)
    sel: str = parameter("sel", "", is_kept=True)

    def __post_init__(self) -> None:
        for key, value, known in (
            ("tab", self.tab, tuple(TABS)),
            ("host", self.host, tuple(HOSTS)),
            ("fig", self.figure, ("", *FIGURES)),
            ("multiples", self.multiples, tuple(MULTIPLES)),
            ("latency", self.latency, ("mean", "p99")),
            ("scale", self.scale, ("log", "linear")),
            ("against", self.against, AGAINST),
            ("fit", self.fit, tuple(FITS)),
        ):
            check_choice(key, value, known)
        for key, number, most in (
            ("at", self.at_kpps, 1e6), ("under", self.limit_us, 1e9), ("to", self.most_kpps, 1e6),
            ("tsc", self.tsc_ghz, 100),
        ):  # fmt: skip
            if not 0 < number <= most:
                raise SelectionError(f"{key} is {number:g}, expected above 0 and at most {most:g}")
        if self.zoom:
            ends = [read_number("zoom", text) for text in self.zoom.split("~")]
            if len(ends) != 2 or ends[0] >= ends[1]:
                raise SelectionError(f"zoom is {self.zoom[:40]!r}, expected two rising numbers")

    def check(self, catalogue: Catalogue) -> None:
        """Refuse a selection of columns that the lake lacks."""
        read_clause(self.sel, catalogue=catalogue)

    @property
    def most_kpps(self) -> float:
        """The end of the load axis."""
        if self.to_kpps is not None:
            return self.to_kpps
        return float(FIGURES.get(self.figure, {}).get("to", MOST_KPPS))

    def frame_sizes(self) -> list[tuple[float, float]] | None:
        """Return bytes and weight of each frame size; None for the shipped ones."""
        return _pairs(self.sizes) or None

    def control_values(self) -> dict[str, Any]:
        """Return the values of all controls of interrupt handling: host, figure, then changes.

        Only the browser knows the measured host; its values are in `values`.
        """
        values = values_in("", CONTROLS)
        values |= HOSTS[self.host]["values"] or {}
        values |= FIGURES[self.figure]["values"] if self.figure else {}
        given = {part.partition(":")[0] for part in self.values.split(",") if part}
        own = values_in(self.values, CONTROLS)
        return values | {key: own[key] for key in given}


def _schemes(key: str, text: str) -> str:
    names = text.split(",")
    for name in names:
        if name not in SCHEMES and text != "none":
            raise SelectionError(
                f"{key} is {name[:40]!r}, expected some of {', '.join(SCHEMES)}, or none"
            )
    return ",".join(name for name in SCHEMES if name in names) or "none"


def _pairs(text: str) -> list[tuple[float, float]]:
    parts = [part.partition(":") for part in text.split(",") if part]
    return [(float(size), float(weight)) for size, _, weight in parts]


def _sizes(key: str, text: str) -> str:
    """Check frame sizes; all must be of this kind, and no more than a link holds."""
    try:
        pairs = _pairs(text)
        if len(pairs) > _MOST_SIZES:
            raise DataError(f"{len(pairs)} sizes, expected at most {_MOST_SIZES}")
        if pairs:
            check_frame_sizes(pairs)
    except (ValueError, DataError) as error:
        raise SelectionError(f"{key} is {text[:40]!r}: {error}") from None
    return ",".join(f"{size:g}:{weight:.6g}" for size, weight in pairs)


def _whole(key: str, text: str, least: int, most: int) -> int:
    value = read_number(key, text)
    if value != int(value) or not least <= value <= most:
        raise SelectionError(f"{key} is {text[:40]!r}, expected a whole number {least} to {most}")
    return int(value)

"""What the browser draws by itself: schemes, controls, presets; and the same curves in Python."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from app.models.controls import (
    CONTROLS,
    ENERGY,
    ENERGY_TITLES,
    LOWEST_DVFS,
    PRINTED,
    SLIDERS,
    TITLES,
    control_of,
    scheme_values,
)
from app.models.presets import (
    DETECT_SHARES,
    FIGURES,
    HOSTS,
    LINK_KPPS,
    MULTIPLES,
    MULTIPLES_CHOSEN,
    PUBLISHED_COSTS,
    stars,
    table_1,
)
from app.models.state import FITS, MOST_KPPS, TABS, ModelsState
from data.errors import DataError
from data.models import SCHEMES
from data.models.parameters import Parameter
from data.models.scheme import Answer, Kind, Scheme
from data.models.simulation.bursts import default_frame_sizes, link_kpps

# Points of a curve by formula, and of a simulated one.
CURVE_POINTS: Final = 48
SIMULATED_POINTS: Final = 18
REPLICATIONS: Final = 10
PRECISION: Final = 0.1
# Maximum simulated events per rate; a rate near saturation takes some seconds. Bursts have infinite
# variance: there the precision is seldom reached.
MOST_EVENTS: Final = {"poisson": 2e7, "bursty": 4e6}
# Events per rate of a first pass over all curves, which draws each within seconds; 0: none.
FIRST_EVENTS: Final = {"poisson": 0, "bursty": 1e5}
# What a simulation takes here, for the words of a curve that needs one: to start, and a curve.
SECONDS: Final = {"start": 2.0, "poisson": 0.6, "bursty": 5.0}
PANELS: Final = {
    "throughput": "throughput_kpps",
    "cpu": "cpu_left",
    "latency": "latency_mean_us",
    "loss": "loss_share",
}
# Hues that are distinct on white and near-black, and from those of the lake's systems.
_HUES: Final = (
    "#7A7A7A", "#C2457A", "#1E9E4A", "#7B68EE", "#AA4499", "#44AA99", "#B8860B", "#2F9EC4",
    "#999933", "#4E79A7", "#A0522D", "#6B8E23", "#C2185B", "#CC6677", "#D2691E",
)  # fmt: skip
_SYMBOLS: Final = ("circle", "diamond", "square", "triangle-up", "triangle-down", "pentagon")


@dataclass(frozen=True, slots=True)
class Curve:
    """One curve: a scheme with its parameters.

    Attributes:
        kinds: The solutions in formulas that are drawn.
    """

    scheme: Scheme
    label: str
    values: dict[str, Any]
    kinds: tuple[Kind, ...]


def curves(state: ModelsState) -> list[Curve]:
    """Return the curves of a state, in the order of the legend."""
    values = state.control_values()
    if not state.figure:
        wanted: list[dict[str, Any]] = [
            {"scheme": n} for n in SCHEMES if n in state.schemes.split(",")
        ]
    else:
        wanted = FIGURES[state.figure]["curves"]
    drawn = []
    for entry in wanted:
        scheme = SCHEMES[entry["scheme"]]
        over = {control_of(scheme.name, name): v for name, v in entry.get("over", {}).items()}
        checked = {key: CONTROLS[key].check(value) for key, value in over.items()}
        kinds = () if entry.get("is_simulated") else tuple(scheme.solutions)
        label = entry.get("label", scheme.title)
        drawn.append(Curve(scheme, label, scheme_values(scheme, values | checked), kinds))
    return drawn


def rates_kpps(state: ModelsState, points: int) -> np.ndarray:
    """Return arrival rates from 1 Kpps (less on a short axis) to the end of the load axis."""
    most = state.most_kpps
    if state.control_values()["traffic"] == "bursty":
        most = min(most, link_kpps(state.frame_sizes()))
    return np.linspace(min(1.0, most / points), most, points)


def solved(state: ModelsState, rates: np.ndarray) -> Iterator[tuple[Curve, Answer]]:
    """Solve all curves by formula; parameters that a scheme refuses are skipped, as in the browser.

    Bursty traffic has no formulas.
    """
    is_bursty = state.control_values()["traffic"] == "bursty"
    for curve in () if is_bursty else curves(state):
        values = {**curve.values, "traffic": "poisson"}
        for kind in curve.kinds:
            try:
                yield curve, curve.scheme.solve(kind, rates, **values)
            except DataError:
                continue


def simulation(state: ModelsState, part: str = "all") -> dict[str, Any]:
    """Return the request of a simulation job, which `python -m data.models` reads.

    Args:
        part: `all` curves over the load axis; `needed`: those of them without a formula; `at`: all
            curves at the crosshair alone.
    """
    traffic, sizes = state.control_values()["traffic"], state.frame_sizes()
    shown = [c for c in curves(state) if part != "needed" or traffic == "bursty" or not c.kinds]
    rates = rates_kpps(state, SIMULATED_POINTS).tolist()
    most = link_kpps(sizes) if traffic == "bursty" else np.inf
    if loads := FIGURES.get(state.figure, {}).get("loads"):
        rates = [load * most for load in loads]
    return {
        "curves": [{"scheme": c.scheme.name, "values": c.values} for c in shown],
        "labels": [c.label for c in shown],
        "rates_kpps": [min(state.at_kpps, most)] if part == "at" else rates,
        "frame_sizes": sizes,
        "seed": state.seed,
        "replications": REPLICATIONS,
        "precision": PRECISION,
        "most_events": MOST_EVENTS[traffic],
        "first_events": FIRST_EVENTS[traffic],
    }


def spec() -> dict[str, Any]:
    """Return the spec; the same for all states."""
    # The frame sizes as shipped: the share of every size, and the shares of peaks.
    sizes = dict(default_frame_sizes())
    even = min(sizes.values())
    peaks = [[size, share - even] for size, share in sizes.items() if share > even * 1.001]
    return {
        "tabs": TABS,
        "schemes": [
            {
                "name": scheme.name,
                "title": scheme.title,
                "sentence": scheme.sentence,
                "kinds": list(scheme.kinds),
                "controls": {p.name: control_of(scheme.name, p.name) for p in scheme.parameters},
                "hue": _HUES[number % len(_HUES)],
                "symbol": _SYMBOLS[number % len(_SYMBOLS)],
            }
            for number, scheme in enumerate(SCHEMES.values())
        ],
        "hues": list(_HUES),
        "controls": _described(CONTROLS, TITLES),
        "energy": _described(ENERGY, ENERGY_TITLES),
        "hosts": HOSTS,
        "figures": FIGURES,
        "mostKpps": MOST_KPPS,
        "multiples": MULTIPLES,
        "multiplesChosen": MULTIPLES_CHOSEN,
        "table1": list(table_1()),
        "sizes": {"from": min(sizes), "to": max(sizes), "even": even, "peaks": peaks},
        "seconds": SECONDS,
        "detectShares": list(DETECT_SHARES),
        "stars": stars(),
        "fits": FITS,
        "publishedCosts": list(PUBLISHED_COSTS),
        "linkKpps": LINK_KPPS,
        "lowestDvfs": LOWEST_DVFS,
        "points": CURVE_POINTS,
    }


def _described(
    parameters: Mapping[str, Parameter], titles: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    return {
        key: {
            "title": titles[key],
            "unit": parameter.unit,
            "default": parameter.default,
            "range": list(parameter.range),
            "sentence": parameter.sentence,
            "isChoice": parameter.is_choice,
            "isWhole": isinstance(parameter.default, int),
            "slider": SLIDERS.get(key),
            "isPrinted": key in PRINTED,
        }
        for key, parameter in parameters.items()
    }

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
    PUBLISHED_COSTS,
    stars,
)
from app.models.state import FITS, TABS, ModelsState
from data.errors import DataError
from data.models import SCHEMES
from data.models.parameters import Parameter
from data.models.scheme import Answer, Scheme

# Points of a curve by formula, and of a simulated one.
CURVE_POINTS: Final = 48
SIMULATED_POINTS: Final = 18
REPLICATIONS: Final = 10
PRECISION: Final = 0.1
# Maximum simulated events per rate; a rate near saturation takes some seconds.
MOST_EVENTS: Final = 2e7
PANELS: Final = {
    "throughput": "throughput_kpps",
    "cpu": "cpu_left",
    "latency": "latency_mean_us",
    "loss": "loss_share",
}
# Hues that are distinct on white and near-black, and from those of the lake's systems.
_HUES: Final = (
    "#7A7A7A", "#C2457A", "#1E9E4A", "#7B68EE", "#AA4499", "#44AA99", "#B8860B", "#CC6677",
    "#999933", "#4E79A7", "#A0522D", "#6B8E23", "#C2185B", "#2F9EC4", "#D2691E",
)  # fmt: skip
_SYMBOLS: Final = ("circle", "diamond", "square", "triangle-up", "triangle-down", "pentagon")


@dataclass(frozen=True, slots=True)
class Curve:
    """One curve: a scheme with its parameters."""

    scheme: Scheme
    label: str
    values: dict[str, Any]


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
        drawn.append(
            Curve(scheme, entry.get("label", scheme.title), scheme_values(scheme, values | checked))
        )
    return drawn


def rates_kpps(state: ModelsState, points: int) -> np.ndarray:
    """Return arrival rates from 1 Kpps (less on a short axis) to the end of the load axis."""
    most = state.most_kpps
    if state.control_values()["traffic"] == "bursty":
        most = min(most, LINK_KPPS)
    return np.linspace(min(1.0, most / points), most, points)


def solved(state: ModelsState, rates: np.ndarray) -> Iterator[tuple[Curve, Answer]]:
    """Solve all curves by formula; parameters that a scheme refuses are skipped, as in the browser.

    Bursty traffic has no formulas.
    """
    is_bursty = state.control_values()["traffic"] == "bursty"
    for curve in () if is_bursty else curves(state):
        values = {**curve.values, "traffic": "poisson"}
        for kind in curve.scheme.kinds:
            if kind != "simulated":
                try:
                    yield curve, curve.scheme.solve(kind, rates, **values)
                except DataError:
                    continue


def simulation(state: ModelsState) -> dict[str, Any]:
    """Return the request of a simulation job, which `python -m data.models` reads."""
    return {
        "curves": [{"scheme": c.scheme.name, "values": c.values} for c in curves(state)],
        "labels": [c.label for c in curves(state)],
        "rates_kpps": rates_kpps(state, SIMULATED_POINTS).tolist(),
        "seed": state.seed,
        "replications": REPLICATIONS,
        "precision": PRECISION,
        "most_events": MOST_EVENTS,
    }


def spec() -> dict[str, Any]:
    """Return the spec; the same for all states."""
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
        "multiples": MULTIPLES,
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
        }
        for key, parameter in parameters.items()
    }

"""The curves of a state, as in the browser: chosen schemes or a figure's, over a grid of rates."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from app.models.controls import CONTROLS, control_of, scheme_values
from app.models.presets import FIGURES, LINK_KPPS
from app.models.state import ModelsState
from data.errors import DataError
from data.models import SCHEMES
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
        asked: list[dict[str, Any]] = [
            {"scheme": n} for n in SCHEMES if n in state.schemes.split(",")
        ]
    else:
        asked = FIGURES[state.figure]["curves"]
    found = []
    for one in asked:
        scheme = SCHEMES[one["scheme"]]
        over = {control_of(scheme.name, name): v for name, v in one.get("over", {}).items()}
        checked = {key: CONTROLS[key].check(value) for key, value in over.items()}
        found.append(
            Curve(scheme, one.get("label", scheme.title), scheme_values(scheme, values | checked))
        )
    return found


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

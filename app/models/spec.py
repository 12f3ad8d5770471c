"""The data that the browser needs to draw: schemes, controls, presets, published points."""

from collections.abc import Mapping
from typing import Any, Final

from app.models.controls import (
    CONTROLS,
    ENERGY,
    ENERGY_TITLES,
    LOWEST_DVFS,
    SLIDERS,
    TITLES,
    control_of,
)
from app.models.curves import CURVE_POINTS
from app.models.presets import (
    DETECT_SHARES,
    FIGURES,
    HOSTS,
    LINK_KPPS,
    MULTIPLES,
    PUBLISHED_COSTS,
    stars,
)
from app.models.state import FITS
from app.models.views import TAB_TITLES
from data.models import SCHEMES
from data.models.parameters import Parameter
from data.models.schemes.itr_throttle import US_PER_ITR_US

# Hues that are distinct on white and near-black, and from those of the lake's systems.
_HUES: Final = (
    "#7A7A7A", "#C2457A", "#1E9E4A", "#7B68EE", "#AA4499", "#44AA99", "#B8860B", "#CC6677",
    "#999933", "#4E79A7", "#A0522D", "#6B8E23", "#C2185B", "#2F9EC4", "#D2691E",
)  # fmt: skip
_SYMBOLS: Final = ("circle", "diamond", "square", "triangle-up", "triangle-down", "pentagon")


def spec() -> dict[str, Any]:
    """Return the spec; the same for all states."""
    return {
        "tabs": TAB_TITLES,
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
        "usPerItrUs": US_PER_ITR_US,
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

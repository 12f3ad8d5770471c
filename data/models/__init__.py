"""Models of interrupt handling, and of energy against latency."""

from typing import Any, Final

from data.models.schemes import ALL

SCHEMES: Final = {scheme.name: scheme for scheme in ALL}
_RATE_KPPS: Final = 50.0
_EFFORT: Final[dict[str, Any]] = {"replications": 2, "most_events": 1000}


def compile_models() -> None:
    """Solve each scheme once by each of its kinds, so that Numba's cache holds what they call.

    This takes half a minute once for a machine; without it the first visitor of Models waits.
    """
    for scheme in ALL:
        for kind in scheme.kinds:
            scheme.solve(kind, [_RATE_KPPS], **(_EFFORT if kind == "simulated" else {}))

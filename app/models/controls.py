"""The page's parameters: one control for all schemes that use a name with the same meaning."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from data.errors import DataError, SelectionError
from data.models import SCHEMES
from data.models.energy import DETECTIONS, EnergyModel
from data.models.parameters import Parameter
from data.models.scheme import Scheme

# Scheme to the controls of parameters whose name has another meaning in other schemes.
_OWN: Final[dict[str, dict[str, str]]] = {
    "deferral": {"delay_us": "defer_us", "count": "looks"},
    "irq_suspension": {"delay_us": "defer_us", "count": "looks"},
    "rx_usecs_frames": {"delay_us": "usecs_us", "count": "frames"},
}
TITLES: Final = {
    "service_us": "1/mu, work of a packet",
    "interrupt_us": "1/r, an interrupt",
    "register_us": "c_w, a register write",
    "ring": "B, ring",
    "poll_period_us": "T_poll, polling period",
    "poll_overhead_us": "T_oh, a poll",
    "quota": "Q, quota of a poll",
    "count": "tau, packets an interrupt",
    "delay_us": "T, delay (ITR)",
    "usecs_us": "rx-usecs",
    "frames": "rx-frames",
    "defer_us": "G, deferral",
    "looks": "D, empty looks",
    "switch_kpps": "switching point",
    "timer": "timer runs",
    "take": "work takes",
    "setup": "set-up",
    "drops_interrupt": "drops interrupt",
    "ticks": "ticks in a batch",
    "wait": "wait for a tick",
    "profiles": "DIM table",
    "traffic": "traffic",
    "reading": "bursty: load",
    "link": "bursty: link",
}
# Parameters whose default is printed in the study; the other defaults are chosen by us.
PRINTED: Final = frozenset((
    "service_us", "interrupt_us", "register_us", "ring", "poll_period_us", "poll_overhead_us",
    "quota", "count", "delay_us", "switch_kpps", "wait", "traffic", "static_w", "dynamic_w",
    "sleep_w",
))  # fmt: skip
# Ranges of the sliders; the number inputs beside them accept all values that the models accept.
SLIDERS: Final = {
    "service_us": (0.2, 20.0), "interrupt_us": (0.0, 20.0), "register_us": (0.0, 3.0),
    "ring": (1, 4096), "poll_period_us": (5.0, 100.0), "poll_overhead_us": (0.0, 10.0),
    "quota": (1, 64), "count": (1, 64), "delay_us": (0.0, 500.0), "usecs_us": (0.0, 200.0),
    "frames": (0, 256), "defer_us": (1.0, 200.0), "looks": (1, 200), "switch_kpps": (10.0, 300.0),
    "alpha": (-1.0, 1.0), "beta": (-1.5, 2.0), "static_w": (0.0, 50.0), "dynamic_w": (0.0, 100.0),
    "sleep_w": (0.0, 50.0), "detect_share": (0.0, 0.6), "work_share": (0.01, 0.6),
}  # fmt: skip


def control_of(scheme: str, name: str) -> str:
    """Return the key of the control of a scheme's parameter."""
    return _OWN.get(scheme, {}).get(name, name)


def _controls() -> dict[str, Parameter]:
    controls: dict[str, Parameter] = {}
    for scheme in SCHEMES.values():
        for parameter in scheme.parameters:
            key = control_of(scheme.name, parameter.name)
            controls.setdefault(key, replace(parameter, name=key))
    return {key: controls[key] for key in TITLES}


CONTROLS: Final = _controls()
ENERGY: Final = {
    parameter.name: parameter
    for parameter in (
        Parameter("alpha", "", -0.5, (-1.0, 2.0),
                  "Time: 0 inverse to frequency, -1 independent of it."),
        Parameter("beta", "", 0.0, (-1.9, 4.0), "Power: 0 grows with D squared, 1 with D cubed."),
        Parameter("static_w", "W", 10.0, (0.0, 1000.0), "P_s, power while awake."),
        Parameter("dynamic_w", "W", 20.0, (0.0, 1000.0), "P_d, dynamic power at D = 1."),
        Parameter("sleep_w", "W", 0.0, (0.0, 1000.0), "P_q, power between requests."),
        Parameter("detect_share", "", 0.1, (0.0, 1.0),
                  "Detection over the time between requests; an interrupt delay enters here."),
        Parameter("work_share", "", 0.2, (0.001, 1.0),
                  "Work at D = 1 over the time between requests."),
        Parameter("detection", "", "busy", DETECTIONS,
                  "Whether detection draws the power of work (polling) or nothing."),
    )
}  # fmt: skip
ENERGY_TITLES: Final = {
    "alpha": "alpha", "beta": "beta", "static_w": "P_s, awake", "dynamic_w": "P_d, dynamic",
    "sleep_w": "P_q, asleep", "detect_share": "detection", "work_share": "work",
    "detection": "detection is",
}  # fmt: skip
LOWEST_DVFS: Final = 0.45


def read_values(name: str, text: str, known: Mapping[str, Parameter]) -> str:
    """Check a text `key:value,key:value`, and write it in the order of the parameters.

    Default values are kept, since a preset may have others.

    Raises:
        SelectionError: An unknown key or an invalid value; the message names it.
    """
    checked_values: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        key, _, value = part.partition(":")
        if key not in known:
            raise SelectionError(f"{name} has an unknown parameter {key[:40]!r}")
        checked = _typed(known[key], value)
        plain = int(checked) if isinstance(checked, bool) else checked
        checked_values[key] = f"{plain:.12g}" if isinstance(plain, float) else str(plain)
    return ",".join(f"{key}:{checked_values[key]}" for key in known if key in checked_values)


def _typed(parameter: Parameter, text: str) -> Any:
    value: Any = text[:40]
    if isinstance(parameter.default, bool):
        value = {"1": True, "0": False}.get(text, text)
    elif not parameter.is_choice:
        try:
            value = float(text)
        except ValueError:
            value = text[:40]
    try:
        return parameter.check(value)
    except DataError as error:
        raise SelectionError(str(error)) from None


def values_in(text: str, known: Mapping[str, Parameter]) -> dict[str, Any]:
    """Return all values of a text of `read_values`, including defaults."""
    values = {key: parameter.default for key, parameter in known.items()}
    for part in filter(None, text.split(",")):
        key, _, value = part.partition(":")
        values[key] = _typed(known[key], value)
    return values


def scheme_values(scheme: Scheme, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a scheme's parameters from the controls' values."""
    return {p.name: values[control_of(scheme.name, p.name)] for p in scheme.parameters}


def energy_model(values: Mapping[str, Any]) -> EnergyModel:
    """Return the model for the controls' values; times in units of the time between requests."""
    same = {name: values[name] for name in ("alpha", "beta", "static_w", "dynamic_w", "sleep_w")}
    return EnergyModel(
        **same,
        detect_us=values["detect_share"],
        work_us=values["work_share"],
        interval_us=1.0,
        detection=values["detection"],
    )

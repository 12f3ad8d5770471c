"""The claims of the study of interrupt handling, as rules on the output of its models.

claims_of_schemes.toml has them in words. Nothing here needs runs. The ring has 1,024 places for
every scheme: latency in overload is about ring over throughput, so a smaller ring would reverse
orders.
"""

from collections.abc import Callable
from typing import Any, Final, get_args

import numpy as np
import polars as pl

from data.analysis.verdicts import UnmeasuredError, Verdict, judge, plain, share_outcome
from data.models.scheme import Kind

Rule = Callable[[None], Verdict]
# Mean service of the larger packets: 5.25 us and the copy of 557 bytes at 748 MB/s.
_LARGER_US: Final = 5.25 + 557 / 748
# Name in words to scheme, solution and parameters.
_SCHEMES: Final[dict[str, tuple[str, Kind, dict[str, Any]]]] = {
    "normal": ("normal", "exact", {}),
    "disable-enable": ("disable_enable", "exact", {}),
    "pure polling": ("pure_polling", "paper", {}),
    "count 8": ("count_coalescing", "paper", {"count": 8}),
    "delay 50 us": ("time_coalescing", "paper", {"delay_us": 50}),
}
_X, _V, _T = "throughput_kpps", "cpu_left", "latency_mean_us"
_LOADS: Final = (5.0, 10.0, 20.0, 40.0, 60.0, 80.0, 110.0, 150.0, 187.0, 250.0, 300.0, 400.0)
_AMBIGUOUS: Final = "traffic ambiguous: the text allows three readings of the bursty sources"


# The answers that verdicts rest on, by what was asked.
_ANSWERS: Final[dict[tuple[Any, ...], Any]] = {}


def _solved(scheme: str, kind: Kind, rates: tuple[float, ...] | list[float], **given: Any) -> Any:
    question = (scheme, kind, tuple(rates), *sorted(given.items()))
    if question not in _ANSWERS:
        _ANSWERS[question] = _solve(scheme, kind, rates, **given)
    return _ANSWERS[question]


def _solve(scheme: str, kind: Kind, rates: Any, **given: Any) -> Any:
    from data.models import SCHEMES

    return SCHEMES[scheme].solve(kind, rates, **given)


def model_values() -> pl.DataFrame:
    """Return the values of models that the verdicts rest on.

    Returns:
        A row for each scheme, solution, set of parameters and arrival rate: `scheme`, `kind`, the
        schemes' parameters (NULL where a scheme has none), `rate_kpps`, `throughput_kpps`,
        `cpu_left`, `latency_mean_us`.
    """
    for rules in RULES_OF_SCHEMES.values():
        judge(rules, None)
    rows = [
        {"scheme": a.scheme, "kind": a.kind, **a.parameters, "rate_kpps": float(rate),
         **{name: float(getattr(a, name)[i]) for name in (_X, _V, _T)}}
        for a in _ANSWERS.values() for i, rate in enumerate(a.rates_kpps)
    ]  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None).unique(maintain_order=True)


def _curves() -> dict[str, Any]:
    """Return the answers of the compared schemes at _LOADS."""
    return {name: _solved(s, kind, _LOADS, **more) for name, (s, kind, more) in _SCHEMES.items()}


def _at(rate: float) -> int:
    return _LOADS.index(rate)


def _listed(values: Any, digits: str = ".1f") -> str:
    return ", ".join(format(float(value), digits) for value in values)


def _greatest(_: None) -> Verdict:
    mu = [1e3 / service for service in (5.34, _LARGER_US)]
    holds = abs(mu[0] - 187) <= 1 and abs(mu[1] - 167) <= 1
    return plain(holds, f"{_listed(mu)} Kpps; 187 and 167 printed", effect=mu[0])


def _cliff(_: None) -> Verdict:
    from data.models.schemes.normal import cliff_kpps

    cliffs = [cliff_kpps(service, 3.73) for service in (5.34, _LARGER_US)]
    left = float(_solved("normal", "paper", [cliffs[0]]).cpu_left[0])
    holds = abs(cliffs[0] - 127) <= 1 and abs(cliffs[1] - 116) <= 1 and left < 0.01
    shares = [100 * at / cliff for at, cliff in zip((120, 110), cliffs, strict=True)]
    reason = (
        f"{_listed(cliffs)} Kpps; 127 and 116 printed; CPU left there {left:.4f}; the switch is "
    )
    return plain(holds, f"{reason}at {_listed(shares)} % of the cliff", effect=cliffs[0])


def _beyond_the_cliff(_: None) -> Verdict:
    rates = np.linspace(127.1, 400, 40).tolist()
    normal = _solved("normal", "exact", rates, drops_interrupt=True)
    x, latency = normal.throughput_kpps, normal.latency_mean_us / 1e3
    holds = bool((np.diff(x) < 0).all() and (np.diff(latency) > 0).all())
    reason = (
        f"127 to 400 Kpps: throughput {x[0]:.1f} to {x[-1]:.1f} Kpps, latency {latency[0]:.1f} "
    )
    return plain(holds, f"{reason}to {latency[-1]:.1f} ms", effect=float(latency[-1]))


def _none_is_best(_: None) -> Verdict:
    curves = _curves()
    best = {
        _X: np.max([c.throughput_kpps for c in curves.values()], axis=0) * 0.995,
        _V: np.max([c.cpu_left for c in curves.values()], axis=0) * 0.995,
        _T: np.min([c.latency_mean_us for c in curves.values()], axis=0) * 1.005,
    }
    everywhere = [
        name for name, c in curves.items()
        if (c.throughput_kpps >= best[_X]).all() and (c.cpu_left >= best[_V]).all()
        and (c.latency_mean_us <= best[_T]).all()
    ]  # fmt: skip
    most = [max(curves, key=lambda n: curves[n].cpu_left[_at(rate)]) for rate in (150.0, 250.0)]
    reason = (
        f"of {len(curves)} schemes {len(everywhere)} best in all; most CPU left at 150 Kpps by "
    )
    return plain(not everywhere, f"{reason}{most[0]}, at 250 Kpps by {most[1]}")


def _slower_at_low_load(_: None) -> Verdict:
    own, other = (
        _solved(s, "exact", [0.5]).latency_mean_us[0] for s in ("disable_enable", "normal")
    )
    rates = np.arange(1.0, 100.0, 0.25).tolist()
    latency = _solve("disable_enable", "exact", rates).latency_mean_us
    crossings = []
    for kind in get_args(Kind)[:2]:
        is_less = latency < _solve("normal", kind, rates).latency_mean_us
        crossings.append(rates[int(np.argmax(is_less))])
    reason = (
        f"{own:.2f} against {other:.2f} us at 0.5 Kpps; faster from {crossings[0]:.0f} Kpps on by "
    )
    reason += f"the paper's normal, from {crossings[1]:.0f} Kpps by the exact one"
    return plain(bool(own > other), reason, effect=float(own / other))


def _best_in_x_and_t(_: None) -> Verdict:
    curves = _curves()
    own = curves["disable-enable"]
    others = [c for name, c in curves.items() if name != "disable-enable"]
    x = np.max([c.throughput_kpps for c in others], axis=0)
    latency = np.min([c.latency_mean_us for c in others], axis=0)
    late = np.array(_LOADS) >= 40
    holds = bool(
        (own.throughput_kpps >= x * (1 - 1e-9)).all()
        and (own.latency_mean_us <= 1.02 * latency)[late].all()
    )
    at = _at(250.0)
    listed = ", ".join(
        f"{name} {c.throughput_kpps[at]:.0f} Kpps, {c.latency_mean_us[at] / 1e3:.1f} ms"
        for name, c in curves.items()
        if name in ("disable-enable", "pure polling", "count 8")
    )
    return plain(holds, f"at 250 Kpps: {listed}", effect=float(own.throughput_kpps[at]))


def _second_least_left(_: None) -> Verdict:
    curves = _curves()
    orders = [
        sorted(curves, key=lambda name: curves[name].cpu_left[_at(rate)])[:2]
        for rate in (40.0, 80.0, 110.0)
    ]
    right = sum(order == ["normal", "disable-enable"] for order in orders)
    least = min(curves, key=lambda name: curves[name].cpu_left[_at(20.0)])
    reason = f"normal, then disable-enable, leave least at {right} of 3 rates; at 20 Kpps {least}"
    return Verdict(share_outcome(right, 3), reason)


def _polling_leaves(_: None) -> Verdict:
    curves = _curves()
    left = {name: [c.cpu_left[_at(r)] for r in (187.0, 250.0, 400.0)] for name, c in curves.items()}
    own = left.pop("pure polling")
    holds = all(v > 0.01 and v >= max(o[i] for o in left.values()) for i, v in enumerate(own))
    others = max(max(values) for values in left.values())
    reason = f"CPU left at 187, 250, 400 Kpps: {_listed(own, '.2f')}; others at most {others:.3f}"
    return plain(holds, reason, effect=float(own[1]))


def _quotas(_: None) -> Verdict:
    answers = [_solved("pure_polling", "paper", [300.0], quota=quota) for quota in (2, 3, 4)]
    x = [float(a.throughput_kpps[0]) for a in answers]
    left = [float(a.cpu_left[0]) for a in answers]
    holds = bool((np.diff(x) > 0).all() and (np.diff(left) < 0).all() and left[-1] < 0.005)
    reason = f"quotas 2, 3, 4: {_listed(x, '.0f')} Kpps, CPU left {_listed(left, '.2f')}"
    return plain(holds, reason, effect=left[0])


def _periods(_: None) -> Verdict:
    periods = (10, 20, 30, 40)
    x = [
        float(
            _solved("pure_polling", "paper", [300.0], quota=4, poll_period_us=p).throughput_kpps[0]
        )
        for p in periods
    ]
    latency = [
        float(
            _solved("pure_polling", "paper", [20.0], quota=4, poll_period_us=p).latency_mean_us[0]
        )
        for p in periods
    ]
    holds = bool(x[0] < x[1] and (np.diff(latency) > 0).all())
    reason = (
        f"periods of 10 to 40 us: {_listed(x, '.0f')} Kpps, latency {_listed(latency)} us; from "
    )
    reason += "23 us on the quota binds and throughput falls, of which the text says nothing"
    return plain(holds, reason, effect=latency[-1])


def _unbounded_count(_: None) -> Verdict:
    count = float(_solved("count_coalescing", "paper", [1.0], count=32).latency_mean_us[0])
    delay = float(_solved("time_coalescing", "paper", [1.0], delay_us=100).latency_mean_us[0])
    reason = f"at 1 Kpps: count 32 {count / 1e3:.1f} ms, delay 100 us {delay:.1f} us"
    return plain(count > 1000 and delay < 200, reason, effect=count)


def _degenerate(_: None) -> Verdict:
    rates = [5.0, 40.0, 110.0, 250.0]
    normal = _solved("normal", "paper", rates)
    pairs = [
        (_solved("count_coalescing", "paper", rates, count=1), normal),
        (_solved("time_coalescing", "paper", rates, delay_us=0), normal),
        (_solved("disable_enable", "exact", rates, interrupt_us=0, register_us=0),
         _solved("ideal", "exact", rates)),
    ]  # fmt: skip
    off = max(
        float(np.max(np.abs(getattr(a, name) / getattr(b, name) - 1)))
        for a, b in pairs
        for name in (_X, _T)
    )
    return plain(off <= 1e-6, f"largest relative difference {off:.1g}", effect=off)


def _napi_and_pure() -> tuple[Any, Any]:
    rates = [2.0, 10.0, 40.0, 80.0, 250.0]
    effort = {"seed": 1, "most_events": 2e6}
    return _solved("napi", "simulated", rates, **effort), _solved(
        "pure_polling", "simulated", rates, **effort
    )


def _napi_at_low(_: None) -> Verdict:
    napi, pure = _napi_and_pure()
    better = (napi.cpu_left[:2] > pure.cpu_left[:2]) & (
        napi.latency_mean_us[:2] < pure.latency_mean_us[:2]
    )
    reason = (
        f"2 Kpps, NAPI and pure: CPU left {napi.cpu_left[0]:.2f}, {pure.cpu_left[0]:.2f}; latency "
        f"{napi.latency_mean_us[0]:.1f}, {pure.latency_mean_us[0]:.1f} us"
    )
    return plain(bool(better.all()), reason, effect=float(napi.cpu_left[0]))


def _pure_at_moderate(_: None) -> Verdict:
    napi, pure = _napi_and_pure()
    more = pure.cpu_left[2:4] > napi.cpu_left[2:4]
    reason = f"80 Kpps, NAPI and pure: CPU left {napi.cpu_left[3]:.2f}, {pure.cpu_left[3]:.2f}"
    return plain(bool(more.all()), reason, effect=float(pure.cpu_left[3]))


def _alike_at_high(_: None) -> Verdict:
    napi, pure = _napi_and_pure()
    x, latency = (getattr(napi, name)[4] / getattr(pure, name)[4] for name in (_X, _T))
    reason = (
        f"250 Kpps, NAPI and pure: {napi.throughput_kpps[4]:.0f}, {pure.throughput_kpps[4]:.0f} "
    )
    reason += f"Kpps; {napi.latency_mean_us[4] / 1e3:.1f}, {pure.latency_mean_us[4] / 1e3:.1f} ms"
    return plain(abs(x - 1) <= 0.02 and abs(latency - 1) <= 0.10, reason, effect=float(x))


def _undecidable(_: None) -> Verdict:
    raise UnmeasuredError(_AMBIGUOUS)


def _hybrid(_: None) -> Verdict:
    hybrid = _solved("hybrid", "paper", [250.0])
    own = _solved("disable_enable", "exact", [250.0])
    more = float(hybrid.cpu_left[0] - own.cpu_left[0])
    reason = (
        f"CPU left at 250 Kpps {hybrid.cpu_left[0]:.2f} against {own.cpu_left[0]:.2f}; its price: "
        f"{hybrid.throughput_kpps[0]:.0f} instead of {own.throughput_kpps[0]:.0f} Kpps"
    )
    return plain(more >= 0.1, reason, effect=more)


RULES_OF_SCHEMES: Final[dict[str, tuple[Rule, ...]]] = {
    "002-C01": (_greatest,), "002-C02": (_cliff,), "002-C03": (_beyond_the_cliff,),
    "002-C04": (_none_is_best,), "002-C05": (_slower_at_low_load,), "002-C06": (_best_in_x_and_t,),
    "002-C07": (_second_least_left,), "002-C08": (_polling_leaves,), "002-C09": (_quotas,),
    "002-C10": (_periods,), "002-C11": (_unbounded_count,), "002-C12": (_degenerate,),
    "002-C13": (_napi_at_low, _pure_at_moderate, _alike_at_high),
    "002-C14": (_undecidable,), "002-C15": (_undecidable,), "002-C16": (_hybrid,),
}  # fmt: skip

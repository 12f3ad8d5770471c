"""The performance metric of a workload, and the pair of metrics that most of the runs have."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import polars as pl

from app.kit.lake_view import LakeView
from data.analysis.facet_counts import MetricRange
from data.below_zero import may_be_below_zero
from data.catalogue import Catalogue, deviations
from data.metrics import TOTALS, Metric
from data.queries.runs import (
    UNLIKE,
    chosen_counts_query,
    ranges_query,
    unlike_counts_query,
    unlike_work_query,
    valued_datasets_query,
    zeros_query,
)
from data.selection import Selection
from data.units import is_round_time, kind_of, lowered
from data.work_items import counts_of_work

# Of the metrics along y, the first that at least half of the runs have, else at least a quarter,
# else any; else the metric that most runs have.
_SHARES: Final = (0.5, 0.25, 0.0)
# Metrics of performance beside latencies.
_RATES: Final = ("throughput_qps", "iops", "bandwidth_bytes_s")
# Performance where nothing was measured.
_USUAL: Final = "latency_p99_us"
# Properties of the measurement, chosen last, and the latency of the luckiest request.
_LAST: Final = frozenset(
    {"start_unix_s", "energy_uncertainty_j", "power_readings", "duration_s", "latency_min_us"}
)
# Amounts of work: no performance, and no cost.
_WORK: Final = frozenset({"requests"})
# Groups of what a processor counts while it works: neither a cost nor a performance.
COUNTED: Final = frozenset({"Processor", "Interrupts and switches", "Sleep states"})
# Words of the names of what follows from the power, and is no result of the work.
_TEMPERATURES: Final = frozenset({"temp", "temps", "temperature", "temperatures"})
# Words of the names of what is a cost, whatever its unit.
_COST_WORDS: Final = frozenset({"energy", "power", "emission", "emissions", "co2", "carbon"})
# Words of names that do not say of what part or phase a metric is.
_OF_NO_PART: Final = _COST_WORDS | {"time", "total", "mean", "avg", "average", "median", "per"}
# Labels of how many runs or samples the means of a row are of.
_NUMBERS: Final = frozenset(
    {"sample_size", "n", "n_runs", "num_runs", "runs", "count", "n_samples", "num_samples",
     "samples", "repetitions", "repeats", "reps", "trials"}
)  # fmt: skip
# Within this share numbers are one, computed from other samples.
_ROUNDING: Final = 1e-9
# Within this share runs took the same time.
_SAME_TIME: Final = 0.01
# Within this share runs have the rate of the load.
_SAME_RATE: Final = 0.02


def choose_cost(counts: Mapping[str, int], runs: int, x: str, catalogue: Catalogue) -> str:
    """Choose the metric along y: the first of `costs_beside`, then what most runs have.

    Args:
        counts: How many of the chosen runs have a value along x and in each metric, in the order
            in which metrics are listed.
        runs: How many have one along x.
        x: The metric along x; empty for none.
    """
    for share in _SHARES:
        for name in costs_beside(x, catalogue):
            if name != x and counts.get(name, 0) >= max(share * runs, 1):
                return name
    return _commonest(counts, x, catalogue) or "energy_j"


def costs_beside(x: str, catalogue: Catalogue) -> list[str]:
    """Return `Catalogue.costs`, of parts and phases first those that the metric along x is of too.

    `decode_energy_j` beside `decode_tps`.
    """
    words = {*x.split("_")} - _OF_NO_PART
    others = {name for name in catalogue.costs_of_parts if words.isdisjoint(name.split("_"))}
    return sorted(catalogue.costs, key=others.__contains__)


def choose_performance(counts: Mapping[str, int], performance: str, catalogue: Catalogue) -> str:
    """Choose the metric along x: the performance metric if any run has it, else the commonest.

    Where runs have one of `Catalogue.costs`, it is a latency or a rate that at least half as many
    runs have as the time; else the time.
    """
    if counts.get(performance):
        return performance
    timed = counts.get("duration_s", 0)
    if any(counts.get(name) for name in catalogue.costs):
        rates = {name: runs for name, runs in counts.items() if is_served(name)}
        served = max(rates, key=lambda name: rates[name], default="")
        if served and rates[served] and 2 * rates[served] >= timed:
            return served
        if timed:
            return "duration_s"
    return _commonest(counts, "energy_j", catalogue) or performance


def is_served(name: str) -> bool:
    """Return whether a metric is a latency or a rate: a performance that is no mere time."""
    return name.startswith("latency_") or name in _RATES


def _commonest(counts: Mapping[str, int], other: str, catalogue: Catalogue) -> str | None:
    """Return what most runs have; first among metrics of which less or more is better.

    What is of the kind of `other` or of a cost comes last: it tells little beside it, or stands
    along y.
    """
    kinds = {kind_of(catalogue.metric(name).unit) for name in (*catalogue.costs, other) if name}

    def rank(name: str) -> tuple[bool, bool, bool, bool, bool, bool, int]:
        metric = catalogue.metric(name)
        is_cause = not _is_temperature(metric)
        is_told = metric.better is not None
        # `energy_change` in percent stands along y.
        is_beside = _COST_WORDS.isdisjoint(name.split("_")) == (other == "energy_j")
        is_other_kind = kind_of(metric.unit) not in kinds
        is_result = metric.group not in COUNTED
        return (
            is_cause,
            name not in _LAST,
            is_other_kind,
            is_told,
            is_result,
            is_beside,
            counts[name],
        )

    left = (name for name, n in counts.items() if n and name != other)
    best = max(left, key=rank, default=None)
    # Rather than a temperature nothing stands along x, so that the cost is over what was set.
    there = (catalogue.metric(name) for name, n in counts.items() if n)
    has_state = other == "energy_j" and any(map(_is_temperature, there))
    metric = catalogue.metric(best) if best else None
    is_told = (
        metric is not None and not _is_temperature(metric) and kind_of(metric.unit) not in kinds
    )
    return best if is_told or not has_state else None


def _is_temperature(metric: Metric) -> bool:
    return metric.unit == "°C" or not _TEMPERATURES.isdisjoint(metric.name.lower().split("_"))


def value_counts(
    view: LakeView, selection: Selection, first: str, measured: str = ""
) -> dict[str, int]:
    """Return how many of the chosen runs have a value in each metric, `first` before the others.

    A metric that `untelling` names counts as one without values, unless all are such.

    Args:
        measured: Only runs that have a value in it; empty for all.
    """
    names = dict.fromkeys((first, *view.catalogue.plottable))
    if measured:
        query = chosen_counts_query(selection, list(names), measured, catalogue=view.catalogue)
        counts: dict[str, int] = dict(view.answered(*query).row(0, named=True))
    else:
        ranges = view.ranges(selection)
        counts = {name: ranges[name].runs for name in names}
    left = telling(view, selection, counts)
    return {name: count if name in left else 0 for name, count in counts.items()}


def telling(view: LakeView, selection: Selection, counts: Mapping[str, int]) -> list[str]:
    """Return the metrics with values that tell the chosen runs apart; if none does, those with any.

    Args:
        counts: How many of the runs have a value in each metric.
    """
    there = [name for name, count in counts.items() if count]
    same = untelling(view, selection, counts) if there else {}
    return [name for name in there if name not in same] or there


def costs_of_times(view: LakeView, selection: Selection) -> tuple[str, ...]:
    """Return the energies of items by which equally long runs are compared: see `Catalogue`."""
    is_loaded = not {*view.part_left(selection).values("load_qps")} <= {None}
    return view.catalogue.costs_of_times(is_loaded)


def is_below_zero(view: LakeView, name: str) -> bool:
    """Return whether a metric is a change in percent, or below 0 in a run of the lake: nothing is
    judged by it.
    """
    is_possible = may_be_below_zero(view.catalogue, name)
    is_change = view.catalogue.metric(name).is_change
    return is_possible and (is_change or view.ranges(Selection())[name].low < 0)


def first_telling(view: LakeView, selection: Selection, names: Sequence[str]) -> str:
    """Return the first of some metrics that tells the chosen runs apart; empty where none has a
    value.
    """
    ranges = view.ranges(selection)
    left = telling(view, selection, {name: ranges[name].runs for name in names})
    return next((name for name in names if name in left), "")


def unstated_datasets(view: LakeView) -> frozenset[str | None]:
    """Return the datasets with rows that are means of an unstated number of runs."""
    names = view.catalogue.means_of_unstated
    return view.once(_unstated, names) if names else frozenset()


def _unstated(view: LakeView, names: tuple[str, ...]) -> frozenset[str | None]:
    return frozenset(view.lake.polars(*valued_datasets_query(names))["dataset"])


def is_of_unstated(view: LakeView, datasets: Iterable[str | None]) -> bool:
    """Return whether some datasets all have rows that are means of an unstated number of runs."""
    unstated = unstated_datasets(view)
    return bool(unstated) and unstated.issuperset(datasets)


def number_of_means(view: LakeView, selection: Selection) -> str:
    """Return of how many runs or samples rows are means, by a label of the only dataset; else
    nothing.
    """
    labels = (c for c in view.catalogue.columns if c.role == "label" and c.kind == "whole")
    name = next((column.name for column in labels if column.name in _NUMBERS), "")
    if not name or len({*view.part_left(selection).values("dataset")}) != 1:
        return ""
    known = view.answered(*ranges_query(selection, [name], (), 1)).row(0, named=True)
    low, high = known["low_0"], known["high_0"]
    if not known["runs_0"]:
        return ""
    return f"{low:,} each" if low == high else f"{low:,} to {high:,}"


def untelling(view: LakeView, selection: Selection, counts: Mapping[str, int]) -> dict[str, str]:
    """Return the metrics that cannot tell the chosen runs apart, each with the reason.

    Args:
        counts: How many of the runs have a value in each metric.
    """
    ranges = view.ranges(selection)
    own = {name: ranges[name] for name in counts if ranges[name].runs > 2}
    reasons = {n: "all runs have one value" for n, known in own.items() if _is_constant(known)}
    # A time so short that its unit rounds it down, say.
    least = [n for n, known in own.items() if n not in reasons and known.low == 0
             and view.catalogue.metric(n).better is not None]  # fmt: skip
    zeros = view.answered(*zeros_query(selection, least)).row(0, named=True) if least else {}
    reasons |= {name: "most runs have 0" for name, are_zeros in zeros.items() if are_zeros}
    reasons |= dict.fromkeys(_WORK & counts.keys(), "it is the work that was done")
    reasons |= dict.fromkeys(deviations(counts), "it is the deviation of another metric")
    loads = {*view.part_left(selection).values("load_qps")} if "throughput_qps" in own else set()
    if len(loads) == 1 and (load := loads.pop()) is not None:
        rate = own["throughput_qps"]
        if max(abs(rate.low - load), abs(rate.high - load)) <= _SAME_RATE * load:
            reasons["throughput_qps"] = "all runs have the rate that was asked for"
    # An energy of an item that follows from a count tells where runs took equally long.
    time = ranges["duration_s"]
    is_as_long = time.runs > 2 and time.high <= UNLIKE * time.low
    of_times = costs_of_times(view, selection) if is_as_long else ()
    costs = (*view.catalogue.costs_of_items, *of_times)
    of_items = [name for name in costs if counts.get(name)]
    is_unlike = False
    if of_items and counts.get("energy_j"):
        choice = view.catalogue.choice_columns
        is_unlike = view.answered(*unlike_work_query(selection, of_items[0], choice)).item()
    times = {"duration_s", *(name for name in own if view.catalogue.metric(name).unit == "s")}
    fixed = {name for name in times if _is_fixed(ranges[name])}
    reasons |= dict.fromkeys(fixed & own.keys(), "all runs took the same time")
    if "duration_s" in fixed:
        if counts.get("edp_js"):
            reasons["edp_js"] = "all runs took the same time: it is their energy again"
        is_unlike |= bool(of_items) and of_items[0] in view.catalogue.costs_of_items
    metrics = view.catalogue.metrics
    rates = (n for n, runs in counts.items() if runs and metrics[n].unit.endswith("/s"))
    if any(metrics[name].better == "more" for name in rates):
        found = {name: unlike_work(view, selection, name) for name in {*TOTALS[1:]} & {*own}}
        reasons |= {n: f"runs differ in what they did: {w}" for n, w in found.items() if w}
    if is_unlike:
        title = lowered(view.catalogue.metric(of_items[0]).title)
        reasons["energy_j"] = f"runs differ in what they did: see {title}"
    return reasons


def unlike_work(view: LakeView, selection: Selection, total: str) -> str:
    """Return in which count of work runs of one choice differ: `tokens is 24 to 200`; or nothing.

    Args:
        total: A metric that grows with the work; nothing follows for others.
    """
    if total not in TOTALS:
        return ""
    choice = view.catalogue.choice_columns
    for name in counts_of_work(view.catalogue.columns):
        query = unlike_counts_query(selection, total, name, choice)
        low, high = view.answered(*query).row(0)
        if low is not None:
            return f"{view.catalogue.metric(name).title} is {low:,.10g} to {high:,.10g}"
    return ""


def _is_constant(known: MetricRange) -> bool:
    """Return whether all runs have one value, but for the rounding of what computed it."""
    return math.isclose(known.low, known.high, rel_tol=_ROUNDING)


def _is_fixed(time: MetricRange) -> bool:
    """Return whether runs took one time, or nearly: other times that nobody sets are results."""
    is_same = time.runs > 2 and time.high <= (1 + _SAME_TIME) * time.low
    return is_same and (time.low == time.high or is_round_time(time.low))


def performance_column(view: LakeView, selection: Selection) -> str:
    """Return the most common performance metric of the runs that match the filters.

    Where no workload names one, it is what `choose_performance` prefers of the measured ones.
    """
    return view.once(_commonest_performance, selection)


def catalogue_of(view: LakeView, selection: Selection) -> Catalogue:
    """Return the catalogue of the datasets that match the filters."""
    return view.once(_catalogue_of, selection) if view.catalogue.doubts else view.catalogue


def _catalogue_of(view: LakeView, selection: Selection) -> Catalogue:
    return view.catalogue.among(view.part_left(selection).values("dataset"))


def is_performance(view: LakeView, selection: Selection, name: str) -> bool:
    """Return whether a workload names a metric as its performance.

    What stands in for a performance that nobody measured, such as another energy, is none.
    """
    named = view.part_left(selection).values("performance_metric")
    return name == performance_column(view, selection) and name in named


def _commonest_performance(view: LakeView, selection: Selection) -> str:
    names = [n for n in view.part_left(selection).values("performance_metric") if n is not None]
    if len(names) == 1:
        return str(names[0])
    known = view.left(selection).lazy().drop_nulls("performance_metric")
    totals = known.group_by("performance_metric").agg(pl.col("runs").sum())
    most = totals.sort("runs", "performance_metric").collect()["performance_metric"]
    if len(most):
        return str(most[-1])
    return choose_performance(value_counts(view, selection, _USUAL), _USUAL, view.catalogue)

"""What the settings of a lake answer where few claims are decided: replicates, least and most."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import polars as pl

from app.kit.lake_view import LakeView
from app.kit.metric_choice import is_below_zero, unlike_work
from app.kit.words import knob_words, named_columns
from data.analysis.replicates import UNLIKE_WHY, equal_words
from data.below_zero import below_zero_words
from data.knobs import Knob
from data.metrics import SAME_WORK, Metric
from data.queries.lake_page import extremes_query
from data.selection import Selection
from data.units import counted, format_digits, format_quantity, lowered

# Smaller factors are told in percent.
_FEW_PERCENT: Final = 1.1


def settings_answers(view: LakeView, selection: Selection, cost: Metric) -> list[tuple[str, str]]:
    """Ask how far replicates differ, and which settings have the least and the most of a metric.

    Runs of one setting that are no replicates (`data/analysis/replicates.py`) count as none. Of a
    metric with values below 0, such as a change in percent, nothing is asked: no factor tells its
    values apart, and no share of their mean.

    Returns:
        Questions, each with its answer.
    """
    if is_below_zero(view, cost.name):
        return []
    catalogue, named = view.catalogue, lowered(cost.title)
    rows = view.answered(*extremes_query(selection, cost.name, catalogue)).to_dicts()
    datasets = [row["dataset"] for row in rows]
    answers = []
    if rows and rows[0]["replicated"] == rows[0]["settings"] == 1:
        mean = cost.noted(format_quantity(rows[0]["mean"], cost.unit), *datasets)
        share = rows[0]["most_share"]
        answer = (
            f"{rows[0]['n']:,} runs have one setting: mean {named} {mean}, standard deviation "
            f"{format_digits(100 * share, 2)} % of it."
        )
        answers.append(("How repeatable is a run?", answer))
    elif rows and rows[0]["equal"] == rows[0]["settings"] == 1:
        answers.append(("How repeatable is a run?", f"Not known: {equal_words(1)}."))
    elif rows and rows[0]["replicated"]:
        shares = [rows[0][name] for name in ("median_share", "most_share")]
        median, most = (f"{format_digits(100 * share, 2)} %" for share in shares)
        several = f" in the median setting, {most} in the noisiest"
        answer = (
            f"The standard deviation of {named} between runs of one setting is {median} of the "
            f"mean{several if rows[0]['replicated'] > 1 else ''} ({_replicated_words(rows[0])})."
        )
        answers.append(("How repeatable is a run?", answer))
    if rows and rows[0]["unlike"]:
        answer = (
            f"No: in {counted(rows[0]['unlike'], 'setting')} the runs differ in {named} by a "
            f"factor of up to {_factor(rows[0]['most_apart'])}. They are no replicates: "
            f"{UNLIKE_WHY}."
        )
        answers.append(("Do settings tell all runs apart?", answer))
    if cost.better is not None and len(rows) == 2 and rows[0]["mean"] < rows[1]["mean"]:
        low, high = rows
        again = view.varying(selection) - named_columns(view, selection)
        knobs = [
            knob for knob in catalogue.knobs.values()
            if low[knob.column] != high[knob.column] and knob.column not in again
        ]  # fmt: skip
        # A doubt of the unit is said once.
        doubts = [f"{doubt}, " if (doubt := cost.doubt_of(*datasets)) else "", ""]
        ends = [
            f"{_setting_words(knobs, row)}: {format_quantity(row['mean'], cost.unit)} "
            f"({doubt}n = {row['n']:,})"
            for row, doubt in zip(rows, doubts, strict=True)
        ]
        times = high["mean"] / low["mean"]
        more = f"{format_digits(100 * (times - 1))} % more"
        factor = more if times < _FEW_PERCENT else f"{_factor(times)} times as much"
        place = _place_words(view, selection, low) if low["compared"] < low["means"] else ""
        least = f"At {place}, least" if place else "Least"
        answer = f"{least} {ends[0]}; most {ends[1]}"
        work = unlike_work(view, selection, cost.name)
        answer += f". Runs did unlike amounts of work: {work}." if work else f", {factor}."
        if not work and cost.is_total and not view.lake.guessed.isdisjoint(datasets):
            answer += f" The comparison holds {SAME_WORK}."
        answers.append((f"Which setting has least {named}, and which most?", answer))
    return answers


def unasked_words(view: LakeView, selection: Selection, cost: Metric | None) -> str:
    """Return why no question can be asked of some runs.

    Args:
        cost: What settings are compared by; None if no run measured it.
    """
    if cost is None:
        return "No run measured what settings are compared by: energy, power, a time or a rate."
    rows = view.answered(*extremes_query(selection, cost.name, view.catalogue))
    if not len(rows):
        return f"No single run has {lowered(cost.title)} above 0: nothing can be compared."
    settings, named = rows["settings"][0], lowered(cost.title)
    if is_below_zero(view, cost.name):
        return f"Nothing to compare: {below_zero_words(cost)}."
    if cost.better is None and settings > 1:
        return (
            f"Whether less or more {named} is better is not declared: a comparison of "
            "settings needs a direction."
        )
    if settings == 1:
        return (
            f"There is one setting, with one run that measured {named}: a second setting would be "
            "compared with it, a second run would tell how repeatable it is."
        )
    if len(rows) == 2:
        return f"All {settings:,} settings have the same {named}."
    return (
        f"Each of {settings:,} settings has one run, and no two of them ran the same: what ran "
        "differs, and nothing that was set."
    )


def _replicated_words(row: Mapping[str, Any]) -> str:
    """Count the settings whose runs are replicates: `10 of 11 settings with two runs or more`."""
    count, repeated = row["replicated"], counted(row["repeated"], "setting")
    some = f"{count:,} of {repeated}" if count < row["repeated"] else repeated
    rest = ", the others' runs are no replicates" if count < row["repeated"] else ""
    return f"{some} with two runs or more{rest}"


def _place_words(view: LakeView, selection: Selection, row: Mapping[str, Any]) -> str:
    """Return what ran, and under which load, where that differs between the runs.

    What no run of the workload has, such as a parameter of another program, is left out.
    """
    left = view.left(selection)
    own = left.filter(pl.col("workload").eq_missing(pl.lit(row["workload"])))
    knobs = [knob for knob in view.catalogue.knobs.values() if knob.is_given]
    varying = [
        knob for knob in knobs
        if left[knob.column].n_unique() > 1 and own[knob.column].null_count() < len(own)
    ]  # fmt: skip
    return _setting_words(varying, row)


def _factor(value: float) -> str:
    """Return a factor with three digits: `1.3`, `697`, `3,440`, `167M`."""
    if value < 1e6:
        return f"{float(f'{value:.3g}'):,.10g}"
    return format_quantity(value, "")


def _setting_words(knobs: Sequence[Knob], row: Mapping[str, Any]) -> str:
    parts = (
        knob_words(knob, row[knob.column])
        if knob.is_given or row[knob.column] is not None
        else knob.words(None)
        for knob in knobs
    )
    return " · ".join(filter(None, parts))

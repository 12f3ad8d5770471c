"""What the pages say of the work that runs did: unlike amounts of it, or not all."""

from app.kit.lake_view import LakeView, leading
from app.kit.metric_choice import costs_of_times, unlike_work, untelling
from data.metrics import TOTALS
from data.queries.runs import ranges_query
from data.selection import Selection
from data.units import lowered
from data.work_items import counts_of_failures


def work_words(view: LakeView, selection: Selection) -> str:
    """Say that runs did unlike amounts of work, or not all of it; empty where not."""
    if not view.matching(selection):
        return ""
    unlike = _of_items_words(view, selection) or _unlike_words(view, selection)
    return " ".join(filter(None, [unlike, _failed_words(view, selection)]))


def _failed_words(view: LakeView, selection: Selection) -> str:
    for name in counts_of_failures(view.catalogue.columns):
        query = ranges_query(selection, [name, "requests"], (), 1)
        known = view.answered(*query).row(0, named=True)
        if known["high_0"]:
            of = f" of {_span(known['low_1'], known['high_1'])} requests" if known["runs_1"] else ""
            span = _span(known["low_0"], known["high_0"])
            title = view.catalogue.metric(name).title
            return f"Not all work was done: {lowered(title)} is {span}{of} in a run."
    return ""


def _span(low: float, high: float) -> str:
    return f"{low:,.10g}" if low == high else f"{low:,.10g} to {high:,.10g}"


def _unlike_words(view: LakeView, selection: Selection) -> str:
    measured = {*TOTALS} & {*view.measured_columns(selection)}
    for name in sorted(measured):
        if work := unlike_work(view, selection, name):
            title = lowered(view.catalogue.metric(name).title)
            return f"Runs did unlike amounts of work, so that {title} alone does not tell: {work}."
    return ""


def _of_items_words(view: LakeView, selection: Selection) -> str:
    names = costs_of_times(view, selection)
    if not names:
        return ""
    # Of the study: a change of its other filters asks for no ranges of all metrics.
    selection = leading(selection)
    ranges = view.ranges(selection)
    counts = {name: ranges[name].runs for name in ("energy_j", "duration_s", *names)}
    if "energy_j" not in untelling(view, selection, counts):
        return ""
    measured = next((name for name in names if counts[name]), "")
    if not measured:
        return ""
    metric = view.catalogue.metric(measured)
    return (
        "All runs took equally long and did unlike amounts of work: "
        f"{lowered(metric.title)} is compared. {metric.description}"
    )

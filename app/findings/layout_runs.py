"""The next runs and the order of runs, as parts of the document."""

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlencode

import polars as pl
from dash import html

from app.findings.answer import Planned, odd_of, planned_of
from app.findings.state import FindingsState
from app.kit.lake_view import LakeView
from app.kit.links import address
from app.kit.url_state import LINK_VERSION
from data.errors import WattlasError
from data.order import MOST_RUNS, OrderCheck
from data.run_list import time_words
from data.siblings import COMPARED, distance_words
from data.units import counted, format_digits, format_quantity, format_signed

_SHOWN: Final = 12
_MOST_ODD: Final = 40
_TIMELINE: Final = "/timeline"


def next_block(view: LakeView, state: FindingsState) -> list:
    """Lay out the next runs of the shown sweep; a sentence where there can be no list."""
    try:
        planned = planned_of(view, state)
    except WattlasError as error:
        return [html.P(f"No list: {error}.", className="note")]
    if planned is None:
        words = "No sweep is left: none has two settings of runs that ran the same."
        return [html.P(words, className="note")]
    return planned_parts(planned)


def planned_parts(planned: Planned) -> list:
    """Lay out a list: its sentence, what is left of it, what it asks of each setting."""
    plan = planned.plan
    parts = [
        html.P([html.Strong(planned.sweep.words), f": {plan.undecided}."]),
        html.P(plan.sentence),
    ]
    if planned.left is not None:
        done = plan.runs - planned.left
        parts.append(
            html.P(
                f"Of the list of version {plan.version}, {done:,} of {plan.runs:,} runs are in the "
                f"lake; {planned.left:,} are left."
            )
        )
    if plan.cells and plan.prediction_error_pct is not None:
        parts.append(
            html.P(
                f"The knobs predict a setting to {plan.prediction_error_pct:.2g} %."
                if plan.prediction_error_pct <= 5
                else "The knobs interact too much to predict unmeasured cells; these are next to "
                "the best.", className="quiet"
            )
        )  # fmt: skip
    if not plan.settings:
        return parts
    head = ("setting", "runs so far", "more", "why", "costs more than the best by", "time")
    rows = [
        (setting.words, f"{setting.n:,}", f"{setting.more:,}", setting.reason,
         "" if setting.change_pct is None else f"{format_digits(setting.change_pct, 2)} %",
         "" if setting.minutes is None else time_words(setting.minutes))
        for setting in plan.settings
    ]  # fmt: skip
    return [*parts, *folded_table(head, rows, _SHOWN)]


def order_block(view: LakeView, state: FindingsState, has_links: bool = True) -> list:
    """Lay out the checks of order, affected choices first, and the odd runs.

    Args:
        has_links: False in an exported page, which has no server to ask.
    """
    if not view.runs:
        return []
    order = view.order(state.selection)
    affected = [check for check in order.checks if check.is_affected]
    unmixed = [check for check in order.checks if check.is_random is False]
    tested = sum(check.p is not None for check in order.checks)
    untested = len(order.checks) - tested
    sentence = (
        f"{len(affected):,} of {tested:,} tested choices and metrics change with the order of runs "
        f"by more than it takes to matter (p of 0.01, 1 %); {len(unmixed):,} were not randomised; "
        f"{untested:,} have too few repeated settings, or no order."
    )
    if not tested and not unmixed:
        sentence = (
            "Whether results change with the order of runs was not tested: too few settings were "
            "repeated, or nothing tells the order."
        )
    if order.is_cut:
        sentence = (
            f"Only the first {MOST_RUNS:,} runs were checked. {sentence}"
            if order.checks
            else f"The order of more than {MOST_RUNS:,} runs is not checked: choose a smaller "
            "dataset or workload."
        )
    rest = [check for check in order.checks if not check.is_affected]
    parts: list = [html.P(sentence, className="note"), *_checks(affected, "affected")]
    if state.adjusted:
        parts += [part for check in affected for part in _means(check, view)]
    if rest:
        body = _checks(rest, "")
        which = f"the other {len(rest):,}" if affected else f"all {len(rest):,}"
        parts.append(html.Details([html.Summary(which), *body]))
    odd = odd_of(view, state.selection)
    count = odd["run_id"].n_unique()
    left_out = " They are left out of the claims." if state.without_odd else ""
    parts += [
        html.H3("Odd runs"),
        html.P(
            f"{counted(count, 'run')} {'is' if count == 1 else 'are'} off the median of "
            f"{'its' if count == 1 else 'their'} setting (three runs or more) by over 10 % "
            "and 8 deviations, or a distribution of their logs is over 10 % off the other "
            "replicates', or a series over 1 % of the time earlier or later, and 8 times as far as "
            "these from each other."
            f"{left_out}", className="note",
        ),
        *_odd(odd, view, has_links),
    ]  # fmt: skip
    return parts


def _checks(checks: Sequence[OrderCheck], look: str) -> list:
    if not checks:
        return []
    rows = [html.Li(check.sentence, className=look) for check in checks]
    return [html.Ul(rows, className="findings-order")]


def _means(check: OrderCheck, view: LakeView) -> list:
    """Lay out the means of a choice whose blocks differ, and the same without their effects."""
    if check.means is None:
        return []
    knobs = view.catalogue.knob_of_column
    metric = view.catalogue.metric(check.metric)
    named = [n for n in check.means.columns if n in knobs and check.means[n].n_unique() > 1]
    rows = [
        (
            ", ".join(knobs[name].words(row[name]) for name in named),
            str(row["runs"]),
            *(format_quantity(row[name], metric.unit) for name in ("mean", "adjusted")),
            f"{format_signed(100 * (row['adjusted'] / row['mean'] - 1), '.2g')} %",
        )
        for row in check.means.sort((pl.col("adjusted") / pl.col("mean")).log().abs(),
                                    descending=True).iter_rows(named=True)
    ]  # fmt: skip
    head = ("setting", "n", "mean", "adjusted for blocks", "change")
    return [
        html.H3(f"{metric.title_in(check.scope.get('dataset'))} of {check.words}"),
        *folded_table(head, rows, 6),
    ]


def _odd(odd: pl.DataFrame, view: LakeView, has_links: bool) -> list:
    if not len(odd):
        return []
    head = ("run", "metric", "value, or distance", "usual", "times", "n")
    rows: list[tuple[Any, ...]] = []
    for row in odd.head(_MOST_ODD).iter_rows(named=True):
        name, run = row["metric"], row["run_id"]
        if name in COMPARED:
            query = urlencode([("v", LINK_VERSION), ("run", run), ("run", row["sibling"])])
            link = html.A("beside a replicate", href=f"{address(_TIMELINE)}?{query}")
            title = COMPARED[name]
            values = [distance_words(name, row[key]) for key in ("distance", "usual")]
            run = [run, " ", link] if has_links else run
        else:
            metric = view.catalogue.metric(name)
            title = metric.title_in(*metric.doubted_in)
            values = [format_quantity(row[key], metric.unit) for key in ("value", "median")]
        rows.append((run, title, *values, f"{row['times']:.3g}", str(row["runs"])))
    return folded_table(head, rows, 6)


def folded_table(
    head: Sequence[str], rows: Sequence[Sequence[Any]], shown: int
) -> list[html.Table | html.Details]:
    """Lay out a table of which the first rows are open, the rest unfolds."""
    parts: list[html.Table | html.Details] = [_table(head, rows[:shown])]
    if more := rows[shown:]:
        parts.append(html.Details([html.Summary(f"{len(more):,} more rows"), _table(head, more)]))
    return parts


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> html.Table:
    return html.Table(
        [
            html.Thead(html.Tr([html.Th(word, scope="col") for word in head])),
            html.Tbody([html.Tr([html.Td(cell) for cell in row]) for row in rows]),
        ],
        className="best findings-table",
    )

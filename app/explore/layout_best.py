"""The table of best settings: each system's setting, and its change from the default."""

import json
from collections.abc import Collection
from dataclasses import dataclass

import polars as pl
from dash import html

from app.kit.words import configuration_words, load_words, lowered
from data.knobs import KNOBS
from data.metrics import metric
from data.units import format_change, format_quantity

# Relative difference of the baseline from itself, by rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class _Table:
    """Properties of all rows: limited metric and cost, the limit, which columns there are."""

    columns: tuple[str, str]
    limit: float | None
    many_loads: bool
    has_default: bool
    has_settings: bool


def best_settings_table(
    rows: pl.DataFrame, performance: str, limit: float | None, cost: str, varying: Collection[str]
) -> html.Div:
    """Lay out the answer of `best_settings`; a click on a row selects its configuration.

    Args:
        performance: The limited column.
        cost: Column in which a best setting has the best value.
        varying: Columns with several values in the study, which name a setting.
    """
    measure, paid = metric(performance), metric(cost)
    if not len(rows):
        words = f"no run has both {lowered(paid.title)} and the metric."
        return html.Div(f"Nothing to compare: {words}", className="note")
    settings = [configuration_words(row, varying) for row in rows.iter_rows(named=True)]
    has_default, has_settings = rows["energy_change"].count() > 0, any(settings)
    has_settings = has_settings or not rows["meets"].all()
    shown = [paid] if paid is measure else [paid, measure]
    named = [paid.title, measure.short][: len(shown)] if has_default else []
    head = html.Tr(
        [
            html.Th("System"),
            *([html.Th(_best_title(cost))] if has_settings else []),
            *(html.Th(each.title, className="number") for each in shown),
            *(html.Th(f"{title} vs default", className="number") for title in named),
            html.Th("n", className="number", title="replicates behind the means"),
        ]
    )
    many_loads = rows.select("load_qps", "message_bytes", "dataset").n_unique() > 1
    table = _Table((performance, cost), limit, many_loads, has_default, has_settings)
    body = [
        _row(row, words, table)
        for row, words in zip(rows.iter_rows(named=True), settings, strict=True)
    ]
    return html.Table([html.Thead(head), html.Tbody(body)], className="best")


def _best_title(cost: str) -> str:
    paid = metric(cost)
    if cost == "energy_j":
        return "Lowest-energy setting"
    return f"Setting of {'most' if paid.better == 'more' else 'least'} {lowered(paid.title)}"


def limit_words(
    rows: pl.DataFrame, performance: str, limit: float | None, varying: Collection[str]
) -> str:
    """Return which systems miss the limit, or the nearest configuration if all miss it."""
    if limit is None or not len(rows):
        return ""
    unit = metric(performance).unit
    if rows["meets"].any():
        missed = rows.filter(~pl.col("meets"))["system_label"].unique().sort().to_list()
        return f"Missed by every configuration of {', '.join(missed)}." if missed else ""
    is_least = metric(performance).better == "more"
    nearest = rows.sort("x", descending=is_least).row(0, named=True)
    words = [nearest["system_label"] or nearest["system"], configuration_words(nearest, varying)]
    return (
        f"No configuration meets {format_quantity(limit, unit)}. The "
        f"{'highest' if is_least else 'lowest'} "
        f"{metric(performance).title} is {format_quantity(nearest['x'], unit)} "
        f"({', '.join(word for word in words if word)})."
    )


def _row(row: dict, setting: str, table: _Table) -> html.Tr:
    limited, paid = (metric(name) for name in table.columns)
    unit = limited.unit
    name = row["system_label"] or row["system"]
    if table.many_loads:
        words = load_words(row["load_qps"], row["message_bytes"])
        name = " · ".join([name, *([words] if words else [])])
    values = [(row["y"], row["y_sd"], paid), (row["x"], row["x_sd"], limited)]
    changes = [row["energy_change"], row["performance_change"]]
    if not row["meets"]:
        nearest = f"; nearest: {setting}" if setting else ""
        setting = f"none meets {format_quantity(table.limit, unit)}{nearest}"
        changes = [None, None]
    # The cost may be the limited metric itself: one column.
    columns = 1 if paid is limited else 2
    cells = [
        html.Th(name, scope="row"),
        *(
            [html.Td(setting, className="" if row["meets"] else "missed")]
            if table.has_settings
            else []
        ),
        *(_number(value, sd, each.unit) for value, sd, each in values[:columns]),
        *(
            _change(change, row["is_baseline"], each.better)
            for change, (_, _, each) in zip(changes[:columns], values, strict=False)
            if table.has_default
        ),
        html.Td(str(row["n"]), className="number"),
    ]
    named = {knob.column for knob in KNOBS.values()} - {"workload"}
    key = json.dumps({name: row[name] for name in row if name in named})
    return html.Tr(cells, tabIndex=0, **{"data-config": key, "data-meets": str(row["meets"])})


def _number(value: float | None, deviation: float | None, unit: str) -> html.Td:
    spread = f" \N{PLUS-MINUS SIGN} {format_quantity(deviation, unit)}" if deviation else ""
    return html.Td(
        [format_quantity(value, unit), html.Span(spread, className="spread")], className="number"
    )


def _change(fraction: float | None, is_baseline: bool, better: str | None) -> html.Td:
    if is_baseline and fraction is not None and abs(fraction) < _ROUNDING:
        return html.Td("the default", className="number quiet")
    tone = ""
    if fraction is not None and better:
        tone = "good" if (fraction < 0) == (better == "less") else "bad"
    return html.Td(format_change(fraction), className=f"number {tone}")

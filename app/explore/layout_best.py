"""The table of best settings: each system's setting, and its change from the default."""

import json

import polars as pl
from dash import html

from app.kit.words import configuration_words, load_words
from data.metrics import metric
from data.units import format_change, format_quantity

# The knobs of a configuration in a `knobs` clause; see kit/clause.py.
_KEY = (
    "dataset", "system", "itr_us", "dvfs_ghz", "rapl_w", "load_qps", "message_bytes",
    "mode", "device", "rw", "request_bytes", "io_depth", "threads",
)  # fmt: skip
# The baseline differs from itself only by rounding.
_ROUNDING = 1e-9


def best_settings_table(rows: pl.DataFrame, performance: str, limit: float | None) -> html.Div:
    """Lay out the answer of `best_settings`; a click on a row selects its configuration.

    Args:
        performance: Column that is the performance metric.
    """
    if not len(rows):
        return html.Div(
            "Nothing to compare: no run has both energy and the metric.", className="note"
        )
    measure = metric(performance)
    head = html.Tr(
        [
            html.Th("System"),
            html.Th("Lowest-energy setting"),
            html.Th("Energy", className="number"),
            html.Th(measure.title, className="number"),
            html.Th("Energy vs default", className="number"),
            html.Th(f"{measure.short} vs default", className="number"),
            html.Th("n", className="number", title="replicates behind the means"),
        ]
    )
    many_loads = rows.select("load_qps", "message_bytes", "dataset").n_unique() > 1
    body = [_row(row, performance, limit, many_loads) for row in rows.iter_rows(named=True)]
    return html.Table([html.Thead(head), html.Tbody(body)], className="best")


def limit_words(rows: pl.DataFrame, performance: str, limit: float | None) -> str:
    """Say which systems miss the limit, or what is nearest when all miss it."""
    if limit is None or not len(rows):
        return ""
    unit = metric(performance).unit
    if rows["meets"].any():
        missed = rows.filter(~pl.col("meets"))["system_label"].unique().sort().to_list()
        return f"Missed by every configuration of {', '.join(missed)}." if missed else ""
    nearest = rows.sort("x").row(0, named=True)
    return (
        f"No configuration meets {format_quantity(limit, unit)}. The lowest "
        f"{metric(performance).title} is {format_quantity(nearest['x'], unit)} "
        f"({nearest['system_label']}, {configuration_words(nearest)})."
    )


def _row(row: dict, performance: str, limit: float | None, many_loads: bool) -> html.Tr:
    unit = metric(performance).unit
    name = row["system_label"] or row["system"]
    if many_loads:
        words = load_words(row["load_qps"], row["message_bytes"])
        name = " · ".join([name, *([words] if words else [])])
    setting, changes = configuration_words(row), (row["energy_change"], row["performance_change"])
    if not row["meets"]:
        setting = f"none meets {format_quantity(limit, unit)}; nearest: {setting}"
        changes = (None, None)
    cells = [
        html.Th(name, scope="row"),
        html.Td(setting, className="" if row["meets"] else "missed"),
        _number(row["y"], row["y_sd"], "J"),
        _number(row["x"], row["x_sd"], unit),
        *[_change(change, row["is_baseline"]) for change in changes],
        html.Td(str(row["n"]), className="number"),
    ]
    key = json.dumps({name: row[name] for name in _KEY if name in row})
    return html.Tr(cells, tabIndex=0, **{"data-config": key, "data-meets": str(row["meets"])})


def _number(value: float | None, deviation: float | None, unit: str) -> html.Td:
    spread = f" \N{PLUS-MINUS SIGN} {format_quantity(deviation, unit)}" if deviation else ""
    return html.Td(
        [format_quantity(value, unit), html.Span(spread, className="spread")], className="number"
    )


def _change(fraction: float | None, is_baseline: bool) -> html.Td:
    if is_baseline and fraction is not None and abs(fraction) < _ROUNDING:
        return html.Td("the default", className="number quiet")
    tone = "" if fraction is None else ("good" if fraction < 0 else "bad")
    return html.Td(format_change(fraction), className=f"number {tone}")

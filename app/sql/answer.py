"""The lists of the SQL page: tables, columns, examples."""

import re
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

import polars as pl

import data.sandbox
from app.kit.lake_view import LakeView
from app.kit.metric_choice import performance_column
from app.sql.roles import unit_of
from app.sql.state import SqlState
from data.lake_views import VIEWS
from data.queries.lake_page import ALL_RUNS, columns_query, subjects_query
from data.queries.statement import statement
from data.selection import Selection
from data.units import lowered

_EXAMPLES: Final = Path(data.sandbox.__file__).with_name("examples.toml")


@dataclass(frozen=True, slots=True)
class Example:
    """A question, its query, and the view of a page with the same answer.

    Attributes:
        state: The URL query of that page.
    """

    title: str
    page: str
    view: str
    state: str
    sql: str


def examples(view: LakeView) -> tuple[Example, ...]:
    """Return the example questions that a lake has runs for, about its most frequent subjects."""
    return view.once(_examples, None)


def _examples(view: LakeView, key: None) -> tuple[Example, ...]:
    del key
    found = view.lake.polars(*subjects_query()).row(0, named=True)
    subjects = {name: value for entry in found.values() for name, value in (entry or {}).items()}
    if subjects.keys().isdisjoint(("workload", "device")):
        subjects |= _set_and_measured(view)
    told = []
    for entry in tomllib.loads(_EXAMPLES.read_text("utf-8"))["examples"]:
        with suppress(KeyError):
            state = entry["state"].format_map({n: quote(str(v)) for n, v in subjects.items()})
            sql = entry["sql"].strip().format_map(
                {n: str(v).replace("'", "''") for n, v in subjects.items()}
            )  # fmt: skip
            title = entry["title"].format_map(subjects)
            told.append(Example(title, entry["page"], entry["view"], state, sql))
    return tuple(told)


def _set_and_measured(view: LakeView) -> dict[str, str]:
    """Return what the workload with most runs was measured by, and what was set; else nothing."""
    totals = view.outline.drop_nulls("workload").group_by("workload").agg(pl.col("runs").sum())
    studied = totals.sort("runs", "workload")["workload"][-1:].to_list()
    selection = Selection.of(workload=studied)
    measured = [name for name in view.measured_columns(selection) if studied]
    knobs = [n for n in view.catalogue.knob_of_column if n in view.varying(selection)]
    performance = performance_column(view, selection)
    costs = [n for n in view.catalogue.costs if n in measured and n != performance]
    if not knobs or not costs or performance not in measured:
        return {}
    found = {"study": studied[0], "cost": costs[0], "performance": performance}
    titles = [view.catalogue.metric(name).title for name in (costs[0], performance)]
    asked = f"{titles[0]} and {lowered(titles[1])}"
    return {**found, "asked": asked, "knobs": ", ".join(f'"{name}"' for name in knobs)}


def default_state(view: LakeView) -> SqlState:
    """Return the state without a link: the first example, else all runs."""
    found = examples(view)
    return SqlState(sql=found[0].sql if found else ALL_RUNS)


def columns_of(view: LakeView) -> pl.DataFrame:
    """List the columns: `table`, `column`, `type`, `unit`, `title`, `description`."""
    columns = pl.concat([view.lake.polars(*columns_query()), *_log_columns(view)])
    known = view.catalogue.metrics
    metrics = [known.get(name) for name in columns["column"]]
    units = [unit_of(name, view.catalogue) or None for name in columns["column"]]
    return columns.with_columns(
        pl.Series("unit", units, pl.String),
        pl.Series("title", [one.title if one else None for one in metrics], pl.String),
        pl.Series("description", [one.description if one else None for one in metrics], pl.String),
    )


def _log_columns(view: LakeView) -> list[pl.DataFrame]:
    """List the columns of the views over the runs' big files, which only lakes in a folder have."""
    views = view.lake.log_views
    tables = []
    for name in VIEWS if views.folder else ():
        told = view.lake.polars(f"DESCRIBE {views.without_rows(name)}")
        tables.append(
            told.select(pl.lit(name).alias("table"), column="column_name", type="column_type")
        )
    return tables


def example_of(view: LakeView, table: str) -> Example | None:
    """Return the first example question that asks a table, alone or before others."""
    asked = re.compile(rf"\bFROM {table}\b")
    return next((one for one in examples(view) if asked.search(one.sql)), None)


def explain(view: LakeView) -> str:
    """Return how the list of columns was computed."""
    query = statement(*columns_query())
    views = ", ".join(VIEWS)
    return (
        f"{view.words}\n\n{query}\n\nthen: the columns of {views}; units and descriptions of "
        "metrics, other units from the ends of names"
    )

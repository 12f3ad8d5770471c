"""What the SQL page lists: tables, columns, examples."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import polars as pl

import data.sandbox
from app.kit.lakes import LakeView
from app.sql.state import SqlState
from data.metrics import metrics
from data.queries.columns import columns_query

_EXAMPLES: Final = Path(data.sandbox.__file__).with_name("examples.toml")


@dataclass(frozen=True, slots=True)
class Example:
    """A question, its query, and the page that answers it with a picture."""

    title: str
    page: str
    sql: str


@cache
def examples() -> tuple[Example, ...]:
    """Return the example questions."""
    found = tomllib.loads(_EXAMPLES.read_text("utf-8"))["examples"]
    return tuple(Example(one["title"], one["page"], one["sql"].strip()) for one in found)


def default_state(view: LakeView) -> SqlState:
    """Return the state without a link: the first example."""
    del view
    return SqlState(sql=examples()[0].sql)


def columns_of(view: LakeView) -> pl.DataFrame:
    """List the columns: `table`, `column`, `type`, `unit`, `title`, `description`."""
    found = view.lake.polars(*columns_query())
    known = metrics()
    said = [known.get(name) for name in found["column"]]
    return found.with_columns(
        pl.Series("unit", [one.unit if one else None for one in said], pl.String),
        pl.Series("title", [one.title if one else None for one in said], pl.String),
        pl.Series("description", [one.description if one else None for one in said], pl.String),
    )


def rows_behind(view: LakeView, state: SqlState, name: str) -> pl.DataFrame:
    """Return the rows of a view: the list of columns."""
    del state, name
    return columns_of(view)


def explain(view: LakeView, state: SqlState, name: str) -> str:
    """Say where the list of columns comes from."""
    del state, name
    sql, parameters = columns_query()
    head = f"lake {view.lake.path.name}, version {view.version}"
    return f"{head}\n\n{sql}\n\nparameters: {parameters}\n\nthen: units and descriptions of metrics"

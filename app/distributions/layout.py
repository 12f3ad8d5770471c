"""The layout of Distributions: filters, map, quantiles by level, runs unlike their replicates."""

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlencode

import polars as pl
from dash import dcc, html

from app.distributions.answer import RANKS, Answer, quantile_rows
from app.distributions.runs import DistributionsState, knob_choices, offered, split_choices
from app.kit.competitors import value_words
from app.kit.controls import entries, select
from app.kit.filters import filter_blocks
from app.kit.ids import PageIds
from app.kit.lake_view import LakeView
from app.kit.links import address
from app.kit.page_layout import (
    ZOOM_TOOLS,
    filter_sidebar,
    page_layout,
    panel,
    state_stores,
    status_line,
    view_menu,
    view_panel,
)
from data.distributions import QUANTITIES
from data.siblings import COMPARED, ODD_TIMES, distance_words

IDS: Final = PageIds("distributions")
# The URL of a state of Timeline that names runs.
_TIMELINE: Final = "/timeline"
_MOST_RANKED: Final = 200
_FEW: Final = (
    "No configuration has three replicates with a log, the fewest of which one can be told from "
    "the others."
)
_HONEST: Final = (
    "One of n replicates is always the farthest: that alone says nothing. Usual is the distance "
    "between two of the others; of three or four replicates, at least that of other settings of "
    "the same system and load, without which they never show an odd run."
)


def distributions_layout(view: LakeView, state: DistributionsState, notice: str) -> html.Main:
    """Lay the page out for a state; callbacks bring the map and the tables."""
    listed = entries({name: one.title for name, one in QUANTITIES.items()})
    head = [
        select(IDS.control("what"), "quantity", listed, state.quantity, 230, 260),
        html.Span("against", className="quiet"),
        select(IDS.control("x"), "knob", knob_choices(view, state), state.knob, 128, 200),
        html.Span("a panel for each", className="quiet"),
        select(IDS.control("split"), "knob of the panels", split_choices(view, state),
               state.split, 128, 200),
        dcc.Store(id=IDS.control("sel"), data=state.sel),
        html.Button("all runs, not only the link's selection", id=IDS("clear"), className="plain",
                    hidden=not state.sel),
    ]  # fmt: skip
    return page_layout(
        IDS.page,
        state_stores(IDS.page, view, state, [IDS.figure("map")]),
        notice,
        filter_sidebar(filter_blocks(view, state.selection, offered, IDS)),
        [map_panel(head), *table_panels({}, has_menus=True)],
        status_line(IDS),
    )


def map_panel(head: Sequence[Any], has_menu: bool = True) -> html.Section:
    """Lay out the panel of the map."""
    name = "distribution against a knob"
    return view_panel(IDS("map"), name, head, "panel-map", ZOOM_TOOLS, has_menu)


def table_panels(bodies: dict[str, list], has_menus: bool) -> list[html.Section]:
    """Lay out both tables; callbacks bring what `bodies` has not."""
    titles = {"quantiles": "Quantiles by level", "siblings": "Unlike their replicates"}
    return [
        panel(
            IDS(name),
            title.lower(),
            [html.H2(title), *([view_menu(IDS(name))] if has_menus else [])],
            [html.Div(bodies.get(name), id=IDS(name), className="table-frame", tabIndex=0)],
            f"panel-{name}",
        )
        for name, title in titles.items()
    ]


def quantile_table(answer: Answer) -> list:
    """Lay out the quantiles of each level."""
    if answer.trouble:
        return []
    rows, knobs = quantile_rows(answer), answer.view.catalogue.knob_of_column
    head = [*(knobs[name].axis_title for name in answer.by), "runs", *RANKS]
    body = [
        [
            *(value_words(knobs[name], value, answer.labels) for name, value in
              zip(answer.by, row, strict=False)),
            f"{row[len(answer.by)]:,}",
            *map(answer.quantity.words, row[len(answer.by) + 1 :]),
        ]
        for row in rows.iter_rows()
    ]  # fmt: skip
    return [_table(head, body, len(answer.by))]


def sibling_table(answer: Answer, has_links: bool = True) -> list:
    """Lay out the runs by their distance to the other replicates of their configuration."""
    if not len(answer.runs):
        return [html.P(answer.trouble, className="quiet")]
    if not len(answer.unlike):
        return [html.P(_FEW, className="quiet")]
    is_far = pl.col("times_usual") > ODD_TIMES
    farthest = answer.unlike.with_columns(far=is_far.sum().over("run_id")).unique(
        "run_id", keep="first", maintain_order=True
    )
    odd = farthest.filter(pl.col("far") > 0)
    count_words = (
        f"{len(odd):,} of {len(farthest):,} runs are odd: over {ODD_TIMES} times as far from the "
        "other replicates as these are from each other."
    )
    head = ["run", "most unlike by", "apart", "usual", "times the usual", "n", "in Timeline"]
    body = []
    for row in farthest.head(_MOST_RANKED).iter_rows(named=True):
        pairs = [("v", "2"), ("run", row["run_id"]), ("run", row["sibling"])]
        if answer.state.lake_version is not None:
            pairs.append(("lake", str(answer.state.lake_version)))
        link = dcc.Link(
            "side by side", href=f"{address(_TIMELINE)}?{urlencode(pairs)}", className="plain"
        )
        others = f", and {row['far'] - 1} more" if row["far"] > 1 else ""
        body.append([
            answer.run_words(row["run_id"]),
            COMPARED[row["quantity"]] + others,
            *(distance_words(row["quantity"], row[name]) for name in ("distance", "usual")),
            f"{row['times_usual']:.1f}",
            str(row["n"]),
            link if has_links else row["run_id"],
        ])  # fmt: skip
    more = len(farthest) - _MOST_RANKED
    note = [html.P(f"{more:,} more are in the rows of this view.", className="quiet")]
    return [
        html.P(count_words),
        _table(head if has_links else [*head[:-1], "run id"], body, 2),
        html.P(_HONEST, className="quiet"),
        *(note if more > 0 else []),
    ]


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]], texts: int) -> html.Table:
    """Lay out a table of which the first columns are texts and all others but links numbers."""
    looks = ["" if i < texts else "number" for i in range(len(head))]
    return html.Table(
        [
            html.Thead(html.Tr([html.Th(word, scope="col", className=look)
                                for word, look in zip(head, looks, strict=True)])),
            html.Tbody([
                html.Tr([html.Td(cell, className=look)
                         for cell, look in zip(row, looks, strict=True)])
                for row in rows
            ]),
        ],
        className="best distribution-table",
    )  # fmt: skip

"""The share of cells that each competitor wins, and the other outcomes."""

import json
from typing import Final

import polars as pl

from app.kit.competitors import DIFFER_HUE, TIE_GREY, Competitors
from app.kit.encodings import base_layout
from app.kit.figure_text import finishing
from data.analysis.ties import WIN

_OTHERS: Final = {
    "tie": ("tie", {"color": TIE_GREY}),
    "too few": (
        "too few replicates",
        {"color": "rgba(0,0,0,0)", "pattern": {"shape": "/", "fgcolor": "#8C8C8C", "size": 6},
         "line": {"color": "#8C8C8C", "width": 1}},
    ),
    "differ": ("differ", {"color": DIFFER_HUE}),
    "alone": ("one alone", {"color": "rgba(0,0,0,0)", "line": {"color": "#8C8C8C", "width": 1}}),
}  # fmt: skip
# Maximum number of bars; the competitors with most wins are shown.
BARS_MAX: Final = 8


@finishing
def build_shares(counts: pl.DataFrame, competitors: Competitors, title: str) -> dict:
    """Build the bars, the most wins on top.

    Each bar's `customdata` is the clause that it selects: `won~COMPETITOR` or `outcome~NAME`.

    Args:
        counts: Result of `win_counts`; at least one row.
    """
    total = int(counts["cells"].sum())
    wins = counts.filter(pl.col("outcome") == WIN).sort(
        "cells", descending=True, maintain_order=True
    )
    others = [_other(row) for row in counts.iter_rows(named=True) if row["outcome"] != WIN]
    shown = wins.head(BARS_MAX - len(others))
    bars = [*(_win(row, competitors) for row in shown.iter_rows(named=True)), *others]
    labels = [bar["label"] for bar in bars]
    subtitle = f"of {total:,} cell{'' if total == 1 else 's'} with measurements"
    if left_out := len(wins) - len(shown):
        nothing = int(wins["cells"][len(shown) :].sum()) == 0
        subtitle += f" · {left_out} more {'win none' if nothing else 'not shown'}"
    data = [_trace(bar, total) for bar in bars]
    return {"data": data, "layout": _layout(labels, title, subtitle)}


def _win(row: dict, competitors: Competitors) -> dict:
    at = competitors.values.index(row["competitor"])
    return {
        "label": competitors.labels[at],
        "marker": {"color": competitors.hues[at]},
        "cells": row["cells"],
        "clause": f"won~{json.dumps(row['competitor'])}",
    }


def _other(row: dict) -> dict:
    label, marker = _OTHERS[row["outcome"]]
    clause = f"outcome~{row['outcome']}"
    return {"label": label, "marker": marker, "cells": row["cells"], "clause": clause}


def _trace(bar: dict, total: int) -> dict:
    share = 100 * bar["cells"] / total
    return {
        "type": "bar",
        "orientation": "h",
        "name": bar["label"],
        "meta": {"kind": "share"},
        "x": [share],
        "y": [bar["label"]],
        "marker": bar["marker"],
        "text": [f"{share:.0f} % · {bar['cells']:,}"],
        "textposition": "outside",
        "cliponaxis": False,
        "customdata": [bar["clause"]],
        "hoverinfo": "none",
        "showlegend": False,
    }


def _layout(labels: list[str], title: str, subtitle: str) -> dict:
    return {
        **base_layout(title, subtitle),
        "margin": {"l": 118, "r": 70, "t": 46, "b": 8},
        "barmode": "overlay",
        "bargap": 0.25,
        "xaxis": {"visible": False, "range": [0, 100], "fixedrange": True},
        "yaxis": {
            "type": "category",
            "categoryorder": "array",
            "categoryarray": labels[::-1],
            "tickvals": labels,
            "tickfont": {"size": 11 if len(labels) < BARS_MAX else 10},
            "showgrid": False,
            "fixedrange": True,
        },
        "dragmode": False,
        "meta": {"kind": "shares"},
    }

"""The share of cells that each competitor wins, and the other outcomes."""

import json
from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.competitors import DIFFER_HUE, TIE_GREY, Competitors
from app.kit.encodings import base_layout, finishing
from data.analysis.rules import OUTCOMES, WIN
from data.units import counted

_CLEAR: Final = "rgba(0,0,0,0)"
_GREY: Final = "#8C8C8C"


def _hatched(shape: str) -> dict[str, Any]:
    pattern = {"shape": shape, "fgcolor": _GREY, "size": 6}
    return {"color": _CLEAR, "pattern": pattern, "line": {"color": _GREY, "width": 1}}


_OTHERS: Final = {
    "equivalent": ("equivalent", {"color": TIE_GREY}),
    "undecided": ("undecided", _hatched(".")),
    "tie": ("tie", {"color": TIE_GREY}),
    "too few": ("too few replicates", _hatched("/")),
    "differ": ("differ", {"color": DIFFER_HUE}),
    "alone": ("one alone", {"color": _CLEAR, "line": {"color": _GREY, "width": 1}}),
    "unlike": ("no replicates", {"color": _CLEAR, "line": {"color": _GREY, "width": 1}}),
    "over": ("none within limit", {"color": _CLEAR, "line": {"color": _GREY, "width": 1}}),
}
# Maximum number of bars; the competitors with most wins are shown.
BARS_MAX: Final = 8


@finishing
def build_shares(
    cells: pl.DataFrame, competitors: Competitors, title: str, has_winners: bool = True
) -> dict:
    """Build the bars, the most wins on top.

    Each bar's clause is `won~COMPETITOR` or `outcome~NAME`.

    Args:
        cells: At least one row: `outcome`, `competitor` (index of the best one).
    """
    total = len(cells)
    outcome, best = cells["outcome"].to_numpy(), cells["competitor"].to_numpy()
    by_outcome = {name: np.flatnonzero(outcome == name) for name in OUTCOMES}
    won = [np.flatnonzero((outcome == WIN) & (best == i)) for i in range(len(competitors))]
    wins = sorted(enumerate(won), key=lambda pair: -len(pair[1])) if has_winners else []
    others = [
        dict(zip(("label", "marker"), _OTHERS[name], strict=True))
        | {"rows": by_outcome[name], "clause": f"outcome~{name}"}
        for name in OUTCOMES[1:]
        if len(by_outcome[name])
    ]
    shown = wins[: BARS_MAX - len(others)]
    bars = [*(_win(rows, i, competitors) for i, rows in shown), *others]
    labels = [bar["label"] for bar in bars]
    subtitle = f"of {counted(total, 'cell')} with measurements"
    if left_out := len(wins) - len(shown):
        nothing = not any(len(rows) for _, rows in wins[len(shown) :])
        subtitle += f" · {left_out} more {'win none' if nothing else 'not shown'}"
    data = [_trace(bar, total) for bar in bars]
    return {"data": data, "layout": _layout(labels, title, subtitle)}


def _win(rows: np.ndarray, at: int, competitors: Competitors) -> dict:
    return {
        "label": competitors.labels[at],
        "marker": {"color": competitors.hues[at]},
        "rows": rows,
        "clause": f"won~{json.dumps(competitors.values[at])}",
    }


def _trace(bar: dict, total: int) -> dict:
    count = len(bar["rows"])
    share = 100 * count / total
    text = f"{share:.0f} % · {count:,}"
    hover = [bar["label"], text, "click: these cells"]
    return {
        "type": "bar",
        "orientation": "h",
        "name": bar["label"],
        "meta": {
            "kind": "share",
            "rows": [bar["rows"]],
            "fades": True,
            "clauses": [bar["clause"]],
            "words": [hover],
        },
        "x": [share],
        "y": [bar["label"]],
        "marker": bar["marker"],
        "text": [text],
        "textposition": "outside",
        "textfont": {"size": 12},
        "constraintext": "none",
        "cliponaxis": False,
        "unselected": {"marker": {"opacity": 1}},
        "hoverinfo": "none",
        "showlegend": False,
    }


def _layout(labels: list[str], title: str, subtitle: str) -> dict:
    return {
        **base_layout(title, subtitle),
        "margin": {"l": 128, "r": 70, "t": 46, "b": 8},
        "barmode": "overlay",
        "bargap": 0.25,
        "xaxis": {"visible": False, "range": [0, 100], "fixedrange": True},
        "yaxis": {
            "type": "category",
            "categoryorder": "array",
            "categoryarray": labels[::-1],
            "tickvals": labels,
            "tickfont": {"size": 12},
            "showgrid": False,
            "fixedrange": True,
        },
        "dragmode": False,
        "meta": {"kind": "shares"},
    }

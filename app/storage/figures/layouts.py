"""Axes, titles, panels and messages of Storage's figures."""

from collections.abc import Sequence
from typing import Any, Final

from app.kit.encodings import BREAK, base_layout, bold, finished, message_figure
from app.storage.figures.base import TEXT_COLOR, Scene
from app.storage.state import View
from data.catalogue import SHIPPED

_WRAP_CHARS: Final = 46
_ACCESSES: Final = {"read": "reads", "randread": "random reads", "write": "writes",
                    "randwrite": "random writes"}  # fmt: skip
# Input that gives a column, for figures without it.
METER: Final = (
    "Power comes from a meter's CSV in a folder above the runs, or from perf stat's energy-pkg."
)
_TABLE: Final = "Loads and stores come from VTune's table of functions beside a run."
_SOURCES: Final = {
    "power_w": METER,
    "bytes_per_joule": METER,
    "ios_per_joule": METER,
    "interrupts_per_s": "Interrupts: of NVMe queues or AHCI, from two copies of /proc/interrupts.",
    "loads_per_s": _TABLE,
    "stores_per_s": _TABLE,
    "latency_p99_us": "For mixed reads and writes fio writes percentiles only in json+.",
}


def axis(title: str, **more: Any) -> dict[str, Any]:
    """Build an axis with its title, in the sizes of a small panel."""
    return {
        "title": {"text": title, "standoff": 5, "font": {"size": 12}},
        "tickfont": {"size": 12},
        "zeroline": False,
        "automargin": True,
        # No quantity here is negative, but an interval may reach below 0.
        "autorangeoptions": {"clipmin": 0},
        **more,
    }


def index_axis(labels: Sequence[str], title: str, most: int | None = None) -> dict[str, Any]:
    """Build a numeric axis over the indices of values.

    Args:
        most: Maximum number of labels; None for all.
    """
    at = range(0, len(labels), 1 if most is None else -(-len(labels) // most))
    ends = [-0.5, len(labels) - 0.5]
    labelled = [labels[i] for i in at]
    return axis(title, tickvals=list(at), ticktext=labelled, range=ends, showgrid=False)


def panel_axis(letter: str, number: int) -> str:
    """Return the name of an axis of a figure's n-th panel: `x`, `x2`, `x3`."""
    return letter if number == 0 else f"{letter}{number + 1}"


def panel(number: int) -> dict[str, str]:
    """Return the properties that put a trace into a figure's n-th panel."""
    return {"xaxis": panel_axis("x", number), "yaxis": panel_axis("y", number)}


def panel_axes(
    number: int, panels: int, gap: float, x: dict[str, Any], y: dict[str, Any]
) -> dict[str, Any]:
    """Build the axes of a figure's n-th panel; panels are side by side, with the same height."""
    width = (1 - gap * (panels - 1)) / panels
    left = number * (width + gap)
    x = x | {"domain": [left, left + width], "anchor": panel_axis("y", number)}
    y = {"showticklabels": number == 0, **y, "anchor": panel_axis("x", number)}
    tail = panel_axis("", number)
    return {f"xaxis{tail}": x, f"yaxis{tail}": y}


def panel_note(number: int, text: str, **more: Any) -> dict[str, Any]:
    """Build a text for a figure's n-th panel; by default centred above it."""
    return {
        "text": text,
        "xref": f"{panel_axis('x', number)} domain",
        "yref": "paper",
        "x": 0.5,
        "y": 1,
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 12, "color": TEXT_COLOR},
        **more,
    }


def access_note(number: int, rw: str | None) -> dict[str, Any]:
    """Build the name of an access, above a figure's n-th panel."""
    return panel_note(number, bold(_ACCESSES.get(str(rw), rw or "access not said")))


def tick_format(column: str) -> str:
    """Return the tick format: SI prefixes for rates, the default for others."""
    return "~s" if "/" in SHIPPED.metric(column).unit else ""


def layout(view: View, subtitle: str, scene: Scene, title: str = "", **more: Any) -> dict[str, Any]:
    """Build the layout of one small figure; without a title it has the view's."""
    parts = subtitle.split(" · ") + ([scene.note] if scene.note else [])
    lines = _joined(parts, view.room_chars)
    text = BREAK.join(lines)
    if scene.note:
        text = text.removesuffix(scene.note) + bold(scene.note)
    made = {
        **base_layout(title or view.title, text),
        "margin": {"l": 52, "r": 10, "t": 44, "b": 38},
        "dragmode": "select",
        "showlegend": False,
        "meta": {"kind": "storage", "view": view.name},
        **more,
    }
    made["margin"] = {**made["margin"], "t": made["margin"]["t"] + 14 * (len(lines) - 1)}
    return made


def _joined(parts: Sequence[str], most: int) -> list[str]:
    """Join parts of a subtitle into as few lines as possible."""
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]} · {part}" if lines else part
        if lines and len(longer) <= most:
            lines[-1] = longer
        else:
            lines.append(part)
    return lines


def named_once(data: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mark the first trace of each name for the legend of a saved picture; the page has its own."""
    names = set()
    for trace in data:
        is_listed = trace["meta"]["kind"] in ("points", "published") and trace.get("name")
        if is_listed and trace["name"] not in names:
            names.add(trace["name"])
            trace["showlegend"] = True
    return data


def message(view: View, sentence: str) -> dict[str, Any]:
    """Build a figure with a view's title and a sentence on why there is nothing to draw."""
    lines = [""]
    for word in sentence.split():
        if lines[-1] and len(lines[-1]) + len(word) > _WRAP_CHARS:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    figure = message_figure(BREAK.join(lines))
    figure["layout"]["title"] = finished(base_layout(view.title, "")["title"])
    figure["layout"]["annotations"][0]["font"]["size"] = 12
    figure["layout"]["meta"] = {"kind": "message", "view": view.name}
    return figure


def unmeasured(
    view: View, columns: Sequence[str], place_text: str, how: str = ""
) -> dict[str, Any]:
    """Build a message that names metrics without values, and the input that would give them.

    Args:
        columns: Metrics, or a column of `functions`.
        place_text: Device, access and size as text; may be empty.
        how: How they would have been measured; may be empty.
    """
    known = SHIPPED.metrics
    names = " and ".join(known[c].title if c in known else view.title for c in columns)
    where = f" at {place_text}" if place_text else ""
    inputs = " ".join(dict.fromkeys(_SOURCES[name] for name in columns if name in _SOURCES))
    return message(view, f"{names}: not measured{how}{where}. {inputs}")

"""A figure as a script: Python that reads the CSV beside it and draws with matplotlib alone."""

import csv
import inspect
import io
import re
import zipfile
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from app.kit.paper import drawing
from app.kit.paper.calls import Call, Column, Name, Plan
from app.kit.paper.room import legend_look
from data.csv_cells import FORMULA, NUMBER

_HEAD: Final = '''"""{caption}

It reads figure.csv beside it and needs matplotlib alone: python figure.py [OUT.pdf]
"""

import csv
import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import ListedColormap, to_rgba_array
from matplotlib.lines import Line2D

HERE = Path(__file__).parent
TABLE: dict[int, list[dict[str, str]]] = {{}}
with (HERE / "figure.csv").open(newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        TABLE.setdefault(int(row["series"]), []).append(row)


def numbers(series: int, name: str) -> np.ndarray:
    """Return a column of a series of the table; NaN where a value is missing."""
    return np.array([float(row[name] or "nan") for row in TABLE[series]])


def texts(series: int, name: str) -> list:
    """Return a column of texts. In the file one that begins like a formula has a quote."""
    return [row[name][1:] if row[name].startswith("'") else row[name] for row in TABLE[series]]


{functions}

plt.rcParams.update({settings})
'''
# As all members of an archive have one time, the same figure gives the same bytes.
_TIME: Final = (2000, 1, 1, 0, 0, 0)


def archive_of(plan: Plan, caption: str) -> bytes:
    """Return a ZIP archive: the script, its table, the caption."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in (
            ("figure.py", script_of(plan, caption)),
            ("figure.csv", table_of(plan)),
            ("caption.txt", f"{caption}\n"),
        ):
            archive.writestr(zipfile.ZipInfo(name, _TIME), text, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def table_of(plan: Plan) -> str:
    """Write the table: a row for each item of a series, a column for what it has."""
    names = list(dict.fromkeys(name for _, columns in plan.table for name in columns))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["series", "title", *names])
    for at, (title, columns) in enumerate(plan.table):
        texts = [_cells(columns[name]) if name in columns else None for name in names]
        for row in range(len(next(iter(columns.values())))):
            writer.writerow([at, _guarded(title), *["" if t is None else t[row] for t in texts]])
    return out.getvalue()


def _cells(values: np.ndarray) -> list[str]:
    if values.dtype.kind == "O":
        return [_guarded(str(value)) for value in values]
    return ["" if value != value else str(value) for value in values]


def _guarded(text: str) -> str:
    is_formula = re.search(FORMULA, text) and not re.search(NUMBER, text)
    return f"'{text}" if is_formula or text.startswith("'") else text


def script_of(plan: Plan, caption: str) -> str:
    """Write the script."""
    settings = "{\n" + "".join(f"    {k!r}: {v!r},\n" for k, v in plan.settings.items()) + "}"
    names = ("fill", "points", "write", "edges", "mesh", "scale", "bar_of")
    used = {call.method for call in plan.calls if not call.target}
    used |= {"edges"} if "mesh" in used else set()
    functions = "\n\n".join(inspect.getsource(getattr(drawing, n)) for n in names if n in used)
    title = caption.replace("\\", "/").replace('"""', "'''")
    wide, high = plan.size_pt
    lines = [
        _HEAD.format(caption=title, functions=functions, settings=settings),
        f"fig = plt.figure(figsize=({wide / 72:.4f}, {(high or wide) / 72:.4f}))",
        *[f"{panel.name} = fig.add_axes({panel.rect})" for panel in plan.panels],
    ]
    series = -1
    for call in plan.calls:
        named = [at.series for at in call.args if isinstance(at, Column)]
        if named and named[0] != series:
            series = named[0]
            lines.append(f"\n# {plan.table[series][0]}")
        lines.append(_line(plan, call))
    if plan.title:
        lines.append(f"fig.text(0.01, {1 - 3 / (high or wide):.4f}, {plan.title!r}, va='top')")
    if plan.legend:
        entries = ",\n    ".join(_line(plan, call) for call in plan.legend)
        look = {"ncols": plan.legend_columns, **legend_look(plan)}
        lines.append(f"entries = [\n    {entries},\n]")
        lines.append(f"fig.legend(handles=entries, {_options(plan, look)})")
    lines.append('\nfig.savefig(sys.argv[1] if len(sys.argv) > 1 else HERE / "figure.pdf")')
    return "\n".join(lines) + "\n"


def _line(plan: Plan, call: Call) -> str:
    args = [_written(plan, arg) for arg in call.args]
    parts = [*args, *([_options(plan, call.options)] if call.options else [])]
    target = f"{call.target}." if call.target else ""
    result = f"{call.result} = " if call.result else ""
    return f"{result}{target}{call.method}({', '.join(parts)})"


def _options(plan: Plan, options: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={_written(plan, value)}" for key, value in options.items())


def _written(plan: Plan, value: Any) -> str:
    if isinstance(value, Column):
        read = "texts" if plan.column(value).dtype.kind == "O" else "numbers"
        return f"{read}({value.series}, {value.name!r})"
    if isinstance(value, Name):
        return value.text
    if isinstance(value, dict):
        return f"{{{', '.join(f'{k!r}: {_written(plan, item)}' for k, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(_written(plan, item) for item in value)}]"
    if isinstance(value, tuple):
        return (
            f"({', '.join(_written(plan, item) for item in value)}{',' if len(value) == 1 else ''})"
        )
    if isinstance(value, (np.floating, np.integer)):
        return repr(value.item())
    return repr(value)

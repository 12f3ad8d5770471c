"""Figures for papers: size of the file, and time until it is there, in a process of its own."""

import base64
import time
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from app.kit.paper.options import Options
from app.kit.paper.order import Drawers
from bench.report import Measurement

SIZE_LIMIT_KB: Final = 300.0
TIME_LIMIT_S: Final = 3.0
_CAPTION: Final = "Figure.\nMade by a benchmark."
_RUNS, _PANELS, _CORES = 3, 7, 11


def measure(points: int, bins: int, repeats: int) -> Iterator[Measurement]:
    """Measure a scatter of many points, and a timeline of three runs in two widths."""
    timeline = timeline_figure(bins)
    yield from _measured("scatter", scatter_figure(points), 178, (726, 387), repeats)
    for width_mm in (85, 178):
        yield from _measured(f"timeline_{width_mm}", timeline, width_mm, (800, 970), repeats)


def _measured(
    name: str, figure: dict[str, Any], width_mm: float, size_px: tuple[float, float], repeats: int
) -> Iterator[Measurement]:
    for form in ("svg", "pdf", "png"):
        options, times, file = Options(format=form, width_mm=width_mm), [], b""
        for _ in range(repeats):
            start = time.perf_counter()
            file = Drawers().file_of(figure, size_px, options, _CAPTION)
            times.append(time.perf_counter() - start)
        size_limit = None if form == "png" else SIZE_LIMIT_KB
        yield Measurement(f"{name}_{form}_size", len(file) / 1000, "kB", 1, size_limit)
        yield Measurement(
            f"{name}_{form}_time", float(np.median(times)), "s", repeats, TIME_LIMIT_S
        )


def packed(values: Any, kind: str = "f8") -> dict[str, str]:
    """Encode numbers as the browser does."""
    data = np.asarray(values).astype(f"<{kind}").tobytes()
    return {"dtype": kind, "bdata": base64.b64encode(data).decode()}


def scatter_figure(count: int) -> dict[str, Any]:
    """Make a scatter of runs: three systems, a size of each ITR, a colour of each frequency."""
    draw = np.random.default_rng(1)
    x, y = draw.lognormal(5, 0.5, count), draw.uniform(900, 2600, count)
    traces = []
    for at, symbol in enumerate(("circle", "diamond", "square")):
        marker = {
            "symbol": symbol, "coloraxis": "coloraxis", "line": {"width": 0.5, "color": "#ffffff"},
            "size": packed(draw.choice([5, 7, 9, 11, 17], len(x[at::3])), "f4"),
            "color": packed(draw.choice(np.arange(1.2, 3, 0.2), len(x[at::3]))),
        }  # fmt: skip
        places = {"x": packed(x[at::3]), "y": packed(y[at::3])}
        traces.append({"type": "scattergl", "mode": "markers", **places, "marker": marker})
    return {
        "data": traces,
        "layout": {"coloraxis": {"colorscale": "Cividis", "showscale": True}},
    }


def timeline_figure(bins: int) -> dict[str, Any]:
    """Make a timeline: in each panel extremes and means of three runs, below them maps of cores."""
    draw, x = np.random.default_rng(2), (np.arange(bins) + 0.5) / bins
    rows = _PANELS + _RUNS
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"xaxis": {"range": [0, 1], "side": "top", "anchor": "y"}}
    for row in range(rows):
        axis = "y" if row == 0 else f"y{row + 1}"
        layout[f"yaxis{axis[1:]}"] = {"domain": [1 - (row + 0.8) / rows, 1 - row / rows]}
        if row >= _PANELS:
            rate = (40, 6, 1)[row - _PANELS]
            cells = [packed(draw.poisson(rate, bins)) for _ in range(_CORES)]
            traces.append({
                "type": "heatmap", "yaxis": axis, "z": cells, "x0": x[0], "dx": 1 / bins, "y0": 0,
                "dy": 1, "zmin": 0, "zmax": 80, "colorscale": "Viridis", "showscale": False,
            })  # fmt: skip
            continue
        for hue in ("#0072b2", "#d55e00", "#009e73"):
            # As in the page: some panels are noisy, the others are means of many samples.
            noise = draw.normal(0, 4, (3, bins))
            if row % 2:
                noise = np.array([np.convolve(one, np.ones(40) / 10, "same") for one in noise])
            mean = 100 + 20 * draw.random() + noise[0]
            high, low = mean + 5 + abs(noise[1]), mean - 5 - abs(noise[2])
            around = {"x": packed([*x, *x[::-1], x[0]]), "y": packed([*high, *low[::-1], high[0]])}
            band = {"fill": "toself", "fillcolor": f"{hue}2e", "line": {"width": 0.8, "color": hue}}
            common = {"type": "scatter", "mode": "lines", "yaxis": axis}
            traces.append({**common, **around, **band})
            line = {"width": 1.4, "color": hue}
            traces.append({**common, "x": packed(x), "y": packed(mean), "line": line})
    return {"data": traces, "layout": layout}

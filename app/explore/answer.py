"""What Explore shows for a state: rows from the lake, figures, best settings, counts, in words.

Both the page's callbacks and the static export come through here, so that they cannot differ.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from app.explore.figures.heatmap import build_heatmap
from app.explore.figures.scatter import Scene, build_scatter
from app.explore.points import encode_points
from app.explore.state import ViewState, brush_fields
from app.kit.answer_cache import compact
from app.kit.encodings import message_figure, system_order
from app.kit.lakes import LakeView
from app.kit.messages import EMPTY_LAKE, no_run_left
from app.kit.performance import performance_column
from app.kit.settings import MAX_POINTS, MAX_ROWS
from app.kit.words import subject, synthetic_note
from data.analysis.best import best_settings
from data.analysis.facets import count_runs, facet_choices, matches
from data.analysis.pareto import pareto_mask
from data.analysis.pooling import pool
from data.analysis.thinning import thin
from data.analysis.winners import find_winners
from data.errors import SelectionError
from data.metrics import metric
from data.queries.best import candidates_query
from data.queries.heatmap import heatmap_query
from data.queries.metric_cube import metric_cube_query
from data.queries.points import points_query, shown_points_query
from data.selection import FACETS, Selection


@dataclass(frozen=True, slots=True)
class ScatterAnswer:
    """The scatter, what the browser needs to link it, and the latency limit's range."""

    figure: dict[str, Any]
    points: dict[str, Any] | None
    shown_runs: int = 0


def default_state(view: LakeView) -> ViewState:
    """What a visitor without a link sees: the largest dataset's first workload, at one load."""
    cube = view.cube
    if not len(cube):
        return ViewState()
    totals = cube.group_by("dataset").agg(pl.col("runs").sum()).sort("runs", "dataset")
    selection = Selection.of(dataset=[totals["dataset"][-1]])
    return ViewState(choose_workload(view, selection, None))


def choose_workload(view: LakeView, selection: Selection, workload: str | None) -> Selection:
    """Turn to a workload: the filters that would leave nothing of it are dropped.

    Args:
        workload: None for the first by name that the datasets hold.
    """
    keep = {"dataset": selection.values("dataset"), "system": selection.values("system")}
    base = Selection.of(dataset=keep["dataset"])
    offered = [c.value for c in facet_choices(view.cube, base, "workload")]
    chosen = workload if workload in offered else (offered[0] if offered else None)
    if chosen is None:
        return base
    result = base.with_values("workload", [chosen])
    for facet in ("load", "message", "device", "rw", "request"):
        values = [c.value for c in facet_choices(view.cube, result, facet)]
        real = [v for v in values if v != FACETS[facet].null_word]
        previous = [v for v in selection.values(facet) if v in real]
        result = result.with_values(facet, previous or real[:1])
    for facet in ("depth", "threads", "system", "mode", "itr", "dvfs", "rapl"):
        values = [c.value for c in facet_choices(view.cube, result, facet)]
        result = result.with_values(facet, [v for v in selection.values(facet) if v in values])
    return result


def resolve(view: LakeView, state: ViewState) -> tuple[ViewState, str]:
    """The state with `performance` replaced by its column, and that column."""
    column = performance_column(view, state.selection)
    return state.with_performance(column), column


def scatter(view: LakeView, state: ViewState) -> ScatterAnswer:
    """Build the scatter for a state."""
    if not view.runs:
        return ScatterAnswer(message_figure(EMPTY_LAKE), None)
    state, performance = resolve(view, state)
    points = _points(view, state)
    if not len(points):
        return ScatterAnswer(message_figure(_nothing_left(view, state)), None)
    crowded = len(points) > MAX_POINTS
    drawn = thin(len(points), MAX_POINTS, _must_draw(points, state) if crowded else np.arange(0))
    scene = Scene(
        systems=view.systems,
        performance=performance,
        total=view.runs,
        matching=count_runs(view.cube, state.selection),
        left_out=len(points) - len(drawn),
    )
    figure = build_scatter(points, drawn, state, scene)
    return ScatterAnswer(figure, encode_points(points[drawn]), int(points["n"].sum()))


def heat_system(view: LakeView, state: ViewState) -> str | None:
    """The heatmap's system: the state's, if the filters leave it, else one with a grid to show."""
    left = view.cube.filter(matches(state.selection))
    if state.heat_system in set(left["system"]):
        return state.heat_system
    if not len(left):
        return None
    sizes = dict(
        left.group_by("system").agg(pl.struct("itr_us", "dvfs_ghz").n_unique()).iter_rows()
    )
    return max(system_order(sizes), key=lambda s: min(sizes[s], 2))


def heatmap(view: LakeView, state: ViewState) -> dict[str, Any]:
    """Build the heatmap for a state."""
    state, _ = resolve(view, state)
    system = heat_system(view, state)
    if system is None:
        return message_figure("Nothing to map." if view.runs else EMPTY_LAKE)
    chosen = state.selection.with_values("system", [system])
    cells = pool(_metric_cube(view, chosen, state.heat_metric), ("dvfs_ghz", "itr_us"))
    name = metric(state.heat_metric).title
    left = view.cube.filter(matches(state.selection) & (pl.col("system") == system))
    label = left["system_label"][0] or system
    if not len(cells):
        return message_figure(f"No run of {label} has a value for<br>{name}.")
    note = synthetic_note(left)
    subtitle = f"cell means over runs{f' · <b>{note}</b>' if note else ''}"
    figure = build_heatmap(
        cells, state.heat_metric, f"{name}, {label}, {subject(left, 1)}", subtitle
    )
    figure["layout"]["meta"]["system"] = system
    return figure


def best_table(view: LakeView, state: ViewState) -> pl.DataFrame:
    """The best settings under the state's latency limit; columns of `best_settings`."""
    performance = performance_column(view, state.selection)
    asked = {"x": performance, "y": "energy_j"}
    candidates = view.narrowed(
        lambda selection, limit: shown_points_query(selection, asked, True, limit),
        state.selection,
    )
    baselines = view.baselines(state.selection, performance)
    return best_settings(candidates, baselines, state.limit)


def status_words(view: LakeView, state: ViewState) -> str:
    """The status line: how many runs are shown, of how many, and how many cannot be drawn."""
    matching = count_runs(view.cube, state.selection)
    words = f"{matching:,} of {view.runs:,} runs"
    if not matching:
        return words
    resolved, _ = resolve(view, state)
    drawable = int(_points(view, resolved)["n"].sum())
    missing = matching - drawable
    return f"{words} · {missing:,} of them without both axes' values" if missing else words


def limit_domain(view: LakeView, state: ViewState) -> dict[str, Any]:
    """Range of the performance metric over the runs that the filters leave, for the slider.

    Returns:
        `low` and `high` (NULL when nothing is left), `unit`, `column`.
    """
    column = performance_column(view, state.selection)
    cube = _metric_cube(view, state.selection, column)
    low, high = cube["low"].min(), cube["high"].max()
    return {"low": low, "high": high, "unit": metric(column).unit, "column": column}


def rows_behind(view: LakeView, state: ViewState, picture: str) -> pl.DataFrame:
    """The rows that a download gives: those of one picture, or all runs that the filters leave.

    Args:
        picture: `scatter`, `heatmap`, `best-table` or `runs`.

    Raises:
        SelectionError: No such picture.
    """
    rows = view.lake.polars(*_query_behind(view, state, picture))
    resolved, performance = resolve(view, state)
    if picture == "scatter":
        return _with_units(rows, _columns(resolved, performance))
    if picture == "heatmap":
        return _with_units(rows.rename({"sd": "mean_sd"}), {"mean": resolved.heat_metric})
    if picture == "best-table":
        baselines = view.baselines(state.selection, performance)
        rows = best_settings(compact(rows), baselines, state.limit)
        return _with_units(
            rows.with_columns(cs.categorical().cast(pl.String)),
            {"x": performance, "y": "energy_j", "baseline_x": f"baseline_{performance}",
             "baseline_y": "baseline_energy_j"},
        )  # fmt: skip
    return rows


def _with_units(rows: pl.DataFrame, columns: dict[str, str]) -> pl.DataFrame:
    """Name a picture's columns after what they hold, so that each carries its unit; once each."""
    named: dict[str, str] = {}
    for name in rows.columns:
        base, end = (name[:-3], "_sd") if name.endswith("_sd") else (name, "")
        named.setdefault(columns.get(base, base) + end, name)
    return rows.select(pl.col(old).alias(new) for new, old in named.items())


def explain(view: LakeView, state: ViewState, picture: str = "scatter") -> str:
    """How a picture was computed: the query, its parameters, the filters, the lake's version."""
    sql, parameters = _query_behind(view, state, picture)
    return (
        f"lake {view.lake.path.name}, version {view.version}\n"
        f"filters: {state.selection.in_words()}\n"
        f"performance metric: {performance_column(view, state.selection)}\n\n"
        f"{sql}\n\nparameters: {parameters}"
    )


def _query_behind(view: LakeView, state: ViewState, picture: str) -> tuple[str, list[Any]]:
    state, performance = resolve(view, state)
    if picture == "scatter":
        columns = _columns(state, performance)
        return points_query(state.selection, columns, state.replicates == "means", MAX_ROWS)
    if picture == "heatmap":
        system = heat_system(view, state) or ""
        return heatmap_query(state.selection, system, state.heat_metric)
    if picture == "best-table":
        return candidates_query(state.selection, performance, MAX_ROWS)
    if picture == "runs":
        condition, parameters = state.selection.predicate()
        return (
            f"SELECT * FROM runs WHERE {condition} ORDER BY run_id LIMIT {MAX_ROWS}",
            parameters,
        )
    raise SelectionError(f"no picture {picture!r}")


def _columns(state: ViewState, performance: str) -> dict[str, str]:
    columns = {
        "x": state.x,
        "y": state.y,
        "performance": performance,
        "energy_j": "energy_j",
        "edp_js": "edp_js",
    }
    fields = brush_fields(state.brush)
    if fields and fields != (state.x, state.y):
        columns |= {"brush_x": fields[0], "brush_y": fields[1]}
    return columns


def _points(view: LakeView, state: ViewState) -> pl.DataFrame:
    """Rows of `points_query` for a state with `performance` resolved or not."""
    state, performance = resolve(view, state)
    columns, means = _columns(state, performance), state.replicates == "means"
    return view.narrowed(
        lambda selection, limit: shown_points_query(selection, columns, means, limit),
        state.selection,
    )


def _metric_cube(view: LakeView, selection: Selection, column: str) -> pl.DataFrame:
    return view.narrowed(lambda selection, _: metric_cube_query(selection, column), selection)


def _must_draw(points: pl.DataFrame, state: ViewState) -> np.ndarray:
    """Indices that no thinning may drop: each system's frontier and winners."""
    names, group = np.unique(
        points["system"].cast(pl.Categorical).to_physical().to_numpy(), return_inverse=True
    )
    values = {
        name: points[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
        for name in ("x", "y", "performance", "energy_j", "edp_js")
    }
    signs = [-1.0 if metric(name).better == "more" else 1.0 for name in (state.x, state.y)]
    kept: list[np.ndarray] = []
    for number in range(len(names)):
        mine = np.flatnonzero(group == number)
        mask = pareto_mask(signs[0] * values["x"][mine], signs[1] * values["y"][mine])
        kept.append(mine[mask])
    winners = find_winners(group, values["performance"], values["energy_j"], values["edp_js"])
    kept.append(np.array([i for w in winners.values() for i in w.indices()], dtype=int))
    return np.concatenate(kept)


def _nothing_left(view: LakeView, state: ViewState) -> str:
    """Say which filter to take back when nothing is left, or that the axes were not measured."""
    matching = count_runs(view.cube, state.selection)
    if matching:
        x, y = metric(state.x).title, metric(state.y).title
        return f"None of the {matching:,} runs that the filters leave has both {x} and {y}."
    return no_run_left(view.cube, state.selection)

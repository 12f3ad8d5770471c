"""The views of Explore, one row each, and what they answer for a state.

A view is a query, a figure and a row of VIEWS. The page's callbacks, its downloads, its
explanations and its export all go over that table.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import polars as pl

from app.explore.best_words import Asked
from app.explore.decided import decided
from app.explore.explained import explain_best
from app.explore.fronts import areas_of
from app.explore.heat import explain_heat, heat_of, heat_rows, heatmap
from app.explore.lines import explain_lines, lines, lines_of, lines_rows
from app.explore.odd import odd_words
from app.explore.question import AGREED_METRIC, AGREED_US, MOST_RUNS_DRAWN, Question
from app.explore.scatter import explain_scatter, scatter, scatter_rows
from app.explore.state import ExploreState
from app.explore.studies import setting_keys, unjudged_words
from app.kit.lake_view import LakeView, leading
from app.kit.metric_choice import unstated_datasets
from app.kit.settings import MAX_ROWS
from app.kit.words import axis_words, explanation, workload_title
from data.claim_scope import is_near_limit
from data.declared import PERFORMANCE
from data.queries.runs import runs_query
from data.selection import Selection
from data.units import counted, lowered

# Datasets and workloads that a sentence names.
_NAMED: Final = 3


def best_table(view: LakeView, state: ExploreState) -> pl.DataFrame:
    """Return the best settings under the state's limit: columns of `decided`, and the areas.

    Where the reader chose a system to compare with, `area`, `area_low` and `area_high` are how many
    times its area each system's frontier dominates; `area_x` and `area_y` the reference point.
    """
    return _best(Question.of(view, state))


def _best(question: Question) -> pl.DataFrame:
    rows, shown, metric = decided(question), question.state, question.catalogue.metric
    ratios, signs = {}, []
    if shown.against:
        ratios, signs = areas_of(question), [metric(name).sign for name in (shown.x, shown.y)]
    ratios_of = [ratios.get(key) for key in rows[list(question.catalogue.choice_columns)].rows()]
    areas = [
        (one.estimate, one.low, one.high, *np.exp(np.array(signs) * one.reference))
        if one is not None and np.isfinite(one.estimate) else (None,) * 5
        for one in ratios_of
    ]  # fmt: skip
    names = ("area", "area_low", "area_high", "area_x", "area_y")
    return rows.hstack(pl.DataFrame(areas, dict.fromkeys(names, pl.Float64), orient="row"))


def asked_of(view: LakeView, state: ExploreState) -> Asked:
    """Return what the table of best settings answers."""
    question = Question.of(view, state)
    label = state.against
    if state.against:
        systems = view.outline.filter(pl.col("system") == state.against)
        label = next(iter(systems["system_label"].drop_nulls()), state.against)
    return Asked(
        cost=question.cost,
        limited=question.limited,
        limit=state.limit,
        against=label,
        axes=tuple(question.catalogue.metric(n) for n in (question.state.x, question.state.y)),
        varying=question.varying.intersection(setting_keys(question)),
        catalogue=question.catalogue,
        sd=_sd_of_one_setting(question),
        guessed=view.lake.guessed,
        unstated=unstated_datasets(view),
        has_negative_costs=question.has_negative_costs,
    )


def _sd_of_one_setting(question: Question) -> float | None:
    """Return the deviation of the cost over runs of one setting, where there is no other."""
    cells = question.cube(question.cost.name)
    return cells.row(0)["sd"] if len(cells) == 1 else None


def source_words(view: LakeView, state: ExploreState) -> str:
    """Say in one line what the page shows and where it comes from; empty where no run matches."""
    left = view.part_left(state.selection)
    if not len(left):
        return ""
    shown = Question.of(view, state).state
    datasets, workloads = (
        sorted(name for name in left.values(column) if name is not None)
        for column in ("dataset", "workload")
    )
    citations = [view.lake.about[name]["citation"] for name in datasets
            if "citation" in view.lake.about.get(name, {})]  # fmt: skip
    axes = axis_words(shown.x, shown.y, view.catalogue)
    if shown.show == "lines":
        titles = [view.catalogue.metric(name).title for name in shown.lines_y]
        titles[1:] = [lowered(title) for title in titles[1:]]
        axes = f"{' and '.join(titles)} over {lowered(view.catalogue.knobs[shown.lines_x].title)}"
    runs = counted(view.matching(state.selection), "run")
    sentence = f"{axes} of {runs} of {_listed(list(map(workload_title, workloads)))}"
    if datasets:
        sentence += f", from {_listed(datasets)}"
    return f"{sentence} ({'; '.join(citations)})." if citations else f"{sentence}."


def _listed(names: Sequence[str]) -> str:
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return ", ".join([*names[:_NAMED], *more])


def best_notes(view: LakeView, state: ExploreState) -> str:
    """Return what else to know of the best settings: odd runs, and choices that are left out."""
    notes = [odd_change(view, state), unjudged_words(Question.of(view, state))]
    return " ".join(filter(None, notes))


def odd_change(view: LakeView, state: ExploreState) -> str:
    """Return for which systems odd runs decide which setting is best; empty for none."""
    odd = Question.of(view, state).odd
    if not len(odd):
        return ""
    shown = best_table(view, state)
    other = best_table(view, replace(state, without_odd=not state.without_odd))
    changed = shown.join(
        other, on=["standing", *view.catalogue.knob_of_column], how="anti", nulls_equal=True
    )
    names = changed.select(pl.coalesce("system_label", "system")).to_series().unique().sort()
    if not len(names):
        return ""
    word = "With" if state.without_odd else "Without"
    return f"{word} odd runs another setting is best for {', '.join(names)}."


def status_words(view: LakeView, state: ExploreState) -> str:
    """Return how many runs are shown, of how many, and how many lack a value on an axis."""
    matching = view.matching(state.selection)
    parts = [f"{matching:,} of {counted(view.runs, 'run')}"]
    if not matching:
        return parts[0]
    question = Question.of(view, state)
    odd = question.odd
    left_out = odd["run_id"].n_unique() if state.without_odd else 0
    missing = matching - left_out - int(question.narrowed.numbers("n").sum())
    if missing and question.state.show != "lines":
        parts.append(f"{missing:,} of them without both axes' values")
    if question.state.replicates != state.replicates:
        parts.append(f"means are drawn, not runs: over {MOST_RUNS_DRAWN:,} match")
    odd_runs = odd_words(odd, state.without_odd, view.catalogue)
    return " \N{MIDDLE DOT} ".join([*parts, *filter(None, [odd_runs])])


def limit_domain(view: LakeView, state: ExploreState) -> dict[str, Any]:
    """Return the range of the limited metric over the runs that match the filters.

    Returns:
        `low` and `high` (None if no run has a value), `unit`, `column`; where the workload has
        such latencies, the `agreed` limit and `by`, the choice of its metric.
    """
    question = Question.of(view, state)
    measure = question.limited
    cube = question.cube(measure.name, question.filters)
    low, high = (
        (float(cube.numbers("low").min()), float(cube.numbers("high").max()))
        if len(cube)
        else (None, None)
    )
    domain = {"low": low, "high": high, "unit": measure.unit, "column": measure.name}
    is_declared = view.lake.guessed.isdisjoint(view.part_left(state.selection).values("dataset"))
    # Of the study: a change of its other filters asks for no ranges of all metrics.
    agreed = view.ranges(leading(state.selection))[AGREED_METRIC]
    if is_declared and agreed.runs and is_near_limit(agreed.low, agreed.high):
        is_own = question.performance == AGREED_METRIC
        domain |= {"agreed": AGREED_US, "by": PERFORMANCE if is_own else AGREED_METRIC}
    return domain


def _best_rows(question: Question) -> pl.DataFrame:
    rows = _best(question).drop("set")
    cost, limited = question.cost.name, f"limited_{question.limited.name}"
    return rows.rename({
        "cost": cost, "cost_mean": f"{cost}_arithmetic",
        "limited": limited, "limited_mean": f"{limited}_arithmetic",
    })  # fmt: skip


def scope(view: LakeView, state: ExploreState, name: str) -> Selection:
    """Return the filters of the runs behind a view."""
    question = Question.of(view, state)
    shown = BY_NAME[name].scope
    return shown(question) if shown else question.selection


def _runs_query(question: Question) -> tuple[str, list[Any]]:
    return runs_query(question.selection, MAX_ROWS, catalogue=question.catalogue)


def _explain_runs(question: Question) -> str:
    before = [f"performance metric: {question.performance}"]
    return explanation(question.view, question.selection, _runs_query(question), before)


@dataclass(frozen=True, slots=True)
class ExploreView:
    """One view.

    Attributes:
        name: Name in addresses of downloads; id of its element.
        title: Title for menus.
        rows: Returns the rows behind it.
        explain: Returns how it was computed.
        picture: Returns what the server answers: `figure`, the first view of the table also
            `columns`, and `adopts` (URL key to the value that it shows, if it could not show the
            one that was asked for). None for a view that is no picture.
        label: Name of its panel for screen readers.
        asks: URL keys of the controls that it follows besides those that all views follow; they
            are in views' keys of the state (`is_view`), if no other view has them.
        head: URL keys of the controls in the head of its panel, and in the second line of it.
        legend: URL keys of the menus that the titles of its legend open.
        adopts: Those of `asks` whose value it may choose.
        scope: Returns the filters of the runs behind it; None where they are the question's.
        is_optional: Whether the reader shows it by the control `show`: hidden, it is not computed.
    """

    name: str
    title: str
    rows: Callable[[Question], pl.DataFrame]
    explain: Callable[[Question], str]
    picture: Callable[[Question], dict[str, Any]] | None = None
    label: str = ""
    asks: tuple[str, ...] = ()
    head: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    legend: tuple[str, ...] = ()
    adopts: tuple[str, ...] = ()
    scope: Callable[[Question], Selection] | None = None
    is_optional: bool = False


VIEWS: Final = (
    ExploreView(
        "scatter", "Energy against performance", scatter_rows, explain_scatter,
        picture=scatter, label="energy against performance",
        asks=("limit", "by", "cost", "alpha", "same", "band", "split", "own"),
        head=(("y", "ylog", "x", "xlog", "frontier", "band"), ()), legend=("col", "size", "sym"),
    ),
    ExploreView(
        "heatmap", "Heatmap over two knobs", heat_rows, explain_heat,
        picture=heatmap, label="heatmap of two knobs", scope=lambda asked: heat_of(asked).shown,
        asks=("hsys", "hmet", "hx", "hy", "pool"), adopts=("hsys",),
        head=(("hmet", "hsys"), ("hy", "hx", "pool")),
    ),
    ExploreView(
        "lines", "Lines over a knob", lines_rows, explain_lines,
        picture=lines, label="lines over a knob", scope=lambda asked: lines_of(asked).shown,
        is_optional=True,
        asks=("by", "lx", "ly", "lby", "lst", "llev", "lstat", "lpool", "lxlog", "lylog", "lband",
              "split", "own"),
        head=(("ly",), ("lx", "lby", "lst", "llev", "lstat", "lpool", "lxlog", "lylog", "lband")),
    ),
    ExploreView("best-table", "Best settings", _best_rows, explain_best),
    ExploreView("runs", "Runs that the filters leave",
                lambda question: question.view.lake.polars(*_runs_query(question)), _explain_runs),
)  # fmt: skip
BY_NAME: Final = {view.name: view for view in VIEWS}
PICTURES: Final = {view.name: view.picture for view in VIEWS if view.picture}


def picture(name: str, view: LakeView, state: ExploreState) -> dict[str, Any]:
    """Return what the server answers for a picture, with its name as `view`."""
    return {**PICTURES[name](Question.of(view, state)), "view": name}


def rows_behind(view: LakeView, state: ExploreState, name: str) -> pl.DataFrame:
    """Return the rows behind a view, or all runs that match the filters."""
    return BY_NAME[name].rows(Question.of(view, state))


def explain(view: LakeView, state: ExploreState, name: str = "scatter") -> str:
    """Return how a view was computed: its query with all filters, and the steps on its answer."""
    return BY_NAME[name].explain(Question.of(view, state))

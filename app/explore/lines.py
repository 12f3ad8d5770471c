"""The lines of Explore: metrics over a knob, a line for each value of a second one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from app.explore.figures.lines import LinesScene, build_lines
from app.explore.heat import HOW_POOLED
from app.explore.question import Question
from app.explore.unlike import unlike_places, unlike_runs
from app.kit.competitors import competitors_of, ordered_values
from app.kit.encodings import BREAK, bold, message_figure
from app.kit.joined import join_panels
from app.kit.metric_choice import is_of_unstated
from app.kit.panels import NONE, Split
from app.kit.settings import MAX_ROWS
from app.kit.words import EMPTY_LAKE, explanation, slice_words, subject, synthetic_note
from data.analysis.coded_rows import Part
from data.analysis.like_with_like import Slice, like_with_like, pool
from data.analysis.spreads import mean_spreads
from data.knobs import Knob
from data.queries.explore import cells_query, medians_query
from data.queries.statement import statement
from data.selection import Selection
from data.units import lowered

# More lines of a metric hide each other; those of the first values are drawn.
MOST_LINES: Final = 60
# What a point's interval is, by its value.
_BANDS: Final = {"mean": "95 % CI of the mean", "median": "middle half of the runs"}
# Of these knobs the end that is fast; others have a least and a most.
_FAST_END: Final = {"itr": "least", "dvfs": "most", "rapl": "most"}


@dataclass(frozen=True, slots=True)
class Lines:
    """What the lines of a state show.

    Attributes:
        x, by, style: The knobs along x, of the lines, of their style; None for none.
        cells: Their columns, `metric`, `value` (mean or median), `sd` of means, `low`
            and `high` (the 95 % interval of a mean, the quartiles of a median; NULL for one run),
            `n` and `end` (least
            or most: the end of the style's values that were run at this x; NULL where all levels
            are drawn), `is_unlike` (its runs are no replicates, so a mean has no interval).
            Sorted by metric and knobs.
        runs: Each run of the cells that are unlike, with `metric`, `value` and `end`.
        shown: The filters of the runs behind them.
        part: The kept values and the pooled knobs.
    """

    x: Knob
    by: Knob | None
    style: Knob | None
    cells: pl.DataFrame
    runs: pl.DataFrame
    shown: Selection
    part: Slice

    @property
    def knobs(self) -> list[Knob]:
        """The knobs that exist."""
        return [knob for knob in (self.x, self.by, self.style) if knob is not None]


def lines_of(question: Question, cube: pl.DataFrame | None = None) -> Lines:
    """Return the cells of a question's lines; loads, sizes and machines are never pooled.

    Args:
        cube: Answer of `_cube` for the question, where it is known already.
    """
    state, knobs = question.state, question.catalogue.knobs
    listed = [name for name in (state.lines_by, state.lines_style) if name != state.lines_x]
    by, style = (
        knobs[name] if name in listed and name != NONE else None
        for name in (state.lines_by, state.lines_style)
    )
    style = None if style is by else style
    x = knobs[state.lines_x]
    shown = [knob for knob in (x, by, style) if knob is not None]
    cube = _cube(question) if cube is None else cube
    part = like_with_like(cube, shown, state.lines_pool, runs="n", catalogue=question.catalogue)
    columns = [knob.column for knob in shown]
    narrowed = part.narrow(question.selection)
    is_median = state.lines_stat == "median"
    each = []
    for name in state.lines_y:
        if is_median:
            own, unlike = _medians(question, narrowed, columns, name), set()
        else:
            own = _means(part.of(cube).filter(metric=name), columns)
            unlike = unlike_places(question, name, question.selection, part, columns)
        is_there = [place in unlike for place in own.select(columns).iter_rows()]
        is_unlike = pl.Series(is_there, dtype=pl.Boolean)
        each.append(own.with_columns(metric=pl.lit(name), is_unlike=is_unlike))
    interval = pl.when(~pl.col("is_unlike")).then(pl.col("sd", "low", "high"))
    cells = pl.concat(each).with_columns(interval)
    end = pl.lit(None, pl.String)
    if style is not None and state.lines_levels == "ends":
        cells = _ends(cells, style, ["metric", *(k.column for k in shown if k is not style)])
    else:
        cells = cells.with_columns(end=end)
    runs = unlike_runs(question, narrowed, cells, columns)
    return Lines(x, by, style, cells, runs, narrowed, part)


def _cube(question: Question) -> pl.DataFrame:
    """Return the statistics of each metric for each combination of knobs, by `metric`."""
    names = question.state.lines_y
    return pl.concat(question.cube(name).rows.with_columns(metric=pl.lit(name)) for name in names)


def _means(parts: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    cells = pool(parts, columns)
    half = mean_spreads(cells["n"].to_numpy(), cells["sd"].cast(pl.Float64).to_numpy(), True)
    bar = pl.Series(half, dtype=pl.Float64).fill_nan(None)
    mean = pl.col("mean")
    return cells.select(*columns, "n", "sd", value=mean, low=mean - bar, high=mean + bar)


def _medians(
    question: Question, shown: Selection, columns: Sequence[str], name: str
) -> pl.DataFrame:
    query = medians_query(shown, columns, name, MAX_ROWS, catalogue=question.catalogue)
    ends = [pl.when(pl.col("n") > 1).then(pl.col(end)).alias(end) for end in ("low", "high")]
    sd = pl.lit(None, pl.Float64).alias("sd")
    return question.view.answered(*query).select(*columns, "n", sd, "value", *ends)


def _ends(cells: pl.DataFrame, style: Knob, over: Sequence[str]) -> pl.DataFrame:
    """Return the cells of the least and of the most value of the style in each group.

    The ends are those that were run there: the fastest ITR at 1.3 GHz may be another than at 2.9.
    A policy is neither.
    """
    value = pl.col(style.column)
    ends = [
        cells.filter(value == edge.over(over)).with_columns(end=pl.lit(name))
        for name, edge in (("least", value.min()), ("most", value.max()))
    ]
    policies = cells.filter(value.is_null()).with_columns(end=pl.lit(None, pl.String))
    return pl.concat([*ends, policies])


def end_words(style: Knob, end: str) -> str:
    """Return `fastest ITR`, or `least request size` of a knob that is neither fast nor slow."""
    fast = _FAST_END.get(style.name)
    return f"{('fastest' if end == fast else 'slowest') if fast else end} {style.noun}"


def lines(question: Question) -> dict[str, Any]:
    """Return the lines, {figure}: each point is linked with the points of the scatter."""
    view, state, catalogue = question.view, question.state, question.catalogue
    if not view.matching(state.selection):
        return {"figure": message_figure("Nothing to draw." if view.runs else EMPTY_LAKE)}
    split, drawn = _panels(question)
    if not drawn:
        missing = " or ".join(catalogue.metric(name).title for name in state.lines_y)
        return {"figure": message_figure(f"No run has a value for{BREAK}{missing}.")}
    x, by = drawn[0].x, drawn[0].by
    labels = view.labels
    everything = pl.concat([_drawable(each)[0] for each in drawn])
    values = everything[by.column].unique().to_list() if by else []
    competitors = competitors_of(by, values, view.systems, labels) if by else None
    left = view.part_left(state.selection)
    left = left if split else drawn[0].part.within(left)
    first, *further = (catalogue.metric(name).title for name in state.lines_y)
    title = f"{', '.join([first, *map(lowered, further)])} by {x.noun}, {subject(left, 1)}"
    words = [_words(question, each, drawn, labels) for each in drawn]
    shared = [part for part in words[0] if all(part in own for own in words)]
    subtitle = " · ".join(filter(None, [*shared, split.words() if split else ""]))
    figures = []
    for number, each in enumerate(drawn):
        panel_values = {k.knob.column: k.value for k in each.part.fixed if k.levels > 1}
        panel_values |= {split.knob.column: split.values[number]} if split else {}
        style = each.style
        scene = LinesScene(
            catalogue=catalogue,
            x=x,
            style=style,
            levels=ordered_values(style, everything[style.column].unique().to_list())
            if style
            else (),
            competitors=competitors,
            metrics=tuple(catalogue.metric(name) for name in state.lines_y),
            panel=panel_values,
            end_words={e: end_words(style, e) for e in ("least", "most")} if style else {},
            fast_end=_FAST_END.get(style.name, "least") if style else "least",
            x_log=state.lines_x_log,
            y_log=state.lines_y_log,
            has_bands=state.lines_bands,
            limited=state.limited,
            band=_BANDS[state.lines_stat],
            labels=labels,
            is_unstated=is_of_unstated(view, left.values("dataset")),
        )
        figures.append(build_lines(_drawable(each)[0], each.runs, scene, title, subtitle))
    if not split:
        return {"figure": figures[0]}
    is_shared, is_stacked = not state.own_axes, len(state.lines_y) > 1
    return {"figure": join_panels(figures, split, title, subtitle, is_shared, is_stacked)}


def _panels(question: Question) -> tuple[Split | None, list[Lines]]:
    """Return the lines of each panel, of one without a split; none where no run has a value."""
    if question.split is None:
        drawn = lines_of(question)
        return None, [drawn] if len(drawn.cells) else []
    split = Split.of(question.view.part_left(question.state.selection), question.split)
    cubes = [part.rows for part in split.parts(Part.of(_cube(question)))]
    panels = [lines_of(*each) for each in zip(question.of_panels(split), cubes, strict=True)]
    has_cells = [len(each.cells) > 0 for each in panels]
    return split.only(has_cells), [each for each in panels if len(each.cells)]


def _kind_of_values(n: pl.Series, statistic: str) -> str:
    """Return what values of several runs are: tables of decisions have geometric means."""
    if statistic == "mean":
        return "arithmetic means" if (n > 1).any() else ""
    return "medians of runs"


def _words(
    question: Question, drawn: Lines, panels: Sequence[Lines], labels: Mapping[str, str]
) -> list[str]:
    """Return the parts of the subtitle of one of the panels."""
    state, left_out = question.state, _drawable(drawn)[1]
    left = drawn.part.within(question.view.part_left(drawn.shown))
    parts = [
        _kind_of_values(drawn.cells["n"], state.lines_stat),
        _levels_words(panels),
        f"{left_out:,} of the lines not drawn; filter to see them" if left_out else "",
        slice_words(drawn.part, labels),
        f"bands: {_BANDS[state.lines_stat]}"
        if state.lines_bands and drawn.cells["low"].count() else "",
        "each run where runs are no replicates" if len(drawn.runs) else "",
        bold(synthetic_note(left)),
    ]  # fmt: skip
    return [part for part in parts if part]


def _drawable(drawn: Lines) -> tuple[pl.DataFrame, int]:
    """Return the cells of the first MOST_LINES lines of a metric, and the number of the others."""
    style = drawn.style if not drawn.cells["end"].count() else None
    keys = ["end", *(knob.column for knob in (drawn.by, style) if knob is not None)]
    each = drawn.cells.select(keys).unique().sort(keys, nulls_last=True)
    if len(each) <= MOST_LINES:
        return drawn.cells, 0
    shown = each.head(MOST_LINES)
    cells = drawn.cells.join(shown, on=keys, how="semi", nulls_equal=True, maintain_order="left")
    return cells, len(each) - MOST_LINES


def _levels_words(panels: Sequence[Lines]) -> str:
    drawn = panels[0]
    style = drawn.style
    if style is None:
        return ""
    if drawn.cells["end"].null_count() < len(drawn.cells):
        fast = _FAST_END.get(style.name, "least")
        slow = "most" if fast == "least" else "least"
        return (
            f"bold: {end_words(style, fast)} run at each {drawn.x.noun}, "
            f"dotted: {end_words(style, slow)}"
        )
    levels = sorted({each.cells[style.column].n_unique() for each in panels})
    words = f"{levels[0]} to {levels[-1]}" if len(levels) > 1 else f"{levels[0]}"
    return f"{words} {style.plural}, lower values darker"


def lines_rows(question: Question) -> pl.DataFrame:
    """Return the drawn points, one row each.

    Returns:
        The knobs' columns, `end` where only ends are drawn (`least and most` where one value was
        run); of each metric its mean or median under its name, with `_sd` (of means), `_n`, `_low`
        and `_high` (see `Lines`).
    """
    if question.split is not None:
        split, panels = _panels(question)
        if split is not None and panels:
            column = split.knob.column
            kind = question.view.left(question.selection).schema[column]
            parts = [
                _rows(question, own).with_columns(pl.lit(value, kind).alias(column))
                for own, value in zip(panels, split.values, strict=True)
            ]
            return pl.concat(parts, how="diagonal_relaxed")
    return _rows(question, lines_of(question))


def _rows(question: Question, drawn: Lines) -> pl.DataFrame:
    """Return the points of one panel; see `lines_rows`."""
    stat = question.state.lines_stat
    columns = [knob.column for knob in drawn.knobs]
    end = ["end"] if drawn.cells["end"].count() else []
    named = {
        "value": "" if stat == "mean" else "_median",
        "n": "_n",
        "low": "_low",
        "high": "_high",
    }
    named |= {"sd": "_sd"} if stat == "mean" else {}
    # Where one value of the style was run, it is both ends.
    rows = drawn.cells.group_by(columns, maintain_order=True).agg(pl.col("end").unique())
    rows = rows.with_columns(pl.col("end").list.sort().list.join(" and ").replace("", None))
    rows = rows.select(*columns, *end)
    for name in question.state.lines_y:
        own = drawn.cells.filter(metric=name).select(
            *columns, *(pl.col(part).alias(name + ending) for part, ending in named.items())
        )
        own = own.unique(columns, keep="first", maintain_order=True)
        rows = rows.join(own, on=columns, how="left", nulls_equal=True, maintain_order="left")
    return rows


def explain_lines(question: Question) -> str:
    """Return how the points were computed: the query of each metric, and the steps after it."""
    split = _panels(question)[0] if question.split is not None else None
    if split is not None and split.values:
        each = zip(split.titles, question.of_panels(split), strict=True)
        return "\n\n".join(f"{title}:\n{explain_lines(own)}" for title, own in each)
    drawn, state, catalogue = lines_of(question), question.state, question.catalogue
    columns = [knob.column for knob in drawn.knobs]
    build = cells_query if state.lines_stat == "mean" else medians_query
    first, *others = [
        build(drawn.shown, columns, name, MAX_ROWS, catalogue=catalogue) for name in state.lines_y
    ]
    after = [f"interval: {_BANDS[state.lines_stat]}, over all runs of a point"]
    if len(drawn.runs):
        after.append(
            "where runs of one setting are no replicates each run, no mean and no interval"
        )
    if drawn.style is not None and state.lines_levels == "ends":
        after.append(
            f"of each {drawn.x.noun} the points with the least and the most "
            f"{drawn.style.noun} that was run there"
        )
    words = explanation(question.view, drawn.shown, first, [HOW_POOLED], after)
    return "\n\n".join([words, *(statement(*query) for query in others)])

"""A state of Modes with every choice made, and the compared cells of one map."""

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import polars as pl
import polars.selectors as cs

from app.kit.answer_cache import KnownColumns
from app.kit.columns import index_in
from app.kit.competitors import DEFAULT_HUE, Competitors, competitors_of, ordered_values
from app.kit.lake_view import LakeView, Query, leading
from app.kit.metric_choice import catalogue_of, is_of_unstated
from app.kit.panels import Split
from app.modes.defaults import resolved
from app.modes.state import ModesState
from data.analysis.contenders import Question
from data.analysis.like_with_like import Slice, like_with_like
from data.analysis.merged import merged
from data.analysis.rules import ALONE, OVER, SETS, TOO_FEW, UNLIKE
from data.analysis.setting_noise import numbered
from data.analysis.shared_settings import at_shared_settings
from data.analysis.ties import Comparison, compare
from data.catalogue import Catalogue
from data.knobs import Knob
from data.metrics import Metric
from data.queries.modes import configurations_query
from data.selection import Selection, Value

# What stands for the default among the competitors, and in the clause of the cells that it wins.
DEFAULT: Final = "the default"
# Columns of a system's noise at all loads.
_FAMILY: Final = ("dataset", "workload", "machine", "system")


@dataclass(frozen=True, slots=True)
class Judged:
    """A state with every choice made, and its compared cells.

    Attributes:
        part: The part of the filtered runs that is compared; the state's filters are of it.
        competitors: In the order of their index; the last one is the default where it is compared.
        axes: Values along x and y, in order.
        labels: System to its label.
        split: The knob of the panels and their values; None for one map.
        panels: The cells of each panel, which has the competitors of all; empty for one map.
        is_unstated: Whether all rows are means of an unstated number of runs.
        shared: The cells led by a setting that the runner-up lacks, at the settings that both have.
    """

    state: ModesState
    catalogue: Catalogue
    part: Slice
    comparison: Comparison
    competitors: Competitors
    axes: tuple[list[Value | None], list[Value | None]]
    labels: dict[str, str]
    split: Split | None = None
    panels: tuple["Judged", ...] = ()
    is_unstated: bool = False
    shared: Comparison | None = None

    @property
    def alike(self) -> "Judged | None":
        """The same map with the cells of `shared` alone."""
        return replace(self, comparison=self.shared, shared=None) if self.shared else None

    @property
    def metric(self) -> Metric:
        """The compared metric."""
        return self.catalogue.metric(str(self.state.metric))

    @property
    def knobs(self) -> tuple[Knob, Knob, Knob]:
        """The knobs of x, y and competitor."""
        return self.state.knobs(self.catalogue)

    @property
    def kind_of_mean(self) -> str:
        """What the means of contenders are."""
        return "geometric" if self.comparison.is_geometric else "arithmetic"

    @property
    def has_default(self) -> bool:
        """Whether the best competitor of each cell is compared with the default."""
        return self.state.versus == "default"

    @property
    def pooled(self) -> tuple[str, ...]:
        """Columns of the pooled knobs, NULL in the compared configurations."""
        return tuple(k.column for k, _ in self.part.pooled.knobs) if self.part.pooled else ()

    @property
    def who(self) -> np.ndarray:
        """The index of each contender among the competitors."""
        contenders, last = self.comparison.contenders, len(self.competitors) - 1
        values = self.competitors.values[: last if self.has_default else last + 1]
        index = index_in(contenders["competitor"], values)
        is_default = contenders["is_default"].to_numpy()
        return np.where(is_default, last, index).astype(np.int64)

    def closest(self) -> dict[str, Any] | None:
        """Return the cell with the least lead, one with enough runs if any has; else None."""
        lead, is_few = pl.col("margin_share").log1p().abs(), pl.col("outcome") == TOO_FEW
        cells = self.comparison.cells.filter(~pl.col("outcome").is_in([ALONE, OVER, UNLIKE]))
        cells = cells.filter(pl.col("margin_share").is_finite() & lead.is_finite())
        cells = cells.sort(is_few, lead, maintain_order=True)
        return cells.row(0, named=True) if len(cells) else None


def judge_panel(view: LakeView, state: ModesState) -> Judged:
    """Compare the competitors in every cell of one map; the state has no selection."""
    return view.once(_judge, state, is_large=True)


def _judge(view: LakeView, state: ModesState) -> Judged:
    state = resolved(view, state)
    catalogue = catalogue_of(view, state.selection)
    x, y, competitor = state.knobs(catalogue)
    groups, constant, part = _groups(view, state)
    has_default = state.versus == "default"
    if has_default:
        groups = _with_defaults(view, state, groups, part)
    measure, limit = catalogue.metric(str(state.metric)), None
    if state.limit is not None:
        is_at_most = catalogue.metric(state.limited).better != "more"
        limit = (state.limited, state.limit, is_at_most)
    question = Question(measure.better, measure.unit, catalogue.choice_columns, _FAMILY, limit)
    relatives, by = _relatives(view, state, part), (x.column, y.column, competitor.column)

    def compared(groups: pl.DataFrame) -> Comparison:
        found = compare(groups, *by, question, state.rules, has_default, relatives)
        return replace(found, groups=found.groups.with_columns(constant))

    comparison, shared = compared(groups), None
    if not has_default:
        others = [k.column for k in catalogue.knobs.values() if not k.is_given]
        settings = [name for name in others if name in groups.columns and name not in by]
        shared = at_shared_settings(comparison, by, settings, compared)
    labels = dict(
        view.outline.select("system", "system_label").unique().sort("system_label").iter_rows()
    )
    of_cells = comparison.contenders.filter(~pl.col("is_default"))
    competitors = competitors_of(
        competitor, of_cells["competitor"].unique().to_list(), view.systems, labels,
        leaders(comparison),
    )  # fmt: skip
    if has_default:
        competitors = competitors.with_one(DEFAULT, DEFAULT, DEFAULT_HUE)
    axes = tuple(
        ordered_values(knob, comparison.cells[name].unique().to_list())
        for knob, name in ((x, "x"), (y, "y"))
    )
    state = replace(state, selection=part.narrow(state.selection))
    unstated = is_of_unstated(view, view.part_left(state.selection).values("dataset"))
    return Judged(
        state, catalogue, part, comparison, competitors, (axes[0], axes[1]), labels,
        is_unstated=unstated, shared=shared,
    )  # fmt: skip


def leaders(comparison: Comparison) -> list[Value | None]:
    """Return the competitors that lead any cell, of most cells first."""
    led = comparison.contenders["competitor"].gather(comparison.cells["winner"])
    counts = led.value_counts(name="cells")
    return counts.sort("cells", "competitor", descending=[True, False])["competitor"].to_list()


def _relatives(view: LakeView, state: ModesState, part: Slice) -> pl.DataFrame | None:
    """Return the settings of the workload at all loads; None where the map has no fewer."""
    base = leading(state.selection)
    if state.test != SETS or (base == state.selection and not part.fixed):
        return None
    return _read_groups(view, state, base)


def replicates_query(view: LakeView, state: ModesState) -> tuple[Query, KnownColumns]:
    """Build the query of the configurations with their replicates.

    Args:
        state: With every choice made.

    Returns:
        The query by selection and limit; the columns that it leaves out because the filter cube
        has them. Reading these columns would need most of the time.
    """
    known = view.known(state.selection, view.catalogue.configuration)
    column, limited = str(state.metric), state.limited if state.limit is not None else ""

    def query(selection: Selection, limit: int) -> tuple[str, list[Any]]:
        return configurations_query(
            selection, column, state.against, limit, known.names, limited,
            catalogue=view.catalogue,
        )  # fmt: skip

    return query, known


def _read_groups(view: LakeView, state: ModesState, selection: Selection) -> pl.DataFrame:
    query, known = replicates_query(view, state)
    groups = view.narrowed(query, selection, known, is_replicates=True).rows
    return groups.with_columns(cs.categorical().cast(pl.String))


def _groups(view: LakeView, state: ModesState) -> tuple[pl.DataFrame, list[pl.Expr], Slice]:
    """Return the configurations with their replicates, those that differ in pooled knobs as one.

    Returns:
        The configurations; the columns with one value in all; which of the filtered runs they are.
        A setting is kept only where the metric has no direction: else the best one counts.
    """
    catalogue = view.catalogue
    known = view.known(state.selection, catalogue.configuration)
    knobs = state.knobs(catalogue)
    rest = [name for name in known.constant if name not in {knob.column for knob in knobs}]
    groups = _read_groups(view, state, state.selection).drop(rest)
    counted = groups.with_columns(runs=pl.col("values").list.len())
    is_given_only = catalogue.metric(str(state.metric)).better is not None
    part = like_with_like(
        counted, knobs, state.pool, is_given_only=is_given_only, catalogue=catalogue
    )
    groups = part.of(groups)
    if part.pooled:
        over = [knob.column for knob, _ in part.pooled.knobs]
        others = set(catalogue.knob_of_column).difference(over)
        groups = merged(groups, [name for name in groups.columns if name in others])
        groups = groups.with_columns(pl.lit(None, groups.schema[n]).alias(n) for n in over)
    constant, schema = view.constants(state.selection), view.cube_of(state.selection).schema
    return groups, [pl.lit(constant[n], schema[n]).alias(n) for n in rest], part


def _with_defaults(
    view: LakeView, state: ModesState, groups: pl.DataFrame, part: Slice
) -> pl.DataFrame:
    """Add the defaults of the same loads, sizes and machines, whatever the filters on settings.

    Returns:
        `groups` with `default`, and `scope`: settings with one number share a default.
    """
    catalogue = view.catalogue
    asked = given_filters(catalogue, part.narrow(state.selection))
    everyone = _read_groups(view, state, asked)
    defaults = everyone.filter(pl.col("is_baseline").fill_null(False))
    if "is_baseline" in groups.columns:
        groups = groups.filter(~pl.col("is_baseline").fill_null(False))
    defaults = defaults.select(groups.columns)
    both = pl.concat(
        [groups.with_columns(default=pl.lit(False)), defaults.with_columns(default=pl.lit(True))]
    )
    given = [k.column for k in state.knobs(catalogue) if k.is_given and k.column in both.columns]
    return both.with_columns(scope=pl.Series(numbered(both, given)))


def given_filters(catalogue: Catalogue, selection: Selection) -> Selection:
    """Return the filters on what was given: loads, sizes, machines; none on settings."""
    knobs = catalogue.knobs
    clauses = tuple(c for c in selection.clauses if knobs[c.facet.name].is_given)
    return Selection(clauses, selection.without)

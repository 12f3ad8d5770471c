"""The settings of a question: their moments, their best sets, and what the points are by them.

Filters leave many choices as they were. So what follows from the settings of one choice is computed
once, whatever the filters on others are.
"""

from collections.abc import Callable, Collection, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from operator import itemgetter
from threading import Condition
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
import polars as pl
import polars.selectors as cs
from cachetools import LRUCache, cached
from xxhash import xxh3_128_digest

from app.kit.lake_view import LakeView, leading
from app.kit.settings import MAX_ROWS
from data.analysis.coded_rows import Coded, CodedRows, Once, Part
from data.analysis.noise import Prior
from data.analysis.replicates import are_unlike
from data.catalogue import Catalogue
from data.choices import Study, in_order, prior_in, study
from data.errors import DataError
from data.queries.moments import moments_query
from data.selection import Clause, Selection

if TYPE_CHECKING:
    from app.explore.question import Question

# Settings of the choices of which results are kept.
_KEPT_SETTINGS: Final = 10_000
# What has the same noise at all loads.
_FAMILY: Final = ("dataset", "workload", "machine", "system")
Made = TypeVar("Made")
# More choices at once are a menu, not an answer: the first by load and system are judged.
MOST_CHOICES: Final = 60


class Moments:
    """The moments of all settings, whatever the filters on them.

    Attributes:
        table: One row a setting: columns of `moments_query`, as `in_order` returns them, sorted by
            the choices.
        choice: Number of each row's choice, from 0 without gaps.
        unlike: Of a metric, whether the runs of each setting are no replicates.
        place: Number of the place of each choice: its given knobs, whatever the system.
    """

    def __init__(self, rows: pl.DataFrame, catalogue: Catalogue) -> None:
        self.table = CodedRows(rows)
        self.unlike: Once[str, np.ndarray] = Once(
            lambda name: np.asarray(are_unlike(self.table.numbers[f"{name}_log_variance"]))
        )
        columns = list(catalogue.choice_columns)
        self.choice = _numbers(rows, columns)
        self._starts = np.flatnonzero(np.diff(self.choice, prepend=-1))
        self.place = _numbers(rows, columns[:-1])[self._starts]
        families = rows[self._starts, list(_FAMILY)].rows()
        numbers = {family: number for number, family in enumerate(dict.fromkeys(families))}
        self._family = np.array([numbers[family] for family in families], np.int64)
        bounded: LRUCache[Hashable, tuple[int, Any]] = LRUCache(_KEPT_SETTINGS, itemgetter(0))
        self._once = cached(bounded, key=lambda key, *_: key, condition=Condition())(
            lambda _, size, make: (size, make())
        )

    @cached_property
    def is_default(self) -> np.ndarray:
        """Whether a setting is the default of its place."""
        return self.table.rows["is_baseline"].fill_null(False).to_numpy()

    def choices(self, clauses: Sequence[Clause]) -> list[np.ndarray]:
        """Return the rows of each choice that filters leave, in order."""
        left = np.arange(len(self.table))[self.table.part(clauses).at]
        ends = np.flatnonzero(np.diff(self.choice[left])) + 1
        return np.split(left, ends) if len(left) else []

    def prior(self, choice: int, metric: str) -> Prior:
        """Return the prior of a metric over the settings of a choice's system at all loads."""
        family = self._family[choice]

        def fit() -> Prior:
            own = (self._family == family)[self.choice] & ~self.is_default
            return prior_in(Part(self.table, np.flatnonzero(own)), metric)

        return self.once(("prior", family, metric), 1, fit)

    def once(self, key: Hashable, size: int, make: Callable[[], Made]) -> Made:
        """Return what a function makes of some settings; the same question is computed once.

        Args:
            size: The number of settings, by which what is kept is bounded.
        """
        return self._once(key, size, make)[1]


def _numbers(rows: pl.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Number the runs of equal rows."""
    return rows.select(pl.struct(columns).rle_id()).to_series().to_numpy().astype(np.int64)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The best set of a choice.

    Attributes:
        key: Tells it from all others of the same `Moments`.
        choice: Number of the choice in `moments`.
    """

    key: tuple[Hashable, ...]
    moments: Moments
    choice: int
    study: Study


def studies_of(question: "Question") -> list[Chosen]:
    """Return the best set of each system at each load that the filters leave, each found once."""
    moments, studies = question.moments, []
    for own in question.choices[:MOST_CHOICES]:
        is_default = moments.is_default[own]
        some = own if is_default.all() else own[~is_default]
        # Choices without a run that has a value of the cost have no best.
        with suppress(DataError):
            studies.append(best_of(moments, some, question))
    return studies


def has_rivals(question: "Question") -> bool:
    """Return whether settings compete: any system at any load has two that the filters leave.

    Runs of one setting, replicates or not, have no best one and no frontier. Nor have settings of
    which the runs of the least are no replicates.
    """
    are_several = any(len(own) > 1 for own in question.choices)
    if not (are_several and question.moments.unlike[question.state.cost].any()):
        return are_several
    judged = [chosen.study.cost for chosen in question.studies]
    return len(question.choices) > len(judged) or not all(cost.is_least_unlike for cost in judged)


def best_of(moments: Moments, own: np.ndarray, question: "Question") -> Chosen:
    """Find the best set among some settings of one choice; raises as `study`."""
    state, choice = question.state, int(moments.choice[own[0]])
    limit = None if state.limit is None else (state.limited, state.limit)
    key = (xxh3_128_digest(own.tobytes()), len(own), state.cost, limit, state.alpha)

    def find() -> Chosen:
        lent, catalogue = partial(moments.prior, choice), question.catalogue
        part = Part(moments.table, own)
        found = study(part, state.cost, limit, state.alpha, lent, catalogue=catalogue)
        return Chosen(key, moments, choice, found)

    return moments.once(key, len(own), find)


# What the settings of a question are: names of a column of the points, and their order in codes.
_STANDINGS: Final = {
    "standing": ("within", "maybe", "outside", None),
    "next_run": ("in", "out", None),
    "best": ("set", "once", None),
}


def standings_of(question: "Question") -> dict[str, Coded]:
    """Return what the settings of the points of a question are.

    Returns:
        Three columns: `standing` (within, maybe, outside; NULL without a limit); `next_run`
        (in, out: whether the next run meets the limit with 95 %); `best` of those that cannot be
        told from the best: `set` with two runs, `once` with one, else NULL, as where no settings
        compete, neither less nor more of the cost is known to be better, or it may be below 0.
    """
    moments = question.moments
    kind_of_setting, kind_of_point, kinds = _kinds(question, moments)
    codes = {
        name: np.full(kinds + 1, len(words) - 1, np.uint8) for name, words in _STANDINGS.items()
    }
    is_judged = question.cost.better is not None and not question.has_negative_costs
    is_contest = is_judged and question.has_rivals
    has_unlike = moments.unlike[question.state.cost].any()
    for chosen in reversed(question.studies):
        best, n = chosen.study.best, chosen.study.cost.n
        # Of settings that no shown column tells apart the first counts.
        kind = kind_of_setting[chosen.study.part.at][::-1]
        if question.state.limit is not None:
            codes["standing"][kind] = np.where(best.is_outside, 2, ~best.is_within)[::-1]
            codes["next_run"][kind] = _next_runs(chosen.study)[::-1]
        if is_contest and not (has_unlike and chosen.study.cost.is_least_unlike):
            codes["best"][kind] = np.where(best.is_member, n < 2, 2)[::-1]
    return {name: Coded([*words], codes[name][kind_of_point]) for name, words in _STANDINGS.items()}


def _kinds(question: "Question", moments: Moments) -> tuple[np.ndarray, np.ndarray, int]:
    """Number what the columns of points tell of a setting.

    Returns:
        The number of each row of `moments`; of each point of the question, or the last number for
        one of no setting; that last number.
    """
    narrowed, wanted = question.narrowed, question.narrowed.table.rows.schema
    # What is the same in the whole study, or follows from others, tells no settings apart.
    telling = question.varying.intersection(wanted)
    if not question.state.merged:
        known = question.view.known(question.selection, question.catalogue.configuration)
        telling -= known.names
    on = [name for name in setting_keys(question) if name in telling] or ["system"]

    def number() -> tuple[np.ndarray, np.ndarray, int]:
        points, settings = narrowed.table.rows, moments.table.rows[on]
        settings = settings.with_columns(
            pl.col(name).cast(pl.Categorical).cast(wanted[name])
            for name, kind in settings.schema.items()
            if wanted[name] != kind
        )
        kinds = settings.unique(on, maintain_order=True).with_row_index("_kind")
        of_settings, of_points = (
            rows.join(kinds, on=on, how="left", nulls_equal=True, maintain_order="left")["_kind"]
            .fill_null(len(kinds)).to_numpy().astype(np.int32)
            for rows in (settings, points[on])
        )  # fmt: skip
        return of_settings, of_points, len(kinds)

    key = (*_settings_key(question), tuple(on))
    of_settings, of_points, count = narrowed.table.derived(key, number)
    return of_settings, of_points[narrowed.at], count


def _next_runs(judged: Study) -> np.ndarray:
    """Return 0 for settings whose next run meets the limit, 1 for others, 2 for not known."""
    assert judged.limit is not None, "BUG: no limit"
    is_known = ~np.isnan(judged.limit.metric.variance)
    return np.where(is_known, np.where(judged.limit.next_run_meets(), 0, 1), 2)


def setting_keys(question: "Question") -> list[str]:
    """Return the columns that tell judged settings from one another."""
    catalogue = question.catalogue
    merged = {catalogue.knobs[name].column for name in question.state.merged}
    return [name for name in catalogue.configuration if name not in merged]


def unjudged_words(question: "Question") -> str:
    """Return how many choices the filters leave beyond those that are judged; empty for none."""
    left = question.view.part_left(question.selection)
    telling = question.varying.intersection(question.catalogue.choice_columns)
    count = len(left.numbered(telling)[0])
    if count <= MOST_CHOICES:
        return ""
    return f"The first {MOST_CHOICES} of {count:,} systems and loads are judged; filter for others."


def decided_query(
    selection: Selection,
    metrics: Sequence[str],
    catalogue: Catalogue,
    left_out: Collection[str] = (),
    only: str = "TRUE",
) -> tuple[str, list[Any]]:
    """Build the query of the moments of all settings that the filters leave.

    Args:
        left_out: Columns that have one value, or follow from others.
        only: A further condition, without parameters.
    """
    condition, parameters = selection.predicate()
    by = [name for name in catalogue.configuration if name not in left_out]
    return moments_query(f"({condition}) AND {only}", parameters, by, metrics, catalogue=catalogue)


def moments_of(question: "Question", metrics: tuple[str, ...] = ()) -> Moments:
    """Return the moments of all settings of the workloads, whatever the filters on them.

    Args:
        metrics: Without any, the cost and the limited metric.
    """
    named = metrics or (question.state.cost, question.state.limited)
    return question.view.once(_moments, (_settings_key(question), tuple(dict.fromkeys(named))))


def _settings_key(question: "Question") -> tuple[Selection, tuple[Clause, ...], tuple[str, ...]]:
    """Return the filters that decide which settings there are, and the columns of merged knobs."""
    state, knobs = question.state, question.catalogue.knobs
    # A setting of several values of a knob has none: a filter on it is one on its runs.
    of_runs = tuple(c for c in question.selection.clauses if c.facet.name in state.merged)
    merged = tuple(knobs[name].column for name in state.merged)
    return leading(question.selection), of_runs, merged


def _moments(
    view: LakeView,
    key: tuple[tuple[Selection, tuple[Clause, ...], tuple[str, ...]], tuple[str, ...]],
) -> Moments:
    (base, of_runs, merged), metrics = key
    catalogue = view.catalogue
    names = [name for name in catalogue.configuration if name not in merged]
    known = view.known(base, tuple(names))

    def query(selection: Selection, limit: int) -> tuple[str, list[Any]]:
        narrowed = Selection((*selection.clauses, *of_runs), selection.without)
        left_out = known.names.union(merged)
        sql, parameters = decided_query(narrowed, metrics, catalogue, left_out)
        return f"{sql} LIMIT {min(limit, MAX_ROWS):d}", parameters

    rows = view.narrowed(query, base, known).rows.with_columns(cs.categorical().cast(pl.String))
    schema = view.cube_of(base).schema
    rows = rows.with_columns(pl.lit(None, schema[name]).alias(name) for name in merged)
    columns = list(catalogue.choice_columns)
    ordered = in_order(rows, catalogue=catalogue).sort(columns, maintain_order=True)
    return Moments(ordered, catalogue)


def settings_clauses(question: "Question") -> list[Clause]:
    """Return the filters on settings; those on merged knobs are filters on runs."""
    merged = question.state.merged
    return [clause for clause in question.selection.clauses if clause.facet.name not in merged]

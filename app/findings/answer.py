"""What the views of Findings show, computed once for each version of the lake."""

from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from app.findings.state import ENERGY, FindingsState
from app.kit.competitors import models_that_ran, what_ran
from app.kit.lake_view import LakeView, leading
from app.kit.metric_choice import (
    first_telling,
    is_of_unstated,
    number_of_means,
    performance_column,
    unlike_work,
)
from data.analysis.replicates import equal_words, unlike_words
from data.choices import Choice
from data.claim_scope import is_near_limit
from data.connection import open_lake
from data.errors import LakeError, WattlasError
from data.findings import LIMIT, Claim, claims
from data.next_runs import next_runs, runs_left
from data.published import PublishedClaim, published_claims
from data.queries.claims import workloads_query
from data.queries.lake_page import extremes_query
from data.run_list import NextRuns
from data.selection import Selection
from data.siblings import odd_runs
from data.sweeps import KnobShares, Level, knob_effect, knob_shares, scope_words, sweeps_of
from data.units import counted

# Sweeps whose knobs are drawn side by side; the filters choose among more.
MOST_SWEEPS: Final = 6
PRODUCT: Final = "edp_js"


def default_state(view: LakeView) -> FindingsState:
    """Return the state without a link: all runs, in a large lake those of one dataset."""
    return opened(view, FindingsState(selection=view.first_study()))


def opened(view: LakeView, state: FindingsState) -> FindingsState:
    """Return the state with the metric that knobs and next runs are about, unless a link names one.

    That is energy, else what comes next of `Catalogue.costs`, else the performance; where runs did
    unlike amounts of work, what does not grow with it.
    """
    if not view.matching(state.selection) or "metric" in (state.named or ()):
        return state
    names = (*view.catalogue.costs, performance_column(view, state.selection))
    metric = first_telling(view, state.selection, names) or ENERGY
    if unlike_work(view, state.selection, metric):
        measured = view.measured_columns(state.selection)
        others = (name for name in measured if view.catalogue.metric(name).better)
        metric = first_telling(view, state.selection, (*names, *others))
    return replace(state, metric=metric)


def studied(view: LakeView, state: FindingsState) -> Selection:
    """Return the runs that count for claims: all of the lake, in a large one of its datasets.

    What a filter hides further on changes no claim: they were judged together.
    """
    selection = Selection()
    if view.is_large:
        selection = Selection.of(dataset=state.selection.values("dataset"))
    if state.without_odd:
        selection = Selection(selection.clauses, odd_ids(view, selection))
    return selection


def odd_of(view: LakeView, selection: Selection) -> pl.DataFrame:
    """Return the odd runs: far off the median of their setting, or with logs unlike replicates'.

    Returns:
        `odd` of `Order`, then the rows of `odd_runs` without `value` and `median`.
    """
    studied = leading(selection) if view.is_large else Selection()
    unlike = view.once(_find_unlike, Selection(studied.clauses))
    return pl.concat([view.order(selection).odd, unlike], how="diagonal_relaxed")


def odd_ids(view: LakeView, selection: Selection) -> tuple[str, ...]:
    """Return the ids of the odd runs."""
    return tuple(odd_of(view, selection)["run_id"].unique().sort().to_list())


def _find_unlike(view: LakeView, selection: Selection) -> pl.DataFrame:
    return odd_runs(view.lake, selection)


def claims_of(view: LakeView, state: FindingsState) -> list[Claim]:
    """Return the claims that the filters leave; decided ones first, largest effects first."""
    everything = view.once(_claims, (studied(view, state), state.bound))
    left = [claim for claim in everything if _matches(claim, state.selection)]
    return sorted(left, key=lambda one: (one.outcome == "undecided", -abs(one.effect or 0.0)))


def no_claim_words(view: LakeView, state: FindingsState) -> str:
    """Return why there is none: the filters, nothing that was set, or runs that none repeats."""
    everything = view.once(_claims, (studied(view, state), state.bound))
    if everything:
        return f"None of {counted(len(everything), 'claim')} passes these filters."
    left = view.left(studied(view, state))
    most = left.group_by(view.catalogue.choice_columns).agg(settings=pl.len())["settings"].max()
    if most == 1:
        if ran := what_ran(view.catalogue, left):
            models = models_that_ran(view.catalogue, left)
            noun = view.catalogue.knobs[models[-1]].noun if models else ""
            return (
                f"There is no claim: the runs differ only in what ran ({', '.join(ran)}), and in "
                f"nothing that was set.{noun and f' Modes compares them by {noun}.'}"
            )
        return "There is no claim: no two runs of like workloads differ in a setting."
    if left["runs"].max() == 1:
        single = "run (n = 1)"
        if is_of_unstated(view, left["dataset"]):
            number = number_of_means(view, studied(view, state))
            single = "row, a mean of "
            single += f"several ({number})" if number else "how many runs it does not state"
        return (
            f"There is no claim: each setting has one {single}, and without a second one nothing "
            f"tells a difference from noise. {len(left):,} more runs, one of each setting, would "
            "let them be judged."
        )
    unlike, equal = _no_replicates(view, state)
    if unlike or equal:
        return f"There is no claim: {unlike_words(unlike) if unlike else equal_words(equal)}."
    once = int((left["runs"] == 1).sum())
    if once:
        return (
            f"There is no claim: {once:,} of {counted(len(left), 'setting')} have one run (n = 1), "
            "and too few were repeated to tell differences from noise."
        )
    return "There is no claim: a claim needs two settings of a system, or a default beside one."


def _no_replicates(view: LakeView, state: FindingsState) -> tuple[int, int]:
    """Count the settings whose runs are no replicates: too far apart, or equal."""
    query = extremes_query(studied(view, state), state.metric, view.catalogue)
    counts = view.answered(*query).select("unlike", "equal").rows()
    return counts[0] if counts else (0, 0)


def _claims(view: LakeView, key: tuple[Selection, tuple[str, float]]) -> list[Claim]:
    return claims(view.lake, limit=key[1], selection=key[0])


def _matches(claim: Claim, selection: Selection) -> bool:
    """Tell whether some setting of a claim passes every filter."""
    return all(
        any(
            clause.takes({**claim.scope, **member.values}.get(clause.facet.column))
            for member in claim.settings
        )
        for clause in selection.clauses
    )


def published_of(view: LakeView) -> list[PublishedClaim]:
    """Return the papers' claims, judged on the lake."""
    return view.once(_published, None)


def _published(view: LakeView, _: None) -> list[PublishedClaim]:
    return published_claims(view.lake)


@dataclass(frozen=True, slots=True)
class Sweep:
    """One choice among those that the filters leave.

    Attributes:
        key: Its name in URLs.
        words: `Linux tuned, memcached, 400k QPS`.
    """

    key: str
    words: str
    choice: Choice


def choice_key(choice: Choice) -> str:
    """Write a choice in a URL: its system and the values of its scope."""
    return "~".join([choice.system, *(str(value) for value in choice.scope().values())])


def sweeps(view: LakeView, state: FindingsState) -> list[Sweep]:
    """Return the choices that the filters leave, for the state's metric."""
    # An effect of a knob or a list of runs is of whole sweeps.
    given = {knob.name for knob in view.catalogue.knobs.values() if knob.is_given} | {"system"}
    clauses = tuple(c for c in state.selection.clauses if c.facet.name in given)
    return view.once(_sweeps, (Selection(clauses), state.metric, state.bound))


def _sweeps(view: LakeView, key: tuple[Selection, str, tuple[str, float]]) -> list[Sweep]:
    selection, metric, bound = key
    labels = dict(view.outline.select("system", "system_label").unique().rows())
    own, known = _performances(view), view.ranges(leading(selection))[LIMIT[0]]
    is_near = is_near_limit(known.low, known.high)
    choices = []
    for choice in sweeps_of(view.lake, selection, metric):
        performance = own.get((choice.dataset, choice.workload))
        is_agreed = bound != LIMIT or (is_near and choice.dataset not in view.lake.guessed)
        limit = bound if is_agreed and performance == bound[0] != metric else None
        limited = replace(choice, limit=limit)
        choices.append(
            Sweep(choice_key(choice), scope_words(choice, view.catalogue, labels), limited)
        )
    return choices


def _performances(view: LakeView) -> dict[tuple[str | None, str | None], str | None]:
    rows = view.lake.polars(*workloads_query())
    return {(dataset, workload): metric for dataset, workload, metric, _ in rows.iter_rows()}


def shown_sweep(view: LakeView, state: FindingsState) -> Sweep | None:
    """Return the sweep of the state, else the first that the filters leave."""
    found = sweeps(view, state)
    return next((one for one in found if one.key == state.sweep), found[0] if found else None)


def metrics_beside(view: LakeView, choice: Choice) -> list[str]:
    """Return the metrics whose knobs stand side by side: energy, performance, their product."""
    performance = _performances(view).get((choice.dataset, choice.workload))
    names = dict.fromkeys([choice.objective, ENERGY, performance, PRODUCT])
    return [name for name in names if name is not None][:3]


def shares_of(view: LakeView, state: FindingsState) -> list[tuple[Sweep, list[KnobShares]]]:
    """Return the shares of the knobs of each sweep, for its metrics side by side."""
    by_sweep = []
    for sweep in sweeps(view, state)[:MOST_SWEEPS]:
        each = []
        for metric in metrics_beside(view, sweep.choice):
            limit = sweep.choice.limit if metric == ENERGY else None
            key = _Key(sweep.key, replace(sweep.choice, objective=metric, limit=limit))
            shares = view.once(_shares, key)
            each += [shares] if shares is not None else []
        if each:
            by_sweep.append((sweep, each))
    return by_sweep


@dataclass(frozen=True)
class _Key:
    """A choice as a key of a cache: its own mapping has no hash."""

    words: str
    choice: Choice

    def __hash__(self) -> int:
        return hash((self.words, self.choice.objective, self.choice.limit))


def _shares(view: LakeView, key: _Key) -> KnobShares | None:
    try:
        return knob_shares(view.lake, key.choice)
    except LakeError:
        raise
    except WattlasError:
        # Too few settings, or none with a value.
        return None


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of one knob of a sweep.

    Attributes:
        knobs, fixed: Columns of the sweep's knobs of several levels, and of one.
    """

    sweep: Sweep
    knob: str
    across: str
    knobs: tuple[str, ...]
    fixed: tuple[str, ...]
    levels: tuple[Level, ...]


def effect_of(view: LakeView, state: FindingsState) -> Effect | None:
    """Return the effect of the state's knob, else of the one with the largest share."""
    sweep = shown_sweep(view, state)
    if sweep is None:
        return None
    shares = view.once(_shares, _Key(sweep.key, sweep.choice))
    if shares is None:
        return None
    columns = {knob.noun: column for column, knob in view.catalogue.knob_of_column.items()}
    knobs = tuple(columns[one.name] for one in shares.mains)
    knob = state.knob if state.knob in knobs else knobs[0]
    across = state.across if state.across in knobs and state.across != knob else ""
    levels = knob_effect(view.lake, sweep.choice, knob, across or None)
    fixed = tuple(columns[name] for name in shares.fixed)
    return Effect(sweep, knob, across, knobs, fixed, tuple(levels))


@dataclass(frozen=True, slots=True)
class Planned:
    """The next runs of a sweep, and how many of an earlier list are left.

    Attributes:
        left: None where the list is of this version.
    """

    sweep: Sweep
    plan: NextRuns
    left: int | None


def planned_of(view: LakeView, state: FindingsState) -> Planned | None:
    """Return the next runs; of the version that the state names, with what is left of its list.

    Raises:
        WattlasError: No list can be made, or that version is gone.
    """
    sweep = shown_sweep(view, state)
    if sweep is None:
        return None
    since = None if state.since == view.version else state.since
    key = (_Key(sweep.key, sweep.choice), state.budget, state.minutes, since)
    plan = view.once(_plan, key)
    return Planned(sweep, plan, None if since is None else runs_left(plan, view.lake))


def _plan(view: LakeView, key: tuple[_Key, int | None, float | None, int | None]) -> NextRuns:
    question, budget, minutes, since = key
    if since is None:
        return next_runs(view.lake, question.choice, budget, minutes)
    with open_lake(view.lake.path, version=since) as earlier:
        return next_runs(earlier, question.choice, budget, minutes)

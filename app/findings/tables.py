"""The rows behind the views of Findings, and text on how each view was computed."""

from typing import Any

import polars as pl

from app.findings.answer import (
    claims_of,
    effect_of,
    odd_of,
    planned_of,
    published_of,
    shares_of,
    shown_sweep,
    studied,
)
from app.findings.state import ENERGY, FindingsState
from app.kit.lake_view import LakeView
from app.kit.page import Recomputed
from app.kit.words import explanation
from data.decisions import Choice
from data.errors import SelectionError, WattlasError
from data.knobs import POLICIES
from data.order import MOST_RUNS
from data.queries.claims import sweeps_query
from data.queries.models import network_runs_query
from data.queries.moments import moments_query
from data.queries.runs import order_query
from data.queries.statement import statement
from data.sweeps import ALPHA


def rows_behind(view: LakeView, state: FindingsState, name: str) -> pl.DataFrame:
    """Return the rows of a view: one claim, knob, level, planned run or check a row."""
    makers = {
        "claims": _claims, "published": _published, "knobs": _knobs, "effect": _effect,
        "next": _next, "order": _order,
        "odd": lambda view, state: odd_of(view, state.selection),
    }  # fmt: skip
    return makers[name](view, state)


def _claims(view: LakeView, state: FindingsState) -> pl.DataFrame:
    rows = [
        {
            "id": claim.id, "kind": claim.kind, "subject": claim.subject,
            "reference": claim.reference,
            "metric": claim.metric, "scope": claim.scope_words, "effect_pct": claim.effect,
            "low_pct": claim.low, "high_pct": claim.high, "n_subject": claim.n_subject,
            "n_reference": claim.n_reference, "outcome": claim.outcome,
            "more_runs": claim.more_runs,
            "adjusted": claim.adjusted, "holds_alone": claim.holds_alone, "alpha": claim.alpha,
            "beside": "; ".join(claim.beside), "is_synthetic": claim.is_synthetic,
            "sentence": claim.sentence, "query": claim.query,
        }
        for claim in claims_of(view, state)
    ]  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None)


def _published(view: LakeView, _: FindingsState) -> pl.DataFrame:
    rows = [
        {
            "id": claim.id, "paper": claim.paper, "where": claim.where,
            "statement": claim.statement,
            "printed": claim.printed, "verdict": claim.verdict, "reason": claim.reason,
            "effect": claim.effect, "n": ", ".join(map(str, claim.n)),
            "parts": "; ".join(f"{part.outcome}: {part.words}" for part in claim.parts),
            "is_synthetic": claim.is_synthetic, "rule": claim.rule, "query": claim.query,
        }
        for claim in published_of(view)
    ]  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None)


def _knobs(view: LakeView, state: FindingsState) -> pl.DataFrame:
    rows: list[dict[str, Any]] = []
    for sweep, shares in shares_of(view, state):
        for own in shares:
            at = {"sweep": sweep.words, "metric": own.metric, "settings": own.settings,
                  "runs": own.runs}  # fmt: skip
            rows += [
                {**at, "part": main.name, "share": main.share, "low": main.low, "high": main.high,
                 "local_share": main.local}
                for main in own.mains
            ]  # fmt: skip
            noise = own.noise if own.is_noise_known else None
            others = {**dict(own.pairs), "rest": own.rest, "noise": noise}
            rows += [
                {**at, "part": name, "share": share, "low": None, "high": None, "local_share": None}
                for name, share in others.items()
            ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _effect(view: LakeView, state: FindingsState) -> pl.DataFrame:
    effect = effect_of(view, state)
    if effect is None:
        raise SelectionError("no sweep with two knobs is left under these filters")
    across = (lambda level: {effect.across: level.other}) if effect.across else (lambda _: {})
    at = {"sweep": effect.sweep.words, "metric": effect.sweep.choice.objective}
    rows = [
        {
            **at, effect.knob: level.level, **across(level), "mean": level.mean, "low": level.low,
            "high": level.high, "settings": level.settings, "runs": level.runs,
        }
        for level in effect.levels
    ]  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None)


def recomputed(view: LakeView, state: FindingsState, name: str) -> list[Recomputed]:
    """Return how an effect, the shares of knobs and tests of order are computed again."""
    if name == "knobs":
        return _shares_again(view, state)
    if name == "order":
        return _order_again(view, state)
    effect = effect_of(view, state) if name == "effect" else None
    if effect is None:
        return []
    fitted_by = {
        "how": "effect",
        **_scope_again(view, effect.sweep.choice, effect.sweep.choice.objective),
        "knobs": [*effect.knobs, *effect.fixed],
    }
    keys = (effect.knob, effect.across) if effect.across else (effect.knob,)
    return [Recomputed("", keys, ("mean", "low", "high", "settings", "runs"), again=fitted_by)]


def _shares_again(view: LakeView, state: FindingsState) -> list[Recomputed]:
    columns = {knob.noun: column for column, knob in view.catalogue.knob_of_column.items()}
    order = list(view.catalogue.setting_columns)
    sweeps_again = []
    for sweep, shares in shares_of(view, state):
        for own in shares:
            named = {columns[main.name]: main.name for main in own.mains}
            limit = None
            if sweep.choice.limit is not None and own.metric == ENERGY:
                # Settings are ranked within it.
                name, at = sweep.choice.limit
                sign = view.catalogue.metric(name).sign
                limit = {"name": name, "at": at, "sign": sign, "alpha": ALPHA}
            sweeps_again.append({
                "sweep": sweep.words, **_scope_again(view, sweep.choice, own.metric),
                "swept": [*named, *(columns[noun] for noun in own.fixed)],
                "limit": limit,
                "names": {name: named[name] for name in sorted(named, key=order.index)},
            })  # fmt: skip
    again = {"how": "shares", "sweeps": sweeps_again}
    values = ("settings", "runs", "share", "local_share")
    tolerances, scales = (dict.fromkeys(values[2:], size) for size in (1e-7, 1e-2))
    return [Recomputed("", ("sweep", "metric", "part"), values, "FALSE", again, tolerances, scales)]


def _order_again(view: LakeView, state: FindingsState) -> list[Recomputed]:
    checks, catalogue = view.order(state.selection).checks, view.catalogue
    metrics = list(dict.fromkeys(check.metric for check in checks))
    query = order_query(state.selection, metrics, catalogue, MOST_RUNS + 1)
    if not checks:
        return []
    values = (
        "order", "runs", "settings", "change_pct", "p", "blocks", "block_p", "block_range_pct",
        "is_affected", "is_random", "runs_between",
    )  # fmt: skip
    again = {
        "how": "order", "query": statement(*query), "columns": values,
        "settings": list(catalogue.setting_columns),
        "knobs": [n for n in catalogue.setting_columns if n not in POLICIES.values()],
        "checks": [{"scope": dict(check.scope), "metric": check.metric} for check in checks],
    }  # fmt: skip
    # Results of sums that nearly cancel, and tails of distributions.
    tolerances = dict.fromkeys(values, 1e-6)
    return [
        Recomputed("", (*catalogue.choice_columns, "metric"), values, "FALSE", again, tolerances)
    ]


def _scope_again(view: LakeView, choice: Choice, metric: str) -> dict[str, Any]:
    scope, sign = choice.scope(), view.catalogue.metric(metric).sign
    return {
        "scope": {n: scope.get(n) for n in view.catalogue.choice_columns if n != "system"},
        "system": choice.system,
        "metric": {"name": metric, "sign": sign},
    }


def _next(view: LakeView, state: FindingsState) -> pl.DataFrame:
    planned = planned_of(view, state)
    if planned is None:
        raise SelectionError("no sweep with two settings is left under these filters")
    if not planned.plan.rows:
        return pl.DataFrame({"sweep": [planned.sweep.words], "answer": [planned.plan.sentence]})
    return pl.DataFrame(
        planned.plan.rows, schema=list(planned.plan.columns), orient="row", infer_schema_length=None
    )


def _order(view: LakeView, state: FindingsState) -> pl.DataFrame:
    rows = [
        {
            **{name: None if v is None else str(v) for name, v in check.scope.items()},
            "metric": check.metric, "order": check.order, "runs": check.runs,
            "settings": check.settings,
            "change_pct": check.change_pct, "p": check.p, "blocks": check.blocks,
            "block_p": check.block_p,
            "block_range_pct": check.block_range_pct, "is_affected": check.is_affected,
            "is_random": check.is_random, "runs_between": check.runs_between,
            "sentence": check.sentence,
        }
        for check in view.order(state.selection).checks
    ]  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None)


def explain(view: LakeView, state: FindingsState, name: str) -> str:
    """Return how a view was computed: its rules, and the query that starts it."""
    catalogue, selection = view.catalogue, studied(view, state)
    if name == "published":
        query = network_runs_query(None, None)
        before = [
            "each claim by the rule beside it, on measured runs where the lake has any, on the "
            "output of models, or on the papers' own tables; the rows name the query of each"
        ]
        return explanation(view, selection, query, before)
    if name in ("order", "odd"):
        columns = _metrics(view, state)
        before = [
            "drift within settings, blocks given settings (two-way), rank correlation of the order "
            "with each knob; odd: over 10 % and 8 deviations off the median, or a distribution of "
            "the log over 10 % from the replicates', or a series 1 % of the time, and 8 times as "
            "far as these are from each other",
        ]
        return explanation(
            view, selection, order_query(selection, columns, catalogue, MOST_RUNS), before
        )
    sweep = shown_sweep(view, state) if view.runs else None
    by = [*catalogue.choice_columns, *catalogue.setting_columns, "is_baseline"]
    query = moments_query(*selection.predicate(), by, _metrics(view, state), catalogue=catalogue)
    if name == "claims":
        before = [
            "claims listed by rule from the settings, before any result is seen: default to tuned, "
            "system to system, lowest to highest level of each knob, limit met",
            f"limit: {state.bound[0]} at {state.bound[1]:g}; errors shared over all claims of this "
            "version (Benjamini and Hochberg); the rows hold each claim's own query",
        ]
        return explanation(view, selection, query, before)
    step = f"sweep: {sweep.words}; metric: {state.metric}" if sweep else "no sweep"
    rules = {
        "knobs": "shares: Shapley values of explained sums of squares; pairs: type II; settings "
        "weigh the same; intervals: 200 draws over replicates",
        "effect": "least squares on the levels and the other knobs, settings weigh the same",
        "next": "second runs of members measured once, then OCBA among the members; at most a "
        "fifth for unmeasured cells; random blocks with the default in each",
    }
    sweeps = sweeps_query(selection, state.metric, catalogue)
    then = f"moments of the settings of one sweep by\n\n{statement(*query)}"
    return explanation(view, selection, sweeps, [step, rules[name]], [then])


def _metrics(view: LakeView, state: FindingsState) -> list[str]:
    measured = set(view.measured_columns(state.selection)) if view.runs else set()
    names = dict.fromkeys([state.metric, "energy_j", "duration_s", state.bound[0]])
    return [name for name in names if name in measured] or [state.metric]


def run_list(view: LakeView, state: FindingsState) -> str:
    """Return the list of next runs as CSV, with its question in the first line.

    Raises:
        WattlasError: There can be no list.
    """
    planned = planned_of(view, state)
    if planned is None:
        raise WattlasError("no sweep with two settings is left under these filters")
    return planned.plan.csv()

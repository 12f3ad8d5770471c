"""How the best settings were computed, in words: queries, rules, and the numbers of one test."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from app.explore.decided import DEFAULT_WORDS, Judged, judge
from app.explore.question import Question
from app.explore.studies import decided_query, setting_keys
from app.kit.clause import matching, read_clause
from app.kit.words import configuration_words, explanation
from data.analysis.best_set import pair_test
from data.analysis.noise import Estimates
from data.queries.statement import statement
from data.selection import Selection
from data.units import MINUS, format_digits, format_quantity, lowered

# Of that many pairs at most the numbers are listed.
_MOST_PAIRS: Final = 20
Side = tuple[str, Estimates]


def explain_best(question: Question) -> str:
    """Return how the best settings were computed: settings, defaults, rules, and one test."""
    view, state, catalogue = question.view, question.state, question.catalogue
    limit = "" if state.limit is None else f"limit: {state.limited} {state.limit:g}; "
    before = [
        f"{limit}alpha {state.alpha:g}, margin {state.margin_pct:g} %",
        "only values above 0 count; all comparisons are of logarithms",
    ]
    if state.without_odd:
        before.append(f"without {question.odd['run_id'].n_unique():,} odd runs")
    if merged := [catalogue.knobs[name].noun for name in state.merged]:
        before.append(
            f"{' and '.join(merged)} pooled as without effect: settings that differ in nothing "
            "else count as one, with all their runs"
        )
    after = [
        "of each system and load: the noise of each setting moderated by that of all (Smyth 2004)",
        "the settings that cannot be told from the best (Gupta, Hsu), errors divided by Sidak",
        "of these the lowest upper bound; within the margin the fewest changes of the default",
        "docs/decisions.md has an example by hand",
    ]
    metrics = tuple(dict.fromkeys((state.cost, state.limited)))
    left_out = set(catalogue.configuration) - set(setting_keys(question))
    asked = decided_query(state.selection, metrics, catalogue, left_out)
    explained = explanation(view, state.selection, asked, before, after)
    # The default is the load's, whatever the settings.
    given = tuple(c for c in state.selection.clauses if catalogue.knobs[c.facet.name].is_given)
    defaults = Selection(given, state.selection.without)
    query = statement(*decided_query(defaults, metrics, catalogue, only="is_baseline"))
    parts = [
        explained, "the defaults that these settings are compared with:", query,
        *_regrets(question), *_tests(question),
    ]  # fmt: skip
    return "\n\n".join(parts)


def _regrets(question: Question) -> Iterator[str]:
    """Yield, by place, which other member of its set bounds the regret of a recommended setting."""
    for judged in judge(question)[:_MOST_PAIRS]:
        by = int(judged.study.best.bound_by[judged.shown])
        if by < 0:
            continue
        name = str(judged.row["system_label"] or judged.row["system"])
        recommended = _side(judged, judged.shown, question)[0]
        regret_pct = judged.row["regret_pct"]
        size = "not bounded" if regret_pct is None else f"at most {_number(regret_pct)} %"
        member = _side_words(*_side(judged, by, question), question)
        yield f"{name}, regret of {recommended}: {size}, because the best may be {member}"


def _tests(question: Question) -> Iterator[str]:
    """Yield the numbers of the tests of the pairs that the reader picked, by place."""
    clause = read_clause(question.state.clause, catalogue=question.catalogue)
    pairs = [pair for judged in judge(question) if (pair := _pair(judged, clause, question))]
    if clause is None:
        yield "the test of each recommended setting; select one or two settings to see theirs:"
    else:
        few = "" if pairs else " select one or two settings of a system to see their test"
        yield f"the test of the selected settings:{few}"
    for judged, first, second in pairs[:_MOST_PAIRS]:
        yield _test_words(judged, first, second, question)


def _pair(judged: Judged, clause: Any, question: Question) -> tuple[Judged, Side, Side] | None:
    """Return two settings of a choice: those that are selected, else the recommended, the default.

    One selected setting is compared with the recommended one, and that with the default.
    """
    study, reference = judged.study, judged.reference
    recommended = _side(judged, judged.shown, question)
    against_default = None
    if reference is not None and not reference.is_candidate:
        against_default = judged, recommended, (DEFAULT_WORDS, reference.cost)
    if clause is None:
        return against_default
    x, y = (f"{name}_mean" for name in clause.fields or ("x", "y"))
    if clause.fields and not {x, y} <= set(study.rows.columns):
        return None
    picked = np.flatnonzero(matching(clause, study.rows, x, y).to_numpy())
    if not len(picked):
        return None
    first = _side(judged, int(picked[0]), question)
    if len(picked) == 2:
        return judged, first, _side(judged, int(picked[1]), question)
    if len(picked) > 2:
        return None
    return against_default if picked[0] == judged.shown else (judged, first, recommended)


def _side(judged: Judged, setting: int, question: Question) -> Side:
    row = judged.study.part.row(setting)
    varying = question.varying.intersection(setting_keys(question))
    given = {knob.column for knob in question.catalogue.knobs.values() if knob.is_given}
    words = configuration_words(row, varying - given, question.catalogue)
    return words or str(row["system"]), judged.study.cost.at(setting)


def _test_words(judged: Judged, first: Side, second: Side, question: Question) -> str:
    """Write the numbers of the test of two settings, as `data/analysis/best_set.py` makes it."""
    cost, row = question.cost, judged.row
    sides = [_side_words(words, estimates, question) for words, estimates in (first, second)]
    where = str(row["system_label"] or row["system"])
    head = f"{where}, {lowered(cost.title)}: {sides[0]} against {sides[1]}"
    tested = pair_test(first[1], second[1])
    if tested is None:
        return f"{head}; one run of each and no noise to borrow: no test"
    difference, error, df, p = tested
    difference *= cost.sign
    change = 100 * np.expm1(difference)
    alpha = judged.study.best.alpha_pair
    return (
        f"{head}; difference of ln {_number(difference)} ({_number(change)} %), standard error "
        f"{_number(error)}, t = {_number(difference / error)}, df = {_number(df)}, "
        f"p = {_number(p)} (two-sided, of this pair alone); in the set each pair is tested "
        f"one-sided at {_number(alpha)}"
    )


def _side_words(label: str, estimates: Estimates, question: Question) -> str:
    mean = float(np.exp(question.cost.sign * estimates.mean))
    n = int(estimates.n)
    deviation = float(np.sqrt(estimates.variance * n))
    spread = (
        f"moderated sd of one run {_number(100 * deviation)} %"
        if deviation == deviation
        else "no sd"
    )
    return f"{label} (n = {n}, mean {format_quantity(mean, question.cost.unit)}, {spread})"


def _number(value: float) -> str:
    if value and abs(value) < 1e-4:
        return f"{value:.1e}".replace("-", MINUS, 1) if value < 0 else f"{value:.1e}"
    return format_digits(value)

"""What a lake proves: claims, each with its n, its interval and the runs behind it.

    from data.connection import open_lake
    from data.findings import claims

    with open_lake("lake") as lake:
        for claim in claims(lake):
            print(claim.sentence)

The list of claims is made by rule before any result is seen, and all of it is returned, undecided
claims too. The claims of the papers are in `data.published`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from data.analysis.claims import Judged, judge_all
from data.analysis.outcomes import Outcome
from data.choices import Value
from data.claim_list import specs_of
from data.claim_scope import LIMIT, Kind, Spec
from data.errors import DataError
from data.machine_state import compare_states, runs_of_states
from data.metrics import SAME_WORK
from data.published import PublishedClaim, published_claims
from data.queries.claims import REFERENCE, SUBJECT, Member, claim_runs_query
from data.selection import Selection
from data.units import counted, format_signed, format_signed_ends, lowered

if TYPE_CHECKING:
    from data.connection import Lake

__all__ = ["LIMIT", "Claim", "PublishedClaim", "claims", "published_claims"]

# An end of an interval beyond a factor e^5 is none that data bound.
_MOST: Final = 5.0
_BESIDE_SHOWN: Final = 3
_MEETS: Final = {"a_better": "meets", "b_better": "does not meet", "equivalent": "just meets"}


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim of a lake, with everything that a sentence needs.

    Attributes:
        id: Made of kind, scope, metric and sides; the same in every version of a lake.
        subject, reference: The two sides in words.
        scope: Columns and values that all runs behind it have.
        scope_words: The same in words, with system and limit.
        effect, low, high: Percent of the metric, subject against reference; an end that the data do
            not bound is None.
        limit: A metric and its bound; None without.
        n_subject, n_reference: Runs behind each side; a limit has none.
        outcome: `a_better` where the subject is better.
        more_runs: About how many more runs of each setting would decide; 0 if it is decided, None
            for over 100, or where more runs of these settings do not decide.
        settings: The settings of both sides.
        beside: What else differs between the machines of the two systems, such as
            `sysctl kernel.numa_balancing`; empty for one system, or where no states were recorded.
        adjusted: `1 of 137 claims`.
        condition: What the runs of both sides must have in common for the claim to mean anything,
            where nobody declared it; else empty.
        is_without_spread: Its matched cells all differ by just the same, which bounds nothing.
        holds_alone: May be quoted by itself; the others are "at most 5 % of these are wrong".

    Raises:
        DataError: A side has no run.
    """

    id: str
    kind: Kind
    subject: str
    reference: str
    metric: str
    metric_words: str
    scope: Mapping[str, Value]
    scope_words: str
    limit: tuple[str, float] | None
    effect: float | None
    low: float | None
    high: float | None
    n_subject: int
    n_reference: int
    outcome: Outcome
    more_runs: int | None
    settings: tuple[Member, ...]
    beside: tuple[str, ...]
    condition: str
    adjusted: str
    holds_alone: bool
    alpha: float
    is_synthetic: bool
    is_without_spread: bool = False

    def __post_init__(self) -> None:
        least = 0 if self.kind == "limit met" else 1
        if self.n_subject < 1 or self.n_reference < least:
            raise DataError(
                f"claim {self.id}: {self.n_subject} and {self.n_reference} runs, expected some"
            )

    @property
    def is_over_cells(self) -> bool:
        """Whether it is on the mean difference of several matched cells."""
        return self.kind == "knob" and sum(m.side == SUBJECT for m in self.settings) > 1

    @property
    def query(self) -> str:
        """The SQL that yields the runs of both sides."""
        return claim_runs_query(self.metric, self.scope, self.settings)

    @property
    def n_words(self) -> str:
        """`n = 3 and 2`; of several settings `n = 41 and 36 in 20 and 18 settings`."""
        if self.kind == "limit met":
            return f"n = {self.n_subject}"
        text = f"n = {self.n_subject:,} and {self.n_reference:,}"
        counts = [sum(m.side == side for m in self.settings) for side in (SUBJECT, REFERENCE)]
        if self.kind == "knob":
            return f"{text} in {counts[0]} matched {'cell' if counts[0] == 1 else 'cells'}"
        return f"{text} in {counts[0]} and {counts[1]} settings" if max(counts) > 1 else text

    @property
    def interval_words(self) -> str:
        """`[-39.5, -37.0]`, percent; what is missing where neither end is bounded."""
        if self.low is None and self.high is None:
            few = f"too few {'cells' if self.kind == 'knob' else 'runs'}"
            return f"(no interval: {'the same in each cell' if self.is_without_spread else few})"
        return format_signed_ends(self.low, self.high, "not bounded")

    @property
    def sentence(self) -> str:
        """The claim with its numbers, n and how many claims were judged together."""
        effect = "no estimate" if self.effect is None else f"{format_signed(self.effect)} %"
        if self.kind == "limit met":
            verb = f"{_MEETS.get(self.outcome, 'may meet')} {self.reference}"
        elif self.outcome == "undecided":
            verb = f"cannot be told from {self.reference} in {self.metric_words}"
        elif self.outcome == "equivalent":
            verb = f"matches {self.reference} in {self.metric_words}"
        else:
            # Without an estimate one end is bounded, and on the side that was proven.
            known = (self.effect, self.high if (self.high or 0) < 0 else self.low)
            way = "lowers" if next((x for x in known if x is not None), 0) < 0 else "raises"
            verb = f"{way} {self.metric_words} against {self.reference}"
        verb += f", {self.condition}" if self.condition else ""
        alone = "holds alone; " if self.holds_alone else ""
        note = "synthetic; " if self.is_synthetic else ""
        ends = f"{effect} {self.interval_words}"
        words = f"{self.subject} {verb}: {ends}, {self.scope_words} ({note}{self.n_words}; {alone}"
        return f"{words}{self.adjusted}){self._needed}{self._differing}."

    @property
    def _differing(self) -> str:
        if not self.beside:
            return ""
        more = len(self.beside) - _BESIDE_SHOWN
        words = ", ".join(self.beside[:_BESIDE_SHOWN])
        return f"; the machines also differ in {words}{f' and {more} more' if more > 0 else ''}"

    @property
    def _needed(self) -> str:
        if self.outcome != "undecided":
            return ""
        if self.is_over_cells:
            if self.is_without_spread:
                return "; differences that are the same in each cell do not tell of others"
            return "; the cells differ, so more runs of them do not decide"
        if self.more_runs is None:
            return "; over 100 more runs of each would be needed"
        runs = "run" if self.more_runs == 1 else "runs"
        return f"; about {self.more_runs} more {runs} of each would decide"


def claims(
    lake: "Lake",
    alpha: float = 0.05,
    margin: float = 0.02,
    metrics: Sequence[str] | None = None,
    limit: tuple[str, float] | None = LIMIT,
    selection: Selection | None = None,
) -> list[Claim]:
    """Judge all claims of a lake.

    Args:
        alpha: Expected share of wrong ones among the decided claims.
        margin: A difference within this share is as good as none.
        metrics: Columns of `runs`; None for energy, else power, and each workload's own metric of
            performance, else time.
        limit: A metric and its bound, for the energy of workloads whose performance it is.
        selection: The runs that count, such as those of one dataset, or all but odd ones.

    Returns:
        In the order of the scopes. What a filter hides later does not change them.
    """
    specs = specs_of(lake, metrics, limit, alpha, margin, selection or Selection())
    judged = judge_all([spec.question for spec in specs], alpha)
    beside = _differences(lake)
    has_datasets = len({spec.scope.get("dataset") for spec in specs}) > 1
    return [
        _claim(spec, one, len(specs), lake, has_datasets, beside(spec))
        for spec, one in zip(specs, judged, strict=True)
    ]


def _differences(lake: "Lake") -> Callable[[Spec], tuple[str, ...]]:
    """Return a function from a claim to what differs between the machines of its two systems."""

    @cache
    def states_of(system: str) -> list[str]:
        return runs_of_states(lake, "system", system)

    @cache
    def between(a: str, b: str) -> tuple[str, ...]:
        found = compare_states(lake, states_of(a), states_of(b))
        return tuple(dict.fromkeys(f"{one.file} {one.key}" for one in found))

    def of(spec: Spec) -> tuple[str, ...]:
        systems = tuple(dict.fromkeys(str(member.values["system"]) for member in spec.members))
        return between(systems[0], systems[1]) if len(systems) == 2 else ()

    return of


def _claim(
    spec: Spec,
    judged: Judged,
    count: int,
    lake: "Lake",
    has_datasets: bool,
    beside: tuple[str, ...],
) -> Claim:
    comparison, catalogue = judged.comparison, lake.catalogue
    metric, is_guessed = catalogue.metric(spec.metric), spec.scope.get("dataset") in lake.guessed
    change = comparison.change
    effect, *ends = (metric.sign * x for x in (change.estimate, change.low, change.high))
    is_undecided = comparison.outcome == "undecided"
    machine_words = [spec.system_words] if spec.system_words else []
    machine_words += [
        catalogue.knob_of_column[name].words(value)
        for name, value in spec.scope.items()
        if name != "dataset" or has_datasets
    ]
    limit = ""
    if spec.limit is not None:
        limited, bound = catalogue.metric(spec.limit[0]), spec.limit[1]
        sign = "<=" if limited.sign > 0 else ">="
        limit = f"{limited.short} {sign} {bound:g} {limited.unit}".strip()
    if limit and spec.kind != "limit met":
        machine_words.append(limit)
    return Claim(
        id=_id(spec),
        kind=spec.kind,
        subject=spec.subject,
        reference=limit if spec.kind == "limit met" else spec.reference,
        metric=spec.metric,
        metric_words=lowered(metric.title),
        scope=spec.scope,
        scope_words=", ".join(dict.fromkeys(machine_words)),
        limit=spec.limit,
        effect=_percent(effect, effect),
        low=_percent(min(ends), effect),
        high=_percent(max(ends), effect),
        n_subject=spec.n[0],
        n_reference=spec.n[1],
        outcome=comparison.outcome,
        more_runs=spec.more(judged.alpha) if is_undecided else 0,
        settings=spec.members,
        beside=beside,
        condition=spec.unlike_work or (SAME_WORK if is_guessed and metric.is_total else ""),
        adjusted=f"1 of {counted(count, 'claim')}",
        holds_alone=judged.holds_alone,
        alpha=judged.alpha,
        is_synthetic=spec.is_synthetic,
        is_without_spread=spec.kind == "knob"
        and sum(m.side == SUBJECT for m in spec.members) > 1
        and bool(np.isinf(change.high)),
    )


def _id(spec: Spec) -> str:
    """Return a name that does not depend on results: no recommended setting stands in it."""
    systems = dict.fromkeys(str(member.values["system"]) for member in spec.members)
    own = [spec.subject, spec.reference] if spec.kind == "knob" else []
    parts = [spec.kind, *spec.scope.values(), *systems, spec.metric, *own]
    parts += [f"{spec.limit[0]} {spec.limit[1]:g}"] if spec.limit else []
    return "/".join(f"{p:g}" if isinstance(p, float) else str(p) for p in parts).replace(" ", "-")


def _percent(difference: float, estimate: float) -> float | None:
    """Return a difference of logarithms in percent; None where the data do not bound it.

    What differs by more than a factor e^5 in the mean is bounded as far from its mean as that.
    """
    is_bounded = min(abs(difference), abs(difference - estimate)) <= _MOST
    is_far = abs(difference) > _MOST >= abs(estimate)
    return float(100 * np.expm1(difference)) if is_bounded and not is_far else None

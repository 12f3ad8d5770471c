"""What the page Lake shows: datasets, coverage, problems, and questions with their answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from app.kit.lake_view import LakeView
from app.kit.links import page_link
from app.kit.metric_choice import first_telling, performance_column, telling
from app.kit.words import explanation
from app.lake.settings_answers import settings_answers, unasked_words
from app.lake.state import LakePageState
from data.catalogue import Catalogue
from data.choices import Choice
from data.errors import DataError, LakeError, WattlasError
from data.findings import LIMIT, Claim, claims
from data.metrics import Metric
from data.next_runs import next_runs
from data.queries.lake_page import (
    coverage_query,
    datasets_query,
    files_query,
    flags_query,
    knob_ranges_query,
    measured_query,
    problems_query,
)
from data.selection import Selection
from data.sweeps import knob_shares, scope_words, share_words, sweeps_of
from data.units import counted, lowered

MOST_QUESTIONS: Final = 5
_MOST_PLACES: Final = 2_000
# Lines of the matrix of a dataset.
MOST_PLACES: Final = 24
_MOST_PROBLEMS: Final = 2_000
# What a page needs, by its title: columns of `datasets_query` that must be above 0; and the studies
# that could have it.
_NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "Explore": ("with_cost", "with_performance"), "Timeline": ("logged",),
    "Storage": ("with_request_bytes",),
}  # fmt: skip
_OF: Final[Mapping[str, str]] = {"Timeline": "of_interrupts", "Storage": "of_storage"}
_NAMES: Final[Mapping[str, str]] = {
    "with_cost": "energy or power", "with_performance": "latency, rate or time",
    "logged": "per-interrupt logs", "with_request_bytes": "results of fio",
}  # fmt: skip


def datasets_of(view: LakeView) -> pl.DataFrame:
    """Return a row a dataset: the answers of `datasets_query` and `files_query`, and `missing`.

    `missing` names what pages lack: `Timeline: per-interrupt logs`.
    """
    return view.once(_datasets, None)


def _datasets(view: LakeView, _: None) -> pl.DataFrame:
    rows = view.lake.polars(*datasets_query(view.catalogue))
    files = view.lake.polars(*files_query())
    rows = rows.join(files, on="dataset", how="left", nulls_equal=True, maintain_order="left")
    missing = ["; ".join(_missing(row)) for row in rows.iter_rows(named=True)]
    return rows.with_columns(missing=pl.Series(missing, dtype=pl.String))


def _missing(row: Mapping[str, Any]) -> list[str]:
    return [
        f"{page}: {', '.join(_NAMES[name] for name in needed if not row[name])}"
        for page, needed in _NEEDS.items()
        if not all(row[name] for name in needed) and row.get(_OF.get(page, ""), True)
    ]


def has_unlike_datasets(view: LakeView) -> bool:
    """Return whether the lake has several datasets, of which no two share a workload or a metric.

    No picture compares such runs, so that the catalogue says more of them than the first dataset's
    picture. Durations count as no metric: all runs have one.
    """
    pairs = view.outline.select("dataset", "workload").unique()
    if pairs["dataset"].n_unique() < 2 or pairs["workload"].is_duplicated().any():
        return False
    return view.once(_is_unlike, None)


def _is_unlike(view: LakeView, _: None) -> bool:
    counts = view.lake.polars(*measured_query(view.catalogue)).drop("dataset", "duration_s")
    return bool((counts > 0).sum().select(pl.max_horizontal(pl.all())).item() <= 1)


def knob_ranges(view: LakeView) -> pl.DataFrame:
    """Return the answer of `knob_ranges_query`."""
    return view.once(_ranges, None)


def _ranges(view: LakeView, _: None) -> pl.DataFrame:
    return view.lake.polars(*knob_ranges_query(view.catalogue))


def coverage(view: LakeView) -> pl.DataFrame:
    """Return the answer of `coverage_query`."""
    return view.once(_coverage, None)


def _coverage(view: LakeView, _: None) -> pl.DataFrame:
    return view.lake.polars(*coverage_query(_MOST_PLACES, view.catalogue))


def small_coverage(rows: pl.DataFrame, catalogue: Catalogue) -> tuple[pl.DataFrame, list[str]]:
    """Return a dataset's coverage in at most MOST_PLACES places, and the knobs that they pool.

    The knob with most values is pooled first, the load last.

    Args:
        rows: The dataset's rows of `coverage`.
    """
    shown_columns = [name for name in catalogue.choice_columns if name not in ("dataset", "system")]
    pooled: list[str] = []
    while rows.select(shown_columns).n_unique() > MOST_PLACES and len(shown_columns) > 1:
        others = [name for name in shown_columns if name not in ("workload", "load_qps")]
        most = max(others or shown_columns[1:], key=lambda name: rows[name].n_unique())
        shown_columns.remove(most)
        if rows[most].n_unique() > 1:
            pooled.append(catalogue.knob_of_column[most].noun)
    if not pooled:
        return rows, []
    sums = [pl.col("system_label").first(), pl.col("runs", "configurations").sum()]
    return rows.group_by([*shown_columns, "system"], maintain_order=True).agg(sums), pooled


def flags_of(view: LakeView) -> pl.DataFrame:
    """Return the answer of `flags_query`."""
    return view.once(_flags, None)


def _flags(view: LakeView, _: None) -> pl.DataFrame:
    return view.lake.polars(*flags_query())


def problems_of(view: LakeView) -> pl.DataFrame:
    """Return the answer of `problems_query`."""
    return view.once(_problems, None)


def _problems(view: LakeView, _: None) -> pl.DataFrame:
    return view.lake.polars(*problems_query(_MOST_PROBLEMS))


@dataclass(frozen=True, slots=True)
class Question:
    """A question that the lake can answer.

    Attributes:
        answer: One sentence with numbers.
        page: Path of the page that shows it.
        selection: Its filters there.
        claim: The id of the claim on Findings that is the answer; empty: none is.
    """

    title: str
    answer: str
    page: str
    selection: Selection
    claim: str = ""

    def link(self, view: LakeView) -> str:
        """Return the address that shows the answer, pinned to the version."""
        return page_link(self.page, self.selection, lake=view.version, claim=self.claim)


def questions_of(view: LakeView) -> list[Question]:
    """Return at most five questions with their answers; none for an empty lake."""
    return view.once(_questions, view.first_study()) if view.runs else []


def _questions(view: LakeView, selection: Selection) -> list[Question]:
    cost = _cost_of(view, selection) or view.catalogue.metric("power_w")
    made = claims(view.lake, selection=selection)
    ranges = view.ranges(selection)
    told = telling(view, selection, {claim.metric: ranges[claim.metric].runs for claim in made})
    decided = [one for one in made if one.outcome != "undecided" and one.metric in told]
    # Where none is decided, the open ones say what would decide.
    decided = decided or [one for one in made if one.metric in told]
    largest = sorted(decided, key=lambda claim: (not claim.holds_alone, -abs(claim.effect or 0.0)))
    by_knob: dict[tuple[bool, str], Question] = {}
    for claim in largest:
        if claim.kind == "knob":
            knob = _changed(claim, view.catalogue)
            title = f"What does the {knob} change in {claim.metric_words}?"
            by_knob.setdefault((claim.metric == cost.name, title), _claimed(view, claim, title))
    of_cost, of_others = (
        [asked for (is_cost, _), asked in by_knob.items() if is_cost is wanted]
        for wanted in (True, False)
    )
    asked_of = {
        "What does tuning save?": lambda c: c.kind == "default to tuned",
        f"Which system needs least {lowered(cost.title)}?": lambda c: c.kind == "tuned to tuned"
        and c.metric == cost.name,
        "Which system performs best?": lambda c: c.kind == "tuned to tuned"
        and c.metric != cost.name,
        "Does the thriftiest setting meet the limit?": lambda c: c.kind == "limit met",
    }  # fmt: skip
    tuned = {
        title: _claimed(view, found[0], title)
        for title, is_wanted in asked_of.items()
        if (found := list(filter(is_wanted, largest)))
    }
    first = [tuned.pop(title) for title in list(asked_of)[:2] if title in tuned]
    questions = [*(first or of_cost), *_of_sweep(view, selection, cost), *tuned.values()]
    questions += [*(of_cost if first else []), *of_others]
    if len(questions) < MOST_QUESTIONS:
        answers = settings_answers(view, selection, cost)
        questions += [Question(title, answer, "/", selection) for title, answer in answers]
    return questions[:MOST_QUESTIONS]


def _cost_of(view: LakeView, selection: Selection) -> Metric | None:
    """Return what settings are compared by; None if no run measured it."""
    names = (*view.catalogue.costs, performance_column(view, selection))
    name = first_telling(view, selection, names)
    return view.catalogue.metric(name) if name else None


def nothing_asked(view: LakeView) -> str:
    """Return why no question can be asked of a lake with runs."""
    selection = view.first_study()
    return unasked_words(view, selection, _cost_of(view, selection))


def _changed(claim: Claim, catalogue: Catalogue) -> str:
    """Return the knob in which the sides of a claim differ: `power limit`."""
    pair = [m.values for m in claim.settings if m.cell == claim.settings[0].cell]
    differing = (name for name in pair[0] if len({values[name] for values in pair}) > 1)
    knob = next(name for name in differing if name in catalogue.knob_of_column)
    return lowered(catalogue.knob_of_column[knob].title.partition(" (")[0])


def _claimed(view: LakeView, claim: Claim, title: str) -> Question:
    place = _place(claim.scope, view.catalogue)
    if claim.kind == "limit met":
        return Question(title, claim.sentence, "/", place)
    return Question(title, claim.sentence, "/findings", place, claim.id)


def _place(scope: Mapping[str, Any], catalogue: Catalogue) -> Selection:
    named = {facet.column: name for name, facet in catalogue.facets.items()}
    values = {
        named[column]: [v] for column, v in scope.items() if column in named and v is not None
    }
    return catalogue.selection(values)


def _of_sweep(view: LakeView, selection: Selection, cost: Metric) -> list[Question]:
    """Ask which knob matters, and what to measure next, of the largest sweep of a metric."""
    choices = sweeps_of(view.lake, selection, cost.name)
    if not choices:
        return []
    labels = dict(view.outline.select("system", "system_label").unique().rows())
    choice = choices[0]
    where = scope_words(choice, view.catalogue, labels)
    choice_words = _place({**choice.scope(), "system": choice.system}, view.catalogue)
    questions = []
    for title, answered in (
        (f"Which knob matters for {lowered(cost.title)}?", _knob_that_matters),
        ("What should be measured next?", _next_runs),
    ):
        try:
            answer = answered(view, choice, where)
        except LakeError:
            raise
        except WattlasError:
            # Too few settings for shares or a plan, or runs that are no replicates.
            continue
        questions.append(Question(title, answer, "/findings", choice_words))
    return questions


def _knob_that_matters(view: LakeView, choice: Choice, where: str) -> str:
    shares = knob_shares(view.lake, choice)
    if len(shares.mains) == 1 and shares.runs == shares.settings:
        raise DataError("one knob, and no noise beside it: it makes all of the variance")
    main = shares.mains[0]
    ends = ""
    if main.low is not None and main.high is not None:
        ends = f" [{share_words(main.low)}, {share_words(main.high)}]"
    named = lowered(view.catalogue.metric(choice.objective).title)
    return (
        f"{main.name} makes {share_words(main.share)} %{ends} of the variance of {named}, "
        f"{shares.noise_words} ({where}; {counted(shares.runs, 'run')} in "
        f"{counted(shares.settings, 'setting')})."
    )


def _next_runs(view: LakeView, choice: Choice, where: str) -> str:
    return f"{where}: {next_runs(view.lake, choice).sentence}"


def rows_behind(view: LakeView, _: LakePageState, name: str) -> pl.DataFrame:
    """Return the rows of a view."""
    if name == "questions":
        asked = questions_of(view)
        columns = {"question": [q.title for q in asked], "answer": [q.answer for q in asked],
                   "link": [q.link(view) for q in asked]}  # fmt: skip
        return pl.DataFrame(columns, dict.fromkeys(columns, pl.String))
    return _ROWS[name](view)


_ROWS: Final[Mapping[str, Callable[[LakeView], pl.DataFrame]]] = {
    "datasets": datasets_of, "coverage": coverage, "problems": problems_of,
}  # fmt: skip


def explain(view: LakeView, _: LakePageState, name: str) -> str:
    """Return how a view was computed."""
    queries = dict.fromkeys(("datasets", "questions"), datasets_query(view.catalogue)) | {
        "coverage": coverage_query(_MOST_PLACES, view.catalogue),
        "problems": problems_query(_MOST_PROBLEMS),
    }
    after = {
        "questions": f"The first claims that are decided, those that hold alone before others, "
        f"largest effects first (limit {LIMIT[0]} {LIMIT[1]:g}), the shares of knobs and the next "
        "runs of the sweep with most settings: as on Findings. If these are fewer than five, the "
        "standard deviations of settings and the settings with the lowest and highest mean.",
    }
    return explanation(view, Selection(), queries[name], (), [after.get(name, "")])

"""Which runs would decide: a list for one choice, in blocks, and how many of it are left.

from data.connection import open_lake
from data.decisions import Choice
from data.next_runs import next_runs

with open_lake("lake") as lake:
    tuned = Choice(workload="memcached", load_qps=400_000, system="linux_tuned",
                   objective="energy_j", limit=("latency_p99_us", 500.0))
    plan = next_runs(lake, tuned, budget=40)
    print(plan.sentence)
    print(plan.csv())
"""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from data.analysis.best_set import BestSet, Limit, best_set, recommend
from data.analysis.coded_rows import Part
from data.analysis.mirrored import mirrored
from data.analysis.outcomes import MORE_TRIED, with_more_runs
from data.analysis.planner import BASELINE, FIRST_CELL, Cell, PlannedRun, plan, unmeasured_cells
from data.analysis.replicates import unlike_words
from data.baselines import Baseline, baseline_of, distances
from data.choices import DEFAULT, Choice, Study, Value, study_of
from data.errors import DataError
from data.knobs import POLICIES
from data.metrics import SAME_WORK
from data.queries.claims import SUBJECT, Member, replicates_query
from data.repeatable import are_far, why_not_again
from data.run_list import NextRuns, PlannedSetting
from data.units import format_digits, lowered

if TYPE_CHECKING:
    from data.connection import Lake

# Without a budget a list has at most so many runs, and at least one of each member.
MOST_RUNS: Final = 200
# Without a budget, so many settings get a second run where none was measured twice.
_SECOND_RUNS: Final = 10
# Runs of a first round for each setting that may be the best, where deciding takes too many.
_ROUND_RUNS: Final = 2


def next_runs(
    lake: "Lake",
    choice: Choice,
    budget: int | None = None,
    minutes: float | None = None,
    alpha: float = 0.05,
    margin: float = 0.02,
    baseline: Mapping[str, Value] = DEFAULT,
) -> NextRuns:
    """Plan the runs that would decide a choice.

    What was measured once, without noise of others to borrow, is not judged and may be the best: a
    second run of these comes first, of those with the lowest values; of what costs so much more
    than the least that no replicates differ so, there is none.

    Args:
        budget: Runs without those of the baseline; None for those that are likely to settle it.
        minutes: Time for all runs, in place of a budget of runs.
        alpha: Error of the set.
        margin: The choice is settled once the recommended setting costs at most so much more.

    Raises:
        DataError: As `decide`, or an objective without a direction, or runs of the setting with the
            best mean that are no replicates, or runs that nobody can make again, or a budget that
            is not positive, or minutes without durations.
    """
    if budget is not None and budget < 1:
        raise DataError(f"the budget is {budget}, expected a number of runs above 0")
    objective = lake.catalogue.metric(choice.objective)
    if objective.better is None:
        raise DataError(
            f"whether less or more {lowered(objective.title)} is better is not declared"
        )
    own, everything = study_of(lake, choice, alpha, baseline)
    if reason := why_not_again(lake, choice, own):
        raise DataError(reason)
    if own.cost.is_least_unlike:
        raise DataError(unlike_words(int(own.cost.is_unlike.sum())))
    catalogue = lake.catalogue
    default, _ = baseline_of(
        Part.of(everything), choice.system, choice.objective, own, baseline, catalogue=catalogue
    )
    log_margin = float(np.log1p(margin))
    is_open = ~own.cost.is_judged & ~own.best.is_outside & ~are_far(own)
    if is_open.any():
        best = replace(own.best, is_member=own.best.is_member | is_open)
        planner = _Planner(lake, choice, own, best, default, alpha, log_margin)
        if budget is None:
            second = min(int(is_open.sum()), _SECOND_RUNS)
            budget = second if minutes is None else planner.runs_in(minutes)
        planned = plan(own.cost, best, budget, planner.seed)
        answer = planner.answer(planned, (), float("nan"), "", is_done=False)
        return replace(answer, unjudged=int(is_open.sum()))
    changes, steps = distances(own, default.row if default else {}, catalogue=catalogue)
    chosen = recommend(own.cost, own.best, changes, steps, alpha, log_margin).setting
    planner = _Planner(lake, choice, own, own.best, default, alpha, log_margin)
    reason = planner.settled(chosen)
    cells, error = planner.cells()
    if reason or chosen is None:
        return planner.answer(
            (), cells[:0], error, reason or "no setting meets the limit", bool(reason)
        )
    if minutes is not None:
        budget = planner.runs_in(minutes)
    needed = planner.runs_to_settle(chosen)
    if budget is None:
        # A list longer than all that was run is no answer: a first round, then look again.
        is_in_proportion = needed is not None and needed <= min(own.cost.n.sum(), MOST_RUNS)
        first_round = min(_ROUND_RUNS * int(own.best.is_member.sum()), MOST_RUNS)
        budget = needed if needed is not None and is_in_proportion else max(first_round, 1)
    limit = own.limit
    planned = plan(
        own.cost, own.best, budget, planner.seed, None if limit is None else limit.metric,
        np.inf if limit is None else limit.at, len(cells), log_margin,
    )  # fmt: skip
    settles = needed is not None and budget >= needed
    answer = planner.answer(planned, cells, error, "", is_done=False, settles=settles)
    return replace(answer, needed=needed)


def runs_left(then: NextRuns, now: "Lake") -> int:
    """Return how many runs of a list a newer version of the lake does not hold yet.

    A run counts for a setting once the lake has more of them than when the list was made.
    """
    there = _replicates(now, then.choice, [setting.values for setting in then.settings])
    return sum(
        max(0, setting.more - max(0, n - setting.n))
        for setting, (n, _) in zip(then.settings, there, strict=True)
    )


@dataclass(frozen=True)
class _Planner:
    """One choice and everything that a list of its runs needs."""

    lake: "Lake"
    choice: Choice
    own: Study
    best: BestSet
    default: Baseline | None
    alpha: float
    log_margin: float

    @property
    def seed(self) -> int:
        """The same runs give the same list."""
        return zlib.crc32(self.own.cost.mean.tobytes() + self.own.cost.n.tobytes())

    def settled(self, chosen: int | None) -> str:
        """Say why no more runs are needed; empty if they are."""
        cost, best = self.own.cost, self.best
        if chosen is None:
            return ""
        members = int(best.is_member.sum())
        if members == 1 and cost.n[chosen] >= 2:
            return "no other setting may be the best"
        regret = float(best.regret[chosen])
        if np.isnan(regret) or regret > self.log_margin or (best.is_member & (cost.n < 2)).any():
            return ""
        # Of settings that are a guess none is recommended.
        what = "the setting of least bound" if self.is_guessed else "the recommended setting"
        if regret <= 0:
            return f"{what} costs no more than any other that may be the best"
        return f"{what} costs at most {format_digits(100 * np.expm1(regret), 2)} % more"

    @property
    def condition(self) -> str:
        """What must be alike for a stop to mean anything, where it is a guess what was set."""
        is_total = self.lake.catalogue.metric(self.choice.objective).is_total
        return SAME_WORK if is_total and self.is_guessed else ""

    @property
    def is_guessed(self) -> bool:
        """Whether it is a guess what was set in some of the runs."""
        return not self.lake.guessed.isdisjoint(self.own.rows["dataset"])

    def cells(self) -> tuple[list[Cell], float]:
        """List the unmeasured cells next to the best set."""
        rows, columns = self._ladders()
        if not columns or len(rows) < 3:
            return [], float("nan")
        places = rows["place"].to_numpy()
        codes = np.column_stack([rows[name].rank("dense").to_numpy() - 1 for name in columns])
        limit = self.own.limit
        return unmeasured_cells(
            codes.astype(np.int64), self.own.cost.at(places), self.best.is_member[places],
            None if limit is None else limit.metric.at(places),
            np.inf if limit is None else limit.at, self.log_margin,
        )  # fmt: skip

    def _ladders(self) -> tuple[pl.DataFrame, list[str]]:
        columns = [
            name for name in self.own.knobs
            if name not in POLICIES.values() and self.own.rows[name].dtype.is_numeric()
        ]  # fmt: skip
        return self.own.rows.with_row_index("place").drop_nulls(columns), columns

    def runs_in(self, minutes: float) -> int:
        """Return how many runs a time has room for, less those of the baseline."""
        (_, seconds), *_ = _replicates(self.lake, self.choice, [self._values(0)])
        if seconds is None:
            raise DataError("the lake does not know how long a run takes: give a number of runs")
        return max(int(60 * minutes / seconds), 1)

    def runs_to_settle(self, chosen: int) -> int | None:
        """Return about how many runs bring the recommended setting's regret within the margin.

        None if 100 more of each member do not.
        """
        cost, best = self.own.cost, self.best
        once = int((best.is_member & (cost.n < 2)).sum())
        twice = np.flatnonzero(best.is_member & (cost.n >= 2))
        for more in MORE_TRIED:
            limit = self.own.limit
            after = None if limit is None else Limit(limit.at, with_more_runs(limit.metric, more))
            then = best_set(with_more_runs(cost, more), after, self.alpha)
            if then.regret[chosen] <= self.log_margin:
                return max(once + more * len(twice), 1)
        return None

    def answer(
        self,
        planned: Sequence[PlannedRun],
        cells: Sequence[Cell],
        error: float,
        reason: str,
        is_done: bool,
        settles: bool = False,
    ) -> NextRuns:
        """Build the answer: the settings by number, then the rows of the list."""
        best, n = self.best, self.own.cost.n
        numbers = list(dict.fromkeys(run.setting for run in planned))
        if self.default is None:
            # Nothing to control drift with.
            planned = [run for run in planned if run.setting != BASELINE]
            numbers = [number for number in numbers if number != BASELINE]
        values = {number: self._values(number, cells) for number in numbers}
        held = _replicates(self.lake, self.choice, list(values.values()))
        known = dict(zip(numbers, held, strict=True))
        lowest = float(np.nanmin(self.own.cost.mean))
        settings = []
        for number in sorted(numbers, key=lambda i: (i == BASELINE, i < 0, i)):
            own = [run for run in planned if run.setting == number]
            count, seconds = known[number]
            change = None
            if number >= 0:
                change = float(100 * np.expm1(self.own.cost.mean[number] - lowest))
            settings.append(
                PlannedSetting(
                    values[number], self._words(values[number]), count, len(own), own[0].reason,
                    change, None if seconds is None else seconds * len(own) / 60,
                )
            )  # fmt: skip
        named = dict.fromkeys(name for own in values.values() for name in own)
        columns = [n for n in named if any(own.get(n) is not None for own in values.values())]
        last = _counted(self.lake, self.choice, list(values.values()))["last"].fill_null(-1)
        first = {number: int(own) + 1 for number, own in zip(values, last, strict=True)}
        rows = tuple(
            (run.block, run.position, *(values[run.setting].get(name) for name in columns),
             first[run.setting] + run.replicate, run.reason)
            for run in planned
        )  # fmt: skip
        explored = sum(number <= FIRST_CELL for number in numbers)
        choice = self.choice
        scope = ", ".join(f"{name} {value}" for name, value in choice.scope().items())
        query = f"best {choice.objective} of {choice.system}: {scope}"
        if choice.limit is not None:
            query += f", {choice.limit[0]} within {choice.limit[1]:g}"
        return NextRuns(
            choice=self.choice,
            is_done=is_done,
            settles=settles,
            reason=reason,
            members=int((best.is_member & (n >= 2)).sum()),
            members_once=int((best.is_member & (n < 2)).sum()),
            settings=tuple(settings),
            cells=explored,
            prediction_error_pct=None if np.isnan(error) else float(100 * np.expm1(error)),
            columns=("block", "position", *columns, "replicate", "reason"),
            rows=rows,
            seed=self.seed,
            version=self.lake.version,
            query=query,
            condition=self.condition,
        )

    def _values(self, number: int, cells: Sequence[Cell] = ()) -> dict[str, Value]:
        """Return the columns of a planned run by its number in the plan."""
        scope: dict[str, Value] = dict(self.choice.scope())
        catalogue = self.lake.catalogue
        if number == BASELINE:
            assert self.default is not None, "BUG: no baseline"
            row: Mapping[str, Any] = self.default.row
            return scope | {name: row[name] for name in ("system", *catalogue.setting_columns)}
        if number >= 0:
            row = self.own.rows.row(number, named=True)
            return scope | {name: row[name] for name in ("system", *catalogue.setting_columns)}
        ladders, columns = self._ladders()
        nearest = ladders.row(0, named=True)
        values = {name: nearest[name] for name in ("system", *catalogue.setting_columns)}
        for name, code in zip(columns, cells[FIRST_CELL - number].codes, strict=True):
            values[name] = ladders[name].unique().sort()[code]
        return scope | values

    def _words(self, values: Mapping[str, Value]) -> str:
        knobs = self.lake.catalogue.knob_of_column
        shown = self.own.rows
        named = [name for name in self.own.knobs if name in knobs]
        named = [name for name in named if shown[name].n_unique() > 1] or named
        again = mirrored(shown, named)
        named = [name for name in named if name not in again]
        if values["system"] != self.choice.system:
            return f"{values['system']} (baseline)"
        return ", ".join(knobs[name].words(values.get(name)) for name in named)


def _replicates(
    lake: "Lake", choice: Choice, values: Sequence[Mapping[str, Value]]
) -> list[tuple[int, float | None]]:
    """Return the number of runs of each setting, and how long one takes, in seconds.

    Of a guessed unit no time is told: in another unit weeks would be seconds.
    """
    rows = _counted(lake, choice, values)
    doubted = lake.catalogue.metric("duration_s").doubted_in
    if doubted and choice.dataset in (None, *doubted):
        return [(int(n), None) for n in rows["n"]]
    overall = rows["seconds"].drop_nulls()
    usual = float(np.median(overall.to_numpy())) if len(overall) else _usual_seconds(lake, choice)
    return [
        (int(n), usual if seconds is None else float(seconds))
        for n, seconds in rows.select("n", "seconds").iter_rows()
    ]


def _counted(lake: "Lake", choice: Choice, values: Sequence[Mapping[str, Value]]) -> pl.DataFrame:
    if not values:
        return pl.DataFrame(schema={"n": pl.Int64, "seconds": pl.Float64, "last": pl.Int64})
    members = [Member(SUBJECT, i, True, own) for i, own in enumerate(values)]
    return lake.polars(replicates_query(choice.objective, members))


def _usual_seconds(lake: "Lake", choice: Choice) -> float | None:
    scope = choice.scope()
    condition = " AND ".join(f"{name} = ?" for name in scope)
    seconds = lake.polars(
        f"SELECT median(duration_s) AS seconds FROM runs WHERE {condition}", list(scope.values())
    )["seconds"][0]
    return None if seconds is None else float(seconds)

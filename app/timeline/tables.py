"""The rows behind the views (bins, interrupts, samples, totals), and how they were computed."""

from typing import Any, Final

import numpy as np
import polars as pl

from app.kit.lake_view import LakeView
from app.kit.page import Recomputed, View
from app.timeline.runs import answer_question, failure_sentence
from app.timeline.state import TimelineState
from data.analysis.log_bins import LIMIT_SHARE, slot_starts, slots_near
from data.errors import DataError
from data.queries.timeline import (
    bins_again_query,
    gaps_again_query,
    totals_again_query,
    window_bins_query,
    window_intervals_query,
    window_rows_query,
)
from data.timeline.alignment import ALIGNMENTS
from data.timeline.quantities import CLOCKS
from data.timeline.reads import NIC_FIELDS, RunReads
from data.timeline.residency import RESIDENCIES, residency_rows
from data.timeline.row_bins import NONE
from data.timeline.totals import TOTALS, window_totals
from data.timeline.window import RunAnswer
from data.timeline.window_plan import bins_between

MOST_ROWS: Final = 1_000_000
_IN_BINS: Final = (
    "interrupts_in_bin", "interrupts_mean", "rx_mean", "rx_max", "tx_mean", "tx_max", "gap_mean",
    "gap_min", "ipc_mean", "busy_mean", "power_mean",
)  # fmt: skip
VIEWS: Final = (
    View("figure", "The window in view: single interrupts if they are drawn, else bins"),
    View("gaps", "Distributions"),
    View("totals", "Totals", is_picture=False),
    View("bins", "Bins", is_picture=False),
    View("interrupts", "Interrupts", is_picture=False),
    View("samples", "Counter samples", is_picture=False),
)
_READ: Final = (
    "Arrow read the row groups of the files that hold these rows. Each query selects the same rows."
)
_RATE_RULES: Final = """\
A window includes its start and excludes its end; a window that ends with the run also includes the
run's last instant. Where bins are read, the window is widened to whole bins.

Rates are sums divided by time, IPC is instructions divided by cycles, busy share is ref_cycles
divided by time-stamp ticks. Sums are divided once, for each drawn bin. Thin lines show the minimum
and the maximum within it:
- Sampled counters: a rate between two consecutive samples of a core. It counts in every bin from
  that of the first sample to that of the second.
- Several cores as one line: IPC and busy share have the extremes of single cores. For rates that
  are summed (power of several packages, instructions, misses, sleep states) the cores' extremes are
  summed too, in each bin that was read: the sum lies within that band, but may not reach its edges.
- Interrupts a second: the minimum and maximum over bins of the overview's finest level, for all
  cores of the line together. If the drawn bins are as fine, there is no band.
- Bytes a second: the extremes over the bins joined in a drawn one. Bytes per interrupt: the largest
  and, from rows, the smallest interrupt.

Time in C-states is what a tool such as turbostat reports for each interval, in percent of it; the
time in a state is spread evenly over its interval. A line for several processors is the sum of
their times in the state divided by the sum of their times, over those with a reported state.

Counters are sampled about every millisecond. A count between two samples is divided over the time
between them; rates use the time that samples cover. The energy counter belongs to a package and is
read on one of its cores."""
_BANDS: Final = """\
Behind a line, once the window rests, a band goes from the 10th to the 90th percentile of windows of
equal time, about ten to each value of the band. They are means of windows, not single interrupts or
samples: the card says how long the windows are. A window holds ten interrupts or more on average,
and lasts a millisecond or more for counters. The minimum and maximum are thin lines."""
_ALIGNED: Final = """\
The runs are aligned by {title}: the x axis is what a run has done since its start, in {unit}, all
its cores together. The window of each run is the time in which it did the work between the
window's ends. Bins of time are joined to bins of about equal work, so rates stay rates per second;
bins without work join the next. Note: {note}."""
_GAP_RULES: Final = """\
A gap is the time between two interrupts of one core. The longest gap of a bin or window is the
longest that touches it, even if it began before or ends after it. The shortest gap and the
distribution count the gaps that end in it. The mean gap is time times cores divided by
interrupts. It differs a little from the mean of the gaps that end there, because of the window's
two ends."""


def view_rows(view: LakeView, state: TimelineState, name: str) -> pl.DataFrame:
    """Build the rows of the window in view, one shown run after the other.

    Args:
        name: Name of a view in VIEWS.

    Raises:
        SelectionError: The state has no runs.
        DataError: No run can be shown, or there are too many rows.
        LakeError: A file of a run is missing.
    """
    page_answer = answer_question(view, state.question())
    shown = page_answer.shown()
    if name == "figure":
        name = "interrupts" if all(answer.raw is not None for _, answer in shown) else "bins"
    tables = [(info, _MAKERS[name](view, answer)) for info, answer in shown]
    table = pl.concat(
        [
            table.select(pl.lit(info.run_id).alias("run_id"), pl.lit(info.label).alias("run"), "*")
            for info, table in tables
        ],
        how="diagonal",
    )
    if name != "totals":
        return table
    drawn = [isinstance(answer, RunAnswer) for answer in page_answer.window.runs]
    at = state.base if drawn[state.base] else drawn.index(True)
    return _compare(table, page_answer.infos[at].run_id)


def recomputed(view: LakeView, state: TimelineState, name: str) -> list[Recomputed]:
    """Return how numbers of all cores are computed again, from the tables of single interrupts."""
    shown = [answer for _, answer in answer_question(view, state.question()).shown()]
    is_raw = all(answer.raw is not None for answer in shown)
    if state.cores != "all" or (name == "figure" and is_raw):
        return []
    if name == "gaps":
        return [Recomputed(gaps_again_query(), ("run_id", "quantity", "from", "below"), ("count",))]
    if name == "totals":
        return [Recomputed(totals_again_query(), ("run_id", "name"), ("value",))]
    if name not in ("bins", "figure"):
        return []
    keys = ("run_id", "group", "axis", "from_s")
    stored = [one.facts.run_id for one in shown if one.plan.counted is not None]
    return [Recomputed(bins_again_query(stored), keys, _IN_BINS)]


def _compare(table: pl.DataFrame, base: str) -> pl.DataFrame:
    """Add differences from the reference; NULL for the reference, and in percent where it is 0."""
    of_base = table.filter(pl.col("run_id") == base).select("name", pl.col("value").alias("base"))
    change = pl.when(pl.col("run_id") != base).then(pl.col("value") - pl.col("base"))
    percent = pl.when(pl.col("base") != 0).then(100 * pl.col("difference") / pl.col("base"))
    return (
        table.join(of_base, on="name", how="left", maintain_order="left")
        .with_columns(pl.lit(base).alias("base_run_id"), change.alias("difference"))
        .with_columns(percent.alias("difference_pct"))
        .drop("base")
    )


def _bins(view: LakeView, answer: RunAnswer) -> pl.DataFrame:  # noqa: ARG001
    tables = []
    for group in (*answer.groups, *answer.power):
        for axis, edges in answer.edges.items():
            columns = {
                "interrupts_in_bin" if name == "count" else f"{name}_{word}": values
                for name, line in group.lines.items()
                if CLOCKS[name] == axis
                for word, values in line.items()
            }
            if columns:
                tables.append(_bin_table(group.name, axis, edges, _places(answer, edges) | columns))
    return pl.concat(tables, how="diagonal") if tables else pl.DataFrame()


def _places(answer: RunAnswer, edges: np.ndarray) -> dict[str, np.ndarray]:
    """Return the work of the run until each bin's ends, if the runs are aligned by work."""
    if answer.axis.done is None:
        return {}
    places = answer.axis.at(edges)
    return {"from_work": places[:-1], "to_work": places[1:]}


def _bin_table(
    group: str, axis: str, edges: np.ndarray, columns: dict[str, np.ndarray]
) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "group": [group] * (len(edges) - 1),
            "axis": [axis] * (len(edges) - 1),
            "from_s": edges[:-1] / 1e9,
            "to_s": edges[1:] / 1e9,
            **columns,
        }
    ).fill_nan(None)


def _interrupts(view: LakeView, answer: RunAnswer) -> pl.DataFrame:
    plan = answer.plan
    _check_rows(answer.interrupts, "interrupts")
    rows = RunReads(view.files, answer.facts).rows(plan.from_ns, plan.to_ns, NIC_FIELDS)
    chosen = rows.of_cores(answer.chosen)
    cores = np.array([answer.facts.cores[at] for at in answer.chosen])
    gap_ns = pl.Series(chosen.gap_ns)
    return pl.DataFrame(
        {
            "core": cores[chosen.place],
            "t_ns": chosen.t_ns,
            "gap_ns": pl.select(pl.when(gap_ns != NONE).then(gap_ns)).to_series(),
            **chosen.columns,
        }
    ).sort("t_ns", "core", maintain_order=True)


def _samples(view: LakeView, answer: RunAnswer) -> pl.DataFrame:
    plan, reads = answer.plan, RunReads(view.files, answer.facts)
    rows = reads.touching_samples(plan.from_ns, plan.to_ns)
    places = rows.pop("place")
    is_chosen = np.isin(places, answer.chosen)
    _check_rows(int(is_chosen.sum()), "samples")
    core = np.array(answer.facts.cores)[places]
    columns: dict[str, Any] = {"core": core[is_chosen]}
    columns |= {name: values[is_chosen] for name, values in rows.items()}
    table = pl.DataFrame(columns).fill_nan(None)
    return table if reads.shape.interrupts else _with_residencies(table, view, answer)


def _with_residencies(table: pl.DataFrame, view: LakeView, answer: RunAnswer) -> pl.DataFrame:
    """Add the time in C-states that a tool reports with its samples, percent."""
    plan, facts = answer.plan, answer.facts
    rows = residency_rows(view.files, facts, plan.from_ns, plan.to_ns)
    names = [name for name in RESIDENCIES if name in rows]
    if not names:
        return table
    keys = {
        "core": np.array(facts.cores)[rows["place"]],
        "t_ns": np.minimum(rows["t_ns"], facts.length_ns),
    }
    found = pl.DataFrame({**keys, **{name: rows[name] for name in names}}).fill_nan(None)
    found = found.cast({name: table.schema[name] for name in keys})
    return table.join(found, on=list(keys), how="left", maintain_order="left")


def _check_rows(rows: int, what: str) -> None:
    if rows > MOST_ROWS:
        raise DataError(
            f"{rows:,} {what} are in view; a file holds {MOST_ROWS:,} at most: zoom in, or read "
            "them from the lake"
        )


def _distributions(view: LakeView, answer: RunAnswer) -> pl.DataFrame:  # noqa: ARG001
    """Return the counts of gaps and sizes in `[from, below)`; the quantity's name has the unit."""
    tables = [
        pl.DataFrame(
            {
                "quantity": [name] * len(slots),
                "from": slot_starts(slots),
                "below": slot_starts(slots + 1),
                "count": counts[slots],
            }
        )
        for name, counts in (answer.sizes or {}).items()
        for slots in [np.flatnonzero(counts)]
    ]
    return pl.concat(tables) if tables else pl.DataFrame()


def _totals(view: LakeView, answer: RunAnswer) -> pl.DataFrame:  # noqa: ARG001
    values = window_totals(answer)
    return pl.DataFrame(
        {
            "name": [total.name for total in TOTALS],
            "title": [total.title for total in TOTALS],
            "unit": [total.unit for total in TOTALS],
            "value": [values[total.name] for total in TOTALS],
        }
    ).fill_nan(None)


_MAKERS: Final = {
    "bins": _bins,
    "interrupts": _interrupts,
    "samples": _samples,
    "gaps": _distributions,
    "totals": _totals,
}


def explain_view(view: LakeView, state: TimelineState, name: str) -> str:
    """Return how a view of a window was computed: what was read, and the rules of the arithmetic.

    Raises:
        WattlasError: None of the runs can be shown.
    """
    page_answer = answer_question(view, state.question())
    page_answer.shown()
    parts = [view.words, f"cores: {state.cores}", _READ]
    of = ALIGNMENTS[state.align]
    if of.column:
        parts.append(_ALIGNED.format(title=of.title.lower(), unit=of.unit, note=of.note))
    parts += [page_answer.window.clipped] if page_answer.window.clipped else []
    for info, answer in page_answer.pairs():
        if isinstance(answer, RunAnswer):
            parts.append(f"{info.label}\nrun {info.run_id}\n{_run_words(answer)}")
        else:
            parts.append(failure_sentence(info, answer))
    rules = [_GAP_RULES] if name == "gaps" else [_RATE_RULES, _BANDS, _GAP_RULES]
    return "\n\n".join([*parts, *rules])


def _run_words(answer: RunAnswer) -> str:
    plan, lines = answer.plan, []
    lines.append(f"from {plan.from_ns} to {plan.to_ns} ns after its start, {answer.rows_read} rows")
    lines += ["interrupts:", _source(answer, "interrupts", plan.level)]
    lines += ["counters:", _source(answer, "samples", plan.counted)]
    if drawn := [name for name in RESIDENCIES if name in answer.cells["counters"].values]:
        cores = [answer.facts.cores[at] for at in answer.chosen]
        path = answer.facts.files["intervals"]
        query = window_intervals_query(path, cores, drawn, plan.from_ns, plan.to_ns)
        lines += ["time in C-states:", query]
    if itr_us := answer.facts.row["itr_us"]:
        first, end = slot_starts(slots_near(itr_us * 1e3, LIMIT_SHARE))
        lines.append(
            f"at the limit of {itr_us:g} us: gaps from {first} ns to below {end} ns, the slots "
            f"of data/analysis/log_bins.py within {LIMIT_SHARE:.0%} of it"
        )
    return "\n\n".join(lines)


def _source(answer: RunAnswer, table: str, level: int | None) -> str:
    plan, facts = answer.plan, answer.facts
    cores = [facts.cores[at] for at in answer.chosen]
    if level is None:
        return window_rows_query(facts.files[table], cores, plan.from_ns, plan.to_ns)
    first, end = bins_between(facts.length_ns, level, plan.from_ns, plan.to_ns)
    return window_bins_query(facts.files["overview"], cores, level, first, end)

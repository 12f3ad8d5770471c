"""Text on how the numbers in view were computed, with SQL that selects the same rows."""

from typing import Final

from app.kit.lake_view import LakeView
from app.timeline.runs import answer_question, failure_sentence
from app.timeline.state import TimelineState
from data.analysis.log_bins import LIMIT_SHARE, slot_starts, slots_near
from data.queries.timeline import window_bins_query, window_intervals_query, window_rows_query
from data.timeline.alignment import ALIGNMENTS
from data.timeline.residency import RESIDENCIES
from data.timeline.window import RunAnswer
from data.timeline.window_plan import bins_between

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

"""How the numbers in view came about, in words and as SQL that gives the totals again."""

from typing import Final

from app.kit.lakes import LakeView
from app.timeline.answer import answer_question, failure_sentence
from app.timeline.payload import LIMIT_SHARE
from data.analysis.log_bins import slot_starts, slots_near
from data.timeline.question import Question
from data.timeline.window import RunAnswer
from data.timeline.window_plan import bins_between

_RULES: Final = """\
Windows are closed at their start and open at their end; the run's last instant belongs to a window
that ends with the run. Where bins are read, the window is widened to whole ones.

Rates are sums by time, IPC is instructions by cycles, busy share is ref_cycles by time-stamp ticks:
sums are divided once, for each drawn bin. The band is the least and the greatest behind it. Of what
samples count that is a rate between two consecutive samples of a core, which stands in every bin
from that of the first to that of the second. Of several cores drawn as one line, IPC and busy share
have the extremes of single cores; for rates that are added up (power of several packages,
instructions, misses, sleep states) the cores' extremes are added up as well, in each bin that was
read: the sum is never outside of that band, but need not reach its edges. Of interrupts a second
the band is the least and the most in a bin of the overview's finest level, all cores of the line
together; where the drawn bins are as fine as these there is none. Of bytes a second it is that of
the bins behind a drawn one, of bytes an interrupt the largest and, from rows, the smallest
interrupt.

A gap is the time between two interrupts of one core. The longest gap of a bin or window is the
longest of which any part lies in it, begun before it or ended behind it; the shortest, and the
distribution, are of the gaps that end in it. The mean gap is time times cores by interrupts: it is
not the mean over the gaps that end there, from which the window's two ends make it differ a little.

Counters are read about every millisecond. What was counted between two samples is shared out over
the time between them; rates are by the time that samples cover. The energy counter is a package's,
read through one of its cores."""


def explain_window(view: LakeView, question: Question) -> str:
    """Say how a window was answered.

    Raises:
        WattlasError: As `answer_run`, where none of the runs can be shown.
    """
    found = answer_question(view, question)
    found.shown()
    parts = [f"lake {view.lake.path.name}, version {view.version}", f"cores: {question.cores}"]
    parts += [found.window.clipped] if found.window.clipped else []
    for info, answer in found.pairs():
        if isinstance(answer, RunAnswer):
            parts.append(f"{info.label}\nrun {info.run_id}\n{_run_words(answer)}")
        else:
            parts.append(failure_sentence(info, answer))
    return "\n\n".join([*parts, _RULES]) + "\n"


def _run_words(answer: RunAnswer) -> str:
    plan, lines = answer.plan, []
    lines.append(f"from {plan.from_ns} to {plan.to_ns} ns after its start, {answer.rows_read} rows")
    lines.append("interrupts: " + _source(answer, "interrupts", plan.level))
    lines.append("counters: " + _source(answer, "samples", plan.counted))
    if itr_us := answer.facts.row["itr_us"]:
        first, end = slot_starts(slots_near(itr_us * 1e3, LIMIT_SHARE))
        lines.append(
            f"at the limit of {itr_us:g} us: gaps from {first} ns to below {end} ns, the slots of "
            f"data/analysis/log_bins.py that come within {LIMIT_SHARE:.0%} of it"
        )
    return "\n".join(lines)


def _source(answer: RunAnswer, table: str, level: int | None) -> str:
    plan, facts = answer.plan, answer.facts
    cores = ", ".join(str(facts.cores[at]) for at in answer.chosen)
    if level is None:
        path, where = facts.files[table], f"t_ns >= {plan.from_ns} AND t_ns < {plan.to_ns}"
    else:
        first, end = bins_between(facts.length_ns, level, plan.from_ns, plan.to_ns)
        path, where = facts.files["overview"], f"level = {level} AND bin >= {first} AND bin < {end}"
    return f"SELECT * FROM read_parquet('{path}') WHERE {where} AND core IN ({cores})"

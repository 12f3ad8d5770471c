"""The best settings in words: what was asked, the sentences that lead the page."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from app.explore.decided import DEFAULT_WORDS, is_unjudged
from app.explore.studies import MOST_CHOICES
from app.kit.words import configuration_words, knob_words, load_words, n_words, system_name
from data.catalogue import Catalogue
from data.metrics import SAME_WORK, Metric
from data.units import (
    MISSING,
    counted,
    format_digits,
    format_quantity,
    format_signed,
    format_signed_ends,
    lowered,
)

# A regret above it says that the data do not bound it.
MOST_REGRET_PCT: Final = 25.0
_MOST_SENTENCES: Final = 3


@dataclass(frozen=True, slots=True)
class Asked:
    """What the table answers.

    Attributes:
        cost, limited: The metrics of which a setting has the best value, and that has the limit.
        limit: In the unit of `limited`; None without one.
        against: Label of the system to compare with; empty for none.
        axes: The metrics along x and y, in which areas are compared.
        varying: Columns with several values in the study, which name a setting.
        catalogue: Columns of the lake.
        sd: Standard deviation of the cost where there is one setting alone; else None.
        has_negative_costs: Whether a run has a cost below 0: nothing is judged.
        guessed: Datasets of which it is a guess what was set: nothing is recommended of them.
        unstated: Datasets whose rows are means of an unstated number of runs.
    """

    cost: Metric
    limited: Metric
    limit: float | None
    against: str
    axes: tuple[Metric, ...]
    varying: Collection[str]
    catalogue: Catalogue
    sd: float | None = None
    guessed: frozenset[str] = frozenset()
    unstated: frozenset[str | None] = frozenset()
    has_negative_costs: bool = False

    @property
    def limit_words(self) -> str:
        """The limit as the start of a sentence: `Under 500 us`; empty without one."""
        if self.limit is None:
            return ""
        word = "At least" if self.limited.better == "more" else "Under"
        return f"{word} {format_quantity(self.limit, self.limited.unit)}"


def area_words(row: Mapping[str, Any], question: Asked) -> str:
    """Return the ratio of two areas as a sentence without its end, with the reference point."""
    name = row["system_label"] or row["system"]
    estimate, low, high = (format_digits(row[f"area{end}"]) for end in ("", "_low", "_high"))
    bounds = (
        f"{lowered(metric.title)} {'above' if metric.better == 'more' else 'below'} "
        f"{metric.noted(format_quantity(row[f'area_{axis}'], metric.unit), row['dataset'])}"
        for axis, metric in zip("xy", question.axes, strict=True)
    )
    return (
        f"{name} dominates {estimate} [{low}, {high}] times the area of {question.against} "
        f"({' and '.join(bounds)}, log axes)"
    )


def place_columns(rows: pl.DataFrame, question: Asked) -> list[str]:
    """Return the given knobs that differ between rows: what tells one choice from another.

    Of more choices than are judged those that differ between the runs count too.
    """
    of_runs = question.varying if len(rows) >= MOST_CHOICES else ()
    return [
        knob.column for knob in question.catalogue.knobs.values()
        if knob.is_given and (knob.column in of_runs or rows[knob.column].n_unique() > 1)
    ]  # fmt: skip


def place_words(row: Mapping[str, Any], place_names: Collection[str], question: Asked) -> str:
    """Return what was given, in words: `400k QPS · 64 B messages · haswell`."""
    parts = (
        knob_words(knob, row[knob.column])
        for knob in question.catalogue.knobs.values()
        if knob.column in place_names and knob.column not in ("load_qps", "message_bytes")
    )
    shown = "load_qps" in place_names or "message_bytes" in place_names
    load = load_words(row["load_qps"], row["message_bytes"]) if shown else ""
    return " · ".join(dict.fromkeys(filter(None, [load, *parts])))


def setting_words(row: Mapping[str, Any], question: Asked) -> str:
    given = {knob.column for knob in question.catalogue.knobs.values() if knob.is_given}
    return configuration_words(row, set(question.varying) - given, question.catalogue)


def decided_side(row: Mapping[str, Any], name: str) -> int:
    """Return -1 or 1 if an interval is below or above 0, else 0."""
    low, high = row[f"{name}_low_pct"], row[f"{name}_high_pct"]
    if high is not None and high < 0:
        return -1
    return 1 if low is not None and low > 0 else 0


def interval_words(row: Mapping[str, Any], name: str) -> str:
    """Return an estimate with its interval in brackets; an end that is not bounded is a dash."""
    estimate, low, high = (row[f"{name}{end}_pct"] for end in ("", "_low", "_high"))
    share = MISSING if estimate is None else format_signed(estimate)
    return f"{share} % {format_signed_ends(low, high, MISSING)}"


def kind_of_mean(row: Mapping[str, Any], name: str, unit: str) -> str:
    """Return `geometric mean` where the arithmetic mean, as pictures have it, reads otherwise."""
    pair = (format_quantity(row[each], unit) for each in (name, f"{name}_mean"))
    return "geometric mean" if row["n"] > 1 and len({*pair}) > 1 else ""


def mean_words(row: Mapping[str, Any], question: Asked) -> tuple[str, str]:
    """Return the cost, and its n: `18.1 J` and `(n = 7)`, or `(geometric mean, n = 7)`.

    The kind of mean is named where an arithmetic mean, as the pictures have it, reads otherwise; so
    is a doubt of the unit.
    """
    unit, doubt = question.cost.unit, question.cost.doubt_of(row["dataset"])
    value, kind = format_quantity(row["cost"], unit), kind_of_mean(row, "cost", unit)
    if row["is_unlike"]:
        spread = format_digits(row["spread"])
        kind = f"geometric mean, times or divided by {spread};"
        return f"about {value}", f"({', '.join(filter(None, [doubt, kind]))} n = {row['n']})"
    n = n_words([row["n"]], row["dataset"] in question.unstated)
    if row["equal_runs"]:
        n += f": {row['equal_runs']:,} runs with equal values"
    return value, f"({', '.join(filter(None, [doubt, kind, n]))})"


def percent(value: float) -> str:
    """Return a share in percent with three digits."""
    return f"{format_digits(value)} %"


def more_runs_words(more: int | None) -> str:
    """Return how many more runs would decide."""
    if more is None:
        return "over 100 more runs of each"
    return f"about {counted(more, 'more run')} of each"


def sentences(rows: pl.DataFrame, question: Asked) -> list[str]:
    """Return what the page concludes: one sentence a system at a load, three at most.

    The default's own row is none: it is what the others are compared with. What was run once comes
    last; rows of one setting beside no other prove least, and are one sentence below others.
    """
    is_of_several = len(rows) > 0 and rows["system"].n_unique() > 1
    told = [row | {"is_of_several": is_of_several} for row in rows.to_dicts()]
    told = [row for row in told if row["reason"] != DEFAULT_WORDS]
    told.sort(key=lambda row: (row["n"] == 1, row["settings"] == 1))
    compared = [row for row in told if row["settings"] > 1 or not _is_uncompared(row)]
    alone = len(told) - len(compared)
    is_folded = bool(compared) and alone > 1
    told = compared if is_folded else told
    given = {"load_qps", "message_bytes", *(place_columns(rows, question) if len(rows) else ())}
    listed = [_sentence(row, question, given) for row in told[:_MOST_SENTENCES]]
    if (more := len(told) - _MOST_SENTENCES) > 0:
        listed.append(f"{more} more in Best settings.{_most(told, question)}")
    if is_folded:
        listed.append(f"{alone:,} in Best settings have one setting: nothing to compare.")
    return listed


def _is_uncompared(row: Mapping[str, Any]) -> bool:
    """Return whether nothing is known of a row but its value."""
    is_compared = row["change_pct"] is not None or row["against_outcome"] is not None
    return not (is_compared or row["is_unlike"] or row["standing"] == "outside")


def _most(told: Sequence[Mapping[str, Any]], question: Asked) -> str:
    """Say which setting is recommended in over half of the choices among several; else nothing."""
    several = [r for r in told if r["settings"] > 1 and r["standing"] != "outside"]
    several = [r for r in several if not is_guessed(r, question)]
    counts = Counter(filter(None, (setting_words(row, question) for row in several)))
    setting, count = max(counts.items(), key=lambda each: each[1], default=("", 0))
    if count < 2 or 2 * count <= len(several):
        return ""
    return f" Recommended in {count} of {len(several)}: {setting}."


def _sentence(row: Mapping[str, Any], question: Asked, given: Collection[str]) -> str:
    name = system_name(row) or row["dataset"] or "the best setting"
    load = place_words(row, given, question)
    where = " at ".join(filter(None, [question.limit_words, load])) or ""
    if where and not question.limit_words:
        where = f"At {load}"
    start = f"{where}, {name}" if where else name
    what, setting = lowered(question.cost.title), setting_words(row, question)
    value, n = mean_words(row, question)
    if row["standing"] == "outside":
        nearest = format_quantity(row["limited"], question.limited.unit)
        nearest = question.limited.noted(nearest, row["dataset"])
        word = "highest" if question.limited.better == "more" else "lowest"
        named = f" ({setting})" if setting else ""
        limit = format_quantity(question.limit, question.limited.unit)
        load = f" at {load}" if load else ""
        return (
            f"No setting of {name} meets {limit}{load}: the {word} "
            f"{lowered(question.limited.title)} is {nearest}{named}."
        )
    if row["standing"] == "maybe" and _misses(row, question):
        limit = format_quantity(question.limit, question.limited.unit)
        count = row["members"] + row["members_once"]
        # What ran once, without noise to borrow, is not judged: its run may meet the limit.
        judged = " that ran twice" if row["unjudged"] else ""
        where = f"{limit} at {load}" if load else limit
        return (
            f"No setting of {name}{judged} meets {where} in the mean; "
            f"the runs of {counted(count, 'setting')} do not rule it out."
        )
    if question.limit is not None and row["limited"] is None:
        return f"{name}{f' at {load}' if load else ''} has no {lowered(question.limited.title)}."
    if 1 < row["settings"] == row["equals"] and row["change_pct"] is None:
        count = row["settings"]
        all_words = "both settings" if count == 2 else f"all {count:,} settings"
        return f"{start} has the same {what} at {all_words}: {value} {n}."
    if is_unjudged(row):
        return (
            f"{start} is not judged: the {row['n']:,} runs{setting and f' of {setting}'} are no "
            f"replicates, {what} {value} {n}."
        )
    if is_guessed(row, question) and setting and row["settings"] > 1 and row["change_pct"] is None:
        return f"{start} {_least_words(row, question, setting)}."
    parts = [_change_sentence(row, question, what, value, n), *_against_sentence(row, question)]
    if row["members"] and row["settings"] > 1:
        parts.append(_set_sentence(row))
    if setting and row["settings"] > 1:
        if row["equals"] > 1 and not row["members"]:
            parts.append(f"{row['equals']:,} settings have just this value")
        # One setting that was repeated proves nothing of those that were run once.
        recommended = f"recommended: {setting}{_caution(row, question)}"
        parts.append(f"its setting: {setting}" if _is_alone(row) else recommended)
    return f"{start} {'; '.join(parts)}."


def is_guessed(row: Mapping[str, Any], question: Asked) -> bool:
    """Return whether it is a guess what was set in the runs of a row."""
    return row["dataset"] in question.guessed


def _least_words(row: Mapping[str, Any], question: Asked, setting: str) -> str:
    """State which setting has the least, where it is a guess what was set."""
    most = "most" if question.cost.better == "more" else "least"
    value, n = mean_words(row, question)
    words = f"has its {most} {lowered(question.cost.title)} at {setting}: {value} {n}, "
    own = "its own " if row["is_of_several"] else ""
    words += f"among {own}{row['settings']:,} settings"
    # Lake says so of the same comparison.
    work = SAME_WORK if row["settings"] == 2 else SAME_WORK.replace("both", "all")
    words += f", {work}" if question.cost.is_total else ""
    if row["equals"] > 1:
        words += f", of which {row['equals']:,} have just this value"
    alike, others = row["members"] - 1, row["settings_twice"] - 1
    # A run of its own is not judged: nothing is told from it.
    if row["n"] >= 2 and alike > 0:
        some = "the other one" if others == 1 else f"{alike:,} of the {others:,} others"
        some = f"all {others:,} others" if 1 < alike == others else some
        words += f"; {some} measured at least twice cannot be told from it"
    return words


def _change_sentence(row: Mapping[str, Any], question: Asked, what: str, value: str, n: str) -> str:
    if row["change_pct"] is None:
        if row["settings"] == 1 and row["is_unlike"]:
            return f"has {row['n']:,} runs that no setting tells apart: {what} {value} {n}"
        if row["settings"] == 1 and question.sd is not None:
            mean, sd = (
                format_quantity(each, question.cost.unit)
                for each in (row["cost_mean"], question.sd)
            )
            sd = question.cost.noted(f"sd {sd}", row["dataset"])
            return f"has {row['n']:,} runs of one setting: mean {what} {mean}, {sd}"
        if row["settings"] == 1:
            return f"has one setting, with {what} {value} {n}"
        if _is_alone(row):
            return f"has {what} {value} {n}"
        if not row["is_least"]:
            return f"has {what} {value} at the setting to take {n}"
        best = "most" if question.cost.better == "more" else "least"
        if row["is_of_several"]:
            # What is its own least may be more than any other system takes.
            own = f"its own {counted(row['settings'], 'setting')}"
            return f"has the {best} {what} of {own} with {value} {n}"
        return f"has its {best} {what} with {value} {n}"
    side = decided_side(row, "change")
    n = f"(n = {row['n']} and {row['default_n']})"
    if not side:
        more = more_runs_words(row["default_more_runs"])
        return (
            f"is undecided against the default in {what}: {interval_words(row, 'change')} {n}, "
            f"{more} would decide"
        )
    estimate, low, high = (row[f"change{end}_pct"] for end in ("", "_low", "_high"))
    ends = [None if end is None else abs(end) for end in ((high, low) if side < 0 else (low, high))]
    span = ", ".join(MISSING if end is None else format_digits(end) for end in ends)
    size = f"{percent(abs(estimate))} [{span}]"
    if side < 0 and question.cost.better != "more":
        return f"saves {size} of the default's {what} {n}"
    return f"has {size} {'less' if side < 0 else 'more'} {what} than the default {n}"


def _against_sentence(row: Mapping[str, Any], question: Asked) -> list[str]:
    """Return how it compares with the system that the reader chose; empty without one."""
    interval = interval_words(row, "against")
    if row["against_outcome"] is None:
        return []
    if row["against_outcome"] == "undecided":
        more = more_runs_words(row["against_more_runs"])
        return [f"undecided against {question.against}: {interval}, {more} would decide"]
    if row["against_outcome"] == "equivalent":
        return [f"equivalent to {question.against}: {interval}"]
    return [f"against {question.against}: {interval}"]


def _set_sentence(row: Mapping[str, Any]) -> str:
    if row["settings_twice"] == 1:
        twice = "it is the only setting measured at least twice"
    elif row["members"] == 1:
        twice = f"it is the best of {row['settings_twice']:,} settings measured at least twice"
    else:
        twice = (
            f"{row['members']:,} of {row['settings_twice']:,} settings measured at least twice "
            "may be the best"
        )
    if row["members_once"]:
        twice += f", {row['members_once']:,} measured once cannot be ruled out"
    if row["unjudged"]:
        twice += f", {row['unjudged']:,} measured once cannot be judged"
    return twice


def _is_alone(row: Mapping[str, Any]) -> bool:
    """Return whether nothing was compared: one setting was repeated, others may be better."""
    return row["settings_twice"] == 1 and row["members_once"] + row["unjudged"] > 0


def _misses(row: Mapping[str, Any], question: Asked) -> bool:
    """Return whether the mean of the limited metric is beyond the limit."""
    if question.limit is None or row["limited"] is None:
        return False
    is_over = row["limited"] > question.limit
    return is_over if question.limited.better != "more" else row["limited"] < question.limit


def _caution(row: Mapping[str, Any], question: Asked) -> str:
    if row["n"] == 1:
        return f" ({n_words([1], row['dataset'] in question.unstated)}: unproven)"
    if row["standing"] == "maybe" and question.limit is not None:
        return " (which may miss the limit)"
    regret = row["regret_pct"]
    if regret is None or regret > MOST_REGRET_PCT:
        return " (these data do not bound its regret)"
    if regret and question.cost.better == "more":
        return f" (the best has at most {percent(regret)} more)"
    if regret:
        return f" (at most {percent(regret)} above the best)"
    return ""

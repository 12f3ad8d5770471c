"""A list of runs to make: what it asks of each setting, and its rows as CSV."""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from data.choices import Choice, Value
from data.units import counted

_COMMENT: Final = "# "
# Longer times are told in days.
_MOST_HOURS: Final = 72


@dataclass(frozen=True, slots=True)
class PlannedSetting:
    """What a list asks of one setting.

    Attributes:
        values: Columns of `runs` and their values, those of the scope too.
        words: The setting: `ITR 300 us, 1.3 GHz`.
        n: Runs that it has.
        more: Runs that it shall get.
        reason: `second run`, `decide`, `limit`, `baseline`, `explore`.
        change_pct: Of its mean against the best member's; None for the baseline and cells.
        minutes: That its runs take, by the durations in the lake; None if unknown or of a guessed
            unit.
    """

    values: Mapping[str, Value]
    words: str
    n: int
    more: int
    reason: str
    change_pct: float | None
    minutes: float | None


@dataclass(frozen=True, slots=True)
class NextRuns:
    """The runs that would decide one choice.

    Attributes:
        is_done: One member is left, or the recommended one costs within the margin at most more.
        settles: The list is likely to bring that; else it is a first round.
        needed: About how many runs are likely to bring it; None where 100 more of each setting are
            not, or nothing tells.
        members, members_once: Numbers of settings that may be the best, with two or more runs, and
            with one.
        settings: What is asked of each, in the order of the list.
        cells: Number of cells nobody measured that are worth two runs each.
        prediction_error_pct: Of the model that ranks cells; above 5 % it says too little.
        rows: Cells of the list: columns HEAD, in order.
        version: Of the lake that the list was made from.
        query: What was asked, in words.
        condition: What all settings must have in common for an end to mean anything, where nobody
            declared it; else empty.
        unjudged: Number of settings with one run for whose noise nothing tells.
    """

    choice: Choice
    is_done: bool
    settles: bool
    reason: str
    members: int
    members_once: int
    settings: tuple[PlannedSetting, ...]
    cells: int
    prediction_error_pct: float | None
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    seed: int
    version: int
    query: str
    needed: int | None = None
    condition: str = ""
    unjudged: int = 0

    @property
    def undecided(self) -> str:
        """Which settings may be the best, without an end."""
        once = f"{counted(self.members_once, 'setting')} measured once cannot be ruled out"
        if not self.members:
            return f"no setting was measured twice: {once}"
        if self.members == 1:
            words = "one setting is the best of those measured at least twice"
        else:
            words = f"{self.members:,} settings measured at least twice may be the best"
        return f"{words}; {once}" if self.members_once else words

    @property
    def runs(self) -> int:
        """Runs of the list, those of the baseline too."""
        return len(self.rows)

    @property
    def minutes(self) -> float | None:
        """Time that the runs take, by durations in the lake; None if one is unknown."""
        each = [setting.minutes for setting in self.settings]
        return None if any(m is None for m in each) else float(sum(m for m in each if m))

    @property
    def sentence(self) -> str:
        """`18 more runs (about 15 min) are likely to settle this: 6 of ITR 300 us ...`."""
        if self.is_done:
            condition = self.condition and f" {self.condition}"
            return f"No more runs are needed{condition}: {self.reason}."
        if not self.settings:
            return f"No runs to ask for: {self.reason}."
        minutes = self.minutes
        time = "" if minutes is None else f" ({time_words(minutes)})"
        asked = [f"{one.more} of {one.words}" for one in self.settings if one.reason != "explore"]
        listed, others = ", ".join(asked[:4]), len(asked) - 4
        if others > 0:
            listed += f", and of {counted(others, 'other')}"
        runs = f"{counted(self.runs, 'more run')}{time}"
        what = "likely to settle this" if self.settles else "a first round"
        text = f"{runs} {'is' if self.runs == 1 else 'are'} {what}: {listed}"
        if self.cells:
            cells = "cell is" if self.cells == 1 else "cells are"
            text += f"; {self.cells} unmeasured {cells} worth 2 runs each"
        if not self.settles and self.needed is not None:
            text += f"; about {self.needed:,} are likely to settle this"
        elif not self.settles and self.members > 1 and not self.unjudged:
            text += "; even 100 more of each setting are not likely to settle this"
        return f"{text}."

    def csv(self) -> str:
        """Return the list; its first line has the seed, the lake's version and the question."""
        out = io.StringIO()
        query = self.query.replace("\n", " ")
        out.write(f"{_COMMENT}seed {self.seed}, lake version {self.version}, {query}\n")
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return out.getvalue()


def time_words(minutes: float) -> str:
    """Return a time in its largest unit: `under 1 s`, `about 20 s`, `about 1.5 h`."""
    if 60 * minutes < 1:
        return "under 1 s"
    if minutes < 1:
        return f"about {60 * minutes:.0f} s"
    if minutes < 180:
        return f"about {minutes:.0f} min"
    hours = minutes / 60
    return f"about {hours:.1f} h" if hours < _MOST_HOURS else f"about {hours / 24:.0f} days"

"""What one column of a table is: a knob that was set, a metric that was measured, or a label.

The last word of a heading decides first (`power_limit` is a limit), then its unit, then its other
words, then its cells: what has few values that recur was set.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np

from data.declared import Role
from ingest.formats.json_cells import Cell
from ingest.settings.column_names import WORDS
from ingest.settings.headings import Heading, quantity_of, words_of

Better = Literal["less", "more"]
_UNSET: Final = frozenset({"", "nan", "-nan", "na", "n/a", "null", "none", "-"})
_SET: Final = WORDS["set"]
_MORE: Final = WORDS["more"]
_LESS: Final = WORDS["less"]
MEASURED: Final = _LESS | _MORE | WORDS["measured"]
STATISTICS: Final = WORDS["statistics"]
PLAIN_WORDS: Final = WORDS["plain"]
_IDENTIFIERS: Final = WORDS["identifiers"]
WHEN: Final = WORDS["times_of_day"]
_DATE: Final = re.compile(r"\d{4}[-/]\d\d[-/]\d\d([T ].*)?|\d\d?:\d\d(:\d\d.*)?")
# People set numbers of fewer digits: 15.473289489746094 was read from a machine.
_MOST_DIGITS: Final = 8
# Of so few rows no number recurs.
_FEW_ROWS: Final = 8
# Longer texts, and those of several lines, are what was asked or answered.
_MOST_LETTERS: Final = 80
# Of means: ends of intervals, deviations.
_BOUNDS: Final = ("ci", "ci95", "std", "stddev", "stdev", "stderr", "iqr")
# Seconds since 1970 from 2001 to 2096, in s, ms, us and ns.
_EPOCHS: Final = tuple((1e9 * scale, 4e9 * scale) for scale in (1, 1e3, 1e6, 1e9))
# What is better if there is more of it, of whatever it is.
_SAVINGS: Final = ("saving", "savings", "saved", "reduction", "improvement", "gain")
REMARK: Final = "a remark about the run"
MOST_VALUES: Final = 64
MOST_NAMES: Final = 200
FEW_VALUES: Final = "few values that recur"
_FEWEST_STEPS: Final = 4
# Amounts of work, alone or in an object: a size of nothing else; that of a batch was tuned.
_AMOUNT: Final = re.compile(r"(?:(?:param|config)\w* )?(?:size|n|input size)")
# So few fractions may be the steps of a knob.
MOST_STEPS: Final = 12


@dataclass
class Guess:
    """What a column is taken for.

    Attributes:
        to: Column of the lake; empty for one of its own.
        scale: Factor of its numbers.
        unit: Of a column of its own, as text.
        values: Replacements of cells.
        why: The evidence.
        is_dropped: Whether it has no value at all.
        is_given: Whether a knob is part of the question: what ran, how much of it.
        is_declared: Whether the settings say it already.
        name: Of a column of its own, whose heading is that of another column of the lake.
        doubt: What is doubted of its unit.
    """

    heading: Heading
    role: Role
    why: str
    kind: str = "real"
    to: str = ""
    scale: float = 1.0
    unit: str = ""
    better: Better | None = None
    values: dict[str, str] = field(default_factory=dict)
    wraps_at: float | None = None
    is_dropped: bool = False
    quantity: str = ""
    is_given: bool = False
    is_declared: bool = False
    name: str = ""
    doubt: str = ""
    numbers: np.ndarray = field(default_factory=lambda: np.empty(0))
    count: int = 0

    @property
    def own_scale(self) -> float:
        """The factor of the unit in the heading; 1 without one."""
        return self.heading.unit.scale if self.heading.unit else 1.0

    def aim(self, target: str, why: str = "") -> None:
        """Send the column to one of the lake; with an empty target back."""
        self.to, self.scale = target, self.own_scale if target else 1.0
        self.why += why


def guess_of(heading: Heading, cells: Sequence[Cell]) -> Guess:
    """Judge a column by its heading, then by its cells."""
    texts = [str(cell).strip() for cell in cells if cell is not None]
    texts = [text for text in texts if text.lower() not in _UNSET]
    counts = Counter(texts)
    numbers = _numbers(texts)
    if not texts:
        return Guess(heading, "label", "no cell has a value", is_dropped=True)
    kind = "text" if numbers is None else "real"
    if numbers is not None and all(re.fullmatch(r"-?\d+", text) for text in counts):
        kind = "whole"
    unit = heading.unit
    guess = Guess(heading, "label", "", kind, count=len(counts), unit=unit.text if unit else "")
    guess.quantity = quantity_of(heading)
    guess.numbers = np.empty(0) if numbers is None else numbers
    recurring = len(counts) <= MOST_VALUES and len(texts) >= 2 * len(counts)
    variety = f"{len(counts)} values in {len(texts):,} rows"
    is_set = is_measured(heading, guess.quantity) is False
    if len(counts) == 1 and len(texts) > 1 and (is_set or not _is_result(guess)):
        guess.why = "one value in all rows"
    elif numbers is None:
        _judge_text(guess, counts, len(texts), variety)
    elif _is_date(heading, guess):
        guess.why = "a time of day or a date"
    elif _is_index(heading, numbers):
        guess.why, guess.is_dropped = "the number of the row", True
    elif heading.has("pid", "tid") or (
        heading.has(*_IDENTIFIERS) and (not recurring or _counts_rows(numbers))
    ):
        guess.why = "a number of the row"
    elif guess.quantity == "frequency":
        guess.unit = guess.unit or _clock_unit(guess.numbers)
        is_set = not heading.has(*WORDS["read_clocks"]) and (recurring or kind == "whole")
        guess.role = "knob" if is_set and len(counts) <= MOST_VALUES else "metric"
        guess.why = f"a clock, {variety}"
    elif heading.has(*WORDS["loads"]) and kind == "whole" and recurring and _is_even(numbers):
        guess.role, guess.why = "knob", f"a load that was offered: {variety}"
    elif _is_progression(guess):
        guess.role, guess.why = "knob", f"whole numbers in even steps: {variety}"
    elif _is_counted(heading) and any("." in text.rstrip("0.") for text in counts):
        guess.role, guess.why = "metric", "fractions of what is counted in whole: means"
    elif is_measured(heading, guess.quantity) is True:
        guess.role, guess.why = "metric", _measured_why(heading)
        guess.better = _direction(guess)
    elif guess.quantity == "bytes" and heading.has(*STATISTICS) and len(counts) > MOST_STEPS:
        guess.role, guess.why = "metric", f"a statistic of more values than people set: {variety}"
    elif (
        _is_size_or_unsaid(heading) or guess.quantity == "bytes" or len(counts) == len(texts)
    ) and any(_digits(text) > _MOST_DIGITS for text in counts):
        guess.role, guess.why = "metric", f"numbers of more digits than people set: {variety}"
    elif kind == "real" and (
        (len(counts) == len(texts) > MOST_STEPS and not is_set)
        or (guess.quantity == "time" and not recurring)
    ):
        guess.role, guess.better = "metric", _direction(guess)
        guess.why = f"numbers of which none recurs: {variety}"
    elif (
        is_measured(heading, guess.quantity) is False
        and len(counts) <= MOST_NAMES
        and (recurring or _names_a_setting(heading) or len(texts) < _FEW_ROWS)
    ):
        word = next((word for word in reversed(heading.words) if word in _SET), heading.text)
        guess.role, guess.why = "knob", f"'{word}', {variety}"
    elif recurring:
        guess.role, guess.why = "knob", f"{FEW_VALUES}: {variety}"
    else:
        guess.role, guess.why = "metric", f"numbers that seldom recur: {variety}"
    is_amount = _AMOUNT.fullmatch(" ".join(heading.words)) is not None
    guess.is_given = guess.role == "knob" and (is_amount or heading.has(*WORDS["given"]))
    if guess.role == "knob" and numbers is not None and "-1" in counts and numbers.max() > 1:
        negative = [text for text in counts if text.startswith("-")]
        if negative == ["-1"]:
            guess.values = {"-1": "none"}
            guess.why += "; -1 is none"
    return guess


def _counts_rows(numbers: np.ndarray) -> bool:
    """Return whether numbers count the rows, in each of several parts of a table from one on."""
    steps = np.diff(numbers)
    begins = numbers[1:][steps != 1]
    return len(steps) > 1 and len(begins) <= len(steps) / 4 and bool(np.all(begins == numbers[0]))


def _names_a_setting(heading: Heading) -> bool:
    """Return whether the last word says what is set; the number of something may be a result."""
    return heading.words[-1] in (_SET | {"rate"}) - {"count", "number", "n", "num"}


def _is_index(heading: Heading, numbers: np.ndarray) -> bool:
    """Return whether a column without a heading counts the rows, as pandas writes an index."""
    is_unnamed = not heading.text or heading.text.startswith("Unnamed: ")
    return is_unnamed and bool(np.all(np.diff(numbers) == 1)) and numbers[0] in (0, 1)


def _is_size_or_unsaid(heading: Heading) -> bool:
    """Return whether no word says that a column was set; a size may be of a machine."""
    return not (_SET - {"size"}).intersection(heading.words)


def _digits(text: str) -> int:
    """Return how many digits a fraction has; 0 for a whole number."""
    whole, _, fraction = text.partition(".")
    return len(f"{whole}{fraction.rstrip('0')}".lstrip("-0")) if fraction.strip("0") else 0


def _is_even(numbers: np.ndarray) -> bool:
    """Return whether whole numbers are few steps of one size, as people choose them."""
    step = int(np.gcd.reduce(np.abs(numbers).astype(np.int64)))
    return step > 0 and float(numbers.max()) <= MOST_VALUES * step


def _is_counted(heading: Heading) -> bool:
    """Return whether a heading is of something that is counted in whole."""
    return heading.words[-1:] == ("tokens",) or heading.words[-2:] == ("batch", "size")


def _is_progression(guess: Guess) -> bool:
    """Return whether durations are whole steps of one size that all recur, as no measured ones."""
    if guess.kind != "whole" or not guess.heading.has("duration") or guess.count < _FEWEST_STEPS:
        return False
    values, counts = np.unique(guess.numbers, return_counts=True)
    steps = np.diff(values)
    return bool(np.all(steps == steps[0]) and values[0] == steps[0] > 1 and counts.min() > 1)


def names_machines(heading: Heading) -> bool:
    """Return whether a heading is of names of machines."""
    words = [word for word in heading.words if word not in ("id", "name")]
    return bool(words) and words[-1] in WORDS["machines"]


def _clock_unit(values: np.ndarray) -> str:
    """Return the unit in which clocks of processors and memories have such values."""
    most = float(values.max())
    return "Hz" if most >= 1e8 else "kHz" if most >= 1e5 else "MHz" if most >= 50 else "GHz"


def _numbers(texts: Sequence[str]) -> np.ndarray | None:
    try:
        values = np.array([float(text) for text in texts])
    except ValueError:
        return None
    # A text such as 007 is a name.
    if any(re.match(r"[-+]?0\d", text) or "_" in text for text in texts[:100]):
        return None
    return values


def _judge_text(guess: Guess, counts: Counter[str], rows: int, variety: str) -> None:
    heading = guess.heading
    dates = sum(count for text, count in counts.items() if _DATE.fullmatch(text))
    numbered = sum(count for text, count in counts.items() if text[0].isdigit())
    is_remark = heading.has(*WORDS["remarks"]) and not heading.has("model")
    is_remark = is_remark and not _is_state(heading, counts, rows)
    if 2 * dates > rows or (len(counts) == rows > 1 and heading.has(*WHEN)):
        guess.why = "a time of day or a date"
    elif 2 * numbered > rows and (
        guess.quantity in ("energy", "power", "time") or heading.words[-1:] == ("rss",)
    ):
        guess.why = "a measurement as a text"
    elif names_machines(heading) and 1 < len(counts) <= rows / 2:
        guess.role, guess.why = "knob", f"machines: {variety}"
    elif is_remark:
        guess.why = REMARK
    elif any("\n" in text or len(text) > _MOST_LETTERS for text in counts):
        guess.why = "texts of several words"
    elif heading.words[-2:] in (("run", "id"), ("job", "id"), ("session", "id")):
        guess.why = f"a name of a run: {variety}"
    elif (
        len(counts) > MOST_NAMES
        or (rows > 3 and len(counts) == rows and heading.has("id"))
        or (rows > 10 and 2 * len(counts) > rows and not heading.has(*_SET))
        or (heading.has(*_IDENTIFIERS) and 2 * len(counts) > rows)
    ):
        guess.why = f"a name of the row: {variety}"
    else:
        guess.role, guess.why = "knob", f"names: {variety}"


def _is_state(heading: Heading, counts: Counter[str], rows: int) -> bool:
    """Return whether texts are the state that was set, as `foreground`: no word is of an end."""
    ends = WORDS["failed"] | WORDS["succeeded"] | WORDS["states"]
    words = {word for text in counts for word in words_of(text)}
    return heading.words[-1:] == ("state",) and words.isdisjoint(ends) and len(counts) <= rows / 2


def _is_date(heading: Heading, guess: Guess) -> bool:
    if guess.kind == "text" or not len(guess.numbers):
        return False
    is_epoch = epoch_scale(guess.numbers) is not None
    named = heading.has("time", "timestamp", *WHEN)
    return heading.has("timestamp", "datetime", "date") or (named and is_epoch)


def epoch_scale(numbers: np.ndarray) -> float | None:
    """Return how many units a second numbers have that are times since 1970; None for others."""
    if not len(numbers):
        return None
    middle, spread = float(np.median(numbers)), float(np.ptp(numbers))
    scales = (low / 1e9 for low, high in _EPOCHS if low <= middle <= high)
    return next(scales, None) if spread < 0.2 * middle else None


def is_measured(heading: Heading, quantity: str) -> bool | None:
    """Return whether the heading says that its column was measured; None if it says nothing."""
    words = [word for word in heading.words if word not in PLAIN_WORDS | STATISTICS]
    last = words[-1] if words else ""
    if heading.has(*WORDS["limits"]):
        return False
    if heading.has("battery", "mean", "avg", "average", "median", *_BOUNDS):
        return True
    if quantity in ("energy", "power", "temperature", "voltage", "current", "charge", "rate"):
        return True
    if quantity == "price":
        return True
    if (quantity == "bytes" or heading.has("bytes", "disk")) and heading.has(*WORDS["moved"]):
        return True
    if last == "ratio" and {*words} & {"performance", "power", "energy", "hit", "miss"}:
        return True
    if last in _SET and last not in ("count", "number"):
        return False
    if last == "rate" and _SET & set(words):
        return False
    if last in MEASURED or quantity == "time":
        return not heading.has("timeout", "interval", "period", "setting", "target")
    if MEASURED & set(words):
        return True
    return False if _SET & set(words) else None


def _is_result(guess: Guess) -> bool:
    return guess.quantity in ("energy", "power", "time") and bool(np.any(guess.numbers > 0))


def _measured_why(heading: Heading) -> str:
    unit = f"unit {heading.unit.text}" if heading.unit else ""
    word = next((word for word in reversed(heading.words) if word in MEASURED), "")
    return " and ".join(filter(None, (f"'{word}'" if word else "", unit))) or "measured"


def _direction(guess: Guess) -> Better | None:
    heading, unit = guess.heading, guess.heading.unit
    if heading.words[-2:] == ("frame", "rate") or heading.has(*_SAVINGS):
        return "more"
    if heading.has(*_MORE) or (unit is not None and unit.quantity == "rate" and unit.text != "rpm"):
        return "more" if not heading.has("emissions", "misses", "errors") else "less"
    if heading.has("std", "stdev", "stddev", "sd", "var", "variance", "remaining"):
        return None
    if guess.quantity in ("energy", "power", "time", "price") or heading.has(*_LESS):
        return None if heading.has("usage") and not guess.quantity else "less"
    return None

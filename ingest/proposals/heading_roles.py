"""What a heading says alone: set or measured, which direction is better, names of machines."""

from typing import Final, Literal

from ingest.settings.column_names import WORDS
from ingest.settings.headings import Heading

Better = Literal["less", "more"]
SET: Final = WORDS["set"]
_MORE: Final = WORDS["more"]
_LESS: Final = WORDS["less"]
MEASURED: Final = _LESS | _MORE | WORDS["measured"]
STATISTICS: Final = WORDS["statistics"]
PLAIN_WORDS: Final = WORDS["plain"]
WHEN: Final = WORDS["times_of_day"]
# What is better if there is more of it, of whatever it is.
SAVINGS: Final = ("saving", "savings", "saved", "reduction", "improvement", "gain")


def is_measured(heading: Heading, quantity: str) -> bool | None:
    """Return whether the heading says that its column was measured; None if it says nothing."""
    words = [word for word in heading.words if word not in PLAIN_WORDS | STATISTICS]
    last = words[-1] if words else ""
    if heading.has(*WORDS["limits"]):
        return last in WORDS["compliance"]
    if heading.has("battery", "mean", "avg", "average", "median", *WORDS["spreads"]):
        return True
    if quantity in ("energy", "power", "temperature", "voltage", "current", "charge", "rate"):
        return True
    if quantity == "price":
        return True
    if (quantity == "bytes" or heading.has("bytes", "disk")) and heading.has(*WORDS["moved"]):
        return True
    if last == "ratio" and {*words} & {"performance", "power", "energy", "hit", "miss"}:
        return True
    if last in SET and last not in ("count", "number"):
        return False
    if last == "rate" and SET & set(words):
        return False
    if last in MEASURED or quantity == "time":
        return not heading.has("timeout", "interval", "period", "setting", "target")
    if MEASURED & set(words):
        return True
    return False if SET & set(words) else None


def direction_of(heading: Heading, quantity: str) -> Better | None:
    """Return whether less or more of what was measured is better; None if nothing says it."""
    unit = heading.unit
    if heading.has("remaining", "gap", "sampling", *WORDS["spreads"]):
        return None
    if heading.words[-2:] == ("frame", "rate") or heading.has(*SAVINGS):
        return "more"
    if heading.has(*_MORE) or (unit is not None and unit.quantity == "rate" and unit.text != "rpm"):
        return "more" if not heading.has("emissions", "misses", "errors") else "less"
    if quantity in ("energy", "power", "time", "price") or heading.has(*_LESS):
        return None if heading.has("usage") and not quantity else "less"
    return None


def is_spread(heading: Heading) -> bool:
    """Whether a column holds deviations or extremes of another quantity."""
    return heading.has(*STATISTICS, "error", "uncertainty")


def names_machines(heading: Heading) -> bool:
    """Return whether a heading is of names of machines."""
    words = [word for word in heading.words if word not in ("id", "name")]
    return bool(words) and words[-1] in WORDS["machines"]


def is_counted(heading: Heading) -> bool:
    """Return whether a heading is of something that is counted in whole."""
    return heading.words[-1:] == ("tokens",) or heading.words[-2:] == ("batch", "size")


def names_a_setting(heading: Heading) -> bool:
    """Return whether the last word says what is set; the number of something may be a result."""
    return heading.words[-1] in (SET | {"rate"}) - {"count", "number", "n", "num"}

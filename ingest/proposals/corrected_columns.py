"""What a column of a proposal is said to be after a person's word: a role, a unit, a direction."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from data.catalogue import SHIPPED
from data.declared import Column
from data.errors import SettingsError
from data.schema import KNOBS, MEASUREMENTS
from ingest.formats.table_columns import OF_TABLE
from ingest.settings.headings import read_heading, without_unit
from ingest.settings.tables import target_kinds
from ingest.settings.units import unit_of

ROLES: Final = ("knob", "given", "metric", "label")
DIRECTIONS: Final = ("less", "more")
# Columns of the lake that a column may be; `replicate` is one.
TARGETS: Final = target_kinds({})
# What stands before the columns that a person corrected in what was guessed.
BY_HAND: Final = "corrected by hand"
_LISTS: Final = ("set", "measured", "labels")
# What a column has as a metric or as one of the lake, and as no other.
_OF_METRICS: Final = ("to", "drop", "scale", "scale_by", "wraps_at", "better", "given")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a proposal says what a column is.

    Attributes:
        at: Number of the paragraph.
        name: The heading as it is written, or the group of a pattern.
        table: A file that has the column.
        said: What the line of the heading says; None for a part of paths.
    """

    at: int
    name: str
    table: str
    said: Mapping[str, Any] | None

    @property
    def aim(self) -> str:
        """The column of the lake or the section that it goes to; empty for one of its own."""
        return self.name if self.said is None else str(self.said.get("to", ""))

    @property
    def names(self) -> set[str]:
        """What the column is called: the heading, without its unit, and its name in the lake."""
        said = self.said or {}
        return {self.name, without_unit(self.name)} | {said[k] for k in ("to", "name") if k in said}


def kind_of(word: str) -> str:
    is_role = word in ROLES or word in TARGETS
    return "role" if is_role else "better" if word in DIRECTIONS else "unit"


def is_like(said: Mapping[str, Any], there: Column) -> bool:
    own = said["role"], said.get("unit") or "", said.get("better"), bool(said.get("given"))
    return own == (there.role, there.unit, there.better, there.is_given)


def preference_of(name: str) -> tuple[bool, bool, str]:
    return not name.startswith("latency_"), name != "duration_s", name


def role_in(said: Mapping[str, Any]) -> str:
    """Return what a column is taken for: a role, a column of the lake, or `left out`."""
    to = said.get("to", "")
    if said.get("drop"):
        return "left out"
    if to:
        return "knob" if to in KNOBS else "metric" if to in MEASUREMENTS else str(to)
    return "given" if said.get("given") else str(said.get("role", "label"))


def changed(said: Mapping[str, Any], word: str, place: Place) -> dict[str, Any]:
    """Return what is to be said of a column that a word corrects.

    Raises:
        SettingsError: It cannot be that.
    """
    after = {key: value for key, value in said.items() if key not in ("doubt", "instead")}
    is_path, role, to = place.said is None, role_in(said), said.get("to", "")
    if is_path and (word in ("metric", *DIRECTIONS) or word in MEASUREMENTS):
        raise SettingsError(f"{place.name} is a part of paths: it is set or a label, no {word}")
    if word in ROLES:
        kept = {key: value for key, value in after.items() if key not in _OF_METRICS}
        better = said.get("better") if word == role == "metric" else None
        more = {"role": "knob" if word == "given" else word, "given": word == "given"}
        fresh = _of_its_own(place) if (to or "drop" in said) and not is_path else {}
        return {**kept, **fresh, **more, "better": better}
    stated = unit_of(str(said.get("unit", ""))) or read_heading(place.name).unit
    if word in TARGETS:
        scale = _scale(word, stated.text, place) if word in MEASUREMENTS and stated else 1.0
        return {"to": word, "scale": scale if scale != 1.0 else None, "values": said.get("values")}
    if word in DIRECTIONS:
        if role != "metric" or to:
            what = f"goes to {to}, whose direction is known" if to else f"is a {role}, no metric"
            raise SettingsError(f"{place.name} of {place.table} {what}: it cannot be {word}")
        return {**after, "better": word}
    if to:
        scale = _scale(to, word, place)
        return {**after, "scale": scale if scale != 1.0 else None}
    if role not in ("metric", "knob", "given"):
        raise SettingsError(f"{place.name} of {place.table} is a {role}, which has no unit {word}")
    unit = unit_of(word)
    return {**after, "scale": None, "unit": unit.text if unit else word}


def _scale(to: str, word: str, place: Place) -> float:
    """Return the factor from a unit to that of a column of the lake.

    Raises:
        SettingsError: They are of two quantities.
    """
    metric, unit = SHIPPED.metrics.get(to), unit_of(word)
    base = unit_of(metric.unit) if metric is not None else None
    if base is None or unit is None or unit.quantity != base.quantity:
        shown = f"in {metric.unit}" if metric is not None and metric.unit else "without a unit"
        raise SettingsError(
            f"{place.name} of {place.table} cannot be {to} in {word}: {to} is {shown}"
        )
    return float(f"{unit.scale / base.scale:.12g}")


def _of_its_own(place: Place) -> dict[str, str]:
    """Return name and unit of a column that was one of the lake's, or none."""
    unit, bare = read_heading(place.name).unit, without_unit(place.name)
    name = f"{bare}{OF_TABLE}" if bare in TARGETS else bare
    return {"name": name if name != place.name else "", "unit": unit.text if unit else ""}


def retold(told: Iterable[str], name: str, corrected: Mapping[str, str]) -> tuple[str, list[str]]:
    """Move a column in what a table is told to be, such as `set: threads (4)`, to what was
    corrected by hand.

    Returns:
        What it was told to be; empty where the lines are cut. The lines.
    """
    item = re.compile(rf"(?:(?<=: )|, ){re.escape(name)}(?: \([^()]*\))?(?=, |$)")
    was, kept = "", list[str]()
    for line in told:
        kind = line.partition(": ")[0]
        if kind in _LISTS and (found := item.search(line)):
            was = was or f"{kind}: {found[0].removeprefix(', ')}"
            left = item.sub("", line).replace(": , ", ": ").partition(": ")[2]
            kept += [f"{kind}: {left}"] if left and not left.startswith("from the ") else []
        elif kind != BY_HAND:
            kept.append(line)
    said = ", ".join(f"{column} ({words})" for column, words in corrected.items())
    return was, [*kept, f"{BY_HAND}: {said}"]

"""Small multiples: which part of the runs each panel of a picture has.

Each part is drawn by the view as if it were the page; `joined.py` makes one figure of theirs.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from app.kit.competitors import ordered_values, words_of
from app.kit.words import workload_title
from data.analysis.coded_rows import Part
from data.knobs import Knob
from data.selection import Selection, Value

# More panels are too small to read; those of the first values are drawn.
MOST_PANELS: Final = 12
# A picture without panels; and panels where the filters choose several loads or message sizes.
NONE: Final = "none"
AUTO: Final = "auto"
# Values without a panel that the subtitle names.
_NAMED: Final = 3


def split_name(split: str, selection: Selection, taken: Collection[str | None] = ()) -> str:
    """Return the knob of the panels, or `none`, for what a state says.

    Args:
        taken: Knobs that the picture shows in another way, which need no panels.
    """
    if split != AUTO:
        return NONE if split in taken else split
    several = (name for name in ("load", "message") if len(selection.values(name)) > 1)
    return next((name for name in several if name not in taken), NONE)


def split_titles(knobs: Mapping[str, str]) -> dict[str, str]:
    """Return the entries of a menu of the panels' knob, by name: `auto`, `none`, and some knobs."""
    return {AUTO: "chosen loads", NONE: "none", **knobs}


@dataclass(frozen=True, slots=True)
class Split:
    """A knob and those of its values that have a panel.

    Attributes:
        values: In order, at most MOST_PANELS.
        left_out: Further values, which have no panel.
        labels: System to its label.
        workloads: Those of each panel's rows.
    """

    knob: Knob
    values: tuple[Value | None, ...]
    left_out: tuple[Value | None, ...]
    labels: Mapping[str, str]
    workloads: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, rows: Part, knob: Knob) -> "Split":
        """Split rows with the knob's column, `system`, `system_label` and `workload`."""
        values = ordered_values(knob, rows.values(knob.column))
        labels = dict(rows.combinations(("system", "system_label")))
        shown = tuple(values[:MOST_PANELS])
        pairs = [(value, str(name)) for value, name in rows.combinations((knob.column, "workload"))]
        workloads = tuple(
            tuple(sorted(name for own, name in pairs if own == value)) for value in shown
        )
        return cls(knob, shown, tuple(values[MOST_PANELS:]), labels, workloads)

    def only(self, is_there: Sequence[bool]) -> "Split":
        """Return the split without the values of which nothing can be drawn."""
        kept = [i for i, is_one in enumerate(is_there) if is_one]
        values = tuple(self.values[i] for i in kept)
        names = tuple(self.workloads[i] for i in kept)
        return replace(self, values=values, workloads=names)

    @property
    def titles(self) -> list[str]:
        """The title of each panel: `400k QPS`, `NetPIPE, 64 B` of several workloads."""
        value_labels = words_of(self.knob, self.values, self.labels)
        if len({name for names in self.workloads for name in names}) < 2:
            return value_labels
        named = [[workload_title(name) for name in names] for names in self.workloads]
        return [
            title if value is None else f"{title}, {text}"
            for title, text, value in zip(
                map(" and ".join, named), value_labels, self.values, strict=True
            )
        ]

    def parts(self, rows: Part) -> list[Part]:
        """Return the rows of each panel, in the order that they have."""
        column = rows.codes(self.knob.column)
        numbers = {value: number for number, value in enumerate(column.values)}
        own = (np.flatnonzero(column.codes == numbers.get(value, -1)) for value in self.values)
        return [rows.taken(numbers) for numbers in own]

    def narrow(self, selection: Selection, value: Value | None) -> Selection:
        """Return the filters of one panel."""
        return selection.with_values(self.knob.facet, [self._chosen(value)])

    def _chosen(self, value: Value | None) -> Value:
        return self.knob.facet.null_word if value is None else value

    def words(self) -> str:
        """Return which values have no panel; empty if all have one."""
        if not self.left_out:
            return ""
        named = words_of(self.knob, self.left_out, self.labels)
        more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
        return f"{', '.join(named[:_NAMED])}{more} not drawn; filter to see them"

    def links(self) -> list[dict[str, Any]]:
        """Return of each panel the filter that makes it the page."""
        facet = self.knob.facet.name
        return [{"facet": facet, "value": self._chosen(value)} for value in self.values]

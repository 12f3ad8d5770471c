"""Energy of an item of work: of each frame, token or request that the runs of a dataset counted.

A dataset may state the energy of a run and how many frames it processed, but not their ratio. Runs
that last equally long and process unlike numbers of frames can only be compared by that ratio, so
it is a column of the view `runs` that follows from two others.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from data.declared import Column, Declared

# Items of work. Samples are none: a meter counts them too.
_ITEMS: Final = {
    "frames": "frame", "images": "image", "inferences": "inference", "items": "item",
    "iterations": "iteration", "jobs": "job", "messages": "message", "operations": "operation",
    "ops": "operation", "packets": "packet", "prompts": "prompt", "queries": "query",
    "records": "record", "requests": "request", "tasks": "task", "tokens": "token",
    "transactions": "transaction",
}  # fmt: skip
_PLURALS: Final = {item: plural for plural, item in reversed(_ITEMS.items())}
_NUMBER: Final = frozenset(["n", "nb", "no", "num", "number", "count", "counts"])
# What a count may say besides: that it is of the whole run.
_WHOLE: Final = frozenset(
    ["of", "total", "all", "completed", "done", "executed", "generated", "processed", "served"]
)
# What a count of the work that failed says.
_FAILED: Final = frozenset(["errors", "failed", "failures", "timeouts", "unsuccessful"])
# Units of an energy for each request, image, 1k tokens and the like.
ENERGY_OF_ITEM: Final = re.compile(r"([kMmun]?J|[kMm]?Wh)/(\d+[kM]? )?[a-z]\w*")


@dataclass(frozen=True, slots=True)
class WorkItem:
    """A column with the energy of an item.

    Attributes:
        sql: Its formula over `runs`.
    """

    column: Column
    sql: str


def item_counted(name: str) -> str:
    """Return the item that a column counts by its name: `frame` for `n_frames`; else empty."""
    words = name.lower().split("_")
    plurals = [word for word in words if word in _ITEMS]
    is_number = not _NUMBER.isdisjoint(words)
    items = plurals or [word for word in words if word in _PLURALS and is_number]
    if len(items) != 1 or set(words) - {*items} - _NUMBER - _WHOLE:
        return ""
    return _ITEMS.get(items[0], items[0])


def work_items(columns: Declared) -> tuple[WorkItem, ...]:
    """Return the energies of items that follow from the columns of a lake.

    A run that counts several kinds of items has none, as nothing tells which is its work; nor has
    one with an energy of an item that its dataset states.
    """
    metrics = [c for c in columns if c.role == "metric"]
    stated = [c.name for c in metrics if ENERGY_OF_ITEM.fullmatch(c.unit)]
    counts = {c.name: item_counted(c.name) for c in metrics if not c.unit}
    taken = {column.name for column in columns}
    found = []
    for item in sorted({*counts.values()} - {""}):
        own = [name for name in counts if counts[name] == item]
        others = [*(name for name in counts if counts[name] not in (item, "")), *stated]
        column = _column(item, own)
        if column.name not in taken:
            amount = f"nullif(coalesce({', '.join(own)}), 0)::DOUBLE"
            alone = " AND ".join(f"{name} IS NULL" for name in others)
            sql = f"energy_j / {amount}"
            found.append(WorkItem(column, f"CASE WHEN {alone} THEN {sql} END" if alone else sql))
    return tuple(found)


def counts_of_work(columns: Declared) -> tuple[str, ...]:
    """Return the columns that count the items of work that a run did, such as its tokens."""
    metrics = (c for c in columns if c.role == "metric" and not c.unit)
    return tuple(column.name for column in metrics if item_counted(column.name))


def counts_of_failures(columns: Declared) -> tuple[str, ...]:
    """Return the columns that count what failed of the work of a run, such as its requests."""
    found = []
    for column in (each for each in columns if each.kind != "text" and not each.unit):
        words = {*column.name.split("_")}
        is_plural = not words.isdisjoint({*_ITEMS, "errors", "failures", "timeouts"})
        if is_plural and words & _FAILED and words <= {*_ITEMS} | _FAILED | _NUMBER | _WHOLE:
            found.append(column.name)
    return tuple(found)


def _column(item: str, counts: Sequence[str]) -> Column:
    return Column(
        f"energy_per_{item}_j", "metric", "real", f"Energy per {item}", f"J/{item}", f"J/{item}",
        "less", description=f"Derived: energy over {' or '.join(counts)}.",
    )  # fmt: skip

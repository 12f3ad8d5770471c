"""Groups of runs for one fit: all knobs are equal except those that an energy sweep varies."""

from typing import Any, Final

import polars as pl

from app.kit.competitors import value_words
from app.kit.encodings import OKABE_ITO, SYMBOLS, system_order, system_style
from app.kit.words import WORKLOAD_TITLES
from data.declared import Names, further_knobs
from data.knobs import KNOBS

# Frequency, interrupt delay, power limit and load vary within a group; the models explain them.
GROUP: Final = Names(
    lambda columns: (
        "dataset", "workload", "system", "mode", "message_bytes", "request_bytes", "io_depth",
        "threads", "rw", "device", "machine", *further_knobs(columns),
    )
)  # fmt: skip


def with_groups(rows: pl.DataFrame, labels: dict[str, str]) -> pl.DataFrame:
    """Add the column `group`: a label of the knobs of GROUP that vary among the rows.

    A label leaves out knobs that are NULL.

    Args:
        rows: Rows with the columns of GROUP.
        labels: System to its label.
    """
    found = rows.select(GROUP).unique(maintain_order=True)
    varying = [name for name in GROUP if name != "system" and found[name].n_unique() > 1]
    knobs = {knob.column: knob for knob in KNOBS.values()}

    def label(row: dict[str, Any]) -> str:
        words = [labels.get(str(row["system"])) or str(row["system"])]
        for name in varying:
            value = row[name]
            if value is None:
                continue
            if name in knobs:
                words.append(value_words(knobs[name], value, labels))
            else:
                words.append(WORKLOAD_TITLES.get(str(value), str(value)))
        return " · ".join(words)

    named = found.with_columns(
        group=pl.Series([label(r) for r in found.to_dicts()], dtype=pl.String)
    )
    return rows.join(named, on=list(GROUP), how="left", nulls_equal=True, maintain_order="left")


def group_styles(rows: pl.DataFrame) -> dict[str, dict[str, str]]:
    """Return symbol and hue by group: those of the system if each system is one group."""
    pairs = rows.select("group", "system").unique().sort("group").rows()
    systems = [str(system) for _, system in pairs]
    order = {system: i for i, system in enumerate(system_order(systems))}
    found = {}
    for i, (group, system) in enumerate(sorted(pairs, key=lambda p: (order[str(p[1])], p[0]))):
        if len(set(systems)) == len(systems):
            symbol, hue = system_style(str(system), systems)
        else:
            hue = OKABE_ITO[i % len(OKABE_ITO)]
            symbol = SYMBOLS[(i + i // len(OKABE_ITO)) % len(SYMBOLS)]
        found[str(group)] = {"symbol": symbol, "hue": hue}
    return found

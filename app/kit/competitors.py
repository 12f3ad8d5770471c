"""Colours and labels of competitors, the same in all views."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import polars as pl

from app.kit.encodings import (
    GOVERNOR_HUE,
    NUMBER_HUES,
    OKABE_ITO,
    SYMBOLS,
)
from data.catalogue import SHIPPED, Catalogue
from data.knobs import Knob
from data.selection import POLLING, Value, unset_itr

# The systems of the published study have fixed hues; others get the rest in the order of names.
_KNOWN_SYSTEMS: Final = ("linux_tuned", "ebbrt_tuned", "linux_default")
# Fixed colours of the completion modes, on all pages.
MODE_HUES: Final = {"interrupt": OKABE_ITO[0], "poll": OKABE_ITO[1], "hybrid": OKABE_ITO[2]}
TIE_GREY: Final = "#B4BAC1"
DIFFER_HUE: Final = "#D9C79A"
UNSET_HUE: Final = "#8C8C8C"
# Of names that no hue is left for: names have no order, so no scale either.
OTHER_HUE: Final = "#8A8272"
DEFAULT_HUE: Final = "#7A6A9B"
# Words of columns with the names of models.
_MODELS: Final = frozenset({"model", "models", "llm"})
LEGEND_MAX: Final = 7
# Values along an axis of a map; of more numbers it has bins, of more names the first by a rank.
MOST_LEVELS: Final = 40
_NAMES_DRAWN: Final = 16


@dataclass(frozen=True, slots=True)
class Competitors:
    """The competitors of one map, in legend order.

    Attributes:
        values: Their knob values; None is NULL.
        labels: Their labels in legends and texts.
        hues: Colours as `#rrggbb`.
        symbols: Plotly symbols; systems and modes have the same symbol on all pages.
        is_scaled: Whether the colours are samples of one scale instead of distinct hues.
    """

    knob: Knob
    values: tuple[Value | None, ...]
    labels: tuple[str, ...]
    hues: tuple[str, ...]
    symbols: tuple[str, ...]
    is_scaled: bool

    def __len__(self) -> int:
        return len(self.values)

    def with_one(self, value: Value, label: str, hue: str) -> "Competitors":
        """Return these and a last one, such as the default."""
        return replace(
            self,
            values=(*self.values, value),
            labels=(*self.labels, label),
            hues=(*self.hues, hue),
            symbols=(*self.symbols, SYMBOLS[len(self) % len(SYMBOLS)]),
        )

    @property
    def has_legend(self) -> bool:
        """Whether a legend names the competitors; otherwise a scale does."""
        return len(self) <= LEGEND_MAX or not self.is_scaled

    @property
    def legend(self) -> list[tuple[str, str, str, tuple[int, ...]]]:
        """Label, hue, symbol and indices of each entry: of many names `9 others` is the last."""
        each: list[tuple[str, str, str, tuple[int, ...]]] = [
            (label, hue, symbol, (at,))
            for at, (label, hue, symbol) in enumerate(
                zip(self.labels, self.hues, self.symbols, strict=True)
            )
        ]
        if not self.has_legend:
            return [each[0], each[-1]]
        others = tuple(at for at, hue in enumerate(self.hues) if hue == OTHER_HUE)
        if len(others) < 2:
            return each
        named = [entry for entry in each if entry[1] != OTHER_HUE]
        return [*named, (f"{len(others)} others", OTHER_HUE, "circle", others)]


def competitors_of(
    knob: Knob,
    values: Sequence[Value | None],
    systems: Sequence[str],
    system_labels: Mapping[str, str],
    first: Sequence[Value | None] = (),
) -> Competitors:
    """Sort, label and colour the values of a competing knob.

    Args:
        values: The measured values, each once.
        systems: All systems of the lake, so that a system keeps its hue under any filter.
        system_labels: System to its label.
        first: Values that get a hue before others, where there are more names than hues.
    """
    ordered = ordered_values(knob, values)
    is_scaled = not knob.is_name
    hues = scale_hues(ordered) if is_scaled else _hues(knob, ordered, systems, first)
    labels = tuple(value_label(knob, value, system_labels) for value in ordered)
    symbols = tuple(_symbol(knob, v, i, systems) for i, v in enumerate(ordered))
    return Competitors(knob, tuple(ordered), labels, tuple(hues), symbols, is_scaled)


def system_order(systems: Iterable[str]) -> list[str]:
    """Sort systems in the order of their symbols: the published study's first, then by name."""
    found = set(systems)
    known = [s for s in _KNOWN_SYSTEMS if s in found]
    return known + sorted(found - set(known))


def system_style(system: str, systems: Iterable[str]) -> tuple[str, str]:
    """Return a system's symbol and hue; those of the published study are fixed."""
    if system in _KNOWN_SYSTEMS:
        index = _KNOWN_SYSTEMS.index(system)
    else:
        others = sorted(set(systems) - set(_KNOWN_SYSTEMS))
        index = len(_KNOWN_SYSTEMS) + (others.index(system) if system in others else 0)
    # The seventh system has the hue of the first and another symbol.
    turn = index + index // len(OKABE_ITO)
    return SYMBOLS[turn % len(SYMBOLS)], OKABE_ITO[index % len(OKABE_ITO)]


def mode_label(mode: str) -> str:
    """Return the name of a completion mode."""
    return SHIPPED.knobs["mode"].label(mode)


def value_label(knob: Knob, value: Value | None, system_labels: Mapping[str, str]) -> str:
    """Return the label of a knob's value: systems by their labels, numbers with their unit."""
    if knob.name == "system" and value is not None:
        return system_labels.get(str(value)) or str(value)
    if knob.name == "itr" and value is None:
        return unset_itr(system_labels)
    return knob.label(value) + (f" {knob.unit}" if knob.unit and value is not None else "")


def axis_labels(
    knob: Knob, values: Iterable[Value | None], system_labels: Mapping[str, str]
) -> list[str]:
    """Return the labels of a knob's values along an axis, whose title has the unit."""
    return [
        knob.label(value)
        if knob.unit and value is not None
        else value_label(knob, value, system_labels)
        for value in values
    ]


def itr_words(systems: Iterable[str | None]) -> str:
    """Return the interrupt delay, where it is not set, of runs of some systems."""
    word = unset_itr(systems)
    return word if word == POLLING else f"ITR {word}"


def value_words(knob: Knob, value: Value | None, system_labels: Mapping[str, str]) -> str:
    """Return a knob's value for a sentence: `classic polling`, `ITR 2 us`, `no device`."""
    return words_of(knob, [value], system_labels)[0]


def words_of(
    knob: Knob, values: Iterable[Value | None], system_labels: Mapping[str, str]
) -> list[str]:
    """Return values of a knob as `value_words`."""
    if knob.name == "system":
        return [
            knob.words(None) if value is None else value_label(knob, value, system_labels)
            for value in values
        ]
    unset = itr_words(system_labels) if knob.name == "itr" else knob.words(None)
    return [unset if value is None else knob.words(value) for value in values]


def readable_on(hue: str) -> str:
    """Return black or white, whichever has more contrast with a colour.

    Source: WCAG 2.2, relative luminance and contrast ratio.
    """
    channels = np.array([int(hue[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ [0.2126, 0.7152, 0.0722])
    return "#000000" if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "#ffffff"


def ordered_values(knob: Knob, values: Sequence[Value | None]) -> list[Value | None]:
    """Sort a knob's distinct values for legends and axes; NULL last."""
    known = [v for v in values if v is not None]
    if knob.name == "system":
        first: Sequence[Value] = system_order(str(v) for v in known)
    elif knob.name == "mode":
        modes = list(MODE_HUES)
        first = sorted(known, key=lambda v: (modes.index(str(v)) if v in modes else 9, str(v)))
    else:
        first = sorted(known)
    return [*first, *([None] if len(known) < len(values) else [])]


def legible(cells: pl.DataFrame, knob: Knob, rank: pl.Expr, name: str = "") -> pl.DataFrame:
    """Return the cells of the names that an axis has room for; of a knob of numbers all.

    Args:
        rank: The names with the highest values of it are kept, of equal ones the first.
        name: Column with the indices of the knob's values; without it they are in its own column.
    """
    name = name or knob.column
    if knob.facet.is_number or cells[name].n_unique() <= MOST_LEVELS:
        return cells
    ranked = cells.group_by(name).agg(rank.max().alias("rank"))
    kept = ranked.sort("rank", name, descending=[True, False], nulls_last=True)[name][:_NAMES_DRAWN]
    return cells.filter(pl.col(name).is_in(kept.to_list(), nulls_equal=True))


def _symbol(knob: Knob, value: Value | None, index: int, systems: Sequence[str]) -> str:
    if knob.name == "system" and value is not None:
        return system_style(str(value), systems)[0]
    if knob.name == "mode" and value in MODE_HUES:
        index = list(MODE_HUES).index(str(value))
    return SYMBOLS[index % len(SYMBOLS)]


def _hues(
    knob: Knob,
    values: Sequence[Value | None],
    systems: Sequence[str],
    first: Sequence[Value | None],
) -> list[str]:
    if knob.name == "system":
        return [UNSET_HUE if v is None else system_style(str(v), systems)[1] for v in values]
    fixed = MODE_HUES if knob.name == "mode" else {}
    free = [hue for hue in OKABE_ITO if hue not in fixed.values()]
    ranked = [v for v in dict.fromkeys((*first, *values)) if v is not None and v not in fixed]
    chosen = sorted(ranked[: len(free)], key=values.index)
    hues = fixed | dict(zip(map(str, chosen), free, strict=False))
    return [UNSET_HUE if v is None else hues.get(str(v), OTHER_HUE) for v in values]


def scale_hues(values: Sequence[Value | None]) -> list[str]:
    """Sample the scale in order (darker is less); NULL gets a colour outside the scale."""
    anchors = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in NUMBER_HUES])
    count = sum(v is not None for v in values)
    places = np.linspace(0, len(anchors) - 1, count) if count > 1 else np.array([3.5])
    rgb = np.stack([np.interp(places, range(len(anchors)), anchors[:, i]) for i in range(3)], 1)
    hues = [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in np.rint(rgb).astype(int)]
    return [*hues[:count], *([GOVERNOR_HUE] if count < len(values) else [])]


def what_ran(catalogue: Catalogue, rows: pl.DataFrame) -> list[str]:
    """Return the names of what ran, and under which load, that differ between some runs."""
    return [
        knob.noun for knob in catalogue.knobs.values()
        if knob.is_given and rows[knob.column].n_unique() > 1
    ]  # fmt: skip


def models_that_ran(catalogue: Catalogue, rows: pl.DataFrame) -> list[str]:
    """Return the columns of models that differ in some runs, those of most values last.

    A model stands for another where both do one task. Other things that ran, such as kernels and
    phases of a program, do unlike work: none is an alternative to another.
    """
    knobs = [knob for knob in catalogue.knobs.values() if knob.column in catalogue.item_columns]
    models = [k for k in knobs if not _MODELS.isdisjoint(k.column.split("_"))]
    found = [k for k in models if not k.facet.is_number and rows[k.column].n_unique() > 1]
    return [k.name for k in sorted(found, key=lambda k: rows[k.column].n_unique())]

"""The controls of pages: menus and segments, and what all controls of one kind have in common."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import dash_mantine_components as dmc

from data.analysis.coded_rows import Part
from data.analysis.like_with_like import poolable
from data.catalogue import Catalogue
from data.knobs import Knob

Entries = list[dict[str, Any]]

# The list itself scrolls: a list that a combobox controls needs no stop of the Tab key.
_LIST: Final = {"size": "xs", "withScrollArea": False, "withCheckIcon": False}
# Defaults of the component library by component; `assets/_kit/controls.css` has their look.
CONTROLS: Final[dict[str, dict[str, Any]]] = {
    name: {"defaultProps": properties}
    for name, properties in {
        "Select": {**_LIST, "attributes": {"input": {"role": "combobox"}}},
        "MultiSelect": {**_LIST, "attributes": {"inputField": {"role": "combobox"}}},
        "ComboboxTarget": {"withExpandedAttribute": True},
        "ComboboxEventsTarget": {"withExpandedAttribute": True},
        "NumberInput": {"size": "xs", "hideControls": True, "allowNegative": False},
        "TextInput": {"size": "xs"},
        "SegmentedControl": {"size": "xs"},
        "Switch": {"size": "xs"},
        "Chip": {"size": "xs", "variant": "outline"},
        "Slider": {"size": "sm"},
    }.items()
}


def entries(titles: Mapping[Any, str]) -> Entries:
    """Return the entries of a menu, from value to title."""
    return [{"value": value, "label": title} for value, title in titles.items()]


def segments(
    component_id: str, label: str, value: str, titles: Mapping[str, str], **more: Any
) -> dmc.SegmentedControl:
    """Lay out a few values side by side, of which one is chosen."""
    return dmc.SegmentedControl(
        id=component_id,
        value=value,
        data=entries(titles),
        **{"aria-label": label},
        **more,
    )


def select(
    component_id: str,
    label: str,
    data: Sequence[Mapping[str, str]],
    value: str | None,
    width_px: int | str,
    menu_px: int,
    **more: Any,
) -> dmc.Select:
    """Lay out a menu of which one entry is always chosen; `menu_px` is the width of its list.

    Args:
        width_px: Its own width, pixels, or a length of CSS.
    """
    return dmc.Select(
        id=component_id,
        data=data,
        value=value,
        allowDeselect=False,
        w=width_px,
        comboboxProps={"width": menu_px, "position": "bottom-start"},
        **{"aria-label": label},
        **more,
    )


def pool_select(
    component_id: str,
    data: Entries,
    pooled: Sequence[str],
    placeholder: str = "pool over",
    label: str = "settings to pool over",
) -> dmc.MultiSelect:
    """Lay out the menu of the settings over which a view's means may pool; none is chosen first."""
    return dmc.MultiSelect(
        id=component_id,
        data=data,
        value=list(pooled),
        placeholder="" if pooled else placeholder,
        w=150,
        comboboxProps={"width": 200, "position": "bottom-start"},
        **{"aria-label": label},
    )


def pool_choices(
    rows: Part,
    shown: Sequence[Knob],
    pooled: Sequence[str],
    *,
    catalogue: Catalogue,
) -> Entries:
    """Return the entries of the menu of settings to pool over; arguments as of `poolable`.

    A list has an entry: without settings one that cannot be chosen says so.
    """
    knobs = poolable(rows, shown, pooled, catalogue=catalogue)
    listed = entries({knob.name: knob.menu_title for knob in knobs})
    return listed or [{"value": "", "label": "no setting varies", "disabled": True}]

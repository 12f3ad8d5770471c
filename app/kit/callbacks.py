"""The callbacks that pages with filters share."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from dash import (
    ALL,
    ClientsideFunction,
    Input,
    Output,
    State,
    callback,
    clientside_callback,
    no_update,
)
from dash.exceptions import PreventUpdate

from app.kit.context import lake_view
from app.kit.filters import Offered, chip_values, offered_filters
from app.kit.ids import PageIds
from app.kit.lake_view import LakeView
from app.kit.url_state import UrlState
from app.kit.url_values import read_flag
from app.kit.words import order_note
from data.analysis.facet_counts import LEADING


def register_gather(ids: PageIds, controls: Mapping[str, str]) -> None:
    """Register the clientside callback that gathers the controls into the state and writes the URL.

    Args:
        controls: URL key to the control's property that holds its value.
    """
    clientside_callback(
        ClientsideFunction("wattlas", "gather"),
        Output(ids.view_state, "data"),
        Output(ids.changed, "data"),
        Input(ids.leading(ALL), "value"),
        Input(ids.facet(ALL), "value"),
        *[Input(ids.control(key), name) for key, name in controls.items()],
        State(ids.browser, "data"),
    )


def control_properties(state: type[UrlState]) -> dict[str, str]:
    """Return the property that holds a control's value, by the URL key that it is for.

    Keys whose values only the browser holds, and the lake's version, have no control.
    """
    return {
        key: "checked" if part.read is read_flag else "value"
        for key, part in state.parameters().items()
        if key != "lake" and not part.is_kept
    }


def register_answer(
    ids: PageIds,
    state: type[UrlState],
    outputs: Output | Sequence[Output],
    answer: Callable[[LakeView, Any], Any],
    asks: Sequence[str] = (),
) -> Callable[..., Any]:
    """Register the callback that answers the page's state.

    Args:
        answer: Returns the values of the outputs.
        asks: URL keys of the controls that affect this answer alone: the state has their values.

    Returns:
        The callback, of the gathered state, the controls' values and the lake's version.
    """
    properties = control_properties(state)

    @callback(
        outputs,
        Input(ids.view_state, "data"),
        *[Input(ids.control(key), properties[key]) for key in asks],
        State(ids.lake_version, "data"),
    )
    def update(raw_state: dict[str, Any], *given: Any) -> Any:
        *values, version = given
        view = lake_view(version)
        asked = {**raw_state, **dict(zip(asks, values, strict=True))}
        return answer(view, state.from_json(asked, view.catalogue))

    return cast(Callable[..., Any], update)


def register_filters(
    ids: PageIds,
    state: type[UrlState],
    offered: Offered,
    menus: Mapping[str, Callable[[LakeView, Any], list[dict[str, str]]]] | None = None,
) -> Callable[..., tuple[Any, str]]:
    """Register the callbacks that update filters and menus after a change of filters.

    The server answers what they offer, and the browser sets what differs: each component that Dash
    sets or makes costs actions that visit all components. A page comes with what its filters and
    menus offer first, but without the banner on the order of runs.

    Args:
        offered: Returns the choices of each facet.
        menus: URL key of a select to the function that returns its entries.

    Returns:
        The callback: `facets` (see `offered_filters`) and `menus` (entries by key), and the banner.
    """
    menus = menus or {}

    @callback(
        Output(ids.offered, "data"),
        Output(ids.order_note, "children"),
        Input(ids.view_state, "data"),
        Input(ids.changed, "data"),
        State(ids.lake_version, "data"),
    )
    def update_filters(
        raw_state: dict[str, Any], changed: dict[str, Any] | None, version: int
    ) -> tuple[Any, str]:
        view = lake_view(version)
        current = cast(Any, state.from_json(changed or raw_state, view.catalogue))
        note = order_note(view, current.selection) if view.runs else ""
        if changed is None:
            return no_update, note
        entries = {make: make(view, current) for make in dict.fromkeys(menus.values())}
        offers = {
            "facets": offered_filters(view, current.selection, offered),
            "menus": {key: entries[make] for key, make in menus.items()},
        }
        return offers, note

    clientside_callback(
        ClientsideFunction("wattlas", "offer"),
        Input(ids.offered, "data"),
        prevent_initial_call=True,
    )
    return cast(Callable[..., tuple[Any, str]], update_filters)


def register_workload(
    ids: PageIds,
    state: type[UrlState],
    turned: Callable[[LakeView, Any, str | None], Any],
    controls: Sequence[str] = (),
) -> Callable[..., Any]:
    """Register the callback that updates filters and controls for another workload or dataset.

    Args:
        turned: Returns the new state from the lake, the old state and the workload.
        controls: URL keys of the controls to update.

    Returns:
        The callback: values of the filters except dataset and workload, then of the controls;
        `no_update` for what stays.
    """

    @callback(
        [Output(ids.facet(ALL), "value"), *[Output(ids.control(key), "value") for key in controls]],
        Input(ids.facet("workload"), "value"),
        Input(ids.facet("dataset"), "value"),
        State(ids.view_state, "data"),
        State(ids.lake_version, "data"),
        *[State(ids.control(key), "value") for key in controls],
        prevent_initial_call=True,
    )
    def turn_workload(
        workload: str | list[str] | None,
        datasets: list[str],
        raw: dict[str, Any] | None,
        version: int,
        *shown: Any,
    ) -> tuple:
        if isinstance(workload, list):
            raise PreventUpdate
        view = lake_view(version)
        others = [name for name in state.filters(view.catalogue) if name not in LEADING]
        was = cast(Any, state.from_json(raw or {}, view.catalogue)).selection
        if was.values("workload") == (workload,) and set(was.values("dataset")) == set(datasets):
            raise PreventUpdate
        asked = state.from_json({**(raw or {}), "dataset": datasets}, view.catalogue)
        after = turned(view, asked, workload)
        filters = [chip_values(after.selection.values(name)) for name in others]
        values = [getattr(after, state.parameters()[key].attribute) for key in controls]
        values = [list(value) if isinstance(value, tuple) else value for value in values]
        before = [(raw or {}).get(name) for name in others]
        return (
            [no_update if new == old else new for new, old in zip(filters, before, strict=True)],
            *[no_update if new == old else new for new, old in zip(values, shown, strict=True)],
        )

    return cast(Callable[..., Any], turn_workload)

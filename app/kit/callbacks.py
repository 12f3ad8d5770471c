"""The callbacks that pages with filters share."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from dash import ALL, ClientsideFunction, Input, Output, State, callback, clientside_callback
from dash.exceptions import PreventUpdate

from app.kit.context import lake_view
from app.kit.filters import Offered, chip_value, facet_chips, facet_note, idle_facets
from app.kit.ids import PageIds
from app.kit.lake_view import LakeView
from app.kit.url_state import UrlState, read_flag
from app.kit.words import order_note
from data.analysis.facets import LEADING


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
    keys = [key for key in state.PARAMETERS if key not in (*state.KEPT, "lake")]
    flags = {key for key in keys if state.PARAMETERS[key].read is read_flag}
    return {key: "checked" if key in flags else "value" for key in keys}


def register_filters(
    ids: PageIds,
    state: type[UrlState],
    offered: Offered,
    menus: Mapping[str, Callable[[LakeView, Any], list[dict[str, str]]]] | None = None,
) -> Callable[[dict[str, Any], int], tuple]:
    """Register the callback that updates filters and menus after a change of filters.

    Another one writes the banner on the order of runs.

    Args:
        offered: Returns the choices of each facet.
        menus: URL key of a select to the function that returns its entries.

    Returns:
        The callback: of the filters in their order the chips (those that lead apart, first), the
        counts and whether each is hidden, then the menus' entries.
    """
    menus = menus or {}

    @callback(
        Output(ids.leading(ALL), "children"),
        Output(ids.facet(ALL), "children"),
        Output(ids.facet_count(ALL), "children"),
        Output(ids.facet_frame(ALL), "hidden"),
        *[Output(ids.control(key), "data") for key in menus],
        Input(ids.changed, "data"),
        State(ids.lake_version, "data"),
        prevent_initial_call=True,
    )
    def update_filters(raw_state: dict[str, Any], version: int) -> tuple:
        view = lake_view(version)
        current = cast(Any, state.from_json(raw_state, view.catalogue))
        choices = offered(view, current.selection)
        idle = idle_facets(view, current.selection, offered)
        entries = {make: make(view, current) for make in dict.fromkeys(menus.values())}
        knobs = view.catalogue.knobs
        return (
            [facet_chips(knobs[n], c) for n, c in choices.items() if n in LEADING],
            [facet_chips(knobs[n], c) for n, c in choices.items() if n not in LEADING],
            [facet_note(n, c, current.selection.values(n)) for n, c in choices.items()],
            [name in idle for name in choices],
            *[entries[make] for make in menus.values()],
        )

    @callback(
        Output(ids.order_note, "children"),
        Input(ids.view_state, "data"),
        State(ids.lake_version, "data"),
    )
    def update_order_note(raw_state: dict[str, Any], version: int) -> str:
        view = lake_view(version)
        found = cast(Any, state.from_json(raw_state, view.catalogue))
        return order_note(view, found.selection) if view.runs else ""

    return cast(Callable[[dict[str, Any], int], tuple], update_filters)


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
        The callback: values of the filters except dataset and workload, then of the controls.
    """

    @callback(
        [Output(ids.facet(ALL), "value"), *[Output(ids.control(key), "value") for key in controls]],
        Input(ids.facet("workload"), "value"),
        Input(ids.facet("dataset"), "value"),
        State(ids.view_state, "data"),
        State(ids.lake_version, "data"),
        prevent_initial_call=True,
    )
    def turn_workload(
        workload: str | list[str] | None,
        datasets: list[str],
        raw: dict[str, Any] | None,
        version: int,
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
        return (
            [[chip_value(v) for v in after.selection.values(name)] for name in others],
            *[getattr(after, state.PARAMETERS[key].attribute) for key in controls],
        )

    return cast(Callable[..., Any], turn_workload)

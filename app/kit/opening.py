"""How a page opens for the query of its link: the lake, the state, and what to say of either."""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Final, Protocol, TypeVar
from urllib.parse import urlencode

from dash import html

from app.kit.context import lake_view
from app.kit.lakes import LakeView
from app.kit.url_codec import has_state
from data.errors import WattlasError


class PageState(Protocol):
    """What any page's state has."""

    @property
    def lake_version(self) -> int | None:
        """A version that the link pins; None for the newest."""


State = TypeVar("State", bound=PageState)

_UNREADABLE: Final = "There is nothing to show: the lake cannot be read. Reload once it can."


def or_a_sentence(layout: Callable[..., html.Main]) -> Callable[..., html.Main]:
    """Have a page lie there without a lake that can be read; why is said above all pages."""

    @wraps(layout)
    def lay_out(**parts: str | list[str]) -> html.Main:
        try:
            return layout(**parts)
        except WattlasError:
            return html.Main(html.Div(_UNREADABLE, className="notice"))

    return lay_out


def open_page(
    parts: Mapping[str, str | Sequence[str]], read: Callable[[str], State]
) -> tuple[LakeView, State | None, str]:
    """Open a page for its link.

    Args:
        parts: The parameters of the link.
        read: Reads a state from a query; refuses a bad one.

    Returns:
        The lake; the state, None where the page has to choose; a sentence for the page's notice,
        empty where there is nothing to say.
    """
    query = urlencode(parts, doseq=True)
    try:
        state = read(query) if has_state(query) else None
        view = lake_view(state.lake_version if state else None)
    except WattlasError as error:
        said = f"This link could not be followed: {error}. The default view is shown instead."
        return lake_view(None), None, said
    if state and state.lake_version is not None:
        newest = lake_view(None).version
        if view.version != newest:
            said = f"This link pins version {view.version} of the lake; the newest is {newest}."
            return view, state, said
    return view, state, ""

"""Presets of a page: named states, each a link."""

from collections.abc import Sequence
from dataclasses import dataclass

from dash import html

from app.kit.sidebar import sidebar_block
from app.kit.url_state import UrlState


@dataclass(frozen=True, slots=True)
class Preset:
    """A named state of a page.

    Attributes:
        title: Text of the link.
        hint: Text of the tooltip.
    """

    title: str
    hint: str
    state: UrlState


def preset_block(presets: Sequence[Preset]) -> list[html.Div]:
    """Lay out the links of a page's presets for the sidebar; empty without presets."""
    if not presets:
        return []
    links = [
        # A query alone keeps the path, also under a prefix.
        html.A(one.title, href=f"?{one.state.to_query()}", title=one.hint, className="preset")
        for one in presets
    ]
    chips = html.Div(links, className="facet-chips")
    return [sidebar_block("Presets", chips, class_name="facet presets")]

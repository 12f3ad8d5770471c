"""The way between Explore and Modes: what the one shows as a question of the other.

What is selected goes along in the browser, which knows it: assets/explore/page_to_modes.js.
"""

import json
from typing import Final

from app.explore.state import ExploreState
from app.kit.lakes import LakeView
from app.kit.performance import performance_column
from app.modes.defaults import chosen
from app.modes.state import ModesState
from data.selection import Selection

NOWHERE: Final = json.dumps({"query": "v=1", "x": "", "y": ""})


def way_to_modes(view: LakeView, selection: Selection) -> str:
    """The question that Modes asks under some filters, as JSON.

    Returns:
        `query` (the URL query of Modes, with every choice made); `x` and `y` (columns of its axes,
        by which the browser finds the cells of what is selected). The same for the same filters,
        so that it is worked out once.
    """
    return view.once(_question, selection) if view.runs else NOWHERE


def _question(view: LakeView, selection: Selection) -> str:
    state = chosen(view, ModesState(selection))
    x, y, _ = state.knobs()
    return json.dumps({"query": state.to_query(), "x": x.column, "y": y.column})


def explore_state(view: LakeView, state: ModesState) -> ExploreState:
    """Explore under the same filters, the prize along y.

    Explore's x axis is the workload's performance metric; where that is the prize, y is energy.
    """
    prize = str(state.metric)
    is_performance = prize == performance_column(view, state.selection)
    return ExploreState(
        state.selection,
        y="energy_j" if is_performance else prize,
        lake_version=state.lake_version,
    )

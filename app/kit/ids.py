"""Names of the components that callbacks and scripts refer to."""

from typing import Final

from data.selection import FACETS

LAKE_VERSION: Final = "lake-version"
VIEW: Final = "view-state"
CHANGED: Final = "view-changed"
QUERY: Final = "view-query"
PINNED: Final = "browser-state"
POINTS: Final = "points"
THEME: Final = "theme"
NOTICE: Final = "notice"
STATUS: Final = "status-shown"
LAKE_LINE: Final = "lake-line"

SCATTER: Final = "scatter"
SCATTER_FIGURE: Final = "scatter-figure"
HEATMAP: Final = "heatmap"
HEATMAP_FIGURE: Final = "heatmap-figure"
BEST: Final = "best-table"
PICKED: Final = "picked-grid"
PICKED_FRAME: Final = "picked-frame"
PICKED_GRID: Final = "picked-grid-to-mount"
EXPLANATION: Final = "explanation"

REPLICATES: Final = "replicates"
X_AXIS: Final = "x-axis"
Y_AXIS: Final = "y-axis"
X_LOG: Final = "x-log"
Y_LOG: Final = "y-log"
FRONTIER: Final = "frontier"
HEAT_SYSTEM: Final = "heat-system"
HEAT_SYSTEM_LEFT: Final = "heat-system-left"
HEAT_METRIC: Final = "heat-metric"
LIMIT_BOX: Final = "limit-box"
LIMIT_SLIDER: Final = "limit-slider"
LIMIT_DOMAIN: Final = "limit-domain"
MODES_ASKED: Final = "modes-asked"
MODES_WAY: Final = "modes-way"

TIMELINE_START: Final = "timeline-start"
TIMELINE_OPENED: Final = "timeline-opened"
TIMELINE_FIGURE: Final = "timeline-figure"
TIMELINE_GAPS: Final = "timeline-gaps"
TIMELINE_SIZES: Final = "timeline-sizes"
TIMELINE_TOTALS: Final = "timeline-totals"
TIMELINE_PANELS: Final = "timeline-panels"
TIMELINE_CORES: Final = "timeline-cores"
TIMELINE_CORES_LIST: Final = "timeline-cores-list"
TIMELINE_LAYOUT: Final = "timeline-layout"
TIMELINE_HEAT: Final = "timeline-heat"


def facet(name: str) -> str:
    """The chip group of one filter."""
    return f"facet-{name}"


def facet_frame(name: str) -> str:
    """The block of one filter, hidden where the lake has nothing to choose."""
    return f"facet-{name}-frame"


def facet_count(name: str) -> str:
    """The line beside a filter's name that says how much it narrows."""
    return f"facet-{name}-count"


FACET_NAMES: Final = tuple(FACETS)

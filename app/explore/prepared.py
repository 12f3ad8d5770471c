"""What Explore asks of a large lake when a workload is opened, asked in advance."""

from collections.abc import Iterator

from app.explore.defaults import turned
from app.explore.state import ExploreState
from app.explore.views import best_table, limit_domain, picture
from app.kit.lake_view import LakeView
from data.selection import Selection


def prepare(view: LakeView) -> Iterator[tuple[str, str]]:
    """Open each workload of each dataset; a large lake's answers are then stored.

    Yields:
        Dataset and workload, once they are done.
    """
    for dataset, workload in view.outline.select("dataset", "workload").unique().sort("*").rows():
        start = ExploreState(Selection.of(dataset=[dataset]), replicates="means")
        state = turned(view, start, workload)
        for name in ("scatter", "heatmap"):
            picture(name, view, state)
        best_table(view, state)
        limit_domain(view, state)
        yield dataset, workload

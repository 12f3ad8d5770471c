"""Filter states of visitors: all different, and the same in each run of the benchmark."""

import random

import polars as pl

from app.explore.state import ExploreState
from data.selection import FACETS, Selection, Value

SEED = 7
# Share of states that filter a facet, and of states that show each run as a point.
_NARROWED = {"load": 0.7, "message": 0.7, "system": 0.3, "itr": 0.4, "dvfs": 0.4, "rapl": 0.3}
_EACH_RUN = 0.5
_LIMITED = 0.3


def varied_states(cube: pl.DataFrame, count: int) -> list[ExploreState]:
    """Make states from the values in a lake; each state matches some runs.

    Args:
        cube: Answer of `facet_cube_query`.
    """
    chance = random.Random(SEED)
    workloads = sorted(set(cube["workload"]))
    found: dict[str, ExploreState] = {}
    while len(found) < count:
        state = _state(cube, chance.choice(workloads), chance)
        found[state.to_query()] = state
    return list(found.values())


def _state(cube: pl.DataFrame, workload: str, chance: random.Random) -> ExploreState:
    left = cube.filter(pl.col("workload") == workload)
    chosen: dict[str, list[Value]] = {"dataset": [left["dataset"][0]], "workload": [workload]}
    for name, share in _NARROWED.items():
        column = FACETS[name].column
        values = left[column].drop_nulls().unique().sort().to_list()
        if len(values) > 1 and chance.random() < share:
            chosen[name] = chance.sample(values, chance.randint(1, len(values) - 1))
            left = left.filter(pl.col(column).is_in(chosen[name]))
    is_open = str(left["performance_metric"][0]).startswith("latency")
    return ExploreState(
        Selection.of(**chosen),
        replicates="runs" if chance.random() < _EACH_RUN else "means",
        limit=float(chance.randint(60, 400)) if is_open and chance.random() < _LIMITED else None,
    )

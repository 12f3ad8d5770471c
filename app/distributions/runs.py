"""The state of Distributions, and the logged runs that its filters and a selection leave."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

import polars as pl

from app.kit.clause import read_clause
from app.kit.controls import Entries, entries
from app.kit.lake_view import LakeView, leading
from app.kit.links import configurations
from app.kit.settings import MAX_ROWS
from app.kit.url_state import UrlState, parameter
from app.kit.url_values import check_choice
from data.analysis.facet_counts import LEADING, Choice, FacetCounts, matches
from data.catalogue import Catalogue
from data.distributions import QUANTITIES
from data.errors import DataError
from data.queries.logged_runs import logged_configurations_query
from data.queries.runs import facet_cube_query
from data.selection import Selection

NONE: Final = "none"
ITR, SYSTEM = "itr", "system"
# Counts of one quantity of so many runs take 50 MB.
MOST_RUNS: Final = 20_000
_NO_LOGS: Final = (
    "Distributions shows what per-interrupt logs count over all runs, and no run of this lake has "
    "a log: the raw logs of the runs would make it useful."
)


@dataclass(frozen=True, slots=True)
class DistributionsState(UrlState):
    """The whole state of Distributions.

    Attributes:
        quantity: A name of QUANTITIES.
        knob: The knob along x.
        split: The knob of which each value has a panel; `none` for one panel.
        sel: A clause of another page's link; only the configurations that it selects are shown.
    """

    VERSION: ClassVar = 2
    UPGRADERS: ClassVar = {1: lambda parameters: parameters}

    quantity: str = parameter("what", "gap_ns")
    knob: str = parameter("x", ITR)
    split: str = parameter("split", SYSTEM)
    sel: str = parameter("sel", "")

    def __post_init__(self) -> None:
        check_choice("what", self.quantity, QUANTITIES)

    def check(self, catalogue: Catalogue) -> None:
        """Refuse knobs that the lake lacks, and a selection that cannot be read."""
        check_choice("x", self.knob, catalogue.knobs)
        check_choice("split", self.split, (NONE, *catalogue.knobs))
        read_clause(self.sel, catalogue=catalogue)


def logged_cube(view: LakeView, selection: Selection) -> pl.DataFrame:
    """Return the cube of filter values of the runs with a log."""
    studied = leading(selection) if view.is_large else Selection()
    return view.once(_find_cube, Selection(studied.clauses))


def _find_cube(view: LakeView, studied: Selection) -> pl.DataFrame:
    query = facet_cube_query(MAX_ROWS, studied, catalogue=view.catalogue, is_logged=True)
    return view.lake.polars(*query)


def offered(view: LakeView, selection: Selection) -> Mapping[str, Sequence[Choice]]:
    """Return the choices of every filter over the runs with a log."""
    outline = view.outline if view.is_large else None
    counts = FacetCounts(logged_cube(view, selection), outline, catalogue=view.catalogue)
    return counts.choices(selection)


def missing(view: LakeView, state: DistributionsState) -> str:
    """Return that no run of the lake has a log."""
    return "" if len(logged_cube(view, state.selection)) else _NO_LOGS


def default_state(view: LakeView) -> DistributionsState:
    """Return the dataset and workload with most logged runs, against a knob that varies there."""
    cube = logged_cube(view, view.first_study())
    if not len(cube):
        return DistributionsState()
    totals = cube.group_by("dataset", "workload").agg(pl.col("runs").sum())
    most = totals.sort("runs", "dataset", "workload", descending=[True, False, False]).row(0)
    chosen = Selection.of(dataset=[most[0]], workload=[most[1]])
    return fitted(view, DistributionsState(selection=chosen))


def open_link(view: LakeView, state: DistributionsState) -> tuple[DistributionsState, str]:
    """Return the state of a link, against a knob that varies where the link names none."""
    return fitted(view, state), ""


def fitted(view: LakeView, state: DistributionsState) -> DistributionsState:
    """Replace the default knob by the first other one that varies, where it does not."""
    if state.knob != ITR:
        return state
    varying = _varying(view, state.selection)
    others = [name for name in varying if name not in (state.split, *LEADING)]
    return state if ITR in varying or not others else replace(state, knob=others[0])


def knob_choices(view: LakeView, state: DistributionsState) -> Entries:
    """List the knobs with several values in the runs with a log, and those that are shown."""
    listed = dict.fromkeys((*_varying(view, Selection()), state.knob, state.split))
    knobs = view.catalogue.knobs
    return entries({name: knob.menu_title for name, knob in knobs.items() if name in listed})


def split_choices(view: LakeView, state: DistributionsState) -> Entries:
    """List the knobs of which each value can have a panel, and none."""
    return [{"value": NONE, "label": "one panel"}, *knob_choices(view, state)]


def _varying(view: LakeView, selection: Selection) -> list[str]:
    left = logged_cube(view, selection).filter(matches(selection))
    knobs = view.catalogue.knobs.items()
    return [name for name, knob in knobs if left[knob.column].n_unique() > 1]


def chosen_runs(view: LakeView, state: DistributionsState) -> pl.DataFrame:
    """Return the runs with a log that the filters and the selection of the link leave.

    Returns:
        `run_id`, `replicate`, `system_label` and the columns of a configuration; ordered by
        replicate and id.

    Raises:
        DataError: There are more than MOST_RUNS.
    """
    return view.once(_find_runs, (state.selection, state.sel), is_large=True)


def _find_runs(view: LakeView, key: tuple[Selection, str]) -> pl.DataFrame:
    selection, sel = key
    catalogue = view.catalogue
    query = logged_configurations_query(selection, MOST_RUNS + 1, catalogue=catalogue)
    rows = view.lake.polars(*query)
    if sel:
        picked = configurations(view, selection, read_clause(sel))
        by = [name for name in (*catalogue.configuration, "replicate") if name in picked.columns]
        rows = rows.join(picked, on=by, how="semi", nulls_equal=True, maintain_order="left")
    if len(rows) > MOST_RUNS:
        raise DataError(f"more than {MOST_RUNS:,} runs with a log: filter on a dataset or a system")
    return rows

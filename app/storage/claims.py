"""The papers' claims on storage, decided by `data.published` from the filtered runs."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from app.storage.defaults import access_pair, place_of
from app.storage.published_moves import by_source
from app.storage.study import Study, of_bars
from data.analysis.storage_runs import StorageRuns
from data.analysis.verdicts import LOADS_STORES, UNDECIDED, Verdict
from data.published import storage_verdicts
from data.reference.claims import Claim, claims

# Name of a claim to the view that shows the compared values.
VIEW_OF: Final = {
    "000-O1": "iops", "000-O2": "cpu", "000-O3": "power-cpu", "000-O4": "switches-io",
    "000-O5": "loads-stores", "000-O6": "bytes-joule", "000-C7": "bytes-joule",
    "004-O1": "devices", "004-O2": "devices", "004-O3": "difference", "004-O4": "proportionality",
    "004-O5": "cpu-interrupts", "004-O6": "bytes-joule", "004-O7": "ios-joule",
    "004-C8": "bytes-joule", "004-C9": "power-interrupts",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim with its verdict, and the view that shows the compared values."""

    claim: Claim
    view: str
    verdict: Verdict


def judged_claims(study: Study, functions: pl.DataFrame) -> list[Judged]:
    """Decide every claim.

    Args:
        functions: Answer of `counted_functions`.
    """
    state = study.state
    runs = StorageRuns(
        rows=study.rows,
        idle=study.idle,
        moves=of_bars(study, by_source(functions), LOADS_STORES)[0],
        peak_w=study.peaks["peak_w"].max(),  # type: ignore[arg-type]
        place=place_of(state),
        accesses=access_pair(state.at_rw),
    )
    nothing = Verdict(UNDECIDED, "no measured storage runs")
    verdicts = storage_verdicts(runs) if len(study.rows) else {}
    return [Judged(one, VIEW_OF[one.name], verdicts.get(one.name, nothing)) for one in claims()]

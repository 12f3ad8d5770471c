"""What the papers claim, judged by their rules: on the runs of a lake, on models, on their tables.

from data.connection import open_lake
from data.published import published_claims

with open_lake("lake") as lake:
    for claim in published_claims(lake):
        print(claim.id, claim.verdict, claim.reason)
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from data.analysis.claims_of_devices import RULES_OF_DEVICES
from data.analysis.claims_of_instructions import RULES_OF_INSTRUCTIONS
from data.analysis.claims_of_mechanisms import RULES_OF_MECHANISMS
from data.analysis.claims_of_modes import RULES_OF_MODES
from data.analysis.claims_of_print import RULES_OF_PRINT
from data.analysis.claims_of_schemes import RULES_OF_SCHEMES
from data.analysis.claims_of_tuning import RULES_OF_TUNING
from data.analysis.like_with_like import like_with_like
from data.analysis.network_runs import NetworkRuns
from data.analysis.storage_means import by_source, moves_shown
from data.analysis.storage_runs import (
    FOUR_KIB,
    KINDS,
    READS,
    StorageRuns,
    access_pair,
    at_place,
    matching,
)
from data.analysis.verdicts import LOADS_STORES, UNDECIDED, Verdict, judge
from data.queries.models import network_runs_query, network_studies_query
from data.queries.statement import statement
from data.queries.storage import (
    FUNCTION_SUMS,
    IS_STORAGE,
    idle_knobs_query,
    idle_query,
    peak_query,
    profiled_query,
    storage_query,
)
from data.reference.claims import Claim, all_claims
from data.reference.tables import published_tables
from data.selection import Selection

if TYPE_CHECKING:
    from data.connection import Lake

RULES_OF_STORAGE: Final = {**RULES_OF_MODES, **RULES_OF_DEVICES}
RULES_OF_NETWORKS: Final = {**RULES_OF_TUNING, **RULES_OF_MECHANISMS, **RULES_OF_INSTRUCTIONS}
_MOST: Final = 20_000
_MOST_PROFILED: Final = 600
_NO_STORAGE: Final = (
    "no measured storage runs. Runs that would decide: fio on the devices of the study, by "
    "completion mode, request size and IO depth"
)


@dataclass(frozen=True, slots=True)
class PublishedClaim:
    """A claim of a paper with its verdict.

    Attributes:
        id: Paper, dash, id: `003-C01a`.
        statement: The claim in our words.
        printed: The numbers that the paper prints for it.
        verdict: One of the outcomes of `data.analysis.verdicts`.
        reason: The measured numbers, or what is missing and which runs would decide.
        effect: The measured number that is compared with the printed one; None without.
        n: Runs behind each side; empty for what needs no runs, or has none.
        parts: Verdicts of its parts; empty for a claim in one part.
        query: SQL that yields the runs; empty for models and printed tables.
        is_synthetic: The runs are synthetic: then the verdict is a test of the page, and `reason`
            says so.
    """

    id: str
    source: Claim
    verdict: str
    reason: str
    effect: float | None
    n: tuple[int, ...]
    parts: tuple[Verdict, ...]
    query: str
    is_synthetic: bool

    @property
    def paper(self) -> str:
        """`arXiv '21`."""
        return self.source.paper.short

    @property
    def where(self) -> str:
        """The place in the paper."""
        return self.source.where

    @property
    def statement(self) -> str:
        """The claim in our words."""
        return self.source.text

    @property
    def printed(self) -> str:
        """The numbers that the paper prints for it."""
        return self.source.printed

    @property
    def rule(self) -> str:
        """How it is decided, in words."""
        return self.source.rule


@dataclass(frozen=True, slots=True)
class _Judged:
    verdict: Verdict
    query: str = ""
    is_synthetic: bool = False


def published_claims(lake: "Lake") -> list[PublishedClaim]:
    """Judge every claim of the papers, sorted by id.

    Measured runs are judged where a lake has any, synthetic ones else; runs of several datasets or
    machines are never mixed: those of the dataset with most runs count.
    """
    judged = {**_of_networks(lake), **_of_storage(lake), **_of_tables()}
    return [_published(claim, judged[claim.name]) for claim in all_claims()]


def _published(claim: Claim, judged: _Judged) -> PublishedClaim:
    verdict = judged.verdict
    reason = verdict.words
    if judged.is_synthetic and verdict.outcome != UNDECIDED:
        reason = f"synthetic data, a test of this page alone: {reason}"
    return PublishedClaim(
        claim.name, claim, verdict.outcome, reason, verdict.effect, verdict.sides, verdict.parts,
        judged.query, judged.is_synthetic,
    )  # fmt: skip


def _of_networks(lake: "Lake") -> dict[str, _Judged]:
    studies = lake.polars(*network_studies_query())
    dataset, machine, is_synthetic = studies.row(0)[:3] if len(studies) else (None, None, False)
    query, values = network_runs_query(dataset, machine)
    runs = NetworkRuns.of(lake.polars(query, values))
    text = statement(query, values)
    return {
        name: _Judged(judge(rules, runs), text, is_synthetic)
        for name, rules in RULES_OF_NETWORKS.items()
    }


def _of_storage(lake: "Lake") -> dict[str, _Judged]:
    study = storage_study(lake)
    if study is None:
        nothing = _Judged(Verdict(UNDECIDED, _NO_STORAGE))
        return dict.fromkeys(RULES_OF_STORAGE, nothing)
    return {
        name: _Judged(verdict, study.query, study.is_synthetic)
        for name, verdict in storage_verdicts(study.runs).items()
    }


def storage_verdicts(runs: StorageRuns) -> dict[str, Verdict]:
    """Judge the claims on storage runs, by id."""
    return {name: judge(rules, runs) for name, rules in RULES_OF_STORAGE.items()}


@cache
def _of_tables() -> dict[str, _Judged]:
    """Judge what needs no runs: claims on models, and printed numbers against printed tables."""
    tables = {name: table.rows for name, table in published_tables().items()}
    groups: Sequence[tuple[Mapping[str, Sequence[Callable[[Any], Verdict]]], Any]] = (
        (RULES_OF_SCHEMES, None), (RULES_OF_PRINT, tables),
    )  # fmt: skip
    return {
        name: _Judged(judge(rules, given)) for each, given in groups for name, rules in each.items()
    }


@dataclass(frozen=True, slots=True)
class StorageStudy:
    """The storage runs that claims are judged on, and the SQL that reads them.

    Attributes:
        query, idle, peak: Of the rows of `runs`, of its idle rows, and of its greatest power.
    """

    runs: StorageRuns
    is_synthetic: bool
    query: str
    idle: str
    peak: str


def storage_study(lake: "Lake") -> StorageStudy | None:
    """Read the storage runs of the dataset with most modes and runs; measured ones first."""
    datasets = lake.polars(
        "SELECT dataset::VARCHAR AS dataset, coalesce(bool_or(is_synthetic), FALSE) AS "
        f"is_synthetic FROM runs WHERE {IS_STORAGE} GROUP BY dataset "
        "ORDER BY is_synthetic, count(DISTINCT mode) DESC, count(*) DESC, dataset"
    )
    if not len(datasets):
        return None
    dataset, is_synthetic = datasets.row(0)
    selection = Selection.of(dataset=[dataset])
    own = lake.catalogue
    query = storage_query(selection, _MOST, catalogue=own)
    rows = lake.polars(*query).with_row_index("row")
    knobs = lake.polars(*idle_knobs_query(selection, _MOST, catalogue=own))
    part = like_with_like(knobs, (own.knobs["device"],), catalogue=own)
    of_idle = idle_query(selection, _MOST, part.narrow(Selection()), catalogue=own)
    idle = lake.polars(*of_idle).with_columns(pl.col("device").cast(pl.String))
    of_peak = peak_query(selection, catalogue=own)
    peak = lake.polars(*of_peak)["peak_w"].max()
    place = _place(StorageRuns(rows, idle, pl.DataFrame(), None, {}, (), own))
    profiled = profiled_query(at_place(selection, place), _MOST_PROFILED, catalogue=own)
    counted = lake.polars(*profiled)
    sums = lake.aggregated("functions", counted["run_id"].to_list(), FUNCTION_SUMS)
    moves = moves_shown(by_source(counted.join(sums, on="run_id")), LOADS_STORES, own)[0]
    accesses = access_pair(place["rw"])
    runs = StorageRuns(rows, idle, moves, peak, place, accesses, own)  # type: ignore[arg-type]
    texts = (statement(*one) for one in (query, of_idle, of_peak))
    return StorageStudy(runs, is_synthetic, *texts)


def _place(runs: StorageRuns) -> dict[str, Any]:
    """Return the device, access and size of the claims on one device: Optane, 4 KiB reads."""
    ranked = (
        runs.rows.group_by("device")
        .agg(modes=pl.col("mode").drop_nulls().n_unique(), n=pl.col("runs").sum())
        .sort("modes", "n", "device", descending=[True, True, False])
    )
    devices = ranked["device"].to_list()
    device = next((d for d in devices if runs.kind(d) == KINDS[-1]), devices[0])
    here = matching(runs.rows, {"device": device})
    accesses = here["rw"].drop_nulls().unique().sort().to_list()
    rw = READS if READS in accesses else next(iter(accesses), None)
    sizes = matching(here, {"rw": rw})["request_bytes"].unique().sort().to_list()
    size = FOUR_KIB if FOUR_KIB in sizes else next(iter(sizes), None)
    return {"device": device, "rw": rw, "request_bytes": size}

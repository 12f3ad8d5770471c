"""The claims of a lake, with what verify.py needs to judge them again from the runs."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from app.kit.lake_view import LakeView
from data.analysis.claims_of_print import RULES_OF_PRINT
from data.analysis.claims_of_schemes import RULES_OF_SCHEMES
from data.analysis.verdicts import UNDECIDED, Verdict
from data.catalogue import Catalogue
from data.claim_scope import ENERGY
from data.findings import LIMIT, Claim
from data.published import PublishedClaim, StorageStudy
from data.queries.claims import REFERENCE, SUBJECT
from data.queries.recomputed import claim_moments_query, file_view, storage_tables, view_of

ALPHA: Final = 0.05
MARGIN: Final = 0.02
# The rules of the papers' claims in SQL, which go into the folder as they are.
PAPERS: Final = Path(__file__).with_name("papers.sql")

# The papers' own tables, by the name that PAPERS has for them.
PRINTED: Final = {
    name.partition("_")[2]: f"data/{name}.parquet"
    for name in (
        "hotstorage22_performance", "hotstorage22_loads_stores", "hotstorage20_idle_power",
    )
}  # fmt: skip
# The values of models of interrupt handling that claims are judged on.
MODELS: Final = "data/models.parquet"
# Loads and stores by run and source, which come from the profiles of runs.
MOVES: Final = "data/moves.parquet"


def claim_checks(
    view: LakeView, claims: Sequence[Claim], checks: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the claims with their numbers, sides and scopes, and the query of all moments.

    Args:
        claims: All claims of the lake: their errors follow from how many they are.
        checks: Those of tables, of which some need the moments of further metrics.
    """
    catalogue = view.catalogue
    ways = [check["again"] for check in checks if "again" in check]
    parts = [part for way in ways for part in (way, *way.get("sweeps", ())) if "metric" in part]
    asked = [part["metric"]["name"] for part in parts]
    metrics = dict.fromkeys([ENERGY, LIMIT[0], *(claim.metric for claim in claims), *asked])
    return {
        "alpha": ALPHA,
        "margin": MARGIN,
        "moments": claim_moments_query(list(metrics), catalogue),
        "list": [_check(claim, catalogue) for claim in claims],
    }


def _check(claim: Claim, catalogue: Catalogue) -> dict[str, Any]:
    sides = {
        side: [dict(member.values) for member in claim.settings if member.side == side]
        for side in (SUBJECT, REFERENCE)
    }
    # Sides that name their items, such as programs, are over all of these.
    own = claim.settings[0].values
    given = [name for name in catalogue.choice_columns if name != "system" and name not in own]
    limit = None
    if claim.limit is not None:
        limit = _metric(claim.limit[0], catalogue) | {"at": claim.limit[1]}
    # A limit is met by the setting that saves most energy.
    cost = ENERGY if claim.kind == "limit met" else claim.metric
    return {
        "id": claim.id,
        "sentence": claim.sentence,
        "query": claim.query,
        "kind": claim.kind,
        "metric": _metric(cost, catalogue),
        "limit": limit,
        "scope": {name: claim.scope.get(name) for name in given},
        "items": [name for name in catalogue.item_columns if name in own],
        "subject": sides[SUBJECT],
        "reference": sides[REFERENCE],
        "alpha": claim.alpha,
        "numbers": {
            "n_subject": claim.n_subject, "n_reference": claim.n_reference,
            "effect_pct": claim.effect, "low_pct": claim.low, "high_pct": claim.high,
            "outcome": claim.outcome,
        },
    }  # fmt: skip


def paper_checks(claims: Sequence[PublishedClaim], storage: StorageStudy | None) -> dict[str, Any]:
    """Return the claims of papers that PAPERS has rules of, with their verdicts.

    Returns:
        `list` of the claims, and `inputs`: the parts of PAPERS that these need, each with the SQL
        before it.
    """
    judged = set(re.findall(r"^---- (\S+)$", PAPERS.read_text("utf-8"), re.MULTILINE))
    own = [claim for claim in claims if claim.id in judged]
    network = next(claim.query for claim in own if claim.id.startswith("003"))
    inputs = {
        "outcomes": [],
        "network": [view_of("network_runs", network)],
        "schemes": [file_view("models", MODELS)],
        "print": [file_view(name, file) for name, file in PRINTED.items()],
    }
    if storage is not None:
        inputs |= {"storage": storage_inputs(storage), "tests": []}
    return {"inputs": inputs, "list": [_paper_check(claim) for claim in own]}


def storage_inputs(study: StorageStudy) -> list[str]:
    """Return the SQL of the tables that PAPERS judges the claims on storage by."""
    runs = study.runs
    devices = sorted({*runs.rows["device"], *runs.idle["device"]} - {None})
    tables = storage_tables(
        study.query, study.idle, study.peak, {d: runs.kind(d) for d in devices}, runs.slices()
    )
    return [*tables, file_view("moves", MOVES)]


def paper_count(checks: dict[str, Any]) -> int:
    """Return how many numbers of papers' claims are computed again."""
    return sum(3 + 3 * len(claim["parts"]) for claim in checks["list"])


def _paper_check(claim: PublishedClaim) -> dict[str, Any]:
    whole = Verdict(claim.verdict, claim.reason, effect=claim.effect, n=claim.n)
    return {
        "id": claim.id,
        "statement": claim.statement,
        "printed": claim.printed,
        "rule": claim.rule,
        "query": claim.query,
        "has_runs": bool(claim.query) or claim.id in {*RULES_OF_PRINT, *RULES_OF_SCHEMES},
        "numbers": {
            "verdict": claim.verdict, "effect": claim.effect, "n": ", ".join(map(str, claim.n)),
        },
        "parts": [
            {"outcome": part.outcome, "effect": part.effect, "n": ", ".join(map(str, part.sides))}
            for part in claim.parts or (whole,)
            if part.outcome != UNDECIDED or part.effect is not None
        ],
    }  # fmt: skip


def _metric(name: str, catalogue: Catalogue) -> dict[str, Any]:
    return {"name": name, "sign": catalogue.metric(name).sign}

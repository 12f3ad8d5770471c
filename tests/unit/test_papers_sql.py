"""The rules of papers' claims in Python and in papers.sql judge the same runs alike."""

import runpy
from itertools import product
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from app.artifact.claims import PAPERS
from data.analysis.claims_of_mechanisms import RULES_OF_MECHANISMS
from data.analysis.claims_of_tuning import RULES_OF_TUNING
from data.analysis.network_runs import CLOSED, FAST, MEMCACHED, SILO, SYSTEMS, NetworkRuns
from data.analysis.verdicts import UNDECIDED, judge

VERIFY = runpy.run_path(str(PAPERS.with_name("verify.py")))
RULES = {**RULES_OF_TUNING, **RULES_OF_MECHANISMS}


def some_runs(seed: int) -> pl.DataFrame:
    """Runs of all panels and systems, polling too, with effects that differ by the seed."""
    chance = np.random.default_rng(seed)
    rows = []
    for panel, system in product([*CLOSED, *MEMCACHED, *FAST, *SILO], SYSTEMS):
        base, power = 10 ** chance.uniform(-0.3, 0.3, 2)
        by_delay, by_clock = chance.uniform(-0.05, 0.3, 2)
        settings: list[tuple[float | None, ...]] = [(None, None, None)]
        if not system.endswith("default"):
            settings = list(product((2.0, 10.0, 28.0), (1.2, 2.0, 2.9), (75.0, 135.0)))
        for itr, ghz, rapl in settings:
            slow = (itr or 5) ** by_delay / (ghz or 2) ** by_clock
            for _ in range(chance.integers(1, 4)):
                noise = chance.lognormal(0, 0.01, 6)
                rows.append({
                    "workload": panel.workload, "place": panel.place, "system": system,
                    "itr": itr, "ghz": ghz, "rapl": rapl, "duration_s": base * slow * noise[0],
                    "latency_p99_us": 250 * base * slow * noise[1],
                    "energy_j": 100 * power * (ghz or 2) ** (1 - by_clock) / slow * noise[2],
                    "instructions": 1e9 * base * noise[3], "interrupts": 1e5 / slow**3 * noise[4],
                    "requests": 1e5 + chance.integers(0, 1000), "ipc": base * noise[5],
                })  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None)


def by_sql(runs: pl.DataFrame) -> dict[str, dict[str, Any]]:
    rules, lake = VERIFY["read_rules"](PAPERS), duckdb.connect()
    lake.register("network_runs", runs.to_arrow())
    for name in ("outcomes", "network"):
        lake.execute(rules[name])
    return {name: VERIFY["verdict_of"](lake.execute(rules[name]).fetchall()) for name in RULES}


@pytest.mark.parametrize(
    ("seed", "undecided"),
    [(2, {"003-C25"}), (1, {"003-C25", "003-C01b", "003-C27", "003-C31"})],
    ids=["all runs within the limit", "a panel without any"],
)
def test_every_claim_of_the_network_study_is_judged_alike(seed: int, undecided: set[str]) -> None:
    runs = some_runs(seed)
    again, own = by_sql(runs), NetworkRuns.of(runs)
    for name, rules in RULES.items():
        verdict = judge(rules, own)
        assert again[name]["verdict"] == verdict.outcome, name
        parts = [part for part in verdict.parts or (verdict,) if part.effect is not None
                 or part.outcome != UNDECIDED]  # fmt: skip
        for part, other in zip(parts, again[name]["parts"], strict=True):
            assert (other["outcome"], other["n"]) == (part.outcome, ", ".join(map(str, part.n)))
            assert VERIFY["agrees"](part.effect, other["effect"], 1e-9, 0.0), name
    assert {name for name, one in again.items() if one["verdict"] == UNDECIDED} == undecided
    assert len({one["verdict"] for one in again.values()}) == 5


def test_without_runs_nothing_of_the_network_study_is_decided() -> None:
    nothing = by_sql(some_runs(1).clear())
    assert {one["verdict"] for one in nothing.values()} == {UNDECIDED}

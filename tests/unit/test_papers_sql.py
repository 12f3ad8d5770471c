"""The rules of papers' claims in Python and in papers.sql judge the same runs alike."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from app.artifact.claims import PAPERS, storage_inputs
from app.artifact.writer import joined
from data.analysis.claims_of_schemes import RULES_OF_SCHEMES, model_values
from data.analysis.network_runs import (
    CLOSED,
    CONFIGURATION,
    FAST,
    MEMCACHED,
    SILO,
    SYSTEMS,
    NetworkRuns,
)
from data.analysis.storage_runs import MODES, StorageRuns
from data.analysis.verdicts import LOADS_STORES, UNDECIDED, judge
from data.catalogue import SHIPPED
from data.published import RULES_OF_NETWORKS, RULES_OF_STORAGE, StorageStudy

VERIFY: dict[str, Any] = {"__name__": "verify"}
exec(joined(), VERIFY)
ALL: dict[str, Mapping[str, Any]] = {
    "network": RULES_OF_NETWORKS,
    "storage": RULES_OF_STORAGE,
    "schemes": RULES_OF_SCHEMES,
}
STORAGE_METRICS = {
    "iops": 1e5, "cpu_pct": 80.0, "cpu_sys_pct": 70.0, "power_w": 50.0, "latency_mean_us": 10.0,
    "context_switches_per_io": 1.0, "interrupts_per_s": 4.5e5, "bytes_per_joule": 1e7,
    "ios_per_joule": 2e3,
}  # fmt: skip


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


def some_storage(seed: int) -> StorageStudy:
    """Configurations of all modes and devices, with effects that differ by the seed."""
    chance = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for device, mode, rw, size, depth in product(
        ("disk", "sata-850", "nvme-960", "optane"), ("interrupt", "poll", "hybrid"),
        ("randread", "randwrite"), (1024, 4096, 65536), (1, 8, 32, 64),
    ):  # fmt: skip
        at = {"device": device, "mode": mode, "rw": rw, "request_bytes": size, "io_depth": depth}
        n = int(chance.integers(1, 4))
        own: dict[str, Any] = {"row": len(rows), "runs": n}
        for name, base in STORAGE_METRICS.items():
            mean = base * chance.lognormal(0, 0.3)
            sd = mean * 0.1 * chance.random() if n > 1 else None
            own |= {name: mean, f"{name}_sd": sd, f"{name}_n": n}
        rows.append(at | own)
    idle = [
        {"device": device, "power_w": power + chance.normal(), "power_w_sd": 0.5, "power_w_n": 3}
        for device, power in {"disk": 39.0, "sata-850": 31, "nvme-960": 31, "optane": 34}.items()
    ]
    moves = [
        {"mode": mode, "io_depth": 32, "run_id": f"{mode}{run}", "subsystem": subsystem,
         LOADS_STORES: 1e9 * chance.lognormal(0, 0.2)}
        for mode, run, subsystem in product(MODES, range(2), ("scheduler", "block", "nvme"))
    ]  # fmt: skip
    place = {"device": "optane", "rw": "randread", "request_bytes": 4096}
    listed, idles, moved = (
        pl.DataFrame(one, infer_schema_length=None) for one in (rows, idle, moves)
    )
    runs = StorageRuns(listed, idles, moved, 90.0, place, ("randread", "randwrite"), SHIPPED)
    return StorageStudy(runs, False, "SELECT * FROM configurations",
                        "SELECT * FROM idle_runs", "SELECT 90.0 AS peak_w")  # fmt: skip


def by_sql(
    name: str, given: Mapping[str, pl.DataFrame], before: Sequence[str], claims: Sequence[str] = ()
) -> dict[str, Any]:
    """The verdicts of papers.sql on these claims, or on all of a study."""
    rules, lake = VERIFY["read_rules"](PAPERS), duckdb.connect()
    for table, rows in given.items():
        lake.register(table, rows.to_arrow())
    for sql in (rules["outcomes"], *before, rules[name]):
        lake.execute(sql)
    if name == "storage":
        VERIFY["fill_student"](lake)
        lake.execute(rules["tests"])
    return {
        claim: VERIFY["verdict_of"](lake.execute(rules[claim]).fetchall())
        for claim in claims or ALL[name]
    }


def storage_by_sql(study: StorageStudy) -> dict[str, Any]:
    given = {"configurations": study.runs.rows, "idle_runs": study.runs.idle,
             "given_moves": study.runs.moves}  # fmt: skip
    *before, _ = storage_inputs(study)
    return by_sql("storage", given, [*before, "CREATE VIEW moves AS FROM given_moves"])


def check_alike(again: dict[str, Any], rules: Mapping[str, Any], runs: Any) -> None:
    for name, own in rules.items():
        verdict = judge(own, runs)
        assert again[name]["verdict"] == verdict.outcome, name
        assert again[name]["n"] == ", ".join(map(str, verdict.sides)), name
        parts = [part for part in verdict.parts or (verdict,) if part.effect is not None
                 or part.outcome != UNDECIDED]  # fmt: skip
        for part, other in zip(parts, again[name]["parts"], strict=True):
            assert (other["outcome"], other["n"]) == (part.outcome, ", ".join(map(str, part.sides)))
            assert VERIFY["agrees"](part.effect, other["effect"], 1e-9, 0.0), name


@pytest.mark.parametrize(
    ("seed", "undecided"),
    [
        (5, {"003-C25", "003-C16"}),
        (1, {"003-C25", "003-C01b", "003-C27", "003-C31", "003-C02", "003-C16"}),
        (4, {"003-C25", "003-C01b", "003-C27", "003-C31", "003-C16"}),
    ],
    ids=["all runs within the limit", "a panel without any", "one system without"],
)
def test_every_claim_of_the_network_study_is_judged_alike(seed: int, undecided: set[str]) -> None:
    runs = some_runs(seed)
    again = by_sql("network", {"network_runs": runs}, [])
    check_alike(again, ALL["network"], NetworkRuns.of(runs))
    assert {name for name, one in again.items() if one["verdict"] == UNDECIDED} == undecided
    assert len({one["verdict"] for one in again.values()}) == 5


def test_a_factor_without_replicates_decides_nothing() -> None:
    """One run of each setting: noise is unknown, however near the printed factor is."""
    runs = some_runs(2).unique(CONFIGURATION, keep="first", maintain_order=True)
    again = by_sql("network", {"network_runs": runs}, [])
    check_alike(again, ALL["network"], NetworkRuns.of(runs))
    factors = {"003-C07", "003-C12", "003-C13", "003-C16", "003-C33"}
    assert {again[name]["verdict"] for name in factors} == {UNDECIDED}
    assert again["003-C07"]["n"] == "1, 1"


def test_without_runs_nothing_of_the_network_study_is_decided() -> None:
    nothing = by_sql("network", {"network_runs": some_runs(1).clear()}, [])
    assert {one["verdict"] for one in nothing.values()} == {UNDECIDED}


@pytest.mark.thin(1)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_claim_on_storage_is_judged_alike(seed: int) -> None:
    study = some_storage(seed)
    again = storage_by_sql(study)
    check_alike(again, ALL["storage"], study.runs)
    undecided = {name for name, one in again.items() if one["verdict"] == UNDECIDED}
    assert undecided <= {"000-O1", "000-C7", "004-O7"}


@pytest.fixture(scope="module")
def models() -> pl.DataFrame:
    return model_values()


def test_every_claim_on_models_is_judged_alike(models: pl.DataFrame) -> None:
    again = by_sql("schemes", {"models": models}, [])
    check_alike(again, RULES_OF_SCHEMES, None)
    undecided = {name for name, one in again.items() if one["verdict"] == UNDECIDED}
    assert undecided == {"002-C14", "002-C15"}


@pytest.mark.parametrize(
    ("claim", "scheme", "rate", "value", "factor"),
    [
        ("002-C03", "normal", 400.0, "throughput_kpps", 2.0),
        ("002-C05", "disable_enable", 0.5, "latency_mean_us", 0.9),
        ("002-C06", "disable_enable", 250.0, "throughput_kpps", 0.5),
        ("002-C07", "disable_enable", 80.0, "cpu_left", 3.0),
        ("002-C08", "pure_polling", 250.0, "cpu_left", 0.0),
        ("002-C09", "pure_polling", 300.0, "throughput_kpps", -1.0),
        ("002-C10", "pure_polling", 20.0, "latency_mean_us", -1.0),
        ("002-C11", "count_coalescing", 1.0, "latency_mean_us", 0.01),
        ("002-C12", "ideal", 110.0, "latency_mean_us", 1.1),
        ("002-C13", "napi", 250.0, "throughput_kpps", 1.1),
        ("002-C16", "hybrid", 250.0, "cpu_left", 0.5),
    ],
)
def test_a_claim_on_models_turns_with_their_values(
    models: pl.DataFrame, claim: str, scheme: str, rate: float, value: str, factor: float
) -> None:
    here = (pl.col("scheme") == scheme) & (pl.col("rate_kpps") == rate)
    turned = pl.when(here).then(pl.col(value) * factor).otherwise(pl.col(value))
    again = by_sql("schemes", {"models": models.with_columns(turned.alias(value))}, [], [claim])
    assert again[claim]["verdict"] != "holds"


def test_models_with_a_formula_are_solved_a_second_time(models: pl.DataFrame) -> None:
    rows = models.filter(pl.col("kind") != "simulated")
    for row in rows.iter_rows(named=True):
        again = VERIFY["solved"](row)
        assert again == pytest.approx([row[name] for name in VERIFY["MODEL_VALUES"]], rel=1e-10), (
            row
        )
    assert rows["scheme"].n_unique() == 7

"""The claims of a lake: each with n, an interval and the runs that give both."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from data.choices import Study
from data.connection import Lake, open_lake
from data.declared import Column
from data.errors import DataError
from data.findings import Claim, claims
from data.machine_state import StateDifference
from data.queries.runs import unlike_work_query
from data.selection import Selection
from tests.fixtures.lakes import run, suite, write_lake

SUBJECT, REFERENCE = "subject", "reference"


def sweep(
    energies: dict[str, dict[tuple[float, float], float]], seed: int = 1
) -> list[dict[str, Any]]:
    """Three runs of each setting: system to (ITR, GHz) to mean energy; noise of 1 %."""
    rng = np.random.default_rng(seed)
    rows = [
        run(system=system, itr_us=itr, dvfs_ghz=ghz, replicate=replicate, latency_p99_us=100 + itr,
            energy_j=round(mean * float(np.exp(rng.normal(0, 0.01))), 3))
        for system, own in energies.items()
        for (itr, ghz), mean in own.items()
        for replicate in range(3)
    ]  # fmt: skip
    rows += [
        run(system="linux_default", itr_us=None, dvfs_ghz=None, replicate=i, energy_j=1000.0 + i)
        for i in range(3)
    ]
    return rows


def grid(base: float, by_itr: float, by_clock: float) -> dict[tuple[float, float], float]:
    return {
        (itr, ghz): base + by_itr * i + by_clock * j
        for i, itr in enumerate((2.0, 100.0, 300.0))
        for j, ghz in enumerate((1.3, 2.1, 2.9))
    }


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[Claim]:
    tmp_path = tmp_path_factory.mktemp("found")
    rows = sweep({"linux_tuned": grid(800, -50, 100), "ebbrt_tuned": grid(500, 0, 100)})
    with open_lake(write_lake(tmp_path / "lake", rows)) as lake:
        return claims(lake)


def test_settings_without_knobs_have_no_columns() -> None:
    """Else a lake with idle runs, which have no knob, has no claims at all."""
    own = SimpleNamespace(rows=pl.DataFrame({"itr_us": [2.0]}), knobs=[])
    assert not vars(Study)["settings"].func(own).columns


def test_a_limit_of_latency_judges_no_runs_that_have_none_of_it(tmp_path: Path) -> None:
    """The trace of a meter has energy alone, and the runs beside it a latency alone."""
    rows = [
        run(system="server", itr_us=itr, dvfs_ghz=None, replicate=0, energy_j=None,
            latency_p99_us=450.0)
        for itr in (2.0, 100.0)
    ]  # fmt: skip
    rows.append(run(system="meter", itr_us=None, dvfs_ghz=None, replicate=0, energy_j=90.0,
                    latency_p99_us=None))  # fmt: skip
    with open_lake(write_lake(tmp_path / "lake", rows)) as lake:
        assert not by(claims(lake), "limit met", "latency_p99_us")


def by(found: list[Claim], kind: str, metric: str = "energy_j") -> list[Claim]:
    return [claim for claim in found if (claim.kind, claim.metric) == (kind, metric)]


def test_the_list_is_made_by_rule(found: list[Claim]) -> None:
    """Two metrics: two systems against the default, one pair, two knobs each; two limits met."""
    counts = {(c.kind, c.metric): 0 for c in found}
    for claim in found:
        counts[claim.kind, claim.metric] += 1
    assert counts == {
        ("default to tuned", "energy_j"): 2, ("tuned to tuned", "energy_j"): 1,
        ("knob", "energy_j"): 4, ("default to tuned", "latency_p99_us"): 2,
        ("tuned to tuned", "latency_p99_us"): 1, ("knob", "latency_p99_us"): 4,
        ("limit met", "latency_p99_us"): 2,
    }  # fmt: skip
    assert {claim.adjusted for claim in found} == {"1 of 16 claims"}
    assert len({claim.id for claim in found}) == 16


def test_results_do_not_change_the_list(tmp_path: Path) -> None:
    ids = []
    for seed, base in ((1, 500.0), (9, 2000.0)):
        rows = sweep({"linux_tuned": grid(800, 50, 1), "ebbrt_tuned": grid(base, 0, 300)}, seed)
        with open_lake(write_lake(tmp_path / f"lake-{seed}", rows)) as lake:
            ids.append([claim.id for claim in claims(lake)])
    assert ids[0] == ids[1]


def test_what_is_true_by_construction_is_decided(found: list[Claim]) -> None:
    """Library OS: least 500 J at 1.3 GHz against 1,001 J; Linux: 700 J at ITR 300 and 1.3 GHz."""
    library, linux = by(found, "default to tuned")
    assert (library.outcome, linux.outcome) == ("a_better", "a_better")
    assert library.effect == pytest.approx(100 * (500 / 1001 - 1), abs=1.5)
    assert "ITR 300 us, 1.3 GHz" in linux.subject
    assert (linux.n_subject, linux.n_reference, linux.more_runs) == (3, 3, 0)
    (pair,) = by(found, "tuned to tuned")
    assert pair.outcome == "a_better"
    assert pair.subject == "Library OS"
    assert pair.reference == "Linux tuned"
    clock = [c for c in by(found, "knob") if c.subject == "1.3 GHz"]
    assert [c.outcome for c in clock] == ["a_better", "a_better"]
    delay = [c for c in by(found, "knob") if c.subject == "ITR 2 us"]
    # ITR does not change the library OS's energy
    assert [c.outcome for c in delay] == ["equivalent", "b_better"] or (
        delay[0].outcome == "undecided"
    )
    met = by(found, "limit met", "latency_p99_us")
    assert [c.outcome for c in met] == ["a_better", "a_better"]
    assert "meets p99 <= 500 us" in met[0].sentence


def test_a_sentence_has_everything(found: list[Claim]) -> None:
    (claim,) = [c for c in by(found, "default to tuned") if "Linux tuned" in c.subject]
    assert claim.effect is not None
    assert claim.sentence.startswith(
        "Linux tuned with ITR 300 us, 1.3 GHz lowers energy against Linux default: \N{MINUS SIGN}"
    )
    assert claim.sentence.endswith(
        "], memcached, 200k QPS, p99 <= 500 us (n = 3 and 3; holds alone; 1 of 16 claims)."
    )
    assert claim.low is not None
    assert claim.high is not None
    assert claim.low < claim.effect < claim.high < 0


def test_what_differs_between_the_machines_of_two_systems_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compared(_: Lake, a: list[str], b: list[str]) -> list[StateDifference]:
        assert (a, b) in [(["ebbrt_tuned"], ["linux_tuned"])] or "linux_default" in (*a, *b)
        return [StateDifference("sysctl", f"vm.key{i}", "0", "1") for i in range(5)]

    monkeypatch.setattr("data.findings.runs_of_states", lambda *asked: [asked[2]])
    monkeypatch.setattr("data.findings.compare_states", compared)
    rows = sweep({"linux_tuned": grid(800, -50, 100), "ebbrt_tuned": grid(500, 0, 100)})
    with open_lake(write_lake(tmp_path / "lake", rows)) as lake:
        judged = claims(lake)
    (pair,) = by(judged, "tuned to tuned")
    assert pair.beside == tuple(f"sysctl vm.key{i}" for i in range(5))
    assert pair.sentence.endswith(
        "; the machines also differ in sysctl vm.key0, sysctl vm.key1, sysctl vm.key2 and 2 more."
    )
    assert all(claim.beside == () for claim in by(judged, "knob"))


def test_a_claim_without_n_cannot_be_built(found: list[Claim]) -> None:
    claim = by(found, "default to tuned")[0]
    with pytest.raises(DataError, match="expected some"):
        replace(claim, n_subject=0)
    with pytest.raises(DataError, match="expected some"):
        replace(claim, n_reference=0)
    with pytest.raises(DataError):
        replace(by(found, "limit met", "latency_p99_us")[0], n_subject=0)
    with pytest.raises(TypeError):
        Claim(id="x", kind="knob")  # type: ignore[call-arg]


def test_an_interval_without_ends_says_what_is_missing(found: list[Claim]) -> None:
    for kind, missing in (("knob", "cells"), ("default to tuned", "runs")):
        open_ended = replace(by(found, kind)[0], low=None, high=None)
        assert f" % (no interval: too few {missing})" in open_ended.sentence
        assert "[not bounded, +2.00]" in replace(open_ended, high=2.0).sentence


def test_what_differs_a_thousandfold_has_its_estimate_and_the_way_that_it_goes(
    tmp_path: Path,
) -> None:
    slow = {(itr, 2.9): 800.0 + itr for itr in (2.0, 100.0, 300.0)}
    fast = {(itr, 1.3): energy / 2000 for (itr, _), energy in slow.items()}
    with open_lake(write_lake(tmp_path / "lake", sweep({"linux_tuned": slow | fast}))) as lake:
        (claim,) = [c for c in by(claims(lake), "knob") if "GHz" in c.subject]
    assert claim.effect == pytest.approx(-99.95, abs=0.01)
    assert claim.interval_words.startswith("[\N{MINUS SIGN}99.95")
    assert claim.interval_words.endswith("\N{MINUS SIGN}99.9498]")
    assert " lowers energy against 2.9 GHz" in claim.sentence
    assert ": \N{MINUS SIGN}99.950 % [" in claim.sentence


@pytest.mark.parametrize(("low", "high", "way"), [(None, -99.0, "lowers"), (12.0, None, "raises")])
def test_without_an_estimate_the_bounded_end_says_which_way(
    found: list[Claim], low: float | None, high: float | None, way: str
) -> None:
    claim = replace(by(found, "knob")[0], outcome="a_better", effect=None, low=low, high=high)
    assert f" {way} {claim.metric_words} against " in claim.sentence


def test_two_equal_systems_cannot_be_told_apart_or_match(tmp_path: Path) -> None:
    rows = sweep({"linux_tuned": grid(500, 0, 100), "ebbrt_tuned": grid(500, 0, 100)})
    with open_lake(write_lake(tmp_path / "lake", rows)) as lake:
        (pair,) = by(claims(lake), "tuned to tuned")
    assert pair.outcome in ("undecided", "equivalent")
    if pair.outcome == "undecided":
        assert "would decide" in pair.sentence or "needed" in pair.sentence


def test_a_lake_without_settings_has_no_claims(tmp_path: Path) -> None:
    with open_lake(write_lake(tmp_path / "lake", [])) as lake:
        assert claims(lake) == []


# ---- on the published tables


@pytest.fixture(scope="module")
def published(published_lake: Path) -> Iterator[tuple[Lake, list[Claim]]]:
    with open_lake(published_lake) as lake:
        yield lake, claims(lake)


def measured(claim: Claim, rows: pl.DataFrame) -> float:
    """The effect of a claim in percent, from the runs that its query yields."""
    logs = rows.with_columns(y=pl.col(claim.metric).log())
    means = logs.group_by("side", "cell", "is_within").agg(pl.col("y").mean())
    sides = {
        name: means.filter(pl.col("side") == name).sort("cell") for name in (SUBJECT, REFERENCE)
    }
    if claim.kind == "tuned to tuned":
        lowest = []
        for side in sides.values():
            within = side.filter("is_within")
            lowest.append((within if len(within) else side)["y"].to_numpy().min())
        return float(100 * np.expm1(lowest[0] - lowest[1]))
    if claim.kind == "limit met":
        return float(100 * np.expm1(sides[SUBJECT]["y"].to_numpy()[0] - np.log(500)))
    differences = (sides[SUBJECT]["y"] - sides[REFERENCE]["y"]).to_numpy()
    return float(100 * np.expm1(differences.mean()))


@pytest.mark.real
def test_the_query_of_each_claim_gives_its_n_and_effect(
    published: tuple[Lake, list[Claim]],
) -> None:
    lake, found = published
    assert len(found) == 134
    for claim in found[::3]:
        rows = lake.polars(claim.query)
        n = [int((rows["side"] == side).sum()) for side in (SUBJECT, REFERENCE)]
        assert n == [claim.n_subject, claim.n_reference], claim.id
        if claim.effect is not None:
            assert measured(claim, rows) == pytest.approx(claim.effect, abs=1e-6), claim.id


@pytest.mark.real
def test_the_published_saving_and_the_open_question(
    published: tuple[Lake, list[Claim]],
) -> None:
    _, found = published
    at = [c for c in found if c.scope.get("load_qps") == 400e3 and c.metric == "energy_j"]
    tuned = next(c for c in by(at, "default to tuned") if c.subject.startswith("Linux tuned"))
    assert tuned.effect == pytest.approx(-39.0, abs=0.05)
    assert (tuned.n_subject, tuned.n_reference, tuned.holds_alone) == (2, 3, True)
    (pair,) = by(at, "tuned to tuned")
    assert pair.outcome == "undecided"
    assert pair.n_words == "n = 55 and 36 in 20 and 18 settings"
    assert pair.more_runs == 1
    assert sum(claim.holds_alone for claim in found) < sum(
        claim.outcome != "undecided" for claim in found
    )


def test_a_setting_is_judged_over_all_programs_each_against_itself(tmp_path: Path) -> None:
    """A program is what was asked for: no claim compares two of them. No limit is a level too.

    The cells of a program share what the limit saves of it: five programs, not ten cells, count.
    """
    with open_lake(suite(tmp_path / "lake")) as lake:
        found = by(claims(lake), "knob")
        assert sorted(claim.subject for claim in found) == ["1 GHz", "15 W"]
        (claim,) = (claim for claim in found if claim.subject == "15 W")
        runs = lake.polars(claim.query)
    assert claim.sentence.startswith("15 W lowers energy against no power limit: \N{MINUS SIGN}")
    assert (claim.n_subject, claim.n_reference) == (30, 30)
    assert "in 10 matched cells" in claim.sentence
    # The query gives both sides of each cell, so the paired effect comes out of it.
    means = runs.group_by("cell", "side").agg(pl.col("energy_j").log().mean())
    pairs = means.pivot("side", index="cell", values="energy_j").sort("cell")
    saved = (pairs[SUBJECT] - pairs[REFERENCE]).to_numpy()
    assert claim.effect == pytest.approx(100 * np.expm1(saved.mean()))
    programs = [member.values["program"] for member in claim.settings if member.side == SUBJECT]
    own = [saved[np.array(programs) == name].mean() for name in dict.fromkeys(programs)]
    assert len(own) == 5
    width = stats.t.ppf(1 - claim.alpha / 2, 4) * np.std(own, ddof=1) / 5**0.5
    ends = 100 * np.expm1([saved.mean() - width, saved.mean() + width])
    assert [claim.low, claim.high] == pytest.approx(ends.tolist())


@pytest.mark.parametrize(("is_unlike", "metrics"), [(True, {"frame_j"}), (False, {"energy_j"})])
def test_unequal_work_is_compared_by_its_items(
    tmp_path: Path, is_unlike: bool, metrics: set[str]
) -> None:
    """A batch of 8 images needs more than one of 1: neither its energy nor its time is claimed."""
    rows = [
        run(workload="suite", system="board", load_qps=None, itr_us=None, dvfs_ghz=None, batch=size,
            replicate=replicate, latency_p99_us=None, performance_metric="duration_s",
            duration_s=1.0 * count, energy_j=count * own + replicate / 100,
            frame_j=own + replicate / 100 / count)
        for size, own in ((1, 10.0), (8, 4.0))
        for count in (size if is_unlike else 8,)
        for replicate in range(3)
    ]  # fmt: skip
    batch = Column("batch", "knob", "whole", "Batch size")
    frame = Column("frame_j", "metric", "real", "Energy per frame", unit="J/frame", better="less")
    with open_lake(write_lake(tmp_path / "lake", rows, (batch, frame))) as lake:
        assert {claim.metric for claim in claims(lake)} - {"duration_s"} == metrics
        assert ("duration_s" in {claim.metric for claim in claims(lake)}) != is_unlike
        # Explore and Lake decide it in SQL.
        query = unlike_work_query(Selection(), "frame_j", lake.catalogue.choice_columns)
        assert lake.polars(*query).item() == is_unlike


@pytest.mark.parametrize(
    ("policies", "count"), [(["powersave"], 1), (["powersave", "performance"], 0), ([None], 0)]
)
def test_a_clock_is_compared_with_one_governor_only(
    tmp_path: Path, policies: list[str | None], count: int
) -> None:
    """Two governors, or one that nobody recorded, are no setting to compare with."""
    rows = [
        run(dvfs_ghz=ghz, replicate=replicate, energy_j=100.0 + at + replicate)
        | {"dvfs_policy": policy}
        for at, (ghz, policy) in enumerate([(2.0, "static"), *((None, each) for each in policies)])
        for replicate in range(3)
    ]  # fmt: skip
    with open_lake(write_lake(tmp_path / "lake", rows)) as lake:
        assert len(by(claims(lake), "knob")) == count

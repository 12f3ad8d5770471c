"""The papers' claims: verdicts on the published tables, and rules on runs drawn by arithmetic."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest

from app.kit.context import Lakes
from app.storage.answer import answer
from app.storage.published import judged_claims
from app.storage.study import default_state
from data.analysis.network_runs import NetworkRuns
from data.analysis.verdicts import (
    DOES_NOT,
    HOLDS,
    IN_PART,
    NEARLY,
    OUTCOMES,
    UNDECIDED,
    Verdict,
    judge,
)
from data.connection import open_lake
from data.published import RULES_OF_NETWORKS, PublishedClaim, published_claims
from data.reference.claims import all_claims
from tests.fixtures.lakes import write_lake
from tests.fixtures.storage_rows import MODES, fio, study_lake

IN_PARTS: Final = ("003-C01b", "003-C10", "003-C12", "003-C22", "003-C28", "003-C30", "003-C42")
NO_POLLING: Final = ("02", "04", "06", "14", "19", "20", "21", "31", "32")
NO_SILO: Final = ("03", "06", "09", "33", "34", "35", "36", "37", "38", "41")
NO_LOADS: Final = ("08", "25")
# Claim to the measured number, and the runs behind both of its sides.
MEASURED: Final[dict[str, tuple[float, tuple[int, ...] | None]]] = {
    "003-C07": (1.908, (5, 2)), "003-C12": (1.195, (10, 5)), "003-C16": (1.95, (10, 3)),
    "003-C18": (2.10, None), "003-C23": (2.87, None), "003-C24": (-3.96, None),
    "003-C26": (64.1, None), "003-C29": (1 / 0.594, (3, 1)), "003-C30": (1.630, (1, 3)),
    "002-C01": (187.3, ()), "002-C02": (127.1, ()), "000-P2": (0.32, ()), "000-P4": (0.39, ()),
}  # fmt: skip


@pytest.fixture(scope="module")
def published(published_lake: Path) -> Iterator[dict[str, PublishedClaim]]:
    with open_lake(published_lake) as lake:
        yield {claim.id: claim for claim in published_claims(lake)}


def expected(name: str) -> str:
    """The verdict of a claim on the published tables."""
    paper, _, own = name.partition("-")
    special = {"000-P2": DOES_NOT, "003-C43": DOES_NOT, "000-P4": NEARLY}
    if name in special:
        return special[name]
    if name in IN_PARTS:
        return IN_PART
    is_undecided = (
        (paper in ("000", "004") and not own.startswith("P"))
        or (paper == "003" and own[1:] in (*NO_POLLING, *NO_SILO, *NO_LOADS))
        or name in ("002-C14", "002-C15")
    )
    return UNDECIDED if is_undecided else HOLDS


@pytest.mark.real
def test_the_verdicts_on_the_published_tables(published: dict[str, PublishedClaim]) -> None:
    assert {name: claim.verdict for name, claim in published.items()} == {
        claim.name: expected(claim.name) for claim in all_claims()
    }
    assert len(published) == 41 + 16 + 13 + 15


@pytest.mark.real
def test_the_numbers_behind_them(published: dict[str, PublishedClaim]) -> None:
    for name, (effect, n) in MEASURED.items():
        claim = published[name]
        assert claim.effect == pytest.approx(effect, rel=0.015), name
        assert n is None or claim.n == n, name
    part = published["003-C30"].parts
    assert [p.outcome for p in part] == [DOES_NOT, HOLDS]
    assert "more" in part[0].words
    assert "ITR 2 us, 2.9 GHz, 135 W (n = 1)" in part[0].words


@pytest.mark.real
def test_what_has_no_runs_says_which_and_what_would_decide(
    published: dict[str, PublishedClaim],
) -> None:
    missing = [c for c in published.values() if c.verdict == UNDECIDED and c.reason[:2] == "no"]
    assert len(missing) == 36
    for claim in missing:
        assert "Runs that would decide" in claim.reason, claim.id
        assert claim.n == ()
    assert published["003-C02"].reason.startswith("no polling runs in this lake")
    assert published["003-C33"].reason.startswith("no silo runs in this lake")
    assert published["003-C06"].reason.startswith("no polling, no silo runs in this lake")
    assert published["003-C08"].reason.startswith("no runs at 1,000,000 and 1,500,000 QPS")
    assert published["000-O1"].reason.startswith("no measured storage runs")


def test_ids_are_of_their_papers_and_in_order() -> None:
    names = [claim.name for claim in all_claims()]
    assert names == sorted(set(names))
    assert {name[:3] for name in names} == {"000", "002", "003", "004"}
    for claim in all_claims():
        assert claim.text.endswith((".", "?")), claim.name
        assert claim.printed
        assert claim.rule


def test_storage_runs_are_judged_as_storage_shows_them(tmp_path: Path) -> None:
    view = Lakes(study_lake(tmp_path / "lake")).at(None)
    found = answer(view, default_state(view))
    shown = {one.claim.name: one.verdict for one in judged_claims(found.study)}
    measured = {claim.id: claim for claim in published_claims(view.lake)}
    for name, verdict in shown.items():
        assert measured[name].verdict == verdict.outcome, name
        assert measured[name].reason == verdict.words, name
    assert measured["000-O2"].n == (2,)
    assert measured["003-C07"].verdict == UNDECIDED


def test_a_verdict_on_synthetic_runs_says_so_in_its_line(tmp_path: Path) -> None:
    rows = [fio(mode, replicate=r, is_synthetic=True) for mode in MODES for r in (0, 1)]
    with open_lake(write_lake(tmp_path / "lake", rows)) as lake:
        measured = {claim.id: claim for claim in published_claims(lake)}
    assert measured["000-O2"].reason.startswith("synthetic data, a test of this page alone: ")
    assert measured["000-O2"].is_synthetic


def test_an_empty_lake_has_every_claim(tmp_path: Path) -> None:
    with open_lake(write_lake(tmp_path / "lake", [])) as lake:
        claims = published_claims(lake)
    assert len(claims) == len(all_claims())
    assert {claim.verdict for claim in claims} <= set(OUTCOMES)
    assert all(c.verdict == UNDECIDED for c in claims if c.id.startswith("003"))


# ---- rules that the published tables have no runs for


def row(
    system: str, workload: str, place: float | None, perf: float, joules: float, **more: Any
) -> dict[str, Any]:
    """One run; `perf` is time in seconds or p99 in us."""
    is_open = workload.startswith("memcached")
    return {
        "workload": workload, "place": place, "system": system, "itr": 2.0, "ghz": 2.9,
        "rapl": 135.0, "duration_s": 20.0 if is_open else perf,
        "latency_p99_us": perf if is_open else None, "energy_j": joules, "instructions": 1e9,
        "interrupts": 1000, "requests": 100, "ipc": 1.0, **more,
    }  # fmt: skip


def verdict(name: str, rows: list[dict[str, Any]]) -> Verdict:
    rules = RULES_OF_NETWORKS[name]
    return judge(rules, NetworkRuns.of(pl.DataFrame(rows, infer_schema_length=None)))


@pytest.mark.parametrize(
    ("energy_j", "outcome"),
    # EDP of the default 1 s x 11 J. Factors 11; 11 ** 0.7; 11 ** 1.6.
    [(1.0, HOLDS), (11 / 11**0.7, NEARLY), (11 / 11**1.6, DOES_NOT)],
)
def test_polling_on_netpipe(energy_j: float, outcome: str) -> None:
    rows = [
        row("linux_default", "netpipe", 8192.0, 1.0, 11.0),
        row("ebbrt_poll", "netpipe", 8192.0, 1.0, energy_j),
    ]
    assert verdict("003-C02", 2 * rows).outcome == outcome
    assert verdict("003-C02", 2 * rows[:1]).outcome == UNDECIDED
    single = verdict("003-C02", rows)
    assert single.outcome == UNDECIDED
    assert "without replicates" in single.words


def test_polling_on_memcached_compares_different_marks() -> None:
    """Polling's least energy, 65 J at 73 us, against the library OS's least p99: 100 us, 100 J."""
    rows = [
        row("ebbrt_tuned", "memcached", 200e3, 100.0, 100.0),
        row("ebbrt_tuned", "memcached", 200e3, 150.0, 50.0, itr=400.0),
        row("ebbrt_poll", "memcached", 200e3, 73.0, 65.0),
        row("ebbrt_poll", "memcached", 200e3, 40.0, 90.0, ghz=1.3),
    ]
    assert [part.outcome for part in verdict("003-C04", 2 * rows).parts] == [HOLDS, HOLDS]


def silo(d: tuple[float, float], linux: tuple[float, float], library: tuple[float, float]) -> list:
    systems = (("linux_default", d), ("linux_tuned", linux), ("ebbrt_tuned", library))
    return [
        row(system, "memcached-silo", load, *values)
        for load in (50e3, 100e3, 200e3)
        for system, values in systems
    ]


def test_silo_is_judged_by_the_same_rules_where_it_was_run() -> None:
    rows = 2 * silo((400.0, 1000.0), (316.0, 800.0), (209.0, 448.0))
    # -21 % and -20 % against the default; -34 % and -44 % against tuned Linux
    assert verdict("003-C33", rows).outcome == HOLDS
    assert verdict("003-C34", rows).outcome == HOLDS
    # p99 x1.27 of 2 and energy x1.25 of 2.22: neither
    assert verdict("003-C03", rows).outcome == DOES_NOT
    # x2.23 of x6.67; read as efficiency 2.23 / 1.85 = 1.21
    saving = verdict("003-C09", rows)
    assert saving.outcome == DOES_NOT
    assert saving.words.endswith("x1.85 printed: holds")


def test_settings_beyond_the_limit_are_no_best() -> None:
    rows = silo((400.0, 1000.0), (316.0, 800.0), (501.0, 100.0))
    found = verdict("003-C34", rows)
    assert found.outcome == UNDECIDED
    assert "no run within 500 us" in found.words


def test_a_difference_within_its_noise_cannot_be_decided() -> None:
    """Two runs a side that differ by 40 %, and means 10 % apart."""
    rows = [
        row(system, "nodejs", None, 1.0, joules * scale)
        for system, joules in (("linux_tuned", 110.0), ("ebbrt_tuned", 100.0))
        for scale in (0.8, 1.2)
    ]
    found = verdict("003-C07", rows)
    assert found.outcome == UNDECIDED
    assert found.words.startswith("n: ")


def test_throughput_needs_a_load_that_one_system_does_not_sustain() -> None:
    rows = [
        row(system, "memcached", load, p99, 100.0)
        for system, load, p99 in (
            ("linux_tuned", 1000e3, 400.0), ("linux_tuned", 2000e3, 900.0),
            ("ebbrt_tuned", 1000e3, 100.0), ("ebbrt_tuned", 2000e3, 300.0),
        )
    ]  # fmt: skip
    found = verdict("003-C08", rows)
    assert (found.outcome, found.effect, found.n) == (HOLDS, 2.0, (1, 1))

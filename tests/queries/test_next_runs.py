"""From undecided through a list of runs to decided, on synthetic runs; and the list itself."""

import csv
import io
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data.choices import Choice
from data.connection import open_lake
from data.decisions import decide
from data.declared import Column
from data.errors import DataError
from data.findings import claims
from data.next_runs import next_runs, runs_left
from data.run_list import NextRuns
from data.sweeps import knob_shares
from ingest.__main__ import main as ingest
from tests.fixtures.lakes import run, write_lake
from tests.fixtures.run_lists import DATASET, first_sweep, make_runs, runs_of_list

TUNED = Choice(
    workload="memcached", load_qps=400_000.0, system="linux_tuned", objective="energy_j",
    dataset=DATASET,
)  # fmt: skip


def add(folder: Path, lake: Path) -> None:
    assert ingest(["add", str(folder), "--lake", str(lake)]) == 0


def listed(plan: NextRuns) -> list[dict[str, str]]:
    lines = plan.csv().splitlines()
    return list(csv.DictReader(io.StringIO("\n".join(lines[1:]))))


def test_the_walk_from_undecided_to_decided(tmp_path: Path) -> None:
    """Every round: plan, make the runs by the sample's model, add them as they are, ask again."""
    path = tmp_path / "lake"
    add(make_runs(first_sweep(2), tmp_path / "round-0", 5), path)
    rounds = []
    for number in range(1, 7):
        with open_lake(path) as lake:
            plan = next_runs(lake, TUNED)
            rounds.append(plan)
            assert runs_left(plan, lake) == plan.runs
            if plan.is_done:
                answer = decide(lake, TUNED)
                break
        add(make_runs(runs_of_list(plan.csv()), tmp_path / f"round-{number}", 5), path)
        with open_lake(path) as lake:
            assert runs_left(plan, lake) == 0
            assert lake.sql("SELECT count(*) FROM problems").fetchall() == [(0,)]
    assert not rounds[0].is_done
    assert rounds[0].settles
    assert "are likely to settle this" in rounds[0].sentence
    assert rounds[-1].is_done, [plan.sentence for plan in rounds]
    assert rounds[-1].sentence.startswith("No more runs are needed: ")
    assert answer.recommended is not None
    assert answer.regret_pct is not None
    assert answer.regret_pct <= 2.0


def test_half_of_a_list_leaves_the_other_half(tmp_path: Path) -> None:
    path = tmp_path / "lake"
    add(make_runs(first_sweep(2), tmp_path / "first", 5), path)
    with open_lake(path) as lake:
        plan = next_runs(lake, TUNED, budget=12)
    runs = runs_of_list(plan.csv())
    add(make_runs(runs[: len(runs) // 2], tmp_path / "half", 5), path)
    with open_lake(path) as lake:
        assert runs_left(plan, lake) == len(runs) - len(runs) // 2


def sweep(rng: np.random.Generator, runs: int = 3, spread: float = 0.004) -> list[dict[str, Any]]:
    """Nine settings with means within 4 spreads, noise of 1 %; one of them was measured once."""
    rows = [
        run(itr_us=itr, dvfs_ghz=ghz, replicate=replicate,
            energy_j=round(500 * float(np.exp(spread * (i + j) + rng.normal(0, 0.01))), 3))
        for i, itr in enumerate((2.0, 100.0, 300.0))
        for j, ghz in enumerate((1.3, 2.1, 2.9))
        for replicate in range(1 if (i, j) == (0, 1) else runs)
    ]  # fmt: skip
    default = [
        run(system="linux_default", itr_us=None, dvfs_ghz=None, replicate=i, energy_j=900.0 + i)
        for i in range(3)
    ]
    return [*rows, *default]


CHOICE = Choice(
    workload="memcached", load_qps=200_000.0, system="linux_tuned", objective="energy_j"
)


@pytest.fixture(scope="module")
def lake_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tmp_path = tmp_path_factory.mktemp("lake_path")
    return write_lake(tmp_path / "lake", sweep(np.random.default_rng(3)))


def test_a_list_is_of_blocks_with_the_baseline_in_each(lake_path: Path) -> None:
    with open_lake(lake_path) as lake:
        plan = next_runs(lake, CHOICE, budget=10)
        again = next_runs(lake, CHOICE, budget=10)
    assert plan.csv() == again.csv()
    rows = listed(plan)
    blocks: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        blocks.setdefault(row["block"], []).append(row)
    for own in blocks.values():
        settings = [(r["system"], r["itr_us"], r["dvfs_ghz"]) for r in own]
        assert len(set(settings)) == len(settings)
        assert [r["system"] for r in own].count("linux_default") == 1
        assert [int(r["position"]) for r in own] == list(range(len(own)))
    assert sum(r["reason"] != "baseline" for r in rows) == 10
    assert plan.runs == len(rows)
    once = [r for r in rows if r["reason"] == "second run"]
    assert [(r["itr_us"], r["dvfs_ghz"], r["replicate"]) for r in once] == [("2.0", "2.1", "1")]
    # Numbers of new replicates go on where those of the lake end.
    assert {int(r["replicate"]) for r in rows if r["reason"] == "baseline"} == set(
        range(3, 3 + len(blocks))
    )


def test_the_first_line_has_seed_version_and_question(lake_path: Path) -> None:
    with open_lake(lake_path) as lake:
        plan = next_runs(lake, CHOICE, budget=4)
    first, head = plan.csv().splitlines()[:2]
    assert first == (
        f"# seed {plan.seed}, lake version 0, best energy_j of linux_tuned: workload memcached, "
        "load_qps 200000.0"
    )
    assert head.split(",")[:2] == ["block", "position"]
    assert head.split(",")[-2:] == ["replicate", "reason"]


def test_a_time_buys_as_many_runs_as_the_lake_says(lake_path: Path) -> None:
    """Every run takes 20 s: four minutes are 12 runs."""
    with open_lake(lake_path) as lake:
        plan = next_runs(lake, CHOICE, minutes=4)
        reasons = Counter(row["reason"] for row in listed(plan))
        assert sum(reasons.values()) - reasons["baseline"] == 12
        assert plan.minutes == pytest.approx(plan.runs * 20 / 60)
        with pytest.raises(DataError, match="above 0"):
            next_runs(lake, CHOICE, budget=0)


def test_where_nothing_was_repeated_the_lowest_get_a_second_run(tmp_path: Path) -> None:
    rows = sweep(np.random.default_rng(3), runs=1)
    with open_lake(write_lake(tmp_path / "lake", rows)) as lake:
        every, some = next_runs(lake, CHOICE), next_runs(lake, CHOICE, budget=3)
        shares = knob_shares(lake, CHOICE)
    assert {(one.more, one.n) for one in every.settings} == {(1, 1), (1, 3)}, "9, and the default"
    assert len(every.settings) == 10
    assert every.sentence.startswith("10 more runs")
    assert "are a first round: 1 of" in every.sentence
    assert every.sentence.endswith(", and of 6 others.")
    short = replace(every, settings=every.settings[:5], cells=1)
    assert short.sentence.endswith(", and of 1 other; 1 unmeasured cell is worth 2 runs each.")
    energy = {(row["itr_us"], row["dvfs_ghz"]): row["energy_j"] for row in rows[:-3]}
    lowest = sorted(energy, key=lambda setting: energy[setting])[:3]
    asked = [one.values for one in some.settings if one.reason == "second run"]
    assert {(v["itr_us"], v["dvfs_ghz"]) for v in asked} == set(lowest)
    assert "noise not known: no setting was measured twice" in shares.sentence


def test_what_costs_far_more_gets_no_second_run(tmp_path: Path) -> None:
    """Runs of one setting never differ so: rows of parts of a machine that looked as settings."""
    rows = [run(itr_us=itr, dvfs_ghz=1.3, energy_j=energy)
            for itr, energy in ((2.0, 1.0), (50.0, 2.5), (100.0, 270.0))]  # fmt: skip
    with open_lake(write_lake(tmp_path / "lake", rows)) as lake:
        plan = next_runs(lake, CHOICE)
    assert [one.words for one in plan.settings] == ["ITR 2 us", "ITR 50 us"]


@pytest.mark.parametrize(
    ("column", "value", "why"),
    [
        (Column("round", "knob", "text", "round", is_given=True), "20240301_0915", "has passed"),
        (Column("session", "knob", "whole", "session", "session"), 3, "differ in session: a time"),
        (Column("energy_sd", "metric", "real", "energy sd", unit="J"), 9.5, "is not stated"),
    ],
)
def test_nobody_is_asked_for_runs_that_cannot_be_made_again(
    column: Column, value: str | float, why: str, tmp_path: Path
) -> None:
    rows = [run(itr_us=itr, dvfs_ghz=1.3, energy_j=500 + itr) for itr in (2.0, 9.0)]
    rows = [row | {column.name: value} for row in rows]
    if column.name == "session":
        rows += [row | {"session": 4, "energy_j": row["energy_j"] + 9, "run_id": f"later-{at}"}
                 for at, row in enumerate(rows)]  # fmt: skip
    choice = replace(CHOICE, where={column.name: value} if column.is_given else {})
    path = write_lake(tmp_path / "lake", rows, [column])
    with open_lake(path) as lake, pytest.raises(DataError, match=why):
        next_runs(lake, choice)
    with open_lake(path) as lake:
        assert not any("session" in claim.subject for claim in claims(lake))


def test_one_clear_winner_needs_no_runs(tmp_path: Path) -> None:
    rows = sweep(np.random.default_rng(3), spread=0.5)
    rows = [r for r in rows if not (r["itr_us"] == 2.0 and r["dvfs_ghz"] == 2.1)]
    with open_lake(write_lake(tmp_path / "lake", rows)) as lake:
        plan = next_runs(lake, CHOICE)
    assert plan.is_done
    assert plan.rows == ()
    assert plan.sentence == ("No more runs are needed: no other setting may be the best.")


def test_settings_that_ran_once_keep_a_list_open(tmp_path: Path) -> None:
    """Two runs of one setting, one of six others: without noise to borrow any may be the best."""
    rows = [run(itr_us=2.0, replicate=i, energy_j=500.0 + 0.4 * i) for i in range(2)]
    rows += [run(itr_us=50.0 * i, energy_j=480.0 + 9.3 * i) for i in range(1, 7)]
    with open_lake(write_lake(tmp_path / "lake", rows)) as lake:
        plan = next_runs(lake, CHOICE)
        two = next_runs(lake, CHOICE, budget=2)
        answer = decide(lake, CHOICE)
    assert len(answer.not_judged) == 6
    assert not plan.is_done
    assert (plan.members, plan.members_once, plan.unjudged) == (1, 6, 6)
    assert [(one.reason, one.more) for one in plan.settings] == [("second run", 1)] * 6
    assert plan.sentence.startswith("6 more runs")
    assert "are a first round: 1 of ITR 50 us" in plan.sentence
    assert plan.undecided == (
        "one setting is the best of those measured at least twice; 6 settings measured once cannot "
        "be ruled out"
    )
    assert [one.values["itr_us"] for one in two.settings] == [50.0, 100.0], "the lowest"


def test_copies_of_a_run_end_no_list(tmp_path: Path) -> None:
    """Two settings, each with two equal runs: an interval of width 0 decides nothing."""
    rows = [run(itr_us=itr, replicate=i, energy_j=energy)
            for itr, energy in ((2.0, 512.347), (100.0, 498.213)) for i in range(2)]  # fmt: skip
    with open_lake(write_lake(tmp_path / "lake", rows)) as lake:
        plan, found = next_runs(lake, CHOICE), claims(lake)
    assert not plan.is_done
    assert "no setting was measured twice" in plan.undecided
    assert [claim for claim in found if claim.outcome != "undecided"] == []


def test_a_list_out_of_proportion_is_a_first_round(tmp_path: Path) -> None:
    """Two settings 1 % apart with noise of 30 %: more runs are needed than the 8 that were made."""
    rng = np.random.default_rng(5)
    rows = [
        run(itr_us=itr, replicate=i, energy_j=round(500 * float(np.exp(rng.normal(at, 0.3))), 3))
        for itr, at in ((2.0, 0.0), (100.0, 0.01))
        for i in range(4)
    ]
    with open_lake(write_lake(tmp_path / "lake", rows)) as lake:
        plan = next_runs(lake, CHOICE)
    assert (plan.runs, plan.settles, plan.needed) == (4, False, 18)
    assert plan.sentence.startswith("4 more runs (about 1 min) are a first round: ")
    assert plan.sentence.endswith("; about 18 are likely to settle this.")
    none = replace(plan, needed=None)
    assert none.sentence.endswith("; even 100 more of each setting are not likely to settle this.")
    assert plan.undecided == "2 settings measured at least twice may be the best"
    short = replace(plan, members=1, members_once=3)
    long = replace(plan, settings=tuple(replace(one, minutes=4e3) for one in plan.settings))
    assert f"(about {len(long.settings) * 4000 / 1440:.0f} days)" in long.sentence
    assert short.undecided == (
        "one setting is the best of those measured at least twice; 3 settings measured once cannot "
        "be ruled out"
    )
    assert replace(short, members=0).undecided == (
        "no setting was measured twice: 3 settings measured once cannot be ruled out"
    )


def test_a_list_names_the_knobs_that_differ(tmp_path: Path) -> None:
    rows = [run(itr_us=itr, dvfs_ghz=1.3, energy_j=500 + itr, duration_s=0.01) for itr in (2.0, 9)]
    with open_lake(write_lake(tmp_path / "lake", rows)) as lake:
        plan = next_runs(lake, CHOICE)
    assert [one.words for one in plan.settings] == ["ITR 2 us", "ITR 9 us"]
    assert "(under 1 s)" in plan.sentence


@pytest.mark.parametrize(
    ("headings", "time"), [("energy,time", ""), ("energy_j,time_s", " (about 18 min)")]
)
def test_a_list_has_no_time_where_the_unit_of_times_is_a_guess(
    tmp_path: Path, headings: str, time: str
) -> None:
    """60 kJ in 270 s are likely, and 60 J in 270 ms as well."""
    rows = [f"{policy},{joules + 9000 * r},{joules / 220 + r:.2f}"
            for policy, joules in (("keen", 61000), ("lazy", 60400)) for r in range(3)]  # fmt: skip
    (tmp_path / "study").mkdir()
    (tmp_path / "study/runs.csv").write_text("\n".join([f"policy,{headings}", *rows, ""]))
    add(tmp_path / "study", tmp_path / "lake")
    with open_lake(tmp_path / "lake") as lake:
        choice = Choice(workload="study", system="study", objective="energy_j")
        plan = next_runs(lake, choice, budget=4)
        assert plan.sentence.startswith(f"4 more runs{time} are a first round: ")
        assert (plan.minutes is None) == (not time)
        if not time:
            with pytest.raises(DataError, match="does not know how long a run takes"):
                next_runs(lake, choice, minutes=600)

"""The door to decisions: small lakes worked by hand, and every published choice and pair."""

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from data.connection import Lake, open_lake
from data.decisions import Choice, compare, compare_fronts, decide
from data.errors import DataError
from tests.fixtures.lakes import run, write_lake

_EXPECTED: Final = Path(__file__).resolve().parents[2].parent / "shared/expected/decisions.json"
_WORKLOADS: Final = {"mcd": "memcached", "node": "nodejs", "netpipe": "netpipe"}
_METRICS: Final = {
    "joules": "energy_j", "time": "duration_s", "read_99th": "latency_p99_us",
    "lat99": "latency_p99_us",
}  # fmt: skip
_LIMITED: Final = {"mcd": "read_99th", "node": "lat99"}
TUNED: Final = Choice(workload="memcached", system="linux_tuned", objective="energy_j")


def expected(part: str) -> list[dict[str, Any]]:
    return json.loads(_EXPECTED.read_text("utf-8"))[part] if _EXPECTED.is_file() else []


def rows(settings: dict[float, list[float]], **more: Any) -> list[dict[str, Any]]:
    """Runs of settings by their ITR, each with its energies; p99 follows the ITR."""
    return [
        run(itr_us=itr, replicate=i, energy_j=energy, latency_p99_us=50 + itr + i / 10, **more)
        for itr, energies in settings.items()
        for i, energy in enumerate(energies)
    ]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """Nine settings with three runs, one with one, and a default."""
    settings = {2.0 * i: [100.0 + 2 * i + r / 10 for r in range(3)] for i in range(1, 10)}
    found = rows({**settings, 50.0: [101.9]}) + rows(
        {1.0: [200.0, 200.2]}, system="linux_default", dvfs_ghz=None
    )
    for row in found:
        if row["system"] == "linux_default":
            row.update(itr_us=None, itr_policy="adaptive")
    path = write_lake(tmp_path_factory.mktemp("decisions") / "lake", found)
    with open_lake(path) as opened:
        yield opened


def test_a_choice_has_a_set_a_recommendation_and_a_saving(lake: Lake) -> None:
    answer = decide(lake, TUNED)
    assert answer.settings == 10
    assert [m["itr_us"] for m in answer.members] == [2.0]
    assert [m["itr_us"] for m in answer.members_once] == [50.0]
    assert answer.recommended == {
        "itr_us": 2.0, "itr_policy": "static", "dvfs_ghz": 2.9, "dvfs_policy": "static",
        "rapl_w": 135.0,
    }  # fmt: skip
    assert (answer.recommended_n, answer.is_proven, answer.regret_pct) == (3, True, 0.0)
    assert answer.change_pct is not None
    change, low, high = (value or 0.0 for value in answer.change_pct)
    assert change == pytest.approx(100 * (102.1 / 200.1 - 1), abs=0.001)
    assert low < change < high < 0


def test_a_limit_moves_the_recommendation_or_says_that_none_meets_it(lake: Lake) -> None:
    # p99 is 50 + ITR: from 65 on only ITR 2 to 14 are within.
    within = decide(lake, replace(TUNED, limit=("latency_p99_us", 65.0)))
    assert (within.within, within.outside) == (7, 3)
    assert within.members_once == ()
    none = decide(lake, replace(TUNED, limit=("latency_p99_us", 20.0)))
    assert (none.recommended, none.change_pct, none.members) == (None, None, ())
    assert none.reason == "no setting meets latency_p99_us 20; the lowest is 52.1"


def test_a_named_baseline_is_none_of_the_settings(lake: Lake) -> None:
    answer = decide(lake, TUNED, baseline={"system": "linux_tuned", "itr_us": 18.0})
    assert answer.settings == 9
    assert answer.change_pct is not None
    assert answer.change_pct[0] == pytest.approx(100 * (102.1 / 118.1 - 1), abs=0.001)


def test_several_defaults_give_no_saving_and_the_reason(lake: Lake) -> None:
    answer = decide(lake, TUNED, baseline={"system": "linux_tuned"})
    assert answer.change_pct is None
    assert answer.reason == "10 settings are the setting that the baseline names: name one"
    with pytest.raises(DataError, match="baseline: turbo: no column of a setting"):
        decide(lake, TUNED, baseline={"turbo": "on"})


def test_of_more_is_better_a_gain_is_above_0(tmp_path: Path) -> None:
    """900 IOPS of the setting, 600 of the default: 50 % more."""
    found = rows({2.0: [1.0] * 3, 4.0: [1.0] * 3}) + rows(
        {9.0: [1.0] * 3}, system="linux_default", dvfs_ghz=None
    )
    base = {2.0: 900.0, 4.0: 700.0, 9.0: 600.0}
    for at, row in enumerate(found):
        row |= {"run_id": f"m{at}", "iops": base[row["itr_us"]] + at % 3}
    choice = replace(TUNED, objective="iops")
    with open_lake(write_lake(tmp_path / "lake", found)) as lake:
        answer = decide(lake, choice)
        other = compare(lake, replace(choice, system="linux_default"), choice)
    assert answer.recommended is not None
    assert answer.recommended["itr_us"] == 2.0
    assert answer.change_pct is not None
    change, low, high = (value or 0.0 for value in answer.change_pct)
    assert change == pytest.approx(100 * (901 / 601 - 1), abs=0.1)
    assert 0 < low < change < high
    assert other.outcome == "b_better"
    against, low, high = (value or 0.0 for value in other.change_pct)
    assert against == pytest.approx(100 * (601 / 901 - 1), abs=0.1)
    assert low < against < high < 0


def test_the_default_is_no_candidate_of_its_own_choice(lake: Lake) -> None:
    answer = decide(lake, replace(TUNED, system="linux_default"))
    assert answer.settings == 1
    assert answer.change_pct is None
    assert "no other setting" in answer.reason


@pytest.mark.parametrize("twice", [2, 0])
def test_choices_with_few_repeated_settings(tmp_path: Path, twice: int) -> None:
    settings = {2.0 * i: [100.0 + i] for i in range(1, 6)}
    for i in range(1, twice + 1):
        settings[2.0 * i].append(100.05 + i)
    with open_lake(write_lake(tmp_path / "lake", rows(settings))) as few:
        answer = decide(few, TUNED)
    # Without a noise to borrow, settings measured once are listed, not judged.
    assert len(answer.not_judged) == 5 - twice
    assert answer.members_once == ()
    assert len(answer.members) == (1 if twice else 0)
    assert answer.reason == (
        "no default was measured here" if twice
        else "no setting has two runs, or a noise to borrow"
    )  # fmt: skip


def test_few_settings_borrow_noise_from_other_loads(tmp_path: Path) -> None:
    here = rows({2.0: [100.0, 101.0], 4.0: [99.0]})
    other = {2.0 * i: [200.0 + i, 201.0 + i] for i in range(1, 9)}
    there = [{**row, "run_id": f"b{i}"} for i, row in enumerate(rows(other, load_qps=400_000.0))]
    with open_lake(write_lake(tmp_path / "lake", here + there)) as both:
        answer = decide(both, replace(TUNED, load_qps=200_000.0))
    assert answer.not_judged == ()
    assert [m["itr_us"] for m in answer.members_once] == [4.0]


def test_a_choice_must_fix_what_varies(tmp_path: Path) -> None:
    here, there = rows({2.0: [100.0]}), rows({2.0: [100.0]}, load_qps=400_000.0)
    with open_lake(write_lake(tmp_path / "lake", here + there)) as both:
        with pytest.raises(DataError, match=r"load_qps varies .* give one of 200000.0, 400000.0"):
            decide(both, TUNED)
        with pytest.raises(DataError, match="no run has workload memcached, load_qps 7"):
            decide(both, replace(TUNED, load_qps=7.0))
        with pytest.raises(DataError, match="colour: no column that a choice can fix"):
            decide(both, replace(TUNED, where={"colour": "red"}))
        with pytest.raises(DataError, match="no such column of runs: 'energy'"):
            decide(both, replace(TUNED, objective="energy"))
        with pytest.raises(DataError, match="limit latency_p99_us is -1"):
            decide(both, replace(TUNED, load_qps=200_000.0, limit=("latency_p99_us", -1.0)))


def test_more_is_better_is_compared_the_other_way_round(tmp_path: Path) -> None:
    settings = {2.0: [100.0, 101.0, 100.5], 4.0: [150.0, 151.0, 150.5], 6.0: [120.0, 121.0, 122.0]}
    found = [{**row, "throughput_qps": row["energy_j"]} for row in rows(settings)]
    with open_lake(write_lake(tmp_path / "lake", found)) as more:
        most = decide(more, replace(TUNED, objective="throughput_qps"))
        least = decide(more, replace(TUNED, limit=("throughput_qps", 110.0)))
    assert most.recommended is not None
    assert most.recommended["itr_us"] == 4.0
    assert (least.within, least.outside) == (2, 1)


def test_a_comparison_needs_one_objective(lake: Lake) -> None:
    with pytest.raises(DataError, match="one objective and one limit"):
        compare(lake, TUNED, replace(TUNED, objective="latency_p99_us"))


# --- the published tables ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def published(published_lake: Path) -> Iterator[Lake]:
    with open_lake(published_lake) as opened:
        yield opened


def published_choice(words: str, limit: dict[str, float] | None) -> Choice:
    """`mcd linux_tuned 200000 joules no limit` as a choice."""
    table, system, *rest = words.split()
    given: dict[str, Any] = {}
    if table == "mcd":
        given["load_qps"] = float(rest.pop(0))
    elif table == "netpipe":
        given["message_bytes"] = int(rest.pop(0))
    bounds = [(_METRICS[name], value) for name, value in (limit or {}).items()]
    return Choice(
        workload=_WORKLOADS[table], system=system, objective=_METRICS[rest[0]],
        limit=bounds[0] if bounds else None, **given,
    )  # fmt: skip


def key(setting: dict[str, Any] | None) -> tuple[Any, ...]:
    assert setting is not None
    return setting["itr_us"], setting["dvfs_ghz"], setting["rapl_w"]


def keys(words: list[str]) -> set[tuple[float, ...]]:
    """`itr 300 dvfs 0xd00 rapl 75` as values."""
    split = [text.split() for text in words]
    return {(float(w[1]), (int(w[3], 16) >> 8) / 10, float(w[5])) for w in split}


def close(found: tuple[Any, ...] | None, wanted: list[Any]) -> bool:
    assert found is not None
    return all(
        (a is None and b is None) or (a is not None and b is not None and abs(a - b) <= 2e-6)
        for a, b in zip(found, wanted, strict=True)
    )


@pytest.mark.real
@pytest.mark.parametrize("wanted", expected("choices"), ids=lambda c: c["choice"])
def test_published_choices(published: Lake, wanted: dict[str, Any]) -> None:
    answer = decide(published, published_choice(wanted["choice"], wanted["limit"]))
    assert answer.settings == wanted["settings"]
    assert {key(m) for m in answer.members} == keys(wanted["members"])
    assert {key(m) for m in answer.members_once} == keys(wanted["members_once"])
    assert {key(answer.recommended)} == keys([wanted["recommended"]])
    assert answer.recommended_n == wanted["recommended_n"]
    assert close((answer.regret_pct,), [wanted["regret_pct"]])
    assert close(answer.change_pct, wanted["change_pct"])
    if wanted["within"]:
        assert (answer.within, answer.outside) == (
            wanted["within"]["within"], wanted["within"]["outside"],
        )  # fmt: skip


@pytest.mark.real
@pytest.mark.parametrize("wanted", expected("pairs"), ids=lambda p: f"{p['pair']} {p['limit']}")
def test_published_pairs(published: Lake, wanted: dict[str, Any]) -> None:
    table, *rest = wanted["pair"].split()
    load = [] if table == "node" else [rest.pop(0)]
    a, _, b, metric = rest
    limit = {_LIMITED[table]: wanted["limit"]} if wanted["limit"] else None
    one, other = (published_choice(" ".join([table, s, *load, metric]), limit) for s in (a, b))
    found = compare(published, one, other)
    named = {"a_better": f"{a} better", "b_better": f"{b} better"}
    assert named.get(found.outcome, found.outcome) == wanted["outcome"]
    assert close(found.change_pct, wanted["change_pct"])
    assert list(found.members) == wanted["members"]
    assert list(found.left_out_once) == wanted["left_out_n1"]
    assert found.more_runs == wanted["more_runs"]


@pytest.mark.thin(4)
@pytest.mark.real
@pytest.mark.parametrize("wanted", expected("hypervolume"), ids=lambda h: h["pair"])
def test_published_fronts(published: Lake, wanted: dict[str, Any]) -> None:
    table, *rest = wanted["pair"].split()
    load = [] if table == "node" else [rest.pop(0)]
    a, _, b = rest
    one, other = (published_choice(" ".join([table, s, *load, "joules"]), None) for s in (a, b))
    performance = next(name for name in wanted["reference"] if name != "joules")
    found = compare_fronts(published, one, other, _METRICS[performance])
    reference = [math.exp(value) for value in found.reference]
    assert reference == pytest.approx(list(wanted["reference"].values()), rel=1e-6)
    assert list(found.areas) == pytest.approx(wanted["hypervolume_log"], abs=1e-8)
    # The draws have another generator, and ends scatter by more than 0.05 from seed to seed. The
    # ratios of these two differ by 4 and 2 %: their sets of draws are wide.
    is_wide = wanted["pair"].startswith(("netpipe 65536", "node"))
    tolerance = 0.06 * wanted["ratio"] if is_wide else 0.05
    assert found.estimate == pytest.approx(wanted["ratio"], abs=tolerance)
    assert found.low < found.estimate < found.high
    assert found.low == pytest.approx(wanted["low"], rel=0.25)

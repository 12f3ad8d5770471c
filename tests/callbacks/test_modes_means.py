"""What a cell of Modes compares: one configuration a competitor, and what the reader pools."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.kit.context import Lakes
from app.kit.lake_view import LakeView
from app.modes.answer import answer
from app.modes.evidence import evidence
from app.modes.judged import Judged
from app.modes.payload import judge
from app.modes.state import ModesState
from data.catalogue import SHIPPED
from tests.fixtures.lakes import run, write_lake

MAP = "v=3&workload=memcached&x=itr&y=dvfs&who=system&test=student&corr=none"


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> LakeView:
    """Two systems over ITR x DVFS at two loads; 135 W in each cell, 75 W at 2.9 GHz alone.

    By hand: requests = 1,000 GHz + W + r; energy = W + 10 ITR + r, and 50 more for Linux tuned.
    """
    rows = [
        run(system=system, itr_us=itr, dvfs_ghz=ghz, load_qps=load, rapl_w=rapl, replicate=r,
            requests=int(1000 * ghz + rapl + r), energy_j=rapl + 10 * itr + r + more)
        for system, more in (("linux_tuned", 50.0), ("ebbrt_tuned", 0.0)) for itr in (2.0, 50.0)
        for ghz in (1.3, 2.9) for load in (200_000.0, 400_000.0) for rapl in (75.0, 135.0)
        for r in (0, 1) if rapl > 100 or ghz > 2
    ]  # fmt: skip
    path: Path = tmp_path_factory.mktemp("means") / "lake"
    return Lakes(write_lake(path, rows)).at(None)


def judged(view: LakeView, query: str) -> Judged:
    return judge(view, ModesState.from_query(f"{MAP}&{query}", SHIPPED))


def subtitle(view: LakeView, query: str) -> str:
    figure = answer(view, ModesState.from_query(f"{MAP}&{query}", SHIPPED)).winners
    return str(figure["layout"]["title"]["text"]).partition("<span")[2]


def contenders(found: Judged) -> dict[tuple, tuple]:
    rows = found.comparison.contenders.select("x", "y", "competitor", "n", "mean").rows()
    return {row[:3]: row[3:] for row in rows}


def test_a_cell_compares_one_load(view: LakeView) -> None:
    assert "200k QPS of 2 target loads (most complete)" in subtitle(view, "metric=energy_j")
    found = judged(view, "metric=energy_j")
    assert found.state.selection.values("load") == (200_000.0,)
    # The best setting of each system is at 75 W where that was measured: 75 + 20 + 1/2.
    assert contenders(found)[2.0, 2.9, "ebbrt_tuned"] == (2, 95.5)
    assert contenders(found)[2.0, 1.3, "ebbrt_tuned"] == (2, 155.5)


def test_without_a_direction_one_setting_is_shown_and_named(view: LakeView) -> None:
    query = "metric=requests&load=200000"
    assert "135 W of 2 power limits (most complete)" in subtitle(view, query)
    assert contenders(judged(view, query))[2.0, 2.9, "linux_tuned"] == (2, 3035.5)


def test_a_reader_may_pool_a_setting(view: LakeView) -> None:
    query = "metric=requests&load=200000&pool=rapl"
    assert "over 2 power limits, unbalanced" in subtitle(view, query)
    # (3035.5 + 2975.5) / 2
    assert contenders(judged(view, query))[2.0, 2.9, "linux_tuned"] == (4, 3005.5)
    assert contenders(judged(view, query))[2.0, 1.3, "linux_tuned"] == (2, 1435.5)


def test_pooled_settings_do_not_compete(view: LakeView) -> None:
    query = "metric=energy_j&load=200000&pool=rapl"
    found = judged(view, query)
    # Both limits: (95.5 + 155.5) / 2.
    assert contenders(found)[2.0, 2.9, "ebbrt_tuned"] == (4, 125.5)
    state = ModesState.from_query(f'{MAP}&{query}&sel=knobs~{{"dvfs_ghz":2.9,"itr_us":2}}', SHIPPED)
    shown = evidence(view, state)
    assert shown is not None
    first = shown.contenders[0]
    assert first.values == (95.0, 96.0, 155.0, 156.0)
    assert sorted(first.runs["value"]) == [95.0, 96.0, 155.0, 156.0]
    # Its link leads to the runs of both limits.
    assert "rapl_w" not in first.place
    assert (first.setting, first.settings) == ("", 1)


def test_a_lead_by_a_setting_that_the_other_lacks_is_told_with_the_lead_at_like_settings(
    tmp_path: Path,
) -> None:
    # At 50 us library OS alone has 75 W: 60 J against 90 J, but 100 J against 90 J at 135 W.
    energies = {("ebbrt_tuned", 75.0, 50.0): 60.0, ("ebbrt_tuned", 135.0, 50.0): 100.0,
                ("linux_tuned", 135.0, 50.0): 90.0, ("ebbrt_tuned", 75.0, 2.0): 80.0,
                ("ebbrt_tuned", 135.0, 2.0): 70.0, ("linux_tuned", 135.0, 2.0): 75.0}  # fmt: skip
    rows = [
        run(system=system, itr_us=itr, dvfs_ghz=2.9, rapl_w=rapl, replicate=r, energy_j=energy + r)
        for (system, rapl, itr), energy in energies.items() for r in (0, 1)
    ]  # fmt: skip
    own = Lakes(write_lake(tmp_path / "lake", rows)).at(None)
    state = ModesState.from_query(f"{MAP}&metric=energy_j", SHIPPED)
    told = (
        "In 1 of 2 cells the leader is best at a setting at which the runner-up was not measured "
        "(75 W); at the settings that both have, Linux tuned leads in 1."
    )
    assert told in answer(own, state).conclusions
    cell = 'knobs~{"dvfs_ghz":2.9,"itr_us":50}'
    found = evidence(own, replace(state, sel=cell))
    assert found is not None
    assert found.verdict.endswith(
        "Linux tuned was not measured at 75 W: part of the lead may be due to that setting. At the "
        "settings that both have, Linux tuned leads Library OS (Energy \N{MINUS SIGN}9.95 %, "
        "10.0 J less; n = 2 and 2, won)."
    )
    # Where the best setting is one of both, nothing is added.
    other = evidence(own, replace(state, sel=cell.replace("50", "2")))
    assert other is not None
    assert "both have" not in other.verdict

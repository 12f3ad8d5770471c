"""The papers' claims on the study worked in tests/fixtures/storage_rows.py, and on less than it."""

from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from app.kit.lakes import Lakes, LakeView
from app.storage.answer import answer
from app.storage.claims import RULES, judged_claims
from app.storage.state import StorageState
from app.storage.verdict import DOES_NOT, HOLDS, UNDECIDED, Judged
from app.storage.views import BY_NAME
from data.errors import DataError
from data.reference.claims import claims, read_claims
from data.selection import Selection
from tests.fixtures.storage_rows import fio, study_lake
from tests.unit.test_figures_storage import lake


def judged(view: LakeView, state: StorageState | None = None) -> dict[str, Judged]:
    found = answer(view, state or StorageState())
    return {one.claim.name: one for one in judged_claims(found.study, found.functions)}


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> LakeView:
    return Lakes(study_lake(tmp_path_factory.mktemp("study") / "lake")).at(None)


@pytest.fixture(scope="module")
def shown(view: LakeView) -> dict[str, Judged]:
    return judged(view)


def test_every_claim_has_a_rule_a_view_and_a_source() -> None:
    assert [one.name for one in claims()] == list(RULES)
    assert [one.where for one in claims()] == [
        *(f"observation {n}" for n in range(1, 7)), *["figure 4"] * 4,
    ]  # fmt: skip
    for rule in RULES.values():
        assert rule.view in BY_NAME
        assert len(rule.words) > 80


def test_the_outcomes_of_the_study(shown: dict[str, Judged]) -> None:
    assert {name: one.verdict.outcome for name, one in shown.items()} == {
        # at every depth 8.1 us against 10.1, and 9.1 us; 40, 60 and 100 % of a CPU a thread
        "faster": HOLDS, "cpu": HOLDS,
        # power is 40 W + 5 W x depth whatever the mode
        "cpu-power": DOES_NOT,
        "switches": HOLDS,
        # one run of each mode with functions
        "moves": UNDECIDED,
        # bytes per joule follow the IO rate: classic polling wins all six cells
        "efficient": DOES_NOT,
        # 8 x 1e6 / 10.1 = 792,000 a second
        "interrupt-rate": HOLDS,
        "write-cpu": DOES_NOT,
        # 45 W at 40 %, 80 W at 320 %
        "proportional": HOLDS,
        # 2 W more where it writes
        "write-power": HOLDS,
    }  # fmt: skip


def test_means_n_test_and_p_are_said(shown: dict[str, Judged]) -> None:
    first = shown["faster"].verdict.comparisons[0]
    rates = [[1e6 / us for us in pair] for pair in ((8.0, 8.2), (10.0, 10.2))]
    assert first.pair.p == pytest.approx(stats.ttest_ind(*rates).pvalue)
    assert first.words == (
        f"classic polling, interrupt, depth 1: 123 k/s, 99.0 k/s; n = 2, 2; p = {first.pair.p:.3f}"
    )
    assert first.test == "Student's t"
    assert shown["faster"].verdict.words == (
        "IO rate: classic polling more than interrupt at 3 of 3 IO depths; "
        "hybrid polling more than interrupt at 3 of 3 IO depths"
    )
    assert "6 cells" in shown["efficient"].verdict.words
    assert "classic polling wins 6" in shown["efficient"].verdict.words
    # 45 W: 4096 B x 1e6 / 8.1 us and / 9.1 us, over 45 W
    assert (
        shown["efficient"]
        .verdict.comparisons[0]
        .words.startswith(
            "classic polling, hybrid polling, 4 KiB, depth 1: 11.2 MB/J, 10.0 MB/J; n = 2, 2; p = "
        )
    )


def test_what_cannot_be_told_says_which_runs_are_missing(shown: dict[str, Judged]) -> None:
    assert shown["moves"].verdict.words == (
        "no runs of hybrid polling at optane · randread · 4 KiB with loads and stores measured"
    )


@pytest.mark.parametrize(
    ("values", "name", "words"),
    [
        ({"mode": ["interrupt", "poll"]}, "cpu", "no runs of hybrid polling at optane · randread"),
        ({"mode": ["poll", "hybrid"]}, "proportional", "no two cells completed by interrupts"),
        ({"mode": ["poll"]}, "cpu-power", "no runs of interrupt at optane"),
        ({"mode": ["interrupt"], "rw": ["randread"]}, "write-power", "no runs of interrupt at"),
    ],
)
def test_filters_leave_claims_that_cannot_be_told(
    view: LakeView, values: dict[str, list], name: str, words: str
) -> None:
    verdict = judged(view, StorageState(Selection.of(**values)))[name].verdict
    assert verdict.outcome == UNDECIDED
    assert verdict.words.startswith(words)


def outcomes(path: Path, rows: list[dict[str, Any]]) -> dict[str, str]:
    return {name: one.verdict.outcome for name, one in judged(lake(path, rows)).items()}


def three(column: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    """Three runs of each mode, 1 % apart in one quantity."""
    rows = [fio(mode, replicate=r) for mode in values for r in range(3)]
    return [row | {column: values[row["mode"]] * (1 + 0.01 * row["replicate"])} for row in rows]


def test_claims_are_contradicted_by_runs_that_say_otherwise(tmp_path: Path) -> None:
    slow = three("iops", {"poll": 90e3, "hybrid": 95e3, "interrupt": 100e3})
    found = outcomes(tmp_path / "slow", slow)
    assert found["faster"] == DOES_NOT
    # too few interrupts: the rate is that of 10 us; no writing to compare with
    assert found["interrupt-rate"] == DOES_NOT
    assert found["write-power"] == UNDECIDED
    often = three("context_switches", {"poll": 0, "hybrid": 2e6, "interrupt": 1e6})
    assert outcomes(tmp_path / "often", often)["switches"] == DOES_NOT
    power = three("power_w", {"poll": 40.0, "hybrid": 60.0, "interrupt": 50.0})
    assert outcomes(tmp_path / "power", power)["cpu-power"] == HOLDS


def test_one_run_of_each_tells_nothing(tmp_path: Path) -> None:
    rows = [fio(mode) for mode in ("interrupt", "poll", "hybrid")]
    found = judged(lake(tmp_path, rows))
    assert found["faster"].verdict.words == (
        "no IO depth with two runs of classic polling and two of interrupt with IO rate measured"
    )
    assert found["efficient"].verdict.outcome == UNDECIDED


def test_a_lake_without_storage_runs_tells_nothing(tmp_path: Path) -> None:
    assert {one.verdict.outcome for one in judged(lake(tmp_path, [])).values()} == {UNDECIDED}


def test_a_claim_of_an_unknown_paper_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tables.toml").write_text("[papers]\n")
    (tmp_path / "claims.toml").write_text(
        '[[claims]]\nname = "a"\npaper = "none"\nwhere = "text"\ntext = "b"\n'
    )
    with pytest.raises(DataError, match=r"claim a is of 'none', which tables\.toml lacks"):
        read_claims(tmp_path)

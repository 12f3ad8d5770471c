"""The papers' claims on the study worked in tests/fixtures/storage_rows.py, and on less than it."""

from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from app.kit.context import Lakes
from app.kit.lake_view import LakeView
from app.storage.answer import rows_behind
from app.storage.layout_tables import claims_blocks
from app.storage.published import Judged, judged_claims
from app.storage.state import StorageState
from app.storage.study import study_of
from app.storage.views import VIEW_OF
from data.analysis.verdicts import DOES_NOT, HOLDS, IN_PART, NEARLY, UNDECIDED, combined
from data.errors import DataError
from data.published import RULES_OF_STORAGE
from data.reference.claims import claims, read_claims
from data.selection import Selection
from tests.fixtures.storage_rows import fio, idle, study_lake
from tests.unit.test_figures_storage import lake


def judged(view: LakeView, state: StorageState | None = None) -> dict[str, Judged]:
    study = study_of(view, state or StorageState())
    return {one.claim.name: one for one in judged_claims(study)}


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> LakeView:
    return Lakes(study_lake(tmp_path_factory.mktemp("study") / "lake")).at(None)


@pytest.fixture(scope="module")
def shown(view: LakeView) -> dict[str, Judged]:
    return judged(view)


def test_every_claim_has_a_rule_a_view_and_a_source() -> None:
    assert [one.name for one in claims()] == list(RULES_OF_STORAGE)
    assert sorted(VIEW_OF) == sorted(RULES_OF_STORAGE)
    assert [name.partition("-")[0] for name in RULES_OF_STORAGE] == ["000"] * 7 + ["004"] * 9
    for one in claims():
        assert len(one.rule) > 80


def test_the_outcomes_of_the_study(shown: dict[str, Judged]) -> None:
    assert {name: one.verdict.outcome for name, one in shown.items()} == {
        # classic polling 24,456 IOs a second more, hybrid polling 10,884 of 17,000
        "000-O1": IN_PART,
        # 40, 60 and 100 % of a CPU a thread; power is 40 W + 5 W x depth whatever the mode
        "000-O2": HOLDS, "000-O3": DOES_NOT, "000-O4": HOLDS,
        # one run of each mode with functions
        "000-O5": UNDECIDED,
        # bytes per joule follow the IO rate: classic polling wins all six tiles; hybrid polling is
        # between the others, and wins none
        "000-O6": DOES_NOT, "000-C7": IN_PART,
        # optane idles; a disk's reads, and no flash
        "004-O1": UNDECIDED, "004-O2": UNDECIDED, "004-O3": IN_PART, "004-O4": DOES_NOT,
        # 8 x 1e6 / 10.1 = 792,000 a second is 1.32 of the printed; CPU of both accesses is equal
        "004-O5": IN_PART, "004-O6": UNDECIDED, "004-O7": UNDECIDED, "004-C8": UNDECIDED,
        # 2 W more where it writes, at the peak too
        "004-C9": IN_PART,
    }  # fmt: skip


def test_means_n_test_and_p_are_said(shown: dict[str, Judged]) -> None:
    first = shown["000-O1"].verdict.comparisons[0]
    rates = [[1e6 / us for us in pair] for pair in ((8.0, 8.2), (10.0, 10.2))]
    assert first.pair.p == pytest.approx(stats.ttest_ind(*rates).pvalue)
    assert first.words == (
        f"classic polling, interrupt, depth 1: 123 k/s, 99.0 k/s; n = 2, 2; p = {first.pair.p:.3f}"
    )
    assert first.test == "Student's t"
    parts = shown["000-O1"].verdict.parts
    assert parts[0].words == "classic polling +24,456 IOs a second at depth 1, +24,000 printed"
    assert parts[3].words == "hybrid polling faster than interrupt at 3 of 3 IO depths"
    assert "6 tiles" in shown["000-O6"].verdict.words


@pytest.mark.parametrize(
    ("values", "name", "words"),
    [
        ({"mode": ["interrupt", "poll"]}, "000-O4", "no runs of hybrid polling at optane"),
        ({"mode": ["poll"]}, "000-O3", "no runs of hybrid polling at optane"),
        ({"mode": ["interrupt"], "rw": ["randread"]}, "004-C9", "no runs of interrupt at"),
        ({"device": ["disk"]}, "004-O3", "no two runs of one configuration of SATA flash"),
        ({"request": [65536.0]}, "000-O1", "no random reads of 4 KiB"),
    ],
)
def test_filters_leave_claims_that_cannot_be_told(
    view: LakeView, values: dict[str, list], name: str, words: str
) -> None:
    verdict = judged(view, StorageState(Selection.of(**values)))[name].verdict
    undecided = [one.words for one in verdict.parts or (verdict,) if one.outcome == UNDECIDED]
    assert any(one.startswith(words) for one in undecided), undecided


def outcomes(path: Path, rows: list[dict[str, Any]]) -> dict[str, str]:
    return {name: one.verdict.outcome for name, one in judged(lake(path, rows)).items()}


def three(column: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    """Three runs of each mode, 0.1 % apart in one quantity."""
    rows = [fio(mode, replicate=r) for mode in values for r in range(3)]
    return [row | {column: values[row["mode"]] * (1 + 0.001 * row["replicate"])} for row in rows]


@pytest.mark.parametrize(
    ("more", "outcome"),
    [(24e3, HOLDS), (30.5e3, NEARLY), (2e3, DOES_NOT), (80e3, DOES_NOT), (-24e3, DOES_NOT)],
)
def test_a_printed_size_has_two_sides(tmp_path: Path, more: float, outcome: str) -> None:
    rates = {"poll": 100e3 + more, "hybrid": 117e3, "interrupt": 100e3}
    verdict = judged(lake(tmp_path, three("iops", rates)))["000-O1"].verdict
    assert [part.outcome for part in verdict.parts][:2] == [outcome, HOLDS]
    # the direction is another part
    assert verdict.parts[2].outcome == (DOES_NOT if more < 0 else HOLDS)


def test_claims_are_contradicted_by_runs_that_say_otherwise(tmp_path: Path) -> None:
    slow = three("iops", {"poll": 90e3, "hybrid": 95e3, "interrupt": 100e3})
    assert outcomes(tmp_path / "slow", slow)["000-O1"] == DOES_NOT
    often = three("context_switches", {"poll": 0, "hybrid": 2e6, "interrupt": 1e6})
    assert outcomes(tmp_path / "often", often)["000-O4"] == IN_PART
    power = three("power_w", {"poll": 40.0, "hybrid": 60.0, "interrupt": 50.0})
    assert outcomes(tmp_path / "power", power)["000-O3"] == HOLDS


def interrupting(rw: str, rate: float, kernel_pct: float, n: int = 2) -> list[dict[str, Any]]:
    """Runs at an interrupt rate, with the kernel's CPU and as much of the program."""
    return [
        fio("interrupt", rw=rw, depth=int(rate / 1e5), replicate=r, interrupts=round(rate * 10),
            cpu_sys_pct=kernel_pct + r, cpu_user_pct=kernel_pct)
        for r in range(n)
    ]  # fmt: skip


def test_a_greatest_rate_of_one_run_decides_nothing(tmp_path: Path) -> None:
    for n, outcome in ((1, UNDECIDED), (2, HOLDS)):
        runs = interrupting("randread", 590e3, 100, n)
        (rate, *_) = judged(lake(tmp_path / str(n), runs))["004-O5"].verdict.parts
        assert rate.outcome == outcome
        assert rate.words.startswith("n: " if n == 1 else "at most 590 k/s (n = 2)")
    above = judged(lake(tmp_path / "above", interrupting("randread", 1.2e6, 100)))
    assert above["004-O5"].verdict.parts[0].outcome == DOES_NOT


@pytest.mark.parametrize(("written", "outcome"), [(300, HOLDS), (440, NEARLY), (800, DOES_NOT)])
def test_the_cpu_of_writes_is_the_kernels_and_two_sided(
    tmp_path: Path, written: float, outcome: str
) -> None:
    rows = interrupting("randwrite", 400e3, written) + interrupting("randread", 600e3, 100)
    parts = judged(lake(tmp_path, rows))["004-O5"].verdict.parts
    assert [part.outcome for part in parts] == [HOLDS, outcome, HOLDS, HOLDS]


def test_equal_means_without_spread_decide_nothing(shown: dict[str, Judged]) -> None:
    said = [part.words for part in shown["004-O5"].verdict.parts if part.outcome == UNDECIDED]
    assert any("all means are equal and have no spread" in words for words in said)


def four_devices() -> list[dict[str, Any]]:
    """Two runs of each device, of three sizes and depths; the power rises with the depth."""
    # Device to its power idle, and its least and greatest other power.
    watts = {"disk": (39, 47, 50), "sata-ssd": (31, 40, 56), "nvme-ssd": (31, 40, 70),
             "optane": (34, 40, 99)}  # fmt: skip
    runs = [
        fio("interrupt", device, rw, size, d, r, power_w=low + (high - low) * d / 64 + 0.01 * r)
        for device, (_, low, high) in watts.items()
        for rw in ("randread", "randwrite")
        for size in (4096, 8192, 65536)
        for d in (1, 8, 64)
        for r in (0, 1)
    ]
    return runs + [idle(device, w[0] + 0.1 * r, r) for device, w in watts.items() for r in (0, 1)]


def test_claims_of_four_devices(tmp_path: Path) -> None:
    found = judged(lake(tmp_path, four_devices()))
    assert found["004-O1"].verdict.outcome == HOLDS
    assert found["004-O2"].verdict.outcome == HOLDS
    # 59 of 99 W
    assert found["004-O4"].verdict.outcome == HOLDS
    assert found["004-O4"].verdict.parts[-1].words.startswith("Optane spans 0.59 of")
    # reads and writes draw alike power, on Optane too; no run of 1 KiB
    assert [part.outcome for part in found["004-O3"].verdict.parts] == [
        HOLDS, HOLDS, HOLDS, DOES_NOT, UNDECIDED,
    ]  # fmt: skip
    # latency grows with the size, so bytes a joule do not rise; the disk is as fast as the others
    assert found["004-C8"].verdict.outcome == DOES_NOT
    assert "9 tiles" in found["004-C8"].verdict.words
    assert found["004-O7"].verdict.outcome == IN_PART


def test_settings_are_not_mixed(tmp_path: Path) -> None:
    """A second data set, slower and with fewer modes, changes no verdict."""
    rows = three("iops", {"poll": 124e3, "hybrid": 117e3, "interrupt": 100e3})
    other = [row | {"dataset": "old", "run_id": f"old-{row['run_id']}", "iops": 1e3}
             for row in rows if row["mode"] != "poll"]  # fmt: skip
    alone, mixed = (judged(lake(tmp_path / name, some))["000-O1"].verdict
                    for name, some in (("alone", rows), ("mixed", rows + other)))  # fmt: skip
    assert alone.words == mixed.words
    assert alone.outcome == HOLDS


def test_a_verdict_on_synthetic_runs_says_so_in_its_line(tmp_path: Path) -> None:
    rows = three("iops", {"poll": 124e3, "hybrid": 117e3, "interrupt": 100e3})
    view = lake(tmp_path, [row | {"is_synthetic": True} for row in rows])
    blocks = claims_blocks(study_of(view, StorageState()))
    lines = [
        str(line)
        for name, block in blocks.items()
        if name != "claims"
        for item in block[0].children
        for line in (item.children[0], *getattr(item.children[1].children, "children", []))
    ]
    assert any(" holds" in line for line in lines)
    assert all(line.count(" holds") <= line.count("(synthetic data)") for line in lines)
    said = {one["outcome"] for one in rows_behind(view, StorageState(), "claims").to_dicts()}
    assert "holds (synthetic data)" in said
    assert all(one == UNDECIDED or "(synthetic data)" in one for one in said)


def test_an_outcome_of_parts() -> None:
    assert combined([HOLDS, HOLDS]) == HOLDS
    assert combined([HOLDS, NEARLY]) == NEARLY
    assert combined([HOLDS, DOES_NOT]) == combined([HOLDS, UNDECIDED]) == IN_PART
    assert combined([DOES_NOT, UNDECIDED]) == DOES_NOT
    assert combined([UNDECIDED]) == UNDECIDED


def test_one_run_of_each_tells_nothing(tmp_path: Path) -> None:
    rows = [fio(mode) for mode in ("interrupt", "poll", "hybrid")]
    found = judged(lake(tmp_path, rows))
    assert found["000-O2"].verdict.parts[1].words == (
        "n: no IO depth with two runs of classic polling and two of hybrid polling "
        "with CPU measured"
    )
    assert {one.verdict.outcome for one in found.values()} == {UNDECIDED}


def test_a_lake_without_storage_runs_tells_nothing(tmp_path: Path) -> None:
    verdicts = [one.verdict for one in judged(lake(tmp_path, [])).values()]
    assert {(one.outcome, one.words) for one in verdicts} == {
        (UNDECIDED, "no measured storage runs")
    }


def test_a_claim_of_an_unknown_paper_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tables.toml").write_text("[papers]\n")
    (tmp_path / "claims.toml").write_text(
        '[[claims]]\nname = "a"\npaper = "none"\nwhere = "text"\ntext = "b"\n'
    )
    with pytest.raises(DataError, match=r"claim a is of 'none', which tables\.toml lacks"):
        read_claims(tmp_path)

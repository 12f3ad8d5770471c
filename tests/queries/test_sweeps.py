"""Shares of knobs and effects of levels, from a lake."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from data.choices import Choice
from data.connection import Lake, open_lake
from data.errors import DataError
from data.selection import Selection
from data.sweeps import knob_effect, knob_shares, scope_words, sweeps_of
from tests.fixtures.lakes import LABELS, run, write_lake

_EXPECTED = Path(__file__).resolve().parents[2].parent / "shared/expected/decisions.json"
CHOICE = Choice(
    workload="memcached", load_qps=200_000.0, system="linux_tuned", objective="energy_j"
)


def grid() -> list[dict[str, Any]]:
    """Energy 100 x 2^(clock) whatever the ITR; the default; one setting off the grid."""
    rows = [
        run(itr_us=itr, dvfs_ghz=ghz, replicate=r, energy_j=100.0 * 2**j * (1 + 0.01 * r))
        for itr in (2.0, 100.0, 300.0)
        for j, ghz in enumerate((1.3, 2.1, 2.9))
        for r in (0, 1)
    ]
    rows += [run(itr_us=2.0, dvfs_ghz=2.5, replicate=r, energy_j=5000.0 + r) for r in (0, 1)] + [
        run(system="linux_default", itr_us=None, dvfs_ghz=None, energy_j=900.0)
    ]
    return rows


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    tmp_path = tmp_path_factory.mktemp("lake")
    with open_lake(write_lake(tmp_path / "lake", grid())) as found:
        yield found


def test_the_knob_that_does_everything_has_everything(lake: Lake) -> None:
    found = knob_shares(lake, CHOICE)
    assert [one.name for one in found.mains] == ["DVFS", "ITR"]
    # The setting off the grid is an ITR of 2 us too, so ITR shares what it explains.
    assert found.mains[0].share > 0.9
    assert found.mains[0].low is not None
    assert found.mains[0].low <= found.mains[0].share
    assert found.fixed == ("RAPL",)
    assert (found.settings, found.runs) == (10, 20)
    total = sum(one.share for one in found.mains) + sum(s for _, s in found.pairs)
    assert total + found.rest + found.noise == pytest.approx(1, abs=1e-4)
    assert found.sentence.startswith("DVFS 9")
    assert found.sentence.endswith("(10 settings, 20 runs)")


def test_levels_are_compared_at_the_other_knobs_equal(lake: Lake) -> None:
    """2.5 GHz, 5,000 J, was run at one ITR alone: by plain means 2 us would look costly.

    At the average clock, (3 x (0 + 1 + 2) ln 2 + ln 50) / 10 above the 100 J of 1.3 GHz.
    """
    by_itr = knob_effect(lake, CHOICE, "itr_us")
    assert [(one.level, one.settings, one.runs) for one in by_itr] == [
        (2.0, 4, 8), (100.0, 3, 6), (300.0, 3, 6),
    ]  # fmt: skip
    average = 100 * 2**0.9 * 50**0.1
    for one in by_itr:
        assert one.mean == pytest.approx(average, rel=0.005)
        assert one.low is not None
        assert one.high is not None
        assert one.low < one.mean < one.high
    both = knob_effect(lake, CHOICE, "dvfs_ghz", by="itr_us")
    cells = {(one.level, one.other): one.mean for one in both}
    assert cells[2.9, 300.0] == pytest.approx(400 * 1.01**0.5)
    with pytest.raises(DataError, match="no knob of this sweep"):
        knob_effect(lake, CHOICE, "load_qps")


def test_sweeps_are_found_with_most_settings_first(lake: Lake) -> None:
    (only,) = sweeps_of(lake, Selection(), "energy_j")
    assert (only.system, only.load_qps, only.dataset) == ("linux_tuned", 200_000.0, "tiny")
    assert scope_words(only, lake.catalogue, LABELS) == "Linux tuned, memcached, 200k QPS"
    # Where nothing names the system it is called as the workload: once.
    alike = replace(only, system="memcached")
    assert scope_words(alike, lake.catalogue, LABELS) == "memcached, 200k QPS"
    assert sweeps_of(lake, Selection.of(workload=["nodejs"]), "energy_j") == []


def test_a_choice_without_two_levels_is_refused(tmp_path: Path) -> None:
    rows = [run(replicate=r) for r in (0, 1)]
    with open_lake(write_lake(tmp_path / "lake", rows)) as lake, pytest.raises(DataError):
        knob_shares(lake, CHOICE)


@pytest.mark.real
def test_published_importances_come_through_the_door(published_lake: Path) -> None:
    wanted = {one["group"]: one for one in json.loads(_EXPECTED.read_text("utf-8"))["importance"]}
    expected = wanted["mcd linux_tuned 400000 joules"]
    with open_lake(published_lake) as lake:
        found = knob_shares(
            lake,
            Choice(
                workload="memcached", load_qps=400e3, system="linux_tuned", objective="energy_j"
            ),
            draws=0,
        )
    shares = {one.name.lower(): one.share for one in found.mains}
    assert (found.settings, found.runs) == (expected["settings"], expected["runs"])
    for name, (share, _, _) in expected["mains"].items():
        assert shares[name] == pytest.approx(share, abs=2e-6)
    assert found.noise == pytest.approx(expected["noise"], abs=2e-6)

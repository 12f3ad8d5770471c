"""Many SIGKILLs and power cuts over adds on a folder: no run is lost, none is doubled."""

import random
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from deltalake import DeltaTable

from ingest.lake.maintenance import repair_lake
from ingest.lake.verification import verify_lake
from ingest.pipeline import AddOptions, add
from tests.fixtures.power_cuts import Call, Disk, has_strace, record
from tests.unit.test_ingest_kill import contents, start, write_raw

RUNS = 4
# A lake starts anew after so many kills.
KILLS_A_LAKE = 10

_TRACED = """
import sys
import ingest.lake.commits
from ingest.__main__ import main
ingest.lake.commits.FLUSH_RUNS = 2
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_raw(tmp_path_factory.mktemp("survives") / "raw", RUNS)


@pytest.fixture(scope="module")
def clean(
    raw: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, list[str]], float]:
    """The tables of an add that nobody disturbs, and the seconds that it took."""
    folder = tmp_path_factory.mktemp("clean")
    # The first one starts the server of processes.
    for lake in (folder / "first", folder / "lake"):
        began = time.monotonic()
        assert start(raw, lake).wait() == 3
    return contents(lake), time.monotonic() - began


def killed(raw: Path, lake: Path, most_s: float, chance: random.Random) -> bool:
    """Start an add and kill it at a random moment; return whether that was before its end."""
    process = start(raw, lake)
    time.sleep(chance.uniform(0, most_s))
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


def survive_kills(
    raw: Path, clean: tuple[dict[str, list[str]], float], folder: Path, kills: int
) -> int:
    """Kill adds; after each tenth kill complete and verify the lake. Return the number of lakes."""
    chance, done, lakes = random.Random(kills), 0, 0
    while done < kills:
        lake = folder / f"lake{lakes}"
        for _ in range(min(KILLS_A_LAKE, kills - done)):
            done += killed(raw, lake, clean[1], chance)
        assert start(raw, lake).wait() in (0, 3)
        assert contents(lake) == clean[0], f"lake {lakes}, after {done} kills"
        assert list(verify_lake(lake)) == []
        shutil.rmtree(lake)
        lakes += 1
    return lakes


@pytest.mark.slow
def test_killed_some_times_no_run_is_lost_or_doubled(
    raw: Path, clean: tuple[dict[str, list[str]], float], tmp_path: Path
) -> None:
    assert survive_kills(raw, clean, tmp_path, 3) >= 1


@pytest.mark.cluster
def test_killed_a_thousand_times_no_run_is_lost_or_doubled(
    raw: Path, clean: tuple[dict[str, list[str]], float], tmp_path: Path
) -> None:
    assert survive_kills(raw, clean, tmp_path, 1000) >= 1000 / KILLS_A_LAKE


@pytest.fixture(scope="module")
def traced(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Call]]:
    """A lake, and the calls that made it: an add of most runs, then of the others, then a prune."""
    if not has_strace():
        pytest.skip("needs strace, with the right to trace")
    folder = tmp_path_factory.mktemp("traced")
    lake = folder / "lake"
    arguments = ["add", str(raw), "--lake", str(lake), "--workers", "1"]
    return lake, record(_TRACED, arguments, lake, folder)


def cuts(traced: tuple[Path, list[Call]], folder: Path, count: int) -> Iterator[tuple[Path, Disk]]:
    """Lakes after power cuts at random moments."""
    lake, calls = traced
    for number in range(count):
        chance = random.Random(number)
        disk = Disk(lake)
        for call in calls[: chance.randrange(len(calls) + 1)]:
            disk.run(call)
        above = folder / f"cut{number}"
        disk.cut(above, chance)
        (above / lake.name).mkdir(exist_ok=True)
        yield above / lake.name, disk


def survive_cuts(raw: Path, traced: tuple[Path, list[Call]], folder: Path, count: int) -> int:
    """Cut the power, repair what is said to need it, add again; return how many were repaired."""
    repaired, clean = 0, contents(traced[0])
    for number, (lake, disk) in enumerate(cuts(traced, folder, count)):
        repaired += bool(repair_lake(lake))
        for name, version in disk.sealed.items():
            # A commit that has ended is never lost.
            assert DeltaTable(str(lake / name)).version() >= version, f"cut {number}: {name}"
        add(AddOptions(lake, [raw], workers=1))
        assert contents(lake) == clean, f"cut {number}"
        assert list(verify_lake(lake)) == [], f"cut {number}"
        shutil.rmtree(lake)
    return repaired


def test_after_some_power_cuts_no_run_is_lost_or_doubled(
    raw: Path, traced: tuple[Path, list[Call]], tmp_path: Path
) -> None:
    survive_cuts(raw, traced, tmp_path, 5)


@pytest.mark.cluster
def test_after_a_hundred_power_cuts_no_run_is_lost_or_doubled(
    raw: Path, traced: tuple[Path, list[Call]], tmp_path: Path
) -> None:
    """Some of the cuts leave an empty or cut newest entry, which is said and repaired."""
    assert survive_cuts(raw, traced, tmp_path, 100) > 0

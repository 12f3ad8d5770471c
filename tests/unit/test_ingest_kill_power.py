"""SIGKILL before each commit of an `add` of metered runs, then the same command again."""

import shutil
import signal
from pathlib import Path

import pytest

from ingest.lake.verification import verify_lake
from tests.unit.test_ingest_kill import contents, start
from tests.unit.test_ingest_power import exported, put, put_sweep, watts

pytestmark = pytest.mark.slow

DEVICES = ("disk", "flash", "optane")
SETTINGS = """[dataset]
name = "lab"
[power]
clock_offset_s = -20
meter_pattern = '(?P<device>[^/]+)/meter\\.csv'
"""


@pytest.fixture(scope="module")
def sweeps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three devices with three runs each; their meters are 20 s ahead."""
    raw = tmp_path_factory.mktemp("sweeps") / "raw"
    for device in DEVICES:
        put_sweep(raw, device).write_text(exported(watts(50.0), ahead_s=20))
    put(raw / "wattlas.toml", SETTINGS)
    return raw


@pytest.fixture(scope="module")
def clean(sweeps: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    lake = tmp_path_factory.mktemp("clean") / "lake"
    assert start(sweeps, lake).wait() == 0
    tables = contents(lake)
    assert len(tables["runs"]) == len(tables["power"]) == 3 * (3 + 4)
    return tables


@pytest.mark.parametrize("call", [1, 2, 3])
def test_killed_before_a_commit_and_run_again(
    sweeps: Path, clean: dict[str, list[str]], tmp_path: Path, call: int
) -> None:
    lake = tmp_path / "lake"
    assert start(sweeps, lake, f"commit {call}").wait() == -signal.SIGKILL
    assert start(sweeps, lake).wait() == 0
    assert contents(lake) == clean
    assert list(verify_lake(lake)) == []


@pytest.fixture(scope="module")
def changed(sweeps: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A lake of other readings, and raw files that have since become those of `sweeps`."""
    folder = tmp_path_factory.mktemp("changed")
    raw, lake = folder / "raw", folder / "lake"
    shutil.copytree(sweeps, raw)
    for device in DEVICES:
        (raw / device / "meter.csv").write_text(exported(watts(70.0), ahead_s=5))
    assert start(raw, lake).wait() == 0
    for device in DEVICES:
        (raw / device / "meter.csv").write_text((sweeps / device / "meter.csv").read_text())
    return raw, lake


@pytest.mark.parametrize("call", [1, 2, 3])
def test_killed_while_changed_meters_replace_their_runs(
    changed: tuple[Path, Path], clean: dict[str, list[str]], tmp_path: Path, call: int
) -> None:
    """The killed and repeated `add` makes the lake the clean one."""
    raw, lake = changed[0], tmp_path / "lake"
    shutil.copytree(changed[1], lake)
    assert start(raw, lake, f"commit {call}").wait() == -signal.SIGKILL
    assert start(raw, lake).wait() == 0
    assert contents(lake)["runs"] == clean["runs"]
    assert contents(lake)["problems"] == clean["problems"]
    assert list(verify_lake(lake)) == []

"""SIGKILL of workers, scheduler and committer at random moments: the lake of one clean run."""

import os
import random
import signal
import time
from pathlib import Path

import pytest
from pyarrow.fs import FileSelector

from data.lake_place import LakePath
from data.object_store import file_system
from data.schema import RUN_TABLES
from ingest.lake.verification import verify_lake
from tests.fixtures.forked import Forked
from tests.fixtures.forked_cluster import ForkedCluster, server
from tests.fixtures.raw_runs import LOG, write_memcached, write_netpipe, write_settings
from tests.fixtures.stores import Stored
from tests.unit.test_ingest_kill import contents

pytestmark = pytest.mark.slow

_RUNS = 30
# Tasks of one run and small batches, so that kills fall between many tasks and commits.
_COMMAND = """
import sys
import ingest.runs.schedule, ingest.lake.commits
from ingest.__main__ import main
ingest.lake.commits.FLUSH_RUNS = 7
ingest.runs.schedule.TASK_S = 0.0
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kill") / "raw"
    write_settings(folder)
    for replicate in range(_RUNS):
        log = LOG + "7 1 2\n" if replicate % 3 == 0 else LOG
        write_netpipe(folder / f"day {replicate % 4}", replicate, log)
    write_memcached(folder)
    return folder


@pytest.fixture(scope="module")
def clean(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The tables of one run that nobody disturbs, on this machine alone."""
    lake = tmp_path_factory.mktemp("clean") / "lake"
    said = {"stderr": lake.with_name("stderr")}
    process = server().start(_COMMAND, ["add", str(raw), "--lake", str(lake)], {}, said["stderr"])
    assert process.wait() == 3
    return contents(lake)


class Killing:
    """An add on a cluster, started again whenever it has ended."""

    def __init__(self, raw: Path, lake: LakePath, cluster: ForkedCluster, logs: Path) -> None:
        self._given = ["add", str(raw), "--lake", str(lake), "--cluster", cluster.address]
        self._lake, self._cluster, self._logs = lake, cluster, logs
        self.errors: list[Path] = []
        self.add = self._start()

    def _start(self) -> Forked:
        self.errors.append(self._logs / f"stderr-{len(self.errors)}")
        return server().start(_COMMAND, self._given, dict(os.environ), self.errors[-1])

    def reach(self, files: int) -> None:
        """Have the lake grow to so many big files, half-written ones too; then all are alive."""
        self._revive()
        while file_count(self._lake) < files:
            self._revive()
            time.sleep(0.005)

    def finish(self) -> int:
        """Let an add come to its end; gives its exit status."""
        while self.add.poll() not in (0, 3):
            self._revive()
            time.sleep(0.005)
        return self.add.wait()

    def _revive(self) -> None:
        self._cluster.revive()
        if self.add.poll() is not None:
            self.add = self._start()


def file_count(lake: LakePath) -> int:
    """Big files so far; in a folder half-written ones too."""
    system, place = file_system(lake)
    tables = (FileSelector(f"{place}/{name}", True, True) for name in RUN_TABLES)
    return sum(info.is_file for table in tables for info in system.get_file_info(table))


def test_killed_at_random_a_cluster_leaves_the_lake_of_one_machine(
    raw: Path, clean: dict[str, list[str]], tmp_path: Path
) -> None:
    kill_at_random(raw, clean, tmp_path / "lake", tmp_path, kills=8, seed=0)


@pytest.mark.cluster
def test_killed_thirty_times_a_cluster_leaves_the_lake_of_one_machine(
    raw: Path, clean: dict[str, list[str]], tmp_path: Path
) -> None:
    kill_at_random(raw, clean, tmp_path / "lake", tmp_path, kills=30, seed=1)


@pytest.mark.cluster
def test_killed_thirty_times_on_an_object_store_it_is_the_lake_of_one_machine(
    raw: Path, clean: dict[str, list[str]], stored: Stored, tmp_path: Path
) -> None:
    kill_at_random(raw, clean, stored.lake, tmp_path, kills=30, seed=2)


def kill_at_random(
    raw: Path, clean: dict[str, list[str]], lake: LakePath, logs: Path, kills: int, seed: int
) -> None:
    """Kill workers, scheduler and add as the lake grows; in the end it is the clean one."""
    cluster = ForkedCluster(2, environment=os.environ)
    try:
        said = kill(Killing(raw, lake, cluster, logs), cluster, random.Random(seed), kills)
    finally:
        cluster.close()
    assert contents(lake) == clean
    assert list(verify_lake(lake)) == []
    if isinstance(lake, Path):
        left = [path for path in lake.rglob(".*.tmp") if "_delta_log" not in path.parts]
        assert left == []
    assert not any("Traceback" in text for text in said), said


def kill(killing: Killing, cluster: ForkedCluster, chance: random.Random, kills: int) -> list[str]:
    """Kill, then let an add come to its end; gives what all of them wrote to stderr."""
    most = 4 * (_RUNS + 1)
    turns = (["add", "scheduler", "worker", "worker"] * kills)[:kills]
    chance.shuffle(turns)
    killed = 0
    for who, files in zip(turns, sorted(chance.sample(range(most), kills)), strict=True):
        killing.reach(files)
        worker = chance.choice(cluster.workers)
        victim = {"add": killing.add, "scheduler": cluster.scheduler, "worker": worker}[who]
        victim.send_signal(signal.SIGKILL)
        killed += victim.wait() == -signal.SIGKILL
    # A worker may end by itself first, as its scheduler is gone.
    assert killed >= 0.8 * kills
    killing.finish()
    return [path.read_text() for path in killing.errors]

"""Runs read by the workers of a real Dask cluster: the same lake, and what can go wrong."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing import forkserver
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from data.errors import LakeError, SettingsError
from ingest import pipeline
from ingest.__main__ import main
from ingest.cluster.address import (
    ClusterError,
    LocalWorkers,
    RunningScheduler,
    SlurmJobs,
    UnseenFileError,
    parse_address,
)
from ingest.cluster.connection import open_cluster
from ingest.cluster.search import ClusterDisk
from ingest.cluster.slurm import read_slurm_settings
from ingest.discover.plan import make_plan
from ingest.discover.search import discover
from ingest.lake.state import LakeState, load_state
from ingest.lake.verification import verify_lake
from ingest.pipeline import AddOptions, InterruptedIngestError, add
from ingest.runs import schedule
from ingest.runs.progress import Progress
from tests.fixtures.forked_cluster import ForkedCluster
from tests.fixtures.odd_readers import DeadlyReader, EndlessReader
from tests.fixtures.raw_runs import LOG, write_memcached, write_netpipe, write_settings
from tests.unit.test_ingest_kill import contents

_ROOT = Path(__file__).resolve().parents[2]
_RUNS = 6
_DEADLY = "netpipe-linux_tuned-64b-itr8-0x1900-135w-r2"


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of two workloads in folders, one with a bad line, a refused file and an unknown one."""
    folder = tmp_path_factory.mktemp("cluster") / "raw"
    write_settings(folder)
    for replicate in range(_RUNS):
        log = LOG + "7 1 2\n" if replicate == 1 else LOG
        write_netpipe(folder / f"day {replicate % 3}", replicate, log)
    write_memcached(folder / "mcd")
    (folder / "mcd" / "linux.mcd.out.7_50_0x1d00_135_200000").write_text("")
    (folder / "notes.txt").write_text("nothing of a run\n")
    return folder


@pytest.fixture(scope="module")
def cluster() -> Iterator[ForkedCluster]:
    """A scheduler and two workers."""
    processes = ForkedCluster(2)
    yield processes
    processes.close()


@pytest.fixture
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run is a task of its own."""
    monkeypatch.setattr(schedule, "TASK_S", 0.0)


@pytest.fixture
def own_server() -> Iterator[None]:
    """The server of processes of one test, which imports Dask: no other test has it."""
    server: Any = forkserver._forkserver
    server._stop()
    yield
    server._stop()


def options(raw: Path, lake: Path, cluster: ForkedCluster) -> AddOptions:
    return AddOptions(lake, [raw], cluster=RunningScheduler(cluster.address))


def bytes_of(lake: Path) -> dict[str, bytes]:
    """The big files of a lake by path, but those that depend on when runs were committed."""
    files = [p for p in lake.rglob("*.parquet") if p.relative_to(lake).parts[0] not in _TABLES]
    return {str(path.relative_to(lake)): path.read_bytes() for path in files}


_TABLES = ("runs", "problems", "distributions")


@pytest.mark.usefixtures("own_server")
def test_a_lake_of_a_cluster_is_byte_for_byte_that_of_one_machine(
    raw: Path, tmp_path: Path
) -> None:
    where = {"alone": None, "local:3": LocalWorkers(3)}
    reports, named = {}, []
    for name, address in where.items():
        given = AddOptions(tmp_path / name, [raw], cluster=address)
        reports[name] = add(given, on_cluster=lambda *found: named.append(found))
    alone = reports.pop("alone")
    assert alone.added == _RUNS + 1
    assert len(bytes_of(tmp_path / "alone")) == 4 * (_RUNS + 1)
    for name, report in reports.items():
        assert (report.added, report.bytes_read) == (alone.added, alone.bytes_read)
        assert report.problems == alone.problems
        assert sorted(report.ignored) == sorted(alone.ignored)
        assert bytes_of(tmp_path / name) == bytes_of(tmp_path / "alone")
        assert contents(tmp_path / name) == contents(tmp_path / "alone")
        assert list((tmp_path / name).rglob(".*.tmp")) == []
    assert all(scheduler.startswith("tcp://127.0.0.1:") for scheduler, _ in named)
    assert all(dashboard.startswith("http://127.0.0.1:") for _, dashboard in named)


@pytest.mark.slow
def test_the_workers_find_the_files_that_one_machine_finds(
    raw: Path, cluster: ForkedCluster
) -> None:
    """Without a look of this process at a single file."""
    alone = discover([raw], LakeState(), None, None)
    with open_cluster(RunningScheduler(cluster.address)) as opened:
        disk = ClusterDisk(opened, [raw], LakeState())
    seen = dict(disk._statuses)
    found = discover([raw], LakeState(), None, None, disk)
    assert make_plan(found, LakeState()).works == make_plan(alone, LakeState()).works
    assert (found.problems, found.ignored) == (alone.problems, alone.ignored)
    assert set(seen) == {str(p) for p in raw.rglob("*") if p.is_file()}
    # The search took all of it, but for the settings' own file.
    assert set(disk._statuses) == {str(raw / "wattlas.toml")}
    assert disk._entries == {}


def test_what_the_lake_knows_is_not_looked_into(
    raw: Path, cluster: ForkedCluster, tmp_path: Path
) -> None:
    given = options(raw, tmp_path / "lake", cluster)
    assert add(given).added == _RUNS + 1
    with open_cluster(RunningScheduler(cluster.address)) as opened:
        disk = ClusterDisk(opened, [raw], load_state(tmp_path / "lake"))
    assert set(disk._formats) == {str(raw / "notes.txt"), str(raw / "wattlas.toml")}
    again = add(given)
    assert (again.added, again.unchanged, again.bytes_read) == (0, _RUNS + 1, 0)


@pytest.mark.slow
@pytest.mark.usefixtures("small_tasks")
def test_a_run_that_kills_its_workers_is_a_problem_and_the_rest_goes_on(
    raw: Path, cluster: ForkedCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake, log = tmp_path / "lake", tmp_path / "deaths"
    (run_id,) = [w.run_id for w in works_of(raw) if w.run_id.startswith(_DEADLY)]
    monkeypatch.setattr(pipeline, "RunReader", partial(DeadlyReader, run_id=run_id, log=log))
    report = add(options(raw, lake, cluster), lambda _: cluster.revive())
    (problem,) = [each for each in report.problems if each.problem.kind == "killed_workers"]
    assert run_id in problem.problem.detail
    assert problem.problem.severity == "refused"
    assert report.added == _RUNS
    # Four deaths with other tasks beside it, and four alone.
    assert len(log.read_text().splitlines()) == 8
    assert list(lake.rglob(".*.tmp")) == []
    monkeypatch.undo()
    again = add(options(raw, lake, cluster))
    assert (again.added, again.unchanged, again.problems) == (1, _RUNS, [])
    assert list(verify_lake(lake)) == []


def works_of(raw: Path) -> list[Any]:
    return make_plan(discover([raw], LakeState(), None, None), LakeState()).works


@pytest.mark.slow
@pytest.mark.usefixtures("small_tasks")
def test_a_stopped_add_leaves_no_task_and_no_temporaries_on_the_workers(
    raw: Path, cluster: ForkedCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    monkeypatch.setattr(pipeline, "RunReader", partial(EndlessReader, log=log))
    seen: list[Progress] = []

    def stop(progress: Progress) -> None:
        seen.append(progress)
        # Bytes are told while the first run is read.
        if progress.bytes_done and log.read_text().count("begun") == 2:
            raise KeyboardInterrupt

    with pytest.raises(InterruptedIngestError, match="stopped after 0 of 7 runs; the same command"):
        add(options(raw, tmp_path / "lake", cluster), stop)
    assert seen[-1].workers == 2
    until(lambda: log.read_text().count("stopped") == 2)
    assert list((tmp_path / "lake").glob(".cluster.*")) == []
    monkeypatch.undo()
    assert add(options(raw, tmp_path / "lake", cluster)).added == _RUNS + 1


def until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        time.sleep(0.01)


@pytest.mark.slow
@pytest.mark.usefixtures("small_tasks")
def test_a_lost_scheduler_ends_the_add_and_the_next_one_goes_on(
    raw: Path, cluster: ForkedCluster, tmp_path: Path
) -> None:
    lake = tmp_path / "lake"

    def kill(progress: Progress) -> None:
        if progress.runs_done == 2:
            cluster.scheduler.send_signal(signal.SIGKILL)

    with pytest.raises(ClusterError, match=r"scheduler .* is lost; finished runs are in the "):
        add(options(raw, lake, cluster), kill)
    for worker in cluster.workers:
        worker.wait()  # A worker without a scheduler ends.
    cluster.revive()
    report = add(options(raw, lake, cluster))
    assert report.unchanged >= 2
    assert report.added == _RUNS + 1 - report.unchanged
    assert list(verify_lake(lake)) == []


_OTHER_CODE = "import ingest.cluster.worker as w; w.code_version = lambda: 'code 0, Python 2.7'\n"
_NO_CODE = "import sys; sys.modules['ingest.cluster.worker'] = None\n"
_HIDE = """
import os, ingest.lake.shared_file as shared
exists, system = os.path.exists, shared.file_system
if {lake}:
    shared.file_system = lambda path: system(path.with_name("elsewhere"))
os.path.exists = lambda path: "linux.np.log" not in str(path) and exists(path)
"""


@pytest.mark.thin(1)
@pytest.mark.parametrize(
    ("code", "error", "words"),
    [
        (_OTHER_CODE, ClusterError, r"code 0, Python 2.7 there, code [0-9a-f]{12}, Python 3"),
        (_NO_CODE, ClusterError, "cannot import wattlas: .* start the workers in its folder"),
        (_HIDE.format(lake=True), ClusterError, r"127.0.0.1:\d+ on \S+ does not see the lake"),
        (_HIDE.format(lake=False), UnseenFileError, r"\d+ on \S+ does not see .*linux.np.log"),
    ],
    ids=["other-code", "no-code", "no-lake", "no-log"],
)
def test_a_worker_that_cannot_do_the_work_is_named(
    raw: Path, tmp_path: Path, code: str, error: type[Exception], words: str
) -> None:
    processes = ForkedCluster(1, code)
    try:
        with pytest.raises(error, match=words):
            add(options(raw, tmp_path / "lake", processes))
    finally:
        processes.close()
    assert not list(load_state(tmp_path / "lake").runs.values())


@pytest.mark.slow
def test_a_full_disk_ends_the_add_as_on_one_machine(raw: Path, tmp_path: Path) -> None:
    """Room for what a worker notes, not for the files of a run."""
    code = """
import os
def fail(*_, **__):
    raise OSError(28, "No space left on device")
os.fsync = fail
"""
    processes = ForkedCluster(1, code)
    try:
        with pytest.raises(LakeError, match=r"cannot write .*\.parquet: No space left on device"):
            add(options(raw, tmp_path / "lake", processes))
    finally:
        processes.close()


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("local:4", LocalWorkers(4)),
        ("slurm:jobs.toml", SlurmJobs(Path("jobs.toml"))),
        ("tcp://10.0.0.1:8786", RunningScheduler("tcp://10.0.0.1:8786")),
        ("tls://[fe80::1]:8786", RunningScheduler("tls://[fe80::1]:8786")),
        ("head-node:8786", RunningScheduler("head-node:8786")),
    ],
)
def test_an_address_of_a_cluster(text: str, address: object) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize("text", ["", "local:0", "local:", "local:x", "slurm:", "host", "a b:1"])
def test_what_is_no_cluster_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="not a cluster"):
        parse_address(text)


def test_the_command_line_takes_one_cluster_or_workers(
    raw: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for given, words in (
        (["--cluster", "nowhere"], "not a cluster: 'nowhere'; give ADDRESS|local:N|slurm:FILE"),
        (["--cluster", "local:2", "--workers", "2"], "not allowed with argument"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(["add", str(raw), *given])
        assert ended.value.code == 2
        assert words in capsys.readouterr().err


def test_an_address_without_a_scheduler_is_an_error(
    raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.cluster.connection._CONNECT_S", 0.2)
    nowhere = AddOptions(tmp_path / "lake", [raw], cluster=RunningScheduler("127.0.0.1:1"))
    with pytest.raises(ClusterError, match=r"cannot reach the scheduler at 127.0.0.1:1: .*"):
        add(nowhere)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "lacks 'jobs'"),
        ("jobs = 0", "jobs cannot be 0: expected a whole number >= 1"),
        ("job = 1", "unknown key 'job', known: jobs, cores, memory"),
        ("jobs = true", "jobs cannot be True: expected a whole number"),
        ("job_extra_directives = [1]", r"job_extra_directives\[1\] cannot be 1: expected a text"),
        ("jobs = ", "not TOML: "),
        ("jobs = " + "[" * 5000, "not TOML: "),
    ],
)
def test_a_bad_description_of_jobs_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "jobs.toml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=f"{words}.*jobs.toml"):
        read_slurm_settings(path)


def test_jobs_that_cannot_be_submitted_are_an_error(
    raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "jobs.toml"
    path.write_text('jobs = 2\ncores = 1\nmemory = "1GB"\ninterface = "lo"\n')
    (tmp_path / "sbatch").write_text("#!/bin/sh\necho no such partition >&2\nexit 1\n")
    (tmp_path / "sbatch").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(ClusterError, match=r"cannot start the workers: (.|\n)*no such partition"):
        add(AddOptions(tmp_path / "lake", [raw], cluster=SlurmJobs(path)))


def test_tasks_are_one_large_run_or_about_a_second_of_small_ones() -> None:
    """Logs at 200 MB a second and 5 ms a file: 0.5 s, 2 s, 0.4 s, 3 s, 0.3 s."""
    sizes = {"a": 99, "b": 399, "c": 79, "d": 599, "e": 59}
    log, output = (SimpleNamespace(role=role) for role in ("log", "output"))
    works: Any = [
        SimpleNamespace(run_id=name, files=(SimpleNamespace(size=size * 1e6, format=log),))
        for name, size in sizes.items()
    ]
    found = [[work.run_id for work in batch] for batch in schedule.in_batches(works)]
    assert found == [["d"], ["b"], ["a", "c"], ["e"]]
    empty, text = (SimpleNamespace(size=size, format=output) for size in (0, 220_000))
    many: Any = [SimpleNamespace(run_id=n, files=(empty,) * 3) for n in range(100)]
    assert [len(batch) for batch in schedule.in_batches(many)] == [66, 34]
    # Other files than logs are read at 4 MB a second: 60 ms.
    texts: Any = [SimpleNamespace(run_id=n, files=(text,)) for n in range(30)]
    assert [len(batch) for batch in schedule.in_batches(texts)] == [16, 14]


_WITHOUT = """
import sys
import ingest.__main__, ingest.outline, ingest.pipeline
assert not {"dask", "distributed", "dask_jobqueue"} & set(sys.modules)
sys.modules["distributed"] = None
sys.exit(ingest.__main__.main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_without_the_packages_only_a_cluster_is_refused(raw: Path, tmp_path: Path) -> None:
    given = ["add", str(raw), "--lake", str(tmp_path / "lake")]
    for more, status, words in (
        (["--cluster", "local:1"], 1, "pip install -r requirements-cluster.txt"),
        ([], 3, ""),
    ):
        command = [sys.executable, "-c", _WITHOUT, *given, *more]
        done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
        assert (done.returncode, words in done.stderr) == (status, True), done.stderr

"""SIGKILL at any moment, then the same command again: the lake of one clean run."""

import json
import os
import random
import re
import signal
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from data.lake_place import LakePath
from data.schema import RUN_TABLES
from ingest.lake.verification import verify_lake
from tests.fixtures.forked import Forked, ForkServer
from tests.fixtures.raw_runs import (
    LOG,
    SUMMARY_HEADER,
    summary_row,
    write_memcached,
    write_netpipe,
    write_settings,
)
from tests.fixtures.stores import Stored, big_files, rows_of

_RUNS = 12
_KILLS = 15


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_raw(tmp_path_factory.mktemp("kill") / "raw", _RUNS)


def write_raw(folder: Path, runs: int) -> Path:
    """Runs of two workloads, tables that repeat keys, and a blemish of every third run."""
    write_settings(folder)
    for replicate in range(runs):
        write_netpipe(folder, replicate, LOG + ("7 1 2\n" if replicate % 3 == 0 else ""))
    write_memcached(folder, cores=(0,))
    rows = "".join(summary_row(n % 50, joules=n) for n in range(200))
    (folder / "one.csv").write_text(SUMMARY_HEADER + rows)
    (folder / "two.csv").write_text(SUMMARY_HEADER + summary_row(0, joules=3) + summary_row(999))
    (folder / "linux.mcd.out.7_50_0x1d00_135_200000").write_text("")
    return folder


# Small batches, so that a kill can fall between many commits. With a number, the process kills
# itself just before it calls deltalake for the so-many-th commit of rows or for that of their work,
# or pyarrow for the so-many-th rows. Runs of all sizes are read by threads or, if it is asked for,
# by processes of their own.
_COMMAND = """
import os, signal, sys
import pyarrow.parquet
import ingest.lake.commits, ingest.lake.tables, ingest.runs.schedule
from ingest.__main__ import main
place, number = os.environ["KILL_BEFORE"].split()
owner, name = {
    "commit": (ingest.lake.tables, "commit_rows"),
    "work": (ingest.lake.commits, "assign_work"),
    "rows": (pyarrow.parquet.ParquetWriter, "write_table"),
}[place]
real, calls = getattr(owner, name), []
def counted(*given, **named):
    calls.append(1)
    if len(calls) == int(number):
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*given, **named)
setattr(owner, name, counted)
ingest.lake.commits.FLUSH_RUNS = 4
if "APART" in os.environ:
    ingest.runs.schedule.WORTH_A_PROCESS_BYTES = 0
sys.exit(main(sys.argv[1:]))
"""


@cache
def server() -> ForkServer:
    return ForkServer()


def start(
    raw: Path, lake: LakePath, kill_before: str = "commit 0", apart: bool = False,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Forked:  # fmt: skip
    said = {"KILL_BEFORE": kill_before} | ({"APART": "1"} if apart else {}) | dict(environment)
    arguments = ["add", str(raw), "--lake", str(lake)]
    return server().start(_COMMAND, arguments, said, raw.with_name("stderr"))


def contents(lake: LakePath) -> dict[str, list[str]]:
    """Every table's rows as sorted text, without paths and times of raw files."""
    found = {name: sorted(map(_plain, rows_of(lake, name))) for name in ("runs", "problems")}
    found |= {name: [] for name in RUN_TABLES}
    for path, content in sorted(big_files(lake).items()):
        if path.endswith(".parquet"):
            rows = pq.read_table(pa.BufferReader(content)).to_pylist()
            table, name = path.partition("/")[0], path.rpartition("/")[2]
            # Which runs share a file of distributions depends on when they were committed.
            named = map(str, rows) if table == "distributions" else [f"{name} {rows}"]
            found[table] += named
    found["distributions"] = sorted(set(found["distributions"]))
    return found


def _rows(table: Path) -> list[dict[str, Any]]:
    uris = DeltaTable(str(table)).file_uris()
    return [row for uri in uris for row in pq.read_table(uri).to_pylist()]


def _plain(row: dict[str, Any]) -> str:
    kept = {name: value for name, value in row.items() if name != "path"}
    if kept.get("sources"):
        kept["sources"] = sorted(source["digest"] for source in kept["sources"])
    if kept.get("files"):
        kept["files"] = [{**file, "size_bytes": 0, "digest": ""} for file in kept["files"]]
        for file in kept["files"]:
            if file["table"] == "distributions":
                file |= {"path": "", "rows": 0}
    return json.dumps(kept, sort_keys=True)


@pytest.fixture(scope="module")
def clean(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The tables of one run that nobody disturbs."""
    lake = tmp_path_factory.mktemp("clean") / "lake"
    assert start(raw, lake).wait() == 3
    tables = contents(lake)
    # Of the 202 rows, five have the key of the memcached run and are further replicates.
    assert len(tables["runs"]) == _RUNS + 1 + 202
    assert len(tables["interrupts"]) == _RUNS + 1
    return tables


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "apart"), [(0, False), (1, True)])
def test_killed_at_random_and_run_again_it_is_the_lake_of_a_clean_run(
    raw: Path, clean: dict[str, list[str]], tmp_path: Path, seed: int, apart: bool
) -> None:
    lake = tmp_path / "lake"
    counted = set(RUN_TABLES) - {"distributions"}
    most = sum(len(files) for name, files in clean.items() if name in counted)
    killed = 0
    for files in sorted(random.Random(seed).sample(range(most), _KILLS)):
        process = start(raw, lake, apart=apart)
        while process.poll() is None and count_files(lake) < files:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
    assert killed >= _KILLS // 2
    assert start(raw, lake, apart=apart).wait() in (0, 3)
    assert contents(lake) == clean
    assert list(verify_lake(lake)) == []
    assert [p for p in lake.rglob("*.tmp") if "_delta_log" not in p.parts] == []


@pytest.mark.slow
def test_killed_thirty_times_on_an_object_store_it_is_the_lake_of_a_clean_run(
    stored: Stored, tmp_path: Path
) -> None:
    raw = write_raw(tmp_path / "raw", 9)
    assert start(raw, tmp_path / "lake").wait() == 3
    chance, killed = random.Random(0), 0
    for _ in range(30):
        stored.clear()
        moment = chance.randrange(60)
        process = start(raw, stored.lake, environment=os.environ)
        while process.poll() is None and len(stored.proxy.requests) < moment:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
    assert killed >= 20
    assert start(raw, stored.lake, environment=os.environ).wait() in (0, 3)
    assert contents(stored.lake) == contents(tmp_path / "lake")
    assert list(verify_lake(stored.lake)) == []


def count_files(lake: Path) -> int:
    """Big files so far, half-written ones included."""
    return sum(len(files) for name in RUN_TABLES for _, _, files in os.walk(lake / name))


# The first two commits are of the tables (problems, runs), the later ones of raw runs.
@pytest.mark.thin(2)
@pytest.mark.parametrize("call", [1, 2, 3, 4, 7])
def test_killed_before_a_commit_and_run_again(
    raw: Path, clean: dict[str, list[str]], tmp_path: Path, call: int
) -> None:
    lake = tmp_path / "lake"
    assert start(raw, lake, f"commit {call}").wait() == -signal.SIGKILL
    assert start(raw, lake).wait() == 3
    assert contents(lake) == clean


def test_killed_before_the_work_is_labelled_and_run_again(
    raw: Path, clean: dict[str, list[str]], tmp_path: Path
) -> None:
    """All runs are there without their work; the next add reads no file again and labels them."""
    lake = tmp_path / "lake"
    assert start(raw, lake, "work 1").wait() == -signal.SIGKILL
    rows = _rows(lake / "runs")
    assert (len(rows), {row["work"] for row in rows}) == (len(clean["runs"]), {None})
    assert start(raw, lake, "commit 1").wait() == 0
    assert {row["work"] for row in _rows(lake / "runs")} != {None}
    assert contents(lake) == clean


@pytest.mark.slow
def test_killed_while_a_big_file_is_written_leaves_nothing_half_written(
    raw: Path, clean: dict[str, list[str]], tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    assert start(raw, lake, "rows 20").wait() == -signal.SIGKILL
    assert list(lake.rglob(".*.tmp"))
    assert start(raw, lake).wait() == 3
    assert list(lake.rglob(".*.tmp")) == []
    assert contents(lake) == clean


@pytest.mark.slow
def test_a_process_that_is_killed_ends_the_ingest_which_then_goes_on(
    raw: Path, clean: dict[str, list[str]], tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    process = start(raw, lake, apart=True)
    while process.poll() is None and not (count_files(lake) >= 40 and _rows_there(lake)):
        time.sleep(0.005)
    os.kill(_readers(process.pid)[0], signal.SIGKILL)
    _, err = process.communicate()
    assert process.returncode == 1
    # Between two runs it read none.
    said = rb"ingest: a process of this ingest ended \(status -9\) while it read (netpipe-|a run)"
    assert re.search(said, err), err
    finished = [p for p in (lake / "interrupts").rglob("*.parquet") if not p.name.startswith(".")]
    known = [row for row in _rows(lake / "runs") if row["has_log"]]
    assert 0 < len(known) <= len(finished)
    # What the killed add has recorded as refused is not refused again.
    status = 0 if _refused_there(lake) else 3
    assert start(raw, lake, apart=True).wait() == status
    assert list(lake.rglob(".*.tmp")) == []
    assert contents(lake) == clean


def _rows_there(lake: Path) -> bool:
    return DeltaTable.is_deltatable(str(lake / "runs")) and any(
        row["has_log"] for row in _rows(lake / "runs")
    )


def _refused_there(lake: Path) -> bool:
    return DeltaTable.is_deltatable(str(lake / "problems")) and any(
        row["severity"] == "refused" for row in _rows(lake / "problems")
    )


def _readers(pid: int) -> list[int]:
    """Processes that read runs for an ingest: children of its server of processes."""
    servers = [child for child in _children(pid) if b"forkserver" in _command(child)]
    return [reader for server in servers for reader in _children(server)]


def _children(pid: int) -> list[int]:
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def _command(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()

"""Runs that the lake has already: told without a look into any file, and as a look would tell."""

import os
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from data.connection import open_lake
from data.lake_watch import newest_version
from ingest.discover import search
from ingest.discover.unchanged_runs import SettledRuns
from ingest.files.walk import walk_folders
from ingest.lake.state import load_state
from tests.fixtures.fio_documents import document, job
from tests.fixtures.ingest import ingest, put
from tests.fixtures.raw_runs import (
    LOG,
    SETTINGS,
    SUMMARY_HEADER,
    summary_row,
    write_memcached,
    write_netpipe,
    write_settings,
)
from tests.unit.test_ingest_power import exported, watts

INTERRUPTS = "    CPU0  CPU1\n 25: {} 7 MSI nvme0q1\nERR: 0\n"
IDLE = "start_utc = 2022-03-16T15:02:00Z\nend_utc = 2022-03-16T15:03:00Z\n"
POLL = "optane/poll/randread-4k-t1-r0"
# netpipe, memcached, fio by pattern, by place (a, b, and two of c's document), idle.
RAW_RUNS = 8
ROWS = 2


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    """Runs of each kind of grouping: logs, folders, places, sidecars, several in one document."""
    folder = tmp_path / "raw"
    write_settings(folder)
    write_netpipe(folder / "logs")
    write_memcached(folder / "logs" / "deep")
    put(folder / "tables" / "all.csv", SUMMARY_HEADER + summary_row(8) + summary_row(9))
    put(folder / POLL / "fio.json", document(job()))
    put(folder / "sweep" / "run.toml", "device = 'disk'\n")
    put(folder / "sweep" / "a.json", document(job()))
    put(folder / "sweep" / "a.run.toml", "mode = 'poll'\n")
    put(folder / "sweep" / "b.json", document(job()))
    put(folder / "sweep" / "below" / "c.json", document(job("x"), job("y", group=1)))
    for name, count in (("interrupts.before", 10), ("interrupts.after", 50)):
        put(folder / POLL / name, INTERRUPTS.format(count))
        put(folder / "sweep" / f"a.{name}", INTERRUPTS.format(count))
    put(folder / "hdd" / "idle-r0" / "run.toml", IDLE)
    put(folder / "README.md", "# how we measured\n")
    return folder


def forbid(*_: object, **__: object) -> None:
    raise AssertionError("a file was opened")


@pytest.mark.parametrize("has_meter", [False, True])
def test_settled_runs_are_told_without_a_look_into_a_file(
    raw: Path, lake: Path, monkeypatch: pytest.MonkeyPatch, has_meter: bool
) -> None:
    (raw / "README.md").unlink()
    (raw / "sweep" / "below" / "c.json").unlink()
    if has_meter:
        put(raw / "power" / "meter.csv", exported(watts(50.0)))
    added = ingest(lake, raw).added
    assert added >= RAW_RUNS - 2 + ROWS
    version = newest_version(lake)
    for opens in ("ingest.discover.search.read_head", "ingest.discover.found_files.MeteredFile"):
        monkeypatch.setattr(opens, forbid)
    monkeypatch.setattr("ingest.discover.plan.raw_files", forbid)
    monkeypatch.setattr("ingest.runs.run_reader.read_source", forbid)
    again = ingest(lake, raw)
    assert (again.added, again.replaced, again.amended, again.removed) == (0, 0, 0, 0)
    assert (again.unchanged, again.bytes_read, again.problems) == (added, 0, [])
    assert newest_version(lake) == version


Change = Callable[[Path], object]


def rewrite(place: str, text: str) -> Change:
    return lambda raw: (raw / place).write_text(text)


def touch(place: str) -> Change:
    return lambda raw: os.utime(raw / place, (1, 1))


def move(place: str, to: str) -> Change:
    return lambda raw: (raw / place).rename(raw / to)


def remove(place: str) -> Change:
    return lambda raw: (raw / place).unlink()


def copy(place: str, to: str) -> Change:
    return lambda raw: shutil.copy2(raw / place, raw / to)


def lose_big_files(raw: Path) -> None:
    for path in (raw.parent / "lake" / "interrupts").rglob("*.parquet"):
        path.unlink()


NETPIPE = "logs/linux.np.log.0_1_64_5000_8_0x1900_135"
CHANGES: dict[str, Change] = {
    "nothing": Path.exists,
    "a log is another": rewrite(NETPIPE, LOG + "7 1 2\n"),
    "a log of the same size is another": rewrite(NETPIPE, LOG.replace("196608", "196609")),
    "a log has another time": touch(NETPIPE),
    "a document is another": rewrite("sweep/b.json", document(job(), stamp_ms=1_600_000_020_250)),
    "a part of a document is gone": rewrite("sweep/below/c.json", document(job("x"))),
    "a file of a run is gone": remove(f"{POLL}/interrupts.after"),
    "a run is gone": remove("sweep/b.json"),
    "a log lies elsewhere": move(NETPIPE, "linux.np.log.0_1_64_5000_8_0x1900_135"),
    "a log lies there twice": copy(NETPIPE, "linux.np.log.0_1_64_5000_8_0x1900_135"),
    "a sidecar says otherwise": rewrite("sweep/a.run.toml", "mode = 'hybrid'\n"),
    "a sidecar above says otherwise": rewrite("sweep/run.toml", "device = 'tape'\n"),
    "a sidecar is bad": rewrite("sweep/run.toml", "device = 3\n"),
    "a sidecar is gone": remove("sweep/a.run.toml"),
    "a sidecar is new": rewrite("optane/run.toml", "system = 'other'\n"),
    "a sidecar has another time": touch("sweep/run.toml"),
    "an idle run was at another time": rewrite("hdd/idle-r0/run.toml", IDLE.replace("03:", "04:")),
    "labels are others": rewrite("wattlas.toml", SETTINGS + '[systems.linux]\nlabel = "L"\n'),
    "the clock is another": rewrite("wattlas.toml", SETTINGS.replace("1000000", "2000000")),
    "a table is another": rewrite("tables/all.csv", SUMMARY_HEADER + summary_row(8)),
    "settings are nearer": rewrite("sweep/wattlas.toml", SETTINGS),
    "a name means another run": rewrite(
        "wattlas.toml",
        SETTINGS
        + "[[names]]\npattern = 'linux\\.np\\.(log|server|client)\\.(?P<replicate>\\d+)_.*'\n"
        + 'workload = "netpipe"\nsystem = "linux"\n',
    ),
    "a name is of another core": rewrite(
        "wattlas.toml",
        SETTINGS
        + "[[names]]\npattern = 'linux\\.mcd\\.dmesg\\.(?P<replicate>\\d+)_\\d+_(?P<itr>\\d+)_"
        + "(?P<dvfs>0x[0-9a-f]+)_(?P<rapl_w>\\d+)_(?P<load_qps>\\d+)'\n"
        + 'workload = "memcached"\nsystem = "linux_tuned"\n',
    ),
    "a meter is new": rewrite("optane/meter.csv", exported(watts(50.0))),
    "big files are gone": lose_big_files,
}


@pytest.mark.thin(4)
@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changes_is_told_as_by_a_closer_look(
    raw: Path, lake: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    added = ingest(lake, raw).added
    assert added == RAW_RUNS + ROWS
    CHANGES[change](raw)
    closely = lake.with_name("closely")
    shutil.copytree(lake, closely)
    told = said_and_held(lake, raw)
    is_as_before = (told[0]["unchanged"], told[0]["problems"]) == (added, [])
    assert is_as_before == (change in ("nothing", "a file of a run is gone"))
    monkeypatch.setattr(SettledRuns, "has", lambda *_: False)
    assert said_and_held(closely, raw) == told


def said_and_held(lake: Path, raw: Path) -> tuple[dict[str, Any], list[Any]]:
    """What an add says that it did, and the rows that it leaves."""
    report = asdict(ingest(lake, raw))
    with open_lake(lake) as opened:
        rows = [
            opened.polars(f"SELECT * FROM {table}").to_dicts() for table in ("runs", "problems")
        ]
    report |= {"elapsed_s": 0, "problems": sorted(map(str, report["problems"]))}
    return report, [sorted(map(str, each)) for each in rows]


def test_folders_are_walked_as_os_walk_does(raw: Path, lake: Path) -> None:
    put(raw / ".hidden" / "x", "")
    put(raw / "sweep" / ".x", "")
    put(raw / "a lake" / "runs" / "_delta_log" / "0.json", "")
    put(raw / "runs" / "of the day", "")
    (raw / "link").symlink_to(raw / "logs")
    (raw / "linked").symlink_to(raw / "README.md")
    (raw / "nowhere").symlink_to(raw / "gone")
    listings = list(walk_folders(str(raw), pytest.fail))
    found = [(each.folder, each.files) for each in listings]
    expected = []
    for folder, subfolders, names in os.walk(raw):
        if Path(folder).name != "a lake":
            expected.append((folder, sorted(name for name in names if name[0] != ".")))
            subfolders[:] = sorted(name for name in subfolders if name[0] != ".")
        else:
            subfolders.clear()
    assert found == expected
    by_folder = {each.folder: each.names for each in listings}
    assert ".x" in (by_folder[str(raw / "sweep")] or [])
    assert not lake.exists()


def test_what_is_given_twice_is_looked_at_once(raw: Path, lake: Path) -> None:
    hidden = put(raw / ".notes", "x")
    given = [raw, raw / "logs", raw / "logs" / "deep", raw / NETPIPE, hidden, raw / ".." / "raw"]
    found = search.discover(given, load_state(lake), "d", None)
    assert [Path(path).name for path, _, _ in found.ignored] == ["README.md", ".notes"]
    assert sum(len(group.files) for group in found.groups.values()) == 3 + 4 + 3 + 3 + 1 + 2 + 1

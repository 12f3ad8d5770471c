"""`ingest add` from end to end on tiny raw folders: rows, idempotence, changes, every blemish."""

import gzip
import os
import shutil
from pathlib import Path

import pytest

from data.errors import LakeError
from data.lake_watch import newest_version
from ingest.pipeline import AddOptions, InterruptedIngestError, add
from ingest.runs.progress import Progress
from tests.fixtures.ingest import ingest, problems, runs
from tests.fixtures.raw_runs import (
    LOG,
    SUMMARY_HEADER,
    summary_row,
    write_memcached,
    write_netpipe,
    write_settings,
)


def touch_later(path: Path, seconds: int = 10) -> None:
    status = path.stat()
    os.utime(path, (status.st_atime, status.st_mtime + seconds))


def test_adding_twice_adds_nothing(raw: Path, lake: Path) -> None:
    write_netpipe(raw)
    write_memcached(raw, cores=(0,))
    (raw / "table.csv").write_text(SUMMARY_HEADER + summary_row(5) + summary_row(5, joules=1))
    (raw / "linux.mcd.out.9_50_0x1d00_135_200000").write_text("")
    first = ingest(lake, raw)
    assert (first.added, len(first.refused)) == (4, 1)
    version, before, known = newest_version(lake), runs(lake), problems(lake)
    second = ingest(lake, raw)
    assert (second.added, second.replaced, second.unchanged) == (0, 0, 4)
    assert second.problems == []
    assert second.bytes_read == 0
    assert newest_version(lake) == version
    assert (runs(lake), problems(lake)) == (before, known)


def test_a_changed_file_replaces_its_run_and_its_problems(raw: Path, lake: Path) -> None:
    log = write_netpipe(raw, log=LOG + "6 1 1\n")
    write_netpipe(raw, replicate=1)
    ingest(lake, raw)
    assert [kind for _, _, kind, _ in problems(lake)] == ["field_count"]
    old = {path.name for path in (lake / "interrupts").rglob("*.parquet")}
    log.write_text(LOG.replace("3 3 300", "3 3 400"))
    report = ingest(lake, raw)
    assert (report.replaced, report.unchanged) == (1, 1)
    assert [run["rx_bytes"] for run in runs(lake, "rx_bytes, replicate")] == [650, 550]
    assert problems(lake) == []
    new = {path.name for path in (lake / "interrupts").rglob("*.parquet")}
    assert len(new - old) == 1


def test_a_file_with_only_a_new_time_is_not_read_into_the_lake_again(raw: Path, lake: Path) -> None:
    log = write_netpipe(raw)
    ingest(lake, raw)
    touch_later(log)
    report = ingest(lake, raw)
    assert (report.replaced, report.amended, report.bytes_read) == (0, 1, 0)
    assert ingest(lake, raw).unchanged == 1
    # And a moved folder is the same lake.
    before = runs(lake)
    raw.rename(raw.parent / "moved")
    ingest(lake, raw.parent / "moved")
    assert runs(lake) == before


def test_files_of_a_run_may_come_one_after_the_other(raw: Path, lake: Path, tmp_path: Path) -> None:
    log = write_netpipe(raw)
    late = tmp_path / "late"
    write_settings(late)
    shutil.move(log, late / log.name)
    ingest(lake, raw)
    assert runs(lake)[0]["flags"] == ["no_log"]
    assert ingest(lake, late).replaced == 1
    (run,) = runs(lake)
    assert (run["flags"], run["energy_j"]) == ([], 2.0)
    assert problems(lake) == []


def test_a_run_outlives_its_raw_files(raw: Path, lake: Path) -> None:
    log = write_netpipe(raw)
    ingest(lake, raw)
    log.unlink()
    assert ingest(lake, raw).unchanged == 1
    server = raw / log.name.replace("log", "server")
    server.write_text(server.read_text() + "\n")
    report = ingest(lake, raw)
    assert [found.problem.kind for found in report.refused] == ["source_gone"]
    assert runs(lake)[0]["energy_j"] == 2.0


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_fuller_of_two_claimants_is_read(
    raw: Path, lake: Path, tmp_path: Path, order: tuple[int, int]
) -> None:
    log = write_netpipe(raw)
    other = tmp_path / "other"
    write_settings(other)
    (other / f"{log.name}.csv").write_text(LOG[: LOG.index("4 1 50")])
    folders = (raw, other)
    for index in order:
        ingest(lake, folders[index])
    (run,) = runs(lake)
    assert run["rx_bytes"] == 550
    assert (f"{log.name}.csv", None, "duplicate_source", "refused") in problems(lake)
    assert ingest(lake, *folders).problems == []


def test_a_copy_of_a_file_is_dropped_and_counted(raw: Path, lake: Path) -> None:
    log = write_netpipe(raw)
    (raw / "sub").mkdir()
    (raw / "sub" / f"{log.name}.gz").write_bytes(gzip.compress(log.read_bytes()))
    report = ingest(lake, raw)
    assert (report.added, report.refused) == (1, [])
    assert [kind for _, _, kind, _ in problems(lake)] == ["identical_file"]
    assert ingest(lake, raw).problems == []


def test_what_is_no_raw_file_is_ignored_and_counted_and_a_broken_link_named(raw: Path) -> None:
    """Nor is a lake inside the folder raw."""
    write_netpipe(raw)
    (raw / "README.md").write_text("# how we measured\n")
    (raw / "plot.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (raw / "notes.txt").write_text("")
    report = ingest(raw / "lake", raw)
    assert (report.added, len(report.ignored), report.problems) == (1, 3, [])
    (raw / "linux.np.log.3_1_64_5000_8_0x1900_135").symlink_to(raw / "gone")
    os.mkfifo(raw / "pipe")
    report = ingest(raw / "lake", raw)
    assert [found.problem.kind for found in report.refused] == ["unreadable"]
    assert (report.unchanged, len(report.ignored)) == (1, 4)


def test_a_mended_file_settles_its_problem(raw: Path, lake: Path) -> None:
    log = write_netpipe(raw, log="")
    ingest(lake, raw)
    assert {row[2] for row in problems(lake)} == {"no_log", "empty_file"}
    log.write_text(LOG)
    ingest(lake, raw)
    assert problems(lake) == []
    empty = raw / "linux.mcd.out.9_50_0x1d00_135_200000"
    empty.write_text("")
    ingest(lake, raw)
    assert [row[2] for row in problems(lake)] == ["empty_file"]
    empty.unlink()
    ingest(lake, raw)
    assert problems(lake) == []


def test_a_full_disk_is_said_with_the_file(
    raw: Path, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    write_netpipe(raw)
    with monkeypatch.context() as patch:
        patch.setattr("pyarrow.parquet.ParquetWriter.write_table", fail)
        with pytest.raises(LakeError, match=r"cannot write .*parquet: No space left"):
            ingest(lake, raw)
    assert list(lake.rglob("*.tmp")) == []
    assert ingest(lake, raw).added == 1


def test_ctrl_c_says_how_to_go_on_and_the_next_add_goes_on(raw: Path, lake: Path) -> None:
    def press(progress: Progress) -> None:
        if progress.runs_done >= 3:
            raise KeyboardInterrupt

    for replicate in range(20):
        write_netpipe(raw, replicate)
    with pytest.raises(InterruptedIngestError, match=r"of 20 runs; the same command"):
        add(AddOptions(lake, [raw], workers=2), press)
    done = len(runs(lake))
    assert 3 <= done < 20
    report = ingest(lake, raw)
    assert (report.added, report.unchanged) == (20 - done, done)

"""Tables of many rows and columns: bounded, in little memory, complete after a kill."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ingest.files.blocks import zstd
from ingest.formats import table_files, table_rows
from ingest.lake.verification import verify_lake
from ingest.report import AddReport
from ingest.tables import stage
from ingest.tables.unique_keys import DROPPED, FIRST, FURTHER, NONE, RowKeys
from tests.fixtures.ingest import ingest, tuples

ROOT = Path(__file__).resolve().parents[2]
HEADER = "sys,i,itr,dvfs,rapl,requests,time,joules\n"


def table_text(rows: int, of: Callable[[int], int] = lambda number: number) -> str:
    """Rows that differ in their requests; `of` gives the number of the row that one repeats."""
    lines = (f"linux_tuned,0,{2 * (of(n) % 97)},0x1d00,135,{100_000 + of(n)},20.5,9\n"
             for n in range(rows))  # fmt: skip
    return HEADER + "".join(lines)


def refusals(report: AddReport) -> list[str]:
    return [each.problem.detail for each in report.problems if each.problem.severity == "refused"]


def test_a_packed_table_of_too_many_rows_is_refused_by_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of 36 MB are a kilobyte or so in zstd; reading stops at the bound, here a tenth."""
    assert table_rows.MOST_ROWS == 1_000_000
    monkeypatch.setattr(table_files, "MOST_ROWS", 100_000)
    raw = tmp_path / "raw"
    raw.mkdir()
    with zstd.open(raw / "mcd_bomb.csv.zst", "wb") as file:
        file.write(b"sys,requests\n")
        for _ in range(3):
            file.write(b"linux,12345\n" * 1_000_000)
    assert (raw / "mcd_bomb.csv.zst").stat().st_size < 30_000
    (said,) = refusals(ingest(tmp_path / "lake", raw))
    assert "a table has 100,000 rows at most: split it into several files" in said


def test_a_table_of_too_many_columns_is_refused_by_a_sentence(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    names = ",".join(f"c{n}" for n in range(4_000))
    (raw / "wide.csv").write_text(f"{names}\n" + ("1," * 3_999 + "1\n") * 3)
    (said,) = refusals(ingest(tmp_path / "lake", raw))
    assert "4,000 columns, a table has 1,000 at most" in said


def test_a_table_of_several_commits_is_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every third row repeats another one; an add that ends between commits is gone on with."""
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "mcd_many.csv").write_text(table_text(800, lambda n: n - 1 if n % 3 == 2 else n))
    whole, lake = tmp_path / "whole", tmp_path / "lake"
    report = ingest(whole, raw)
    assert (report.added, report.rows.dropped) == (534, 266)
    monkeypatch.setattr(stage, "BATCH_ROWS", 100)
    real, calls = stage.Committer.flush, []

    def ending(committer: stage.Committer) -> None:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        real(committer)

    monkeypatch.setattr(stage.Committer, "flush", ending)
    with pytest.raises(KeyboardInterrupt):
        ingest(lake, raw)
    monkeypatch.setattr(stage.Committer, "flush", real)
    assert kinds(lake) == ["unfinished_table"]
    report = ingest(lake, raw)
    assert (report.added, report.unchanged) == (334, 200)
    assert rows(lake) == rows(whole)
    assert "unfinished_table" not in kinds(lake)
    assert ingest(lake, raw).unchanged == 534
    assert list(verify_lake(lake)) == []


def rows(lake: Path) -> list[tuple[object, ...]]:
    return tuples(lake, "SELECT * EXCLUDE (source) FROM runs ORDER BY run_id")


def kinds(lake: Path) -> list[str]:
    found = tuples(lake, "SELECT DISTINCT kind FROM problems WHERE kind LIKE 'unfin%'")
    return [kind for (kind,) in found]


def test_keys_become_unique_as_documented() -> None:
    """Key (a, 0) thrice with two contents; (a, None); a numbered table counts by itself."""
    keys = RowKeys()
    given = [("a", 0, 1), ("a", 0, 2), ("a", 0, 1.0), ("a", None, 1), ("a", 0, 3)]
    for line, (name, replicate, value) in enumerate(given):
        keys.add(0, line, line, (name,), replicate, {"x": value})
    for line in range(2):
        keys.add(1, line, line, ("b",), None, {"x": line})
    found = keys.resolve({1})
    assert found.fates.tolist() == [FIRST, FURTHER, DROPPED, FIRST, FURTHER, FIRST, FIRST]
    assert found.twins[2] == 0
    found.renumber(lambda _row, number: number == 1)
    assert found.replicates.tolist() == [0, 2, 0, NONE, 3, 0, 1]
    assert np.array_equal(found.rows_of(FURTHER), [1, 4])


_MEASURED = """
import resource, sys
from ingest.__main__ import main
status = main(["add", *sys.argv[1:]])
print("PEAK", max(resource.getrusage(who).ru_maxrss for who in
                  (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) // 1024)
sys.exit(status)
"""


def peak_mb(raw: Path, lake: Path) -> int:
    """Greatest memory of an add, as a program of its own."""
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, str(raw), "--lake", str(lake), "--workers", "1"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return int(done.stdout.rpartition("PEAK")[2])


@pytest.mark.parametrize(
    ("count", "most_mb"),
    [
        pytest.param(20_000, 130, marks=pytest.mark.slow),
        pytest.param(table_rows.MOST_ROWS, 380, marks=pytest.mark.cluster),
    ],
)
def test_many_rows_take_little_memory(tmp_path: Path, count: int, most_mb: int) -> None:
    """Beside what an add of one row takes, mostly libraries."""
    (tmp_path / "one").mkdir()
    (tmp_path / "many").mkdir()
    (tmp_path / "one" / "mcd_x.csv").write_text(table_text(1))
    (tmp_path / "many" / "mcd_x.csv").write_text(table_text(count))
    least = peak_mb(tmp_path / "one", tmp_path / "lake1")
    assert peak_mb(tmp_path / "many", tmp_path / "lake2") - least < most_mb

"""Files of SQLite: their tables are read as the sheets of a spreadsheet are."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ingest.__main__ import main
from tests.fixtures.ingest import details, ingest, query

MODELS = [("net", 1), ("net", 8), ("tree", 1), ("tree", 8)]


def write(file: Path, script: str, rows: dict[str, list[tuple[object, ...]]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(file)) as database:
        database.executescript(script)
        for table, content in rows.items():
            marks = ", ".join("?" * len(content[0]))
            database.executemany(f"INSERT INTO {table} VALUES ({marks})", content)
        database.commit()


@pytest.mark.parametrize("journal", ["DELETE", "WAL"])
def test_rows_have_the_settings_of_the_row_that_they_name(
    journal: str, lake: Path, tmp_path: Path
) -> None:
    write(
        tmp_path / "raw" / "lab.db",
        f"PRAGMA journal_mode = {journal};"
        "CREATE TABLE setups(id INTEGER PRIMARY KEY, model TEXT, batch INT, notes BLOB);"
        "CREATE TABLE runs(id INTEGER PRIMARY KEY, setup_id INT, energy_j REAL, time_s REAL);"
        "CREATE TABLE unused(id INT);",
        {
            "setups": [(n, *each, b"\0") for n, each in enumerate(MODELS, 1)],
            "runs": [(n, 1 + n % 4, 10.5 + n, 2.25 + n % 4) for n in range(8)],
        },
    )
    assert main(["add", str(tmp_path / "raw"), "--lake", str(lake)]) == 0
    found = query(lake, "SELECT model, batch, energy_j, duration_s FROM runs ORDER BY energy_j")
    assert [tuple(row.values()) for row in found] == [
        (*MODELS[n % 4], 10.5 + n, 2.25 + n % 4) for n in range(8)
    ]


def test_a_table_of_samples_is_no_runs(lake: Path, tmp_path: Path) -> None:
    write(
        tmp_path / "raw" / "power.sqlite",
        "CREATE TABLE samples(time REAL, power_w REAL);",
        {"samples": [(1.7e9 + n, 50.0 + n % 7) for n in range(60)]},
    )
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    assert query(lake, "SELECT * FROM runs") == []
    assert any("a row is a sample" in problem.problem.detail for problem in report.problems)


def test_a_broken_file_is_refused_by_its_kind(lake: Path, tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "cut.db").write_bytes(b"SQLite format 3\0" + b"\1" * 40)
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    assert any("no SQLite file" in each for each in details(report, "bad_content"))

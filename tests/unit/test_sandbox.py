"""The sandbox of SQL: answers, bounds, and every attack of the list refused or harmless."""

import io
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from csv import reader as csv_reader
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from data.connection import Lake, open_lake
from data.errors import BusyError
from data.sandbox import pool
from data.sandbox.landlock import landlock_version
from data.sandbox.pool import CSV, PARQUET, Bounds, Limits, Sandbox, SqlError
from tests.fixtures.attacks import ATTACKS, Places, read_attacks
from tests.fixtures.lakes import run, write_lake

ROOT = Path(__file__).resolve().parents[2]
CANARY = "canary-5e21"
# Shorter than in production, so that attacks on time and memory end soon.
SHORT = Limits(query_s=0.5, cpu_s=2, kill_s=2.5)
pytestmark = pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    """A lake of two runs, secrets beside it in all formats, a folder that anybody may write to."""
    base = tmp_path_factory.mktemp("sandbox")
    found = Places(base / "secret", base / "lake", base / "lake_evil", base / "writable")
    for folder in (found.secrets, found.sibling, found.writable):
        folder.mkdir()
    found.writable.chmod(0o777)
    write_lake(found.lake, [run(energy_j=1.0), run(energy_j=2.0, replicate=1)])
    for folder in (found.secrets, found.sibling):
        for name in ("secret.csv", "s.csv", "s.json"):
            (folder / name).write_text(f'{{"k": "{CANARY}"}}\n')
        pl.DataFrame({"k": [CANARY]}).write_parquet(folder / "s.parquet")
    return found


@pytest.fixture(scope="module")
def lake(places: Places) -> Iterator[Lake]:
    with open_lake(places.lake) as lake:
        yield lake


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    found = Sandbox(limits=Limits(query_s=20, cpu_s=30, kill_s=60))
    yield found
    found.close()


def contents(places: Places) -> dict[str, bytes]:
    """Everything in all folders."""
    base = places.lake.parent
    return {str(path): path.read_bytes() for path in sorted(base.rglob("*")) if path.is_file()}


def test_rows_are_numbers_and_texts_that_json_keeps(sandbox: Sandbox, lake: Lake) -> None:
    head, body = sandbox.run(
        lake,
        "SELECT replicate AS r, energy_j, 9007199254740993 AS big, 'nan'::DOUBLE AS no, "
        "TIMESTAMPTZ '2026-01-02 03:04:05Z' AS at, [1, 2] AS l, {'a': 'x'} AS s, NULL AS n, "
        "'<b>' AS \"<i>\", 1.50::DECIMAL(4, 2) AS d FROM runs ORDER BY r",
    )
    assert head["rows"][1] == [
        1, 2.0, "9007199254740993", "nan", "2026-01-02T03:04:05+00:00", "[1, 2]", '{"a": "x"}',
        None, "<b>", 1.5,
    ]  # fmt: skip
    assert head["columns"][:2] == ["r", "energy_j"]
    assert head["columns"][8] == "<i>"
    assert head["types"][1] == "DOUBLE"
    assert head["truncated"] is False
    assert head["elapsed_ms"] > 0
    assert body == b""


def test_files_hold_what_the_query_says(sandbox: Sandbox, lake: Lake) -> None:
    sql = "SELECT replicate, energy_j, [replicate] AS l FROM runs ORDER BY 1"
    _, csv = sandbox.run(lake, sql, CSV)
    _, parquet = sandbox.run(lake, sql, PARQUET)
    assert csv.decode().splitlines() == [
        '"replicate","energy_j","l"', '0,1,"[0]"', '1,2,"[1]"',
    ]  # fmt: skip
    rows = pl.read_parquet(io.BytesIO(parquet))
    assert rows.rows() == [(0, 1.0, [0]), (1, 2.0, [1])]


def test_infinite_dates_are_words(sandbox: Sandbox, lake: Lake) -> None:
    sql = """SELECT unnest(['infinity', '-infinity', '2020-02-03', NULL])::DATE AS d,
             '-infinity'::TIMESTAMP AS t, 'infinity'::TIMESTAMPTZ AS z, '20000-01-01'::DATE AS far,
             ['infinity'::DATE] AS l, {'x': 'infinity'::TIMESTAMP} AS s, INTERVAL 1 MONTH AS i"""
    head, _ = sandbox.run(lake, sql)
    rows = head["rows"]
    assert [row[0] for row in rows] == ["infinity", "-infinity", "2020-02-03", None]
    assert rows[0][1:4] == ["-infinity", "infinity", "20000-01-01"]
    assert rows[0][4:6] == ['["infinity"]', '{"x": "infinity"}']
    _, csv = sandbox.run(lake, sql, CSV)
    first, _, third, fourth = list(csv_reader(csv.decode().splitlines()))[1:]
    assert first[:6] == ["infinity", "-infinity", "infinity", "20000-01-01", *rows[0][4:6]]
    assert (third[0], fourth[0]) == ("2020-02-03", "")


def test_no_text_of_a_csv_file_is_a_formula(sandbox: Sandbox, lake: Lake) -> None:
    sql = """SELECT '=1+1' AS "=a", '-40.6' AS number, -40.6 AS b, '@x'::ENUM('@x') AS e,
             '=1'::BLOB AS bytes, ['=1'] AS l, 'a=b' AS c, NULL::VARCHAR AS d"""
    _, csv = sandbox.run(lake, sql, CSV)
    assert csv.decode().splitlines() == [
        '"\'=a","number","b","e","bytes","l","c","d"',
        '"\'=1+1","-40.6",-40.6,"\'@x","3d31","[""=1""]","a=b",',
    ]
    _, parquet = sandbox.run(lake, sql, PARQUET)
    found = pl.read_parquet(io.BytesIO(parquet)).row(0, named=True)
    assert (found["=a"], found["e"], found["bytes"]) == ("=1+1", "@x", b"=1")


@pytest.mark.parametrize(
    ("sql", "bounds", "rows"),
    [("SELECT * FROM range(1001)", Bounds(), 1000), ("SELECT * FROM range(5)", Bounds(5), 5),
     ("SELECT repeat('x', 3000000) FROM range(3)", Bounds(), 0)],
)  # fmt: skip
def test_rows_and_bytes_are_bounded_and_that_is_said(
    sandbox: Sandbox, lake: Lake, sql: str, bounds: Bounds, rows: int
) -> None:
    head, _ = sandbox.run(lake, sql, bounds)
    assert len(head["rows"]) == rows
    assert head["truncated"] is ("range(5)" not in sql)


def test_an_error_is_about_the_query_alone(sandbox: Sandbox, lake: Lake) -> None:
    with pytest.raises(SqlError, match="energy_x") as raised:
        sandbox.run(lake, "SELECT energy_x FROM runs")
    assert "query($1)" not in str(raised.value)
    with pytest.raises(SqlError, match="characters, at most"):
        sandbox.run(lake, "SELECT 1 --" + "x" * 100_000)


def test_two_run_at_once_a_third_is_told_and_one_can_be_cancelled(lake: Lake) -> None:
    sandbox, ended = Sandbox(limits=Limits(query_s=60, cpu_s=60, kill_s=90)), list[str]()

    def ask(key: str) -> None:
        try:
            sandbox.run(lake, "SELECT count(*) FROM range(1000000000000)", key=key)
        except SqlError as error:
            ended.append(str(error))

    threads = [threading.Thread(target=ask, args=[key]) for key in ("a", "b")]
    for thread in threads:
        thread.start()
    while sandbox.running < 2:
        time.sleep(0.01)
    with pytest.raises(BusyError, match="2 queries run already"):
        sandbox.run(lake, "SELECT 1")
    while not all([sandbox.cancel("a"), sandbox.cancel("b")]) and sandbox.running == 2:
        time.sleep(0.01)
    for key in ("a", "b"):
        sandbox.cancel(key)
    for thread in threads:
        thread.join(60)
    assert ended == ["the query was cancelled"] * 2
    assert not sandbox.cancel("a")
    assert sandbox.outcomes == {"refused": 1, "killed": 2}
    sandbox.close()


def test_without_landlock_there_is_no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "landlock_version", lambda: 0)
    with pytest.raises(SqlError, match="no Landlock"):
        Sandbox()
    assert Sandbox(has_landlock=False).running == 0


@pytest.mark.real
@pytest.mark.skipif(not ATTACKS.exists(), reason="the list of attacks is not beside the project")
def test_every_attack_is_refused_or_harmless(places: Places, lake: Lake) -> None:
    before, (statements, _) = contents(places), read_attacks(places)
    escapes = [f"SELECT * FROM lake_file('{up}etc/passwd')" for up in ("../" * 9, "x/../../../../")]
    statements = [*statements, *escapes]
    opening = {"lake": str(places.lake), "views": list(lake.views),
               "log_views": lake.log_views.to_json(), "has_landlock": True,
               "query_s": 5, "cpu_s": 60}  # fmt: skip
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); " \
           "from tests.fixtures.attacks import run_all; run_all()"  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], env={}, capture_output=True, text=True, timeout=120,
        input=f"{json.dumps(opening)}\n{json.dumps(statements)}\n", cwd="/",
    )  # fmt: skip
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(statements) > 80, done.stderr[-2000:]
    assert [sql for sql, _, is_unchanged in found if not is_unchanged] == []
    assert contents(places) == before
    said = {sql: json.dumps(words) for sql, words, _ in found}
    assert [sql for sql in escapes if "Permission Error" not in said[sql]] == []
    assert [sql for sql, words in said.items() if CANARY in words] == []
    assert [sql for sql, words in said.items() if "root:" in words] == []
    # Those that are answered tell nothing but DuckDB's own facts.
    answered = [sql for sql, words, _ in found if not str(words).startswith("refused")]
    assert len(answered) < 25, answered


@pytest.mark.slow
@pytest.mark.real
@pytest.mark.skipif(not ATTACKS.exists(), reason="the list of attacks is not beside the project")
def test_no_attack_on_time_or_memory_outlives_its_bounds(places: Places, lake: Lake) -> None:
    before, (_, statements) = contents(places), read_attacks(places)
    sandbox = Sandbox(limits=SHORT)

    def ask(sql: str) -> tuple[str, Any]:
        try:
            return sql, sandbox.run(lake, sql, key=sql)[0]["rows"]
        except SqlError as error:
            return sql, str(error)

    with ThreadPoolExecutor(2) as threads:
        ended = dict(threads.map(ask, statements))
    sandbox.close()
    assert len(ended) == len(statements) > 25
    assert sum(sandbox.outcomes.values()) == len(statements)
    assert sandbox.outcomes["failed"] + sandbox.outcomes["killed"] > 15
    assert sandbox.running == 0
    assert contents(places) == before

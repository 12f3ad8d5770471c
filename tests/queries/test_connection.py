"""Opening lakes: versions, refusals, bounded queries, derived columns, several threads."""

import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

from data import connection
from data.connection import Lake, open_lake
from data.errors import LakeError, UnknownVersionError
from data.file_cache import SPILL_PREFIX
from data.lake_watch import newest_version
from data.schema import DERIVED, INTERRUPTS, PROBLEMS, RUNS, SCHEMA_DESCRIPTION
from ingest.__main__ import main as ingest
from ingest.lake.tables import create_tables
from tests.fixtures.databases import Connect
from tests.fixtures.lakes import run, runs_from_text, write_lake


@pytest.fixture(autouse=True)
def new_databases(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each lake has a database of its own, as outside of tests."""
    monkeypatch.setattr(connection, "_connect", connect)


def count(lake: Lake) -> int:
    return int(lake.polars("SELECT count(*) FROM runs").item())


def write_problems(lake: Path, rows: list[dict[str, Any]]) -> None:
    table = pa.Table.from_pylist(rows, schema=PROBLEMS)
    write_deltalake(str(lake / "problems"), table, description=SCHEMA_DESCRIPTION)


def derived(lake: Path, *runs: dict[str, Any]) -> list[dict[str, Any]]:
    """The derived columns of runs with these values."""
    rows = [run(**values, run_id=f"{number:02}") for number, values in enumerate(runs)]
    with open_lake(write_lake(lake, rows)) as opened:
        return opened.polars(f"SELECT {', '.join(DERIVED)} FROM runs ORDER BY run_id").to_dicts()


def test_an_absent_folder_is_an_empty_lake_with_the_columns_of_a_full_one(tmp_path: Path) -> None:
    write_lake(tmp_path / "full", [run()])
    with open_lake(tmp_path / "none") as lake, open_lake(tmp_path / "full") as full:
        assert lake.version == -1
        assert newest_version(tmp_path / "none") == -1
        for view in ("runs", "cores", "sources", "problems"):
            rows = lake.polars(f"SELECT * FROM {view}")
            assert len(rows) == 0
            assert rows.columns == full.polars(f"SELECT * FROM {view}").columns
        columns = lake.polars("SELECT * FROM runs").columns
    assert not {"cores", "sources", "files"} & set(columns)
    assert set(DERIVED) <= set(columns)


QUERIES = [
    "SELECT system, ipc, count(*) AS n, 2 * avg(energy_j) AS twice FROM runs GROUP BY ALL",
    "SELECT count(*) FROM runs",
    'SELECT SYSTEM, "EDP_js" FROM runs',
    "SELECT r.* FROM runs r",
    "SELECT * EXCLUDE (system) FROM runs",
    "SELECT system, * FROM runs",
    "SELECT DISTINCT * FROM runs",
    "SELECT ALL * FROM runs",
    "SELECT DISTINCT ON (system) * FROM runs",
    "SELECT -- every column\n* FROM runs",
    "SELECT system FROM runs UNION ALL BY NAME FROM runs",
    "SELECT count(DISTINCT runs) AS n FROM runs",
    "DESC runs",
    "SELECT COLUMNS('.*_s') FROM runs",
    "SELECT runs FROM runs",
    "SELECT system, to_json(runs) AS row FROM runs",
    "WITH a AS (SELECT * FROM runs), b AS (FROM runs) SELECT a.system, b.itr_us FROM a, b",
    "SELECT system FROM runs UNION ALL SELECT workload FROM (FROM runs)",
    "FROM runs",
    "SUMMARIZE runs",
    "PIVOT runs ON itr_us USING sum(energy_j)",
    "SELECT system FROM runs a NATURAL JOIN runs b",
    "WITH runs AS (SELECT run_id FROM _runs_all) SELECT * FROM runs",
    "SELECT run_id, core FROM runs JOIN cores USING (run_id)",
    "SELECT path FROM sources UNION ALL SELECT path FROM problems",
    "SELECT r.system, o.core FROM runs r LEFT JOIN overview o USING (run_id)",
]


@pytest.mark.parametrize("runs", [0, 2])
def test_queries_answer_the_same_whichever_columns_their_view_of_runs_has(
    tmp_path: Path, runs: int
) -> None:
    """Some mean columns that they do not name."""
    rows = [run(system=f"s{number}", itr_us=10.0 * number) for number in range(runs)]
    with open_lake(write_lake(tmp_path, rows)) as lake, duckdb.connect() as full:
        for statement in lake.views:
            full.execute(statement)
        for query in QUERIES:
            lake.log_views.create(full, query)
            for asked in (query, query.upper().replace("'.*_S'", "'.*_s'")):
                answer = lake.polars(asked)
                expected = full.sql(asked).pl()
                assert answer.columns == expected.columns
                assert sorted(map(repr, answer.rows())) == sorted(map(repr, expected.rows()))


def test_threads_that_name_a_view_first_at_once_all_find_it(tmp_path: Path) -> None:
    write_lake(tmp_path, [run()])
    for query in ("SELECT * FROM runs", "SELECT * FROM sources", "SELECT * FROM problems"):
        with open_lake(tmp_path) as lake, ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: lake.polars(query), range(16)))  # noqa: B023
        assert len({len(answer) for answer in answers}) == 1


def test_a_version_can_be_pinned_and_an_open_lake_does_not_change_under_its_reader(
    tmp_path: Path,
) -> None:
    write_lake(tmp_path, [run(replicate=0)])
    assert newest_version(tmp_path) == 0
    with open_lake(tmp_path) as lake:
        write_lake(tmp_path, [run(replicate=1), run(replicate=2)])
        assert count(lake) == 1
    assert newest_version(tmp_path) == 1
    with open_lake(tmp_path, 0) as old, open_lake(tmp_path) as new:
        assert (old.version, count(old)) == (0, 1)
        assert (new.version, count(new)) == (1, 3)


def test_from_a_known_version_only_later_ones_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for replicate in range(3):
        write_lake(tmp_path, [run(replicate=replicate)])
    assert newest_version(tmp_path, 7) == 2, "another lake is there now, which has fewer versions"
    monkeypatch.setattr(Path, "iterdir", lambda _: pytest.fail("the log was listed"))
    assert [newest_version(tmp_path, known) for known in range(3)] == [2, 2, 2]


def write_older_lake(path: Path, *lacking: str) -> Path:
    """A lake of two runs from before `runs` had some columns."""
    schema = pa.schema([field for field in RUNS if field.name not in lacking])
    table = pa.Table.from_pylist([run(replicate=0), run(replicate=1)], schema=schema)
    write_deltalake(str(path / "runs"), table, description=SCHEMA_DESCRIPTION)
    return path


def test_columns_that_a_lake_is_too_old_for_are_null(tmp_path: Path) -> None:
    lake = write_older_lake(tmp_path, "start_unix_s", "power_readings")
    with open_lake(lake) as old, open_lake(tmp_path / "none") as empty:
        runs = old.polars("SELECT * FROM runs")
        assert runs.columns == empty.polars("SELECT * FROM runs").columns
        assert runs.select("replicate", "start_unix_s", "power_readings").rows() == [
            (0, None, None),
            (1, None, None),
        ]


def test_an_ingest_gives_an_older_lake_the_columns_that_it_lacks(tmp_path: Path) -> None:
    lake = write_older_lake(tmp_path / "lake", "start_unix_s")
    create_tables(lake)
    assert newest_version(lake) == 1
    create_tables(lake)
    assert newest_version(lake) == 1
    write_lake(lake, [run(replicate=2, start_unix_s=1.5)])
    for version, expected in ((0, [None, None]), (2, [None, None, 1.5])):
        with open_lake(lake, version) as opened:
            starts = opened.polars("SELECT start_unix_s FROM runs ORDER BY replicate")
            assert starts["start_unix_s"].to_list() == expected


@pytest.mark.parametrize("name", ["it's my läke", "what? a*b,2"])
def test_a_lake_may_be_called_anything(tmp_path: Path, name: str) -> None:
    write_lake(tmp_path / name, [run()])
    with open_lake(tmp_path / name) as lake:
        assert count(lake) == 1


def test_pruning_a_lake_with_a_space_in_its_path_keeps_its_files(tmp_path: Path) -> None:
    lake = tmp_path / "my lake"
    kept = tmp_path / "my lake" / "interrupts" / "tiny" / "r.1.parquet"
    write_lake(lake, [run(files=[big_file(lake, "r", [10, 20])], run_id="r")])
    write_problems(lake, [])
    assert ingest(["prune", "--lake", str(lake)]) == 0
    assert kept.exists()


@pytest.mark.parametrize(
    "version", [1, 999_999_999_999_999_999, 10**30, 10**300],
    ids=["later", "18 digits", "31 digits", "301 digits"],
)  # fmt: skip
def test_an_unknown_version_is_named_at_once(tmp_path: Path, version: int) -> None:
    write_lake(tmp_path, [run()])
    with pytest.raises(UnknownVersionError, match=f"no version {str(version)[:40]}"):
        open_lake(tmp_path, version)


def test_an_empty_lake_has_no_version_to_pin(tmp_path: Path) -> None:
    with pytest.raises(UnknownVersionError, match="no version 0"):
        open_lake(tmp_path, 0)


@pytest.mark.parametrize("description", ["wattlas schema 999", None])
def test_another_schema_is_refused_by_name(tmp_path: Path, description: str | None) -> None:
    rows = pa.Table.from_pylist([run()], schema=RUNS)
    write_deltalake(str(tmp_path / "runs"), rows, description=description)
    with pytest.raises(LakeError, match=SCHEMA_DESCRIPTION) as refusal:
        open_lake(tmp_path)
    assert repr(description) in str(refusal.value)


def test_problems_are_read_from_their_own_table(tmp_path: Path) -> None:
    write_lake(tmp_path, [run()])
    row = {"dataset": "tiny", "path": "a.csv", "kind": "field_count", "severity": "refused"}
    write_problems(tmp_path, [{**row, "line": 3, "count": 1}])
    with open_lake(tmp_path) as lake:
        assert lake.polars("SELECT path, line FROM problems").rows() == [("a.csv", 3)]


def test_cores_and_sources_are_views_of_their_own(tmp_path: Path) -> None:
    cores = [{"core": 0, "package": 0, "energy_j": 4.0}, {"core": 1, "package": 1}]
    sources = [{"path": "raw/a.csv", "format": "intlog", "size_bytes": 10}]
    write_lake(tmp_path, [run(run_id="a", cores=cores, sources=sources), run(run_id="b")])
    with open_lake(tmp_path) as lake:
        energies = lake.polars("SELECT run_id, core, energy_j FROM cores ORDER BY core")
        assert energies.rows() == [("a", 0, 4.0), ("a", 1, None)]
        assert lake.polars("SELECT run_id, path FROM sources").rows() == [("a", "raw/a.csv")]


# Derived columns: 1,000 J; 20 s; p99 100 us; 300 of 400 cycles; 4,000 + 1,000 bytes; 60 interrupts;
# 500 context switches; 120 descriptors; 10 requests a second; 80 entries to sleep states.
WORKED = {
    "energy_j": 1000.0, "duration_s": 20.0, "latency_p99_us": 100.0, "instructions": 300,
    "cycles": 400, "rx_bytes": 4000, "tx_bytes": 1000, "iops": 50.0, "interrupts": 60,
    "cpu_user_pct": 30.0, "cpu_sys_pct": 12.5, "context_switches": 500,
    "rx_desc": 120, "throughput_qps": 10.0, "c1": 20, "c3": 30, "c7": 30,
}  # fmt: skip


def test_derived_columns_by_hand(tmp_path: Path) -> None:
    (found,) = derived(tmp_path, WORKED)
    assert found == pytest.approx(
        {
            "ipc": 0.75,  # 300 / 400
            "edp_js": 0.1,  # 1,000 J x 100e-6 s
            "bytes_per_joule": 5.0,  # 5,000 B / 1,000 J
            "ios_per_joule": 1.0,  # 50 x 20 / 1,000
            "interrupts_per_s": 3.0,  # 60 / 20
            "cpu_pct": 42.5,  # 30 + 12.5
            "context_switches_per_s": 25.0,  # 500 / 20
            "instructions_per_s": 15.0,  # 300 / 20
            "cycles_per_s": 20.0,  # 400 / 20
            "ref_cycles_per_s": None,
            "llc_misses_per_s": None,
            "loads_per_s": None,
            "stores_per_s": None,
            "context_switches_per_io": 0.5,  # 500 / (50 x 20)
            "interrupt_rx_mean_bytes": 4000 / 60,
            "interrupt_tx_mean_bytes": 1000 / 60,
            "interrupt_rx_mean_desc": 2.0,  # 120 / 60
            "interrupt_tx_mean_desc": None,
            "sleep_entries_per_s": 4.0,  # (20 + 30 + 30) / 20
            "c1_share": 0.25,  # 20 / 80
            "c1e_share": None,
            "c3_share": 0.375,  # 30 / 80
            "c6_share": None,
            "c7_share": 0.375,
            "energy_per_interrupt_uj": 1e9 / 60,  # 1,000 J / 60
            "energy_per_request_uj": 5e6,  # 1,000 J / (10 x 20)
            "energy_per_byte_nj": 2e8,  # 1,000 J / 5,000 B
            "interrupts_per_request": 0.3,  # 60 / 200
            "instructions_per_byte": 0.06,  # 300 / 5,000
        }
    )


def test_derived_columns_of_other_runs(tmp_path: Path) -> None:
    unknown = ("iops", "no_such_column", None)
    closed, measured, no_c1, counted, zeros, absent, *no_product = derived(
        tmp_path,
        {**WORKED, "performance_metric": "duration_s", "loop": "closed"},
        {**WORKED, "bandwidth_bytes_s": 1e6},
        {**WORKED, "c1": None},
        {**WORKED, "requests": 100},
        {**WORKED, "cycles": 0, "energy_j": 0.0, "duration_s": 0.0},
        {**WORKED, "instructions": None, "rx_bytes": None},
        *({**WORKED, "performance_metric": metric} for metric in unknown),
    )
    assert closed["edp_js"] == pytest.approx(20_000.0)  # 1,000 J x 20 s
    # The measured bandwidth is preferred: 1 MB/s x 20 s / 1,000 J
    assert measured["bytes_per_joule"] == pytest.approx(20_000.0)
    # A log without entries to C1 has no entries and no shares.
    assert no_c1["sleep_entries_per_s"] is no_c1["c3_share"] is no_c1["c7_share"] is None
    # Requests are counted rather than a rate over the time: 60 / 100
    assert counted["interrupts_per_request"] == pytest.approx(0.6)
    # Nothing is divided by zero, or by what was not measured.
    assert zeros["ipc"] is zeros["bytes_per_joule"] is zeros["interrupts_per_s"] is None
    assert absent["ipc"] is absent["bytes_per_joule"] is None
    assert [each["edp_js"] for each in no_product] == [None] * 3


def big_file(lake: Path, run_id: str, times_ns: list[int]) -> dict[str, Any]:
    """Write a run's `interrupts` as ingest does, one row a time; gives the entry of `files`."""
    path = Path("interrupts") / "tiny" / f"{run_id}.1.parquet"
    idle = dict.fromkeys(("core", "rx_bytes", "tx_desc", "tx_bytes"), 0)
    rows = [{"run_id": run_id, "t_ns": t, "rx_desc": 1} | idle for t in times_ns]
    (lake / path).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema=INTERRUPTS), lake / path)
    size = (lake / path).stat().st_size
    return {"table": "interrupts", "path": str(path), "size_bytes": size, "rows": len(rows)}


@pytest.fixture
def logged(tmp_path: Path) -> Path:
    """Runs `a` and `b` with interrupts, `c` without."""
    times = {"a": [10, 20], "b": [15]}
    rows = [run(run_id=r, files=[big_file(tmp_path, r, t)]) for r, t in times.items()]
    return write_lake(tmp_path, [*rows, run(run_id="c")])


def test_scan_reads_just_the_runs_that_were_asked_for_and_names_what_is_unknown(
    logged: Path,
) -> None:
    with open_lake(logged) as lake:
        both = lake.scan("interrupts", ["a", "b"]).order("t_ns").project("run_id, t_ns")
        assert both.fetchall() == [("a", 10), ("b", 15), ("a", 20)]
        assert lake.scan("interrupts", ["b"]).project("t_ns").fetchall() == [(15,)]
        # Of runs without the table it is empty, but has its columns.
        for relation in (lake.scan("interrupts", ["c"]), lake.scan("interrupts", [])):
            assert relation.fetchall() == []
            assert relation.columns == INTERRUPTS.names
        with pytest.raises(LakeError, match="no table 'intterupts'; known: interrupts"):
            lake.scan("intterupts", ["a"])
        with pytest.raises(LakeError, match=r"\(version 0\) holds no run y, z"):
            lake.scan("interrupts", ["a", "z", "y"])


def test_scan_names_a_file_that_is_gone(logged: Path) -> None:
    (logged / "interrupts" / "tiny" / "a.1.parquet").unlink()
    with open_lake(logged) as lake:
        with pytest.raises(LakeError, match=r"missing from the lake: .*a\.1\.parquet"):
            lake.scan("interrupts", ["a", "b"])
        assert lake.scan("interrupts", ["b"]).project("t_ns").fetchall() == [(15,)]


def test_a_query_that_takes_too_long_is_stopped_in_words(tmp_path: Path) -> None:
    heavy = "SELECT sum(sqrt(a.range * b.range)) FROM range(1000000) a, range(1000000) b"
    with open_lake(write_lake(tmp_path, [run()])) as lake:
        with pytest.raises(LakeError, match=r"took longer than 0\.2 s and was stopped"):
            lake.polars(heavy, timeout_s=0.2)
        assert count(lake) == 1


def test_rows_whose_files_vanished_are_a_lake_error(tmp_path: Path) -> None:
    write_lake(tmp_path, [run()])
    with open_lake(tmp_path) as lake:
        for path in (tmp_path / "runs").glob("*.parquet"):
            path.unlink()
        with pytest.raises(LakeError, match="changed under version 0"):
            lake.arrow("SELECT * FROM runs")


def test_several_threads_ask_at_once(tmp_path: Path) -> None:
    rows = runs_from_text("replicate energy_j\n" + "\n".join(f"{i} {i}.0" for i in range(200)))
    together = threading.Barrier(8)

    def ask(number: int) -> float:
        together.wait()
        query = "SELECT sum(energy_j) FROM runs WHERE replicate < ?"
        return float(lake.polars(query, [number]).item())

    with open_lake(write_lake(tmp_path, rows)) as lake, ThreadPoolExecutor(8) as pool:
        bounds = list(range(10, 170, 10))
        # 0 + 1 + ... + (n - 1) = n (n - 1) / 2
        assert list(pool.map(ask, bounds)) == [n * (n - 1) / 2 for n in bounds]


def test_parameters_are_bound_not_pasted(tmp_path: Path) -> None:
    hostile = "x'; DROP VIEW runs; --"
    with open_lake(write_lake(tmp_path, [run(system=hostile)])) as lake:
        found = lake.sql("SELECT count(*) FROM runs WHERE system = ?", [hostile]).fetchall()
        assert found == [(1,)]
        assert count(lake) == 1


def test_what_memory_does_not_hold_is_in_a_temporary_folder_until_the_lake_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The working folder of an image is read-only; root may write to one, so it stays empty."""
    working, temporary = tmp_path / "working", tmp_path / "temporary"
    for folder in (working, temporary):
        folder.mkdir()
    monkeypatch.chdir(working)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    working.chmod(0o555)
    lake = open_lake(write_lake(tmp_path / "lake", [run()]))
    assert list(temporary.iterdir()) == []
    # Texts of 400 characters: 500,000 need over 160 MB, and a list of them cannot be on disk.
    texts = "SELECT range::VARCHAR || repeat('-', 400) AS t FROM range({:d}) GROUP BY ALL"
    assert lake.polars(f"SELECT count(*) FROM ({texts.format(500_000)})", (), 300).item() == 5e5
    (spilled,) = temporary.iterdir()
    assert spilled.name.startswith(SPILL_PREFIX)
    with pytest.raises(LakeError, match="of memory and 100MB of disk; filter on a dataset"):
        lake.polars(f"SELECT list(t) FROM ({texts.format(500_000)})", (), 300)
    lake.close()
    assert (list(temporary.iterdir()), list(working.iterdir())) == ([], [])

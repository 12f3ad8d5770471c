"""Metrics of logs: against a slow script on the raw logs, and again from the files of the lake."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.analysis.log_bins import SLOTS, slot_of
from data.analysis.log_metrics import (
    SERIES,
    SERIES_BINS,
    BurstCounts,
    PowerWindows,
    slot_quantile,
)
from data.connection import open_lake
from data.schema import LOG_METRICS
from ingest.__main__ import main
from ingest.discover.found_files import RawFile
from ingest.discover.source_reads import read_source
from ingest.formats import FORMATS
from ingest.lake.distributions import join_batches
from ingest.lake.maintenance import describe_lake
from ingest.lake.state import load_state, read_rows, table_rows
from ingest.lake.tables import open_table, replace_runs
from ingest.records import Reading, Window
from ingest.settings.loading import load_settings
from tests.fixtures.ingest import ingest, query
from tests.fixtures.real import real_data
from tests.fixtures.slow_log_metrics import counts_slowly, metrics_slowly

Ask = Callable[[str], list[dict[str, Any]]]

_EXACT = ("dispersion", "busy_share", "core_imbalance", "power", "mean")
_LOGGED = "SELECT * FROM runs WHERE has_log ORDER BY run_id"
ENERGY = "energy_over_time"
_SERIES = (
    "SELECT high, count FROM distributions WHERE run_id = '{}' AND quantity = '{}' ORDER BY slot"
)
_MADE = "SELECT run_id, quantity, slot, low, high, count FROM distributions ORDER BY ALL"


def raw_logs(ask: Ask, row: dict[str, Any]) -> tuple[dict[int, str], tuple[int, int]]:
    """The text of each core's raw log of a run of a lake, and the first and last tick."""
    sources = ask(f"SELECT * FROM sources WHERE run_id = '{row['run_id']}'")
    cores = ask(f"SELECT * FROM cores WHERE run_id = '{row['run_id']}' ORDER BY core")
    for source in sources:
        # The folder of the session's sample was renamed once it was complete.
        source["path"] = source["path"].replace("/logged-making/", "/logged/")
    logs = [s["path"] for s in sources if s["format"] == "intlog"]
    # One log has one core; those of sixteen are numbered in their names.
    by_core = {
        c["core"]: Path(path).read_text()
        for c in cores
        for path in logs
        if len(logs) == 1 or f".0_{c['core']}_" in Path(path).name
    }
    assert len(by_core) == len(logs) == len(cores)
    window = next(filter(None, (_window(s["path"], s["format"]) for s in sources)))
    return by_core, (window.start_tsc, window.end_tsc)


def _window(path: str, name: str) -> Window | None:
    format_ = next((known for known in FORMATS if known.name == name), None)
    if format_ is None or format_.role == "log":
        return None
    status = Path(path).stat()
    file = RawFile(path, status.st_size, status.st_mtime, "d", load_settings(), format_, None)
    content = read_source(file, lambda _: None).content
    return content.window if isinstance(content, Reading) else None


def assert_as_slowly(ask: Ask, row: dict[str, Any]) -> None:
    by_core, ticks = raw_logs(ask, row)
    machine, package_of = load_settings().machine, {core: core % 2 for core in by_core}
    unit_j, itr_us = machine.energy_unit_j, row["itr_us"]
    slow = metrics_slowly(by_core, ticks, machine.tsc_hz, unit_j, package_of, itr_us)
    assert set(LOG_METRICS) <= set(slow) | {"gap_at_limit_share"}
    for name, expected in slow.items():
        if name == "gap_at_limit_share":
            # The slots within 5 % of the delay reach up to 17 % from it.
            assert row[name] >= expected - 1e-9 if expected is not None else row[name] is None
        elif any(word in name for word in _EXACT):
            assert row[name] == (expected and pytest.approx(expected, rel=1e-5)), name
        else:
            assert row[name] == pytest.approx(expected, rel=0.07, abs=1e-3), name
    for name, counts in zip(SERIES, counts_slowly(by_core, ticks, SERIES_BINS), strict=False):
        series = ask(_SERIES.format(row["run_id"], name))
        assert [part["count"] for part in series] == counts, name
        assert series[-1]["high"] == pytest.approx(row["duration_s"] * 1e9)
    energy_uj = sum(part["count"] for part in ask(_SERIES.format(row["run_id"], ENERGY)))
    assert energy_uj / 1e6 == pytest.approx(row["energy_j"], rel=0.05)


def assert_all_as_slowly(lake: Path) -> int:
    """Check all logged runs of a lake; return how many there are."""
    with open_lake(lake) as opened:

        def ask(sql: str) -> list[dict[str, Any]]:
            return opened.polars(sql).to_dicts()

        rows = ask(_LOGGED)
        for row in rows:
            assert_as_slowly(ask, row)
            assert row["gap_p50_us"]
            assert row["busy_share"]
        return len(rows)


def test_metrics_of_the_sample_are_those_of_a_slow_script(logged_lake: Path) -> None:
    assert assert_all_as_slowly(logged_lake) >= 9


@pytest.mark.real
def test_metrics_of_published_logs_are_those_of_a_slow_script(tmp_path: Path) -> None:
    ingest(tmp_path, real_data() / "netpipe")
    assert assert_all_as_slowly(tmp_path) == 2


@pytest.fixture
def older(logged_lake: Path, tmp_path: Path) -> Path:
    """The sample's lake as an older version wrote it: without metrics of logs, and their files."""
    lake = tmp_path / "older"
    shutil.copytree(logged_lake, lake)
    shutil.rmtree(lake / "distributions")
    ids = [row["run_id"] for row in query(lake, _LOGGED)]
    rows = read_rows(lake, ids)
    for row in rows:
        row["files"] = [file for file in row["files"] if file["table"] != "distributions"]
        for name in LOG_METRICS:
            row.pop(name, None)
    table = open_table(lake, "runs")
    assert table is not None
    replace_runs(table, rows, ids, load_state(lake).schema)
    return lake


def test_an_older_lake_gets_the_same_without_raw_logs(
    older: Path, logged_lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected, distributions = query(logged_lake, _LOGGED), query(logged_lake, _MADE)
    assert all(row["gap_p50_us"] is None for row in query(older, _LOGGED))
    assert query(older, _MADE) == []
    assert main(["derive", "--lake", str(older)]) == 0
    assert f"{len(expected)} runs" in capsys.readouterr().out
    found = query(older, _LOGGED)
    for now, then in zip(found, expected, strict=True):
        assert {n: now[n] for n in LOG_METRICS} == pytest.approx({n: then[n] for n in LOG_METRICS})
    assert query(older, _MADE) == distributions
    assert main(["verify", "--lake", str(older)]) == 0
    main(["derive", "--lake", str(older), "--json"])
    assert '"runs": 0' in capsys.readouterr().out, "a second call finds nothing to do"
    # As a version wrote them that had no series.
    for path in (older / "distributions").rglob("*.parquet"):
        rows = pq.read_table(path)
        is_series = pc.is_in(rows["quantity"], pa.array(list(SERIES)))
        pq.write_table(rows.filter(pc.invert(is_series)), path)
    main(["derive", "--lake", str(older)])
    assert query(older, _MADE) == distributions


def test_a_run_with_a_damaged_file_is_named_and_the_others_get_theirs(
    older: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    victim = sorted((older / "interrupts").rglob("*.parquet"))[0]
    victim.write_bytes(victim.read_bytes()[:-200])
    assert main(["derive", "--lake", str(older)]) == 3
    assert victim.name.partition(".")[0] in capsys.readouterr().out
    rows = query(older, _LOGGED)
    assert [r["gap_p50_us"] for r in rows].count(None) == 1


def test_many_small_files_of_distributions_are_joined(older: Path) -> None:
    main(["derive", "--lake", str(older)])
    before = query(older, _MADE)
    table = open_table(older, "runs")
    assert table is not None
    # As if each run had been committed alone: nine files.
    from ingest.lake.distributions import _join

    rows = list(read_rows(older, [r["run_id"] for r in query(older, _LOGGED)]))
    for row in rows:
        (old,) = (f["path"] for f in row["files"] if f["table"] == "distributions")
        alone = _join(older, row["dataset"], {row["run_id"]: old})
        row["files"] = [*(f for f in row["files"] if f["table"] != "distributions"), alone]
    replace_runs(table, rows, [row["run_id"] for row in rows], load_state(older).schema)
    assert query(older, _MADE) == before
    assert join_batches(load_state(older))
    assert query(older, _MADE) == before
    with open_lake(older) as lake:
        files = lake.sql("SELECT DISTINCT f.path FROM (SELECT unnest(files) AS f FROM _runs_all) "
                         "WHERE f.table = 'distributions'").fetchall()  # fmt: skip
    assert len(files) == 1
    assert not join_batches(load_state(older)), "one file is not joined again"
    assert main(["verify", "--lake", str(older)]) == 0
    assert main(["prune", "--lake", str(older)]) == 0
    assert len(list((older / "distributions").rglob("*.parquet"))) == 1
    assert query(older, _MADE) == before


@given(st.lists(st.integers(0, 10**9), min_size=1), st.floats(0.01, 0.99))
def test_a_quantile_of_slots_is_within_7_percent(values: list[int], share: float) -> None:
    counts = np.bincount(slot_of(np.array(values)), minlength=SLOTS)
    exact = sorted(values)[max(int(np.ceil(share * len(values))), 1) - 1]
    assert slot_quantile(counts, share) == pytest.approx(exact, rel=0.07)


@given(
    st.lists(st.integers(0, 999_999), min_size=1),
    st.integers(1, 50),
    st.integers(500_000, 1_100_000),
)
def test_bursts_are_counted_alike_in_pieces_of_any_size(
    times: list[int], piece: int, length: int
) -> None:
    t_ns = np.sort(np.array(times, np.int64))
    counts = BurstCounts(20_000, length)
    for begin in range(0, len(t_ns), piece):
        counts.add(t_ns[begin : begin + piece])
    windows = length // 20_000
    per = np.histogram(t_ns, np.arange(windows + 1) * 20_000)[0]
    # NumPy counts the end of the last window in it.
    per[-1] -= np.count_nonzero(t_ns == windows * 20_000)
    if per.sum():
        assert counts.dispersion() == pytest.approx(per.var() / per.mean(), abs=1e-9)
    else:
        assert counts.dispersion() is None


def test_power_of_two_packages_is_their_sum_where_both_are_measured() -> None:
    power = PowerWindows(60_000_000)
    # Package 0: 1 W, sampled at 0, 30 and 60 ms; package 1: 3 W from 10 to 55 ms.
    ms = 1_000_000
    core, t_ns = np.array([0, 1, 0]), np.array([30, 55, 60]) * ms
    energy = np.array([30e3, 135e3, 30e3])
    for piece in (slice(0, 2), slice(2, 3)):
        power.add(core[piece], t_ns[piece], np.array([30, 45, 30])[piece] * ms, energy[piece])
    # From 10 to 50 ms both are known.
    assert power.power_w() == pytest.approx([4.0] * 4)


def test_distributions_are_written_with_their_units(logged_lake: Path) -> None:
    rows = query(logged_lake, "SELECT quantity, min(high - low) AS w, min(low) AS low, "
                 "sum(count) AS n FROM distributions GROUP BY quantity")  # fmt: skip
    by_name = {row["quantity"]: row for row in rows}
    assert by_name["power_w"]["w"] == 0.5
    interrupts = query(logged_lake, "SELECT sum(interrupts) AS n FROM runs WHERE has_log")
    for name in ("rx_bytes", "tx_bytes", "rx_desc", "tx_desc"):
        assert by_name[name]["n"] == interrupts[0]["n"]


def test_status_counts_a_file_that_runs_share_once(logged_lake: Path) -> None:
    rows = table_rows(logged_lake / "runs", open_table(logged_lake, "runs"), ["files"])
    named = [file for row in rows for file in row["files"] or ()]
    paths = [file["path"] for file in named if file["table"] == "distributions"]
    assert len(set(paths)) < len(paths)
    on_disk = sum((logged_lake / path).stat().st_size for path in set(paths))
    assert describe_lake(logged_lake)["file_bytes"]["distributions"] == on_disk

"""Extremes in `overview`: recomputed from `samples` and `interrupts`, and by hand."""

from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from data.schema import RATES, rounded_singles
from ingest.logs import core_log
from ingest.records import Window
from ingest.settings.dataset import Machine
from tests.fixtures.streamed import Streamed, stream

# One tick is one nanosecond, one step of the energy counter a microjoule.
MACHINE = Machine(1_000_000, 1e-6, 32, {0: (0, 2), 1: (1,)})
START, LENGTH_NS = 1000, 8000
SQL = {
    "power_w": "energy_uj * 1e3 / dt_ns",
    "ipc": "instructions / nullif(cycles, 0)",
    **{
        name: f"{name.removesuffix('_per_s')} * 1e9 / dt_ns"
        for name in RATES
        if name.endswith("_per_s")
    },
}


def _log(rows: list[tuple[int, int, int, int]]) -> bytes:
    """Lines of 16 columns: time, instructions, cycles and all else, energy; zeros: no sample."""
    lines = [
        f"0 1 66 1 66 {n} {c} {c} {c} {c} {c} {c} {c} {c} {j} {START + t}" for t, n, c, j in rows
    ]
    return ("\n".join(lines) + "\n").encode()


def _streamed(folder: Path, logs: dict[int, bytes]) -> Streamed:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core_log, "OVERVIEW_LEVELS", (8, 64, 512))
        patch.setattr(core_log, "OVERVIEW_LEAST_NS", 100)
        patch.setattr(core_log, "OVERVIEW_LEAST_COUNTED_NS", 1000)
        return stream(folder, logs, Window(START, START + LENGTH_NS), MACHINE)


def _column(found: Streamed, name: str, core: int, level: int = 8) -> list[float | None]:
    rows = found.tables["overview"].select(["level", "core", name]).to_pylist()
    return [row[name] for row in rows if (row["level"], row["core"]) == (level, core)]


def test_a_spike_between_two_samples_stands_in_the_bins_that_it_touches(tmp_path: Path) -> None:
    """Samples every 500 ns, 1 uJ each (2 W); 50 uJ from 2,750 to 3,250 ns are 100 W."""
    times = range(250, 8000, 500)
    joules = [7 + at + (49 if t >= 3250 else 0) for at, t in enumerate(times)]
    rows = [
        (t, 9 + 4 * at, 9 + 2 * at, j) for at, (t, j) in enumerate(zip(times, joules, strict=True))
    ]
    found = _streamed(tmp_path, {0: _log(rows)})
    assert _column(found, "max_power_w", 0) == [2, 2, 100, 100, 2, 2, 2, 2]
    assert _column(found, "min_power_w", 0) == [2] * 8
    assert _column(found, "max_ipc", 0) == _column(found, "min_ipc", 0) == [2] * 8
    # 4 instructions in 500 ns.
    assert _column(found, "min_instructions_per_s", 0) == [rounded_singles(np.array([8e6]))[0]] * 8
    assert _column(found, "max_power_w", 0, 64) == [None] * 64


def test_a_slow_stretch_is_the_least_instructions_a_cycle(tmp_path: Path) -> None:
    """2 instructions a cycle, but 1 in 4 cycles up to 5,100 ns; then no cycle, and no IPC."""
    rows = [(5000, 100, 50, 1), (5050, 120, 60, 1), (5100, 121, 64, 1), (5200, 122, 64, 1)]
    found = _streamed(tmp_path, {1: _log(rows)})
    assert _column(found, "min_ipc", 1) == [None] * 5 + [0.25, None, None]
    assert _column(found, "max_ipc", 1) == [None] * 5 + [2.0, None, None]


def test_power_is_of_the_core_that_stands_for_its_package(tmp_path: Path) -> None:
    """Cores 0 and 2 share a package, and 0 has samples of more of the window; 1 has its own."""
    long = [(t, t, t, t) for t in range(1, 8000, 100)]
    found = _streamed(tmp_path, {0: _log(long), 1: _log(long[4:]), 2: _log(long[3:-3])})
    assert None not in _column(found, "max_power_w", 0)
    assert None not in _column(found, "max_power_w", 1)
    assert set(_column(found, "max_power_w", 2)) == {None}
    assert None not in _column(found, "max_ipc", 2)


def test_samples_at_one_instant_have_no_rate(tmp_path: Path) -> None:
    found = _streamed(tmp_path, {1: _log([(500, 5, 5, 5), (500, 9, 9, 9), (600, 10, 10, 10)])})
    assert _column(found, "max_power_w", 1)[0] == 10
    assert found.tables["samples"]["dt_ns"].to_pylist() == [None, 0, 100]


def test_interrupts_are_counted_in_the_finest_bins(tmp_path: Path) -> None:
    """64 bins of 125 ns behind 8: a burst of three at 1,100 ns on core 0, one of core 2 beside."""
    bursts = {0: [1100, 1110, 1120, 1300], 1: [1105], 2: [1124, 1500]}
    logs = {core: _log([(t, 0, 0, 0) for t in times]) for core, times in bursts.items()}
    found = _streamed(tmp_path, logs)
    assert _column(found, "max_interrupts", 0) == [0, 3, 0, 0, 0, 0, 0, 0]
    assert _column(found, "max_interrupts", 2) == [0, 1, 0, 0, 0, 0, 0, 0]
    assert _column(found, "max_package_interrupts", 0)[1] == 4
    assert _column(found, "max_package_interrupts", 1)[1] == 1
    assert _column(found, "max_package_interrupts", 2) == [None] * 8
    assert _column(found, "max_run_interrupts", 0)[1] == 5
    assert _column(found, "min_run_interrupts", 0) == [0] * 8
    assert _column(found, "max_run_interrupts", 1) == [None] * 8
    assert _column(found, "max_interrupts", 0, 64) == [None] * 64


@pytest.mark.parametrize("name", RATES)
def test_extremes_are_recomputed_from_samples_by_a_query(tmp_path: Path, name: str) -> None:
    rng = np.random.default_rng(11)
    logs = {}
    for core in (0, 1):
        t = np.cumsum(rng.integers(1, 400, 60))
        counted = np.cumsum(rng.integers(1, 10**6, (3, 60)), axis=1)
        kept = t <= LENGTH_NS
        logs[core] = _log(list(zip(*(x[kept].tolist() for x in (t, *counted)), strict=True)))
    found = _streamed(tmp_path, logs)
    samples, overview = found.tables["samples"], found.tables["overview"]
    expected = _recomputed(samples, SQL[name])
    for core in logs:
        for end in ("min", "max"):
            said = np.array(_column(found, f"{end}_{name}", core), np.float32)
            assert said.tolist() == rounded_singles(expected[end, core]).tolist()
    assert overview[f"max_{name}"].type == pa.float32()


def _recomputed(samples: pa.Table, sql: str) -> dict[tuple[str, int], np.ndarray]:
    """As a researcher would: join the bins with the samples that reach into them."""
    connection = duckdb.connect()
    connection.register("samples", samples)
    rows = connection.execute(
        f"WITH steps AS (SELECT core, {sql} AS rate, (t_ns - dt_ns) // 1000 AS first, "
        "least(t_ns // 1000, 7) AS last FROM samples WHERE dt_ns > 0) "
        "SELECT core, bin, min(rate), max(rate) FROM steps JOIN range(8) b(bin) "
        "ON bin BETWEEN first AND last GROUP BY ALL"
    )
    found = {(end, core): np.full(8, np.nan) for end in ("min", "max") for core in (0, 1)}
    for core, at, least, most in rows.fetchall():
        found["min", core][at], found["max", core][at] = least, most
    assert not any(np.isnan(values).all() for values in found.values())
    return found

"""One core's log cut to its window: what counts, what is dropped, what stays NULL."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.schema import INTERRUPTS, OVERVIEW, SAMPLES
from ingest.core_logs import CoreCut, cut_core, energy_by_package
from ingest.records import CoreLog, Window
from ingest.run_tables import build_tables
from ingest.settings import Machine

# One tick is one nanosecond, one step of the counter one microjoule.
MACHINE = Machine(1_000_000, 1e-6, 32, {0: (0, 2), 1: (1, 3)})


def make_log(
    tsc: list[int], sampled: list[tuple[int, int, int]], is_cumulative: bool = True
) -> CoreLog:
    """A log of lines at `tsc`, each with 2 descriptors and 100 bytes in, 1 and 10 out.

    Args:
        sampled: Time, counter value (instructions, cycles, c7 alike), energy counter.
    """
    n = len(tsc)
    times, counts, joules = (np.array([row[i] for row in sampled], np.int64) for i in range(3))
    return CoreLog(
        interrupts={
            "tsc": np.array(tsc, np.int64),
            "rx_desc": np.full(n, 2),
            "rx_bytes": np.full(n, 100),
            "tx_desc": np.full(n, 1),
            "tx_bytes": np.full(n, 10),
        },
        samples={
            "tsc": times,
            "instructions": counts,
            "cycles": counts,
            "ref_cycles": counts,
            "llc_misses": counts,
            "c7": counts,
            "joules": joules,
        },
        sleep_states_cumulative=is_cumulative,
        entries=n,
    )


def cut(core: int, log: CoreLog, start: int, end: int) -> CoreCut:
    return cut_core(core, log, Window(start, end), MACHINE)


def test_both_ends_of_the_window_count_and_nothing_beyond() -> None:
    log = make_log(
        [99, 100, 150, 200, 201], [(99, 1, 1), (100, 10, 2), (200, 40, 9), (201, 90, 20)]
    )
    core = cut(0, log, 100, 200)
    assert core.t_ns.tolist() == [0, 50, 100]
    assert core.totals["interrupts"] == 3
    assert core.totals["rx_bytes"] == 300
    assert core.totals["tx_desc"] == 3
    assert core.totals["instructions"] == 30
    assert core.totals["c7"] == 30
    assert core.totals["c1"] is None
    # Two gaps of 50 ns: between 2**5 and 2**6.
    assert core.gap_hist[5] == 2
    assert core.gap_hist.sum() == 2


def test_sleep_states_of_the_library_os_are_added() -> None:
    log = make_log([100], [(100, 3, 0), (150, 4, 0), (200, 5, 0)], is_cumulative=False)
    core = cut(0, log, 100, 200)
    assert core.totals["c7"] == 12
    assert core.totals["instructions"] == 2
    assert core.steps["c7"].tolist() == [4, 5]


def test_one_sample_starts_a_count_but_measures_nothing() -> None:
    core = cut(0, make_log([100, 110], [(105, 7, 7)]), 100, 200)
    assert core.totals["instructions"] is None
    assert core.totals["interrupts"] == 2
    assert energy_by_package([core], MACHINE)[0] == {0: None}


def test_a_log_beside_its_window_is_doubted() -> None:
    core = cut(0, make_log([1, 2], [(1, 1, 1)]), 100, 200)
    assert core.totals["interrupts"] == 0
    assert [(p.kind, p.severity) for p in core.problems] == [("log_outside_window", "doubted")]
    assert "1 to 2" in core.problems[0].detail


def test_a_counter_that_runs_backwards_measures_nothing() -> None:
    core = cut(0, make_log([100], [(100, 9, 1), (150, 3, 2), (200, 12, 3)]), 100, 200)
    assert core.totals["instructions"] is None
    assert core.problems[0].kind == "counter_backwards"
    assert energy_by_package([core], MACHINE)[0] == {0: 2e-6}


def test_energy_is_of_the_package_and_stands_at_one_of_its_cores() -> None:
    short = cut(0, make_log([100], [(120, 1, 5), (180, 2, 9)]), 100, 200)
    wide = cut(2, make_log([100], [(110, 1, 2**32 - 4), (190, 2, 6)]), 100, 200)
    other = cut(1, make_log([100], [(100, 1, 100), (200, 2, 130)]), 100, 200)
    energy, carriers, wrapped = energy_by_package([short, other, wide], MACHINE)
    assert carriers == {1, 2}
    assert wrapped
    assert energy == pytest.approx({0: 10e-6, 1: 30e-6})


@given(
    tsc=st.lists(st.integers(0, 300), max_size=30).map(sorted),
    start=st.integers(0, 300),
    length=st.integers(0, 300),
)
def test_the_window_keeps_just_the_lines_within_it(tsc: list[int], start: int, length: int) -> None:
    core = cut(0, make_log(tsc, []), start, start + length)
    kept = [t - start for t in tsc if start <= t <= start + length]
    assert core.t_ns.tolist() == kept
    assert core.totals["interrupts"] == len(kept)


def test_tables_are_in_time_order_and_add_up_to_the_totals() -> None:
    left = cut(0, make_log([100, 140, 200], [(100, 1, 0), (150, 3, 8), (200, 9, 20)]), 100, 200)
    right = cut(2, make_log([120, 130], [(130, 5, 4)]), 100, 200)
    tables = build_tables("run", [left, right], {0}, Window(100, 200), MACHINE.tsc_hz)
    assert {name: table.column_names for name, table in tables.items()} == {
        "interrupts": INTERRUPTS.names,
        "samples": SAMPLES.names,
        "overview": OVERVIEW.names,
    }
    interrupts = tables["interrupts"].to_pydict()
    assert interrupts["t_ns"] == [0, 20, 30, 40, 100]
    assert interrupts["core"] == [0, 2, 2, 0, 0]
    samples = tables["samples"].to_pydict()
    assert samples["t_ns"] == [0, 30, 50, 100]
    assert samples["dt_ns"] == [None, None, 50, 50]
    assert samples["instructions"] == [None, None, 2, 6]
    assert samples["c1"] == [None] * 4
    assert samples["energy_uj"] == [None, None, 8.0, 12.0]
    overview = pl.from_arrow(tables["overview"])
    assert isinstance(overview, pl.DataFrame)
    for level in (1024, 16384):
        rows = overview.filter(pl.col("level") == level)
        assert len(rows) == 2 * level
        assert rows["interrupts"].sum() == 5
        assert rows["rx_bytes"].sum() == 500
        assert rows.filter(core=0)["energy_uj"].sum() == 20.0
        assert rows.filter(core=2)["energy_uj"].is_null().all()
        assert rows["instructions"].sum() == 8

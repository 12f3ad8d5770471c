"""The sample's model shows the shapes that the measured systems show."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import ArrayLike

from bench.network_runs import sample_runs
from data.schema import RUNS
from ingest.sample.network_model import Outcome, Settings, expect, measure
from ingest.sample.parameters import System, Workload

ADAPTIVE = GOVERNOR = float("nan")


def settings(
    itr_us: ArrayLike, dvfs_ghz: ArrayLike, load: ArrayLike, rapl_w: ArrayLike = 135.0
) -> Settings:
    """Broadcast scalars and lists to the settings of n runs."""
    given = [np.asarray(v, dtype=float) for v in (itr_us, dvfs_ghz, rapl_w, load)]
    return Settings(*[np.array(v) for v in np.broadcast_arrays(*given)])


def run(
    workload: Workload,
    system: System,
    itr_us: ArrayLike,
    dvfs_ghz: ArrayLike,
    load: ArrayLike,
    rapl_w: ArrayLike = 135.0,
) -> Outcome:
    made = settings(itr_us, dvfs_ghz, load, rapl_w)
    made = Settings(*[np.atleast_1d(getattr(made, f)) for f in Settings.__slots__])
    return expect(workload, system, made)


def p99(outcome: Outcome) -> np.ndarray:
    return outcome.latency_us["latency_p99_us"]


def trip_energy_j(outcome: Outcome) -> np.ndarray:
    return outcome.power_w / outcome.requests_hz


@pytest.mark.parametrize("load", [200_000, 400_000, 600_000])
@pytest.mark.parametrize("system", ["linux_tuned", "ebbrt_tuned"])
def test_a_faster_interrupt_delay_cuts_latency_and_costs_energy(
    system: System, load: float
) -> None:
    outcome = run("memcached", system, [2, 50, 100, 200, 400], 2.9, load)
    assert np.all(np.diff(p99(outcome)) > 0)
    assert np.all(np.diff(outcome.power_w) < 0)


def test_slow_clock_saves_energy_until_the_load_no_longer_fits() -> None:
    ghz = [1.3, 1.7, 2.1, 2.5, 2.9]
    light = run("memcached", "linux_tuned", 2, ghz, 200_000)
    heavy = run("memcached", "linux_tuned", 2, ghz, 600_000)
    assert np.all(np.diff(light.power_w) > 0)
    assert np.all(np.diff(heavy.power_w) > 0)
    assert p99(light)[0] < 200
    assert 3000 < p99(heavy)[0] < 10_000
    assert p99(heavy)[-1] < 130


def test_an_overloaded_run_falls_short_of_its_load() -> None:
    outcome = run("memcached-silo", "linux_tuned", [2, 400], 1.2, 200_000)
    assert np.all(outcome.requests_hz < 190_000)
    assert outcome.requests_hz[1] > outcome.requests_hz[0]
    assert np.all(p99(outcome) < 10_000)


def test_batching_pays_more_for_large_messages() -> None:
    def gain(size: int) -> float:
        outcome = run("netpipe", "linux_tuned", [2, 28], 1.2, size)
        product = trip_energy_j(outcome) / outcome.requests_hz
        return 1 - product[1] / product[0]

    gains = [gain(size) for size in (64, 8192, 65_536, 524_288)]
    assert gains[0] < 0
    assert gains[-1] > 0.3
    assert gains == sorted(gains)


def test_netpipe_512_kb_is_best_near_28_us_at_the_slowest_clock() -> None:
    itr, ghz = np.meshgrid(np.arange(2, 42, 2), [1.2, 1.5, 1.9, 2.3, 2.9])
    outcome = run("netpipe", "linux_tuned", itr.ravel(), ghz.ravel(), 524_288)
    best = np.argmin(trip_energy_j(outcome) / outcome.requests_hz)
    assert ghz.ravel()[best] == 1.2
    assert 20 <= itr.ravel()[best] <= 36


@pytest.mark.parametrize(
    ("workload", "load"),
    [("memcached", 200_000), ("memcached-silo", 100_000), ("netpipe", 8192), ("nodejs", np.nan)],
)
def test_the_library_os_beats_linux_at_the_same_settings(workload: Workload, load: float) -> None:
    linux = run(workload, "linux_tuned", 8, [1.3, 1.9, 2.5, 2.9], load)
    library = run(workload, "ebbrt_tuned", 8, [1.3, 1.9, 2.5, 2.9], load)
    assert np.all(trip_energy_j(library) < trip_energy_j(linux))
    assert np.all(p99(library) < p99(linux))


@pytest.mark.parametrize("load", [200_000, 400_000, 600_000])
def test_the_default_lies_between_the_tuned_extremes(load: float) -> None:
    default = run("memcached", "linux_default", ADAPTIVE, GOVERNOR, load)
    fast = run("memcached", "linux_tuned", 2, 2.9, load)
    slow = run("memcached", "linux_tuned", 400, 1.2, load)
    assert p99(fast)[0] < p99(default)[0] < p99(slow)[0]
    assert slow.power_w[0] < default.power_w[0] < fast.power_w[0]


@pytest.mark.parametrize(
    ("load", "p99_us", "energy_j"),
    [(200_000, 104, 1335), (400_000, 115, 1926), (600_000, 139, 2594)],
)
def test_the_memcached_default_is_plausible_next_to_the_published_runs(
    load: float, p99_us: float, energy_j: float
) -> None:
    outcome = run("memcached", "linux_default", ADAPTIVE, GOVERNOR, load)
    assert p99(outcome)[0] == pytest.approx(p99_us, rel=0.2)
    assert outcome.power_w[0] * 20 == pytest.approx(energy_j, rel=0.15)


def test_a_power_limit_slows_a_busy_machine_only() -> None:
    free, held = (run("memcached", "linux_tuned", 2, 2.9, 600_000, w) for w in (135, 55))
    assert held.power_w[0] == pytest.approx(110, rel=0.02)
    assert held.clock_ghz[0] < free.clock_ghz[0] == pytest.approx(2.9)
    single = run("nodejs", "linux_tuned", 2, 2.9, np.nan, 55)
    assert single.clock_ghz[0] == pytest.approx(2.9)


def test_noise_is_about_one_percent_in_energy_and_three_in_the_tail() -> None:
    many = settings(np.full(4000, 50.0), 1.9, 200_000)
    got = measure("memcached", "linux_tuned", many, 20.0, np.random.default_rng(0))
    assert np.std(np.log(got["energy_j"])) == pytest.approx(0.01, rel=0.1)
    assert np.std(np.log(got["latency_p99_us"])) == pytest.approx(0.0316, rel=0.1)
    quantiles = [got[f"latency_p{q}_us"] for q in (5, 10, 50, 90, 95, 99)]
    assert np.all(np.diff(quantiles, axis=0) >= 0)


def test_sample_runs_are_rows_of_the_lake() -> None:
    table = pa.concat_tables(sample_runs(10_000, 1))
    assert table.schema.equals(RUNS)
    assert table.num_rows == 10_000
    rows = {name: table[name].to_pylist() for name in table.column_names}
    assert len(set(rows["run_id"])) == 10_000
    assert set(rows["workload"]) == {"memcached", "memcached-silo", "netpipe", "nodejs"}
    assert set(rows["system_label"]) == {"Linux default", "Linux tuned", "Library OS"}
    assert set(map(tuple, rows["flags"])) == {("synthetic",)}
    assert all(rows["is_synthetic"])
    for system, itr, dvfs, code in zip(
        rows["system"], rows["itr_us"], rows["dvfs_ghz"], rows["dvfs_code"], strict=True
    ):
        assert (itr is None) == (dvfs is None) == (system == "linux_default") == (code == "0xffff")
    assert rows["dvfs_code"][rows["dvfs_ghz"].index(2.9)] == "0x1d00"


@pytest.mark.parametrize("n", [0, 1, 13, 1000])
def test_sample_runs_gives_exactly_the_rows_asked_for(n: int) -> None:
    assert sum(table.num_rows for table in sample_runs(n, 1)) == n


def test_sample_runs_follow_the_seed() -> None:
    first, again, other = (list(sample_runs(500, seed)) for seed in (3, 3, 4))
    assert first == again != other

"""Which tables are joined to those of energies, and what a problem says of each join and refusal.

What two files say of one run stands in one row only where their paths, settings and numbers agree.
"""

from itertools import product
from pathlib import Path

import polars as pl
import pytest
from deltalake import DeltaTable

from data.connection import open_lake
from ingest.__main__ import main
from tests.fixtures.raw_runs import write_files

ENERGY = "freq_mhz,threads,energy_j\n1200,1,100\n1200,2,90\n2400,1,140\n2400,2,130\n"
LATENCY = "freq_mhz,threads,latency_us\n1200,1,900\n1200,2,800\n2400,1,500\n2400,2,400\n"
AT_CLOCKS = "freq_mhz,threads,replicate,energy_j\n" + "".join(
    f"{freq},{threads},{n},{freq / 10 + threads + n}\n"
    for freq, threads, n in product((1200, 2400), (1, 2), (1, 2))
)
TIMED = "threads,energy_j,time_s\n1,100.5,10\n2,90.5,6\n"
BY_THREADS = "threads,latency_us,time_s\n1,900,{}\n2,800,{}\n"


def _runs(text: str, name: str = "measured.json") -> dict[str, str]:
    """Return two folders of a run each; `N` in the text is the run's number."""
    return {f"run{n}/{file}": content for n in (1, 2) for file, content in (
        ("energy.csv", f"energy_j,duration_s\n{100.5 + n},10\n"),
        (name, text.replace("N", str(n))))}  # fmt: skip


# Files, number of runs, of those with an energy and another measurement, and what problems say.
CASES: dict[str, tuple[dict[str, str], int, int, set[tuple[str, str]]]] = {
    "one folder": (
        {"energy.csv": ENERGY, "latency.csv": LATENCY}, 4, 4,
        {("repaired", "latency_mean_us from latency.csv, by freq_mhz, threads")},
    ),
    "folders of measurements": (
        {"energy/redis.csv": ENERGY, "latency/redis.csv": LATENCY}, 4, 4,
        {("repaired", "latency_mean_us from redis.csv, by freq_mhz, threads")},
    ),
    "names of measurements with a time": (
        {"power_thermal_20260901T081200Z.csv": ENERGY,
         "summary_20260901T081200Z.csv": LATENCY}, 4, 4,
        {("repaired", "latency_mean_us from summary_20260901T081200Z.csv, by freq_mhz, threads")},
    ),
    "folders of workloads": (
        {"redis/energy.csv": ENERGY, "nginx/latency.csv": LATENCY}, 8, 0,
        {("doubted", "not joined to energy.csv, whose settings fit: its path names something "
          "else")},
    ),
    "names of workloads": (
        {"redis_energy.csv": ENERGY, "nginx_latency.csv": LATENCY}, 8, 0,
        {("doubted", "not joined to redis_energy.csv, whose settings fit: its path names something "
          "else")},
    ),
    "folders of machines": (
        {"intel/energy.csv": TIMED, "amd/perf.csv": "threads,throughput_qps\n1,5000\n2,9000\n"},
        4, 0,
        {("doubted", "not joined to energy.csv, whose settings fit: its path names something "
          "else")},
    ),
    "workloads of settings": (
        {"energy.csv": ENERGY, "latency.csv": LATENCY, "wattlas.toml": "".join(
            f'[[tables]]\npattern = "{name}.csv"\nworkload = "{workload}"\ncolumns.freq_mhz = '
            '{ name = "freq_mhz", role = "knob" }\ncolumns.threads = { to = "threads" }\n'
            f'columns.{column} = {{ to = "{to}" }}\n' for name, workload, column, to in (
                ("energy", "redis", "energy_j", "energy_j"),
                ("latency", "nginx", "latency_us", "latency_mean_us")))}, 8, 0,
        {("doubted", "not joined to energy.csv, whose settings fit: workload nginx, not redis")},
    ),
    "one benchmark a file": (
        {"energy.csv": "benchmark,threads,energy_j\nft,1,100\nft,2,90\n",
         "perf.csv": "benchmark,threads,throughput_qps\nlu,1,1000\nlu,2,1900\n"}, 4, 0,
        # A heading that differs between tables is a setting in both: other runs, beyond doubt.
        set(),
    ),
    "clocks that are not said": (
        {"energy.csv": AT_CLOCKS, "perf.csv": "threads,throughput_qps\n1,1000\n2,1900\n"}, 10, 0,
        {("doubted", "not joined to energy.csv, whose settings fit: several rows there have the "
          "settings of one here")},
    ),
    # Every number of threads has one clock: the clock of its throughput is still unknown.
    "a clock that is not said": (
        {"energy.csv": "freq_mhz,threads,energy_j\n1200,1,100\n2400,2,90\n",
         "perf.csv": "threads,throughput_qps\n1,1000\n2,1900\n"}, 4, 0,
        {("doubted", "not joined to energy.csv, whose settings fit: it does not say of which "
          "freq_mhz its values are")},
    ),
    "quality at every clock": (
        {"energy.csv": AT_CLOCKS, "quality.csv": "threads,psnr_db\n1,40.5\n2,41.5\n"}, 8, 8,
        {("doubted", "psnr_db from quality.csv, by thread_count; it does not say of which "
          "freq_mhz, replicate its values are")},
    ),
    "times of other runs": (
        {"energy.csv": TIMED, "latency.csv": BY_THREADS.format(60, 61)}, 4, 0,
        {("doubted", "not joined to energy.csv, whose settings fit: duration_s is 60.0, not "
          "10.0")},
    ),
    "times that are near": (
        {"energy.csv": TIMED, "latency.csv": BY_THREADS.format(10.25, 6)}, 2, 2,
        {("doubted", "latency_mean_us from latency.csv, by threads; duration_s is 10.25, not 10.0, "
          "which was kept")},
    ),
    "two tables of energies": (
        {"energy.csv": ENERGY, "power.csv": ENERGY.replace("energy_j", "power_w"),
         "latency.csv": LATENCY}, 12, 0,
        {("doubted", "not joined to energy.csv, whose settings fit: it fits 2 tables")},
    ),
    "two tables of latencies": (
        {"energy.csv": ENERGY, "latency.csv": LATENCY,
         "results.csv": "freq_mhz,threads,latency_us,throughput_qps\n1200,1,7,5000\n1200,2,9,9000\n"
         "2400,1,8,7000\n2400,2,7,8000\n"},
        12, 0,
        {("doubted", "not joined to energy.csv, whose settings fit: another table has "
          "latency_mean_us too")},
    ),
    "a run a folder": (
        _runs('{"throughput_qps": N, "duration_s": 10}'), 2, 2,
        {("repaired", "throughput_qps from measured.json, the only row of its folder")},
    ),
    "a longer time": (
        _runs('{"throughput_qps": N, "duration_s": 60}'), 4, 0,
        {("doubted", "not joined to energy.csv, whose settings fit: duration_s is 60.0, not "
          "10.0")},
    ),
    "a warm-up": (
        _runs('{"throughput_qps": 500N}', "a_warmup.json")
        | _runs('{"throughput_qps": N, "duration_s": 10}'), 2, 2,
        {("refused", "its name says that it is no run: not used"),
         ("repaired", "throughput_qps from measured.json, the only row of its folder")},
    ),
    "numbers of other runs": (
        {"cpu.csv": "id,threads,energy_j\n1,2,10.5\n2,4,11.5\n3,8,12.5\n",
         "gpu.csv": "id,batch,latency_ms\n1,8,1.5\n2,16,2.5\n3,32,3.5\n"}, 6, 0,
        {("doubted", "not joined to cpu.csv, whose settings fit: numbers count the rows of both, "
          "each with settings of its own")},
    ),
    "numbers of the same runs": (
        {"energy.csv": "exp_id,energy_j,time_s\n1,10.5,2\n2,11.5,3\n3,12.5,4\n",
         "runs.csv": "exp_id,threads,throughput_qps\n1,1,50\n2,2,60\n3,4,70\n"}, 3, 3,
        {("repaired", "threads, throughput_qps_metric from runs.csv, by exp_id")},
    ),
    "two of one measurement": (
        _runs('{"throughput_qps": 500N}', "client.json")
        | _runs('{"throughput_qps": N, "duration_s": 10}'), 6, 0,
        {("doubted", "not joined to energy.csv, whose settings fit: another table has "
          "throughput_qps too")},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_tables_are_joined_only_where_they_agree(case: str, tmp_path: Path) -> None:
    files, count, joined, said = CASES[case]
    raw, lake = tmp_path / "study", tmp_path / "lake"
    write_files(raw, files)
    main(["add", str(raw), "--lake", str(lake)])
    with open_lake(lake) as opened:
        runs = opened.polars("SELECT * FROM runs")
    measured = [
        name for name in runs.columns if name.startswith(("latency_", "throughput", "psnr"))
    ]
    both = pl.col("energy_j").is_not_null() & pl.any_horizontal(pl.col(measured).is_not_null())
    assert (len(runs), len(runs.filter(both))) == (count, joined)
    problems = DeltaTable(str(lake / "problems")).to_pyarrow_table().to_pylist()
    kinds = ("joined_table", "not_joined", "set_aside")
    assert {(p["severity"], p["detail"]) for p in problems if p["kind"] in kinds} == said
    if case == "a warm-up":
        qps = next(name for name in measured if runs[name].null_count() < len(runs))
        assert sorted(runs[qps]) == [1.0, 2.0]


def test_a_table_of_runs_that_were_there_before_has_them_once(tmp_path: Path) -> None:
    raw, lake = tmp_path / "study", tmp_path / "lake"
    numbers = [(1, 151.275, 7.3125), (2, 90.625, 4.0625), (4, 70.375, 2.4375)]
    write_files(raw, {
        f"runs/{threads}.json": f'{{"threads": {threads}, "energy_j": {joules}, "time_s": {s}}}'
        for threads, joules, s in numbers
    })  # fmt: skip
    assert main(["add", str(raw), "--lake", str(lake)]) == 0
    rows = "".join(f"{threads},{joules},{s}\n" for threads, joules, s in numbers)
    write_files(raw, {"all.csv": f"threads,energy_j,time_s\n{rows}8,60.125,1.5625\n"})
    assert main(["add", str(raw), "--lake", str(lake)]) == 0
    with open_lake(lake) as opened:
        energies = opened.polars("SELECT energy_j FROM runs ORDER BY 1")["energy_j"]
    assert energies.to_list() == [60.125, 70.375, 90.625, 151.275]


@pytest.mark.parametrize(
    ("quality", "runs", "of_quality"),
    [
        ("form,accuracy\nhalf,0.875\nfull,0.9375\n", 6, 4),
        # One more has no time: all are runs of their own, as nothing says that they are the same.
        ("form,accuracy\nhalf,0.875\nsparse,0.9375\n", 8, 2),
        # What is no quality may be of other runs.
        ("form,tokens_per_s\nhalf,61.875\nfull,38.9375\n", 8, 0),
    ],
)
def test_a_quality_of_each_form_is_of_the_runs_of_a_table_without_energies(
    quality: str, runs: int, of_quality: int, tmp_path: Path
) -> None:
    timed = "".join(
        f"{form},{batch},{batch * n + 0.125}\n"
        for n, form in enumerate(("half", "full", "odd"), 2) for batch in (1, 8)
    )  # fmt: skip
    write_files(tmp_path / "raw", {
        "results/latency.csv": f"form,batch,latency_ms\n{timed}", "results/quality.csv": quality,
    })  # fmt: skip
    assert main(["add", str(tmp_path / "raw"), "--lake", str(tmp_path / "lake")]) == 0
    with open_lake(tmp_path / "lake") as opened:
        found = opened.polars("SELECT * FROM runs")
    of = found["accuracy"].is_not_null().sum() if "accuracy" in found.columns else 0
    assert (len(found), of) == (runs, of_quality)

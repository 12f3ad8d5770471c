"""The sample's raw logs: real formats, and totals that agree with the model, read back naively.

The window rule of every run: lines from the record's start to its end; counters last minus first
sample; energy unwrapped per package of one core of each.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from data.errors import DataError
from ingest.sample import write_sample
from ingest.sample.logs import CUMULATIVE, NIC_COLUMNS
from ingest.sample.plan import Run, plan_runs
from ingest.sample.storage import count_storage_runs
from ingest.sample.writer import measure_run
from tests.fixtures.ingest import digest

SEED = 7
TICKS_US = 2899.999
ENERGY_UNIT_J = 2.0**-16
# Where, from the end of a line, the counters stand that every variant has.
ENERGY, TSC = -2, -1


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[tuple[int, int]]]:
    """A tiny sample, and the calls that said its progress."""
    calls: list[tuple[int, int]] = []
    out = tmp_path_factory.mktemp("sample") / "tiny"
    return write_sample(out, "tiny", SEED, lambda *call: calls.append(call)), calls


@pytest.fixture(scope="module")
def tiny(written: tuple[Path, list[tuple[int, int]]]) -> Path:
    return written[0]


def logged_runs() -> list[Run]:
    return [run for run in plan_runs("tiny") if run.is_logged]


def logs(folder: Path, run: Run) -> dict[int, Path]:
    """Find a run's per-interrupt logs by core, from names built here by hand."""
    knobs = f"{run.itr}_{run.dvfs_code}_{run.rapl_w}"
    ebbrt, rep, here = run.system == "ebbrt_tuned", run.replicate, folder / run.workload
    if run.workload == "netpipe":
        stem, end = ("ebbrt.dmesg", ".csv") if ebbrt else ("dmesg_devicelog", "")
        return {1: here / f"{stem}.{rep}_{run.load}_5000_{knobs}{end}"}
    if run.workload == "nodejs":
        stem, end = ("ebbrt_dmesg", ".csv") if ebbrt else ("linux.node.server.log", "")
        return {1: here / f"{stem}.{rep}_1_{knobs}{end}"}
    system = "linux.mcdsilo.dmesg" if run.workload == "memcached-silo" else "linux.mcd.dmesg"
    stem, end = ("ebbrt_dmesg", ".csv") if ebbrt else (system, "")
    return {c: here / f"{stem}.{rep}_{c}_{knobs}_{run.load}{end}" for c in range(16)}


def window(folder: Path, run: Run) -> tuple[int, int]:
    """Read a run's window from its own record."""
    log = logs(folder, run)[1]
    ebbrt, name = run.system == "ebbrt_tuned", log.name.removesuffix(".csv")
    if run.workload == "netpipe" and ebbrt:
        fields = (log.parent / name.replace("ebbrt.dmesg", "ebbrt.np.out")).read_text().split()
        return int(fields[10]), int(fields[11])
    if run.workload == "netpipe":
        text = (log.parent / name.replace("dmesg_devicelog", "np.server")).read_text()
        found = re.search(r"SERVER_WORKLOAD_PERIOD: (\d+) (\d+)", text)
        assert found
        return int(found[1]), int(found[2])
    rdtsc = re.sub(r"(dmesg|log)\.", "rdtsc.", name)
    if run.workload != "nodejs" or ebbrt:
        rdtsc = re.sub(r"\.(\d+)_\d+_", r".\1_", rdtsc)
    rows = [
        [int(f) for f in line.split()] for line in (log.parent / rdtsc).read_text().splitlines()
    ]
    if ebbrt:
        return rows[0][0], rows[0][1]
    if run.workload == "nodejs":
        long = [r for r in rows if r[1] > 0 and 3 < (r[2] - r[1]) / (TICKS_US * 1e6) < 40]
        return long[0][1], long[0][2]
    return max(r[2] for r in rows), max(r[3] for r in rows)


@cache
def entries(path: Path) -> np.ndarray:
    """Read the numbers of a log: prefixes, headings and headers dropped."""
    lines = (re.sub(r"^\[ *\d+\.\d{6}\] ", "", x) for x in path.read_text().splitlines())
    rows = [line.split() for line in lines if line[0].isdigit()]
    return np.array(rows, dtype=np.int64)


def in_window(folder: Path, run: Run) -> Iterator[tuple[int, np.ndarray]]:
    start, end = window(folder, run)
    for core, path in logs(folder, run).items():
        table = entries(path)
        yield core, table[(table[:, TSC] >= start) & (table[:, TSC] <= end)]


@pytest.mark.thin(3)
@pytest.mark.parametrize("run", logged_runs(), ids=lambda run: run.key)
def test_a_logged_runs_totals_agree_with_the_model(tiny: Path, run: Run) -> None:
    measured = measure_run(run, run.generator(SEED))
    start, end = window(tiny, run)
    assert (end - start) / (TICKS_US * 1e6) == pytest.approx(measured["duration_s"], rel=1e-6)
    totals = np.zeros(9, dtype=np.int64)
    energy_j: dict[int, float] = {}
    for core, table in in_window(tiny, run):
        samples = table[table[:, ENERGY] > 0]
        # i rx_desc rx_bytes tx_desc tx_bytes instructions cycles ref_cycles llc_miss ...
        totals[:4] += table[:, 1:5].sum(axis=0)
        totals[4:8] += samples[-1, 5:9] - samples[0, 5:9]
        totals[8] += len(table)
        if core % 2 not in energy_j:
            units = np.diff(samples[:, ENERGY]) % 2**32
            energy_j[core % 2] = float(units.sum() * ENERGY_UNIT_J)
    names = [*NIC_COLUMNS, *CUMULATIVE, "interrupts"]
    assert dict(zip(names, totals.tolist(), strict=True)) == {n: measured[n] for n in names}
    assert sum(energy_j.values()) == pytest.approx(measured["energy_j"], rel=1e-4)


@pytest.mark.thin(3)
@pytest.mark.parametrize("run", logged_runs(), ids=lambda run: run.key)
def test_interrupts_keep_the_delay_and_samples_a_millisecond(tiny: Path, run: Run) -> None:
    for _, table in in_window(tiny, run):
        gaps_us = np.diff(table[:, TSC]) / TICKS_US
        assert gaps_us.min() >= (9.9 if run.itr == 1 else run.itr)
        if run.itr == 1:
            assert len(np.unique(gaps_us.round())) > 5
        sampled = table[table[:, ENERGY] > 0]
        assert np.diff(sampled[:, TSC]).min() >= TICKS_US * 1000 - 1
        others = table[table[:, ENERGY] == 0]
        assert not others[:, 5:TSC].any()


@pytest.mark.thin(3)
@pytest.mark.parametrize("run", logged_runs(), ids=lambda run: run.key)
def test_lines_stand_before_and_after_the_window(tiny: Path, run: Run) -> None:
    start, end = window(tiny, run)
    for path in logs(tiny, run).values():
        tsc = entries(path)[:, TSC]
        assert np.all(np.diff(tsc) > 0)
        assert (tsc < start).sum() >= 5
        assert (tsc > end).sum() >= 5


def test_log_variants_are_the_real_ones(tiny: Path) -> None:
    columns = {
        "linux.mcd.dmesg": 16,
        "linux.mcdsilo.dmesg": 16,
        "linux.node.server.log": 17,
        "ebbrt_dmesg": 14,
        "ebbrt.dmesg": 14,
        "dmesg_devicelog": 14,
    }
    seen = set()
    for path in tiny.glob("*/*"):
        stem = next((s for s in columns if path.name.startswith(s + ".")), None)
        if stem:
            seen.add(stem)
            assert entries(path).shape[1] == columns[stem]
    assert seen == set(columns)
    first = next(tiny.glob("netpipe/dmesg_devicelog.*")).read_text().splitlines()[:3]
    assert re.fullmatch(r"\[ *\d+\.\d{6}\] Core=1 itr_cnt=\d+", first[0])
    assert first[1].endswith(
        "] i rxdesc rxbytes txdesc txbytes ins cyc refcyc llcm C3 C6 C7 JOULE TSC"
    )
    zeros = r"\[ *\d+\.\d{6}\] 0" + r" 0" * 11 + r" \d+ \d+"
    assert re.fullmatch(zeros, first[2])


def test_sleep_states_are_totals_under_linux_and_per_sample_under_the_library_os(
    tiny: Path,
) -> None:
    for run in logged_runs():
        if run.workload != "memcached":
            continue
        measured = measure_run(run, run.generator(SEED))
        summed = 0
        for _, table in in_window(tiny, run):
            c7 = table[table[:, ENERGY] > 0][:, -3]
            summed += int(c7.sum() if run.system == "ebbrt_tuned" else c7[-1] - c7[0])
        assert summed == measured["c7"]


def test_some_energy_counters_wrap_inside_a_window(tiny: Path) -> None:
    wrapped = [
        any((np.diff(t[t[:, ENERGY] > 0][:, ENERGY]) < 0).any() for _, t in in_window(tiny, run))
        for run in logged_runs()
    ]
    assert any(wrapped)
    assert not all(wrapped)


def test_cores_of_a_package_read_one_counter(tiny: Path) -> None:
    """Merged in time order, the readings of a package's cores never fall but where they wrap."""
    run = next(r for r in logged_runs() if r.workload == "memcached")
    for package in (0, 1):
        tables = [t for core, t in in_window(tiny, run) if core % 2 == package]
        merged = np.concatenate(tables)
        merged = merged[merged[:, ENERGY] > 0]
        merged = merged[np.argsort(merged[:, TSC])]
        falls = (np.diff(merged[:, ENERGY]) < 0).sum()
        assert falls <= 1


def test_every_run_is_either_logged_or_a_row_of_a_table(tiny: Path) -> None:
    runs = list(plan_runs("tiny"))
    assert len({run.key for run in runs}) == len(runs)
    rows = 0
    for table in tiny.glob("*/*_combined.csv"):
        header, *lines = table.read_text().splitlines()
        assert all(len(line.split()) == len(header.split()) for line in lines)
        rows += len(lines)
    assert rows == sum(not run.is_logged for run in runs)


def test_outputs_say_what_the_model_measured(tiny: Path) -> None:
    for run in logged_runs():
        measured = measure_run(run, run.generator(SEED))
        if run.workload in ("netpipe", "nodejs"):
            continue
        knobs = f"{run.replicate}_{run.itr}_{run.dvfs_code}_{run.rapl_w}_{run.load}"
        (path,) = (tiny / run.workload).glob(f"*out.{knobs}")
        text = path.read_text().replace("\\n", "\n")
        read = next(line for line in text.splitlines() if line.startswith("read"))
        assert float(read.split()[-1]) == pytest.approx(measured["latency_p99_us"], abs=0.06)
        assert f"Total QPS = {measured['throughput_qps']:.1f} (" in text


@pytest.mark.slow
def test_saved_outputs_come_plain_and_as_byte_literals(tmp_path: Path) -> None:
    small = write_sample(tmp_path / "small", "small", SEED)
    forms = {
        "plain" if not text.startswith("b'") else "escaped" if "\\n" in text else "literal"
        for text in (path.read_text() for path in small.glob("memcached*/*out.*"))
    }
    assert forms == {"plain", "escaped", "literal"}
    size_mb = sum(p.stat().st_size for p in small.rglob("*") if p.is_file()) / 1e6
    assert 45 < size_mb < 75


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes(tiny: Path, tmp_path: Path) -> None:
    again = write_sample(tmp_path / "again", "tiny", SEED)
    other = write_sample(tmp_path / "other", "tiny", SEED + 1)
    assert digest(tiny) == digest(again)
    assert digest(tiny) != digest(other)
    assert digest(write_sample(again, "tiny", SEED)) == digest(tiny)


def test_a_sample_says_that_it_is_synthetic(tiny: Path) -> None:
    assert (tiny / "wattlas.toml").read_text() == (
        '[dataset]\nname = "synthetic-tiny"\nsynthetic = true\n'
    )
    assert f"seed {SEED}" in (tiny / "README.txt").read_text()
    assert "synthetic" in (tiny / "README.txt").read_text()


def test_progress_counts_every_run(written: tuple[Path, list[tuple[int, int]]]) -> None:
    calls = written[1]
    runs = len(list(plan_runs("tiny"))) + count_storage_runs("tiny")
    assert calls == [(done, runs) for done in range(1, runs + 1)]


@pytest.mark.parametrize(("size", "seed"), [("huge", 1), ("tiny", -1)])
def test_a_bad_size_or_seed_is_refused(tmp_path: Path, size: str, seed: int) -> None:
    with pytest.raises(DataError):
        write_sample(tmp_path / "x", size, seed)
    assert not (tmp_path / "x").exists()


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(DataError, match="not empty"):
        write_sample(tmp_path, "tiny", SEED)
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]

"""Rows that are runs, rows that are samples, and what samples of a board are."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from ingest.formats.trace import read, sniff
from ingest.formats.trace_blocks import list_parts
from ingest.records import ReadContext, Reading
from tests.fixtures.ingest import details, ingest, problems, put, tuples

N = range(12)
START = datetime(2026, 5, 14, 19, 2, 36)


def reading(text: str, name: str = "t.csv") -> Reading:
    assert sniff(name, text.encode())
    return read([text.encode()], ReadContext(name, 0.0))


def lines(head: str, *rows: str) -> str:
    return "\n".join([head, *rows]) + "\n"


def at(seconds: float) -> str:
    return str(START + timedelta(seconds=seconds))


@pytest.mark.parametrize("step_s", [0.5, 10.0, 190.0])
def test_rows_with_a_latency_and_an_energy_are_runs(step_s: float) -> None:
    """The order of the energies is that of no running total."""
    head = "timestamp,prompt,total_latency_ms,decode_total_mw,decode_energy_mj"
    rows = [f"{at(n * step_s)},{16 << n % 4},{90 + n % 5},{900 + n},{800 + 7 * (n % 3)}" for n in N]
    assert not sniff("t.csv", lines(head, *rows).encode())


def test_samples_may_have_a_latency_beside_a_running_total() -> None:
    head = "timestamp,latency_ms,power_w,energy_j"
    text = lines(head, *(f"{at(n)},{90 + n % 5},10,{500 + 10 * n}" for n in N))
    assert reading(text).measurements["duration_s"] == 12.0


@pytest.mark.parametrize("factor", [1.0, 1e3, 1 / 3600])
def test_rows_whose_energy_is_their_power_times_their_time_are_runs(factor: float) -> None:
    """In J, mJ or Wh. The time falls from row to row, as no clock does; one of the rows disagrees.

    A time that rises is that of samples, whose energies are of steps of 1 s.
    """
    head = "timestamp,time,energy,avg_power"
    times = [2.5 - 0.125 * n for n in N]
    energies = [(2 + n % 3) * times[n] * factor * (1.5 if n == 4 else 1) for n in N]
    rows = [f"{at(9 * n)},{times[n]},{energies[n]},{2 + n % 3}" for n in N]
    assert not sniff("t.csv", lines(head, *rows).encode())
    rows = [f"{at(9 * n)},{times[n]},{7 + n % 5},{2 + n % 3}" for n in N]
    assert sniff("t.csv", lines(head, *rows).encode())
    assert sniff("t.csv", lines(head, *(f"{at(9 * n)},{times[n]},0,0" for n in N)).encode())
    rows = [f"{at(n)},{n + 1},{2 + n % 3},{2 + n % 3}" for n in N]
    assert sniff("t.csv", lines(head, *rows).encode())


def test_an_energy_is_not_added_to_a_power() -> None:
    rows = (f"{at(n)},{2 + n % 3},{7 + n % 5}" for n in N)
    found = reading(lines("timestamp,avg_power,energy", *rows))
    assert found.measurements["energy_j"] == pytest.approx(3.0 * 12)
    assert "overlapping_domains" not in {p.kind for p in found.problems}


def test_uneven_steps_are_told() -> None:
    steps = [0, 191, 390, 588, 900, 1360, 1560, 2000]
    found = reading(lines("timestamp,power_w", *(f"{at(s)},{5 + s % 3}" for s in steps)))
    (problem,) = found.problems
    assert (problem.kind, problem.severity) == ("rows_as_samples", "doubted")
    assert "8 rows, 191 to 460 s apart" in problem.detail


@pytest.mark.parametrize(("step_s", "count"), [(3600, 1), (60, 0)])
def test_even_steps_of_minutes_are_told(step_s: int, count: int) -> None:
    found = reading(lines("timestamp,power_w", *(f"{at(n * step_s)},{5 + n % 3}" for n in N)))
    told = [p.detail for p in found.problems if p.kind == "rows_as_samples"]
    assert len(told) == count
    assert all(f"rows, {step_s} s apart, are taken as samples of one run" in each for each in told)


def test_a_measured_clock_cuts_no_trace() -> None:
    """It falls once as the machine warms; a clock beside a program that changes is set."""
    head = "second,gpu_clock_mhz,power_w,power_cap_w"
    text = lines(head, *(f"{n + 1},{2670 if n < 8 else 2655},200,250" for n in range(24)))
    assert list_parts([text.encode()], ReadContext("t.csv", 0.0)) == []
    rows = [f"{n + 1},{'abab'[n // 8]},{1000 + 500 * (n // 16)},{200 + n % 3}" for n in range(32)]
    text = lines("second,benchmark,clock_mhz,power_w", *rows)
    assert len(list_parts([text.encode()], ReadContext("t.csv", 0.0))) == 4


def test_a_running_total_beside_a_power_is_its_energy() -> None:
    """It began at 0: 10.25 J in each of 12 s, of which the power shows 10 W."""
    head = "second,power_w,cum_energy_j"
    found = reading(lines(head, *(f"{n + 1},{10 + n % 2 / 2},{10.25 * (n + 1)}" for n in N)))
    assert found.measurements["energy_j"] == pytest.approx(123.0)


def test_what_was_achieved_in_all_of_a_trace_is_the_result_of_the_run() -> None:
    """One value in all rows; zeros alone are of nothing."""
    head = "second,power_w,achieved_bw_gbs,achieved_tflops"
    found = reading(lines(head, *(f"{n + 1},{10 + n},476.5,0.0" for n in N)))
    assert [(c.name, c.better) for c in found.columns] == [("achieved_bw_gbs", "more")]
    assert found.measurements["achieved_bw_gbs"] == pytest.approx(476.5)


BOARD = "TIME\tTOTAL\tSOC\tCPU\tGPU\tDDR"
REAL = (
    "./run.sh: line 35:  2809 Terminated   ./log.sh\n\nreal\t{}m{}s\nuser\t0m1.5s\nsys\t0m0.25s\n"
)


def board(samples: int) -> str:
    """4 W in all, of which the parts are 3.2 W; a sample each half second."""
    rows = (f".{5 * n + 1}\t4000\t610\t1448\t305\t837" for n in range(min(samples, 2)))
    more = (f"{n / 2 + 0.1}\t4000\t610\t1448\t305\t837" for n in range(2, samples))
    return lines(BOARD, *rows, *more)


@pytest.mark.parametrize("samples", [2, 5, 18])
def test_a_total_is_the_sum_of_its_parts(samples: int) -> None:
    found = reading(board(samples), "dgemm_power_1_64.tsv")
    assert found.measurements["energy_j"] == pytest.approx(4 * 0.5 * samples)
    assert found.measurements["gpu_power_w"] == pytest.approx(0.305)
    assert [p.kind for p in found.problems] == ["unit_guessed"]
    assert "TOTAL is taken as power in mW" in found.problems[0].detail


@pytest.mark.parametrize(
    "text",
    {
        "a part over the total": board(5).replace("1448", "4448"),
        "a text": board(5).replace("305", "a"),
    }.values(),
)
def test_other_columns_of_few_rows_are_no_trace(text: str) -> None:
    assert not sniff("dgemm_power_1_64.tsv", text.encode())
    assert not sniff("dgemm_1_64.tsv", board(5).encode())


def test_what_time_wrote_is_of_the_run_of_a_trace(lake: Path, tmp_path: Path) -> None:
    """The folder is said again in the names: a mode, no replicate."""
    for mode in (0, 1):
        for size, samples in ((64, 2), (1024, 5), (2048, 18)):
            end = f"nvpmodel_{mode}_{size}"
            put(tmp_path / f"raw/{mode}/dgemm_power_{end}.tsv", board(samples))
            text = REAL.format(mode, samples / 2)
            put(tmp_path / f"raw/{mode}/dgemm_time_{end}.txt", text)
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    found = tuples(lake, "SELECT nvpmodel, file, duration_s, power_w FROM runs ORDER BY ALL")
    assert [(*map(float, row),) for row in found] == [
        (mode, size, 60 * mode + samples / 2, pytest.approx(4.0))
        for mode in (0, 1)
        for size, samples in ((64, 2), (1024, 5), (2048, 18))
    ]
    assert len(details(report, "unit_guessed")) == 6
    assert {kind for _, _, kind, _ in problems(lake)} >= {"unit_guessed"}


def test_when_something_happened_is_no_run_and_takes_no_time(lake: Path, tmp_path: Path) -> None:
    """The row of a fault, beside the results of the run."""
    runs = (f"{n},{15 + 10 * (n % 2)},{9 + n / 8},{80.5 + n}" for n in N)
    put(tmp_path / "raw/runs.csv", lines("run_id,power_limit_w,duration_s,energy_j", *runs))
    event = "a,race,1789380475019185202"
    put(tmp_path / "raw/a/faults.csv", lines("run_id,fault_class,t_first_ns", event))
    ingest(lake, tmp_path / "raw", is_proposing=True)
    assert tuples(lake, "SELECT count(*), max(duration_s) FROM runs") == [(12, 10.375)]
    refused = [(name, kind) for name, _, kind, severity in problems(lake) if severity == "refused"]
    assert refused == [("faults.csv", "bad_content")]


def test_powers_of_two_of_which_some_recur_are_set(lake: Path, tmp_path: Path) -> None:
    """Two lengths, of which one is varied at a time; what they cost is measured."""
    lengths = [
        (256, 128),
        (512, 128),
        (1024, 128),
        (2048, 128),
        (128, 256),
        (128, 512),
        (128, 1024),
    ]
    rows = (
        f"{asked},{given},{0.25 * asked + 3.5 * given + 0.125},{asked * 1.5 + given * 7.25}"
        for asked, given in lengths
    )
    put(tmp_path / "raw/t.csv", lines("prompt_tokens,gen_tokens,latency_ms,energy_mj", *rows))
    ingest(lake, tmp_path / "raw", is_proposing=True)
    assert tuples(lake, "SELECT prompt_tokens, gen_tokens FROM runs ORDER BY ALL") == sorted(
        lengths
    )

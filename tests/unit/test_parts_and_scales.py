"""Columns that other columns explain: sums of parts, energies scaled to an amount of work."""

from itertools import product
from pathlib import Path

import pytest

from app.kit.metric_choice import deviations
from data.connection import open_lake
from ingest.__main__ import REFUSED, main
from ingest.formats.table_files import parse_tables
from ingest.records import ProblemList, ReadContext
from tests.fixtures.raw_runs import write_files


def test_a_sum_without_a_unit_is_the_energy_of_the_run(tmp_path: Path) -> None:
    """Nobody measures watts a second; `SD` is a summand, and no deviation."""
    rows = []
    for job, workers in product(("sort", "join", "scan"), (1, 2, 4)):
        joules = [90.25 * len(job) / workers, 31.5 + workers, 12.125 * workers, 4.75]
        cells = [job, workers, 20.5 / workers, sum(joules), *joules]
        rows.append(",".join(map(str, cells)) + "\n")
    raw, lake = tmp_path / "study", tmp_path / "lake"
    head = "job,workers,exec time,All,CPU(W/S),DRAM(W/S),SD(W/S),FAN(W/S)\n"
    write_files(raw, {"steps.csv": head + "".join(rows)})
    assert main(["add", str(raw), "--lake", str(lake)]) == 0
    with open_lake(lake) as opened:
        first = opened.polars("SELECT energy_j, cpu, sd_part, duration_s FROM runs").rows()
        of_sd = opened.catalogue.metric("sd_part")
        problems = opened.polars("SELECT detail FROM problems").get_column("detail").to_list()
    assert len(first) == 9
    assert (361.0 + 32.5 + 12.125 + 4.75, 361.0, 12.125, 20.5) in first
    assert (of_sd.unit, of_sd.better, deviations(["sd_part"])) == ("J", "less", [])
    assert any("watts over a time" in detail for detail in problems)


def test_a_sum_with_a_quantity_of_its_own_stays(tmp_path: Path) -> None:
    """A latency is the sum of its parts; numbers that add up in some rows are no sum."""
    rows = [(n, 5 + n, 2 * n, 5 + 3 * n, 5 + 3 * n + n % 2) for n in range(1, 9)]
    text = "".join(f"{','.join(map(str, row))},{30.5 + row[0]}\n" for row in rows)
    raw, lake = tmp_path / "study", tmp_path / "lake"
    write_files(raw, {"calls.csv": f"batch,queue_ms,serve_ms,latency,odd,energy_j\n{text}"})
    assert main(["add", str(raw), "--lake", str(lake)]) == 0
    with open_lake(lake) as opened:
        found = opened.polars("SELECT latency_mean_us, odd, energy_j FROM runs").rows()
        unit = opened.catalogue.metric("odd").unit
    assert len(found) == 8
    assert ((8000.0, 9, 31.5) in found, unit) == (True, "")


def test_what_is_scaled_to_work_is_neither_energy_nor_time_of_the_run(tmp_path: Path) -> None:
    """Power and the run's own time stand beside: their product is its energy."""
    rows = []
    for name, watts, seconds, items in (("tern", 40.5, 8.0, 640), ("crow", 61.0, 2.5, 115)):
        hours = 1e6 / (items / seconds) / 3600
        rows.append(f"{name}-1b,{items},{seconds},{watts},{hours!r},{watts * hours / 1e3!r}\n")
    raw, lake = tmp_path / "study", tmp_path / "lake"
    head = "model,completion_tokens,gen_duration_s,avg_power_w"
    head += ",time_for_1m_tokens_h,energy_kwh_1m_tokens"
    write_files(raw, {"decode.csv": f"{head}\n{''.join(rows)}"})
    assert main(["add", str(raw), "--lake", str(lake)]) == 0
    with open_lake(lake) as opened:
        found = opened.polars("SELECT energy_j, duration_s FROM runs ORDER BY ALL").rows()
        energy = opened.catalogue.metric("energy_kwh_1m_tokens")
    assert found == [(152.5, 2.5), (324.0, 8.0)]
    assert (energy.unit, energy.better) == ("kWh/1M tokens", "less")


def test_numbered_letters_with_holes_are_repetitions(tmp_path: Path) -> None:
    """`e` and `t` make a steady power: an energy and a time, of which the units are doubted."""
    programs = ("tree.rs", "tree.py", "heap.rs", "heap.py")
    lines = ["program," + ",".join(f"e{n},t{n}" for n in (1, 3, 2, 4))]
    for at, program in enumerate(programs):
        times = [0.125 * 3**at * (1 + n / 16) for n in range(4)]
        cells = [f"{(15 + at) * t},{t}" if n != at else "," for n, t in enumerate(times)]
        lines.append(",".join([program, *cells]))
    raw, lake = tmp_path / "study", tmp_path / "lake"
    write_files(raw, {"wide.csv": "\n".join([*lines, ""])})
    assert main(["add", str(raw), "--lake", str(lake)]) == 0
    with open_lake(lake) as opened:
        query = "SELECT program, count(*), min(energy_j / duration_s) FROM runs GROUP BY 1"
        found = sorted(opened.polars(query).rows())
        problems = opened.polars("SELECT detail FROM problems").get_column("detail").to_list()
    assert found == [("heap.py", 3, 18.0), ("heap.rs", 3, 17.0), ("tree.py", 3, 16.0),
                     ("tree.rs", 3, 15.0)]  # fmt: skip
    assert any("e states no unit, and not whether it is energy" in each for each in problems)


def test_letters_that_make_no_steady_power_stay_letters(tmp_path: Path) -> None:
    rows = [f"{n % 3},{3.5 + 70.25 * (n % 5)},{0.5 + n}\n" for n in range(12)]
    raw, lake = tmp_path / "study", tmp_path / "lake"
    write_files(raw, {"signs.csv": "level,E,T\n" + "".join(rows)})
    main(["add", str(raw), "--lake", str(lake)])
    with open_lake(lake) as opened:
        assert opened.polars("SELECT count(energy_j), count(duration_s) FROM runs").row(0) == (0, 0)


def test_samples_of_powers_without_times_are_no_runs(tmp_path: Path) -> None:
    """Bars before tabs, and a comma of the header alone: the bars make all rows equal.

    Domains whose names recur belong to the package before them; without times no energy follows.
    """
    head = "Package{0}(W)|\tCores(W)|\tRing(W|,\tDRAM(W)|\t"
    lines = [f"{head.format(0)}{head.format(1)}"]
    for n in range(9):
        cells = [31.25 - n, 24.5 - n, 0.125, 2.0, 17.5 + n / 8, 7.25, 0.25, 1.5]
        lines.append("".join(f"{cell:.6f}|\t" for cell in cells))
    text = "\n".join([*lines, ""])
    raw, lake = tmp_path / "study", tmp_path / "lake"
    names = [f"wide_512_{cores}_power_16229147{cores:02}.csv" for cores in (2, 4, 8)]
    write_files(raw, {name: text.replace("31.25", f"{30 + n}.5") for n, name in enumerate(names)})
    assert main(["add", str(raw), "--lake", str(lake)]) == REFUSED
    table = parse_tables([text.encode()], ReadContext(names[0], 1e9), ProblemList())[0]
    assert table.headings == [
        *("Package0(W)", "Package0 Cores(W)", "Package0 Ring(W)", "Package0 DRAM(W)"),
        *("Package1(W)", "Package1 Cores(W)", "Package1 Ring(W)", "Package1 DRAM(W)"),
    ]
    with open_lake(lake) as opened:
        problems = opened.polars("SELECT detail FROM problems").get_column("detail").to_list()
        assert opened.polars("SELECT count(*) FROM runs").item() == 0
    assert all("a sample of powers, and no column says when" in each for each in problems)
    assert len(problems) == 3


@pytest.mark.parametrize(("step", "runs"), [(0.0, 0), (0.25, 40)])
def test_a_time_that_rises_by_equal_steps_is_the_clock_of_a_series(
    step: float, runs: int, tmp_path: Path
) -> None:
    """A load generator writes a row a second: no run each. Durations differ at random."""
    rows = [
        f"{0.5 + n + step * (n * 7 % 5):.2f},{n * 7 // 4},{n * 5 % 17},{0.011 * (n % 9 + 2):.3f}"
        for n in range(40)
    ]
    text = "Aimed Time,Offered Intensity,Lost Calls,Mean Answer Time\n" + "\n".join(rows)
    raw, lake = tmp_path / "study", tmp_path / "lake"
    write_files(raw, {"series.csv": f"{text}\n"})
    assert main(["add", str(raw), "--lake", str(lake)]) == (0 if runs else REFUSED)
    with open_lake(lake) as opened:
        assert opened.polars("SELECT count(*) FROM runs").item() == runs
        details = opened.polars("SELECT detail FROM problems").get_column("detail").to_list()
    assert any("a row is a sample" in each for each in details) == (not runs)

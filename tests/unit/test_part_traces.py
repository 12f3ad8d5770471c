"""Traces of a CPU and of a GPU: one run with both energies, where times or headings say so."""

from pathlib import Path

import pytest

from ingest.formats.trace_headings import part_in
from tests.fixtures.ingest import details, ingest, put, query

CPU, GPU = "time_s,package_power_w", "time_s,gpu_power_w"


def samples(head: str, watts: float, start: float = 0.0, n: int = 20) -> str:
    """One sample a second."""
    return "\n".join([head, *(f"{start + second},{watts}" for second in range(n))]) + "\n"


@pytest.mark.parametrize(
    "names",
    [("{}_cpu.csv", "{}_gpu.csv"), ("{}/cpu.csv", "{}/gpu.csv"), ("cpu/{}.csv", "gpu/{}.csv"),
     ("{}/rapl.csv", "{}/nvidia.csv")],
)  # fmt: skip
def test_both_energies_are_of_one_run(names: tuple[str, str], lake: Path, tmp_path: Path) -> None:
    for program, factor in (("fft", 1), ("lu", 2)):
        for name, head, watts in zip(names, (CPU, GPU), (30.5, 150.0), strict=True):
            put(tmp_path / "raw" / name.format(program), samples(head, factor * watts))
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(lake, "SELECT cpu_energy_j, gpu_energy_j, energy_j, duration_s FROM runs")
    assert sorted((*row.values(),) for row in found) == [
        (610.0, 3000.0, None, 20.0), (1220.0, 6000.0, None, 20.0),
    ]  # fmt: skip
    assert len(details(report, "parts_only")) == 2


def test_the_energy_of_the_whole_machine_is_that_of_the_run(lake: Path, tmp_path: Path) -> None:
    for program in ("fft", "lu"):
        put(tmp_path / f"{program}_node.csv", samples("time_s,node_power_w", 250.0))
        put(tmp_path / f"{program}_gpu.csv", samples(GPU, 150.0))
    report = ingest(lake, tmp_path, is_proposing=True)
    found = query(lake, "SELECT energy_j, gpu_energy_j, power_w FROM runs")
    assert [(*row.values(),) for row in found] == [(5000.0, 3000.0, 250.0)] * 2
    assert details(report, "parts_only") == []


DATE = 1_700_000_000.5
BARE = "timestamp,power_w"


@pytest.mark.parametrize(
    ("cpu", "gpu", "runs"),
    [
        # Dates overlap, or do not: the program ran on the one, then on the other.
        (samples(BARE, 30.5, DATE), samples(BARE, 150.0, DATE + 2), 2),
        (samples(BARE, 30.5, DATE), samples(BARE, 150.0, DATE + 60), 4),
        # No dates: nothing but the names says it, or one is twice as long.
        (samples("time_s,power_w", 30.5), samples("time_s,power_w", 150.0), 4),
        (samples(CPU, 30.5), samples(GPU, 150.0, n=40), 4),
    ],
)
def test_times_tell_two_parts_from_two_runs(
    cpu: str, gpu: str, runs: int, lake: Path, tmp_path: Path
) -> None:
    for program in ("fft", "lu"):
        put(tmp_path / f"{program}_cpu.csv", cpu)
        put(tmp_path / f"{program}_gpu.csv", gpu)
    assert ingest(lake, tmp_path, is_proposing=True).added == runs


def test_rows_have_the_energies_of_all_traces_of_their_folder(lake: Path, tmp_path: Path) -> None:
    rows = ["__run_id,__done,program,duration_s"]
    for program, factor in (("fft", 1), ("lu", 2)):
        for n in (0, 1):
            run = f"run_{factor}_repetition_{n}"
            rows.append(f"{run},DONE,{program},20.5")
            put(tmp_path / run / "cpu.csv", samples(CPU, factor * 30.5 + n))
            put(tmp_path / run / "gpu.csv", samples(GPU, factor * 150.0 + n))
    put(tmp_path / "run_table.csv", "\n".join(rows) + "\n")
    report = ingest(lake, tmp_path, is_proposing=True)
    columns = "program, replicate, cpu_energy_j, gpu_energy_j, energy_j, duration_s"
    found = query(lake, f"SELECT {columns} FROM runs")
    assert sorted((*row.values(),) for row in found) == [
        ("fft", 0, 610.0, 3000.0, None, 20.5), ("fft", 1, 630.0, 3020.0, None, 20.5),
        ("lu", 0, 1220.0, 6000.0, None, 20.5), ("lu", 1, 1240.0, 6020.0, None, 20.5),
    ]  # fmt: skip
    assert len(details(report, "parts_only")) == 1
    assert query(lake, "SELECT DISTINCT flags FROM runs") == [{"flags": ["trace_joined"]}]


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("a/nvidia-smi.csv", "gpu"), ("run1/rapl_energy.csv", "cpu"), ("gpu/fft.csv", "gpu"),
        ("gpu/cpu.csv", "cpu"), ("fft.csv", ""), ("cpu_gpu.csv", ""), ("wall.csv", "total"),
    ],
)  # fmt: skip
def test_a_path_says_a_part(path: str, part: str) -> None:
    assert part_in(path) == part

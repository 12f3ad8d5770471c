"""Texts that programs print of a run, as people who study them keep these: sections, tongues."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from data.connection import open_lake
from ingest.formats.logged_blocks import under_sections
from ingest.formats.value_lines import block_of
from ingest.proposals.path_parts import read_paths
from ingest.settings.heading_words import words_of
from ingest.settings.headings import is_setting, quantity_of, read_heading
from tests.fixtures.ingest import ingest, put, query, runs


def test_values_of_sections_are_not_those_of_the_last(lake: Path, tmp_path: Path) -> None:
    """likwid-powermeter writes `Energy consumed` of each domain; that of DRAM was the run's."""
    domains = (("PKG", 80.5), ("PP0", 40.5), ("DRAM", 9.5))
    text = "Runtime: 8.0 s\nMeasure for socket 0 on CPU 0\n" + "".join(
        f"Domain {name}:\nEnergy consumed: {joules} Joules\nPower consumed: {joules / 8} Watt\n"
        for name, joules in domains
    )
    put(tmp_path / "raw" / "likwid_1.log", text)
    put(tmp_path / "raw" / "likwid_2.log", text.replace("80.5", "90.5"))
    ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(
        lake, "SELECT energy_j, domain_dram_energy_consumed AS dram, duration_s FROM runs"
    )
    assert sorted(tuple(each.values()) for each in found) == [(80.5, 9.5, 8.0), (90.5, 9.5, 8.0)]


def test_names_in_one_section_alone_stay_as_they_are() -> None:
    lines = ["Costs:", "time: 1 s", "energy: 5 J", "Other:", "time: 2 s"]
    names = ["", "time", "energy", "", "time"]
    assert under_sections(lines, names) == ["", "Costs time", "energy", "", "Other time"]


BLOCK = """ Grid solver, 3 x 3
{steps}
 Solver Done.
 Kind            =                  A
 Time in seconds =             {time}
 Total ranks     =                {n}
 Mop/s total     =             {rate}
 Check           =       {check}

 Built with:
    CC           = cc -O3
"""


def test_a_block_of_values_in_a_long_text_is_its_record(lake: Path, tmp_path: Path) -> None:
    """Most of the last lines are of something else; the folders are the times of the runs."""
    steps = "\n".join(f" FAILURE: {n} 0.5{n}E+07 0.25" for n in range(40))
    for n, check in ((1, "SUCCESSFUL"), (2, "UNSUCCESSFUL"), (4, "SUCCESSFUL"), (8, "SUCCESSFUL")):
        text = BLOCK.format(steps=steps, time=80.5 / n, n=n, rate=900.5 * n, check=check)
        put(tmp_path / "raw" / f"2021_03_0{n}_11_4{n}_10_50{n}0351{n}" / "run.dat", text)
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(lake, "SELECT total_ranks, duration_s, mop_s_total FROM runs ORDER BY ALL")
    assert [(*each.values(),) for each in found] == [(n, 80.5 / n, 900.5 * n) for n in (1, 2, 4, 8)]
    with open_lake(lake) as opened:
        names = [each.name for each in opened.catalogue.columns if each.role == "knob"]
    assert names == ["total_ranks"]
    assert [each.problem.kind for each in report.problems] == ["unverified"]


def test_blocks_of_several_runs_are_no_record_of_one() -> None:
    steps = "working\n" * 40
    one = BLOCK.format(steps=steps, time=9.5, n=2, rate=8.5, check="ok")
    assert block_of(one.splitlines())
    assert not block_of((one + one).splitlines())


@pytest.mark.parametrize(
    ("energies", "whole"),
    [
        ({"CPU energy": 30.5, "GPU energy": 90.5}, None),
        ({"CPU energy": 30.5, "GPU energy": 90.5, "Total energy": 130.5}, 130.5),
        # A package has its GPU in it.
        ({"Package energy": 30.5, "GPU energy": 9.5}, 30.5),
        ({"CPU energy": 30.5, "DRAM energy": 9.5}, 30.5),
        # Two sockets, and two cards.
        ({"Package 0 energy": 30.5, "Package 1 energy": 20.25, "DRAM 0 energy": 9.5}, 50.75),
        ({"GPU0 energy": 30.5, "GPU1 energy": 20.25}, 50.75),
        ({"Package 0 energy": 30.5, "Package energy": 51.0, "Package 1 energy": 20.25}, 51.0),
    ],
)
def test_of_a_processor_and_a_card_none_is_the_whole(
    energies: dict[str, float], whole: float | None, lake: Path, tmp_path: Path
) -> None:
    text = "Inference time: 9.5 s\nTokens/s: 40.5\n"
    text += "".join(f"{name}: {joules} J\n" for name, joules in energies.items())
    for model in ("opt", "gpt2"):
        put(tmp_path / "raw" / f"{model}.log", text)
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    assert [run.get("energy_j") for run in runs(lake)] == [whole, whole]
    assert all(run["gpu_energy"] == energies["GPU energy"] for run in runs(lake)
               if "GPU energy" in energies)  # fmt: skip
    kinds = {each.problem.kind for each in report.problems}
    assert ("parts_only" in kinds) is (whole is None)


def test_texts_in_other_tongues_are_runs(lake: Path, tmp_path: Path) -> None:
    german = "Kerne: {}\nGröße: 900\nLaufzeit: {}.5 Sekunden\nEnergieverbrauch: {}.25 J\n"
    spanish = "hilos: {}\ntiempo: {}.5 segundos\nenergía: {}.25 J\n\n"
    for cores in (2, 4):
        put(tmp_path / "raw" / "de" / f"kerne_{cores}.txt", german.format(cores, 9, 40 * cores))
    text = "".join(spanish.format(n, 12 // n, 40 * n) for n in (1, 2, 4))
    put(tmp_path / "raw" / "es" / "resultados.txt", text)
    ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(lake, "SELECT hilos, duration_s, energy_j FROM runs ORDER BY ALL")
    assert [tuple(each.values()) for each in found] == [
        (1, 12.5, 40.25), (2, 6.5, 80.25), (4, 3.5, 160.25),
        (None, 9.5, 80.25), (None, 9.5, 160.25),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("heading", "words", "quantity"),
    [
        ("Größe", ("size",), ""),
        ("Énergie (J)", ("energy",), "energy"),
        ("Tiempo total de ejecución", ("time", "total", "de", "execution"), "time"),
        ("Temp °C", ("temp",), "temperature"),
        ("power_µW", ("power",), "power"),
        ("Zeit [ms]", ("time",), "time"),
        ("tempo_medio", ("time", "mean"), "time"),
        ("Desviación energía (J)", ("std", "energy"), "energy"),
        ("nome", ("name",), ""),
    ],
)
def test_words_are_read_in_english(heading: str, words: Sequence[str], quantity: str) -> None:
    assert read_heading(heading).words == words
    assert quantity_of(read_heading(heading)) == quantity


def test_a_setting_in_another_tongue_is_one() -> None:
    assert is_setting("Größe")
    assert words_of("Nombre") == ("nombre",)


def test_the_time_of_the_kernel_is_no_time_of_a_run(lake: Path, tmp_path: Path) -> None:
    """`/usr/bin/time -v` states the format of a time in brackets, colons and all."""
    text = "".join(
        f"== {flag} run {n} ==\n\tCommand being timed: \"./a_{flag}\"\n"
        f"\tUser time (seconds): {user}.{n}\n\tSystem time (seconds): 0.04\n"
        f"\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:{user}.5{n}\n\tExit status: 0\n"
        for flag, user in (("O0", 20), ("O2", 11)) for n in (1, 2)
    )  # fmt: skip
    put(tmp_path / "raw" / "times.log", text)
    ingest(lake, tmp_path / "raw", is_proposing=True)
    assert sorted(run["duration_s"] for run in runs(lake)) == [11.51, 11.52, 20.51, 20.52]


@pytest.mark.parametrize(
    ("names", "columns"),
    [
        ("run_{}MHz_{}t.txt", {"frequency", "threads"}),
        ("{}rps_{}threads.txt", {"rps", "threads"}),
        ("{}qps_rep{}.txt", {"qps", "replicate"}),
    ],
)
def test_units_behind_numbers_of_names_say_what_they_are(names: str, columns: set[str]) -> None:
    paths = [names.format(one, other) for one in (1200, 2400) for other in (1, 2)]
    assert {column.name for column in read_paths(paths)[1]} == columns


def test_a_load_in_names_of_load_generators_is_that_of_the_lake(lake: Path, tmp_path: Path) -> None:
    text = "Running 9s test @ http://elk/\n  2 threads and 8 connections\n"
    text += (
        "    Latency     1.00ms    1.00ms   9.00ms   90.00%\n  900 requests in 9.00s, 1MB read\n"
    )
    for load in (100, 200):
        for threads in (2, 4):
            put(tmp_path / "raw" / f"{load}rps_{threads}t.txt", text)
    ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(lake, "SELECT load_qps, threads FROM runs ORDER BY ALL")
    assert [tuple(each.values()) for each in found] == [(100, 2), (100, 4), (200, 2), (200, 4)]


SYSBENCH = """sysbench 1.0.20
CPU speed:
    events per second:   {rate}.25
General statistics:
    total time:                          9.0004s
    total number of events:              {events}
Latency (ms):
         avg:                                    1.95
"""
POWERS = "time,power_w\n0,9.5\n1,9.7\n2,9.1\n3,9.4\n4,9.6\n5,9.2\n"
CLOCKED = "clock: {}\nThroughput: {}.5 req/s\nTotal energy: {}.4 J\n"


@pytest.mark.parametrize(
    ("name", "text", "column"),
    [
        ("run_{}.txt", CLOCKED, "clock"),
        ("run_{}.txt", f"Clock = {{}} MHz\n\n{SYSBENCH}", "clock"),
        ("run_{}.csv", f"# clock: {{}}\n{POWERS}", "clock"),
        # Numbers that only count say what they are.
        ("run_{}.txt", CLOCKED.replace("clock", "run"), "replicate"),
        ("{}.csv", f"# {{}} clocks\n{POWERS}", "file"),
    ],
)
def test_a_number_of_names_is_called_as_the_files_call_it(
    name: str, text: str, column: str, lake: Path, tmp_path: Path
) -> None:
    for at, clock in enumerate((800, 1100, 1400)):
        own = text.format(clock, 90 + at, 70 + at, rate=300 + at, events=2700 + at)
        put(tmp_path / "raw" / name.format(clock), own)
    ingest(lake, tmp_path / "raw", is_proposing=True)
    assert sorted(int(run[column]) for run in runs(lake)) == [800, 1100, 1400]
    assert column == "replicate" or all(run["replicate"] is None for run in runs(lake))


@pytest.mark.parametrize("names", ["sysbench_{}.txt ina219_{}.csv", "cpu-{}.txt power-{}.csv"])
def test_a_text_and_a_trace_with_one_number_are_one_run(
    names: str, lake: Path, tmp_path: Path
) -> None:
    for number in (700, 900, 1300):
        text, trace = names.format(number, number).split()
        put(tmp_path / "raw" / text, SYSBENCH.format(rate=number, events=9 * number))
        rows = "".join(f"{at},5.0{at},{number + at}\n" for at in range(9))
        put(tmp_path / "raw" / trace, f"time_s,bus_voltage_v,power_mw\n{rows}")
    ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(lake, "SELECT file_number, throughput_qps, energy_j > 0 FROM runs ORDER BY ALL")
    assert [tuple(each.values()) for each in found] == [
        (700, 700.25, True), (900, 900.25, True), (1300, 1300.25, True)
    ]  # fmt: skip


def test_energies_of_the_machines_of_a_run_add_up(lake: Path, tmp_path: Path) -> None:
    """A line without a value names each; one that names no machine tells nothing."""
    text = "".join(
        f"==== Begin of run, {cache} ====\nStarted: 2031-05-0{day}\n"
        f"Local Machine (elk)\nMean Power : {day}.5 Watts\nTotal Energy : {day}1.25 Joules\n"
        f"Remote Machine (me@{'owl' * 10})\nMean Power : 2.{day} W\nTotal Energy : 7.5 J\n\n"
        for day, cache in enumerate(("no cache", "LRU", "LFU"), 1)
    )  # fmt: skip
    put(tmp_path / "raw" / "energies.csv", text)
    ingest(lake, tmp_path / "raw", is_proposing=True)
    assert [run["energy_j"] for run in runs(lake, "energy_j", "energy_j")] == [18.75, 28.75, 38.75]
    assert len([n for n in runs(lake)[0] if n.startswith(("local", "remote"))]) == 4

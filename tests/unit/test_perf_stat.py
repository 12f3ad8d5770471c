"""`perf stat -x,`: every variant, as perf 6.1 writes them, and the published ones."""

import shutil
import subprocess
import time
from pathlib import Path

import pytest

from data.errors import FormatError
from ingest.formats import find_format, perf_stat
from ingest.records import ReadContext, Reading
from tests.fixtures.real import real_data

STARTED = "# started on Sun Apr 28 19:51:03 2024\n\n"
PLAIN = (
    STARTED
    + """\
4000,,instructions,1443020409973,100.00,0.48,insn per cycle
8000,,cycles,1443020433773,100.00,0.360,GHz
7000,,ref-cycles,1443020423980,100.00,338.325,M/sec
2263.95,Joules,power/energy-pkg/,90188818804,100.00,1.569,/sec
64.00,msec,cpu-clock,64000000,100.00,31.999,CPUs utilized
12,,context-switches,407367772,100.00,115.375,/sec
"""
)


def read(text: str) -> Reading:
    return perf_stat.read([text.encode()], ReadContext("perf.csv", 0.0))


def kinds(reading: Reading) -> list[tuple[str, str, int | None]]:
    return [(problem.kind, problem.severity, problem.line) for problem in reading.problems]


def test_the_plain_form() -> None:
    reading = read(PLAIN)
    assert reading.measurements == {
        "instructions": 4000,
        "cycles": 8000,
        "ref_cycles": 7000,
        "energy_j": 2263.95,
        "context_switches": 12,
    }
    assert reading.interval_s == pytest.approx(64e-3 / 31.999)
    assert reading.problems == []


@pytest.mark.parametrize("head", [STARTED, PLAIN, PLAIN.removeprefix(STARTED)])
def test_it_is_told_by_its_first_line(head: str) -> None:
    found = find_format("x", head.encode())
    assert found is not None
    assert found.name == "perf_stat"


@pytest.mark.parametrize("head", ["a,b,c\n1,2,3\n", "sys i itr\nlinux 0 1\n", "1,2,3,4,5\n", ""])
def test_other_tables_are_not_taken_for_it(head: str) -> None:
    assert not perf_stat.sniff("x", head.encode())


def test_uncounted_is_not_zero() -> None:
    reading = read(
        "<not counted>,,instructions,0,0.00,,\n"
        "<not supported>,,cycles,0,100.00,,\n"
        "5,,cs,9,100.00,,\n"
    )
    assert reading.measurements == {"context_switches": 5}
    assert reading.problems == []


def test_intervals_are_added() -> None:
    """`-I 100`: a time stands first, and the last time is how long perf counted."""
    reading = read(
        "     0.100292803,70,,context-switches,765038,100.00,1.307,K/sec\n"
        "     0.100292803,1.5,Joules,power/energy-pkg/,765038,100.00,,\n"
        "     0.201349713,30,,context-switches,765038,100.00,1.307,K/sec\n"
        "     0.201349713,2.5,Joules,power/energy-pkg/,765038,100.00,,\n"
    )
    assert reading.measurements == {"context_switches": 100, "energy_j": 4.0}
    assert reading.interval_s == 0.201349713


def test_an_event_that_some_intervals_lack_has_no_sum() -> None:
    reading = read(
        "     0.100292803,70,,context-switches,765038,100.00,1.307,K/sec\n"
        "     0.201349713,<not counted>,,context-switches,0,100.00,,\n"
    )
    assert reading.measurements == {}
    assert kinds(reading) == [("partly_counted", "doubted", 1)]


@pytest.mark.parametrize(
    "places",
    [("S0,2,", "S1,2,"), ("CPU0,", "CPU1,"), ("S0-D0-C0,1,", "S0-D0-C1,1,"), ("N0,2,", "N1,2,")],
    ids=["per socket", "per cpu", "per core", "per node"],
)
def test_places_are_added(places: tuple[str, str]) -> None:
    text = "".join(
        f"{place}{value},Joules,power/energy-pkg/,203748699,100.00,,\n"
        for place, value in zip(places, ("10.25", "20.5"), strict=True)
    )
    assert read(text).measurements == {"energy_j": 30.75}
    assert perf_stat.sniff("x", text.encode())


def test_places_in_intervals_are_added() -> None:
    text = (
        "     0.100282467;S0-D0-C0;1;100;;instructions;100579826;100.00;;\n"
        "     0.100282467;S0-D0-C1;1;200;;instructions;100660663;100.00;;\n"
        "     0.200282467;S0-D0-C0;1;300;;instructions;100579826;100.00;;\n"
        "     0.200282467;S0-D0-C1;1;400;;instructions;100660663;100.00;;\n"
    )
    reading = read(text)
    assert (reading.measurements, reading.interval_s) == ({"instructions": 1000}, 0.200282467)


def test_a_repeated_measurement_has_its_deviation_after_the_event() -> None:
    reading = read(
        "0.88,msec,task-clock,4.21%,879611,100.00,0.009,CPUs utilized\n"
        "17,,context-switches,33.33%,879611,100.00,1.058,K/sec\n"
        "<not supported>,,instructions,0.00%,0,100.00,,\n"
    )
    assert reading.measurements == {"context_switches": 17}
    assert reading.interval_s is None


def test_perfs_own_clock_says_how_long_it_counted() -> None:
    assert read("102049881,ns,duration_time,102049881,100.00,,\n").interval_s == 0.102049881


def test_user_and_kernel_parts_are_the_whole() -> None:
    reading = read("30,,instructions:u,9,100.00,,\n70,,instructions:k,9,100.00,,\n")
    assert reading.measurements == {"instructions": 100}


def test_a_part_alone_is_not_the_whole() -> None:
    reading = read("30,,instructions:u,9,100.00,,\n")
    assert reading.measurements == {}
    assert kinds(reading) == [("partial_event", "doubted", 1)]


@pytest.mark.parametrize(
    "name",
    ["instructions:ppp", "instructions:P", "instructions:uk", "instructions:D",
     "cpu_core/instructions/", "cpu_core/instructions/uk", "INST_RETIRED.ANY:P"],
)  # fmt: skip
def test_how_an_event_is_counted_does_not_make_it_a_part(name: str) -> None:
    reading = read(f"30,,{name},9,100.00,,\n")
    assert (reading.measurements, reading.problems) == ({"instructions": 30}, [])


@pytest.mark.parametrize("name", ["instructions:u", "cpu_core/instructions/u", "instructions:Gu"])
def test_where_an_event_is_counted_makes_it_a_part(name: str) -> None:
    reading = read(f"30,,{name},9,100.00,,\n")
    assert (reading.measurements, kinds(reading)) == ({}, [("partial_event", "doubted", 1)])


def test_both_kinds_of_cores_are_added_and_their_parts_put_together() -> None:
    lines = [f"{n},,cpu_{core}/cycles/{at},9,100.00,,\n"
             for n, core, at in ((1, "core", "u"), (2, "core", "k"), (4, "atom", "u"),
                                 (8, "atom", "k"))]  # fmt: skip
    assert read("".join(lines)).measurements == {"cycles": 15}


def test_tracepoints_are_no_parts_of_anything() -> None:
    reading = read("30,,block:block_rq_issue,9,100.00,,\n5,,cs,9,100.00,,\n")
    assert (reading.measurements, reading.problems) == ({"context_switches": 5}, [])


def test_events_are_known_by_several_names() -> None:
    reading = read(
        "10,,cpu/mem_inst_retired.all_loads/,9,100.00,,\n"
        "20,,MEM_INST_RETIRED.ALL_STORES,9,100.00,,\n"
        "30,,cache-misses,9,100.00,1.2,of all cache refs\n"
        "40,,cpu_clk_unhalted.thread,9,100.00,,\n"
    )
    assert reading.measurements == {"loads": 10, "stores": 20, "llc_misses": 30, "cycles": 40}


def test_commas_inside_of_an_event_do_not_part_it() -> None:
    reading = read("7,,cpu/event=0x3c,umask=0x0/,9,100.00,,\n8,,cycles,9,100.00,,\n")
    assert (reading.measurements, reading.problems) == ({"cycles": 8}, [])


def test_metrics_on_lines_of_their_own_are_passed_over() -> None:
    reading = read("7,,cycles,9,100.00,,\n,,,,,0.25,stalled cycles per insn\n")
    assert (reading.measurements, reading.problems) == ({"cycles": 7}, [])


def test_decimal_commas_are_read_where_another_separator_is() -> None:
    reading = read("2263,95;Joules;power/energy-pkg/;90188818804;100,00;1,569;/sec\n")
    assert reading.measurements == {"energy_j": 2263.95}


def test_a_shared_counter_is_flagged() -> None:
    reading = read("7,,cycles,9,33.20,,\n")
    assert (reading.measurements, reading.flags) == ({"cycles": 7}, ["multiplexed"])
    assert kinds(reading) == [("multiplexed", "doubted", 1)]


def test_energy_in_another_unit_is_left_unset() -> None:
    reading = read("7,Watts,power/energy-pkg/,9,100.00,,\n")
    assert reading.measurements == {}
    assert kinds(reading) == [("odd_unit", "doubted", 1)]


def test_a_number_beyond_all_numbers_is_none() -> None:
    reading = read(f"{'9' * 400},,cs,9,100.00,,\n30,,cycles,9,100.00,,\n")
    assert (reading.measurements, kinds(reading)) == ({"cycles": 30}, [("bad_line", "refused", 1)])


def test_a_line_that_counts_nothing_is_named() -> None:
    reading = read("7,,cycles,9,100.00,,\nfio: done\n")
    assert kinds(reading) == [("bad_line", "refused", 2)]


@pytest.mark.parametrize("text", ["", STARTED, "hello\n"])
def test_nothing_counted_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match=r"perf\.csv"):
        read(text)


@pytest.mark.real
def test_the_published_files_give_their_numbers() -> None:
    path = real_data() / "perfstat" / "PerfStat.linux_mcd_qps200000_iter0"
    reading = perf_stat.read([path.read_bytes()], ReadContext(path.name, 0.0))
    assert reading.measurements == {
        "instructions": 248396588503,
        "cycles": 519075535047,
        "ref_cycles": 488209380960,
        "energy_j": 2263.95,
    }
    assert reading.interval_s == pytest.approx(45.096, abs=0.001)


def test_of_measurements_appended_to_one_file_the_last_counts() -> None:
    reading = read(STARTED + "400,,instructions,9,100.00,,\n\n" + STARTED + "500,,cs,9,100.00,,\n")
    assert reading.measurements == {"context_switches": 500}
    (problem,) = reading.problems
    assert (problem.kind, problem.severity) == ("several_measurements", "refused")
    assert (problem.line, "1 lines" in problem.detail) == (STARTED.count("\n") + 1, True)


def test_threads_are_added() -> None:
    reading = read("fio-71,3,,cs,9,100.00,,\nfio worker-72,4,,cs,9,100.00,,\n")
    assert reading.measurements == {"context_switches": 7}


@pytest.mark.parametrize(
    "options",
    [(), ("-I", "100"), ("-r", "2"), ("-a",), ("-a", "-A"), ("-a", "--per-core"),
     ("-a", "--per-socket", "-I", "100")],
    ids=" ".join,
)  # fmt: skip
@pytest.mark.parametrize("separator", [",", ";"])
def test_perf_of_this_machine(tmp_path: Path, options: tuple[str, ...], separator: str) -> None:
    """It sleeps for 0.25 s, which takes a context switch at least, and its clock says so."""
    if shutil.which("perf") is None:
        pytest.skip("no perf here")
    out = tmp_path / "perf.csv"
    command = ["perf", "stat", "-x", separator, *options, "-o", str(out), "-e", "cs,duration_time"]
    began_s = time.monotonic()
    done = subprocess.run([*command, "sleep", "0.25"], capture_output=True, check=False)
    took_s = time.monotonic() - began_s
    if done.returncode or "<not supported>" in out.read_text():
        pytest.skip("perf may not count here")
    found = find_format("x", out.read_bytes())
    assert found is not None
    assert found.name == "perf_stat"
    reading = perf_stat.read([out.read_bytes()], ReadContext("perf.csv", 0.0))
    kinds = {problem.kind for problem in reading.problems}
    if "partly_counted" not in kinds:
        assert reading.measurements["context_switches"] >= 1
    assert kinds <= {"partly_counted"}
    assert reading.interval_s is not None
    assert 0.2 <= reading.interval_s <= took_s

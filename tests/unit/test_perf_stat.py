"""`perf stat -x,`: every variant, as perf 6.1 writes them, and the published ones."""

import shutil
import subprocess
import time
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("head", [STARTED, PLAIN, PLAIN.removeprefix(STARTED)])
def test_it_is_told_by_its_first_line(head: str) -> None:
    found = find_format("x", head.encode())
    assert found is not None
    assert found.name == "perf_stat"


@pytest.mark.parametrize("head", ["a,b,c\n1,2,3\n", "sys i itr\nlinux 0 1\n", "1,2,3,4,5\n", ""])
def test_other_tables_are_not_taken_for_it(head: str) -> None:
    assert not perf_stat.sniff("x", head.encode())


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


@pytest.mark.thin(4)
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
    if "-I" in options:
        # On a busy machine perf may end after its first interval: what it wrote counts.
        lines = [line for line in out.read_text().splitlines() if line[:1] not in ("", "#")]
        assert reading.interval_s == float(lines[-1].split(separator)[0])
    else:
        assert reading.interval_s >= 0.2
    assert reading.interval_s <= took_s

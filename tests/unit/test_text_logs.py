"""Text logs by declaration; what those of known tools say is in `fixtures/formats/`."""

from pathlib import Path

import pytest

from app.explore.defaults import default_state
from app.kit.lake_view import LakeView
from data.connection import open_lake
from data.errors import FormatError, SettingsError
from data.selection import Selection
from ingest.__main__ import main
from ingest.formats import FORMATS, find_format
from ingest.records import ReadContext, Reading
from ingest.settings.loading import load_settings
from tests.fixtures.format_cases import FOLDER
from tests.fixtures.ingest import details, ingest, put, runs
from tests.fixtures.tool_outputs import captured


def read_parts(content: bytes) -> tuple[str, dict[str | None, Reading]]:
    """Return the format of a log, and the reading of each of its runs."""
    form = find_format("x.txt", content[: 1 << 16])
    assert form is not None
    names = form.list_parts([content], ReadContext("x", 0.0)) if form.list_parts else []
    readings: dict[str | None, Reading] = {}
    for part in (*names, *([] if names else [None])):
        reading = form.read([content], ReadContext("x", 0.0, part=part))
        assert isinstance(reading, Reading)
        readings[part] = reading
    return form.name, readings


def test_power_is_cut_to_the_window_that_the_load_generator_states(
    lake: Path, tmp_path: Path
) -> None:
    """From 07:00.267 to 07:03.270: 0.833 s of 20 W, 1 s of 30 W and 1.17 s of 40 W."""
    for name in ("mlperf_log_summary.txt", "mlperf_log_detail.txt"):
        put(tmp_path / "a/run_1" / name, captured(name).decode())
    put(
        tmp_path / "a/run_1/spl.txt",
        "".join(
            f"Time,11-25-2026 16:07:{s:02}.100,Watts,{10 * s + 10}.0,Volts,230.0,Mark,none\n"
            for s in range(12)
        ),
    )
    ingest(lake, tmp_path)
    (row,) = runs(lake)
    energy_j = 0.833 * 20 + 30 + 40 + 0.17 * 50
    assert row["energy_j"] == pytest.approx(energy_j, rel=1e-5)
    assert row["power_w"] == pytest.approx(energy_j / 3.003, rel=1e-5)
    assert (row["workload"], row["throughput_qps"], row["scenario"]) == (
        "mlperf", 465.16, "SingleStream",
    )  # fmt: skip


SETTINGS = r"""
[workloads.sorting]
loop = "closed"
performance_metric = "duration_s"
logged = false

[[logs]]
marks = ["Summary statistics:"]
find = ['Elapsed = (?P<duration_s>[\d.]+) sec', 'Runs = (?P<runs>\d+)', '^Starting (?P<app>\w+)']
[logs.columns]
runs = { to = "requests" }
app = { role = "knob" }

[[logs]]
pattern = '.*\.steps'
workload = "sorting"
begin = '^step (?P<step>\w+)$'
find = ['took (?P<duration_s>[\d.]+) ms', 'used (?P<energy_j>[\d,.]+) mJ']
[logs.columns]
duration_s = { to = "duration_s", scale = 0.001 }
energy_j = { to = "energy_j", scale = 0.001 }
step = { role = "knob" }
"""


def test_logs_that_settings_declare(lake: Path, tmp_path: Path) -> None:
    put(tmp_path / "wattlas.toml", SETTINGS)
    put(
        tmp_path / "a.log",
        "Starting sort at 1\nSummary statistics:\n Elapsed = 6.5 sec\nRuns = 3\n",
    )
    put(
        tmp_path / "b.steps",
        "step x\ntook 1500 ms\nused 1,500 mJ\nstep y\ntook 500 ms\nused 2 mJ\n",
    )
    report = ingest(lake, tmp_path)
    rows = runs(lake, "workload, app, step, duration_s, energy_j", "duration_s")
    assert [tuple(row.values()) for row in rows] == [
        ("sorting", None, "y", 0.5, 0.002), ("sorting", None, "x", 1.5, 1.5),
        ("unknown", "sort", None, 6.5, None),
    ]  # fmt: skip
    assert report.refused == []
    assert ingest(lake, tmp_path).unchanged == 3
    put(tmp_path / "wattlas.toml", SETTINGS.replace("0.001 }\nenergy", "1 }\nenergy"))
    ingest(lake, tmp_path)
    assert [row["duration_s"] for row in runs(lake, "duration_s", "duration_s")] == [6.5, 500, 1500]


def test_a_column_of_a_log_has_the_direction_that_is_declared() -> None:
    """What 7-Zip prints last: more of its rating is better, of its use of processors neither."""
    name, parts = read_parts(captured("7z.txt"))
    better = {column.title: column.better for column in parts[None].columns}
    assert (name, better["rating"], better["cpu use"]) == ("seven_zip", "more", None)


@pytest.mark.parametrize("odd", ["1-2", "9" * 400, "x", "e+02"])
def test_odd_numbers_of_a_log_are_left_out(odd: str) -> None:
    """The energy of the second host cannot be added."""
    log = (FOLDER / "geopm" / "a_log.txt").read_text()
    measured = read_parts(log.replace("1750.5", odd).encode())[1][None].measurements
    assert measured["energy_j"] == 1800.5


def test_an_older_report_of_geopm_says_the_same() -> None:
    """Version 1.1 has each host at the margin, and the words of units."""
    log = (FOLDER / "geopm" / "a_log.txt").read_text()
    older = (
        log.replace("Hosts:\n", "").replace("  n1:", "\nHost: n1").replace("  n2:", "\nHost: n2")
    )
    older = older.replace("(s)", "(sec)").replace("(J)", "(joules)")
    name, parts = read_parts(older.encode())
    assert (name, parts[None].measurements) == (
        "geopm",
        read_parts(log.encode())[1][None].measurements,
    )


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("find = ['(?P<a>x)']", "logs[1] lacks 'pattern' or 'marks'"),
        ("marks = ['a']", "logs[1].find has no named group"),
        ("marks = ['a']\nfind = ['x']", "logs[1].find has no named group"),
        ("marks = ['a']\nfind = ['(?P<a>x']", "logs[1].find[1] is no regular expression"),
        ("marks = ['a']\nfind = ['(?P<a>x)']\ncolumns = { a = 'b' }", "has no column 'b' to fill"),
        (
            "marks = ['a']\nfind = ['(?P<a>x)']\ncolumns = { b = 'energy_j' }",
            "logs[1].columns.b: no group of find, known: a",
        ),
        ("marks = ['a']\nhistogram = { rows = 'x' }", "rows lacks a group 'value' or 'counts'"),
    ],
)
def test_declarations_that_cannot_be(tmp_path: Path, entry: str, message: str) -> None:
    path = put(tmp_path / "wattlas.toml", f"[[logs]]\n{entry}\n")
    with pytest.raises(SettingsError, match=message.replace("[", r"\[")):
        load_settings(path)


UNITS = r"""
[[logs]]
marks = ["took "]
find = ['^took (?P<duration_s>.+)$', '^rate (?P<iops>.+)$', '^moved (?P<bandwidth_bytes_s>.+)$']
"""


@pytest.mark.parametrize(
    ("line", "measured"),
    [
        ("took 22.5 ms", {"duration_s": 0.0225}),
        ("took 2.25 min", {}),
        ("took 1,500us", {"duration_s": 0.0015}),
        ("took 3 W", {}),
        ("took 3", {"duration_s": 3.0}),
        ("took 3 ms/op", {}),
        ("took \nrate 15.1 k", {"iops": 15_100.0}),
        ("took \nrate 15.1 ms", {}),
        ("took \nmoved 1.5 MiB/s", {"bandwidth_bytes_s": 1_572_864.0}),
        ("took \nmoved 1.5 MB", {}),
    ],
)
def test_a_number_may_have_its_unit_in_the_log(
    tmp_path: Path, line: str, measured: dict[str, float]
) -> None:
    """A unit of another quantity, or one of which nothing is known, gives no number."""
    settings = load_settings(put(tmp_path / "wattlas.toml", UNITS))
    form = next(known for known in FORMATS if known.name == "text_log")
    content = f"{line}\n".encode()
    context = ReadContext("x.log", 0.0, logs=settings.logs_of("x.log"))
    if not measured:
        with pytest.raises(FormatError, match="nothing"):
            form.read([content], context)
        return
    reading = form.read([content], context)
    assert isinstance(reading, Reading)
    assert reading.measurements == measured


_PERF = """
 Performance counter stats for 'a tool':

            12.50 Joules power/energy-pkg/
     3,000,000      instructions        #    2.00  insn per cycle
     1,500,000      cycles
            42      context-switches
       2.500000000 seconds time elapsed

       9.000000000 seconds user
"""


def test_what_perf_counted_of_a_tool_stands_below_what_the_tool_says() -> None:
    """The tool's own time and what it says itself stay; counts of two runs are of none."""
    both = captured("stress_ng.txt").decode()
    one = "".join(line for line in both.splitlines(True) if " vm  " not in line)
    name, readings = read_parts((one + _PERF).encode())
    (reading,) = readings.values()
    plain = read_parts(one.encode())[1].popitem()[1]
    assert name == "stress_ng"
    counted = {"energy_j": 12.5, "instructions": 3e6, "cycles": 1.5e6, "context_switches": 42}
    assert reading.measurements == plain.measurements | counted
    assert reading.columns == plain.columns
    assert all(
        counted.keys().isdisjoint(each.measurements)
        for each in read_parts((both + _PERF).encode())[1].values()
    )


def test_what_a_processor_counted_is_no_cost_on_opening(tmp_path: Path) -> None:
    """Fewer instructions beside the throughput would read as what was to be saved."""
    both = captured("stress_ng.txt").decode()
    one = "".join(line for line in both.splitlines(True) if " vm  " not in line)
    counted = _PERF.replace("            12.50 Joules power/energy-pkg/\n", "")
    for at, governor in enumerate(("powersave", "performance", "schedutil")):
        text = one.replace("748.25", f"{748 + 9 * at}.25") + counted
        put(tmp_path / f"raw/{governor}.log", text.replace("3,000", f"{3 + at},000"))
    assert main(["add", str(tmp_path / "raw"), "--lake", str(tmp_path / "lake")]) == 0
    with open_lake(tmp_path / "lake") as opened:
        view = LakeView(opened)
        assert view.ranges(Selection())["instructions"].runs == 3
        assert default_state(view).y != "instructions"


PERF = """hepscore [INFO] Final result: 93.543

 Performance counter stats for 'system wide':

 {} Joules power/energy-pkg/
 {} context-switches

   {} seconds time elapsed
"""


@pytest.mark.parametrize(
    ("energy", "switches", "time", "read"),
    [
        ("9,584.56", "1,204", "1249.738642802", (9584.56, 1204)),
        ("9\u202f584,56", "1\u202f204", "1249,738642802", (9584.56, 1204)),
        ("9\u00a0584,56", "1\u00a0204", "1249,738642802", (9584.56, 1204)),
        ("9 584,56", "1 204", "1249,738642802", (9584.56, 1204)),
        ("9.584,56", "1204", "1249,738642802", (9584.56, 1204)),
        # One comma that is no mark of thousands decides for all.
        ("584,561", "1204", "1249,739", (584.561, 1204)),
        ("584,561", "1,204,512", "1249.739", (584_561, 1_204_512)),
        # The number of a row and its own are two.
        ("9 584.56", "1,204", "1249.738642802", (None, 1204)),
    ],
)
def test_what_perf_prints_in_any_language(
    energy: str, switches: str, time: str, read: tuple[float | None, int]
) -> None:
    _, readings = read_parts(PERF.format(energy, switches, time).encode())
    measured = readings[None].measurements
    assert (measured.get("energy_j"), measured["context_switches"]) == read
    assert measured["duration_s"] == pytest.approx(1249.7388, rel=1e-6)
    assert readings[None].problems == []


def test_a_comma_that_no_number_explains_is_doubted() -> None:
    _, readings = read_parts(PERF.format("584,561", "1204", "702").encode())
    assert readings[None].measurements["energy_j"] == 584_561
    (problem,) = readings[None].problems
    assert (problem.kind, "584,561" in problem.detail) == ("unclear_comma", True)


def test_blocks_of_one_name_are_as_many_runs() -> None:
    """The second `Sum-3` and the numbers that tell blocks of one name apart do not meet."""
    names = ("Sum-3", "Sum", "Sum", "Sum-3")
    lines = "".join(f"Benchmark{n}  10  {i + 1}.5 ns/op\n" for i, n in enumerate(names))
    _, readings = read_parts(f"goos: linux\ngoarch: amd64\n{lines}".encode())
    found = [
        (r.knobs["benchmark"], r.knobs.get("threads"), r.measurements["duration_s"])
        for r in readings.values()
    ]
    assert found == [
        ("Sum", 3, 1.5e-9), ("Sum", None, 2.5e-9), ("Sum", None, 3.5e-9), ("Sum", 3, 4.5e-9),
    ]  # fmt: skip


def test_settings_that_names_repeat_are_read_once_and_the_tool_says_what_is_judged(
    lake: Path, tmp_path: Path
) -> None:
    text = captured("pgbench.txt").decode()
    for clients in (4, 16):
        for run in (1, 2):
            put(
                tmp_path / f"pgbench/clients_{clients}_run{run}.log",
                text.replace("clients: 4", f"clients: {clients}"),
            )
    assert main(["add", str(tmp_path / "pgbench"), "--lake", str(lake)]) == 0
    rows = runs(lake)
    assert {(row["clients"], row["replicate"]) for row in rows} == {
        (clients, run) for clients in (4, 16) for run in (1, 2)
    }
    assert {name for name in rows[0] if name.startswith("clients")} == {"clients"}
    assert {row["performance_metric"] for row in rows} == {"latency_mean_us"}


def test_words_of_names_that_tell_runs_apart_are_a_setting(lake: Path, tmp_path: Path) -> None:
    text = captured("sysbench_cpu.txt").decode()
    for size in ("1K", "16K"):
        for access in ("read", "write"):
            put(tmp_path / f"memory/bs_{size}/{access}_run1.log", text)
    assert main(["add", str(tmp_path / "memory"), "--lake", str(lake)]) == 0
    rows = runs(lake)
    assert {(row["request_bytes"], row["series"]) for row in rows} == {
        (size, access) for size in (1024, 16384) for access in ("read", "write")
    }
    assert {row["performance_metric"] for row in rows} == {"throughput_qps"}


def test_an_energy_of_a_part_is_none_of_the_run() -> None:
    """Where most numbers are of parts, and none says to be of the whole, nothing is a run."""

    def report(first: str, parts: int) -> bytes:
        names = [first, *(f"tile{4 << n}" for n in range(parts))]
        lines = [f"{which} energy {name}: {n + size} kJ" for n, name in enumerate(names)
                 for which, size in (("Min", 0.5), ("Average", 1.5))]  # fmt: skip
        return "\n".join([*lines, ""]).encode()

    with pytest.raises(FormatError, match="10 of 12 numbers are of parts, as is 'Average energy f"):
        read_parts(report("fused", 5))
    # The mean of the whole, though the least stands before it.
    for first in ("package", "total"):
        name, readings = read_parts(report(first, 5))
        assert (name, readings[None].measurements["energy_j"]) == ("key_values", 1500.0)


def test_a_time_with_one_digit_of_hours_is_no_time_of_day() -> None:
    text = (
        "Actual consumption for 10 epoch(s):\n\tTime:\t{}\n\tEnergy:\t0.05 kWh\n\tCO2eq:\t9.1 g\n"
    )
    name, readings = read_parts(text.format("0:12:04").encode())
    measured = readings[None].measurements
    assert (name, measured["duration_s"], measured["energy_j"]) == ("key_values", 724.0, 180_000.0)
    assert find_format("a.log", text.format("10:12:04").encode()) is None


COUNTED = """Random seed: 41
Threads: 8
Clock units = 0.0005s
Energy units = 0.00003052J
Socket power limit: 65.0 W
Socket maximum power: 90.0 W
Socket energy before: 5210.250000J
Memory energy before: 801.5J

Wall time: 12.5s
Socket energy after: 5610.250000  (400.000000J consumed)
Memory energy after: 826.5  (25.0J consumed)
"""


def test_what_a_run_took_stands_in_brackets_behind_its_counter() -> None:
    """Neither the unit of a counter, nor a limit, nor the counter is an energy of the run."""
    name, readings = read_parts(COUNTED.encode())
    reading = readings[None]
    energies = {n: v for n, v in reading.measurements.items() if "energy" in n}
    assert (name, energies) == ("key_values", {"energy_j": 400.0, "memory_energy": 25.0})
    assert reading.measurements["duration_s"] == 12.5
    assert "power_w" not in reading.measurements
    roles = {column.name: column.role for column in reading.columns}
    assert (roles["socket_power_limit"], roles["energy_units"]) == ("knob", "label")
    assert reading.knobs["socket_power_limit"] == 65.0
    assert (roles["random_seed"], roles["thread_count"]) == ("label", "knob")


@pytest.mark.parametrize(
    ("text", "energy_j"),
    [
        ("Time: 2 s\nEnergy: 30 J (5 J idle)\nEnergy used: 25 J\nRuns = 3\n", 25.0),
        ("Time: 2 s\nUnity energy: 30 J\nRuns = 3\n", 30.0),
        ("Time: 2 s\nEnergy before: 100 J\nEnergy after: 130 J\nRuns = 3\n", None),
    ],
    ids=["a part in brackets", "another word", "two energies without a difference"],
)
def test_other_energies_of_a_log_are_read_as_they_were(text: str, energy_j: float | None) -> None:
    _, readings = read_parts(text.encode())
    assert readings[None].measurements.get("energy_j") == energy_j


def test_an_energy_of_less_than_a_milliwatt_is_doubted(lake: Path, tmp_path: Path) -> None:
    for name, joules in (("a", "0.0004"), ("b", "0.4")):
        put(tmp_path / f"in/{name}.log", f"Time: 12.5 s\nEnergy: {joules} J\nRate: 3 MB/s\n")
    (detail,) = details(ingest(lake, tmp_path / "in"), "odd_power")
    assert "0.0004 J in 12.5 s are less than a milliwatt" in detail

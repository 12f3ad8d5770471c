"""Text logs by declaration: those of known tools, and those of a dataset's settings."""

from pathlib import Path
from typing import Any

import pytest

from data.errors import SettingsError
from ingest.formats import FORMATS, find_format
from ingest.records import ReadContext, Reading
from ingest.settings.loading import load_settings
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


YCSB = """\
Command line: -db site.ycsb.db.RedisClient -P workloads/workloadb -threads 8 -target 2000 -t
YCSB Client 0.17.0
[OVERALL], RunTime(ms), 10250
[OVERALL], Throughput(ops/sec), 1951.2
[READ], Operations, 19000
[READ], AverageLatency(us), 412.5
[READ], 99thPercentileLatency(us), 1105
[UPDATE], Operations, 1000
[UPDATE], 99thPercentileLatency(us), 1850
"""
GEOPM = """\
##### geopm 2.0.0 #####
Start Time: Tue Nov  8 10:38:46 2022
Profile: dgemm_limit_180
Agent: power_governor
Policy: {"POWER_PACKAGE_LIMIT_TOTAL": 180}
Hosts:
  n1:
    Epoch Totals:
      runtime (s): 9.5
      package-energy (J): 1500.5
    Application Totals:
      runtime (s): 10.5
      package-energy (J): 1800.5
      dram-energy (J): 20.5
  n2:
    Application Totals:
      runtime (s): 10.5
      package-energy (J): 1750.5
      dram-energy (J): 21.5
"""
DACAPO = """\
===== DaCapo 23.11-chopin lusearch starting warmup 1 =====
===== DaCapo 23.11-chopin lusearch completed warmup 1 in 2400 msec =====
===== DaCapo 23.11-chopin lusearch starting =====
===== DaCapo 23.11-chopin lusearch PASSED in 1250 msec =====
"""
RENAISSANCE = """\
====== scrabble (functional) [default], iteration 0 started ======
====== scrabble (functional) [default], iteration 0 completed (1500.5 ms) ======
====== scrabble (functional) [default], iteration 1 started ======
====== scrabble (functional) [default], iteration 1 completed (250.5 ms) ======
"""
JMH = """\
# JMH version: 1.37
# VM version: JDK 21.0.1, OpenJDK 64-Bit Server VM
# Threads: 4 threads, will synchronize iterations
# Benchmark: org.a.B.sort

Benchmark  Mode  Cnt    Score    Error  Units
B.sort    thrpt    5  120.500 ± 3.250  ops/s
B.find     avgt    5    2.500 ± 0.125  ms/op
"""
KNOWN = [
    # Format, content, the runs of it: name, some measurements, knobs and labels.
    ("sysbench", captured("sysbench_cpu.txt"), {
        None: ({"throughput_qps": 3387.77, "duration_s": 2.0427, "latency_p95_us": 1960.0},
               {"threads": 2, "test": "cpu"})}),
    ("stress_ng", captured("stress_ng.txt"), {
        "cpu": ({"throughput_qps": 748.25, "duration_s": 2.0, "cpu_user": 0.86},
                {"stressor": "cpu"}),
        "vm": ({"throughput_qps": 35572.87, "requests": 71979}, {"stressor": "vm"})}),
    ("fio_terse", captured("fio_terse.txt"), {
        "a": ({"iops": 17564.0, "bandwidth_bytes_s": 70258 * 1024, "latency_p99_us": 103.0,
               "latency_mean_us": 55.782312, "duration_s": 2.001}, {"job": "a"})}),
    ("fio_terse", captured("fio_terse_5.txt"), {
        "a": ({"iops": 128000.0, "latency_p99_us": 28.0, "duration_s": 0.004}, {"job": "a"})}),
    ("mlperf_summary", captured("mlperf_log_summary.txt"), {
        None: ({"throughput_qps": 465.16, "latency_p99_us": 3722.476},
               {"scenario": "SingleStream", "result": "VALID"})}),
    ("ycsb", YCSB.encode(), {
        None: ({"throughput_qps": 1951.2, "duration_s": 10.25, "requests": 20000,
                "latency_p99_us": 1105.0, "update_latency_p99": 1850.0},
               {"ycsb_workload": "workloadb", "database": "RedisClient", "threads": 8,
                "load_qps": 2000.0})}),
    ("geopm", GEOPM.encode(), {
        None: ({"energy_j": 3551.0, "duration_s": 10.5, "dram_energy": 42.0},
               {"agent": "power_governor", "rapl_w": 180.0})}),
    ("dacapo", DACAPO.encode(), {"lusearch": ({"duration_s": 1.25}, {"benchmark": "lusearch"})}),
    ("renaissance", RENAISSANCE.encode(), {
        "scrabble": ({"duration_s": 0.2505}, {"benchmark": "scrabble"})}),
    ("jmh", JMH.encode(), {
        "B.sort": ({"throughput_qps": 120.5}, {"benchmark": "B.sort", "threads": 4}),
        "B.find": ({"duration_s": 0.0025}, {"benchmark": "B.find"})}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "expected"), KNOWN, ids=lambda v: str(v)[:14])
def test_a_log_of_a_known_tool(
    name: str, content: bytes, expected: dict[str | None, tuple[dict[str, Any], dict[str, Any]]]
) -> None:
    found, readings = read_parts(content)
    assert (found, readings.keys()) == (name, expected.keys())
    assert next(f.name for f in FORMATS if f.sniff("x.txt", content[: 1 << 16])) == name
    for part, (measured, knobs) in expected.items():
        reading = readings[part]
        assert {key: reading.measurements[key] for key in measured} == pytest.approx(measured)
        assert {key: reading.knobs[key] for key in knobs} == knobs


def test_percentiles_of_a_histogram() -> None:
    """Of 100 + 2 values 90 are 5 us, 10 are 7 us; two are beyond the rows: p99 is unknown."""
    text = (
        "# /dev/cpu_dma_latency set to 0us\n# Histogram\n000000 000000\t000000\n"
        "000005 000040\t000050\n000007 000010\t000000\n# Min Latencies: 00005 00004\n"
        "# Max Latencies: 00900 00700\n# Histogram Overflows: 00001 00001\n"
    )
    name, readings = read_parts(text.encode())
    assert (name, readings[None].measurements) == ("cyclictest", {
        "requests": 102, "latency_p50_us": 5.0, "latency_p90_us": 7.0, "latency_p95_us": 7.0,
        "latency_min_us": 4.0, "latency_max_us": 900.0,
    })  # fmt: skip
    whole = read_parts(text.replace("00001 00001", "00000 00000").encode())[1]
    assert whole[None].measurements["latency_mean_us"] == pytest.approx((90 * 5 + 10 * 7) / 100)
    assert read_parts(captured("cyclictest.txt"))[0] == "cyclictest"


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
    put(tmp_path / "c.steps", "nothing\n")
    assert "nothing that text_log declares" in details(ingest(lake, tmp_path), "bad_content")[0]


@pytest.mark.parametrize("odd", ["1-2", "9" * 400, "x"])
def test_odd_numbers_of_a_log_are_left_out(odd: str) -> None:
    """The energy of the second host cannot be added."""
    measured = read_parts(GEOPM.replace("1750.5", odd).encode())[1][None].measurements
    assert measured["energy_j"] == 1800.5


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("find = ['(?P<a>x)']", "logs[1] lacks 'pattern' or 'marks'"),
        ("marks = ['a']", "logs[1].find has no named group"),
        ("marks = ['a']\nfind = ['x']", "logs[1].find has no named group"),
        ("marks = ['a']\nfind = ['(?P<a>x']", "logs[1].find[1] is no regular expression"),
        ("marks = ['a']\nfind = ['(?P<a>x)']\ncolumns = { a = 'b' }", "has no column 'b' to fill"),
        ("marks = ['a']\nhistogram = { rows = 'x' }", "rows lacks a group 'value' or 'counts'"),
    ],
)
def test_declarations_that_cannot_be(tmp_path: Path, entry: str, message: str) -> None:
    path = put(tmp_path / "wattlas.toml", f"[[logs]]\n{entry}\n")
    with pytest.raises(SettingsError, match=message.replace("[", r"\[")):
        load_settings(path)

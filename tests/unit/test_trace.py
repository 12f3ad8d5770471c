"""Traces of power, energy and use over time: one run a file, whatever sampler wrote them."""

import json
import re
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from data.connection import open_lake
from ingest.__main__ import main
from ingest.formats import FORMATS, find_format, key_values
from ingest.formats.trace import read
from ingest.formats.trace_cells import is_number, unit_of
from ingest.formats.trace_counters import is_running_total, steps_of
from ingest.formats.trace_headings import read_heading
from ingest.formats.written_numbers import written_numbers
from ingest.lake.proposals import read_proposals
from ingest.records import ReadContext, Reading
from ingest.report import describe_ignored
from tests.fixtures.ingest import details, ingest, problems, put, query, runs, tuples
from tests.fixtures.real import studies
from tests.fixtures.tool_outputs import captured


def trace(text: str, size: int = 1 << 20) -> Reading:
    data = text.encode()
    blocks = (data[at : at + size] for at in range(0, len(data), size))
    return read(blocks, ReadContext("t.csv", 0.0))


def rows(head: str, *columns: Sequence[object], between: str = ",") -> str:
    """A header and a row for each element of the columns."""
    body = (between.join(map(str, cells)) for cells in zip(*columns, strict=True))
    return "\n".join([head, *body]) + "\n"


N = range(12)
DATES = [f"2024-05-01 23:59:{50 + n}" if n < 10 else f"2024-05-02 00:00:{n - 10:02}" for n in N]
CLOCKS = [date[11:] for date in DATES]
TWICE = [n // 2 for n in range(24)]
THRICE = [n - n % 3 for n in range(36)]
# What samplers write, and the energy and duration of it: 12 samples, most of 10 + n W.
LAYOUTS = {
    "nvidia-smi": (
        rows("timestamp, name, index, power.draw [W], utilization.gpu [%], power.limit [W]",
             [f"2024/05/01 12:00:{n:02}.123" for n in TWICE], ["A100"] * 24, [0, 1] * 12,
             [f"{10 + n}.00 W" for n in TWICE], ["50 %"] * 24, ["250.00 W"] * 24, between=", "),
        2 * 186.0, 12.0, {"busy_pct": 50.0},
    ),
    "named numbers behind a date, of which one is missing": (
        "".join(f"10-01-2025 20:05:{5 + n + (n > 5):02} RAM {2200 + n}/6834MB GR3D_FREQ {n}% "
                f"VDD_IN {10_000 + 1000 * n}mW/9000mW VDD_SOC 900mW/900mW\n" for n in N),
        186.0 + 16.0, 13.0, {},
    ),
    "seconds since 1970 before named numbers": (
        "".join(f"{1714550000 + n / 2:.1f}: Bus Voltage: 5.0{n} V, Current: {1990 + n} mA, "
                f"Power: {10_000 + 1000 * n}.0 mW\n" for n in range(10, 22)),
        (186.0 + 120.0) / 2, 6.0, {},
    ),
    "rails of a board, and what a program did": (
        rows("timestamp_ms,VDD_IN_mW,VDD_CPU_GPU_CV_mW,VDD_SOC_mW,gpu_freq_hz,fps,latency_ms",
             [500 * n for n in N], [10_000 + 1000 * n for n in N], [6000] * 12, [2000] * 12,
             [306_000_000] * 12, [29.5, 30.5] * 6, [40] * 12),
        186.0 / 2, 6.0, {"gpu_freq_mhz": 306.0, "fps": 30.0, "latency_ms": 40.0},
    ),
    "a mode with watts in its name, a second clock, and a power beside its average": (
        rows("time,uptime,nvp model,GPU,power cur,power avg", DATES,
             [f"1:02:{n:02}" for n in N], ["15W"] * 12, [80] * 12,
             [10_000 + 1000 * n for n in N], [9000] * 12),
        186.0, 12.0, {},
    ),
    "nvidia-smi without the devices' numbers": (
        rows("timestamp, pstate, power.draw [W], clocks_event_reasons.active",
             [f"2024/05/01 12:00:{n:02}.{3 * (m % 2):03}" for m, n in enumerate(TWICE)],
             ["P0", "P8", "P2"] * 8, [f"{10 + n}.00 W" for n in TWICE], ["0x04", "0x01"] * 12),
        2 * 186.0, 12.0, {},
    ),
    "nvidia-smi dmon": (
        "# gpu    pwr  gtemp\n# Idx      W      C\n"
        + "".join(f"    0    {10 + n}     40\n    1    20     41\n" for n in N),
        186.0 + 240.0, 12.0, {},
    ),
    # The exporter's fields have no units: the total is in mJ, as is any total of 11 kW and more.
    "DCGM's fields": (
        rows("timestamp,gpu,DCGM_FI_DEV_POWER_USAGE,DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
             [1_770_000_000 + n for n in N], [0] * 12, [10.5] * 12, [5000 + 1500 * n for n in N]),
        11 * 1.5, 11.0, {"dcgm_fi_dev_usage_power_w": 10.5},
    ),
    "a counter without a unit": (
        rows("time,energy", [f"2024-05-01 12:00:{n:02}" for n in N], [n * 11_000 for n in N]),
        11 * 11.0, 11.0, {},
    ),
    "dcgmi dmon": (
        "#Entity   POWER   TOTEC\nID        W       mJ\n"
        + "".join(f"GPU 0     {10 + n}.0   {5000 + 1000 * n}\n" for n in N),
        186.0, 12.0, {},
    ),
    "PowerAPI: the machine beside its containers": (
        rows("timestamp,sensor,target,power", [1_700_000_000_000 + 1000 * n for n in TWICE],
             ["s"] * 24, ["rapl", "/web"] * 12, [p for n in N for p in (10 + n, 5)]),
        186.0, 12.0, {},
    ),
    "PowerAPI: what was measured beside the sum of the containers": (
        rows("timestamp,sensor,target,power", [1_700_000_000_000 + 1000 * n // 3 for n in THRICE],
             ["s"] * 36, ["rapl", "global", "/web"] * 12, [p for n in N for p in (10 + n, 4, 5)]),
        186.0, 12.0, {},
    ),
    "Intel Power Gadget: one energy in two units": (
        rows("System Time,Elapsed Time (sec),Cumulative Processor Energy_0(Joules),"
             "Cumulative Processor Energy_0(mWh),Package Temperature_0(C)",
             CLOCKS, [1 + n for n in N], [sum(range(10, 11 + n)) for n in N],
             [sum(range(10, 11 + n)) / 3.6 for n in N], [50] * 12),
        176.0, 11.0, {},
    ),
    "Scaphandre": (
        json.dumps([{"host": {"consumption": (10 + n) * 1e6, "timestamp": 1_700_000_000.5 + n},
                     "consumers": [{"exe": "a", "consumption": 4e6}]} for n in N]),
        186.0, 12.0, {},
    ),
    "tegrastats": (
        "".join(f"RAM {900 + n}/7771MB (lfb 4x4MB) CPU [12%@1420,off] GR3D_FREQ 99% "
                f"VDD_IN {10_000 + 1000 * n}/9000 VDD_SOC 900/900\n" for n in N),
        186.0, 12.0, {},
    ),
    "powerstat, over midnight": (
        "Running for 60.0 seconds (60 samples at 1.0 second intervals).\n\n"
        + rows("  Time    User  Idle Ctxt/s  Watts  pkg-0",
               CLOCKS, [4.2] * 12, [95.8] * 12, [100] * 12, [10 + n for n in N], [5.0] * 12,
               between="   ")
        + "-------- -----\n Average  4.2 95.8 100 15.5 5.0\nSummary:\nCPU: 15.5 Watts on average\n",
        186.0, 12.0, {"context_switches": 1200, "pkg_0_power_w": 5.0},
    ),
    "EnergiBridge: a counter that wraps at 2^18 J": (
        rows("Delta,Time,CPU_USAGE_0,CPU_USAGE_1,DRAM_ENERGY (J),PACKAGE_ENERGY (J),PP0_ENERGY (J)",
             [200] * 12, [1714000000000 + 200 * n for n in N], [50.0] * 12, [10.0] * 12,
             [7.0 + n for n in N], [(262100.0 + 8 * n) % 2**18 for n in N], [1 + n for n in N]),
        11 * 8.0, 2.2, {"dram_power_w": 5.0, "pp0_power_w": 5.0, "cpu_usage": 30.0},
    ),
    # Steps of 203 ms and 13 ms, times that are 205 ms apart: they differ by less than a step.
    "EnergiBridge: three samples, two of one time": (
        rows("Delta,Time,CPU_USAGE_0,SYSTEM_POWER (Watts)", [0, 203, 13],
             [1714000000000, 1714000000000, 1714000000205], [50.0, "NaN", 30.0], [40.0] * 3),
        8.2, 0.205, {},
    ),
    # No step is before the first sample, and the last one is short.
    "EnergiBridge: even steps, the last one ends early": (
        rows("Delta,Time,CPU_USAGE_0,SYSTEM_POWER (Watts)", [0, *[200] * 10, 8],
             [1714000000000 + 200 * max(n - 1, 0) for n in N], [50.0] * 12, [10 + n for n in N]),
        32.0, 2.0, {},
    ),
    "PCM: two lines of headings": (
        "System,,,,Core0 (Socket 0),\n"
        + rows("Date,Time,IPC,Proc Energy (Joules),IPC,FREQ", ["2024-05-01"] * 12,
               [f"12:00:{n:02}.500" for n in N], [1.2] * 12, [10 + n % 3 for n in N], [1] * 12, N),
        132.0, 12.0, {},
    ),
    "PowerJoular": (
        rows("Date,CPU Utilization,Total Power,CPU Power,GPU Power", DATES, [0.25] * 12,
             [10 + n for n in N], [6 + n for n in N], [4] * 12),
        186.0, 12.0, {"cpu_power_w": 11.5, "gpu_power_w": 4.0},
    ),
    # ms without zeros: 7.099 s follows 6.98 s.
    "PowerJoular: blanks of Ada": (
        rows("Date,CPU Utilization,CPU Power",
             [f" 2024- 11- 2  19: 17: {ms // 1000}. {ms % 1000}" for ms in range(6500, 9500, 119)],
             [0.25] * 26, [10] * 26),
        26 * 1.19, 26 * 0.119, {"cpu_utilization": 0.25},
    ),
    # Each pod runs alone; all are read by the name of the file.
    "Grafana: a series a column": (
        "sep=,\n" + rows('"Time","a1 / PKG power","b2 / PKG power"', DATES,
                         ["", *[10 + n for n in N[1:6]], *[""] * 6],
                         [10, *[""] * 5, *[10 + n for n in N[6:]]]),
        186.0, 12.0, {},
    ),
    "PTDaemon: names and values": (
        "".join(f"Time,05-29-2023 14:34:{n:02}.144,Watts,{10 + n}.0,Volts,229.29,Mark,none\n"
                for n in N),
        186.0, 12.0, {},
    ),
    "PTDaemon: sums, then channels": (
        "".join(f"Time,05-29-2023 14:34:{n:02}.144,Watts,{10 + n}.0,Volts,229.29,Mark,a_b,"
                f"Ch1,Watts,{4 + n}.0,Volts,229.3,Ch2,Watts,6.0,Volts,229.2\n" for n in N),
        186.0, 12.0, {},
    ),
    "ipmitool dcmi power reading": (
        "".join(
            f"\n  Instantaneous power reading: {10 + n} Watts\n  Maximum during it: 449 Watts\n"
            "  Average power reading over sample period: 99 Watts\n"
            f"  IPMI timestamp: Tue Nov 25 16:00:{n:02} 2025\n  Power reading state is: on\n"
            for n in N
        ),
        186.0, 12.0, {},
    ),
    "ipmitool dcmi below dates, with a clock that stands still": (
        "".join(
            f"Tue 25 Nov 2025 04:00:{n:02} PM CET\n\n"
            f"  Instantaneous power reading: {10 + n} Watts\n"
            "  IPMI timestamp: Thu Jan  1 00:00:05 1970\n  Sampling period: 00000001 Seconds.\n"
            for n in N
        ),
        186.0, 12.0, {},
    ),
    "powermetrics": (
        "Machine model: Mac14,2\n\n" + "".join(
            f"*** Sampled system activity (Tue Nov 25 16:00:{n // 2:02} 2025 +0100)"
            " (500.00ms elapsed) ***\n\n**** Processor usage ****\n\n"
            f"CPU 0 frequency: {1000 + n} MHz\nCPU 0 active residency:   5.73% (600 MHz:   0%)\n"
            "Name    ID  CPU ms/s\nzsh    813  0.12\n"
            f"CPU Power: {9000 + 1000 * n} mW\nGPU Power: 1000 mW\n"
            f"Combined Power (CPU + GPU + ANE): {10_000 + 1000 * n} mW\n" for n in N
        ),
        93.0, 6.0, {"gpu_power_w": 1.0, "cpu_frequency": 1005.5},
    ),
    "sensors below seconds since 1970": (
        "".join(
            f"{1_763_000_000 + n}\ncoretemp-isa-0000\nCore 0:  +43.0°C  (high = +80.0°C)\n\n"
            f"amdgpu-pci-0300\nvddgfx:  806.00 mV\npower1:  {10 + n}.00 W  (cap = 130.00 W)\n\n"
            for n in N
        ),
        186.0, 12.0, {},
    ),
    "upower: what a battery holds is no energy that was taken": (
        "".join(
            f"  model:  4X\n  updated:  Tue 25 Nov 2025 16:00:{n:02} UTC (1 seconds ago)\n"
            f"  battery\n    state:  discharging\n    energy:  {40 - 0.01 * n:.2f} Wh\n"
            f"    energy-full:  50 Wh\n    energy-rate:  {10 + n} W\n" for n in N
        ),
        186.0, 12.0, {},
    ),
    "Zeus: mW without a unit, ns": (
        rows("Time,Power", [f"2022-07-13 02:07:{n:02}.708783111" for n in N],
             [10_000 + 1000 * n for n in N]),
        186.0, 12.0, {},
    ),
    "a time that rises by equal steps, whatever it is called": (
        rows("pkg_power, dram_power, total_time", [10 + n for n in N], [0] * 12,
             [f"{0.5 * n + 0.5 + n % 2 / 100}" for n in N]),
        93.26, 6.02, {},
    ),
    "milliwatts and milliseconds": (
        rows("elapsed_ms;power_mW", [500 * n for n in N], [1000 * (10 + n) for n in N],
             between=";"),
        93.0, 6.0, {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_trace_is_one_run(name: str) -> None:
    text, energy_j, duration_s, others = LAYOUTS[name]
    assert next(f.name for f in FORMATS if f.sniff("t.csv", text.encode())) == "trace"
    for size in (7, 1 << 20):
        reading = trace(text, size)
        found = reading.measurements
        assert found["energy_j"] == pytest.approx(energy_j)
        assert found["duration_s"] == pytest.approx(duration_s)
        assert {key: found[key] for key in others} == pytest.approx(others)
        assert [p.kind for p in reading.problems if p.severity == "refused"] in ([], ["bad_line"])
        assert reading.intervals is not None
        joules = reading.intervals.values["package_power_w"] * reading.intervals.dt_s
        assert np.nansum(joules) == pytest.approx(energy_j)


NO_TRACES = {
    "a table of runs that began one after the other": rows(
        "timestamp,project,duration,energy (J)",
        [f"2024-05-01T12:{n:02}:{n * n % 60:02}" for n in N], [f"p{n}" for n in N], N, N),
    "runs that fill the time between their begins": rows(
        "start_time,freq_ghz,duration_s,energy_j",
        [1_700_000_000 + 60 * n for n in N], [1.2, 1.8, 2.4] * 4, [50 - n % 3 for n in N], N),
    "runs with a setting that changes, begun every half minute": rows(
        "timestamp,threads,ops,energy_j",
        [1_700_000_000 + 30 * n for n in N], [1 + n // 4 for n in N], N, N),
    "runs of apps, without a time of day": rows(
        "device,subject,duration(s),CPU Load [%],Battery Power* [uW]",
        ["phone"] * 12, ["vue"] * 12, [58 + n % 2 for n in N], [20 + n for n in N],
        [390_000 + n for n in N]),
    "times that fall": rows("time,power_w", [5, 3, 8, 1] * 5, range(20)),
    "uneven steps": rows("time,power_w", [n**4 for n in N], N),
    "durations of runs": rows("threads,time,energy_j", [1, 2, 4] * 4, [9, 5, 3] * 4, N),
    "runs of larger and larger inputs, two programs": rows(
        "program,rows_m,time_s,energy_j",
        ["join"] * 12 + ["sort"] * 12, [*N, *N], [1 + n for n in N] * 2, [9 + n for n in N] * 2),
    "times that begin again, in steps of another length": rows(
        "program,time_s,energy_j", ["join"] * 12 + ["sort"] * 12,
        [1 + n for n in N] + [9 + 9 * n for n in N], range(24)),
    "times of runs that rise by equal steps with an input": rows(
        "input,total_time,power_w", [100 * n for n in N], [0.5 + 0.5 * n for n in N],
        [50 + n % 3 for n in N]),
    "times of runs that rise by other steps": rows(
        "total_time,power_w", [0.5 + 0.5 * n + 0.2 * (n % 3) for n in N], [50 + n % 3 for n in N]),
    "nothing measured": rows("time,errors", range(40), range(40)),
    "runs, each below a date, that took as long as to the next": "".join(
        f"Tue Nov 25 16:{n:02}:{n % 3:02} UTC 2025\nElapsed: {60 - n % 3} s\nPower: {50 + n} W\n"
        for n in N),
    "runs, each below a date, of what was set": "".join(
        f"Tue Nov 25 16:{n:02}:00 UTC 2025\nThreads: {2 ** (n // 3)}\nPower: {50 + n} W\n"
        for n in N),
}  # fmt: skip


def test_the_mean_of_samples_that_never_change_is_their_value() -> None:
    """Weights of uneven steps make 3228.0999999999995 of it."""
    times = [f"{1.1 * n + n % 3 / 7:.3f}" for n in N]
    head = "time_s,power_w,cpu_frequency_mhz"
    found = trace(rows(head, times, [10 + n for n in N], [3228.1] * 12)).measurements
    assert [value for name, value in found.items() if "freq" in name] == [3228.1]


def test_a_current_alone_is_a_trace_without_an_energy() -> None:
    """Power profilers measure the current of a device whose voltage they do not write."""
    head, times = "Timestamp(ms),Current(uA),D0-D7", [2 * n for n in range(40)]
    reading = trace(rows(head, times, range(40), ["0000"] * 40))
    assert reading.measurements == pytest.approx({"duration_s": 0.08, "current_a": 19.5e-6})


def test_the_beginning_of_a_document_is_of_a_trace() -> None:
    """A head ends within a sample, which is none of the trace."""
    samples = [{"host": {"consumption": 9e6 + n, "timestamp": 1_700_000_000.5 + n},
                "consumers": [{"exe": "a", "consumption": 4e6}]} for n in range(60)]  # fmt: skip
    text = json.dumps(samples).encode()
    for size in (len(text) // 2, len(text) // 2 + 30, len(text) // 2 + 60):
        form = find_format("t.json", text[:size])
        assert form is not None
        assert form.name == "trace"


def test_outputs_of_a_load_generator_are_of_the_rows_with_their_settings(
    lake: Path, tmp_path: Path
) -> None:
    """A table of energies, and a text a run: the clients are called otherwise, or in the text."""
    report = captured("ab.txt").decode()
    lines: list[str] = []
    for server, clients, run in product(("go", "node"), (10, 100), (1, 2)):
        text = re.sub(r"(Concurrency Level:\s+)\d+", rf"\g<1>{clients}", report)
        put(tmp_path / f"raw/{server}_c{clients}_r{run}.txt", text)
        lines.append(f"{server},{clients},{run},{len(lines) + 0.25}")
    put(tmp_path / "raw/energy.csv", "\n".join(["server,concurrency,run,energy_wh", *lines, ""]))
    for _ in range(2):
        assert main(["add", str(tmp_path / "raw"), "--lake", str(lake)]) == 0
        found = tuples(lake, "SELECT server, concurrency, replicate, energy_j, workload, "
                             "count(throughput_qps), count(latency_p99_us) FROM runs "
                             "GROUP BY ALL ORDER BY energy_j")  # fmt: skip
        expected = [
            (server, clients, run, pytest.approx((n + 0.25) * 3600), "ab", 1, 1)
            for n, (server, clients, run) in enumerate(product(("go", "node"), (10, 100), (1, 2)))
        ]
        assert found == expected


@pytest.mark.parametrize("name", NO_TRACES)
def test_what_is_no_trace(name: str) -> None:
    head = NO_TRACES[name].encode()
    assert [f.name for f in FORMATS if f.sniff("t.csv", head)][:1] == ["table"]


def test_epochs_of_a_training_below_dates_are_no_samples() -> None:
    text = "".join(
        f"Tue Nov 25 16:{n:02}:00 UTC 2025\nEpoch: {n}\nPower: {50 + n} W\n"
        f"epoch time: {60 - n}.5 s\n"
        for n in N
    )
    assert all(f.name != "trace" for f in FORMATS if f.sniff("t.log", text.encode()))


def test_samples_of_many_lines_are_known_by_few() -> None:
    tasks = "".join(f"task{n:<30} {n * 7:6} 0.12 0.00 0.00 0.00 1.00\n" for n in range(250))
    text = "".join(
        f"*** Sampled system activity (Tue Nov 25 16:00:{n:02} 2025 +0000) (1000.00ms elapsed) ***"
        f"\n\n{tasks}\nCPU Power: {1000 * (10 + n)} mW\n"
        for n in N
    )
    assert getattr(find_format("t.txt", text.encode()[: 1 << 16]), "name", "") == "trace"
    assert trace(text).measurements["energy_j"] == pytest.approx(186.0)


@pytest.mark.parametrize(
    ("head", "times", "powers", "between", "energy_j", "doubts"),
    [
        # Thousands beside whole numbers: 0.9 W to 1.28 W for 20 s.
        ("time_s power_mw", range(20), [f"{900 + 20 * n:,}" for n in range(20)], "\t", 21.8, 0),
        ("time_s power_mw", range(20), [f"{900 + 20 * n:,} mW" for n in range(20)], ";", 21.8, 0),
        ("time_s power_mw", range(20), [f'"{900 + 20 * n:,}"' for n in range(20)], ",", 21.8, 0),
        # Three decimals each: the times say that they are decimals.
        ("time_s power_w", [f"{n},5" for n in N], [f"{n + 10},250" for n in N], "\t", 189.0, 0),
        ("time_s power_w", [f"{n}.5" for n in N], [f"{n + 10},250" for n in N], "\t", 189000.0, 0),
        # Nothing says it.
        ("time_s power_w", N, [f"{n + 10},250" for n in N], "\t", 189.0, 1),
        ("time_s power_mw", N, [f'"{n + 10},250"' for n in N], ",", 189.0, 1),
        # One of them has the other mark: 11 samples of 10 W are left.
        ("time_s power_w", N, ["9,5", *["10.0"] * 11], "\t", 110.0, 1),
    ],
)
def test_a_column_has_one_decimal_mark(
    head: str,
    times: Sequence[object],
    powers: Sequence[object],
    between: str,
    energy_j: float,
    doubts: int,
) -> None:
    found = trace(rows(head.replace(" ", between), times, powers, between=between))
    assert found.measurements["energy_j"] == pytest.approx(energy_j)
    assert [each.kind for each in found.problems] == ["unclear_comma"] * doubts


def test_a_total_that_counts_parts_twice_is_doubted() -> None:
    powers = [[30.0] * 12, [20.0] * 12, [7.0] * 12, [3.0] * 12]
    reading = trace(rows("Time,Watts,psys,pkg-0,core", N, *powers))
    (problem,) = reading.problems
    assert (problem.kind, problem.severity) == ("overlapping_domains", "doubted")
    assert "Watts is the sum of psys, pkg-0, core" in problem.detail


def test_a_total_of_parts_that_are_apart_is_not_doubted() -> None:
    powers = [[34.0] * 12, [30.0] * 12, [4.0] * 12]
    assert not trace(rows("Time,Total Power,CPU Power,GPU Power", N, *powers)).problems


@pytest.mark.parametrize(
    ("cells", "mean", "doubts"),
    [
        # As many digits as a division gives.
        ([0.4375, 0.8125] * 6, 62.5, 1),
        # Per cent of an idle machine, and those that others write.
        ([0.5, 0.25] * 6, 0.375, 0), ([0, 1] * 6, 0.5, 0), ([0.4375, 12.5625] * 6, 6.5, 0),
    ],
)  # fmt: skip
def test_shares_of_a_processor_are_shown_in_per_cent(
    cells: Sequence[float], mean: float, doubts: int
) -> None:
    reading = trace(rows("Time,Watts,CPU Utilization", N, [20] * 12, cells))
    (busy,) = (v for name, v in reading.measurements.items() if name.startswith("cpu_util"))
    assert busy == pytest.approx(mean)
    assert [each.kind for each in reading.problems] == ["unit_guessed"] * doubts


@pytest.mark.parametrize(("heading", "doubts"), [("energy", 1), ("energy_j", 0), ("joules", 0)])
def test_energies_without_a_unit_are_doubted(heading: str, doubts: int) -> None:
    reading = trace(rows(f"time_s,{heading}", N, [5 * n for n in N]))
    assert reading.measurements["energy_j"] == 55.0
    assert [p.kind for p in reading.problems] == ["unit_guessed"] * doubts


def test_falls_of_running_totals() -> None:
    """2^16 J is a wrap; a fall from elsewhere is a new start, of which the value counts."""
    steps = steps_of(np.array([65500.0, 65530.0, 24.0, 54.0, 10.0, 40.0]))
    assert steps.values[1:].tolist() == [30.0, 30.0, 30.0, 10.0, 30.0]
    assert ([at for at, _ in steps.repaired], [at for at, _ in steps.reset]) == ([2], [4])
    assert is_running_total(np.arange(9.0))
    assert not is_running_total(np.array([3.0, 5.0, 4.0, 5.0, 3.0, 4.0]))


@pytest.mark.parametrize(
    ("heading", "quantity", "scale"),
    [
        ("power.draw [W]", "power", 1), ("Power (mW)", "power", 1e-3), ("power.limit [W]", "", 1),
        ("PACKAGE_ENERGY (J)", "energy", 1), ("energy_uj", "energy", 1e-6), ("PF", "", 1),
        ("Util:Core 0", "busy", 1), ("clocks.current.sm [MHz]", "frequency", 1),
        ("VDD_GPU_SOC", "power", 1e-3), ("VIN_SYS_5V0", "power", 1e-3),
        ("vdd_voltage", "voltage", 1), ("vin_current", "current", 1), ("VIN", "", 1),
        ("elapsed_ms", "time", 1e-3), ("execution_time", "", 1), ("Memory (kB)", "", 1),
    ],
)  # fmt: skip
def test_what_headings_say(heading: str, quantity: str, scale: float) -> None:
    found = read_heading(heading)
    assert (found.quantity, found.scale) == (quantity, scale)


def test_a_trace_of_s_tui() -> None:
    """No power: busy share and frequency over 35 samples, 2 s each."""
    content = captured("s_tui.csv")
    assert next(f.name for f in FORMATS if f.sniff("s.csv", content)) == "trace"
    found = trace(content.decode()).measurements
    assert (found["duration_s"], round(found["frequency_avg"])) == (pytest.approx(70), 2596)


WRK = """\
Running 12s test @ http://127.0.0.1:8080/
  1 threads and 1 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   850.50us   31.63us   2.88ms   99.81%
    Req/Sec   100.00     12.10    110.00    88.70%
  1200 requests in 12.00s, 1.00MB read
Requests/sec:    100.00
"""
POWER = rows("time (s),power (W)", N, [10 + n for n in N])


@pytest.mark.parametrize(
    ("power", "output"),
    [
        ("power/a-run.csv", "logs/a-run.txt"),  # The same name.
        ("a_power.csv", "a.txt"),
        ("run1/spl.csv", "run1/summary.txt"),  # Alone in a folder.
        ("run1/power/spl.csv", "run1/out/summary.txt"),
    ],
)
def test_a_trace_joins_the_run_beside_it(
    lake: Path, tmp_path: Path, power: str, output: str
) -> None:
    """wrk ran 12 s too, so the energy is that of its run."""
    put(tmp_path / power, POWER)
    put(tmp_path / output, WRK)
    put(tmp_path / "other/x/b.txt", WRK)
    ingest(lake, tmp_path)
    row, other = runs(lake, "energy_j, requests", "energy_j")
    assert (row, other["energy_j"]) == ({"energy_j": 186.0, "requests": 1200}, None)
    assert ingest(lake, tmp_path).unchanged == 2


def test_two_traces_without_their_outputs_are_two_runs(lake: Path, tmp_path: Path) -> None:
    for name in ("power/a.csv", "power/b.csv", "c.txt"):
        put(tmp_path / name, WRK if name == "c.txt" else POWER)
    assert ingest(lake, tmp_path).added == 3
    assert [row["energy_j"] for row in runs(lake, "energy_j", "energy_j")] == [186.0, 186.0, None]


def test_a_trace_of_another_time_gives_power_alone(lake: Path, tmp_path: Path) -> None:
    """186 J in 12 s are 15.5 W; the run took 24 s."""
    put(tmp_path / "a_power.csv", POWER)
    put(tmp_path / "a.txt", WRK.replace("12.00s", "24.00s"))
    report = ingest(lake, tmp_path)
    (row,) = runs(lake, "energy_j, power_w, flags")
    assert (row["energy_j"], row["power_w"], row["flags"]) == (None, 15.5, ["counts_interval"])
    assert len(details(report, "counts_interval")) == 1


@pytest.mark.real
def test_traces_of_other_people_are_one_run_each(lake: Path) -> None:
    power = studies() / "strangers" / "jvmenergy" / "SortingAlgorithms" / "power"
    assert ingest(lake, power).added == 3
    found = {
        row["run_id"].split("-")[2]: (round(row["energy_j"]), row["duration_s"], row["has_log"])
        for row in runs(lake, "run_id, energy_j, duration_s, has_log")
    }
    assert found["openjdk_hotspot_vm_run_quick_sort_default"] == (67_237, 1203.0, True)
    assert found["native_image_run_quick_sort_pgo"] == (66_369, 1203.0, True)
    assert {kind for _, _, kind, _ in problems(lake)} >= {"overlapping_domains"}
    assert query(lake, "SELECT count(*) AS n FROM cores") == [{"n": 3}]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Too few for a trace, and of nothing that a trace has.
        (rows("time_s,power_w", range(5), [10.5, 11, 10, 11.5, 10.5]), 0),
        (rows("time,pressure,humidity", [n / 2 for n in range(30)],
              [99.5 + n * n / 8 for n in range(30)], [40.125 + n / 16 for n in range(30)]), 0),
        # Durations of runs: none is 0, and one after which something was set.
        (rows("time_s,power_w", [2.5, 3.5, 4.5, 5.5, 6.5], [10.5, 11, 10, 11.5, 10.5]), 5),
        (rows("threads,time_s,energy_j", (1, 2, 1, 2), (0, 1, 2, 3), (5.5, 6.5, 7.5, 8.5)), 4),
    ],
)  # fmt: skip
def test_samples_of_no_trace_are_no_runs(
    text: str, expected: int, lake: Path, tmp_path: Path
) -> None:
    put(tmp_path / "log.csv", text)
    ingest(lake, tmp_path, is_proposing=True)
    assert len(runs(lake)) == expected


def test_traces_that_rows_name_are_no_runs(lake: Path, tmp_path: Path) -> None:
    """`run_0` has no energy of its own: it gets 186 J; `run_1` keeps what the table says, with a
    doubt, as `run_2` does without one.
    """
    put(tmp_path / "run_table.csv", "id,threads,time,energy_j\nrun_0,1,12,\nrun_1,2,9,100.5\n"
        "run_2,4,8,184.5\n")  # fmt: skip
    for name in ("run_0", "run_1", "run_2"):
        put(tmp_path / name / "power.csv", POWER)
    report = ingest(lake, tmp_path)
    assert [row["energy_j"] for row in runs(lake, "energy_j", "energy_j")] == [100.5, 184.5, 186.0]
    assert details(report, "trace_energy") == [
        "100.5 J in the row, 186 J in its trace power.csv: the row's is kept"
    ]
    assert [each.reason for each in report.ignored] == [
        f"the trace of line {line} of run_table.csv" for line in (2, 3, 4)
    ]  # fmt: skip
    assert [*describe_ignored(report.ignored, verbose=False)][:2] == [
        "files that say more of the runs of others: 3",
        f"joined: {tmp_path}/run_0/power.csv: the trace of line 2 of run_table.csv",
    ]
    assert ingest(lake, tmp_path).unchanged == 3


def test_rows_that_state_their_time_get_the_energy_of_a_trace(lake: Path, tmp_path: Path) -> None:
    """A sample a second: from 1 s to 3 s 12 W and 13 W, from 4 s to 6.5 s 15 W, 16 W and 17 W."""
    power = rows("epoch,power (W)", [1714565000 + n for n in N], [10 + n for n in N])
    put(tmp_path / "meter.csv", power)
    runs_ = [
        {"config": "a", "startingTime": 1714565001000, "endingTime": 1714565003000, "score": 1.5},
        {"config": "b", "startingTime": 1714565004000, "endingTime": 1714565006500, "score": 2.5},
        {"config": "c", "startingTime": 1714569004000, "endingTime": 1714569006500, "score": 2.5},
    ]
    put(tmp_path / "results.json", json.dumps({"runs": runs_}))
    ingest(lake, tmp_path)
    found = [tuple(r.values()) for r in runs(lake, "config, energy_j, duration_s", "config")]
    assert found == [("a", 25.0, 2.0), ("b", 15 + 16 + 8.5, 2.5), ("c", None, 2.5)]


LOG = """\
OpenJDK 21 starts QuickSorter at 07:48:58, expected duration = 1200 sec
---------------------------------
Summary statistics:
  Elapsed = 12.5 sec
  Iterations = 71
  Iterations/sec = 5.68
  Algorithm: quick sort

Note: Iterations include all executions.
"""


def test_a_log_of_names_and_values_has_the_trace_of_its_name(lake: Path, tmp_path: Path) -> None:
    """The trace covers 12 s of 12.5 s."""
    for name in ("a-sort", "b-sort"):
        put(tmp_path / f"power/{name}.csv", POWER)
        put(tmp_path / f"logs/{name}.log", LOG)
    # A column of names is a log only of likwid's.
    column = "metric,run1,run2\nEnergy (J),10.5,11.5\nTime (s),1.5,2.5\nPower (W),7.0,4.6\n"
    for name, text, form in (
        ("a.log", LOG, "key_values"), ("a.toml", LOG, None), ("a.csv", column, "table"),
        ("a.txt", column, "table"), ("a.txt", column.replace(",", "\t"), "table"),
        ("a.csv", f"TABLE,Group 1 Metric,ENERGY,2,\n{column}", "key_values"),
    ):  # fmt: skip
        found = find_format(name, text.encode())
        assert (found and found.name) == form
    ingest(lake, tmp_path)
    rows = runs(lake, "energy_j, duration_s, iterations, iterations_sec, algorithm, has_log")
    assert [tuple(row.values()) for row in rows] == [
        (186.0, 12.5, 71, 5.68, "quick sort", True)
    ] * 2


def test_a_document_of_one_run_has_the_trace_of_its_folder(lake: Path, tmp_path: Path) -> None:
    for number in (1, 2):
        put(tmp_path / f"run_{number}/result.json", json.dumps({"model": "m", "latency": 0.5}))
        put(tmp_path / f"run_{number}/nvidia.csv", POWER)
    ingest(lake, tmp_path)
    assert [r["energy_j"] for r in runs(lake, "energy_j, model")] == [186.0, 186.0]


@pytest.mark.parametrize("end", ["%" * 9, " a b"])
def test_a_cell_of_a_million_digits_takes_no_time(end: str) -> None:
    """A pattern that tries every two parts of it takes hours."""
    cell = "9" * 1_000_000 + end
    assert not is_number(cell)
    assert unit_of(cell) == ""
    assert written_numbers([cell, "5 W"], is_comma_separated=False) is None


UNEVEN_S = [0, 2, 9, 10, 21]


@pytest.mark.parametrize(
    ("head", "columns", "expected"),
    [
        # From the time 0; a counter that begins at any number, by dates, and wraps.
        ("time_s,energy_j", (UNEVEN_S, [100, 180, 460, 500, 940]), (840.0, 21.0)),
        ("timestamp,energy_j,temp_c",
         ([1_700_000_000.5 + s for s in UNEVEN_S], [9000, 9080, 9360, 9400, 9840], range(5)),
         (840.0, 21.0)),
        ("time_s,package_energy_j",
         ([5, 7, 14, 15, 26], [(262_000 + n) % 2**18 for n in (0, 80, 360, 400, 840)]),
         (840.0, 21.0)),
        # Sorted runs: with what was set, and how long they took; of few nothing tells.
        ("threads,time_s,energy_j", (range(5), UNEVEN_S, [100, 180, 460, 500, 940]), None),
        ("timestamp,energy_j,duration_s",
         ([1_700_000_000.5 + s for s in UNEVEN_S], [9000, 9080, 9360, 9400, 9840], range(5)), None),
        ("time_s,energy_j", ([1, 2, 9, 10, 21], [100, 180, 460, 500, 940]), None),
    ],
)  # fmt: skip
def test_uneven_samples_of_a_running_total_are_one_run(
    head: str, columns: Sequence[Sequence[object]], expected: tuple[float, float] | None
) -> None:
    text = rows(head, *columns)
    known = find_format("t.csv", text.encode())
    assert known is not None
    assert known.name == ("table" if expected is None else "trace")
    if expected is not None:
        found = trace(text).measurements
        assert (found["energy_j"], found["duration_s"]) == pytest.approx(expected)


def test_settings_from_names_of_files_alone_are_guesses(lake: Path, tmp_path: Path) -> None:
    """They are in the problems as those of tables are, until the line in the settings goes."""
    for codec, preset, n in product(("av1", "vp9"), ("slow", "fast"), (1, 2)):
        put(tmp_path / f"study/{codec}_{preset}_{n}.csv", POWER)
    report = ingest(lake, tmp_path / "study", is_proposing=True)
    said = "columns were guessed from names of files: set: codec, file, from the path; if codec "
    said += "was not set: `python -m ingest correct codec=label`"
    assert {*details(report, "guessed_columns")} == {said}
    with open_lake(lake) as opened:
        assert opened.guessed == {"study"}
    (text,) = (each.text for each in read_proposals(lake))
    put(tmp_path / "study/wattlas.toml", re.sub(r"guessed = .*\n", "", text))
    assert details(ingest(lake, tmp_path / "study", is_proposing=True), "guessed_columns") == []
    with open_lake(lake) as opened:
        assert opened.guessed == set()


@pytest.mark.parametrize("name", ["CPU Power", "Instantaneous power reading"])
def test_powers_of_samples_in_a_text_are_not_the_power_of_a_run(name: str) -> None:
    """The last of them was taken for it; a text with one of each is a run."""
    records = [f"{name}: {40 + n} W\nElapsed: 1.5 s\nClock: {1000 + n} MHz\n" for n in range(12)]
    assert key_values.sniff("log.txt", records[0].encode())
    assert not key_values.sniff("log.txt", "".join(records).encode())

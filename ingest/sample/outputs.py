"""Text of what the load generators and the servers print: mutilate, wrk, NetPIPE, rdtsc windows."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ingest.sample.parameters import PACKAGES, TSC_KHZ
from ingest.sample.plan import Run

Measured = Mapping[str, float]

_QUANTILES = ("mean", "std", "min", "p5", "p10", "p50", "p90", "p95", "p99")
_HEADINGS = ("avg", "std", "min", "5th", "10th", "50th", "90th", "95th", "99th")
_NP_SERVER = """Using no perturbations

Resetting connection after every trial
Performance measured without cache effects

Send and receive buffers are 16384 and 131072 bytes
(A bug in Linux doubles the requested buffer sizes)
Found Sandybridge-EP Processor type
\t
\tDetected 16 cores in 2 packages
"""
_NP_PACKAGE = """
\tListing paramaters for package #{package}
\t\tPower units = 0.125W
\t\tCPU Energy units = 0.00001526J
\t\tDRAM Energy units = 0.00000000J
\t\tTime units = 0.00097656s
"""


@dataclass(frozen=True, slots=True)
class Span:
    """A window in TSC ticks; as text it is the library OS's record of it."""

    start_tsc: int
    end_tsc: int

    def __str__(self) -> str:
        return f"{self.start_tsc} {self.end_tsc}"


def mutilate_text(run: Run, measured: Measured, rng: np.random.Generator) -> str:
    """Print a run as mutilate does, plain or saved as a Python byte literal."""
    heads = "".join(f" {name:>7}" for name in _HEADINGS)
    read = {q: measured[f"latency_{q}_us"] for q in _QUANTILES if q != "std"}
    read["std"] = (measured["latency_p90_us"] - measured["latency_p50_us"]) / 1.28
    update = {q: 1.05 * v if run.workload == "memcached" else 0.0 for q, v in read.items()}
    depth = dict.fromkeys(_QUANTILES, 1.0) | {"std": 0.0}
    requests = int(measured["requests"])
    missed = requests if run.workload == "memcached-silo" else 0
    received, sent = int(measured["tx_bytes"] * 0.92), int(measured["rx_bytes"] * 0.9)
    if rng.random() < 0.2:
        sent += 430_307_000_000_000
    rate = run.amount * 1024 * 1024
    text = "\n".join(
        [
            f"{'#type':<7}{heads}",
            _mutilate_line("read", read),
            _mutilate_line("update", update),
            _mutilate_line("op_q", depth),
            "",
            f"Total QPS = {measured['throughput_qps']:.1f} ({requests} / {run.amount:.1f}s)",
            "",
            f"Misses = {missed} ({100.0 * missed / requests:.1f}%)",
            "Retransmitted TXs = 0",
            "Skipped TXs = 0 (0.0%)",
            "",
            f"RX {received:>10} bytes : {received / rate:>6.1f} MB/s",
            f"TX {sent:>10} bytes : {sent / rate:>6.1f} MB/s",
        ]
    )
    # Outputs are saved in one of three ways in turn: as they are, or as a byte literal.
    turn = (run.itr // 50 + run.load // 100_000 + run.replicate) % 3
    if turn == 0:
        return text + "\n"
    return f"b'{text}'\n" if turn == 1 else "b'" + text.replace("\n", "\\n") + "'\n"


def _mutilate_line(name: str, values: Mapping[str, float]) -> str:
    return f"{name:<7}" + "".join(f" {values[q]:>7.1f}" for q in _QUANTILES)


def wrk_text(run: Run, measured: Measured, rng: np.random.Generator) -> str:
    """Print a run as wrk does; it stops after a number of requests, so its time is the result."""
    seconds, requests = measured["duration_s"], int(measured["requests"])
    pace = requests / seconds
    address = "192.168.1.9" if run.system.startswith("linux") else "192.168.1.200"
    mean = measured["latency_mean_us"]
    lines = [
        f"Running {seconds:.0f}s test @ http://{address}:6666/index.html",
        "1 threads and 1 connections",
        "Thread Stats   Avg      Stdev     Max   +/- Stdev",
        f"Latency   {_wrk_time(mean)}  {_wrk_time(0.4 * mean)}  {_wrk_time(40 * mean)}   99.81%",
        f"Req/Sec   {_wrk_count(pace)}  {_wrk_count(pace / 99)}  {_wrk_count(1.01 * pace)}   88.7%",
        "Latency Distribution",
        *[f"{q}%   {_wrk_time(measured[f'latency_p{q}_us'])}" for q in (50, 75, 90, 99)],
        f"{requests} requests in {seconds:.2f}s, {measured['tx_bytes'] / 2**20:.2f}MB read",
        f"Requests/sec:  {pace:.2f}",
        f"Transfer/sec:      {measured['tx_bytes'] / 2**20 / seconds:.2f}MB",
    ]
    if rng.random() < 0.5:
        return f"b'{chr(10).join(lines)}'\n"
    indent = [0, 2, 2, 4, 4, 2, 5, 5, 5, 5, 2, 0, 0]
    return "".join(f"{' ' * by}{line}\n" for by, line in zip(indent, lines, strict=True))


def _wrk_time(us: float) -> str:
    """Format a time as wrk does: the next unit from 0.85 of it on."""
    for unit, size in (("us", 1.0), ("ms", 1e3), ("s", 1e6)):
        if us < 0.85 * size * 1e3 or unit == "s":
            return f"{us / size:.2f}{unit}"
    raise AssertionError("BUG: no unit for a time")


def _wrk_count(value: float) -> str:
    return f"{value / 1000:.2f}k" if value >= 850 else f"{value:.2f}"


def np_out_text(run: Run, measured: Measured) -> str:
    """Print NetPIPE's line: bytes, Mbps, seconds one way, seconds in all (warm-up included)."""
    one_way = measured["duration_s"] / (2 * run.amount)
    mbps = run.load * 8 / (one_way * 2**20)
    return f"{run.load:>8} {mbps:.6f} {one_way:.8f} {measured['duration_s'] * 1.003:.6f}\n"


def np_server_text(span: Span, energy_j: float, rng: np.random.Generator) -> str:
    """Print what the NetPIPE server does: its machine, then the window and package energies."""
    packages = "".join(_NP_PACKAGE.format(package=p) for p in range(PACKAGES))
    idle_package_j = energy_j * float(rng.uniform(0.6, 0.7))
    period = f"{span} {idle_package_j:.6f} {energy_j:.6f}"
    return f"{_NP_SERVER}{packages}\n\nSERVER_WORKLOAD_PERIOD: {period}\n"


def ebbrt_np_text(run: Run, measured: Measured, span: Span) -> str:
    """Print the library OS's NetPIPE line of 12 fields; the last two are the window."""
    one_way_us = measured["duration_s"] / (2 * run.amount) * 1e6
    mbps = run.load * 8e6 / (one_way_us * 2**20)
    energy_j = measured["energy_j"]
    fields = (
        f"{run.replicate} {run.load} {run.amount:.0f} {run.dvfs_code} {run.rapl_w} {run.itr}",
        f"{0.79 * energy_j:.4f} {energy_j:.4f}",
        f"{mbps:.4f} {one_way_us:.4f}",
        str(span),
    )
    return " ".join(fields)


def connections_text(span: Span, rng: np.random.Generator) -> str:
    """Print memcached's window: a line a connection, `thread connection start end`.

    The latest start and the latest end are the window's.
    """
    n = 256
    starts = span.start_tsc - rng.integers(0, 30 * TSC_KHZ, n)
    ends = np.sort(span.end_tsc - rng.integers(0, TSC_KHZ // 2, n))
    starts[0], ends[-1] = span.start_tsc, span.end_tsc
    connections = rng.permutation(n) + 33
    rows = zip(range(n), connections, starts, ends, strict=True)
    return "".join(f"{i} {c} {s} {e}\n" for i, c, s, e in rows)


def server_text(span: Span, rng: np.random.Generator) -> str:
    """Print node.js's windows: a short one, the run's, and one that never began."""
    first = int(rng.integers(8, 14))
    probe = span.start_tsc - 60_000
    return (
        f"{first} {span.start_tsc - 3_800_000} {span.start_tsc + 1_400_000}\n"
        f"{first + 1} {span.start_tsc} {span.end_tsc}\n-1 {probe} 0\n"
    )

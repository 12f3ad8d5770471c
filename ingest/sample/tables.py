"""Per-run summary tables as the published ones: space-separated, a header, one row a run."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from ingest.sample.parameters import Workload
from ingest.sample.plan import Run

_TAIL = "instructions cycles ref_cycles llc_miss c1 c1e c3 c6 c7 num_interrupts"
_MEMCACHED = (
    "sys i itr dvfs rapl read_5th read_10th read_50th read_90th read_95th read_99th"
    f" measure_QPS target_QPS time joules rx_desc rx_bytes tx_desc tx_bytes {_TAIL}"
)
_COLUMNS: dict[Workload, tuple[str, str]] = {
    "memcached": ("mcd_combined.csv", _MEMCACHED),
    "memcached-silo": ("mcdsilo_combined.csv", _MEMCACHED),
    "netpipe": (
        "netpipe_combined.csv",
        f"sys i msg itr dvfs rapl time tput joules rx_bytes tx_bytes {_TAIL}",
    ),
    "nodejs": (
        "node_combined.csv",
        "sys i itr dvfs rapl lat50 lat75 lat90 lat99 requests time joules"
        f" rx_desc rx_bytes tx_desc tx_bytes {_TAIL}",
    ),
}
# Headings of the tables to columns of `runs`, where they differ, and the digits they are given in.
_NAMES = {
    "measure_QPS": "throughput_qps",
    "time": "duration_s",
    "joules": "energy_j",
    "llc_miss": "llc_misses",
    "num_interrupts": "interrupts",
    **{f"read_{q}th": f"latency_p{q}_us" for q in (5, 10, 50, 90, 95, 99)},
    **{f"lat{q}": f"latency_p{q}_us" for q in (50, 75, 90, 99)},
}
_DIGITS = {"joules": 2, "time": 3, "tput": 2} | {
    name: 1 for name in _NAMES if name.startswith(("read_", "lat", "measure"))
}


def write_table(
    folder: Path, workload: Workload, rows: Iterable[tuple[Run, Mapping[str, float]]]
) -> Path:
    """Write the summary table of a workload's runs that have no raw logs, as they come."""
    name, header = _COLUMNS[workload]
    columns = header.split()
    path = folder / name
    with path.open("w", newline="\n") as file:
        file.write(header + "\n")
        for run, measured in rows:
            knobs = _knobs(run, measured)
            file.write(" ".join(_cell(column, knobs, measured) for column in columns) + "\n")
    return path


def _knobs(run: Run, measured: Mapping[str, float]) -> dict[str, object]:
    one_way_s = measured["duration_s"] / (2 * run.amount)
    return {
        "sys": run.system,
        "i": run.replicate,
        "itr": run.itr,
        "dvfs": run.dvfs_code,
        "rapl": run.rapl_w,
        "msg": run.load,
        "target_QPS": run.load,
        "tput": f"{run.load * 8 / (one_way_s * 2**20):.2f}",
    }


def _cell(column: str, knobs: Mapping[str, object], measured: Mapping[str, float]) -> str:
    if column in knobs:
        return str(knobs[column])
    value = measured[_NAMES.get(column, column)]
    return f"{value:.{_DIGITS[column]}f}" if column in _DIGITS else f"{value:.0f}"

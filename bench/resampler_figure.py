"""A timeline in plotly-resampler; `bench/resampler.py` runs it in an environment that has it.

It has the same columns as ours: received and sent bytes and the time since the core's last
interrupt for each interrupt, and five counters for each sample. It prints one JSON object on each
line.
"""

import json
import sys
import time
from random import Random

import numpy as np
import psutil
import pyarrow.parquet as pq
from plotly.subplots import make_subplots
from plotly_resampler import FigureResampler

_TSC_HZ = 2_899_999_000
_SEED = 1


def _say(name, value, unit, n=1):  # type: ignore[no-untyped-def]
    print(json.dumps({"name": name, "value": value, "unit": unit, "n": n}), flush=True)


def _interrupts(path):  # type: ignore[no-untyped-def]
    rows = pq.read_table(path, columns=["core", "t_ns", "rx_bytes", "tx_bytes"])
    columns = {name: rows[name].to_numpy() for name in rows.column_names}
    gap_ns = np.full(len(columns["t_ns"]), np.nan)
    for core in np.unique(columns["core"]):
        of_core = np.flatnonzero(columns["core"] == core)
        gap_ns[of_core[1:]] = np.diff(columns["t_ns"][of_core])
    seconds = columns["t_ns"] / 1e9
    return seconds, {"rx": columns["rx_bytes"], "tx": columns["tx_bytes"], "gap": gap_ns / 1e3}


def _samples(path):  # type: ignore[no-untyped-def]
    rows = pq.read_table(path)
    columns = {name: rows[name].to_numpy() for name in rows.column_names if name != "run_id"}
    step_s = columns["dt_ns"] / 1e9
    return columns["t_ns"] / 1e9, {
        "power": columns["energy_uj"] / 1e6 / step_s,
        "instructions": columns["instructions"] / step_s,
        "ipc": columns["instructions"] / columns["cycles"],
        "busy": columns["ref_cycles"] / step_s / _TSC_HZ,
        "llc": columns["llc_misses"] / step_s,
    }


def _figure(paths):  # type: ignore[no-untyped-def]
    parts = [_interrupts(paths[0]), _samples(paths[1])]
    names = [name for _, columns in parts for name in columns]
    figure = FigureResampler(make_subplots(rows=len(names), shared_xaxes=True))
    for seconds, columns in parts:
        for name, values in columns.items():
            figure.add_trace(
                {"type": "scattergl", "mode": "lines", "name": name},
                hf_x=seconds,
                hf_y=values,
                row=names.index(name) + 1,
                col=1,
            )
    return figure, len(names), parts[0][0][-1]


def main(arguments):  # type: ignore[no-untyped-def]
    """Make the figure, zoom, and make more figures for further visitors."""
    paths, zooms, shares = arguments[:2], int(arguments[2]), [float(s) for s in arguments[3:]]
    began = time.perf_counter()
    figure, rows, end_s = _figure(paths)
    figure.to_json()
    _say("first_figure", (time.perf_counter() - began) * 1e3, "ms")
    rng, sizes = Random(_SEED), []
    for share in shares:
        times = []
        for _ in range(zooms):
            begin = rng.uniform(0, 1 - share) * end_s
            ranges = {}
            for row in range(1, rows + 1):
                axis = "xaxis" if row == 1 else f"xaxis{row}"
                ranges[f"{axis}.range[0]"] = begin
                ranges[f"{axis}.range[1]"] = begin + share * end_s
            began = time.perf_counter()
            update = figure._construct_update_data(ranges)
            text = json.dumps(update, default=_listed)
            times.append((time.perf_counter() - began) * 1e3)
            sizes.append(len(text))
        percent = f"{share:.1%}".replace(".0%", "%")
        _say(f"{percent}_median", float(np.median(times)), "ms", zooms)
        _say(f"{percent}_p95", float(np.quantile(times, 0.95, method="inverted_cdf")), "ms", zooms)
    _say("bytes_max", max(sizes) / 1e3, "kB", len(sizes))
    process = psutil.Process()
    before, kept = process.memory_info().rss, []
    for _ in range(2):
        kept.append(_figure(paths)[0])
    _say("memory_a_figure", (process.memory_info().rss - before) / len(kept) / 1e6, "MB", 2)


def _listed(value):  # type: ignore[no-untyped-def]
    return value.tolist()


if __name__ == "__main__":
    main(sys.argv[1:])

"""fio's JSON document of a storage run, laid out as fio 3.36 prints it."""

import json
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np

from ingest.sample.storage_model import expect
from ingest.sample.storage_parameters import DEVICES
from ingest.sample.storage_plan import RAMP_S, StorageRun, size_word

# Percent to its standard normal quantile.
_PERCENTILES: Final = {
    1.0: -2.3263,
    5.0: -1.6449,
    10.0: -1.2816,
    50.0: 0.0,
    75.0: 0.6745,
    90.0: 1.2816,
    95.0: 1.6449,
    99.0: 2.3263,
    99.9: 3.0902,
    99.99: 3.719,
}
_USER_SHARE: Final = 0.12
_PRINTING_S: Final = 0.021
# Context switches a second that have nothing to do with the requests.
_STRAY_SWITCHES_HZ: Final = 2.0


def fio_text(run: StorageRun) -> str:
    """Print a run as fio does: a job file's options, its threads reported as one group."""
    rng = run.generator("fio")
    setting, length_s = run.setting, run.length_s
    printed_s = run.end_s + _PRINTING_S
    printed = datetime.fromtimestamp(printed_s, UTC)
    busy = expect(setting).busy_cpus / setting.threads * 100
    requests = round(run.iops * length_s)
    switches = round(expect(setting).switches_hz / expect(setting).iops * requests)
    job = {
        "jobname": f"{setting.access}-{size_word(setting.request_bytes)}",
        "groupid": 0,
        "job_start": round(run.start_s * 1000),
        "error": 0,
        "eta": 0,
        "elapsed": round(RAMP_S + length_s) + 1,
        "job options": {
            "rw": setting.access,
            "bs": size_word(setting.request_bytes),
            "numjobs": str(setting.threads),
        },
        "read": _direction(run, "randread", requests, rng),
        "write": _direction(run, "randwrite", requests, rng),
        "trim": _direction(run, "randtrim", requests, rng),
        "sync": {"total_ios": 0, "lat_ns": _latency(0.0, 0.0, 0, rng)},
        "job_runtime": round(length_s * 1000) * setting.threads,
        "usr_cpu": _real(busy * _USER_SHARE),
        "sys_cpu": _real(busy * (1 - _USER_SHARE)),
        "ctx": switches + int(rng.poisson(_STRAY_SWITCHES_HZ * length_s)),
        "majf": 0,
        "minf": 9 * setting.threads,
        "iodepth_level": {"1": 100.0} | dict.fromkeys(("2", "4", "8", "16", "32", ">=64"), 0.0),
    }
    document = {
        "fio version": "fio-3.36",
        "timestamp": int(printed_s),
        "timestamp_ms": round(printed_s * 1000),
        "time": f"{printed:%a %b} {printed.day:>2} {printed:%H:%M:%S %Y}",
        "global options": _options(run),
        "jobs": [job],
    }
    return json.dumps(document, indent=2, separators=(",", " : ")) + "\n"


def _options(run: StorageRun) -> dict[str, str]:
    options = {
        "ioengine": "pvsync2",
        "direct": "1",
        "filename": "/dev/sdb" if run.setting.device == "disk" else "/dev/nvme1n1",
        "runtime": f"{run.length_s:.0f}",
        "ramp_time": f"{RAMP_S:.0f}",
    }
    return options | ({} if run.setting.mode == "interrupt" else {"hipri": "1"})


def _direction(
    run: StorageRun, access: str, requests: int, rng: np.random.Generator
) -> dict[str, Any]:
    """One of the document's three directions; zeros if the run did not go that way."""
    is_used = run.setting.access == access
    count = requests if is_used else 0
    bytes_done = count * run.setting.request_bytes
    bytes_s = bytes_done / run.length_s
    latency_ns = run.latency_us * 1000 if is_used else 0.0
    spread = DEVICES[run.setting.device].spread
    return {
        "io_bytes": bytes_done,
        "io_kbytes": bytes_done // 1024,
        "bw_bytes": int(bytes_s),
        "bw": int(bytes_s / 1024),
        "iops": _real(count / run.length_s),
        "runtime": round(run.length_s * 1000) if is_used else 0,
        "total_ios": count,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": _latency(0.0, spread, 0, rng),
        "clat_ns": _latency(latency_ns - 40.0, spread, count, rng)
        | ({"percentile": _percentiles(latency_ns - 40.0, spread)} if is_used else {}),
        "lat_ns": _latency(latency_ns, spread, count, rng),
    }


def _latency(mean_ns: float, spread: float, count: int, rng: np.random.Generator) -> dict[str, Any]:
    """Least, most, mean and deviation of so many latencies, lognormal with a rare long one."""
    if not count:
        return {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}
    return {
        "min": int(mean_ns * np.exp(-3.3 * spread)),
        "max": int(mean_ns * np.exp(5 * spread) + rng.exponential(2e5)),
        "mean": _real(mean_ns),
        "stddev": _real(mean_ns * 1.3 * spread),
        "N": count,
    }


def _percentiles(mean_ns: float, spread: float) -> dict[str, int]:
    median_ns = mean_ns * np.exp(-(spread**2) / 2)
    return {f"{q:f}": int(median_ns * np.exp(spread * z)) for q, z in _PERCENTILES.items()}


def _real(value: float) -> float:
    return round(value, 6)

"""Text of a storage run's files: fio's document, counters, VTune's functions.

The anchor of the functions is table 2 of HotStorage '22: loads and stores of the kernel while 32
threads read 4 KB from the low-latency device. A function does as much a request at any number of
threads; one that polls the device does as much a microsecond of latency.
"""

import json
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

import numpy as np

from ingest.sample.parameters import BASE_BYTES, CPUS, DEVICES, MODES, Mode
from ingest.sample.storage_model import (
    RAMP_S,
    StorageConfiguration,
    StorageOutcome,
    StorageRun,
    expect,
    size_text,
)

# Percent to its standard normal quantile.
_PERCENTILES: Final = {
    1.0: -2.3263, 5.0: -1.6449, 10.0: -1.2816, 50.0: 0.0, 75.0: 0.6745, 90.0: 1.2816, 95.0: 1.6449,
    99.0: 2.3263, 99.9: 3.0902, 99.99: 3.719,
}  # fmt: skip
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
    busy = run.outcome.busy_cpus / setting.threads * 100
    requests = round(run.iops * length_s)
    switches = round(run.outcome.switches_hz / run.outcome.iops * requests)
    job = {
        "jobname": f"{setting.access}-{size_text(setting.request_bytes)}",
        "groupid": 0,
        "job_start": round(run.start_s * 1000),
        "error": 0, "eta": 0, "elapsed": round(RAMP_S + length_s) + 1,
        "job options": {
            "rw": setting.access, "bs": size_text(setting.request_bytes),
            "numjobs": str(setting.threads),
        },
        **{way: _direction(run, f"rand{way}", requests, rng) for way in ("read", "write", "trim")},
        "sync": {"total_ios": 0, "lat_ns": _latency(0.0, 0.0, 0, rng)},
        "job_runtime": round(length_s * 1000) * setting.threads,
        "usr_cpu": round(busy * _USER_SHARE, 6),
        "sys_cpu": round(busy * (1 - _USER_SHARE), 6),
        "ctx": switches + int(rng.poisson(_STRAY_SWITCHES_HZ * length_s)),
        "majf": 0, "minf": 9 * setting.threads,
        "iodepth_level": {"1": 100.0} | dict.fromkeys(("2", "4", "8", "16", "32", ">=64"), 0.0),
    }  # fmt: skip
    options = {
        "ioengine": "pvsync2", "direct": "1",
        "filename": "/dev/sdb" if setting.device == "disk" else "/dev/nvme1n1",
        "runtime": f"{length_s:.0f}", "ramp_time": f"{RAMP_S:.0f}",
    }  # fmt: skip
    document = {
        "fio version": "fio-3.36",
        "timestamp": int(printed_s),
        "timestamp_ms": round(printed_s * 1000),
        "time": f"{printed:%a %b} {printed.day:>2} {printed:%H:%M:%S %Y}",
        "global options": options | ({} if setting.mode == "interrupt" else {"hipri": "1"}),
        "jobs": [job],
    }
    return json.dumps(document, indent=2, separators=(",", " : ")) + "\n"


def _direction(
    run: StorageRun, access: str, requests: int, rng: np.random.Generator
) -> dict[str, Any]:
    """Return one of the document's three directions; zeros if the run did not go that way."""
    is_used = run.setting.access == access
    count = requests if is_used else 0
    bytes_done = count * run.setting.request_bytes
    bytes_s = bytes_done / run.length_s
    latency_ns = run.latency_us * 1000 if is_used else 0.0
    spread = DEVICES[run.setting.device].spread
    slat = _latency(0.0, spread, 0, rng)
    clat = _latency(latency_ns - 40.0, spread, count, rng)
    if is_used:
        median_ns = (latency_ns - 40.0) * np.exp(-(spread**2) / 2)
        clat["percentile"] = {
            f"{q:f}": int(median_ns * np.exp(spread * z)) for q, z in _PERCENTILES.items()
        }
    return {
        "io_bytes": bytes_done, "io_kbytes": bytes_done // 1024,
        "bw_bytes": int(bytes_s), "bw": int(bytes_s / 1024),
        "iops": round(count / run.length_s, 6),
        "runtime": round(run.length_s * 1000) if is_used else 0,
        "total_ios": count, "short_ios": 0, "drop_ios": 0,
        "slat_ns": slat, "clat_ns": clat, "lat_ns": _latency(latency_ns, spread, count, rng),
    }  # fmt: skip


def _latency(mean_ns: float, spread: float, count: int, rng: np.random.Generator) -> dict[str, Any]:
    """Draw least, most, mean and deviation of so many latencies, lognormal with a rare long one."""
    if not count:
        return {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}
    return {
        "min": int(mean_ns * np.exp(-3.3 * spread)),
        "max": int(mean_ns * np.exp(5 * spread) + rng.exponential(2e5)),
        "mean": round(mean_ns, 6),
        "stddev": round(mean_ns * 1.3 * spread, 6),
        "N": count,
    }


# From the first snapshot of the interrupts to fio's first request, and from fio's last request to
# the second snapshot.
_BEFORE_S: Final = 0.03
_AFTER_S: Final = 0.05
# What perf counts beyond what it was told to.
_STARTING_S: Final = 0.004
_GHZ: Final = 3.6
_SPIN_IPC: Final = 1.9
_WORK_IPC: Final = 1.1
_MISSES_A_REQUEST: Final = 6.0
_TIMER_HZ: Final = 250


def interrupts_texts(run: StorageRun) -> tuple[str, str]:
    """Print /proc/interrupts before and after a run, under the time at which it was copied."""
    rng = run.generator("interrupts")
    queues = rng.integers(10**5, 10**8, CPUS)
    before_s, after_s = run.start_s - _BEFORE_S, run.end_s + _AFTER_S
    raised = run.outcome.interrupts_hz * run.iops / run.outcome.iops
    used = np.zeros(CPUS)
    used[: run.setting.threads] = 1 / min(run.setting.threads, CPUS)
    more = np.rint(used * raised * (RAMP_S + run.length_s)).astype(np.int64)
    ticks = rng.integers(10**6, 10**7, CPUS)
    passed = int(_TIMER_HZ * (after_s - before_s))
    return (
        _interrupts_text(run, before_s, queues, ticks),
        _interrupts_text(run, after_s, queues + more, ticks + passed),
    )


def _interrupts_text(run: StorageRun, taken_s: float, queues: np.ndarray, ticks: np.ndarray) -> str:
    counts = {"0": (_one(39, 0), "IR-IO-APIC    2-edge      timer")}
    if run.setting.device == "disk":
        # One line for all queues, on one processor.
        line = _one(int(queues.sum()), 0)
        counts["29"] = (line, "PCI-MSI 376832-edge      ahci[0000:00:17.0]")
    else:
        counts["29"] = (_one(118, 3), "PCI-MSI 524288-edge      nvme0q0")
        for cpu, count in enumerate(queues.tolist()):
            action = f"PCI-MSI {524289 + cpu}-edge      nvme0q{cpu + 1}"
            counts[str(30 + cpu)] = (_one(count, cpu), action)
    counts["NMI"] = (_one(0, 0), "Non-maskable interrupts")
    counts["LOC"] = (ticks, "Local timer interrupts")
    rows = [
        f"{label:>4}: " + " ".join(f"{count:>10}" for count in of_cpus) + f"  {action}"
        for label, (of_cpus, action) in counts.items()
    ]
    heading = " " * 6 + "".join(f"{f'CPU{cpu}':>11}" for cpu in range(CPUS))
    return "\n".join([f"{taken_s:.3f}", heading, *rows, "ERR:          0", "MIS:          0", ""])


def _one(count: int, cpu: int) -> np.ndarray:
    return np.where(np.arange(CPUS) == cpu, count, 0)


def perf_text(run: StorageRun) -> str:
    """Print `perf stat -a -x, sleep N`, begun when fio began to measure."""
    rng = run.generator("perf")
    outcome, pace = run.outcome, run.iops / run.outcome.iops
    length_s = run.length_s
    started = datetime.fromtimestamp(run.measured_s, UTC)
    counted_s = length_s + _STARTING_S
    whole = int(counted_s * 1e9 * CPUS)
    spun = outcome.spun_share
    cycles = outcome.busy_cpus * pace * _GHZ * 1e9 * length_s * rng.normal(1, 0.003)
    values = (
        (cycles, "", "cycles"),
        (cycles * (_SPIN_IPC * spun + _WORK_IPC * (1 - spun)), "", "instructions"),
        (cycles * 3.0 / _GHZ, "", "ref-cycles"),
        (run.iops * length_s * _MISSES_A_REQUEST, "", "cache-misses"),
        (outcome.switches_hz * pace * length_s + 40 * counted_s, "", "context-switches"),
    )
    lines = [f"{value:.0f},{unit},{event},{whole},100.00,," for value, unit, event in values]
    lines.append(f"{counted_s * 1e9:.0f},ns,duration_time,{counted_s * 1e9:.0f},100.00,,")
    return f"# started on {started:%a %b} {started.day:>2} {started:%H:%M:%S %Y}\n\n" + "".join(
        f"{line}\n" for line in lines
    )


_ANCHOR_THREADS: Final = 32
_STORES_A_LOAD: Final = 0.46
_WAITING_STORES_A_LOAD: Final = 0.05
_NOISE: Final = 0.01
_USER_FILE: Final = "engines/sync.c"
# Functions that poll the device.
_WAITING: Final = ("blk_poll", "nvme_poll")


# Name, source file, and loads and stores at the anchor, millions a second, in the order of MODES;
# with 0 the function does not run.
_FUNCTIONS: Final[tuple[tuple[str, str, tuple[int, int, int]], ...]] = (
    ("blk_poll", "block/blk-mq.c", (0, 219, 70)),
    ("blk_mq_submit_bio", "block/blk-mq.c", (48, 66, 66)),
    ("blk_mq_get_tag", "block/blk-mq-tag.c", (21, 30, 30)),
    ("blk_mq_complete_request", "block/blk-mq.c", (27, 40, 38)),
    ("blk_mq_free_request", "block/blk-mq.c", (15, 22, 22)),
    ("bio_alloc_bioset", "block/bio.c", (62, 86, 69)),
    ("submit_bio_noacct", "block/blk-core.c", (84, 118, 94)),
    ("bio_iov_iter_get_pages", "block/bio.c", (96, 134, 108)),
    ("bio_endio", "block/bio.c", (32, 45, 36)),
    ("nvme_queue_rq", "drivers/nvme/host/pci.c", (22, 34, 33)),
    ("nvme_poll", "drivers/nvme/host/pci.c", (0, 138, 44)),
    ("nvme_irq", "drivers/nvme/host/pci.c", (9, 0, 0)),
    ("nvme_complete_rq", "drivers/nvme/host/core.c", (20, 35, 34)),
    ("__schedule", "kernel/sched/core.c", (13, 0, 13)),
    ("psi_task_change", "kernel/sched/psi.c", (11, 0, 13)),
    ("update_load_avg", "kernel/sched/fair.c", (14, 0, 22)),
    ("try_to_wake_up", "kernel/sched/core.c", (140, 0, 182)),
    ("dequeue_task_fair", "kernel/sched/fair.c", (118, 0, 155)),
    ("enqueue_task_fair", "kernel/sched/fair.c", (131, 0, 172)),
    ("select_task_rq_fair", "kernel/sched/fair.c", (97, 0, 130)),
    ("scheduler_tick", "kernel/sched/core.c", (74, 41, 100)),
    ("ktime_get", "kernel/time/timekeeping.c", (10, 14, 22)),
    ("hrtimer_start_range_ns", "kernel/time/hrtimer.c", (0, 0, 57)),
    ("hrtimer_interrupt", "kernel/time/hrtimer.c", (0, 1, 43)),
    ("tick_nohz_idle_exit", "kernel/time/tick-sched.c", (38, 0, 18)),
    ("update_process_times", "kernel/time/timer.c", (17, 8, 15)),
    ("do_syscall_64", "arch/x86/entry/common.c", (120, 168, 152)),
    ("ext4_file_read_iter", "fs/ext4/file.c", (310, 428, 394)),
    ("iomap_dio_rw", "fs/iomap/direct-io.c", (402, 560, 512)),
    ("get_user_pages_fast", "mm/gup.c", (232, 322, 296)),
    ("dma_map_page_attrs", "kernel/dma/mapping.c", (141, 196, 180)),
    ("sbitmap_get", "lib/sbitmap.c", (252, 486, 360)),
    ("cpuidle_enter_state", "drivers/cpuidle/cpuidle.c", (154, 0, 135)),
    ("fio_pvsyncio2_queue", _USER_FILE, (178, 178, 178)),
)


def functions_text(run: StorageRun) -> str:
    """Print the table over the measured time."""
    rng = run.generator("functions")
    at, anchor = MODES.index(run.setting.mode), _anchor(run.setting.mode)
    requests = run.iops * run.length_s
    lines = ["Function,CPU Time:Self,Loads:Self,Stores:Self,Module,Source File,Start Address"]
    for number, (name, source_file, anchors) in enumerate(_FUNCTIONS):
        if not anchors[at]:
            continue
        moved = requests * anchors[at] * 1e6 / anchor.iops
        ratio = _STORES_A_LOAD
        if name in _WAITING:
            moved *= run.latency_us / anchor.latency_us
            ratio = _WAITING_STORES_A_LOAD
        moved *= float(rng.normal(1, _NOISE))
        loads = moved / (1 + ratio)
        module = "fio" if source_file == _USER_FILE else "vmlinux"
        lines.append(
            f"{name},{loads / 2.1e9:.3f},{loads:.0f},{moved - loads:.0f},{module},"
            f"{source_file},{0xFFFFFFFF81000000 + 0x4B1C0 * number:#x}"
        )
    return "".join(f"{line}\n" for line in lines)


@cache
def _anchor(mode: Mode) -> StorageOutcome:
    setting = StorageConfiguration("optane", mode, "randread", BASE_BYTES, _ANCHOR_THREADS)
    return expect(setting)

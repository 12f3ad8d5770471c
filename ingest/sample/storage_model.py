"""The storage sweep: what a configuration measures, and which runs each size of sample holds.

docs/sample.md writes the equations out. Times are microseconds, energies a request microjoules.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from typing import Final

import numpy as np

from ingest.sample import parameters as p
from ingest.sample.parameters import BASE_BYTES, COMPLETIONS, CPUS, DEVICES, KIB, Access, Mode
from ingest.sample.plan import generator

RAMP_S: Final = 2.0
REST_S: Final = (85.0, 95.0)
_PAUSE_S: Final = (3.0, 7.0)
_ACCESSES: Final[tuple[Access, ...]] = ("randread", "randwrite")


@dataclass(frozen=True, slots=True)
class StorageConfiguration:
    """What is set before a run: every thread has one request in flight."""

    device: str
    mode: Mode
    access: Access
    request_bytes: int
    threads: int


@dataclass(frozen=True, slots=True)
class StorageOutcome:
    """What the model expects, without noise.

    Attributes:
        latency_us: Mean latency of a request.
        iops: Requests a second, of all threads.
        power_w: At the wall, the machine's and the device's idle power included.
        busy_cpus: Processors that work or spin, on average.
        spun_share: Share of their time in which they only wait.
        switches_hz, interrupts_hz: Context switches and device interrupts a second.
    """

    latency_us: float
    iops: float
    power_w: float
    busy_cpus: float
    spun_share: float
    switches_hz: float
    interrupts_hz: float


def idle_power_w(device: str | None) -> float:
    """Return the power of the idle system at the wall, with a device or with none."""
    return p.IDLE_W + (DEVICES[device].idle_w if device else 0.0)


def expect(setting: StorageConfiguration) -> StorageOutcome:
    """Return what a run would measure."""
    cost = DEVICES[setting.device].costs[setting.access]
    completion = COMPLETIONS[setting.mode]
    beyond_us = (setting.request_bytes - BASE_BYTES) / cost.bytes_us
    alone_us = completion.software_us + cost.media_us + beyond_us
    work_us = completion.busy_us + cost.work_us
    latency_us = alone_us
    if setting.threads > 1:
        # Queued behind what is scarcest: the device, or the processors.
        processor_us = (work_us + completion.spun * alone_us) / CPUS
        queued_us = setting.threads * max(cost.share_us + max(beyond_us, 0.0), processor_us)
        latency_us = (alone_us**p.BLEND + queued_us**p.BLEND) ** (1 / p.BLEND)
    rate = setting.threads / (latency_us * (1 + completion.between))
    spun_us = completion.spun * latency_us
    busy_cpus = min(rate * (work_us + spun_us), float(min(CPUS, setting.threads)))
    request_uj = completion.wake_uj + cost.request_uj + cost.byte_uj * setting.request_bytes
    iops = rate * 1e6
    power_w = idle_power_w(setting.device) + p.CPU_W * busy_cpus + rate * request_uj
    of_each = completion.switches * iops, completion.interrupts * iops
    spun_share = spun_us / (spun_us + work_us)
    return StorageOutcome(latency_us, iops, power_w, busy_cpus, spun_share, *of_each)


# A device's request sizes and thread counts, each combination is read and written; its replicates.
Grid = tuple[tuple[int, ...], tuple[int, ...], int]


@dataclass(frozen=True, slots=True)
class StorageSweep:
    """One size of sample.

    Attributes:
        length_s: How long each run measures, after its ramp.
        watched: Replicates that have counters beside fio's document.
    """

    grids: dict[str, Grid]
    length_s: float
    watched: int

    def configurations(self, device: str) -> list[StorageConfiguration]:
        """List the configurations of a device in the order in which each round runs them."""
        sizes, threads, _ = self.grids[device]
        grid = product(_ACCESSES, sizes, threads, DEVICES[device].modes)
        return [StorageConfiguration(device, m, rw, kib * KIB, count) for rw, kib, count, m in grid]


# Sizes are KiB.
_SIZES: Final = (1, 2, 4, 16, 128)
_SMALLEST: Final[Grid] = ((4,), (1,), 10)
_OTHERS: Final[Grid] = (_SIZES, (1, 8, 16, 64), 6)
_ALL: Final[Grid] = (tuple(1 << n for n in range(11)), (1, 2, 4, 8, 16, 32, 64), 10)
STORAGE_SIZES: Final[dict[str, StorageSweep]] = {
    "tiny": StorageSweep(
        {**dict.fromkeys(DEVICES, _SMALLEST), "optane": ((4, 64), (1, 8, 32), 10)}, 10.0, 1
    ),
    "small": StorageSweep(
        {**dict.fromkeys(DEVICES, _OTHERS), "optane": (_SIZES, (1, 8, 16, 32, 64), 10)}, 20.0, 2
    ),
    "large": StorageSweep(dict.fromkeys(DEVICES, _ALL), 60.0, 10),
}


@dataclass(frozen=True, slots=True)
class StorageRun:
    """One run of the sweep.

    Attributes:
        start_s: When fio's jobs start, Unix seconds; the ramp comes first.
        outcome: What the model expects.
        latency_us, iops, power_w: Measured, noise included.
    """

    setting: StorageConfiguration
    replicate: int
    start_s: float
    length_s: float
    is_watched: bool
    outcome: StorageOutcome
    latency_us: float
    iops: float
    power_w: float
    seed: int

    @property
    def folder(self) -> str:
        """Where its files lie, under the sweep's folder."""
        return _folder(self.setting, self.replicate)

    @property
    def measured_s(self) -> float:
        """When fio begins to measure."""
        return self.start_s + RAMP_S

    @property
    def end_s(self) -> float:
        """When fio stops."""
        return self.measured_s + self.length_s

    def generator(self, purpose: str) -> np.random.Generator:
        """Return the random generator of one file; it does not depend on files made earlier."""
        return generator(self.seed, f"{self.folder} {purpose}")


def storage_runs(device: str, sweep: StorageSweep, seed: int) -> Iterator[StorageRun]:
    """List the runs of a device in the order of time: rounds of every configuration, and rests."""
    clock = generator(seed, f"{device} clock")
    now_s = datetime.fromisoformat(DEVICES[device].starts_utc).timestamp()
    outcomes = {setting: expect(setting) for setting in sweep.configurations(device)}
    for replicate in range(sweep.grids[device][2]):
        now_s += clock.uniform(*REST_S)
        for setting, outcome in outcomes.items():
            noise = generator(seed, _folder(setting, replicate)).standard_normal(2)
            slower = float(np.exp(p.STORAGE_LATENCY_NOISE * noise[0]))
            power_w = outcome.power_w * float(np.exp(p.STORAGE_POWER_NOISE * noise[1]))
            measured = outcome.latency_us * slower, outcome.iops / slower, power_w
            is_watched = replicate < sweep.watched
            run = StorageRun(
                setting, replicate, round(now_s, 3), sweep.length_s, is_watched, outcome,
                *measured, seed,
            )  # fmt: skip
            yield run
            now_s = run.end_s + clock.uniform(*_PAUSE_S)


def size_text(count: int) -> str:
    """Return a request size as fio's options have it: `4k`, `1m`."""
    return f"{count // KIB**2}m" if count % KIB**2 == 0 else f"{count // KIB}k"


def _folder(setting: StorageConfiguration, replicate: int) -> str:
    name = f"{setting.access}-{size_text(setting.request_bytes)}-t{setting.threads}-r{replicate}"
    return f"{setting.device}/{setting.mode}/{name}"

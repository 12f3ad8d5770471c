"""Which storage runs a sample of each size holds, when each starts, and what it measures."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np

from ingest.sample.storage_model import StorageConfiguration, expect
from ingest.sample.storage_parameters import DEVICES, KIB, Access

RAMP_S: Final = 2.0
PAUSE_S: Final = (3.0, 7.0)
REST_S: Final = (85.0, 95.0)
_ACCESSES: Final[tuple[Access, ...]] = ("randread", "randwrite")
_LATENCY_NOISE: Final = 0.006
_POWER_NOISE: Final = 0.008
# The low-latency device is swept over the night in which the clocks went forward at its place.
_STARTS: Final = {
    "disk": "2022-03-15T13:00:00+00:00",
    "flash-a": "2022-03-16T13:00:00+00:00",
    "flash-b": "2022-03-17T13:00:00+00:00",
    "optane": "2022-03-13T06:30:00+00:00",
}


@dataclass(frozen=True, slots=True)
class Grid:
    """A device's request sizes and thread counts; each combination is read and written."""

    request_bytes: tuple[int, ...]
    threads: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StorageSweep:
    """One size of sample.

    Attributes:
        length_s: How long each run measures, after its ramp.
        watched: Replicates that have counters beside fio's document.
    """

    grids: dict[str, Grid]
    replicates: int
    length_s: float
    watched: int


@dataclass(frozen=True, slots=True)
class StorageRun:
    """One run of the sweep.

    Attributes:
        start_s: When fio's jobs start, Unix seconds; the ramp comes first.
        latency_us, iops, power_w: Measured, noise included.
    """

    setting: StorageConfiguration
    replicate: int
    start_s: float
    length_s: float
    is_watched: bool
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
        return _generator(self.seed, f"{self.folder} {purpose}")


def storage_runs(device: str, sweep: StorageSweep, seed: int) -> Iterator[StorageRun]:
    """List the runs of a device in the order of time: rounds of every configuration, and rests."""
    if device not in sweep.grids:
        return
    clock = _generator(seed, f"{device} clock")
    now_s = datetime.fromisoformat(_STARTS[device]).timestamp()
    for replicate in range(sweep.replicates):
        now_s += clock.uniform(*REST_S)
        for setting in _configurations(device, sweep.grids[device]):
            now_s = round(now_s, 3)
            run = _measured(setting, replicate, now_s, sweep, seed)
            yield run
            now_s = run.end_s + clock.uniform(*PAUSE_S)


def sweep_span(runs: list[StorageRun]) -> tuple[float, float]:
    """When the meter logs a device: through the first rest, the runs, and one rest more."""
    return runs[0].start_s - REST_S[0], runs[-1].end_s + REST_S[0]


def size_word(count: int) -> str:
    """A request size as fio's options have it: `512`, `4k`, `1m`."""
    if count % KIB**2 == 0:
        return f"{count // KIB**2}m"
    return f"{count // KIB}k" if count % KIB == 0 else str(count)


def _configurations(device: str, grid: Grid) -> Iterator[StorageConfiguration]:
    for access in _ACCESSES:
        for size in grid.request_bytes:
            for threads in grid.threads:
                for mode in DEVICES[device].modes:
                    yield StorageConfiguration(device, mode, access, size, threads)


def _measured(
    setting: StorageConfiguration, replicate: int, start_s: float, sweep: StorageSweep, seed: int
) -> StorageRun:
    outcome = expect(setting)
    noise = _generator(seed, _folder(setting, replicate)).standard_normal(2)
    slower = float(np.exp(_LATENCY_NOISE * noise[0]))
    return StorageRun(
        setting,
        replicate,
        start_s,
        sweep.length_s,
        replicate < sweep.watched,
        outcome.latency_us * slower,
        outcome.iops / slower,
        outcome.power_w * float(np.exp(_POWER_NOISE * noise[1])),
        seed,
    )


def _folder(setting: StorageConfiguration, replicate: int) -> str:
    name = f"{setting.access}-{size_word(setting.request_bytes)}-t{setting.threads}-r{replicate}"
    return f"{setting.device}/{setting.mode}/{name}"


def _generator(seed: int, words: str) -> np.random.Generator:
    word = int.from_bytes(hashlib.sha256(words.encode()).digest()[:8], "little")
    return np.random.default_rng(np.random.SeedSequence([seed, word]))


_4K, _8K, _32K, _64K, _128K = (n * KIB for n in (4, 8, 32, 64, 128))
_ALL_SIZES: Final = tuple(512 << n for n in range(12))
STORAGE_SIZES: Final[dict[str, StorageSweep]] = {
    "tiny": StorageSweep(
        {
            "disk": Grid((_4K,), (1,)),
            "flash-a": Grid((_4K,), (1,)),
            "flash-b": Grid((_4K,), (1,)),
            "optane": Grid((_4K, _64K), (1, 8, 32)),
        },
        10,
        10.0,
        1,
    ),
    "small": StorageSweep(
        {
            "disk": Grid((_4K, _64K), (1, 8)),
            "flash-a": Grid((_4K, _64K), (1, 8)),
            "flash-b": Grid((_4K, _64K), (1, 8)),
            "optane": Grid((_4K, _8K, _32K, _128K), (1, 2, 4, 8, 32)),
        },
        10,
        20.0,
        1,
    ),
    "large": StorageSweep(
        dict.fromkeys(DEVICES, Grid(_ALL_SIZES, (1, 2, 4, 8, 16, 32))), 10, 60.0, 10
    ),
}

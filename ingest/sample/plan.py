"""Which runs a sample of each size holds, how long each runs, and which of them have logs."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from ingest.sample.model import Settings
from ingest.sample.parameters import OPEN_LOOP, WORKLOADS, System, Workload

ADAPTIVE_ITR: Final = 1
_NO_LOAD: Final = 0
# A library-OS run of this workload has no raw log format: it comes in the summary table only.
_NEVER_LOGGED: Final[tuple[System, Workload]] = ("ebbrt_tuned", "memcached-silo")


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the sweep.

    Attributes:
        itr: As the driver takes it: 1 is adaptive, else microseconds.
        dvfs_ghz: None is the governor.
        load: Requests a second, bytes a message, or 0 for node.js.
        amount: Seconds (open loop), round trips (NetPIPE) or requests (node.js).
        is_logged: Whether it has raw logs; otherwise it is a row of its workload's summary table.
    """

    workload: Workload
    system: System
    itr: int
    dvfs_ghz: float | None
    rapl_w: int
    load: int
    replicate: int
    amount: float
    is_logged: bool

    @property
    def dvfs_code(self) -> str:
        """The frequency as file names have it, `0x1d00` or `0xffff`."""
        return "0xffff" if self.dvfs_ghz is None else f"{round(self.dvfs_ghz * 10) << 8:#x}"

    @property
    def key(self) -> str:
        """A readable name of the run, unique in a sample."""
        knobs = (self.workload, self.system, self.load, self.itr, self.dvfs_code, self.rapl_w)
        return "-".join(str(part) for part in (*knobs, self.replicate))

    @property
    def settings(self) -> Settings:
        """The run's knobs as the model takes them, shape (1,)."""
        itr = np.nan if self.itr == ADAPTIVE_ITR else self.itr
        ghz = np.nan if self.dvfs_ghz is None else self.dvfs_ghz
        values = (itr, ghz, self.rapl_w, self.load or np.nan)
        return Settings(*[np.array([v], dtype=float) for v in values])

    def generator(self, seed: int) -> np.random.Generator:
        """The run's own source of randomness, whatever was made before it."""
        word = int.from_bytes(hashlib.sha256(self.key.encode()).digest()[:8], "little")
        return np.random.default_rng(np.random.SeedSequence([seed, word]))


@dataclass(frozen=True, slots=True)
class Logged:
    """One configuration whose first replicate has raw logs."""

    system: System
    load: int
    itr: int = ADAPTIVE_ITR
    dvfs_ghz: float | None = None


@dataclass(frozen=True, slots=True)
class Sweep:
    """One workload's grid: every combination under Linux tuned and library OS, and the default.

    Attributes:
        logged: Configurations with raw logs; None means all runs.
        limited: Power limits below 135 W that the highest load is run at, one replicate each.
    """

    amount: float
    loads: tuple[int, ...]
    dvfs_ghz: tuple[float, ...]
    itr: tuple[int, ...]
    replicates: int
    logged: tuple[Logged, ...] | None
    limited: tuple[int, ...] = ()


def plan_runs(sweeps: dict[Workload, Sweep]) -> Iterator[Run]:
    """List the runs of a sample, in the order in which they are written."""
    for workload in WORKLOADS:
        yield from _sweep_runs(workload, sweeps[workload])


def _sweep_runs(workload: Workload, sweep: Sweep) -> Iterator[Run]:
    for number, (setting, rapl_w) in enumerate(_configurations(sweep)):
        for replicate in range(_replicates(number, sweep, rapl_w)):
            chosen = sweep.logged is None or (
                replicate == 0 and rapl_w == 135 and setting in sweep.logged
            )
            yield Run(
                workload,
                setting.system,
                setting.itr,
                setting.dvfs_ghz,
                rapl_w,
                setting.load,
                replicate,
                sweep.amount,
                chosen and (setting.system, workload) != _NEVER_LOGGED,
            )


def _configurations(sweep: Sweep) -> Iterator[tuple[Logged, int]]:
    systems: tuple[System, ...] = ("linux_tuned", "ebbrt_tuned")
    for load in sweep.loads:
        yield Logged("linux_default", load), 135
        for system in systems:
            for ghz in sweep.dvfs_ghz:
                for itr in sweep.itr:
                    yield Logged(system, load, itr, ghz), 135
    for rapl_w in sweep.limited:
        for system in systems:
            for ghz in sweep.dvfs_ghz:
                yield Logged(system, sweep.loads[-1], sweep.itr[len(sweep.itr) // 2], ghz), rapl_w


def _replicates(number: int, sweep: Sweep, rapl_w: int) -> int:
    """Repeat most configurations alike, a few once or five times, as published sweeps do."""
    if rapl_w != 135:
        return 1
    if sweep.logged is None:
        return sweep.replicates
    if number % 13 == 5:
        return 5
    return 1 if number % 11 == 3 else sweep.replicates


_TINY: dict[Workload, Sweep] = {
    "memcached": Sweep(
        0.1,
        (200_000, 600_000),
        (1.2, 2.0, 2.9),
        (2, 50, 100, 400),
        3,
        (
            Logged("linux_default", 200_000),
            Logged("linux_tuned", 200_000, 100, 2.9),
            Logged("ebbrt_tuned", 600_000, 400, 1.2),
        ),
    ),
    "memcached-silo": Sweep(
        0.1,
        (50_000, 100_000),
        (1.2, 2.9),
        (50, 200),
        2,
        (Logged("linux_tuned", 50_000, 200, 2.9),),
    ),
    "netpipe": Sweep(
        5000,
        (64, 65_536),
        (1.2, 2.9),
        (2, 16, 40),
        3,
        (
            Logged("linux_default", 64),
            Logged("linux_tuned", 64, 16, 2.9),
            Logged("ebbrt_tuned", 64, 2, 1.2),
        ),
    ),
    "nodejs": Sweep(
        20_000,
        (_NO_LOAD,),
        (1.2, 2.0, 2.9),
        (2, 20, 60),
        3,
        (Logged("linux_tuned", _NO_LOAD, 20, 1.2), Logged("ebbrt_tuned", _NO_LOAD, 20, 2.9)),
    ),
}
_SMALL: dict[Workload, Sweep] = {
    "memcached": Sweep(
        0.5, (200_000, 400_000, 600_000), (1.2, 1.5, 1.9, 2.3, 2.6, 2.9),
        (2, 20, 50, 100, 200, 300, 400), 3,
        (
            Logged("linux_default", 200_000),
            Logged("linux_tuned", 200_000, 50, 2.9),
            Logged("linux_tuned", 200_000, 200, 1.9),
            Logged("linux_tuned", 600_000, 200, 1.2),
            Logged("ebbrt_tuned", 200_000, 100, 1.2),
            Logged("ebbrt_tuned", 600_000, 200, 2.9),
        ),
        limited=(75, 55),
    ),
    "memcached-silo": Sweep(
        0.5, (50_000, 100_000, 200_000), (1.2, 1.9, 2.3, 2.9), (2, 50, 100, 200, 400), 2,
        (Logged("linux_default", 50_000), Logged("linux_tuned", 100_000, 200, 2.3)),
    ),
    "netpipe": Sweep(
        5000, (64, 8192, 65_536, 524_288), (1.2, 1.5, 1.9, 2.4, 2.9), (2, 10, 16, 20, 28, 40), 3,
        (
            Logged("linux_default", 64),
            Logged("linux_default", 8192),
            Logged("linux_tuned", 8192, 16, 1.9),
            Logged("linux_tuned", 65_536, 20, 1.9),
            Logged("linux_tuned", 524_288, 28, 1.2),
            Logged("ebbrt_tuned", 64, 2, 2.9),
            Logged("ebbrt_tuned", 65_536, 20, 1.2),
            Logged("ebbrt_tuned", 524_288, 40, 1.2),
        ),
    ),
    "nodejs": Sweep(
        45_000, (_NO_LOAD,), (1.2, 1.5, 1.9, 2.3, 2.6, 2.9), (2, 4, 8, 16, 32, 40, 80), 3,
        (
            Logged("linux_default", _NO_LOAD),
            Logged("ebbrt_tuned", _NO_LOAD, 4, 2.9),
        ),
        limited=(75, 55),
    ),
}  # fmt: skip
_LARGE: dict[Workload, Sweep] = {
    "memcached": Sweep(
        20.0, (200_000, 400_000, 600_000), (1.2, 1.9, 2.4, 2.9), (50, 100, 200, 400), 3, None
    ),
    "memcached-silo": Sweep(20.0, (50_000, 100_000, 200_000), (1.9, 2.9), (100, 400), 3, None),
    "netpipe": Sweep(
        5000, (64, 8192, 65_536, 524_288), (1.2, 1.9, 2.9), (2, 10, 16, 20, 28, 40), 5, None
    ),
    "nodejs": Sweep(100_000, (_NO_LOAD,), (1.2, 1.9, 2.9), (2, 8, 16, 32, 80), 5, None),
}
SIZES: Final[dict[str, dict[Workload, Sweep]]] = {"tiny": _TINY, "small": _SMALL, "large": _LARGE}


def is_open_loop(run: Run) -> bool:
    """Whether a run's load is given and its latency the result."""
    return run.workload in OPEN_LOOP

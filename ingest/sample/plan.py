"""Which network runs a sample of each size holds, how long each runs, and which have logs."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np

from ingest.sample.network_model import Settings
from ingest.sample.parameters import System, Workload

ADAPTIVE_ITR: Final = 1
_TUNED: Final[tuple[System, ...]] = ("linux_tuned", "ebbrt_tuned")
# A library-OS run of this workload has no raw log format: it comes in the summary table only.
_NEVER_LOGGED: Final = ("ebbrt_tuned", "memcached-silo")
_FREE_W: Final = 135


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
        """Return the run's own source of randomness, whatever was made before it."""
        return generator(seed, self.key)


def generator(seed: int, name: str) -> np.random.Generator:
    """Return the random generator of one thing in the sample, by its name."""
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    return np.random.default_rng(np.random.SeedSequence([seed, number]))


# Load, delay, clock.
Setting = tuple[System, int, int, float | None]


@dataclass(frozen=True, slots=True)
class Sweep:
    """One workload's grid: every combination under both tuned systems, and the default.

    Attributes:
        logged: Settings whose first replicate has raw logs; None means all runs.
        limited: Power limits below 135 W at which the highest load runs, one replicate each.
    """

    amount: float
    loads: tuple[int, ...]
    dvfs_ghz: tuple[float, ...]
    itr: tuple[int, ...]
    replicates: int
    logged: tuple[Setting, ...] | None
    limited: tuple[int, ...] = ()

    def settings(self) -> Iterator[tuple[Setting, int]]:
        """List each setting and its power limit, in the order in which they are written."""
        for load in self.loads:
            yield ("linux_default", load, ADAPTIVE_ITR, None), _FREE_W
            for system, ghz, itr in product(_TUNED, self.dvfs_ghz, self.itr):
                yield (system, load, itr, ghz), _FREE_W
        for rapl_w, system, ghz in product(self.limited, _TUNED, self.dvfs_ghz):
            yield (system, self.loads[-1], self.itr[len(self.itr) // 2], ghz), rapl_w

    def replicates_of(self, number: int, rapl_w: int) -> int:
        """Repeat most settings alike, a few once or five times, as published sweeps do."""
        if rapl_w != _FREE_W:
            return 1
        if self.logged is not None and number % 13 == 5:
            return 5
        return 1 if self.logged is not None and number % 11 == 3 else self.replicates


def plan_runs(size: str) -> Iterator[Run]:
    """List the runs of a sample, in the order in which they are written."""
    for workload, sweep in SIZES[size].items():
        for number, (setting, rapl_w) in enumerate(sweep.settings()):
            system, load, itr, ghz = setting
            for replicate in range(sweep.replicates_of(number, rapl_w)):
                is_logged = (system, workload) != _NEVER_LOGGED and (
                    sweep.logged is None
                    or (replicate == 0 and rapl_w == _FREE_W and setting in sweep.logged)
                )
                yield Run(
                    workload, system, itr, ghz, rapl_w, load, replicate, sweep.amount, is_logged
                )


def _default(load: int) -> Setting:
    return "linux_default", load, ADAPTIVE_ITR, None


_TINY: Final[dict[Workload, Sweep]] = {
    "memcached": Sweep(
        0.1, (200_000, 600_000), (1.2, 2.0, 2.9), (2, 50, 100, 400), 3,
        (_default(200_000), ("linux_tuned", 200_000, 100, 2.9), ("ebbrt_tuned", 600_000, 400, 1.2)),
    ),
    "memcached-silo": Sweep(
        0.1, (50_000, 100_000), (1.2, 2.9), (50, 200), 2, (("linux_tuned", 50_000, 200, 2.9),)
    ),
    "netpipe": Sweep(
        5000, (64, 65_536), (1.2, 2.9), (2, 16, 40), 3,
        (_default(64), ("linux_tuned", 64, 16, 2.9), ("ebbrt_tuned", 64, 2, 1.2)),
    ),
    "nodejs": Sweep(
        20_000, (0,), (1.2, 2.0, 2.9), (2, 20, 60), 3,
        (("linux_tuned", 0, 20, 1.2), ("ebbrt_tuned", 0, 20, 2.9)),
    ),
}  # fmt: skip
_SMALL: Final[dict[Workload, Sweep]] = {
    "memcached": Sweep(
        0.5, (200_000, 400_000, 600_000), (1.2, 1.5, 1.9, 2.3, 2.6, 2.9),
        (2, 20, 50, 100, 200, 300, 400), 3,
        (
            _default(200_000), ("linux_tuned", 200_000, 50, 2.9),
            ("linux_tuned", 200_000, 200, 1.9), ("linux_tuned", 600_000, 200, 1.2),
            ("ebbrt_tuned", 200_000, 100, 1.2), ("ebbrt_tuned", 600_000, 200, 2.9),
        ),
        limited=(75, 55),
    ),
    "memcached-silo": Sweep(
        0.5, (50_000, 100_000, 200_000), (1.2, 1.9, 2.3, 2.9), (2, 50, 100, 200, 400), 2,
        (_default(50_000), ("linux_tuned", 100_000, 200, 2.3)),
    ),
    "netpipe": Sweep(
        5000, (64, 8192, 65_536, 524_288), (1.2, 1.5, 1.9, 2.4, 2.9), (2, 10, 16, 20, 28, 40), 3,
        (
            _default(64), _default(8192), ("linux_tuned", 8192, 16, 1.9),
            ("linux_tuned", 65_536, 20, 1.9), ("linux_tuned", 524_288, 28, 1.2),
            ("ebbrt_tuned", 64, 2, 2.9), ("ebbrt_tuned", 65_536, 20, 1.2),
            ("ebbrt_tuned", 524_288, 40, 1.2),
        ),
    ),
    "nodejs": Sweep(
        45_000, (0,), (1.2, 1.5, 1.9, 2.3, 2.6, 2.9), (2, 4, 8, 16, 32, 40, 80), 3,
        (_default(0), ("ebbrt_tuned", 0, 4, 2.9)), limited=(75, 55),
    ),
}  # fmt: skip
_LARGE: Final[dict[Workload, Sweep]] = {
    "memcached": Sweep(
        20.0, (200_000, 400_000, 600_000), (1.2, 1.9, 2.4, 2.9), (50, 100, 200, 400), 3, None
    ),
    "memcached-silo": Sweep(20.0, (50_000, 100_000, 200_000), (1.9, 2.9), (100, 400), 3, None),
    "netpipe": Sweep(
        5000, (64, 8192, 65_536, 524_288), (1.2, 1.9, 2.9), (2, 10, 16, 20, 28, 40), 5, None
    ),
    "nodejs": Sweep(100_000, (0,), (1.2, 1.9, 2.9), (2, 8, 16, 32, 80), 5, None),
}
SIZES: Final = {"tiny": _TINY, "small": _SMALL, "large": _LARGE}

"""The constants of the storage sweep's model: a dataclass each for machine, device and mode.

Published anchors: latency and IO rate of 4 KB random reads from one and eight threads (HotStorage
'22, table 1; within 1 % without noise); loads and stores by source with 32 threads (its table 2,
see `storage_functions.py`); the idle system draws 29 W, with the disk 39, with either flash device
31, with the low-latency device 34 W (HotStorage '20). All else was set by hand so that the
published findings come out.
"""

from dataclasses import dataclass
from typing import Final, Literal

Mode = Literal["interrupt", "poll", "hybrid"]
Access = Literal["randread", "randwrite"]

MODES: Final[tuple[Mode, ...]] = ("interrupt", "poll", "hybrid")
KIB: Final = 1024
BASE_BYTES: Final = 4 * KIB


@dataclass(frozen=True, slots=True)
class StorageMachine:
    """The server of the sweep.

    Attributes:
        cpus: Logical processors; that many can spin at once.
        idle_w: Power at the wall with no device under test.
        cpu_w: What a processor adds that works or spins.
        blend: Exponent p of latency = (alone^p + queued^p)^(1/p).
    """

    cpus: int = 16
    idle_w: float = 29.0
    cpu_w: float = 5.0
    blend: float = 1.804


@dataclass(frozen=True, slots=True)
class Completion:
    """What a completion mode costs, a request.

    Attributes:
        software_us: Latency that the kernel and the mode add to the device's.
        busy_us: Time that a processor works.
        spun: Share of the latency that it spins on top.
        between: Time between two requests of a thread that is no request's latency, as a share of
            the latency.
        wake_uj: Energy of going to sleep and waking: deep and through an interrupt, or shallow
            and through a timer.
        switches: Context switches.
        interrupts: Interrupts of the device.
    """

    software_us: float
    busy_us: float
    spun: float
    between: float
    wake_uj: float
    switches: int
    interrupts: int


@dataclass(frozen=True, slots=True)
class AccessCost:
    """What a device takes for one way of access.

    Attributes:
        media_us: Time of a 4 KB request in the device.
        share_us: Least time between two such requests, however many wait.
        bytes_us: Bytes a microsecond; what is beyond 4 KB adds to both times by it.
        request_uj: Energy of a request at the wall.
        byte_uj: Energy of a byte.
    """

    media_us: float
    share_us: float
    bytes_us: float
    request_uj: float
    byte_uj: float


@dataclass(frozen=True, slots=True)
class StorageDevice:
    """A device under test.

    Attributes:
        idle_w: What it adds to the idle system at the wall.
        modes: The kernel polls NVMe queues only.
        spread: Width of its latencies, as the deviation of their logarithm.
        meter_ahead_s: How far the meter's clock was ahead when it was swept.
    """

    idle_w: float
    modes: tuple[Mode, ...]
    read: AccessCost
    write: AccessCost
    spread: float
    meter_ahead_s: float

    def cost(self, access: Access) -> AccessCost:
        """What one way of access takes."""
        return self.read if access == "randread" else self.write


MACHINE: Final = StorageMachine()
COMPLETIONS: Final[dict[Mode, Completion]] = {
    "interrupt": Completion(4.1, 3.4, 0.0, 0.030, 46.0, 1, 1),
    "poll": Completion(2.1, 0.0, 1.0, 0.030, 0.0, 0, 0),
    "hybrid": Completion(2.5, 2.4, 0.45, 0.043, 46.0, 1, 0),
}
DEVICES: Final[dict[str, StorageDevice]] = {
    "disk": StorageDevice(
        10.0,
        ("interrupt",),
        AccessCost(5400.0, 3400.0, 190.0, 14_000.0, 1.0e-3),
        AccessCost(3100.0, 2600.0, 180.0, 9_000.0, 1.2e-3),
        0.30,
        26.2,
    ),
    "flash-a": StorageDevice(
        2.0,
        MODES,
        AccessCost(76.0, 1.6, 3100.0, 4.0, 1.1e-3),
        AccessCost(19.0, 2.4, 2100.0, 9.0, 3.2e-3),
        0.12,
        26.2,
    ),
    "flash-b": StorageDevice(
        2.0,
        MODES,
        AccessCost(108.0, 2.4, 2400.0, 3.0, 0.9e-3),
        AccessCost(27.0, 3.9, 1500.0, 7.0, 2.6e-3),
        0.15,
        26.2,
    ),
    "optane": StorageDevice(
        5.0,
        MODES,
        AccessCost(6.0, 1.292, 2500.0, 3.0, 1.2e-3),
        AccessCost(6.0, 1.292, 2050.0, 4.0, 2.9e-3),
        0.05,
        26.2,
    ),
}

"""Every constant of the sample's model, in tables: machine, workloads, storage devices and modes.

Times are microseconds of one core at its highest clock. The values were set by hand beside the
published tables; docs/sample.md says how near they come.
"""

from dataclasses import dataclass
from typing import Final, Literal

from data.models.energy import EnergyModel

System = Literal["linux_default", "linux_tuned", "ebbrt_tuned"]
Workload = Literal["memcached", "memcached-silo", "netpipe", "nodejs"]
Mode = Literal["interrupt", "poll", "hybrid"]
Access = Literal["randread", "randwrite"]

SYSTEMS: Final[dict[System, str]] = {
    "linux_default": "Linux default",
    "linux_tuned": "Linux tuned",
    "ebbrt_tuned": "Library OS",
}
WORKLOADS: Final[tuple[Workload, ...]] = ("memcached", "memcached-silo", "netpipe", "nodejs")
OPEN_LOOP: Final[frozenset[Workload]] = frozenset(("memcached", "memcached-silo"))

# The server of the network runs.
PACKAGES: Final = 2
CORES: Final = 16
TSC_KHZ: Final = 2_899_999
ENERGY_UNIT_J: Final = 2.0**-16
# Power of a package besides its cores, by their clock; and of a core that no work uses.
PACKAGE: Final = EnergyModel(static_w=13.0, dynamic_w=5.0)
UNUSED_CORE_W: Final = 0.6
SLOWEST_GHZ: Final = 1.2
FASTEST_GHZ: Final = 2.9
# The governor's share of the range of clocks: gain * (utilisation at the fastest)^power, at most 1.
GOVERNOR_GAIN: Final = 1.3
GOVERNOR_POWER: Final = 0.6
# Delays between which the driver's adaptive policy moves, and how often it takes each.
ADAPTIVE_US: Final = (10.0, 50.0)
ADAPTIVE_SHARE: Final = (0.92, 0.08)
# Requests that wait for one core at most.
RING: Final = 100
# Deviation of the logarithm between replicates.
ENERGY_NOISE: Final = 0.01
LATENCY_NOISE: Final = 0.01
TAIL_NOISE: Final = 0.03
TIME_NOISE: Final = 0.005
COUNTER_NOISE: Final = 0.005
INTERRUPT_NOISE: Final = 0.002


@dataclass(frozen=True, slots=True)
class Work:
    """A workload under a system.

    Attributes:
        core: Time and power of a core by its clock, for a microsecond of work.
        fixed_us: Latency that no setting of the server changes.
        request_us, interrupt_us: Work of a request (a round trip), and of an interrupt.
        events: Packets of a request that ask for an interrupt.
        ipc: Instructions a cycle.
        traffic: LLC misses, received descriptors and bytes, sent ones, of a request.
        slack_us: Part of an interrupt delay that costs a closed loop no time.
        byte_us: Work of a byte of a message, while others are on the wire.
        wire_bytes_us: Bytes a microsecond on the wire.
        event_bytes: Bytes of a message that ask for one more interrupt.
    """

    core: EnergyModel
    fixed_us: float
    request_us: float
    interrupt_us: float
    events: float
    ipc: float
    traffic: tuple[float, float, float, float, float]
    slack_us: float = 0.0
    byte_us: float = 0.0
    wire_bytes_us: float = 1220.0
    event_bytes: float = 3240.0


def _core(alpha: float, sleep_w: float) -> EnergyModel:
    return EnergyModel(alpha, 0.0, 0.2, 10.0, sleep_w, 0.0, 1.0, 1e6, "free")


_LINUX: Final[dict[Workload, Work]] = {
    "memcached":
        Work(_core(-0.05, 0.8), 29.0, 14.0, 0.6, 3.3, 0.47, (65.0, 1.3, 190.0, 3.0, 240.0)),
    "memcached-silo":
        Work(_core(-0.1, 0.8), 29.0, 39.0, 1.3, 3.3, 0.62, (410.0, 1.3, 195.0, 3.0, 210.0)),
    "netpipe":
        Work(_core(-0.05, 0.9), 23.0, 5.5, 0.93, 3.0, 0.60, (60, 1, 66, 1, 66), 16.0, 4e-4),
    "nodejs":
        Work(_core(0.0, 0.9), 10.0, 67.0, 1.2, 3.0, 0.43, (58.0, 1.0, 118.0, 3.0, 222.0), 22.0),
}  # fmt: skip
_LIBRARY_OS: Final[dict[Workload, Work]] = {
    "memcached":
        Work(_core(-0.15, 0.8), 28.0, 5.2, 0.9, 3.0, 0.36, (40.0, 1.25, 178.0, 2.75, 253.0)),
    "memcached-silo":
        Work(_core(-0.15, 0.8), 28.0, 27.0, 0.97, 3.0, 0.66, (330.0, 1.25, 183.0, 2.75, 222.0)),
    "netpipe":
        Work(_core(-0.15, 0.7), 17.0, 2.2, 0.38, 3.0, 0.40, (12, 2, 120, 1, 54), 12.0, 1.6e-4),
    "nodejs":
        Work(_core(-0.05, 0.7), 17.0, 34.0, 0.5, 2.2, 0.66, (12.0, 1.0, 108.0, 2.0, 209.0), 9.0),
}  # fmt: skip
WORK: Final[dict[System, dict[Workload, Work]]] = {
    "linux_default": _LINUX, "linux_tuned": _LINUX, "ebbrt_tuned": _LIBRARY_OS,
}  # fmt: skip

KIB: Final = 1024
BASE_BYTES: Final = 4 * KIB
# The server of the storage sweep: logical processors; power at the wall without a device, and what
# a busy processor adds; p of latency = (alone^p + queued^p)^(1/p).
CPUS: Final = 16
IDLE_W: Final = 29.0
CPU_W: Final = 5.0
BLEND: Final = 1.804
METER_AHEAD_S: Final = 26.2
STORAGE_LATENCY_NOISE: Final = 0.006
STORAGE_POWER_NOISE: Final = 0.008


@dataclass(frozen=True, slots=True)
class Completion:
    """What a completion mode costs a request.

    Attributes:
        software_us: Latency that the kernel and the mode add to the device's.
        busy_us: Work of a processor.
        spun: Share of the latency for which a processor spins besides.
        between: Time of a thread between two requests, as a share of the latency.
        wake_uj: Energy of sleeping and waking.
        switches, interrupts: Context switches, and interrupts of the device.
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
        media_us: Time of a 4 KiB request in the device.
        share_us: Least time between two such requests.
        bytes_us: Bytes a microsecond beyond 4 KiB.
        request_uj, byte_uj: Energy of a request and of a byte at the wall.
        work_us: Work of a processor beyond that of a read.
    """

    media_us: float
    share_us: float
    bytes_us: float
    request_uj: float
    byte_uj: float
    work_us: float = 0.0


@dataclass(frozen=True, slots=True)
class StorageDevice:
    """A device under test.

    Attributes:
        idle_w: What it adds to the idle system at the wall.
        modes: The kernel polls NVMe queues only.
        spread: Deviation of the logarithm of its latencies.
        starts_utc: When its sweep starts.
    """

    idle_w: float
    modes: tuple[Mode, ...]
    costs: dict[Access, AccessCost]
    spread: float
    starts_utc: str


COMPLETIONS: Final[dict[Mode, Completion]] = {
    "interrupt": Completion(4.1, 3.4, 0.0, 0.030, 46.0, 1, 1),
    "poll": Completion(2.1, 0.0, 1.0, 0.030, 0.0, 0, 0),
    "hybrid": Completion(2.5, 2.4, 0.45, 0.043, 46.0, 1, 0),
}
MODES: Final = tuple(COMPLETIONS)
DEVICES: Final[dict[str, StorageDevice]] = {
    "disk": StorageDevice(10.0, ("interrupt",), {
        "randread": AccessCost(5400.0, 3400.0, 190.0, 14_000.0, 1.0e-3),
        "randwrite": AccessCost(3100.0, 2600.0, 180.0, 9_000.0, 1.2e-3, 0.6),
    }, 0.30, "2022-03-15T13:00:00+00:00"),
    "flash-a": StorageDevice(2.0, MODES, {
        "randread": AccessCost(76.0, 1.6, 3100.0, 4.0, 1.1e-3),
        "randwrite": AccessCost(19.0, 2.4, 2100.0, 9.0, 3.2e-3, 0.6),
    }, 0.12, "2022-03-16T13:00:00+00:00"),
    "flash-b": StorageDevice(2.0, MODES, {
        "randread": AccessCost(108.0, 2.4, 2400.0, 3.0, 0.9e-3),
        "randwrite": AccessCost(27.0, 3.9, 1500.0, 7.0, 2.6e-3, 0.6),
    }, 0.15, "2022-03-17T13:00:00+00:00"),
    # It is swept over the night in which the clocks went forward at its place.
    "optane": StorageDevice(5.0, MODES, {
        "randread": AccessCost(6.0, 1.292, 2500.0, 3.0, 1.2e-3),
        "randwrite": AccessCost(6.0, 1.292, 2050.0, 4.0, 2.9e-3, 0.6),
    }, 0.05, "2022-03-13T06:30:00+00:00"),
}  # fmt: skip

"""The constants of the model: a dataclass each for machine, open-loop and closed-loop workload.

Work is counted in kilocycles at 1 GHz, so that kilocycles / GHz is microseconds. The values were
set by hand against the published per-run tables (memcached, node.js, NetPIPE under Linux and a
library OS): plausible next to them, not fitted to them.
"""

from dataclasses import dataclass, field
from typing import Final, Literal

System = Literal["linux_default", "linux_tuned", "ebbrt_tuned"]
Workload = Literal["memcached", "memcached-silo", "netpipe", "nodejs"]

SYSTEMS: Final[tuple[System, ...]] = ("linux_default", "linux_tuned", "ebbrt_tuned")
WORKLOADS: Final[tuple[Workload, ...]] = ("memcached", "memcached-silo", "netpipe", "nodejs")


@dataclass(frozen=True, slots=True)
class Machine:
    """The server that every sample run pretends to be: two packages of eight cores.

    Attributes:
        tsc_khz: Time-stamp counter ticks a millisecond; also the rate of the reference cycles.
        energy_unit_j: What one count of the package energy counter stands for.
        static_w: Power of a package that no frequency changes.
        busy_w, deep_w: B of a working core and of a core that is never used, at 1 GHz.
        beta: Power goes with D^(2 + beta).
        dvfs_min_ghz, dvfs_max_ghz: What the governor may choose from.
        governor_gain, governor_power: The governor's share of the range is
            gain * (utilisation at the fastest)^power, at most 1.
        adaptive_us, adaptive_share: Interrupt delays between which the driver's adaptive policy
            moves, and how often it takes each.
    """

    packages: int = 2
    cores_per_package: int = 8
    tsc_khz: int = 2_899_999
    energy_unit_j: float = 2.0**-16
    static_w: float = 16.2
    busy_w: float = 1.09
    deep_w: float = 0.12
    beta: float = 0.0
    dvfs_min_ghz: float = 1.2
    dvfs_max_ghz: float = 2.9
    governor_gain: float = 1.4
    governor_power: float = 1.15
    adaptive_us: tuple[float, float] = (10.0, 50.0)
    adaptive_share: tuple[float, float] = (0.92, 0.08)

    @property
    def cores(self) -> int:
        """All cores of all packages."""
        return self.packages * self.cores_per_package

    @property
    def adaptive_mean_us(self) -> float:
        """Mean interrupt delay under the adaptive policy."""
        return sum(d * s for d, s in zip(self.adaptive_us, self.adaptive_share, strict=True))


@dataclass(frozen=True, slots=True)
class Traffic:
    """What one request, or one message there and back, puts on the wire and through the caches.

    Attributes:
        ipc: Instructions a cycle.
        llc_misses: Misses of the last-level cache a request.
        rx_desc, rx_bytes, tx_desc, tx_bytes: NIC descriptors and bytes a request.
    """

    ipc: float
    llc_misses: float
    rx_desc: float
    rx_bytes: float
    tx_desc: float
    tx_bytes: float


@dataclass(frozen=True, slots=True)
class Sleep:
    """How a core rests between interrupts.

    Attributes:
        shallow_w, deep_w: Factor of D^(2 + beta) of a resting core in short and in long rests.
        depth_us: Mean rest at which its power is half way between the two.
        states: Whether the system reports C1, C1E and C3, or C7 only (library OS).
    """

    shallow_w: float
    deep_w: float
    depth_us: float
    states: bool


@dataclass(frozen=True, slots=True)
class OpenWork:
    """A workload whose load is given, spread over all cores of the machine.

    Attributes:
        alpha: Time of work goes with 1 / D^(1 + alpha); below 0 memory bounds it in part.
        request_k: Kilocycles a request.
        interrupt_k: Kilocycles an interrupt.
        wake_k: Kilocycles that a request costs more on a core that was asleep (cold caches,
            a context switch); times the share of time that the core rests.
        events: Events a request (packets in, packets sent) that ask for an interrupt.
        network_us: Latency that no setting of the server changes.
        path_k: Kilocycles on a request's critical path at the median.
        tail_k: Kilocycles that the 99th percentile has beyond the median with no load.
        queue_k: Kilocycles of queueing at the 99th percentile, times u^4 / (1 - u)^2.
        queue_limit_us: What queueing approaches when the load no longer fits.
        delay_factor: Worst wait for an interrupt, in interrupt delays.
    """

    alpha: float
    request_k: float
    interrupt_k: float
    wake_k: float
    events: float
    network_us: float
    path_k: float
    tail_k: float
    queue_k: float
    traffic: Traffic
    sleep: Sleep
    queue_limit_us: float = 9000.0
    delay_factor: float = 1.09


@dataclass(frozen=True, slots=True)
class ClosedWork:
    """A workload on one core in which the next request waits for the last one's answer.

    Attributes:
        alpha: As in OpenWork.
        fixed_us: The other machine's and the network's share of a round trip.
        wire_bytes_us: Bytes a microsecond on the wire; infinite where the message is small.
        path_k, path_byte_k, path_limit_k: Kilocycles on the critical path: a round trip, a byte,
            and at most so much for the bytes (the rest overlaps with the wire).
        work_k, work_8k_k: Kilocycles of all work: a round trip, and a message of 8,192 bytes;
            other sizes go with the power 0.72.
        interrupt_k: Kilocycles an interrupt, all of it on the critical path.
        events, event_bytes: Events a round trip that ask for an interrupt, and one more every so
            many bytes.
        interrupts_min: Interrupts that a round trip cannot do without.
        slack_us, slack_share: The part of an interrupt delay that costs no time: microseconds,
            and a share of the round trip.
    """

    alpha: float
    fixed_us: float
    path_k: float
    work_k: float
    interrupt_k: float
    events: float
    slack_us: float
    slack_share: float
    traffic: Traffic
    sleep: Sleep
    wire_bytes_us: float = float("inf")
    path_byte_k: float = 0.0
    path_limit_k: float = 0.0
    work_8k_k: float = 0.0
    event_bytes: float = float("inf")
    interrupts_min: float = 2.0


@dataclass(frozen=True, slots=True)
class Noise:
    """Spread between replicates: standard deviations of the logarithm."""

    energy: float = 0.01
    latency: float = 0.01
    tail: float = 0.03
    time: float = 0.005
    counters: float = 0.005


MACHINE: Final = Machine()
NOISE: Final = Noise()

_LINUX_16 = Sleep(shallow_w=0.41, deep_w=0.12, depth_us=1500.0, states=True)
_EBBRT_16 = Sleep(shallow_w=0.33, deep_w=0.12, depth_us=1500.0, states=False)
_LINUX_1 = Sleep(shallow_w=0.41, deep_w=0.08, depth_us=20.0, states=True)
_EBBRT_1 = Sleep(shallow_w=0.33, deep_w=0.08, depth_us=20.0, states=False)

_LINUX_OPEN: dict[Workload, OpenWork] = {
    "memcached": OpenWork(
        alpha=-0.05,
        request_k=30.0,
        interrupt_k=4.2,
        wake_k=16.0,
        events=3.3,
        network_us=29.0,
        path_k=48.0,
        tail_k=48.0,
        queue_k=80.0,
        traffic=Traffic(0.47, 65.0, 1.3, 190.0, 3.0, 240.0),
        sleep=_LINUX_16,
    ),
    "memcached-silo": OpenWork(
        alpha=-0.1,
        request_k=105.0,
        interrupt_k=4.5,
        wake_k=30.0,
        events=3.3,
        network_us=29.0,
        path_k=125.0,
        tail_k=330.0,
        queue_k=420.0,
        traffic=Traffic(0.62, 410.0, 1.3, 195.0, 3.0, 210.0),
        sleep=_LINUX_16,
    ),
}
_EBBRT_OPEN: dict[Workload, OpenWork] = {
    "memcached": OpenWork(
        alpha=-0.15,
        request_k=12.5,
        interrupt_k=2.6,
        wake_k=7.0,
        events=3.0,
        network_us=28.0,
        path_k=24.0,
        tail_k=38.0,
        queue_k=60.0,
        traffic=Traffic(0.36, 40.0, 1.25, 178.0, 2.75, 253.0),
        sleep=_EBBRT_16,
    ),
    "memcached-silo": OpenWork(
        alpha=-0.15,
        request_k=78.0,
        interrupt_k=2.8,
        wake_k=18.0,
        events=3.0,
        network_us=28.0,
        path_k=88.0,
        tail_k=240.0,
        queue_k=330.0,
        traffic=Traffic(0.66, 330.0, 1.25, 183.0, 2.75, 222.0),
        sleep=_EBBRT_16,
    ),
}
_LINUX_CLOSED: dict[Workload, ClosedWork] = {
    "netpipe": ClosedWork(
        alpha=-0.05,
        fixed_us=21.0,
        path_k=14.0,
        work_k=25.0,
        interrupt_k=2.7,
        events=3.0,
        slack_us=16.0,
        slack_share=0.0,
        traffic=Traffic(0.60, 60.0, 1.0, 66.0, 1.0, 66.0),
        sleep=_LINUX_1,
        wire_bytes_us=1210.0,
        path_byte_k=0.0016,
        path_limit_k=62.0,
        work_8k_k=38.0,
        event_bytes=3240.0,
    ),
    "nodejs": ClosedWork(
        alpha=0.0,
        fixed_us=8.0,
        path_k=196.0,
        work_k=196.0,
        interrupt_k=3.5,
        events=3.0,
        slack_us=2.0,
        slack_share=0.28,
        traffic=Traffic(0.43, 58.0, 1.0, 118.0, 3.0, 222.0),
        sleep=_LINUX_1,
    ),
}
_EBBRT_CLOSED: dict[Workload, ClosedWork] = {
    "netpipe": ClosedWork(
        alpha=-0.15,
        fixed_us=14.0,
        path_k=6.0,
        work_k=9.0,
        interrupt_k=1.1,
        events=3.0,
        slack_us=12.0,
        slack_share=0.0,
        traffic=Traffic(0.40, 12.0, 2.0, 120.0, 1.0, 54.0),
        sleep=_EBBRT_1,
        wire_bytes_us=1230.0,
        path_byte_k=0.0009,
        path_limit_k=24.0,
        work_8k_k=13.0,
        event_bytes=3240.0,
    ),
    "nodejs": ClosedWork(
        alpha=-0.05,
        fixed_us=17.0,
        path_k=100.0,
        work_k=100.0,
        interrupt_k=1.5,
        events=2.2,
        slack_us=2.0,
        slack_share=0.16,
        traffic=Traffic(0.66, 12.0, 1.0, 108.0, 2.0, 209.0),
        sleep=_EBBRT_1,
    ),
}


@dataclass(frozen=True, slots=True)
class SystemWork:
    """What the model knows of one system: its workloads, and what its settings stand for."""

    label: str
    open: dict[Workload, OpenWork] = field(default_factory=dict)
    closed: dict[Workload, ClosedWork] = field(default_factory=dict)


PARAMETERS: Final[dict[System, SystemWork]] = {
    "linux_default": SystemWork("Linux default", _LINUX_OPEN, _LINUX_CLOSED),
    "linux_tuned": SystemWork("Linux tuned", _LINUX_OPEN, _LINUX_CLOSED),
    "ebbrt_tuned": SystemWork("Library OS", _EBBRT_OPEN, _EBBRT_CLOSED),
}
OPEN_LOOP: Final = frozenset(_LINUX_OPEN)

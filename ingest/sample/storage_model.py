"""The stated model of the storage sweep: a configuration in, what it would measure out. Pure.

README.md writes the equations out. Times are microseconds, energies a request are microjoules.
"""

from dataclasses import dataclass

from ingest.sample.storage_parameters import (
    BASE_BYTES,
    COMPLETIONS,
    DEVICES,
    MACHINE,
    Access,
    AccessCost,
    Completion,
    Mode,
)


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
        switches_hz, interrupts_hz: Context switches and device interrupts a second.
    """

    latency_us: float
    iops: float
    power_w: float
    busy_cpus: float
    switches_hz: float
    interrupts_hz: float


def idle_power_w(device: str | None) -> float:
    """Power of the idle system at the wall, with a device or with none."""
    return MACHINE.idle_w + (DEVICES[device].idle_w if device else 0.0)


def expect(setting: StorageConfiguration) -> StorageOutcome:
    """Say what a run would measure."""
    cost = DEVICES[setting.device].cost(setting.access)
    completion = COMPLETIONS[setting.mode]
    latency_us = _latency_us(setting, cost, completion)
    rate = setting.threads / (latency_us * (1 + completion.between))
    busy_us = completion.busy_us + completion.spun * latency_us
    busy_cpus = min(rate * busy_us, float(min(MACHINE.cpus, setting.threads)))
    request_uj = completion.wake_uj + cost.request_uj + cost.byte_uj * setting.request_bytes
    iops = rate * 1e6
    return StorageOutcome(
        latency_us=latency_us,
        iops=iops,
        power_w=idle_power_w(setting.device) + MACHINE.cpu_w * busy_cpus + rate * request_uj,
        busy_cpus=busy_cpus,
        switches_hz=completion.switches * iops,
        interrupts_hz=completion.interrupts * iops,
    )


def _latency_us(setting: StorageConfiguration, cost: AccessCost, completion: Completion) -> float:
    """Alone, or queued behind what is scarcest: the device or the processors that spin."""
    beyond_us = max(setting.request_bytes - BASE_BYTES, 0) / cost.bytes_us
    alone_us = completion.software_us + cost.media_us + beyond_us
    if setting.threads == 1:
        return alone_us
    device_us = cost.share_us + beyond_us
    processor_us = (completion.busy_us + completion.spun * alone_us) / MACHINE.cpus
    queued_us = setting.threads * max(device_us, processor_us)
    return float((alone_us**MACHINE.blend + queued_us**MACHINE.blend) ** (1 / MACHINE.blend))

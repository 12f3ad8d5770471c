"""rx-usecs and rx-frames: a delay after a packet or so many packets, whichever is first."""

from dataclasses import replace
from types import SimpleNamespace

from data.errors import DataError
from data.models.parameters import ARRIVALS, COMMON, COUNT, DELAY, DROPS_INTERRUPT, INTERRUPT, TAKE
from data.models.scheme import Scheme
from data.models.simulation.machine import FIRST, NO_TIMER, Machine, machine_of

_FRAMES = replace(
    COUNT,
    default=32,
    range=(0, 65_536),
    sentence="Packets that raise one interrupt (rx-frames); 0: their number raises none.",
)


def _refuse(values: SimpleNamespace) -> None:
    if values.count == 0 and values.delay_us == 0:
        raise DataError("count is 0 and delay_us is 0; one of them must be above 0")
    if values.count > values.ring and values.delay_us == 0:
        raise DataError(
            f"count is {values.count}; without a delay it must be at most ring, {values.ring}"
        )


def _machine(values: SimpleNamespace) -> Machine:
    return machine_of(values, timer=FIRST if values.delay_us > 0 else NO_TIMER)


SCHEME = Scheme(
    name="rx_usecs_frames",
    title="rx-usecs and rx-frames",
    sentence="An interrupt a delay after the first packet or after so many packets, whichever "
    "is first: mlx5, ENA, virtio.",
    parameters=(
        *COMMON, INTERRUPT, replace(DELAY, default=16.0), _FRAMES, TAKE, DROPS_INTERRUPT, *ARRIVALS,
    ),
    formulas={"simulated": "Coalescing by time from the first packet, with a count beside it."},
    solutions={},
    machine=_machine,
    refuse=_refuse,
)  # fmt: skip

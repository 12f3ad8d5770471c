"""IRQ suspension: busy polling while there is work, deferral once there is none."""

from types import SimpleNamespace

from data.models.parameters import ARRIVALS, COMMON, INTERRUPT, POLL_OVERHEAD, REGISTER
from data.models.scheme import Point, Scheme
from data.models.schemes import deferral
from data.models.simulation.machine import SUSPEND


def _exact(rate: float, values: SimpleNamespace) -> Point:
    return deferral.solve_exact(rate, values, first_look_us=values.poll_overhead_us)


SCHEME = Scheme(
    name="irq_suspension",
    title="IRQ suspension",
    sentence="Interrupts stay suspended while looks find packets; the first empty look begins "
    "deferral (Linux 6.13).",
    parameters=(
        *COMMON, INTERRUPT, REGISTER, POLL_OVERHEAD, deferral.GAP, deferral.LOOKS, *ARRIVALS,
    ),
    formulas={
        "exact": "Deferral with one constant look at once when the ring is empty.",
        "simulated": "The same, event by event.",
    },
    solutions={"exact": _exact},
    machine=lambda values: deferral.machine(values, SUSPEND),
)  # fmt: skip

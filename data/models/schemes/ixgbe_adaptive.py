"""The ixgbe driver's adaptive ITR: after each poll the delay follows packets and sizes."""

from types import SimpleNamespace

from data.models.parameters import ARRIVALS, COMMON, INTERRUPT, REGISTER
from data.models.scheme import Scheme
from data.models.simulation.machine import IXGBE, THROTTLE, Machine, traffic_settings


def _machine(values: SimpleNamespace) -> Machine:
    return Machine(
        values.service_us,
        values.ring,
        interrupt_us=values.interrupt_us,
        register_us=values.register_us,
        masks=True,
        count=0,
        timer=THROTTLE,
        adapts=IXGBE,
        **traffic_settings(values),
    )


SCHEME = Scheme(
    name="ixgbe_adaptive",
    title="ixgbe adaptive",
    sentence="The ixgbe driver's default: an ITR throttle whose delay follows the packets and "
    "bytes of each poll, 10 to 126 us.",
    parameters=(*COMMON, INTERRUPT, REGISTER, *ARRIVALS),
    formulas={
        "simulated": "A feedback loop: ixgbe_update_itr after each poll at 10 Gb/s, receive only.",
    },
    solutions={},
    machine=_machine,
)

"""The ixgbe driver's adaptive ITR: after each poll the delay follows packets and sizes."""

from functools import partial

from data.models.parameters import ARRIVALS, COMMON, INTERRUPT, REGISTER
from data.models.scheme import Scheme
from data.models.simulation.machine import IXGBE, THROTTLE, machine_of

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
    machine=partial(machine_of, masks=True, count=0, timer=THROTTLE, adapts=IXGBE),
)

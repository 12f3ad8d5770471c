"""The schemes of interrupt handling; a scheme is one module and one line here."""

from data.models.scheme import Scheme
from data.models.schemes.busy_polling import SCHEME as BUSY_POLLING
from data.models.schemes.count_coalescing import SCHEME as COUNT_COALESCING
from data.models.schemes.deferral import SCHEME as DEFERRAL
from data.models.schemes.dim import SCHEME as DIM
from data.models.schemes.disable_enable import SCHEME as DISABLE_ENABLE
from data.models.schemes.hybrid import SCHEME as HYBRID
from data.models.schemes.ideal import SCHEME as IDEAL
from data.models.schemes.irq_suspension import SCHEME as IRQ_SUSPENSION
from data.models.schemes.itr_throttle import SCHEME as ITR_THROTTLE
from data.models.schemes.ixgbe_adaptive import SCHEME as IXGBE_ADAPTIVE
from data.models.schemes.napi import SCHEME as NAPI
from data.models.schemes.normal import SCHEME as NORMAL
from data.models.schemes.pure_polling import SCHEME as PURE_POLLING
from data.models.schemes.rx_usecs_frames import SCHEME as RX_USECS_FRAMES
from data.models.schemes.time_coalescing import SCHEME as TIME_COALESCING

ALL: tuple[Scheme, ...] = (
    IDEAL, NORMAL, DISABLE_ENABLE, PURE_POLLING, NAPI, COUNT_COALESCING, TIME_COALESCING, HYBRID,
    ITR_THROTTLE, RX_USECS_FRAMES, DEFERRAL, BUSY_POLLING, IRQ_SUSPENSION, DIM, IXGBE_ADAPTIVE,
)  # fmt: skip

"""What a parameter is, and those that schemes share, with the defaults of the study of 2007."""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from data.errors import DataError

Value = float | int | bool | str
_LONGEST_US: Final = 1e6


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a scheme.

    Attributes:
        unit: Empty for counts and choices.
        range: Least and greatest value of a number, both allowed; the values of a choice.
        sentence: What it is, for people.
    """

    name: str
    unit: str
    default: Value
    range: tuple[Value, ...]
    sentence: str

    @property
    def is_choice(self) -> bool:
        """Whether it takes one of a few words, or yes and no."""
        return isinstance(self.default, str | bool)

    def check(self, value: Any) -> Value:
        """Return a value as this parameter's type.

        Raises:
            DataError: It is of another type or out of range.
        """
        if self.is_choice:
            if isinstance(value, str | bool | np.bool_) and value in self.range:
                return bool(value) if isinstance(self.default, bool) else str(value)
            raise DataError(f"{self.name} is {value!r}; it must be one of {list(self.range)}")
        low, high = (float(end) for end in self.range)
        try:
            number = math.nan if isinstance(value, str | bool) else float(value)
        except (TypeError, ValueError):
            number = math.nan
        is_whole = isinstance(self.default, int)
        if not low <= number <= high or (is_whole and number != int(number)):
            kind = "a whole number" if is_whole else "a number"
            unit = f" {self.unit}" if self.unit else ""
            raise DataError(
                f"{self.name} is {value!r}; it must be {kind} from {low:g} to {high:g}{unit}"
            )
        return int(number) if is_whole else number


SERVICE: Final = Parameter(
    "service_us", "us", 5.34, (1e-3, _LONGEST_US),
    "Mean protocol processing of one 64-byte packet, without interruptions.",
)  # fmt: skip
INTERRUPT: Final = Parameter(
    "interrupt_us", "us", 3.73, (0.0, _LONGEST_US),
    "Mean cost of one interrupt: entry, handler and return.",
)  # fmt: skip
REGISTER: Final = Parameter(
    "register_us", "us", 0.5, (0.0, _LONGEST_US),
    "One write to the interface's interrupt mask register.",
)  # fmt: skip
RING: Final = Parameter(
    "ring", "", 1024, (1, 65_536),
    "Packets that fit in the receive ring, the one being processed included.",
)  # fmt: skip
POLL_PERIOD: Final = Parameter(
    "poll_period_us", "us", 20.0, (1e-3, _LONGEST_US),
    "Time between two ticks of the polling timer.",
)  # fmt: skip
POLL_OVERHEAD: Final = Parameter(
    "poll_overhead_us", "us", 1.59, (0.0, _LONGEST_US), "Mean overhead of one poll.",
)  # fmt: skip
QUOTA: Final = Parameter(
    "quota", "", 3, (1, 65_536), "Packets that one poll may process.",
)  # fmt: skip
COUNT: Final = Parameter(
    "count", "", 8, (1, 65_536), "Packets that raise one interrupt.",
)  # fmt: skip
DELAY: Final = Parameter(
    "delay_us", "us", 50.0, (0.0, _LONGEST_US), "Delay of the coalescing timer.",
)  # fmt: skip
TIMER: Final = Parameter(
    "timer", "", "first", ("first", "free", "throttle"),
    "When the timer runs: from the first packet after an interrupt, always, or since the last "
    "interrupt, as Intel's ITR.",
)  # fmt: skip
TAKE: Final = Parameter(
    "take", "", "visible", ("visible", "gated"),
    "What protocol work may take: all packets in the ring, or those that an interrupt announced.",
)  # fmt: skip
SETUP: Final = Parameter(
    "setup", "", "joint", ("joint", "parts"),
    "Whether set-up and first packet are one exponential time, or the register write, the "
    "interrupt and the packet are drawn apart.",
)  # fmt: skip
DROPS_INTERRUPT: Final = Parameter(
    "drops_interrupt", "", True, (False, True),
    "Whether a packet that the full ring drops still raises an interrupt.",
)  # fmt: skip
SWITCH: Final = Parameter(
    "switch_kpps", "Kpps", 120.0, (1e-3, 1e6),
    "Throughput above which the hybrid scheme polls; it returns below 95 % of it.",
)  # fmt: skip
TICKS: Final = Parameter(
    "ticks", "", "flag", ("flag", "count"),
    "Whether ticks that come during a batch are one flag or are counted.",
)  # fmt: skip
WAIT: Final = Parameter(
    "wait", "", "upper", ("upper", "mean"),
    "The formula's wait for a tick: the whole period, its upper bound, or half of it, its mean.",
)  # fmt: skip
PROFILES: Final = Parameter(
    "profiles", "", "event", ("event", "completion"),
    "The table of delays and counts: the timer starts at the last interrupt (event) or again at "
    "each packet (completion).",
)  # fmt: skip
TRAFFIC: Final = Parameter(
    "traffic", "", "poisson", ("poisson", "bursty"),
    "Poisson arrivals, or 8 ON/OFF sources with heavy tails on a link of 1 Gb/s.",
)  # fmt: skip
READING: Final = Parameter(
    "reading", "", "true_load", ("true_load", "nominal", "fitting_only"),
    "Bursty traffic: OFF times that give the stated load, OFF times by the published formula, or "
    "that and only frames that fit in the ON time.",
)  # fmt: skip
LINK: Final = Parameter(
    "link", "", "open", ("open", "shared"),
    "Bursty traffic: whether the sources' sum may exceed 1 Gb/s or queues for one link.",
)  # fmt: skip

COMMON: Final = (SERVICE, RING)
ARRIVALS: Final = (TRAFFIC, READING, LINK)
KNOWN: Final = frozenset(
    parameter.name
    for parameter in (
        *COMMON, INTERRUPT, REGISTER, POLL_PERIOD, POLL_OVERHEAD, QUOTA, COUNT, DELAY, TIMER, TAKE,
        SETUP, DROPS_INTERRUPT, SWITCH, TICKS, WAIT, PROFILES, *ARRIVALS,
    )
)  # fmt: skip

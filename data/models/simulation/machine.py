"""What the simulator runs: a machine's settings, and the record of its state.

A scheme is a choice of settings. The kernel reads settings and state from one NumPy record, so that
a simulation can stop and go on.
"""

from dataclasses import asdict, dataclass
from types import SimpleNamespace
from typing import Any, Final

import numpy as np

# `timer`: when the coalescing timer is armed.
NO_TIMER, FIRST, FREE, THROTTLE, LAST = range(5)
TIMERS: Final = {"first": FIRST, "free": FREE, "throttle": THROTTLE}
# `polls`: when the polling timer ticks.
NO_POLLS, ALWAYS, AFTER_INTERRUPT, ABOVE_SWITCH = range(4)
# `when_empty`: what a masked interface does once the ring is empty.
UNMASK, DEFER, LOOK, SUSPEND = range(4)
# `adapts`: who changes the delay.
NOBODY, DIM, IXGBE = range(3)
# `setup`: how an interrupt and the first packet's work are drawn.
PARTS, JOINT = range(2)
# `traffic`
POISSON, BURSTY = range(2)
# `reading` of bursty traffic
TRUE_LOAD, NOMINAL, FITTING_ONLY = range(3)
READINGS: Final = {"true_load": TRUE_LOAD, "nominal": NOMINAL, "fitting_only": FITTING_ONLY}


@dataclass(frozen=True, slots=True)
class Machine:
    """The settings of one machine; times in microseconds.

    Attributes:
        interrupts: Whether the interface raises interrupts at all.
        masks: Whether an interrupt masks further ones until the ring is empty; else only while
            it runs.
        count: Packets that raise an interrupt; 0: the count raises none.
        delay_us: Of the coalescing timer.
        gated: Whether protocol work takes only packets that an interrupt announced.
        counts_ticks: Whether ticks during a batch are counted, not one flag.
        look_delay_us: Time before an idle machine looks into the ring.
        looks: Empty looks in a row after which interrupts are unmasked.
        completions: Of DIM: its table for a timer that starts at each packet.
    """

    service_us: float
    ring: int
    interrupt_us: float = 0.0
    register_us: float = 0.0
    interrupts: bool = True
    setup: int = PARTS
    masks: bool = False
    count: int = 1
    delay_us: float = 0.0
    timer: int = NO_TIMER
    gated: bool = False
    drops_interrupt: bool = True
    polls: int = NO_POLLS
    poll_period_us: float = 0.0
    poll_overhead_us: float = 0.0
    quota: int = 1
    counts_ticks: bool = False
    switch: float = 0.0
    when_empty: int = UNMASK
    look_delay_us: float = 0.0
    looks: int = 1
    adapts: int = NOBODY
    completions: bool = False
    traffic: int = POISSON
    reading: int = TRUE_LOAD
    shared_link: bool = False


_KINDS: Final = {float: np.float64, int: np.int64, bool: np.int64}
STATE: Final = np.dtype(
    [
        *[(name, _KINDS[kind]) for name, kind in Machine.__annotations__.items()],
        ("rate", np.float64),
        # Clocks: infinity where nothing is due.
        *[
            (name, np.float64)
            for name in (
                "now", "arrival_at", "work_at", "urgent_at", "timer_at", "tick_at", "window_at",
                "work_left", "last_interrupt",
            )
        ],
        # How many draws of each stream are used.
        ("drawn_0", np.int64), ("drawn_1", np.int64), ("drawn_2", np.int64),
        # The next draws of protocol work and of interrupts; the head packet's time to copy.
        ("work_draw", np.float64), ("urgent_draw", np.float64), ("head_copy_us", np.float64),
        # The packet that arrives next, and the link of bursty traffic.
        ("frame_bytes", np.float64), ("link_free", np.float64), ("mean_off", np.float64),
        # What the CPU and the interface do.
        *[
            (name, np.int64)
            for name in (
                "packets", "head", "working", "is_first", "urgent", "waiting_ticks",
                "waiting_interrupt", "enabled", "counted", "announced", "is_polled", "processing",
                "mode", "quota_left", "looked", "window_served",
            )
        ],
        # Adaptive delays.
        *[
            (name, np.float64)
            for name in (
                "sample_at", "sample_packets", "sample_bytes", "sample_events", "dim_bytes",
                "dim_packets", "dim_events", "dim_state", "dim_profile", "dim_left", "dim_right",
                "dim_tired", "is_latency",
            )
        ],
        # Totals since the last reset.
        *[
            (name, np.float64)
            for name in (
                "since", "arrived", "lost", "served", "served_bytes", "raised", "events",
                "urgent_time", "work_time", "first_time", "packet_time", "latency_sum",
            )
        ],
    ]
)  # fmt: skip
TOTALS: Final = STATE.names[STATE.names.index("arrived") :]  # type: ignore[union-attr,index]


def new_state(machine: Machine, rate: float) -> np.ndarray:
    """Return the state of a machine before it begins; shape (1,)."""
    state = np.zeros(1, STATE)
    for name, value in asdict(machine).items():
        state[name] = value
    state["rate"] = rate
    for clock in ("work_at", "urgent_at", "timer_at", "tick_at", "window_at"):
        state[clock] = np.inf
    state["last_interrupt"] = -np.inf
    return state


def reset_totals(state: np.ndarray) -> None:
    """Forget what was counted so far; the machine goes on as it is."""
    for name in TOTALS:
        if name != "events":
            state[name] = 0.0
    state["since"] = state["now"]


def machine_of(values: SimpleNamespace, **settings: Any) -> Machine:
    """Return the machine of a scheme.

    Args:
        values: The scheme's parameters. Numbers with the name of a setting are that setting.
        settings: What the scheme sets itself.
    """
    given = vars(values)
    names = {
        "setup": JOINT if given.get("setup") == "joint" else PARTS,
        "gated": given.get("take") == "gated",
        "counts_ticks": given.get("ticks") == "count",
        "completions": given.get("profiles") == "completion",
        "traffic": BURSTY if values.traffic == "bursty" else POISSON,
        "reading": READINGS[values.reading],
        "shared_link": values.link == "shared",
    }
    numbers = {
        name: value
        for name, value in given.items()
        if name in Machine.__annotations__ and not isinstance(value, str)
    }
    return Machine(**numbers | names | settings)

"""What the machine does at an event: interface, interrupts, polls, protocol work.

Functions on the state record alone, compiled. A draw that is taken leaves infinity behind, for the
event loop to fill; no event takes two of one stream.
"""

import math
from typing import Any

from numba import njit

from data.models.simulation.adaptation import after_interrupt, after_poll
from data.models.simulation.machine import (
    AFTER_INTERRUPT,
    BURSTY,
    DEFER,
    DIM,
    FIRST,
    FREE,
    IXGBE,
    JOINT,
    LAST,
    LOOK,
    NO_POLLS,
    SUSPEND,
    THROTTLE,
    UNMASK,
)
from data.models.simulation.traffic import COPY_64_US

# `urgent`: what runs at interrupt level.
NOTHING, _INTERRUPT, _TICK, _LOOK, _BUSY_LOOK = range(5)
# The hybrid scheme measures its throughput over such windows.
WINDOW_US = 10_000.0
_BACK = 0.95


@njit(cache=True, nogil=True, error_model="numpy")
def _urgent_us(s: Any, mean_us: float) -> float:
    """Draw an exponential time of interrupt-level work."""
    found = mean_us * s.urgent_draw
    s.urgent_draw = math.inf
    return float(found)


# ---- the interface


@njit(cache=True, nogil=True, error_model="numpy")
def on_arrival(s: Any, is_taken: bool) -> None:
    """Handle a packet that was put into the ring, or dropped."""
    if not s.interrupts:
        if s.polls == NO_POLLS and s.when_empty == UNMASK and not s.working:
            start_work(s)
        return
    is_ready = s.enabled if s.masks else s.urgent == NOTHING
    if not is_ready or not (is_taken or s.drops_interrupt):
        return
    s.counted += 1
    if s.count > 0 and s.counted >= s.count:
        _raise(s)
    elif s.timer == FIRST:
        if s.timer_at == math.inf:
            s.timer_at = s.now + s.delay_us
    elif s.timer == LAST:
        s.timer_at = s.now + s.delay_us
    elif s.timer == THROTTLE:
        due = s.last_interrupt + s.delay_us
        if s.now >= due:
            _raise(s)
        elif s.timer_at == math.inf:
            s.timer_at = due


@njit(cache=True, nogil=True, error_model="numpy")
def _raise(s: Any) -> None:
    """Raise an interrupt; behind other interrupt-level work it waits."""
    s.counted = 0
    s.enabled = 0
    s.last_interrupt = s.now
    s.raised += 1
    if s.timer != FREE:
        s.timer_at = math.inf
    if s.adapts == DIM:
        after_interrupt(s)
    if s.setup == JOINT:
        s.is_first = 1
        start_work(s)
    elif s.urgent != NOTHING:
        s.waiting_interrupt = 1
    else:
        _start_urgent(s, _INTERRUPT, s.register_us + _urgent_us(s, s.interrupt_us))


# ---- interrupt level


@njit(cache=True, nogil=True, error_model="numpy")
def _start_urgent(s: Any, kind: int, time_us: float) -> None:
    if s.working:
        s.work_left = s.work_at - s.now
        s.work_at = math.inf
    s.urgent = kind
    s.urgent_at = s.now + time_us


@njit(cache=True, nogil=True, error_model="numpy")
def on_urgent_end(s: Any) -> None:
    """Handle the end of an interrupt, of a poll's overhead, or of a look into the ring."""
    kind = s.urgent
    s.urgent = NOTHING
    s.urgent_at = math.inf
    if s.working:
        s.work_at = s.now + s.work_left
    if kind == _INTERRUPT:
        s.announced = s.packets
        if s.polls == AFTER_INTERRUPT:
            s.tick_at = s.now + s.poll_period_us
    if kind in (_INTERRUPT, _TICK):
        if s.is_polled:
            _tick(s)
        elif kind == _INTERRUPT and not s.working and s.packets > 0:
            start_work(s)
    elif s.packets > 0:
        start_work(s)
    else:
        _looked_in_vain(s, kind)
    if s.urgent == NOTHING:
        if s.waiting_interrupt:
            s.waiting_interrupt = 0
            _start_urgent(s, _INTERRUPT, s.register_us + _urgent_us(s, s.interrupt_us))
        elif s.waiting_ticks:
            s.waiting_ticks -= 1
            _start_urgent(s, _TICK, _urgent_us(s, s.poll_overhead_us))


# ---- protocol work


@njit(cache=True, nogil=True, error_model="numpy")
def start_work(s: Any) -> None:
    """Begin the packet at the head of the ring; under interrupt-level work it waits."""
    mean_us = s.service_us
    if s.is_first:
        mean_us += s.register_us + s.interrupt_us
    if s.traffic == BURSTY:
        mean_us -= COPY_64_US
    time_us = s.head_copy_us + mean_us * s.work_draw
    s.work_draw = math.inf
    s.working = 1
    if s.urgent == NOTHING:
        s.work_at = s.now + time_us
    else:
        s.work_left = time_us


@njit(cache=True, nogil=True, error_model="numpy")
def on_departure(s: Any) -> None:
    """Handle the end of a packet's work, after the packet was taken out of the ring."""
    s.window_served += 1
    s.working, s.is_first = 0, 0
    s.work_at = math.inf
    if s.is_polled:
        s.quota_left -= 1
        if s.packets > 0 and s.quota_left > 0:
            start_work(s)
        else:
            _end_batch(s)
        return
    s.announced -= 1
    if s.packets == 0:
        rest(s)
    elif not s.gated or s.announced > 0:
        start_work(s)


@njit(cache=True, nogil=True, error_model="numpy")
def rest(s: Any) -> None:
    """Do what the machine does once the ring is empty and nothing is processed."""
    if s.adapts == IXGBE:
        after_poll(s)
    if s.when_empty == UNMASK:
        s.enabled = 1
    elif s.when_empty == DEFER:
        s.enabled, s.looked = 0, 0
        s.timer_at = s.now + s.look_delay_us
    elif s.when_empty == SUSPEND:
        s.enabled = 0
        _start_urgent(s, _BUSY_LOOK, s.poll_overhead_us)
    else:
        _look_on(s)


@njit(cache=True, nogil=True, error_model="numpy")
def _look_on(s: Any) -> None:
    """Look until the next packet is there: as many looks as that takes, in one event."""
    time_us = max(0.0, s.arrival_at - s.now)
    if s.poll_overhead_us > 0:
        time_us = max(1.0, math.ceil(time_us / s.poll_overhead_us)) * s.poll_overhead_us
    _start_urgent(s, _BUSY_LOOK, time_us)


@njit(cache=True, nogil=True, error_model="numpy")
def _looked_in_vain(s: Any, kind: int) -> None:
    if s.when_empty == LOOK:
        _look_on(s)
        return
    s.looked = s.looked + 1 if kind == _LOOK else 0
    if s.looked >= s.looks:
        s.enabled = 1
    else:
        s.timer_at = s.now + s.look_delay_us


# ---- polling


@njit(cache=True, nogil=True, error_model="numpy")
def _tick(s: Any) -> None:
    s.mode = s.mode + 1 if s.counts_ticks else 1
    if not s.processing:
        _end_batch(s)


@njit(cache=True, nogil=True, error_model="numpy")
def _end_batch(s: Any) -> None:
    """Go on with the next batch if a tick asked for it and there is work; else stop."""
    if s.mode > 0 and s.packets > 0:
        s.processing = 1
        s.mode = s.mode - 1 if s.counts_ticks else 0
        s.quota_left = s.quota
        start_work(s)
        return
    s.mode, s.processing = 0, 0
    if s.polls == AFTER_INTERRUPT and s.packets == 0:
        s.tick_at = math.inf
        s.enabled = 1


# ---- timers


@njit(cache=True, nogil=True, error_model="numpy")
def on_timers(s: Any) -> None:
    """Handle the timer that is due."""
    if s.timer_at <= s.now:
        _on_timer(s)
    elif s.tick_at <= s.now:
        s.tick_at += s.poll_period_us
        if s.urgent == NOTHING:
            _start_urgent(s, _TICK, _urgent_us(s, s.poll_overhead_us))
        else:
            s.waiting_ticks += 1
    else:
        _on_window(s)


@njit(cache=True, nogil=True, error_model="numpy")
def _on_timer(s: Any) -> None:
    s.timer_at = s.now + s.delay_us if s.timer == FREE else math.inf
    if s.when_empty == DEFER or s.when_empty == SUSPEND:
        _start_urgent(s, _LOOK, _urgent_us(s, s.poll_overhead_us))
    elif s.counted > 0 and (s.enabled or not s.masks) and s.urgent == NOTHING:
        _raise(s)


@njit(cache=True, nogil=True, error_model="numpy")
def _on_window(s: Any) -> None:
    """Change sides, for the hybrid scheme, by the throughput of the last window."""
    rate = s.window_served / WINDOW_US
    s.window_served = 0
    s.window_at += WINDOW_US
    if not s.is_polled and rate >= s.switch:
        s.is_polled, s.enabled, s.mode = 1, 0, 0
        s.processing, s.quota_left = s.working, s.quota
        s.tick_at = s.now + s.poll_period_us
    elif s.is_polled and rate < _BACK * s.switch:
        s.is_polled, s.processing, s.mode = 0, 0, 0
        s.tick_at = math.inf
        if s.packets == 0:
            s.enabled = 1
        elif not s.working:
            start_work(s)

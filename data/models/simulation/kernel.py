"""The event loop: what happens next, the packets in the ring, their latencies.

One CPU: interrupt-level work (first in, first out, not preempted) before protocol work
(preempted, resumed where it was) before users. What a scheme does at an event is in `reactions.py`.
"""

import math
from typing import Any

import numpy as np
from numba import njit

from data.models.simulation.machine import (
    ABOVE_SWITCH,
    AFTER_INTERRUPT,
    ALWAYS,
    BURSTY,
    FREE,
    UNMASK,
)
from data.models.simulation.reactions import (
    NOTHING,
    WINDOW_US,
    on_arrival,
    on_departure,
    on_timers,
    on_urgent_end,
    rest,
    start_work,
)
from data.models.simulation.traffic import COPY_US_PER_BYTE, FRAME_BYTES, next_frame

# Latencies are counted in bins: 128 to a factor of two, by the bits of the number.
BINS_PER_OCTAVE = 128
LATENCY_BINS = 60 * BINS_PER_OCTAVE
LEAST_EXPONENT = -20
_SHIFT = 45
_FIRST_BITS = (1023 + LEAST_EXPONENT) << 7
# A batch of the series from which the warm-up is found.
BATCH = 5
# No event takes more draws of one stream.
SPARE_DRAWS = 512
OF_ARRIVALS, OF_WORK, OF_URGENT = range(3)


@njit(cache=True, nogil=True, error_model="numpy")
def begin(
    state: np.ndarray, apart_us: float, arrivals: np.ndarray, copies: np.ndarray, traffic: Any,
    draws: np.ndarray,
) -> None:  # fmt: skip
    """Set the machine to work, with an empty or a full ring.

    Args:
        state: The record, shape (1,).
        apart_us: How far apart the packets of a full ring arrived; 0: an empty ring.
        arrivals: When each packet in the ring arrived, shape (ring,).
        copies: Its time to copy, us, beside the exponential part; shape (ring,).
        traffic: What `next_frame` takes: sources, sizes, their cumulated shares.
        draws: Standard exponential draws of three streams: arrivals, protocol work, interrupts;
            shape (3, draws).
    """
    s = state[0]
    s.enabled = 1
    s.is_polled = 1 if s.polls in (ALWAYS, AFTER_INTERRUPT) else 0
    if s.polls == ALWAYS:
        s.tick_at = s.poll_period_us
    if s.polls == ABOVE_SWITCH:
        s.window_at = WINDOW_US
    if s.timer == FREE and s.delay_us > 0:
        s.timer_at = s.delay_us
    s.frame_bytes = FRAME_BYTES
    is_full = apart_us > 0
    if is_full:
        for slot in range(s.ring):
            arrivals[slot] = (slot + 1 - s.ring) * apart_us
        s.head_copy_us = FRAME_BYTES * COPY_US_PER_BYTE if s.traffic == BURSTY else 0.0
        copies[:] = s.head_copy_us
        s.packets, s.announced, s.enabled, s.processing = s.ring, s.ring, 0, 1
        s.quota_left = s.quota
        if s.polls == AFTER_INTERRUPT:
            s.tick_at = s.poll_period_us
    s.work_draw, s.urgent_draw = math.inf, math.inf
    _replace_draws(s, draws)
    if s.traffic == BURSTY:
        next_frame(s, traffic[0], traffic[1], traffic[2], draws)
    else:
        s.arrival_at = draws[OF_ARRIVALS, s.drawn_0] / s.rate
        s.drawn_0 += 1
    if is_full:
        start_work(s)
    elif s.when_empty != UNMASK:
        rest(s)
    _replace_draws(s, draws)


@njit(cache=True, nogil=True, error_model="numpy")
def _replace_draws(s: Any, draws: np.ndarray) -> None:
    """Fill in the next draws where an event has taken them."""
    if s.work_draw == math.inf:
        s.work_draw = draws[OF_WORK, s.drawn_1]
        s.drawn_1 += 1
    if s.urgent_draw == math.inf:
        s.urgent_draw = draws[OF_URGENT, s.drawn_2]
        s.drawn_2 += 1


@njit(cache=True, nogil=True, error_model="numpy")
def run(
    state: np.ndarray, served: float, most_events: float, arrivals: np.ndarray,
    copies: np.ndarray, latency_counts: np.ndarray, series: np.ndarray, traffic: Any,
    draws: np.ndarray,
) -> None:  # fmt: skip
    """Go on until so many packets are served in all, or so many events have happened.

    It also stops where a stream of draws has no more than SPARE_DRAWS left.

    Args:
        latency_counts: Packets by latency bin, added to; shape (LATENCY_BINS,).
        series: Sums of the latencies of each BATCH packets served, shape (batches,).
    """
    s = state[0]
    last = draws.shape[1] - SPARE_DRAWS
    is_bursty = s.traffic == BURSTY
    while (
        s.served < served and s.events < most_events
        and s.drawn_0 < last and s.drawn_1 < last and s.drawn_2 < last
    ):  # fmt: skip
        s.events += 1
        cpu_at = s.work_at if s.urgent == NOTHING else s.urgent_at
        timer_at = min(s.timer_at, s.tick_at, s.window_at)
        at = min(s.arrival_at, cpu_at, timer_at)
        time = at - s.now
        s.now = at
        s.packet_time += s.packets * time
        if s.urgent != NOTHING:
            s.urgent_time += time
        elif s.is_first:
            s.first_time += time
        elif s.working:
            s.work_time += time
        if timer_at < s.arrival_at and timer_at < cpu_at:
            on_timers(s)
        elif s.arrival_at <= cpu_at:
            is_taken = s.packets < s.ring
            if is_taken:
                slot = s.head + s.packets
                if slot >= s.ring:
                    slot -= s.ring
                arrivals[slot] = at
                if is_bursty:
                    copies[slot] = s.frame_bytes * COPY_US_PER_BYTE
                    s.head_copy_us = copies[s.head]
                s.packets += 1
            else:
                s.lost += 1
            s.arrived += 1
            if is_bursty:
                next_frame(s, traffic[0], traffic[1], traffic[2], draws)
            else:
                s.arrival_at = at + draws[OF_ARRIVALS, s.drawn_0] / s.rate
                s.drawn_0 += 1
            on_arrival(s, is_taken)
        elif s.urgent == NOTHING:
            latency_us = at - arrivals[s.head]
            s.latency_sum += latency_us
            place: Any = (np.float64(latency_us).view(np.int64) >> _SHIFT) - _FIRST_BITS
            place = min(max(place, 0), LATENCY_BINS - 1)
            latency_counts[place] += 1
            batch = int(s.served) // BATCH
            if batch < len(series):
                series[batch] += latency_us
            s.served += 1
            s.served_bytes += copies[s.head] / COPY_US_PER_BYTE if is_bursty else FRAME_BYTES
            s.packets -= 1
            s.head += 1
            if s.head == s.ring:
                s.head = 0
            s.head_copy_us = copies[s.head]
            on_departure(s)
        else:
            on_urgent_end(s)
        _replace_draws(s, draws)

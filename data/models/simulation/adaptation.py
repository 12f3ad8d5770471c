"""Delays that follow the traffic: Linux's DIM (net_dim) and the ixgbe driver's own rule."""

import math
from typing import Any

import numpy as np
from numba import njit

from data.models.simulation.machine import LAST, THROTTLE

# Delay in us and packets of each profile, by the moment at which the timer starts.
EVENT_PROFILES = np.array(
    [[1.0, 256.0], [8.0, 256.0], [64.0, 256.0], [128.0, 256.0], [256.0, 256.0]]
)
COMPLETION_PROFILES = np.array(
    [[2.0, 256.0], [8.0, 128.0], [16.0, 64.0], [32.0, 64.0], [64.0, 64.0]]
)
FIRST_PROFILE = 1
_EDGE = 4
_EVENTS = 64
_MOST_STEPS = 10
_PARKED, _TIRED, _RIGHT, _LEFT = range(4)
_SAME, _BETTER, _WORSE = range(3)
_SIGNIFICANT = 0.1

# ixgbe; a jiffy of 250 Hz.
JIFFY_US = 4000.0
LEAST_US = 10.0
MOST_US = 126.0
_STEP_US = 2.0


@njit(cache=True, nogil=True, error_model="numpy")
def set_profile(s: Any, profile: int) -> None:
    """Take the delay and count of one of DIM's profiles."""
    table = COMPLETION_PROFILES if s.completions else EVENT_PROFILES
    s.dim_profile = profile
    s.delay_us, s.count = table[profile, 0], int(table[profile, 1])
    s.timer = LAST if s.completions else THROTTLE


@njit(cache=True, nogil=True, error_model="numpy")
def after_interrupt(s: Any) -> None:
    """Take a sample; after every 64 interrupts decide, as net_dim does."""
    s.sample_events += 1
    if s.sample_events < _EVENTS:
        return
    time_ms = (s.now - s.sample_at) / 1e3
    if time_ms <= 0:
        return
    rates = (
        (s.served_bytes - s.sample_bytes) / time_ms,
        (s.served - s.sample_packets) / time_ms,
        s.sample_events / time_ms,
    )
    _decide(s, rates)
    s.sample_at, s.sample_events = s.now, 0.0
    s.sample_bytes, s.sample_packets = s.served_bytes, s.served


@njit(cache=True, nogil=True, error_model="numpy")
def _decide(s: Any, rates: tuple) -> None:
    before = s.dim_state
    comparison = _compare(s, rates)
    if before == _PARKED:
        if comparison != _SAME:
            _leave_parking(s)
    elif before == _TIRED:
        s.dim_tired -= 1
        if s.dim_tired == 0:
            _leave_parking(s)
    else:
        if comparison != _BETTER:
            _turn(s)
        if _is_on_top(s) or not _step(s):
            _park(s)
    if before != _PARKED or s.dim_state != _PARKED:
        s.dim_bytes, s.dim_packets, s.dim_events = rates


@njit(cache=True, nogil=True, error_model="numpy")
def _compare(s: Any, rates: tuple) -> int:
    """Compare with the sample before: bytes, then packets, then (fewer is better) interrupts."""
    before = (s.dim_bytes, s.dim_packets, s.dim_events)
    for i in range(3):
        if before[i] == 0:
            return _BETTER if i < 2 and rates[i] > 0 else _SAME
        if abs(rates[i] - before[i]) > _SIGNIFICANT * before[i]:
            return _BETTER if (rates[i] > before[i]) == (i < 2) else _WORSE
    return _SAME


@njit(cache=True, nogil=True, error_model="numpy")
def _leave_parking(s: Any) -> None:
    s.dim_state = _LEFT if s.dim_profile > 0 else _RIGHT
    _step(s)


@njit(cache=True, nogil=True, error_model="numpy")
def _turn(s: Any) -> None:
    if s.dim_state == _RIGHT:
        s.dim_state, s.dim_left = _LEFT, 0
    else:
        s.dim_state, s.dim_right = _RIGHT, 0


@njit(cache=True, nogil=True, error_model="numpy")
def _is_on_top(s: Any) -> bool:
    """Two steps or more one way and one back: the best profile is between them."""
    if s.dim_state == _RIGHT:
        return s.dim_left > 1 and s.dim_right == 1
    return s.dim_right > 1 and s.dim_left == 1


@njit(cache=True, nogil=True, error_model="numpy")
def _step(s: Any) -> bool:
    """Go one profile on; false at the edge, and when it has stepped too often without rest."""
    if s.dim_tired == _MOST_STEPS:
        s.dim_state = _TIRED
        s.dim_left, s.dim_right = 0, 0
        return True
    profile = int(s.dim_profile)
    if s.dim_state == _RIGHT:
        if profile == _EDGE:
            return False
        s.dim_right += 1
        set_profile(s, profile + 1)
    else:
        if profile == 0:
            return False
        s.dim_left += 1
        set_profile(s, profile - 1)
    s.dim_tired += 1
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _park(s: Any) -> None:
    s.dim_state, s.dim_tired = _PARKED, 0
    s.dim_left, s.dim_right = 0, 0


@njit(cache=True, nogil=True, error_model="numpy")
def after_poll(s: Any) -> None:
    """Set the delay as ixgbe_update_itr does, at 10 Gb/s, for receive alone."""
    packets, bytes_ = s.served - s.sample_packets, s.served_bytes - s.sample_bytes
    is_late = s.now > s.sample_at + JIFFY_US
    s.sample_at, s.sample_packets, s.sample_bytes = s.now, s.served, s.served_bytes
    if is_late:
        s.delay_us, s.is_latency = LEAST_US, 1
    elif packets == 0:
        s.delay_us = min(s.delay_us + _STEP_US, MOST_US)
    elif packets < 4 and bytes_ < 9000:
        s.delay_us, s.is_latency = by_size_us(bytes_ / packets, True), 1
    elif packets < 48:
        s.delay_us, s.is_latency = min(s.delay_us + _STEP_US, MOST_US), 0
    elif packets < 96:
        s.is_latency = 0
    elif packets < 256:
        s.delay_us, s.is_latency = max(s.delay_us / 2, LEAST_US), 0
    else:
        s.delay_us, s.is_latency = by_size_us(bytes_ / packets, False), 0


@njit(cache=True, nogil=True, error_model="numpy")
def by_size_us(mean_bytes: float, is_latency: bool) -> float:
    """Return the driver's delay for frames of a mean size, us."""
    if mean_bytes <= 60:
        scaled = 5120.0
    elif mean_bytes <= 316:
        scaled = 40 * mean_bytes + 2720
    elif mean_bytes <= 1084:
        scaled = 15 * mean_bytes + 11452
    elif mean_bytes < 1968:
        scaled = 5 * mean_bytes + 22420
    else:
        scaled = 32256.0
    if is_latency:
        scaled /= 2
    return min(max(math.ceil(scaled / 512) * _STEP_US, LEAST_US), MOST_US)

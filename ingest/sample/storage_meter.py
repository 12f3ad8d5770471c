"""Readings of the power meter before the storage sweep's machine, as HOBOware exports them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np

from ingest.sample.parameters import METER_AHEAD_S
from ingest.sample.storage_model import StorageRun, idle_power_w

_UTC_OFFSET_H: Final = -5
_NOISE_W: Final = 0.15
_FACTOR: Final = 0.97
_LOGGER: Final = "LGR S/N: {serial}, SEN S/N: {serial}"
_COLUMNS: Final = ("RMS Voltage, V", "RMS Current, A", "Active Power, W", "Active Energy, Wh")
_EVENTS: Final = ("Host Connected", "Stopped", "End Of File")


def meter_text(
    title: str,
    device: str | None,
    runs: Sequence[StorageRun],
    span: tuple[float, float],
    gap: tuple[float, float] | None,
    rng: np.random.Generator,
) -> str:
    """Log a span of time once a second.

    Each reading is the mean power of the second before it. The header's offset holds throughout,
    as the logger's clock knows of no summer.

    Args:
        device: Sets the idle power.
        gap: A time that was not logged.
        rng: Source of the noise.
    """
    first, last = (int(np.ceil(at + METER_AHEAD_S)) for at in span)
    stamps = np.arange(first, last + 1)
    times = stamps - METER_AHEAD_S
    power_w = _means(device, runs, times) + rng.normal(0, _NOISE_W, len(stamps))
    voltage_v = 119.6 + np.cumsum(rng.normal(0, 0.02, len(stamps)))
    is_logged = np.ones(len(stamps), dtype=bool)
    if gap is not None:
        is_logged = (times < gap[0]) | (times > gap[1])
    rows = _rows(stamps[is_logged], voltage_v[is_logged], power_w[is_logged])
    return _heading(title, serial=10512000 + sum(title.encode()) % 900) + "".join(rows)


def _means(device: str | None, runs: Sequence[StorageRun], times: np.ndarray) -> np.ndarray:
    """Mean power of the second before each time: idle, and what each run adds while it lasts."""
    edges, steps_w = [], []
    idle_w = idle_power_w(device)
    for run in runs:
        edges += [run.start_s, run.end_s]
        steps_w += [run.power_w - idle_w, idle_w - run.power_w]
    at, step = np.array(edges), np.array(steps_w)
    ends = np.searchsorted(at, times, side="right")
    starts = np.searchsorted(at, times - 1, side="right")
    level = np.concatenate([[0.0], np.cumsum(step)])
    moment = np.concatenate([[0.0], np.cumsum(step * (at - times[0]))]) if len(at) else np.zeros(1)

    def energy_j(until: np.ndarray, passed: np.ndarray) -> np.ndarray:
        return level[passed] * (until - times[0]) - moment[passed]

    return idle_w + energy_j(times, ends) - energy_j(times - 1, starts)


def _heading(title: str, serial: int) -> str:
    logger = _LOGGER.format(serial=serial)
    names = [f"{name} ({logger})" for name in (*_COLUMNS, *_EVENTS)]
    cells = ["#", f"Date Time, GMT{_UTC_OFFSET_H:+03d}:00", *names]
    return f'\ufeff"Plot Title: {title}"\n' + ",".join(f'"{cell}"' for cell in cells) + "\n"


def _rows(stamps: np.ndarray, voltage_v: np.ndarray, power_w: np.ndarray) -> list[str]:
    current_a = power_w / voltage_v / _FACTOR
    energy_wh = power_w / 3600
    rows = [
        f"{n},{when},{volts:.1f},{amperes:.3f},{watts:.1f},{wh:.4f},,,\n"
        for n, (when, volts, amperes, watts, wh) in enumerate(
            zip(
                map(_local, stamps.tolist()), voltage_v, current_a, power_w, energy_wh, strict=True
            ),
            1,
        )
    ]
    after = int(stamps[-1]) + 1
    rows.append(f"{len(rows) + 1},{_local(after)},,,,,Logged,,\n")
    rows.append(f"{len(rows) + 1},{_local(after + 1)},,,,,,Logged,Logged\n")
    return rows


def _local(unix_s: int) -> str:
    at = datetime.fromtimestamp(unix_s, UTC) + timedelta(hours=_UTC_OFFSET_H)
    return f"{at:%m/%d/%y %I:%M:%S %p}"

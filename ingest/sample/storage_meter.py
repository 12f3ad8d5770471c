"""Readings of the power meter before the storage sweep's machine, as HOBOware exports them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np

from ingest.sample.parameters import METER_AHEAD_S
from ingest.sample.plan import generator
from ingest.sample.storage_model import StorageRun, idle_power_w

BARE: Final = "bare-system"
_UTC_OFFSET_H: Final = -5
_NOISE_W: Final = 0.15
_FACTOR: Final = 0.97
_COLUMNS: Final = (
    "RMS Voltage, V", "RMS Current, A", "Active Power, W", "Active Energy, Wh",
    "Host Connected", "Stopped", "End Of File",
)  # fmt: skip


def meter_text(
    device: str | None,
    runs: Sequence[StorageRun],
    span: tuple[float, float],
    gap: tuple[float, float] | None,
    seed: int,
) -> str:
    """Log a span of time once a second.

    Each reading is the mean power of the second before it. The header's offset holds throughout,
    as the logger's clock knows of no summer.

    Args:
        device: None for the system without one.
        gap: A time that was not logged.
    """
    title = f"{device or BARE} (synthetic)"
    rng = generator(seed, f"{device or BARE} meter")
    stamps = np.arange(*(int(np.ceil(at + METER_AHEAD_S)) + end for end, at in enumerate(span)))
    times, idle_w = stamps - METER_AHEAD_S, idle_power_w(device)
    power_w = idle_w + rng.normal(0, _NOISE_W, len(stamps))
    if runs:
        # What the runs added until each of their ends, joules.
        ends = np.array([(run.start_s, run.end_s) for run in runs])
        added_w = np.array([run.power_w for run in runs]) - idle_w
        added_j = np.repeat(np.cumsum(added_w * np.diff(ends)[:, 0]), 2)[:-1]
        until = [np.interp(at, ends.ravel(), [0.0, *added_j]) for at in (times - 1, times)]
        power_w += until[1] - until[0]
    volts = 119.6 + np.cumsum(rng.normal(0, 0.02, len(stamps)))
    is_logged = np.ones(len(stamps), dtype=bool)
    if gap is not None:
        is_logged = (times < gap[0]) | (times > gap[1])
    serial = 10512000 + sum(title.encode()) % 900
    names = [f"{name} (LGR S/N: {serial}, SEN S/N: {serial})" for name in _COLUMNS]
    cells = ["#", f"Date Time, GMT{_UTC_OFFSET_H:+03d}:00", *names]
    lines = [f'\ufeff"Plot Title: {title}"', ",".join(f'"{cell}"' for cell in cells)]
    readings = zip(stamps[is_logged].tolist(), volts[is_logged], power_w[is_logged], strict=True)
    for n, (at, v, w) in enumerate(readings, 1):
        lines.append(f"{n},{_local(at)},{v:.1f},{w / v / _FACTOR:.3f},{w:.1f},{w / 3600:.4f},,,")
    for after, events in ((1, "Logged,,"), (2, ",Logged,Logged")):
        lines.append(f"{is_logged.sum() + after},{_local(int(stamps[-1]) + after)},,,,,{events}")
    return "\n".join([*lines, ""])


def _local(unix_s: int) -> str:
    at = datetime.fromtimestamp(unix_s, UTC) + timedelta(hours=_UTC_OFFSET_H)
    return f"{at:%m/%d/%y %I:%M:%S %p}"

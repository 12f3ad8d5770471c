"""The colour scales of Storage's heatmaps, stop by stop, so that texts know what they stand on."""

from typing import Final

import numpy as np

Scale = tuple[tuple[float, str], ...]

VIRIDIS: Final = tuple(
    (i / 9, f"#{hue}") for i, hue in enumerate((
        "440154", "482878", "3e4989", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b",
        "fde725",
    ))
)  # fmt: skip
# ColorBrewer's RdBu with more red for more; plotly.js has a scale of that name that is another.
DIVERGING: Final = tuple(
    (i / 10, f"#{hue}") for i, hue in enumerate((
        "053061", "2166ac", "4393c3", "92c5de", "d1e5f0", "f7f7f7", "fddbc7", "f4a582", "d6604d",
        "b2182b", "67001f",
    ))
)  # fmt: skip


def hue_at(scale: Scale, share: float) -> str:
    """The colour of a scale at a share of it, between its stops as plotly.js has it."""
    stops = [stop for stop, _ in scale]
    channels = [
        np.interp(share, stops, [int(hue[i : i + 2], 16) for _, hue in scale]) for i in (1, 3, 5)
    ]
    return "#" + "".join(f"{round(channel):02x}" for channel in channels)

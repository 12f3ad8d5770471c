"""What the intervals of a tool say of a whole time: energy, and means over time."""

from typing import Final

import numpy as np

from data.declared import Column
from ingest.records import Intervals, Reading

_PACKAGE: Final = "package_power_w"
# What of the whole machine becomes a metric of the run.
_MEANS: Final = {
    "busy_pct": ("Busy share of the processors", "busy", "%"),
    "busy_mhz": ("Frequency while busy", "busy frequency", "MHz"),
    "cores_power_w": ("Power of the cores", "cores' power", "W"),
    "dram_power_w": ("Power of the memory", "DRAM power", "W"),
    "uncore_mhz": ("Frequency of the uncore", "uncore frequency", "MHz"),
}


def take_means(rows: Intervals, reading: Reading) -> None:
    """Take over what holds for the machine and the whole time: `energy_j`, and columns of its own:
    those that the reading has already, and the usual ones.

    Rows of the whole machine count, where there are any; else those of the processors.
    """
    is_all = rows.core < 0
    chosen = is_all if is_all.any() else np.ones(len(rows.core), bool)
    own = list(reading.columns)
    power_w = rows.values.get(_PACKAGE)
    if power_w is not None:
        energy_j = np.nansum((power_w * rows.dt_s)[chosen])
        if not np.isnan(power_w[chosen]).all() and energy_j >= 0:
            reading.measurements["energy_j"] = float(energy_j)
    titles = dict(_MEANS) | {c.name: (c.title, c.short, c.unit) for c in own}
    for name in rows.values:
        if name.endswith("_residency_pct"):
            state = name.removesuffix("_residency_pct").upper()
            titles[name] = (f"Mean residency in {state}", f"in {state}", "%")
    for name, (title, short, unit) in titles.items():
        if name not in rows.values:
            continue
        weights = rows.dt_s * (rows.values.get("busy_pct", 1.0) if name == "busy_mhz" else 1.0)
        values = rows.values[name]
        is_set = chosen & ~np.isnan(values) & (weights > 0)
        if is_set.any():
            own_values = values[is_set]
            # Weights would add their rounding to what never changed.
            is_one = own_values.min() == own_values.max()
            mean = own_values[0] if is_one else np.average(own_values, weights=weights[is_set])
            reading.measurements[name] = float(mean)
            if all(column.name != name for column in own):
                own.append(Column(name, "metric", "real", title, short, unit))
    reading.columns = tuple(own)

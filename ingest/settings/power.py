"""Settings of a dataset's power meters: section `[power]` of a settings file."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

DATE_ORDERS: Final = ("mdy", "dmy", "ymd")
KEYS: Final[dict[str, type | tuple[type, ...]]] = {
    "meter_pattern": str,
    "utc_offset_h": (int, float),
    "clock_offset_s": (int, float),
    "ramp_s": (int, float),
    "most_gap_pct": (int, float),
    "accuracy_pct": (int, float),
    "shortest_idle_s": (int, float),
    "idle_system": str,
    "date_order": str,
}


def _is_pattern(value: str) -> bool:
    try:
        groups = re.compile(value).groupindex
    except re.error:
        return False
    return set(groups) <= {"device", "system"}


CHECKS: Final[dict[str, Callable[[Any], bool]]] = {
    "meter_pattern": _is_pattern,
    "utc_offset_h": lambda v: -14 <= v <= 14,
    "ramp_s": lambda v: v >= 0,
    "most_gap_pct": lambda v: 0 <= v <= 100,
    "accuracy_pct": lambda v: 0 <= v <= 100,
    "shortest_idle_s": lambda v: v >= 0,
    "date_order": lambda v: v in DATE_ORDERS,
}


@dataclass(frozen=True, slots=True)
class PowerSettings:
    """How the readings of power meters join the runs of a dataset.

    Attributes:
        meter_pattern: Matches whole parts at the end of a meter file's path; other meters are
            ignored. Its groups `device` and `system` name what the meter measures.
        utc_offset_h: Hours that a meter's local time is ahead of UTC, if its file does not say.
        clock_offset_s: Seconds to add to a meter's times; `ingest propose` estimates them.
        ramp_s: Seconds at the beginning of a run's window that are left out.
        most_gap_pct: Largest share of a window without readings for which energy is computed.
        accuracy_pct: Limit of the meter's error, percent of the reading.
        shortest_idle_s: Readings of at least this time without a run become a run of workload
            `idle`; 0 makes no such runs.
        idle_system: The system of such runs.
        date_order: Order of day, month and year in a meter's dates, if its file does not say.
    """

    meter_pattern: str = ""
    utc_offset_h: float | None = None
    clock_offset_s: float = 0.0
    ramp_s: float = 0.0
    most_gap_pct: float = 10.0
    accuracy_pct: float = 0.5
    shortest_idle_s: float = 60.0
    idle_system: str = "linux"
    date_order: str | None = None

    @property
    def what_counts(self) -> dict[str, Any]:
        """The settings that differ from the shipped ones."""
        usual = PowerSettings()
        names = PowerSettings.__slots__
        return {n: getattr(self, n) for n in names if getattr(self, n) != getattr(usual, n)}

    def match(self, path: str) -> Mapping[str, str] | None:
        """Device and system from a meter file's path; None if the meter is to be ignored."""
        if not self.meter_pattern:
            return {}
        found = re.match(rf"(?:^|.*/)(?:{self.meter_pattern})$", path)
        if found is None:
            return None
        return {name: value for name, value in found.groupdict().items() if value is not None}

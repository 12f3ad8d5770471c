"""Settings of a dataset's power meters: section `[power]` of a settings file."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta

from ingest.settings.checked import Table

_AtLeast0 = Annotated[float, Meta(ge=0)]
_Percent = Annotated[float, Meta(ge=0, le=100)]
DateOrder = Literal["mdy", "dmy", "ymd"]


class PowerSettings(Table):
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
    utc_offset_h: Annotated[float, Meta(ge=-14, le=14)] | None = None
    clock_offset_s: float = 0.0
    ramp_s: _AtLeast0 = 0.0
    most_gap_pct: _Percent = 10.0
    accuracy_pct: _Percent = 0.5
    shortest_idle_s: _AtLeast0 = 60.0
    idle_system: str = "linux"
    date_order: DateOrder | None = None

    def __post_init__(self) -> None:
        try:
            groups = set(re.compile(self.meter_pattern).groupindex)
        except re.error as error:
            raise ValueError(f"power.meter_pattern {self.meter_pattern!r}: {error}") from error
        if unknown := sorted(groups - {"device", "system"}):
            raise ValueError(f"power.meter_pattern has an unknown group {unknown[0]!r}")

    @property
    def what_counts(self) -> dict[str, Any]:
        """The settings that differ from the shipped ones."""
        usual = PowerSettings()
        names = self.__struct_fields__
        return {n: getattr(self, n) for n in names if getattr(self, n) != getattr(usual, n)}

    def match(self, path: str) -> Mapping[str, str] | None:
        """Return the device and system in a meter's path; None if the meter is to be ignored."""
        if not self.meter_pattern:
            return {}
        match = re.match(rf"(?:^|.*/)(?:{self.meter_pattern})$", path)
        if match is None:
            return None
        return {name: value for name, value in match.groupdict().items() if value is not None}

"""Power meters that a dataset's settings declare, with columns, units and time zone."""

from collections.abc import Mapping
from typing import Any, Final

from data.errors import SettingsError
from ingest.records import MeterDeclaration
from ingest.settings.patterns import path_pattern
from ingest.settings.tables import table_column

# Quantities that a column of a meter can be.
TARGETS: Final = ("time", "date", "power_w", "voltage_v", "current_a", "energy_j")


def build_meter(entry: Mapping[str, Any], number: int) -> MeterDeclaration:
    """Build one [[meters]] entry.

    Raises:
        SettingsError: No pattern, an invalid regular expression, an unknown target, or no column
            for the time or the power; the message names the place.
    """
    where, path = f"meters[{number}]", entry["path"]
    regex = path_pattern(entry, where)
    columns = {name: table_column(each) for name, each in entry.get("columns", {}).items()}
    targets = [each.to for each in columns.values() if not each.is_dropped]
    for name, each in columns.items():
        if not each.is_dropped and each.to not in TARGETS:
            raise SettingsError(
                f"{where}.columns.{name} cannot be {each.to!r}, "
                f"known: {', '.join(TARGETS)} ({path})"
            )
    for wanted in ("time", "power_w"):
        if wanted not in targets:
            raise SettingsError(f"{where}.columns has none for {wanted!r} ({path})")
    if twice := sorted({str(each) for each in targets if targets.count(each) > 1}):
        raise SettingsError(f"{where}.columns has two for {twice[0]!r} ({path})")
    return MeterDeclaration(regex, columns, entry.get("time_zone"))

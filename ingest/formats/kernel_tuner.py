"""A cache of Kernel Tuner: a JSON document with a GPU kernel's time and power at each setting."""

import json
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from data.aggregates import sd_column
from data.declared import Column, Kind, Role
from data.errors import FormatError
from ingest.formats.json_document import number_of, part_of, read_object
from ingest.formats.problem_list import ProblemList
from ingest.formats.table import N_COLUMN
from ingest.records import ReadContext, SummaryRow, SummaryTable
from ingest.settings.column_names import clean_name
from ingest.settings.dataset import UNKNOWN
from ingest.settings.tables import target_kinds

_MARKS: Final = (b'"kernel_name"', b'"tune_params_keys"')
_MOST: Final = 2.0**63
_CLOCK: Final = re.compile(r"clock|freq", re.IGNORECASE)
_SD: Final = Column(
    sd_column("duration_s"), "label", "real", "Duration, deviation", "sd of Duration", "s",
    description="Sample standard deviation of duration_s over the runs of a row.",
)  # fmt: skip


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Return whether it is a document with the keys that each cache begins with."""
    return head.lstrip().startswith(b"{") and all(mark in head for mark in _MARKS)


def read(blocks: Iterable[bytes], context: ReadContext) -> SummaryTable:
    """Read each setting as a row that is the mean of its repetitions.

    Returns:
        Times in seconds; power in watts; energy as NVML measured it, else power times time. The
        tuned parameters are knobs, or labels if they have one value. The device is the machine.

    Raises:
        FormatError: No such document, or one without a setting.
    """
    document = read_object(blocks, context.name)
    keys = document.get("tune_params_keys")
    entries = part_of(document, "cache")
    if not isinstance(keys, list) or not entries:
        raise FormatError(f"no cache of tuned parameters ({context.name})")
    problems = ProblemList()
    workload = str(document.get("kernel_name") or UNKNOWN)
    columns = _columns(keys, list(entries.values()))
    table = SummaryTable(workload, [], columns=[*columns.values(), N_COLUMN, _SD], is_numbered=True)
    for number, (name, entry) in enumerate(entries.items(), 1):
        try:
            row = _row(entry, columns, number)
        except FormatError as error:
            problems.add("bad_setting", "refused", f"{error} ({name}); not used")
            table.refused += 1
            continue
        row.values["machine"] = str(document.get("device_name") or "") or None
        table.rows.append(row)
    table.problems = problems.all()
    return table


def _columns(keys: Sequence[Any], entries: Sequence[Any]) -> dict[str, Column]:
    taken = {*target_kinds({})}
    columns = {}
    for key in dict.fromkeys(map(str, keys)):
        values = [entry.get(key) for entry in entries if isinstance(entry, dict)]
        set_values = [value for value in values if value is not None]
        types = {type(value) for value in set_values}
        is_number = types <= {int, float} and all(-_MOST < value < _MOST for value in set_values)
        kind: Kind = "text" if not is_number else "whole" if types == {int} else "real"
        role: Role = "knob" if len({json.dumps(value) for value in values}) > 1 else "label"
        unit = "MHz" if _CLOCK.search(key) else ""
        columns[key] = Column(clean_name(key, kind, taken), role, kind, key, key, unit)
        taken.add(columns[key].name)
    return columns


def _cell(value: Any, kind: Kind) -> float | int | str | None:
    if value is None or kind == "whole":
        return value
    return float(value) if kind == "real" else str(value)


def _row(entry: Any, columns: Mapping[str, Column], number: int) -> SummaryRow:
    """Return the row of a setting.

    Raises:
        FormatError: It has no time; then the kernel did not run with it.
    """
    if not isinstance(entry, dict) or (time_ms := number_of(entry, "time")) is None or time_ms <= 0:
        raise FormatError("no time")
    values: dict[str, float | int | str | None] = {
        column.name: _cell(entry.get(key), column.kind) for key, column in columns.items()
    }
    values["duration_s"] = time_ms / 1e3
    power_w, energy_j = number_of(entry, "nvml_power"), number_of(entry, "nvml_energy")
    if energy_j is None and power_w is not None:
        energy_j = power_w * time_ms / 1e3
    values |= {"power_w": power_w, "energy_j": energy_j}
    flags = []
    times_ms: Any = entry.get("times")
    is_list = isinstance(times_ms, list) and all(type(t) in (int, float) for t in times_ms)
    if is_list and len(times_ms) > 1 and all(0 <= t < _MOST for t in times_ms):
        values |= {N_COLUMN.name: len(times_ms), _SD.name: statistics.stdev(times_ms) / 1e3}
        flags = ["aggregate"]
    return SummaryRow(number, UNKNOWN, values, flags)

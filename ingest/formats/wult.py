"""Datapoints of Intel's wult (`datapoints.csv`): wake-up latencies, one run a requested C-state."""

import csv
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from data.declared import Column
from data.errors import FormatError
from ingest.files.text_lines import iterate_lines
from ingest.records import ProblemList, ReadContext, Reading
from ingest.settings.number_texts import PERCENTILES

_LATENCY: Final = "WakeLatency"
_INTERRUPT: Final = "IntrLatency"
_STATE: Final = "ReqCState"
_DISTANCE: Final = "LDist"
_FREQUENCY: Final = "CPUFreq"
# Share of the idle period in a state of the core, module or package, such as `CC6%`.
_RESIDENCY: Final = re.compile(r"([CPM]C\d+[A-Za-z]*?)(Derived)?%")
C_STATE: Final = Column(
    "c_state", "knob", "text", "Requested C-state", "C-state",
    description="C-state that Linux requested before the wake-up was measured.",
)  # fmt: skip
COLUMNS: Final = (
    C_STATE,
    Column("interrupt_mean_us", "metric", "real", "Interrupt latency", "IRQ", "us", "less"),
    Column("interrupt_p99_us", "metric", "real", "Interrupt latency, p99", "IRQ p99", "us", "less"),
    Column("launch_distance_us", "metric", "real", "Mean launch distance", "distance", "us"),
    Column("wake_frequency_mhz", "metric", "real", "Frequency after wake-up", "frequency", "MHz"),
)  # fmt: skip


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Return whether the heading has a latency and the launch distance of wult."""
    fields = _fields(head.decode("utf-8-sig", "replace").split("\n", 1)[0])
    return _DISTANCE in fields and (_LATENCY in fields or _INTERRUPT in fields)


def list_parts(blocks: Iterable[bytes], context: ReadContext) -> list[str]:
    """Return the requested C-states, each of which is a run.

    Raises:
        FormatError: As `read`.
    """
    table = _Datapoints(blocks, context, ProblemList())
    return sorted({row[table.at[_STATE]] for _, row in table.rows()} if _STATE in table.at else ())


def read(blocks: Iterable[bytes], context: ReadContext) -> Reading:
    """Read the datapoints of one C-state as a run: what their latencies and residencies are.

    Percentiles interpolate linearly between datapoints.

    Args:
        context: `part` is one of `list_parts`; None for a file of one C-state.

    Returns:
        `WakeLatency` as the run's latencies, in microseconds as wult has them (`IntrLatency` if
        there is no other), `requests` the number of datapoints, mean residencies, and `c_state`.

    Raises:
        FormatError: No such heading, or no datapoint.
    """
    problems = ProblemList()
    table = _Datapoints(blocks, context, problems)
    columns: dict[str, list[float]] = defaultdict(list)
    states: set[str] = set()
    numeric = {
        name: index
        for name, index in table.at.items()
        if name in (_LATENCY, _INTERRUPT, _DISTANCE, _FREQUENCY) or _RESIDENCY.fullmatch(name)
    }
    for number, row in table.rows():
        state = row[table.at[_STATE]] if _STATE in table.at else ""
        if context.part not in (None, state):
            continue
        states.add(state)
        try:
            values = {name: _number(name, row[index]) for name, index in numeric.items()}
        except FormatError as error:
            problems.add("not_a_number", "refused", f"{error}; datapoint dropped", number)
            continue
        for name, value in values.items():
            columns[name].append(value)
    reading = _reading({name: np.array(values) for name, values in columns.items()}, context)
    if len(states) == 1 and (state := next(iter(states))):
        reading.knobs[C_STATE.name] = state
    reading.problems = problems.all()
    return reading


class _Datapoints:
    """The rows of a file: well-formed ones, each with its line; the others are problems."""

    def __init__(
        self, blocks: Iterable[bytes], context: ReadContext, problems: ProblemList
    ) -> None:
        self._lines = iterate_lines(blocks)
        self._problems = problems
        heading = _fields(next(self._lines, ""))
        self.at = {name: place for place, name in enumerate(heading)}
        if _DISTANCE not in self.at or not {_LATENCY, _INTERRUPT} & self.at.keys():
            raise FormatError(f"no {_LATENCY} and {_DISTANCE} in the heading ({context.name})")
        if len(self.at) != len(heading):
            raise FormatError(f"two columns of one name in the heading ({context.name})")

    def rows(self) -> Iterator[tuple[int, Sequence[str]]]:
        for number, line in enumerate(self._lines, 2):
            if not line.strip():
                continue
            row = _fields(line)
            if len(row) == len(self.at):
                yield number, row
            else:
                detail = f"{len(row)} fields, expected {len(self.at)}; datapoint dropped"
                self._problems.add("field_count", "refused", detail, number)


def _fields(line: str) -> list[str]:
    try:
        return [field.strip() for field in next(csv.reader([line]), [])]
    except csv.Error:
        return []


def _number(name: str, text: str) -> float:
    if not text:
        return math.nan
    try:
        value = float(text)
    except ValueError:
        value = math.inf
    if not math.isfinite(value) or value < 0:
        raise FormatError(f"{name} cannot be {text[:60]!r}")
    return value


def _reading(columns: dict[str, np.ndarray], context: ReadContext) -> Reading:
    measured: dict[str, float | int] = {}
    latency = _given(columns, _LATENCY if _LATENCY in columns else _INTERRUPT)
    if not latency.size:
        raise FormatError(f"no datapoint of {context.part or 'any C-state'} ({context.name})")
    measured["requests"] = int(latency.size)
    measured["latency_mean_us"] = float(latency.mean())
    measured["latency_min_us"] = float(latency.min())
    measured["latency_max_us"] = float(latency.max())
    percentiles = np.percentile(latency, [*PERCENTILES]).tolist()
    measured |= dict(zip(PERCENTILES.values(), percentiles, strict=True))
    if (interrupt := _given(columns, _INTERRUPT)).size:
        measured["interrupt_mean_us"] = float(interrupt.mean())
        measured["interrupt_p99_us"] = float(np.percentile(interrupt, 99))
    for name, heading in (("launch_distance_us", _DISTANCE), ("wake_frequency_mhz", _FREQUENCY)):
        if (values := _given(columns, heading)).size:
            measured[name] = float(values.mean())
    residencies = tuple(_residency(heading) for heading in columns if _RESIDENCY.match(heading))
    for column, heading in residencies:
        if (values := _given(columns, heading)).size:
            measured[column.name] = float(values.mean())
    return Reading(measured, columns=(*COLUMNS, *(column for column, _ in residencies)))


def _given(columns: dict[str, np.ndarray], name: str) -> np.ndarray:
    """Return the values of a column that are set; none where there is no such column."""
    values = columns.get(name, np.empty(0))
    given: np.ndarray = values[~np.isnan(values)]
    return given


def _residency(heading: str) -> tuple[Column, str]:
    found = _RESIDENCY.fullmatch(heading)
    assert found is not None, f"BUG: {heading} is no residency"
    state = found[1] + (" derived" if found[2] else "")
    name = f"{state.lower().replace(' ', '_')}_residency_pct"
    title = f"Mean residency in {state}"
    return Column(name, "metric", "real", title, f"in {state}", "%"), heading

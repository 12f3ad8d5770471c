"""Add event counts from several files to a run, each event from one file."""

import math
from collections.abc import Sequence
from typing import Final

from data.schema import COUNTED_RATES, MEASUREMENTS
from ingest.discover.source_reads import SourceRead
from ingest.records import Reading
from ingest.runs.row import RunRow

INTERVAL_TOLERANCE: Final = 0.10
# Largest relative difference of the intervals of two files that counted at the same time.
_SAME_INTERVAL: Final = 0.05


def take_counts(run: RunRow) -> None:
    """Take each event from the file whose interval is nearest to the run's.

    Totals over an interval other than the run's are left unset and their rates are kept, unless the
    settings have `perf.counts = "whole"`. Values of other files take precedence over counts.
    """
    taken: dict[str, SourceRead] = {}
    known = set(run.row)
    for read, content, interval_s in _nearest_first(run):
        run.flags.update(content.flags)
        wanted = measured(content)
        held = {taken[n].file.path: taken[n] for n in wanted if n in taken}
        for other in held.values():
            names = [name for name in wanted if taken.get(name) is other]
            detail = (
                f"{', '.join(names)} also counted in {other.file.path}, whose interval is nearer "
                "to the run's; not used from this file"
            )
            run.doubt(read, "counted_twice", detail)
        new = {name: value for name, value in wanted.items() if name not in taken}
        taken |= dict.fromkeys(new, read)
        _take_new(run, read, interval_s, {n: v for n, v in new.items() if n not in known})


def is_companion(run: RunRow, read: SourceRead) -> bool:
    """Return whether a file is a trace beside an output, and so counts over its own time."""
    is_trace = read.file.format.role == "trace"
    return is_trace and any(each.file.format.role == "output" for each in run.readings)


def energy_time_s(run: RunRow) -> float | None:
    """Return how long the counts with an energy lasted; None if none has one or its time."""
    return next(
        (time for _, content, time in _nearest_first(run) if "energy_j" in measured(content)), None
    )


def measured(content: Reading) -> dict[str, float | int]:
    """Return the measurements of a file that have a column of `runs`, by column."""
    own = {column.name for column in content.columns}
    return {n: v for n, v in content.measurements.items() if n in MEASUREMENTS or n in own}


def _nearest_first(run: RunRow) -> list[tuple[SourceRead, Reading, float | None]]:
    """Sort files of counts, with their intervals, the nearest to the run's duration first."""
    reads = [
        read
        for read in run.readings
        if read.file.format.role == "counts" or is_companion(run, read)
    ]
    contents = [read.content for read in reads if isinstance(read.content, Reading)]
    duration_s = run.row.get("duration_s")
    candidates = [
        (read, content, _interval_s(run, content, contents))
        for read, content in zip(reads, contents, strict=True)
    ]

    def farness(candidate: tuple[SourceRead, Reading, float | None]) -> tuple[float, str]:
        known = candidate[2] is not None and duration_s
        return (abs((candidate[2] or 0.0) - (duration_s or 0.0)) if known else 0.0), candidate[
            0
        ].file.path

    return sorted(candidates, key=farness)


def _interval_s(run: RunRow, content: Reading, others: Sequence[Reading]) -> float | None:
    """Return the interval of a file in seconds; if not stated, estimated from its package time.

    Package time is a sum over packages. The number of packages is the one that agrees with the
    interval of another file, else the number in the settings.
    """
    if content.interval_s or not content.package_time_s:
        return content.interval_s
    for other in others:
        packages = round(content.package_time_s / (other.interval_s or math.inf))
        interval_s = content.package_time_s / max(packages, 1)
        if other.interval_s and abs(interval_s / other.interval_s - 1) <= _SAME_INTERVAL:
            return interval_s
    return content.package_time_s / len(run.settings.machine.packages)


def _take_new(
    run: RunRow, read: SourceRead, interval_s: float | None, values: dict[str, float | int]
) -> None:
    if not values:
        return
    duration_s = run.row.get("duration_s")
    if is_of_its_time(interval_s, duration_s):
        run.row |= values
        return
    assert interval_s is not None
    is_whole = run.settings.counts == "whole"
    run.flags.add("counts_whole" if is_whole else "counts_interval")
    kept = "its totals are used as they are" if is_whole else "its rates are kept, not its totals"
    detail = f"counted for {interval_s:.6g} s, the run lasts {duration_s:.6g} s; {kept}"
    run.doubt(read, "counts_whole" if is_whole else "counts_interval", detail)
    # A tool's own columns hold means, not totals.
    run.row |= {name: value for name, value in values.items() if is_whole or name in run.columns}
    if "energy_j" in values:
        run.row["power_w"] = values["energy_j"] / interval_s
        run.has_own_power = True
    rates = {name: values[name] / interval_s for name in COUNTED_RATES if name in values}
    if rates and not is_whole:
        run.row["counted_rates"] = run.row.get("counted_rates", {}) | rates


def is_of_its_time(interval_s: float | None, duration_s: float | None) -> bool:
    """Return whether an interval is about as long as the run; true if either length is unknown."""
    if interval_s is None or not interval_s or not duration_s:
        return True
    return abs(interval_s - duration_s) <= INTERVAL_TOLERANCE * duration_s

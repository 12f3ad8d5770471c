"""Estimate how far the clocks of a folder's power meters are off: what `propose` prints.

Nothing else uses an estimate: `add` adds the offset that the settings declare.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from ingest.discover.found_files import RawFile
from ingest.discover.plan import make_plan
from ingest.discover.search import discover
from ingest.discover.source_reads import read_source
from ingest.lake.state import LakeState
from ingest.meters.clock import LEAST_WINDOWS, estimate_offset
from ingest.meters.join import utc_series
from ingest.records import MeterReadings, UtcWindow
from ingest.runs.times import planned_window

# The times of this many runs of a meter are read.
_MOST_RUNS: Final = 400
# An offset that explains less of power's variance is only a comment.
_LEAST_EXPLAINED: Final = 0.8
# Meters whose offsets differ by less than this have one clock.
_SAME_S: Final = 1.0


def clock_lines(folder: Path) -> str:
    """Write section `[power]` of a settings file, with the estimate for each meter of a folder."""
    plan = make_plan(discover([folder], LakeState(), None, None), LakeState())
    windows: dict[str, list[UtcWindow]] = defaultdict(list)
    for work in plan.works:
        meters = [meter for meter in work.meters if len(windows[meter.path]) < _MOST_RUNS]
        if meters and (window := planned_window(work)[0]) is not None:
            for meter in meters:
                windows[meter.path].append(window)
    offsets_s: list[float] = []
    files = [file for of_dataset in plan.meters.values() for file in of_dataset]
    lines = [
        line
        for file in sorted(files, key=lambda file: file.path)
        for line in _meter_lines(file, windows[file.path], offsets_s)
    ]
    if offsets_s and max(offsets_s) - min(offsets_s) < _SAME_S:
        lines.append(f"clock_offset_s = {sum(offsets_s) / len(offsets_s):.2f}")
    elif offsets_s:
        lines.append("# ? clock_offset_s: the meters differ; each needs a settings file of its own")
    return "\n".join(["", "[power]", *lines, ""])


def _meter_lines(
    file: RawFile, windows: Sequence[UtcWindow], offsets_s: list[float]
) -> Iterator[str]:
    """Yield the comment on one meter; add its offset if it explains enough."""
    settings = replace(file.settings.power, clock_offset_s=0.0)
    readings = read_source(file).content
    series = utc_series(readings, settings) if isinstance(readings, MeterReadings) else None
    if series is None:
        yield f"# ? {file.name}: utc_offset_h, the hours by which its local time is ahead of UTC"
        return
    estimate = estimate_offset(series, windows)
    if estimate is None:
        few = f"under {LEAST_WINDOWS} runs, or power that never changes"
        yield f"# ? {file.name}: nothing tells the offset of its clock: {few}"
        return
    if is_plausible := estimate.explained >= _LEAST_EXPLAINED:
        offsets_s.append(estimate.offset_s)
    yield (
        f"# ? {file.name}: {estimate.offset_s:+.2f} s added to its times explain "
        f"{estimate.explained:.0%} of its power's variance by {estimate.windows} runs"
        + ("" if is_plausible else ": too little to declare")
    )

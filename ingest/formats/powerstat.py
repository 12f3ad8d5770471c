"""A trace of powerstat: a row of power each second. The whole trace is one run."""

import math
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from data.errors import FormatError
from ingest.files.text_lines import iterate_lines
from ingest.formats.problem_list import ProblemList
from ingest.records import ReadContext, Reading

_HEADING: Final = re.compile(r"\s*Time\s+User\s+Nice\s+Sys\s+Idle\b.*\bWatts\b.*")
_INTERVAL: Final = re.compile(r"Running for .* at (\d+(?:\.\d+)?) second intervals")
_TIME: Final = re.compile(r"(\d\d):(\d\d):(\d\d)")
_DAY_S: Final = 86_400
# No rate and no power is greater.
_MOST: Final = 1e12
# Domains of RAPL: psys contains the package, the package contains the others.
_DOMAINS: Final = ("psys", "pkg-0", "core", "uncore")


def sniff(name: str, head: bytes) -> bool:  # noqa: ARG001
    """Return whether a line is powerstat's heading with a column of watts."""
    return any(map(_HEADING.fullmatch, head.decode("utf-8", "replace").splitlines()))


def read(blocks: Iterable[bytes], context: ReadContext) -> Reading:
    """Integrate the power over all samples.

    Returns:
        `energy_j`, the sum of watts times the interval; `duration_s`, the number of samples times
        the interval; `context_switches`.

    Raises:
        FormatError: No heading, or no sample.
    """
    problems = ProblemList()
    interval_s = 1.0
    at: dict[str, int] = {}
    samples: list[Sequence[float]] = []
    times_s: list[int] = []
    for number, line in enumerate(iterate_lines(blocks), 1):
        if found := _INTERVAL.match(line):
            interval_s = float(found[1])
        elif _HEADING.fullmatch(line):
            at = at or {name: place for place, name in enumerate(line.split()[1:])}
        elif at and (time := _TIME.match(line.lstrip())):
            values = _values(line)
            if len(values) != len(at):
                problems.add("bad_line", "refused", f"no sample: {line.strip()[:80]!r}", number)
                continue
            samples.append(values)
            hours, minutes, seconds = map(int, time.groups())
            times_s.append(hours * 3600 + minutes * 60 + seconds)
    if not samples or not 0 < interval_s < _MOST:
        raise FormatError(f"no sample of power ({context.name})")
    _doubt(samples, at, times_s, interval_s, problems)
    measured: dict[str, float | int] = {
        "energy_j": sum(values[at["Watts"]] for values in samples) * interval_s,
        "duration_s": len(samples) * interval_s,
    }
    if "Ctxt/s" in at:
        switches = sum(values[at["Ctxt/s"]] for values in samples) * interval_s
        measured["context_switches"] = min(round(switches), 2**63 - 1)
    return Reading(measured, problems=problems.all())


def _doubt(
    samples: Sequence[Sequence[float]],
    at: dict[str, int],
    times_s: Sequence[int],
    interval_s: float,
    problems: ProblemList,
) -> None:
    """Report gaps between samples, and watts that count parts of the processor twice."""
    lost_s = sum((b - a) % _DAY_S - interval_s for a, b in pairwise(times_s))
    if lost_s > 2 * interval_s:
        detail = f"{lost_s:g} s between the first and the last sample have none; not counted"
        problems.add("sample_gap", "doubted", detail)
    domains = [name for name in _DOMAINS if name in at and samples[-1][at[name]] > 0]
    total_w = sum(samples[-1][at[name]] for name in domains)
    if len(domains) > 1 and abs(total_w - samples[-1][at["Watts"]]) < 0.01 * total_w:
        names = ", ".join(domains)
        detail = f"Watts is the sum of {names}, which contain one another; kept as it is"
        problems.add("overlapping_domains", "doubted", detail)


def _values(line: str) -> list[float]:
    """Return the numbers after the time; none if one of them cannot be."""
    try:
        values = [float(cell) for cell in line.split()[1:]]
    except ValueError:
        return []
    return values if all(math.isfinite(v) and 0 <= v < _MOST for v in values) else []

"""Series of a monitor, as dashboards export them: even dates, and numbers that were measured.

`"Time","Job completion"`, `"Time","pod-7 / worker / PKG","pod-7 / worker / DRAM"`: no heading says
a power, and yet a row is a sample. Rows minutes apart may be runs, as may rows with a setting.
"""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

import numpy as np

from data.declared import Column
from ingest.formats.json_samples import share_of_even
from ingest.formats.trace_cells import is_number, number_text
from ingest.formats.trace_counters import is_running_total
from ingest.formats.trace_headings import RAPL, Heading
from ingest.formats.trace_times import read_times
from ingest.settings.column_names import WORDS, clean_name
from ingest.settings.heading_words import words_of
from ingest.settings.headings import is_measurement, is_setting, read_heading, without_unit

# So many samples, of which this share is as far apart as most, within these bounds.
_LEAST: Final = 20
_EVEN_SHARE: Final = 0.95
_EVEN: Final = (0.9, 1.1)
_MOST_STEP_S: Final = 60.0
# Labels of what was measured, as dashboards join them.
_LABELS: Final = " / "
# Numbers of which none is over the least are no powers of a processor in W.
_LEAST_W: Final = 1e-3
_MOST_W: Final = 5000.0
_NOT_MEASURED: Final = WORDS["replicates"] | WORDS["identifiers"]
_RATE: Final = ("per", "second")


class Series(NamedTuple):
    """The columns of a series.

    Attributes:
        names: Headings without the labels that all of them have.
        headings: What each column is.
        is_rate: Whether the name of the file says `per second` of its only series.
        doubt: What was guessed of units; empty for nothing.
    """

    names: list[str]
    headings: list[Heading]
    is_rate: bool
    doubt: str


def series_of(
    names: Sequence[str],
    columns: Sequence[Sequence[str]],
    headings: Sequence[Heading],
    file_name: str,
) -> Series | None:
    """Return what the columns of a series are; None for other cells.

    Args:
        names: The headings as they are written.
        headings: What they say.
    """
    times = [at for at, each in enumerate(headings) if each.quantity == "time"]
    if times != [0] or len(names) < 2 or not _is_even(columns[0], headings[0]):
        return None
    if not all(map(_is_measured, names[1:], columns[1:])):
        return None
    own = [names[0], *_without_labels(names[1:])]
    domains = [_domain_of(name, cells) for name, cells in zip(own, columns, strict=True)]
    of = " and ".join(n for n, domain in zip(own, domains, strict=True) if domain)
    doubt = f"{of} say no quantity and no unit: taken as power in W" if of else ""
    is_rate = words_of(file_name.partition(".")[0])[-2:] == _RATE and len(own) == 2
    read = [domain or each for domain, each in zip(domains, headings, strict=True)]
    return Series(own, read, is_rate, doubt)


def series_column(text: str, is_rate: bool) -> Column:
    """Return the declaration of the mean of a column.

    Args:
        is_rate: Whether the name of the file says `per second`.
    """
    heading = read_heading(text)
    unit = heading.unit.text if heading.unit is not None else "1/s" if is_rate else ""
    better: Literal["less", "more"] | None = None
    if heading.has(*WORDS["less"]):
        better = "less"
    elif heading.has(*WORDS["more"]) or unit.endswith("/s"):
        better = "more"
    title = without_unit(text)
    return Column(clean_name(text, "real"), "metric", "real", title, title, unit, better)


def _is_even(texts: Sequence[str], heading: Heading) -> bool:
    """Return whether times are dates with a time of day that rise by one short step."""
    if not (":" in texts[0] or is_number(texts[0])):
        return False
    times = read_times(texts, heading.scale, heading.has_unit) if len(texts) >= _LEAST else None
    if times is None or times[1] is None:
        return False
    steps = np.diff(times[0])
    is_short = bool(np.median(steps) <= _MOST_STEP_S and (steps > 0).all())
    return is_short and share_of_even(steps, *_EVEN) >= _EVEN_SHARE


def _is_measured(text: str, cells: Sequence[str]) -> bool:
    """Return whether a column is of numbers that are neither settings nor names of runs."""
    if not all(map(is_number, cells)) or not _NOT_MEASURED.isdisjoint(words_of(text)[-1:]):
        return False
    bare = text.rpartition(_LABELS)[2]
    return is_measurement(bare) or not is_setting(bare)


def _without_labels(names: Sequence[str]) -> list[str]:
    """Return headings without the labels that all begin with."""
    parted = [name.split(_LABELS) for name in names]
    while len(parted) > 1 and all(len(p) > 1 and p[0] == parted[0][0] for p in parted):
        parted = [parts[1:] for parts in parted]
    return [_LABELS.join(parts) for parts in parted]


def _domain_of(name: str, cells: Sequence[str]) -> Heading | None:
    """Return the power of a domain of RAPL, by the last label of a heading; None for others."""
    last = name.rpartition(_LABELS)[2].lower().rstrip("-_0123456789")
    known = RAPL.get({"package": "pkg"}.get(last, last))
    if known is None:
        return None
    numbers = np.array([float(number_text(cell)) for cell in cells])
    watts = numbers[~np.isnan(numbers)]
    is_power = len(watts) and watts.min() >= 0 and _LEAST_W <= watts.max() <= _MOST_W
    return known if is_power and not is_running_total(watts) else None

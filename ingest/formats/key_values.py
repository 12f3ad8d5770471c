"""Logs of any program with lines `name = number unit` or `name: number unit`: one run a file.

Tables of two columns, names and numbers, are such logs too; of those with more likwid's alone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

from data.declared import Column, Kind
from data.errors import FormatError
from data.knob_table import KNOB_TABLE
from ingest.files.text_lines import decode_text
from ingest.formats.logged_blocks import are_blocks
from ingest.formats.trace_headings import Heading, read_heading
from ingest.formats.trace_times import unix_of_number
from ingest.formats.value_lines import (
    COLUMNS,
    ENDS,
    PROPERTIES,
    TIME,
    are_samples,
    block_of,
    is_record,
    pairs_of,
    without_end,
)
from ingest.records import Problem, ReadContext, Reading
from ingest.settings import headings
from ingest.settings.column_names import KNOWN_WORDS, WORDS, clean_name
from ingest.settings.heading_words import words_of

_ENDINGS: Final = re.compile(
    r".*\.(?:log|txt|out|dat|res|results?|stdout|stderr|time|report|rpt|stats?|summary|csv)",
    re.IGNORECASE,
)
_LIKWID: Final = re.compile(r"^(?:TABLE|STRUCT),", re.MULTILINE)
_PACKAGES: Final = frozenset({"package", "pkg", "rapl"})
_TARGETS: Final = {"energy": "energy_j", "power": "power_w"}
# Of what threads that issue requests measure.
_OF_REQUESTS: Final = WORDS["latencies"] | WORDS["loads"]
# Of times of a part of a run, or of one item.
_OF_PARTS: Final = _OF_REQUESTS.union(
    WORDS["phases"], WORDS["moments"], WORDS["limits"], WORDS["statistics"], WORDS["spreads"],
    ("per", "interval", "period", "step", "overhead", *WORDS["times_of_day"]),
)  # fmt: skip
_KNOB_KINDS: Final = {knob.column: knob.kind for knob in KNOB_TABLE}
# Whose energy is the run's, the best first.
_WHOLE: Final = ("total", "", "package", "gpu")
# Names that differ in a number only are of steps, not of the run.
_MOST_NUMBERED: Final = 3
_DIGITS: Final = re.compile(r"\d+")
_SIGNS: Final = re.compile(r"[\W_]+")
# What a program says of results that are wrong.
_FAILED: Final = frozenset({"unsuccessful", "failed", "failure", "incorrect", "invalid", "wrong"})
_CLOCKS: Final = {(word,) for word in WORDS["clocks"]}


class _Line(NamedTuple):
    """A line: its name, its text, the unit of a number or None of a text."""

    key: str
    text: str
    unit: str | None
    heading: Heading

    @property
    def words(self) -> tuple[str, ...]:
        return words_of(self.key)

    @property
    def named(self) -> headings.Heading:
        return headings.read_heading(self.key, self.unit or "")

    @property
    def is_time(self) -> bool:
        """Whether it is a number of a time in its unit."""
        unit = self.named.unit if self.unit is not None else None
        return unit is not None and unit.quantity == "time"

    @property
    def is_moment(self) -> bool:
        """Whether it is the time of day of a begin or an end."""
        is_named = not WORDS["times_of_day"].isdisjoint(self.words)
        return is_named and bool(self.unit is not None and unix_of_number(float(self.text)) > 0)

    @property
    def is_limit(self) -> bool:
        """Whether it states a limit in its unit, such as that of a power: none was measured."""
        is_named = not WORDS["limits"].isdisjoint(self.words)
        return is_named and bool(self.unit) and WORDS["compliance"].isdisjoint(self.words)

    @property
    def is_property(self) -> bool:
        """Whether it states what a meter or a machine is, or a seed: nobody tunes it."""
        is_seed = self.unit == "" and self.words[-1:] == ("seed",)
        return self.unit is not None and (is_seed or not PROPERTIES.isdisjoint(self.words))

    @property
    def is_beside(self) -> bool:
        """Whether it is a property, a limit or a counter, and so nothing that the run took."""
        return self.is_property or self.is_limit or not ENDS.isdisjoint(self.words)

    @property
    def is_set(self) -> bool:
        """Whether it states what was set: a text, a whole number without unit, or a limit."""
        is_value = self.unit is None or (self.unit == "" and self.text.isdigit())
        is_named = bool({*self.words[-1:]} & (WORDS["set"] | WORDS["given"]))
        # A clock of whole hundreds was not measured.
        is_named |= self.words[-1:] in _CLOCKS and self.text.endswith("00")
        return (is_value and is_named and not self.is_property) or self.is_limit


def sniff(name: str, head: bytes) -> bool:
    """Return whether a text ends with such lines, or has a block of them; one is a measurement.

    The ending of the name decides too: files of settings have such lines as well. A power that is
    read again and again is of samples, of which the last is not that of the run.
    """
    text = decode_text(head)
    is_table = name[-4:].lower() == ".csv" or COLUMNS.search(text)
    if not _ENDINGS.fullmatch(name) or (is_table and not _LIKWID.search(text)):
        return False
    lines = text.splitlines()
    if are_blocks(lines) or are_samples(lines):
        return False
    return is_record(lines) or bool(block_of(lines))


def read(blocks: Iterable[bytes], context: ReadContext) -> Reading:
    """Read numbers as metrics and texts as labels; of several lines of a name the last counts.

    Returns:
        Time, energy and power of the run, where a name says no more than that, and columns of the
        file's own names with their units.

    Raises:
        FormatError: No such line, or most numbers are of parts, and none of the whole.
    """
    reading = Reading()
    found = [*pairs_of(blocks, context, reading)]
    bare = _without_the_name([key for key, _, unit in found if unit is not None], context.name)
    pairs = {bare.get(key, key): (value, unit) for key, value, unit in found}
    kernels = Counter(_DIGITS.sub("#", key) for key in pairs)
    steps = {kernel for kernel, count in kernels.items() if count > _MOST_NUMBERED}
    # Numbers as the run began and ended, whose difference stands too, are counters.
    counters = {key for key in pairs if (rest := without_end(key)) != key and rest in pairs}
    lines = [
        _Line(key, text, unit, read_heading(f"{key} ({unit})" if unit else key))
        for key, (text, unit) in pairs.items()
        if _DIGITS.sub("#", key) not in steps and key not in counters
    ]
    numbered = [words_of(kernel.replace("#", "0")) for kernel in steps]
    parts = {line.key for line in lines if _is_of_a_part(line, numbered)}
    whole = _whole_run([line for line in lines if line.key not in parts])
    if parts and not whole and len(pairs) > 2 * len(lines):
        detail = f"{len(pairs) - len(lines)} of {len(pairs)} numbers are of parts, as is"
        raise FormatError(f"{detail} {min(parts)!r}: none says to be of the run ({context.name})")
    columns: dict[str, Column] = {}
    is_of_requests = any(_OF_REQUESTS.intersection(line.words) for line in lines)
    for line in lines:
        if target := whole.get(line.key):
            scale = line.named.scale if line.is_time else line.heading.scale
            value = float(line.text) * scale
            # Those of several sockets add up.
            reading.measurements[target] = reading.measurements.get(target, 0.0) + value
        elif line.is_moment:
            continue
        elif line.is_property and not line.is_set:
            name = clean_name(line.key, "real", columns)
            columns[name] = Column(name, "label", "real", line.key, line.key, line.unit or "")
            reading.knobs[name] = float(line.text)
        elif line.is_set:
            _take_knob(line, reading, columns, is_of_requests)
        elif line.unit is None:
            name = clean_name(line.key, "text", columns)
            columns[name] = Column(name, "label", "text", line.key, line.key)
            reading.knobs[name] = line.text
            if line.text.lower() in _FAILED:
                detail = f"the program says {line.key!r} is {line.text}"
                reading.problems.append(Problem("unverified", "doubted", detail))
        else:
            name = clean_name(line.key, "real", columns)
            unit = line.unit
            better: Literal["more", "less"] | None = (
                "more" if {*line.words} & WORDS["more"] else None
            )
            better = "less" if line.heading.quantity == "energy" else better
            if not unit and line.words and line.words[-1] in headings.RATES:
                unit = headings.RATES[line.words[-1]]
            columns[name] = Column(name, "metric", "real", line.key, line.key, unit, better)
            reading.measurements[name] = float(line.text)
    if not reading.measurements:
        raise FormatError(f"no line with a name and a number ({context.name})")
    reading.columns = tuple(columns.values())
    parts_of = [line.key for line in lines if line.heading.quantity == "energy" and line.unit]
    if parts_of and "energy_j" not in whole.values():
        detail = f"none of {', '.join(parts_of)} says to be of the whole machine: no energy_j"
        reading.problems.append(Problem("parts_only", "doubted", detail))
    return reading


def _without_the_name(keys: Sequence[str], file: str) -> dict[str, str]:
    """Return by name what it says but for words before it that the file's name has too.

    `GPT-2 Training Time` and `GPT-2 Energy` of `gpt2_results.txt` are a time and an energy.
    """
    rows = [key.split() for key in keys]
    shared = [of[0] for of in zip(*rows, strict=False) if len({*of}) == 1]
    said = _SIGNS.sub("", file).lower()
    most = min(map(len, rows), default=1) - 1
    named = [_SIGNS.sub("", word).lower() for word in shared[:most]]
    is_own = [len(word) > 1 and word in said and word not in KNOWN_WORDS for word in named]
    count = max((at for at, each in enumerate(is_own, 1) if each), default=0)
    count *= len(rows) > 1
    return {key: " ".join(row[count:]) for key, row in zip(keys, rows, strict=True)}


def _is_of_a_part(line: _Line, steps: Sequence[Sequence[str]]) -> bool:
    """Return whether a name is one of many: `energy avx` beside `energy size8`, `energy size16`.

    It has another word where these have one with a number.
    """
    whole = WORDS["plain"] | WORDS["machines"] | {"system", "whole", "server", "board", "job"}
    for step in steps if line.heading.domain == "" else ():
        apart = [pair for pair in zip(line.words, step, strict=False) if pair[0] != pair[1]]
        if len(line.words) == len(step) and len(apart) == 1:
            return apart[0][1][-1:].isdigit() and apart[0][0] not in whole
    return False


def _whole_run(lines: Sequence[_Line]) -> dict[str, str]:
    """Return the columns of the lake by name: the run's time, and its energy and power.

    Of several energies that of the machine counts, then of all packages, then of all GPUs.
    """
    whole = {
        line.key: "duration_s"
        for line in lines
        if line.unit is not None
        and TIME.fullmatch(" ".join(words_of(re.sub(r"\s*[(\[][^)\]]*[)\]]", "", line.key))))
    }
    times = [line for line in lines if line.is_time]
    is_named = len(times) == 1 and {*times[0].words} & {"time", "duration", "runtime", "elapsed"}
    if not whole and is_named and _OF_PARTS.isdisjoint(times[0].words):
        # The only time: `Training Time`; `slowest rank` is of a part.
        whole = {times[0].key: "duration_s"}
    whole = dict([*whole.items()][:1])
    for quantity, target in _TARGETS.items():
        of = [line for line in lines if line.unit is not None and line.key not in whole
              and line.heading.quantity == quantity and line.heading.domain in _WHOLE
              and not line.is_beside]  # fmt: skip
        if not of:
            continue
        # Extremes of an energy or a power are further from that of the run.
        extremes = [line for line in of if not WORDS["statistics"].isdisjoint(line.words)]
        best = min(of, key=lambda line: (_WHOLE.index(line.heading.domain), line in extremes))
        # Of a processor and a card none is the whole, but that of a package has its GPU in it.
        is_cpu = best.heading.domain == "package" and _PACKAGES.isdisjoint(best.words)
        if not (is_cpu and any(line.heading.domain == "gpu" for line in of)):
            alike = [line for line in of if line.heading.domain in ("package", "gpu")]
            alike = [line for line in alike if _unnumbered(line) == _unnumbered(best)]
            # One without a number has the others in it.
            total = [line for line in alike if _unnumbered(line) == [*line.words]]
            whole.update((line.key, target) for line in total[:1] or [best, *alike])
    return whole


def _unnumbered(line: _Line) -> list[str]:
    """Return the words that `Package 0 energy` and `Package 1 energy` share."""
    return [word.rstrip("0123456789") for word in line.words if not word.isdigit()]


def _take_knob(
    line: _Line, reading: Reading, columns: dict[str, Column], is_of_requests: bool
) -> None:
    """Add what was set: a knob of the lake if it has this one, else one of the file's own.

    The lake's `threads` issue requests; those of a program are tuned.
    """
    name = line.key.lower()
    kind: Kind = "text" if line.unit is None else "real" if line.is_limit else "whole"
    if name == "threads" and not is_of_requests:
        line = line._replace(key="thread count")
    elif _KNOB_KINDS.get(name) == kind:
        reading.knobs[name] = int(line.text) if line.unit is not None else line.text
        return
    name = clean_name(line.key, kind, columns, "knob")
    is_given = not WORDS["given"].isdisjoint(line.words)
    unit = line.unit or ""
    columns[name] = Column(name, "knob", kind, line.key, line.key, unit, is_given=is_given)
    values = {"text": str, "real": float, "whole": int}
    reading.knobs[name] = values[kind](line.text)

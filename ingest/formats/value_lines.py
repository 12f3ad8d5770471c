"""Lines `name = number unit` of logs of any program, and which lines of a text are of its run."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from ingest.files.text_lines import whole_text
from ingest.formats.logged_blocks import field_of, under_sections
from ingest.formats.written_numbers import without_blanks, without_commas
from ingest.records import Problem, ReadContext, Reading
from ingest.settings import headings
from ingest.settings.column_names import ENDS_OF_RUNS, WORDS
from ingest.settings.heading_words import words_of

# Blanks are not given back, and end with their line: long runs of them are read once.
_NAME: Final = r"[^\S\n]*+(?:\|[^\S\n]*+)?([^\W\d_](?:[\w .%/()\[\]+-]|:(?=\S)){1,58}?)\s*"
_KEY: Final = _NAME + r"[:=]\s+"
# Hours, minutes and seconds, as GNU time writes them.
_PLAIN: Final = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
# With marks of thousands, or a decimal comma.
_WRITTEN: Final = r"[-+]?(?:\d[\d,]*(?:\.\d+)?|\d{1,3}(?:\.\d{3})+,\d+)(?:[eE][-+]?\d+)?"
_CLOCK: Final = r"(?:\d+:)?\d+:\d\d(?:\.\d+)?"
_SPAN: Final = re.compile(r"\d:\d\d:\d\d(?:\.\d+)?")
_NUMBER: Final = re.compile(
    rf"{_KEY}({_CLOCK}|{_WRITTEN})\s*+(?:([A-Za-zµ%/°][A-Za-z/%]{{0,11}})\s*+)?\.?"
)
# `Package energy after: 77550.2 (921.1 J consumed)`: what the run took, behind a counter.
_RESULT: Final = re.compile(
    rf"{_KEY}{_WRITTEN}\s*[A-Za-zµ]*\s*\(\s*({_WRITTEN})\s*([A-Za-zµ/]{{1,12}})\s+"
    r"(?:consumed|used|spent|drawn|elapsed|taken|in total)\s*\)\.?"
)
# `FPS:7.41`
_CLOSE: Final = re.compile(r"\s*([A-Za-z][A-Za-z ]{0,20}):(\d+\.\d+)()\s*")
_TOOK: Final = re.compile(r"elapsed|duration|runtime|mm:ss", re.IGNORECASE)
# The sum over processors, which likwid writes beside their values.
_SUM: Final = re.compile(r"((?:Energy|Power)(?:(?!Energy|Power|\] STAT)[^,|])*+\]) STAT")
# A line of a table whose first column has names with units: its first number.
_ROW: Final = re.compile(
    rf"{_NAME}(?<=[\])])\s*(?:,\s*({_PLAIN})\s*(?:,.*)?|\|\s*({_PLAIN})\s*(?:\|.*)?"
    rf"|[;\t]\s*({_WRITTEN})\s*)"
)
# A name with a unit and two numbers between commas.
COLUMNS: Final = re.compile(rf"^{_NAME}(?<=[\])]),\s*{_PLAIN}\s*,\s*{_PLAIN}", re.MULTILINE)
_WORD: Final = re.compile(_KEY + r"([^\W\d_][\w.+/-]*(?: [\w.+/-]+){0,2})\s*")
# Names of the time that a run took; a time of a part of it has further words.
TIME: Final = re.compile(
    r"(?:(?:total|elapsed|execution|wall|wall.?clock|real|run|running) ?)*"
    r"(?:time|elapsed|duration|runtime)(?: taken)?(?: in (?:ms|milliseconds|s|secs?|seconds))?"
    r"|wall.?(?:clock )?time for (?:all|running .*)",
    re.IGNORECASE,
)
# A log measures one of these at least.
_MEASURED: Final = frozenset({"energy", "power", "time", "rate"})
_LEAST: Final = 3
# So many powers of one name are samples.
_SAMPLES: Final = 6
# Its results are in its last lines, of which they are this share at least.
_LAST_LINES: Final = 40
_LEAST_SHARE: Final = 0.25
# No number of a log is greater.
_MOST: Final = 2.0**63
# Of what a counter, a meter or a machine is, not of what a run took.
PROPERTIES: Final = WORDS["rated"]
ENDS: Final = ENDS_OF_RUNS.keys() | {*ENDS_OF_RUNS.values()}


def is_record(lines: Iterable[str]) -> bool:
    """Return whether many of the last lines have numbers, one of a measurement."""
    last = [line for line in lines if line.strip()][-_LAST_LINES:]
    numbers = [pair for line in last if (pair := number_of(line)) is not None]
    return (
        len(numbers) >= min(_LEAST, max(len(last), _LEAST - 1))
        and len(numbers) >= _LEAST_SHARE * len(last)
        and any(is_measured(key, unit) for key, _, unit in numbers)
    )


def block_of(lines: Iterable[str]) -> list[str]:
    """Return the lines of the blocks of names and values that a longer text has once each.

    A block has several numbers one below the other; one of all is a measurement. Where a name
    recurs, the blocks are of several runs or parts.
    """
    found, numbers = list[str](), list[tuple[str, str, str]]()
    for _, group in groupby(lines, lambda line: field_of(line) is None):
        own = [*group]
        pairs = [pair for line in own if (pair := number_of(line)) is not None]
        if field_of(own[0]) is not None and len(pairs) >= _LEAST:
            found += own
            numbers += pairs
    names = [field[0] for field in map(field_of, found) if field]
    is_once = len({*names}) == len(names)
    is_run = is_once and any(is_measured(key, unit) for key, _, unit in numbers)
    return found if is_run else []


def are_samples(lines: Sequence[str]) -> bool:
    """Return whether lines of one name have many powers, as of `powermetrics` and `ipmitool`."""
    powers: dict[tuple[str, str], list[str]] = defaultdict(list)
    for key, number, unit in filter(None, map(number_of, lines)):
        powers[key, unit].append(number)
    return any(
        len(values) >= _SAMPLES
        and len({*values}) > 1
        and headings.quantity_of(headings.read_heading(*name)) == "power"
        for name, values in powers.items()
    )


def number_of(line: str) -> tuple[str, str, str] | None:
    """Return name, number as it is written and unit of a line; None for others."""
    if row := _ROW.fullmatch(_SUM.sub(r"\1", line)):
        return row[1].strip(), row[2] or row[3] or row[4], ""
    if result := _RESULT.fullmatch(line):
        return without_end(result[1]), result[2], result[3]
    match = _NUMBER.fullmatch(line) or _CLOSE.fullmatch(line)
    if match is None:
        return None
    # Else a time of day, which has two digits of hours.
    is_span = _TOOK.search(match[1]) or (_SPAN.fullmatch(match[2]) and TIME.fullmatch(match[1]))
    if ":" in match[2] and not is_span:
        return None
    return match[1].strip(), match[2], "s" if ":" in match[2] else match[3] or ""


def without_end(key: str) -> str:
    """Return a name without the word for when it was read: `Package energy before`."""
    return " ".join(word for word in key.split() if word.lower().strip(".,()") not in ENDS)


def is_measured(key: str, unit: str) -> bool:
    if not PROPERTIES.isdisjoint(words_of(key)):
        return False
    heading = headings.read_heading(key, unit)
    return headings.quantity_of(heading) in _MEASURED or heading.has("throughput")


def pairs_of(
    blocks: Iterable[bytes], context: ReadContext, reading: Reading
) -> Iterator[tuple[str, str, str | None]]:
    """Yield name, value and unit of each line; the unit is None of a text.

    All numbers of a file have the same decimal mark. Where that is unclear those with a comma are
    left out, which becomes a problem of the reading.
    """
    lines = without_blanks(whole_text(blocks, context.name)).splitlines()
    lines = lines if is_record(lines) else block_of(lines) or lines
    parsed = [number_of(line) for line in lines]
    keys = under_sections(lines, [each[0] if each else "" for each in parsed])
    parsed = [(key, *each[1:]) if each else None for key, each in zip(keys, parsed, strict=True)]
    written = [each[1] for each in parsed if each and ":" not in each[1]]
    plain = without_commas(written, is_comma_separated=True)
    if plain is None:
        detail = "some numbers have a decimal point: those with a comma are left out, such as "
        detail += next(text for text in written if "," in text)
        reading.problems.append(Problem("unclear_comma", "doubted", detail))
    numbers = dict(zip(written, plain or written, strict=True))
    for line, each in zip(lines, parsed, strict=True):
        if each is None:
            if text := _WORD.fullmatch(line):
                yield text[1].strip(), text[2].strip(), None
        elif ":" in each[1]:
            parts = enumerate(reversed(each[1].split(":")))
            yield each[0], f"{sum(float(part) * 60**n for n, part in parts):.12g}", "s"
        elif "," not in (number := numbers[each[1]]) and abs(float(number)) < _MOST:
            yield each[0], number, each[2]

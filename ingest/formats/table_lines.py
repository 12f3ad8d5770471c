"""The lines of the tables of a text: frames taken off, and several tables of a file cut apart.

Markdown and psql draw bars and rules around cells; some programs quote whole lines. Below a gap or
a title, a line of names with numbers under it begins another table, or goes on with the first one.
"""

import csv
import io
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice, takewhile
from typing import Final

from ingest.formats.written_numbers import is_number
from ingest.settings.headings import is_measurement

# Documents, of which a table may say again what the files beside them have.
_DOCUMENTS: Final = re.compile(r"(?i)(?:.*/)?(?:readme[^/]*|[^/]*\.(?:md|markdown|rst))")
# Lines by which frames are found.
_FIRST_LINES: Final = 4096
_OF_RULES: Final = frozenset("|+-=: \t\r\ufeff")
# A rule that crosses bars: of a table, and no line under a title.
_CROSSED: Final = re.compile(r"[-=: ][|+][-=: ]")
_HEADED: Final = re.compile(r"#{1,6} +\w")
_LEAST_BOXED: Final = 3
_QUOTED: Final = re.compile(r'\s*"((?:[^"]|"")*)"\s*')
_SEPARATED: Final = re.compile(r"[,;\t|]")
# Marks of Markdown and HTML around all of a cell: `**5.0**`, `<b>5.0</b>`.
_EMPHASIS: Final = re.compile(
    r"(?i)((?:^|[|,;\t])[ \t]*\"?)(?:(\*{1,3}|`)(?=[^\s*`])([^|*`\"]*)(?<=\S)\2"
    r"|<(b|i|em|strong|code)>([^|<\"]*)</\4>)(?=\"?[ \t\r\n]*(?:$|[|,;\t]))"
)
_PARAMETERS: Final = re.compile(
    r"(?i)\s*(?:param(?:eter)?s?|settings?|options?|propert(?:y|ies)|config\w*)\s*([,;\t|])\s*values?\s*"
)
# Above a name and its value in each line; a run has so many at most.
_PAIRS: Final = re.compile(
    r"(?i)\s*\"?(?:metrics?|measure\w*|keys?|names?|fields?|propert(?:y|ies)|parameters?|items?)"
    r"\"?([,;\t|])\"?values?\"?\s*"
)
_MOST_PAIRS: Final = 400
_WIDE: Final = re.compile(r" {2,}")
HEADING: Final = re.compile(r"(?:# ?)?(?:[^\W\d]|%|\d{1,3}(?:\.\d+)?%).{0,79}")
# Marks of titles in Markdown and in comments.
_MARKS: Final = "#*_=-: \t\r\ufeff"
# The least cells of a header, by whether blanks separate them.
_LEAST_CELLS: Final = {True: 3, False: 2}
# The level of a title without marks.
_LEAST_TITLE: Final = 99
_MOST_AHEAD: Final = 3
# A cell with more signs is a sentence.
_LONG_CELL: Final = 80
# Rows that show what their separator is.
_LEAST_ROWS: Final = 2
# Words of titles, that head no column.
_OF_TITLES: Final = frozenset({"of", "the", "for", "and", "with", "my", "from", "on", "to", "a"})


def is_document(path: str) -> bool:
    """Return whether a name is of a text for people, such as `README.md`."""
    return _DOCUMENTS.fullmatch(path) is not None


def without_frames(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines without the bars, rules and quotes that frame all rows, and without the marks of
    Markdown around cells; rules become empty.
    """
    source = map(_without_emphasis, _with_separated_names(_with_parameters(_turned(lines))))
    head = [*islice(source, _FIRST_LINES)]
    plain = _unframed(head)
    yield from map(plain, chain(head, source)) if plain else chain(head, source)


def _without_emphasis(line: str) -> str:
    is_marked = "*" in line or "`" in line or "</" in line
    return _EMPHASIS.sub(r"\1\3\5", line) if is_marked else line


def _turned(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines; names and values of one run, `metric,value`, are a header and its row.

    A name is one of a measurement, and some values are texts; where all are numbers, the settings
    say that a measurement is a row.
    """
    source = iter(lines)
    first = [*islice(source, 1)]
    mark = _PAIRS.fullmatch("".join(first).lstrip("\ufeff"))
    block = [*islice(source, _MOST_PAIRS)] if mark else []
    pairs = [*csv.reader(filter(str.strip, block), delimiter=mark[1])] if mark else []
    names = {pair[0].strip() for pair in pairs}
    is_run = {*map(len, pairs)} == {2} and len(names) == len(pairs) and len(block) < _MOST_PAIRS
    is_run = is_run and any(map(is_measurement, names))
    if is_run and len({is_number(value.strip()) for _, value in pairs}) == 2:
        text = io.StringIO()
        csv.writer(text, delimiter=mark[1] if mark else ",").writerows(zip(*pairs, strict=True))
        yield from text.getvalue().splitlines()
        yield from [""] * (len(block) - 1)
        return
    yield from chain(first, block, source)


def _with_parameters(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines; what a block `Parameter,Value` above a table says are columns of its rows."""
    source = iter(lines)
    first = [*islice(source, 1)]
    mark = _PARAMETERS.fullmatch("".join(first).lstrip("\ufeff"))
    block = [*takewhile(str.strip, source)] if mark else []
    below = next(filter(str.strip, source), "") if mark else ""
    pairs = [line.strip().split(mark[1]) for line in block] if mark else []
    if not mark or mark[1] not in below or {*map(len, pairs)} != {2}:
        yield from chain(first, block, [""] * bool(block), [below] * bool(below), source)
        return
    yield from [""] * (len(block) + 2)
    names, values = (mark[1].join(each) for each in zip(*pairs, strict=True))
    yield f"{below.rstrip()}{mark[1]}{names}"
    yield from (f"{line.rstrip()}{mark[1]}{values}" if line.strip() else line for line in source)


def _with_separated_names(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines; names between blanks above rows of as many cells have the mark of the rows."""
    source = iter(lines)
    head = [*islice(source, 1 + _MOST_AHEAD)]
    names = "".join(head[:1]).strip("\ufeff# \t\r").split()
    if len(names) > 1 and not _SEPARATED.search("".join(head[:1]).replace("\t", " ")):
        rows = [*filter(str.strip, head[1:])]
        marks = [mark for mark in ",;" if are_names_of(names, [row.split(mark) for row in rows])]
        head[:1] = [marks[0].join(names)] if marks else head[:1]
    yield from chain(head, source)


def are_names_of(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether words head rows, and are no title above another header or above numbers.

    A title has words such as `of`; numbers stand in each row, and under all measurements.
    """
    are_headings = all(map(HEADING.fullmatch, names)) and _OF_TITLES.isdisjoint(names)
    cells = [[cell.strip() for cell in row] for row in rows]
    if len(cells) < _LEAST_ROWS or {*map(len, cells)} != {len(names)} or not are_headings:
        return False
    measured = [at for at, name in enumerate(names) if is_measurement(name)]
    return bool(measured) and all(is_number(row[at]) for row in cells for at in measured)


def _unframed(head: Sequence[str]) -> Callable[[str], str] | None:
    """Return what takes the frame off a line; None where lines have none."""
    filled = [line for line in head if line.strip()]
    rules = [line for line in filled if _is_rule(line)]
    boxed = sum(_is_boxed(line) for line in filled)
    framed = sum(_is_boxed(line) or _is_rule(line) for line in filled)
    barred = sum("|" in line for line in filled)
    bars = _between_rules(filled) if barred else set[int]()
    is_framed = boxed >= _LEAST_BOXED and 2 * framed >= len(filled)
    has_headings = any(map(_HEADED.match, filled))
    if is_framed and has_headings:
        # A bar in a line of prose is of no table.
        return lambda line: "" if "|" in line and not _is_boxed(line) else _row_or_heading(line)
    if is_framed:
        return _without_box
    if bars and has_headings:
        # A document, whose headings are the titles, and no other lines.
        return lambda line: _row_or_heading(line) if line.count("|") in (0, *bars) else ""
    if any(map(_CROSSED.search, rules)) and 2 * barred >= len(filled):
        return lambda line: "" if _is_rule(line) else line
    if bars:
        return lambda line: line if line.count("|") in bars and not _is_rule(line) else ""
    if _is_apart([line for line in filled if line not in rules]):
        return lambda line: "" if _is_rule(line) else _WIDE.sub("\t", line.strip())
    quoted = sum(map(_is_quoted, filled))
    if filled and _is_quoted(filled[0]) and (2 * quoted >= len(filled) or _fits_below(filled)):
        return lambda line: _unquoted(line) if _is_quoted(line) else line
    return None


def _is_rule(line: str) -> bool:
    """Return whether a line is drawn, such as `|:---|---:|` or `+====+====+`."""
    return _OF_RULES.issuperset(line) and any(mark in line for mark in ("--", "==", ":-", "-:"))


def _between_rules(filled: Sequence[str]) -> set[int]:
    """Return how many bars separate the cells of tables of measurements below a rule, or with one
    between header and rows, in the lines of a report.
    """
    found, short = set[int](), set[int]()
    table: list[str] = []
    is_ruled = is_marked = False
    for line in chain(filled, [""]):
        if _is_rule(line):
            is_ruled = True
            # Of Markdown, which one bar tells too.
            is_marked = len(table) == 1 and line.count("|") == table[0].count("|") > 0
        elif table and line.count("|") == table[0].count("|") > (not is_marked):
            table.append(line)
        else:
            names = table[0].split("|") if table else []
            if is_ruled and len(table) > 1 and any(map(is_measurement, names)):
                (found if len(table) > _LEAST_BOXED else short).add(len(names) - 1)
            is_ruled &= len(table) < 2 or len(names) < 2
            is_marked, table = False, [line]
    return found | short if found else found


def _row_or_heading(line: str) -> str:
    """Return a row of a document without its box, or a heading; empty for other lines."""
    if _HEADED.match(line):
        return line
    is_row = "|" in line and not _is_rule(line)
    return "" if not is_row else _without_box(line) if _is_boxed(line) else line


def _is_apart(filled: Sequence[str]) -> bool:
    """Return whether wide gaps separate cells, of which some have blanks: names of columns."""
    if len(filled) < _LEAST_BOXED or any(map(_SEPARATED.search, filled[:1])):
        return False
    widths = {len(_WIDE.split(line.strip())) for line in filled}
    names = _WIDE.split(filled[0].strip())
    return len(widths) == 1 and len(names) > 1 and any(" " in name.strip() for name in names)


def _is_boxed(line: str) -> bool:
    bare = line.strip()
    return len(bare) > 1 and bare[0] == bare[-1] == "|"


def _without_box(line: str) -> str:
    if _is_rule(line):
        return ""
    return re.sub(r"\*\*|`", "", line.strip()[1:-1]) if _is_boxed(line) else line.strip(_MARKS)


def _is_quoted(line: str) -> bool:
    """Return whether a whole line of several cells is one quoted text."""
    return _QUOTED.fullmatch(line) is not None and _SEPARATED.search(line) is not None


def _unquoted(line: str) -> str:
    match = _QUOTED.fullmatch(line)
    return match[1].replace('""', '"') if match else line


def _fits_below(filled: Sequence[str]) -> bool:
    """Return whether a quoted header has as many cells as the row below it."""
    names = _unquoted(filled[0])
    marks = ("".join(_SEPARATED.findall(line)) for line in (names, *filled[1:2]))
    return len(filled) > 1 and len({*marks}) == 1


@dataclass(slots=True, eq=False)
class Section:
    """One table of a text.

    Attributes:
        start: Number of lines of the file above it.
        titles: Texts of single cells above its header, which are read with its lines: the headings
            of a document, from the first level on.
        is_headed: Whether a header with numbers below was seen in it.
    """

    start: int = 0
    titles: tuple[str, ...] = ()
    is_headed: bool = False


def sections_of(
    lines: Iterable[str], separator: str | None
) -> Iterator[tuple[Section, Iterator[str]]]:
    """Yield each table of a text with its lines, which must be consumed in this order.

    A table of texts above the first one of numbers, between bars, is none.
    """
    pairs = _numbered(lines, separator)
    head = list[tuple[Section, str]]()
    for pair in islice(pairs, _FIRST_LINES if separator == "|" else 0):
        head.append(pair)
        if pair[0].is_headed:
            head = [each for each in head if each[0] is pair[0]]
            break
    for section, own in groupby(chain(head, pairs), lambda pair: pair[0]):
        yield section, (line for _, line in own)


def first_section(lines: Iterable[str], separator: str | None) -> Iterator[str]:
    """Yield the lines of the first table of a text."""
    return next((own for _, own in sections_of(lines, separator)), iter(()))


def _numbered(lines: Iterable[str], separator: str | None) -> Iterator[tuple[Section, str]]:
    """Yield each line with its section.

    The same header again goes on with the rows, unless a title stands above it.
    """
    source, ahead = iter(lines), deque[str]()
    section, header = Section(), list[str]()
    titles, is_gap = dict[int, str](), True
    is_titled = is_passed = False
    for number, line in enumerate(_popped(source, ahead)):
        text = line.strip("\ufeff \t\r")
        if not text:
            is_gap = True
        elif is_gap and (names := _names(line, separator)):
            if _are_below(names, source, ahead, separator) and (names != header or is_titled):
                section = Section(number) if header or is_passed else section
                section.titles, header = (*titles.values(),) if is_titled else (), names
                section.is_headed = True
            # Descriptions in cells are of a text for people, whose numbers are examples.
            is_told = any(len(cell) > _LONG_CELL for each in ahead for cell in each.split("|"))
            is_passed |= separator == "|" and not (header or is_told)
            is_titled = is_gap = False
        elif text.startswith("#") or (separator is not None and separator not in text):
            level = len(text) - len(text.lstrip("#")) or _LEAST_TITLE
            titles = {at: each for at, each in titles.items() if at < level}
            titles[level], is_gap = text.strip(_MARKS), True
            is_titled = bool(titles[level])
        else:
            is_titled = is_gap = False
        yield section, line


def _popped(source: Iterator[str], ahead: deque[str]) -> Iterator[str]:
    """Yield all lines, those first that were looked at ahead."""
    while True:
        while ahead:
            yield ahead.popleft()
        if (line := next(source, None)) is None:
            return
        yield line


def _names(line: str, separator: str | None) -> list[str]:
    """Return the cells of a line of names; empty for other lines."""
    cells = [cell.strip(' \t\r"\ufeff') for cell in line.split(separator)]
    while cells and not cells[-1]:
        cells.pop()
    is_long = len(cells) >= _LEAST_CELLS[separator is None]
    named = cells if is_long and cells[0] else cells[1:]
    are_names = is_long and all(map(HEADING.fullmatch, named)) and len({*named}) == len(named)
    return cells if are_names and not any(map(is_number, named)) else []


def _are_below(
    names: Sequence[str], source: Iterator[str], ahead: deque[str], separator: str | None
) -> bool:
    """Return whether rows of numbers follow a line of names; read them ahead."""
    rows = 2 if separator is None else 1
    while len([line for line in ahead if line.strip()]) < rows + 1 and len(ahead) < _MOST_AHEAD + 2:
        if (line := next(source, None)) is None:
            break
        ahead.append(line)
    below = [line.split(separator) for line in ahead if line.strip()][: rows + 1]
    fitting = [each for each in below if len(each) >= len(names)]
    return len(fitting) >= rows and any(
        is_number(cell.strip(' \t\r"')) for each in fitting for cell in each
    )

"""What the paths of files with one heading differ in: groups of a pattern, each a column.

`a100/llama-7b/batch8.csv` and `h100/opt-1b/batch16.csv` give a folder, two words and a number.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from data.declared import check_name
from data.errors import DataError
from ingest.settings.column_names import clean_name
from ingest.settings.headings import words_of
from ingest.settings.units import unit_of
from ingest.settings.word_lists import VALUES, WORDS

_SEPARATORS: Final = "-_.=@+ "
_SEPARATED: Final = re.compile(rf"([{re.escape(_SEPARATORS)}]+)")
# In a time of day and in `1.2GHz` they separate nothing; in `cg.C.16.1` the dots do.
_ONE_PART: Final = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"|\d{4}-\d\d-\d\d(?:[-_T ]\d\d[-_.:h]?\d\d(?:[-_.:m]?\d\d)?)?|(?:19|20)\d{6}[-_T]\d{4,6}"
    r"|(?<![.\d])\d+\.\d+(?![.\d])"
)
_HIDDEN: Final = {ord(mark): 0xE000 + at for at, mark in enumerate(_SEPARATORS)}
_SHOWN: Final = {hidden: mark for mark, hidden in _HIDDEN.items()}
_NUMBERED: Final = re.compile(r"([A-Za-z][A-Za-z_-]*?)?(\d+(?:\.\d+)?)([A-Za-zµ%]+)?")
_COUNTED: Final = WORDS["set"] | WORDS["replicates"]
_MACHINE: Final = re.compile(r"[a-z]{1,3}\d{3,4}[a-z]*\d*|node\d+|host\d+", re.IGNORECASE)
# What stands behind a number of threads: `4t`.
_THREADS: Final = frozenset({"t", "thr", "th"})
# They need the word before them to say what was set: `power_limit_150W`.
_SHORT: Final = WORDS["limits"] | {"size", "count", "rate", "level", "number", "num", "time"}
_REPLICATES: Final = WORDS["replicates"] | {"r", "i"}
# Dates, seconds and ms since 1970 that are no round numbers, digests, and uuids.
_STAMP: Final = re.compile(
    r"(?:19|20)\d\d(?:0[1-9]|1[0-2])[0-3]\d(?:[^\d.].*|\d{4,6})?|1[0-9]{9}(?<!000)(?:[0-9]{3}|\.\d+)?"
    r"|(?=.*[a-f])(?=.*\d)[0-9a-f]{7,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"|\d{4}-\d\d-\d\d.*"
)
_DIGEST: Final = re.compile(r"(?=.*[a-f])(?=.*\d)[0-9a-f]{7,40}")
# What stands before and behind numbers of bytes: `bs512`, `bs4k`, `bs1M`.
_OF_SIZES: Final = frozenset(
    {"bs", "block", "blocksize", "size", "request", "chunk", "record", "msg"}
)
_PREFIXES: Final = {
    "",
    *(f"{prefix}{unit}" for prefix in "kKmMgG" for unit in ("", "B", "b", "iB")),
}
_ROUND: Final = re.compile(r"0*\d|\d*[05]|0*(?:16|32|64|128|256|512|1024|2048|4096|8192)")
# Large numbers that were set are seldom others.
_LARGE: Final = re.compile(r"\d+000|32768|65536|131072|262144|524288|1048576")
# Of twice as many paths and more, so many are read.
_MOST_READ: Final = 5_000
# Names of what a file has of a run.
_KINDS: Final = WORDS["general"] | WORDS["less"] | {"rapl", "perf", "usage", "metrics", "stats"}
# What of a quantity is set, where no word says more.
_SET: Final = {"bytes": "size", "power": "power_limit"}
# Words that name what stands behind them, for texts and numbers with units too.
_NAMING: Final = _COUNTED | WORDS["given"] | WORDS["limits"] | WORDS["clocks"]


@dataclass(frozen=True, slots=True)
class PathColumn:
    """A part of paths that differs.

    Attributes:
        kind: `whole`, `real` or `text`.
        role: `knob`; `stamp` for times, digests and numbers of jobs; `label` for what goes with
            another column.
        unit: That which stands behind each number: `150W`.
        is_given: Whether it says what ran rather than what was tuned.
    """

    name: str
    kind: str
    role: str
    values: int
    unit: str = ""
    is_given: bool = False


@dataclass(frozen=True, slots=True)
class _Token:
    """A part of all names of one level: the same number of parts in each.

    Attributes:
        texts: Of each path.
        kind: A `mark` separates; a `unit` stands behind a number.
    """

    texts: tuple[str, ...]
    kind: Literal["mark", "word", "number", "unit"]

    @property
    def is_fixed(self) -> bool:
        return len(set(self.texts)) == 1

    @property
    def word(self) -> str:
        """The word in all names; empty where it differs or is none."""
        is_word = self.is_fixed and self.kind == "word" and self.texts[0][:1].isalpha()
        return self.texts[0] if is_word else ""


def read_paths(paths: Sequence[str], own: str = "file") -> tuple[str, list[PathColumn]]:
    """Return a pattern for the ends of some paths, with a group for each part that differs.

    Of very many paths some are read, if the pattern then fits all of them.

    Args:
        own: What a part of the last level is called that no word explains.

    Returns:
        An empty pattern if the paths do not differ in anything that has a form.
    """
    if len(paths) > 2 * _MOST_READ:
        pattern, columns = _read_paths(paths[:: len(paths) // _MOST_READ], own)
        fits = re.compile(f"(?:^|.*/){pattern}", re.DOTALL).fullmatch
        if pattern and all(matches := [fits(path) for path in paths]):
            said = [{match[column.name] for match in matches if match} for column in columns]
            pairs = zip(columns, said, strict=True)
            return pattern, [replace(column, values=len(values)) for column, values in pairs]
    return _read_paths(paths, own)


def _read_paths(paths: Sequence[str], own: str) -> tuple[str, list[PathColumn]]:
    depth = min(path.count("/") for path in paths)
    parts = [path.split("/")[-depth - 1 :] for path in paths]
    reader = _Reader()
    pattern: list[str] = []
    for level in range(depth + 1):
        texts = tuple(part[level] for part in parts)
        if len(set(texts)) > 1:
            pattern.append(reader.read(texts, own if level == depth else "folder"))
        elif reader.columns or level == depth:
            # Only what stands below the first part that differs matters.
            pattern.append(_literal(texts[0]))
    return ("/".join(pattern), reader.columns) if reader.columns else ("", [])


def is_own(name: str) -> bool:
    """Return whether a column is none of the lake's own."""
    try:
        check_name(name)
    except DataError:
        return False
    return True


class _Reader:
    """Reads the levels of some paths; has the columns that it found."""

    def __init__(self) -> None:
        self.columns: list[PathColumn] = []
        self._texts: dict[str, tuple[str, ...]] = {}

    def read(self, texts: tuple[str, ...], level: str) -> str:
        """Return the pattern of one level.

        Args:
            level: The name of a part that no word explains.
        """
        if level == "folder" and _are_machines(texts):
            return self._group(texts, "", level, "")
        ends = {text.rpartition(".")[2] for text in texts if "." in text[1:]}
        end = f".{ends.pop()}" if level == "file" and len(ends) == 1 else ""
        bare = tuple(
            _ONE_PART.sub(lambda part: part[0].translate(_HIDDEN), text.removesuffix(end))
            for text in texts
        )
        tokens = _joined([*_tokens(bare)])
        marks = "".join({mark for token in tokens if token.kind == "mark" for mark in token.texts})
        pattern, used = "", set[str]()
        for at, token in enumerate(tokens):
            if token.is_fixed:
                pattern += _literal(token.texts[0])
            elif token.kind == "mark":
                pattern += rf"[{re.escape(_SEPARATORS)}]*"
            else:
                after = tokens[at + 1] if at + 1 < len(tokens) else None
                word = _name_before(tokens, at)
                if after and after.kind == "unit" and after.texts[0].lower() in _COUNTED | _THREADS:
                    word = "threads" if after.texts[0].lower() in _THREADS else after.texts[0]
                    used.add(word)
                elif word in used:
                    word = ""
                unit = after.texts[0] if after and after.kind == "unit" else ""
                if not unit and self._are_replicates(tokens, at, word):
                    word = "rep"
                pattern += self._group(token.texts, word, level, marks, unit)
        return pattern + _literal(end)

    def _are_replicates(self, tokens: Sequence[_Token], at: int, word: str) -> bool:
        """Return whether the last numbers of names, which no word explains, are of replicates."""
        texts = tokens[at].texts
        is_free = not word or (at > 1 and not tokens[at - 2].is_fixed)
        rest = [token for token in tokens[at + 1 :] if token.kind == "number"]
        if not is_free or rest or "replicate" in self._texts or not all(map(str.isdigit, texts)):
            return False
        numbers = sorted({int(text) for text in texts})
        return numbers[0] <= 1 and numbers == [*range(numbers[0], numbers[-1] + 1)]

    def _group(
        self, texts: tuple[str, ...], word: str, level: str, marks: str, unit: str = ""
    ) -> str:
        """Return the pattern of a part that differs; add its column."""
        texts = tuple(text.translate(_SHOWN) for text in texts)
        values = set(texts)
        is_whole = all(re.fullmatch(r"\d+", text) for text in texts)
        is_real = all(re.fullmatch(r"\d+(\.\d+)?", text) for text in texts)
        # Numbers of jobs are of one file each.
        is_job = len(values) == len(texts) > 3 and all(re.fullmatch(r"\d{5,}", t) for t in values)
        is_job = is_job and not all(map(_LARGE.fullmatch, values)) and not _names_size(word)
        # A digest with several files may be a version that was compared.
        is_digest = len(values) < len(texts) and all(map(_DIGEST.fullmatch, values))
        is_stamp = is_job or (not is_digest and all(map(_STAMP.fullmatch, values)))
        kind = "text" if is_stamp or not is_real else "whole" if is_whole else "real"
        form = (
            rf"[^/{re.escape(''.join(m for m in sorted(set(marks)) if m not in ''.join(values)))}]"
        )
        form += "*?" if "" in values else "+?"
        form = {"text": form, "real": r"\d+(?:\.\d+)?", "whole": r"\d+"}[kind]
        kinds = {word for value in values for word in words_of(value)}
        is_kind = level == "file" and kind == "text" and bool(self._texts) and kinds <= _KINDS
        if texts in self._texts.values() or is_kind:
            # The folder says it already, or a run has a file of each: `time.txt`, `energy.txt`.
            return form
        stated = unit_of(unit) if kind != "text" and unit else None
        naming = _NAMING if kind != "text" else _NAMING - WORDS["replicates"]
        if {*words_of(word)}.isdisjoint(naming) and word.lower() not in _OF_SIZES:
            if stated is not None:
                # `f1200MHz` is a frequency, `64B` a size.
                word = _SET.get(stated.quantity, stated.quantity) or word
            elif kind == "text":
                small = {value.lower() for value in values}
                word = next((name for name, of in VALUES.items() if small <= of), "")
        if is_whole and words_of(word)[-1:] and words_of(word)[-1] in _REPLICATES:
            name = "replicate"
        elif not is_real and _are_machines(texts):
            name = "machine"
        elif is_whole and word.lower() in ("thread", "threads"):
            name = "threads"
        else:
            name = clean_name(
                word or level, kind if word else str(len(self.columns) + 1), self._texts, "knob"
            )
        if name in self._texts:
            name = clean_name(f"{name}_{len(self.columns) + 1}", kind, self._texts, "knob")
        is_twin = kind == "text" and any(
            len({*zip(texts, other, strict=True)}) == len(values) == len({*other})
            for other in self._texts.values()
        )
        role = "stamp" if is_stamp else "label" if is_twin else "knob"
        self._texts[name] = texts
        shown = stated.text if stated else ""
        is_given = role == "knob" and not WORDS["given"].isdisjoint(words_of(name))
        self.columns.append(PathColumn(name, kind, role, len(values), shown, is_given))
        return rf"(?P<{name}>{form})"


def _are_machines(texts: Sequence[str]) -> bool:
    """Return whether texts are names of machines, and no sweep: `f1200`, `f1600`, `f2000`."""
    if any({*texts} <= names for names in VALUES.values()):
        return False
    starts = {text.rstrip("0123456789") for text in texts}
    is_said = {start.lower() for start in starts} <= _NAMING | WORDS["loads"] | _OF_SIZES
    is_many = len(starts) == 1 and len({*texts}) > 2
    is_sweep = (is_many or is_said) and not {*starts} & {"node", "host"}
    return not is_sweep and all(map(_MACHINE.fullmatch, texts))


def _names_size(word: str) -> bool:
    """Return whether a word says that the number behind it is one that was set."""
    return word.lower() in _OF_SIZES or not {*words_of(word)}.isdisjoint(_NAMING)


def _literal(text: str) -> str:
    return re.escape(text.translate(_SHOWN)).replace("\\-", "-").replace("\\ ", " ")


def _tokens(texts: tuple[str, ...]) -> Iterator[_Token]:
    """Yield the parts of some names, and what separates them.

    Names are cut where all have the same separators; what has not, as `vit_small` beside
    `resnet18`, is one part, but for its begin and end that are alike.
    """
    marks = _common_marks(texts)
    if marks:
        rows = [re.split(rf"([{re.escape(marks)}]+)", text) for text in texts]
        for at, column in enumerate(zip(*rows, strict=True)):
            yield from [_Token(column, "mark")] if at % 2 else _tokens(column)
    elif any(map(_SEPARATED.search, texts)) and len(set(texts)) > 1:
        tokens = [*_ragged([_SEPARATED.split(text) for text in texts])]
        varied = [token for token in tokens if not token.is_fixed and token.kind != "mark"]
        # `powercap` beside `no_powercap` is one name.
        is_one = len(varied) == 1 and "" in varied[0].texts
        yield from [_Token(texts, "word")] if is_one else tokens
    else:
        yield from _field(texts)


def _common_marks(texts: Sequence[str]) -> str:
    """Return the separators that all texts have in the same order."""
    same = [mark for mark in _SEPARATORS if len({text.count(mark) for text in texts}) == 1]
    same = [mark for mark in same if mark in texts[0]]
    for marks in ("".join(same), *sorted(same, key=texts[0].count, reverse=True)):
        if marks:
            runs = {tuple(re.findall(rf"[{re.escape(marks)}]+", text)) for text in texts}
            if len(runs) == 1:
                return marks
    return ""


def _field(texts: tuple[str, ...]) -> Iterator[_Token]:
    """Yield word, number and unit of texts such as `batch16` and `150W`; else the texts."""
    plain = [text.translate(_SHOWN) for text in texts]
    if any({text.lower() for text in plain} <= names for names in VALUES.values()):
        yield _Token(texts, "word")
        return
    found = [match for text in plain if (match := _NUMBERED.fullmatch(text))]
    units = {match[3] or "" for match in found}
    unit = next(iter(units), "")
    is_unit = len(units) == 1 and (unit_of(unit) is not None or unit.lower() in _COUNTED | _THREADS)
    is_split = len(found) == len(texts) and (is_unit or units == {""})
    words = {match[1] or "" for match in found}
    word = next(iter(words), "")
    # `esp32` and `resnet18` are names; `batch16` and `conn100` say how much.
    is_round = all(_ROUND.fullmatch(match[2]) for match in found)
    is_name = len(word) > 2 and {*words_of(word)}.isdisjoint(_NAMING) and not is_round
    is_size = units != {""} and units <= _PREFIXES and word.lower() in _OF_SIZES
    if is_size and len(words) == 1 and len(found) == len(texts):
        yield _Token(tuple(word for _ in found), "word")
        yield _Token(tuple(text[len(word) :] for text in texts), "word")
    elif is_split and len(words) == 1 and (unit or not is_name):
        if word:
            yield _Token(tuple(word for _ in found), "word")
        yield _Token(tuple(match[2] for match in found), "number")
        if unit:
            yield _Token(tuple(unit for _ in found), "unit")
    elif any(texts):
        yield _Token(texts, "word")


def _ragged(rows: Sequence[list[str]]) -> Iterator[_Token]:
    """Yield the parts of names of which not all have as many: the middle one takes the rest."""
    words = (word for word in rows[0][::2] if word.isalpha())
    anchor = next((w for w in words if all(row[::2].count(w) == 1 for row in rows)), None)
    if anchor is not None:
        ats = [row.index(anchor) for row in rows]
        cuts = [
            (row[: max(at - 1, 0)], row[max(at - 1, 0) : at], row[at + 1 : at + 2], row[at + 2 :])
            for row, at in zip(rows, ats, strict=True)
        ]
        before, left_mark, right_mark, after = (
            tuple(map("".join, each)) for each in zip(*cuts, strict=True)
        )
        yield from _tokens(before)
        yield from [_Token(left_mark, "mark")] if any(left_mark) else ()
        yield _Token((anchor,) * len(rows), "word")
        yield from [_Token(right_mark, "mark")] if any(right_mark) else ()
        yield from _tokens(after)
        return
    least = min(map(len, rows))
    right = 0
    while right + 2 <= least + 1 and _is_shared(rows, -right - 1):
        right += 2
    left = 0
    while left + right + 2 <= least + 1 and _is_shared(rows, left):
        left += 2
    for at in range(0, left, 2):
        yield from _field(tuple(row[at] for row in rows))
        # Of a name without a middle one mark is left.
        ends = [min(at + 2, len(row) - right) for row in rows]
        yield _Token(
            tuple("".join(row[at + 1 : end]) for row, end in zip(rows, ends, strict=True)), "mark"
        )
    middles = [row[left : len(row) - right] for row in rows]
    yield _Token(tuple("".join(middle) for middle in middles), "word")
    for at in range(right, 0, -2):
        mark = tuple(
            "".join(row[-at : len(row) - at + 1]) if len(row) >= at else "" for row in rows
        )
        yield _Token(mark, "mark")
        yield from _field(tuple(row[1 - at] if at > 1 else row[-1] for row in rows))


def _is_shared(rows: Sequence[Sequence[str]], at: int) -> bool:
    """Return whether a part has a value, or a form with a number, in names of any length."""
    forms: dict[int, set[str]] = {}
    for row in rows:
        text = row[at].translate(_SHOWN)
        of = forms.setdefault(len(row), set())
        of |= {text, re.sub(r"\d+(\.\d+)?", "#", text) if text[:1] else ""}
    return bool(set.intersection(*forms.values()))


def _joined(tokens: Sequence[_Token]) -> list[_Token]:
    """Return the parts; neighbours of which each tells the other are one: `llama-7b`, `opt-1b`."""
    joined: list[_Token] = []
    last: int | None = None
    for token in tokens:
        joined.append(token)
        if token.is_fixed or token.kind == "mark":
            last = last if token.kind in ("mark", "unit") else None
            continue
        before = joined[last] if last is not None else None
        if before is not None and last is not None:
            pairs = {*zip(before.texts, token.texts, strict=True)}
            is_same = len(pairs) == len({*before.texts}) == len({*token.texts})
            if is_same and not before.kind == token.kind == "number":
                texts = zip(*(each.texts for each in joined[last:]), strict=True)
                joined[last:] = [_Token(tuple(map("".join, texts)), "word")]
        last = len(joined) - 1
    return joined


def _name_before(tokens: Sequence[_Token], at: int) -> str:
    """Return the word before a part that differs; with the one before it if it says little."""
    words = [n for n in range(at) if tokens[n].kind == "word" and tokens[n].texts[0][:1].isalpha()]
    if (
        any(not token.is_fixed for token in tokens[words[-1] : at] if token.kind != "mark")
        if words
        else True
    ):
        # It names what stands between.
        return ""
    said = [tokens[n].word for n in words[-2:]]
    if len(said) == 2 and all(said) and said[1].lower() in _SHORT and words[-1] - words[-2] == 2:
        return f"{said[0]}_{said[1]}"
    return said[-1] if said else ""

"""Names of files and folders in parts: words, numbers, units, marks; and the pattern of these."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final, Literal

from ingest.settings.column_names import VALUES, WORDS
from ingest.settings.heading_words import words_of
from ingest.settings.units import unit_of

SEPARATORS: Final = "-_.=@+ "
MARK: Final = re.compile(rf"([{re.escape(SEPARATORS)}]+)")
HIDDEN: Final = {ord(mark): 0xE000 + at for at, mark in enumerate(SEPARATORS)}
SHOWN: Final = {hidden: mark for mark, hidden in HIDDEN.items()}
_NUMBERED: Final = re.compile(r"([A-Za-z][A-Za-z_-]*?)?(\d+(?:\.\d+)?)([A-Za-zµ%]+)?")
COUNTED: Final = WORDS["set"] | WORDS["replicates"]
# What stands behind a number of threads: `4t`.
THREADS: Final = frozenset({"t", "thr", "th"})
# What stands behind a number and names it: `50rps`, `8bs`.
BEHIND: Final = COUNTED | WORDS["loads"] | THREADS | {"bs", "reqs", "conns"}
# What stands before and behind numbers of bytes: `bs512`, `bs4k`, `bs1M`.
OF_SIZES: Final = WORDS["sizes"]
# A date and a time at the end of letters or digits, in which marks are hidden.
STAMPED: Final = re.compile(r"(?<=[A-Za-z0-9])(?:19|20)\d{6}[\ue000-\ue00fT]\d{4,6}(?!\d)")
_PREFIXES: Final = {
    "",
    *(f"{prefix}{unit}" for prefix in "kKmMgG" for unit in ("", "B", "b", "iB")),
}
_ROUND: Final = re.compile(r"0*\d|\d*[05]|0*(?:16|32|64|128|256|512|1024|2048|4096|8192)")
_FEW_PARTS: Final = 2
# These letters are of replicates where they count them from 0 or 1.
_LETTERS: Final = frozenset({"r", "i"})
# What has a clock: `gpu306`.
_CLOCKED: Final = frozenset({"gpu", "cpu", "mem", "core", "uncore", "emc"})
# Words that name what stands behind them, for texts and numbers with units too.
NAMING: Final = COUNTED | WORDS["given"] | WORDS["limits"] | WORDS["clocks"]
# They need the word before them to say what was set: `power_limit_150W`.
_SHORT: Final = WORDS["limits"] | {"size", "count", "rate", "level", "number", "num", "time"}


@dataclass(frozen=True, slots=True)
class Token:
    """A part of all names of one level: the same number of parts in each.

    Attributes:
        texts: Of each path.
        kind: A `mark` separates; a `unit` stands behind a number.
        is_listed: Whether only the texts themselves tell where it ends.
    """

    texts: tuple[str, ...]
    kind: Literal["mark", "word", "number", "unit"]
    is_listed: bool = False

    @property
    def is_fixed(self) -> bool:
        return len(set(self.texts)) == 1

    @property
    def word(self) -> str:
        """The word in all names; empty where it differs or is none."""
        is_word = self.is_fixed and self.kind == "word" and self.texts[0][:1].isalpha()
        return self.texts[0] if is_word else ""


def cut_at_stamps(texts: tuple[str, ...]) -> Iterator[Token]:
    """Yield the parts of names; a date and a time that all have is one, without a mark too."""
    found = [STAMPED.search(text) for text in texts]
    cuts = [(t[: m.start()], m[0], t[m.end() :]) for t, m in zip(texts, found, strict=True) if m]
    if len(cuts) < len(texts) or any(not before for before, _, _ in cuts):
        yield from tokens_of(texts)
        return
    before, stamps, after = (tuple(each) for each in zip(*cuts, strict=True))
    yield from tokens_of(before)
    yield Token(stamps, "word")
    yield from tokens_of(after) if any(after) else ()


def tokens_of(texts: tuple[str, ...]) -> Iterator[Token]:
    """Yield the parts of some names, and what separates them.

    Names are cut into the parts that their begins and ends share, in value or in form; what is left
    between, as `vit_small` beside `resnet18`, is one part.
    """
    if any(map(MARK.search, texts)) and len(set(texts)) > 1:
        tokens = [*_ragged([MARK.split(text) for text in texts])]
        varied = [token for token in tokens if not token.is_fixed and token.kind != "mark"]
        # `powercap` beside `no_powercap` is one name, and so is what one of several names has.
        most = len(texts) if len(varied) == 1 else 1
        is_one = any("" in t.texts and sum(map(bool, t.texts)) <= most for t in varied)
        is_one &= len(varied) <= _FEW_PARTS and all(t.kind == "word" for t in varied)
        yield from [Token(texts, "word")] if is_one else tokens
    else:
        yield from _field(texts)


def two_lists(texts: Collection[str]) -> tuple[str, dict[str, tuple[str, str]]]:
    """Return the mark in names of which each begin stands with each end, and both of each name.

    `resize_x_jit` and `sum_jit` are of two functions where `resize_x_aot` and `sum_aot` are too.
    """
    first = min(texts)
    for mark in re.finditer(rf"[{re.escape(SEPARATORS)}:|]+", first):
        begin, end = first[: mark.end()], first[mark.start() :]
        ends = {text.removeprefix(begin) for text in texts if text.startswith(begin)}
        begins = {text.removesuffix(end) for text in texts if text.endswith(end)}
        is_all = len(ends) * len(begins) == len({*texts}) and min(len(ends), len(begins)) > 1
        cut = {f"{a}{mark[0]}{b}": (a, b) for a in begins for b in ends} if is_all else {}
        if cut.keys() == {*texts}:
            return mark[0], cut
    return "", {}


def crossed(token: Token) -> list[Token]:
    """Return a part of names in two if they are of two lists."""
    mark, cut = two_lists(token.texts)
    if not cut:
        return [token]
    parts = [*zip(*(cut[text] for text in token.texts), strict=True)]
    hidden = [tuple(part.translate(HIDDEN) for part in each) for each in parts]
    is_listed = all(any(map(MARK.search, each)) for each in parts)
    fields = [[replace(f, is_listed=is_listed) for f in _field(each)] for each in hidden]
    return [*fields[0], Token((mark,) * len(token.texts), "mark"), *fields[1]]


def _field(texts: tuple[str, ...]) -> Iterator[Token]:
    """Yield word, number and unit of texts such as `batch16` and `150W`; else the texts."""
    plain = [text.translate(SHOWN) for text in texts]
    if any({text.lower() for text in plain} <= names for names in VALUES.values()):
        yield Token(texts, "word")
        return
    numbered = [match for text in plain if (match := _NUMBERED.fullmatch(text))]
    units = {match[3] or "" for match in numbered}
    unit = next(iter(units), "")
    is_unit = len(units) == 1 and (unit_of(unit) is not None or unit.lower() in BEHIND)
    is_split = len(numbered) == len(texts) and (is_unit or units == {""})
    tokens = {match[1] or "" for match in numbered}
    word = next(iter(tokens), "")
    # `esp32` and `resnet18` are names; `batch16` and `conn100` say how much.
    is_round = all(_ROUND.fullmatch(match[2]) for match in numbered)
    is_name = len(word) > 2 and {*words_of(word)}.isdisjoint(NAMING | _CLOCKED) and not is_round
    is_size = units != {""} and units <= _PREFIXES and word.lower() in OF_SIZES
    if is_size and len(tokens) == 1 and len(numbered) == len(texts):
        yield Token(tuple(word for _ in numbered), "word")
        yield Token(tuple(text[len(word) :] for text in texts), "word")
    elif is_split and len(tokens) == 1 and (unit or not is_name):
        if word:
            yield Token(tuple(word for _ in numbered), "word")
        yield Token(tuple(match[2] for match in numbered), "number")
        if unit:
            yield Token(tuple(unit for _ in numbered), "unit")
    elif any(texts):
        yield Token(texts, "word")


def _ragged(rows: Sequence[list[str]]) -> Iterator[Token]:
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
        yield from tokens_of(before)
        yield from [Token(left_mark, "mark")] if any(left_mark) else ()
        yield Token((anchor,) * len(rows), "word")
        yield from [Token(right_mark, "mark")] if any(right_mark) else ()
        yield from tokens_of(after)
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
        yield Token(
            tuple("".join(row[at + 1 : end]) for row, end in zip(rows, ends, strict=True)), "mark"
        )
    # Of a name without a middle both ends may be one part.
    middles = [row[left : max(len(row) - right, left)] for row in rows]
    yield Token(tuple("".join(middle) for middle in middles), "word")
    for at in range(right, 0, -2):
        mark = tuple(
            "".join(row[-at : len(row) - at + 1]) if len(row) >= at else "" for row in rows
        )
        yield Token(mark, "mark")
        yield from _field(tuple(row[1 - at] if at > 1 else row[-1] for row in rows))


def _is_shared(rows: Sequence[Sequence[str]], at: int) -> bool:
    """Return whether a part has a value, or a form with a number, in names of any length."""
    forms: dict[int, set[str]] = {}
    for row in rows:
        text = row[at].translate(SHOWN)
        of = forms.setdefault(len(row), set())
        of |= {text, re.sub(r"\d+(\.\d+)?", "#", text) if text[:1] else ""}
    return bool(set.intersection(*forms.values()))


def joined(tokens: Sequence[Token]) -> list[Token]:
    """Return the parts; neighbours of which each tells the other are one: `llama-7b`, `opt-1b`."""
    joined: list[Token] = []
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
                joined[last:] = [Token(tuple(map("".join, texts)), "word")]
        last = len(joined) - 1
    return joined


@dataclass(frozen=True, slots=True)
class Moved:
    """A part that stands at two places in names: `a-run-x` beside `run-b-x`.

    Attributes:
        ats: Both places among the parts.
        texts: Of each path.
    """

    ats: tuple[int, int]
    texts: tuple[str, ...]

    def pattern(self, group: str) -> str:
        """Return what finds it at any place of a name, from the begin of the name."""
        return rf"(?=[^/]*?(?<![A-Za-z0-9]){group}(?![A-Za-z0-9]))"


def moved_part(tokens: Sequence[Token], names: Sequence[str]) -> Moved | None:
    """Return the words of which each name has one, at one of two places; None if there are none.

    Args:
        names: Those that the parts are of.
    """
    words = [
        (at, [text.translate(SHOWN) for text in token.texts])
        for at, token in enumerate(tokens)
        if token.kind == "word" and "" in token.texts and any(token.texts)
    ]
    for (at, own), (other, theirs) in combinations(words, 2):
        pairs = [*zip(own, theirs, strict=True)]
        texts = tuple(a or b for a, b in pairs)
        if any(bool(a) == bool(b) for a, b in pairs) or len({*texts}) < _FEW_PARTS:
            continue
        moved = Moved((at, other), texts)
        find = re.compile(moved.pattern(f"({form_of({*texts}, None)})")).match
        matches = [find(name) for name in names]
        if all(m and m[1] == text for m, text in zip(matches, texts, strict=True)):
            return moved
    return None


def is_replicate(word: str, values: Collection[str]) -> bool:
    """Return whether numbers behind a word are of replicates."""
    if not all(map(str.isdigit, values)):
        return False
    last = {*words_of(word)[-1:]}
    counts = last <= _LETTERS and min(map(int, values)) <= 1
    return bool(last) and (counts or not last.isdisjoint(WORDS["replicates"]))


def literal(text: str) -> str:
    return re.escape(text.translate(SHOWN)).replace("\\-", "-").replace("\\ ", " ")


def optional_mark(mark: Token, after: Sequence[Token], end: str) -> str:
    """Return the pattern of marks that some names lack.

    Those that lack the part behind it too go on with a mark, or end: `fp8` beside `fp8_v2`.
    """
    marks = re.escape("".join(sorted({*"".join(mark.texts)})))
    is_both = after and all(
        (not m) == (not t) for m, t in zip(mark.texts, after[0].texts, strict=True)
    )
    behind = f"|{end}" if end else ""
    return rf"(?:[{marks}]+|(?=[{marks}/]{behind}|$))" if is_both else rf"[{marks}]*"


def form_of(values: Collection[str], marks: str | None) -> str:
    if marks is None:
        longest = sorted(values, key=lambda value: (-len(value), value))
        return f"(?:{'|'.join(map(re.escape, longest))})"
    others = "".join(mark for mark in sorted({*marks}) if mark not in "".join(values))
    return f"[^/{re.escape(others)}]" + ("*?" if "" in values else "+?")


def renamed(pattern: str, names: Mapping[str, str]) -> str:
    """Return a pattern with other names of its groups; a group with an empty name is none."""
    for name, other in names.items():
        pattern = pattern.replace(f"(?P<{name}>", f"(?P<{other}>" if other else "(?:")
    return pattern


def counts_runs(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a part is a number behind a word of replicates."""
    token = tokens[at]
    is_number = token.kind == "number" and not token.is_fixed
    return is_number and is_replicate(name_before(tokens, at), {*token.texts})


_MEASURED: Final = WORDS["measures"] - WORDS["replicates"] - WORDS["loads"]
_ENERGY: Final = frozenset({"energy", "energies", "joules"})


def name_before(tokens: Sequence[Token], at: int) -> str:
    """Return the word before a part that differs; with the one before it if it says little."""
    names = [n for n in range(at) if tokens[n].kind == "word" and tokens[n].texts[0][:1].isalpha()]
    if (
        any(not token.is_fixed for token in tokens[names[-1] : at] if token.kind != "mark")
        if names
        else True
    ):
        # It names what stands between.
        return ""
    last = [tokens[n].word for n in names[-2:]]
    if {tokens[n].word.lower() for n in names} <= (_MEASURED if len(names) > 1 else _ENERGY):
        # `energy-time-1005` says what the file has, not what was set; `power150` may be a limit.
        return ""
    if len(last) == 2 and all(last) and last[1].lower() in _SHORT and names[-1] - names[-2] == 2:
        return f"{last[0]}_{last[1]}"
    return last[-1] if last else ""


def ends_in_a_number(tokens: Sequence[Token], at: int) -> bool:
    """Return whether the last name before a part is the same in all and has its own number."""
    before = [token for token in tokens[:at] if token.kind != "mark"][-2:]
    numbers = [token.kind == "number" or any(map(str.isdigit, token.word)) for token in before]
    is_name = all(token.is_fixed for token in before) and len(before) > 0 and numbers[-1]
    return is_name and {*words_of(before[0].word)}.isdisjoint(NAMING)

"""What the paths of files with one heading differ in: groups of a pattern, each a column.

`a100/llama-7b/batch8.csv` and `h100/opt-1b/batch16.csv` give a folder, two words and a number.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from data.declared import check_name
from data.errors import DataError
from ingest.proposals.headings import unit_of, words_of
from ingest.settings.column_names import clean_name
from ingest.settings.word_lists import WORDS

_SEPARATED: Final = re.compile(r"([-_.=@+ ]+)")
_NUMBERED: Final = re.compile(r"([A-Za-z][A-Za-z_-]*?)?(\d+(?:\.\d+)?)([A-Za-zµ%]+)?")
_COUNTED: Final = WORDS["set"] | WORDS["replicates"]
_MACHINE: Final = re.compile(r"[a-z]{1,3}\d{3,4}[a-z]*\d*|node\d+|host\d+", re.IGNORECASE)
# They need the word before them to say what was set: `power_limit_150W`.
_SHORT: Final = WORDS["limits"] | {"size", "count", "rate", "level", "number", "num", "time"}
_REPLICATES: Final = WORDS["replicates"] | {"r", "i"}
_STAMP: Final = re.compile(r"\d{8,}|[0-9a-f]{8,}|\d{4}-\d\d-\d\d.*")


@dataclass(frozen=True, slots=True)
class PathColumn:
    """A part of paths that differs.

    Attributes:
        kind: `whole`, `real` or `text`.
        role: `knob`; `label` for times and digests.
        unit: That which stands behind each number: `150W`.
    """

    name: str
    kind: str
    role: str
    values: int
    unit: str = ""


def read_paths(paths: Sequence[str]) -> tuple[str, list[PathColumn]]:
    """Return a pattern for the ends of some paths, with a group for each part that differs.

    Returns:
        An empty pattern if the paths do not differ in anything that has a form.
    """
    depths = {path.count("/") for path in paths}
    parts = [path.split("/")[-min(depths) - 1 :] for path in paths]
    columns: list[PathColumn] = []
    pattern: list[str] = []
    for level in range(min(depths) + 1):
        texts = [part[level] for part in parts]
        if len(set(texts)) == 1:
            # Only what stands below the first part that differs matters.
            pattern += [_literal(texts[0])] if columns or level == min(depths) else []
            continue
        is_name = level == min(depths)
        if not is_name and all(map(_MACHINE.fullmatch, texts)):
            pattern.append(_token_pattern(texts, [], columns, is_name))
            continue
        pattern.append(_read_texts(texts, columns, is_name))
    return ("/".join(pattern), columns) if columns else ("", [])


def _literal(text: str) -> str:
    return re.escape(text).replace("\\-", "-").replace("\\ ", " ")


def _read_texts(texts: Sequence[str], columns: list[PathColumn], is_name: bool) -> str:
    """Return the pattern of one level of some paths; add its columns."""
    split = [_tokens(text) for text in texts]
    if len({len(tokens) for tokens in split}) == 1 and _is_aligned(split):
        return _aligned(split, columns, is_name)
    anchors = [word for word in split[0] if word.isalpha() and all(_once(t, word) for t in split)]
    orders = [[token for token in tokens if token in anchors] for tokens in split]
    ends = {text.rpartition(".")[2] for text in texts if "." in text}
    end = f".{ends.pop()}" if is_name and len(ends) == 1 else ""
    anchors = [word for word in anchors if f".{word}" != end]
    orders = [[token for token in order if token in anchors] for order in orders]
    if not anchors or any(order != orders[0] for order in orders):
        return _whole(texts, columns, is_name, end)
    pattern, rest = "", [text.removesuffix(end) for text in texts]
    for anchor in orders[0]:
        cuts = [re.search(rf"(^|[-_.=@+ ]+){anchor}([-_.=@+ ]+|$)", text) for text in rest]
        if any(cut is None for cut in cuts):
            return _whole(texts, columns, is_name, end)
        before = [text[: cut.start()] for text, cut in zip(rest, cuts, strict=True) if cut]
        joints = {cut[0] for cut in cuts if cut}
        pattern += _segment(before, columns, is_name)
        pattern += _literal(joints.pop()) if len(joints) == 1 else rf"[-_.=@+ ]*{anchor}[-_.=@+ ]*"
        rest = [text[cut.end() :] for text, cut in zip(rest, cuts, strict=True) if cut]
    return pattern + _segment(rest, columns, is_name) + _literal(end)


def _segment(texts: Sequence[str], columns: list[PathColumn], is_name: bool) -> str:
    if len(set(texts)) == 1:
        return _literal(texts[0])
    split = [_tokens(text) for text in texts]
    if len({len(tokens) for tokens in split}) == 1 and _is_aligned(split):
        return _aligned(split, columns, is_name)
    rows = [re.split("-", text) for text in texts]
    if len({len(row) for row in rows}) == 1 and len(rows[0]) > 1:
        return "-".join(
            _token_pattern([row[at] for row in rows], [], columns, is_name)
            for at in range(len(rows[0]))
        )
    return _token_pattern(list(texts), [], columns, is_name)


def _aligned(split: Sequence[Sequence[str]], columns: list[PathColumn], is_name: bool) -> str:
    """Return the pattern of names with the same separators.

    Neighbours of which each tells the other are one name: `llama-7b` beside `opt-1b`.
    """
    count = len(split[0])
    values = [tuple(tokens[at] for tokens in split) for at in range(count)]
    varied = [at for at in range(count) if len(set(values[at])) > 1]
    whole = len(set(zip(*(values[at] for at in varied), strict=True)))
    is_text = any(not text.isdigit() for at in varied for text in values[at])
    if len(varied) > 1 and is_text and all(len(set(values[at])) == whole for at in varied):
        first, last = varied[0], varied[-1]
        joined = ["".join(tokens[first : last + 1]) for tokens in split]
        return (
            _literal("".join(split[0][:first]))
            + _token_pattern(joined, split[0][:first], columns, is_name)
            + _literal("".join(split[0][last + 1 :]))
        )
    words = [v[0] if len(set(v)) == 1 and v[0][:1].isalpha() else "" for v in values]
    is_word = [any(text[:1].isalpha() for text in texts) for texts in values]
    pattern, used = "", set[str]()
    for at in range(count):
        after = values[at + 1][0] if at + 1 < count and len(set(values[at + 1])) == 1 else ""
        before = _name_before(words, is_word, at)
        if after.lower() in _COUNTED and values[at][0].isdigit():
            before = after
            used.add(after)
        elif before in used:
            before = ""
        is_replicate = not before or (at > 1 and len(set(values[at - 2])) > 1)
        rest = {v for texts in values[at + 1 :] for v in texts if v.isdigit()}
        if is_replicate and not rest and _are_replicates(values[at], columns):
            before = "rep"
        pattern += _token_pattern(values[at], [before], columns, is_name, after)
    return pattern


def _are_replicates(texts: Sequence[str], columns: Sequence[PathColumn]) -> bool:
    """Return whether the last numbers of names, which no word explains, number replicates."""
    if any(column.name == "replicate" for column in columns) or not all(map(str.isdigit, texts)):
        return False
    numbers = sorted({int(text) for text in texts})
    return len(numbers) > 1 and numbers[0] <= 1 and numbers == [*range(numbers[0], numbers[-1] + 1)]


def _name_before(words: Sequence[str], is_word: Sequence[bool], at: int) -> str:
    """Return the word before a part that differs; with the one before it if it says little."""
    places = [n for n in range(at) if is_word[n]][-2:]
    said = [words[n] for n in places]
    if len(said) == 2 and all(said) and said[1].lower() in _SHORT and places[1] - places[0] == 2:
        return f"{said[0]}_{said[1]}"
    return said[-1] if said else ""


def _whole(texts: Sequence[str], columns: list[PathColumn], is_name: bool, end: str) -> str:
    bare = [text.removesuffix(end) for text in texts]
    return _token_pattern(bare, [], columns, is_name) + _literal(end)


def _tokens(text: str) -> list[str]:
    """Split at separators, which are tokens too, and around a number: word, number, unit."""
    tokens: list[str] = []
    for token in _SEPARATED.split(text):
        found = _NUMBERED.fullmatch(token)
        unit = (found[3] or "") if found else ""
        is_split = not unit or unit_of(unit) is not None or unit.lower() in _COUNTED
        tokens += [part or "" for part in found.groups()] if found and is_split else [token]
    return [token for token in tokens if token]


def _is_aligned(split: Sequence[Sequence[str]]) -> bool:
    """Return whether all names have the same separators."""
    marks = [tuple(t for t in tokens if _SEPARATED.fullmatch(t)) for tokens in split]
    return len(set(marks)) == 1


def _once(tokens: Sequence[str], word: str) -> bool:
    return list(tokens).count(word) == 1


def _token_pattern(
    texts: Sequence[str],
    before: Sequence[str],
    columns: list[PathColumn],
    is_name: bool,
    after: str = "",
) -> str:
    values = set(texts)
    if len(values) == 1:
        return _literal(texts[0])
    word = next((token for token in reversed(before) if token[:1].isalpha()), "")
    is_whole = all(re.fullmatch(r"\d+", text) for text in values)
    is_real = all(re.fullmatch(r"\d+(\.\d+)?", text) for text in values)
    is_stamp = all(_STAMP.fullmatch(text) for text in values)
    taken = {column.name for column in columns}
    if is_whole and words_of(word)[-1:] and words_of(word)[-1] in _REPLICATES:
        name = "replicate"
    elif not (is_whole or is_real) and all(_MACHINE.fullmatch(text) for text in values):
        name = "machine"
    elif is_whole and word.lower() in ("thread", "threads") and "threads" not in taken:
        name = "threads"
    else:
        word = word or ("file" if is_name else "folder")
        name = clean_name(word, str(len(columns) + 1), taken, "knob")
    kind = "text" if is_stamp or not is_real else "whole" if is_whole else "real"
    if name in taken:
        name = clean_name(f"{name}_{len(columns) + 1}", kind, taken, "knob")
    unit = unit_of(after) if kind != "text" else None
    role = "label" if is_stamp else "knob"
    columns.append(PathColumn(name, kind, role, len(values), unit.text if unit else ""))
    if kind == "text":
        return rf"(?P<{name}>[^/]*?)" if "" in values else rf"(?P<{name}>[^/]+?)"
    return rf"(?P<{name}>\d+(?:\.\d+)?)" if kind == "real" else rf"(?P<{name}>\d+)"


def is_own(name: str) -> bool:
    """Return whether a column is none of the lake's own."""
    try:
        check_name(name)
    except DataError:
        return False
    return True

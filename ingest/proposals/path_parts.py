"""What the paths of files with one heading differ in: groups of a pattern, each a column.

`a100/llama-7b/batch8.csv` and `h100/opt-1b/batch16.csv` give a folder, two words and a number.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ingest.formats import FORMATS
from ingest.proposals.guess import are_twins
from ingest.proposals.name_ends import cut_ends
from ingest.proposals.name_tokens import (
    BEHIND,
    HIDDEN,
    MARK,
    NAMING,
    OF_SIZES,
    SHOWN,
    THREADS,
    Token,
    counts_runs,
    crossed,
    cut_at_stamps,
    ends_in_a_number,
    form_of,
    is_replicate,
    joined,
    literal,
    moved_part,
    name_before,
    optional_mark,
)
from ingest.proposals.part_values import (
    DATED,
    DAY,
    HOURS,
    MOMENT,
    ONE_PART,
    are_clocks,
    are_machines,
    are_said_again,
    kind_of,
    singular,
)
from ingest.settings.column_names import (
    WORDS,
    clean_name,
    is_power_limit,
    name_of_values,
)
from ingest.settings.copy_names import are_numbered
from ingest.settings.heading_words import words_of
from ingest.settings.units import unit_of

_TOOLS: Final = frozenset(known.name for known in FORMATS if known.role == "output")
# Of twice as many paths and more, so many are read.
_MOST_READ: Final = 5_000
# Names of what a file has of a run.
_KINDS: Final = WORDS["general"] | WORDS["less"] | {"rapl", "perf", "usage", "metrics", "stats"}
# Words before a number that only counts the files of a setting.
_SAYS_NOTHING: Final = (
    WORDS["general"]
    - (WORDS["set"] | WORDS["given"])
    - {"experiment", "experiments", "benchmarks", "table", "tables"}
)
_ASKED: Final = WORDS["given"] | (WORDS["loads"] - {"requests"})
# So many folders are listed at most.
_MOST_FRONTS: Final = 64
# What of a quantity is set, where no word says more.
_SET: Final = {"bytes": "size", "power": "power_limit"}


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


def read_paths(
    paths: Sequence[str], own: str = "file", beside: Collection[str] = ()
) -> tuple[str, list[PathColumn]]:
    """Return a pattern for the ends of some paths, with a group for each part that differs.

    Of very many paths some are read, if the pattern then fits all of them. Where no parts fit all
    paths, the names of the files are one part.

    Args:
        own: What a part of the last level is called that no word explains.
        beside: As in `cut_ends`.

    Returns:
        An empty pattern if the paths do not differ in anything that has a form.
    """
    heads, tail = cut_ends(paths, beside) if own == "file" and paths else (paths, "")
    if tail:
        pattern, columns = read_paths(heads, own)
        pattern = pattern and pattern + tail
        if pattern and len(_matches(pattern, paths)) == len(paths):
            return pattern, columns
    step = len(paths) // _MOST_READ if len(paths) > 2 * _MOST_READ else 1
    pattern, columns = _read_paths(paths[::step], own)
    matches = _matches(pattern, paths)
    if step > 1 and len(matches) == len(paths):
        columns = [replace(c, values=len({m[c.name] for m in matches})) for c in columns]
    elif step > 1:
        pattern, columns = _read_paths(paths, own)
        matches = _matches(pattern, paths)
    if pattern and len(matches) < len(paths):
        pattern, columns = _read_names(paths, own)
    return pattern, give_what_ran(columns, own)


def _matches(pattern: str, paths: Sequence[str]) -> list[re.Match[str]]:
    """Return the matches of the paths that a pattern fits; an empty one fits none."""
    fits = re.compile(f"(?:^|.*/){pattern}", re.DOTALL).fullmatch
    return [match for path in paths if (match := fits(path))] if pattern else []


def give_what_ran(
    parts: Sequence[PathColumn], own: str = "file", is_set: bool = False
) -> list[PathColumn]:
    """Return the parts; models, and names that nothing explains, are what ran beside a setting.

    Args:
        is_set: Whether rows have settings too.
    """
    free = [part for part in parts if part.role == "knob" and not part.is_given]
    models = [part for part in free if not WORDS["work"].isdisjoint(words_of(part.name))]
    plain = [part for part in free if is_plain(part, own)]
    others = [part for part in free if part not in models and part not in plain]
    is_said = any(part.kind == "text" for part in others)
    ran = [*(models if others or is_set else []), *(plain if is_said else [])]
    return [replace(part, is_given=part.is_given or part in ran) for part in parts]


def is_plain(part: PathColumn, own: str = "file") -> bool:
    """Return whether a part is of names that no word explains."""
    is_unsaid = re.fullmatch(rf"(?:{own}|folder)(?:_\d+)?", part.name) is not None
    return is_unsaid and part.kind == "text" and part.role == "knob"


def _read_paths(paths: Sequence[str], own: str) -> tuple[str, list[PathColumn]]:
    depth = min(path.count("/") for path in paths)
    parts = [path.split("/")[-depth - 1 :] for path in paths]
    reader = _Reader()
    # Where a folder alone tells files of one name apart, all below it matters.
    front = reader.read_fronts(paths, depth)
    pattern: list[str] = []
    for level in range(depth + 1):
        texts = tuple(part[level] for part in parts)
        above = {part[level - 1] for part in parts if level}
        if len(set(texts)) > 1:
            reader.is_below_day = bool(above) and all(map(re.compile(DAY).fullmatch, above))
            reader.place = singular(above.pop()) if len(above) == 1 else ""
            is_again = level < depth and are_said_again(texts, [part[-1] for part in parts])
            name = own if level == depth else "folder"
            pattern.append(r"\d+" if is_again else reader.read(texts, name))
        elif reader.columns or level == depth:
            # Only what stands below the first part that differs matters.
            pattern.append(literal(texts[0]))
    return (front + "/".join(pattern), reader.columns) if reader.columns else ("", [])


def _read_names(paths: Sequence[str], own: str) -> tuple[str, list[PathColumn]]:
    """Return a pattern with the name of each file, without a common ending, as its only part.

    Of files with one name, the folders are of that part too.
    """
    depth = min(path.count("/") for path in paths)
    names = [path.rpartition("/")[2] for path in paths]
    is_told = len({*names}) == len(paths)
    names = names if is_told else ["/".join(path.split("/")[-depth - 1 :]) for path in paths]
    ends = {name[name.rfind(".") :] if "." in name[1:] else "" for name in names}
    end = ends.pop() if len(ends) == 1 else ""
    reader = _Reader()
    bare = tuple(name.removesuffix(end) for name in names)
    pattern = reader.group(bare, "", own, "" if is_told else None)
    return pattern + literal(end), reader.columns


class _Reader:
    """Reads the levels of some paths; has the columns that it found.

    Attributes:
        place: What the names of a level are by its folder; empty where nothing says it.
        is_below_day: Whether the folders above a level are days.
    """

    def __init__(self) -> None:
        self.columns: list[PathColumn] = []
        self.place = ""
        self.is_below_day = False
        self._texts: dict[str, tuple[str, ...]] = {}
        self._unsaid: set[str] = set()

    def read(self, texts: tuple[str, ...], level: str) -> str:
        """Return the pattern of one level.

        Args:
            level: The name of a part that no word explains.
        """
        is_time = self.is_below_day and all(map(HOURS.fullmatch, texts))
        if level == "folder" and (is_time or are_machines(texts)):
            return self.group(texts, "", level, "-" if is_time else "")
        ends = {text.rpartition(".")[2] for text in texts if "." in text[1:]}
        end = f".{ends.pop()}" if level == "file" and len(ends) == 1 else ""
        bare = tuple(
            ONE_PART.sub(lambda part: part[0].translate(HIDDEN), text.removesuffix(end))
            for text in texts
        )
        tokens = joined([
            each
            for t in cut_at_stamps(bare)
            for each in (crossed(t) if t.kind == "word" and any(map(MARK.search, t.texts)) else [t])
        ])  # fmt: skip
        marks = "".join({mark for token in tokens if token.kind == "mark" for mark in token.texts})
        front, pattern, used = "", "", set[str]()
        moved = moved_part(tokens, texts)
        counted = [at for at, token in enumerate(tokens) if counts_runs(tokens, at)]
        for at, token in enumerate(tokens):
            if token.is_fixed:
                pattern += literal(token.texts[0])
            elif moved and at in moved.ats:
                pattern += form_of({text.translate(SHOWN) for text in token.texts}, marks)
                if at == moved.ats[0]:
                    front = moved.pattern(self.group(moved.texts, "", level, None))
            elif token.kind == "mark":
                pattern += optional_mark(token, tokens[at + 1 : at + 2], literal(end))
            else:
                word = name_before(tokens, at)
                unit = next((t.texts[0] for t in tokens[at + 1 : at + 2] if t.kind == "unit"), "")
                # `net34_114` is of a model: nothing says what its number is.
                is_unsaid = token.kind == "number" and ends_in_a_number(tokens, at)
                word = f"{level}_number" if is_unsaid else word
                if unit.lower() in BEHIND:
                    word = "threads" if unit.lower() in THREADS else unit
                    used.add(word)
                elif word in used:
                    word = ""
                if not unit and self._are_replicates(tokens, at, word):
                    word = "rep"
                listed = None if token.is_listed else marks
                # Of `run_1_repetition_0` the last number is of the replicate.
                is_set = at in counted[:-1]
                pattern += self.group(token.texts, word, level, listed, unit, is_set)
        return front + pattern + literal(end)

    def read_fronts(self, paths: Sequence[str], depth: int) -> str:
        """Return the pattern of folders above those that all paths have, if nothing else tells some
        apart: `Q4/a.csv` and `qwen/Q4/a.csv`. Some paths have none.

        Folders that only number runs tell no setting.
        """
        rows = [path.split("/") for path in paths]
        fronts = [row[: -depth - 1] for row in rows]
        tails = ["/".join(row[-depth - 1 :]) for row in rows]
        if len({*tails}) == len(tails):
            return ""
        texts = tuple("".join(front[-1:]) for front in fronts)
        if len({*zip(texts, tails, strict=True)}) < len(tails):
            texts = tuple(map("/".join, fronts))
        named = sorted({*texts} - {""})
        words = {word for text in named for word in words_of(text) if not word.isdigit()}
        before = len(self.columns)
        if len(named) <= _MOST_FRONTS and not words <= WORDS["replicates"]:
            self.group(texts, "", "folder", None)
        if len(self.columns) == before:
            return ""
        either = "|".join(map(literal, named))
        none = "".join(f"(?<!{literal(text)}/)" for text in named)
        return rf"(?:(?P<{self.columns[-1].name}>{either})/|{none})"

    def _are_replicates(self, tokens: Sequence[Token], at: int, word: str) -> bool:
        """Return whether the last numbers of names, which no word explains, are of replicates."""
        texts = tokens[at].texts
        # Of `out.fio-1` the word is of a tool.
        is_free = not word or word in _TOOLS or (at > 1 and not tokens[at - 2].is_fixed)
        is_free = is_free or ({*words_of(word)} <= _SAYS_NOTHING and self._begin_again(texts))
        rest = [token for token in tokens[at + 1 :] if token.kind == "number"]
        if not is_free or rest or "replicate" in self._texts or not all(map(str.isdigit, texts)):
            return False
        numbers = sorted({int(text) for text in texts})
        return numbers[0] <= 1 and numbers == [*range(numbers[0], numbers[-1] + 1)]

    def _begin_again(self, texts: Sequence[str]) -> bool:
        """Return whether numbers count from one first number in each of several settings."""
        settings = [*zip(*self._texts.values(), strict=True)]
        counted: dict[tuple[str, ...], set[int]] = {}
        for setting, text in zip(settings, texts, strict=False):
            counted.setdefault(setting, set()).add(int(text) if text.isdigit() else -1)
        first = min((min(numbers) for numbers in counted.values()), default=0)
        ranges = [{*range(first, first + len(numbers))} for numbers in counted.values()]
        return len(counted) > 1 and [*counted.values()] == ranges

    def group(
        self,
        texts: tuple[str, ...],
        word: str,
        level: str,
        marks: str | None,
        unit: str = "",
        is_setting: bool = False,
    ) -> str:
        """Return the pattern of a part that differs; add its column.

        Args:
            marks: Those around it, which it has not; None where only its texts tell it.
            is_setting: Whether it is no replicate, whatever its word.
        """
        texts = tuple(text.translate(SHOWN) for text in texts)
        values = set(texts)
        kind, is_stamp = kind_of(texts, word)
        if self.is_below_day and all(map(HOURS.fullmatch, values)):
            kind, is_stamp = "text", True
        form = DATED if all(re.fullmatch(DATED, v) for v in values) else form_of(values, marks)
        if any(mark in v for mark in marks or "" for v in values):
            # The marks of a moment end no part.
            form = MOMENT if all(re.fullmatch(MOMENT, v) for v in values) else form
        form = {"text": form, "real": r"\d+(?:\.\d+)?", "whole": r"\d+"}[kind]
        kinds = {word for value in values for word in words_of(value)}
        is_kind = level == "file" and kind == "text" and bool(self._texts) and kinds <= _KINDS
        if texts in self._texts.values() or is_kind:
            # The folder says it already, or a run has a file of each: `time.txt`, `energy.txt`.
            return form
        stated = unit_of(unit) if kind != "text" and unit else None
        word = self._word_of(values, word, kind, is_stamp, stated.quantity if stated else "")
        is_clock = kind == "whole" and word.startswith(level) and are_clocks({*map(int, values)})
        word = "frequency" if is_clock else word
        if is_replicate(word, values) and not is_setting:
            name = "replicate"
        elif kind == "text" and are_machines(texts):
            name = "machine"
        elif kind == "whole" and word.lower() in ("thread", "threads"):
            name = "threads"
        else:
            name = word or level
        number, taken = len(self.columns) + 1, {*self._texts, "variant"}
        if name not in ("replicate", "machine", "threads"):
            name = clean_name(name, kind if word else str(number), taken, "knob")
        elif name in taken:
            name = clean_name(f"{name}_{number}", kind, taken, "knob")
        # A date of each model says less than its name, and so does a number that nothing explains.
        is_unsaid = kind != "text" and not word
        twins = [c for c in self.columns if are_twins(texts, self._texts[c.name])]
        told = {c.name for c in twins if c.role != "stamp"} - self._unsaid
        is_twin = bool(told) and (kind == "text" or is_unsaid)
        for at, column in enumerate(self.columns if kind == "text" and not is_stamp else ()):
            if column in twins and column.name in self._unsaid:
                self.columns[at] = replace(column, role="label", is_given=False)
        self._unsaid |= {name} if is_unsaid else set()
        role = "stamp" if is_stamp or are_numbered(values) else "label" if is_twin else "knob"
        self._texts[name] = texts
        shown = stated.text if stated else "Hz" if is_clock else ""
        shown = shown or ("W" if kind != "text" and word == _SET["power"] else "")
        # A number that no word explains may be how much was done: none is recommended.
        is_given = not _ASKED.isdisjoint(words_of(name)) or (kind != "text" and not word)
        is_given &= role == "knob"
        self.columns.append(PathColumn(name, kind, role, len(values), shown, is_given))
        return rf"(?P<{name}>{form})"

    def _word_of(
        self, values: Collection[str], word: str, kind: str, is_stamp: bool, quantity: str
    ) -> str:
        """Return what a part is called: by the word before it if this names it, else by its unit or
        its values, else by its folder.
        """
        naming = NAMING if kind != "text" else NAMING - WORDS["replicates"]
        if kind != "text" and is_power_limit(word, values):
            return _SET["power"]
        # `run_15W`: a replicate has no unit.
        is_counted = bool(quantity) and {*words_of(word)} <= WORDS["replicates"]
        is_naming = not {*words_of(word)}.isdisjoint(naming) and not is_counted
        if word.lower() in OF_SIZES or is_naming:
            # Values may say more: a `power_mode` of modes.
            named = name_of_values(values) if kind == "text" else ""
            return named if named.endswith(f"_{word.lower()}") else word
        if kind != "text":
            # `f1200MHz` is a frequency, `64B` a size.
            return _SET.get(quantity, quantity) or word
        if is_stamp:
            return ""
        return name_of_values(values) or ("" if self.place in self._texts else self.place)

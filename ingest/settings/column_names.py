"""Names of columns that nobody declared, and of those that a lake has with another type.

`VALUES` and `WORDS` are the words of headings by what they mean, from `words.toml`; those of parts
are of `data`.
"""

import re
import tomllib
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import Final

from data.catalogue import PARTS
from data.declared import COMPUTED_NAMES, WORDS_OF_FITS, WORDS_OF_PAGES, Column, Role, check_name
from data.errors import DataError

_TEXTS: Final = tomllib.loads((Path(__file__).parent / "words.toml").read_text("utf-8"))
VALUES, FAMILIES, READINGS, DOMAINS, MACHINE_PARTS = (
    {name: frozenset(text.split()) for name, text in _TEXTS.pop(each).items()}
    for each in ("values", "families", "readings", "domains", "machine_parts")
)
# By a word of another language the English one.
TRANSLATED: Final = {
    word: name for name, text in _TEXTS.pop("translated").items() for word in text.split()
}
_RULES: Final = _TEXTS.pop("rules")
WORDS: Final = {name: frozenset(text.split()) for name, text in _TEXTS.items()} | {"parts": PARTS}
WORDS["statistics"] |= WORDS["spreads"]
# `nthreads` and `nrows`.
for _name in ("set", "given"):
    WORDS[_name] |= {f"n{word}" for word in WORDS[_name] if word.endswith("s")}
KNOWN_WORDS: Final = frozenset(chain.from_iterable(WORDS.values()))
WORDS.update({name: frozenset(text.split()) for name, text in _RULES.items()})

# Words for when a counter was read: as a run began, and as it ended.
ENDS_OF_RUNS: Final = {
    **{"start": "end", "begin": "end", "before": "after", "initial": "final", "first": "last"},
    "pre": "post",
}
_LONGEST_NAME: Final = 55
# Names of models end in how many parameters they have, as `qwen2.5_0.5B`; known ones also in m, or
# in a version: `bert-110m`, `DeepSeek-R1`.
_PARAMETERS: Final = re.compile(r"[-_: ]\d+(?:\.\d+)?b(?![a-z0-9])")
MODEL: Final = (
    rf"(?i:(?<![a-z])(?:{'|'.join(FAMILIES['model'])})[\d.]*(?:-\d+(?:\.\d+)?)?"
    r"[-_: ](?:\d+(?:\.\d+)?[bm]|[rv]\d(?:\.\d+)?)(?![A-Za-z0-9]))"
)
# Modes of Jetson boards: `MAXN` beside `15W` and `30W`.
_POWER_MODE: Final = re.compile(
    r"(?:mode_?)?(?:max[npq](?:_super)?|\d{1,3}w(?:_\d?core|_desktop)?)"
)
# Watts to which a device may be limited.
_LIMITS_W: Final = (10, 3000)
# So many times those that say it are all.
_MOST: Final = 1.5
# The signs of a difference and of millionths, as they are read.
_SIGNS: Final = {"\N{INCREMENT}": "delta_", "\N{MICRO SIGN}": "u", "\N{GREEK SMALL LETTER MU}": "u"}


def clean_name(heading: str, kind: str, taken: Iterable[str] = (), role: Role = "metric") -> str:
    """Make a name for an undeclared column that is valid in SQL and URLs.

    Args:
        taken: Names of other columns.
        role: A knob cannot have the name of what queries compute, and no column that of a choice
            of the pages.
    """
    of_knobs = COMPUTED_NAMES | WORDS_OF_FITS if role == "knob" else frozenset[str]()
    taken = {*taken, *WORDS_OF_PAGES, *of_knobs}
    bare = re.sub(r"[^a-z0-9]+", "_", in_ascii(heading).lower()).strip("_")[:_LONGEST_NAME]
    bare = bare if bare[:1].isalpha() else f"c_{bare}".rstrip("_")
    names = chain((bare, f"{bare}_{kind}"), (f"{bare}_{kind}_{n}" for n in count(2)))
    return next(name for name in names if name not in taken and can_be(name))


# Of so many texts such a share tells what the others are too.
_SEVERAL: Final = 4
_NEARLY_ALL: Final = 0.75


def name_of_values(values: Collection[str]) -> str:
    """Return what texts are values of, by themselves; or nothing.

    `fp16` and `int8` are of precision, as three of four languages beside a rare one are; of models
    and policies most say what they are. Beside one that is called `default`, and under a word that
    one of two has not, they are variants.
    """
    small = {value.lower() for value in values} - {""}
    # `java17` is a language.
    bare = {value.rstrip("0123456789.") for value in small}
    known = ((name, max(len(small & of) / len(small or "-"), len(bare & of) / len(bare or "-")))
             for name, of in VALUES.items())  # fmt: skip
    least = _NEARLY_ALL if len(small) >= _SEVERAL else 1.0
    exact = next((name for name, share in known if share >= least), "")
    if exact or not small:
        return exact
    if all(map(_POWER_MODE.fullmatch, small)) and any("max" in value for value in small):
        return "power_mode"
    negated = {re.sub(r"^(?:no|non|un|without)[-_]?", "", value) for value in small}
    if len(small) == 2 * len(negated):
        return min(negated)
    begins = {re.split("[^a-z0-9]", value)[0] for value in small}
    if begins <= WORDS["variants"] - FAMILIES["policy"] and not any(map(_PARAMETERS.search, small)):
        return "variant"
    words = {value: {*re.findall(r"[a-z]+[+#]*", value)} for value in small}
    for name, of in FAMILIES.items():
        sure = [value for value, each in words.items() if each & of
                or (name == "model" and _PARAMETERS.search(value))]  # fmt: skip
        # A variant beside them is another of their kind.
        others = [
            value for value in small if value not in sure and words[value] & WORDS["variants"]
        ]
        if sure and _MOST * len([*sure, *others]) >= len(small):
            return name
    return "variant" if small & WORDS["variants"] else ""


def is_power_limit(heading: str, values: Collection[object]) -> bool:
    """Return whether a column `pl` has watts: numbers of a size to which devices are limited."""
    if heading.lower().replace("-", "_").split("_")[-1:] != ["pl"] or len({*values}) < 2:
        return False
    low, high = _LIMITS_W
    return all(
        re.fullmatch(r"\d+(?:\.0)?", str(v)) and low <= float(str(v)) <= high for v in values
    )


def in_ascii(text: str) -> str:
    """Spell Greek letters and leave accents out: a delta before `kwh` is `delta_kwh`."""
    return text if text.isascii() else "".join(map(_spelled, text.replace("ß", "ss")))


def _spelled(letter: str) -> str:
    name = unicodedata.name(letter, "").split()
    if letter in _SIGNS or name[:1] != ["GREEK"]:
        plain = _SIGNS.get(letter, unicodedata.normalize("NFKD", letter))
        return plain.encode("ascii", "ignore").decode()
    return f"{name[3].lower()}_" if name[2:3] == ["LETTER"] else ""


def can_be(name: str) -> bool:
    """Return whether a column can have a name: it is valid, and none of the lake's own."""
    try:
        check_name(name)
    except DataError:
        return False
    return True


def own_columns(
    columns: Iterable[Column], known: Mapping[str, Column], is_others: Callable[[str], bool]
) -> dict[str, Column]:
    """Return the lake's columns for the undeclared columns of a table.

    If the lake has a column of the same name and another type, or of other datasets in another
    unit, the column gets another name.

    Args:
        is_others: Returns whether other tables have the lake's column of a name: what it is stays.

    Returns:
        By name in the table.
    """
    return {column.name: _own_column(column, known, is_others) for column in columns}


def _own_column(
    column: Column, known: Mapping[str, Column], is_others: Callable[[str], bool]
) -> Column:
    names = [column.name]
    while there := known.get(names[-1]):
        if there.kind == column.kind:
            if _described(there) == _described(column):
                return there
            if not is_others(there.name):
                break
            if not (there.unit and column.unit) or there.unit == column.unit:
                return there
        names.append(clean_name(column.name, column.kind, names))
    return replace(column, name=names[-1])


def _described(column: Column) -> tuple[object, ...]:
    return column.role, column.unit, column.better, column.is_given

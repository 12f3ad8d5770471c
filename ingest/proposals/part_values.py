"""What texts say alone: numbers, times, digests, clocks or machines; statements of databases."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from ingest.proposals.name_tokens import NAMING, OF_SIZES
from ingest.settings.column_names import MODEL, VALUES, WORDS
from ingest.settings.heading_words import words_of

_MACHINE: Final = re.compile(r"[a-z]{1,3}\d{3,4}[a-z]*\d*|node\d+|host\d+", re.IGNORECASE)
# A day.
DAY: Final = r"(?:\d{4}-\d\d-\d\d|(?:19|20)\d\d_(?:0[1-9]|1[0-2])_[0-3]\d)"
# It with a time of day, and with that of the end.
MOMENT: Final = (
    rf"{DAY}(?:[-_T ]\d\d[-_.:h]?\d\d(?:[-_.:m]?\d\d(?:[_.]\d{{3,9}})?)?)?"
    r"(?:(?<=[-_.:]\d\d)[-_]\d\d[-_.:]\d\d[-_.:]\d\d(?!\d))?"
)
# A date and a time of day in digits.
DATED: Final = r"(?:19|20)\d{6}[-_T]\d{4,6}"
# In a time of day, in `1.2GHz` and in `C++` they separate nothing; in `cg.C.16.1` the dots do.
ONE_PART: Final = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    rf"|{MOMENT}|{DATED}"
    r"|(?<![.\d])\d+\.\d+(?![.\d])|(?<=[A-Za-z])\++(?![A-Za-z0-9+])"
    rf"|{MODEL}"
    rf"|(?i:{'|'.join(sorted(v for of in VALUES.values() for v in of if '_' in v))})(?![A-Za-z0-9])"
)
# From one hour of a day to another.
HOURS: Final = re.compile(r"(?:[01]?\d|2[0-4])[-_](?:[01]?\d|2[0-4])")
# Dates, seconds and ms since 1970 that are no round numbers, digests, and uuids.
_STAMP: Final = re.compile(
    r"(?:19|20)\d\d(?:0[1-9]|1[0-2])[0-3]\d(?:[^\d.].*|\d{4,6})?|1[0-9]{9}(?<!000)(?:[0-9]{3}|\.\d+)?"
    r"|(?=.*[a-f])(?=.*\d)[0-9a-f]{7,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    rf"|{DAY}.*"
)
# A day and a time of day, which tell no setting where some names have none either.
_WITH_TIME: Final = re.compile(rf"(?:{DAY}|(?:19|20)\d{{6}})[-_T ]\d\d[-_.:h]?\d\d.*")
_DIGEST: Final = re.compile(r"(?=.*[a-f])(?=.*\d)[0-9a-f]{7,40}")
# Words before numbers of processes: PowerJoular adds `-4711.csv` to the name of a file.
_OF_PROCESSES: Final = frozenset({"pid", "csv"})
# Large numbers that were set are seldom others.
_LARGE: Final = re.compile(r"\d+000|32768|65536|131072|262144|524288|1048576")

# Headings of statements of databases, their verbs, and texts within them.
_OF_STATEMENTS: Final = (("query",), ("statement",), ("sql",))
_STATEMENT: Final = re.compile(
    r"(?i)(select|insert|update|delete|merge|upsert|create|drop)\s|\w+(?:\.\w+)*\.(\w+)\("
)
# By the beginning of a method its verb of SQL: `findOne`, `replaceOne`.
_METHODS: Final = {
    **{verb: verb for verb in ("select", "insert", "update", "delete")},
    **{"find": "select", "replace": "update", "remove": "delete"},
}
_LITERAL: Final = re.compile(r"'[^']*'|\"[^\"]*\"")


def kind_of(texts: Sequence[str], word: str) -> tuple[str, bool]:
    """Return of which kind the texts of a part are, and whether they are stamps.

    Args:
        word: That before them, which may say that a number was set.
    """
    values = {*texts}
    is_whole = all(re.fullmatch(r"\d+", text) for text in values)
    is_real = all(re.fullmatch(r"\d+(\.\d+)?", text) for text in values)
    # Numbers of jobs are of one file each.
    is_job = len(values) == len(texts) > 3 and all(re.fullmatch(r"\d{5,}", t) for t in values)
    is_size = word.lower() in OF_SIZES or not {*words_of(word)}.isdisjoint(NAMING)
    is_job = is_job and not all(map(_LARGE.fullmatch, values)) and not is_size
    is_job |= is_whole and word.lower() in _OF_PROCESSES
    # A digest with several files may be a version that was compared.
    is_digest = len(values) < len(texts) and all(map(_DIGEST.fullmatch, values))
    is_stamp = is_job or (not is_digest and all(map(_STAMP.fullmatch, values)))
    is_stamp |= all(map(_WITH_TIME.fullmatch, values - {""})) and values != {""}
    return "text" if is_stamp or not is_real else "whole" if is_whole else "real", is_stamp


def are_clocks(numbers: Collection[int]) -> bool:
    """Return whether numbers are clocks in Hz: 100 MHz to 6 GHz in steps of 10 kHz, not all round.

    Nobody counts work in such numbers.
    """
    is_range = len(numbers) > 2 and all(1e8 <= n <= 6e9 and n % 10_000 == 0 for n in numbers)
    return is_range and any(n % 10_000_000 for n in numbers)


def are_machines(texts: Sequence[str]) -> bool:
    """Return whether texts are names of machines, and no sweep: `f1200`, `f1600`, `f2000`."""
    if any({*texts} <= names for names in VALUES.values()):
        return False
    starts = {text.rstrip("0123456789") for text in texts}
    is_said = {s.lower() for s in starts} <= NAMING | WORDS["loads"] | WORDS["variants"] | OF_SIZES
    is_many = len(starts) == 1 and len({*texts}) > 2
    is_sweep = (is_many or is_said) and not {*starts} & {"node", "host"}
    return not is_sweep and all(map(_MACHINE.fullmatch, texts))


def statements_in(heading: Sequence[str], texts: Iterable[str]) -> dict[str, str]:
    """Return the verb of each statement of a database, numbered where their words differ.

    Of `insert into t ...` it is `insert`, of `db.t.find()`, which is asked in another language, it
    is `select`; empty if a text has none.

    Args:
        heading: Its words.
    """
    forms: dict[tuple[str, bool], list[tuple[str, ...]]] = defaultdict(list)
    values = dict[str, str]()
    for text in texts if heading[-1:] in _OF_STATEMENTS else ():
        if (match := _STATEMENT.match(text)) is None:
            return {}
        verb = (match[1] or match[2]).lower()
        verb = next((of for method, of in _METHODS.items() if verb.startswith(method)), verb)
        words = tuple(word for word in words_of(_LITERAL.sub("", text)) if not word.isdigit())
        alike = forms[verb, match[1] is None]
        if words not in alike:
            alike.append(words)
        at = alike.index(words)
        values[text] = f"{verb} {at + 1}" if at else verb
    return values


def are_said_again(folders: Sequence[str], names: Sequence[str]) -> bool:
    """Return whether a word of the names of files says what the numbers of their folders are."""
    words = set[str]()
    for folder, name in zip(folders, names, strict=True):
        found = re.search(rf"([A-Za-z]+)[_-]{folder}(?!\d)", name) if folder.isdigit() else None
        words.add(found[1] if found else "")
    return len(words) == 1 and not words <= WORDS["replicates"] | {""}


def singular(folder: str) -> str:
    """Return what the names in a folder such as `policies` or `by_model` are; empty: unknown."""
    word = next(iter(words_of(folder)[-1:]), "")
    known = (WORDS["set"] | WORDS["given"]) - WORDS["general"]
    forms = (re.sub("ies$", "y", word), word.removesuffix("s"))
    return next((one for one in forms if one in known), "")

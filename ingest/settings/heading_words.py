"""The words of a name in any style: of a heading, a key, a file or a folder."""

import re
import shlex
from collections.abc import Sequence
from functools import lru_cache
from typing import Final
from unicodedata import combining, normalize

from ingest.settings.column_names import KNOWN_WORDS, TRANSLATED
from ingest.settings.units import PREFIX_WORDS, unit_of

_PREFIXED: Final = re.compile(rf"(.*?)((?i:{'|'.join(PREFIX_WORDS)})[A-Z][A-Za-z]*)")
_PART: Final = re.compile(r"(?:[A-Za-z0-9%µμ°]|(?<=\d)\.(?=\d))+")
# Words with a number in them: percentiles, and processors such as `gpu0`.
_WHOLE: Final = re.compile(r"[pP]\d+(?:\.\d+)?|(?:[A-Z]?[a-z]+|[A-Z]+)\d+|\d+(?:st|nd|rd|th)")
_DELTA: Final = re.compile("[\N{GREEK CAPITAL LETTER DELTA}\N{INCREMENT}]")
_WORD: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+(?:\.\d+)?|[%µμ°]\w*")
# A unit with a prefix, behind a name: a capital letter for the prefix begins a word of its own.
_JOINED: Final = re.compile(r"(.*(?:[a-z]|[A-Z]{2}))([pnuµμmkKMGT](?:W[hH]|Hz|HZ|[JWVA]))")


@lru_cache(maxsize=4096)
def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a name in any style: `avgPower_GPU` is `avg`, `power`, `gpu`.

    Those of other languages are the English ones: `Categoría` is `category`, `Laufzeit` `time`.
    """
    return tuple(TRANSLATED.get(low := word.lower(), low) for word in raw_words(text))


def raw_words(text: str) -> list[str]:
    """Split at separators and before capitals, but not within a unit such as `mWh` or `p99`."""
    if not text.isascii():
        # Letters without accents; not the signs of units.
        plain = normalize("NFD", text.replace("ß", "ss"))
        text = "".join(c for c in plain if not combining(c))
        text = _DELTA.sub("delta ", text)
    parts = _PART.findall(text)
    return _with_prefixes([word for part in parts for word in _words_in(part)])


def _with_prefixes(words: list[str]) -> list[str]:
    """Join prefixes to the units that follow: `milli`, `J`; `nano`, `W` may be of a Jetson Nano."""
    for at in range(len(words) - 1, 0, -1):
        prefix, unit = words[at - 1 : at + 1]
        may_be = prefix.lower() in PREFIX_WORDS and (prefix.lower() != "nano" or unit not in "JWVA")
        if may_be and unit_of(f"{prefix}{unit}"):
            words[at - 1 : at + 1] = [f"{prefix}{unit}"]
    return words


@lru_cache(maxsize=4096)
def _words_in(part: str) -> Sequence[str]:
    if _WHOLE.fullmatch(part) or unit_of(part):
        return [part]
    if (prefixed := _PREFIXED.fullmatch(part)) and unit_of(prefixed[2]):
        # `EnergymicroWh`
        return [*_WORD.findall(prefixed[1]), prefixed[2]]
    if joined := _JOINED.fullmatch(part):
        # `EnergykWh` ends with kWh, as no word is `energyk`; `DramJ` with J.
        before = _WORD.findall(joined[1])
        is_cased = joined[1][-1:].islower() != joined[2][0].islower()
        if is_cased or before[-1].lower() in KNOWN_WORDS:
            return [*before, joined[2]]
    return _WORD.findall(part)


def is_of_exit(text: str) -> bool:
    """Return whether a name is of the code with which a program ended: `EXIT_CODE`, `returncode`;
    not `early_exit`.
    """
    return (
        re.search(r"(?:^|[^a-z])(?:exit|return|ret)[_ -]?(?:code|status)$|^exit$", text.lower())
        is not None
    )


def correcting(heading: str, word: str) -> str:
    """Return the command by which a person says what a column is."""
    return f"`python -m ingest correct {shlex.quote(f'{heading}={word}')}`"

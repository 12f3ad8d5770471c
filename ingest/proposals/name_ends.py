"""Ends of names of files that set nothing: of a copy, as ` copy` and ` (1)`, and of its kind.

Where `vit_test_results.txt` stands among `bert_results.txt` and `cnn_results.txt`, `test` tells
what the file is of, not what ran.
"""

import re
from collections.abc import Collection, Sequence
from typing import Final

from ingest.formats.scores import KIND
from ingest.proposals.name_tokens import literal
from ingest.settings.copy_names import COPY_END

_COPIED: Final = re.compile(rf"(.+?)(?:{COPY_END})")
_OF_A_KIND: Final = re.compile(rf"(.+?)[_\-. ]({KIND})")
_WORD: Final = re.compile(r"[_\-. ][^_\-. ]*$")


def cut_ends(paths: Sequence[str], beside: Collection[str] = ()) -> tuple[list[str], str]:
    """Return paths without ends that set nothing, and a pattern for all that was cut.

    Nothing is cut by which paths differ.

    Args:
        beside: Paths of files that say more of the runs of others, by names with a kind.

    Returns:
        An empty pattern where nothing is cut.
    """
    stems, ends = zip(*map(_stem_of, paths), strict=True)
    bare = _apart([_cut(_COPIED, stem) for stem in stems], stems)
    tail = _common_tail(bare)
    cut = [stem.removesuffix(tail) for stem in bare]
    matches = [_OF_A_KIND.fullmatch(stem.rpartition("/")[2]) for stem in cut]
    kinds = {match[2] for match in matches if match}
    heads = cut
    if len(kinds) == 1 and None in matches:
        heads = _apart([_cut(_OF_A_KIND, stem) for stem in cut], cut)
    kinds = kinds if heads != cut else set()
    for stem in (_stem_of(path)[0].removesuffix(tail) for path in beside):
        match = _OF_A_KIND.fullmatch(stem.rpartition("/")[2])
        kinds |= {match[2]} if match and _cut(_OF_A_KIND, stem) in heads else set()
    if len({*ends}) > 1 or (bare == [*stems] and not kinds):
        return [*paths], ""
    pattern = rf"(?:[_\-. ](?:{'|'.join(sorted(kinds))}))?" if kinds else ""
    pattern += literal(tail) + (f"(?:{COPY_END})?" if bare != [*stems] else "")
    return heads, pattern + literal(ends[0])


def _stem_of(path: str) -> tuple[str, str]:
    """Return a path without the ending of its name, and that ending."""
    dot = path.rfind(".", path.rfind("/") + 2)
    return (path[:dot], path[dot:]) if dot > 0 else (path, "")


def _cut(end: re.Pattern[str], stem: str) -> str:
    folder, slash, name = stem.rpartition("/")
    match = end.fullmatch(name)
    return f"{folder}{slash}{match[1]}" if match else stem


def _apart(cut: list[str], whole: Sequence[str]) -> list[str]:
    """Return paths that were cut if they still differ, else whole."""
    return cut if len({*cut}) == len({*whole}) else [*whole]


def _common_tail(stems: Sequence[str]) -> str:
    """Return the last words that all names have, with the marks before them."""
    tail, rest = "", [*stems]
    while all(rest):
        words = {match[0] if (match := _WORD.search(stem)) else "" for stem in rest}
        word = words.pop()
        if words or not word or "/" in word:
            break
        tail, rest = word + tail, [stem.removesuffix(word) for stem in rest]
    return tail

"""How good the result of a run is, in a text of its own: loss and accuracy in `bert_test.txt`.

It measures nothing that a run took, and so makes no run. The name without the word of its kind, as
`bert.txt`, says whose it is.
"""

import re
from typing import Final

from ingest.files.text_lines import decode_text
from ingest.formats import key_values
from ingest.formats.value_lines import is_measured, number_of
from ingest.settings.column_names import WORDS
from ingest.settings.heading_words import words_of

KIND: Final = rf"(?i:{'|'.join(sorted(WORDS['kinds_of_files']))})"
_NAME: Final = re.compile(rf".*[_\-. ]{KIND}(?![A-Za-z0-9]).*\.(?:txt|log|out|res|results?)")
_SCORES: Final = WORDS["quality"] | {"loss"}
_MOST_LINES: Final = 40


def sniff(name: str, head: bytes) -> bool:
    """Return whether each of a few lines is a name and a number, one of them a score."""
    if not _NAME.fullmatch(name):
        return False
    lines = [line for line in decode_text(head).splitlines() if line.strip()]
    found = [*map(number_of, lines[: _MOST_LINES + 1])]
    pairs = [each for each in found if each is not None]
    is_all = 0 < len(pairs) == len(lines) <= _MOST_LINES
    return (
        is_all
        and not any(is_measured(key, unit) for key, _, unit in pairs)
        and any(not _SCORES.isdisjoint(words_of(key)) for key, _, _ in pairs)
    )


read = key_values.read

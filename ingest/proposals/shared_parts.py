"""Parts of paths that files of one table vary and files of another keep: both have them.

The raw logs of one session, and summaries of two: without its day the raw logs are of none.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ingest.proposals.guessed_table import GuessedTable
from ingest.proposals.name_tokens import literal
from ingest.proposals.path_parts import PathColumn

# A group of a pattern, with up to two levels of brackets in it.
_FORM: Final = r"\(\?P<{}>((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)"


def share_parts(blocks: Sequence[GuessedTable]) -> None:
    """Give tables the settings of others' paths of which all of their own have one value."""
    read = [block for block in blocks if not block.refusal and block.path]
    varied = [(other, part) for other in read for part in other.parts if part.role == "knob"]
    for block in read:
        for other, part in varied:
            if other is not block and part.kind == "text" and f"<{part.name}>" not in block.path:
                _share(block, other, part)


def _share(block: GuessedTable, other: GuessedTable, part: PathColumn) -> None:
    form = re.search(_FORM.format(part.name), other.path)
    matches = (re.search(f"{other.path}$", path) for path in other.table.paths)
    texts = {match[part.name] for match in matches if match}
    kept = [t for t in texts if t and all(_stands_in(t, path) for path in block.table.paths)]
    if form is not None and len(texts) > 1 and len(kept) == 1:
        bare = literal(kept[0])
        if block.path.count(bare) == 1:
            block.path = block.path.replace(bare, f"(?P<{part.name}>{form[1]})")
            block.parts.append(replace(part, values=1))


def _stands_in(text: str, path: str) -> bool:
    """Return whether a text is in a path, and no part of a longer word or number."""
    beside = r"\d" if text[0].isdigit() and text[-1].isdigit() else "[A-Za-z0-9]"
    return re.search(rf"(?<!{beside}){re.escape(text)}(?!{beside})", path) is not None

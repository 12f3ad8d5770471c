"""The parts of names as a regular expression that tells where each of them ends."""

import re
from collections.abc import Collection, Sequence
from typing import Final

from ingest.proposals.name_tokens import SEPARATORS, SHOWN, Token

MARK: Final = re.compile(f"[{re.escape(SEPARATORS)}]")


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


def is_cut(token: Token) -> bool:
    return any(map(MARK.search, (text.translate(SHOWN) for text in token.texts)))


def are_told(tokens: Sequence[Token], marks: str, end: str) -> bool:
    """Return whether marks alone tell where each part of the names ends."""
    pattern = ""
    for at, token in enumerate(tokens):
        if token.is_fixed:
            pattern += literal(token.texts[0])
        elif token.kind == "mark":
            pattern += optional_mark(token, tokens[at + 1 : at + 2], end)
        else:
            shown = {text.translate(SHOWN) for text in token.texts}
            pattern += f"({form_of(shown, None if token.is_listed else marks)})"
    varied = [token for token in tokens if not token.is_fixed and token.kind != "mark"]
    names = zip(*(token.texts for token in tokens), strict=True)
    parts = zip(*(token.texts for token in varied), strict=True)
    return not varied or all(
        (match := re.fullmatch(pattern, "".join(name).translate(SHOWN))) is not None
        and match.groups() == tuple(part.translate(SHOWN) for part in each)
        for name, each in zip(names, parts, strict=True)
    )


def form_of(values: Collection[str], marks: str | None) -> str:
    if marks is None:
        longest = sorted(values, key=lambda value: (-len(value), value))
        return f"(?:{'|'.join(map(re.escape, longest))})"
    others = "".join(mark for mark in sorted({*marks}) if mark not in "".join(values))
    return f"[^/{re.escape(others)}]" + ("*?" if "" in values else "+?")

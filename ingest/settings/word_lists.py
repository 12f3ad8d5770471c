"""The words of headings by what they mean, from `words.toml`; those of parts are of `data`."""

import tomllib
from pathlib import Path
from typing import Final

from data.catalogue import PARTS

_TEXTS: Final = tomllib.loads((Path(__file__).parent / "words.toml").read_text("utf-8"))
VALUES: Final = {name: frozenset(text.split()) for name, text in _TEXTS.pop("values").items()}
WORDS: Final = {name: frozenset(text.split()) for name, text in _TEXTS.items()} | {"parts": PARTS}

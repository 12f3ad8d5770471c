"""Answers of a large lake in the cache folder: all processes share them, and a restart keeps them.

The name of an answer is a digest of the version's views, which list its files, of the question and
of the code. What changes has another name, so no answer is ever out of date.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import IO, Final

import polars as pl
import xxhash

from data.connection import Lake
from data.errors import LakeError
from data.file_cache import FileCache, cache_folder, most_bytes

_ROOT: Final = Path(__file__).resolve().parents[2]


class StoredAnswers:
    """Tables by question, of one version of a lake.

    Their files are bounded together by `most_bytes`; the least recently used go first.
    """

    def __init__(self, lake: Lake) -> None:
        self._folder = cache_folder() / "answers"
        self._files = FileCache(self._folder, most_bytes())
        self._version = repr((*map(version, ("duckdb", "polars")), _code_digest(), lake.views))

    def get(self, question: str, ask: Callable[[], pl.DataFrame]) -> pl.DataFrame:
        """Return the stored answer, else that of `ask`, which is stored if the folder allows it."""
        name = xxhash.xxh3_128_hexdigest(f"{self._version} {question}".encode())
        path = self._folder / name
        with suppress(OSError, pl.exceptions.PolarsError):
            answer = pl.read_ipc(BytesIO(path.read_bytes()))
            os.utime(path)
            return answer
        answer, file = ask(), BytesIO()
        answer.write_ipc(file)

        def write(out: IO[bytes]) -> None:
            out.write(file.getbuffer())

        with suppress(LakeError):
            self._files.hold(name, file.tell(), write)
        return answer


@lru_cache(maxsize=1)
def _code_digest() -> str:
    """Return the digest of the code that computes answers."""
    digest = xxhash.xxh3_128()
    for path in sorted(each for room in ("app", "data") for each in (_ROOT / room).rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()

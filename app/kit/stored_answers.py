"""Answers of a large lake in the cache folder: all processes share them, and a restart keeps them.

The name of an answer is a digest of the version's views, which list its files, of its declared
columns, of the question and of the code. What changes has another name, so no answer is ever out of
date.
"""

import os
from collections.abc import Callable
from contextlib import suppress
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
# A file begins with the digest of its answer: what was damaged is asked for again.
_DIGEST_BYTES: Final = 16


class StoredAnswers:
    """Tables by question, of one version of a lake.

    Their files are bounded together by `most_bytes`; the least recently used go first.
    """

    def __init__(self, lake: Lake) -> None:
        self._folder = cache_folder() / "answers"
        self._files = FileCache(self._folder, most_bytes())
        self._version = repr((*map(version, ("duckdb", "polars")), _CODE, lake.views, lake.columns))

    def get(self, question: str, ask: Callable[[], pl.DataFrame]) -> pl.DataFrame:
        """Return the stored answer, else that of `ask`, which is stored if the folder allows it."""
        name = xxhash.xxh3_128_hexdigest(f"{self._version} {question}".encode())
        path = self._folder / name
        with suppress(OSError):
            content = path.read_bytes()
            if content[:_DIGEST_BYTES] == xxhash.xxh3_128_digest(content[_DIGEST_BYTES:]):
                with suppress(OSError):
                    os.utime(path)
                return pl.read_ipc(BytesIO(content[_DIGEST_BYTES:]))
            path.unlink()
        answer, file = ask(), BytesIO()
        answer.write_ipc(file)
        digest = xxhash.xxh3_128_digest(file.getbuffer())

        def write(out: IO[bytes]) -> None:
            out.writelines((digest, file.getbuffer()))

        with suppress(LakeError):
            self._files.hold(name, _DIGEST_BYTES + file.tell(), write)
        return answer


# Of the code that computes answers as it was imported: files may change while this process runs.
_CODE: Final = xxhash.xxh3_128_hexdigest(
    b"".join(
        path.read_bytes()
        for path in sorted(p for room in ("app", "data") for p in (_ROOT / room).rglob("*.py"))
    )
)

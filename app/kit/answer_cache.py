"""A bounded cache of query answers, the columns that its queries leave out, and answers on disk.

All processes share those of a large lake, in the cache folder, and a restart keeps them.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from threading import Condition
from typing import IO, Any, Final

import numpy as np
import polars as pl
import polars.selectors as cs
import xxhash
from cachetools import LRUCache, cached

from data.analysis.coded_rows import CodedRows
from data.connection import Lake
from data.errors import LakeError
from data.file_cache import FileCache, cache_folder, most_bytes

# Maximum rows of one cached answer, and of all answers together.
KEPT_ROWS: Final = 60_000
ALL_ROWS: Final = 240_000
ALL_ANSWERS: Final = 64
Finish = Callable[[pl.DataFrame], pl.DataFrame]
_ROOT: Final = Path(__file__).resolve().parents[2]
# A file begins with the digest of its answer: what was damaged is asked for again.
_DIGEST_BYTES: Final = 16


def compact(answer: pl.DataFrame) -> pl.DataFrame:
    """Return a copy of the rows in one chunk, with names as categories of 4 bytes instead of 16."""
    return copied(answer.with_columns(cs.string().cast(pl.Categorical)))


def copied(answer: pl.DataFrame) -> pl.DataFrame:
    """Return the rows in memory of their own.

    Each column of an answer keeps the buffers of all columns of its query, which DuckDB grows by
    doubling.
    """
    return answer.select(pl.all().gather(pl.int_range(pl.len())))


def unchanged(answer: pl.DataFrame) -> pl.DataFrame:
    """Return an answer as it is."""
    return answer


class _Bounded(LRUCache):
    """Answers by query; the least recently used are dropped when rows or answers are too many."""

    def __setitem__(self, question: Any, answer: CodedRows | None) -> None:
        super().__setitem__(question, answer)
        while len(self) > ALL_ANSWERS:
            self.popitem()


class AnswerCache:
    """Answers by SQL and parameters; simultaneous callers of one query wait for one answer."""

    def __init__(
        self, ask: Callable[[str, Sequence[Any]], pl.DataFrame], all_rows: int | None = None
    ) -> None:
        def kept(sql: str, parameters: tuple[Any, ...], finish: Finish) -> CodedRows | None:
            answer = ask(sql, parameters)
            return CodedRows(finish(compact(answer))) if len(answer) <= KEPT_ROWS else None

        self._bounded = _Bounded(all_rows or ALL_ROWS, getsizeof=_rows)
        self._get = cached(self._bounded, key=_question, condition=Condition())(kept)

    @property
    def rows(self) -> int:
        """Rows of all cached answers."""
        return int(self._bounded.currsize)

    def get(
        self, sql: str, parameters: Sequence[Any], finish: Finish = unchanged
    ) -> pl.DataFrame | None:
        """Return the answer, from the cache or the lake; None if it is too large to cache."""
        coded = self.coded(sql, parameters, finish)
        return None if coded is None else coded.rows

    def coded(
        self, sql: str, parameters: Sequence[Any], finish: Finish = unchanged
    ) -> CodedRows | None:
        """Return the answer as `get`, with the codes of its columns.

        Args:
            finish: Converts the answer before it is cached; always the same for a query.
        """
        return self._get(sql, tuple(parameters), finish)


def _question(sql: str, parameters: tuple[Any, ...], finish: Finish) -> tuple[Any, ...]:
    # Explanations need the unconverted answer, views the converted one.
    return sql, parameters, finish is unchanged


def _rows(answer: CodedRows | None) -> int:
    return 0 if answer is None else len(answer)


@dataclass(frozen=True)
class KnownColumns:
    """The columns that queries may leave out for some filters.

    Attributes:
        constant: Columns with one value in all runs, as expressions.
        key: Columns from which those of `others` follow.
        others: The columns of `key` and those that follow, one row per combination.
    """

    constant: dict[str, pl.Expr]
    key: tuple[str, ...]
    others: pl.DataFrame

    @cached_property
    def names(self) -> frozenset[str]:
        """The columns to leave out."""
        return frozenset((*self.constant, *self.others.columns)) - frozenset(self.key)

    def added_to(self, answer: pl.DataFrame) -> pl.DataFrame:
        """Add the columns that a query left out; the rows keep their order.

        Args:
            answer: With all columns of `key`.
        """
        if len(self.others.columns) > len(self.key):
            answer = answer.join(
                self.others, on=list(self.key), how="left", nulls_equal=True, maintain_order="left"
            )
        return answer.with_columns(**self.constant)


def known_columns(rows: pl.DataFrame, order: Sequence[str]) -> KnownColumns:
    """Find the constant columns of some rows, and those that follow from others.

    Args:
        rows: Rows of the filter cube; if empty, no column is found.
        order: Names of columns; the first are preferred as keys.
    """
    if not len(rows):
        return KnownColumns({}, (), pl.DataFrame())
    rows = compact(rows.select(order).unique(maintain_order=True))
    constant = {
        name: pl.lit(rows[name][0], rows.schema[name])
        for name in order
        if rows[name].n_unique() == 1
    }
    varying = [name for name in order if name not in constant]
    return KnownColumns(constant, key_columns(rows, varying), rows.select(varying))


def key_columns(rows: pl.DataFrame, order: Sequence[str]) -> tuple[str, ...]:
    """Choose columns that together determine all others.

    Args:
        rows: Distinct rows over the columns of `order`; NULL is a value.
        order: The columns; the first are preferred.

    Returns:
        Names in their order, each of a column that distinguishes rows which the earlier columns do
        not. No name for fewer than two rows.
    """
    codes, count, key = np.zeros(len(rows), np.int64), 1, []
    for name in order:
        if count >= len(rows):
            break
        column = rows[name]
        if column.dtype in (pl.String, pl.Categorical):
            column = column.cast(pl.Categorical).to_physical()
        # Numbers from 1, NULL 0; equal numbers mean equal values.
        values = column.rank("dense").cast(pl.Int64).fill_null(0).to_numpy()
        kinds, finer = np.unique(codes * (int(values.max()) + 1) + values, return_inverse=True)
        if len(kinds) > count:
            codes, count = finer, len(kinds)
            key.append(name)
    return tuple(key)


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

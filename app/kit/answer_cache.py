"""The last answers of one version of the lake, shared by all visitors, bounded in rows."""

from collections.abc import Callable, Sequence
from threading import Condition
from typing import Any, Final

import polars as pl
import polars.selectors as cs
from cachetools import LRUCache, cached

# Bounds of what is kept: of one answer, and of all answers together.
KEPT_ROWS: Final = 60_000
ALL_ROWS: Final = 240_000
ALL_ANSWERS: Final = 64


def compact(answer: pl.DataFrame) -> pl.DataFrame:
    """Return the same rows in one piece, with names as categories of 4 bytes instead of 16."""
    return answer.with_columns(cs.string().cast(pl.Categorical)).rechunk()


class _Bounded(LRUCache):
    """Answers by question; the longest unused go when there are too many rows or answers."""

    def __setitem__(self, question: Any, answer: pl.DataFrame | None) -> None:
        super().__setitem__(question, answer)
        while len(self) > ALL_ANSWERS:
            self.popitem()


class AnswerCache:
    """Answers by query text and parameters; callers that ask the same at once wait for one."""

    def __init__(
        self, ask: Callable[[str, Sequence[Any]], pl.DataFrame], all_rows: int | None = None
    ) -> None:
        def kept(sql: str, parameters: tuple[Any, ...]) -> pl.DataFrame | None:
            answer = ask(sql, parameters)
            return compact(answer) if len(answer) <= KEPT_ROWS else None

        bounded = _Bounded(all_rows or ALL_ROWS, getsizeof=_rows)
        self._get = cached(bounded, condition=Condition())(kept)

    def get(self, sql: str, parameters: Sequence[Any]) -> pl.DataFrame | None:
        """Return the answer, from memory or from the lake; None if it is too large to be kept."""
        return self._get(sql, tuple(parameters))


def _rows(answer: pl.DataFrame | None) -> int:
    return 0 if answer is None else len(answer)

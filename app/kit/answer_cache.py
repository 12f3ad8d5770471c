"""A bounded cache of query answers for one version of the lake, shared by all visitors."""

from collections.abc import Callable, Sequence
from threading import Condition
from typing import Any, Final

import polars as pl
import polars.selectors as cs
from cachetools import LRUCache, cached

# Maximum rows of one cached answer, and of all answers together.
KEPT_ROWS: Final = 60_000
ALL_ROWS: Final = 240_000
ALL_ANSWERS: Final = 64
Finish = Callable[[pl.DataFrame], pl.DataFrame]


def compact(answer: pl.DataFrame) -> pl.DataFrame:
    """Return the same rows in one chunk, with names as categories of 4 bytes instead of 16."""
    return answer.with_columns(cs.string().cast(pl.Categorical)).rechunk()


def unchanged(answer: pl.DataFrame) -> pl.DataFrame:
    """Return an answer as it is."""
    return answer


class _Bounded(LRUCache):
    """Answers by query; the least recently used are dropped when rows or answers are too many."""

    def __setitem__(self, question: Any, answer: pl.DataFrame | None) -> None:
        super().__setitem__(question, answer)
        while len(self) > ALL_ANSWERS:
            self.popitem()


class AnswerCache:
    """Answers by SQL and parameters; simultaneous callers of one query wait for one answer."""

    def __init__(
        self, ask: Callable[[str, Sequence[Any]], pl.DataFrame], all_rows: int | None = None
    ) -> None:
        def kept(sql: str, parameters: tuple[Any, ...], finish: Finish) -> pl.DataFrame | None:
            answer = ask(sql, parameters)
            return finish(compact(answer)) if len(answer) <= KEPT_ROWS else None

        self._bounded = _Bounded(all_rows or ALL_ROWS, getsizeof=_rows)
        self._get = cached(self._bounded, key=_question, condition=Condition())(kept)

    @property
    def rows(self) -> int:
        """Rows of all cached answers."""
        return int(self._bounded.currsize)

    def get(
        self, sql: str, parameters: Sequence[Any], finish: Finish = unchanged
    ) -> pl.DataFrame | None:
        """Return the answer, from the cache or the lake; None if it is too large to cache.

        Args:
            finish: Converts the answer before it is cached; always the same for a query.
        """
        return self._get(sql, tuple(parameters), finish)


def _question(sql: str, parameters: tuple[Any, ...], finish: Finish) -> tuple[Any, ...]:
    # Explanations need the unconverted answer, views the converted one.
    return sql, parameters, finish is unchanged


def _rows(answer: pl.DataFrame | None) -> int:
    return 0 if answer is None else len(answer)

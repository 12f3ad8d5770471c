"""Counts numbers that agree, and names those that differ."""

import math
from typing import Any

import duckdb

TOLERANCE = 1e-9
# Intervals come from quantiles that are found by iteration.
CLAIM_TOLERANCE = 1e-6

Row = dict[str, Any]


class Report:
    """Counts numbers that agree, and prints those that differ."""

    def __init__(self) -> None:
        self.numbers = self.agreed = self.faults = 0

    def fault(self, words: str) -> None:
        self.faults += 1
        print(words)

    def compare(
        self, name: str, shown: Any, computed: Any, tolerance: float, scale: float = 0.0
    ) -> None:
        self.numbers += 1
        if agrees(shown, computed, tolerance, scale):
            self.agreed += 1
        else:
            print(f"{name}: {show(shown)} is given, the runs yield {show(computed)}")


def agrees(shown: Any, computed: Any, tolerance: float, scale: float) -> bool:
    if shown == computed:
        return True
    if shown is None or computed is None or isinstance(shown, str) or isinstance(computed, str):
        return False
    if math.isnan(shown) or math.isnan(computed):
        return math.isnan(shown) and math.isnan(computed)
    return bool(abs(shown - computed) <= tolerance * max(abs(shown), abs(computed), scale))


def show(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def rows_of(lake: duckdb.DuckDBPyConnection, query: str) -> list[Row]:
    answer = lake.execute(query)
    names = [column[0] for column in answer.description]
    return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]


def words_of_key(keys: list[str], key: tuple[Any, ...]) -> str:
    return ", ".join(f"{k} {v}" for k, v in zip(keys, key, strict=True) if v is not None)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

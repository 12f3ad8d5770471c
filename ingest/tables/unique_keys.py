"""Which rows of a dataset's tables are runs, and under which replicate number: in 50 bytes a row.

Rows are compared by digests of 128 bits of their configuration and of their values.
"""

from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import xxhash

from data.analysis.replicates import are_unlike

# No replicate number; none of a row is as low.
NONE: Final = -(2**63)
# What becomes of a row: it repeats an earlier one, is the first of its key, or has other values.
DROPPED, FIRST, FURTHER = 0, 1, 2
# Most runs of a configuration, beside which others are far.
_FEWEST_ALIKE: Final = 3


class RowKeys:
    """The keys of rows, in the order in which they are added."""

    def __init__(self) -> None:
        self._tables = array("i")
        self._places = array("q")
        self._lines = array("q")
        self._replicates = array("q")
        self._configurations = bytearray()
        self._contents = bytearray()

    def add(
        self,
        table: int,
        index: int,
        line: int,
        configuration: object,
        replicate: int | None,
        values: Mapping[str, Any],
    ) -> None:
        """Add a row.

        Args:
            table, index, line: Number of its table, its index and its line there.
            configuration: Its key without the replicate number; a tuple of texts and numbers.
            replicate: None if the row has none.
        """
        self._tables.append(table)
        self._places.append(index)
        self._lines.append(line)
        self._replicates.append(NONE if replicate is None else replicate)
        self._configurations += _digest(configuration)
        self._contents += _digest(sorted(values.items()))

    def resolve(self, numbered: set[int]) -> "ResolvedKeys":
        """Decide what becomes of each row.

        Args:
            numbered: Tables whose rows are numbered in order, from 0 in each configuration.
        """
        tables = np.array(self._tables, np.int32)
        configurations = _codes(_halves(self._configurations))
        replicates = np.array(self._replicates, np.int64)
        are_numbered = np.isin(tables, list(numbered))
        if are_numbered.any():
            replicates[are_numbered] = _counts(configurations[are_numbered])
        keys = _codes([replicates.view(np.uint64), configurations.astype(np.uint64)])
        contents = _codes([*_halves(self._contents), keys.astype(np.uint64)])
        rows = np.arange(len(keys))
        twins, firsts = _first_places(contents), _first_places(keys)
        fates = np.where(twins != rows, DROPPED, np.where(firsts == rows, FIRST, FURTHER))
        return ResolvedKeys(
            tables, np.array(self._places, np.int64), np.array(self._lines, np.int64),
            configurations, replicates, replicates.copy(), fates.astype(np.int8), twins, firsts,
        )  # fmt: skip


@dataclass(slots=True)
class ResolvedKeys:
    """What becomes of rows; each array has the shape (rows,).

    Attributes:
        tables, places, lines: As they were added.
        configurations: A number for each configuration.
        replicates: Replicate numbers; those of FURTHER rows are new after `renumber`.
        replicates_before: Replicate numbers before that.
        fates: DROPPED, FIRST or FURTHER.
        twins: The first row with the same key and values.
        firsts: The first row with the same key.
    """

    tables: np.ndarray
    places: np.ndarray
    lines: np.ndarray
    configurations: np.ndarray
    replicates: np.ndarray
    replicates_before: np.ndarray
    fates: np.ndarray
    twins: np.ndarray
    firsts: np.ndarray

    def rows_of(self, fate: int) -> np.ndarray:
        """Return the rows of a fate: keys in the order of their first rows, rows in theirs."""
        rows = np.flatnonzero(self.fates == fate)
        return rows[np.argsort(self.firsts[rows], kind="stable")]

    def unlike(self, values: np.ndarray) -> list[tuple[int, float, float]]:
        """Return configurations whose rows are no replicates of each other.

        Args:
            values: Of each row, shape (rows,); NaN or 0 where unknown.

        Returns:
            The first row of each, its least and its greatest value; dropped rows do not count.
        """
        here, firsts, group, least, most = self._extremes(values)
        logs, n = np.log(values[here]), np.bincount(group)
        means = np.bincount(group, logs) / n
        squares = np.bincount(group, (logs - means[group]) ** 2)
        is_unlike = are_unlike(squares / np.maximum(n - 1, 1))
        return [
            (int(here[firsts[at]]), float(least[at]), float(most[at]))
            for at in np.flatnonzero(is_unlike)
        ]

    def _extremes(self, values: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the rows with a value, and of each configuration its first one, least and most.

        Returns:
            The rows; the places in these of the first row of each configuration; the number of the
            configuration of each row; the least and the greatest value of each configuration.
        """
        here = np.flatnonzero((self.fates != DROPPED) & (values > 0))
        groups, firsts, group = np.unique(
            self.configurations[here], return_index=True, return_inverse=True
        )
        least, most = np.full(len(groups), np.inf), np.zeros(len(groups))
        np.minimum.at(least, group, values[here])
        np.maximum.at(most, group, values[here])
        return here, firsts, group, least, most

    def far(self, values: np.ndarray, factor: float, alike: float) -> dict[int, float]:
        """Return rows with over so many times the value of most of their configuration, or less.

        Most are three at least, more than the others, and alike.

        Args:
            values: As of `unlike`.
            alike: The greatest of most over their least.

        Returns:
            By row the median of the others.
        """
        found: dict[int, float] = {}
        here, firsts, _, lowest, highest = self._extremes(values)
        for first in here[firsts[highest > factor * lowest]].tolist():
            of = self.configurations == self.configurations[first]
            rows = np.flatnonzero(of & (self.fates != DROPPED) & (values > 0))
            rows = rows[np.argsort(values[rows], kind="stable")]
            ratios = values[rows[1:]] / values[rows[:-1]]
            cut = int(np.argmax(ratios)) + 1
            few, most = sorted((rows[:cut], rows[cut:]), key=len)
            is_clear = ratios[cut - 1] > factor and len(few) < len(most) >= _FEWEST_ALIKE
            if is_clear and values[most].max() <= alike * values[most].min():
                found |= dict.fromkeys(few.tolist(), float(np.median(values[most])))
        return found

    def renumber(self, is_taken: Callable[[int, int], bool] | None) -> None:
        """Give each further row the next free replicate number of its configuration.

        Args:
            is_taken: Whether another run has the configuration of a row with a number; None if
                there are no others.
        """
        rows = self.rows_of(FURTHER)
        if not len(rows):
            return
        last = np.full(self.configurations.max() + 1, -1, np.int64)
        known = self.replicates != NONE
        np.maximum.at(last, self.configurations[known], self.replicates[known])
        own = self.configurations[rows]
        if is_taken is None:
            self.replicates[rows] = last[own] + 1 + _counts(own)
            return
        for row, configuration in zip(rows.tolist(), own.tolist(), strict=True):
            number = int(last[configuration]) + 1
            while is_taken(row, number):
                number += 1
            self.replicates[row] = last[configuration] = number


def _digest(value: object) -> bytes:
    return xxhash.xxh3_128_digest(repr(_plain(value)).encode("utf-8", "surrogatepass"))


def _plain(value: object) -> object:
    """Write equal numbers alike."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _halves(digests: bytearray) -> list[np.ndarray]:
    return list(np.frombuffer(bytes(digests), np.uint64).reshape(-1, 2).T)


def _codes(parts: list[np.ndarray]) -> np.ndarray:
    """Number the different combinations of values."""
    order = np.lexsort(parts)
    codes = np.zeros(len(order), np.int64)
    steps = np.zeros(len(order), bool)
    for part in parts:
        steps[1:] |= part[order[1:]] != part[order[:-1]]
    codes[order] = np.cumsum(steps)
    return codes


def _first_places(codes: np.ndarray) -> np.ndarray:
    """Return for each element the place of the first one of its code."""
    first = np.full(codes.max(initial=-1) + 1, len(codes), np.int64)
    np.minimum.at(first, codes, np.arange(len(codes)))
    places: np.ndarray = first[codes]
    return places


def _counts(codes: np.ndarray) -> np.ndarray:
    """Return for each element how many earlier ones have its code."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(codes)])
    lengths = np.diff(np.append(begins, len(codes)))
    counts = np.empty(len(codes), np.int64)
    counts[order] = np.arange(len(codes)) - np.repeat(begins, lengths)
    return counts

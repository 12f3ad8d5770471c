"""A bounded list of a file's problems, so that a file of bad lines cannot fill the lake."""

from collections import Counter
from dataclasses import replace
from typing import Final

from ingest.records import Problem, Severity

MOST_NAMED_LINES: Final = 100


class ProblemList:
    """Problems of one file: the first of each kind by line, the rest of a kind as one count.

    Args:
        most_named: How many problems of a kind are listed by line.
    """

    def __init__(self, most_named: int = MOST_NAMED_LINES) -> None:
        self._most_named = most_named
        self._named: list[Problem] = []
        self._beyond: dict[str, Problem] = {}
        self._counts: Counter[str] = Counter()

    def add(self, kind: str, severity: Severity, detail: str, line: int | None = None) -> None:
        """Add a problem."""
        self._counts[kind] += 1
        more = self._counts[kind] - self._most_named
        if more <= 0:
            self._named.append(Problem(kind, severity, detail, line))
            return
        first = self._beyond.get(kind, Problem(kind, severity, f"{detail}; others like it", line))
        self._beyond[kind] = replace(first, count=more)

    def all(self) -> list[Problem]:
        """Return all problems, sorted by line."""
        return sorted([*self._named, *self._beyond.values()], key=lambda found: found.line or 0)

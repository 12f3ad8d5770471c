"""A bounded list of a file's problems, so that a file of bad lines cannot fill the lake."""

from collections import Counter
from dataclasses import replace
from typing import Final

from ingest.records import Problem, Severity

MOST_NAMED_LINES: Final = 100


class ProblemList:
    """Problems of one file: at most `MOST_NAMED_LINES` of a kind by line, the rest as one count."""

    def __init__(self) -> None:
        self._named: list[Problem] = []
        self._beyond: dict[str, Problem] = {}
        self._counts: Counter[str] = Counter()

    def add(self, kind: str, severity: Severity, detail: str, line: int | None = None) -> None:
        """Add a problem; lines must come in file order."""
        self._counts[kind] += 1
        more = self._counts[kind] - MOST_NAMED_LINES
        if more <= 0:
            self._named.append(Problem(kind, severity, detail, line))
            return
        first = self._beyond.get(kind, Problem(kind, severity, f"{detail}; others like it", line))
        self._beyond[kind] = replace(first, count=more)

    def all(self) -> list[Problem]:
        """Return all problems, sorted by line."""
        return sorted([*self._named, *self._beyond.values()], key=lambda found: found.line or 0)

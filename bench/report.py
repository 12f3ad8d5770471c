"""The report of a benchmark: one line for each measurement, as JSON or as text."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np


@dataclass(frozen=True, slots=True)
class Measurement:
    """One measured number.

    Attributes:
        name: Name of the measurement, as in docs/benchmarks.md.
        n: Number of observations.
        limit: Highest value that meets the target; None without a target.
    """

    name: str
    value: float
    unit: str
    n: int
    limit: float | None = None

    def prefixed(self, prefix: str) -> "Measurement":
        """Return the measurement with a prefix before its name."""
        return replace(self, name=prefix + self.name)

    @property
    def ok(self) -> bool | None:
        """Whether the value meets its limit; None without a limit."""
        return None if self.limit is None else self.value <= self.limit

    def to_json(self) -> str:
        """Return one line of JSON: `name`, `value`, `unit`, `n`, `limit`, `ok`."""
        return json.dumps({**asdict(self), "value": round(self.value, 2), "ok": self.ok})

    def to_words(self) -> str:
        """Return one line of text."""
        verdict = {True: "ok", False: "MISSED", None: ""}[self.ok]
        limit = "" if self.limit is None else f"limit {self.limit:g} {self.unit}"
        shown = f"{self.value:10.2f} {self.unit:<3} n={self.n}"
        return f"{self.name:<28} {shown:<22} {limit:<16} {verdict}".rstrip()


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest observation that is at least as large as this share of all."""
    return float(np.quantile(values, share, method="inverted_cdf"))

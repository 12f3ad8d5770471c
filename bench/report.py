"""The report of a benchmark: one line for each measurement, as JSON or as text."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

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

    @property
    def ok(self) -> bool | None:
        """Whether the value meets its limit; None without a limit."""
        return None if self.limit is None else self.value <= self.limit

    def to_json(self) -> str:
        """Return one line of JSON: `name`, `value`, `unit`, `n`, `limit`, `ok`."""
        return json.dumps({**asdict(self), "value": round(self.value, 2), "ok": self.ok})

    def to_text(self) -> str:
        """Return one line of text."""
        verdict = {True: "ok", False: "MISSED", None: ""}[self.ok]
        limit = "" if self.limit is None else f"limit {self.limit:g} {self.unit}"
        number = f"{self.value:10.2f} {self.unit:<3} n={self.n}"
        return f"{self.name:<28} {number:<22} {limit:<16} {verdict}".rstrip()


class Floor(Measurement):
    """A measurement whose limit is a minimum."""

    @property
    def ok(self) -> bool | None:
        return None if self.limit is None else self.value >= self.limit


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest observation that is at least as large as this share of all."""
    return float(np.quantile(values, share, method="inverted_cdf"))


def p95_and_median(
    name: str,
    times_ms: Sequence[float],
    p95_limit: float | None = None,
    median_limit: float | None = None,
) -> Iterator[Measurement]:
    """Yield `NAME_p95` and `NAME_median` of some times."""
    n = len(times_ms)
    yield Measurement(f"{name}_p95", quantile(times_ms, 0.95), "ms", n, p95_limit)
    yield Measurement(f"{name}_median", quantile(times_ms, 0.5), "ms", n, median_limit)

"""What a benchmark found: one line a measurement, as JSON for machines or as words."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np


@dataclass(frozen=True, slots=True)
class Measurement:
    """One number.

    Attributes:
        name: What was measured, in the words of bench/README.md.
        n: How many observations stand behind it.
        limit: The target that it must not be above; None where there is none.
    """

    name: str
    value: float
    unit: str
    n: int
    limit: float | None = None

    def prefixed(self, prefix: str) -> "Measurement":
        """The same under a longer name."""
        return replace(self, name=prefix + self.name)

    @property
    def ok(self) -> bool | None:
        """Whether it keeps its limit; None without one."""
        return None if self.limit is None else self.value <= self.limit

    def to_json(self) -> str:
        """One line: `name`, `value`, `unit`, `n`, `limit`, `ok`."""
        return json.dumps({**asdict(self), "value": round(self.value, 2), "ok": self.ok})

    def to_words(self) -> str:
        """One line for people."""
        verdict = {True: "ok", False: "MISSED", None: ""}[self.ok]
        limit = "" if self.limit is None else f"limit {self.limit:g} {self.unit}"
        shown = f"{self.value:10.2f} {self.unit:<3} n={self.n}"
        return f"{self.name:<28} {shown:<22} {limit:<16} {verdict}".rstrip()


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest observation that at least this share of them does not exceed."""
    return float(np.quantile(values, share, method="inverted_cdf"))

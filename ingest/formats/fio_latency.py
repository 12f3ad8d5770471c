"""Latencies of fio jobs: distributions are merged, percentiles are never averaged."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ingest.settings.number_texts import PERCENTILES

# Total and completion latency. fio gives percentiles and bins of the second, or of the first
# with `lat_percentiles=1`; mean, minimum and maximum of both.
KINDS: Final = ("lat_ns", "clat_ns")


@dataclass(slots=True)
class Distribution:
    """A latency distribution of fio, in nanoseconds.

    Attributes:
        mean_ns: Mean total latency; `min_ns` and `max_ns` are of the total latency too.
        left_out_ns: Part of the mean that `percentiles` and `bins` exclude: the time before
            submission.
        percentiles: Percent to value, as fio gives them; empty if merged.
        bins: Value to count; empty without fio's `json+`.
    """

    count: int
    mean_ns: float
    min_ns: float
    max_ns: float
    left_out_ns: float = 0.0
    percentiles: dict[float, float] = field(default_factory=dict)
    bins: Counter[int] = field(default_factory=Counter)

    def percentile_ns(self, percent: float) -> float | None:
        """Return the smallest value that at least `percent` of latencies do not exceed, or None.

        Source: fio's `stat.c`, `calc_clat_percentiles`: first bin whose cumulative count is enough.
        """
        if percent in self.percentiles:
            return self.percentiles[percent]
        total = sum(self.bins.values())
        if not total:
            return None
        below = 0
        for value in sorted(self.bins):
            below += self.bins[value]
            if below >= percent / 100 * total:
                return float(value)
        return float(max(self.bins))


def read_distribution(direction: Mapping[str, Any]) -> Distribution | None:
    """Return the latencies of one direction of one job; None if it has none.

    Raises:
        TypeError, ValueError, KeyError: The entry is not valid fio output.
    """
    counts = {kind: _count(direction, kind) for kind in KINDS}
    kinds = [kind for kind in KINDS if counts[kind]]
    if not kinds:
        return None
    chosen = next((kind for kind in kinds if direction[kind].get("percentile")), kinds[-1])
    detailed, whole = direction[chosen], direction[kinds[0]]
    return Distribution(
        counts[chosen],
        float(whole["mean"]),
        float(whole["min"]),
        float(whole["max"]),
        float(whole["mean"]) - float(detailed["mean"]),
        {float(key): float(value) for key, value in detailed.get("percentile", {}).items()},
        Counter({int(key): int(value) for key, value in detailed.get("bins", {}).items()}),
    )


def _count(direction: Mapping[str, Any], kind: str) -> int:
    """Return how many latencies of a kind were measured: `N`, which fio before 3.18 does not write.

    There each request has one, unless all are 0, as where an option disables them.
    """
    latencies = direction.get(kind, {})
    if "N" in latencies:
        return int(latencies["N"])
    return int(direction["total_ios"]) if float(latencies.get("max", 0)) > 0 else 0


def merge(parts: Sequence[Distribution]) -> Distribution | None:
    """Merge distributions; the result has bins only if all parts have bins."""
    if len(parts) < 2:
        return parts[0] if parts else None
    count = sum(part.count for part in parts)
    bins: Counter[int] = Counter()
    if all(part.bins for part in parts):
        for part in parts:
            bins.update(part.bins)
    return Distribution(
        count,
        sum(part.mean_ns * part.count for part in parts) / count,
        min(part.min_ns for part in parts),
        max(part.max_ns for part in parts),
        sum(part.left_out_ns * part.count for part in parts) / count,
        bins=bins,
    )


def measurements_us(latency: Distribution) -> dict[str, float]:
    """Return latencies by column of `runs`, microseconds, without unknown percentiles."""
    values = {
        "latency_mean_us": latency.mean_ns,
        "latency_min_us": latency.min_ns,
        "latency_max_us": latency.max_ns,
    }
    for percent, column in PERCENTILES.items():
        if (value := latency.percentile_ns(percent)) is not None:
            values[column] = value
    return {column: value / 1e3 for column, value in values.items()}

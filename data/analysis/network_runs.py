"""The runs that the claims of the network study compare: configurations of a system in a panel."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Any, Final

import numpy as np
import polars as pl

from data.analysis.verdicts import HOLDS, UNDECIDED, UnmeasuredError, Verdict, size_outcome
from data.selection import POLLING_SYSTEM

DEFAULT, LINUX, LIBRARY, POLLING = SYSTEMS = (
    "linux_default", "linux_tuned", "ebbrt_tuned", POLLING_SYSTEM,
)  # fmt: skip
TUNED: Final = (LINUX, LIBRARY)
_LABELS: Final = {
    DEFAULT: "default Linux", LINUX: "tuned Linux", LIBRARY: "library OS",
    POLLING: "polling library OS",
}  # fmt: skip
# Performance, energy, and their product: columns of configurations, less is better in all.
PERFORMANCE, ENERGY, PRODUCT = MARKS = ("performance", "energy_j", "product")
_MARK_WORDS: Final = {PERFORMANCE: "performance", ENERGY: "energy", PRODUCT: "EDP"}
# The paper prints no limit; this one is ours.
LIMIT_US: Final = 500.0
CONFIGURATION: Final = ("workload", "place", "system", "itr", "ghz", "rapl")
# One power limit, where a slope over the clock or the delay shall not mix several.
FULL_RAPL_W: Final = 135.0
# A difference within so many standard errors decides nothing.
_ERRORS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Panel:
    """One workload at one load or message size."""

    workload: str
    place: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether the load is given and latency is the result."""
        return self.workload.startswith("memcached")

    @property
    def name(self) -> str:
        """`memcached 200K QPS`, `NetPIPE 64 KB`, `NodeJS`."""
        if self.place is None:
            return "NodeJS"
        if not self.is_open:
            size = f"{self.place / 1024:g} KB" if self.place >= 1024 else f"{self.place:g} B"
            return f"NetPIPE {size}"
        return f"{self.workload.replace('-', ' ')} {self.place / 1000:g}K QPS"


NODEJS: Final = Panel("nodejs")
NETPIPE: Final = tuple(Panel("netpipe", float(size)) for size in (64, 8192, 65536, 524288))
MEMCACHED: Final = tuple(Panel("memcached", load) for load in (200e3, 400e3, 600e3))
FAST: Final = tuple(Panel("memcached", load) for load in (1000e3, 1500e3))
SILO: Final = tuple(Panel("memcached-silo", load) for load in (50e3, 100e3, 200e3))
CLOSED: Final = (NODEJS, *NETPIPE)
PUBLISHED: Final = (*CLOSED, *MEMCACHED)


@dataclass(frozen=True, slots=True)
class Mark:
    """The configuration that has least of a metric, with the noise of its system in the panel.

    Attributes:
        row: Columns of `NetworkRuns.cells`.
        noise: Relative standard deviation of replicates, by column of MARKS; NaN without any.
    """

    panel: Panel
    row: dict[str, Any]
    noise: dict[str, float]

    @property
    def n(self) -> int:
        """Runs of the configuration."""
        return int(self.row["n"])

    @property
    def words(self) -> str:
        """`ITR 2 us, 2.9 GHz, 135 W (n = 1)`; of the default `adaptive, governor (n = 3)`."""
        itr, ghz, rapl = (self.row[name] for name in ("itr", "ghz", "rapl"))
        parts = ["adaptive" if itr is None else f"ITR {itr:g} us"]
        parts += ["governor" if ghz is None else f"{ghz:g} GHz"]
        parts += [] if rapl is None else [f"{rapl:g} W"]
        return f"{', '.join(parts)} (n = {self.n})"


@dataclass(frozen=True, slots=True)
class NetworkRuns:
    """All runs of the study's systems in one dataset and machine.

    Attributes:
        rows: One row a run: CONFIGURATION, MARKS, `instructions` (of NodeJS a request's),
            `interrupts`, `ipc`.
        cells: One row a configuration: CONFIGURATION, `n`, means of the others, and `<mark>_sd`.
    """

    rows: pl.DataFrame
    cells: pl.DataFrame

    @classmethod
    def of(cls, runs: pl.DataFrame) -> "NetworkRuns":
        """Reduce runs to configurations.

        Args:
            runs: Columns CONFIGURATION, `duration_s`, `latency_p99_us`, `energy_j`,
                `instructions`, `interrupts`, `requests`, `ipc`; one row a run.
        """
        is_open = pl.col("workload").str.starts_with("memcached")
        performance = pl.when(is_open).then("latency_p99_us").otherwise("duration_s")
        # NodeJS serves a number of requests that differs a little from run to run.
        per = pl.when(pl.col("workload") == "nodejs").then("requests").otherwise(1.0)
        measured = runs.with_columns(
            performance=performance, instructions=pl.col("instructions") / per
        ).with_columns(product=pl.col("performance") * pl.col("energy_j"))
        means = (*MARKS, "instructions", "interrupts", "ipc")
        cells = measured.group_by(CONFIGURATION).agg(
            pl.len().alias("n"), pl.col(*means).mean(), pl.col(*MARKS).std().name.suffix("_sd")
        )
        # Of equals the least throttled comes first.
        return cls(measured, cells.sort(CONFIGURATION, descending=[False] * 4 + [True] * 2))

    def need(self, panels: Iterable[Panel], systems: Sequence[str]) -> None:
        """Check that all systems have runs in all panels.

        Raises:
            UnmeasuredError: The message names what is missing, and which runs would decide.
        """
        missing = [(p, s) for p in panels for s in systems if not len(_there(self.cells, p, s))]
        if not missing:
            return
        kinds = ["no polling"] if any(system == POLLING for _, system in missing) else []
        kinds += ["no silo"] if any(panel in SILO for panel, _ in missing) else []
        loads = [f"{panel.place:,.0f}" for panel in FAST if panel in dict(missing)]
        if kinds:
            lacking = f"{', '.join(kinds)} runs"
        elif loads:
            lacking = f"no runs at {' and '.join(loads)} QPS"
        else:
            lacking = f"no runs of {_LABELS[missing[0][1]]} at {missing[0][0].name}"
        by_system: dict[str, list[Panel]] = {}
        for panel, system in missing:
            by_system.setdefault(system, []).append(panel)
        wanted = "; ".join(f"{_LABELS[s]} at {_names(own)}" for s, own in by_system.items())
        raise UnmeasuredError(f"{lacking} in this lake. Runs that would decide: {wanted}")

    def runs_at(self, panel: Panel, system: str) -> pl.DataFrame:
        """Return a system's runs in a panel; raises as `need`."""
        self.need([panel], [system])
        return _there(self.rows, panel, system)

    def at(self, panel: Panel, system: str) -> pl.DataFrame:
        """Return a system's configurations in a panel; raises as `need`."""
        self.need([panel], [system])
        return _there(self.cells, panel, system)

    def best(self, panel: Panel, system: str, mark: str) -> Mark:
        """Return the configuration with least of a mark; of open loops, within LIMIT_US.

        The default is no choice: it counts beyond the limit too.

        Raises:
            UnmeasuredError: No runs, or none within the limit.
        """
        cells = self.at(panel, system)
        is_limited = panel.is_open and system != DEFAULT
        within = cells.filter(pl.col(PERFORMANCE) <= LIMIT_US) if is_limited else cells
        if not len(within):
            raise UnmeasuredError(f"{_LABELS[system]} has no run within 500 us at {panel.name}")
        row = within.row(within[mark].arg_min(), named=True)
        return Mark(panel, row, {name: _noise(cells, name) for name in MARKS})


def _there(rows: pl.DataFrame, panel: Panel, system: str) -> pl.DataFrame:
    return rows.filter(
        pl.col("workload") == panel.workload,
        pl.col("place").eq_missing(panel.place),
        pl.col("system") == system,
    )


def _names(panels: Sequence[Panel]) -> str:
    """Return `memcached 200K, 400K QPS`: the names of panels, each workload once."""
    by_workload: dict[str, list[str]] = {}
    for panel in panels:
        workload = "NodeJS" if panel.place is None else panel.name.rsplit(" ", 2)[0]
        by_workload.setdefault(workload, []).append(panel.name[len(workload) + 1 :])
    return ", ".join(f"{name} {', '.join(own)}".strip() for name, own in by_workload.items())


def _noise(cells: pl.DataFrame, mark: str) -> float:
    """Return the pooled relative standard deviation of replicates; NaN without any."""
    repeated = cells.filter(pl.col("n") > 1)
    freedom = (repeated["n"] - 1).to_numpy()
    relative = (repeated[f"{mark}_sd"] / repeated[mark]).to_numpy()
    return float(np.sqrt((freedom * relative**2).sum() / freedom.sum())) if len(repeated) else nan


def is_apart(old: Mark, new: Mark, column: str) -> bool:
    """Tell whether two marks surely differ by more than their noise, which must be known."""
    error = np.hypot(old.noise[column] / old.n**0.5, new.noise[column] / new.n**0.5)
    return bool(abs(np.log(old.row[column] / new.row[column])) >= _ERRORS * error)


def factor(
    old: Mark, new: Mark, column: str, printed: float, least: float | None = None
) -> Verdict:
    """Judge old over new of a metric against a printed factor, by the ratio of the logarithms.

    Args:
        printed: Above 1 where new has less.
        least: One-sided: at least this ratio of the logarithms holds; None: the two-sided rule.
    """
    measured = float(old.row[column] / new.row[column])
    systems = f"{_LABELS[old.row['system']]} over {_LABELS[new.row['system']]}"
    detail = (
        f"{old.panel.name}, {_MARK_WORDS[column]} of {systems}: x{measured:.3g}, "
        f"x{printed:.3g} printed; {old.words} and {new.words}"
    )
    n = (old.n, new.n)
    if not is_apart(old, new, column):
        is_known = not isnan(old.noise[column] + new.noise[column])
        why = "within two standard errors" if is_known else "without replicates noise is unknown"
        return Verdict(UNDECIDED, f"n: {detail}; {why}", n=n, effect=measured)
    ratio = float(np.log(measured) / np.log(printed))
    if least is not None:
        outcome = HOLDS if ratio >= least else size_outcome(min(ratio, 1.0))
    else:
        outcome = size_outcome(ratio)
    if outcome != HOLDS:
        detail += ": the other way" if ratio < 0 else ": less" if ratio < 1 else ": more"
    return Verdict(outcome, detail, n=n, effect=measured)


def greatest(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict of the greatest measured factor, for a claim of `up to`."""
    return max(verdicts, key=lambda verdict: verdict.effect or 0.0)


def rank_correlation(rows: pl.DataFrame, x: str, y: str) -> float:
    """Return Spearman's rank correlation; NaN where either does not vary.

    Means that agree to seven digits are ties: their last digits follow from the order of sums.
    """
    ranks = [rows[name].cast(pl.Float32).rank().to_numpy() for name in (x, y)]
    if len(rows) < 3 or any(np.ptp(rank) == 0 for rank in ranks):
        return float("nan")
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def by_group(rows: pl.DataFrame, by: str, x: str, y: str) -> float:
    """Return the median over groups of the rank correlation of x and y."""
    values = [rank_correlation(group, x, y) for group in rows.partition_by(by)]
    return float(np.nanmedian(values))


def clock_slope(rows: pl.DataFrame, by: Sequence[str], least_span: float = 1.0) -> float:
    """Return the median over groups of the slope of ln(performance) on ln(GHz).

    Args:
        least_span: Greatest over least clock that a group must exceed.
    """
    slopes = [
        np.polyfit(np.log(group["ghz"]), np.log(group[PERFORMANCE]), 1)[0]
        for group in rows.drop_nulls("ghz").partition_by(by)
        if group["ghz"].max() / group["ghz"].min() > least_span  # type: ignore[operator]
    ]
    return float(np.median(slopes)) if slopes else float("nan")


def label(system: str) -> str:
    """Return what a sentence calls a system."""
    return _LABELS[system]


def corner_energies(cells: pl.DataFrame) -> dict[tuple[str, str], float]:
    """Return mean energy by clock and ITR, each at its fast and its slow end."""
    clocks, delays = (cells[name].drop_nulls().sort() for name in ("ghz", "itr"))
    ends = {"fast": (clocks[-1], delays[0]), "slow": (clocks[0], delays[-1])}
    energies = {}
    for clock, (ghz, _) in ends.items():
        for delay, (_, itr) in ends.items():
            corner = cells.filter(pl.col("ghz") == ghz, pl.col("itr") == itr)
            if not len(corner):
                raise UnmeasuredError(f"no run at ITR {itr:g} us and {ghz:g} GHz")
            energies[clock, delay] = float(corner[ENERGY].mean())  # type: ignore[arg-type]
    return energies


def saved_by_slowest_itr(cells: pl.DataFrame) -> tuple[float, list[pl.DataFrame]]:
    """Return the joules that the slowest ITR saves over the fastest, and the settings of each."""
    ends = [cells.filter(pl.col("itr") == end) for end in (cells["itr"].min(), cells["itr"].max())]
    fastest_j, slowest_j = (float(end[ENERGY].mean()) for end in ends)  # type: ignore[arg-type]
    return fastest_j - slowest_j, ends

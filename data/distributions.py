"""Distributions of thousands of runs, and series over their time.

Read from `distributions`, one file for hundreds of runs; a run of an older lake, which has none, is
read from its own `histograms`, without descriptors, power and series.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from data.analysis.log_metrics import POWER, SERIES, slot_values
from data.connection import Lake
from data.errors import DataError, LakeError
from data.lake_place import LakePath
from data.object_store import file_system, naming
from data.schema import HISTOGRAM_QUANTITIES
from data.units import format_quantity

_FILES: Final = (
    'SELECT run_id, f."table" AS name, f.path AS path, f.digest AS digest FROM '
    "(SELECT run_id, unnest(files) AS f FROM _runs_all WHERE has_log) "
    "WHERE f.\"table\" IN ('distributions', 'histograms')"
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """One quantity of `distributions`.

    Attributes:
        unit: Unit of its values times `scale`; empty for counts.
    """

    title: str
    unit: str
    scale: float = 1.0

    def words(self, value: float, digits: int = 3) -> str:
        """Return a value with its unit."""
        return format_quantity(value * self.scale, self.unit, digits).strip()


QUANTITIES: Final[dict[str, Quantity]] = {
    "gap_ns": Quantity("Time between interrupts", "us", 1e-3),
    "rx_bytes": Quantity("Bytes received per interrupt", "B"),
    "tx_bytes": Quantity("Bytes sent per interrupt", "B"),
    "rx_desc": Quantity("Descriptors received per interrupt", ""),
    "tx_desc": Quantity("Descriptors sent per interrupt", ""),
    "power_w": Quantity("Power over 10 ms", "W"),
}


@dataclass(frozen=True, slots=True)
class Distributions:
    """One quantity of some runs.

    Attributes:
        run_ids: The runs that have it, in the order asked for.
        low: Least value of each slot that any run has, rising: ns, bytes, descriptors or W; of a
            series the number of a part of the run's window.
        high: First value after each slot.
        counts: int64, shape (runs, slots).
        missing: Runs without it: no log, or no `distributions` for this quantity.
    """

    quantity: str
    run_ids: tuple[str, ...]
    low: np.ndarray
    high: np.ndarray
    counts: np.ndarray
    missing: tuple[str, ...]

    @property
    def shares(self) -> np.ndarray:
        """Share of each run's values in each slot, shape (runs, slots)."""
        return self.shares_of(np.arange(len(self.counts)))

    def shares_of(self, rows: np.ndarray) -> np.ndarray:
        """Return `shares` of some runs, by their indices."""
        counts = self.counts[rows]
        shares: np.ndarray = counts / counts.sum(axis=1, keepdims=True)
        return shares

    @property
    def middle(self) -> np.ndarray:
        """The middle of each slot; of times and sizes, of the whole numbers in it."""
        is_whole = self.quantity != POWER
        middle: np.ndarray = (self.low + self.high - is_whole) / 2
        return middle

    def slots_at(self, shares: np.ndarray, at: Sequence[float]) -> np.ndarray:
        """Return the index of the slot at each rank; shape (rows of shares, quantiles)."""
        reached = np.cumsum(shares, axis=1)[:, :, None] >= np.array(at) - 1e-12
        return np.argmax(reached, axis=1)

    def quantiles(self, shares: np.ndarray, at: Sequence[float]) -> np.ndarray:
        """Return the middle of the slot at each rank; shape (rows of shares, quantiles)."""
        return self.middle[self.slots_at(shares, at)]


def read_distributions(lake: Lake, run_ids: Sequence[str], quantity: str) -> Distributions:
    """Read one quantity of some runs, or a series; see `read_quantities`."""
    return next(read_quantities(lake, run_ids, [quantity]))


def read_quantities(
    lake: Lake, run_ids: Sequence[str], quantities: Sequence[str]
) -> Iterator[Distributions]:
    """Read several quantities or series of some runs; each file is found, checked and read once.

    Raises:
        DataError: An unknown quantity.
        LakeError: A file is missing or damaged.
    """
    for quantity in quantities:
        if quantity not in QUANTITIES and quantity not in SERIES:
            raise DataError(f"no distribution of {quantity!r}; known: {', '.join(QUANTITIES)}")
    distinct_ids = tuple(dict.fromkeys(run_ids))
    files = lake.arrow(f"{_FILES} AND run_id IN (SELECT unnest(?))", [list(distinct_ids)])
    shared: dict[str, list[str]] = defaultdict(list)
    own: dict[str, str] = {}
    digests: dict[str, str | None] = {}
    for file in files.to_pylist():
        digests[file["path"]] = file["digest"]
        if file["name"] == "distributions":
            shared[file["path"]].append(file["run_id"])
        else:
            own[file["run_id"]] = file["path"]
    read = {run_id for ids in shared.values() for run_id in ids}
    alone = {run_id: path for run_id, path in own.items() if run_id not in read}
    of_own = [quantity for quantity in quantities if quantity in HISTOGRAM_QUANTITIES]
    if not of_own:
        alone.clear()
    for path in (*shared, *alone.values()):
        lake.check_run_file(path, digests[path])
    of_kind = pc.field("quantity").isin(list(quantities))
    tables = [
        _read(lake.path / path, _ROWS.names, pc.field("run_id").isin(ids) & of_kind).cast(_ROWS)
        for path, ids in shared.items()
    ]
    tables += [_own_rows(lake.path / path, run_id, of_own) for run_id, path in alone.items()]
    if not tables:
        # Made here: Arrow imports pandas for it, which a server does before its threads start.
        tables = [_ROWS.empty_table()]
    rows = pa.concat_tables(tables)
    for quantity in quantities:
        yield _dense(distinct_ids, rows.filter(pc.equal(rows["quantity"], quantity)), quantity)


_NAME: Final = pa.dictionary(pa.int32(), pa.string())
_ROWS: Final = pa.schema(
    {"run_id": _NAME, "quantity": _NAME, "slot": pa.int32(), "count": pa.int64()}
)


def _read(path: LakePath, columns: list[str], condition: pc.Expression) -> pa.Table:
    names = [name for name in columns if name in _ROWS.names and _ROWS.field(name).type == _NAME]
    with naming("read", path):
        system, file = file_system(path)
        try:
            return pq.read_table(
                file, columns=columns, filters=condition, filesystem=system, read_dictionary=names
            )
        except pa.ArrowException as error:
            raise LakeError(f"cannot read {path}: {error}") from error


def _own_rows(path: LakePath, run_id: str, quantities: Sequence[str]) -> pa.Table:
    """Read the coarsest level of a run's histograms, whose stretches cover the window."""
    columns = ["level", "quantity", "slot", "count"]
    rows = _read(path, columns, pc.field("quantity").isin(list(quantities)))
    rows = rows.filter(pc.equal(rows["level"], pc.min(rows["level"])))
    ids = pa.array([run_id] * len(rows), _NAME)
    return pa.table([ids, rows["quantity"], rows["slot"], rows["count"]], schema=_ROWS)


def _dense(wanted_ids: tuple[str, ...], rows: pa.Table, quantity: str) -> Distributions:
    ids = rows["run_id"].cast(pa.string())
    there = set(ids.unique().to_pylist())
    present_ids = tuple(run_id for run_id in wanted_ids if run_id in there)
    slots, at = np.unique(rows["slot"].to_numpy(), return_inverse=True)
    place = pc.index_in(ids, pa.array(present_ids, pa.string())).to_numpy()
    counts = np.bincount(place * len(slots) + at, rows["count"], len(present_ids) * len(slots))
    low, high = (slot_values(quantity, slots + after) for after in (0, 1))
    missing = tuple(run_id for run_id in wanted_ids if run_id not in there)
    return Distributions(
        quantity,
        present_ids,
        low,
        high,
        counts.astype(np.int64).reshape(len(present_ids), len(slots)),
        missing,
    )


@dataclass(frozen=True, slots=True)
class Level:
    """The runs at one level of a knob.

    Attributes:
        rows: Their indices in the runs that were read.
        shares: Mean over them of the share of each slot, each run as much as another.
    """

    rows: np.ndarray
    shares: np.ndarray


def by_level(distributions: Distributions, level_of: Mapping[str, Any]) -> dict[Any, Level]:
    """Pool the runs of each level.

    Args:
        level_of: Value of a knob, or of several, by run id.
    """
    shares = distributions.shares
    rows: dict[Any, list[int]] = defaultdict(list)
    for row, run_id in enumerate(distributions.run_ids):
        rows[level_of[run_id]].append(row)
    return {level: Level(np.array(own), shares[own].mean(axis=0)) for level, own in rows.items()}

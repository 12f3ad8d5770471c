"""Metrics of logs for runs that an older version read: from files in the lake, not raw logs."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from data.analysis.log_bins import SLOTS, slot_of
from data.analysis.log_metrics import (
    BURST_NS,
    SERIES,
    SIZES,
    BurstCounts,
    LogCounts,
    PowerWindows,
    distribution_rows,
    log_metrics,
    over_time,
)
from data.errors import LakeError
from data.file_digests import check_file
from data.lake_place import LakePath
from data.object_store import file_system, naming
from data.schema import HISTOGRAM_QUANTITIES, OVERVIEW_LEVELS
from ingest.lake.commits import FLUSH_RUNS, Committer
from ingest.lake.distributions import TABLE
from ingest.lake.state import LakeState, load_state, read_rows
from ingest.lake.tables import create_tables, locked_lake, open_table, remove_temporaries
from ingest.lake.verification import check_logs

_READ_FROM = ("interrupts", "samples", "histograms", "overview")
# A run whose rows of `distributions` lack this was read before there were series.
_NEWEST = "interrupts_over_time"


@dataclass(slots=True)
class Derived:
    """What a `derive` did: runs that have metrics now, and why others have none, by run id."""

    runs: int = 0
    failed: dict[str, str] = field(default_factory=dict)


def derive(lake: LakePath, on_run: Callable[[int, int], None] = lambda _done, _of: None) -> Derived:
    """Give metrics of logs, distributions and series to all runs with a log that lack any.

    It may be killed at any time; the next one continues.

    Raises:
        LakeError: There is no lake at this path, it cannot be written, or another ingest uses it.
    """
    if open_table(lake, "runs") is None:
        raise LakeError(f"no lake at {lake}: `python -m ingest add RAW...` makes one")
    derived = Derived()
    with locked_lake(lake):
        remove_temporaries(lake)
        check_logs(lake)
        state = load_state(lake, create_tables(lake))
        committer = Committer(lake, state)
        whole = _whole(lake, state)
        ids = [
            run.run_id
            for run in state.runs.values()
            if run.run_id not in whole
            and {path.partition("/")[0] for path, _ in run.big_files}.issuperset(_READ_FROM)
        ]
        for begin in range(0, len(ids), FLUSH_RUNS):
            for row in read_rows(lake, ids[begin : begin + FLUSH_RUNS]):
                on_run(derived.runs + len(derived.failed), len(ids))
                try:
                    counts = count_files(lake, row)
                except LakeError as error:
                    derived.failed[row["run_id"]] = str(error)
                    continue
                row["files"] = [file for file in row["files"] if file["table"] != TABLE]
                committer.add_run(row | log_metrics(row, counts), distribution_rows(row, counts))
                derived.runs += 1
            committer.flush()
        if derived.runs:
            committer.finish({})
    return derived


def _whole(lake: LakePath, state: LakeState) -> set[str]:
    """Return the runs whose rows of `distributions` are complete."""
    runs_of: dict[str, set[str]] = {}
    for run in state.runs.values():
        for path, _ in run.big_files:
            if path.startswith(f"{TABLE}/"):
                runs_of.setdefault(path, set()).add(run.run_id)
    whole: set[str] = set()
    for name, runs in runs_of.items():
        with naming("read", lake / name):
            system, place = file_system(lake / name)
            newest = pc.field("quantity") == _NEWEST
            rows = pq.read_table(place, columns=["run_id"], filters=newest, filesystem=system)
        whole |= runs & set(rows["run_id"].unique().to_pylist())
    return whole


def count_files(lake: LakePath, row: Mapping[str, Any]) -> LogCounts:
    """Count the files of a run to what `ingest add` counts while it reads its log.

    Raises:
        LakeError: A file is missing or damaged.
    """
    length_ns = round(row["duration_s"] * 1e9)
    sizes = np.zeros((len(SIZES), SLOTS), np.int64)
    bursts = {name: BurstCounts(width, length_ns) for name, width in BURST_NS.items()}
    power = PowerWindows(length_ns)
    with _opened(lake, row, "histograms") as file:
        level = None
        for rows in _groups(file, ["level", "quantity", "slot", "count"]):
            of_row = rows["level"].to_numpy()
            level = of_row[0] if level is None else level
            if of_row[0] != level:
                break  # Finer levels count the same again.
            names = rows["quantity"].cast(pa.string()).to_numpy(zero_copy_only=False)
            for at, name in enumerate(HISTOGRAM_QUANTITIES):
                own = (of_row == level) & (names == name)
                slots, counts = (rows[n].to_numpy()[own] for n in ("slot", "count"))
                sizes[at] += np.bincount(slots, counts, SLOTS).astype(np.int64)
    with _opened(lake, row, "interrupts") as file:
        for rows in _groups(file, ["t_ns", "rx_desc", "tx_desc"]):
            for counter in bursts.values():
                counter.add(rows["t_ns"].to_numpy())
            for name in ("rx_desc", "tx_desc"):
                slots = slot_of(rows[name].to_numpy())
                sizes[SIZES.index(name)] += np.bincount(slots, minlength=SLOTS)
    with _opened(lake, row, "samples") as file:
        for rows in _groups(file, ["core", "t_ns", "dt_ns", "energy_uj"]):
            metered = rows.filter(rows["energy_uj"].is_valid())
            power.add(*(metered[name].to_numpy() for name in metered.schema.names))
    dispersion = {name: counter.dispersion() for name, counter in bursts.items()}
    return LogCounts(sizes, dispersion, power.power_w(), _series(lake, row))


def _series(lake: LakePath, row: Mapping[str, Any]) -> dict[str, np.ndarray]:
    columns = list(dict.fromkeys(column for own in SERIES.values() for column in own))
    bins = OVERVIEW_LEVELS[0]
    totals = dict.fromkeys(columns, np.zeros(bins))
    with _opened(lake, row, "overview") as file:
        for rows in _groups(file, ["level", "bin", *columns]):
            own = rows.filter(pc.equal(rows["level"], bins))
            if not len(own):
                break  # Finer levels say the same again.
            for name in columns:
                values = own[name].fill_null(0).to_numpy()
                totals[name] = totals[name] + np.bincount(own["bin"].to_numpy(), values, bins)
    return {
        name: over_time(np.stack([totals[column] for column in own]))
        for name, own in SERIES.items()
    }


@contextmanager
def _opened(lake: LakePath, row: Mapping[str, Any], table: str) -> Iterator[pq.ParquetFile]:
    """Open a file of a run; raises LakeError for whatever is wrong with it."""
    file = next(each for each in row["files"] if each["table"] == table)
    path = lake / file["path"]
    if isinstance(path, Path) and file.get("digest"):
        check_file(path, file["digest"])
    with naming("read", path):
        system, place = file_system(path)
        with system.open_input_file(place) as source, pq.ParquetFile(source) as parquet:
            try:
                yield parquet
            except pa.ArrowException as error:
                raise LakeError(f"cannot read {path}: {error}") from error


def _groups(file: pq.ParquetFile, columns: list[str]) -> Iterator[pa.Table]:
    """Yield the row groups that have rows."""
    for group in range(file.num_row_groups):
        rows = file.read_row_group(group, columns, use_threads=False)
        if len(rows):
            yield rows.combine_chunks()

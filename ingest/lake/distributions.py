"""Files of `distributions`: each holds the runs of a dataset that were committed together.

The rows of its runs name it in `runs.files`, as their own big files: it is written before they are
committed, verified by its digest, and pruned once no kept version names it. It may hold rows of a
run that was read again since; that run names a later file. So many runs are few reads, but commits
of few runs would leave many files: those of a dataset are joined at the end of an `add`.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pd
import pyarrow.parquet as pq
import xxhash

from data.lake_files import local_files
from data.lake_place import LakePath
from data.object_store import file_system, naming
from data.schema import RUNS
from ingest.lake.run_file import RunFile
from ingest.lake.state import LakeState
from ingest.lake.table_files import set_changed

TABLE: Final = "distributions"
# Files of fewer runs are joined where a dataset has more than so many of them.
SMALL_RUNS: Final = 250
MOST_SMALL_FILES: Final = 8
_JOINED_RUNS: Final = 500
_COLUMNS: Final = pa.schema([RUNS.field(name) for name in ("run_id", "dataset", "files")])


def write_batch(lake: LakePath, dataset: str, by_run: Mapping[str, pa.Table]) -> dict[str, Any]:
    """Write the rows of some runs to a file; return its entry for the `runs.files` of each.

    Raises:
        LakeError: It cannot be written.
    """
    rows = pa.concat_tables([by_run[run_id] for run_id in sorted(by_run)]).combine_chunks()
    # By quantity, so that who asks for one of thousands of runs reads few row groups.
    rows = rows.take(pc.sort_indices(rows["quantity"]))
    digest = xxhash.xxh3_128()
    for column in rows.combine_chunks().columns:
        for chunk in column.chunks:
            for buffer in chunk.buffers():
                digest.update(memoryview(buffer) if buffer is not None else b"-")
    file = RunFile(lake, TABLE, dataset, "batch")
    file.write(rows)
    return file.finish(digest.hexdigest())


def join_batches(state: LakeState) -> bool:
    """Join the small files of each dataset that has many, in one commit at most.

    Args:
        state: The lake's, after all commits of rows.

    Returns:
        Whether any run changed.

    Raises:
        LakeError: A file cannot be read or written, or another ingest has committed to the table.
    """
    small = _small_files(state)
    if not small:
        return False
    table = state.tables["runs"]
    paths = local_files(state.lake / "runs", table).paths
    rows = pd.dataset(list(paths), _COLUMNS, format="parquet").to_table().combine_chunks()
    listed: list[Any] = rows["files"].to_pylist()
    run_ids, datasets = rows["run_id"].to_pylist(), rows["dataset"].to_pylist()
    places: dict[str, dict[str, int]] = {}
    for at, files in enumerate(listed):
        for file in files or ():
            if file["path"] in small:
                places.setdefault(file["path"], {})[run_ids[at]] = at
    is_changed = np.zeros(len(rows), bool)
    for dataset in sorted({datasets[at] for of_file in places.values() for at in of_file.values()}):
        own = [
            (path, run_id, at)
            for path, of_file in sorted(places.items())
            for run_id, at in sorted(of_file.items())
            if datasets[at] == dataset
        ]
        for begin in range(0, len(own), _JOINED_RUNS):
            part = own[begin : begin + _JOINED_RUNS]
            entry = _join(state.lake, dataset, {run_id: path for path, run_id, _ in part})
            for _, _, at in part:
                listed[at] = [*(f for f in listed[at] if f["table"] != TABLE), entry]
                is_changed[at] = True
    column = pa.array(listed, RUNS.field("files").type)
    return set_changed(table, paths, "files", column, is_changed)


def _small_files(state: LakeState) -> set[str]:
    runs: Counter[tuple[str, str]] = Counter()
    for run in state.runs.values():
        runs.update((run.dataset, path) for path, _ in run.big_files if path.startswith(TABLE))
    small = [(dataset, path) for (dataset, path), count in runs.items() if count < SMALL_RUNS]
    files = Counter(dataset for dataset, _ in small)
    return {path for dataset, path in small if files[dataset] > MOST_SMALL_FILES}


def _join(lake: LakePath, dataset: str, path_of: Mapping[str, str]) -> dict[str, Any]:
    by_run: dict[str, pa.Table] = {}
    for path in sorted(set(path_of.values())):
        with naming("read", lake / path):
            system, place = file_system(lake / path)
            with system.open_input_file(place) as source:
                rows = pq.read_table(source)
        for run_id in (run_id for run_id, own in path_of.items() if own == path):
            by_run[run_id] = rows.filter(pc.equal(rows["run_id"], run_id))
    return write_batch(lake, dataset, by_run)

"""States of machines: copies of cpuinfo, lscpu, sysctl, dmesg and the kernel's command line.

A file with such a name describes all runs in its folder and below it; of each kind, a run has the
nearest. A state is stored once, as one file that the rows of all its runs name in `runs.files`, so
that each version of a lake has the states of its runs, and `verify` and `prune` know the file.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pd
import xxhash

from data.errors import FormatError
from data.lake_files import local_files
from data.schema import MACHINE_STATES, RUNS
from ingest.files.blocks import MeteredFile
from ingest.lake.run_file import RunFile
from ingest.lake.state import SETTINGS_FORMAT, LakeState
from ingest.lake.table_files import set_changed
from ingest.records import Problem

TABLE: Final = "machine_states"
# More of a file is not kept: a kernel's log may be of any length.
MOST_BYTES: Final = 1 << 20
_NAME: Final = re.compile(
    r"(?:proc_|kernel_)?(?P<kind>cpuinfo|lscpu|sysctl|dmesg|cmdline)(?:\.(?:txt|log|out))?"
)
_COLUMNS: Final = pa.schema([RUNS.field(name) for name in ("dataset", "sources", "files")])
# Kind and path of each file of a state, sorted.
_State = tuple[tuple[str, str], ...]
Problems = dict[tuple[str, str], list[Problem]]


def state_kind(name: str) -> str | None:
    """Return what a file of this base name, without a compression suffix, says of its machine."""
    match = _NAME.fullmatch(name)
    return match["kind"] if match else None


def give_states(state: LakeState, files: Mapping[str, Mapping[str, str]]) -> tuple[bool, Problems]:
    """Give the runs of a lake the states of their machines, in one commit at most.

    A run without a file at or above its folder keeps the state that it has.

    Args:
        state: The lake's, after all commits of rows.
        files: Kind of each file of a machine, by path, by dataset.

    Returns:
        Whether any run changed, and all problems of each file, by dataset and path.

    Raises:
        LakeError: A file or the table cannot be written, or another ingest has committed to it.
    """
    table = state.tables["runs"]
    paths = local_files(state.lake / "runs", table).paths if any(files.values()) else ()
    if not paths:
        return False, {}
    rows = pd.dataset(list(paths), _COLUMNS, format="parquet").to_table().combine_chunks()
    states = {dataset: _FolderStates(own) for dataset, own in files.items()}
    problems: Problems = {(dataset, path): [] for dataset, own in files.items() for path in own}
    entries: dict[tuple[str, _State], dict[str, Any]] = {}
    listed: list[Any] = rows["files"].to_pylist()
    known = {file["path"]: file for own in listed for file in own or () if file["table"] == TABLE}
    is_changed = np.zeros(len(rows), bool)
    for at, dataset, folder in _folders(rows):
        of_run = states[dataset].of(folder) if dataset in states else ()
        if not of_run:
            continue
        others = [file for file in listed[at] or () if file["table"] != TABLE]
        if (dataset, of_run) not in entries:
            entries[dataset, of_run] = _write(state, dataset, of_run, known, problems)
        is_changed[at] = [*others, entries[dataset, of_run]] != listed[at]
        listed[at] = [*others, entries[dataset, of_run]]
    column = pa.array(listed, RUNS.field("files").type)
    return set_changed(table, paths, "files", column, is_changed), problems


def _folder_of(path: str) -> str:
    # For each file of 100,000 runs; `Path` would take most of the time.
    return path.rpartition("/")[0]


class _FolderStates:
    """The state of the machine of each folder of a dataset."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._here: dict[str, dict[str, str]] = defaultdict(dict)
        for path, kind in sorted(files.items()):
            self._here[_folder_of(path)].setdefault(kind, path)
        self._known: dict[str, _State] = {}

    def of(self, folder: str) -> _State:
        """Return the nearest file of each kind in a folder or above it."""
        if folder not in self._known:
            inherited = dict(self.of(_folder_of(folder))) if folder else {}
            own = inherited | self._here.get(folder, {})
            self._known[folder] = tuple(sorted(own.items()))
        return self._known[folder]


def _folders(rows: pa.Table) -> Iterator[tuple[int, str, str]]:
    """Yield row, dataset and folder of each run with sources: that of its deepest source."""
    sources = rows["sources"].combine_chunks()
    flat, parents = pc.list_flatten(sources), pc.list_parent_indices(sources).to_numpy()
    is_file = pc.not_equal(flat.field("format"), SETTINGS_FORMAT).to_numpy(zero_copy_only=False)
    encoded = flat.field("path").dictionary_encode()
    folders = np.array([_folder_of(path) for path in encoded.dictionary.to_pylist()], object)
    codes = encoded.indices.to_numpy()
    depths = np.array([folder.count("/") for folder in folders])[codes]
    deepest: dict[int, int] = {}
    for source in np.flatnonzero(is_file).tolist():
        at = int(parents[source])
        if at not in deepest or depths[source] > depths[deepest[at]]:
            deepest[at] = source
    datasets = rows["dataset"].to_pylist()
    yield from ((at, datasets[at], folders[codes[source]]) for at, source in deepest.items())


def _write(
    state: LakeState,
    dataset: str,
    of_run: _State,
    known: Mapping[str, dict[str, Any]],
    problems: Problems,
) -> dict[str, Any]:
    """Write a state, unless the lake has it; return its entry for `runs.files`."""
    lines = []
    for kind, path in of_run:
        text, found = _text(path)
        problems[dataset, path] = found
        lines += [(kind, number, line) for number, line in enumerate(text.splitlines(), 1)]
    digest = xxhash.xxh3_128_hexdigest(repr(lines).encode("utf-8", "backslashreplace"))
    if entry := known.get(f"{TABLE}/{dataset}/state.{digest}.parquet"):
        return entry
    file = RunFile(state.lake, TABLE, dataset, "state")
    columns = list(zip(*lines, strict=True)) or [(), (), ()]
    arrays = zip(columns, MACHINE_STATES, strict=True)
    file.write(pa.table([pa.array(c, f.type) for c, f in arrays], schema=MACHINE_STATES))
    return file.finish(digest)


def _text(path: str) -> tuple[str, list[Problem]]:
    """Return the kept text of a file, and its problems; empty text if it cannot be read."""
    data = bytearray()
    try:
        for block in MeteredFile(Path(path)).blocks():
            data += block
            if len(data) > MOST_BYTES:
                detail = f"over {MOST_BYTES} bytes; the rest is not kept"
                text = data[:MOST_BYTES].decode("utf-8", "replace")
                return text, [Problem("state_cut", "doubted", detail)]
    except (OSError, FormatError) as error:
        return "", [Problem("unreadable", "refused", f"{error}; not kept")]
    return data.decode("utf-8", "replace"), []

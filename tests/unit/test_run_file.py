"""Big files of a run: what comes back, what readers may pass over, what is left of a failure."""

import errno
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import LakeError
from data.schema import RUN_TABLES
from ingest.lake.run_file import ROW_GROUP_ROWS, RunFile
from ingest.lake.tables import remove_temporaries

_VALUES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.int32(): st.one_of(st.integers(-(2**31), 2**31 - 1), st.integers(0, 20)),
    pa.int64(): st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(0, 300), st.just(-1)),
    pa.float64(): st.one_of(st.floats(allow_nan=False), st.sampled_from([0.0, -0.0, 15.26])),
    pa.float32(): st.one_of(st.floats(width=32, allow_nan=False), st.just(1.5)),
    pa.string(): st.one_of(st.sampled_from(["gap_ns", "rx_bytes"]), st.text(max_size=5)),
}


def write(lake: Path, table: str, parts: list[pa.Table]) -> Path:
    file = RunFile(lake, table, "d", "run")
    for part in parts:
        file.write(part)
    said = file.finish("digest")
    path = lake / str(said["path"])
    assert said["rows"] == sum(part.num_rows for part in parts)
    assert said["size_bytes"] == path.stat().st_size
    return path


def interrupts(t_ns: np.ndarray) -> pa.Table:
    columns = {name: np.arange(len(t_ns)) % 7 for name in RUN_TABLES["interrupts"].names}
    arrays = columns | {"t_ns": t_ns, "run_id": np.repeat("run", len(t_ns))}
    return pa.table(arrays).cast(RUN_TABLES["interrupts"])


@given(data=st.data())
def test_any_rows_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    table = data.draw(st.sampled_from(sorted(RUN_TABLES)))
    schema = RUN_TABLES[table]
    rows = data.draw(st.integers(0, 40))
    arrays = []
    for field in schema:
        values = _VALUES[field.type]
        one = st.one_of(values, st.none()) if field.nullable else values
        arrays.append(pa.array(data.draw(st.lists(one, min_size=rows, max_size=rows)), field.type))
    expected = pa.Table.from_arrays(arrays, schema=schema)
    first = data.draw(st.integers(0, rows))
    path = write(tmp_path_factory.mktemp("lake"), table, [expected[:first], expected[first:]])
    found = pq.read_table(path)
    assert found.cast(schema).equals(expected)
    assert [f.type for f in found.schema] == [f.type for f in schema]
    assert pl.read_parquet(path).equals(pl.DataFrame(expected))
    listed = duckdb.connect().execute(f"SELECT * FROM '{path}'").fetchall()
    assert listed == [tuple(row.values()) for row in expected.to_pylist()]


def test_a_file_without_rows_has_its_columns(tmp_path: Path) -> None:
    found = pq.read_table(write(tmp_path, "samples", []))
    assert (found.schema.names, found.num_rows) == (RUN_TABLES["samples"].names, 0)


def test_row_groups_say_what_times_they_hold(tmp_path: Path) -> None:
    """Three row groups, the last one short, however the rows come."""
    rows = 2 * ROW_GROUP_ROWS + 10
    path = write(tmp_path, "interrupts", [interrupts(np.arange(rows) * 3)])
    footer = pq.read_metadata(path)
    groups = [footer.row_group(n) for n in range(footer.num_row_groups)]
    assert [group.num_rows for group in groups] == [ROW_GROUP_ROWS, ROW_GROUP_ROWS, 10]
    times = [group.column(footer.schema.names.index("t_ns")) for group in groups]
    assert [t.statistics.min for t in times] == [0, 3 * ROW_GROUP_ROWS, 6 * ROW_GROUP_ROWS]
    assert times[-1].statistics.max == 3 * (rows - 1)
    assert all("DELTA_BINARY_PACKED" in t.encodings for t in times)


def test_times_take_as_many_bits_as_their_steps(tmp_path: Path) -> None:
    """Steps below 16: 4 bits each, and little more, though the times need 20."""
    steps = np.random.default_rng(1).integers(0, 16, ROW_GROUP_ROWS)
    footer = pq.read_metadata(write(tmp_path, "interrupts", [interrupts(np.cumsum(steps))]))
    column = footer.row_group(0).column(footer.schema.names.index("t_ns"))
    assert column.total_compressed_size < ROW_GROUP_ROWS * 5 / 8


def test_nothing_is_seen_before_the_end_and_nothing_is_left_of_what_was_given_up(
    tmp_path: Path,
) -> None:
    file = RunFile(tmp_path, "interrupts", "d", "run")
    file.write(interrupts(np.arange(10)))
    assert list(tmp_path.rglob("*.parquet")) == []
    file.abandon()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    finished = write(tmp_path, "interrupts", [interrupts(np.arange(3))])
    assert finished.is_file()


def test_what_a_killed_ingest_left_is_removed(tmp_path: Path) -> None:
    file = RunFile(tmp_path, "interrupts", "d", "run")
    assert remove_temporaries(tmp_path) == 1
    file.abandon()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


class _FullDisk:
    """A file on a disk that fills up."""

    def __init__(self, file: Any, room: int) -> None:
        self._file, self._room, self.closed = file, room, False

    def write(self, data: Any) -> int:
        self._room -= memoryview(data).nbytes
        if self._room < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return int(self._file.write(data))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@pytest.mark.parametrize("room", [100, 200_000])
def test_a_disk_that_fills_up_is_named_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    real_open: Callable[..., Any] = Path.open

    def open_on_full_disk(path: Path, *args: Any, **named: Any) -> Any:
        return _FullDisk(real_open(path, *args, **named), room)

    monkeypatch.setattr(Path, "open", open_on_full_disk)
    noise = np.random.default_rng(2).integers(0, 2**60, ROW_GROUP_ROWS)
    file = RunFile(tmp_path, "interrupts", "d", "run")

    def fill() -> None:
        file.write(interrupts(np.cumsum(noise >> 20)))
        file.seal()

    with pytest.raises(LakeError, match=r"cannot write .*run\.parquet: No space left on device"):
        fill()
    file.abandon()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_file_may_be_written_by_one_thread_after_another(tmp_path: Path) -> None:
    file = RunFile(tmp_path, "interrupts", "d", "run")
    for first in (0, 10, 20):
        rows = interrupts(np.arange(first, first + 10))
        thread = threading.Thread(target=file.write, args=(rows,))
        thread.start()
        thread.join()
    path = tmp_path / str(file.finish("digest")["path"])
    assert pq.read_table(path)["t_ns"].to_pylist() == list(range(30))

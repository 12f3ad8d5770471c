"""A large lake with rows of the sample model, in the layout of `ingest add`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
import pyarrow as pa
from deltalake import write_deltalake

from data.declared import Column
from ingest.lake.commits import FLUSH_RUNS
from ingest.lake.tables import compact, create_tables, describe_columns, open_table
from ingest.sample import sample_runs

SEED = 1
# The declared columns: 6 knobs of four values each, 10 metrics, 4 labels.
_KNOBS: Final = tuple(
    Column(f"knob_{i}", "knob", "text" if i % 2 else "whole", f"Knob {i}") for i in range(6)
)
_METRICS: Final = tuple(Column(f"metric_{i}", "metric", "real", f"Metric {i}") for i in range(10))
_LABELS: Final = tuple(Column(f"label_{i}", "label", "text", f"Label {i}") for i in range(4))
DECLARED: Final = (*_KNOBS, *_METRICS, *_LABELS)


def write_bench_lake(lake: Path, n_runs: int, is_declared: bool = False) -> Path:
    """Write the lake in commits of the size that ingest uses, then compact it.

    Args:
        is_declared: Whether to add the columns of DECLARED.
    """
    create_tables(lake)
    rows = sample_runs(n_runs, SEED)
    if is_declared:
        rows = with_declared(lake, rows, ("system", "itr_us", "dvfs_ghz"))
    for start in range(0, rows.num_rows, FLUSH_RUNS):
        write_deltalake(str(lake / "runs"), rows.slice(start, FLUSH_RUNS), mode="append")
    compact(lake)
    return lake


def with_declared(lake: Path, rows: pa.Table, names: Sequence[str]) -> pa.Table:
    """Declare DECLARED in a lake, and add these columns to its rows.

    Args:
        names: Columns that determine the declared knobs, so that replicates stay replicates.
    """
    runs = open_table(lake, "runs")
    assert runs
    describe_columns(runs, DECLARED, ())
    chance = np.random.default_rng(SEED)
    settings = pl.DataFrame(pl.from_arrow(rows.select(list(names))))
    codes = settings.select(pl.struct(pl.all()).rank("dense")).to_series().to_numpy().astype(int)
    values: dict[str, np.ndarray] = {}
    for place, column in enumerate(_KNOBS):
        numbers = codes // 4**place % 4
        values[column.name] = numbers if column.kind == "whole" else _texts("value", numbers)
    for column in _METRICS:
        values[column.name] = chance.normal(100.0, 5.0, len(codes))
    for column in _LABELS:
        values[column.name] = _texts("note", chance.integers(0, 1000, len(codes)))
    for column in DECLARED:
        rows = rows.append_column(column.name, pa.array(values[column.name], column.type))
    return rows


def _texts(word: str, numbers: np.ndarray) -> np.ndarray:
    return np.array([f"{word} {number}" for number in numbers], dtype=object)

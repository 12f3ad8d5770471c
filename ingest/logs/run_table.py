"""A table of one run's rows."""

from functools import lru_cache

import numpy as np
import pyarrow as pa

from ingest.lake.run_file import TEXT


def rows_of(run_id: str, columns: dict[str, pa.Array], schema: pa.Schema) -> pa.Table:
    """Build a table of a schema from all columns but the run's id."""
    arrays = {"run_id": _repeated(run_id, len(columns["t_ns"]))}
    arrays |= {f.name: columns[f.name] for f in schema if f.name != "run_id"}
    return pa.table(arrays)


@lru_cache(maxsize=16)
def _repeated(text: str, count: int) -> pa.Array:
    """Return a column that repeats one text."""
    zeros = pa.array(np.zeros(count, np.int32))
    return pa.DictionaryArray.from_arrays(zeros, pa.array([text], TEXT.value_type), safe=False)

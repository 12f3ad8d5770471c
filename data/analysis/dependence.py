"""Which columns of a table follow from others."""

from collections.abc import Sequence

import numpy as np
import polars as pl


def key_columns(rows: pl.DataFrame, order: Sequence[str]) -> tuple[str, ...]:
    """Choose columns that together determine all others.

    Args:
        rows: Distinct rows over the columns of `order`; NULL is a value.
        order: The columns; the first are preferred.

    Returns:
        Names in their order, each of a column that distinguishes rows which the earlier columns do
        not. No name for fewer than two rows.
    """
    codes, count, key = np.zeros(len(rows), np.int64), 1, []
    for name in order:
        if count >= len(rows):
            break
        column = rows[name]
        if column.dtype in (pl.String, pl.Categorical):
            column = column.cast(pl.Categorical).to_physical()
        # Numbers from 1, NULL 0; equal numbers mean equal values.
        values = column.rank("dense").cast(pl.Int64).fill_null(0).to_numpy()
        kinds, finer = np.unique(codes * (int(values.max()) + 1) + values, return_inverse=True)
        if len(kinds) > count:
            codes, count = finer, len(kinds)
            key.append(name)
    return tuple(key)


def varying_within(rows: pl.DataFrame, key: Sequence[str], names: Sequence[str]) -> list[str]:
    """Find the columns that have several values, NULL among them, where those of a key are equal.

    Args:
        names: The columns asked for, in the order of the answer.
    """
    # Most columns of a study have one value in all rows.
    several = [name for name in names if rows[name].n_unique() > 1]
    differ = [pl.col(name).ne_missing(pl.col(name).first().over(*key)).any() for name in several]
    return [name for name, is_found in rows.select(differ).to_dict().items() if is_found[0]]

"""A run of one core with a log of any length: a log repeated with increasing time stamps."""

from pathlib import Path
from typing import Final

import polars as pl

_COLUMNS: Final = 16
_NAMES: Final = [f"column_{place}" for place in range(1, _COLUMNS + 1)]
_TSC: Final = f"column_{_COLUMNS}"
_COUNTERS: Final = tuple(f"column_{place}" for place in range(6, _COLUMNS))
_JOULES: Final = f"column_{_COLUMNS - 1}"
_INSTRUCTIONS: Final = "column_6"
_START, _END = 2, 3


def write_long_log(run: Path, folder: Path, size: int) -> int:
    """Write a run of one core by repeating the log of an existing run up to a size.

    Args:
        run: Folder of one run: settings, output of a load generator, logs of 16 columns.
        folder: Folder of the long run, which is replaced.
        size: Least size of the log, bytes.
    Returns:
        Number of repetitions.
    """
    folder.mkdir()
    log = min(run.glob("*dmesg*"))
    rows = pl.read_csv(log, separator=" ", has_header=False, new_columns=_NAMES)
    span = int(rows[_TSC][-1] - rows[_TSC][0]) + 1
    sampled = rows.filter(pl.col(_INSTRUCTIONS) > 0)
    steps = {name: int(sampled[name][-1] - sampled[name][0]) for name in (*_COUNTERS, _TSC)}
    times = 0
    with (folder / log.name).open("wb") as out:
        while out.tell() < size:
            _shifted(rows, steps, times, span).write_csv(out, separator=" ", include_header=False)
            times += 1
    for path in run.iterdir():
        if path.suffix == ".toml":
            (folder / path.name).write_bytes(path.read_bytes())
        elif "rdtsc" in path.name:
            lines = [line.split() for line in path.read_text().splitlines()]
            for fields in lines:
                fields[_END] = str(int(fields[_END]) + (times - 1) * span)
            (folder / path.name).write_text("".join(f"{' '.join(each)}\n" for each in lines))
    return times


def _shifted(rows: pl.DataFrame, steps: dict[str, int], times: int, span: int) -> pl.DataFrame:
    """Return the rows with later time stamps, and counters that continue."""
    is_sampled = pl.col(_INSTRUCTIONS) > 0
    counted = [
        pl.when(is_sampled).then(pl.col(name) + times * steps[name]).otherwise(0).alias(name)
        for name in _COUNTERS
        if name != _JOULES
    ]
    joules = (pl.col(_JOULES) + times * (steps[_JOULES] % 2**32)) % 2**32
    return rows.with_columns(
        *counted,
        pl.when(is_sampled).then(joules).otherwise(0).alias(_JOULES),
        pl.col(_TSC) + times * span,
    )

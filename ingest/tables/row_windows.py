"""Begin and end of a run as a row of a table states them."""

import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from ingest.formats.trace_times import unix_of_number, unix_seconds

# A name that SQL reserves, such as `end`, has its kind behind it in the lake.
_START: Final = re.compile(
    r"(?:.*_)?(?:start|begin|started|starting|begun|beginn|anfang|debut|inicio)(?:_?(?:time|at|ts|date|unix).*|ing_?time.*|_real|_whole|_text)?"
)
_END: Final = re.compile(
    r"(?:.*_)?(?:end|stop|ended|ending|finish|finished|completed|ende|fin)(?:_?(?:time|at|ts|date|unix).*|_real|_whole|_text)?"
)


def window_of(values: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return begin and end that a row states, as Unix times, s; None if it does not state both.

    Args:
        values: By the names of its columns in the lake.
    """
    start = next((_unix(v) for n, v in values.items() if _START.fullmatch(n)), np.nan)
    end = next((_unix(v) for n, v in values.items() if _END.fullmatch(n)), np.nan)
    duration_s = values.get("duration_s")
    if np.isnan(end) and isinstance(duration_s, float | int):
        end = start + duration_s
    return (start, end) if start < end else None


def _unix(value: object) -> float:
    if isinstance(value, str):
        return unix_seconds(value)
    return unix_of_number(float(value)) if isinstance(value, float | int) else np.nan

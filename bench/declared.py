"""Answers of a page on lakes with and without 20 declared columns, alternately."""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from app.kit.context import Lakes
from app.kit.lakes import LakeView
from bench.report import Measurement
from data.declared import in_force

# Highest ratio of the time with 20 declared columns to the time without.
DECLARED_LIMIT: Final = 1.12


def measure_declared(
    page: str,
    plain: Path,
    declared: Path,
    compute: Callable[[LakeView, dict[str, Any]], object],
    questions: Sequence[dict[str, Any]],
) -> Iterator[Measurement]:
    """Measure the processor time of answers on both lakes, and the ratio.

    The first answer does not count: it also loads modules and shared data.

    Args:
        compute: Computes the answer for a state, which is JSON.
    """
    views = [Lakes(path).at(None) for path in (plain, declared)]
    spent_s = [0.0, 0.0]
    for number, raw in enumerate(questions):
        for place, view in enumerate(views):
            with in_force(view.lake.columns):
                start = time.process_time()
                compute(view, raw)
                spent_s[place] += time.process_time() - start if number else 0.0
    n = len(questions) - 1
    for name, seconds in zip(("plain", "declared"), spent_s, strict=True):
        yield Measurement(f"{page}_{name}_cpu_mean", seconds * 1e3 / n, "ms", n)
    ratio = spent_s[1] / spent_s[0]
    yield Measurement(f"{page}_declared_by_plain", ratio, "x", n, DECLARED_LIMIT)

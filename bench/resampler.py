"""plotly-resampler on the same run, in another environment, since it needs an older Plotly."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from bench.report import Measurement

_SCRIPT: Final = Path(__file__).with_name("resampler_figure.py")


def measure_resampler(
    python: str, lake: Path, shares: Sequence[float], zooms: int
) -> Iterator[Measurement]:
    """Run the script there and return its measurements.

    Raises:
        RuntimeError: The script failed; the message has the end of its output.
    """
    files = {table: next(iter(sorted(lake.glob(f"{table}/*/*.parquet")))) for table in _TABLES}
    command = [python, str(_SCRIPT), *map(str, files.values()), str(zooms), *map(str, shares)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"plotly-resampler: {done.stderr.strip().splitlines()[-1]}")
    for line in done.stdout.splitlines():
        found = json.loads(line)
        yield Measurement(f"resampler_{found['name']}", found["value"], found["unit"], found["n"])


_TABLES: Final = ("interrupts", "samples")

"""Settings of the process: the lake's folder, host, port, and bounds of an answer."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LAKE_VARIABLE: Final = "WATTLAS_LAKE"
DEFAULT_LAKE: Final = "lake"

ASSETS: Final = Path(__file__).resolve().parents[2] / "assets"

# Bounds of one answer: rows that a figure is computed from, and points that it draws.
MAX_ROWS: Final = 500_000
MAX_POINTS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of one process, the same for all visitors."""

    lake: Path
    host: str = "127.0.0.1"
    port: int = 8050


def default_lake() -> Path:
    """Return the default lake: `$WATTLAS_LAKE`, else `lake/` in the current folder."""
    return Path(os.environ.get(LAKE_VARIABLE, DEFAULT_LAKE))

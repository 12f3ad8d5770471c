"""What the app may be told from outside: where the lake is, and its bounds."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LAKE_VARIABLE: Final = "WATTLAS_LAKE"
DEFAULT_LAKE: Final = "lake"

ASSETS: Final = Path(__file__).resolve().parents[2] / "assets"

# Bounds of one answer. Rows: what a figure may be computed from; points: what it may draw.
MAX_ROWS: Final = 500_000
MAX_POINTS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Settings:
    """One process's settings; never those of one visitor."""

    lake: Path
    host: str = "127.0.0.1"
    port: int = 8050


def default_lake() -> Path:
    """The lake that is meant when none is named: `$WATTLAS_LAKE`, else `lake/` here."""
    return Path(os.environ.get(LAKE_VARIABLE, DEFAULT_LAKE))

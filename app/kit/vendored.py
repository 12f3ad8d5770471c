"""Scripts of `vendor/`, which the app loads in place of larger ones of its Python packages.

plotly.js has only the traces that the pages draw, and makes no functions from text, which a
Content-Security-Policy without `unsafe-eval` forbids. Dash's components need one object of Babel's
polyfill for old browsers, `regeneratorRuntime`; the rest replaces what every browser of the last
years has, such as `String.prototype.trim`, by slower functions.
"""

import gzip
from pathlib import Path
from typing import Final, Literal

Script = Literal["plotly", "regenerator-runtime"]
_FOLDER: Final = Path(__file__).parents[2] / "vendor"
# Part of a script's address to the script that is sent instead.
_REPLACED: Final[dict[str, Script]] = {
    "/plotly/package_data/plotly.": "plotly",
    "/dash/deps/polyfill@": "regenerator-runtime",
}


def vendored(script: Script) -> str:
    """Return a script. Do not cache it as text, which takes megabytes."""
    return gzip.decompress((_FOLDER / f"{script}.min.js.gz").read_bytes()).decode()


def replacement(path: str) -> str | None:
    """Return the script to send for an address; None for the one that is there."""
    return next((vendored(name) for part, name in _REPLACED.items() if part in path), None)

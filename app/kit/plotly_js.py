"""plotly.js as the app and its exports load it: the strict bundle, without its module wrapper.

The bundle in the Python package creates functions from text for WebGL traces, which a
Content-Security-Policy without `unsafe-eval` forbids.
"""

import gzip
import re
from pathlib import Path
from typing import Final

BUNDLE: Final = Path(__file__).parents[2] / "vendor" / "plotly-strict.min.js.gz"
_HEAD: Final = re.compile(
    r'\(\s*function\(root, factory\) \{.{0,200}?\} \(typeof self !== "undefined" \? self : this, '
    r"\(\) => \{\n",
    re.DOTALL,
)
_TAIL: Final = "window.Plotly = Plotly;\nreturn Plotly;\n}));"


def plotly_js() -> str:
    """Return the script. Do not cache it as text, which takes 10 MB."""
    return without_wrapper(gzip.decompress(BUNDLE.read_bytes()).decode())


def without_wrapper(script: str) -> str:
    """Remove the module wrapper from plotly.js; return any other script unchanged.

    A browser parses a function argument twice: when it reads the script, and when the function is
    called. For the 5 MB of plotly.js a parse takes about as long as running it.
    """
    head = _HEAD.search(script, 0, 2000)
    if not head or not script.endswith(_TAIL):
        return script
    return f"{script[: head.start()]}{script[head.end() : -len(_TAIL)]}window.Plotly = Plotly;\n"

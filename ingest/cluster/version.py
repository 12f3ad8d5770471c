"""Version of the code that a process runs; different code may write different bytes."""

import hashlib
import platform
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Final

# Libraries that parse, compute and encode the content of big files.
_LIBRARIES: Final = ("numba", "numpy", "pyarrow")
_ROOT: Final = Path(__file__).resolve().parents[2]
_CODE: Final = ("data", "ingest")
_SUFFIXES: Final = (".py", ".toml", ".csv")


@cache
def code_version() -> str:
    """Versions of Python and libraries, and a digest of the code at the first call."""
    versions = [f"{name} {metadata.version(name)}" for name in _LIBRARIES]
    return ", ".join([f"code {_digest()}", f"Python {platform.python_version()}", *versions])


def _digest() -> str:
    digest = hashlib.sha256()
    files = (path for folder in _CODE for path in (_ROOT / folder).rglob("*"))
    for path in sorted(path for path in files if path.suffix in _SUFFIXES):
        digest.update(f"{path.relative_to(_ROOT)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


# Computed at import: this process does not run files that change later.
code_version()

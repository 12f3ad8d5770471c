"""Which code a process runs: other code would write other bytes."""

import hashlib
import platform
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Final

# They parse, compute and encode what a big file holds.
_LIBRARIES: Final = ("numba", "numpy", "pyarrow")
_ROOT: Final = Path(__file__).resolve().parents[2]
_CODE: Final = ("data", "ingest")
_SUFFIXES: Final = (".py", ".toml", ".csv")


@cache
def code_version() -> str:
    """The Python, the libraries and a digest of the code, as it was when first asked for."""
    versions = [f"{name} {metadata.version(name)}" for name in _LIBRARIES]
    return ", ".join([f"code {_digest()}", f"Python {platform.python_version()}", *versions])


def _digest() -> str:
    digest = hashlib.sha256()
    files = (path for folder in _CODE for path in (_ROOT / folder).rglob("*"))
    for path in sorted(path for path in files if path.suffix in _SUFFIXES):
        digest.update(f"{path.relative_to(_ROOT)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


# At the import: files that change later are not what this process runs.
code_version()

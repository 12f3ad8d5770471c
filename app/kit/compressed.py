"""Scripts and style sheets, compressed when the app is installed or its image is built.

Brotli at its best level takes 18 s for all of them and sends a fifth less than a level that a
request could wait for. So `python -m app compress` writes them once, and a server only reads them.
A file is named by the digest of its content: what was edited since then is not found, and is sent
as it is.
"""

import gzip
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, Literal, get_args

import brotli
import xxhash

Encoding = Literal["br", "gzip"]
ENCODINGS: Final[tuple[Encoding, ...]] = get_args(Encoding)
FOLDER: Final = Path(__file__).resolve().parents[2] / "compressed"
_COMPRESS: Final[dict[Encoding, Callable[[bytes], bytes]]] = {
    "br": lambda content: brotli.compress(content, quality=11, lgwin=24),
    # A constant time stamp, so that the same content gives the same bytes.
    "gzip": lambda content: gzip.compress(content, 9, mtime=0),
}


def find_compressed(content: bytes, encoding: Encoding) -> bytes | None:
    """Return a content compressed; None where it was not compressed in advance."""
    try:
        return _path(content, encoding).read_bytes()
    except OSError:
        return None


def gzipped(content: bytes) -> bytes:
    """Return a content in gzip's form; scripts as they were compressed in advance."""
    return find_compressed(content, "gzip") or _COMPRESS["gzip"](content)


def compress_all(contents: Iterable[bytes]) -> int:
    """Compress what is not compressed yet, and remove what is compressed of other contents.

    Returns:
        The number of files written.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    files = {_path(content, way): (content, way) for content in contents for way in ENCODINGS}
    for path in set(FOLDER.iterdir()) - files.keys():
        path.unlink(missing_ok=True)
    missing = {path: source for path, source in files.items() if not path.exists()}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda item: _write(item[0], *item[1]), missing.items()))
    return len(missing)


def _write(path: Path, content: bytes, encoding: Encoding) -> None:
    # The encodings of one content are written at the same time.
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_bytes(_COMPRESS[encoding](content))
    part.replace(path)


def _path(content: bytes, encoding: Encoding) -> Path:
    return FOLDER / f"{xxhash.xxh3_128_hexdigest(content)}.{encoding}"

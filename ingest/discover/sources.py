"""The sources of a row of `runs`: files and settings."""

import hashlib
from collections.abc import Sequence
from typing import Any

from ingest.discover.found_files import RawFile, digest_of
from ingest.discover.source_reads import SourceRead
from ingest.lake.state import SETTINGS_FORMAT
from ingest.settings.dataset import Settings


def sources_digest(
    reads: Sequence[SourceRead], meters: Sequence[RawFile], settings: Settings
) -> str:
    """Return the digest of a run's sources and settings; part of the names of its big files."""
    parts = sorted(f"{read.file.format.name} {read.digest}" for read in reads)
    parts += sorted(f"{meter.format.name} {digest_of(meter)}" for meter in meters)
    return hashlib.sha256("\n".join([*parts, settings.fingerprint]).encode()).hexdigest()[:12]


def source_struct(file: RawFile, digest: str) -> dict[str, Any]:
    """Return one element of `runs.sources`."""
    return {
        "path": file.path,
        "format": file.format.name,
        "size_bytes": file.size,
        "mtime": file.mtime,
        "digest": digest,
    }


def settings_struct(settings: Settings, is_row: bool = False) -> dict[str, Any]:
    """Return the element of `runs.sources` for the settings that the numbers depend on.

    Args:
        is_row: Whether the run is a row of a table.
    """
    return {
        "path": settings.origin,
        "format": SETTINGS_FORMAT,
        "size_bytes": None,
        "mtime": None,
        "digest": settings.table_fingerprint if is_row else settings.fingerprint,
    }

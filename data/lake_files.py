"""The files of one version of a Delta table."""

from urllib.parse import unquote

from deltalake import DeltaTable


def local_files(table: DeltaTable) -> list[str]:
    """Return the paths of a table version's Parquet files; Delta gives them as quoted URIs."""
    return [unquote(uri.removeprefix("file://")) for uri in table.file_uris()]

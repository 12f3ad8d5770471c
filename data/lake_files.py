"""Which files hold a version of one of the lake's Delta tables."""

from urllib.parse import unquote

from deltalake import DeltaTable


def local_files(table: DeltaTable) -> list[str]:
    """Paths of the Parquet files of one version of a table; Delta gives them as quoted URIs."""
    return [unquote(uri.removeprefix("file://")) for uri in table.file_uris()]

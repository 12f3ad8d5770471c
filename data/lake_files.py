"""What one version of a Delta table says: its files, and the columns that datasets declared."""

from urllib.parse import unquote

from deltalake import DeltaTable

from data.declared import Declared, column_of_field


def local_files(table: DeltaTable) -> list[str]:
    """Return the paths of a table version's Parquet files; Delta gives them as quoted URIs."""
    return [unquote(uri.removeprefix("file://")) for uri in table.file_uris()]


def declared_columns(runs: DeltaTable) -> Declared:
    """Return the declared columns of a version of `runs`, as its schema describes them."""
    found = (column_of_field(field.name, field.metadata) for field in runs.schema().fields)
    return tuple(column for column in found if column is not None)

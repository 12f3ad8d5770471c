"""Descriptions of an artifact for machines: a Frictionless data package, and an RO-Crate.

Sources: Data Package (datapackage.org, version 2); RO-Crate (researchobject.org/ro-crate).
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl

from app.artifact.tables import ViewTable
from data.catalogue import Catalogue
from data.csv_cells import guarded_name
from data.reference.tables import published_tables

PACKAGE: Final = "datapackage.json"
CRATE: Final = "ro-crate-metadata.json"
_MEDIA: Final = {
    ".csv": "text/csv", ".html": "text/html", ".json": "application/json", ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet", ".py": "text/x-python", ".cff": "text/yaml",
}  # fmt: skip
_WHAT: Final = {
    "verify.py": "Computes the numbers of this study again from data/runs.parquet",
    "checks.json": "The queries behind tables and claims, and the numbers of the claims",
    "papers.sql": "The rules of the claims of papers",
    "README.md": "What is here and how to verify it",
    PACKAGE: "Columns, titles and units of the tables (Frictionless Data Package)",
    "data/runs.parquet": "One row a run: knobs, measurements, quality, sources",
    "data/problems.parquet": "What was refused, repaired or doubted when the logs were read",
    "data/distributions.parquet": "What the logs of a run count, by quantity and size",
    "data/moves.parquet": "Loads and stores a second by run and source, from profiles",
    "LICENSE": "Licence of the data",
    "CITATION.cff": "How to cite the study",
}


def media_type(path: Path) -> str:
    """Return the media type of a file by its name; plain text for others."""
    return _MEDIA.get(path.suffix, "text/plain")


def sha256(path: Path) -> str:
    """Return the SHA-256 sum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def data_package(
    root: Path, title: str, version: str, tables: Sequence[ViewTable], catalogue: Catalogue
) -> dict[str, Any]:
    """Describe the tables: CSV files with columns and units, Parquet files beside them.

    Args:
        root: The artifact, whose files are there already.
        version: Of the lake.
    """
    resources = [_resource(root, path.relative_to(root)) for path in sorted(root.glob("data/*"))]
    for table in tables:
        fields = [_field(name, table.rows.schema[name], catalogue) for name in table.rows.columns]
        own = _resource(root, Path(f"{table.file}.csv")) | {
            "type": "table", "title": table.title, "encoding": "utf-8", "format": "csv",
            "schema": {"fields": fields, "missingValues": [""]},
        }  # fmt: skip
        resources += [own, _resource(root, Path(f"{table.file}.parquet"))]
    return {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": re.sub(r"[^a-z0-9._-]+", "-", title.lower()).strip("-"),
        "title": title,
        "version": version,
        "resources": resources,
    }


def _resource(root: Path, path: Path) -> dict[str, Any]:
    whole = root / path
    name = re.sub(r"[^a-z0-9._-]+", "-", str(path).lower())
    return {
        "name": name, "type": "file", "path": str(path), "mediatype": media_type(path),
        "format": path.suffix[1:], "bytes": whole.stat().st_size, "hash": f"sha256:{sha256(whole)}",
    }  # fmt: skip


def _field(name: str, dtype: pl.DataType, catalogue: Catalogue) -> dict[str, Any]:
    kind = "integer" if dtype.is_integer() else "number" if dtype.is_float() else "string"
    if dtype == pl.Boolean:
        kind = "boolean"
    field: dict[str, Any] = {"name": guarded_name(name), "type": kind}
    metric = catalogue.metrics.get(re.sub(r"^(winner|runner_up)_|_(sd|n)$", "", name))
    if metric is not None and not name.endswith("_n"):
        spread = ", standard deviation" if name.endswith("_sd") else ""
        field |= {"title": metric.title + spread, "description": metric.description}
        if metric.unit:
            field["unit"] = metric.unit
    elif name in catalogue.knob_of_column:
        knob = catalogue.knob_of_column[name]
        field["title"] = knob.title
        if knob.unit:
            field["unit"] = knob.unit
    return field


def crate(
    root: Path,
    title: str,
    description: str,
    published: str,
    licence: str | None,
    titles: Mapping[str, str],
) -> dict[str, Any]:
    """Describe every file of the artifact as an RO-Crate.

    Args:
        published: Date of the export, ISO 8601.
        licence: Name of the licence's file in the artifact, or None.
        titles: Words on files, by path; others are described by what they are.
    """
    from rocrate.rocrate import ROCrate

    made = ROCrate()
    made.name, made.description = title, description
    made.root_dataset["datePublished"] = published
    made.root_dataset["license"] = {"@id": licence} if licence else "No licence was given."
    for path in sorted(p for p in root.rglob("*") if p.is_file() and p.name != CRATE):
        name = path.relative_to(root).as_posix()
        printed = published_tables().get(path.stem)
        what = titles.get(name) or _WHAT.get(name) or (printed.title if printed else name)
        made.add_file(
            path, name,
            properties={
                "name": what, "encodingFormat": media_type(path),
                "contentSize": str(path.stat().st_size),
            },
        )  # fmt: skip
    generated: dict[str, Any] = made.metadata.generate()
    return generated


def sums(root: Path) -> str:
    """Return the SHA-256 sums of all files, as sha256sum writes them."""
    return "".join(f"{sha256(path)}  {path.relative_to(root).as_posix()}\n" for path in
                   sorted(p for p in root.rglob("*") if p.is_file()))  # fmt: skip

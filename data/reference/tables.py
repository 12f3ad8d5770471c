"""Read the published tables, and refuse a table that `tables.toml` does not describe."""

import csv
import math
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from data.errors import DataError

HERE: Final = Path(__file__).parent
_PAPERS: Final = "papers"

Kind = Literal["text", "number"]
Cell = str | float | None


@dataclass(frozen=True, slots=True)
class Paper:
    """Where tables were published.

    Attributes:
        missing: What of its tables is not here, as a sentence; empty where all of them are.
    """

    citation: str
    short: str
    url: str
    missing: str


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """One table.

    Attributes:
        where: Its place in the paper: `table 1`, `figure 2b`, `text`.
        read_from: Where its values were read.
        note: What to know of them; may be empty.
        columns: By name, in order.
        rows: Cells by column; None has no value in the paper.
    """

    name: str
    title: str
    paper: Paper
    where: str
    read_from: str
    note: str
    columns: dict[str, Kind]
    rows: tuple[dict[str, Any], ...]

    @property
    def source(self) -> str:
        """`HotStorage '20, table 1`; of values in the text `HotStorage '20, text`."""
        return f"{self.paper.short}, {self.where}"


@cache
def published_tables() -> dict[str, PublishedTable]:
    """Return all published tables by name, in their order; raises as `read_tables`."""
    return read_tables(HERE)


def papers() -> tuple[Paper, ...]:
    """Return the papers of the tables, in the order of first use."""
    return tuple(dict.fromkeys(table.paper for table in published_tables().values()))


def read_tables(folder: Path) -> dict[str, PublishedTable]:
    """Read a folder of tables.

    Raises:
        DataError: A file is missing or not described; a heading, a cell or a key is not as
            described. The message names file, line and value.
    """
    described, papers = _described(folder), read_papers(folder)
    described.pop(_PAPERS)
    if strays := {p.stem for p in folder.glob("*.csv")} - set(described):
        raise DataError(f"{sorted(strays)[0]}.csv is not described in tables.toml")
    tables = {}
    for name, entry in described.items():
        key = entry.pop("key")
        if entry["paper"] not in papers:
            raise DataError(f"table {name} is of {entry['paper']!r}, which tables.toml lacks")
        rows = _read_rows(folder / f"{name}.csv", entry["columns"], key)
        tables[name] = PublishedTable(
            name=name, rows=rows, **entry | {"paper": papers[entry["paper"]]}
        )
    return tables


def read_papers(folder: Path) -> dict[str, Paper]:
    """Read the papers of a folder of tables, by name."""
    return {name: Paper(**entry) for name, entry in _described(folder)[_PAPERS].items()}


def _described(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "tables.toml").read_text("utf-8"))


def _read_rows(path: Path, columns: dict[str, Kind], key: list[str]) -> tuple[dict[str, Any], ...]:
    try:
        lines = list(csv.reader(path.read_text("utf-8").splitlines()))
    except OSError as error:
        raise DataError(f"{path.name} is described but cannot be read: {error}") from error
    if not lines or lines[0] != list(columns):
        raise DataError(f"{path.name}: its heading is {lines[:1]}, described is {list(columns)}")
    rows: dict[tuple, dict[str, Cell]] = {}
    for number, line in enumerate(lines[1:], start=2):
        where = f"{path.name}, line {number}"
        if len(line) != len(columns):
            raise DataError(f"{where}: {len(line)} cells, expected {len(columns)}")
        row = {
            name: _cell(text, kind, f"{where}, {name}")
            for (name, kind), text in zip(columns.items(), line, strict=True)
        }
        own = tuple(row[name] for name in key)
        if None in own or own in rows:
            raise DataError(f"{where}: {own} is {'no key' if None in own else 'there twice'}")
        rows[own] = row
    return tuple(rows.values())


def _cell(text: str, kind: Kind, where: str) -> Cell:
    if text == "":
        return None
    if kind == "text":
        return text
    try:
        value = float(text)
    except ValueError:
        raise DataError(f"{where}: {text!r} is no number") from None
    if not math.isfinite(value) or value < 0:
        raise DataError(f"{where}: {text} is not a quantity of 0 or more")
    return value

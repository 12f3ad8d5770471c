"""Tables of any kind: declared and kept columns, what is no table, from `add` to the download."""

import bz2
import csv
import gzip
import io
import json
import lzma
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.serve.routes import CSV, table_answer
from data.catalogue import SHIPPED
from data.connection import open_lake
from data.queries.runs import runs_query
from data.selection import Selection
from ingest.formats.table_text import sniff
from ingest.settings.column_names import clean_name
from tests.fixtures.ingest import ingest, runs

TABLES = """
[dataset]
name = "t"

[columns.wakeups]
unit = "1/s"

[[tables]]
pattern = '{pattern}'
workload = "netpipe"
system = "linux_tuned"
set = {{ machine = "m1" }}
[tables.columns]
rep = "replicate"
msg = "message_bytes"
steps = {{ to = "energy_j", scale = 0.5 }}
mode = {{ values = {{ "1" = "poll", "2" = "interrupt" }} }}
wake = "wakeups"
note = {{ drop = true }}
"""
ROWS = [(0, 64, 10, 1, 5, "a"), (1, 64, 20, 2, None, "b")]
HEADER = ("rep", "msg", "steps", "mode", "wake", "note")


def written(separator: str) -> str:
    lines = [HEADER, *ROWS]
    return "".join(
        separator.join("" if cell is None else str(cell) for cell in line) + "\n" for line in lines
    )


def files_of_rows(folder: Path) -> dict[str, Path]:
    """The same rows in every kind of file."""
    named = [dict(zip(HEADER, row, strict=True)) for row in ROWS]
    texts = {"t.csv": written(","), "t.tsv": written("\t"), "semi.csv": written(";"),
             "t.txt": written(" ").replace(" 2  b", " 2 nan b"),
             "t.jsonl": "".join(json.dumps(row) + "\n" for row in named)}  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_text(text)
    plain = written(",").encode()
    (folder / "packed.csv.gz").write_bytes(gzip.compress(plain))
    (folder / "packed.csv.bz2").write_bytes(bz2.compress(plain))
    (folder / "packed.csv.xz").write_bytes(lzma.compress(plain))
    (folder / "packed.csv.zst").write_bytes(pa.Codec("zstd").compress(plain, asbytes=True))
    pl.DataFrame(named).write_parquet(folder / "t.parquet")
    return {path.name: path for path in folder.iterdir()}


def test_every_kind_of_table_says_the_same(tmp_path: Path) -> None:
    """Steps of half a joule; 10 and 20 of them."""
    raw = tmp_path / "raw"
    raw.mkdir()
    for name, path in files_of_rows(raw).items():
        folder = tmp_path / f"only-{name}"
        folder.mkdir()
        path.rename(folder / name)
        (folder / "wattlas.toml").write_text(TABLES.format(pattern=r"[^/]+"))
        report = ingest(tmp_path / f"lake-{name}", folder)
        assert (report.added, report.problems) == (2, []), name
        found = runs(tmp_path / f"lake-{name}", order="replicate")
        values = ("message_bytes", "energy_j", "mode", "wakeups", "machine", "system", "workload")
        assert [[run[each] for each in values] for run in found] == [
            [64, 5.0, "poll", 5.0, "m1", "linux_tuned", "netpipe"],
            [64, 10.0, "interrupt", None, "m1", "linux_tuned", "netpipe"],
        ], name
        if name in ("packed.csv.gz", "t.parquet"):
            assert ingest(tmp_path / f"lake-{name}", folder).unchanged == 2


def test_a_table_that_nobody_declared_is_kept_and_declared_later(tmp_path: Path) -> None:
    raw, lake = tmp_path / "raw", tmp_path / "lake"
    raw.mkdir()
    (raw / "odd.csv").write_text(",Temp [C],order,energy_j,host\n0,20.5,7,9.5,a\n1,21,8,,b\n")
    report = ingest(lake, raw)
    assert (report.added, report.ignored) == (2, [])
    problems = {found.problem.kind: found.problem for found in report.problems}
    assert problems.keys() == {"undeclared_columns", "unknown_system", "unknown_workload"}
    assert "nobody declared host, order_whole, temp_c" in problems["undeclared_columns"].detail
    found = runs(
        lake, "temp_c, order_whole, energy_j, host, workload, system, replicate", "replicate"
    )
    assert [list(run.values()) for run in found] == [
        [20.5, 7, 9.5, "a", "unknown", "unknown", 0],
        [21.0, 8, None, "b", "unknown", "unknown", 1],
    ]
    (raw / "wattlas.toml").write_text(
        '[columns.temp_c]\nunit = "degC"\n[[tables]]\npattern = "odd.csv"\n'
        '[tables.columns]\n"Temp [C]" = "temp_c"\n'
    )
    ingest(lake, raw)
    with open_lake(lake) as opened:
        assert {c.name: c.unit for c in opened.columns}["temp_c"] == "degC"


@pytest.mark.parametrize(
    ("name", "text", "is_table"),
    [
        ("a.csv", "x,y\n1,2\n", True), ("a", "x\ty\n1\tb\n", True),
        ("a.txt", "x y z\n1 2 3\n4 5 6\n7 8 9\n", True), ("a.jsonl", '{"x": 1}\n', True),
        ("a.txt", "some words here\nand others there\nand more still\nlast of all\n", False),
        ("a.csv", "x,y\n1,2,3\n4,5\n", False), ("a.csv", "x,y\na,b\n", False),
        ("a.csv", "1,2\n3,4\n", False), ("a.csv", "x,x\n1,2\n", False), ("a.csv", "x,y\n", False),
        ("a.csv", 'x,y\n1,"b\n\nc"\n', True),
        ("cpuinfo", "processor\t: 0\nvendor_id\t: Intel\n", False),
    ],
)  # fmt: skip
def test_only_well_formed_tables_are_taken_for_some(name: str, text: str, is_table: bool) -> None:
    assert sniff(name, text.encode()) is is_table


NAMES = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n", exclude_categories=["Cs"]),
            min_size=1, max_size=8).map(lambda text: f"q{text}".strip()),
    min_size=2, max_size=5, unique_by=lambda name: clean_name(name, "text"),
).filter(lambda names: FILE not in {clean_name(name, "text") for name in names})  # fmt: skip
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1, max_size=9)
CELLS = st.one_of(
    st.lists(st.none() | st.integers(-(2**63) + 1, 2**63 - 1), min_size=3, max_size=3),
    st.lists(st.none() | st.floats(allow_nan=False), min_size=3, max_size=3),
    st.lists(st.none() | TEXTS.map(lambda text: f"t{text}"), min_size=3, max_size=3),
    # A column with one text is texts: numbers, and words for NULL, stay as they are written.
    st.permutations(["x", "007", "nan"]) | st.permutations(["1e3", None, "x "]),
)  # fmt: skip
FILE = "file"


def write_all(folder: Path, names: list[str], columns: list[list[Any]]) -> None:
    """The same columns as CSV, TSV, JSON lines and Parquet; one more names the file."""
    for kind in ("csv", "tsv", "jsonl", "parquet"):
        named = dict(zip((FILE, *names), ([kind] * 3, *columns), strict=True))
        path = folder / f"any.{kind}"
        if kind == "parquet":
            pl.DataFrame(named, strict=False).write_parquet(path)
        elif kind == "jsonl":
            rows = [dict(zip(named, row, strict=True)) for row in zip(*named.values(), strict=True)]
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        else:
            mark = {"csv": ",", "tsv": "\t"}[kind]
            with path.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file, delimiter=mark, lineterminator="\n").writerows(
                    [list(named), *zip(*named.values(), strict=True)]
                )


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(names=NAMES, data=st.data())
def test_every_value_of_any_table_comes_out_of_the_download(
    names: list[str], data: st.DataObject
) -> None:
    """Whole numbers, bits of floats, texts and NULLs; the first column makes it a table."""
    columns = [[1, 2, 3], *(data.draw(CELLS) for _ in names[1:])]
    with tempfile.TemporaryDirectory() as place:
        raw = Path(place) / "raw"
        raw.mkdir()
        write_all(raw, names, columns)
        assert ingest(Path(place) / "lake", raw).added == 12
        with open_lake(Path(place) / "lake") as lake:
            rows = lake.polars(*runs_query(Selection(), 20, catalogue=SHIPPED)).sort(
                FILE, "replicate"
            )
            answer = table_answer(rows, CSV, "runs")
    found = list(csv.DictReader(io.StringIO(answer.get_data(as_text=True), newline="")))
    assert [row[FILE] for row in found[::3]] == ["csv", "jsonl", "parquet", "tsv"]
    for name, column in zip(names, columns, strict=True):
        own = clean_name(name, "text")
        for row, stored, value in zip(found, rows[own], column * 4, strict=True):
            value = (value.strip() or None) if isinstance(value, str) else value
            assert (stored is None, row[own] == "") == (value is None, value is None)
            if isinstance(value, float):
                assert float(row[own]).hex() == value.hex()
            elif value is not None:
                assert (type(value))(row[own]) == value

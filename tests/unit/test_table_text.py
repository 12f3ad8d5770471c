"""The header and the rows of separated text: titles above it, units below it."""

from pathlib import Path
from typing import Final

import pytest

from ingest.__main__ import main
from ingest.formats.table_files import parse_tables
from ingest.formats.table_text import fault_of, sniff, table_rows
from ingest.records import ProblemList, ReadContext
from tests.fixtures.ingest import put, runs

GERMAN = """\
Messreihe: Kompression
Gerät: X200;

Programm;Stufe;Laufzeit [s];Energie [Wh]
gzip;1;10,9;0,18
gzip;5;22,9;0,38
xz;1;30,4;0,51
"""
UNITS = """\
Benchmark,Cores,Frequency,Time,Energy
,,GHz,(s),[J]
bt,4,1.2,83.3,2456.7
bt,8,1.2,41.7,1629.2
"""


@pytest.mark.parametrize(
    ("text", "separator", "line", "header", "rows"),
    [
        (GERMAN, ";", 4, ["Programm", "Stufe", "Laufzeit [s]", "Energie [Wh]"], [5, 6, 7]),
        (UNITS, ",", 1, ["Benchmark", "Cores", "Frequency (GHz)", "Time (s)", "Energy (J)"],
         [3, 4]),
        # What stands below is no unit: a name of a row, or there are no numbers below it.
        ("a,b\ns,1\nt,2\nu,3\n", ",", 1, ["a", "b"], [2, 3, 4]),
        ("a,b\ns,J\nt,K\n", ",", 1, ["a", "b"], [2, 3]),
        # Separators at the ends of lines, or of the header only.
        ("a,b,\n1,2,\n3,4,\n", ",", 1, ["a", "b"], [2, 3]),
        ("a,b,\n1,2\n3,4\n", ",", 1, ["a", "b"], [2, 3]),
        # Words below rows, but not in a cell of several lines.
        ("a,b\n1,2\n3,4\nall is well\nDONE\n", ",", 1, ["a", "b"], [2, 3]),
        ('a,b\n1,2\n3,"x\nof several words\ny"\n5,6\n', ",", 1, ["a", "b"], [2, 5, 6]),
        # Lines of a script above the header, and a trailer that has separators itself.
        (
            "jobs=12 size=7000\nfree_before=4G\na,b,c,d\n1,2,3,4\n3,4,5,6\n5,6,7,8\n"
            "--- checked (last out.bin, of b=6) ---\n-rw-r--r-- 7000 out.bin\nSAME\n",
            ",", 3, ["a", "b", "c", "d"], [4, 5, 6],
        ),
        # A cut row has a number, and text in a table of two columns is a row.
        ("a,b,c,d\n1,2,3,4\n3,4,5,6\n5,6,7,8\nx y, 2\n", ",", 1, [*"abcd"], [2, 3, 4, 5]),
        ("a,b\ns,1\nt,2\nu,3\nv w,x y\n", ",", 1, ["a", "b"], [2, 3, 4, 5]),
        # A header that lacks a name is no title.
        ("core,n\n0,1,5\n1,2,6\n2,3,7\n", ",", 1, ["core", "n"], [2, 3, 4]),
        # A comment with the names is the header.
        ("# made by x\n# a,b\n1,2\n3,4\n", ",", 2, ["a", "b"], [3, 4]),
    ],
)  # fmt: skip
def test_the_header_and_where_rows_begin(
    text: str, separator: str, line: int, header: list[str], rows: list[int]
) -> None:
    (at, names), *body = table_rows(text.splitlines(), separator)
    assert (at, [name.strip() for name in names]) == (line, header)
    assert [number for number, _ in body] == rows


@pytest.mark.parametrize("text", [GERMAN, UNITS])
def test_such_files_are_tables(text: str) -> None:
    assert sniff("x.csv", text.encode())


_LONG: Final = "kind,trial,time_s,events\n" + "".join(
    f"{kind},{trial},{4.5 + trial},{300 + trial},77,8.25\n" for kind in "ab" for trial in (1, 2)
)


@pytest.mark.parametrize("named", ["kind,trial", "benchmark,level"])
def test_rows_longer_than_their_header_are_read_where_it_fits(named: str) -> None:
    problems, text = ProblemList(), _LONG.replace("kind,trial", named)
    assert sniff("x.csv", text.encode())
    (table,) = parse_tables([text.encode()], ReadContext("x.csv", 0.0), problems)
    assert table.headings == [*named.split(","), "time_s", "events"]
    assert next(iter(table.rows)) == (2, ("a", "1", "5.5", "301"))
    (problem,) = problems.all()
    assert (problem.kind, problem.severity, problem.line) == ("field_count", "doubted", 1)
    assert problem.detail.startswith("all rows have 2 cells behind the last name")


@pytest.mark.parametrize(
    "text",
    [
        # Names of rows, which have no name.
        "threads,time_s\na,1,9.5\na,2,4.5\nb,1,8.5\nb,2,3.5\n",
        "threads,trial,time_s\na,1,1,9.5\na,2,2,4.5\nb,1,3,8.5\nb,2,4,3.5\n",
        # A first column of names, a text under a time, texts alone behind the names.
        "kind,trial,time_s\na1,x,1,2.5\nb1,y,2,3.5\na2,x,3,4.5\n",
        "time_s,trial,power_w\nx,1.5,1,20\nx,2.5,2,21\ny,2.5,3,21\n",
        "kind,trial,time_s\na,1,2.5,odd\na,2,3.5,even\n",
        # Names that could begin one later, and those of no measurement.
        "trial,kind,time_s\n1,1,a,2.5\n1,2,a,3.5\n", "kind,rank\na,1,5\na,2,6\n",
    ],
)  # fmt: skip
def test_rows_longer_than_their_header_are_refused_where_nothing_says_how(text: str) -> None:
    assert not sniff("x.csv", text.encode())
    assert "names are missing" in fault_of(text.encode())


@pytest.mark.parametrize(
    ("text", "dropped"),
    [
        ("kind,rep,cores,time_s,latency_ms\na,1,4,2.5,1.5\na,2,4,0,0\nb,1,4,0.0,0.00\n", [3, 4]),
        # Something was measured; nothing was in any row; zeros of what may be 0.
        ("kind,time_s,latency_ms,energy_j\na,2.5,1.5,3\nb,0,0,4\n", []),
        ("kind,time_s,latency_ms\na,0,0\nb,0,0\n", []),
        ("kind,time_s,errors,misses\na,2.5,0,0\nb,0,0,0\n", []),
        ("kind,time_s,latency_ms\na,2.5,1.5\nb,0,\n", []),
    ],
)  # fmt: skip
def test_rows_of_zeros_are_failed_trials(text: str, dropped: list[int]) -> None:
    problems = ProblemList()
    (table,) = parse_tables([text.encode()], ReadContext("x.csv", 0.0), problems)
    assert [each.line for each in problems.all() if each.kind == "empty_row"] == dropped
    assert (table.refused, len(table)) == (len(dropped), text.count("\n") - 1 - len(dropped))


def test_a_folder_with_failed_trials_and_longer_rows_says_so(tmp_path: Path, lake: Path) -> None:
    raw = tmp_path / "raw"
    text = _LONG.replace("a,2,6.5,302,77,8.25", "a,2,0,0,0,0").replace("events", "power_w")
    put(raw / "x.csv", text.replace("kind", "benchmark"))
    assert main(["add", str(raw), "--lake", str(lake)]) == 3
    assert sorted((run["benchmark"], run["duration_s"]) for run in runs(lake)) == [
        ("a", 5.5), ("b", 5.5), ("b", 6.5),
    ]  # fmt: skip

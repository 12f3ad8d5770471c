"""The header and the rows of separated text: titles above it, units below it."""

import pytest

from ingest.formats.table_text import sniff, table_rows

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

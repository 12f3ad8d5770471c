"""The same runs in every shape of a text table: framed, quoted, repeated, several in a file."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from ingest.formats.logged_blocks import are_blocks
from ingest.formats.logged_rows import logged_object
from ingest.formats.reported_blocks import are_reported
from ingest.formats.table_files import parse_table, parse_tables
from ingest.formats.table_lines import without_frames
from ingest.formats.table_rows import Table
from ingest.formats.table_text import sniff
from ingest.formats.text_tables import SECTION
from ingest.records import ProblemList, ReadContext
from tests.fixtures.ingest import details, ingest, put, query, runs

HEAD = ("filter", "width_px", "energy_j", "time_s")
ROWS = [
    (name, width, energy, time_s)
    for name, energy, time_s in (("blur", 41.5, 2.25), ("edge", 30.25, 1.5), ("sharpen", 55.0, 3.5))
    for width in (640, 1280)
]
Cells = Sequence[object]


def joined(mark: str, *rows: Cells) -> str:
    return "".join(mark.join(map(str, cells)) + "\n" for cells in rows)


def boxed(*rows: Cells) -> str:
    return joined("\n", [f"| {' | '.join(map(str, cells))} |" for cells in rows])


def quoted(*rows: Cells) -> str:
    return joined("\n", [f'"{",".join(map(str, cells))}"' for cells in rows])


RULE = "|:---|---:|:-:|---|\n"
GRID = "+------+----+----+----+\n"
SHAPES: dict[str, str] = {
    "bars": joined("|", HEAD, *ROWS),
    "bars in blanks": joined(" | ", HEAD, *ROWS),
    "bars in tabs": joined("\t|\t", HEAD, *ROWS),
    "Markdown": boxed(HEAD) + RULE + boxed(*ROWS),
    "Markdown under a text": "# Filters\n\nOf 3 filters, by me.\n\n" + boxed(HEAD) + RULE
    + boxed(*((f"**{name}**", f"`{n}`", *rest) for name, n, *rest in ROWS)) + "\nThat is all.\n",
    "marks around cells": joined(",", [f"**{name}**" for name in HEAD],
                                 *((f"<b>{a}</b>", f"*{b}*", f"`{c}`", d) for a, b, c, d in ROWS)),
    "Markdown below a bar of prose": "# Filters\n\n**Base:** 9 W | **Range:** [1 W, 9 W]\n\n"
    + boxed(HEAD) + RULE + boxed(*ROWS),
    "Markdown below a table of texts": "# Filters\n\n| Part | Own |\n|---|---|\n| Peak | **9 W** |"
    "\n\n## Runs\n\n" + boxed(HEAD) + RULE + boxed(*ROWS),
    "Markdown without bars at the ends": joined(" | ", HEAD) + "--- | --- | --- | ---\n"
    + joined(" | ", *ROWS),
    "Markdown without bars at the ends in a text": "# Filters\n" + "Of 3 filters, by me.\n" * 9
    + joined(" | ", HEAD) + "--- | --- | --- | ---\n" + joined(" | ", *ROWS),
    "a grid": GRID + boxed(HEAD) + GRID.replace("-", "=") + boxed(*ROWS) + GRID,
    "psql": joined(" | ", HEAD) + "------+----+----+----\n" + joined(" | ", *ROWS) + "(6 rows)\n",
    "between rules in a report": "Filters, by elk\nHost: fox   Cards: 2\n\nResults\n-------\n\n"
    + f"{'-' * 40}\n" + joined(" | ", HEAD) + f"{'-' * 40}\n" + joined(" | ", *ROWS)
    + f"{'-' * 40}\n    sum of all = 253\n\nNotes\nThe host was idle before, and | is a bar.\n",
    "a quoted header": quoted(HEAD) + joined(",", *ROWS),
    "quoted rows": quoted(HEAD, *ROWS),
    "quoted cells in quoted rows": quoted(*([f'""{c}""' for c in row] for row in (HEAD, *ROWS))),
    "a header again": joined(",", HEAD, *ROWS[:4], HEAD, *ROWS[4:]),
    "a header again below a gap": joined(",", HEAD, *ROWS[:4], [], HEAD, *ROWS[4:]),
    "a header again, in blanks": joined(" ", HEAD, *ROWS[:4], HEAD, *ROWS[4:]),
    "units below, or a dash": joined(",", ("filter", "width", "energy", "time"),
                                     ("-", "px", "[J]", "(s)"), *ROWS),
    "wide gaps, and names with blanks": joined(
        "   ", ("filter", "image width (px)", "energy used (J)", "run time (s)"), ["-" * 40],
        *((f"{a:8}", b, f"{c:7}", d) for a, b, c, d in ROWS)),
    "numbers of rows without a name": joined(",", HEAD, *((n, *row) for n, row in enumerate(ROWS))),
    "a separator at the ends of rows": joined(",", HEAD, *((*row, "") for row in ROWS)),
    "a header with a name too many": joined(",", (*HEAD, "host"), *ROWS),
    "pairs": joined(" ", *([f"{n}={v}" for n, v in zip(HEAD, row, strict=True)] for row in ROWS)),
    "pairs with units in a log": "started\n" + joined("\n", [
        f"10:00:0{n} INFO done: filter: {a}, width: {b} px, energy: {c} J, time: {d} s"
        for n, (a, b, c, d) in enumerate(ROWS)]),
    "dictionaries of Python": joined("\n", [repr(dict(zip(HEAD, r, strict=True))) for r in ROWS]),
    "a line a value": "".join(f"filter: {a}\nwidth: {b} px\nEnergy: {c} J\nTime: {d} s\n\n"
                              for a, b, c, d in ROWS),
    "a line a value, without gaps": "".join(
        f"filter = {a}\nwidth = {b} px\nEnergy = {c} J\nTime = {d} s\n" for a, b, c, d in ROWS),
    # Reports with parts, rules and headings, of which one names a setting.
    "reports under headings": "# Filters\n" + "".join(
        f"## run {n}\n{'=' * 20}\nDONE\n{'=' * 20}\n\nfilter: {a}\nwidth: {b} px\n\nCOSTS\n"
        f"Energy: {c} J (of the board)\nTime: {d} s\n\nMORE\nFrames: {n + 1},250\n"
        f"GPU memory: {n}.5 GB\n    in all\n" for n, (a, b, c, d) in enumerate(ROWS)),
    "settings on a line, results on the next": "".join(
        f"CONFIG filter={a} width={b}\nworking\nRESULT energy_j={c} time_s={d}\n"
        for a, b, c, d in ROWS),
    "settings on several lines": "".join(
        f"threads={n}\nfilter={a} width={b}\nworking\nRESULT energy_j={c} time_s={d}\n"
        for n, (a, b, c, d) in enumerate(ROWS)),
    "progress between results": "".join(
        "".join(f"progress pass={n} power_w={20 + n}.5\n" for n in range(4))
        + f"result filter={a} width={b} energy_j={c} time_s={d}\n" for a, b, c, d in ROWS),
    "parameters above": "Parameter,Value\nhost,elk\nruns,1\n\n" + joined(",", HEAD, *ROWS),
    "a comment below the header, and a row as a comment": joined(",", HEAD) + "# on elk\n"
    + joined(",", *ROWS[:3], ("#blur", 9, 9.5, 9.5), *ROWS[3:]),
    # All that a spreadsheet in German adds: a mark, comments, gaps, units in cells, a mean.
    "decimal commas, units in cells, comments, a mean": "\ufeff# in March\n\n"
    + joined(";", ("filter", "width", "energy", "time")) + "\n" + joined(";", *(
        (f" {a} ", f"{b} px", f"{c:.2f} J".replace(".", ","), f"{d:.2f} s".replace(".", ","))
        for a, b, c, d in ROWS)) + "\nMittelwert;;42,25 J;2,42 s\n# by elk\n",
    "several units of one quantity": joined(",", ("filter", "width", "energy", "time"), *(
        (a, b, f"{c} J" if c < 50 else f"{c / 1e3} kJ", f"{d * 1e3:.0f} ms" if d < 2 else f"{d} s")
        for a, b, c, d in ROWS)),
    "a comment and a mean below": joined(",", HEAD, *ROWS) + "# done\n"
    + joined(",", ("mean", "", 42.25, 2.4167)),
}  # fmt: skip


def test_reports_have_the_headings_above_them_and_commas_of_thousands(
    lake: Path, tmp_path: Path
) -> None:
    report = (
        "Energy: {}.5 J (2 %)\n\nTime: 2.5 s\nTokens: {},250\nPower: {}.5 W\nLoad: 9 %\nId: {}\n"
    )
    text = "".join(
        f"# {board}\n## {model}\n====\n" + report.format(n, n, n, n)
        for n, (board, model) in enumerate(
            [("elk", "llama-8b"), ("elk", "qwen-3b"), ("fox", "llama-8b"), ("fox", "qwen-3b")], 1
        )
    )
    put(tmp_path / "raw" / "report.md", text)
    ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(lake, "SELECT heading_1, model, energy_j, tokens FROM runs ORDER BY ALL")
    assert [*map(tuple, map(dict.values, found))] == [
        ("elk", "llama-8b", 1.5, 1250), ("elk", "qwen-3b", 2.5, 2250),
        ("fox", "llama-8b", 3.5, 3250), ("fox", "qwen-3b", 4.5, 4250),
    ]  # fmt: skip


def test_results_above_their_settings_are_not_of_those_above(lake: Path, tmp_path: Path) -> None:
    text = "".join(f"RESULT energy_j={c} time_s={d}\nCONFIG filter={a} width={b}\n"
                   for a, b, c, d in ROWS)  # fmt: skip
    put(tmp_path / "raw" / "filters.txt", text)
    ingest(lake, tmp_path / "raw", is_proposing=True)
    assert query(lake, "SELECT * FROM runs") == []


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_a_text_is_the_same_runs(shape: str, lake: Path, tmp_path: Path) -> None:
    put(tmp_path / "raw" / "filters.txt", SHAPES[shape])
    assert ingest(lake, tmp_path / "raw", is_proposing=True).refused == [], shape
    found = query(lake, "SELECT filter, energy_j, duration_s, count(*) AS n FROM runs GROUP BY ALL")
    assert sorted(map(tuple, map(dict.values, found))) == [
        ("blur", 41.5, 2.25, 2), ("edge", 30.25, 1.5, 2), ("sharpen", 55.0, 3.5, 2),
    ]  # fmt: skip


def test_headings_of_a_document_tell_its_tables_apart() -> None:
    """The nearest heading that differs, and of tables of any width; no other table is read."""
    hosts = "host | cores | kind\n:--- | ---: | ---\nelk | 4 | a\nfox | 8 | b\n"
    results = "#### Results\n" + joined(" | ", HEAD) + RULE[1:-2] + "\n"
    text = f"# Filters\n{hosts}\nBy me.\n\n" + "".join(
        f"### On {host}\nNothing else ran.\n\n{results}{joined(' | ', *ROWS[at : at + 3])}\n"
        for at, host in enumerate(("elk", "fox"))
    )
    text += "## Idle\nname | power (W)\n--- | ---\nelk | 4.5\n"
    tables = parse_tables([text.encode()], ReadContext("t.md", 0.0), ProblemList())
    assert [table.headings for table in tables] == [[SECTION, *HEAD], ["name", "power (W)"]]
    assert [*tables[0].column(0)] == ["On elk"] * 3 + ["On fox"] * 3


@pytest.mark.parametrize(
    "text",
    [
        # More text than table: it tells of results that are elsewhere.
        "# Tool\n" + "A line about it.\n" * 12 + boxed(HEAD) + RULE + boxed(*ROWS[:2]),
        "Host\n----\npart | n | unit\n----\n" + "disk | 4 | TB\nram | 8 | GB\n" * 3,
        "Title\n-----\nwords | more words\n", '"a, b"\nc\n',
    ],
)  # fmt: skip
def test_a_text_with_bars_is_no_table(text: str) -> None:
    assert not sniff("README.md", text.encode())


def test_commas_are_of_thousands_where_another_column_says_it() -> None:
    rows = [(f"{n}0%", f"{n},{n}00,000", f"{n}7,{n}11", 60.4 + n) for n in range(1, 7)]
    problems = ProblemList()

    def read(*rows: Cells) -> Table:
        text = joined(" | ", *rows)
        (table,) = parse_tables([text.encode()], ReadContext("t.txt", 0.0), problems)
        return table

    table = read(("load", "ops", "ops per W", "power (W)"), *rows)
    assert [*table.column(2)] == [f"{n}7{n}11" for n in range(1, 7)]
    assert [p.kind for p in problems.all()] == []
    # Without such a column it is doubted.
    table = read(("load", "ops per W"), *((row[0], row[2]) for row in rows))
    assert [p.kind for p in problems.all()] == ["unclear_comma"]


PROGRAMS = joined(",", ("program", "cores", "energy_j"), ("fft", 2, 8.5), ("fft", 4, 7.5))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Another header below a gap, with titles or without.
        (joined(",", HEAD, *ROWS) + "\n" + PROGRAMS,
         [("table 1", HEAD, 6), ("table 2", ("program", "cores", "energy_j"), 2)]),
        ("Table 1: filters\n" + joined(",", HEAD, *ROWS) + "\n## Programs\n\n" + PROGRAMS,
         [("Table 1: filters", HEAD, 6), ("Programs", ("program", "cores", "energy_j"), 2)]),
        # Titles tell the rows of one header apart.
        (joined(",", ["lens wide"], HEAD, *ROWS[:4], ["lens tele"], HEAD, *ROWS[4:]),
         [("", (SECTION, *HEAD), 6)]),
        # A row of texts below a gap is no header if no number follows.
        (joined(",", ("a", "b"), ("x", 1)) + "\n" + joined(",", ("y", "z"), ("u", "v")),
         [("", ("a", "b"), 3)]),
    ],
)  # fmt: skip
def test_several_tables_of_a_text(text: str, expected: list[tuple[str, Cells, int]]) -> None:
    found = parse_tables([text.encode()], ReadContext("t.csv", 0.0), ProblemList())
    assert [(t.place, (*t.headings,), len(t)) for t in found] == expected


def test_lines_of_the_second_table_are_those_of_the_file() -> None:
    text = joined(",", HEAD, *ROWS) + "\n" + PROGRAMS + "x,1\n"
    problems = ProblemList()
    _, second = parse_tables([text.encode()], ReadContext("t.csv", 0.0), problems)
    assert [line for line, _ in second.rows] == [10, 11]
    assert [(each.kind, each.line) for each in problems.all()] == [("field_count", 12)]


def test_a_header_that_recurs_is_said(lake: Path, tmp_path: Path) -> None:
    put(tmp_path / "filters.csv", SHAPES["a header again"])
    assert len(details(ingest(lake, tmp_path), "repeated_header")) == 1


@pytest.mark.parametrize(
    ("headings", "said", "energies"),
    [
        (("energy_j", "energy_j", "score"), "energy_j, energy_j 2", (41.5,)),
        (("score", "score", "energy_j"), "score, score 2", (43.5,)),
        # Three of one kind, with like values, are replicates.
        (("energy_j",) * 3, "energy_j 1, energy_j 2, energy_j 3", (41.5, 42.5, 43.5)),
    ],
)
def test_headings_that_recur_are_told_apart_and_said(
    headings: Cells, said: str, energies: tuple[float, ...], lake: Path, tmp_path: Path
) -> None:
    rows = [(name, width, energy, energy + 1, energy + 2) for name, width, energy, _ in ROWS]
    put(tmp_path / "filters.csv", joined(",", (*HEAD[:2], *headings), *rows))
    problems = details(ingest(lake, tmp_path, is_proposing=True), "repeated_heading")
    assert problems[0].endswith(f"read as {said}")
    sql = "SELECT energy_j FROM runs WHERE filter = 'blur' AND width_px = 640 ORDER BY ALL"
    assert [row["energy_j"] for row in query(lake, sql)] == [*energies]


def test_a_name_in_front_of_like_blocks_is_the_setting_of_their_rows(
    lake: Path, tmp_path: Path
) -> None:
    """The statement of each block is what its run did: no row is one run of both databases."""
    of_block = ("energy use", "time (s)")
    rows = [("select 1;", 3.5, 2.5, "db.t.find()", 4.5, 1.5),
            ("select 1;", 3.25, 2.25, "db.t.add({'n': 1})", 5.5, 3.5)] * 2  # fmt: skip
    put(tmp_path / "db.csv", joined(",", ("Oak Query", *of_block, "Elm Query", *of_block), *rows))
    report = ingest(lake, tmp_path, is_proposing=True)
    assert not details(report, "repeated_heading")
    sql = "SELECT alternative, query, duration_s, replicate FROM runs ORDER BY ALL"
    assert [(*row.values(),) for row in query(lake, sql)] == [
        ("Elm", "add", 3.5, 0), ("Elm", "add", 3.5, 1), ("Elm", "select", 1.5, 0),
        ("Elm", "select", 1.5, 1), ("Oak", "select", 2.25, 1), ("Oak", "select", 2.25, 3),
        ("Oak", "select", 2.5, 0), ("Oak", "select", 2.5, 2),
    ]  # fmt: skip


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_text_in_utf_16_is_read(encoding: str, lake: Path, tmp_path: Path) -> None:
    """As spreadsheets save Unicode text, and PowerShell what a program prints."""
    text = "\ufeff" + joined("\t", HEAD, *ROWS).replace("\n", "\r\n").replace("blur", "kühl")
    (tmp_path / "filters.txt").write_bytes(text.encode(encoding))
    assert ingest(lake, tmp_path, is_proposing=True).refused == []
    rows = query(lake, "SELECT DISTINCT filter, energy_j FROM runs ORDER BY ALL")
    assert [*map(tuple, map(dict.values, rows))] == [
        ("edge", 30.25),
        ("kühl", 41.5),
        ("sharpen", 55.0),
    ]


def test_a_text_in_the_code_page_of_windows_keeps_its_letters() -> None:
    text = "Größe;energy_j\nkühl;1,5\ngroß;2,5\n".encode("cp1252")
    table = parse_table([text], "t.csv", ProblemList())
    assert (table.headings, [*table.column(0)]) == (["Größe", "energy_j"], ["kühl", "groß"])


def test_titles_of_one_header_are_a_column() -> None:
    text = "lens wide\n" + joined(",", HEAD, *ROWS[:3]) + "\nlens tele\n"
    table = parse_table([(text + joined(",", HEAD, *ROWS[3:])).encode()], "t.csv", ProblemList())
    assert [*table.column(0)] == ["lens wide"] * 3 + ["lens tele"] * 3
    assert table.keys == {SECTION}


STEP = "epoch: {n}\nloss: 0.{n}\ntime: {n}.5 s\n"


@pytest.mark.parametrize(
    "text",
    [
        # Steps or parts of one run; and no measurement, or nothing that was set.
        "".join(STEP.format(n=n) for n in range(1, 6)),
        "".join(f"core: {n}\nmode: m{n}\nenergy_j: {n}.5\n\n" for n in range(1, 6)),
        "".join(f"user: u{n}\nshell: /bin/sh\nhome: /home/u{n}\n\n" for n in range(5)),
        "".join(f"Energy: {n}.5 J\nTime: 1.{n} s\nPower: {n}.25 W\n\n" for n in range(5)),
    ],
)
def test_other_lines_of_values_are_no_blocks_of_runs(text: str) -> None:
    assert not are_blocks(text.splitlines())


@pytest.mark.parametrize("between", ["", "---"])
def test_blocks_of_measurements_alone_are_repetitions(between: str) -> None:
    values = [(7.5, 2.0), (8.5, 1.5), (8.0, 2.5), (7.0, 1.75)]
    text = f"{between}\n".join(f"w_energy: {j}\nw_time: {s} s\n" for j, s in values)
    assert are_blocks(text.splitlines())
    table = parse_table([text.encode()], "t.results", ProblemList())
    assert [*table.column(0)] == [str(j) for j, _ in values]
    assert not are_blocks(text.replace(f"{between}\n", "").splitlines())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("epoch=3, loss=0.5, time_s=1.5", None),
        ("a=1 b=2 c=3", None),
        ("threads=4 energy_j=5.5", None),
        ("12:00 threads=4; host='n 1'; energy_j=5.5",
         {"threads": "4", "host": "n 1", "energy_j": "5.5"}),
        ("{'threads': 4, 'energy_j': 5.5, 'ok': True}",
         {"threads": 4, "energy_j": 5.5, "ok": True}),
        ("{'threads': 4, 'energy_j': f()}", None),
    ],
)  # fmt: skip
def test_pairs_of_a_run_end_a_line(line: str, expected: dict[str, object] | None) -> None:
    assert logged_object(line) == expected


BUILDS = "gcc -O2,3.25,41.5\nclang -O2,2.75,44.125\nicx -O3,2.5,47.25\n"


@pytest.mark.parametrize(
    "names", ["build   time power", "# build\ttime  power", "build,time,power"]
)
@pytest.mark.parametrize("mark", [",", ";"])
def test_names_between_blanks_head_rows_between_commas(
    names: str, mark: str, lake: Path, tmp_path: Path
) -> None:
    text = f"{names.replace(',', mark)}\n{BUILDS.replace(',', mark)}"
    put(tmp_path / "in/t.csv", text)
    ingest(lake, tmp_path / "in", is_proposing=True)
    rows = runs(lake, "build, duration_s, power_w", "build")
    assert [(r["build"], r["duration_s"], r["power_w"]) for r in rows] == [
        ("clang -O2", 2.75, 44.125), ("gcc -O2", 3.25, 41.5), ("icx -O3", 2.5, 47.25),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        # A title above a header; above numbers; names above texts; one word too few.
        f"Build time power\nname,seconds,watts\n{BUILDS}",
        f"Power of builds\n{BUILDS}",
        f"time build power\n{BUILDS}",
        f"time power\n{BUILDS}",
    ],
)
def test_other_lines_above_rows_between_commas_are_as_they_stand(text: str) -> None:
    lines = text.split("\n")
    assert [*without_frames(lines)] == lines


def locust(*rows: str) -> str:
    return joined("\n", ("kind,url,sent,latency_ms,requests/s", *rows))


def test_a_total_of_one_row_is_that_row(lake: Path, tmp_path: Path) -> None:
    """Where numbers differ, or there are two rows above it, it is kept or judged as a total."""
    put(tmp_path / "in/small.csv", locust("GET,/a,512,38.5,17.25", ",Aggregated,512,38.5,17.25"))
    put(tmp_path / "in/large.csv", locust("GET,/a,890,61.5,29.5", ",Aggregated,890,61.5,29.5"))
    put(tmp_path / "in/other.csv", locust("GET,/a,700,50.5,23.5", ",Aggregated,701,50.5,23.5"))
    report = ingest(lake, tmp_path / "in", is_proposing=True)
    assert len(runs(lake)) == 4
    assert details(report, "summary_row").count("'Aggregated' is of other rows; no run") == 2


REPORT = """keras Experiment Data:
Average energy consumption <Joules (deviation %)>:
GPU: 1,744,699.44 (0.72%)
PKG: 1,748.5 (2.11%)
Average accuracy <accuracy (deviation %)>:
83.70 (1.10%)
Efficiency: 0.4558
-----------------
pytorch Experiment Data:
Average energy consumption <Joules (deviation %)>:
GPU: 2,538,730.21 (0.34%)
PKG: 5,307 (0.72%)
Average accuracy <accuracy (deviation %)>:
92.20 (5.86%)
Efficiency: 0.3021
"""


def test_blocks_below_a_stated_unit_are_runs_with_their_deviations() -> None:
    (table,) = parse_tables([REPORT.encode()], ReadContext("t.txt", 0.0), ProblemList())
    energy = "Average energy consumption"
    rows = [[*row] for row in zip(*map(table.column, range(8)), strict=True)]
    assert [table.headings, *rows] == [
        ["name", f"GPU {energy} (Joules)", f"GPU {energy} deviation (%)", f"PKG {energy} (Joules)",
         f"PKG {energy} deviation (%)", "Average accuracy", "Average accuracy deviation (%)",
         "Efficiency"],
        ["keras", "1744699.44", "0.72", "1748.5", "2.11", "83.70", "1.10", "0.4558"],
        ["pytorch", "2538730.21", "0.34", "5307", "0.72", "92.20", "5.86", "0.3021"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        # No unit, no deviations, a name twice in a block, and a line that is none of these.
        REPORT.replace("<Joules", "<pieces"), re.sub(r" \(\d.*%\)", "", REPORT),
        REPORT.replace("PKG", "GPU"), REPORT + "The end, at last\n",
    ],
)  # fmt: skip
def test_other_blocks_are_no_report(text: str) -> None:
    assert not are_reported(text.splitlines())


def test_folders_of_means_number_experiments_and_much_energy_is_doubted(
    lake: Path, tmp_path: Path
) -> None:
    """Two experiments of two means each are no repetitions; 100 W take 28 h for 10 MJ."""
    put(tmp_path / "raw/1/results.txt", REPORT)
    again = REPORT.replace("5,307", "53,070,000").replace("1,748.5", "1,750.5")
    put(tmp_path / "raw/2/results.txt", again)
    result = ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(lake, "SELECT folder_number, name, energy_j FROM runs ORDER BY ALL")
    assert [*map(tuple, map(dict.values, found))] == [
        (1, "keras", 1748.5), (1, "pytorch", 5307), (2, "keras", 1750.5), (2, "pytorch", 53.07e6),
    ]  # fmt: skip
    (detail,) = details(result, "odd_power")
    assert detail.startswith("5.307e+07 J without a time: 100 W take 147 h for it")

"""`ingest add` of a folder of which nothing is read: status 3, and the nearest reason by shape."""

import os
import re
from pathlib import Path

import pytest

from app.kit.encodings import without_marks
from app.kit.lake_view import LakeView
from app.kit.words import empty_lake, unread_words
from data.connection import open_lake
from data.errors import SettingsError
from data.selection import Clause, Selection
from ingest.__main__ import main
from tests.fixtures.ingest import ingest, put, query


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "nothing was read: there is no file"),
        ({f"cache/f{i}.json": '{"a": "x", "b": {}}' for i in range(3)},
         "3 files like {raw}/cache/f0.json: JSON, 1 object (a, b) without a number"),
        ({"a.json": "[1, 2"}, "{raw}/a.json: JSON without an object"),
        ({"a.json": '{"r": [{"a": 1, "b": "x"}]}'},
         "refused: {raw}/a.json: bad_content: a row has no setting, energy, power, time, latency"),
        ({"a.csv": 'run,energy_j\n"r1,5\n,,\n'}, "the quote in line 2 is not closed; not read"),
        ({"a.csv": "run,energy_j\nr1,\0"}, "a NUL byte in line 2: broken, or UTF-16 and not UTF-8"),
        ({"a.json": "{]"}, "{raw}/a.json: begins like JSON, but is none"),
        ({"a.bin": "\0\1"}, "{raw}/a.bin: binary, of no known format"),
        ({"a.zip": "PK\3\4\0"}, "{raw}/a.zip: a zip archive: unpack it"),
        ({"a.tar": "r.csv" + "\0" * 252 + "ustar" + "\0" * 762}, "{raw}/a.tar: a tar archive"),
        (
            {"a.csv": "run,gc,energy_j,time_s\n" + "run_1,Serial,[INFO]\n5.5,2.25\n" * 4},
            "the header has 4 cells, and rows below have 3 or 2: a line break",
        ),
        ({"a.csv": "x,y\na,b\n"}, "cells between commas, but no header with rows of numbers"),
        ({"a.csv": "cores,1200,2400\n1,9.5,8.5\n2,7.5,6.5\n"}, "at the crossings of two"),
        ({"rust.csv": "fasta ; 32.5 ; 913.9\nfasta ; 32.25 ; 905.5\nn-body ; 28.5 ; 695.5\n"},
         "cells between semicolons without names"),
        ({"serial.csv": "".join(f"00{n}0 {n * 1.5:09.4f}\n" for n in range(1, 5))},
         "{raw}/serial.csv: cells between blanks without names: write those of the columns"),
        ({"notes.txt": "3 cores\n4 cores\n9 cores\n"}, "notes.txt: text without a header"),
        ({"a.md": "# Hosts\nTwo of them.\n\nhost | cores\n--- | ---:\nelk | 4\nfox | 8\n"},
         "{raw}/a.md: Markdown tables, 1 in all: none with three rows below a heading of a meas"),
        ({"a.md": "# Hosts\n" + "Of them.\n" * 9 + "host | power (W)\n--- | ---:\n"
          + "| elk | 4 W or 5 |\n" * 3},
         "{raw}/a.md: Markdown tables, 1 in all: no row of numbers is told from the other lines"),
        ({"idle.csv": "1000767264,11.9266\n2001199972,12.1529\n"}, "between commas without names"),
        ({"a.txt": "words\nand words\n"}, "`[[logs]]` can declare it"),
        ({f"{'ab'[i % 2] * (1 + i)}.txt": "one" for i in range(7)}, "  and 2 more shapes of names"),
    ],
)  # fmt: skip
def test_nothing_read_is_status_3_with_the_nearest_reason(
    files: dict[str, str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    raw = tmp_path / "raw"
    for name, text in {"": "", **files}.items():
        path = raw / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name:
            path.write_text(text)
    raw.mkdir(exist_ok=True)
    assert main(["add", str(raw), "--lake", str(tmp_path / "lake")]) == 3
    assert said.format(raw=raw) in capsys.readouterr().out


def test_why_nothing_was_read_is_a_problem_until_it_is_read(tmp_path: Path) -> None:
    """The pages of a lake without runs say it, and a reader need not look at a terminal."""
    raw, lake = tmp_path / "raw", tmp_path / "lake"
    put(raw / "a1.txt", ROWS.replace(",", " "))
    put(raw / "a2.txt", ROWS.replace(",", " "))
    put(raw / "README.md", "# A study\n\nof some threads\n")
    for _ in range(2):
        assert main(["add", str(raw), "--lake", str(lake)]) == 3
        with open_lake(lake) as opened:
            found = opened.polars("SELECT kind, severity, path, count FROM problems").rows()
            view = LakeView(opened)
            words = without_marks(empty_lake(view))
        assert found == [
            ("not_read", "refused", f"{raw}/README.md", 1),
            ("not_read", "refused", f"{raw}/a1.txt", 2),
        ]
        assert "raw/a1.txt: cells between blanks without names" in words
        assert "(2 files)" in words
    settings = '[[tables]]\npattern = "a(?P<replicate>\\\\d)\\\\.txt"\nfactors = true\n'
    columns = [f'"{name}"' for name in ("program", "threads", "energy_j", "duration_s")]
    put(raw / "wattlas.toml", f"{settings}columns = [{', '.join(columns)}]\n")
    assert main(["add", str(raw), "--lake", str(lake)]) == 0
    assert query(lake, "SELECT * FROM problems WHERE kind = 'not_read'") == []


def test_tables_that_are_not_read_beside_others_are_doubted(tmp_path: Path) -> None:
    """A text about the data and a script are no data; a table, by name or rows, is."""
    raw, lake = tmp_path / "raw", tmp_path / "lake"
    put(raw / "s.csv", "threads,energy_j\n1,5.5\n2,7.5\n")
    put(raw / "x.csv", "x,y\na,b\n")
    put(raw / "y.dat", "".join(f"{n} {n * n}\n" for n in range(9)))
    put(raw / "README.md", "# A study\n\n- 3 threads\n- 4 threads\n")
    put(raw / "plot.py", "import sys\nx = 1\ny = 2\n")
    assert main(["add", str(raw), "--lake", str(lake)]) == 0
    found = query(lake, "SELECT path, severity FROM problems WHERE kind = 'not_read' ORDER BY path")
    assert [(*row.values(),) for row in found] == [
        (f"{raw}/x.csv", "doubted"), (f"{raw}/y.dat", "doubted")
    ]  # fmt: skip
    with open_lake(lake) as opened:
        view = LakeView(opened)
        words = unread_words(view, Selection())
        other = Clause(view.catalogue.facets["dataset"], ("another",))
        assert unread_words(view, Selection((other,))) == ""
    begin = "2 files with data were not read, such as x.csv: "
    assert re.fullmatch(rf"{begin}.*\. python -m ingest problems lists all\.", words)


@pytest.mark.parametrize(("is_beside", "status"), [(True, 0), (False, 3)])
def test_a_pipe_is_not_waited_for(is_beside: bool, status: int, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    os.mkfifo(raw / "x.csv")
    if is_beside:
        put(raw / "s.csv", "threads,energy_j\n1,5.5\n2,7.5\n")
    assert main(["add", str(raw), "--lake", str(tmp_path / "lake")]) == status
    found = query(tmp_path / "lake", "SELECT path, detail FROM problems WHERE kind = 'not_read'")
    assert [(*row.values(),) for row in found] == [
        (f"{raw}/x.csv", "neither a file nor a folder")
    ]  # fmt: skip


def test_a_folder_that_is_in_the_lake_already_is_no_failure(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "a.csv").write_text("threads,energy_j\n1,5.5\n2,7.5\n1,5.6\n2,7.4\n")
    command = ["add", str(raw), "--lake", str(tmp_path / "lake")]
    assert [main(command), main(command)] == [0, 0]


ROWS = "fft,1,40.25,9.5\nfft,4,28.5,3.25\nlu,1,51.5,12.25\nlu,4,37.25,4.5\n"


@pytest.mark.parametrize(
    ("text", "name"),
    [(ROWS, "r.csv"), (ROWS.replace(",", " "), "r.txt"), (ROWS.replace(",", "|"), "r_2.dat")],
)
def test_the_lines_that_are_printed_read_a_table_without_headings(
    text: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    raw, lake = tmp_path / "raw", tmp_path / "lake"
    put(raw / name, text)
    command = ["add", str(raw), "--lake", str(lake)]
    assert main(command) == 3
    printed = capsys.readouterr().out
    assert '"text_1",  # 2 values: fft, lu' in printed
    assert '"number_3",  # 4 values: 40.25, 28.5, 51.5, 37.25' in printed
    lines = [line.strip() for line in printed.splitlines()]
    settings = "\n".join(lines[lines.index("[[tables]]") : lines.index("]") + 1])
    for before, after in (("text_1", "program"), ("number_2", "threads"), ("number_3", "energy_j"),
                          ("number_4", "duration_s")):  # fmt: skip
        settings = settings.replace(before, after)
    put(raw / "wattlas.toml", settings)
    assert main(command) == 0
    found = query(lake, "SELECT program, threads, energy_j, duration_s FROM runs ORDER BY energy_j")
    assert [(*row.values(),) for row in found] == [
        ("fft", 4, 28.5, 3.25), ("lu", 4, 37.25, 4.5), ("fft", 1, 40.25, 9.5),
        ("lu", 1, 51.5, 12.25),
    ]  # fmt: skip
    with open_lake(lake) as opened:
        assert "program" in {each.name for each in opened.columns if each.role == "knob"}


def test_numbers_alone_are_read_when_someone_says_what_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    """The names of the files differ in settings, and the numbers lack a name."""
    raw, lake = tmp_path / "raw", tmp_path / "lake"
    for at, name in enumerate(("eager_cost_scroll", "eager_cost_type", "lazy_cost_scroll")):
        put(raw / f"{name}.csv", "".join(f"{300 + 50 * at + n}\r\n" for n in range(5)))
    command = ["add", str(raw), "--lake", str(lake)]
    assert main(command) == 3
    printed = capsys.readouterr().out
    assert "eager_cost_scroll.csv: numbers without names" in printed
    assert '"number_1",  # numbers from 300 to 404' in printed
    settings = printed[printed.index("[columns.file]") : printed.index("\n]\n") + 3]
    put(raw / "wattlas.toml", settings.replace("number_1", "energy_j"))
    assert main(command) == 0
    found = query(lake, "SELECT file, file_2, count(*) AS n, min(energy_j) AS least FROM runs "
                        "GROUP BY ALL ORDER BY ALL")  # fmt: skip
    assert [(*row.values(),) for row in found] == [
        ("eager", "scroll", 5, 300.0), ("eager", "type", 5, 350.0), ("lazy", "scroll", 5, 400.0)
    ]  # fmt: skip


def test_a_quantity_in_the_names_of_files_names_numbers_without_a_unit(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    """542 may be microwatt-hours: nothing invites a person to call it joules."""
    raw, lake = tmp_path / "raw", tmp_path / "lake"
    for at, name in enumerate(("eager_energy_scroll", "eager_energy_type", "lazy_energy_scroll")):
        put(raw / f"{name}.csv", "".join(f"{300 + 50 * at + n}\n" for n in range(5 + at)))
    command = ["add", str(raw), "--lake", str(lake)]
    assert main(command) == 3
    printed = capsys.readouterr().out
    assert "numbers without names: energy, by that of the file, in an unknown unit" in printed
    assert "energy_j" not in printed
    begin, end = printed.index("[columns.energy]"), printed.index("\n]\n") + 3
    put(raw / "wattlas.toml", printed[begin:end])
    assert main(command) == 0
    found = query(lake, "SELECT file, count(*) AS n, min(energy) AS least, "
                        "any_value(energy_j) AS j FROM runs GROUP BY ALL ORDER BY ALL")  # fmt: skip
    rows = [(*row.values(),) for row in found]
    assert rows == [("eager", 11, 300.0, None), ("lazy", 7, 400.0, None)]
    with open_lake(lake) as opened:
        (energy,) = [each for each in opened.columns if each.name == "energy"]
    assert (energy.role, energy.unit, energy.better) == ("metric", "", None)


def test_files_of_one_name_are_told_apart_by_their_folders(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    raw, lake = tmp_path / "raw", tmp_path / "lake"
    for cap in (60, 90):
        put(raw / f"cap{cap}" / "r.csv", "".join(f"{n},{cap + n}.5,{9 - n}.5\n" for n in (1, 2)))
    assert main(["add", str(raw), "--lake", str(lake)]) == 3
    printed = capsys.readouterr().out
    settings = printed[printed.index("[columns.cap]") : printed.index("\n]\n") + 3]
    for name in ("threads", "energy_j", "duration_s"):
        settings = re.sub(r"number_\d", name, settings, count=1)
    put(raw / "wattlas.toml", settings)
    assert main(["add", str(raw), "--lake", str(lake)]) == 0
    found = query(lake, "SELECT cap, threads, energy_j FROM runs ORDER BY ALL LIMIT 3")
    assert [(*row.values(),) for row in found] == [(60, 1, 61.5), (60, 2, 62.5), (90, 1, 91.5)]


def test_a_file_without_headings_beside_others_has_its_lines_too(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    put(tmp_path / "raw" / "r.csv", ROWS)
    put(tmp_path / "raw" / "s.csv", "threads,energy_j\n1,5.5\n2,7.5\n")
    assert main(["add", str(tmp_path / "raw"), "--lake", str(tmp_path / "lake")]) == 0
    assert "pattern = 'r\\.csv'" in capsys.readouterr().out


@pytest.mark.parametrize("columns", ['["a", "a"]', '["a", "b"]\nheader = "a b"'])
def test_names_of_columns_need_a_pattern_and_differ(columns: str, tmp_path: Path) -> None:
    put(tmp_path / "r.csv", ROWS)
    put(tmp_path / "wattlas.toml", f"[[tables]]\ncolumns = {columns}\n" + 'header = "x"\n'
        * ("header" not in columns))  # fmt: skip
    with pytest.raises(SettingsError, match="must be different names, with a 'pattern'"):
        ingest(tmp_path / "lake", tmp_path)


def test_costs_below_zero_are_left_out_and_told(tmp_path: Path) -> None:
    """The words before a quantity that the file's name says too are none of the metric's name."""
    raw, lake = tmp_path / "raw", tmp_path / "lake"
    for name, title, energy in (("yolo5", "YOLO-5", 912.5), ("unet", "Improved UNet", -300.25)):
        text = f"{title} Training Time: 1.5 min\n{title} Energy Consumed: {energy} Joules\n"
        put(raw / f"{name}_results.txt", text)
    assert main(["add", str(raw), "--lake", str(lake)]) == 0
    found = query(lake, "SELECT duration_s, energy_j FROM runs ORDER BY file")
    assert [(*row.values(),) for row in found] == [(90.0, None), (90.0, 912.5)]
    with open_lake(lake) as opened:
        words = unread_words(LakeView(opened), Selection())
    begin = "1 value was left out: unet_results.txt: energy_j is -300.25, below 0"
    assert words.startswith(begin)


def test_a_row_with_a_cost_below_zero_beside_others_is_left_out_and_told(tmp_path: Path) -> None:
    lines = [
        f"{n // 6 + 1},{n % 6},{50 + n - 80 * (n == 7)}.5,{9 + n * 7 % 5}.25" for n in range(24)
    ]
    put(tmp_path / "raw" / "runs.csv", "\n".join(["threads,rep,energy_j,runtime_s", *lines]))
    assert main(["add", str(tmp_path / "raw"), "--lake", str(tmp_path / "lake")]) == 3
    with open_lake(tmp_path / "lake") as opened:
        assert opened.polars("SELECT count(*) AS n FROM runs")["n"].item() == 23
        words = unread_words(LakeView(opened), Selection())
    assert words == "1 row was left out: runs.csv: energy_j '-23.5' is out of range."

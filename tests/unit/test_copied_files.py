"""Files that a person or a program copied count once; those that only share a name do not."""

from pathlib import Path

import pytest

from ingest.settings.copy_names import are_numbered, has_mark_of_copy
from tests.fixtures.ingest import details, ingest, put, query


def sweep(seed: int) -> str:
    """Return a table of 4 runs: two thread counts, two clocks."""
    rows = (
        f"{threads},{clock},{(100 + seed) / threads + clock / 77:.4f},{(9 + seed) / threads:.5f}"
        for threads in (1, 2)
        for clock in (1200, 2400)
    )
    return "\n".join(("threads,freq_mhz,energy_j,time_s", *rows)) + "\n"


A, B, C = (sweep(seed) for seed in (1, 2, 3))


@pytest.mark.parametrize(
    ("files", "runs", "copies"),
    [
        ({"runs.csv": A, "runs copy.csv": A}, 4, ["runs copy.csv"]),
        ({"runs.csv": A, "runs (1).csv": A}, 4, ["runs (1).csv"]),
        # The pattern of copies does not fit the name of the file.
        (
            {"runs.csv": A, "runs copy.csv": A, "runs copy 2.csv": A, "runs (1).csv": A},
            4,
            ["runs (1).csv", "runs copy 2.csv", "runs copy.csv"],
        ),
        ({"runs (1).csv": A, "runs (2).csv": A}, 4, ["runs (2).csv"]),
        ({"runs.csv": A, "runs (1).csv": A[: A.rindex("\n", 0, -1)]}, 4, ["runs (1).csv"]),
        # Other rows are more runs, and the number in the name is no setting.
        ({"runs.csv": A, "runs (1).csv": B, "runs (2).csv": C}, 12, []),
        ({"runs.csv": A, "runs_2.csv": B, "runs_3.csv": C}, 12, []),
        ({"runs.csv": A, "runs copy.csv": A, "runs (1).csv": B}, 8, ["runs copy.csv"]),
    ],
)
def test_a_copy_counts_once_and_is_named(
    files: dict[str, str], runs: int, copies: list[str], lake: Path, tmp_path: Path
) -> None:
    for name, text in files.items():
        put(tmp_path / "raw" / name, text)
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    assert query(lake, "SELECT count(*) AS n FROM runs") == [{"n": runs}]
    assert not any("from the path" in each for each in details(report, "guessed_columns"))
    said = [p.path for p in report.problems if p.problem.kind == "identical_row"]
    joined = [name for name in files for each in details(report, "joined_table") if name in each]
    assert sorted([*(path.rpartition("/")[2] for path in said), *joined]) == copies


def test_copies_of_several_files(lake: Path, tmp_path: Path) -> None:
    """The file of each name is kept, and the machine that it names."""
    files = {"a100.csv": A, "a100 copy.csv": A, "h100.csv": B, "Copy of h100.csv": B}
    for name, text in files.items():
        put(tmp_path / "raw" / name, text)
    ingest(lake, tmp_path / "raw", is_proposing=True)
    counts = query(lake, "SELECT machine, count(*) AS n FROM runs GROUP BY ALL ORDER BY 1")
    assert counts == [{"machine": "a100", "n": 4}, {"machine": "h100", "n": 4}]


@pytest.mark.parametrize(
    ("file", "other", "runs"),
    [
        # What ran is called `backup` or `archive`, and has the coarse numbers of another program.
        ("restore.csv", "backup.csv", 7),
        ("results/compress/power.csv", "results/archive/power.csv", 7),
        ("results/power.csv", "backup/power.csv", 4),
    ],
)
def test_a_program_called_backup_is_no_copy(
    file: str, other: str, runs: int, lake: Path, tmp_path: Path
) -> None:
    coarse = "threads,power_w,time_s\n1,35,12\n2,50,7\n4,70,4\n"
    put(tmp_path / "raw" / file, coarse + "8,90,3\n")
    put(tmp_path / "raw" / other, coarse)
    ingest(lake, tmp_path / "raw", is_proposing=True)
    assert query(lake, "SELECT count(*) AS n FROM runs") == [{"n": runs}]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("fft|fft (1)|fft (2)", True),
        ("runs|runs_2|runs-3", True),
        ("runs|runs - Copy (2)", True),
        # A number behind a word that says something may be set, and so may one that counts nothing.
        ("vit|vit_2", False),
        ("runs|runs_100", False),
        ("runs_1|runs_2", False),
        ("fft|lu (1)", False),
    ],
)
def test_names_that_are_numbered(names: str, expected: bool) -> None:
    assert are_numbered(names.split("|")) is expected


@pytest.mark.parametrize("path", ["a copy.csv", "a (1).csv", "Copy of a.csv", "backup/a.csv"])
def test_marks_of_copies(path: str) -> None:
    assert has_mark_of_copy(path)
    assert not has_mark_of_copy("a.csv")

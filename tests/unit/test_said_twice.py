"""What paths say that rows say too is one column."""

import json
from pathlib import Path

from data.connection import open_lake
from tests.fixtures.ingest import ingest, put, runs

LANGUAGES = {"C": 2.5, "Rust": 2.75, "Java": 4.5}
PROGRAMS = ("trees", "n-body")


def columns(lake: Path, raw: Path) -> set[str]:
    ingest(lake, raw, is_proposing=True)
    with open_lake(lake) as opened:
        return {name.removeprefix("c_") for name in opened.catalogue.knobs} & {*runs(lake)[0]}


def test_folders_and_files_of_what_each_row_names(lake: Path, tmp_path: Path) -> None:
    for language, joules in LANGUAGES.items():
        for program in PROGRAMS:
            rows = "".join(f"{language},{program},{joules * n},{n}.5\n" for n in (1, 2, 3))
            path = tmp_path / "raw" / language.lower() / f"{program}.csv"
            put(path, f"language,benchmark,energy_j,time_s\n{rows}")
    own = {name for name in columns(lake, tmp_path / "raw") if "lang" in name or "bench" in name}
    assert own == {"language", "benchmark"}
    assert not {name for name in runs(lake)[0] if "_of_path" in name or name == "file"}


def test_names_of_documents_in_another_spelling(lake: Path, tmp_path: Path) -> None:
    for machine in ("Board X 4", "Mini-PC", "Tower"):
        entry = {"machine": machine, "runs": [{"threads": n, "energy_j": 9.5 / n} for n in (1, 2)]}
        name = machine.lower().replace(" ", "_").replace("-", "_")
        put(tmp_path / "raw" / f"{name}.json", json.dumps(entry))
    ingest(lake, tmp_path / "raw", is_proposing=True)
    assert {row["machine"] for row in runs(lake)} == {"Board X 4", "Mini-PC", "Tower"}
    assert "file" not in runs(lake)[0]


def test_folders_that_say_more_than_the_rows(lake: Path, tmp_path: Path) -> None:
    for folder in ("gcc", "clang", "icc"):
        rows = "".join(f"{c},{p},{n}.5\n" for n, p in enumerate(PROGRAMS) for c in ("gcc", "clang"))
        put(tmp_path / "raw" / folder / "r.csv", f"compiler,benchmark,energy_j\n{rows}")
    assert {"compiler", "compiler_of_path"} <= columns(lake, tmp_path / "raw")


def test_numbered_folders_of_one_configuration_are_repetitions(lake: Path, tmp_path: Path) -> None:
    for n in range(1, 5):
        folder = tmp_path / "raw" / f"exp{n}"
        put(folder / "config.json", json.dumps({"model": "net", "batch": 8 if n < 3 else 16}))
        put(folder / "results.json", json.dumps({"energy_j": 90.5 + n, "time_s": 9.5}))
    assert "exp" not in columns(lake, tmp_path / "raw")
    found = {(r["batch"], r["replicate"], r["model"], r["energy_j"]) for r in runs(lake)}
    assert found == {(8, 0, "net", 91.5), (8, 1, "net", 92.5), (16, 0, "net", 93.5),
                     (16, 1, "net", 94.5)}  # fmt: skip


def test_named_folders_of_one_configuration_stay_apart(lake: Path, tmp_path: Path) -> None:
    for n, name in enumerate(("plain", "tuned", "folded")):
        put(tmp_path / "raw" / name / "config.json", json.dumps({"model": "net", "batch": 8}))
        put(tmp_path / "raw" / name / "r.json", json.dumps({"energy_j": 90.5 + n, "time_s": 9.5}))
    ingest(lake, tmp_path / "raw", is_proposing=True)
    assert {row["replicate"] for row in runs(lake)} == {0}

"""A person corrects what `add` guessed, by a command: it is read again, kept and told."""

import shutil
import tomllib
from itertools import product
from pathlib import Path

import pytest

from app.kit.context import Lakes
from app.kit.words import guessed_words
from data.connection import open_lake
from data.selection import Selection
from ingest.__main__ import main
from ingest.lake.proposals import read_proposals
from ingest.proposals.corrections import corrected_again
from tests.fixtures.ingest import tuples
from tests.fixtures.raw_runs import write_files

SORTS = """coder,clock (MHz),power,runtime,note
quick,1200,20.5 W,2.000,a
quick,2400,41.0 W,1.000,b
merge,1200,10.0 W,4.000,c
merge,2400,22.0 W,2.500,d
"""
PARTS = [
    f"{coder},{level},{10.125 + level * n + len(coder)},{2.25 + n / 7 + level}"
    for n, (coder, level) in enumerate(product(("go", "rust"), (1, 5)))
]
CODES = "\n".join(["coder,level,energy_j,time_s", *PARTS, ""])
COSTS = "SELECT clock, duration_s, energy_j FROM runs WHERE dataset = 'sorts' ORDER BY ALL"


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two studies with a column of one name; of one a part of the paths is taken for a setting."""
    folder = tmp_path_factory.mktemp("guessed")
    write_files(folder, {"sorts/t.csv": SORTS, "codes/arc.csv": CODES})
    write_files(folder, {"codes/lru.csv": CODES.replace("1", "3")})
    for name in ("sorts", "codes"):
        assert main(["add", str(folder / name), "--lake", str(folder / "lake")]) == 0
    return folder


@pytest.fixture
def lake(added: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(added / "lake", tmp_path / "lake"))


def correct(lake: Path, *words: str) -> int:
    return main(["correct", *words, "--lake", str(lake)])


def test_a_unit_and_roles_are_corrected_at_once_and_kept(
    lake: Path, added: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """20.5 W in 2 ms are 41 mJ; what another dataset calls `coder` stays."""
    said = guessed_words(Lakes(lake).at(None), Selection.of())
    assert f"To correct it: python -m ingest correct coder=label --lake {lake}, " in said
    assert "or runtime=ms of a guessed unit, or --confirm if all is right." in said
    words = ["runtime=ms", "coder=given", "clock=label"]
    assert correct(lake, *words, "--dataset", "sorts") == 0
    said = capsys.readouterr().out
    assert "runtime of t.csv: was measured: runtime (duration_s taken as s), now ms\n" in said
    assert "corrected by hand: runtime (ms), coder (given), clock (MHz) (label)\n" in said
    assert "runs: 4 added, 4 removed" in said
    costs = [(1200, 0.002, 0.041), (1200, 0.004, 0.04), (2400, 0.001, 0.041), (2400, 0.0025, 0.055)]
    assert tuples(lake, COSTS) == [pytest.approx(each) for each in costs]
    with open_lake(lake) as opened:
        roles = {c.name: (c.role, c.is_given) for c in opened.columns}
        assert opened.catalogue.metric("duration_s").axis_title == "Time, s (less is better)"
    assert roles["coder_of_sorts"] == ("knob", True)
    assert roles["coder"] == ("knob", False)
    assert roles["clock"] == ("label", False)
    said = guessed_words(Lakes(lake).at(None), Selection.of(dataset=["sorts"]))
    assert said.startswith("No column was guessed to be set. To correct it: ")
    assert main(["problems", "--lake", str(lake)]) == 0
    said = capsys.readouterr().out
    assert "doubted_unit" not in said
    assert "if clock" not in said
    assert main(["add", str(added / "sorts"), "--lake", str(lake)]) == 0
    assert "runs: 4 already there" in capsys.readouterr().out
    (kept,) = (each for each in read_proposals(lake) if each.root.endswith("sorts"))
    assert "runtime = { to = 'duration_s', scale = 0.001 }  # corrected by hand" in kept.text
    # A later version that proposes again keeps it.
    (first,) = (each for each in read_proposals(added / "lake") if each.root == kept.root)
    columns = tomllib.loads(corrected_again(first.text, kept.text))["tables"][0]["columns"]
    assert columns["runtime"] == {"to": "duration_s", "scale": 0.001}
    assert columns["clock (MHz)"] == {"name": "clock", "role": "label", "unit": "MHz"}


def test_each_version_of_a_lake_says_what_was_guessed_and_corrected(lake: Path) -> None:
    with open_lake(lake) as guessed:
        assert guessed.about["sorts"]["instead"] == "runtime=ms"
    assert correct(lake, "runtime=ms", "clock=given") == 0
    assert correct(lake, "clock=GHz") == 0
    with open_lake(lake) as corrected, open_lake(lake, guessed.version) as before:
        assert before.about == guessed.about
        said = corrected.about["sorts"]
    assert said == {"corrected": "clock\nclock (MHz)\nruntime"}
    (kept,) = (each.text for each in read_proposals(lake) if each.root.endswith("sorts"))
    (entry,) = tomllib.loads(kept)["tables"]
    assert entry["corrected"] == {"runtime": "ms", "clock (MHz)": "given, GHz"}
    assert entry["guessed"].endswith("; corrected by hand: runtime (ms), clock (MHz) (given, GHz)")


def test_what_was_guessed_is_confirmed(lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No unit of the dataset is doubted, and pages recommend its settings; others stay guessed."""
    assert correct(lake, "--confirm") == 1
    assert "guesses in codes, sorts: say which by --dataset" in capsys.readouterr().err
    before = tuples(lake, COSTS)
    assert correct(lake, "--confirm", "--dataset", "sorts") == 0
    said = capsys.readouterr().out
    assert "sorts: what was guessed is right, also of later files with these headings" in said
    assert tuples(lake, COSTS) == before
    with open_lake(lake) as opened:
        assert opened.guessed == {"codes"}
        assert "instead" not in opened.about.get("sorts", {})
        assert opened.catalogue.metric("duration_s").axis_title == "Time, s (less is better)"
    assert guessed_words(Lakes(lake).at(None), Selection.of(dataset=["sorts"])) == ""
    (kept,) = (each.text for each in read_proposals(lake) if each.root.endswith("sorts"))
    assert "confirmed = true" in kept
    assert "Remove the next line" not in kept
    assert main(["problems", "--lake", str(lake)]) == 0
    assert "sorts" not in capsys.readouterr().out
    # A correction of later leaves the rest confirmed; names of files are confirmed as tables are.
    assert correct(lake, "runtime=ms", "--dataset", "sorts") == 0
    assert correct(lake, "--confirm", "--dataset", "codes") == 0
    with open_lake(lake) as opened:
        assert not opened.guessed
        assert opened.polars("SELECT max(duration_s) AS s FROM runs WHERE dataset = 'sorts'")[
            "s"
        ].to_list() == [0.004]


def test_what_an_older_proposal_has_as_comments_is_corrected_again(added: Path) -> None:
    (text,) = (each.text for each in read_proposals(added / "lake") if each.root.endswith("sorts"))
    older = text.replace("\n\n", "\n# Corrected: clock (MHz)=label\n# Corrected: runtime=ms\n\n", 1)
    entry = tomllib.loads(corrected_again(text, older))["tables"][0]
    assert entry["corrected"] == {"clock (MHz)": "label", "runtime": "ms"}
    assert entry["columns"]["runtime"] == {"to": "duration_s", "scale": 0.001}


def test_a_part_of_paths_is_a_label_or_a_column_of_the_lake(
    lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files of one setting are runs of it; a number of repetitions is no setting."""

    def knobs() -> set[str]:
        with open_lake(lake) as opened:
            return {column.name for column in opened.columns if column.role == "knob"}

    assert correct(lake, "file=label") == 0
    assert knobs() == {"coder", "clock", "level_whole"}
    assert correct(lake, "file=knob", "level=replicate") == 0
    assert knobs() >= {"coder", "clock", "file"}
    assert correct(lake, "file=machine") == 0
    sql = "SELECT DISTINCT machine, replicate FROM runs WHERE dataset = 'codes' ORDER BY ALL"
    assert tuples(lake, sql) == [("arc", 1), ("arc", 5), ("lru", 3), ("lru", 5)]
    capsys.readouterr()
    assert main(["propose", "--lake", str(lake)]) == 0
    assert "level = 'replicate'  # corrected by hand\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["codr=knob"], "no guess of a column 'codr'; there is coder"),
        (["coder=label"], "coder in codes, sorts: say which by --dataset"),
        (["note=metric"], "note of t.csv has texts: it is no metric"),
        (["runtime=mJ"], "runtime of t.csv cannot be duration_s in mJ: duration_s is in s"),
        (["runtime=more"], "runtime of t.csv goes to duration_s, whose direction is known"),
        (["coder=label", "clock=label", "--dataset", "sorts"], "nothing would tell its 4 runs"),
        (["power=duration_s"], "power and runtime of t.csv would both be duration_s"),
        (["note=replicate"], "note of t.csv has texts: it is no replicate"),
        (["energy_j=power_w"], "energy_j of arc.csv cannot be power_w in J"),
        (["level=duration_s"], "level and time_s of arc.csv would both be duration_s"),
        (["file=metric"], "file is a part of paths: it is set or a label, no metric"),
        (["clock=label", "--table", "arc"], "no guess of a column 'clock' in a table 'arc'"),
        ([], "nothing to correct: say COLUMN=WORD, or --confirm if all is right"),
        (["clock=label", "--dataset", "sort"], "the lake has no dataset 'sort', only codes, sorts"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_changes(
    words: list[str], why: str, added: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = [each.text for each in read_proposals(added / "lake")]
    assert correct(added / "lake", *words) == 1
    assert why in capsys.readouterr().err
    assert [each.text for each in read_proposals(added / "lake")] == before


def test_files_that_are_gone_and_settings_of_a_person_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study, lake = tmp_path / "sorts", tmp_path / "lake"
    write_files(study, {"a/t.csv": SORTS})
    assert correct(lake, "coder=label") == 1
    assert main(["add", str(study), "--lake", str(lake)]) == 0
    write_files(study, {"wattlas.toml": '[columns.size]\nrole = "metric"\n'})
    assert correct(lake, "coder=label") == 1
    (study / "wattlas.toml").unlink()
    (study / "a/t.csv").unlink()
    assert correct(lake, "coder=label") == 1
    no_lake, written, gone = capsys.readouterr().err.splitlines()
    assert "no lake at" in no_lake
    assert f"stand in {study}/wattlas.toml: edit it, and add again" in written
    assert f"1 of 1 files of sorts are gone, such as {study}/a/t.csv: put them back" in gone
    with pytest.raises(SystemExit):
        correct(lake, "coder=setting")
    assert "'setting' of 'coder' is no role (knob, given, metric" in capsys.readouterr().err

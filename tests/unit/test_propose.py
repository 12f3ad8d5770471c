"""`ingest propose`: names to patterns, heads of tables to declarations, `add` without editing."""

import tomllib
from pathlib import Path

import pytest

from data.connection import open_lake
from ingest.__main__ import main
from ingest.proposals.shapes import FoundFile, Shape, shapes_of
from ingest.propose import propose
from ingest.settings.loading import load_settings
from tests.fixtures.real import studies


def shapes(*paths: str, form: str = "mutilate", role: str = "output") -> list[Shape]:
    found = shapes_of(FoundFile(path, 9) for path in paths)
    for shape in found:
        is_perf = "PerfStat" in shape.example
        shape.form, shape.role = ("perf_stat", "counts") if is_perf else (form, role)
    return found


def patterns_of(*paths: str) -> list[str]:
    text = propose(shapes(*paths), paths, "d")
    return [entry["pattern"] for entry in tomllib.loads(text)["names"]]


def test_numbers_in_paths_are_named_by_the_word_before() -> None:
    assert patterns_of("xeon/ring4k/qps100_iter0.out", "xeon/ring64k/qps200_iter1.out") == [
        r"xeon/ring(?P<request_bytes>\d+[kKmMgG]?(?:i?[bB])?)/"
        r"qps(?P<load_qps>\d+)_iter(?P<replicate>\d+)\.out"
    ]
    assert patterns_of("a/f0x1d00_itr50_x7_z1", "a/f0xc00_itr60_x7_z2") == [
        r"a/f(?P<dvfs>0[xX][0-9a-fA-F]+)_itr(?P<itr>\d+)_x7_z(?P<z>\d+)"
    ]


def test_machines_systems_and_counts_belong_to_outputs() -> None:
    paths = [
        f"{machine}/mcd/{name}"
        for machine in ("c220g1", "c220g5")
        for name in ("mcd_qps5_iter0.out", "PerfStat.mcd_qps5_iter0", "PerfStat.Overhead.iter0")
    ]
    text = propose(shapes(*paths), paths, "d")
    names = tomllib.loads(text)["names"]
    assert [(entry["set"]["machine"], entry["system"]) for entry in names] == [
        ("c220g1", "mcd"), ("c220g1", "mcd"), ("c220g5", "mcd"), ("c220g5", "mcd")
    ]  # fmt: skip
    assert text.count("PerfStat.Overhead.iter0: of which runs?") == 2


def test_outputs_that_differ_in_words_are_one_pattern() -> None:
    paths = ["run-a-sort_x.txt", "run-b-b-sort_y.txt", "run-c-sort_x.txt"]
    text = propose(shapes(*paths, form="trace", role="trace"), paths, "d")
    (entry,) = tomllib.loads(text)["names"]
    assert entry["pattern"] == r"run-(?P<file>[^/_]+?)-sort_(?P<file_2>[^/\-_]+?)\.txt"
    assert set(tomllib.loads(text)["columns"]) == {"file", "file_2"}


def test_what_each_log_states_is_no_setting_of_its_name() -> None:
    paths = [
        f"stress_{name}_{n}workers_run{r}.txt"
        for name in ("a", "b")
        for n in (1, 2)
        for r in (1, 2)
    ]
    for stated, own in (({"a", "b", "1", "2"}, set()), ({"a", "b"}, {"workers"})):
        text = propose(
            shapes(*paths, form="stress_ng"), paths, "d", stated=lambda *_, known=stated: known
        )
        (entry,) = tomllib.loads(text)["names"]
        assert entry["pattern"].count("(?P<variant>") == 1
        assert set(tomllib.loads(text).get("columns", {})) == own


@pytest.mark.parametrize(
    ("part", "given"),
    [("gpu", {"file": False, "file_2": True}), ("old", {"file": True, "variant_text": False})],
)
def test_powers_of_parts_of_a_machine_are_no_rivals(part: str, given: dict[str, bool]) -> None:
    paths = [f"{name}_power_{of}.csv" for name in ("copy", "sort") for of in ("cpu", part)]
    text = propose(shapes(*paths, form="trace", role="trace"), paths, "d")
    columns = tomllib.loads(text)["columns"]
    assert {name: "given" in each for name, each in columns.items()} == given


def test_shipped_names_need_no_pattern() -> None:
    text = propose(shapes("linux_mcd_qps200000_iter0.out"), [], "d")
    assert "names" not in tomllib.loads(text)


@pytest.mark.real
def test_a_study_of_another_group_is_in_the_lake_without_editing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Means by hand: ../shared/studies/README.md. 24 + 13 + 48 + 18 outputs are not empty."""
    source, file, lake = studies() / "cloudlab", tmp_path / "wattlas.toml", tmp_path / "lake"
    assert main(["propose", str(source), "-o", str(file)]) == 0
    load_settings(file)
    assert main(["add", str(source), "--settings", str(file), "--lake", str(lake)]) == 3
    out = capsys.readouterr().out
    assert "runs: 103 added" in out
    refused = [line.split(",")[0] for line in out.splitlines() if line.startswith("refused")]
    assert refused == ["refused: 12 times no_output", "refused: 2 times empty_file"]
    with open_lake(lake) as opened:
        means = opened.polars(
            "SELECT machine, system, load_qps, count(*), avg(latency_p99_us), "
            "avg(instructions_per_s) FROM runs WHERE series IS NULL GROUP BY ALL"
        )
        power = opened.polars("SELECT avg(power_w) FROM runs WHERE system = 'linux_silo'")
    found = {row[:3]: row[3:] for row in means.rows()}
    by_hand = {
        ("linux_mcd", 200_000): (4, 115.35), ("linux_mcd", 400_000): (4, 118.70),
        ("linux_mcd", 1_000_000): (4, 1156.775), ("linux_silo", 300_000): (4, 712.775),
        ("mcd", 1_000_000): (4, 96.05), ("mcd", 1_800_000): (3, 96.30),
        ("mcd", 2_600_000): (2, 105.40), ("silo", 400_000): (4, 434.35),
    }  # fmt: skip
    for (system, load), (n, p99) in by_hand.items():
        assert found["c220g1", system, load][:2] == (n, pytest.approx(p99))
    # 442,960,505,806 instructions of all 45 s, 4 runs: 9.8 billion a second.
    assert found["c220g1", "linux_mcd", 400_000][2] == pytest.approx(9.82e9, rel=0.01)
    assert 50 < power.item() < 70

"""Every benchmark runs on a small input, and its lines can be read by a machine."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from app.kit.paper.child import made
from app.kit.paper.options import Options
from app.pages import PAGES
from bench import paper
from bench.__main__ import BENCHES, build_parser, main
from bench.report import Floor, Measurement, quantile
from data.sandbox.landlock import landlock_version
from tests.fixtures.ingest import put
from tests.test_architecture import ROOT

KEYS = {"name", "value", "unit", "n", "limit", "ok"}
Lines = dict[str, dict[str, Any]]
Run = Callable[..., Lines]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a benchmark; return its lines by name, each name once."""

    def run(*arguments: object) -> Lines:
        assert main([*map(str, arguments), "--json"]) == 0
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert all(set(line) == KEYS for line in lines)
        by_name = {line["name"]: line for line in lines}
        assert len(by_name) == len(lines)
        return by_name

    return run


def test_every_benchmark_of_the_registry_is_documented() -> None:
    text = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
    for name, (_, options) in BENCHES.items():
        (section,) = (part for part in text.split("\n## ")[1:] if part.startswith(f"{name}\n"))
        for option in options:
            assert f"`--{option.name.replace('_', '-')}" in section, f"{name}: {option.name}"


def test_options_take_the_type_of_their_default() -> None:
    parse = build_parser().parse_args
    given = parse(["scale", "--workers", "2", "8", "--runs", "3"])
    assert (given.workers, given.runs, given.json) == ([2, 8], 3, False)
    given = parse(["timeline", "--no-long", "--folder", "lakes"])
    assert (given.no_long, given.folder, given.zooms) == (True, Path("lakes"), 40)
    assert parse(["models", "--events", "1e6"]).events == 1e6


def test_a_missed_limit_is_said() -> None:
    missed = Measurement("first_load_median", 3100.0, "ms", 5, 3000.0)
    assert missed.to_text().endswith("MISSED")
    assert json.loads(missed.to_json())["ok"] is False
    assert "MISSED" not in Measurement("first_load_max", 3100.0, "ms", 5).to_text()
    assert Floor("raw_to_lake", 7.0, "x", 1, 8.0).ok is False


def test_quantile_is_an_observation() -> None:
    # 20 values 1..20: 95 % of them are 1..19.
    assert quantile(list(range(1, 21)), 0.95) == 19
    assert quantile([5.0], 0.95) == 5.0


def test_decisions_are_simulated(run: Run) -> None:
    lines = run("decisions", "--sweeps", 4)
    assert len(lines) == 5 * 2 * 4 + 5 * 3 + 1
    assert lines["best_missed_n3_spread"]["n"] == 4
    assert lines["false_win_mixed"]["limit"] == 5


@pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")
def test_the_sandbox_is_measured(run: Run) -> None:
    lines = run("sql", "--queries", 2, "--runs", 50)
    assert lines["sql_overhead_p95"]["limit"] == 60
    assert lines["sql_sandbox_p95"]["value"] > 0


@pytest.mark.slow
@pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")
def test_questions_over_many_logged_runs_are_measured(run: Run) -> None:
    lines = run("logs", "--runs", 20, "--repeats", 2)
    assert lines["logs_map_warm_p95"]["limit"] == 200
    assert lines["logs_sandbox_histograms_p95"]["n"] == 2
    assert lines["logs_odd_p95"]["value"] > 0


@pytest.mark.slow
def test_explore_is_measured_on_a_small_lake(run: Run) -> None:
    lines = run("explore", "--runs", 300, "--changes", 6, "--loads", 0, "--selections", 0)
    change = lines["filter_change_p95"]
    assert (change["unit"], change["n"], change["limit"]) == ("ms", 6, 100)
    assert change["ok"] is (change["value"] <= 100)
    assert 0 < lines["filter_change_median"]["value"] <= lines["filter_change_max"]["value"]
    assert lines["filter_change_calls_median"]["limit"] == 1500
    assert lines["filter_change_calls_median"]["value"] > lines["filter_change_files_max"]["value"]
    assert lines["filter_change_files_max"]["value"] > 5
    assert lines["worker_memory"]["limit"] == 400
    assert lines["worker_memory"]["value"] > 20
    assert lines["compute_scatter_p95"]["ok"] is None


@pytest.mark.slow
def test_the_pages_on_many_studies_are_measured(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.large.STORAGE_CONFIGURATIONS", (2, 3, 2))
    arguments = ["large", "--studies", 2, "--runs", 600, "--changes", 3, "--folder", tmp_path]
    assert "large_write" in run(*arguments)
    lines = run(*arguments)
    # The second one took the lake that the first one left.
    assert "large_write" not in lines
    runs = 3 * 3 * 2 * 2 * 3 * 2 + 4 * 2
    assert lines["large_runs"]["value"] == runs + 2 * 600
    assert lines["large_filter_change_p95"]["n"] == 3
    assert lines["large_other_study_p95"]["n"] == 1
    assert lines["large_memory_peak"]["value"] >= lines["large_memory"]["value"] > 20


@pytest.mark.slow
def test_the_map_of_winners_is_measured(run: Run) -> None:
    lines = run("modes", "--sizes", 4, "--depths", 3, "--replicates", 3)
    assert lines["modes_runs"]["value"] == 3 * 4 * 3 * 3
    question = lines["modes_new_question_p95"]
    assert (question["unit"], question["limit"]) == ("ms", 500)
    assert question["n"] > 10
    assert 0 < lines["modes_new_rules_median"]["value"] <= lines["modes_new_rules_p95"]["value"]
    assert lines["modes_worker_memory"]["limit"] == 400


@pytest.mark.slow
def test_the_pictures_of_storage_are_measured(run: Run) -> None:
    arguments = ["--sizes", 1, "--depths", 3, "--replicates", 2, "--selections", 0]
    lines = run("storage", *arguments)
    # 3 modes, 3 devices, reading and writing, 3 depths
    assert lines["storage_configurations"]["value"] == 3 * 3 * 2 * 3
    assert lines["storage_runs"]["value"] == 2 * lines["storage_configurations"]["value"]
    change = lines["storage_new_filters_p95"]
    assert (change["unit"], change["limit"], change["n"]) == ("ms", 500, 12)
    assert lines["storage_new_place_median"]["value"] > 0
    assert lines["storage_worker_memory"]["limit"] == 400


@pytest.mark.slow
def test_windows_are_measured_on_short_runs(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.timeline.RUN_SECONDS", 0.2)
    monkeypatch.setattr("bench.timeline.MOST_RUNS", 2)
    arguments = ["timeline", "--zooms", 2, "--browser", 0, "--folder", tmp_path / "lakes"]
    lines = run(*arguments)
    assert (lines["run_p95"]["limit"], lines["run_p95"]["n"]) == (25, 2 * 5)
    assert 0 < lines["run_0.1%_median"]["value"] <= lines["run_0.1%_p95"]["value"]
    assert lines["long_by_run"]["limit"] == 1.3
    interrupts = lines["long_interrupts"]["value"] / lines["run_interrupts"]["value"]
    assert interrupts == pytest.approx(10, rel=0.2)
    for name in ("bytes_one_run_max", "bytes_six_runs_max"):
        assert 1 < lines[name]["value"] < lines[name]["limit"] == 300
    # The raw logs are gone, the lakes are kept and taken again.
    assert sorted(path.name for path in (tmp_path / "lakes").iterdir()) == ["lake", "long"]
    assert "long_p95" not in run(*arguments, "--no-long")


@pytest.mark.slow
def test_a_lake_in_a_store_is_measured_beside_one_in_a_folder(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.store.RUN_SECONDS", 0.3)
    lines = run("store", "--server", "moto", "--zooms", 1, "--changes", 0)
    ratio = lines["window_p95_store_by_folder"]
    assert ratio["value"] > 0
    assert ratio["limit"] == 3
    assert lines["window_5%_p95"]["n"] == lines["store_window_5%_p95"]["n"] == 1


@pytest.mark.slow
@pytest.mark.browser
def test_many_visitors_for_a_minute_get_all_their_answers(logged_lake: Path) -> None:
    """No times: other tests have the second core. In a process of its own, as Playwright wants."""
    options = ["--users=10", "--minutes=1", "--moves=2", f"--lake={logged_lake}", "--json"]
    command = [sys.executable, "-m", "bench", "load", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = {line["name"]: line for line in map(json.loads, done.stdout.splitlines())}
    assert lines["load_failures"]["value"] == 0, done.stderr[-2000:]
    assert lines["load_failures"]["n"] > 100


@pytest.mark.slow
@pytest.mark.browser
def test_first_pictures_and_the_heap_of_a_tab_are_measured(logged_lake: Path) -> None:
    options = ["--loads=1", "--turns=3", f"--lake={logged_lake}", "--json"]
    command = [sys.executable, "-m", "bench", "pages", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = {line["name"]: line for line in map(json.loads, done.stdout.splitlines())}
    assert {f"{page.name}_cold_median" for page in PAGES} <= set(lines)
    assert lines["lake_warm_median"]["value"] > 0.1
    assert lines["explore_cold_bytes"]["value"] > 0.3
    # Pages that were left are not held: their pictures listened to the window.
    assert lines["pages_nodes_growth"]["ok"]
    assert lines["pages_listeners_growth"]["ok"]


@pytest.mark.slow
def test_the_simulator_is_measured(run: Run) -> None:
    lines = run("models", "--slider", 0, "--repeats", 1, "--events", "1e6")
    assert lines["models_customers_rate"]["value"] > 0.1
    assert lines["models_event_time_two_threads"]["limit"] == 50
    assert lines["models_figure_7"]["limit"] == 20
    assert lines["models_analytic_curves_python"]["value"] > 1


@pytest.mark.slow
def test_ingest_is_measured_on_a_short_run(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.ingest._SECONDS", 0.2)
    lines = run("ingest", "--rounds", 1, "--resume-files", 40)
    assert lines["ours_rate"]["value"] > 0
    assert lines["raw_to_lake"]["limit"] == 8
    assert 20 < lines["one_run_process_memory"]["value"] < 1000
    assert lines["resume_scan_files"]["value"] == 40
    for name in ("resume_scan", "resume_scan_storage"):
        resume = lines[name]
        assert (resume["unit"], resume["limit"], resume["n"]) == ("s", 10.0, 3)
        assert 0 < lines[f"{name}_cpu"]["value"] < resume["value"] * 2
        assert 20 < lines[f"{name}_memory"]["value"] < 400
    assert lines["propose"]["limit"] == lines["propose_storage"]["limit"] == 30


@pytest.mark.cluster
def test_an_add_on_a_cluster_is_measured(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("_ROUNDS", 1), ("_NOTHINGS", 20), ("_GROWN_COMMITS", 3)):
        monkeypatch.setattr(f"bench.scale.{name}", value)
    monkeypatch.setattr("bench.ingest._SECONDS", 0.5)
    lines = run("scale", "--runs", 2, "--workers", 2)
    assert lines["cluster_2_workers_rate"]["value"] > 0
    assert 0 <= lines["cluster_2_workers_idle"]["value"] <= 100
    assert any(name.startswith("simulated_100_workers_of_linear") for name in lines)


@pytest.mark.slow
def test_studies_are_added_as_they_are(run: Run, tmp_path: Path) -> None:
    rows = "".join(f"{p},{t},{60 + t}.5,{20 / t:.2f}\n" for p in "ab" for t in (1, 2, 4))
    put(tmp_path / "caps" / "sweep.csv", f"program,threads,energy_j,time_s\n{rows}")
    put(tmp_path / "loads" / "sweep.csv", "threads,power_w\n1,20.5\n2,30.5\n4,50.25\n")
    lines = run("studies", "--studies", tmp_path / "caps", tmp_path / "loads")
    assert lines["caps: energy against time"]["value"] == 6
    assert lines["loads: power over thread count"]["value"] == 3
    assert lines["caps_add"]["limit"] == lines["caps_first_look"]["limit"] == 600
    assert lines["loads_edits"]["value"] == 0


def test_paper(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    class Here:
        """Draws in this process, which loads Matplotlib once for all files."""

        def file_of(self, figure: Any, size_px: Any, options: Options, caption: str) -> bytes:
            question = {"figure": figure, "size_px": size_px, "options": asdict(options)}
            return made({**question, "caption": caption, "maker": "wattlas"})

    monkeypatch.setattr(paper, "Drawers", Here)
    # `test_paper.py` draws all panels of the timeline.
    monkeypatch.setattr(paper, "_PANELS", 2)
    lines = run("paper", "--points", 30, "--bins", 8, "--repeats", 1)
    assert lines["scatter_svg_size"]["limit"] == 300
    assert lines["timeline_85_pdf_time"]["limit"] == 3
    assert 0 < lines["scatter_pdf_size"]["value"] < 100

"""The benchmark runs, and its lines can be read by a machine."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.report import Measurement, quantile
from bench.resume import measure as measure_resume
from bench.studies import measure as measure_studies
from data.sandbox.landlock import landlock_version

KEYS = {"name", "value", "unit", "n", "limit", "ok"}


@pytest.mark.slow
def test_the_server_part_runs_on_a_small_lake(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--json", "--runs", "300", "--changes", "6", "--loads", "0", "--selections", "0"]
    assert main(["explore", *arguments]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert all(set(line) == KEYS for line in lines)
    by_name = {line["name"]: line for line in lines}
    assert len(by_name) == len(lines)
    change = by_name["filter_change_p95"]
    assert (change["unit"], change["n"], change["limit"]) == ("ms", 6, 100)
    assert change["ok"] is (change["value"] <= 100)
    assert 0 < by_name["filter_change_median"]["value"] <= by_name["filter_change_max"]["value"]
    assert by_name["worker_memory"]["limit"] == 400
    assert by_name["worker_memory"]["value"] > 20
    assert by_name["compute_scatter_p95"]["ok"] is None


@pytest.mark.slow
def test_the_pages_on_many_studies_are_measured(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.large.STORAGE_CONFIGURATIONS", (2, 3, 2))
    sizes = ["--studies", "2", "--runs", "600", "--changes", "3"]
    for _ in range(2):
        assert main(["large", "--json", *sizes, "--folder", str(tmp_path)]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    by_name = {line["name"]: line for line in lines}
    # The second one took the lake that the first one left.
    assert [line["name"] for line in lines].count("large_write") == 1
    runs = 3 * 3 * 2 * 2 * 3 * 2 + 4 * 2
    assert by_name["large_runs"]["value"] == runs + 2 * 600
    assert (by_name["large_filter_change_p95"]["n"], by_name["large_other_study_p95"]["n"]) == (
        3,
        1,
    )
    assert by_name["large_memory_peak"]["value"] >= by_name["large_memory"]["value"] > 20


def test_a_missed_limit_is_said() -> None:
    missed = Measurement("first_load_median", 3100.0, "ms", 5, 3000.0)
    assert missed.to_words().endswith("MISSED")
    assert json.loads(missed.to_json())["ok"] is False
    assert "MISSED" not in Measurement("first_load_max", 3100.0, "ms", 5).to_words()


def test_quantile_is_an_observation() -> None:
    # 20 values 1..20: 95 % of them are 1..19.
    assert quantile(list(range(1, 21)), 0.95) == 19
    assert quantile([5.0], 0.95) == 5.0


@pytest.mark.slow
def test_the_map_of_winners_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--json", "--sizes", "4", "--depths", "3", "--replicates", "3"]
    assert main(["modes", *arguments]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    by_name = {line["name"]: line for line in lines}
    assert by_name["modes_runs"]["value"] == 3 * 4 * 3 * 3
    question = by_name["modes_new_question_p95"]
    assert (question["unit"], question["limit"]) == ("ms", 500)
    assert question["n"] > 10
    assert 0 < by_name["modes_new_rules_median"]["value"] <= by_name["modes_new_rules_p95"]["value"]
    assert by_name["modes_worker_memory"]["limit"] == 400


@pytest.mark.slow
def test_the_pictures_of_storage_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--json", "--sizes", "1", "--depths", "3", "--replicates", "2"]
    assert main(["storage", *arguments, "--selections", "0"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    by_name = {line["name"]: line for line in lines}
    assert all(set(line) == KEYS for line in lines)
    # 3 modes, 3 devices, reading and writing, 3 depths
    assert by_name["storage_configurations"]["value"] == 3 * 3 * 2 * 3
    assert by_name["storage_runs"]["value"] == 2 * by_name["storage_configurations"]["value"]
    change = by_name["storage_new_filters_p95"]
    assert (change["unit"], change["limit"]) == ("ms", 500)
    assert change["n"] == 12
    assert by_name["storage_new_place_median"]["value"] > 0
    assert by_name["storage_worker_memory"]["limit"] == 400


@pytest.mark.slow
@pytest.mark.browser
def test_many_visitors_for_a_minute_get_all_their_answers(logged_lake: Path) -> None:
    """No times: other tests have the second core. In a process of its own, as Playwright wants."""
    command = [
        sys.executable,
        "-m",
        "bench",
        "load",
        "--json",
        "--users=10",
        "--minutes=1",
        "--moves=2",
    ]
    done = subprocess.run(
        [*command, f"--lake={logged_lake}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    by_name = {line["name"]: line for line in lines}
    assert all(set(line) == KEYS for line in lines)
    assert by_name["load_failures"]["value"] == 0, done.stderr[-2000:]
    assert by_name["load_failures"]["n"] > 100


@pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")
def test_the_sandbox_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sql", "--json", "--queries", "2", "--runs", "50"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    by_name = {line["name"]: line for line in lines}
    assert by_name["sql_overhead_p95"]["limit"] == 60
    assert by_name["sql_sandbox_p95"]["value"] > 0


@pytest.mark.slow
def test_the_simulator_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "--slider", "0", "--json", "--repeats", "1", "--events", "1e6"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    by_name = {line["name"]: line for line in lines}
    assert all(set(line) == KEYS for line in lines)
    assert by_name["models_customers_rate"]["value"] > 0.1
    assert by_name["models_event_time_two_threads"]["limit"] == 50
    assert by_name["models_figure_7"]["limit"] == 20
    assert by_name["models_analytic_curves_python"]["value"] > 1


@pytest.mark.slow
def test_an_add_with_nothing_to_do_is_measured(tmp_path: Path) -> None:
    found = {each.name: each for each in measure_studies(tmp_path, 20, 8)}
    assert found["propose"].limit == 30
    assert found["table_declared_share"].value > 0
    found = {each.name: each for each in measure_resume(tmp_path, 40)}
    assert found["resume_scan_files"].value == 40
    for name in ("resume_scan", "resume_scan_storage"):
        assert (found[name].unit, found[name].limit, found[name].n) == ("s", 10.0, 3)
        assert 0 < found[f"{name}_cpu"].value < found[name].value * 2
        assert 20 < found[f"{name}_memory"].value < 400


@pytest.mark.cluster
def test_an_add_on_a_cluster_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in (("_ROUNDS", 1), ("_NOTHINGS", 20), ("_GROWN_COMMITS", 3)):
        monkeypatch.setattr(f"bench.scale.{name}", value)
    monkeypatch.setattr("bench.ingest._SECONDS", 0.5)
    assert main(["scale", "--runs", "2", "--workers", "2", "--json"]) == 0
    found = {line["name"]: line for line in map(json.loads, capsys.readouterr().out.splitlines())}
    assert found["cluster_2_workers_rate"]["value"] > 0
    assert 0 <= found["cluster_2_workers_idle"]["value"] <= 100
    assert any(name.startswith("simulated_100_workers_of_linear") for name in found)


def test_decisions_are_simulated(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["decisions", "--json", "--sweeps", "4"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    by_name = {line["name"]: line for line in lines}
    assert len(by_name) == len(lines) == 5 * 2 * 4 + 5 * 3 + 1
    assert by_name["best_missed_n3_spread"]["n"] == 4
    assert by_name["false_win_mixed"]["limit"] == 5

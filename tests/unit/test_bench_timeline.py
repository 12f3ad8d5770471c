"""The timeline's benchmark runs on short runs, and its lines can be read by a machine."""

import json
import sys
from pathlib import Path

import pytest

from bench import timeline
from bench.__main__ import main
from bench.resampler import measure_resampler


@pytest.mark.slow
def test_the_server_part_runs_on_short_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeline, "RUN_SECONDS", 0.2)
    monkeypatch.setattr(timeline, "MOST_RUNS", 2)
    arguments = ["timeline", "--json", "--zooms", "2", "--browser", "0"]
    arguments += ["--folder", str(tmp_path / "lakes")]
    assert main(arguments) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    by_name = {line["name"]: line for line in lines}
    assert len(by_name) == len(lines)
    assert by_name["run_p95"]["limit"] == 25
    assert by_name["run_p95"]["n"] == 2 * len(timeline.SHARES)
    assert 0 < by_name["run_0.1%_median"]["value"] <= by_name["run_0.1%_p95"]["value"]
    assert by_name["long_by_run"]["limit"] == 1.3
    interrupts = by_name["long_interrupts"]["value"] / by_name["run_interrupts"]["value"]
    assert interrupts == pytest.approx(10, rel=0.2)
    for name in ("bytes_one_run_max", "bytes_six_runs_max"):
        assert 1 < by_name[name]["value"] < by_name[name]["limit"] == 300
    assert by_name["run_answer_memory"]["value"] > 0.1
    assert by_name["long_answer_memory"]["value"] > 0.1
    # The raw logs are gone, the lakes are kept and taken again.
    assert sorted(path.name for path in (tmp_path / "lakes").iterdir()) == ["lake", "long"]
    assert main([*arguments, "--no-long"]) == 0
    assert "long_p95" not in capsys.readouterr().out


def test_a_python_without_the_resampler_is_said(tmp_path: Path) -> None:
    for table in ("interrupts", "samples"):
        (tmp_path / table / "d").mkdir(parents=True)
        (tmp_path / table / "d" / "r.parquet").touch()
    with pytest.raises(RuntimeError, match="plotly-resampler: ModuleNotFoundError"):
        list(measure_resampler(sys.executable, tmp_path, [0.25], 1))

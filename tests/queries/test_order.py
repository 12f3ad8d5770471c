"""The order of runs in a lake: drift, blocks, order that follows a knob, odd runs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data.connection import open_lake
from data.order import REPLICATES, TIMES, UNKNOWN, Order, OrderCheck, order_of
from data.selection import Selection
from tests.fixtures.lakes import run, write_lake


def sweep(order: str, drift: float = 0.0, seed: int = 2, **more: Any) -> list[dict[str, Any]]:
    """30 settings x 3 replicates, noise 1 %; started at random, setting by setting, or never."""
    rng = np.random.default_rng(seed)
    cells = [(i, j, r) for i in range(6) for j in range(5) for r in range(3)]
    if order == "random":
        cells = [cells[i] for i in rng.permutation(len(cells))]
    rows = []
    for place, (i, j, replicate) in enumerate(cells):
        share = place / len(cells) if order != "none" else replicate / 2
        energy = 1000 * float(np.exp(0.05 * i + drift * share + rng.normal(0, 0.01)))
        rows.append(
            run(itr_us=10.0 * (1 + i), dvfs_ghz=1.3 + 0.3 * j, replicate=replicate,
                start_unix_s=None if order == "none" else 1e9 + 60.0 * place,
                energy_j=round(energy, 3), latency_p99_us=100.0 + i, **more)
        )  # fmt: skip
    return rows


def checked(tmp_path: Path, rows: list[dict[str, Any]]) -> tuple[OrderCheck, Order]:
    with open_lake(write_lake(tmp_path / "lake", rows)) as lake:
        found = order_of(lake, metrics=["energy_j"])
    (check,) = found.checks
    return check, found


def test_runs_at_random_without_drift(tmp_path: Path) -> None:
    check, found = checked(tmp_path, sweep("random"))
    assert (check.order, check.runs, check.settings) == (TIMES, 90, 30)
    assert not check.is_affected
    assert check.is_random
    assert len(found.odd) == 0
    assert found.odd_ids == ()


def test_a_drift_of_five_percent_is_found_and_measured(tmp_path: Path) -> None:
    names: dict[str, Any] = {
        "system": "linux_tuned",
        "system_label": "Linux tuned",
        "workload": "nodejs",
    }
    check, _ = checked(tmp_path, sweep("random", drift=0.05, **names))
    assert check.is_affected
    assert "node.js" in check.words
    assert check.words.endswith(", Linux tuned")
    assert check.change_pct == pytest.approx(5.1, abs=1.0)
    assert "Energy changes by +" in check.sentence
    assert "90 runs, p < 0.001; times" in check.sentence


def test_setting_by_setting_is_not_random(tmp_path: Path) -> None:
    check, _ = checked(tmp_path, sweep("in turn"))
    assert check.is_random is False
    assert [name for name, _ in check.follows] == ["ITR"]
    assert check.runs_between == 1
    assert "not randomised: the order follows ITR (rho +" in check.sentence


def test_without_times_replicates_are_the_order(tmp_path: Path) -> None:
    check, _ = checked(tmp_path, sweep("none", drift=0.05))
    assert check.order == REPLICATES
    assert check.is_affected
    assert check.blocks == 3
    assert "from the first replicate to the last" in check.sentence
    assert "replicate numbers, no times" in check.sentence
    assert check.is_random is None


def test_means_are_adjusted_for_blocks(tmp_path: Path) -> None:
    """Replicates 0, 1, 2 are 0, 2.5 and 5 % up; a setting that has the first alone is too low."""
    rows = sweep("none", drift=0.05)
    lonely = [run(itr_us=90.0, replicate=0, energy_j=1000.0, start_unix_s=None)]
    check, _ = checked(tmp_path, [*rows, *lonely])
    assert check.means is not None
    alone = check.means.filter(itr_us=90.0).row(0, named=True)
    assert alone["mean"] == pytest.approx(1000.0)
    assert alone["adjusted"] == pytest.approx(1025.3, abs=8)
    whole = check.means.filter(runs=3)
    assert (whole["adjusted"] / whole["mean"]).to_numpy() == pytest.approx(1.0, abs=1e-9)


def test_neither_is_unknown(tmp_path: Path) -> None:
    rows = [{**row, "replicate": 0} for row in sweep("none")]
    for number, row in enumerate(rows):
        row["run_id"] = f"run-{number}"
    check, _ = checked(tmp_path, rows)
    assert check.order == UNKNOWN
    assert "order unknown" in check.sentence


def test_an_odd_run_is_listed_with_its_siblings_and_can_be_left_out(tmp_path: Path) -> None:
    rows = sweep("random")
    rows[7]["energy_j"] *= 3
    path = write_lake(tmp_path / "lake", rows)
    with open_lake(path) as lake:
        found = order_of(lake, metrics=["energy_j"])
        assert found.odd_ids == (rows[7]["run_id"],)
        odd = found.odd.row(0, named=True)
        assert odd["times"] == pytest.approx(3, rel=0.05)
        assert odd["runs"] == 3
        again = order_of(lake, Selection(without=found.odd_ids), ["energy_j"])
        assert len(again.odd) == 0

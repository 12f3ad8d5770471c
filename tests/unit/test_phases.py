"""Energies of the phases of a run: their sum is the run's if their times add up, else none is."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from app.explore.defaults import default_state
from app.kit.lake_view import LakeView
from app.kit.metric_choice import costs_beside, performance_column
from app.modes.defaults import resolved
from app.modes.state import ModesState
from data.connection import open_lake
from tests.fixtures.ingest import details, ingest, put, tuples


def table(head: str, *columns: Sequence[float | str]) -> str:
    rows = (",".join(map(str, row)) for row in zip(*columns, strict=True))
    return "\n".join([head, *rows]) + "\n"


BATCH: list[float] = [1, 1, 2, 2, 4, 4, 8, 8]
PREFILL_S = [0.25, 0.26, 0.5, 0.51, 1.0, 1.1, 2.0, 2.1]
DECODE_S = [1.5, 1.25, 2.75, 3.0, 6.5, 6.0, 12.5, 13.0]
PREFILL_J = [60 * t for t in PREFILL_S]
DECODE_J = [40 * t for t in DECODE_S]
TOTAL_S = [p + d for p, d in zip(PREFILL_S, DECODE_S, strict=True)]


def first_look(lake: Path) -> tuple[str, str]:
    """Return what Explore opens with along x and along y; Modes compares by the same y."""
    with open_lake(lake) as opened:
        view = LakeView(opened)
        state = default_state(view)
        assert state.x == "performance"
        assert resolved(view, ModesState(state.selection)).metric == state.y
        return performance_column(view, state.selection), state.y


def test_phases_whose_times_add_up_are_the_run(lake: Path, tmp_path: Path) -> None:
    head = "batch_size,prefill_time_s,decode_time_s,total_time_s,prefill_energy_j,decode_energy_j"
    text = table(head, BATCH, PREFILL_S, DECODE_S, TOTAL_S, PREFILL_J, DECODE_J)
    put(tmp_path / "raw/t.csv", text)
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    found = tuples(lake, "SELECT energy_j, prefill_energy_j, duration_s FROM runs ORDER BY 1")
    assert found[0] == (pytest.approx(60 * 0.26 + 40 * 1.25), pytest.approx(15.6), 1.51)
    assert first_look(lake) == ("duration_s", "energy_j")
    (said,) = details(report, "guessed_columns")
    assert "energy: the sum of prefill_energy_j, decode_energy_j" in said


@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize("overhead_s", [None, 35.0])
def test_phases_of_no_known_whole_are_apart(
    overhead_s: float | None, is_turned: bool, lake: Path, tmp_path: Path
) -> None:
    """No total, or one that has more in it: the first look is of decode, which takes most."""
    columns = [
        ("prefill_time_s", PREFILL_S), ("decode_time_s", DECODE_S),
        ("prefill_energy_j", PREFILL_J), ("decode_energy_j", DECODE_J),
    ]  # fmt: skip
    if overhead_s:
        columns.append(("total_time_s", [overhead_s + t for t in TOTAL_S]))
    columns = [("batch_size", BATCH), *(columns[::-1] if is_turned else columns)]
    put(tmp_path / "raw/t.csv", table(",".join(n for n, _ in columns), *(c for _, c in columns)))
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    assert tuples(lake, "SELECT count(energy_j), count(prefill_energy_j) FROM runs") == [(0, 8)]
    assert first_look(lake) == ("decode_time_s", "decode_energy_j")
    (said,) = details(report, "guessed_columns")
    assert "; none is the energy of the run, decode has most" in said


def test_a_rate_says_the_phase_where_no_time_does(lake: Path, tmp_path: Path) -> None:
    rates = [128 * b / t for b, t in zip(BATCH, DECODE_S, strict=True)]
    head = "batch_size,prefill_tps,decode_tps,total_latency_ms,prefill_energy_mj,decode_energy_mj"
    ms = [35_000 + 1000 * t for t in TOTAL_S]
    mj = ([1000 * j for j in each] for each in (PREFILL_J, DECODE_J))
    put(tmp_path / "raw/t.csv", table(head, BATCH, [9 * r + 1 for r in rates], rates, ms, *mj))
    ingest(lake, tmp_path / "raw", is_proposing=True)
    assert first_look(lake) == ("decode_tps", "decode_energy_mj")


def test_the_energy_of_the_whole_is_the_run(lake: Path, tmp_path: Path) -> None:
    head = "lr,train_time_s,eval_time_s,total_time_s,train_energy_j,eval_energy_j,total_energy_j"
    total = [p + d + 5 for p, d in zip(PREFILL_J, DECODE_J, strict=True)]
    text = table(head, BATCH, DECODE_S, PREFILL_S, TOTAL_S, DECODE_J, PREFILL_J, total)
    put(tmp_path / "raw/t.csv", text)
    ingest(lake, tmp_path / "raw", is_proposing=True)
    assert tuples(lake, "SELECT min(energy_j) FROM runs") == [(pytest.approx(70.6),)]
    assert first_look(lake) == ("duration_s", "energy_j")


def test_the_run_beside_what_was_compiled_is_a_phase(lake: Path, tmp_path: Path) -> None:
    """Alone, or beside what was used idle, it is the run."""
    head = "opt_level,{0}_time_s,run_time_s,{0}_energy_j,run_energy_j"
    for name in ("compile", "idle"):
        text = table(head.format(name), BATCH, PREFILL_S, DECODE_S, PREFILL_J, DECODE_J)
        put(tmp_path / f"{name}/t.csv", text)
        ingest(lake, tmp_path / name, is_proposing=True)
    found = tuples(lake, "SELECT dataset, count(energy_j) FROM runs GROUP BY 1 ORDER BY 1")
    assert found == [("compile", 0), ("idle", 8)]


def test_costs_beside_a_metric_are_of_its_phase_first(lake: Path, tmp_path: Path) -> None:
    head = "batch_size,prefill_time_s,decode_time_s,prefill_energy_j,decode_energy_j"
    put(tmp_path / "raw/t.csv", table(head, BATCH, PREFILL_S, DECODE_S, PREFILL_J, DECODE_J))
    ingest(lake, tmp_path / "raw", is_proposing=True)
    with open_lake(lake) as opened:
        catalogue = LakeView(opened).catalogue
    parts = ["prefill_energy_j", "decode_energy_j"]
    for x, expected in (("decode_time_s", parts[::-1]), ("prefill_time_s", parts), ("", parts)):
        found = costs_beside(x, catalogue)
        assert found[0] == "energy_j"
        assert [name for name in found if name in parts] == expected

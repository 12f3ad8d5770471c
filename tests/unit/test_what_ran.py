"""Runs that differ in what ran and in nothing that was set; metrics without a better direction."""

from dataclasses import replace
from pathlib import Path

from app.findings.answer import default_state as findings_opens
from app.findings.answer import no_claim_words
from app.findings.layout_runs import next_block
from app.kit.context import Lakes
from app.kit.export import render
from app.kit.lake_view import LakeView
from app.modes.answer import answer
from app.modes.evidence import evidence
from app.modes.opening import default_state as modes_opens
from app.modes.opening import missing
from app.modes.state import ModesState
from data.declared import Column
from data.selection import Selection
from tests.fixtures.lakes import run, write_lake


def view_of(path: Path, rows: list[dict], *columns: Column) -> LakeView:
    names = ("load_qps", "itr_us", "latency_p50_us", "latency_p99_us")
    bare = dict.fromkeys(names) | {"performance_metric": "duration_s"}
    return Lakes(write_lake(path, [run(**(bare | row)) for row in rows], columns)).at(None)


MODEL = Column("model", "knob", "text", "model", is_given=True)
KERNEL = Column("kernel", "knob", "text", "kernel", is_given=True)
TOKENS = Column("tokens", "knob", "real", "tokens", is_given=True)


def test_models_are_compared_where_they_are_all_that_differs(tmp_path: Path) -> None:
    """Four runs each of two models, 100 and 150 J, a few percent apart."""
    rows = [
        {"model": model, "replicate": r, "energy_j": joules + r}
        for model, joules in (("elm", 100.0), ("oak", 150.0)) for r in range(4)
    ]  # fmt: skip
    view = view_of(tmp_path / "lake", rows, MODEL)
    state = modes_opens(view)
    assert missing(view, state) == ""
    assert state.competitor == "c_model"
    said = answer(view, state)
    assert said.conclusions[0].startswith("elm has least energy in 1 of 1 cell")
    assert "best model" not in str(said.winners)
    assert no_claim_words(view, findings_opens(view)) == (
        "There is no claim: the runs differ only in what ran (model), and in nothing that was set. "
        "Modes compares them by model."
    )


def test_amounts_of_work_do_not_compete(tmp_path: Path) -> None:
    rows = [
        {"tokens": tokens, "replicate": r, "energy_j": 2 * tokens + r}
        for tokens in (21.0, 42.0) for r in range(3)
    ]  # fmt: skip
    view = view_of(tmp_path / "lake", rows, TOKENS)
    assert "differ only in what ran (tokens)" in missing(view, modes_opens(view))
    assert no_claim_words(view, findings_opens(view)).endswith("in nothing that was set.")


def test_parts_of_a_program_do_not_compete(tmp_path: Path) -> None:
    """Kernels of one program, four runs each: a link with filters asks for no comparison either."""
    rows = [
        {"kernel": kernel, "replicate": r, "energy_j": joules + r}
        for kernel, joules in (("stencil", 100.0), ("gather", 150.0)) for r in range(4)
    ]  # fmt: skip
    view = view_of(tmp_path / "lake", rows, KERNEL)
    assert "differ only in what ran (kernel)" in missing(view, modes_opens(view))
    linked = ModesState(Selection.of(workload=["memcached"]))
    assert "differ only in what ran (kernel)" in missing(view, linked)
    assert missing(view, replace(linked, competitor="c_kernel")) == "", "who asks for it gets it"
    assert no_claim_words(view, findings_opens(view)).endswith("in nothing that was set.")


def test_what_has_no_direction_has_no_leader_and_no_plan(tmp_path: Path) -> None:
    """Currents of two drives, of which no settings say whether less is better."""
    unmeasured = dict.fromkeys(
        ("energy_j", "power_w", "latency_p50_us", "latency_p99_us", "duration_s")
    )
    rows = [
        {"drive": drive, "amps": amps, "performance_metric": None, **unmeasured}
        for drive, amps in (("north", 0.5), ("south", 0.4))
    ]
    drive = Column("drive", "knob", "text", "drive")
    amps = Column("amps", "metric", "real", "current", unit="A")
    view = view_of(tmp_path / "lake", rows, drive, amps)
    state = modes_opens(view)
    shown, cell = answer(view, state), evidence(view, state)
    assert cell is not None
    words = " ".join([*shown.conclusions, cell.verdict, str(shown.winners)])
    assert "1 cell with too few runs to be compared" in words
    assert "Unproven: north is above south" in words
    assert "lead" not in words.replace("leading", "")
    assert "is better is not declared" in render(next_block(view, findings_opens(view)))

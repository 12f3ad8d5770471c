"""Which runs a timeline knows, compares with and offers instead."""

from pathlib import Path

import pytest

from app.kit.lake_view import LakeView
from data.catalogue import SHIPPED
from data.connection import open_lake
from data.errors import LakeError
from data.queries.timeline import others_query, reference_query, run_facts_query
from data.run_files import RunFacts, RunFiles
from tests.fixtures.lakes import run, write_lake

CORES = [
    {"core": 2, "package": 0, "duration_s": 20.0, "tsc_hz": 2.9e9},
    {"core": 0, "package": None, "duration_s": 20.0, "tsc_hz": 2.9e9},
]
FILES = [
    {"table": table, "path": f"{table}/tiny/d0.parquet", "size_bytes": 1, "rows": 1}
    for table in ("interrupts", "overview")
]


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> LakeView:
    """Default runs at two loads, tuned ones beside them; `x` and `far` have no log."""
    log = {"has_log": True, "cores": CORES, "files": FILES}
    default = {"system": "linux_default", "itr_us": None, "dvfs_ghz": None}
    rows = [
        run(run_id="d0", replicate=0, **default, **log),
        run(run_id="d1", replicate=1, **default, **log),
        run(run_id="d4", load_qps=400_000.0, **default, **log),
        run(run_id="t1", replicate=1, **log),
        run(run_id="t50", itr_us=50.0, **log),
        run(run_id="t4", load_qps=400_000.0, **log),
        run(run_id="e", system="ebbrt_tuned", **log),
        run(run_id="x"),
        run(run_id="far", workload="nodejs", load_qps=None),
    ]
    path: Path = write_lake(tmp_path_factory.mktemp("runs") / "lake", rows)
    return LakeView(open_lake(path))


def ids(view: LakeView, query: tuple[str, list[object]]) -> list[str]:
    return [row[0] for row in view.lake.sql(*query).project("run_id").fetchall()]


def test_the_reference_is_the_default_at_the_same_load_and_replicate(view: LakeView) -> None:
    assert ids(view, reference_query("x")) == ["d0"]
    assert ids(view, reference_query("t1")) == ["d1"]
    assert ids(view, reference_query("t4")) == ["d4"]
    assert ids(view, reference_query("far")) == []
    assert ids(view, reference_query("nobody")) == []


def test_instead_of_a_run_without_a_log_the_nearest_are_offered(view: LakeView) -> None:
    # The same configuration, the same system and load, the same load, then the rest.
    assert ids(view, others_query("x", 4, catalogue=SHIPPED))[:2] == ["t1", "t50"]
    assert ids(view, others_query("x", 9, catalogue=SHIPPED))[-2:] == ["t4", "d4"]
    assert ids(view, others_query("far", 9, catalogue=SHIPPED)) == []


def test_facts_come_from_the_row_and_unknown_runs_have_none(view: LakeView) -> None:
    found = view.files.facts(["t1", "nobody", "x"])
    assert set(found) == {"t1", "x"}
    facts: RunFacts = found["t1"]
    assert (facts.cores, facts.packages) == ((0, 2), {0: None, 2: 0})
    assert (facts.length_ns, facts.tsc_hz) == (20_000_000_000, 2.9e9)
    assert facts.files == {"interrupts": "interrupts/tiny/d0.parquet",
                           "overview": "overview/tiny/d0.parquet"}  # fmt: skip
    assert facts.has_log
    assert not found["x"].has_log
    assert view.lake.sql(*run_facts_query([], catalogue=SHIPPED)).fetchall() == []


def test_a_file_that_is_not_there_is_named(view: LakeView) -> None:
    facts = view.files.facts(["t1"])["t1"]
    with pytest.raises(LakeError, match=r"missing from the lake: .*interrupts/tiny/d0\.parquet"):
        view.files.file(facts, "interrupts")
    with pytest.raises(LakeError, match="the lake has no samples of the run"):
        view.files.file(facts, "samples")


def test_facts_of_the_last_runs_alone_are_cached(
    view: LakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = RunFiles(view.lake, kept_runs=2)
    files.facts(["t1"])
    files.facts(["x", "e"])
    monkeypatch.setattr(view.lake, "arrow", lambda *_: pytest.fail("asked the lake"))
    assert set(files.facts(["x", "e"])) == {"x", "e"}
    with pytest.raises(pytest.fail.Exception, match="asked the lake"):
        files.facts(["t1"])

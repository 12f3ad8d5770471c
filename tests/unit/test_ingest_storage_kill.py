"""Storage runs, killed before any commit and read again: the lake of one clean run."""

import signal
from pathlib import Path

import pytest

from ingest.lake.verification import verify_lake
from tests.fixtures.fio_documents import SLOW, document, job
from tests.unit.test_ingest_kill import contents, start

pytestmark = pytest.mark.slow

_RUNS = 24
_VTUNE = "Function,Loads,Stores\nnvme_poll,{},1\n"


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs with a table of functions each, documents of several runs, a sidecar, a failed job."""
    folder = tmp_path_factory.mktemp("storage") / "raw"
    for replicate in range(_RUNS):
        run = folder / "optane" / "poll" / f"randread-4k-t1-r{replicate}"
        run.mkdir(parents=True)
        (run / "fio.json").write_text(document(job()))
        (run / "vtune.csv").write_text(_VTUNE.format(100 + replicate))
    for number in range(4):
        parts = (
            job("a"),
            job("b", SLOW, group=1, extra='"total_err": 1,'),
            job("c", group=2, error=5),
        )
        (folder / f"several{number}.json").write_text(document(*parts))
    (folder / "run.toml").write_text('device = "optane"\n')
    return folder


@pytest.fixture(scope="module")
def clean(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The tables of one run that nobody disturbs."""
    lake = tmp_path_factory.mktemp("clean") / "lake"
    assert start(raw, lake).wait() == 3
    tables = contents(lake)
    assert len(tables["runs"]) == _RUNS + 4 * 2
    assert len(tables["functions"]) == _RUNS
    assert len(tables["problems"]) == 4 * 2
    return tables


@pytest.mark.parametrize("call", [1, 2, 3, 5, 7])
def test_killed_before_a_commit_and_run_again(
    raw: Path, clean: dict[str, list[str]], tmp_path: Path, call: int
) -> None:
    lake = tmp_path / "lake"
    assert start(raw, lake, f"commit {call}").wait() == -signal.SIGKILL
    assert start(raw, lake).wait() in (0, 3)
    assert contents(lake) == clean
    assert list(verify_lake(lake)) == []

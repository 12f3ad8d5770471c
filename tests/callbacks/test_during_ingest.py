"""An app that has the lake open while `ingest add` writes to it sees whole runs only."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from app.kit.settings import Settings
from app.server import create_app
from data.connection import open_lake
from data.lake_watch import newest_version
from ingest.pipeline import AddOptions, add
from tests.fixtures.raw_runs import LOG, write_netpipe, write_settings

_ROOT = Path(__file__).resolve().parents[2]
_RUNS = 20
# The drawn log has four lines in its window; with LATER there is a fifth.
LATER = "6 1 50 1 10 0 0 0 0 0 0 0 0 0 0 1001500000\n"
# Small commits, so that the app sees many versions.
_COMMAND = """
import sys
import ingest.lake.commits
from ingest.__main__ import main
ingest.lake.commits.FLUSH_RUNS = 3
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    write_settings(tmp_path / "raw")
    write_netpipe(tmp_path / "raw")
    return tmp_path / "raw"


@pytest.fixture
def lake(raw: Path) -> Path:
    """One run, before all others."""
    add(AddOptions(raw.parent / "lake", [raw]))
    return raw.parent / "lake"


@pytest.fixture
def client(lake: Path) -> FlaskClient:
    return create_app(Settings(lake)).server.test_client()


def ids_at(lake: Path, version: int) -> list[str]:
    with open_lake(lake, version=version) as opened:
        return [row[0] for row in opened.sql("SELECT run_id FROM runs ORDER BY 1").fetchall()]


def interrupts(client: FlaskClient, ids: list[str], version: int | None = None) -> list[int]:
    """How many each run has on the timeline, rows and totals agreeing."""
    query: dict[str, Any] = {"runs": ids} | ({} if version is None else {"lake": version})
    answer = client.get("/timeline/window", query_string=query)
    assert answer.status_code == 200, answer.text
    found: Any = answer.json
    assert [run["problem"] for run in found["runs"]] == [None] * len(ids)
    counts = [run["window"]["interrupts"] for run in found["runs"]]
    totals = {total["name"]: total["values"] for total in found["totals"]}
    assert totals["interrupts"] == counts
    return counts


def test_only_whole_runs_are_seen_before_during_and_after(
    raw: Path, lake: Path, client: FlaskClient
) -> None:
    before = newest_version(lake)
    (first,) = ids_at(lake, before)
    assert interrupts(client, [first]) == [4]
    for replicate in range(1, _RUNS):
        write_netpipe(raw, replicate)
    process = subprocess.Popen(
        [sys.executable, "-c", _COMMAND, "add", str(raw), "--lake", str(lake)],
        env=os.environ | {"PYTHONPATH": str(_ROOT)},
        stdout=subprocess.DEVNULL,
    )
    seen: dict[int, int] = {}
    while True:
        is_over = process.poll() is not None
        version = newest_version(lake)
        ids = ids_at(lake, version)
        seen[version] = len(ids)
        newest = ids[-4:]
        assert interrupts(client, newest, version) == [4] * len(newest)
        assert interrupts(client, [first], before) == [4]
        if is_over:
            break
    assert process.returncode == 0
    counts = [seen[version] for version in sorted(seen)]
    assert counts == sorted(counts)
    assert len(counts) > 2, "the app saw nothing of the ingest under way"
    assert counts[-1] == _RUNS
    assert ids_at(lake, before) == [first]


def test_a_version_that_is_open_keeps_a_run_that_is_replaced(
    raw: Path, lake: Path, client: FlaskClient
) -> None:
    before = newest_version(lake)
    (first,) = ids_at(lake, before)
    lines = LOG.splitlines(keepends=True)
    write_netpipe(raw, log="".join([*lines[:4], LATER, *lines[4:]]))
    assert add(AddOptions(lake, [raw])).replaced == 1
    assert interrupts(client, [first]) == [5]
    assert interrupts(client, [first], before) == [4]

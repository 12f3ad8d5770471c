"""How often a committer commits."""

import itertools
from pathlib import Path
from types import SimpleNamespace

import pytest

from ingest.lake import commits
from ingest.lake.commits import Committer
from ingest.lake.state import load_state
from ingest.lake.tables import create_tables


def test_commits_that_take_long_come_seldom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every 2 s; after one of 0.5 s, which is 5 % of 10 s, after 10 s."""
    now_s, committed_s = 0.0, []

    def write(*_: object) -> None:
        nonlocal now_s
        committed_s.append(now_s)
        now_s += 0.5 if len(committed_s) == 3 else 0.01

    create_tables(tmp_path)
    committer = Committer(tmp_path, load_state(tmp_path))
    monkeypatch.setattr(commits, "time", SimpleNamespace(monotonic=lambda: now_s))
    monkeypatch.setattr(commits, "replace_runs", write)
    committer._last_flush = 0.0
    for number in range(250):
        now_s += 0.1
        committer.add_run({"dataset": "d", "run_id": f"r{number}", "sources": [], "files": []})
        committer.flush_if_due()
    steps = [round(after - before) for before, after in itertools.pairwise(committed_s)]
    assert steps[:5] == [2, 2, 11, 2, 2]

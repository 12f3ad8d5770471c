"""What holds for all tests, and the lake that many of them open."""

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from data.declared import in_force

ROOT = Path(__file__).resolve().parents[1]
# Examples are not timed: a busy machine is no failure.
settings.register_profile("wattlas", deadline=None)
settings.load_profile("wattlas")


@pytest.fixture(autouse=True)
def _no_declared_columns() -> Iterator[None]:
    """No test sees the columns that the lake of another one declares."""
    with in_force(()):
        yield


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of a test run share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def logged_lake(shared_folder: Path) -> Path:
    """The tiny sample, ingested: nine runs with logs, some hundred from tables. Never written to.

    The first worker makes it, the others wait for it.
    """
    folder = shared_folder / "logged"
    with (shared_folder / "logged.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            making = shared_folder / "logged-making"
            for command in (
                ["sample", str(making / "raw"), "--size", "tiny"],
                ["add", str(making / "raw"), "--lake", str(making / "lake")],
            ):
                subprocess.run(
                    [sys.executable, "-m", "ingest", *command],
                    cwd=ROOT, check=True, capture_output=True,
                )  # fmt: skip
            making.rename(folder)
    return folder / "lake"

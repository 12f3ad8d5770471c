"""Where the tests of ingest put raw files and the lake."""

from pathlib import Path

import pytest

from tests.fixtures.raw_runs import write_settings


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    """A folder for raw files, with the settings of a tiny machine."""
    folder = tmp_path / "raw"
    write_settings(folder)
    return folder


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """Where a lake may be made."""
    return tmp_path / "lake"

"""The lake that the query tests share."""

from collections.abc import Iterator

import pytest

from data.connection import Lake, open_lake
from tests.queries.tiny import tiny_lake


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """The lake of `tests/queries/tiny.py`."""
    with open_lake(tiny_lake(tmp_path_factory.mktemp("tiny"))) as lake:
        yield lake


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """A lake that holds nothing yet."""
    with open_lake(tmp_path_factory.mktemp("empty") / "lake") as lake:
        yield lake

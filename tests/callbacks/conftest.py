"""An app on a small lake, in this process; callbacks are called as plain functions in it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.callbacks.components import flask_of
from tests.fixtures.lakes import run, write_lake


def grid_rows() -> list[dict[str, Any]]:
    """Linux tuned and library OS over ITR x DVFS, twice; a default; one NetPIPE run. By hand:

    energy = 1,000 J x GHz (library OS: 600 J x GHz), p99 = 60 us + ITR (+ 1 us in the second
    replicate); the default is 2,500 J at 110 us. 2 x 3 x 2 x 2 = 24, 2 and 1: 27 runs.
    """
    rows = [
        run(system=system, itr_us=itr, dvfs_ghz=ghz, replicate=r, energy_j=factor * ghz,
            latency_p99_us=60 + itr + r, instructions=2000, cycles=1000)
        for system, factor in (("linux_tuned", 1000.0), ("ebbrt_tuned", 600.0))
        for itr in (2.0, 50.0, 100.0) for ghz in (1.3, 2.9) for r in (0, 1)
    ]  # fmt: skip
    rows += [
        run(system="linux_default", itr_us=None, dvfs_ghz=None, replicate=r, energy_j=2500.0,
            latency_p99_us=110.0) for r in (0, 1)
    ]  # fmt: skip
    netpipe = run(workload="netpipe", loop="closed", load_qps=None, message_bytes=8192,
                  performance_metric="duration_s", duration_s=0.25, latency_p99_us=None,
                  itr_us=4.0, energy_j=7.0)  # fmt: skip
    return [*rows, netpipe]


@pytest.fixture(scope="session")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lake of `grid_rows`; a second version adds one run at 400k QPS."""
    path = write_lake(tmp_path_factory.mktemp("grid") / "lake", grid_rows())
    return write_lake(path, [run(load_qps=400_000.0)])


@pytest.fixture(scope="session")
def server(grid: Path) -> Flask:
    """The app on it."""
    return flask_of(grid)


@pytest.fixture
def here(server: Flask) -> Iterator[None]:
    """Inside the app, where callbacks find its lake."""
    with server.app_context():
        yield


@pytest.fixture(scope="session")
def empty_server(tmp_path_factory: pytest.TempPathFactory) -> Flask:
    """An app on a lake that holds nothing yet."""
    return flask_of(tmp_path_factory.mktemp("none") / "lake")


@pytest.fixture
def client(server: Flask) -> FlaskClient:
    """A visitor of the file's app."""
    return server.test_client()

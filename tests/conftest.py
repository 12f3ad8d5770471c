"""What holds for all tests, and the lake that many of them open."""

import fcntl
import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from _pytest.assertion import rewrite
from hypothesis import settings

from bench.store_servers import BUCKET, credentials, store_server
from data import connection, lake_watch, object_store
from data.lake_place import StorePath
from ingest.__main__ import main as ingest
from tests.fixtures.databases import Connect, Databases
from tests.fixtures.real import real_data
from tests.fixtures.store_proxy import Proxy, proxy
from tests.fixtures.stores import Stored

ROOT = Path(__file__).resolve().parents[1]
# What is collected stays until the end: the garbage collector need not look at it.
gc.disable()
# Examples are not timed: a busy machine is no failure. The quick ones are the same in each run, so
# that a failure is one of the change; `make test-all` searches at random.
settings.register_profile("quick", deadline=None, max_examples=12, derandomize=True)
settings.register_profile("thorough", deadline=None)


def pytest_configure(config: pytest.Config) -> None:
    """Draw fewer examples when slow tests are left out."""
    settings.load_profile("quick" if "not slow" in config.option.markexpr else "thorough")
    if (worker := getattr(config, "workerinput", None)) and not sys.dont_write_bytecode:
        _rewrite_asserts(config, int(worker["workerid"].removeprefix("gw")), worker["workercount"])


def _rewrite_asserts(config: pytest.Config, number: int, count: int) -> None:
    """Write the bytecode of a worker's part of the tests, or each worker would rewrite all."""
    for path in sorted(ROOT.glob("tests/**/test_*.py"))[number::count]:
        bytecode = rewrite.get_cache_dir(path) / f"{path.stem}{rewrite.PYC_TAIL}"
        if rewrite._read_pyc(path, bytecode) is None:
            rewrite.try_makedirs(bytecode.parent)
            code_hash, code = rewrite._rewrite_test(path, config)
            state = config.stash[rewrite.assertstate_key]
            rewrite._write_pyc(state, code, code_hash, bytecode)


def pytest_collection_finish() -> None:
    """Collect garbage again, but none of the tests and modules."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what `thin` leaves to `make test-all`."""
    cases: dict[tuple[str, int], list[pytest.Item]] = {}
    for item in items:
        if mark := item.get_closest_marker("thin"):
            cases.setdefault((item.nodeid.partition("[")[0], *mark.args), []).append(item)
    for (_, count), found in cases.items():
        kept = {round(i * (len(found) - 1) / max(count - 1, 1)) for i in range(count)}
        for at, item in enumerate(found):
            if at not in kept:
                item.add_marker("slow")


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of a test run share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def made_once(shared_folder: Path, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that the first worker makes; the others wait for it. Never written to afterwards."""
    folder = shared_folder / name
    with (shared_folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            making = shared_folder / f"{name}-making"
            make(making)
            making.rename(folder)
    return folder


@pytest.fixture(scope="session", autouse=True)
def connect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connect]:
    """Give the database of a lake that was closed to the next lake; yield what makes a new one."""
    made = connection._connect
    databases = Databases(made, str(tmp_path_factory.getbasetemp() / "spill"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "_connect", databases.connect)
        yield made
    databases.close()


@pytest.fixture(scope="session")
def published_lake(shared_folder: Path) -> Path:
    """The three published summary tables, ingested as the dataset `published`.

    Beside it `report.json` is what the add said.
    """
    source = real_data() / "summaries"

    def make(folder: Path) -> None:
        folder.mkdir()
        command = ["add", str(source), "--lake", str(folder / "lake"), "--dataset", "published"]
        with (folder / "report.json").open("w") as out, redirect_stdout(out):
            assert ingest([*command, "--json"]) == 0

    return made_once(shared_folder, "published", make) / "lake"


@pytest.fixture(scope="session")
def logged_lake(shared_folder: Path) -> Path:
    """The tiny sample, ingested: nine runs with logs, some hundred from tables."""

    def make(folder: Path) -> None:
        for command in (
            ["sample", str(folder / "raw"), "--size", "tiny"],
            ["add", str(folder / "raw"), "--lake", str(folder / "lake")],
        ):
            subprocess.run(
                [sys.executable, "-m", "ingest", *command],
                cwd=ROOT, check=True, capture_output=True,
            )  # fmt: skip

    return made_once(shared_folder, "logged", make) / "lake"


@pytest.fixture(scope="session")
def store_proxy() -> Iterator[Proxy]:
    """A proxy before an object store: moto, or the one that `$WATTLAS_STORE` names."""
    kind = os.environ.get("WATTLAS_STORE", "moto")
    with store_server(kind) as address, proxy(address) as found:
        yield found


@pytest.fixture
def stored(store_proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stored]:
    """A place for a lake in the object store, which the environment names.

    A request is sent twice at most, and has a minute: a busy machine is no slow store.
    """
    for name, value in credentials(store_proxy.address).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "no-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "no-credentials"))
    monkeypatch.setenv("WATTLAS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(object_store, "_ATTEMPTS", 2)
    for name in ("_CONNECT_S", "_STALL_S", "_REQUEST_S", "_GIVE_UP_S"):
        monkeypatch.setattr(object_store, name, 60)
    monkeypatch.setattr(lake_watch, "PATIENCE_S", 60.0)
    object_store._store.cache_clear()
    store_proxy.reset()
    yield Stored(StorePath(BUCKET, f"{tmp_path.parent.name}/{tmp_path.name}/lake"), store_proxy)
    store_proxy.reset()
    object_store._store.cache_clear()

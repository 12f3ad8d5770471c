"""Ingest into an object store: the lake of a folder, whatever the store does."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import IO, Any, cast

import pytest

import ingest.__main__
import ingest.pipeline
from data import object_store
from data.connection import open_lake
from data.errors import LakeError
from data.lake_place import LakePath
from data.object_store import delta_table
from ingest.lake import commits, maintenance
from ingest.lake.commits import Committer
from ingest.lake.maintenance import prune_lake
from ingest.lake.run_file import RunFile
from ingest.lake.state import load_state
from ingest.lake.tables import create_tables
from ingest.lake.targets import open_target
from ingest.lake.verification import verify_lake
from ingest.pipeline import AddOptions, add
from tests.fixtures.lakes import run, write_lake
from tests.fixtures.raw_runs import LOG, write_memcached, write_netpipe, write_settings
from tests.fixtures.stores import KEY, SECRET, Fault, Stored, big_files, copy_lake, rows_of

_RUNS = 2


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, one of them with a bad line, and a run of two logs."""
    folder = tmp_path_factory.mktemp("store") / "raw"
    write_settings(folder)
    for replicate in range(_RUNS):
        write_netpipe(folder, replicate, LOG + ("7 1 2\n" if replicate == 0 else ""))
    write_memcached(folder)
    return folder


@pytest.fixture(scope="module")
def local(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lake of these runs in a folder."""
    lake = tmp_path_factory.mktemp("local") / "lake"
    add(AddOptions(lake, [raw], workers=1))
    return lake


def command(stored: Stored, *words: str) -> int:
    """Run a command of ingest on the lake."""
    try:
        return ingest.__main__.main([*words, "--lake", stored.address])
    except SystemExit as error:
        return int(error.code or 0)


def add_runs(stored: Stored, raw: Path) -> int:
    return command(stored, "add", str(raw), "--workers", "1")


def contents(lake: LakePath) -> tuple[Any, ...]:
    """Rows of both tables without their order, and the big files byte for byte."""
    tables = [
        sorted(json.dumps(row, sort_keys=True) for row in rows_of(lake, name))
        for name in ("runs", "problems")
    ]
    return *tables, big_files(lake)


def test_every_command_on_a_bucket_does_what_it_does_on_a_folder(
    stored: Stored, raw: Path, local: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # A few failures are not noticed.
    stored.fail(Fault(503, "SlowDown"), "PUT", times=1)
    assert add_runs(stored, raw) == 3
    assert f"runs: {_RUNS + 1} added (lake {stored.address}, tiny)" in capsys.readouterr().out
    assert contents(stored.lake) == contents(local)
    assert command(stored, "status", "--json") == 0
    status = json.loads(capsys.readouterr().out)
    assert status["lake"] == stored.address
    assert status["runs"] == _RUNS + 1
    assert command(stored, "problems") == 0
    assert "field_count" in capsys.readouterr().out
    assert command(stored, "verify") == 0
    assert "every file of the lake is as it was written" in capsys.readouterr().out
    # The second add lists each folder of big files once, whatever the number of runs, and once the
    # lake's own for what a killed add on a cluster left.
    stored.clear()
    assert add_runs(stored, raw) == 0
    assert f"runs: {_RUNS + 1} already there" in capsys.readouterr().out
    listed = [r.path for r in stored.proxy.requests if "prefix=" in r.path]
    listed = [path for path in listed if "_delta_log" not in path and "_digests" not in path]
    assert len([p for p in listed if "delimiter=" in p and "proposals" not in p]) == 1
    assert len([path for path in listed if "delimiter=" not in path]) <= 5
    assert {r.method for r in stored.proxy.requests} <= {"GET", "HEAD"}


def test_open_lake_reads_a_bucket_as_a_folder(stored: Stored, local: Path) -> None:
    copy_lake(local, stored.lake)
    asked = "SELECT run_id, energy_j, edp_js FROM runs ORDER BY run_id"
    with open_lake(stored.address) as there, open_lake(local) as here:
        assert there.sql(asked).fetchall() == here.sql(asked).fetchall()
        assert there.polars("SELECT count(*) FROM problems").item() == 1
        ids = [row[0] for row in here.sql(asked).fetchall()]
        for table in ("interrupts", "overview", "power"):
            found = [lake.scan(table, ids).order("ALL").fetchall() for lake in (there, here)]
            assert found[0] == found[1]
        counts = [lake.aggregated("interrupts", ids, "core, count(*)") for lake in (there, here)]
        assert counts[0].sort("core").equals(counts[1].sort("core"))
        with pytest.raises(LakeError, match="lake_file reads lakes in a folder only"):
            there.polars("SELECT * FROM lake_file('interrupts/x')")
        big = next(iter(big_files(stored.lake)))
        stored.fail(Fault(404, "NoSuchKey"), within=".parquet")
        with pytest.raises(LakeError, match="missing from the lake"):
            there.scan(big.partition("/")[0], ids).fetchall()
    with pytest.raises(LakeError, match="version 99"):
        open_lake(stored.address, 99)


def test_verify_finds_what_is_missing_short_or_broken(
    stored: Stored, local: Path, tmp_path: Path
) -> None:
    broken = shutil.copytree(local, tmp_path / "broken")
    gone, short, torn = sorted(path for path in broken.glob("interrupts/*/*.parquet"))[:3]
    gone.unlink()
    short.write_bytes(short.read_bytes()[:-1])
    torn.write_bytes(b"x" * torn.stat().st_size)
    copy_lake(broken, stored.lake)
    found = {Path(fault.path).name: fault.detail for fault in verify_lake(stored.lake)}
    assert set(found) == {gone.name, short.name, torn.name}
    assert found[gone.name] == "cannot be read: it is missing"
    assert "bytes, its row says" in found[short.name]
    assert found[torn.name].startswith("is damaged: ")


@pytest.mark.slow
def test_prune_keeps_what_an_ingest_may_be_about_to_name(
    stored: Stored, raw: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_runs(stored, raw)
    before = contents(stored.lake)
    stray = RunFile(stored.lake, "interrupts", "tiny", "stray")
    stray.finish("0")
    assert prune_lake(stored.lake, 1).versions > 0
    assert "interrupts/tiny/stray.0.parquet" in big_files(stored.lake)
    monkeypatch.setattr(maintenance, "UNNAMED_KEPT_S", -1.0)
    assert prune_lake(stored.lake, 1).files >= 1
    assert contents(stored.lake) == before
    assert add_runs(stored, raw) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "methods", "within", "words"),
    [
        pytest.param(Fault(500), "", "", "has failed (500)", id="500"),
        pytest.param(Fault(503, "SlowDown"), "", "", "is too busy (503)", id="503"),
        pytest.param(Fault(400, "ExpiredToken"), "", "", "credentials have expired", id="expired"),
        pytest.param(Fault(403, "InvalidAccessKeyId"), "", "", "not know the", id="unknown-key"),
        pytest.param(Fault(403, "AccessDenied"), "PUT POST", "", "not allow it", id="read-only"),
        pytest.param(Fault(0), "", "", "does not answer", id="cut-off"),
        pytest.param(Fault(500), "PUT", "s/tiny/netpipe", "has failed", id="500-in-big-files"),
        pytest.param(Fault(0), "PUT", "lake/runs/part", "does not answer", id="cut-off-in-rows"),
        pytest.param(Fault(503), "PUT", "runs/_delta_log/00000000000000000001", "too busy",
                     id="503-in-commit"),
    ],
)  # fmt: skip
def test_a_store_that_fails_is_named_and_the_same_command_goes_on(
    stored: Stored, raw: Path, local: Path, capsys: pytest.CaptureFixture[str], fault: Fault,
    methods: str, within: str, words: str,
) -> None:  # fmt: skip
    stored.fail(fault, methods, within)
    assert add_runs(stored, raw) == 1
    said = capsys.readouterr()
    assert words in said.err
    assert stored.proxy.address in said.err
    assert said.err.startswith("ingest: cannot ")
    assert not [secret for secret in (KEY, SECRET) if secret in said.err + said.out]
    stored.clear()
    assert add_runs(stored, raw) in (0, 3)
    if within:
        assert contents(stored.lake) == contents(local)


@pytest.mark.slow
def test_a_store_that_hangs_is_named(
    stored: Stored, raw: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("_STALL_S", "_REQUEST_S", "_GIVE_UP_S"):
        monkeypatch.setattr(object_store, name, 1)
    stored.fail(Fault(wait_s=60))
    assert add_runs(stored, raw) == 1
    assert f"the object store {stored.proxy.address} answers too slowly" in capsys.readouterr().err


@pytest.mark.usefixtures("stored")
def test_a_bucket_that_is_not_there(raw: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["add", str(raw)], ["status"], ["verify"], ["prune"], ["problems"]):
        assert ingest.__main__.main([*words, "--lake", "s3://no-such-bucket/lake"]) == 1
        assert "has no bucket 'no-such-bucket': make it" in capsys.readouterr().err


def test_no_credentials(
    stored: Stored, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    assert command(stored, "status") == 1
    assert "no credentials were found" in capsys.readouterr().err


def test_credentials_of_a_profile_sign_all_requests(stored: Stored, tmp_path: Path) -> None:
    """Those of delta-rs for the log, and those of pyarrow for the copies."""
    write_lake(stored.lake, [run(flags=[], sources=[], files=[])])
    create_tables(stored.lake)
    (tmp_path / "keys").write_text(
        f"[lab]\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n"
    )
    (tmp_path / "config").write_text(
        f"[profile lab]\nregion = us-east-1\nendpoint_url = {stored.proxy.address}\n"
    )
    environment = {name: text for name, text in os.environ.items() if not name.startswith("AWS_")}
    environment |= {
        "AWS_PROFILE": "lab", "AWS_CONFIG_FILE": str(tmp_path / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "keys"),
        "WATTLAS_CACHE": str(tmp_path / "other"),
    }  # fmt: skip
    stored.clear()
    asked = subprocess.run(
        [sys.executable, "-m", "ingest", "status", "--lake", stored.address],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (asked.returncode, asked.stderr) == (0, "")
    assert "1 run" in asked.stdout
    assert {".parquet" in request.path for request in stored.proxy.requests} == {False, True}
    signed = [request.authorization for request in stored.proxy.requests]
    assert all(f"Credential={KEY}/" in text for text in signed)


def test_an_address_with_a_password_is_no_command_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for given in (["--lake", "s3://me:CANARY@bucket/lake"], []):
        monkeypatch.setenv("WATTLAS_LAKE", "s3://me:CANARY@bucket/lake")
        with pytest.raises(SystemExit, match="2"):
            ingest.__main__.main(["status", *given])
        said = capsys.readouterr()
        assert "Credentials come from" in said.err
        assert "CANARY" not in said.err + said.out


class Interrupted:
    """A file whose third block is never read: the user has pressed Ctrl-C."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._reads = 0

    def read(self, size: int) -> bytes:
        self._reads += 1
        if self._reads == 3:
            raise KeyboardInterrupt
        return self._file.read(size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@pytest.mark.parametrize("is_user", [False, True], ids=["failed", "interrupted"])
def test_a_half_written_upload_is_no_file(stored: Stored, is_user: bool) -> None:
    """24 MB are parts of 10 MB; a stream that fails must not be closed as if it were whole."""
    target = open_target(stored.lake / "power", "run")
    target.file.write(bytes(24_000_000))
    if is_user:
        opened = cast(Any, target)
        opened._open = Interrupted(opened._open)
    else:
        stored.fail(Fault(500), within="partNumber=2")
    with pytest.raises((OSError, KeyboardInterrupt)):
        target.publish("run.0.parquet")
    target.abandon()
    stored.clear()
    assert big_files(stored.lake) == {}


def test_two_committers_of_one_version(stored: Stored) -> None:
    create_tables(stored.lake)
    rows = [run(replicate=replicate, files=[], sources=[], flags=[]) for replicate in range(2)]
    committers = [Committer(stored.lake, load_state(stored.lake)) for _ in range(2)]
    for committer in committers:
        committer.add_run(rows[0])
    committers[0].finish({})
    with pytest.raises(LakeError, match=r"another ingest has committed to s3://.*version 1, exp"):
        committers[1].finish({})
    committers[0].add_run(rows[1])
    committers[0].finish({})
    assert len(rows_of(stored.lake, "runs")) == 2


@pytest.mark.slow
def test_an_ingest_that_another_overtakes_doubles_nothing(
    stored: Stored, raw: Path, local: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    real = ingest.proposed_settings.discover

    def overtaken(*given: Any) -> Any:
        monkeypatch.setattr(ingest.proposed_settings, "discover", real)
        assert add_runs(stored, raw) == 3
        return real(*given)

    monkeypatch.setattr(ingest.proposed_settings, "discover", overtaken)
    assert add_runs(stored, raw) == 1
    assert "the same command continues" in capsys.readouterr().err
    assert add_runs(stored, raw) == 0
    assert contents(stored.lake) == contents(local)


def test_a_commit_whose_answer_is_lost_doubles_nothing(
    stored: Stored, raw: Path, local: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """The store commits, the client does not hear of it, asks again and is refused."""
    # However busy the machine is, all runs are one commit.
    monkeypatch.setattr(commits, "FLUSH_S", 3600.0)
    stored.fail(Fault(500, is_done=True), "PUT", "runs/_delta_log/00000000000000000001", times=1)
    assert add_runs(stored, raw) in (1, 3)
    capsys.readouterr()
    assert add_runs(stored, raw) in (0, 3)
    assert contents(stored.lake) == contents(local)
    table = delta_table(stored.lake / "runs")
    assert table
    # The runs in one commit, their work in another.
    assert table.version() == 2

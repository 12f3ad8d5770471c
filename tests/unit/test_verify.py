"""`verify` finds any damage of a lake, the app refuses damaged files, and a lost commit is said."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from deltalake import DeltaTable, write_deltalake

from app.__main__ import _settings, build_parser
from app.server import create_app
from data import file_digests
from data.connection import open_lake
from data.errors import LakeError
from data.lake_place import LakePath
from data.run_files import RunFiles
from data.schema import RUN_TABLES
from ingest.__main__ import main
from ingest.lake.maintenance import prune_lake
from ingest.lake.verification import Proof, verify_lake
from tests.fixtures.ingest import add_status, problems, runs
from tests.fixtures.raw_runs import (
    LOG,
    SUMMARY_HEADER,
    summary_row,
    write_memcached,
    write_netpipe,
    write_settings,
)

LOG_FOLDER = Path("_delta_log")


def kinds(lake: Path) -> dict[str, list[Path]]:
    """The files of a lake by kind, each kind at least once."""
    found = {name: sorted((lake / name).rglob("*.parquet")) for name in RUN_TABLES}
    for name in ("runs", "problems"):
        found[name] = sorted((lake / name).glob("*.parquet"))
        found[f"{name} entries"] = sorted((lake / name / LOG_FOLDER).glob("*.json"))
        found[f"{name} checkpoints"] = sorted((lake / name / LOG_FOLDER).glob("*.parquet"))
    return {kind: paths for kind, paths in found.items() if paths}


def flip(path: Path, chance: random.Random) -> bytes:
    """Change one random bit of a file; return its bytes before."""
    content = path.read_bytes()
    changed = bytearray(content)
    changed[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(changed)
    return content


def passed(lake: Path, flips: int, seed: int) -> Iterator[str]:
    """Flip bits one after the other, over all kinds of files; yield those that verify passes."""
    chance, files = random.Random(seed), kinds(lake)
    for number in range(flips):
        path = chance.choice(files[sorted(files)[number % len(files)]])
        before = flip(path, chance)
        name = path.relative_to(lake).as_posix()
        if not any(fault.path == name and fault.detail for fault in verify_lake(lake)):
            yield f"flip {number}: {name}"
        path.write_bytes(before)


@pytest.fixture
def small(made: Path, tmp_path: Path) -> Path:
    """A lake of three runs with logs and some of a table, in versions of several adds."""
    return Path(shutil.copytree(made, tmp_path / "made")) / "lake"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verify")
    raw, lake = folder / "raw", folder / "lake"
    write_settings(raw)
    write_memcached(raw, cores=(0,))
    (raw / "one.csv").write_text(SUMMARY_HEADER + summary_row(0, joules=3) + summary_row(1))
    for replicate in range(2):
        write_netpipe(raw, replicate, LOG + "7 1 2\n")
        assert main(["add", str(raw), "--lake", str(lake)]) == 3
    return folder


def test_no_flipped_bit_passes(small: Path) -> None:
    files = kinds(small)
    assert {"interrupts", "samples", "overview", "histograms", "runs", "problems"} <= set(files)
    assert list(verify_lake(small)) == []
    assert list(passed(small, 3 * len(files), 1)) == []


@pytest.mark.slow
def test_no_flipped_bit_passes_in_a_lake_of_all_kinds(logged_lake: Path, tmp_path: Path) -> None:
    """130 flips, as reported, of ten kinds of files and more."""
    lake = tmp_path / "lake"
    shutil.copytree(logged_lake, lake)
    prune_lake(lake, 3)
    assert {"power", "functions", "interrupts", "runs checkpoints"} <= set(kinds(lake))
    assert list(verify_lake(lake)) == []
    assert list(passed(lake, 130, 130)) == []


def test_files_of_older_kept_versions_are_verified(small: Path) -> None:
    """The file was replaced since, but a link may pin the version that names it."""
    version = DeltaTable(str(small / "runs")).version()
    table = small.parent / "raw" / "one.csv"
    table.write_text(SUMMARY_HEADER + summary_row(0, joules=4))
    assert main(["add", str(table.parent), "--lake", str(small)]) == 0
    old = {Path(u) for u in DeltaTable(str(small / "runs"), version=version).file_uris()}
    path = min(old - {Path(uri) for uri in DeltaTable(str(small / "runs")).file_uris()})
    flip(path, random.Random(0))
    (fault,) = verify_lake(small)
    assert fault.path == f"runs/{path.name}"
    assert "damaged" in fault.detail


@pytest.mark.parametrize("kind", ["runs", "problems"])
def test_a_damaged_table_is_refused_before_it_is_queried(small: Path, kind: str) -> None:
    open_lake(small).close()
    (path,) = [Path(uri) for uri in DeltaTable(str(small / kind)).file_uris()][:1]
    flip(path, random.Random(0))
    with pytest.raises(LakeError, match=rf"{path.name} is damaged.*ingest verify"):
        open_lake(small)


def test_a_damaged_file_of_a_run_is_refused_by_pages(small: Path) -> None:
    with open_lake(small) as lake:
        files = RunFiles(lake)
        run_id = lake.sql("SELECT min(run_id) FROM runs WHERE has_log").fetchall()[0][0]
        facts = files.facts([run_id])[run_id]
        path = small / facts.files["interrupts"]
        files.file(facts, "interrupts")
        before = flip(path, random.Random(0))
        with pytest.raises(LakeError, match=rf"{path.name} is damaged"):
            files.file(facts, "interrupts")
        with pytest.raises(LakeError, match=rf"{path.name} is damaged"):
            lake.scan("interrupts", [run_id])
        path.write_bytes(before)
        assert files.file(facts, "interrupts").metadata.num_rows


def test_a_file_is_read_once_for_its_check(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    real = file_digests.digest_of_file

    def reading(path: LakePath) -> str:
        read.append(str(path))
        return real(path)

    monkeypatch.setattr(file_digests, "digest_of_file", reading)
    # For slow stores the check can be turned off.
    options = build_parser().parse_args(["--lake", str(small), "--check-files", "off"])
    create_app(_settings(build_parser(), options)).server.test_client().get("/")
    open_lake(small, is_checked=False).close()
    assert read == []
    for _ in range(2):
        open_lake(small).close()
    assert len(read) == len(set(read)) > 0


def newest_entry(lake: Path, name: str = "runs") -> Path:
    return sorted((lake / name / LOG_FOLDER).glob("*.json"))[-1]


def run_ids(lake: Path) -> list[str]:
    with open_lake(lake) as opened:
        return [row[0] for row in opened.sql("SELECT run_id FROM runs ORDER BY 1").fetchall()]


EMPTIED = {
    "emptied": lambda entry: entry.write_bytes(b""),
    "removed": lambda entry: entry.unlink(),
    "cut within a line": lambda entry: entry.write_bytes(entry.read_bytes()[:-20]),
    "cut after a line": lambda entry: entry.write_bytes(entry.read_bytes().splitlines(True)[0]),
}


@pytest.mark.thin(3)
@pytest.mark.parametrize("has_digest", [True, False])
@pytest.mark.parametrize("damage", EMPTIED)
def test_a_lost_newest_commit_is_said_and_repaired(
    small: Path, damage: str, has_digest: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """As after a power cut, with or without the digest that is written after the entry."""
    if damage == "removed" and not has_digest:
        pytest.skip("nothing is left that would tell of the commit")
    before = run_ids(small)
    # The lake as it was before the work of the newest run was labelled.
    last = newest_entry(small)
    last.unlink()
    (small / "runs" / "_digests" / f"{last.name}.xxh3").unlink()
    entry = newest_entry(small)
    files = sorted(path for name in RUN_TABLES for path in (small / name).rglob("*.parquet"))
    EMPTIED[damage](entry)
    if not has_digest:
        (small / "runs" / "_digests" / f"{entry.name}.xxh3").unlink()
    name = f"runs/_delta_log/{entry.name}"
    faults = [fault for fault in verify_lake(small) if fault.path == name]
    assert [("ingest repair" in fault.detail) for fault in faults] == [True]
    raw = str(small.parent / "raw")
    for command in (["add", raw], ["prune"]):
        capsys.readouterr()
        assert main([*command, "--lake", str(small)]) == 1
        said = capsys.readouterr().err
        assert name in said
        assert "ingest repair" in said
        assert "No run names interrupts/" in said
    # Nothing was removed that the lost commit named.
    there = sorted(path for name in RUN_TABLES for path in (small / name).rglob("*.parquet"))
    assert there == files
    assert main(["repair", "--lake", str(small)]) == 0
    assert main(["add", raw, "--lake", str(small)]) in (0, 3)
    assert run_ids(small) == before
    assert list(verify_lake(small)) == []
    assert main(["repair", "--lake", str(small)]) == 0
    assert "nothing to repair" in capsys.readouterr().out


def test_an_emptied_older_entry_is_no_case_for_repair(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = sorted((small / "runs" / LOG_FOLDER).glob("*.json"))[-2]
    entry.write_bytes(b"")
    assert main(["repair", "--lake", str(small)]) == 1
    said = capsys.readouterr().err
    assert f"runs/_delta_log/{entry.name} is empty" in said
    assert "backup" in said


def without_digests(lake: Path) -> None:
    """Make a lake as older versions of wattlas wrote it."""
    with open_lake(lake) as opened:
        rows = opened.sql("SELECT * FROM _runs_all").to_arrow_table()
        found = opened.sql("SELECT * FROM problems").to_arrow_table()
    files = [
        [{k: v for k, v in file.items() if k != "digest"} for file in each or ()]
        for each in rows["files"].to_pylist()
    ]
    import pyarrow as pa

    kept = rows.schema.get_field_index("files")
    shape = pa.list_(
        pa.struct([f for f in rows.schema.field("files").type.value_type if f.name != "digest"])
    )
    rows = rows.set_column(kept, "files", pa.array(files, shape))
    description = DeltaTable(str(lake / "runs")).metadata().description
    for name, table in (("runs", rows), ("problems", found)):
        shutil.rmtree(lake / name)
        write_deltalake(str(lake / name), table, description=description, name=name)


def test_a_lake_without_digests_gets_them_from_the_next_add(small: Path) -> None:
    before = run_ids(small)
    without_digests(small)
    proof = Proof()
    assert list(verify_lake(small, proof)) == []
    big = [path for path in proof.unproven if path.partition("/")[0] in RUN_TABLES]
    assert len(big) == len([p for name in RUN_TABLES for p in (small / name).rglob("*.parquet")])
    assert any(path.startswith("runs/part-") for path in proof.unproven)
    assert main(["add", str(small.parent / "raw"), "--lake", str(small)]) in (0, 3)
    assert run_ids(small) == before
    prune_lake(small, 1)
    proof = Proof()
    assert list(verify_lake(small, proof)) == []
    assert proof.unproven == []
    assert list(passed(small, 2 * len(kinds(small)), 5)) == []


def test_files_that_nobody_names_are_listed(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stray = small / "power" / "lab" / "gone.0123456789ab.parquet"
    stray.parent.mkdir(parents=True)
    stray.write_bytes(b"x")
    assert main(["verify", "--lake", str(small)]) == 0
    assert "1 file that no run names" in capsys.readouterr().out
    assert main(["prune", "--lake", str(small)]) == 0
    assert not stray.exists()


def test_what_verify_finds_is_repaired_by_add(
    raw: Path, lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for replicate in range(3):
        write_netpipe(raw, replicate)
    add_status(lake, raw)
    before = runs(lake)
    missing, cut, _ = sorted((lake / "interrupts").rglob("*.parquet"))
    missing.unlink()
    cut.write_bytes(cut.read_bytes()[:-9])
    capsys.readouterr()
    assert main(["verify", "--lake", str(lake)]) == 1
    assert capsys.readouterr().out.endswith("2 faults\n")
    assert add_status(lake, raw) == 0
    assert "2 replaced, 1 already there" in capsys.readouterr().out
    assert main(["verify", "--lake", str(lake)]) == 0
    assert runs(lake) == before


def test_a_damaged_run_whose_raw_files_are_gone_is_named(raw: Path, lake: Path) -> None:
    log = write_netpipe(raw)
    add_status(lake, raw)
    log.unlink()
    next((lake / "interrupts").rglob("*.parquet")).unlink()
    assert add_status(lake, raw) == 3
    assert {kind for _, _, kind, _ in problems(lake)} == {"source_gone"}

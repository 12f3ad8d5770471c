"""The command line: exit status, what is printed, and for machines."""

import json
import os
import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest
from deltalake import DeltaTable

from data.connection import open_lake
from data.lake_watch import newest_version
from ingest.__main__ import main
from ingest.lake.tables import locked_lake
from tests.fixtures.raw_runs import LOG, write_memcached, write_netpipe, write_settings


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    folder = tmp_path / "raw"
    write_settings(folder)
    write_netpipe(folder)
    return folder


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "the lake"
    monkeypatch.setenv("WATTLAS_LAKE", str(folder))
    return folder


def test_all_well_is_0(raw: Path, lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["add", str(raw)]) == 0
    assert "1 added" in capsys.readouterr().out
    assert main(["add", str(raw)]) == 0
    assert "1 already there" in capsys.readouterr().out
    assert main(["status"]) == 0
    assert "tiny  netpipe  linux_tuned" in capsys.readouterr().out
    assert main(["problems"]) == 0
    assert "no problems" in capsys.readouterr().out
    assert main(["verify"]) == 0
    assert lake.is_dir()


def test_refused_input_is_3_and_named(
    raw: Path, lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = write_netpipe(raw, replicate=1, log=LOG + "7 1 2\n")
    assert main(["add", str(raw)]) == 3
    out = capsys.readouterr().out
    assert f"refused: {log}, line 7: field_count" in out
    assert main(["add", str(raw)]) == 0
    capsys.readouterr()
    assert main(["problems", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["path"], row["line"], row["kind"]) == (str(log), 7, "field_count")
    assert lake.is_dir()


def test_equal_problems_of_a_file_are_one_line(
    tmp_path: Path, lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{mode},{n},{0 if n < 8 else 9.5},{9.5 / n}\n" for mode in "ab" for n in (1, 4, 8, 16)]
    (tmp_path / "costs.csv").write_text("".join(["mode,threads,energy_j,time_s\n", *rows]))
    assert main(["add", str(tmp_path / "costs.csv")]) in (0, 3)
    capsys.readouterr()
    assert main(["problems"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if " energy of 0 J" in line]
    assert len(lines) == 1
    assert "costs.csv, line 2: " in lines[0]
    assert lines[0].endswith(" (4 times, the last in line 7)")
    assert lake.is_dir()


def test_refusals_of_one_cause_are_one_line(
    raw: Path, lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = [write_netpipe(raw, replicate=number, log=LOG + "7 1 2\n") for number in (1, 2, 3)]
    assert main(["add", str(raw), "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "would be runs: 4;" in out
    assert "tiny  netpipe  linux_tuned: dvfs_code 0x1900" in out
    assert not lake.exists()
    assert main(["add", str(raw)]) == 3
    out = capsys.readouterr().out
    assert f"refused: 3 times field_count, such as {logs[0]}, line 7: " in out
    assert str(logs[1]) not in out


def test_json_for_machines(raw: Path, lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = write_netpipe(raw, replicate=1, log="")
    assert main(["add", str(raw), "--json"]) == 3
    said = json.loads(capsys.readouterr().out)
    assert said["added"] == 2
    refused = [p for p in said["problems"] if p["severity"] == "refused"]
    assert [(p["path"], p["kind"]) for p in refused] == [(str(log), "empty_file")]
    assert main(["status", "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["runs"], status["version"]) == (2, newest_version(lake))
    assert status["flags"] == {"no_log": 1}
    assert status["raw_files"] == 5


def test_files_that_are_no_raw_logs_are_named(
    raw: Path, lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [raw / f"plot-{n}.png" for n in range(7)]
    for path in paths:
        path.write_bytes(b"\x89PNG")
    os.mkfifo(raw / "pipe")
    why = "no known format, and no pattern matches its name"
    lines = [
        f"ignored: {raw / 'pipe'}: neither a file nor a folder",
        *(f"ignored: {path}: {why}" for path in paths),
    ]

    def said(*options: str) -> list[str]:
        assert main(["add", str(raw), *options]) == 0
        return [line for line in capsys.readouterr().out.splitlines() if "ignored" in line]

    assert said() == [*lines[:5], "and 3 more ignored; --verbose names them"]
    assert said("--verbose") == lines
    assert main(["add", str(raw), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["ignored"] == 8
    assert report["ignored_files"][1] == {"path": str(paths[0]), "reason": why}
    assert lake.is_dir()


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["add", ".", "--json", "--verbose"],
        ["add"],
        ["add", "nowhere/at/all"],
        ["add", ".", "--workers", "0"],
        ["add", ".", "--settings", "nowhere.toml"],
        ["add", ".", "--dataset", "../x"],
        ["sample", "out", "--size", "huge"],
        ["fly"],
        ["prune", "--keep-versions", "none"],
    ],
)
def test_a_wrong_command_line_is_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2


def test_anything_else_is_1(raw: Path, lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status"]) == 1
    assert "no lake" in capsys.readouterr().err
    write_settings(raw, "[machin]\n")
    assert main(["add", str(raw)]) == 1
    assert "machin" in capsys.readouterr().err
    assert not (lake / "interrupts").exists()


def test_two_at_once_is_said_clearly(
    raw: Path, lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with locked_lake(lake):
        assert main(["add", str(raw)]) == 1
    assert "another ingest is writing" in capsys.readouterr().err
    assert main(["add", str(raw)]) == 0


def test_a_lake_of_a_later_schema_is_refused(
    raw: Path, lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["add", str(raw)]) == 0
    DeltaTable(str(lake / "runs")).alter.set_table_description("wattlas schema 99")
    assert main(["add", str(raw)]) == 1
    assert "says 'wattlas schema 99', this wattlas writes" in capsys.readouterr().err


@pytest.mark.slow
def test_prune_keeps_the_newest_versions_and_their_files(raw: Path, lake: Path) -> None:
    log = write_netpipe(raw)
    for number in range(4):
        log.write_text(LOG.replace("300", f"30{number}"))
        main(["add", str(raw)])
    newest = newest_version(lake)
    assert len(list((lake / "interrupts").rglob("*.parquet"))) == 4
    assert main(["prune", "--keep-versions", "2"]) == 0
    assert len(list((lake / "interrupts").rglob("*.parquet"))) == 2
    assert newest_version(lake) == newest
    assert main(["verify"]) == 0
    for version in (newest, newest - 1):
        with open_lake(lake, version) as opened:
            (run,) = opened.polars("SELECT * FROM runs").to_dicts()
            assert opened.scan("interrupts", [run["run_id"]]).fetchall()
    with pytest.raises(Exception, match="version"):
        open_lake(lake, newest - 2)
    log.write_text(LOG)
    assert main(["add", str(raw)]) == 0
    assert newest_version(lake) == newest + 1


def test_sample_calls_the_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[tuple[Path, str, int]] = []

    def write_sample(out: Path, size: str, seed: int, progress: object) -> Path:  # noqa: ARG001
        calls.append((out, size, seed))
        return out

    monkeypatch.setitem(
        sys.modules, "ingest.sample", types.SimpleNamespace(write_sample=write_sample)
    )
    assert main(["sample", str(tmp_path / "out"), "--size", "tiny", "--seed", "7"]) == 0
    assert calls == [(tmp_path / "out", "tiny", 7)]
    assert "synthetic" in capsys.readouterr().out


@pytest.mark.slow
def test_many_small_commits_are_merged(
    tmp_path: Path, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.lake.commits.FLUSH_RUNS", 1)
    folder = tmp_path / "many"
    write_settings(folder)
    for replicate in range(60):
        write_memcached(folder, replicate, cores=())
    assert main(["add", str(folder)]) == 0
    with open_lake(lake) as opened:
        assert opened.polars("SELECT count(*) FROM runs").item() == 60
    assert len(DeltaTable(str(lake / "runs")).file_uris()) == 1


def cut_rows(lake: Path) -> None:
    for file in (lake / "runs").glob("*.parquet"):
        file.write_bytes(file.read_bytes()[:1000])


def cut_entry(lake: Path) -> None:
    entry = max((lake / "runs" / "_delta_log").glob("*.json"))
    entry.write_bytes(entry.read_bytes()[:-200])


@pytest.mark.thin(4)
@pytest.mark.parametrize("damage", [cut_rows, cut_entry])
@pytest.mark.parametrize("command", ["status", "add", "prune", "verify"])
def test_a_damaged_lake_is_named_in_one_line(
    raw: Path,
    lake: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    damage: Callable[[Path], None],
    command: str,
) -> None:
    monkeypatch.setenv("RUST_BACKTRACE", "1")  # delta-rs then writes where it failed.
    main(["add", str(raw)])
    damage(lake)
    write_memcached(raw)
    capfd.readouterr()
    assert main([command, *([str(raw)] if command == "add" else [])]) == 1
    out, err = capfd.readouterr()
    assert "Traceback" not in err
    assert "<unknown>" not in err
    said = [line for line in (out + err).splitlines() if str(lake) in line or "runs/" in line]
    assert said, (out, err)


def test_lines_of_json_that_are_nested_deeply_are_refused(
    raw: Path, lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deep = '{"a": ' + "[" * 5000 + "]" * 5000 + "}"
    (raw / "deep.jsonl").write_text(f'{{"a": 1}}\n{deep}\n')
    (raw / "deeper.jsonl").write_text(f"{deep}\n")
    assert main(["add", str(raw)]) in (0, 3)
    assert newest_version(lake) >= 0
    assert "Traceback" not in capsys.readouterr().err

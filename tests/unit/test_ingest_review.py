"""`ingest add` where a review found it wanting: key clashes, settings by path, odd tables."""

from pathlib import Path
from typing import Any

import pytest

from data.connection import open_lake
from ingest.__main__ import main
from tests.fixtures.raw_runs import (
    LOG,
    MUTILATE,
    RDTSC,
    SETTINGS,
    SUMMARY_HEADER,
    summary_row,
    write_memcached,
    write_netpipe,
    write_settings,
)


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    folder = tmp_path / "raw"
    write_settings(folder)
    return folder


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    return tmp_path / "lake"


def ingest(lake: Path, *raw: Path, dataset: str | None = None) -> int:
    named = ["--dataset", dataset] if dataset else []
    return main(["add", *map(str, raw), "--lake", str(lake), "--workers", "2", *named])


def runs(lake: Path, columns: str = "*") -> list[dict[str, Any]]:
    with open_lake(lake) as opened:
        return opened.polars(f"SELECT {columns} FROM runs ORDER BY run_id").to_dicts()


def problems(lake: Path) -> list[tuple[str, int | None, str, str]]:
    """File name, line, kind and severity of each problem."""
    with open_lake(lake) as opened:
        rows = opened.polars("SELECT * FROM problems ORDER BY path, line, kind").to_dicts()
    return [(Path(row["path"]).name, row["line"], row["kind"], row["severity"]) for row in rows]


def test_a_measured_row_is_kept_beside_raw_files_of_its_key_in_any_order(
    raw: Path, tmp_path: Path
) -> None:
    # The raw run has an output only, so the energy of replicate 0 is known from the table alone.
    write_memcached(raw / "logs", cores=())
    (raw / "tables").mkdir()
    (raw / "tables" / "t.csv").write_text(SUMMARY_HEADER + summary_row(0) + summary_row(1))
    results = []
    for number, steps in enumerate((["logs", "tables"], ["tables", "logs"], ["."])):
        lake = tmp_path / f"lake{number}"
        for step in [*steps, "."]:
            ingest(lake, raw / step, dataset="tiny")
        results.append((runs(lake), problems(lake)))
    rows = sorted((r["replicate"], r["energy_j"], r["source"], r["flags"]) for r in results[0][0])
    assert rows == [
        (0, None, "mutilate", ["no_log"]),
        (1, 900.0, "summary", []),
        (2, 900.0, "summary", ["duplicate_key"]),
    ]
    assert ("t.csv", 2, "duplicate_key", "doubted") in results[0][1]
    assert results[0] == results[1] == results[2]


def test_a_moved_table_is_not_counted_twice(raw: Path, lake: Path, tmp_path: Path) -> None:
    (raw / "t.csv").write_text(SUMMARY_HEADER + summary_row(0) + summary_row(0, joules=1))
    ingest(lake, raw)
    raw.rename(tmp_path / "moved")
    ingest(lake, tmp_path / "moved")
    assert sorted((r["replicate"], r["energy_j"]) for r in runs(lake)) == [(0, 900.0), (1, 1.0)]


def test_adding_a_folder_leaves_the_rows_of_others_their_settings(
    raw: Path, lake: Path, tmp_path: Path
) -> None:
    write_settings(raw, SETTINGS.replace("[machine]", "synthetic = true\n[machine]"))
    (raw / "t.csv").write_text(SUMMARY_HEADER + summary_row(0) + summary_row(1))
    write_netpipe(raw)
    ingest(lake, raw)
    before = runs(lake)
    extra = tmp_path / "extra"
    extra.mkdir()
    (extra / "u.csv").write_text(SUMMARY_HEADER + summary_row(7))
    write_netpipe(extra, replicate=5)
    # A further log of a run that is there: its other files keep the clock of their own folder.
    (extra / "linux.np.log.0_1_64_5000_8_0x1900_135.csv").write_text("")
    ingest(lake, extra, dataset="tiny")
    after = {row["run_id"]: row for row in runs(lake)}
    assert [after[row["run_id"]] for row in before] == before
    marks = sorted((r["replicate"], r["is_synthetic"]) for r in after.values())
    assert marks == [(0, True), (0, True), (1, True), (5, False), (7, False)]


def test_labels_given_by_hand_stay_on_tables_that_are_not_given_again(
    raw: Path, lake: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own.toml"
    own.write_text('[systems.linux_tuned]\nlabel = "Ours"\n')
    (raw / "t.csv").write_text(SUMMARY_HEADER + summary_row(0))
    main(["add", str(raw), "--lake", str(lake), "--settings", str(own)])
    extra = tmp_path / "extra"
    extra.mkdir()
    (extra / "u.csv").write_text(SUMMARY_HEADER + summary_row(7))
    ingest(lake, extra, dataset="tiny")
    labels = sorted((r["replicate"], r["system_label"]) for r in runs(lake))
    assert labels == [(0, "Ours"), (7, "Linux tuned")]
    ingest(lake, raw)
    assert {r["system_label"] for r in runs(lake)} == {"Linux tuned"}


def test_library_os_logs_of_two_sleep_states_are_two_runs(raw: Path, lake: Path) -> None:
    for state in (0, 3):
        (raw / f"ebbrt_rdtsc.0_50_0X1D00_135_200000_{state}").write_text(RDTSC)
        for core in (0, 1):
            (raw / f"ebbrt_dmesg.0_{core}_50_0X1D00_135_200000_{state}.csv").write_text(LOG)
    assert ingest(lake, raw) == 0
    assert [row["dvfs_code"] for row in runs(lake)] == ["0x1d00", "0x1d00"]


def test_a_load_of_zero_in_a_name_is_no_load(raw: Path, lake: Path) -> None:
    (raw / "linux.mcd.out.0_50_0x1d00_135_0").write_text(MUTILATE)
    ingest(lake, raw)
    (run,) = runs(lake)
    assert (run["load_qps"], run["throughput_qps"]) == (None, 2e5)


@pytest.mark.parametrize("separator", [" ", ",", ";", "\t", ", "])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_summary_tables_of_other_programs_are_read_the_same(
    raw: Path, lake: Path, separator: str, mark: str
) -> None:
    text = (SUMMARY_HEADER + summary_row(0) + summary_row(1)).replace(" ", separator)
    (raw / "t.csv").write_text(mark + text.replace("\n", "\r\n"), newline="")
    assert ingest(lake, raw) == 0
    rows = [(r["replicate"], r["energy_j"], r["itr_us"], r["load_qps"]) for r in runs(lake)]
    assert rows == [(0, 900.0, 50.0, 2e5), (1, 900.0, 50.0, 2e5)]
    assert problems(lake) == []


def test_an_empty_field_between_commas_is_an_unset_value(raw: Path, lake: Path) -> None:
    text = (SUMMARY_HEADER + summary_row(0)).replace(" ", ",").replace(",900.0,", ",,")
    (raw / "t.csv").write_text(text)
    ingest(lake, raw)
    assert [(r["energy_j"], r["instructions"]) for r in runs(lake)] == [(None, 1234)]


@pytest.mark.parametrize("header", ["", "i rx_desc rx_bytes a b c d e f g h i j k l m n o\n"])
def test_a_log_of_eighteen_columns_is_refused(raw: Path, lake: Path, header: str) -> None:
    lines = "".join(f"{n} " + " ".join(["7"] * 17) + "\n" for n in range(50))
    (raw / "linux.np.log.0_1_64_5000_8_0x1900_135").write_text(header + lines)
    assert ingest(lake, raw) == 3
    assert [row[:3] for row in problems(lake)] == [
        ("linux.np.log.0_1_64_5000_8_0x1900_135", None, "unknown_content"),
    ]


def test_refusals_are_listed_by_path_then_line(
    raw: Path, lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Line 3 cannot be decoded, which is found after line 4 has too few fields.
    bad = summary_row(1, itr=5000)
    (raw / "b.csv").write_text(SUMMARY_HEADER + summary_row(0) + bad + "linux_tuned 1\n")
    write_netpipe(raw / "other", log="")
    (raw / "a.csv").write_text(SUMMARY_HEADER + "linux_tuned 1\n" + summary_row(3, itr=5000))
    assert ingest(lake, raw / "other", dataset="aaa") == 3
    capsys.readouterr()
    assert main(["add", str(raw), "--lake", str(lake), "--verbose"]) == 3
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith("refused: ")]
    places = [line.split(": ")[1].removeprefix(f"{raw}/") for line in said]
    log = "other/linux.np.log.0_1_64_5000_8_0x1900_135"
    expected = ["a.csv, line 2", "a.csv, line 3", "b.csv, line 3", "b.csv, line 4", log]
    assert places == expected
    main(["problems", "--lake", str(lake)])
    listed = [line.split(": ")[1] for line in capsys.readouterr().out.splitlines()]
    refused = [place.removeprefix(f"{raw}/") for place in listed]
    assert [place for place in refused if "csv" in place] == expected[:4]
    assert listed == sorted(listed)


@pytest.mark.parametrize("damage", ["missing", "cut"])
def test_what_verify_finds_is_repaired_by_add(
    raw: Path, lake: Path, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_netpipe(raw)
    write_netpipe(raw, replicate=1)
    ingest(lake, raw)
    before = runs(lake)
    big = sorted((lake / "interrupts").rglob("*.parquet"))[0]
    if damage == "missing":
        big.unlink()
    else:
        big.write_bytes(big.read_bytes()[:-9])
    capsys.readouterr()
    assert main(["verify", "--lake", str(lake)]) == 1
    assert capsys.readouterr().out.endswith("1 fault\n")
    assert ingest(lake, raw) == 0
    assert "1 replaced, 1 already there" in capsys.readouterr().out
    assert main(["verify", "--lake", str(lake)]) == 0
    assert runs(lake) == before


def test_a_damaged_run_whose_raw_files_are_gone_is_named(raw: Path, lake: Path) -> None:
    log = write_netpipe(raw)
    ingest(lake, raw)
    log.unlink()
    next((lake / "interrupts").rglob("*.parquet")).unlink()
    assert ingest(lake, raw) == 3
    assert {kind for _, _, kind, _ in problems(lake)} == {"source_gone"}

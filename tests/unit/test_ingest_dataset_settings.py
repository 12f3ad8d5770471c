"""What the settings of a dataset decide about its rows, also when only a part is added again."""

from pathlib import Path

from ingest.__main__ import main
from tests.fixtures.ingest import add_status, ingest, runs
from tests.fixtures.raw_runs import (
    SETTINGS,
    SUMMARY_HEADER,
    summary_row,
    write_netpipe,
    write_settings,
)


def test_new_labels_change_the_row_and_leave_the_files(raw: Path, lake: Path) -> None:
    write_netpipe(raw)
    (raw / "table.csv").write_text(SUMMARY_HEADER + summary_row(5))
    ingest(lake, raw)
    files = sorted((lake / "interrupts").rglob("*.parquet"))
    write_settings(raw, SETTINGS + '[systems.linux_tuned]\nlabel = "Ours"\n')
    report = ingest(lake, raw)
    assert (report.amended, report.bytes_read < 500) == (1, True)
    assert {run["system_label"] for run in runs(lake)} == {"Ours"}
    assert sorted(map(str, (run["has_log"] for run in runs(lake)))) == ["None", "True"]
    assert sorted((lake / "interrupts").rglob("*.parquet")) == files
    assert ingest(lake, raw).unchanged == 2


def test_another_clock_reads_the_runs_again(raw: Path, lake: Path) -> None:
    write_netpipe(raw)
    ingest(lake, raw)
    write_settings(raw, SETTINGS.replace("tsc_khz = 1000000", "tsc_khz = 2000000"))
    assert ingest(lake, raw).replaced == 1
    (run,) = runs(lake)
    assert (run["duration_s"], run["energy_j"]) == (0.001, 2.0)


def test_dataset_names_and_the_synthetic_mark(tmp_path: Path, lake: Path) -> None:
    folder = tmp_path / "sweep"
    write_netpipe(folder / "deep")
    ingest(lake, folder)
    ingest(lake, folder, dataset="other")
    write_settings(folder, '[dataset]\nname = "synthetic-x"\nsynthetic = true\n')
    ingest(lake, folder / "deep")
    found = runs(lake, "dataset, is_synthetic, run_id")
    assert sorted((r["dataset"], r["is_synthetic"]) for r in found) == [
        ("other", False),
        ("sweep", False),
        ("synthetic-x", True),
    ]


def test_adding_a_folder_leaves_the_rows_of_others_their_settings(
    raw: Path, lake: Path, tmp_path: Path
) -> None:
    write_settings(raw, SETTINGS.replace("[machine]", "synthetic = true\n[machine]"))
    (raw / "t.csv").write_text(SUMMARY_HEADER + summary_row(0) + summary_row(1))
    write_netpipe(raw)
    add_status(lake, raw)
    before = runs(lake)
    extra = tmp_path / "extra"
    extra.mkdir()
    (extra / "u.csv").write_text(SUMMARY_HEADER + summary_row(7))
    write_netpipe(extra, replicate=5)
    # A further log of a run that is there: its other files keep the clock of their own folder.
    (extra / "linux.np.log.0_1_64_5000_8_0x1900_135.csv").write_text("")
    add_status(lake, extra, dataset="tiny")
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
    add_status(lake, extra, dataset="tiny")
    labels = sorted((r["replicate"], r["system_label"]) for r in runs(lake))
    assert labels == [(0, "Ours"), (7, "Linux tuned")]
    add_status(lake, raw)
    assert {r["system_label"] for r in runs(lake)} == {"Linux tuned"}

"""Summary tables: their keys, their separators, what a change replaces, and where refusals are."""

from pathlib import Path

import pytest

from ingest.__main__ import main
from tests.fixtures.ingest import add_status, ingest, problems, runs, tuples
from tests.fixtures.raw_runs import (
    SUMMARY_HEADER,
    summary_row,
    write_memcached,
    write_netpipe,
    write_settings,
)


def test_summary_rows_with_a_key_that_is_there(raw: Path, lake: Path) -> None:
    rows = [summary_row(0), summary_row(1), summary_row(0, joules=901), summary_row(1)]
    (raw / "table.csv").write_text(SUMMARY_HEADER + "".join(rows))
    report = ingest(lake, raw)
    assert (report.added, report.rows.dropped) == (3, 1)
    found = runs(lake, "replicate, energy_j, flags, run_id")
    assert sorted((r["replicate"], r["energy_j"], r["flags"]) for r in found) == [
        (0, 900.0, ["power_derived"]),
        (1, 900.0, ["power_derived"]),
        (2, 901.0, ["duplicate_key", "power_derived"]),
    ]
    assert problems(lake) == [
        ("table.csv", 4, "duplicate_key", "doubted"),
        ("table.csv", 5, "identical_row", "repaired"),
    ]


def test_a_changed_table_is_replaced_as_a_whole_and_a_moved_one_counted_once(
    raw: Path, lake: Path
) -> None:
    table = raw / "table.csv"
    table.write_text(SUMMARY_HEADER + summary_row(0) + summary_row(1) + summary_row(0, joules=1))
    ingest(lake, raw)
    table.write_text(SUMMARY_HEADER + summary_row(0) + summary_row(2, joules=500))
    report = ingest(lake, raw)
    assert (report.added, report.removed) == (0, 1)
    assert sorted(r["energy_j"] for r in runs(lake)) == [500.0, 900.0]
    assert problems(lake) == []
    table.write_text(SUMMARY_HEADER + summary_row(0) + summary_row(0, joules=1))
    ingest(lake, raw)
    raw.rename(raw.parent / "moved")
    ingest(lake, raw.parent / "moved")
    assert sorted((r["replicate"], r["energy_j"]) for r in runs(lake)) == [(0, 900.0), (1, 1.0)]


def test_tables_of_a_dataset_stand_together_in_any_order(raw: Path, tmp_path: Path) -> None:
    for name, joules in (("a", 1.0), ("b", 2.0)):
        write_settings(raw / name)
        (raw / name / f"{name}.csv").write_text(SUMMARY_HEADER + summary_row(0, joules=joules))
    results = []
    for number, folders in enumerate(([raw / "b", raw / "a"], [raw])):
        lake = tmp_path / f"lake{number}"
        for folder in folders:
            ingest(lake, folder)
        results.append((runs(lake), problems(lake)))
    assert results[0] == results[1]


def test_many_problems_of_a_table_stay_few_rows(raw: Path, lake: Path) -> None:
    rows = [summary_row(0, joules=number) for number in range(1, 1001)]
    (raw / "table.csv").write_text(SUMMARY_HEADER + "".join(rows))
    ingest(lake, raw)
    # And one of rows of one configuration that took a thousand times as much.
    assert tuples(lake, "SELECT count(*), sum(count) FROM problems") == [(202, 1000)]
    assert len(runs(lake)) == 1000


def test_a_measured_row_is_kept_beside_raw_files_of_its_key_in_any_order(
    raw: Path, tmp_path: Path
) -> None:
    # The raw run has an output only, so the energy of replicate 0 is known from the table alone.
    write_memcached(raw / "logs", cores=())
    (raw / "tables").mkdir()
    (raw / "tables" / "t.csv").write_text(SUMMARY_HEADER + summary_row(0) + summary_row(1))
    results = []
    for number, steps in enumerate((["logs", "tables"], ["tables", "logs"])):
        lake = tmp_path / f"lake{number}"
        for step in [*steps, "."]:
            add_status(lake, raw / step, dataset="tiny")
        results.append((runs(lake), problems(lake)))
    rows = sorted((r["replicate"], r["energy_j"], r["source"], r["flags"]) for r in results[0][0])
    assert rows == [
        (0, None, "mutilate", ["no_log"]),
        (1, 900.0, "summary", ["power_derived"]),
        (2, 900.0, "summary", ["duplicate_key", "power_derived"]),
    ]
    assert ("t.csv", 2, "duplicate_key", "doubted") in results[0][1]
    assert results[0] == results[1]


def test_refusals_are_listed_by_path_then_line(
    raw: Path, lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Line 3 cannot be decoded, which is found after line 4 has too few fields.
    bad = summary_row(1, itr=5000)
    (raw / "b.csv").write_text(SUMMARY_HEADER + summary_row(0) + bad + "linux_tuned 1\n")
    write_netpipe(raw / "other", log="")
    (raw / "a.csv").write_text(SUMMARY_HEADER + "linux_tuned 1\n" + summary_row(3, itr=5000))
    assert add_status(lake, raw / "other", dataset="aaa") == 3
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

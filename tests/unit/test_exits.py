"""Rows of programs that failed: `problems` tells them, and a code of exit is no setting."""

from pathlib import Path

import pytest

from data.connection import open_lake
from tests.fixtures.ingest import details, ingest, put

ROWS = [(1, 90.75, 9.5), (1, 91.25, 9.625), (2, 60.5, 5.25), (2, 61.5, 5.125)]


@pytest.mark.parametrize(
    ("heading", "ends", "told"),
    [
        ("EXIT_CODE", ("127",) * 4, "EXIT_CODE is 127 in all 4 rows"),
        ("returncode", ("0", "1", "0", "139"), "returncode is 1, 139 in 2 of 4 rows"),
        ("exit_status", ("1", "2", "3", "4"), "exit_status is 1, 2, 3, 4 in all 4 rows"),
        ("ExitCode", ("1:0", "0:0", "0:0", "0:0"), "ExitCode is 1:0 in 1 of 4 rows"),
        ("success", ("False",) * 4, "success is False in all 4 rows"),
        # What passed is a result, and a status of HTTP is no end.
        ("success", ("False", "True", "True", "True"), ""),
        ("exit_code", ("0",) * 4, ""),
        ("status_code", ("200",) * 4, ""),
        ("early_exit", ("1", "2", "1", "2"), ""),
    ],
)
def test_failed_programs_are_told(
    heading: str, ends: tuple[str, ...], told: str, lake: Path, tmp_path: Path
) -> None:
    rows = (f"{n},{j},{s},{end}\n" for (n, j, s), end in zip(ROWS, ends, strict=True))
    put(tmp_path / "raw" / "runs.csv", f"threads,energy_j,time_s,{heading}\n{''.join(rows)}")
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    said = details(report, "failed_exit")
    assert [each.partition(": their")[0] for each in said] == [told] * bool(told)
    with open_lake(lake) as opened:
        knobs = {c.name for c in opened.catalogue.columns if c.role == "knob"}
        assert (heading in knobs) == (heading == "early_exit")
        assert len(opened.sql("SELECT 1 FROM runs").fetchall()) == len(ROWS)

"""Power meters by declaration: bad ones, and the energy of a run; readings: `fixtures/formats/`."""

from pathlib import Path

import pytest

from data.connection import open_lake
from data.errors import SettingsError
from ingest.formats import find_format
from ingest.pipeline import AddOptions, add
from ingest.settings.loading import load_settings

COLUMNS = '[meters.columns]\nwhen = "time"\nmW = { to = "power_w", scale = 0.001 }\n'
# A load of four seconds from 2023-11-14 22:13:20 UTC on.
OUTPUT = '{"start": {"version": "iperf 3.12", "timestamp": {"timesecs": 1700000000}},\
 "end": {"sum_sent": {"seconds": 4.0}, "sum_received": {"bits_per_second": 8e9}}}'


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("[[meters]]\n", r"meters\[1\] lacks 'pattern'"),
        ("[[meters]]\npattern = '('\n", "no regular expression"),
        ("[[meters]]\npattern = 'm'\n", "has none for 'time'"),
        ("[[meters]]\npattern = 'm'\ntime_zone = 'Mars'\n", "time_zone cannot be 'Mars'"),
        ("[[meters]]\npattern = 'm'\n" + COLUMNS + 'W = "watts"\n', "cannot be 'watts'"),
        ("[[meters]]\npattern = 'm'\n" + COLUMNS + 'W = "power_w"\n', "two for 'power_w'"),
    ],
)
def test_a_bad_declaration_is_refused(tmp_path: Path, entry: str, words: str) -> None:
    path = tmp_path / "wattlas.toml"
    path.write_text(entry)
    with pytest.raises(SettingsError, match=words):
        load_settings(path)


def test_a_declared_meter_gives_a_run_its_energy(tmp_path: Path) -> None:
    """50 W before, 80 W from the start of the run on: 4 s of it are 320 J."""
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "wattlas.toml").write_text(
        "[[meters]]\npattern = 'pdu\\.csv'\ntime_zone = \"Europe/Berlin\"\n" + COLUMNS
    )
    (raw / "iperf3.json").write_text(OUTPUT)
    lines = [f"2023-11-14 23:13:{20 + s:02d},{80000 if s >= 0 else 50000}" for s in range(-10, 20)]
    (raw / "pdu.csv").write_text("when,mW\n" + "\n".join(lines) + "\n")
    report = add(AddOptions(tmp_path / "lake", [raw]))
    assert [p.problem.kind for p in report.problems if p.problem.severity == "refused"] == []
    with open_lake(tmp_path / "lake") as lake:
        (row,) = lake.arrow("SELECT energy_j, power_w, run_id FROM runs", []).to_pylist()
        readings = lake.scan("power", run_ids=[row["run_id"]]).fetchall()
    assert (row["energy_j"], row["power_w"]) == (320.0, 80.0)
    assert len(readings) == 5
    assert find_format("pdu.csv", (raw / "pdu.csv").read_bytes()) is not None
    assert add(AddOptions(tmp_path / "lake", [raw])).unchanged == 1

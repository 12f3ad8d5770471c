"""Power meters by declaration: columns, units, time zones, and the energy of a run."""

from pathlib import Path

import pytest

from data.connection import open_lake
from data.errors import FormatError, SettingsError
from ingest.formats import find_format, meter_table
from ingest.pipeline import AddOptions, add
from ingest.records import MeterReadings, ReadContext
from ingest.settings.loading import load_settings

COLUMNS = '[meters.columns]\nwhen = "time"\nmW = { to = "power_w", scale = 0.001 }\n'
# A load of four seconds from 2023-11-14 22:13:20 UTC on.
OUTPUT = '{"start": {"version": "iperf 3.12", "timestamp": {"timesecs": 1700000000}},\
 "end": {"sum_sent": {"seconds": 4.0}, "sum_received": {"bits_per_second": 8e9}}}'


def read(
    tmp_path: Path, text: str, columns: str = COLUMNS, zone: str = "", order: str | None = None
) -> MeterReadings:
    path = tmp_path / "wattlas.toml"
    said = f'time_zone = "{zone}"\n' if zone else ""
    path.write_text(f"[[meters]]\npattern = 'm\\.csv'\n{said}{columns}")
    declared = load_settings(path).meter_of("/x/m.csv")
    context = ReadContext("m.csv", 0.0, date_order=order, meter=declared)
    return meter_table.read([text.encode()], context)


def kinds(readings: MeterReadings) -> list[tuple[str, int | None]]:
    return [(problem.kind, problem.line) for problem in readings.problems]


def test_numbers_are_seconds_since_1970(tmp_path: Path) -> None:
    columns = COLUMNS.replace('"time"', '{ to = "time", scale = 0.001 }')
    readings = read(tmp_path, "when,mW\n1700000000000,50000\n1700000001500,60500\n", columns)
    assert readings.local_s.tolist() == [1700000000.0, 1700000001.5]
    assert readings.power_w.tolist() == [50.0, 60.5]
    assert readings.utc_offset_s == 0


@pytest.mark.parametrize(
    ("first", "second", "zone", "offset_h"),
    [
        ("2023-11-14 23:13:20", "2023-11-14 23:13:21", "Europe/Berlin", 1),
        ("2023-07-14T23:13:20", "2023-07-14T23:13:21", "Europe/Berlin", 2),
        ("2023-07-14T23:13:20+05:30", "2023-07-14T17:43:21Z", "", 0),
        ("07/14/23 11:13:20 PM", "07/14/23 11:13:21 PM", "America/New_York", -4),
        ("07/14/23 11:13:20 PM", "07/14/23 11:13:21 PM", "", None),
    ],
)
def test_times_without_an_offset_are_of_the_zone(
    tmp_path: Path, first: str, second: str, zone: str, offset_h: float | None
) -> None:
    readings = read(tmp_path, f"when;mW\n{first};50000\n{second};60000\n", zone=zone)
    assert (readings.local_s[1] - readings.local_s[0]).item() == 1.0
    assert readings.utc_offset_s == (None if offset_h is None else offset_h * 3600)


def test_date_and_time_in_columns_of_their_own(tmp_path: Path) -> None:
    columns = '[meters.columns]\nDay = "date"\nClock = "time"\nW = "power_w"\nV = "voltage_v"\n'
    text = "Day\tClock\tW\tV\n14.11.2023\t23:13:20\t38,5\t230,1\n14.11.2023\t23:13:21\t40,0\t\n"
    readings = read(tmp_path, text, columns, order="dmy")
    assert readings.power_w.tolist() == [38.5, 40.0]
    assert readings.voltage_v is not None
    assert readings.voltage_v[0] == 230.1
    assert readings.local_s.tolist() == [1700003600.0, 1700003601.0]


def test_bad_rows_are_named(tmp_path: Path) -> None:
    text = (
        "when,mW\n1700000000,5\nyesterday,5\n1700000002,many\n1700000003,-5\n1700000004,\n1,2,3\n"
    )
    readings = read(tmp_path, text)
    assert readings.power_w.tolist() == [0.005]
    assert sorted(kinds(readings)) == [
        ("bad_time", 3), ("field_count", 7), ("negative_power", 5), ("not_a_number", 4)
    ]  # fmt: skip
    with pytest.raises(FormatError, match="no column 'when'; it has time, mW"):
        read(tmp_path, "time,mW\n1,2\n")
    with pytest.raises(FormatError, match="no good reading"):
        read(tmp_path, "when,mW\nnever,2\n")
    with pytest.raises(FormatError, match="some times have an offset"):
        read(tmp_path, "when,mW\n1700000000,5\n2023-11-14 23:13:21,5\n")
    with pytest.raises(FormatError, match=r"no \[\[meters\]\] entry"):
        meter_table.read([b"when,mW\n1,2\n"], ReadContext("m.csv", 0.0))


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

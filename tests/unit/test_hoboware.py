"""HOBOware exports: headings, encodings, three ways to write a date, events, bad rows, clocks."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import FormatError
from ingest.formats import find_format, hoboware
from ingest.records import MeterReadings, ReadContext

CONTEXT = ReadContext("meter.csv", 1e9)
TITLE = '"Plot Title: rack 3, 21 °C"\r\n'
LOGGER = "LGR S/N: 10234567, SEN S/N: 10234567"
HEADINGS = (
    f'"#","Date Time, GMT-05:00","RMS Voltage, V ({LOGGER})","RMS Current, A ({LOGGER})",'
    f'"Active Power, W ({LOGGER})","Active Energy, Wh ({LOGGER})","Apparent Power, VA ({LOGGER})",'
    f'"Power Factor, PF ({LOGGER})","Host Connected ({LOGGER})","Stopped ({LOGGER})",'
    f'"End Of File ({LOGGER})"\r\n'
)
ROWS = (
    "1,03/01/22 11:59:58 PM,119.4,0.330,38.5,0.011,39.4,0.98,,,\r\n"
    "2,03/01/22 11:59:59 PM,119.5,0.331,39.0,0.011,39.5,0.98,,,\r\n"
    "3,03/02/22 12:00:00 AM,119.6,0.350,41.2,0.011,41.8,0.98,,,\r\n"
    "4,03/02/22 12:00:01 AM,,,,,,,Logged,,\r\n"
    "5,03/02/22 12:00:02 AM,,,,,,,,Logged,Logged\r\n"
)
SAMPLE = TITLE + HEADINGS + ROWS


def local(text: str) -> float:
    """Seconds from 1970 of a local time, as if its clock showed UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def read(
    text: str, block: int = 1 << 20, encoding: str = "utf-8", order: str | None = None
) -> MeterReadings:
    data = text.encode(encoding)
    blocks = (data[i : i + block] for i in range(0, len(data), block))
    return hoboware.read(blocks, ReadContext("meter.csv", 1e9, order))


def plain(*rows: str) -> str:
    """A table of times and watts."""
    return '"Date Time, GMT+00:00","Active Power, W"\n' + "".join(f"{row}\n" for row in rows)


def kinds(readings: MeterReadings) -> list[tuple[str, str, int | None]]:
    return [(p.kind, p.severity, p.line) for p in readings.problems]


@pytest.mark.parametrize("block", [1, 7, 1 << 20])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_readings_in_every_encoding(block: int, encoding: str) -> None:
    readings = read(SAMPLE, block, encoding)
    start = local("2022-03-01T23:59:58")
    np.testing.assert_array_equal(readings.local_s, start + np.arange(3))
    np.testing.assert_array_equal(readings.power_w, [38.5, 39.0, 41.2])
    assert readings.voltage_v is not None
    assert readings.current_a is not None
    assert readings.energy_j is not None
    np.testing.assert_array_equal(readings.voltage_v, [119.4, 119.5, 119.6])
    np.testing.assert_array_equal(readings.current_a, [0.330, 0.331, 0.350])
    np.testing.assert_allclose(readings.energy_j, 0.011 * 3600)
    assert readings.utc_offset_s == -5 * 3600
    assert readings.serial == "10234567"
    assert [(e.name, e.local_s - start, e.line) for e in readings.events] == [
        ("Host Connected", 3, 6),
        ("Stopped", 4, 7),
        ("End Of File", 4, 7),
    ]
    assert readings.problems == []
    found = find_format("anything.txt", SAMPLE.encode(encoding))
    assert found is not None
    assert (found.name, found.role) == ("hoboware", "meter")


@pytest.mark.parametrize(
    "headings",
    [
        '"Date Time, GMT-05:00","Power, kW (LGR S/N: 7)"',
        "Date Time - GMT -05:00,Active Power (kW) (LGR S/N: 7)",
        '"Date Time, GMT-0500","Apparent Power, VA","Power Factor, PF","Max: Power, W","Power, kW"',
        '"Date Time, GMT\u221205:00","Reactive Power, VAR","Leistung","Active power, kW"',
    ],
)
def test_columns_are_told_by_quantity_and_unit(headings: str) -> None:
    cells = headings.count('","')
    row = "03/13/22 01:02:03 PM" + ",9" * (cells - 1 if cells else 0) + ",0.0385\n"
    readings = read(headings + "\n" + row)
    assert readings.power_w.tolist() == pytest.approx([38.5])
    assert readings.local_s.tolist() == [local("2022-03-13T13:02:03")]
    assert readings.utc_offset_s == -5 * 3600


@pytest.mark.parametrize(
    "headings",
    [
        "#;Datum Zeit, GMT-05:00;Spannung, V;Scheinleistung, W;Wirkleistung, W (LGR S/N: 7)",
        "#;Date Heure, GMT-05:00;Tension, V;Puissance apparente, W;Puissance active, W",
        "#;Fecha Tiempo, GMT-05:00;Tensión, V;Potencia aparente, VA;Potencia activa, W",
        "#;日期 时间, GMT-05:00;电压, V;视在功率, W;有功功率, W",
        # Garbled, as from a code page that nobody knows: units and the offset are left.
        "#;ÈÕÆÚ Ê±¼ä, GMT-05:00;V;µçÑ¹;ÓÐ¹¦¹¦ÂÊ, W",
    ],
)
def test_headings_in_other_languages_are_refused_by_name(headings: str) -> None:
    text = f"{headings}\n1;13.03.22 13:02:03;230,1;9,9;38,5\n"
    assert hoboware.sniff("x.csv", text.encode())
    with pytest.raises(FormatError, match=r"'[^']+, W.*' is not an English .*\[\[meters\]\]"):
        read(text)


@pytest.mark.parametrize(
    ("delimiter", "cells", "watts"),
    [
        (",", ("38.5", '"1,038.5"'), (38.5, 1038.5)),
        (",", ('"1,038"', '"2,000,000"'), (1038, 2_000_000)),
        (",", ('"38,5"', '"1,038"'), (38.5, 1.038)),
        (",", ('"1.038,5"', '"0,500"'), (1038.5, 0.5)),
        (";", ("38,5", "1.038,5", "1 038,5", "1\u202f038,5"), (38.5, 1038.5, 1038.5, 1038.5)),
        (";", ("38.5", "1,038.5"), (38.5, 1038.5)),
        (";", ("1,038", "2,038"), (1.038, 2.038)),
        ("\t", ("1.038", "38.5", "1'038.5"), (1.038, 38.5, 1038.5)),
    ],
)
def test_marks_of_decimals_and_thousands(
    delimiter: str, cells: tuple[str, ...], watts: tuple[float, ...]
) -> None:
    lines = [f'Date Time (GMT+00:00){delimiter}"Active Power, W"']
    lines += [f"2022-03-01 00:00:0{n}{delimiter}{cell}" for n, cell in enumerate(cells)]
    readings = read("\n".join(lines) + "\n")
    assert readings.power_w.tolist() == pytest.approx(watts)
    assert readings.problems == []


def test_numbers_of_another_form_than_the_tables_are_refused() -> None:
    readings = read(plain("2022-03-01 00:00:00,38.5", '2022-03-01 00:00:01,"38,5"'))
    assert kinds(readings) == [("not_a_number", "refused", 3)]
    assert "'38,5'" in readings.problems[0].detail


@pytest.mark.parametrize(
    ("title", "offset_s"),
    [
        ("Date Time, GMT-05:00", -18000),
        ("Date Time, GMT+05:30", 19800),
        ("Date Time, GMT", 0),
        ("Date Time, UTC+01:00", 3600),
        ("Date Time", None),
    ],
)
def test_the_offset_is_the_headings(title: str, offset_s: float | None) -> None:
    readings = read(f'"{title}","Power, W"\n2022-03-01 00:00:00,30\n')
    assert readings.utc_offset_s == offset_s
    assert readings.local_s.tolist() == [local("2022-03-01T00:00:00")]


def test_date_and_time_in_columns_of_their_own_and_decimal_commas() -> None:
    readings = read(
        'Plot Title: x\n"#";"Date";"Time, GMT+01:00";"Active Power, W"\n1;31.12.22;23:59:59;38,5\n'
    )
    assert readings.local_s.tolist() == [local("2022-12-31T23:59:59")]
    assert readings.power_w.tolist() == [38.5]
    assert readings.utc_offset_s == 3600


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("03/14/22 02:03:04 PM", "2022-03-14T14:03:04"),
        ("03/14/2022 14:03:04", "2022-03-14T14:03:04"),
        ("14/03/22 02:03:04 PM", "2022-03-14T14:03:04"),
        ("14.03.2022 14:03:04", "2022-03-14T14:03:04"),
        ("2022-03-14 14:03:04", "2022-03-14T14:03:04"),
        ("2022/03/14T14:03:04.5", "2022-03-14T14:03:04.500"),
        ("03/03/22 12:00:00 AM", "2022-03-03T00:00:00"),
        ("03/03/22 12:30:00 p.m.", "2022-03-03T12:30:00"),
        ("3/14/22 9:05", "2022-03-14T09:05:00"),
    ],
)
def test_three_ways_to_write_a_date(written: str, meant: str) -> None:
    readings = read(plain(f"{written},30"))
    assert readings.local_s.tolist() == [local(meant)]
    assert readings.problems == []


def test_days_that_fit_both_ways_are_taken_as_they_lie_closest() -> None:
    day_first = plain("01/02/22 23:59:59,30", "02/02/22 00:00:00,31")
    month_first = plain("02/01/22 23:59:59,30", "02/02/22 00:00:00,31")
    expected = [local("2022-02-01T23:59:59"), local("2022-02-02T00:00:00")]
    assert read(day_first).local_s.tolist() == expected
    assert read(month_first).local_s.tolist() == expected
    assert read(day_first).problems == read(month_first).problems == []


def test_a_year_of_two_digits_may_come_first() -> None:
    """Day first would be a year apart, and before there were such meters."""
    readings = read(plain("22/03/13 23:59:59,30", "22/03/14 00:00:00,31"))
    expected = [local("2022-03-13T23:59:59"), local("2022-03-14T00:00:00")]
    assert (readings.local_s.tolist(), readings.problems) == (expected, [])
    said = read(plain("22/03/13 10:00:00,30"), order="ymd")
    assert said.local_s.tolist() == [local("2022-03-13T10:00:00")]


def test_a_day_that_nothing_tells_is_month_first_and_doubted_unless_said() -> None:
    text = plain("04/05/22 10:00:00,30", "04/05/22 10:00:01,31")
    doubted = read(text)
    assert doubted.local_s[0] == local("2022-04-05T10:00:00")
    assert kinds(doubted) == [("ambiguous_date", "doubted", 2)]
    said = read(text, order="dmy")
    assert said.local_s[0] == local("2022-05-04T10:00:00")
    assert said.problems == []


def test_bad_rows_are_named_by_line_and_the_rest_is_read() -> None:
    readings = read(
        plain(
            "2022-03-01 00:00:00,30",
            "2022-03-01 00:00:01,thirty",
            "2022-03-01 00:00:02",
            "2022-02-30 00:00:03,30",
            "noon,30",
            "2022-03-01 25:00:00,30",
            "2022-03-01 00:00:04,-3",
            "2022-03-01 00:00:05,nan",
            "",
            "2022-03-01 00:00:06,36",
        )
    )
    assert readings.power_w.tolist() == [30, 36]
    assert kinds(readings) == [
        ("not_a_number", "refused", 3),
        ("field_count", "refused", 4),
        ("bad_time", "refused", 5),
        ("bad_time", "refused", 6),
        ("bad_time", "refused", 7),
        ("negative_power", "refused", 8),
        ("not_a_number", "refused", 9),
    ]
    assert "thirty" in readings.problems[0].detail


def test_other_columns_may_be_empty_where_power_is_not() -> None:
    readings = read(
        '"Date Time, GMT+00:00","Voltage, V","Power, W"\n'
        "2022-03-01 00:00:00,,30\n2022-03-01 00:00:01,120,31\n"
    )
    assert readings.voltage_v is not None
    np.testing.assert_array_equal(readings.voltage_v, [np.nan, 120])
    assert readings.problems == []


def test_two_columns_of_one_quantity_are_doubted() -> None:
    text = '"Date Time, GMT+00:00","Power, W (LGR S/N: 1)","Power, W (LGR S/N: 2)"\n'
    readings = read(text + "2022-03-01 00:00:00,30,40\n")
    assert readings.power_w.tolist() == [30]
    assert kinds(readings) == [("several_columns", "doubted", 1)]


def test_the_same_time_twice_and_times_that_go_back() -> None:
    readings = read(
        plain(
            "2022-03-01 00:00:10,30",
            "2022-03-01 00:00:11,31",
            "2022-03-01 00:00:11,32",
            "2022-03-01 00:00:05,33",
            "2022-03-01 00:00:12,34",
            "2022-03-02 00:00:00,35",
            "2022-03-01 00:00:13,36",
        )
    )
    assert readings.power_w.tolist() == [30, 31, 34, 36]
    assert np.diff(readings.local_s).tolist() == [1, 1, 1]
    assert kinds(readings) == [
        ("duplicate_time", "repaired", 4),
        ("time_backwards", "refused", 5),
        ("time_leap", "refused", 7),
    ]


def hourly_change(step_s: float, at: str, n: int = 6) -> str:
    """Readings a second apart, between which the clock is changed after the third."""
    start = datetime.fromisoformat(at)
    times = [start + timedelta(seconds=i + (step_s if i > 2 else 0)) for i in range(n)]
    return plain(*[f"{t:%m/%d/%y %I:%M:%S %p},{30 + i}" for i, t in enumerate(times)])


def test_the_hour_that_comes_twice_in_autumn() -> None:
    readings = read(hourly_change(-3600, "2022-11-06T01:59:57"), order="mdy")
    assert np.diff(readings.local_s).tolist() == [1] * 5
    assert kinds(readings) == [("clock_set_back", "repaired", 5)]


def test_the_hour_that_lacks_in_spring() -> None:
    readings = read(hourly_change(3600, "2022-03-13T01:59:57"))
    assert np.diff(readings.local_s).tolist() == [1] * 5
    assert kinds(readings) == [("clock_set_forward", "doubted", 5)]


def test_an_hour_without_readings_by_day_is_a_gap() -> None:
    readings = read(hourly_change(3600, "2022-03-13T14:00:00"))
    assert np.diff(readings.local_s).tolist() == [1, 1, 3601, 1, 1]
    assert readings.problems == []


@pytest.mark.parametrize(
    "text",
    [
        '"#","Date Time, GMT-05:00","Temp, °C (LGR S/N: 1)"\n1,03/01/22 01:00:00 AM,20\n',
        "sys i itr dvfs rapl time joules\n",
        "Date,Notes\n2022-03-01,none\n",
        "",
    ],
)
def test_other_tables_are_not_a_meters(text: str) -> None:
    assert not hoboware.sniff("x.csv", text.encode())
    with pytest.raises(FormatError, match=r"\(meter\.csv\)"):
        read(text)


def test_no_power_and_no_reading_are_errors_that_name_the_file() -> None:
    with pytest.raises(FormatError, match=r"no column of active power.*\(meter\.csv\)"):
        read('"Date Time, GMT-05:00","RMS Voltage, V"\n03/01/22 01:00:00 AM,120\n')
    with pytest.raises(FormatError, match=r"no good reading \(meter\.csv\)"):
        read(TITLE + HEADINGS + "1,03/01/22 01:00:00 AM,,,,,,,Logged,,\n")


@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """Nothing but FormatError comes out, whatever goes in."""
    for text in (data, (TITLE + HEADINGS).encode() + data, SAMPLE.encode() + data):
        try:
            readings = hoboware.read([text], CONTEXT)
        except FormatError:
            continue
        assert np.all(np.diff(readings.local_s) > 0)
        assert len(readings.power_w) == len(readings.local_s)
        assert np.all(readings.power_w >= 0)


@given(st.lists(st.integers(0, 10), min_size=1, max_size=40))
def test_times_always_increase(steps: list[int]) -> None:
    start = datetime(2022, 3, 1, 12)
    times = [start + timedelta(seconds=int(s)) for s in np.cumsum(steps) - np.arange(len(steps))]
    readings = read(plain(*[f"{t:%Y-%m-%d %H:%M:%S},30" for t in times]))
    assert np.all(np.diff(readings.local_s) > 0)
    dropped = sum(p.count for p in readings.problems)
    assert len(readings.local_s) + dropped == len(steps)

"""Traces of powerstat: one run, its power integrated over the samples."""

from pathlib import Path

import pytest

from data.connection import open_lake
from data.errors import FormatError
from ingest.formats import FORMATS
from ingest.formats.powerstat import read
from ingest.pipeline import AddOptions, add
from ingest.records import ReadContext, Reading
from tests.fixtures.real import studies
from tests.fixtures.tool_outputs import POWERSTAT

HEAD, COLUMNS = f"{POWERSTAT.splitlines()[0]}\n\n", f"{POWERSTAT.splitlines()[2]}\n"
AVERAGE = POWERSTAT[POWERSTAT.index("-------- ") :]


def sample(time: str, watts: str = "10.50", *domains: str) -> str:
    rest = " ".join(domains or ("0.00", "8.00", "0.00"))
    return f"{time}   4.2   0.0   0.1  95.7   0.0    2    100    573  {watts} {rest}\n"


def trace(text: str, size: int = 1 << 20) -> Reading:
    data = text.encode()
    blocks = (data[at : at + size] for at in range(0, len(data), size))
    return read(blocks, ReadContext("t.txt", 1e9))


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_power_is_integrated_over_the_samples(size: int) -> None:
    """(10.5 W + 11.5 W) x 2 s = 44 J over midnight; 100 switches a second for 4 s."""
    assert [f.name for f in FORMATS if f.sniff("t.txt", POWERSTAT.encode())] == ["powerstat"]
    reading = trace(POWERSTAT, size)
    assert reading.measurements == {"energy_j": 44.0, "duration_s": 4.0, "context_switches": 400}
    assert reading.problems == []


def test_a_heading_in_the_middle_is_no_sample() -> None:
    assert (
        trace(POWERSTAT.replace(AVERAGE, COLUMNS + sample("00:00:02"))).measurements["duration_s"]
        == 6
    )


@pytest.mark.parametrize("watts", ["many", "-1.0", "nan", "1e99", "10.5 3"])
def test_a_bad_sample_is_named_and_left_out(watts: str) -> None:
    reading = trace(HEAD + COLUMNS + sample("10:00:00") + sample("10:00:02", watts))
    assert reading.measurements["energy_j"] == 21.0
    assert [(p.kind, p.line) for p in reading.problems] == [("bad_line", 5)]


def test_gaps_and_sums_of_what_contains_one_another_are_doubted() -> None:
    """Two samples 62 s apart at 2 s: 60 s are missing. 10.5 W = 1.5 W + 7 W + 2 W."""
    rows = [sample(time, "10.50", "1.5", "7.0", "2.0") for time in ("10:00:00", "10:01:02")]
    reading = trace(HEAD + COLUMNS + "".join(rows))
    assert [p.kind for p in reading.problems] == ["sample_gap", "overlapping_domains"]
    assert reading.problems[0].detail.startswith("60 s")


@pytest.mark.parametrize("text", ["", HEAD, HEAD + COLUMNS, HEAD + COLUMNS + AVERAGE])
def test_a_trace_without_a_sample_is_none(text: str) -> None:
    with pytest.raises(FormatError, match="no sample of power"):
        trace(text)


@pytest.mark.real
def test_a_trace_of_other_people_is_one_run(tmp_path: Path) -> None:
    power = studies() / "strangers" / "jvmenergy" / "SortingAlgorithms" / "power"
    assert add(AddOptions(tmp_path / "lake", [power], workers=1)).added == 3
    with open_lake(tmp_path / "lake") as lake:
        rows = lake.polars("SELECT run_id, energy_j, duration_s FROM runs ORDER BY run_id").rows()
    found = {run_id.split("-")[2]: (round(joules), s) for run_id, joules, s in rows}
    assert found["openjdk_hotspot_vm_run_quick_sort_default"] == (67_237, 1203.0)
    assert found["native_image_run_quick_sort_pgo"] == (66_369, 1203.0)

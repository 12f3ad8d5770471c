"""Traces of powerstat: one run, its power integrated over the samples."""

from pathlib import Path

import pytest

from data.connection import open_lake
from ingest.formats import FORMATS
from ingest.formats.powerstat import read
from ingest.pipeline import AddOptions, add
from ingest.records import ReadContext, Reading
from tests.fixtures.real import studies
from tests.fixtures.tool_outputs import POWERSTAT

HEAD, COLUMNS = f"{POWERSTAT.splitlines()[0]}\n\n", f"{POWERSTAT.splitlines()[2]}\n"


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


@pytest.mark.real
def test_a_trace_of_other_people_is_one_run(tmp_path: Path) -> None:
    power = studies() / "strangers" / "jvmenergy" / "SortingAlgorithms" / "power"
    assert add(AddOptions(tmp_path / "lake", [power], workers=1)).added == 3
    with open_lake(tmp_path / "lake") as lake:
        rows = lake.polars("SELECT run_id, energy_j, duration_s FROM runs ORDER BY run_id").rows()
    found = {run_id.split("-")[2]: (round(joules), s) for run_id, joules, s in rows}
    assert found["openjdk_hotspot_vm_run_quick_sort_default"] == (67_237, 1203.0)
    assert found["native_image_run_quick_sort_pgo"] == (66_369, 1203.0)

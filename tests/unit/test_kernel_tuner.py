"""Caches of Kernel Tuner: each setting of a GPU kernel is the mean of its repetitions."""

from pathlib import Path

import pytest

from data.connection import open_lake
from ingest.formats import FORMATS
from ingest.formats.kernel_tuner import read
from ingest.pipeline import AddOptions, add
from ingest.records import ReadContext, SummaryTable
from tests.fixtures.real import studies
from tests.fixtures.tool_outputs import KERNEL_TUNER


def cache(text: str, size: int = 1 << 20) -> SummaryTable:
    data = text.encode()
    blocks = (data[at : at + size] for at in range(0, len(data), size))
    return read(blocks, ReadContext("c.json", 1e9))


@pytest.mark.parametrize("size", [1, 13, 1 << 20])
def test_a_setting_is_a_row(size: int) -> None:
    """150 W x 0.2 s = 30 J; the times 199, 200 and 201 ms have a deviation of 1 ms."""
    assert [f.name for f in FORMATS if f.sniff("c", KERNEL_TUNER.encode())] == ["kernel_tuner"]
    table = cache(KERNEL_TUNER, size)
    assert (table.workload, table.problems, table.refused) == ("fft", [], 0)
    first, second = table.rows
    assert first.flags == ["aggregate"]
    assert first.values == {
        "block": 64, "gpu_clock": 1410, "duration_s": 0.2, "power_w": 150.0, "energy_j": 30.0,
        "aggregate_n": 3, "sd_duration_s": pytest.approx(0.001), "machine": "GPU 1",
    }  # fmt: skip
    assert (second.values["energy_j"], second.flags) == (25.5, [])
    roles = {column.name: (column.role, column.unit) for column in table.columns}
    assert (roles["gpu_clock"], roles["block"]) == (("knob", "MHz"), ("label", ""))


@pytest.mark.real
def test_a_cache_of_other_people(tmp_path: Path) -> None:
    """153.408 W x 0.19624 s = 30.1 J at 1,410 MHz."""
    add(AddOptions(tmp_path / "lake", [studies() / "strangers" / "kerneltuner"], workers=1))
    with open_lake(tmp_path / "lake") as lake:
        rows = lake.polars("SELECT * FROM runs ORDER BY nvml_gr_clock DESC").to_dicts()
        knobs = [column.name for column in lake.columns if column.role == "knob"]
    assert (len(rows), knobs) == (10, ["nvml_gr_clock"])
    assert rows[0]["nvml_gr_clock"] == 1410
    assert rows[0]["energy_j"] == pytest.approx(30.1047, abs=1e-4)
    assert rows[0]["power_w"] == pytest.approx(153.408)
    assert (rows[0]["aggregate_n"], rows[0]["workload"]) == (10, "fp32_kernel")

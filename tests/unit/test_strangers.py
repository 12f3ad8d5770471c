"""Studies of strangers: `add` without settings gives what their authors published."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.studies import Opening, opening_of
from data.connection import open_lake
from ingest.__main__ import main
from tests.fixtures.real import studies
from tests.test_architecture import ROOT

STRANGERS: dict[str, list[tuple[str, tuple[Any, ...]]]] = {
    "runtable": [
        (
            "SELECT count(*), avg(energy_j), avg(duration_s) FROM runs "
            "WHERE model = 'qwen2:7b' AND length = 1000 AND method = 'on_device'",
            (30, 581.39, 53.13),
        ),
        (
            "SELECT count(*), avg(energy_j), avg(duration_s) FROM runs "
            "WHERE model = 'qwen2:7b' AND length = 1000 AND method = 'remote'",
            (30, 70.36, 17.50),
        ),
        ("SELECT DISTINCT performance_metric FROM runs", ("duration_s",)),
    ],
    "codecarbon": [
        ("SELECT max(energy_j) FROM runs WHERE energy_j BETWEEN 26477 AND 26479", (26477.99,)),
    ],
    "kerneltuner": [
        ("SELECT energy_j FROM runs WHERE nvml_gr_clock = 1410", (30.1,)),
    ],
    "langpowercap": [
        ("SELECT min(duration_s), max(energy_j) FROM runs WHERE round(energy_j, 1) = 835.3 "
         "AND round(duration_s, 3) = 40.199", (40.199, 835.2527)),
        ("SELECT count(*), min(energy_j) > 0, max(energy_j) < 1e4 FROM runs", (4880, True, True)),
        ("SELECT count(*) FROM runs WHERE list_contains(flags, 'energy_counter_wrapped') "
         "AND round(energy_j, 1) = 1955.8", (1,)),
    ],
    "jvmenergy": [
        ("SELECT count(*) FROM runs WHERE energy_j IS NULL OR energy_j > 0", (45,)),
        ("SELECT energy_j, throughput_qps FROM runs WHERE run_id LIKE 'merge_sort-azul%'",
         (51438.7, 0.067)),
        ("SELECT energy_j FROM runs WHERE run_id LIKE '%benchmarkquick%runtimeope%'", (67237.0,)),
        ("SELECT energy_j FROM runs WHERE run_id LIKE '%benchmarkquick%runtimenat%'", (66369.0,)),
    ],
}  # fmt: skip


@pytest.mark.real
@pytest.mark.parametrize("study", STRANGERS)
def test_a_study_of_strangers_comes_out_right_without_settings(study: str, tmp_path: Path) -> None:
    """Expected values: ../shared/studies/strangers/README.md, to its digits."""
    source = studies() / "strangers" / study
    lake = tmp_path / "lake"
    assert main(["add", str(source), "--lake", str(lake)]) in (0, 3)
    sql = "SELECT energy_j, duration_s FROM runs WHERE energy_j > 0 AND duration_s > 0 ORDER BY ALL"
    with open_lake(lake) as opened:
        rows = [opened.polars(each).row(0) for each, _ in STRANGERS[study]]
        found = opened.polars(sql).rows()
    for row, (_, expected) in zip(rows, STRANGERS[study], strict=True):
        for value, wanted in zip(row, expected, strict=True):
            same = wanted if isinstance(wanted, str) else pytest.approx(wanted, rel=2e-3)
            assert value == same
    # What docs/own-logs.md says of it.
    assert opening_of(lake) == table_of_studies()[study]
    by_hand = sorted(each for each in read_plainly(study, source) if min(each) > 0)
    assert len(by_hand) >= 3
    if study == "jvmenergy":
        # Reports of the same programs are runs too.
        assert {round(energy, 2) for energy, _ in by_hand} <= {round(e, 2) for e, _ in found}
    else:
        np.testing.assert_allclose(found, by_hand, rtol=1e-9)


@pytest.mark.real
@pytest.mark.parametrize("study", ["cloudlab", "tables"])
def test_other_studies_open_as_the_docs_say(study: str, tmp_path: Path) -> None:
    assert main(["add", str(studies() / study), "--lake", str(tmp_path / "lake")]) in (0, 3)
    assert opening_of(tmp_path / "lake") == table_of_studies()[study]


@pytest.mark.real
def test_the_published_study_opens_as_the_docs_say(published_lake: Path) -> None:
    assert opening_of(published_lake) == table_of_studies()["summaries"]


def table_of_studies() -> dict[str, Opening]:
    """Return what docs/own-logs.md says that each study of others is, by its folder."""
    text = (ROOT / "docs" / "own-logs.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)`: .* \| ([\d,]+) \| 0 \| (.*?) \|", text, re.MULTILINE)
    assert len(rows) == 8
    return {name: Opening(int(runs.replace(",", "")), axes) for name, runs, axes in rows}


def read_plainly(study: str, source: Path) -> list[tuple[float, float]]:
    """Read energy and time of each run from the files by the standard library alone, J and s."""
    if study == "kerneltuner":
        (file,) = source.rglob("*.json")
        cache = json.loads(file.read_text())["cache"].values()
        times = [
            (sum(each["times"]) / len(each["times"]) / 1e3, each["nvml_power"]) for each in cache
        ]
        return [(time * power, time) for time, power in times]
    if study == "jvmenergy":
        found = []
        for file in source.rglob("power/*.txt"):
            lines = [line.split() for line in file.read_text().splitlines()]
            at = next(cells.index("Watts") for cells in lines if "Watts" in cells)
            samples = [
                cells for cells in lines if re.fullmatch(r"\d\d:\d\d:\d\d", (cells or [""])[0])
            ]
            found.append((sum(float(cells[at]) for cells in samples), float(len(samples))))
        return found
    name, energy, time, scales = {
        "runtable": ("run_table.csv", "energy_usage_J", "execution_time", (1.0, 1.0)),
        "codecarbon": ("emissions.csv", "energy_consumed", "duration", (3.6e6, 1.0)),
        "langpowercap": ("measurements_benchmarks.csv", "Package", "Time", (1.0, 1e-3)),
    }[study]
    (file,) = source.rglob(name)
    with file.open(newline="") as text:
        rows = [(float(row[energy]), float(row[time])) for row in csv.DictReader(text)]
    wrap = 2.0**18 if study == "langpowercap" else 0.0
    return [((e + wrap * (e < 0)) * scales[0], t * scales[1]) for e, t in rows]

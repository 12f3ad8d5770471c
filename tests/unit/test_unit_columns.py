"""Units that stand in a column or a key beside the numbers."""

import json
from pathlib import Path
from typing import Any

import pytest

from ingest.__main__ import main
from ingest.formats.table_files import parse_tables
from ingest.proposals.columns import guess_columns
from ingest.records import ProblemList, ReadContext
from tests.fixtures.ingest import put, runs


def cells(text: str, name: str) -> dict[str, list[Any]]:
    """Return the columns of a file."""
    (table,) = parse_tables([text.encode()], ReadContext(name, 0.0), ProblemList())
    return {heading: [*table.column(at)] for at, heading in enumerate(table.headings)}


def phases(**energies: dict[str, Any]) -> str:
    return json.dumps([{"part": name, "energy": each} for name, each in energies.items()])


KWH = {"unit": "kWh", "gpu": 0.25, "total": 0.5, "count": 3}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        # Of an object, by its name or a statistic; a count of values has no unit.
        ("x.json", phases(a=KWH, b=KWH | {"total": 0.75}),
         {"energy.total (kWh)": [0.5, 0.75], "energy.gpu (kWh)": [0.25, 0.25],
          "energy.count": [3, 3]}),
        # Of a heading; the longer one says that of a total; a cell without a number needs none.
        ("x.csv", "kind,energy,energy_unit,energy_total,energy_total_units\na,1,mJ,5,J\nb,,,6,J\n",
         {"energy (mJ)": ["1", None], "energy_total (J)": ["5", "6"]}),
        ("x.csv", "kind,result,unit\na,2,ms\nb,3,ms\n", {"result (ms)": ["2", "3"]}),
        # Of an error that is of the number before it.
        ("x.csv", "kind,score,score error (99%),unit\na,2,0.5,us/op\nb,3,0.25,us/op\n",
         {"score (us/op)": ["2", "3"], "score error (99%) (us/op)": ["0.5", "0.25"]}),
        # Units of one quantity are one column, those of two quantities are two.
        ("x.csv", "kind,time,time_unit\na,2,s\nb,300,ms\n", {"time (s)": ["2", "0.3"]}),
        ("x.csv", "kind,yield,yield_unit\na,2,items/kWh\nb,3,tokens/kWh\n",
         {"yield (items/kWh)": ["2", None], "yield (tokens/kWh)": [None, "3"]}),
    ],
)  # fmt: skip
def test_numbers_have_the_unit_beside_them(
    name: str, text: str, expected: dict[str, list[Any]]
) -> None:
    found = cells(text, name)
    assert {heading: found.get(heading) for heading in expected} == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        # Numbers of an object that are not of what its unit is of; numbers of units.
        ("x.json", json.dumps([{"run": n, "metadata": {"unit": "second", "loops": 8, "warmups": n}}
                               for n in (1, 2)])),
        ("x.csv", "kind,compute_units,energy_j\na,64,5\nb,32,6\n"),
        # Remarks, a number without a unit, and names of measurements, which tell their units.
        ("x.csv", "kind,time,time_unit\na,2,see the notes below the table\nb,3,s\n"),
        ("x.csv", "kind,time,time_unit\na,2,s\nb,3,\n"),
        ("x.csv", "metric,value,unit\nenergy,2,J\ntime,3,s\n"),
        ("x.csv", "kind,time_ms,time_unit\na,2,s\nb,3,s\n"),
    ],
)  # fmt: skip
def test_other_columns_of_units_change_no_heading(name: str, text: str) -> None:
    assert not any("(" in heading for heading in cells(text, name))


def test_an_energy_is_in_the_unit_beside_it() -> None:
    columns = cells(phases(a=KWH, b=KWH | {"total": 0.75}), "x.json")
    guesses = guess_columns([*columns], [*columns.values()], {}, {})
    (total,) = (guess for guess in guesses if guess.to == "energy_j")
    assert (total.heading.text, total.scale, total.doubt) == ("energy.total (kWh)", 3.6e6, "")


OWN = """[[tables]]
header = "kind time time_unit"
workload = "unknown"
system = "linux_tuned"
[tables.columns]
kind = { role = "knob" }
time = "duration_s"
"""


@pytest.mark.parametrize(("settings", "times"), [(None, [0.9, 450.0]), (OWN, [450.0, 900.0])])
def test_times_of_several_units_are_runs(
    settings: str | None, times: list[float], tmp_path: Path, lake: Path
) -> None:
    """What a person declared is as the person says."""
    raw = tmp_path / "raw"
    put(raw / "x.csv", "kind,time,time_unit\na,900,ms\nb,450,s\n")
    if settings:
        put(raw / "wattlas.toml", settings)
    assert main(["add", str(raw), "--lake", str(lake)]) == 0
    assert sorted(run["duration_s"] for run in runs(lake)) == times

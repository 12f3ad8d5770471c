"""Columns that have one value in each trace, and another one in others: settings of the runs."""

from pathlib import Path

import pytest

from data.errors import SettingsError
from ingest.correct import correct
from ingest.lake.state import load_state
from ingest.settings.loading import load_settings
from tests.fixtures.ingest import details, ingest, put, tuples

HEAD = "time_s,power_w,gpu_clock_mhz,gpu_temp_c"


def trace(heading: str, cell: str, watts: float = 50.0, later: str = "") -> str:
    """A sample a second for 12 s; a column has one value, or another one in the last three."""
    rows = (
        f"{n + 1},{watts},{1500 + 15 * (n % 2)},69,{cell if n < 9 else later or cell}"
        for n in range(12)
    )
    return "\n".join([f"{HEAD},{heading}", *rows]) + "\n"


def knobs(lake: Path) -> list[str]:
    return sorted(c.name for c in load_state(lake).columns.values() if c.role == "knob")


def test_a_limit_in_all_samples_is_a_setting(lake: Path, tmp_path: Path) -> None:
    """The names of the files say it again; it may be corrected as any guess."""
    for cap in (100, 150, 250):
        put(tmp_path / f"raw/powercap_{cap}.csv", trace("power_cap_w", str(cap), cap / 2))
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    assert tuples(lake, "SELECT power_cap_w, energy_j FROM runs ORDER BY ALL") == [
        (cap, 6.0 * cap) for cap in (100, 150, 250)
    ]
    assert knobs(lake) == ["power_cap_w"]
    assert load_state(lake).columns["power_cap_w"].unit == "W"
    said = "columns were guessed: set: power_cap_w, from the samples; if power_cap_w was not set: "
    told = "`python -m ingest correct power_cap_w=label`"
    assert {*details(report, "guessed_columns")} == {f"{said}{told}"}
    correct(lake, [("power_cap_w", "label")])
    assert load_state(lake).columns["power_cap_w"].role == "label"


def test_what_the_path_says_else_is_set_too(lake: Path, tmp_path: Path) -> None:
    for program in ("fft", "lu"):
        for run, clock in enumerate((900, 1200, 1500)):
            # The number counts the runs.
            text = trace("applied_clock_mhz", str(clock), clock / 10)
            put(tmp_path / f"raw/{program}/trace_{run}.csv", text)
    ingest(lake, tmp_path / "raw", is_proposing=True)
    found = tuples(lake, "SELECT benchmark, applied_clock_mhz, power_w FROM runs ORDER BY ALL")
    assert found == [(p, c, c / 10) for p in ("fft", "lu") for c in (900, 1200, 1500)]
    assert knobs(lake) == ["applied_clock_mhz", "benchmark"]


@pytest.mark.parametrize(
    ("heading", "cells", "value"),
    [
        ("power.limit [W]", ("100.00 W", "250.00 W"), [(100.0,), (250.0,)]),
        ("batch_size", ("8", "64"), [(8,), (64,)]),
        ("dvfs_policy", ("eco", "max"), [("eco",), ("max",)]),
    ],
)
def test_settings_of_several_kinds(
    heading: str, cells: tuple[str, str], value: list[tuple[object]], lake: Path, tmp_path: Path
) -> None:
    for name, cell in zip("ab", cells, strict=True):
        put(tmp_path / f"raw/{name}.csv", trace(heading, cell))
    ingest(lake, tmp_path / "raw", is_proposing=True)
    (name,) = {*knobs(lake)} - {"file"}
    assert tuples(lake, f"SELECT {name} FROM runs ORDER BY ALL") == value


@pytest.mark.parametrize(
    ("heading", "first", "second", "later"),
    {
        "one value in all traces": ("power_cap_w", "100", "100", ""),
        "it changes in one of them": ("power_cap_w", "100", "150", "140"),
        "measured": ("achieved_bw_gbs", "476.5", "476.25", ""),
        "what a device allows": ("power.max_limit [W]", "300.00 W", "450.00 W", ""),
        "of which device the samples are": ("gpu", "0", "1", ""),
    }.values(),
)
def test_other_columns_are_no_settings(
    heading: str, first: str, second: str, later: str, lake: Path, tmp_path: Path
) -> None:
    put(tmp_path / "raw/fft.csv", trace(heading, first))
    put(tmp_path / "raw/lu.csv", trace(heading, second, 80.0, later))
    ingest(lake, tmp_path / "raw", is_proposing=True)
    assert knobs(lake) == ["benchmark"]


def test_a_person_may_declare_what_files_state(lake: Path, tmp_path: Path) -> None:
    settings = """
        [workloads.w]
        loop = "closed"
        performance_metric = "duration_s"
        logged = false
        [columns.cap_w]
        role = "knob"
        type = "real"
        [[names]]
        pattern = 't(?P<replicate>\\d)\\.csv'
        workload = "w"
        system = "s"
        columns = { power_cap_w = "cap_w" }
        """
    put(tmp_path / "raw/wattlas.toml", settings)
    put(tmp_path / "raw/t1.csv", trace("power_cap_w", "62.5"))
    put(tmp_path / "raw/t2.csv", trace("power_cap_w", "62.5", later="70"))
    ingest(lake, tmp_path / "raw")
    assert tuples(lake, "SELECT replicate, cap_w FROM runs ORDER BY 1") == [(1, 62.5), (2, None)]
    put(tmp_path / "raw/wattlas.toml", settings.replace('"cap_w"', '"cap"'))
    with pytest.raises(SettingsError, match=r"names\[1\].columns: no \[columns.cap\]"):
        load_settings(tmp_path / "raw/wattlas.toml")

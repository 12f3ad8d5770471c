"""Files with one header are of one kind, as most of them are: samples, or runs."""

from pathlib import Path

import pytest

from ingest.lake.proposals import read_proposals
from tests.fixtures.ingest import details, ingest, put, tuples


def samples(count: int, watts: float = 50.0) -> str:
    """A sample a second; six are a trace by themselves."""
    rows = (f"{n + 1},{watts + n % 2},{30 + n % 3}" for n in range(count))
    return "\n".join(["time_s,power_w,cpu_util_pct", *rows]) + "\n"


@pytest.mark.parametrize("short", [3, 5])
@pytest.mark.parametrize("folder", ["", "b/"])
def test_few_samples_are_a_run_as_many_are(
    short: int, folder: str, lake: Path, tmp_path: Path
) -> None:
    """Also in a folder with nothing else, and in files that are added later."""
    for name in ("fft", "lu", "mg"):
        put(tmp_path / f"raw/{'a/' if folder else ''}{name}.csv", samples(12))
    put(tmp_path / f"raw/{folder}cg.csv", samples(short))
    ingest(lake, tmp_path / "raw", is_proposing=True)
    found = tuples(lake, "SELECT benchmark, duration_s, source FROM runs ORDER BY 1")
    assert found == [
        ("cg", float(short), "trace"),
        *((n, 12.0, "trace") for n in ("fft", "lu", "mg")),
    ]
    put(tmp_path / f"raw/{folder}is.csv", samples(4))
    ingest(lake, tmp_path / "raw", is_proposing=True)
    sql = "SELECT duration_s, source FROM runs WHERE benchmark = 'is'"
    assert tuples(lake, sql) == [(4.0, "trace")]


def test_one_sample_is_refused_as_a_trace(lake: Path, tmp_path: Path) -> None:
    for name in ("fft", "lu"):
        put(tmp_path / f"raw/{name}.csv", samples(12))
    put(tmp_path / "raw/cg.csv", samples(1))
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    assert tuples(lake, "SELECT benchmark FROM runs ORDER BY 1") == [("fft",), ("lu",)]
    assert details(report, "bad_content") == ["no times that rise at even steps (cg.csv); not used"]


def rows(steps: list[float]) -> str:
    """A run a row, begun when the one before was over and someone had time."""
    times = (sum(steps[: n + 1]) for n in range(len(steps)))
    lines = (f"{at},{50 + n},{n % 3}" for n, at in enumerate(times))
    return "\n".join(["timestamp_s,power_w,threads", *lines]) + "\n"


def test_runs_at_even_times_are_runs_as_others_are(lake: Path, tmp_path: Path) -> None:
    uneven = [100.0, 900.0, 30.0, 2000.0, 4.0, 1.0, 700.0, 90.0, 5.0]
    for name in ("fft", "lu", "mg"):
        put(tmp_path / f"raw/{name}.csv", rows(uneven))
    put(tmp_path / "raw/cg.csv", rows([1.0] * 9))
    ingest(lake, tmp_path / "raw", is_proposing=True)
    found = tuples(lake, "SELECT benchmark, count(*), any_value(source) FROM runs GROUP BY 1")
    assert sorted(found) == [(name, 9, "summary") for name in ("cg", "fft", "lu", "mg")]


def test_nothing_is_said_where_all_files_are_of_one_kind(lake: Path, tmp_path: Path) -> None:
    for name in ("fft", "lu"):
        put(tmp_path / f"raw/{name}.csv", samples(12))
    put(tmp_path / "raw/summary.csv", "benchmark,accuracy\nfft,0.5\nlu,0.75\n")
    ingest(lake, tmp_path / "raw", is_proposing=True)
    assert "format" not in "".join(each.text for each in read_proposals(lake))

"""Series that dashboards export, and the statistics of load generators beside them."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from data.connection import open_lake
from ingest.formats.trace import read, sniff
from ingest.records import ReadContext, Reading
from tests.fixtures.ingest import details, ingest, problems, put, runs, tuples

N = range(24)
START = datetime(2024, 2, 1, 11, 40)


def series(head: str, *columns: object, step_s: float = 30.0, start: datetime = START) -> str:
    """A header and a row each step; a column is a number, or a function of the row's number."""
    lines = [head]
    for n in N:
        cells = [str(each(n) if callable(each) else each) for each in columns]
        lines.append(",".join([str(start + timedelta(seconds=n * step_s)), *cells]))
    return "\n".join(lines) + "\n"


def reading(text: str, name: str = "t.csv") -> Reading:
    assert sniff(name, text.encode())
    return read([text.encode()], ReadContext(name, 0.0))


WORKER = '"Time","pod-7c / worker / PKG","pod-7c / worker / DRAM","pod-7c / worker / OTHER"'


def test_samples_without_a_word_of_a_quantity_are_one_run() -> None:
    """24 samples of 30 s: 2 W make 1440 J; the mean of 0 to 23 is 11.5."""
    found = reading(f"sep=,\n{series(WORKER, 2, 0.25, lambda n: n)}")
    assert found.measurements == {
        "duration_s": 720.0, "energy_j": 1440.0, "dram_power_w": 0.25, "other": 11.5,
    }  # fmt: skip
    assert [p.detail for p in found.problems] == [
        "PKG and DRAM say no quantity and no unit: taken as power in W"
    ]
    assert found.intervals is not None
    assert found.intervals.values.keys() == {"package_power_w", "dram_power_w", "other"}


def test_the_name_of_a_file_says_a_rate() -> None:
    text = series('"Time","Job completion v8"', lambda n: n)
    found = reading(text, "Job_Completion_per_second.csv")
    (column,) = found.columns
    assert (column.name, column.unit, column.better) == ("job_completion_v8", "1/s", "more")
    assert found.measurements[column.name] == 11.5
    assert reading(text).columns[0].unit == ""


@pytest.mark.parametrize(
    "text",
    {
        "uneven steps": "Time,a\n"
        + "".join(f"{START + timedelta(seconds=n * n + n)},{n}\n" for n in N),
        "a setting": series("Time,threads,a", lambda n: n % 4, lambda n: n),
        "a setting that stays": series("Time,threads,a", 8, lambda n: n),
        "a setting of each": series("Time,threads,a", lambda n: n + 1, lambda n: n),
        "minutes apart": series("Time,a", lambda n: n, step_s=300),
        "a name": series("Time,program,a", lambda n: "xyz"[n % 3], lambda n: n),
        "a replicate": series("Time,a,run", lambda n: n, lambda n: n),
        "few": "\n".join(series("Time,a", lambda n: n).splitlines()[:12]) + "\n",
        "days alone": series("Time,a", lambda n: n, step_s=86_400).replace(" 11:40:00", ""),
    }.values(),
)
def test_rows_of_runs_are_no_series(text: str) -> None:
    assert not sniff("t.csv", text.encode())


def test_running_totals_are_no_power() -> None:
    """They are energies of RAPL's counters, in uJ."""
    found = reading(series("Time,PKG", lambda n: 10**9 + n * 6 * 10**7))
    assert found.measurements["energy_j"] == pytest.approx(23 * 60.0)


@pytest.mark.parametrize("rate", [0.0, 1e-6], ids=["a steady use", "a running total"])
def test_numbers_below_a_milliwatt_are_in_no_known_unit(rate: float) -> None:
    """Neither the W of a processor nor the uJ of its counter: kWh, but nothing says so."""
    found = reading(series("Time,PKG,CORE", lambda n: 1e-6 + n * rate, 4e-7))
    assert found.measurements == pytest.approx(
        {"duration_s": 720.0, "pkg": 1e-6 + 11.5 * rate, "core": 4e-7}
    )
    assert [column.unit for column in found.columns] == ["", ""]


def test_cells_of_a_column_may_have_several_units() -> None:
    """12 samples of 980 mW, 12 of 1.02 kW: 30 s x (12 x 0.98 W + 12 x 1020 W) = 367,552.8 J."""
    text = series("Time,Value", lambda n: "980 mW" if n < 12 else "1.02 kW")
    found = reading(text)
    assert found.measurements["energy_j"] == pytest.approx(367_552.8)
    odd = reading(series("Time,Power", lambda n: "5 W" if n < 20 else "5 V"))
    assert odd.measurements["energy_j"] == pytest.approx(20 * 150.0)
    assert odd.problems[0].detail == "Power has cells in W and in V: the latter are left out"


def test_series_of_one_time_are_one_run(tmp_path: Path) -> None:
    """PKG of 2 and 3 W. The completions go on for longer: the power is over its own time."""
    hour = timedelta(hours=1)
    spans = (("11-40-00-11-58-00", START), ("12-40-00_13-05-00", START + hour))
    for n, (name, start) in enumerate(spans):
        base = f"in/2024-02-01_{name}"
        put(
            tmp_path / f"{base}_Worker.csv", "sep=,\n" + series(WORKER, n + 2, 0.25, 0, start=start)
        )
        put(tmp_path / f"{base}_Job_per_second.csv",
            series('"Time","Job"', lambda n: n, start=start, step_s=32))  # fmt: skip
    ingest(tmp_path / "lake", tmp_path / "in", is_proposing=True)
    found = tuples(
        tmp_path / "lake",
        "SELECT energy_j, duration_s, power_w, job, performance_metric FROM runs ORDER BY power_w",
    )
    assert found == [(1440.0, 720.0, 2.0, 11.5, "job"), (2160.0, 720.0, 3.0, 11.5, "job")]


def test_series_of_the_same_quantity_are_runs_of_their_own(tmp_path: Path) -> None:
    for name, watts in (("left", 2), ("right", 3)):
        put(tmp_path / f"in/{name}.csv", series("Time,PKG", watts))
    ingest(tmp_path / "lake", tmp_path / "in", is_proposing=True)
    assert [row["power_w"] for row in runs(tmp_path / "lake", order="power_w")] == [2.0, 3.0]


LOCUST = (
    "Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,"
    "Min Response Time,Max Response Time,Average Content Size,Requests/s,Failures/s,50%,66%,75%,"
    "80%,90%,95%,98%,99%,99.9%,99.99%,100%"
)


def locust(requests: int, rate: float, median_ms: float) -> str:
    shares = ",".join(str(median_ms + n) for n in range(11))
    times = f"{median_ms},{median_ms + 9},3.5,{median_ms * 9},812.5"
    ends = [f"GET,/{end},{requests // 2},0,{times},{rate / 2},0.0,{shares}" for end in "ab"]
    whole = f",Aggregated,{requests},1,{times},{rate},0.01,{shares}"
    return "\n".join([LOCUST, *ends, whole]) + "\n"


def test_a_load_test_and_the_power_beside_it_are_one_run(tmp_path: Path) -> None:
    """24 samples of 30 s are 720 s; 72,000 requests at 100 a second take as long, 18,000 at 100
    only 180 s: the energy of the trace is not theirs. Days and hours, which differ with the variant
    alone, are no settings.
    """
    for folder, requests, watts in (
        ("01-plain/2024-07-31/16-18", 72_000, 120),
        ("02-cached/2024-08-10/17-19", 18_000, 150),
    ):
        put(tmp_path / f"in/{folder}/data_stats.csv", locust(requests, 100.0, 130.0))
        put(tmp_path / f"in/{folder}/pdu.csv", series('"Time","Value"', f"{watts} W"))
    report = ingest(tmp_path / "lake", tmp_path / "in", is_proposing=True)
    found = runs(
        tmp_path / "lake",
        "folder, energy_j, power_w, throughput_qps, latency_p50_us, latency_p99_us, failure_count",
        "power_w",
    )
    assert [tuple(row.values()) for row in found] == [
        ("01-plain", 86_400.0, 120.0, 100.0, 130_000.0, 137_000.0, 1),
        ("02-cached", None, 150.0, 100.0, 130_000.0, 137_000.0, 1),
    ]
    assert details(report, "row_parts") == 2 * [
        "2 rows are of parts of the run of row 'Aggregated'; no runs"
    ]
    (length,) = details(report, "duration_off")
    assert length.startswith("its requests took 180 s at their rate, its trace 720 s")
    with open_lake(tmp_path / "lake") as lake:
        assert [c.name for c in lake.columns if c.role == "knob" and c.name.startswith("fol")] == [
            "folder"
        ]


def test_the_total_of_jmeter_is_the_run(tmp_path: Path) -> None:
    head = "Label,# Samples,Average,Median,90% Line,95% Line,99% Line,Min,Max,Error %,Throughput"
    rows = [
        "home,900,41,38,66,80,131,12,402,0.00%,99.1",
        "find,900,77,70,110,144,230,20,620,0.1%,98.7",
    ]
    put(
        tmp_path / "in/report.csv",
        "\n".join([head, *rows, rows[1].replace("find", "TOTAL")]) + "\n",
    )
    ingest(tmp_path / "lake", tmp_path / "in", is_proposing=True)
    assert [row["latency_p99_us"] for row in runs(tmp_path / "lake")] == [230_000.0]
    assert ("report.csv", 2, "row_parts", "repaired") in problems(tmp_path / "lake")


def test_the_short_report_of_jmeter_has_its_units(tmp_path: Path) -> None:
    """As its graphs save it: times in ms, and requests a second."""
    head = "Label,# Samples,Average,Min,Max,Std. Dev.,Error %,Throughput,"
    head += "Received KB/sec,Sent KB/sec,Avg. Bytes"
    home = "home,1,4370,4370,4370,0.00,0.000%,.22883,0.14,0.06,647.0"
    for at in (0, 1):
        total = f"TOTAL,160{at},255,2,7911,365.65,70.652%,33.7{at},121.02,14.14,3669.0"
        put(tmp_path / f"in/Phase{at}_load.csv", "\n".join([head, home, total]) + "\n")
    ingest(tmp_path / "lake", tmp_path / "in", is_proposing=True)
    found = tuples(
        tmp_path / "lake",
        "SELECT phase, throughput_qps, latency_mean_us, std_dev FROM runs ORDER BY 1",
    )
    assert found == [(0, 33.70, 255_000.0, 365.65), (1, 33.71, 255_000.0, 365.65)]

"""A trace of power during several runs: each run has its part of it."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from data.connection import open_lake
from ingest.formats.run_marks import mark_in
from tests.fixtures.ingest import ingest, put, query
from tests.fixtures.tool_outputs import captured

START = datetime(2026, 3, 4, 10)
# Of each run when it began, how long it took, and its power.
RUNS = ((5, 20, 15.0), (30, 10, 25.0), (45, 5, 35.0))


def at(seconds: float, zone: str = "") -> str:
    return f"{START + timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S}{zone}"


def trace(zone: str = "") -> str:
    """A sample is of the second before it; between runs the machine takes 5 W."""
    rows = []
    for second in range(1, 61):
        own = [power for begin, took, power in RUNS if begin < second <= begin + took]
        rows.append(f"{at(second, zone)},{own[0] if own else 5.0 + second % 2 / 10}")
    return "timestamp,power_w\n" + "\n".join(rows) + "\n"


def marks(zone: str = "") -> str:
    return "".join(
        f"[{at(begin, zone)}] START governor=powersave threads={n}\n"
        f"[{at(begin + took, zone)}] END governor=powersave threads={n}\n"
        for n, (begin, took, _) in zip((1, 2, 4), RUNS, strict=True)
    )


def sysbench(rate: int, took_s: int) -> str:
    text = captured("sysbench_cpu.txt").decode()
    return text.replace("3387.77", f"{rate}.5").replace("2.0427s", f"{took_s}.01s")


def test_marks_alone_cut_a_trace_to_the_runs(lake: Path, tmp_path: Path) -> None:
    put(tmp_path / "raw" / "runs.log", marks())
    put(tmp_path / "raw" / "wattsup.csv", trace())
    ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(lake, "SELECT thread_count, duration_s, energy_j FROM runs ORDER BY ALL")
    assert [*map(tuple, map(dict.values, found))] == [
        (1, 20, 300), (2, 10, 250), (4, 5, 175),
    ]  # fmt: skip
    again = ingest(lake, tmp_path / "raw", is_proposing=True)
    assert (again.added, again.replaced, again.unchanged) == (0, 0, 3)


def test_the_timeline_of_a_run_is_its_part_of_the_trace(lake: Path, tmp_path: Path) -> None:
    put(tmp_path / "raw" / "runs.log", marks())
    put(tmp_path / "raw" / "wattsup.csv", trace())
    ingest(lake, tmp_path / "raw", is_proposing=True)
    found = {}
    with open_lake(lake) as opened:
        for run in query(lake, "SELECT run_id, thread_count FROM runs"):
            rows = opened.scan("intervals", run_ids=[run["run_id"]]).to_arrow_table().to_pylist()
            of_power = [row for row in rows if row["quantity"] == "package_power_w"]
            assert {row["value"] for row in of_power} == {15.0 + 10 * (run["thread_count"] // 2)}
            found[run["thread_count"]] = [row["t_s"] for row in of_power]
    assert found == {n: [*range(1, took + 1)] for n, took in ((1, 20), (2, 10), (4, 5))}


@pytest.mark.parametrize(("of_runs", "of_trace", "is_shared"), [
    ("", "", True), ("Z", "+00:00", True), ("+00:00", "Z", True),
    # Of a clock that states no offset nothing says that it is the other.
    ("", "Z", False), ("Z", "", False),
])  # fmt: skip
def test_clocks_of_two_kinds_are_not_compared(
    of_runs: str, of_trace: str, is_shared: bool, lake: Path, tmp_path: Path
) -> None:
    put(tmp_path / "raw" / "runs.log", marks(of_runs))
    put(tmp_path / "raw" / "wattsup.csv", trace(of_trace))
    ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(lake, "SELECT energy_j FROM runs WHERE thread_count IS NOT NULL")
    assert [row["energy_j"] is not None for row in found] == [is_shared] * 3


def test_a_trace_that_covers_no_run_is_one_by_itself(lake: Path, tmp_path: Path) -> None:
    put(tmp_path / "raw" / "runs.log", marks().replace("2026-03-04", "2026-03-05"))
    put(tmp_path / "raw" / "wattsup.csv", trace())
    ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(lake, "SELECT thread_count, energy_j IS NULL AS free FROM runs ORDER BY ALL")
    assert [*map(tuple, map(dict.values, found))] == [
        (1, True), (2, True), (4, True), (None, False),
    ]  # fmt: skip


def test_marks_around_outputs_say_their_time_and_settings(lake: Path, tmp_path: Path) -> None:
    put(tmp_path / "raw" / "results.txt", "".join(
        f"START cap={20 + n} W {at(begin)}\n{sysbench(n, took)}"
        f"END cap={20 + n} W {at(begin + took)}\n" for n, (begin, took, _) in enumerate(RUNS)
    ))  # fmt: skip
    put(tmp_path / "raw" / "power.csv", trace())
    ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(lake, "SELECT cap, throughput_qps, energy_j FROM runs ORDER BY ALL")
    assert [*map(tuple, map(dict.values, found))] == [
        (20, 0.5, 300), (21, 1.5, 250), (22, 2.5, 175),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "begins", "rest"),
    [
        ("START threads=4 2026-03-04 10:00:05", True, "threads=4"),
        ("[2026-03-04T10:00:05.250] Finished run 3", False, "run 3"),
        ("start_time: 1772618405", True, ""),
        ("Wed Mar  4 10:00:05 UTC 2026 begin O2", True, "O2"),
        ("=== started at 2026/03/04 10:00:05 ===", True, ""),
        ("end 1772618405123", False, ""),
    ],
)
def test_marks(line: str, begins: bool, rest: str) -> None:
    mark = mark_in(line)
    assert mark is not None
    assert (mark.is_begin, mark.rest) == (begins, rest)
    assert 1772618405 <= mark.unix_s < 1772618406


@pytest.mark.parametrize(
    "line",
    [
        "2026-03-04 10:00:05 working",
        "start of the run",
        "from start 2026-03-04 10:00:05 to end 2026-03-04 10:00:09",
        "start 2026-03-04 10:00:05 2026-03-04 10:00:09",
        "started 12345 requests",
        "restart 1772618405",
    ],
)
def test_no_marks(line: str) -> None:
    assert mark_in(line) is None


def test_settings_above_one_output_are_of_it(lake: Path, tmp_path: Path) -> None:
    for mhz in (1200, 2400):
        text = f"freq={mhz}\n" + captured("sysbench_cpu.txt").decode()
        put(tmp_path / "raw" / f"{'abc'[mhz // 1200]}.txt", text)
    ingest(lake, tmp_path / "raw", is_proposing=True)
    assert [row["freq"] for row in query(lake, "SELECT freq FROM runs ORDER BY ALL")] == [
        1200,
        2400,
    ]


def test_the_samples_of_nvidia_smi_are_of_the_result_of_their_name(
    lake: Path, tmp_path: Path
) -> None:
    for batch in (1, 8):
        result = f'{{"model": "vit", "batch_size": {batch}, "elapsed_s": 9.5}}'
        put(tmp_path / "raw" / f"vit_b{batch}.json", result)
        rows = "".join(f"{at(n)}, {60 + batch}.5 W\n" for n in range(10))
        put(tmp_path / "raw" / f"vit_b{batch}_smi.csv", f"timestamp, power.draw [W]\n{rows}")
    ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(lake, "SELECT batch_size, energy_j FROM runs ORDER BY ALL")
    assert [tuple(each.values()) for each in found] == [(1, 615), (8, 685)]

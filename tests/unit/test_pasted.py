"""Several outputs of one tool in a text, and what stands above each."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ingest.formats.pasted import cut, settings_in
from tests.fixtures.fio_documents import document, job
from tests.fixtures.ingest import ingest, problems, put, query
from tests.fixtures.tool_outputs import captured

WRK = """Running 9s test @ http://elk/
  2 threads and {} connections
    Latency     {}.00ms    1.00ms   9.00ms   90.00%
  {} requests in 9.00s, 1.00MB read
Requests/sec:   {}.50
Transfer/sec:      1.00KB
"""


def sysbench(rate: int, threads: int = 2) -> str:
    text = captured("sysbench_cpu.txt").decode()
    return text.replace("3387.77", f"{rate}.5").replace("threads: 2", f"threads: {threads}")


@pytest.mark.parametrize(
    ("name", "system"), [("notes", "notes"), ("bench-powersave", "raw"), ("bench-output", "raw")]
)
def test_each_output_is_a_run_with_what_stands_above_it(
    name: str, system: str, lake: Path, tmp_path: Path
) -> None:
    """Titles hold until they recur; those of repetitions set nothing.

    A file that is called as some of its outputs, or `output`, names no system.
    """
    text = "".join(
        f"# Results\n\nBy me.\n\n## governor {governor}\n"
        + "".join(f"### {2 * n} threads, run {run}\n```\n$ sysbench cpu run\n"
                  + sysbench(rate + n, 2 * n) + "```\n" for n in (1, 2) for run in (1, 2))
        for governor, rate in (("performance", 900), ("powersave", 500))
    )  # fmt: skip
    put(tmp_path / "raw" / f"{name}.md", text)
    ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(lake, "SELECT governor, threads, throughput_qps, count(*) AS n FROM runs "
                  "GROUP BY ALL ORDER BY ALL")  # fmt: skip
    assert [*map(tuple, map(dict.values, found))] == [
        ("performance", 2, 901.5, 2), ("performance", 4, 902.5, 2),
        ("powersave", 2, 501.5, 2), ("powersave", 4, 502.5, 2),
    ]  # fmt: skip
    assert query(lake, "SELECT DISTINCT system FROM runs") == [{"system": system}]
    columns = {row["column_name"] for row in query(lake, "DESCRIBE runs")}
    assert columns.isdisjoint({"heading", "heading_1", "heading_3", "thread_count", "run"})


def iperf3(rate: int, streams: int) -> str:
    """Return a document as iperf3 writes it, or the end of a test that failed."""
    test = {"protocol": "TCP", "num_streams": streams, "blksize": 1024, "duration": 2}
    start = {"version": "iperf 3.12", "test_start": test}
    ends = {"sum_sent": {"seconds": 2.0}, "sum_received": {"bits_per_second": 8.0 * rate}}
    failed = {"start": start, "error": "the server is busy"}
    return json.dumps({"start": start, "end": ends} if rate else failed, indent=2) + "\n"


def fio(rate: int, stamp_s: int) -> str:
    text = document(job(extra='"elapsed": 3,'), stamp_ms=stamp_s * 1000)
    return text.replace('"iops": 500.0', f'"iops": {rate}.0')


@pytest.mark.parametrize(("output", "column"), [(iperf3, "bandwidth_bytes_s"), (fio, "iops")])
def test_documents_of_a_text_are_a_run_each(
    output: Callable[[int, int], str], column: str, lake: Path, tmp_path: Path
) -> None:
    runs = [(700, "eco"), (750, "eco"), (900, "fast")]
    text = "".join(f"=== governor: {governor} ===\n{output(rate, 60 * at)}"
                   for at, (rate, governor) in enumerate(runs, 1))  # fmt: skip
    put(tmp_path / "raw" / "all.txt", text)
    ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(lake, f"SELECT {column}, governor FROM runs ORDER BY ALL")
    assert [tuple(each.values()) for each in found] == runs


def test_a_document_that_failed_leaves_the_others(lake: Path, tmp_path: Path) -> None:
    text = "".join(f"streams={n}\n{iperf3(rate, n)}" for n, rate in ((1, 600), (2, 0), (4, 800)))
    put(tmp_path / "raw" / "all.log", text)
    ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(lake, "SELECT streams, bandwidth_bytes_s FROM runs ORDER BY ALL")
    assert [tuple(each.values()) for each in found] == [(1, 600), (4, 800)]
    assert [kind for _, _, kind, _ in problems(lake)] == ["run_failed"]


def test_outputs_of_which_nothing_says_what_was_set_are_doubted(lake: Path, tmp_path: Path) -> None:
    put(tmp_path / "raw" / "plain" / "out.txt", sysbench(900) + sysbench(800))
    put(tmp_path / "raw" / "told" / "out.txt", sysbench(900, 2) + sysbench(800, 4))
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    assert len(query(lake, "SELECT * FROM runs")) == 4
    (doubt,) = [p for p in report.problems if p.problem.kind == "several_outputs"]
    assert "plain" in doubt.path


def test_an_output_that_was_cut_says_nothing_of_the_one_above(lake: Path, tmp_path: Path) -> None:
    begun = sysbench(700, 8).partition("General statistics:")[0]
    put(tmp_path / "raw" / "out.txt", sysbench(900, 2) + sysbench(800, 4) + begun)
    ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(lake, "SELECT threads, throughput_qps FROM runs ORDER BY ALL")
    assert [*map(tuple, map(dict.values, found))] == [(2, 900.5), (4, 800.5)]


def test_settings_on_a_line_hold_until_they_recur(lake: Path, tmp_path: Path) -> None:
    text = "".join(
        f"freq={mhz} MHz\n" + "".join(f"connections={n}\n{WRK.format(n, n, n, mhz + n)}"
                                      for n in (10, 50)) for mhz in (1200, 2400)
    )  # fmt: skip
    put(tmp_path / "raw" / "out.txt", text)
    ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(lake, "SELECT freq, connections, throughput_qps FROM runs ORDER BY ALL")
    assert [*map(tuple, map(dict.values, found))] == [
        (1200, 10, 1210.5), (1200, 50, 1250.5), (2400, 10, 2410.5), (2400, 50, 2450.5),
    ]  # fmt: skip


def test_hogs_of_one_output_are_not_those_of_the_next(lake: Path, tmp_path: Path) -> None:
    one = captured("stress_ng.txt").decode()
    text = one.replace("dispatching hogs: 1 cpu, 1 vm", "dispatching hogs: 3 cpu")
    assert text != one
    text = "".join(line for line in text.splitlines(True) if "] vm  " not in line)
    text += text.replace("hogs: 3", "hogs: 6").replace("748.25", "1400.5")
    put(tmp_path / "raw" / "stress.log", text)
    ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(lake, "SELECT threads, throughput_qps FROM runs ORDER BY ALL")
    assert [*map(tuple, map(dict.values, found))] == [(3, 748.25), (6, 1400.5)]


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("threads=4 run 2", {"threads": "4", "run": "2"}),
        ("4 threads", {"threads": "4"}),
        ("threads 4, freq 1200 MHz", {"threads": "4", "freq": "1200 MHz"}),
        ("2400MHz", {"frequency": "2400 MHz"}),
        ("cap 60 W", {"cap": "60 W"}),
        ("governor performance", {"governor": "performance"}),
        ("gcc -O3", {"heading": "gcc -O3"}),
        ("mean power 60.5 W", {"heading": "mean"}),
        ("energy=5.5", {}),
        ("with the", {}),
    ],
)
def test_what_a_title_says(title: str, said: dict[str, str]) -> None:
    assert settings_in(title, "heading") == said


def test_a_title_again_ends_what_was_below_it() -> None:
    text = "## elk\nthreads=1\n0\n## fox\n0\nthreads=2\n0\n"
    ends = [at for at, letter in enumerate(text) if letter == "0" and text[at - 1] == "\n"]
    knobs = [dict(each.knobs) for each in cut(text, [(at, at + 1) for at in ends])]
    assert knobs == [
        {"heading_2": "elk", "thread_count": 1}, {"heading_2": "fox"},
        {"heading_2": "fox", "thread_count": 2},
    ]  # fmt: skip


def test_repeated_blocks_below_settings_have_these(lake: Path, tmp_path: Path) -> None:
    """Before, only the last block of a section was a run."""
    text = "".join(
        f"CC = gcc\nCOPTS = {copts}\n" + "".join(
            f"# Total time = {time_s + n / 10} seconds\nOperations: 90000\n"
            f"energy = {9 * time_s + n}.5 J\n"
            for n in range(3)) for copts, time_s in (("-O0", 20), ("-O3 -g", 5))
    )  # fmt: skip
    put(tmp_path / "raw" / "static.result", text)
    ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(lake, "SELECT copts, energy_j, duration_s FROM runs ORDER BY ALL")
    assert [*map(tuple, map(dict.values, found))] == [
        ("-O0", 180.5, 20.0), ("-O0", 181.5, 20.1), ("-O0", 182.5, 20.2),
        ("-O3 -g", 45.5, 5.0), ("-O3 -g", 46.5, 5.1), ("-O3 -g", 47.5, 5.2),
    ]  # fmt: skip

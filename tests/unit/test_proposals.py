"""What headings and cells of undeclared tables are taken for; `add` of folders without settings.

Tables in the style of published sweeps: LLM inference, power caps, GPU clocks, CodeCarbon, JVMs.
"""

import json
import re
import tomllib
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.connection import open_lake
from data.declared import from_settings
from data.errors import DataError
from data.queries.lake_page import files_query
from ingest.__main__ import main
from ingest.formats.logged_rows import logged_rows
from ingest.formats.written_numbers import written_numbers
from ingest.lake.proposals import read_proposals
from ingest.proposals.path_parts import read_paths
from ingest.propose import propose_for
from ingest.settings.loading import load_settings
from tests.fixtures.ingest import put


@pytest.mark.parametrize(
    ("cells", "is_comma_separated", "numbers"),
    [
        (["12.5 W", "13 W"], True, (["12.5", "13"], "W")),
        (["45 %", "", "50%"], True, (["45", None, "50"], "%")),
        (["12.5 [ms]", "", "13[ms]"], True, (["12.5", None, "13"], "ms")),
        (["12.5 [ms]", "13 [s]"], True, (["12.5", "13000"], "ms")),
        (["1 [a, b]", "2 [c]"], True, None),
        (["1,5", "2,25"], False, (["1.5", "2.25"], "")),
        (["1.234,5", "99,0"], False, (["1234.5", "99.0"], "")),
        # Beside whole numbers below a thousand these are thousands.
        (["980", "1,100"], False, (["980", "1100"], "")),
        (["1100", "1,100"], False, None),
        (["0,125", "2", "1,100"], False, (["0.125", "2", "1.100"], "")),
        (["1,234", "12,345"], True, (["1234", "12345"], "")),
        (["1.5", "2"], True, None),
        (["1.5 W", "2 J"], True, None),
        (["4k", "8k"], True, None),
        (["1,2,3", "1"], False, None),
        # Blanks between groups of three digits; plain ones where a comma is a decimal one.
        (["9\u202f584,56", "980,5"], False, (["9584.56", "980.5"], "")),
        (["9\u00a0584 J", "980 J"], True, (["9584", "980"], "J")),
        (["9 584,56", "1 980"], False, (["9584.56", "1980"], "")),
        (["224 224", "384 384"], False, None),
    ],
)
def test_numbers_as_people_write_them(
    cells: list[str], is_comma_separated: bool, numbers: tuple[list[str], str] | None
) -> None:
    assert written_numbers(cells, is_comma_separated) == numbers


def add(folder: Path, lake: Path, *options: str) -> int:
    return main(["add", str(folder), "--lake", str(lake), *options])


def rows_of(lake: Path, sql: str) -> list[tuple[Any, ...]]:
    with open_lake(lake) as opened:
        return opened.polars(sql).rows()


GERMAN = """\N{ZERO WIDTH NO-BREAK SPACE}# taken in May
algorithm;frequency (MHz);power;runtime
quick;1200;20,5 W;2,000
quick;2400;41,0 W;1,000
merge;1200;10,0 W;4,000

Means without outliers
"""


def test_add_guesses_keeps_the_guess_and_uses_it_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """20.5 W in 2 s, 41 W in 1 s and 10 W in 4 s: 41, 41 and 40 J."""
    raw, lake = tmp_path / "study", tmp_path / "lake"
    put(raw / "messung.csv", GERMAN)
    assert add(raw, lake) == 0
    said = capsys.readouterr().out
    assert "no settings in" in said
    assert "set: algorithm (2), frequency (MHz) (2)" in said
    sql = "SELECT algorithm, frequency, power_w, duration_s, energy_j, workload, flags FROM runs"
    derived = ["energy_derived"]
    assert sorted(rows_of(lake, sql)) == [
        ("merge", 1200, 10.0, 4.0, 40.0, "messung", derived),
        ("quick", 1200, 20.5, 2.0, 41.0, "messung", derived),
        ("quick", 2400, 41.0, 1.0, 41.0, "messung", derived),
    ]
    assert not (raw / "wattlas.toml").exists()
    (kept,) = read_proposals(lake)
    assert tomllib.loads(kept.text)["tables"][0]["columns"]["algorithm"] == {"role": "knob"}
    assert main(["propose", "--lake", str(lake)]) == 0
    assert capsys.readouterr().out.startswith(f"# For {raw.resolve()}")
    assert main(["problems", "--lake", str(lake)]) == 0
    said = capsys.readouterr().out
    assert "guessed_columns" in said
    assert "runtime states no unit, taken as s: ms would fit as well" in said
    with open_lake(lake) as opened:
        titles = [opened.catalogue.metric(n).axis_title for n in ("duration_s", "power_w")]
        assert opened.polars(*files_query())["raw_files"].to_list() == [1]
    assert titles == [
        "Time, s, unit guessed in study (less is better)",
        "Power, W (less is better)",
    ]
    assert add(raw, lake) == 0
    said = capsys.readouterr().out
    assert "runs: 3 already there" in said
    assert "no settings" not in said
    assert main(["verify", "--lake", str(lake)]) == 0
    # A later version refuses a name that this one proposed.
    (file,) = (lake / "proposals").iterdir()
    file.write_text(kept.text + '\n[columns.value]\nrole = "knob"\n', "utf-8")
    assert add(raw, lake) == 0
    said = capsys.readouterr().out
    assert "proposed again, since the settings of before are refused: 'value' cannot name" in said
    assert add(raw, lake) == 0
    assert "proposed again" not in capsys.readouterr().out
    assert rows_of(lake, "SELECT count(*), count(energy_j) FROM runs") == [(3, 3)]


def test_a_file_that_says_only_what_the_dataset_is_leaves_the_guess(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw, lake, told = tmp_path / "study", tmp_path / "lake", tmp_path / "told"
    put(raw / "messung.csv", GERMAN)
    assert add(raw, lake) == 0
    put(raw / "wattlas.toml", '[dataset]\nname = "sorts"\nlicence = "CC0"\n')
    sql = "SELECT DISTINCT algorithm, frequency, workload FROM runs ORDER BY ALL"
    expected = [("merge", 1200, "messung"), ("quick", 1200, "messung"), ("quick", 2400, "messung")]
    capsys.readouterr()
    for place in (lake, told):
        assert add(raw, place) == 0
        assert rows_of(place, sql) == expected
        with open_lake(place) as opened:
            assert opened.about["sorts"]["licence"] == "CC0"
    said = capsys.readouterr().out
    assert f"to correct a guess: python -m ingest correct COLUMN=WORD --lake {told} (knob" in said
    assert f"> {raw.resolve()}/wattlas.toml" not in said
    # The name of the dataset is the file's, and what was guessed is corrected.
    assert main(["correct", "algorithm=given", "--lake", str(told)]) == 0
    with open_lake(told) as opened:
        assert [c.is_given for c in opened.columns if c.name == "algorithm"] == [True]
    assert rows_of(told, "SELECT DISTINCT dataset FROM runs") == [("sorts",)]
    # With a table of its own the file says what the files are.
    put(raw / "wattlas.toml", '[dataset]\nname = "sorts"\n[columns.power]\nrole = "metric"\n')
    assert add(raw, tmp_path / "third") == 0
    assert "guessed" not in capsys.readouterr().out


def test_without_proposing_columns_stay_as_they_are(tmp_path: Path) -> None:
    raw, lake = tmp_path / "study", tmp_path / "lake"
    put(raw / "messung.csv", GERMAN)
    assert add(raw, lake, "--no-propose") == 0
    assert rows_of(lake, "SELECT count(energy_j) FROM runs") == [(0,)]
    assert read_proposals(lake) == []


def test_tables_of_new_columns_are_proposed_later(tmp_path: Path) -> None:
    raw, lake = tmp_path / "study", tmp_path / "lake"
    put(raw / "messung.csv", GERMAN)
    assert add(raw, lake) == 0
    put(raw / "other.csv", "model,energy_J,time_s\na,10,2\nb,12,3\n")
    assert add(raw, lake) == 0
    assert len(read_proposals(lake)) == 2
    assert sorted(rows_of(lake, "SELECT model, energy_j FROM runs WHERE model IS NOT NULL")) == [
        ("a", 10.0), ("b", 12.0)
    ]  # fmt: skip
    assert rows_of(lake, "SELECT count(*) FROM runs WHERE algorithm IS NOT NULL") == [(3,)]


def test_folders_of_one_table_a_run_are_knobs(tmp_path: Path) -> None:
    raw, lake = tmp_path / "study", tmp_path / "lake"
    for machine, model, batch, rep in product(
        ("a100", "h100"), ("llama-7b", "opt-1b"), (1, 8), "01"
    ):
        measured = {"energy_J": 300.0 + batch, "time_s": 2.0 + int(rep), "tokens": 100 * batch}
        put(raw / f"{machine}/{model}/bs{batch}_rep{rep}.json", json.dumps(measured))
    assert add(raw, lake) == 0
    sql = "SELECT machine, model, bs, count(*), sum(energy_j) FROM runs GROUP BY ALL ORDER BY ALL"
    rows = rows_of(lake, sql)
    assert len(rows) == 8
    assert rows[0] == ("a100", "llama-7b", 1, 2, 602.0)


CAPS = "".join(f"{cap},{5 * cap},1.5\n" for cap in (100, 150, 200))
THREADS = "fft,30.5,2\nlu,45.1,3\nsor,20.2,1\n"


@pytest.mark.parametrize(
    ("names", "cells", "given"),
    [
        # The programs of one sweep; the folder with a file of its own follows from them.
        (["caps/bfs_cap", "caps/gemm_cap", "dual/cfd_cap"], f"cap_w,energy_J,time_s\n{CAPS}",
         {"file": True}),
        # Variants are settings, and so are names of files that sweep nothing.
        (["baseline", "tiled"], f"cap_w,energy_J,time_s\n{CAPS}", {"variant_text": False}),
        (["java", "scala"], f"program,energy_J,time_s\n{THREADS}", {"language": False}),
        (["smt", "nosmt"], f"cap_w,energy_J,time_s\n{CAPS}", {"smt": False}),
        (["xfs", "ext4"], f"cap_w,energy_J,time_s\n{CAPS}", {"filesystem": False}),
    ],
)  # fmt: skip
def test_names_of_files_with_one_sweep_each_are_of_what_ran(
    names: list[str], cells: str, given: dict[str, bool], tmp_path: Path
) -> None:
    for name in names:
        put(tmp_path / "raw" / f"{name}.csv", cells)
    lake = tmp_path / "lake"
    assert add(tmp_path / "raw", lake) == 0
    with open_lake(lake) as opened:
        own = {c.name: c for c in opened.catalogue.columns if c.name not in ("cap_w", "program")}
    assert {n: c.is_given for n, c in own.items() if c.role == "knob"} == given


def test_commands_of_hyperfine_are_what_their_parameters_and_files_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two tools go through the same levels: the names of the files tell them apart."""
    for tool in ("gzip", "bzip2"):
        results = [
            {"command": f"{tool} -{level} a.txt", "mean": 1.0, "stddev": 0.1, "median": 1.0,
             "user": 0.5, "system": 0.1, "min": 0.9, "max": 1.1,
             "times": [0.9 + level, 1.1 + level], "exit_codes": [0, 0],
             "parameters": {"level": str(level)}}
            for level in (1, 5, 9)
        ]  # fmt: skip
        put(tmp_path / f"a/{tool}.json", json.dumps({"results": results}))
    assert add(tmp_path / "a", tmp_path / "lake") == 0
    out = capsys.readouterr().out
    assert "set: parameters.level (3), program (2, from the path)\n" in out
    assert "labels: command, exit_codes\n" in out
    sql = (
        "SELECT program, level_whole, count(*), max(duration_s) FROM runs GROUP BY ALL ORDER BY ALL"
    )
    assert rows_of(tmp_path / "lake", sql)[0] == ("bzip2", 1, 2, 2.1)


def test_a_command_with_one_parameter_says_what_the_parameter_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [f"./solve -t {n},{9 / n},0.1,{9 / n},{9 / n},0.1,8,10,{n}" for n in (1, 2, 4)]
    head = "command,mean,stddev,median,user,system,min,max,parameter_threads"
    put(tmp_path / "a/times.csv", "\n".join([head, *lines, ""]))
    assert add(tmp_path / "a", tmp_path / "lake") == 0
    assert "set: parameter_threads (3)\n" in capsys.readouterr().out


def test_names_of_known_programs_are_what_ran(tmp_path: Path) -> None:
    """A file a language, whose rows have the programs of the game of benchmarks."""
    for n, language in enumerate(("C", "Rust", "Go"), 1):
        lines = [f"{name},{30.25 * n + at},{1.125 * n + at / 9}"
                 for at, name in enumerate(("n-body", "fasta", "mandelbrot") * 2)]  # fmt: skip
        put(tmp_path / f"a/{language}.csv", "\n".join(["Name,PKG (J),Time (s)", *lines, ""]))
    assert add(tmp_path / "a", tmp_path / "lake") == 0
    with open_lake(tmp_path / "lake") as opened:
        given = {c.name: c.is_given for c in opened.catalogue.columns if c.role == "knob"}
    assert given == {"name": True, "language": False}


def test_a_setting_that_one_file_names_is_names_in_all(tmp_path: Path) -> None:
    """A benchmark of a server writes the rate of each run, and `inf` where none was set."""
    for n, (rate, model) in enumerate(product((1, 4, "inf"), ("small", "large"))):
        run = {"model": model, "request_rate": rate, "duration_s": 30.5 + n, "energy_j": 900.25 + n}
        put(tmp_path / f"a/{model}_{rate}.json", json.dumps(run))
    assert add(tmp_path / "a", tmp_path / "lake") == 0
    sql = "SELECT DISTINCT request_rate FROM runs ORDER BY ALL"
    assert rows_of(tmp_path / "lake", sql) == [("1",), ("4",), ("inf",)]


@pytest.mark.parametrize(
    ("heading", "loop"), [("batch_size", "closed"), ("request_rate_rps", "open")]
)
def test_requests_arrive_at_a_rate_only_where_one_was_set(
    heading: str, loop: str, tmp_path: Path
) -> None:
    """Latencies of inferences alone do not tell; runs of equal times are no equal work then."""
    lines = [f"{mode},{n},{n * 20.5 + mode}" for mode in (10, 15) for n in (1, 2, 4)]
    put(tmp_path / "a/runs.csv", "\n".join([f"mode,{heading},latency_p99_ms", *lines, ""]))
    assert add(tmp_path / "a", tmp_path / "lake") == 0
    assert rows_of(tmp_path / "lake", "SELECT DISTINCT loop FROM runs") == [(loop,)]


def test_rows_with_extremes_and_a_number_of_runs_are_no_single_runs(tmp_path: Path) -> None:
    head = "language,runs,energy min (J),energy median (J),energy max (J),time_s"
    put(tmp_path / "a/summary.csv", f"{head}\nC,10,30,31.5,33,1.5\nGo,10,62,63.5,66,2.5\n")
    assert add(tmp_path / "a", tmp_path / "lake") == 0
    sql = "SELECT language, energy_j, aggregate_n FROM runs ORDER BY ALL"
    assert rows_of(tmp_path / "lake", sql) == [("C", 31.5, 10), ("Go", 63.5, 10)]


def test_replicates_in_columns_of_their_own_are_runs(tmp_path: Path) -> None:
    """An empty pair of cells is no run; columns of processors and of phases are no replicates."""
    raw, lake = tmp_path / "study", tmp_path / "lake"
    put(
        raw / "wide.csv",
        "kernel,time_ms_1,energy_mJ_1,time_ms_2,energy_mJ_2,cpu0_power_W,cpu1_power_W\n"
        "conv,10,400,11,440,20,25\nconv,12,500,,,21,26\ngemm,20,900,21,950,22,27\n",
    )
    assert add(raw, lake) == 0
    sql = "SELECT kernel, replicate, duration_s, energy_j, power_w FROM runs ORDER BY ALL"
    rows = [
        ("conv", 0, 0.010, 0.4, 40.0), ("conv", 1, 0.011, 0.44, 40.0),
        ("conv", 2, 0.012, 0.5, 500 / 12), ("gemm", 0, 0.020, 0.9, 45.0),
        ("gemm", 1, 0.021, 0.95, 950 / 21),
    ]  # fmt: skip
    assert rows_of(lake, sql) == [(*row[:2], *map(pytest.approx, row[2:])) for row in rows]


def test_a_workload_of_a_known_name_that_measures_something_else_is_declared(
    tmp_path: Path,
) -> None:
    raw, lake = tmp_path / "study", tmp_path / "lake"
    put(raw / "mlperf.csv", "batch,time_s,energy_J\n8,2,100\n8,3,120\n16,4,150\n16,5,170\n")
    assert add(raw, lake) == 0
    sql = "SELECT DISTINCT workload, performance_metric FROM runs"
    assert rows_of(lake, sql) == [("mlperf", "duration_s")]


def test_a_knob_is_not_called_as_queries_call_what_they_compute(tmp_path: Path) -> None:
    """A metric may be: no query has it beside the computed column."""
    raw, lake = tmp_path / "study", tmp_path / "lake"
    put(raw / "t.csv", "n,value,energy_J,time_s\na,1.5,10,2\nb,2.5,12,3\na,1.6,11,2\nb,2.7,13,3\n")
    assert add(raw, lake) == 0
    sql = "SELECT n_text, value, energy_j FROM runs ORDER BY ALL LIMIT 1"
    assert rows_of(lake, sql) == [("a", 1.5, 10.0)]
    with pytest.raises(DataError, match="'n' cannot name a knob"):
        from_settings("n", {"role": "knob"}, "d")
    assert from_settings("level", {"role": "metric"}, "d").name == "level"


def test_no_column_is_lost_to_a_reserved_name_or_to_one_like_it(tmp_path: Path) -> None:
    """`variant` is a part of the lake's keys; a difference to the first row is no energy."""
    raw, lake = tmp_path / "study", tmp_path / "lake"
    head = "variant,sum_kwh,runtime_s,\N{GREEK CAPITAL LETTER DELTA}sum_kwh,delta_runtime_s"
    rows = [(f"v{n}_{n % 3}", 0.02 + n / 997, 310 + n / 7, n * 1.25, -n * 2.5) for n in range(9)]
    put(raw / "t.csv", "\n".join([head, *(",".join(map(str, row)) for row in rows)]) + "\n")
    assert add(raw, lake) == 0
    names = "variant_text, round(energy_j / 3.6e6, 9), round(duration_s, 9)"
    found = rows_of(lake, f"SELECT {names}, delta_sum_kwh, delta_runtime_s FROM runs ORDER BY 1")
    assert found == [(name, *(round(each, 9) for each in own)) for name, *own in rows]
    assert rows_of(lake, "SELECT max(replicate) FROM runs") == [(0,)]
    (columns,) = (tomllib.loads(each.text)["tables"][0]["columns"] for each in read_proposals(lake))
    assert [name for name, own in columns.items() if "label" in str(own)] == head.split(",")[3:]


RESULTS = """Benchmark: stream
Threads: 16
Elapsed time: 120.5 s
Package energy: 5063.5 J
DRAM energy: 964.5 J
"""
SAMPLES = """timestamp, power.draw [W]
2024/03/01 12:00:00.000, 100 W
2024/03/01 12:00:01.000, 100 W
2024/03/01 12:00:02.000, 100 W
2024/03/01 12:00:03.000, 100 W
2024/03/01 12:00:04.000, 100 W
2024/03/01 12:00:05.000, 100 W
"""
COUNTED = """# started on Mon Mar  4 10:00:00 2024

260.5;Joules;power/energy-pkg/;4000000000;100.00;;
4000000000;ns;duration_time;4000000000;100.00;;
"""


@pytest.mark.parametrize(
    ("name", "text", "sql", "row"),
    [
        ("freq_{}MHz/run1/results.txt", RESULTS,
         "freq, benchmark, thread_count, energy_j, duration_s",
         (1200, "stream", 16, 5063.5, 120.5)),
        ("power_limit_{}W.csv", SAMPLES, "power_limit, power_w", (1200, 100.0)),
        ("lu_threads{}_rep1.csv", COUNTED, "thread_count, energy_j, duration_s, source",
         (1200, 260.5, 4.0, "perf_stat")),
    ],
    ids=["texts", "traces", "counts alone"],
)  # fmt: skip
def test_files_of_one_run_are_told_apart_by_their_paths(
    name: str, text: str, sql: str, row: tuple[Any, ...], tmp_path: Path
) -> None:
    raw, lake = tmp_path / "study", tmp_path / "lake"
    for value in (1200, 2400):
        put(raw / name.format(value), text)
    assert add(raw, lake) == 0
    assert rows_of(lake, f"SELECT {sql} FROM runs ORDER BY ALL")[0] == row
    (system,) = {system for (system,) in rows_of(lake, "SELECT system FROM runs")}
    assert system == "study"


def test_powers_that_disagree_with_energy_and_time_are_doubted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second row states 30 W; 40 J in 2 s are 20 W. The last is seven times its replicate."""
    rows = "a,40,20,2\nb,40,30,2\nc,10,5,2\nc,70,35,2\n"
    put(tmp_path / "s/t.csv", f"model,energy (J),power (W),time (s)\n{rows}")
    assert add(tmp_path / "s", tmp_path / "lake") == 0
    # What was measured is kept, and not called derived.
    sql = "SELECT power_w, flags FROM runs ORDER BY model"
    assert rows_of(tmp_path / "lake", sql)[1] == (30.0, [])
    assert main(["problems", "--lake", str(tmp_path / "lake"), "--json"]) == 0
    problems = json.loads(capsys.readouterr().out.partition("[")[2].join(("[", "")))
    (odd,) = [problem for problem in problems if problem["kind"] == "odd_power"]
    assert odd["line"] == 3
    (unlike,) = [problem for problem in problems if problem["kind"] == "unlike_replicates"]
    assert unlike["detail"].startswith("runs of model c have 10 to 70 J, 7.0 times as much")


@given(
    st.lists(
        st.text("aZ_ ()[]J/%'\"\\#.=-\N{DEGREE SIGN}", min_size=1, max_size=12).map("h".__add__),
        min_size=2, max_size=5, unique_by=str.strip,
    ),
    st.lists(st.sampled_from(["1", "2.5", "x", "", "-1"]), min_size=5, max_size=5),
)  # fmt: skip
def test_any_proposal_can_be_loaded(
    tmp_path_factory: pytest.TempPathFactory, headings: list[str], cells: list[str]
) -> None:
    """Rows whose headings mostly recur, but for blanks, are no table."""
    folder = tmp_path_factory.mktemp("any")
    quoted = ['"{}"'.format(heading.replace('"', '""')) for heading in headings]
    row = ",".join(["3", *cells[1 : len(headings)]])
    (folder / "t.csv").write_text(f"{','.join(quoted)}\n{row}\n{row}\n", "utf-8")
    file = folder / "wattlas.toml"
    file.write_text(propose_for(folder).text, "utf-8")
    assert len([t for t in load_settings(file).tables if not t.is_shipped]) == 1


def test_begin_and_end_of_a_row_are_its_duration_and_give_its_energy(tmp_path: Path) -> None:
    """10 W for 2 s and 20 W for 1.5 s: 20 and 30 J. `end` is a word of SQL."""
    text = "algorithm,start,end,avg_power_mw\n" + "".join(
        f"{name},{begin},{begin + took},{power}\n"
        for number, (name, took, power) in enumerate([("a", 2, 10_000), ("b", 1.5, 20_000)] * 3)
        for begin in [1_710_000_000 + 60 * number]
    )
    raw, lake = tmp_path / "study", tmp_path / "lake"
    put(raw / "measurements.csv", text)
    assert add(raw, lake) == 0
    sql = "SELECT DISTINCT algorithm, duration_s, energy_j, flags FROM runs"
    flags = ["duration_derived", "energy_derived"]
    assert sorted(rows_of(lake, sql)) == [("a", 2.0, 20.0, flags), ("b", 1.5, 30.0, flags)]


def test_a_column_of_replicates_goes_before_those_of_a_name(tmp_path: Path) -> None:
    """Experiment Runner's `__run_id` says the same repetition of all runs."""
    raw, lake = tmp_path / "study", tmp_path / "lake"
    rows = [f"run_{n}_repetition_0,DONE,r{n // 3 + 1},kernel{n % 3},{60 + n / 7}" for n in range(9)]
    put(
        raw / "t.csv",
        "\n".join(["__run_id,__done,run_number,program,energy_usage_J", *rows]) + "\n",
    )
    assert add(raw, lake) == 0
    sql = "SELECT program, list(replicate ORDER BY energy_j) FROM runs GROUP BY 1 ORDER BY 1"
    assert rows_of(lake, sql) == [(f"kernel{n}", [1, 2, 3]) for n in range(3)]


def test_of_very_many_paths_all_values_count() -> None:
    """Of 12,000 files some are looked at; the one with another governor is among the others."""
    paths = [f"n{n % 20}/powersave/t{n // 20}.csv" for n in range(12_000)]
    odd = "n7/performance/t3.csv"
    pattern, columns = read_paths([*paths, odd])
    assert re.fullmatch(pattern, odd)
    assert {column.name: column.values for column in columns} == {
        "n_whole": 20, "governor": 2, "t": 600,
    }  # fmt: skip
    # Without it the governor is the same in all.
    assert [column.values for column in read_paths(paths)[1]] == [20, 600]


def test_lines_of_numbers_alone_are_no_rows_of_a_log() -> None:
    """They may be temperatures; a text among the cells tells rows from them."""
    others = ["warming up", "41.0,42.5,43.0", "done"]
    assert logged_rows(["freq,time_s,energy_j", *["1.2,9.5,700.1", *others] * 3]) is None
    rows = logged_rows(["name,time_s,energy_j", *["fft,9.5,700.1", "done"] * 3])
    assert rows is not None
    assert [rows.has(line) for line in ("lu,8.1,650.2", "41.0,42.5,43.0")] == [True, False]


def test_a_number_of_names_that_no_word_explains_is_given(tmp_path: Path) -> None:
    """`1_500.csv` may have done more work than `1_20.csv`; `freq` says what its numbers are."""
    settings = {}
    for folder, start in (("plain", "1_"), ("named", "freq_")):
        for number in (20, 100, 500):
            energies = {"a": number + 1.25, "b": number + 7.5}
            cells = [(name, j + at) for name, j in energies.items() for at in (0, 1)]
            rows = "".join(f"{name},{j},{j / 8}\n" for name, j in cells)
            put(tmp_path / folder / f"{start}{number}.csv", f"compiler,energy (J),time (s)\n{rows}")
        assert add(tmp_path / folder, tmp_path / f"{folder}.lake") == 0
        with open_lake(tmp_path / f"{folder}.lake") as lake:
            settings[folder] = {*lake.catalogue.setting_columns}
    assert "compiler" in settings["plain"]
    assert "file" not in settings["plain"]
    assert {"compiler", "freq"} <= settings["named"]

"""Tables of other groups and tools, without settings: what is energy, time, a knob, a comment."""

from pathlib import Path

import pytest

from data.catalogue import Catalogue
from data.connection import open_lake
from data.declared import column_of_field
from ingest.declarations import TableColumn, TableDeclaration
from ingest.formats.table import read
from ingest.formats.table_files import parse_table
from ingest.formats.table_reshaped import reshape
from ingest.records import ProblemList, ReadContext
from tests.fixtures.ingest import add_status, details, ingest, query
from tests.fixtures.real import studies
from tests.fixtures.tool_outputs import captured


def written(folder: Path, name: str, *lines: str) -> Path:
    (folder / name).write_text("\n".join(lines) + "\n")
    return folder / name


CAPS = "Benchmark,Program,PowerLimit,Package,Core,GPU,DRAM,Time,Temperature,Memory"


def test_power_caps_and_wraps_of_a_counter(lake: Path, tmp_path: Path) -> None:
    """-262044 J is a wrap at 2^18 = 262144 J: 100 J. 40000 ms are 40 s; -1 is no limit."""
    raw = written(
        tmp_path, "caps.csv", CAPS,
        "dacapo, luindex, -1,835.5, 458.5, 0.001, 101.5, 40000, 37.0, 45668",
        "dacapo, luindex, -1,-262044.0, 458.5, 0.001, -262142, 40000, 37.0, 45668",
        "dacapo, luindex, 15,500.0, 458.5, 0.001, 101.5, 50000, 37.0, 45668",
    )  # fmt: skip
    report = ingest(lake, raw)
    rows = query(lake, "SELECT * FROM runs ORDER BY rapl_w NULLS FIRST, replicate")
    names = ("program", "rapl_w", "replicate", "energy_j", "duration_s", "core", "dram", "flags")
    derived = ["power_derived"]
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("luindex", None, 0, 835.5, 40.0, 458.5, 101.5, derived),
        ("luindex", None, 1, 100.0, 40.0, 458.5, 2.0, ["energy_counter_wrapped", *derived]),
        ("luindex", 15.0, 0, 500.0, 50.0, 458.5, 101.5, derived),
    ]
    assert len(details(report, "energy_counter_wrapped")) == 2
    with open_lake(lake) as opened:
        units = {c.name: (c.role, c.unit) for c in opened.columns}
    assert (units["program"], units["core"]) == (("knob", ""), ("metric", "J"))


def test_blanks_are_no_texts_of_what_other_tables_measured(lake: Path, tmp_path: Path) -> None:
    heads = "Suite, Cap, Package, Core(s), GPU, DRAM, Time (ms)"
    for name, *rows in (
        ("one", "alpha, 2000, 10.5, 9.5,  ,  , 900", "beta, 2000, 12.5, 9.5,  ,  , 950"),
        ("two", "alpha, 25, 8.5, 6.5, 0.75, 1.5, 900", "beta, 25, 9.5, 6.0, 0.25, 1.25, 990"),
    ):
        (tmp_path / "raw" / name).mkdir(parents=True)
        written(tmp_path / "raw" / name, "measured.csv", heads, *rows)
    assert add_status(lake, tmp_path / "raw") == 0
    found = query(lake, "SELECT energy_j, gpu, dram FROM runs ORDER BY energy_j")
    assert [tuple(row.values()) for row in found] == [
        (8.5, 0.75, 1.5), (9.5, 0.25, 1.25), (10.5, None, None), (12.5, None, None),
    ]  # fmt: skip
    with open_lake(lake) as opened:
        kinds = {column.name: (column.role, column.kind) for column in opened.columns}
    assert kinds["gpu"] == kinds["dram"] == ("metric", "real")


def test_what_is_no_number_of_a_measured_column_is_doubted() -> None:
    text = b"size,rail\n1,2.5\n2,fail\n3, \n"
    declared = TableDeclaration(columns={"rail": TableColumn(role="metric", unit="J")})
    table = read([text], ReadContext("cells.csv", 0.0, tables=(declared,)))
    assert [row.values["rail"] for row in table.rows] == [2.5, None, None]
    (doubt,) = [each for each in table.problems if each.kind == "no_number"]
    assert (doubt.detail, doubt.line) == ("rail 'fail' is not a number; left unset", 3)


def test_texts_that_an_older_lake_has_as_a_metric_are_labels() -> None:
    said = '{"better": "less", "kind": "text", "role": "metric", "title": "GPU", "unit": "J"}'
    column = column_of_field("gpu", {"wattlas": said})
    assert column is not None
    assert column.role == "label"
    assert "gpu" not in {*Catalogue.of((column,)).costs, *Catalogue.of((column,)).plottable}


def test_a_run_table_has_factors_and_energy(lake: Path, tmp_path: Path) -> None:
    raw = written(
        tmp_path, "run_table.csv",
        "__run_id,__done,model,length,execution_time,codecarbon__energy_consumed,energy_usage_J",
        "run_1_repetition_0,DONE,a,100,50.5,0.0001,360.5", "run_0_repetition_0,DONE,b,500,9,0.1,20",
    )  # fmt: skip
    report = ingest(lake, raw)
    rows = query(lake, "SELECT * FROM runs ORDER BY model")
    names = ("model", "length", "duration_s", "energy_j", "codecarbon_energy_consumed")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("a", 100, 50.5, 360.5, 0.0001), ("b", 500, 9.0, 20.0, 0.1),
    ]  # fmt: skip
    assert "length, model: of few values, kept as knobs" in details(report, "undeclared_columns")[0]
    with open_lake(lake) as opened:
        assert {c.name for c in opened.columns if c.role == "knob"} == {"model", "length"}


def test_a_tracker_that_is_flushed_is_one_run(lake: Path, tmp_path: Path) -> None:
    """Three trackers wrote two rows each. The first one's last is 0.02489 mWh: 89.59 J in 3.2 s."""
    (tmp_path / "emissions.csv").write_bytes(captured("codecarbon_flushed.csv"))
    ingest(lake, tmp_path)
    first, *others = query(lake, "SELECT * FROM runs ORDER BY project_name")
    assert (len(others), first["project_name"]) == (2, "loop1")
    assert (first["energy_j"], first["duration_s"]) == pytest.approx((89.58985, 3.20214), rel=1e-6)


def test_a_tracker_that_is_flushed_at_even_steps_is_no_trace(lake: Path, tmp_path: Path) -> None:
    """The last of eight rows says what the run took: 0.02 kWh in 80.5 s."""
    for pods in (3, 4):
        rows = (f"2024-05-01T10:{n // 6:02}:{n % 6}0,web,7a-{pods},{n * 10 + 0.5},0.001,42.5,"
                f"{0.0025 * n * pods / 3}" for n in range(1, 9))  # fmt: skip
        header = "timestamp,project_name,run_id,duration,emissions,cpu_power,energy_consumed"
        written(tmp_path, f"{pods}pods.csv", header, *rows)
    ingest(lake, tmp_path, is_proposing=True)
    found = query(lake, "SELECT file, energy_j, duration_s FROM runs ORDER BY file")
    assert [(*row.values(),) for row in found] == [
        ("3pods", pytest.approx(72_000), 80.5), ("4pods", pytest.approx(96_000), 80.5),
    ]  # fmt: skip


def test_trackers_that_are_flushed_into_one_file_are_runs(lake: Path, tmp_path: Path) -> None:
    """Each of three begins again: its last row says 0.016 kWh, or more, in 80.5 s."""
    rows = (f"2024-05-01T1{run}:{n // 6:02}:{n % 6}0,web,7a-{run},{n * 10 + 0.5},0.001,42.5,"
            f"{0.002 * n * run}" for run in (1, 2, 3) for n in range(1, 9))  # fmt: skip
    header = "timestamp,project_name,run_id,duration,emissions,cpu_power,energy_consumed"
    written(tmp_path, "emissions.csv", header, *rows)
    ingest(lake, tmp_path, is_proposing=True)
    found = query(lake, "SELECT energy_j, duration_s FROM runs ORDER BY energy_j")
    assert [row["energy_j"] for row in found] == pytest.approx([57_600, 115_200, 172_800])
    assert {row["duration_s"] for row in found} == {80.5}


@pytest.mark.parametrize(
    ("header", "name", "is_given"),
    [("threads,energy_j,time_s", "thread_count", False), ("threads,energy_j,qps", "threads", True)],
    ids=["of a program", "that issue requests"],
)
def test_threads_of_a_program_are_tuned(
    header: str, name: str, is_given: bool, lake: Path, tmp_path: Path
) -> None:
    raw = written(tmp_path, "scan.csv", header, "1,40.25,9.5", "2,31.5,5.25", "4,28.75,3.125")
    ingest(lake, raw, is_proposing=True)
    found = query(lake, f"SELECT {name} AS n FROM runs ORDER BY 1")
    assert [row["n"] for row in found] == [1, 2, 4]
    with open_lake(lake) as opened:
        knobs = {knob.column: knob for knob in opened.catalogue.knobs.values()}
        assert knobs[name].is_given == is_given


def test_windows_of_zeus_have_the_energy_of_all_gpus(lake: Path, tmp_path: Path) -> None:
    raw = written(
        tmp_path, "zeus.csv", "start_time,window_name,elapsed_time,gpu0_energy,gpu1_energy",
        "529720.1,limit_250,26.5,6065.5,100.5", "529754.3,limit_225,27.5,5815.5,99.5",
    )  # fmt: skip
    ingest(lake, raw)
    rows = query(lake, "SELECT window_name, energy_j, duration_s FROM runs ORDER BY duration_s")
    assert [tuple(row.values()) for row in rows] == [
        ("limit_250", 6166.0, 26.5), ("limit_225", 5915.0, 27.5),
    ]  # fmt: skip


REPORT = " Category;  Type;  Run Identifier;  Energy Samples;  Score;  Score Metric"


def test_a_report_is_read_in_spite_of_its_note(lake: Path, tmp_path: Path) -> None:
    raw = written(
        tmp_path, "energy-report-run.csv", REPORT,
        " azul; merge_sort; default; 1214;  51438.749;  Energy", "",
        " azul; quick_sort; default; 0;  0.000;  Energy", "",
        "# Note: the baseline has been excluded; see there",
    )  # fmt: skip
    report = ingest(lake, raw)
    assert (report.rows.read, report.refused) == (2, [])
    rows = query(lake, "SELECT system, workload, energy_j, duration_s FROM runs ORDER BY workload")
    assert [tuple(row.values()) for row in rows] == [
        ("azul", "merge_sort", 51_438.749, 1214.0), ("azul", "quick_sort", None, 0.0),
    ]  # fmt: skip
    assert len(details(report, "no_energy")) == 1


@pytest.mark.real
def test_what_built_a_program_is_no_replicate_of_what_ran_it(lake: Path) -> None:
    ingest(lake, studies() / "strangers" / "jvmenergy")
    rows = query(
        lake,
        "SELECT workload, count(*) AS n, round(min(duration_s)) AS s FROM runs "
        "WHERE energy_j > 0 AND workload <> 'unknown' GROUP BY ALL ORDER BY ALL",
    )
    assert [tuple(row.values()) for row in rows] == [
        ("build", 21, 4.0), ("merge_sort", 7, 1204.0), ("quick_sort", 7, 1203.0),
        ("radix_sort", 7, 1205.0),
    ]  # fmt: skip


def test_samples_of_power_are_no_runs(lake: Path, tmp_path: Path) -> None:
    header = REPORT.replace("Energy Samples", "Sample Identifier")
    raw = written(tmp_path, "raw-power.csv", header, *(f"a; b; c; {n}; 4.3; W" for n in range(9)))
    report = ingest(lake, raw)
    assert report.added == 0
    (refused,) = report.refused
    assert "samples of the power of a run, not runs" in refused.problem.detail


# A measurement a row, and the rows of runs that it becomes; cells apart by blanks, `-` is none.
TIDY = {
    "deviations are of a measurement": (
        ["kernel metric value stddev", "cg energy_j 9 .5", "cg time_s 2 .1", "ep energy_j 8 .4"],
        ["kernel energy_j energy_j|stddev time_s time_s|stddev", "cg 9 .5 2 .1", "ep 8 .4 - -"],
    ),
    "numbers and times of rows": (
        ["id time kernel rep metric value", "1 7 cg 1 energy_j 9", "2 8 cg 1 time_s 2",
         "3 9 cg 2 energy_j 7", "4 9 cg 2 time_s 1"],
        ["kernel rep energy_j energy_j|id energy_j|time time_s time_s|id time_s|time",
         "cg 1 9 1 7 2 2 8", "cg 2 7 3 9 1 4 9"],
    ),
    "numbers of runs": (
        ["run_id max_threads metric value", "1 4 energy_j 9", "2 8 energy_j 8", "1 4 time_s 2",
         "3 8 time_s 3", "3 8 energy_j 7"],
        ["run_id max_threads energy_j time_s", "1 4 9 2", "2 8 8 -", "3 8 7 3"],
    ),
    "a missing value": (
        ["kernel metric value", "cg energy_j 9", "cg energy_j 8", "cg time_s 2", "ep energy_j 7",
         "ep time_s 1"],
        ["kernel energy_j time_s", "cg 9 -", "cg 8 -", "cg - 2", "ep 7 1"],
    ),
    "replicates in order": (
        ["kernel metric value", "cg energy_j 9", "cg energy_j 8", "cg time_s 2", "cg time_s 1"],
        ["kernel energy_j time_s", "cg 9 2", "cg 8 1"],
    ),
    "a time that a clock shows": (
        ["kernel metric value", "cg Start_time 10:00:05", "cg Energy 9", "cg Time 00:01:10",
         "ep Start_time 10:01:05", "ep Energy 7", "ep Time 01:00:00"],
        ["kernel Start_time Energy Time", "cg 10:00:05 9 70", "ep 10:01:05 7 3600"],
    ),
    "a name that is a heading too": (
        ["threads metric value", "4 threads 3", "4 energy_j 9"],
        ["threads threads|value energy_j", "4 3 9"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", TIDY)
def test_a_measurement_a_row_becomes_a_run_a_row(case: str) -> None:
    text, expected = TIDY[case]
    table = parse_table(["\n".join(text).replace(" ", ",").encode()], "t.csv", ProblemList())
    found = reshape(table, TableDeclaration(pivot=("metric", "value")))
    lines = [found.headings, *(cells for _, cells in found.rows)]
    shown = [" ".join(str(cell or "-").replace(" ", "|") for cell in cells) for cells in lines]
    assert shown == expected


@pytest.mark.parametrize(
    ("footers", "left_out"),
    [
        (["Total,3000,600.0"], 1),
        (["Total,3000,600.0", "Overall ops/watt,5,"], 2),
        (["Average,1000,200.0"], 1),
        ([",\N{N-ARY SUMMATION}ops / \N{N-ARY SUMMATION}power =,5"], 1),
        (["Overall,,190.0"], 1),
        (["Mittelwert,1000,200.0"], 1),
        # No total of those above, and no last row.
        (["mean,1500,250.0"], 0),
        (["Total,3000,600.0", "90%,900,190.0"], 0),
    ],
)
def test_last_rows_of_totals_and_means_are_no_runs(footers: list[str], left_out: int) -> None:
    problems = ProblemList()
    rows = ["load,ops,power_w", "100%,1500,250.0", "50%,1000,200.0", "25%,500,150.0", *footers]
    found = parse_table(["\n".join(rows).encode()], "t.csv", problems)
    assert len(found) == 3 + len(footers) - left_out
    assert [each.kind for each in problems.all()] == ["summary_row"] * left_out


KERNELS = ["kernel,threads,energy_j,time_s", "scan,8,100,10", "sort,8,120,12", "reduce,8,80,8"]


@pytest.mark.parametrize(
    ("text", "tables", "kept", "severities"),
    [
        # A kernel; what all rows have is no mean.
        ([*KERNELS, "sum,8,60,6"], (), 4, []),
        (["policy,replicas,energy_j,p99_us", "min,3,100,900", "max,3,160,400",
          "average,3,120,600"], (), 3, []),
        ([*KERNELS, "mean,8,100,10"], (), 3, ["repaired"]),
        ([*KERNELS, "mean,8,100.2,9.4"], (), 4, []),
        # Rounded as it is written.
        ([*KERNELS[:3], "reduce,8,81,8", "mean,8,100.3,10"], (), 3, ["repaired"]),
        # Some of its numbers are, and a kernel of that name is possible.
        ([*KERNELS, "Total,8,300,12"], (), 4, ["doubted"]),
        ([*KERNELS, "Total,,,31"], (), 3, ["doubted"]),
        # A person declared it, or a proposal.
        ([*KERNELS, "mean,8,100,10"], (TableDeclaration(),), 4, ["doubted"]),
        ([*KERNELS, "mean,8,100,10"], (TableDeclaration(guessed="x"),), 3, ["repaired"]),
        ([*KERNELS, "sum,8,60,6"], (TableDeclaration(),), 4, []),
    ],
)  # fmt: skip
def test_a_run_that_is_called_sum_or_average_is_kept(
    text: list[str], tables: tuple[TableDeclaration, ...], kept: int, severities: list[str]
) -> None:
    problems = ProblemList()
    found = parse_table(["\n".join(text).encode()], "t.csv", problems, tables)
    assert len(found) == kept
    assert [each.severity for each in problems.all()] == severities


@pytest.mark.parametrize(
    ("rows", "kinds", "last"),
    [
        (["n;energy_j", "1;12,345", "2;13,456"], ["unclear_comma"], ["12.345", "13.456"]),
        (["n;energy_j;time_s", "1;12,345;0,5", "2;13,456;0,75"], [], ["0.5", "0.75"]),
        (["n;energy_j", "1;980", "2;1,345"], [], ["980", "1345"]),
        # Another column shows that it is of thousands.
        (["n;energy_j;ops", "1;12,345;980", "2;13,456;1,345"], [], ["980", "1345"]),
        # A bound is no number, and what it bounds is not measured.
        (["n,sleep [mA]", "1,< 0.03", "2,**0.04**", "3,9.5"], ["bound"], [None, "0.04", "9.5"]),
        (["n;sleep", "1;0,04 mA", "2;<=0,03 mA"], ["bound"], ["0.04", None]),
        # Names of classes are none.
        (["age,power_w", "<18,2.5", "18-30,3.5", ">30,4.5"], [], ["2.5", "3.5", "4.5"]),
        (["power_w,age", "2.5,<18", "3.5,18-30", "4.5,>30"], [], ["<18", "18-30", ">30"]),
        (["power_w,age", "2.5,<18", "3.5,>=18"], [], ["<18", ">=18"]),
    ],
)
def test_numbers_that_may_be_another_or_none_are_doubted(
    rows: list[str], kinds: list[str], last: list[str | None]
) -> None:
    """A comma may be either mark, and a bound was not measured."""
    problems = ProblemList()
    table = parse_table(["\n".join(rows).encode()], "t.csv", problems)
    assert [each.kind for each in problems.all()] == kinds
    assert [*table.column(len(table.headings) - 1)] == last


@pytest.mark.parametrize(("energy", "other", "added"), [
    ("12.34567", "b.csv", 1), ("12.5", "b.csv", 2), ("12.34567", "gcc/a.csv", 2)])  # fmt: skip
def test_a_copy_beside_a_file_counts_once(
    energy: str, other: str, added: int, lake: Path, tmp_path: Path
) -> None:
    """Two runs do not agree in seven digits; in another folder something else may have been set."""
    (tmp_path / "gcc").mkdir()
    for name in ("a.csv", other):
        written(tmp_path, name, "threads,energy_j,time_s", f"4,{energy},2.5")
    report = ingest(lake, tmp_path)
    assert (report.added, len(details(report, "identical_row"))) == (added, 2 - added)


COPIED = ["threads,energy_j,time_s", "1,40.25,9.5", "2,31.5,5.25", "4,28.75,3.125", "8,30.5,2.5"]


@pytest.mark.parametrize(
    ("other", "rows", "added", "severity"),
    [
        ("backup.csv", COPIED, 4, "repaired"),
        # In another order; in a folder whose name says something else.
        ("sorted.csv", [COPIED[0], *reversed(COPIED[1:])], 4, "repaired"),
        ("old/a.csv", COPIED, 4, "doubted"),
        # Another name may be of another setting; of a benchmark, too.
        ("lu.csv", COPIED, 8, "doubted"),
        # One row more, or one that differs.
        ("b.csv", [*COPIED, "16,33.5,2.25"], 9, ""),
        ("b.csv", [*COPIED[:4], "8,30.5,2.75"], 8, ""),
    ],
)
def test_the_rows_of_a_copy_count_once(
    other: str, rows: list[str], added: int, severity: str, lake: Path, tmp_path: Path
) -> None:
    (tmp_path / "old").mkdir()
    written(tmp_path, "a.csv", *COPIED)
    written(tmp_path, other, *rows)
    report = ingest(lake, tmp_path, is_proposing=True)
    found = [p.problem for p in report.problems if p.problem.kind == "identical_row"]
    assert (report.added, [p.severity for p in found]) == (added, [severity] * bool(severity))


def test_settings_that_recur_are_no_copies(lake: Path, tmp_path: Path) -> None:
    """Numbers that people set, and energies of two digits, agree by chance."""
    for name in ("a.csv", "b.csv"):
        written(tmp_path, name, "threads,energy_j", "1,40", "2,30", "4,28", "8,30")
    assert ingest(lake, tmp_path).added == 8


def test_lines_of_a_script_around_a_table_are_said(lake: Path, tmp_path: Path) -> None:
    rows = [f"{turn},{jobs},{80.5 / jobs + turn / 8},{40 + jobs}" for turn in (1, 2)
            for jobs in (1, 2, 4)]  # fmt: skip
    raw = written(
        tmp_path, "sort.csv", "items=12 size=7000", "free_before=4G",
        "turn,jobs,sort_s,energy_j", *rows, "--- checked (out.bin, of 4) ---", "free_after=3G",
    )  # fmt: skip
    report = ingest(lake, raw)
    assert len(query(lake, "SELECT * FROM runs")) == len(rows)
    (said,) = details(report, "other_lines")
    assert said == "4 lines above the header or below the rows passed over: 'items=12 size=7000'"


def test_a_length_of_pieces_that_is_the_same_in_all_is_no_duration(
    lake: Path, tmp_path: Path
) -> None:
    raw = written(
        tmp_path, "report.csv", "Method,Depth,IterationTime,Mean,Energy (uJ/op)",
        *(f"{name},{depth},2s,{410.5 + 90.25 * depth} ns,{depth + 0.375}"
          for name in ("Alpha", "Beta") for depth in (1, 2, 3)),
    )  # fmt: skip
    ingest(lake, raw)
    rows = query(lake, "SELECT duration_s FROM runs")
    assert len(rows) == 6
    assert all(row["duration_s"] is None for row in rows)

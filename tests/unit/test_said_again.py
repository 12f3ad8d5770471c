"""What a folder says twice counts once, and a rule does not reach what it is not for."""

from pathlib import Path
from typing import Any

import pytest

from ingest.discover.found_files import RawFile
from ingest.discover.source_reads import SourceRead, read_source
from ingest.formats.logged_rows import logged_objects
from ingest.formats.trace import read
from ingest.records import ReadContext
from tests.fixtures.ingest import details, ingest, put, query

HEADER = "threads,energy_j,time_s"
ROWS = [
    f"{2**n},{31.25 + 7 * n + k:.2f},{4.75 - n / 2 + k / 8:.3f}" for n in range(4) for k in (0, 1)
]
TABLE = "\n".join((HEADER, *ROWS)) + "\n"
MARKDOWN = "# Results\n\n| threads | energy_j | time_s |\n|---|---|---|\n" + "".join(
    f"| {row.replace(',', ' | ')} |\n" for row in ROWS[:4]
)


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        ({"README.md": MARKDOWN, "sweep.csv": TABLE}, 8),
        ({"docs/notes.md": MARKDOWN, "data/sweep.csv": TABLE}, 8),
        # It is all that there is.
        ({"README.md": MARKDOWN}, 4),
        ({"intel.md": MARKDOWN, "amd.md": MARKDOWN.replace("3", "4")}, 8),
    ],
)  # fmt: skip
def test_a_document_beside_data_says_it_again(
    documents: dict[str, str], expected: int, lake: Path, tmp_path: Path
) -> None:
    for name, text in documents.items():
        put(tmp_path / "raw" / name, text)
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    assert query(lake, "SELECT count(*) AS n FROM runs") == [{"n": expected}]
    is_left = len(documents) > 1 and expected == len(ROWS) and "intel.md" not in documents
    assert len(report.ignored) == is_left


def test_a_document_that_a_person_declared_is_read(lake: Path, tmp_path: Path) -> None:
    put(tmp_path / "raw" / "sweep.csv", TABLE)
    put(tmp_path / "raw" / "more.md", MARKDOWN)
    text = "[[tables]]\npattern = '.*more\\.md'\nheader = 'threads .*'\nworkload = 'more'\n"
    put(tmp_path / "raw" / "wattlas.toml", text)
    ingest(lake, tmp_path / "raw")
    assert query(lake, "SELECT count(*) AS n FROM runs WHERE workload = 'more'") == [{"n": 4}]


def test_a_part_of_a_table_counts_once(lake: Path, tmp_path: Path) -> None:
    put(tmp_path / "raw" / "sweep_full.csv", TABLE)
    put(tmp_path / "raw" / "sweep_part1.csv", "\n".join((HEADER, *ROWS[:5])) + "\n")
    put(tmp_path / "raw" / "sweep_part2.csv", "\n".join((HEADER, *ROWS[4:])) + "\n")
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    assert query(lake, "SELECT thread_count, count(*) AS n FROM runs GROUP BY ALL ORDER BY 1") == [
        {"thread_count": 2**n, "n": 2} for n in range(4)
    ]
    said = [each.partition(" stand")[0] for each in details(report, "identical_row")]
    assert said == ["all 5 rows", "all 4 rows"]


def test_rows_of_another_name_stay_though_they_agree(lake: Path, tmp_path: Path) -> None:
    put(tmp_path / "raw" / "intel.csv", TABLE)
    put(tmp_path / "raw" / "amd.csv", "\n".join((HEADER, *ROWS[:5])) + "\n")
    ingest(lake, tmp_path / "raw", is_proposing=True)
    assert query(lake, "SELECT count(*) AS n FROM runs") == [{"n": 13}]


MEASURED = [f"{2**n},{31.257 + 7 * n:.3f},{4.753 - n / 2:.3f},{0.61234 + n / 7:.5f}"
            for n in range(5)]  # fmt: skip
THREE = "threads,energy_j,time_s,gflops"


@pytest.mark.parametrize(
    ("header", "own", "other", "expected"),
    [
        (THREE, MEASURED[:4], ["16,9.876,1.234,1.98765", *MEASURED[1:4]], 5),
        # The last digit of one number differs in each row.
        (THREE, MEASURED[:4], [f"{row[:-1]}{(int(row[-1]) + 1) % 10}" for row in MEASURED[:4]], 8),
        # Another setting stands in the row: a simulator may say the same of it.
        (f"cache,{THREE}", [f"4,{row}" for row in MEASURED], [f"8,{row}" for row in MEASURED], 10),
        # Numbers of two digits agree by chance.
        (THREE, ["1,40,9.5,1.2", "2,31,5.2,2.3"], ["2,31,5.2,2.3", "4,28,3.1,3.9"], 4),
    ],
)
def test_a_row_that_two_files_have_is_one_measurement(
    header: str, own: list[str], other: list[str], expected: int, lake: Path, tmp_path: Path
) -> None:
    """Whatever the files are called, two runs do not agree in three numbers of many digits."""
    put(tmp_path / "raw" / "blocked.csv", "\n".join((header, *own)) + "\n")
    put(tmp_path / "raw" / "plain.csv", "\n".join((header, *other)) + "\n")
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    assert query(lake, "SELECT count(*) AS n FROM runs") == [{"n": expected}]
    found = [p.problem for p in report.problems if "one measurement; dropped" in p.problem.detail]
    assert [each.severity for each in found] == ["doubted"] * (expected < len(own) + len(other))


def test_sizes_of_each_program_are_set(lake: Path, tmp_path: Path) -> None:
    """Each program has sizes of its own, and each size two runs: no count that differs."""
    sizes = {"fft": (64, 128, 256), "matmul": (100, 200, 300), "sort": (1000, 5000, 9000)}
    rows = [f"{name},{x}" for name, each in sizes.items() for x in each for _ in (1, 2)]
    lines = [f"{row},{20.5 + n * 1.37:.2f},{3.1 + n * 0.21:.2f}" for n, row in enumerate(rows)]
    put(tmp_path / "raw" / "sweep.csv", "\n".join(("app,x,energy_j,time_s", *lines)) + "\n")
    ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(lake, "SELECT app, x_whole, count(*) AS n FROM runs GROUP BY ALL")
    assert [each["n"] for each in found] == [2] * 9


def test_a_running_total_counts_between_samples_too() -> None:
    times = [*range(20), *range(50, 70)]
    text = "time_s,energy_uj\n" + "".join(f"{t},{10**9 + t * 10**7}\n" for t in times)
    found = read([text.encode()], ReadContext("run1.csv", 1.0))
    assert found.measurements["energy_j"] == pytest.approx(690)
    assert found.measurements["duration_s"] == pytest.approx(69)
    assert found.problems == []
    # Nobody knows a power that was not sampled.
    text = "time_s,power_w\n" + "".join(f"{t},10.5\n" for t in times)
    found = read([text.encode()], ReadContext("run1.csv", 1.0))
    assert found.measurements["duration_s"] == pytest.approx(40)
    assert [each.kind for each in found.problems] == ["sample_gap"]


def _with_traces(folder: Path, header: str, *rows: str) -> Path:
    """Write rows, and of `exp1` and `exp2` traces of 60 W and 70 W for 30 s."""
    put(folder / "results.csv", "\n".join((header, *rows)) + "\n")
    for n in (1, 2):
        samples = (f"{1_714_550_000 + 1000 * n + at},{50 + 10 * n}\n" for at in range(30))
        put(folder / f"exp{n}_power.csv", "timestamp,power_w\n" + "".join(samples))
    return folder


def test_a_trace_may_end_in_what_was_measured(lake: Path, tmp_path: Path) -> None:
    raw = _with_traces(tmp_path / "raw", "exp,batch,loss", "exp1,16,0.41", "exp2,32,0.39")
    ingest(lake, raw, is_proposing=True)
    found = query(lake, "SELECT exp, batch, energy_j FROM runs ORDER BY exp")
    assert [(*row.values(),) for row in found] == [("exp1", 16, 1800.0), ("exp2", 32, 2100.0)]


def test_outputs_that_are_no_rows_are_read_once(
    lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are compared with the rows of tables, and are runs with what was read of them then."""
    for n in range(3):
        text = (
            f"message size: {n + 1} KiB\nslowest rank: 0.5{n}4 s\nmeasured goodput: 3{n}.27 MB/s\n"
        )
        put(tmp_path / f"raw/ring_{n}.log", text)
    put(tmp_path / "raw" / "sweep.csv", TABLE)
    opened = list[str]()

    def read(file: RawFile, *given: Any) -> SourceRead:
        opened.append(file.name)
        return read_source(file, *given)

    for module in ("runs.run_reader", "tables.free_traces", "tables.stage"):
        monkeypatch.setattr(f"ingest.{module}.read_source", read)
    ingest(lake, tmp_path / "raw", is_proposing=True, workers=1)
    assert sorted(opened) == ["ring_0.log", "ring_1.log", "ring_2.log", "sweep.csv"]
    found = query(lake, "SELECT count(slowest_rank) AS logs, count(energy_j) AS rows FROM runs")
    assert found == [{"logs": 3, "rows": 8}]


def test_a_trace_that_several_rows_name_is_of_none(lake: Path, tmp_path: Path) -> None:
    rows = (f"exp{n},{batch},0.{n}{batch}" for n in (1, 2) for batch in (16, 32))
    ingest(lake, _with_traces(tmp_path / "raw", "exp,batch,loss", *rows), is_proposing=True)
    sql = "SELECT count(batch) AS rows, count(energy_j) AS traces, count(*) AS n FROM runs"
    assert query(lake, sql) == [{"rows": 4, "traces": 2, "n": 6}]


def test_the_energy_of_a_command_is_that_of_its_row(lake: Path, tmp_path: Path) -> None:
    """`perf stat` measured the commands that hyperfine timed; of two with one program neither."""
    raw = tmp_path / "raw"
    commands = ("./sieve_c 9", "python3 src/sieve_py.py", "./walk a", "./walk b")
    rows = [
        f"{command},{n}.25,0.01,{n}.24,{n}.1,0.03,{n}.2,{n}.3"
        for n, command in enumerate(commands, 1)
    ]
    put(raw / "times.csv", "\n".join(["command,mean,stddev,median,user,system,min,max", *rows, ""]))
    for joules, name in ((20, "sieve_c_perf"), (60, "perf_sieve_py"), (90, "walk_perf")):
        put(
            raw / f"{name}.txt",
            f" Performance counter stats for 'system wide' (9 runs):\n\n  {joules}.41 Joules "
            "power/energy-pkg/  ( +-  0.31% )\n\n   1.2412 +- 0.0052 seconds time elapsed\n",
        )
    ingest(lake, raw, is_proposing=True)
    found = query(lake, "SELECT command, energy_j, duration_s FROM runs ORDER BY command")
    assert [tuple(each.values()) for each in found] == [
        ("./sieve_c 9", 20.41, 1.25), ("./walk a", None, 3.25), ("./walk b", None, 4.25),
        ("python3 src/sieve_py.py", 60.41, 2.25), (None, 90.41, 1.2412),
    ]  # fmt: skip


def test_pairs_of_a_log_have_units_in_brackets(lake: Path, tmp_path: Path) -> None:
    lines = [f"n=9,clock={600 + 20 * (k // 2)},time={3.5 + k} [ms],energy={(80 + k) * (k % 2)} [mJ]"
             for k in range(8)]  # fmt: skip
    put(tmp_path / "raw" / "sweep.log", "\n".join(("start", *lines)) + "\n")
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(lake, "SELECT clock, duration_s, energy_j FROM runs ORDER BY duration_s LIMIT 3")
    assert [(*row.values(),) for row in found] == [
        (600, pytest.approx(3.5e-3), None), (600, pytest.approx(4.5e-3), pytest.approx(0.081)),
        (620, pytest.approx(5.5e-3), None),
    ]  # fmt: skip
    # A counter that did not move has measured nothing.
    assert len(details(report, "no_energy")) == 4


LOGGED = [f"threads={n} energy_j={9.5 + n} time_s={8.25 / n}" for n in (1, 2, 4, 8)]


@pytest.mark.parametrize("last", ["all: runs=4 total_energy_j=53.0 time_s=15.5", "done"])
def test_a_total_at_the_end_of_a_log_is_no_run(last: str, lake: Path, tmp_path: Path) -> None:
    put(tmp_path / "raw" / "sweep.log", "\n".join((*LOGGED, last)) + "\n")
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(lake, "SELECT thread_count, energy_j FROM runs ORDER BY 1")
    assert [(each["thread_count"], each["energy_j"]) for each in found] == [
        (1, 10.5), (2, 11.5), (4, 13.5), (8, 17.5)
    ]  # fmt: skip
    assert len(details(report, "other_lines")) == ("=" in last)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["fft: ", "lu: "], {"fft", "lu"}),
        (["10:00:01 INFO fft done ", "10:00:02 INFO lu done "], {"fft", "lu"}),
        (["warmup of fft ", "run of lu "], {"warmup fft", "run lu"}),
        (["INFO ", "INFO "], {None}),
    ],
)
def test_words_before_pairs_tell_runs_apart(lines: list[str], expected: set[str | None]) -> None:
    text = [begin + each for begin in lines for each in LOGGED]
    found = logged_objects(text)
    assert found is not None
    assert {(found.row(line) or {}).get("name") for line in text} == expected


@pytest.mark.parametrize("dashes", ["-", "--", "-----", "\u2014"])
def test_dashes_are_no_value(dashes: str, lake: Path, tmp_path: Path) -> None:
    lines = [row if n else f"1,{dashes},4.75" for n, row in enumerate(ROWS)]
    put(tmp_path / "raw" / "sweep.csv", "\n".join((HEADER, *lines)) + "\n")
    assert ingest(lake, tmp_path / "raw", is_proposing=True).refused == []
    found = query(lake, "SELECT count(*) AS n, count(energy_j) AS known FROM runs")
    assert found == [{"n": 8, "known": 7}]


def test_clocks_in_several_units_are_of_the_first_one(lake: Path, tmp_path: Path) -> None:
    lines = [f"{clock},{row.partition(',')[2]}" for clock in ("800MHz", "1.6GHz") for row in ROWS]
    put(tmp_path / "raw" / "sweep.csv", "\n".join(("freq,energy_j,time_s", *lines)) + "\n")
    ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(lake, "SELECT freq, count(*) AS n FROM runs GROUP BY ALL ORDER BY 1")
    assert found == [{"freq": 800, "n": 8}, {"freq": 1600, "n": 8}]


def test_a_seed_beside_trials_is_set(lake: Path, tmp_path: Path) -> None:
    keys = [f"{rate},{seed},{n}" for rate in (0.1, 0.01) for seed in (7, 8) for n in (0, 1)]
    lines = [f"{key},{row.partition(',')[2]}" for key, row in zip(keys, ROWS, strict=True)]
    header = "rate,seed,trial,energy_j,time_s"
    put(tmp_path / "raw" / "sweep.csv", "\n".join((header, *lines)) + "\n")
    ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(lake, "SELECT seed, array_agg(replicate ORDER BY rate) AS r FROM runs GROUP BY 1")
    assert {(each["seed"], *sorted(each["r"])) for each in found} == {
        (7, 0, 0, 1, 1),
        (8, 0, 0, 1, 1),
    }


@pytest.mark.parametrize(
    ("title", "runs"),
    [("Averages", 8), ("Summary of all:", 8), ("Second machine", 10), ("Average load", 10)],
)
def test_a_second_table_titled_as_means_is_no_runs(
    title: str, runs: int, lake: Path, tmp_path: Path
) -> None:
    more = "\n".join((HEADER, "1,31.75,4.81", "2,38.75,4.31"))
    put(tmp_path / "raw/sweep.csv", f"{TABLE}\n{title}\n{more}\n")
    ingest(lake, tmp_path / "raw", is_proposing=True)
    assert query(lake, "SELECT count(*) AS n FROM runs") == [{"n": runs}]
    refused = query(lake, "SELECT count(*) AS n FROM problems WHERE kind = 'summary_row'")
    assert refused == [{"n": int(runs == 8)}]


CODECS = {"brot": 3.5, "lizard": 7.25, "zip": 15.0}
MEANT = {
    name: [(by + n * n / 8, 11 * by + (n * 5 % 7) / 4) for n in range(5)]
    for name, by in CODECS.items()
}


def means_of(runs: dict[str, list[tuple[float, float]]], shift: float) -> str:
    """Write a table of means, the last energy of which is shifted."""
    means = {name: [sum(each) / len(each) for each in zip(*of, strict=True)]
             for name, of in runs.items()}  # fmt: skip
    means["zip"][1] += shift
    rows = (f"{name},{time:.2f},{energy:.2f}\n" for name, (time, energy) in means.items())
    return "packer,time_s,energy_j\n" + "".join(rows)


@pytest.mark.parametrize("groups", ["files", "codec", "level"])
@pytest.mark.parametrize(("shift", "copies"), [(0.0, 3), (0.02, 0)])
def test_rows_that_are_means_of_groups_are_no_runs(
    groups: str, shift: float, copies: int, lake: Path, tmp_path: Path
) -> None:
    """Groups are files, or rows of one setting; a number that is no mean keeps its table."""
    if groups == "files":
        for name, of in MEANT.items():
            rows = "".join(f"{time},{energy}\n" for time, energy in of)
            put(tmp_path / "raw" / "runs" / f"{name}.csv", f"time_s,energy_j\n{rows}")
    else:
        names = {"level": {"brot": 1, "lizard": 6, "zip": 9}}.get(groups, {})
        rows = "".join(f"{names.get(name, name)},{n},{t},{e}\n" for name, of in MEANT.items()
                       for n, (t, e) in enumerate(of))  # fmt: skip
        put(tmp_path / "raw" / "runs.csv", f"{groups},trial,time_s,energy_j\n{rows}")
    put(tmp_path / "raw" / "board.csv", means_of(MEANT, shift))
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    count = query(lake, "SELECT count(*) AS n FROM runs")
    assert count == [{"n": 18 - copies}]
    said = [
        each
        for each in details(report, "identical_row")
        if "are means of rows of other files" in each
    ]
    assert len(said) == (copies > 0)
    ingest(lake, tmp_path / "raw", is_proposing=True)
    assert query(lake, "SELECT count(*) AS n FROM runs") == count


def perf_text(joules: float, ram: float, time_s: float) -> str:
    return (
        f" Performance counter stats for 'all':\n\n  {joules:.2f} Joules power/energy-pkg/\n"
        f"  {ram:.2f} Joules power/energy-ram/\n\n  {time_s:.9f} seconds time elapsed\n"
    )


@pytest.mark.parametrize("is_listed", [True, False])
def test_a_file_is_of_the_row_of_its_own_folder(
    is_listed: bool, lake: Path, tmp_path: Path
) -> None:
    """Two tables name files of the same names; the texts have the numbers of one of them."""
    raw, small, large = tmp_path / "raw", ["File,PKG_Energy,RAM_Energy,Time"], []
    for n in range(1, 5):
        put(raw / f"plain/out{n}.txt", perf_text(2 + n / 8, 0.2 + n / 50, 0.025 + n / 1000))
        small.append(f"out{n}.txt,{2 + n / 8:.2f},{0.2 + n / 50:.2f},{0.025 + n / 1000:.9f}")
        large += [f"out{n + 4 * k}.txt,{k},{700 + n + 9 * k}.25,{90 + n}.5,{8 + n / 8}"
                  for k in (0, 1)]  # fmt: skip
    put(raw / "deep/all.csv", "\n".join(["File,epochs,PKG_Energy,RAM_Energy,Time", *large, ""]))
    if is_listed:
        put(raw / "plain/all.csv", "\n".join([*small, ""]))
    report = ingest(lake, raw, is_proposing=True)
    found = query(lake, "SELECT * FROM runs ORDER BY energy_j")
    assert [(e["energy_j"], e["duration_s"]) for e in found] == [
        *(pytest.approx((2 + n / 8, 0.025 + n / 1000), abs=0.01) for n in range(1, 5)),
        *((700.25 + n + 9 * k, 8 + n / 8) for k in (0, 1) for n in range(1, 5)),
    ]
    # The rows ran one thing, the texts do not change that, nor say the energy of a part again.
    assert len({e["workload"] for e in found[4:]}) == 1
    assert [e.get("dram_energy") is None for e in found] == [is_listed] * 4 + [True] * 8
    told = details(report, "not_joined")
    assert [("4 files" in each, " of line 2 is " in each) for each in told] == (
        [] if is_listed else [(True, True)]
    )

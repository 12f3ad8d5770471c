"""What names of files, and texts of cells, differ in: names of several words, dates, versions."""

import re
from pathlib import Path

import pytest

from data.connection import open_lake
from ingest.proposals.path_parts import read_paths
from ingest.proposals.split_texts import split_columns
from tests.fixtures.ingest import ingest, put, query

THREE = [f"{a}_{b}_{c}" for a in ("curl", "wget") for b in ("small", "large") for c in ("1x", "4x")]
TIMES = ("200ms", "50ms")
DATES = ("20240301_101500", "20240301_121500")
SETS: dict[str, tuple[list[str], dict[str, list[str]]]] = {
    "positions, each of which is a factor": (
        THREE,
        {"file": ["curl", "wget"], "file_2": ["large", "small"], "file_3": ["1x", "4x"]},
    ),
    "units": (
        [f"{a}_{b}_{c}" for a in ("curl", "wget") for b in TIMES for c in ("2GHz", "3GHz")],
        {"file": ["curl", "wget"], "time_whole": ["200", "50"], "frequency": ["2", "3"]},
    ),
    "names of several words, each with each variant": (
        [f"{a}_{b}" for a in ("image_scale", "sum") for b in ("v1_aot", "v1_jit", "native")],
        {"file": ["image_scale", "sum"], "file_2": ["native", "v1_aot", "v1_jit"]},
    ),
    "clocks of a processor": (
        [f"{a}_gpu{b}" for a in ("left", "right") for b in (306, 611, 918)],
        {"file": ["left", "right"], "gpu": ["306", "611", "918"]},
    ),
    "what the files have is no setting": (
        [f"energy-time-{a}-{b}.json" for a in (1005, 1605, 2430) for b in (300, 450)],
        {"file": ["1005", "1605", "2430"], "file_2": ["300", "450"]},
    ),
    "a load and a batch behind their numbers": (
        [f"{a}_{b}rps_{c}bs.csv" for a in ("left", "right") for b in (50, 400) for c in (2, 16)],
        {"file": ["left", "right"], "rps": ["400", "50"], "bs": ["16", "2"]},
    ),
    "limits of two values are no machines": (
        [f"{a}_pl{b}" for a in ("left", "right") for b in (150, 250)],
        {"file": ["left", "right"], "power_limit": ["150", "250"]},
    ),
    "a part that some lack": (
        [f"{a}_{b}{c}" for a in ("left", "right") for b in ("int4", "fp16") for c in ("", "_v2")],
        {"file": ["left", "right"], "precision_text": ["fp16", "int4"], "variant_text": ["", "v2"]},
    ),
    "a part that one alone has": (
        [f"{a}_costs" for a in ("elm", "oak", "tall_oak", "fir")],
        {"file": ["elm", "fir", "oak", "tall_oak"]},
    ),
    "runs and their repetitions": (
        [f"run_{a}_repetition_{b}" for a in range(3) for b in range(2)],
        {"run": ["0", "1", "2"], "replicate": ["0", "1"]},
    ),
    "drivers of clocks": (
        [f"{a}/{b}/table.csv" for a in ("acpi_cpufreq", "amd_pstate") for b in ("calm", "quick")],
        {"driver": ["acpi_cpufreq", "amd_pstate"], "folder": ["calm", "quick"]},
    ),
    "preferences of a driver": (
        [f"{a}/table.csv" for a in ("performance", "balance_power", "power")],
        {"epp": ["balance_power", "performance", "power"]},
    ),
    "tags of words and numbers, no machines": (
        [f"{a}{b}.csv" for a in ("off", "on") for b in (300, 421)],
        {"file": ["off300", "off421", "on300", "on421"]},
    ),
    "the end of a copy, and a kind that one name has": (
        ["dct_results.txt", "fft_results.txt", "sort_test_results copy.txt"],
        {"file": ["dct", "fft", "sort"]},
    ),
    "a number of a copy": (
        ["dct.csv", "fft (1).csv", "sort.csv"],
        {"file": ["dct", "fft", "sort"]},
    ),
    "kinds of each": (
        [f"{a}_{b}.csv" for a in ("bert", "cnn") for b in ("test", "train")],
        {"file": ["bert", "cnn"], "file_2": ["test", "train"]},
    ),
    "a date without a mark before it": (
        [f"{a}{b}.log" for a in ("mapB64", "rowsB") for b in DATES],
        {"file": ["mapB64", "rowsB"], "file_2": [*DATES]},
    ),
    "a word at two places, and a date that only some have": (
        [*(f"Bench-elk-{a}-energy-{b}.data" for a in ("heap", "tim")
           for b in ("2023-08-09_22-30-17", "2023-08-10_00-48-43")),
         *(f"mole-Bench-{a}-energy.data" for a in ("heap", "tim"))],
        {"file": ["elk", "mole"], "file_2": ["heap", "tim"],
         "file_3": ["", "2023-08-09_22-30-17", "2023-08-10_00-48-43"]},
    ),
}  # fmt: skip


# Seconds, joules and loss.
MODELS = {"BERT": (7.5, 150.0, 1.25), "CNN": (2.5, 50.0, 1.5), "ViT": (50.5, 3500.0, 0.25)}


@pytest.mark.parametrize("case", SETS)
def test_names_are_split_at_what_they_differ_in(case: str) -> None:
    names, expected = SETS[case]
    pattern, parts = read_paths(names)
    matches = [re.fullmatch(pattern, name) for name in names]
    found = {p.name: sorted({match[p.name] for match in matches if match}) for p in parts}
    assert found == expected


@pytest.mark.parametrize(
    ("paths", "values"),
    [
        # A file of all beside those of each: it has no part before the date.
        (["web-2024-05.csv", *(f"web-{each}-2024-05.csv" for each in ("ab", "cd", "ef"))],
         ["2024-05", "ab-2024-05", "cd-2024-05", "ef-2024-05"]),
        # No parts fit all: the whole name is one.
        (["gpu-b-16-1.5.csv", "gpu_1.5_16.csv", "gpu_gpu_16.csv"],
         ["gpu-b-16-1.5", "gpu_1.5_16", "gpu_gpu_16"]),
        # With its folder where a name recurs.
        (["x/gpu-b-16-1.5.csv", "y/gpu_1.5_16.csv", "x/gpu_gpu_16.csv", "y/gpu_gpu_16.csv"],
         ["x/gpu-b-16-1.5", "x/gpu_gpu_16", "y/gpu_1.5_16", "y/gpu_gpu_16"]),
    ],
)  # fmt: skip
def test_a_pattern_fits_all_paths_that_it_was_made_of(paths: list[str], values: list[str]) -> None:
    pattern, parts = read_paths(paths)
    matches = [re.fullmatch(f"(?:.*/)?{pattern}", path) for path in paths]
    assert sorted(match[parts[0].name] for match in matches if match) == values
    assert len(parts) == 1


@pytest.mark.parametrize(
    ("texts", "columns"),
    [
        # All combinations are no chance: under any heading, also beside another setting.
        (THREE,
         {"name_part": 2, "name_part_2": 2, "name_part_3": 2}),
        # One is missing; and too few.
        (["a_x", "a_y", "a_z", "b_x", "b_y"], {"name": 5}),
        (["a_x", "a_y", "b_x", "b_y"], {"name": 4}),
    ],
)  # fmt: skip
def test_texts_of_all_combinations_are_settings(
    texts: list[str], columns: dict[str, int], lake: Path, tmp_path: Path
) -> None:
    rows = [f"{t},{k},{n + k}.25,{n}.5" for n, t in enumerate(texts, 1) for k in (1, 2)]
    put(tmp_path / "t.csv", "\n".join(["name,cores,energy_j,time_s", *rows]) + "\n")
    ingest(lake, tmp_path, is_proposing=True)
    counts = ", ".join(f"count(DISTINCT {name}) AS {name}" for name in columns)
    assert query(lake, f"SELECT {counts} FROM runs") == [columns]


def test_a_date_that_only_some_names_have_is_no_setting(lake: Path, tmp_path: Path) -> None:
    """Three runs of each sort on one machine, of which the names have the time; one on another."""
    joules = iter(range(100, 200))
    for sort in ("heap", "tim"):
        times = ("2023-08-09_22-30-17", "2023-08-09_23-39-28", "2023-08-10_00-48-43")
        names = [f"Bench-elk-{sort}-energy-{time}.data" for time in times]
        for name in (*names, f"mole-Bench-{sort}-energy.data"):
            text = f"  {next(joules)}.25 Joules power/energy-pkg/\n\n  5.5 seconds time elapsed\n"
            put(tmp_path / "raw" / name, f" Performance counter stats for 'a':\n\n{text}")
    ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(lake, "SELECT file, file_2, count(*) AS runs FROM runs GROUP BY ALL ORDER BY ALL")
    assert [tuple(each.values()) for each in found] == [
        ("elk", "heap", 3), ("elk", "tim", 3), ("mole", "heap", 1), ("mole", "tim", 1),
    ]  # fmt: skip
    with open_lake(lake) as opened:
        assert {name for name in opened.catalogue.knobs if "file" in name} == {"c_file", "c_file_2"}


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("net34_{}_out.txt", "file_number"),
        ("mobile7b_{}_out.txt", "file_number"),
        ("batch_{}_out.txt", "batch"),
        ("batch4_streams{}_out.txt", "streams"),
    ],
)
def test_a_number_behind_a_name_with_a_number_has_no_name_of_it(form: str, name: str) -> None:
    paths = [form.format(each) for each in (114503000, 318507000, 1300509000)]
    _, (column,) = read_paths(paths)
    assert (column.name, column.kind, column.role, column.is_given) == (
        name, "whole", "knob", False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("paths", "last"),
    [
        # Each folder counts its files from 1, also where some have fewer.
        (["-a/output1.txt", "-a/output2.txt", "-b/output1.txt", "-b/output2.txt", "-c/output1.txt"],
         "replicate"),
        # One folder alone: nothing says what the number counts.
        (["output1.txt", "output2.txt", "output3.txt"], "output"),
        # A folder begins at 2, as where each has a setting of its own.
        (["a/output1.txt", "a/output2.txt", "b/output2.txt", "b/output3.txt"], "output"),
        # A word that says what ran or was set.
        (["a/test1.txt", "a/test2.txt", "b/test1.txt", "b/test2.txt"], "test"),
        (["a/batch1.txt", "a/batch2.txt", "b/batch1.txt", "b/batch2.txt"], "batch"),
    ],
)  # fmt: skip
def test_a_number_behind_a_plain_word_counts_the_files_of_each_setting(
    paths: list[str], last: str
) -> None:
    _, columns = read_paths(paths)
    assert columns[-1].name == last


TIMES_OF = {160: "1.25", 640: "8.5", 1280: "31.75", 2560: "118.5"}


@pytest.mark.parametrize(
    ("flag", "name", "times", "is_given"),
    [
        # Time grows more than in proportion: how much was done, whatever the flag is called.
        ("-DQ={}", "dq", [*TIMES_OF.values()], True),
        ("-DSIDE={}", "side", [*TIMES_OF.values()], True),
        # Less time with more of it: a setting.
        ("--lanes={}", "lanes", [*reversed(TIMES_OF.values())], False),
        ("-np {}", "np", [*reversed(TIMES_OF.values())], False),
        # A word that names a setting.
        ("--threads={}", "threads_whole", [*TIMES_OF.values()], False),
    ],
)
def test_a_number_in_a_flag_is_a_setting_or_an_amount_of_work(
    flag: str, name: str, times: list[str], is_given: bool, lake: Path, tmp_path: Path
) -> None:
    rows = [f"cc -O2 {flag.format(n)} -g,{t}" for n, t in zip(TIMES_OF, times, strict=True)]
    put(tmp_path / "t.csv", "\n".join(["build,time_s", *rows]) + "\n")
    ingest(lake, tmp_path, is_proposing=True)
    with open_lake(lake) as opened:
        knobs = {c.name: c.is_given for c in opened.catalogue.columns if c.role == "knob"}
    assert knobs == {name: is_given}
    assert query(lake, f"SELECT count(DISTINCT {name}) AS n FROM runs") == [{"n": len(TIMES_OF)}]


def test_a_number_in_texts_that_differ_in_more_is_none_of_its_own(
    lake: Path, tmp_path: Path
) -> None:
    rows = ["left x=1,4.25", "right -g x=2,8.5", "far x=3 -g,2.125", "near x=4,1.5"]
    put(tmp_path / "t.csv", "\n".join(["build,time_s", *rows]) + "\n")
    ingest(lake, tmp_path, is_proposing=True)
    assert query(lake, "SELECT count(DISTINCT build) AS n FROM runs") == [{"n": len(rows)}]


def test_an_option_is_read_beside_a_number_that_another_column_says() -> None:
    commands = {(n, side): f'"mpirun -np {n} solve {side} 60"' for n in (2, 6) for side in (9, 15)}
    rows = [(text, side, side * 3.25 / n) for (n, side), text in commands.items()]
    headings = ["command", "side", "time_s"]
    (split,) = split_columns(headings, [*zip(*rows, strict=True)], ()).values()
    assert [(part.name, part.values) for part in split[1]] == [("np", 2)]
    # Where no column says it the texts are of more than the option.
    texts, _, times = zip(*rows, strict=True)
    assert not split_columns(["command", "time_s"], [texts, times], ())


def test_a_command_without_the_numbers_of_its_flags_is_the_command(
    lake: Path, tmp_path: Path
) -> None:
    """One file varies the number alone, another the command: both have the same commands."""
    rows = [f"cc -O2 -DSIDE={n},{t}" for n, t in TIMES_OF.items()]
    put(tmp_path / "sides.csv", "\n".join(["build,time_s", *rows]) + "\n")
    other = ["cc -O2,1.125,9.5", "cc -O3,1.0625,9.25", "other -O2,2.25,8.75"]
    put(tmp_path / "builds.csv", "\n".join(["build,time_s,power_w", *other]) + "\n")
    ingest(lake, tmp_path, is_proposing=True)
    assert query(lake, "SELECT build, count(*) AS n FROM runs GROUP BY ALL ORDER BY ALL") == [
        {"build": "cc -O2", "n": 5}, {"build": "cc -O3", "n": 1}, {"build": "other -O2", "n": 1},
    ]  # fmt: skip


def test_parts_of_a_label_that_other_columns_say_are_no_settings() -> None:
    places = [
        (at, name) for at in ("near", "far", "near_roof", "far_roof") for name in ("ax", "bq")
    ]
    headings = ["device", "place", "label"]
    columns = [[name for _, name in places], [at for at, _ in places],
               [f"{name.title()} 5 GHz {at.partition('_')[0].title()}{' up' * ('_' in at)}"
                for at, name in places]]  # fmt: skip
    assert split_columns(headings, columns, ()) == {}
    # What no other column says is a setting.
    assert split_columns(["device", "label"], [columns[0], columns[2]], ()).keys() == {"label"}


@pytest.mark.parametrize(("word", "knobs"), [
    ("sheet", {"sheet": True, "label_part": False}), ("batch", {"label": False}),
])  # fmt: skip
def test_what_is_compared_stands_behind_the_number_of_its_experiment(
    word: str, knobs: dict[str, bool], lake: Path, tmp_path: Path
) -> None:
    """Ends of one experiment are other ones than those of the next: these are no rivals."""
    texts = ("3-eager-copy", "3-lazy", "4-64kb", "4-256kb", "4-1mb", "5-old", "5-lazy")
    rows = [f"{word}{text},{n + 4}.5" for n, text in enumerate(texts)]
    put(tmp_path / "t.csv", "\n".join(["label,time_s", *rows]) + "\n")
    ingest(lake, tmp_path, is_proposing=True)
    with open_lake(lake) as opened:
        own = {c.name: c.is_given for c in opened.catalogue.columns if c.role == "knob"}
    assert own == knobs


def test_a_part_that_some_names_lack_is_not_set_there(lake: Path, tmp_path: Path) -> None:
    for n, name in enumerate(("fold", "join", "sort")):
        for form in ("", "_opt"):
            said = f"Training Time: {n + 9}.25 seconds\nEnergy Consumed: {n + 200}.5 Joules\n"
            put(tmp_path / f"{name}{form}.txt", said)
    ingest(lake, tmp_path, is_proposing=True)
    runs = query(lake, "SELECT file, variant_text FROM runs ORDER BY ALL")
    assert [(*row.values(),) for row in runs] == [
        (file, form) for file in ("fold", "join", "sort") for form in ("opt", None)
    ]


def test_scores_of_a_run_in_a_file_of_their_own_are_joined_to_it(
    lake: Path, tmp_path: Path
) -> None:
    """`bert_test.txt` says how good `bert.txt` is, `gan_test.txt` is of no run."""
    for name, (time_s, energy_j, loss) in MODELS.items():
        told = f"{name} Training Time: {time_s} seconds\n{name} Energy Consumed: {energy_j} Joules"
        put(tmp_path / f"in/{name.lower()}.txt", told)
        put(tmp_path / f"in/{name.lower()}_test.txt", f"Test Loss: {loss}\nTest Accuracy: 70.5%")
    put(tmp_path / "in/gan_test.txt", "Test Loss: 4.5\nTest Accuracy: 9%")
    ingest(lake, tmp_path / "in", is_proposing=True)
    found = query(
        lake, "SELECT model, duration_s, energy_j, test_loss, test_accuracy FROM runs ORDER BY ALL"
    )
    assert [*map(tuple, map(dict.values, found))] == [
        ("bert", 7.5, 150.0, 1.25, 70.5), ("cnn", 2.5, 50.0, 1.5, 70.5),
        ("vit", 50.5, 3500.0, 0.25, 70.5),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("word", "numbers"),
    [
        ("on", {None, 421}),
        # Runs are counted; what is in other places of the names is no number alone.
        ("run", None),
        ("_v2_on", None),
    ],
)
def test_a_number_that_some_names_have_tells_their_rows_apart(
    word: str, numbers: set[int | None] | None, lake: Path, tmp_path: Path
) -> None:
    """All else that was set is the same in both rows: without the number they were replicates."""
    rows = ["tag,size,mode,energy_j,time_s"]
    for at, (kind, size) in enumerate((("base", 85), ("base", 141), ("large", 141), ("s", 281))):
        for mode in ("fp32_strict", "tf32"):
            cells = f"{size},{mode},{90.25 + at},{9.5 - at}"
            rows += [f"darcy_{kind}_r{size}_{word}421_ts_{mode}_e,{cells}"] * (at in (1, 3))
            rows += [f"darcy_{kind}_r{size}_ts_{mode}_e,{cells}"] * (at != 1 or mode == "tf32")
    put(tmp_path / "raw" / "runs.csv", "\n".join(rows) + "\n")
    ingest(lake, tmp_path / "raw", is_proposing=True)
    with open_lake(lake) as opened:
        knobs = {c.name for c in opened.catalogue.columns if c.role == "knob"}
        name = next((name for name in knobs if name.startswith("on")), "")
        assert bool(name) == (numbers is not None)
        found = opened.sql(f"SELECT DISTINCT {name or 'NULL'} FROM runs").fetchall()
        assert {each for (each,) in found} == (numbers or {None})

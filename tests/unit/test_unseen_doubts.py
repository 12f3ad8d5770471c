"""Tables in which less is said than it seems: what nothing decides is not read as more."""

from pathlib import Path

import pytest

from data.connection import open_lake
from ingest.__main__ import main
from ingest.formats.written_numbers import are_spans
from tests.fixtures.ingest import details, ingest, put, query
from tests.fixtures.raw_runs import write_files
from tests.fixtures.unseen import Studies, check_study

STUDIES: Studies = {
    "repetitions that are as many as threads": (
        {"t.csv": "benchmark,threads,latency_ms\n" + "".join(
            f"{b},{n},{n}.5\n" for b in ("fft", "lu") for n in (1, 2, 3))}
        | {f"traces/{b}_run{n}.csv": "time_s,power_w\n" + "".join(
            f"{k / 2},{n}.5\n" for k in range(20)) for b in ("fft", "lu") for n in (1, 2, 3)},
        "threads, energy_j", 12, [(1, None), (1, None), (2, None)],
    ),
    # A column is called as the others without their steps; at 100 W of a load power is lost.
    "steps beside a total": (
        {"t.csv": "app,energy_J_1.2GHz,energy_J_2.4GHz,time_s_1.2GHz,time_s_2.4GHz,time_s\n"
                  "a,1.5,2.5,9,5,3\nb,1.6,2.6,9.5,5.5,2\n"},
        "app, energy_j_1_2ghz, duration_s", 2, [("a", 1.5, 3.0), ("b", 1.6, 2.0)],
    ),
    "losses at loads": (
        {"t.csv": "psu,efficiency_100W,efficiency_200W,power_loss_100W,power_loss_200W\n"
                  "a,0.9,0.92,9.5,15.5\nb,0.85,0.88,8.5,14.5\n"},
        "psu, power_loss_100w", 2, [("a", 9.5), ("b", 8.5)],
    ),
    # pandas writes so what it describes; the second run of `fft` was alone.
    "quantities over their statistics": (
        {"t.csv": ",app,threads,Energy,Energy,Energy,Energy,Energy,EnergyK,EnergyK,EnergyK,EnergyK,"
                  "EnergyK,TimeSeconds,TimeSeconds,TimeSeconds,TimeSeconds,TimeSeconds\n"
                  ",,," + ",".join(["count,mean,std,50%,max"] * 3) + "\n" + "".join(
            f"{at},{app},{cores},{n},{e}.5,{sd},{e},{e + 3},{n},{e / 1000 + 0.0005},"
            f"{sd and float(sd) / 1000},{e / 1000},{e / 1000 + 0.003},{n},"
            f"{e / 50},{sd and 0.5},{e / 50},{e / 50 + 1}\n"
            for at, (app, cores, n, e, sd) in enumerate((
                ("fft", 1, 3.0, 900, "2.5"), ("fft", 2, 1.0, 600, ""), ("lu", 1, 3.0, 1800, "4.5"),
                ("lu", 2, 3.0, 1200, "3.5"))))},
        "app, thread_count, energy_j, sd_energy_j, duration_s, aggregate_n", 4,
        [("fft", 1, 900.5, 2.5, 18.0, 3), ("fft", 2, 600.5, None, 12.0, 1)],
    ),
    # One document has another key; the scores are those of the run of the folder.
    "documents of one name in folders": (
        {f"logs/infer_2026_01_0{n}_10_00_00/{name}": text for n, (model, of, joules) in enumerate(
            (("convE", "kin", 9.25), ("convE", "kin", 9.5), ("transE", "kin", 5.25),
             ("transE", "geo", 6.25)), 1)
         for name, text in (
            ("config.json", f'{{"model": "{model}", "data": "{of}", "output_dir": "out/{n}", '
             + ('"ds_seed": -1, ' if of == "geo" else f'"logdir": "/d/train_2026_01_0{n}_09", ')
             + '"epochs": 100}'),
            ("scores.json", f'{{"metrics": {{"hits@1": 0.{n}25, "rank": 0.{n}5}}, '
             f'"model": {{"params": {len(model)}0400}}}}'),
            ("energy.csv", f"duration_s,energy_j\n0.{n}5,{joules}\n"))},
        "model, data, energy_j, metrics_rank", 4,
        [("convE", "kin", 9.25, 0.15), ("convE", "kin", 9.5, 0.25), ("transE", "geo", 6.25, 0.45)],
    ),
}  # fmt: skip
_GUESSED = "SELECT detail FROM problems WHERE kind = 'guessed_columns'"
# Means and deviations in Portuguese, of programs at 20 W: of mW no machine is.
_MEANS = "nome;consumo_medio;desvio_consumo;tempo_medio;desvio_tempo;power;lang\n" + "".join(
    f"{name};{ms * watts / 1000};0,{cap + 2}1;{ms},25;0,{cap + 2}5;{cap};{lang}\n".replace(".", ",")
    for cap, watts in ((-1, 20), (10, 9), (25, 19))
    for lang, slower in (("C", 1), ("Python", 60))
    for name, ms in (("fasta", 600 * slower), ("n-body", 1900 * slower))
)


def test_units_that_only_a_power_tells_are_doubted(tmp_path: Path) -> None:
    write_files(tmp_path / "study", {"t.csv": _MEANS})
    assert main(["add", str(tmp_path / "study"), "--lake", str(tmp_path / "lake")]) == 0
    with open_lake(tmp_path / "lake") as lake:
        rows = lake.polars("SELECT power, energy_j, duration_s FROM runs ORDER BY ALL").rows()
        (told,) = lake.polars(_GUESSED)["detail"]
    assert {row[0] for row in rows} == {10, 25, None}
    assert rows[0][1:] == pytest.approx((5.4, 0.60025))
    assert "consumo_medio states no unit, taken as J" in told
    assert "tempo_medio states no unit, taken as ms" in told


def test_a_time_that_nothing_supports_is_doubted(tmp_path: Path) -> None:
    rows = "".join(f"{n},{n}.5,{n + 3}.25\n" for n in range(1, 9))
    write_files(tmp_path / "study", {"t.csv": f"threads,java_time,go_time\n{rows}"})
    main(["add", str(tmp_path / "study"), "--lake", str(tmp_path / "lake")])
    with open_lake(tmp_path / "lake") as lake:
        (told,) = lake.polars(_GUESSED)["detail"]
    assert "java_time states no unit, taken as s: ms would fit as well; so go_time" in told


@pytest.mark.parametrize("style", STUDIES)
def test_a_table_says_no_more_than_is_written(style: str, tmp_path: Path) -> None:
    check_study(STUDIES, style, tmp_path)


@pytest.mark.parametrize(
    ("heading", "name", "odd", "count"),
    [
        ("cost", "cost", "2\u300275", 1),
        ("energy_j", "energy_j", "12.5.0", 1),
        # Of four cells in forty nobody knows what the others are.
        ("cost", "cost", "n.m.", 4),
    ],
)
def test_a_column_of_numbers_may_have_an_odd_cell(
    heading: str, name: str, odd: str, count: int, lake: Path, tmp_path: Path
) -> None:
    """`2\u300275` has a full stop of Chinese: it may be 2.75, and is not taken for it."""
    cells = [odd if n < count else f"{900 + 7.25 * n}" for n in range(40)]
    rows = [f"{'abcd'[n % 4]},{2 ** (n // 4)},{cell}" for n, cell in enumerate(cells)]
    put(tmp_path / "raw/stat.csv", "\n".join([f"model,batch_size,{heading}", *rows, ""]))
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    told = details(report, "no_number")
    if count == 1:
        numbers = [row[name] for row in query(lake, f"SELECT {name} FROM runs ORDER BY 1")]
        assert numbers == [900 + 7.25 * n for n in range(1, 40)]
        assert (told, details(report, "no_metric")) == (
            [f"{heading} {odd!r} is not a number; left unset"], [],
        )  # fmt: skip
    else:
        assert ["labels with numbers: cost" in each for each in details(report, "no_metric")] == [
            True
        ]


def _took(name: str, *rows: str) -> dict[str, str]:
    return {f"{name}.csv": "\n".join(["training_file,time,energy(kWh),CO2eq(g)", *rows, ""])}


TRAINED = {
    # These times rise, but are of the kind of those of the other file.
    **_took("pretrain_results_1epoch", "f1,8:00:33,2.800010,29.16", "f3,11:55:04,4.303103,21.86"),
    **_took("pretrain_results_full", "f1,40:02:47,14.000048,126.21", "f3,59:35:21,21.515517,102.9"),
    **_took("train_results_1epoch", "n1,1:38:42,0.194869,9.52", "n2,7:33:10,0.578794,25.74"),
    **_took("train_results_full", "n1,8:13:32,0.974343,42.49", "n2,37:45:51,2.893969,168.4"),
}
# Of other headings: a number that came out of each run tells nothing.
FROZEN = {
    "rt_frzfalse_results.csv": "dataset,time,energy(kWh),epochs,class_epochs\n"
    "isic,1:37:40,0.338987,4,11\nbreast,0:31:18,0.119732,4,8\nchest,1:15:20,0.260203,4,12\n",
    "rt_frztrue_results.csv": "dataset,time,energy(kWh),epochs,class_epochs\n"
    "isic,1:34:43,0.063648,4,7\nbreast,0:22:41,0.014810,4,10\nchest,0:51:27,0.033632",
}


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ("1:34:43 0:22:41 0:51:27", True),
        ("00:45:03 00:03:20 00:52:10", True),
        ("9:30:00 40:02:47", True),
        # Mornings, sorted by what was set.
        ("9:05:00 9:12:13 8:05:00 8:12:13 10:01:00", False),
        ("0:22:41 0:51:27 1:34:43", False),
        ("23:10:00 0:22:41", False),
    ],
)
def test_times_are_spans_where_no_clock_has_them(cells: str, expected: bool) -> None:
    assert are_spans(cells.split()) is expected


def test_names_that_are_no_measurements_are_no_columns_of_one_run(
    lake: Path, tmp_path: Path
) -> None:
    put(tmp_path / "raw" / "energy.csv", "name,value\nlu,12.5\nfft,9.25\nbogosort,timeout\n")
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    assert report.added == 0


def test_a_bound_beside_the_mean_that_came_of_it_is_set(lake: Path, tmp_path: Path) -> None:
    rows = [
        f"{model},{most},{0.61 * most + at:.2f},{134.1 + 7 * at + most:.1f},{64.43 - most:.2f}\n"
        for at, model in enumerate(("bert", "vit", "llama"))
        for most in (1, 4, 16)
    ]
    head = "model,max_batch_size,mean_batch_size,energy_j,time_s\n"
    put(tmp_path / "raw" / "serving.csv", head + "".join(rows))
    ingest(lake, tmp_path / "raw", is_proposing=True)
    with open_lake(lake) as opened:
        roles = {column.name: column.role for column in opened.columns}
    assert (roles["max_batch_size"], roles["mean_batch_size"]) == ("knob", "metric")


def test_times_of_training_are_durations_and_a_short_row_is_a_run(
    lake: Path, tmp_path: Path
) -> None:
    """`40:02:47` is no time of day; what files of one header vary is set, though others do too."""
    write_files(tmp_path / "raw", TRAINED | FROZEN)
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    rows = query(lake, "SELECT duration_s, energy_j FROM runs ORDER BY duration_s")
    assert len(rows) == 14
    assert [each["duration_s"] for each in rows] == [
        1361, 1878, 3087, 4520, 5683, 5860, 5922, 27190, 28833, 29612, 42904, 135951, 144167,
        214521,
    ]  # fmt: skip
    assert rows[2]["energy_j"] == pytest.approx(0.033632 * 3.6e6)
    assert details(report, "field_count") == ["3 fields, expected 5: no epochs, class_epochs"]
    with open_lake(lake) as opened:
        roles = {column.name: column.role for column in opened.columns}
    assert (roles["file"], roles["file_2"], roles["class_epochs"]) == ("knob", "knob", "label")


def test_a_part_of_a_name_is_a_setting_of_one_group_and_a_label_of_another(
    lake: Path, tmp_path: Path
) -> None:
    """`slow` and `fast` stand for the clocks of the rows; `elk` and `mole` were compared."""
    for name, clock in (("slow", 800), ("fast", 2400)):
        rows = [f"{clock},{2**n},{clock / 8 + 3.25 * n}" for n in range(4)]
        put(tmp_path / f"raw/{name}_power.csv", "\n".join(["clock_mhz,size,energy_j", *rows, ""]))
    for name, joules in (("elk", 40), ("mole", 60)):
        rows = [f"{2**n},{joules + 2.25 * n},{9.5 / 2**n}" for n in range(4)]
        lines = ["threads,energy_j,time_s", *rows, ""]
        put(tmp_path / f"raw/{name}_scaling.csv", "\n".join(lines))
    ingest(lake, tmp_path / "raw", is_proposing=True)
    with open_lake(lake) as opened:
        roles = {column.name: column.role for column in opened.columns if "file" in column.name}
    assert roles == {"file": "knob", "file_of_path": "label"}
    found = query(
        lake, "SELECT file, file_of_path, count(*) AS n FROM runs GROUP BY ALL ORDER BY 1"
    )
    assert len(found) == 4
    assert {each["file"] for each in found} == {"elk", "mole", None}


@pytest.mark.parametrize(
    ("times", "kind"),
    [
        (["22:10:05", "23:40:00", "0:30:00", "2:05:00"], "label"),  # Over midnight.
        (["09:10:05", "09:12:00", "10:30:00", "11:05:00"], "label"),
        (["11:10:05", "09:12:00", "12:30:00", "10:05:00"], "label"),  # In another order.
        (["9:10:05", "1:12:00", "12:30:00", "2:05:00"], "label"),  # Of a night, too.
        (["9:10:05", "0:12:00", "12:30:00", "2:05:00"], "duration"),
        (["00:10:05", "00:02:01", "00:30:00", "00:05:00"], "duration"),
        (["01:10:05", "02:12:00", "12:30:00", "102:05:00"], "duration"),
    ],
)
def test_what_a_time_with_hours_is(times: list[str], kind: str, lake: Path, tmp_path: Path) -> None:
    rows = [f"{2**n},{time},{9.25 + n}" for n, time in enumerate(times)]
    put(tmp_path / "raw/t.csv", "\n".join(["threads,time,energy_j", *rows, ""]))
    ingest(lake, tmp_path / "raw", is_proposing=True)
    found = query(lake, "SELECT * FROM runs")
    assert all((row.get("duration_s") is None) == (kind == "label") for row in found)


@pytest.mark.parametrize(
    ("row", "is_run"),
    [
        ("c,12.5,3.25,ok", True),
        # The last cell may be cut, or the row may lack one in the middle.
        ("c,12.5,3.25,o", False),
        ("c,12.5,3.2", False),
        ("c,12.5", False),
        ("c", False),
    ],
)
def test_a_row_without_its_last_cells(row: str, is_run: bool, lake: Path, tmp_path: Path) -> None:
    whole = [f"{app},{n + 10}.25,{n + 2}.75,{'ok' if n else 'slow'},{4 + n % 2}"
             for n, app in enumerate("abdefgh")]  # fmt: skip
    put(tmp_path / "raw/t.csv", "\n".join(["app,energy_j,time_s,note,level", *whole, row, ""]))
    ingest(lake, tmp_path / "raw", is_proposing=True)
    apps = {each.get("app") for each in query(lake, "SELECT * FROM runs")}
    assert ("c" in apps) == is_run

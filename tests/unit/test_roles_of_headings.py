"""What a heading is over all tables of a study, and beside its neighbours and the names of files.

Each table has a twin near it in which the rule must not apply.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from data.connection import open_lake
from ingest.__main__ import main
from ingest.proposals.columns import guess_columns
from ingest.proposals.guess import Guess
from ingest.propose import propose_for
from ingest.settings.headings import read_heading
from ingest.settings.units import unit_of


def guessed(text: str) -> dict[str, Guess]:
    """Return what the columns of a table in CSV are taken for."""
    headings, *rows = (line.split(",") for line in text.strip().splitlines())
    columns = [list(column) for column in zip(*rows, strict=True)]
    return {g.heading.text: g for g in guess_columns(headings, columns, {}, {})}


def knobs_of(text: str) -> set[str]:
    return {name for name, guess in guessed(text).items() if guess.role == "knob"}


def put(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


SWEEP = "runtime,format,lanes,latency_ms\n" + "".join(
    f"ort,wide,{lanes},{10.25 / lanes + 0.5}\n" for lanes in (1, 2, 3, 6)
)
OTHERS = "runtime,format,lanes,latency_ms,made_by\n" + "".join(
    f"{runtime},{form},{lanes},{latency},{runtime}_{form}_{lanes}.csv\n"
    for runtime, form, lanes, latency in (
        ("ort", "wide", 1, 10.5), ("ort", "narrow", 1, 120.25), ("ort", "narrow", 3, 80.125),
        ("ort", "wide", 3, 4.0625), ("eager", "wide", "", 28.5), ("eager", "wide", "", 26.25),
    )
)  # fmt: skip


def test_a_heading_that_varies_in_one_table_is_a_setting_in_all(tmp_path: Path) -> None:
    """The narrow run is no replicate of the wide ones; `eager` has a name, and states no lanes."""
    raw = put(tmp_path / "raw", {"sweep.csv": SWEEP, "others.csv": OTHERS})
    lake = tmp_path / "lake"
    assert main(["add", str(raw), "--lake", str(lake)]) == 0
    with open_lake(lake) as opened:
        sql = "SELECT runtime, format, count(*) FROM runs GROUP BY ALL ORDER BY ALL"
        found = opened.polars(sql).rows()
        assert {"c_runtime", "c_format"} <= opened.catalogue.knobs.keys()
    assert found == [("eager", "wide", 2), ("ort", "narrow", 2), ("ort", "wide", 6)]
    text = propose_for(raw).text
    for heading in ("runtime", "format"):
        assert text.count(f"{heading} = {{ role = 'knob'") == 2


@pytest.mark.parametrize(
    "others",
    [
        # The same value in both.
        OTHERS.replace("narrow", "wide").replace("eager", "ort"),
        # A measurement in the other table.
        "format,lanes,energy_j,latency_ms\n" + "".join(
            f"{n / 7},{n},{n + 0.5},{n * 1.75}\n" for n in range(1, 7)),
        # A name of each row there.
        "format,lanes,energy_j,latency_ms\n" + "".join(
            f"f{n * n},{n % 3},{n + 0.5},{n * 1.75}\n" for n in range(1, 13)),
    ],
)  # fmt: skip
def test_a_heading_that_is_no_setting_elsewhere_stays_a_label(tmp_path: Path, others: str) -> None:
    text = propose_for(put(tmp_path, {"sweep.csv": SWEEP, "others.csv": others})).text
    assert "format = { role = 'label' }  # one value in all rows" in text


@pytest.mark.parametrize(("tables", "role"), [(2, "knob"), (1, "metric"), (0, "metric")])
def test_a_heading_has_the_role_that_most_tables_give(
    tables: int, role: str, tmp_path: Path
) -> None:
    """Of what is alone a setting, beside another setting nothing says that it was set."""
    rows = [(n, 1 << (12 + n), f"{(n * 7.31) % 5:.2f}") for n in range(6)]
    alone = {
        f"{name}.csv": f"context,{name}_ms\n" + "".join(f"{of},{ms}\n" for _, of, ms in rows)
        for name in ("fill", "drain")[:tables]
    }
    both = "kind,context,copy_ms\n" + "".join(f"{'ab'[n % 2]},{of},{ms}\n" for n, of, ms in rows)
    text = propose_for(put(tmp_path, {**alone, "copy.csv": both})).text
    assert set(re.findall(r"^context = \{ role = '(\w+)'", text, re.MULTILINE)) == {role}


def test_a_name_of_which_a_number_is_not_stated_is_the_setting() -> None:
    """A yes, where another column has the form, says nothing besides."""
    assert "runtime" in knobs_of(OTHERS)
    table = "tuned,form,energy_j\n" + "".join(
        f"{'yes' if form else 'no'},{form},{energy}\n"
        for n in (1, 2)
        for energy, form in (
            (30.5 * n, ""),
            (31.25 * n, ""),
            (20.5 * n, "loop"),
            (21.5 * n, "tile"),
        )
    )
    assert knobs_of(table) == {"form"}
    assert knobs_of(table.replace("loop", "4").replace("tile", "8")) == {"form"}


def test_numbers_that_names_decide_are_no_settings() -> None:
    """What two decoders wrote; a cap follows from a name too, but was set."""
    table = "decoder,policy,words_out,energy_wh\n" + "".join(
        f"{decoder},{policy},{12000 + 40 * (decoder == 'draft')},{2 + n / 7}\n"
        for n, (decoder, policy) in enumerate(
            (d, p) for d in ("plain", "draft") for p in ("off", "low", "high"))
    )  # fmt: skip
    assert knobs_of(table) == {"decoder", "policy"}
    assert knobs_of(table.replace("words_out", "threads")) == {"decoder", "policy", "threads"}
    # It differs with each decoder.
    mixed = table.replace("plain,low,12000", "plain,low,12040")
    assert knobs_of(mixed) == {"decoder", "policy", "words_out"}


def test_a_clock_ends_its_heading_and_is_one() -> None:
    """12 levels are no GHz; nor is a number of 24 below a plain clock."""
    table = "policy,{},energy_j\n" + "".join(
        f"{policy},{level},{30 + level / 7}\n"
        for policy, level in (("a", 5), ("b", 12), ("c", 14), ("a", 24), ("b", 15), ("c", 12))
    )
    for heading in ("sm_clock_levels", "clock_toggles", "clock"):
        assert guessed(table.format(heading))[heading].unit == ""
    fast = "policy,{},energy_j\n" + "".join(f"a,{c},{c / 7}\n" for c in (1200, 1500, 1800) * 2)
    for heading in ("sm_clock", "clock_max", "clock target", "gpu clock 0", "freq_cap"):
        assert (guessed(fast.format(heading))[heading].unit) == "MHz"


def test_how_many_there_are_of_a_mean_has_no_unit() -> None:
    """Beside no mean a count is one of its own."""
    table = "policy,energy_wh_mean,energy_wh_std,energy_wh_{0}\n" + "".join(
        f"{policy},{energy},,{n}\n"
        for policy, energy, n in (("a", 2.5, 1), ("b", 3.25, 1), ("c", 4.5, 2))
    )  # fmt: skip
    for last in ("count", "n"):
        own = guessed(table.format(last))[f"energy_wh_{last}"]
        assert (own.role, own.unit, own.quantity) == ("label", "", "")
    rows = "".join(f"{policy},{n * 1.5},{n * n % 7}\n" for policy in "ab" for n in range(3, 8))
    assert guessed(f"policy,energy_j,retry_count\n{rows}")["retry_count"].role != "label"


RANGES = "kernel,auto_time_s,min_time_s,max_time_s,auto_energy_j\n" + "".join(
    f"{kernel},{time},{time * 0.9},{time * 7.5},{time * 90}\n"
    for kernel, time in (("copy", 1.25), ("scan", 0.375), ("fold", 0.0625))
)


def test_the_least_and_the_most_beside_a_measurement_are_its_range() -> None:
    found = guessed(RANGES)
    assert [found[f"{end}_time_s"].better for end in ("min", "max")] == [None, None]
    assert found["auto_time_s"].to == "duration_s"


@pytest.mark.parametrize(
    "text",
    [
        # Not between them in one row; of another quantity; the least alone.
        RANGES.replace("scan,0.375", "scan,0.0375"),
        RANGES.replace("auto_time_s", "auto_charge_c"),
        RANGES.replace("max_time_s", "late_time_s"),
    ],
)
def test_other_extremes_are_measurements(text: str) -> None:
    assert guessed(text)["min_time_s"].better == "less"


def test_models_that_only_a_precision_tells_apart_are_compared() -> None:
    table = "model,batch,power_w\n" + "".join(
        f"{model},{batch},{4 + n / 9 + batch / 70}\n"
        for n, model in enumerate(("FP16", "INT8", "PYTORCH")) for batch in (1, 4, 16)
    )  # fmt: skip
    assert not guessed(table)["model"].is_given
    other = table.replace("FP16", "opt").replace("INT8", "bert").replace("PYTORCH", "gemma")
    assert guessed(other)["model"].is_given


@pytest.mark.parametrize(("last", "is_given"), [("seal", True), ("check", False)])
def test_names_that_share_little_of_their_work_are_what_ran(last: str, is_given: bool) -> None:
    """A scheme that signs and one that seals are no rivals; one that lacks an operation is."""
    of_elm = ("make", "open", last) if is_given else ("make", last)
    work = {"oak": ("make", "sign", "check"), "elm": of_elm}
    rows = [f"{name},{what},{by},{n * 7 + len(by)}.5" for name, of in work.items()
            for n, what in enumerate(of, 1) for by in ("lib", "native")]  # fmt: skip
    table = guessed("\n".join(["scheme,operation,provider,time_us", *rows]))
    assert (table["scheme"].is_given, table["provider"].is_given) == (is_given, False)


def test_a_mean_of_means_is_a_latency_and_its_deviation_is_none() -> None:
    table = "kind,latency_mean_ms_mean,latency_p95_ms_mean,latency_std_ms_mean,latency_p95_ms_max\n"
    table += "a,0.5,0.75,0.25,0.875\nb,0.625,0.8125,0.125,1.25\nc,0.5625,0.78125,0.375,1.5\n"
    targets = {name: guess.to for name, guess in guessed(table).items()}
    assert targets["latency_mean_ms_mean"] == "latency_mean_us"
    assert targets["latency_p95_ms_mean"] == "latency_p95_us"
    assert targets["latency_std_ms_mean"] == targets["latency_p95_ms_max"] == ""


@pytest.mark.parametrize(
    ("ends", "unit"),
    [
        # From 31 to 25,120: in ms a mean of 2.5 ms were below the least, in ns above the most.
        (((31, 25_120), (44, 31_250), (29, 18_310)), "us"),
        (((0.5, 25.12), (0.75, 31.25), (0.25, 18.31)), "ms"),
        # The most is below the mean, and the least above it.
        (((3, 2), (3, 2), (3, 2)), ""),
    ],
)
def test_a_mean_between_the_least_and_the_most_decides_their_unit(
    ends: tuple[tuple[float, float], ...], unit: str
) -> None:
    rows = zip("abc", (2.5, 4.125, 1.75), ends, strict=True)
    table = "server,latency_mean_ms,latency_min,latency_max\n" + "".join(
        f"{server},{mean},{least},{most}\n" for server, mean, (least, most) in rows
    )
    columns = guessed(table)
    for end in ("min", "max"):
        guess = columns[f"latency_{end}"]
        assert guess.unit == unit
        scale = {"us": 1.0, "ms": 1000.0}.get(unit)
        assert (guess.to, guess.scale) == ((f"latency_{end}_us", scale) if scale else ("", 1.0))


def test_a_unit_in_the_heading_and_in_the_cells_is_said_twice() -> None:
    heading = read_heading("latency_mean_ms", "ms")
    assert (heading.words, heading.unit) == (("latency", "mean"), unit_of("ms"))


def documents(tail: str = "max") -> dict[str, str]:
    """Return a document a configuration in a folder whose last word is a heading of theirs."""
    settings = [("w64", "eager", "half"), ("w64", "script", "full"), ("w256", "eager", "half"),
                ("w64", "eager", "full"), ("w256", "script", "full")]  # fmt: skip
    return {
        f"results/board_format/heat_{width}_{engine}_{form}.json": json.dumps({
            "weights": f"store/weights/heat_{width}_best.pt", "engine": engine, "format": form,
            "script": f"store/script/heat_{width}.ts" if engine == "script" else None,
            "n_calls": 40, "mean_ms": 2.5 + n / 7, "max_ms": 3.5 + n / 3,
            "p99_ms": 3.5 + n / 3 if tail == "max" else 3.25 + n / 3,
        }, indent=1)
        for n, (width, engine, form) in enumerate(settings)
    }  # fmt: skip


def test_names_of_files_and_paths_repeat_no_setting_of_their_rows(tmp_path: Path) -> None:
    """The folder's word names no part beside the heading `format`; paths say what names say."""
    raw = put(tmp_path / "raw", documents())
    text = propose_for(raw).text
    (said,) = (line for line in text.splitlines() if line.startswith("#   set: "))
    names = {*re.findall(r"(\w+) \(\d", said)}
    assert names == {"w", "engine", "format"}
    assert "format_text" not in text
    # Of 40 calls p99 is the slowest, in all rows.
    assert "performance: latency_mean_us" in text


def test_a_path_that_nothing_else_says_is_a_setting(tmp_path: Path) -> None:
    """A tail that is not the slowest of all is the performance."""
    files = {name: text.replace("heat_w64_best", "a_best").replace("heat_w256_best", "b_best")
             for name, text in documents("p99").items()}  # fmt: skip
    files = {
        name.replace("_w64", "_1").replace("_w256", "_2"): text for name, text in files.items()
    }
    text = propose_for(put(tmp_path, files)).text
    assert "performance: latency_p99_us" in text


def parts_of_batches(value: str = "value") -> dict[str, str]:
    """Return a file a form with the times of three parts of each batch, one a row."""
    return {
        f"speed/{form}/{name}_by_batch.json": json.dumps([
            {"batch_size": batch, "type": part, value: scale * batch**0.75 + n / 90}
            for batch in (1, 4, 16, 64)
            for part, scale in (("copy", 0.03), ("compute", 0.7), ("synchronize", 0.002))
        ], indent=1)
        for n, form in enumerate(("int8", "fp32"), 1)
        for name in ["latency"]
    }  # fmt: skip


def test_parts_of_a_latency_file_are_times_of_which_the_longest_stands_for_the_run(
    tmp_path: Path,
) -> None:
    """The batch is the work of a row, since no rate stands beside its time."""
    text = propose_for(put(tmp_path, parts_of_batches())).text
    columns = dict(re.findall(r"^(\w+) = \{(.*?)\}  #", text, re.MULTILINE))
    assert "performance: compute" in text
    assert "less" not in columns["copy"] + columns["synchronize"]
    assert columns["batch_size"] == " role = 'knob', given = true "


def test_parts_of_a_file_without_a_quantity_in_its_name_have_no_direction(tmp_path: Path) -> None:
    files = {name.replace("latency", "sizes"): text for name, text in parts_of_batches().items()}
    text = propose_for(put(tmp_path, files)).text
    columns = dict(re.findall(r"^(\w+) = \{(.*?)\}  #", text, re.MULTILINE))
    assert not any("less" in columns[part] for part in ("copy", "compute", "synchronize"))
    assert "given" not in columns["batch_size"]


BATCHES = "kind,batch,latency_ms{}\n" + "".join(
    f"{kind},{batch},{scale * batch**0.75}{{}}\n"
    for kind, scale in (("left", 1.25), ("right", 1.375)) for batch in (1, 4, 16)
)  # fmt: skip


def test_an_id_of_a_task_that_recurs_is_what_ran() -> None:
    """What a check said of each task says nothing more."""
    rows = [("a", 1, 25.5), ("b", 2, 81.25), ("a", 1, 26.75), ("c", 3, 7.5), ("b", 2, 80.125)]
    text = "".join(f"{task},is {n} of 3,{time}\n" for task, n, time in rows)
    table = guessed(f"task_id,check_detail,time_s\n{text}")
    assert (table["task_id"].role, table["task_id"].is_given) == ("knob", True)
    assert table["check_detail"].role == "label"


@pytest.mark.parametrize(("name", "better"), [("latency", {"less"}), ("sizes", {None})])
def test_percentiles_of_a_file_are_what_its_name_says(
    name: str, better: set[str | None], tmp_path: Path
) -> None:
    rows = "".join(f"{n},{n * 7}.25,{n * 9}.5,{n * n + 80}.75\n" for n in (1, 2, 4))
    text = propose_for(put(tmp_path, {f"{name}.csv": f"threads,p50,p99,max\n{rows}"})).text
    sections = tomllib.loads(text)
    (table,) = sections["tables"]
    own = sections.get("columns", {})
    columns = {n: own.get(n, {}) | table["columns"][n] for n in ("p99", "max")}
    assert {each.get("better") for each in columns.values()} == better


def test_a_batch_is_work_where_no_rate_stands_beside_its_time() -> None:
    alone = guessed(BATCHES.replace("{}", ""))
    assert alone["batch"].is_given
    assert not alone["kind"].is_given
    header, *rows = BATCHES.splitlines()
    rated = [
        header.format(",images_per_s"),
        *(r.format(f",{90 + n / 7}") for n, r in enumerate(rows)),
    ]
    assert not guessed("\n".join(rated))["batch"].is_given
    times = [float(row.split(",")[2].removesuffix("{}")) for row in rows]
    falling = [r.replace(f",{t}{{}}", f",{50 / t}") for r, t in zip(rows, times, strict=True)]
    assert not guessed("\n".join([header.format(""), *falling]))["batch"].is_given


@pytest.mark.parametrize("is_set", [False, True])
def test_workloads_of_few_runs_each_stand_in_one_picture(is_set: bool, tmp_path: Path) -> None:
    """One with settings has a picture for itself."""
    rows = "".join(
        f"{name},{name}_k{n},{time},{time * (90.5 + len(lane))}{',' + lane if is_set else ''}\n"
        for n, (name, time) in enumerate(
            [("fft", 0.125), ("fft", 0.25), ("lu", 0.75), ("sort", 1.5), ("sort", 1.75)]
        )
        for lane in (("near", "far") if is_set else ("",))
    )
    head = f"workload,kernel,time_s,energy_j{',lane' if is_set else ''}\n"
    raw, lake = put(tmp_path / "raw", {"t.csv": head + rows}), tmp_path / "lake"
    assert main(["add", str(raw), "--lake", str(lake)]) == 0
    with open_lake(lake) as opened:
        workloads = opened.polars("SELECT DISTINCT workload FROM runs")["workload"].to_list()
    assert sorted(workloads) == (["fft", "lu", "sort"] if is_set else ["t"])


@pytest.mark.parametrize(
    ("times", "heading", "performance"),
    [
        # Each row ran as long as someone set: what was done in it tells them apart.
        ((60.125, 60.25, 60.0625, 60.1875), "total_events", "total_events"),
        ((60.125, 60.25, 60.0625, 60.1875), "jobs_total", "jobs_total"),
        # Nothing says that these are of work.
        ((60.125, 60.25, 60.0625, 60.1875), "odd_pages", "latency_avg"),
        ((60.125, 41.25, 83.0625, 52.1875), "total_events", "duration_s"),
    ],
)
def test_in_a_time_that_was_set_the_more_items_the_better(
    times: tuple[float, ...], heading: str, performance: str, tmp_path: Path
) -> None:
    rows = "".join(
        f"{lane},{n},{time},{4711 * n + 813},{90.125 / n}\n"
        for n, (lane, time) in enumerate(zip(("near", "far", "mid", "off"), times, strict=True), 1)
    )
    header = f"lane,trial,total_time,{heading},latency_avg\n"
    text = propose_for(put(tmp_path, {"t.csv": header + rows})).text
    assert f"performance: {performance}" in text


@pytest.mark.parametrize(
    ("headings", "performance"),
    [
        ("elapsed_sec,inference_ms,clip_fps,photo_fps", "clip_fps"),
        ("elapsed_sec,inference_ms,score,photo_fps", "inference_ms"),
        # Of the job is the energy, and nothing else is of items.
        ("elapsed_sec,inference_ms,energy_j,photo_fps", "duration_s"),
        ("elapsed_sec,load_ms,score,photo_fps", "duration_s"),
    ],
)
def test_the_time_of_a_job_comes_after_those_of_its_items(
    headings: str, performance: str, tmp_path: Path
) -> None:
    """A rate of 0 in all rows was not measured, however it is written."""
    rows = "".join(
        f"{side},{855.5 - 80 * n},{20.25 * n},{90.75 / n},{zero}\n"
        for n, (side, zero) in enumerate(zip("abcd", ("0.00", "0", "0.00", "0"), strict=True), 1)
    )
    text = propose_for(put(tmp_path, {"t.csv": f"backend,{headings}\n{rows}"})).text
    assert f"performance: {performance}" in text
    assert "photo_fps = { role = 'label'" in text


# Times of 2.5 to 9 s in us, and packages of 15 W: of s they would be of 15 uW.
MEANS_OF_DOMAINS = (
    "language,time_mean,time_cv%,pkg_mean,pkg_cv%,ram_mean,psys_mean,misses_mean\n"
    + (
        "a,2500310.5,1.5,37.25,1.25,2.125,41.5,90125.5\nb,9000250.25,0.5,136.5,2.5,7.25,151.25,7150.25\n"
        "c,4200125.5,2.5,62.75,0.75,3.375,70.25,81250.75\n"
    )
)


def test_means_of_domains_are_energies_that_decide_the_unit_of_the_time() -> None:
    columns = guessed(MEANS_OF_DOMAINS)
    assert (columns["pkg_mean"].quantity, columns["pkg_mean"].unit) == ("energy", "J")
    assert (columns["ram_mean"].quantity, columns["ram_mean"].unit) == ("energy", "J")
    time = columns["time_mean"]
    assert (time.to, time.unit, time.scale) == ("duration_s", "us", 1e-6)
    assert time.doubt
    assert next(guess for guess in columns.values() if guess.to == "energy_j").doubt
    assert (columns["pkg_cv%"].unit, columns["pkg_cv%"].quantity) == ("%", "")


def test_an_average_of_a_package_alone_is_an_energy_and_a_share_of_it_is_none() -> None:
    table = "app,pkg_avg,pkg_residency_avg,time_s\na,150.5,31.5,10.5\nb,310.25,62.25,20.25\n"
    columns = guessed(table)
    assert columns["pkg_avg"].to == "energy_j"
    assert columns["pkg_residency_avg"].quantity == ""


def test_a_memory_beside_dram_is_no_energy() -> None:
    table = "app,package,dram,ram,time_s\na,150.5,31.5,9.5,10.5\nb,310.25,62.25,9.25,20.25\n"
    assert guessed(table)["ram"].quantity == ""
    assert guessed(table.replace(",dram,", ",psys,"))["ram"].quantity == "energy"

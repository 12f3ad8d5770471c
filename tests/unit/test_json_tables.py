"""Tables in documents of JSON and YAML: which objects are runs, what parents say, lists."""

import json
from pathlib import Path
from typing import Any

import pytest

from data.errors import FormatError
from ingest.formats import FORMATS, find_format
from ingest.formats.documents import close_document, parse_document
from ingest.formats.table import read
from ingest.records import ReadContext, SummaryTable
from ingest.settings.loading import load_settings
from tests.fixtures.ingest import details, ingest, put, query, runs
from tests.fixtures.tool_outputs import captured

SHIPPED = load_settings()


def table(content: bytes, size: int = 1 << 20) -> SummaryTable:
    blocks = (content[at : at + size] for at in range(0, len(content), size))
    return read(blocks, ReadContext("t.json", 0.0, tables=SHIPPED.tables_of("/t.json")))


def rows(document: Any) -> list[dict[str, Any]]:
    return [row.values for row in table(json.dumps(document).encode()).rows]


@pytest.mark.parametrize("size", [1, 13, 1 << 20])
def test_the_longest_list_is_the_table_and_parents_are_carried(size: int) -> None:
    document = {
        "host": "n1", "gpu": {"cap": 300}, "fans": [{"rpm": 1}],
        "runs": [{"energy": 1.5, "set": {"cores": 2}}, {"energy": 2.5, "set": {"cores": 4}}],
    }  # fmt: skip
    content = json.dumps(document, indent=1).encode()
    assert [f.name for f in FORMATS if f.sniff("t.json", content)] == ["table"]
    read_ = table(content, size)
    assert [row.values for row in read_.rows] == [
        {"host": "n1", "gpu_cap": 300, "energy": 1.5, "set_cores": 2},
        {"host": "n1", "gpu_cap": 300, "energy": 2.5, "set_cores": 4},
    ]
    assert (read_.others, read_.problems[0].kind) == ([], "undeclared_columns")


def test_keys_of_dictionaries_are_knobs() -> None:
    """Keys that number their objects, or repeat their values, say nothing."""
    inner = {"0": {"energy": 1.0, "time": 2.0}, "1": {"energy": 3.0, "time": 4.0}}
    document = {"models": {"a": inner, "b": inner}}
    read_ = table(json.dumps(document).encode())
    assert [row.values for row in read_.rows][1:3] == [
        {"models": "a", "energy": 3.0, "time_real": 4.0},
        {"models": "b", "energy": 1.0, "time_real": 2.0},
    ]
    assert [c.name for c in read_.columns if c.role == "knob"] == ["models"]
    assert rows({"1,x": {"n": 1, "s": "x", "j": 2.5}, "2,x": {"n": 2, "s": "x", "j": 3.5}}) == [
        {"n": 1, "s": "x", "j": 2.5}, {"n": 2, "s": "x", "j": 3.5},
    ]  # fmt: skip


def run(energy: float) -> dict[str, float]:
    return {"energy_j": energy, "time_s": energy / 4}


SAMPLES = 10
# 50 W for ten steps of 2 s; an account that rises by 100 J a step.
TIMES, WATTS = [2.0 * n for n in range(SAMPLES)], [49.0, 51.0] * (SAMPLES // 2)
JOULES = [3000.0 + 100 * n for n in range(SAMPLES)]
OF_POWER = {"duration_s": 20.0, "power_w": 50.0, "energy_j": 1000.0}


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        ({"time_s": TIMES, "power_w": WATTS}, OF_POWER),
        ({"timestamps": [1_700_000_000 + t for t in TIMES], "power_readings": WATTS}, OF_POWER),
        ({"monitor": {"elapsed_ms": [1000 * t for t in TIMES], "power_w": WATTS}}, OF_POWER),
        ({"samples": [{"t": t, "power_w": w} for t, w in zip(TIMES, WATTS, strict=True)]},
         OF_POWER),
        ({"time_s": TIMES, "energy_j": JOULES}, {"duration_s": 18.0, "energy_j": 900.0}),
        # Five runs each.
        ({"time_s": [8.5, 8.75, 8.25, 8.5, 8.5], "energy_j": [90.5, 91.5, 89.5, 90.5, 90.5]},
         {"duration_s": 8.5, "energy_j": 90.5}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_one_file", [True, False])
def test_lists_of_samples_are_no_replicates(
    samples: dict[str, Any], expected: dict[str, float], is_one_file: bool,
    lake: Path, tmp_path: Path,
) -> None:  # fmt: skip
    """A duration is the length of the samples, not the mean of their times."""
    objects = [{"codec": codec, "crf": crf, **samples, "fps": 30.5 + crf}
               for codec in ("av1", "vp9") for crf in (20, 30)]  # fmt: skip
    for number, each in enumerate(objects):
        if not is_one_file:
            put(tmp_path / f"study/r{number}.json", json.dumps(each))
    if is_one_file:
        put(tmp_path / "study/all.json", json.dumps({"results": objects}))
    ingest(lake, tmp_path / "study", is_proposing=True)
    found = query(lake, f"SELECT codec, crf, fps, {', '.join(expected)} FROM runs")
    assert len(found) == len(objects)
    for row in found:
        assert {name: row[name] for name in expected} == pytest.approx(expected)
        assert row["fps"] == 30.5 + row["crf"]


@pytest.mark.parametrize(("beside", "count"), [({"temp_c": 41.5}, 1), ({"latency_ms": 4.5}, 6)])
def test_moments_beside_a_result_are_of_one_run(beside: dict[str, float], count: int) -> None:
    """A state at some moments is no run; a request that says how long it took may be one."""
    dates = [f"2025-03-04T10:00:0{n}.250000" for n in range(6)]
    series = [{"timestamp": date, "gpu_freq_hz": 734_000_000, **beside} for date in dates]
    document = {
        "meta": {"backend": "cpu"}, "benchmark_results": {"tokens_per_sec": 26.5},
        "events": [{"name": "load", "timestamp": date} for date in dates], "timeseries": series,
    }  # fmt: skip
    found = rows(document)
    assert len(found) == count
    assert {row["benchmark_results_tokens_per_sec"] for row in found} == {26.5}


@pytest.mark.parametrize(
    "beside", [{"time_s": 8.5}, {}, {"threads": 1}], ids=["times", "energies", "settings"]
)
def test_objects_that_begin_one_after_the_other_may_be_runs(beside: dict[str, Any]) -> None:
    """Each says how long it took or has an energy that does not rise, or something was set."""
    inner = [
        {"timestamp": 1_700_000_000 + 10 * n, "energy_j": 90.5 + n % 3}
        | {name: n + value for name, value in beside.items()}
        for n in range(8)
    ]
    found = rows({"runs": [{"codec": codec, "samples": inner} for codec in ("av1", "vp9")]})
    assert len(found) == 2 * len(inner)


def test_keys_number_the_replicates() -> None:
    inner = {f"run_{n}": {"energy_j": 10.5 + n, "time_s": 2.5} for n in (1, 2, 3)}
    found = rows({"lz4": {"results": inner}, "zstd": {"results": inner}})
    assert [row["run"] for row in found] == [1, 2, 3] * 2


@pytest.mark.parametrize(
    ("document", "beside"),
    [
        # A note beside numbers or names, at each level.
        ({"a": {"1": run(1.5), "2": run(2.5)}, "b": {"1": run(3.5), "2": run(4.5)}, "note": "x"},
         {"note": ["x"] * 4}),
        ({"a": {"1": run(1.5), "2": run(2.5), "done by": "me"}, "b": {"1": run(3.5), "2": run(4.5)}
          }, {"done_by": ["me", "me", None, None]}),
        ({"a": {"1": run(1.5), "2": run(2.5)}, "b": {"x": run(3.5), "y": run(4.5), "_comment": "z"}
          }, {"comment": [None, None, "z", "z"]}),
        # What holds for all.
        ({"a": run(1.5), "b": run(2.5), "c": run(3.5), "d": run(4.5), "meta": {"host": "n1"}},
         {"meta_host": ["n1"] * 4}),
        # Of one name there is one setting.
        ({"a": {"1": run(1.5), "2": run(2.5), "4": run(3.5)}, "b": {"8": run(4.5)}}, {}),
    ],
)  # fmt: skip
def test_notes_and_single_settings_hide_no_rows(
    document: Any, beside: dict[str, list[str | None]]
) -> None:
    found = rows(document)
    assert [row["energy_j"] for row in found] == [1.5, 2.5, 3.5, 4.5]
    assert {name: [row.get(name) for row in found] for name in beside} == beside
    assert {*found[0]} - {"key", "key_2", *beside} == {"energy_j", "time_s"}


def test_parts_of_one_run_are_columns() -> None:
    """A text that is no note, or a measurement as a key: the objects are of one run."""
    (row,) = rows({"host": "n1", "cpu": run(1.5), "gpu": run(2.5)})
    assert (row["cpu_energy_j"], row["gpu_energy_j"]) == (1.5, 2.5)


def test_a_note_beside_cells_that_are_runs_is_no_setting(lake: Path, tmp_path: Path) -> None:
    document = {"a": {"1200": 1.5, "2400": 2.5}, "b": {"1200": 3.5, "2400": 4.5, "note": "hot"}}
    put(tmp_path / "energy_j.json", json.dumps(document))
    ingest(lake, tmp_path, is_proposing=True)
    found = query(lake, "SELECT energy_j, note FROM runs ORDER BY energy_j")
    assert [(*row.values(),) for row in found] == [
        (1.5, None), (2.5, None), (3.5, "hot"), (4.5, "hot"),
    ]  # fmt: skip


def test_lists_of_numbers_are_summarised_and_pairs_are_columns() -> None:
    """The mean of 1, 2, 3, 4 and 5 is 3, the sample deviation sqrt(2.5)."""
    (row,) = rows([{"v": [1, 2, 3, 4, 5], "m": [{"name": "skin", "value": 9.5, "unit": "K"}]}])
    assert row == {
        "v_n": 5, "v_mean": 3.0, "v_sd": pytest.approx(2.5**0.5), "v_p50": 3.0,
        "v_p99": pytest.approx(4.96), "skin_k": 9.5,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "flags"),
    [("times_ms", "aggregate"), ("energies_j", "aggregate"), ("power_w", ""), ("latency_ms", "")],
)
def test_only_lists_of_times_and_energies_are_of_several_runs(
    name: str, flags: str, lake: Path, tmp_path: Path
) -> None:
    """Powers are samples of one run, and latencies are of its requests."""
    rows = [{"clock_mhz": clock, "load_w": 20.5, name: [4, 5, 6.5]} for clock in (600, 900)]
    put(tmp_path / "clocks.json", json.dumps(rows))
    ingest(lake, tmp_path, is_proposing=True)
    assert [each["flags"][:1] for each in runs(lake, "flags")] == [[flags] if flags else []] * 2


def test_a_document_with_the_energy_is_the_run_of_its_requests() -> None:
    requests = [{"latency": 1.0, "tokens": 3}, {"latency": 3.0, "tokens": 5}]
    (row,) = rows({"model": "m", "energy_j": 50.5, "results": requests})
    assert (row["model"], row["energy_j"]) == ("m", 50.5)
    assert (row["results_latency_mean"], row["results_tokens_n"]) == (2.0, 2)


@pytest.mark.parametrize(
    "document",
    [
        {"a": [1, 2], "energy": [3.5, 4.5]},
        {"columns": ["a", "energy"], "index": [0, 1], "data": [[1, 3.5], [2, 4.5]]},
        {"a": {"0": 1, "1": 2}, "energy": {"0": 3.5, "1": 4.5}},
        [{"a": 1, "energy": 3.5}, {"a": 2, "energy": 4.5}],
    ],
)
def test_every_orientation_of_a_data_frame(document: Any) -> None:
    assert rows(document) == [{"a": 1, "energy": 3.5}, {"a": 2, "energy": 4.5}]


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "app", "version": "1.0.0", "private": true}',
        '{"nbformat": 4, "cells": [{"execution_count": 1, "time": 2}, {"execution_count": 3}]}',
        '{"hidden_size": 4096, "rope_theta": 500000.0}',
        '{"lockfileVersion": 3, "packages": {"a": {"size": 1}, "b": {"size": 2}}}',
        "[1, 2, 3]", "{", "[]", "{}",
    ],
)  # fmt: skip
def test_other_documents_are_no_tables(text: str) -> None:
    assert find_format("x.json", text.encode()) is None


def test_two_tables_of_a_document_are_two_tables_of_runs(lake: Path, tmp_path: Path) -> None:
    part = [{"energy_j": 1.5, "n": n} for n in range(3)]
    (tmp_path / "t.json").write_text(json.dumps({"cpu": part, "gpu": part[:2]}))
    report = ingest(lake, tmp_path / "t.json")
    assert (report.added, report.rows.read, len(details(report, "unknown_system"))) == (5, 5, 2)
    assert ingest(lake, tmp_path / "t.json").unchanged == 5


def test_objects_like_the_rows_in_another_place_are_named() -> None:
    """Keys that are numbers say no name."""
    sweep = {str(rate): {"power": [300.5 + rate], "ts": ["t"]} for rate in (4, 8)}
    document = {"idle": {"31": {"power": [265.5], "ts": ["t"]}}, "test": {"32": sweep}}
    read_ = table(json.dumps(document).encode())
    assert [row.values["key"] for row in read_.rows] == [4, 8]
    assert [p.detail for p in read_.problems if p.kind == "other_objects"] == [
        "1 object like the rows stands apart, and is none: idle/31"
    ]


def test_a_cut_document_keeps_its_whole_rows() -> None:
    """A cache is written row by row, and closed when the tuning ends."""
    text = '{"a": [{"energy": 1.5, "s": "x]"}, {"energy": 2.5, "s": "y"}, {"ener'
    assert close_document(text) == '{"a": [{"energy": 1.5, "s": "x]"}, {"energy": 2.5, "s": "y"}]}'
    cut = table(text.encode())
    assert [row.values["energy"] for row in cut.rows] == [1.5, 2.5]
    assert next((p.kind, p.severity) for p in cut.problems) == ("cut_document", "repaired")


@pytest.mark.parametrize("end", ['"s": "y", "n": [7, 8', '"s": {"n": 7},', ""])
def test_an_object_that_a_cut_document_does_not_end_is_no_row(end: str) -> None:
    """Of a list inside it, a part would be there; one whole object alone is no table."""
    whole = '{"a": [{"energy": 1.5, "n": [1, 2]}'
    text = f'{whole}, {{"energy": 2.5, "n": [3, 4]}}, {{"energy": 3.5, {end}'
    assert [row.values["energy"] for row in table(text.encode()).rows] == [1.5, 2.5]
    with pytest.raises(FormatError, match=r"ends in line 2, before two objects are whole"):
        table(f'{whole},\n{{"energy": 2.5, {end}'.encode())


def test_yaml_is_read_as_json_is() -> None:
    """Only what YAML 1.2 takes for a number is one; keys are texts; several documents are a list.

    A file whose last line was cut is read up to that line.
    """
    text = (
        "at: 12:30\nid: 007\nstep: 1e-5\nno: off\n1: &d {n: 2, ok: true}\n"
        "2: {<<: *d, n: -3.5}\nempty:\nday: 2024-01-02\nwatts: ['1.50', .nan, 2]\n"
    )
    one, is_cut = parse_document(text, "a.yml")
    not_a_number = one["watts"][1]
    assert (is_cut, not_a_number == not_a_number) == (False, False)
    assert one == {
        "at": "12:30", "id": "007", "step": 1e-5, "no": "off", "1": {"n": 2, "ok": True},
        "2": {"n": -3.5, "ok": True}, "empty": None, "day": "2024-01-02",
        "watts": ["1.50", not_a_number, 2],
    }  # fmt: skip
    assert parse_document("n: 1\n---\nn: 2\n", "a.yaml.gz")[0] == [{"n": 1}, {"n": 2}]
    assert parse_document("- n: 1\n- n: 2\n  energ", "a.yaml") == ([{"n": 1}, {"n": 2}], True)
    bomb = "a: &a [1, 1]\n" + "".join(
        f"{n}: &{n} [{', '.join([f'*{before}'] * 9)}]\n"
        for before, n in zip("abcdefgh", "bcdefghi", strict=True)
    )
    for wrong in (bomb, "a: &a {b: *a}\n", "a: [1\n{b"):
        with pytest.raises(FormatError, match="no YAML document: "):
            parse_document(wrong, "a.yaml")


@pytest.mark.parametrize(
    ("text", "is_table"),
    [
        ("job:\n  nodes: 4\nresult:\n  energy_j: 12.5\n", True),
        ("- {threads: 1, elapsed: 2.5}\n- {threads: 2, elapsed: 1.5}\n", True),
        # Configurations of programs, and of the study itself.
        ("services:\n  web: {ports: 80, timeout_s: 30}\n  db: {ports: 54, timeout_s: 9}\n", False),
        ("periodSeconds: 10\nreplicas: 3\n", False),
        ("power: 150\nelapsed: 60\n", False),
        ("powers: [100, 150, 200, 250, 300]\n", False),
        ("duration: 60\nthreads: [1, 2, 4]\npower_limit_w: 150\nrps: 100\n", False),
    ],
)
def test_yaml_is_a_table_where_it_has_results(text: str, is_table: bool) -> None:
    form = find_format("a.yaml", text.encode())
    assert (form.name if form else None) == ("table" if is_table else None)
    assert find_format("a.txt", text.encode()) is not form or form is None


TOOLS = [
    # File, runs, values of the first run, knobs.
    ("hyperfine.json", 10, {"duration_s": 0.00098662, "parameters_size": 1000},
     {"parameters_size"}),
    ("google_benchmark.json", 9, {"duration_s": 1.471660430982292e-08, "replicate": 0},
     {"function", "arg", "arg_2", "arg_3"}),
    ("hyperfine.csv", 5, {"duration_s": 0.6383337346000001, "cpu_system": 0.013934999999999998},
     set()),
    ("pyperf.json", 7, {"benchmark": "sort_100"}, {"benchmark"}),
    ("pytest_benchmark.json", 2,
     {"duration_s": 1.2718000334643876e-06, "sd_duration_s": 3.5947561128350225e-07,
      "aggregate_n": 5, "test": "test_sum"},
     {"test", "params_n"}),
    ("pytest_benchmark_no_data.json", 2, {"aggregate_n": 5}, {"test", "params_n"}),
    ("kernel_tuner_cache.json", 3, {"duration_s": 5.48177994787693e-05, "aggregate_n": 5},
     {"unroll"}),
    ("kernel_tuner_t4.json", 3, {"duration_s": 5.48177994787693e-05, "aggregate_n": 5},
     {"configuration_unroll"}),
]  # fmt: skip


def test_threads_in_a_name_of_google_benchmark_are_no_argument() -> None:
    """The CSV has no column of threads, the JSON has one."""
    names = ("function", "arg", "arg_2", "arg_3", "threads")
    rows = [
        tuple(map(row.values.get, names)) for row in table(captured("google_benchmark.csv")).rows
    ]
    assert rows[0] == ("BM_memcpy", 64, None, None, None)
    assert rows[5:] == [
        ("BM_sort", size, 1, None, threads) for size in (1000, 10_000) for threads in (1, 2)
    ]
    row = {"name": "BM_x/8/threads:2", "iterations": 5, "cpu_time": 1.0, "real_time": 1.0}
    row |= {"time_unit": "ns", "threads": 2}
    document = {"context": {"date": "2026-11-26"}, "benchmarks": [row, row | {"name": "BM_x/9"}]}
    (first, _) = table(json.dumps(document).encode()).rows
    assert tuple(map(first.values.get, names)) == ("BM_x", 8, None, None, 2)


@pytest.mark.parametrize(
    ("name", "count", "values", "knobs"), TOOLS, ids=[name for name, *_ in TOOLS]
)
def test_what_a_tool_wrote(name: str, count: int, values: dict[str, Any], knobs: set[str]) -> None:
    content = captured(name)
    assert [f.name for f in FORMATS if f.sniff(name, content[: 1 << 16])] == ["table"]
    read_ = table(content)
    first = next(iter(read_.rows)).values
    assert (len(read_.rows), read_.refused) == (count, 0)
    assert {key: first[key] for key in values} == pytest.approx(values)
    assert {c.name for c in read_.columns if c.role == "knob"} == knobs

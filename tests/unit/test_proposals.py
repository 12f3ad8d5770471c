"""What headings and cells of undeclared tables are taken for; `add` of folders without settings.

Tables in the style of published sweeps: LLM inference, power caps, GPU clocks, CodeCarbon, JVMs.
"""

import csv
import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.connection import open_lake
from data.declared import from_settings
from data.errors import DataError
from ingest.__main__ import main
from ingest.formats.logged_rows import logged_rows
from ingest.formats.written_numbers import written_numbers
from ingest.lake.proposals import read_proposals
from ingest.proposals.columns import guess_columns
from ingest.proposals.latency_units import NO_UNIT
from ingest.proposals.like_columns import replicate_pattern
from ingest.proposals.path_parts import read_paths
from ingest.proposals.replicates import MAYBE_SETTINGS
from ingest.proposals.roles import Guess, guess_of
from ingest.propose import propose_for
from ingest.settings.headings import read_heading, without_unit
from ingest.settings.loading import load_settings
from tests.fixtures.ingest import put
from tests.fixtures.real import studies


@pytest.mark.parametrize(
    ("heading", "unit", "quantity", "scale"),
    [
        ("Energy (J)", "J", "energy", 1),
        ("energy_usage_J", "J", "energy", 1),
        ("Energy_mJ", "mJ", "energy", 1e-3),
        ("energyUJ", "uJ", "energy", 1e-6),
        ("Energy (Watt\N{DOT OPERATOR}sec)", "J", "energy", 1),
        ("watt_hours", "Wh", "energy", 3600),
        ("Total Energy [kWh]", "kWh", "energy", 3.6e6),
        ("Power (mW)", "mW", "power", 1e-3),
        ("avg_power_watts", "W", "power", 1),
        ("power.draw [W]", "W", "power", 1),
        ("joules_per_second", "W", "power", 1),
        ("Time [ms]", "ms", "time", 1e-3),
        ("elapsedMs", "ms", "time", 1e-3),
        ("time_ms_2", "ms", "time", 1e-3),
        ("energy_mJ_3", "mJ", "energy", 1e-3),
        ("latency_p99_us", "us", "time", 1e-6),
        ("energy_kwh_1m_tokens", "kWh", "energy", 3.6e6),
        ("time_ms_total_run", "ms", "time", 1e-3),
        ("Run time (m)", "min", "time", 60),
        ("Build (min)", "min", "time", 60),
        ("freq_ghz", "GHz", "frequency", 1e9),
        ("clocks.sm [MHz]", "MHz", "frequency", 1e6),
        ("battery mAh", "mAh", "charge", 3.6),
        ("Throughput (ops/sec)", "ops/s", "rate", 1),
        ("throughput_ops_s", "ops/s", "rate", 1),
        ("samples/s", "samples/s", "rate", 1),
        ("rx_mpps", "Mpackets/s", "rate", 1),
        ("tokens_per_joule", "tokens/J", "rate", 1),
        ("energy_per_token_j", "J/token", "price", 1),
        ("Temp (C)", "\N{DEGREE SIGN}C", "temperature", 1),
        ("memory_GiB", "GiB", "bytes", 1024**3),
        ("bs.KiB", "KiB", "bytes", 1024),
        ("EDP (J*s)", "J s", "", 1),
        ("edp_uJ_ms", "uJ ms", "", 1),
        ("energy_per_mac_pJ", "pJ/mac", "price", 1),
        ("power/W", "W", "power", 1),
        ("gen_tps", "1/s", "rate", 1),
        ("results.ttft_ms.p99", "ms", "time", 1e-3),
        ("power_mw_mean", "mW", "power", 1e-3),
        ("Time / ms", "ms", "time", 1e-3),
        ("inference_ms_mean", "ms", "time", 1e-3),
        ("fps_mean", "frames/s", "rate", 1),
        ("Runtime (s)", "s", "time", 1),
        ("Energy/inf (mJ)", "mJ/inf", "price", 1),
        ("Energy per Frame (J)", "J/frame", "price", 1),
        ("I/O time (ms)", "ms", "time", 1e-3),
    ],
)
def test_a_heading_says_its_unit(heading: str, unit: str, quantity: str, scale: float) -> None:
    found = read_heading(heading).unit
    assert found is not None
    assert (found.text, found.quantity, found.scale) == (unit, quantity, pytest.approx(scale))


@pytest.mark.parametrize(
    "heading",
    ["runtime_min", "temp_c", "E", "I/O time", "batch_size", "Core(s)", "Params (M)", "Range (m)",
     "Time (M)", "Power (min)", "Latency (min)", "Idle 12v", "cap_150W"],
)  # fmt: skip
def test_a_heading_without_unit_says_none(heading: str) -> None:
    assert read_heading(heading).unit is None


@dataclass(frozen=True)
class Sweep:
    """A table: what is set, crossed, with three rows each; and what is measured of row number n."""

    set: dict[str, list[Any]]
    measured: dict[str, Any]

    def rows(self) -> Iterator[dict[str, str]]:
        number = 0
        for values in product(*self.set.values()):
            for _ in range(3):
                number += 1
                row = dict(zip(self.set, values, strict=True))
                row |= {name: make(number) for name, make in self.measured.items()}
                yield {name: str(value) for name, value in row.items()}

    def guesses(self) -> dict[str, Guess]:
        rows = [*self.rows()]
        headings = [*rows[0]]
        columns = [[row[name] for row in rows] for name in headings]
        return {g.heading.text: g for g in guess_columns(headings, columns, {}, {})}


# By style: what is set and measured, and what each heading must become: `knob`, `metric`, `label`,
# or the column of the lake and the factor.
SWEEPS: dict[str, tuple[Sweep, dict[str, Any]]] = {
    "llm inference": (
        Sweep(
            {"Model": ["llama-7b", "opt-1b"], "batch_size": [1, 8], "input_tokens": [128, 512]},
            {
                "Power (mW)": lambda n: 200_000 + 137.5 * n,
                "Latency (ms)": lambda n: 100 + 7.25 * n,
                "Energy per Token (J)": lambda n: 1.5 + n / 100,
                "tokens_per_second": lambda n: 90 + n / 7,
            },
        ),
        {
            "Model": "knob", "batch_size": "knob", "input_tokens": "knob",
            "Power (mW)": ("power_w", 1e-3), "Latency (ms)": ("latency_mean_us", 1e3),
            "Energy per Token (J)": "metric", "tokens_per_second": "metric",
        },
    ),
    # 3 J in 0.15 s are 20 W; joules in seconds would be as many.
    "domains of RAPL without a word": (
        Sweep(
            {"tool": ["gnu", "busybox"], "variant": [1, 2]},
            {
                "CORE": lambda n: 1_500_000 + 997 * n, "CPU": lambda n: 3_000_000 + 997 * n,
                "DRAM": lambda n: 250_000 + 97 * n, "PSYS": lambda n: 9_000_000 + 997 * n,
                "DURATION": lambda n: 150_000 + 7 * n,
            },
        ),
        {
            "tool": "knob", "variant": "knob", "CORE": "metric", "CPU": ("energy_j", 1e-6),
            "DRAM": "metric", "PSYS": "metric", "DURATION": ("duration_s", 1e-6),
        },
    ),
    "what a machine has, parts and what goes with names": (
        Sweep(
            {"task": ["sum", "chat", "code"], "quant": ["q4", "q8"]},
            {
                "num problems": lambda n: (100, 164, 1140)[(n - 1) // 6],
                "ram_total_size": lambda n: (15.473289489746094, 15.512367248535156)[n % 2],
                "peak_clock_mhz": lambda n: (2130.0, 2475.0)[n % 2],
                "CPU Avg. Power (W)": lambda n: 29 + n / 10,
                "Total Energy (kJ)": lambda n: 130 + n,
                "Elapsed Time (s)": lambda n: 1900 + n,
                "EDP (J*s)": lambda n: 247e6 + n,
            },
        ),
        {
            "task": "knob", "quant": "knob", "num problems": "label", "ram_total_size": "metric",
            "peak_clock_mhz": "metric", "CPU Avg. Power (W)": ("", 1),
            "Total Energy (kJ)": ("energy_j", 1e3), "Elapsed Time (s)": ("duration_s", 1),
            "EDP (J*s)": "metric",
        },
    ),
    # A program counts ns and tokens; texts and statistics are no settings, a host is one.
    "logs of a server": (
        Sweep(
            {"host_id": ["desktop", "laptop"], "task": ["chat", "code"]},
            {
                "run_id": lambda n: f"pilot-{n % 3}",
                "Total_Dur": lambda n: 19_145_272_292 + 997 * n,
                "Eval_Count": lambda n: 400 + n,
                "prompt": lambda n: f"Answer {n % 2}.\nA) yes\nB) no",
                "tokens.ci_95_lower": lambda n: (200.0, 800.0)[n % 2],
                "energy_source": lambda n: "ab"[(n - 1) // 6],
                "gpu_energy_joules": lambda n: 900 + n / 7,
            },
        ),
        {
            "host_id": "knob", "task": "knob", "run_id": "label", "Total_Dur": ("duration_s", 1e-9),
            "Eval_Count": "metric", "prompt": "label", "tokens.ci_95_lower": "metric",
            "energy_source": "label", "gpu_energy_joules": ("energy_j", 1),
        },
    ),
    "a size as a number and as a word": (
        Sweep(
            {"model": ["a", "b"], "input_kb": [0.027, 0.095]},
            {
                "prompt_size": lambda n: ("small", "large")[(n - 1) // 3 % 2],
                "energy_j": lambda n: 400 + n / 7,
            },
        ),
        {"model": "knob", "input_kb": "label", "prompt_size": "knob", "energy_j": ("energy_j", 1)},
    ),
    # 100 kJ in 2 s are no power: the time is of an item. Two powers without a unit are too large.
    "means of items": (
        Sweep(
            {"quant": ["q4", "q8"]},
            {
                "Energy (J)": lambda n: 100_000 + n, "mean inference time (s)": lambda n: 2 + n / 9,
                "frame_rate": lambda n: 116 + n / 9,
            },
        ),
        {
            "quant": "knob", "Energy (J)": ("energy_j", 1), "mean inference time (s)": ("", 1),
            "frame_rate": "metric",
        },
    ),
    "powers of a laptop": (
        Sweep(
            {"build": ["mono", "aot"]},
            {"cpu_power": lambda n: 1700 + n, "gpu_power": lambda n: 14_300 + n},
        ),
        {"build": "knob", "cpu_power": "metric", "gpu_power": "metric"},
    ),
    # 6.4 kW and more are of several machines.
    "powers of a cluster": (
        Sweep({"nodes": [16, 32]}, {"power": lambda n: 6400 * n, "time_s": lambda n: 27 + n}),
        {"nodes": "knob", "power": ("power_w", 1), "time_s": ("duration_s", 1)},
    ),
    "powers of a rack with their energies": (
        Sweep(
            {"policy": ["a", "b"]},
            {"power": lambda n: 6400 + n, "time_s": lambda n: 27 + n,
             "energy_j": lambda n: (6400 + n) * (27 + n)},
        ),
        {"policy": "knob", "power": ("power_w", 1), "time_s": ("duration_s", 1),
         "energy_j": ("energy_j", 1)},
    ),
    "powers that energies say to be mW": (
        Sweep(
            {"policy": ["a", "b"]},
            {"power": lambda n: 900 + 99 * n, "time_s": lambda n: 27 + n,
             "energy_j": lambda n: 1.02 * (0.9 + 0.099 * n) * (27 + n)},
        ),
        {"policy": "knob", "power": ("power_w", 1e-3), "time_s": ("duration_s", 1),
         "energy_j": ("energy_j", 1)},
    ),
    # pandas writes the number of the row without a heading.
    "an index": (
        Sweep(
            {"governor": ["performance", "powersave"]},
            {"": lambda n: n - 1, "energy_j": lambda n: 90.5 + n},
        ),
        {"governor": "knob", "": "label", "energy_j": ("energy_j", 1)},
    ),
    "rapl caps in ms without units": (
        # 30 J in 2,000 of a time: 15 W if they are ms.
        Sweep(
            {"program": ["nbody", "fasta"], "PowerLimit": [-1, 5, 15]},
            {
                "Package": lambda n: 30 + n / 9 if n != 4 else 30 - 2.0**18,
                "DRAM": lambda n: 3 + n / 9,
                "Time": lambda n: 2000 + n,
            },
        ),
        {
            "program": "knob", "PowerLimit": "knob", "Package": ("energy_j", 1),
            "DRAM": "metric", "Time": ("duration_s", 1e-3),
        },
    ),
    "microjoules and epochs": (
        Sweep(
            {"benchmark": ["bt", "cg"], "power_cap": [60, 80]},
            {
                "start_time": lambda n: 1_714_000_000_000 + 9_000 * n,
                "energy_uj": lambda n: 4.1e8 + n,
                "time": lambda n: 5000 + n,
            },
        ),
        {
            "benchmark": "knob", "power_cap": "knob", "start_time": "label",
            "energy_uj": ("energy_j", 1e-6), "time": ("duration_s", 1e-3),
        },
    ),
    "clocks in kHz": (
        Sweep(
            {"core_frequency": [800_000, 1_600_000, 3_200_000], "threads": [1, 2]},
            {
                "average_power": lambda n: 20 + n / 3,
                "execution_time": lambda n: 9 + n / 7,
                "ipc": lambda n: 1 + n / 100,
            },
        ),
        {
            "core_frequency": "knob", "threads": "knob", "average_power": ("power_w", 1),
            "execution_time": ("duration_s", 1), "ipc": "metric",
        },
    ),
    "codecarbon": (
        Sweep(
            {"model_name": ["bert", "roberta"], "learning_rate": [1e-5, 3e-5]},
            {
                "run_id": lambda n: f"{n:08x}-77aa",
                "duration": lambda n: 300.5 + n,
                "energy_consumed": lambda n: 0.02 + n / 1e4,
                "cpu_energy": lambda n: 0.01 + n / 1e4,
                "emissions": lambda n: 0.004 + n / 1e5,
                "country_name": lambda _: "Denmark",
                "accuracy": lambda n: 0.8 + n / 1000,
            },
        ),
        {
            "model_name": "knob", "learning_rate": "knob", "run_id": "label",
            "duration": ("duration_s", 1), "energy_consumed": ("energy_j", 3.6e6),
            "cpu_energy": "metric", "emissions": "metric", "country_name": "label",
            "accuracy": "metric",
        },
    ),
    "gpu clocks": (
        Sweep(
            {"clocks.sm [MHz]": [510, 810, 1410]},
            {
                "clocks.mem [MHz]": lambda _: 1215,
                "power.draw [W]": lambda n: 90.5 + n,
                "runtime [ms]": lambda n: 80 + n / 3,
                "temperature.gpu": lambda n: 40 + n % 4,
                "utilization.gpu [%]": lambda n: 90 + n % 4,
            },
        ),
        {
            "clocks.sm [MHz]": "knob", "clocks.mem [MHz]": "label",
            "power.draw [W]": ("power_w", 1), "runtime [ms]": ("duration_s", 1e-3),
            "temperature.gpu": "metric", "utilization.gpu [%]": "metric",
        },
    ),
    "jvm": (
        Sweep(
            {"JVM": ["OpenJ9", "HotSpot"], "GC": ["G1", "Serial"], "Benchmark": ["h2", "xalan"]},
            {
                "Iteration": lambda n: (n - 1) % 3 + 1,
                "Heap Size": lambda _: "4g",
                "Package Energy (J)": lambda n: 200 + n / 7,
                "DRAM Energy (J)": lambda n: 20 + n / 7,
                "Execution Time (s)": lambda n: 5 + n / 7,
            },
        ),
        {
            "JVM": "knob", "GC": "knob", "Benchmark": "knob", "Heap Size": "label",
            "Iteration": ("replicate", 1), "Package Energy (J)": ("energy_j", 1),
            "DRAM Energy (J)": "metric", "Execution Time (s)": ("duration_s", 1),
        },
    ),
    "columns that say again": (
        Sweep(
            {"function": ["fft", "sort"], "runtime": ["go", "java17"], "size": [256, 512, 1024],
             "voltage": [0.8, 0.9]},
            {"image": lambda n: ["fft:go", "fft:java17", "sort:go", "sort:java17"][(n - 1) // 18],
             "cpu_quota": lambda n: (0.25, 0.5, 1.0)[(n - 1) // 6 % 3],
             "lat.us": lambda n: 80.5 + n, "mean.power.W": lambda n: 5.5 + n / 10},
        ),
        {
            "function": "knob", "runtime": "knob", "size": "knob", "voltage": "knob",
            "image": "label", "cpu_quota": "label", "lat.us": ("latency_mean_us", 1),
            "mean.power.W": ("power_w", 1),
        },
    ),
    "score with its metric": (
        Sweep(
            {"Category": ["azul", "native"], "Type": ["quick", "merge"]},
            {"Score": lambda n: 400 + n / 7, "Score Metric": lambda _: "Energy (Watt sec)"},
        ),
        {
            "Category": "knob", "Type": "knob", "Score": ("energy_j", 1), "Score Metric": "label",
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("style", SWEEPS)
def test_columns_are_knobs_metrics_and_labels(style: str) -> None:
    sweep, expected = SWEEPS[style]
    found = {}
    for heading, guess in sweep.guesses().items():
        is_plain = isinstance(expected[heading], str)
        found[heading] = guess.role if is_plain else (guess.to, pytest.approx(guess.scale))
    assert found == expected
    assert all(guess.why for guess in sweep.guesses().values())


@pytest.mark.parametrize(
    ("heading", "title"),
    [("freq_mhz", "freq"), ("Energy (J)", "Energy"), ("gpu power", "gpu power"), ("mhz", "mhz"),
     ("energy_per_token_j", "energy_per_token"), ("watt_hours", "watt_hours"),
     ("min_s", "min_s")],
)  # fmt: skip
def test_a_title_does_not_repeat_the_unit(heading: str, title: str) -> None:
    assert without_unit(heading) == title


def test_directions_units_wraps_and_no_limit_are_guessed() -> None:
    caps = SWEEPS["rapl caps in ms without units"][0].guesses()
    assert caps["Package"].wraps_at == 2**18
    assert caps["PowerLimit"].values == {"-1": "none"}
    assert (caps["DRAM"].unit, caps["DRAM"].better) == ("J", "less")
    assert caps["program"].is_given
    assert not caps["PowerLimit"].is_given
    llm = SWEEPS["llm inference"][0].guesses()
    assert llm["tokens_per_second"].better == "more"
    assert llm["Energy per Token (J)"].better == "less"
    assert SWEEPS["clocks in kHz"][0].guesses()["core_frequency"].unit == "kHz"
    measured, said = guess_columns(["energy_uj", "energy-model"], [[3.5, 4.5], [2.5, 9.5]], {}, {})
    assert (measured.to, said.unit, said.better) == ("energy_j", "", None)
    saving = guess_of(read_heading("energy_saving_pct"), [12.5, -3.25, 8.0])
    assert (saving.role, saving.quantity, saving.better) == ("metric", "", "more")


@pytest.mark.parametrize(
    ("paths", "pattern", "columns"),
    [
        (
            ["a100/llama-7b/bs1_rep0.json", "h100/llama-7b/bs8_rep1.json",
             "h100/opt-1b/bs1_rep0.json"],
            r"(?P<machine>[^/]+?)/(?P<folder>[^/]+?)/bs(?P<bs>\d+)_rep(?P<replicate>\d+)\.json",
            {"machine": "knob", "folder": "knob", "bs": "knob", "replicate": "knob"},
        ),
        (
            ["p/graal-ce-run-merge-default.txt", "p/native-run-quick-pgo.txt",
             "p/open-jdk-vm-run-quick-default.txt"],
            r"(?P<file>[^/]+?)-run-(?P<file_2>[^/\-]+?)-(?P<file_3>[^/\-]+?)\.txt",
            {"file": "knob", "file_2": "knob", "file_3": "knob"},
        ),
        (["x/20240102.csv", "x/20240103.csv"], r"(?P<file>[^/]+?)\.csv", {"file": "stamp"}),
        # Names of which one part has separators of its own.
        (
            [f"{runtime}/{program}_{size}mb_{n}.json" for runtime in ("java17", "go")
             for program in ("json-transform", "fft") for size in (256, 512) for n in (1, 2)],
            r"(?P<folder>[^/]+?)/(?P<file>[^/_]+?)_(?P<size>\d+)mb_(?P<replicate>\d+)\.json",
            {"folder": "knob", "file": "knob", "size": "knob", "replicate": "knob"},
        ),
        # Names of different lengths, of which the ends are alike.
        (
            [f"{model}-bs{batch}-{bits}.csv" for model in ("llama-2-7b", "opt-7b")
             for batch in (8, 16) for bits in ("fp16", "int8")],
            r"(?P<file>[^/]+?)-7b-bs(?P<bs>\d+)-(?P<precision_text>[^/\-]+?)\.csv",
            {"file": "knob", "bs": "knob", "precision_text": "knob"},
        ),
        # Folders of clocks are no machines, numbers of jobs no settings.
        (
            [f"f{clock}/hpcg-{44170 + n}{clock}.out" for clock in (1200, 1600, 2000)
             for n in (1, 2)],
            r"f(?P<f>\d+)/hpcg-(?P<file>[^/\-]+?)\.out",
            {"f": "knob", "file": "stamp"},
        ),
        # The name repeats the folder; a dot is no separator in 1.2 GHz; a unit names no replicate.
        (
            [f"{of}/{of}_f{clock}GHz_{n:02d}.csv" for of in ("cg", "ep") for clock in (1.2, 2.4)
             for n in (1, 2)],
            r"(?P<folder>[^/]+?)/[^/_]+?_f(?P<frequency>\d+(?:\.\d+)?)GHz_(?P<replicate>\d+)\.csv",
            {"folder": "knob", "frequency": "knob", "replicate": "knob"},
        ),
        # Large sizes and clocks are no numbers of jobs and no dates; uuids and digests are stamps.
        (
            [f"n{n}_{clock}.csv" for n in (10000, 16777216)
             for clock in (1200000000, 854250000)],
            r"n(?P<n_whole>\d+)_(?P<file>\d+)\.csv",
            {"n_whole": "knob", "file": "knob"},
        ),
        (
            [f"{model}/{n:08x}-025b-413f-8a9a-021ea648a7dd/e{n}a7b3c{number}.csv"
             for number, model in enumerate(("llama", "opt")) for n in (1, 2)],
            r"(?P<folder>[^/]+?)/(?P<folder_2>[^/]+?)/(?P<file>[^/]+?)\.csv",
            {"folder": "knob", "folder_2": "stamp", "file": "stamp"},
        ),
        # Commits with several files each are versions that were compared.
        (
            [f"{commit}/run{n}.csv" for commit in ("a1b2c3d", "9f8e7d6") for n in (1, 2, 3)],
            r"(?P<folder>[^/]+?)/run(?P<replicate>\d+)\.csv",
            {"folder": "knob", "replicate": "knob"},
        ),
        # A letter is of replicates where it counts them.
        (
            [f"bert_I{i}_K{k}_r{r}.csv" for i in (128, 512) for k in (64, 768) for r in (1, 2)],
            r"bert_I(?P<i>\d+)_K(?P<k>\d+)_r(?P<replicate>\d+)\.csv",
            {"i": "knob", "k": "knob", "replicate": "knob"},
        ),
        # Names of codecs have numbers.
        (
            [f"{video}_{codec}_crf{crf}.mkv" for video in ("crowd", "park")
             for codec in ("x264", "x265") for crf in (22, 28)],
            r"(?P<file>[^/_]+?)_(?P<codec>[^/_]+?)_crf(?P<crf>\d+)\.mkv",
            {"file": "knob", "codec": "knob", "crf": "knob"},
        ),
        # What counts threads, sizes or clocks from 1 on counts no replicates.
        (
            [f"{of}_{n}t.csv" for of in ("fft", "lu") for n in (1, 2, 3)],
            r"(?P<file>[^/_]+?)_(?P<threads>\d+)t\.csv",
            {"file": "knob", "threads": "knob"},
        ),
        (
            [f"{of}_{n}GHz_{rep}.csv" for of in ("fft", "lu") for n in (1, 2) for rep in (1, 2)],
            r"(?P<file>[^/_]+?)_(?P<frequency>\d+)GHz_(?P<replicate>\d+)\.csv",
            {"file": "knob", "frequency": "knob", "replicate": "knob"},
        ),
        (
            [f"{of}_{n}MB.csv" for of in ("fft", "lu") for n in (1, 2, 3)],
            r"(?P<file>[^/_]+?)_(?P<size>\d+)MB\.csv",
            {"file": "knob", "size": "knob"},
        ),
        (
            [f"{of}_bs{n}_{rw}.csv" for of in ("nvme", "sata") for n in ("512", "4k", "1M")
             for rw in ("randread", "randwrite")],
            r"(?P<file>[^/_]+?)_bs(?P<bs>[^/_]+?)_(?P<operation>[^/_]+?)\.csv",
            {"file": "knob", "bs": "knob", "operation": "knob"},
        ),
    ],
)  # fmt: skip
def test_paths_give_columns(paths: list[str], pattern: str, columns: dict[str, str]) -> None:
    found, parts = read_paths(paths)
    assert found == pattern
    assert {part.name: part.role for part in parts} == columns


@pytest.mark.parametrize(
    ("cells", "is_comma_separated", "numbers"),
    [
        (["12.5 W", "13 W"], True, (["12.5", "13"], "W")),
        (["45 %", "", "50%"], True, (["45", None, "50"], "%")),
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
    assert f"prints below its `[dataset]` to {raw.resolve()}/wattlas.toml, edit it" in said
    assert f"> {raw.resolve()}/wattlas.toml" not in said
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
    sql = "SELECT machine, folder, bs, count(*), sum(energy_j) FROM runs GROUP BY ALL ORDER BY ALL"
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
        (["baseline", "tiled"], f"cap_w,energy_J,time_s\n{CAPS}", {"file": False}),
        (["java", "scala"], f"program,energy_J,time_s\n{THREADS}", {"file": False}),
        (["smt", "nosmt"], f"cap_w,energy_J,time_s\n{CAPS}", {"file": False}),
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
        own = {c.name: c for c in opened.catalogue.columns if c.name.startswith(("f", "s"))}
    assert {n: c.is_given for n, c in own.items() if c.role == "knob"} == given


@pytest.mark.parametrize(
    ("heading", "cells", "role"),
    [
        ("command", ["zip -1", "zip -2", "xz -1", "xz -2"], "label"),
        ("image", ["a", "b", "c", "d"], "label"),
        # The name of what ran says more than its properties.
        ("benchmark", ["a", "b", "c", "d"], "knob"),
        # Not all combinations are there: the name may be of what ran.
        ("image", ["a", "b", "c", None], "knob"),
        ("config", ["a", "b", "c", None], "label"),
        # Each row has its own, and most rows differ in a setting.
        ("label", ["a%d", "b%d", "c%d", "d%d"], "label"),
        ("variant", ["a%d", "b%d", "c%d", "d%d"], "knob"),
    ],
)
def test_a_name_of_each_combination_of_settings_is_a_label(
    heading: str, cells: list[str | None], role: str
) -> None:
    rows = [
        (name % r if "%" in name else name, tool, level, 10 * at + r)
        for at, (name, (tool, level)) in enumerate(
            zip(cells, product(("zip", "xz"), "12"), strict=True)
        )
        for r in ((1,) if name == "a%d" else (1, 2) if name and "%" in name else (1, 2, 3))
        if name is not None
    ]
    columns = [[str(cell) for cell in column] for column in zip(*rows, strict=True)]
    guesses = guess_columns([heading, "tool", "level", "energy_J"], columns, {}, {})
    assert guesses[0].role == role


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
    assert "set: parameters.level (3), file (2, from the path)\n" in out
    assert "labels: command, exit_codes\n" in out
    sql = "SELECT file, level_whole, count(*), max(duration_s) FROM runs GROUP BY ALL ORDER BY ALL"
    assert rows_of(tmp_path / "lake", sql)[0] == ("bzip2", 1, 2, 2.1)


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


@pytest.mark.parametrize(
    ("names", "numbered"),
    [
        (["setting", "run 1 (s)", "run 2 (s)"], True),
        (["setting", "Rep1_energy_J", "Rep2_energy_J"], True),
        (["setting", "energy_core_0_J", "energy_core_1_J"], False),
        (["setting", "energy_package0_J", "energy_package1_J"], False),
        (["setting", "latency_p50 (ms)", "latency_p99 (ms)"], False),
    ],
)
def test_numbers_in_headings_are_of_replicates_or_of_parts(
    names: list[str], numbered: bool
) -> None:
    columns = [["a", "b"], ["1.5", "2.5"], ["1.6", "2.4"]]
    assert bool(replicate_pattern(names, columns)) == numbered


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
        ("freq_{}MHz/run1/results.txt", RESULTS, "freq, benchmark, threads, energy_j, duration_s",
         (1200, "stream", 16, 5063.5, 120.5)),
        ("power_limit_{}W.csv", SAMPLES, "power_limit, power_w", (1200, 100.0)),
        ("lu_threads{}_rep1.csv", COUNTED, "threads, energy_j, duration_s, source",
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
    # What was measured is kept.
    assert rows_of(tmp_path / "lake", "SELECT power_w FROM runs ORDER BY model")[1] == (30.0,)
    assert main(["problems", "--lake", str(tmp_path / "lake"), "--json"]) == 0
    problems = json.loads(capsys.readouterr().out.partition("[")[2].join(("[", "")))
    (odd,) = [problem for problem in problems if problem["kind"] == "odd_power"]
    assert odd["line"] == 3
    (unlike,) = [problem for problem in problems if problem["kind"] == "unlike_replicates"]
    assert unlike["detail"].startswith("runs of model c have 10 to 70 J, 7.0 times as much")


@given(
    st.lists(
        st.text("aZ_ ()[]J/%'\"\\#.=-\N{DEGREE SIGN}", min_size=1, max_size=12).map("h".__add__),
        min_size=2, max_size=5, unique=True,
    ),
    st.lists(st.sampled_from(["1", "2.5", "x", "", "-1"]), min_size=5, max_size=5),
)  # fmt: skip
def test_any_proposal_can_be_loaded(
    tmp_path_factory: pytest.TempPathFactory, headings: list[str], cells: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    quoted = ['"{}"'.format(heading.replace('"', '""')) for heading in headings]
    row = ",".join(["3", *cells[1 : len(headings)]])
    (folder / "t.csv").write_text(f"{','.join(quoted)}\n{row}\n{row}\n", "utf-8")
    proposal = propose_for(folder)
    if "[[tables]]" in proposal.text:
        file = folder / "wattlas.toml"
        file.write_text(proposal.text, "utf-8")
        load_settings(file)


STRANGERS: dict[str, list[tuple[str, tuple[Any, ...]]]] = {
    "runtable": [
        (
            "SELECT count(*), avg(energy_j), avg(duration_s) FROM runs "
            "WHERE model = 'qwen2:7b' AND length = 1000 AND method = 'on_device'",
            (30, 581.39, 53.13),
        ),
        (
            "SELECT count(*), avg(energy_j), avg(duration_s) FROM runs "
            "WHERE model = 'qwen2:7b' AND length = 1000 AND method = 'remote'",
            (30, 70.36, 17.50),
        ),
        ("SELECT DISTINCT performance_metric FROM runs", ("duration_s",)),
    ],
    "codecarbon": [
        ("SELECT max(energy_j) FROM runs WHERE energy_j BETWEEN 26477 AND 26479", (26477.99,)),
    ],
    "kerneltuner": [
        ("SELECT energy_j FROM runs WHERE nvml_gr_clock = 1410", (30.1,)),
    ],
    "langpowercap": [
        ("SELECT min(duration_s), max(energy_j) FROM runs WHERE round(energy_j, 1) = 835.3 "
         "AND round(duration_s, 3) = 40.199", (40.199, 835.2527)),
        ("SELECT count(*), min(energy_j) > 0, max(energy_j) < 1e4 FROM runs", (4880, True, True)),
        ("SELECT count(*) FROM runs WHERE list_contains(flags, 'energy_counter_wrapped') "
         "AND round(energy_j, 1) = 1955.8", (1,)),
    ],
    "jvmenergy": [
        ("SELECT count(*) FROM runs WHERE energy_j IS NULL OR energy_j > 0", (45,)),
        ("SELECT energy_j, throughput_qps FROM runs WHERE run_id LIKE 'merge_sort-azul%'",
         (51438.7, 0.067)),
        ("SELECT energy_j FROM runs WHERE run_id LIKE '%fileopenjdk%quick%'", (67237.0,)),
        ("SELECT energy_j FROM runs WHERE run_id LIKE '%filenative_image%quick%'", (66369.0,)),
    ],
}  # fmt: skip


@pytest.mark.real
@pytest.mark.parametrize("study", STRANGERS)
def test_a_study_of_strangers_comes_out_right_without_settings(study: str, tmp_path: Path) -> None:
    """Expected values: ../shared/studies/strangers/README.md, to its digits."""
    source = studies() / "strangers" / study
    assert add(source, tmp_path / "lake") in (0, 3)
    for sql, expected in STRANGERS[study]:
        (row,) = rows_of(tmp_path / "lake", sql)
        for value, wanted in zip(row, expected, strict=True):
            same = wanted if isinstance(wanted, str) else pytest.approx(wanted, rel=2e-3)
            assert value == same
    found = rows_of(
        tmp_path / "lake",
        "SELECT energy_j, duration_s FROM runs WHERE energy_j > 0 AND duration_s > 0 ORDER BY ALL",
    )
    by_hand = sorted(each for each in read_plainly(study, source) if min(each) > 0)
    assert len(by_hand) >= 3
    if study == "jvmenergy":
        # Reports of the same programs are runs too.
        assert {round(energy, 2) for energy, _ in by_hand} <= {round(e, 2) for e, _ in found}
    else:
        np.testing.assert_allclose(found, by_hand, rtol=1e-9)


def read_plainly(study: str, source: Path) -> list[tuple[float, float]]:
    """Read energy and time of each run from the files by the standard library alone, J and s."""
    if study == "kerneltuner":
        (file,) = source.rglob("*.json")
        cache = json.loads(file.read_text())["cache"].values()
        times = [
            (sum(each["times"]) / len(each["times"]) / 1e3, each["nvml_power"]) for each in cache
        ]
        return [(time * power, time) for time, power in times]
    if study == "jvmenergy":
        found = []
        for file in source.rglob("power/*.txt"):
            lines = [line.split() for line in file.read_text().splitlines()]
            at = next(cells.index("Watts") for cells in lines if "Watts" in cells)
            samples = [
                cells for cells in lines if re.fullmatch(r"\d\d:\d\d:\d\d", (cells or [""])[0])
            ]
            found.append((sum(float(cells[at]) for cells in samples), float(len(samples))))
        return found
    name, energy, time, scales = {
        "runtable": ("run_table.csv", "energy_usage_J", "execution_time", (1.0, 1.0)),
        "codecarbon": ("emissions.csv", "energy_consumed", "duration", (3.6e6, 1.0)),
        "langpowercap": ("measurements_benchmarks.csv", "Package", "Time", (1.0, 1e-3)),
    }[study]
    (file,) = source.rglob(name)
    with file.open(newline="") as text:
        rows = [(float(row[energy]), float(row[time])) for row in csv.DictReader(text)]
    wrap = 2.0**18 if study == "langpowercap" else 0.0
    return [((e + wrap * (e < 0)) * scales[0], t * scales[1]) for e, t in rows]


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


@pytest.mark.parametrize(
    ("columns", "target", "scale"),
    [
        ({"p99_ms": [20.5, 25.5], "latency": [12.5, 15.5]}, "latency_mean_us", 1e3),
        # Energies and latencies grow together: 200 W.
        ({"latency": [2.5, 3.5, 5.5, 7.5, 11.5, 13.5], "energy_j": [510.5, 690.5, 1120.5, 1490.5,
                                                                    2310.5, 2690.5]},
         "latency_mean_us", 1e6),
        ({"latency": [2.5, 3.5, 5.5, 7.5, 11.5, 13.5], "energy_j": [510.5, 300.5, 505.5, 290.5,
                                                                    509.5, 300.5]}, "", 1.0),
        # Nothing says a unit, or the other latency is of another kind; clients times rates do not.
        ({"model": ["a", "b"], "latency": [12.5, 15.5]}, "", 1.0),
        ({"threads": [1, 2, 4], "ops_s": [1000.5, 1990.5, 3800.5], "latency": [1.01, 1.02, 1.06]},
         "", 1.0),
        ({"p99_ms": [20.5, 25.5], "latency": [125_000.5, 150_000.5]}, "", 1.0),
    ],
)  # fmt: skip
def test_a_latency_without_a_unit_takes_the_only_one_that_can_be(
    columns: dict[str, list[object]], target: str, scale: float
) -> None:
    cells = [[*map(str, each)] for each in columns.values()]
    found = guess_columns([*columns], cells, {}, {})
    guess = next(each for each in found if each.heading.unit is None and (
        each.heading.text in ("latency", "lat") or each.heading.text[0] == "p"))  # fmt: skip
    assert (guess.to, guess.scale) == (target, pytest.approx(scale))
    assert guess.why.endswith(NO_UNIT) == (not target)


_AGAIN = [1, 2, 3, 1, 2, 3]


@pytest.mark.parametrize(
    ("columns", "heading", "role", "unit", "better"),
    [
        # Seconds of one item fall with threads as well as a rate of a full machine does.
        ({"threads": [1, 2, 4], "iter_s": [2.5, 1.4, 0.8]}, "iter_s", "metric", "", None),
        ({"clients": [1, 2, 4], "req_s": [0.1, 0.2, 0.4]}, "req_s", "metric", "", None),
        ({"threads": [1, 2, 4], "iter_s": [2.5, 4.4, 8.8]}, "iter_s", "metric", "iter/s", "more"),
        ({"model": ["a", "b"], "tokens_s": [45.5, 80.5]}, "tokens_s", "metric", "tokens/s", "more"),
        ({"model": ["a", "b"], "ops_s": [4500.5, 8000.5]}, "ops_s", "metric", "ops/s", "more"),
        ({"model": ["a", "b"], "queries_s": [4500.5, 800.5]}, "queries_s", "metric", "", None),
        # 100 items in each time; 10 times as long as one.
        ({"model": ["a", "b"], "time_s": [10.5, 20.5], "it_s": [9.524, 4.878]}, "it_s", "metric",
         "it/s", "more"),
        ({"model": ["a", "b"], "time_s": [10.5, 20.5], "it_s": [1.05, 2.05]}, "it_s", "metric",
         "", None),
        ({"model": ["a", "b"], "throughput_req_s": [0.5, 0.6]}, "throughput_req_s", "metric",
         "req/s", "more"),
        ({"model": ["a", "b"], "latency_req_s": [0.5, 0.6]}, "latency_req_s", "metric", "s",
         "less"),
        # Memory in use.
        ({"mem_mb": [997, 993, 467, 461], "model": [*"aabb"], "time_s": [9, 8, 5, 4]},
         "mem_mb", "metric", "MB", None),
        ({"source": ["solar", "solar", "grid", "grid"], "threads": [1, 2, 1, 2],
          "energy_j": [100, 90, 120, 110]}, "source", "knob", "", None),
        # A result goes up with the rounds of both, or does not; rounds of which one has more.
        ({"config": [*"AAABBB"], "round": _AGAIN, "accuracy": [0.5, 0.6, 0.7, 0.4, 0.5, 0.6]},
         "round", "knob", "", None),
        ({"config": [*"AAABBB"], "round": _AGAIN, "energy_j": [100, 102, 101, 90, 92, 91]},
         "round", "label", "", None),
        ({"config": [*"AAABBB"], "round": [1, 2, "", 1, 2, 3], "energy_j": [9, 7, 8, 9, 5, 6]},
         "round", "knob", "", None),
        ({"config": [*"AAAABB"], "round": [1, 2, 3, 4, 1, 2], "energy_j": [9, 7, 8, 9, 5, 6]},
         "round", "knob", "", None),
        # Runs of which some are left out have numbers still.
        ({"config": [*"AABB"] * 2, "rep": [4, 18, 7, 22] * 2, "energy_j": [9, 7, 8, 5] * 2},
         "rep", "replicate", "", None),
        # Sessions and batches repeat a setting, whatever another column numbers.
        ({"config": [*"AABB"] * 2, "session": [1] * 4 + [2] * 4, "rep": [1, 2, 1, 2] * 2,
          "energy_j": [9, 7, 8, 5, 9, 8, 8, 6]}, "session", "number", "", None),
        ({"config": [*"AABB"] * 2, "batch_id": [0, 0, 0, 1, 1, 2, 2, 2],
          "energy_j": [9, 7, 8, 5, 9, 8, 8, 6]}, "batch_id", "number", "", None),
        # It begins again in each block.
        ({"config": [*"AABB"] * 2, "block": [0] * 4 + [1] * 4, "rep": [0, 1] * 4,
          "energy_j": [9, 7, 8, 5, 9, 8, 8, 6]}, "rep", "number", "", None),
        ({"config": [*"AABB"] * 2, "batch_size": [8, 16] * 4,
          "energy_j": [9, 7, 8, 5, 9, 8, 8, 6]}, "batch_size", "knob", "", None),
        # Work that was done differs a little and at random, a clock in each setting alike.
        ({"config": [*"AAABBB"], "doneTasks": [498, 500, 500, 500, 497, 500],
          "energy_j": [9, 7, 8, 5, 9, 8]}, "doneTasks", "work", "", None),
        ({"app": [*"aaabbb"] * 2, "stutter_count": [0, 3, 7, 1, 9, 2, 5, 0, 8, 4, 6, 1],
          "energy_j": [9, 7, 8, 5, 9, 8] * 2}, "stutter_count", "work", "", None),
        ({"size": [1, 1, 2, 2], "binary_size_kb": [9.75, 8.5, 9.25, 7.5], "energy_j": [9, 7, 8, 5]},
         "binary_size_kb", "metric", "kB", None),
        # A memory is set if each setting has it, whatever else was counted.
        ({"app": [*"aabb"] * 2, "memory_mb": [128, 512] * 4, "calls": [
            998, 1000, 997, 1000, 1000, 998, 999, 1000], "energy_j": [*range(9, 1, -1)]},
         "memory_mb", "knob", "MB", None),
        # Folds repeat a setting; a block of threads is set, and what lasts as long in all rows.
        ({"config": [*"AAABBB"], "fold": [0, 1, 2] * 2, "energy_j": [9, 7, 8, 5, 9, 8]},
         "fold", "replicate", "", None),
        ({"config": [*"AABB"] * 2, "block": [128, 256] * 4, "energy_j": [*range(9, 1, -1)]},
         "block", "knob", "", None),
        ({"config": [*"AABB"], "ramp_s": [5] * 4, "energy_j": [9, 7, 8, 5]}, "ramp_s", "constant",
         "s", None),
        # Seeds are any numbers, one a run.
        ({"config": [*"AAABBB"], "seed": [42, 7, 2024] * 2, "energy_j": [9, 7, 8, 5, 9, 8]},
         "seed", "replicate", "", None),
        ({"config": [*"AAABBB"], "sm": [1607, 1708, 1898] * 2, "energy_j": [9, 7, 8, 5, 9, 8]},
         "sm", "knob", "", None),
        # Sides of matrices; a size of a file that two settings decide together.
        ({"I": [512] * 6, "J": [64, 96, 512] * 2, "K": [96, 96, 64] * 2,
          "energy_j": [9, 7, 8, 5, 9, 8]}, "J", "knob", "", None),
        ({"net": [*"aabbcc"] * 2, "quant": [*"pq"] * 6, "file_size_mb": [9.7, 2.4, 8.1, 2.4, 8.1,
          9.7] * 2, "energy_j": [*range(12)]}, "file_size_mb", "metric", "MB", None),
        # How often a loop was run.
        ({"config": [*"ABC"] * 3, "rep": [10] * 3 + [20] * 3 + [30] * 3,
          "energy_j": [9, 7, 8, 18, 13, 15, 28, 22, 25]}, "rep", "knob", "", None),
    ],
)  # fmt: skip
def test_what_may_be_set_or_measured_is_told_by_its_values(
    columns: dict[str, list[object]], heading: str, role: str, unit: str, better: str | None
) -> None:
    cells = [[*map(str, each)] for each in columns.values()]
    (guess,) = [g for g in guess_columns([*columns], cells, {}, {}) if g.heading.text == heading]
    if role == "replicate":
        assert guess.to == role
        return
    if role == "constant":
        assert (guess.role, guess.to, guess.unit) == ("label", "", unit)
        return
    if role in ("number", "work"):
        # Nothing else is doubted of them.
        assert guess.role == ("label" if role == "number" else "metric")
        assert (guess.to, guess.better) == ("", None)
        return
    assert (guess.role, guess.unit, guess.better) == (role, unit, better)
    assert guess.why.endswith(NO_UNIT) == (role == "metric" and not unit)
    assert guess.why.endswith(MAYBE_SETTINGS) == (role == "label")


@pytest.mark.parametrize("heading", ["switches", "faults", "page_faults", "cpu_migrations"])
def test_counters_have_no_direction(heading: str) -> None:
    guess = guess_of(read_heading(heading), ["1023", "877", "965"] * 3)
    assert (guess.role, guess.better) == ("metric", None)


@pytest.mark.parametrize(
    "heading", ["energy_cv_pct", "throughput_std", "latency_ci95", "ops_stddev"]
)
def test_deviations_have_no_direction(heading: str) -> None:
    guess = guess_of(read_heading(heading), ["1.25", "2.5", "0.75"])
    assert (guess.role, guess.better) == ("metric", None)


def test_an_energy_of_an_item_takes_the_unit_of_the_whole() -> None:
    """400 J for 80 tokens and 900 J for 90: 5 and 10 J each. Without the tokens nothing says it."""
    columns = {"model": [*"ab"], "total_energy_j": [400, 900], "tokens": [80, 90],
               "EnergyPerToken": [5.0, 10.0]}  # fmt: skip
    for names, unit in (([*columns], "J/token"), (["model", *[*columns][1::2]], "")):
        cells = [[*map(str, columns[name])] for name in names]
        guesses = {guess.heading.text: guess for guess in guess_columns(names, cells, {}, {})}
        assert (guesses["EnergyPerToken"].unit, guesses["EnergyPerToken"].to) == (unit, "")
        assert guesses["total_energy_j"].to == "energy_j"


@pytest.mark.parametrize(("weeks", "role"), [((1, 2, 3, 4), "label"), ((1, 1, 2, 2), "knob")])
def test_dates_that_all_differ_are_no_setting(weeks: tuple[int, ...], role: str) -> None:
    (guess,) = guess_columns(["Date"], [[f"week {week}" for week in weeks]], {}, {})
    assert guess.role == role


@pytest.mark.parametrize(
    ("heading", "cells", "role", "unit"),
    [
        ("MaxRSS", ["1024K", "2048K"], "label", ""),
        ("PID", ["58538", "58643"], "label", ""),
        ("AveRSS", ["1024", "2048"], "metric", ""),
        ("bytes_read", ["4096", "8192"], "metric", ""),
        ("net_rx_bytes", ["4096", "8192"], "metric", "B"),
        ("read_percent", ["50", "95"], "knob", "%"),
        ("block_bytes", ["4096", "8192"], "knob", "B"),
        ("kops_s", ["1.5", "2.5"], "metric", "kops/s"),
        ("throughput_inf_s", ["414.1", "314.6"], "metric", "inf/s"),
        ("J_inf_per_gen_token", ["0.3", "0.4"], "metric", "J/token"),
        # Means of what is counted in whole, fractions that a machine wrote, and even steps.
        ("input_tokens", ["561.95", "24.0"], "metric", ""),
        ("input_tokens", ["512", "24"], "knob", ""),
        ("engine_size_mb", ["22.234569549560547", "21.91611491394043"], "metric", "MB"),
        ("learning_rate", ["0.30000000000000004", "0.1"], "knob", ""),
        ("duration_min", ["5", "10", "15", "20"], "knob", ""),
        ("duration_min", ["5", "11", "15", "20"], "metric", ""),
        ("duration_min", ["1", "2", "3", "4"], "metric", ""),
        ("makespan_h", ["3.5", "6.25"], "metric", "h"),
        ("wh_per_1k_requests", ["0.35", "0.36"], "metric", "Wh/1k requests"),
        # What a process holds, and what has been done; a column of threads goes on for long.
        ("model_mem_mb", ["990", "1010"], "metric", "MB"),
        ("mem_limit_mb", ["512", "1024"], "knob", "MB"),
        ("completed_jobs", ["498", "500"], "metric", ""),
        ("nprocs", [*map(str, range(1, 250))], "knob", ""),
        ("csv_files", ["['a.csv']", "['b.csv']"], "label", ""),
        ("total_energy_mj/image", ["5.49", "6.1"], "metric", "mJ/image"),
    ],
)
def test_what_a_heading_and_its_cells_are(
    heading: str, cells: list[str], role: str, unit: str
) -> None:
    guess = guess_of(read_heading(heading), cells * 9)
    assert (guess.role, guess.unit) == (role, unit)


@pytest.mark.parametrize(
    ("columns", "targets"),
    [
        # A time between tokens is not the run's, nor any by which the measured power is another.
        ({"tbt_p95_ms": 41.4, "energy_total_j": 585.5, "avg_power_w": 104.8},
         {"energy_total_j": "energy_j", "avg_power_w": "power_w"}),
        ({"step_time_ms": 41.4, "energy_total_j": 585.5, "avg_power_w": 104.8},
         {"energy_total_j": "energy_j", "avg_power_w": "power_w"}),
        ({"LCP (ms)": 1302.0, "Energy (Wh)": 0.85}, {"Energy (Wh)": "energy_j"}),
        # Nor is a power of a phase, of a part or an extreme the run's, or its pair.
        ({"total_time_s": 58.7, "idle_time_s": 5.87, "total_energy_j": 23179.0,
          "idle_energy_j": 891.5, "idle_power_w": 151.9},
         {"total_time_s": "duration_s", "total_energy_j": "energy_j"}),
        ({"time_s": 57.5, "energy_j": 5214.5, "idle_power_w": 44.5},
         {"time_s": "duration_s", "energy_j": "energy_j"}),
        # A word for the whole says more than the lake's own name.
        ({"energy_j": 1.77, "total_energy_j": 883.0, "total_time_s": 6.8},
         {"total_energy_j": "energy_j", "total_time_s": "duration_s"}),
        ({"mean_ms": 1.86, "duration_sec_actual": 120.0, "avg_power_w": 8.9},
         {"duration_sec_actual": "duration_s", "avg_power_w": "power_w"}),
        # The pair that gives the power: of all batches, not of one of them.
        ({"energy_j": 6464.9, "latency_s": 19.3, "whole_energy": 103438.2, "total_seconds": 308.5,
          "power_draw": 335.3}, {"whole_energy": "energy_j", "total_seconds": "duration_s",
                                 "power_draw": "power_w", "latency_s": "latency_mean_us"}),
        # The power of a part says nothing of the whole.
        ({"Elapsed (s)": 1909.0, "CPU Power (W)": 29.2, "CPU Energy (kJ)": 55.7,
          "Total Energy (kJ)": 129.9}, {"Elapsed (s)": "duration_s",
                                        "Total Energy (kJ)": "energy_j"}),
        # Times of a clock, products and predictions are none of the run's.
        ({"start_time_s": 5335.5, "end_time_s": 5336.5, "energy_j": 3.5}, {"energy_j": "energy_j"}),
        ({"edp_uJ_ms": 33.1, "predicted_energy_j": 4.5, "measured_energy_j": 3.5},
         {"measured_energy_j": "energy_j"}),
        # The lake's own name goes before better words.
        ({"csv_total_energy_j": 6447.9, "energy_j": 6464.9}, {"energy_j": "energy_j"}),
        ({"package_j": 181.3, "dram_j": 14.8, "gpu_j": 16.1}, {"package_j": "energy_j"}),
        # The least time of several is no minutes, a total is; what energy costs is none.
        ({"train_time_min": 41.5, "energy_wh": 61.5},
         {"train_time_min": "duration_s", "energy_wh": "energy_j"}),
        ({"walltime": 90.5, "energy_kj": 9.5}, {"walltime": "duration_s", "energy_kj": "energy_j"}),
        ({"total_time_min": 41.5, "energy_kwh": 0.6},
         {"total_time_min": "duration_s", "energy_kwh": "energy_j"}),
        ({"time_min": 0.0123, "energy_j": 2.1}, {"energy_j": "energy_j"}),
        ({"energy_price": 0.31, "time_s": 20.5}, {"time_s": "duration_s"}),
        # A total is the run's time, a percentile of totals is one of requests.
        ({"ttft_ms": 50.1, "total_latency_ms": 2000.5, "energy_j": 90.5},
         {"total_latency_ms": "duration_s", "energy_j": "energy_j"}),
        ({"total_p99_latency_us": 210.5, "duration_s": 30.1, "energy_j": 900.5},
         {"total_p99_latency_us": "latency_p99_us", "duration_s": "duration_s",
          "energy_j": "energy_j"}),
        # Of two programs none is the run.
        ({"java_j": 47.6, "java_time": 5.1, "go_j": 19.7, "go_time": 1.9}, {}),
    ],
)  # fmt: skip
def test_the_columns_of_the_run_itself(columns: dict[str, float], targets: dict[str, str]) -> None:
    # A power is the same in all rows, but for a little.
    cells = [
        [str(value * (1 + (step - 1) * (0.01 if "power" in heading.lower() else 1.0)))
         for step in (1.01, 1.17, 1.33, 1.52)]
        for heading, value in columns.items()
    ]  # fmt: skip
    guesses = guess_columns([*columns], cells, {}, {})
    assert {g.heading.text: g.to for g in guesses if g.to} == targets


@pytest.mark.parametrize(
    ("columns", "targets", "doubts"),
    [
        ({"energy": [6000, 7000], "time": [200, 240]}, {"energy": "energy_j", "time": "duration_s"},
         {"energy": "taken as J: mJ would", "time": "taken as s: ms would"}),
        # A unit that is stated decides the other by the power of a machine.
        ({"energy_j": [6000, 7000], "time": [200, 240]}, {"time": "duration_s"}, {}),
        ({"energy": [6000, 7000], "time_s": [200, 240]}, {"energy": "energy_j"}, {}),
        ({"power": [95.5, 110], "time_s": [200, 240]}, {"power": "power_w"}, {}),
        ({"energy": [6000, 7000]}, {"energy": "energy_j"}, {"energy": "taken as J: mJ"}),
        # As J in 300 s these would be a tenth of a watt.
        ({"pkg": [30.5, 41.5], "dram": [3.5, 4.5], "time": [300.5, 320.5]}, {"pkg": "power_w"},
         {"pkg": "says neither", "time": "taken as s: ms"}),
        ({"pkg": [30.5, 41.5], "time": [300, 320]}, {"pkg": "energy_j"},
         {"pkg": "states no unit, and not whether", "time": "taken as ms, if pkg is an energy"}),
        # Of a whole cluster, as the headings say.
        ({"energy_j": [5e9, 6e9], "time_s": [1000, 1100]}, {"time_s": "duration_s"}, {}),
        ({"pkg": [3000.5, 4100.5], "time_s": [100, 120]}, {"pkg": "energy_j"},
         {"pkg": "states no unit, and not whether"}),
        # Nothing has 610 kW: the time is of one call, and no reason for uJ.
        ({"energy": [9.93, 12.15], "execution_time": [1.6e-05, 4.9e-05]},
         {"energy": "energy_j", "execution_time": ""}, {"energy": "taken as J: mJ"}),
        # Nor 20 kW, where the unit of the time is known.
        ({"energy": [9000.5, 9500.5], "time_s": [0.41, 0.45]}, {"energy": "energy_j"},
         {"energy": "taken as mJ, if the time"}),
        ({"TotalLatency(s)": [40.5, 61.5], "TotalEnergy(J)": [4000, 6000]},
         {"TotalLatency(s)": "duration_s", "TotalEnergy(J)": "energy_j"}, {}),
    ],
)  # fmt: skip
def test_units_that_nothing_decides_are_doubted(
    columns: dict[str, list[float]], targets: dict[str, str], doubts: dict[str, str]
) -> None:
    cells = [[*map(str, each * 4)] for each in columns.values()]
    guesses = {guess.heading.text: guess for guess in guess_columns([*columns], cells, {}, {})}
    assert {name: guesses[name].to for name in targets} == targets
    doubted = {name: guess.doubt for name, guess in guesses.items() if guess.doubt and guess.to}
    assert doubted.keys() == doubts.keys()
    assert all(text in doubted[name] for name, text in doubts.items())


def test_ranks_are_no_results_and_a_stated_unit_goes_first() -> None:
    """`lora_rank` stays a setting, though numbers rank what a study compares too."""
    columns: dict[str, Sequence[object]] = {
        "host": [*"abcd"] * 3, "lora_rank": [8, 16, 32] * 4, "energy_rank": [4, 2, 1, 3] * 3,
        "final_rank": [1, 2, 3, 4] * 3, "on_pareto": [True, False] * 6,
        "board_energy_joules": [310.25 + n for n in range(12)],
        "total_energy": [0.0862 + n / 9973 for n in range(12)],
        "time_s": [12.5 + n / 7 for n in range(12)],
    }  # fmt: skip
    cells = [[*map(str, each)] for each in columns.values()]
    guesses = {g.heading.text: g for g in guess_columns([*columns], cells, {}, {})}
    assert [g.role for g in guesses.values()] == [*["knob"] * 2, *["label"] * 3, *["metric"] * 3]
    assert (guesses["board_energy_joules"].to, guesses["total_energy"].to) == ("energy_j", "")


def test_units_are_not_bent_until_some_rows_are_plausible() -> None:
    """Rows of SLURM's accounts without the letters of `4.1M`, and such rows of nobody."""
    elapsed = [35_000.0 + 97 * n for n in range(12)]
    energies = [4.1 + n / 7 for n in range(8)] + [700_000.0 + n for n in range(4)]
    columns: dict[str, Sequence[object]] = {
        "NCPUS": [4, 8] * 6, "Elapsed": elapsed, "ConsumedEnergy": energies,
        "AveRSS": [1.2 + n / 9 for n in range(12)],
    }  # fmt: skip
    cells = [[*map(str, each)] for each in columns.values()]
    guesses = {g.heading.text: g for g in guess_columns([*columns], cells, {}, {})}
    assert (guesses["Elapsed"].to, guesses["Elapsed"].scale) == ("duration_s", 1.0)
    energy = guesses["ConsumedEnergy"]
    assert (energy.to, energy.unit) == ("", "")
    assert energy.why.endswith(NO_UNIT)
    assert "J, kJ or MJ" in energy.doubt
    unnamed: dict[str, Sequence[object]] = {
        "cpus": [4, 8] * 6,
        "elapsed": elapsed,
        "energy": energies,
    }
    cells = [[*map(str, each)] for each in unnamed.values()]
    guesses = {g.heading.text: g for g in guess_columns([*unnamed], cells, {}, {})}
    assert (guesses["elapsed"].unit, guesses["energy"].unit) == ("s", "J")
    assert guesses["elapsed"].doubt
    assert guesses["energy"].doubt


@pytest.mark.parametrize(
    ("heading", "texts", "is_replicate"),
    [
        ("run_number", ["r1", "r2", "r3"], True),
        ("rep", ["Run 0", "Run 1", "Run 2"], True),
        ("run", ["r1", "r2", "s3"], False),
        ("run", ["base", "fast", "slow"], False),
        ("mode", ["m1", "m2", "m3"], False),
    ],
)
def test_letters_before_numbers_of_replicates(
    heading: str, texts: list[str], *, is_replicate: bool
) -> None:
    columns: dict[str, Sequence[object]] = {
        "loop": [*"abcd"] * 3, heading: [text for text in texts for _ in range(4)],
        "energy_J": [90.5 + n * n / 7 for n in range(12)],
    }  # fmt: skip
    cells = [[*map(str, each)] for each in columns.values()]
    guess = guess_columns([*columns], cells, {}, {})[1]
    assert (guess.role, guess.to) == (("label", "replicate") if is_replicate else ("knob", ""))
    assert [*guess.values] == (texts if is_replicate else [])


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


def test_settings_beside_names_and_beside_measured_numbers_stay_settings() -> None:
    """A clock whose steps have names, numbered factors, and a search at random."""
    names = ["low", "mid", "high"] * 8
    columns: dict[str, Sequence[object]] = {
        "freq": [1.2, 1.8, 2.4] * 8, "level": names, "x1": [1, 2] * 12,
        "x2": [round(0.0123 * n + n * n / 997, 5) for n in range(24)],
        "learning_rate": [round(1e-4 * 1.31**n, 6) for n in range(24)],
        "energy": [1250.3 + n for n in range(24)], "emissions": [0.15 + n / 99 for n in range(24)],
        "time": [20.5 + n / 7 for n in range(24)],
    }  # fmt: skip
    cells = [[*map(str, each)] for each in columns.values()]
    guesses = {g.heading.text: g for g in guess_columns([*columns], cells, {}, {})}
    roles = {name: guesses[name].role for name in ("freq", "level", "x1", "learning_rate")}
    assert roles == {"freq": "knob", "level": "label", "x1": "knob", "learning_rate": "knob"}
    # In kWh, as CodeCarbon has them beside emissions, it would take a power station.
    assert (guesses["energy"].to, guesses["energy"].unit) == ("energy_j", "J")


def test_what_a_group_of_rows_took_is_no_measurement_of_a_row() -> None:
    columns = {
        "group": [1, 1, 2, 2], "kernel": [*"abac"], "group_runtime_ms": [9.5, 9.5, 7.25, 7.25],
        "group_energy_mJ": [62.5, 62.5, 51.5, 51.5], "kernel_time_ms": [4.5, 5.5, 4.25, 2.5],
        "kernel_energy_mJ": [30.5, 31.5, 29.5, 20.5],
    }  # fmt: skip
    guesses = guess_columns([*columns], [[*map(str, each)] for each in columns.values()], {}, {})
    targets = {guess.heading.text: guess.to for guess in guesses if guess.to}
    assert targets == {"kernel_time_ms": "duration_s", "kernel_energy_mJ": "energy_j"}


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


@pytest.mark.parametrize(
    ("heading", "is_given"),
    [("params.size", True), ("nrows", True), ("n", True), ("input_size", True), ("prime", True),
     ("batch_size", False), ("params.block_size_x", False)],
)  # fmt: skip
def test_an_amount_of_work_is_given(heading: str, *, is_given: bool) -> None:
    cells = [["1", "1", "2", "2"], ["0.5", "0.6", "0.9", "1.1"]]
    guess, _ = guess_columns([heading, "time_s"], cells, {}, {})
    assert (guess.role, guess.is_given) == ("knob", is_given)


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


def test_clocks_as_texts_have_no_unit() -> None:
    guess = guess_of(read_heading("frequency"), ["low", "high", "low", "high"])
    assert (guess.role, guess.kind) == ("knob", "text")

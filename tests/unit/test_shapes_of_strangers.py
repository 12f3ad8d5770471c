"""Tables of strangers in shapes of their own, fed without settings: runs, settings and performance.

Each case has its files, the columns asked for, the number of runs, the first rows in order, and
columns that are no knobs.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from app.explore.defaults import default_state
from app.kit.lake_view import LakeView
from data.connection import open_lake
from ingest.__main__ import REFUSED, main
from tests.fixtures.raw_runs import write_files


class Case(NamedTuple):
    """A study, and what it comes to."""

    files: dict[str, str]
    columns: str
    runs: int
    rows: list[tuple[Any, ...]]
    given: tuple[str, ...] = ()
    no_knobs: tuple[str, ...] = ()
    status: int = 0
    opens: str = ""


def joules(number: int) -> str:
    """Return an energy as RAPL counts it, with the digits of C's `%.18f`."""
    return f"{number / 16384:.18f}"


def windows(done: int, cost: float) -> str:
    """Return windows of 5 s: how much was done in them, and the joules of an item."""
    rows = [(n, 200.5 + n / 7, done + n * n * 5 % 31) for n in range(18)]
    return "trial,energy_j,duration_s,j_per_item,batches,max_gap_s\n" + "".join(
        f"{n},{joule:.6f},{5.0 + n / 1000},{cost * joule / loops:.9f},{loops},{0.4 + n / 997:.9f}\n"
        for n, joule, loops in rows
    )


MEANS = "energy_j_mean,j_per_item_mean,j_per_item_sd,pairs\n"

RANKED = "".join(
    f"m{m},{(m + 2) * 3.02 / 3:.6f},{(m + 1) * 22.6:.6f},{m / 3:.6f}\n" for m in range(4)
)


CASES: dict[str, Case] = {
    # The runner of the Energy-Languages suite with user and system time behind, and no language.
    "rows without headings, commas": Case(
        {"77-lab_desk-time.csv": "".join(
            f"sub_{name}.exe , {joules(9000 * n + r)}, {joules(8000 * n)},  ,  , {40 * n + r}, "
            f"{36 * n}, {4 * n}\n" for n, name in enumerate((4711, 90210, 1303), 1)
            for r in range(4))},
        'replicate, energy_j, duration_s, program, "user"', 12,
        [(0, 9000 / 16384, 0.04, "sub_4711.exe", 36),
         (0, 18000 / 16384, 0.08, "sub_90210.exe", 72)],
    ),
    # Steps of 2^-14 J are RAPL's below any heading; then 0.4 J in 25 are ms.
    "joules that no heading names": Case(
        {f"{language}/{language}_out.csv": "Algorithm,Mean CPU,Mean Core,N/A,Took time\n" + "".join(
            f"{task} , {joules(cost * n + 7 * r)} , {joules(cost * n + 5 * r - 99)} ,  , {n + r} \n"
            for n, task in enumerate(("nbody", "fasta"), 25) for r in range(3))
         for language, cost in (("C", 301), ("Go", 907))},
        "language, algorithm, energy_j, mean_core, duration_s", 12,
        [("C", "fasta", (301 * 26) / 16384, (301 * 26 - 99) / 16384, 26 * 0.001)],
        given=("algorithm",),
    ),
    # Points of several sweeps and languages that people speak are places, not rivals.
    "points and languages": Case(
        {"gets.csv": "point_id,lang,store,energy_j\n" + "".join(
            f"{point},{lang},{store},{30.5 + 9 * p + 5 * n + n * p / 8}\n"
            for p, point in enumerate(("size_1mb", "size_2mb", "skew_0.5", "skew_0.9"))
            for lang in ("eng_Latn", "fra_Latn") for n, store in enumerate(("tree", "heap")))},
        "point_id, lang, store, energy_j", 16, [("size_1mb", "eng_Latn", "heap", 35.5)],
        given=("point_id", "lang"),
    ),
    # Rails of one run are no rivals: the throughput is the row's. `n_off` counts samples.
    "rails of a row": Case(
        {"rails.csv": "design,card_on_w,card_off_w,core_on_w,core_off_w,Mrow_s_sustained,"
                      "nJ_per_row,n_on,n_off,fault_pct\n" + "".join(
            f"v{n},{30.5 + n},{28.5 + n / 8},{7.25 + n},{6.25 + n / 8},{35.265 * n},{900.5 / n},54,"
            f"{20 + n % 2},{n}.5\n" for n in range(1, 7))},
        "design, mrow_s_sustained, performance_metric", 6,
        [("v1", 35.265, "mrow_s_sustained")],
        no_knobs=("alternative", "n_off", "mrow_s_sustained"),
    ),
    # What differs in the names of files is how much was done; two forms of one program compete.
    "forms of a program": Case(
        {f"out/2_1_{n}.csv": "Language,Program,PowerLimit,Package,Core,GPU,DRAM,Time\n" + "".join(
            f"Go,shop_check_{form},-1,{joules(cost * n + r)},{joules(cost * n // 2)},,,{n + r}\n"
            for form, cost in (("single", 90), ("split", 170)) for r in range(3))
         for n in (100, 400, 900)},
        "file_number, program, duration_s", 18, [(100, "shop_check_single", 0.1)],
        given=("file_number",),
    ),
    # Each server has one of two ways: these are what ran, or no two runs would be compared.
    "a server a file": Case(
        {f"{way}/{name}.csv": f"energy_j,duration_s\n{n}1.25,{n}.5\n{n}1.75,{n}.25\n"
         for way, *names in (("cached", "toad", "newt"), ("uncached", "crow", "wren"))
         for n, name in enumerate(names, 4)},
        "cached, file, energy_j", 8, [("cached", "newt", 51.25)], given=("cached",),
    ),
    "a server a text": Case(
        {f"{way}/{name}.log": f"Runtime: {n}.5 s\nEnergy: {n}1.25 J\n" for way, *names in (
            ("cached", "toad", "newt"), ("uncached", "crow", "wren"))
         for n, name in enumerate(names, 4)},
        "cached, file, energy_j", 4, [("cached", "newt", 51.25)], given=("cached",),
    ),
    # A percentage below 0 is a change; so are those of costs beside it, and no accuracy is.
    "changes in percent": Case(
        {"smoothed.csv": "method,peak_pct,energy_pct,accuracy_pct\n" + "".join(
            f"{name},{peak - r / 8},{20 - peak / 4 + r / 8},{93.5 + r / 8 + peak / 64}\n"
            for name, peak in (("slow", -60.25), ("swap", 4.75)) for r in range(3))},
        "method, change_of_peak, change_of_energy, accuracy_pct", 6,
        [("slow", -60.5, 35.3125, 92.80859375)],
    ),
    # Rows of means beside the rows that they are of, in one folder with each format.
    "means in a file beside": Case(
        {f"net_{name}/{file}.csv": text for name, done in (("a16", 700), ("b32", 300))
         for file, text in (("windows", windows(done, 0.5)),
                            ("summary", f"{MEANS}201.0,{100.5 / (done + 15):.9f},0.0001,8\n"))},
        "folder, energy_j, performance_metric", 36, [("a16", 200.5, "batches")],
        no_knobs=("batches", "file"), status=REFUSED,
    ),
    # The table of averages says no more than that its times are the means of the files.
    "means of files": Case(
        {**{f"raw/{name}.log": "time,joules\n" + "".join(
            f"{time + n / 8:.3f},{joules}\n" for n, joules in enumerate((100.25, 101.5, 99.75)))
            for name, time in (("rows", 4.5), ("maps", 3.25))},
         "means.csv": "name,time,avg-joules,max-joules\nrows,4.625,100.5,101.5\n"
                      "maps,3.375,100.5,101.5\n"},
        "file, duration_s", 6, [("maps", 3.25)],
    ),
    # The raw logs are of one session, which their names keep, and the summaries of two.
    "a session that names keep": Case(
        {**{f"raw/{name}20240105_101010.log": "time,joules\n" + "".join(
            f"{time + n / 8:.3f},{40 * time + n * 1.371:.3f}\n" for n in range(3))
            for name, time in (("rows", 4.513), ("maps", 3.271))},
         **{f"data_{day}.csv": "name,time,avg-joules,max-joules\n" + "".join(
            f"{name},{late * time + 1 / 8:.3f},{late * 40 * time + 1.371:.3f},999.5\n"
            for name, time in (("rows", 4.513), ("maps", 3.271)))
            for day, late in (("20240105_101010", 1), ("20240106_093000", 3))}},
        "data, count(*)", 2, [("20240105_101010", 6), ("20240106_093000", 2)], given=("data",),
    ),
    # Each small file has the numbers of a row that says the server, but for what is of two units.
    "rows in files of their own": Case(
        {"load/run-5.csv": "server,done,per_s,bytes,peak_us\n" + "".join(
            f"{name} 1.{n},{9000 + 37 * n},{310.25 + 7 * n},{n}.75 mb,{51.125 * n}\n"
            for n, name in enumerate(("toad", "newt", "wren"), 3)),
         **{f"load/run-{name}-5.csv": f"done,per_s,bytes,peak_us\n{9000 + 37 * n},"
            f"{310.25 + 7 * n},{n}751234,{51.125 * n}\n"
            for n, name in enumerate(("toad", "newt", "wren"), 3)}},
        "server, per_s", 3, [("newt 1.4", 338.25)], status=REFUSED,
    ),
    # Means of machines whose rows are not there are runs.
    "means of other machines": Case(
        {"raw/sweep.csv": "core,batch,energy_j,duration_s\n" + "".join(
            f"{core},{batch},{cost * batch},{cost * batch / 8}\n"
            for core, cost in (("wide", 5.5), ("slim", 2.25)) for batch in (1, 2, 4, 8)),
         "fleet.csv": "host,mean_energy_j,mean_duration_s\nelk,30.5,3.75\nyak,40.25,5.25\n"},
        "machine, energy_j", 10, [("elk", 30.5), ("yak", 40.25)],
    ),
    # Means over tasks that do not weigh the same, some of them again, and sums with their number.
    "rankings and sums beside": Case(
        {"by_task.csv": "model,task,latency_s,energy_net_j\n" + "".join(
            f"m{m},t{t},{(m + 2) * (t + 1) / 3:.6f},{(m + 1) * (t + 1) * 7.5:.6f}\n"
            for m in range(4) for t in range(5)),
         "ranked.csv": "model,latency_s,energy_net_j,n_energy\n" + RANKED,
         "front.csv": "model,latency_s,energy_net_j,on_front\n" + RANKED[:RANKED.index("m3")],
         "sums.csv": "model,energy_total_j,answers\n" + "".join(
             f"m{m},{(m + 1) * 22.6 * 41},41\n" for m in range(4))},
        "model, task, energy_j", 20, [("m0", "t0", 7.5)], status=REFUSED,
    ),
    # Tokens that a text has, a limit that each host has, and how the energy was measured.
    "tokens, limits and meters": Case(
        {"summary.csv": "host_id,model,prompt_tokens,energy_source,limit_watts,gpu_joules,"
                        "latency_seconds\n" + "".join(
            f"h{h},{model},{tokens},{('counter', 'power_sum')[(h + m) % 2]},{100 + 20 * h},"
            f"{tokens / (7 + h):.4f},{tokens / (2500 + 100 * m):.5f}\n"
            for h in range(3) for m, model in enumerate(("ma:3b", "mb:4b"))
            for tokens in (10_813 - 37 * m, 3_558 - 11 * m, 4_281 - 13 * m))},
        "count(DISTINCT energy_source)", 1, [(2,)], given=("energy_source",),
        no_knobs=("prompt_tokens", "limit"),
    ),
    # Idle phases did no work: a workload of their own, which is not opened first.
    "phases of runs": Case(
        {f"{name}.csv": "repeat,phase,ops,energy_j,duration_s\n" + "".join(
            f"{n},{phase},{ops},{joules + n / 8},{5 + n / 100}\n" for n in range(6)
            for phase, ops, joules in (("idle_pre", 0, 50.5), ("b1", 700 + n * 7 % 5, cost),
                                       ("b2", 701 + n * 7 % 5, cost), ("idle_post", 0, 51.5)))
         for name, cost in (("plain", 300.5), ("tuned", 280.5))},
        "workload, count(*), min(energy_j), count(DISTINCT replicate)", 2,
        [("idle", 24, 50.5, 12), ("study", 24, 280.5, 12)],
        no_knobs=("phase",), opens="study",
    ),
    # Results of configurations are none of these.
    "costs of configurations": Case(
        {"cost_per_config.csv": "model,quant,energy_total_j,answers\n" + "".join(
            f"m{m},{quant},{(m + n + 2) * 97.25},41\n" for m in range(3)
            for n, quant in enumerate(("q4", "q8")))},
        "model, quant, energy_j", 6, [("m0", "q4", 194.5)],
    ),
    # A state that was set may be called idle.
    "states of sleep": Case(
        {"naps.csv": "trial,c_state,wakes,energy_j,duration_s\n" + "".join(
            f"{n},{state},{400 + n * 7 % 5},{joules + n / 8},{5 + n / 100}\n" for n in range(6)
            for state, joules in (("poll", 90.5), ("idle", 50.5)))},
        "workload, c_state, count(*)", 2, [("naps", "idle", 6), ("naps", "poll", 6)],
    ),
    # Models and policies in the names of tables that share half of their headings.
    "policies of models": Case(
        {f"tables/{kind}summary_{model}{policy}.csv": f"length,tokens_per_s,energy_j,p{extra}_ms\n"
         + "".join(f"{length},{20 + n + len(model + policy)}.25,{500 - 10 * n}.5,{40 + n}.125\n"
                   for n, length in enumerate(("long", "short")))
         for kind, model, policy, extra in (
             ("cap_", "Falcon-7B", "_default", 95), ("cap_", "Falcon-7B", "_load_aware", 95),
             ("cap_", "Yi2.5-6B", "_default", 95), ("cap_", "Yi2.5-6B", "_load_aware", 95),
             ("", "Yi2.5-6B", "_adaptive_0.2", 75), ("", "Yi2.5-6B", "_adaptive_0.3", 75),
             ("raw_", "Falcon-7B", "", 95))},
        "model, policy, count(*)", 7,
        [("Falcon-7B", "default", 2), ("Falcon-7B", "load_aware", 2), ("Falcon-7B", None, 2)],
        given=("model", "length"),
    ),
    # Names alone and with forms behind them, in tables that divide them: the forms compete.
    "forms behind names": Case(
        {f"table{part}.csv": "run_no,tuned,kind,energy_j,duration_s\n" + "".join(
            f"r{r},{('no', 'yes')['_' in kind]},{kind},{90 + len(kind) + r / 8},{30 + r / 9:.3f}\n"
            for r in (1, 2, 3) for kind in kinds)
         for part, kinds in (("1-2", ("sort", "fold", "scan")), ("3-5", (
             "sort_opt_wide", "fold_opt_wide", "fold_opt_deep", "join_opt_deep")))},
        "kind_part, variant_text, count(*)", 7, [("fold", "opt_deep", 3), ("fold", "opt_wide", 3)],
        given=("kind_part",), no_knobs=("file", "file_2", "tuned", "kind"),
    ),
    # A task and a model in one name, a library, an operation and its depth in another.
    "tasks and models": Case(
        {"emissions.csv": "project_name,duration(s),power_consumption(kWh)\n" + "".join(
            f"{task}-{model}-svc,{12 + n + len(task) / 9},{(n + 2) * len(task)}e-7\n"
            for task in ("long_text_summarization", "intent_classification")
            for n, model in enumerate(("Falcon-7B", "Yi-34b", "Wizard-R2")))},
        "task, model", 6, [("intent_classification", "Falcon-7B")], given=("task",),
    ),
    "operations and depths": Case(
        {"bench-report.csv": "Method,Mean [ns],CPU Energy [uJ/op]\n" + "".join(
            f"{library}_{operation}_D{depth},{900.5 * depth + n},{9.25 * depth + n}\n"
            for n, library in enumerate(("Fast", "Tiny", "Wide"))
            for operation in ("Encode", "Decode") for depth in (1, 4, 16))},
        "operation, d, method_part", 18, [("Decode", 1, "Fast")], given=("operation", "d"),
    ),
    # Rows whose columns slipped: what is far from most runs of the settings is no energy.
    "values far off": Case(
        {"jobs.csv": "Workflow,NCPUS,energy_j,elapsed_s\n" + "".join(
            f"{flow},{cpus},{joules},{60 / cpus + r / 8}\n"
            for flow, cost in (("dock", 100.5), ("fold", 900.5)) for cpus in (2, 4)
            for r, joules in enumerate((cost, cost + 1, cost + 2, 2e6 * cpus)))},
        "workflow, ncpus, count(*), count(energy_j), max(energy_j)", 4,
        [("dock", 2, 3, 3, 102.5), ("dock", 4, 3, 3, 102.5)], given=("workflow",), status=REFUSED,
    ),
    # A run of hours among runs of milliseconds is a run; where it was is no setting.
    "a run of hours": Case(
        {"emissions.csv": "project_name,duration,energy_consumed,country_name,region\n" + "".join(
            f"api,{seconds},{seconds * watts / 3.6e6},{'Spain' if n < 3 else 'Germany'},"
            f"{'castille' if n < 3 else 'bavaria'}\n"
            for n, (seconds, watts) in enumerate(
                ((0.0035, 9.5), (0.0038, 10.5), (253000.5, 19.5), (0.0037, 9.0), (0.0045, 10.0))))},
        "energy_j, duration_s", 5, [(0.03325, 0.0035)],
    ),
    # A run that lost thousands of packets where most lost few is a run.
    "losses far off": Case(
        {"rings.csv": "rings,rep,energy_j,duration_s,dropped_packets\n" + "".join(
            f"{rings},{r},{50 + r},{5 + r / 8},"
            f"{rings + (3, 5, 4, 6, 7100)[r]}\n"
            for rings in (1, 2, 4) for r in range(5))},
        "max(dropped_packets), count(*)", 1, [(7104, 15)],
    ),
    # Rails and moments in a header are no steps of a setting.
    "rails in a header": Case(
        {"rails.csv": "part,3V,5V,12V\n" + "".join(
            f"{part},{3.25 + n / 64},{5.0 + n / 64},{12.0 + n / 64}\n"
            for n, part in enumerate(("disk", "board", "fan", "port")))},
        "part", 4, [("board",)], no_knobs=("voltage",),
    ),
    # Each view of a run repeats its energy, which nobody set for that.
    "costs that repeat": Case(
        {"views.csv": "part,energy_j,time_s,cells\n" + "".join(
            f"{part},{joules},{joules / 7:.4f},{cells}\n"
            for joules in (93.4716, 88.1253, 71.3302)
            for part, cells in (("rim", 40), ("core", 90)))},
        "count(*), min(energy_j)", 1, [(6, 71.3302)], no_knobs=("energy", "time"),
    ),
    # An estimate of a plug-in of Android Runner: an energy whose unit nothing says.
    "estimates of a phone": Case(
        {"phone.csv": "Batterystats,Cpu,App\n" + "".join(
            f"{120 + n * 17 % 23 + n / 1000:.4f},{20 + n * 13 % 29 + n / 900:.5f},v{n % 2}\n"
            for n in range(20))},
        "count(*), min(energy_j)", 1, [(20, 120.0)],
    ),
    # A matrix: what was swept stands in the header with its unit, and in the first column.
    "a matrix of settings": Case(
        {"report/board.csv": "Busy,900MHz,1500MHz,2100MHz,\n" + "".join(
            f"{load}%, {load / 7e9}, {load / 5e9}, {load / 6e9}\n" for load in (20, 45, 95))},
        "busy, frequency, value", 9, [(20.0, 900, 20 / 7e9), (20.0, 1500, 20 / 5e9)],
    ),
    # In each file the share follows from the workers; the least part was measured.
    "shares of two sizes": Case(
        {f"{name}.csv": "cycle,W,sort_s,least,share\n" + "".join(
            f"{cycle},{w},{size / 1e7 / w + cycle / 10:.4f},{size // w - 37 * w},{size // w}\n"
            for cycle in (1, 2) for w in (1, 3, 5, 7)) for name, size in (
                ("small", 40_000_000), ("large", 400_000_000))},
        "count(*)", 1, [(16,)], no_knobs=("least", "share"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", [*CASES])
def test_a_strange_table_is_read(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    raw, lake = tmp_path / "study", tmp_path / "lake"
    write_files(raw, case.files)
    assert main(["add", str(raw), "--lake", str(lake)]) == case.status
    with open_lake(lake) as opened:
        query = f"SELECT {case.columns} FROM runs GROUP BY ALL ORDER BY ALL"
        query = query if "count(" in query else query.replace(" GROUP BY ALL", "")
        found = opened.polars(query).rows()
        knobs = opened.catalogue.knobs
        state = default_state(LakeView(opened))
    assert (len(found), found[: len(case.rows)]) == (case.runs, case.rows)
    assert not case.opens or state.selection.values("workload") == (case.opens,)
    given = {column.removeprefix("c_") for column, knob in knobs.items() if knob.is_given}
    assert {*case.given} <= given
    if case.given:
        assert any(k.startswith("c_") and not knob.is_given for k, knob in knobs.items())
    assert {f"c_{name}" for name in case.no_knobs}.isdisjoint(knobs)


@pytest.mark.parametrize(
    ("heading", "names", "is_given"),
    [
        ("benchmark", ("mix_a", "mix_b", "mix_c"), True),
        ("input", ("pets_small", "pets_large"), True),
        ("benchmark", ("mix_naive", "mix_tuned"), False),
        ("program", ("shop_check_single", "shop_check_split"), False),
        ("server", ("toad 1.2", "newt 2.4"), False),
    ],
)
def test_works_of_a_suite_do_not_compete(
    heading: str, names: tuple[str, ...], is_given: bool, tmp_path: Path
) -> None:
    """Forms of one program and servers compete; workloads and data of a suite are other work."""
    rows = [f"{name},{30 + len(name) + r / 8},{3 + r / 9}\n" for name in names for r in range(3)]
    raw, lake = tmp_path / "study", tmp_path / "lake"
    write_files(raw, {"suite.csv": "".join([f"{heading},energy_j,duration_s\n", *rows])})
    assert main(["add", str(raw), "--lake", str(lake)]) == 0
    with open_lake(lake) as opened:
        assert opened.catalogue.knobs[f"c_{heading}"].is_given == is_given


@pytest.mark.parametrize(("per_product_j", "is_given"), [(0.0001, False), (0.01, True)])
def test_a_number_of_a_name_is_work_if_costs_grow_with_it(
    per_product_j: float, is_given: bool, tmp_path: Path
) -> None:
    """Twice a clock costs little more energy; twice the work costs twice as much."""
    files = {
        f"out/energy-{one}-{two}.json": json.dumps(
            {"energy_j": 300 + per_product_j * one * two, "duration_s": 9 + one / 800}
        )
        for one in (700, 1400, 2100)
        for two in (250, 500)
    }
    raw, lake = tmp_path / "study", tmp_path / "lake"
    write_files(raw, files)
    assert main(["add", str(raw), "--lake", str(lake)]) == 0
    with open_lake(lake) as opened:
        knobs = opened.catalogue.knobs
        numbers = opened.polars("SELECT DISTINCT file, file_2 FROM runs ORDER BY ALL").rows()
    assert numbers[:2] == [(700, 250), (700, 500)]
    assert (knobs["c_file"].is_given, knobs["c_file_2"].is_given) == (is_given, is_given)
    assert knobs["c_file_2"].title == "number 2 in file name"

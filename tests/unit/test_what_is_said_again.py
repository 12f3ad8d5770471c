"""Studies whose columns and paths say again what others say, or only number runs."""

from pathlib import Path

import pytest

from data.connection import open_lake
from ingest.__main__ import main
from tests.fixtures.ingest import details, ingest, put, query
from tests.fixtures.raw_runs import write_files
from tests.fixtures.unseen import Studies, check_study

_JOULES = (91.25, 88.5, 90.75, 87.375, 92.125, 89.5, 90.25, 88.875)
STUDIES: Studies = {
    # Two files have each setting once, and none of them is always above the other.
    "files that repeat a sweep": (
        {f"RAW{n}.csv": "app,threads,energy_j,exec_s\n" + "".join(
            f"{app},{threads},{first / threads + (n * at) % 3},{40.5 / threads + n * (at % 2)}\n"
            for at, (app, first, threads) in enumerate(
                (app, first, threads) for app, first in (("join", 90.25), ("scan", 60.5))
                for threads in (1, 2, 4)))
         for n in (1, 2)},
        "app, thread_count, replicate, energy_j", 12,
        [("join", 1, 1, 90.25), ("join", 1, 2, 90.25), ("join", 2, 1, 46.125)],
    ),
    # What is always above was measured of something else.
    "files of two sweeps": (
        {f"data{n}.csv": "app,governor,energy_j\n" + "".join(
            f"{app},{governor},{joules * n}\n" for (app, governor), joules in zip(
                ((app, governor) for app in ("join", "scan") for governor in ("eco", "fast")),
                _JOULES[:4], strict=True))
         for n in (1, 2)},
        "app, governor, data, replicate, energy_j", 8,
        [("join", "eco", 1, 0, 91.25), ("join", "eco", 2, 0, 182.5)],
    ),
    # A cycle counts the runs of each phase; one file has fewer of them.
    "cycles of phases": (
        {f"phases_{unit}.csv": "cycle,phase,dur_ms,energy_mJ\n" + "".join(
            f"{cycle},{phase},{20.5 * phase + (cycle * 7) % 5},{3.25 * phase + (cycle * 5) % 7}\n"
            for cycle in range(1, cycles + 1) for phase in (1, 2, 3))
         for unit, cycles in (("a", 14), ("b", 9))},
        "phase, phases, replicate, duration_s", 69,
        [(1, "a", 1, 0.0225), (1, "a", 2, pytest.approx(0.0245))],
    ),
    # The folder says in words what a digest and a path say.
    "documents with a digest": (
        {f"20260131T08{n}500Z_net_{kind}_{mode}/result.json":
         f'{{"captured_utc": "20260131T08{n}500Z", "engine": "out/net_{kind}.plan",'
         f' "engine_sha256_16": "{digest}", "git": {{"dirty": {dirty}}},'
         f' "energy_j": {joules}, "time_s": {12.5 + n}}}'
         for n, (kind, mode, digest, dirty, joules) in enumerate((
             ("int8", "15W", "8cf1370a6a1e8bc4", "true", 91.25),
             ("int8", "25W", "8cf1370a6a1e8bc4", "false", 72.5),
             ("fp16", "15W", "a2ee38b28e0d1f4e", "true", 142.75),
             ("fp16", "25W", "a2ee38b28e0d1f4e", "true", 133.25)))},
        "precision_text, energy_j", 4,
        [("fp16", 133.25), ("fp16", 142.75), ("int8", 72.5)],
    ),
    # Both tables have the means of two prompts, each with settings of its own.
    "one measurement below two headings": (
        {"by_length.csv": "model,context,accuracy,mean_energy_j,mean_ttft_ms\n" + "".join(
            f"yi,{n},{0.5 + n / 70000:.9f},{72310.268 / (n + 7):.9f},{79.2813 * (n + 3):.9f}\n"
            for n in (512, 1024, 2048)),
         "by_strategy.csv": "model,strategy,accuracy,mean_energy_j,mean_ttft_ms,w\n" + "".join(
            f"yi,{name},{0.5 + n / 70000:.9f},{72310.268 / (n + 7):.9f},{79.2813 * (n + 3):.9f},"
            f"{n % 91}.5\n" for name, n in (
                ("ctx_512", 512), ("ctx_1024", 1024), ("plain", 77), ("terse", 131)))},
        "context, strategy, energy_j", 5, [(512, None, pytest.approx(139.326, abs=1e-3))],
    ),
    # A model that is told by its path stands with each quantization.
    "paths of two models": (
        {"spark.csv": "Modelo,Tarea,Energía (J),TTFT (s),Tokens Prompt,Cuantizacion\n" + "".join(
            f"hub/{name}-GGUF/{name}-{quant}.gguf,{task},{100.5 + 7 * at},{0.25 + at / 16},"
            f"{1000 * len(name) + 37 * len(task)},{quant}\n"
            for at, (name, quant, task) in enumerate(
                (name, quant, task) for name in ("opt-3B", "yi-12B-it")
                for quant in ("q8_0", "q6_K", "q4_K_M") for task in ("qa", "resumen")))},
        "modelo, tarea, cuantizacion, energy_j", 12,
        [("opt-3B-GGUF", "qa", "q4_K_M", 128.5)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("style", STUDIES)
def test_a_study_comes_out_right_without_settings(style: str, tmp_path: Path) -> None:
    check_study(STUDIES, style, tmp_path)


FIO = """job: (g=0): rw={rw}, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=x, \
iodepth={depth}
fio-3.{version}
Starting 1 process

job: (groupid=0, jobs=1): err= 0: pid=41: Sat Jan 31 08:15:00 2026
  read: IOPS={iops}, BW=40.0MiB/s (41.9MB/s)(400MiB/10000msec)
    slat (usec): min=2, max=90, avg=4.50, stdev=1.25
    clat (usec): min=20, max=900, avg={latency}, stdev=8.50
     lat (usec): min=22, max=910, avg={latency}, stdev=8.75
    clat percentiles (usec):
     |  1.00th=[   30],  5.00th=[   40], 50.00th=[   90], 99.00th=[  150]
  lat (usec)   : 50=10.00%, 100=80.00%, 250=10.00%
  cpu          : usr=2.50%, sys=5.50%, ctx=102400, majf=0, minf=12
  IO depths    : 1=100.0%, 2=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%
     issued rwts: total={count},0,0,0 short=0,0,0,0 dropped=0,0,0,0

Run status group 0 (all jobs):
   READ: bw=40.0MiB/s (41.9MB/s), 40.0MiB/s-40.0MiB/s (41.9MB/s-41.9MB/s), io=400MiB, run=10000msec
"""


def _fio(version: int, depth: int, count: int) -> str:
    iops, latency = count // 10, f"{80 + depth}.25"
    return FIO.format(
        rw="randread", depth=depth, version=version, iops=iops, latency=latency, count=count
    )


TOOLS: Studies = {
    # Each machine has a folder; the names say again what fio states.
    "outputs of fio of two machines": (
        {f"{folder}/read-{depth}deep.txt": _fio(version, depth, count + depth)
         for folder, version, count in (("lap_a1", 19, 102_400), ("desk_b", 16, 204_800))
         for depth in (1, 8)},
        "folder, io_depth, iops", 4,
        [("desk_b", 1, pytest.approx(20480.1)), ("desk_b", 8, pytest.approx(20480.8))],
    ),
    # Numbered folders are of repetitions.
    "outputs of fio of two runs": (
        {f"run{n}/read-{depth}deep.txt": _fio(19, depth, 102_400 + depth + 10 * n)
         for n in (1, 2) for depth in (1, 8)},
        "replicate, io_depth, iops", 4,
        [(1, 1, pytest.approx(10241.1)), (1, 8, pytest.approx(10241.8))],
    ),
    # Above one of two folders of a name is another one, which some files lack.
    "a folder above some files": (
        {f"{above}Q{q}/means_Q{q}.csv": "categoria,energia_j,tiempo_s\n" + "".join(
            f"{kind},{first + 7 * at},{first / 10 + at}\n"
            for at, kind in enumerate(("math", "stem", "writing")))
         for above, q, first in (("", 4, 90.5), ("yi/", 4, 40.25), ("yi/", 8, 60.75))},
        "model, q, categoria, energy_j", 9,
        [("yi", 4, "math", 40.25), ("yi", 4, "stem", 47.25)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("style", TOOLS)
def test_a_folder_that_alone_tells_runs_apart_is_a_setting(style: str, tmp_path: Path) -> None:
    check_study(TOOLS, style, tmp_path)


def test_means_of_one_run_each_add_no_column(tmp_path: Path) -> None:
    """A summary writes the last digits of the same numbers in another way, and calls them means."""
    settings = [(s, c) for s in ("spec", "plain") for c in ("off", "low")]
    energies = [(2.0768522170360044 + at / 8, 40.847196102142334 + at) for at in range(4)]
    rows, means = ["strategy,cap,gpu_energy_Wh,wall_time_s,tokens_per_s"], ["strategy,cap"]
    means[0] += "".join(f",{n}_mean,{n}_count" for n in ("gpu_energy_Wh", "wall_time_s"))
    for (strategy, cap), (energy, time) in zip(settings, energies, strict=True):
        rows.append(f"{strategy},{cap},{energy},{time},{13132 / time}")
        means.append(f"{strategy},{cap},{energy * (1 + 3e-16)},1,{time * (1 + 3e-16)},1")
    raw, lake = tmp_path / "study", tmp_path / "lake"
    write_files(raw, {"runs.csv": "\n".join(rows), "summary.csv": "\n".join(means)})
    assert main(["add", str(raw), "--lake", str(lake)]) == 0
    with open_lake(lake) as opened:
        runs = opened.polars("SELECT * FROM runs")
    assert len(runs) == 4
    assert not [name for name in runs.columns if name.endswith("_mean")]


CAPS = (60, 80, 100, 120)


def capped(none: str, factor: float = 9.5) -> str:
    """Return rows of caps, or of a machine without one, twice each."""
    watts = lambda cap: 150 if cap == none else int(cap)  # noqa: E731
    rows = (
        f"{cap},{rep},{factor * watts(cap) + rep / 7:.3f},{factor + rep / 77:.4f}"
        for cap in ([none] if none else CAPS)
        for rep in (1, 2)
    )
    return "\n".join(("power_limit_w,rep,energy_j,time_s", *rows)) + "\n"


@pytest.mark.parametrize("none", ["-1", "none", "n/a", "default"])
def test_a_folder_says_again_that_no_limit_is_set(none: str, lake: Path, tmp_path: Path) -> None:
    """The limits of the other folder are settings, though the column has no number in one file."""
    put(tmp_path / "raw" / "capped" / "runs.csv", capped(""))
    put(tmp_path / "raw" / "baseline" / "runs.csv", capped(none))
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    assert not any("from the path" in each for each in details(report, "guessed_columns"))
    assert not details(report, "duplicate_key")
    limits = query(lake, "SELECT power_limit_w AS w, count(*) AS n FROM runs GROUP BY ALL")
    assert {(str(row["w"]), row["n"]) for row in limits} == {
        *((str(cap), 2) for cap in CAPS),
        (none if none == "default" else "None", 2),
    }


def test_a_folder_of_a_variant_is_a_setting(lake: Path, tmp_path: Path) -> None:
    for folder, factor in (("baseline", 9.5), ("tuned", 8.75)):
        put(tmp_path / "raw" / folder / "runs.csv", capped("", factor))
    report = ingest(lake, tmp_path / "raw", is_proposing=True)
    assert all("(2, from the path)" in each for each in details(report, "guessed_columns"))

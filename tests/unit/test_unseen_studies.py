"""Studies as people leave them, fed without a line of settings: their runs, energy and time.

Each is written in another style: wide tables, means with deviations, meters beside times of runs,
running totals, texts of perf. Each has its columns, the number of its runs, and the first of them
in order; what was worked by hand stands beside it.
"""

import zipfile
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from data.connection import open_lake
from ingest.__main__ import REFUSED, main
from tests.fixtures.raw_runs import write_files

METER = "timestamp,W\n" + "".join(f"2023-09-14T10:00:{s:02d}.000,{100 + 10 * (s >= 10)}\n"
                                  for s in range(31))  # fmt: skip
# 2 s a sample, 10 J and 5 J each; the first package wraps where powercap has 2^-16 J a unit.
COUNTERS = "time_ns,package-0,package-1,dram-0\n" + "".join(
    f"{9_000_000_000_000 + s * 2_000_000_000},{(65_500_000_000 + s * 10_000_000) % 65_532_610_987},"
    f"{1_000_000_000 + s * 5_000_000},{2_000_000_000 + s * 1_000_000}\n"
    for s in range(8)
)
PERF = """=== Tue Nov 22 19:29:23 CET 2022 ===
 Performance counter stats for 'system wide':

          1,779.50 Joules power/energy-pkg/
             61.70 Joules power/energy-ram/
   472,430,367,227      cycles:u
                 0      context-switches:u
             7,321      page-faults:u             #   12.345 K/sec
   785,539,783,829      instructions              #   1.66  insn per cycle

      9.224273025 seconds time elapsed
"""
MLLOG = "".join(f':::MLLOG {{"key": "{key}", "value": "{value}"}}\n' for key, value in (
    ("loadgen_version", "3.0"), ("power_begin", "02-24-2023 13:08:05.000"),
    ("power_end", "02-24-2023 13:08:15.000")))  # fmt: skip
SPL = "".join(f"Time,02-24-2023 13:08:{s:02}.500,Watts,100.0,Volts,205.8,Mark,a_testing,"
              f"Ch1,Watts,40.0,Volts,205.9,Ch2,Watts,60.0,Volts,205.7\n"
              for s in range(25))  # fmt: skip
LIKWID = """LIKWID MICRO BENCHMARK
Test: copy
Using {threads} threads
Time:\t\t\t2.104599e+02 sec
MFlops/s:\t\t0.00
Data volume (Byte):\t25600000000000
MByte/s:\t\t121638.40
"""
WRK = (
    "Running 30s test @ http://10.0.0.2/\n  8 threads and 64 connections\n"
    "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     1.20ms"
    "    0.70ms    9.00ms   90.00%\n    Req/Sec     6.10k   100.00     6.90k    70.00%\n"
    "  Latency Distribution\n     50%    1.00ms\n     99%    4.10ms\n"
    "  1470000 requests in 30.02s, 1.10GB read\nRequests/sec:  48967.35\n"
)
_BENCHMARKS = ("fft", "lu", "is")
STUDIES: dict[str, tuple[dict[str, str], str, int, list[tuple[Any, ...]]]] = {
    "load table": (
        {f"etc_{name}.dat": "# memcached, ETC\n# QPS(k) achieved p99(us) power(W)\n"
         f"25 25.1 {p99} 120.5\n50 49.9 200.0 131.5\n75 75.0 220.0 140.0\n100 99.7 230.0 150.0\n"
         for name, p99 in (("performance", 170.5), ("powersave", 180.5))},
        "governor, qps_k, latency_p99_us, power_w, performance_metric", 8,
        [("performance", 25, 170.5, 120.5, "latency_p99_us")],
    ),
    # What wrk says of the requests, and perf of the energy, of each run.
    "two programs a run": (
        {f"{server}_w{w}_c{c}_run{run}.{end}": text for server in ("nginx", "caddy")
         for w in (1, 8) for c in (16, 64) for run in (1, 2) for end, text in (
             ("wrk", WRK), ("perf", PERF))},
        "file, w, c, replicate, energy_j, latency_p99_us, throughput_qps, workload", 16,
        [("caddy", 1, 16, 1, 1779.5, 4100.0, 48967.35, "study")],
    ),
    # The time of day tells the files of a rate apart and is no setting; no one said node.js.
    "rates with times of day": (
        {f"w1_rate={rate}_2026-02-26 19_1{at}_12_output.txt": WRK
         for at, rate in enumerate((400, 400, 1600))},
        "load_qps, latency_p99_us, throughput_qps, workload, performance_metric", 3,
        [(400.0, 4100.0, 48967.35, "study", "latency_p99_us")] * 2,
    ),
    # Running totals of two services, 5 J and 1 J in 5 s; only the file's name says what they are.
    "what the file's name says": (
        {f"{scaler}/rps{rps}/run_{run}/{name}": text for scaler in ("hpa", "none")
         for rps in (100, 200) for run in (1, 2) for name, text in (
             ("container_joules_total.csv", '"Time","cart","shop"\n' + "".join(
                 f"2024-09-03 11:20:{5 * at:02d},{900.5 + 5 * at},{70.5 + at}\n"
                 for at in range(12))),
             ("summary.json", '{"metrics": {"http_req_duration": {"avg": 41.5, "p(95)": 90.5}, '
              '"http_reqs": {"count": 5000, "rate": 99.5}}}'))},
        "folder, rps, replicate, energy_j, latency_p95_us, throughput_qps", 8,
        [("hpa", 100, 1, pytest.approx(66.0), 90_500.0, 99.5)],
    ),
    # Watts behind dates, as `ipmitool` in a loop leaves them: 150 W for 20 s.
    "dates and numbers": (
        {f"{disk}_{n}.csv": "".join(
            f"2022-03-09 09:00:{2 * at:02d},{149 + at % 3}\n" for at in range(9))
         for disk in ("nvme", "sata") for n in (1, 2)},
        "file, replicate, power_w, energy_j", 4,
        [("nvme", 1, pytest.approx(150.0), pytest.approx(2700.0))],
    ),
    # Energies of two sockets, and names of rows: 60.5 J and 40.5 J.
    "sockets apart": (
        {"npb.csv": '"","bench","threads","rep","elapsed","joules.pkg.0","joules.pkg.1",'
         '"joules.dram.0"\n' + "".join(
             f'"{n}","{b}",{t},{rep},{2.5 + n},{60.5 + n},{40.5 + n},{5.5 + n}\n'
                          for n, (b, t, rep) in enumerate(product(("bt", "cg"), (8, 16), (1, 2))))},
        "bench, threads, replicate, energy_j, duration_s", 8,
        [("bt", 8, 1, 101.0, 2.5), ("bt", 8, 2, 103.0, 3.5)],
    ),
    # Lines of a log end with what was measured; a path says what was set, the document what came.
    "objects in a log": (
        {"bench.log": "".join(
            f"2023-02-02 22:00:{n:02d},101 INFO start {mode}\n2023-02-02 22:00:{n:02d},512 INFO "
            f'result {{"rx_mode": "{mode}", "size": {size}, "rep": {rep}, "power_w": {40.5 + n}, '
            f'"latency_p99_us": {9.5 + n}, "rx_mpps": {1.5 + n}}}\n' for n, (mode, size, rep) in
            enumerate(product(("poll", "interrupt"), (64, 1500), (0, 1))))},
        "rx_mode, size, replicate, power_w, latency_p99_us, rx_mpps", 8,
        [("interrupt", 64, 0, 44.5, 13.5, 5.5)],
    ),
    "means of batches": (
        {f"{model}/batch_size_{size}/means_prompt{n}.json": f'{{"batch_size": {size - 0.1 * n}, '
         f'"energy_j": {size * 10.5 + n}, "avg_power_draw": 300.5, "total_seconds": {20.5 + n}}}'
         for model in ("gemma", "llama") for size in (16, 64, 128) for n in (1, 2, 3)},
        "folder, batch_size_of_path, prompt, batch_size, energy_j, duration_s", 18,
        [("gemma", 16, 1, 15.9, 169.0, 21.5)],
    ),
    # 120 W in the ten seconds of each try; a date in two columns, decimal commas.
    "a meter of a day": (
        {"messung.csv": "Datum;Uhrzeit;Spannung (V);Wirkleistung (W)\n" + "".join(
            f"14.06.2023;10:{at // 60:02d}:{at % 60:02d};229,8;120,0\n" for at in range(400)),
         "versuche.csv": "Versuch;Governor;Kerne;Beginn;Ende;Durchsatz [1/s]\n" + "".join(
             f"{n + 1};{governor};{cores};14.06.2023 10:{n // 2:02d}:{30 * (n % 2) + 5:02d};"
             f"14.06.2023 10:{n // 2:02d}:{30 * (n % 2) + 15:02d};{400 + n},5\n"
             for n, (governor, cores, _) in enumerate(
                 product(("powersave", "performance"), (2, 4, 8), range(2))))},
        "governor, kerne, replicate, energy_j, duration_s, durchsatz", 12,
        [("performance", 2, 0, pytest.approx(1200.0), 10.0, 406.5)],
    ),
    # Of powerstat's file the summary is no sample; `time -p` says how long it took.
    "powerstat beside a time": (
        {f"{db}/q{q}/r{run}/{name}": text for db in ("duckdb", "postgres") for q in (1, 5)
         for run in (1, 2) for name, text in (
             ("powerstat.log", "Running for 9.0 seconds (9 samples at 1.0 second intervals).\n"
              "Power measurements will start in 0 seconds time.\n\n  Time    User  Idle Ctxt/s"
              "  Watts\n" + "".join(
                  f"10:02:{at:02d}   9.5  90.5    700  60.00\n" for at in range(9))
              + "-------- ----- ----- ------ ------ \n Average   9.5  90.5  700.0  60.00 \n"
              "  StdDev   0.5   0.5   90.0   0.00 \n-------- ----- ----- ------ ------ \n"),
             ("time.txt", "real 8.75\nuser 7.50\nsys 0.25\n"))},
        "folder, q, replicate, energy_j, duration_s", 8,
        [("duckdb", 1, 1, pytest.approx(540.0), 8.75)],
    ),
    # A number stands for a configuration; a supply of 3 V and a current give a power.
    "numbers of configurations": (
        {"configurations.csv": "config_id,scheduler,freq_mhz\n" + "".join(
            f"{n},{scheduler},{freq}\n" for n, (scheduler, freq) in enumerate(
                product(("cfs", "bore"), (1800, 2600)), 1)),
         "boards.csv": "board,tdp_w\npi,5\nodroid,12\n",
         "measurements.csv": "id,board,config_id,repetition,avg_current_ua,supply_mv,rps"
         + "".join(f"\n{n},{('pi', 'odroid')[n % 2]},{config},{rep},{2000 + n},3000,{90.5 + n}"
                   for n, (config, rep) in enumerate(product(range(1, 5), (1, 2)))) + "\n"},
        "scheduler_text, freq_mhz, board, tdp_w, replicate, power_w", 8,
        [("bore", 1800, "odroid", 12, 2, pytest.approx(0.006015)),
         ("bore", 1800, "pi", 5, 1, pytest.approx(0.006012))],
    ),
    # 100 W to 10 s, 110 W after: 5 s and 5 s.
    "meter beside runs": (
        {"meter/run01.csv": METER,
         "runs.csv": "run_id,encoder,start,end,vmaf\nrun01,x264,2023-09-14T10:00:05.000,"
         "2023-09-14T10:00:15.000,91.5\n"},
        "encoder, duration_s, energy_j, vmaf", 1,
        [("x264", 10.0, pytest.approx(1050, rel=0.01), 91.5)],
    ),
    "a benchmark a column": (
        {"sweep.csv": "freq_mhz," + ",".join(f"{b}_energy_j,{b}_time_s" for b in _BENCHMARKS)
         + "\n1200,290.5,17.5,470.5,27.5,99.5,5.5\n2400,310.5,10.5,500.5,18.5,90.5,4.5\n"},
        "freq_mhz, series, energy_j, duration_s", 6,
        [(1200, "fft", 290.5, 17.5), (1200, "is", 99.5, 5.5), (1200, "lu", 470.5, 27.5)],
    ),
    # Two names are rivals where a column compares them, else parts of a run.
    "rivals in columns": (
        {"m.csv": "tenants,energy_seq_mJ,energy_fused_mJ,power_seq_W,power_fused_W,saving_pct\n"
         "1,10500,6500,60.5,80.5,38.1\n2,20500,12500,61.5,81.5,39.0\n"},
        "tenants, alternative, energy_j, power_w", 4,
        [(1, "fused", 6.5, 80.5), (1, "seq", 10.5, 60.5)],
    ),
    "parts in columns": (
        {"m.csv": "tenants,energy_train_J,energy_infer_J,power_train_W,power_infer_W,saving_pct\n"
         "1,10500,6500,60.5,80.5,38.1\n2,20500,12500,61.5,81.5,39.0\n"},
        "tenants, energy_train_j, energy_infer_j", 2, [(1, 10500.0, 6500.0)],
    ),
    "perf for people": (
        {f"logs/{governor}_{threads}threads_run{run}.log": PERF
         for governor in ("ondemand", "performance") for threads in (2, 4) for run in (1, 2)},
        "governor, threads, replicate, energy_j, duration_s, instructions, dram_energy, cycles, "
        "context_switches, page_faults", 8,
        [("ondemand", 2, 1, 1779.5, 9.224273025, 785_539_783_829, 61.7, 472_430_367_227, None,
          7321)],
    ),
    # 2 A at 4 V in 60 s.
    "battery": (
        {"runs.csv": "Device,Trial,Duration (ms),Current (mA),Voltage (mV),Battery level (%)\n"
         "A,1,60000,2000,4000,68\nA,2,60000,1000,3990,63\nB,1,30000,500,3980,60\n"},
        "device_text, replicate, power_w, energy_j, duration_s", 3,
        [("A", 1, 8.0, 480.0, 60.0)],
    ),
    "means of a spreadsheet": (
        {"Auswertung.csv": "\ufeffEnergiemessung;;;;;\r\nServer: Xeon;;;;;\r\n;;;;;\r\n"
         "System;n;Energie Mittelwert [kJ];Energie Std.abw. [kJ];Zeit Mittelwert [s];"
         "Zeit Std.abw. [s]"
         "\r\nA;5;61,059;1,296;422,38;6,85\r\nB;10;98,372;1,756;567,55;11,02\r\n"},
        "aggregate_n, energy_j, sd_energy_j, duration_s, sd_duration_s", 2,
        [(5, 61_059.0, 1_296.0, 422.38, 6.85)],
    ),
    "running totals": (
        {f"raw/gemm-O{o}-{threads}threads-{rep}.csv": COUNTERS
         for o in (2, 3) for threads in (1, 8) for rep in (1, 2)},
        "o, threads, replicate, energy_j, duration_s", 8,
        # Seven steps of 15 J in 2 s; the first sample only begins them.
        [(2, 1, 1, pytest.approx(105.0, rel=1e-8), 14.0)],
    ),
    "row names of R": (
        {"power.txt": '"device" "iodepth" "mean.power.W" "lat.us"\n"1" "nvme" 1 5.5 80.5\n'
         '"2" "nvme" 8 7.5 120.5\n"3" "sata" 1 3.5 200.5\n"4" "sata" 8 4.5 900.5\n'},
        "device, iodepth, power_w", 4,
        [("nvme", 1, 5.5), ("nvme", 8, 7.5)],
    ),
    # 2 W for 29 steps of 100 ms.
    "a board's milliseconds": (
        {f"coap_{size}B.csv": "millis,bus_V,power_mW\n"
         + "".join(f"{3308 + 100 * n},4.99,2000\n" for n in range(30)) for size in (64, 1024)},
        "power_w, energy_j", 2,
        [(pytest.approx(2.0), pytest.approx(6.0))],
    ),
    # A measurement a row; names in two rows, with those of the first columns below; nested keys.
    "tables of other shapes": (
        {"tidy.csv": "kernel,freq_mhz,rep,metric,value\n" + "".join(
            f"{kernel},{freq},{rep},time_s,{20.5 + rep}\n{kernel},{freq},{rep},energy_j,410.5\n"
            for kernel in ("cg", "ep") for freq in (1200, 2400) for rep in (1, 2)),
         "means.csv": ",,energy_j,energy_j,time_s,time_s\n,,mean,std,mean,std\nkernel,cores,,,,\n"
         "cg,4,99.5,1.5,9.5,0.1\ncg,8,89.5,1.5,5.5,0.1\nep,4,79.5,1.5,3.5,0.1\n",
         "nested.json": '{"bert": {"fp32": {"energy_j": 30.5, "time_s": 1.5}, "int8": {"energy_j": '
         '20.5, "time_s": 1.0}}, "gpt": {"fp32": {"energy_j": 90.5, "time_s": 4.5}, "int8": '
         '{"energy_j": 60.5, "time_s": 3.5}}}'},
        "energy_j, duration_s, kernel, freq_mhz, replicate, cores_whole, key, precision_text", 15,
        [(20.5, 1.0, None, None, 0, None, "bert", "int8"),
         (30.5, 1.5, None, None, 0, None, "bert", "fp32"),
         (60.5, 3.5, None, None, 0, None, "gpt", "int8"),
         (79.5, 3.5, "ep", None, 0, 4, None, None)],
    ),
    # A change between two runs is none; nor is a sample or a percentile of several.
    "what is no run": (
        {"results.csv": "metric,baseline,optimized,change\nEnergy (J),100,80,-20\n"
         "Time (s),10,9,-10\n",
         "power_w.csv": "sample,1200,2400\n" + "".join(
             f"{n},{50.1 + n},{80.2 + n / 2}\n" for n in range(6)),
         "latency_us.csv": "percentile,1000,2000,4000\n50,100,110,150\n90,200,220,300\n"
         "99,400,500,900\n",
         "energy_j.csv": "stat,1000,2000\nmean,100,110\np99,200,220\nmax,230,240\n"},
        "setting, energy_j, duration_s", 2, [("baseline", 100.0, 10.0), ("optimized", 80.0, 9.0)],
    ),
    # The runs stand in columns, and in cells of a file for each measurement.
    "a metric a row": (
        {f"{name}.csv": "metric,unit,run1,run2,run3\nenergy,J,100.5,110.5,120.5\n"
         "runtime,s,9.5,10.5,11.5\nfps,,1.5,1.25,1.75\n" for name in ("cg", "ep")},
        "file, replicate, energy_j, duration_s, fps", 6,
        [("cg", 1, 100.5, 9.5, 1.5), ("cg", 2, 110.5, 10.5, 1.25)],
    ),
    "settings in columns": (
        {"result.csv": ",1200,1800,2400\nEnergy (J),100.5,110.5,120.5\nTime (ms),9500,8500,7500\n"},
        "setting, energy_j, duration_s", 3,
        [(1200, 100.5, 9.5), (1800, 110.5, 8.5), (2400, 120.5, 7.5)],
    ),
    "rows of settings": (
        {"t.csv": ",run1,run2,run3,run4\nthreads,1,2,1,2\ngovernor,ondemand,ondemand,performance,"
         "performance\nenergy_j,100.5,80.5,60.5,50.5\ntime_s,10.5,5.5,4.5,2.5\n"},
        "governor, threads, energy_j, duration_s", 4,
        [("ondemand", 1, 100.5, 10.5), ("ondemand", 2, 80.5, 5.5), ("performance", 1, 60.5, 4.5)],
    ),
    "settings in the names of columns": (
        {"t.csv": "metric,cg_1200,cg_2400,ep_1200,ep_2400\nenergy_j,100.5,80.5,60.5,50.5\n"
         "time_s,10.5,5.5,4.5,2.5\n"},
        "setting_part, setting_part_2, energy_j, duration_s", 4,
        [("cg", 1200, 100.5, 10.5), ("cg", 2400, 80.5, 5.5)],
    ),
    "a metric a file": (
        {"energy_j.csv": "threads,1200MHz,2400MHz\n1,100.5,110.5\n4,90.5,95.5\n8,85.5,\n",
         "runtime_s.csv": "threads,1200MHz,2400MHz\n1,20.5,10.5\n4,6.5,3.5\n8,4.5,\n"},
        "threads, frequency, energy_j, duration_s", 5,
        [(1, 1200, 100.5, 20.5), (1, 2400, 110.5, 10.5), (4, 1200, 90.5, 6.5)],
    ),
    # Cells have units: 10k and 2min were set; a column of the lake's name is another one.
    "units in cells": (
        {"sweep.csv": "pause,heap,requests,joules_per_op,energy_cv_pct,energy_j,time_s\n" + "".join(
            f"{pause}min,{heap}GB,{n}k,{0.5 + n},{1.5 + n},{20.5 + n + heap},{9.5 + n - pause}\n"
            for pause, heap, n in product((2, 5), (4, 8), (10, 20)))},
        "pause, heap, requests_of_table, energy_j, duration_s, performance_metric", 8,
        [(2, 4, "10k", 34.5, 17.5, "duration_s")],
    ),
    # All combinations of programs and engines, which no separator tells apart, and the folder.
    "names of two lists": (
        {f"out/{program}/end/{program}_all.csv": "benchmark,energy_J_per_call,s_per_call,power_W\n"
         + "".join(f"{program}_{engine},{n}.25,0.{n}5,12.{n}\n"
                   for n, engine in enumerate(("native", "v1_jit", "v1_aot"), 1))
         for program in ("cold", "img_scale")},
        "benchmark_part, part_2, power_w, performance_metric", 6,
        [("cold", "native", 12.1, "s_per_call"), ("cold", "v1_aot", 12.3, "s_per_call")],
    ),
    # The name of the file says in short what the command says.
    "commands beside names": (
        {f"{gpu}-nets.csv": "clock,arg,time_s,power_W\n" + "".join(
            f"{clock},net -gpu={at} -iterations=100,{9.5 - n},{90.5 + n + at}\n"
            for n, clock in enumerate((1607, 1708, 1898)))
         for at, gpu in enumerate(("p40", "x1"))},
        "file, clock, energy_j, duration_s", 6,
        [("p40", 1607, pytest.approx(859.75), 9.5)],
    ),
    # Names of settings in each row: numbers of GPUs do not make samples of it.
    "numbers of devices": (
        {"llm.csv": "Model,Quant,GPU,Latency (s),Energy (Wh)\n" + "".join(
            f"{model},{bits},{gpu},{20.5 - n},{0.05 + n}\n" for n, (model, bits, gpu) in enumerate(
                product(("opt", "phi", "qwen"), ("f16", "q4", "q8"), (3060, 4090))))},
        "model, quant, gpu, energy_j, latency_mean_us", 18,
        [("opt", "f16", 3060, pytest.approx(180.0), 20_500_000.0)],
    ),
    "work of an energy": (
        {"sweep.csv": "governor,energy_j,ops_per_joule,ops_cv_pct\n" + "".join(
            f"{governor},{90.5 + n},{4.25 + n / 7},{1.5 + n}\n"
            for n, governor in enumerate(["powersave", "performance"] * 4))},
        "governor, energy_j, performance_metric", 8,
        [("performance", 91.5, None)],
    ),
    # Names like those of measurements are still what ran.
    "names and scores": (
        {"scores.csv": "program,threads,score\npower_virus,1,10.5\nenergy_sort,2,11.5\n"
         "time_series,4,12.5\n"},
        "program, score", 3,
        [("energy_sort", 11.5)],
    ),
    # A run has a file of each; GNU time says 1 min 2.5 s.
    "two files a run": (
        {f"cpu={cpu}_freq={freq}/run{n}/{name}.txt": text for cpu in (4, 8) for freq in (1200, 1600)
         for n in (1, 2) for name, text in (
             ("time", "\tUser time (seconds): 9.5\n\tElapsed (wall clock) time (h:mm:ss or m:ss): "
              "1:02.50\n\tMaximum resident set size (kbytes): 512\n"),
             ("energy", "package-0: 1250.0 J\ndram: 99.5 J\n"))},
        "cpu, freq, replicate, energy_j, duration_s, dram", 8,
        [(4, 1200, 1, 1250.0, 62.5, 99.5)],
    ),
    # Of likwid's sums that of the energy counts; YCSB's threads stand in the path.
    "likwid": (
        {f"stream_t{n}_f{freq}GHz.csv": "STRUCT,Info,3,,\nCPU clock:,2.4 GHz,,,\n"
         "TABLE,Group 1 Metric,ENERGY,2,\nMetric,HWThread 0,HWThread 1,,\n"
         "Runtime (RDTSC) [s],2.5,2.5,,\nEnergy [J],60.5,40.5,,\n"
         "TABLE,Group 1 Metric STAT,ENERGY,2,\nMetric,Sum,Min,Max,Avg\n"
         "Runtime (RDTSC) [s] STAT,5.0,2.5,2.5,2.5\nEnergy [J] STAT,101.0,40.5,60.5,50.5\n"
         for n in (2, 4) for freq in (1.2, 2.4)},
        "t, frequency, energy_j, duration_s", 4,
        [(2, 1.2, 101.0, 2.5)],
    ),
    # 60 W in 12 s, beside what the program said.
    "power beside a log": (
        {f"{load}/threads_{n}/{name}": text for load in ("a", "b") for n in (8, 32)
         for name, text in (
             ("ycsb.log", "[OVERALL], RunTime(ms), 12000\n[OVERALL], Throughput(ops/sec), 500.5\n"
              "[READ], Operations, 6006\n[READ], AverageLatency(us), 810.5\n"),
             ("power.csv", "time,watts\n" + "".join(f"{at}.0,60.0\n" for at in range(12))))},
        "folder, threads, energy_j, throughput_qps", 4,
        [("a", 8, pytest.approx(720.0), 500.5)],
    ),
    # No heading has a unit: 5 V at 0.8 A are 4 W, in steps of 0.1 s. The names say whose traces.
    "traces of rows by their settings": (
        {"rpi4/latency.csv": "model,threads,run,p95_latency\n" + "".join(
            f"{model},{n},{run},{60.5 + n}\n" for model in ("mobile", "vit") for n in (1, 2)
            for run in (1, 2)),
         **{f"rpi4/traces/{model}_{n}t_{run}.csv": "time,voltage,current,power\n" + "".join(
             f"{100 * at + at % 3},5000,800.{at},4000.{at}\n" for at in range(20))
            for model in ("mobile", "vit") for n in (1, 2) for run in (1, 2)}},
        "model, threads, replicate, energy_j, duration_s, p95_latency", 8,
        [("mobile", 1, 1, pytest.approx(8.0, rel=0.01), pytest.approx(2.0, rel=0.01), 61.5)],
    ),
    # 60 W all the time, of which the rows take ten seconds each.
    "turbostat of a campaign": (
        {"README.md": "`turbostat -s Time_Of_Day_Seconds,Avg_MHz,Busy%,Bzy_MHz,PkgWatt`\nof all\n",
         "turbostat.txt": "Time_Of_Day_Seconds\tAvg_MHz\tBusy%\tBzy_MHz\tPkgWatt\n" + "".join(
             f"{1_699_430_400 + at}.000813\t7\t0.60\t1210\t60.00\n" for at in range(60)),
         "manifest.csv": "id,benchmark,governor,start,end,mops_total\n" + "".join(
             f"{n},{name},{governor},{1_699_430_405 + 12 * n},{1_699_430_415 + 12 * n},{90.5 + n}\n"
             for n, (name, governor) in enumerate((b, g) for b in ("bt", "ep")
                                                  for g in ("powersave", "performance")))},
        "benchmark, governor, energy_j, duration_s", 4,
        [("bt", "performance", pytest.approx(600.0), 10.0)],
    ),
    # 3 V at 0.5 A and 0.2 ms a sample.
    "a phone's monitor": (
        {f"{network}/brightness_{level}_{n}.csv": "Time(ms),Main(mA),Main Voltage(V)\n"
         + "".join(f"{0.2 * at:.1f},500.0,3.0\n" for at in range(50))
         for network in ("lte", "wifi") for level in (50, 100) for n in (1, 2)},
        "folder, brightness, replicate, power_w, duration_s", 8,
        [("lte", 50, 1, pytest.approx(1.5), pytest.approx(0.01))],
    ),
    # A label states all that was set; of uJ and us only the times of the rows tell.
    "labels of several parts": (
        {"pyrapl.csv": "label,timestamp,duration,pkg,socket\n" + "".join(
            f"{video}_{encoder}_crf{crf},{1_681_300_000 + 20 * n}.5,{10_000_000.5 + n},"
            f"{470_000_000.0 + n},0\n" for n, (video, encoder, crf, _) in enumerate(
                product(("crowd", "park"), ("svt", "vvenc"), (22, 28, 35), range(2)))),
         "quality.csv": "label;psnr_db\n" + "".join(
             f"{video}_{encoder}_crf{crf};{40.5 - crf / 10}\n" for video, encoder, crf in product(
                 ("crowd", "park"), ("svt", "vvenc"), (22, 28, 35)))},
        "label_part, label_part_2, crf, replicate, energy_j, duration_s, psnr_db", 24,
        [("crowd", "svt", 22, 0, 470.0, pytest.approx(10.0000005), 38.3)],
    ),
    # The steps of a job are in its energy.
    "jobs and their steps": (
        {"sacct.txt": "JobID|JobName|NNodes|ElapsedRaw|ConsumedEnergyRaw|ConsumedEnergy|ExitCode\n"
         + "".join(f"{job}|{name}|{n}|{600 + n}|{90_000 + n}|90K|0:0\n"
                   for n, f, r in product((1, 2), (1500, 2700), (1, 2))
                   for job, name in ((n * 9000 + f + r, f"lulesh-f{f}-n{n}-r{r}"),
                                     (f"{n * 9000 + f + r}.batch", "batch"),
                                     (f"{n * 9000 + f + r}.0", "lulesh")))},
        "nnodes, f, replicate, energy_j, duration_s", 8,
        [(1, 1500, 1, 90_001.0, 601.0), (1, 1500, 2, 90_001.0, 601.0)],
    ),
    # Only the steps have energies. A block of `time -p` is a run; texts of versions are settings.
    "energies of steps of jobs": (
        {"sacct.txt": "JobID|JobName|NCPUS|ElapsedRaw|ConsumedEnergyRaw|MaxRSS\n" + "".join(
            f"{job}|lu|{n}|{time}||\n{job}.batch|batch|{n}|{time}|{energy}|1200K\n"
            for job, n, time, energy in (
                (4711, 16, 100, 5000), (4712, 32, 60, 5600), (4713, 64, 40, 6400)))},
        "energy_j, duration_s", 3, [(5000.0, 100.0), (5600.0, 60.0), (6400.0, 40.0)],
    ),
    "a file of times": (
        {f"app_t{n}.log": "".join(
            f"real {time}\nuser 9.0\nsys 0.5\n" for time in (10.0, 12.0, 20.0)) for n in (1, 2)},
        "t, duration_s, cpu_user", 6, [(1, 10.0, 9.0), (1, 12.0, 9.0), (1, 20.0, 9.0)],
    ),
    "versions": (
        {"jobs.csv": "version,energy_j,time_s\nv1,100,10\nv1.1,90,9\nv1.2,85,8\nv2,70,7\n"
         "v2.1,60,6\n"},
        "version, replicate, energy_j", 5, [("v1", 0, 100.0), ("v1.1", 0, 90.0)],
    ),
    # Longer than the beginning by which files are known; a clock of a processor is no setting.
    "wide run table": (
        {"run_table.csv": "__run_id,__done,governor,run_time,"
         + ",".join(f"CPU_FREQUENCY_{n:030}" for n in range(100))
         + ",PACKAGE_ENERGY (J),throughput\n"
         + "".join(f"run_{at}_repetition_{r},DONE,{governor},120.5,"
                   + ",".join("800.0" if (n + r) % 2 else "2100.5" for n in range(100))
                   + f",{4000.5 + r + 10 * at},0.5\n"
                   for r in (2, 1, 4, 3) for at, governor in enumerate(("powersave", "ondemand")))},
        "governor, replicate, energy_j, duration_s", 8,
        [("ondemand", 1, 4011.5, 120.5), ("ondemand", 2, 4012.5, 120.5)],
    ),
    # A plan whose rows were not all run; two files have blanks behind their cells.
    "a plan in the middle": (
        {f"{language}/run_table.csv": f"__run_id,__done,language,size{mark},execution_time,"
         "energy_usage\n"
         f"run_0_repetition_0,DONE,{language}{mark},small{mark},17.81,7.993\n"
         f"run_1_repetition_0,DONE,{language}{mark},large{mark},35.25,15.5\n"
         f"run_2_repetition_0,TODO,{language}{mark},huge, , \n"
         for language, mark in (("c", " "), ("c++", ""))},
        "language, size, energy_j, duration_s", 4,
        [("c", "large", 15.5, 35.25), ("c", "small", 7.993, 17.81)],
    ),
    # Three samples, two of them at one time: 15 W and 19 W in 100.009 s.
    "few samples with their steps": (
        {f"{tool}_{cache}.csv": "Delta,Time,CPU_USAGE_0,SYSTEM_POWER (Watts)\n"
         "0,1771973076632,100,15.0\n100007,1771973076632,NaN,15.0\n22,1771973176641,96.6,19.0\n"
         for tool in ("pip", "uv") for cache in ("cold", "warm")},
        "file, file_2, energy_j, duration_s", 4,
        [("pip", "cold", pytest.approx(1700.153), pytest.approx(100.009))],
    ),
    # What was reached stands beside the energy; 0.001 kWh are 3.6 kJ.
    "a folder a run": (
        {f"{agent}/seed_{seed}/{name}": text for agent in ("dqn", "ppo") for seed in (0, 1)
         for name, text in (
             ("emissions.csv", "duration,emissions,energy_consumed\n"
              f"{300.5 + seed},0.0004,0.001\n"),
             ("summary.json", f'{{"env": "walker", "elapsed_seconds": {301.5 + seed}, '
              f'"reward": {90.5 + seed}}}'))},
        "folder, replicate, energy_j, duration_s, reward", 4,
        [("dqn", 0, 3600.0, 300.5, 90.5), ("dqn", 1, 3600.0, 301.5, 91.5)],
    ),
    # Two texts say the replicate; words stand below the rows, and one of them names no column.
    "names, paths and closing words": (
        {"clocks.csv": "run_id,clock_mhz,runtime_s,energy_j,log_path\n" + "".join(
            f"clk{clock}_r{n},{clock},{clock / 20 + n},{clock + n}.5,sgemm_clk{clock}_r{n}.csv\n"
            for clock in (1005, 1065) for n in (1, 2, 3))
            + "--- last check ---\nALL OF ONE\nDONE\n"},
        "clock_mhz, replicate, energy_j, duration_s", 6,
        [(1005, 1, 1006.5, 51.25), (1005, 2, 1007.5, 52.25)],
    ),
    # 90 W in the 11 s of an epoch; the machine stands in the file's name.
    "power of an epoch": (
        {f"trace/summary_power_{gpu}.csv": "dataset,network,batch_size,optimizer,power_limit,"
         "time_per_epoch,average_power\n" + "".join(
             f"cifar,vgg,{size},{optimizer},{limit},{10.5 + size / 1024},{limit - 10.5}\n"
             for size, optimizer, limit in product((512, 1024), ("adam", "sgd"), (100, 150)))
         for gpu in ("a40", "v100")},
        "file, batch_size, optimizer, power_limit, energy_j, power_w, duration_s", 16,
        [("a40", 512, "adam", 100, pytest.approx(11 * 89.5), 89.5, 11.0)],
    ),
    # Kilowatts of many GPUs: energies are in J.
    "a cluster": (
        {"result.csv": "model,device,num_pipelines,iteration_time,energy\n" + "".join(
            f"{model},{gpu},{n},{70.5 + n},{900_000.742 + 9_000 * n}\n"
            for model, gpu, n in product(("bloom", "gpt"), ("a40", "a100"), (16, 32)))},
        "model, device, num_pipelines, energy_j, duration_s", 8,
        [("bloom", "a100", 16, 1_044_000.742, 86.5)],
    ),
    # Energies grow with latencies, and are 200 W with s; a length has no time.
    "energies of answers": (
        {f"{gpu}_{task}_benchmark.csv": "model,throughput,response_length,latency,energy\n"
         + "".join(f"org/model-{n}b,{25.5 + n / 7},{250.25 + 7 * n},{n + 0.125},{200.5 * n}\n"
                   for n in (2, 3, 5, 7, 11, 13)) for gpu in ("A100", "V100")
         for task in ("chat", "instruct")},
        "machine, file, model, energy_j, latency_mean_us, response_length", 24,
        [("A100", "chat", "org/model-11b", 2205.5, 11_125_000.0, 327.25)],
    ),
    # Two GPUs are added; what is set ends the names of windows.
    "windows of a monitor": (
        {f"{gpu}+{model}+gpu0{more}.csv": "start_time,window_name,elapsed_time,gpu0_energy"
         f"{names}\n" + "".join(
             f"{5000.5 + 20 * n},optimizer_{100 + 25 * n},{10.5 + n},{900.5 + n}{cell}\n"
             for n in range(4))
         for gpu, model, more, names, cell in (
             ("V100", "vgg", ",1", ",gpu1_energy", ",800.25"),
             ("V100", "bert", ",1", ",gpu1_energy", ",800.25"),
             ("A40", "vgg", "", "", ""), ("V100", "vgg", "", "", ""))},
        "energy_j, duration_s, window_name", 16,
        [(900.5, 10.5, "optimizer_100"), (900.5, 10.5, "optimizer_100"),
         (901.5, 11.5, "optimizer_125")],
    ),
    # A run a line, whose steps of 100 ms and 48 ms are all of it: 3.5 J, 3.25 J and 1.5 J.
    "energies of steps": (
        {f"nuc/{language}/{program}.json": "".join(
            f'{{"runtime_ms": 249, "counters": {{"CYCLES": {252_168 + run}}}, "energy_samples": ['
            '{"duration_ms": 100, "energy": {"pkg": 3.5, "dram": 0.0625}}, {"duration_ms": 100, '
            '"energy": {"pkg": 3.25, "dram": 0.0625}}, {"duration_ms": 48, "energy": {"pkg": 1.5, '
            '"dram": 0.03125}}]}\n' for run in range(3))
         for language in ("C", "Go") for program in ("fasta", "n-body")},
        "folder, file, replicate, energy_j, duration_s, energy_samples_energy_dram", 12,
        [("C", "fasta", 0, 8.25, 0.249, 0.15625)],
    ),
    # No heading at all: energies of package, cores, GPU and DRAM, and ms. A folder has two
    # languages, whose machine has no GPU and no DRAM; 1 J in 4,303 s is no power of a computer.
    "lines of RAPL": (
        {f"{folder}/{language}.csv": "".join(
            f"{program} ; 72.508239746093750000 {mark} 48.485961914062500000 {mark} "
            f"{parts} {mark}  {4303.42 + run} \n"
            for program in ("n-body", "fasta") for run in range(2))
         for folder, language, mark, parts in (
             ("C", "C", ";", "0.000000000000000000 ; 10.489379882812500000"),
             ("Scala", "Scala3", ",", " ,  "), ("Scala", "Scala-2.13", ",", " ,  "))}
        | {"other.csv": "fasta ; 1.0, 0.5, 0.0, 0.25, 4303420\n"},
        "language, program, replicate, energy_j, duration_s, core, dram", 12,
        [("C", "fasta", 0, 72.50823974609375, 4.30342, 48.4859619140625, 10.4893798828125),
         ("C", "fasta", 1, 72.50823974609375, 4.30442, 48.4859619140625, 10.4893798828125)],
    ),
    # Times of day do not make samples of what keys of several settings tell apart.
    "a cache of kernels": (
        {"vector_add.json": '{"device_name": "RTX", "kernel_name": "vector_add", "cache": {'
         + ", ".join(
             f'"{block},{clock}": {{"block_size_x": {block}, "nvml_gr_clock": {clock}, '
             f'"core_freq": {clock}.0, "ps_energy": {0.25 - n / 128}, "time": 3.25, '
             '"times": [3.0, 3.5], "verification_time": 0, "benchmark_time": 106.5, "timestamp": '
             f'"2026-06-04 07:40:2{n}.255674+00:00"}}'
             for n, (block, clock) in enumerate(product((128, 192, 256), (1080, 1500)))) + "}}"},
        "block_size_x, nvml_gr_clock, energy_j, duration_s, aggregate_n", 6,
        [(128, 1080, 0.25, pytest.approx(0.00325), 2)],
    ),
    # A submission: calibration beside the run, another depth, and a client's messages. 100 W, 10 s.
    "a tree of several depths": (
        {f"results/{machine}/{model}/{part}/{name}": text for machine in ("g292-q16", "r282-q5")
         for model in ("bert", "resnet50") for part, name, text in (
             *((part, name, text) for part in ("performance/ranging", "performance/run_1")
               for name, text in (
                   ("mlperf_log_summary.txt", "MLPerf Results Summary\nSUT name : KILT\nScenario : "
                    "Offline\nMode     : PerformanceOnly\nSamples per second: 5716.41\n"),
                   ("mlperf_log_detail.txt", MLLOG), ("spl.txt", SPL))),
             ("accuracy", "mlperf_log_detail.txt", MLLOG.splitlines()[0] + "\n"),
             ("performance/power", "client.json", '{"timezone": 21600, "messages": [{"cmd": '
              '"time", "cmd_time": 1677242689.5}, {"cmd": "stop", "cmd_time": 1677242699.5}]}'))},
        "machine, folder, folder_4, energy_j, throughput_qps", 12,
        [("g292", "bert", "ranging", pytest.approx(1000.0), 5716.41),
         ("g292", "bert", "run_1", pytest.approx(1000.0), 5716.41),
         ("g292", "bert", None, None, None)],
    ),
    "YAML of each job": (
        {f"results/{app}_n{nodes}_rep{rep}.yaml": f"job:\n  app: {app}\n  nodes: {nodes}\n  "
         f"ranks_per_node: 64\n  repetition: {rep}\nresult:\n  walltime_s: {240.5 / nodes}\n"
         f"  energy:\n    node_j: {96000.5 + nodes}\n    cpu_j: 57000.5\n  status: ok\n"
         for app in ("gromacs", "hpl") for nodes in (1, 2, 4) for rep in (1, 2)}
        | {"config.yaml": "duration: 60\napps: [gromacs, hpl]\n"},
        "job_app, job_nodes, replicate, energy_j, duration_s", 12,
        [("gromacs", 1, 1, 96001.5, 240.5), ("gromacs", 1, 2, 96001.5, 240.5),
         ("gromacs", 2, 1, 96002.5, 120.25)],
    ),
    # Two supplies; times since a start in ms.
    "a benchmark and supplies": (
        {f"results_{threads}/{name}": text for threads in (16, 32) for name, text in (
            ("copy.out", LIKWID.format(threads=threads)),
            ("power.csv", "Timestamp,SocketPower0,SocketPower1,PSUPower0,PSUPower1,TimeDifference\n"
             + "".join(f"{274797540 + 6000 * n},89.1,91.2,430,5,6000\n"
                       for n in range(8))))},
        "threads, test, power_w, bandwidth_bytes_s, duration_s", 2,
        [(16, "copy", pytest.approx(435.0), 121638.4e6, 210.4599)],
    ),
    # The size that was swept, and the energy that likwid-perfctr writes below.
    "a benchmark with its counters": (
        {f"bench_{n}.txt": f"{LIKWID.format(threads=8)}Size (Byte):\t\t{size}\n"
         f"|      Energy [J]     |   {60.5 * n} |\n|      Power [W]      |   54.6 |\n"
         for n, size in ((1, 20000), (2, 200000))},
        "size, energy_j, duration_s", 2, [(20000, 60.5, 210.4599), (200000, 121.0, 210.4599)],
    ),
    # A row a file, named by it; costs of one item.
    "rows named by their files": (
        {f"{runtime}/coldstart_{runtime.replace('-', '_')}_round{n}.csv":
         f"benchmark,energy_J_per_inv,time_s_per_inv,power_W\ncoldstart_{runtime.replace('-', '_')}"
         f"_round{n},0.78{n},0.055{n},14.{n}\n"
         for runtime in ("p1-jit", "p1-aot") for n in (1, 2)},
        "folder, replicate, power_w, time_s_per_inv, performance_metric", 4,
        [("aot", 1, 14.1, 0.0551, "time_s_per_inv")],
    ),
    "rows of a log": (
        {"results.log": "script,language,run_id,energy_joules,time_seconds\n" + "".join(
            f"[{script}] Run #{n}\n{script},{script[2:]},{n},{energy},0.25\nSUCCESS: done\n"
            for n in (1, 2) for script, energy in (("a.rs", 0.5), ("b.py", 1.5)))},
        "script, replicate, energy_j, duration_s", 4,
        [("a.rs", 1, 0.5, 0.25)],
    ),
    # Sizes with unlike rates: the keys are settings.
    "powers under keys": (
        {"power.yml": "idle: {power: [265.2, 264.7]}\nswitch:\n  100G:\n" + "".join(
            f"    {size}:\n" + "".join(
                f"      {rate}:\n        power: [{300 + rate}, {302 + rate}]\n" for rate in rates)
            for size, rates in ((256, (2.5, 5.0, 10.0)), (512, (2.5, 5.0))))},
        "key, key_2, power_w", 5,
        [(256, 2.5, 303.5), (256, 5.0, 306.0), (256, 10.0, 311.0), (512, 2.5, 303.5)],
    ),
    # Times of day are no values; the clock is in the name.
    "texts of a script": (
        {f"{model}_{clock}_output.txt": "Exec Start: 1739715447.61\n---- Executing ----\n\n"
         f"Exec End: 1739715889.14\nModel Name: {model}\nFPS:7.41 \n\n"
         "Wall Time for running model (secs): 441.5\n"
         for model in ("vgg19", "inception_v4") for clock in (114750000, 522750000, 1300500000)},
        "file, file_2, fps, duration_s", 6,
        [("inception_v4", 114750000, 7.41, 441.5)],
    ),
    # Alternatives, or parts of one run: none of them is its energy.
    "energies of one rank": (
        {"notes.csv": "notes,java_j,flutter_j,ionic_j\n" + "".join(
            f"{100 * n},{180.5 * n},{190.5 * n},{210.5 * n}\n" for n in range(1, 6))},
        "notes, java_j, flutter_j, ionic_j, energy_j", 5, [(100, 180.5, 190.5, 210.5, None)],
    ),
    # RAPL counts uJ, and such tools time in whole ms: 99.5 W.
    "whole microjoules": (
        {"energy.csv": "language,task,duration,energy\n" + "".join(
            f"{language},{task},{took + n},{99512 * (took + n)}\n"
            for n in range(3) for language, took in (("C", 571), ("Erlang", 6530))
            for task in ("fasta", "k-nucleotide"))},
        "language, task, duration_s, energy_j", 12,
        [("C", "fasta", pytest.approx(0.571), pytest.approx(56.821352))],
    ),
    # A mode that is none of storage, a code of it, and what is in minutes since nothing is least.
    "modes and minutes": (
        {"runs.csv": "format,cooling,mode,mode_id,n,duration_min,throttled,fps_mean,watts_avg\n"
         + "".join(
             f"{form},{cooling},{mode},{at},{n},60.0,{'yes' if n else 'no'},{3.5 + n + at},7.5\n"
             for form in ("onnx", "torch") for cooling in ("active", "none")
             for at, mode in enumerate(("eco", "turbo", "max")) for n in range(2))},
        "mode_of_table, replicate, throttled, duration_s, power_w, performance_metric", 24,
        [("eco", 0, "no", 3600.0, 7.5, "fps_mean")],
    ),
    # A rail, and a column that is like measured ones; what the most of a memory was is no setting.
    "rails and peaks": (
        {"power.csv": "drive,query,max_mem_mb,Idle 5v,Idle 12v\n" + "".join(
            f"{drive},q{n % 10},{1024 + 16 * (n % 13)},0.{16 + n}{at},0.0{1 + n % 2}\n"
            for n in range(30) for at, drive in enumerate(("hgst", "wd")))},
        "drive, query, max_mem_mb, idle_5v, idle_12v", 60,
        [("hgst", "q0", 1024, 0.16, 0.01)],
    ),
    # Three of four rows have the same settings in both tables.
    "most rows in both tables": (
        {"energy-report.csv": "VM;Collector;Energy (J)\n" + "".join(
            f"{vm};{gc};{6000 + n}.5\n" for n, (vm, gc) in enumerate(
                (("graal", "g1"), ("graal", "zgc"), ("openj9", "g1"), ("azul", "pgo")))),
         "performance-report.csv": "VM;Collector;Throughput (ops/sec)\n" + "".join(
            f"{vm};{gc};{9000 + n}.5\n" for n, (vm, gc) in enumerate(
                (("graal", "g1"), ("graal", "zgc"), ("openj9", "g1"), ("azul", "zgc"))))},
        "vm, collector, energy_j, throughput", 5,
        [("azul", "pgo", 6003.5, None), ("azul", "zgc", None, 9003.5),
         ("graal", "g1", 6000.5, 9000.5)],
    ),
    # A run that failed has no results; a list of targets is no table of runs.
    "a status and a plan": (
        {"runs.csv": "query,energy_j,time_s,status\n" + "".join(
            f"q{n},{5.25 + n},{0.5 + n},{'FAIL' if n == 3 else 'OK'}\n" for n in range(6)),
         "targets.csv": "query,target_loss,target_epoch\n" + "".join(
             f"q{n},0.{1 + n % 2},{2 + n % 3}\n" for n in range(6))},
        "query, energy_j, duration_s", 5, [("q0", 5.25, 0.5), ("q1", 6.25, 1.5)],
    ),
    # Two machines, by the times of their files; a third file repeats the first.
    "stamps of unlike runs": (
        {f"data_20231220_{at}.csv": "program time energy\n" + "".join(
            f"{name} {factor * took} {51.5 * factor * took}\n"
            for name, took in (("map", 20.25), ("omp", 0.945), ("row", 31.5)))
         for at, factor in ((105438, 1), (111612, 3.7), (121612, 1.02))},
        "program, data, energy_j", 9,
        [("map", "20231220_105438", 51.5 * 20.25), ("map", "20231220_111612", 51.5 * 3.7 * 20.25)],
    ),
    "stamps of replicates": (
        {f"data_20231220_{at}.csv": "program time energy\n" + "".join(
            f"{name} {factor * took} {51.5 * factor * took}\n"
            for name, took in (("map", 20.25), ("omp", 0.945), ("row", 31.5)))
         for at, factor in ((105438, 1), (111612, 1.1))},
        "program, energy_j", 6, [("map", 51.5 * 20.25), ("map", pytest.approx(51.5 * 1.1 * 20.25))],
    ),
    # What a supply gives is a part of what it takes.
    "supplies, in and out": (
        {"run1.csv": "timestamp,PSU1_PowerInputWatts,PSU1_PowerOutputWatts,PSU2_PowerInputWatts,"
         "PSU2_PowerOutputWatts\n" + "".join(
             f"{1700000000 + at},{100 + at % 2}.5,92.1,{101 - at % 2}.5,93.2\n"
             for at in range(30))},
        "power_w", 1, [(pytest.approx(202.0),)],
    ),
    # A time of a part of the run is not the run's.
    "wall times of parts": (
        {f"app_n{n}.log": "Wall time for initialization: 2.1 s\nWall-clock time for all: "
         f"{80.5 / n} s\nTotal energy: {1000.5 + n} J\nranks: {n}\n" for n in (1, 2, 4)},
        "ranks, duration_s, energy_j", 3, [(1, 80.5, 1001.5)],
    ),
    # A part of the energy is stated: power x time is not that of the run.
    "a product of energy and time": (
        {"mac.csv": "bits,accuracy_pct,dynamic_power_W,time_ms,e_mac_uJ,edp_uJ_ms\n" + "".join(
            f"{n},{97.5 - n},0.0{32 - n},{1.016 + n},{32.52 - n},{33.053 - n}\n"
            for n in range(4))},
        "bits, energy_j, duration_s, edp_uj_ms, performance_metric", 4,
        [(0, 32.52e-6, 1.016e-3, 33.053, "duration_s")],
    ),
    "a copied table": (
        {f"{name}.csv": "label,kv,time_s" + "".join(
            f"{end}{label},{kv},{83.128747 + n}" for n, (label, kv) in enumerate(
                product("ab", ("f16", "q8"))))
         for name, end in (("exact", "\n"), ("summary", "\r\n"))},
        "label, kv, duration_s", 4, [("a", "f16", 83.128747)],
    ),
    # Only the names of the programs tell the rows apart.
    "nothing else was set": (
        {"data_1.csv": "file time avg-energy max-energy\n" + "".join(
            f"{name} {9.5 + n} {270.5 + n} {280.5 + n}\n"
            for name, n in (("map", 1), ("omp", 2), ("map", 3), ("omp", 4)))},
        "file, duration_s, energy_j, max_energy", 4,
        [("map", 10.5, 271.5, 281.5)],
    ),
    # An outcome of a test is none of the run; a link that timed out is a setting.
    "outcomes of tests": (
        {"tests.csv": "test,jdk,status,link_state,energy_j,duration_s\n" + "".join(
            f"t{test},{jdk},{'FAIL' if test > 2 else 'PASS'},{link},12{test}.5,4.{jdk}\n"
            for test in range(4) for jdk in (8, 17) for link in ("ok", "timeout"))},
        "test, jdk, status, energy_j, duration_s", 16, [("t0", 8, "PASS", 120.5, 4.8)] * 2,
    ),
    # A cell states settings by name; a state that was set is no outcome, and a solver may give up.
    "settings in cells": (
        {"m.csv": "config,state,status,arithmetic_intensity,energy_j,duration_s\n" + "".join(
            f'"bs={bs}, lr={lr}",{state},{"SAT" if bs > 16 else "TIMEOUT"},{bs / 8},{bs}.5,4.{bs}\n'
            for bs in (16, 32) for lr in (0.1, 0.01) for state in ("foreground", "background"))},
        "bs, lr, state, status, energy_j, duration_s", 8,
        [(16, 0.01, "background", "TIMEOUT", 16.5, 4.16)],
    ),
    # Runs of which there are not as many in both tables are not the same ones.
    "runs that were numbered apart": (
        {"energy.csv": "app,run,energy_j\n" + "".join(
            f"{app},{run},10{run}.5\n" for app in "xyz" for run in range(1, 6)),
         "time.csv": "app,run,time_s\n" + "".join(
            f"{app},{run},1{run}.25\n" for app in "xyz" for run in range(1, 8))},
        "app, replicate, energy_j, duration_s", 36,
        [("x", 1, 101.5, None), ("x", 1, None, 11.25)],
    ),
    # What a machine takes at most and a model of its power are no runs.
    "YAML of machines": (
        {"runs.csv": "app,cap,energy_j,time_s\n" + "".join(
            f"{app},{cap},9{cap}.5,1.{cap}\n" for app in "xy" for cap in (25, 50)),
         "machine.yaml": "cpu: EPYC\nidle_power_w: 45.25\nmax_power_w: 310.75\n",
         "model.yaml": "per_core_w: 3.75\nlatency_slo_ms: 2.5\nenergy_price: 0.31\nnetem:\n"
         "  latency_ms: 1.5\n"},
        "app, cap, energy_j, duration_s", 4, [("x", 25, 925.5, 1.25)],
    ),
    # Folders repeat what the documents say.
    "documents in folders": (
        {f"{machine}/{benchmark}/run{run}.json": '{"energy": {"value": 3977.5, "unit": "mJ"}, '
         f'"wall_ms": 341.5, "benchmark": "{benchmark}", "host": "{machine}-01"}}'
         for machine in ("laptop", "server") for benchmark in ("fft", "lu") for run in (1, 2)},
        "machine, benchmark, replicate, energy_j, duration_s", 8,
        [("laptop-01", "fft", 1, 3.9775, 0.3415)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("style", STUDIES)
def test_a_study_comes_out_right_without_settings(style: str, tmp_path: Path) -> None:
    files, columns, runs, rows = STUDIES[style]
    raw, lake = tmp_path / "study", tmp_path / "lake"
    write_files(raw, files)
    code = REFUSED if style in ("what is no run", "a status and a plan") else 0
    assert main(["add", str(raw), "--lake", str(lake)]) == code
    with open_lake(lake) as opened:
        found = opened.polars(f"SELECT {columns} FROM runs ORDER BY ALL").rows()
        knobs = opened.catalogue.knobs
    assert (len(found), found[: len(rows)]) == (runs, rows)
    if style in ("documents in folders", "a plan in the middle"):
        assert not {"c_folder", "c_folder_2"} & knobs.keys()
    if style == "numbers of configurations":
        assert "c_board" in knobs
        assert not {"c_tdp_w", "c_config_id"} & knobs.keys()
    if style in ("names of two lists", "commands beside names"):
        assert {"c_folder", "c_benchmark", "c_arg"}.isdisjoint(knobs)
    if style == "rails and peaks":
        assert not {"c_max_mem_mb", "c_idle_12v"} & knobs.keys()
    if style == "wide run table":
        assert not any("cpu_frequency" in name for name in knobs)


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def write_workbook(file: Path, sheets: dict[str, list[list[object]]]) -> None:
    """Write the least that a spreadsheet has."""
    named = "".join(f'<sheet name="{t}" sheetId="{n}" r:id="r{n}"/>' for n, t in enumerate(sheets))
    related = "".join(
        f'<Relationship Id="r{n}" Type="{DOCUMENT}/worksheet" Target="worksheets/s{n}.xml"/>'
        for n in range(len(sheets))
    )
    with zipfile.ZipFile(file, "w") as pack:
        pack.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{MAIN}" xmlns:r="{DOCUMENT}"><sheets>{named}</sheets></workbook>',
        )
        pack.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{PACKAGE}"><Relationship Id="r" Target="xl/workbook.xml" '
            f'Type="{DOCUMENT}/officeDocument"/></Relationships>',
        )
        pack.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{PACKAGE}">{related}</Relationships>',
        )
        for n, rows in enumerate(sheets.values()):
            cells = "".join(
                "<row>" + "".join(
                    f'<c t="inlineStr"><is><t>{cell}</t></is></c>' if isinstance(cell, str)
                    else f"<c><v>{cell}</v></c>" for cell in row
                ) + "</row>" for row in rows
            )  # fmt: skip
            pack.writestr(
                f"xl/worksheets/s{n}.xml",
                f'<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData></worksheet>',
            )


def test_spreadsheets_with_a_measurement_or_a_board_a_sheet(tmp_path: Path) -> None:
    raw, lake = tmp_path / "study", tmp_path / "lake"
    raw.mkdir()
    header: list[object] = ["Benchmark", "1 thread", "2 threads", "4 threads"]
    energies: list[list[object]] = [["bt", 99.5, 80.5, 70.5], ["lu", 60.5, 50.5, 40.5]]
    times: list[list[object]] = [["bt", 9.5, 5.5, 3.5], ["lu", 6.5, 3.25, 2.0]]
    sheets = {"Energy (J)": [header, *energies], "Runtime (s)": [header, *times]}
    write_workbook(raw / "results.xlsx", sheets)
    assert main(["add", str(raw), "--lake", str(lake)]) == 0
    with open_lake(lake) as opened:
        sql = "SELECT benchmark, threads, energy_j, duration_s FROM runs ORDER BY ALL"
        found = opened.polars(sql).rows()
    assert found == [
        ("bt", 1, 99.5, 9.5), ("bt", 2, 80.5, 5.5), ("bt", 4, 70.5, 3.5),
        ("lu", 1, 60.5, 6.5), ("lu", 2, 50.5, 3.25), ("lu", 4, 40.5, 2.0),
    ]  # fmt: skip
    titles: list[list[object]] = [
        ["Messung"],
        ["Nr.", "Modell", "Wdh.", "Energie [J]", "Zeit [ms]"],
    ]
    rows: list[list[object]] = [[1, "kws", 1, 5.5, 10.5], [2, "kws", 2, 6.5, 11.5],
                                [3, "vww", 1, 7.5, 12.5], [4, "vww", 2, 8.5, 13.5]]  # fmt: skip
    boards: dict[str, list[list[object]]]
    boards = {name: [*titles, *rows, [""] * 5, ["Bemerkung: USB"]] for name in ("ESP32", "nRF52")}
    write_workbook(raw / "boards.xlsx", boards)
    assert main(["add", str(raw), "--lake", str(lake)]) == 0
    with open_lake(lake) as opened:
        sql = (
            "SELECT sheet, modell, replicate, energy_j FROM runs WHERE sheet = 'nRF52' ORDER BY ALL"
        )
        found = opened.polars(sql).rows()
        knobs = opened.catalogue.knobs
    assert found == [("nRF52", "kws", 1, 5.5), ("nRF52", "kws", 2, 6.5),
                     ("nRF52", "vww", 1, 7.5), ("nRF52", "vww", 2, 8.5)]  # fmt: skip
    assert "c_nr" not in knobs
    (raw / "broken.xlsx").write_bytes(b"PK\x03\x04 and no more")
    assert main(["add", str(raw), "--lake", str(lake)]) == 3

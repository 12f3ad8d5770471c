"""Studies of several files and odd columns, and spreadsheets, fed without a line of settings.

Each is written in another style. It has its columns, the number of its runs, and the first of them
in order; what was worked by hand stands beside it.
"""

import json
import zipfile
from itertools import product
from pathlib import Path

import pytest

from data.connection import open_lake
from ingest.__main__ import main
from tests.fixtures.unseen import Studies, check_study

STUDIES: Studies = {
    # Only the steps have energies. A block of `time -p` is a run; texts of versions are settings.
    "energies of steps of jobs": (
        {"sacct.txt": "JobID|JobName|NCPUS|ElapsedRaw|ConsumedEnergyRaw|MaxRSS\n" + "".join(
            f"{job}|lu|{n}|{time}||\n{job}.batch|batch|{n}|{time}|{energy}|1200K\n"
            for job, n, time, energy in (
                (4711, 16, 100, 5000), (4712, 32, 60, 5600), (4713, 64, 40, 6400)))},
        "energy_j, duration_s", 3, [(5000.0, 100.0), (5600.0, 60.0), (6400.0, 40.0)],
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
         f"run_0_repetition_0,DONE,{language}{mark},small{mark},17.81,799.3\n"
         f"run_1_repetition_0,DONE,{language}{mark},large{mark},35.25,1550.5\n"
         f"run_2_repetition_0,TODO,{language}{mark},huge, , \n"
         for language, mark in (("c", " "), ("c++", ""))},
        "language, size, energy_j, duration_s", 4,
        [("c", "large", 1550.5, 35.25), ("c", "small", 799.3, 17.81)],
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
    # A difference from a baseline is no counter that was read as the run began.
    "percent less than the first": (
        {"m.csv": "method,total_kwh,runtime_s,Δtotal_kwh\n" + "".join(
            f"v{n},{0.125 - n / 64},{900.5 - 60 * n},{-12.5 * n}\n" for n in range(4))},
        "method, energy_j, duration_s", 4, [("v0", 450_000.0, 900.5), ("v1", 393_750.0, 840.5)],
    ),
    # All took the same time, and no load was set.
    "rates of a fixed time": (
        {"m.csv": "model,energy_j,duration_s,throughput (tokens/s),latency_s\n" + "".join(
            f"m{n},{9000.5 - 100 * n},{630.25 + n},{90.5 + 40 * n},{2.5 + n % 2}\n"
            for n in range(4))},
        "model, latency_mean_us, throughput, performance_metric", 4,
        [("m0", 2_500_000.0, 90.5, "throughput")],
    ),
    # Kilowatts of many GPUs: energies are in J.
    "a cluster": (
        {"result.csv": "model,device,num_pipelines,iteration_time,energy\n" + "".join(
            f"{model},{gpu},{n},{70.5 + n},{900_000.742 + 9_000 * n}\n"
            for model, gpu, n in product(("bloom", "gpt"), ("a40", "a100"), (16, 32)))},
        "model, device_of_table, num_pipelines, energy_j, duration_s", 8,
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
    # A run a line, whose steps of 100 ms and 48 ms are all of it: 3.5 J, 3.25 J and 1.5 J.
    "energies of steps": (
        {f"nuc/{language}/{program}.json": "".join(
            f'{{"runtime_ms": 249, "counters": {{"CYCLES": {252_168 + run}}}, "energy_samples": ['
            '{"duration_ms": 100, "energy": {"pkg": 3.5, "dram": 0.0625}}, {"duration_ms": 100, '
            '"energy": {"pkg": 3.25, "dram": 0.0625}}, {"duration_ms": 48, "energy": {"pkg": 1.5, '
            '"dram": 0.03125}}]}\n' for run in range(3))
         for language in ("C", "Go") for program in ("fasta", "n-body")},
        "language, benchmark, replicate, energy_j, duration_s, energy_samples_energy_dram", 12,
        [("C", "fasta", 0, 8.25, 0.249, 0.15625)],
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
    # What was set stands beside what was measured, and a number that is measured elsewhere was set.
    "a configuration beside each result": (
        {f"runs/run_{n:03}/{name}": text for n, (model, size, seed) in enumerate(
            product(("unet", "vit"), (16, 64), (7, 8)), 1) for name, text in (
             ("config.yaml", f"model:\n  name: {model}\ntrain:\n  batch_size: {size}\n"
              f"  power_limit_w: 250.5\nseed: {seed}\n"),
             ("metrics.json", f'{{"test_acc": 0.7{n}, "train_time_s": {90.5 + n}, "energy": '
              f'{{"gpu_j": {9100.5 + n}, "cpu_j": {1100.5 + n}}}}}'))},
        "model_name, train_batch_size, duration_s, energy_gpu_j, train_power_limit_w", 8,
        [("unet", 16, 91.5, 9101.5, 250.5), ("unet", 16, 92.5, 9102.5, 250.5),
         ("unet", 64, 93.5, 9103.5, 250.5)],
    ),
    # A name of each run, in texts or numbers, says which readings are its own.
    "names of runs in two tables": (
        {"plan/experiments.csv": "exp_id,kernel,cap_w,runtime_ms\n" + "".join(
            f"E{n:02},{kernel},{cap},{90.25 + n}\n" for n, (kernel, cap) in enumerate(
                product(("gemm", "conv"), (100, 150, 200)))),
         "meter/energy.csv": "exp_id,energy_mJ\n" + "".join(
             f"E{n:02},{9100.5 + n}\n" for n in reversed(range(6)))},
        "kernel, cap_w, energy_j, duration_s, performance_metric", 6,
        [("conv", 100, pytest.approx(9.1035), pytest.approx(0.09325), "duration_s")],
    ),
    "numbers of runs in two tables": (
        {"runs.csv": "run_id,governor,threads,fps\n" + "".join(
            f"{n},{governor},{threads},{24.5 + n}\n" for n, (governor, threads) in enumerate(
                product(("performance", "powersave"), (1, 2, 4)), 1)),
         "power.csv": "run_id,energy_j,time_s\n" + "".join(
             f"{n},{9100.5 + n},{60.25 - n}\n" for n in range(1, 7))},
        "governor, thread_count, energy_j, duration_s, fps", 6,
        [("performance", 1, 9101.5, 59.25, 25.5), ("performance", 2, 9102.5, 58.25, 26.5)],
    ),
    # 60 W for 20 s of each run, and 40 W between: a list of events says when runs began and ended.
    "begins and ends of runs": (
        {"events.csv": "timestamp,event,program,cap_w\n" + "".join(
            f"{1_714_550_000 + 30 * n + at},{event},{program},{cap}\n"
            for n, (program, cap) in enumerate(product(("fft", "lu"), (80, 120)))
            for event, at in (("start", 5), ("end", 25))),
         "power.csv": "timestamp,power_w\n" + "".join(
             f"{1_714_550_000 + at},{60 if 5 < at % 30 <= 25 else 40}.0\n" for at in range(120))},
        "program, cap_w, energy_j, duration_s", 4,
        [("fft", 80, pytest.approx(1200.0), 20.0), ("fft", 120, pytest.approx(1200.0), 20.0)],
    ),
    # Keys say the model, and a number behind a word of a setting; lists stand beside one device.
    "keys with numbers": (
        {"results.json": json.dumps({model: {f"batch_{size}": {
            "latency_ms": 4.5 * size, "energy_mj": 90.5 * size} for size in (1, 8)}
            for model in ("resnet50", "mobilenet")})},
        "model, batch, energy_j, latency_mean_us", 4,
        [("mobilenet", 1, pytest.approx(0.0905), 4500.0),
         ("mobilenet", 8, pytest.approx(0.724), 36000.0)],
    ),
    "lists beside a device": (
        {"sweep.json": json.dumps({
            "device": "board", "freq_mhz": [300, 600, 900], "latency_ms": [40.5, 22.5, 16.25],
            "power_w": [5.5, 7.25, 10.5]})},
        "freq_mhz, power_w, latency_mean_us", 3, [(300, 5.5, 40500.0), (600, 7.25, 22500.0)],
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
    # Names that the seed alone tells apart are one; a key of one document is what several say.
    "names with a seed": (
        {f"runs/{agent}_{task}_seed{seed}/{name}": text
         for agent, task, seed, took in (("SAC", "hop", 0, 300.5), ("SAC", "hop", 1, 304.25),
                                         ("DREAM", "multi", 0, 9000.5))
         for name, text in (
             ("emissions.csv", "project_name,duration,energy_consumed,cpu_power,gpu_power,os\n"
              f"{agent}_{task}_seed{seed},{took},{took / 2e4:.6f},20.5,30.25,linux\n"),
             ("summary.json", json.dumps({
                 "model": agent, "seed": seed, "total_steps": 5000, "elapsed_seconds": took + 9.5,
                 **({"steps_per_task": 2500} if agent == "DREAM" else {"env": task})})))},
        "project_name, replicate, model, steps_per_task, duration_s", 3,
        [("DREAM_multi", 0, "DREAM", 2500, 9000.5), ("SAC_hop", 0, "SAC", None, 300.5),
         ("SAC_hop", 1, "SAC", None, 304.25)],
    ),
    # Frameworks are compared, whatever the energies beside them; how long each ran was set.
    "frameworks in headings": (
        {"notes.csv": "notes,java_j,flutter_j,ionic_j\n" + "".join(
            f"{100 * n},{180 * n},{190 * n},{210 * n}\n" for n in range(1, 6)),
         "calls.csv": "duration_min,java_j,flutter_j,ionic_j\n" + "".join(
            f"{4 * n},{80.25 * n},{90.5 * n},{99.75 * n}\n" for n in range(1, 6))},
        "notes, duration_min, alternative, energy_j, duration_s", 30,
        [(100, None, "flutter", 190.0, None), (100, None, "ionic", 210.0, None),
         (100, None, "java", 180.0, None)],
    ),
    # Alternatives, or parts of one run: none of them is its energy.
    "energies of one rank": (
        {"notes.csv": "notes,java_j,wifi_j,screen_j\n" + "".join(
            f"{100 * n},{180.5 * n},{190.5 * n},{210.5 * n}\n" for n in range(1, 6))},
        "notes, java_j, wifi_j, screen_j, energy_j", 5, [(100, 180.5, 190.5, 210.5, None)],
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
    # A mean and a deviation stand below the runs of each setting, and are no runs.
    "statistics between runs": (
        {"sorts.csv": "Algorithm,Run,Time (s),Energy (J)\n" + "\n".join(
            f"{name},{run},{time},{10 * time}" for name, times in (
                ("bubble", (5.5, 6.5, 6.0, 0.5)), ("merge", (1.5, 2.5, 2.0, 0.5)))
            for run, time in zip((1, 2, "Average", "Std Dev"), times, strict=True)) + "\n"},
        "algorithm, duration_s, energy_j", 4,
        [("bubble", 5.5, 55.0), ("bubble", 6.5, 65.0), ("merge", 1.5, 15.0), ("merge", 2.5, 25.0)],
    ),
    # Counters and clocks were read before and after each run, and a number has its sign.
    "counters at both ends": (
        {"rapl.csv": "kernel,# of cores,start_ts,end_ts,pkg_energy_start_uj,pkg_energy_end_uj\n"
         + "".join(f"{name},{cores},{1767225600 + 99 * n}.5,{1767225620 + 99 * n}.5,"
                   f"{10**9 + 10**8 * n},{10**9 + 10**8 * n + 10**7 * (n + 1)}\n"
                   for n, (name, cores) in enumerate(product(("fft", "lu"), (1, 4))))},
        "kernel, of_cores, duration_s, energy_j", 4,
        [("fft", 1, 20.0, 10.0), ("fft", 4, 20.0, 20.0)],
    ),
    # Columns that begin with two variants are rivals, as a saving between them says.
    "a baseline beside its rival": (
        {"compare.csv": "Benchmark,Baseline Energy (J),Optimized Energy (J),Baseline Time (s),"
         "Optimized Time (s),Energy Savings (%)\nbt,500.5,400.5,20.5,18.5,20.0\n"
         "cg,300.5,250.5,12.5,11.5,16.6\nft,800.5,640.5,33.5,30.5,20.0\n"},
        "benchmark, alternative, energy_j, duration_s", 6,
        [("bt", "Baseline", 500.5, 20.5), ("bt", "Optimized", 400.5, 18.5)],
    ),
    # What ran stands before the settings of each key.
    "keys with settings": (
        {"r.json": json.dumps({f"{model},bs={bs},pl={pl}": {
            "latency_ms": 50.5 / bs + pl / 100, "energy_J": 3.5 * pl + bs}
            for model in ("resnet50", "bert") for bs in (8, 32) for pl in (150, 250)})},
        "model_text, bs, power_limit, energy_j", 8,
        [("bert", 8, 150, 533.0), ("bert", 8, 250, 883.0)],
    ),
    # A measurement a row and a cap a column; what no word explains is measured too.
    "caps in columns": (
        {"table.csv": "metric,cap60W,cap80W,cap100W\nRun time (s),15.25,13.5,12.0\n"
         "Energy (kJ),0.87,1.05,1.13\nCPU utilisation (%),97.5,96.5,95.5\nBar,1.5,2.5,3.5\n"},
        "cap, duration_s, energy_j, bar", 3, [(60, 15.25, 870.0, 1.5), (80, 13.5, 1050.0, 2.5)],
    ),
    # Folders only count the runs, each of which its configuration describes.
    "numbered folders with a configuration each": (
        {f"exp_{n:03d}/{name}.json": text for n, (opt, batch) in enumerate(
            (opt, batch) for opt in ("sgd", "adam") for batch in (32, 128)) for name, text in (
            ("config", f'{{"train": {{"optimizer": "{opt}", "batch_size": {batch}}}, "seed": 7}}'),
            ("metrics", f'{{"train_time_s": {20.5 + n}, "energy_j": {900.5 - n}}}'))},
        "train_optimizer, train_batch_size, duration_s, energy_j", 4,
        [("adam", 32, 22.5, 898.5), ("adam", 128, 23.5, 897.5)],
    ),
    # A log says its threads, which its name repeats; folders are of programs.
    "logs of programs": (
        {f"res/{name}/{name}-t{t}-{run}.out": f"Reading\nThreads: {t}\nTotal time: {60.5 / t} s\n"
         f"Total energy: {20.25 + t} J\nDone.\n"
         for name in ("bfs", "sssp") for t in (1, 4) for run in (1, 2)},
        "benchmark, thread_count, duration_s, energy_j", 8, [("bfs", 1, 60.5, 21.25)] * 2,
    ),
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
    check_study(STUDIES, style, tmp_path)


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
        sql = "SELECT benchmark, thread_count, energy_j, duration_s FROM runs ORDER BY ALL"
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

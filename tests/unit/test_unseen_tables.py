"""Tables as people leave them, fed without a line of settings.

Each is written in another style. It has its columns, the number of its runs, and the first of them
in order; what was worked by hand stands beside it.
"""

import json
from itertools import product
from pathlib import Path

import pytest

from tests.fixtures.unseen import Studies, check_study

_BENCHMARKS = ("fft", "lu", "is")
_FABRICS = (
    ("ring", 4, 16, 31.517),
    ("tree", 8, 16, 28.273),
    ("tree", 8, 96, 30.194),
    ("ring", 4, 96, 41.862),
)
_POLICIES = (
    ("greedy", 3, 151.275, 7.3125),
    ("greedy", 5, 160.125, 6.0625),
    ("lazy", 3, 131.375, 8.4375),
    ("lazy", 5, 139.625, 7.5625),
)
STUDIES: Studies = {
    # Requests have energies of their own; the totals beside their list are of no row.
    "totals beside a list of requests": (
        {f"{model}.json": json.dumps({"model": model, "requests": [
            {"tokens": 50 + at * at, "latency_s": 1.5 + at / 7, "energy_j": first + at * 3.25}
            for at in range(4)], "total_energy_j": 4 * first + 19.5, "total_time_s": first / 7})
         for model, first in (("phi3", 150.5), ("qwen", 90.25))},
        "model, energy_j, total_energy_j, duration_s", 8,
        [("phi3", 150.5, 621.5, None), ("phi3", 153.75, 621.5, None)],
    ),
    # What each run went through is beside its totals, in order; no row of it is a replicate.
    "steps of runs beside their totals": (
        {"totals.csv": "codec,frames,time_ms,energy_mj\nav1,40,812.5,91.25\nvp9,40,640.5,70.75\n",
         "snapshots.csv": "codec,snapshot no,elapsed_ms,energy_mj\n" + "".join(
             f"{codec},{n},{20.5 * n if n % 3 else 12.5},{2.25 + n / 8}\n"
             for codec in ("av1", "vp9") for n in range(1, 41))},
        "codec, duration_s, energy_j", 2,
        [("av1", 0.8125, pytest.approx(0.09125)), ("vp9", 0.6405, pytest.approx(0.07075))],
    ),
    # Of so few that fall as often as they grow, nothing says it.
    "samples that are runs": (
        {"snapshots.csv": "codec,sample,time_ms,energy_mj\n" + "".join(
            f"{codec},{n},{20.5 + n * n % 11},{2.25 + n * n % 7}\n"
            for codec in ("av1", "vp9") for n in range(1, 11))},
        "codec, duration_s, energy_j", 20, [("av1", pytest.approx(0.0215), pytest.approx(0.00325))],
    ),
    # Whole numbers of one file and fractions of another under one heading are one column.
    "whole and broken numbers": (
        {"fft.csv": "codec,level,energy_j,duration_s,Heap used (MB)\n" + "".join(
            f"{codec},{n},{30.5 + n},{4.25 + n},{70 + n}\n" for codec in "ab" for n in (1, 2, 3)),
         "lu.csv": "codec,level,energy_j,duration_s,Heap used (MB)\n" + "".join(
            f"{codec},{n / 2},{50.5 + n},{6.25 + n},{90.25 + n}\n"
            for codec in "ab" for n in (1, 2, 3)),
         "is.csv": "codec,cache,energy_j,duration_s,Heap used (MB)\n" + "".join(
            f"{codec},{n},{10.5 + n},{1.25 + n},{40 + n}\n" for codec in "ab" for n in (1, 2, 3))},
        "codec, level_real, heap_used, energy_j", 18,
        [("a", 0.5, 91.25, 51.5), ("a", 1.0, 71.0, 31.5), ("a", 1.0, 92.25, 52.5)],
    ),
    # The unit of each number is in a column that stands twice; rows of one run are one row.
    "energies and latencies below one heading": (
        {"clusters.csv": "Entry,Kernel,Units,Units (copy),Result of Cluster,Nodes\n" + "".join(
            f'{entry},{kernel},{unit},{unit},"{number}",{nodes}\n'
            for entry, kernel, nodes, energy, minutes in (
                ("e-1", "fft", 2, "1,250.5", 11.5), ("e-1", "lu", 2, "2,110.25", 19.25),
                ("e-2", "fft", 8, "1,710.75", 4.25), ("e-2", "lu", 8, "2,940.5", 7.75))
            for unit, number in (("kJ", energy), ("Latency (In minutes)", minutes)))},
        "kernel, nodes, energy_j, latency_mean_us", 4,
        [("fft", 2, 1_250_500, 690e6), ("fft", 8, 1_710_750, 255e6), ("lu", 2, 2_110_250, 1155e6)],
    ),
    # No token was valid: there is no energy of one, which would be the least. Else 0 is a result.
    "tokens of which none was valid": (
        {"serve.csv": "model,rate,energy_j,Valid tokens,Energy (J/token),Reads (J/op)\n"
         "phi3,8,892.5,38.5,2.5125,0.0\nphi3,128,772.5,31.25,2.7500,1.25\n"
         "qwen,8,890.5,35.5,3.1250,0.0\nqwen,128,770.5,0.0,0.0000,1.5\n"},
        "model, rate, energy, reads", 4,
        [("phi3", 8, 2.5125, 0.0), ("phi3", 128, 2.75, 1.25), ("qwen", 8, 3.125, 0.0),
         ("qwen", 128, None, 1.5)],
    ),
    # The powers of a board, in mW that nobody states, and the latencies of its runs, which stand in
    # files of their own. Maxima recur as settings do; -1 was not measured.
    "powers and latencies of boards": (
        {f"odroid_{build}_{what}.csv": text for at, build in enumerate(("plain", "fused"))
         for what, text in (
            ("power", "RUN,PWR_IN_MAX,PWR_CPU_MAX,PWR_IN_AVG,PWR_CPU_AVG\n" + "".join(
                f"{n},{4021 - n % 2}.0,{2122 - n % 3}.0,{3755.75 + 10 * at + n * n},{1612.5 + n}\n"
                for n in range(8))),
            ("latency", "RUN,DEN_LAT,TOTAL_LAT\n" + "".join(
                f"{n},{-1.0 if at else 76.25 + n},{84.125 + 2 * n + at}\n" for n in range(8))))},
        "variant_text, replicate, power_w, pwr_in_max, den_lat, total_lat", 16,
        [("fused", 0, pytest.approx(3.76575), 4021.0, None, 85.125),
         ("fused", 1, pytest.approx(3.76675), 4020.0, None, 87.125)],
    ),
    # A name and its value a line, texts among them: each file is a run, at the load that it says.
    "names and values of a run": (
        {f"serve/output_{n}.csv": "metric,value\n" + "".join(f"{line}\n" for line in (
            f"Begun,2025-06-14 08:{n:02}:40", "Model served,phi-3", f"Request rate (rps),{rate}",
            "TTFT threshold (s),999", 'Site,"Lund, Sweden"', f"GPU energy (kWh),0.00{5386 - n}",
            f"Total energy (kWh),0.00{7756 - 7 * n}", f"Tokens out,{37378 + 3 * n}"))
         for n, rate in ((0, 8), (1, 8), (5, 16), (10, 32), (15, 64), (20, 128))},
        "load_qps, energy_j", 6,
        [(8, pytest.approx(27896.4)), (8, pytest.approx(27921.6)), (16, pytest.approx(27795.6))],
    ),
    # A part of a run a row: of ALL is the run, and the parts have columns.
    "parts of runs and ALL": (
        {"job.csv": "quantity,limit_w,card,value,unit\n" + "".join(
            f"DURATION,{limit},ALL,{time},sec\nENERGY,{limit},0,{first},J\nENERGY,{limit},1,{second},J\n"
            f"ENERGY_TOTAL,{limit},ALL,{first + second},J\n"
            for limit, time, first, second in (
                (180, 41.5, 900.25, 950.5), (240, 33.5, 990.5, 995)))},
        "limit_w, duration_s, energy_j, card0_energy, card1_energy", 2,
        [(180, 41.5, 1850.75, 900.25, 950.5), (240, 33.5, 1985.5, 990.5, 995)],
    ),
    "boards and their total": (
        {"boards.csv": "tiles,board,energy_j,time_s\n" + "".join(
            f"{tiles},{name},{energy * tiles},{40.5 - tiles}\n" for tiles in (2, 4, 8)
            for name, energy in (("b1", 30.5), ("b2", 41.25), ("total", 71.75)))},
        "tiles, energy_j, duration_s, b2_energy_j", 3, [(2, 143.5, 38.5, 82.5)],
    ),
    # A suite is no whole, and half the work on all cores is no sum.
    "all cores, and all programs": (
        {"cores.csv": "program,lanes,energy_j,time_s\n" + "".join(
            f"{program},{lanes},{energy + 100 * (program == 'all')},{time}\n"
            for program in ("ep", "mg", "all")
            for lanes, energy, time in ((1, 50.5, 40.25), (2, 50.25, 21.5), ("all", 60.75, 9.5)))},
        "lanes, program, energy_j", 9, [("1", "all", 150.5), ("1", "ep", 50.5), ("1", "mg", 50.5)],
    ),
    # Stages of each run are columns; with measurements of their own they are no settings.
    "stages of runs": (
        {f"{width}/stages.json": json.dumps([
            {"tile": tile, "kind": kind, "value": tile * base + at / 8}
            for tile in (8, 16, 32) for at, (kind, base) in enumerate(
                (("preprocess", 0.25), ("inferense", 2.5), ("postprocess", 0.125)))])
         for width in ("int8", "fp16")},
        "precision_text, tile, preprocess, inferense, postprocess", 6,
        [("fp16", 8, 2.0, 20.125, 1.25)],
    ),
    # Logs of some rows of a table, whose paths say of which, are no further runs; of two with other
    # numbers each is a run.
    "logs of rows": (
        {"all.csv": "fabric,nodes,kib,goodput_mbs\n" + "".join(
            f"{fabric},{nodes},{kib},{rate}\n" for fabric, nodes, kib, rate in _FABRICS),
         **{f"{fabric}_{nodes}n_{kib}KiB.log": f"== {fabric} ==\nmessage size: {kib / 8:.3f} KiB\n"
            f"slowest rank: {kib / rate:.6f} s\nmeasured goodput: {rate} MB/s\n"
            for fabric, nodes, kib, rate in _FABRICS[:3]}},
        "fabric, kib, goodput_mbs, slowest_rank", 4,
        [("ring", 16, 31.517, pytest.approx(0.507664, rel=1e-3)), ("ring", 96, 41.862, None),
         ("tree", 16, 28.273, pytest.approx(0.565911, rel=1e-3))],
    ),
    "documents of rows": (
        {"all.csv": "policy,width,energy_j,time_s\n" + "".join(
            f"{policy},{width},{energy},{time}\n" for policy, width, energy, time in _POLICIES),
         **{f"runs/{policy}-{width}.json": json.dumps(
             {"policy": policy, "width": width, "energy_j": energy, "time_s": time, "heap": 90.5})
            for policy, width, energy, time in _POLICIES}},
        "policy, width, energy_j, duration_s, heap", 4,
        [("greedy", 3, 151.275, 7.3125, 90.5)],
    ),
    "documents of other runs": (
        {"all.csv": "policy,width,energy_j,time_s\n" + "".join(
            f"{policy},{width},{energy},{time}\n" for policy, width, energy, time in _POLICIES),
         **{f"runs/{policy}-{width}.json": json.dumps(
             {"policy": policy, "width": width, "energy_j": energy + 1, "time_s": time})
            for policy, width, energy, time in _POLICIES}},
        "policy, width, energy_j", 8, [("greedy", 3, 151.275), ("greedy", 3, 152.275)],
    ),
    # Lists beside what holds for all are a sweep where one has what was set, at any depth.
    "parallel lists": (
        {"sweep.json": json.dumps({"board": "b7", "x": [2, 4, 8, 16, 32],
            "time_s": [6.1, 3.2, 1.7, 0.9, 0.8], "energy_j": [210.5, 150.25, 120.5, 118.5, 140]})},
        "x_whole, duration_s, energy_j", 5, [(2, 6.1, 210.5), (4, 3.2, 150.25)],
    ),
    "parallel lists of parts": (
        {"sweep.json": json.dumps({"host": "n4", "results": {unit: {
            "tiles": [256, 512, 1024], "time_ms": [base, base * 7.5, base * 60.5],
            "energy_mj": [base * 30, base * 250, base * 1900]}
            for unit, base in (("card", 0.5), ("host", 4.5))}})},
        "results, tiles, duration_s, energy_j", 6,
        [("card", 256, pytest.approx(0.0005), pytest.approx(0.015))],
    ),
    "lists of parts of one run": (
        {"runs.json": json.dumps([{"net": net, "energy_j": base, "time_s": base / 9,
            "filters": [64, 128, 256], "layer_ms": [1.5, 2.5, base]} for net, base in (
                ("a", 12.5), ("b", 19.25))])},
        "net, energy_j", 2, [("a", 12.5), ("b", 19.25)],
    ),
    # Nothing else was set, and each value has as many rows.
    "a voltage that was set": (
        {"volts.csv": "voltage_mv,energy_j,time_s\n" + "".join(
            f"{volts},{volts / 4 + at / 8},{12.5 + at / 16}\n"
            for at in range(3) for volts in (700, 800, 900))},
        "voltage_mv, energy_j", 9, [(700, 175.0), (700, 175.125)],
    ),
    "a weight in even steps": (
        {"weights.csv": "alpha,energy_j,latency_ms\n" + "".join(
            f"{at / 10},{90.5 - at * 3 + at % 3},{20.25 + at * at / 7}\n" for at in range(11))},
        "alpha, energy_j", 11, [(0.0, 90.5), (0.1, 88.5)],
    ),
    # Runs in columns beside their mean; a row of groups above the headings, the last over several.
    "runs beside their mean": (
        {f"{code}.csv": f"metric,run_1,run_2,run_3,mean,std\nenergy_j,{base},{base + 1},"
            f"{base + 2.5},{base + 1.17},1.26\ntime_s,5.25,5.5,5.375,5.375,0.125\n"
            for code, base in (("fft", 90.5), ("lu", 70.5))},
        "benchmark, replicate, energy_j, duration_s", 6, [("fft", 1, 90.5, 5.25)],
    ),
    "groups above headings": (
        {"sizes.csv": ",CPU,,GPU,\nside,energy (J),time (s),energy (J),time (s)\n" + "".join(
            f"{side},{side / 8},{side / 64},{side / 16},{side / 256}\n" for side in (48, 64, 96))},
        "side, cpu_energy, cpu_time, gpu_energy, duration_s", 3, [(48, 6.0, 0.75, 3.0, None)],
    ),
    # Locust and JMeter write ms.
    "percentiles with their sign": (
        {"report.csv": "Label,# Samples,Average,Median,90% Line,95% Line,99% Line,Min,Max,Error %,"
            "Throughput,Received KB/sec\nhome,900,41,38,66,80,131,12,402,0.00%,99.1,31.2\n"
            "find,900,77,70,110,144,230,20,620,0.10%,98.7,250.1\n"},
        "label, latency_p90_us, latency_p99_us, throughput_qps", 2,
        [("find", 110000, 230000, 98.7)],
    ),
    "percentiles without a unit": (
        {"report.csv": "clients,energy_j,50%,99%\n" + "".join(
            f"{n},{120.5 + n * 3},{1.25 + n / 8},{4.5 + n * n / 16}\n" for n in (2, 4, 8, 16))},
        "clients, energy_j", 4, [(2, 126.5)],
    ),
    # What is used of a budget was measured, however round.
    "a budget and its use": (
        {"budgets.csv": "policy,budget_j,budget_used_j,time_s\n" + "".join(
            f"{policy},{budget},{budget - save},{budget / 40 + save / 9}\n"
            for policy, save in (("eager", 50), ("lazy", 100)) for budget in (400, 800, 1600)
            for _ in range(2))},
        "policy, budget_j, energy_j", 12, [("eager", 400, 350), ("eager", 400, 350)],
    ),
    "clocks before and after": (
        {"clocks.csv": "codec,time_before_s,time_after_s\n" + "".join(
            f"{codec},{900 + 40 * at},{900.5 + 40 * at + took + at / 64}\n"
            for at, (codec, took) in enumerate(product(("x", "y"), (20, 25, 30)), 1))},
        "codec, duration_s", 6, [("x", 20.515625), ("x", 25.53125)],
    ),
    "clocks beside how long it took": (
        {"clocks.csv": "codec,start_s,end_s,duration_s\n" + "".join(
            f"{codec},{900 + 40 * at},{901 + 40 * at + took + at / 64},{took + at / 64}\n"
            for at, (codec, took) in enumerate(product(("x", "y"), (20, 25, 30)), 1))},
        "codec, duration_s", 6, [("x", 20.015625), ("x", 25.03125)],
    ),
    "times before and after": (
        {"patches.csv": "patch,time_before_s,time_after_s\n" + "".join(
            f"p{at},{12.5 + at},{10.25 + at}\n" for at in range(6))},
        "patch, duration_s, time_before_s, time_after_s", 6, [("p0", None, 12.5, 10.25)],
    ),
    "load table": (
        {f"etc_{name}.dat": "# memcached, ETC\n# QPS(k) achieved p99(us) power(W)\n"
         f"25 25.1 {p99} 120.5\n50 49.9 200.0 131.5\n75 75.0 220.0 140.0\n100 99.7 230.0 150.0\n"
         for name, p99 in (("performance", 170.5), ("powersave", 180.5))},
        "governor, qps_k, latency_p99_us, power_w, performance_metric", 8,
        [("performance", 25, 170.5, 120.5, "latency_p99_us")],
    ),
    # Running totals of two services, 5 J and 1 J in 5 s; only the file's name says what they are.
    # Domains that are measured at once are columns of the run, and no settings that compete.
    "domains of RAPL a row": (
        {"rapl.csv": "threads,trial,Domain,time_s,energy (J)\n" + "".join(
            f"{t},{k},{name},{9.25 - t + k / 8},{by * (20.125 + t + k)}\n"
            for t in (2, 4, 8) for k in (1, 2)
            for name, by in {"CORE": 0.5, "CPU": 1, "DRAM": 0.25, "PSYS": 2}.items())},
        "thread_count, replicate, energy_j, duration_s, psys_energy", 6,
        [(2, 1, 23.125, 7.375, 46.25), (2, 2, 24.125, 7.5, 48.25)],
    ),
    "what the file's name says": (
        {f"{scaler}/rps{rps}/run_{run}/{name}": text for scaler in ("hpa", "none")
         for rps in (100, 200) for run in (1, 2) for name, text in (
             ("container_joules_total.csv", '"Time","cart","shop"\n' + "".join(
                 f"2024-09-03 11:20:{5 * at:02d},{900.5 + 5 * at},{70.5 + at}\n"
                 for at in range(12))),
             ("summary.json", '{"metrics": {"http_req_duration": {"avg": 41.5, "p(95)": 90.5}, '
              '"http_reqs": {"count": 5000, "rate": 99.5}}}'))},
        "folder, load_qps, replicate, energy_j, latency_p95_us, throughput_qps", 8,
        [("hpa", 100.0, 1, pytest.approx(66.0), 90_500.0, 99.5)],
    ),
    # Energies of two sockets, and names of rows: 60.5 J and 40.5 J.
    "sockets apart": (
        {"npb.csv": '"","bench","threads","rep","elapsed","joules.pkg.0","joules.pkg.1",'
         '"joules.dram.0"\n' + "".join(
             f'"{n}","{b}",{t},{rep},{2.5 + n},{60.5 + n},{40.5 + n},{5.5 + n}\n'
                          for n, (b, t, rep) in enumerate(product(("bt", "cg"), (8, 16), (1, 2))))},
        "bench, thread_count, replicate, energy_j, duration_s", 8,
        [("bt", 8, 1, 101.0, 2.5), ("bt", 8, 2, 103.0, 3.5)],
    ),
    "means of batches": (
        {f"{model}/batch_size_{size}/means_prompt{n}.json": f'{{"batch_size": {size - 0.1 * n}, '
         f'"energy_j": {size * 10.5 + n}, "avg_power_draw": 300.5, "total_seconds": {20.5 + n}}}'
         for model in ("gemma", "llama") for size in (16, 64, 128) for n in (1, 2, 3)},
        "model, batch_size_of_path, prompt, batch_size, energy_j, duration_s", 18,
        [("gemma", 16, 1, 15.9, 169.0, 21.5)],
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
    # The unit ends the heading of the mean alone.
    "means with a number of runs": (
        {"summary.csv": "codec,crf,energy_j,energy_sd,time_s,time_sd,time_ci95,runs\n" + "".join(
            f"{codec},{crf},{400.5 - crf},4.25,{60.5 - crf},0.75,0.5,{8 + crf // 20}\n"
            for codec in ("av1", "vp9") for crf in (20, 30, 40))},
        "codec, crf, aggregate_n, energy_j, sd_energy_j, duration_s, sd_duration_s, replicate", 6,
        [("av1", 20, 9, 380.5, 4.25, 40.5, 0.75, None)],
    ),
    "means with deviations that are named by their place": (
        {"summary.csv": "Codec,CRF,Repetitions,Energy [J],Std. Dev. [J],Runtime [s],Std. Dev. [s]\n"
         + "".join(f"{codec},{crf},12,{400.5 - crf},4.25,{60.5 - crf},0.75\n"
                   for codec in ("av1", "vp9") for crf in (20, 30, 40))},
        "codec, crf, aggregate_n, energy_j, sd_energy_j, duration_s, sd_duration_s", 6,
        [("av1", 20, 12, 380.5, 4.25, 40.5, 0.75)],
    ),
    # A count beside an error of a mean: how many runs there were, no deviation.
    "means with their errors": (
        {"summary.csv": "codec,crf,energy_j,energy_stderr,time_s,time_stderr,count\n" + "".join(
            f"{codec},{crf},{400.5 - crf},4.25,{60.5 - crf},0.75,12\n"
            for codec in ("av1", "vp9") for crf in (20, 30, 40))},
        "codec, crf, aggregate_n, energy_j, duration_s", 6, [("av1", 20, 12, 380.5, 40.5)],
    ),
    # The count is of requests.
    "latencies of requests": (
        {"summary.csv": "users,energy_j,latency_mean_ms,latency_std_ms,count\n" + "".join(
            f"{users},{90.5 * users},{4.5 + users},1.25,{500 + users}\n"
            for users in (1, 2, 4, 8))},
        "users, energy_j, count, replicate", 4, [(1, 90.5, 501, 0)],
    ),
    "row names of R": (
        {"power.txt": '"device" "iodepth" "mean.power.W" "lat.us"\n"1" "nvme" 1 5.5 80.5\n'
         '"2" "nvme" 8 7.5 120.5\n"3" "sata" 1 3.5 200.5\n"4" "sata" 8 4.5 900.5\n'},
        "device, iodepth, power_w", 4,
        [("nvme", 1, 5.5), ("nvme", 8, 7.5)],
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
        "energy_j, duration_s, kernel, freq_mhz, replicate, cores_whole, model, precision_text", 15,
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
        "variant_text, energy_j, duration_s", 2,
        [("baseline", 100.0, 10.0), ("optimized", 80.0, 9.0)],
    ),
    # The runs stand in columns, and in cells of a file for each measurement.
    "a metric a row": (
        {f"{name}.csv": "metric,unit,run1,run2,run3\nenergy,J,100.5,110.5,120.5\n"
         "runtime,s,9.5,10.5,11.5\nfps,,1.5,1.25,1.75\n" for name in ("cg", "ep")},
        "benchmark, replicate, energy_j, duration_s, fps", 6,
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
        "governor, thread_count, energy_j, duration_s", 4,
        [("ondemand", 1, 100.5, 10.5), ("ondemand", 2, 80.5, 5.5), ("performance", 1, 60.5, 4.5)],
    ),
    "settings in the names of columns": (
        {"t.csv": "metric,cg_1200,cg_2400,ep_1200,ep_2400\nenergy_j,100.5,80.5,60.5,50.5\n"
         "time_s,10.5,5.5,4.5,2.5\n"},
        "benchmark, setting_part, energy_j, duration_s", 4,
        [("cg", 1200, 100.5, 10.5), ("cg", 2400, 80.5, 5.5)],
    ),
    "a metric a file": (
        {"energy_j.csv": "threads,1200MHz,2400MHz\n1,100.5,110.5\n4,90.5,95.5\n8,85.5,\n",
         "runtime_s.csv": "threads,1200MHz,2400MHz\n1,20.5,10.5\n4,6.5,3.5\n8,4.5,\n"},
        "thread_count, frequency, energy_j, duration_s", 5,
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
    # Names write settings shorter than headings do, and a model has marks of its own: 120 W, 2 s.
    "traces of a GPU beside a table of results": (
        {"results.csv": "network,batch_size,power_limit_w,img_per_s\n" + "".join(
            f"{model},{size},{limit},{25.5 * size}\n"
            for model in ("alex-net", "vgg16") for size in (1, 2, 4) for limit in (100, 200)),
         **{f"power/{model}_bs{size}_pl{limit}.csv":
            "timestamp, power.draw [W], clocks.current.sm [MHz]\n" + "".join(
                f"2024/05/01 10:00:0{at // 5}.{at % 5 * 2}00, {119 + at % 3}.00 W, 1410 MHz\n"
                for at in range(11))
            for model in ("alex-net", "vgg16") for size in (1, 2, 4) for limit in (100, 200)
            if (model, size) != ("vgg16", 4)}},
        "network, batch_size, power_limit_w, energy_j, power_w", 12,
        [("alex-net", 1, 100, pytest.approx(264.0, rel=0.1), pytest.approx(120.0, rel=0.01))],
    ),
    # Energy and time stand in a column for each clock, with the unit behind the clock.
    "steps of a clock in headings": (
        {"results.csv": "program," + ",".join(f"energy_{c}GHz_J,time_{c}GHz_s" for c in (1.2, 2.4))
         + "\nfft,310.5,20.5,402.5,11.5\nlu,520.5,33.5,611.5,18.5\n"},
        "program, clock_ghz, energy_j, duration_s", 4,
        [("fft", 1.2, 310.5, 20.5), ("fft", 2.4, 402.5, 11.5), ("lu", 1.2, 520.5, 33.5)],
    ),
    # Variants of one program in headings; a counter that is read before and after is one run's.
    "two variants in headings": (
        {"t.csv": "program,energy_base_J,energy_opt_J,time_base_s,time_opt_s\n"
         "gzip,90.5,75.5,9.5,8.25\nxz,190.5,165.5,19.5,17.25\n"},
        "program, alternative, energy_j, duration_s", 4,
        [("gzip", "base", 90.5, 9.5), ("gzip", "opt", 75.5, 8.25), ("xz", "base", 190.5, 19.5)],
    ),
    "a counter before and after": (
        {"t.csv": "program,energy_before_J,energy_after_J,time_s\n"
         "gzip,90.5,175.5,9.5\nxz,190.5,365.5,19.5\n"},
        "program, duration_s", 2, [("gzip", 9.5), ("xz", 19.5)],
    ),
    # Energies before and after a change are of two runs, also where the change costs energy.
    "energies before and after a change": (
        {"t.csv": "program,energy_before_J,energy_after_J\n"
         "gzip,190.5,265.5\nxz,90.5,125.5\nlz4,240.5,330.5\n"},
        "program, energy_before_j, energy_after_j", 3,
        [("gzip", 190.5, 265.5), ("lz4", 240.5, 330.5), ("xz", 90.5, 125.5)],
    ),
    # Yes and no say what came out, but a sweep has as many rows of each.
    "a state that was set": (
        {"t.csv": "throttled,model,rep,time_s,energy_j\n" + "".join(
            f"{is_slow},{model},{rep},{20.5 + 10 * is_slow + rep / 8},{1020.5 - 99 * is_slow}\n"
            for is_slow, model, rep in product((0, 1), ("fft", "lu"), (1, 2)))},
        "throttled, model, replicate, duration_s", 8,
        [(0, "fft", 1, 20.625), (0, "fft", 2, 20.75), (0, "lu", 1, 20.625)],
    ),
    # Sorted times of replicates rise as those of samples do, which begin at 0 or since 1970.
    "sorted lists of replicates": (
        {"r.json": json.dumps({sort: {
            "time_s": [scale + 0.25 * n for n in range(6)], "energy_j": [50.5 * scale] * 6}
            for sort, scale in (("heap", 2.0), ("quick", 1.0))})},
        "key, duration_s, energy_j, aggregate_n", 2,
        [("heap", 2.625, 101.0, 6), ("quick", 1.625, 50.5, 6)],
    ),
    # A number that stands once with each kernel is a size, and not of runs.
    "a size beside deviations": (
        {"t.csv": "kernel,n,time_s,sd,energy_j\n" + "".join(
            f"{kernel},{n},{n / 100},{n / 5000},{n / 2}\n"
            for kernel, n in product(("gemm", "gemv"), (512, 1024)))},
        "kernel, n_whole, duration_s, energy_j", 4,
        [("gemm", 512, 5.12, 256.0), ("gemm", 1024, 10.24, 512.0)],
    ),
    # What was made goes with the size of the batch, which a name says was set.
    "a setting in names and what follows from it": (
        {f"{kind}_bs{bs}_run{run}.json":
         f'{{"energy_j": {bs * 7.25 + run}, "time_s": {bs * 0.5 + run / 8}, "tokens": {bs * 64}}}'
         for kind in ("fp16", "int8") for bs in (2, 8) for run in (0, 1)},
        "bs, replicate, energy_j, tokens", 8,
        [(2, 0, 14.5, 128), (2, 0, 14.5, 128), (2, 1, 15.5, 128)],
    ),
    "numbers of threads in headings": (
        {"results.csv": "energy_1t_J,time_1t_s,energy_8t_J,time_8t_s,program\n"
                        "310.5,20.5,402.5,3.5,fft\n520.5,33.5,611.5,5.5,lu\n"},
        "program, thread_count, energy_j, duration_s", 4,
        [("fft", 1, 310.5, 20.5), ("fft", 8, 402.5, 3.5), ("lu", 1, 520.5, 33.5)],
    ),
    # As a spreadsheet merges cells, and a person writes means and durations.
    "merged cells": (
        {"table.csv": "Program,Threads,Clock (GHz),Time (s),Energy (J)\n" + "".join(
            f"{program * (n % 4 == 0)},{threads if n % 2 == 0 else ''},{clock},{20.5 + n},"
            f"{310.5 + n}\n"
            for n, (program, threads, clock) in enumerate(
                product(("fft", "lu", "mg"), (1, 4), (1.2, 2.4))))},
        "program, thread_count, clock, duration_s, energy_j", 12,
        [("fft", 1, 1.2, 20.5, 310.5), ("fft", 1, 2.4, 21.5, 311.5), ("fft", 4, 1.2, 22.5, 312.5)],
    ),
    "means with deviations": (
        {"table.csv": "program,clock_ghz,time (s),energy\n"
                      "fft,1.2,20.5 ± 0.5,310.5 ± 3.5 J\nfft,2.4,11.5 ± 0.25,402.5 ± 4.5 J\n"
                      "lu,1.2,33.5 +/- 0.5,520.5 +/- 5.5 J\nlu,2.4,18.5 ± 0.75,611.5 ± 6.5 J\n"},
        "program, clock_ghz, duration_s, energy_j, std_time, std_energy", 4,
        [("fft", 1.2, 20.5, 310.5, 0.5, 3.5)],
    ),
    # The unit stands behind both; pandas, Python and ISO 8601 write durations.
    "means with deviations in kJ": (
        {"table.csv": "program,clock_ghz,time,energy\n"
                      "fft,1.2,0 days 00:01:02.500000,310.5 kJ ± 3.5 kJ\n"
                      "fft,2.4,0 days 00:00:32,402.5 kJ ± 4.5 kJ\n"
                      "lu,1.2,0 days 01:00:33,520.5 kJ ± 5.5 kJ\n"
                      "lu,2.4,1 days 00:00:18,611.5 kJ ± 6.5 kJ\n"},
        "program, clock_ghz, duration_s, energy_j, std_energy", 4,
        [("fft", 1.2, 62.5, 310_500.0, 3.5), ("fft", 2.4, 32.0, 402_500.0, 4.5),
         ("lu", 1.2, 3633.0, 520_500.0, 5.5), ("lu", 2.4, 86_418.0, 611_500.0, 6.5)],
    ),
    "durations of ISO 8601": (
        {"table.csv": "program,clock_ghz,took,energy_j\nfft,1.2,PT1M2.5S,310.5\n"
                      "fft,2.4,PT32S,402.5\nlu,1.2,PT1H33S,520.5\nlu,2.4,P1DT18S,611.5\n"},
        "program, clock_ghz, duration_s, energy_j", 4,
        [("fft", 1.2, 62.5, 310.5), ("fft", 2.4, 32.0, 402.5), ("lu", 1.2, 3633.0, 520.5),
         ("lu", 2.4, 86_418.0, 611.5)],
    ),
    "lines with their numbers in brackets": (
        {"results.log": "".join(
            f"[{n:04d}] program={program} size={size} energy_j={90.5 + n} time_s={9.5 - n}\n"
            for n, (program, size) in enumerate(product(("fft", "lu"), (1, 4, 8))))},
        "program, size, energy_j, duration_s", 6,
        [("fft", 1, 90.5, 9.5), ("fft", 4, 91.5, 8.5)],
    ),
    # Three times of each row in a cell are its replicates, and how many there are says `reps` too.
    "lists in cells": (
        {"t.csv": "backend,lines,reps,best_ms,times_ms,sides\n"
                  'col,1000,3,7.5,"[7.5, 8.5, 9.5]","[2, 4]"\nrow,1000,3,17.5,"[19.5, 17.5, 18.5]",'
                  '"[2, 4]"\ncol,9000,3,70.5,"[70.5, 71.5, 72.5]","[2, 4]"\n'
                  'row,9000,3,90.5,"[90.5, 94.5, 92.5]","[2, 4]"\n'},
        "backend, lines, duration_s, sd_duration_s, aggregate_n, sides", 4,
        [("col", 1000, pytest.approx(0.0085), pytest.approx(0.001), 3, "[2, 4]"),
         ("col", 9000, pytest.approx(0.0715), pytest.approx(0.001), 3, "[2, 4]"),
         ("row", 1000, pytest.approx(0.0185), pytest.approx(0.001), 3, "[2, 4]")],
    ),
    "durations in parts": (
        {"table.csv": "program,clock_ghz,real,energy_j\nfft,1.2,2m20.500s,3310.5\n"
                      "fft,2.4,1m11.250s,4402.5\nlu,1.2,0m59.750s,1520.5\nlu,2.4,0m31.000s,1611.5\n",
         "elapsed.csv": "suite,cap_w,elapsed,energy_j\nspec,80,1:00:20.5,310500\n"
                        "spec,120,0:50:11,402500\nnpb,80,0:10:00,52050\nnpb,120,0:08:30,61150\n"},
        "duration_s, energy_j", 8,
        [(31.0, 1611.5), (59.75, 1520.5), (71.25, 4402.5), (140.5, 3310.5), (510.0, 61150.0),
         (600.0, 52050.0), (3011.0, 402500.0)],
    ),
    # Of `1:20` nothing tells hours from minutes, unless the heading does.
    "durations that may be hours": (
        {"a.csv": "board,elapsed (h:mm),energy_kwh\nx1,1:20,0.5\nx2,2:30,0.75\nx3,3:10,0.9\n",
         "b.csv": "board,elapsed,energy_kwh\nx1,1:20,0.25\nx2,2:30,0.5\nx3,3:10,0.75\n",
         "c.csv": "board,elapsed (mm:ss),energy_j\nx1,1:20,310.5\nx2,2:30,402.5\nx3,3:10,520.5\n"},
        "board, energy_j, duration_s", 9,
        [("x1", 310.5, 80.0), ("x1", 900_000.0, None), ("x1", 1_800_000.0, None)],
    ),
    # Lamps have powers by name, notes are of their own rows, and only `config.json` has results.
    "powers in names": (
        {"t.csv": "lamp,energy_5W_led,energy_10W_led,lux_5W_led,lux_10W_led\n"
                  "x,10.5,20.5,30,40\ny,11.5,21.5,31,41\nz,12.5,22.5,32,42\n"},
        "lamp, energy_5w_led, lux_10w_led", 3, [("x", 10.5, 40.0), ("y", 11.5, 41.0)],
    ),
    "notes of single rows": (
        {"t.csv": "note,cap_w,energy_j\nfirst,60,10.5\n,80,11.5\nretry,100,12.5\n,120,13.5\n"},
        "note, cap_w, energy_j", 4,
        [("first", 60, 10.5), ("retry", 100, 12.5), (None, 80, 11.5), (None, 120, 13.5)],
    ),
    "configurations with results": (
        {f"run{n}/config.json": f'{{"width": {2**n}, "energy_j": {10.5 + n}, "time_s": {n}.5}}'
         for n in (1, 2, 3, 4)},
        "width, energy_j, duration_s", 4, [(2, 11.5, 1.5), (4, 12.5, 2.5)],
    ),
    "parameters with results": (
        {"params.csv": "params,accuracy,energy_per_item_mj,latency_ms\n10,0.5,1.5,2.5\n100,0.6,2.5,"
                       "3.5\n1000,0.7,3.5,5.5\n"},
        "params, accuracy, latency_mean_us", 3, [(10, 0.5, 2500.0), (100, 0.6, 3500.0)],
    ),
    "numbers of keys that begin with 0": (
        {"r.json": "{" + ", ".join(f'"batch_0{n}": {{"energy_j": {n + 0.5}, "time_s": {n + 2}}}'
                                   for n in (1, 2, 4, 8)) + "}"},
        "batch, energy_j, duration_s", 4, [(1, 1.5, 3.0), (2, 2.5, 4.0)],
    ),
    "an energy of a whole sweep": (
        {"r.json": '{"board": "p4", "layers": [1, 2, 3], "latency_ms": [2.5, 3.5, 4.5], '
                   '"total_energy_j": 500.5}'},
        "energy_j", 1, [(500.5,)],
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
    # Statistics below the last row are of the rows above.
    "rows of statistics": (
        {"t.csv": "cores,time_s,energy_j\n1,10.5,300.5\n2,6.5,250.5\n4,4.25,240.25\n"
                  "mean,7.083,263.75\nstd,3.166,32.252\n"},
        "cores_whole, energy_j", 3, [(1, 300.5), (2, 250.5), (4, 240.25)],
    ),
    # A heading above a few values states the settings of each run.
    "headings above a few values": (
        {"log.txt": "".join(f"### compiler={name} opt=-O{n}\nTime: {10.5 - n} s\n"
                            f"Energy: {300.5 - n} J\nPower: 35.0 W\n\n"
                            for name in ("gcc", "clang") for n in (1, 2, 3))},
        "compiler, opt, duration_s, energy_j", 6, [("clang", "-O1", 9.5, 299.5)],
    ),
    **{f"lines {name} that say what runs": (
        {"log.txt": "".join(f"{before}{compiler} -O{n}{behind}\nTime: {10.5 - n} s\n"
                            f"Energy: {300.5 - n} J\n"
                            for compiler in ("gcc", "clang") for n in (1, 2, 3))},
        "duration_s, energy_j", 6, [(7.5, 297.5)],
    ) for name, before, behind in (
        ("of rules", "=== ", " ==="), ("of a script", "Running ", "..."))},
    # SLURM shortens joules.
    "energies of jobs": (
        {"sacct.txt": "JobName|NNodes|Elapsed|ConsumedEnergy\n" + "".join(
            f"lu-f{f}-n{n}-r{r}|{n}|00:10:{n:02}|{energy}\n"
            for n, energy in ((1, "74.89K"), (4, "1.2M")) for f in (1500, 2700) for r in (1, 2))},
        "nnodes, f, replicate, energy_j, duration_s", 8,
        [(1, 1500, 1, 74_890.0, 601.0), (1, 1500, 2, 74_890.0, 601.0)],
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
}  # fmt: skip


@pytest.mark.parametrize("style", STUDIES)
def test_a_table_comes_out_right_without_settings(style: str, tmp_path: Path) -> None:
    check_study(STUDIES, style, tmp_path)

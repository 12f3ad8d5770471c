"""Meters, logs and traces as people leave them, fed without a line of settings.

Each is written in another style. It has its columns, the number of its runs, and the first of them
in order; what was worked by hand stands beside it.
"""

import json
from itertools import product
from pathlib import Path

import pytest

from tests.fixtures.unseen import Studies, check_study

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
STUDIES: Studies = {
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
    # Columns say whose samples they are: 60 W and 90 W for 8 s and 6 s, with breaks of a minute.
    "samples of runs one below the other": (
        {"samples.csv": "timestamp,program,clock_mhz,rep,power_w,util\n" + "".join(
            f"{1_714_550_000 + 80 * n + at},{name},{clock},{rep},{power}.{at % 2},{90 + at % 3}\n"
            for n, (name, (clock, power, count), rep) in enumerate(product(
                ("fft", "lu"), ((1200, 60, 8), (2400, 90, 6)), (1, 2)))
            for at in range(count))},
        "program, clock_mhz, energy_j, duration_s", 8,
        [("fft", 1200.0, pytest.approx(480.4), 8.0)] * 2
        + [("fft", 2400.0, pytest.approx(540.3), 6.0)],
    ),
    # The clock begins again at 0 in each run: 60 W or 90 W for 10 s, two runs a clock.
    "times that begin again": (
        {"samples.csv": "clock_mhz,elapsed_s,power_w\n" + "".join(
            f"{clock},{at / 2},{clock / 20}\n"
            for _ in range(2) for clock in (1200, 1800) for at in range(20))},
        "clock_mhz, energy_j, duration_s", 4,
        [(1200.0, pytest.approx(600.0), 10.0)] * 2 + [(1800.0, pytest.approx(900.0), 10.0)] * 2,
    ),
    # Below a header each, without a word of what was set: runs of 8 s and 12 s.
    "times that begin again, and nothing else": (
        {f"{host}.csv": "".join("time_s,power_w\n" + "".join(
            f"{at},{watts}.0\n" for at in range(count))
            for watts, count in ((60, 8), (70, 12))) for host in ("a", "b")},
        "file, energy_j, duration_s", 4, [("a", 480.0, 8.0), ("a", 840.0, 12.0)],
    ),
    # A day's clock beside the energy of each second, and a power of two devices, by the names.
    "samples whose file's name says what they are": (
        {f"logs/{model}_energy_rapl.csv": "".join(
            f"10:34:{at:02},{base + at % 3}\n" for at in range(30))
         for model, base in (("opt-1b", 8), ("phi-2b", 11))}
        | {"power_log.csv": "timestamp,GPU0,GPU1\n" + "".join(
            f"{1763638585 + at}.25,{199 + at % 2}.5,{256 + at % 2}.5\n" for at in range(30))},
        "energy_j, duration_s", 3,
        [(pytest.approx(270.0), 30.0), (pytest.approx(360.0), 30.0),
         (pytest.approx(13710.0), 30.0)],
    ),
    # The power of nothing is no run of the sweep, and hides no setting of the others' names.
    "an idle machine": (
        {f"{name}.csv": "timestamp, power.draw [W]\n" + "".join(
            f"2026/01/01 10:00:{at:02}.000, {watts + at % 2}.0 W\n" for at in range(20))
         for name, watts in (("gpu_idle", 35), *((f"{day}_{model}/{model}_{kind}_bs{bs}", 150 + bs)
                             for day in ("20260301",) for model in ("opt-1b", "phi-2b")
                             for kind in ("fp16", "int8") for bs in (1, 8)))},
        "workload, model, bs, energy_j", 9,
        [("idle", None, None, 710.0), ("study", "opt-1b", 1, 3030.0)],
    ),
    # A folder above them that is of an idle state makes no idle runs of the others.
    "an idle trace in a folder of an idle study": (
        {f"{folder}/{name}.csv": "time_s,power_w\n" + "".join(
            f"{at},{watts + at % 2}\n" for at in range(20))
         for folder in ("deep_idle", "shallow_idle")
         for name, watts in (("idle", 12), ("video", 26), ("game", 45))},
        "workload, folder, file, energy_j", 6,
        [("idle", None, None, 250.0), ("idle", None, None, 250.0),
         ("study", "deep", "game", 910.0)],
    ),
    # What a document says of a run, its folder repeats in other words: no second setting.
    "traces in folders beside documents": (
        {f"res/{model}/pl{limit}/rr{rate}/{name}": text for model, limit, rate in product(
            ("opt-1b", "phi-2b"), (150, 250), (1, 8)) for name, text in (
            ("bench.json", json.dumps({"model_id": f"org/{model}", "request_rate": rate * 1.0,
                                       "prompts": 300, "duration": 19.5 + rate,
                                       "mean_ttft_ms": 3e3 / limit + rate})),
            ("power.csv", "timestamp,power.draw [W]\n" + "".join(
                f"2026/01/01 10:00:{at:02}.000,{limit - at % 2}.0{len(model)} W\n"
                for at in range(20 + rate))))},
        "model_id, power_limit, request_rate, energy_j, mean_ttft_ms", 8,
        [("org/opt-1b", 150, 1.0, pytest.approx(3141.26), 21.0)],
    ),
    # A phase and a state are of one run: 30 samples of 60 W.
    "samples of phases": (
        {"samples.csv": "timestamp,phase,profile_state,power_w\n" + "".join(
            f"{1_714_550_000 + at},{('load', 'run', 'end')[at // 10]},P{at // 6 % 2},60.0\n"
            for at in range(30))},
        "energy_j, duration_s", 1, [(pytest.approx(1800.0), 30.0)],
    ),
    # Watts behind dates, as `ipmitool` in a loop leaves them: 150 W for 20 s.
    "dates and numbers": (
        {f"{disk}_{n}.csv": "".join(
            f"2022-03-09 09:00:{2 * at:02d},{149 + at % 3}\n" for at in range(9))
         for disk in ("nvme", "sata") for n in (1, 2)},
        "file, replicate, power_w, energy_j", 4,
        [("nvme", 1, pytest.approx(150.0), pytest.approx(2700.0))],
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
    # 100 W to 10 s, 110 W after: 5 s and 5 s.
    "meter beside runs": (
        {"meter/run01.csv": METER,
         "runs.csv": "run_id,encoder,start,end,vmaf\nrun01,x264,2023-09-14T10:00:05.000,"
         "2023-09-14T10:00:15.000,91.5\n"},
        "encoder, duration_s, energy_j, vmaf", 1,
        [("x264", 10.0, pytest.approx(1050, rel=0.01), 91.5)],
    ),
    "perf for people": (
        {f"logs/{governor}_{threads}threads_run{run}.log": PERF
         for governor in ("ondemand", "performance") for threads in (2, 4) for run in (1, 2)},
        "governor, thread_count, replicate, energy_j, duration_s, instructions, dram_energy, "
        "cycles, context_switches, page_faults", 8,
        [("ondemand", 2, 1, 1779.5, 9.224273025, 785_539_783_829, 61.7, 472_430_367_227, None,
          7321)],
    ),
    "running totals": (
        {f"raw/gemm-O{o}-{threads}threads-{rep}.csv": COUNTERS
         for o in (2, 3) for threads in (1, 8) for rep in (1, 2)},
        "optimization, thread_count, replicate, energy_j, duration_s", 8,
        # Seven steps of 15 J in 2 s; the first sample only begins them.
        [("O2", 1, 1, pytest.approx(105.0, rel=1e-8), 14.0)],
    ),
    # 2 W for 29 steps of 100 ms.
    "a board's milliseconds": (
        {f"coap_{size}B.csv": "millis,bus_V,power_mW\n"
         + "".join(f"{3308 + 100 * n},4.99,2000\n" for n in range(30)) for size in (64, 1024)},
        "power_w, energy_j", 2,
        [(pytest.approx(2.0), pytest.approx(6.0))],
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
    # 3 V at 0.5 A and 0.2 ms a sample.
    "a phone's monitor": (
        {f"{network}/brightness_{level}_{n}.csv": "Time(ms),Main(mA),Main Voltage(V)\n"
         + "".join(f"{0.2 * at:.1f},500.0,3.0\n" for at in range(50))
         for network in ("lte", "wifi") for level in (50, 100) for n in (1, 2)},
        "folder, brightness, replicate, power_w, duration_s", 8,
        [("lte", 50, 1, pytest.approx(1.5), pytest.approx(0.01))],
    ),
    "a file of times": (
        {f"app_t{n}.log": "".join(
            f"real {time}\nuser 9.0\nsys 0.5\n" for time in (10.0, 12.0, 20.0)) for n in (1, 2)},
        "t, duration_s, cpu_user", 6, [(1, 10.0, 9.0), (1, 12.0, 9.0), (1, 20.0, 9.0)],
    ),
    # Three samples, two of them at one time: 15 W and 19 W in 100.009 s.
    "few samples with their steps": (
        {f"{tool}_{cache}.csv": "Delta,Time,CPU_USAGE_0,SYSTEM_POWER (Watts)\n"
         "0,1771973076632,100,15.0\n100007,1771973076632,NaN,15.0\n22,1771973176641,96.6,19.0\n"
         for tool in ("pip", "uv") for cache in ("cold", "warm")},
        "file, file_2, energy_j, duration_s", 4,
        [("pip", "cold", pytest.approx(1700.153), pytest.approx(100.009))],
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
        "machine, model, folder, energy_j, throughput_qps", 12,
        [("g292", "bert", "ranging", pytest.approx(1000.0), 5716.41),
         ("g292", "bert", "run_1", pytest.approx(1000.0), 5716.41),
         ("g292", "bert", None, None, None)],
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
        "model, file, fps, duration_s", 6,
        [("inception_v4", 114750000, 7.41, 441.5)],
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
}  # fmt: skip


@pytest.mark.parametrize("style", STUDIES)
def test_meters_and_logs_come_out_right_without_settings(style: str, tmp_path: Path) -> None:
    check_study(STUDIES, style, tmp_path)

"""Numbers, flags and refusals of single runs: windows, cores, energy, bad lines."""

import shutil
from pathlib import Path

import pytest

from data.connection import open_lake
from tests.fixtures.ingest import add_status, ingest, problems, runs, tuples
from tests.fixtures.raw_runs import (
    LOG,
    MUTILATE,
    RDTSC,
    SETTINGS,
    SUMMARY_HEADER,
    summary_row,
    write_memcached,
    write_netpipe,
    write_settings,
)

NAMELESS = r"""
[[names]]
workload = "memcached"
system = "linux_tuned"
pattern = """
NAMELESS += r"'mcd\.devicelog\.(?P<replicate>\d+)_(?P<itr>\d+)_(?P<dvfs>0x\w{4})"
NAMELESS += "_(?P<rapl_w>[0-9]+)_(?P<load_qps>[0-9]+)[.][ab]'"


def write_devicelog(folder: Path, core: int | None, part: str = "a") -> str:
    """A log of a memcached run whose name has no core; gives its name."""
    name = f"mcd.devicelog.0_50_0x1d00_135_200000.{part}"
    lines = LOG.splitlines() if core is None else [f"Core={core} itr_cnt=6", *LOG.splitlines()]
    (folder / name).write_text("".join(f"[ 12.500000] {line}\n" for line in lines))
    return name


def test_a_netpipe_run_comes_out_with_the_numbers_of_its_drawing(raw: Path, lake: Path) -> None:
    write_netpipe(raw)
    report = ingest(lake, raw)
    assert (report.added, report.problems) == (1, [])
    (run,) = runs(lake)
    assert run["dataset"] == "tiny"
    assert (run["workload"], run["system"], run["source"]) == ("netpipe", "linux_tuned", "intlog")
    assert (run["itr_us"], run["dvfs_ghz"], run["message_bytes"]) == (8.0, 2.5, 64)
    assert (run["duration_s"], run["energy_j"], run["power_w"]) == (0.002, 2.0, 1000.0)
    assert (run["instructions"], run["cycles"], run["llc_misses"]) == (4000, 7000, 20)
    assert (run["interrupts"], run["rx_bytes"], run["tx_desc"]) == (4, 550, 5)
    assert run["flags"] == []
    with open_lake(lake) as opened:
        rows = opened.scan("interrupts", [run["run_id"]]).fetchall()
        assert [row[2] for row in rows] == [0, 500_000, 1_000_000, 2_000_000]
        samples = opened.scan("samples", [run["run_id"]]).fetchall()
        assert [row[4] for row in samples] == [None, 3000, 1000]
        sources = opened.polars("SELECT format FROM sources ORDER BY format")["format"].to_list()
    assert sources == ["intlog", "netpipe_out", "netpipe_server", "settings"]


def test_memcached_energy_is_summed_over_packages(raw: Path, lake: Path) -> None:
    write_memcached(raw)
    ingest(lake, raw)
    (run,) = runs(lake)
    assert (run["energy_j"], run["instructions"], run["interrupts"]) == (4.0, 8000, 8)
    assert (run["latency_p99_us"], run["throughput_qps"], run["load_qps"]) == (117.9, 2e5, 2e5)
    cores = tuples(lake, "SELECT core, package, energy_j FROM cores ORDER BY core")
    assert cores == [(0, 0, 2.0), (1, 1, 2.0)]
    # Cores of one package share its energy.
    write_settings(raw, SETTINGS.replace("{ 0 = [0], 1 = [1] }", "{ 0 = [0, 1] }"))
    ingest(lake, raw)
    assert runs(lake, "energy_j") == [{"energy_j": 2.0}]
    cores = tuples(lake, "SELECT core, energy_j FROM cores ORDER BY core")
    assert cores == [(0, 2.0), (1, None)]


@pytest.mark.thin(4)
@pytest.mark.parametrize(
    ("name", "content", "line", "kind"),
    [
        ("linux.np.log.0_1_64_5000_8_0x1900_135", LOG[:-4], 6, "cut_last_line"),
        ("linux.np.log.0_1_64_5000_8_0x1900_135", LOG + "7 1 2 3\n", 7, "field_count"),
        ("linux.np.log.0_1_64_5000_8_0x1900_135", LOG + LOG[:20] + "x\n", 7, "field_count"),
        ("linux.np.log.0_1_64_5000_8_0x1900_135", LOG.replace("300", "3x0"), 4, "not_digits"),
        ("linux.np.log.0_1_64_5000_8_0x1900_135", "", None, "empty_file"),
        ("linux.np.log.0_1_64_5000_8_0x1900_135", "no log\n", None, "unknown_content"),
        ("linux.np.log.0_1_64_5000_5000_0x1900_135", LOG, None, "bad_knob"),
        ("linux.mcd.dmesg.0_9999999999_50_0x1d00_135_200000", LOG, None, "bad_knob"),
        ("linux.mcd.dmesg.99999999999999999999_3_50_0x1d00_135_200000", LOG, None, "bad_knob"),
        ("mystery.log", LOG, None, "unknown_name"),
    ],
)
def test_what_is_bad_is_named_with_file_line_and_reason_and_the_rest_goes_on(
    raw: Path, lake: Path, name: str, content: str, line: int | None, kind: str
) -> None:
    write_netpipe(raw)
    write_netpipe(raw, replicate=1)
    (raw / name).write_text(content)
    report = ingest(lake, raw)
    assert (name, line, kind) in [row[:3] for row in problems(lake)]
    assert kind in [found.problem.kind for found in report.problems]
    assert len(runs(lake)) == 2
    assert runs(lake)[1]["energy_j"] == 2.0


@pytest.mark.parametrize("end", [10**9 + 366 * 86_400 * 10**9, 9 * 10**17])
def test_a_window_of_over_a_year_is_refused(raw: Path, lake: Path, end: int) -> None:
    write_netpipe(raw)
    write_netpipe(raw, replicate=1)
    server = raw / "linux.np.server.0_1_64_5000_8_0x1900_135"
    server.write_text(f"SERVER_WORKLOAD_PERIOD: 1000000000 {end} 1.0 3.0\n")
    ingest(lake, raw)
    found = runs(lake, "energy_j, flags, interrupts")
    assert [(row["energy_j"], row["flags"], row["interrupts"]) for row in found] == [
        (None, ["no_window"], None),
        (2.0, [], 4),
    ]
    assert problems(lake) == [(server.name, 1, "window_range", "refused")]


@pytest.mark.thin(2)
@pytest.mark.parametrize("number", ["9" * 5000, "\u00b264", "9" * 400 + ".0"])
@pytest.mark.parametrize("word", ["client", "server", "run.toml", "combined.csv"])
def test_a_number_that_cannot_be_stops_no_other_file(
    raw: Path, lake: Path, number: str, word: str
) -> None:
    write_netpipe(raw)
    write_netpipe(raw, replicate=1)
    texts = {
        "client": f"  {number} 100.0 0.00000488 0.002\n",
        "server": f"SERVER_WORKLOAD_PERIOD: {number} {number} 1 2\n",
        "run.toml": f"replicate = {number}\n",
        "combined.csv": SUMMARY_HEADER + summary_row().replace("900.0", number),
    }
    folder = raw / "sub" if word == "run.toml" else raw
    folder.mkdir(exist_ok=True)
    name = (
        word
        if word in ("run.toml", "combined.csv")
        else f"linux.np.{word}.1_1_64_5000_8_0x1900_135"
    )
    (folder / name).write_text(texts[word])
    if word == "run.toml":
        (folder / "fio.json").write_text("{}")
    ingest(lake, raw)
    assert (2.0, 4) in [(row["energy_j"], row["interrupts"]) for row in runs(lake)]
    refused = {row[0] for row in problems(lake)}
    assert refused & {name, "fio.json"}


@pytest.mark.parametrize("said", [1, None])
def test_a_core_by_name_and_by_content_counts_once(raw: Path, lake: Path, said: int | None) -> None:
    """A log that says no core at all belongs to core 0, unless another log says that it does."""
    write_settings(raw, SETTINGS + NAMELESS)
    write_memcached(raw)
    ingest(lake, raw)
    (whole,) = runs(lake, "interrupts, rx_bytes, energy_j")
    shutil.rmtree(lake)
    unnamed = write_devicelog(raw, said)
    report = ingest(lake, raw)
    assert runs(lake, "interrupts, rx_bytes, energy_j") == [whole]
    named = f"linux.mcd.dmesg.0_{said}_50_0x1d00_135_200000"
    refused = unnamed if said is None else named
    assert problems(lake) == [(refused, None, "duplicate_source", "refused")]
    assert ingest(lake, raw).unchanged == report.added == 1


@pytest.mark.parametrize("core", ["", "Core=9999999999 itr_cnt=6\n"])
def test_a_log_of_an_unknown_core_never_displaces_one_that_says_it(
    raw: Path, lake: Path, core: str
) -> None:
    """Even if it has more bytes, of another core's numbers."""
    write_settings(raw, SETTINGS + NAMELESS)
    write_memcached(raw)
    lines = f"{core}{LOG.replace(' 300 ', ' 77777 ')}".splitlines()
    name = "mcd.devicelog.0_50_0x1d00_135_200000.a"
    (raw / name).write_text("".join(f"[ 12.500000] {line}\n" for line in lines))
    ingest(lake, raw)
    (kept,) = runs(lake, "rx_bytes")
    assert (name, None, "duplicate_source", "refused") in problems(lake)
    shutil.rmtree(lake)
    (raw / name).unlink()
    ingest(lake, raw)
    assert runs(lake, "rx_bytes") == [kept]


def test_logs_that_name_their_cores_themselves_are_all_read(raw: Path, lake: Path) -> None:
    write_settings(raw, SETTINGS + NAMELESS)
    write_memcached(raw, cores=())
    for core in (0, 1):
        write_devicelog(raw, core, "ab"[core])
    assert ingest(lake, raw).added == 1
    cores = tuples(lake, "SELECT core, rx_bytes FROM cores ORDER BY core")
    assert cores == [(0, 550), (1, 550)]
    assert problems(lake) == []
    assert ingest(lake, raw).unchanged == 1


@pytest.mark.thin(1)
@pytest.mark.parametrize("damaged", [1, 2])
@pytest.mark.parametrize("above", [0, 1, 3, 5])
def test_lines_from_the_far_future_cost_nothing_but_themselves(
    raw: Path, lake: Path, damaged: int, above: int
) -> None:
    write_netpipe(raw)
    lines = LOG.splitlines(keepends=True)
    far = "0 1 1 1 1 0 0 0 0 0 0 0 0 0 0 999999999999999\n"
    log = "".join([*lines[:above], *[far] * damaged, *lines[above:]])
    name = write_netpipe(raw, replicate=1, log=log).name
    ingest(lake, raw)
    whole, other = runs(lake, "energy_j, interrupts, rx_bytes, instructions")
    assert other == whole
    assert problems(lake) == [(name, above + 1, "time_leap", "refused")]


def test_what_lacks_or_differs_of_a_run_is_a_flag(raw: Path, lake: Path) -> None:
    """A log without its window, a window without a log, a core's log, another time said."""
    for replicate, cores in enumerate(((0, 1), (), (1,), (0, 1))):
        write_memcached(raw, replicate, cores)
    (raw / "linux.mcd.rdtsc.0_50_0x1d00_135_200000").unlink()
    rdtsc = raw / "linux.mcd.rdtsc.3_50_0x1d00_135_200000"
    rdtsc.write_text(RDTSC.replace("1002000000", "1003000000"))
    ingest(lake, raw)
    columns = "flags, duration_s, energy_j, instructions, latency_p99_us, source"
    found = [tuple(row.values()) for row in runs(lake, columns, "replicate")]
    assert [row[1:4] for row in found[1:3]] == [(0.002, None, None), (0.002, None, 4000)]
    assert found[0][0] == ["no_window"]
    assert found[0][2:5] == (None, None, 117.9)
    assert (found[1][0], found[1][5]) == (["no_log"], "mutilate")
    # The package of the missing core leaves the energy unknown.
    assert found[2][0] == ["missing_core"]
    assert found[3][:2] == (["duration_off"], 0.003)
    said = [kind for _, _, kind, severity in problems(lake) if severity == "doubted"]
    assert sorted(said) == ["duration_off", "missing_core", "no_log", "no_window"]


def test_a_wrapped_energy_counter_is_unwrapped_and_flagged(raw: Path, lake: Path) -> None:
    # 2**32 - 65536 up by 131072 steps of 2**-16 J wraps to 65536: still 2 J.
    wrapped = LOG.replace(" 65536 1000000000", " 4294901760 1000000000")
    wrapped = wrapped.replace(" 131072 10010", " 0 10010").replace(" 196608 10020", " 65536 10020")
    write_netpipe(raw, log=wrapped)
    ingest(lake, raw)
    (run,) = runs(lake)
    assert (run["energy_j"], run["flags"]) == (2.0, ["energy_counter_wrapped"])


def test_knobs_in_the_content_that_contradict_the_name_are_doubted(raw: Path, lake: Path) -> None:
    # rep msg iterations dvfs rapl itr ... tsc0 tsc1
    line = "0 64 5000 0x1600 135 6 3.7 4.7 2835.3 22.0 1000000000 1002000000\n"
    (raw / "ebbrt.np.out.0_64_5000_8_0x1600_135").write_text(line)
    ingest(lake, raw)
    assert ("ebbrt.np.out.0_64_5000_8_0x1600_135", None, "knob_mismatch", "doubted") in problems(
        lake
    )
    assert runs(lake)[0]["itr_us"] == 8.0


def test_library_os_logs_of_two_sleep_states_are_two_runs(raw: Path, lake: Path) -> None:
    for state in (0, 3):
        (raw / f"ebbrt_rdtsc.0_50_0X1D00_135_200000_{state}").write_text(RDTSC)
        for core in (0, 1):
            (raw / f"ebbrt_dmesg.0_{core}_50_0X1D00_135_200000_{state}.csv").write_text(LOG)
    assert add_status(lake, raw) == 0
    assert [row["dvfs_code"] for row in runs(lake)] == ["0x1d00", "0x1d00"]


def test_a_load_of_zero_in_a_name_is_no_load(raw: Path, lake: Path) -> None:
    (raw / "linux.mcd.out.0_50_0x1d00_135_0").write_text(MUTILATE)
    add_status(lake, raw)
    (run,) = runs(lake)
    assert (run["load_qps"], run["throughput_qps"]) == (None, 2e5)


@pytest.mark.parametrize("header", ["", "i rx_desc rx_bytes a b c d e f g h i j k l m n o\n"])
def test_a_log_of_eighteen_columns_is_refused(raw: Path, lake: Path, header: str) -> None:
    lines = "".join(f"{n} " + " ".join(["7"] * 17) + "\n" for n in range(50))
    (raw / "linux.np.log.0_1_64_5000_8_0x1900_135").write_text(header + lines)
    assert add_status(lake, raw) == 3
    assert [row[:3] for row in problems(lake)] == [
        ("linux.np.log.0_1_64_5000_8_0x1900_135", None, "unknown_content"),
    ]

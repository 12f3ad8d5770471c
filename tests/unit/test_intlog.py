"""Per-interrupt text logs: variants, headers, prefixes, cuts, and the published runs' numbers."""

import numpy as np
import pytest

from data.errors import FormatError
from ingest.formats import find_format, intlog
from ingest.formats.netpipe import read_library_os, read_server
from ingest.records import ReadContext, Window
from tests.fixtures.real import real_data
from tests.fixtures.whole_files import WholeLog, read_log

CONTEXT = ReadContext("linux.mcd.dmesg.0_3_10_0x1d00_135_200000", 2_899_999_000.0)

# i, rx 2 x 66 bytes, tx 3 x 70 bytes; the second line alone is sampled.
LINUX_16 = b"""\
0 2 132 3 210 0 0 0 0 0 0 0 0 0 0 1000
1 1 66 0 0 11 22 33 44 1 2 3 4 5 99 2000
2 0 0 1 70 0 0 0 0 0 0 0 0 0 0 2000
"""
LINUX_17 = b"0 1 66 0 0 11 22 33 44 7 1 2 3 4 5 99 1000\n1 1 66 0 0 0 0 0 0 0 0 0 0 0 0 0 2000\n"
LIBRARY_OS = b"""\
i rx_desc rx_bytes tx_desc tx_bytes instructions cycles ref_cycles llc_miss c3 c6 c7 joules \
timestamp
5 1 66 0 0 0 0 0 0 0 0 0 0 1000
6 0 0 1 70 11 22 33 44 6 0 2 99 2000
7 0 0 1 70 12 23 34 45 2 0 9 99 3000
"""
DMESG = b"""\
[ 2283.800342] Core=1 itr_cnt=3
[ 2283.800344] i rxdesc rxbytes txdesc txbytes ins cyc refcyc llcm C3 C6 C7 JOULE TSC
[ 2283.800345] 0 0 0 0 0 0 0 0 0 0 0 0 3384879461 1000
[ 2283.800347] 1 0 0 0 0 11 22 33 44 6 0 7 3387195015 2000
[ 2283.800348] 2 1 66 2 140 0 0 0 0 0 0 0 0 3000
"""


def _read(data: bytes, block: int = 1 << 20, name: str = CONTEXT.name) -> WholeLog:
    blocks = [data[at : at + block] for at in range(0, len(data), block)]
    return read_log(intlog.open_log, blocks, ReadContext(name, CONTEXT.tsc_hz))


def _lists(columns: dict[str, np.ndarray]) -> dict[str, list[int]]:
    return {name: values.tolist() for name, values in columns.items()}


@pytest.mark.parametrize("block", [1, 5, 64, 1 << 20])
def test_linux_log_parts_interrupts_from_samples(block: int) -> None:
    log = _read(LINUX_16, block)
    assert _lists(log.interrupts) == {
        "tsc": [1000, 2000, 2000],
        "rx_desc": [2, 1, 0],
        "rx_bytes": [132, 66, 0],
        "tx_desc": [3, 0, 1],
        "tx_bytes": [210, 0, 70],
    }
    assert _lists(log.samples) == {
        "tsc": [2000],
        **{"instructions": [11], "cycles": [22], "ref_cycles": [33], "llc_misses": [44]},
        **{"c1": [1], "c1e": [2], "c3": [3], "c6": [4], "c7": [5], "joules": [99]},
    }
    assert log.interrupts["tsc"].dtype == np.int64
    assert (log.facts.entries, log.facts.core, log.facts.problems) == (3, None, [])
    assert log.facts.sleep_states_cumulative


def test_seventeen_columns_have_c0_before_the_others() -> None:
    samples = _lists(_read(LINUX_17).samples)
    assert (samples["c1"], samples["c7"], samples["joules"]) == ([1], [5], [99])


@pytest.mark.parametrize("block", [1, 9, 1 << 20])
def test_header_is_no_entry_and_library_os_sleep_states_are_per_sample(block: int) -> None:
    """Falling c3 (6, then 2) shows that it is no running total, whatever the file is called."""
    log = _read(LIBRARY_OS, block, "a.csv")
    assert log.interrupts["tsc"].tolist() == [1000, 2000, 3000]
    assert log.samples["c3"].tolist() == [6, 2]
    assert "c1" not in log.samples
    assert not log.facts.sleep_states_cumulative
    assert log.facts.problems == []


def test_rising_sleep_states_of_14_columns_are_totals_unless_the_name_says_library_os() -> None:
    rising = LIBRARY_OS.replace(b"2 0 9 99", b"8 0 9 99")
    assert _read(rising, name="linux.np.log.0_1_64_5000_2_0x1900_135").facts.sleep_states_cumulative
    assert not _read(
        rising, name="ebbrt.dmesg.0_64_5000_2_0x1900_135"
    ).facts.sleep_states_cumulative


@pytest.mark.parametrize("block", [1, 30, 1 << 20])
def test_kernel_prefixes_core_line_and_a_first_line_of_energy_alone(block: int) -> None:
    log = _read(DMESG, block)
    assert log.facts.core == 1
    assert log.interrupts["tsc"].tolist() == [1000, 2000, 3000]
    assert log.samples["tsc"].tolist() == [2000], "counters of 0 are not sampled, energy or not"
    assert log.facts.sleep_states_cumulative
    assert (log.facts.entries, log.facts.problems) == (3, [])


def test_fewer_entries_than_announced_are_doubted() -> None:
    (problem,) = _read(DMESG.replace(b"itr_cnt=3", b"itr_cnt=900")).facts.problems
    assert (problem.kind, problem.severity) == ("short_log", "doubted")
    assert "3 entries" in problem.detail
    assert "900" in problem.detail


def test_crlf_blank_lines_and_a_missing_last_newline_are_harmless() -> None:
    odd = LINUX_16.replace(b"\n", b"\r\n\r\n").rstrip()
    log = _read(odd)
    assert log.interrupts["tsc"].tolist() == [1000, 2000, 2000]
    assert log.facts.problems == []


def test_each_kind_of_bad_line_is_named_once_and_costs_the_good_ones_nothing() -> None:
    zeros = b" 0 0 0 0 0 0 0 0 0 0 "
    bad = LINUX_16 + b"".join(
        [
            b"3 1 66 0" + zeros + b"2500\n",  # line 4: 15 fields
            b"4 1 sixty 0 0" + zeros + b"2600\n",  # line 5: text
            b"5 1 9223372036854775808 0 0" + zeros + b"2700\n",  # line 6: 2**63
            b"6 1 66 0 0" + zeros + b"1999\n",  # line 7: before 2000
            b"7 1 66 0" + zeros + b"2800\n",  # line 8: 15 fields again
            b"8 1 66 0 0" + zeros + b"3000\n",
        ]
    )
    log = _read(bad)
    assert log.interrupts["tsc"].tolist() == [1000, 2000, 2000, 3000]
    assert log.facts.entries == 9
    found = [(p.kind, p.line, p.count, p.severity) for p in log.facts.problems]
    assert found == [
        ("field_count", 4, 2, "refused"),
        ("not_digits", 5, 1, "refused"),
        ("number_range", 6, 1, "refused"),
        ("time_backwards", 7, 1, "refused"),
    ]
    details = " / ".join(p.detail for p in log.facts.problems)
    for value in ("15 fields, expected 16", "'sixty'", "'9223372036854775808'", "'1999'"):
        assert value in details


@pytest.mark.parametrize("cut", [b"3 1 66 0 0 0 0", b"3", b"3 1 66 0 0 0 0 0 0 0 0 0 0 0 0 20"])
def test_a_cut_last_line_is_dropped_and_called_so(cut: bytes) -> None:
    log = _read(LINUX_16 + cut)
    assert len(log.interrupts["tsc"]) == 3
    assert [(p.kind, p.line, p.severity) for p in log.facts.problems] == [
        ("cut_last_line", 4, "refused")
    ]


def test_one_odd_first_line_does_not_decide_the_variant() -> None:
    odd = b"9 9 9 9 9 9 9 9 9 9 9 9 9 9\n" + LINUX_16
    log = _read(odd)
    assert log.interrupts["tsc"].tolist() == [1000, 2000, 2000]
    assert [(p.kind, p.line) for p in log.facts.problems] == [("field_count", 1)]


def test_a_log_that_fills_the_drivers_buffer_is_flagged() -> None:
    """The last index decides too: a cleaned log may have lost its first lines."""
    last = LINUX_16 + b"999999 1 66 0 0 0 0 0 0 0 0 0 0 0 0 3000\n"
    assert _read(LINUX_16).facts.flags == []
    log = _read(last)
    assert log.facts.flags == ["log_full"]
    assert [p.kind for p in log.facts.problems] == ["log_full"]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "0 fields first"),
        (b"1 2 3\n4 5 6\n", "3 fields first, expected 14, 16 or 17"),
        (b"i a b c\n1 2 3 4\n", "unknown header: i a b c"),
        (LIBRARY_OS.split(b"\n")[0] + b"\n", "no good line among 0"),
        (LINUX_16.replace(b" 132", b" x").splitlines()[0] + b"\n", "'x' is not a whole number"),
    ],
)
def test_nothing_usable_is_an_error_that_names_the_file(data: bytes, says: str) -> None:
    with pytest.raises(FormatError) as caught:
        _read(data)
    assert says in str(caught.value)
    assert CONTEXT.name in str(caught.value)


@pytest.mark.parametrize("data", [LINUX_16, LINUX_17, LIBRARY_OS, DMESG, b"junk\n" + LINUX_16])
def test_content_tells_a_log_whatever_its_name(data: bytes) -> None:
    found = find_format("some.txt", data)
    assert found is not None
    assert (found.name, found.role) == ("intlog", "log")


@pytest.mark.parametrize(
    ("data", "is_known_as"),
    [
        (b"", None),
        (b"# notes\n", None),
        (b"\x00" * 200, None),
        (b"0 1367 5085767449854 5143772016725\n", "rdtsc"),
    ],
)
def test_other_content_is_no_log(data: bytes, is_known_as: str | None) -> None:
    found = find_format("linux.mcd.dmesg.0_3_10_0x1d00_135_200000", data)
    assert (found and found.name) == is_known_as


def _in_window(columns: dict[str, np.ndarray], window: Window) -> dict[str, np.ndarray]:
    keep = (columns["tsc"] >= window.start_tsc) & (columns["tsc"] <= window.end_tsc)
    return {name: values[keep] for name, values in columns.items()}


_REAL_RUNS = {
    "library OS": (
        "ebbrt.dmesg.0_8192_5000_6_0x1600_135.csv",
        "ebbrt.np.out.0_8192_5000_6_0x1600_135",
        (25739, 217, 42112760, 41507900, 54447651, 138023066, 262642705, 106143),
        ("0.218201", "4.7220"),
    ),
    "Linux": (
        "dmesg_devicelog.0_8192_5000_8_0x1900_135",
        "np.server.0_8192_5000_8_0x1900_135",
        (25365, 280, 43250210, 43278116, 220811781, 391752880, 454530572, 815726),
        ("0.281869", "7.5151"),
    ),
}


@pytest.mark.real
@pytest.mark.parametrize("run", _REAL_RUNS)
def test_published_netpipe_runs_come_out_to_the_digit(run: str) -> None:
    """The first rows of shared/data/README.md: sums over the window, counters last minus first."""
    log_name, window_name, counts, (seconds, joules) = _REAL_RUNS[run]
    folder = real_data() / "netpipe"
    log = _read((folder / log_name).read_bytes(), 1 << 16, log_name)
    read_window = read_server if run == "Linux" else read_library_os
    window = read_window([(folder / window_name).read_bytes()], CONTEXT).window
    assert window is not None
    interrupts = _in_window(log.interrupts, window)
    samples = _in_window(log.samples, window)
    rises = [
        int(samples[name][-1] - samples[name][0])
        for name in ("instructions", "cycles", "ref_cycles", "llc_misses")
    ]
    assert (
        len(interrupts["tsc"]),
        len(samples["tsc"]),
        int(interrupts["rx_bytes"].sum()),
        int(interrupts["tx_bytes"].sum()),
        *rises,
    ) == counts
    energy_j = int((np.diff(samples["joules"]) % 2**32).sum()) * 2**-16
    assert f"{energy_j:.4f}" == joules
    assert f"{(window.end_tsc - window.start_tsc) / CONTEXT.tsc_hz:.6f}" == seconds
    assert log.facts.problems == []
    assert log.facts.core == (1 if run == "Linux" else None)
    assert log.facts.sleep_states_cumulative == (run == "Linux")


@pytest.mark.parametrize("core", [b"9999999999", b"9" * 5000])
def test_a_core_that_no_column_can_hold_is_not_used(core: bytes) -> None:
    log = _read(DMESG.replace(b"Core=1", b"Core=" + core))
    assert log.facts.core is None
    assert [(p.kind, p.severity) for p in log.facts.problems] == [("bad_core", "doubted")]
    assert len(log.interrupts["tsc"]) == 3

"""Per-interrupt text logs: the published runs' numbers; variants are in `fixtures/formats/`."""

import numpy as np
import pytest

from ingest.formats import find_format, intlog
from ingest.formats.netpipe import read_library_os, read_server
from ingest.records import ReadContext, Window
from tests.fixtures.real import real_data
from tests.fixtures.whole_files import WholeLog, read_log

CONTEXT = ReadContext("linux.mcd.dmesg.0_3_10_0x1d00_135_200000", 2_899_999_000.0)


def _read(data: bytes, block: int = 1 << 20, name: str = CONTEXT.name) -> WholeLog:
    blocks = [data[at : at + block] for at in range(0, len(data), block)]
    return read_log(intlog.open_log, blocks, ReadContext(name, CONTEXT.tsc_hz))


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


def test_numbers_of_thousands_of_digits_are_not_used() -> None:
    many, rest = b"9" * 5000, b" 1 66 2 140 0 0 0 0 0 0 0 0 "
    log = _read(b"Core=%b itr_cnt=2\n1%b3000\n%b%b4000\n" % (many, rest, many, rest))
    assert log.facts.core is None
    assert log.interrupts["tsc"].tolist() == [3000]
    found = {(each.kind, each.severity, each.line) for each in log.facts.problems}
    assert found == {("bad_core", "doubted", None), ("number_range", "refused", 3)}

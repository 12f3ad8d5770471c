"""NetPIPE: the client's rate, the server's window, the library OS's one line."""

import numpy as np
import pytest

from ingest.formats import find_format, intlog
from ingest.formats.netpipe import read_library_os, read_output, read_server
from ingest.records import ReadContext, Window
from tests.fixtures.real import real_data
from tests.fixtures.whole_files import read_log

CONTEXT = ReadContext("np.out.0_8192_5000_8_0x1900_135", 2_899_999_000.0)
# 1,048,576 bytes one way in 0.5 s: 8 Mbit of 1024 * 1024 in half a second, 16 Mbps.
OUTPUT = "  1048576 16.000000 0.50000000 5.250000\n"
SERVER = """\
Send and receive buffers are 16384 and 131072 bytes
(A bug in Linux doubles the requested buffer sizes)

SERVER_WORKLOAD_PERIOD: 7175532223374 7176349642983 4.868622 7.543121
"""
# 8 Mbit in 500,000 us are 16 Mbps.
LIBRARY_OS = "0 1048576 5000 0X1600 135 6 3.7644 4.7438 16.0 500000.0 1081548102639 1082180885966\n"


@pytest.mark.parametrize(
    ("text", "name", "role"),
    [
        (OUTPUT, "netpipe_out", "output"),
        (SERVER, "netpipe_server", "window"),
        (SERVER[:60], "netpipe_server", "window"),
        (LIBRARY_OS, "netpipe_ebbrt", "window"),
    ],
)
def test_content_tells_which_file_it_is(text: str, name: str, role: str) -> None:
    found = find_format("x", text.encode())
    assert found is not None
    assert (found.name, found.role) == (name, role)


def test_three_numbers_that_are_no_rate_are_no_output() -> None:
    assert find_format("x", b"1.0 2.0 3.0\n") is None


def _log_energy_j(name: str, window: Window) -> tuple[float, float]:
    """Joules over the window as the log's core counted, and a bound: twice its mean step."""
    log = read_log(intlog.open_log, [(real_data() / "netpipe" / name).read_bytes()], CONTEXT)
    tsc = log.samples["tsc"]
    joules = log.samples["joules"][(tsc >= window.start_tsc) & (tsc <= window.end_tsc)]
    energy_j = int((np.diff(joules) % 2**32).sum()) * 2**-16
    return energy_j, 2 * energy_j / len(joules)


@pytest.mark.real
def test_published_runs_and_what_their_energies_are() -> None:
    """J1, and the library OS's field 7, are the energy of the package that the log's core is in.

    J1 is 7.543121 J and the log counts 7.5151 J between its first and last sample in the window,
    a sample less than the window; J1 - J0 would be 2.6745 J.
    """
    folder = real_data() / "netpipe"
    server = (folder / "np.server.0_8192_5000_8_0x1900_135").read_bytes()
    window = read_server([server], CONTEXT).window
    assert window == Window(7175532223374, 7176349642983)
    energy_j, step_j = _log_energy_j("dmesg_devicelog.0_8192_5000_8_0x1900_135", window)
    assert abs(float(server.split()[-1]) - energy_j) < step_j
    assert float(server.split()[-1]) - float(server.split()[-2]) < energy_j / 2

    library_os = (folder / "ebbrt.np.out.0_8192_5000_6_0x1600_135").read_bytes()
    reading = read_library_os([library_os], CONTEXT)
    assert reading.window == Window(1081548102639, 1082180885966)
    assert reading.measurements["latency_mean_us"] == 22.0429
    assert reading.measurements["bandwidth_bytes_s"] == pytest.approx(8192 / 22.0429e-6, rel=1e-5)
    name = "ebbrt.dmesg.0_8192_5000_6_0x1600_135.csv"
    energy_j, step_j = _log_energy_j(name, reading.window)
    assert abs(float(library_os.split()[7]) - energy_j) < step_j

    output = read_output([(folder / "np.out.0_8192_5000_8_0x1900_135").read_bytes()], CONTEXT)
    assert output.knobs == {"message_bytes": 8192}
    assert output.measurements["bandwidth_bytes_s"] == 2216.084841 * 131072
    assert output.measurements["duration_s"] == 0.298963

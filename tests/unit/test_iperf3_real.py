"""iperf3 itself, for half a second on the loopback interface, read into a lake."""

import json
import socket
import subprocess
import time
from pathlib import Path

import pytest

from data.connection import open_lake
from ingest.pipeline import AddOptions, add
from tests.fixtures.real_fio import find_program

pytestmark = pytest.mark.iperf3
# iperf3 takes whole seconds; bytes end a test too.
SENT = 4 << 20


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def test_a_run_of_iperf3_is_read_to_its_digits(tmp_path: Path) -> None:
    program, port = find_program("iperf3"), str(free_port())
    raw = tmp_path / "raw"
    raw.mkdir()
    before_s = int(time.time())
    server = subprocess.Popen(
        [program, "-s", "-1", "-B", "127.0.0.1", "-p", port, "--forceflush"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        while "listening" not in server.stdout.readline():
            assert server.poll() is None
        ask = [program, "-c", "127.0.0.1", "-p", port, "-J", "-n", str(SENT), "-l", "65536"]
        done = subprocess.run(ask, capture_output=True, text=True, timeout=30, check=True)
    finally:
        server.kill()
        server.communicate()
    (raw / "iperf3.json").write_text(done.stdout)
    report = add(AddOptions(tmp_path / "lake", [raw]))
    assert [p.problem.kind for p in report.problems] == ["unknown_workload"]
    with open_lake(tmp_path / "lake") as lake:
        (row,) = lake.arrow("SELECT * FROM runs", []).to_pylist()
    end = json.loads(done.stdout)["end"]
    received = end["sum_received"]
    assert row["bandwidth_bytes_s"] == received["bits_per_second"] / 8
    # What is still under way when the client ends is sent, but not yet received.
    assert end["sum_sent"]["bytes"] >= SENT
    assert (row["message_bytes"], row["streams"], row["protocol"]) == (65536, 1, "TCP")
    assert before_s <= row["start_unix_s"] <= time.time()
    assert row["retransmits"] >= 0
    assert row["rtt_mean_us"] > 0

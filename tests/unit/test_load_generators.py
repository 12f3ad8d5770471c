"""iperf3, sockperf, memtier_benchmark, wrk2, HdrHistogram and wult: what each says of a run."""

import json
from pathlib import Path
from typing import Any

import pytest

from data.connection import open_lake
from data.errors import FormatError
from ingest.formats import (
    FORMATS,
    find_format,
    iperf3,
    memtier,
    sockperf,
    wrk,
    wult,
)
from ingest.propose import propose_for
from ingest.records import ReadContext, Reading
from tests.fixtures.ingest import ingest, put, runs
from tests.fixtures.tool_outputs import MEMTIER, WRK2, WULT, captured

HERE = ReadContext("x", 0.0)


def read(text: str | bytes, part: str | None = None, hdr_unit: str | None = None) -> Reading:
    data = text.encode() if isinstance(text, str) else text
    found = find_format("x", data[: 1 << 16])
    assert found is not None
    content = found.read([data], ReadContext("x", 0.0, part=part, hdr_unit=hdr_unit))
    assert isinstance(content, Reading)
    return content


def test_several_runs_of_memtier_are_several() -> None:
    document = json.loads(MEMTIER)
    one = document.pop("ALL STATS")
    two = json.loads(json.dumps(one))
    two["Totals"]["Count"] = 7
    document |= {"RUN #1 RESULTS": one, "RUN #2 RESULTS": two, "BEST RUN RESULTS": one}
    text = json.dumps(document)
    assert memtier.list_parts([text.encode()], HERE) == ["1", "2"]
    assert read(text, part="2").measurements["requests"] == 7
    del document["RUN #1 RESULTS"], document["RUN #2 RESULTS"]
    with pytest.raises(FormatError, match="print-all-runs"):
        memtier.read([json.dumps(document).encode()], HERE)
    assert read(MEMTIER.replace("1.9984", "-nan")).measurements["latency_mean_us"] == 1998


def test_wrk2_percentiles_to_the_digit() -> None:
    """p50 and p90 have rows of their own in the list; p99 and p99.9 only their printed value."""
    measured = read(WRK2).measurements
    assert {name: measured[name] for name in sorted(measured) if name.startswith("latency")} == {
        "latency_max_us": 12496.0,
        "latency_mean_us": 6602.0,
        "latency_p50_us": 6671.0,
        "latency_p75_us": 7783.0,
        "latency_p90_us": 9143.0,
        "latency_p95_us": 10015.0,
        "latency_p99_us": 11180.0,
        "latency_p999_us": 12300.0,
    }
    assert (measured["requests"], measured["throughput_qps"]) == (60018, 2000.28)
    assert wrk.sniff("x", WRK2.encode())


@pytest.mark.parametrize("command", ["wrk -t2 -R2000 http://x", "-c64 --rate 2k --latency"])
def test_the_rate_that_a_command_asks_of_wrk2_is_the_load(command: str) -> None:
    assert read(f"{command}\n\n{WRK2}").knobs == {"load_qps": 2000.0}
    assert read(WRK2).knobs == {}


def test_the_rates_of_several_outputs_of_wrk2_are_one_setting() -> None:
    other = WRK2.replace("60018", "60019")
    text = f"$ wrk2 --rate 1000 http://x\n{WRK2}\n$ wrk2 --rate 2000 http://x\n{other}\n"
    readings = [read(text, part) for part in ("1", "2")]
    assert [each.knobs for each in readings] == [{"load_qps": 1000.0}, {"load_qps": 2000.0}]
    assert [each.columns for each in readings] == [(), ()]


@pytest.mark.parametrize(
    ("name", "command", "loop"),
    [
        ("{server}_R{rate}.txt", "$ wrk2 -t2 -c100 -R{rate} http://x\n", "open"),
        ("{server}_{rate}rps.txt", "", "open"),
        # Nobody asked for a rate: the next request waits for the last.
        ("{server}_c{rate}.txt", "$ wrk -t2 -c{rate} http://x\n", "closed"),
    ],
)
def test_the_loop_of_requests_is_open_where_a_rate_was_asked_for(
    name: str, command: str, loop: str, tmp_path: Path
) -> None:
    for server in ("nginx", "caddy"):
        for rate in (100, 200, 400):
            text = command.format(rate=rate) + WRK2.replace("60018", f"{60 * rate}")
            put(tmp_path / "raw" / name.format(server=server, rate=rate), text)
    assert f'loop = "{loop}"' in propose_for(tmp_path / "raw").text


def test_wult_gives_a_run_for_each_c_state() -> None:
    """C6: latencies 4, 3, 5 us; C1E: 2 and 1. Percentiles interpolate: p75 of 3, 4, 5 is 4.5."""
    assert wult.list_parts([WULT.encode()], HERE) == ["C1E", "C6"]
    deep, shallow = read(WULT, part="C6"), read(WULT, part="C1E")
    assert (deep.knobs, shallow.knobs) == ({"c_state": "C6"}, {"c_state": "C1E"})
    measured = deep.measurements
    assert (measured["requests"], measured["latency_mean_us"]) == (3, 4.0)
    assert (measured["latency_p50_us"], measured["latency_p75_us"]) == (4.0, 4.5)
    assert measured["interrupt_mean_us"] == pytest.approx((8 + 7 + 9) / 3)
    assert measured["cc6_residency_pct"] == pytest.approx((92.5 + 48.5 + 96) / 3)
    assert shallow.measurements["cc1_derived_residency_pct"] == pytest.approx((98.5 + 96.5) / 2)
    assert [p.line for p in deep.problems] == [7]
    with pytest.raises(FormatError, match="no datapoint of C8"):
        read(WULT, part="C8")


def test_a_folder_of_outputs_becomes_runs_with_all_that_the_tools_say(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    files = {
        "net/tcp.json": captured("iperf3_tcp.json"),
        "net/udp.json": captured("iperf3_udp.json"),
        "ping/sockperf.txt": captured("sockperf_ping_pong.txt"),
        "cache/memtier.json": MEMTIER.encode(),
        "idle/datapoints.csv": WULT.encode(),
        "http/wrk2.out": WRK2.encode(),
    }
    for name, content in files.items():
        (raw / name).parent.mkdir(parents=True, exist_ok=True)
        (raw / name).write_bytes(content)
    report = ingest(tmp_path / "lake", raw)
    assert report.added == 7
    assert {p.problem.kind for p in report.problems} == {"field_count", "unknown_workload"}
    rows = runs(
        tmp_path / "lake",
        "source, workload, protocol, streams, retransmits, c_state, set_get_ratio, latency_kind",
    )
    found = {(row["source"], row["protocol"], row["c_state"]) for row in rows}
    assert ("iperf3", "UDP", None) in found
    assert {("wult", None, "C6"), ("wult", None, "C1E")} <= found
    assert {row["workload"] for row in rows} == {"unknown"}
    assert [row["retransmits"] for row in rows if row["protocol"] == "TCP"] == [18]
    with open_lake(tmp_path / "lake") as lake:
        known = {column.name: column for column in lake.columns}
    assert known["rtt_mean_us"].unit == "us"
    assert known["c_state"].role == "knob"
    assert report.unchanged == 0
    assert ingest(tmp_path / "lake", raw).unchanged == 7


def test_columns_of_tools_can_be_columns() -> None:
    """Two tools that bring one name mean one thing by it."""
    known: dict[str, Any] = {}
    for module in (iperf3, memtier, sockperf, wult):
        for column in module.COLUMNS:
            assert known.setdefault(column.name, column) == column
    assert {"protocol", "streams", "c_state"} <= known.keys()
    assert {"iperf3", "memtier", "sockperf", "wult"} <= {known.name for known in FORMATS}

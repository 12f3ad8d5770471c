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
    hdr_percentiles,
    iperf3,
    memtier,
    sockperf,
    wrk,
    wult,
)
from ingest.pipeline import AddOptions, add
from ingest.records import ReadContext, Reading, RefusedError
from tests.fixtures.tool_outputs import MEMTIER, WRK2, WULT, captured

HERE = ReadContext("x", 0.0)


def read(text: str | bytes, part: str | None = None, hdr_unit: str | None = None) -> Reading:
    data = text.encode() if isinstance(text, str) else text
    found = find_format("x", data[: 1 << 16])
    assert found is not None
    content = found.read([data], ReadContext("x", 0.0, part=part, hdr_unit=hdr_unit))
    assert isinstance(content, Reading)
    return content


def kinds(reading: Reading) -> list[str]:
    return [problem.kind for problem in reading.problems]


def test_iperf3_over_tcp() -> None:
    """2,569,011,200 bytes arrived in 2.027265 s; the sender's 2.004937 s are the test's length."""
    reading = read(captured("iperf3_tcp.json"))
    measured = reading.measurements
    assert measured["bandwidth_bytes_s"] == pytest.approx(2569011200 / 2.027265, rel=1e-9)
    assert measured["duration_s"] == 2.004937
    assert (measured["retransmits"], measured["rtt_mean_us"]) == (18, 319)
    assert measured["cpu_sys_pct"] == 8.6817222475630142
    assert reading.knobs == {"message_bytes": 131072, "streams": 1, "protocol": "TCP"}
    assert reading.utc_window is not None
    assert reading.utc_window.start_s == 1795337820
    assert reading.problems == []


def test_iperf3_over_udp_counts_what_arrived() -> None:
    """8,814,400 of 12,495,000 bytes arrived: 29.46 % of the datagrams were lost."""
    reading = read(captured("iperf3_udp.json"))
    measured = reading.measurements
    assert measured["bandwidth_bytes_s"] == pytest.approx(8814400 / 2.000142, rel=1e-9)
    assert measured["lost_pct"] == pytest.approx(100 * 2629 / 8925)
    assert measured["jitter_us"] == pytest.approx(6.5276889)
    assert reading.knobs["target_bits_s"] == 50e6
    old = json.loads(captured("iperf3_udp.json"))
    del old["end"]["sum_received"], old["end"]["sum_sent"]
    lost = read(json.dumps(old)).measurements
    assert lost["bandwidth_bytes_s"] == pytest.approx(49978250.761223353 / 8 * (1 - 2629 / 8925))


def test_iperf3_in_both_directions_adds_them() -> None:
    measured = read(captured("iperf3_bidir.json")).measurements
    assert measured["bandwidth_bytes_s"] == pytest.approx((892131543.13 + 7728919550.02) / 8)
    assert measured["retransmits"] == 5 + 4
    assert measured["rtt_mean_us"] == (1687 + 3) / 2


def test_iperf3_that_failed_is_refused_in_its_words() -> None:
    failed = '{"start": {"version": "iperf 3.12"}, "end": {}, "error": "unable to connect"}'
    with pytest.raises(RefusedError, match="iperf3 says: unable to connect"):
        read(failed)
    with pytest.raises(FormatError, match="no JSON document"):
        iperf3.read([captured("iperf3_tcp.json")[:2000]], HERE)
    with pytest.raises(FormatError, match="no sum of what was sent"):
        iperf3.read([b'{"end": {}}'], HERE)


def test_sockperf_latencies() -> None:
    reading = read(captured("sockperf_ping_pong.txt"))
    assert reading.knobs == {"latency_kind": "half round trip"}
    assert reading.measurements == {
        "duration_s": 1.49,
        "requests": 29433,
        "throughput_qps": 29433 / 1.49,
        "latency_mean_us": 25.228,
        "latency_sd_us": 486.509,
        "latency_min_us": 3.538,
        "latency_p50_us": 5.520,
        "latency_p75_us": 6.412,
        "latency_p90_us": 7.202,
        "latency_p99_us": 99.217,
        "latency_p999_us": 3472.983,
        "latency_max_us": 39120.075,
        "observations": 29433,
        "dropped_messages": 0,
        "duplicated_messages": 0,
        "reordered_messages": 0,
    }
    assert read(captured("sockperf_full_rtt.txt")).knobs["latency_kind"] == "round trip"


def test_sockperf_with_few_observations_and_several_servers() -> None:
    reading = read(captured("sockperf_under_load.txt"))
    assert kinds(reading) == ["few_observations"]
    assert "73 observations do not determine p99, p99.9" in reading.problems[0].detail
    text = captured("sockperf_ping_pong.txt").decode()
    block = text[text.index("sockperf: ========= Printing") :]
    two = read(text + block.replace("Server No: 0", "Server No: 1").replace("25.228", "99.9"))
    assert kinds(two) == ["several_servers"]
    assert two.measurements["latency_mean_us"] == 25.228


def test_sockperf_rate_and_packets() -> None:
    """A MBps of sockperf is 1024 * 1024 bytes a second: 127,712 messages of 14 bytes are 1.705."""
    measured = read(captured("sockperf_throughput.txt")).measurements
    assert measured["throughput_qps"] == 127712
    assert measured["bandwidth_bytes_s"] == pytest.approx(127712 * 14, rel=1e-3)
    log = captured("sockperf_ping_pong.txt") + b"packet, txTime(sec)\nsockperf: Summary\n" * 3
    assert read(log).measurements["latency_p50_us"] == 5.52
    with pytest.raises(FormatError, match="no latency and no message rate"):
        sockperf.read([b"sockperf: Summary: nothing\n"], HERE)


def test_memtier_totals() -> None:
    reading = read(MEMTIER)
    assert reading.measurements == {
        "duration_s": 30.0,
        "requests": 3_000_000,
        "throughput_qps": 100_000.5,
        "latency_mean_us": 1998.4,
        "latency_min_us": 96.0,
        "latency_max_us": 13375.0,
        "latency_p50_us": 1407.0,
        "latency_p99_us": 2911.0,
        "latency_p999_us": 4351.0,
        "bandwidth_bytes_s": 512 * 1024.0,
        "hits_per_s": 9.5,
        "misses_per_s": 90900.5,
        "connection_errors": 0,
    }
    assert reading.knobs == {
        "threads": 4,
        "connections": 200,
        "pipeline_depth": 1,
        "request_bytes": 32,
        "load_qps": 200 * 500,
        "protocol": "memcache_text",
        "set_get_ratio": "1:10",
    }
    assert reading.utc_window is not None
    assert (reading.utc_window.start_s, reading.utc_window.length_s) == (1758715990.644, 30.0)


def test_memtier_that_was_stopped_does_not_know_its_end() -> None:
    """Its end is before its start then; the rate is what it counted over the true time."""
    document = json.loads(MEMTIER)
    stats = document["ALL STATS"]
    stats["Runtime"]["Total duration"] = -1723541682634
    stats["Totals"] |= {"Ops/sec": 0.0, "Count": 310069}
    document["benchmark_completion"] = {"full_run": False, "actual_duration_ms": 2915}
    reading = read(json.dumps(document))
    assert reading.flags == ["interrupted"]
    assert reading.measurements["duration_s"] == 2.915
    assert reading.measurements["throughput_qps"] == pytest.approx(310069 / 2.915)
    del document["benchmark_completion"]
    assert kinds(read(json.dumps(document))) == ["no_duration"]
    stats["Totals"] = {"Count": 0, "Ops/sec": 0.0, "Latency": 0.0}
    assert read(json.dumps(document)).flags == ["no_load"]


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


def test_a_list_of_percentiles_in_its_unit() -> None:
    """The values were counted: 402, 872, 1613 and 2551 us are the true percentiles."""
    reading = read(captured("hdr_python.hgrm"), hdr_unit="us")
    measured = reading.measurements
    assert (measured["latency_mean_us"], measured["latency_max_us"]) == (481.152, 4731.0)
    assert measured["latency_p10_us"] == 185.0
    for name, true_us in (("p50", 402), ("p90", 872), ("p99", 1613), ("p999", 2551)):
        assert measured[f"latency_{name}_us"] == pytest.approx(true_us, rel=3e-3)
    assert "latency_p5_us" not in measured
    assert kinds(reading) == ["percentile_between_rows"]
    milliseconds = read(captured("hdr_python.hgrm"))
    assert milliseconds.measurements["latency_max_us"] == 4731e3
    assert kinds(milliseconds) == ["assumed_unit", "percentile_between_rows"]


def test_a_list_of_percentiles_with_commas_and_none() -> None:
    text = (
        '"Value","Percentile","TotalCount","1/(1-Percentile)"\n7.5,0.5,10,2.0\n9,1.0,20,Infinity\n'
    )
    assert read(text, hdr_unit="ms").measurements["latency_p50_us"] == 7500
    heading = text.split("\n", 1)[0]
    with pytest.raises(FormatError, match="no list of percentiles"):
        hdr_percentiles.read([heading.encode()], HERE)


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


@pytest.mark.parametrize("block", [1, 7, 64])
def test_blocks_may_be_cut_anywhere(block: int) -> None:
    for text in (MEMTIER, WRK2, captured("iperf3_udp.json"), captured("sockperf_full_rtt.txt")):
        data = text.encode() if isinstance(text, str) else text
        known = find_format("x", data)
        assert known is not None
        blocks = [data[at : at + block] for at in range(0, len(data), block)]
        assert known.read(blocks, HERE) == known.read([data], HERE)


def _runs(lake: Path, columns: str) -> list[dict[str, Any]]:
    with open_lake(lake) as opened:
        rows: list[dict[str, Any]] = opened.arrow(
            f"SELECT {columns} FROM runs ORDER BY run_id", []
        ).to_pylist()
        return rows


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
    report = add(AddOptions(tmp_path / "lake", [raw]))
    assert report.added == 7
    assert {p.problem.kind for p in report.problems} == {"field_count", "unknown_workload"}
    rows = _runs(
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
    assert add(AddOptions(tmp_path / "lake", [raw])).unchanged == 7


def test_columns_of_tools_can_be_columns() -> None:
    """Two tools that bring one name mean one thing by it."""
    known: dict[str, Any] = {}
    for module in (iperf3, memtier, sockperf, wult):
        for column in module.COLUMNS:
            assert known.setdefault(column.name, column) == column
    assert {"protocol", "streams", "c_state"} <= known.keys()
    assert {"iperf3", "memtier", "sockperf", "wult"} <= {known.name for known in FORMATS}

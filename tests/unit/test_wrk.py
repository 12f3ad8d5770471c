"""wrk outputs: units, byte literals, errors that it reports, cut ones."""

import pytest

from ingest.formats import wrk
from ingest.records import ReadContext
from tests.fixtures.real import real_data

CONTEXT = ReadContext("node_out.0_1_4_0x1d00_135", 2_899_999_000.0)
# 0.86 ms = 860 us; 1.2 s = 1,200,000 us; 1.5 m = 90 s = 90,000,000 us.


@pytest.mark.real
def test_published_outputs_all_read() -> None:
    folder = real_data() / "node"
    linux = wrk.read([(folder / "node_out.0_1_4_0x1d00_135").read_bytes()], CONTEXT)
    assert linux.measurements == {
        "latency_mean_us": 76.11,
        "latency_p50_us": 74.0,
        "latency_p75_us": 76.0,
        "latency_p90_us": 79.0,
        "latency_p99_us": 86.0,
        "requests": 392161,
        "duration_s": 30.1,
        "throughput_qps": 13028.98,
    }
    library_os = wrk.read([(folder / "ebbrt_out.0_1_4_0x1900_55").read_bytes()], CONTEXT)
    assert library_os.measurements["latency_p99_us"] == 71.0
    assert library_os.measurements["requests"] == 497541
    assert linux.problems == library_os.problems == []

"""mutilate outputs: forks with other columns, byte literals, cut and absurd ones."""

import pytest

from ingest.formats import mutilate
from ingest.records import ReadContext
from tests.fixtures.real import real_data

CONTEXT = ReadContext("linux.mcd.out.0_10_0x1d00_135_200000", 2_899_999_000.0)
EXPECTED = {
    "latency_mean_us": 100.3,
    "latency_min_us": 37.4,
    "latency_p5_us": 51.3,
    "latency_p10_us": 57.3,
    "latency_p50_us": 100.6,
    "latency_p90_us": 141.1,
    "latency_p95_us": 151.5,
    "latency_p99_us": 171.5,
    "throughput_qps": 199986.2,
    "requests": 3999725,
    "duration_s": 20.0,
}


@pytest.mark.real
def test_published_outputs_all_read() -> None:
    paths = sorted([*real_data().glob("mcd/*.out.*"), *real_data().glob("perfstat/*.out")])
    assert len(paths) == 27
    readings = {path.name: mutilate.read([path.read_bytes()], CONTEXT) for path in paths}
    assert all(set(r.measurements) == set(EXPECTED) for r in readings.values())
    assert not [r for r in readings.values() if r.problems or r.flags]
    assert readings["linux.mcd.out.0_100_0x1d00_135_200000"].measurements == EXPECTED
    assert readings["linux_mcd_qps800000_iter0.out"].measurements["latency_p99_us"] == 221.4

"""The benchmark of object stores runs on a small lake, and counts what it asks for."""

import pytest

from bench.store import BYTES_LIMIT_MB, REQUESTS_LIMIT, measure

pytestmark = pytest.mark.slow


def test_both_lakes_are_measured_and_requests_are_counted() -> None:
    found = {one.name: one for one in measure("moto", zooms=1, changes=0, runs=0, seconds=0.3)}
    ratio = found["window_p95_store_by_folder"]
    assert ratio.value > 0
    assert ratio.limit == 3
    assert found["window_5%_p95"].n == found["store_window_5%_p95"].n == 1
    requests = found["requests_a_window_max"]
    assert 1 <= requests.value <= REQUESTS_LIMIT == requests.limit
    assert 0 < found["bytes_a_window_max"].value < BYTES_LIMIT_MB

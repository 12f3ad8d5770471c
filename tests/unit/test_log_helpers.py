"""How many logs are merged at once, whatever the runs."""

import threading
import time

from ingest.logs.threads import LogHelpers


def _most_at_once(sizes: list[int], workers: int) -> int:
    """Merge runs of so many logs in threads of their own; the most logs at one moment."""
    now, most, guard = 0, 0, threading.Lock()

    def merge(helpers: LogHelpers, logs: int) -> None:
        nonlocal now, most
        with helpers.merging(logs):
            with guard:
                now += logs
                most = max(most, now)
            time.sleep(0.01)
            with guard:
                now -= logs

    with LogHelpers(workers) as helpers:
        threads = [threading.Thread(target=merge, args=(helpers, size)) for size in sizes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
            assert not thread.is_alive()
    return most


def test_runs_of_many_logs_are_merged_one_after_the_other() -> None:
    assert _most_at_once([16] * 6, workers=2) == 16


def test_runs_of_few_logs_are_merged_side_by_side() -> None:
    assert 2 <= _most_at_once([1] * 30, workers=2) <= 16


def test_a_run_of_more_logs_than_may_be_is_merged_alone() -> None:
    assert _most_at_once([40, 1, 40, 1], workers=2) == 40

"""The simulated cluster against cases whose answers are known."""

import pytest

from bench.cluster_model import Costs, Outcome, simulate

_FREE = Costs(1.0, 2e8, 1.0, scheduler_s=0.0, row_s=0.0, commit_s=0.0)


def outcome(workers: int, tasks: int, batch_rows: float = 500.0, **costs: float) -> Outcome:
    given = {name: getattr(_FREE, name) for name in Costs.__slots__}
    return simulate(Costs(**{**given, **costs}), workers, tasks, batch_rows)


@pytest.mark.parametrize("workers", [1, 7, 100])
def test_without_costs_workers_never_wait(workers: int) -> None:
    found = outcome(workers, 20 * workers)
    assert found.tasks_per_s == pytest.approx(workers)
    assert found.efficiency == pytest.approx(1.0)
    assert found.bottleneck == "workers"


def test_a_task_that_waits_hides_the_scheduler_and_the_committer() -> None:
    """100 tasks a second: 20 % of a scheduler of 2 ms, 10 % of a committer of 1 ms a row."""
    found = outcome(100, 10_000, scheduler_s=2e-3, row_s=1e-3)
    assert found.busy["scheduler"] == pytest.approx(0.2, rel=0.05)
    assert found.busy["committer"] == pytest.approx(0.1, rel=0.05)
    assert found.efficiency > 0.98


def test_a_scheduler_of_2_ms_hands_out_500_tasks_a_second() -> None:
    found = outcome(100, 20_000, task_s=0.1, scheduler_s=2e-3)
    assert found.tasks_per_s == pytest.approx(500, rel=0.02)
    assert found.efficiency == pytest.approx(0.5, rel=0.02)
    assert found.bottleneck == "scheduler"


def test_commits_of_one_row_bind_and_commits_of_many_do_not() -> None:
    """At 50 ms a commit 20 rows a second; of 100 rows each, commits take 5 % of the time."""
    one = outcome(100, 5000, batch_rows=1, commit_s=0.05)
    assert one.tasks_per_s == pytest.approx(20, rel=0.02)
    assert one.bottleneck == "committer"
    many = outcome(100, 5000, batch_rows=100, commit_s=0.05)
    assert many.busy["committer"] == pytest.approx(0.05, rel=0.1)
    assert many.efficiency > 0.95


def test_a_committer_that_is_longer_away_than_a_task_lasts_lets_workers_wait() -> None:
    """Every 2 s it commits for 3 s; workers live 1 s on the task that waits."""
    short, long = (outcome(10, 2000, float("inf"), commit_s=each) for each in (0.5, 3.0))
    assert short.efficiency > 0.95
    assert long.efficiency < 0.75
    assert long.busy["committer"] > 0.5


def test_a_store_gives_no_more_than_its_bandwidth() -> None:
    """100 workers want 20 GB/s."""
    found = outcome(100, 10_000, store_bytes_s=5e9)
    assert found.tasks_per_s * 2e8 == pytest.approx(5e9, rel=0.05)
    assert found.bottleneck == "store"
    enough = outcome(100, 10_000, store_bytes_s=40e9)
    assert enough.busy["store"] == pytest.approx(0.5, rel=0.02)
    assert enough.bottleneck == "workers"

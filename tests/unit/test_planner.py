"""Which runs would decide: the published allocation, chances by simulation, lists of runs."""

import numpy as np
import pytest

from data.analysis.best_set import Limit, best_set
from data.analysis.noise import Estimates, Prior
from data.analysis.outcomes import MARGIN
from data.analysis.planner import (
    BASELINE,
    FIRST_CELL,
    PlannedRun,
    more_runs,
    ocba,
    plan,
    unmeasured_cells,
)


def estimates(n: list[int], mean: list[float], sd: float = 0.01) -> Estimates:
    runs = np.array(n)
    return Estimates(runs, np.array(mean), sd**2 / runs, 3.0 + runs, Prior(4.0, sd))


def test_the_published_allocation_comes_out() -> None:
    # Chen and Lee 2010; also the documentation of R's SPOT.
    more = ocba(
        np.array([1.2, 2.1, 3.4, 4.87, 6.05]), np.array([3.3, 2.0, 4.5, 5.3, 6.9]),
        np.array([12, 6, 5, 5, 4]), 100, floor=0.0,
    )  # fmt: skip
    assert more.tolist() == [48, 38, 11, 2, 1]


def test_settings_above_their_share_get_none() -> None:
    more = ocba(np.array([0.0, 0.01, 1.0]), np.full(3, 1e-4), np.array([3, 3, 50]), 10)
    assert more[2] == 0
    assert more.sum() == 10
    assert ocba(np.array([1.0]), np.array([1.0]), np.array([2]), 7).tolist() == [7]


def test_a_setting_beyond_the_limit_is_ruled_out_by_the_cheaper_fact() -> None:
    mean, variance, n = np.array([0.0, 0.001, 0.001]), np.full(3, 1e-4), np.full(3, 2)
    excess = np.array([-0.5, 0.5, -0.5])
    more = ocba(mean, variance, n, 100, excess=excess, limited_variance=np.full(3, 1e-4))
    assert more[1] < more[2]


def test_the_allocation_finds_the_best_more_often_than_equal_shares() -> None:
    rng, hits = np.random.default_rng(1), np.zeros(2)
    for _ in range(150):
        truth, sd = rng.normal(0, 0.02, 20), 0.02 * np.exp(rng.normal(0, 0.5, 20))
        for way in (0, 1):
            runs = [list(rng.normal(m, s, 2)) for m, s in zip(truth, sd, strict=True)]
            for _ in range(3):
                mean = np.array([np.mean(r) for r in runs])
                variance = np.array([np.var(r, ddof=1) for r in runs])
                pooled = (2 * variance.mean() + variance) / 3
                n = np.array([len(r) for r in runs])
                more = ocba(mean, pooled, n, 20) if way else np.ones(20, int)
                for i, k in enumerate(more.tolist()):
                    runs[i] += list(rng.normal(truth[i], sd[i], k))
            hits[way] += np.argmin([np.mean(r) for r in runs]) == truth.argmin()
    assert hits[1] > hits[0]


def setting(mean: float, sd: float) -> Estimates:
    """One setting with three runs."""
    n = np.array(3)
    return Estimates(n, np.array(mean), sd**2 / n, n + 3.0, Prior(4.0, sd))


@pytest.mark.parametrize("difference", [0.03, 0.0, 0.06])
def test_after_so_many_more_runs_the_pair_is_decided(difference: float) -> None:
    rng, decided, sd, n = np.random.default_rng(2), 0, 0.02, 3
    more = more_runs(setting(difference, sd), setting(0.0, sd))
    assert more is not None
    for _ in range(300):
        a, b = rng.normal(0, sd, n + more), rng.normal(difference, sd, n + more)
        variances = [(4 * sd**2 + np.var(x, ddof=1) * (len(x) - 1)) / (3 + len(x)) for x in (a, b)]
        deviation = np.sqrt(sum(variances) / (n + more))
        from scipy.special import stdtrit

        df = 4 + n + more - 1
        z = abs(b.mean() - a.mean())
        is_same = z + stdtrit(df, 0.95) * deviation < MARGIN
        decided += bool(z > stdtrit(df, 0.975) * deviation or is_same)
    assert decided >= 0.75 * 300


def test_what_noise_hides_needs_over_a_hundred_runs() -> None:
    assert more_runs(setting(0.019, 0.5), setting(0.0, 0.5)) is None


def test_cells_next_to_the_best_are_ranked_by_an_additive_model() -> None:
    codes = np.array([(a, b) for a in range(4) for b in range(4) if (a, b) != (0, 0)])
    truth = 0.05 * codes[:, 0] + 0.03 * codes[:, 1]
    rng = np.random.default_rng(3)
    cost = estimates([3] * 15, (truth + rng.normal(0, 0.002, 15)).tolist(), sd=0.003)
    near = best_set(cost).is_member
    cells, error = unmeasured_cells(codes, cost, near)
    assert error < 0.01
    assert cells[0].codes == (0, 0)
    assert cells[0].prediction == pytest.approx(0.0, abs=0.01)
    # Under a limit that the cell would break it is none.
    limited = estimates([3] * 15, (1.0 - truth).tolist(), sd=0.003)
    assert unmeasured_cells(codes, cost, near, limited, limit=0.5)[0] == []


def test_knobs_that_interact_leave_cells_without_numbers() -> None:
    codes = np.array([(a, b) for a in range(4) for b in range(4) if (a, b) != (0, 0)])
    cost = estimates([3] * 15, (0.5 * (codes[:, 0] == codes[:, 1])).tolist())
    cells, error = unmeasured_cells(codes, cost, np.ones(15, bool))
    assert error > np.log(1.05)
    assert [c.codes for c in cells] == [(0, 0)]
    assert np.isnan(cells[0].improvement)


def counts(runs: list[PlannedRun]) -> dict[int, int]:
    return {s: sum(run.setting == s for run in runs) for s in {run.setting for run in runs}}


def test_a_list_has_second_runs_first_and_the_baseline_in_each_block() -> None:
    cost = estimates([3, 3, 1, 3], [0.0, 0.005, 0.004, 0.5])
    runs = plan(cost, best_set(cost), 12, seed=1, cells=1)
    asked = counts(runs)
    assert asked[2] == 1
    assert next(run.reason for run in runs if run.setting == 2) == "second run"
    assert asked[FIRST_CELL] == 2
    assert 3 not in asked  # out of the set
    assert sum(asked.values()) - asked[BASELINE] == 12
    for block in range(max(run.block for run in runs) + 1):
        held = [run.setting for run in runs if run.block == block]
        assert held.count(BASELINE) == 1
        assert len(set(held)) == len(held)
        assert [run.position for run in runs if run.block == block] == list(range(len(held)))
    assert runs == plan(cost, best_set(cost), 12, seed=1, cells=1)
    assert runs != plan(cost, best_set(cost), 12, seed=2, cells=1)


def test_with_under_two_members_measured_twice_all_goes_to_the_others() -> None:
    cost = estimates([3, 1, 1], [0.0, 0.001, 0.002])
    asked = counts(plan(cost, best_set(cost), 5, seed=1))
    assert (asked[1], asked[2]) == (3, 2)
    few = counts(plan(cost, best_set(cost), 1, seed=1))
    assert set(few) == {1, BASELINE}


def test_under_a_limit_members_that_may_meet_it_say_so() -> None:
    cost = estimates([3, 3, 3], [0.0, 0.001, 0.3])
    limited = estimates([3, 3, 3], [0.0, -1.0, -1.0])
    found = best_set(cost, Limit(0.0, limited))
    runs = plan(cost, found, 20, seed=1, limited=limited, limit=0.0)
    assert {run.reason for run in runs if run.setting == 0} == {"limit"}

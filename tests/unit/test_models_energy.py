"""The energy-latency model by hand, and its best frequency."""

from dataclasses import replace

import numpy as np
import pytest

from data.errors import DataError
from data.models.energy import EnergyModel

# The published example: P_s = 10 W, P_d = 20 W, P_q = 0, times in units of dt = 1 us.
EXAMPLE = EnergyModel(alpha=0, beta=0, detect_us=0.1, work_us=0.2)


def test_the_published_example_by_hand() -> None:
    found = EXAMPLE.curve([0.5, 1.0])
    # latency = 0.1 + 0.2/D; E = (10 + 20 D^2)(0.1 + 0.2/D)
    assert found.latency_us == pytest.approx([0.5, 0.3])
    assert found.energy_uj == pytest.approx([15 * 0.5, 30 * 0.3])
    assert found.power_w == pytest.approx([7.5, 9.0])
    free = replace(EXAMPLE, detection="free").curve([0.5, 1.0])
    assert free.latency_us == pytest.approx(found.latency_us)
    assert free.energy_uj == pytest.approx([15 * 0.4, 30 * 0.2])
    asleep = replace(EXAMPLE, sleep_w=2).curve([1.0])
    assert asleep.energy_uj == pytest.approx([9.0 + 2 * 0.7])


def test_where_queues_build_up_nothing_is_drawn() -> None:
    # 0.1 + 0.2/D <= 1 from D = 2/9 on.
    assert EXAMPLE.slowest_dvfs() == pytest.approx(2 / 9)
    found = EXAMPLE.curve([0.2, 0.222, 0.223, 0.5])
    assert found.is_saturated.tolist() == [True, True, False, False]
    for values in (found.latency_us, found.energy_uj, found.power_w):
        assert np.isnan(values).tolist() == [True, True, False, False]
    assert np.isnan(replace(EXAMPLE, work_us=1.0).best_dvfs(0.3))


@pytest.mark.parametrize("alpha", [-1.0, -0.5, 0.0, 0.7])
@pytest.mark.parametrize("beta", [-1.5, 0.0, 1.0])
@pytest.mark.parametrize("sleep_w", [0.0, 9.0, 15.0])
def test_the_best_frequency_is_that_of_a_fine_curve(
    alpha: float, beta: float, sleep_w: float
) -> None:
    model = EnergyModel(alpha, beta, sleep_w=sleep_w, detect_us=0.0, work_us=0.1)
    best = model.best_dvfs(0.2)
    dvfs = np.linspace(max(0.2, model.slowest_dvfs() + 1e-12), 1, 20_001)
    energy = model.curve(dvfs).energy_uj
    assert model.curve([best]).energy_uj[0] <= energy.min() * (1 + 1e-9)
    if alpha == -1 or (sleep_w >= 10 and 1 + beta > alpha):
        assert best == pytest.approx(dvfs[0])
    elif 1 + beta <= alpha and sleep_w < 10:
        assert best == 1


def test_deep_sleep_makes_racing_pay() -> None:
    # D*^2 = (10 - P_q)/20
    assert replace(EXAMPLE, sleep_w=0).best_dvfs(0.3) == pytest.approx(np.sqrt(0.5))
    assert replace(EXAMPLE, sleep_w=5).best_dvfs(0.3) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("given", "said"),
    [({"alpha": -1.1}, "alpha is -1.1"), ({"beta": -2}, "beta is -2"),
     ({"work_us": 0}, "work_us is 0"), ({"detection": "slow"}, "detection is 'slow'"),
     ({"static_w": float("nan")}, "static_w is nan")],
)  # fmt: skip
def test_bad_values_are_refused(given: dict, said: str) -> None:
    with pytest.raises(DataError, match=said):
        EnergyModel(**given)
    with pytest.raises(DataError, match=r"dvfs holds 1\.2"):
        EXAMPLE.curve([0.5, 1.2])

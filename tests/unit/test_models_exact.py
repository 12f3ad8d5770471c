"""The exact solutions: identities, limits, other ways to the same numbers, refusals."""

from decimal import Decimal, getcontext
from typing import Any

import numpy as np
import pytest

from data.errors import DataError
from data.models import SCHEMES
from data.models.queues import md1b

VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("ideal", {}),
    ("normal", {}),
    ("normal", {"drops_interrupt": False}),
    ("disable_enable", {}),
    ("disable_enable", {"setup": "parts"}),
    ("count_coalescing", {}),
    ("count_coalescing", {"take": "gated"}),
    ("count_coalescing", {"drops_interrupt": False}),
    ("deferral", {}),
    ("deferral", {"count": 2}),
    ("busy_polling", {}),
    ("irq_suspension", {}),
]
names = [f"{name} {' '.join(map(str, given.values()))}".strip() for name, given in VARIANTS]
FIELDS = (
    "throughput_kpps",
    "cpu_left",
    "interrupt_share",
    "protocol_share",
    "latency_mean_us",
    "loss_share",
    "interrupts_per_s",
)
MU_KPPS = 1e3 / 5.34


def test_every_exact_solution_is_tested_here() -> None:
    exact = {name for name, scheme in SCHEMES.items() if "exact" in scheme.kinds}
    assert {name for name, _ in VARIANTS} == exact


@pytest.mark.thin(3)
@pytest.mark.parametrize(("name", "given"), VARIANTS, ids=names)
def test_the_identities_hold_at_any_load_and_ring(name: str, given: dict[str, Any]) -> None:
    loads = [1e-6, 1e-3, 0.3, 0.95, 1 - 1e-9, 1.0, 1 + 1e-9, 1.1, 3, 40, 599, 601, 1e3]
    rates = MU_KPPS * np.array(loads)
    for ring in (1, 2, 9, 1024, 65_536):
        if name == "count_coalescing" and ring < 8:
            continue
        with np.errstate(all="raise", under="ignore"):
            found = SCHEMES[name].solve("exact", rates, ring=ring, **given)
        for field in FIELDS:
            values = getattr(found, field)
            assert np.isfinite(values).all(), field
            assert (values >= 0).all(), field
        parts = found.cpu_left + found.interrupt_share + found.protocol_share
        assert parts == pytest.approx(1, abs=1e-12)
        assert found.throughput_kpps == pytest.approx(MU_KPPS * found.protocol_share, rel=1e-12)
        lost = 1 - found.throughput_kpps / rates
        assert found.loss_share == pytest.approx(lost, abs=1e-12)
        assert (found.latency_mean_us * found.throughput_kpps / 1e3 <= ring * (1 + 1e-12)).all()


@pytest.mark.parametrize("name", [n for n, s in SCHEMES.items() if "paper" in s.kinds])
def test_the_published_formulas_are_finite_at_any_load_and_ring(name: str) -> None:
    for ring in (8, 1024, 65_536):
        with np.errstate(all="raise", under="ignore"):
            found = SCHEMES[name].solve("paper", MU_KPPS * np.geomspace(1e-6, 1e3, 10), ring=ring)
        for field in FIELDS:
            assert np.isfinite(getattr(found, field)).all(), (ring, field)


def alternating_p0(load: float, ring: int) -> Decimal:
    """Eq. 11 as published, in 300 digits."""
    getcontext().prec = 300
    total, rho, factorial = Decimal(0), Decimal(load), Decimal(1)
    for k in range(ring):
        factorial *= max(k, 1)
        base = Decimal(ring - 1 - k)
        power = base**k if k else Decimal(1)
        total += (-1) ** k / factorial * power * rho**k * (base * rho).exp()
    return 1 / (1 + rho * total)


@pytest.mark.parametrize("ring", [1, 2, 3, 30, 60])
@pytest.mark.parametrize("load", [0.01, 0.9, 1.0, 1.3, 5.0])
def test_md1b_is_the_alternating_sum_in_300_digits(ring: int, load: float) -> None:
    assert md1b(load, ring).empty == pytest.approx(float(alternating_p0(load, ring)), rel=1e-12)


def test_mm1b_by_hand() -> None:
    # rho = 1/2, B = 2: p = 4/7, 2/7, 1/7; X = mu 3/7; E[N] = 4/7; E[T] = (4/7)/(3/7)/mu
    found = SCHEMES["ideal"].solve("exact", [500], service_us=1, ring=2)
    assert found.cpu_left[0] == pytest.approx(4 / 7, rel=1e-15)
    assert found.throughput_kpps[0] == pytest.approx(3000 / 7, rel=1e-15)
    assert found.loss_share[0] == pytest.approx(1 / 7, rel=1e-15)
    assert found.latency_mean_us[0] == pytest.approx(4 / 3, rel=1e-15)


RATES = [1, 20, 100, 127, 180, 187.2, 300]


def same(one: Any, other: Any, rel: float = 0.0) -> None:
    for field in FIELDS:
        if rel:
            assert getattr(one, field) == pytest.approx(getattr(other, field), rel=rel), field
        else:
            assert (getattr(one, field) == getattr(other, field)).all(), field


@pytest.mark.parametrize("take", ["visible", "gated"])
def test_a_count_of_one_is_normal_interruption(take: str) -> None:
    for kind in ("paper", "exact"):
        normal = SCHEMES["normal"].solve(kind, RATES)
        same(SCHEMES["count_coalescing"].solve(kind, RATES, count=1, take=take), normal)


def test_a_delay_of_zero_is_normal_interruption() -> None:
    found = SCHEMES["time_coalescing"].solve("paper", RATES, delay_us=0)
    same(found, SCHEMES["normal"].solve("paper", RATES))


@pytest.mark.parametrize("setup", ["joint", "parts"])
def test_disable_enable_without_cost_is_mm1b(setup: str) -> None:
    free: dict[str, Any] = {"interrupt_us": 0, "register_us": 0}
    found = SCHEMES["disable_enable"].solve("exact", RATES, setup=setup, **free)
    ideal = SCHEMES["ideal"].solve("exact", RATES)
    for field in FIELDS[:-1]:
        close = pytest.approx(getattr(ideal, field), rel=1e-12, abs=1e-15)
        assert getattr(found, field) == close, field


def chain_by_linear_algebra(rate: float, given: dict[str, Any]) -> dict[str, float]:
    """Shares of the count chain by a dense solution of its balance equations."""
    ring, count, gated = given["ring"], given["count"], given["take"] == "gated"
    work, ends = 1 / 5.34, 1 / 3.73
    index: dict[tuple[int, int, str], int] = {}
    moves, todo = [], [(0, 0, "idle")]

    def number(state: tuple[int, int, str]) -> int:
        if state not in index:
            index[state] = len(index)
            todo.append(state)
        return index[state]

    number(todo.pop())
    while todo:
        state = todo.pop()
        n, counted, kind = state
        here, more = index[state], min(n + 1, ring)
        if kind == "interrupt":
            moves.append((here, number((more, 0, kind)), rate))
            moves.append((here, number((n, 0, "work")), ends))
            continue
        if n < ring or given["drops_interrupt"]:
            last = counted + 1 == count
            after = (more, 0, "interrupt") if last else (more, counted + 1, kind)
            moves.append((here, number(after), rate))
        if kind == "work":
            goes_on = n - 1 > counted if gated else n > 1
            after = (n - 1, counted, "work" if goes_on else "idle")
            moves.append((here, number(after), work))
    matrix = np.zeros((len(index), len(index)))
    for start, end, speed in moves:
        if start != end:
            matrix[end, start] += speed
            matrix[start, start] -= speed
    matrix[-1] = 1
    shares = np.linalg.solve(matrix, np.eye(len(index))[-1])
    found = dict.fromkeys(("idle", "work", "interrupt", "packets", "full"), 0.0)
    for (n, _, kind), i in index.items():
        found[kind] += shares[i]
        found["packets"] += n * shares[i]
        found["full"] += shares[i] * (n == ring)
    return found


@pytest.mark.parametrize("take", ["visible", "gated"])
@pytest.mark.parametrize("drops", [True, False])
def test_the_count_chain_is_that_of_its_balance_equations(take: str, drops: bool) -> None:
    for ring, count in ((5, 5), (17, 4), (25, 7)):
        given: dict[str, Any] = {
            "ring": ring,
            "count": count,
            "take": take,
            "drops_interrupt": drops,
        }
        for rate in (0.01, 0.12, 0.17, 0.4):
            wanted = chain_by_linear_algebra(rate, given)
            found = SCHEMES["count_coalescing"].solve("exact", [rate * 1e3], **given)
            assert found.cpu_left[0] == pytest.approx(wanted["idle"], abs=1e-10)
            assert found.interrupt_share[0] == pytest.approx(wanted["interrupt"], rel=1e-9)
            assert found.loss_share[0] == pytest.approx(wanted["full"], abs=1e-10)
            assert found.latency_mean_us[0] == pytest.approx(
                wanted["packets"] / (wanted["work"] / 5.34), rel=1e-9
            )


def test_boundless_rings_have_their_closed_forms() -> None:
    rate, mu, c_w, i, look, gap = 0.1, 1 / 5.34, 0.5, 3.73, 1.59, 20.0
    s, s2 = c_w + i, c_w**2 + 2 * c_w * i + 2 * i**2
    parts = SCHEMES["disable_enable"].solve("exact", [100], ring=4096, setup="parts")
    wait = (2 * s + rate * s2) / (2 * (1 + rate * s))
    assert parts.latency_mean_us[0] == pytest.approx(1 / (mu - rate) + wait, rel=1e-9)
    assert parts.cpu_left[0] == pytest.approx((1 - rate / mu) / (1 + rate * s), rel=1e-9)
    vacation, vacation2 = gap + look, gap**2 + 2 * gap * look + 2 * look**2
    deferral = SCHEMES["deferral"].solve("exact", [100], ring=4096, count=5000)
    wait = vacation2 / (2 * vacation)
    assert deferral.latency_mean_us[0] == pytest.approx(1 / (mu - rate) + wait, rel=1e-9)
    assert deferral.cpu_left[0] == pytest.approx((1 - rate / mu) * gap / vacation, rel=1e-9)
    busy = SCHEMES["busy_polling"].solve("exact", [100], ring=4096)
    assert busy.latency_mean_us[0] == pytest.approx(1 / (mu - rate) + look / 2, rel=1e-9)
    assert busy.cpu_left[0] == 0
    normal = SCHEMES["normal"].solve("exact", [100], ring=4096)
    slowed = mu / (1 + rate * i)
    assert normal.latency_mean_us[0] == pytest.approx(
        i + (1 + rate * i) / (slowed - rate), rel=1e-9
    )


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("normal", {"rates_kpps": [20, 0]}, "rates_kpps holds 0"),
    ("normal", {"rates_kpps": [-3]}, "rates_kpps holds -3"),
    ("normal", {"rates_kpps": [np.nan]}, "rates_kpps holds nan"),
    ("normal", {"rates_kpps": []}, "rates_kpps has the shape"),
    ("count_coalescing", {"count": 2000}, "count is 2000; it must be at most ring, 1024"),
    ("count_coalescing", {"count": 0}, "count is 0"),
    ("count_coalescing", {"count": 2.5}, "count is 2.5; it must be a whole number"),
    ("count_coalescing", {"count": 65}, "exact solution takes counts up to 64"),
    ("pure_polling", {"quota": 0}, "quota is 0"),
    ("pure_polling", {"poll_overhead_us": 20}, "poll_overhead_us is 20; it must be below"),
    ("normal", {"service_us": 0}, "service_us is 0"),
    ("normal", {"ring": "many"}, "ring is 'many'"),
    ("normal", {"interrupt_us": None}, "interrupt_us is None"),
    ("normal", {"drops_interrupt": "yes"}, "drops_interrupt is 'yes'"),
    ("time_coalescing", {"timer": "last"}, "timer is 'last'; it must be one of"),
    ("rx_usecs_frames", {"count": 0, "delay_us": 0}, "count is 0 and delay_us is 0"),
    ("normal", {"tau": 8}, "no parameter 'tau'; normal has service_us"),
    ("normal", {"traffic": "bursty"}, "solution is for Poisson arrivals"),
    ("napi", {"kind": "exact"}, "napi has no 'exact' solution; it has simulated"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given", "said"), BAD, ids=[said for *_, said in BAD])
def test_a_bad_parameter_is_refused_by_name_and_value(
    name: str, given: dict[str, Any], said: str
) -> None:
    scheme = SCHEMES[name]
    kind = given.get("kind", scheme.kinds[-2] if len(scheme.kinds) > 1 else "simulated")
    rest = {key: value for key, value in given.items() if key not in ("kind", "rates_kpps")}
    with pytest.raises(DataError, match=said):
        scheme.solve(kind, given.get("rates_kpps", [20]), **rest)


def test_every_parameter_says_what_it_is() -> None:
    for scheme in SCHEMES.values():
        assert scheme.sentence.endswith(".")
        assert set(scheme.formulas) == set(scheme.kinds)
        for parameter in scheme.parameters:
            assert parameter.sentence.endswith(".")
            assert parameter.check(parameter.default) == parameter.default
            if not parameter.is_choice:
                low, high = map(float, parameter.range)
                assert low <= float(parameter.default) <= high

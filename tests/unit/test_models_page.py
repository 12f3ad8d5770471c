"""Models without a browser: groups of runs, what panels show of them, controls, presets, jobs."""

import math
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest

from app.models.controls import CONTROLS, read_values, scheme_values
from app.models.curves import curves, rates_kpps, simulation, solved, spec
from app.models.jobs import MOST_SEEN, MOST_WAITING, Jobs, curve_names
from app.models.presets import FIGURES, HOSTS, LINK_KPPS, shown_stars
from app.models.runs import group_columns, group_styles, with_groups
from app.models.state import ModelsState
from data.analysis.model_runs import energy_plane, panel_values, points, with_predictions
from data.catalogue import SHIPPED
from data.errors import BusyError, SelectionError
from data.models import SCHEMES
from data.models.simulation.bursts import least_off_us, on_periods


def some_runs(**over: list[Any]) -> pl.DataFrame:
    """Two replicates and one run of another system, in the units of a queue."""
    columns: dict[str, list[Any]] = {
        **{name: [None] * 3 for name in group_columns(SHIPPED)},
        "dataset": ["d"] * 3, "workload": ["memcached"] * 3, "system": ["a", "a", "b"],
        "load_qps": [2e5] * 3, "itr_us": [100.0, 100.0, None], "dvfs_ghz": [2.0] * 3,
        "rapl_w": [135.0] * 3, "lam_kpps": [10.0, 12.0, 20.0], "busy_share": [0.2, 0.4, 0.5],
        "interrupts_per_s": [6000.0, 6400.0, 9000.0], "latency_mean_us": [None, None, 50.0],
        "latency_p50_us": [90.0, 110.0, None], "latency_p99_us": [200.0, 220.0, 80.0],
        "power_w": [60.0, 70.0, 50.0],
    }  # fmt: skip
    kinds = {name: pl.String for name, values in columns.items() if values == [None] * 3}
    return pl.DataFrame({**columns, **over}, schema_overrides=kinds)


def test_groups_are_named_by_the_knobs_that_vary() -> None:
    labels = {"a": "System A"}
    rows = with_groups(some_runs(), labels, SHIPPED)
    assert rows["group"].to_list() == ["System A", "System A", "b"]
    machines = some_runs(system=["a"] * 3, machine=["c220g1", "c220g5", None])
    found = with_groups(machines, labels, SHIPPED)
    assert found["group"].to_list() == ["System A · c220g1", "System A · c220g5", "System A"]
    # Groups of one system differ in both; systems that are one group each look as on other pages.
    looks = [tuple(style.values()) for style in group_styles(found).values()]
    assert len({symbol for symbol, _ in looks}) == len({hue for _, hue in looks}) == 3
    fixed = some_runs(system=["linux_tuned", "linux_tuned", "ebbrt_tuned"])
    styles = group_styles(with_groups(fixed, {}, SHIPPED))
    assert styles["linux_tuned"] == {"symbol": "circle", "hue": "#0072B2"}
    assert styles["ebbrt_tuned"] == {"symbol": "diamond", "hue": "#D55E00"}


def test_points_are_means_with_deviations() -> None:
    found = points(with_groups(some_runs(), {}, SHIPPED), group_columns(SHIPPED)).to_dicts()
    first = next(row for row in found if row["group"] == "a")
    assert (first["n"], first["lam_kpps"]) == (2, 11.0)
    assert first["lam_kpps_sd"] == pytest.approx(math.sqrt(2))
    assert next(row for row in found if row["group"] == "b")["lam_kpps_sd"] is None


def test_what_the_models_say_of_a_run_by_hand() -> None:
    rows = points(with_groups(some_runs(), {}, SHIPPED), group_columns(SHIPPED))
    costs = {"interrupt_us": 3.0, "service_us": 5.0}
    tuned = with_predictions(rows, {"a": 1.5})
    rate, delay = 11e-3 * 1.5, 102.4
    gap = rate * delay + math.exp(-rate * delay)
    found = {
        name: panel_values(tuned, costs, name, "mean")
        for name in ("itr", "cpu", "latency", "throughput")
    }
    itr = found["itr"].row(0, named=True)
    assert itr["value"] == 6200
    assert itr["predicted"] == pytest.approx(rate / gap * 1e6)
    cpu = found["cpu"].row(0, named=True)
    assert cpu["value"] == pytest.approx(0.7)
    assert cpu["predicted"] == pytest.approx(1 - rate / gap * 3 - 11e-3 * 5)
    # Without a mean the median stands for it; the constant is that of the only tuned group.
    latency = found["latency"].row(0, named=True)
    assert latency["value"] == 100
    assert latency["predicted"] == pytest.approx(100)
    adaptive = found["latency"].row(1, named=True)
    assert (adaptive["value"], adaptive["predicted"]) == (50, None)
    assert found["throughput"]["predicted"].null_count() == 2
    p99 = panel_values(with_predictions(rows, {}), costs, "latency", "p99")
    assert p99["value"].to_list() == [210, 80]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("p=ring:0", "ring"),
        ("p=nothing:1", "unknown parameter 'nothing'"),
        ("p=timer:often", "timer"),
        ("e=alpha:-2", "alpha"),
        ("scheme=best", "scheme is 'best'"),
        ("fig=99", "fig is '99'"),
        ("at=0", "at is 0, expected above 0"),
        ("zoom=3~1", "zoom is '3~1', expected two rising numbers"),
        ("seed=1.5", "seed is '1.5', expected a whole number"),
        ("tab=sql", "tab is 'sql'"),
        ("sizes=64", "sizes is '64'"),
        ("sizes=64.5:1", "holds 64.5 bytes"),
        ("sizes=64:0", "no share above 0"),
        ("sizes=" + ",".join(f"{n}:1" for n in range(64, 129)), "65 sizes, expected at most 64"),
    ],
)
def test_a_bad_link_is_refused_by_name_and_value(query: str, said: str) -> None:
    with pytest.raises(SelectionError, match=said):
        ModelsState.from_query("v=1&" + query, SHIPPED)


def test_a_link_keeps_only_what_differs() -> None:
    # The default of 1/mu stays: a preset has another value.
    text = "service_us:5.34,interrupt_us:1,ring:512,timer:throttle"
    scrambled = "timer:throttle,service_us:5.34,ring:512,interrupt_us:1"
    assert read_values("p", scrambled, CONTROLS) == text
    state = ModelsState.from_query(f"v=1&p={text}&zoom=10~90", SHIPPED)
    assert ModelsState.from_query(state.to_query(), SHIPPED) == state
    values = state.control_values()
    assert (values["interrupt_us"], values["ring"], values["timer"]) == (1, 512, "throttle")
    preset = ModelsState.from_query(f"v=1&host=82599&p={text}", SHIPPED)
    assert preset.control_values()["service_us"] == 5.34
    assert ModelsState.from_query(preset.to_query(), SHIPPED) == preset


def test_every_control_belongs_to_a_scheme_and_every_parameter_has_a_control() -> None:
    used = set()
    for scheme in SCHEMES.values():
        values = scheme_values(scheme, {key: c.default for key, c in CONTROLS.items()})
        assert set(values) == {p.name for p in scheme.parameters}
        checked = scheme.values(**values)
        used |= set(vars(checked))
    assert used >= {"service_us", "ring"}


@pytest.mark.parametrize("figure", list(FIGURES))
def test_every_figure_has_its_curves(figure: str) -> None:
    state = ModelsState(figure=figure)
    found = curves(state)
    assert len({curve.label for curve in found}) == len(found) == len(FIGURES[figure]["curves"])
    for curve in found:
        curve.scheme.values(**curve.values)
    request = simulation(state)
    # The load of a bursty link ends at 1.
    is_bursty = state.control_values()["traffic"] == "bursty"
    most = FIGURES[figure].get("to", 300)
    assert max(request["rates_kpps"]) == pytest.approx(216.6 if is_bursty else most, abs=1)
    if figure == "table1":
        loads = [0.0004, 0.02, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0]
        assert request["rates_kpps"] == pytest.approx([load * LINK_KPPS for load in loads])
    else:
        assert request["rates_kpps"] == rates_kpps(state, 18).tolist()
    # At the crosshair all curves are simulated, elsewhere those without a formula may be alone.
    assert simulation(state, "at")["rates_kpps"] == [100]
    needed = simulation(state, "needed")["labels"]
    solved_labels = {curve.label for curve, _ in solved(state, np.array([50.0]))}
    assert set(needed) == {curve.label for curve in found} - solved_labels


# Figure, curve, solution, Kpps and quantity to the number that the specification has.
NUMBERS = [
    ("7", "ideal", "exact", 400, "throughput_kpps", 187.3, 0.1),
    ("7a", "normal interruption", "exact", 127.1, "throughput_kpps", 126.9, 0.1),
    ("7a", "normal interruption", "exact", 400, "throughput_kpps", 75.2, 0.1),
    ("7a", "disable-enable", "exact", 250, "throughput_kpps", 187, 0.5),
    ("7a", "coalescing, 8 packets", "paper", 250, "throughput_kpps", 168, 0.5),
    ("7a", "hybrid (proposed)", "paper", 250, "throughput_kpps", 150, 0.1),
    ("7b", "normal interruption", "paper", 127.05, "cpu_left", 0.0007, 0.0003),
    ("7b", "hybrid (proposed)", "paper", 250, "cpu_left", 0.12, 0.002),
    ("7b", "disable-enable", "exact", 250, "cpu_left", 0, 1e-6),
    ("7c", "disable-enable", "exact", 0.5, "latency_mean_us", 9.60, 0.005),
    ("7c", "normal interruption", "paper", 0.5, "latency_mean_us", 9.09, 0.005),
    ("7d", "normal interruption", "exact", 400, "latency_mean_us", 13_600, 60),
    ("7d", "disable-enable", "exact", 250, "latency_mean_us", 5_500, 60),
    ("7d", "coalescing, 8 packets", "paper", 250, "latency_mean_us", 6_100, 60),
    ("11a", "32 packets", "paper", 1, "latency_mean_us", 15_500, 50),
    ("11a", "100 us", "paper", 1, "latency_mean_us", 9.1, 0.05),
    ("11d", "polling, Q = 2", "paper", 300, "throughput_kpps", 100, 0.5),
    ("11d", "polling, Q = 3", "paper", 300, "throughput_kpps", 150, 0.5),
    ("11d", "polling, Q = 4", "paper", 300, "throughput_kpps", 172, 0.5),
    ("11d", "polling, Q = 2", "paper", 300, "cpu_left", 0.39, 0.005),
    ("11d", "polling, Q = 4", "paper", 300, "cpu_left", 0, 0.005),
    ("11g", "polling, 10 us", "paper", 300, "throughput_kpps", 158, 0.6),
    ("11g", "polling, 20 us", "paper", 300, "throughput_kpps", 172, 0.6),
    ("11g", "polling, 30 us", "paper", 300, "throughput_kpps", 133, 0.6),
    ("11g", "polling, 40 us", "paper", 300, "throughput_kpps", 100, 0.6),
    ("11g", "polling, 10 us", "paper", 20, "latency_mean_us", 15.5, 0.05),
    ("11g", "polling, 20 us", "paper", 20, "latency_mean_us", 23.9, 0.05),
    ("11g", "polling, 30 us", "paper", 20, "latency_mean_us", 33.7, 0.05),
    ("11g", "polling, 40 us", "paper", 20, "latency_mean_us", 43.3, 0.06),
]  # fmt: skip


@pytest.mark.parametrize(("figure", "label", "kind", "rate", "field", "wanted", "within"), NUMBERS)
def test_the_presets_have_the_numbers_of_the_specification(
    figure: str, label: str, kind: str, rate: float, field: str, wanted: float, within: float
) -> None:
    found = {
        (curve.label, str(answer.kind)): float(getattr(answer, field)[0])
        for curve, answer in solved(ModelsState(figure=figure), np.array([rate]))
    }
    assert found[label, kind] == pytest.approx(wanted, abs=within)


def test_the_traffic_of_figures_8_to_10() -> None:
    # Sizes: the mean and the two free peaks; load 1 is a link of 577 bytes a frame at 1 Gb/s.
    shown = spec()["sizes"]
    peaks, count = dict(shown["peaks"]), shown["to"] - shown["from"] + 1
    assert sum(peaks.values()) + shown["even"] * count == pytest.approx(1)
    assert {size: round(100 * share, 2) for size, share in peaks.items()} == {
        64: 47.54, 570: 10, 594: 15, 1518: 22.46,
    }  # fmt: skip
    assert pytest.approx(1e3 / (577 * 0.008)) == LINK_KPPS
    # Sources: OFF by the published formula, b_off = 1/3 * 1.3 * 0.512/0.3 * (8/rho - 1).
    assert least_off_us(0.5) == pytest.approx(1 / 3 * 1.3 * 0.512 / 0.3 * 15)
    periods = on_periods(0.5, 1000.0, 1)
    assert {source for source, _, _ in periods} == set(range(1, 9))
    assert all(0 <= begin < end <= 1000 for _, begin, end in periods)
    assert on_periods(0.5, 1000.0, 2) != periods == on_periods(0.5, 1000.0, 1)
    # The share of the time that a source sends is load/8; heavy tails converge slowly.
    many = [on_periods(0.8, 20_000.0, seed) for seed in range(20)]
    sent = sum(end - begin for one in many for _, begin, end in one) / (20 * 8 * 20_000)
    assert sent == pytest.approx(0.1, rel=0.35)


def test_a_readers_own_frame_sizes_are_simulated() -> None:
    state = ModelsState.from_query("v=3&p=traffic:bursty&sizes=1500:3,64:1", SHIPPED)
    assert state.frame_sizes() == [(1500, 3), (64, 1)]
    assert ModelsState.from_query(state.to_query(), SHIPPED) == state
    asked = simulation(state)
    link = 1e3 / ((0.75 * 1500 + 0.25 * 64 + 20) * 0.008)
    assert asked["frame_sizes"] == state.frame_sizes()
    assert asked["rates_kpps"][-1] == pytest.approx(link)
    assert curve_names(asked) != curve_names({**asked, "frame_sizes": None})


def test_runs_in_the_plane_of_latency_and_power_by_hand() -> None:
    rows = points(with_groups(some_runs(), {}, SHIPPED), group_columns(SHIPPED))
    fitted = pl.DataFrame(
        {"group": ["a"] * 2, "fit": ["power", "busy_time"], "load_qps": [2e5] * 2,
         "itr_us": [100.0] * 2, "dvfs_ghz": [2.0] * 2, "rapl_w": [135.0] * 2,
         "predicted": [66.0, 12.0]}
    )  # fmt: skip
    found = energy_plane(with_predictions(rows, {"a": 1.5}), fitted).to_dicts()
    assert [(row["group"], row["latency_us"], row["power_w"]) for row in found] == [
        ("a", 100, 65), ("b", 50, 50),
    ]  # fmt: skip
    # The constant takes up the only configuration; the other group has no fit.
    assert (found[0]["latency_model_us"], found[0]["power_model_w"]) == (pytest.approx(100), 66)
    assert (found[1]["latency_model_us"], found[1]["power_model_w"]) == (None, None)


def test_hosts_and_stars() -> None:
    for name, host in HOSTS.items():
        for key, value in (host["values"] or {}).items():
            assert CONTROLS[key].check(value) == value, (name, key)
    poisson = {star["y"] for star in shown_stars("7", "poisson", 300)}
    assert {187, 127} <= poisson
    table = shown_stars("table1", "bursty", FIGURES["table1"]["to"])
    assert len(table) == 8
    assert all(star["low"] < star["y"] < star["high"] for star in table)
    assert not [s for s in shown_stars("7", "poisson", 100) if s["x"] > 101]


def request(rates: list[float], seed: int = 1, scheme: str = "ideal") -> dict[str, Any]:
    """A simulation of one curve; near saturation it takes minutes."""
    values = scheme_values(SCHEMES[scheme], {key: c.default for key, c in CONTROLS.items()})
    return {
        "curves": [{"scheme": scheme, "values": values}] * 2,
        "labels": ["one", "two"],
        "rates_kpps": rates,
        "frame_sizes": None,
        "seed": seed,
        "replications": 2,
        "precision": 0.1 if rates[0] < 100 else 1e-6,
        "most_events": 1e6 if rates[0] < 100 else 1e12,
        "first_events": 0,
    }


QUICK, SLOW = [20.0, 40.0], [187.0]


def until(wanted: Callable[[], bool]) -> None:
    """Wait for a state; pytest's limit ends a test in which it never comes."""
    while not wanted():
        threading.Event().wait(0.02)


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    found = Jobs()
    yield found
    found.close()


def test_visitors_share_a_simulation_and_its_results_are_kept(jobs: Jobs) -> None:
    first = jobs.ask(request(QUICK), "ann")
    assert jobs.ask(request(QUICK), "bob")["job"] == first["job"]
    assert jobs.ask(request(QUICK, seed=2), "eve")["state"] == "waiting"
    # One rate, as at a crosshair, does not wait for those of a load axis.
    assert jobs.ask(request(QUICK[:1]), "eve")["state"] == "running"
    until(lambda: jobs.ask(request(QUICK), "bob", begins=False)["state"] == "done")
    found = jobs.ask(request(QUICK), "someone later")
    assert [one["curve"] for one in found["results"]] == [0, 1]
    assert found["results"] == jobs.finished(request(QUICK))
    wanted = SCHEMES["ideal"].solve("exact", QUICK)
    assert found["results"][0]["throughput_kpps"] == pytest.approx(wanted.throughput_kpps, rel=0.05)


def test_a_first_pass_over_all_curves_is_there_before_the_whole_simulation(jobs: Jobs) -> None:
    asked = {**request(QUICK), "first_events": 1e4, "precision": 0.01}
    until(lambda: jobs.ask(asked, "ann")["state"] == "done")
    found = jobs.ask(asked, "bob", begins=False)
    assert [(one["curve"], "is_first" in one) for one in found["results"]] == [
        (0, True), (1, True), (0, False), (1, False),
    ]  # fmt: skip
    assert (found["first"], found["done"], found["total"]) == (2, 2, 2)
    first, whole = found["results"][0], found["results"][2]
    assert max(first["events"]) < max(whole["events"])
    # Nothing of the first pass is kept for others.
    assert jobs.finished(asked) == found["results"][2:]


def test_a_simulation_ends_with_the_last_who_waits(jobs: Jobs) -> None:
    name = jobs.ask(request(SLOW), "ann")["job"]
    jobs.ask(request(SLOW), "bob")
    jobs.cancel(name, "ann")
    assert jobs.state_of(name) == ("running", "")
    jobs.cancel(name, "bob")
    assert jobs.state_of(name) == ("cancelled", "cancelled by all who waited")
    until(lambda: not jobs.is_running(name))
    assert jobs.finished(request(SLOW)) == []
    # Whoever still follows it is told, and does not begin it anew.
    assert jobs.ask(request(SLOW), "bob", begins=False)["state"] == "cancelled"
    assert not jobs.is_running(name)


def test_a_simulation_that_nobody_asks_for_is_killed() -> None:
    found = Jobs(patience_s=0.3)
    name = found.ask(request(SLOW), "ann")["job"]
    until(lambda: found.state_of(name)[0] not in ("waiting", "running"))
    assert found.state_of(name) == ("cancelled", "nobody waits any more")


def test_a_simulation_has_a_limit_and_a_failed_one_says_why() -> None:
    found = Jobs(limit_s=0.3)
    name = found.ask(request(SLOW), "ann")["job"]
    until(lambda: found.state_of(name)[0] not in ("waiting", "running"))
    assert found.state_of(name) == ("failed", "It was ended after 0.3 s.")
    assert found.ask(request(SLOW), "ann", begins=False)["state"] == "failed"
    broken = {**request(QUICK), "curves": [{"scheme": "unknown", "values": {}}]}
    jobs = Jobs()
    name = jobs.ask(broken, "ann")["job"]
    until(lambda: jobs.state_of(name)[0] not in ("waiting", "running"))
    told = jobs.ask(broken, "ann", begins=False)
    assert told["state"] == "failed"
    assert told["words"]


def test_a_refused_curve_does_not_stop_the_others_which_other_requests_then_have(
    jobs: Jobs,
) -> None:
    good = request(QUICK)["curves"][0]
    bad = {**good, "values": {**good["values"], "traffic": "bursty"}}
    # Frame sizes reach the simulator: it names their mean.
    asked = {
        **request([2000.0]), "curves": [bad, good], "frame_sizes": [[64, 1], [128, 1]],
        "most_events": 1e6,
    }  # fmt: skip
    until(lambda: jobs.ask(asked, "ann")["state"] == "done")
    refused, done = jobs.ask(asked, "ann", begins=False)["results"]
    assert "mean 96 bytes" in refused["refused"]
    assert (done["curve"], done["label"]) == (1, "two")
    assert jobs.finished(asked) == [done]
    # A request with one more curve has it at once, and simulates only what is missing.
    new = request(QUICK, scheme="normal")["curves"][0]
    wider = {**asked, "curves": [new, good], "labels": ["new", "old"]}
    for begins in (False, True):
        [first] = jobs.ask(wider, "ann", begins=begins)["results"]
        assert first == {**done, "label": "old"}
    until(lambda: jobs.ask(wider, "ann")["state"] == "done")
    assert [one["scheme"] for one in jobs.finished(wider)] == ["normal", "ideal"]
    assert jobs.ask({**wider, "labels": ["a", "b"]}, "eve")["state"] == "done"


def test_only_so_many_simulations_wait(jobs: Jobs) -> None:
    for seed in range(MOST_WAITING + 1):
        jobs.ask(request(SLOW, seed=seed), "ann")
    with pytest.raises(BusyError, match=f"{MOST_WAITING} simulations are waiting"):
        jobs.ask(request(SLOW, seed=99), "ann")


def test_of_endless_visitors_of_a_simulation_the_last_are_remembered(jobs: Jobs) -> None:
    for number in range(1000):
        name = jobs.ask(request(SLOW), f"visitor {number}")["job"]
    assert list(jobs.waiting_for(name)) == [f"visitor {n}" for n in range(1000 - MOST_SEEN, 1000)]


@pytest.mark.parametrize(
    ("query", "most"), [("", 300), ("fig=7", 300), ("fig=7a", 400), ("fig=7a&to=300", 300)]
)
def test_the_load_axis_ends_where_the_link_or_its_figure_says(query: str, most: float) -> None:
    state = ModelsState.from_query(query, SHIPPED)
    assert state.most_kpps == most
    assert ModelsState.from_query(state.to_query(), SHIPPED).most_kpps == most


def test_rates_begin_above_zero() -> None:
    found = rates_kpps(ModelsState(to_kpps=0.5), 10)
    assert found[0] > 0
    assert np.all(np.diff(found) > 0)

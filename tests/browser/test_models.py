"""Models in a browser: formulas, a slider, a preset, a simulation, a link, an export."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect

from data.models import SCHEMES
from data.models.energy import EnergyModel
from data.models.schemes.itr_throttle import US_PER_ITR_US, packets_per_interrupt
from data.models.simulation.bursts import link_kpps, on_periods
from tests.browser.atlas import choose, query_of, visit, wait_idle
from tests.browser.conftest import load_scripts

pytestmark = pytest.mark.browser

SOLVERS = [f"models/view_{name}" for name in ("arithmetic", "chain", "energy", "formulas")]
FIELDS = (
    "throughput_kpps", "cpu_left", "interrupt_share", "protocol_share", "latency_mean_us",
    "loss_share", "interrupts_per_s",
)  # fmt: skip
RATES = [0.5, 20.0, 100.0, 127.0, 160.0, 187.3, 250.0, 1000.0]
OTHERS: dict[str, Any] = {
    "ring": 37, "setup": "parts", "take": "gated", "drops_interrupt": False, "quota": 9,
    "wait": "mean", "count": 5,
}  # fmt: skip
LINE = """([view, label, kind]) => {
  const trace = wattlas.plot("models-" + view).data.find(({ meta }) =>
    meta && meta.label === label && (meta.solution || meta.kind) === kind);
  return trace && { x: [...trace.x], y: [...trace.y] };
}"""


def test_the_formulas_equal_those_in_python(blank: Page) -> None:
    page = load_scripts(blank, *SOLVERS)
    offered = {n: [k for k in s.kinds if k != "simulated"] for n, s in SCHEMES.items()}
    for name, kinds in offered.items():
        for kind in kinds:
            for over in ({}, OTHERS):
                values = vars(SCHEMES[name].values(**over))
                wanted = SCHEMES[name].solve(kind, RATES, **over)
                found = page.evaluate(
                    "([name, kind, rates, p]) => rates.map((rate) => "
                    "wattlas.schemes.solve(name, kind, rate, p))",
                    [name, kind, RATES, values],
                )
                for field in FIELDS:
                    theirs = [answer[field] for answer in found]
                    ours = getattr(wanted, field)
                    # Losses below 1e-12 are sums of rounding.
                    assert theirs == pytest.approx(ours, rel=1e-9, abs=1e-12), (name, kind, field)
    model = EnergyModel(alpha=-0.3, beta=0.4, sleep_w=2.0)
    dvfs = np.linspace(0.2, 1, 9)
    curve = model.curve(dvfs)
    plain = {n: getattr(model, n) for n in EnergyModel.__slots__}
    points, best = page.evaluate(
        "([p, grid]) => [grid.map((d) => wattlas.energyModel.at(p, d)), "
        "wattlas.energyModel.best(p, 0.2)]",
        [plain, dvfs.tolist()],
    )
    assert [p["energy_uj"] for p in points] == pytest.approx(curve.energy_uj.tolist(), nan_ok=True)
    assert best == pytest.approx(model.best_dvfs(0.2))


def opened(page: Page, address: str, query: str = "") -> None:
    visit(page, f"{address}/models{query}")
    wait_idle(page)


def drag(page: Page, control: str, value: float) -> None:
    """Move a slider and let it go."""
    page.evaluate(
        """([key, value]) => {
          const range = document.querySelector(`input[type=range][data-control="${key}"]`);
          range.value = value;
          range.dispatchEvent(new Event("input", { bubbles: true }));
          range.dispatchEvent(new Event("change", { bubbles: true }));
        }""",
        [control, value],
    )
    wait_idle(page)


def test_a_slider_a_preset_and_a_link(page: Page, logged_address: str) -> None:
    opened(page, logged_address)
    assert "runs beside the models" in page.locator("#models-status").inner_text()
    before = page.evaluate(LINE, ["throughput", "normal interruption", "exact"])
    assert max(before["y"]) == pytest.approx(127, abs=1)

    drag(page, "interrupt_us", 1.0)
    after = page.evaluate(LINE, ["throughput", "normal interruption", "exact"])
    assert max(after["y"]) > 150
    wanted = SCHEMES["normal"].solve("exact", after["x"], interrupt_us=1.0).throughput_kpps
    assert after["y"] == pytest.approx(wanted, rel=1e-9)
    assert query_of(page)["p"] == ["interrupt_us:1"]

    # All panels have the crosshair, and the stack follows a click.
    box = page.locator("#models-cpu .nsewdrag").first.bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + 40)
    wait_idle(page)
    assert float(query_of(page)["at"][0]) == pytest.approx(150, abs=3)
    lines = page.locator(".models-crosshair:visible")
    expect(lines).to_have_count(4)
    at = float(query_of(page)["at"][0])
    first = page.locator(
        ".models-crosshair-table tbody tr", has_text="normal interruption"
    ).locator("td")
    exact = SCHEMES["normal"].solve("exact", [at], interrupt_us=1.0)
    assert first.all_inner_texts() == [
        f"{100 * exact.cpu_left[0]:.3g}", f"{exact.latency_mean_us[0]:.3g}", "\u2013", "< 0.01",
        "exact",
    ]  # fmt: skip
    title = page.evaluate("wattlas.plot('models-stack').layout.title.text")
    assert title.startswith(f"CPU at {float(query_of(page)['at'][0]):.3g} Kpps")

    # A zoom applies to all panels and is in the link; a double click resets it.
    page.evaluate("Plotly.relayout(wattlas.plot('models-cpu'), {'xaxis.range': [20, 90]})")
    wait_idle(page)
    axes = "['throughput', 'latency', 'loss', 'best'].map((name) => wattlas.plot('models-' + name)"
    assert page.evaluate(axes + ".layout.xaxis.range)") == [[20, 90]] * 4
    assert query_of(page)["zoom"] == ["20~90"]
    # However long the page is busy with the first of both clicks.
    patience = "(ms) => { const gd = wattlas.plot('models-cpu'); gd._mouseDownTime = 0; "
    patience += "gd._context.doubleClickDelay = ms; }"
    page.evaluate(patience, 60_000)
    page.mouse.dblclick(box["x"] + box["width"] * 0.7, box["y"] + 40)
    wait_idle(page)
    page.evaluate(patience, 300)
    assert "zoom" not in query_of(page)

    page.get_by_label("latency limit, us").fill("15")
    page.get_by_label("latency limit, us").press("Enter")
    wait_idle(page)
    shown = page.url
    words = page.locator("main").inner_text()
    page.goto(shown)
    wait_idle(page)
    assert page.url == shown
    assert page.locator("main").inner_text() == words
    again = page.evaluate(LINE, ["throughput", "normal interruption", "exact"])
    assert again == after
    assert page.evaluate(LINE, ["latency", "hybrid (proposed)", "paper"])

    choose(page, "curves", "11a")
    wait_idle(page)
    curves = page.get_by_role("combobox", name="curves", exact=True)
    expect(curves).to_be_focused()
    line = page.evaluate(LINE, ["latency", "8 packets", "exact"])
    wanted = SCHEMES["count_coalescing"].solve("exact", line["x"], count=8).latency_mean_us
    assert line["y"] == pytest.approx(wanted, rel=1e-6)
    assert query_of(page)["fig"] == ["11a"]
    assert "p" not in query_of(page)

    # The menu by keys: Escape closes its list and does nothing else, Enter takes an entry.
    shown = curves.inner_text()
    for keys in (["ArrowDown", "Home", "Escape"], ["Enter", "Home", "Enter"]):
        expect(curves).to_have_text(shown)
        page.keyboard.press(keys[0])
        # Until then its first entry is not yet pointed at.
        expect(curves).to_have_attribute("aria-expanded", "true")
        for key in keys[1:]:
            page.keyboard.press(key)
        expect(curves).to_have_attribute("aria-expanded", "false")
        expect(curves).to_be_focused()
    wait_idle(page)
    expect(curves).to_have_text("schemes of the legend")
    assert "fig" not in query_of(page)


def three(value: float) -> str:
    """Write a number as the page does: three digits, without zeros at the end."""
    return f"{float(f'{value:.3g}'):g}"


def test_the_questions_are_answered_with_the_numbers_of_the_models(
    page: Page, logged_address: str
) -> None:
    opened(page, logged_address, "?workload=memcached&at=60")
    itr, polling, exact, runs = page.locator(".models-question p").all_inner_texts()
    rate = 0.06
    first = SCHEMES["disable_enable"].solve("exact", [60], setup="parts")
    longest = int(re.findall(r"an ITR up to (\d+) us", itr)[0])
    means = [
        first.latency_mean_us[0] + rate * us**2 / 2 / packets_per_interrupt(rate, us)
        for us in (US_PER_ITR_US * longest, US_PER_ITR_US * (longest + 2))
    ]
    assert means[0] <= 100 < means[1]
    assert f"at most {three(means[0])}; {three(first.latency_mean_us[0])} us without" in itr

    paying = float(re.findall(r"From ([\d.]+) Kpps on pure polling", polling)[0])
    around = [paying * 0.99, paying * 1.01, 60.0]
    own = SCHEMES["disable_enable"].solve("exact", around).cpu_left
    polls = SCHEMES["pure_polling"].solve("paper", around).cpu_left
    assert (polls > own).tolist() == [False, True, True]
    assert f"{three(100 * polls[2])} % against {three(100 * own[2])} % at 60 Kpps" in polling
    assert "150 instead of 187 Kpps" in polling
    assert "hybrid polls from 120 Kpps on" in polling

    latency = {
        kind: SCHEMES["normal"].solve(kind, [60]).latency_mean_us[0] for kind in ("exact", "paper")
    }
    ratio = latency["exact"] / latency["paper"]
    assert f"{ratio:.2f} times the formula's for normal interruption" in exact
    assert f"({three(latency['exact'])} against {three(latency['paper'])} us" in exact

    drawn = page.evaluate("wattlas.models.page.runs.points")
    pairs = zip(drawn["interrupts_per_s"], drawn["interrupts_predicted_per_s"], strict=True)
    ratios = sorted(one / other for one, other in pairs if one is not None and other)
    assert f"interrupts are {ratios[round((len(ratios) - 1) / 2)]:#.3g} times" in runs

    # The loads of the runs, in the unit of the crosshair: the median.
    loads = np.array(drawn["load_qps"], dtype=float)
    mine = np.sort(np.array(drawn["lam_kpps"])[loads == 600_000])
    page.get_by_role("button", name="600k QPS", exact=True).first.click()
    wait_idle(page)
    assert query_of(page)["at"] == [f"{mine[len(mine) // 2]:.3g}"]
    expect(page.get_by_label("my load, Kpps a queue")).to_have_value(query_of(page)["at"][0])
    assert (
        f"At {query_of(page)['at'][0]} Kpps"
        in page.locator(".models-question p").first.inner_text()
    )

    # A click shows the picture.
    page.get_by_role("button", name="show: When does polling pay?").click()
    wait_idle(page)
    assert query_of(page)["scheme"] == ["disable_enable,pure_polling,hybrid"]
    expect(page.locator(".models-marked")).to_have_attribute("data-view", "models-cpu")
    shapes = page.evaluate("wattlas.plot('models-cpu').layout.shapes.map(({ x0 }) => x0)")
    assert shapes == [120]
    jump = page.evaluate(LINE, ["throughput", "hybrid (proposed)", "paper"])
    at = jump["x"].index(120)
    wanted = SCHEMES["hybrid"].solve("paper", jump["x"][at - 1 : at + 1]).throughput_kpps
    assert jump["y"][at - 1 : at + 1] == pytest.approx(wanted, rel=1e-9)
    # The axis of losses follows them: 1 % where there is none.
    ends = []
    for to in (100, 300):
        page.evaluate("(to) => wattlas.models.set({ to })", to)
        wait_idle(page)
        ends.append(page.evaluate("wattlas.plot('models-loss')._fullLayout.yaxis.range[1]"))
    assert ends[0] == 1 < 30 < ends[1]
    # The assumptions are folded.
    assumptions = page.locator(".models-assumptions")
    assert assumptions.get_attribute("open") is None
    assumptions.locator("summary").click()
    expect(page.get_by_label("Q, quota of a poll").first).to_be_visible()
    expect(page.locator(".models-slider", has_text="1/mu").locator(".models-ours")).to_have_count(0)
    expect(assumptions.locator("label", has_text="ticks in a batch")).to_contain_text("ours")


@pytest.mark.slow
def test_a_scheme_without_a_formula_is_simulated_when_it_is_switched_on(
    page: Page, logged_address: str
) -> None:
    opened(page, logged_address, "?scheme=none&to=40&at=20&runs=0&seed=7")
    note = page.locator(".models-panel-latency .models-needs")
    page.locator('[data-scheme="itr_throttle"]').click()
    # Something is drawn at once, and stays until the curve is there.
    expect(note).to_have_text(re.compile("^ITR throttle: simulat(e, \\d+ s|ing)$"))
    expect(page.locator("#models-status")).to_contain_text("simulated: 1 curve")
    expect(note).to_be_hidden()
    wait_idle(page)
    line = page.evaluate(LINE, ["latency", "ITR throttle", "simulated"])
    assert len(line["x"]) == 18
    # At the crosshair's own rate, too.
    assert page.evaluate("wattlas.models.page.at.results[0].rates_kpps") == [20]
    cells = page.locator(".models-crosshair-table tbody tr").first.locator("td")
    assert cells.last.inner_text() == "simulated"
    assert re.fullmatch(r"[\d.]+ \u00b1 [\d.]+", cells.nth(2).inner_text())
    # What is known is there when the link is opened again, though it starts no simulation.
    assert "sim" not in query_of(page)
    page.goto("about:blank")
    opened(page, logged_address, "?scheme=napi,itr_throttle&to=40&at=20&runs=0&seed=7")
    assert page.evaluate(LINE, ["latency", "ITR throttle", "simulated"]) == line
    expect(note).to_have_text("NAPI polling: simulate, 3 s")
    expect(page.locator(".models-crosshair-table")).to_contain_text("simulate, 3 s")


@pytest.mark.slow
def test_bursty_traffic_has_a_load_of_0_to_1_and_the_readers_frame_sizes(
    page: Page, logged_address: str
) -> None:
    opened(page, logged_address, "?fig=10&to=220&seed=3")
    ticks, words = page.evaluate(
        "(({ tickvals, ticktext, title }) => [tickvals.map((x, i) => [x, Number(ticktext[i])]), "
        "title.text])(wattlas.plot('models-throughput').layout.xaxis)"
    )
    assert [load for _, load in ticks] == [0, 0.2, 0.4, 0.6, 0.8, 1]
    assert [rate for rate, _ in ticks] == pytest.approx(
        [load * 216.6 for _, load in ticks], rel=1e-3
    )
    assert words.startswith("rho")
    assert "chosen by us: what load is" in page.locator("#models-host-words").inner_text()

    page.locator('[data-tab="traffic"]').click()
    wait_idle(page)
    periods = page.evaluate("wattlas.modelsTraffic.onPeriods(0.5, 200, 3)")
    wanted = on_periods(0.5, 200.0, 3)
    assert [source for source, _, _ in periods] == [source for source, _, _ in wanted]
    assert np.array(periods) == pytest.approx(np.array(wanted), rel=1e-9)
    rows = page.locator("#models-table1 tbody tr")
    assert " ".join(rows.nth(5).inner_text().split()) == "0.6 5.2582 7.1252 6.192 0.934 15 \u2013"

    box = page.get_by_label("frame sizes, bytes and share, one a line")
    box.fill("bytes,share\n64,three")
    page.get_by_role("button", name="use these").click()
    expect(page.locator("#models-controls [role=status]")).to_contain_text('"64,three" is no size')
    box.fill("bytes,share\n64,3\n1500,1")
    page.get_by_role("button", name="use these").click()
    wait_idle(page)
    assert query_of(page)["sizes"] == ["64:3,1500:1"]
    title = page.evaluate("wattlas.plot('models-sizes').layout.title.text")
    assert title.startswith("Frame sizes, mean 423 bytes")
    link = page.evaluate("wattlas.models.linkKpps()")
    assert link == pytest.approx(link_kpps([(64, 3), (1500, 1)]))


@pytest.mark.slow
def test_a_simulation_ends_and_can_be_cancelled(page: Page, logged_address: str) -> None:
    opened(page, logged_address, "?scheme=ideal,napi&to=60&runs=0")
    page.locator("#models-simulate").click()
    expect(page.locator("#models-status")).to_contain_text("simulated: 2 curves")
    wait_idle(page)
    found = page.evaluate(LINE, ["latency", "NAPI polling", "simulated"])
    assert len(found["x"]) == 18
    assert all(8 < y < 30 for y in found["y"])
    assert query_of(page)["sim"] == ["1"]
    # A rate is simulated when the crosshair moves there.
    page.get_by_label("my load, Kpps a queue").fill("33")
    page.get_by_label("my load, Kpps a queue").press("Enter")
    wait_idle(page)
    assert page.evaluate("wattlas.models.page.at.results[0].rates_kpps") == [33]
    # p99 has simulated points only; the strip then takes them too.
    page.get_by_role("button", name="p99").click()
    wait_idle(page)
    assert page.evaluate(LINE, ["latency", "ideal", "exact"]) is None
    assert min(page.evaluate(LINE, ["latency", "NAPI polling", "simulated"])["y"]) > 25

    # Rates near saturation take long, so all schemes are still running when they are cancelled.
    opened(page, logged_address, f"?scheme={','.join(SCHEMES)}&to=188&runs=0&seed=3")
    page.locator("#models-simulate").click()
    expect(page.locator("#models-simulate")).to_have_text("cancel")
    page.locator("#models-simulate").click()
    expect(page.locator("#models-status")).to_contain_text("simulation cancelled")
    expect(page.locator("#models-simulate")).to_have_text("simulate")
    assert "sim" not in query_of(page)


@pytest.mark.slow
def test_energy_fit_and_the_measured_host(page: Page, logged_address: str) -> None:
    opened(page, logged_address, "?workload=memcached&tab=energy&multiples=10")
    kinds = page.evaluate("wattlas.plot('models-energy').data.map(({ meta }) => meta.kind)")
    # Three panels of alpha, four detection times each; in each the best frequency and the hatching.
    assert [kinds.count(kind) for kind in ("energy", "best", "saturated")] == [12, 12, 3]
    choose(page, "curves", "")
    drag(page, "work_share", 0.6)
    title = page.evaluate("wattlas.plot('models-energy').layout.title.text")
    # 0.1 + 0.6/sqrt(D) <= 1 from D = 4/9 on, which is below the lowest frequency.
    assert "saturated below" not in title
    drag(page, "detect_share", 0.2)
    # 0.6/sqrt(D) <= 0.8 from D = 9/16 on.
    wait_idle(page)
    title = page.evaluate("wattlas.plot('models-energy').layout.title.text")
    assert "saturated below D = 0.56" in title

    # Runs in the same plane, with the model that is fitted to them.
    kinds = page.evaluate("wattlas.plot('models-plane').data.map(({ meta }) => meta.kind)")
    assert kinds.count("fitted") >= 2
    assert kinds.count("model") >= 3
    title = page.evaluate("wattlas.plot('models-plane').layout.title.text")
    assert re.search(r"measured / model 0\.\d+ to 1\.\d+ for 80 %", title), title

    page.locator('[data-tab="fit"]').click()
    page.locator("table.models-fits").wait_for()
    wait_idle(page)
    words = page.locator("table.models-fits").inner_text()
    assert "not identified" in words
    assert "alpha by instruction" in words
    assert page.evaluate("wattlas.plot('models-predicted').data.length") >= 3
    page.get_by_role("button", name="use as host").first.click()
    wait_idle(page)
    assert query_of(page)["host"] == ["measured"]
    assert "interrupt_us:" in query_of(page)["p"][0]
    assert "service_us:" in query_of(page)["p"][0]
    values = page.evaluate("wattlas.models.values()")
    slider = page.locator('input[data-number="interrupt_us"]')
    expect(slider).to_have_value(f"{values['interrupt_us']:g}")
    assert "tab" not in query_of(page)


@pytest.mark.slow
def test_an_export_follows_its_sliders(page: Page, logged_address: str, tmp_path: Path) -> None:
    opened(page, logged_address, "?workload=memcached&scheme=normal,time_coalescing&at=50")
    with page.expect_download() as download:
        page.get_by_role("link", name="export", exact=True).click()
    out = tmp_path / "models.html"
    download.value.save_as(out)
    page.goto(out.as_uri())
    wait_idle(page)
    tops = [
        page.locator(f".models-exported .{name}").bounding_box()
        for name in ("models-controls", "views")
    ]
    assert len({box["y"] for box in tops if box}) == 1, "the views are beside the controls"
    first = page.evaluate(LINE, ["throughput", "normal interruption", "exact"])
    drag(page, "service_us", 10.0)
    second = page.evaluate(LINE, ["throughput", "normal interruption", "exact"])
    wanted = SCHEMES["normal"].solve("exact", second["x"], service_us=10.0).throughput_kpps
    assert second["y"] == pytest.approx(wanted, rel=1e-9)
    assert max(second["y"]) < max(first["y"])
    # The file holds runs and fits.
    measured = (
        "wattlas.plot('models-itr').data.filter(({ meta }) => meta.kind === 'measured').length"
    )
    assert page.evaluate(measured) == 2
    page.locator('[data-tab="fit"]').click()
    wait_idle(page)
    assert page.locator("table.models-fits tbody tr").count() > 20
    page.locator("#models-bar [data-tab=interrupts]").click()
    wait_idle(page)
    page.locator("#models-simulate").click()
    expect(page.locator("#models-status")).to_contain_text("A simulation needs the server")
    assert json.dumps(page.evaluate("wattlas.models.curves().map(({ label }) => label)")) == (
        '["normal interruption", "coalescing by time"]'
    )


@contextmanager
def held_back(page: Page, what: str) -> Iterator[None]:
    """Hold the server's answers back until the end of the block."""
    held: list[Route] = []
    address = re.compile(f"/models/{what}\\?")
    page.route(address, lambda route: held.append(route))
    try:
        yield
    finally:
        for route in held:
            route.continue_()
        page.unroute(address)


@pytest.mark.slow
def test_nothing_is_said_to_be_absent_before_runs_and_fits_are_there(
    page: Page, logged_address: str
) -> None:
    """A link to the measured host without costs is fitted, and names its system."""
    interrupts, words = page.locator("#models-itr"), page.locator("#models-host-words")
    with held_back(page, "fits"):
        with held_back(page, "runs"):
            page.goto(f"{logged_address}/models?workload=memcached&host=measured")
            expect(interrupts).to_contain_text("reading the runs")
            said = page.locator("main").inner_text()
            assert not re.search(r"\bno runs?\b", said, re.IGNORECASE), said
        expect(words).to_have_text("costs of the 2007 paper: fitting the runs")
        expect(interrupts).to_contain_text("Interrupts of a queue")
    wait_idle(page)
    expect(page.locator("#models-status")).to_contain_text("runs beside the models")
    hosts = page.evaluate("wattlas.models.page.fits.hosts")
    expect(words).to_have_text(f"1/r and 1/mu fitted to {hosts[0]['group']}")
    values = page.evaluate("wattlas.models.values()")
    assert values["interrupt_us"] == pytest.approx(hosts[0]["interrupt_us"], rel=1e-3)
    assert "interrupt_us:" in query_of(page)["p"][0]
    drag(page, "interrupt_us", 1.0)
    expect(words).to_have_text(
        "costs of the link or the sliders: no fit to the shown runs gives them"
    )
    page.locator('[data-toggle="runs"]').click()
    wait_idle(page)
    expect(interrupts).to_contain_text("Runs are not shown.")


@pytest.mark.slow
def test_runs_that_cannot_be_read_are_not_absent(page: Page, logged_address: str) -> None:
    sentence = "The lake is being moved."
    page.route(
        re.compile(r"/models/runs\?"),
        lambda route: route.fulfill(status=503, json={"error": sentence}),
    )
    page.goto(f"{logged_address}/models?workload=memcached")
    wait_idle(page)
    expect(page.locator("#models-itr")).to_contain_text(sentence)
    page.unroute(re.compile(r"/models/runs\?"))

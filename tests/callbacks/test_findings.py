"""Findings through the app: blocks of HTML, figures, the run list, the report, the command line."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from dash import html
from flask import Flask

from app.__main__ import main
from app.explore.state import ExploreState
from app.findings.answer import claims_of, default_state, shares_of
from app.findings.figures.knobs import build_knobs
from app.findings.layout_claims import claims_block, published_block
from app.findings.layout_runs import next_block
from app.findings.page import (
    PAGE,
    update_claims,
    update_effect,
    update_knobs,
    update_next,
    update_order,
    update_published,
    update_status,
)
from app.findings.state import FindingsState
from app.kit.context import Lakes, lake_view
from app.kit.words import order_note
from data.catalogue import SHIPPED
from data.errors import SelectionError
from data.selection import Selection
from data.sweeps import KnobShares, Share
from tests.callbacks.components import by_id, html_texts, texts
from tests.fixtures.lakes import run, suite, write_lake

pytestmark = pytest.mark.usefixtures("here")
NEXT: tuple[Any, ...] = ("energy_j", None, None, None, None)


def rows_of(text: str) -> list[str]:
    """The claims of a block as plain text, one a claim."""
    items = text.split('<li class="')[1:]
    return ["".join(html_texts(f"<{item}")) for item in items if "data-claim=" in item[:120]]


def test_claims_are_listed_with_n_in_every_row() -> None:
    rows = rows_of(update_claims({}, 0))
    assert len(rows) > 10
    for row in rows:
        assert re.search(r"n = \d", row), row
        assert re.search(r"1 of \d+ claims", row), row
    library = next(row for row in rows if "lowers energy against Linux default" in row)
    # 600 J x 1.3 = 780 J against 2,500 J, without any spread
    assert "Library OS with ITR" in library
    assert "against Linux default: \N{MINUS SIGN}68.8 %" in library


@pytest.mark.parametrize(
    ("settings", "runs", "reason"),
    [
        ((2.0, 4.0, 8.0), 1, "each setting has one run (n = 1)"),
        ((2.0,), 3, "no two runs of like workloads differ in a setting"),
    ],
)
def test_where_there_is_no_claim_the_reason_is_named(
    settings: tuple[float, ...], runs: int, reason: str, tmp_path: Path
) -> None:
    rows = [
        run(itr_us=itr, replicate=r, energy_j=900.0 + itr + r, performance_metric="duration_s")
        for itr in settings for r in range(runs)
    ]  # fmt: skip
    view = Lakes(write_lake(tmp_path / "lake", rows)).at(None)
    (note,) = claims_block(view, default_state(view))
    assert reason in note.children
    assert ("3 more runs, one of each setting" in note.children) == (runs == 1)


def test_runs_that_are_no_replicates_make_no_claim_and_no_list(tmp_path: Path) -> None:
    """The runs of the first two settings deviate by factors of 10 and more."""
    energies = {
        2.0: (2.0, 30.0, 800.0), 4.0: (500.0, 5e3, 5e4), 8.0: (900.0, 905.0, 910.0),
        16.0: (950.0, 955.0, 960.0),
    }  # fmt: skip
    rows = [
        run(itr_us=itr, replicate=r, energy_j=joules)
        for itr, own in energies.items() for r, joules in enumerate(own)
    ]  # fmt: skip
    alone = [{**row, "latency_p99_us": None, "duration_s": None} for row in rows[:6]]
    lakes = {name: Lakes(write_lake(tmp_path / name, own)).at(None)
             for name, own in (("alone", alone), ("unlike", rows[:6]), ("some", rows))}  # fmt: skip
    view = lakes["unlike"]
    state = default_state(view)
    assert {one.metric for one in claims_of(view, state)} == {"latency_p99_us"}
    why = "the runs of 2 settings are no replicates: something that is no setting here may have"
    (note,) = claims_block(lakes["alone"], default_state(lakes["alone"]))
    assert note.children.startswith(f"There is no claim: {why}")
    (note,) = next_block(view, state)
    assert note.children.startswith(f"No list: {why}")
    assert all(one.metric != "energy_j" for _, each in shares_of(view, state) for one in each)
    # The energies of the other two settings are judged; the lowest level is not compared.
    view = lakes["some"]
    state = default_state(view)
    energy = [one for one in claims_of(view, state) if one.metric == "energy_j"]
    settings = [member.values["itr_us"] for one in energy for member in one.settings]
    assert set(settings) <= {8.0, 16.0}
    (note,) = next_block(view, state)
    assert note.children.startswith("No list: the runs of ")


def test_papers_claims_have_n_or_say_why_none() -> None:
    rows = rows_of(update_published({}, 0))
    assert len(rows) == 85
    for row in rows:
        assert re.search(r"n = \d|no runs|model output|printed values", row), row
    assert any("no polling runs in this lake" in row for row in rows)


def test_papers_claims_are_folded_where_no_run_decides_one(tmp_path: Path) -> None:
    (folded,) = published_block(Lakes(suite(tmp_path / "lake")).at(None))
    assert isinstance(folded, html.Details)
    assert len([text for text in texts(folded) if text == "rule"]) == 85
    assert len(published_block(lake_view(None))) > 1, "a lake with runs of the papers"


def test_knobs_are_those_of_power_where_no_run_has_an_energy(tmp_path: Path) -> None:
    rows = [
        run(itr_us=itr, replicate=r, energy_j=None, power_w=50.0 + itr + r / 10)
        for itr in (2.0, 50.0)
        for r in range(2)
    ]
    assert default_state(Lakes(write_lake(tmp_path / "lake", rows)).at(None)).metric == "power_w"
    assert default_state(lake_view(None)).metric == "energy_j"


def test_a_filter_hides_claims_and_changes_none() -> None:
    everything, some = (rows_of(update_claims(raw, 0)) for raw in ({}, {"system": ["linux_tuned"]}))
    assert 0 < len(some) < len(everything)
    assert set(some) <= set(everything)
    assert update_status({}, 0) != update_status({"system": ["linux_tuned"]}, 0)


def test_without_a_tail_latency_there_is_nothing_to_limit(tmp_path: Path) -> None:
    view = Lakes(suite(tmp_path / "lake")).at(None)
    layout = PAGE.layout(view, FindingsState(), "")
    assert by_id(layout, "findings-limit").type == "hidden"
    assert "p99 latency: at most" not in texts(layout)
    assert "p99 latency: at most" in texts(PAGE.layout(lake_view(None), FindingsState(), ""))


def test_a_claims_link_opens_its_runs_in_explore_within_the_limit() -> None:
    links = re.findall(r'<a class="plain" href="([^"]+)"', update_claims({"limit": "200"}, 0))
    assert links
    for link in links:
        state = ExploreState.from_query(urlsplit(link.replace("&amp;", "&")).query, SHIPPED)
        assert state.selection.values("workload") == ("memcached",)
        assert set(state.selection.values("system")) <= {
            "linux_tuned", "ebbrt_tuned", "linux_default",
        }  # fmt: skip
    assert any("limit=200" in link for link in links)
    assert any("sel=knobs" in link for link in links)
    # A claim of a knob over several cells shows the runs of its two levels.
    queries = [parse_qs(urlsplit(link.replace("&amp;", "&")).query) for link in links]
    levels = [query["itr"] for query in queries if "itr" in query]
    assert levels
    assert {len(set(pair)) for pair in levels} == {2}
    assert not any("sel" in query for query in queries if "itr" in query)


def test_knobs_are_drawn_by_sweep_and_metric() -> None:
    answer, entries = update_knobs({}, "energy_j", 0)
    words = [entry["label"] for entry in entries]
    assert "Linux tuned, memcached, 200k QPS" in words
    bars = answer["figure"]["data"]
    assert {trace["type"] for trace in bars} == {"bar"}
    # Two sweeps, and energy, p99 and their product for each
    assert len(bars) == 6
    first = dict(zip(bars[0]["y"], bars[0]["x"], strict=True))
    assert first["DVFS"] > 95
    opens = dict(zip(bars[0]["y"], bars[0]["meta"]["opens"], strict=True))
    assert opens["DVFS"][1] == "dvfs_ghz"
    assert opens["noise"] is None


@pytest.mark.parametrize(("runs", "last"), [(4, "noise: not known"), (8, "noise")])
def test_noise_is_known_where_a_setting_was_measured_twice(runs: int, last: str) -> None:
    parts = ((Share("cores", 1.0, None, None, None),), (), 0.0, 0.0, (), (), False, 1.0)
    shares = KnobShares("energy_j", "x", 4, runs, *parts)
    (bars,) = build_knobs([("a", "x", [shares])], {"energy_j": "Energy"}, {})["data"]
    assert bars["y"] == ["cores", "rest", last]
    known = dict(zip(bars["y"], (words[0] for words in bars["meta"]["words"]), strict=True))
    assert known[last] == shares.noise_words
    assert ("not known" in known[last]) == (runs == 4)


def test_the_effect_of_a_knob_has_a_line_for_each_level_of_another() -> None:
    answer, knobs, across = update_effect({}, "energy_j", None, "dvfs_ghz", "itr_us", 0)
    lines = answer["figure"]["data"]
    assert [line["name"] for line in lines] == ["2", "50", "100"]
    assert [line["x"] for line in lines] == [["1.3", "2.9"]] * 3
    assert {entry["value"] for entry in knobs} == {"itr_us", "dvfs_ghz"}
    assert [entry["value"] for entry in across] == ["", "itr_us"]


def test_next_runs_and_order_are_sentences() -> None:
    said = update_next({}, *NEXT, 0)
    assert "may be the best" in said
    assert "more run" in said or "No more runs are needed" in said
    order = update_order({}, False, 0)
    assert "change with the order of runs" in order
    assert "Odd runs" in order


def test_the_run_list_is_the_same_on_the_page_and_on_the_command_line(
    server: Flask, grid: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    query = "v=2&metric=latency_p99_us&budget=4"
    served = server.test_client().get(f"/findings/list.csv?{query}")
    out = tmp_path / "runs.csv"
    assert main(["plan", "--lake", str(grid), "--state", query, "-o", str(out)]) == 0
    assert served.status_code == 200
    assert served.text == out.read_text("utf-8")
    assert re.match(r"# seed \d+, lake version 1, best latency_p99_us of ", served.text)
    words = capsys.readouterr().err
    assert "more run" in words or "No more runs" in words


def test_the_list_of_an_earlier_version_says_what_is_left(
    grid: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Version 1 has one run more, at another load: nothing of the list of version 0 was made."""
    asked = ["plan", "--lake", str(grid), "--state", "load=200000", "--budget", "3"]
    assert main([*asked, "--since", "0"]) == 0
    words = capsys.readouterr().err
    found = re.search(r"(\d+) of (\d+) runs are left", words)
    assert found is None or found[1] == found[2]


def test_a_bad_budget_is_refused(grid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--lake", str(grid), "--budget", "0"]) == 2
    assert "budget is '0'" in capsys.readouterr().err
    with pytest.raises(SelectionError, match="limit is -1"):
        FindingsState.from_query("limit=-1", SHIPPED)
    with pytest.raises(SelectionError, match="no such knob"):
        FindingsState.from_query("knob=nothing", SHIPPED)


def test_a_lake_without_a_sweep_has_no_list(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_lake(tmp_path / "lake", [])
    assert main(["plan", "--lake", str(path)]) == 1
    assert "no sweep with two settings" in capsys.readouterr().err


def test_the_export_is_a_report_with_a_date_and_what_stayed_open(server: Flask) -> None:
    text = server.test_client().get("/findings/export.html").text
    assert re.search(r"lake lake, version 1 of 20\d\d-\d\d-\d\d\. Filters: all runs\.", text)
    opened = text.partition("Questions that stayed open")[2].partition("</section>")[0]
    assert "000-O1" in opened
    assert "no polling runs in this lake" in opened
    assert 'href="/?v=' not in text


def test_its_link_keeps_the_state() -> None:
    query = "v=2&workload=memcached&limit=200&knob=itr_us&across=dvfs_ghz&budget=40&odd=1"
    state = FindingsState.from_query(query, SHIPPED)
    assert (state.limit, state.knob, state.budget, state.without_odd) == (200.0, "itr_us", 40, True)
    assert parse_qs(state.to_query()) == parse_qs(query)
    assert PAGE.path == "/findings"


def test_every_page_with_filters_warns_where_the_order_of_runs_shows(tmp_path: Path) -> None:
    """Energy falls by 10 % from the first replicate to the last, at one of two loads."""
    rows = [
        run(itr_us=10.0 * i, load_qps=load, replicate=r,
            energy_j=(1000.0 + i) * (1 - slope * r / 2) + 0.01 * ((7 * i + r) % 5))
        for load, slope in ((200e3, 0.1), (400e3, 0.0))
        for i in range(1, 13) for r in range(3)
    ]  # fmt: skip
    view = Lakes(write_lake(tmp_path / "lake", rows)).at(None)
    said = order_note(view, Selection())
    assert said.startswith("The order of runs shows in one choice here, by up to ")
    assert "Energy of memcached, 200k QPS" in said
    assert order_note(view, Selection.of(load=[400e3])) == ""
    assert order_note(view, Selection.of(load=[200e3])) == said

"""Modes as its callbacks and downloads answer, on a lake worked by hand (see conftest)."""

import io
import json
import re
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import numpy as np
import polars as pl
import pytest
from flask import Flask
from flask.testing import FlaskClient
from scipy import stats

from app.explore.state import ExploreState
from app.explore.views import picture
from app.kit.clause import read_clause
from app.kit.columns import compact_figure
from app.kit.context import Lakes, lake_view
from app.kit.lake_view import LakeView
from app.kit.links import configurations
from app.kit.settings import Settings
from app.kit.url_state import take_filters
from app.modes.answer import answer
from app.modes.defaults import chosen, for_workload, offered_knobs, offered_metrics
from app.modes.layout import IDS, correction_choices, metric_choices
from app.modes.opening import default_state, open_link
from app.modes.page import PAGE, change_workload, update_evidence, update_filters, update_map
from app.modes.payload import judge
from app.modes.state import ModesState
from app.serve.index import open_layout
from app.server import create_app
from data.catalogue import SHIPPED
from data.selection import Selection
from tests.callbacks.components import by_id, flask_of, texts, walk
from tests.fixtures.lakes import run, write_lake
from tests.fixtures.pictures import decode

LATEST = 1
AT_200K = {"dataset": ["tiny"], "workload": ["memcached"], "load": [200_000]}
STUDENT = {"test": "student", "corr": "none"}
P99 = {**AT_200K, **STUDENT, "x": "itr", "y": "dvfs", "who": "system", "metric": "latency_p99_us"}
CELL = 'knobs~{"dvfs_ghz":2.9,"itr_us":50}'
NOWHERE = urlencode({"sel": 'knobs~{"dvfs_ghz":2.9,"itr_us":7}'})
FILTERS = tuple(name for name in ModesState.filters(SHIPPED) if name not in ("dataset", "workload"))
MODES = ("interrupt", "poll", "hybrid")


def csv(client: FlaskClient, address: str) -> pl.DataFrame:
    got = client.get(address)
    assert got.status_code == 200, got.text
    return pl.read_csv(io.BytesIO(got.data))


def storage_rows() -> list[dict]:
    """Three modes over request size x depth, two accesses: poll moves most bytes a joule by far."""
    return [
        run(workload="fio", loop="closed", system="linux", mode=mode, request_bytes=size,
            io_depth=depth, threads=depth, rw=rw, device="optane", replicate=r, load_qps=None,
            itr_us=None, dvfs_ghz=None, rapl_w=None, performance_metric="latency_mean_us",
            latency_mean_us=10.0, duration_s=10.0, energy_j=400.0 + r,
            bandwidth_bytes_s=1e6 * size * (2 if mode == "poll" else 1))
        for mode in MODES for size in (4096, 8192) for depth in (1, 8)
        for rw in ("randread", "randwrite") for r in range(3)
        if (rw, r) != ("randwrite", 2)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Flask:
    lake = write_lake(tmp_path_factory.mktemp("storage") / "lake", storage_rows())
    write_lake(lake, [run(replicate=r, system=s) for s in ("a", "b") for r in range(99)])
    return flask_of(lake)


def test_of_many_names_a_map_has_those_with_the_largest_leads(tmp_path: Path) -> None:
    # System b needs k percent more energy on machine k.
    rows = [run(machine=f"m{k:02}", system=system, dvfs_ghz=1.3, replicate=r,
                energy_j=100.0 + r / 100 + k * (system == "b"))
            for k in range(41) for system in ("a", "b") for r in (0, 1)]  # fmt: skip
    view = Lakes(write_lake(tmp_path, rows)).at(None)
    state = ModesState(x="machine", y="dvfs", competitor="system", metric="energy_j")
    shown = answer(view, state)
    assert shown.winners["layout"]["meta"]["map"]["xs"] == [f"m{k}" for k in range(25, 41)]
    assert "16 of 41 machines: the largest leads" in shown.winners["layout"]["title"]["text"]
    assert "41 cells" in shown.status


@pytest.mark.usefixtures("here")
class TestOnTheGrid:
    def test_the_first_view_has_the_axes_with_most_to_compare(self) -> None:
        view = lake_view(None)
        state = default_state(view)
        # ITR x DVFS: systems meet in 6 of 7 cells; load x DVFS: in 2 of 4. The load that is no
        # axis is held at the one of most runs.
        assert (state.x, state.y, state.competitor, state.metric) == (
            "itr", "dvfs", "system", "energy_j",
        )  # fmt: skip
        assert state.selection.values("load") == (200_000.0,)
        assert answer(view, state).status == ("26 of 28 runs · 7 cells: 6 won, 1 alone")

    def test_what_can_be_asked_varies_in_the_lake(self) -> None:
        view = lake_view(None)
        state = ModesState(Selection.of(workload=["memcached"]))
        knobs = [knob.name for knob in offered_knobs(view, state)]
        assert knobs == ["load", "system", "itr", "dvfs"]
        metrics = offered_metrics(view, state)
        assert {"energy_j", "latency_p99_us", "edp_js", "ipc"} <= set(metrics)
        assert not {"iops", "rx_bytes"} & set(metrics)

    def test_the_map_and_its_cells_come_together(self) -> None:
        winners, shares, pareto, findings, status = update_map(P99, LATEST)
        words = "Nobody has least p99 latency in any of 7 cells; 6 tied; 1 with one alone."
        assert texts(findings[0]) == [words]
        cells, winners = winners["columns"], winners["figure"]
        shares, pareto = shares["figure"], pareto["figure"]
        assert winners["layout"]["meta"]["kind"] == "map"
        assert len(decode(cells["knobs"]["itr_us"]["index"])) == 7
        # p99 = 60 + ITR + replicate for both systems: six ties, and the default alone.
        knob = cells["knobs"]["outcome"]
        outcomes = [knob["values"][i] for i in decode(knob["index"])]
        assert sorted(outcomes) == ["alone"] + ["tie"] * 6
        assert [t["name"] for t in shares["data"][-2:]] == ["tie", "one alone"]
        # The metric is the workload's performance itself: the Pareto view shows energy.
        titles = [pareto["layout"][axis]["title"]["text"] for axis in ("xaxis", "yaxis")]
        # Student's test is of arithmetic means.
        assert titles[0] == "Energy, J (less is better) \N{MIDDLE DOT} arithmetic means"
        assert titles[1].endswith("arithmetic means")
        assert status.endswith("7 cells: 6 tied, 1 alone")
        json.dumps([cells, winners, shares, pareto])

    def test_the_evidence_of_a_cell(self) -> None:
        raw = {**P99, "metric": "energy_j"}
        picture, table = update_evidence(CELL, raw, LATEST)
        figure = picture["figure"]
        # 2.9 GHz: library OS 1,740 J, Linux tuned 2,900 J, no spread: 40 % and 1,160 J less.
        words = texts(table)
        assert words[0] == (
            "Library OS wins over Linux tuned (Energy \N{MINUS SIGN}40.0 %, 1.16 kJ less)."
        )
        assert "p = 0" in words[1]
        assert "n = 2 and 2" in words[1]
        replicates = next(t for t in figure["data"] if t["meta"]["kind"] == "replicates")
        assert sorted(decode(replicates["y"]).tolist()) == [1740.0, 1740.0, 2900.0, 2900.0]
        assert "2 runs" in words

    def test_links_to_explore_show_just_the_runs_behind(self) -> None:
        _, table = update_evidence(CELL, P99, LATEST)
        links = [c for c in walk(table) if getattr(c, "className", "") == "to-explore"]
        shown = []
        for link in links:
            state = ExploreState.from_query(urlsplit(link.href).query, SHIPPED)
            found = picture("scatter", lake_view(LATEST), state)
            assert decode(found["columns"]["runs"]).sum() == 2
            shown.append(decode(found["columns"]["fields"]["latency_p99_us"]).tolist())
        # Two systems, each with its one setting in the cell: p99 110 and 111 us.
        assert shown == [[110.5], [110.5]]
        whole = ExploreState.from_query(
            urlsplit(by_id(table, "cell-in-explore").href).query, SHIPPED
        )
        runs = picture("scatter", lake_view(LATEST), whole)["columns"]["runs"]
        assert decode(runs).sum() == 4

    def test_without_a_cell_the_closest_contest_is_open(self) -> None:
        picture, table = update_evidence("", {**P99, "metric": "energy_j"}, LATEST)
        figure = picture["figure"]
        # Energy is 600 W/GHz against 1,000 in every cell but the default's: 40 % less in all.
        assert figure["layout"]["title"]["text"].startswith("closest: ITR 2 us · 1.3 GHz")
        assert texts(table)[0].startswith("Library OS wins over Linux tuned")
        _, table = update_evidence('won~"ebbrt_tuned"', P99, LATEST)
        assert texts(table)[0].startswith("No cell of this map was compared.")
        _, table = update_evidence('knobs~{"dvfs_ghz":2.9,"itr_us":7}', P99, LATEST)
        assert texts(table) == ["Nothing was measured in this cell under these filters."]
        _, table = update_evidence('knobs~{"dvfs_ghz":2.9,"itr_us":"seven"}', P99, LATEST)
        assert texts(table) == ["Nothing was measured in this cell under these filters."]

    def test_by_the_rule_of_today_a_cell_says_what_the_runs_prove(self) -> None:
        raw = {**P99, "test": "sets", "corr": "benjamini-hochberg", "metric": "energy_j"}
        picture, _, _, findings, status = update_map(raw, LATEST)
        # 1,740 against 2,900 J at 2.9 GHz, 780 against 1,300 at 1.3 GHz, without any spread.
        assert status.endswith("7 cells: 6 won, 1 alone")
        assert texts(findings[0])[0].startswith("Library OS has least energy in 6 of 7 cells")
        assert "-40.0 %".replace("-", "\N{MINUS SIGN}") in texts(findings[1])[0]
        rules = picture["columns"]["rules"]
        assert (rules["test"], rules["margin"], rules["limit"]) == ("sets", 2.0, "")
        _, table = update_evidence(CELL, raw, LATEST)
        assert texts(table)[0].startswith(
            "Library OS wins over Linux tuned (Energy \N{MINUS SIGN}40.0 % ["
        )
        # p99 is 60 us + ITR + replicate of both systems: equal means.
        _, table = update_evidence(CELL, {**raw, "metric": "latency_p99_us"}, LATEST)
        words = texts(table)[0]
        assert words.startswith(("Undecided: ", "Equivalent: "))

    def test_a_limit_leaves_the_cells_that_meet_it(self) -> None:
        # p99 is 62, 110 and 160 us at ITR 2, 50 and 100.
        raw = {**P99, "metric": "energy_j", "limit": 120, "by": "latency_p99_us"}
        picture, *_, status = update_map(raw, LATEST)
        assert "p99 latency at most 120 us" in picture["figure"]["layout"]["title"]["text"]
        assert status.endswith("7 cells: 4 won, 1 alone, 2 over the limit")
        sel = 'knobs~{"dvfs_ghz":2.9,"itr_us":100}'
        _, table = update_evidence(sel, raw, LATEST)
        assert texts(table)[0] == ("No system meets the limit here (p99 latency at most 120 us).")

    def test_each_cell_against_the_default(self) -> None:
        raw = {**P99, "metric": "energy_j", "vs": "default", "itr": [2, 50, 100]}
        picture, shares, *_, status = update_map(raw, LATEST)
        # The default is measured at this load, whatever the filter on the ITR.
        assert status.endswith("6 cells: 6 won")
        who = picture["columns"]["who"]
        assert who["words"][-1] == "the default"
        names = [t["name"] for t in shares["figure"]["data"]]
        assert "the default" in names
        evidence, table = update_evidence(CELL, raw, LATEST)
        assert "the default" in " ".join(texts(table))
        marks = next(t for t in evidence["figure"]["data"] if t["meta"]["kind"] == "means")
        assert len(marks["meta"]["words"]) == 2

    def test_metrics_are_in_groups_without_those_that_nobody_compares(self) -> None:
        view = lake_view(None)
        groups = metric_choices(view, ModesState(Selection.of(workload=["memcached"])))
        listed = {entry["value"] for group in groups for entry in group["items"]}
        assert groups[0]["group"] == "Energy and power"
        assert {"energy_j", "latency_p99_us"} <= listed
        assert not {"power_readings", "energy_uncertainty_j", "start_unix_s"} & listed

    def test_only_the_rule_of_the_papers_is_offered_uncorrected(self) -> None:
        view = lake_view(None)
        for test, is_free in (("student", True), ("sets", False), ("welch", False)):
            offered = [e["value"] for e in correction_choices(view, ModesState(test=test))]  # type: ignore[arg-type]
            assert ("none" in offered) == is_free

    def test_too_few_replicates_are_said(self) -> None:
        raw = {**P99, "metric": "energy_j", "test": "mann-whitney"}
        _, table = update_evidence(CELL, raw, LATEST)
        assert texts(table)[0].startswith("Unproven: Library OS leads")
        assert "the exact Mann-Whitney U test gives no p value below 0.333" in texts(table)[0]

    def test_one_alone_is_no_win(self) -> None:
        _, table = update_evidence('knobs~{"dvfs_ghz":null,"itr_us":null}', P99, LATEST)
        assert texts(table)[0] == (
            "Only Linux default was measured here: there is nothing to compare it with, so no win."
        )

    def test_another_workload_brings_axes_that_mean_something_there(self) -> None:
        raw = {**P99, "load": [200_000]}
        after = change_workload("netpipe", ["tiny"], raw, LATEST, *["?"] * 6)
        # One run of NetPIPE: nothing varies, load and p99 mean nothing there.
        assert after[0][FILTERS.index("load")] == []
        x, y, who, column, limit, limited = after[1:]
        assert (limit, limited) == (None, "performance")
        assert column == "energy_j"
        assert len({x, y, who}) == 3
        state = for_workload(lake_view(LATEST), ModesState.from_json(raw, SHIPPED), "memcached")
        assert (state.x, state.y, state.metric) == ("itr", "dvfs", "latency_p99_us")

    def test_filters_offer_what_is_left(self) -> None:
        found, _ = update_filters({}, {**P99, "system": ["ebbrt_tuned"]}, LATEST)
        assert len(found["menus"]) == 9
        assert found["facets"]["system"]["note"] == "1 of 3 · 12 runs"
        assert found["facets"]["mode"]["isIdle"]
        assert not found["facets"]["itr"]["isIdle"]

    def test_of_several_loads_one_is_compared_and_named(self) -> None:
        raw = {**P99, "load": [200_000, 400_000], "split": "none"}
        winners, *_, status = update_map(raw, LATEST)
        title = winners["figure"]["layout"]["title"]["text"]
        assert "200k QPS of 2 target loads (most complete)" in title
        alone, *_, status_alone = update_map(P99, LATEST)
        assert "most complete" not in alone["figure"]["layout"]["title"]["text"]
        assert status == status_alone

    def test_an_axis_of_one_value_is_a_map_of_one_column(self) -> None:
        picture, *_ = update_map({**P99, "x": "mode"}, LATEST)
        cells, winners = picture["columns"], picture["figure"]
        assert cells["x"]["words"] == ["no mode"]
        assert winners["layout"]["meta"]["labels"]["x"] == ["none"]
        # Two clocks, and the governor that only the default has.
        assert cells["y"]["words"][-1] == "governor"
        assert cells["count"] == len(cells["y"]["values"]) == 3

    def test_cells_are_called_as_pages_call_them(self) -> None:
        raw = {**P99, "x": "system", "y": "dvfs", "who": "itr"}
        cells = update_map(raw, LATEST)[0]["columns"]
        assert cells["x"]["words"][:2] == ["Linux tuned", "Library OS"]
        sel = 'knobs~{"dvfs_ghz":2.9,"system":"ebbrt_tuned"}'
        _, table = update_evidence(sel, raw, LATEST)
        assert "wins over" in texts(table)[0]
        figure = update_evidence(sel, raw, LATEST)[0]["figure"]
        assert figure["layout"]["title"]["text"].startswith("Library OS · 2.9 GHz")

    def test_a_filter_that_leaves_one_setting_lets_systems_compete(self) -> None:
        view = lake_view(None)
        state = ModesState(Selection.of(workload=["memcached"], system=["linux_default"]))
        assert chosen(view, state).competitor == "system"
        assert chosen(view, state).metric == "energy_j"

    def test_filters_that_leave_nothing_name_the_ones_to_clear(self) -> None:
        raw = {**P99, "system": ["linux_default"], "itr": [2]}
        picture, *_ = update_map(raw, LATEST)
        assert picture["columns"] is None
        winners = picture["figure"]
        sentence = winners["layout"]["annotations"][0]["text"].replace("<br>", " ")
        assert "No run has all of these filters" in sentence
        assert "Interrupt delay (ITR) (2 runs)" in sentence

    def test_every_control_has_a_name_for_those_who_listen(self) -> None:
        page = open_layout(PAGE, {"v": "1", "who": "system", "x": "itr", "y": "dvfs"})
        for key in set(ModesState.parameters()) - {"sel", "lake"}:
            found = by_id(page, IDS.control(key))
            assert getattr(found, "aria-label", None) or key in ("alpha", "margin")


def test_modes_come_first_where_any_compete(storage: Flask) -> None:
    with storage.app_context():
        view = lake_view(None)
        state = default_state(view)
        assert (state.x, state.y, state.competitor) == ("request", "depth", "mode")
        assert state.metric == "bytes_per_joule"
        # Of the two accesses the one with more runs; threads go with the depth and stay open.
        assert state.selection.values("rw") == ("randread",)
        assert state.selection.values("threads") == ()
        found = answer(view, state)
        assert found.status == "36 of 258 runs · 4 cells: 4 won"
        assert found.shares["data"][0]["name"] == "classic polling"
        assert "cells mix" not in found.winners["layout"]["title"]["text"]
        title = found.winners["layout"]["title"]["text"]
        assert "best completion mode, fio · optane · randread" in title


def test_a_column_with_a_value_and_null_is_not_constant(tmp_path: Path) -> None:
    rows = [run(mode=mode, replicate=r) for mode in ("poll", None) for r in range(2)]
    view = Lakes(write_lake(tmp_path / "lake", rows)).at(None)
    known = view.constants(Selection.of(load=[1]))
    assert "mode" not in known
    assert known["device"] is None
    assert known["workload"] == "memcached"
    # Both compete, each with its two runs.
    found = judge(view, ModesState(competitor="mode", x="itr", y="dvfs", metric="energy_j"))
    assert found.comparison.contenders.select("competitor", "n").rows() == [("poll", 2), (None, 2)]


def test_idle_runs_compare_by_power(tmp_path: Path) -> None:
    rows = [run(workload="idle", device=d, power_w=w, energy_j=w * s, duration_s=s, load_qps=None)
            for d, w, s in (("disk", 39.0, 60.0), ("optane", 34.0, 600.0))]  # fmt: skip
    view = Lakes(write_lake(tmp_path / "lake", rows)).at(None)
    state = chosen(view, ModesState(Selection.of(workload=["idle"])))
    assert (state.competitor, state.metric) == ("device", "power_w")


def test_knobs_that_go_with_each_other_make_no_axes(storage: Flask) -> None:
    with storage.app_context():
        view = lake_view(None)
    # Threads are as many as the depth: with one request size left, size x depth is one column.
    state = chosen(
        view, ModesState(Selection.of(workload=["fio"], request=[4096], rw=["randread"]))
    )
    assert (state.competitor, state.x, state.y) == ("mode", "request", "depth")
    found = judge(view, state)
    assert [len(values) for values in found.axes] == [1, 2]


def test_an_empty_lake_says_what_to_do(empty_server: Flask) -> None:
    with empty_server.app_context():
        picture, *_, status = update_map({}, -1)
        assert picture["columns"] is None
        winners = picture["figure"]
        text = winners["layout"]["annotations"][0]["text"]
        assert "python -m ingest add" in text.replace("<br>", " ")
        assert status == "0 of 0 runs"
        assert texts(open_layout(PAGE, {}))
        _, table = update_evidence(CELL, {}, -1)
        assert texts(table)[0].startswith("No cell of this map was compared.")


def test_runs_with_a_log_lead_to_their_timeline(tmp_path: Path) -> None:
    rows = [
        run(system=system, replicate=r, energy_j=value + r, run_id=f"{system}{r}", has_log=logged)
        for system, value, logged in (("a", 10.0, True), ("b", 20.0, False))
        for r in (0, 1)
    ]
    server = create_app(Settings(lake=write_lake(tmp_path, rows))).server
    with server.app_context():
        raw = {"x": "itr", "y": "dvfs", "who": "system", "metric": "energy_j"}
        _, table = update_evidence('knobs~{"dvfs_ghz":2.9,"itr_us":2}', raw, 0)
        links = [str(getattr(part, "href", "")) for part in walk(table)]
        view = lake_view(0)
        both, *each = (handed_over(view, link) for link in links if link.startswith("/timeline"))
    assert both.rows() == [("a", 0), ("a", 1)]
    assert [rows.rows() for rows in each] == [[("a", 0)], [("a", 1)]]


def handed_over(view: LakeView, link: str) -> pl.DataFrame:
    """The system and replicate of what a link between pages carries."""
    parameters = parse_qs(urlsplit(link).query)
    assert parameters.pop("v") == ["2"]
    clause = read_clause(parameters.pop("sel")[0])
    selection = take_filters(parameters, catalogue=SHIPPED)
    assert parameters == {}
    rows = configurations(view, selection, clause)
    return rows.select(pl.col("system").cast(pl.String), "replicate")


QUERY = (
    "v=2&dataset=tiny&workload=memcached&load=200000&x=itr&y=dvfs&who=system&metric=latency_p99_us"
)


def test_a_row_a_cell_with_winner_and_runner_up(client: FlaskClient) -> None:
    rows = csv(client, f"/modes/data/winners.csv?{QUERY}")
    assert len(rows) == 7
    cell = rows.filter((pl.col("itr_us") == 50) & (pl.col("dvfs_ghz") == 2.9)).row(0, named=True)
    # 110 and 111 us of both: equal means; of two equals the first by name leads.
    assert (cell["outcome"], cell["winner_system"], cell["runner_up_system"]) == (
        "tie", "ebbrt_tuned", "linux_tuned",
    )  # fmt: skip
    assert (cell["winner_latency_p99_us"], cell["winner_n"], cell["p"]) == (110.5, 2, 1.0)
    alone = rows.filter(pl.col("outcome") == "alone").row(0, named=True)
    assert (alone["runner_up_system"], alone["p"], alone["lead_share"]) == (None, None, None)


def test_the_other_tables(client: FlaskClient) -> None:
    sel = "&" + urlencode({"sel": CELL})
    assert csv(client, f"/modes/data/shares.csv?{QUERY}")["cells"].sum() == 7
    points = csv(client, f"/modes/data/pareto.csv?{QUERY}")
    assert {"itr_us", "dvfs_ghz", "system", "n", "latency_p99_us", "energy_j"} <= set(
        points.columns
    )
    assert len(points) == 13
    evidence = csv(client, f"/modes/data/evidence.csv?{QUERY}{sel}")
    assert sorted(evidence["latency_p99_us"]) == [110, 110, 111, 111]
    assert evidence["is_compared"].all()
    # Without a cell, all cells': each system has one setting in each.
    everywhere = csv(client, f"/modes/data/evidence.csv?{QUERY}")
    assert len(everywhere) == 26
    assert everywhere["is_compared"].all()
    assert len(csv(client, f"/modes/data/runs.csv?{QUERY}")) == 26
    parquet = client.get(f"/modes/data/winners.parquet?{QUERY}")
    assert len(pl.read_parquet(io.BytesIO(parquet.data))) == 7


def test_a_cell_without_runs_has_no_evidence(client: FlaskClient) -> None:
    got = client.get(f"/modes/data/evidence.csv?{QUERY}&{NOWHERE}")
    assert (got.status_code, "nothing was measured in the selected cell" in got.text) == (400, True)


def test_the_words_behind_a_cell_give_its_p_value_again(tmp_path: Path) -> None:
    rows = [
        run(system=system, replicate=r, energy_j=value)
        for system, values in {"a": (10.0, 12.0, 15.5), "b": (14.0, 17.25, 18.0, 16.0)}.items()
        for r, value in enumerate(values)
    ]
    server = create_app(Settings(lake=write_lake(tmp_path, rows))).server
    query = (
        "v=1&x=itr&y=dvfs&who=system&metric=energy_j&test=welch&corr=holm&pick=[%22cell%22,2,2.9]"
    )
    words = server.test_client().get(f"/how/modes/evidence?{query}", follow_redirects=True).text
    lines = re.search(r"^a = .*\nb = .*\n.*\)", words, re.M)
    assert lines, words
    given = {"stats": stats}
    *numbers, call = lines[0].splitlines()
    exec("\n".join(line.split("#")[0] for line in numbers), given)
    p = eval(call, given).pvalue
    expected = stats.ttest_ind([10, 12, 15.5], [14, 17.25, 18, 16], equal_var=False).pvalue
    assert p == pytest.approx(expected)
    assert f"p = {expected:.3g}" in words
    assert "Welch's t test at 5 %, Holm's correction over the cells" in words
    assert "isfinite(energy_j::DOUBLE)" in words


def test_a_figure_s_arrays_travel_as_typed_ones() -> None:
    made = compact_figure({"z": np.arange(6, dtype=np.int64).reshape(2, 3), "x": [np.ones(2)]})
    assert made["z"]["shape"] == "2, 3"
    assert decode(made["z"]).tolist() == [0, 1, 2, 3, 4, 5]
    assert made["x"][0]["dtype"] == "f8"


@pytest.mark.usefixtures("here")
def test_the_cells_are_those_that_were_judged() -> None:
    view = lake_view(LATEST)
    found = judge(view, ModesState.from_json(P99, SHIPPED))
    cells = update_map(P99, LATEST)[0]["columns"]
    for name in ("p", "margin", "effect"):
        expected = found.comparison.cells[name].to_numpy()
        assert decode(cells["cells"][name]).tolist() == pytest.approx(expected, nan_ok=True)
    words = [cells["x"]["words"][i] for i in decode(cells["knobs"]["itr_us"]["index"])]
    assert words[-1] == "ITR adaptive"


@pytest.mark.usefixtures("here")
class TestALinkFromAnotherPage:
    """`sel` of a link is turned into cells of the map."""

    @staticmethod
    def opened(sel: str, **more: str) -> tuple[str, str]:
        link = {"v": "2", "workload": "memcached", "load": "200000", "sel": sel, **more}
        asked = ModesState.from_query(urlencode(link), SHIPPED)
        state, words = open_link(lake_view(None), asked)
        return state.sel, words

    def test_a_box_of_explore_becomes_the_cells_that_hold_it(self) -> None:
        # The library OS at 2.9 GHz: 1,740 J; 62.5 and 110.5 us at ITR 2 and 50.
        sel, words = self.opened("box~latency_p99_us~energy_j~60~120~1700~1800")
        assert (sel, words) == ('knobs~{"dvfs_ghz":2.9,"itr_us":[2,50]}', "")

    def test_configurations_become_their_cells(self) -> None:
        sel, _ = self.opened('knobs~{"system":"ebbrt_tuned","itr_us":50,"dvfs_ghz":1.3}')
        assert sel == 'knobs~{"dvfs_ghz":1.3,"itr_us":50}'
        sel, _ = self.opened('knobs~{"system":"linux_default"}')
        assert sel == 'knobs~{"dvfs_ghz":null,"itr_us":null}'
        sel, _ = self.opened('knobs~{"itr_us":[2,50]}')
        both = '[{"dvfs_ghz":1.3,"itr_us":[2,50]},{"dvfs_ghz":2.9,"itr_us":[2,50]}]'
        assert sel == f"knobs~{both}"

    def test_the_axes_that_the_link_names_are_kept(self) -> None:
        box = "box~latency_p99_us~energy_j~60~120~1700~1800"
        sel, _ = self.opened(box, x="load", y="itr", who="system")
        both = '[{"itr_us":2,"load_qps":200000},{"itr_us":50,"load_qps":200000}]'
        assert sel == f"knobs~{both}"

    @pytest.mark.parametrize("sel", [CELL, "won~null", "outcome~tie", ""])
    def test_a_selection_of_this_page_stays_as_it_is(self, sel: str) -> None:
        assert self.opened(sel) == (sel, "")

    def test_nothing_in_it_is_said(self) -> None:
        assert self.opened("box~latency_p99_us~energy_j~1~2~1~2") == (
            "", "No run under these filters is in the link's selection.",
        )  # fmt: skip

"""Distributions: the map against SQL, the runs that a cell opens, runs unlike their replicates."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from dash import dcc
from flask import Flask

from app.distributions import runs as page_runs
from app.distributions.answer import Answer, explain, recomputed, rows_behind, status_words
from app.distributions.figure import MOST_OPENED, NO_RUN, draw_map
from app.distributions.layout import sibling_table
from app.distributions.runs import DistributionsState, default_state, open_link
from app.findings.answer import studied
from app.findings.layout_runs import order_block
from app.findings.state import FindingsState
from app.findings.tables import rows_behind as findings_rows
from app.kit.context import lake_view
from app.kit.export import render
from app.kit.lake_view import LakeView
from bench.logs import write_logged_lake
from data.catalogue import SHIPPED
from data.errors import DataError, SelectionError
from data.selection import Selection
from tests.callbacks.components import flask_of, texts, walk

RUNS = 52
# Replicate 2 of the third configuration (ITR 50 us) has gaps 4 times as long as its siblings.
ODD = 12
# Replicate 1 of the seventh (10 us) counts the same as its siblings in the reverse order of time.
REVERSED = 31


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Flask:
    """The app on 52 logged runs: 10 configurations of 5 replicates at 5 delays, 1 of 2."""
    lake = tmp_path_factory.mktemp("logged") / "lake"
    write_logged_lake(lake, RUNS, {ODD: 4.0}, {REVERSED})
    return flask_of(lake)


@pytest.fixture
def view(server: Flask) -> Iterator[LakeView]:
    with server.app_context():
        yield lake_view(None)


def by_sql(view: LakeView, state: DistributionsState, name: str) -> pl.DataFrame:
    """The rows that the query of an explanation gives."""
    (query,) = (p for p in explain(view, state, name).split("\n\n") if p.startswith("WITH "))
    return view.lake.polars(query)


@pytest.mark.parametrize(
    "state",
    [
        DistributionsState(),
        DistributionsState(knob="dvfs", split="itr", quantity="power_w"),
        DistributionsState(selection=Selection.of(itr=[50.0, 100.0]), split="none"),
        DistributionsState(sel='knobs~{"itr_us":50}'),
    ],
    ids=["systems", "panels of delays", "filters", "selection"],
)
def test_rows_are_those_of_the_query_that_explains_them(
    view: LakeView, state: DistributionsState
) -> None:
    rows, queried = rows_behind(view, state, "map"), by_sql(view, state, "map")
    by = [name for name in rows.columns if name != "share"]
    both = rows.join(queried, on=by, how="full", nulls_equal=True, suffix="_sql")
    assert len(both) == len(rows) == len(queried) > 0
    assert both["share"].to_numpy() == pytest.approx(both["share_sql"].to_numpy(), rel=1e-9)


def test_quantiles_are_the_bins_that_the_shares_reach(view: LakeView) -> None:
    """Gaps are lognormal around the delay: the median of 50 us is in a bin at most 12.5 % off."""
    rows = rows_behind(view, DistributionsState(selection=Selection.of(itr=[2.0])), "quantiles")
    (row,) = rows.to_dicts()
    # 11 configurations by turns: the delay of 2 us has the 1st, the 6th, and two runs of the 11th.
    assert (row["itr_us"], row["runs"]) == (2.0, 12)
    expected = 2000 * np.exp(0.3 * np.array([-1.2816, 0, 1.2816, 2.3263]))
    found = [row[f"{name}_ns"] for name in ("p10", "p50", "p90", "p99")]
    assert found == pytest.approx(expected, rel=0.13)


def test_the_map_has_a_column_a_level_and_opens_the_runs_of_a_cell(view: LakeView) -> None:
    answer = Answer.of(view, DistributionsState(split="none"))
    figure = draw_map(answer)["figure"]
    meta, (cells,) = figure["layout"]["meta"], [
        trace for trace in figure["data"] if trace["meta"]["kind"] == "cells"
    ]  # fmt: skip
    assert meta["levels"] == [f"ITR {us} us" for us in (2, 10, 50, 100, 200)]
    shares = np.nan_to_num(10.0 ** cells["z"])
    assert shares.sum(axis=0) == pytest.approx(np.ones(5))
    assert len(cells["y"]) == len(cells["z"]) + 1 == len(meta["bins"]) + 1
    # Above 180 us of the column of 50 us there are only gaps of the odd run.
    most = cells["meta"]["most"].reshape(5, -1, MOST_OPENED)[2]
    above = (cells["y"][:-1] > np.log2(180_000)) & (shares[:, 2] > 0)
    opened = most[above]
    assert above.any()
    assert set(opened[opened != NO_RUN].tolist()) == {meta["opens"].index(f"run-{ODD:06d}")}


def test_systems_stand_side_by_side_on_the_same_axes(view: LakeView) -> None:
    answer = Answer.of(view, DistributionsState(split="dvfs"))
    answered = draw_map(answer)
    layout = answered["figure"]["layout"]
    assert [panel["value"] for panel in layout["meta"]["panels"]] == [1.2, 1.3, 1.4]
    assert layout["yaxis2"]["matches"] == "y"
    assert layout["xaxis3"]["ticktext"] == ["2", "10", "50", "100", "200"]
    assert answered["columns"]["count"] == 3 * 5
    quantiles = [t for t in answered["figure"]["data"] if t["meta"]["kind"] == "quantile"]
    assert {t["meta"]["rows"]["first"] for t in quantiles} == {0, 5, 10}


def test_runs_unlike_their_siblings_come_first_with_one_beside_them(view: LakeView) -> None:
    answer = Answer.of(view, DistributionsState())
    rows = rows_behind(view, DistributionsState(), "siblings")
    first, second = rows.unique("run_id", keep="first", maintain_order=True).head(2).to_dicts()
    # Four times as long is two doublings; a bin is at most 0.17 of one.
    assert (first["run_id"], first["quantity"]) == (f"run-{ODD:06d}", "gap_ns")
    assert first["distance"] == pytest.approx(2, abs=0.1)
    assert first["usual"] < 0.1
    # Half of the interrupts came in the first quarter of the time, here in the last.
    assert (second["run_id"], second["quantity"]) == (f"run-{REVERSED:06d}", "interrupts_over_time")
    assert second["distance"] == pytest.approx(1 / 4, abs=0.02)
    same = rows.filter((pl.col("run_id") == second["run_id"]) & (pl.col("quantity") == "gap_ns"))
    assert same["times_usual"][0] < 2, "its distribution is as its siblings'"
    table = sibling_table(answer)
    links = [part for part in walk(table) if isinstance(part, dcc.Link)]
    for found, link in zip((first, second), links, strict=False):
        assert f"run={found['run_id']}&run={found['sibling']}" in link.href
    said = texts(table)
    assert any("ITR 50 us" in text and "replicate 2" in text for text in said)
    assert "Interrupts over time, and 2 more" in said
    assert (rows["replicates"][-1], rows["times_usual"][-1]) == (2, None), "two tell nothing"


def test_few_replicates_no_run_and_too_many_are_sentences(
    view: LakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = Answer.of(view, DistributionsState(sel='knobs~{"dvfs_ghz":1.4}'))
    assert "three replicates" in " ".join(texts(sibling_table(alone)))
    assert status_words(alone) == "2 runs with a log in the link's selection"
    none = Answer.of(view, DistributionsState(selection=Selection.of(system=["ebbrt_tuned"])))
    figure: dict[str, Any] = draw_map(none)["figure"]
    text = figure["layout"]["annotations"][0]["text"]
    assert "No run has all of these filters" in text.replace("<br>", " ")
    monkeypatch.setattr(page_runs, "MOST_RUNS", 5)
    with pytest.raises(DataError, match="more than 5 runs"):
        Answer.of(view, DistributionsState(selection=Selection.of(itr=[10.0])))


def test_a_link_without_a_knob_takes_one_that_varies(view: LakeView) -> None:
    found = default_state(view)
    assert (found.selection.values("workload"), found.knob) == (("memcached",), "itr")
    one_delay = replace(found, selection=Selection.of(itr=[50.0]))
    state, _ = open_link(view, one_delay)
    assert state.knob == "load" if len(_loads(view)) > 1 else state.knob == "dvfs"


def _loads(view: LakeView) -> list[float]:
    return view.lake.polars("SELECT DISTINCT load_qps FROM runs")["load_qps"].to_list()


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("what=latency", "expected one of gap_ns"),
        ("x=nothing", "x is 'nothing'"),
        ("split=nothing", "split is 'nothing'"),
    ],
)
def test_bad_links_are_refused(link: str, words: str) -> None:
    with pytest.raises(SelectionError, match=words):
        DistributionsState.from_query(link, SHIPPED)


def test_odd_runs_of_findings_are_those_unlike_their_replicates(view: LakeView) -> None:
    """All others differ by the chance of 4,000 gaps each."""
    odd = findings_rows(view, FindingsState(), "odd")
    ids = [f"run-{number:06d}" for number in (ODD, REVERSED)]
    assert odd.select("run_id", "metric", "runs").rows() == [
        (ids[0], "gap_ns", 5), (ids[1], "interrupts_over_time", 5),
    ]  # fmt: skip
    assert all(times > 8 for times in odd["times"])
    block = order_block(view, FindingsState())
    said = texts(block)
    assert any(text.startswith("2 runs are off") for text in said)
    assert any(text.endswith("% of the time") for text in said)
    links = re.findall('<a href="([^"]+)">beside a replicate</a>', unescape(render(block)))
    assert links == [
        f"/timeline?v=2&run={run}&run={other}"
        for run, other in zip(ids, odd["sibling"], strict=True)
    ]
    assert "<a " not in render(order_block(view, FindingsState(), has_links=False))
    assert studied(view, FindingsState(without_odd=True)).without == tuple(ids)


def test_over_an_object_store_an_artifact_computes_no_map_again() -> None:
    """There are no counts of all runs to compute it from; a query over them would fail."""
    view = SimpleNamespace(lake=SimpleNamespace(log_views=SimpleNamespace(folder="")))
    assert recomputed(view, DistributionsState(), "map") == []  # type: ignore[arg-type]

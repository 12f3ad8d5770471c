"""A view's state as a link: it comes back whole, is written one way, and refuses in words."""

from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs, quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.explore import state as url_state
from app.explore.state import VERSION, ExploreState, brush_fields
from app.kit.performance import PERFORMANCE
from app.kit.url_codec import has_state
from data.errors import SelectionError
from data.metrics import plottable
from data.selection import FACETS, Selection

finite = st.floats(allow_nan=False, allow_infinity=False)
columns = st.sampled_from([PERFORMANCE, *plottable()])
texts = st.text(max_size=20)


@st.composite
def selections(draw: st.DrawFn) -> Selection:
    chosen: dict[str, list] = {}
    for facet in FACETS.values():
        value: st.SearchStrategy[Any] = finite if facet.is_number else texts
        values = st.lists(value | st.just(facet.null_word), max_size=3, unique=True)
        chosen[facet.name] = draw(values)
    return Selection.of(**chosen)


@st.composite
def brushes(draw: st.DrawFn) -> str:
    x, y = (draw(st.sampled_from(plottable())) for _ in range(2))
    shape = draw(st.sampled_from(["", "box", "lasso", "cells", "configs"]))
    if shape == "box":
        return "~".join([shape, x, y, *(repr(draw(finite)) for _ in range(4))])
    if shape == "lasso":
        return f"lasso~{x}~{y}~1,2~3,4~{draw(finite)},{draw(finite)}"
    if shape == "cells":
        return f"cells~{draw(texts)}~2.9:2,50,-~-:4"
    return f'configs~{{"system":"{draw(texts)}"}}' if shape else ""


states = st.builds(
    ExploreState,
    selection=selections(),
    replicates=st.sampled_from(["means", "runs"]),
    x=columns,
    y=columns,
    x_log=st.booleans(),
    y_log=st.booleans(),
    frontier=st.booleans(),
    heat_system=st.none() | texts,
    heat_metric=columns,
    limit=st.none() | finite.filter(lambda v: v > 0),
    brush=brushes(),
    zoom=st.just("") | st.tuples(*[finite] * 4).map(lambda v: "~".join(map(repr, v))),
    lake_version=st.none() | st.integers(0, 10**9),
)  # fmt: skip


def facets_of(state: ExploreState) -> dict[str, set]:
    return {name: set(state.selection.values(name)) for name in FACETS}


@settings(max_examples=40)
@given(states)
def test_a_link_brings_the_whole_state_back(state: ExploreState) -> None:
    back = ExploreState.from_query(state.to_query())
    for name in ExploreState.__dataclass_fields__:
        if name != "selection":
            assert getattr(back, name) == getattr(state, name)
    assert facets_of(back) == facets_of(state)


@settings(max_examples=40)
@given(states)
@example(ExploreState(Selection.of(rapl=[-0.0, -1.0])))
def test_the_same_state_has_the_same_text(state: ExploreState) -> None:
    query = state.to_query()
    assert ExploreState.from_query(query).to_query() == query
    assert ExploreState.from_query(f"?{query}").to_query() == query
    assert ExploreState.from_json(state.to_json()).to_query() == query


@given(st.permutations([2.0, 50.0, "adaptive"]), st.permutations(["itr", "system", "load"]))
def test_the_order_of_choosing_does_not_show(values: list, facets: list[str]) -> None:
    chosen = {"itr": values, "system": ["b", "a"], "load": [2e5]}
    state = ExploreState(Selection.of(**{name: chosen[name] for name in facets}))
    assert state.to_query() == "v=1&load=200000&system=a&system=b&itr=2&itr=50&itr=adaptive"


def test_defaults_are_left_out() -> None:
    assert ExploreState().to_query() == f"v={VERSION}"
    assert ExploreState.from_query(f"v={VERSION}") == ExploreState()


def test_what_a_link_looks_like() -> None:
    state = ExploreState(
        Selection.of(workload=["memcached"], load=[200_000], dvfs=["governor", 2.9]),
        replicates="runs", x_log=True, frontier=False, limit=61.7, lake_version=0,
    )  # fmt: skip
    assert state.to_query() == (
        "v=1&workload=memcached&load=200000&dvfs=2.9&dvfs=governor"
        "&rep=runs&xlog=1&frontier=0&limit=61.7&lake=0"
    )


def test_an_uncommon_name_survives() -> None:
    name = "Müllers & Söhne = 100 % +1?#~/日本"
    state = ExploreState(Selection.of(system=[name]), heat_system=name)
    query = state.to_query()
    assert query.isascii()
    back = ExploreState.from_query(query)
    assert back.selection.values("system") == (name,)
    assert back.heat_system == name


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("v=2", "version '2'; this wattlas reads up to 1: it may be newer"),
        ("v=x", "version 'x'"),
        ("v=", "version ''"),
        ("v=-1", "version '-1'"),
        (f"v={quote('²')}", "version '²'"),
        ("v=0", "version 0, which never was"),
        ("v=1&colour=red", "unknown part 'colour'"),
        ("v=1&rep=sometimes", "replicates is 'sometimes', expected means or runs"),
        ("v=1&x=no_such", "no such column to plot: 'no_such'"),
        ("v=1&y=run_id", "no such column to plot: 'run_id'"),
        ("v=1&hmet=1", "no such column to plot: '1'"),
        ("v=1&itr=fast", "itr is 'fast', expected a number"),
        ("v=1&itr=governor", "itr is 'governor', expected a number"),
        ("v=1&load=inf", "load is 'inf', expected a finite number"),
        ("v=1&limit=nan", "limit is 'nan', expected a finite number"),
        ("v=1&limit=", "limit is '', expected a number"),
        ("v=1&limit=-5", "limit is -5, expected a number above 0"),
        ("v=1&xlog=yes", "xlog is 'yes', expected 0 or 1"),
        ("v=1&frontier=2", "frontier is '2', expected 0 or 1"),
        ("v=1&lake=newest", "lake is 'newest', expected a version number"),
        ("v=1&lake=-1", "lake is '-1'"),
        (f"v=1&lake={quote('³')}", "lake is '³'"),
        (f"v=1&lake={'9' * 5000}", "expected a version number"),
        ("v=1&zoom=1~2~3", "zoom is '1~2~3', expected four numbers"),
        ("v=1&zoom=a~b~c~d", "zoom is 'a', expected a number"),
        ("v=1&brush=circle~1~2", "unknown kind of selection: 'circle~1~2'"),
        ("v=1&brush=box~evil~energy_j~0~1~0~1", r"unknown columns: \['evil', 'energy_j'\]"),
        (f"v=1&brush=cells~{'x' * 7000}", "7006 characters is too long"),
    ],
)  # fmt: skip
def test_a_bad_link_is_named(query: str, words: str) -> None:
    with pytest.raises(SelectionError, match=words):
        ExploreState.from_query(query)


@settings(max_examples=60)
@given(st.text(max_size=60))
def test_any_text_is_a_state_or_is_refused(text: str) -> None:
    for query in (text, f"v=1&{text}", f"v=1&lake={text}", f"v={text}", f"v=1&limit={text}"):
        with suppress(SelectionError):
            assert isinstance(ExploreState.from_query(query).to_query(), str)


def test_any_query_is_a_state_whether_it_names_a_version_or_not() -> None:
    """A link written by hand or by a script is followed, or refused by name; never passed over."""
    assert has_state("?v=1")
    assert has_state("x=energy_j")
    assert has_state("?run=")
    assert not has_state("")
    assert not has_state("?")


def test_old_links_are_upgraded_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Version 1 called a system `os`, version 2 wrote the limit in milliseconds."""

    def rename_os(parameters: url_state.Parameters) -> url_state.Parameters:
        return {("system" if key == "os" else key): v for key, v in parameters.items()}

    def limit_to_us(parameters: url_state.Parameters) -> url_state.Parameters:
        limits = [str(float(text) * 1000) for text in parameters.pop("limit_ms", [])]
        return {**parameters, **({"limit": limits} if limits else {})}

    monkeypatch.setattr(url_state, "VERSION", 3)
    monkeypatch.setattr(url_state, "UPGRADERS", {1: rename_os, 2: limit_to_us})
    wanted = ExploreState(Selection.of(system=["linux_tuned"]), limit=250.0)
    assert ExploreState.from_query("v=1&os=linux_tuned&limit_ms=0.25") == wanted
    assert ExploreState.from_query("v=2&system=linux_tuned&limit_ms=0.25") == wanted
    assert ExploreState.from_query("v=3&system=linux_tuned&limit=250") == wanted
    assert parse_qs(wanted.to_query())["v"] == ["3"]
    with pytest.raises(SelectionError, match="unknown part 'os'"):
        ExploreState.from_query("v=3&os=linux_tuned")


def test_every_old_version_has_its_upgrader() -> None:
    assert set(url_state.UPGRADERS) == set(range(1, VERSION))


def test_the_controls_of_the_page_are_gathered() -> None:
    raw = {
        "workload": "memcached", "load": ["200000"], "itr": ["adaptive", "2"], "system": [],
        "rep": "runs", "x": "performance", "xlog": True, "frontier": False, "limit": "",
        "hsys": None, "lake": None,
    }  # fmt: skip
    state = ExploreState.from_json(raw)
    assert state.selection == Selection.of(workload=["memcached"], load=[2e5], itr=["adaptive", 2])
    assert (state.replicates, state.x_log, state.frontier, state.limit) == (
        "runs",
        True,
        False,
        None,
    )


def test_performance_becomes_a_column_everywhere() -> None:
    state = ExploreState(heat_metric=PERFORMANCE).with_performance("duration_s")
    assert (state.x, state.y, state.heat_metric) == ("duration_s", "energy_j", "duration_s")


def test_fields_of_a_brush() -> None:
    assert brush_fields("box~duration_s~energy_j~0~1~2~3") == ("duration_s", "energy_j")
    assert brush_fields("cells~linux_tuned~2.9:2") is None
    assert brush_fields("") is None

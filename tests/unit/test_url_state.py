"""A page's state as a link: it comes back whole, is written one way, and refuses in words."""

import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar
from urllib.parse import parse_qs, quote

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from app.explore.state import ExploreState
from app.kit.clause import MAX_CHARS
from app.kit.url_state import Parameters, UrlState, has_state, parameter
from app.kit.url_values import read_number
from data.catalogue import SHIPPED, Catalogue
from data.declared import PERFORMANCE
from data.errors import SelectionError
from data.selection import Selection

finite = st.floats(allow_nan=False, allow_infinity=False)
columns = st.sampled_from([PERFORMANCE, *SHIPPED.plottable])
texts = st.text(max_size=20)


@st.composite
def selections(draw: st.DrawFn) -> Selection:
    chosen: dict[str, list] = {}
    for facet in SHIPPED.facets.values():
        value: st.SearchStrategy[Any] = finite if facet.is_number else texts
        values = st.lists(value | st.just(facet.null_word), max_size=3, unique=True)
        chosen[facet.name] = draw(values)
    return Selection.of(**chosen)


# Values of knobs; JSON writes whole numbers beyond 2**53 as others than they are.
knob_values = st.none() | texts | st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6)


@st.composite
def clauses(draw: st.DrawFn) -> str:
    x, y = (draw(st.sampled_from(SHIPPED.plottable)) for _ in range(2))
    shape = draw(st.sampled_from(["", "box", "box with knobs", "lasso", "knobs"]))
    knobs = st.fixed_dictionaries(
        {"system": texts}, optional={"itr_us": st.lists(knob_values, min_size=1, max_size=3)}
    )
    if shape.startswith("box"):
        box = "~".join(["box", x, y, *(repr(draw(finite)) for _ in range(4))])
        return box if shape == "box" else f"{box}~{json.dumps(draw(knobs))}"
    if shape == "lasso":
        return f"lasso~{x}~{y}~1,2~3,4~{draw(finite)},{draw(finite)}"
    alternatives = draw(knobs | st.lists(knobs, min_size=1, max_size=3))
    return f"knobs~{json.dumps(alternatives)}" if shape else ""


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
    clause=clauses(),
    zoom=st.just("") | st.tuples(*[finite] * 4).map(lambda v: "~".join(map(repr, v))),
    lake_version=st.none() | st.integers(0, 10**9),
)  # fmt: skip


def facets_of(state: ExploreState) -> dict[str, set]:
    return {name: set(state.selection.values(name)) for name in SHIPPED.facets}


def controls_of(state: UrlState) -> dict[str, Any]:
    """What the page's controls hold in this state, by URL key."""
    filters = {name: list(state.selection.values(name)) for name in SHIPPED.facets}
    others = {key: getattr(state, p.attribute) for key, p in state.parameters().items()}
    return filters | others


@given(states)
def test_a_link_brings_the_whole_state_back(state: ExploreState) -> None:
    back = ExploreState.from_query(state.to_query(), SHIPPED)
    for name in ExploreState.__dataclass_fields__:
        if name not in ("selection", "named"):
            assert getattr(back, name) == getattr(state, name)
    assert facets_of(back) == facets_of(state)


@given(states)
@example(ExploreState(Selection.of(rapl=[-0.0, -1.0])))
def test_the_same_state_has_the_same_text(state: ExploreState) -> None:
    query = state.to_query()
    assert ExploreState.from_query(query, SHIPPED).to_query() == query
    assert ExploreState.from_query(f"?{query}", SHIPPED).to_query() == query


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(states)
def test_what_the_controls_hold_is_the_state(state: ExploreState) -> None:
    controls = controls_of(state)
    # An empty control says nothing.
    assume(state.heat_system != "" and not any("" in controls[name] for name in SHIPPED.facets))
    assert ExploreState.from_json(controls, SHIPPED).to_query() == state.to_query()


@given(st.permutations([2.0, 50.0, "adaptive"]), st.permutations(["itr", "system", "load"]))
def test_the_order_of_choosing_does_not_show(values: list, facets: list[str]) -> None:
    chosen = {"itr": values, "system": ["b", "a"], "load": [2e5]}
    state = ExploreState(Selection.of(**{name: chosen[name] for name in facets}))
    assert state.to_query() == "v=2&load=200000&system=a&system=b&itr=2&itr=50&itr=adaptive"


def test_defaults_are_left_out() -> None:
    assert ExploreState().to_query() == f"v={ExploreState.VERSION}"
    assert ExploreState.from_query(f"v={ExploreState.VERSION}", SHIPPED) == ExploreState()


def test_what_a_link_looks_like() -> None:
    state = ExploreState(
        Selection.of(workload=["memcached"], load=[200_000], dvfs=["governor", 2.9]),
        replicates="runs", x_log=True, frontier=False, limit=61.7, lake_version=0,
    )  # fmt: skip
    assert state.to_query() == (
        "v=2&workload=memcached&load=200000&dvfs=2.9&dvfs=governor"
        "&rep=runs&xlog=1&frontier=0&limit=61.7&lake=0"
    )


def test_an_uncommon_name_survives() -> None:
    name = "Müllers & Söhne = 100 % +1?#~/日本"
    state = ExploreState(Selection.of(system=[name]), heat_system=name)
    query = state.to_query()
    assert query.isascii()
    back = ExploreState.from_query(query, SHIPPED)
    assert back.selection.values("system") == (name,)
    assert back.heat_system == name


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("v=3", "version '3'; this wattlas reads up to 2: it may be newer"),
        ("v=x", "version 'x'"),
        (f"v={quote('²')}", "version '²'"),
        ("v=0", "version 0, which never existed"),
        ("v=2&rep=sometimes", "replicates is 'sometimes', expected means or runs"),
        ("v=2&x=no_such", "no such column to plot: 'no_such'"),
        ("v=2&y=run_id", "no such column to plot: 'run_id'"),
        ("v=2&hmet=1", "no such column to plot: '1'"),
        ("v=2&itr=governor", "itr is 'governor', expected a number"),
        ("v=2&load=inf", "load is 'inf', expected a finite number"),
        ("v=2&limit=nan", "limit is 'nan', expected a finite number"),
        ("v=2&limit=", "limit is '', expected a number"),
        ("v=2&limit=-5", "limit is -5, expected a number above 0"),
        ("v=2&xlog=yes", "xlog is 'yes', expected 0 or 1"),
        ("v=2&lake=newest", "lake is 'newest', expected a version number"),
        (f"v=2&lake={quote('³')}", "lake is '³'"),
        (f"v=2&lake={'9' * 5000}", "expected a version number"),
        ("v=2&zoom=1~2~3", "zoom is '1~2~3', expected four numbers"),
        ("v=2&zoom=a~b~c~d", "zoom is 'a', expected a number"),
        ("v=2&sel=circle~1~2", "unknown kind of selection: 'circle~1~2'"),
        ("v=2&sel=box~evil~energy_j~0~1~0~1", "unknown column of numbers 'evil'"),
        ("v=2&sel=box~itr_us~system~0~1~0~1", "unknown column of numbers 'system'"),
        ("v=2&sel=outcome~tie", "unknown kind of selection: 'outcome~tie'"),
        (f"v=2&sel=knobs~{'x' * 7000}", "7006 characters is too long"),
        ("v=1&brush=box~evil~energy_j~0~1~0~1", "unknown column of numbers 'evil'"),
        ("v=1&brush=cells~linux~fast:2", "brush is 'fast', expected a number"),
        ("v=1&brush=cells~linux", "the selection cannot be read"),
        (f"v=1&brush=box~{'x' * 7000}", "7004 characters is too long"),
    ],
)  # fmt: skip
def test_a_bad_link_is_named(query: str, words: str) -> None:
    with pytest.raises(SelectionError, match=words):
        ExploreState.from_query(query, SHIPPED)


@given(st.text(max_size=60))
def test_any_text_is_a_state_or_is_refused(text: str) -> None:
    parts = ("", "lake=", "limit=", "sel=", "sel=knobs~", "brush=", "brush=cells~", "zoom=")
    for query in (text, f"v={text}", *(f"v={v}&{part}{text}" for v in (1, 2) for part in parts)):
        with suppress(SelectionError):
            assert isinstance(ExploreState.from_query(query, SHIPPED).to_query(), str)


def test_any_query_is_a_state_whether_it_names_a_version_or_not() -> None:
    """A link written by hand or by a script is followed, or refused by name; never passed over."""
    assert has_state("?v=1")
    assert has_state("x=energy_j")
    assert has_state("?run=")
    assert not has_state("")
    assert not has_state("?")


BOX = "box~latency_p99_us~energy_j~50~140.5~-1e3~2990"
LASSO = "lasso~latency_p99_us~energy_j~1,2~3,4~-5.5,6e2"


@pytest.mark.parametrize(
    ("brush", "sel"),
    [
        (BOX, BOX),
        (LASSO, LASSO),
        (
            "cells~linux_tuned~2.9:2",
            [{"system": "linux_tuned", "dvfs_ghz": 2.9, "itr_us": 2}],
        ),
        (
            "cells~linux_tuned~2.9:2,50,-~-:4~1.3:-",
            [
                {"system": "linux_tuned", "dvfs_ghz": 2.9, "itr_us": [2, 50, None]},
                {"system": "linux_tuned", "dvfs_ghz": None, "itr_us": 4},
                {"system": "linux_tuned", "dvfs_ghz": 1.3, "itr_us": None},
            ],
        ),
        (
            'configs~{"system":"a~b","itr_us":null,"dvfs_ghz":2.9}',
            [{"system": "a~b", "itr_us": None, "dvfs_ghz": 2.9}],
        ),
        (
            'configs~[{"system":"a","replicate":0},{"system":["b","c"]}]',
            [{"system": "a", "replicate": 0}, {"system": ["b", "c"]}],
        ),
        ("", ""),
    ],
)
def test_a_brush_of_version_1_becomes_a_clause(brush: str, sel: str | list[dict]) -> None:
    state = ExploreState.from_query(f"v=1&workload=memcached&brush={quote(brush)}", SHIPPED)
    assert state.selection == Selection.of(workload=["memcached"])
    assert state == ExploreState.from_query(state.to_query(), SHIPPED)
    if isinstance(sel, str):
        assert state.clause == sel
        return
    kind, _, text = state.clause.partition("~")
    assert kind == "knobs"
    found = json.loads(text)
    assert (found if isinstance(found, list) else [found]) == sel


def test_a_link_of_version_1_means_what_it_meant() -> None:
    rest = (
        "workload=memcached&load=200000&itr=2&itr=adaptive&dvfs=governor&rep=runs&x=energy_j"
        "&y=edp_js&xlog=1&ylog=1&frontier=0&hsys=linux_tuned&hmet=performance&limit=61.7"
        "&zoom=1~2~3~4&lake=0"
    )
    assert ExploreState.from_query(f"v=1&{rest}", SHIPPED) == ExploreState.from_query(
        f"v=2&{rest}", SHIPPED
    )
    filters = Selection.of(
        workload=["memcached"], load=[2e5], itr=[2, "adaptive"], dvfs=["governor"]
    )
    assert ExploreState.from_query(f"v=1&{rest}", SHIPPED) == ExploreState(
        filters,
        replicates="runs", x="energy_j", y="edp_js", x_log=True, y_log=True, frontier=False,
        heat_system="linux_tuned", heat_metric=PERFORMANCE, limit=61.7, zoom="1~2~3~4",
        lake_version=0,
    )  # fmt: skip


def test_all_cells_of_a_large_map_upgrade_to_a_clause_that_fits() -> None:
    # 16 DVFS x 32 ITR, as many as the published study has.
    itrs = ",".join(str(itr) for itr in range(2, 258, 8))
    rows = "~".join(f"{1.2 + 0.1 * k:.1f}:{itrs}" for k in range(16))
    state = ExploreState.from_query(f"v=1&brush=cells~linux_tuned~{rows}", SHIPPED)
    assert len(state.clause) <= MAX_CHARS


def _rename_os(parameters: Parameters) -> Parameters:
    return {("system" if key == "os" else key): v for key, v in parameters.items()}


def _limit_to_us(parameters: Parameters) -> Parameters:
    limits = [str(float(text) * 1000) for text in parameters.pop("limit_ms", [])]
    return {**parameters, **({"limit": limits} if limits else {})}


@dataclass(frozen=True, slots=True)
class Small(UrlState):
    """Version 1 called a system `os`, version 2 wrote the limit in milliseconds."""

    VERSION: ClassVar[int] = 3
    UPGRADERS: ClassVar = {1: _rename_os, 2: _limit_to_us}

    selection: Selection = field(default_factory=Selection)
    limit: float | None = parameter("limit", None, read_number)
    runs: tuple[str, ...] = parameter("run", ())
    is_log: bool = parameter("log", True, is_view=True)

    @classmethod
    def filters(cls, catalogue: Catalogue) -> tuple[str, ...]:
        return tuple(name for name in catalogue.facets if name in ("workload", "system"))


@dataclass(frozen=True, slots=True)
class WithoutFilters(UrlState):
    """A page that does not narrow."""

    word: str = parameter("word", "")

    @classmethod
    def filters(cls, catalogue: Catalogue) -> tuple[str, ...]:
        del catalogue
        return ()


def test_old_links_are_upgraded_step_by_step() -> None:
    wanted = Small(Selection.of(system=["linux_tuned"]), limit=250.0)
    assert Small.from_query("v=1&os=linux_tuned&limit_ms=0.25", SHIPPED) == wanted
    assert Small.from_query("v=2&system=linux_tuned&limit_ms=0.25", SHIPPED) == wanted
    assert Small.from_query("v=3&system=linux_tuned&limit=250", SHIPPED) == wanted
    assert Small.from_query("system=linux_tuned&limit=250", SHIPPED) == wanted
    assert parse_qs(wanted.to_query())["v"] == ["3"]
    # Names of version 1 mean nothing in version 3, as those that no page ever had.
    for query in (
        "v=3&os=linux_tuned&limit=2",
        "v=3&limit=2&utm_source=slack",
        "limit_ms=1&limit=2",
    ):
        state = Small.from_query(query, SHIPPED)
        assert state == Small(limit=2.0)
        assert state.ignored == tuple(parse_qs(query).keys() - {"v", "limit"})
        assert state.to_query() == "v=3&limit=2"


def test_a_key_may_repeat_and_each_value_counts_once_in_its_order() -> None:
    state = Small.from_query("run=b&run=a&run=b&limit=1&limit=2", SHIPPED)
    assert state.runs == ("b", "a")
    # Of a key that stands for one value, the last counts.
    assert state.limit == 2.0
    assert state.to_query() == "v=3&limit=2&run=b&run=a"


def test_what_the_page_does_not_have_of_filters_limit_and_selection_is_handed_on() -> None:
    """A link from another page may have them."""
    state = Small.from_query(
        "workload=memcached&load=200000&itr=2&itr=8&by=power_w&limit=9&sel=x~1", SHIPPED
    )
    assert state == Small(Selection.of(workload=["memcached"]), limit=9.0)
    assert state.carried == (
        ("load", "200000"), ("itr", "2"), ("itr", "8"), ("by", "power_w"), ("sel", "x~1"),
    )  # fmt: skip
    query = "v=3&workload=memcached&limit=9&load=200000&itr=2&itr=8&by=power_w&sel=x~1"
    assert state.to_query() == query
    assert Small.from_query(query, SHIPPED).carried == state.carried
    assert state.handed_on() == (("workload", "memcached"), ("limit", "9"))
    found = WithoutFilters.from_query("workload=memcached&word=x&limit=0.5", SHIPPED)
    assert (found, found.carried) == (
        WithoutFilters("x"), (("workload", "memcached"), ("limit", "0.5"))
    )  # fmt: skip
    assert found.to_query() == "v=1&word=x&workload=memcached&limit=0.5"
    for bad in ("limit=-1", "limit=much", "limit=nan"):
        with pytest.raises(SelectionError, match="limit is"):
            WithoutFilters.from_query(bad, SHIPPED)
    with pytest.raises(SelectionError, match="load is 'much', expected a number"):
        Small.from_query("load=much", SHIPPED)


def test_what_the_browser_is_told() -> None:
    assert Small.spec(SHIPPED) == {
        "version": 3,
        "facets": ["workload", "system"],
        "viewKeys": ["log"],
        "defaults": {"limit": "", "run": [], "log": "1", "lake": ""},
    }
    assert json.loads(json.dumps(ExploreState.spec(SHIPPED))) == ExploreState.spec(SHIPPED)
    assert WithoutFilters.spec(SHIPPED)["facets"] == []


def test_every_old_version_has_its_upgrader() -> None:
    assert set(ExploreState.UPGRADERS) == set(range(1, ExploreState.VERSION))


def test_the_controls_of_the_page_are_gathered() -> None:
    raw = {
        "workload": "memcached", "load": ["200000"], "itr": ["adaptive", "2"], "system": [],
        "rep": "runs", "x": "performance", "xlog": True, "frontier": False, "limit": "",
        "hsys": None, "lake": None,
    }  # fmt: skip
    state = ExploreState.from_json(raw, SHIPPED)
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

"""The state of Modes in the URL: round trips, and every refusal in words."""

import json
from urllib.parse import parse_qs, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.kit.clause import write_knobs
from app.modes.state import ModesState
from data.analysis.rules import CORRECTIONS, RULES
from data.catalogue import SHIPPED
from data.errors import SelectionError
from data.selection import Selection

KNOB_NAMES = st.lists(st.sampled_from(sorted(SHIPPED.knobs)), min_size=3, max_size=3, unique=True)
VALUES = st.one_of(st.none(), st.text(max_size=20), st.floats(0, 1e7), st.integers(0, 10**9))
CLAUSES = st.one_of(
    st.just(""),
    st.tuples(VALUES, VALUES).map(lambda v: write_knobs([{"io_depth": v[0], "itr_us": v[1]}])),
    VALUES.map(lambda v: f"won~{json.dumps(v)}"),
    st.sampled_from(["outcome~tie", "outcome~too few", "box~energy_j~latency_p99_us~1~2~3~4"]),
)


@given(
    KNOB_NAMES,
    st.sampled_from(SHIPPED.plottable),
    st.sampled_from(RULES),
    st.sampled_from(CORRECTIONS),
    st.floats(1e-6, 0.49),
    st.floats(0.1, 49),
    st.one_of(st.none(), st.floats(1e-6, 1e6)),
    st.sampled_from(["percent", "absolute"]),
    CLAUSES,
    st.one_of(st.none(), st.integers(0, 10**6)),
)
def test_a_state_survives_its_query(  # type: ignore[no-untyped-def]
    knobs, column, test, correction, alpha, margin, limit, lead, sel, version
) -> None:
    x, y, competitor = knobs
    selection = Selection.of(mode=["poll", "none"], request=[4096, "none"], itr=["adaptive", 2])
    state = ModesState(
        selection, x, y, competitor, column, "default", limit, "latency_p99_us", test, correction,
        alpha, margin, lead, "energy_j", sel=sel, lake_version=version,
    )  # fmt: skip
    back = ModesState.from_query(state.to_query(), SHIPPED)
    assert back.to_query() == state.to_query()
    for name in (
        "x", "y", "competitor", "metric", "versus", "limit", "limited", "test", "correction",
        "alpha", "margin_pct", "lead", "sel",
    ):  # fmt: skip
        assert getattr(back, name) == getattr(state, name)
    assert set(back.selection.values("request")) == {4096.0, "none"}


def test_defaults_are_left_out() -> None:
    assert ModesState().to_query() == "v=3"
    state = ModesState(x="load", y="dvfs", competitor="system", metric="energy_j")
    assert parse_qs(state.to_query()) == {
        "v": ["3"], "x": ["load"], "y": ["dvfs"], "who": ["system"], "metric": ["energy_j"],
    }  # fmt: skip


def test_the_controls_are_gathered_into_a_state() -> None:
    raw = {"workload": "fio", "mode": [], "x": "request", "y": "depth", "who": "mode",
           "metric": "bytes_per_joule", "alpha": 0.01, "test": "welch",
           "sel": 'knobs~{"io_depth":8,"request_bytes":4096}', "lake": None}  # fmt: skip
    state = ModesState.from_json(raw, SHIPPED)
    assert state.selection == Selection.of(workload=["fio"])
    assert (state.test, state.alpha, state.rules.alpha) == ("welch", 0.01, 0.01)
    assert list(state.cell(SHIPPED).items()) == [("request_bytes", 4096), ("io_depth", 8)]


@pytest.mark.parametrize(
    ("sel", "cell"),
    [
        ('knobs~{"itr_us":null,"dvfs_ghz":[2.9]}', {"itr_us": None, "dvfs_ghz": 2.9}),
        ('knobs~{"itr_us":2,"dvfs_ghz":[2.9,1.3]}', {}),
        ('knobs~{"itr_us":2}', {}),
        ('knobs~{"itr_us":2,"dvfs_ghz":2.9,"system":"a"}', {}),
        ('knobs~[{"itr_us":2,"dvfs_ghz":2.9},{"itr_us":4,"dvfs_ghz":2.9}]', {}),
        ("outcome~tie", {}),
        ("", {}),
    ],
)
def test_one_cell_has_one_value_of_each_axis(sel: str, cell: dict) -> None:
    state = ModesState(x="itr", y="dvfs", sel=sel)
    assert state.cell(SHIPPED) == cell
    assert ModesState(sel=sel).cell(SHIPPED) == {}


@pytest.mark.parametrize(
    ("pick", "sel"),
    [
        ('["cell",50,2.9]', 'knobs~{"dvfs_ghz":2.9,"itr_us":50}'),
        ('["cell",null,"x"]', 'knobs~{"dvfs_ghz":"x","itr_us":null}'),
        (
            '["cells",[2.9,2,50],[null,2]]',
            'knobs~[{"dvfs_ghz":2.9,"itr_us":[2,50]},{"dvfs_ghz":null,"itr_us":[2]}]',
        ),
        ('["won","ebbrt_tuned"]', 'won~"ebbrt_tuned"'),
        ('["won",null]', "won~null"),
        ('["outcome","too few"]', "outcome~too few"),
        ("", ""),
    ],
)
def test_a_selection_of_version_1_becomes_a_clause(pick: str, sel: str) -> None:
    query = urlencode({"v": "1", "x": "itr", "y": "dvfs", "who": "system", "pick": pick})
    state = ModesState.from_query(query, SHIPPED)
    assert state.sel == sel
    assert ModesState.from_query(state.to_query(), SHIPPED) == state


@pytest.mark.parametrize("version", ["1", "2"])
def test_an_old_link_keeps_the_rule_that_it_had(version: str) -> None:
    query = f"v={version}&x=itr&y=dvfs&who=system&metric=energy_j"
    state = ModesState.from_query(query, SHIPPED)
    assert (state.test, state.correction, state.alpha, state.limit) == (
        "student",
        "none",
        0.05,
        None,
    )
    named = ModesState.from_query(
        f"{query}&test=welch&corr=holm&level=0.6&margin=absolute", SHIPPED
    )
    assert (named.test, named.correction, named.alpha) == ("welch", "holm", 0.6)
    assert (named.lead, named.margin_pct) == ("absolute", 2.0)
    # Its map did not follow the limit of another page.
    limited = ModesState.from_query(f"{query}&limit=500&by=latency_p99_us", SHIPPED)
    assert (limited.limit, limited.carried) == (None, ())


def test_a_link_of_another_page_has_the_rule_of_today() -> None:
    state = ModesState.from_query("v=2&workload=memcached&limit=500&by=latency_p99_us", SHIPPED)
    assert (state.test, state.correction) == ("sets", "benjamini-hochberg")
    assert (state.limit, state.limited) == (500.0, "latency_p99_us")


def test_a_cell_of_version_1_without_its_axes_is_left_out() -> None:
    assert ModesState.from_query("v=1&pick=[%22cell%22,50,2.9]", SHIPPED).sel == ""


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("v=4", "version '4'"),
        ("v=2&sel=cells~1", "unknown kind of selection: 'cells~1'"),
        ("v=2&sel=outcome~lost", "the selection cannot be read"),
        ("v=1&x=energy_j", "x is 'energy_j', expected one of dataset, workload"),
        ("v=1&x=load&y=load", "axes and competitor must differ, not load, load"),
        ("v=1&x=load&who=load", "must differ"),
        ("v=1&metric=energy_j;--", "no such metric to compare: 'energy_j;--'"),
        ("v=1&test=z", "test is 'z', expected one of sets, student, welch"),
        ("v=1&corr=sidak", "corr is 'sidak'"),
        ("v=1&level=0", "alpha is 0"),
        ("v=3&alpha=0.5", "alpha is 0.5, expected a number between 0 and 0.5"),
        ("v=3&margin=50", "margin is 50"),
        ("v=3&limit=0", "limit is 0"),
        ("v=3&by=run_id", "no such column to plot: 'run_id'"),
        ("v=3&vs=best", "vs is 'best', expected one of each, default"),
        ("v=1&level=nan", "alpha is 'nan', expected a finite number"),
        ("v=1&margin=log", "lead is 'log'"),
    ],
)
def test_what_is_wrong_is_named(query: str, words: str) -> None:
    with pytest.raises(SelectionError) as caught:
        ModesState.from_query(query, SHIPPED)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["cell", "[]", '["cell"]', '["cell",1]', '["cell",1,[[2]]]', '["outcome","win by luck"]',
     '{"cell":1}', '["won",true]', '["cell",1,' + "1" * 500 + "]", "[[1]]", "null",
     '["cell",NaN,1]', '["cells"]', '["cells",1]', '["cells",[1]]', '["cells",[1,[2]]]',
     '["cells",[1,"' + "x" * 6000 + '"]]'],
)  # fmt: skip
def test_a_selection_of_version_1_that_is_none_is_refused(text: str) -> None:
    query = urlencode({"v": "1", "x": "itr", "y": "dvfs", "pick": text})
    with pytest.raises(SelectionError, match="selection"):
        ModesState.from_query(query, SHIPPED)

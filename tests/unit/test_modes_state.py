"""The state of Modes in the URL: round trips, and every refusal in words."""

import json
from urllib.parse import parse_qs, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.kit.clause import write_knobs
from app.modes.state import ModesState
from data.analysis.significance import CORRECTIONS, TESTS
from data.errors import SelectionError
from data.knobs import KNOBS
from data.metrics import plottable
from data.selection import Selection

KNOB_NAMES = st.lists(st.sampled_from(sorted(KNOBS)), min_size=3, max_size=3, unique=True)
VALUES = st.one_of(st.none(), st.text(max_size=20), st.floats(0, 1e7), st.integers(0, 10**9))
CLAUSES = st.one_of(
    st.just(""),
    st.tuples(VALUES, VALUES).map(lambda v: write_knobs([{"io_depth": v[0], "itr_us": v[1]}])),
    VALUES.map(lambda v: f"won~{json.dumps(v)}"),
    st.sampled_from(["outcome~tie", "outcome~too few", "box~energy_j~latency_p99_us~1~2~3~4"]),
)


@given(
    KNOB_NAMES,
    st.sampled_from(plottable()),
    st.sampled_from(TESTS),
    st.sampled_from(CORRECTIONS),
    st.floats(1e-6, 0.5),
    st.sampled_from(["percent", "absolute"]),
    CLAUSES,
    st.one_of(st.none(), st.integers(0, 10**6)),
)
def test_a_state_survives_its_query(  # type: ignore[no-untyped-def]
    knobs, column, test, correction, level, margin, sel, version
) -> None:
    x, y, competitor = knobs
    selection = Selection.of(mode=["poll", "none"], request=[4096, "none"], itr=["adaptive", 2])
    state = ModesState(
        selection, x, y, competitor, column, test, correction, level, margin, "energy_j", sel,
        lake_version=version,
    )  # fmt: skip
    back = ModesState.from_query(state.to_query())
    assert back.to_query() == state.to_query()
    for name in ("x", "y", "competitor", "metric", "test", "correction", "level", "sel"):
        assert getattr(back, name) == getattr(state, name)
    assert set(back.selection.values("request")) == {4096.0, "none"}


def test_defaults_are_left_out() -> None:
    assert ModesState().to_query() == "v=2"
    state = ModesState(x="load", y="dvfs", competitor="system", metric="energy_j")
    assert parse_qs(state.to_query()) == {
        "v": ["2"], "x": ["load"], "y": ["dvfs"], "who": ["system"], "metric": ["energy_j"],
    }  # fmt: skip


def test_the_controls_are_gathered_into_a_state() -> None:
    raw = {"workload": "fio", "mode": [], "x": "request", "y": "depth", "who": "mode",
           "metric": "bytes_per_joule", "level": 0.01, "test": "welch",
           "sel": 'knobs~{"io_depth":8,"request_bytes":4096}', "lake": None}  # fmt: skip
    state = ModesState.from_json(raw)
    assert state.selection == Selection.of(workload=["fio"])
    assert (state.test, state.level, state.rules.level) == ("welch", 0.01, 0.01)
    assert list(state.cell.items()) == [("request_bytes", 4096), ("io_depth", 8)]


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
    assert state.cell == cell
    assert ModesState(sel=sel).cell == {}


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
    state = ModesState.from_query(query)
    assert state.sel == sel
    assert ModesState.from_query(state.to_query()) == state


def test_a_cell_of_version_1_without_its_axes_is_left_out() -> None:
    assert ModesState.from_query("v=1&pick=[%22cell%22,50,2.9]").sel == ""


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("v=3", "version '3'"),
        ("v=2&sel=cells~1", "unknown kind of selection: 'cells~1'"),
        ("v=2&sel=outcome~lost", "the selection cannot be read"),
        ("v=1&x=energy_j", "x is 'energy_j', expected one of dataset, workload"),
        ("v=1&x=load&y=load", "axes and competitor must differ, not load, load"),
        ("v=1&x=load&who=load", "must differ"),
        ("v=1&metric=energy_j;--", "no such metric to compare: 'energy_j;--'"),
        ("v=1&test=z", "test is 'z', expected one of student, welch, mann-whitney"),
        ("v=1&corr=sidak", "corr is 'sidak'"),
        ("v=1&level=0", "level is 0"),
        ("v=1&level=nan", "level is 'nan', expected a finite number"),
        ("v=1&margin=log", "margin is 'log'"),
        ("v=1&against=run_id", "no such column to plot: 'run_id'"),
        ("v=1&lake=-1", "lake is '-1'"),
        ("v=1&load=fast", "load is 'fast', expected a number"),
    ],
)
def test_what_is_wrong_is_named(query: str, words: str) -> None:
    with pytest.raises(SelectionError) as caught:
        ModesState.from_query(query)
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
        ModesState.from_query(query)

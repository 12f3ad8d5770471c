"""The state of Modes in the URL: round trips, and every refusal in words."""

import json
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.modes.state import ModesState, Pick, prizes, read_pick
from data.analysis.significance import CORRECTIONS, TESTS
from data.errors import SelectionError
from data.knobs import KNOBS
from data.metrics import metric
from data.selection import Selection

KNOB_NAMES = st.lists(st.sampled_from(sorted(KNOBS)), min_size=3, max_size=3, unique=True)
VALUES = st.one_of(st.none(), st.text(max_size=20), st.floats(0, 1e7), st.integers(0, 10**9))
PICKS = st.one_of(
    st.just(""),
    st.tuples(VALUES, VALUES).map(lambda v: json.dumps(["cell", *v])),
    VALUES.map(lambda v: json.dumps(["won", v])),
    st.sampled_from(["tie", "too few", "alone"]).map(lambda v: json.dumps(["outcome", v])),
)


@given(
    KNOB_NAMES,
    st.sampled_from(prizes()),
    st.sampled_from(TESTS),
    st.sampled_from(CORRECTIONS),
    st.floats(1e-6, 0.5),
    st.sampled_from(["percent", "absolute"]),
    PICKS,
    st.one_of(st.none(), st.integers(0, 10**6)),
)
def test_a_state_survives_its_query(  # type: ignore[no-untyped-def]
    knobs, prize, test, correction, level, margin, pick, version
) -> None:
    x, y, competitor = knobs
    selection = Selection.of(mode=["poll", "none"], request=[4096, "none"], itr=["adaptive", 2])
    state = ModesState(
        selection, x, y, competitor, prize, test, correction, level, margin, "energy_j", pick,
        version,
    )  # fmt: skip
    back = ModesState.from_query(state.to_query())
    assert back.to_query() == state.to_query()
    for name in ("x", "y", "competitor", "metric", "test", "correction", "level", "pick"):
        assert getattr(back, name) == getattr(state, name)
    assert set(back.selection.values("request")) == {4096.0, "none"}


def test_defaults_are_left_out() -> None:
    assert ModesState().to_query() == "v=1"
    state = ModesState(x="load", y="dvfs", competitor="system", metric="energy_j")
    assert parse_qs(state.to_query()) == {
        "v": ["1"], "x": ["load"], "y": ["dvfs"], "who": ["system"], "metric": ["energy_j"],
    }  # fmt: skip


def test_the_controls_are_gathered_into_a_state() -> None:
    raw = {"workload": "fio", "mode": [], "x": "request", "y": "depth", "who": "mode",
           "metric": "bytes_per_joule", "level": 0.01, "test": "welch", "pick": '["cell",4096,8]',
           "lake": None}  # fmt: skip
    state = ModesState.from_json(raw)
    assert state.selection == Selection.of(workload=["fio"])
    assert (state.test, state.level, state.rules.level) == ("welch", 0.01, 0.01)
    assert state.picked == Pick("cell", x=4096, y=8)


def test_a_prize_has_a_direction() -> None:
    assert {"energy_j", "bytes_per_joule", "latency_p99_us", "edp_js"} <= set(prizes())
    assert all(metric(name).better for name in prizes())
    assert "rx_bytes" not in prizes()


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("v=2", "version '2'"),
        ("v=1&colour=red", "unknown part 'colour'"),
        ("v=1&x=energy_j", "x is 'energy_j', expected one of dataset, workload"),
        ("v=1&x=load&y=load", "axes and competitor must differ, not load, load"),
        ("v=1&x=load&who=load", "must differ"),
        ("v=1&metric=rx_bytes", "no metric of which one direction is better: 'rx_bytes'"),
        ("v=1&metric=energy_j;--", "no metric"),
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
    ["cell", "[]", '["cell"]', '["cell",1]', '["cell",1,[2]]', '["outcome","win by luck"]',
     '{"cell":1}', '["won",true]', '["cell",1,' + "1" * 500 + "]", "[[1]]", "null",
     '["cell",NaN,1]', '["cells"]', '["cells",1]', '["cells",[1]]', '["cells",[1,[2]]]',
     '["cells",[1,"' + "x" * 6000 + '"]]'],
)  # fmt: skip
def test_a_selection_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(SelectionError, match="a selection that is none"):
        read_pick(text)

"""The URL state of Storage: round trips, old and foreign links, selections that are none."""

import json
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.storage.state import SPREADS, VIEWS_OF_VERSION_1, StorageState, knob_columns
from app.storage.views import ALL, BY_NAME, OF_VERSION_1, SECTIONS, VIEWS
from data.catalogue import SHIPPED
from data.errors import SelectionError
from data.selection import Selection

CLAUSES = st.one_of(
    st.just(""),
    st.dictionaries(
        st.sampled_from(knob_columns(SHIPPED)),
        st.one_of(st.none(), st.text(max_size=8), st.integers(0, 1 << 20)),
        min_size=1,
        max_size=4,
    ).map(lambda knobs: "knobs~" + json.dumps(knobs)),
    st.floats(-1e6, 1e6).map(
        lambda x: f'box~io_depth~iops~{x!r}~1.5~-2~3e-05~{{"device":"a~b","rw":["read","write"]}}'
    ),
    st.tuples(st.sampled_from(VIEWS_OF_VERSION_1), st.integers(0, 5), st.floats(-1e6, 1e6)).map(
        lambda p: f"panel~{p[0]}~{p[1]}~{p[2]!r}~1.5~-2~3e-05"
    ),
)


@given(
    st.builds(
        StorageState,
        selection=st.just(Selection.of(device=["optane"], request=[4096.0], dvfs=["governor"])),
        at_device=st.sampled_from([None, "optane", "a/b & c"]),
        at_rw=st.sampled_from([None, "randread"]),
        at_request=st.sampled_from([None, 512.0, 65536.0]),
        spread=st.sampled_from(SPREADS),
        sel=CLAUSES,
        lake_version=st.sampled_from([None, 0, 42]),
    )
)
def test_a_state_comes_back_from_its_query(state: StorageState) -> None:
    query = state.to_query()
    assert StorageState.from_query(query, SHIPPED) == state
    assert StorageState.from_query(query, SHIPPED).to_query() == query


def test_defaults_are_left_out() -> None:
    assert StorageState().to_query() == "v=3"


@pytest.mark.parametrize("version", [1, 2])
def test_an_old_link_with_a_utilisation_opens(version: int) -> None:
    state = StorageState.from_query(f"v={version}&device=disk&use=iops", SHIPPED)
    assert state == StorageState(Selection.of(device=["disk"]))


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("v=4", "version '4'"),
        ("v=2&err=se", "err is 'se', expected one of ci, sd"),
        ("v=2&size=big", "size is 'big'"),
        ("v=2&size=0", "size is 0, expected bytes above 0"),
        ("v=2&depth=many", "depth"),
    ],
)
def test_a_bad_link_is_refused_by_name(query: str, message: str) -> None:
    with pytest.raises(SelectionError, match=message):
        StorageState.from_query(query, SHIPPED)


@pytest.mark.parametrize(
    "clause",
    [
        "all", "knobs~", "knobs~{}", 'knobs~{"energy_j":1}', 'knobs~{"mode":true}',
        "box~iops~0~1~2~3", "box~nothing~iops~1~2~3~4", "box~io_depth~iops~1~2~3~nan",
        "panel~iops~0~1~2~3", "panel~nothing~0~1~2~3~4", "panel~iops~x~1~2~3~4",
        "panel~iops~0~1~2~3~nan", "won~1",
    ],
)  # fmt: skip
def test_a_text_that_is_no_clause_is_refused(clause: str) -> None:
    with pytest.raises(SelectionError):
        StorageState(sel=clause).check(SHIPPED)


@pytest.mark.parametrize(
    ("pick", "sel"),
    [
        ('knobs~{"mode":"poll","io_depth":8}', 'knobs~{"mode":"poll","io_depth":8}'),
        ("box~power-cpu~0~40~100~45~45", "panel~power-cpu~0~40~100~45~45"),
    ],
)
def test_a_selection_of_version_1_is_upgraded(pick: str, sel: str) -> None:
    state = StorageState.from_query(
        urlencode({"v": "1", "device": "optane", "pick": pick}), SHIPPED
    )
    assert state == StorageState(Selection.of(device=["optane"]), sel=sel)


def test_controls_are_gathered_into_a_state() -> None:
    state = StorageState.from_json(
        {"device": ["optane"], "at": None, "size": 4096, "err": "sd"}, SHIPPED
    )
    assert state.selection == Selection.of(device=["optane"])
    assert (state.at_device, state.at_request, state.spread) == (None, 4096.0, "sd")


def test_every_view_has_a_name_of_its_own_and_a_section() -> None:
    assert len(BY_NAME) == len(ALL)
    assert set(VIEWS_OF_VERSION_1) <= set(OF_VERSION_1)
    assert {view.section for view in VIEWS} <= set(SECTIONS)

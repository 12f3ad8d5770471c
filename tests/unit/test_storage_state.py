"""The URL state of Storage: round trips, old and foreign links, selections that are none."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.storage.state import KNOBS, SPREADS, USES, StorageState
from app.storage.views import BY_NAME, SECTIONS, VIEWS
from data.errors import SelectionError
from data.selection import Selection

PICKS = st.one_of(
    st.just(""),
    st.dictionaries(
        st.sampled_from(KNOBS),
        st.one_of(st.none(), st.text(max_size=8), st.integers(0, 1 << 20)),
        min_size=1,
        max_size=4,
    ).map(lambda knobs: "knobs~" + json.dumps(knobs)),
    st.tuples(st.sampled_from(sorted(BY_NAME)), st.integers(0, 5), st.floats(-1e6, 1e6)).map(
        lambda p: f"box~{p[0]}~{p[1]}~{p[2]!r}~1.5~-2~3e-05"
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
        use=st.sampled_from(USES),
        pick=PICKS,
        lake_version=st.sampled_from([None, 0, 42]),
    )
)
def test_a_state_comes_back_from_its_query(state: StorageState) -> None:
    query = state.to_query()
    assert StorageState.from_query(query) == state
    assert StorageState.from_query(query).to_query() == query


def test_defaults_are_left_out() -> None:
    assert StorageState().to_query() == "v=1"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("v=2", "version '2'"),
        ("v=1&depthh=3", "unknown part 'depthh'"),
        ("v=1&err=se", "err is 'se', expected one of ci, sd"),
        ("v=1&use=power_w", "use is 'power_w'"),
        ("v=1&size=big", "size is 'big'"),
        ("v=1&size=0", "size is 0, expected bytes above 0"),
        ("v=1&depth=many", "depth"),
        ("v=1&lake=-1", "lake"),
    ],
)
def test_a_bad_link_is_refused_by_name(query: str, message: str) -> None:
    with pytest.raises(SelectionError, match=message):
        StorageState.from_query(query)


@pytest.mark.parametrize(
    "pick",
    [
        "all", "knobs~", "knobs~{}", "knobs~[1]", 'knobs~{"energy_j":1}', 'knobs~{"mode":["poll"]}',
        'knobs~{"mode":true}', "box~iops~0~1~2~3", "box~nothing~0~1~2~3~4", "box~iops~x~1~2~3~4",
        "box~iops~0~1~2~3~nan", "box~iops~0~1~2~3~4~5", 'knobs~{"mode":"' + "p" * 1000 + '"}',
    ],
)  # fmt: skip
def test_a_selection_that_is_none_is_refused(pick: str) -> None:
    with pytest.raises(SelectionError, match="a selection that is none"):
        StorageState(pick=pick)


def test_controls_are_gathered_into_a_state() -> None:
    state = StorageState.from_json({"device": ["optane"], "at": None, "size": 4096, "err": "sd"})
    assert state.selection == Selection.of(device=["optane"])
    assert (state.at_device, state.at_request, state.spread) == (None, 4096.0, "sd")


def test_every_view_has_a_name_of_its_own_and_a_section() -> None:
    assert len(BY_NAME) == len(VIEWS)
    assert {view.section for view in VIEWS} <= set(SECTIONS)

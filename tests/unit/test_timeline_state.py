"""The timeline's URL: what goes in comes out, and what is wrong with a link is named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.timeline.panels import DEFAULT_PANELS, HEATS, PANELS
from app.timeline.state import TimelineState
from data.catalogue import SHIPPED
from data.errors import SelectionError
from data.timeline.alignment import ALIGNMENTS
from data.timeline.question import MOST_CORES, chosen_cores


@st.composite
def states(draw: st.DrawFn) -> TimelineState:
    runs = draw(st.lists(st.text(min_size=1, max_size=40), unique=True, max_size=6))
    begin = draw(st.none() | st.floats(0, 1e4))
    end = draw(st.none() | st.floats(1e4 + 1, 1e6))
    base = draw(st.integers(0, max(len(runs) - 1, 0)))
    others = [place for place in range(len(runs)) if place != base]
    return TimelineState(
        runs=tuple(runs),
        hues=tuple(draw(st.just([]) | st.permutations(range(len(runs))))),
        panels=draw(st.none() | st.lists(st.sampled_from(list(PANELS)), unique=True).map(tuple)),
        cores=draw(st.sampled_from(("all", "packages", "3", "0,2,5-7"))),
        align=draw(st.sampled_from(tuple(ALIGNMENTS))),
        from_x=begin,
        to_x=end,
        heat=draw(st.sampled_from((*HEATS, "none"))),
        layout=draw(st.sampled_from(("overlay", "stacked"))),
        base=base,
        other=draw(st.none() | st.sampled_from(others)) if others else None,
        lake_version=draw(st.none() | st.integers(0, 10**6)),
    )


@given(state=states())
def test_a_state_comes_back_from_its_query(state: TimelineState) -> None:
    found = TimelineState.from_query("?" + state.to_query(), SHIPPED)
    assert found.to_query() == state.to_query()
    # Colours in the order of the runs are those that there are without a word.
    if state.hues != tuple(range(len(state.runs))):
        assert found == state


def test_defaults_are_left_out() -> None:
    assert TimelineState().to_query() == "v=2"
    state = TimelineState(runs=("a", "b"), hues=(0, 1), from_x=1.5, cores="0,2")
    assert state.to_query() == "v=2&run=a&run=b&cores=0%2C2&from=1.5"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("v=3", "version '3'; this wattlas reads up to 2"),
        ("v=1&panel=sound", "no panel 'sound'; known: bytes,"),
        ("v=2&align=joy", "no alignment 'joy'; known: time, rx_bytes"),
        ("v=2&align=rx_bytes&from=3&to=2", "ends at 2 B, before it begins at 3 B"),
        ("v=1&heat=joy", "no heatmap of 'joy'; known: interrupts,"),
        ("v=1&cores=", "expected all, packages, or a list"),
        ("v=1&cores=0-40", f"{MOST_CORES} cores at most"),
        ("v=1&cores=5-2", "runs backwards"),
        ("v=1&cores=0,1,2,3,4,5,6,7,8", "names 9: 8 at most, each is a line"),
        ("v=1&from=3&to=3", "the window ends at 3 s, before it begins at 3 s"),
        ("v=1&from=inf", "from is 'inf', expected a finite number"),
        ("v=1&layout=spiral", "layout is 'spiral', expected overlay or stacked"),
        ("v=1&run=a&base=1", "base is 1, there are 1 runs"),
        ("v=1&base=-1", "base is '-1', expected a whole number"),
        ("v=1&run=a&run=b&other=2", "other is 2, there are 2 runs"),
        ("v=1&run=a&run=b&base=1&other=1", "other is 1, which is also the base"),
        ("v=1&run=a&run=b&other=b", "other is 'b', expected a whole number"),
        ("v=1&panel=none&panel=gap", "no panel 'none'; known: bytes,"),
        ("v=1&run=a&hue=0&hue=1", "2 colours for 1 runs"),
        ("v=1&run=a&hue=x", "hue is 'x', expected a whole number"),
        ("v=1&" + "&".join(f"run={at}" for at in range(7)), "7 runs; a timeline shows 6 at most"),
        ("v=1&run=" + "a" * 301, "no run has the id"),
    ],
)
def test_what_is_wrong_with_a_link_is_named(query: str, words: str) -> None:
    with pytest.raises(SelectionError) as caught:
        TimelineState.from_query(query, SHIPPED)
    assert words in str(caught.value)


def test_no_panel_at_all_is_not_those_by_default() -> None:
    none = TimelineState.from_query("v=1&panel=none", SHIPPED)
    assert (none.panels, none.shown_panels) == ((), ())
    assert none.to_query() == "v=2&panel=none"
    assert TimelineState.from_query("v=1", SHIPPED).shown_panels == DEFAULT_PANELS


def test_links_of_version_1_are_read() -> None:
    picked = "open=%7B%22itr_us%22%3A50%7D&open=%7B%22itr_us%22%3Anull%7D&of=27"
    for query in (picked, f"v=1&lake=3&{picked}"):
        state = TimelineState.from_query(query, SHIPPED)
        assert (state.sel, state.picked) == ('knobs~[{"itr_us":50},{"itr_us":null}]', 27)
    assert state.lake_version == 3
    state = TimelineState.from_query("v=1&run=a&run=b&hue=3&hue=1&panel=gap&to=2&base=1", SHIPPED)
    assert state.to_query() == "v=2&run=a&run=b&hue=3&hue=1&panel=gap&to=2&base=1"


def test_a_run_is_named_once() -> None:
    assert TimelineState.from_query("v=1&run=a&run=a", SHIPPED).runs == ("a",)
    with pytest.raises(SelectionError, match="named twice: a"):
        TimelineState(runs=("a", "a"))


def test_lists_of_cores() -> None:
    assert chosen_cores("all") is None
    assert chosen_cores("packages") is None
    assert chosen_cores("0, 2,5-7,2") == (0, 2, 5, 6, 7)

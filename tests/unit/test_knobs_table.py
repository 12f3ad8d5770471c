"""Knobs as labels and in sentences."""

import pytest

from data.catalogue import SHIPPED
from data.knob_table import KNOB_TABLE, ShippedKnob
from data.schema import RUNS
from data.units import lowered
from ingest.discover.names import KEY_KNOBS
from ingest.formats import sidecar
from ingest.settings.patterns import GROUPS
from ingest.settings.tables import target_kinds


def test_every_filter_is_a_knob_in_the_same_order() -> None:
    assert list(SHIPPED.knobs) == list(SHIPPED.facets)


@pytest.mark.parametrize(
    ("name", "value", "label", "words"),
    [
        ("itr", 2.0, "2", "ITR 2 us"),
        ("itr", None, "adaptive", "ITR adaptive"),
        ("dvfs", 2.9, "2.9", "2.9 GHz"),
        ("dvfs", None, "governor", "governor"),
        ("load", 200_000.0, "200k QPS", "200k QPS"),
        ("request", 4096, "4 KiB", "4 KiB requests"),
        ("depth", 8, "8", "depth 8"),
        ("threads", 8, "8", "8 threads"),
        ("mode", "poll", "classic polling", "classic polling"),
        ("mode", None, "none", "no mode"),
        ("workload", "nodejs", "node.js", "node.js"),
        ("rapl", 135.0, "135", "135 W"),
        ("delay", 5.0, "5", "hybrid delay 5 us"),
        ("scheduler", "none", "none", "scheduler none"),
        ("engine", "io_uring", "io_uring", "io_uring"),
        ("work", "30 s", "30 s", "30 s"),
    ],
)
def test_labels_and_words(name: str, value: float | str | None, label: str, words: str) -> None:
    assert (SHIPPED.knobs[name].label(value), SHIPPED.knobs[name].words(value)) == (label, words)


def test_an_axis_title_carries_the_unit_of_its_labels() -> None:
    assert SHIPPED.knobs["dvfs"].axis_title == "Processor frequency (DVFS), GHz"
    assert SHIPPED.knobs["load"].axis_title == "Target load"


def test_loads_and_sizes_are_given_systems_and_delays_are_set() -> None:
    given = {name for name, knob in SHIPPED.knobs.items() if knob.is_given}
    assert {"load", "request", "depth", "rw", "device", "workload", "machine", "work"} <= given
    assert not given & {"system", "mode", "itr", "dvfs", "rapl", "delay", "engine"}


def test_menus_and_sentences_use_the_field_s_own_abbreviations() -> None:
    assert (SHIPPED.knobs["itr"].menu_title, SHIPPED.knobs["itr"].noun) == ("ITR", "ITR")
    assert (SHIPPED.knobs["dvfs"].menu_title, SHIPPED.knobs["depth"].noun) == ("DVFS", "IO depth")
    request = SHIPPED.knobs["request"]
    assert (request.menu_title, request.noun) == ("Request size", "request size")
    titles = ("GPU Cap", "Mean latency", "IOs per joule")
    assert [*map(lowered, titles)] == ["GPU Cap", "mean latency", "IOs per joule"]


@pytest.mark.parametrize("row", KNOB_TABLE, ids=lambda row: row.facet)
def test_all_lists_of_knobs_follow_from_the_table(row: ShippedKnob) -> None:
    assert SHIPPED.facets[row.facet].column == row.column
    assert SHIPPED.knobs[row.facet].title == SHIPPED.metric(row.column).title == row.title
    assert {row.column, *row.beside} <= {*RUNS.names} & {*SHIPPED.configuration}
    assert row.column in SHIPPED.shown
    assert (row.column in SHIPPED.choice_columns) == (row.is_given or row.facet == "system")
    assert (row.column in SHIPPED.setting_columns) == (not row.is_given and row.facet != "system")
    stated = bool(row.token)
    assert (row.stated_as in GROUPS) == stated
    assert row.stated_as in sidecar.KEYS or not stated
    assert (row.run_key in KEY_KNOBS) == stated
    assert row.stated_as in target_kinds({}) or not stated


def test_positions_are_those_of_one_order_each() -> None:
    for positions in (
        [row.column_order for row in KNOB_TABLE],
        [row.token_order for row in KNOB_TABLE if row.token],
    ):
        assert sorted(positions) == list(range(1, len(positions) + 1))

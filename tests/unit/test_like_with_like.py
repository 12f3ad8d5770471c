"""Which runs a view takes means over, on tables drawn as text."""

import polars as pl
import pytest

from app.kit.words import slice_words
from data.analysis.like_with_like import Slice, check_pool, like_with_like
from data.catalogue import SHIPPED
from data.errors import SelectionError
from data.selection import Selection
from tests.fixtures.lakes import runs_from_text

ITR, DVFS, RAPL, LOAD, SYSTEM = (
    SHIPPED.knobs[name] for name in ("itr", "dvfs", "rapl", "load", "system")
)


def rows(text: str) -> pl.DataFrame:
    """A filter cube with one run a line; a column `runs` says otherwise."""
    columns = [knob.column for knob in SHIPPED.knobs.values()]
    found = [{"runs": 1, **row} for row in runs_from_text(text)]
    return pl.DataFrame(
        [{name: row.get(name) for name in (*columns, "runs")} for row in found],
        infer_schema_length=None,
    )


# ITR x DVFS: 135 W fills three cells, 75 W two of them with more runs.
LIMITS = """
itr_us  dvfs_ghz  rapl_w  runs
2.0     1.3       135.0   1
2.0     2.9       135.0   1
50.0    2.9       135.0   1
2.0     1.3       75.0    9
2.0     2.9       75.0    9
"""


def words(found: Slice) -> str:
    return slice_words(found, {})


def test_the_value_of_most_filled_cells_is_shown_and_named() -> None:
    found = like_with_like(rows(LIMITS), (ITR, DVFS), catalogue=SHIPPED)
    assert found.place == {"rapl_w": 135.0}
    assert words(found) == "135 W of 2 power limits (most complete)"
    assert len(found.of(rows(LIMITS))) == 3
    assert found.narrow(Selection()).values("rapl") == (135.0,)


def test_a_setting_is_pooled_only_if_the_reader_chose_so() -> None:
    found = like_with_like(rows(LIMITS), (ITR, DVFS), ("rapl",), catalogue=SHIPPED)
    assert found.fixed == ()
    # ITR 50 us, 2.9 GHz lacks 75 W.
    assert words(found) == "over 2 power limits, unbalanced"
    balanced = rows(LIMITS).filter(pl.col("itr_us") == 2)
    assert (
        words(like_with_like(balanced, (ITR, DVFS), ("rapl",), catalogue=SHIPPED))
        == "over 2 power limits"
    )


def test_of_equal_cells_the_one_with_more_runs_then_the_order_of_the_knobs() -> None:
    at_2us = rows(LIMITS).filter(pl.col("itr_us") == 2)
    assert like_with_like(at_2us, (ITR, DVFS), catalogue=SHIPPED).place == {"rapl_w": 75.0}
    alike = at_2us.with_columns(runs=pl.lit(1))
    # The highest power limit: it limits least.
    assert like_with_like(alike, (ITR, DVFS), catalogue=SHIPPED).place == {"rapl_w": 135.0}


# Together: 400k QPS at 75 W fills two cells, though 200k and 135 W have more each.
JOINT = """
itr_us  load_qps  rapl_w
2.0     200000.0  135.0
2.0     200000.0  95.0
50.0    200000.0  55.0
2.0     400000.0  75.0
50.0    400000.0  75.0
50.0    600000.0  135.0
"""


def test_all_knobs_are_chosen_together() -> None:
    found = like_with_like(rows(JOINT), (ITR,), catalogue=SHIPPED)
    assert found.place == {"load_qps": 400_000.0, "rapl_w": 75.0}
    # At 400k QPS 75 W was measured alone: nothing was chosen there.
    assert words(found) == "400k QPS of 3 target loads (most complete)"


def test_loads_are_never_pooled() -> None:
    found = like_with_like(rows(JOINT), (ITR,), ("load", "rapl"), catalogue=SHIPPED)
    assert found.place == {"load_qps": 200_000.0}
    assert words(found) == (
        "200k QPS of 3 target loads (most complete) · over 3 power limits, unbalanced"
    )
    with pytest.raises(SelectionError, match="target loads are never pooled"):
        check_pool(["load"], SHIPPED)
    with pytest.raises(SelectionError, match="no such knob to pool: 'speed'"):
        check_pool(["speed"], SHIPPED)


# Each load was measured at delays of its own.
APART = """
itr_us  load_qps
2.0     200000.0
4.0     200000.0
8.0     400000.0
"""


def test_cells_of_one_picture_have_one_load() -> None:
    assert like_with_like(rows(APART), (ITR,), catalogue=SHIPPED).place == {"load_qps": 200_000.0}
    assert like_with_like(rows(APART), (ITR, LOAD), catalogue=SHIPPED).fixed == ()


# The threads follow from the depth; the governor belongs to the default system alone.
FOLLOWS = """
io_depth  threads  system         dvfs_ghz  load_qps
1         1        linux_default  -         -
4         4        linux_default  -         -
1         1        linux_tuned    2.9       -
4         4        linux_tuned    2.9       -
"""


def test_what_follows_from_the_cell_needs_no_choice() -> None:
    assert (
        like_with_like(rows(FOLLOWS), (SHIPPED.knobs["depth"], SYSTEM), catalogue=SHIPPED).fixed
        == ()
    )
    found = like_with_like(rows(FOLLOWS), (SHIPPED.knobs["depth"],), catalogue=SHIPPED)
    # Once the system is chosen, its frequency is.
    assert words(found) == "linux_default of 2 systems (most complete)"
    assert found.place == {"system": "linux_default", "dvfs_ghz": None}


def test_given_knobs_alone() -> None:
    found = like_with_like(rows(JOINT), (ITR,), is_given_only=True, catalogue=SHIPPED)
    assert found.place == {"load_qps": 200_000.0}


def test_no_runs() -> None:
    assert (
        like_with_like(rows(LIMITS).clear(), (ITR, DVFS), ("rapl",), catalogue=SHIPPED) == Slice()
    )

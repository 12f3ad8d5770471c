"""How a view was computed, in words: everything that decides the answer, in the order it came."""

from pathlib import Path

from app.kit.explanation import explanation
from app.kit.lakes import LakeView
from data.connection import open_lake
from data.selection import Selection
from tests.fixtures.lakes import run, write_lake

QUERY = ("SELECT 1 WHERE workload = ?", ["memcached"])


def opened(tmp_path: Path) -> LakeView:
    return LakeView(open_lake(write_lake(tmp_path / "my-lake", [run()])))


def test_it_has_lake_filters_query_and_what_followed(tmp_path: Path) -> None:
    selection = Selection.of(workload=["memcached"], load=[2e5], itr=[2, "adaptive"])
    said = explanation(opened(tmp_path), selection, QUERY, ["before"], ["pooled", ""], True)
    assert said.split("\n\n") == [
        f"lake my-lake, version 0\nfilters: {selection.in_words()}",
        "before",
        "SELECT 1 WHERE workload = 'memcached'",
        # The workload leads: the lake was asked for it.
        "then, in memory: of these rows those with load 200000 QPS; itr 2 us or adaptive",
        "then, in memory: pooled",
    ]


def test_an_answer_that_the_lake_filtered_was_not_filtered_again(tmp_path: Path) -> None:
    said = explanation(opened(tmp_path), Selection.of(load=[2e5]), QUERY)
    assert "in memory" not in said
    assert said.endswith("WHERE workload = 'memcached'")
    assert "filters: all runs" in explanation(opened(tmp_path), Selection(), QUERY)

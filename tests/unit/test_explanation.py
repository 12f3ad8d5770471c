"""How a view was computed, in words: everything that decides the answer, in the order it came."""

from pathlib import Path

from app.kit.lake_view import LakeView
from app.kit.words import explanation
from data.connection import open_lake
from data.selection import Selection
from tests.fixtures.lakes import run, write_lake

QUERY = ("SELECT 1 WHERE workload = ?", ["memcached"])


def opened(tmp_path: Path) -> LakeView:
    return LakeView(open_lake(write_lake(tmp_path / "my-lake", [run()])))


def test_it_has_lake_filters_query_and_what_followed(tmp_path: Path) -> None:
    selection = Selection.of(workload=["memcached"], load=[2e5], itr=[2, "adaptive"])
    said = explanation(opened(tmp_path), selection, QUERY, ["before"], ["pooled", ""])
    assert said.split("\n\n") == [
        f"lake my-lake, version 0\nfilters: {selection.in_words()}",
        "before",
        "SELECT 1 WHERE workload = 'memcached'",
        "then: pooled",
    ]


def test_a_view_without_filters_or_steps_says_so(tmp_path: Path) -> None:
    said = explanation(opened(tmp_path), Selection(), QUERY)
    assert "filters: all runs" in said
    assert said.endswith("WHERE workload = 'memcached'")

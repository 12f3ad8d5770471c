"""Distributions of runs from shared and own files; runs unlike their replicates."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data.connection import open_lake
from data.distributions import by_level, read_distributions, unlike_siblings
from data.errors import DataError
from data.schema import DISTRIBUTIONS, HISTOGRAMS
from tests.fixtures.lakes import run, write_lake


def _entry(lake: Path, table: str, name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    path = Path(table) / "tiny" / f"{name}.parquet"
    (lake / path).parent.mkdir(parents=True, exist_ok=True)
    schema = {"distributions": DISTRIBUTIONS, "histograms": HISTOGRAMS}[table]
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), lake / path)
    size = (lake / path).stat().st_size
    return {"table": table, "path": str(path), "size_bytes": size, "rows": len(rows)}


def _shared(run_id: str, counts: dict[int, int]) -> list[dict[str, Any]]:
    """Gaps of a few ns: slots below 16 hold one value each."""
    base = {"run_id": run_id, "quantity": "gap_ns"}
    return [
        {**base, "slot": s, "low": float(s), "high": s + 1.0, "count": n} for s, n in counts.items()
    ]


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """Replicates a, b, c, d of one configuration; e, of an older lake, of another.

    a, b and c have gaps of 1 and 3 ns; those of d are 7 and 15. Of b the file also holds what was
    read before: gaps of 9. e has counts at two levels and of two cores.
    """
    now = [row for r in "abc" for row in _shared(r, {1: 2, 3: 2})] + _shared("d", {7: 1, 15: 1})
    file = _entry(tmp_path, "distributions", "new", now)
    _entry(tmp_path, "distributions", "old", _shared("b", {9: 5}))
    stretch = {"run_id": "e", "t_ns": 0, "quantity": "gap_ns"}
    rows = [
        {**stretch, "level": level, "core": core, "bin": 0, "slot": 2, "count": 3}
        for level in (2, 16)
        for core in (0, 1)
    ]
    older = _entry(tmp_path, "histograms", "e", rows)
    runs = [run(run_id=r, replicate=at, has_log=True, files=[file]) for at, r in enumerate("abcd")]
    runs.append(run(run_id="e", itr_us=50.0, has_log=True, files=[older]))
    return write_lake(tmp_path, [*runs, run(run_id="f", itr_us=50.0, replicate=1)])


def test_distributions_are_read_from_shared_and_from_own_files(lake: Path) -> None:
    with open_lake(lake) as opened:
        found = read_distributions(opened, list("fedba"), "gap_ns")
        assert (found.run_ids, found.missing) == (("e", "d", "b", "a"), ("f",))
        assert found.low.tolist() == [1, 2, 3, 7, 15]
        # Both cores of the coarsest level of e.
        assert found.counts.tolist() == [
            [0, 6, 0, 0, 0], [0, 0, 0, 1, 1], [2, 0, 2, 0, 0], [2, 0, 2, 0, 0],
        ]  # fmt: skip
        power = read_distributions(opened, list("ae"), "power_w")
        assert (power.run_ids, power.missing) == ((), ("a", "e"))
        with pytest.raises(DataError, match="no distribution of 'energy'"):
            read_distributions(opened, ["a"], "energy")


def test_each_run_of_a_level_counts_as_much_as_another(lake: Path) -> None:
    with open_lake(lake) as opened:
        found = read_distributions(opened, list("abde"), "gap_ns")
    levels = by_level(found, {"a": 2.0, "b": 2.0, "d": 2.0, "e": 50.0})
    # Two of three runs have half of their gaps at 1, though d has fewer gaps.
    assert levels[2.0].shares == pytest.approx(np.array([2, 0, 2, 1, 1]) / 6)
    assert levels[50.0].shares == pytest.approx([0, 1, 0, 0, 0])
    medians = found.quantiles(np.stack([levels[2.0].shares, levels[50.0].shares]), [0.5])
    assert medians.ravel().tolist() == [3, 2]


def test_the_replicate_unlike_its_siblings_comes_first(lake: Path) -> None:
    with open_lake(lake) as opened:
        table = unlike_siblings(opened, list("abcdef"), "gap_ns")
    first = table.row(0, named=True)
    # 1 and 3 ns become 7 and 15: 2 to 8 and 4 to 16 after adding 1, two doublings each.
    assert (first["run_id"], first["sibling"], first["n"]) == ("d", "a", 4)
    assert first["distance_doublings"] == pytest.approx(2.0)
    assert table["distance_doublings"].to_list()[1:] == [0.0] * 3, "e has no replicates"
    assert table["usual_doublings"].to_list() == [0.0] + [pytest.approx(2.0)] * 3


def test_views_join_knobs_and_leave_out_rows_of_runs_read_again(lake: Path) -> None:
    with open_lake(lake) as opened:
        rows = opened.polars(
            "SELECT run_id, itr_us, sum(count) AS n FROM distributions GROUP BY ALL ORDER BY ALL"
        )
        assert rows.rows() == [("a", 2.0, 4), ("b", 2.0, 4), ("c", 2.0, 4), ("d", 2.0, 2)]
        rows = opened.polars("SELECT itr_us, sum(count) AS n FROM histograms GROUP BY ALL")
        assert rows.rows() == [(50.0, 12)]
        assert len(opened.polars("SELECT * FROM runs, interrupts")) == 0, "no run has any"

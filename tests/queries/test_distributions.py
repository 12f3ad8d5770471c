"""Distributions of runs from shared and own files; runs unlike their replicates."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data.analysis.log_metrics import SERIES_BINS
from data.connection import open_lake
from data.distributions import Distributions, by_level, read_distributions, read_quantities
from data.errors import DataError
from data.schema import DISTRIBUTIONS, HISTOGRAMS
from data.siblings import ODD_TIMES, compare, unlike_siblings
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


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Replicates a, b, c, d of one configuration; e, of an older lake, of another.

    a, b and c have gaps of 1 and 3 ns; those of d are 7 and 15. Of b the file also holds what was
    read before: gaps of 9. e has counts at two levels and of two cores.
    """
    tmp_path = tmp_path_factory.mktemp("lake")
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
        table = unlike_siblings(opened, list("abcdef"), ["gap_ns", "power_w"])
    first = table.row(0, named=True)
    # 1 and 3 ns become 7 and 15: 2 to 8 and 4 to 16 after adding 1, two doublings each.
    assert (first["run_id"], first["sibling"], first["n"]) == ("d", "a", 4)
    assert first["distance"] == pytest.approx(2.0)
    assert table["distance"].to_list()[1:] == [0.0] * 3, "e has no replicates"
    assert table["usual"].to_list() == [0.0] + [pytest.approx(2.0)] * 3
    assert first["times_usual"] == pytest.approx(1.0), "four alone do not tell which is usual"


def test_many_replicates_are_compared_in_parts_and_counted_as_a_whole() -> None:
    found = _as_read("gap_ns", np.full((250, 2), 7))
    assert compare(_runs(1, 250, 1), found)["n"].unique().to_list() == [250]


def test_files_are_found_checked_and_read_once(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_lake(lake) as opened:
        alone = [read_distributions(opened, list("abcde"), name) for name in ("gap_ns", "power_w")]
        read = Mock(wraps=pq.read_table)
        monkeypatch.setattr(pq, "read_table", read)
        both = list(read_quantities(opened, list("abcde"), ["gap_ns", "power_w"]))
    assert read.call_count == 2, "the file of a, b, c and d, and that of e"
    assert [(e.run_ids, e.counts.tolist()) for e in both] == [
        (e.run_ids, e.counts.tolist()) for e in alone
    ]


def _as_read(quantity: str, counts: np.ndarray) -> Distributions:
    """Runs 0, 1, 2 ... of one quantity."""
    slots = np.arange(counts.shape[1], dtype=float)
    return Distributions(
        quantity, tuple(map(str, range(len(counts)))), slots, slots + 1, counts, ()
    )


def _runs(configurations: int, n: int, choices: int, duration_s: Sequence[float] = (10,)) -> Any:
    configuration = np.repeat(np.arange(configurations), n)
    return pl.DataFrame({
        "run_id": list(map(str, range(configurations * n))),
        "duration_s": np.resize(np.array(duration_s, float), configurations * n),
        "configuration": configuration, "choice": configuration // (configurations // choices),
    })  # fmt: skip


@pytest.mark.parametrize(
    ("n", "choices", "most_false", "least_found"),
    [(3, 400, 0.0, 0.0), (3, 40, 0.01, 0.9), (5, 400, 0.03, 0.95), (10, 400, 0.01, 0.95)],
    ids=["3 alone", "3 of 10 settings", "5 alone", "10 alone"],
)
def test_equal_replicates_are_seldom_odd_and_a_far_one_is_found(
    n: int, choices: int, most_false: float, least_found: float
) -> None:
    """400 configurations of runs that differ in level alone, the worst case; then one is far."""
    random = np.random.default_rng(1)
    level = 1e6 * 2 ** (random.normal(0, 0.1, 400 * n).round(3) + 1)
    runs = _runs(400, n, choices)
    for is_far in (False, True):
        if is_far:
            level[:: 10 * n] *= 2**3
        slots = np.unique(level)
        counts = (level[:, None] == slots).astype(np.int64)
        found = Distributions("power_w", tuple(runs["run_id"]), slots, slots + 1, counts, ())
        odd = compare(runs, found).filter(pl.col("times_usual") > ODD_TIMES)["run_id"]
        far = {str(run) for run in range(0, 400 * n, 10 * n)} if is_far else set()
        assert len(set(odd) - far) <= most_false * 400
        assert len(set(odd) & far) >= least_found * len(far)


def test_a_series_is_compared_on_the_time_since_the_start() -> None:
    """Steady runs of 10, 10 and 20 s: the third counts half after the others have ended."""
    steady = _as_read("energy_over_time", np.full((3, SERIES_BINS), 100))
    told = compare(_runs(1, 3, 1, (10, 10, 20)), steady).sort("run_id")
    # Mean time of what is counted: 5 and 10 s, of 20 s.
    assert told["distance"].to_list() == pytest.approx([1 / 8, 1 / 8, 1 / 4], abs=0.01)
    assert told["usual"].to_list() == pytest.approx([1 / 4, 1 / 4, 0], abs=0.01)
    # A tenth of the time without any: as in the sum over the parts before, in and after it.
    stalled = np.full((5, SERIES_BINS), 100)
    stalled[2, 30:37] = 0
    table = compare(_runs(1, 5, 1), _as_read("interrupts_over_time", stalled))
    first = table.sort("times_usual").row(-1, named=True)
    assert (first["run_id"], first["usual"]) == ("2", 0)
    assert first["distance"] == pytest.approx(0.024, abs=0.004)
    assert first["times_usual"] == pytest.approx(first["distance"] * 8 / 0.01), "of what is little"


def test_views_join_knobs_and_leave_out_rows_of_runs_read_again(lake: Path) -> None:
    with open_lake(lake) as opened:
        rows = opened.polars(
            "SELECT run_id, itr_us, sum(count) AS n FROM distributions GROUP BY ALL ORDER BY ALL"
        )
        assert rows.rows() == [("a", 2.0, 4), ("b", 2.0, 4), ("c", 2.0, 4), ("d", 2.0, 2)]
        rows = opened.polars("SELECT itr_us, sum(count) AS n FROM histograms GROUP BY ALL")
        assert rows.rows() == [(50.0, 12)]
        assert len(opened.polars("SELECT * FROM runs, interrupts")) == 0, "no run has any"

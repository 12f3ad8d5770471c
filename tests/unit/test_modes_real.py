"""Who wins where in the published measurements, every cell checked against scipy by hand."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from app.kit.context import Lakes
from app.kit.lakes import LakeView
from app.modes.judged import judge
from app.modes.state import ModesState
from data.catalogue import SHIPPED
from ingest.__main__ import main as ingest
from tests.fixtures.real import real_data

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> LakeView:
    """The three summary tables, ingested as the README says."""
    lake = tmp_path_factory.mktemp("modes") / "lake"
    arguments = ["--lake", str(lake), "--dataset", "published"]
    assert ingest(["add", str(real_data() / "summaries"), *arguments]) == 0
    return Lakes(lake).at(None)


def table(name: str) -> pl.DataFrame:
    rows = pl.read_csv(real_data() / "summaries" / name, separator=" ", infer_schema_length=None)
    return rows.with_columns(pl.col("dvfs").str.to_lowercase())


def best_two(rows: pl.DataFrame) -> list[tuple[str, np.ndarray]]:
    """Each system's setting with the lowest mean energy, best first: the naive way."""
    settings = rows.group_by("sys", "itr", "dvfs", "rapl").agg(pl.col("joules"))
    best: dict[str, np.ndarray] = {}
    for row in settings.iter_rows(named=True):
        values = np.array(row["joules"], dtype=float)
        if row["sys"] not in best or values.mean() < best[row["sys"]].mean():
            best[row["sys"]] = values
    return sorted(best.items(), key=lambda pair: pair[1].mean())


def test_every_cell_of_node_js_agrees_with_scipy(view: LakeView) -> None:
    state = ModesState.from_query(
        "v=1&dataset=published&workload=nodejs&x=itr&y=dvfs&who=system&metric=energy_j", SHIPPED
    )
    found = judge(view, state).comparison
    raw = table("node_combined.csv")
    checked = 0
    for cell in found.cells.iter_rows(named=True):
        itr = 1 if cell["x"] is None else int(cell["x"])
        code = "0xffff" if cell["y"] is None else hex(round(cell["y"] * 10) << 8)
        ranked = best_two(raw.filter((pl.col("itr") == itr) & (pl.col("dvfs") == code)))
        if len(ranked) == 1:
            assert cell["outcome"] == "alone"
            continue
        (name, first), (_, second) = ranked[:2]
        assert found.contenders["competitor"][cell["winner"]] == name
        assert cell["margin"] == pytest.approx(second.mean() - first.mean(), abs=1e-9)
        if min(len(first), len(second)) < 2:
            assert cell["outcome"] == "too few"
            continue
        expected = stats.ttest_ind(first, second).pvalue
        assert cell["p"] == pytest.approx(expected, rel=1e-9)
        assert cell["outcome"] == ("win" if expected <= 0.05 else "tie")
        checked += 1
    assert checked > 100


def test_the_library_os_wins_most_of_node_js_and_linux_where_the_paper_has_it(
    view: LakeView,
) -> None:
    state = ModesState.from_query(
        "v=1&dataset=published&workload=nodejs&x=itr&y=dvfs&who=system&metric=energy_j", SHIPPED
    )
    found = judge(view, state).comparison
    won = found.cells.filter(pl.col("outcome") == "win")
    names = found.contenders["competitor"].gather(won["winner"]).value_counts(sort=True)
    assert names["competitor"][0] == "ebbrt_tuned"
    assert names["count"][0] > 0.8 * len(won)

"""The SQL that explanations print, run as it is, gives the numbers of the views."""

import math
from pathlib import Path

import polars as pl
import pytest

from app.explore.page import PAGE as EXPLORE
from app.kit.context import Lakes
from app.kit.lake_view import LakeView
from app.kit.page import Page
from app.modes.page import PAGE as MODES
from data.catalogue import SHIPPED
from tests.fixtures.lakes import run, write_lake

LINUX = "v=2&workload=memcached&load=200000&system=linux_tuned"


def printed(words: str) -> list[str]:
    """The queries of an explanation: its paragraphs that begin with SELECT or WITH."""
    return [part for part in words.split("\n\n") if part.startswith(("SELECT", "WITH"))]


def asked(view: LakeView, page: Page, query: str, name: str) -> list[pl.DataFrame]:
    """The answers of the queries that a page prints of a view."""
    words = page.explain(view, page.state.from_query(query, SHIPPED), name)
    return [view.lake.sql(sql).pl() for sql in printed(words)]


def rows(view: LakeView, page: Page, query: str, name: str) -> pl.DataFrame:
    return page.rows(view, page.state.from_query(query, SHIPPED), name)


def assert_same(found: pl.DataFrame, expected: pl.DataFrame, columns: dict[str, str]) -> None:
    """Compare columns of two tables whose rows are in one order."""
    assert len(found) == len(expected) > 0
    for mine, theirs in columns.items():
        left, right = found[mine].to_list(), expected[theirs].to_list()
        assert left == [_near(v) for v in right], mine


def _near(value: object) -> object:
    return pytest.approx(value, rel=1e-12) if isinstance(value, float) else value


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> LakeView:
    """Two systems, two loads, two power limits (one of them at 2.9 GHz alone), two replicates."""
    runs = [
        run(system=system, itr_us=itr, dvfs_ghz=ghz, load_qps=load, rapl_w=rapl, replicate=r,
            energy_j=900.0 * ghz + 7.0 * r + rapl + load / 1e4,
            latency_p99_us=60 + itr + r / 7 + load / 1e5, requests=int(1e6 * ghz + r + rapl))
        for system in ("linux_tuned", "ebbrt_tuned") for itr in (2.0, 50.0) for ghz in (1.3, 2.9)
        for load in (200_000.0, 400_000.0) for rapl in (75.0, 135.0) for r in range(2)
        if rapl > 100 or ghz > 2
    ]  # fmt: skip
    runs += [
        run(system="linux_default", itr_us=None, dvfs_ghz=None, load_qps=load, replicate=r,
            energy_j=2500.0 + r) for load in (200_000.0, 400_000.0) for r in range(2)
    ]  # fmt: skip
    path: Path = tmp_path_factory.mktemp("explained") / "lake"
    return Lakes(write_lake(path, runs)).at(None)


@pytest.mark.parametrize("replicates", ["means", "runs"])
def test_the_scatter(view: LakeView, replicates: str) -> None:
    query = f"{LINUX}&rapl=135&rep={replicates}"
    (found,) = asked(view, EXPLORE, query, "scatter")
    expected = rows(view, EXPLORE, query, "scatter")
    assert set(found["load_qps"]) == {200_000.0}
    names = {"x": "latency_p99_us", "y": "energy_j", "y_sd": "energy_j_sd", "n": "n"}
    assert_same(found, expected, names)
    assert found["n"].sum() == 8


@pytest.mark.parametrize(
    "query",
    [
        "v=2&workload=memcached", LINUX, f"{LINUX}&pool=rapl", f"{LINUX}&hx=itr&hy=rapl",
        "v=2&workload=memcached&hx=itr&hy=system&pool=dvfs", "v=2&hx=load&hy=system",
    ],
)  # fmt: skip
def test_the_heatmap(view: LakeView, query: str) -> None:
    (found,) = asked(view, EXPLORE, query, "heatmap")
    expected = rows(view, EXPLORE, query, "heatmap")
    knobs = {name: name for name in expected.columns if name in found.columns[:2]}
    assert len(knobs) == 2
    assert_same(found, expected, {**knobs, "mean": "energy_j", "sd": "energy_j_sd", "n": "n"})


def test_the_moments_from_which_the_best_settings_are_chosen(view: LakeView) -> None:
    settings, defaults = asked(view, EXPLORE, f"{LINUX}&limit=100", "best-table")
    (best,) = rows(view, EXPLORE, f"{LINUX}&limit=100", "best-table").to_dicts()
    knobs = [pl.col(name) == best[name] for name in ("itr_us", "dvfs_ghz", "rapl_w")]
    (chosen,) = settings.filter(knobs).to_dicts()
    assert best["energy_j"] == pytest.approx(math.exp(chosen["energy_j_log_mean"]))
    assert best["n"] == chosen["energy_j_n"]
    (mine,) = defaults.filter(pl.col("load_qps") == 200_000).to_dicts()
    change = math.exp(chosen["energy_j_log_mean"] - mine["energy_j_log_mean"]) - 1
    assert best["change_pct"] == pytest.approx(100 * change)
    assert best["default_n"] == mine["energy_j_n"]


def test_the_runs(view: LakeView) -> None:
    (found,) = asked(view, EXPLORE, LINUX, "runs")
    expected = rows(view, EXPLORE, LINUX, "runs")
    assert_same(found, expected, {"run_id": "run_id", "energy_j": "energy_j"})


MAP = "v=2&workload=memcached&x=itr&y=dvfs&who=system"


@pytest.mark.thin(6)
@pytest.mark.parametrize(
    "query",
    [
        f"{MAP}&metric=energy_j", f"{MAP}&metric=energy_j&load=400000&pool=rapl",
        f"{MAP}&metric=requests", f"{MAP}&metric=requests&pool=rapl",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["winners", "shares", "pareto"])
def test_the_replicates_that_the_cells_of_modes_compare(
    view: LakeView, query: str, name: str
) -> None:
    (found,) = asked(view, MODES, query, name)
    column = "requests" if "requests" in query else "energy_j"
    compared = rows(view, MODES, query, "pareto")
    assert found["load_qps"].n_unique() == 1
    # A compared mean is that of the replicates of one printed row; of all rows of a cell if pooled.
    for row in compared.iter_rows(named=True):
        here = found.filter(pl.col(k).eq_missing(row[k]) for k in ("system", "itr_us", "dvfs_ghz"))
        parts = here["values"].to_list()
        parts = [[v for part in parts for v in part]] if "pool" in query else parts
        means = [sum(values) / len(values) for values in parts]
        assert row[column] in [pytest.approx(mean) for mean in means]
        assert row["n"] in map(len, parts)
    assert len(compared) == found.select("system", "itr_us", "dvfs_ghz").n_unique() > 4


def test_the_runs_of_a_cell_of_modes(view: LakeView) -> None:
    query = f'{MAP}&metric=energy_j&sel=knobs~{{"dvfs_ghz":2.9,"itr_us":50}}'
    _, found = asked(view, MODES, query, "evidence")
    expected = rows(view, MODES, query, "evidence")
    assert_same(found, expected, {"run_id": "run_id", "value": "energy_j"})
    assert set(found["load_qps"]) == {200_000.0}

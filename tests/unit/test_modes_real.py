"""Who wins where in the published measurements, every cell checked against scipy by hand."""

import json
import math
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
import pytest
from scipy import stats

from app.kit.context import Lakes
from app.kit.lake_view import LakeView
from app.modes.payload import judge
from app.modes.state import ModesState
from data.catalogue import SHIPPED
from tests.fixtures.real import real_data

pytestmark = pytest.mark.real


_EXPECTED: Final = Path(__file__).resolve().parents[2].parent / "shared/expected/decisions.json"


def expected(part: str) -> list[dict[str, Any]]:
    """What the independent reference computed; nothing where it is not there."""
    if not _EXPECTED.is_file():
        return []
    found: list[dict[str, Any]] = json.loads(_EXPECTED.read_text("utf-8"))[part]
    return found


@pytest.fixture(scope="module")
def view(published_lake: Path) -> LakeView:
    return Lakes(published_lake).at(None)


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


def test_every_cell_of_node_js_agrees_with_scipy_and_the_library_os_wins_most(
    view: LakeView,
) -> None:
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
    won = found.cells.filter(pl.col("outcome") == "win")
    names = found.contenders["competitor"].gather(won["winner"]).value_counts(sort=True)
    assert names["competitor"][0] == "ebbrt_tuned"
    assert names["count"][0] > 0.8 * len(won)


@pytest.mark.parametrize("wanted", expected("pairs"), ids=lambda p: f"{p['pair']} {p['limit']}")
def test_a_cell_with_all_settings_of_two_systems_is_their_comparison(
    view: LakeView, wanted: dict[str, Any]
) -> None:
    """The numbers of the independent reference, in a map of one cell."""
    table, *rest = wanted["pair"].split()
    load = [] if table == "node" else [rest.pop(0)]
    a, _, b, column = rest
    workload = {"mcd": "memcached", "node": "nodejs", "netpipe": "netpipe"}[table]
    facet = "message" if table == "netpipe" else "load"
    metric = {"joules": "energy_j", "time": "duration_s"}[column]
    limit = f"&limit={wanted['limit']}&by=latency_p99_us" if wanted["limit"] else ""
    where = "".join(f"&{facet}={value}" for value in load)
    state = ModesState.from_query(
        f"v=3&workload={workload}{where}&system={a}&system={b}&x={facet}&y=machine&who=system"
        f"&metric={metric}&corr=none{limit}",
        SHIPPED,
    )
    found = judge(view, state).comparison
    (cell,) = found.cells.rows(named=True)
    names = [found.contenders["competitor"][cell[role]] for role in ("winner", "runner_up")]
    outcome = {"win": f"{names[0]} better"}.get(cell["outcome"], cell["outcome"])
    assert outcome == wanted["outcome"]
    # The reference compares A with B; a cell its leader with the other.
    ends = [cell["margin_share"], cell["share_low"], cell["share_high"]]
    members = [cell["members_winner"], cell["members_runner_up"]]
    if names[0] == b:
        estimate, low, high = (1 / (1 + end) - 1 for end in ends)
        ends, members = [estimate, high, low], members[::-1]
    for end, value in zip(ends, wanted["change_pct"], strict=True):
        if value is None:
            assert abs(math.log1p(end)) > 5
        else:
            assert 100 * end == pytest.approx(value, abs=2e-6)
    assert members == wanted["members"]
    assert cell["more_runs"] == wanted["more_runs"]

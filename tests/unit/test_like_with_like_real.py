"""What the pages average in the published measurements, each against a query of the runs."""

from pathlib import Path

import numpy as np
import pytest

from app.explore.state import ExploreState
from app.explore.views import picture
from app.kit.context import Lakes
from app.kit.lake_view import LakeView
from app.modes.payload import judge
from app.modes.state import ModesState
from data.catalogue import SHIPPED

pytestmark = pytest.mark.real

CELLS = """
SELECT dvfs_ghz, itr_us, avg(energy_j), stddev_samp(energy_j), count(*) FROM runs
WHERE workload = 'memcached' AND system = 'linux_tuned' AND {}
GROUP BY ALL
"""


@pytest.fixture(scope="module")
def view(published_lake: Path) -> LakeView:
    return Lakes(published_lake).at(None)


def subtitle(figure: dict) -> str:
    return str(figure["layout"]["title"]["text"]).partition("<span")[2].replace("<br>", " ")


@pytest.mark.parametrize(
    ("query", "where", "words"),
    [
        (
            "",
            "load_qps = 600000 AND rapl_w = 135",
            ("20 s of 2 kinds of work", "600k QPS of 3 target", "135 W of 4 power"),
        ),
        ("&load=200000", "load_qps = 200000 AND rapl_w = 135", ("135 W of 4 power limits",)),
        ("&load=200000&pool=rapl", "load_qps = 200000", ("over 4 power limits, unbalanced",)),
    ],
)
def test_a_cell_is_the_mean_of_one_configuration(
    view: LakeView, query: str, where: str, words: tuple[str, ...]
) -> None:
    state = ExploreState.from_query(f"v=2&workload=memcached{query}", SHIPPED)
    figure = picture("heatmap", view, state)["figure"]
    cells, shown = figure["data"][0], figure["layout"]["meta"]["map"]
    assert figure["layout"]["title"]["text"].startswith("Energy, Linux tuned, memcached at ")
    assert all(word in subtitle(figure) for word in words)
    expected = view.lake.sql(CELLS.format(where)).fetchall()
    z = np.asarray(cells["z"], dtype=float)
    assert np.isfinite(z).sum() == len(expected)
    for dvfs, itr, mean, sd, n in expected:
        at = shown["ys"].index(dvfs) * z.shape[1] + shown["xs"].index(itr)
        assert cells["meta"]["mean"][at] == pytest.approx(mean)
        assert cells["meta"]["n"][at] == n
        assert cells["meta"]["sd"][at] == pytest.approx(np.nan if sd is None else sd, nan_ok=True)


def test_all_systems_are_drawn_by_their_labels(view: LakeView) -> None:
    state = ExploreState.from_query(
        "v=2&workload=memcached&hx=load&hy=system&pool=itr&pool=dvfs", SHIPPED
    )
    figure = picture("heatmap", view, state)["figure"]
    assert figure["data"][0]["y"] == ["Linux tuned", "Library OS", "Linux default"]
    assert "135 W of 4 power limits" in subtitle(figure)
    assert view.systems == ("ebbrt_tuned", "linux_default", "linux_tuned")


BEST = """
WITH configurations AS (
  SELECT {x} AS x, {y} AS y, system, itr_us, dvfs_ghz, rapl_w, load_qps, message_bytes,
         avg(energy_j) AS mean, count(*) AS n
  FROM runs WHERE energy_j IS NOT NULL AND {where} GROUP BY ALL
)
SELECT x, y, system, min(mean), count(*) FROM configurations GROUP BY ALL
"""


@pytest.mark.parametrize(
    ("query", "axes", "where"),
    [
        ("v=2&workload=netpipe&x=message&y=dvfs&who=system&metric=energy_j",
         ("message_bytes", "dvfs_ghz"), "workload = 'netpipe'"),
        ("v=2&workload=netpipe&x=itr&y=dvfs&who=system&metric=energy_j",
         ("itr_us", "dvfs_ghz"), "workload = 'netpipe' AND message_bytes = 8192"),
    ],
)  # fmt: skip
def test_each_system_has_its_best_configuration_of_one_load_and_size(
    view: LakeView, query: str, axes: tuple[str, str], where: str
) -> None:
    found = judge(view, ModesState.from_query(query, SHIPPED))
    rows = found.comparison.contenders.select("x", "y", "competitor", "mean", "settings").rows()
    expected = view.lake.sql(BEST.format(x=axes[0], y=axes[1], where=where)).fetchall()
    best = {row[:3]: (pytest.approx(row[3]), row[4]) for row in expected}
    assert {row[:3]: row[3:] for row in rows} == best

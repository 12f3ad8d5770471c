"""What a link hands over becomes configurations on the page that opens."""

import pytest

from app.kit.clause import read_clause
from app.kit.context import Lakes
from app.kit.lake_view import LakeView
from app.kit.links import configurations
from data.selection import Selection
from tests.fixtures.lakes import run, write_lake


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> LakeView:
    """Two replicates each of 2, 50 and 100 us: 10, 20 and 30 J at 5, 4 and 3 us; a default."""
    rows = [
        run(run_id=f"{itr}-{r}", itr_us=float(itr), replicate=r, energy_j=joules + r,
            latency_p99_us=latency)
        for itr, joules, latency in ((2, 10.0, 5.0), (50, 20.0, 4.0), (100, 30.0, 3.0))
        for r in (0, 1)
    ]  # fmt: skip
    rows.append(run(run_id="d", system="linux_default", itr_us=None, energy_j=20.0))
    return Lakes(write_lake(tmp_path_factory.mktemp("lake"), rows)).at(None)


@pytest.mark.parametrize(
    ("sel", "itr"),
    [
        ("", [2.0, 50.0, 100.0, None]),
        ('knobs~{"itr_us":50}', [50.0]),
        ('knobs~[{"itr_us":[2,100]},{"system":"linux_default","itr_us":null}]', [2.0, 100.0, None]),
        ("box~energy_j~latency_p99_us~10~20.5~3.5~6", [2.0, 50.0]),  # means: 10.5 and 20.5 J
        ("lasso~energy_j~latency_p99_us~25,2~40,2~40,4~25,4", [100.0]),
        ('knobs~{"itr_us":7}', []),
    ],
)
def test_a_clause_selects_configurations(view: LakeView, sel: str, itr: list) -> None:
    found = configurations(view, Selection.of(), read_clause(sel))
    assert sorted(found["itr_us"].to_list(), key=lambda v: (v is None, v)) == itr
    assert "replicate" not in found.columns


def test_filters_narrow_what_a_clause_selects(view: LakeView) -> None:
    clause = read_clause('knobs~{"itr_us":[50,null]}')
    assert configurations(view, Selection.of(system=["linux_tuned"]), clause)[
        "itr_us"
    ].to_list() == [50]


def test_a_clause_of_replicates_selects_runs(view: LakeView) -> None:
    found = configurations(view, Selection.of(), read_clause('knobs~{"itr_us":50,"replicate":1}'))
    assert found.select("itr_us", "replicate").rows() == [(50.0, 1)]

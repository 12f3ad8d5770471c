"""The cube of filter values that occur together."""

from data.catalogue import SHIPPED
from data.connection import Lake
from data.queries.runs import facet_cube_query


def test_each_combination_once_with_its_count(tiny: Lake) -> None:
    cube = tiny.polars(*facet_cube_query(catalogue=SHIPPED))
    knobs = ["workload", "load_qps", "system", "itr_us", "dvfs_ghz", "runs"]
    # 10 runs in 9 combinations: a0 and a1 differ in their replicate only.
    assert len(cube) == 9
    assert cube["runs"].sum() == 10
    rows = cube.select(knobs).rows()
    assert ("memcached", 200_000.0, "linux_tuned", 2.0, 2.9, 2) in rows
    assert ("memcached", 200_000.0, "linux_default", None, None, 1) in rows
    assert ("netpipe", None, "linux_tuned", 4.0, 2.9, 1) in rows


def test_it_carries_what_pages_need_to_know(tiny: Lake) -> None:
    cube = tiny.polars(*facet_cube_query(catalogue=SHIPPED))
    labels = dict(cube.select("system", "system_label").iter_rows())
    assert labels["ebbrt_tuned"] == "Library OS"
    assert cube.filter(is_baseline=True)["system"].to_list() == ["linux_default"]
    assert not cube["is_synthetic"].any()


def test_an_empty_lake_has_an_empty_cube(empty: Lake) -> None:
    cube = empty.polars(*facet_cube_query(catalogue=SHIPPED))
    assert len(cube) == 0
    assert {facet.column for facet in SHIPPED.facets.values()} < set(cube.columns)
    assert cube["runs"].sum() == 0

"""The SQL that explanations of Storage print, run as it is, gives the numbers of the views."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from app.kit.context import Lakes
from app.kit.lake_view import LakeView
from app.storage.page import PAGE
from app.storage.rows import device_line_rows, line_rows, subsystem_rows
from app.storage.views import BY_NAME, VIEWS
from tests.callbacks.test_explanations import asked, assert_same, rows
from tests.fixtures.lakes import write_lake
from tests.fixtures.storage_rows import fio, study_lake

QUERY = "v=3&dataset=lab&at=optane&access=randread&size=4096"


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> LakeView:
    """The study, one more configuration of two power limits, and one run of another dataset."""
    path: Path = study_lake(tmp_path_factory.mktemp("explained") / "lake")
    more = [fio(depth=2, rapl_w=75.0, run_id=f"limited-{r}", replicate=r, power_w=40.0 + r)
            for r in range(2)]  # fmt: skip
    return Lakes(write_lake(path, [*more, fio(dataset="home", run_id="home")])).at(None)


def named(rows_of: Callable, by: str = "mode") -> list[str]:
    return [view.name for view in VIEWS if view.rows is rows_of and view.by == by]


def metric_of(name: str) -> str:
    return next(view.y for view in VIEWS if view.name == name)


@pytest.mark.thin(4)
@pytest.mark.parametrize("name", named(line_rows))
def test_lines(view: LakeView, name: str) -> None:
    (found,) = asked(view, PAGE, QUERY, name)
    column = metric_of(name)
    columns = ("mode", "io_depth", column, f"{column}_sd", f"{column}_n")
    assert_same(found, rows(view, PAGE, QUERY, name), {c: c for c in columns})
    assert set(found["device"]) == {"optane"}


@pytest.mark.parametrize("name", named(device_line_rows, "device"))
def test_lines_of_devices(view: LakeView, name: str) -> None:
    (found,) = asked(view, PAGE, QUERY, name)
    column = metric_of(name)
    columns = ("mode", "device", "rw", "io_depth", column, f"{column}_sd", f"{column}_n")
    assert_same(found, rows(view, PAGE, QUERY, name), {c: c for c in columns})
    assert set(found["mode"]) == {"interrupt"}
    assert set(found["rw"]) == {"randread", "randwrite"}


@pytest.mark.thin(3)
@pytest.mark.parametrize("more", ["", "&pool=rapl"])
@pytest.mark.parametrize("name", ["bytes-joule", "bytes-joule-devices", "ios-joule"])
def test_cells(view: LakeView, name: str, more: str) -> None:
    (found,) = asked(view, PAGE, QUERY + more, name)
    columns = (BY_NAME[name].by, "request_bytes", "io_depth", metric_of(name))
    assert_same(found, rows(view, PAGE, QUERY + more, name), {c: c for c in columns})


def test_differences(view: LakeView) -> None:
    (found,) = asked(view, PAGE, QUERY, "difference")
    cell = ["device", "request_bytes", "io_depth"]
    wide = found.pivot("rw", index=cell, values="power_w", maintain_order=True).drop_nulls()
    expected = rows(view, PAGE, QUERY, "difference")
    wide = wide.with_columns(power_w=pl.col("randwrite") - pl.col("randread"))
    names = {c: c for c in cell} | {"power_w": "power_w_write_minus_read"}
    assert_same(wide.sort(cell), expected.sort(cell), names)


@pytest.mark.parametrize("name", named(subsystem_rows))
def test_loads_and_stores(view: LakeView, name: str) -> None:
    (found,) = asked(view, PAGE, QUERY, name)
    expected = rows(view, PAGE, QUERY, name)
    columns = ["mode", "io_depth", "run_id", "subsystem", "part", metric_of(name)]
    by = ["run_id", "subsystem", "part"]
    assert_same(
        found.sort(by, nulls_last=True), expected.sort(by, nulls_last=True), {c: c for c in columns}
    )


def test_sources(view: LakeView) -> None:
    (found,) = asked(view, PAGE, QUERY, "loads-stores")
    expected = rows(view, PAGE, QUERY, "loads-stores").filter(~pl.col("is_published"))
    sums = pl.sum_horizontal("loads_per_s", "stores_per_s")
    assert found.select(sums.sum()).item() == expected["loads_stores_per_s"].sum() > 0


def test_devices(view: LakeView) -> None:
    active, idle = asked(view, PAGE, QUERY, "devices")
    expected = rows(view, PAGE, QUERY, "devices")
    columns = {c: c for c in ("device", "power_w", "power_w_sd", "power_w_n")}
    assert_same(idle, expected.filter("is_idle"), columns)
    assert_same(active, expected.filter(~pl.col("is_idle")), columns | {"mode": "mode"})


def test_energy_proportionality(view: LakeView) -> None:
    configurations, peaks, idle = asked(view, PAGE, QUERY, "proportionality")
    drawn = rows(view, PAGE, QUERY, "proportionality")
    assert sorted(drawn["power_w"]) == sorted(configurations["power_w"])
    assert drawn["power_share"].to_list() == pytest.approx(
        (drawn["power_w"] / peaks["peak_w"][0]).to_list()
    )
    assert len(idle) > 0


@pytest.mark.parametrize("name", ["claims", "published", "runs"])
def test_every_printed_query_runs(view: LakeView, name: str) -> None:
    assert all(len(found) for found in asked(view, PAGE, QUERY, name))

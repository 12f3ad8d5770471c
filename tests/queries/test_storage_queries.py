"""The questions of Storage on a lake worked by hand (tests/fixtures/storage_rows.py)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from data.catalogue import SHIPPED
from data.connection import Lake, open_lake
from data.queries.storage import (
    FUNCTION_SUMS,
    MEASURED,
    idle_query,
    profiled_query,
    storage_query,
)
from data.selection import Selection
from tests.fixtures.lakes import run, write_lake
from tests.fixtures.storage_rows import fio, idle, study_lake, study_rows


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    with open_lake(study_lake(tmp_path_factory.mktemp("study") / "lake")) as lake:
        yield lake


def test_a_row_a_configuration_with_means_and_spread(study: Lake) -> None:
    one = Selection.of(mode=["interrupt"], device=["optane"], rw=["randread"], request=[4096],
                       depth=[1])  # fmt: skip
    rows = study.polars(*storage_query(one, 100, catalogue=SHIPPED))
    assert len(rows) == 1
    row = rows.row(0, named=True)
    assert row["runs"] == row["latency_mean_us_n"] == 2
    # 10.0 and 10.2 us: mean 10.1, deviation 0.2 / sqrt(2)
    assert row["latency_mean_us"] == pytest.approx(10.1)
    assert row["latency_mean_us_sd"] == pytest.approx(0.2 / 2**0.5)
    assert row["power_w"] == 45.0
    assert row["cpu_pct"] == pytest.approx(40.0)
    assert row["context_switches_per_io"] == pytest.approx(1.0, abs=1e-6)
    # 1e6 / 10.0 and 1e6 / 10.2 IO/s at 45 W
    assert row["ios_per_joule"] == pytest.approx((1e5 + 1e6 / 10.2) / 2 / 45)


def test_all_configurations_and_nothing_else(study: Lake) -> None:
    rows = study.polars(*storage_query(Selection(), 1000, catalogue=SHIPPED))
    assert len(rows) == 36 + 2
    assert rows["runs"].sum() == len(study_rows()) - 3
    assert "idle" not in rows["workload"].to_list()


def test_what_was_not_measured_is_null_and_counts_as_none(tmp_path: Path) -> None:
    rows = [
        fio(replicate=0, interrupts=None, power_w=None, energy_j=None),
        fio(replicate=1, power_w=float("nan"), energy_j=None),
        run(workload="netpipe", load_qps=None, message_bytes=64),
    ]
    with open_lake(write_lake(tmp_path / "lake", rows)) as lake:
        (row,) = lake.polars(*storage_query(Selection(), 10, catalogue=SHIPPED)).iter_rows(
            named=True
        )
    assert row["power_w"] is None
    assert row["power_w_n"] == 0
    assert row["interrupts_per_s_n"] == 1
    assert row["interrupts_per_s_sd"] is None
    assert row["iops_n"] == 2


def test_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    asked = storage_query(Selection(), 1000, catalogue=SHIPPED)
    rows = study_rows()
    answers = []
    for name, ordered in (("a", rows), ("b", rows[::-1])):
        with open_lake(write_lake(tmp_path / name, ordered)) as lake:
            answers.append(lake.polars(*asked).select("mode", "io_depth", *MEASURED))
    for name in MEASURED:
        assert answers[0][name].to_list() == pytest.approx(answers[1][name].to_list(), rel=1e-12)


def test_at_most_as_many_rows_as_asked(study: Lake) -> None:
    assert len(study.polars(*storage_query(Selection(), 5, catalogue=SHIPPED))) == 5


def test_idle_power_by_device(study: Lake) -> None:
    rows = study.polars(*idle_query(Selection(), 10, catalogue=SHIPPED)).rows(named=True)
    assert [(r["device"], r["runs"], r["power_w"]) for r in rows] == [
        (None, 1, 29.0), ("optane", 2, 35.0),
    ]  # fmt: skip
    assert rows[1]["power_w_sd"] == pytest.approx(2**0.5)


def test_filters_on_how_io_was_done_leave_idle_power_alone(study: Lake) -> None:
    chosen = Selection.of(dataset=["lab"], mode=["poll"], rw=["randread"], depth=[8])
    assert len(study.polars(*idle_query(chosen, 10, catalogue=SHIPPED))) == 2


def test_a_filter_on_devices_keeps_the_bare_system(tmp_path: Path) -> None:
    rows = [idle(None, 29.0), idle("disk", 39.0), idle("optane", 34.0)]
    with open_lake(write_lake(tmp_path / "lake", rows)) as lake:
        found = lake.polars(*idle_query(Selection.of(device=["disk"]), 10, catalogue=SHIPPED))
        assert found["device"].to_list() == [None, "disk"]
        other = lake.polars(*idle_query(Selection.of(dataset=["elsewhere"]), 10, catalogue=SHIPPED))
        assert len(other) == 0


def test_loads_and_stores_by_subsystem(study: Lake) -> None:
    chosen = Selection.of(device=["optane"], rw=["randread"], request=[4096], depth=[1])
    runs = study.polars(*profiled_query(chosen, 100, catalogue=SHIPPED))
    assert len(runs) == 6
    assert runs["mode"].to_list() == ["hybrid", "interrupt", "poll"] * 2
    functions = study.scan("functions", runs["run_id"].to_list())
    rows = functions.aggregate(FUNCTION_SUMS).order("run_id, subsystem").pl()
    assert rows.rows() == [
        ("fio-interrupt-optane-randread-4096-1-0", "block", "blk_mq_*", 150.0, 50.0),
        ("fio-interrupt-optane-randread-4096-1-0", "scheduler", "__schedule", 300.0, 200.0),
        ("fio-interrupt-optane-randread-4096-1-0", "unknown", None, 7.0, None),
        ("fio-poll-optane-randread-4096-1-0", "block", "blk_mq_*", 600.0, 30.0),
        ("fio-poll-optane-randread-4096-1-0", "nvme", None, 400.0, 20.0),
    ]

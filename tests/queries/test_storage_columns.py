"""The derived columns of storage studies, by hand."""

from pathlib import Path

import pytest

from data.connection import open_lake
from tests.fixtures.lakes import run, write_lake


def test_rates_of_processors_and_switches(tmp_path: Path) -> None:
    # 500 IO/s over 10 s are 5,000 IOs; 2,500 switches are 250 a second and half a one per IO.
    row = run(workload="fio", duration_s=10.0, iops=500.0, context_switches=2500,
              cpu_user_pct=12.5, cpu_sys_pct=80.0)  # fmt: skip
    silent = run(workload="fio", replicate=1, duration_s=10.0, iops=0.0, context_switches=7)
    path = write_lake(tmp_path / "lake", [row, silent])
    with open_lake(path) as lake:
        found = lake.sql(
            "SELECT cpu_pct, context_switches_per_s, context_switches_per_io FROM runs "
            "ORDER BY replicate"
        ).fetchall()
    assert found[0] == pytest.approx((92.5, 250.0, 0.5))
    assert found[1] == (None, 0.7, None)

"""Moments of logarithms by setting, against those of the analysis."""

import math
from pathlib import Path

import duckdb
import numpy as np
import pytest

from data.analysis.noise import resolution, settings_of
from data.catalogue import SHIPPED, Aggregates
from data.connection import open_lake
from data.queries.moments import moments_query, moments_sql
from tests.fixtures.lakes import run, write_lake


def test_moments_are_those_of_the_analysis(tmp_path: Path) -> None:
    energies: dict[float, list[float | None]] = {
        2.0: [100.5, 101.0, 99.5],
        4.0: [80.25],
        6.0: [70.0, 0.0, None],
    }
    rows = [
        run(itr_us=itr, replicate=i, energy_j=energy)
        for itr, values in energies.items()
        for i, energy in enumerate(values)
    ]
    with open_lake(write_lake(tmp_path / "lake", rows)) as lake:
        found = lake.polars(
            *moments_query("load_qps = ?", [200_000.0], ["itr_us"], ["energy_j"], catalogue=SHIPPED)
        )
    values = np.array([100.5, 101.0, 99.5, 80.25, 70.0])
    wanted = settings_of(values, np.array([0, 0, 0, 1, 2]))
    assert found["itr_us"].to_list() == [2.0, 4.0, 6.0]
    assert found["runs"].to_list() == [3, 1, 3]
    # 0 and NULL have no logarithm.
    assert found["energy_j_n"].to_list() == [3, 1, 1]
    assert found["energy_j_log_mean"].to_numpy() == pytest.approx(wanted.mean)
    assert found["energy_j_log_variance"][0] == pytest.approx(wanted.variance[0])
    assert found["energy_j_log_variance"][1:].null_count() == 2
    assert found["energy_j_step"].to_list() == [0.1, 0.01, 10.0]
    assert min(found["energy_j_step"]) == resolution(values)


@pytest.mark.parametrize("value", [2000.0, 12.5, 0.137, 1056.5, 3.141592653589793, 1.5e-8])
def test_resolution_is_the_same_in_sql(tmp_path: Path, value: float) -> None:
    with open_lake(write_lake(tmp_path / "lake", [run(energy_j=value)])) as lake:
        found = lake.polars(*moments_query("TRUE", [], ["system"], ["energy_j"], catalogue=SHIPPED))
    assert found["energy_j_step"].to_list() == [resolution(np.array([value]))]


@pytest.mark.parametrize("cv", [0.01, 1.0, 11.0])
def test_a_row_of_runs_with_outliers_has_the_logarithms_of_a_log_normal(cv: float) -> None:
    """With a deviation of 11 means the second order would put their mean 60 below."""
    columns = moments_sql("duration_s", Aggregates(True, frozenset({"duration_s"})))
    rows = f"SELECT 2.0 AS duration_s, {2 * cv} AS sd_duration_s, 1000000 AS aggregate_n"
    found = duckdb.connect().execute(f"SELECT {columns} FROM ({rows})").fetchall()
    _, log_mean, log_variance, mean, _ = found[0]
    assert log_variance == pytest.approx(math.log1p(cv**2), rel=1e-5)
    assert log_mean == pytest.approx(math.log(2) - math.log1p(cv**2) / 2, rel=1e-5)
    assert mean == 2

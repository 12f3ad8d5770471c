"""The least value of each group, which the marks of best points show."""

import numpy as np
import pytest

from data.analysis.pareto import least_of_groups

NAN = float("nan")


@pytest.mark.parametrize(
    ("group", "values", "least"),
    [
        pytest.param([0, 1, 0, 1, 0], [9.0, 5.0, 3.0, 6.0, 4.0], [2, 1], id="groups"),
        pytest.param([1, 1, 0], [NAN, 4.0, NAN], [1], id="not-measured"),
        pytest.param([0, 0, 0], [2.0, 1.0, 1.0], [1], id="of-equal-values-the-first"),
        pytest.param([], [], [], id="empty"),
    ],
)
def test_the_least_of_each_group(group: list[int], values: list[float], least: list[int]) -> None:
    assert least_of_groups(np.array(group, np.int64), np.array(values)).tolist() == least

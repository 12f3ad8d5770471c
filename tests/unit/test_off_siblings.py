"""The flag of runs far off their siblings, which a later add of siblings sets or takes back."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.lake.off_siblings import off_siblings
from ingest.pipeline import AddOptions, add
from tests.fixtures.ingest import tuples

HEAD = "system,rep,load_qps,energy_j,duration_s,latency_p99_us\n"


def ingest(tmp_path: Path, *rows: str) -> list[int]:
    """Add a table; return the replicates with the flag."""
    table = tmp_path / "raw" / "sweep.csv"
    table.parent.mkdir(exist_ok=True)
    table.write_text(HEAD + "".join(f"linux,{n},{row}\n" for n, row in enumerate(rows)))
    add(AddOptions(tmp_path / "lake", [table.parent], "lab", workers=1))
    query = "SELECT replicate FROM runs WHERE list_contains(flags, 'off_siblings') ORDER BY 1"
    return [value for (value,) in tuples(tmp_path / "lake", query)]


def test_energy_and_latency_over_5_times_or_under_a_fifth_of_the_median(tmp_path: Path) -> None:
    """Medians by hand: 10 J and 100 us. Of 50 J and 2 J neither is beyond; 51 J and 1.9 J are."""
    rows = ["100,10,1,100"] * 5 + ["100,50,1,100", "100,51,1,100", "100,2,1,100", "100,1.9,1,100"]
    assert ingest(tmp_path, *rows, "100,10,1,501") == [6, 8, 9]


def test_two_siblings_tell_nothing_and_a_third_does(tmp_path: Path) -> None:
    """The first add has 10 and 100 J; the second adds 11 J, the third makes 100 J usual."""
    assert ingest(tmp_path, "100,10,1,9", "100,100,1,9") == []
    assert ingest(tmp_path, "100,10,1,9", "100,100,1,9", "100,11,1,9") == [1]
    rows = ["100,10,1,9", "100,100,1,9", "100,11,1,9", *["100,100,1,9"] * 4]
    assert ingest(tmp_path, *rows) == [0, 2]


def test_another_load_is_another_configuration(tmp_path: Path) -> None:
    assert ingest(tmp_path, "1,10,1,9", "1,10,1,9", "1,10,1,9", "2,99,1,9") == []


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from([0.0, 1.0, 2.0, 7.0, 60.0, float("nan")]))
    )
)
def test_as_one_group_after_the_other(rows: list[tuple[int, float]]) -> None:
    groups = np.array([group for group, _ in rows], np.int64)
    values = np.array([value for _, value in rows], float)
    expected = []
    for group, value in rows:
        own = [other for place, other in rows if place == group and other > 0]
        is_known = value > 0 and len(own) >= 3
        expected.append(is_known and not 1 / 5 <= value / float(np.median(own)) <= 5)
    assert off_siblings(groups, values).tolist() == expected


def test_no_runs_have_no_siblings() -> None:
    assert off_siblings(np.zeros(0, np.int64), np.zeros(0)).tolist() == []


@pytest.mark.parametrize("factor", [0.2, 5.0])
def test_the_limits_are_not_beyond(factor: float) -> None:
    values = np.array([10.0, 10.0, 10.0 * factor])
    assert not off_siblings(np.zeros(3, np.int64), values).any()

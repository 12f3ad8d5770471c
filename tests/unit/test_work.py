"""The work of runs: what was fixed, told by the runs of one workload; then in the lake."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from hypothesis import given
from hypothesis import strategies as st

from data.connection import open_lake
from data.lake_watch import newest_version
from data.schema import RUNS, SCHEMA_DESCRIPTION
from ingest.lake.tables import create_tables
from ingest.lake.work import Runs, assign_work, works_of
from tests.fixtures.ingest import ingest, query, tuples
from tests.fixtures.lakes import run, write_lake
from tests.fixtures.real import studies

NAN = float("nan")
# load, requests, duration
Row = tuple[float, float, float]


def labels_of(rows: Sequence[Row], is_open: bool = False) -> list[str | None]:
    found: list[str | None] = [None] * len(rows)
    for work in works_of(Runs(*np.array(rows, dtype=float).reshape(-1, 3).T), is_open):
        for place in work.runs:
            assert found[place] is None
            found[place] = work.label
    return found


def test_requests_that_agree_are_the_work_of_a_closed_loop_whatever_the_time() -> None:
    """101,733 / 100,000 is under 1.1; the median, 100,044, has two digits."""
    rows = [(NAN, 100_000, 5.6), (NAN, 101_733, 21.7), (NAN, 100_044, 8.4)]
    assert labels_of(rows) == ["100,000 requests"] * 3


def test_a_duration_that_agrees_is_the_work_where_requests_do_not() -> None:
    rows = [(NAN, 3_347, 20.0), (NAN, 14_762_767, 20.2), (NAN, NAN, 20.1)]
    assert labels_of(rows) == ["20 s"] * 3


@pytest.mark.parametrize(
    ("duration_s", "label"),
    [
        ((3.0, 3.1, 3.2), None),
        ((120.0, 120.4, 121.0), "120 s"),
        # 15 minutes, and 2 hours.
        ((899.0, 900.0, 903.0), "900 s"),
        ((7200.0, 7200.1, 7200.3), "7,200 s"),
        ((0.998, 1.0, 1.001), "1 s"),
        # Three kernels of one program, and what takes as long whatever was set.
        ((0.000412, 0.000414, 0.000413), None),
        ((113.0, 113.2, 113.4), None),
        # Two runs are alike by chance.
        ((60.0, 60.1), None),
    ],
)
def test_durations_of_unknown_requests_are_fixed_if_they_are_one_round_time(
    duration_s: tuple[float, ...], label: str | None
) -> None:
    """Times that settings change by a few percent are results, and so are odd ones."""
    assert labels_of([(NAN, NAN, time_s) for time_s in duration_s]) == [label] * len(duration_s)


def test_a_duration_that_is_the_performance_is_no_fixed_work() -> None:
    """Unless requests, which stand beside it, tell that less was done in the same time."""
    rows = np.array([(NAN, NAN, 30.0), (NAN, NAN, 30.1), (NAN, NAN, 30.2)])
    assert works_of(Runs(*rows.T), is_open=False, is_result=True) == []
    assert [work.label for work in works_of(Runs(*rows.T), is_open=False)] == ["30 s"]
    rows[:, 1] = 100.0, 150.0, 210.0
    assert [w.label for w in works_of(Runs(*rows.T), is_open=False, is_result=True)] == ["30 s"]


def test_in_an_open_loop_the_duration_comes_first() -> None:
    """Requests follow from it: 200,000 1/s in 20 s are 4,000,000."""
    rows = [(2e5, 3_994_980, 20.0), (2e5, 4_004_993, 20.01), (4e5, 8_000_000, 20.2)]
    assert labels_of(rows, is_open=True) == ["20 s"] * 3


def test_fixed_requests_and_fixed_times_of_one_workload_are_told_apart() -> None:
    """The runs of 30 s made 264,000 and 330,000 requests: one work, not two."""
    rows = [
        (NAN, 100_000, 8.4), (NAN, 330_000, 30.1), (NAN, 100_500, 16.0), (NAN, 264_000, 30.0),
        (NAN, NAN, 30.0),
    ]  # fmt: skip
    fixed, timed = "100,000 requests", "30 s"
    assert labels_of(rows) == [fixed, timed, fixed, timed, None]


def test_clusters_part_where_the_next_number_of_requests_is_over_10_percent_higher() -> None:
    """1,000, 1,080 and 1,160 are a chain; 1,277 is over 1.1 times 1,160."""
    rows = [(NAN, 1_000, 1), (NAN, 1_160, 3), (NAN, 1_080, 5), (NAN, 1_277, 7), (NAN, 1_290, 9)]
    chain, further = "1,000 to 1,200 requests", "1,300 requests"
    assert labels_of(rows) == [chain, chain, chain, further, further]


def test_each_load_of_a_closed_loop_is_by_itself() -> None:
    rows = [(1e3, 500, 1.0), (1e3, 510, 2.0), (2e3, 900, 1.0), (2e3, 905, 4.0), (NAN, NAN, 1.0)]
    assert labels_of(rows) == ["500 requests", "500 requests", "900 requests", "900 requests", None]


def test_in_an_open_loop_runs_that_took_equally_long_did_the_same_work() -> None:
    """Tables without requests and logs with them are of one study; one run broke off."""
    rows = [(2e5, NAN, 20.0), (2e5, 4e6, 20.0), (2e5, 6e6, 30.0), (4e5, 12e6, 30.1),
            (2e5, NAN, 9.76)]  # fmt: skip
    assert labels_of(rows, is_open=True) == ["20 s", "20 s", "30 s", "30 s", None]


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize(
    "rows",
    [
        [],
        [(NAN, NAN, NAN)],
        [(NAN, NAN, 5.0)],
        # A sweep in which each setting takes its own time, and nobody counted requests.
        [(NAN, NAN, seconds) for seconds in (2.0, 3.0, 4.5, 9.0)],
    ],
)
def test_what_nobody_knows_to_be_fixed_has_no_work(rows: list[Row], is_open: bool) -> None:
    assert labels_of(rows, is_open) == [None] * len(rows)


def test_one_run_of_known_requests_has_work() -> None:
    assert labels_of([(NAN, 45_000, 5.0)]) == ["45,000 requests"]


def test_a_number_of_requests_that_was_set_is_exact() -> None:
    """1 GiB in requests of 4 KiB are 262,144; what came out in 10 s is rounded."""
    rows = [(NAN, 262_144, 6.1), (NAN, 262_144, 3.1), (NAN, 595_942, 2.5)]
    assert labels_of(rows) == ["262,144 requests", "262,144 requests", "600,000 requests"]


@pytest.mark.parametrize(
    ("duration_s", "label"),
    [(0.5, "0.5 s"), (0.0998, "0.1 s"), (9.76, "9.8 s"), (30.04, "30 s"), (1234.0, "1,200 s")],
)
def test_a_label_has_two_digits(duration_s: float, label: str) -> None:
    assert labels_of([(NAN, NAN, duration_s)] * 2, is_open=True) == [label] * 2


_ROWS = st.lists(
    st.tuples(
        st.sampled_from([NAN, 1e3, 2e3]),
        st.one_of(st.just(NAN), st.integers(1, 10**9).map(float)),
        st.one_of(st.just(NAN), st.floats(1e-3, 1e5)),
    ),
    max_size=12,
)


@given(_ROWS, st.booleans(), st.randoms(use_true_random=False))
def test_labels_do_not_depend_on_the_order_of_runs(
    rows: list[Row], is_open: bool, chance: Any
) -> None:
    mixed = list(range(len(rows)))
    chance.shuffle(mixed)
    labels = labels_of(rows, is_open)
    assert labels_of([rows[i] for i in mixed], is_open) == [labels[i] for i in mixed]


@given(st.lists(st.integers(1, 10**9), min_size=2, unique=True))
def test_two_clusters_of_requests_never_have_one_label(requests: list[int]) -> None:
    """Durations double from run to run, so no two clusters took equally long."""
    ordered = sorted(requests)
    labels = labels_of([(NAN, count, 2.0**i) for i, count in enumerate(ordered)])
    for (a, before), (b, after) in pairwise(zip(ordered, labels, strict=True)):
        assert (before == after) == (b <= 1.1 * a) or max(ordered) <= 1.1 * min(ordered)


def works(lake: Path, columns: str = "dataset, workload, load_qps") -> list[tuple[Any, ...]]:
    with open_lake(lake) as opened:
        sql = f"SELECT {columns}, work, count(*) FROM runs GROUP BY ALL ORDER BY ALL"
        return opened.polars(sql).rows()


def closed(number: int, requests: int | None, duration_s: float, **more: Any) -> dict[str, Any]:
    return run(workload="nodejs", loop="closed", load_qps=None, itr_us=float(number),
               requests=requests, duration_s=duration_s, **more)  # fmt: skip


def assigned(lake: Path, rows: list[dict[str, Any]]) -> bool:
    write_lake(lake, rows)
    return assign_work(lake, DeltaTable(str(lake / "runs")))


def test_the_lake_has_each_run_s_label_and_keeps_all_else(tmp_path: Path) -> None:
    """Quotes and unset loads in SQL; clusters by load; a second pass commits nothing."""
    rows = [
        closed(0, 100_000, 8.4), closed(1, 100_500, 16.0), closed(2, 264_000, 30.0),
        closed(3, 330_000, 30.1), closed(4, None, 5.0), closed(5, 77, 5.0, dataset="o'brien"),
        run(duration_s=20.0), run(duration_s=20.01, itr_us=4.0), run(load_qps=4e5),
        run(load_qps=None, duration_s=9.76), run(load_qps=4e5, duration_s=30.0, itr_us=8.0),
        run(load_qps=None, duration_s=30.0, itr_us=8.0),
    ]  # fmt: skip
    for number, row in enumerate(rows):
        row["run_id"] = f"{number:02}"
    assert assigned(tmp_path / "lake", rows)
    found = query(tmp_path / "lake", "SELECT * FROM runs ORDER BY run_id")
    fixed, timed = "100,000 requests", "30 s"
    assert [row["work"] for row in found] == [
        fixed, fixed, timed, timed, None, "77 requests", "20 s", "20 s", "20 s", None, timed, timed
    ]  # fmt: skip
    for row, after in zip(rows, found, strict=True):
        assert {name: after[name] for name in row} == row
    version = newest_version(tmp_path / "lake")
    assert version == 1
    assert not assign_work(tmp_path / "lake", DeltaTable(str(tmp_path / "lake" / "runs")))
    assert newest_version(tmp_path / "lake") == version


def test_later_runs_change_the_label_of_earlier_ones(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    assert assigned(lake, [closed(0, 100, 10.0), closed(1, 200, 10.0)])
    assert works(lake, "workload") == [("nodejs", "10 s", 2)]
    assert assigned(lake, [closed(2, 100, 5.0, run_id="a"), closed(3, 100, 2.0, run_id="b")])
    assert works(lake, "workload") == [("nodejs", "100 requests", 3), ("nodejs", "200 requests", 1)]


def test_a_lake_without_rows_has_nothing_to_label(tmp_path: Path) -> None:
    create_tables(tmp_path)
    assert not assign_work(tmp_path, DeltaTable(str(tmp_path / "runs")))


TABLE = "sys i itr dvfs rapl requests time joules\n"


def table_row(number: int, requests: int, duration_s: float) -> str:
    return f"linux_tuned 0 {2 * number} 0x1d00 135 {requests} {duration_s} 9\n"


def put_table(raw: Path, name: str, *rows: tuple[int, int, float]) -> None:
    raw.mkdir(exist_ok=True)
    (raw / name).write_text(TABLE + "".join(table_row(*row) for row in rows))


def test_an_add_labels_old_and_new_runs_together_and_the_same_add_does_nothing(
    tmp_path: Path,
) -> None:
    raw, lake = tmp_path / "raw", tmp_path / "lake"
    put_table(raw, "node_a.csv", (1, 100_000, 5.0), (2, 100_300, 9.0))
    ingest(lake, raw)
    assert works(lake, "workload") == [("nodejs", "100,000 requests", 2)]
    put_table(raw, "node_b.csv", (3, 264_000, 30.0), (4, 330_000, 30.1))
    ingest(lake, raw)
    labels = [("nodejs", "100,000 requests", 2), ("nodejs", "30 s", 2)]
    assert works(lake, "workload") == labels
    version = newest_version(lake)
    report = ingest(lake, raw)
    assert (report.added, report.replaced, report.unchanged) == (0, 0, 4)
    assert newest_version(lake) == version
    (raw / "node_b.csv").write_text((raw / "node_b.csv").read_text().replace(" 9\n", " 8\n"))
    assert ingest(lake, raw).replaced == 2
    assert works(lake, "workload") == labels


def test_a_lake_of_old_code_is_labelled_by_the_next_add(tmp_path: Path) -> None:
    """Its table has no column `work`; all its runs are labelled, those of other datasets too."""
    raw, lake = tmp_path / "raw", tmp_path / "lake"
    old = pa.schema([field for field in RUNS if field.name != "work"])
    rows = [run(load_qps=load, dataset="old", run_id=str(load)) for load in (1e5, 2e5)]
    table = pa.Table.from_pylist(rows, schema=old)
    write_deltalake(str(lake / "runs"), table, description=SCHEMA_DESCRIPTION)
    assert tuples(lake, "SELECT DISTINCT work FROM runs") == [(None,)]
    put_table(raw, "node_a.csv", (1, 100_000, 5.0))
    ingest(lake, raw)
    assert works(lake, "workload") == [("memcached", "20 s", 2), ("nodejs", "100,000 requests", 1)]


@pytest.mark.real
def test_each_published_table_has_one_work(published_lake: Path) -> None:
    """NetPIPE's table counts no requests. One memcached run without a load broke off at 9.76 s."""
    assert works(published_lake, "workload, load_qps IS NULL") == [
        ("memcached", False, "20 s", 3071),
        ("memcached", True, None, 1),
        ("netpipe", True, None, 3519),
        ("nodejs", True, "100,000 requests", 2604),
    ]


@pytest.mark.slow
@pytest.mark.real
def test_other_people_s_studies_are_not_torn_apart(tmp_path: Path) -> None:
    ingest(tmp_path / "strangers", studies() / "strangers")
    assert {row[-2] for row in works(tmp_path / "strangers")} == {None}

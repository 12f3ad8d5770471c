"""Shipped declarations of tables `sys i itr dvfs ...`: columns, units, blemishes of real ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import FormatError
from ingest.formats import table as any_table
from ingest.formats.table_text import has_header_of
from ingest.records import ReadContext, SummaryRow, SummaryTable
from ingest.settings.loading import load_settings
from tests.fixtures.real import real_data

HEADER = "sys i itr dvfs rapl read_5th read_99th measure_QPS target_QPS time joules c7"
SHIPPED = load_settings()
GOOD = "linux_tuned 2 50 0xD00 135 42.5 105.3 199972.2 200000 20 960.18 466647"


def _read(text: str, name: str = "mcd_combined.csv", block: int = 1 << 20) -> SummaryTable:
    data = text.encode()
    blocks = (data[i : i + block] for i in range(0, len(data), block))
    return any_table.read(blocks, _context(name))


def _context(name: str) -> ReadContext:
    return ReadContext(name, 2_899_999_000.0, tables=SHIPPED.tables_of(f"/raw/{name}"))


@pytest.mark.parametrize("block", [1, 13, 1 << 20])
@pytest.mark.parametrize("end", ["\n", "\r\n", " \n"])
def test_memcached_rows_go_to_columns_by_name(block: int, end: str) -> None:
    table = _read(HEADER + end + GOOD + end, block=block)
    assert table.workload == "memcached"
    assert table.problems == []
    assert table.rows == [
        SummaryRow(
            line=2,
            system="linux_tuned",
            values={
                "replicate": 2,
                "itr": 50,
                "dvfs_code": "0xd00",
                "rapl_w": 135.0,
                "latency_p5_us": 42.5,
                "latency_p99_us": 105.3,
                "throughput_qps": 199972.2,
                "load_qps": 200000.0,
                "duration_s": 20.0,
                "energy_j": 960.18,
                "c7": 466647,
            },
        )
    ]


def test_columns_in_another_order_mean_the_same() -> None:
    fields = list(zip(HEADER.split(), GOOD.split(), strict=True))
    turned = [fields[0], *reversed(fields[1:])]
    text = "\n".join(" ".join(pair[i] for pair in turned) for i in (0, 1))
    assert _read(text).rows[0].values == _read(f"{HEADER}\n{GOOD}\n").rows[0].values


def test_netpipe_rate_is_in_mbit_of_1024_squared() -> None:
    """16 Mbps = 16 * 1024 * 1024 / 8 = 2,097,152 bytes a second."""
    table = _read(
        "sys i msg itr dvfs rapl time tput joules\nebbrt_tuned 0 8192 6 0xc00 135 0.2 16 4\n"
    )
    assert table.workload == "netpipe"
    assert table.rows[0].values["bandwidth_bytes_s"] == 2_097_152.0
    assert table.rows[0].values["message_bytes"] == 8192


def test_node_latencies_and_the_older_names() -> None:
    table = _read(
        "sys i itr dvfs rapl lat50 lat99 requests ins cyc refcyc llcm joule "
        "START_RDTSC END_RDTSC c0\n"
        "linux_tuned 0 4 0xffff 135 54.0 106.0 101046 1 2 3 4 5.5 100 200 9\n"
    )
    assert table.workload == "nodejs"
    assert table.problems == []
    values = table.rows[0].values
    assert [values[n] for n in ("instructions", "cycles", "ref_cycles", "llc_misses")] == [
        1,
        2,
        3,
        4,
    ]
    assert (values["latency_p50_us"], values["latency_p99_us"]) == (54.0, 106.0)
    assert (values["energy_j"], values["requests"]) == (5.5, 101046)
    assert (values["itr"], values["dvfs_code"]) == (4, "0xffff")


def test_the_name_tells_silo_from_memcached() -> None:
    assert _read(f"{HEADER}\n{GOOD}\n", "mcdsilo_combined.csv").workload == "memcached-silo"


def test_counts_written_as_floats_are_counts() -> None:
    table = _read(f"{HEADER}\n{GOOD.replace('466647', '353700.0')}\n")
    value = table.rows[0].values["c7"]
    assert (value, type(value)) == (353700, int)
    assert table.problems == []


def test_a_fraction_of_a_count_is_rounded_and_told() -> None:
    table = _read(f"{HEADER}\n{GOOD.replace('466647', '353700.6')}\n")
    assert table.rows[0].values["c7"] == 353701
    (problem,) = table.problems
    assert (problem.kind, problem.severity) == ("fractional_count", "repaired")
    assert "353700.6" in problem.detail


def test_bad_rows_are_named_and_the_rest_counts() -> None:
    rows = [
        GOOD,
        GOOD + " 7",
        GOOD.replace("105.3", "1o5.3"),
        GOOD.replace("960.18", "-5"),
        GOOD.replace("960.18", "inf"),
        "",
        GOOD[:30],
        GOOD,
    ]
    table = _read("\n".join([HEADER, *rows]))
    assert [row.line for row in table.rows] == [2, 9]
    assert [(p.kind, p.line, p.severity) for p in table.problems] == [
        ("field_count", 3, "refused"),
        ("not_a_number", 4, "refused"),
        ("not_a_number", 5, "refused"),
        ("not_a_number", 6, "refused"),
        ("field_count", 8, "refused"),
    ]
    assert "13 fields, expected 12" in table.problems[0].detail
    assert "read_99th '1o5.3'" in table.problems[1].detail


def test_a_column_that_nobody_declared_is_told_and_kept() -> None:
    table = _read(f"{HEADER} colour\n{GOOD} red\n")
    assert table.rows[0].values["energy_j"] == 960.18
    assert table.rows[0].values["colour"] == "red"
    (problem,) = table.problems
    assert problem.kind == "undeclared_columns"
    assert "nobody declared colour: " in problem.detail


@pytest.mark.parametrize("row", [GOOD.replace(" 2 ", "  "), GOOD.replace(" 2 ", " ")])
def test_an_empty_i_is_no_replicate_and_shifts_nothing(row: str) -> None:
    table = _read(f"{HEADER}\n{row}\n")
    (kept,) = table.rows
    assert kept.values["replicate"] is None
    assert (kept.values["itr"], kept.values["energy_j"]) == (50, 960.18)
    assert [(p.kind, p.severity) for p in table.problems] == [("no_replicate", "doubted")]


def test_aligned_tables_with_runs_of_spaces_read_the_same() -> None:
    aligned = "\n".join("   ".join(line.split()) for line in (HEADER, GOOD))
    assert _read(aligned).rows[0].values == _read(f"{HEADER}\n{GOOD}").rows[0].values


def test_a_row_without_load_keeps_energy_but_no_latency_of_zero() -> None:
    table = _read(f"{HEADER}\nebbrt_tuned 0 100 0x1300 95 0 0 0 0 9.76 615.71 7\n")
    (row,) = table.rows
    for name in ("load_qps", "throughput_qps", "latency_p5_us", "latency_p99_us"):
        assert row.values[name] is None
    assert (row.values["energy_j"], row.values["duration_s"]) == (615.71, 9.76)
    assert row.flags == ["no_load"]
    assert [(p.kind, p.severity, p.line) for p in table.problems] == [("no_load", "doubted", 2)]


def test_an_odd_itr_is_doubted() -> None:
    table = _read(f"{HEADER}\n{GOOD.replace(' 50 ', ' 51 ')}\n")
    assert table.rows[0].values["itr"] == 51
    assert [p.kind for p in table.problems] == ["odd_itr"]


def test_a_table_of_nothing_but_bad_rows_has_bounded_problems() -> None:
    table = _read(HEADER + "\n" + "x y z\n" * 5000)
    assert len(table.problems) == 101
    assert sum(problem.count for problem in table.problems) == 5000


def test_a_table_that_cannot_be_told_is_of_an_unknown_workload_or_an_error() -> None:
    assert _read("sys i itr dvfs joules\nlinux 0 4 0xd00 1.5\n").workload == "unknown"
    with pytest.raises(FormatError, match=r"no header \(mcd_combined.csv\)"):
        _read("")


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.sampled_from([0, 1, 2, 50]), st.integers(1, 2**62)),
        min_size=1,
    ),
    st.integers(1, 60),
)
def test_round_trip(rows: list[tuple[int, int, int]], block: int) -> None:
    lines = [f"linux_tuned {i} {itr} 0x1d00 135 8192 {joules}" for i, itr, joules in rows]
    text = "\n".join(["sys i itr dvfs rapl msg rx_bytes", *lines])
    table = _read(text, block=block)
    kept = [(r.values["replicate"], r.values["itr"], r.values["rx_bytes"]) for r in table.rows]
    assert kept == rows


@pytest.mark.parametrize(
    ("head", "is_declared"),
    [
        (f"{HEADER}\n", True),
        (f"\ufeff{HEADER}\n{GOOD}\nx y".replace(" ", ","), True),
        ("sys,year\nlinux,2020\n", False),
        (",sys,itr,dvfs,joules\n0,linux,1,0xFFFF,299513\n", True),
    ],
)
def test_the_header_tells_a_table_whatever_its_rows_are(head: str, is_declared: bool) -> None:
    assert has_header_of(head.encode(), SHIPPED.tables) is is_declared


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "workload", "rows", "energy_j"),
    [
        ("mcd_combined.csv", "memcached", 3073, 960.18),
        ("netpipe_combined.csv", "netpipe", 3519, 4.39),
        ("node_combined.csv", "nodejs", 2604, 179.59),
    ],
)
def test_published_tables_arrive_whole(
    name: str, workload: str, rows: int, energy_j: float
) -> None:
    """Every row and every column; the one row without load is the table's own blemish."""
    data = (real_data() / "summaries" / name).read_bytes()
    table = any_table.read([data], _context(name))
    assert (table.workload, len(table.rows)) == (workload, rows)
    assert table.rows[0].values["energy_j"] == energy_j
    assert [p.kind for p in table.problems] == (["no_load"] if workload == "memcached" else [])
    heads = data.split(b"\n", 1)[0].split()
    assert all(len(row.values) == len(heads) - 1 for row in table.rows)
    unset = [row.line for row in table.rows if None in row.values.values()]
    assert unset == ([948] if workload == "memcached" else [])

"""Replicates of one configuration whose files state different options are doubted, once."""

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from data.lake_watch import newest_version
from data.schema import RUNS, SCHEMA_DESCRIPTION
from ingest.formats import fio, iperf3, memtier, turbostat, wrk
from ingest.records import ReadContext
from tests.fixtures.fio_documents import OPTIONS, document, job
from tests.fixtures.ingest import ingest, tuples
from tests.fixtures.lakes import run
from tests.fixtures.tool_outputs import MEMTIER, TURBOSTAT, WRK2, captured

CONTEXT = ReadContext("x", 1e9)


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    return tmp_path / "raw"


def put(raw: Path, replicate: int, more: str = "", size: str = "4k", fio_version: str = "") -> Path:
    """A run of fio with some further options."""
    path = raw / f"nvme0/poll/randread-{size}-r{replicate}" / "fio.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = document(job(options=OPTIONS.replace("4k", size) + (f", {more}" if more else "")))
    path.write_text(text.replace("fio-3.33", fio_version or "fio-3.33"))
    return path


def doubts(lake: Path) -> list[tuple[str, str, int]]:
    """File, detail with run ids as their replicate numbers, count."""
    ids = dict(tuples(lake, "SELECT run_id, replicate FROM runs"))
    rows = tuples(
        lake,
        "SELECT path, detail, count FROM problems WHERE kind = 'replicates_differ' "
        "AND severity = 'doubted' ORDER BY ALL",
    )
    found = []
    for path, detail, count in rows:
        for run_id, replicate in ids.items():
            detail = detail.replace(run_id, f"r{replicate}")
        found.append((Path(path).parent.name, detail, count))
    return found


def flagged(lake: Path) -> list[tuple[str, int]]:
    """Request size and replicate of the runs with the flag; the page shows it at their point."""
    return tuples(
        lake,
        "SELECT request_bytes // 1024 || 'k', replicate FROM runs "
        "WHERE list_contains(flags, 'replicates_differ') ORDER BY ALL",
    )


def said(name: str, before: str, after: str, first: int = 0, second: int = 1) -> str:
    return f"{name} is {before} in r{first}, {after} in r{second}: replicates of one configuration"


def test_buffered_and_direct_replicates_are_doubted_once(raw: Path, lake: Path) -> None:
    for replicate, direct in enumerate("110"):
        put(raw, replicate, f'"direct": "{direct}"')
    put(raw, 0, '"direct": "1"', size="8k")
    put(raw, 1, '"direct": "1"', size="8k")
    # fio lists no option that has its default: without `direct` it reads through the cache.
    put(raw, 3, '"direct": "1"', size="16k")
    put(raw, 4, size="16k")
    report = ingest(lake, raw)
    assert (report.added, report.refused) == (7, [])
    assert flagged(lake) == [("16k", 3), ("16k", 4), ("4k", 0), ("4k", 1), ("4k", 2)]
    assert doubts(lake) == [
        ("randread-16k-r4", said("direct", "'1'", "not stated", 3, 4), 1),
        ("randread-4k-r2", said("direct", "'1'", "'0'", second=2), 1),
    ]
    kinds = [found.problem.kind for found in report.problems]
    assert kinds.count("replicates_differ") == 2


def test_a_replicate_of_a_later_add_is_compared_and_the_same_add_says_nothing_more(
    raw: Path, lake: Path
) -> None:
    put(raw, 0, '"rwmixread": "70"')
    assert ingest(lake, raw).problems == []
    put(raw, 1, '"rwmixread": "50"')
    assert [found.problem.count for found in ingest(lake, raw).problems] == [1]
    assert len(flagged(lake)) == 2
    known = [("randread-4k-r1", said("rwmixread", "'70'", "'50'"), 1)]
    assert doubts(lake) == known
    version = newest_version(lake)
    assert ingest(lake, raw).problems == []
    assert (doubts(lake), newest_version(lake)) == (known, version)


def test_a_doubt_ends_with_its_reason_and_other_problems_of_the_file_stay(
    raw: Path, lake: Path
) -> None:
    put(raw, 0, '"direct": "1"')
    path = put(raw, 1, '"direct": "0"')
    path.write_text(path.read_text().replace('"total_err"', '"x"') + '{"fio version": ')
    ingest(lake, raw)
    assert len(doubts(lake)) == 1
    put(raw, 0, '"direct": "0"')
    ingest(lake, raw)
    assert (doubts(lake), flagged(lake)) == ([], [])
    assert tuples(lake, "SELECT kind FROM problems") == [("cut_document",)]


def test_one_difference_of_a_whole_sweep_is_one_doubt_with_a_count(raw: Path, lake: Path) -> None:
    for size in ("4k", "8k", "16k"):
        put(raw, 0, size=size)
        put(raw, 1, size=size, fio_version="fio-3.36")
    ingest(lake, raw)
    ((_, detail, count),) = doubts(lake)
    assert detail.startswith("fio version is 'fio-3.33' in ")
    assert (count, "'fio-3.36' in " in detail) == (3, True)


def test_names_seeds_reports_and_other_configurations_are_no_difference(
    raw: Path, lake: Path
) -> None:
    options = {
        "4k": ('"filename": "/a"', '"filename": "/b"'),
        "8k": ('"randseed": "1"', '"randseed": "2"'),
        "16k": ('"write_lat_log": "1"', '"log_avg_msec": "500"'),
        "32k": ('"ioengine": "libaio", "direct": "1"', '"ioengine": "io_uring", "direct": "0"'),
    }
    for size, more in options.items():
        for replicate, option in enumerate(more):
            put(raw, replicate, option, size=size)
    assert ingest(lake, raw).added == 8
    assert doubts(lake) == []


def test_runs_of_a_lake_of_old_code_state_nothing(raw: Path, lake: Path) -> None:
    old = pa.schema([field for field in RUNS if field.name != "facts"])
    rows = [run(replicate=number, run_id=str(number)) for number in (0, 1)]
    table = pa.Table.from_pylist(rows, schema=old)
    write_deltalake(str(lake / "runs"), table, description=SCHEMA_DESCRIPTION)
    put(raw, 0)
    ingest(lake, raw)
    assert doubts(lake) == []


def test_facts_of_fio_are_its_version_and_the_options_that_are_no_knobs() -> None:
    options = f'{OPTIONS}, "direct": "1", "name": "a", "iodepth": "4"'
    facts = fio.read([document(job(options=options)).encode()], CONTEXT).facts
    assert facts == {"fio version": "fio-3.33", "runtime": "2", "direct": "1"}


def test_facts_of_the_other_tools() -> None:
    assert wrk.read([WRK2.encode()], CONTEXT).facts == {"threads": "2", "connections": "100"}
    secret = MEMTIER.replace('"server"', '"key_pattern": "R:R", "authenticate": "u:p", "server"')
    assert memtier.read([secret.encode()], CONTEXT).facts == {"key_pattern": "R:R"}
    header = "turbostat version 2022.10.04 - Len Brown\nCPUID(0): GenuineIntel 0xd CPUID levels\n"
    rows = TURBOSTAT[TURBOSTAT.index("RAPL:") :]
    assert turbostat.read([(header + rows).encode()], CONTEXT).facts == {
        "turbostat version": "2022.10.04 - Len Brown",
        "CPUID(0)": "GenuineIntel 0xd CPUID levels",
    }
    assert iperf3.read([captured("iperf3_tcp.json")], CONTEXT).facts == {
        "version": "iperf 3.12", "system_info": "Linux x86_64", "omit": "0", "bytes": "0",
        "blocks": "0", "reverse": "0", "tos": "0", "sender_tcp_congestion": "bbr",
        "receiver_tcp_congestion": "bbr",
    }  # fmt: skip


def test_a_file_may_state_very_much_of_which_the_lake_keeps_a_part(raw: Path, lake: Path) -> None:
    put(raw, 0, ", ".join(f'"o{number}": "{"x" * 999}"' for number in range(999)))
    ingest(lake, raw)
    ((text,),) = tuples(lake, "SELECT facts FROM runs")
    assert len(text) < 50_000

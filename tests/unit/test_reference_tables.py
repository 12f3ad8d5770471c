"""The published tables: what they say, and that a bad one is refused by name."""

import re
import shutil
from pathlib import Path

import pytest

from data.errors import DataError
from data.reference.tables import HERE, papers, published_tables, read_tables


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the folder that a test may spoil."""
    return Path(shutil.copytree(HERE, tmp_path / "reference"))


def test_the_anchors_of_the_studies() -> None:
    tables = published_tables()
    performance = {
        (r["mode"], r["threads"]): (r["latency_us"], r["iops"])
        for r in tables["hotstorage22_performance"].rows
    }
    assert performance == {
        ("poll", 1): (8.1, 120_470), ("hybrid", 1): (8.5, 113_846),
        ("interrupt", 1): (10.1, 96_722), ("poll", 8): (13.6, 571_659),
        ("hybrid", 8): (13.9, 546_968), ("interrupt", 8): (15.0, 511_895),
    }  # fmt: skip
    idle = [row["power_w"] for row in tables["hotstorage20_idle_power"].rows]
    assert idle == [29, 39, 31, 34]
    switches = tables["hotstorage22_context_switches"].rows
    assert {r["mode"]: r["context_switches_per_io"] for r in switches} == {
        "interrupt": 1, "hybrid": 1, "poll": 0,
    }  # fmt: skip


def test_the_parts_of_loads_and_stores_add_up_but_for_rounding() -> None:
    """Each sum of the table beside the sum of its parts; all that differ, differ by 1 million."""
    printed: dict[tuple[str, str], float] = {}
    added: dict[tuple[str, str], float] = {}
    for row in published_tables()["hotstorage22_loads_stores"].rows:
        at, value = (row["source"], row["mode"]), row["millions_per_s"]
        if row["part"] in ("sum", "total"):
            printed[at] = value
            if row["part"] == "sum":
                total = "total", row["mode"]
                added[total] = added.get(total, 0) + value
        else:
            added[at] = added.get(at, 0) + value
    off = {at: (printed[at], value) for at, value in added.items() if printed[at] != value}
    assert off == {
        ("block/", "interrupt"): (386, 385), ("block/", "poll"): (759, 760),
        ("kernel/sched/", "hybrid"): (786, 787),
        ("kernel/time/", "poll"): (22, 23), ("kernel/time/", "hybrid"): (154, 155),
        ("total", "interrupt"): (2710, 2711), ("total", "poll"): (3190, 3189),
        ("total", "hybrid"): (3612, 3613),
    }  # fmt: skip
    # block/ of hybrid polling; kernel/sched/ of two modes; kernel/time/ of interrupts
    assert len(added) - len(off) == 4
    assert len(printed) == 3 * 6


def test_every_table_says_where_its_values_come_from() -> None:
    for table in published_tables().values():
        assert len(table.read_from) > 20, table.name
        assert table.paper.url.startswith("https://")
        assert table.rows


def test_nothing_of_the_tables_is_missing() -> None:
    assert [paper.missing for paper in papers()] == ["", ""]
    optane = published_tables()["hotstorage20_power_states"].rows[-1]
    assert (optane["device"], optane["state"], optane["power_w"]) == ("Optane SSD", 0, None)


def test_every_file_is_named_in_the_readme() -> None:
    readme = (HERE / "README.md").read_text("utf-8")
    assert [name for name in published_tables() if f"`{name}.csv`" not in readme] == []


def test_the_tables_have_their_numbers() -> None:
    numbered = {t.source for t in published_tables().values() if t.where.startswith("table")}
    assert numbered == {
        *(f"HotStorage '20, table {n}" for n in (1, 2, 3)),
        *(f"HotStorage '22, table {n}" for n in (1, 2)),
    }


def test_patterns_are_regular_expressions() -> None:
    patterns = [r[name] for t in published_tables().values() for r in t.rows
                for name in ("device_pattern", "function_pattern") if r.get(name)]  # fmt: skip
    assert patterns
    for pattern in patterns:
        re.compile(str(pattern))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("new,warm,", r"line 6, power_w: 'warm' is no number"),
        ("new,-3,", r"line 6, power_w: -3 is not a quantity"),
        ("new,inf,", r"line 6, power_w: inf is not a quantity"),
        ("new,3", r"line 6: 2 cells, expected 3"),
        ("Optane SSD,35,", r"line 6: \('Optane SSD',\) is there twice"),
        (",35,", r"line 6: \(None,\) is no key"),
    ],
)
def test_a_bad_line_is_refused_by_file_line_and_value(copy: Path, line: str, message: str) -> None:
    with (copy / "hotstorage20_idle_power.csv").open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(DataError, match=message):
        read_tables(copy)


def test_files_are_those_that_are_described_with_their_headings(copy: Path) -> None:
    (copy / "mine.csv").write_text("a\n1\n")
    with pytest.raises(DataError, match=r"mine\.csv is not described"):
        read_tables(copy)
    (copy / "mine.csv").unlink()
    (copy / "hotstorage22_context_switches.csv").write_text("mode,switches\npoll,0\n")
    with pytest.raises(DataError, match=r"described is .'mode', 'context_switches_per_io'"):
        read_tables(copy)
    (copy / "hotstorage20_devices.csv").unlink()
    with pytest.raises(DataError, match=r"hotstorage20_devices\.csv is described but"):
        read_tables(copy)

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
    latency = {
        (r["mode"], r["threads"]): r["latency_us"] for r in tables["hotstorage22_latency"].rows
    }
    assert latency["poll", 1] == 8.1
    assert latency["hybrid", 1] == 8.5
    assert latency["interrupt", 1] == 10.1
    assert [latency[mode, 8] for mode in ("poll", "hybrid", "interrupt")] == [13.6, 13.9, 15.0]
    idle = [row["power_w"] for row in tables["hotstorage20_idle_power"].rows]
    assert idle == [29, 39, 31, 34]
    switches = tables["hotstorage22_context_switches"].rows
    assert {r["mode"]: r["context_switches_per_io"] for r in switches} == {
        "interrupt": 1, "hybrid": 1, "poll": 0,
    }  # fmt: skip


def test_every_table_says_where_its_values_come_from() -> None:
    for table in published_tables().values():
        assert len(table.read_from) > 20, table.name
        assert table.paper.url.startswith("https://")
        assert table.rows


def test_what_is_missing_is_said() -> None:
    said = " ".join(paper.missing for paper in papers())
    assert "Tables 1 and 2" in said
    readme = (HERE / "README.md").read_text("utf-8")
    assert "tables 1 and 2 of HotStorage '22" in readme
    optane = published_tables()["hotstorage20_power_states"].rows[-1]
    assert optane["device"] == "Optane SSD"
    assert optane["power_w"] is None


def test_every_file_is_named_in_the_readme() -> None:
    readme = (HERE / "README.md").read_text("utf-8")
    assert [name for name in published_tables() if f"`{name}.csv`" not in readme] == []


def test_the_tables_have_their_numbers() -> None:
    numbered = {t.source for t in published_tables().values() if t.table is not None}
    assert numbered == {f"HotStorage '20, table {n}" for n in (1, 2, 3)}


def test_device_patterns_are_regular_expressions() -> None:
    patterns = [r["device_pattern"] for t in published_tables().values() for r in t.rows
                if r.get("device_pattern")]  # fmt: skip
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


def test_another_heading_is_refused(copy: Path) -> None:
    (copy / "hotstorage22_context_switches.csv").write_text("mode,switches\npoll,0\n")
    with pytest.raises(DataError, match=r"described is .'mode', 'context_switches_per_io'"):
        read_tables(copy)


def test_a_file_that_nothing_describes_is_refused(copy: Path) -> None:
    (copy / "mine.csv").write_text("a\n1\n")
    with pytest.raises(DataError, match=r"mine\.csv is not described"):
        read_tables(copy)


def test_a_missing_file_is_refused(copy: Path) -> None:
    (copy / "hotstorage20_devices.csv").unlink()
    with pytest.raises(DataError, match=r"hotstorage20_devices\.csv is described but"):
        read_tables(copy)

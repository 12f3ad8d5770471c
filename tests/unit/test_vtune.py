"""VTune's tables of functions, and functions to kernel subsystems."""

from pathlib import Path
from typing import Any

import pytest

from data.errors import SettingsError
from ingest.formats import vtune
from ingest.records import FunctionCounts, ReadContext
from ingest.runs.storage_counts import function_rates
from ingest.settings.dataset import Settings
from ingest.settings.function_map import shipped_sources
from ingest.settings.loading import load_settings

TABLE = """\
Function,Module,Loads,Stores,Source File,Start Address
blk_mq_submit_bio,vmlinux,4000,2000,block/blk-mq.c,0xffffffff81400000
nvme_poll,nvme,1000,500,[Unknown],0xffffffffc0100000
func@0xffffffff81000010,vmlinux,10,,,0xffffffff81000010
[Unknown],[Unknown],,5,,
"""


def read(text: str) -> FunctionCounts:
    return vtune.read([text.encode()], ReadContext("vtune.csv", 0.0))


def test_a_table_as_powershell_writes_it() -> None:
    data = TABLE.replace("\n", "\r\n").encode("utf-16")
    assert vtune.sniff("x", data)
    assert vtune.read([data], ReadContext("vtune.csv", 0.0)).functions == read(TABLE).functions


def test_a_cell_without_end_takes_its_row_alone() -> None:
    """A quote that nothing closes swallows what follows, up to the most that a cell may hold."""
    found = read('Function,Loads\na,1\n"' + "x" * 140_000 + '",2\nb,3\n')
    assert [each.function for each in found.functions] == ["a", "b"]
    assert [(p.kind, p.line) for p in found.problems] == [("field_count", 3)]


def rates(text: str, settings: Settings, **row: Any) -> dict[str, tuple[Any, ...]]:
    _, table = function_rates(read(text), {"run_id": "r", "duration_s": 2.0} | row, settings)
    assert table is not None
    return {row["function"]: tuple(row.values())[2:] for row in table.to_pylist()}


def test_a_run_has_the_sums_and_each_function_its_rate() -> None:
    totals, table = function_rates(read(TABLE), {"run_id": "r", "duration_s": 2.0}, load_settings())
    assert totals == {"loads": 5010, "stores": 2505}
    assert table is not None
    assert table.column_names[0] == "run_id"
    assert rates(TABLE, load_settings()) == {
        "blk_mq_submit_bio": ("block/blk-mq.c", "block", 2000.0, 1000.0),
        "nvme_poll": ("drivers/nvme/host/pci.c", "nvme", 500.0, 250.0),
        "func@0xffffffff81000010": (None, None, 5.0, None),
        "[Unknown]": (None, None, None, 2.5),
    }


def test_without_a_time_there_are_sums_and_no_rates() -> None:
    totals, table = function_rates(read(TABLE), {"run_id": "r"}, load_settings())
    assert (totals["loads"], table) == (5010, None)


@pytest.mark.parametrize(
    ("source_file", "module", "subsystem"),
    [
        ("block/blk-mq.c", "", "block"),
        ("/usr/src/linux-5.15/block/blk-mq.c", "vmlinux", "block"),
        ("drivers/nvme/host/pci.c", "", "nvme"),
        ("kernel/sched/core.c", "", "scheduler"),
        ("kernel/sched/idle.c", "", "idle"),
        ("kernel/time/hrtimer.c", "", "time"),
        ("fs/iomap/direct-io.c", "", "files"),
        ("mm/dmapool.c", "", "dma"),
        ("drivers/scsi/sd.c", "", "other"),
        (None, "nvme_core", "nvme"),
        (None, "libc.so.6", "user"),
        (None, "fio", "user"),
        (None, "vmlinux", None),
    ],
)
def test_the_directory_of_a_function_is_its_subsystem(
    source_file: str | None, module: str, subsystem: str | None
) -> None:
    assert load_settings().functions.subsystem_of(source_file, module) == subsystem


def test_a_function_that_the_compiler_cloned_is_where_the_original_is() -> None:
    functions = load_settings().functions
    assert functions.source_of("nvme_process_cq.isra.0") == "drivers/nvme/host/pci.c"
    assert functions.source_of("my_function") is None


def test_each_shipped_function_has_a_subsystem() -> None:
    functions = load_settings().functions
    homeless = [
        name
        for name, source in shipped_sources().items()
        if functions.subsystem_of(source, "") == "other"
    ]
    assert homeless == ["security_file_permission"]


def test_a_dataset_has_a_say(tmp_path: Path) -> None:
    own = tmp_path / "wattlas.toml"
    own.write_text('[subsystems.ours]\npaths = ["drivers/ours/"]\n[functions]\ntable = "f.csv"\n')
    (tmp_path / "f.csv").write_text("source_file,function\ndrivers/ours/a.c,our_poll\n")
    settings = load_settings(own)
    source = settings.functions.source_of("our_poll")
    assert settings.functions.subsystem_of(source, "") == "ours"
    assert settings.functions.source_of("nvme_poll") == "drivers/nvme/host/pci.c"
    assert settings.fingerprint != load_settings().fingerprint


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot read"),
        ("function\na\n", "no column 'source_file'"),
        ("function,source_file\na,\n", "line 2"),
    ],
)
def test_a_bad_table_of_functions_is_named(tmp_path: Path, text: str | None, words: str) -> None:
    own = tmp_path / "wattlas.toml"
    own.write_text('[functions]\ntable = "f.csv"\n')
    if text is not None:
        (tmp_path / "f.csv").write_text(text)
    with pytest.raises(SettingsError, match=words):
        load_settings(own)

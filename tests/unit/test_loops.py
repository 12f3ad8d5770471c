"""All compiled loops are there before processes are forked."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ingest.pipeline import AddOptions, add
from ingest.runs import schedule
from tests.fixtures.raw_runs import write_memcached, write_netpipe, write_settings

_ROOT = Path(__file__).resolve().parents[2]
_CODE = """
import json, sys
from pathlib import Path
import ingest.formats.line_parser, ingest.formats.plain_lines, ingest.lake.page_packing
import ingest.logs.row_loops, ingest.logs.size_histograms
from ingest.runs.loops import load_loops
from ingest.pipeline import AddOptions, add

def loaded():
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("ingest."):
            for key, value in vars(module).items():
                if hasattr(value, "signatures") and value.__module__ == name:
                    found[f"{name}.{key}"] = sorted(map(str, value.signatures))
    return found

load_loops()
before = loaded()
raw, lake = map(Path, sys.argv[1:])
assert add(AddOptions(lake, [raw])).added == 2
print(json.dumps([before, loaded()]))
"""


def test_what_runs_need_is_loaded_beforehand(tmp_path: Path) -> None:
    write_settings(tmp_path / "raw")
    write_netpipe(tmp_path / "raw")
    write_memcached(tmp_path / "raw", cores=(0, 1))
    command = [sys.executable, "-c", _CODE, str(tmp_path / "raw"), str(tmp_path / "lake")]
    done = subprocess.run(command, cwd=_ROOT, stdout=subprocess.PIPE, check=True)
    before, after = json.loads(done.stdout)
    assert sum(map(len, before.values())) > 10
    assert after == before


def test_without_room_for_temporary_files_the_ingest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule, "_WORTH_A_PROCESS_BYTES", 0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "no such folder"))
    write_settings(tmp_path / "raw")
    for replicate in (0, 1):
        write_netpipe(tmp_path / "raw", replicate)
    assert add(AddOptions(tmp_path / "lake", [tmp_path / "raw"], workers=2)).added == 2

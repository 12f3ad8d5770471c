"""Very many raw files, and a lake that has them all already, without the time to read them."""

from pathlib import Path
from typing import Any, Final

from ingest.discover import discover
from ingest.lake_state import load_state
from ingest.names import identity_columns
from ingest.plan import RunWork, make_plan
from ingest.run_row import settings_struct, source_struct
from ingest.write import create_tables, replace_runs

_CORES: Final = 16
_FILES_A_RUN: Final = _CORES + 2
_LOG: Final = "0 1 66 0 0 5 5 5 5 0 0 0 0 0 9 {tsc}\n" * 2
_WINDOW: Final = "0 7 100 900\n1 8 101 901\n"
_OUTPUT: Final = """\
#type       avg     std     min     5th    10th    50th    90th    95th    99th
read       76.2    29.0    49.8    62.5    65.1    73.7    89.2    97.4   117.9

Total QPS = 200000.0 (400 / 0.002s)
"""


def write_settled_lake(raw: Path, lake: Path, files: int) -> int:
    """Write memcached runs of tiny files, and a lake as if they had been ingested.

    Returns:
        How many runs.
    """
    runs = files // _FILES_A_RUN
    for run in range(runs):
        folder = raw / f"{run // 100:04d}"
        folder.mkdir(parents=True, exist_ok=True)
        knobs = f"{2 * (run % 500)}_0x1d00_135_200000"
        name = f"{run // 500}_{{}}{knobs}"
        for core in range(_CORES):
            log = folder / f"linux.mcd.dmesg.{name.format(f'{core}_')}"
            log.write_text(_LOG.format(tsc=500))
        (folder / f"linux.mcd.out.{name.format('')}").write_text(_OUTPUT)
        (folder / f"linux.mcd.rdtsc.{name.format('')}").write_text(_WINDOW)
    create_tables(lake)
    state = load_state(lake)
    plan = make_plan(discover([raw], state, None, None), state)
    rows = [_row(work) for work in plan.works]
    for at in range(0, len(rows), 500):
        replace_runs(lake, rows[at : at + 500])
    return len(rows)


def _row(work: RunWork) -> dict[str, Any]:
    settings = work.files[0].settings
    sources = [source_struct(file, "0" * 32) for file in work.files]
    return {
        **identity_columns(work.key, settings),
        "source": "intlog",
        "flags": [],
        "cores": [],
        "sources": [*sources, settings_struct(settings)],
        "files": [],
    }

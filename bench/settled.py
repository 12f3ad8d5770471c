"""Many raw files, and a lake that has all of them, made without reading them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from ingest.discover.names import identity_columns
from ingest.discover.plan import RunWork, make_plan
from ingest.discover.search import discover
from ingest.discover.source_reads import settings_struct, source_struct
from ingest.lake.state import load_state
from ingest.lake.tables import create_tables, replace_runs

_CORES: Final = 16
_TABLES: Final = ("interrupts", "samples", "overview", "histograms")
_LOG: Final = "0 1 66 0 0 5 5 5 5 0 0 0 0 0 9 500\n" * 2
_WINDOW: Final = "0 7 100 900\n1 8 101 901\n"
_OUTPUT: Final = """\
#type       avg     std     min     5th    10th    50th    90th    95th    99th
read       76.2    29.0    49.8    62.5    65.1    73.7    89.2    97.4   117.9

Total QPS = 200000.0 (400 / 0.002s)
"""
_DOCUMENT: Final = '{"fio version": "fio-3.36", "jobs": []}\n'
_INTERRUPTS: Final = "           CPU0\n  33:        100  IR-PCI-MSI  nvme0q1\n"


def write_settled_lake(raw: Path, lake: Path, files: int, study: str = "logs") -> int:
    """Write small files of many runs, and the lake that ingest would make of them.

    Args:
        study: A key of STUDIES.

    Returns:
        Number of runs.
    """
    files_a_run, write_files = STUDIES[study]
    for run in range(files // files_a_run):
        write_files(raw, run)
    create_tables(lake)
    state = load_state(lake)
    plan = make_plan(discover([raw], state, None, None), state)
    rows = [_row(lake, work) for work in plan.works]
    for at in range(0, len(rows), 500):
        replace_runs(state.tables["runs"], rows[at : at + 500])
    return len(rows)


def _write_log_run(raw: Path, run: int) -> None:
    """Write 16 core logs, an output and a window of memcached; a folder has a hundred runs."""
    folder = raw / f"{run // 100:04d}"
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{run // 500}_{{}}{2 * (run % 500)}_0x1d00_135_200000"
    for core in range(_CORES):
        (folder / f"linux.mcd.dmesg.{name.format(f'{core}_')}").write_text(_LOG)
    (folder / f"linux.mcd.out.{name.format('')}").write_text(_OUTPUT)
    (folder / f"linux.mcd.rdtsc.{name.format('')}").write_text(_WINDOW)


def _write_storage_run(raw: Path, run: int) -> None:
    """Write fio's output, both copies of the interrupts and a sidecar into a folder."""
    folder = raw / f"nvme{run // 3000}" / "poll" / f"randread-{4 + run // 30 % 100}k-t8-r{run % 30}"
    folder.mkdir(parents=True)
    (folder / "fio.json").write_text(_DOCUMENT)
    (folder / "interrupts.before").write_text(_INTERRUPTS)
    (folder / "interrupts.after").write_text(_INTERRUPTS)
    began = f"2022-03-{1 + run // 3600 % 28:02d}T{run // 60 % 24:02d}:{run % 60:02d}:{{:02d}}Z"
    sidecar = f"start_utc = {began.format(0)}\nend_utc = {began.format(30)}\n"
    (folder / "run.toml").write_text(sidecar)


# By study: number of files of a run, and the function that writes them.
STUDIES: Final[dict[str, tuple[int, Callable[[Path, int], None]]]] = {
    "logs": (_CORES + 2, _write_log_run),
    "storage": (4, _write_storage_run),
}


def _row(lake: Path, work: RunWork) -> dict[str, Any]:
    settings = work.files[0].settings
    is_logged = settings.workloads[work.key.workload].logged
    sources = [source_struct(file, "0" * 32) for file in work.files]
    return {
        **identity_columns(work.key, settings),
        "source": "intlog" if is_logged else "fio",
        "flags": [],
        "cores": [],
        "sources": [*sources, settings_struct(settings)],
        "files": [_write_big_file(lake, table, work) for table in _TABLES] if is_logged else [],
    }


def _write_big_file(lake: Path, table: str, work: RunWork) -> dict[str, Any]:
    """Write a small file in place of a large one, of which ingest reads only the size."""
    name = f"{table}/{work.key.dataset}/{work.run_id}.{'0' * 12}.parquet"
    path = lake / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"-")
    return {"table": table, "path": name, "size_bytes": 1, "rows": 1}

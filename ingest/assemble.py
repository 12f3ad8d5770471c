"""Files of one run to its row and its big tables: no files are touched here, only values."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa

from data.schema import COUNTERS, KNOBS, MEASUREMENTS
from ingest.core_logs import CoreCut, cut_core, energy_by_package
from ingest.discover import RawFile
from ingest.lake_state import SETTINGS_FORMAT
from ingest.names import RunKey, identity_columns
from ingest.plan import RunWork, log_core
from ingest.records import CoreLog, Problem, Reading, Window
from ingest.run_tables import build_tables
from ingest.settings import Settings

DURATION_TOLERANCE: Final = 0.10


@dataclass(slots=True)
class SourceRead:
    """One raw file as read; no content if it was refused."""

    file: RawFile
    digest: str
    content: CoreLog | Reading | None
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class AssembledRun:
    """A run ready to be written.

    Attributes:
        row: Columns of `runs` that are known, `files` not yet among them; None if no file of the
            run could be used.
        tables: The big tables by name.
        problems: By path, of all the files read, empty lists included.
        digest: Of the sources and settings; names the big files.
    """

    row: dict[str, Any] | None
    tables: dict[str, pa.Table]
    problems: dict[str, list[Problem]]
    digest: str


class _Run:
    """A run while it is put together."""

    def __init__(self, key: RunKey, settings: Settings, reads: Sequence[SourceRead]) -> None:
        self.key = key
        self.settings = settings
        self.reads = reads
        self.row: dict[str, Any] = identity_columns(key, settings)
        self.flags: set[str] = set()
        self.problems = {read.file.path: list(read.problems) for read in reads}
        self.logs = [read for read in reads if isinstance(read.content, CoreLog)]
        self.readings = [read for read in reads if isinstance(read.content, Reading)]

    def doubt(self, read: SourceRead, kind: str, detail: str) -> None:
        self.problems[read.file.path].append(Problem(kind, "doubted", detail))


def assemble_run(work: RunWork, reads: Sequence[SourceRead]) -> AssembledRun:
    """Put the files of one run together.

    The window decides: what was logged outside of it is dropped, and without one the logs count
    for nothing. The load generator's measures hold unless the window or the counters say better.
    """
    settings = work.files[0].settings
    run = _Run(work.key, settings, reads)
    digest = _sources_digest(reads, settings)
    if not run.logs and not run.readings:
        return AssembledRun(None, {}, run.problems, digest)
    window = _take_readings(run)
    cuts = _take_logs(run, window)
    tables: dict[str, pa.Table] = {}
    if window is not None and cuts:
        carriers = _take_counters(run, cuts)
        tables = build_tables(work.run_id, cuts, carriers, window, settings.machine.tsc_hz)
    _finish_row(run)
    return AssembledRun(run.row, tables, run.problems, digest)


def _sources_digest(reads: Sequence[SourceRead], settings: Settings) -> str:
    parts = sorted(f"{read.file.format.name} {read.digest}" for read in reads)
    return hashlib.sha256("\n".join([*parts, settings.fingerprint]).encode()).hexdigest()[:12]


def _take_readings(run: _Run) -> Window | None:
    """Take over what the small files say; the record of the window comes before an output's."""
    by_role = sorted(run.readings, key=lambda read: read.file.format.role == "window")
    window: Window | None = None
    for read in by_role:
        content = read.content
        assert isinstance(content, Reading)
        run.row.update({k: v for k, v in content.measurements.items() if k in MEASUREMENTS})
        run.flags.update(content.flags)
        _check_knobs(run, read, content)
        window = content.window or window
    if window is not None:
        _take_window(run, window)
    return window


def _check_knobs(run: _Run, read: SourceRead, content: Reading) -> None:
    for name, said in content.knobs.items():
        named = run.row.get(name)
        if named is None:
            if name in KNOBS and name not in run.row:
                run.row[name] = said
        elif str(said).lower() != str(named).lower() and said != named:
            detail = f"the file says {name} {said!r}, its name {named!r}; the name holds"
            run.doubt(read, "knob_mismatch", detail)


def _take_window(run: _Run, window: Window) -> None:
    duration_s = (window.end_tsc - window.start_tsc) / run.settings.machine.tsc_hz
    stated_s = run.row.get("duration_s")
    run.row["duration_s"] = duration_s
    if stated_s is not None and abs(stated_s - duration_s) > DURATION_TOLERANCE * duration_s:
        run.flags.add("duration_off")
        output = next(r for r in run.readings if "duration_s" in r.content.measurements)  # type: ignore[union-attr]
        detail = f"states {stated_s:.6g} s, the window lasts {duration_s:.6g} s; the window holds"
        run.doubt(output, "duration_off", detail)


def _take_logs(run: _Run, window: Window | None) -> list[CoreCut]:
    """Cut the logs to the window, in order of their cores."""
    for read in run.logs:
        run.flags.update(read.content.flags if read.content else ())
    if not run.logs:
        run.flags.add("no_log")
        if not any(read.file.format.role == "log" for read in run.reads):
            detail = "no per-interrupt log of this run was found; its counters and energy are NULL"
            run.doubt(run.reads[0], "no_log", detail)
    if window is None:
        run.flags.add("no_window")
        if not any(p.kind == "no_window" for found in run.problems.values() for p in found):
            detail = "the run has no record of its workload window; what was logged does not count"
            run.doubt((run.logs or run.readings)[0], "no_window", detail)
        return []
    cuts = [
        cut_core(_core_of(run, read), read.content, window, run.settings.machine)
        for read in run.logs
        if isinstance(read.content, CoreLog)
    ]
    for read, cut in zip(run.logs, cuts, strict=True):
        run.problems[read.file.path].extend(cut.problems)
        run.flags.update(problem.kind for problem in cut.problems)
    return sorted(cuts, key=lambda cut: cut.core)


def _core_of(run: _Run, read: SourceRead) -> int:
    log = read.content
    assert isinstance(log, CoreLog)
    named = log_core(read.file)
    if named is None:
        named = (
            log.core if log.core is not None else run.settings.expected_cores(run.key.workload)[0]
        )
    if log.core is not None and log.core != named:
        detail = f"the file says core {log.core}, its name core {named}; the name holds"
        run.doubt(read, "core_mismatch", detail)
    return named


def _take_counters(run: _Run, cuts: Sequence[CoreCut]) -> set[int]:
    """Sum the cores into the row; gives the cores whose energy counter stands for their package."""
    energy, carriers, wrapped = energy_by_package(cuts, run.settings.machine)
    if wrapped:
        run.flags.add("energy_counter_wrapped")
    missing = _missing_cores(run, cuts)
    if missing:
        run.flags.add("missing_core")
    lacking = {run.settings.machine.package_of(core) for core in missing} - set(energy)
    if energy and not lacking and None not in energy.values():
        run.row["energy_j"] = sum(value for value in energy.values() if value is not None)
    for name in COUNTERS:
        values = [cut.totals[name] for cut in cuts if cut.totals.get(name) is not None]
        if values:
            run.row[name] = sum(values)
    run.row["cores"] = [_core_struct(run, cut, energy, carriers) for cut in cuts]
    return carriers


def _missing_cores(run: _Run, cuts: Sequence[CoreCut]) -> list[int]:
    expected = run.settings.expected_cores(run.key.workload)
    if len(expected) == 1:
        return []
    missing = sorted(set(expected) - {cut.core for cut in cuts})
    if missing:
        names = ", ".join(map(str, missing))
        run.doubt(run.logs[0], "missing_core", f"no log of core {names} in this run")
    return missing


def _core_struct(
    run: _Run, cut: CoreCut, energy: dict[int | None, float | None], carriers: set[int]
) -> dict[str, Any]:
    return {
        "core": cut.core,
        "package": cut.package,
        "duration_s": run.row["duration_s"],
        "energy_j": energy[cut.package] if cut.core in carriers else None,
        **cut.totals,
        "samples": len(cut.sample_t_ns),
        "gap_hist": cut.gap_hist.tolist(),
    }


def _finish_row(run: _Run) -> None:
    row = run.row
    if run.key.system not in run.settings.systems:
        run.flags.add("unknown_system")
        detail = f"the settings do not know the system {run.key.system!r}; kept under this name"
        run.doubt(run.reads[0], "unknown_system", detail)
    if row.get("energy_j") is not None and row.get("duration_s"):
        row["power_w"] = row["energy_j"] / row["duration_s"]
    by_role = {read.file.format.role: read.file.format.name for read in reversed(run.reads)}
    has_log = bool(run.logs)
    row["source"] = next(
        by_role[role]
        for role in ("log", "output", "window")
        if role in by_role and (role != "log" or has_log)
    )
    row["flags"] = sorted(run.flags)
    row.setdefault("cores", [])
    row["sources"] = [source_struct(read.file, read.digest) for read in run.reads]
    row["sources"].append(settings_struct(run.settings))


def source_struct(file: RawFile, digest: str) -> dict[str, Any]:
    """One element of `runs.sources`."""
    return {
        "path": file.path,
        "format": file.format.name,
        "size_bytes": file.size,
        "mtime": file.mtime,
        "digest": digest,
    }


def settings_struct(settings: Settings) -> dict[str, Any]:
    """The element of `runs.sources` that says which settings the numbers depend on."""
    return {
        "path": settings.origin,
        "format": SETTINGS_FORMAT,
        "size_bytes": None,
        "mtime": None,
        "digest": settings.fingerprint,
    }

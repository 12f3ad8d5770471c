"""What the files of one run say, put together to its row: values only, no files."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa

from data.schema import COUNTERS, KNOBS, MEASUREMENTS
from ingest.companions import count_interrupts, describe_interval, function_rates, is_of_its_time
from ingest.core_logs import CoreCut, PackageEnergy
from ingest.discover import IDLE, RawFile, digest_of
from ingest.formats.proc_interrupts import phase_of
from ingest.lake_state import SETTINGS_FORMAT
from ingest.names import RunKey, identity_columns
from ingest.plan import RunWork, log_core
from ingest.read_sources import SourceRead
from ingest.records import (
    FunctionCounts,
    InterruptCounts,
    LogFacts,
    PowerJoin,
    Problem,
    Reading,
    UtcWindow,
    Window,
)
from ingest.settings import Settings

DURATION_TOLERANCE: Final = 0.10
# Roles of files that say what a run did.
_RESULTS: Final = ("output", "window")
# What says the same as another file holds over it if it comes later.
_PRECEDENCE: Final = {"output": 0, "window": 1, "counts": 2, "sidecar": 3}


@dataclass(slots=True)
class AssembledRun:
    """A run ready to be committed.

    Attributes:
        row: Columns of `runs` that are known, `files` not yet among them; None if no file of the
            run could be used.
        problems: By path, of all the files read, empty lists included.
        digest: Of the sources and settings; names the big files.
        tables: By name, the small ones of the run's big tables.
    """

    row: dict[str, Any] | None
    problems: dict[str, list[Problem]]
    digest: str
    tables: dict[str, pa.Table] = field(default_factory=dict)


class RunAssembly:
    """A run while it is put together: first the small files, which know the window, then the logs.

    The window decides: what was logged outside of it is dropped, and without one the logs count
    for nothing. The load generator's measures hold unless the window or the counters say better.

    Attributes:
        window: The run's own record of its workload, else what its output says, else None.
        utc_window: When that was by the wall clock, where a file says so.
    """

    def __init__(self, work: RunWork, small: Sequence[SourceRead]) -> None:
        self._work = work
        self._run = _Run(work.key, work.files[0].settings)
        self._run.take(small)
        self.window = _take_readings(self._run)
        self.utc_window = _take_utc_window(self._run)

    @property
    def duration_s(self) -> float | None:
        """How long the run measured, as far as its small files say."""
        return self._run.row.get("duration_s")

    def core_of(self, file: RawFile, said: int | None) -> int:
        """The core of a log, from its name, else from what it says, else from its workload."""
        named = log_core(file)
        if named is not None:
            return named
        if said is not None:
            return said
        return self._run.settings.expected_cores(self._run.key.workload)[0]

    def finish(
        self,
        logs: Sequence[SourceRead],
        cuts: Sequence[CoreCut],
        energy: PackageEnergy,
        power: PowerJoin | None = None,
    ) -> AssembledRun:
        """Take the logs in and give the run.

        Args:
            logs: As read, in order of their paths.
            cuts: Of those that could be used, in order of their cores; none without a window.
            power: What power meters say of it.
        """
        run = self._run
        run.take(logs)
        run.reads.sort(key=lambda read: read.file.path)
        digest = _sources_digest(run.reads, self._work.meters, run.settings)
        if not _has_result(run):
            return AssembledRun(None, run.problems, digest)
        if run.settings.workloads[run.key.workload].logged:
            _take_logs(run, self.window, cuts, self.core_of)
        if cuts:
            _take_counters(run, cuts, energy)
        tables = {}
        if (functions := _take_companions(run)) is not None:
            tables["functions"] = functions
        if power is not None:
            _take_power(run, power)
            if power.table is not None:
                tables["power"] = power.table
        _finish_row(run, self._work.meters)
        return AssembledRun(run.row, run.problems, digest, tables)


class _Run:
    """A run's row and problems while they come together."""

    def __init__(self, key: RunKey, settings: Settings) -> None:
        self.key = key
        self.settings = settings
        self.reads: list[SourceRead] = []
        self.row: dict[str, Any] = identity_columns(key, settings)
        self.flags: set[str] = set()
        self.problems: dict[str, list[Problem]] = {}

    def take(self, reads: Sequence[SourceRead]) -> None:
        self.reads += reads
        self.problems |= {read.file.path: list(read.problems) for read in reads}

    @property
    def logs(self) -> list[SourceRead]:
        return [read for read in self.reads if isinstance(read.content, LogFacts)]

    @property
    def readings(self) -> list[SourceRead]:
        return [read for read in self.reads if isinstance(read.content, Reading)]

    def doubt(self, read: SourceRead, kind: str, detail: str) -> None:
        self.problems[read.file.path].append(Problem(kind, "doubted", detail))


def _sources_digest(
    reads: Sequence[SourceRead], meters: Sequence[RawFile], settings: Settings
) -> str:
    parts = sorted(f"{read.file.format.name} {read.digest}" for read in reads)
    parts += sorted(f"{meter.format.name} {digest_of(meter)}" for meter in meters)
    return hashlib.sha256("\n".join([*parts, settings.fingerprint]).encode()).hexdigest()[:12]


def _take_readings(run: _Run) -> Window | None:
    """Take over what the small files say; the record of the window comes before an output's."""
    by_role = sorted(run.readings, key=lambda read: _PRECEDENCE[read.file.format.role])
    window: Window | None = None
    for read in by_role:
        content = read.content
        assert isinstance(content, Reading)
        if read.file.format.role == "counts" and not is_of_its_time(content, run.row):
            run.flags.add("counts_interval")
            run.doubt(read, "counts_interval", describe_interval(content, run.row))
            continue
        for name, value in content.measurements.items():
            if name in MEASUREMENTS and read.file.format.role != "counts":
                run.row[name] = value
            elif name in MEASUREMENTS:
                run.row.setdefault(name, value)
        run.flags.update(content.flags)
        _check_knobs(run, read, content)
        window = content.window or window
    if window is not None:
        _take_window(run, window)
    return window


def _take_utc_window(run: _Run) -> UtcWindow | None:
    """When the run was: its nearest sidecar says it best, then what measured it."""
    if not run.readings:
        return None
    first = run.reads[0].file
    order = {sidecar.path: place for place, sidecar in enumerate(first.sidecars)}
    windows = {
        order.get(read.file.path, len(order)): read.content.utc_window
        for read in reversed(run.readings)
        if isinstance(read.content, Reading)
        and read.content.utc_window
        and not (read.file.format.role == "sidecar" and first.part)
    }
    if not windows:
        return None
    window = windows[min(windows)]
    assert window is not None
    run.row["start_unix_s"] = window.start_s
    run.row.setdefault("duration_s", window.length_s)
    return window


def _has_result(run: _Run) -> bool:
    """Whether the files say what the run measured; if not, why not."""
    if run.logs or any(read.file.format.role in _RESULTS for read in run.readings):
        return True
    if run.key.workload == IDLE:
        if run.row.get("duration_s") is not None:
            return True
        detail = "no sidecar of it says start_utc and end_utc; not used"
        _refuse(run, [read for read in run.reads if read.content], "no_time", detail)
    elif not any(read.file.format.role in _RESULTS for read in run.reads):
        detail = f"run {run.row['run_id']} has no output that it could add to; not used"
        _refuse(run, [r for r in run.reads if r.file.format.role == "counts"], "no_output", detail)
    return False


def _refuse(run: _Run, reads: Sequence[SourceRead], kind: str, detail: str) -> None:
    """Refuse files of which nothing else is wrong."""
    for read in reads:
        if not run.problems[read.file.path]:
            run.problems[read.file.path].append(Problem(kind, "refused", detail))


def _take_companions(run: _Run) -> pa.Table | None:
    """Take over what was counted beside the run; gives its table of functions, if it has one."""
    looks = _looks_at_interrupts(run)
    if looks:
        counted = count_interrupts([(read.file.name, look) for read, look in looks], run.row)
        if isinstance(counted, Problem):
            run.flags.add(counted.kind)
            run.problems[looks[-1][0].file.path].append(counted)
        else:
            run.row["interrupts"] = counted
    for read in run.reads:
        if isinstance(read.content, FunctionCounts):
            totals, table = function_rates(read.content, run.row, run.settings)
            run.row |= {name: value for name, value in totals.items() if name not in run.row}
            return table
    return None


def _looks_at_interrupts(run: _Run) -> list[tuple[SourceRead, InterruptCounts]]:
    """Looks before the run, then after it."""
    looks = [(r, r.content) for r in run.reads if isinstance(r.content, InterruptCounts)]
    return sorted(looks, key=lambda look: phase_of(look[0].file.name) == "after")


def _take_power(run: _Run, power: PowerJoin) -> None:
    run.row |= power.measurements
    run.flags.update(power.flags)
    for path, problems in power.problems.items():
        run.problems.setdefault(path, []).extend(problems)


def _check_knobs(run: _Run, read: SourceRead, content: Reading) -> None:
    for name, hint in content.hints.items():
        run.row.setdefault(name, hint)
    for name, said in content.knobs.items():
        named = run.row.get(name)
        if named is None:
            if (name in KNOBS or name == "mode") and name not in run.row:
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


def _take_logs(
    run: _Run,
    window: Window | None,
    cuts: Sequence[CoreCut],
    core_of: Callable[[RawFile, int | None], int],
) -> None:
    """Take over what the logs say beside their counters."""
    logs = run.logs
    by_core = {cut.core: cut for cut in cuts}
    for read in logs:
        facts = read.content
        assert isinstance(facts, LogFacts)
        run.flags.update(facts.flags)
        if any(problem.severity == "refused" for problem in read.problems):
            run.flags.add("damaged_log")
        core = core_of(read.file, facts.core)
        if window is not None and facts.core is not None and facts.core != core:
            detail = f"the file says core {facts.core}, its name core {core}; the name holds"
            run.doubt(read, "core_mismatch", detail)
        if core in by_core:
            run.problems[read.file.path].extend(by_core[core].problems)
            run.flags.update(problem.kind for problem in by_core[core].problems)
    if not logs:
        run.flags.add("no_log")
        if not any(read.file.format.role == "log" for read in run.reads):
            detail = "no per-interrupt log of this run was found; its counters and energy are NULL"
            run.doubt(run.reads[0], "no_log", detail)
    if window is None:
        run.flags.add("no_window")
        if not any(p.kind == "no_window" for found in run.problems.values() for p in found):
            detail = "the run has no record of its workload window; what was logged does not count"
            run.doubt((logs or run.readings)[0], "no_window", detail)


def _take_counters(run: _Run, cuts: Sequence[CoreCut], energy: PackageEnergy) -> None:
    """Sum the cores into the row."""
    if energy.has_wrapped:
        run.flags.add("energy_counter_wrapped")
    missing = _missing_cores(run, cuts)
    if missing:
        run.flags.add("missing_core")
    joules = energy.energy_j
    lacking = {run.settings.machine.package_of(core) for core in missing} - set(joules)
    if joules and not lacking and None not in joules.values():
        run.row["energy_j"] = sum(value for value in joules.values() if value is not None)
    for name in COUNTERS:
        values = [cut.totals[name] for cut in cuts if cut.totals.get(name) is not None]
        if values:
            run.row[name] = sum(value for value in values if value is not None)
    run.row["cores"] = [_core_struct(run, cut, energy) for cut in cuts]


def _missing_cores(run: _Run, cuts: Sequence[CoreCut]) -> list[int]:
    expected = run.settings.expected_cores(run.key.workload)
    if len(expected) == 1:
        return []
    missing = sorted(set(expected) - {cut.core for cut in cuts})
    if missing:
        names = ", ".join(map(str, missing))
        run.doubt(run.logs[0], "missing_core", f"no log of core {names} in this run")
    return missing


def _core_struct(run: _Run, cut: CoreCut, energy: PackageEnergy) -> dict[str, Any]:
    return {
        "core": cut.core,
        "package": cut.package,
        "duration_s": run.row["duration_s"],
        "tsc_hz": run.settings.machine.tsc_hz,
        "energy_j": energy.energy_j[cut.package] if cut.core in energy.carriers else None,
        **cut.totals,
        "samples": cut.samples,
        "gap_hist": cut.gap_hist.tolist(),
    }


def _finish_row(run: _Run, meters: Sequence[RawFile]) -> None:
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
        for role in ("log", "output", "window", "sidecar")
        if role in by_role and (role != "log" or has_log)
    )
    row["flags"] = sorted(run.flags)
    row.setdefault("cores", [])
    row["sources"] = [source_struct(read.file, read.digest) for read in run.reads]
    row["sources"] += [source_struct(meter, digest_of(meter)) for meter in meters]
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

"""Combine the contents of a run's files to its row; reads and writes no files."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

import pyarrow as pa

from data.analysis.log_metrics import LogCounts, distribution_rows, log_metrics
from data.declared import Column
from data.schema import COUNTERS
from ingest.discover.file_choice import core_of_log
from ingest.discover.found_files import RawFile, digest_of
from ingest.discover.names import find_name
from ingest.discover.plan import RunWork
from ingest.discover.source_reads import SourceRead, settings_struct, source_struct, sources_digest
from ingest.formats.log_reader import LogFacts
from ingest.logs.core_log import CoreCut, PackageEnergy
from ingest.meters.exports import PowerJoin
from ingest.records import Problem, Reading, Window
from ingest.runs.interval_tables import clip_to_run, interval_tables
from ingest.runs.row import RunRow
from ingest.runs.small_files import (
    drop_unfit,
    has_result,
    take_companions,
    take_power,
    take_readings,
    take_utc_window,
)
from ingest.settings.dataset import UNKNOWN
from ingest.settings.heading_words import correcting

# A file may state anything.
_MOST_FACTS: Final = 200
_MOST_CHARS: Final = 200
# No computer takes less over a time that anybody measures by a clock.
_LEAST_POWER_W: Final = 1e-3
_LONG_S: Final = 1.0


@dataclass(slots=True)
class AssembledRun:
    """A run ready to be committed.

    Attributes:
        row: The known columns of `runs`, still without `files`; None if no file of the run could
            be used.
        problems: Problems of all files that were read, by path, empty lists included.
        digest: Digest of the sources and settings; part of the names of the big files.
        tables: Small tables of the run, by name; logs are written separately.
        columns: Columns that its tools add to `runs`.
        distributions: Its rows of `distributions`, which are committed with those of others.
    """

    row: dict[str, Any] | None
    problems: dict[str, list[Problem]]
    digest: str
    tables: dict[str, pa.Table] = field(default_factory=dict)
    columns: tuple[Column, ...] = ()
    distributions: pa.Table | None = None


class RunAssembly:
    """Assembles a run: first its small files, which give the window, then its logs.

    Log lines outside the window are dropped; without a window the logs are not used. The values of
    the load generator are used unless the window or the counters give better ones.

    Attributes:
        window: The run's own record of its workload, else the window in its output, else None.
        utc_window: The window by the wall clock; None if no file gives it.
    """

    def __init__(self, work: RunWork, small: Sequence[SourceRead]) -> None:
        self._work = work
        self._run = RunRow(work.key, work.files[0].settings)
        self._run.take(small)
        self.window = take_readings(self._run)
        self.utc_window = take_utc_window(self._run)

    @property
    def duration_s(self) -> float | None:
        """Length of the measurement, from the small files; None if unknown."""
        return self._run.row.get("duration_s")

    def finish(
        self,
        logs: Sequence[SourceRead],
        cuts: Sequence[CoreCut],
        energy: PackageEnergy,
        power: PowerJoin | None = None,
        counts: LogCounts | None = None,
    ) -> AssembledRun:
        """Add the logs and return the run.

        Args:
            logs: The run's logs, sorted by path.
            cuts: The counts of all usable logs, sorted by core; empty without a window.
            power: The readings of power meters, if there are any.
            counts: Of all usable logs.
        """
        run = self._run
        run.take(logs)
        run.reads.sort(key=lambda read: read.file.path)
        digest = sources_digest(run.reads, self._work.meters, run.settings)
        if not has_result(run):
            return AssembledRun(None, run.problems, digest)
        if run.settings.workloads[run.key.workload].logged:
            _take_logs(run, self.window, cuts)
        if cuts:
            _take_counters(run, cuts, energy)
        clip_to_run(run, self.utc_window)
        functions = take_companions(run)
        tables = interval_tables(run, self.utc_window)
        if functions is not None:
            tables["functions"] = functions
        if power is not None:
            take_power(run, power)
            if power.table is not None:
                tables["power"] = power.table
        drop_unfit(run)
        _finish_row(run, self._work.meters)
        distributions = None
        if counts is not None:
            run.row |= log_metrics(run.row, counts)
            distributions = distribution_rows(run.row, counts)
        columns = tuple(run.columns.values())
        return AssembledRun(run.row, run.problems, digest, tables, columns, distributions)


def _take_logs(run: RunRow, window: Window | None, cuts: Sequence[CoreCut]) -> None:
    """Add the flags and problems of the logs."""
    logs = run.logs
    by_core = {cut.core: cut for cut in cuts}
    for read in logs:
        facts = read.content
        assert isinstance(facts, LogFacts)
        run.flags.update(facts.flags)
        if any(problem.severity == "refused" for problem in read.problems):
            run.flags.add("damaged_log")
        core = core_of_log(read.file, facts.core)
        if window is not None and facts.core is not None and facts.core != core:
            detail = f"the file says core {facts.core}, its name core {core}; the name is used"
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
        kinds = {problem.kind for problems in run.problems.values() for problem in problems}
        if not kinds & {"no_window", "window_range"}:
            detail = "the run has no record of its workload window; its logs are not used"
            run.doubt((logs or run.readings)[0], "no_window", detail)


def _take_counters(run: RunRow, cuts: Sequence[CoreCut], energy: PackageEnergy) -> None:
    """Add the sums over the cores to the row."""
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


def _missing_cores(run: RunRow, cuts: Sequence[CoreCut]) -> list[int]:
    expected = run.settings.expected_cores(run.key.workload)
    if len(expected) == 1:
        return []
    missing = sorted(set(expected) - {cut.core for cut in cuts})
    if missing:
        names = ", ".join(map(str, missing))
        run.doubt(run.logs[0], "missing_core", f"no log of core {names} in this run")
    return missing


def _core_struct(run: RunRow, cut: CoreCut, energy: PackageEnergy) -> dict[str, Any]:
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


def _facts(run: RunRow) -> dict[str, dict[str, str]]:
    """Return what its files state that is no knob, by format."""
    facts: dict[str, dict[str, str]] = {}
    for read in run.readings:
        if isinstance(read.content, Reading) and read.content.facts:
            some = islice(sorted(read.content.facts.items()), _MOST_FACTS)
            own = facts.setdefault(read.file.format.name, {})
            own |= {name[:_MOST_CHARS]: value[:_MOST_CHARS] for name, value in some}
    return facts


def _guess_of_names(run: RunRow) -> str:
    """Return what a proposal took the names of the run's files for; empty if none did."""
    if not any(pattern.guessed for pattern in run.settings.names):
        return ""
    names = (find_name(read.file.path, run.settings)[0] for read in run.reads)
    return next((run.settings.names[name.number].guessed for name in names if name), "")


def _finish_row(run: RunRow, meters: Sequence[RawFile]) -> None:
    row = run.row
    if run.key.system not in {*run.settings.systems, run.key.dataset}:
        run.flags.add("unknown_system")
        detail = f"the settings do not know the system {run.key.system!r}; kept under this name"
        run.doubt(run.reads[0], "unknown_system", detail)
    if run.key.workload == UNKNOWN:
        detail = (
            "no pattern of [[names]] and no sidecar names the workload; `python -m ingest propose` "
            "writes patterns"
        )
        run.doubt(run.reads[0], "unknown_workload", detail)
    if guessed := _guess_of_names(run):
        source = " from names of files" if guessed.endswith("from the path") else ""
        detail = f"columns were guessed{source}: {guessed}"
        if name := re.match(r"set: (\w+)", guessed):
            detail += f"; if {name[1]} was not set: {correcting(name[1], 'label')}"
        run.doubt(run.reads[0], "guessed_columns", detail)
    if row.get("energy_j") is not None and row.get("duration_s") and not run.has_own_power:
        row["power_w"] = row["energy_j"] / row["duration_s"]
        if 0 < row["power_w"] < _LEAST_POWER_W and row["duration_s"] >= _LONG_S:
            detail = (
                f"{row['energy_j']:.6g} J in {row['duration_s']:.6g} s are less than a milliwatt: "
                "the energy may be in another unit, or of something else"
            )
            run.doubt(run.reads[0], "odd_power", detail)
    by_role = {read.file.format.role: read.file.format.name for read in reversed(run.reads)}
    has_log = bool(run.logs)
    row["source"] = next(
        by_role[role]
        for role in ("log", "output", "trace", "window", "sidecar", "counts")
        if role in by_role and (role != "log" or has_log)
    )
    if facts := _facts(run):
        row["facts"] = json.dumps(facts, sort_keys=True)
    row["flags"] = sorted(run.flags)
    row.setdefault("cores", [])
    row["sources"] = [source_struct(read.file, read.digest) for read in run.reads]
    row["sources"] += [source_struct(meter, digest_of(meter)) for meter in meters]
    row["sources"].append(settings_struct(run.settings))

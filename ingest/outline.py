"""Report what `ingest add` would do, without writing: runs, their knobs, refused files."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from data.schema import KNOBS
from ingest.discover.found_files import Ignored, RawFile
from ingest.discover.plan import Plan, RunWork, make_plan
from ingest.discover.source_reads import read_source
from ingest.lake.proposals import KeptProposal
from ingest.lake.recorded_runs import RunIds
from ingest.lake.state import load_state
from ingest.logs.core_log import PackageEnergy
from ingest.pipeline import AddOptions
from ingest.proposed_settings import discover_proposing
from ingest.records import Problem, SummaryTable
from ingest.report import Reported, describe_ignored, describe_proposed, describe_refused
from ingest.runs.assembly import RunAssembly
from ingest.tables.summary_rows import resolve_tables
from ingest.tables.table_reads import read_tables

_NAMED_VALUES: Final = 4


@dataclass(slots=True)
class RunKind:
    """Runs of one dataset, workload and system.

    Attributes:
        runs: Number of runs.
        knobs: Values by knob.
    """

    runs: int = 0
    knobs: dict[str, set[Any]] = field(default_factory=lambda: defaultdict(set))


@dataclass(slots=True)
class Outline:
    """What `ingest add` would do.

    Attributes:
        kinds: Runs by dataset, workload and system.
        unchanged: Number of runs that the lake has already.
        together: Paths of one example by format and number of files, for runs with several files
            of one format.
        counts: Number of such runs by the same keys.
        proposed: Settings that would be proposed, with what they say.
        problems: All problems but those of per-interrupt logs, which are not read.
    """

    kinds: dict[tuple[str, str, str], RunKind] = field(default_factory=lambda: defaultdict(RunKind))
    unchanged: int = 0
    together: dict[tuple[str, int], list[str]] = field(default_factory=dict)
    counts: Counter[tuple[str, int]] = field(default_factory=Counter)
    ignored: list[Ignored] = field(default_factory=list)
    proposed: list[tuple[KeptProposal, tuple[str, ...]]] = field(default_factory=list)
    problems: list[Reported] = field(default_factory=list)

    @property
    def runs(self) -> int:
        """Number of runs that would be read."""
        return sum(kind.runs for kind in self.kinds.values())

    @property
    def refused(self) -> list[Reported]:
        """Files and lines that would be left out."""
        return [found for found in self.problems if found.problem.severity == "refused"]


def outline_add(options: AddOptions) -> Outline:
    """Find and plan as `add` does, and read the small files. Write nothing.

    Raises:
        LakeError, SettingsError, OSError: As `ingest.pipeline.add`.
    """
    state = load_state(options.lake)
    proposed = discover_proposing(options, state)
    found = proposed.discovery
    plan = make_plan(found, state)
    outline = Outline(unchanged=plan.unchanged, ignored=found.ignored)
    outline.proposed = [*zip(proposed.new, proposed.summaries, strict=True)]
    problems: dict[tuple[str, str], list[Problem]] = dict(plan.problems)
    _outline_tables(plan, outline, problems)
    for work in plan.works:
        by_path = _outline_run(work, outline)
        for path, file_problems in by_path.items():
            own = problems.setdefault((work.key.dataset, path), [])
            own += [problem for problem in file_problems if problem not in own]
    outline.problems = [
        Reported(dataset, path, problem)
        for (dataset, path), file_problems in sorted(problems.items())
        for problem in file_problems
    ]
    return outline


def _outline_tables(
    plan: Plan, outline: Outline, problems: dict[tuple[str, str], list[Problem]]
) -> None:
    for dataset, files in plan.tables.items():
        reads = []
        for file in files:
            source = read_source(file)
            if isinstance(source.content, SummaryTable):
                reads += read_tables(file, source.digest, source.content, source.problems)
            else:
                problems[dataset, file.path] = source.problems
        resolved = resolve_tables(dataset, reads, RunIds({work.run_id for work in plan.works}))
        problems |= {(dataset, path): said for path, said in resolved.problems.items()}
        for row, _ in resolved.rows():
            kind = outline.kinds[dataset, row["workload"], row["system"]]
            kind.runs += 1
            for name in ("replicate", *KNOBS):
                if row.get(name) is not None:
                    kind.knobs[name].add(row[name])


def _outline_run(work: RunWork, outline: Outline) -> dict[str, list[Problem]]:
    """Count a run; return the problems of its small files by path."""
    problems: dict[str, list[Problem]] = {}
    has_row = True
    if not any(file.format.role == "log" for file in work.files):
        assembly = RunAssembly(work, [read_source(file) for file in work.files])
        run = assembly.finish([], [], PackageEnergy())
        problems, has_row = run.problems, run.row is not None
    if has_row:
        kind = outline.kinds[work.key.dataset, work.key.workload, work.key.system]
        kind.runs += 1
        for name, value in (*work.key.knobs, ("replicate", work.key.replicate)):
            if value is not None:
                kind.knobs[name].add(value)
        _note_together(work.files, outline)
    return problems


def _note_together(files: tuple[RawFile, ...], outline: Outline) -> None:
    by_format: dict[str, list[str]] = defaultdict(list)
    for file in files:
        if file.format.complements:
            by_format[file.format.name].append(file.path)
    for name, paths in by_format.items():
        if len(paths) > 1:
            outline.counts[name, len(paths)] += 1
            outline.together.setdefault((name, len(paths)), paths)


def describe_outline(outline: Outline, verbose: bool) -> Iterator[str]:
    """Yield the lines of the report.

    Args:
        verbose: Whether to name all files that would be ignored or refused.
    """
    yield f"would be runs: {outline.runs}; already there: {outline.unchanged}; nothing was written"
    for (dataset, workload, system), kind in sorted(outline.kinds.items()):
        knobs = ", ".join(_span(name, values) for name, values in sorted(kind.knobs.items()))
        yield f"  {kind.runs:>8}  {dataset}  {workload}  {system}: {knobs or 'no knob'}"
    for (name, count), paths in sorted(outline.together.items()):
        runs = outline.counts[name, count]
        such = ", ".join(paths)
        yield f"together: {count} files of {name} in each of {runs} runs, such as {such}"
    yield from describe_proposed(outline.proposed, None)
    yield from describe_ignored(outline.ignored, verbose)
    yield from describe_refused(outline.refused, verbose)


def _span(name: str, values: set[Any]) -> str:
    """Write the values of a knob: all if few, else `load_qps 200000 to 1000000 (5 values)`."""
    try:
        ordered = sorted(values)
    except TypeError:
        ordered = sorted(values, key=str)
    shown = [f"{value:.12g}" if isinstance(value, float) else str(value) for value in ordered]
    if len(shown) <= _NAMED_VALUES:
        return f"{name} {', '.join(shown)}"
    return f"{name} {shown[0]} to {shown[-1]} ({len(shown)} values)"


def outline_json(outline: Outline) -> dict[str, Any]:
    """Return the report as JSON."""
    return {
        "runs": outline.runs,
        "unchanged": outline.unchanged,
        "kinds": [
            {
                "dataset": dataset,
                "workload": workload,
                "system": system,
                "runs": kind.runs,
                "knobs": {name: sorted(values, key=str) for name, values in kind.knobs.items()},
            }
            for (dataset, workload, system), kind in sorted(outline.kinds.items())
        ],
        "ignored_files": [{"path": path, "reason": why} for path, why, _ in outline.ignored],
        "problems": [found.as_json() for found in outline.problems],
    }

"""Decide which runs an ingest reads and which it leaves unchanged."""

from collections import defaultdict
from collections.abc import Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from ingest.discover.file_choice import Problems, Slot, choose_files, slot_of
from ingest.discover.found_files import Discovery, RawFile, RunGroup
from ingest.discover.grouping import (
    as_recorded,
    former_names,
    group_files,
    is_making,
    on_disk,
    raw_files,
    walked_among,
)
from ingest.discover.meter_files import MeterScopes, known_meters
from ingest.discover.names import RunKey, label_columns
from ingest.discover.source_reads import SourceRead
from ingest.discover.unchanged_runs import SettledRuns, was_read_from
from ingest.files.blocks import digest_file
from ingest.lake.recorded_runs import SUMMARY, RecordedFile, RecordedRun
from ingest.lake.state import LakeState
from ingest.records import Problem


@dataclass(frozen=True, slots=True)
class RunWork:
    """A run to read, with one file for each slot, sorted by path.

    Attributes:
        meters: Power meters that may have readings during the run.
        replaces: Runs of the lake that were read from its output under another name.
        reads: Contents of its files, if they were read already.
    """

    key: RunKey
    run_id: str
    files: tuple[RawFile, ...]
    meters: tuple[RawFile, ...] = ()
    replaces: tuple[str, ...] = ()
    reads: tuple[SourceRead, ...] = field(default=(), compare=False, repr=False)

    @property
    def size(self) -> int:
        """Return bytes to read."""
        return sum(file.size for file in self.files)


@dataclass(slots=True)
class Plan:
    """The work of an ingest.

    Attributes:
        works: Runs to read, in the order of the lake's rows.
        amended: Runs of which only file times or labels changed.
        tables: Summary tables that were found, by dataset.
        meters: Power meters by dataset, recorded ones included.
        problems: Of files that are not read, by dataset and path.
        unchanged: Number of runs that the lake already has in full.
    """

    works: list[RunWork] = field(default_factory=list)
    amended: list[RunWork] = field(default_factory=list)
    tables: dict[str, list[RawFile]] = field(default_factory=lambda: defaultdict(list))
    meters: dict[str, list[RawFile]] = field(default_factory=lambda: defaultdict(list))
    problems: Problems = field(default_factory=dict)
    unchanged: int = 0


def make_plan(discovery: Discovery, state: LakeState) -> Plan:
    """Compare the found files with the lake; read file contents only if necessary."""
    plan = Plan(problems=dict(discovery.problems))
    for file in discovery.files:
        if file.format.role == "table":
            plan.tables[file.dataset].append(file)
        elif file.format.role == "meter":
            plan.meters[file.dataset].append(file)
    groups = group_files(discovery, state, plan.meters)
    for meter in known_meters(discovery, state):
        plan.meters[meter.dataset].append(meter)
    scopes = MeterScopes(plan.meters)
    lake = SettledRuns(state, scopes)
    waiting = []
    for group in groups.values():
        if lake.has(group):
            plan.unchanged += 1
        else:
            waiting.append(group)
    for group in sorted(waiting, key=_lake_order):
        _plan_run(group, discovery, state, plan, scopes)
    plan.works = _superseding(plan.works, discovery, groups.keys(), state)
    return plan


def _superseding(
    works: list[RunWork], discovery: Discovery, ids: Set[str], state: LakeState
) -> list[RunWork]:
    """Mark the former runs that runs under new names replace.

    Args:
        ids: Ids of all found runs, unchanged ones included.
    """
    former = former_names(state) if works else {}
    walked = walked_among(former, discovery)
    replaced = []
    for work in works:
        paths = {(work.key.dataset, file.path) for file in work.files if is_making(work.key, file)}
        places = sorted(path for path in paths if path in walked and path in former)
        gone = [run_id for place in places for run_id in former.pop(place) if run_id not in ids]
        replaced.append(replace(work, replaces=tuple(gone)) if gone else work)
    return replaced


def _lake_order(group: RunGroup) -> tuple[str, ...]:
    key = group.key
    knobs = dict(key.knobs)
    load, message = knobs.get("load_qps", 0.0), knobs.get("message_bytes", 0)
    return key.dataset, key.workload, f"{load:020.3f}", f"{message:020d}", group.run_id


def _plan_run(
    group: RunGroup, discovery: Discovery, state: LakeState, plan: Plan, scopes: MeterScopes
) -> None:
    key, run_id = group.key, group.run_id
    recorded = state.runs.get(run_id)
    if recorded is not None and recorded.source == SUMMARY:
        recorded = None
    own = raw_files(group, state)
    elsewhere = _recorded_elsewhere(recorded, own[0], discovery) if recorded else []
    chosen = choose_files(key, [*own, *elsewhere], plan.problems)
    files = tuple(sorted(chosen.values(), key=lambda file: file.path))
    work = RunWork(key, run_id, files, scopes.of_run(files))
    if recorded is None:
        plan.works.append(work)
        return
    lost = _lost(recorded, chosen, own[0], discovery)
    is_whole = state.is_whole(recorded)
    if is_whole and _is_same(work, recorded, lost):
        labels = label_columns(key.workload, key.system, files[0].settings)
        if all(file.is_unchanged for file in files) and labels == recorded.labels:
            plan.unchanged += 1
        else:
            plan.amended.append(work)
    elif lost:
        _refuse_rebuild(work, lost, is_whole, plan.problems)
    else:
        plan.works.append(work)


def _recorded_elsewhere(
    recorded: RecordedRun, beside: RawFile, discovery: Discovery
) -> list[RawFile]:
    """Return recorded files of the run that exist but are not among the given files."""
    files = []
    for known in recorded.files:
        if known.path in discovery.seen[recorded.dataset]:
            continue
        file = as_recorded(known, beside, discovery)
        if file is None or not Path(known.path).is_file():
            continue
        status = on_disk(known.path)
        if status["size"]:
            files.append(replace(file, **status))
    return files


def _lost(
    recorded: RecordedRun, chosen: dict[Slot, RawFile], beside: RawFile, discovery: Discovery
) -> list[RecordedFile]:
    """Return recorded files of the run that no longer exist and that no other file replaces."""
    return [
        known
        for known in recorded.files
        if known.path not in discovery.seen[recorded.dataset]
        and not Path(known.path).exists()
        and ((file := as_recorded(known, beside, discovery)) is None or slot_of(file) not in chosen)
    ]


def _is_same(work: RunWork, recorded: RecordedRun, lost: Sequence[RecordedFile]) -> bool:
    """Return whether the lake's run was read from these files, of which some are lost, as now."""
    files = {file.path: file for file in (*work.files, *work.meters)}

    def has_content(known: RecordedFile) -> bool:
        file = files.get(known.path)
        if file is None:
            return True
        with suppress(OSError):
            return known.size == file.size and (
                known.mtime == file.mtime or known.digest == digest_file(Path(file.path))
            )
        return False

    paths = {*files, *(file.path for file in lost)}
    return was_read_from(recorded, work.files[0].settings, paths, has_content)


def _refuse_rebuild(
    work: RunWork, lost: Sequence[RecordedFile], is_whole: bool, problems: Problems
) -> None:
    names = ", ".join(file.path for file in lost)
    detail = (
        f"run {work.run_id} stays unchanged: it was also read from {names}, which no longer exists"
    )
    for file in work.files:
        if not (is_whole and file.recorded and file.is_unchanged):
            problems[work.key.dataset, file.path] = [Problem("source_gone", "refused", detail)]

"""Decide what an ingest has to do: which runs to read, which to leave, who wins a claimed place."""

from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path

from data.errors import FormatError
from ingest.discover import Discovery, RawFile
from ingest.grouping import as_recorded, former_names, group_files, is_making, on_disk
from ingest.lake_state import SUMMARY, LakeState, RecordedFile, RecordedRun
from ingest.meter_scope import known_meters, meters_in_scope
from ingest.names import RunKey, label_columns, make_run_id
from ingest.raw_files import digest_content, digest_file, is_compressed
from ingest.records import Problem

Slot = tuple[str, int | str | None]
Problems = dict[tuple[str, str], list[Problem]]


@dataclass(frozen=True, slots=True)
class RunWork:
    """A run to read: its files, one a place, in order of their paths.

    Attributes:
        meters: Files of power meters that may have readings of its time.
        replaces: Runs of the lake that were read from its output when that was of another name.
    """

    key: RunKey
    run_id: str
    files: tuple[RawFile, ...]
    meters: tuple[RawFile, ...] = ()
    replaces: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Bytes to read."""
        return sum(file.size for file in self.files)


@dataclass(slots=True)
class Plan:
    """What is to be done.

    Attributes:
        works: Runs to read, neighbours in the lake next to each other.
        amended: Runs whose files are the same but for their times, or whose labels changed.
        tables: By dataset, the summary tables that stand together, known ones included.
        meters: By dataset, the files of power meters, those that the lake knows included.
        problems: By dataset and path, of files that are not read.
        unchanged: Runs of which the lake has all already.
        settled: Those of them that have power meters, whose clocks other runs may set anew.
    """

    works: list[RunWork] = field(default_factory=list)
    amended: list[RunWork] = field(default_factory=list)
    tables: dict[str, list[RawFile]] = field(default_factory=lambda: defaultdict(list))
    meters: dict[str, list[RawFile]] = field(default_factory=lambda: defaultdict(list))
    problems: Problems = field(default_factory=dict)
    unchanged: int = 0
    settled: list[RunWork] = field(default_factory=list)


def make_plan(found: Discovery, state: LakeState) -> Plan:
    """Compare what was found with what the lake holds; looks into files only where it must."""
    plan = Plan(problems=dict(found.problems))
    for file in found.files:
        if file.format.role == "table":
            plan.tables[file.dataset].append(file)
        elif file.format.role == "meter":
            plan.meters[file.dataset].append(file)
    groups = group_files(found, state, plan.meters)
    for meter in known_meters(found, state):
        plan.meters[meter.dataset].append(meter)
    for key in sorted(groups, key=_lake_order):
        _plan_run(key, groups[key], found, state, plan)
    walked = {(file.dataset, file.path) for file in found.files}
    plan.works = _superseding(plan.works, groups.keys(), walked, state)
    return plan


def _superseding(
    works: list[RunWork], keys: Set[RunKey], walked: Set[tuple[str, str]], state: LakeState
) -> list[RunWork]:
    """Let runs that are read anew under another name take the place of what they were.

    Args:
        keys: Of all runs found, the unchanged ones included.
        walked: Files whose every run is among them.
    """
    former = former_names(state) if works else {}
    ids = {make_run_id(key) for key in keys} if former else set()
    replaced = []
    for work in works:
        paths = {(work.key.dataset, file.path) for file in work.files if is_making(work.key, file)}
        places = sorted(paths & walked & set(former))
        gone = [run_id for place in places for run_id in former.pop(place) if run_id not in ids]
        replaced.append(replace(work, replaces=tuple(gone)) if gone else work)
    return replaced


def _lake_order(key: RunKey) -> tuple[str, ...]:
    knobs = dict(key.knobs)
    load, message = knobs.get("load_qps", 0.0), knobs.get("message_bytes", 0)
    return key.dataset, key.workload, f"{load:020.3f}", f"{message:020d}", make_run_id(key)


def _plan_run(
    key: RunKey, group: list[RawFile], found: Discovery, state: LakeState, plan: Plan
) -> None:
    run_id = make_run_id(key)
    recorded = state.runs.get(run_id)
    if recorded is not None and recorded.source == SUMMARY:
        recorded = None
    elsewhere = _recorded_elsewhere(recorded, group[0], found) if recorded else []
    chosen = _choose(key, [*group, *elsewhere], plan.problems)
    files = tuple(sorted(chosen.values(), key=lambda file: file.path))
    work = RunWork(key, run_id, files, meters_in_scope(files, plan.meters[key.dataset]))
    if recorded is None:
        plan.works.append(work)
        return
    lost = _lost(recorded, chosen, group[0], found)
    is_whole = state.is_whole(recorded)
    if is_whole and _is_same(work, recorded, lost):
        if all(file.is_unchanged for file in work.files) and _has_labels(work, recorded):
            plan.unchanged += 1
            plan.settled += [work] if work.meters else []
        else:
            plan.amended.append(work)
    elif lost:
        _refuse_rebuild(work, lost, is_whole, plan.problems)
    else:
        plan.works.append(work)


def _recorded_elsewhere(recorded: RecordedRun, beside: RawFile, found: Discovery) -> list[RawFile]:
    """Files that the run was read from, still there, but not under what was given this time."""
    files = []
    for known in recorded.files:
        if (recorded.dataset, known.path) in found.seen:
            continue
        file = as_recorded(known, beside, found)
        if file is None or not Path(known.path).is_file():
            continue
        status = on_disk(known.path)
        if status["size"]:
            files.append(replace(file, **status))
    return files


def _slot(file: RawFile) -> Slot:
    """The place of a file in its run: two files in one place are two claims to it."""
    form = file.format
    if form.role == "log" and file.match is not None:
        return "log", log_core(file)
    if form.role == "sidecar":
        return form.name, file.path
    return form.name, form.phase_of(file.name) if form.phase_of else None


def log_core(file: RawFile) -> int | None:
    """The core of a per-interrupt log: its name's, or the only one that its workload uses."""
    if file.match is None or file.match.core is not None:
        return file.match.core if file.match else None
    cores = file.settings.workloads[file.match.workload].cores or ()
    return cores[0] if len(cores) == 1 else None


def _choose(key: RunKey, files: Iterable[RawFile], problems: Problems) -> dict[Slot, RawFile]:
    claims: dict[Slot, list[RawFile]] = defaultdict(list)
    for file in files:
        claims[_slot(file)].append(file)
    return {slot: _fullest(key, claimed, problems) for slot, claimed in claims.items()}


def _fullest(key: RunKey, claimed: list[RawFile], problems: Problems) -> RawFile:
    """The file with the most content; the others become problems. Of equals the one known."""
    if len(claimed) == 1:
        return claimed[0]
    contents = _contents(claimed)
    best = min(claimed, key=lambda file: (-contents[file.path][0], file.path))
    equals = [file for file in claimed if contents[file.path] == contents[best.path]]
    winner = next((file for file in equals if file.recorded is not None), best)
    for file in claimed:
        if file is winner:
            continue
        if file in equals:
            detail = f"the same content as {winner.path}; dropped"
            problem = Problem("identical_file", "repaired", detail)
        else:
            sizes = f"{contents[winner.path][0]} bytes, this {contents[file.path][0]}"
            detail = (
                f"claims the same place in run {make_run_id(key)} as {winner.path}, "
                f"which is fuller ({sizes}); not read"
            )
            problem = Problem("duplicate_source", "refused", detail)
        problems[key.dataset, file.path] = [problem]
    return winner


def _contents(files: Sequence[RawFile]) -> dict[str, tuple[int, str]]:
    """Length and digest of each file's content; the digest is the path where lengths tell."""
    packed = {file.path for file in files if is_compressed(Path(file.path))}
    sizes = [file.size for file in files]
    if not packed and len(set(sizes)) == len(sizes):
        return {file.path: (file.size, file.path) for file in files}
    return {file.path: _content(file, file.path in packed) for file in files}


def _content(file: RawFile, is_packed: bool) -> tuple[int, str]:
    if file.is_unchanged and file.recorded is not None and not is_packed:
        return file.size, file.recorded.digest
    try:
        return digest_content(Path(file.path))
    except (OSError, FormatError):
        return -1, file.path


def _lost(
    recorded: RecordedRun, chosen: dict[Slot, RawFile], beside: RawFile, found: Discovery
) -> list[RecordedFile]:
    """Files of the run that are gone from the disk and that no other file stands in for."""
    return [
        known
        for known in recorded.files
        if (recorded.dataset, known.path) not in found.seen
        and not Path(known.path).exists()
        and ((file := as_recorded(known, beside, found)) is None or _slot(file) not in chosen)
    ]


def _is_same(work: RunWork, recorded: RecordedRun, lost: Sequence[RecordedFile]) -> bool:
    """Whether the lake's run was read from these files, with these settings, unchanged."""
    files = (*work.files, *work.meters)
    paths = {file.path for file in files} | {file.path for file in lost}
    own = {file.path: file for file in recorded.files}
    return (
        paths == set(own)
        and work.files[0].settings.fingerprint == recorded.fingerprint
        and all(_has_recorded_content(replace(file, recorded=own[file.path])) for file in files)
    )


def _has_recorded_content(file: RawFile) -> bool:
    known = file.recorded
    if known is None or known.size != file.size:
        return False
    try:
        return known.mtime == file.mtime or known.digest == digest_file(Path(file.path))
    except OSError:
        return False


def _has_labels(work: RunWork, recorded: RecordedRun) -> bool:
    labels = label_columns(work.key.workload, work.key.system, work.files[0].settings)
    return labels == recorded.labels


def _refuse_rebuild(
    work: RunWork, lost: Sequence[RecordedFile], is_whole: bool, problems: Problems
) -> None:
    names = ", ".join(file.path for file in lost)
    detail = f"run {work.run_id} is left as it was: it was also read from {names}, now gone"
    for file in work.files:
        if not (is_whole and file.recorded and file.is_unchanged):
            problems[work.key.dataset, file.path] = [Problem("source_gone", "refused", detail)]

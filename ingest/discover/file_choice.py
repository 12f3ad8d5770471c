"""Choose one file for each slot of a run."""

from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from data.errors import FormatError
from ingest.discover.found_files import RawFile
from ingest.discover.names import RunKey, make_run_id, strip_compression
from ingest.files.blocks import digest_content, is_compressed, read_head
from ingest.formats import Format
from ingest.formats.trace_headings import part_in
from ingest.records import Problem, ReadContext
from ingest.settings.dataset import Settings

Slot = tuple[str, int | str | None]
Problems = dict[tuple[str, str], list[Problem]]


def slot_of(file: RawFile) -> Slot:
    """Return the slot of a file in its run; of two files with the same slot only one is read.

    The slot of a log is its core, from its name, else from its content, which is then read.
    """
    return slot(file.format, file.path, _claimed_core(file) if file.format.role == "log" else None)


def slot(form: Format, path: str, core: int | None) -> Slot:
    """Return the slot of a file with a format, a path and, for a per-interrupt log, a core."""
    if form.role == "log":
        return "log", core
    if form.role == "sidecar":
        return form.name, path
    name = strip_compression(path.rpartition("/")[2])
    if form.complements:
        # Traces of one name in folders of parts of a machine are of these.
        return form.name, f"{name} {part_in(path) if form.role == 'trace' else ''}".rstrip()
    return form.name, form.phase_of(name) if form.phase_of else None


def log_core(file: RawFile) -> int | None:
    """Return the core of a per-interrupt log: from its name, or the only one of its workload."""
    if file.match is None or file.match.core is not None:
        return file.match.core if file.match else None
    return only_core(file.settings, file.match.workload)


def core_of_log(file: RawFile, stated: int | None) -> int:
    """Return the core of a log: from its name, its workload's only core, or its content.

    A log without any of these belongs to the first core that its workload uses.

    Args:
        stated: The core that its content names.
    """
    named = log_core(file)
    if named is not None:
        return named
    if stated is not None:
        return stated
    assert file.match is not None
    return file.settings.expected_cores(file.match.workload)[0]


def _claimed_core(file: RawFile) -> int | None:
    """Return the core of a log; None if it can only be in the content, which cannot be read."""
    core = log_core(file)
    if core is None:
        try:
            core = core_of_log(file, _said_core(file.format, file.path, file.size, file.mtime))
        except (OSError, FormatError):
            return None
    return core


def _says_core(file: RawFile) -> bool:
    """Return whether the name or the content of a log says its core; True for other files."""
    if file.format.role != "log" or log_core(file) is not None:
        return True
    with suppress(OSError, FormatError):
        return _said_core(file.format, file.path, file.size, file.mtime) is not None
    return False


@lru_cache(maxsize=1024)
def _said_core(form: Format, path: str, size: int, mtime: float) -> int | None:  # noqa: ARG001
    """Return the core that the beginning of a log names.

    Size and time are part of the cache's key: a changed file is read again.
    """
    assert form.open_log is not None
    reader = form.open_log(ReadContext(path, 0.0))
    reader.feed(read_head(Path(path)))
    if reader.sample_names is None:
        reader.finish()
    return reader.core


def only_core(settings: Settings, workload: str) -> int | None:
    """Return the one core that a workload uses; None if it uses several."""
    cores = settings.workloads[workload].cores or ()
    return cores[0] if len(cores) == 1 else None


def choose_files(key: RunKey, files: Iterable[RawFile], problems: Problems) -> dict[Slot, RawFile]:
    """Choose one file for each slot of a run; the reasons against the others go to `problems`."""
    claims: dict[Slot, list[RawFile]] = defaultdict(list)
    for file in files:
        claims[slot_of(file)].append(file)
    return {slot: _fullest(key, claimed, problems) for slot, claimed in claims.items()}


def _fullest(key: RunKey, claimed: list[RawFile], problems: Problems) -> RawFile:
    """Choose the file with the most content; of equal files the one that the lake was made from.

    Logs that say their core come before those that belong to the first core for want of another.
    """
    if len(claimed) == 1:
        return claimed[0]
    # Length and digest of each file's content; its path instead if lengths differ.
    contents = {file.path: (file.size, file.path) for file in claimed}
    packed = {file.path for file in claimed if is_compressed(Path(file.path))}
    if packed or len({file.size for file in claimed}) < len(claimed):
        contents = {file.path: _content(file, file.path in packed) for file in claimed}
    unsure = {file.path for file in claimed if not _says_core(file)}
    best = min(claimed, key=lambda f: (f.path in unsure, -contents[f.path][0], f.path))
    equals = [file for file in claimed if contents[file.path] == contents[best.path]]
    winner = next((file for file in equals if file.recorded is not None), best)
    for file in claimed:
        if file is winner:
            continue
        if file in equals:
            detail = f"the same content as {winner.path}; dropped"
            problem = Problem("identical_file", "repaired", detail)
        elif file.path in unsure and winner.path not in unsure:
            detail = (
                f"run {make_run_id(key)} needs only one log of this core; this one does not say "
                f"its core, {winner.path} does; not read"
            )
            problem = Problem("duplicate_source", "refused", detail)
        else:
            sizes = f"{contents[winner.path][0]} bytes, this {contents[file.path][0]}"
            detail = (
                f"run {make_run_id(key)} needs only one such file, and {winner.path} has more "
                f"content ({sizes}); not read"
            )
            problem = Problem("duplicate_source", "refused", detail)
        problems[key.dataset, file.path] = [problem]
    return winner


def _content(file: RawFile, is_packed: bool) -> tuple[int, str]:
    if file.is_unchanged and file.recorded is not None and not is_packed:
        return file.size, file.recorded.digest
    try:
        return digest_content(Path(file.path))
    except (OSError, FormatError):
        return -1, file.path

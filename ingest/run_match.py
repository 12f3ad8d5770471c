"""Which run a file is of: its name's pattern, its sidecars and, without a pattern, its place."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from data.errors import FormatError
from ingest.formats import Format
from ingest.formats.sidecar import polled_mode
from ingest.names import (
    NameMatch,
    canonical_mode,
    canonical_system,
    check_knobs,
    match_name,
    order_knobs,
    strip_compression,
)
from ingest.settings import Settings
from ingest.sidecars import Sidecar, merged_values

_SYSTEM: Final = "linux"
# What a sidecar says that names no knob.
_NO_KNOBS: Final = frozenset(
    {"workload", "system", "replicate", "hipri", "io_poll_delay", "start_utc", "end_utc", "dvfs"}
)
_REQUEST_KNOBS: Final = frozenset({"request_bytes", "io_depth", "threads", "rw"})
# Names of files that say what they hold, before that the name of their run, if it has one.
_KINDS: Final = re.compile(
    r"(?:(?P<stem>.+?)[._-])??"
    r"(?:fio|run|vtune|perf(?:[._-]?stat)?|(?:proc[._-])?interrupts|before|after|[._-])+"
    r"(?:\.(?:json|csv|txt|toml|out|log))*",
    re.IGNORECASE,
)


def match_run(
    path: str, settings: Settings, form: Format | None, sidecars: Sequence[Sidecar], top: Path
) -> NameMatch | None:
    """Tell a file's run; None if neither a pattern nor its format says of what it is.

    What a sidecar says holds over what the name says. A file that no pattern knows is of the run
    of its place: of its folder, or of what its name begins with.

    Args:
        path: Absolute path with `/`.
        top: The folder that places are counted from, and above which sidecars do not count.

    Raises:
        FormatError: A knob that cannot be, a workload without settings, or a bad sidecar.
    """
    named = match_name(path, settings)
    own = form.workload if form is not None else None
    of = named.workload if named is not None else own
    if of is None:
        return None
    said = merged_values(sidecars)
    if named is not None and not said:
        return named
    workload = str(said.get("workload", of))
    if workload not in settings.workloads:
        raise FormatError(f"workload {workload!r} has no [workloads] table in the settings")
    knobs = dict(named.knobs) if named else {"variant": place_of(path, top)}
    knobs |= _said_knobs(said, settings)
    ordered = order_knobs(knobs)
    check_knobs(ordered)
    system = said.get("system") or (named.system if named else _SYSTEM)
    replicate = said.get("replicate", named.replicate if named else None)
    core = named.core if named else None
    return NameMatch(workload, canonical_system(system, settings), ordered, replicate, core)


def match_part(match: NameMatch, part: str) -> NameMatch:
    """The run of a part of a file: what requests it made only the file itself can say."""
    knobs = {name: value for name, value in match.knobs if name not in _REQUEST_KNOBS}
    knobs["variant"] = "/".join(word for word in (knobs.get("variant"), part) if word)
    return replace(match, knobs=order_knobs(knobs))


def place_of(path: str, top: Path) -> str:
    """Where a run's files are: the folder below `top`, and what their names begin with."""
    file = Path(strip_compression(path))
    folder = file.parent.relative_to(top) if file.is_relative_to(top) else file.parent
    found = _KINDS.fullmatch(file.name)
    stem = (found["stem"] or "") if found else file.name.rsplit(".", 1)[0]
    return "/".join(part for part in (*folder.parts, stem) if part)


def _said_knobs(said: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    knobs = {name: value for name, value in said.items() if name not in _NO_KNOBS}
    if "dvfs" in said:
        knobs["dvfs_code"] = said["dvfs"].lower()
    mode = said.get("mode") or polled_mode(said)
    return knobs | ({"mode": canonical_mode(mode, settings)} if mode else {})

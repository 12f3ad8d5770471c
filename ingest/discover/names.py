"""File names to run keys by the settings' patterns, and run keys to run ids."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, NamedTuple

from data.declared import Column
from data.errors import FormatError
from data.knob_table import STATED
from data.schema import IDENTITY, KNOBS
from data.selection import POLLING, POLLING_SYSTEM
from ingest.settings.dataset import UNKNOWN, Settings
from ingest.settings.knobs import decode_dvfs, decode_hybrid_delay, decode_itr
from ingest.settings.number_texts import core_number, finite_number, parse_size, whole_number

COMPRESSED_SUFFIXES: Final = (".gz", ".bz2", ".xz", ".zst")
UNSET_DVFS: Final = "0xffff"
# Knobs of a key in the order of a run id, with their formats in the id.
_TOKENS: Final = {**{knob.run_key: knob.token for knob in STATED}, "variant": "{}"}
KEY_KNOBS: Final = tuple(_TOKENS)
_KINDS: Final = {**{knob.stated_as: knob.stated_kind for knob in STATED}, "variant": "text"}
# Knobs of a key that have no column of the same name.
_CODES: Final = frozenset(_TOKENS) - frozenset((*IDENTITY, *KNOBS))


@dataclass(frozen=True, slots=True)
class RunKey:
    """The identity of a run: files with the same key belong to the same run.

    Attributes:
        knobs: Names and raw values of the knobs that are set: KEY_KNOBS in their order, then
            declared knobs.
    """

    dataset: str
    workload: str
    system: str
    knobs: tuple[tuple[str, Any], ...]
    replicate: int | None

    @property
    def configuration(self) -> "RunKey":
        """Return the key without its replicate number, which all replicates share."""
        return replace(self, replicate=None)

    def knob(self, name: str) -> Any:
        """Return the raw value of a knob; None if it is not set."""
        return dict(self.knobs).get(name)


@dataclass(frozen=True, slots=True)
class NameMatch:
    """The run that a file's name gives, without the dataset, and the core of a per-core file.

    Attributes:
        system: Empty where nothing names it: then it is called as the dataset.
    """

    workload: str
    system: str
    knobs: tuple[tuple[str, Any], ...]
    replicate: int | None
    core: int | None

    def key(self, dataset: str) -> RunKey:
        """Return the key of the file's run in a dataset."""
        system = self.system or dataset
        return RunKey(dataset, self.workload, system, self.knobs, self.replicate)


class FoundName(NamedTuple):
    """A pattern's match with a file's name, as text.

    Attributes:
        number: Index of the pattern in the settings' `names`.
        values: Values of the groups that identify the run.
    """

    number: int
    values: tuple[str | None, ...]


def strip_compression(name: str) -> str:
    """Return a file name without its compression suffix, if it has one."""
    if not name[-4:].lower().endswith(COMPRESSED_SUFFIXES):
        return name
    for suffix in COMPRESSED_SUFFIXES:
        if name.lower().endswith(suffix):
            return name[: -len(suffix)]
    return name


def find_name(path: str, settings: Settings) -> tuple[FoundName | None, str | None]:
    """Return the first pattern that matches a path and the core in it; None where there is none."""
    text = strip_compression(path)
    for number, pattern in enumerate(settings.names):
        if pattern.beginning in text and (found := pattern.regex.match(text)):
            core = found["core"] if pattern.has_core else None
            return FoundName(number, tuple(map(found.group, pattern.run_groups))), core
    return None, None


def read_name(found_name: FoundName, settings: Settings) -> NameMatch:
    """Return the run that a name gives, without the core.

    Raises:
        FormatError: The name has an invalid knob, such as an ITR of 5000.
    """
    pattern = settings.names[found_name.number]
    named = zip(pattern.run_groups, found_name.values, strict=True)
    texts = dict(pattern.constants) | {name: text for name, text in named if text}
    values = {name: _convert(name, text, settings) for name, text in texts.items()}
    if "mode" in values:
        values["mode"] = canonical_mode(values["mode"], settings)
    replicate = values.pop("replicate", None)
    if "dvfs" in values:
        values["dvfs_code"] = str(values.pop("dvfs")).lower()
    knobs = _checked_knobs(tuple(values.items()))
    is_default = values.get("itr") == 1 and values.get("dvfs_code") == UNSET_DVFS
    system = pattern.baseline_system if is_default and pattern.baseline_system else pattern.system
    return NameMatch(pattern.workload, canonical_system(system, settings), knobs, replicate, None)


def name_labels(path: str, settings: Settings) -> dict[str, Any]:
    """Return the labels that the first matching pattern finds in a file's path.

    Raises:
        FormatError: A label is not a value of its column's type.
    """
    if not any(pattern.labels for pattern in settings.names):
        return {}
    found_name, _ = find_name(path, settings)
    if found_name is None:
        return {}
    pattern = settings.names[found_name.number]
    named = pattern.regex.match(strip_compression(path))
    texts = named.groupdict() if named is not None else {}
    return {
        name: read_knob(settings.columns[name], texts[name])
        for name in pattern.labels
        if texts.get(name)
    }


@lru_cache(maxsize=1024)
def read_core(text: str | None) -> int | None:
    """Parse the core in a name.

    Raises:
        FormatError: It is not a whole number that the column `core` can hold.
    """
    if text is None:
        return None
    try:
        return core_number(int(text))
    except ValueError as error:
        raise FormatError(f"bad core in the name: {text!r} ({error})") from error


@lru_cache(maxsize=1024)
def _checked_knobs(values: tuple[tuple[str, Any], ...]) -> tuple[tuple[str, Any], ...]:
    """Return knobs of a key; cached, because the files of a run are adjacent."""
    knobs = order_knobs(dict(values))
    check_knobs(knobs)
    return knobs


def _convert(group: str, text: str, settings: Settings) -> Any:
    own, kind = settings.columns.get(group), _KINDS.get(group)
    if kind == "text":
        return text
    if own is not None:
        return read_knob(own, text)
    try:
        if kind == "real":
            return finite_number(float(text))
        return whole_number(parse_size(text) if kind == "size" else int(text))
    except ValueError as error:
        raise FormatError(f"bad {group} in the name: {text!r} ({error})") from error


def read_knob(column: Column, text: str) -> Any:
    """Parse the value of a declared knob or label.

    Raises:
        FormatError: It is not a value of the column's type.
    """
    try:
        if column.kind == "text":
            return text
        if column.kind == "real":
            return finite_number(float(text))
        return whole_number(parse_size(text) if column.written == "bytes" else int(text))
    except ValueError as error:
        raise FormatError(f"{column.name} cannot be {text!r} ({error})") from error


def canonical_system(label: str, settings: Settings) -> str:
    """Return the system of a label or alias; an unknown label is returned unchanged."""
    return settings.aliases.get(label, label)


def workload_of(parts: Sequence[str], settings: Settings) -> str:
    """Return the workload that the last part of a path names, else the part before it, and so on.

    A part with words of two workloads names none, nor does a folder with a number, such as
    `node-3`.

    Returns:
        UNKNOWN if no part names one.
    """
    for depth, part in enumerate(reversed(parts)):
        words = re.split(r"[^a-z0-9]+", part.lower())
        found = {settings.workload_words[word] for word in words if word in settings.workload_words}
        if len(found) == 1 and (depth == 0 or not any(map(str.isdigit, words))):
            return found.pop()
    return UNKNOWN


def canonical_mode(word: str, settings: Settings) -> str:
    """Return the completion mode of a word; an unknown word is returned in lower case."""
    return settings.modes.get(word.lower(), word.lower())


def order_knobs(values: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Return knobs of a key: those that are set, shipped ones first, each with one type."""
    declared = sorted(values.keys() - _TOKENS.keys())
    return tuple(
        (name, float(values[name]) if _KINDS.get(name) == "real" else values[name])
        for name in (*KEY_KNOBS, *declared)
        if values.get(name) is not None
    )


def check_knobs(knobs: tuple[tuple[str, Any], ...]) -> None:
    """Check that raw codes can be decoded.

    Raises:
        FormatError: An invalid ITR, DVFS code or hybrid delay.
    """
    _decoded(dict(knobs))


def make_run_id(key: RunKey) -> str:
    """Return a stable name of a run: readable knobs, then 8 digits of its key's digest."""
    parts = [key.workload, key.system]
    parts += [_TOKENS.get(name, name + "{}").format(value) for name, value in key.knobs]
    parts.append("rx" if key.replicate is None else f"r{key.replicate}")
    slug = "-".join(map(_slug, parts))
    full = [key.dataset, key.workload, key.system, list(map(list, key.knobs)), key.replicate]
    digest = hashlib.sha256(json.dumps(full).encode()).hexdigest()[:8]
    return f"{slug}-{digest}"


@lru_cache(maxsize=4096)
def _slug(part: str) -> str:
    return re.sub(r"[^a-z0-9_.]+", "_", part.lower())


def identity_columns(key: RunKey, settings: Settings) -> dict[str, Any]:
    """Return the columns of `runs` that depend only on a run's key and the settings."""
    knobs = {name: value for name, value in key.knobs if name not in _CODES}
    if knobs.get("load_qps") == 0:
        del knobs["load_qps"]  # 0 means that no load was set; it must not appear as a load of 0.
    return {
        "run_id": make_run_id(key),
        "dataset": key.dataset,
        "workload": key.workload,
        "system": key.system,
        "replicate": key.replicate,
        **label_columns(key.workload, key.system, settings),
        **knobs,
        **_decoded(dict(key.knobs)),
        **({"itr_us": None, "itr_policy": POLLING} if key.system == POLLING_SYSTEM else {}),
    }


def label_columns(workload: str, system: str, settings: Settings) -> dict[str, Any]:
    """Return the label columns of a row, from the settings alone; in fixed order."""
    work = settings.workloads.get(workload)
    known = settings.systems.get(system)
    return {
        "loop": work.loop if work else None,
        "system_label": known.label if known else default_label(system),
        "performance_metric": work.performance_metric if work else None,
        "is_baseline": known.baseline if known else False,
        "is_synthetic": settings.synthetic,
    }


def default_label(system: str) -> str:
    """Return the label of a system that the settings do not name: `ebbrt_x` is `Library OS, x`."""
    family, _, variant = system.partition("_")
    if family != "ebbrt":
        return system
    return "Library OS" + (f", {variant.replace('_', ' ')}" if variant else "")


def _decoded(knobs: Mapping[str, Any]) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    if (itr := knobs.get("itr")) is not None:
        columns["itr_us"], columns["itr_policy"] = decode_itr(itr)
    if (code := knobs.get("dvfs_code")) is not None:
        columns["dvfs_ghz"], columns["dvfs_policy"], columns["dvfs_code"] = decode_dvfs(code)
    if (delay := knobs.get("hybrid_delay")) is not None:
        columns["hybrid_delay_us"], columns["hybrid_delay_policy"] = decode_hybrid_delay(delay)
    return columns

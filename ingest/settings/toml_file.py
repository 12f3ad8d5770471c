"""Read one settings file: TOML of which every key and value is checked."""

import re
import tomllib
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Final

from data.declared import KINDS, ROLES, WRITINGS
from data.errors import SettingsError
from data.knob_table import STATED
from ingest.settings import meters, power, tables

# Groups that the regular expression of a file name may have.
GROUPS: Final = frozenset({"replicate", "core", "variant", *(knob.stated_as for knob in STATED)})
# What to keep of totals that perf counted over an interval other than the run's.
COUNTS: Final = ("rates", "whole")
# Units of HdrHistogram's lists of percentiles.
HDR_UNITS: Final = ("ns", "us", "ms", "s")
# Sections that are lists; entries of upper layers come first.
LISTED_SECTIONS: Final = ("names", "tables", "meters")
# Sections with one table for each name, which users choose.
NAMED_SECTIONS: Final = ("systems", "workloads", "modes", "subsystems", "columns")
KEYS: Final[dict[str, dict[str, type | tuple[type, ...]]]] = {
    "dataset": {"name": str, "synthetic": bool},
    "machine": {
        "tsc_khz": (int, float),
        "energy_unit_j": float,
        "energy_counter_bits": int,
        "packages": dict,
    },
    "systems": {"label": str, "baseline": bool, "aliases": list},
    "workloads": {
        "loop": str,
        "performance_metric": str,
        "cores": list,
        "logged": bool,
        "aliases": list,
    },
    "modes": {"aliases": list},
    "power": power.KEYS,
    "perf": {"counts": str},
    "latency": {"hdr_unit": str},
    "turbostat": {"interval_s": (int, float)},
    "subsystems": {"paths": list, "modules": list},
    "functions": {"table": str},
    "columns": {
        "role": str,
        "type": str,
        "title": str,
        "short": str,
        "unit": str,
        "better": str,
        "written": str,
        "description": str,
    },
    "names": {"pattern": str, "workload": str, "system": str, "baseline_system": str, "set": dict},
    "tables": tables.KEYS,
    "meters": meters.KEYS,
}


def is_dataset_name(name: str) -> bool:
    """Whether a name can be a folder of the lake: not empty, no slash, no leading dot."""
    return bool(re.fullmatch(r"[^./\\\x00-\x1f][^/\\\x00-\x1f]*", name))


def _are_cores(value: Any) -> bool:
    return isinstance(value, list) and all(type(c) is int and 0 <= c < 2**31 for c in value)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


_CHECKS: Final[dict[str, Callable[[Any], bool]]] = {
    "loop": lambda v: v in ("open", "closed"),
    "role": lambda v: v in ROLES,
    "type": lambda v: v in KINDS,
    "better": lambda v: v in ("less", "more"),
    "written": lambda v: v in WRITINGS,
    "set": lambda v: all(type(each) in (str, int, float) for each in v.values()),
    "tsc_khz": lambda v: v > 0,
    "energy_unit_j": lambda v: v > 0,
    "energy_counter_bits": lambda v: 1 <= v <= 48,
    "name": is_dataset_name,
    "cores": _are_cores,
    "aliases": _are_texts,
    **power.CHECKS,
    "counts": lambda v: v in COUNTS,
    "time_zone": meters.is_time_zone,
    "hdr_unit": lambda v: v in HDR_UNITS,
    "interval_s": lambda v: 0 < v < 1e6,
    "paths": _are_texts,
    "modules": _are_texts,
}


def read_layer(path: Path) -> dict[str, Any]:
    """Read one settings file and check every key and value in it.

    Raises:
        SettingsError: As `load_settings` says.
    """
    try:
        layer = tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise SettingsError(f"cannot read settings: {error.strerror} ({path})") from error
    # Not TOML, not UTF-8, a number of over 4,300 digits, or nested too deeply.
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"not TOML: {error} ({path})") from error
    for section, content in layer.items():
        if section not in KEYS:
            raise SettingsError(f"unknown key {section!r}, known: {', '.join(KEYS)} ({path})")
        _check_section(section, content, path)
    return layer


def _check_section(section: str, content: Any, path: Path) -> None:
    if section in LISTED_SECTIONS:
        if not isinstance(content, list):
            raise SettingsError(f"{section} must be [[{section}]] tables ({path})")
        for number, entry in enumerate(content, 1):
            _check_table(section, f"{section}[{number}]", entry, path)
            entry["path"] = str(path)
    elif section in NAMED_SECTIONS:
        if not isinstance(content, dict):
            raise SettingsError(f"{section} must be a table of tables ({path})")
        for name, entry in content.items():
            _check_table(section, f"{section}.{name}", entry, path)
    else:
        _check_table(section, section, content, path)
    if section == "machine" and "packages" in content:
        _check_packages(content["packages"], path)


def _check_table(section: str, where: str, table: Any, path: Path) -> None:
    if not isinstance(table, dict):
        raise SettingsError(f"{where} must be a table, not {table!r} ({path})")
    for key, value in table.items():
        kind = KEYS[section].get(key)
        if kind is None:
            known = ", ".join(KEYS[section])
            raise SettingsError(f"unknown key {where}.{key}, known: {known} ({path})")
        is_boolean = isinstance(value, bool)
        if not isinstance(value, kind) or (is_boolean and kind is not bool):
            raise SettingsError(f"{where}.{key} has the wrong type: {value!r} ({path})")
        if key in _CHECKS and not _CHECKS[key](value):
            raise SettingsError(f"{where}.{key} cannot be {value!r} ({path})")


def _check_packages(packages: dict[str, Any], path: Path) -> None:
    seen: set[int] = set()
    for package, cores in packages.items():
        where = f"machine.packages.{package}"
        if not package.isdecimal() or int(package) >= 2**31:
            raise SettingsError(f"{where}: a package is a whole number below 2^31 ({path})")
        if not _are_cores(cores) or not cores:
            raise SettingsError(f"{where} must list its cores, not {cores!r} ({path})")
        if twice := seen & set(cores):
            raise SettingsError(f"{where}: core {min(twice)} is in two packages ({path})")
        seen |= set(cores)


def check_groups(
    entry: dict[str, Any],
    regex: re.Pattern[str],
    number: int,
    knobs: Collection[str],
    labels: Collection[str],
) -> None:
    """Check that each group of a pattern is a knob, a label, or a part of a file's identity.

    Args:
        knobs: Knobs that the settings declare.
        labels: Labels that the settings declare; a pattern may have them, `set` may not.

    Raises:
        SettingsError: An unknown group or key of `set`; the message lists the known ones.
    """
    known = {*GROUPS, *knobs}
    for what, names in (
        ("pattern", set(regex.groupindex) - set(labels)),
        ("set", set(entry.get("set", {}))),
    ):
        if unknown := sorted(names - known):
            raise SettingsError(
                f"names[{number}].{what} has an unknown group {unknown[0]!r}, "
                f"known: {', '.join(sorted(known))} ({entry['path']})"
            )


def literal_beginning(pattern: str) -> str:
    """The literal text at the start of a regular expression.

    Returns:
        Letters, digits, `_`, `-` and escaped dots; empty if several beginnings are possible.
    """
    bare = re.sub(r"\\.|\[\^?\]?[^\]]*\]", "", pattern, flags=re.DOTALL)
    while (outer := re.sub(r"\([^()]*\)", "", bare)) != bare:
        bare = outer
    if "|" in bare:
        return ""
    found = re.match(r"(?:[A-Za-z0-9_-]|\\\.)*(?![*+?{])", pattern)
    return found[0].replace("\\", "") if found else ""

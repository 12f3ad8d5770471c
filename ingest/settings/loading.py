"""Settings of a dataset, read from layers of TOML."""

import tempfile
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from data.declared import ABOUT, Column, from_settings
from data.errors import DataError, SettingsError
from data.schema import MEASUREMENTS
from ingest.declarations import TableDeclaration
from ingest.settings.dataset import (
    FILE_NAME,
    UNKNOWN,
    Machine,
    NamePattern,
    Settings,
    System,
    Workload,
)
from ingest.settings.function_map import FunctionMap, read_sources, shipped_sources
from ingest.settings.layout import LISTED_SECTIONS, NAMED_SECTIONS, read_layer
from ingest.settings.logs import build_log
from ingest.settings.patterns import check_groups, literal_beginning, path_pattern
from ingest.settings.power import PowerSettings
from ingest.settings.tables import about_guesses, build_meter, build_table, target_kinds

# Sections that map functions to subsystems.
_MAPPING: Final = frozenset({"subsystems", "functions"})


_PUBLISHED: Final = Path(__file__).parent / "published.toml"


def load_settings(*paths: Path) -> Settings:
    """Merge settings files with the shipped defaults; later files override earlier ones.

    Sections merge key by key, except `machine.packages`, of which the topmost file replaces all.
    `[[names]]` of upper layers are tried before those of lower layers.

    Raises:
        SettingsError: A file that cannot be read, an unknown key, a bad pattern, or a value of
            the wrong type or out of range; the message names the file and the key.
    """
    merged: dict[str, Any] = {}
    _merge(merged, _shipped_layer())
    sources = shipped_sources()
    has_own_map = False
    own_modes: set[str] = set()
    own_words: dict[str, str] = {}
    for path in paths:
        layer = read_layer(path)
        _merge(merged, layer)
        if table := layer.get("functions", {}).get("table"):
            sources |= read_sources(path.parent / table)
        has_own_map |= not layer.keys().isdisjoint(_MAPPING)
        own_modes |= layer.get("modes", {}).keys()
        own_words |= _aliases(layer.get("workloads", {}))
    subsystems = merged["subsystems"]
    named = {
        key: {each: name for name, entry in subsystems.items() for each in entry.get(key, [])}
        for key in ("paths", "modules")
    }
    functions = FunctionMap(named["paths"], named["modules"], sources, has_own_map)
    origin = str(paths[-1]) if paths else _PUBLISHED.name
    return _build(merged, functions, own_modes, own_words, origin)


@cache
def _shipped_layer() -> dict[str, Any]:
    """Return the shipped defaults, which are read once a process. Never written to."""
    return read_layer(_PUBLISHED)


def refusal_of(text: str) -> str:
    """Return why settings cannot be used; empty if they can. Names in paths may be such."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / FILE_NAME
        file.write_text(text, "utf-8")
        try:
            load_settings(file)
        except SettingsError as error:
            return str(error).replace(f" ({file})", "")
    return ""


def _merge(below: dict[str, Any], layer: dict[str, Any]) -> None:
    for section, content in layer.items():
        if section in LISTED_SECTIONS:
            below[section] = [*content, *below.get(section, [])]
        elif section in NAMED_SECTIONS:
            known = below.setdefault(section, {})
            for name, entry in content.items():
                known[name] = {**known.get(name, {}), **entry}
        else:
            below[section] = {**below.get(section, {}), **content}


def _build(
    merged: dict[str, Any],
    functions: FunctionMap,
    own_modes: Collection[str],
    own_words: Mapping[str, str],
    origin: str,
) -> Settings:
    machine = merged["machine"]
    packages = {int(p): tuple(cores) for p, cores in machine["packages"].items()}
    cores = [core for package in packages.values() for core in package]
    if twice := {core for core in cores if cores.count(core) > 1}:
        raise SettingsError(f"machine.packages: core {min(twice)} is in two packages ({origin})")
    workloads = {
        name: _workload(name, entry, origin) for name, entry in merged["workloads"].items()
    }
    systems = {
        name: System(entry.get("label", name), entry.get("baseline", False))
        for name, entry in merged["systems"].items()
    }
    columns = _columns(merged, origin)
    names = tuple(_name_pattern(n, e, columns) for n, e in enumerate(merged["names"], 1))
    metrics = {*MEASUREMENTS, *(c.name for c in columns.values() if c.role == "metric")}
    for name, work in workloads.items():
        if work.performance_metric not in {*metrics, None}:
            raise SettingsError(
                f"workloads.{name}.performance_metric cannot be {work.performance_metric!r} "
                f"({origin})"
            )
    if unknown := sorted({pattern.workload for pattern in names} - set(workloads)):
        raise SettingsError(f"names: workload {unknown[0]!r} has no [workloads] table ({origin})")
    tables = _tables(merged, columns)
    about = {key: merged["dataset"][key] for key in ABOUT if key in merged["dataset"]}
    entries = (*merged["tables"], *merged["names"])
    about |= about_guesses(tables, {n for entry in entries for n in entry.get("corrected", ())})
    return Settings(
        dataset=merged["dataset"].get("name"),
        synthetic=merged["dataset"].get("synthetic", False),
        about=about,
        machine=Machine(
            machine["tsc_khz"], machine["energy_unit_j"], machine["energy_counter_bits"], packages
        ),
        systems=systems,
        aliases=_aliases(merged["systems"]),
        workloads=workloads,
        workload_words={name: name for name in workloads} | _aliases(merged["workloads"]),
        own_words=own_words,
        modes={name: name for name in merged["modes"]} | _aliases(merged["modes"]),
        own_modes=frozenset(own_modes),
        functions=functions,
        power=PowerSettings(**merged.get("power", {})),
        counts=merged.get("perf", {}).get("counts", "rates"),
        hdr_unit=merged.get("latency", {}).get("hdr_unit"),
        turbostat_s=merged.get("turbostat", {}).get("interval_s"),
        names=names,
        columns=columns,
        tables=tables,
        meters=tuple(
            build_meter(entry, number) for number, entry in enumerate(merged.get("meters", []), 1)
        ),
        logs=tuple(
            build_log(entry, number, target_kinds(columns))
            for number, entry in enumerate(merged.get("logs", []), 1)
        ),
        origin=origin,
    )


def _tables(merged: dict[str, Any], columns: Mapping[str, Column]) -> tuple[TableDeclaration, ...]:
    kinds = target_kinds(columns)
    shipped = _shipped_tables()
    own = merged["tables"][: -len(shipped)]
    declared = [build_table(entry, number, kinds, False) for number, entry in enumerate(own, 1)]
    declared += [replace(table, kinds=kinds) for table in shipped] if columns else shipped
    return (*declared, TableDeclaration(kinds=kinds, is_shipped=True))


@cache
def _shipped_tables() -> tuple[TableDeclaration, ...]:
    """Return the declarations of tables of the shipped defaults, the last of all layers."""
    kinds = target_kinds({})
    entries = enumerate(_shipped_layer()["tables"], 1)
    return tuple(build_table(entry, number, kinds, True) for number, entry in entries)


def _columns(merged: dict[str, Any], origin: str) -> dict[str, Column]:
    dataset = merged["dataset"].get("name") or origin
    try:
        entries = merged.get("columns", {}).items()
        return {name: from_settings(name, entry, dataset) for name, entry in entries}
    except DataError as error:
        raise SettingsError(f"{error} ({origin})") from error


def _name_pattern(number: int, entry: dict[str, Any], columns: Mapping[str, Column]) -> NamePattern:
    regex = path_pattern(entry, f"names[{number}]")
    knobs = {column.name for column in columns.values() if column.role == "knob"}
    labels = {column.name for column in columns.values() if column.role == "label"}
    check_groups(entry, regex, number, knobs, labels)
    if unknown := sorted({*entry.get("columns", {}).values()} - columns.keys()):
        raise SettingsError(
            f"names[{number}].columns: no [columns.{unknown[0]}] declares it ({entry['path']})"
        )
    return NamePattern(
        regex,
        entry["workload"],
        entry["system"],
        entry.get("baseline_system"),
        literal_beginning(entry["pattern"]),
        tuple(group for group in regex.groupindex if group != "core" and group not in labels),
        "core" in regex.groupindex,
        tuple((name, str(value)) for name, value in entry.get("set", {}).items()),
        tuple(group for group in regex.groupindex if group in labels),
        tuple(entry.get("columns", {}).items()),
        "" if entry.get("confirmed") else entry.get("guessed", ""),
        entry.get("format", ""),
    )


def _aliases(tables: Mapping[str, Any]) -> dict[str, str]:
    return {alias: name for name, entry in tables.items() for alias in entry.get("aliases", [])}


def _workload(name: str, entry: dict[str, Any], origin: str) -> Workload:
    for key in ("loop", "performance_metric"):
        if key not in entry and name != UNKNOWN:
            raise SettingsError(f"workloads.{name} lacks {key!r} ({origin})")
    cores = tuple(entry["cores"]) if entry.get("cores") else None
    return Workload(
        entry.get("loop"), entry.get("performance_metric"), cores, entry.get("logged", True)
    )

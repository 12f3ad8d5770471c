"""A dataset's settings: its machine, systems, workloads and file names, from layers of TOML."""

import hashlib
import json
import re
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final, Literal

from data.declared import ABOUT, Column, from_settings
from data.errors import DataError, SettingsError
from data.schema import MEASUREMENTS
from ingest.declarations import LogDeclaration, MeterDeclaration, TableDeclaration
from ingest.settings.function_map import FunctionMap, read_sources, shipped_sources
from ingest.settings.layout import LISTED_SECTIONS, NAMED_SECTIONS, Counts, read_layer
from ingest.settings.logs import build_log
from ingest.settings.patterns import check_groups, literal_beginning, path_pattern
from ingest.settings.power import PowerSettings
from ingest.settings.tables import build_meter, build_table, target_kinds

FILE_NAME: Final = "wattlas.toml"
# Workload of files that no name, format or table assigns to another workload. Only this workload
# has no performance metric.
UNKNOWN: Final = "unknown"
# Sections that map functions to subsystems.
_MAPPING: Final = frozenset({"subsystems", "functions"})
_PUBLISHED: Final = Path(__file__).parent / "published.toml"


@dataclass(frozen=True, slots=True)
class Machine:
    """A dataset's machine: the units of its counters, and its packages.

    Attributes:
        tsc_khz: Time-stamp counter ticks a millisecond.
        energy_unit_j: Joules per step of the package energy counter.
        energy_counter_bits: Width of that counter; it wraps at 2 to the power of this width.
        packages: Cores of each package, by package number.
    """

    tsc_khz: float
    energy_unit_j: float
    energy_counter_bits: int
    packages: Mapping[int, tuple[int, ...]]

    @property
    def tsc_hz(self) -> float:
        """Time-stamp counter ticks a second."""
        return self.tsc_khz * 1000.0

    def package_of(self, core: int) -> int | None:
        """The package that a core belongs to; None for a core that the settings do not know."""
        return next((p for p, cores in self.packages.items() if core in cores), None)

    @property
    def cores(self) -> tuple[int, ...]:
        """All cores of all packages, in order."""
        return tuple(sorted(core for cores in self.packages.values() for core in cores))


@dataclass(frozen=True, slots=True)
class System:
    """How a system is labelled, and whether it is the baseline of comparisons."""

    label: str
    baseline: bool = False


@dataclass(frozen=True, slots=True)
class Workload:
    """A workload: what its result is, and which cores log it.

    Attributes:
        cores: Cores that each write a log; None for all cores of the machine.
        logged: Whether its runs have per-interrupt logs. If not, a run without logs is complete.
    """

    loop: Literal["open", "closed"] | None
    performance_metric: str | None
    cores: tuple[int, ...] | None = None
    logged: bool = True


@dataclass(frozen=True, slots=True)
class NamePattern:
    """A pattern of file names: its named groups are knobs, its other fields hold for every match.

    Attributes:
        constants: Knobs of every matching file, as text.
        labels: Groups that are labels: columns of the run that are not part of its key.
        beginning: Text that every matching path contains. It is checked before the expression,
            which is slower.
    """

    regex: re.Pattern[str]
    workload: str
    system: str
    baseline_system: str | None = None
    beginning: str = ""
    run_groups: tuple[str, ...] = ()
    has_core: bool = False
    constants: tuple[tuple[str, str], ...] = ()
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Settings:
    """The settings of a dataset, with all layers merged.

    Attributes:
        about: What the dataset says of itself, by the names of `data.declared.ABOUT`.
        origin: The topmost file that the settings were read from, for provenance.
        tables: Declarations of tables. Each property of a table comes from the first matching
            declaration that has it. The last declaration matches every table.
        meters: Declarations of power meters; the first that matches is used.
        logs: Declarations of text logs; the first that fits is used.
        columns: Columns of `runs` that the dataset declares, by name.
        aliases: Other labels of systems, each with the system's name.
        workload_words: Words in tables and their paths that mean a workload, each with its name.
        own_words: Those that the dataset's own settings files declare.
        modes: Words for completion modes, each with the mode's name; the names are included.
        own_modes: Modes that the dataset's own settings files declare.
        functions: Source files of functions, and the subsystems of source files.
        counts: What is kept of counts over an interval other than the run's: their `rates`, or the
            `whole` totals, as if they were the run's.
        turbostat_s: Seconds between two outputs of turbostat; None if not set.
        hdr_unit: Unit of HdrHistogram's lists of percentiles; None if not set.
        power: How the readings of power meters join the runs.
    """

    dataset: str | None
    synthetic: bool
    about: Mapping[str, str]
    machine: Machine
    systems: Mapping[str, System]
    aliases: Mapping[str, str]
    workloads: Mapping[str, Workload]
    workload_words: Mapping[str, str]
    own_words: Mapping[str, str]
    modes: Mapping[str, str]
    own_modes: frozenset[str]
    functions: FunctionMap
    power: PowerSettings
    counts: Counts
    hdr_unit: str | None
    turbostat_s: float | None
    names: tuple[NamePattern, ...]
    columns: Mapping[str, Column]
    tables: tuple[TableDeclaration, ...]
    meters: tuple[MeterDeclaration, ...]
    logs: tuple[LogDeclaration, ...]
    origin: str

    @cached_property
    def fingerprint(self) -> str:
        """Digest of all settings that a run's numbers depend on; it does not depend on labels."""
        machine = self.machine
        parts = [
            machine.tsc_khz,
            machine.energy_unit_j,
            machine.energy_counter_bits,
            sorted((package, list(cores)) for package, cores in machine.packages.items()),
            sorted((name, list(w.cores or ())) for name, w in self.workloads.items() if w.logged),
        ]
        if self.functions.is_own:
            parts.append(self.functions.digest)
        if self.own_modes:
            parts.append(sorted(self.own_modes))
        if own := self.power.what_counts:
            parts.append(own)
        if self.counts != "rates":
            parts.append(self.counts)
        if self.hdr_unit is not None:
            parts.append(self.hdr_unit)
        if self.turbostat_s is not None:
            parts.append(["turbostat", self.turbostat_s])
        if self.meters:
            parts.append(str(self.meters))
        if self.logs:
            parts.append(str([replace(log, kinds={}) for log in self.logs]))
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]

    @cached_property
    def table_fingerprint(self) -> str:
        """Digest of all settings that the rows of tables depend on."""
        own = [table for table in self.tables if not table.is_shipped]
        if not own and not self.columns and not self.own_words:
            return self.fingerprint
        said = f"{self.fingerprint} {own} {sorted(self.columns.items())}"
        said += f" {sorted(self.own_words.items())}" if self.own_words else ""
        return hashlib.sha256(said.encode()).hexdigest()[:32]

    def tables_of(self, path: str) -> tuple[TableDeclaration, ...]:
        """The declarations that may apply to a table at a path; its headings decide further."""
        return tuple(table.at(path) for table in self.tables if table.fits(path))

    def is_table(self, path: str) -> bool:
        """Whether the settings declare a file as a table by its path alone."""
        return any(t.path is not None and t.header is None and t.fits(path) for t in self.tables)

    def meter_of(self, path: str) -> MeterDeclaration | None:
        """The declaration of a power meter's table at a path; None if there is none."""
        return next((m for m in self.meters if m.regex.match(path)), None)

    def logs_of(self, path: str) -> tuple[LogDeclaration, ...]:
        """The declarations of text logs that may apply to a path; their marks decide further."""
        return tuple(log for log in self.logs if log.fits(path))

    def expected_cores(self, workload: str) -> tuple[int, ...]:
        """Cores that should each have a log in a run of a workload."""
        return self.workloads[workload].cores or self.machine.cores


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
    return Settings(
        dataset=merged["dataset"].get("name"),
        synthetic=merged["dataset"].get("synthetic", False),
        about={key: merged["dataset"][key] for key in ABOUT if key in merged["dataset"]},
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
        tables=_tables(merged, columns),
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
    shipped = str(_PUBLISHED)
    declared = [
        build_table(entry, number, kinds, entry["path"] == shipped)
        for number, entry in enumerate(merged["tables"], 1)
    ]
    return (*declared, TableDeclaration(kinds=kinds, is_shipped=True))


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

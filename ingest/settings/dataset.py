"""A dataset's settings: its machine, systems, workloads and file names, from layers of TOML."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal

from data.declared import Column
from ingest.declarations import LogDeclaration, MeterDeclaration, TableDeclaration
from ingest.settings.function_map import FunctionMap
from ingest.settings.layout import Counts
from ingest.settings.power import PowerSettings

FILE_NAME: Final = "wattlas.toml"
# Workload of files that no name, format or table assigns to another workload. Only this workload
# has no performance metric.
UNKNOWN: Final = "unknown"


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
        """Return the package of a core; None for a core that the settings do not know."""
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
        columns: Of what each file states, by its own name for it, the declared column.
        format: Of all of its files; empty if their content says it.
        guessed: What a proposal took its groups for; empty if a person declared or confirmed them.
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
    columns: tuple[tuple[str, str], ...] = ()
    guessed: str = ""
    format: str = ""


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
        if stated := [name.columns for name in self.names if name.columns]:
            parts.append(["stated", stated])
        # Runs that were guessed are read again for their problems.
        if any(name.guessed for name in self.names):
            parts.append("guessed")
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
        """Return the declarations that may apply to a table; its headings decide further."""
        return tuple(table.at(path) for table in self.tables if table.fits(path))

    def is_table(self, path: str) -> bool:
        """Return whether the settings declare a file as a table by its path alone."""
        return any(t.path is not None and t.header is None and t.fits(path) for t in self.tables)

    def meter_of(self, path: str) -> MeterDeclaration | None:
        """Return the declaration of a power meter's table at a path; None if there is none."""
        return next((m for m in self.meters if m.regex.match(path)), None)

    def logs_of(self, path: str) -> tuple[LogDeclaration, ...]:
        """Return the text logs that may stand at a path; their marks decide further."""
        return tuple(log for log in self.logs if log.fits(path))

    def expected_cores(self, workload: str) -> tuple[int, ...]:
        """Return the cores that should each have a log in a run of a workload."""
        return self.workloads[workload].cores or self.machine.cores

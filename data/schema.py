"""The lake's tables: names and Arrow types of all columns, metrics from metrics.toml.

NULL means not measured or not set, never 0. SCHEMA_DESCRIPTION is the description in the metadata
of both Delta tables (their `configuration` takes `delta.*` keys only); a change of meaning or type
raises SCHEMA_VERSION and gets a line in CHANGELOG.md. A further column does not raise it: lakes
that lack it read as NULL there, and the next ingest gives it to them.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pyarrow as pa

from data.knob_table import BY_COLUMN

SCHEMA_VERSION: Final = 4
SCHEMA_DESCRIPTION: Final = f"wattlas schema {SCHEMA_VERSION}"
# Schemas of older lakes that are read as they are; `ingest add` upgrades them in place.
OLDER_DESCRIPTIONS: Final = frozenset({"wattlas schema 3"})

_TEXT = pa.string()
_COUNT = pa.int64()
_REAL = pa.float64()
_SMALL = pa.int32()

# Which run it is. The last four are settings of the dataset, kept with the row so that a version
# of `runs` says by itself how its pages look.
IDENTITY: Final[dict[str, pa.DataType]] = {
    **dict.fromkeys(("run_id", "dataset", "source", "workload", "loop", "system", "mode"), _TEXT),
    "replicate": _COUNT,
    **dict.fromkeys(("system_label", "performance_metric"), _TEXT),
    **dict.fromkeys(("is_baseline", "is_synthetic", "has_log"), pa.bool_()),
}

_KINDS: Final = {"text": _TEXT, "whole": _COUNT, "real": _REAL}
# What was set before a run started, with columns that go with it.
KNOBS: Final[dict[str, pa.DataType]] = {
    name: kind
    for knob in BY_COLUMN
    for name, kind in (
        (knob.column, _KINDS[knob.kind]),
        *((name, _TEXT) for name in (*knob.beside, knob.code) if name),
    )
    if name not in IDENTITY
}

# Counters that a core's log carries; a run's are the sums over its cores.
COUNTERS: Final[dict[str, pa.DataType]] = dict.fromkeys(
    (
        "instructions", "cycles", "ref_cycles", "llc_misses", "interrupts", "rx_desc", "rx_bytes",
        "tx_desc", "tx_bytes", "c1", "c1e", "c3", "c6", "c7",
    ),
    _COUNT,
)  # fmt: skip

# Every other column: metrics.toml says of a stored one its kind, of a derived one its SQL.
with (Path(__file__).parent / "metrics.toml").open("rb") as _file:
    METRIC_ENTRIES: Final[dict[str, dict[str, Any]]] = tomllib.load(_file)
MEASUREMENTS: Final = {
    name: _KINDS[entry["kind"]] for name, entry in METRIC_ENTRIES.items() if "kind" in entry
}
# What the interrupts and samples of a run's log say, all cores together: `analysis/log_metrics.py`.
LOG_METRICS: Final = tuple(name for name, entry in METRIC_ENTRIES.items() if "of_log" in entry)

# Counters that a tool may have counted over another period than the run's. The column
# `counted_rates` holds their rates over that period, because its totals are not the run's.
COUNTED_RATES: Final = (
    "instructions", "cycles", "ref_cycles", "llc_misses", "context_switches", "loads", "stores",
)  # fmt: skip

# A latency that serves as the performance metric is taken in seconds, so that the energy-delay
# product is always J s.
_SECONDS: Final = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_TIMES: Final = {
    "duration_s": "s",
    **{name: "us" for name in MEASUREMENTS if name.startswith("latency_")},
}
REQUESTS: Final = "coalesce(requests::DOUBLE, throughput_qps * duration_s)"
# Only a log that counts C1 counts entries; others have the hardware's counters of time.
_SLEEPS: Final = "(c1 + coalesce(c1e, 0) + coalesce(c3, 0) + coalesce(c6, 0) + coalesce(c7, 0))"


def derived_sql(units: Mapping[str, str]) -> dict[str, str]:
    """Return the formulas of the columns that the view `runs` computes and nothing stores.

    Args:
        units: Units of a lake's declared metrics, each of which may be a workload's performance.
    """
    cases = " ".join(
        f"WHEN '{name}' THEN {name} * {_SECONDS[unit]!r}"
        for name, unit in {**_TIMES, **units}.items()
        if unit in _SECONDS
    )
    parts = {
        "performance_s": f"(CASE performance_metric {cases} END)",
        "requests": REQUESTS,
        "sleeps": _SLEEPS,
    }
    return {n: e["sql"].format(**parts) for n, e in METRIC_ENTRIES.items() if "sql" in e}


DERIVED: Final = derived_sql({})

CORE: Final = pa.struct(
    {
        **{"core": _SMALL, "package": _SMALL, "duration_s": _REAL, "tsc_hz": _REAL},
        **{"energy_j": _REAL, **COUNTERS, "samples": _COUNT, "gap_hist": pa.list_(_COUNT)},
    }
)
SOURCE_FILE: Final = pa.struct(
    {"path": _TEXT, "format": _TEXT, "size_bytes": _COUNT, "mtime": _REAL, "digest": _TEXT}
)
RUN_FILE: Final = pa.struct(
    {"table": _TEXT, "path": _TEXT, "size_bytes": _COUNT, "rows": _COUNT, "digest": _TEXT}
)

RUNS: Final = pa.schema(
    {
        **IDENTITY,
        **KNOBS,
        **MEASUREMENTS,
        "counted_rates": pa.struct(dict.fromkeys(COUNTED_RATES, _REAL)),
        # What its files state that is no knob, as JSON: by format, then by the tool's own name.
        "facts": _TEXT,
        "flags": pa.list_(_TEXT),
        "cores": pa.list_(CORE),
        "sources": pa.list_(SOURCE_FILE),
        "files": pa.list_(RUN_FILE),
    }
)

PROBLEMS: Final = pa.schema(
    {
        **{"dataset": _TEXT, "path": _TEXT, "line": _COUNT, "kind": _TEXT, "severity": _TEXT},
        **{"detail": _TEXT, "count": _COUNT},
    }
)


def _table(
    filled: Mapping[str, pa.DataType], others: Mapping[str, pa.DataType] = MappingProxyType({})
) -> pa.Schema:
    """Declare a table of a run.

    Args:
        filled: Columns with a value in every row; Parquet stores no levels for them.
    """
    always = [pa.field(name, kind, nullable=False) for name, kind in filled.items()]
    return pa.schema(always + [pa.field(name, kind) for name, kind in others.items()])


_AT: Final = {"run_id": _TEXT, "core": _SMALL, "t_ns": _COUNT}
INTERRUPTS: Final = _table(
    {**_AT, "rx_desc": _SMALL, "rx_bytes": _COUNT, "tx_desc": _SMALL, "tx_bytes": _COUNT}
)
_SAMPLED = ("instructions", "cycles", "ref_cycles", "llc_misses", "c1", "c1e", "c3", "c6", "c7")
SAMPLES: Final = _table(
    _AT, {"dt_ns": _COUNT, **dict.fromkeys(_SAMPLED, _COUNT), "energy_uj": _REAL}
)
EXTREMES: Final = ("min", "max")
# Levels of `overview`, in bins a run. The coarsest is there for every run; a finer one only where
# its bins last OVERVIEW_LEAST_NS or more, and counters at it only where they last
# OVERVIEW_LEAST_COUNTED_NS: they are sampled about every millisecond, and `samples` says it finer.
OVERVIEW_LEVELS: Final = (1024, 16384, 131072)
OVERVIEW_LEAST_NS: Final = 250_000
OVERVIEW_LEAST_COUNTED_NS: Final = 4_000_000
# Rates between two samples of a core, whose least and greatest `overview` has as `min_` and `max_`.
RATES: Final = (
    "power_w", "instructions_per_s", "ref_cycles_per_s", "llc_misses_per_s", "c1_per_s",
    "c1e_per_s", "c3_per_s", "c6_per_s", "c7_per_s", "ipc",
)  # fmt: skip
# Whose interrupts `overview` counts in bins of the finest level, to have `min_` and `max_` of them:
# the core's, its package's on the row of the package's first core, the run's on the first core's.
COUNTED_INTERRUPTS: Final = ("interrupts", "package_interrupts", "run_interrupts")
_BIN: Final = {"run_id": _TEXT, "level": _SMALL, "core": _SMALL, "bin": _SMALL, "t_ns": _COUNT}
OVERVIEW: Final = _table(
    _BIN,
    {
        **dict.fromkeys(("interrupts", "rx_bytes", "tx_bytes"), _COUNT),
        **dict.fromkeys(("max_rx_bytes", "max_tx_bytes", "min_gap_ns", "max_gap_ns"), _COUNT),
        "energy_uj": _REAL,
        **dict.fromkeys(_SAMPLED, _COUNT),
        **{f"{end}_{name}": _COUNT for name in COUNTED_INTERRUPTS for end in EXTREMES},
        **{f"{end}_{name}": pa.float32() for name in RATES for end in EXTREMES},
    },
)
# How many values of each size there were in a stretch of time, by the slots of
# `data/analysis/log_bins.py`. A run has several levels, each of HISTOGRAM_STEP times as many
# stretches as the one before; those of the finest last HISTOGRAM_LEAST_NS to twice that, or longer
# where there would be too many.
HISTOGRAM_QUANTITIES: Final = ("gap_ns", "rx_bytes", "tx_bytes")
HISTOGRAM_LEAST_NS: Final = 50_000_000
HISTOGRAM_MOST_STRETCHES: Final = 1 << 12
HISTOGRAM_STEP: Final = 8
HISTOGRAMS: Final = _table({**_BIN, "quantity": _TEXT, "slot": _SMALL, "count": _COUNT})
# How many values of each size a run had, all cores and the whole window: the quantities of
# `histograms`, descriptors, and power in windows of 10 ms. A slot holds values from `low` to below
# `high`, in ns, bytes, descriptors or W. One file holds the runs that were committed together.
DISTRIBUTIONS: Final = _table(
    {
        **{"run_id": _TEXT, "quantity": _TEXT, "slot": _SMALL},
        **{"low": _REAL, "high": _REAL, "count": _COUNT},
    }
)
POWER: Final = _table(
    {"run_id": _TEXT},
    dict.fromkeys(("t_s", "voltage_v", "current_a", "power_w", "energy_j"), _REAL),
)
# What tools such as turbostat and `perf stat -I` measured in each interval of time.
INTERVALS: Final = _table(
    {"run_id": _TEXT},
    {
        **{"t_s": _REAL, "dt_s": _REAL, "core": _SMALL, "package": _SMALL},
        **{"place": _TEXT, "quantity": _TEXT, "value": _REAL},
    },
)
FUNCTIONS: Final = _table(
    {"run_id": _TEXT},
    {
        **dict.fromkeys(("function", "source_file", "subsystem"), _TEXT),
        **dict.fromkeys(("loads_per_s", "stores_per_s"), _REAL),
    },
)
# Lines of the files that describe the machine of a run; runs of one state share a file.
MACHINE_STATES: Final = _table({"file": _TEXT, "line": _SMALL, "text": _TEXT})
RUN_TABLES: Final[dict[str, pa.Schema]] = {
    "interrupts": INTERRUPTS,
    "samples": SAMPLES,
    "overview": OVERVIEW,
    "histograms": HISTOGRAMS,
    "distributions": DISTRIBUTIONS,
    "power": POWER,
    "intervals": INTERVALS,
    "functions": FUNCTIONS,
    "machine_states": MACHINE_STATES,
}


def rounded_singles(values: np.ndarray) -> np.ndarray:
    """Round to float32 with 12 bits of mantissa, as extremes in `overview` and drawn values.

    The nearest, and of two equally near ones that farther from 0: at most 0.013 % off. What is let
    go is noise that would double the columns.
    """
    bits = np.asarray(values, np.float32).view(np.uint32)
    kept: np.ndarray = (bits + np.uint32(1 << 10)) & ~np.uint32((1 << 11) - 1)
    return kept.view(np.float32)

"""The keys of a settings file `wattlas.toml`, with their types and limits, and its JSON schema.

`docs/settings.md` says what each key is.
"""

import re
from pathlib import Path
from types import GenericAlias
from typing import Annotated, Any, Final, Literal
from zoneinfo import ZoneInfo

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from data.declared import Kind, Role, Writing
from ingest.declarations import Aggregate, TableColumn
from ingest.settings.checked import Core, Table, read_toml, table_of
from ingest.settings.power import PowerSettings

# What to keep of totals that perf counted over an interval other than the run's.
Counts = Literal["rates", "whole"]
DATASET_NAME: Final = r"^[^./\\\x00-\x1f][^/\\\x00-\x1f]*$(?!\n)"
_Above0 = Annotated[float, Meta(gt=0)]
_Package = Annotated[str, Meta(pattern="^[0-9]{1,9}$")]
_Constants = dict[str, str | int | float]
_Columns = dict[str, str | TableColumn]


class TableOfMeter(Table):
    """An entry `[[meters]]`."""

    pattern: str
    columns: _Columns | UnsetType = UNSET
    time_zone: str | UnsetType = UNSET

    def __post_init__(self) -> None:
        try:
            ZoneInfo(self.time_zone or "UTC")
        except (ValueError, OSError, LookupError):
            raise ValueError(f"time_zone cannot be {self.time_zone!r}") from None


class LogHistogramRows(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A histogram of latencies in a text log."""

    rows: str
    overflow: str | UnsetType = UNSET
    unit: Literal["ns", "us", "ms", "s"] = "us"


# What a dataset says of itself (`data.declared.ABOUT`); each version of the lake carries it.
_About = Annotated[str, Meta(min_length=1, max_length=20_000)]
_SECTIONS: Final[dict[str, type[Struct]]] = {
    "dataset": table_of(
        "Dataset",
        {
            "name": Annotated[str, Meta(pattern=DATASET_NAME)],
            "synthetic": bool,
            **dict.fromkeys(("description", "citation", "licence"), _About),
            "url": Annotated[str, Meta(pattern=r"^https?://\S+$", max_length=2000)],
        },
    ),
    "machine": table_of(
        "Machine",
        {
            "tsc_khz": _Above0,
            "energy_unit_j": _Above0,
            "energy_counter_bits": Annotated[int, Meta(ge=1, le=48)],
            "packages": dict[_Package, Annotated[list[Core], Meta(min_length=1)]],
        },
    ),
    "power": PowerSettings,
    "perf": table_of("Perf", {"counts": Counts}),
    "latency": table_of("Latency", {"hdr_unit": Literal["ns", "us", "ms", "s"]}),
    "turbostat": table_of("Turbostat", {"interval_s": Annotated[float, Meta(gt=0, lt=1e6)]}),
    "functions": table_of("Functions", {"table": str}),
}
# With one table for each name, which users choose.
_NAMED: Final[dict[str, type[Struct]]] = {
    "systems": table_of("System", {"label": str, "baseline": bool, "aliases": list[str]}),
    "workloads": table_of(
        "Workload",
        {
            "loop": Literal["open", "closed"],
            "performance_metric": str,
            "cores": list[Core],
            "logged": bool,
            "aliases": list[str],
        },
    ),
    "modes": table_of("Mode", {"aliases": list[str]}),
    "subsystems": table_of("Subsystem", {"paths": list[str], "modules": list[str]}),
    "columns": table_of(
        "Column",
        {
            "given": bool,
            **{"role": Role, "type": Kind, "better": Literal["less", "more"], "written": Writing},
            **dict.fromkeys(("title", "short", "unit", "description"), str),
        },
    ),
}
# Lists; entries of upper layers come first.
_LISTED: Final[dict[str, type[Struct]]] = {
    "names": table_of(
        "FileNames",
        {
            **{"baseline_system": str, "set": _Constants, "columns": dict[str, str]},
            **{"guessed": str, "corrected": dict[str, str], "confirmed": bool},
            "format": Literal["trace"],
        },
        required={"pattern": str, "workload": str, "system": str},
    ),
    "tables": table_of(
        "TableOfRuns",
        {
            **dict.fromkeys(
                (
                    "pattern", "header", "workload", "system", "refuse", "replicates", "unpivot",
                    "guessed", "last_of",
                ),
                str,
            ),
            **{"set": _Constants, "columns": _Columns | list[str], "aggregate": Aggregate},
            **{"factors": bool, "confirmed": bool},
            **dict.fromkeys(("skip", "split", "totals", "whole", "corrected"), dict[str, str]),
            **dict.fromkeys(("products", "differences"), dict[str, list[str]]),
            "pivot": tuple[str, str],
            "parts": list[str],
        },
    ),
    "meters": TableOfMeter,
    "logs": table_of(
        "TextLog",
        {
            **dict.fromkeys(("name", "pattern", "begin", "output", "workload"), str),
            **dict.fromkeys(("marks", "find", "totals"), list[str]),
            **{"columns": _Columns, "histogram": LogHistogramRows},
        },
    ),
}  # fmt: skip
SECTIONS: Final = {**_SECTIONS, **_NAMED, **_LISTED}
NAMED_SECTIONS: Final = tuple(_NAMED)
LISTED_SECTIONS: Final = tuple(_LISTED)
SettingsFile: Final = table_of(
    "SettingsFile",
    {
        **_SECTIONS,
        **{name: GenericAlias(dict, (str, kind)) for name, kind in _NAMED.items()},
        **{name: GenericAlias(list, (kind,)) for name, kind in _LISTED.items()},
    },
)


def is_dataset_name(name: str) -> bool:
    """Return whether a name can be a folder of the lake: not empty, no slash, no leading dot."""
    return re.search(DATASET_NAME, name) is not None


def read_layer(path: Path) -> dict[str, Any]:
    """Read one settings file and check every key and value in it.

    Raises:
        SettingsError: As `load_settings` says.
    """
    layer = read_toml(path, SettingsFile)
    for section in LISTED_SECTIONS:
        for entry in layer.get(section, ()):
            entry["path"] = str(path)
    return layer


def settings_schema() -> dict[str, Any]:
    """Return the JSON schema of settings files, by which editors complete and check them."""
    draft = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": draft, "title": "wattlas.toml", **msgspec.json.schema(SettingsFile)}

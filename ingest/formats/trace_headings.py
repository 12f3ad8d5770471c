"""What the columns of a trace are: times, powers, energies, shares, frequencies, devices."""

import re
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from data.declared import Column
from ingest.settings import headings
from ingest.settings.column_names import DOMAINS, MACHINE_PARTS, READINGS, WORDS, clean_name

Quantity = Literal[
    "time", "date", "delta", "power", "energy", "voltage", "current", "busy", "frequency",
    "device", "",
]  # fmt: skip
Domain = Literal["total", "package", "memory", "gpu", "inside", ""]

# How many W, J, V, A, MHz, percent or seconds the base unit of a quantity is here.
_FACTORS: Final[dict[Quantity, float]] = {
    **{"energy": 1.0, "power": 1.0, "voltage": 1.0, "current": 1.0},
    **{"frequency": 1e-6, "busy": 1.0, "time": 1.0},
}
_NO_POWER: Final = READINGS["voltage"] | READINGS["current"] | {"volt", "amp"}
_NAMES: Final = frozenset().union(*READINGS.values())
# What was set or is possible, a property, or a part of a duration; no reading.
_NO_READING: Final = WORDS["no_readings"]
_DAYS: Final = frozenset({"date", "datum", "fecha"})
_OTHER_TONGUES: Final = _DAYS | {"uhrzeit", "zeitstempel", "temps", "heure", "hora"}
_TIME_HEADS: Final = WORDS["time_heads"] | _OTHER_TONGUES
_TIMES: Final = _TIME_HEADS | WORDS["beside_times"]
_PROCESSOR: Final = frozenset({"cpu", "gpu", "processor", "sys", "user"})
_DEVICES: Final = WORDS["devices"]
_STATISTICS: Final = WORDS["read_as"]
# How the rails of Jetson boards begin.
_BOARDS: Final = (["vdd"], ["pom"])
# What a program achieved over each step, beside rates of items.
_RESULTS: Final = WORDS["achieved"]
_IN_BRACKETS: Final = re.compile(r"[(\[]\s*([^)\]]{1,14}?)\s*[)\]]")
# Of what a trace is, in its name: `exp0_gpu_power.csv`.
OF_TRACES: Final = WORDS["measures"].union(
    {"trace", "samples", "gpu", "cpu", "monitor", "smi", "nvidia"}
)
# What of a machine a word says that a power is of.
_PARTS: Final = {word: part for part, of in MACHINE_PARTS.items() for word in of}
# A column of one of several like things, such as `CPU_USAGE_3`.
_NUMBERED: Final = re.compile(r"(.*?\D)[\W_]*(\d{1,4})(\D*)")


class Heading(NamedTuple):
    """What a heading says.

    Attributes:
        quantity: Empty for others.
        scale: Factor to W, J, MHz, percent or seconds.
        has_unit: Whether the heading says the unit.
        domain: Of powers and energies: what of the machine; empty where it is not said.
    """

    quantity: Quantity
    scale: float = 1.0
    has_unit: bool = False
    domain: Domain = ""


# By the name of a domain of RAPL its power.
RAPL: Final = {
    "psys": Heading("power", 1.0, False, "total"),
    "pkg": Heading("power", 1.0, False, "package"),
    "core": Heading("power", 1.0, False, "inside"),
    "uncore": Heading("power", 1.0, False, "inside"),
    "dram": Heading("power", 1.0, False, "memory"),
}


def read_heading(text: str, unit: str = "") -> Heading:
    """Read a heading.

    Args:
        unit: The unit in the column's cells; empty for none.
    """
    tokens = words_of(text)
    stated = _unit_of(text, unit)
    is_rail = tokens[:1] in _BOARDS or tokens[:2] == ["vin", "sys"]
    if is_rail and stated is None and _NO_POWER.isdisjoint(tokens):  # Of Jetson boards, mW.
        return Heading("power", 1e-3, True, _domain(tokens))
    # DCGM's total energy consumption, mJ: `TOTEC`, `DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION`.
    if tokens == ["totec"] or (stated is None and {"dcgm", "energy"} <= {*tokens}):
        return Heading("energy", 1e-3, True, "gpu")
    # Of a document only the innermost name is of the cell: `host.timestamp`.
    inner = words_of(text.rpartition(".")[2]) if stated is None else tokens
    if inner and set(inner) <= _TIMES and _TIME_HEADS.intersection(inner):
        tokens = inner
    if tokens and set(tokens) <= _TIMES and _TIME_HEADS.intersection(tokens):
        quantity: Quantity = "date" if {*tokens} <= _DAYS else "time"
        known = filter(None, (stated, *map(headings.unit_of, reversed(tokens))))
        return _with_unit(quantity, next((each for each in known if each.quantity == "time"), None))
    if tokens in (["delta"], ["interval"], ["dt"]):
        return _with_unit("delta", stated if stated and stated.quantity == "time" else None)
    if _NO_READING.intersection(tokens):
        return Heading("")
    own = {"percent": "busy"}.get(stated.quantity, stated.quantity) if stated else ""
    is_processor = not _PROCESSOR.isdisjoint(tokens)
    for quantity in ("energy", "power", "frequency", "busy", "voltage", "current"):
        names = READINGS[quantity].intersection(tokens)
        is_named = bool(names) or is_processor if quantity == "busy" else True
        if (own == quantity and is_named) or (names and stated is None):
            return _with_unit(quantity, stated, _domain(tokens))
    if tokens and set(tokens) <= _DEVICES:
        return Heading("device")
    return Heading("")


def _unit_of(text: str, in_cells: str) -> headings.Unit | None:
    """Return the unit of a column: in its cells, in brackets, or the last of several words.

    A heading of one word that is a unit says it too: `W`.
    """
    match = _IN_BRACKETS.search(text)
    # `5V0` is the name of a rail.
    bare = re.sub(r"\dV\d", "", _IN_BRACKETS.sub(" ", text)).strip()
    if stated := in_cells or (match[1] if match else ""):
        return headings.unit_of(stated, in_brackets=True) or headings.Unit(stated)
    if re.fullmatch(r"[munk]?[JWVA]", bare):
        return headings.unit_of(bare)
    last = re.split(r"[^A-Za-z%]+", bare)[-1]
    is_last = len(words_of(text)) > 1 and last.lower() not in _NAMES
    return headings.read_heading(bare).unit if is_last else None


def _with_unit(quantity: Quantity, unit: headings.Unit | None, domain: Domain = "") -> Heading:
    factor = _FACTORS.get(quantity, 1.0)
    return Heading(quantity, float(f"{factor * unit.scale:.12g}") if unit else 1.0,
                   unit is not None, domain)  # fmt: skip


def _domain(tokens: Sequence[str]) -> Domain:
    if tokens[:1] in _BOARDS:
        # `VDD_IN` is all that the board takes, `VDD_CPU_GPU_CV` a rail of several parts.
        return "total" if tokens[-2:].count("in") else ""
    for domain in ("total", "inside", "memory", "package", "gpu"):
        if not DOMAINS[domain].isdisjoint(tokens):
            return domain
    return "total" if set(tokens) <= {"watts", "power", "w"} else ""


def power_of(text: str) -> Heading:
    """Return the power, without a unit, of what of a machine a heading names."""
    return Heading("power", domain=_domain(words_of(text)))


def part_in(path: str) -> str:
    """Return of which part of a machine a path says to be: `cpu`, `gpu`, `dram` or `total`, by the
    last of its names that says one; empty for none.
    """
    for name in reversed(path.split("/")):
        parts = {_PARTS[word] for word in headings.words_of(name) if word in _PARTS}
        if len(parts) == 1:
            return parts.pop()
    return ""


def energy_columns(paths: Sequence[str], parts: Sequence[str]) -> list[str]:
    """Return the columns of the energies of the traces of one run: `energy_j` of a single one, and
    of the whole machine; else that of its part, if no other is of it, or of its name.

    Args:
        parts: Of each trace, as its headings say it; empty where they do not.
    """
    if len(paths) == 1:
        return ["energy_j"]
    said = [part_in(p.rpartition("/")[2]) or own or part_in(p)
            for p, own in zip(paths, parts, strict=True)]  # fmt: skip
    names = list[str]()
    for path, part in zip(paths, said, strict=True):
        is_told = bool(part) and said.count(part) == 1
        stem = clean_name(path.rpartition("/")[2].partition(".")[0], "real")
        own = f"{part if is_told else stem}_energy_j"
        own = "energy_j" if is_told and part == "total" else own
        names.append(own if own not in names else f"{own.removesuffix('_j')}_{len(names)}_j")
    return names


def energy_column(name: str) -> Column:
    """Return the declaration of the energy of a part of the machine."""
    title = f"Energy, {name.removesuffix('_energy_j').replace('_', ' ')}"
    return Column(name, "metric", "real", title, title, "J", "less")


def result_column(text: str) -> Column | None:
    """Return the declaration of the mean of what a program achieved: `fps`, `latency_ms`,
    `requests/s`; None for other headings.
    """
    heading = headings.read_heading(text)
    unit = heading.unit.text if heading.unit is not None else ""
    is_rate = unit.endswith("/s") and unit.removesuffix("/s") in headings.ITEMS
    if not is_rate and not heading.has(*_RESULTS):
        return None
    title = headings.without_unit(text)
    better: Literal["less", "more"] = "less" if heading.has("latency") else "more"
    return Column(clean_name(text, "real"), "metric", "real", title, title, unit, better)


def kernel_of(text: str) -> tuple[str, ...]:
    """Return the words of a heading without those of statistics: equal for one quantity."""
    return tuple(word for word in words_of(text) if word not in _STATISTICS)


def words_of(text: str) -> list[str]:
    """Return the words of a heading in small letters, without numbers and what is in brackets."""
    words = headings.words_of(_IN_BRACKETS.sub(" ", text))
    return [bare for word in words if (bare := word.strip("0123456789."))]


def numbered(heading: str) -> tuple[str, int] | None:
    """Return the name and the number of a column of one of several like things; None for others."""
    found = _NUMBERED.fullmatch(heading)
    return (f"{found[1]}{found[3]}".strip(" _-:."), int(found[2])) if found else None

"""What headings say of columns: set or measured, which direction is better, names of machines.

Beside each other they say more than alone: domains of RAPL, minutes, one metric.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final, Literal

import numpy as np

from ingest.formats.json_cells import Cell
from ingest.settings.column_names import VALUES, WORDS
from ingest.settings.heading_words import words_of
from ingest.settings.headings import Heading, is_of_work, quantity_of, read_heading, unit_of

Better = Literal["less", "more"]
MEASURED: Final = WORDS["less"] | WORDS["more"] | WORDS["measured"]
# Domains of RAPL; of the first alone that is not certain.
_ONLY_DOMAINS: Final = frozenset({"package", "pkg", "dram", "uncore", "psys"})
DOMAINS: Final = _ONLY_DOMAINS | {"cpu", "core", "cores", "gpu", "ram"}
# Names of domains that say the same.
_SAME_DOMAINS: Final = {"cpu": "package", "ram": "dram"}
# Of these nobody states the least.
_OF_WHOLE: Final = ("total", "elapsed", "wall", "train", "training")
_FEWEST: Final = 2
# The power of one machine, W.
MACHINE_W: Final = (1.0, 10_000.0)
# What letters alone may stand for, in so many rows, if they make the power of a machine, W, that
# differs by such a factor at most, while the times differ by more.
_SYMBOLS: Final = {"e": "energy", "t": "time"}
_FEWEST_SYMBOLS: Final = 6
_STEADY: Final = 3.0
# So far the logarithms of an energy and a time of the same work go together.
_TOGETHER: Final = 0.8
# The words of a summand whose own words are those of a deviation.
SUMMAND: Final = ("summand",)
# What adds up; sums of so many columns are looked for, which were rounded by so much.
_ADDED: Final = frozenset({"energy", "power", "time"})
_MOST_ADDED: Final = 12
_ROUNDED: Final = 1e-4
# Fields of SLURM's `sacct`, and the units of some.
_OF_ACCOUNTS: Final = WORDS["accounts"]
_ONLY_OF_ACCOUNTS: Final = frozenset({"consumedenergy", "consumedenergyraw", "elapsedraw"})
_ACCOUNTED: Final = {
    **dict.fromkeys(("elapsed", "elapsedraw", "systemcpu", "usercpu", "totalcpu"), "s"),
    **dict.fromkeys(("consumedenergy", "consumedenergyraw"), "J"),
}
_FEWEST_FIELDS: Final = 3
# What else names of stages of a run have: `load_model`.
_BESIDE_STAGES: Final = WORDS["beside_stages"]
STAGES: Final = {word for name in VALUES["phase"] for word in words_of(name)} - _BESIDE_STAGES
PERCENTILE: Final = r"p\d+(\.\d+)?|\d\dth"
# Statistics that a domain may have; those of spreads may be in percent of it.
_OF_DOMAINS: Final = {*WORDS["middles"], "min", "max", "total", "sum"}
_STATISTIC: Final = rf"{PERCENTILE}|{'|'.join(WORDS['middles'])}|min|max"
# Last words of how many there are of something; of a cost less is better, of its samples not.
_NUMBERS: Final = (("count",), ("levels",), ("samples",), ("readings",))
_OF_COSTS: Final = ("energy", "joules", "power", "watts", "time", "latency", "duration")
# How often a meter was read: no rate of work.
_SAMPLED: Final = ("sample", "samples", "sampling")
# What is better if there is more of it, of whatever it is.
SAVINGS: Final = ("saving", "savings", "saved", "reduction", "improvement", "gain")


def is_measured(heading: Heading, quantity: str) -> bool | None:
    """Return whether the heading says that its column was measured; None if it says nothing."""
    words = [word for word in heading.words if word not in WORDS["plain"] | WORDS["statistics"]]
    last = words[-1] if words else ""
    if last in WORDS["properties"] and not heading.has("per"):
        return False
    if heading.has(*WORDS["limits"]):
        return last in WORDS["compliance"] | WORDS["spent"]
    if heading.has("battery", *WORDS["middles"], *WORDS["spreads"]):
        return True
    if quantity in ("energy", "power", "temperature", "voltage", "current", "charge", "rate"):
        return True
    if quantity in ("price", "emissions"):
        return True
    if (quantity == "bytes" or heading.has("bytes", "disk")) and heading.has(*WORDS["moved"]):
        return True
    if last == "ratio" and {*words} & {"performance", "power", "energy", "hit", "miss"}:
        return True
    if last == "load" and heading.unit is not None and heading.has(*WORDS["parts"]):
        # Of a processor in percent; whole numbers in even steps were offered.
        return True
    if last in WORDS["set"] and last not in ("count", "number"):
        return False
    if last == "rate" and WORDS["set"] & set(words):
        return False
    if last in MEASURED or quantity == "time":
        return not heading.has("timeout", "interval", "period", "setting", "target")
    if MEASURED & set(words):
        return True
    return False if WORDS["set"] & set(words) else None


def direction_of(heading: Heading, quantity: str) -> Better | None:
    """Return whether less or more of what was measured is better; None if nothing says it."""
    unit = heading.unit
    is_simulated = unit is None and heading.has(*WORDS["simulated"])
    if is_simulated or heading.has("remaining", "gap", "sampling", *WORDS["spreads"]):
        return None
    if not quantity and heading.words[-1:] in _NUMBERS and heading.has(*_OF_COSTS):
        # More samples of an energy are no more energy.
        return None
    if heading.words[-2:] == ("frame", "rate") or heading.has(*SAVINGS):
        return "more"
    if quantity == "price" or (unit is not None and unit.quantity in ("energy", "price", "time")):
        # A cost is one whatever the name of its group says: `efficiency.energy_per_work_j`.
        return "less"
    if heading.has(*_SAMPLED) and (quantity == "frequency" or heading.has("hz")):
        return None
    is_rate = unit is not None and unit.quantity == "rate" and unit.text != "rpm"
    if is_rate or (heading.has(*WORDS["more"]) and not _ends_with_a_cost(heading)):
        is_done = unit is None or not is_rate or heading.has(*WORDS["more"]) or is_of_work(unit)
        is_caused = is_rate and heading.has(*WORDS["caused"])
        is_lost = heading.has(*WORDS["lost"])
        return "less" if is_lost else "more" if is_done and not is_caused else None
    is_cost = quantity in ("energy", "power", "time", "price", "emissions")
    if is_cost or heading.has(*WORDS["less"]):
        return None if heading.has("usage") and not quantity else "less"
    return None


def _ends_with_a_cost(heading: Heading) -> bool:
    """Return whether the last part of a dotted name is of a cost alone: `efficiency.edp`."""
    own = {*words_of(heading.text.rpartition(".")[2])} if "." in heading.text else set[str]()
    return not own.isdisjoint(WORDS["less"]) and own.isdisjoint(WORDS["more"])


def is_spread(heading: Heading) -> bool:
    """Whether a column holds deviations or extremes of another quantity."""
    return heading.has(*WORDS["statistics"], "error", "uncertainty")


def names_machines(heading: Heading) -> bool:
    """Return whether a heading is of names of machines."""
    words = [word for word in heading.words if word not in ("id", "name")]
    return bool(words) and words[-1] in WORDS["machines"]


def is_counted(heading: Heading) -> bool:
    """Return whether a heading is of something that is counted in whole."""
    return heading.words[-1:] == ("tokens",) or heading.words[-2:] == ("batch", "size")


def names_a_setting(heading: Heading) -> bool:
    """Return whether the last word says what is set; the number of something may be a result."""
    return heading.words[-1] in (WORDS["set"] | {"rate"}) - {"count", "number", "n", "num"}


def read_together(headings: Sequence[Heading], columns: Sequence[Sequence[Cell]]) -> list[Heading]:
    """Return the headings of a table with the words and units that those beside them give.

    Args:
        columns: The cells of each column.
    """
    named = _named_by_others(headings, columns)
    # `J` beside `I` and `K` is the side of a matrix, and no joules.
    if {"I", "J", "K"} <= {heading.text for heading in named}:
        named = [replace(each, unit=None) if each.text == "J" else each for each in named]
    # `std` beside no mean is a standard of a language.
    if not any(heading.has(*WORDS["middles"]) for heading in named):
        named = [replace(h, words=("standard",)) if h.words == ("std",) else h for h in named]
    named = _with_symbols(_with_totals(named, columns), columns)
    named = _with_consumption(named, columns)
    named = _with_latencies(_with_minutes(_with_accounts(_with_domains(named), columns)))
    return _with_medians(named)


def _with_totals(headings: list[Heading], columns: Sequence[Sequence[Cell]]) -> list[Heading]:
    """Read a column without a unit that is the sum of columns of one unit in every row as theirs.

    A summand is a part, whatever its word: `SD` beside `CPU` and `RAM` is no deviation.
    """
    named = [*headings]
    units = dict.fromkeys(h.unit for h in headings if h.unit and h.unit.quantity in _ADDED)
    numbers = {at: _numbers_of(columns[at]) for at, h in enumerate(headings) if not h.unit}
    sums = {at: each for at, each in numbers.items() if len({*each}) > _FEWEST}
    for unit in units if sums else ():
        summands = [at for at, heading in enumerate(headings) if heading.unit == unit]
        of = {at: _numbers_of(columns[at]) for at in summands}
        # All of them, or some that stand together.
        some = ([*summands[i:j]] for i in range(len(of)) for j in range(i + 2, len(of) + 1))
        for parts in sorted(some, key=len, reverse=True) if len(of) <= _MOST_ADDED else [summands]:
            whole = next((at for at, n in sums.items() if _is_sum(n, [of[p] for p in parts])), None)
            if whole is not None:
                words = named[whole].words
                is_named = quantity_of(named[whole]) == unit.quantity or {*words} & {*_OF_WHOLE}
                words = words if is_named else ("total", *words)
                named[whole] = replace(named[whole], words=words, unit=unit)
                for at in (at for at in parts if is_spread(named[at])):
                    named[at] = replace(named[at], words=SUMMAND)
                break
    return named


def _with_symbols(headings: list[Heading], columns: Sequence[Sequence[Cell]]) -> list[Heading]:
    """Read `E` and `t` as energy and time where nothing else is one, and `E / t` as a power.

    They are fractions, and in all rows but few their power is near; the unit is doubted later.
    """
    at = {h.words[0]: n for n, h in enumerate(headings) if h.text.lower() in _SYMBOLS}
    quantities = {quantity_of(heading) for heading in headings}
    if at.keys() != _SYMBOLS.keys() or not quantities.isdisjoint(_ADDED):
        return headings
    energies, times = (_numbers_of(columns[at[symbol]]) for symbol in _SYMBOLS)
    is_set = len(times) == len(energies) >= _FEWEST_SYMBOLS
    if not is_set or min(times.min(), energies.min()) <= 0:
        return headings
    low, middle, high = np.percentile(energies / times, (5, 50, 95))
    are_fractions = bool(np.any(times % 1)) and bool(np.any(energies % 1))
    is_power = MACHINE_W[0] <= middle <= MACHINE_W[1] and high <= _STEADY * low
    if not (are_fractions and is_power and times.max() > _STEADY * times.min()):
        return headings
    return [
        replace(heading, words=(_SYMBOLS[heading.words[0]],)) if n in at.values() else heading
        for n, heading in enumerate(headings)
    ]


def _with_consumption(headings: list[Heading], columns: Sequence[Sequence[Cell]]) -> list[Heading]:
    """Read a consumption, of which no word says what, as energy where it goes with the only time.

    A power hardly grows with the time; the unit is doubted later.
    """
    plain = WORDS["plain"].union(WORDS["middles"])
    used = [n for n, h in enumerate(headings) if {*h.words} - plain == {"consumption"}]
    times = [n for n, h in enumerate(headings) if {*h.words} - plain == {"time"}]
    if len(used) != 1 or len(times) != 1 or "energy" in map(quantity_of, headings):
        return headings
    of_energy, of_time = (_numbers_of(columns[n]) for n in (*used, *times))
    is_set = headings[used[0]].unit is None and len(of_time) == len(of_energy) >= _FEWEST_SYMBOLS
    if not is_set or min(of_time.min(), of_energy.min()) <= 0 or np.ptp(of_time) == 0:
        return headings
    if not np.corrcoef(np.log(of_energy), np.log(of_time))[0, 1] > _TOGETHER:
        return headings
    of_runs = plain | WORDS["spreads"]
    return [
        replace(h, words=(*h.words, "energy")) if {*h.words} - of_runs == {"consumption"} else h
        for h in headings
    ]


def _numbers_of(cells: Sequence[Cell]) -> np.ndarray:
    """Return the numbers of a column; empty if a cell has none."""
    try:
        return np.array([float(cell) for cell in cells])  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return np.empty(0)


def _is_sum(whole: np.ndarray, parts: Sequence[np.ndarray]) -> bool:
    """Return whether numbers are sums, none of one part alone, but for what they are rounded by."""
    if any(len(part) != len(whole) for part in parts):
        return False
    are_parts = all(np.any(part > 0) for part in parts) and all(np.all(p >= 0) for p in parts)
    return are_parts and bool(np.allclose(whole, np.sum(parts, axis=0), rtol=_ROUNDED, atol=0))


def _with_medians(headings: Sequence[Heading]) -> list[Heading]:
    """Read `Energy median` as the energy where no mean, nor an energy without a statistic, is.

    That of a latency is one of its percentiles.
    """
    plain = [each for each in headings if not is_spread(each) or each.has(*WORDS["means"])]
    middles = WORDS["middles"]
    known = {frozenset(each.words) - middles for each in plain} | {frozenset[str]()}
    return [
        replace(each, words=tuple(word for word in each.words if word != "median"))
        if each.has("median")
        and not each.has(*WORDS["latencies"], *WORDS["moments"])
        and frozenset(each.words) - middles not in known
        else each
        for each in headings
    ]


def _named_by_others(
    headings: Sequence[Heading], columns: Sequence[Sequence[Cell]]
) -> list[Heading]:
    """Read `Score` as what all cells of `Score Metric` say: `Energy (J)`."""
    named = {}
    for heading, cells in zip(headings, columns, strict=True):
        texts = {str(cell).strip() for cell in cells if cell not in (None, "")}
        if len(texts) == 1 and heading.words[-1:] in (("metric",), ("unit",), ("units",)):
            named[heading.words[:-1]] = heading.words[-1], texts.pop()
    return [
        _named_by(heading, *named[stem])
        if (stem := heading.words[: -1 if heading.words[-1:] == ("value",) else None]) in named
        and not heading.unit
        else heading
        for heading in headings
    ]


def _named_by(heading: Heading, word: str, text: str) -> Heading:
    """Return a heading with what another column says of it: its metric, or its unit."""
    if word != "metric" and (unit := unit_of(text)) is not None:
        return replace(heading, unit=unit)
    other = read_heading(text)
    return replace(heading, words=other.words or heading.words, unit=other.unit)


def _with_domains(headings: Sequence[Heading]) -> list[Heading]:
    """Read `CORE` and `CPU` beside `DRAM` and `PSYS` as energies of RAPL, `cores_mean` as `cores`.

    So is `CPU energy (J)` beside `DRAM energy (J)` and `PSYS energy (J)` that of the package. `ram`
    beside `dram` is none.
    """
    named = [
        tuple(w for w in h.words if w not in _OF_DOMAINS and (w != "energy" or not h.unit))
        for h in headings
    ]
    is_energy = [h.unit is None or h.unit.quantity == "energy" for h in headings]
    bare = [w[0] if ok and len(w) == 1 else "" for w, ok in zip(named, is_energy, strict=True)]
    if len({*bare} & _ONLY_DOMAINS) < _FEWEST:
        return [*headings]
    is_package = "cpu" in bare and {*bare}.isdisjoint(("package", "pkg"))
    known = DOMAINS - ({"ram"} if "dram" in bare else frozenset())
    return [
        replace(heading, words=("rapl", _SAME_DOMAINS.get(word, word), "energy", *ends))
        if word in known and (heading.unit is None or (word == "cpu" and is_package))
        else heading
        for heading, word in zip(headings, bare, strict=True)
        for ends in [tuple(end for end in heading.words if end in _OF_DOMAINS)]
    ]


def _with_accounts(headings: Sequence[Heading], columns: Sequence[Sequence[Cell]]) -> list[Heading]:
    """Read fields of SLURM's accounts, which several of them tell, or `ElapsedRaw`, as s and J.

    Fractions below `ConsumedEnergy` may have lost a letter: `4.2M`.
    """
    fields = {heading.text.lower() for heading in headings}
    is_told = len(fields & (_OF_ACCOUNTS | _ACCOUNTED.keys())) >= _FEWEST_FIELDS
    if not (is_told and fields & _OF_ACCOUNTS) and fields.isdisjoint(_ONLY_OF_ACCOUNTS):
        return [*headings]
    return [
        replace(heading, unit=unit_of(_ACCOUNTED[name]))
        if (name := heading.text.lower()) in _ACCOUNTED
        and heading.unit is None
        and not (name == "consumedenergy" and np.any(_numbers_of(cells) % 1))
        else heading
        for heading, cells in zip(headings, columns, strict=True)
    ]


def _with_latencies(headings: Sequence[Heading]) -> list[Heading]:
    """Read `mean_ns` and `max_ns` beside `p50_ns` as of the same times: latencies."""
    units = {
        heading.unit for heading in headings
        if heading.unit and heading.unit.quantity == "time" and is_statistic(heading, PERCENTILE)
    }  # fmt: skip
    return [
        replace(each, words=("latency", *each.words))
        if each.unit in units and is_statistic(each)
        else each
        for each in headings
    ]


def is_statistic(heading: Heading, form: str = _STATISTIC) -> bool:
    """Return whether a heading is the name of a statistic alone: `p99`, `max`."""
    return len(heading.words) == 1 and re.fullmatch(form, heading.words[0]) is not None


def _with_minutes(headings: Sequence[Heading]) -> list[Heading]:
    """Read `duration_min` and `total_time_min` as minutes, if no other statistic stands beside.

    `time_min` and `runtime_min` may be the least time of several.
    """
    stems = Counter(heading.words[:-1] for heading in headings)
    return [
        replace(heading, words=heading.words[:-1], unit=unit_of("mins"))
        if heading.words[-1:] == ("min",) and stems[heading.words[:-1]] == 1
        and heading.unit is None and quantity_of(heading) == "time"
        and (heading.words[-2] == "duration" or heading.has(*_OF_WHOLE))
        else heading
        for heading in headings
    ]  # fmt: skip


def are_domains(names: Iterable[str]) -> bool:
    """Return whether all texts are domains of RAPL, of which one run has several: `package-0`."""
    of = [{word for word in words_of(name) if word.isalpha()} for name in names]
    are_known = all(each and each <= DOMAINS for each in of)
    return are_known and len(_ONLY_DOMAINS.intersection(chain(*of))) >= _FEWEST


def are_stages(names: Iterable[str]) -> bool:
    """Return whether most of several texts name what each run goes through: `prefill`, `decode`."""
    of = [{*words_of(name)} for name in names]
    known = sum(bool(words & STAGES) and words <= STAGES | _BESIDE_STAGES for words in of)
    return len(of) > 1 and 2 * known > len(of)

"""What the heading of a column says: its words, its unit and the quantity of that unit.

`Energy (J)`, `energy_usage_J`, `avg_power_watts` and `PowerLimit[mW]` say their unit in brackets or
with their last words. All readers and proposals take units from here.
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile
from typing import Final

from ingest.settings.column_names import WORDS
from ingest.settings.heading_words import raw_words, words_of
from ingest.settings.units import RATES, Quantity, Unit, unit_of

# As a last word these are seldom a unit.
_NEVER_LAST: Final = frozenset({"A", "C", "B", "degrees", "micros", "perc"})
# Minutes behind words of a time: `Range (m)` are metres, `Power (min)` is the least.
_MINUTES: Final = frozenset({"m", "min", "Min", "MIN"})
# What is counted a second: `ops_s`, `tokens_s`.
ITEMS: Final = WORDS["items"]
# Behind an energy what it is of: `pJ_bit`, `mJ_inference`.
_ONE: Final = frozenset({"bit", "byte", "op", "flop", "mac", "token", "inference", "query"})
# Nobody writes seconds of these: `kops_s`, `Mreq_s`.
_THOUSANDS: Final = re.compile(
    "(?i)[kmg](?:ops?|reqs?|requests|tokens|queries|msgs|txn|pkts|rows?)"
)
# What else is done or moved in a second, with a prefix or without: `Mops`, `GFLOP`.
_DONE: Final = re.compile(
    rf"(?i)[kmgtp]?(?:{'|'.join(ITEMS)}|token|query|image|frame|inference|row|record|event|job|task"
    r"|step|page|item|edge|cell|point|update|call|sentence|word|key|hash|lookup|insert|batch|epoch"
    r"|sequence|file|test|order|instruction|read|write|mac|b(?:it|yte|ps)|flop|1)(?:e?s)?|queries|batches"
)
# Behind numbers of items.
_AMOUNTS: Final = frozenset({"k", "m", "thousand", "million"})
# The amount of work that a quantity was scaled to, amid other words: `time_for_1m_tokens_h`.
_SCALED_TO: Final = re.compile(
    r"(?i)[ _./-]+(?:for[ _-]*)?(1(?:000)*)[ _-]?(k|m|thousand|million)?[ _-]*"
    rf"({'|'.join(sorted(ITEMS, key=len, reverse=True))}|token|image|request)(?![A-Za-z])"
)
_WATTS: Final = frozenset({"watt", "w", "kilowatt", "milliwatt", "watts"})
# Quantities whose units make products, as of an energy and a delay.
_FACTORS: Final = frozenset({"energy", "power", "time"})
# Last words of what has the unit of no quantity named before them: `Energy Samples`.
_OF_NO_QUANTITY: Final = frozenset(
    {
        "efficiency", "ratio", "rate", "savings", "state", "mode", "plan", "samples", "readings",
        "count", "n", "levels", "price", "tariff", "rank", "ranking", *WORDS["properties"],
    }
)  # fmt: skip
# Behind a quantity, how many of it there are: `energy_j_count`.
NUMBERS: Final = frozenset({"count", "n"})
# Behind a clock that was set: `freq_cap`.
_OF_CLOCKS: Final = WORDS["of_clocks"]
_TIMES: Final = WORDS["times"]
# Energies by the name of their domain, or of the plug-in that estimates them on Android.
_METERS_ALONE: Final = frozenset({"package", "pkg", "dram", "uncore", "psys", "batterystats"})
_VALUE: Final = re.compile(r"(?<![A-Za-z0-9.])\d+(?:(?:\.\d+)?[A-Za-z]+|[Vv]\d+)$")
# `(1000 J)` is no unit.
_AMOUNT: Final = re.compile(r"[\d.,]+\s*\D+")
_BRACKETS: Final = re.compile(r"^(.*?)\s*[(\[{]\s*([^()\[\]{}]+?)\s*[)\]}]\s*$")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading as it is written, its words in small letters, and its unit.

    Attributes:
        words: Without those of the unit.
        unit: None if the heading says none.
    """

    text: str
    words: tuple[str, ...]
    unit: Unit | None

    @property
    def scale(self) -> float:
        """How many of the base unit its unit is; 1 without one."""
        return self.unit.scale if self.unit else 1.0

    def has(self, *words: str) -> bool:
        """Return whether any of these words is in it."""
        return any(word in self.words for word in words)


def counted_by_s(heading: Heading) -> str:
    """Return what `iter_s` counts a second, if it is no time of one; empty for other headings."""
    raw = [word.lower() for word in raw_words(heading.text)[-2:]]
    is_plain = "per" not in heading.words[1:] and not _BRACKETS.match(heading.text) and len(raw) > 1
    is_counted = is_plain and "/" not in heading.text and raw[1] in ("s", "sec") and raw[0] in ITEMS
    return raw[0] if is_counted and heading.unit and heading.unit.quantity == "rate" else ""


# `95%`, `99% Line`
_PERCENTILE: Final = re.compile(r"(?i)(\d{1,3}(?:\.\d+)?)%(?: ?line| ?ile)?")
_STATISTIC: Final = re.compile(
    r"(?i)mean|avg|average|median|std|stdev|stddev|sd|min|max|sum|total|actual|measured|sustained|"
    r"achieved|p\d\d+"
)


@lru_cache(maxsize=4096)
def read_heading(text: str, cell_unit: str = "") -> Heading:
    """Split a heading into words and unit.

    Args:
        cell_unit: The unit that follows the number in each cell; empty for none.
    """
    in_cells = unit_of(cell_unit, in_brackets=True) if cell_unit else None
    if percent := _PERCENTILE.fullmatch(text):
        return Heading(text, ("max" if percent[1] == "100" else f"p{percent[1]}",), in_cells)
    if (scaled := _SCALED_TO.search(text)) and (unit := _scaled_to(text, scaled)):
        return Heading(text, words_of(text), unit)
    if bracket := _BRACKETS.match(text):
        before = words_of(bracket[1])
        unit = in_cells or _unit_in_brackets(bracket[2], before)
        is_time = bool({*before[-1:]} & WORDS["less"])
        is_counted = bool(before) and f"{before[-1]}s" in WORDS["set"] | WORDS["parts"]
        if bracket[2] == "s" and is_counted and not is_time:
            # A plural: `Core(s)`.
            return Heading(text, before, in_cells)
        if unit is not None:
            item = _item_of(bracket[1]) if unit.quantity in ("energy", "time") else ""
            unit = Unit(f"{unit.text}/{item}", "price") if item else unit
            return Heading(text, before or words_of(bracket[2]), unit)
        if _AMOUNT.fullmatch(bracket[2]) or _ends_with_a_unit(bracket[2]):
            return Heading(text, before, in_cells)
    lower_words = words_of(text)
    if in_cells is not None and lower_words[1:] and unit_of(lower_words[-1]) == in_cells:
        # `latency_ms` of `2.5 ms` says it twice.
        return Heading(text, lower_words[:-1], in_cells)
    if in_cells is not None or (lower_words[1:] and lower_words[-1] in NUMBERS):
        return Heading(text, lower_words, in_cells)
    # `per` begins a cost of an item or a rate: `energy_per_token_j`, `tokens_per_second`.
    if "per" in lower_words[:-1]:
        return Heading(text, lower_words, _per(lower_words))
    if "/" in text:
        above, _, below = text.rpartition("/")
        under = unit_of(below.strip())
        named = Heading(text, words_of(above), under)
        if under is not None and under.quantity == quantity_of(replace(named, unit=None)) != "":
            # `power/W` is a power, in W.
            return named
        if (unit := unit_of(text)) is not None:
            return Heading(text, lower_words, unit)
        if (
            lower_words[1:]
            and unit_of(lower_words[-2])
            and below.isalpha()
            and (unit := _per((*lower_words[:-1], "per", below)))
        ):
            # `energy_mj/image`
            return Heading(text, lower_words, unit)
    raw = raw_words(text)
    # Hours behind a word of a time: `makespan_h`.
    if len(raw) > 1 and raw[-1] in ("h", "hr"):
        inner = Heading(text, lower_words[:-1], None)
        if quantity_of(inner) == "time":
            return replace(inner, unit=unit_of("hours"))
    # A statistic may follow the unit, if that is of what the words before it say: `time_ms_mean`.
    if len(raw) > 2 and _STATISTIC.fullmatch(raw[-1]):
        rate = _last_unit(raw[-3:-1])
        if rate is not None and rate.quantity == "rate":
            return Heading(text, (*lower_words[:-3], lower_words[-1]), rate)
        inner = Heading(text, (*lower_words[:-2], lower_words[-1]), None)
        unit = _last_unit(raw[-2:-1])
        is_plain = unit is not None and raw[-2] in ("ms", "us", "ns") and not quantity_of(inner)
        is_plain |= unit is not None and unit.quantity == "emissions"
        if unit is not None and (is_plain or unit.quantity == quantity_of(inner) != ""):
            return replace(inner, unit=unit)
    # `Idle 12v` and `sys_5v0` are of rails, `cap_150W` of a cap.
    if _VALUE.search(text):
        return Heading(text, lower_words, None)
    # The number of a replicate may follow the unit: `time_ms_2`.
    number = raw[-1:] if len(raw) > 2 and raw[-1].isdigit() else []
    raw = raw[: len(raw) - len(number)]
    for last in (2, 1):
        if len(raw) >= last and (unit := _last_unit(raw[-last:])) is not None:
            own = lower_words[: len(raw) - last]
            return Heading(text, (*own, *number) if own else lower_words, unit)
    # A unit of what the words before it say may stand amid others: `time_ms_total_run`.
    for at in range(1, len(raw) - 1 if len(raw) == len(lower_words) else 0):
        unit = _last_unit(raw[at : at + 1]) if len(raw[at]) > 1 else None
        inner = Heading(text, lower_words[:at], None)
        if unit is not None and unit.quantity == quantity_of(inner) != "":
            return Heading(text, (*lower_words[:at], *lower_words[at + 1 :]), unit)
    last_word = next((word for word in reversed(lower_words) if not _STATISTIC.fullmatch(word)), "")
    if last_word in RATES:
        return Heading(text, lower_words, Unit(RATES[last_word], "rate"))
    if lower_words[-2:] == ("task", "clock"):
        # The time of all processors that `perf` counts.
        return Heading(text, ("cpu", "time"), unit_of("ms"))
    return Heading(text, lower_words, None)


def _scaled_to(text: str, scaled: re.Match[str]) -> Unit | None:
    """Return the unit of an energy or a time that was scaled to an amount of work, if any."""
    unit, (count, prefix, item) = _without_work(text, scaled).unit, scaled.groups("")
    is_many = bool(prefix) or len(count) > 1
    if unit is None or unit.quantity not in ("energy", "time") or not is_many:
        return None
    amount = count + {"k": "k", "m": "M", "": ""}.get(prefix.lower(), f" {prefix}")
    return Unit(f"{unit.text}/{amount} {item}", "price")


def _without_work(text: str, scaled: re.Match[str]) -> Heading:
    """Return what a heading says without the amount of work that it was scaled to."""
    return read_heading(re.sub(r"(?i)[ _]per$", "", text[: scaled.start()]) + text[scaled.end() :])


def without_unit(text: str) -> str:
    """Return a heading without the unit that ends it: `freq_mhz` and `Energy (J)` as titles.

    One with a unit amid an amount of work, `energy_kwh_1m_tokens`, is `Energy per 1M tokens`.
    """
    unit = read_heading(text).unit
    scaled = _SCALED_TO.search(text)
    if scaled and unit is not None and unit.quantity == "price" and not _BRACKETS.match(text):
        amount = unit.text.partition("/")[2]
        return f"{' '.join(_without_work(text, scaled).words).capitalize()} per {amount}"
    if bracket := _BRACKETS.match(text):
        return bracket[1] if unit is not None and bracket[1] else text
    last = raw_words(text)[-1:]
    own = unit_of(last[0]) if last else None
    if unit is None or own is None or own.text not in (unit.text, unit.text.partition("/")[0]):
        return text
    # `milli_J` is read as `milliJ`.
    *_, found = re.finditer("[ _.-]*".join(map(re.escape, last[0])), text)
    title = text[: found.start()].rstrip(" _-.,:")
    return text if {*words_of(title)} <= WORDS["statistics"] | WORDS["plain"] else title


def _item_of(text: str) -> str:
    """Return of what a quantity is, before a unit: `Energy/inf` and `Energy per Token`."""
    above, mark, below = text.partition("/") if "/" in text else text.lower().partition(" per ")
    is_one = bool(mark) and len(words_of(below)) == 1
    return below.strip() if is_one and quantity_of(Heading("", words_of(above), None)) else ""


def _unit_in_brackets(text: str, before: tuple[str, ...]) -> Unit | None:
    if text not in _MINUTES:
        return unit_of(text, in_brackets=True)
    quantity = quantity_of(Heading("", before, None))
    is_time = quantity == "time" or (text == "min" and not quantity)
    return unit_of("mins") if is_time and WORDS["latencies"].isdisjoint(before) else None


def _ends_with_a_unit(text: str) -> bool:
    """Return whether a word that is no unit ends with the sign of one: `(xWh)` are no Wh."""
    *before, last = raw_words(text) or [""]
    return bool(before) and text.isalpha() and unit_of(last) is not None


def _last_unit(ending: list[str]) -> Unit | None:
    if len(ending) == 2 and ending[0].lower() in _WATTS and ending[1].lower().startswith("s"):
        return unit_of(" ".join(ending))
    over = unit_of(ending[0]) if len(ending) == 2 else None
    is_product = over is not None and over.quantity == "energy"
    if len(ending) == 2 and ending[1].lower() in ("s", "sec") and not is_product:
        # `MB_s` and `ops_s` are rates; a last `s` alone is seconds.
        is_bytes = over is not None and over.quantity == "bytes"
        text = over.text if over is not None and is_bytes else ending[0]
        is_counted = ending[0].lower() in ITEMS or _THOUSANDS.fullmatch(ending[0]) is not None
        return Unit(f"{text}/s", "rate") if is_bytes or is_counted else None
    if over is not None and is_product and ending[1].lower() in _ONE:
        return Unit(f"{over.text}/{ending[1]}", "price")
    if len(ending) == 2 and ending[0].lower() in _WATTS:
        return unit_of("".join(ending)) if ending[1].lower().startswith("h") else None
    if len(ending) == 2:
        units = [unit for word in ending if word not in _NEVER_LAST and (unit := unit_of(word))]
        # `edp_uJ_ms` is a product: no energy and no time.
        is_product = len(units) == 2 and {each.quantity for each in units} <= _FACTORS
        return Unit(" ".join(each.text for each in units)) if is_product else None
    is_one = len(ending) == 1 and ending[0] not in _NEVER_LAST
    return unit_of(ending[0]) if is_one else None


def _per(words: tuple[str, ...]) -> Unit | None:
    """Return the unit of `X per Y`: a rate, energy of an item, or items of an energy."""
    at = words.index("per")
    above, below = words[:at], words[at + 1 :]
    if not above and len(below) > 2 and (rate := _last_unit([*below[-2:]])):
        # `per_user_tok_s` is a rate that each user has.
        return rate if rate.quantity == "rate" else None
    under = unit_of(below[0]) if below else None
    mass = unit_of(above[-1]) if above and below else None
    if mass is not None and mass.quantity == "emissions":
        return unit_of(f"{mass.text}/{below[0] if under else ' '.join(below)}")
    if under is not None and under.quantity == "time":
        over = unit_of(above[-1]) if above else None
        # Joules a second are watts.
        if over is not None and over.quantity == "energy":
            return unit_of(f"{over.text}/{under.text}", in_brackets=True)
        # `bytes_transfer_per_sec`
        item = next((word for word in reversed(above) if word not in WORDS["moved"]), "")
        item = over.text if over is not None and over.quantity == "bytes" else item
        return Unit(f"{item or (above[-1] if above else '1')}/{under.text}", "rate")
    over = next((u for w in reversed(below) if (u := unit_of(w)) and u is not under), None)
    over = over or next((u for w in reversed(above) if (u := unit_of(w))), None)
    if under is not None and under.quantity in ("energy", "power"):
        return Unit(f"{above[-1] if above else '1'}/{under.text}", "rate")
    # `per_1k_tokens` is the price of a thousand.
    amount = "".join(takewhile(lambda word: word.isdigit() or word in _AMOUNTS, below))
    items = [word for word in below if unit_of(word) is None and word not in amount]
    # `wh_per_1k_mean` is no price of a thousand means.
    items = [word for word in items if not (_STATISTIC.fullmatch(word) or word in NUMBERS)]
    of_unit = under.text if under is not None else "item"
    item = next((w for w in items if {w, f"{w}s"} & ITEMS), items[0] if items else of_unit)
    amount += " " if amount else ""
    return None if over is None else Unit(f"{over.text}/{amount}{item}", "price")


def is_measurement(text: str) -> bool:
    """Return whether a text is the name of a measurement: `Energy (J)`, not `cap60W`."""
    heading = read_heading(text)
    if not WORDS["limits"].isdisjoint(word.rstrip("0123456789") for word in heading.words):
        return not WORDS["compliance"].isdisjoint(heading.words)
    if quantity_of(heading) not in ("", "frequency", "bytes"):
        return True
    return not (WORDS["less"] | WORDS["more"]).isdisjoint(heading.words)


def is_derived(text: str) -> bool:
    """Return whether a text names what is computed from runs: `change`, `diff (%)`, `p-value`."""
    words = {*words_of(text)}
    is_other = {"p", "value"} <= words or re.fullmatch(r"\D*%\D*", text) is not None
    return is_other or not WORDS["derived"].isdisjoint(words)


def counts_bad(heading: Heading) -> bool:
    """Return whether a heading counts readings that are wrong: `n_negative`, `bad_samples`."""
    words = {*heading.words}
    is_bad = not words.isdisjoint(WORDS["bad"]) and not words.isdisjoint(WORDS["counts"])
    return is_bad and words <= WORDS["bad"] | WORDS["counts"] and heading.unit is None


def is_of_work(unit: Unit) -> bool:
    """Return whether a rate is of work, bytes or simulated time in a time, or of an energy."""
    over, _, under = unit.text.partition("/")
    above, below = unit_of(over), unit_of(under, in_brackets=True)
    if above is not None and above.quantity in ("bytes", "time"):
        return below is None or below.quantity != "bytes"
    if below is not None and below.quantity != "time":
        return below.quantity in ("energy", "power")
    return _DONE.fullmatch((words_of(over) or ("1",))[-1]) is not None


def is_setting(text: str) -> bool:
    """Return whether a text is the name of what is set before a run: `threads`, `freq_mhz`."""
    heading = read_heading(text)
    known = WORDS["set"] | WORDS["given"] | WORDS["limits"] | WORDS["clocks"]
    return quantity_of(heading) == "frequency" or not known.isdisjoint(heading.words)


def quantity_of(heading: Heading) -> Quantity:
    """Return what a column measures, by its unit, else by its words; empty if neither says it."""
    if heading.unit is not None:
        # `energy_saving_pct` is no energy.
        is_none = heading.unit.quantity == "percent" or heading.has(*WORDS["products"])
        is_property = not WORDS["properties"].isdisjoint(heading.words[-1:])
        # `Energy per Functional Unit (kWh/FU)`
        is_none |= is_property and not heading.has("per")
        return "" if is_none else heading.unit.quantity
    last = next((word for word in reversed(heading.words) if word not in WORDS["plain"]), "")
    others = WORDS["products"] | WORDS["scaled"] | WORDS["simulated"] | {"cv", "percent", "pct"}
    is_mode = "power mode" in " ".join(heading.words)
    if is_mode or last in _OF_NO_QUANTITY or not others.isdisjoint(heading.words):
        return ""
    if heading.has("energy", "energies", "joules", "joule"):
        return "price" if heading.has("per") else "energy"
    if _is_clock(heading):
        return "frequency"
    if heading.has("power", "powers", "watts", "watt", "wattage"):
        return "power"
    # `package_0` is that of the first socket, `pkg_mean` a mean of several runs.
    bare = [word for word in heading.words if not word.isdigit() and word not in WORDS["plain"]]
    if len(bare) == 1 and bare[0] in _METERS_ALONE:
        return "energy"
    return "time" if heading.has(*_TIMES) else ""


def _is_clock(heading: Heading) -> bool:
    """Return whether a heading ends with a clock; `clock_levels` counts them."""
    behind = _OF_CLOCKS.union(
        WORDS["plain"], WORDS["statistics"], WORDS["read_clocks"], WORDS["parts"]
    )
    named = [word for word in heading.words if word.rstrip("0123456789") not in {*behind, ""}]
    return heading.has(*WORDS["clocks"]) and named[-1:] != [] and named[-1] in WORDS["clocks"]

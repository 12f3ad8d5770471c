"""What the columns of a table are: knob, metric or label, with unit, direction and evidence.

The last word of a heading decides first (`power_limit` is a limit), then its unit, then its other
words, then its cells: what has few values that recur was set. Units that no heading says follow
from energy = power x time.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import numpy as np

from data.declared import Role
from data.knob_table import STATED
from data.schema import KNOBS, MEASUREMENTS
from ingest.formats.json_rows import Cell
from ingest.proposals.headings import Heading, read_heading
from ingest.proposals.word_lists import WORDS
from ingest.records import TableColumn

Better = Literal["less", "more"]

_UNSET: Final = frozenset({"", "nan", "-nan", "na", "n/a", "null", "none", "-"})
_SET: Final = WORDS["set"]
_MORE: Final = WORDS["more"]
_LESS: Final = WORDS["less"]
_MEASURED: Final = _LESS | _MORE | WORDS["measured"]
_STATISTICS: Final = WORDS["statistics"]
_PLAIN_WORDS: Final = WORDS["plain"]
_IDENTIFIERS: Final = WORDS["identifiers"]
_WHEN: Final = WORDS["times_of_day"]
_LATENCIES: Final = WORDS["latencies"]
_PERCENTILES: Final = {
    **{f"p{n}": f"p{n}" for n in (5, 10, 50, 75, 90, 95, 99, 999)},
    **{"p99.9": "p999", "min": "min", "minimum": "min", "max": "max", "maximum": "max"},
    **dict.fromkeys(("mean", "avg", "average"), "mean"),
    **{"median": "p50", "99th": "p99", "95th": "p95", "90th": "p90", "50th": "p50"},
}
STATED_NAMES: Final = frozenset(knob.stated_as for knob in STATED)
_DATE: Final = re.compile(r"\d{4}[-/]\d\d[-/]\d\d([T ].*)?|\d\d?:\d\d(:\d\d.*)?")
# Seconds since 1970 from 2001 to 2096, in s, ms, us and ns.
_EPOCHS: Final = tuple((1e9 * scale, 4e9 * scale) for scale in (1, 1e3, 1e6, 1e9))
_MOST_VALUES: Final = 64
_MOST_NAMES: Final = 200
# What a machine, a board or a phone takes, W.
_PLAUSIBLE_W: Final = (0.1, 5000.0)
_AGREEING: Final = 0.2
_TIMES: Final = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_ENERGIES: Final = {"J": 1.0, "mJ": 1e-3, "uJ": 1e-6, "Wh": 3.6e3, "kWh": 3.6e6}
_POWERS: Final = {"W": 1.0, "mW": 1e-3, "uW": 1e-6}
# How much rarer than J, W and s units are, on the scale of `_misfit`.
_RARITY: Final = {"ms": 0.1, "us": 0.2, "ns": 0.3, "mW": 0.1, "uW": 0.3, "mJ": 0.2, "uJ": 0.2} | {
    "Wh": 0.5,
    "kWh": 0.3,
}
_LONG_S: Final = 20_000.0
_WRAPS: Final = tuple(float(2**power) for power in range(14, 21))


@dataclass
class Guess:
    """What a column is taken for.

    Attributes:
        to: Column of the lake; empty for one of its own.
        scale: Factor of its numbers.
        unit: Of a column of its own, as text.
        values: Replacements of cells.
        why: The evidence.
        is_dropped: Whether it has no value at all.
        is_given: Whether a knob is part of the question: what ran, how much of it.
        is_declared: Whether the settings say it already.
    """

    heading: Heading
    role: Role
    why: str
    kind: str = "real"
    to: str = ""
    scale: float = 1.0
    unit: str = ""
    better: Better | None = None
    values: dict[str, str] = field(default_factory=dict)
    wraps_at: float | None = None
    is_dropped: bool = False
    quantity: str = ""
    is_given: bool = False
    is_declared: bool = False
    numbers: np.ndarray = field(default_factory=lambda: np.empty(0))
    count: int = 0


def guess_columns(
    headings: Sequence[str],
    columns: Sequence[Sequence[Cell]],
    cell_units: Mapping[str, str],
    declared: Mapping[str, TableColumn],
) -> list[Guess]:
    """Guess the roles, targets and units of the columns of a table.

    Args:
        columns: The cells of each column, all of one length.
        cell_units: By heading the unit that follows each number.
        declared: By heading what the settings say already.
    """
    read = [read_heading(heading, cell_units.get(heading, "")) for heading in headings]
    read = _named_by_others(read, columns)
    guesses = [_guess(each, cells) for each, cells in zip(read, columns, strict=True)]
    for guess in guesses:
        if (known := declared.get(guess.heading.text)) is not None:
            _declare(guess, known)
    _mark_twins(guesses, columns)
    _find_a_knob(guesses)
    _choose_replicate(guesses)
    _choose_targets(guesses)
    return guesses


def _named_by_others(
    headings: Sequence[Heading], columns: Sequence[Sequence[Cell]]
) -> list[Heading]:
    """Read `Score` as what all cells of `Score Metric` say: `Energy (J)`."""
    named = {}
    for heading, cells in zip(headings, columns, strict=True):
        texts = {str(cell).strip() for cell in cells if cell not in (None, "")}
        if len(texts) == 1 and heading.words[-1:] in (("metric",), ("unit",), ("units",)):
            named[heading.words[:-1]] = read_heading(texts.pop())
    return [
        replace(heading, words=other.words or heading.words, unit=other.unit)
        if (other := named.get(heading.words)) and not heading.unit
        else heading
        for heading in headings
    ]


def _declare(guess: Guess, known: TableColumn) -> None:
    """Take what the settings say of a column."""
    guess.is_declared, guess.to, guess.is_dropped = True, known.to or "", known.is_dropped
    guess.scale, guess.unit, guess.better = known.scale, known.unit, known.better
    is_metric = known.to in MEASUREMENTS or (known.to is None and guess.kind != "text")
    is_knob = known.to in KNOBS or known.to in STATED_NAMES
    guess.role = known.role or ("knob" if is_knob else "metric" if is_metric else "label")
    guess.values = {"": ""} if known.values else {}


def _guess(heading: Heading, cells: Sequence[Cell]) -> Guess:
    texts = [str(cell).strip() for cell in cells if cell is not None]
    texts = [text for text in texts if text.lower() not in _UNSET]
    counts = Counter(texts)
    numbers = _numbers(texts)
    if not texts:
        return Guess(heading, "label", "no cell has a value", is_dropped=True)
    kind = "text" if numbers is None else "real"
    if numbers is not None and all(re.fullmatch(r"-?\d+", text) for text in counts):
        kind = "whole"
    unit = heading.unit
    guess = Guess(heading, "label", "", kind, count=len(counts), unit=unit.text if unit else "")
    guess.quantity = _quantity(heading)
    guess.numbers = np.empty(0) if numbers is None else numbers
    recurring = len(counts) <= _MOST_VALUES and len(texts) >= 2 * len(counts)
    said = f"{len(counts)} values in {len(texts):,} rows"
    if len(counts) == 1 and len(texts) > 1 and not _is_result(guess):
        guess.why = "one value in all rows"
    elif numbers is None:
        _judge_text(guess, counts, len(texts), said)
    elif _is_date(heading, guess):
        guess.why = "a time of day or a date"
    elif heading.has(*_IDENTIFIERS) and not recurring:
        guess.why = "a number of the row"
    elif guess.quantity == "frequency":
        guess.unit = guess.unit or _clock_unit(guess.numbers)
        is_set = not heading.has(*WORDS["read_clocks"]) and (recurring or kind == "whole")
        guess.role = "knob" if is_set and len(counts) <= _MOST_VALUES else "metric"
        guess.why = f"a clock, {said}"
    elif _is_measured(heading, guess.quantity) is True:
        guess.role, guess.why = "metric", _measured_why(heading)
        guess.better = _direction(guess)
    elif _is_measured(heading, guess.quantity) is False and len(counts) <= _MOST_NAMES:
        word = next((word for word in reversed(heading.words) if word in _SET), heading.text)
        guess.role, guess.why = "knob", f"'{word}', {said}"
    elif recurring:
        guess.role, guess.why = "knob", f"few values that recur: {said}"
    else:
        guess.role, guess.why = "metric", f"numbers that seldom recur: {said}"
    guess.is_given = guess.role == "knob" and heading.has(*WORDS["given"])
    if guess.role == "knob" and numbers is not None and "-1" in counts and numbers.max() > 1:
        negative = [text for text in counts if text.startswith("-")]
        if negative == ["-1"]:
            guess.values = {"-1": "none"}
            guess.why += "; -1 is none"
    return guess


def _clock_unit(values: np.ndarray) -> str:
    """Return the unit in which clocks of processors and memories have such values."""
    most = float(values.max())
    return "Hz" if most >= 1e8 else "kHz" if most >= 1e5 else "MHz" if most >= 50 else "GHz"


def _numbers(texts: Sequence[str]) -> np.ndarray | None:
    try:
        values = np.array([float(text) for text in texts])
    except ValueError:
        return None
    # A text such as 007 is a name.
    if any(re.match(r"[-+]?0\d", text) or "_" in text for text in texts[:100]):
        return None
    return values


def _judge_text(guess: Guess, counts: Counter[str], rows: int, said: str) -> None:
    heading = guess.heading
    dates = sum(count for text, count in counts.items() if _DATE.fullmatch(text))
    if 2 * dates > rows:
        guess.why = "a time of day or a date"
    elif heading.has(*WORDS["remarks"]) and not heading.has("model"):
        guess.why = "a remark about the run"
    elif (
        len(counts) > _MOST_NAMES
        or (rows > 3 and len(counts) == rows and heading.has("id"))
        or (rows > 10 and 2 * len(counts) > rows and not heading.has(*_SET))
        or (heading.has(*_IDENTIFIERS) and 2 * len(counts) > rows)
    ):
        guess.why = f"a name of the row: {said}"
    else:
        guess.role, guess.why = "knob", f"names: {said}"


def _is_date(heading: Heading, guess: Guess) -> bool:
    if guess.kind == "text" or not len(guess.numbers):
        return False
    middle = float(np.median(guess.numbers))
    spread = float(np.ptp(guess.numbers))
    is_epoch = any(low <= middle <= high for low, high in _EPOCHS) and spread < 0.2 * middle
    named = heading.has("time", "timestamp", *_WHEN)
    return heading.has("timestamp", "datetime", "date") or (named and is_epoch)


def _quantity(heading: Heading) -> str:
    words = heading.words
    if heading.unit is not None and heading.unit.quantity not in ("", "percent"):
        return heading.unit.quantity
    last = next((word for word in reversed(words) if word not in _PLAIN_WORDS), "")
    if heading.has("energy", "joules", "joule"):
        return "" if last in ("efficiency", "ratio", "rate", "savings") else "energy"
    if heading.has(*WORDS["clocks"]):
        return "frequency"
    if heading.has("power", "watts", "watt", "wattage") and last not in ("state", "mode", "plan"):
        return "power"
    if words and words[-1] in ("package", "pkg", "dram", "uncore", "psys") and len(words) == 1:
        return "energy"
    if heading.has("time", "duration", "runtime", "elapsed", "latency", "makespan", "ttft", "tpot"):
        return "time"
    return ""


def _is_measured(heading: Heading, quantity: str) -> bool | None:
    """Return whether the heading says that its column was measured; None if it says nothing."""
    words = [word for word in heading.words if word not in _PLAIN_WORDS | _STATISTICS]
    last = words[-1] if words else ""
    if heading.has(*WORDS["limits"]):
        return False
    if quantity in ("energy", "power", "temperature", "voltage", "current", "charge", "rate"):
        return True
    if quantity == "price":
        return True
    if last in _SET and last not in ("count", "number"):
        return False
    if last == "rate" and _SET & set(words):
        return False
    if last in _MEASURED or quantity == "time":
        return not heading.has("timeout", "interval", "period", "setting", "target")
    if _MEASURED & set(words):
        return True
    return False if _SET & set(words) else None


def _is_result(guess: Guess) -> bool:
    return guess.quantity in ("energy", "power", "time") and bool(np.any(guess.numbers > 0))


def _measured_why(heading: Heading) -> str:
    unit = f"unit {heading.unit.text}" if heading.unit else ""
    word = next((word for word in reversed(heading.words) if word in _MEASURED), "")
    return " and ".join(filter(None, (f"'{word}'" if word else "", unit))) or "measured"


def _direction(guess: Guess) -> Better | None:
    heading, unit = guess.heading, guess.heading.unit
    if heading.has(*_MORE) or (unit is not None and unit.quantity == "rate" and unit.text != "rpm"):
        return "more" if not heading.has("emissions", "misses", "errors") else "less"
    if heading.has("std", "stdev", "stddev", "sd", "var", "variance", "remaining"):
        return None
    if guess.quantity in ("energy", "power", "time", "price") or heading.has(*_LESS):
        return None if heading.has("usage") and not guess.quantity else "less"
    return None


def _mark_twins(guesses: Sequence[Guess], columns: Sequence[Sequence[Cell]]) -> None:
    """Make a label of a knob whose values are those of an earlier one under other names."""
    knobs: list[int] = []
    for index, guess in enumerate(guesses):
        if guess.role != "knob" or guess.is_declared:
            continue
        for other in knobs:
            pairs = {*zip(columns[other], columns[index], strict=True)}
            if guess.count == guesses[other].count == len(pairs) and guess.kind == "text":
                guess.role = "label"
                guess.why = f"goes with {guesses[other].heading.text}, value by value"
                break
        else:
            knobs.append(index)


def _find_a_knob(guesses: Sequence[Guess]) -> None:
    """If nothing was set, take what stands before the first measurement."""
    if any(guess.role == "knob" for guess in guesses):
        return
    for guess in guesses:
        if guess.why.startswith(("'", "unit")):
            return
        is_free = guess.why.startswith(("numbers that seldom", "a name of the row"))
        if is_free and guess.kind in ("whole", "text") and 1 < guess.count <= _MOST_NAMES:
            guess.role, guess.better = "knob", None
            guess.why = "the first column, and nothing else was set"
            return


def _choose_replicate(guesses: Sequence[Guess]) -> None:
    for guess in guesses:
        words = guess.heading.words
        is_named = bool(words) and words[-1] in WORDS["replicates"] and len(words) <= 2
        if not is_named or guess.kind != "whole" or guess.heading.unit or guess.count < 2:
            continue
        if 0 <= guess.numbers.min() <= 1 and guess.numbers.max() <= 10 * guess.count:
            guess.role, guess.to = "label", "replicate"
            guess.why, guess.better = f"numbers from {guess.numbers.min():.0f} on", None
            return


def _choose_targets(guesses: Sequence[Guess]) -> None:
    known = {guess.to: guess for guess in guesses if guess.is_declared and guess.to}
    metrics = [g for g in guesses if g.role == "metric" and not g.is_declared]
    of_costs = {
        quantity: [g for g in metrics if g.quantity == quantity and not _is_spread(g.heading)]
        for quantity in ("energy", "power")
    }
    energy = known.get("energy_j") or _best(of_costs["energy"], "energy_j")
    power = known.get("power_w") or _best(of_costs["power"], "power_w")
    times = [g for g in metrics if g.quantity == "time" and not g.heading.has(*_LATENCIES)]
    whole = [g for g in times if not _is_spread(g.heading)]
    duration = known.get("duration_s") or _best(whole, "duration_s")
    is_codecarbon = any(g.heading.has("codecarbon", "emissions") for g in guesses)
    if is_codecarbon:
        for guess in of_costs["energy"]:
            if guess.heading.unit is None:
                _set_unit(guess, "kWh", 3.6e6, "as CodeCarbon has it")
    _choose_units(energy, power, duration)
    for guess in of_costs["energy"]:
        if guess is not energy and not guess.unit:
            guess.unit = energy.unit if energy and not energy.heading.unit else "J"
        guess.wraps_at = _wrap_of(guess)
        if guess.wraps_at is not None:
            guess.why += f"; negative ones wrapped at {guess.wraps_at:g}"
    for guess in of_costs["power"]:
        guess.unit = guess.unit or (power.unit if power else "W")
    for guess in times:
        guess.unit = guess.unit or (duration.unit if duration else "s")
    _name_latencies(metrics)


def _set_unit(guess: Guess, text: str, scale: float, why: str) -> None:
    guess.unit = text
    guess.scale = scale if guess.to else 1.0
    guess.why += f"; in {text}, {why}"


def _is_spread(heading: Heading) -> bool:
    """Whether a column holds deviations or extremes of another quantity."""
    return heading.has(*_STATISTICS, "error", "uncertainty")


def _best(guesses: Sequence[Guess], target: str) -> Guess | None:
    """Choose the column that is the run's, and send it to its column of the lake."""
    if not guesses:
        return None
    at = max(range(len(guesses)), key=lambda index: (_rank(guesses[index], target), -index))
    best = guesses[at]
    if _rank(best, target) <= -20:
        return None
    best.to = target
    unit = best.heading.unit
    if unit is not None:
        best.scale = unit.scale
    if len(guesses) > 1:
        best.why += f"; of {len(guesses)} columns the whole one"
    return best


def _rank(guess: Guess, target: str) -> int:
    """Say how likely a column is the run's own energy, power or duration."""
    heading = guess.heading
    rank = 3 * (heading.unit is not None)
    rank += 4 * heading.has("total", "overall", "whole", "node", "server", "wall", "elapsed")
    rank += 3 * heading.has("system", "machine", "execution", "runtime", "duration", "makespan")
    rank += 2 * heading.has("package", "pkg", "avg", "average", "mean", "usage", "consumed")
    rank -= 8 * heading.has("idle", "baseline", "static", "dynamic", "saved", "savings", "delta")
    rank -= 6 * heading.has("codecarbon", "estimated", "predicted", "model", "theoretical", "peak")
    rank -= 2 * len([word for word in heading.words if word not in _MEASURED | _PLAIN_WORDS])
    if not heading.has("package", "pkg"):
        rank -= 4 * heading.has(*WORDS["parts"])
    if target == "duration_s":
        rank -= 12 * heading.has(*WORDS["phases"])
        rank -= 30 * heading.has(*_WHEN, "per", "offset", "interval", "to", "ttft", "tpot", "itl")
    if heading.has("per", "efficiency", "rate", "ratio", "percent"):
        rank -= 30
    if not np.any(guess.numbers > 0):
        rank -= 15
    return rank


def _choose_units(energy: Guess | None, power: Guess | None, duration: Guess | None) -> None:
    """Choose the units that headings do not say: those by which energy is power times time."""

    def options(guess: Guess | None, units: Mapping[str, float]) -> list[tuple[str, float]]:
        if guess is None:
            return [("", 1.0)]
        is_known = guess.unit or guess.is_declared
        return [(guess.unit, guess.scale)] if is_known else [*units.items()]

    sides = (
        (energy, options(energy, _ENERGIES)),
        (power, options(power, _POWERS)),
        (duration, options(duration, _TIMES)),
    )
    middles = [_middle(guess) for guess, _ in sides]
    ranked = []
    is_counter = energy is not None and energy.heading.has("package", "pkg", "dram", "rapl")
    for place, one in enumerate(
        (e, p, t) for t in sides[2][1] for e in sides[0][1] for p in sides[1][1]
    ):
        joules, watts, seconds = (
            middle * unit[1] if middle else None for middle, unit in zip(middles, one, strict=True)
        )
        rarity = sum(_RARITY.get(text, 0.0) for text, _ in one)
        rarity += 2.0 * (is_counter and one[0][0].endswith("Wh"))
        is_fine = one[2][0] in ("us", "ns") and duration is not None and duration.kind == "real"
        ranked.append((_misfit(joules, watts, seconds, duration) + rarity + is_fine, place, one))
    misfit, _, chosen = min(ranked)
    known = " and ".join(
        g.heading.text for (g, _), m in zip(sides, middles, strict=True) if g and m
    )
    is_proven = energy is not None and (power is not None or duration is not None) and misfit < 1
    for (guess, units), (text, scale) in zip(sides, chosen, strict=True):
        if guess is not None and len(units) > 1:
            why = f"by which {known} agree" if is_proven else "which no heading says"
            _set_unit(guess, text, scale, why)


def _middle(guess: Guess | None) -> float | None:
    if guess is None:
        return None
    positive = guess.numbers[guess.numbers > 0]
    return float(np.median(positive)) if len(positive) else None


def _misfit(
    energy: float | None, power: float | None, time: float | None, duration: Guess | None
) -> float:
    """Return 0 for units that fit, more the worse they do."""
    low, high = _PLAUSIBLE_W
    worst = 0.0
    if energy and power and time:
        off = abs(np.log(energy / (power * time)))
        worst += 0.0 if off < _AGREEING else float(off)
    for watts in (power, energy / time if energy and time else None):
        if watts:
            worst += max(0.0, float(np.log(low / watts)), float(np.log(watts / high)))
    if time and not energy and duration is not None and duration.kind == "whole":
        worst += max(0.0, float(np.log(time / _LONG_S)))
    return worst


def _wrap_of(guess: Guess) -> float | None:
    """Return the power of two at which an energy counter wraps, if negative differences say one."""
    below = guess.numbers[guess.numbers < 0]
    above = guess.numbers[guess.numbers > 0]
    if not len(below) or len(below) > 0.2 * len(guess.numbers) or not len(above):
        return None
    least, most = float(below.min()), float(above.max())
    return next((at for at in _WRAPS if least + at >= 0 and below.max() + at <= 3 * most), None)


def _name_latencies(metrics: Sequence[Guess]) -> None:
    """Send latencies to the percentiles of the lake that their headings name."""
    taken: set[str] = set()
    for guess in metrics:
        heading = guess.heading
        if guess.to or guess.quantity != "time" or not heading.has(*_LATENCIES):
            continue
        of = [_PERCENTILES[word] for word in heading.words if word in _PERCENTILES]
        others = {*heading.words} - {*_PERCENTILES} - _LATENCIES - _PLAIN_WORDS - {"time"}
        if others or len(of) > 1 or (heading.unit is None and not guess.unit):
            continue
        target = f"latency_{of[0] if of else 'mean'}_us"
        scale = heading.unit.scale if heading.unit else _TIMES.get(guess.unit, 1.0)
        if target not in taken:
            taken.add(target)
            guess.to, guess.scale = target, float(f"{scale * 1e6:.12g}")

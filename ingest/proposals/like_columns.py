"""Columns of one kind: `time_ms_1` and `time_ms_2` of replicates, `fft_time_s` and `lu_time_s`."""

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from ingest.declarations import Aggregate
from ingest.formats.json_cells import STATISTICS, Cell
from ingest.formats.table_reshaped import stem_of
from ingest.proposals.guess import Guess
from ingest.proposals.heading_roles import MEASURED, is_measured, is_spread
from ingest.proposals.replicates import stands_with_all
from ingest.proposals.roles import guess_of
from ingest.settings.column_names import FAMILIES, VALUES, WORDS
from ingest.settings.heading_words import words_of
from ingest.settings.headings import is_derived, quantity_of, read_heading
from ingest.settings.units import unit_of

# A word for a replicate says it; else the number stands last.
_PATTERNS: Final = (
    r"(?i)[ _.-]*(?:run|rep|replicate|repetition|trial|iteration|iter)[ _.-]*(\d+)",
    r"[ _.-]?(\d+)(?=$| ?[(\[])",
)
# Numbers behind these words are of parts of a machine or of percentiles, not of replicates.
_PARTS: Final = WORDS["parts"] | WORDS["numbered"]
_LEAST_SERIES: Final = 3
# Where a name stands in headings: first, last or before the unit; with what is before and behind.
_SERIES: Final = (
    (r"^", r"[A-Za-z0-9]+(?:[-.][A-Za-z0-9]+)*", r"[ _]"),
    (r"[ _]", r"[A-Za-z][A-Za-z0-9-]*", r"$"),
    (r"[ _]", r"[A-Za-z][A-Za-z0-9-]*", r"(?=[ _][A-Za-z]{1,6}$)"),
)
# What stands behind the number of a step in headings, and how the setting is called.
_STEPS: Final = (
    ("clock_ghz", r"[Gg][Hh]z"), ("clock_mhz", r"[Mm][Hh]z"), ("power_limit_w", r"W"),
    ("threads", r"(?:threads?|thr|t)"), ("cores", r"cores?"),
)  # fmt: skip
# Two of these are phases or ends of one run, whatever another column compares.
_OF_ONE_RUN: Final = WORDS["predicted"] | WORDS["ends"]
# Names of what is compared, of which no two run at once.
_RIVALS: Final = VALUES["language"] | VALUES["framework"] | FAMILIES["runtime"] | WORDS["variants"]
# Words of parts, phases and statistics: their columns are of one run.
_NO_SERIES: Final = (
    _PARTS
    | WORDS["phases"]
    | WORDS["statistics"]
    | WORDS["plain"].union(
        {"package", "pkg", "psys", "dynamic", "static", "active", "p50", "p90", "p95", "p99"}
    )
)
# Parts whose sum is the energy of a machine, the first that there are.
_WHOLES: Final = (("package", "pkg", "socket", "cpu"), WORDS["machines"], ("gpu", "device"))
# What headings call the number of runs of a mean, means, and sample standard deviations.
_ANY_COUNTS: Final = frozenset({"count", "observations"})
_COUNTS: Final = _ANY_COUNTS.union(
    ("n", "runs", "repetitions", "replicates", "reps", "repeats", "trials")
)
_MEANS: Final = (r"mean", r"average", r"avg", r"mittelwert", r"moyenne", r"media")
_DEVIATIONS: Final = (
    r"std\.? ?abw(?:\.|eichung)?", r"standardabweichung", r"stddev", r"std\.? ?dev\.?", r"stdev",
    r"std", r"(?<![A-Za-z])sd(?![A-Za-z])", r"ecart[- ]type",
)  # fmt: skip
_SAMPLE_DEVIATIONS: Final = ("std", "stdev", "stddev", "sd")
# Of these only beside the value in the same unit: an error may be one of a model.
_ERRORS: Final = frozenset({"deviation", "error", "err", "uncertainty"})
_SPREAD_WORDS: Final = WORDS["spreads"] | _ERRORS | WORDS["means"] | {"dev"}
_VALUES: Final = WORDS["means"] | {"score", "value", "result"}
# Replicates of a row are so near: the median over rows of the greatest over the least.
_ALIKE: Final = 3.0


def replicate_pattern(headings: Sequence[str], columns: Sequence[Sequence[Cell]]) -> str:
    """Return the pattern of the number of a replicate in headings; empty where there is none.

    Numbers count from 0 or 1. Their columns are measured, and alike in each row.
    """
    for pattern in _PATTERNS:
        numbered: dict[str, dict[int, int]] = defaultdict(dict)
        for at, heading in enumerate(headings):
            stem, number = stem_of(heading, pattern)
            if number:
                numbered[stem][int(number)] = at
        if numbered and all(_are_replicates(stem, at, columns) for stem, at in numbered.items()):
            return pattern
    return ""


def _are_replicates(stem: str, places: dict[int, int], columns: Sequence[Sequence[Cell]]) -> bool:
    numbers = sorted(places)
    words = read_heading(stem).words
    is_counted = len(numbers) > 1 and numbers == [*range(numbers[0], numbers[0] + len(numbers))]
    if not is_counted or numbers[0] > 1 or (words and words[-1] in _PARTS):
        return False
    cells = [columns[at] for at in places.values()]
    heading = read_heading(stem)
    if any(guess_of(heading, each).role != "metric" for each in cells):
        return False
    try:
        values = np.array([[float(cell or "nan") for cell in each] for each in cells])
    except ValueError:
        return False
    # Cells without a value are of no run.
    is_set = ~np.isnan(values)
    rows = np.all(is_set <= (values > 0), axis=0) & (is_set.sum(axis=0) > 1)
    whole = values[:, rows]
    apart = np.nanmax(whole, axis=0) / np.nanmin(whole, axis=0) if whole.size else np.empty(0)
    return whole.size > 0 and float(np.median(apart)) <= _ALIKE


def series_pattern(headings: Sequence[str], columns: Sequence[Sequence[Cell]]) -> str:
    """Return the pattern of names with which headings of measurements begin or end, or nothing.

    At least three names have the same energy, or power and time each: `fft_energy_j`, `fft_time_s`.
    Two do where a column compares them: `energy_seq_mj`, `energy_fused_mj`, `energy_saving_pct`. Of
    energies alone, `java_j` and `wifi_j`, none is told from parts of one run, unless most of three
    are languages, frameworks or variants. Two names of variants need no column that compares them:
    `energy_base_j`, `energy_opt_j`.
    """
    metrics = [
        heading
        for heading, cells in zip(headings, columns, strict=True)
        if (guess := guess_of(read_heading(heading), cells)).role == "metric"
        and (guess.quantity or is_measured(guess.heading, guess.quantity))
        and not is_derived(heading)
    ]
    least = 2 if any(map(is_derived, headings)) else _LEAST_SERIES
    for before, form, after in _SERIES:
        names: dict[str, list[str]] = defaultdict(list)
        for heading in headings:
            stem, name = stem_of(heading, f"{before}({form}){after}")
            if name and heading in metrics and unit_of(name) is None:
                names[stem].append(name)
        words = {word for of in names.values() for name in of for word in words_of(name)}
        # A counter may be read before and after a run.
        are_variants = words <= WORDS["variants"] - {"before", "after"}
        fewest = 2 if are_variants else least
        full = [each for each in names.values() if len(each) >= fewest]
        quantities = {read_heading(stem).unit for stem, each in names.items() if each in full}
        kinds = {unit.quantity for unit in quantities if unit is not None}
        known = {word for name in full[0] for word in words_of(name)} if full else set()
        is_alike = len(full) > 1 and all({*each} == {*full[0]} for each in full)
        excluded = _NO_SERIES if len(known) >= _LEAST_SERIES else _NO_SERIES | _OF_ONE_RUN
        # Beside another variant a baseline is one, and no phase of the run.
        excluded -= {"baseline"} if are_variants else frozenset()
        # Rivals did not run at once: powers beside a time or rate of the row are of its parts.
        is_of_parts = not kinds & {"energy", "time"} and any(
            quantity_of(read_heading(each)) in ("time", "rate") for each in metrics
        )
        is_alike &= bool(kinds & {"energy", "power"})
        are_rivals = len(full) == 1 and _are_rivals(full[0], metrics)
        if (is_alike or are_rivals) and not known & excluded and not is_of_parts:
            either = "|".join(map(re.escape, full[0]))
            # What a column compares are rivals; of several names each is of what ran.
            is_compared = are_rivals or len(full[0]) < _LEAST_SERIES
            group = "alternative" if is_compared else "series"
            return f"{before}(?P<{group}>{either}){after}"
    return ""


def _are_rivals(names: Sequence[str], metrics: Sequence[str]) -> bool:
    """Return whether names before all energies are of what is compared, and none of a part."""
    energies = [each for each in metrics if quantity_of(read_heading(each)) == "energy"]
    lower = [name.lower() for name in names]
    is_free = _OF_ONE_RUN.union(MEASURED).isdisjoint(
        word for name in names for word in words_of(name)
    )
    is_known = 2 * sum(name in _RIVALS for name in lower) > len(lower)
    are_all = len(energies) == len(names) >= _LEAST_SERIES
    return are_all and is_free and is_known


def steps_pattern(headings: Sequence[str], columns: Sequence[Sequence[Cell]]) -> str:
    """Return the pattern of the steps of a setting in headings, or nothing: `energy_1.2GHz_J`.

    An energy or a power, and another measurement, have the same steps, two at least.
    """
    metrics = {
        heading
        for heading, cells in zip(headings, columns, strict=True)
        if guess_of(read_heading(heading), cells).role == "metric"
    }
    for name, unit in _STEPS:
        pattern = rf"(?:^|[ _])(?P<{name}>\d+(?:\.\d+)?) ?{unit}(?=[ _([]|$)"
        steps: dict[str, list[str]] = defaultdict(list)
        for heading in headings:
            stem, step = stem_of(heading, pattern)
            if match := step and re.search(pattern, heading):
                rest = heading[match.end() :].strip(" _()[]")
                # `energy_5W_led` is of a lamp.
                is_last = not rest or unit_of(rest) is not None
                steps[stem].append(step if heading in metrics and is_last else "")
        first = [*steps.values()][:1]
        is_alike = all({*each} == {*first[0]} for each in steps.values())
        # At 100 W of a load power is lost, at a limit of 100 W an energy is taken.
        costs = ("energy",) if unit == "W" else ("energy", "power")
        is_cost = any(quantity_of(read_heading(stem)) in costs for stem in steps)
        is_cost &= steps.keys().isdisjoint(headings)
        if is_alike and is_cost and len(steps) > 1 < len({*first[0]}) and "" not in first[0]:
            return pattern
    return ""


def mean_columns(headings: Sequence[str], columns: Sequence[Sequence[Cell]]) -> Aggregate | None:
    """Return how headings tell means from deviations, if a column counts the runs of each row."""
    counts = {
        tuple(map(str, cells)): heading
        for heading, cells in zip(headings, columns, strict=True)
        if words_of(heading) and words_of(heading)[-1] in _COUNTS and _are_counts(cells)
    }
    count = next(iter(counts.values()), "")
    is_of_runs = len(counts) == 1 and _counts_runs(count, headings)
    if not is_of_runs or stands_with_all(count, headings, columns):
        return None
    for sd in _DEVIATIONS:
        texts = [match[0] for heading in headings if (match := re.search(sd, heading, re.I))]
        for mean in _MEANS if texts else ():
            words = [match[0] for heading in headings if (match := re.search(mean, heading, re.I))]
            shape = Aggregate(n=count, mean=words[0], sd=texts[0]) if words else None
            if shape is not None and all(
                shape.mean_of(heading) in headings for heading in headings if texts[0] in heading
            ):
                return shape
        ending = re.compile(rf"[ _.-]*{sd}$", re.I)
        texts = [match[0] for heading in headings if (match := ending.search(heading))]
        if texts and all(
            h.removesuffix(texts[0]) in headings for h in headings if h.endswith(texts[0])
        ):
            return Aggregate(n=count, sd=texts[0])
    if not (pairs := spread_pairs(headings)):
        return Aggregate(n=count) if _has_extremes(headings) else None
    of = {sd: mean for sd, mean in pairs.items() if read_heading(sd).has(*_SAMPLE_DEVIATIONS)}
    return Aggregate(n=count, of=of)


def spread_pairs(headings: Sequence[str]) -> dict[str, str]:
    """Return the headings of means by those of their deviations, errors or confidences.

    Both have the same words and one unit: `energy_sd` and `energy_j`. A deviation of nothing is
    that of the column before it, and so is an error in its unit, or behind a `score`.
    """
    pairs: dict[str, str] = {}
    read = {heading: read_heading(heading) for heading in headings}
    means = {text: each for text, each in read.items() if not is_spread(each)}
    for before, heading in pairwise(["", *headings]):
        words, unit = {*filter(str.isalpha, read[heading].words)}, read[heading].unit
        if words.isdisjoint(WORDS["spreads"] | _ERRORS):
            continue
        stem = words - _SPREAD_WORDS
        of = means if stem else {before: means[before]} if before in means else {}
        if words.isdisjoint(WORDS["spreads"]) and not (stem or unit):
            of = {text: each for text, each in of.items() if each.has(*_VALUES)}
        alike = [text for text, each in of.items() if unit is None or each.unit == unit]
        own = {each: {*means[each].words} - WORDS["means"] for each in alike}
        alike = [each for each in alike if not stem or own[each] == stem]
        if len(alike) == 1:
            pairs[heading] = alike[0]
    return pairs


def _has_extremes(headings: Sequence[str]) -> bool:
    """Return whether an energy or a time has a least and a greatest value."""
    read = [each for each in map(read_heading, headings) if quantity_of(each) in ("energy", "time")]
    least, most = (
        {frozenset(each.words) - {word} for each in read if each.has(word)}
        for word in ("min", "max")
    )
    return not least.isdisjoint(most)


def _counts_runs(count: str, headings: Sequence[str]) -> bool:
    """Return whether a number is of runs: of lists only those of energies and times are.

    Powers are samples of one run, and latencies are of its requests. A plain count is of runs where
    an energy or a time has a deviation.
    """
    if {*words_of(count)[-1:]} & _ANY_COUNTS:
        return any(map(_is_of_runs, spread_pairs(headings).values()))
    name = count.removesuffix("_n")
    return f"{name}_{STATISTICS[-1]}" not in headings or _is_of_runs(name)


def _is_of_runs(name: str) -> bool:
    heading = read_heading(name)
    is_time = quantity_of(heading) in ("energy", "time") or heading.has("times")
    return is_time and not heading.has(*WORDS["latencies"], *WORDS["moments"])


def _are_counts(cells: Sequence[Cell]) -> bool:
    """Return whether cells are numbers of runs; pandas writes `10.0`, and 1 of a run alone."""
    texts = [str(cell).strip().removesuffix(".0") for cell in cells]
    numbers = [int(text) for text in texts if text.isdigit()]
    is_several = len(numbers) == len(texts) and 2 * sum(n > 1 for n in numbers) > len(numbers)
    return is_several and min(numbers) >= 1 and max(numbers) <= 10_000


def energy_parts(guesses: Sequence[Guess]) -> list[Guess]:
    """Return the energies of all packages or processors if no column is that of the run.

    `joules.pkg.0` and `joules.pkg.1` are of two sockets.
    """
    if any(guess.to in ("energy_j", "power_w") for guess in guesses):
        return []
    alike: dict[str, list[Guess]] = {}
    for guess in guesses:
        is_own = guess.role == "metric" and not guess.is_declared and not is_spread(guess.heading)
        if guess.quantity == "energy" and is_own:
            alike.setdefault(guess.kernel, []).append(guess)
    groups = [each for each in alike.values() if len(each) > 1]
    for words in _WHOLES:
        found = [each for each in groups if each[0].heading.has(*words)]
        if len(found) == 1:
            return found[0]
    return []


def power_parts(guesses: Sequence[Guess]) -> tuple[Guess, Guess] | None:
    """Return voltage and current if their product is the only power of the rows; else None."""
    if any(guess.to in ("energy_j", "power_w") for guess in guesses):
        return None
    voltage, current = (
        [
            guess
            for guess in guesses
            if guess.quantity == quantity and guess.heading.unit
            # A supply has one voltage in all rows.
            if guess.role == "metric" or guess.count == 1
            if not is_spread(guess.heading)
        ]
        for quantity in ("voltage", "current")
    )
    return (voltage[0], current[0]) if len(voltage) == len(current) == 1 else None

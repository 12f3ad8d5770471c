"""What one column of a table is: a knob that was set, a metric that was measured, or a label.

`_OF_TEXTS` and `_OF_NUMBERS` say it, case by case. What identifies rows decides first, then the
last word of the heading, its unit and its other words, then the cells: few values that recur were
set.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np

from data.declared import Role
from ingest.formats.json_cells import Cell
from ingest.formats.unit_columns import names_units
from ingest.proposals.column_facts import ColumnFacts
from ingest.proposals.guess import (
    MOST_VALUES,
    Guess,
    are_epochs,
    are_multiples,
    clock_unit,
    digits_of,
    is_even,
)
from ingest.proposals.heading_roles import (
    MEASURED,
    are_stages,
    direction_of,
    is_counted,
    names_a_setting,
    names_machines,
)
from ingest.proposals.part_values import statements_in
from ingest.settings.column_names import KNOWN_WORDS, WORDS
from ingest.settings.heading_words import is_of_exit, words_of
from ingest.settings.headings import Heading, counts_bad, read_heading

_IDENTIFIERS: Final = WORDS["identifiers"]
# Words that say what a column is, whatever its object is.
_SAYING: Final = KNOWN_WORDS - {"size", "n", "num", "number", "count", "name", "type", "id"}
# `2026-01-31 08:15`, `08:15:00`, `2026_01_31_08_15_00`, `20260131`, `20260131T081500Z`
_DATE: Final = re.compile(
    r"\d{4}[-/]\d\d[-/]\d\d([-T_ ].*)?|\d\d?:\d\d(:\d\d.*)?"
    r"|20\d\d_\d\d_\d\d(_\d\d_\d\d(_\d\d)?)?"
    r"|(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])([-_T ]?\d{4,6}(\.\d+)?)?(Z|[+-]\d{4})?"
)
# `results/train_2026_01_31_17_32_37`
_DATED_PATH: Final = re.compile(r".*/.*(?<!\d)20\d\d[-_]?(?:0[1-9]|1[0-2])[-_]?[0-3]\d(?!\d).*")
# People set numbers of fewer digits: 15.473289489746094 was read from a machine.
_MOST_DIGITS: Final = 8
# Of so few rows no number recurs.
_FEW_ROWS: Final = 8
# A date with a time in a name.
_STAMP: Final = re.compile(r"20\d\d[-_]?\d\d[-_]?\d\d[-_T ]?\d\d[-_:]?\d\d([-_:]?\d\d)?(?!\d)")
# Seeds that people choose have no more digits.
_MOST_SEED: Final = 5
DRAWN: Final = "a seed that was drawn, which is no setting"
REMARK: Final = "a remark about the run"
A_NAME: Final = "a name of the row"
ROW: Final = "the number of the row"
ONE_VALUE: Final = "one value in all rows"
OFFERED: Final = "a load that was offered"
MOST_NAMES: Final = 200
FEW_VALUES: Final = "few values that recur"
# Numbers of rows rise in such a share of the steps.
_RISING: Final = 0.95
# Ranks of tasks and matrices are few, or powers of 2.
_FEWEST_PLACES: Final = 3
# Amounts of work, alone or in an object: a size of nothing else; that of a batch was tuned.
_AMOUNT: Final = re.compile(
    r"(?:(?:param|config)\w* )?(?:size|n|input size)|(?:(?:video|image|frame|input) )?resolution"
)
# Whole numbers that people set have fewer digits before zeros, or are multiples of this; those of
# tokens, which people set to 1000 or 4096, have still fewer.
_ODD_DIGITS: Final = 5
_STEP: Final = 64
# Numbers of which nearly all of many rows have one value.
_MANY_ROWS: Final = 40
_SAME: Final = 0.95
# So many texts of runs without a result are named.
_MOST_SAID: Final = 3
# A model has so many parameters at least.
_MANY_PARAMETERS: Final = 1000
# So few fractions may be the steps of a knob.
MOST_STEPS: Final = 12


YES_OR_NO: Final = frozenset({"0", "1", "true", "false", "yes", "no", "y", "n"})
# By so much 3.3 V, 5 V and 12 V are apart at least; what one supply gave is not.
_SUPPLIES_APART: Final = 1.2
# 3000, 3300 and 3600 mV are this far apart.
_LEAST_MV, _ROUND_MV, _ROUND_APART = 1000, 100, 1.05
# What stands before numbers: bounds, and marks of a text.
_MARKS: Final = " <>=~*_`≤≥≈"
# Pieces of a run, whose length is set where it is the same in all.
_PIECES: Final = ("iteration", "iter", "invocation", "launch", "warmup", "sample")


class _Case(NamedTuple):
    """What a column is to which this applies, and why: a format of its `ColumnFacts`, c."""

    fits: Callable[[ColumnFacts], object]
    role: Role
    why: str


_CONSTANT: Final = _Case(lambda c: c.count == 1 and not _is_result(c), "label", ONE_VALUE)
_STUCK: Final = _Case(lambda c: _is_stuck(c), "label", "one value in nearly all rows: {c.variety}")
_RANKED: Final = _Case(lambda c: _ranks(c), "label", "a rank by results")
_PLACED: Final = _Case(lambda c: c.has(*WORDS["places"]), "label", "where the run was")
_NOTED: Final = _Case(lambda c: c.is_noted, "label", "a state that the machine reports")
_CAME_OUT: Final = _Case(lambda c: _is_outcome(c) or is_of_exit(c.heading.text), "label",
                         "what came out of the run")  # fmt: skip
_OF_TEXTS: Final = (
    _CONSTANT,
    _RANKED,
    _PLACED,
    _NOTED,
    _CAME_OUT,
    _Case(lambda c: _are_dates(c), "label", "a time of day or a date"),
    _Case(lambda c: names_units(c.heading.text, [*c.counts]), "label", "units of numbers"),
    _Case(lambda c: all(map(_DATED_PATH.fullmatch, c.counts)), "label", "paths with a time"),
    _Case(lambda c: _are_measurements(c), "label", "a measurement as a text"),
    _Case(lambda c: names_machines(c.heading) and 1 < c.count <= c.rows / 2,
          "knob", "machines: {c.variety}"),
    _Case(lambda c: _are_stamped(c), "label", "one name with the time of each run"),
    _Case(lambda c: _is_remark(c), "label", REMARK),
    _Case(lambda c: c.recurs and statements_in(c.heading.words, c.counts),
          "knob", "statements by their verbs: {c.variety}"),
    # What was asked or answered.
    _Case(lambda c: any("\n" in text or len(text) > 80 for text in c.counts),
          "label", "texts of several words"),
    _Case(lambda c: _names_a_run(c), "label", "a name of a run: {c.variety}"),
    _Case(lambda c: _names_rows(c), "label", f"{A_NAME}: {{c.variety}}"),
    _Case(lambda _: True, "knob", "names: {c.variety}"),
)  # fmt: skip
_OF_NUMBERS: Final = (
    _CONSTANT,
    _STUCK,
    _RANKED,
    _PLACED,
    _NOTED,
    _CAME_OUT,
    _Case(lambda c: c.has("timestamp", "datetime", "date") or are_epochs(c.heading, c.numbers)
          or (c.measured is not True and _are_dates(c)), "label", "a time of day or a date"),
    # Nobody chose them.
    _Case(lambda c: c.differs and c.has("seed") and all(len(t) > _MOST_SEED for t in c.counts),
          "label", DRAWN),
    _Case(lambda c: _is_of_the_machine(c), "label", "the state of the machine"),
    _Case(lambda c: _is_index(c), "label", ROW),
    _Case(lambda c: c.has("model") and c.has("params", "parameters", "fsize", "flops", "macs")
          and c.kind == "whole" and c.numbers.min() >= _MANY_PARAMETERS,
          "label", "the size of a model"),
    _Case(lambda c: _numbers_rows(c), "label", "a number of the row"),
    # What was set although its like is measured.
    _Case(lambda c: c.heading.unit and not read_heading(c.heading.text).unit
          and _is_bare(c.heading) and c.kind == "whole" and c.recurs,
          "knob", "whole numbers, each with its unit: {c.variety}"),
    _Case(lambda c: c.quantity == "frequency" and c.count <= MOST_VALUES
          and (c.recurs or c.kind == "whole") and not c.has(*WORDS["read_clocks"]),
          "knob", "a clock, {c.variety}"),
    _Case(lambda c: c.quantity == "frequency", "metric", "a clock, {c.variety}"),
    _Case(lambda c: _is_supply(c), "knob", "voltages apart that recur: {c.variety}"),
    _Case(lambda c: c.is_offered and is_even(c.numbers),
          "knob", f"{OFFERED}: {{c.variety}}"),
    _Case(lambda c: c.kind == "whole" and c.has("duration") and are_multiples(c.numbers)
          and min(c.counts.values()) > 1, "knob", "whole numbers in even steps: {c.variety}"),
    # What was measured, by its heading, or by values that nobody sets.
    _Case(lambda c: is_counted(c.heading) and any("." in t.rstrip("0.") for t in c.counts),
          "metric", "fractions of what is counted in whole: means"),
    _Case(lambda c: c.measured is True or counts_bad(c.heading), "metric", "{c.measurement}"),
    _Case(lambda c: c.quantity == "bytes" and c.has(*WORDS["statistics"]) and c.count > MOST_STEPS,
          "metric", "a statistic of more values than people set: {c.variety}"),
    # A size may be of a machine.
    _Case(lambda c: (not c.has(*WORDS["set"] - {"size"}) or c.quantity == "bytes" or c.differs)
          and any(digits_of(text) > _MOST_DIGITS for text in c.counts),
          "metric", "numbers of more digits than people set: {c.variety}"),
    _Case(lambda c: c.kind == "real" and (
              (c.differs and c.count > MOST_STEPS and c.measured is None)
              or (c.quantity in ("time", "bytes") and not c.recurs)),
          "metric", "numbers of which none recurs: {c.variety}"),
    _Case(lambda c: _is_odd(c), "metric", "whole numbers that nobody sets: {c.variety}"),
    # What was set, by its heading, or by values that recur.
    _Case(lambda c: c.measured is False and (c.count <= MOST_NAMES
              or (c.kind == "whole" and float(np.ptp(c.numbers)) <= 2 * c.count))
          and (c.recurs or names_a_setting(c.heading) or c.rows < _FEW_ROWS),
          "knob", "'{c.setting}', {c.variety}"),
    _Case(lambda c: c.recurs, "knob", f"{FEW_VALUES}: {{c.variety}}"),
    _Case(lambda c: c.are_doublings, "knob", "powers of two, which people choose: {c.variety}"),
    _Case(lambda _: True, "metric", "numbers that seldom recur: {c.variety}"),
)  # fmt: skip


def guess_of(heading: Heading, cells: Sequence[Cell]) -> Guess:
    """Judge a column by its heading, then by its cells."""
    column = ColumnFacts(heading, cells)
    if not column.rows:
        return Guess(heading, "label", "no cell has a value", is_dropped=True, cells=cells)
    cases = _OF_TEXTS if column.kind == "text" else _OF_NUMBERS
    case = next(case for case in cases if case.fits(column))
    cells = column.cells
    guess = Guess(heading, case.role, case.why.format(c=column), column.kind, cells=cells)
    guess.quantity, guess.numbers, guess.count = column.quantity, column.numbers, column.count
    if heading.unit is None and heading.has("var", "variance"):
        # The square of a quantity.
        guess.quantity = ""
    guess.is_dropped = case.why == ROW
    if column.no_results:
        guess.why += f"; no result: {', '.join(sorted(column.no_results)[:_MOST_SAID])}"
    if case.why.startswith("statements"):
        values = statements_in(heading.words, column.counts)
        guess.values, guess.is_given = values, True
        guess.cells = [values.get(str(cell).strip(), cell) for cell in cells]
        guess.count = len({*values.values()})
    guess.unit = heading.unit.text if heading.unit else ""
    is_unsaid = guess.quantity == "frequency" and guess.role != "label" and not guess.unit
    if is_unsaid and len(guess.numbers):
        guess.unit = clock_unit(guess.numbers.max())
    if guess.role == "metric" and column.measured is not False:
        guess.better = direction_of(heading, column.quantity)
    is_amount = _AMOUNT.fullmatch(" ".join(heading.words)) is not None
    # `Ranks/Node` is of ranks, and `device.power_limit_w` a limit.
    own = re.split(r"/| per ", heading.text)[0]
    last = words_of(own.rpartition(".")[2])
    above = words_of(own) if _SAYING.isdisjoint(last) else last
    is_given = is_amount or not WORDS["given"].isdisjoint(above) or _says_the_meter(column)
    is_given |= column.kind == "text" and are_stages(column.counts)
    guess.is_given = guess.role == "knob" and (is_given or guess.is_given)
    return guess


def _is_result(column: ColumnFacts) -> bool:
    """Return whether it has an energy, a power or a time that was measured.

    Of one row everything is a result or a setting, but numbers of which no word says anything.
    """
    if column.rows == 1:
        return column.kind == "text" or column.measured is not None
    is_cost = column.quantity in ("energy", "power", "time") and bool(np.any(column.numbers > 0))
    # `ramp_s` of 5 in all rows was set, and so was `IterationTime` of 1s.
    may_be_set = _is_bare(column.heading) or column.has(*_PIECES)
    is_set = column.kind == "whole" and column.quantity == "time" and may_be_set
    # `device.cuda_runtime` is a version.
    is_set |= column.quantity == "time" and not column.heading.unit and column.is_described
    # `package` is 1 in rows of one socket.
    is_set |= column.kind == "whole" and column.quantity == "energy" and not column.heading.unit
    return is_cost and column.measured is not False and not is_set


def _is_stuck(column: ColumnFacts) -> bool:
    """Return whether nearly all of many numbers are the same: not set, nor resolved by a meter.

    What is counted seldom may be a result: errors.
    """
    most = max(column.counts.values(), default=0)
    may_be = column.measured is not True or column.quantity in ("energy", "power", "time")
    return may_be and column.count > 1 and column.rows >= _MANY_ROWS and most >= _SAME * column.rows


def _says_the_meter(column: ColumnFacts) -> bool:
    """Return whether texts say how the energy was measured: what two meters say is not compared."""
    is_named = column.has(*WORDS["methods"]) and column.has("energy", "power")
    words = map(words_of, column.counts)
    return column.kind == "text" and (
        is_named or all(not WORDS["meters"].isdisjoint(each) for each in words)
    )


def _ranks(column: ColumnFacts) -> bool:
    """Return whether rows are ranked by results: `energy_rank`, `on_pareto`; not `lora_rank`."""
    words, places = column.heading.words, np.unique(column.numbers)
    if column.has("ranking", "ranked") or words[-1:] == ("pareto",):
        return True
    is_place = words[-1:] == ("rank",) and len(words) > 1
    is_dense = len(places) > _FEWEST_PLACES and np.array_equal(places, np.arange(len(places)) + 1)
    return is_place and (is_dense or not MEASURED.isdisjoint(words))


def _is_outcome(column: ColumnFacts) -> bool:
    """Return whether yes and no say what came out of runs: `correct`, `oom`.

    A sweep has as many rows of each: `throttled` may be set.
    """
    is_named = not WORDS["outcomes"].isdisjoint(column.heading.words[-1:])
    is_swept = column.count > 1 and len({*column.counts.values()}) == 1
    return is_named and not is_swept and {text.lower() for text in column.counts} <= YES_OR_NO


def _are_dates(column: ColumnFacts) -> bool:
    dates = sum(count for text, count in column.counts.items() if _DATE.fullmatch(text))
    is_moment = column.differs and column.rows > 1 and column.has(*WORDS["times_of_day"])
    return 2 * dates > column.rows or is_moment


def _are_stamped(column: ColumnFacts) -> bool:
    """Return whether names differ in the time of their run alone: `infer_2022_03_01_18_31_12`."""
    rests = {_STAMP.sub("", text) for text in column.counts}
    return column.differs and len(rests) == 1 and rests.isdisjoint(column.counts)


def _is_of_the_machine(column: ColumnFacts) -> bool:
    """Return whether an object that describes the machine has a number, of each run another.

    `platform.available` of its memory; no cost.
    """
    is_number = column.is_described and column.quantity not in ("energy", "power", "time", "rate")
    return is_number and column.differs and column.rows > 1 and not column.has(*WORDS["set"])


def _are_measurements(column: ColumnFacts) -> bool:
    """Return whether most texts of a measured quantity begin with a number: `< 0.012`, `5 W`."""
    often = column.counts.items()
    numbered = sum(count for text, count in often if text.lstrip(_MARKS)[:1].isdigit())
    is_cost = column.quantity in ("energy", "power", "time", "current")
    is_cost &= not column.has(*WORDS["limits"])
    return 2 * numbered > column.rows and (is_cost or column.heading.words[-1:] == ("rss",))


def _is_supply(column: ColumnFacts) -> bool:
    """Return whether voltages are few, apart and of two digits, as those of supplies are.

    Those in hundreds of millivolts may be nearer: a meter that resolves 1 mV reads other numbers.
    """
    if column.quantity != "voltage" or not 1 < column.count <= column.rows / 2:
        return False
    volts = np.unique(column.numbers)
    is_round = column.kind == "whole" and volts[0] >= _LEAST_MV and not np.any(volts % _ROUND_MV)
    apart = _ROUND_APART if is_round else _SUPPLIES_APART
    is_far = volts[0] > 0 and bool(np.all(volts[1:] >= apart * volts[:-1]))
    return is_far and all(digits_of(text) <= 2 for text in column.counts)


def _names_a_run(column: ColumnFacts) -> bool:
    """Return whether a heading is of an id of a run, or a part of a campaign."""
    of, last = ("", *column.heading.words)[-2:]
    is_campaign = of in WORDS["campaigns"] and all(re.search(r"\d", text) for text in column.counts)
    return last == "id" and (of in ("run", "job", "session") or is_campaign)


def _is_remark(column: ColumnFacts) -> bool:
    """Return whether texts are remarks; a state that was set, as `foreground`, is none."""
    if not column.has(*WORDS["remarks"]) or column.has("model"):
        return False
    ends = WORDS["failed"] | WORDS["succeeded"] | WORDS["states"]
    words = {word for text in column.counts for word in words_of(text)}
    is_state = column.heading.words[-1:] == ("state",) and column.count <= column.rows / 2
    return not (is_state and words.isdisjoint(ends))


def _names_rows(column: ColumnFacts) -> bool:
    """Return whether texts differ in most rows, as names of rows do."""
    mostly, ran = 2 * column.count > column.rows, column.has(*WORDS["given"])
    return (
        column.count > MOST_NAMES
        or (column.rows > 3 and column.differs and column.has("id"))
        or (column.rows > 10 and mostly and not column.has(*WORDS["set"]))
        or (column.has(*_IDENTIFIERS) and mostly and (column.differs or not ran))
    )


def _is_index(column: ColumnFacts) -> bool:
    """Return whether a column without a heading counts the rows, as pandas writes an index."""
    text, numbers = column.heading.text, column.numbers
    is_unnamed = not text or text.startswith("Unnamed: ")
    steps = np.diff(numbers)
    is_whole = bool(np.all(steps == 1)) and numbers[0] in (0, 1)
    # Rows that were left out leave gaps; each file begins again.
    is_rising = column.kind == "whole" and len(steps) > 0 and bool(np.mean(steps > 0) > _RISING)
    return is_unnamed and (is_whole or is_rising)


def _numbers_rows(column: ColumnFacts) -> bool:
    """Return whether identifiers seldom recur, or count the rows in each of several parts."""
    steps = np.diff(column.numbers)
    begins = column.numbers[1:][steps != 1]
    is_in_parts = len(begins) <= len(steps) / 4 and bool(np.all(begins == column.numbers[0]))
    counts = not column.recurs or (len(steps) > 1 and is_in_parts)
    return column.has("pid", "tid") or (column.has(*_IDENTIFIERS) and counts)


def _is_bare(heading: Heading) -> bool:
    """Return whether no word is of a measurement."""
    return MEASURED.isdisjoint(heading.words)


def _is_odd(column: ColumnFacts) -> bool:
    """Return whether whole numbers are none that people choose: 10813 and 9877 tokens."""
    heading = column.heading
    if column.kind != "whole" or heading.unit or column.quantity or column.count <= _FEWEST_PLACES:
        return False
    is_said = not is_counted(heading) and heading.has(*WORDS["given"], "seed", *_IDENTIFIERS)
    if is_said or heading.has(*WORDS["limits"]) or _AMOUNT.fullmatch(" ".join(heading.words)):
        return False
    least = _ODD_DIGITS - is_counted(heading)
    odd = [text for text in column.counts if len(text.strip("-0")) >= least and int(text) % _STEP]
    return 2 * len(odd) >= column.count

"""What the columns of a table are: knob, metric or label, with unit, direction and evidence.

Units that no heading says follow from energy = power x time.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations
from types import MappingProxyType
from typing import Final

import numpy as np

from data.knob_table import STATED
from data.metrics import CHANGE_OF
from data.schema import KNOBS, MEASUREMENTS
from ingest.declarations import TableColumn
from ingest.formats.json_cells import Cell
from ingest.proposals.beside import A_PART, mark_beside
from ingest.proposals.counted_energies import read_counted
from ingest.proposals.guess import MOST_VALUES, Guess, decides, digits_of, is_even, rows_by
from ingest.proposals.heading_roles import is_measured, read_together
from ingest.proposals.lake_columns import choose_targets
from ingest.proposals.named_powers import leave_out_unmeasured, name_items, read_products
from ingest.proposals.path_parts import PathColumn
from ingest.proposals.replicates import (
    choose_replicate,
    names_a_setting,
    numbers_runs,
    rows_of_settings,
    was_repeated,
)
from ingest.proposals.request_units import AT_RANDOM, settle_rates
from ingest.proposals.roles import A_NAME, FEW_VALUES, MOST_NAMES, MOST_STEPS, REMARK, guess_of
from ingest.proposals.twin_columns import mark_twins, take_sizes_of_models
from ingest.proposals.work_columns import (
    give_work,
    leave_out_baselines,
    leave_out_repeated,
    leave_out_repetitions,
)
from ingest.settings.column_names import VALUES, WORDS
from ingest.settings.headings import counts_bad, read_heading, without_unit

# Of numbers that were set, such a share occurs as often as the others in each setting.
_REGULAR: Final = 0.8
# The largest of what is counted over the least.
_NEAR: Final = 1.5
# Costs that people set have so many digits at most, fractions among them.
_MOST_SET: Final = 3
# Of so many values a sweep has more than half in each setting.
_MANY: Final = 8
_SIDES: Final = frozenset("IJKMN")
_COSTS: Final = ("energy", "power", "time", "runtime", "duration", "latency", "throughput")
# Runs of one setting cost up to so many times as much as others.
_UNLIKE: Final = 3
# Last words of the number of something, or of work that may have been done.
_NUMBER_OF: Final = WORDS["number_of"]
STATED_NAMES: Final = frozenset(knob.stated_as for knob in STATED)


def guess_columns(
    headings: Sequence[str],
    columns: Sequence[Sequence[Cell]],
    cell_units: Mapping[str, str],
    declared: Mapping[str, TableColumn],
    sources: Sequence[str] = (),
    stated: Sequence[PathColumn] = (),
    said: Mapping[str, str] = MappingProxyType({}),
) -> list[Guess]:
    """Guess the roles, targets and units of the columns of a table.

    Args:
        columns: The cells of each column, all of one length.
        cell_units: By heading the unit that follows each number.
        declared: By heading what the settings say already.
        sources: The file of each row; nothing for one.
        stated: What texts of other columns state.
        said: By heading a word that says what it is of, as the name of the file does.
    """
    set_by_texts = {part.name for part in stated if part.role == "knob"}
    read = [read_heading(heading, cell_units.get(heading, "")) for heading in headings]
    read = [replace(h, words=(*h.words, *filter(None, [said.get(h.text)]))) for h in read]
    read = read_together(read, columns)
    guesses = [guess_of(each, cells) for each, cells in zip(read, columns, strict=True)]
    settle_rates(guesses)
    read_counted(guesses)
    for guess in guesses:
        known = declared.get(guess.heading.text)
        # Of a unit that a published table doubts, the other columns may say more.
        if known is not None and not known.doubt:
            _declare(guess, known)
        elif guess.heading.text in set_by_texts and guess.role != "knob":
            guess.take("knob", "stated in a text")
    leave_out_unmeasured(guesses)
    products = read_products(guesses)
    mark_beside(guesses)
    leave_out_repetitions(guesses)
    _find_counts(guesses, sources)
    _find_crossed(guesses)
    _find_results(guesses)
    take_sizes_of_models(guesses)
    mark_twins(guesses)
    _find_a_knob(guesses)
    choose_replicate(guesses, sources)
    leave_out_baselines(guesses)
    leave_out_repeated(guesses)
    choose_targets(guesses, _of_groups(guesses) | _of_files(guesses, sources))
    for each in products:
        each.settle()
    name_items(guesses)
    _give_models(guesses)
    give_work(guesses)
    _name_changes(guesses)
    _name_none(guesses)
    return guesses


def _name_none(guesses: Sequence[Guess]) -> None:
    """Call the only number below 0 of a knob none, if it is -1: no cap, no limit."""
    for guess in (g for g in guesses if g.role == "knob" and not g.is_declared):
        below = {str(cell).strip() for cell in guess.cells if str(cell).strip().startswith("-")}
        if below == {"-1"} and max(guess.numbers, default=0) > 1:
            guess.values = {"-1": "none"}
            guess.why += "; -1 is none"


def _name_changes(guesses: Sequence[Guess]) -> None:
    """Call percentages below 0, and those of costs beside them, changes: nothing else is so."""
    shares = [g for g in guesses if g.role == "metric" and g.unit == "%" and not g.is_declared]
    below = [guess for guess in shares if len(guess.numbers) and guess.numbers.min() < 0]
    costs = [guess for guess in shares if guess.heading.has(*_COSTS)] if below else []
    for guess in dict.fromkeys((*below, *costs)):
        if not guess.to and not guess.heading.has(*WORDS["derived"]):
            guess.name = f"{CHANGE_OF}{without_unit(guess.title).removesuffix('_pct')}"


def _give_models(guesses: Sequence[Guess]) -> None:
    """Take models, amounts of work and what does other work for what ran, if else was set."""
    # Sides of matrices, `M`, `N`, `K`, and numbers of tokens are such amounts, two at least.
    sides = [guess for guess in guesses if guess.heading.text in _SIDES]
    of_tokens = (g for g in guesses if g.is_set and g.heading.words[-1:] == ("tokens",))
    tokens = [g for g in of_tokens if not g.heading.has("batched", *WORDS["limits"])]
    for amounts in (sides, tokens):
        for guess in amounts if len(amounts) > 1 else ():
            guess.is_given = guess.role == "knob"
    knobs = [guess for guess in guesses if guess.is_set]
    work, treated = WORDS["work"], WORDS["treated"]
    models = [g for g in knobs if g.heading.has(*work) and not g.heading.has(*treated)]
    models = [guess for guess in models if not _are_forms(guess)]
    models += [g for g in knobs if not g.is_given and g.kind == "text" and _are_unlike(g, knobs)]
    if any(not guess.is_given and guess not in models for guess in knobs):
        for guess in models:
            guess.is_given = True


def _are_unlike(guess: Guess, knobs: Sequence[Guess]) -> bool:
    """Return whether two values of a name have half of their work in common, or less.

    `Sign` and `Verify` of signatures, `Encaps` and `Decaps` of keys.
    """
    for ran in (each for each in knobs if each.is_given and each.kind == "text"):
        work: dict[Cell, set[Cell]] = defaultdict(set)
        for cell, of in zip(guess.cells, ran.cells, strict=True):
            work[cell].add(of)
        pairs = combinations([each for each in work.values() if len(each) > 1], 2)
        if any(2 * len(one & other) <= min(len(one), len(other)) for one, other in pairs):
            return True
    return False


def _are_forms(guess: Guess) -> bool:
    """Return whether a model is told by its precision, or by the framework beside it, alone."""
    names = {str(cell).strip().lower() for cell in guess.cells}
    is_form = names <= VALUES["precision"] | VALUES["framework"]
    return guess.kind == "text" and is_form and not names.isdisjoint(VALUES["precision"])


def _declare(guess: Guess, known: TableColumn) -> None:
    """Take what the settings say of a column."""
    guess.is_declared, guess.to, guess.is_dropped = True, known.to or "", known.is_dropped
    guess.scale, guess.unit, guess.better = known.scale, known.unit, known.better
    is_metric = known.to in MEASUREMENTS or (known.to is None and guess.kind != "text")
    is_knob = known.to in KNOBS or known.to in STATED_NAMES
    guess.role = known.role or ("knob" if is_knob else "metric" if is_metric else "label")
    if guess.role == "knob" and not guess.count:
        guess.role = "label"
    guess.values = {"": ""} if known.values else {}
    guess.is_given, guess.doubt = known.is_given, ""


def _find_crossed(guesses: Sequence[Guess]) -> None:
    """Make knobs of numbers whose heading is of a measurement, but that were set.

    Each of few values occurs as often with every other setting, as no measurement does.
    """
    for guess in guesses:
        if guess.role != "metric" or guess.why == A_PART or not 1 < guess.count <= MOST_VALUES:
            continue
        if guess.heading.has(*WORDS["means"], *WORDS["statistics"], *WORDS["latencies"]):
            continue
        if counts_bad(guess.heading):
            continue
        # Nobody sets 93.4716 J, whatever the rows repeat.
        is_cost = guess.quantity in ("energy", "power", "time")
        if is_cost and any(digits_of(str(cell)) > _MOST_SET for cell in {*guess.cells}):
            continue
        seen = [Counter(guess.cells[row] for row in rows) for rows in rows_of_settings(guesses)]
        if len(seen) > 1 and len(seen[0]) > 1 and all(each == seen[0] for each in seen):
            guess.take("knob", f"each of {guess.count} values as often with every other setting")


def _of_groups(guesses: Sequence[Guess]) -> frozenset[str]:
    """Return the headings of measurements of several rows, once in each: `group_energy_j`.

    A column has the number of their group, with the same word: `group`.
    """
    groups = {
        guess.heading.words[0]: guess.cells
        for guess in guesses
        if len(guess.heading.words) == 1 and guess.kind == "whole" and not guess.heading.unit
    }
    return frozenset(
        guess.heading.text
        for guess in guesses
        if len(guess.heading.words) > 1
        and (of := groups.get(guess.heading.words[0])) is not None
        and len({*of}) < len(of)
        and decides(of, guess.cells)
    )


def _of_files(guesses: Sequence[Guess], sources: Sequence[str]) -> frozenset[str]:
    """Return the headings of totals of files, the same in each row of one: of a list of requests.

    Their rows have an energy of their own too.
    """
    metrics = [g for g in guesses if g.role == "metric" and g.quantity in ("energy", "time")]
    carried = [g for g in metrics if sources and g.count > 1 and decides(sources, g.cells)]
    own = {guess.quantity for guess in metrics if guess not in carried}
    totals = [guess for guess in carried if guess.quantity in own]
    is_of_rows = len(sources) >= 2 * len({*sources})
    has_energy = any(guess.quantity == "energy" for guess in totals)
    return frozenset(g.heading.text for g in totals if is_of_rows and has_energy)


def _find_counts(guesses: Sequence[Guess], sources: Sequence[str]) -> None:
    """Make metrics of whole numbers that no word says to be set, and that differ at random.

    They are near, as `4998` and `5000` of 5,000 tasks, or of many values each setting has a few, or
    near ones in each file.
    """
    may_be = [guess for guess in guesses if guess.kind == "whole" and _is_unsaid(guess)]
    settings = rows_of_settings(guesses, [*may_be, *filter(numbers_runs, guesses)])
    own = [of for rows in settings for of in rows_by([sources], rows)] if sources else settings
    for guess in may_be:
        often = [Counter(guess.cells[row] for row in rows) for rows in settings]
        times = Counter(chain.from_iterable(each.values() for each in often))
        most = len(settings) * guess.count
        is_near = guess.numbers.max() < _NEAR * guess.numbers.min() and not is_even(guess.numbers)
        is_random = is_near and max(times.values()) < _REGULAR * most
        # Two runs of a setting seldom agree in what is counted.
        is_alone = 2 * times[1] > times.total()
        is_random |= guess.count >= _MANY and is_alone and times.total() < most / 2
        is_random |= guess.count >= _MANY and all(_are_near(guess.cells, rows) for rows in own)
        if is_random and times.total() > len(settings):
            guess.take("metric", AT_RANDOM)


def _are_near(cells: Sequence[Cell], rows: Sequence[int]) -> bool:
    """Return whether whole numbers are near, and no steps of one size."""
    numbers = np.unique([float(cells[row] or 0) for row in rows])
    steps = np.diff(numbers)
    is_swept = len(steps) > 1 and bool(np.all(steps == steps[0]))
    return len(numbers) == 1 or (not is_swept and bool(numbers[-1] < _NEAR * numbers[0]))


def _is_unsaid(guess: Guess) -> bool:
    """Return whether numbers are a knob by their values alone, or as the number of something."""
    is_number = not _NUMBER_OF.isdisjoint(guess.heading.words[-1:])
    is_free = guess.role == "knob" and not guess.is_declared
    return is_free and (is_number or guess.why.startswith(FEW_VALUES))


def _find_results(guesses: Sequence[Guess]) -> None:
    """Make metrics of fractions that recur only since the knobs do: a ratio of compression.

    Two knobs at least decide them together, and no configuration differs in them alone.
    """
    for guess in guesses:
        if guess.role != "knob" or guess.kind != "real":
            continue
        others = [g.cells for g in guesses if g.role == "knob" and g is not guess]
        knobs, cells = [*zip(*others, strict=True)], guess.cells
        is_alone = any(decides(other, cells) for other in others)
        is_decided = bool(knobs) and decides(knobs, cells) and len({*knobs}) > guess.count
        is_many = 2 * guess.count > MOST_STEPS and not guess.quantity
        if is_decided and not is_alone and (is_many or guess.quantity == "bytes"):
            guess.take("metric", "the knobs decide it together")


def _is_by_design(guess: Guess, guesses: Sequence[Guess]) -> bool:
    """Return whether numbers are no results but few values of few digits, of which all recur as
    often; or shares in even steps, once each, in the first column.
    """
    # Voltages are set and measured.
    is_result = guess.quantity != "voltage" and is_measured(guess.heading, guess.quantity) is True
    is_free = guess.role == "metric" and not (is_result or guess.is_declared)
    costs = (g for g in guesses if g.quantity in ("energy", "power", "time", "rate"))
    is_free &= any(cost.role == "metric" for cost in costs)
    if not is_free or guess.count < 2 or len(guess.numbers) < len(guess.cells):
        return False
    if any(digits_of(str(cell)) > _MOST_SET for cell in {*guess.cells}):
        return False
    often = {*Counter(guess.cells).values()}
    if often == {1}:
        steps = np.diff(guess.numbers)
        is_share = guess.kind == "real" and 0 <= guess.numbers.min() <= guess.numbers.max() <= 1
        is_even = guess.count >= _MANY and bool(np.allclose(steps, steps[0], rtol=1e-6))
        is_clock = guess.heading.has("t", *WORDS["samples"], *WORDS["times_of_day"])
        return is_share and is_even and not is_clock and guess is guesses[0]
    return len(often) == 1


def _numbers_what_ran(guess: Guess, guesses: Sequence[Guess]) -> bool:
    """Return whether a column such as `query_id` has a value a row, and costs differ threefold.

    Runs of one setting, numbered, cost about the same.
    """
    words = {*guess.heading.words}
    is_id = "id" in words and not words.isdisjoint(WORDS["given"])
    if not is_id or guess.is_declared or len({*guess.cells}) < len(guess.cells):
        return False
    costs = [g.numbers for g in guesses if g.role == "metric" and g.quantity in ("energy", "time")]
    return any(len(c) > 1 and c.min() > 0 and c.max() > _UNLIKE * c.min() for c in costs)


def _are_steps(guess: Guess) -> bool:
    """Return whether fractions of one digit, or ten and the like, rise: 0, 0.01, 0.05, 0.1."""
    digits = [len(f"{number:g}".replace(".", "").strip("0")) for number in guess.numbers]
    is_full = len(guess.numbers) == len(guess.cells) >= _MANY
    return is_full and max(digits) == 1 and bool(np.all(np.diff(guess.numbers) > 0))


def _find_a_knob(guesses: Sequence[Guess]) -> None:
    """Take names that alone tell rows apart; if nothing was set, what precedes the measurements."""
    for guess in guesses if all(map(numbers_runs, (g for g in guesses if g.is_set))) else ():
        if was_repeated(guess, guesses):
            guess.take("knob", "few digits, and runs of one value differ in their number alone")
            break
    if any(guess.role == "knob" for guess in guesses):
        for guess in guesses:
            if guess.why.startswith((REMARK, A_NAME)) and names_a_setting(guess, guesses):
                guess.take("knob", f"alone tells rows of one setting apart: {guess.count} names")
        return
    for guess in guesses:
        if _is_by_design(guess, guesses):
            guess.take("knob", f"each of {guess.count} values as often, and nothing else was set")
            return
    for guess in guesses:
        if 1 < guess.count <= MOST_NAMES and guess.why == REMARK:
            # Rows that these names alone tell apart are no replicates.
            guess.take("knob", "the only names, and nothing else was set")
            return
    for guess in guesses:
        if _numbers_what_ran(guess, guesses):
            guess.take("knob", "numbers what ran, of unlike costs, and nothing else was set")
            guess.is_given = True
            return
    for guess in guesses:
        # Numbers of iterations and loads may be counted, or chosen: 10, 100, 1000; 15000 qps.
        # A throughput came out, however round it is.
        is_load = guess.heading.has(*WORDS["loads"]) and not guess.heading.has("throughput")
        digits = 2 if is_load else int(guess.heading.words == ("iterations",))
        is_chosen = digits > 0 and all(
            len(f"{number:.0f}".rstrip("0")) <= digits for number in guess.numbers
        )
        if guess.why.startswith(("'", "unit")) and not is_chosen:
            return
        is_free = guess.why.startswith(("numbers that seldom", A_NAME)) or is_chosen
        is_free = is_free and not guess.heading.has(*WORDS["identifiers"])
        is_named = guess.kind != "real" or (guess is guesses[0] and _are_steps(guess))
        if is_free and is_named and 1 < guess.count <= MOST_NAMES:
            guess.take("knob", "the first column, and nothing else was set")
            return

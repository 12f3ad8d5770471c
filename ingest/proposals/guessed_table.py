"""What a table is of which nobody declared anything: its shape, columns, paths and performance."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from data.catalogue import deviations
from data.declared import Kind
from data.schema import KNOBS, MEASUREMENTS
from ingest.formats.json_rows import is_configuration, is_set
from ingest.formats.table_columns import OF_TABLE
from ingest.formats.trace_layout import layout_of
from ingest.formats.trace_search import trace_of
from ingest.formats.workbook import is_named_as_workbook
from ingest.proposals.columns import guess_columns
from ingest.proposals.competing import let_one_compete, name_what_ran
from ingest.proposals.counter_pairs import mark_counters
from ingest.proposals.crossed_tables import (
    are_samples_of_powers,
    are_samples_over_time,
    is_computed,
    rows_are_samples,
)
from ingest.proposals.found_tables import FoundTable, plain_name
from ingest.proposals.guess import Guess, are_epochs
from ingest.proposals.heading_roles import SUMMAND, names_machines
from ingest.proposals.judged_parts import judged_parts, repeats_in, says_the_same
from ingest.proposals.lake_columns import COLUMNS
from ingest.proposals.like_columns import energy_parts, mean_columns, power_parts
from ingest.proposals.long_tables import said_of_boards, said_of_parts
from ingest.proposals.name_tokens import literal, renamed
from ingest.proposals.path_parts import PathColumn, read_paths
from ingest.proposals.phases import leave_out_phases, open_phases, phases_in_all, result_of
from ingest.proposals.replicates import steps_of_runs
from ingest.proposals.request_units import OF_REQUESTS, performance_of
from ingest.proposals.roles import MOST_STEPS, OFFERED
from ingest.proposals.split_texts import rests_of
from ingest.proposals.table_shape import shape_of
from ingest.settings.column_names import WORDS, clean_name, is_power_limit
from ingest.settings.dataset import UNKNOWN, Settings
from ingest.settings.heading_words import words_of
from ingest.settings.headings import read_heading, without_unit

# Knobs of the lake, by heading: only what cannot mean anything else.
_KNOBS: Final = {
    **dict.fromkeys(("qps", "target_qps", "load_qps", "rps", "target_rps"), "load_qps"),
    **{"msg": "message_bytes", "message_bytes": "message_bytes", "itr": "itr", "dvfs": "dvfs"},
    **{"rapl": "rapl_w", "machine": "machine", "threads": "threads"},
}
IDLE: Final = "idle"
# The lake's knob of this name is of threads that issue requests.
_THREADS: Final = "threads"
_THREAD_COUNT: Final = "thread count"
# The lake's devices are those of storage.
_OF_STORAGE: Final = ("io", "iops", "iodepth", "rw", "disk", "ssd", "nvme")
# Last words of headings of the phases of a run.
_PHASES: Final = frozenset({"phase", "stage", "state", "segment", "window", "period", "activity"})
_OF_RUNS: Final = WORDS["plain"] | WORDS["replicates"] | {"test", "measurement", "experiment"}
# A folder that is called by a number alone.
_NUMBERED_FOLDER: Final = re.compile(r"(?:^|/)\(\?P<replicate>[^()]*\)/")
_FOLDER: Final = "folder_number"
# So many runs of a workload may be compared.
_FEW: Final = 4
_SAMPLES: Final = "a row is a sample, or a part of a distribution"
_NO_TIME: Final = "a row is a sample of powers, and no column says when: there is no energy"
_EVENT: Final = "of an event, whose time stands beside"
_NOTHING: Final = "a row has no setting, energy, power, time, latency or rate, so it is no run"


class GuessedTable:
    """What tables with one heading are.

    Attributes:
        guesses: Of each column.
        parts: What their paths differ in.
        said: Names of those that say what a column of the rows says.
        path: The pattern of these paths, with a group for each part.
        means: Where rows are means of runs.
        refusal: Why no row is a run; empty if they are.
        power: Voltage and current whose product is the only power.
        energy: Columns whose sum is the only energy.
        phases: Those of a run whose energies do not add up to one, what takes most first.
        performance: Column of the workload's performance; empty if nothing was measured.
        loop: `open` if requests arrive at a rate that was set; a latency alone may be of an item.
        kinds: By heading the kind of columns that have several in the files of the study.
    """

    def __init__(
        self,
        table: FoundTable,
        dataset: str,
        settings: Settings,
        beside: Sequence[str] = (),
        refusal: str = "",
        is_of_requests: bool = False,
    ) -> None:
        """Guess what a table is.

        Args:
            beside: Paths of tables with nearly the same headings, its own too.
            refusal: Why other tables make no row of this one a run; empty if they do not.
            is_of_requests: Whether threads of the study issue requests.
        """
        self.table = table
        self.shape, content = shape_of(table)
        self.means = table.means or mean_columns(content.headings, content.columns)
        self.refusal = refusal
        self._is_configuration = False
        self.guesses = self._guess(content)
        self._name_columns(content.headings, settings, is_of_requests)
        leave_out_phases(self.guesses)
        self.power = power_parts(self.guesses)
        self.energy = energy_parts(self.guesses) or phases_in_all(self.guesses)
        path, self.parts = self._judge_paths(content, beside or table.paths, is_of_requests)
        self.path = path or (re.escape(table.paths[0]) if table.measured else "")
        self.system = dataset
        is_named = not self.parts and len(table.paths) == 1 and not table.measured
        named = table.name(settings) if is_named else ""
        self.workload = named or plain_name(dataset) or UNKNOWN
        self._give_names()
        self._aim_knobs(settings)
        self._aim_idle()
        self.performance, self.loop = performance_of(self.guesses)
        self.phases = () if self.energy else open_phases(self.guesses)
        if self.phases and (result := result_of(self.phases[0], self.guesses)):
            self.performance = result.to or result.own_name
        self.kinds: Mapping[str, Kind] = {}
        is_told = any(p.role != "label" or self._is_configuration for p in self.parts)
        is_told |= bool(self.power or self.energy or self.means) or any(
            map(_says_a_run, self.guesses)
        )
        if not (self.refusal or is_told):
            self.refusal = _NOTHING

    @property
    def pattern(self) -> str:
        """The pattern of the paths and of the copies of files, whose rows count once."""
        fits = re.compile(f"(?:^|.*/)(?:{self.path})").fullmatch
        copies = sorted(path for path in self.table.copies if not fits(path))
        return "|".join((self.path, *map(literal, copies))) if self.path else ""

    def _guess(self, content: FoundTable) -> list[Guess]:
        """Return what each column is, of rows as they become runs."""
        table = self.table
        if table.measured and rows_are_samples(table.headings, table.columns):
            self.refusal = self.refusal or _SAMPLES
            return []
        # Of runs in columns those that are computed from the others: `Energy (J) change`, `mean`.
        is_turned = self.shape.pivot and self.shape.unpivot
        ends = tuple(f" {each}" for each in table.headings if is_turned and is_computed(each))
        cells = zip(content.headings, content.columns, strict=True)
        kept = [(heading, each) for heading, each in cells if not heading.endswith(ends)]
        headings, columns = [heading for heading, _ in kept], [each for _, each in kept]
        sources = table.sources if content.rows == table.rows else ()
        stated = [part for _, parts in self.shape.split.values() for part in parts]
        said = said_of_parts(self.shape.pivot, table, headings)
        of_boards = said_of_boards(table, headings)
        guesses = guess_columns(
            headings, columns, content.units, table.declared, sources, stated, of_boards | said
        )
        for guess in guesses:
            pattern, _ = self.shape.split.get(guess.heading.text, ("", []))
            guess.values |= rests_of(pattern, guess.cells) if pattern else {}
        parts = [g for g in guesses if self.shape.pivot and g.heading.text in said]
        for guess in sorted(parts, key=lambda part: part.middle)[:-1]:
            # The longest part stands for the run.
            guess.better = None
        why = "computed from other columns"
        others = (read_heading(each) for each in content.headings if each not in headings)
        guesses += [Guess(each, "label", why, is_dropped=True) for each in others]
        mark_counters(guesses, self.shape.differences)
        if are_samples_over_time(guesses, sources) or _is_trace(table):
            self.refusal, guesses = self.refusal or _SAMPLES, []
        elif are_samples_of_powers(guesses, sources):
            self.refusal, guesses = self.refusal or _NO_TIME, []
        self.refusal = self.refusal or steps_of_runs(guesses)
        if self.means is not None:
            # Their columns are read as the declaration of means says.
            taken = {self.means.n, *filter(self.means.mean_of, content.headings)}
            guesses = [guess for guess in guesses if guess.heading.text not in taken]
        for guess in guesses:
            if guess.heading.text in table.keys and guess.why.startswith("numbers"):
                guess.take("knob", "the keys of a dictionary")
        # A table has results, as has a document with an energy.
        has_results = len(table.paths) < table.rows or any(
            g.role == "metric" and g.quantity == "energy" for g in guesses
        )
        self._is_configuration = all(map(is_configuration, table.paths)) and not has_results
        if self._is_configuration and table.paths:
            _measure_nothing(guesses)
        if table.rows == 1 and not table.is_document and _is_event(guesses):
            for guess in (each for each in guesses if each.role == "knob"):
                guess.take("label", _EVENT)
        return guesses

    def _name_columns(
        self, headings: Sequence[str], settings: Settings, is_of_requests: bool
    ) -> None:
        """Give names to columns of the table's own whose headings are names of other things."""
        is_of_storage = any(read_heading(heading).has(*_OF_STORAGE) for heading in headings)
        is_compared = any(guess.is_set and not guess.is_given for guess in self.guesses)
        ends = [heading.rpartition(".")[2] for heading in headings]
        for guess in self.guesses:
            text = guess.heading.text
            # Pages show a workload at a time: of a few runs each, none of which was set, all.
            is_few = text == "workload" and len(guess.cells) < _FEW * guess.count
            is_other = (is_few and not is_compared) or (text == "device" and not is_of_storage)
            if not guess.to and (is_other or _is_other(guess, settings)):
                guess.name = f"{text}{OF_TABLE}"
            if not guess.to and guess.heading.words == SUMMAND:
                guess.name = f"{without_unit(text)} part"
            if text.lower() == _THREADS and not is_of_requests:
                guess.name = _THREAD_COUNT
            if guess.role == "knob" and is_power_limit(text, guess.numbers.tolist()):
                guess.name, guess.unit = "power_limit", "W"
            # `parameters.level` is a level, unless another column is one.
            last = text.rpartition(".")[2]
            if is_set(text) and ends.count(last) == 1 and last not in COLUMNS:
                guess.name = last

    def _judge_paths(
        self, content: FoundTable, paths: Sequence[str], is_of_requests: bool
    ) -> tuple[str, list[PathColumn]]:
        """Return the pattern of the paths, and what they differ in beside the rows.

        One that says what a knob of the rows says is a label; others have names of their own.
        """
        path, parts = read_paths(paths) if len(paths) > 1 else ("", [])
        if _NUMBERED_FOLDER.search(path) and deviations([g.own_name for g in self.guesses]):
            # Means of runs are no repetitions: their folders number experiments.
            path = renamed(path, {"replicate": _FOLDER})
            parts = [replace(p, name=_FOLDER) if p.name == "replicate" else p for p in parts]
        rows = content if content.rows == self.table.rows else self.table
        by_heading = dict(zip(rows.headings, rows.columns, strict=True))
        for guess in self.guesses:
            cells = by_heading.get(guess.heading.text, ())
            is_named = guess.role == "knob" and guess.kind == "text" and guess.values
            guess.cells = [guess.values.get(str(c), c) for c in cells] if is_named else cells
        matches = [re.search(f"{path}$", source) for source in self.table.sources]
        texts = {p.name: [(match and match[p.name]) or "" for match in matches] for p in parts}
        self._mark_what_ran(texts)
        files = [source.rpartition("/")[2].rpartition(".")[0] for source in self.table.sources]
        for guess in self.guesses if len({*files}) > 1 else ():
            is_name = guess.role == "knob" and guess.kind == "text" and [*guess.cells] == files
            # Of a name that has several parts they are the settings.
            if is_name and not any(says_the_same(own, [guess]) for own in texts.values()):
                guess.take("label", "the name of the file")
        knobs = [guess for guess in self.guesses if guess.role == "knob" and guess.cells]
        costs = [guess.numbers for guess in self.guesses if guess.to in COLUMNS]
        runs = [guess.numbers for guess in self.guesses if guess.to in ("energy_j", "duration_s")]
        said = [replace(p, role="label") for p in parts if says_the_same(texts[p.name], knobs)]
        self.said = {part.name for part in said}
        parts = [part for part in parts if part.name not in self.said]
        is_counted = any(guess.to == "replicate" for guess in self.guesses)
        repeated = "" if is_counted else repeats_in(parts, texts, knobs, costs)
        parts = judged_parts(parts, texts, knobs, costs, runs, self._is_configuration)
        if all(guess.cells or guess.is_given for guess in self.guesses if guess.is_set):
            parts = let_one_compete(parts, texts, knobs)
        parts += said
        titles = [guess.title for guess in self.guesses if not guess.to]
        own = {name for t in titles for name in (clean_name(t, "metric"), "_".join(words_of(t)))}
        names = {p.name: "replicate" if p.name == repeated else p.name for p in parts}
        for part in (each for each in parts if each.name != repeated):
            is_count = part.name == _THREADS and not is_of_requests
            # The word of a folder may be the heading of another column.
            bare = re.sub(r"(?:_(?:text|whole|real))?(?:_\d+)?$", "", part.name)
            if part.role == "knob" and (bare in own or is_count):
                bare = _THREAD_COUNT if is_count else f"{bare} of path"
                names[part.name] = clean_name(bare, part.kind, {*own, *names.values()}, "knob")
            elif part.role == "label" and part.name == "machine":
                # A column says it already, beside which it would say nothing.
                names[part.name] = ""
        named = [replace(part, name=names[part.name]) for part in parts if names[part.name]]
        return renamed(path, names), named

    def _mark_what_ran(self, texts: Mapping[str, Sequence[str]]) -> None:
        """Mark of a text's parts the one that the path says too: what ran, and no variant of it.

        Args:
            texts: By name of a part of the paths its text in each row.
        """
        for _, parts in self.shape.split.values():
            amounts = {part.name for part in parts if part.is_given}
            for guess in self.guesses:
                guess.is_given |= guess.role == "knob" and guess.heading.text in amounts
            names = {part.name for part in parts}
            own = [guess for guess in self.guesses if guess.heading.text in names]
            same = [guess for guess in own if [*guess.cells] in [*texts.values()]]
            for guess in own if same else ():
                guess.is_given = guess in same

    def _give_names(self) -> None:
        """Take names that say by themselves that they are of what ran for that: `Name`."""
        columns: list[Guess | PathColumn] = [*self.guesses, *self.parts]
        free = [each for each in columns if each.role == "knob" and getattr(each, "count", 2) > 1]
        for guess in self.guesses:
            is_open = guess.is_set and guess.kind == "text" and not guess.is_declared
            others = [each for each in free if each is not guess and not each.is_given]
            guess.is_given |= is_open and name_what_ran(guess, others)

    def _aim_knobs(self, settings: Settings) -> None:
        taken = {guess.to for guess in self.guesses} | {part.name for part in self.parts}
        for guess in self.guesses:
            target = _KNOBS.get(guess.heading.text.lower())
            if guess.unit == "1/s" and guess.why.startswith(OFFERED):
                target = "load_qps"
            if target is None and guess.kind == "text" and names_machines(guess.heading):
                target = "machine"
            is_fit = target != "dvfs" or guess.kind == "text"
            is_free = guess.role == "knob" and not guess.is_declared and guess.name != _THREAD_COUNT
            if is_free and target and target not in taken and is_fit:
                kind = settings.tables[-1].kinds.get(target)
                if kind == "text" or guess.kind in (kind, "whole"):
                    guess.to = target
                    taken.add(target)

    def _aim_idle(self) -> None:
        """Send the idle phases of runs to a workload of their own: they did none of the work.

        The others are one phase, or numbered replicates of one: `idle_before`, `a1`, `a2`.
        """
        for guess in self.guesses:
            is_free = guess.role == "knob" and not (guess.is_declared or guess.to)
            # A `c_state` that is idle was set.
            is_phase = {*guess.heading.words[:-1]} <= _OF_RUNS and guess.heading.has(*_PHASES)
            names = {str(cell).strip() for cell in guess.cells if cell}
            idle = {name for name in names if IDLE in words_of(name)}
            stems = {name.rstrip("0123456789") for name in names - idle}
            if not (is_free and is_phase and guess.kind == "text" and idle and len(stems) == 1):
                continue
            guess.to, guess.is_given, guess.why = "workload", False, "phases: idle, and the work"
            guess.values = {n: IDLE if n in idle else self.workload for n in sorted(names)}
            for other in self.guesses if len(names - idle) > 1 else ():
                if other.to == "replicate":
                    # It counts the runs of each phase.
                    other.to, other.why = "", "a number of the row"


def _measure_nothing(guesses: Sequence[Guess]) -> None:
    """Take numbers of a configuration for what was set, or labels, whatever their words."""
    for guess in (guess for guess in guesses if guess.role == "metric"):
        is_swept = 1 < guess.count <= MOST_STEPS
        guess.role, guess.better = ("knob" if is_swept else "label"), None
        guess.aim("")
        guess.why = "of a configuration"


def _is_event(guesses: Sequence[Guess]) -> bool:
    """Return whether a row says when something happened, and no setting or measurement by number:
    the texts beside say what it was, such as a fault of one of the runs.
    """
    numbers = [guess for guess in guesses if guess.kind != "text"]
    is_free = all(guess.role == "label" for guess in numbers)
    return is_free and any(are_epochs(guess.heading, guess.numbers) for guess in numbers)


def are_of_requests(headings: Iterable[str]) -> bool:
    """Return whether threads of a study issue requests: they are part of the question, as a load
    is. Those of a program are tuned.
    """
    return any(read_heading(heading).has(*OF_REQUESTS) for heading in headings)


def _is_other(guess: Guess, settings: Settings) -> bool:
    """Return whether a column is another one than that of the lake with its heading."""
    name, kind = guess.heading.text, settings.tables[-1].kinds.get(guess.heading.text)
    if kind is None or guess.is_declared:
        return False
    # Completion modes of storage are no others: `eco`, `3`.
    if name == "mode":
        return not {str(cell).lower() for cell in guess.cells} <= settings.modes.keys()
    is_role = name not in (KNOBS if guess.role == "label" else ())
    is_role &= guess.role == "metric" or name not in MEASUREMENTS
    return name in COLUMNS or (guess.kind == "text") != (kind == "text") or not is_role


def _is_trace(table: FoundTable) -> bool:
    """Return whether the rows of a sheet are what a text with them would be: a trace."""
    if len(table.paths) != 1 or not is_named_as_workbook(table.paths[0]):
        return False
    rows = (dict(zip(table.headings, row, strict=True)) for row in zip(*table.columns, strict=True))
    return trace_of(layout_of([*rows])) is not None


def _says_a_run(guess: Guess) -> bool:
    """Return whether a column is a setting, or something measured that wattlas knows."""
    is_known = bool(guess.to or guess.quantity or guess.better or guess.unit)
    return guess.is_declared or guess.role == "knob" or (guess.role == "metric" and is_known)

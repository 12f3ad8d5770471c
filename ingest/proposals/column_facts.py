"""What the cases of a column ask of it: its heading, its texts and numbers, how they recur."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from ingest.formats.json_cells import Cell
from ingest.formats.written_numbers import are_readings, is_number, is_unset
from ingest.proposals.guess import MOST_VALUES, is_clock, numbers_of
from ingest.proposals.heading_roles import MEASURED, is_measured
from ingest.settings.column_names import WORDS
from ingest.settings.heading_words import words_of
from ingest.settings.headings import Heading, quantity_of

_FEW_DOUBLINGS: Final = 3
# Of the cells of a column of numbers so many may be no numbers.
_MOST_ODD: Final = 0.05
# Last words of objects that describe the machine.
_MACHINE: Final = WORDS["described"]
# Words of what a machine says of why its clocks are low, of which each may be a bit.
_STATES: Final = ("mask", "bitmask", "bits", "bitfield", "reason", "reasons", "state", "active")


class ColumnFacts:
    """A column as the cases see it.

    Attributes:
        cells: Of the rows; of a row without a result None.
        no_results: What those cells say: `OOM`; or texts of a few cells where all others were read.
        counts: How often each text occurs.
        numbers: Of the texts; empty if one of them is none.
        recurs: Whether it has few values, of which each occurs twice on average.
        differs: Whether all texts differ.
        measured: Whether the heading says that it was measured; None if it says nothing.
    """

    def __init__(self, heading: Heading, cells: Sequence[Cell]) -> None:
        self.heading, self.has, self.quantity = heading, heading.has, quantity_of(heading)
        self.measured = is_measured(heading, self.quantity)
        texts = [str(cell).strip() for cell in cells if cell is not None]
        texts = [text for text in texts if not is_unset(text)]
        self.cells, self.no_results = cells, frozenset[str]()
        if self.measured is not False and numbers_of(texts) is None:
            failed = {text for text in texts if _is_no_result(text)} or _odd_texts(texts)
            rest = [text for text in texts if text not in failed]
            is_told = self.measured or 2 * len(rest) > len(texts)
            if failed and rest and is_told and numbers_of(rest) is not None:
                self.cells = [None if str(cell).strip() in failed else cell for cell in cells]
                texts, self.no_results = rest, frozenset(failed)
        self.rows, self.counts = len(texts), Counter(texts)
        self.count = len(self.counts)
        # A setting without a name is another one than that with the only name.
        is_blank = 0 < self.rows < len(cells) and self.count == 1 and heading.has(*WORDS["set"])
        numbers = numbers_of(texts)
        self.numbers = np.empty(0) if numbers is None else numbers
        if len(self.numbers) and self.numbers.min() == self.numbers.max():
            # `0` and `0.00` are one value.
            self.counts, self.count = Counter({texts[0]: self.rows}), 1
        if self.quantity == "frequency" and not heading.unit and len(self.numbers):
            # 24 are no GHz, and no MHz.
            self.quantity = "frequency" if is_clock(self.numbers) else ""
        is_whole = all(re.fullmatch(r"-?\d+", text) for text in self.counts)
        self.count += is_blank and numbers is None
        self.kind = "text" if numbers is None else "whole" if is_whole else "real"
        self.recurs = self.count <= MOST_VALUES and self.rows >= 2 * self.count
        self.differs = self.count == self.rows
        self.variety = f"{self.count} values in {self.rows:,} rows"

    @property
    def are_doublings(self) -> bool:
        """Whether whole numbers, some of which recur, are powers of two: 128, 256, 1024, 4096."""
        is_free = self.kind == "whole" and not self.quantity and self.measured is not True
        values = [int(text) for text in self.counts] if is_free else []
        is_several = len(values) > _FEW_DOUBLINGS and not self.differs
        return is_several and all(n > 0 and n & (n - 1) == 0 for n in values)

    @property
    def is_offered(self) -> bool:
        """Whether whole numbers are a load: ones that recur, or several powers of two."""
        is_load = self.has(*WORDS["loads"]) or {"request", "rate"} <= {*self.heading.words}
        values = [int(text) for text in self.counts] if is_load and self.kind == "whole" else []
        are_doublings = len(values) > _FEW_DOUBLINGS and all(n > 0 == n & (n - 1) for n in values)
        return bool(values) and (self.recurs or are_doublings)

    @property
    def is_described(self) -> bool:
        """Whether it is in an object that describes the machine: `device.cuda_runtime`."""
        above = words_of(self.heading.text.rpartition(".")[0])
        return not _MACHINE.isdisjoint(above[-1:])

    @property
    def is_noted(self) -> bool:
        """Whether it says why clocks were low: `throttle.mask`, `clocks_event_reasons`."""
        is_throttled = self.has("throttle", "throttled", "throttling") and self.has(*_STATES)
        is_event = self.has("clock", "clocks", "event", "events") and self.has("reason", "reasons")
        return is_throttled or is_event

    @property
    def setting(self) -> str:
        """The last word of what was set."""
        words = reversed(self.heading.words)
        return next((word for word in words if word in WORDS["set"]), self.heading.text)

    @property
    def measurement(self) -> str:
        """The last word of what was measured, and the unit."""
        unit = f"unit {self.heading.unit.text}" if self.heading.unit else ""
        word = next((word for word in reversed(self.heading.words) if word in MEASURED), "")
        return " and ".join(filter(None, (f"'{word}'" if word else "", unit))) or "measured"


def _odd_texts(texts: Sequence[str]) -> set[str]:
    """Return the few texts among numbers that were read, such as a number with an odd mark."""
    odd = {text for text in texts if not is_number(text)}
    if sum(text in odd for text in texts) > _MOST_ODD * len(texts):
        return set()
    return odd if are_readings(text for text in texts if text not in odd) else set()


def _is_no_result(text: str) -> bool:
    """Return whether a text says that a run has no result, or how long it was let run: `>3600`."""
    return not WORDS["failed"].isdisjoint(words_of(text)) or re.match(r">=?\s*\d", text) is not None

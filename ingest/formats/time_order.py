"""Time order of a per-interrupt log: drops the rows that contradict most rows around them."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ingest.files.compiled import compile_loop

# A larger step in ticks (95 s at 2.9 GHz) is more likely a damaged number than time.
LEAP_TICKS: Final = 1 << 38
# A larger step is kept only where this many more rows support it.
LEAP_ROWS: Final = 4
# This many later rows settle a row; as many rows without a fall end a contest.
HELD_ROWS: Final = 64
MOST_CONTESTED_ROWS: Final = 512
# Maximum number of rows that are not settled.
MOST_WAITING_ROWS: Final = MOST_CONTESTED_ROWS + 1


@compile_loop("int64[::1]", "int64", results=1)
def falls_of(tsc: np.ndarray, last: int) -> int:
    """Return how many time stamps are below the one before, the first one below `last`."""
    falls = 0
    for i in range(tsc.size):
        falls += tsc[i] < last
        last = tsc[i]
    return falls


@dataclass(frozen=True, slots=True)
class Judgement:
    """The decision about the waiting rows and the new ones, in this order.

    Attributes:
        is_kept: Whether each row stays, shape (waiting + new,); None: all stay.
        settled: Number of leading kept rows that are settled; the rest wait.
        backwards: Indices of dropped rows that are before the row above.
        leaps: Indices of dropped rows that are ahead of the rows below.
    """

    is_kept: np.ndarray | None
    settled: int
    backwards: tuple[int, ...] = ()
    leaps: tuple[int, ...] = ()


class TimeOrder:
    """Decides which rows of one log are in time order, in bounded memory.

    The rule: time stamps never fall. When one falls, a contest begins among up to `HELD_ROWS` rows
    above it and all rows below it. It ends after `HELD_ROWS` consecutive rows without a fall, at
    `MOST_CONTESTED_ROWS` rows, or at the end of the log. The longest sequence of its rows that
    never falls stays; each step of over `LEAP_TICKS` counts as `LEAP_ROWS` rows less, and of two
    equal choices the earlier rows stay. The other rows are dropped. Rows above the contest are
    settled: a row before them is dropped at once. So a damaged time stamp costs only its own row,
    even for the first row or several consecutive ones. Block boundaries do not change the result.
    """

    def __init__(self) -> None:
        self._waiting = np.empty(0, np.int64)
        self._is_contest = False
        self._calm = 0
        self._settled_tsc = -1

    def judge(self, tsc: np.ndarray, is_over: bool = False) -> Judgement:
        """Decide about further rows.

        Args:
            tsc: Their time stamps, int64, shape (n,), none below 0.
            is_over: Whether the log ends with these rows.
        """
        last = self._waiting[-1] if self._waiting.size else self._settled_tsc
        if not self._is_contest and not falls_of(tsc, int(last)):
            return self._all_kept(tsc, is_over)
        return self._walk(np.concatenate((self._waiting, tsc)), is_over)

    def _all_kept(self, tsc: np.ndarray, is_over: bool) -> Judgement:
        count = self._waiting.size + tsc.size
        settled = count if is_over else max(count - HELD_ROWS, 0)
        from_new = settled - self._waiting.size
        if settled:
            settled_rows = tsc[:from_new] if from_new > 0 else self._waiting[:settled]
            self._settled_tsc = int(settled_rows[-1])
        if from_new > 0:
            self._waiting = tsc[from_new:].copy()
        else:
            self._waiting = np.concatenate((self._waiting[settled:], tsc))
        return Judgement(None, settled)

    def _walk(self, tsc: np.ndarray, is_over: bool) -> Judgement:
        walk = _Walk(tsc, self._settled_tsc)
        at = 0
        if self._is_contest:
            at = self._waiting.size
            walk.contested, walk.calm, walk.is_contest = list(range(at)), self._calm, True
        while at < tsc.size:
            at = walk.contest(at) if walk.is_contest else walk.go_on(at)
        if is_over:
            walk.decide()
            walk.settled = len(walk.kept_rows)
        self._is_contest, self._calm = walk.is_contest, walk.calm
        waiting = walk.kept_rows[walk.settled :] + walk.contested
        self._waiting, self._settled_tsc = tsc[waiting], walk.settled_tsc
        is_kept = np.zeros(tsc.size, bool)
        is_kept[walk.kept_rows + walk.contested] = True
        return Judgement(is_kept, walk.settled, tuple(walk.backwards), tuple(walk.leaps))


class _Walk:
    """One pass over rows of which some are out of order; its lists hold row indices."""

    def __init__(self, tsc: np.ndarray, settled_tsc: int) -> None:
        self._array = tsc
        self._tsc: list[int] = tsc.tolist()
        self._falls = np.append(np.flatnonzero(tsc[1:] < tsc[:-1]) + 1, tsc.size)
        self._before = settled_tsc
        self.kept_rows: list[int] = []
        self.settled = 0
        self.contested: list[int] = []
        self.is_contest = False
        self.calm = 0
        self.backwards: list[int] = []
        self.leaps: list[int] = []

    @property
    def settled_tsc(self) -> int:
        """Time stamp of the last settled row; -1 if there is none."""
        return self._tsc[self.kept_rows[self.settled - 1]] if self.settled else self._before

    def go_on(self, at: int) -> int:
        """Accept rows while they do not fall; return the index of the next row."""
        last = self._tsc[self.kept_rows[-1]] if self.kept_rows else self._before
        if self._tsc[at] >= last:
            end = int(self._falls[np.searchsorted(self._falls, at, side="right")])
            self.kept_rows += range(at, end)
            self.settled = max(self.settled, len(self.kept_rows) - HELD_ROWS)
            return end
        if self._tsc[at] < self.settled_tsc:
            self.backwards.append(at)
        else:
            self.contested = [*self.kept_rows[self.settled :], at]
            del self.kept_rows[self.settled :]
            self.calm, self.is_contest = 0, True
        return at + 1

    def contest(self, at: int) -> int:
        """Add one row to the contest; return the index of the next row."""
        now = self._tsc[at]
        if now < self.settled_tsc:
            self.backwards.append(at)
            return at + 1
        self.calm = self.calm + 1 if now >= self._tsc[self.contested[-1]] else 0
        self.contested.append(at)
        if self.calm == HELD_ROWS or len(self.contested) == MOST_CONTESTED_ROWS:
            self.decide()
        return at + 1

    def decide(self) -> None:
        """End the contest, if one is open."""
        if not self.is_contest:
            return
        before = self.settled_tsc
        stays = set(best_order(self._array[self.contested], before))
        for number, index in enumerate(self.contested):
            if number in stays:
                self.kept_rows.append(index)
                before = self._tsc[index]
            elif self._tsc[index] < before:
                self.backwards.append(index)
            else:
                self.leaps.append(index)
        self.contested, self.is_contest, self.calm = [], False, 0
        self.settled = max(self.settled, len(self.kept_rows) - HELD_ROWS)


def best_order(tsc: np.ndarray, before: int) -> list[int]:
    """Choose the rows that stay, by the rule of `TimeOrder`.

    Args:
        tsc: Time stamps, int64, shape (n,), none before `before`.
        before: Time stamp of the last settled row; -1 if there is none.

    Returns:
        Indices of these rows, rising; empty only for empty input.
    """
    count = tsc.size
    if not count:
        return []
    worth = np.empty(count, np.int64)
    above = np.full(count, -1, np.int64)
    for at, now in enumerate(tsc.tolist()):
        worth[at] = 1 - LEAP_ROWS * (before >= 0 and now - before > LEAP_TICKS)
        steps = now - tsc[:at]
        joined = worth[:at] + 1 - LEAP_ROWS * (steps > LEAP_TICKS)
        joined[steps < 0] = -count
        if at and joined.max() >= worth[at]:
            above[at] = joined.argmax()
            worth[at] = joined.max()
    order = [int(worth.argmax())]
    while above[order[-1]] >= 0:
        order.append(int(above[order[-1]]))
    return order[::-1]

"""Which rows of a per-interrupt log are in time order, by what most rows around them agree with."""

from dataclasses import dataclass
from typing import Final

import numpy as np

# A step of more ticks than this (95 s at 2.9 GHz) is more likely a damaged number than time.
LEAP_TICKS: Final = 1 << 38
# How many rows in a row one such step must have on its side.
LEAP_ROWS: Final = 4
# So many rows behind it settle a row; as many end a contest.
HELD_ROWS: Final = 64
MOST_CONTESTED_ROWS: Final = 512
# No more rows than this wait for their judgement.
MOST_WAITING_ROWS: Final = MOST_CONTESTED_ROWS + 1


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is known of the rows that waited and of those that came, in this order.

    Attributes:
        is_kept: Which of them stay, shape (waiting + new,); None: all.
        settled: How many of those that stay are settled, counted from the first; the rest wait.
        backwards: Places of dropped rows that are before the row above.
        leaps: Places of dropped rows that are ahead of rows below.
    """

    is_kept: np.ndarray | None
    settled: int
    backwards: tuple[int, ...] = ()
    leaps: tuple[int, ...] = ()


class TimeOrder:
    """The time order of one log, row by row, in memory that does not grow.

    The rule: time stamps never fall. Where one does, up to `HELD_ROWS` rows above it and all rows
    below it are in a contest, which ends when `HELD_ROWS` rows in a row did not fall again (or at
    `MOST_CONTESTED_ROWS` rows, or with the log). Of the rows in it the largest number stays that
    never falls; a step of over `LEAP_TICKS` counts as `LEAP_ROWS` rows less. Of two equal choices
    the earlier rows stay. The others are dropped. Rows further above are settled: a row before
    them is dropped at once. So a damaged time stamp costs its own row, wherever it is, the first
    row and several damaged rows in a row included. The answer does not depend on how the log is
    cut into blocks.
    """

    def __init__(self) -> None:
        self._waiting = np.empty(0, np.int64)
        self._is_contest = False
        self._calm = 0
        self._settled_tsc = -1

    def judge(self, tsc: np.ndarray, is_over: bool = False) -> Judgement:
        """Take further rows in.

        Args:
            tsc: Their time stamps, int64, shape (n,), none below 0.
            is_over: Whether the log ends with them.
        """
        if not self._is_contest and self._goes_on(tsc):
            return self._all_kept(tsc, is_over)
        return self._walk(np.concatenate((self._waiting, tsc)), is_over)

    def _goes_on(self, tsc: np.ndarray) -> bool:
        if not tsc.size:
            return True
        last = self._waiting[-1] if self._waiting.size else self._settled_tsc
        return bool(tsc[0] >= last and (tsc[1:] >= tsc[:-1]).all())

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
            walk.begin_contest(at, self._calm)
        while at < tsc.size:
            at = walk.contest(at) if walk.is_contest else walk.go_on(at)
        if is_over:
            walk.decide()
            walk.settled = len(walk.kept)
        self._is_contest, self._calm = walk.is_contest, walk.calm
        waiting = walk.kept[walk.settled :] + walk.contested
        self._waiting, self._settled_tsc = tsc[waiting], walk.settled_tsc
        is_kept = np.zeros(tsc.size, bool)
        is_kept[walk.kept + walk.contested] = True
        return Judgement(is_kept, walk.settled, tuple(walk.backwards), tuple(walk.leaps))


class _Walk:
    """One pass over rows of which some are out of order; lists hold places of rows."""

    def __init__(self, tsc: np.ndarray, settled_tsc: int) -> None:
        self._array = tsc
        self._tsc: list[int] = tsc.tolist()
        self._falls = np.append(np.flatnonzero(tsc[1:] < tsc[:-1]) + 1, tsc.size)
        self._before = settled_tsc
        self.kept: list[int] = []
        self.settled = 0
        self.contested: list[int] = []
        self.is_contest = False
        self.calm = 0
        self.backwards: list[int] = []
        self.leaps: list[int] = []

    @property
    def settled_tsc(self) -> int:
        """Time stamp of the last settled row; -1 if there is none."""
        return self._tsc[self.kept[self.settled - 1]] if self.settled else self._before

    def begin_contest(self, count: int, calm: int) -> None:
        """Go on with a contest of the first so many rows."""
        self.contested, self.calm, self.is_contest = list(range(count)), calm, True

    def go_on(self, at: int) -> int:
        """Take rows while they rise; gives the place of the next row."""
        last = self._tsc[self.kept[-1]] if self.kept else self._before
        if self._tsc[at] >= last:
            end = int(self._falls[np.searchsorted(self._falls, at, side="right")])
            self.kept += range(at, end)
            self.settled = max(self.settled, len(self.kept) - HELD_ROWS)
            return end
        if self._tsc[at] < self.settled_tsc:
            self.backwards.append(at)
        else:
            self.contested = [*self.kept[self.settled :], at]
            del self.kept[self.settled :]
            self.calm, self.is_contest = 0, True
        return at + 1

    def contest(self, at: int) -> int:
        """Take one row into the contest; gives the place of the next."""
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
        """End the contest, if there is one."""
        if not self.is_contest:
            return
        before = self.settled_tsc
        stays = set(best_order(self._array[self.contested], before))
        for number, place in enumerate(self.contested):
            if number in stays:
                self.kept.append(place)
                before = self._tsc[place]
            elif self._tsc[place] < before:
                self.backwards.append(place)
            else:
                self.leaps.append(place)
        self.contested, self.is_contest, self.calm = [], False, 0
        self.settled = max(self.settled, len(self.kept) - HELD_ROWS)


def best_order(tsc: np.ndarray, before: int) -> list[int]:
    """Choose the rows that stay, by the rule of `TimeOrder`.

    Args:
        tsc: Time stamps, int64, shape (n,), none before `before`.
        before: Time stamp of the last settled row; -1 if there is none.

    Returns:
        Their places, rising; none only of none.
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

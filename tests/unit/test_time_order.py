"""The time order of a log: damaged time stamps cost their own rows, wherever they are."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.formats.counter_lines import CounterLines
from ingest.formats.time_order import HELD_ROWS, MOST_CONTESTED_ROWS, MOST_WAITING_ROWS, TimeOrder
from tests.fixtures.slow_intlog import judge_order

FAR = 10**15


def judge(stamps: list[int], cuts: list[int]) -> dict[int, str]:
    """Judge stamps in blocks that end at some places; the places refused, and why."""
    order = TimeOrder()
    waiting: list[int] = []
    refused: dict[int, str] = {}
    ends = sorted({min(cut, len(stamps)) for cut in cuts} | {len(stamps)})
    for begin, end in itertools.pairwise([0, *ends]):
        rows = [*waiting, *range(begin, end)]
        found = order.judge(np.array(stamps[begin:end], np.int64), is_over=end == len(stamps))
        refused |= {rows[place]: "time_backwards" for place in found.backwards}
        refused |= {rows[place]: "time_leap" for place in found.leaps}
        kept = rows if found.is_kept is None else list(itertools.compress(rows, found.is_kept))
        assert set(kept) | set(refused) >= set(rows)
        waiting = kept[found.settled :]
        assert len(waiting) <= MOST_WAITING_ROWS
    assert waiting == []
    return refused


@st.composite
def _stamps(draw: st.DrawFn) -> list[int]:
    """Stretches of a rising log, between them damage, stretches that fall, and pauses."""
    stamps: list[int] = []
    now = draw(st.integers(0, 10**12))
    for _ in range(draw(st.integers(1, 6))):
        step = draw(st.sampled_from([0, 1, 7, 1000, 2**39, -1, -1000]))
        for _ in range(draw(st.sampled_from([1, 2, 3, 30, 63, 64, 65, 66, 130]))):
            now = max(0, now + step)
            stamps.append(now)
        for _ in range(draw(st.integers(0, 3))):
            stamps.append(max(0, now + draw(st.sampled_from([FAR, FAR + 1, -5, -100, 2**38, 40]))))
    return stamps


@given(stamps=_stamps(), cuts=st.lists(st.integers(0, 500), max_size=8))
def test_the_order_is_that_of_the_slow_one_in_any_blocks(
    stamps: list[int], cuts: list[int]
) -> None:
    slow = judge_order(stamps)
    assert judge(stamps, cuts) == slow
    assert judge(stamps, []) == slow
    kept = [stamp for at, stamp in enumerate(stamps) if at not in slow]
    assert kept == sorted(kept)


def test_rows_in_no_order_at_all_are_judged_in_bounded_memory() -> None:
    stamps = np.random.default_rng(5).integers(0, 10**6, 5 * MOST_CONTESTED_ROWS).tolist()
    assert judge(stamps, list(range(0, len(stamps), 100))) == judge_order(stamps)


@given(
    at=st.integers(0, 499),
    damaged=st.lists(st.sampled_from([FAR, FAR + 10, 10 * FAR, 2**63 - 1]), min_size=1, max_size=3),
    cut=st.integers(0, 500),
)
def test_far_stamps_cost_their_own_rows_wherever_they_are(
    at: int, damaged: list[int], cut: int
) -> None:
    """Up to three in a row of 500, from the first on; a log may end with what nothing gainsays."""
    stamps = [10**12 + 5000 * n for n in range(500)]
    end = min(at + len(damaged), 500)
    stamps[at:end] = damaged[: end - at]
    refused = judge(stamps, [cut])
    if end < 500:
        assert set(refused) == set(range(at, end))
        assert set(refused.values()) <= {"time_leap", "time_backwards"}
    else:
        assert set(refused) <= set(range(at, end))


@pytest.mark.parametrize("by", [-(10**12), -7 * 5000, 7 * 5000, 20 * 2_900_000_000])
@pytest.mark.parametrize("at", [0, 1, 250, 497])
def test_a_stamp_that_is_off_by_little_or_much_costs_its_own_row(at: int, by: int) -> None:
    """Also by 20 s, which is no leap but would condemn the 20 s after it."""
    stamps = [10**12 + 5000 * n for n in range(500)]
    stamps[at] += by
    refused = set(judge(stamps, []))
    # A first row that is too early contradicts nothing.
    assert refused == (set() if at == 0 and by < 0 else {at})


def test_a_pause_is_no_damage_whatever_is_damaged_near_it() -> None:
    """Between rows 249 and 250 the machine slept for 2^39 ticks; row 252 is damaged."""
    stamps = [10**12 + 5000 * n + (2**39 if n >= 250 else 0) for n in range(500)]
    stamps[252] = 5
    assert judge(stamps, [251]) == {252: "time_backwards"}


def test_a_log_that_begins_again_at_an_earlier_time_keeps_its_first_part() -> None:
    stamps = [10**12 + 5000 * n for n in range(1000)] * 2
    assert set(judge(stamps, [700, 1500])) == set(range(1000, 2000)) - {1999}


@pytest.mark.parametrize("lines", [[0], [0, 1], [0, 1, 2], [700, 701], [1997, 1998]])
@pytest.mark.parametrize("block", [100, 4096, 1 << 20])
def test_damaged_lines_of_a_text_log_are_named_and_the_others_read(
    lines: list[int], block: int
) -> None:
    """Of 2,000 lines some are stamped far ahead; every third line is a sample."""
    stamps = [10**12 + 5000 * n for n in range(2000)]
    for n in lines:
        stamps[n] = FAR + n
    sampled = [f"{n} {n} {n} {n}" if n % 3 == 0 else "0 0 0 0" for n in range(2000)]
    rows = enumerate(zip(sampled, stamps, strict=True))
    text = "".join(f"{n} 1 66 0 0 {counted} 0 0 0 9 {tsc}\n" for n, (counted, tsc) in rows)
    log = CounterLines(14)
    taken, samples = [], []
    for at in range(0, len(text), block):
        log.feed(text[at : at + block].encode())
        taken_now, samples_now = log.take()
        taken += taken_now[0].tolist()
        samples += samples_now[:2].T.tolist()
    log.finish()
    taken_now, samples_now = log.take()
    taken += taken_now[0].tolist()
    samples += samples_now[:2].T.tolist()
    good = [n for n in range(2000) if n not in lines]
    assert taken == [stamps[n] for n in good]
    assert samples == [[stamps[n], n] for n in good if n % 3 == 0 and n]
    (problem,) = log.problems()
    assert (problem.kind, problem.line, problem.count) == ("time_leap", lines[0] + 1, len(lines))
    assert str(stamps[lines[0]]) in problem.detail


def test_held_rows_are_few() -> None:
    """So that what waits is little, and several damaged rows in a row can still be told."""
    assert HELD_ROWS < MOST_CONTESTED_ROWS <= 1 << 10

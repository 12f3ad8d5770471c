"""Copies of /proc/interrupts: what NVMe IO queues raised, and what of it is a run's."""

import pytest

from ingest.formats import find_format, proc_interrupts
from ingest.records import InterruptCounts, Problem, ReadContext
from ingest.runs.storage_counts import count_interrupts

# IO queues: 10 + 5 + 7 + 0 of nvme0 and 100 + 1 of nvme12; queue 0 of each is for administration.
BEFORE = """\
            CPU0       CPU1
   8:          1          0   IO-APIC   8-edge      rtc0
  24:         44          0   PCI-MSI 512000-edge      nvme0q0
  25:         10          5   PCI-MSI 512001-edge      nvme0q1
  26:          7          0   PCI-MSI 512002-edge      nvme0q2
  27:          3          3   PCI-MSI 524288-edge      nvme12q0
  28:        100          1   PCI-MSIX-0000:01:00.0   31-edge      nvme12q10
  29:        900        900   PCI-MSI 1-edge      eth0-nvme0q
 LOC:      12345      54321   Local timer interrupts
 ERR:          0
 MIS:          7
"""


def read(text: str, name: str = "interrupts.before") -> InterruptCounts:
    return proc_interrupts.read([text.encode()], ReadContext(name, 0.0))


def test_it_is_told_by_its_heading() -> None:
    found = find_format("x", BEFORE.encode())
    assert found is not None
    assert found.name == "proc_interrupts"
    assert find_format("x", b"CPU0 CPU1\nnothing\n") is None


@pytest.mark.parametrize(
    ("name", "phase"),
    [
        ("interrupts.before", "before"),
        ("run3.interrupts.after", "after"),
        ("interrupts_start.txt", "before"),
        ("post-interrupts", "after"),
        ("interrupts", None),
        ("before.after", None),
        ("blender", None),
        ("start-of-the-end", None),
    ],
)
def test_the_name_says_whether_before_or_after(name: str, phase: str | None) -> None:
    assert proc_interrupts.phase_of(name) == phase


def look(total: int, taken_unix_s: float | None = None, cpus: int = 2) -> InterruptCounts:
    queues = {"nvme0q1": (total, *[0] * (cpus - 1))}
    return InterruptCounts(tuple(f"CPU{n}" for n in range(cpus)), queues, taken_unix_s)


def look_at(**queues: tuple[int, int]) -> InterruptCounts:
    return InterruptCounts(("CPU0", "CPU1"), queues)


def counted(
    *looks: InterruptCounts, duration_s: float | None = 10.0, ramp_s: float = 0.0
) -> int | Problem:
    named = [(f"look{n}", each) for n, each in enumerate(looks)]
    return count_interrupts(named, duration_s, ramp_s)


def test_a_run_has_what_was_counted_between_two_looks() -> None:
    assert counted(look(100), look(5100)) == 5000


def test_queues_are_added_over_devices_and_cpus() -> None:
    """(30 - 10) + (5 - 5) + (9 - 0) + (4 - 1); a queue that two share has both names."""
    before = look_at(nvme0q1=(10, 5), nvme12q10=(0, 1))
    assert counted(before, look_at(nvme0q1=(30, 5), nvme12q10=(9, 4))) == 32
    shared = read("  CPU0\n 24: 6 PCI-MSI 1-edge nvme0q0, nvme0q1\n 25: 2 MSI nvme0q1\n")
    assert shared.queues == {"nvme0q1": (6,), "nvme0q1 (25)": (2,)}


def test_a_counter_of_32_bits_that_wrapped_is_unwrapped() -> None:
    """2^32 - 4,000 before and 1,000 after are 5,000; on the other CPU 7 more are 7."""
    top = 2**32
    before, after = look_at(nvme0q1=(top - 4000, 3)), look_at(nvme0q1=(1000, 10))
    assert counted(before, after) == 5007


@pytest.mark.parametrize(
    ("before", "after", "kind", "words"),
    [
        # Set back by a new driver or a new boot: one queue fell, though their sum rose.
        ({"nvme0q1": (9, 0), "nvme0q2": (0, 0)}, {"nvme0q1": (3, 0), "nvme0q2": (0, 50)},
         "counter_backwards", "nvme0q1 on CPU0: 9 before, 3 after"),
        ({"nvme0q1": (0, 2**63)}, {"nvme0q1": (0, 5)}, "counter_backwards", "on CPU1"),
        ({"nvme0q1": (1, 1)}, {"nvme0q1": (2, 2), "nvme0q2": (0, 9)}, "other_queues", "nvme0q2"),
        ({}, {}, "no_io_queues", "no row of an IO queue"),
    ],
)  # fmt: skip
def test_queues_that_cannot_be_compared_count_nothing(
    before: dict[str, tuple[int, int]], after: dict[str, tuple[int, int]], kind: str, words: str
) -> None:
    found = counted(look_at(**before), look_at(**after))
    assert isinstance(found, Problem)
    assert (found.kind, found.severity) == (kind, "doubted")
    assert words in found.detail


def test_looks_that_say_when_give_the_run_its_share() -> None:
    """6,000 in 12 s are 500 a second, so 5,000 in the run's 10 s."""
    assert counted(look(0, 50.0), look(6000, 62.0)) == 5000
    assert counted(look(0, 50.0), look(6000, 59.9)) == 6000
    assert counted(look(0, 50.0), look(6000, 62.0), duration_s=None) == 6000


def test_a_ramp_before_the_run_has_its_share() -> None:
    """7,500 in 5 s of ramp and 10 s of run are 500 a second; stated times know better."""
    assert counted(look(0), look(7500), ramp_s=5.0) == 5000
    assert counted(look(0, 50.0), look(7500, 62.5), ramp_s=5.0) == 6000


@pytest.mark.parametrize(
    ("looks", "kind", "severity"),
    [
        ((look(100),), "one_snapshot", "doubted"),
        ((look(100), look(200, cpus=4)), "other_cpus", "refused"),
        ((look(100), look(99)), "counter_backwards", "doubted"),
        ((look(100, 5.0), look(200, 4.0)), "counter_backwards", "doubted"),
    ],
)
def test_looks_that_cannot_be_compared_count_nothing(
    looks: tuple[InterruptCounts, ...], kind: str, severity: str
) -> None:
    found = counted(*looks)
    assert isinstance(found, Problem)
    assert (found.kind, found.severity) == (kind, severity)

"""The memory of other processes."""

from pathlib import Path


def peak_mb(pid: int) -> float:
    """Return the highest resident memory of a process so far, MB; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    peaks = [int(line.split()[1]) for line in lines if line.startswith("VmHWM:")]
    return peaks[0] * 1024 / 1e6 if peaks else 0.0


def descendants_of(pid: int) -> list[int]:
    """Return the running descendants of a process."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [each for child in map(int, children) for each in (child, *descendants_of(child))]

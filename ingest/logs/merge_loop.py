"""Compiled loop that merges the queues of the cores by time."""

import numpy as np

from ingest.files.compiled import compile_loop
from ingest.logs.row_layout import INT32_MAX, LATEST


@compile_loop(
    *("int64[:, :, ::1]", "int64[::1]", "int64[::1]", "int32[::1]", "int32[::1]"),
    *("int64[::1]", "int32[:, ::1]", "int64[:, ::1]", "int64", "int64[::1]", "int64[::1]"),
    results=1,
)
def merge_rows(
    queues: np.ndarray,
    heads: np.ndarray,
    ends: np.ndarray,
    cores: np.ndarray,
    out_core: np.ndarray,
    out_t_ns: np.ndarray,
    out_descriptors: np.ndarray,
    out_octets: np.ndarray,
    at: int,
    least: np.ndarray,
    second: np.ndarray,
) -> int:
    """Merge queues by time into output columns, until the queues or the output end.

    Args:
        queues: As `cut_interrupts` fills them, shape (k, room, 4).
        heads: Start of each queue; advanced.
        ends: End of each queue.
        cores: Core number of each queue.
        at: Start of the output.
        least: Room for the tree, int64, shape (4 * k,).
        second: Room for a time of each queue, int64, shape (k,).
    Returns:
        End of the output. Rows with equal times keep the order of the queues.
    """
    # A branch-free tournament tree. Leaves are the queues' next times since the earliest, with the
    # queue's index in the low bits; each inner node is the minimum of its children. Windows of at
    # most a year leave 8 bits for the index; shorter ones, more.
    base = LATEST
    for i in range(heads.size):
        if heads[i] < ends[i]:
            base = min(base, queues[i, heads[i], 0])
    leaves, shift = 1, 0
    while leaves < heads.size:
        leaves *= 2
        shift += 1
    for i in range(2 * leaves):
        least[i] = LATEST
    # The time after each queue's first row is loaded in advance.
    for i in range(heads.size):
        second[i] = LATEST
        if heads[i] < ends[i]:
            least[leaves + i] = (queues[i, heads[i], 0] - base) << shift | i
        if heads[i] + 1 < ends[i]:
            second[i] = (queues[i, heads[i] + 1, 0] - base) << shift | i
    for node in range(leaves - 1, 0, -1):
        least[node] = min(least[2 * node], least[2 * node + 1])
    while at < out_t_ns.size and least[1] != LATEST:
        first = least[1] & (leaves - 1)
        head = heads[first]
        out_core[at] = cores[first]
        out_t_ns[at] = (least[1] >> shift) + base
        out_octets[0, at] = queues[first, head, 1]
        out_octets[1, at] = queues[first, head, 2]
        descriptors = queues[first, head, 3]
        out_descriptors[0, at] = descriptors & INT32_MAX
        out_descriptors[1, at] = descriptors >> 32
        at += 1
        head += 1
        heads[first] = head
        now = second[first]
        is_there = head + 1 < ends[first]
        following = (queues[first, head + 1, 0] - base) << shift | first
        second[first] = following if is_there else LATEST
        node = leaves + first
        least[node] = now
        while node > 1:
            now = min(now, least[node ^ 1])
            node >>= 1
            least[node] = now
    return at

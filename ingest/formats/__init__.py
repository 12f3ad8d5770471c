"""One file a raw format; this tuple is the only place that lists them."""

import codecs
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal

from ingest.formats import (
    fio,
    hoboware,
    intlog,
    intlog_binary,
    mutilate,
    netpipe,
    perf_stat,
    proc_interrupts,
    rdtsc,
    sidecar,
    summary,
    table,
    vtune,
    wrk,
)
from ingest.records import Content, CoreLog, LogReader, ReadContext
from ingest.settings.dataset import UNKNOWN

# What ran where no name pattern says it: fio's own document tells, other files do not.
STORAGE: Final = "fio"
Role = Literal["log", "output", "window", "counts", "sidecar", "table", "meter"]


@dataclass(frozen=True, slots=True)
class Format:
    """How one raw format is told and read.

    Attributes:
        name: Short name, as `sources.format` and the README have it.
        role: What it is to a run: the per-interrupt log, the load generator's output, the record
            of the workload window, counts that another tool took beside it, what its sidecar says,
            a table that holds many runs by itself, or the readings of a power meter, which runs
            are joined to by time.
        sniff: Base name and first bytes (up to 64 KiB, decompressed) to whether it is this format.
            Content decides; the name only where content cannot.
        read: Blocks of bytes, cut anywhere, to what they say. Bad lines become problems; only a
            file of which nothing can be used raises FormatError.
        open_log: Of a log, begin to read it block by block in bounded memory.
        workload: Of what a file is that no name pattern knows; None where it then is of nothing.
        phase_of: Base name to which of the several files of this format in a run it is.
        complements: Whether a run may have several files of it, of which each counts other events.
        list_parts: Names of the runs that a file holds, where it may be several.
    """

    name: str
    role: Role
    sniff: Callable[[str, bytes], bool]
    read: Callable[[Iterable[bytes], ReadContext], Content | CoreLog]
    open_log: Callable[[ReadContext], LogReader] | None = None
    workload: str | None = None
    phase_of: Callable[[str], str | None] | None = None
    complements: bool = False
    list_parts: Callable[[Iterable[bytes], ReadContext], list[str]] | None = None


FORMATS: tuple[Format, ...] = (
    Format("intlog", "log", intlog.sniff, intlog.read, intlog.open_log),
    Format("intlog_binary", "log", intlog_binary.sniff, intlog_binary.read, intlog_binary.open_log),
    Format("mutilate", "output", mutilate.sniff, mutilate.read, workload=UNKNOWN),
    Format("wrk", "output", wrk.sniff, wrk.read, workload=UNKNOWN),
    Format(
        "netpipe_out",
        "output",
        netpipe.sniff_output,
        netpipe.read_output,
        workload=UNKNOWN,
    ),
    Format("netpipe_server", "window", netpipe.sniff_server, netpipe.read_server),
    Format("netpipe_ebbrt", "window", netpipe.sniff_library_os, netpipe.read_library_os),
    Format("rdtsc", "window", rdtsc.sniff, rdtsc.read),
    Format("sidecar", "sidecar", sidecar.sniff, sidecar.read, workload=UNKNOWN),
    Format("fio", "output", fio.sniff, fio.read, workload=STORAGE, list_parts=fio.list_parts),
    Format(
        "proc_interrupts",
        "counts",
        proc_interrupts.sniff,
        proc_interrupts.read,
        workload=UNKNOWN,
        phase_of=proc_interrupts.phase_of,
    ),
    Format(
        "perf_stat",
        "counts",
        perf_stat.sniff,
        perf_stat.read,
        workload=UNKNOWN,
        complements=True,
    ),
    Format("vtune", "counts", vtune.sniff, vtune.read, workload=UNKNOWN),
    Format("hoboware", "meter", hoboware.sniff, hoboware.read),
    Format("summary", "table", summary.sniff, summary.read),
    Format("table", "table", table.sniff, table.read),
)


def find_format(name: str, head: bytes) -> Format | None:
    """Tell which format a file is by its first bytes and base name; None if nobody knows it.

    A UTF-8 byte-order mark before a text makes no difference.
    """
    found = next((f for f in FORMATS if f.sniff(name, head)), None)
    if found is None and head.startswith(codecs.BOM_UTF8):
        return find_format(name, head.removeprefix(codecs.BOM_UTF8))
    return found

"""The raw formats, one file each; `FORMATS` is the only list of them."""

import codecs
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal

import xxhash

from ingest.formats import (
    fio,
    fio_text,
    hdr_percentiles,
    hoboware,
    intlog,
    intlog_binary,
    iperf3,
    key_values,
    marked_runs,
    memtier,
    meter_table,
    mutilate,
    netpipe,
    perf_stat,
    proc_interrupts,
    rdtsc,
    scores,
    sidecar,
    sockperf,
    table,
    table_text,
    text_log,
    trace,
    trace_blocks,
    turbostat,
    vtune,
    wrk,
    wult,
)
from ingest.formats.log_reader import LogReader
from ingest.records import Content, ReadContext
from ingest.settings.dataset import UNKNOWN

# The workload of a fio document that matches no name pattern; other files do not say theirs.
STORAGE: Final = "fio"
Role = Literal["log", "output", "trace", "window", "counts", "sidecar", "scores", "table", "meter"]
# Roles whose files need no name pattern: their folder and the start of their name give the run.
PLACED: Final = ("output", "trace", "counts", "sidecar")


def _refuse_whole(blocks: Iterable[bytes], context: ReadContext) -> Content:  # noqa: ARG001
    raise AssertionError(f"BUG: logs are read block by block ({context.name})")


@dataclass(frozen=True, slots=True)
class Format:
    """One raw format: how a file of it is recognised and read.

    Attributes:
        name: Short name, as in `sources.format` and the docs.
        role: What the file is to a run: per-interrupt log, load generator's output, samples over
            time (the run itself, if it has no output), record of the workload window, counts of
            another tool, sidecar, scores of its result, table of many runs, or readings of a power
            meter, which join runs by time.
        sniff: Maps base name and first bytes (up to 64 KiB, decompressed) to whether the file has
            this format. Uses the name only where the content cannot decide.
        read: Maps blocks of bytes with arbitrary boundaries to the content. Bad lines become
            problems; raises FormatError only if nothing in the file can be used. Logs have
            `open_log` instead.
        open_log: For a log: starts to read it block by block in bounded memory.
        own_workload: Workload of an output, counts or sidecar that match no name pattern.
        phase_of: Maps a base name to its phase, where a run has several files of this format.
        complements: Whether a run may have several files of it that count different events.
        list_parts: Returns the names of the runs in a file that may hold several.
    """

    name: str
    role: Role
    sniff: Callable[[str, bytes], bool]
    read: Callable[[Iterable[bytes], ReadContext], Content] = _refuse_whole
    open_log: Callable[[ReadContext], LogReader] | None = None
    own_workload: str = UNKNOWN
    phase_of: Callable[[str], str | None] | None = None
    complements: bool = False
    list_parts: Callable[[Iterable[bytes], ReadContext], list[str]] | None = None

    @property
    def workload(self) -> str | None:
        """Workload of a file that matches no name pattern; None: such a file has no run."""
        return self.own_workload if self.role in PLACED else None


FORMATS: tuple[Format, ...] = (
    Format("intlog", "log", intlog.sniff, open_log=intlog.open_log),
    Format("intlog_binary", "log", intlog_binary.sniff, open_log=intlog_binary.open_log),
    Format("mutilate", "output", mutilate.sniff, mutilate.read),
    Format("wrk", "output", wrk.sniff, wrk.read, list_parts=wrk.list_parts),
    Format("netpipe_out", "output", netpipe.sniff_output, netpipe.read_output),
    Format("netpipe_server", "window", netpipe.sniff_server, netpipe.read_server),
    Format("netpipe_ebbrt", "window", netpipe.sniff_library_os, netpipe.read_library_os),
    Format("rdtsc", "window", rdtsc.sniff, rdtsc.read),
    Format("sidecar", "sidecar", sidecar.sniff, sidecar.read),
    *(
        Format(
            known.name,
            "output",
            (log := text_log.TextLog(known)).sniff,
            log.read,
            own_workload=known.workload or UNKNOWN,
            list_parts=log.list_parts,
        )
        for known in text_log.presets()
    ),
    Format("iperf3", "output", iperf3.sniff, iperf3.read, list_parts=iperf3.list_parts),
    Format("sockperf", "output", sockperf.sniff, sockperf.read),
    Format("memtier", "output", memtier.sniff, memtier.read, list_parts=memtier.list_parts),
    Format("hdr_percentiles", "output", hdr_percentiles.sniff, hdr_percentiles.read),
    Format("wult", "output", wult.sniff, wult.read, list_parts=wult.list_parts),
    Format("fio", "output", fio.sniff, fio.read, own_workload=STORAGE, list_parts=fio.list_parts),
    Format(
        "fio_text",
        "output",
        fio_text.sniff,
        fio_text.read,
        own_workload=STORAGE,
        list_parts=fio_text.list_parts,
    ),
    Format(
        "proc_interrupts",
        "counts",
        proc_interrupts.sniff,
        proc_interrupts.read,
        phase_of=proc_interrupts.phase_of,
    ),
    Format("perf_stat", "counts", perf_stat.sniff, perf_stat.read, complements=True),
    Format("turbostat", "counts", turbostat.sniff, turbostat.read),
    Format("vtune", "counts", vtune.sniff, vtune.read),
    Format("meter_table", "meter", meter_table.sniff, meter_table.read),
    Format("hoboware", "meter", hoboware.sniff, hoboware.read),
    Format(
        "text_log",
        "output",
        (declared := text_log.TextLog()).sniff,
        declared.read,
        list_parts=declared.list_parts,
    ),
    Format(
        "trace",
        "trace",
        trace.sniff,
        trace.read,
        complements=True,
        list_parts=trace_blocks.list_parts,
    ),
    Format(
        "marked_runs",
        "output",
        marked_runs.sniff,
        marked_runs.read,
        list_parts=marked_runs.list_parts,
    ),
    Format("key_values", "output", key_values.sniff, key_values.read, complements=True),
    Format("scores", "scores", scores.sniff, scores.read, complements=True),
    Format("table", "table", table_text.sniff, table.read),
)
# Of tools that state in each output what was set.
STATING: Final = frozenset({"fio", "fio_text", "iperf3", "sockperf", "memtier", "wrk"})
METERS: Final = frozenset(known.name for known in FORMATS if known.role == "meter")


# Formats by the name and the digest of a head: what is proposed is looked at three times.
_FOUND: Final[dict[tuple[str, int], Format | None]] = {}
_MOST_FOUND: Final = 1 << 16


def find_format(name: str, head: bytes) -> Format | None:
    """Return the format of a file by its first bytes and base name; None if no format matches.

    A UTF-8 byte-order mark is ignored.
    """
    key = name, xxhash.xxh3_128_intdigest(head)
    if key not in _FOUND:
        if len(_FOUND) >= _MOST_FOUND:
            _FOUND.clear()
        _FOUND[key] = _format_of(name, head)
    return _FOUND[key]


def _format_of(name: str, head: bytes) -> Format | None:
    form = next((f for f in FORMATS if f.sniff(name, head)), None)
    if form is None and head.startswith(codecs.BOM_UTF8):
        return _format_of(name, head.removeprefix(codecs.BOM_UTF8))
    return form

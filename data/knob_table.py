"""The knobs that wattlas knows, one row each: whatever differs between knobs stands here.

A new knob is a row here and a test; sidecars, file names, tables and fio state it by its row, and
another source needs its reader in `ingest/`. Datasets declare further knobs by themselves
(`declared.py`). No other file lists knobs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

# The words for NULL: the driver or kernel chose, or the value is not set.
ADAPTIVE: Final = "adaptive"
GOVERNOR: Final = "governor"
UNSET: Final = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedKnob:
    """One knob: a column of `runs` that was given or set before a run.

    Attributes:
        facet: Name of its filter in URLs and menus, which list filters in the order of the table.
        column_order: Its position among the columns of the lake, and of a configuration.
        kind, title, short, unit, description: As of a declared column.
        written: How labels write its numbers.
        titles: Its texts to what labels write instead.
        is_given: Whether it is part of the question (a load, a size) rather than of the answer (a
            setting): a cell that mixes several values of it compares unlike things.
        is_subject: Whether only runs that agree in it are compared with the default.
        is_further: Whether no view lays it out by itself.
        null_word: Text for NULL in URLs and menus.
        filter_unit, filter_title: Of its filter, where they are not the unit and the title.
        before, after, after_one: What a sentence puts before a label, behind it, and behind the
            number 1.
        beside: Further columns of a configuration that go with it, such as its policy.
        code: Column with the value as the driver takes it.
        key: Its name in run keys, where names and tables state it in another form than the column.
        key_kind: Kind of that value.
        group: Its name in patterns of file names and in sidecars, where that is not the key.
        token: How a run id writes it; empty where ingest computes the value.
        token_order: Its position in run ids.
        fio: The option of fio that sets it.
        words: Words before its value in file names, from which settings are proposed.
        headings: Headings of tables that mean it.
    """

    facet: str
    column: str
    column_order: int
    kind: Literal["text", "whole", "real"] = "text"
    title: str
    short: str
    unit: str = ""
    description: str
    written: Literal["plain", "bytes", "load"] = "plain"
    titles: Mapping[str, str] = field(default_factory=dict)
    is_given: bool = False
    is_subject: bool = False
    is_further: bool = False
    null_word: str = UNSET
    filter_unit: str = ""
    filter_title: str = ""
    before: str = ""
    after: str = ""
    after_one: str = ""
    beside: tuple[str, ...] = ()
    code: str = ""
    key: str = ""
    key_kind: Literal["text", "whole", "real"] | None = None
    group: str = ""
    token: str = ""
    token_order: int = 0
    fio: str = ""
    words: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()

    @property
    def policy(self) -> str:
        """Column that says who chose a value; empty without one. A setting includes it."""
        return next((name for name in self.beside if name.endswith("_policy")), "")

    @property
    def run_key(self) -> str:
        """Its name in run keys."""
        return self.key or self.column

    @property
    def stated_as(self) -> str:
        """Its name in patterns of file names and in sidecars."""
        return self.group or self.run_key

    @property
    def stated_kind(self) -> str:
        """Kind of the value there: `text`, `whole`, `real`, or `size` (whole, with k, M or G)."""
        return "size" if self.written == "bytes" else self.key_kind or self.kind


KNOB_TABLE: Final = (
    ShippedKnob(
        facet="dataset", column="dataset", column_order=1, title="Dataset", short="dataset",
        description="Name given to the folder of raw logs when it was ingested.",
        is_given=True, is_subject=True,
    ),
    ShippedKnob(
        facet="workload", column="workload", column_order=2, title="Workload", short="workload",
        description=(
            "What ran: netpipe, nodejs, memcached, memcached-silo, fio, idle; unknown where "
            "nothing says it."
        ),
        titles={"netpipe": "NetPIPE", "nodejs": "node.js", "unknown": "unknown workload"},
        is_given=True, is_subject=True,
    ),
    ShippedKnob(
        facet="work", column="work", column_order=20, title="Work", short="work",
        description=(
            "What was fixed for the runs of a workload and load: requests or duration; missing: "
            "neither is known."
        ),
        is_given=True, is_subject=True, is_further=True,
    ),
    ShippedKnob(
        facet="load", column="load_qps", column_order=8, kind="real", title="Target load",
        short="load", unit="1/s",
        description="Requests a second that the load generator was told to send.",
        written="load", is_given=True, is_subject=True, filter_unit="QPS", filter_title="Load",
        token="{:g}qps", token_order=1,
        words=("qps", "mqps", "rps", "load", "rate", "targetqps"),
        headings=("qps", "target_qps", "load", "load_qps"),
    ),
    ShippedKnob(
        facet="message", column="message_bytes", column_order=9, kind="whole",
        title="Message size", short="message", unit="B", description="Bytes a message.",
        written="bytes", is_given=True, is_subject=True, after=" messages",
        token="{}b", token_order=2, words=("msg", "message"), headings=("msg", "message_bytes"),
    ),
    ShippedKnob(
        facet="device", column="device", column_order=14, title="Device", short="device",
        description="Storage device.", is_given=True, token="{}", token_order=7,
    ),
    ShippedKnob(
        facet="rw", column="rw", column_order=13, title="Access", short="rw",
        description="read, write, randread, randwrite and so on.", is_given=True,
        token="{}", token_order=6, fio="rw",
    ),
    ShippedKnob(
        facet="request", column="request_bytes", column_order=10, kind="whole",
        title="Request size", short="request", unit="B", description="Bytes a request.",
        written="bytes", is_given=True, after=" requests", token="{}b", token_order=3, fio="bs",
        words=("bs", "request", "block"),
    ),
    ShippedKnob(
        facet="depth", column="io_depth", column_order=11, kind="whole", title="IO depth",
        short="depth", is_given=True,
        description="Requests in flight, over all threads: of fio, iodepth times numjobs.",
        before="depth ", token="qd{}", token_order=4, fio="iodepth",
        words=("qd", "depth", "iodepth"),
    ),
    ShippedKnob(
        facet="threads", column="threads", column_order=12, kind="whole", title="Threads",
        short="threads", description="Threads that issue requests.", is_given=True,
        after=" threads", after_one=" thread", token="{}t", token_order=5, fio="numjobs",
        words=("t", "threads", "thread", "jobs", "numjobs"),
    ),
    ShippedKnob(
        facet="machine", column="machine", column_order=15, title="Machine", short="machine",
        description="Machine, or type of machine, that was measured.", is_given=True,
        is_subject=True, token="{}", token_order=8,
    ),
    ShippedKnob(
        facet="system", column="system", column_order=3, title="System", short="system",
        description="Operating system and tuning, as labelled in the data.",
        beside=("system_label", "is_baseline", "is_synthetic"), headings=("sys", "system"),
    ),
    ShippedKnob(
        facet="mode", column="mode", column_order=4, title="Completion mode", short="mode",
        description="How IO completes: interrupt, poll or hybrid.",
        titles={"poll": "classic polling", "hybrid": "hybrid polling"},
        token="{}", token_order=9,
    ),
    ShippedKnob(
        facet="delay", column="hybrid_delay_us", column_order=19, kind="real",
        title="Hybrid delay", short="delay", unit="us",
        description=(
            "Fixed sleep before hybrid polling begins; missing: automatic, or not hybrid."
        ),
        is_further=True, before="hybrid delay ", beside=("hybrid_delay_policy",),
        key="hybrid_delay", key_kind="text", token="delay{}", token_order=10,
    ),
    ShippedKnob(
        facet="engine", column="ioengine", column_order=16, title="IO engine", short="engine",
        description=(
            "Interface by which fio issued requests: pvsync2, io_uring, libaio and so on; missing: "
            "no file states it."
        ),
        is_further=True, token="{}", token_order=11, fio="ioengine",
    ),
    ShippedKnob(
        facet="scheduler", column="io_scheduler", column_order=17, title="IO scheduler",
        short="scheduler",
        description="IO scheduler of the block device: none, mq-deadline, bfq, kyber.",
        is_further=True, before="scheduler ", token="{}", token_order=12,
    ),
    ShippedKnob(
        facet="fs", column="file_system", column_order=18, title="File system", short="fs",
        description=(
            "File system of the files that were read or written: ext4, xfs and so on; raw for the "
            "device itself."
        ),
        is_further=True, token="{}", token_order=13,
    ),
    ShippedKnob(
        facet="itr", column="itr_us", column_order=5, kind="real", title="Interrupt delay (ITR)",
        short="ITR", unit="us",
        description=(
            "Least time between two interrupts of the NIC; missing: the driver adapts it."
        ),
        null_word=ADAPTIVE, before="ITR ", beside=("itr_policy",), key="itr", key_kind="whole",
        token="itr{}", token_order=14, words=("itr", "rxusecs"), headings=("itr",),
    ),
    ShippedKnob(
        facet="dvfs", column="dvfs_ghz", column_order=6, kind="real",
        title="Processor frequency (DVFS)", short="DVFS", unit="GHz",
        description="Frequency that was set; missing: the governor chose.",
        filter_title="DVFS, GHz", null_word=GOVERNOR, beside=("dvfs_policy",), code="dvfs_code",
        key="dvfs_code", key_kind="text", group="dvfs", token="{}", token_order=15,
        words=("dvfs", "perfctl"), headings=("dvfs",),
    ),
    ShippedKnob(
        facet="rapl", column="rapl_w", column_order=7, kind="real", title="Power limit (RAPL)",
        short="RAPL", unit="W", description="Package power limit.",
        token="{:g}w", token_order=16, words=("rapl", "cap", "powercap"),
        headings=("rapl", "rapl_w"),
    ),
)  # fmt: skip
BY_COLUMN: Final = tuple(sorted(KNOB_TABLE, key=lambda knob: knob.column_order))
# Those that file names, sidecars and tables state, in the order of run ids.
STATED: Final = tuple(
    sorted((knob for knob in KNOB_TABLE if knob.token), key=lambda knob: knob.token_order)
)
# Only runs that agree in these columns are compared with each other, or with the default.
SUBJECT: Final = tuple(knob.column for knob in KNOB_TABLE if knob.is_subject)
# Columns in which the replicates of one configuration agree; further knobs, the lake's own among
# them, follow.
CONFIGURATION: Final = (
    *(n for knob in BY_COLUMN if not knob.is_further for n in (knob.column, *knob.beside)),
    *(name for knob in BY_COLUMN if knob.is_further for name in knob.beside),
)
FURTHER: Final = tuple(knob.column for knob in BY_COLUMN if knob.is_further)

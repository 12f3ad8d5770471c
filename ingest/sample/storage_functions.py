"""VTune's table of functions beside a storage run, by loads and stores.

The anchor is table 2 of HotStorage '22: loads and stores of the kernel while 32 threads read 4 KB
from the low-latency device. A function does as much a request at any number of threads; one that
polls the device does as much a microsecond of latency.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final

from ingest.sample.storage_model import StorageConfiguration, StorageOutcome, expect
from ingest.sample.storage_parameters import BASE_BYTES, MODES, Mode
from ingest.sample.storage_plan import StorageRun

_ANCHOR_THREADS: Final = 32
_STORES_A_LOAD: Final = 0.46
_WAITING_STORES_A_LOAD: Final = 0.05
_NOISE: Final = 0.01
_USER_FILE: Final = "engines/sync.c"


@dataclass(frozen=True, slots=True)
class _Function:
    """One function.

    Attributes:
        anchors: Loads and stores at the anchor, millions a second, in the order of MODES; with 0
            the function does not run.
        waits: Whether it polls the device.
    """

    name: str
    source_file: str
    anchors: tuple[int, int, int]
    waits: bool = False


_FUNCTIONS: Final = (
    _Function("blk_poll", "block/blk-mq.c", (0, 219, 70), waits=True),
    _Function("blk_mq_submit_bio", "block/blk-mq.c", (48, 66, 66)),
    _Function("blk_mq_get_tag", "block/blk-mq-tag.c", (21, 30, 30)),
    _Function("blk_mq_complete_request", "block/blk-mq.c", (27, 40, 38)),
    _Function("blk_mq_free_request", "block/blk-mq.c", (15, 22, 22)),
    _Function("bio_alloc_bioset", "block/bio.c", (62, 86, 69)),
    _Function("submit_bio_noacct", "block/blk-core.c", (84, 118, 94)),
    _Function("bio_iov_iter_get_pages", "block/bio.c", (96, 134, 108)),
    _Function("bio_endio", "block/bio.c", (32, 45, 36)),
    _Function("nvme_queue_rq", "drivers/nvme/host/pci.c", (22, 34, 33)),
    _Function("nvme_poll", "drivers/nvme/host/pci.c", (0, 138, 44), waits=True),
    _Function("nvme_irq", "drivers/nvme/host/pci.c", (9, 0, 0)),
    _Function("nvme_complete_rq", "drivers/nvme/host/core.c", (20, 35, 34)),
    _Function("__schedule", "kernel/sched/core.c", (13, 0, 13)),
    _Function("psi_task_change", "kernel/sched/psi.c", (11, 0, 13)),
    _Function("update_load_avg", "kernel/sched/fair.c", (14, 0, 22)),
    _Function("try_to_wake_up", "kernel/sched/core.c", (140, 0, 182)),
    _Function("dequeue_task_fair", "kernel/sched/fair.c", (118, 0, 155)),
    _Function("enqueue_task_fair", "kernel/sched/fair.c", (131, 0, 172)),
    _Function("select_task_rq_fair", "kernel/sched/fair.c", (97, 0, 130)),
    _Function("scheduler_tick", "kernel/sched/core.c", (74, 41, 100)),
    _Function("ktime_get", "kernel/time/timekeeping.c", (10, 14, 22)),
    _Function("hrtimer_start_range_ns", "kernel/time/hrtimer.c", (0, 0, 57)),
    _Function("hrtimer_interrupt", "kernel/time/hrtimer.c", (0, 1, 43)),
    _Function("tick_nohz_idle_exit", "kernel/time/tick-sched.c", (38, 0, 18)),
    _Function("update_process_times", "kernel/time/timer.c", (17, 8, 15)),
    _Function("do_syscall_64", "arch/x86/entry/common.c", (120, 168, 152)),
    _Function("ext4_file_read_iter", "fs/ext4/file.c", (310, 428, 394)),
    _Function("iomap_dio_rw", "fs/iomap/direct-io.c", (402, 560, 512)),
    _Function("get_user_pages_fast", "mm/gup.c", (232, 322, 296)),
    _Function("dma_map_page_attrs", "kernel/dma/mapping.c", (141, 196, 180)),
    _Function("sbitmap_get", "lib/sbitmap.c", (252, 486, 360)),
    _Function("cpuidle_enter_state", "drivers/cpuidle/cpuidle.c", (154, 0, 135)),
    _Function("fio_pvsyncio2_queue", _USER_FILE, (178, 178, 178)),
)


def functions_text(run: StorageRun) -> str:
    """Print the table over the measured time."""
    rng = run.generator("functions")
    at, anchor = MODES.index(run.setting.mode), _anchor(run.setting.mode)
    requests = run.iops * run.length_s
    lines = ["Function,CPU Time:Self,Loads:Self,Stores:Self,Module,Source File,Start Address"]
    for place, function in enumerate(_FUNCTIONS):
        if not function.anchors[at]:
            continue
        a_request = function.anchors[at] * 1e6 / anchor.iops
        if function.waits:
            a_request *= run.latency_us / anchor.latency_us
        moved = requests * a_request * float(rng.normal(1, _NOISE))
        ratio = _WAITING_STORES_A_LOAD if function.waits else _STORES_A_LOAD
        loads = moved / (1 + ratio)
        module = "fio" if function.source_file == _USER_FILE else "vmlinux"
        lines.append(
            f"{function.name},{loads / 2.1e9:.3f},{loads:.0f},{moved - loads:.0f},{module},"
            f"{function.source_file},{0xFFFFFFFF81000000 + 0x4B1C0 * place:#x}"
        )
    return "".join(f"{line}\n" for line in lines)


@cache
def _anchor(mode: Mode) -> StorageOutcome:
    setting = StorageConfiguration("optane", mode, "randread", BASE_BYTES, _ANCHOR_THREADS)
    return expect(setting)

"""The serving process has one heap for all its threads, and Polars gives back what it has used."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from app.serve.memory import POLARS_OPTIONS

# Eight threads allocate side by side; then glibc tells of its heaps.
HEAPS = """
import ctypes, sys, threading
sys.path.insert(0, ".")
from app.serve.memory import keep_memory_small
if sys.argv[1] == "one heap":
    assert keep_memory_small()
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
together = threading.Barrier(8)
def allocate():
    together.wait()
    piece = libc.malloc(50_000)
    together.wait()
    libc.free(piece)
threads = [threading.Thread(target=allocate) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
libc.malloc_stats()
"""


# Polars' allocator tells of its options when the process ends, if it is told to.
POLARS = """
import sys
sys.path.insert(0, ".")
from app.serve.memory import keep_memory_small
keep_memory_small()
import plotly.io, polars, pyarrow, pyarrow.dataset
polars.DataFrame({"a": [2, 1]}).sort("a")
frame = polars.from_arrow(pyarrow.table({"a": [1.5, None]}))
print(frame["a"].to_arrow().to_numpy(zero_copy_only=False), "pandas" in sys.modules)
"""


def heaps(way: str) -> int:
    command = [sys.executable, "-c", HEAPS, way]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return sum(line.startswith("Arena") for line in done.stderr.splitlines())


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has heaps to a thread")
def test_threads_share_one_heap() -> None:
    assert heaps("one heap") == 1
    assert heaps("as it comes") > 1


def test_polars_has_one_heap_gives_pages_back_at_once_and_pandas_is_left_out() -> None:
    done = subprocess.run(
        [sys.executable, "-c", POLARS],
        env={**os.environ, POLARS_OPTIONS: "stats_print:true,muzzy_decay_ms:7"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["[1.5", "nan]", "False"]
    told = {line.strip() for line in done.stderr.splitlines()}
    assert "opt.narenas: 1" in told
    assert any(line.startswith("opt.dirty_decay_ms: 50 ") for line in told)
    # What the environment says counts for more.
    assert any(line.startswith("opt.muzzy_decay_ms: 7 ") for line in told)


def test_numba_is_left_to_the_first_model_and_pandas_comes_before_threads(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from app.server import create_app; "
        "from app.kit.settings import Settings; before = 'pandas' in sys.modules; "
        f"create_app(Settings(Path({str(tmp_path)!r}))); "
        "print(before, 'pandas' in sys.modules, 'numba' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        cwd=Path(__file__).resolve().parents[2],
    )  # fmt: skip
    assert done.stdout.split() == ["False", "True", "False"]

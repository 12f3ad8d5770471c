"""Compiles the loops before the first log is read; Numba caches them for the machine."""

import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from data.errors import LakeError
from ingest.discover.found_files import FORMATS_BY_NAME, RawFile
from ingest.formats.line_parser import parse_counter_lines
from ingest.lake.run_file import RunFile
from ingest.logs.cut_loop import cut_interrupts
from ingest.logs.merge import stream_logs
from ingest.logs.merge_loop import merge_rows
from ingest.logs.size_histograms import hand_out_sizes, join_words
from ingest.logs.step_loop import step_samples
from ingest.logs.threads import LogHelpers
from ingest.records import Window
from ingest.settings.dataset import load_settings

_LOOPS: Final[tuple[Any, ...]] = (
    parse_counter_lines,
    cut_interrupts,
    merge_rows,
    step_samples,
    hand_out_sizes,
    join_words,
)
_LINES: Final = 600
_TICKS_A_LINE: Final = 100_000


def compile_loops(on_begin: Callable[[], None] = lambda: None) -> None:
    """Compile the loops that are not cached, by reading a run of a few lines.

    Without room for temporary files, the loops are compiled with the first log instead.

    Args:
        on_begin: Called before the compilation, if there is one.
    """
    if all(map(_is_cached, _LOOPS)):
        return
    on_begin()
    with suppress(OSError, LakeError):
        _read_a_few_lines()


def _is_cached(loop: Any) -> bool:
    """Return whether Numba's cache has an index file for a loop."""
    folder, code = loop.stats.cache_path, loop.py_func.__code__
    pattern = f"*.{code.co_name}-{code.co_firstlineno}.*.nbi"
    return folder is not None and any(Path(folder).glob(pattern))


def _read_a_few_lines() -> None:
    settings = load_settings()
    window = Window(_TICKS_A_LINE, _LINES * _TICKS_A_LINE)
    with tempfile.TemporaryDirectory(prefix="wattlas-") as name, LogHelpers(1) as helpers:
        folder = Path(name)
        files = []
        for core in (0, 1):
            path = folder / str(core)
            size = path.write_text(_log(core))
            form = FORMATS_BY_NAME["intlog"]
            files.append(RawFile(str(path), size, 0.0, "d", settings, form, None))
        run = stream_logs(
            files,
            window,
            settings.machine,
            "run",
            lambda file, _: int(file.name),
            lambda table: RunFile(folder / "lake", table, "d", "run"),
            folder,
            helpers,
            lambda _: None,
        )
        for file in run.files:
            file.abandon()


def _log(core: int) -> str:
    """Return lines of a core: every other one a sample, one damaged, one with an extra blank."""
    lines = []
    for n in range(_LINES):
        nic = f"{n % 3} {n * 7919 % 90_000} {n % 2} {n * 104_729 % 70_000}"
        counted = [n * 1000, n * 900, n * 950, n * 3, *[n] * 5, n * 40] if n % 2 else [0] * 10
        lines.append(f"{n} {nic} {' '.join(map(str, counted))} {(n + 1) * _TICKS_A_LINE + core}")
    lines[5] += "  "
    lines[6] = "x"
    return "\n".join(lines) + "\n"

"""Have all compiled loops at hand, before processes are forked that would each load them."""

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from data.errors import LakeError
from ingest.discover.found_files import RawFile
from ingest.formats import FORMATS
from ingest.lake.run_file import RunFile
from ingest.logs.merge import stream_logs
from ingest.logs.threads import LogHelpers
from ingest.records import Window
from ingest.settings.dataset import load_settings

_LINES: Final = 600
_TICKS_A_LINE: Final = 100_000


def load_loops() -> None:
    """Load the loops, or compile them at the first time, by reading a run of a few lines.

    Half a second of a process's time, which its children are spared. Where there is no room for
    temporary files nothing is loaded: the children then do it themselves.
    """
    with suppress(OSError, LakeError):
        _read_a_few_lines()


def _read_a_few_lines() -> None:
    settings = load_settings()
    window = Window(_TICKS_A_LINE, _LINES * _TICKS_A_LINE)
    intlog = next(known for known in FORMATS if known.name == "intlog")
    with tempfile.TemporaryDirectory(prefix="wattlas-") as name, LogHelpers(1) as helpers:
        folder = Path(name)
        files = []
        for core in (0, 1):
            path = folder / str(core)
            size = path.write_text(_log(core))
            files.append(RawFile(str(path), size, 0.0, "d", settings, intlog, None))
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
    """Lines of a core, every other one a sample; one is damaged, and one has a further blank."""
    lines = []
    for n in range(_LINES):
        nic = f"{n % 3} {n * 7919 % 90_000} {n % 2} {n * 104_729 % 70_000}"
        counted = [n * 1000, n * 900, n * 950, n * 3, *[n] * 5, n * 40] if n % 2 else [0] * 10
        lines.append(f"{n} {nic} {' '.join(map(str, counted))} {(n + 1) * _TICKS_A_LINE + core}")
    lines[5] += "  "
    lines[6] = "x"
    return "\n".join(lines) + "\n"

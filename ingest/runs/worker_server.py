"""The fork server of the workers; this module imports only quick modules.

The server needs over a second to import what a worker needs. It can do so while this process
imports modules and searches files.
"""

import multiprocessing
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import accumulate, islice
from multiprocessing import forkserver, resource_tracker
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Final

from ingest.files.walk import walk_folders

# A process needs about 20 ms to start; in this time a running one reads this much.
WORTH_A_PROCESS_BYTES: Final = 16 << 20
# The server's imports take as much processor time as reading a third of this. Fewer bytes may be a
# single run, which needs no server.
_WORTH_AN_EARLY_START_BYTES: Final = 512 << 20
# Large logs appear among the first files; checking 200,000 files would take 2.6 s.
_MOST_LOOKED_AT: Final = 1000


def start_server(*modules: str) -> BaseContext:
    """Start the server, unless it runs already.

    Args:
        modules: Further modules that it imports.

    Raises:
        OSError: It cannot be started, for example because there is no space for its socket.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["ingest.runs.preload", *modules])
    # It unblocks Ctrl-C when it starts.
    resource_tracker.ensure_running()
    with holding_back_ctrl_c():
        forkserver.ensure_running()
    return context


def start_server_for(raw: Iterable[Path]) -> None:
    """Start the server if there is enough to read that it will be needed or costs little."""
    with suppress(OSError):
        sizes = islice(_sizes(raw), _MOST_LOOKED_AT)
        if any(total >= _WORTH_AN_EARLY_START_BYTES for total in accumulate(sizes)):
            start_server()


def _sizes(raw: Iterable[Path]) -> Iterator[int]:
    for path in raw:
        if path.is_file():
            yield path.stat().st_size
        else:
            for listing in walk_folders(str(path), lambda _: None):
                yield from (Path(listing.folder, n).stat().st_size for n in listing.files)


@contextmanager
def holding_back_ctrl_c() -> Iterator[None]:
    """Block Ctrl-C; processes that start meanwhile inherit this."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

"""Child processes: queries of visitors in SQL, simulations, figures for papers, compiled loops.

A question is a line of JSON on the child's standard input; an answer is a line of JSON on its
standard output. A child is ended with all that it started. It ends by itself when this process is
gone: its input is at its end then.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any, Final

_ROOT: Final = Path(__file__).resolve().parents[1]
_CODE: Final = "import sys; sys.path.insert(0, {!r}); from {} import main; sys.exit(main())"
_LONGEST_LINE: Final = 32_000_000


class Child:
    """One child process; safe for use from several threads.

    Args:
        module: Its function `main` is the program.
        is_sealed: Start it with an empty environment, and do not listen to its errors.
    """

    def __init__(self, module: str, is_sealed: bool = False) -> None:
        self.is_overdue = False
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", _CODE.format(str(_ROOT), module)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if is_sealed else subprocess.PIPE,
            env={} if is_sealed else None,
            cwd="/" if is_sealed else _ROOT,
            start_new_session=True,
        )
        assert self._process.stdin
        assert self._process.stdout
        self._input, self._output = self._process.stdin, self._process.stdout

    @property
    def is_running(self) -> bool:
        """Whether it exists."""
        return self._process.poll() is None

    def ask(self, question: Any) -> None:
        """Send a question.

        Raises:
            OSError: It is gone.
        """
        self._input.write(json.dumps(question).encode() + b"\n")
        self._input.flush()

    def answers(self) -> Iterator[dict[str, Any]]:
        """Yield its answers until it ends, or writes what is none."""
        while line := self._output.readline(_LONGEST_LINE):
            try:
                answer = json.loads(line)
            except ValueError:
                return
            if not isinstance(answer, dict):
                return
            yield answer

    def read(self, count: int) -> bytes:
        """Return the next bytes that it writes after an answer; fewer where it ends before."""
        return self._output.read(count)

    @contextmanager
    def ending_after(self, limit_s: float) -> Iterator[None]:
        """End it if what is done here takes longer; `is_overdue` says so."""

        def end() -> None:
            self.is_overdue = True
            self.kill()

        timer = threading.Timer(limit_s, end)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def kill(self) -> None:
        """End it and all that it started."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def last_words(self) -> str:
        """Wait for its end; return the last line of its errors if it failed, else an empty text."""
        errors = self._process.stderr
        lines = errors.read().decode(errors="replace").strip().splitlines() if errors else []
        return (lines or ["it failed"])[-1] if self._process.wait() else ""

    def close(self) -> None:
        """End it, and release what it takes in this process."""
        self.kill()
        self._process.wait()
        for pipe in (self._input, self._output, self._process.stderr):
            if pipe:
                with suppress(OSError):
                    pipe.close()


def end_with_parent() -> None:
    """End a child that has its question when the parent closes the input or is gone."""

    def wait() -> None:
        # Without a buffer, which a thread that reads would keep from the end of the program.
        while os.read(0, 1):
            pass
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


class _WithoutPandas(MetaPathFinder, Loader):
    """Lets the import of pandas fail. Polars only looks whether it is there, and may find it."""

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name == "pandas" else None

    def create_module(self, spec: ModuleSpec) -> None:
        raise ImportError(f"{spec.name} is not used here")


def leave_out_pandas() -> None:
    """Keep pandas out of this process, where packages for development bring it.

    Nothing here uses it. Arrow and Plotly look for it when they convert values: that takes 40 MB,
    and in several threads at once they may find a module that is only partly imported.
    """
    sys.meta_path.insert(0, _WithoutPandas())

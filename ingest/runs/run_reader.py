"""Read all files of one run, and write its big files."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from data.errors import WattlasError
from data.lake_place import LakePath
from ingest.discover.file_choice import core_of_log
from ingest.discover.plan import RunWork
from ingest.discover.source_reads import read_source
from ingest.lake.run_file import RunFile
from ingest.lake.targets import temporary_folder
from ingest.logs.merge import stream_logs
from ingest.logs.threads import LogHelpers
from ingest.meters.exports import RunMeters
from ingest.runs.assembly import AssembledRun, RunAssembly


class StoppedError(WattlasError):
    """The reading of a run was cancelled."""


@dataclass(frozen=True, slots=True)
class RunReader:
    """Reads runs into a lake; can be pickled."""

    lake: LakePath
    meters: RunMeters

    def read(
        self, work: RunWork, helpers: LogHelpers, on_bytes: Callable[[int], None]
    ) -> AssembledRun:
        """Read and assemble a run, and write its big files; no row of `runs` names them yet.

        Args:
            on_bytes: Called with the number of bytes after each read; an exception ends the
                reading.

        Raises:
            LakeError: A big file cannot be written.
        """
        logs = [file for file in work.files if file.format.role == "log"]
        small = [*work.reads]
        if small:
            on_bytes(work.size)
        else:
            small += (read_source(f, on_bytes) for f in work.files if f.format.role != "log")
        assembly = RunAssembly(work, small)
        streamed = stream_logs(
            logs,
            assembly.window,
            work.files[0].settings.machine,
            work.run_id,
            core_of_log,
            lambda table: self._open(work, table),
            temporary_folder(self.lake),
            helpers,
            on_bytes,
        )
        with ExitStack() as on_failure:
            for file in streamed.files:
                on_failure.callback(file.abandon)
            power = self.meters.join(work, assembly.utc_window, assembly.duration_s)
            run = assembly.finish(
                streamed.reads, streamed.cuts, streamed.energy, power, streamed.counts
            )
            if run.row is not None:
                files = [*streamed.files]
                for name, table in run.tables.items():
                    files.append(self._open(work, name))
                    on_failure.callback(files[-1].abandon)
                    files[-1].write(table)
                run.row["files"] = [file.finish(run.digest) for file in files]
                run.row["has_log"] = any(f["table"] == "interrupts" for f in run.row["files"])
                run.tables.clear()
                on_failure.pop_all()
        return run

    def _open(self, work: RunWork, table: str) -> RunFile:
        return RunFile(self.lake, table, work.key.dataset, work.run_id)

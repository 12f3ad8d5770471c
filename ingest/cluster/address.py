"""The argument of `--cluster`: an address, `local:N` or `slurm:FILE.toml`; errors of a cluster."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from data.errors import SettingsError, WattlasError


class ClusterError(WattlasError):
    """A cluster cannot be used or is lost; finished runs are in the lake."""


class UnseenFileError(ClusterError):
    """A worker does not see a file.

    Attributes:
        path: The file.
        worker: The worker and its host.
    """

    def __init__(self, path: str, worker: str) -> None:
        super().__init__(path, worker)
        self.path = path
        self.worker = worker

    def __str__(self) -> str:
        return (
            f"the worker {self.worker} does not see {self.path}, which is there on the machine of "
            "this ingest; mount its folder at the same place on the hosts of all workers"
        )


FORMS: Final = "ADDRESS|local:N|slurm:FILE.toml"
_LOCAL: Final = re.compile(r"local:([1-9][0-9]*)")
_ADDRESS: Final = re.compile(r"(?:(?:tcp|tls|ws|wss)://)?(?:[\w.-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}")


@dataclass(frozen=True, slots=True)
class LocalWorkers:
    """Worker processes on this machine.

    Attributes:
        count: Number of processes.
    """

    count: int


@dataclass(frozen=True, slots=True)
class SlurmJobs:
    """SLURM jobs that are submitted for one ingest.

    Attributes:
        settings: TOML file that describes the jobs.
    """

    settings: Path


@dataclass(frozen=True, slots=True)
class RunningScheduler:
    """A Dask scheduler that runs already.

    Attributes:
        address: Address such as `tcp://host:8786` or `host:8786`.
    """

    address: str


ClusterAddress = LocalWorkers | SlurmJobs | RunningScheduler


def parse_address(text: str) -> ClusterAddress:
    """Parse the argument of `--cluster`.

    Raises:
        SettingsError: It has none of the three forms.
    """
    if match := _LOCAL.fullmatch(text):
        return LocalWorkers(int(match[1]))
    if text.startswith("slurm:") and text != "slurm:":
        return SlurmJobs(Path(text.removeprefix("slurm:")))
    if _ADDRESS.fullmatch(text) and not text.startswith("local:"):
        return RunningScheduler(text)
    raise SettingsError(f"not a cluster: {text!r}; give {FORMS}, such as tcp://10.0.0.1:8786")

"""The argument of `--cluster`: an address, `local:N` or `slurm:FILE.toml`."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from data.errors import SettingsError

FORMS: Final = "ADDRESS|local:N|slurm:FILE.toml"
_LOCAL: Final = re.compile(r"local:([1-9][0-9]*)")
_ADDRESS: Final = re.compile(r"(?:(?:tcp|tls|ws|wss)://)?(?:[\w.-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}")


@dataclass(frozen=True, slots=True)
class LocalWorkers:
    """Processes on this machine.

    Attributes:
        count: How many.
    """

    count: int


@dataclass(frozen=True, slots=True)
class SlurmJobs:
    """Jobs of SLURM that are submitted for one ingest.

    Attributes:
        settings: The TOML file that describes them.
    """

    settings: Path


@dataclass(frozen=True, slots=True)
class RunningScheduler:
    """A scheduler of Dask that runs already.

    Attributes:
        address: As `tcp://host:8786` or `host:8786`.
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

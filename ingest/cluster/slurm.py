"""SLURM jobs: read their TOML file, and submit jobs again that end before the add."""

import time
from pathlib import Path
from typing import Annotated, Any, Final

from msgspec import Meta

from ingest.settings.checked import read_toml, table_of

_LOOK_EVERY_S: Final = 10.0
_AtLeast1 = Annotated[int, Meta(ge=1)]


# Keys of dask-jobqueue's SLURMCluster, but for `jobs` and `tls`.
_SlurmJobs: Final = table_of(
    "SlurmJobs",
    {
        **dict.fromkeys(("queue", "account", "walltime", "interface", "python"), str),
        **dict.fromkeys(("local_directory", "log_directory", "shared_temp_directory"), str),
        **dict.fromkeys(("job_script_prologue", "job_extra_directives"), list[str]),
        "tls": bool,
    },
    required={"jobs": _AtLeast1, "cores": _AtLeast1, "memory": str},
)


def read_slurm_settings(path: Path) -> dict[str, Any]:
    """Read the file; return its values by key.

    Raises:
        SettingsError: It cannot be read, lacks a key, or has an unknown key or a bad value.
    """
    return read_toml(path, _SlurmJobs)


class SlurmRenewal:
    """Submits jobs again that have ended before the add, such as at their time limit.

    dask-jobqueue does not do this for jobs of several processes.
    """

    def __init__(self, cluster: Any) -> None:
        self._cluster = cluster
        self._looked_s = time.monotonic()
        self._had_workers: set[str] = set()
        self._without: set[str] = set()

    def __call__(self) -> None:
        """Check the jobs, at most every ten seconds.

        A job has ended if it had workers and has none at two checks: a worker that died is
        restarted in its job within seconds.
        """
        now_s = time.monotonic()
        if now_s - self._looked_s < _LOOK_EVERY_S:
            return
        self._looked_s = now_s
        cluster = self._cluster
        names = {worker["name"] for worker in cluster.scheduler_info["workers"].values()}
        jobs = dict(cluster.workers)
        present = {job for job in jobs if any(f"{name}-".startswith(f"{job}-") for name in names)}
        without = (self._had_workers & jobs.keys()) - present
        ended = without & self._without
        self._had_workers = (self._had_workers | present) - ended
        self._without = without - ended
        for job in ended:
            del cluster.workers[job]
            cluster.loop.add_callback(jobs[job].close)
        if ended:
            cluster.scale(jobs=len(jobs))

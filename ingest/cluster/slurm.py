"""SLURM jobs: read their TOML file, and submit jobs again that end before the add."""

import time
import tomllib
from pathlib import Path
from typing import Any, Final

from data.errors import SettingsError

_TEXTS: Final = "a list of texts"
# Keys of dask-jobqueue's SLURMCluster, but for `jobs` and `tls`.
KEYS: Final[dict[str, tuple[type, str]]] = {
    "jobs": (int, "a whole number from 1"),
    "cores": (int, "a whole number from 1"),
    "memory": (str, "a text such as '8GB'"),
    "queue": (str, "a text"),
    "account": (str, "a text"),
    "walltime": (str, "a text such as '04:00:00'"),
    "interface": (str, "a text such as 'ib0'"),
    "python": (str, "a text"),
    "local_directory": (str, "a text"),
    "log_directory": (str, "a text"),
    "shared_temp_directory": (str, "a text"),
    "job_script_prologue": (list, _TEXTS),
    "job_extra_directives": (list, _TEXTS),
    "tls": (bool, "true or false"),
}
_LOOK_EVERY_S: Final = 10.0
_REQUIRED: Final = ("jobs", "cores", "memory")


def read_slurm_settings(path: Path) -> dict[str, Any]:
    """Read the file; return its values by key.

    Raises:
        SettingsError: It cannot be read, lacks a key, or has an unknown key or a bad value.
    """
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise SettingsError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"not TOML: {error} ({path})") from error
    for key, value in values.items():
        if key not in KEYS:
            raise SettingsError(f"unknown key {key!r}; known are {', '.join(KEYS)} ({path})")
        wanted, words = KEYS[key]
        if not _is_good(value, wanted):
            raise SettingsError(f"{key} is {value!r}, not {words} ({path})")
    if missing := [key for key in _REQUIRED if key not in values]:
        raise SettingsError(f"no {missing[0]!r} ({path})")
    return values


def _is_good(value: Any, wanted: Any) -> bool:
    if type(value) is not wanted:
        return False
    if wanted is list:
        return all(isinstance(each, str) for each in value)
    return wanted is not int or value >= 1


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

"""Connect to a running cluster, or start one for the ingest."""

import importlib.util
import logging
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

import dask
from distributed import Client, LocalCluster, Security

from ingest.cluster.address import (
    ClusterAddress,
    ClusterError,
    LocalWorkers,
    RunningScheduler,
    SlurmJobs,
)
from ingest.cluster.slurm import SlurmRenewal, read_slurm_settings
from ingest.runs.worker_server import start_server

_CONNECT_S: Final = 20
_LOGGERS: Final = ("distributed", "distributed.client", "tornado.application")


@dataclass(frozen=True, slots=True)
class Cluster:
    """A connected cluster.

    Attributes:
        address: Address of its scheduler.
        dashboard: Address of its dashboard; empty if Bokeh, which draws it, is missing.
        renew: Submits jobs again that have ended, such as at their time limit; call it regularly.
    """

    client: Client
    address: str
    dashboard: str
    renew: Callable[[], None]


@contextmanager
def open_cluster(address: ClusterAddress) -> Iterator[Cluster]:
    """Connect to a cluster, or start one that ends with the context.

    Raises:
        ClusterError: It cannot be reached or started.
        SettingsError: The file that describes its jobs is invalid.
    """
    # The ingest itself reports dead workers and a lost scheduler.
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    if isinstance(address, RunningScheduler):
        with _connected(address.address) as client:
            yield Cluster(client, client.scheduler.address, client.dashboard_link, lambda: None)
        return
    has_dashboard = importlib.util.find_spec("bokeh") is not None
    with (
        dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}),
        closing(_start(address)) as started,
        _connected(started) as client,
    ):
        dashboard = client.dashboard_link if has_dashboard else ""
        renew = SlurmRenewal(started) if isinstance(address, SlurmJobs) else lambda: None
        yield Cluster(client, client.scheduler.address, dashboard, renew)


@contextmanager
def _connected(target: Any) -> Iterator[Client]:
    try:
        client = Client(target, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(f"cannot reach the scheduler at {target}: {error}") from error
    with closing(client):
        yield client


def _start(address: LocalWorkers | SlurmJobs) -> Any:
    try:
        if isinstance(address, LocalWorkers):
            return _start_local(address)
        return _start_slurm(address)
    except (OSError, ValueError, RuntimeError, ImportError) as error:
        raise ClusterError(f"cannot start the workers: {error}") from error


def _start_local(address: LocalWorkers) -> LocalCluster:
    # Workers are forked from this server, also those that replace dead ones.
    start_server("ingest.cluster.worker")
    return LocalCluster(
        n_workers=address.count,
        threads_per_worker=1,
        host="127.0.0.1",
        # A reader limits its own memory.
        memory_limit=0,
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    )


def _start_slurm(address: SlurmJobs) -> Any:
    from dask_jobqueue import SLURMCluster

    given = read_slurm_settings(address.settings)
    jobs, is_safe = given.pop("jobs"), given.pop("tls", True)
    given.setdefault("shared_temp_directory", str(address.settings.resolve().parent))
    cluster = SLURMCluster(
        **given,
        processes=given["cores"],
        security=Security.temporary() if is_safe else None,
        # The dashboard has no passwords: it is reachable only through a tunnel.
        scheduler_options={"dashboard_address": "127.0.0.1:0"},
        # Dask would pause a worker for ever at 80 % of the job's memory; SLURM enforces the limit.
        worker_extra_args=["--memory-limit", "0"],
        silence_logs=logging.CRITICAL,
    )

    async def submit() -> None:
        cluster.scale(jobs=jobs)
        await cluster

    try:
        cluster.sync(submit)
    except BaseException:
        # `close` fails for jobs that were never submitted.
        with suppress(AssertionError):
            cluster.close()
        raise
    return cluster

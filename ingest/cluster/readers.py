"""Read runs on all workers of a cluster; the ingest's process commits their rows."""

import hashlib
import os
import pickle
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, Final

from distributed import KilledWorker

from ingest.cluster.address import UnseenFileError
from ingest.cluster.connection import Cluster
from ingest.cluster.tasks import Tasks, lost_scheduler, outcome_of
from ingest.cluster.worker import BatchRead, Order, code_version, read_batch
from ingest.discover.plan import RunWork
from ingest.lake.shared_file import remove_shared, write_shared
from ingest.records import Problem
from ingest.runs.assembly import AssembledRun
from ingest.runs.progress import Progress
from ingest.runs.readers import Results
from ingest.runs.run_reader import RunReader
from ingest.runs.schedule import in_batches

Batch = tuple[RunWork, ...]
_NAME: Final = "read"


class ClusterReaders:
    """Reads the runs of an ingest on a cluster."""

    def __init__(self, reader: RunReader, cluster: Cluster, progress: Progress) -> None:
        self._reader = reader
        self._cluster = cluster
        self._progress = progress
        self._under_way: dict[str, int] = {}
        self._bytes_done = 0

    def results(self, works: Sequence[RunWork]) -> Results:
        """Yield finished runs, and None about twice a second.

        Closing the generator cancels the tasks.

        Raises:
            ClusterError: The scheduler is lost; or a worker runs other code, or does not see the
                lake or a raw file.
            Exception: An exception from reading a run.
        """
        if not works:
            return
        token = uuid.uuid4().hex[:16]
        self._bytes_done = self._progress.bytes_done
        with (
            _published(self._reader, token) as order,
            self._listening(order.topic),
            closing(Tasks[Batch](self._cluster.client, token)) as tasks,
        ):
            suspects: list[RunWork] = []
            yield from self._read(tasks, order, in_batches(works), suspects)
            # If a worker dies, all its tasks fail, also the waiting ones. So each run of these
            # tasks is read again alone.
            for work in suspects:
                killing: list[RunWork] = []
                yield from self._read(tasks, order, iter([(work,)]), killing)
                if killing:
                    yield work, _killed(work)

    def _read(
        self, tasks: Tasks[Batch], order: Order, batches: Iterator[Batch], suspects: list[RunWork]
    ) -> Results:
        """Read batches; the runs of those whose workers died go to `suspects`."""
        is_more = True
        while is_more or len(tasks):
            while is_more and tasks.has_room:
                batch = next(batches, None)
                is_more = batch is not None
                if batch is not None:
                    tasks.submit(_NAME, batch, read_batch, order, batch, True)
            self._progress.workers = tasks.threads
            self._cluster.renew()
            done = tasks.take()
            self._count()
            yield None
            for batch, key, outcome in done:
                self._under_way.pop(key, None)
                if isinstance(outcome, KilledWorker):
                    suspects += batch
                elif isinstance(outcome, UnseenFileError) and not os.path.exists(outcome.path):
                    # The file was removed after the search.
                    tasks.submit(_NAME, batch, read_batch, order, batch, False)
                else:
                    read: BatchRead = outcome_of(outcome)
                    self._bytes_done += read.bytes_read
                    self._progress.add_task(read.busy_s, read.cpu_s)
                    self._count()
                    yield from zip(batch, read.runs, strict=True)

    def _count(self) -> None:
        self._progress.bytes_done = self._bytes_done + sum(self._under_way.copy().values())

    @contextmanager
    def _listening(self, topic: str) -> Iterator[None]:
        """Receive the numbers of bytes that tasks have read so far."""
        client = self._cluster.client

        def receive(event: tuple[float, dict[str, Any]]) -> None:
            _, message = event
            self._under_way[message["task"]] = message["bytes"]

        with lost_scheduler():
            client.subscribe_topic(topic, receive)
        try:
            yield
        finally:
            if client.status == "running":
                client.unsubscribe_topic(topic)


@contextmanager
def _published(reader: RunReader, token: str) -> Iterator[Order]:
    """Write the data that all tasks share to a file in the lake."""
    content = pickle.dumps(reader)
    digest = hashlib.sha256(content).hexdigest()
    path = write_shared(reader.lake, token, content)
    try:
        yield Order(code_version(), path, digest, f"wattlas-{token}")
    finally:
        remove_shared(path)


def _killed(work: RunWork) -> AssembledRun:
    """Return the refusal of a run during which each worker dies."""
    largest = max(work.files, key=lambda file: file.size)
    detail = (
        f"the workers of the cluster died while they read run {work.run_id}, the last ones while "
        "they read nothing else; not read"
    )
    return AssembledRun(None, {largest.path: [Problem("killed_workers", "refused", detail)]}, "")

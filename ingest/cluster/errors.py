"""Errors of a cluster."""

from data.errors import WattlasError


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

"""Simulations as jobs: one process each, shared by all visitors with the same request.

A job's name is a digest of its request, so the same parameters and seed are one job. The results of
each curve are kept for later visitors and requests. A job is killed if nobody has asked for it for
some seconds, if all who asked have cancelled, or if it runs too long.
"""

import json
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Final

import xxhash

from data.child_process import Child
from data.errors import BusyError

# Simulations at one time: of one rate, as at a crosshair, and of more, which takes longer.
MOST_RUNNING: Final = 1
MOST_WAITING: Final = 8
# Simulations of one address that wait or run.
MOST_OF_ADDRESS: Final = 3
# Tabs that wait for one simulation and are remembered.
MOST_SEEN: Final = 64
MOST_KEPT: Final = 24
# Curves whose results are kept; each takes some 10 KB.
MOST_CURVES: Final = 400
LIMIT_S: Final = 240.0
# After this time without a request a visitor is gone. Hidden tabs send one request a minute.
PATIENCE_S: Final = 90.0
_LOOK_S: Final = 0.25


@dataclass
class Job:
    """One simulation.

    Attributes:
        results: Answers with their curve's number `curve` and its `label`: those known at the
            beginning, then the others in order of arrival. Those of a first pass have `is_first`;
            later ones take their place.
        state: `waiting`, `running`, `done`, `cancelled` or `failed`.
        seen_s: Time of each visitor's last request; of the last `MOST_SEEN` visitors.
        address: The network address of the visitor who began it.
    """

    name: str
    request: dict[str, Any]
    address: str = ""
    results: list[dict[str, Any]] = field(default_factory=list)
    state: str = "waiting"
    words: str = ""
    child: Child | None = None
    seen_s: dict[str, float] = field(default_factory=dict)

    @property
    def is_quick(self) -> bool:
        """Whether it has one rate: it does not wait for those of a whole axis."""
        return len(self.request["rates_kpps"]) == 1

    def see(self, visitor: str) -> None:
        """Remember that a visitor waits for it; the one seen longest ago is forgotten."""
        self.seen_s.pop(visitor, None)
        while len(self.seen_s) >= MOST_SEEN:
            del self.seen_s[next(iter(self.seen_s))]
        self.seen_s[visitor] = time.monotonic()

    def to_json(self) -> dict[str, Any]:
        """Return the answer to a visitor."""
        return {
            "job": self.name,
            "state": self.state,
            "words": self.words,
            "done": sum("is_first" not in one for one in self.results),
            "first": sum("is_first" in one for one in self.results),
            "total": len(self.request["curves"]),
            "labels": self.request["labels"],
            "results": self.results,
        }


class Jobs:
    """The jobs of this process."""

    def __init__(self, patience_s: float = PATIENCE_S, limit_s: float = LIMIT_S) -> None:
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._known: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._lock = threading.Lock()
        self._patience_s, self._limit_s = patience_s, limit_s
        self._watch: threading.Thread | None = None

    def ask(
        self, request: dict[str, Any], visitor: str, begins: bool = True, address: str = ""
    ) -> dict[str, Any]:
        """Start a job, or join the one that is running or done.

        Args:
            begins: Whether to start a job that does not exist, was cancelled or has failed;
                otherwise its state is returned.
            address: Where the visitor is, for the quota; empty for nobody in particular.

        Raises:
            BusyError: Too many jobs are waiting, of all visitors or of this address.
        """
        name = name_of(request)
        with self._lock:
            job = self._jobs.get(name)
            if job is None and not begins:
                job = Job(name, request, state="cancelled", words="nobody waits any more")
                job.results = self._known_of(request)
                return job.to_json()
            if job is not None and job.state in ("cancelled", "failed") and not begins:
                return job.to_json()
            if job is None or job.state in ("cancelled", "failed"):
                job = Job(name, request, address, self._known_of(request))
                if len(job.results) == len(request["curves"]):
                    job.state = "done"
                    return job.to_json()
                self._check_room(address)
                self._jobs[name] = job
            job.see(visitor)
            self._jobs.move_to_end(name)
            # The least recently requested of the finished jobs are dropped.
            over = [j.name for j in self._jobs.values() if j.state not in ("waiting", "running")]
            for old in over[: max(0, len(self._jobs) - MOST_KEPT)]:
                del self._jobs[old]
            self._begin()
            return job.to_json()

    def _check_room(self, address: str) -> None:
        under_way = [j for j in self._jobs.values() if j.state in ("waiting", "running")]
        waiting = sum(job.state == "waiting" for job in under_way)
        if waiting >= MOST_WAITING:
            raise BusyError(f"{waiting} simulations are waiting already; try again in a minute")
        own = sum(job.address == address for job in under_way)
        if address and own >= MOST_OF_ADDRESS:
            raise BusyError(f"{own} simulations of your address are under way; wait for one")

    def finished(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the known results of a request's curves, without refused ones."""
        with self._lock:
            return [one for one in self._known_of(request) if "refused" not in one]

    def _known_of(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the known results of a request's curves, in their order."""
        names = curve_names(request)
        return [
            {**self._known[name], "curve": number, "label": request["labels"][number]}
            for number, name in enumerate(names)
            if name in self._known
        ]

    def state_of(self, name: str) -> tuple[str, str]:
        """Return a job's state, and why it failed or was cancelled; does not count as a request."""
        with self._lock:
            job = self._jobs[name]
            return job.state, job.words

    def waiting_for(self, name: str) -> tuple[str, ...]:
        """Return the visitors who wait for a job, in the order of their last requests."""
        with self._lock:
            return tuple(self._jobs[name].seen_s)

    def is_running(self, name: str) -> bool:
        """Return whether the job waits or its process exists."""
        with self._lock:
            job = self._jobs[name]
            return job.state == "waiting" or bool(job.child and job.child.is_running)

    def cancel(self, name: str, visitor: str) -> None:
        """Remove a visitor from a job; a job that nobody waits for is killed."""
        with self._lock:
            job = self._jobs.get(name)
            if job:
                job.seen_s.pop(visitor, None)
                self._drop_deserted(job, "cancelled by all who waited")

    def close(self) -> None:
        """Kill all jobs."""
        with self._lock:
            for job in self._jobs.values():
                _cancel(job, "The server stops.")

    def _begin(self) -> None:
        running = [j for j in self._jobs.values() if j.state == "running"]
        for job in [j for j in self._jobs.values() if j.state == "waiting"]:
            if sum(other.is_quick == job.is_quick for other in running) >= MOST_RUNNING:
                continue
            job.state, job.child = "running", Child("data.models.__main__")
            threading.Thread(target=self._read, args=[job, job.child], daemon=True).start()
            running.append(job)
        if running and (self._watch is None or not self._watch.is_alive()):
            self._watch = threading.Thread(target=self._look_after, daemon=True)
            self._watch.start()

    def _read(self, job: Job, child: Child) -> None:
        known = {one["curve"] for one in job.results}
        missing = [n for n in range(len(job.request["curves"])) if n not in known]
        curves = [job.request["curves"][number] for number in missing]
        try:
            with child.ending_after(self._limit_s):
                child.ask({**job.request, "curves": curves})
                for answer in child.answers():
                    number = missing[answer.pop("curve")]
                    with self._lock:
                        if "is_first" not in answer:
                            self._known[curve_names(job.request)[number]] = answer
                        while len(self._known) > MOST_CURVES:
                            self._known.popitem(last=False)
                        label = job.request["labels"][number]
                        job.results.append({**answer, "curve": number, "label": label})
                child_words = child.last_words()
        except (OSError, ValueError) as error:
            child_words = str(error)
        if child.is_overdue:
            child_words = f"It was ended after {self._limit_s:g} s."
        child.close()
        with self._lock:
            if job.state == "running":
                job.state, job.words = "failed" if child_words else "done", child_words
            self._begin()

    def _look_after(self) -> None:
        """Kill jobs that nobody waits for, until no job waits or runs."""
        while True:
            time.sleep(_LOOK_S)
            with self._lock:
                alive = [j for j in self._jobs.values() if j.state in ("waiting", "running")]
                if not alive:
                    self._watch = None
                    return
                for job in alive:
                    self._drop_deserted(job, "nobody waits any more")

    def _drop_deserted(self, job: Job, reason: str) -> None:
        since_s = time.monotonic() - self._patience_s
        is_waited_for = any(seen >= since_s for seen in job.seen_s.values())
        if job.state in ("waiting", "running") and not is_waited_for:
            _cancel(job, reason)


def name_of(request: dict[str, Any]) -> str:
    """Return the name of a request's job."""
    return xxhash.xxh3_128_hexdigest(json.dumps(request, sort_keys=True).encode())


def curve_names(request: dict[str, Any]) -> list[str]:
    """Return what the results of each curve of a request depend on, as digests."""
    rest = {key: request[key] for key in request if key not in ("curves", "labels")}
    return [name_of({**rest, **curve}) for curve in request["curves"]]


def _cancel(job: Job, reason: str) -> None:
    if job.state not in ("waiting", "running"):
        return
    job.state, job.words = "cancelled", reason
    if job.child:
        job.child.kill()

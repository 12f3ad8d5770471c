"""Read the power meters of an ingest once, on the clock of the runs."""

from collections.abc import Callable, Sequence

from data.lake_place import LakePath
from ingest.discover.found_files import Discovery, RawFile
from ingest.discover.meter_files import is_counting
from ingest.discover.plan import Plan
from ingest.discover.source_reads import SourceRead, read_source
from ingest.lake.commits import Committer
from ingest.lake.state import LakeState
from ingest.meters.exports import MeterExports, RunMeters, span_of
from ingest.meters.idle_runs import IdleRuns
from ingest.meters.join import Meter, utc_series
from ingest.records import MeterReadings, Problem
from ingest.runs.times import RunTimes

OnProblems = Callable[[str, str, Sequence[Problem]], None]


class MeterStage:
    """Reads the power meters before the runs.

    A meter's idle time depends on the times of all runs that it covers, so this stage comes
    before the runs are read. It commits the runs of workload `idle`. After a later kill runs
    remain to be read, so the next ingest repeats this stage.

    Attributes:
        idle: Runs of workload `idle` from the meters.
    """

    def __init__(
        self,
        lake: LakePath,
        state: LakeState,
        discovery: Discovery,
        plan: Plan,
        committer: Committer,
    ) -> None:
        self._lake = lake
        self._state = state
        self._seen = discovery.seen
        self._plan = plan
        self._committer = committer
        self._meters: dict[tuple[str, str], Meter] = {}
        self.idle = IdleRuns(lake, state, plan.meters, committer)

    def prepare(self, on_problems: OnProblems) -> None:
        """Read meters that are new or that planned runs need, and update the idle runs.

        Args:
            on_problems: Called with the problems of each meter that is read.
        """
        for dataset, files in sorted(self._plan.meters.items()):
            for file in files:
                if not is_counting(file):
                    self.idle.commit(file, "", None, [])
                    detail = "the setting power.meter_pattern does not match its path; not used"
                    unused = [Problem("meter_unused", "doubted", detail)]
                    self._tell(file, unused, on_problems)
            self._prepare_dataset(dataset, list(filter(is_counting, files)), on_problems)
        self._committer.flush()

    def _prepare_dataset(
        self, dataset: str, files: Sequence[RawFile], on_problems: OnProblems
    ) -> None:
        works = [w for w in self._plan.works if w.key.dataset == dataset and w.meters]
        wanted = {meter.path for work in works for meter in work.meters}
        waiting = {f.path: f for f in files if f.path in wanted or not self.idle.is_settled(f)}
        others = {f.path: f for f in files if f.path not in waiting}
        if waiting:
            times = RunTimes(self._lake, self._state, self._plan, dataset, works)
        reads = [self._read_meter(file) for file in reversed(waiting.values())]
        kept = (self._meters.get((dataset, read.file.path)) for read in reads)
        exports = MeterExports(meter for meter in kept if meter is not None)
        for read in reads:
            self._finish_meter(read, exports, times, on_problems)
        self.idle.keep([f for f in others.values() if f.path in self._seen[dataset]])

    def _read_meter(self, file: RawFile) -> SourceRead:
        """Read a meter; keep the readings, return digest and problems."""
        read, settings = read_source(file), file.settings.power
        problems = list(read.problems)
        if isinstance(read.content, MeterReadings):
            series = utc_series(read.content, settings)
            if series is None:
                detail = (
                    "neither the headings nor the setting power.utc_offset_h give the UTC offset "
                    "of its local time; not used"
                )
                problems.append(Problem("no_utc_offset", "refused", detail))
            else:
                places = dict(settings.match(file.path) or {})
                meter = Meter(file.path, read.content, series, settings, places)
                self._meters[file.dataset, file.path] = meter
        return SourceRead(file, read.digest, None, problems)

    def _finish_meter(
        self, read: SourceRead, exports: MeterExports, times: RunTimes, on_problems: OnProblems
    ) -> None:
        """Update the idle runs of a meter, and report its problems.

        Other exports of the meter cover runs too. Idle time in two exports counts once, in the
        first.
        """
        file, problems, own = read.file, read.problems, times.of(read.file)
        meter = self._meters.get((file.dataset, file.path))
        before, after = exports.others(meter) if meter is not None else ([], [])
        told = [span_of(other) for other in before]
        shared = [window for other in (*before, *after) for window in times.all_of(other.path)]
        ran = own.windows + shared
        known = None if own.has_others else ran + told
        idle = self.idle.commit(file, read.digest, meter, known, own.device)
        is_covering = meter is not None and any(meter.readings_in(w) for w in ran + told)
        if meter is not None and not idle and not is_covering:
            detail = "its readings cover no run and no idle time"
            problems.append(Problem("meter_unused", "doubted", detail))
        self._tell(file, problems, on_problems)

    def _tell(self, file: RawFile, problems: list[Problem], on_problems: OnProblems) -> None:
        """Report the problems of a meter, unless the lake has the same ones for the same file.

        The lake has no other record of a meter from which no run was read.
        """
        is_same = file.is_unchanged or file.recorded is None
        if not (is_same and self._committer.is_known(file.dataset, file.path, problems)):
            on_problems(file.dataset, file.path, problems)
        self._committer.add_problems(file.dataset, {file.path: problems})

    @property
    def run_meters(self) -> RunMeters:
        """The meters; available after `prepare`."""
        return RunMeters(self._meters)

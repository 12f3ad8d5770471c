"""The power meters of an ingest: read once, set to the runs' clock, and joined to each run."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from ingest.assemble import RunAssembly
from ingest.commits import Committer
from ingest.discover import RawFile
from ingest.idle_runs import IdleRuns, is_idle_run_of
from ingest.lake_state import LakeState, recorded_windows
from ingest.meter_clock import fit_offset
from ingest.meter_scope import is_counting
from ingest.plan import Plan, RunWork
from ingest.power import make_series
from ingest.power_join import UNSURE, Meter, join_run, no_power, utc_series
from ingest.power_settings import FIT
from ingest.read_sources import SourceRead, read_source
from ingest.records import MeterReadings, PowerJoin, Problem, UtcWindow

OnProblems = Callable[[str, str, Sequence[Problem]], None]
_TIMED: Final = ("output", "window", "sidecar")


class MeterStage:
    """What power meters say, for all runs of an ingest.

    The stage comes before the runs are read: how far a meter's clock is off, and where nothing
    ran, follows from the times of all runs that it covers. Runs of workload `idle` that follow
    from a meter alone are committed then, so that a kill afterwards leaves work to do, which brings
    this stage about again.
    """

    def __init__(self, lake: Path, state: LakeState, plan: Plan, committer: Committer) -> None:
        self._lake = lake
        self._state = state
        self._plan = plan
        self._committer = committer
        self._meters: dict[tuple[str, str], Meter] = {}
        self.idle = IdleRuns(lake, state, plan.meters, committer)

    def prepare(self, on_problems: OnProblems) -> None:
        """Read the meters that planned runs need or that are new, and bring idle runs up to date.

        Args:
            on_problems: Told the problems of each meter read.
        """
        for dataset, files in sorted(self._plan.meters.items()):
            works = [w for w in self._plan.works if w.key.dataset == dataset and w.meters]
            for file in files:
                if not is_counting(file):
                    self.idle.commit(file, "", None, [])
            files = [file for file in files if is_counting(file)]
            wanted = {meter.path for work in works for meter in work.meters}
            needed = [f for f in files if f.path in wanted or not self.idle.is_settled(f)]
            self.idle.keep([file for file in files if file not in needed])
            windows = self._windows(dataset, works) if needed else {}
            for file in needed:
                self._prepare_meter(file, windows.get(file.path, []), on_problems)
        self._committer.flush()

    def _prepare_meter(
        self, file: RawFile, windows: Sequence[UtcWindow], on_problems: OnProblems
    ) -> None:
        read = read_source(file)
        problems = list(read.problems)
        meter = _meter(file, read, windows, problems)
        if meter is not None:
            self._meters[file.dataset, file.path] = meter
        idle = self.idle.commit(file, read.digest, meter, windows)
        is_covering = meter is not None and any(meter.readings_in(w) for w in windows)
        if meter is not None and not idle and not is_covering:
            detail = "no run, and no stretch without any, lies in the time of its readings"
            problems.append(Problem("meter_unused", "doubted", detail))
        if not (file.is_unchanged and self._committer.is_known(file.dataset, file.path, problems)):
            on_problems(file.dataset, file.path, problems)
        self._committer.add_problems(file.dataset, {file.path: problems})

    def _windows(self, dataset: str, works: Sequence[RunWork]) -> dict[str, list[UtcWindow]]:
        """By meter, when each run in its scope took place: planned ones, and the lake's others."""
        windows: dict[str, list[UtcWindow]] = defaultdict(list)
        for work in works:
            if (window := _window_of(work)) is not None:
                for meter in work.meters:
                    windows[meter.path].append(window)
        known = recorded_windows(self._lake, dataset)
        planned = {work.run_id for work in works}
        for run in self._state.runs.values():
            if run.run_id not in known or run.run_id in planned or is_idle_run_of(run):
                continue
            for file in run.files:
                windows[file.path].append(known[run.run_id])
        return windows

    def join(
        self, work: RunWork, window: UtcWindow | None, duration_s: float | None
    ) -> PowerJoin | None:
        """Give a run its power; from any thread, after `prepare`.

        Args:
            window: When it took place; None if nothing says so.
            duration_s: How long it measured.

        Returns:
            None for a run that has no meter in its scope.
        """
        meters = list(self._of(work))
        unusable = [m.path for m in work.meters if (m.dataset, m.path) not in self._meters]
        if not meters and not unusable:
            return None
        flags: list[str] = []
        problems: list[Problem] = []
        if not meters:
            power = no_power(f"{', '.join(unusable)} cannot be used")
        elif window is None:
            power = no_power("nothing says when the run took place")
        else:
            counts = {meter.path: meter.readings_in(window) for meter in meters}
            best = max(meters, key=lambda meter: counts[meter.path])
            if not counts[best.path]:
                said = f"{window.start_s:.0f} to {window.end_s:.0f} s since 1970, UTC"
                names = ", ".join(meter.path for meter in meters)
                power = no_power(f"no reading in its time, {said}, in {names}")
            else:
                power = join_run(work.run_id, window, duration_s, best)
            if others := [path for path, n in counts.items() if n and path != best.path]:
                flags.append("several_meters")
                detail = f"{', '.join(others)} too have readings of its time; {best.path} is taken"
                problems.append(Problem("several_meters", "doubted", detail))
        return PowerJoin(
            power.measurements,
            [*power.flags, *flags],
            {work.files[0].path: [*power.problems, *problems]},
            power.table,
        )

    def _of(self, work: RunWork) -> Iterator[Meter]:
        """Meters in a run's scope that stand before its device and system, as far as names say."""
        said = {"device": work.key.knob("device"), "system": work.key.system}
        for file in work.meters:
            meter = self._meters.get((file.dataset, file.path))
            if meter is not None and all(
                said[name] in (None, place) for name, place in meter.places.items()
            ):
                yield meter


def _window_of(work: RunWork) -> UtcWindow | None:
    """When a planned run took place."""
    small = [read_source(file) for file in work.files if file.format.role in _TIMED]
    return RunAssembly(work, small).utc_window


def _meter(
    file: RawFile, read: SourceRead, windows: Sequence[UtcWindow], problems: list[Problem]
) -> Meter | None:
    """Set a meter to the clock of the runs; None if it cannot be used, and `problems` say why."""
    readings, settings = read.content, file.settings.power
    if not isinstance(readings, MeterReadings):
        return None
    places = dict(settings.match(file.path) or {})
    fixed_s = 0.0 if settings.clock_offset_s == FIT else float(settings.clock_offset_s)
    series = utc_series(readings, settings, fixed_s)
    if series is None:
        detail = (
            "neither its headings nor the setting power.utc_offset_h say how far its local time "
            "is ahead of UTC; not used"
        )
        problems.append(Problem("no_utc_offset", "refused", detail))
        return None
    if settings.clock_offset_s != FIT or not windows:
        return Meter(file.path, readings, series, settings, places)
    fit = fit_offset(series, windows)
    if fit is None or not fit.is_sure:
        said = "too few runs, or power that never changes"
        if fit is not None:
            said = (
                f"{fit.offset_s:+.2f} s explains {fit.explained:.0%} of power's variance, "
                f"{fit.rival_s:+.1f} s hardly less"
            )
        detail = f"its clock's offset cannot be told: {said}; taken as it is"
        problems.append(Problem(UNSURE, "doubted", detail))
        return Meter(file.path, readings, series, settings, places, (UNSURE,))
    drifting = f", {fit.drift * 86400:+.2f} s a day more" if fit.drift else ""
    detail = (
        f"{fit.offset_s:+.2f} s (standard uncertainty {fit.error_s:.2f} s{drifting}) added to its "
        f"times, which then explain {fit.explained:.0%} of power's variance over {fit.windows} runs"
    )
    problems.append(Problem("clock_fitted", "repaired", detail))
    series = make_series(fit.corrected(series.t_s), series.power_w, fit.error_s)
    return Meter(file.path, readings, series, settings, places)

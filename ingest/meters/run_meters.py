"""The power of one run, from all meters that may have readings of its time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ingest.discover.plan import RunWork
from ingest.meters.exports import power_of
from ingest.meters.join import Meter, no_power
from ingest.records import PowerJoin, UtcWindow


@dataclass(frozen=True, slots=True)
class RunMeters:
    """The meters of an ingest on the clock of the runs; can be sent to other processes.

    Attributes:
        meters: By dataset and path; without those that cannot be used.
    """

    meters: Mapping[tuple[str, str], Meter]

    def join(
        self, work: RunWork, window: UtcWindow | None, duration_s: float | None
    ) -> PowerJoin | None:
        """Give a run its power.

        Args:
            window: When it took place; None if nothing says so.
            duration_s: How long it measured.

        Returns:
            None for a run that has no meter in its scope.
        """
        meters = list(self._of(work))
        unusable = [m.path for m in work.meters if (m.dataset, m.path) not in self.meters]
        if not meters and not unusable:
            return None
        if not meters:
            power = no_power(f"{', '.join(unusable)} cannot be used")
        elif window is None:
            power = no_power("nothing says when the run took place")
        else:
            power = power_of(work.run_id, window, duration_s, meters)
        first = work.files[0].path
        return PowerJoin(power.measurements, power.flags, {first: power.problems}, power.table)

    def _of(self, work: RunWork) -> Iterator[Meter]:
        """Meters in a run's scope that stand before its device and system, as far as names say."""
        said = {"device": work.key.knob("device"), "system": work.key.system}
        for file in work.meters:
            meter = self.meters.get((file.dataset, file.path))
            if meter is not None and all(
                said[name] in (None, place) for name, place in meter.places.items()
            ):
                yield meter

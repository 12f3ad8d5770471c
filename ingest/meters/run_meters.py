"""The power of one run from all meters that may cover it."""

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
        meters: Usable meters by dataset and path.
    """

    meters: Mapping[tuple[str, str], Meter]

    def join(
        self, work: RunWork, window: UtcWindow | None, duration_s: float | None
    ) -> PowerJoin | None:
        """Compute a run's power from its meters.

        Args:
            window: When the run took place; None if unknown.
            duration_s: How long it measured.

        Returns:
            None for a run without a meter in its scope.
        """
        meters = list(self._of(work))
        unusable = [m.path for m in work.meters if (m.dataset, m.path) not in self.meters]
        if not meters and not unusable:
            return None
        if not meters:
            power = no_power(f"{', '.join(unusable)} cannot be used")
        elif window is None:
            power = no_power("the time of the run is unknown")
        else:
            power = power_of(work.run_id, window, duration_s, meters)
        first = work.files[0].path
        return PowerJoin(power.measurements, power.flags, {first: power.problems}, power.table)

    def _of(self, work: RunWork) -> Iterator[Meter]:
        """Yield the meters in a run's scope whose names do not contradict its device and system."""
        known = {"device": work.key.knob("device"), "system": work.key.system}
        for file in work.meters:
            meter = self.meters.get((file.dataset, file.path))
            if meter is not None and all(
                known[name] in (None, place) for name, place in meter.places.items()
            ):
                yield meter

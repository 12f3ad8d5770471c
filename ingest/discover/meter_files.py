"""Find the power meters that may have readings of a run."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ingest.discover.found_files import Discovery, RawFile, as_it_is
from ingest.formats import METERS
from ingest.lake.state import LakeState


class MeterScopes:
    """The meters that may cover a run: those of the nearest folder at or above the run's.

    If no such folder has a meter, all meters of the dataset may cover the run. No meter covers a
    run with per-interrupt logs, which contain its energy.
    """

    def __init__(self, meters: Mapping[str, Sequence[RawFile]]) -> None:
        """Index meters by folder.

        Args:
            meters: All meters, by dataset; the settings may exclude some.
        """
        self._here: dict[str, dict[str, list[RawFile]]] = {}
        for dataset, files in meters.items():
            by_folder = self._here[dataset] = defaultdict(list)
            for meter in filter(is_counting, sorted(files, key=lambda file: file.path)):
                by_folder[str(Path(meter.path).parent)].append(meter)
        self._by_scope: dict[tuple[str, str], tuple[RawFile, ...]] = {}

    def of_run(self, files: Sequence[RawFile]) -> tuple[RawFile, ...]:
        """Return meters that may cover a run with these files, sorted by path."""
        own = max(files, key=lambda file: file.path.count("/"))
        if own.match is None or own.settings.workloads[own.match.workload].logged:
            return ()
        return self.of_folder(own.dataset, str(Path(own.path).parent))

    def of_folder(self, dataset: str, folder: str) -> tuple[RawFile, ...]:
        """Return meters that may cover the unlogged runs of a folder, sorted by path."""
        by_folder = self._here.get(dataset)
        if not by_folder:
            return ()
        scope = dataset, folder
        if scope not in self._by_scope:
            above = (str(each) for each in (Path(folder), *Path(folder).parents))
            nearest = next((each for each in above if each in by_folder), None)
            folders = by_folder.values() if nearest is None else [by_folder[nearest]]
            here = [meter for each in folders for meter in each]
            self._by_scope[scope] = tuple(sorted(here, key=lambda meter: meter.path))
        return self._by_scope[scope]


def is_counting(meter: RawFile) -> bool:
    """Return whether the settings allow a meter to be used."""
    return meter.settings.power.match(meter.path) is not None


def known_meters(discovery: Discovery, state: LakeState) -> Iterator[RawFile]:
    """Return recorded files of meters that are not among the given files."""
    for dataset in sorted(discovery.settings):
        ours = [known for known in state.files[dataset].values() if known.format in METERS]
        for known in sorted(ours):
            if known.path in discovery.seen[dataset] or not Path(known.path).is_file():
                continue
            settings = discovery.layers.settings_of(str(Path(known.path).parent))
            yield as_it_is(known, dataset, settings)

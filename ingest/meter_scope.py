"""Which files of power meters may have readings of a run."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from ingest.discover import FORMATS_BY_NAME, Discovery, RawFile
from ingest.formats import FORMATS
from ingest.lake_state import LakeState, RecordedFile


def meters_in_scope(files: Sequence[RawFile], meters: Sequence[RawFile]) -> tuple[RawFile, ...]:
    """Meters that may cover a run: of the nearest folder at or above it, else all of its dataset.

    Args:
        files: The run's own.
        meters: Of its dataset. Runs with per-interrupt logs have their energy from these.
    """
    if not meters:
        return ()
    own = max(files, key=lambda file: file.path.count("/"))
    if own.match is None or own.settings.workloads[own.match.workload].logged:
        return ()
    return meters_of_folder(str(Path(own.path).parent), meters)


def meters_of_folder(folder: str, meters: Sequence[RawFile]) -> tuple[RawFile, ...]:
    """As `meters_in_scope`, of runs without per-interrupt logs in a folder."""
    by_folder: dict[str, list[RawFile]] = defaultdict(list)
    for meter in filter(is_counting, meters):
        by_folder[str(Path(meter.path).parent)].append(meter)
    above = (str(each) for each in (Path(folder), *Path(folder).parents))
    nearest = next((each for each in above if each in by_folder), None)
    folders = by_folder.values() if nearest is None else [by_folder[nearest]]
    here = [meter for each in folders for meter in each]
    return tuple(sorted(here, key=lambda meter: meter.path))


def is_counting(meter: RawFile) -> bool:
    """Whether the settings let a meter count."""
    return meter.settings.power.match(meter.path) is not None


def known_meters(found: Discovery, state: LakeState) -> Iterator[RawFile]:
    """Files of meters that runs in the lake were read with, outside of what was given."""
    forms = {known.name for known in FORMATS if known.role == "meter"}
    for dataset in sorted(found.settings):
        ours = [known for known in state.files[dataset].values() if known.format in forms]
        for known in sorted(ours):
            if known.path in found.seen[dataset] or not Path(known.path).is_file():
                continue
            yield _as_raw_file(known, dataset, found)


def _as_raw_file(known: RecordedFile, dataset: str, found: Discovery) -> RawFile:
    status = Path(known.path).stat()
    settings = found.layers.settings_of(str(Path(known.path).parent))
    form = FORMATS_BY_NAME[known.format]
    return RawFile(
        known.path, status.st_size, status.st_mtime, dataset, settings, form, None, known
    )

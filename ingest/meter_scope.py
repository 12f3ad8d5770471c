"""Which files of power meters may have readings of a run."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ingest.discover import Discovery, RawFile
from ingest.formats import FORMATS
from ingest.lake_state import LakeState


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
    meters = [meter for meter in meters if is_counting(meter)]
    for folder in Path(own.path).parents:
        here = [meter for meter in meters if Path(meter.path).parent == folder]
        if here:
            return tuple(sorted(here, key=lambda meter: meter.path))
    return tuple(sorted(meters, key=lambda meter: meter.path))


def is_counting(meter: RawFile) -> bool:
    """Whether the settings let a meter count."""
    return meter.settings.power.match(meter.path) is not None


def known_meters(found: Discovery, state: LakeState) -> Iterator[RawFile]:
    """Files of meters that runs in the lake were read with, outside of what was given."""
    forms = {known.name: known for known in FORMATS if known.role == "meter"}
    ours = [place for place, known in state.files.items() if known.format in forms]
    for dataset, path in sorted(ours):
        known = state.files[dataset, path]
        if dataset not in found.settings:
            continue
        if (dataset, path) in found.seen or not Path(path).is_file():
            continue
        status = Path(path).stat()
        settings = found.layers.settings_of(Path(path).parent)
        form = forms[known.format]
        yield RawFile(path, status.st_size, status.st_mtime, dataset, settings, form, None, known)

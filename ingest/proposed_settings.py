"""Find files with the settings that were proposed for folders without any, old and new ones.

What proposes is imported where something has to be: its patterns take a tenth of a small `add`.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Final

from data.lake_place import LakePath
from ingest.cluster.address import ClusterAddress
from ingest.discover.disk import Disk
from ingest.discover.found_files import Discovery, RawFile, RunGroup
from ingest.discover.search import discover
from ingest.formats import STATING
from ingest.formats.text_log import presets
from ingest.lake.proposals import KeptProposal, read_proposals
from ingest.lake.state import LakeState
from ingest.settings.dataset import UNKNOWN
from ingest.settings.layers import SettingsByFolder
from ingest.settings.loading import refusal_of


@dataclass(slots=True)
class AddOptions:
    """Options of `ingest add`.

    Attributes:
        workers: Number of cores of this machine that read; 0 means all.
        cluster: Cluster whose workers read instead; None for this machine.
        is_proposing: Whether to propose settings for files that no settings describe.
        corrected: Texts of the lake's proposals that a person corrected, by name.
    """

    lake: LakePath
    raw: Sequence[Path]
    dataset: str | None = None
    settings_file: Path | None = None
    workers: int = 0
    cluster: ClusterAddress | None = None
    is_proposing: bool = False
    corrected: Mapping[str, str] = field(default_factory=dict)


# Logs of programs, which say their workload and not what was set.
_PRESETS: Final = frozenset(known.name for known in presets())
# Names of outputs, and files of one name, that are read for what they state.
_MOST_NAMES: Final = 24
# Problems of files whose run no setting says.
_NAMELESS: Final = frozenset({"unknown_name"})


@dataclass(slots=True)
class Found:
    """What was found, and the settings that were proposed for it.

    Attributes:
        kept: All proposals, the lake's and the new ones.
        new: New ones, which the lake has not yet.
        summaries: Of each new one what it took for what.
    """

    discovery: Discovery
    kept: list[KeptProposal] = field(default_factory=list)
    new: list[KeptProposal] = field(default_factory=list)
    summaries: list[tuple[str, ...]] = field(default_factory=list)


def discover_proposing(options: AddOptions, state: LakeState, disk: Disk | None = None) -> Found:
    """Find the files of an ingest; propose settings where nothing says what they are.

    Raises:
        SettingsError, OSError: As `discover`.
        LakeError: The lake's proposals cannot be read.
    """
    raw, dataset, settings_file = options.raw, options.dataset, options.settings_file
    before = read_proposals(options.lake) if options.is_proposing else []
    before = [replace(each, text=options.corrected.get(each.name, each.text)) for each in before]
    # A later version may refuse what an earlier one proposed, such as the name of a knob.
    reasons = [(proposal, refusal_of(proposal.text)) for proposal in before]
    usable = [proposal for proposal, reason in reasons if not reason]
    refused = {proposal.root: (reason, proposal.text) for proposal, reason in reasons if reason}
    layers = SettingsByFolder(settings_file, [(p.root, p.name, p.text) for p in usable])
    proposing = Found(discover(raw, state, dataset, layers, disk), usable)
    if not options.is_proposing or settings_file is not None:
        return proposing
    again = refused.keys() - {proposal.root for proposal in usable}
    roots = _roots_without_settings(raw, proposing.discovery, layers, again)
    if roots:
        from ingest.proposals.corrections import corrected_again
        from ingest.propose import propose_for
    for root in roots:
        proposal = propose_for(root, dataset, layers.settings_of(_folder(root)))
        if proposal.is_needed:
            name = dataset or proposal.dataset
            reason, text = refused.get(_folder(root), ("", ""))
            text = corrected_again(proposal.text, text)
            proposing.new.append(KeptProposal.of(_folder(root), name, text))
            said = (f"proposed again, since the settings of before are refused: {reason}",)
            proposing.summaries.append((*(said if reason else ()), *proposal.summary))
    if proposing.new:
        proposing.kept = [*usable, *proposing.new]
        layers = SettingsByFolder(None, [(p.root, p.name, p.text) for p in proposing.kept])
        proposing.discovery = discover(raw, state, dataset, layers, disk)
    return proposing


def _roots_without_settings(
    raw: Iterable[Path], discovery: Discovery, layers: SettingsByFolder, again: Collection[str]
) -> list[Path]:
    """Return the arguments with new files of which no settings say what they are.

    Args:
        again: Folders whose settings are refused.
    """
    new = [
        file.path
        for file in discovery.files
        if file.format.role == "table" and not file.is_unchanged
    ]
    new += [
        path
        for (_, path), problems in discovery.problems.items()
        if any(problem.kind in _NAMELESS for problem in problems)
    ]
    groups = discovery.groups.values()
    alike = _names_in_folders(groups)
    files = (file for group in groups if _is_nameless(group, alike) for file in group.files)
    new += [file.path for file in files if isinstance(file, RawFile) and not file.is_unchanged]
    folders = {path.rpartition("/")[0] or "/" for path in new}
    open_folders = [folder for folder in folders if not layers.describes(folder)]
    return [
        root
        for root in sorted({path.resolve() for path in raw})
        if _folder(root) in again
        or any(Path(folder).is_relative_to(_folder(root)) for folder in open_folders)
    ]


def _is_nameless(group: RunGroup, alike: Collection[str]) -> bool:
    """Return whether no name says a run's knobs: its place alone tells it from others.

    Args:
        alike: Names that files of tools which state their settings have in several folders.
    """
    own = all(
        isinstance(f, RawFile) and (f.format.name in _PRESETS or Path(f.path).name in alike)
        for f in group.files[:1]
    )
    return group.key.workload == UNKNOWN or (own and _is_told_by_place(group))


def _is_told_by_place(group: RunGroup) -> bool:
    return [name for name, _ in group.key.knobs] == ["variant"]


def _names_in_folders(groups: Iterable[RunGroup]) -> set[str]:
    """Return the names of outputs of tools that several folders have, and which state the same."""
    by_name: dict[str, dict[str, str]] = defaultdict(dict)
    own = (group.files[0] for group in groups if group.files and _is_told_by_place(group))
    for file in own:
        if isinstance(file, RawFile) and file.format.name in STATING:
            by_name[Path(file.path).name][file.path] = file.format.name
    several = {name: files for name, files in by_name.items() if len(files) > 1}
    if not several:
        return set()
    from ingest.proposals.stated_settings import settings_in

    names = set[str]()
    for name, files in islice(several.items(), _MOST_NAMES):
        some = islice(files.items(), _MOST_NAMES)
        stated = Counter(settings_in(Path(path), form) for path, form in some)
        if max(stated.values()) > 1:
            names.add(name)
    return names


def _folder(root: Path) -> str:
    return str(root if root.is_dir() else root.parent)

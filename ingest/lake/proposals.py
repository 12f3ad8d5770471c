"""Proposed settings, kept in the lake beside its tables: one file for each folder of raw files."""

import hashlib
import re
from dataclasses import dataclass
from typing import Final

from data.lake_place import LakePath
from data.object_store import file_system, naming
from ingest.lake.targets import open_target

FOLDER: Final = "proposals"
_FOR: Final = re.compile(r"# For (.+)\n")


@dataclass(frozen=True, slots=True)
class KeptProposal:
    """Proposed settings of a folder.

    Attributes:
        root: The folder, or the file, that they were proposed for; an absolute path.
        name: Name of the file in the lake.
        text: TOML.
    """

    root: str
    name: str
    text: str

    @staticmethod
    def of(root: str, dataset: str, text: str) -> "KeptProposal":
        """Return the proposal for a folder, with a name in the lake."""
        content = root.encode("utf-8", "surrogateescape") + text.encode("utf-8")
        digest = hashlib.sha256(content).hexdigest()[:8]
        bare = re.sub(r"[^A-Za-z0-9_-]+", "_", dataset)[:60]
        shown = root.encode("unicode_escape").decode()
        return KeptProposal(root, f"{FOLDER}/{bare}-{digest}.toml", f"# For {shown}\n{text}")


def read_proposals(lake: LakePath) -> list[KeptProposal]:
    """Return all proposals of a lake, by name.

    Raises:
        LakeError: They cannot be read.
    """
    from pyarrow.fs import FileSelector

    place = lake / FOLDER
    with naming("read", place):
        system, name = file_system(place)
        infos = system.get_file_info(FileSelector(name, allow_not_found=True))
        proposals = []
        for info in sorted(infos, key=lambda info: info.base_name):
            if info.base_name.endswith(".toml"):
                with system.open_input_stream(info.path) as file:
                    text = bytes(file.read()).decode("utf-8", "replace")
                if match := _FOR.match(text):
                    root = match[1].encode().decode("unicode_escape")
                    proposals.append(KeptProposal(root, f"{FOLDER}/{info.base_name}", text))
    return proposals


def write_proposal(lake: LakePath, proposal: KeptProposal) -> None:
    """Write a proposal into a lake, all of it or nothing.

    Raises:
        LakeError: It cannot be written.
    """
    place, name = lake / FOLDER, proposal.name.rpartition("/")[2]
    with naming("write", place):
        target = open_target(place, name)
        try:
            target.file.write(proposal.text.encode("utf-8"))
            target.seal()
            target.publish(name)
        finally:
            target.abandon()

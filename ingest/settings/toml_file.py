"""Read one settings file: TOML of which every key and value is checked."""

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

from data.errors import SettingsError
from data.knob_table import STATED
from ingest.settings.checked import read_toml
from ingest.settings.layout import DATASET_NAME, LISTED_SECTIONS, SettingsFile

# Groups that the regular expression of a file name may have.
GROUPS: Final = frozenset({"replicate", "core", "variant", *(knob.stated_as for knob in STATED)})


def is_dataset_name(name: str) -> bool:
    """Whether a name can be a folder of the lake: not empty, no slash, no leading dot."""
    return re.search(DATASET_NAME, name) is not None


def read_layer(path: Path) -> dict[str, Any]:
    """Read one settings file and check every key and value in it.

    Raises:
        SettingsError: As `load_settings` says.
    """
    layer = read_toml(path, SettingsFile)
    for section in LISTED_SECTIONS:
        for entry in layer.get(section, ()):
            entry["path"] = str(path)
    return layer


def check_groups(
    entry: dict[str, Any],
    regex: re.Pattern[str],
    number: int,
    knobs: Collection[str],
    labels: Collection[str],
) -> None:
    """Check that each group of a pattern is a knob, a label, or a part of a file's identity.

    Args:
        knobs: Knobs that the settings declare.
        labels: Labels that the settings declare; a pattern may have them, `set` may not.

    Raises:
        SettingsError: An unknown group or key of `set`; the message lists the known ones.
    """
    known = {*GROUPS, *knobs}
    for what, names in (
        ("pattern", set(regex.groupindex) - set(labels)),
        ("set", set(entry.get("set", {}))),
    ):
        if unknown := sorted(names - known):
            raise SettingsError(
                f"names[{number}].{what} has an unknown group {unknown[0]!r}, "
                f"known: {', '.join(sorted(known))} ({entry['path']})"
            )


def literal_beginning(pattern: str) -> str:
    """The literal text at the start of a regular expression.

    Returns:
        Letters, digits, `_`, `-` and escaped dots; empty if several beginnings are possible.
    """
    bare = re.sub(r"\\.|\[\^?\]?[^\]]*\]", "", pattern, flags=re.DOTALL)
    while (outer := re.sub(r"\([^()]*\)", "", bare)) != bare:
        bare = outer
    if "|" in bare:
        return ""
    found = re.match(r"(?:[A-Za-z0-9_-]|\\\.)*(?![*+?{])", pattern)
    return found[0].replace("\\", "") if found else ""

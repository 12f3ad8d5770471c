"""Regular expressions of settings entries, and the groups that those of file names may have."""

import re
from collections.abc import Collection, Mapping
from typing import Any, Final

from data.errors import SettingsError
from data.knob_table import STATED

# Groups that the regular expression of a file name may have.
GROUPS: Final = frozenset({"replicate", "core", "variant", *(knob.stated_as for knob in STATED)})


def path_pattern(entry: Mapping[str, Any], where: str) -> re.Pattern[str]:
    """Compile the `pattern` of an entry, which must match whole parts at the end of a path.

    Args:
        entry: Contains the settings file's name as `path`.
        where: The entry's place, such as `names[1]`.

    Raises:
        SettingsError: There is no pattern, or it is not a regular expression.
    """
    return compiled(entry, "pattern", where, "(?:^|.*/)(?:{})$")


def compiled(entry: Mapping[str, Any], key: str, where: str, around: str = "{}") -> re.Pattern[str]:
    """Compile the value of a key, inserted into `around`.

    Raises:
        SettingsError: The entry lacks the key, or the value is not a regular expression.
    """
    path = entry["path"]
    if key not in entry:
        raise SettingsError(f"{where} lacks {key!r} ({path})")
    try:
        return re.compile(around.format(entry[key]))
    except re.error as error:
        raise SettingsError(
            f"{where}.{key} is no regular expression: {error}: {entry[key]} ({path})"
        ) from error


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
    for section, names in (
        ("pattern", set(regex.groupindex) - set(labels)),
        ("set", set(entry.get("set", {}))),
    ):
        if unknown := sorted(names - known):
            raise SettingsError(
                f"names[{number}].{section} has an unknown group {unknown[0]!r}, "
                f"known: {', '.join(sorted(known))} ({entry['path']})"
            )


def literal_beginning(pattern: str) -> str:
    """Return the literal text at the start of a regular expression.

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

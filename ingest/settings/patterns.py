"""Regular expressions of settings entries."""

import re
from collections.abc import Mapping
from typing import Any

from data.errors import SettingsError


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

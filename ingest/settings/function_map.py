"""Map kernel functions to subsystems, by the directory of their source files."""

import csv
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from data.errors import SettingsError

OTHER: Final = "other"
_COLUMNS: Final = ("function", "source_file")
_SHIPPED: Final = Path(__file__).parent / "kernel_functions.csv"


@dataclass(frozen=True)
class FunctionMap:
    """Source files of functions, and subsystems of source files and modules.

    Attributes:
        paths: Subsystem of each directory or file in the source tree.
        modules: Subsystem of each pattern of module names, such as `libc*`.
        sources: Source file of each function, for profilers that do not report it.
        is_own: Whether the dataset's settings changed the shipped map.
    """

    paths: Mapping[str, str]
    modules: Mapping[str, str]
    sources: Mapping[str, str]
    is_own: bool

    def source_of(self, function: str) -> str | None:
        """Return the source file of a function; for names such as `name.isra.0`, that of `name`."""
        return self.sources.get(function) or self.sources.get(function.split(".", 1)[0])

    def subsystem_of(self, source_file: str | None, module: str) -> str | None:
        """Return the subsystem of a function; the longest matching path decides.

        Args:
            source_file: Path in the source tree, or an absolute path that contains one.

        Returns:
            `other` for a file of no known subsystem; None if the file is not known either.
        """
        if source_file is not None:
            whole = "/" + source_file.replace("\\", "/").lstrip("/")
            fitting = [path for path in self.paths if f"/{path}" in whole]
            if fitting:
                return self.paths[max(fitting, key=len)]
        for pattern, name in self.modules.items():
            if fnmatchcase(module.lower(), pattern.lower()):
                return name
        return OTHER if source_file is not None else None

    @property
    def digest(self) -> str:
        """Digest of the whole map."""
        text = json.dumps([dict(self.paths), dict(self.modules), dict(self.sources)])
        return hashlib.sha256(text.encode()).hexdigest()


def shipped_sources() -> dict[str, str]:
    """Return the source files of the functions on the IO path in Linux."""
    return read_sources(_SHIPPED)


def read_sources(path: Path) -> dict[str, str]:
    """Read a table with the columns `function` and `source_file`.

    Raises:
        SettingsError: It cannot be read, or lacks a column or a value; the message names the line.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = csv.DictReader(file)
            if missing := [name for name in _COLUMNS if name not in (rows.fieldnames or ())]:
                raise SettingsError(f"no column {missing[0]!r} in a table of functions ({path})")
            sources = {}
            for row in rows:
                function, source = (str(row[name] or "").strip() for name in _COLUMNS)
                if not function or not source:
                    raise SettingsError(f"an empty cell ({path}, line {rows.line_num})")
                sources[function] = source
            return sources
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SettingsError(f"cannot read a table of functions: {error} ({path})") from error

"""Find the settings of a file: the nearest wattlas.toml at or above it, then `--settings`."""

import os
from collections.abc import Iterable
from pathlib import Path

from ingest.settings.dataset import FILE_NAME, Settings, load_settings


class SettingsByFolder:
    """Settings of each folder: the nearest wattlas.toml at or above it, then `--settings`."""

    def __init__(self, top: Path | None) -> None:
        self._top = (top,) if top is not None else ()
        self._by_file: dict[str | None, Settings] = {}
        self._file_of: dict[str, str | None] = {}

    def settings_of(self, folder: str) -> Settings:
        """Settings of the files in a folder, an absolute path.

        Raises:
            SettingsError: A settings file is wrong.
        """
        nearest = self._nearest(folder)
        if nearest not in self._by_file:
            below = (Path(nearest),) if nearest is not None else ()
            self._by_file[nearest] = load_settings(*below, *self._top)
        return self._by_file[nearest]

    def top_of(self, folder: str, otherwise: str) -> str:
        """The folder that a run's path is relative to: that of the nearest wattlas.toml."""
        nearest = self._nearest(folder)
        return os.path.dirname(nearest) if nearest is not None else otherwise

    def learn(self, folder: str, names: Iterable[str]) -> None:
        """Record the names of all files of a folder that the caller has listed already."""
        if folder not in self._file_of and FILE_NAME not in names:
            above = os.path.dirname(folder)
            self._file_of[folder] = self._nearest(above) if above != folder else None

    def _nearest(self, folder: str) -> str | None:
        if folder not in self._file_of:
            here = os.path.join(folder, FILE_NAME)
            above = os.path.dirname(folder)
            if os.path.isfile(here):
                self._file_of[folder] = here
            else:
                self._file_of[folder] = self._nearest(above) if above != folder else None
        return self._file_of[folder]

"""Which settings hold for a file: the nearest wattlas.toml at or above it, under `--settings`."""

from pathlib import Path

from ingest.settings import FILE_NAME, Settings, load_settings


class SettingsByFolder:
    """Settings of each folder: the nearest wattlas.toml at or above it, under `--settings`."""

    def __init__(self, top: Path | None) -> None:
        self._top = (top,) if top is not None else ()
        self._by_file: dict[Path | None, Settings] = {}
        self._file_of: dict[Path, Path | None] = {}

    def settings_of(self, folder: Path) -> Settings:
        """Settings of the files in a folder.

        Raises:
            SettingsError: A settings file is wrong.
        """
        nearest = self._nearest(folder)
        if nearest not in self._by_file:
            below = (nearest,) if nearest is not None else ()
            self._by_file[nearest] = load_settings(*below, *self._top)
        return self._by_file[nearest]

    def top_of(self, folder: Path, otherwise: Path) -> Path:
        """The folder that a run's place is counted from: that of the nearest wattlas.toml."""
        nearest = self._nearest(folder)
        return nearest.parent if nearest is not None else otherwise

    def _nearest(self, folder: Path) -> Path | None:
        if folder not in self._file_of:
            here = folder / FILE_NAME
            if here.is_file():
                self._file_of[folder] = here
            else:
                above = folder.parent
                self._file_of[folder] = self._nearest(above) if above != folder else None
        return self._file_of[folder]

"""Find the settings of a file: the nearest wattlas.toml at or above it, then `--settings`."""

import os
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from ingest.settings.dataset import FILE_NAME, Settings
from ingest.settings.layout import read_layer
from ingest.settings.loading import load_settings


class SettingsByFolder:
    """Settings of each folder: the nearest wattlas.toml at or above it, then `--settings`.

    A folder whose files no settings describe has what was proposed for it or for the nearest folder
    above, below its own wattlas.toml, if any.
    """

    def __init__(
        self, top: Path | None = None, proposed: Iterable[tuple[str, str, str]] = ()
    ) -> None:
        """Take the layers that are known.

        Args:
            top: The file of `--settings`.
            proposed: Folder, name and text of proposed settings; later ones override.
        """
        self._top = (top,) if top is not None else ()
        self._proposed: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for folder, name, text in proposed:
            self._proposed[folder].append((name, text))
        self._by_file: dict[str | None, Settings] = {}
        self._by_proposal: dict[tuple[str, str | None], Settings] = {}
        self._is_about: dict[str, bool] = {}
        self._file_of: dict[str, str | None] = {}

    def settings_of(self, folder: str) -> Settings:
        """Return the settings of the files in a folder, an absolute path.

        Raises:
            SettingsError: A settings file is wrong.
        """
        nearest = self._nearest(folder)
        if self._proposed and not self.describes(folder):
            above = next((one for one in _above(folder) if one in self._proposed), None)
            if above is not None:
                return self._of_proposal(above, nearest)
        if nearest not in self._by_file:
            below = (Path(nearest),) if nearest is not None else ()
            self._by_file[nearest] = load_settings(*below, *self._top)
        return self._by_file[nearest]

    def describes(self, folder: str) -> bool:
        """Return whether a wattlas.toml or `--settings` says what the files of a folder are.

        A wattlas.toml with nothing but `[dataset]` says only what the dataset is.
        """
        nearest = self._nearest(folder)
        if self._top or nearest is None:
            return bool(self._top)
        if nearest not in self._is_about:
            self._is_about[nearest] = read_layer(Path(nearest)).keys() == {"dataset"}
        return not self._is_about[nearest]

    def _of_proposal(self, folder: str, own: str | None) -> Settings:
        if (folder, own) not in self._by_proposal:
            layers = self._proposed[folder]
            with tempfile.TemporaryDirectory() as temporary:
                paths = []
                for number, (_, text) in enumerate(layers):
                    paths.append(Path(temporary) / f"{number}.toml")
                    paths[-1].write_text(text, "utf-8")
                settings = load_settings(*paths, *((Path(own),) if own else ()))
            self._by_proposal[folder, own] = replace(settings, origin=layers[-1][0])
        return self._by_proposal[folder, own]

    def top_of(self, folder: str, otherwise: str) -> str:
        """Return the folder that a run's path is relative to: that of the nearest wattlas.toml."""
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


def _above(folder: str) -> Iterable[str]:
    while True:
        yield folder
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above

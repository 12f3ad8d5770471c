"""The one family of errors; messages say what, where and which value."""


class WattlasError(Exception):
    """Anything that wattlas refuses, said in words that a user can act on."""


class DataError(WattlasError):
    """Values that break the contract of a function: wrong shape, not finite, out of range."""


class FormatError(WattlasError):
    """A raw file that cannot be read as what its name or content says it is."""


class LakeError(WattlasError):
    """A lake that is absent, of another schema version, or lacks a file that its rows name."""


class SettingsError(WattlasError):
    """A settings file with an unknown key, a bad pattern, or a value out of range."""


class SelectionError(WattlasError):
    """A filter or a URL state that names an unknown column or holds a value of the wrong type."""

"""The one family of errors; messages say what, where and which value."""


class WattlasError(Exception):
    """Input that wattlas refuses; the message tells the user what to change."""


class DataError(WattlasError):
    """Values that a function rejects: wrong shape, not finite, out of range."""


class FormatError(WattlasError):
    """A raw file that does not have the format of its name or content."""


class LakeError(WattlasError):
    """A lake that is missing, has another schema version, or lacks a file that a row names."""


class UnknownVersionError(LakeError):
    """A version that the lake does not have: it was never written, or `prune` has removed it."""


class BusyError(WattlasError):
    """As much runs or waits as may, of everybody or of this visitor; later it works."""


class SettingsError(WattlasError):
    """A settings file with an unknown key, a bad pattern, or a value out of range."""


class SelectionError(WattlasError):
    """A filter or a URL state that names an unknown column or holds a value of the wrong type."""

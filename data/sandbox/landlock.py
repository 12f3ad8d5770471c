"""Landlock: a Linux process takes rights from itself and all its later threads for good.

Source: landlock(7); include/uapi/linux/landlock.h; Salaun, Landlock, 2021.
"""

import ctypes
import os
from collections.abc import Iterable
from typing import Final

_CREATE_RULESET: Final = 444
_ADD_RULE: Final = 445
_RESTRICT_SELF: Final = 446
_VERSION_FLAG: Final = 1
_PATH_BENEATH: Final = 1
_NO_NEW_PRIVILEGES: Final = 38
_READ_FILE: Final = 1 << 2
_READ_FOLDER: Final = 1 << 3
# By version of the interface: how many kinds of access to files there are.
_FILE_RIGHTS: Final = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_NETWORK_SINCE: Final = 4
_NETWORK: Final = 0b11
_SCOPES_SINCE: Final = 6
_SCOPES: Final = 0b11


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scopes", ctypes.c_uint64),
    )


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def landlock_version() -> int:
    """Return the version of the kernel's interface; 0 where there is none."""
    try:
        return max(0, _call(_CREATE_RULESET, None, 0, _VERSION_FLAG))
    except OSError:
        return 0


def allow_reading_only(paths: Iterable[str]) -> None:
    """Let this process read what lies beneath some paths; nothing else, no writing, no network.

    It holds for threads that start later, not for those that run already. Paths that do not exist
    are left out.

    Raises:
        OSError: The kernel refuses, or has no Landlock.
    """
    version = landlock_version()
    if not version:
        raise OSError("this kernel has no Landlock")
    rules = _Ruleset(
        files=(1 << _FILE_RIGHTS[min(version, 5)]) - 1,
        network=_NETWORK if version >= _NETWORK_SINCE else 0,
        scopes=_SCOPES if version >= _SCOPES_SINCE else 0,
    )
    words = 3 if version >= _SCOPES_SINCE else 2 if version >= _NETWORK_SINCE else 1
    ruleset = _call(_CREATE_RULESET, ctypes.byref(rules), 8 * words, 0)
    for path in paths:
        _allow(ruleset, path)
    _checked(_LIBRARY.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _call(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _allow(ruleset: int, path: str) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    rights = _READ_FILE | (_READ_FOLDER if os.path.isdir(path) else 0)  # noqa: PTH112
    rule = _Beneath(allowed=rights, folder=opened)
    _call(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)
    os.close(opened)


_LIBRARY: Final = ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: object) -> int:
    return _checked(_LIBRARY.syscall(number, *arguments))


def _checked(result: int) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result
